"""The figures of first pages: one recipe in five games, all figures beside their claims, and strength at Moska."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from cardai.experiments import moska_students
from cardai.experiments.machinery.charts import COLOURS, FAINT, INK, chart, dots, key, level
from cardai.experiments.machinery.findings import Claim, Measurement, difference
from cardai.experiments.machinery.words import Result, interval_of, percent, rows_by_place
from cardai.experiments.pages.transfer import STAND_INS, sizes_of
from cardai.experiments.transfer import GAMES, RANDOM, REACHED, SIMPLE, after

HEIGHT = 5.2
"""The height of both figures in inches, so that they stand side by side."""
SOURCE = "the source"
SHADES = {"reproduced": COLOURS[2], "better": COLOURS[0], "missed": COLOURS[5], "undecided": COLOURS[1]}
"""The colours of verdicts; others are faint."""
EDGE = 6.0
"""Figures that differ by more margins than this lie on the edge."""


IN_WORDS = {
    "transfer": "Five games on one scale from random play to a hand-written player: networks after more"
    " and more games, and the source's figure",
    "claims": "All figures and directions with a claim, sorted by verdict: how far they are from what was claimed",
}
HOW_TO_READ = {
    "transfer": "- First: [nothing was tuned for any game](transfer.md). Intervals are over trainings. In"
    " Hearts and Literature the source played other opponents.",
    "claims": "- Second: each line is a figure and [the claim](claims.md) beside it, so a claim may have several"
    " lines. Right is better. In the grey band a difference does not matter.",
}
FAIR = 25.0
"""Games in percent that each of four equal players loses."""
STRONGEST = "student_small, deep"
"""What moska-students calls the first of Moska's list of the strongest agents (`cardai agents --measure`)."""


def draw(results: Sequence[Result]) -> dict[str, Any]:
    """{title: figure}, those for which there are results."""
    of_transfer = [result for result in results if result["experiment"] == "transfer"]
    figures = {"transfer": _transfer(*of_transfer)} if of_transfer else {}
    rows = [row for result in results for row in result["rows"] if row["claim"]]
    return figures | ({"claims": _forest(rows)} if rows else {})


def _transfer(result: Result) -> Any:
    """A line for each game: the networks between random play (0) and a hand-written player (1)."""
    rows, series = rows_by_place(result), dict[str, list[Any]]()
    for setup in GAMES.values():
        random, simple = (rows[REACHED, setup.line, column]["figure"]["point"] for column in (RANDOM, SIMPLE))

        def on_scale(value: float | None, random: float = random, simple: float = simple) -> float | None:
            return None if value is None or simple == random else (value - random) / (simple - random)

        for size in sizes_of(result, setup):
            figure = rows[REACHED, setup.line, after(size)]["figure"]
            point, *bounds = (on_scale(figure[part]) for part in ("point", "low", "high"))
            low, high = sorted(bounds, key=lambda bound: bound or 0.0)
            series.setdefault(f"after {after(size)}", []).append((setup.title, point, low, high))
        mark = f"{SOURCE}{', other opponents' if setup.title in STAND_INS else ''}"
        series.setdefault(mark, []).append((setup.title, on_scale(setup.claim.value), None, None))
    figure, (axes,) = chart(height=HEIGHT)
    dots(axes, dict(sorted(series.items(), key=lambda item: item[0].startswith(SOURCE))))
    level(axes, 0.0, "random play", across=False, style=":")
    level(axes, 1.0, "hand-written", across=False)
    axes.set(title="One recipe, five games", xlabel="0: random play, 1: a hand-written player")
    key(figure)
    return figure


def _forest(rows: Sequence[Mapping[str, Any]]) -> Any:
    """A line for each figure with a claim, by verdict, better to the right: figures, and below them directions."""
    figures = [row for row in rows if not row["claim"]["is_direction"]]
    directions = [row for row in rows if row["claim"]["is_direction"] and row["figure"]["low"] is not None]
    figure, panels = chart(2, height=HEIGHT / 2)
    _panel(panels[0], figures, _difference)
    panels[0].axvspan(-1, 1, color=FAINT, alpha=0.2, linewidth=0)
    panels[0].set(
        title=f"{len(figures)} figures beside what was claimed",
        xlabel="worse, or off    <    margins that matter    >    better",
    )
    _panel(panels[1], directions, _on_the_side)
    panels[1].axvline(0.0, color=FAINT, linewidth=1.4)
    panels[1].set(
        title=f"{len(directions)} directions that were claimed",
        xlabel="other side    <    half an interval    >    as claimed",
    )
    return figure


def _panel(axes: Any, rows: Sequence[Mapping[str, Any]], placed: Any) -> None:
    """Draw the rows of each verdict below those of the one before it, sorted. `placed`: a row's (point, low, high)."""
    groups: dict[str, float] = {}
    place = 0
    for verdict in sorted({row["verdict"] for row in rows}, key=_order):
        own = sorted(map(placed, (row for row in rows if row["verdict"] == verdict)))
        points = [(place + number, *ends) for number, ends in enumerate(own)]
        groups[f"{verdict}: {len(own)}"] = place + (len(own) - 1) / 2
        place += max(len(own), len(rows) // 9) + 2
        errors = [[point - low for _, point, low, _ in points], [high - point for _, point, _, high in points]]
        axes.errorbar(
            [point for _, point, *_ in points], [at for at, *_ in points], xerr=errors, marker="o", markersize=2.2,
            color=SHADES.get(verdict, FAINT), linewidth=0.8, linestyle="none",
        )  # fmt: skip
    axes.set(ylim=(place - 1, -2), xlim=(-EDGE - 0.2, EDGE + 0.2))
    axes.set_yticks(list(groups.values()), list(groups))
    axes.grid(visible=False, axis="y")


def _difference(row: Mapping[str, Any]) -> tuple[float, float, float]:
    """Ours less the claim, in margins, above 0 where ours is better: (point, low, high), each within the edges.

    Where neither side is better, every difference is below 0.
    """
    claim, figure = Claim(**row["claim"]), Measurement(**row["figure"])
    assert figure.point is not None
    point, ends = figure.point - claim.value, (-math.inf, math.inf)
    if figure.is_decisive:
        apart = difference(figure, claim.measured(figure))
        assert apart.low is not None
        assert apart.high is not None
        ends = apart.low, apart.high
    turned = claim.better == "lower" or (claim.better == "neither" and point > 0)
    return _turned(point, ends, (claim.within or 1.0) * (-1 if turned else 1))


def _on_the_side(row: Mapping[str, Any]) -> tuple[float, float, float]:
    """A difference in halves of its interval, above 0 on the side claimed: (point, low, high), within the edges.

    Where no difference is claimed, every one is below 0.
    """
    claim, figure = row["claim"], row["figure"]
    point, low, high = (figure[part] - claim["value"] for part in ("point", "low", "high"))
    turned = claim["better"] == "lower" or (claim["better"] == "neither" and point > 0)
    return _turned(point, (low, high), ((high - low) / 2 or 1.0) * (-1 if turned else 1))


def _turned(point: float, ends: tuple[float, float], unit: float) -> tuple[float, float, float]:
    """A difference and its ends in a unit, which turns them if it is below 0: (point, low, high), within the edges."""
    low, high = sorted(end / unit for end in ends)
    point, low, high = (min(max(end, -EDGE), EDGE) for end in (point / unit, low, high))
    return point, low, high


def strength(results: Sequence[Result]) -> Any:
    """Games of Moska lost against three Bot3: our agents, the thesis' NN2-HIF and the hand-written players.

    None where a result is missing.
    """
    rows = {result["experiment"]: list(result["rows"]) for result in results}
    if not {"moska-students", "moska-table1"} <= set(rows):
        return None
    against = {row["name"]: row for row in rows["moska-table1"] if row["column"] == "B1"}
    ours = {row["name"]: row for row in rows["moska-students"] if row["column"] == "B1"}
    search, learned = ours[STRONGEST], [row for name, row in ours.items() if name in moska_students.ALONE]
    network = min(learned, key=lambda row: row["figure"]["point"])
    theirs = Claim(**against["NN2-HIF"]["claim"]).measured()
    bars = {
        f"our search, {moska_students.SEARCHES[STRONGEST].partition('?')[0]}": (interval_of(search), COLOURS[0]),
        f"our network, {moska_students.ALONE[network['name']]}": (interval_of(network), COLOURS[0]),
        "the thesis' NN2-HIF": (interval_of({"figure": asdict(theirs)}), COLOURS[1]),
        "our NN2-HIF, trained on less": (interval_of(against["NN2-HIF"]), COLOURS[0]),
        "Bot3": (interval_of(against["Bot3"]), COLOURS[8]),
        "random player": (interval_of(against["Random"]), COLOURS[8]),
    }
    figure, (axes,) = chart(height=4.3)
    axes.set_axisbelow(True)
    names = []
    for place, (name, ((point, low, high), colour)) in enumerate(bars.items()):
        axes.barh(place, point, height=0.6, color=colour)
        if low is not None:
            axes.errorbar([point], [place], xerr=[[point - low], [high - point]], color=INK, capsize=4)
        names.append(f"{name.replace(', ', chr(10), 1)}\n{percent({'point': point, 'low': low, 'high': high})}")
    axes.set_yticks(range(len(names)), names)
    axes.set(ylim=(len(names) - 0.5, -0.5), xlim=(0, 100), xlabel="games of Moska lost against three Bot3, %")
    level(axes, FAIR, "fair share, 25 %", across=False)
    key(figure)
    return figure


def _order(verdict: str) -> int:
    known = [*SHADES, "undecidable", "in part", "not comparable"]
    return known.index(verdict) if verdict in known else len(known)
