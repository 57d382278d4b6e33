"""The page of tictactoe."""

from typing import Any

from experiments.machinery.charts import COLOURS, chart, key, level, logarithmic
from experiments.machinery.words import Result, rows_by_place, worded
from experiments.tictactoe import BODIES, CLAIMS, GOAL, PROTOCOLS, TITLES, WON

NOTES = (
    "A network's figure is exact: it comes from the whole game tree, both seats taken together. Intervals are Student's"
    " over networks and are those of the recipe's mean.",
    "Best: after the iteration with the most games won, as the thesis reports it. Last: after the last iteration.",
    "A network with no losing line never loses. A player who never loses can win 95.56 % of games at most.",
    "Seconds: play and training of one network; the first one includes compilation.",
)


def answers(result: Result) -> list[str]:
    """The answer in one line, then what else the tables show."""
    rows = rows_by_place(result)
    won = {body: rows[WON, f"{TITLES['thesis']} protocol, {body}", "best iteration"] for body in BODIES}
    ends = [curve[-1] for name, curve in result["drawn"]["curves"].items() if name.startswith("ours")]
    perfect = sum(end["losing_lines"] == 0 and end["win"] >= GOAL for end in ends)
    return [
        "By the thesis' protocol "
        + " and ".join(
            f"{'an' if body == 'mlp' else 'a'} {body.upper()} wins {worded(row['figure'], 1, ' %')}"
            for body, row in won.items()
        )
        + " of its games against random play; the thesis reports "
        + " and ".join(f"{CLAIMS[body]:g} %" for body in won)
        + ".",
        f"By our protocol, {perfect} of {len(ends)} networks lose to no sequence of the opponent's moves and win at"
        f" least {100 * GOAL:.0f} % of games against random play. They learn from their own games alone.",
    ]


def in_readme(result: Result) -> tuple[str, str, str]:
    """Question, answer and the source's figure."""
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
