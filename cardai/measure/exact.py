"""Exact play in small games: counting the tree, solving it, and grading any agent over all of it.

    solution = solve(load("tictactoe"))         # every reachable position and its value
    report = grade(solution, "greedy:open_lines")
    rich.print(report.table())

Solving wants two seats whose scores sum to 1, no chance and nothing hidden; `solve` checks that and says what it met.

A *strategy* says how its owner moves in every position, from whichever seat: i64[E], a weight for each edge of the
solution; a move's probability is its weight's share among the moves of its position. So all grades are exact fractions.
"""

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from cardai.agents.spec import Agent, agent
from cardai.errors import CardaiError
from cardai.game import Game, GameState, int_seed
from cardai.kernel import driver
from cardai.kernel.driver import decide, legal_moves, lend, play_move
from cardai.kernel.native import (
    at,
    call_choose,
    call_resample,
    call_score,
    clear,
    copy,
    get,
    get_float,
    next_of,
    raw,
    seed_state,
    seed_stream,
    set,
    set_float,
    turn_of,
)
from cardai.rule import STREAM, mixed, rule
from cardai.table.cast import cast_of, scratch_of
from cardai.table.complaints import Complaints
from cardai.table.lookahead import decide as decide_outside

LIMIT = 1_000_000  # positions that `solve` is ready to hold
SAMPLES = 32  # decisions asked for in each position of an agent that uses luck
PERFT_SECONDS = 60.0  # how long a depth may take before `perft` wants to be told to go so deep
_CHUNK_BYTES = 1 << 24
_DEEPEST = 100_000
_ASKED_AT_ONCE = 8  # positions a searching player decides in before Ctrl-C is heard
_FRONTIER = 512  # positions among which a count is split, so that Ctrl-C is heard

Progress = Callable[[int, int], None]
"""Called with (rounds done, rounds in all)."""


@rule
def expand(rules, states, count, moves, played, following, sizes):
    """Play every move of each of `count` positions: sizes[i] moves of states[i]; moves and successors side by side.

    A game that is over has size 0; a truncated enumeration's size is negative. How many moves were played in all.
    """
    n = 0
    for i in range(count):
        state = at(states, i)
        found = 0 if turn_of(state) < 0 else legal_moves(rules, state, moves, 0)
        set(sizes, i, found)
        for k in range(abs(found)):
            copy(at(played, n), at(moves, k), rules.move_size)
            copy(at(following, n), state, rules.state_size)
            play_move(rules, at(following, n), at(moves, k))
            n += 1
    return n


@rule
def score_ends(rules, states, count, scores):
    """Both seats' scores of each position that is over: f8[count, 2], elsewhere left alone."""
    for i in range(count):
        if turn_of(at(states, i)) < 0:
            for seat in range(2):
                set_float(scores, 2 * i + seat, call_score(get(rules.calls, driver.SCORE), at(states, i), seat))


@rule
def look_from(rules, states, count, seat, streams):
    """Deal anew, in place, what a seat cannot know in each of `count` positions."""
    for i in range(count):
        call_resample(get(rules.calls, driver.RESAMPLE), at(states, i), seat, at(streams, 0))


@rule
def give_luck(source, worlds, streams, count):
    """Seed `count` worlds and as many streams from one stream."""
    for i in range(count):
        seed_state(at(worlds, i), next_of(at(source, 0)))
        seed_stream(at(streams, i), next_of(at(source, 0)))


@rule
def ask_native(rules, cast, worlds, streams, count, chosen):
    """Let a hand-written player choose in each of `count` worlds."""
    for i in range(count):
        clear(at(chosen, i), rules.move_size)
        call_choose(get(cast.calls, 0), at(worlds, i), at(chosen, i), cast.params, 0, cast.width, at(streams, i))


@rule
def ask_searching(rules, cast, worlds, streams, count, scratch, chosen, first, best):
    """Let a player who compares moves choose in each of `count` worlds.

    Also marks in `best`: i64[E], from first[i] on, the moves of worlds[i] whose mean was the highest: those it
    draws lots among.
    """
    for i in range(count):
        decide(rules, cast, 0, at(worlds, i), cast.params, 0, True, scratch, at(streams, i), at(chosen, i))
        n = abs(legal_moves(rules, at(worlds, i), scratch.moves, 0))
        highest = -np.inf
        for k in range(n):
            highest = max(highest, get_float(scratch.totals, k) / get(scratch.counts, k))
        for k in range(n):
            set(best, get(first, i) + k, get_float(scratch.totals, k) / get(scratch.counts, k) == highest)


def perft(
    game: Game,
    depth: int | None = None,
    seats: int | None = None,
    variant: str | None = None,
    *,
    seed: int = 0,
    seconds: float = PERFT_SECONDS,
    on_depth: Callable[[int, int], None] | None = None,
) -> list[int]:
    """How many sequences of 0, 1, 2, ... `depth` legal moves there are; a game that has ended is not continued.

    With chance, it follows the stream of the deal `seed`, so the count is that of one deal. Without a depth, counts
    until nothing is left; CardaiError when a depth would take longer than about `seconds`, with the counts so far.
    `on_depth(depth, count)` hears each count at once. Enumerations that `max_moves` truncates count as truncated.
    """
    if depth is not None and depth < 0:
        raise CardaiError(f"perft counts to a depth of 0 or more, not {depth}")
    if depth is not None and depth > _DEEPEST:
        raise CardaiError(f"perft counts to a depth of {_DEEPEST} at most, not {depth}")
    with Complaints(game):
        return _counted(game, depth, game.new(seats, seed, variant), seconds, on_depth)


def _counted(
    game: Game, depth: int | None, deal: GameState, seconds: float, on_depth: Callable[[int, int], None] | None
) -> list[int]:
    start = np.array([deal], game.state)
    counts, frontier, base, took = [1], start, 0, 0.0
    while depth is None or len(counts) <= depth:
        growth = counts[-1] / max(counts[-2], 1) if len(counts) > 1 else 1.0
        if depth is None and took * growth > seconds:
            raise CardaiError(
                f"{game.name}: {len(counts)} moves deep would take about {took * growth:.0f} s to count; "
                f"name a depth to count so far all the same (so far: {', '.join(map(str, counts))})"
            )
        began = time.perf_counter()
        if len(frontier) < _FRONTIER:
            frontier, base = _expanded(game, frontier)[2], len(counts)
            found = len(frontier)
        else:
            found = _leaves(game, frontier, len(counts) - base)
        took = time.perf_counter() - began
        if found == 0:  # nothing is left at any depth
            return counts if depth is None else counts + [0] * (depth + 1 - len(counts))
        counts.append(found)
        if on_depth:
            on_depth(len(counts) - 1, found)
    return counts


def _leaves(game: Game, frontier: np.ndarray, depth: int) -> int:
    rules = lend(game.rules)
    worlds, left = np.zeros(depth + 1, game.state), np.zeros(depth + 1, np.int64)
    moves = np.zeros((depth + 1) * game.max_moves, game.move)
    total = 0
    for i in np.flatnonzero(frontier["turn"] >= 0):
        worlds[0] = frontier[i]
        total += int(driver.count_leaves(rules, raw(worlds), raw(moves), raw(left), depth))
    return total


def _expanded(game: Game, states: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What `expand` fills: i64[len(states)] sizes, MOVE[E] played, STATE[E] following."""
    rules, sizes = lend(game.rules), np.zeros(len(states), np.int64)
    moves = np.zeros(game.max_moves, game.move)
    chunk = max(1, _CHUNK_BYTES // (game.max_moves * (game.state.itemsize + game.move.itemsize)))
    played, following = [], []
    for first in range(0, len(states), chunk):
        part = np.ascontiguousarray(states[first : first + chunk])
        room = len(part) * game.max_moves
        moved, after = np.zeros(room, game.move), np.zeros(room, game.state)
        n = expand(rules, raw(part), len(part), raw(moves), raw(moved), raw(after), raw(sizes[first : first + chunk]))
        played.append(moved[:n].copy())
        following.append(after[:n].copy())
    return sizes, np.concatenate(played), np.concatenate(following)


@dataclass(frozen=True, eq=False)
class Solution:
    """Every reachable position of a game, N of them in order of ply (0 is the start), and all E moves between them.

    The moves of position i are the edges first[i]..first[i + 1] - 1, in canonical order. `values`: seat 0's score when
    both play perfectly.
    """

    game: Game
    variant: str
    states: np.ndarray  # STATE[N], rng 0
    first: np.ndarray  # i64[N + 1]
    moves: np.ndarray  # MOVE[E]
    following: np.ndarray  # i64[E]: the position a move leads to
    values: np.ndarray  # f8[N] in [0, 1]
    index: dict[bytes, int]  # a position's bytes -> its place

    @property
    def turns(self) -> np.ndarray:
        """i64[N]: the seat to move, -1 where the game is over."""
        return self.states["turn"]

    @functools.cached_property
    def parents(self) -> np.ndarray:
        """i64[E]: the position each move starts from."""
        return np.repeat(np.arange(len(self.states)), np.diff(self.first))

    @functools.cached_property
    def is_optimal(self) -> np.ndarray:
        """bool[E]: whether a move keeps its position's value."""
        return self.values[self.following] == self.values[self.parents]

    def place(self, state: np.record) -> int:
        """Where a position lies in the arrays, whatever its stream; CardaiError if it cannot be reached."""
        key = np.array([state], self.game.state)
        key["rng"] = 0
        if key.tobytes() not in self.index:
            raise CardaiError(f"{self.game.name}: this position cannot be reached from the start")
        return self.index[key.tobytes()]

    def value(self, state: np.record, seat: int) -> float:
        """The score `seat` reaches from here when both play perfectly."""
        value = float(self.values[self.place(state)])
        return value if seat == 0 else 1.0 - value


def solve(game: Game, variant: str | None = None, *, limit: int = LIMIT) -> Solution:
    """Enumerate a small game and value every position by perfect play.

    A position is the bytes of a state without its stream; `ply` is part of it, so that moves never lead back. Raises
    CardaiError for a game that is not for two, has chance, hides something, is not zero-sum, or has over `limit`
    positions.
    """
    with Complaints(game):
        return _solved(game, game.default_variant if variant is None else variant, limit)


def _solved(game: Game, variant: str, limit: int) -> Solution:
    index = {_start(game, variant).tobytes(): 0}
    known = list(index)
    sizes, moves, following = [], [], []
    chunk = max(1, _CHUNK_BYTES // (game.max_moves * game.state.itemsize))
    done = 0
    while done < len(known):
        states = np.frombuffer(b"".join(known[done : done + chunk]), game.state)
        done += len(states)
        _refuse_hidden(game, states)
        found, played, after = _expanded(game, states)
        _refuse_odd(game, states, found, after)
        sizes.append(found)
        moves.append(played)
        keys, width = after.tobytes(), game.state.itemsize
        for at_byte in range(0, len(keys), width):
            key = keys[at_byte : at_byte + width]
            place = index.setdefault(key, len(index))
            if place == len(known):
                known.append(key)
            following.append(place)
        if len(known) > limit:
            raise CardaiError(f"{game.name} is too large to solve: it has more than {limit} positions")
    states = np.frombuffer(b"".join(known), game.state)
    first = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    targets = np.array(following, np.int64)
    values = _perfect_play(game, states, first, targets)
    return Solution(game, variant, states, first, np.concatenate(moves), targets, values, index)


def _start(game: Game, variant: str) -> np.ndarray:
    """STATE[1]: the start of a two-seat game whose deal draws nothing, without its stream."""
    if 2 not in game.seats:
        raise CardaiError(f"{game.name} cannot be solved: it is for {game.seats[0]} to {game.seats[-1]} seats, not 2")
    start = np.array([game.new(2, 0, variant)], game.state)
    if int(start["rng"][0]) != int(mixed(int_seed(0))):
        raise CardaiError(f"{game.name} cannot be solved: its deal is a matter of chance")
    start["rng"] = 0
    return start


def _refuse_hidden(game: Game, states: np.ndarray) -> None:
    rules, streams = lend(game.rules), np.zeros(1, STREAM)
    for seat in range(2):
        worlds = states.copy()
        look_from(rules, raw(worlds), len(worlds), seat, raw(streams))
        if worlds.tobytes() != states.tobytes():
            raise CardaiError(f"{game.name} cannot be solved: something is hidden from seat {seat}")


def _refuse_odd(game: Game, states: np.ndarray, sizes: np.ndarray, following: np.ndarray) -> None:
    if (sizes < 0).any():
        raise CardaiError(f"{game.name} cannot be solved: a position has more than {game.max_moves} moves")
    if ((sizes == 0) & (states["turn"] >= 0)).any():
        raise CardaiError(f"{game.name}: a seat is to move and has no legal move")
    if following["rng"].any():
        raise CardaiError(f"{game.name} cannot be solved: chance follows a move")


def _perfect_play(game: Game, states: np.ndarray, first: np.ndarray, following: np.ndarray) -> np.ndarray:
    """f8[N]: seat 0's score under perfect play, from the last ply to the first."""
    scores = np.zeros((len(states), 2))
    score_ends(lend(game.rules), raw(states), len(states), raw(scores))
    over = states["turn"] < 0
    if not np.allclose(scores[over].sum(axis=1), 1.0):
        raise CardaiError(f"{game.name} cannot be solved: the two scores do not always sum to 1")
    values = scores[:, 0].copy()
    for ply in range(int(states["ply"].max()) - 1, -1, -1):
        for seat, best in ((0, np.maximum), (1, np.minimum)):
            here = np.flatnonzero((states["ply"] == ply) & (states["turn"] == seat))
            if len(here):
                edges = np.concatenate([np.arange(first[i], first[i + 1]) for i in here])
                starts = np.concatenate([[0], np.cumsum(first[here + 1] - first[here])[:-1]])
                values[here] = best.reduceat(values[following[edges]], starts)
    return values


# Reference strategies.


def uniform(solution: Solution) -> np.ndarray:
    """The strategy that plays every move as often as the others."""
    return np.ones(len(solution.moves), np.int64)


def minimax(solution: Solution) -> np.ndarray:
    """The strategy that plays every move that is optimal against perfect play as often as the others."""
    return solution.is_optimal.astype(np.int64)


def best_against_uniform(solution: Solution, safe: bool = True) -> np.ndarray:
    """The strategy that wins most often against evenly random moves, and among such draws most often.

    `safe`: it never plays a move after which a perfect opponent would win, unless it has no other.
    """
    chosen = np.zeros(len(solution.moves), np.int64)
    for seat in range(2):
        worth = {i: _end(solution, i, seat) for i in np.flatnonzero(solution.turns < 0).tolist()}
        holds = (solution.values if seat == 0 else 1.0 - solution.values)[solution.following] >= 0.5
        for i in np.flatnonzero(solution.turns >= 0)[::-1].tolist():
            edges = range(solution.first[i], solution.first[i + 1])
            after = {edge: worth[int(solution.following[edge])] for edge in edges}
            if solution.turns[i] == seat:
                allowed = [edge for edge in edges if holds[edge]] if safe else []
                best = max(allowed or edges, key=lambda edge: after[edge])
                chosen[best] = 1
                worth[i] = after[best]
            else:
                wins, draws = zip(*after.values(), strict=True)
                worth[i] = (Fraction(sum(wins), len(edges)), Fraction(sum(draws), len(edges)))
    return chosen


def _end(solution: Solution, place: int, seat: int) -> tuple[Fraction, Fraction]:
    """How a finished game counts for a seat: (wins, draws)."""
    score = solution.values[place] if seat == 0 else 1.0 - solution.values[place]
    return Fraction(int(score > 0.5)), Fraction(int(score == 0.5))


@dataclass(frozen=True)
class Outcome:
    """How a strategy fares from one seat against evenly random moves, and over all of the opponent's replies.

    A *line* is a sequence of moves to the end of the game in which the strategy plays only moves that it plays at all.
    For a strategy without luck that is one line for each sequence of the opponent's moves.
    """

    win: Fraction
    draw: Fraction
    loss: Fraction
    lines: int
    losing_lines: int


def values_against_uniform(solution: Solution, strategy: np.ndarray) -> tuple[Outcome, Outcome]:
    """A strategy's exact outcomes in seat 0 and in seat 1 against an opponent whose every move is as likely."""
    return _play_through(solution, strategy, 0)[0], _play_through(solution, strategy, 1)[0]


def _play_through(solution: Solution, strategy: np.ndarray, seat: int) -> tuple[Outcome, np.ndarray]:
    """The outcome in a seat, and bool[N]: which positions can arise."""
    count = len(solution.states)
    chance, lines = [Fraction(0)] * count, [0] * count
    chance[0], lines[0] = Fraction(1), 1
    shares, paths = [Fraction(0)] * 3, [0] * 3
    turns, first, following = solution.turns.tolist(), solution.first.tolist(), solution.following.tolist()
    weights = np.asarray(strategy).tolist()
    for i in range(count):
        if not lines[i]:
            continue
        if turns[i] < 0:
            win, draw = _end(solution, i, seat)
            result = 0 if win else 1 if draw else 2
            shares[result] += chance[i]
            paths[result] += lines[i]
            continue
        edges = range(first[i], first[i + 1])
        here = [weights[edge] for edge in edges] if turns[i] == seat else [1] * len(edges)
        total = sum(here)
        if total == 0:
            raise ValueError(f"the strategy has no move in position {i}")
        for edge, weight in zip(edges, here, strict=True):
            if weight:
                chance[following[edge]] += chance[i] * Fraction(weight, total)
                lines[following[edge]] += lines[i]
    return Outcome(*shares, lines=sum(paths), losing_lines=paths[2]), np.array(lines, bool)


@dataclass(frozen=True)
class Grade:
    """What an agent's play is worth, from its decision in every position of the tree.

    `optimal`: the share of its decisions that perfect play would make too, over all positions with a choice, each
    counting once; `optimal_met`: over those among them that arise when it plays. `luck`: "none", "known" (it draws lots
    evenly among moves that are known), or "estimated" (from `samples` decisions a position; since a game meets a
    position once, the shares have no bias; a losing line it never took in the samples is not counted).
    """

    game: str
    agent: str
    first: Outcome
    second: Outcome
    optimal: Fraction
    optimal_met: Fraction
    luck: str
    samples: int

    @property
    def averaged(self) -> tuple[Fraction, Fraction, Fraction]:
        """Win, draw and loss in the mean over the two seats."""
        one, two = self.first, self.second
        return (one.win + two.win) / 2, (one.draw + two.draw) / 2, (one.loss + two.loss) / 2

    @property
    def losing_lines(self) -> int:
        """In how many lines it loses, from both seats; 0 is perfect safety."""
        return self.first.losing_lines + self.second.losing_lines

    def as_json(self) -> dict[str, Any]:
        """The grade in plain numbers; fractions as text ("191/192") beside them unless they are estimates."""
        exact = self.luck != "estimated"

        def share(value: Fraction) -> dict[str, Any]:
            return {"value": float(value), **({"fraction": str(value)} if exact else {})}

        def triple(win: Fraction, draw: Fraction, loss: Fraction) -> dict[str, Any]:
            return {"win": share(win), "draw": share(draw), "loss": share(loss)}

        def seat(one: Outcome) -> dict[str, Any]:
            return {**triple(one.win, one.draw, one.loss), "lines": one.lines, "losing_lines": one.losing_lines}

        return {
            "game": self.game,
            "agent": self.agent,
            "against": "evenly random moves",
            "first": seat(self.first),
            "second": seat(self.second),
            "averaged": triple(*self.averaged),
            "optimal": share(self.optimal),
            "optimal_met": share(self.optimal_met),
            "luck": self.luck,
            "samples": self.samples,
        }

    def table(self) -> Any:
        """The grade as a `rich` table."""
        return compare([self])


def grade(
    game: Game | Solution,
    player: Agent | str,
    *,
    seed: int = 0,
    samples: int = SAMPLES,
    progress: Progress | None = None,
) -> Grade:
    """Grade an agent by its decision in every position where it could be to move.

    CardaiError for a game that `solve` refuses and for an agent without a fixed strategy (a person, or parameters drawn
    anew for each game); IllegalMove when the agent plays one.
    """
    solution = game if isinstance(game, Solution) else solve(game)
    chosen = agent(solution.game, player) if isinstance(player, str) else player
    with Complaints(solution.game):
        weights, luck = strategy_of(solution, chosen, seed=seed, samples=samples, progress=progress)
    return grade_strategy(solution, chosen.label, weights, luck, samples if luck == "estimated" else 0)


def grade_strategy(solution: Solution, name: str, strategy: np.ndarray, luck: str = "known", samples: int = 0) -> Grade:
    """Grade a strategy, for example one of the reference strategies, under a name."""
    first, met_first = _play_through(solution, strategy, 0)
    second, met_second = _play_through(solution, strategy, 1)
    has_choice = np.diff(solution.first) > 1
    met = has_choice & np.where(solution.turns == 0, met_first, met_second)
    optimal = _optimal_share(solution, strategy, has_choice)
    return Grade(
        solution.game.name, name, first, second, optimal, _optimal_share(solution, strategy, met), luck, samples
    )


def _optimal_share(solution: Solution, strategy: np.ndarray, counted: np.ndarray) -> Fraction:
    """The mean probability of an optimal move over the counted positions (bool[N]); 1 when there are none."""
    total = Fraction(0)
    places = np.flatnonzero(counted)
    for i in places:
        edges = slice(solution.first[i], solution.first[i + 1])
        total += Fraction(int(strategy[edges][solution.is_optimal[edges]].sum()), int(strategy[edges].sum()))
    return total / len(places) if len(places) else Fraction(1)


def strategy_of(
    solution: Solution, player: Agent, *, seed: int = 0, samples: int = SAMPLES, progress: Progress | None = None
) -> tuple[np.ndarray, str]:
    """An agent's strategy and what is known of its luck: "none", "known" or "estimated" (see `Grade`)."""
    if samples < 2:
        raise CardaiError(f"an agent that uses luck is asked at least 2 times a position, not {samples}")
    if player.randomised:
        raise CardaiError(f"agent {player.spec!r} draws its parameters anew for each game; grade it with fixed ones")
    if player.epsilon or player.temperature:
        raise CardaiError(f"agent {player.spec!r} explores; grade it without epsilon and temperature")
    if player.kind == driver.UNIFORM:
        return uniform(solution), "known"
    asked = _Asked(solution, player, seed)
    if player.kind in (driver.GREEDY, driver.SAMPLED, driver.PEEKING):
        asked.round()  # nothing is hidden, so its values are certain and only equal ones are left to luck
        weights = asked.best
        decided = np.add.reduceat(weights, solution.first[asked.places])
        return weights, "none" if (decided == 1).all() else "known"
    weights = asked.round()
    if player.kind == driver.NATIVE and not asked.drew_lots:
        return weights, "none"
    for done in range(1, samples):
        weights += asked.round()
        if player.kind == driver.OUTSIDE and done == 1 and weights.max() == 2 and not ((weights == 1).any()):
            return weights, "none"  # asked twice in every position, it answered the same
        if progress:
            progress(done + 1, samples)
    return weights, "estimated"


class _Asked:
    """An agent being asked for its move in every position of a solution."""

    def __init__(self, solution: Solution, player: Agent, seed: int) -> None:
        if player.kind == driver.OUTSIDE and player.choose is None:
            raise CardaiError(f"agent {player.spec!r} cannot be asked in every position")
        player.check_fits(solution.game, solution.variant, 2)
        self.solution, self.player = solution, player
        self.rules, self.cast = solution.game.rules, cast_of(solution.game, [player])
        self.scratch = scratch_of(solution.game, self.cast)
        self.places = np.flatnonzero(solution.turns >= 0)
        self.positions = np.ascontiguousarray(solution.states[self.places])
        self.first = np.ascontiguousarray(solution.first[self.places])
        self.source = np.zeros(1, STREAM)
        self.source["rng"] = mixed(int_seed(seed))
        self.best = np.zeros(len(solution.moves), np.int64)
        self.drew_lots = False
        edges = zip(solution.parents.tolist(), _keys(solution.moves), strict=True)
        self.edges = {edge: i for i, edge in enumerate(edges)}

    def round(self) -> np.ndarray:
        """Ask once in every position: i64[E], 1 for the moves chosen."""
        worlds, streams = self.positions.copy(), np.zeros(len(self.positions), STREAM)
        give_luck(raw(self.source), raw(worlds), raw(streams), len(worlds))
        before = worlds["rng"].copy(), streams["rng"].copy()
        chosen = self._choose(worlds, streams)
        self.drew_lots |= bool((worlds["rng"] != before[0]).any() or (streams["rng"] != before[1]).any())
        weights = np.zeros(len(self.solution.moves), np.int64)
        for place, move, key in zip(self.places.tolist(), chosen, _keys(chosen), strict=True):
            if (place, key) not in self.edges:
                self.solution.game.play(self.solution.states[place], move)  # raises IllegalMove
            weights[self.edges[place, key]] = 1
        return weights

    def _choose(self, worlds: np.ndarray, streams: np.ndarray) -> np.ndarray:
        count, chosen = len(worlds), np.zeros(len(worlds), self.solution.game.move)
        if self.player.choose is not None:
            return np.asarray(self.player.choose(self.solution.game, worlds), self.solution.game.move)
        if self.player.evaluator is not None:
            places = np.arange(count)
            found = decide_outside(self.solution.game, self.player, worlds, streams, places, places, chosen)
            for first, (_, worth) in zip(self.first.tolist(), found, strict=True):
                self.best[first : first + len(worth)] = worth == worth.max()
            return chosen
        rules, cast = lend(self.rules), lend(self.cast)
        if self.player.kind == driver.NATIVE:
            ask_native(rules, cast, raw(worlds), raw(streams), count, raw(chosen))
        else:
            best, scratch = raw(self.best), lend(self.scratch)
            for i in range(0, count, _ASKED_AT_ONCE):
                part = slice(i, i + _ASKED_AT_ONCE)
                asked = [raw(array[part]) for array in (worlds, streams, chosen, self.first)]
                n = len(worlds[part])
                ask_searching(rules, cast, asked[0], asked[1], n, scratch, asked[2], asked[3], best)
        return chosen


def _keys(records: np.ndarray) -> list[bytes]:
    """The bytes of each record."""
    data, width = records.tobytes(), records.dtype.itemsize
    return [data[i : i + width] for i in range(0, len(data), width)]


def compare(grades: Sequence[Grade]) -> Any:
    """A `rich` table with a row for each grade of one game."""
    from rich import box
    from rich.table import Table

    table = Table(
        title=f"{grades[0].game}: exact grades against evenly random moves (win / draw / loss in %)",
        title_justify="left",
        box=box.HORIZONTALS,
        padding=(0, 1, 0, 0),
    )
    table.add_column("agent", width=min(max(len(one.agent) + 1 for one in grades), 26), overflow="fold")
    for name in ("moving first", "moving second", "averaged", "losing lines", "optimal", "optimal when met"):
        table.add_column(name, justify="right")
    for one in grades:
        mark = "*" if one.luck == "estimated" else ""
        table.add_row(
            one.agent + mark,
            _percents(one.first.win, one.first.draw, one.first.loss),
            _percents(one.second.win, one.second.draw, one.second.loss),
            _percents(*one.averaged),
            f"{one.losing_lines} of {one.first.lines + one.second.lines}",
            _percents(one.optimal),
            _percents(one.optimal_met),
        )
    if any(one.luck == "estimated" for one in grades):
        asked = max(one.samples for one in grades)
        table.caption = f"* uses luck: its moves are estimated from {asked} decisions in each position"
    return table


def _percents(*shares: Fraction) -> str:
    return " / ".join(f"{float(100 * share):.2f}" if share not in (0, 1) else str(int(100 * share)) for share in shares)
