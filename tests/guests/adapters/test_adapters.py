"""Adapters to PettingZoo, Gymnasium and OpenSpiel play the games of the core, and show no seat more than it may know.

pip install '.[zoo,gym,openspiel]'
pytest tests/guests/adapters/test_adapters.py                 # two games
pytest -m slow tests/guests/adapters/test_adapters.py         # every game, minutes
pip install sb3-contrib                       # then the slow run trains MaskablePPO, too
"""

import math
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import cardai
from cardai.errors import CardaiError, IllegalMove
from cardai.guests import adapters
from cardai.playing.agents.choosing import Actions, Choice
from cardai.playing.agents.spec import agent
from cardai.playing.table.one import OneGame

DATA = Path(__file__).parents[2] / "data"
DOUDIZHU = cardai.load(str(DATA / "doudizhu"))
LEDUC = str(Path(__file__).parents[3] / "examples/leduc")
SEATS = {"tictactoe": 2, LEDUC: 2, "durak": 3, "hearts": 4, "literature": 4, "moska": 3}
slow = pytest.mark.slow
EVERY = [pytest.param(name, marks=() if name in ("tictactoe", LEDUC) else slow, id=Path(name).name) for name in SEATS]
every_game = pytest.mark.parametrize("name", EVERY)


def zoo(name, **options):
    pytest.importorskip("pettingzoo", reason="the extra `zoo` brings PettingZoo")
    return adapters.aec(name, **{"seats": SEATS[name], **options})


def gym(name, **options):
    pytest.importorskip("gymnasium", reason="the extra `gym` brings Gymnasium")
    return adapters.single(name, **{"seats": SEATS[name], **options})


def spiel(name, **options):
    pyspiel = pytest.importorskip("pyspiel", reason="the extra `openspiel` brings OpenSpiel")
    short = Path(name).name
    named = "_".join(["cardai_test", short, *(str(value) for value in options.values())])
    return pyspiel.load_game(adapters.register(name, name=named, **{"seats": SEATS[name], **options}))


def legal_in(mask, rng):
    return int(rng.choice(np.flatnonzero(mask)))


def games_of(name):
    """How many games are compared: 200, fewer of long games."""
    return 200 if name in ("tictactoe", LEDUC) else 10


class Core:
    """A game of the core, played by the actions of an adapter beside it."""

    def __init__(self, game, state) -> None:
        self.game, self.state, self.actions, self.choice = game, state, Actions(game), None

    def expect(self, observation, mask) -> int:
        """The seat to move, of which an adapter shows this."""
        seat = int(self.state["turn"])
        self.choice = self.choice or self.actions.choice(self.state)
        assert (observation == np.concatenate([self.game.encode(self.state, seat), self.choice.values()])).all()
        assert (np.asarray(mask) == self.choice.mask()).all()
        return seat

    def take(self, action) -> bool:
        """Take an action. Returns whether the game is over then."""
        move = self.choice.take(action)
        if move is not None:
            self.state, self.choice = self.game.play(self.state, move), None
        return self.state["turn"] < 0

    def paid(self, is_centred=True):
        """What each seat gets at the end, less what is usual."""
        seats = int(self.state["seats"])
        total = self.game.score_sum(seats)
        return pytest.approx(self.game.points(self.state) - is_centred * (total / seats if total else 0.5))


# Actions.


@every_game
def test_every_legal_move_has_its_own_actions_and_every_mask_is_exact(name):
    game, rng = cardai.load(name), np.random.default_rng(0)
    actions = Actions(game)
    for seed in range(20 if name in ("tictactoe", LEDUC) else 4):
        state = game.new(SEATS[name], seed)
        while state.turn >= 0:
            choice = actions.choice(state)
            moves = {move.tobytes() for move in choice.moves}
            for move in choice.moves[rng.permutation(len(choice.moves))[:10]]:
                walk = actions.choice(state)
                *first, last = actions.path(state, move)
                for action in first:
                    assert walk.mask()[action] == 1
                    assert walk.take(action) is None
                assert walk.take(last).tobytes() == move.tobytes()
            move = None
            while move is None:
                words = [actions.words(state, choice, action) for action in choice.legal]
                assert len(set(words)) == len(words)
                move = choice.take(legal_in(choice.mask(), rng))
            assert move.tobytes() in moves
            state = game.play(state, move)


def test_a_choice_by_pieces_goes_on_only_with_pieces_of_legal_moves():
    """With the moves {1, 2}, {1, 3} and {2} of kind 0, and {1, 2} of kind 1."""
    game = cardai.load("moska")
    actions, moves = Actions(game), np.zeros(4, game.move)
    choice = Choice(actions, [(1, 2, 52), (1, 3, 52), (2, 52), (1, 2, 53)], moves)
    assert (choice.legal, actions.count) == ([1, 2], 60)
    assert choice.take(1) is None
    assert (choice.legal, np.flatnonzero(choice.values()).tolist()) == ([2, 3], [1])
    with pytest.raises(IllegalMove, match="action 1 is not legal here; legal are 2, 3"):
        choice.take(1)
    assert choice.take(2) is None
    assert choice.legal == [52, 53]
    assert choice.take(53) is not None
    with pytest.raises(CardaiError, match="two legal moves have the same number in actions, or are the same"):
        Choice(actions, [(1, 52), (1, 52)], moves[:2])


def test_a_choice_by_pieces_goes_on_with_the_other_fields_until_one_move_is_left():
    """Dou Dizhu has 16 kinds of move, many moves of a kind that take the same pieces, and bids that take none."""
    state = DOUDIZHU.new(3, 7)
    actions = Actions(DOUDIZHU)
    assert [actions.path(state, move) for move in DOUDIZHU.moves(state)] == [[15], [16, 16], [16, 17], [16, 18]]
    longest = 0
    for kinds in (2, 8, 16):
        actions, rng = Actions(DOUDIZHU, kinds), np.random.default_rng(0)
        state = DOUDIZHU.new(3, 7, "fixed")
        while state.turn >= 0:
            choice = actions.choice(state)
            for move, path in zip(choice.moves[:50], choice.paths[:50], strict=True):
                walk = Choice(actions, choice.paths, choice.moves)
                shown = []
                for action in path[:-1]:
                    assert walk.take(action) is None
                    shown.append(walk.values().tobytes())
                assert len({*shown}) == len(shown)
                assert walk.take(path[-1]) == move
                longest = max(longest, len(path))
                assert len(path) <= actions.longest
            state = DOUDIZHU.play(state, choice.moves[rng.integers(len(choice.moves))])
    assert longest > 5


def test_a_game_that_says_nothing_of_pieces_is_chosen_by_the_fields_of_its_moves():
    game = DOUDIZHU.changed(picks=None, pieces=(), zones=None)
    state = game.new(3, 7)
    actions = Actions(game)
    assert actions.count == 8
    assert [actions.path(state, move) for move in game.moves(state)] == [[0], [1, 1], [1, 2], [1, 3]]


def test_dou_dizhu_is_played_through_pettingzoo():
    pytest.importorskip("pettingzoo", reason="the extra `zoo` brings PettingZoo")
    env, rng = adapters.aec(DOUDIZHU), np.random.default_rng(0)
    env.reset(seed=7)
    for _ in env.agent_iter():
        observation, _, is_over, is_cut, info = env.last()
        env.step(None if is_over or is_cut else legal_in(info["action_mask"], rng))
        assert observation["observation"].shape == (env._views.width + env.actions.extra,)
    assert not env.agents


# PettingZoo.


@every_game
def test_pettingzoos_own_tests_pass(name):
    env = zoo(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that observations are dicts, as in its own card games
        from pettingzoo.test import api_test, seed_test

        api_test(env, num_cycles=1000 if name in ("tictactoe", LEDUC) else 200)
        seed_test(lambda: zoo(name), num_cycles=50)


@every_game
@pytest.mark.parametrize("reward", ["score", "centred"])
def test_games_through_pettingzoo_are_those_of_the_core(name, reward):
    env, rng = zoo(name, reward=reward), np.random.default_rng(3)
    for number in range(games_of(name)):
        env.reset(seed=7 if number == 0 else None)
        core, is_done = Core(env.game, env.game.new(SEATS[name], env.game_seed)), False
        for who in env.agent_iter():
            observation, reward_, is_over, is_cut, info = env.last()
            if is_over or is_cut:
                env.step(None)
                continue
            assert who == f"player_{core.expect(observation['observation'], observation['action_mask'])}"
            assert (info["action_mask"] == observation["action_mask"]).all()
            assert reward_ == 0
            action = legal_in(info["action_mask"], rng)
            env.step(action)
            is_done = core.take(action)
            if is_done:
                assert [env.rewards[one] for one in env.possible_agents] == core.paid(reward == "centred")
        assert is_done


def test_a_seed_fixes_a_game_and_those_after_it():
    one, other = zoo(LEDUC), zoo(LEDUC)
    for env in (one, other):
        env.reset(seed=11)
    assert one.game_seed == other.game_seed
    for env in (one, other):
        env.reset()
    assert one.game_seed == other.game_seed
    other.reset(seed=12)
    assert one.game_seed != other.game_seed


@pytest.mark.parametrize("action", [-1, 3, 10**9, 1.0, None, "1", True, np.float64(1), [1], math.nan], ids=repr)
def test_hostile_actions_raise_and_change_nothing(action):
    env = zoo(LEDUC)
    env.reset(seed=1)
    before = env._state.tobytes()
    with pytest.raises(IllegalMove, match="action"):
        env.step(action)
    assert env._state.tobytes() == before
    table = gym(LEDUC)
    table.reset(seed=1)
    with pytest.raises(IllegalMove, match="action"):
        table.step(action)
    assert table.table.ply == 0


def test_all_cards_are_shown_only_if_that_is_asked_for():
    hidden = zoo(LEDUC)
    hidden.reset(seed=1)
    with pytest.raises(CardaiError, match="shows all cards"):
        hidden.state()
    env = zoo(LEDUC, reveal=True)
    env.reset(seed=1)
    assert env.state().shape == (2 * env.game.encoder().width(2),)


def test_options_of_pettingzoo_that_do_not_exist_are_refused():
    for options in ({"reward": "win"}, {"render_mode": "human"}, {"seats": 9}, {"variant": "no"}, {"encoder": "no"}):
        with pytest.raises(CardaiError):
            zoo(LEDUC, **options)
    with pytest.raises(CardaiError, match="kinds must be at least 2"):
        zoo("moska", kinds=1)


# Gymnasium.


@every_game
def test_gymnasiums_own_test_passes(name):
    env = gym(name, illegal="next")
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the environment has no spec
        check_env(env)


@every_game
def test_games_through_gymnasium_are_those_of_the_core(name):
    """The others are agents of the core, asked at its own table."""
    env, rng, seats = gym(name, seat="rotate", reward="centred"), np.random.default_rng(3), SEATS[name]
    seen = set()
    for number in range(games_of(name)):
        observation, info = env.reset(seed=4 if number == 0 else None)
        seen.add(env.seat)
        others = [None if seat == env.seat else agent(env.game, "random") for seat in range(seats)]
        table, core, is_over = OneGame(env.game, others, env.table.seed), None, False
        while not is_over:
            table.run()
            core = core or Core(env.game, table.world())
            core.expect(observation, env.action_masks())
            assert (info["action_mask"] == env.action_masks()).all()
            action = legal_in(info["action_mask"], rng)
            observation, reward, is_over, is_cut, info = env.step(action)
            assert not is_cut
            if (move := core.choice.take(action)) is not None:
                table.play(move)
                core = None
        table.run()
        total = env.game.score_sum(seats)
        assert reward == pytest.approx(table.scores()[env.seat] - (total / seats if total else 0.5))
        assert not env.action_masks().any()
        with pytest.raises(IllegalMove, match="the game is over"):
            env.step(0)
    assert seen == set(range(seats))


def test_opponents_sit_in_order_after_the_learner():
    pytest.importorskip("gymnasium", reason="the extra `gym` brings Gymnasium")
    env = adapters.single("moska", opponents=["bot1", "bot2", "bot3"], seat=2)
    assert env.seats == 4
    env.reset(seed=1)
    assert [one.spec for one in env.table.agents] == ["bot2", "bot3", "outside", "bot1"]
    with pytest.raises(CardaiError, match="4 seats has 3 opponents, not 1"):
        adapters.single("moska", opponents=["bot1"], seats=4)
    for options in ({"seat": 2}, {"seat": "first"}, {"illegal": "skip"}, {"opponents": "nobody"}):
        with pytest.raises(CardaiError):
            adapters.single("tictactoe", **options)


def test_gymnasium_makes_every_game_by_its_name():
    gymnasium = pytest.importorskip("gymnasium", reason="the extra `gym` brings Gymnasium")
    env = gymnasium.make("cardai.guests.adapters.gym:cardai/tictactoe-v1", opponents="greedy:open_lines", seat=1)
    observation, _ = env.reset(seed=1)
    assert observation.sum() > 0
    assert env.unwrapped.table.ply == 1
    names = {name for name in gymnasium.registry if name.startswith("cardai/")}
    assert {f"cardai/{name}-v{cardai.load(name).version}" for name in cardai.available()} <= names


@slow
def test_maskable_ppo_learns_tictactoe(request):
    """A minute: pip install sb3-contrib, then pytest -m slow tests/guests/adapters/test_adapters.py -k ppo."""
    sb3 = pytest.importorskip("sb3_contrib", reason="pip install sb3-contrib, which brings torch")
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # for a network this small, threads that wait for each other take most of the time
    request.addfinalizer(lambda: torch.set_num_threads(threads))
    env = gym("tictactoe", seat="rotate", reward="score")
    model = sb3.MaskablePPO("MlpPolicy", env, seed=1, n_steps=512, batch_size=128, learning_rate=1e-3)

    def mean_score(games=150):
        total = 0.0
        for seed in range(games):
            observation, _ = env.reset(seed=seed if seed == 0 else None)
            is_over = False
            while not is_over:
                action, _ = model.predict(observation, action_masks=env.action_masks(), deterministic=True)
                observation, reward, is_over, _, _ = env.step(action)
            total += reward
        return total / games

    before = mean_score()
    model.learn(12_288)
    assert mean_score() > max(0.85, before + 0.1)


# OpenSpiel.


@every_game
def test_openspiels_own_test_passes(name):
    game = spiel(name)
    import pyspiel

    is_listed = game.get_type().chance_mode == pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
    assert is_listed == (name in ("tictactoe", LEDUC))
    # OpenSpiel cannot write games in Python with sampled chance to a text: it asks them for a generator's state.
    pyspiel.random_sim_test(game, num_sims=10 if is_listed else 1, serialize=is_listed, verbose=False)


@every_game
@pytest.mark.parametrize("chance", ["auto", "sampled"])
def test_games_through_openspiel_are_those_of_the_core(name, chance):
    table, rng, game = spiel(name, chance=chance), np.random.default_rng(3), cardai.load(name)
    for seed in range(games_of(name) if chance == "auto" else 10):
        node = table.new_initial_state()
        if node.is_chance_node():
            outcomes = node.chance_outcomes()
            assert sum(share for _, share in outcomes) == pytest.approx(1)
            node.apply_action(outcomes[seed % len(outcomes)][0])
        core = Core(game, node.past.record[0])
        if chance == "sampled":
            assert core.state.tobytes() == game.new(SEATS[name], seed).tobytes()
        while not node.is_terminal():
            if node.is_chance_node():  # follows the core
                seen = [game.text.show(way.state, 0) for way in node._ways()]
                node.apply_action(seen.index(game.text.show(core.state, 0)))
                continue
            mask = np.isin(np.arange(table.num_distinct_actions()), node.legal_actions())
            assert node.current_player() == core.expect(node.observation_tensor(), mask)
            action = int(rng.choice(node.legal_actions()))
            node.apply_action(action)
            core.take(action)
        assert node.returns() == core.paid()


def test_a_seat_remembers_what_it_has_seen():
    node = spiel(LEDUC).new_initial_state()
    node.apply_action(0)
    for word in ("raises", "raises", "calls"):
        (action,) = (one for one in node.legal_actions() if node.action_to_string(one) == word)
        node.apply_action(action)
    assert node.is_chance_node()
    node.apply_action(0)
    told = node.information_state_string()
    moves = [line for line in told.splitlines() if line.endswith(("raises", "calls"))]
    assert moves == ["p0: raises", "p1: raises", "p0: calls"]


def test_openspiels_cfr_on_our_game_is_ours():
    """Its algorithms see the same tree: the same exploitability after 50 iterations, in scores."""
    pyspiel = pytest.importorskip("pyspiel", reason="the extra `openspiel` brings OpenSpiel")
    from cardai.guests.exact.cfr import solve
    from cardai.guests.exact.exploitability import measure_plan
    from cardai.guests.exact.tree import GameTree

    kuhn = str(Path(LEDUC).parent / "kuhn")
    game = pyspiel.load_game(adapters.register(kuhn))
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(50):
        solver.evaluate_and_update_policy()
    tree = GameTree.of(cardai.load(kuhn))
    ours = measure_plan(tree, solve(tree, 50), ("a", "a")).nash_conv
    assert pyspiel.nash_conv(game, solver.average_policy()) == pytest.approx(ours, abs=1e-12)


def test_tictactoe_is_in_step_with_openspiels_own():
    pyspiel = pytest.importorskip("pyspiel", reason="the extra `openspiel` brings OpenSpiel")
    table, theirs, rng = spiel("tictactoe"), pyspiel.load_game("tic_tac_toe"), np.random.default_rng(2)
    for _ in range(300):
        one, other = table.new_initial_state(), theirs.new_initial_state()
        while not other.is_terminal():
            assert not one.is_terminal()
            assert one.current_player() == other.current_player()
            assert one.legal_actions() == other.legal_actions()
            action = int(rng.choice(one.legal_actions()))
            one.apply_action(action)
            other.apply_action(action)
        assert [2 * value for value in one.returns()] == other.returns()


def test_search_of_openspiel_plays_our_games():
    pytest.importorskip("pyspiel", reason="the extra `openspiel` brings OpenSpiel")
    from open_spiel.python.algorithms import ismcts, mcts

    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
    state = spiel("tictactoe").new_initial_state()
    for action in (0, 3, 1, 4):  # 2 wins
        state.apply_action(action)
    bot = mcts.MCTSBot(state.get_game(), 2.0, 200, evaluator, random_state=np.random.RandomState(1))
    assert bot.step(state) == 2
    node = spiel(LEDUC, chance="sampled").new_initial_state()
    node.apply_action(5)
    searcher = ismcts.ISMCTSBot(
        game=node.get_game(), uct_c=2.0, max_simulations=30, evaluator=evaluator,
        random_state=np.random.RandomState(1),
    )  # fmt: skip
    assert searcher.step(node) in node.legal_actions()


def test_chance_that_is_asked_for_and_cannot_be_listed_is_refused():
    pytest.importorskip("pyspiel", reason="the extra `openspiel` brings OpenSpiel")
    with pytest.raises(CardaiError, match="too many to list"):
        adapters.register("durak", chance="listed", name="cardai_test_refused")
    with pytest.raises(CardaiError, match="chance is"):
        adapters.register("durak", chance="exact")
    adapters.register("tictactoe", name="cardai_test_taken")
    with pytest.raises(CardaiError, match="another table"):
        adapters.register(LEDUC, name="cardai_test_taken")


# Nothing is imported that was not asked for.


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    for package, door, extra in (("pettingzoo", "aec", "zoo"), ("gymnasium", "single", "gym"),
                                 ("pyspiel", "register", "openspiel")):  # fmt: skip
        for name in [
            name for name in sys.modules if name.split(".")[0] == package or "cardai.guests.adapters." in name
        ]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, package, None)
        if package == "pettingzoo" and "gymnasium" not in sys.modules:
            monkeypatch.setitem(sys.modules, "gymnasium", type(sys)("gymnasium"))
            monkeypatch.setattr(sys.modules["gymnasium"], "spaces", None, raising=False)
        with pytest.raises(CardaiError, match=rf"needs the package {package}; pip install .*\[{extra}\]'? brings"):
            getattr(adapters, door)


def test_nothing_of_the_guests_packages_is_imported_without_being_asked():
    code = (
        "import sys, cardai, cardai.guests.adapters; from cardai.cli.main import run; run(['--help'])\n"
        "cardai.Batch, cardai.play, cardai.load('tictactoe').new()\n"
        "foreign = {'pettingzoo', 'gymnasium', 'pyspiel', 'open_spiel', 'torch', 'ray', 'starlette', 'sqlite3'}\n"
        "print(sorted(foreign & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
