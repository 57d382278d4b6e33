"""The page of mlp-vs-cnn."""

from collections.abc import Mapping, Sequence
from typing import Any

from cardai.experiments.machinery.charts import chart, dots, key, lines, logarithmic
from cardai.experiments.machinery.words import Result, is_open, listed, rows_by_place, size_of, worded
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
_BETTER, _SIDE = {1: "higher", -1: "lower"}, {1: "above", -1: "below"}
LABELS = {
    **{f"{setup.counted}, %": f"{setup.counted}, % ({_BETTER[setup.sign]} is better)" for setup in GAMES.values()},
    **{
        f"{setup.counted}, points": f"{setup.counted}, percentage points ({_SIDE[setup.sign]} 0: CNN better)"
        for setup in GAMES.values()
    },
    "losing lines": "losing lines (lower is better)",
    "test BCE": "test BCE (lower is better)",
    "BCE of states learned": "BCE on training states",
    "s of learning": "training time, s",
    "M states": "states trained on, millions",
    "rows/s judged": "rows scored a second",
    "rows/s scored": "rows scored a second",
    SHUFFLED: "CNN minus CNN with shuffled cells",
    **{differences_table(setup): f"{setup.title}: CNN minus MLP, seed by seed" for setup in GAMES.values()},
    networks_table(GAMES["tictactoe"]): "Tic-Tac-Toe: networks; games won against uniformly random moves, averaged over"
    " playing first and second; exact for each network",
    networks_table(GAMES["moska"]): "Moska: networks; games lost against three Bot3; the network evaluates the position"
    " after the move, before drawing",
    networks_table(GAMES["durak"]): "Durak: networks; games not lost against one defensive player, by the rules of the"
    " student report",
    networks_table(GAMES["hearts"]): "Hearts: networks; share of the win against three players `duck`, one round with"
    " passing",
    networks_table(GAMES["literature"]): "Literature: networks; score of a team of two, a tie counted half, against two"
    " players `plausible`",
}


def answers(result: Result) -> list[str]:
    rows, setups = rows_by_place(result), setups_of(result)
    headline = "; ".join(f"in {setup.title} {compared(rows, setup, FIRST)}" for setup in setups)
    in_time = [setup for setup in setups if not is_open(_difference(rows, setup, SECONDS))]
    timed = "; ".join(f"in {setup.title} {compared(rows, setup, SECONDS)}" for setup in in_time)
    others = listed([setup.title for setup in setups if setup not in in_time])
    rest = f"in {others} no difference is shown" if len(in_time) < len(setups) else ""
    second = "; ".join(part for part in (timed, rest) if part)
    return [
        "It depends on the game. On the same states, with as many parameters,"
        f" {_leads(rows, setups, FIRST)}. In the same seconds, in which an MLP learns from more states,"
        f" {_leads(rows, setups, SECONDS)}. In percentage points of games won, lost or not lost, share of the win, or"
        " score, against the same players.",
        f"At equal data and size: {headline}. In equal training time: {second}.",
        *(_details(rows, setup) for setup in setups),
    ]


def setups_of(result: Result) -> list[ComparedGame]:
    """The games that a result has."""
    return [GAMES[name] for name in result["drawn"]]


def _leads(rows: Mapping[Any, Any], setups: Sequence[ComparedGame], pair: str) -> str:
    """Where each body plays better: "the CNN plays better in Moska by 2.1 (0.6 to 3.5); undecided in Durak"."""
    found: dict[str, list[str]] = {"CNN": [], "MLP": [], "": []}
    for setup in setups:
        figure = _difference(rows, setup, pair)
        if is_open(figure):
            found[""].append(setup.title)
        else:
            better = "CNN" if (figure["point"] > 0) == (setup.sign > 0) else "MLP"
            found[better].append(f"{setup.title} by {worded(size_of(figure), 2)}")
    words = {"CNN": "the CNN plays better in", "MLP": "the MLP plays better in", "": "undecided in"}
    return "; ".join(f"{words[body]} {listed(games)}" for body, games in found.items() if games)


def _by_game(rows: Mapping[Any, Any], setups: Sequence[ComparedGame], pair: str) -> str:
    """Which body plays better in each game and by how much: "Moska CNN by 1.2 (0.4 to 1.9), Durak undecided"."""
    parts = []
    for setup in setups:
        figure = _difference(rows, setup, pair)
        better = "CNN" if (figure["point"] > 0) == (setup.sign > 0) else "MLP"
        parts.append(f"{setup.title} {'undecided' if is_open(figure) else f'{better} by {worded(size_of(figure), 2)}'}")
    return ", ".join(parts)


def compared(rows: Mapping[Any, Any], setup: ComparedGame, pair: str) -> str:
    """Which network plays better, in words: "the MLP wins 0.35 percentage points more of its games (0.10 to 0.60)"."""
    figure, other = _difference(rows, setup, pair), "shuffled CNN" if pair == SHUFFLED else "MLP"
    if is_open(figure):
        return f"no difference is shown (CNN minus {other}: {worded(figure, 2, ' percentage points')})"
    is_more = figure["point"] > 0
    winner = "CNN" if is_more == (setup.sign > 0) else other
    verb, which = {
        "win": ("wins", "more of its games"), "loss": ("loses", "fewer of its games"),
        "not_lost": ("avoids losing in", "more of its games"), "share": ("gets", "more of the win"),
        "score": ("scores", "more"),
    }[setup.strength]  # fmt: skip
    return f"the {winner} {verb} {worded(size_of(figure), 2).replace(' (', f' percentage points {which} (', 1)}"


def _difference(rows: Mapping[Any, Any], setup: ComparedGame, pair: str) -> Mapping[str, Any]:
    """CNN minus the other network of a pair, in percentage points of games."""
    return rows[differences_table(setup), pair, f"{setup.counted}, points"]["figure"]


def _details(rows: Mapping[Any, Any], setup: ComparedGame) -> str:
    others = [pair for pair in PAIRS if pair not in (FIRST, SHUFFLED)]
    parts = "; ".join(f"{pair}: {compared(rows, setup, pair)}" for pair in others)
    loss = rows[differences_table(setup), SHUFFLED, "test BCE"]["figure"]
    states = {kind: rows[networks_table(setup), KINDS[kind], "M states"]["figure"]["point"] for kind in ("long", "cnn")}
    return (
        f"{setup.title}, other conditions: {parts}. Beside the same CNN with shuffled cells:"
        f" {compared(rows, setup, SHUFFLED)}; its test BCE minus that of the shuffled CNN is {worded(loss, 4)}."
        f" An MLP of the CNN's size trains on {states['long'] / states['cnn']:.1f} times as many states in the same"
        " time."
    )


def in_readme(result: Result) -> tuple[str, str, str]:
    rows, setups = rows_by_place(result), setups_of(result)
    fewest = min(_difference(rows, setup, FIRST)["n"] for setup in setups)
    return (
        f"MLP or CNN, equal data and size, percentage points (n {fewest} pairs of networks or more)",
        _by_game(rows, setups, FIRST),
        "; ".join(f"{setup.title} {str(setup.claim).removesuffix(' better')}" for setup in setups if setup.claim),
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
        axes.set_title(f"{GAMES[name].title}: {GAMES[name].counted}, %")
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
