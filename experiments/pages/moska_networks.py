"""The page of moska-networks."""

from typing import Any

from experiments.machinery.charts import chart, key, level
from experiments.machinery.words import VERDICT_WORDS, Result, rows_by_place, worded
from experiments.moska_networks import LOST, TEST_CLAIM

NOTES = (
    "Games lost: the same deals for all, seats rotated; Wilson's interval with the deal as cluster.",
    "B1: three Bot3. B2: three NN1-MIF. B3: Bot3, NN1-MIF and a heuristic that peeks. B4: three random players.",
    "HIF: the mean over 100 worlds for each move that reveals a card. MIF: the network sees its own draws. Before draw:"
    " the network scores the after-state.",
    "after0, after1 and so on are the generations of the network that scores after-states; the last one is best.",
    "by-game and by-state are one network trained twice; by-state has states of one game in both training and test.",
)


def answers(result: Result) -> list[str]:
    """The answer in one line, then what else the tables show."""
    rows = rows_by_place(result)
    second, ours = rows[LOST, "nn2 HIF", "B1"], rows[LOST, "best before draw", "B1"]
    return [
        f"The second generation, sampling its draws, loses {worded(second['figure'], 1, ' %')} of its games against"
        f" three Bot3; the thesis reports {second['claim']['value']:g} %: {VERDICT_WORDS[second['verdict']]}.",
        f"A network can do without sampling: one that scores after-states, before any card is drawn, loses"
        f" {worded(ours['figure'], 1, ' %')}. The thesis' best network, which peeks at its draws, lost"
        f" {ours['claim']['value']:g} %: {VERDICT_WORDS[ours['verdict']]}.",
    ]


def draw(result: Result) -> dict[str, Any]:
    """The losses of NN1 and NN2 over their epochs, as in the thesis' Figure 5."""
    figure, (axes,) = chart(height=3.8)
    for name, losses in result["drawn"]["losses"].items():
        epochs = [epoch for epoch, _, _ in losses]
        (drawn,) = axes.plot(epochs, [validation for _, _, validation in losses], label=f"{name}, validation")
        axes.plot(epochs, [loss for _, loss, _ in losses], ":", color=drawn.get_color(), label=f"{name}, training")
    level(axes, TEST_CLAIM["bce"], "thesis, NN2 after 70 epochs")
    axes.set_xlabel("epochs")
    axes.set_ylabel("cross-entropy, balanced states")
    key(figure)
    return {"losses": figure}
