"""The page of training-choices."""

from typing import Any

from cardai.experiments.machinery.charts import dotted
from cardai.experiments.machinery.words import Result, percent, rows_by_place, rows_where, series_of, worded
from cardai.experiments.training_choices import BASE, COST, FALL, FAST, LEARNED, LOST, RISE, SLOW

NOTES = (
    "The base learns from games of ten kinds of hand-written players, from random play to Bot3, from balanced states"
    " (as many of losers as of others), for about two passes, at a rate that falls from 0.001. Each other network has"
    " one choice changed. All of a repeat share its seed and play the same deals, with rotated seats.",
    "Less the base: of networks of the same repeat. Student-t interval over repeats; it includes the errors of training"
    " and of play. The sources expect a side and give no figures.",
    "Batches eight times as large: as many states in all, so an eighth of the steps; other ways to keep step and batch"
    " in balance were not tried.",
    "Validation less training: cross-entropies at the end of training; the one of training is of states as they are"
    " learned, with dropout. Validation at the end less its lowest: 0 if it was still falling.",
)

LABELS = {
    LOST: "Games lost against three Bot3, %",
    COST: "Games lost, percentage points: network with the choice minus the base",
    LEARNED: "Cross-entropy on balanced states, split by game",
    "B1": "three Bot3",
    "test": "test states",
}


def answers(result: Result) -> list[str]:
    rows = rows_by_place(result)
    cost = rows_where(result, table=COST)
    worse, better, open_ = ([], [], [])
    for row in cost:
        low, high = row["figure"]["low"], row["figure"]["high"]
        side = open_ if low is None or low <= 0 <= high else worse if low > 0 else better
        side.append(f"{row['name']} {worded(row['figure'], 1)}")
    rise = rows[LEARNED, f"{FAST} less {SLOW}", RISE]
    gap = rows[LEARNED, "dropout 0.4", FALL]
    return [
        f"Of {len(cost)} changes to the training, {len(worse)} make the network worse, {len(better)} better, and"
        f" {len(open_)} are not shown to matter.",
        f"The base loses {percent(rows[LOST, BASE, 'B1'])} of its games against three Bot3.",
        *(
            f"{words}, in percentage points of games lost: {'; '.join(side)}."
            for words, side in (("Worse", worse), ("Better", better), ("Not shown to matter", open_))
            if side
        ),
        f"Thirty passes over a tenth of the games raise the cross-entropy of validation states from its lowest by"
        f" {worded(rise['figure'], 3)} more at the rate 0.001 than at 0.0001.",
        f"With dropout 0.4 the cross-entropy of validation states less that of training is {worded(gap['figure'], 3)}."
        f" In the base it is {worded(rows[LEARNED, BASE, FALL]['figure'], 3)}.",
    ]


def draw(result: Result) -> dict[str, Any]:
    series = series_of(rows_where(result, table=COST), lambda row: "choice", "name")
    words = "games lost against three Bot3, less those of the base, percentage points"
    return {"choices": dotted(series, words, 3.6, (0.0, "the base"), columns=0)}
