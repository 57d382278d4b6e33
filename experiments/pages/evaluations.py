"""The page of evaluations."""

from typing import Any

from cardai.experiments.evaluations import WORST
from cardai.experiments.machinery.charts import COLOURS, INK, MARKERS, chart, key
from cardai.experiments.machinery.words import Result, about, percent, rows_where

NOTES = (
    "Each seat is evaluated after its own move, before any card is drawn, in a sampled state that agrees with what that"
    " seat knows. It keeps this evaluation until its next move.",
    "Before, after: the seat's evaluation after its previous move and after this move. 1 is certain not to lose.",
    "Own choice: the part of the change that the seat's own choices since the previous evaluation caused. It is the"
    " evaluation of the move played minus that of the best move, 0 if the seat chose the best move. The rest comes from"
    " other seats and from chance.",
    "Lowest-rated seat: the seat with the lowest evaluation after that share of the moves. A random guess names the"
    " loser in 25 % of games.",
    "Seats are rotated. Wilson interval; games of one deal form one cluster. A game counts once every seat has moved.",
    "`cardai analyse FILE --figure game.svg` analyses any recorded game.",
)

LABELS = {WORST: "Games lost by the lowest-rated seat, %", "games judged by best": "games evaluated by best"}


def answers(result: Result) -> list[str]:
    half, later = (rows_where(result, table=WORST, column=share)[0] for share in ("half", "three quarters"))
    game = result["drawn"]["game"]
    biggest = game["swings"][0]
    return [
        f"Halfway through a game of four, the seat that it rates worst goes on to lose in {about(half)} of games; by"
        " chance 25 %.",
        f"The share is {percent(half)} after half of the moves and {percent(later)} after three quarters.",
        "Each seat is rated by what it can see itself.",
        f"In the game shown, move {biggest['ply']} changed an evaluation most: p{biggest['seat']}"
        f" ({game['names'][biggest['seat']]}) {'fell' if biggest['after'] < biggest['before'] else 'rose'} from"
        f" {biggest['before']:.2f} to {biggest['after']:.2f}.",
    ]


def draw(result: Result) -> dict[str, Any]:
    figure, (axes,) = chart(height=4.2)
    game = result["drawn"]["game"]
    for seat, (name, colour, marker) in enumerate(zip(game["names"], COLOURS, MARKERS, strict=False)):
        points = [(ply, value) for ply, one, value in game["values"] if one == seat]
        points.append((game["plies"], game["scores"][seat]))
        style = {"where": "post", "color": colour, "marker": marker, "markersize": 3, "linewidth": 1.3}
        axes.step(*zip(*points, strict=True), label=f"p{seat}, {name}", **style)
    for i, swing in enumerate(game["swings"], 1):
        place = swing["ply"], swing["after"]
        axes.annotate(f"({i})", place, xytext=(0, 8), textcoords="offset points", ha="center", color=INK)
    axes.set(xlabel="moves", ylabel=game["numbers"], ylim=(-0.03, 1.12))
    key(figure)
    return {"game": figure}
