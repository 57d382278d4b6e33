"""The page of claims: every claim of the five sources, what came of it, and the command that shows it.

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
from cardai.experiments.machinery.findings import VERDICTS
from cardai.experiments.machinery.words import Result, rows_by_place, shown

FOLDER = Path(__file__).parent / "sources"
NOT_TRIED, NOTHING, NOT_YET = "not tried", "no claim to test", "not in this report"
OUTCOMES = (*VERDICTS, NOT_TRIED, NOTHING)
HEADS = ("place", "claim", "what came of it", "ours", "command", "why")
WORST_FIRST = ("missed", "undecided", "reproduced", "beaten")
UNKNOWN = "no cause is known"
MANY = 5
"""A claim with more rows than this shows a link to their page instead of our figures."""


@dataclass(frozen=True)
class SourceClaim:
    """A claim of a source.

    `rows`: (experiment, table, line, column) of the rows that answer it. `outcome`, `ours`, `command`: what came of it,
    our figure and the command that shows it, for a claim that no row with a verdict answers. `why`: the cause of a miss
    that was tested, or why a claim was not tried. `beside`: further rows, shown but without part in the outcome.
    `at_most`: the best verdict that the comparison allows, where a row and its claim are not alike in all that matters.
    `counts`: no for figures that stand beside a claim listed before.
    """

    place: str
    words: str
    rows: tuple[tuple[str, str, str, str], ...] = ()
    beside: tuple[tuple[str, str, str, str], ...] = ()
    at_most: str = ""
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
        if claim.at_most not in ("", *WORST_FIRST):
            raise CardaiError(f"{path.name}, {claim.words!r}: at_most is one of {WORST_FIRST}")
        if not rows and claim.outcome not in OUTCOMES:
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
    verdicts = [_limited(row["verdict"], claim.at_most) for _, row in found if row["verdict"]]
    outcomes = tuple(verdicts) or ((NOT_YET,) if len(found) < len(claim.rows) else (claim.outcome,))
    names = dict.fromkeys(name for name, *_ in (claim.rows or claim.beside))
    commands = [by_name[name]["command"] if name in by_name else f"cardai reproduce {name}" for name in names]
    why = claim.why or (UNKNOWN if "missed" in outcomes else "")
    command = "; ".join(f"`{one}`" for one in (commands or [claim.command]) if one)
    ours = _ours([*found, *beside]) if found or beside else claim.ours
    return ClaimOutcome((claim.place, claim.words, counted(outcomes), ours, command, why), outcomes)


def _limited(verdict: str, at_most: str) -> str:
    """The worse of a verdict and the best one that the comparison allows."""
    return min((verdict, at_most or verdict), key=WORST_FIRST.index)


def _ours(found: Sequence[tuple[Result, Mapping[str, Any]]]) -> str:
    """Our figures with what they are; a link to their pages if they are many. `found`: (result, one of its rows)."""
    if len(found) > MANY:
        return ", ".join(f"[{name}]({name}.md)" for name in dict.fromkeys(result["experiment"] for result, _ in found))
    differing = [part for part in ("table", "name", "column") if len({row[part] for _, row in found}) > 1]
    parts = []
    for result, row in found:
        labels = labels_of(result)
        words = ", ".join(labels.get(row[part], row[part]) for part in differing or ["name", "column"])
        parts.append(f"{words}: {shown(row['figure'], row['places'])}")
    return "; ".join(parts)


def labels_of(result: Result) -> Mapping[str, str]:
    """What is shown for names of tables, lines and columns of a result: `labels` or `LABELS` of its page, if any."""
    own: Any = page_of(result["experiment"])
    return own.labels(result) if hasattr(own, "labels") else getattr(own, "LABELS", {})


def counted(outcomes: Sequence[str]) -> str:
    """Verdicts in words: "missed", or "2 reproduced, 1 missed"."""
    counts = Counter(outcomes)
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{counts[one]} {one}" for one in (*OUTCOMES, NOT_YET) if one in counts)


def verdict_of(outcomes: Sequence[str]) -> str:
    """One word for a claim with several rows: the worst of their verdicts."""
    order = ("missed", "undecided", NOT_YET, "reproduced", "beaten", NOT_TRIED, NOTHING)
    return next(one for one in order if one in outcomes)


def headline(results: Sequence[Result]) -> str:
    """The answer in one line: how many claims there are, and what came of them."""
    counts = Counter(
        verdict_of(answer(claim, results).outcomes) for own in sources().values() for claim in own if claim.counts
    )
    testable = sum(count for outcome, count in counts.items() if outcome != NOTHING)
    parts = ", ".join(f"{counts[one]} {one}" for one in (*OUTCOMES[:-1], NOT_YET) if counts[one])
    return (
        f"{len(sources())} sources make {testable} claims that could be tested: {parts}. Each is counted once, by the"
        " worst of its figures, and none as beaten where opponents are stand-ins."
    )


def tables(results: Sequence[Result]) -> list[tuple[str, list[tuple[str, ...]]]]:
    """(title of a source, its claims as cells in the order of `HEADS`)."""
    return [(title, [answer(claim, results).cells for claim in claims]) for title, claims in sources().items()]


def page(results: Sequence[Result]) -> str:
    """The page in Markdown."""
    lines = ["# What came of every claim?", "", f"**{headline(results)}**", ""]
    lines += [f"- {note}" for note in NOTES]
    for title, body in tables(results):
        lines += ["", f"## {title}", "", "| " + " | ".join(HEADS) + " |", "|---" * len(HEADS) + "|"]
        lines += ["| " + " | ".join(cells) + " |" for cells in body]
    return "\n".join(lines) + "\n"


NOTES = (
    "Verdicts of figures are computed from the results of this report; the front page says what they mean. Where no"
    " figure of a result answers a claim, we judged it ourselves, and the command shows the evidence.",
    f"{NOTHING.capitalize()}: settings, and what no test could contradict. {NOT_YET.capitalize()}: the experiment has"
    " not been run for it yet.",
    "A comparison that is not like for like, for instance with a stand-in for opponents that nobody published, is never"
    " counted as beaten.",
    f'Why: a cause that was tested, "{UNKNOWN}", or a remark.',
)
