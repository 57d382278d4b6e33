"""The page of mlp-vs-cnn."""

from collections.abc import Mapping
from typing import Any

from experiments.machinery.charts import chart, dots, key, lines, logarithmic
from experiments.machinery.words import Result, is_open, rows_by_place, size_of, worded
from experiments.mlp_vs_cnn import GAMES, KINDS, PAIRS, ComparedGame, differences_table, networks_table

NOTES = (
    "Networks: means over seeds. A seed decides the weights, the split, the order of the states and how cells are"
    " shuffled.",
    "Differences: network by network with equal seeds; Student's interval holds the error of training and of play.",
    "Equal seconds: the MLP makes as many steps more as it learns from more states a second, without compilation.",
    "Cells shuffled: the same CNN, but the cells of its planes have changed places at random, in all planes alike.",
    "Own size: the MLP's. The CNN's own size is the one at which sizes are equal.",
    "BCE of states learned: measured on as many of them as there are test states. Far below test BCE, it is"
    " overfitting.",
    "Losing lines: sequences of the opponent's moves that beat the network. 0 is perfect safety.",
    "Rows scored a second: 4,096 at once, the median of five rounds with the lowest and highest.",
)

FIRST, SHUFFLED = "equal data and size", "its cells shuffled"


def answers(result: Result) -> list[str]:
    """The answer in one line, then the other conditions of each game and what may explain them."""
    rows = rows_by_place(result)
    headline = "; ".join(f"in {setup.title} {compared(rows, setup, FIRST)}" for setup in GAMES.values())
    return [f"At equal data and size: {headline}.", *(_details(rows, setup) for setup in GAMES.values())]


def compared(rows: Mapping[Any, Any], setup: ComparedGame, pair: str) -> str:
    """Which body plays better, in words: "the MLP wins 0.35 points more often (0.10 to 0.60)"."""
    figure = rows[differences_table(setup), pair, f"games {setup.strength}, points"]["figure"]
    if is_open(figure):
        return f"no difference is shown (CNN less MLP {worded(figure, 2, ' points')})"
    is_more = figure["point"] > 0
    winner = "CNN" if is_more == (setup.sign > 0) else "MLP"
    verb, often = {
        "won": ("wins", "more often"), "lost": ("loses", "less often"), "not lost": ("avoids losing", "more often"),
    }[setup.strength]  # fmt: skip
    return f"the {winner} {verb} {worded(size_of(figure), 2).replace(' (', f' points {often} (', 1)}"


def _details(rows: Mapping[Any, Any], setup: ComparedGame) -> str:
    others = [pair for pair in PAIRS if pair not in (FIRST, SHUFFLED)]
    parts = "; ".join(f"{pair}, {compared(rows, setup, pair)}" for pair in others)
    loss = rows[differences_table(setup), SHUFFLED, "test BCE"]["figure"]
    if is_open(loss):
        cells = "Shuffling the CNN's cells makes no difference that is shown"
    else:
        cells = f"Shuffling the CNN's cells makes it {'worse' if loss['point'] < 0 else 'better'}"
    states = {kind: rows[networks_table(setup), KINDS[kind], "M states"]["figure"]["point"] for kind in ("long", "cnn")}
    return (
        f"{setup.title}, other conditions: {parts}. {cells}: its test BCE less that of the shuffled one is"
        f" {worded(loss, 4)}. An MLP of the CNN's size learns from {states['long'] / states['cnn']:.1f} times as many"
        " states in the same time."
    )


def in_readme(result: Result) -> tuple[str, str, str]:
    """Question, answer and the source's figure."""
    rows = rows_by_place(result)
    parts = []
    for setup in GAMES.values():
        figure = rows[differences_table(setup), FIRST, f"games {setup.strength}, points"]["figure"]
        better = "CNN" if (figure["point"] > 0) == (setup.sign > 0) else "MLP"
        answer = "undecided" if is_open(figure) else f"{better} by {worded(size_of(figure), 2)}"
        parts.append(f"{setup.title} {answer}, n {figure['n']}")
    return (
        "MLP or CNN, equal data and size, percentage points (n pairs of networks)",
        "; ".join(parts),
        "; ".join(
            f"{setup.title} {str(setup.claim).removesuffix(' better')}" for setup in GAMES.values() if setup.claim
        ),
    )


def draw(result: Result) -> dict[str, Any]:
    """How well both bodies play in each condition; and test loss over seconds of training."""
    return {"strength": _strength(result["drawn"]), "loss": _loss(result["drawn"])}


def _strength(drawn: Mapping[str, Any]) -> Any:
    figure, panels = chart(len(drawn), height=2.7)
    for axes, (name, kinds) in zip(panels, drawn.items(), strict=True):
        sides = (("CNN", 0), ("MLP, or CNN with shuffled cells", 1))
        dots(axes, {label: [(pair, *_three(kinds[PAIRS[pair][side]]["share"])) for pair in PAIRS]
                    for label, side in sides})  # fmt: skip
        axes.set_title(f"{GAMES[name].title}: games {GAMES[name].strength}, %")
    key(figure)
    return figure


def _loss(drawn: Mapping[str, Any]) -> Any:
    figure, panels = chart(len(drawn), height=2.7)
    for axes, (name, kinds) in zip(panels, drawn.items(), strict=True):
        lines(axes, {KINDS[kind]: [(kinds[kind]["seconds"], *_three(kinds[kind]["test"]))] for kind in KINDS})
        axes.set_title(GAMES[name].title)
        logarithmic(axes.xaxis)
        axes.set_ylabel("test BCE")
    panels[-1].set_xlabel("seconds of training")
    key(figure)
    return figure


def _three(figure: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    return figure["point"], figure["low"], figure["high"]
