"""The page of moska-students."""

from typing import Any

from cardai.experiments.machinery.charts import by_generation
from cardai.experiments.machinery.words import Result, about, listed, percent, rows_by_place
from cardai.experiments.moska_expert import LOST
from cardai.experiments.moska_students import ALONE, SEARCHES

NOTES = (
    "Games lost: the same deals for all, seats rotated. Wilson interval; games of one deal form one cluster.",
    "B1: three Bot3. N1: three times the network `best`, which learned from how games ended; 25 % is equal.",
    "Without a word the networks play greedily. Search: `ahead:student_small?worlds=16`. Deep:"
    " `ahead:student_small?worlds=32&turns=1`. Both think that the others play as their own network does. The settings"
    " were chosen with `best` as the judge, on other deals.",
    "The students began as `expert`. What their counts, their deeper teacher and further training each gave was not"
    " measured apart.",
)


def answers(result: Result) -> list[str]:
    rows = rows_by_place(result)

    def lost(name: str, column: str) -> str:
        return percent(rows[LOST, name, column])

    def all_lost(column: str) -> str:
        return listed([f"{name} {lost(name, column)}" for name in ALONE])

    return [
        f"Alone it loses {about(rows[LOST, 'student', 'N1'])} against three of `best`, where equal players lose 25 %;"
        f" `expert` loses {about(rows[LOST, 'expert', 'N1'])}.",
        f"Games lost against three of `best`: {all_lost('N1')}.",
        f"Games lost against three Bot3: {all_lost('B1')}.",
        *(
            f"{name}: {lost(name, 'N1')} against three of `best`, {lost(name, 'B1')} against three Bot3."
            for name in SEARCHES
        ),
    ]


def draw(result: Result) -> dict[str, Any]:
    rows = [row for row in result["rows"] if row["name"] in ALONE]
    columns = {"B1": "against three Bot3", "N1": "against three of best"}
    return {"networks": by_generation(rows, columns, "games lost, %")}
