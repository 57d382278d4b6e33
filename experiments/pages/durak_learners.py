"""The page of durak-learners."""

from collections.abc import Mapping
from typing import Any

from cardai.experiments.durak_learners import CLAIMS, EARLIER, ENDINGS, LEARNERS, LEARNING, NODES, NOT_LOST, ROWS
from cardai.experiments.machinery.charts import COLOURS, chart, key, lines, logarithmic
from cardai.experiments.machinery.words import (
    Result,
    about,
    percent,
    rows_by_place,
    rows_where,
    series_of,
    verdict_words,
)

NOTES = (
    "Games not lost: by the rules of the student report, the same deals for all, seats rotated. A drawn game is not"
    " lost.",
    f"Before the end of its training, a learner is measured with {100 // EARLIER} % of the games used at the end.",
    "One network is trained for tables of four and one for tables of two. Policies draw their moves at random by their"
    " probabilities.",
    "Endings: decisions against thrifty in which some move loses score, found by the exact solver. Unsolved:"
    f" decisions for which the solver needs more than {NODES:,} positions.",
    "Training time: a policy's time includes its games; an evaluator's does not, because its games are played before.",
)

LABELS = {
    LEARNING: "Training time, for tables of two and of four",
    "s": "seconds",
    "deep less shallow": "deep minus shallow",
}


def answers(result: Result) -> list[str]:
    ends, solved = _ends(result), rows_by_place(result)
    ours, ppo = (ends[name, ROWS["D3"]] for name in ("evaluator", "ppo"))
    nfsp = max(
        (ends[f"nfsp-{kind}", ROWS["D3"]] for kind in ("shallow", "deep")), key=lambda row: row["figure"]["point"]
    )
    best, best_ppo = (solved[ENDINGS, name, "best move played, %"] for name in ("evaluator", "ppo"))
    three, one = (ends["ppo", ROWS[row]] for row in ("D1", "D2"))
    shallow, deep = (ends[f"nfsp-{name}", ROWS["D2"]]["figure"] for name in ("shallow", "deep"))
    nfsps = "Against one random player NFSP's"
    if max(shallow["high"] or 100, deep["high"] or 100) < 50:
        nfsps = "NFSP plays worse than random: against one random player the"
    return [
        "Not ranked: they trained for different lengths. Against one hand-written player the evaluator avoids losing in"
        f" {about(ours)} of games, PPO in {about(ppo)}.",
        f"The evaluator judges positions. After learning from {_games(ours)} it avoids losing in {percent(ours)} of"
        " games against one defensive player.",
        f"PPO avoids losing in {percent(ppo)} after {_games(ppo)}, NFSP in {percent(nfsp)} after {_games(nfsp)}.",
        "Each method trained one network.",
        f"In endings the evaluator finds the best move in {percent(best)} of decisions, PPO in {percent(best_ppo)}.",
        f"Against three random players PPO avoids losing in {percent(three, 2)} of its games. The student report says"
        f" 99 %: {verdict_words(three)}.",
        f"Against one random player it is {percent(one, 2)}. The student report says 83 to 92 %: {verdict_words(one)}.",
        f"{nfsps} shallow network avoids losing in {percent(shallow)} of its games, the deep one in {percent(deep)}.",
    ]


def _ends(result: Result) -> dict[tuple[str, str], Mapping[str, Any]]:
    return {(_learner(row), row["column"]): row for row in rows_where(result, table=NOT_LOST)}


def _learner(row: Mapping[str, Any]) -> str:
    return row["name"].partition(",")[0]


def _games(row: Mapping[str, Any]) -> str:
    return row["name"].partition(", ")[2]


def draw(result: Result) -> dict[str, Any]:
    figure, panels = chart(len(ROWS), height=2.4)
    for axes, (row_key, title) in zip(panels, ROWS.items(), strict=True):
        rows = rows_where(result, table=NOT_LOST, column=title)
        series = series_of(rows, _learner, lambda row: int(_games(row).split()[0].replace(",", "")))
        lines(axes, {name: sorted(series[name]) for name in LEARNERS})
        if row_key in CLAIMS:
            low, _, high = str(CLAIMS[row_key]).partition("-")
            span = float(low) - 0.4, float(high or low) + 0.4
            axes.axhspan(*span, color=COLOURS[8], alpha=0.3, label="the student report's PPO")
        logarithmic(axes.xaxis)
        axes.set(title=f"against {title}", ylabel="games not lost, %")
    panels[-1].set_xlabel("games trained on")
    key(figure)
    return {"learners": figure}
