"""What came of a study of people: figures with intervals over people, and its data under pseudonyms.

Games of one person are not independent, so each person counts once, however many games they played. The deals were
fixed before the games, so agents can play them again in the seats of people, against the same opponents.
"""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from cardai.errors import CardaiError
from cardai.game import Game
from cardai.guests.web.export import write_record
from cardai.guests.web.offers import Offer
from cardai.guests.web.participants import Participant, Participants
from cardai.guests.web.people import by_person, over_people, share_of
from cardai.guests.web.protocol import ALWAYS, Protocol, StudyTable
from cardai.guests.web.store import TableRow
from cardai.guests.web.study import is_over, offers_for
from cardai.guests.web.tables import WebTable
from cardai.playing.agents.spec import agent
from cardai.playing.progress import Progress
from cardai.playing.stats.interval import Estimate, mean, proportion
from cardai.playing.stats.measure import measure_of, value_of
from cardai.playing.stats.report import Report
from cardai.playing.table.many import play


@dataclass(frozen=True)
class StudyReference:
    """An agent in the seats of people, on the deals of their finished games.

    `own`: its figure. `ahead`: what people have more than it on the same deals, with an interval over people.
    """

    spec: str
    own: Estimate
    ahead: Estimate


@dataclass(frozen=True)
class StudyRow:
    """The figures of some games of a study, in the unit of its measure.

    - `what`: "all", or a part: "table A", "level advanced", "in time" (a program made no move for the person).
      `games`: finished ones; `unfinished`: others, dealt too.
    - `figure`: of finished games; `with_all`: with unfinished ones at their worst. Intervals over people.
    - `pooled`: as if all games were independent, which they are not: beside the first, for comparison with others.
    - `fair`: the mean of all seats in the finished games. `learning`: late less early games of each person.
    """

    game: str
    what: str
    people: int
    games: int
    unfinished: int
    figure: Estimate
    with_all: Estimate
    pooled: Estimate
    fair: float
    learning: Estimate
    references: tuple[StudyReference, ...] = ()


@dataclass(frozen=True)
class StudyPerson:
    """A participant at a game: `early` and `late` are the halves of their finished games in order; NaN for none."""

    person: str
    game: str
    level: str
    games: int
    unfinished: int
    figure: float
    early: float
    late: float


@dataclass(frozen=True)
class StudyReport(Report, drawn_by="cardai.guests.web.shown:study", about={"kind": "study"}):
    """A study. `tables`: (code, game, line-up) of each. `deleted`: people who took their data back."""

    title: str
    digest: str
    measure: str
    measure_title: str
    scale: int
    is_over: bool
    deleted: int
    tables: tuple[tuple[str, str, tuple[str, ...]], ...]
    rows: tuple[StudyRow, ...]
    persons: tuple[StudyPerson, ...]


@dataclass
class StudyGame:
    """A game of a study that was dealt. `order`: from 1. Times are seconds since 1970; `scores` is None if unfinished.

    `references`: by spec, what each reference scored in the person's seat, f8[seats] in [0, 1].
    """

    person: str
    level: str
    order: int
    table: StudyTable
    seat: int
    row: TableRow
    begun: float
    ended: float | None
    scores: np.ndarray | None
    references: dict[str, np.ndarray]


def refuse_early(protocol: Protocol, people: Participants) -> None:
    """Raise CardaiError if the results of a study may not be seen yet."""
    if protocol.results != ALWAYS and not is_over(protocol, people.all()):
        games = sum(person.finished for person in people.all())
        raise CardaiError(
            f"the study goes on, with {games} games so far, and its protocol shows results {protocol.results}"
        )


def measure_study(protocol: Protocol, people: Participants, progress: Progress | None = None) -> StudyReport:
    """What came of a study. Raises CardaiError for games that today's rules cannot play."""
    games, measure = games_of(protocol, people), protocol.measure
    play_references(protocol, games, progress)
    rows: list[StudyRow] = []
    for name, game in protocol.games.items():
        own = [one for one in games if one.table.game == name]
        rows.append(_row(game, protocol, "all", own))
        parts = [(f"table {table.code}", [one for one in own if one.table == table]) for table in protocol.tables]
        levels = next((one.choices for one in protocol.questions if one.key == protocol.level), ())
        parts = parts if sum(bool(part) for _, part in parts) > 1 else []
        parts += [(f"level {level}", [one for one in own if one.level == level]) for level in levels]
        in_time = [one for one in own if not one.row.seats[one.seat].helpers]
        parts += [("in time", in_time)] if len(in_time) < len(own) else []
        rows += [_row(game, protocol, what, part) for what, part in parts if part]
    game = next(iter(protocol.games.values()))
    found = measure_of(game, measure)
    tables = tuple((table.code, table.game, table.line_up) for table in protocol.tables)
    persons = tuple(_person(protocol, person, name, games) for person in people.all() for name in protocol.games)
    ended = is_over(protocol, people.all())
    return StudyReport(
        protocol.title, protocol.digest, measure, found.title, found.scale, ended, people.deleted, tables,
        tuple(rows), persons,
    )  # fmt: skip


def games_of(protocol: Protocol, people: Participants) -> list[StudyGame]:
    """All games of a study that were dealt, person by person in their order."""
    games = []
    for person in people.all():
        for order, table_id in enumerate(person.tables):
            row = people.store.table(table_id)
            if row is None or row.seed is None:
                continue
            ((begun, ended),) = people.store.read('SELECT made, ended FROM "table" WHERE id = ?', table_id)
            sitting = protocol.sitting(person.number - 1, order)
            scores = None if row.scores is None else np.array(row.scores)
            level = person.answers.get(protocol.level, "")
            games.append(
                StudyGame(person.name, level, order + 1, sitting.table, sitting.seat, row, begun, ended, scores, {})
            )
    return games


def play_references(protocol: Protocol, games: Sequence[StudyGame], progress: Progress | None = None) -> None:
    """Let the references play the deals of finished games, in the seats of people."""
    finished = [one for one in games if one.scores is not None]
    for number, table in enumerate(protocol.tables):
        own = [one for one in finished if one.table == table]
        references = protocol.references_of[table.game]
        if not own or not references:
            continue
        if progress is not None:
            progress(number, len(protocol.tables), f"table {table.code}")
        game = protocol.games[table.game]
        specs = list(dict.fromkeys([*references, *table.opponents]))
        agents = [agent(game, spec) for spec in specs]
        pairs = [(one, spec) for one in own for spec in references]
        lineups = np.array([[specs.index(seat.agent or spec) for seat in one.row.seats] for one, spec in pairs])
        seeds = np.array([one.row.seed for one, _ in pairs], np.uint64)
        results = play(game, agents, lineups, seeds, variant=own[0].row.variant)
        for (one, spec), scores in zip(pairs, results.scores, strict=True):
            one.references[spec] = scores


def value(game: Game, measure: str, scores: np.ndarray, seat: int) -> float:
    """The measure of a seat, in its unit."""
    if measure == "share":
        return share_of(game, scores, seat)
    return float(value_of(game.payoff, measure, scores)[seat])


def _row(game: Game, protocol: Protocol, what: str, games: Sequence[StudyGame]) -> StudyRow:
    found = measure_of(game, protocol.measure)
    low, high, worst = found.low, found.high, found.high if found.lower_is_better else found.low
    done = [(one, one.scores) for one in games if one.scores is not None]
    own = [(one.person, value(game, found.name, scores, one.seat)) for one, scores in done]
    missing = [(one.person, worst) for one in games if one.scores is None]
    seats = [value(game, found.name, scores, seat) for _, scores in done for seat in range(len(scores))]
    pooled = (proportion if found.is_share else mean)(np.array([[figure] for _, figure in own]).reshape(-1, 1))
    references = []
    for spec in protocol.references_of[game.name] if what == "all" else ():
        replayed = [(one, scores) for one, scores in done if np.isfinite(one.references[spec]).all()]
        figures = [(one.person, value(game, found.name, one.references[spec], one.seat)) for one, _ in replayed]
        ahead = [
            (person, value(game, found.name, scores, one.seat) - figure)
            for (one, scores), (person, figure) in zip(replayed, figures, strict=True)
        ]
        span = high - low
        references.append(StudyReference(spec, over_people(figures, low, high), over_people(ahead, -span, span)))
    changes = [(person, late - early) for person, early, late in _halves(own) if np.isfinite(late - early)]
    return StudyRow(
        game.name, what, len({person for person, _ in own}), len(own), len(missing), over_people(own, low, high),
        over_people([*own, *missing], low, high), pooled, float(np.mean(seats)) if seats else float("nan"),
        over_people(changes, low - high, high - low), tuple(references),
    )  # fmt: skip


def _person(protocol: Protocol, person: Participant, name: str, games: Sequence[StudyGame]) -> StudyPerson:
    all_games = [one for one in games if one.person == person.name and one.table.game == name]
    own = [
        (person.name, value(protocol.games[one.table.game], protocol.measure, one.scores, one.seat))
        for one in all_games
        if one.scores is not None
    ]
    early, late = next(((early, late) for _, early, late in _halves(own)), (np.nan, np.nan))
    figure = float(np.mean([one for _, one in own])) if own else float("nan")
    level = person.answers.get(protocol.level, "")
    return StudyPerson(person.name, name, level, len(own), len(all_games) - len(own), figure, float(early), float(late))


def _halves(values: Iterable[tuple[str, float]]) -> list[tuple[str, float, float]]:
    """(person, mean of their early games, mean of their late ones): a middle game is in neither, NaN for one game."""
    halves = []
    for person, own in by_person(values).items():
        half = len(own) // 2
        means = (float(np.mean(own[:half])), float(np.mean(own[-half:]))) if half else (np.nan, np.nan)
        halves.append((person, *means))
    return halves


# The data.

GAMES = (
    "person", "level", "order", "table", "line_up", "game", "variant", "seat", "begun", "ended", "seconds", "decisions",
    "thought", "score", "record",
)  # fmt: skip
MOVES = "person", "order", "ply", "made", "seconds", "late"


def export_study(protocol: Protocol, people: Participants, folder: Path, overwrite: bool = False) -> list[Path]:
    """Write a study's games, people and times as CSV, and its finished games as record files, under pseudonyms.

    Returns the files. Raises CardaiError if they exist, or for a game that cannot be played again.
    """
    paths = [folder / "games.csv", folder / "people.csv", folder / "moves.csv"]
    if not overwrite and any(path.exists() for path in paths):
        raise CardaiError(f"{folder} holds an export already; --overwrite replaces it")
    folder.mkdir(exist_ok=True)
    for old in [*folder.glob("*.csv"), *folder.glob("*.jsonl.gz")]:
        old.unlink()
    games = games_of(protocol, people)
    play_references(protocol, games)
    files = _records(protocol, people, games, folder)
    references = list(dict.fromkeys(spec for specs in protocol.references_of.values() for spec in specs))
    heads = [*GAMES, protocol.measure, *(f"{spec} {protocol.measure}" for spec in references)]
    _write(paths[0], [heads, *(_cells(protocol, one, references, files) for one in games)])
    keys = [question.key for question in protocol.questions]
    rows = [[one.name, _time(one.agreed), _time(one.stopped), *(one.answers.get(key, "") for key in keys)]
            for one in people.all()]  # fmt: skip
    _write(paths[1], [["person", "agreed", "stopped", *keys], *rows])
    _write(paths[2], [MOVES, *(row for one in games for row in _moves(people, one))])
    return [*paths, *dict.fromkeys(folder / name for name in files.values())]


def _moves(people: Participants, one: StudyGame) -> Iterable[Sequence[object]]:
    """The rows of a person's moves in a game, in the order of `MOVES`; `late`: whether a program made it for them."""
    question = "SELECT ply, made, seconds, agent FROM move WHERE table_id = ? ORDER BY ply"
    for ply, made, seconds, helper in people.store.read(question, one.row.id):
        yield one.person, one.order, ply, _time(made), round(seconds, 2), int(helper is not None)


def _cells(protocol: Protocol, one: StudyGame, references: list[str], files: dict[str, str]) -> list[object]:
    """The row of a game, in the order of `GAMES`, the measure and the references."""
    game, seat = protocol.games[one.table.game], one.seat
    line_up = ",".join(seat.agent or "human" for seat in one.row.seats)
    seconds = "" if one.ended is None else round(one.ended - one.begun, 1)
    score = "" if one.scores is None else float(game.payoff.of(one.scores[one.seat]))
    head = [one.person, one.level, one.order, one.table.code, line_up, game.name, one.row.variant, one.seat]
    thought = round(one.row.seats[one.seat].thought, 1)
    head += [_time(one.begun), _time(one.ended), seconds, len(one.row.moves), thought, score]
    head.append(files.get(one.row.id, ""))
    figures = [one.scores, *(one.references.get(spec) for spec in references)]
    return [*head, *("" if one is None else value(game, protocol.measure, one, seat) for one in figures)]


def _records(protocol: Protocol, people: Participants, games: Sequence[StudyGame], folder: Path) -> dict[str, str]:
    """Write a record file for each person at each table, their games in order. Returns {id of a table: its file}."""
    offers: dict[str, Offer] = offers_for(protocol)
    groups: dict[str, list[WebTable]] = {}
    for one in games:
        if one.scores is not None:
            table = WebTable(one.row, offers[one.table.game], people.store, protocol.aids)
            table.run()
            groups.setdefault(f"{one.person}-{one.table.code}.jsonl.gz", []).append(table)
    for name, tables in groups.items():
        write_record(folder / name, tables, overwrite=True)
    return {table.row.id: name for name, tables in groups.items() for table in tables}


def _write(path: Path, rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def _time(when: float | None) -> str:
    """A time in universal time, "" for none."""
    return "" if when is None else datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds")
