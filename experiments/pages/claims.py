"""Every claim of the five sources, what came of it, and the command that shows it.

`sources/` has a file of claims for each source: where it stands, in our words, and the rows of our results that answer
it. The verdict of such a claim is that of its rows, written by machine. Other claims say themselves what came of them.
"""

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardai.errors import CardaiError
from cardai.experiments.machinery.catalogue import EXPERIMENTS, page_of
from cardai.experiments.machinery.verdicts import VERDICTS
from cardai.experiments.machinery.words import Result, addressed, listed, rounded, rows_by_place, shown

FOLDER = Path(__file__).parent / "sources"
IN_PART, DIFFERS, WRONG = "in part", "not comparable", "source wrong"
NOT_TRIED, NOTHING, NOT_YET = "not tried", "no claim to test", "not in this report"
OUTCOMES = (*VERDICTS, IN_PART, DIFFERS, WRONG, NOT_TRIED, NOTHING)
HEADS = ("place", "claim", "what came of it", "ours", "command", "why")
UNKNOWN = "no cause is known"
DIFFERENCES = ("opponents", "measure", "protocol")


@dataclass(frozen=True)
class SourceClaim:
    """A claim of a source.

    `rows`: (experiment, table, line, column) of the rows that answer it. `outcome`, `ours`, `command`: what came of it,
    our figure and the command that shows it, for a claim that no row with a verdict answers. `why`: the cause of a miss
    that was tested, or why a claim was not tried. `beside`: further rows, shown but without part in the outcome.
    `differs`: what is not alike of a row and its claim ("opponents", "measure", "protocol"), so that their figures
    stand side by side without a verdict; `why` says more.
    `counts`: no for figures that stand beside a claim listed before.
    """

    place: str
    words: str
    rows: tuple[tuple[str, str, str, str], ...] = ()
    beside: tuple[tuple[str, str, str, str], ...] = ()
    differs: str = ""
    outcome: str = ""
    ours: str = ""
    command: str = ""
    why: str = ""
    counts: bool = True


def sources() -> dict[str, list[SourceClaim]]:
    """{source: its claims}, in the order of the files. Raises CardaiError for a claim that is not whole."""
    return dict(_source(path) for path in sorted(FOLDER.glob("*.toml")))


def _source(path: Path) -> tuple[str, list[SourceClaim]]:
    content = tomllib.loads(path.read_text("utf-8"))
    claims = []
    for fields in content["claim"]:
        rows, beside = (tuple(tuple(row) for row in fields.pop(name, ())) for name in ("rows", "beside"))
        claim = SourceClaim(rows=rows, beside=beside, **fields)
        if not all(len(row) == 4 and row[0] in EXPERIMENTS for row in (*rows, *beside)):
            raise CardaiError(f"{path.name}, {claim.words!r}: a row is [experiment, table, line, column]")
        if claim.differs not in ("", *DIFFERENCES):
            raise CardaiError(f"{path.name}, {claim.words!r}: what differs is one of {DIFFERENCES}")
        if not rows and not claim.differs and claim.outcome not in OUTCOMES:
            raise CardaiError(f"{path.name}, {claim.words!r}: it has no rows, so it needs an outcome of {OUTCOMES}")
        claims.append(claim)
    return content["title"], claims


@dataclass(frozen=True)
class ClaimOutcome:
    """What came of a claim, as cells of a table in the order of `HEADS`; `outcomes`: its verdicts."""

    cells: tuple[str, ...]
    outcomes: tuple[str, ...]


def answer(claim: SourceClaim, results: Iterable[Result]) -> ClaimOutcome:
    """What came of a claim in these results.

    A row that no result has is missing: other scales train other networks, and other machines have other numbers of
    threads.
    """
    by_name = {result["experiment"]: result for result in results}
    rows = {name: rows_by_place(by_name[name]) for name, *_ in (*claim.rows, *claim.beside) if name in by_name}
    found, beside = (
        [
            (by_name[name], rows[name][table, line, column])
            for name, table, line, column in named
            if (table, line, column) in rows.get(name, {})
        ]
        for named in (claim.rows, claim.beside)
    )
    outcomes = _outcomes(claim, [row["verdict"] for _, row in found if row["verdict"]], len(found))
    names = dict.fromkeys(name for name, *_ in (claim.rows or claim.beside))
    commands = [by_name[name]["command"] if name in by_name else f"cardai reproduce {name}" for name in names]
    why = claim.why or (UNKNOWN if "missed" in outcomes else "")
    command = "; ".join(f"`{one}`" for one in (commands or [claim.command]) if one)
    ours = _ours([*found, *beside]) if found or beside else claim.ours
    came_of_it = counted(outcomes) + (f" ({claim.differs} differ)" if claim.differs else "") + _needed(outcomes, found)
    return ClaimOutcome((claim.place, claim.words, came_of_it, ours, command, why), outcomes)


def _outcomes(claim: SourceClaim, verdicts: Sequence[str], found: int) -> tuple[str, ...]:
    if found < len(claim.rows):
        return (*verdicts, NOT_YET)
    if claim.differs:
        return (DIFFERS,)
    return tuple(verdicts) if verdicts and claim.outcome not in ("missed", WRONG) else (claim.outcome,)


def _needed(outcomes: Sequence[str], found: Sequence[tuple[Result, Mapping[str, Any]]]) -> str:
    """How many games decide all figures of an undecided claim."""
    needed = [(row["needed"], row["figure"]["counted"]) for _, row in found if row["needed"]]
    if not needed or verdict_of(outcomes) != "undecided":
        return ""
    count, counted = max(needed)
    return f" (decided by {rounded(count)} {counted})"


def _ours(found: Sequence[tuple[Result, Mapping[str, Any]]]) -> str:
    """Our figures with what they are, each leading to its row. `found`: (result, one of its rows)."""
    differing = [part for part in ("table", "name", "column") if len({row[part] for _, row in found}) > 1]
    parts = []
    for result, row in found:
        labels = labels_of(result)
        words = ", ".join(labels.get(row[part], row[part]) for part in differing or ["name", "column"])
        address = f"{result['experiment']}.md#{addressed(row['table'], row['name'], row['column'])}"
        parts.append(f"{words}: [{shown(row['figure'], row['places'])}]({address})")
    return "; ".join(parts)


def labels_of(result: Result) -> Mapping[str, str]:
    """What is shown for names of tables, lines and columns of a result: `labels` or `LABELS` of its page, if any."""
    own: Any = page_of(result["experiment"])
    return own.labels(result) if hasattr(own, "labels") else getattr(own, "LABELS", {})


def settled(results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The results, where a row whose claims are all not comparable or wrong says so in place of its verdict."""
    said: dict[tuple[str, ...], set[str]] = {}
    for claim in (claim for own in sources().values() for claim in own):
        for row in claim.rows:
            said.setdefault(row, set()).add(DIFFERS if claim.differs else WRONG if claim.outcome == WRONG else "")

    def shown_row(name: str, row: Mapping[str, Any]) -> Mapping[str, Any]:
        found = said.get((name, row["table"], row["name"], row["column"]), {""})
        return row if "" in found or not row["claim"] else {**row, "verdict": min(found), "needed": None}

    return [{**one, "rows": [shown_row(one["experiment"], row) for row in one["rows"]]} for one in results]


def counted(outcomes: Sequence[str]) -> str:
    """Verdicts in words: "missed", or "2 reproduced, 1 missed"."""
    counts = Counter(outcomes)
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{counts[one]} {one}" for one in (*OUTCOMES, NOT_YET) if one in counts)


def verdict_of(outcomes: Sequence[str]) -> str:
    """One word for a claim with several rows: "in part" if some are missed and others not, else the least certain."""
    if "missed" in outcomes and not {"reproduced", "better"}.isdisjoint(outcomes):
        return IN_PART
    order = (NOT_YET, "missed", "undecided", "undecidable", "reproduced", "better", *OUTCOMES[len(VERDICTS) :])
    return next(one for one in order if one in outcomes)


def headline(results: Sequence[Result]) -> str:
    """The answer in one line: how many claims there are, and what came of most of them."""
    counts = Counter(
        verdict_of(answer(claim, results).outcomes) for own in sources().values() for claim in own if claim.counts
    )
    testable = sum(count for outcome, count in counts.items() if outcome != NOTHING)
    named = [f"{counts[one]} {one}" for one in ("reproduced", "missed", DIFFERS, NOT_TRIED)]
    return f"Of {testable} claims that could be tested, {listed([named[0].replace(' ', ' are ', 1), *named[1:]])}."
