"""The page of moska-table1, and the picture of strength for the README."""

from typing import Any

from cardai.experiments.machinery.charts import COLOURS, INK, chart, dots, key, level
from cardai.experiments.machinery.findings import Claim
from cardai.experiments.machinery.words import (
    Result,
    interval_of,
    percent,
    rows_by_place,
    rows_where,
    series_of,
    verdict_words,
)
from cardai.experiments.moska_table1 import FACTS, LOST
from cardai.experiments.pages.moska_networks import NETWORKS_AND_ROWS

FAIR = 25.0
"""Games in percent that each of four equal players loses."""
BEST = "best, before draw"

NOTES = (
    "Games lost: every agent plays the same deals, seats are rotated. Wilson interval; games of one deal form one"
    " cluster. The thesis played 2,000 games for each number.",
    *NETWORKS_AND_ROWS,
    "MIF and HIF are the thesis' names for what a network sees. MIF: it peeks at the cards it is about to draw. HIF:"
    " it does not see them and takes the mean score over 100 sampled worlds. Before draw: it scores the position"
    " after the move, before drawing, and needs neither.",
    "The row best, before draw is compared with the thesis' best agent, NN2-MIF; the thesis has no such agent.",
    "Bot3 and Random are the thesis' own players: missed then means different from the thesis' number, in either"
    " direction. NN1 in B2 and B3 is our network.",
)

LABELS = {BEST: f"{BEST} (claims: the thesis' NN2-MIF)"}


def answers(result: Result) -> list[str]:
    rows = rows_by_place(result)
    best, sampling, bot = (rows[LOST, name, "B1"] for name in (BEST, "NN2-HIF", "Bot3"))
    networks = [row for row in result["rows"] if row["name"].partition(" ")[0] not in FACTS and row["name"] != BEST]
    verdicts = [row["verdict"] for row in networks]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts))
    _, low, high = interval_of(bot)
    as_it_must = ", as it must: a check of the harness" if low is not None and low <= FAIR <= high else ""
    return [
        f"The network `best` of cardai loses {percent(best)} of its games against three Bot3, where a"
        f" fair share is {FAIR:g} %, and sees nothing hidden; the thesis' best network, which sees the cards it"
        f" will draw, lost {best['claim']['value']:g} %: {verdict_words(best)}.",
        f"NN2-HIF, made by the thesis' recipe, loses {percent(sampling)}; the thesis reports"
        f" {sampling['claim']['value']:g} %: {verdict_words(sampling)}. Bot3 itself, among three"
        f" Bot3, loses {percent(bot)}{as_it_must}.",
        f"Of the thesis' {len(networks)} network results: {counts}.",
    ]


def draw(result: Result) -> dict[str, Any]:
    """Each agent in the first three rows, without the random player."""
    figure, (axes,) = chart(height=4.6)
    rows = [row for row in result["rows"] if row["name"] != "Random" and row["column"] != "B4"]

    def short(row: Any) -> str:
        return row["name"].removesuffix(" (peeks)").removesuffix(", before draw")

    claims = [
        (short(row), row["claim"]["value"], None, None) for row in rows if row["column"] == "B1" and row["name"] != BEST
    ]
    dots(axes, series_of(rows, "column", short) | {"thesis, B1": claims})
    axes.set_xlabel("games lost, %")
    key(figure, columns=4)
    return {"losses": figure}


def strength(result: Result) -> Any:
    """Games lost against three Bot3: our networks, the thesis' NN2-HIF and the hand-written players."""
    rows = {row["name"]: row for row in rows_where(result, column="B1")}
    theirs = Claim(**rows["NN2-HIF"]["claim"])
    bars = {
        "our best network": (interval_of(rows[BEST]), COLOURS[0]),
        "our NN2-HIF": (interval_of(rows["NN2-HIF"]), COLOURS[0]),
        "thesis' NN2-HIF": ((theirs.value, *theirs.bounds()), COLOURS[1]),
        "Bot3": (interval_of(rows["Bot3"]), COLOURS[8]),
        "random player": (interval_of(rows["Random"]), COLOURS[8]),
    }
    figure, (axes,) = chart(height=3.6)
    axes.set_axisbelow(True)
    names = []
    for place, (name, ((point, low, high), colour)) in enumerate(bars.items()):
        axes.barh(place, point, height=0.6, color=colour)
        if low is not None:
            axes.errorbar([point], [place], xerr=[[point - low], [high - point]], color=INK, capsize=4)
        names.append(f"{name}\n{percent({'point': point, 'low': low, 'high': high})}")
    axes.set_yticks(range(len(names)), names)
    axes.set(ylim=(len(names) - 0.5, -0.5), xlim=(0, 100), xlabel="games of Moska lost against three Bot3, %")
    level(axes, FAIR, "fair share, 25 %", across=False)
    key(figure)
    return figure
