"""The page of rule-changes."""

from collections.abc import Mapping
from typing import Any

from cardai.experiments.machinery.charts import chart, dots, key, level
from cardai.experiments.machinery.words import (
    Result,
    about,
    is_open,
    percent,
    points,
    rows_by_place,
    rows_where,
    series_of,
    size_of,
)
from cardai.experiments.rule_changes import COST, LOST, SHARE, VARIANTS, other_rules, trained_under, under

NOTES = (
    "A pair: one network trained under each set of rules. Both play the same deals, with rotated seats; each pair"
    " has other deals. Student-t interval over pairs of networks; it includes the error of training and of play.",
    "The thesis gives no number. We read its two sentences so: a network that plays by other rules still loses less"
    f" than {SHARE:g} % (robust), and loses more than one trained under them (the training rules matter).",
    "One pair: the same deals compared one by one; the interval holds the error of play alone.",
)

LABELS = {
    COST: "Games lost, percentage points: network trained under the other rules minus network trained under these",
    "Cross-entropy on test states of its own rules, balanced, divided by game": "Cross-entropy on test states of its"
    " own rules, balanced, split by game",
}


NAMES = {"thesis": "the program's rules", "appendix": "the appendix' rules"}


def answers(result: Result) -> list[str]:
    rows = rows_by_place(result)
    costs = {rules: rows[COST, under(rules), "all pairs"]["figure"] for rules in VARIANTS}
    brief = {rules: "no difference is shown" if is_open(cost) else _in_brief(cost) for rules, cost in costs.items()}
    lines = [
        " ".join(f"By {NAMES[rules]} {words}." for rules, words in sorted(brief.items(), key=lambda item: item[1])),
        "The thesis has two sets of rules: its program's, and its appendix', by which people play.",
    ]
    for rules, cost in costs.items():
        lines.append(
            f"By {NAMES[rules]}, games lost, trained by the other rules less trained by these: {points(cost)}."
        )
    for rules in VARIANTS:
        moved, own = (rows[LOST, trained_under(name), under(rules)] for name in (other_rules(rules), rules))
        beside = {"reproduced": "less than", "undecided": "not shown to differ from", "missed": "more than"}
        beside["undecidable"] = beside["undecided"]
        lines.append(
            f"By {NAMES[rules]}, networks trained by the other rules lose {percent(moved)} of their games,"
            f" {beside[moved['verdict']]} a fair share of {SHARE:g} %. Those trained by these rules lose"
            f" {percent(own)}."
        )
    return lines


def _in_brief(cost: Mapping[str, Any]) -> str:
    """A difference that is not 0, of networks trained by the other rules."""
    side = "more" if cost["point"] > 0 else "less"
    return f"a network trained by the others loses {about(size_of(cost), unit=' points')} {side}"


def draw(result: Result) -> dict[str, Any]:
    figure, (upper, lower) = chart(2, height=2.8)
    lost = rows_where(result, table=LOST)
    dots(upper, series_of(lost, "name", lambda row: row["column"].replace(" ", "\n", 1)))
    level(upper, SHARE, "fair share", across=False)
    upper.set_xlabel("games lost against three Bot3, %")
    dots(lower, series_of(rows_where(result, table=COST), "name", "column"))
    level(lower, 0.0, "no difference", across=False, style=":")
    lower.set_xlabel("cost of the other rules, percentage points")
    key(figure)
    return {"rules": figure}
