"""The laws every game keeps, and the kit that checks them: `cardai check GAME`, or `check(game)`.

A law is a function on a `Ground`: games of every variant and seat count, played natively and laid out state by state.
It returns nothing when the law holds and raises `LawError`, which says where and what, when it does not. Hidden
information is judged by *views*: all a seat is shown (every encoder's row, the text, its own moves). What a law
compares in bulk it compares on blocks of records in compiled code; only text goes position by position.

The sampler (`resample`) is judged by induction, without enumerating anything. At the deal: what differs from deal to
deal and shows in no view must be dealt anew, without favour for the truth. At each move: play it in worlds of before;
the outcomes that look the same to a seat are its worlds of after. What varies among those must vary among worlds drawn
afterwards, or it was learnt unseen; what does not vary there may not vary afterwards, or it was forgotten.
"""

import functools
import hashlib
import importlib
import json
import math
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cardai import native
from cardai.driver import (
    ACT,
    RESAMPLE,
    SCORE,
    SETTLE,
    UNIFORM,
    is_among,
    legal_moves,
    lend,
    make_world,
    play_move,
)  # fmt: skip
from cardai.game import CardaiError, Game, GameState, IllegalMove, int_seed
from cardai.native import (
    at,
    begin_ply,
    below_of,
    call_act,
    call_choose,
    call_encode,
    call_resample,
    call_score,
    call_settle,
    clear,
    copy,
    get,
    next_of,
    raw,
    seed_state,
    seed_stream,
    set,
    set_float,
    turn_of,
)  # fmt: skip
from cardai.players import Agent, agent, list_specs
from cardai.registry import load, unknown
from cardai.rule import JIT, STREAM, mixed, rule
from cardai.table import Complaints, play


@dataclass(frozen=True)
class Verdict:
    """What became of one law: `problem` is None, or names law, variant, seats, seed, ply and what was wrong."""

    law: str
    about: str
    passed: bool
    seconds: float
    problem: str | None


@dataclass(frozen=True)
class Law:
    """A fact that holds for every game; `check` raises LawError where it does not."""

    name: str
    about: str
    check: Callable[["Ground"], None]


@dataclass(frozen=True)
class Effort:
    """How hard to look. Counts are for each table (a variant and a seat count) unless they say otherwise."""

    games: int  # played in all, shared by the tables, at least three each
    positions: int  # looked at in each game by compiled comparisons
    texts: int  # looked at in each game by those in Python
    worlds: int
    deals: int  # for the sampler's fairness
    even: int  # positions in all whose worlds are counted
    plain_games: int  # replayed in plain Python, in all


EFFORTS = {
    "quick": Effort(games=15, positions=12, texts=3, worlds=4, deals=300, even=10, plain_games=2),
    "normal": Effort(games=48, positions=32, texts=6, worlds=8, deals=600, even=30, plain_games=6),
    "thorough": Effort(games=300, positions=100, texts=12, worlds=24, deals=3000, even=200, plain_games=20),
}

LAWS: dict[str, Law] = {}
"""Every law by its name, in the order they are checked."""

SIGMA = 5.0  # how far from even a count may be by chance
HINT = 4.0  # how far it must be for a second, larger look
OFTEN = 0.4  # what is hidden differs between so many neighbouring deals
MANY_WORLDS = 1024  # for that second look
FEW_WORLDS = 12  # so few different worlds can be counted one by one
PERTURBED = 6  # variations of a move that are asked about
MOVES_TRIED = 24  # moves of a position whose after-states are compared


class LawError(Exception):
    """A law does not hold; the message says where and what."""


def check(
    game: Game,
    *,
    seed: int = 0,
    effort: str = "normal",
    laws: Sequence[str] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[Verdict]:
    """Try the laws on a game, all or those named; `progress` is called with (law, laws done, laws in all).

    `effort` is "quick", "normal" (under a minute for every game here) or "thorough". The same seed looks at the same
    games. Raises CardaiError for an unknown law or effort.
    """
    if effort not in EFFORTS:
        raise CardaiError(unknown("effort", effort, EFFORTS))
    for name in laws or ():
        if name not in LAWS:
            raise CardaiError(unknown("law", name, LAWS))
    chosen = [LAWS[name] for name in (LAWS if laws is None else laws)]
    ground = Ground(game, seed, EFFORTS[effort])
    verdicts = []
    for done, law in enumerate(chosen):
        if progress:
            progress(law.name, done, len(chosen))
        start = time.perf_counter()
        problem = _problem(law, ground)
        verdicts.append(Verdict(law.name, law.about, problem is None, time.perf_counter() - start, problem))
    if progress:
        progress("", len(chosen), len(chosen))
    return verdicts


def _problem(law: Law, ground: "Ground") -> str | None:
    try:
        with Complaints(ground.game):
            law.check(ground)
    except LawError as broken:
        return f"{law.name}: {broken}"
    except CardaiError as error:
        return f"{law.name}: {ground.somewhere()}: {error}"
    except Exception as error:  # a game's own Python, a layout say, may raise anything: that is the finding
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{law.name}: {ground.somewhere()}: {error!r} ({Path(place.filename).name} line {place.lineno})"
    return None


def _law(check: Callable[["Ground"], None]) -> Callable[["Ground"], None]:
    assert check.__doc__ is not None
    LAWS[check.__name__] = Law(check.__name__, check.__doc__.split("\n")[0].rstrip("."), check)
    return check


# The ground: games that have been played.


@dataclass(frozen=True)
class Table:
    """A variant and a seat count."""

    variant: str
    seats: int

    def __str__(self) -> str:
        return f"variant {self.variant}, {self.seats} seats"


@dataclass(frozen=True, eq=False)
class Trace:
    """One game: `states`: STATE[plies + 1], `moves`: MOVE[plies], `scores`: f8[seats] as the table gave them."""

    table: Table
    seed: int
    states: np.ndarray
    moves: np.ndarray
    scores: np.ndarray

    def sampled(self, count: int) -> list[int]:
        """At most `count` plies at which somebody is to move, spread evenly from the first to the last."""
        return sorted({round(ply) for ply in np.linspace(0, len(self.moves) - 1, count)}) if len(self.moves) else []


def broken(trace: Trace, ply: int, what: str) -> LawError:
    """The exception for a law that does not hold in a position."""
    return LawError(f"{trace.table}, seed {trace.seed}, ply {ply}: {what}")


class Ground:
    """Games of every variant and seat count for the laws to stand on, played when first asked for."""

    def __init__(self, game: Game, seed: int, effort: Effort) -> None:
        self.game, self.seed, self.effort = game, seed, effort
        self.tables = [Table(variant, seats) for variant in game.variants for seats in game.seats]
        self.compiled = Compiled(game)

    def somewhere(self) -> str:
        """Where a fault may lie whose place is not known."""
        return f"a variant of {', '.join(self.game.variants)}, seats {self.game.seats}, seed {self.seed}, ply unknown"

    def seeds(self, table: Table, count: int) -> np.ndarray:
        """Game seeds of a table: u64[count]."""
        first = self.seed * 1_000_003 + self.tables.index(table) * 10_007
        return np.array([int_seed(first + i) for i in range(count)], np.uint64)

    def chance(self, *salt: object) -> np.random.Generator:
        """A generator for the kit's own choices; the same for the same words."""
        digest = hashlib.blake2b(repr((self.seed, *salt)).encode(), digest_size=8).digest()
        return np.random.default_rng(int.from_bytes(digest))

    @functools.cached_property
    def agents(self) -> list[Agent]:
        """Evenly random play, then the game's own players."""
        evenly = Agent("evenly random", UNIFORM, sees_truth=True)
        return [evenly, *(agent(self.game, name) for name in self.game.players)]

    def results(self, table: Table, lineups: np.ndarray, agents: Sequence[Agent], **options: Any) -> Any:
        """Play games of a table with recorded, verified moves. A game that cannot be played is LawError."""
        seeds = self.seeds(table, len(lineups))
        try:
            options = {"threads": 1, "record": True, "checked": True, **options}
            return play(self.game, agents, lineups, seeds, variant=table.variant, **options)
        except CardaiError as error:
            place = "" if "ply" in str(error) else f"seed {seeds[0]} to {seeds[-1]}, ply unknown, "
            raise LawError(f"{table}, {place}{error}") from error

    @functools.cached_property
    def traces(self) -> list[Trace]:
        """The games of all tables, a third of them evenly random, the rest by mixed line-ups."""
        return [trace for table in self.tables for trace in self._played(table)]

    def _played(self, table: Table) -> list[Trace]:
        count = max(3, -(-self.effort.games // len(self.tables)))
        lineups = self.chance("line-ups", table).integers(0, len(self.agents), (count, table.seats))
        lineups[::3] = 0
        try:
            results = self.results(table, lineups, self.agents)
        except LawError:  # a player's fault has a law of its own
            results = self.results(table, 0 * lineups, self.agents)
        seeds = self.seeds(table, count)
        if not results.finished.any():
            where = f"{table}, seed {seeds[0]} to {seeds[-1]}, ply {self.game.max_plies}"
            raise LawError(f"{where}: no game has ended, so that there is nothing to look at")
        traces = []
        for i in np.flatnonzero(results.finished):
            dealt, moves = self.game.new(table.seats, int(seeds[i]), table.variant), results.moves[i]
            traces.append(Trace(table, int(seeds[i]), self.compiled.trace(dealt, moves), moves, results.scores[i]))
        return traces

    def positions(self, count: int) -> Iterator[tuple[Trace, int, GameState]]:
        """Positions in which somebody is to move, `count` a game: (trace, ply, state)."""
        for trace in self.traces:
            for ply in trace.sampled(count):
                yield trace, ply, trace.states[ply]

    def views(self, count: int) -> Iterator[tuple[Trace, int, GameState, int]]:
        """The same for every seat: (trace, ply, state, seat)."""
        for trace, ply, state in self.positions(count):
            for seat in range(trace.table.seats):
                yield trace, ply, state, seat

    def chosen(self, count: int, salt: str) -> list[tuple[Trace, int, GameState, int]]:
        """`count` positions from all games, each with a seat: late ones are as likely as early ones."""
        chance, found = self.chance(salt), []
        for picked in (self.traces[i] for i in chance.integers(len(self.traces), size=count)):
            if len(picked.moves):
                ply = int(chance.integers(len(picked.moves)))
                found.append((picked, ply, picked.states[ply], int(chance.integers(picked.table.seats))))
        return found


# Compiled loops over blocks. In each, `step` is 1 to go through a block and 0 to stay at its first record.


@rule
def play_through(rules, states, moves, count):
    """states[i + 1] is states[i] after moves[i]."""
    for i in range(count):
        copy(at(states, i + 1), at(states, i), rules.state_size)
        play_move(rules, at(states, i + 1), at(moves, i))


@rule
def draw_worlds(rules, states, seat, streams, worlds, count):
    """Worlds of states[0] for a seat."""
    for i in range(count):
        make_world(rules, at(worlds, i), at(states, 0), seat, at(streams, 0))


@rule
def draw_again(rules, states, seat, streams, count):
    """Replace each state by one of its own worlds."""
    for i in range(count):
        seed_state(at(states, i), next_of(at(streams, 0)))
        call_resample(get(rules.calls, RESAMPLE), at(states, i), seat, at(streams, 0))


@rule
def move_each(rules, states, state_step, moves, move_step, count, settle, results):
    """results[i] is a state after a move, or its after-state when not `settle`."""
    for i in range(count):
        result = at(results, i)
        copy(result, at(states, i * state_step), rules.state_size)
        begin_ply(result)
        call_act(get(rules.calls, ACT), result, at(moves, i * move_step))
        if settle:
            call_settle(get(rules.calls, SETTLE), result)


@rule
def encode_each(encode, states, count, seat, rows):
    """A row for each state."""
    for i in range(count):
        call_encode(encode, at(states, i), seat, rows, i)


@rule
def value_each(value, states, count, seat, values):
    """A heuristic's value, or the score, of each state."""
    for i in range(count):
        set_float(values, i, call_score(value, at(states, i), seat))


@rule
def legal_each(rules, states, count, moves, counts):
    """The legal moves of each state, `max_moves` apart, and how many (negative if truncated)."""
    for i in range(count):
        set(counts, i, legal_moves(rules, at(states, i), moves, i))


@rule
def allow_each(rules, states, state_step, moves, move_step, count, space, answers):
    """Whether a move is legal in a state; `space`: MOVE[max_moves]."""
    for i in range(count):
        set(answers, i, is_among(rules, at(states, i * state_step), at(moves, i * move_step), space, 0))


@rule
def choose_each(rules, choose, states, count, params, width, streams, bits, moves):
    """What a native player would do in each state, each time with the same stream."""
    for i in range(count):
        seed_stream(at(streams, 0), bits)
        clear(at(moves, i), rules.move_size)
        call_choose(choose, at(states, i), at(moves, i), params, 0, width, at(streams, 0))


@rule
def finish_each(rules, states, count, space, streams, most, moved):
    """Play states to their end in place, evenly at random; moves made, -1 where a seat to move had none."""
    for i in range(count):
        state, n = at(states, i), 0
        while turn_of(state) >= 0 and n < most:
            choices = abs(legal_moves(rules, state, space, 0))
            if choices == 0:
                n = -1
                break
            play_move(rules, state, at(space, below_of(at(streams, 0), choices)))
            n += 1
        set(moved, i, n)


GUARDS = 4  # records after a block that rules have no business with


def block(count: int, dtype: np.dtype) -> np.ndarray:
    """A block of blank records with guards behind it, so that a rule that writes too far hits nobody else."""
    return np.zeros(count + GUARDS, dtype)[:count]


class Compiled:
    """A game's rules on blocks of records. Nothing here changes what it is given."""

    def __init__(self, game: Game) -> None:
        self.game = game

    @functools.cached_property
    def rules(self) -> Any:
        return lend(self.game.rules)

    def block_of(self, states: Any) -> np.ndarray:
        """A copy as a block: STATE[N], N = 1 for a single state."""
        given = states if states.shape else np.array([states], states.dtype)
        copied = block(len(given), given.dtype)
        copied[:] = given
        return copied

    def trace(self, state: GameState, moves: np.ndarray) -> np.ndarray:
        """All states of a game: STATE[plies + 1]."""
        states, played = block(len(moves) + 1, self.game.state), self.moves_block(moves)
        states[0] = state
        play_through(self.rules, raw(states), raw(played), len(moves))
        return states

    def moves_block(self, moves: np.ndarray) -> np.ndarray:
        """A copy of moves as a block: MOVE[N], N = 1 for a single move."""
        given = moves if moves.shape else np.array([moves], self.game.move)
        copied = block(len(given), self.game.move)
        copied[:] = given
        return copied

    def worlds(self, state: GameState, seat: int, count: int, seed: int) -> np.ndarray:
        """Worlds of a state for a seat: STATE[count]."""
        states, worlds, streams = self.block_of(state), block(count, self.game.state), np.zeros(1, STREAM)
        streams["rng"] = mixed(int_seed(seed))
        draw_worlds(self.rules, raw(states), seat, raw(streams), raw(worlds), count)
        return worlds

    def worlds_of_each(self, states: np.ndarray, seat: int, seed: int) -> np.ndarray:
        """One world of each state, for a seat: STATE[N]."""
        worlds, streams = self.block_of(states), np.zeros(1, STREAM)
        streams["rng"] = mixed(int_seed(seed))
        draw_again(self.rules, raw(worlds), seat, raw(streams), len(worlds))
        return worlds

    def moved(self, states: np.ndarray, moves: np.ndarray, settle: bool = True) -> np.ndarray:
        """States after moves (after-states when not `settle`): one of either goes with all of the other."""
        given, played = self.block_of(states), self.moves_block(moves)
        count = max(len(given), len(played)) if len(given) and len(played) else 0
        results = block(count, self.game.state)
        steps = int(len(given) > 1), int(len(played) > 1)
        move_each(self.rules, raw(given), steps[0], raw(played), steps[1], count, settle, raw(results))
        return results

    def rows(self, states: np.ndarray, seat: int) -> np.ndarray:
        """All encoders' rows side by side: u8[N, width]."""
        given, parts = self.block_of(states), [np.zeros((len(states), 0), np.uint8)]
        for encoder in self.game.encoders.values() if len(given) else ():
            rows = np.zeros((len(given) + 1, max(1, encoder.width(int(given[0]["seats"])))), np.uint8)
            encode_each(self.game.entry("encode", encoder.encode), raw(given), len(given), seat, raw(rows))
            parts.append(rows[:-1])
        return np.concatenate(parts, axis=1)

    def values(self, states: np.ndarray, seat: int, heuristic: Callable[..., float] | None = None) -> np.ndarray:
        """A heuristic's values, the scores when None: f8[N]."""
        given, values = self.block_of(states), np.zeros(len(states))
        function = self.game.entry("value", heuristic) if heuristic else get(self.rules.calls, SCORE)
        value_each(function, raw(given), len(given), seat, raw(values))
        return values

    def legal(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Legal moves MOVE[N, max_moves] and their counts i64[N] (negative: truncated)."""
        given, most = self.block_of(states), self.game.max_moves
        moves, counts = block(len(given) * most, self.game.move), np.zeros(len(given), np.int64)
        legal_each(self.rules, raw(given), len(given), raw(moves), raw(counts))
        return moves.reshape(len(given), most), counts

    def moves(self, state: GameState) -> np.ndarray:
        """The legal moves of one state: MOVE[n]."""
        moves, counts = self.legal(self.block_of(state))
        return moves[0, : min(abs(int(counts[0])), self.game.max_moves)]

    def allowed(self, states: np.ndarray, moves: np.ndarray) -> np.ndarray:
        """Whether moves are legal: bool[N]; one state or move goes with all of the other."""
        given, played = self.block_of(states), self.moves_block(moves)
        count = max(len(given), len(played)) if len(given) and len(played) else 0
        space, answers = block(self.game.max_moves, self.game.move), np.zeros(count, np.int64)
        steps = int(len(given) > 1), int(len(played) > 1)
        allow_each(self.rules, raw(given), steps[0], raw(played), steps[1], count, raw(space), raw(answers))
        return answers != 0

    def choices(self, states: np.ndarray, player: str, bits: int) -> tuple[np.ndarray, np.ndarray]:
        """What a native player does in each state with the same stream, and the states as it left them."""
        given, moves = self.block_of(states), block(len(states), self.game.move)
        defaults = self.game.players[player].defaults
        params, streams = np.array([list(defaults.values()) or [0.0]]), np.zeros(1, STREAM)
        call = self.game.entry("choose", self.game.players[player].choose)
        width, bits = max(1, len(defaults)), int_seed(bits)
        choose_each(self.rules, call, raw(given), len(given), raw(params), width, raw(streams), bits, raw(moves))
        return moves, given

    def finished(self, states: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """States played to their end at random, and the moves it took (-1: a seat to move had none)."""
        given, moved = self.block_of(states), np.zeros(len(states), np.int64)
        space, streams = block(self.game.max_moves, self.game.move), np.zeros(1, STREAM)
        streams["rng"] = mixed(int_seed(seed))
        most = self.game.max_plies
        finish_each(self.rules, raw(given), len(given), raw(space), raw(streams), most, raw(moved))
        return given, moved


def facts(states: np.ndarray) -> np.ndarray:
    """What states say apart from their random stream: u8[N, bytes]."""
    given = np.array(states)
    given["rng"] = 0
    return given.view(np.uint8).reshape(len(given), -1)


def bits(states: np.ndarray) -> np.ndarray:
    """The same bit by bit: u8[N, 8 * bytes], the lowest bit of a byte first."""
    return np.unpackbits(facts(states), axis=1, bitorder="little")


def place_of_bit(dtype: np.dtype, bit: int) -> str:
    """What a bit of `bits` belongs to: "hands[2] bit 17"."""
    word, place = divmod(bit, 64)
    fields = dtype.fields
    assert fields is not None
    for name, (kind, offset, *_) in fields.items():
        if offset <= 8 * word < offset + kind.itemsize:
            item = np.unravel_index((8 * word - offset) // 8, kind.shape) if kind.shape else ()
            return name + "".join(f"[{i}]" for i in item) + f" bit {place}"
    return f"bit {bit}"


def written(game: Game, moves: np.ndarray) -> np.ndarray:
    """Moves as whole numbers, one column a field: i64[N, fields]."""
    return np.ascontiguousarray(moves).view(np.int64).reshape(len(moves), len(game.move.names or ()))


def text(trace: Trace, ply: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call one of a game's text functions; an exception breaks the law being checked."""
    try:
        return function(*arguments)
    except Exception as error:  # whatever a game's Python raises is the finding
        raise broken(trace, ply, f"{getattr(function, '__name__', function)} raised {error!r}") from error


def move_text(game: Game, state: GameState, move: Any) -> str:
    """A move for a problem's text: spelled if the game can, its fields in any case."""
    fields = ", ".join(f"{name}={int(move[name])}" for name in game.move.names or ())
    try:
        return f"{game.spell(state, move)!r} ({fields})"
    except Exception:  # the fields say all there is; whether it can be spelled has a law of its own
        return f"({fields})"


# Laws on deals, plies and scores.


@_law
def deals_repeat_for_a_seed(ground: Ground) -> None:
    """The same seed, variant and seats give the same deal, byte for byte."""
    for trace in ground.traces:
        again = ground.game.new(trace.table.seats, trace.seed, trace.table.variant)
        if again.tobytes() != trace.states[0].tobytes():
            raise broken(trace, 0, "a second deal from the same seed differs from the first")


@_law
def seeds_deal_differently(ground: Ground) -> None:
    """If dealing draws chance, 64 seeds do not all give the same deal."""
    for table in ground.tables:
        seeds = ground.seeds(table, 64)
        deals = [ground.game.new(table.seats, int(seed), table.variant) for seed in seeds]
        drew = any(int(deal["rng"]) != int(mixed(int_seed(int(seed)))) for deal, seed in zip(deals, seeds, strict=True))
        if drew and len({facts(np.array([deal])).tobytes() for deal in deals}) == 1:
            raise LawError(
                f"{table}, seed {seeds[0]} to {seeds[-1]}, ply 0: deal draws chance, yet all deals are alike"
            )


@_law
def play_repeats_for_a_seed(ground: Ground) -> None:
    """A game depends on its seed and line-up only: not on threads, nor on how many games are live."""
    for table in ground.tables:
        lineups = ground.chance("repeat", table).integers(0, len(ground.agents), (6, table.seats))
        first = ground.results(table, lineups, ground.agents, live=6)
        for options in ({"live": 1}, {"live": 4, "threads": 2}):
            second = ground.results(table, lineups, ground.agents, **options)
            for i, seed in enumerate(ground.seeds(table, 6)):
                where = f"{table}, seed {seed}"
                if first.endless[i] != second.endless[i]:
                    raise LawError(f"{where}, ply {ground.game.max_plies}: endless once and not again, with {options}")
                if first.endless[i]:
                    continue
                if first.moves[i].tobytes() != second.moves[i].tobytes():
                    common = min(len(first.moves[i]), len(second.moves[i]))
                    same = first.moves[i][:common] == second.moves[i][:common]
                    ply = common if same.all() else int(np.argmin(same))
                    raise LawError(f"{where}, ply {ply}: another move than before, with {options}")
                if (first.scores[i] != second.scores[i]).any():
                    raise LawError(
                        f"{where}, ply {len(first.moves[i])}: scores {second.scores[i]} after {first.scores[i]}"
                    )


@_law
def records_replay(ground: Ground) -> None:
    """The recorded moves lead from the deal to the same end and the same scores."""
    for trace in ground.traces:
        last = len(trace.moves)
        if trace.states[last]["turn"] >= 0:
            raise broken(trace, last, "the recorded game was over here; replayed, it goes on")
        scores = [float(ground.compiled.values(trace.states[last:], s)[0]) for s in range(trace.table.seats)]
        if scores != list(trace.scores):
            raise broken(trace, last, f"replayed, the scores are {scores}; they were {list(trace.scores)}")


@_law
def every_game_ends(ground: Ground) -> None:
    """Evenly random games of every variant and seat count end within max_plies, and nobody to move is without a move.

    Line-ups of simple players may go round in circles; the table gives such games up and counts them.
    """
    for table in ground.tables:
        lineups = np.zeros((max(20, ground.effort.games), table.seats), np.int64)
        results = ground.results(table, lineups, ground.agents)
        if results.endless.any():
            seed = ground.seeds(table, len(lineups))[np.argmax(results.endless)]
            raise LawError(f"{table}, seed {seed}, ply {ground.game.max_plies}: the game has not ended")


@_law
def scores_are_shares(ground: Ground) -> None:
    """Final scores lie in [0, 1] and add up to what score_sum declares."""
    for trace in ground.traces:
        last, scores = len(trace.moves), trace.scores
        if not (np.isfinite(scores).all() and scores.min() >= 0.0 and scores.max() <= 1.0):
            raise broken(trace, last, f"scores {list(scores)} are not all in [0, 1]")
        declared = ground.game.score_sum(trace.table.seats)
        if declared is not None and not math.isclose(scores.sum(), declared, abs_tol=1e-9):
            raise broken(trace, last, f"scores {list(scores)} add up to {scores.sum()}, declared is {declared}")


@_law
def header_stays_in_range(ground: Ground) -> None:
    """turn, ply, seats, revealed, midway and the variant's options always hold what they may."""
    for trace in ground.traces:
        states, seats = trace.states, trace.table.seats
        fixed = {"seats": seats, **ground.game.variants[trace.table.variant]}
        wrong = {name: np.flatnonzero(states[name] != value) for name, value in fixed.items()}
        wrong["ply"] = np.flatnonzero(states["ply"] != np.arange(len(states)))
        wrong["turn"] = np.flatnonzero((states["turn"][:-1] < 0) | (states["turn"][:-1] >= seats))
        wrong["revealed"] = np.flatnonzero((states["revealed"] < 0) | (states["revealed"] >> seats != 0))
        wrong["midway"] = np.flatnonzero((states["midway"] != 0) & (states["midway"] != 1))
        for name, plies in wrong.items():
            if len(plies):
                raise broken(trace, int(plies[0]), f"{name} is {states[plies[0]][name]}")


@_law
def act_draws_no_chance(ground: Ground) -> None:
    """act leaves the random stream alone: all chance is settle's, after the after-state."""
    for trace, ply, state in ground.positions(ground.effort.positions):
        moves = ground.compiled.moves(state)[:MOVES_TRIED]
        after = ground.compiled.moved(np.array([state]), moves, settle=False)
        drawn = np.flatnonzero(after["rng"] != state["rng"])
        if len(drawn):
            raise broken(trace, ply, f"act({move_text(ground.game, state, moves[drawn[0]])}) drew from state.rng")


# Laws on moves.


@_law
def seat_to_move_has_moves(ground: Ground) -> None:
    """legal gives 1 to max_moves moves while the game goes on, and the same ones when asked again."""
    for trace, ply, state in ground.positions(ground.effort.positions):
        (first, counts), (second, again) = (ground.compiled.legal(np.array([state])) for _ in range(2))
        n = int(counts[0])
        if not 1 <= abs(n) <= ground.game.max_moves:
            raise broken(trace, ply, f"legal returned {n}, max_moves is {ground.game.max_moves}")
        if n != again[0] or first.tobytes() != second.tobytes():
            raise broken(trace, ply, "legal gives other moves when asked again")


@_law
def moves_are_distinct(ground: Ground) -> None:
    """No move is listed twice."""
    for trace, ply, state in ground.positions(ground.effort.positions):
        moves = written(ground.game, ground.compiled.moves(state))
        unique, counts = np.unique(moves, axis=0, return_counts=True)
        if (counts > 1).any():
            raise broken(trace, ply, f"the move {unique[np.argmax(counts)].tolist()} is listed {counts.max()} times")


@_law
def moves_are_in_order(ground: Ground) -> None:
    """Moves are listed in canonical order: ascending by their fields, the first field first."""
    for trace, ply, state in ground.positions(ground.effort.positions):
        moves = written(ground.game, ground.compiled.moves(state))
        former, latter = moves[:-1], moves[1:]
        differs = former != latter
        field, line = differs.argmax(axis=1), np.arange(len(former))
        wrong = np.flatnonzero(differs.any(axis=1) & (former[line, field] > latter[line, field]))
        if len(wrong):
            pair = moves[wrong[0] : wrong[0] + 2].tolist()
            raise broken(trace, ply, f"the move {pair[1]} is listed after {pair[0]}")


@_law
def is_legal_agrees_with_legal(ground: Ground) -> None:
    """A move is legal if and only if legal lists it, for listed moves, variations of them and moves of elsewhere."""
    for trace, ply, state in ground.positions(ground.effort.positions):
        moves, counts = ground.compiled.legal(np.array([state]))
        listed = moves[0, : abs(counts[0])]
        refused = np.flatnonzero(~ground.compiled.allowed(np.array([state]), listed))
        if len(refused):
            move = move_text(ground.game, state, listed[refused[0]])
            raise broken(trace, ply, f"legal lists {move}, is_legal refuses it")
        if counts[0] < 0:
            continue  # what a truncated list leaves out may be legal
        others = foreign_moves(ground, trace, ply, listed)
        accepted = np.flatnonzero(ground.compiled.allowed(np.array([state]), others))
        if len(accepted):
            move = move_text(ground.game, state, others[accepted[0]])
            raise broken(trace, ply, f"is_legal accepts {move}, legal does not list it")


def foreign_moves(ground: Ground, trace: Trace, ply: int, listed: np.ndarray) -> np.ndarray:
    """Moves that are not listed here: listed ones with a field changed, and moves played elsewhere in the game."""
    chance, names = ground.chance("foreign", trace.table, trace.seed, ply), ground.game.move.names or ()
    picked = chance.choice(listed, min(PERTURBED, len(listed)), replace=False)
    varied = [picked] * 4 + [trace.moves[chance.integers(len(trace.moves), size=PERTURBED)]]
    moves = np.concatenate(varied).copy()
    for i in range(4 * len(picked)):
        name = names[chance.integers(len(names))]
        largest = int(trace.moves[name].max())
        other = chance.choice(trace.moves)[name]
        if largest >= 64:  # a set of cards: one card more or less
            moves[i][name] ^= 1 << int(chance.integers(largest.bit_length()))
        else:
            moves[i][name] = (int(moves[i][name]) + 1, int(moves[i][name]) - 1, other)[chance.integers(3)]
    known = {move.tobytes() for move in listed}
    return np.array([move for move in moves if move.tobytes() not in known], ground.game.move)


@_law
def illegal_moves_raise(ground: Ground) -> None:
    """play and after raise IllegalMove for a move that is legal elsewhere but not here, and after the end."""
    game = ground.game
    for trace, ply, state in ground.positions(ground.effort.texts):
        moves, truncated = game.enumerate(state)
        if not truncated:
            _refuse_all(game, trace, ply, state, foreign_moves(ground, trace, ply, moves)[-4:])
    for trace in ground.traces:
        _refuse_all(game, trace, len(trace.moves), trace.states[-1], trace.moves[:2])


def _refuse_all(game: Game, trace: Trace, ply: int, state: GameState, moves: np.ndarray) -> None:
    for move in moves:
        for door in (game.play, game.after):
            try:
                door(state, move)
            except IllegalMove:
                continue
            raise broken(trace, ply, f"{door.__name__} accepts {move_text(game, state, move)}, which is not legal here")


# Laws on records.


@_law
def rules_touch_only_their_record(ground: Ground) -> None:
    """act, settle and resample change their own state and nothing around it; act leaves its move alone."""
    compiled, game = ground.compiled, ground.game
    guard = np.frombuffer(bytes(range(1, 256)) * (game.state.itemsize // 255 + 1), np.uint8)[: game.state.itemsize]
    for trace, ply, state, seat in ground.views(ground.effort.texts):
        states = np.zeros(1 + 2 * GUARDS, game.state)
        states.view(np.uint8).reshape(len(states), -1)[:] = guard
        moves, given = compiled.moves_block(trace.moves[ply : ply + 1]), compiled.block_of(state)
        here, streams = raw(states[GUARDS : GUARDS + 1]), np.ones(1, STREAM)
        before = moves.tobytes()
        for name in ("resample", "act", "act and settle"):
            if name != "resample" and seat != state["turn"]:
                continue
            states[GUARDS] = state
            if name == "resample":
                draw_again(compiled.rules, here, seat, raw(streams), 1)
            else:
                move_each(compiled.rules, raw(given), 0, raw(moves), 0, 1, name != "act", here)
            around = np.delete(states.view(np.uint8).reshape(len(states), -1), GUARDS, axis=0)
            if (around != guard).any():
                raise broken(trace, ply, f"{name} writes beyond its state")
        if moves.tobytes() != before:
            raise broken(trace, ply, f"act changes the move {move_text(game, state, trace.moves[ply])} it is given")


@_law
def asking_changes_nothing(ground: Ground) -> None:
    """legal, is_legal, score, encoders, heuristics and players leave the state they are asked about as it was."""
    compiled, game = ground.compiled, ground.game
    for trace, ply, state in ground.positions(ground.effort.texts):
        seat = int(state["turn"])
        for name, ask in _questions(compiled, trace.moves[ply : ply + 1], seat):
            asked = compiled.block_of(state)
            ask(asked)
            if asked.tobytes() != state.tobytes():
                field = next(f for f in game.state.names or () if (asked[0][f] != state[f]).any())
                raise broken(trace, ply, f"{name} changes state.{field}")


def _questions(compiled: Compiled, move: np.ndarray, seat: int) -> list[tuple[str, Callable[[np.ndarray], Any]]]:
    game, rules = compiled.game, compiled.rules
    space, counts, values = block(game.max_moves, game.move), np.zeros(1, np.int64), np.zeros(1)
    stream = np.ones(1, STREAM)

    def row(states: np.ndarray, encoder: Any) -> None:
        rows = np.zeros((2, encoder.width(int(states[0]["seats"]))), np.uint8)
        encode_each(game.entry("encode", encoder.encode), raw(states), 1, seat, raw(rows))

    def choice(states: np.ndarray, name: str) -> None:
        defaults = game.players[name].defaults
        call, params = game.entry("choose", game.players[name].choose), np.array([list(defaults.values()) or [0.0]])
        bits, width = int_seed(1), max(1, len(defaults))
        choose_each(rules, call, raw(states), 1, raw(params), width, raw(stream), bits, raw(space))

    def worth(states: np.ndarray, function: Any) -> None:
        value_each(function, raw(states), 1, seat, raw(values))

    return [
        ("legal", lambda s: legal_each(rules, raw(s), 1, raw(space), raw(counts))),
        ("is_legal", lambda s: allow_each(rules, raw(s), 0, raw(move), 0, 1, raw(space), raw(counts))),
        ("score", lambda s: worth(s, get(rules.calls, SCORE))),
        *((f"encoder {n}", functools.partial(row, encoder=e)) for n, e in game.encoders.items()),
        *(
            (f"heuristic {n}", functools.partial(worth, function=game.entry("value", h)))
            for n, h in game.heuristics.items()
        ),
        *((f"player {n}", functools.partial(choice, name=n)) for n in game.players),
    ]


@_law
def cards_are_conserved(ground: Ground) -> None:
    """No card is in two places, none appears or vanishes, and worlds have as many cards in each place as the truth.

    A game says where its cards are with `Game.holdings`; for one that does not, there is nothing to check here.
    """
    game = ground.game
    if game.holdings is None:
        return
    for trace in ground.traces:
        deck = functools.reduce(int.__or__, _holdings(game, trace, 0, trace.states[0]))
        for ply, state in enumerate(trace.states):
            _conserved(game, trace, ply, state, deck, "the state")
        for ply in trace.sampled(ground.effort.texts):
            state = trace.states[ply]
            after = ground.compiled.moved(np.array([state]), trace.moves[ply : ply + 1], settle=False)
            _conserved(game, trace, ply, after[0], deck, "the after-state")
            sizes = [held.bit_count() for held in _holdings(game, trace, ply, state)]
            for seat in range(trace.table.seats):
                for world in ground.compiled.worlds(state, seat, 4, ply):
                    held = _conserved(game, trace, ply, world, deck, f"a world of seat {seat}")
                    if [one.bit_count() for one in held] != sizes:
                        found = [one.bit_count() for one in held]
                        raise broken(trace, ply, f"a world of seat {seat} has {found} cards a place, the truth {sizes}")


def _holdings(game: Game, trace: Trace, ply: int, state: Any) -> list[int]:
    assert game.holdings is not None
    return [int(held) for held in text(trace, ply, game.holdings, state)]


def _conserved(game: Game, trace: Trace, ply: int, state: GameState, deck: int, what: str) -> list[int]:
    held, seen = _holdings(game, trace, ply, state), 0
    for cards in held:
        if seen & cards:
            raise broken(trace, ply, f"{what} has {_listed(seen & cards)} in two places")
        seen |= cards
    if seen != deck:
        lost, new = _listed(deck & ~seen), _listed(seen & ~deck)
        raise broken(trace, ply, f"{what} does not hold the cards dealt: missing {lost}, new {new}")
    return held


def _listed(cards: int) -> str:
    found = [str(card) for card in range(cards.bit_length()) if cards >> card & 1]
    return f"card {' '.join(found)}" if found else "none"


# Laws on what is the same in every world of a seat.


@_law
def own_moves_are_the_same_in_every_world(ground: Ground) -> None:
    """The seat to move has the same legal moves in every world, so that they tell nothing it may not know."""
    for trace, ply, state in ground.positions(ground.effort.positions):
        seat = int(state["turn"])
        worlds = ground.compiled.worlds(state, seat, ground.effort.worlds, ply)
        moves, counts = ground.compiled.legal(np.concatenate([np.array([state]), worlds]))
        if counts[0] < 0:
            continue  # a truncated list is a random choice, drawn from the world's own stream
        moves = moves[:, : counts[0]]
        other = np.flatnonzero((moves[1:] != moves[0]).any(axis=1) | (counts[1:] != counts[0]))
        if len(other):
            place = int(np.argmax(np.append(moves[1 + other[0]] != moves[0], True)[:-1]))
            move = move_text(ground.game, state, moves[0, place])
            raise broken(
                trace, ply, f"seat {seat} has other legal moves in a world of its own, from move {place} on: {move}"
            )


def _segment_at(game: Game, seats: int, column: int) -> str:
    for name, encoder in game.encoders.items():
        for segment in encoder.layout(seats):
            if column < segment.size:
                return f"encoder {name}, segment {segment.name!r}, value {column}"
            column -= segment.size
    return f"value {column}"


def _same_rows(ground: Ground, trace: Trace, ply: int, rows: np.ndarray, truth: np.ndarray, what: str) -> None:
    differing = (rows != truth).any(axis=0)
    if differing.any():
        where = _segment_at(ground.game, trace.table.seats, int(np.argmax(differing)))
        raise broken(trace, ply, f"{what}: {where} depends on hidden cards")


@_law
def encodings_are_the_same_in_every_world(ground: Ground) -> None:
    """Every encoder gives a seat the same row in all worlds of that seat."""
    for trace, ply, state, seat in ground.views(ground.effort.positions):
        worlds = ground.compiled.worlds(state, seat, ground.effort.worlds, ply)
        rows = ground.compiled.rows(np.concatenate([np.array([state]), worlds]), seat)
        _same_rows(ground, trace, ply, rows[1:], rows[0], f"the view of seat {seat}")


@_law
def after_states_are_the_same_in_every_world(ground: Ground) -> None:
    """After act and before settle, the seat that moved gets the same encodings in every world."""
    for trace, ply, state in ground.positions(ground.effort.positions):
        seat, moves = int(state["turn"]), _some_moves(ground, trace, ply, state)
        truth = ground.compiled.rows(ground.compiled.moved(np.array([state]), moves, settle=False), seat)
        for world in ground.compiled.worlds(state, seat, max(2, ground.effort.worlds // 2), ply):
            rows = ground.compiled.rows(ground.compiled.moved(np.array([world]), moves, settle=False), seat)
            wrong = np.flatnonzero((rows != truth).any(axis=1))
            if len(wrong):
                move = move_text(ground.game, state, moves[wrong[0]])
                _same_rows(ground, trace, ply, rows, truth, f"seat {seat} after its own {move}")


def _some_moves(ground: Ground, trace: Trace, ply: int, state: GameState) -> np.ndarray:
    """The move that was played and others that could have been."""
    moves = ground.compiled.moves(state)
    picked = ground.chance("moves", trace.table, trace.seed, ply).permutation(len(moves))[: MOVES_TRIED - 1]
    return np.concatenate([trace.moves[ply : ply + 1], moves[np.sort(picked)]])


@_law
def heuristics_are_the_same_in_every_world(ground: Ground) -> None:
    """A heuristic values a state and the after-states of a seat's own moves the same in every world of that seat."""
    for trace, ply, state in ground.positions(ground.effort.positions if ground.game.heuristics else 0):
        seat, moves = int(state["turn"]), _some_moves(ground, trace, ply, state)
        worlds = ground.compiled.worlds(state, seat, max(2, ground.effort.worlds // 2), ply)
        for name, heuristic in ground.game.heuristics.items():
            rows = []
            for one in (state, *worlds):
                before = np.array([one])
                both = np.concatenate([before, ground.compiled.moved(before, moves, settle=False)])
                rows.append(ground.compiled.values(both, seat, heuristic))
            for row in rows[1:]:
                wrong = np.flatnonzero(~((row == rows[0]) | (np.isnan(row) & np.isnan(rows[0]))))
                if len(wrong):
                    i = int(wrong[0])
                    what = f"after {move_text(ground.game, state, moves[i - 1])}" if i else "as it stands"
                    found = f"{rows[0][i]} in truth and {row[i]} in a world"
                    raise broken(trace, ply, f"heuristic {name} for seat {seat} {what} is {found}")


@_law
def players_who_see_the_truth_use_no_hidden_card(ground: Ground) -> None:
    """A player declared `sees_truth` chooses the same move in every world of its seat, given the same stream.

    Other players are handed a world, so that what they make of its imagined cards betrays nothing.
    """
    trusted = [name for name, player in ground.game.players.items() if player.sees_truth]
    for trace, ply, state in ground.positions(ground.effort.positions if trusted else 0):
        seat = int(state["turn"])
        if ground.compiled.legal(np.array([state]))[1][0] < 0:
            continue  # a truncated list of moves is drawn from the world's own stream
        worlds = ground.compiled.worlds(state, seat, ground.effort.worlds, ply)
        for name in trusted:
            moves, _ = ground.compiled.choices(np.concatenate([np.array([state]), worlds]), name, ply)
            wrong = np.flatnonzero(moves[1:] != moves[0])
            if len(wrong):
                found = move_text(ground.game, state, moves[1 + wrong[0]])
                truth = move_text(ground.game, state, moves[0])
                raise broken(trace, ply, f"player {name} at seat {seat} plays {truth}, but {found} in a world")


@_law
def text_is_the_same_in_every_world(ground: Ground) -> None:
    """show gives a seat, and spell its own moves, the same words in every world: no text names a hidden card."""
    game = ground.game
    for trace, ply, state, seat in ground.views(ground.effort.texts):
        truth = text(trace, ply, game.show, state, seat)
        if not isinstance(truth, str) or not truth:
            raise broken(trace, ply, f"show gives {truth!r}, not a text")
        moves = ground.compiled.moves(state)[:4] if seat == state["turn"] else ()
        spelled = [text(trace, ply, game.spell, state, move) for move in moves]
        for world in ground.compiled.worlds(state, seat, 3, ply):
            found = text(trace, ply, game.show, world, seat)
            if found != truth:
                pairs = zip(truth.splitlines(), found.splitlines(), strict=False)
                line = next((pair for pair in pairs if pair[0] != pair[1]), (truth, found))
                raise broken(
                    trace, ply, f"show for seat {seat} says {line[0]!r}, but {line[1]!r} in a world of its own"
                )
            if [text(trace, ply, game.spell, world, move) for move in moves] != spelled:
                raise broken(trace, ply, f"spell words the moves of seat {seat} otherwise in a world of its own")


# Laws on the worlds themselves.


@_law
def worlds_keep_what_is_public(ground: Ground) -> None:
    """A world has the truth's turn, ply, seats, revealed, midway and options."""
    for trace, ply, state, seat in ground.views(ground.effort.positions):
        worlds = ground.compiled.worlds(state, seat, 2, ply)
        for name in (*native.HEADER[:-1], *ground.game.variants[trace.table.variant]):
            if (worlds[name] != state[name]).any():
                raise broken(
                    trace, ply, f"a world of seat {seat} has {name} {worlds[name].tolist()}, not {state[name]}"
                )


@_law
def worlds_have_their_own_chance(ground: Ground) -> None:
    """A world's future is not the truth's: its stream is neither the truth's nor another world's, and it repeats."""
    for trace, ply, state, seat in ground.views(ground.effort.positions):
        worlds = ground.compiled.worlds(state, seat, 4, ply)
        if (worlds["rng"] == state["rng"]).any():
            raise broken(trace, ply, f"a world of seat {seat} has the truth's random stream")
        if len(np.unique(worlds["rng"])) < len(worlds):
            raise broken(trace, ply, f"two worlds of seat {seat} have the same random stream")
        if ground.compiled.worlds(state, seat, 4, ply).tobytes() != worlds.tobytes():
            raise broken(trace, ply, f"the same stream gives seat {seat} other worlds when asked again")


@_law
def worlds_play_on(ground: Ground) -> None:
    """Worlds can be played to their end like any state, with scores as declared."""
    for trace, ply, state in ground.positions(max(4, ground.effort.texts)):
        seat = ply % trace.table.seats
        worlds = ground.compiled.worlds(state, seat, 2, ply)
        ends, moved = ground.compiled.finished(worlds, ply)
        if (moved < 0).any():
            raise broken(trace, ply, f"a world of seat {seat}, played on, leaves a seat to move without a move")
        if (ends["turn"] >= 0).any():
            raise broken(trace, ply, f"a world of seat {seat}, played on, does not end within max_plies")
        scores = np.array([ground.compiled.values(ends, s) for s in range(trace.table.seats)]).T
        declared = ground.game.score_sum(trace.table.seats)
        fair = declared is None or np.allclose(scores.sum(axis=1), declared, atol=1e-9)
        if not (fair and np.isfinite(scores).all() and scores.min() >= 0 and scores.max() <= 1):
            raise broken(trace, ply, f"a world of seat {seat}, played on, ends with scores {scores.tolist()}")


@_law
def worlds_deal_anew_what_is_hidden(ground: Ground) -> None:
    """What differs from deal to deal and shows in no view of a seat is dealt anew in the worlds of that seat.

    A value shows when exchanging it for another deal's changes the seat's encodings or text, or when it follows from
    one that does. Values that are mostly the same are left alone: they may be public and not worth showing. This also
    finds the truth's cards left lying in places that the rules do not look at.
    """
    for table in ground.tables:
        deals = _deals(ground, table, 0, 200)
        for seat in range(table.seats):
            worlds = ground.compiled.worlds_of_each(deals, seat, 1)
            for item in _items(ground.game):
                values = item.of(deals)
                changing = (values[1:] != values[:-1]).reshape(len(deals) - 1, -1).any(axis=1).mean()
                if changing < OFTEN or (item.of(worlds) != values).any() or _shows(ground, deals[:12], seat, item):
                    continue
                others = (other for other in _items(ground.game) if other != item and _follows(values, other.of(deals)))
                if not any(_shows(ground, deals[:12], seat, other) for other in others):
                    seeds = ground.seeds(table, len(deals))
                    raise LawError(
                        f"{table}, seed {seeds[0]} to {seeds[-1]}, ply 0: state.{item} differs from deal to deal and "
                        f"seat {seat} sees nothing of it, yet all its worlds have the truth's"
                    )


@dataclass(frozen=True)
class Item:
    """One value of a state: a field, or one of its first axis."""

    name: str
    place: tuple[int, ...]

    def __str__(self) -> str:
        return self.name + "".join(f"[{i}]" for i in self.place)

    def of(self, states: np.ndarray) -> np.ndarray:
        """The value in each state: i64[N, ...]."""
        return states[self.name][(slice(None), *self.place)]


def _items(game: Game) -> list[Item]:
    names = (game.state.names or ())[len(native.HEADER) :]
    return [Item(name, place) for name in names for place in np.ndindex(game.state[name].shape[:1])]


def _deals(ground: Ground, table: Table, first: int, count: int) -> np.ndarray:
    seeds = ground.seeds(table, first + count)[first:]
    return np.array([ground.game.new(table.seats, int(seed), table.variant) for seed in seeds], ground.game.state)


def _shows(ground: Ground, deals: np.ndarray, seat: int, item: Item) -> bool:
    """Whether a seat's view of a deal changes when a value is exchanged for the next deal's."""
    mixtures = deals.copy()
    item.of(mixtures)[:-1] = item.of(deals)[1:]
    if (ground.compiled.rows(mixtures, seat) != ground.compiled.rows(deals, seat)).any():
        return True
    try:
        return any(
            ground.game.show(deal, seat) != ground.game.show(mixture, seat)
            for deal, mixture in zip(deals, mixtures, strict=True)
        )
    except Exception:  # a mixture of two deals need not make sense; that it was noticed is the answer
        return True


def _follows(values: np.ndarray, others: np.ndarray) -> bool:
    """Whether a value is a function of another one, as far as repetitions of the other one show (at least ten)."""
    known: dict[bytes, bytes] = {}
    repeated = 0
    for value, other in zip(values, others, strict=True):
        key = other.tobytes()
        repeated += key in known
        if known.setdefault(key, value.tobytes()) != value.tobytes():
            return False
    return repeated >= 10


@_law
def worlds_do_not_favour_what_they_come_from(ground: Ground) -> None:
    """A world equals the state it is drawn from no more often than two worlds equal each other."""
    compiled, hits, pairs, worst = ground.compiled, 0, 0, (0, None)
    for i, (trace, ply, state, seat) in enumerate(ground.chosen(60, "favour")):
        worlds = compiled.worlds(state, seat, 64, i)
        seen = facts(worlds)
        if (seen == seen[0]).all():
            continue
        came_from = facts(compiled.worlds_of_each(worlds[:32], seat, i + 1))
        same = int((came_from == seen[:32]).all(axis=1).sum())
        hits, pairs = hits + same, pairs + int((seen[:32] == seen[32:]).all(axis=1).sum())
        if same > worst[0]:
            worst = (same, (trace, ply, seat))
    # Both counts have the same mean if worlds are drawn independently of where they come from.
    if worst[1] and _tail(hits, hits + pairs, 0.5) < math.erfc(SIGMA / math.sqrt(2)) / 2:
        trace, ply, seat = worst[1]
        what = f"worlds equal the state they come from {hits} times, each other {pairs} times"
        raise broken(trace, ply, f"{what} (most often for seat {seat} here, {worst[0]} of 32)")


def _tail(hits: int, trials: int, p: float) -> float:
    """P(at least `hits` of `trials`), each with probability p."""
    logs = [
        math.lgamma(trials + 1)
        - math.lgamma(k + 1)
        - math.lgamma(trials - k + 1)
        + k * math.log(p)
        + (trials - k) * math.log1p(-p)
        for k in range(hits, trials + 1)
    ]
    return sum(math.exp(one) for one in logs)


@_law
def the_dealt_truth_is_a_world_like_any_other(ground: Ground) -> None:
    """Over many deals, worlds put each card where the truth does equally often (5 sigma).

    At the deal the truth is itself drawn from the worlds a seat thinks possible. So for every bit of the state, truth 1
    and world 0 happens as often as truth 0 and world 1.
    """
    game, count = ground.game, ground.effort.deals
    for table, seat in [(one, seat) for one in ground.tables for seat in range(one.seats)]:
        z = _lean(ground, table, seat, 0, count)
        suspects = np.flatnonzero(np.abs(z) > HINT)
        if not len(suspects):
            continue
        again = _lean(ground, table, seat, count, 4 * count)[suspects]
        certain = suspects[(np.abs(again) > SIGMA) & (np.sign(again) == np.sign(z[suspects]))]
        if len(certain):
            seeds = ground.seeds(table, 5 * count)
            sign = "more" if z[certain[0]] > 0 else "less"
            what = f"state.{place_of_bit(game.state, int(certain[0]))} is set {sign} often in deals than in worlds"
            raise LawError(f"{table}, seed {seeds[0]} to {seeds[-1]}, ply 0: {what} of seat {seat} (more than 5 sigma)")


def _lean(ground: Ground, table: Table, seat: int, first: int, count: int) -> np.ndarray:
    """For each bit, how many sigma truths have it set more often than worlds: f8[bits]."""
    deals = _deals(ground, table, first, count)
    truth, world = bits(deals), bits(ground.compiled.worlds_of_each(deals, seat, first + 1))
    more = (truth > world).sum(axis=0, dtype=np.int64)
    less = (truth < world).sum(axis=0, dtype=np.int64)
    return (more - less) / np.sqrt(np.maximum(more + less, 1))


@_law
def worlds_are_even(ground: Ground) -> None:
    """Where few worlds are possible, all are drawn equally often (5 sigma, counted one by one).

    Worlds are told apart by where the cards are (`Game.holdings`); for a game that does not say, nothing is counted.
    """
    game, counted = ground.game, 0
    if game.holdings is None:
        return
    for i, (trace, ply, state, seat) in enumerate(ground.chosen(12 * ground.effort.even, "even")):
        if counted >= ground.effort.even:
            break
        kinds = len(_count_worlds(ground, trace, ply, state, seat, 60, i))
        if not 2 <= kinds <= FEW_WORLDS:
            continue
        counted += 1
        sigma = _unevenness(_count_worlds(ground, trace, ply, state, seat, 80 * kinds, i + 1))
        if sigma > HINT:
            counts = _count_worlds(ground, trace, ply, state, seat, 400 * kinds, i + 2)
            if _unevenness(counts) > SIGMA:
                raise broken(trace, ply, f"the {len(counts)} worlds of seat {seat} are drawn {sorted(counts)} times")


def _count_worlds(
    ground: Ground, trace: Trace, ply: int, state: GameState, seat: int, count: int, seed: int
) -> list[int]:
    """How often each arrangement of the cards is drawn."""
    worlds = ground.compiled.worlds(state, seat, count, seed)
    _, first, counts = np.unique(facts(worlds), axis=0, return_index=True, return_counts=True)
    found: dict[tuple[int, ...], int] = {}
    for place, times in zip(first, counts, strict=True):
        key = tuple(_holdings(ground.game, trace, ply, worlds[place]))
        found[key] = found.get(key, 0) + int(times)
    return list(found.values())


def _unevenness(counts: list[int]) -> float:
    """How many sigma counts are from even: chi-square by Wilson and Hilferty's cube root."""
    if len(counts) < 2:
        return math.inf  # there were several worlds a moment ago
    freedom, mean = len(counts) - 1, sum(counts) / len(counts)
    square = sum((count - mean) ** 2 for count in counts) / mean
    spread = 2 / (9 * freedom)
    return ((square / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)


@_law
def resampling_twice_is_resampling_once(ground: Ground) -> None:
    """Worlds of a world are spread like worlds of the truth: each bit is set equally often (5 sigma)."""
    compiled, game = ground.compiled, ground.game

    def lean(state: GameState, seat: int, count: int, seed: int) -> np.ndarray:
        once = bits(compiled.worlds(state, seat, count, seed)).mean(axis=0)
        worlds = compiled.worlds(state, seat, 4, seed + 1)
        twice = bits(
            np.concatenate([compiled.worlds(w, seat, count // 4, seed + k) for k, w in enumerate(worlds)])
        ).mean(axis=0)
        mean = (once + twice) / 2
        return (twice - once) / np.sqrt(np.maximum(mean * (1 - mean), 1e-9) * 2 / count)

    for i, (trace, ply, state, seat) in enumerate(ground.chosen(2 * len(ground.traces), "twice")):
        z = lean(state, seat, 128, 100 * i)
        suspects = np.flatnonzero(np.abs(z) > HINT)
        if not len(suspects):
            continue
        certain = suspects[np.abs(lean(state, seat, MANY_WORLDS, 100 * i + 50)[suspects]) > SIGMA]
        if len(certain):
            what = place_of_bit(game.state, int(certain[0]))
            raise broken(
                trace, ply, f"for seat {seat}, worlds of worlds have state.{what} set more or less often than worlds"
            )


# Laws on what a seat learns. A step is a recorded move, seen by one seat.


@dataclass(frozen=True)
class Step:
    """A move as a seat saw it. `outcomes`: the move played in worlds of before, where they look to the seat like
    `following`, what really came; all of them are possible then, as far as the seat can tell."""

    trace: Trace
    ply: int
    state: GameState
    seat: int
    following: GameState
    outcomes: np.ndarray


def _steps(ground: Ground, salt: str, worlds: int) -> Iterator[Step]:
    for trace, ply, state, seat in ground.chosen(4 * len(ground.traces), salt):
        if trace.states[ply + 1]["turn"] >= 0:
            yield _step(ground, trace, ply, state, seat, worlds, ply)


def _step(ground: Ground, trace: Trace, ply: int, state: GameState, seat: int, count: int, seed: int) -> Step:
    following, move = trace.states[ply + 1], trace.moves[ply : ply + 1]
    worlds = ground.compiled.worlds(state, seat, count, seed)
    worlds = worlds[ground.compiled.allowed(worlds, move)]
    outcomes = ground.compiled.moved(worlds, move) if len(worlds) else worlds
    return Step(trace, ply, state, seat, following, _looking_like(ground, trace, ply + 1, seat, outcomes))


def _looking_like(ground: Ground, trace: Trace, ply: int, seat: int, states: np.ndarray) -> np.ndarray:
    """Those of some states that `seat` cannot tell from the truth by header, encodings, own moves or text."""
    truth, show = trace.states[ply], ground.game.show
    if not len(states):
        return states
    rows = ground.compiled.rows(np.concatenate([np.array([truth]), states]), seat)
    same = (rows[1:] == rows[0]).all(axis=1) & (states["turn"] == truth["turn"]) & (states["midway"] == truth["midway"])
    states = states[same & ((states["revealed"] ^ truth["revealed"]) >> seat & 1 == 0)]
    if truth["turn"] == seat and len(states):
        moves, counts = ground.compiled.legal(np.concatenate([np.array([truth]), states]))
        if counts[0] > 0:
            moves = moves[:, : counts[0]]
            states = states[(counts[1:] == counts[0]) & (moves[1:] == moves[0]).all(axis=1)]
    shown = text(trace, ply, show, truth, seat)
    return states[np.array([text(trace, ply, show, state, seat) == shown for state in states], bool)]


@_law
def unrevealed_moves_look_the_same(ground: Ground) -> None:
    """If a move turns nothing up for a seat (`revealed`), what the seat sees after it is the same in every world.

    Players who search rely on it: they try such a move in one world only. Whose turn comes next everybody sees; it may
    depend on hidden cards, since a seat without a choice is passed over. So outcomes with another turn are left out.
    """
    compiled = ground.compiled
    for i, (trace, ply, state, seat) in enumerate(ground.chosen(6 * len(ground.traces), "unrevealed")):
        worlds = compiled.worlds(state, seat, ground.effort.worlds, i)
        moves = _some_moves(ground, trace, ply, state) if seat == state["turn"] else trace.moves[ply : ply + 1]
        for move in moves:
            held = worlds[compiled.allowed(worlds, np.array([move]))]
            both = compiled.moved(np.concatenate([np.array([state]), held]), np.array([move]))
            unseen = both[(both["revealed"] >> seat & 1 == 0) & (both["turn"] == both["turn"][0])]
            if len(unseen) < 2 or unseen["turn"][0] < 0:
                continue
            what = f"{move_text(ground.game, state, move)} reveals nothing to seat {seat}"
            rows = compiled.rows(unseen, seat)
            _same_rows(ground, trace, ply, rows[1:], rows[0], what)
            if len({text(trace, ply + 1, ground.game.show, one, seat) for one in unseen[:3]}) > 1:
                raise broken(trace, ply, f"{what}, yet the text it is shown then depends on hidden cards")


@_law
def nothing_is_learnt_unseen(ground: Ground) -> None:
    """Knowledge grows only by witness: a move that reveals nothing to a seat fixes nothing in the seat's worlds.

    What varies among the outcomes of the move in worlds of before must still vary in worlds drawn after it.
    """
    for step in _steps(ground, "learnt", 64):
        if len(step.outcomes) < 16 or step.following["revealed"] >> step.seat & 1:
            continue
        truth = bits(np.array([step.following]))[0]
        unknown = (bits(step.outcomes) != truth).mean(axis=0) >= 0.25
        for count in (64, MANY_WORLDS):
            worlds = ground.compiled.worlds(step.following, step.seat, count, step.ply + count)
            unknown &= (bits(worlds) == truth).all(axis=0)
        if unknown.any():
            what = place_of_bit(ground.game.state, int(np.argmax(unknown)))
            raise broken(
                step.trace, step.ply + 1,
                f"all worlds of seat {step.seat} have the truth's state.{what}, unknown a move ago and not revealed",
            )  # fmt: skip


@_law
def nothing_seen_is_forgotten(ground: Ground) -> None:
    """What a seat knows from the play stays so in its worlds: a card seen to be played or taken is not dealt anew.

    What is the same in all outcomes that the seat cannot tell from the truth must be the same in worlds drawn after the
    move. A secret move is no witness: before the law is broken, every other move of that turn is tried as well.
    """
    for step in _steps(ground, "forgotten", 128):
        if len(step.outcomes) < 24:
            continue
        truth = bits(np.array([step.following]))[0]
        worlds = ground.compiled.worlds(step.following, step.seat, 64, step.ply + 1)
        known = (bits(step.outcomes) == truth).all(axis=0) & ((bits(worlds) != truth).mean(axis=0) >= 0.25)
        if known.any():
            more = _step(ground, step.trace, step.ply, step.state, step.seat, MANY_WORLDS, step.ply + 2)
            known &= (bits(more.outcomes) == truth).all(axis=0)
        if known.any() and not _explained(ground, step, known):
            what = place_of_bit(ground.game.state, int(np.argmax(known)))
            raise broken(
                step.trace, step.ply + 1,
                f"worlds of seat {step.seat} change state.{what}, which it knew from the last move or before",
            )  # fmt: skip


def _explained(ground: Ground, step: Step, known: np.ndarray) -> bool:
    """Whether another move that looks the same to the seat would explain each of the bits; clears those it explains."""
    truth = bits(np.array([step.following]))[0]
    for world in ground.compiled.worlds(step.state, step.seat, 128, step.ply + 3):
        moves = ground.compiled.moves(world)
        outcomes = ground.compiled.moved(np.array([world]), moves)
        outcomes = outcomes[(bits(outcomes)[:, known] != truth[known]).any(axis=1)]
        for other in bits(_looking_like(ground, step.trace, step.ply + 1, step.seat, outcomes)):
            known &= other == truth
    return not known.any()


# Laws on encodings, text and players.


@_law
def encodings_fill_their_layout(ground: Ground) -> None:
    """An encoder writes its row and nothing beyond, and a row does not depend on the rows around it."""
    game, compiled = ground.game, ground.compiled
    for trace, ply, state, seat in ground.views(ground.effort.texts):
        given = compiled.block_of(state)
        for name, encoder in game.encoders.items():
            width = encoder.width(trace.table.seats)
            if width < 1:
                raise broken(trace, ply, f"the layout of encoder {name} is empty")
            rows = np.zeros((4, width), np.uint8)
            rows[0] = rows[2:] = 77
            encode_each(game.entry("encode", encoder.encode), raw(given), 1, seat, raw(rows[1:]))
            if (rows[0] != 77).any() or (rows[2:] != 77).any():
                raise broken(trace, ply, f"encoder {name} writes beyond its {width} values")
            if (game.encode(state, seat, name) != rows[1]).any():
                raise broken(trace, ply, f"encoder {name} gives seat {seat} another row when asked again")
    for trace in ground.traces:
        for seat in range(trace.table.seats if game.encoders else 0):
            batch = compiled.rows(trace.states, seat)
            for ply in trace.sampled(ground.effort.texts):
                if (compiled.rows(trace.states[ply : ply + 1], seat)[0] != batch[ply]).any():
                    raise broken(trace, ply, f"the row of seat {seat} depends on the rows around it")


@_law
def every_segment_says_something(ground: Ground) -> None:
    """No named segment of an encoding is the same in all positions and after-states of all games."""
    seen: dict[tuple[str, str], np.ndarray] = {}
    for trace in ground.traces:
        after = ground.compiled.moved(trace.states[:-1], trace.moves, settle=False)
        states = np.concatenate([trace.states, after])
        for seat in range(trace.table.seats):
            rows, first = ground.compiled.rows(states, seat), 0
            for name, encoder in ground.game.encoders.items():
                for segment in encoder.layout(trace.table.seats):
                    part = rows[:, first : first + segment.size]
                    first += segment.size
                    seen[name, segment.name] = np.union1d(seen.get((name, segment.name), ()), part)
    for (name, segment), values in seen.items():
        if len(values) < 2:
            first = ground.traces[0]
            where = f"{first.table} and all others, seed {first.seed} and on, ply 0 and on"
            raise LawError(f"{where}: encoder {name}, segment {segment!r} is always {values.tolist()}")


@_law
def spelling_is_understood(ground: Ground) -> None:
    """parse understands what spell writes, and no two legal moves are spelled alike."""
    game = ground.game
    for trace, ply, state in ground.positions(ground.effort.texts):
        moves, known = game.moves(state), {}
        for move in moves[:: max(1, len(moves) // 200)]:
            spelled = text(trace, ply, game.spell, state, move)
            if spelled in known:
                raise broken(trace, ply, f"two legal moves are both spelled {spelled!r}")
            known[spelled] = move
            understood = text(trace, ply, game.parse, state, spelled)
            if np.array([understood], game.move).tobytes() != move.tobytes():
                raise broken(
                    trace, ply, f"parse({spelled!r}) gives {move_text(game, state, understood)}, not the move spelled"
                )


@_law
def heuristics_are_finite(ground: Ground) -> None:
    """Heuristics value every state and after-state with a finite number, for every seat."""
    for trace in ground.traces:
        for name, heuristic in ground.game.heuristics.items():
            for seat in range(trace.table.seats):
                values = ground.compiled.values(trace.states, seat, heuristic)
                wrong = np.flatnonzero(~np.isfinite(values))
                if len(wrong):
                    raise broken(trace, int(wrong[0]), f"heuristic {name} is {values[wrong[0]]} for seat {seat}")


@_law
def players_choose_legal_moves(ground: Ground) -> None:
    """Every native player, as it is and with varied parameters, chooses legal moves only."""
    for table in ground.tables:
        for name, player in ground.game.players.items():
            specs = [name, f"{name}?randomised"] if player.defaults else [name]
            lineups = np.arange(4 * table.seats).reshape(4, table.seats) % len(specs)
            ground.results(table, lineups, [agent(ground.game, spec) for spec in specs])


@_law
def named_agents_can_play(ground: Ground) -> None:
    """Each kind of agent that the framework offers for a game plays legal games of each variant."""
    few = {"rollout:100": "rollout:1"}
    for variant in ground.game.variants:
        table = Table(variant, ground.game.default_seats)
        for spec in list_specs(ground.game):
            seated = [agent(ground.game, few.get(spec, spec)), ground.agents[0]]
            ground.results(table, np.tile(np.arange(table.seats).clip(0, 1), (8, 1)), seated)


# Laws on plain Python: the same source without compiling, in a process of its own.


@_law
def plain_python_agrees(ground: Ground) -> None:
    """With CARDAI_JIT=0 the rules give the same states, moves, encodings, worlds, values and choices, to the byte."""
    compiled = _transcripts(ground.game, _plain_cases(ground))
    for where, digest in _plain(ground)["digests"].items():
        if compiled[where] != digest:
            raise LawError(f"{where} differs between compiled code and plain Python")


@_law
def plain_python_complains_of_nothing(ground: Ground) -> None:
    """With CARDAI_JIT=0 no rule raises or warns: no index out of range, no overflow, which compiled code hides."""
    error = _plain(ground)["error"]
    if error:
        raise LawError(error)


@_law
def encodings_fit_a_byte(ground: Ground) -> None:
    """Encoders write whole numbers from 0 to 255: nothing wraps around."""
    misfit = _plain(ground)["misfit"]
    if misfit:
        raise LawError(misfit)


def _plain_cases(ground: Ground) -> list[dict[str, Any]]:
    count = min(ground.effort.plain_games, len(ground.traces))
    spread = np.linspace(0, len(ground.traces) - 1, max(count, min(len(ground.tables), 2 * count))).round().astype(int)
    picked = [ground.traces[i] for i in np.unique(spread)]
    return [
        {
            "variant": trace.table.variant,
            "seats": trace.table.seats,
            "seed": trace.seed,
            "moves": written(ground.game, trace.moves).tolist(),
            "plies": trace.sampled(4),
        }
        for trace in picked
    ]


def _plain(ground: Ground) -> dict[str, Any]:
    known = ground.__dict__.setdefault("_plain_answer", {})
    if not known:
        known.update(_ask_plain_python(ground))
    return known


def _ask_plain_python(ground: Ground) -> dict[str, Any]:
    module, attribute = _home(ground.game)
    order = {
        "path": sys.path,
        "module": module.__name__,
        "file": getattr(module, "__file__", None),
        "attribute": attribute,
        "cases": _plain_cases(ground),
    }
    program = "from cardai.conformance import answer_in_plain_python; answer_in_plain_python()"
    child = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-c",
            f"import sys; sys.path[:0] = {[str(Path(__file__).parents[1])]!r}; {program}",
        ],
        input=json.dumps(order),
        capture_output=True,
        text=True,
        env={**os.environ, "CARDAI_JIT": "0"},
        check=False,
    )
    if child.returncode != 0:
        last = child.stderr.strip().splitlines()[-1:] or ["no message"]
        raise LawError(f"{ground.somewhere()}: plain Python stopped with {last[0]}")
    return json.loads(child.stdout.splitlines()[-1])


def _home(game: Game) -> tuple[Any, str]:
    """The module and the name under which another process finds a game. LawError when it has none."""
    for module in sorted(sys.modules.values(), key=lambda module: module.__name__ == "__main__"):
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if value is game and getattr(module, "__file__", None):
                return module, name
    raise LawError(f"the game {game.name} is no module's global, so that no other process can load it")


def answer_in_plain_python() -> None:
    """The other process: read the order, work through its cases, print what was found as a line of JSON."""
    order = json.load(sys.stdin)
    sys.path[:] = order["path"]
    try:
        module = importlib.import_module(order["module"])
        found = Path(getattr(module, "__file__", None) or "").resolve() == Path(order["file"]).resolve()
    except ImportError:
        found, module = False, None
    game = getattr(module, order["attribute"]) if found else load(order["file"])
    answer: dict[str, Any] = {"digests": {}, "error": None, "misfit": None}
    try:
        for case in order["cases"]:
            for where, digest, misfit in _transcript(game, case):
                answer["digests"][where] = digest
                answer["misfit"] = answer["misfit"] or misfit
    except PlainError as error:
        answer["error"] = str(error)
    print(json.dumps(answer))


class PlainError(Exception):
    """A rule raised or warned in plain Python; the message says where."""


def _transcripts(game: Game, cases: list[dict[str, Any]]) -> dict[str, str]:
    return {where: digest for case in cases for where, digest, _ in _transcript(game, case)}


def _transcript(game: Game, case: dict[str, Any]) -> Iterator[tuple[str, str, str | None]]:
    """Digests of what the rules make of one game, each with its place and, for an encoding, how it misfits a byte."""
    table = Table(case["variant"], case["seats"])
    moves = np.array(case["moves"], np.int64).reshape(len(case["moves"]), -1).view(game.move).reshape(-1)
    compiled, where = Compiled(game), ""
    try:
        where = f"{table}, seed {case['seed']}, ply 0: deal"
        state = game.new(case["seats"], case["seed"], case["variant"])
        yield where, _digest(state), None
        for ply, move in enumerate(moves):
            if ply in case["plies"]:
                for name, answer, misfit in _answers(compiled, state, ply):
                    where = f"{table}, seed {case['seed']}, ply {ply}: {name}"
                    found = answer()
                    yield where, _digest(found), f"{where} {misfit(found)}" if misfit and misfit(found) else None
            where = f"{table}, seed {case['seed']}, ply {ply}: {move_text(game, state, move)}"
            state = compiled.moved(np.array([state]), np.array([move]))[0]
            yield where, _digest(state), None
        where = f"{table}, seed {case['seed']}, ply {len(moves)}: score"
        yield where, _digest(np.array([compiled.values(np.array([state]), s) for s in range(table.seats)])), None
    except Exception as error:  # whatever a rule raises is the finding; the caller says where
        place = traceback.extract_tb(error.__traceback__)[-1]
        source = f"{Path(place.filename).name} line {place.lineno}"
        raise PlainError(f"{where} raises {error!r} in plain Python ({source})") from error


def _answers(compiled: Compiled, state: GameState, ply: int) -> Iterator[tuple[str, Callable[[], Any], Any]]:
    """What the rules are asked about a position: (name, the question, how its answer misfits a byte)."""
    game, one, seat = compiled.game, np.array([state]), int(state["turn"])
    world = compiled.worlds(state, seat, 1, ply)
    yield "legal", lambda: compiled.moves(state), None
    yield "is_legal", lambda: compiled.allowed(one, compiled.moves(state)[:8]), None
    for s in range(int(state["seats"])):
        yield f"resample for seat {s}", functools.partial(compiled.worlds, state, s, 2, ply), None
        for name, encoder in game.encoders.items():
            misfit = functools.partial(_misfit, encoder, state, s)
            yield f"encoder {name} for seat {s}", functools.partial(game.encode, state, s, name), misfit
        for name, heuristic in game.heuristics.items():
            yield f"heuristic {name} for seat {s}", functools.partial(compiled.values, one, s, heuristic), None
    for name in game.players:
        yield f"player {name}", lambda name=name: compiled.choices(world, name, ply)[0], None


def _misfit(encoder: Any, state: GameState, seat: int, row: np.ndarray) -> str | None:
    """How what the encoder means differs from the bytes it wrote; only plain Python can ask."""
    if JIT:
        return None
    meant = np.zeros(len(row), np.int64)
    encoder.encode(np.array([state])[0], seat, meant)
    wrong = np.flatnonzero(meant != row)
    return f"writes {meant[wrong[0]]} into a byte (value {wrong[0]})" if len(wrong) else None


def _digest(found: Any) -> str:
    return hashlib.blake2b(np.asarray(found).tobytes(), digest_size=8).hexdigest()
