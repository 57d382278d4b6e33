"""An agent with a search of its own, in rounds, plays at any table; it touches neither the driver nor the lookahead."""

import numpy as np
import pytest
import small_game
from judges import Judge, some_order

import cardai
from cardai.errors import CardaiError, IllegalMove
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.agents.strategy import Question, Strategy
from cardai.playing.table.asking import moves_in
from cardai.playing.table.many import play
from cardai.playing.table.one import OneGame
from cardai.rules import JIT

THIRTYONE = cardai.load("examples/thirtyone")
WORLDS = 4


class TwoRounds(Strategy):
    """Compares all moves by their after-states, and the two best ones again by where they lead in some worlds."""

    def __init__(self, evaluator):
        self.evaluator, self.rounds = evaluator, []

    def check_fits(self, game, variant, seats):
        self.evaluator.check_fits(game, variant, seats)

    def think(self, decisions):
        ahead = decisions.look_ahead(self.evaluator)
        ahead.weigh((yield ahead.question))
        best = [moves[np.argsort(-means, kind="stable")[:2]] for moves, means in ahead.options()]
        game, worlds = decisions.game, decisions.worlds(WORLDS)
        reached = [game.play(world, move) for i, two in enumerate(best) for move in two for world in worlds[:, i]]
        seats = np.repeat(decisions.seats, [WORLDS * len(two) for two in best])
        rows = decisions.rows(self.evaluator, np.array(reached, game.state), seats)
        self.rounds.append((len(ahead.question.rows), len(rows)))
        scores = yield Question(self.evaluator, rows)
        means = iter(scores.reshape(-1, WORLDS).mean(axis=1))
        return np.array([max(two, key=lambda move: next(means)) for two in best], game.move)


def evaluator(game, seats):
    return Judge("any", next(iter(game.learning.encoders)), seats, some_order)


def two_rounds(game, seats):
    return Agent("two rounds", TwoRounds(evaluator(game, seats)))


def games_of(game, agents, count=30, **how):
    lineups = (np.arange(len(agents)) + np.arange(count)[:, None]) % len(agents)
    return play(game, agents, lineups, np.arange(count, dtype=np.uint64), record=True, **how)


def bytes_of(results):
    return [moves.tobytes() for moves in results.moves]


def test_games_do_not_depend_on_how_they_are_played():
    agents = [two_rounds(THIRTYONE, 3), agent(THIRTYONE, "house"), agent(THIRTYONE, "random")]
    count = 30 if JIT else 3
    alone = games_of(THIRTYONE, agents, count, threads=1, live=1)
    together = games_of(THIRTYONE, agents, count, threads=2, live=16)
    assert bytes_of(alone) == bytes_of(together)
    assert alone.rows == together.rows
    assert together.batches < alone.batches
    assert max(rows for _, rows in agents[0].strategy.rounds) > 2 * WORLDS  # many decisions in one question


def test_it_plays_what_it_says():
    """Its moves are those that plain Python finds with the same worlds: a game with nothing hidden has only one."""
    game = cardai.load("tictactoe")
    player, judge = two_rounds(game, 2), evaluator(game, 2)

    def score(state, seat):
        return judge.score(game.encode(state, seat)[None])[0]

    for seed in range(20 if JIT else 2):
        state = game.new(2, seed)
        while state["turn"] >= 0:
            seat, moves = int(state["turn"]), game.moves(state)
            two = sorted(moves, key=lambda move: -score(game.after(state, move), seat))[:2]
            expected = max(two, key=lambda move: score(game.play(state, move), seat))
            assert moves_in(game, player, np.array([state], game.state))[0] == expected
            state = game.play(state, moves[seed % len(moves)])


def test_it_sits_down_move_by_move_as_well():
    agents = [two_rounds(THIRTYONE, 2), agent(THIRTYONE, "house")]
    table = OneGame(THIRTYONE, agents, seed=0)
    table.run()
    assert table.moves.tobytes() == bytes_of(games_of(THIRTYONE, agents, 1))[0]


def test_a_game_brings_its_own_kinds_of_agent():
    def make(game, spec, argument, options):
        return Agent(f"{spec} of {options.pop('seats')}", TwoRounds(evaluator(game, 2)), argument)

    game = THIRTYONE.changed(kinds={"rounds": make})
    made = agent(game, "rounds:mine?seats=2")
    assert (made.spec, made.about) == ("rounds:mine?seats=2 of 2", "mine")
    assert agent(game, "rounds?seats=3").spec == "rounds?seats=3 of 3"
    assert games_of(game, [made, agent(game, "random")], 2).finished.all()
    with pytest.raises(CardaiError, match="takes no option 'other'"):
        agent(game, "rounds:mine?seats=2&other=1")
    with pytest.raises(CardaiError, match="no agent 'rounds:mine'"):
        agent(THIRTYONE, "rounds:mine")


class Faulty(Strategy):
    """Thinks what it is told to."""

    def __init__(self, think):
        self._think = think

    def think(self, decisions):
        return self._think(decisions)
        yield


@pytest.mark.parametrize(
    ("think", "sentence"),
    [
        (lambda decisions: None, r"agent 'faulty' answers \d+ decisions with None"),
        (lambda decisions: decisions.worlds(), r"agent 'faulty' answers \d+ decisions with"),
        (lambda decisions: np.zeros(len(decisions) + 1, decisions.game.move), r"agent 'faulty' answers \d+ decisions"),
        (
            lambda decisions: decisions.look_ahead(evaluator(small_game.GAME, 2), peeks=True),
            "not say that it peeks",
        ),
    ],
)
def test_a_faulty_strategy_is_named(think, sentence):
    agents = [Agent("faulty", Faulty(think)), agent(small_game.GAME, "low")]
    with pytest.raises(CardaiError, match=sentence):
        games_of(small_game.GAME, agents, 4)


def test_an_illegal_move_of_a_strategy_is_refused():
    def think(decisions):
        moves = np.zeros(len(decisions), decisions.game.move)
        moves["kind"] = 99
        return moves

    agents = [Agent("faulty", Faulty(think)), agent(THIRTYONE, "house")]
    with pytest.raises(IllegalMove, match="agent faulty, game seed"):
        games_of(THIRTYONE, agents, 4)


def test_a_strategy_is_given_no_true_state():
    """Everything public that `decisions` hands out is a world: the stream in it is not the game's."""
    seen = []

    def think(decisions):
        seen.extend(decisions.worlds(3)["rng"].ravel().tolist())
        return moves_in(decisions.game, agent(decisions.game, "random"), decisions.worlds())

    results = games_of(THIRTYONE, [Agent("looks", Faulty(think)), agent(THIRTYONE, "random")], 3)
    true = set()
    for seed, moves in enumerate(results.moves):
        state = THIRTYONE.new(2, seed)
        for move in moves:
            true.add(int(state["rng"]))
            state = THIRTYONE.play(state, move)
    assert seen
    assert true.isdisjoint(seen)


def test_nothing_public_of_decisions_or_a_lookahead_holds_a_true_state():
    game, kinds = small_game.GAME, []

    def think(decisions):
        ahead = decisions.look_ahead(evaluator(game, 2))
        for thing in (decisions, ahead):
            for name in dir(thing):
                value = getattr(thing, name) if not name.startswith("_") else None
                kinds.append(name)
                assert getattr(value, "dtype", None) != game.state, name
        return moves_in(game, agent(game, "low"), decisions.worlds())

    games_of(game, [Agent("looks", Faulty(think)), agent(game, "low")], 2)
    assert {"worlds", "weigh", "options"} <= set(kinds)
