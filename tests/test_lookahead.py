"""What an agent with an evaluator looks at and what it makes of it: as plain Python finds it through the game's doors,
and as the compiled search by a heuristic does."""

import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import small_game
import steps
from judges import Judge, know, some_order

from cardai import load
from cardai.errors import CardaiError
from cardai.game import PerspectiveEncoder, Segment, copies
from cardai.game.compiled.native import raw
from cardai.game.compiled.rules import door_resample, lend
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.agents.strategy import OnePly
from cardai.playing.table import lookahead
from cardai.playing.table.asking import compare
from cardai.playing.table.many import play
from cardai.rules import JIT, STREAM, mixed, rule
from cardai.rules.cards import single

TICTACTOE, MOSKA = load("tictactoe"), load("moska")
EXAMPLE = Path(__file__).parent.parent / "examples/thirtyone"
THIRTYONE = load(str(EXAMPLE))


def searching(kind, judge, worlds=3, **options):
    """The agent of a kind, "greedy", "sampled" or "peeking", with an evaluator that is no model."""
    settles, worlds = kind != "greedy", worlds if kind == "sampled" else 1
    return Agent(kind, OnePly(judge, settles=settles, worlds=worlds, peeks=kind == "peeking", **options))


def run(game, specs, games=40, seed=1, **options):
    lineups = np.tile(np.arange(len(specs)), (games, 1))
    seeds = np.arange(games, dtype=np.uint64) + np.uint64(1000 * seed)
    return play(game, [agent(game, spec) for spec in specs], lineups, seeds, record=True, **options)


def same_games(one, other):
    assert len(one.moves) == len(other.moves)
    return all(np.array_equal(a, b) for a, b in zip(one.moves, other.moves, strict=True))


# Through the doors of the game, in plain Python.


class Naive:
    """What an agent makes of a position. `met`: what there was to see, so that a test can say that there was some."""

    def __init__(self, game, judge, kind, worlds=1):
        self.game, self.judge, self.kind, self.worlds, self.met = game, judge, kind, worlds, Counter()

    def judged(self, state, seat):
        row = self.game.encode(state, seat, self.judge.encoder)
        return float(self.judge.score(row[None])[0])

    def settled(self, state, seat):
        """A settled state's worth: exact at the end, that of the best way on in the middle of a decision."""
        if state.turn < 0:
            self.met["ended"] += 1
            return float(self.game.points(state)[seat])
        if state.turn == seat and state.midway:
            self.met["midway"] += 1
            return max(self.settled(self.game.play(state, move), seat) for move in self.game.moves(state))
        return self.judged(state, seat)

    def world(self, state, seat, stream):
        states = copies(state)
        door_resample(lend(self.game.compiler.rules), raw(states), seat, raw(stream))
        return states[0]

    def worths(self, state, stream):
        """What each move is worth in the mean over worlds, of which all moves see the same ones."""
        game, seat = self.game, int(state.turn)
        view = state if self.kind == "peeking" else self.world(state, seat, stream)
        moves = game.moves(view)
        if len(moves) == 1:
            return [0.0]
        found, wanted = [[] for _ in moves], set(range(len(moves)))
        for number in range(self.worlds):
            view = self.world(state, seat, stream) if number else view
            for i in sorted(wanted):
                if self.kind == "greedy":
                    found[i].append(self.judged(game.after(view, moves[i]), seat))
                    continue
                following = game.play(view, moves[i])
                found[i].append(self.settled(following, seat))
                if not int(following.revealed) >> seat & 1:
                    wanted.discard(i)
        self.met["one world"] += sum(len(one) == 1 for one in found)
        self.met["all worlds"] += sum(len(one) == self.worlds > 1 for one in found)
        return [sum(one) / len(one) for one in found]


def states_of(game, specs, seed):
    """The positions of a game in which somebody is to move."""
    results = play(
        game, [agent(game, one) for one in specs], np.arange(len(specs))[None], np.array([seed], np.uint64), record=True
    )
    states = [game.new(len(specs), seed)]
    for move in results.moves[0]:
        states.append(game.play(states[-1], move))
    return states[:-1]


def some_states(game, specs, seed):
    """Some positions from all of a game, among them its last ones, and what came before the middle of a decision."""
    states = states_of(game, specs, seed)
    every = 9 if JIT else 40
    before = [one for one, following in pairwise(states) if following.midway]
    picked = [*states[::every], *before[:every], *states[-6:]]
    return [state for state in picked if len(game.moves(state)) <= 30]


def streams_of(count):
    streams = np.zeros(count, STREAM)
    streams["rng"] = [mixed(np.uint64(i)) for i in range(count)]
    return streams


def decided(game, player, states, streams):
    return compare(game, player, np.array(states, game.state), streams)


@rule
def settle_shown_to_others(state):
    seat = state.turn
    small_game.settle(state)
    state.revealed = (single(state.seats) - 1) & ~single(seat)


SHOWN_TO_OTHERS = small_game.GAME.changed(settle=settle_shown_to_others)


@pytest.mark.parametrize("kind", ["greedy", "sampled", "peeking"])
@pytest.mark.parametrize(
    ("game", "encoder", "specs"),
    [
        (MOSKA, "bitmap", ["bot3", "bot2", "random", "bot3"]),
        (MOSKA, "afterstate", ["bot3", "bot3", "bot3"]),
        (THIRTYONE, None, ["house", "random"]),
        (TICTACTOE, None, ["random", "random"]),
        (SHOWN_TO_OTHERS, None, ["low", "low"]),
    ],
    ids=["moska-bitmap", "moska-afterstate", "thirtyone", "tictactoe", "shown to others"],
)
def test_moves_are_worth_what_plain_python_finds(game, encoder, specs, kind):
    judge = Judge("any", encoder or next(iter(game.learning.encoders)), len(specs), some_order)
    worlds = 4 if kind == "sampled" else 1
    naive, player = Naive(game, judge, kind, worlds), searching(kind, judge, worlds)
    states = [state for seed in range(6) for state in some_states(game, specs, seed)]
    streams = streams_of(len(states))
    expected = [
        naive.worths(state, stream) for state, stream in zip(states, np.split(streams, len(states)), strict=True)
    ]
    found, chosen = decided(game, player, states, streams_of(len(states)))
    assert [worth.tolist() for _, worth in found] == expected
    for (moves, worth), move, state in zip(found, chosen, states, strict=True):
        assert moves.tobytes() == game.moves(state).tobytes()
        assert worth[[m.tobytes() for m in moves].index(move.tobytes())] == worth.max()
    met = {name for name, times in naive.met.items() if times}
    if game in (MOSKA, THIRTYONE):
        wanted = {"greedy": set(), "peeking": {"ended", "midway"}, "sampled": {"ended", "midway", "all worlds"}}[kind]
        assert wanted | {"one world"} <= met
    else:
        assert "all worlds" not in met


# Beside the compiled search by a heuristic.

SPAN = 4096.0
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def open_lines(rows):
    """The game's heuristic of that name in [0, 1]: a power of two apart, so that equal values stay equal."""
    value = np.zeros(len(rows))
    for line in map(list, LINES):
        own, other = rows[:, line].sum(1), rows[:, [9 + cell for cell in line]].sum(1)
        value += np.where(other == 0, own * own, np.where(own == 0, -np.where(other == 2, 100, other), 0))
        value[own == 3] += 10_000
    return (np.minimum(value, 1000.0) + SPAN / 2) / SPAN


@pytest.fixture
def judges(monkeypatch):
    know(
        monkeypatch,
        Judge("lines", "planes", 2, open_lines),
        Judge("order", "bitmap", 4, some_order),
        Judge("pending", "afterstate", 4, some_order),
        Judge("view", next(iter(THIRTYONE.learning.encoders)), 3, some_order),
    )


@pytest.mark.parametrize("kind", ["greedy", "sampled", "peeking"])
@pytest.mark.parametrize("epsilon", [0, 0.3])
def test_an_evaluator_decides_as_the_heuristic_it_computes(judges, kind, epsilon):
    outside = run(TICTACTOE, [f"{kind}:lines?epsilon={epsilon}", "random"])
    assert same_games(outside, run(TICTACTOE, [f"{kind}:open_lines?epsilon={epsilon}", "random"]))


def test_an_evaluator_explores_as_long_as_the_heuristic_it_computes(judges):
    outside = run(TICTACTOE, ["greedy:lines?epsilon=0.6&until=6", "random"])
    inside = run(TICTACTOE, ["greedy:open_lines?epsilon=0.6&until=6", "random"])
    assert same_games(outside, inside)
    assert not same_games(inside, run(TICTACTOE, ["greedy:open_lines?epsilon=0.6", "random"]))


# What must not matter.


@pytest.mark.parametrize(
    ("game", "specs"),
    [
        (MOSKA, ["sampled:order?worlds=200", "bot3", "peeking:order", "bot3"]),
        (THIRTYONE, ["sampled:view?worlds=20", "peeking:view", "greedy:view"]),
    ],
    ids=["moska", "thirtyone"],
)
def test_a_decision_that_outgrows_its_batch_is_made_all_the_same(judges, monkeypatch, game, specs):
    """With room for little more than the moves of a decision, worlds and continuations need a larger batch."""
    if game is MOSKA and not JIT:
        pytest.skip("takes minutes in plain Python")
    games = 3 if game is MOSKA else 20 if JIT else 2
    large, rooms, player = run(game, specs, games), [], agent(game, specs[0])
    states = some_states(game, ["random"] * len(specs), 3)[:30]
    weighed, chosen = decided(game, player, states, streams_of(len(states)))
    make_room = lookahead.Lookahead._make_room
    monkeypatch.setattr(
        lookahead.Lookahead, "_make_room", lambda self, room: (rooms.append(room), make_room(self, room))[1]
    )
    monkeypatch.setattr(lookahead, "SMALLEST", 1)
    for one in specs:
        judge = agent(game, one).evaluator
        if judge:
            monkeypatch.setattr(judge, "batch", 1)
    small = run(game, specs, games, live=7)
    assert same_games(large, small)
    assert large.rows == small.rows
    again, same = decided(game, player, states, streams_of(len(states)))
    assert [worth.tolist() for _, worth in again] == [worth.tolist() for _, worth in weighed]
    assert same.tobytes() == chosen.tobytes()
    assert min(rooms) == game.max_moves < max(rooms)


def test_a_decision_that_needs_too_much_memory_is_refused_with_a_sentence(judges, monkeypatch):
    monkeypatch.setattr(lookahead, "MOST_BYTES", 1 << 20)
    refusal = r"agent 'sampled:order\?worlds=3000': one decision needs more than 2048 rows; take fewer worlds"
    with pytest.raises(CardaiError, match=f"{refusal}$"):
        run(MOSKA, ["sampled:order?worlds=3000", "bot3", "bot3", "bot3"], 2)


def test_equal_rows_of_a_decision_are_scored_once(judges):
    """Tic-Tac-Toe's corners differ, but a judge that is shown stones alone sees as many rows as there are moves."""
    player = agent(TICTACTOE, "sampled:lines?worlds=9")
    decided(TICTACTOE, player, [TICTACTOE.new()], streams_of(1))
    assert player.evaluator.sizes.pop() == 9

    @rule
    def nothing(state, seat, row):
        row[0] = 1

    blind = MOSKA.changed(encoders={"bitmap": PerspectiveEncoder(lambda seats: [Segment("one")], nothing)})
    player = agent(blind, "peeking:order")
    state = next(state for state in states_of(MOSKA, ["bot3"] * 4, 1) if 5 < len(MOSKA.moves(state)) < 50)
    ((moves, worth),), _ = decided(blind, player, [state], streams_of(1))
    assert player.evaluator.sizes == [1]
    assert len(moves) > 5
    assert len(set(worth.tolist())) == 1


SCRIPT = """
import sys
import numpy as np
sys.path[:0] = [sys.argv[1]]
from judges import Judge, some_order
from cardai import load
from cardai.playing.agents.spec import Agent
from cardai.playing.agents.strategy import OnePly
from cardai.playing.table.many import play

for name, seats, games in ((sys.argv[2], 3, 4), ("moska", 2, 1)):
    game = load(name)
    judge = Judge("any", next(iter(game.learning.encoders)), seats, some_order)
    agents = [
        Agent("sampled", OnePly(judge, settles=True, worlds=3, epsilon=0.1)),
        Agent("peeking", OnePly(judge, settles=True, peeks=True, temperature=0.05)),
        Agent("greedy", OnePly(judge)),
    ][:seats]
    lineups, seeds = (np.arange(seats) + np.arange(games)[:, None]) % seats, np.arange(games)
    found = play(game, agents, lineups, seeds, record=True, tally=True, checked=True)
    print(found.rows, found.decisions, found.tally.tolist(), [moves.tobytes().hex() for moves in found.moves])
"""


@pytest.mark.skipif(not JIT, reason="compares compiled code with plain Python")
def test_plain_python_chooses_the_same_moves():
    told = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", SCRIPT, str(Path(__file__).parent), str(EXAMPLE)],
            env=os.environ | {"CARDAI_JIT": jit},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for jit in "01"
    ]
    assert told[0] == told[1] != ""


# What an agent knows.


def worlds_of(state, count):
    seat = int(state.turn)
    return [state, *(MOSKA.world(state, seat, seed) for seed in range(count))]


@pytest.mark.parametrize("kind", ["greedy", "sampled", "peeking"])
def test_only_a_peeking_agent_decides_by_what_is_hidden(kind):
    """In every world of the seat, with the same stream, honest agents give each move the same worth."""
    judge = Judge("any", "afterstate", 4, some_order)
    player = searching(kind, judge)
    differing = 0
    for state in some_states(MOSKA, ["bot3", "bot2", "random", "bot3"], 5):
        states, streams = worlds_of(state, 4), np.repeat(streams_of(1), 5)
        found, chosen = decided(MOSKA, player, states, streams)
        worths, played = {worth.tobytes() for _, worth in found}, {move.tobytes() for move in chosen}
        assert kind == "peeking" or len(worths) == len(played) == 1
        differing += len(worths) > 1 and len(played) > 1
    assert differing > 2 if kind == "peeking" else not differing
    assert player.peeks == (kind == "peeking")


# What is taken from a seat's stream.

GAMMA_INVERSE = pow(0x9E3779B97F4A7C15, -1, 1 << 64)


def numbers_drawn(game, spec, state):
    """How many 64-bit numbers a decision took from the seat's stream, and how many moves were best."""
    streams = streams_of(1)
    before = int(streams["rng"][0])
    ((_, worth),), _ = decided(game, agent(game, spec), [state], streams)
    return (int(streams["rng"][0]) - before) * GAMMA_INVERSE % (1 << 64), int((worth == worth.max()).sum())


def test_a_decision_draws_its_world_and_its_lots_and_nothing_else(judges):
    opening = TICTACTOE.new()
    for text in ("a1", "b2"):
        opening = TICTACTOE.play(opening, TICTACTOE.text.parse(opening, text))
    drawn, ties = numbers_drawn(TICTACTOE, "greedy:lines", opening)
    assert ties > 1
    assert drawn == 1 + (ties - 1)  # the world's stream, and a lot for each equal move after the first
    assert numbers_drawn(TICTACTOE, "greedy:lines?epsilon=0&temperature=0", opening) == (drawn, ties)
    assert numbers_drawn(TICTACTOE, "peeking:lines", opening) == (ties - 1, ties)
    assert numbers_drawn(TICTACTOE, "greedy:lines?epsilon=1e-9", opening) == (drawn + 1, ties)
    assert numbers_drawn(TICTACTOE, "greedy:lines?epsilon=1", opening) == (1 + 2, ties)
    assert numbers_drawn(TICTACTOE, "greedy:lines?temperature=1", opening) == (1 + 1, ties)


def test_a_seat_without_a_legal_move_is_named():
    judged = steps.GAME.changed(encoders={"height": PerspectiveEncoder(lambda seats: [Segment("height")], see_height)})
    player = Agent("any", OnePly(Judge("any", "height", 2, lambda rows: rows[:, 0] / 255)))
    with pytest.raises(CardaiError, match=r"steps, game seed 3, ply \d+: seat [01] is to move and has no legal move"):
        play(judged, [player], np.zeros((1, 2), int), np.array([3]), variant="trapped", max_plies=100)
    stuck = judged.new(2, 0, "trapped")
    stuck.height = 5
    with pytest.raises(CardaiError, match="steps: seat 0 is to move and has no legal move"):
        decided(judged, player, [stuck], streams_of(1))


@rule
def see_height(state, seat, row):
    row[0] = state.height
