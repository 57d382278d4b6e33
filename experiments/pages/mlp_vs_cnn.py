"""The page of mlp-vs-cnn."""

from collections.abc import Mapping, Sequence
from typing import Any

from cardai.experiments.machinery.charts import chart, dots, key, lines, logarithmic
from cardai.experiments.machinery.words import (
    Result,
    interval_of,
    is_open,
    listed,
    points,
    rows_by_place,
    size_of,
    worded,
)
from cardai.experiments.mlp_vs_cnn import GAMES, KINDS, PAIRS, ComparedGame, differences_table, networks_table

NOTES = (
    "Networks: means over seeds. A seed decides the initial weights, the split of the data, the order of the states"
    " and how cells are shuffled.",
    "Differences: CNN minus the other network with the same seed. Student-t interval over pairs of networks; it"
    " includes the error of training and of play.",
    "Equal seconds: the MLP makes more training steps, so that both bodies train for the same time, without"
    " compilation.",
    "Cells shuffled: the same CNN, but the cells of its planes are permuted at random, in the same way in all planes.",
    "Own sizes: the MLP at its default size; the CNN is always at its default size.",
    "BCE: binary cross-entropy of the predicted and the real outcome. BCE on training states: measured on as many of"
    " them as there are test states. If it is far below the test BCE, the network overfits.",
    "Losing lines: sequences of the opponent's moves that beat the network. With 0 the network never loses.",
    "Rows scored a second: in a batch of 4,096, the median of five rounds, with the lowest and the highest round in"
    " parentheses. A row is what a network reads of one position.",
)

FIRST, SECONDS, SHUFFLED = "equal data and size", "equal seconds", "its cells shuffled"
SHUFFLED_CNN = "shuffled CNN"
SIDES = "CNN", "MLP, or CNN with shuffled cells"
LABELS = {
    "losing lines": "losing lines (lower is better)",
    "test BCE": "test BCE (lower is better)",
    "BCE of states learned": "BCE on training states",
    "s of learning": "training time, s",
    "M states": "states trained on, millions",
    "rows/s scored": "rows scored a second",
    SHUFFLED: "CNN minus CNN with shuffled cells",
}
for _name, _words in {
    "tictactoe": "games won against uniformly random moves, averaged over playing first and second; exact for each"
    " network",
    "moska": "games lost against three Bot3; the network evaluates the position after the move, before drawing",
    "durak": "games not lost against one defensive player, by the rules of the student report",
    "hearts": "share of the win against three players `duck`, one round with passing",
    "literature": "score of a team of two, a tie counted half, against two players `plausible`",
}.items():
    _setup = GAMES[_name]
    _direction, _side = ("higher", "above") if _setup.sign > 0 else ("lower", "below")
    LABELS |= {
        networks_table(_setup): f"{_setup.title}: networks; {_words}",
        differences_table(_setup): f"{_setup.title}: CNN minus MLP, seed by seed",
        f"{_setup.counted}, %": f"{_setup.counted}, % ({_direction} is better)",
        f"{_setup.counted}, points": f"{_setup.counted}, percentage points ({_side} 0: CNN better)",
    }


def answers(result: Result) -> list[str]:
    rows, setups = rows_by_place(result), [GAMES[name] for name in result["drawn"]]
    return [
        f"On the same states, with as many parameters: {_leads(rows, setups, FIRST)}.",
        f"In the same seconds, in which an MLP learns from more states: {_leads(rows, setups, SECONDS)}.",
        *(
            f"{setup.title}, same states and size: {compared(rows, setup, FIRST)}. Same seconds:"
            f" {compared(rows, setup, SECONDS)}."
            for setup in setups
        ),
        "Beside the same CNN with its cells shuffled, which has no neighbours to read:"
        f" {_leads(rows, setups, SHUFFLED, SHUFFLED_CNN)}.",
        "Other conditions are in the tables.",
    ]


def _leads(rows: Mapping[Any, Any], setups: Sequence[ComparedGame], pair: str, other: str = "MLP") -> str:
    """Where each body plays better: "the CNN is better in Moska and Literature; Durak is undecided"."""
    found: dict[str, list[str]] = {"CNN": [], other: [], "undecided": []}
    for setup in setups:
        figure = _difference(rows, setup, pair)
        body = "undecided" if is_open(figure) else "CNN" if figure["point"] * setup.sign > 0 else other
        found[body].append(setup.title)
    parts = [f"the {body} is better in {listed(found[body])}" for body in ("CNN", other) if found[body]]
    left = found["undecided"]
    return "; ".join([*parts, *([f"{listed(left)} {'are' if len(left) > 1 else 'is'} undecided"] if left else [])])


def compared(rows: Mapping[Any, Any], setup: ComparedGame, pair: str) -> str:
    """Which network plays better, in words: "the MLP wins 0.35 percentage points more of its games (0.10 to 0.60)"."""
    figure, other = _difference(rows, setup, pair), SHUFFLED_CNN if pair == SHUFFLED else "MLP"
    if is_open(figure):
        return f"no difference is shown; CNN minus {other} is {points(figure)}"
    winner = "CNN" if figure["point"] * setup.sign > 0 else other
    verb, which = {
        "win": ("wins", "more of its games"), "loss": ("loses", "fewer of its games"),
        "not_lost": ("avoids losing in", "more of its games"), "share": ("gets", "more of the win"),
        "score": ("scores", "more"),
    }[setup.strength]  # fmt: skip
    return f"the {winner} {verb} {worded(size_of(figure), 2).replace(' (', f' percentage points {which} (', 1)}"


def _difference(rows: Mapping[Any, Any], setup: ComparedGame, pair: str) -> Mapping[str, Any]:
    return rows[differences_table(setup), pair, f"{setup.counted}, points"]["figure"]


def draw(result: Result) -> dict[str, Any]:
    drawn = result["drawn"]
    strength, upper = chart(len(drawn), height=2.7)
    loss, lower = chart(len(drawn), height=2.7)
    for above, below, (name, kinds) in zip(upper, lower, drawn.items(), strict=True):
        shares, tests = (
            {kind: interval_of({"figure": kinds[kind][what]}) for kind in KINDS} for what in ("share", "test")
        )
        dots(above, {label: [(pair, *shares[PAIRS[pair][side]]) for pair in PAIRS] for side, label in enumerate(SIDES)})
        above.set_title(f"{GAMES[name].title}: {GAMES[name].counted}, %")
        lines(below, {KINDS[kind]: [(kinds[kind]["seconds"], *tests[kind])] for kind in KINDS})
        logarithmic(below.xaxis)
        below.set(title=GAMES[name].title, ylabel="test BCE")
    lower[-1].set_xlabel("seconds of training")
    key(strength)
    key(loss)
    return {"strength": strength, "loss": loss}
