"""The notes below the table of a suite or match: under which conditions it was played, and what is missing."""

from collections.abc import Sequence

from cardai.measure.bench_report import BenchReport
from cardai.show.grid import endless_notes
from cardai.stats.measure import Measure


def interval_words(report: BenchReport) -> str:
    """Which intervals the report's figures have."""
    is_plain = len(report.measures) == 1 and report.measure in ("score", "win", "loss")
    if report.kind == "match" or not is_plain or any(row.ends for row in report.rows):
        return (
            "95 % intervals: Wilson's with the deal as cluster for shares of games; for other means a bootstrap over "
            "deals, unless all values are 0 or 1"
        )
    kind = "bootstrap over deals" if report.measure == "score" else "Wilson's with the deal as cluster"
    return f"95 % interval ({kind})"


def measure_notes(measures: Sequence[Measure]) -> list[str]:
    """What the measures of columns are, those of a game with their direction; nothing for plain wins and losses."""
    return [
        f"{measure.title}: {measure.about}{'; lower is better' if measure.lower_is_better else ''}"
        for measure in measures
        if measure.name not in ("score", "win", "loss")
    ]


def ends_notes(report: BenchReport) -> list[str]:
    """What the columns on games won, lost and tied are, if the report has them."""
    is_there = any(row.ends for row in report.rows)
    return ["of decided %: share of the games not tied that the agent won"] if is_there else []


def seal_notes(unsealed: Sequence[str]) -> list[str]:
    """Whether code of somebody else's was kept from hidden cards, or why not (`unsealed`, as in a `BenchReport`)."""
    if unsealed:
        return [f"not sealed: {reason}" for reason in unsealed]
    return ["sealed: the salt was drawn for this run, and no program could read cardai's memory or another program's"]


def condition_notes(report: BenchReport) -> list[str]:
    """Game, seed, deals, speed, and why the number of games is not the one asked for."""
    turn = "each deal once in every rotation of the line-up" if report.rotate else "seats as named, one game a deal"
    deals = "the same deals for all"
    if report.own_deals:
        turn = "every rotation of the line-up" if report.rotate else "seats as named"
        deals = "no deal played twice, since an agent runs code that may remember it"
    notes = [
        f"{report.game} {report.version}, variant {report.variant}, seed {report.seed}, {deals}, {turn}",
        f"{report.games:,} games in {report.seconds:.1f} s on {report.threads} threads",
    ]
    if report.salt:
        notes.append(f"salt {report.salt}: with the seed, it repeats the deals")
    if report.own_deals:
        notes += seal_notes(report.unsealed)
    most = max((row.figure.n for row in report.rows), default=0) if report.kind == "suite" else report.games
    if not report.interrupted and not report.endless and most > report.asked:
        notes.append(f"{report.asked:,} games were asked for: rounded up to whole rotations")
    notes += endless_notes(report.endless)
    if report.interrupted:
        notes.append("stopped before the end: only finished games count")
    return notes
