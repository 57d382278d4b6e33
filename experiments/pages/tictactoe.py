"""The page of tictactoe."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cardai.experiments.machinery.charts import COLOURS, chart, key, level, logarithmic
from cardai.experiments.machinery.words import Result, gap, is_open, percent, rows_by_place
from cardai.experiments.tictactoe import BODIES, CLAIMS, GOAL, LOST, PROTOCOLS, SCALES, TITLES, WON

LABELS = {
    WON: "Games won against uniformly random moves, %",
    LOST: "Losing lines after the last iteration: how many sequences of the opponent's moves beat the network",
    "Seconds": "Seconds of play and training",
    "best iteration": "after the best iteration",
    "last iteration": "after the last iteration",
    "most wins, never losing": "the player who wins most among those who never lose",
    "most wins": "the player who wins most",
    "random": "random player",
}


def notes(result: Result) -> list[str]:
    """How the tables are read."""
    fields = SCALES[result["scale"]].fields
    thesis, ours = (replace(PROTOCOLS[name], **fields) for name in ("thesis", "ours"))
    return [
        f"The thesis' protocol: {thesis.iterations} iterations of {thesis.games:,} games of the network against a"
        f" random player; {100 * thesis.epsilon:.0f} % of the network's moves are random; it trains on the games of"
        " the most recent iteration.",
        f"Our protocol: {ours.iterations} iterations of {ours.games:,} games of self-play, the first iteration by"
        f" random players; {100 * ours.epsilon:.0f} % of moves are uniformly random, the others are drawn by softmax"
        f" of their scores at temperature {ours.temperature:g}; the network trains on the games of the latest"
        f" {ours.window} iterations.",
        "A network's number is exact: it comes from the whole game tree and is averaged over playing first and second."
        " Student-t interval over networks: it is that of the mean of all networks trained so.",
        "Best: after the iteration with the most games won, as the thesis reports it. Last: after the last iteration.",
        "Losing lines are counted after the last iteration. A network without losing lines never loses. A player who"
        " never loses can win 95.56 % of games at most.",
        "Seconds: play and training of one network; the time of the first network includes compilation.",
    ]


def answers(result: Result) -> list[str]:
    won = _won(result)
    ends = [curve[-1] for name, curve in result["drawn"]["curves"].items() if name.startswith("ours")]
    perfect = sum(end["losing_lines"] == 0 and end["win"] >= GOAL for end in ends)
    apart = gap(won["mlp"], won["cnn"])
    verdict = f"the {'MLP' if apart['point'] > 0 else 'CNN'} is better"
    if is_open(apart):
        verdict = f"{won['mlp']['figure']['n']} networks of each are too few to rank the two"
    most = rows_by_place(result)[WON, "most wins, never losing", "last iteration"]
    return [
        f"By the thesis' protocol, at learning rates of our own (it gives none), an MLP wins {percent(won['mlp'])}"
        f" (thesis {CLAIMS['mlp']:g} %) and a CNN wins {percent(won['cnn'])} (thesis {CLAIMS['cnn']:g} %) of its games"
        f" against random play; {verdict}. A player that never loses can win at most {percent(most)}.",
        f"By our protocol, {perfect} of {len(ends)} networks never lose, whatever the opponent plays, and win at least"
        f" {100 * GOAL:.0f} % of games against random play. They train only on self-play.",
    ]


def in_readme(result: Result) -> tuple[str, str, str]:
    won = _won(result)
    return (
        "Tic-Tac-Toe: games won against random play, the thesis' protocol",
        f"MLP {percent(won['mlp'])}, CNN {percent(won['cnn'])}, n {won['mlp']['figure']['n']} networks each",
        f"MLP {CLAIMS['mlp']:g} %, CNN {CLAIMS['cnn']:g} %",
    )


def _won(result: Result) -> dict[str, Mapping[str, Any]]:
    """The rows of the thesis' protocol, by body."""
    rows = rows_by_place(result)
    return {body: rows[WON, f"{TITLES['thesis']} protocol, {body}", "best iteration"] for body in BODIES}


def draw(result: Result) -> dict[str, Any]:
    """Games won and lines lost after each iteration, as in the thesis' Figure 4."""
    figure, panels = chart(2 * len(PROTOCOLS), height=2.1)
    colours = dict(zip(BODIES, COLOURS, strict=False))
    for number, protocol in enumerate(PROTOCOLS):
        won, lost = panels[2 * number : 2 * number + 2]
        for name, curve in result["drawn"]["curves"].items():
            kind, body, _ = name.split("-")
            if kind == protocol:
                iterations = [point["iteration"] for point in curve]
                style: dict[str, Any] = {"color": colours[body], "alpha": 0.8, "linewidth": 1.2, "marker": "."}
                won.plot(iterations, [100 * point["win"] for point in curve], label=body.upper(), **style)
                lost.plot(iterations, [point["losing_lines"] for point in curve], **style)
        if protocol == "thesis":
            for (body, claim), dashes in zip(CLAIMS.items(), ("--", ":"), strict=True):
                level(won, claim, f"thesis, {body.upper()}: {claim:.0f} %", style=dashes)
        won.set(ylim=(30, 100), title=f"{TITLES[protocol]} protocol", ylabel="games won, %")
        logarithmic(lost.yaxis, linear_below=10)
        lost.set(ylim=(0, None), ylabel="losing lines")
    panels[-1].set_xlabel("iterations")
    key(figure)
    return {"curves": figure}
