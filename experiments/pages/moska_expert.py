"""The page of moska-expert."""

from typing import Any

from cardai.experiments.machinery.charts import by_generation
from cardai.experiments.machinery.words import Result, gap, is_open, listed, percent, rows_by_place
from cardai.experiments.moska_expert import LOST

FAIR = 25.0
"""Games in percent that each of four equal players loses."""

NOTES = (
    "Games lost: the same deals for all, seats rotated. Wilson interval; games of one deal form one cluster.",
    "B1: three Bot3. N1: three times the network `best`, which learned from how games ended; 25 % is equal.",
    "expert1, expert2 and so on are the generations. Without a word they play greedily; search: `ahead:MODEL?halving`,"
    " which thinks that the others play as its own network does; others Bot3: it thinks that they are Bot3, which is"
    " true in B1, so that it exploits them there.",
)


def answers(result: Result) -> list[str]:
    rows, names = rows_by_place(result), dict.fromkeys(row["name"] for row in result["rows"])
    generations = [name for name in names if name.startswith("expert") and "," not in name]
    last = generations[-1]

    def lost(name: str, column: str) -> str:
        return percent(rows[LOST, name, column])

    searches = [gap(*(rows[LOST, f"{name}, search", column] for name in (last, "best"))) for column in ("N1", "B1")]
    by_name = [f"{name} {lost(name, 'N1')}" for name in generations]
    found = "no difference is shown" if all(map(is_open, searches)) else "not all of this is chance"
    return [
        f"The last of {last.removeprefix('expert')} generations that learned from a search loses {lost(last, 'N1')} of"
        f" its games against three of `best`, with which they began (fair share {FAIR:g} %), and {lost(last, 'B1')}"
        f" against three Bot3, where `best` loses {lost('best', 'B1')}. With a search as it plays, against the same"
        f" opponents without one, it loses {lost(f'{last}, search', 'N1')} and {lost(f'{last}, search', 'B1')}, `best`"
        f" with the search {lost('best, search', 'N1')} and {lost('best, search', 'B1')}: {found}. Training on without"
        " a search was not compared.",
        f"Games lost against three of `best`, generation by generation: {listed(by_name)}.",
    ]


def in_readme(result: Result) -> tuple[str, str, str]:
    """The strongest without a search and with one."""
    rows = rows_by_place(result)
    generations = [row["name"] for row in result["rows"] if row["name"].startswith("expert") and "," not in row["name"]]
    network, search = rows[LOST, generations[-1], "B1"], rows[LOST, "best, search", "B1"]
    return (
        "Moska: games our best network loses against three Bot3, alone and with a search (fair share 25 %)",
        f"{percent(network)}, n {network['figure']['n']:,}; with a search {percent(search)},"
        f" n {search['figure']['n']:,}",
        f"{network['claim']['value']:g} %",
    )


def draw(result: Result) -> dict[str, Any]:
    """The games lost by generation."""
    rows = [row for row in result["rows"] if "," not in row["name"]]
    columns = {"B1": "against three Bot3", "N1": "against three of best"}
    return {"generations": by_generation(rows, columns, "games lost, %")}
