"""The page of moska-networks."""

from typing import Any

from cardai.experiments.machinery.charts import chart, key, level
from cardai.experiments.machinery.words import Result, about, percent, rows_by_place, verdict_words
from cardai.experiments.moska_networks import LOST, TEST_CLAIM

NETWORKS_AND_ROWS = (
    "NN1, NN2: the first and the second generation of networks, trained by the thesis' recipe.",
    "B1: three Bot3. B2: three NN1-MIF. B3: Bot3, NN1-MIF and a heuristic that peeks. B4: three random players.",
)
NOTES = (
    "Games lost: the same deals for all, seats rotated. Wilson interval; games of one deal form one cluster.",
    *NETWORKS_AND_ROWS,
    "HIF and MIF are the thesis' names for what a network sees. HIF: it guesses the cards it will draw; a move that"
    " reveals a card gets the mean score over 100 sampled worlds. MIF: it peeks at the cards it will draw. Before"
    " draw: it scores the position after the move, before drawing.",
    "after0, after1 and so on are the generations of the network that scores positions before the draw; the last one"
    " is best.",
    "by-game and by-state are the same network trained on two splits of the data: by-state has states of one game in"
    " both training and test states.",
    "BCE: binary cross-entropy. ECE: expected calibration error. Lower is better in both.",
)


def answers(result: Result) -> list[str]:
    rows = rows_by_place(result)
    second, ours = rows[LOST, "nn2 HIF", "B1"], rows[LOST, "best before draw", "B1"]
    return [
        f"The thesis' second network, trained here, loses {about(second)} of its games against three Bot3; the thesis"
        f" says {second['claim']['value']:g} %.",
        f"That network (NN2) averages over guesses of the cards it will draw. It loses {percent(second)}:"
        f" {verdict_words(second)}.",
        "A network of our own judges the position before the cards are drawn and needs no guesses. It loses"
        f" {percent(ours)}.",
        f"The thesis' best network peeks at its draws and lost {ours['claim']['value']:g} %. Beside our own"
        f" network, {verdict_words(ours)}.",
    ]


def draw(result: Result) -> dict[str, Any]:
    figure, (axes,) = chart(height=3.8)
    for name, losses in result["drawn"]["losses"].items():
        epochs, training, validation = zip(*losses, strict=True)
        (drawn,) = axes.plot(epochs, validation, label=f"{name}, validation")
        axes.plot(epochs, training, ":", color=drawn.get_color(), label=f"{name}, training")
    level(axes, TEST_CLAIM["bce"], "thesis, NN2 after 70 epochs")
    axes.set(xlabel="epochs", ylabel="cross-entropy, balanced states")
    key(figure)
    return {"losses": figure}
