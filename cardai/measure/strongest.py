"""Measures which agents of a game are the strongest for the time that they take, and writes the list of them.

    measure(load("moska"), seconds=60)     # `cardai agents moska --measure --seconds 60`

At each table, agents that may be strong play each other in drawn line-ups, each deal in all rotations, as in a league
(`cardai.measure.league`), on deals that no other command plays (`SALT`). docs/agents.md says who plays, in which
rounds, and who is listed. Ratings are of all games; after the first round, agents without a search are compared with
each other only.

The list is written after each table. A table that stands in it is not measured again, unless an agent, the weights of a
network, or the moves of a hand-written player or heuristic are others now.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import numpy as np

from cardai.errors import CardaiError, positive
from cardai.files.named import noted
from cardai.files.tensors import undigested
from cardai.files.writing import write_text
from cardai.game import Game, is_game
from cardai.measure.league import PlayedTable, Speed, play_table, speed_of
from cardai.measure.pool import ANCHOR, PlannedTable
from cardai.playing.agents.notation import Spec, parse
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.agents.strategy import HandWritten, OnePly
from cardai.playing.agents.strongest import (
    FORMAT,
    TIMES,
    MeasuredAgent,
    MeasuredTable,
    is_without_search,
    list_file,
    measured_tables,
)
from cardai.playing.machine import machine, thread_count
from cardai.playing.progress import CountProgress, Progress, begin_part
from cardai.playing.stats.deals import deal_seeds
from cardai.playing.stats.interval import FEWEST_DEALS
from cardai.playing.stats.ratings import rate
from cardai.playing.stats.report import Report
from cardai.playing.table.many import Results, play

SALT = "strongest"
PROBED = 8  # seeded games that tell whether a hand-written player or heuristic plays as it did
TIMING_SECONDS = 1.0  # an agent is timed for at least: a few endings may take most of the time of one that solves them
GAMES, SECONDS = 4000, 20.0
"""The most games of each agent in each round at each table, and the most seconds of its decisions there."""


@dataclass(frozen=True)
class StrongestList(Report, drawn_by="cardai.cli.show.tables:strongest", about={"format": FORMAT, "times": TIMES}):
    """The list of a game."""

    game: str
    version: int
    tables: tuple[MeasuredTable, ...]


def measure(
    game: Game,
    specs: Sequence[str] = (),
    variants: Sequence[str] | None = None,
    seats: Sequence[int] | None = None,
    games: int = GAMES,
    seconds: float = SECONDS,
    seed: int = 0,
    again: bool = False,
    progress: Progress | None = None,
    out: Path | None = None,
) -> StrongestList:
    """Measure the tables of a game, all unless some are named, and write its list. Returns the list.

    `specs`: further agents. `games`, `seconds`: the most of each agent in each round at each table. `again`: also
    tables that stand in the list already. `out`: where to write it, beside the game's module if not given. All
    threads play, times are of one.

    Raises CardaiError for an agent that the game does not have, that peeks or runs code of somebody else's, for a table
    that the game does not have, if a game in no file has no `out`, and if the list cannot be written. KeyboardInterrupt
    leaves the tables finished so far.
    """
    variants = [*is_game(game).variants] if variants is None else [game.canonical(variant) for variant in variants]
    games = positive("games", games)
    if not 0 < seconds < math.inf:
        raise CardaiError(f"seconds must be a number above 0, not {seconds:g}")
    place = list_file(game) if out is None else out
    if place is None:
        raise CardaiError(f"{game.name} is in no file, so no list lies beside it; say in out where to write it")
    found = {(table.variant, table.seats): table for table in measured_tables(game)}
    planned = list[PlannedTable]()
    for variant in variants:
        for count in game.seats if seats is None else seats:
            game.options(count, variant)
            table = _planned(game, specs, variant, count)
            if again or _is_outdated(table, found.get((variant, count))):
                planned.append(table)
    for i, table in enumerate(planned):
        part = begin_part(progress, i * games, len(planned) * games, table.name)
        rounds, listable = _play(table, -(-games // table.sides), seed, seconds, part)
        found[table.variant, table.seats] = _measured(table, rounds, listable, seed, seconds)
        places = [(one, count) for one in game.variants for count in game.seats]
        order = {key: number for number, key in enumerate(places)}
        tables = sorted(found.values(), key=lambda one: order.get((one.variant, one.seats), len(order)))
        _write(game, place, tables)
    return StrongestList(game.name, game.version, tuple(found.values()))


def content_of(game: Game, spec: str, variant: str, seats: int) -> dict[str, str]:
    """What an agent plays by at a table, as digests: see `MeasuredAgent`."""
    with noted() as files:
        player = agent(game, spec)
    parts = {name: undigested(place.read_bytes()) for name, place in sorted(files.items())}
    if isinstance(player.strategy, HandWritten) or (isinstance(player.strategy, OnePly) and player.evaluator is None):
        results = beside_random(player, game, variant, seats, PROBED, seed=0)
        parts["moves"] = b"".join(b"" if moves is None else moves.tobytes() for moves in results.moves)
    return {name: hashlib.sha256(part).hexdigest()[:12] for name, part in parts.items()}


def beside_random(player: Agent, game: Game, variant: str, seats: int, games: int, seed: int) -> Results:
    """Seeded games, with their moves, in which an agent has every other seat and random players have the others."""
    lineups = np.tile(np.arange(seats) % 2, (games, 1))
    return play(
        game, [player, agent(game, ANCHOR)], lineups, deal_seeds(seed, games), variant=variant, threads=1, record=True
    )


def _planned(game: Game, specs: Sequence[str], variant: str, seats: int) -> PlannedTable:
    pool = dict[str, Agent]()
    for named in (ANCHOR, *game.agents.players, *game.agents.opponents, *specs):
        player = agent(game, named)
        if player.peeks or player.is_foreign:
            why = "peeks" if player.peeks else "runs code that does not come with cardai"
            raise CardaiError(f"agent {player.spec!r} {why}: it cannot be listed among the strongest")
        if not player.fits(game, variant, seats) and player.evaluator is not None:
            player = agent(game, _in_any_variant(parse(named)))
        if player.fits(game, variant, seats):
            pool[player.spec] = player
    return PlannedTable(game, variant, seats, tuple(pool.values()))


def _in_any_variant(value: Spec) -> Spec:
    """The same agent, whose model may play a variant that it was not trained on."""
    if value.kind == "endgame":
        return replace(value, argument=_in_any_variant(parse(cast(Any, value.argument))))
    return value.with_options(any_variant=True)


def _play(
    plan: PlannedTable, deals: int, seed: int, seconds: float, progress: CountProgress | None
) -> tuple[list[PlayedTable], dict[str, float]]:
    """The rounds of a table, and {spec: milliseconds} of those who may be listed."""
    timing, threads = int(deal_seeds(seed, 1, f"{SALT} timing")[0]), thread_count(None)
    speeds = {player.spec: speed_of(plan, player, timing, 1, TIMING_SECONDS) for player in plan.pool}

    def played(pool: Sequence[Agent], most: int, which: str) -> PlayedTable:
        games = len(pool) * most * plan.sides  # more than are played: each agent leaves after its deals
        left, salt = replace(plan, pool=tuple(pool)), f"{SALT} {which}"
        return play_table(left, games, seed, threads, progress, seconds, {}, salt, most, speeds)

    rounds = [played(plan.pool, max(FEWEST_DEALS, deals // 20), "first")]
    left = _unbeaten(rounds[0], seed)
    listable = {player.spec: speeds[player.spec].milliseconds for player in left}
    if len(left) > 1:
        rounds.append(played(left, -(-deals // 4), "second"))
    finals = list[list[Agent]]()
    for place, time in enumerate(TIMES):
        lineups, scores, names = _together(rounds)
        best = chosen(lineups, scores, names, listable, seed)[place]
        above = dict(zip(names, rate(lineups, scores, names, best, seed).figures, strict=True))
        finalists = [
            player
            for player in left
            if player.spec == best or (listable[player.spec] <= time and above[player.spec].point > 0)
        ]
        if len(finalists) > 1 and finalists not in finals:
            finals.append(finalists)
            rounds.append(played(finalists, deals, f"{time:g} ms"))
    return rounds, listable


def _unbeaten(first: PlayedTable, seed: int) -> list[Agent]:
    """Those who are not worse, by more than chance, than another one that is as quick."""
    pool, names = first.plan.pool, [player.spec for player in first.plan.pool]
    classes = [_class_of(player, speed) for player, speed in zip(pool, first.speeds, strict=True)]
    left = list[Agent]()
    for player, own in zip(pool, classes, strict=True):
        above = rate(first.lineups, first.scores, names, player.spec, seed).figures
        if not any(other <= own and figure.low > 0 for other, figure in zip(classes, above, strict=True)):
            left.append(player)
    return left


def _together(rounds: Sequence[PlayedTable]) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """The line-ups and scores of all rounds, and whom the numbers are: the specs of the first."""
    names = [player.spec for player in rounds[0].plan.pool]
    lineups = [np.array([names.index(player.spec) for player in one.plan.pool])[one.lineups] for one in rounds]
    return np.concatenate(lineups), np.concatenate([one.scores for one in rounds]), names


def _class_of(player: Agent, speed: Speed) -> float:
    """0 for an agent without a search, otherwise the least of `TIMES` that is enough for it."""
    if is_without_search(player):
        return 0.0
    return next((time for time in TIMES if speed.milliseconds <= time), math.inf)


def _is_outdated(plan: PlannedTable, table: MeasuredTable | None) -> bool:
    """Whether the list lacks a table, one of its agents, or the present content of one."""
    if table is None:
        return True
    content, slow = {measured.spec: measured.content for measured in table.agents}, table.too_slow
    pool = [player.spec for player in plan.pool if player.spec not in slow]
    return any(content.get(spec) != content_of(plan.game, spec, plan.variant, plan.seats) for spec in pool)


def _measured(
    planned: PlannedTable, rounds: Sequence[PlayedTable], listable: dict[str, float], seed: int, seconds: float
) -> MeasuredTable:
    plan, (lineups, scores, names) = rounds[0].plan, _together(rounds)
    figures = rate(lineups, scores, names, ANCHOR, seed).figures
    agents = [
        MeasuredAgent(
            name, float(f"{speed.milliseconds:.3g}"), round(figure.point, 1),
            _bound(figure.low), _bound(figure.high), figure.n, content_of(plan.game, name, plan.variant, plan.seats),
        )
        for name, speed, figure in zip(names, rounds[0].speeds, figures, strict=True)
    ]  # fmt: skip
    games = sum(int(one.results.finished.sum()) for one in rounds)
    by = (
        f"{datetime.now(UTC).date().isoformat()}, {games:,} games on {len(lineups):,} deals, seed {seed}, at most"
        f" {seconds:g} s an agent, {machine()['processor']}"
    )
    agents.sort(key=lambda measured: -measured.rating)
    picks = chosen(lineups, scores, names, listable, seed)
    too_slow = tuple(player.spec for player in planned.pool if player.spec not in names)
    return MeasuredTable(plan.variant, plan.seats, tuple(agents), too_slow, picks, by)


def chosen(
    lineups: np.ndarray, scores: np.ndarray, names: list[str], listable: dict[str, float], seed: int
) -> tuple[str, ...]:
    """The strongest for each of `TIMES` of those in `listable`, {spec: milliseconds}: of equals the quicker one."""
    chosen: list[str] = []
    best = ""
    waiting = sorted(listable, key=lambda spec: listable[spec])
    for time in TIMES:
        while waiting and (listable[waiting[0]] <= time or not best):  # the quickest one is listed in any case
            spec = waiting.pop(0)
            above = rate(lineups, scores, names, best, seed).figures[names.index(spec)] if best else None
            if above is None or above.low > 0:
                best = spec
        chosen.append(best)
    return tuple(chosen)


def _write(game: Game, place: Path, tables: Sequence[MeasuredTable]) -> None:
    """Write the list with a line for each agent, so that two lists can be compared line by line."""
    parts = []
    for table in tables:
        head = json.dumps({key: value for key, value in asdict(table).items() if key != "agents"}, ensure_ascii=False)
        rows = ",\n   ".join(json.dumps(asdict(measured), ensure_ascii=False) for measured in table.agents)
        parts.append(f'  {head[:-1]}, "agents": [\n   {rows}]}}')
    head = json.dumps({"format": FORMAT, "game": game.name, "version": game.version}, ensure_ascii=False)
    write_text(place, f'{head[:-1]}, "tables": [\n' + ",\n".join(parts) + "\n]}\n")


def _bound(value: float) -> float | None:
    return round(value, 1) if math.isfinite(value) else None
