"""The page of tictactoe."""

from dataclasses import asdict, replace
from typing import Any

from cardai.experiments.machinery.charts import COLOURS, chart, key, level, logarithmic
from cardai.experiments.machinery.findings import Measurement, difference
from cardai.experiments.machinery.words import Result, is_open, rows_by_place, worded
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
    rows = rows_by_place(result)
    won = {body: rows[WON, f"{TITLES['thesis']} protocol, {body}", "best iteration"] for body in BODIES}
    ends = [curve[-1] for name, curve in result["drawn"]["curves"].items() if name.startswith("ours")]
    perfect = sum(end["losing_lines"] == 0 and end["win"] >= GOAL for end in ends)
    gap = asdict(difference(*(Measurement(**row["figure"]) for row in won.values())))
    first, second = (body.upper() for body in won)
    n = next(iter(won.values()))["figure"]["n"]
    if is_open(gap):
        verdict = f"{n} networks of each are too few to rank the two"
    else:
        verdict = f"the {first if gap['point'] > 0 else second} is better"
    most = rows[WON, "most wins, never losing", "last iteration"]["figure"]
    return [
        "By the thesis' protocol, at learning rates of our own (it gives none), "
        + " and ".join(
            f"{'an' if body == 'mlp' else 'a'} {body.upper()} wins {worded(row['figure'], 1, ' %')} (thesis"
            f" {CLAIMS[body]:g} %)"
            for body, row in won.items()
        )
        + f" of its games against random play; {verdict}. A player that never loses can win at most"
        f" {worded(most, 1, ' %')}.",
        f"By our protocol, {perfect} of {len(ends)} networks never lose, whatever the opponent plays, and win at least"
        f" {100 * GOAL:.0f} % of games against random play. They train only on self-play.",
    ]


def in_readme(result: Result) -> tuple[str, str, str]:
    rows = rows_by_place(result)
    won = {body: rows[WON, f"{TITLES['thesis']} protocol, {body}", "best iteration"]["figure"] for body in BODIES}
    return (
        "Tic-Tac-Toe: games won against random play, the thesis' protocol",
        ", ".join(f"{body.upper()} {worded(figure, 1, ' %')}" for body, figure in won.items())
        + f", n {won['mlp']['n']} networks each",
        ", ".join(f"{body.upper()} {CLAIMS[body]:g} %" for body in won),
    )


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
        won.set_ylim(30, 100)
        won.set_title(f"{TITLES[protocol]} protocol")
        won.set_ylabel("games won, %")
        logarithmic(lost.yaxis, linear_below=10)
        lost.set_ylim(bottom=0)
        lost.set_ylabel("losing lines")
    panels[-1].set_xlabel("iterations")
    key(figure)
    return {"curves": figure}
