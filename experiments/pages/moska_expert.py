"""The page of moska-expert."""

from typing import Any

from cardai.experiments.machinery.charts import by_generation
from cardai.experiments.machinery.words import Result, about, gap, is_open, listed, percent, rows_by_place
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
    found = "no difference is shown" if all(map(is_open, searches)) else "the search does not make them equal"
    stronger = (rows[LOST, last, "N1"]["figure"]["high"] or FAIR) < FAIR
    return [
        f"{'It grows stronger' if stronger else 'No gain is shown'}: after {last.removeprefix('expert')} generations it"
        f" loses {about(rows[LOST, last, 'N1'])} against three of `best`, where equal players lose {FAIR:g} %.",
        f"Games lost against three of `best`, generation by generation: {listed(by_name)}.",
        f"Against three Bot3 the last generation loses {lost(last, 'B1')}. `best` loses {lost('best', 'B1')}.",
        f"With a search as it plays, the last generation loses {lost(f'{last}, search', 'N1')} against three of `best`"
        f" without one. `best` with a search loses {lost('best, search', 'N1')}: {found}.",
        f"Against three Bot3 the two with a search lose {lost(f'{last}, search', 'B1')} and"
        f" {lost('best, search', 'B1')}.",
        "Whether training on without a search does as well was not measured.",
    ]


def draw(result: Result) -> dict[str, Any]:
    rows = [row for row in result["rows"] if "," not in row["name"]]
    columns = {"B1": "against three Bot3", "N1": "against three of best"}
    return {"generations": by_generation(rows, columns, "games lost, %")}
