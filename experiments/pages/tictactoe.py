"""The page of tictactoe."""

from dataclasses import replace
from typing import Any

from cardai.experiments.machinery.charts import COLOURS, chart, key, level, logarithmic
from cardai.experiments.machinery.words import Result, is_open, percent, rows_by_place, rows_where
from cardai.experiments.tictactoe import (
    BODIES,
    CLAIMS,
    GOAL,
    LOST,
    OPEN,
    PROTOCOLS,
    SCALES,
    THESIS,
    WON,
    OpenSetting,
)

LABELS = {
    WON: "Our protocol and players without a network: games won against evenly random moves, %",
    LOST: "Losing lines after the last iteration: how many sequences of the opponent's moves beat the network",
    "Seconds": "Seconds of play and training, our protocol",
    "best iteration": "after the best iteration",
    "last iteration": "after the last iteration",
    "most wins, never losing": "the player who wins most among those who never lose",
    "most wins": "the player who wins most",
    "random": "random player",
}
ITS = [setting for setting in OPEN if setting.is_the_thesis]
"""The settings that agree with all that the thesis says."""


def notes(result: Result) -> list[str]:
    fields = SCALES[result["scale"]].fields
    thesis, ours = (replace(PROTOCOLS[name], **fields) for name in ("thesis", "ours"))
    return [
        f"The thesis' protocol: {thesis.iterations} iterations of {thesis.games:,} games of the network against a"
        f" random player; {100 * thesis.epsilon:.0f} % of the network's moves are random; it trains on the games of"
        " the most recent iteration. The thesis does not say how fast the network learns and how many steps it makes;"
        f" here {thesis.steps} steps of {thesis.training['batch']} states an iteration.",
        "Labels: not_lost is 1 for a win or a draw, as in the thesis; score is 1, 1/2 and 0 for a win, a draw and a"
        " loss; win is 1 for a win.",
        "A claim of the thesis is about one network, so its error is taken to be the spread of ours. CNN less MLP: of"
        " networks with the same seed.",
        f"Our protocol: {ours.iterations} iterations of {ours.games:,} games of self-play, the first iteration by"
        f" random players; {100 * ours.epsilon:.0f} % of moves are uniformly random, the others are drawn by softmax"
        f" of their scores at temperature {ours.temperature:g}; the network trains on the games of the latest"
        f" {ours.window} iterations, with the label score.",
        "A network's number is exact: it comes from the whole game tree and is averaged over playing first and second."
        " Student-t interval over networks: it is that of the mean of all networks trained so.",
        "Best: after the iteration with the most games won, as the thesis reports it. Last: after the last iteration.",
        "Losing lines are counted after the last iteration. A network without losing lines never loses. A player who"
        " never loses can win 95.56 % of games at most.",
    ]


def answers(result: Result) -> list[str]:
    rows = rows_by_place(result)
    spans = {body: [_at(rows, setting, body) for setting in ITS] for body in BODIES}
    reached = "; ".join(
        f"{'an' if body == 'mlp' else 'a'} {body.upper()} {_span(spans[body])} (thesis {CLAIMS[body]:g} %)"
        for body in BODIES
    )
    ends = [curve[-1] for name, curve in result["drawn"]["curves"].items() if name.startswith("ours")]
    perfect = sum(end["losing_lines"] == 0 and end["win"] >= GOAL for end in ends)
    by_score = {body: percent(max(_of(rows, "score", body), key=_point)) for body in BODIES}
    most = rows[WON, "most wins, never losing", "last iteration"]
    differences = rows_where(result, column="CNN less MLP")
    apart = [row for row in differences if row["claim"] and not is_open(row["figure"])]
    return [
        f"Yes.{'' if apart else ' Neither is shown to learn it better:'} an MLP wins {_span(spans['mlp'])}"
        f" against random play, a CNN {_span(spans['cnn'])}.",
        f"That is by the thesis' protocol. It does not say its learning rate. From slow to fast: {reached}.",
        "The label makes the difference. With draws labelled 1/2 in place of 1, the best rate gives"
        f" {by_score['mlp']} for an MLP and {by_score['cnn']} for a CNN.",
        f"The CNN is shown to be ahead of the MLP at {sum(_point(row) > 0 for row in apart)} of {len(ITS)} rates.",
        f"Games won without random moves less those won with them: {_without(rows)}, a mean over labels and rates.",
        f"By our protocol, {perfect} of {len(ends)} networks never lose, whatever the opponent plays, and win at least"
        f" {100 * GOAL:.0f} % of games against random play; {percent(most)} is the most that a player who never loses"
        " can win. They train only on self-play.",
    ]


def _at(rows: Any, setting: OpenSetting, body: str) -> Any:
    return rows[THESIS, setting.name, body]


def _of(rows: Any, label: str, body: str) -> list[Any]:
    return [_at(rows, setting, body) for setting in OPEN if setting.label == label and setting.epsilon]


def _point(row: Any) -> float:
    return row["figure"]["point"]


def _span(rows: list[Any]) -> str:
    return " to ".join(f"{_point(row):.0f}" for row in (min(rows, key=_point), max(rows, key=_point))) + " %"


def _without(rows: Any) -> str:
    """The mean over settings of what the network without random moves wins more, in points."""
    pairs = [
        (_at(rows, setting, body), _at(rows, replace(setting, epsilon=0.0), body))
        for setting in OPEN
        if setting.epsilon
        for body in BODIES
    ]
    mean = sum(_point(without) - _point(having) for having, without in pairs) / len(pairs)
    return f"{mean:+.1f} points"


def draw(result: Result) -> dict[str, Any]:
    figure, panels = chart(len(ITS) + 2, height=2.1)
    colours = dict(zip(BODIES, COLOURS, strict=False))
    *its, won, lost = panels
    for name, curve in result["drawn"]["curves"].items():
        kind, body, _ = name.split("-")
        iterations = [point["iteration"] for point in curve]
        style: dict[str, Any] = {"color": colours[body], "alpha": 0.8, "linewidth": 1.2, "marker": "."}
        axes = won if kind == "ours" else its[[setting.key for setting in ITS].index(kind)]
        axes.plot(iterations, [100 * point["win"] for point in curve], label=body.upper(), **style)
        if kind == "ours":
            lost.plot(iterations, [point["losing_lines"] for point in curve], **style)
    for setting, axes in zip(ITS, its, strict=True):
        for (body, claim), dashes in zip(CLAIMS.items(), ("--", ":"), strict=True):
            level(axes, claim, f"thesis, {body.upper()}: {claim:.0f} %", style=dashes)
        axes.set(title=f"the thesis' protocol, rate {setting.rate:g}")
    won.set(title="our protocol")
    for axes in (*its, won):
        axes.set(ylim=(30, 100), ylabel="games won, %")
    logarithmic(lost.yaxis, linear_below=10)
    lost.set(ylim=(0, None), ylabel="losing lines")
    panels[-1].set_xlabel("iterations")
    key(figure)
    return {"curves": figure}
