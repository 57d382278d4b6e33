"""The paper on Hearts, section 6: whether its networks cooperate, seen by exchanging the partners of trained networks.

Systems of a pass and a play network are trained with different seeds. Each network plays with its own partner, with
the partners of the other systems, and with its own partner before and after both were fine-tuned: always the same deals
against three `careful`. If two networks have learned to play together, they do better with each other than each of them
does with the others.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cardai.experiments.hearts import SCALES, PaperRow, played
from cardai.experiments.hearts_networks import BESIDE, Stages, passes, plays
from cardai.experiments.machinery.findings import Measurement, over_seeds
from cardai.experiments.machinery.lab import Lab

SEED = 20261129
SIZE = replace(SCALES["small"], games=6000, generations=2, tunings=2)
SYSTEMS = 4
Pair = tuple[str, str]


class Exchange:
    """Trained systems in a folder, and what their networks do in each other's company."""

    def __init__(self, folder: Path) -> None:
        """Train the systems, or find them there."""
        self.stages: list[Stages] = []
        self.pairs: list[dict[str, Pair]] = []
        for repeat in range(SYSTEMS):
            place = folder / str(repeat)
            place.mkdir(parents=True, exist_ok=True)
            stages = Stages(Lab("hearts", place, "small", SIZE), seed=1000 * repeat)
            plain = stages.plain()
            tuned = stages.tuned("tuned", "paper_pass", "normal", *plain, BESIDE, seed=30)
            self.stages.append(stages)
            self.pairs.append({"plain": plain, "tuned": tuned})

    def share(self, play: tuple[int, str], passing: tuple[int, str]) -> float:
        """The share of the win, in %, of a play and a pass network, each named by its system and when it was taken."""
        stages, network = self.stages[play[0]], self.pairs[play[0]][play[1]][0]
        partner = self.pairs[passing[0]][passing[1]][1]
        name = "-".join(["exchanged", *map(str, (*play, *passing))])
        spec = stages.styles(name, [(passes(partner),)], [(plays(network),)])
        contest = PaperRow("exchanged", "3 careful", "paper_pass", spec, "careful")
        return played(stages.lab, contest, SIZE.benchmark, SEED)["own share"]["point"]

    def by_partner(self, when: str) -> np.ndarray:
        """The share of each play network (lines) with each pass network (columns), both taken at the same time."""
        return np.array([[self.share((k, when), (j, when)) for j in range(SYSTEMS)] for k in range(SYSTEMS)])

    def with_one_tuned(self) -> tuple[np.ndarray, np.ndarray]:
        """The share of each system when its play network alone is fine-tuned, and when its pass network alone is."""
        play = [self.share((k, "tuned"), (k, "plain")) for k in range(SYSTEMS)]
        passing = [self.share((k, "plain"), (k, "tuned")) for k in range(SYSTEMS)]
        return np.array(play), np.array(passing)


def own_partner(shares: np.ndarray) -> list[float]:
    """For each system, its share less the mean of all pairs in which one of its two networks has another partner."""
    alone = ~np.eye(len(shares), dtype=bool)
    return [
        float(shares[k, k] - np.mean([*shares[k][alone[k]], *shares[:, k][alone[:, k]]])) for k in range(len(shares))
    ]


def told(name: str, values: list[float]) -> Measurement:
    """The mean over the systems, printed."""
    figure = over_seeds(values, "systems")
    print(f"{name}: {figure.point:.2f} ({figure.low:.2f} to {figure.high:.2f})")
    return figure


@pytest.mark.slow
def test_networks_play_as_well_with_the_partners_of_another_training(tmp_path):
    """Four systems, all pairs of networks, 4,000 rounds each; half an hour of two processors."""
    exchange = Exchange(tmp_path)
    shares = {when: exchange.by_partner(when) for when in ("plain", "tuned")}
    plain, tuned = (np.diag(table) for table in shares.values())
    gain = told("gain by fine-tuning", list(tuned - plain))
    assert gain.low > 0
    for when, table in shares.items():
        print(f"{when}: play network by line, pass network by column\n{np.round(table, 2)}")
        assert told(f"{when}: with the own partner, less with others", own_partner(table)).high < gain.low
    play, passing = exchange.with_one_tuned()
    told("gain by fine-tuning the play network alone", list(play - plain))
    told("gain by fine-tuning the pass network alone", list(passing - plain))
    beyond = told("gain of both together, beyond that of each", list(tuned - play - passing + plain))
    assert beyond.high < gain.low
