"""The page of moska-table1."""

from typing import Any

from cardai.experiments.machinery.charts import dotted
from cardai.experiments.machinery.words import (
    Result,
    about,
    interval_of,
    percent,
    rows_by_place,
    series_of,
    verdict_words,
)
from cardai.experiments.moska_table1 import COMPARED, FACTS, LOST
from cardai.experiments.pages.moska_networks import NETWORKS_AND_ROWS

FAIR = 25.0
"""Games in percent that each of four equal players loses."""
BEST, RENAMED = "best, before draw", "NN2-HIF, suits renamed"

NOTES = (
    "Games lost: every agent plays the same deals, seats are rotated. Wilson interval; games of one deal form one"
    " cluster. The thesis played 2,000 games for each number.",
    *NETWORKS_AND_ROWS,
    "MIF and HIF are the thesis' names for what a network sees. MIF: it peeks at the cards it is about to draw. HIF:"
    " it does not see them and takes the mean score over 100 sampled worlds. Before draw: it scores the position"
    " after the move, before drawing, and needs neither.",
    "The rows best, before draw and NN2-HIF, suits renamed are of no agents of the thesis. They are compared with its"
    " best agent, NN2-MIF, and with its NN2-HIF.",
    "Suits renamed: the scores of NN2 are averaged over eight ways to exchange the names of the suits, which do not"
    " matter in Moska but have inputs of their own.",
    "Bot3 and Random are the thesis' own players: missed then means different from the thesis' number, in either"
    " direction. NN1 in B2 and B3 is our network.",
)

LABELS = {BEST: f"{BEST} (claims: the thesis' NN2-MIF)", RENAMED: f"{RENAMED} (claims: the thesis' NN2-HIF)"}


def answers(result: Result) -> list[str]:
    rows = rows_by_place(result)
    best, sampling, renamed, bot = (rows[LOST, name, "B1"] for name in (BEST, "NN2-HIF", RENAMED, "Bot3"))
    own = {*FACTS, *COMPARED}
    networks = [row for row in result["rows"] if not {row["name"], row["name"].partition(" ")[0]} & own]
    verdicts = [row["verdict"] for row in networks]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts))
    _, low, high = interval_of(bot)
    as_it_must = ", as it must. This checks the program" if low is not None and low <= FAIR <= high else ""
    return [
        f"It loses {about(best)} of its games against three Bot3. The thesis' best network, which peeks at its draws,"
        f" lost {best['claim']['value']:g} %.",
        f"`best` sees nothing hidden. Its games lost: {percent(best)}, where a fair share is {FAIR:g} %. Beside the"
        f" thesis' network, {verdict_words(best)}.",
        f"Our NN2-HIF follows the thesis' recipe, on fewer states. It loses {percent(sampling)}. The thesis reports"
        f" {sampling['claim']['value']:g} %: {verdict_words(sampling)}.",
        f"With its scores averaged over names of the suits, the same network loses {percent(renamed)}:"
        f" {verdict_words(renamed)}.",
        f"Bot3 itself, among three Bot3, loses {percent(bot)}{as_it_must}.",
        f"Of the thesis' {len(networks)} network results: {counts}.",
    ]


def draw(result: Result) -> dict[str, Any]:
    rows = [row for row in result["rows"] if row["name"] != "Random" and row["column"] != "B4"]

    def short(row: Any) -> str:
        return row["name"].removesuffix(" (peeks)").removesuffix(", before draw")

    claims = [
        (short(row), row["claim"]["value"], None, None) for row in rows if row["column"] == "B1" and row["name"] != BEST
    ]
    return {
        "losses": dotted(series_of(rows, "column", short) | {"thesis, B1": claims}, "games lost, %", 4.6, columns=4)
    }
