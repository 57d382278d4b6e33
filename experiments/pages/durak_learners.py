"""The page of durak-learners."""

from collections.abc import Mapping
from typing import Any

from experiments.durak_learners import CLAIMS, EARLIER, ENDINGS, LEARNERS, NODES, NOT_LOST, ROWS
from experiments.machinery.charts import COLOURS, chart, key, lines, logarithmic
from experiments.machinery.words import VERDICT_WORDS, Result, interval_of, rows_by_place, worded

NOTES = (
    "Games not lost: by the rules of the student report, the same deals for all, seats rotated. A draw is not lost.",
    f"Before its end a learner is measured with {100 // EARLIER} % of the games.",
    "One network is trained for tables of four and one for tables of two. Policies draw their moves at random by their"
    " probabilities.",
    "Endings: decisions against thrifty in which some move loses score, by the exact solver. Unsolved are those that"
    f" need more than {NODES:,} positions.",
    "Seconds of training: a policy's include its games, an evaluator's do not, since its games are played before.",
)


def answers(result: Result) -> list[str]:
    """The answer in one line, then what else the tables show."""
    ends, solved = _ends(result), rows_by_place(result)
    ours, ppo = (ends[name, ROWS["D3"]] for name in ("evaluator", "ppo"))
    best = {name: solved[ENDINGS, name, "best move played, %"]["figure"] for name in ("evaluator", "ppo")}
    three, one = (ends["ppo", ROWS[row]] for row in ("D1", "D2"))
    shallow, deep = (ends[f"nfsp-{name}", ROWS["D2"]]["figure"] for name in ("shallow", "deep"))
    return [
        f"The evaluator does not lose {worded(ours['figure'], 1, ' %')} of its games against one defensive player,"
        f" after {_games(ours)}; PPO does not lose {worded(ppo['figure'], 1, ' %')}, after {_games(ppo)}.",
        f"In endings the evaluator finds the best move in {worded(best['evaluator'], 1, ' %')} of decisions, PPO in"
        f" {worded(best['ppo'], 1, ' %')}.",
        f"PPO does not lose {worded(three['figure'], 2, ' %')} against three random players; the student report says"
        f" 99 %: {VERDICT_WORDS[three['verdict']]}. Against one it is {worded(one['figure'], 2, ' %')}; the report says"
        f" 83 to 92 %: {VERDICT_WORDS[one['verdict']]}.",
        f"NFSP plays worse than random: against one random player the shallow network does not lose"
        f" {worded(shallow, 1, ' %')}, the deep one {worded(deep, 1, ' %')}."
        if max(shallow["high"] or 100, deep["high"] or 100) < 50
        else f"Against one random player NFSP's shallow network does not lose {worded(shallow, 1, ' %')}, the deep one"
        f" {worded(deep, 1, ' %')}.",
    ]


def in_readme(result: Result) -> tuple[str, str, str]:
    """Question, answer and the source's figure."""
    ends = _ends(result)
    ours, ppo = (ends[name, ROWS["D3"]] for name in ("evaluator", "ppo"))
    return (
        "Durak: games not lost against one defensive player",
        f"evaluator {worded(ours['figure'], 1, ' %')}, PPO {worded(ppo['figure'], 1, ' %')}, n"
        f" {ours['figure']['n']:,} each",
        "none",
    )


def _ends(result: Result) -> dict[tuple[str, str], Mapping[str, Any]]:
    """The last row of each learner at each table."""
    return {(row["name"].partition(",")[0], row["column"]): row for row in result["rows"] if row["table"] == NOT_LOST}


def _games(row: Mapping[str, Any]) -> str:
    return row["name"].partition(", ")[2]


def draw(result: Result) -> dict[str, Any]:
    """Games not lost over games learned from, a panel for each of the report's opponents."""
    figure, panels = chart(len(ROWS), height=2.4)
    for axes, (row_key, title) in zip(panels, ROWS.items(), strict=True):
        series: dict[str, list[Any]] = {name: [] for name in LEARNERS}
        for row in result["rows"]:
            if (row["table"], row["column"]) == (NOT_LOST, title):
                learner, _, games = row["name"].partition(", ")
                series[learner].append((int(games.split()[0].replace(",", "")), *interval_of(row)))
        lines(axes, {name: sorted(points) for name, points in series.items()})
        if row_key in CLAIMS:
            low, _, high = str(CLAIMS[row_key]).partition("-")
            span = float(low) - 0.4, float(high or low) + 0.4
            axes.axhspan(*span, color=COLOURS[8], alpha=0.3, label="the student report's PPO")
        logarithmic(axes.xaxis)
        axes.set_title(f"against {title}")
        axes.set_ylabel("games not lost, %")
    panels[-1].set_xlabel("games learned from")
    key(figure)
    return {"learners": figure}
