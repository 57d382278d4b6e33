"""How fast a game runs: games a second for each of its players, and nanoseconds for each operation of its rules.

report = measure(load("moska"))
print(cardai.cli.show.perf.table(report))
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardai.errors import BadArgument, positive, whole
from cardai.game import Game
from cardai.game.compiled.fence import roomy
from cardai.game.compiled.native import (
    at,
    begin_ply,
    below_of,
    call_act,
    call_deal,
    call_encode,
    call_legal,
    call_resample,
    call_settle,
    copy,
    next_of,
    raw,
    seed_state,
    seed_stream,
    set,
    turn_of,
)
from cardai.game.compiled.rules import ACT, DEAL, LEGAL, RESAMPLE, SETTLE
from cardai.measure.speed import SelfPlay, Timing, timed
from cardai.playing.agents.notation import Greedy
from cardai.playing.agents.spec import Agent, agent, evenly_random
from cardai.playing.progress import Progress
from cardai.playing.stats.report import Report
from cardai.playing.table.many import Results
from cardai.rules import JIT, STREAM, rule

POSITIONS = 1024 if JIT else 64  # positions that operations are timed on
LISTS = 16 * POSITIONS if JIT else POSITIONS  # positions whose moves are listed: long lists are rare and take long
_OPERATIONS = ("deal", "play", "world")  # timed beside `legal` and the encoders
_BETWEEN = 7  # plies between two of the positions, so that they come from many games


@dataclass(frozen=True)
class AgentSpeed:
    """How fast one agent plays in all seats, in a second of one core.

    `endless`: the share of its games that were given up after the game's `max_plies` moves, from 0 to 1. They count.
    """

    agent: str
    games_per_second: Timing
    decisions_per_second: Timing
    endless: float


@dataclass(frozen=True)
class ThreadSpeedup:
    """The games a second of several threads divided by those of one thread, measured in turns."""

    threads: int
    agent: str
    ratio: Timing


@dataclass(frozen=True)
class OperationSpeed:
    """How long one operation of the rules takes, in nanoseconds of one core."""

    name: str
    about: str
    nanoseconds: Timing


@dataclass(frozen=True)
class SpeedReport(Report, drawn_by="cardai.cli.show.perf:table", about={"kind": "perf"}, on_machine=True):
    """The speed of one game with `seats` seats.

    - `seconds`, `repeats`: how long each run takes, about, and how many runs each `Timing` has.
    - `rows`: evenly random play comes first.
    - `positions`: how many positions the operations are timed on; `listed`: how many of them for `legal`, and
      `moves_a_position`: their mean number of legal moves.
    """

    game: str
    title: str
    version: int
    variant: str
    seats: int
    seconds: float
    repeats: int
    rows: tuple[AgentSpeed, ...]
    threads: ThreadSpeedup
    operations: tuple[OperationSpeed, ...]
    positions: int
    listed: int
    moves_a_position: float


def measure(
    game: Game,
    seconds: float = 1.0,
    repeats: int = 5,
    progress: Progress | None = None,
    agents: Sequence[str] = (),
    seats: int | None = None,
    variant: str | None = None,
    threads: int = 2,
) -> SpeedReport:
    """Time agents and the game's operations, each in `repeats` runs of about `seconds`.

    `agents`: their specs; by default the game's players, those without a network. Evenly random play is always timed.
    `threads`: how many are compared with one. Raises CardaiError for seconds, repeats or threads out of range, for a
    number of seats or a variant that the game does not have, and for an agent that does not fit.
    """
    if not 0 < seconds <= 3600:
        raise BadArgument(f"seconds must be more than 0 and at most 3600, not {seconds:g}")
    positive("repeats", repeats, 1000)
    whole("threads", threads, 2, 1024)
    seats = game.default_seats if seats is None else seats
    game.options(seats, variant)
    players = players_of(game, agents)
    for player in players:
        player.check_fits(game, variant, seats)
    total = len(players) + 3 + len(_OPERATIONS) + len(game.learning.encoders)
    steps = iter(range(total))

    def step(text: str) -> None:
        if progress:
            progress(next(steps), total, text)

    rows = []
    for player in players:
        step(player.label)
        rows.append(_timed_play(SelfPlay(game, player, seats, variant), seconds, repeats))
    step(f"{threads} threads beside one")
    speedup = _timed_threads(SelfPlay(game, players[0], seats, variant), seconds, repeats, threads)
    step("positions for single operations")
    operations, moves = _timed_operations(game, seats, variant, seconds, repeats, step)
    if progress:
        progress(total, total, "done")
    return SpeedReport(
        game=game.name,
        title=game.title,
        version=game.version,
        variant=game.canonical(variant),
        seats=seats,
        seconds=seconds,
        repeats=repeats,
        rows=tuple(rows),
        threads=speedup,
        operations=tuple(operations),
        positions=POSITIONS,
        listed=LISTS,
        moves_a_position=moves,
    )


def players_of(game: Game, agents: Sequence[str] = ()) -> list[Agent]:
    """The agents that are timed: evenly random play, then those named, or the game's players and its heuristics."""
    specs = agents or [*game.agents.players, *map(Greedy, game.agents.heuristics)]
    return [evenly_random(game), *(agent(game, spec) for spec in specs)]


def _timed_play(self_play: SelfPlay, seconds: float, repeats: int) -> AgentSpeed:
    games, runs = self_play.games_in(seconds), list[Results]()

    def play() -> int:
        runs.append(self_play.play(games))
        return runs[-1].decisions

    rates = [timed(play).per_processor_second for _ in range(repeats)]
    return AgentSpeed(
        self_play.player.label,
        Timing.of([rate * games / run.decisions for rate, run in zip(rates, runs, strict=True)]),
        Timing.of(rates),
        float(np.mean([run.endless.mean() for run in runs])),
    )


def _timed_threads(self_play: SelfPlay, seconds: float, repeats: int, threads: int) -> ThreadSpeedup:
    games = self_play.games_in(seconds)
    self_play.play(games, threads=threads)
    ratios = [self_play.play(games).seconds / self_play.play(games, threads=threads).seconds for _ in range(repeats)]
    return ThreadSpeedup(threads, self_play.player.label, Timing.of(ratios))


def _timed_operations(
    game: Game, seats: int, variant: str | None, seconds: float, repeats: int, step: Callable[[str], None]
) -> tuple[list[OperationSpeed], float]:
    """Time deal, legal, play, world and every encoder.

    Also returns the mean number of legal moves of a position. `step` is told what is timed next.
    """
    rules, blank = game.compiler.rules, game.options(seats, variant)
    deal, legal, act, settle, resample = (rules.calls[place] for place in (DEAL, LEGAL, ACT, SETTLE, RESAMPLE))
    size, room = rules.state_size, rules.max_moves
    arrays = np.zeros(LISTS, game.state), np.zeros(LISTS, game.move), np.zeros(1, game.state)
    arrays += roomy(room, game.move), np.zeros(1, STREAM), np.zeros(LISTS, np.int64)
    positions, chosen, state, moves, stream, lengths = map(raw, arrays)  # addresses: `arrays` keeps them valid
    _collect(
        deal, legal, act, settle, raw(blank), size, rules.move_size, positions, chosen, lengths, LISTS, _BETWEEN,
        state, moves, room, stream,
    )  # fmt: skip

    runs = {
        "deal": ("deal a game", lambda: _deal_all(deal, raw(blank), state, size, stream, POSITIONS)),
        "play": (
            "copy a state and play a move",
            lambda: _play_all(act, settle, positions, chosen, state, size, POSITIONS),
        ),
        "world": (
            "copy a state and deal anew what the seat to move cannot know",
            lambda: _world_all(resample, positions, state, size, stream, POSITIONS),
        ),
    }
    for name in game.learning.encoders:
        runs[f"encode {name}"] = _encoding(game, name, seats, positions)
    timed = []
    for name, (about, run) in runs.items():
        step(name)
        timed.append(OperationSpeed(name, about, _nanoseconds(run, POSITIONS, seconds, repeats)))
    step("legal")
    listing = _nanoseconds(lambda: _legal_all(legal, positions, moves, room, LISTS), LISTS, seconds, repeats)
    timed.insert(1, OperationSpeed("legal", "list the legal moves", listing))
    return timed, float(np.abs(arrays[-1]).mean())


def _encoding(game: Game, name: str, seats: int, positions: Any) -> tuple[str, Callable[[], Any]]:
    encoder = game.encoder(name)
    rows, call = np.zeros((POSITIONS, encoder.width(seats)), np.uint8), game.compiler.entry("encode", encoder.encode)
    return f"the view of the seat to move, {rows.shape[1]} values", lambda: _encode_all(
        call, positions, raw(rows), POSITIONS
    )


def _nanoseconds(run: Callable[[], Any], size: int, seconds: float, repeats: int) -> Timing:
    """Nanoseconds for one operation: `run` does `size` of them and is repeated for about `seconds`."""

    def work() -> int:
        for _ in range(16):  # a look at the clock takes as long as some operations
            run()
        return 16 * size

    work()  # compiled before the clock starts
    return Timing.of([1e9 / timed(work, seconds).per_processor_second for _ in range(repeats)])


@rule
def _collect(
    deal, legal, act, settle, blank, size, move_size, positions, chosen, lengths, count, between, states, moves, room,
    streams
):  # fmt: skip
    """Fill `positions` from evenly random games, `chosen` with legal moves, `lengths` with what `legal` returns."""
    state, stream = at(states, 0), at(streams, 0)
    seed_stream(stream, 1)
    filled, since, is_over = 0, 0, True
    while filled < count:
        if is_over:
            copy(state, at(blank, 0), size)
            seed_state(state, next_of(stream))
            call_deal(deal, state)
        n = call_legal(legal, state, moves, 0, room)
        move = at(moves, below_of(stream, abs(n)))
        since += 1
        if since == between:
            copy(at(positions, filled), state, size)
            copy(at(chosen, filled), move, move_size)
            set(lengths, filled, n)
            filled, since = filled + 1, 0
        begin_ply(state)
        call_act(act, state, move)
        call_settle(settle, state)
        is_over = turn_of(state) < 0


@rule
def _deal_all(deal, blank, states, size, streams, count):
    for _ in range(count):
        copy(at(states, 0), at(blank, 0), size)
        seed_state(at(states, 0), next_of(at(streams, 0)))
        call_deal(deal, at(states, 0))


@rule
def _legal_all(legal, positions, moves, room, count):
    listed = 0
    for i in range(count):
        listed += abs(call_legal(legal, at(positions, i), moves, 0, room))
    return listed


@rule
def _play_all(act, settle, positions, chosen, states, size, count):
    for i in range(count):
        copy(at(states, 0), at(positions, i), size)
        begin_ply(at(states, 0))
        call_act(act, at(states, 0), at(chosen, i))
        call_settle(settle, at(states, 0))


@rule
def _world_all(resample, positions, states, size, streams, count):
    for i in range(count):
        copy(at(states, 0), at(positions, i), size)
        seed_state(at(states, 0), next_of(at(streams, 0)))
        call_resample(resample, at(states, 0), turn_of(at(states, 0)), at(streams, 0))


@rule
def _encode_all(encode, positions, rows, count):
    for i in range(count):
        call_encode(encode, at(positions, i), turn_of(at(positions, i)), rows, i)
