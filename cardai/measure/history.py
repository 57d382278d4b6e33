"""The history of a league's ratings: a file with one line of JSON for each run, and a comparison of two runs.

append(Path("history.jsonl"), league)
found = changes(*read_history(Path("history.jsonl"))[-2:])
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cardai.errors import CardaiError
from cardai.files.kind import foreign_kind
from cardai.files.reading import parse_json, read_text
from cardai.files.writing import append_line
from cardai.measure.league import FORMAT, League
from cardai.measure.pool import table_name
from cardai.playing.stats import interval
from cardai.playing.stats.interval import Estimate

RatedAgent = tuple[str, int, str, int, str]
"""An agent at a table of a version of a game: (game, version, variant, seats, spec)."""


@dataclass(frozen=True)
class RatingChange:
    """The rating of an agent at a table less its rating in an earlier run, and "better", "worse" or "undecided"."""

    table: str
    spec: str
    difference: Estimate
    verdict: str


@dataclass(frozen=True)
class RatingComparison:
    """The ratings of a run compared with those of an earlier run, which `then` describes.

    `new`, `gone`: agents that only this run, or only the earlier one, has.
    """

    then: str
    changes: tuple[RatingChange, ...]
    new: tuple[str, ...]
    gone: tuple[str, ...]


def append(path: Path, league: League) -> None:
    """Add a finished league to a history as one line of JSON with the date. Raises CardaiError if that fails."""
    line = {"date": datetime.now(UTC).isoformat(timespec="seconds")} | league.as_json()
    append_line(path, json.dumps(line, ensure_ascii=False, allow_nan=False))


def check_history(path: Path) -> None:
    """Raise CardaiError unless a line can be added: the file is sound and can be written, or can be created."""
    is_new = not path.exists()
    try:
        with path.open("a", encoding="utf-8"):
            pass
        if is_new:
            path.unlink()
    except OSError as error:
        raise CardaiError(f"cannot write {path}: {error.strerror or error}") from None
    if not is_new:
        read_history(path)


def read_history(path: Path) -> list[dict[str, Any]]:
    """The runs of a history, oldest first. Raises CardaiError, which names the file or its first damaged line."""
    text = read_text(path)
    if kind := foreign_kind(text.encode()) if text else "":
        raise CardaiError(f"{path} is not a history of `cardai bench --all`: {kind}")
    runs = []
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), 1):
        try:
            run = parse_json(line)
            _check(run)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
            if not line.strip():
                why = "it is empty: something, such as an editor, added a line break"
                raise CardaiError(f"{path}, line {number}: {why}") from None
            raise CardaiError(f"{path}, line {number}: it is damaged, or no line of `cardai bench --all`") from None
        runs.append(run)
    if text and not text.endswith("\n"):
        raise CardaiError(f"{path}, line {len(runs)}: it does not end: something was cut off")
    return runs


def changes(earlier: Mapping[str, Any], run: Mapping[str, Any]) -> RatingComparison:
    """The ratings of a run compared with those of an earlier one; both as a history has them.

    The intervals of the differences take the two runs as independent (Newcombe's square-and-add). If both played the
    same deals, they are too wide if anything. Only agents at the same table of the same version of a game are compared;
    agents of one run alone are named.
    """
    now, then = ratings_in(run), ratings_in(earlier)
    differences = [
        RatingChange(_table(rated), rated[4], *_difference(now[rated], then[rated])) for rated in now if rated in then
    ]
    return RatingComparison(
        then=f"{earlier['date']}, commit {earlier['machine']['commit'] or 'unknown'}, seed {earlier['seed']}, "
        f"{earlier['asked']:,} games a table",
        changes=tuple(differences),
        new=tuple(f"{rated[4]} at {_table(rated)}" for rated in now if rated not in then),
        gone=tuple(f"{rated[4]} at {_table(rated)}" for rated in then if rated not in now),
    )


def ratings_in(run: Mapping[str, Any]) -> dict[RatedAgent, Estimate]:
    """The ratings of a run, without those of tables that have none; both as for `changes`.

    Raises ValueError, KeyError, TypeError or AttributeError if the run is damaged.
    """
    if run["format"] != FORMAT:
        raise ValueError(run["format"])
    ratings = {}
    for table in run["tables"]:
        place = str(table["game"]), int(table["version"]), str(table["variant"]), int(table["seats"])
        for standing in table["standings"]:
            rating = standing["rating"]
            if rating["point"] is None:
                continue
            low = -math.inf if rating["low"] is None else float(rating["low"])
            high = math.inf if rating["high"] is None else float(rating["high"])
            estimate = Estimate(float(rating["point"]), low, high, int(rating["n"]), int(rating["deals"]))
            ratings[*place, str(standing["spec"])] = estimate
    return ratings


def _check(run: Mapping[str, Any]) -> None:
    """Raise ValueError, KeyError, TypeError or AttributeError unless a line of a history is whole."""
    ratings_in(run)
    _ = run["date"], run["machine"]["commit"], run["interrupted"]
    if not isinstance(run["seed"], int) or not isinstance(run["asked"], int):
        raise TypeError("seed and asked are whole numbers")


def _difference(now: Estimate, then: Estimate) -> tuple[Estimate, str]:
    """The difference of two independent estimates, and the verdict on it."""
    point = now.point - then.point
    low = point - math.hypot(now.point - now.low, then.high - then.point)
    high = point + math.hypot(now.high - now.point, then.point - then.low)
    difference = Estimate(point, low, high, min(now.n, then.n), min(now.deals, then.deals))
    if difference.deals < interval.FEWEST_DEALS or not (low > 0 or high < 0):
        return difference, "undecided"
    return difference, "better" if low > 0 else "worse"


def _table(rated: RatedAgent) -> str:
    game, _, variant, seats, _ = rated
    return table_name(game, variant, seats)
