"""Search over worlds: `ahead:EVALUATOR` and `rollout:N`."""

import os
import subprocess
import sys

import numpy as np
import pytest

from cardai.errors import CardaiError
from cardai.game.compiled.native import at, raw
from cardai.game.compiled.rules import lend
from cardai.measure.bench import run_suite
from cardai.playing.agents.notation import Ahead, parse
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.agents.strategy import EvenlyRandom, OnePly, Strategy, WorldSearch
from cardai.playing.compiled.dense import network, score_rows, space_for
from cardai.playing.compiled.search import compare_in_worlds
from cardai.playing.table.asking import ask
from cardai.playing.table.cast import cast_of, scratch_of
from cardai.playing.table.many import play
from cardai.playing.table.searching import values_in_worlds
from cardai.registry import load
from cardai.rules import STREAM, rule

MOSKA, DURAK, TTT = load("moska"), load("durak"), load("tictactoe")


class Exact:
    """A network of small whole numbers, so that sums are exact in every order. With `asks` it is asked in batches."""

    seats, batch, is_foreign = None, 512, False

    def __init__(self, game, seats: int, moment: str = "before_draw", asks: bool = False) -> None:
        self.name, self.encoder, self.moment = "exact", next(iter(game.learning.encoders)), moment
        width = game.encoder(self.encoder).width(seats)
        draw = np.random.default_rng(7)
        layers = [
            (draw.integers(-2, 3, shape).astype(np.float32), np.zeros(shape[1], np.float32))
            for shape in ((width, 16), (16, 1))
        ]
        layers[1] = (layers[1][0] / 256, layers[1][1])
        self._network = network(layers)
        if not asks:
            self.network = self._network

    def score(self, rows: np.ndarray) -> np.ndarray:
        scores, space = np.zeros(max(1, len(rows))), space_for([self._network])
        kept = np.ascontiguousarray(rows)
        score_rows(self._network.address, raw(kept), len(rows), raw(scores), lend(space))
        return scores[: len(rows)]

    def check_fits(self, game, variant, seats) -> None:
        pass


def moves_of(game, player: Agent, others: list[str], games: int, seed: int, **more) -> list[np.ndarray]:
    """The moves of some games in which `player` sits first."""
    agents = [player, *(agent(game, spec) for spec in others)]
    lineups = np.tile(np.arange(len(agents)), (games, 1))
    seeds = np.arange(seed, seed + games).astype(np.uint64)
    return play(game, agents, lineups, seeds, threads=1, record=True, **more).moves


SETTINGS = [
    "worlds=3",
    "worlds=3&turns=1",
    "worlds=5&halving&moves=6",
    "worlds=2&others=HAND",
    "worlds=1&moves=2&others=HAND&decay=0.5",
    "worlds=3&temperature=0.01",
]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("moment", ["before_draw", "drawn"])
@pytest.mark.parametrize(
    ("game", "others", "hand"),
    [(MOSKA, ["bot3"] * 3, "bot2"), (DURAK, ["thrifty"] * 3, "defensive"), (TTT, ["random"], "random")],
    ids=["moska", "durak", "tictactoe"],
)
def test_an_evaluator_asked_in_rounds_plays_as_the_same_network_in_compiled_code(game, others, hand, moment, settings):
    found = []
    for asks in (False, True):
        judge = Exact(game, 1 + len(others), moment, asks)
        player = agent(game, Ahead(judge, **dict(parse(f"ahead?{settings.replace('HAND', hand)}").options)))
        assert player.strategy.is_native != asks
        found.append(moves_of(game, player, others, 4, seed=5))
    for native, asked in zip(*found, strict=True):
        assert np.array_equal(native, asked)


@pytest.mark.parametrize("moment", [pytest.param("before_draw", marks=pytest.mark.slow), "drawn"])
def test_playouts_by_an_evaluator_are_the_same_in_rounds_and_in_compiled_code(moment):
    """All moves are played on, so none is judged before."""
    found = []
    for asks in (False, True):
        settles = moment == "drawn"
        by = OnePly(Exact(DURAK, 4, moment, asks), settles=settles, worlds=3 if settles else 1)
        player = Agent("playouts", WorldSearch(by, by, 2), game=DURAK)
        found.append(moves_of(DURAK, player, ["thrifty"] * 3, 2, seed=5))
    assert all(map(np.array_equal, *found))


def states_of(game, seats: int, games: int, variant: str | None = None) -> np.ndarray:
    """States in the middle of games of random players, in which somebody has a choice."""
    found = []
    for seed in range(games):
        state, luck = game.new(seats, seed, variant), np.random.default_rng(seed)
        for _ in range(int(luck.integers(4, 40))):
            following = game.play(state, luck.choice(game.moves(state)))
            if following["turn"] < 0:
                break
            state = following
        if len(game.moves(state)) > 1:
            found.append(state)
    return np.array(found, game.state)


def streams_of(count: int, seed: int = 3) -> np.ndarray:
    streams = np.zeros(count, STREAM)
    streams["rng"] = np.random.default_rng(seed).integers(0, 2**63, count)
    return streams


def same_in_other_worlds(game, player: Agent, states: np.ndarray) -> int:
    """In how many states the player moves as in another world of the seat to move, with the same luck."""
    worlds = np.array([game.world(state, int(state["turn"]), 99) for state in states], game.state)
    own, other = (ask(game, player, given, streams_of(len(states))) for given in (states, worlds))
    return int((own == other).sum())


SPECS = ["ahead:hand_value?worlds=3", "ahead:hand_value?worlds=2&turns=1&halving", "rollout:2"]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("game", [MOSKA, DURAK], ids=["moska", "durak"])
def test_it_plays_the_same_in_every_world_of_its_seat(game, spec):
    states = states_of(game, 4, 60)
    assert same_in_other_worlds(game, agent(game, spec), states) == len(states) > 30


@rule
def deal_nothing_anew(state, seat, stream):
    pass


def test_the_test_above_finds_a_search_that_sees_the_true_state():
    peeking, states = MOSKA.changed(resample=deal_nothing_anew), states_of(MOSKA, 4, 60)
    worlds = np.array([MOSKA.world(state, int(state["turn"]), 99) for state in states], MOSKA.state)
    player = agent(peeking, "ahead:hand_value?worlds=3&turns=2")
    own, other = (ask(peeking, player, given, streams_of(len(states))) for given in (states, worlds))
    assert (own != other).sum() > 3


@rule
def compare_first(rules, cast, states, streams, scratch):
    return compare_in_worlds(rules, cast, 0, at(states, 0), scratch, at(streams, 0))


def means_of(game, player: Agent, state: np.record) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What a search says of a state: the moves left at the end with their means, and the worlds each was tried in."""
    scratch = scratch_of(game, [player.strategy])
    states, streams, cast = np.array([state], game.state), streams_of(1), cast_of(game, [player.strategy])
    n, _ = compare_first(lend(game.compiler.rules), lend(cast), raw(states), raw(streams), lend(scratch))
    space = scratch.search
    return space.moves[:n], space.totals[:n] / space.counts[:n], space.counts


def test_halving_spends_the_worlds_of_the_fixed_scheme_on_the_better_half():
    state = next(state for state in states_of(MOSKA, 4, 60) if len(MOSKA.moves(state)) >= 8)
    _, _, fixed = means_of(MOSKA, agent(MOSKA, "ahead:hand_value?moves=8&worlds=12"), state)
    assert fixed[:8].tolist() == [12] * 8
    _, means, halved = means_of(MOSKA, agent(MOSKA, "ahead:hand_value?moves=8&worlds=12&halving"), state)
    assert halved[:8].sum() <= 8 * 12
    assert sorted(halved[:8].tolist()) == [4] * 4 + [12] * 2 + [28] * 2
    assert means[0] == max(means)
    assert len(means) == 2


@pytest.mark.parametrize("game", [MOSKA, DURAK], ids=["moska", "durak"])
def test_a_line_that_decays_is_worth_the_mean_of_its_judgements_and_its_end(game):
    """Lines that stop at the first, second, ... choice, or never, are the same lines as those that go on."""
    judge, told_apart = Exact(game, 4), 0
    for state in states_of(game, 4, 20):

        def means(state=state, **options) -> np.ndarray:
            moves, means, _ = means_of(game, agent(game, Ahead(judge, worlds=2, others=HAND[game], **options)), state)
            return means[np.argsort([game.text.spell(state, move) for move in moves])]

        at_choices, end = [means(turns=turns) for turns in range(1, 40)], means(turns=1_000_000)
        weights = 0.7 * 0.3 ** np.arange(39)
        assert np.allclose(means(turns=1, decay=0.3), weights @ at_choices + 0.3**39 * end)
        assert np.allclose(means(turns=1, decay=1), end)
        told_apart += np.abs(at_choices[0] - end).max() > 0.1
    assert told_apart > 5


def test_moves_that_are_played_out_count_their_ends_as_the_search_does():
    judge, state = Exact(DURAK, 4), states_of(DURAK, 4, 20)[0]
    found = [
        values_in_worlds(DURAK, agent(DURAK, Ahead(judge, others="defensive", **options)), state, moves, 3, bits=5)
        for moves in [np.array(DURAK.moves(state), DURAK.move)]
        for options in ({"turns": 1}, {"turns": 1_000_000}, {"turns": 1, "decay": 1})
    ]
    assert np.array_equal(found[1], found[2])
    assert not np.array_equal(found[0], found[1])


HAND = {MOSKA: "bot2", DURAK: "defensive"}


def test_it_finds_the_winning_move_and_the_only_defence():
    """Tic-Tac-Toe with a judge that thinks nothing: only the game's end tells the moves apart."""
    blind = Exact(TTT, 2)
    blind.network = network([(np.zeros((TTT.encoder().width(2), 1), np.float32), np.zeros(1, np.float32))])
    player = agent(TTT, Ahead(blind, moves=9, worlds=8, others="random"))
    state = TTT.new(2)
    for square in (0, 3, 1, 4):  # X: 0, 1; O: 3, 4; X to move wins at 2
        state = TTT.play(
            state, next(move for move in TTT.moves(state) if TTT.text.spell(state, move) == SQUARES[square])
        )
    chosen = ask(TTT, player, np.array([state], TTT.state), streams_of(1))[0]
    assert TTT.points(TTT.play(state, chosen))[0] == 1.0


SQUARES = [TTT.text.spell(TTT.new(2), move) for move in TTT.moves(TTT.new(2))]


def test_a_rollout_is_played_by_the_player_that_the_game_names_or_the_spec():
    assert agent(MOSKA, "rollout:3").strategy == agent(MOSKA, "rollout:3?by=bot3").strategy
    assert agent(DURAK, "rollout:3").strategy == agent(DURAK, "rollout:3?by=thrifty").strategy
    assert isinstance(agent(TTT, "rollout:3").strategy.own, EvenlyRandom)
    found = agent(MOSKA, "rollout:3?by=(greedy:hand_value?epsilon=0)").strategy.own
    assert isinstance(found, OnePly)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("ahead:best?moves=0", "is not a number of moves"),
        ("ahead:best?others=peeking:nn2", "cannot play worlds on"),
        ("ahead:best?others=rollout:3", "cannot play worlds on"),
        ("ahead:best?others=(bot3?randomised)", "cannot play worlds on"),
        ("ahead:best?others=(bot3", "its parentheses do not match"),
        ("ahead:best?others=bot3)", "its parentheses do not match"),
        ("ahead:best?turns=-1", "is not a number of turns"),
        ("ahead:best?decay=1.5", "is not a number from 0 to 1"),
        ("ahead:hand_value?decay=0.5", "decay goes with a model"),
        ("ahead:best?depth=3", "takes no option 'depth'"),
        ("rollout:3?worlds=2", "takes no option 'worlds'"),
        ("rollout:3?by=nobody", "no agent"),
    ],
)
def test_what_a_search_cannot_do_is_said_in_a_sentence(spec, words):
    with pytest.raises(CardaiError, match=words.replace("?", r"\?")):
        agent(MOSKA, spec)


@pytest.mark.parametrize(
    "plan",
    [
        WorldSearch(OnePly(value=1, peeks=True), EvenlyRandom(), 3),
        WorldSearch(EvenlyRandom(), EvenlyRandom(), 3, turns=0),
        WorldSearch(Strategy(), EvenlyRandom(), 3),
        WorldSearch(EvenlyRandom(), EvenlyRandom(), 0),
        WorldSearch(EvenlyRandom(), EvenlyRandom(), 3, decay=0.5),
        WorldSearch(OnePly(value=1), EvenlyRandom(), 3, turns=0, decay=0.5),
        WorldSearch(OnePly(Exact(MOSKA, 4)), EvenlyRandom(), 3, turns=0, decay=-0.5),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(plan):
    with pytest.raises(CardaiError):
        Agent("mine", plan).check_fits(MOSKA, None, 4)


PLAIN = """
import numpy as np
from cardai.playing.agents.spec import agent
from cardai.measure.bench import run_suite
from cardai.registry import load
from cardai.playing.table.many import play
game = load("durak")
agents = [agent(game, "ahead:hand_value?worlds=2&halving&turns=1"), agent(game, "rollout:1?by=defensive")]
found = play(game, agents, np.array([[0, 1]]), np.array([5], np.uint64), threads=1, record=True)
print(found.moves[0]["card"].tolist())
"""


def test_plain_python_plays_the_same_games():
    found = [
        subprocess.run(
            [sys.executable, "-c", PLAIN], env=os.environ | {"CARDAI_JIT": jit}, capture_output=True, check=True
        ).stdout
        for jit in ("1", "0")
    ]
    assert found[0] == found[1] != b""


@pytest.mark.parametrize("name", ["moska", "durak"])
def test_what_a_game_says_is_decided_stays_so(name):
    game, luck, decided = load(name), np.random.default_rng(4), 0
    rule = getattr(game.rules.decided, "py_func", game.rules.decided)
    for seed in range(30):
        state, said = game.new(4, seed), {}
        while state["turn"] >= 0:
            for seat in range(4):
                score = float(rule(state, seat))
                assert score in (-1.0, 1.0)
                if score >= 0:
                    said[seat] = score
                assert seat not in said or score == said[seat]
            state = game.play(state, luck.choice(game.moves(state)))
        points = game.points(state)
        assert all(points[seat] == score for seat, score in said.items())
        decided += len(said)
    assert decided > 30


def test_a_suite_says_what_a_search_cost_and_whom_it_had_in_mind():
    specs = ["bot3", "ahead:hand_value?worlds=1", "ahead:hand_value?worlds=1&others=bot3"]
    rows = run_suite(MOSKA, "thesis", specs, games=4, threads=1).rows
    found = {(row.row, row.spec): row.search for row in rows}
    assert found["B1", "bot3"] is None
    own, modelled = found["B1", specs[1]], found["B1", specs[2]]
    assert own.others == "greedy:hand_value"
    assert not own.exploits
    assert modelled.others == "bot3"
    assert modelled.exploits
    assert not found["B2", specs[2]].exploits
    assert 0 < own.milliseconds < 1000
    assert own.decisions > 4


@pytest.mark.parametrize("asked", ["", "?any_variant", "?renamings=4", "?any_variant&renamings=4"])
def test_a_search_says_that_others_ask_the_model_as_it_does(asked):
    worlds = "&worlds=2" if asked else "?worlds=2"
    search = agent(MOSKA, f"ahead:nn2{asked}{worlds}").strategy
    assert search.assumed == agent(MOSKA, f"greedy:nn2{asked}").spec


def test_a_heuristic_judges_the_end_of_a_game_on_its_own_scale():
    """The values of Durak's heuristic are far below 0 and its scores are not, so one must not stand for the other."""
    player = agent(DURAK, "ahead:hand_value?moves=9&worlds=6&turns=40")
    state = states_of(DURAK, 2, 60)[-1]
    _, means, _ = means_of(DURAK, player, state)
    assert (means < 0).all()
