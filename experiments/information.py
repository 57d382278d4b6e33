"""What not seeing costs: a network that sees what a move will turn up against the same one that samples it.

In Moska all agents play against three Bot3 on the same deals:

- the network when it sees the cards that it is about to draw (MIF);
- the network when it averages its scores over 1 to 100 worlds (HIF);
- the network when it scores after-states, for which it was not trained;
- another network, which was trained on after-states and so needs no draw.

MIF is not a fully informed player: it sees the cards it is about to draw or turn, but no card of another hand.

The same comparison in two other games, each with a small network trained here on settled states: in Durak a move may
turn up cards to be drawn, in Literature the answer to a question. In Hearts a move of the play turns up nothing, and
Tic-Tac-Toe hides nothing.

Source: Vahteristo 2023, section 2.1.2 (what the two see) and section 3.2.1, Table 1, benchmark 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardai.experiments import durak_learners, literature
from cardai.experiments.machinery.duplicate import COUNTED, LOWER_IS_BETTER, outcomes_of
from cardai.experiments.machinery.findings import (
    Claim,
    Finding,
    Findings,
    Measurement,
    difference,
    direction,
    of_estimate,
    over_seeds,
)
from cardai.experiments.machinery.lab import Lab
from cardai.measure.speed import SelfPlay
from cardai.playing.agents.spec import agent
from cardai.playing.stats import interval
from cardai.registry import load

SEATS, SEED, VARIANT = 4, 20261123, "thesis"
OPPONENT = "bot3"

WORLDS = (1, 3, 10, 30, 100)
PEEKING, AFTER, BEST = "MIF (peeks)", "before draw", "best, before draw"
SAMPLING = {worlds: f"HIF, {worlds} world{'s' if worlds > 1 else ''}" for worlds in WORLDS}
HIDDEN = SAMPLING[WORLDS[-1]]
AGENTS = {
    PEEKING: "peeking:nn2",
    **{name: f"sampled:nn2?worlds={worlds}" for worlds, name in SAMPLING.items()},
    AFTER: "greedy:nn2",
    BEST: "greedy:best",
}
"""NN2 with each way to handle the unknown draws, and `best`, which is another network."""

CLAIMS = {PEEKING: 13.65, HIDDEN: 14.25}
CLAIMED_GAMES = 2000
"""Table 1, games lost in percent against three Bot3."""

DIFFERENCES = (
    (HIDDEN, PEEKING),
    *((name, HIDDEN) for name in SAMPLING.values() if name != HIDDEN),
    (AFTER, PEEKING),
    (AFTER, HIDDEN),
    (BEST, PEEKING),
    (BEST, HIDDEN),
)
"""The pairs of agents that are compared: (first, second) gives the first agent's loss less the second's."""


@dataclass(frozen=True)
class OtherGame:
    """A game beside Moska: a network learns from games of a `pool` and plays `opponents`, `against` in words.

    `measure`: one of `COUNTED`. `learning`: fields of `TrainConfig`. `worlds`: how many it samples.
    """

    title: str
    seats: int
    variant: str
    opponents: tuple[str, ...]
    against: str
    measure: str
    pool: Mapping[str, float]
    learning: Mapping[str, Any]
    worlds: tuple[int, ...] = WORLDS

    @property
    def table(self) -> str:
        """The title of its table of figures."""
        return f"{self.title}: {COUNTED[self.measure]} against {self.against}, %"

    @property
    def differences(self) -> str:
        """The title of its table of differences."""
        return f"{self.title}: difference from peeking on the same deals, percentage points"


OTHERS = {
    "durak": OtherGame(
        "Durak for two", 2, "podkidnoy", ("thrifty",), "one thrifty", "loss", durak_learners.HAND_WRITTEN,
        {"encoder": "relative", "per_game": 30},
    ),
    "literature": OtherGame(
        "Literature", 4, "article", ("plausible",) * 2, "two plausible", "score",
        literature.HAND_WRITTEN, {"encoder": "facts", "per_game": 40}, WORLDS[:3],
    ),
}  # fmt: skip
"""Worlds of Literature are dear: a hundred for each question would take seconds."""


@dataclass(frozen=True)
class Scale:
    """`games`: played by each agent against three Bot3. `timed`: games in which one agent has all four seats, played
    `repeats` times to measure their time. In the other games, `learned` games teach a network by the fields `learning`
    of `TrainConfig`, and `others` games are behind a figure.
    """

    games: int
    timed: int
    repeats: int
    learned: Mapping[str, int]
    others: Mapping[str, int]
    learning: Mapping[str, Any]


_LEARNING = {
    "moment": "drawn", "epochs": 0, "learning_rate": 1e-3, "optimiser": "adamw", "weight_decay": 0.01
}  # fmt: skip
_MEDIUM = _LEARNING | {"options": {"hidden": [128, 64], "dropout": [0.0, 0.0]}, "batch": 2048, "warm_up": 100}
SCALES = {
    "smoke": Scale(
        48, 4, 2, dict.fromkeys(OTHERS, 100), {"durak": 20, "literature": 4},
        _LEARNING | {"options": {"hidden": [16], "dropout": [0.0]}, "batch": 64, "steps": 20},
    ),
    "small": Scale(
        20_000, 100, 5, {"durak": 60_000, "literature": 30_000}, {"durak": 20_000, "literature": 600},
        _MEDIUM | {"steps": 1500},
    ),
}  # fmt: skip

LOST = "Games lost against three Bot3, %"
LESS = "Difference on the same deals, percentage points"
COST = "Cost of a decision, four of a kind at the table"
POSITIONS, MILLISECONDS = "positions judged", "ms"


def run(lab: Lab) -> Findings:
    games = lab.games or lab.size.games
    lost = {name: _lost(lab, name, games) for name in AGENTS}
    rows = []
    for name, outcomes in lost.items():
        claim = Claim(CLAIMS[name], games=CLAIMED_GAMES) if name in CLAIMS else None
        figure = of_estimate(interval.proportion(outcomes), 100)
        rows.append(Finding(LOST, name, "B1", figure, claim, f"lost-{key_of(name)}", SEED, places=2))
    rows += [_difference(first, second, lost) for first, second in DIFFERENCES]
    rows += [row for name in AGENTS for row in _costs(lab, name)]
    rows += [row for name in OTHERS for row in _elsewhere(lab, name)]
    return Findings(rows)


def ways(network: str, worlds: Sequence[int]) -> dict[str, str]:
    """{name: spec} of a network that peeks, and that samples each number of worlds."""
    sampling = {SAMPLING[number]: f"sampled:{network}?worlds={number}" for number in worlds}
    return {PEEKING: f"peeking:{network}", **sampling}


def _elsewhere(lab: Lab, name: str) -> list[Finding]:
    setup, games = OTHERS[name], lab.games or lab.size.others[name]
    game = literature.game_of(name)
    network = lab.piece(f"network-{name}", lambda: _network(lab, name), repeats=False)["network"]

    def outcomes(way: str, spec: str) -> np.ndarray:
        def measure() -> np.ndarray:
            tell, place = lab.telling(f"{setup.title}: {way}"), (setup.variant, setup.measure)
            return outcomes_of(game, agent(game, spec), setup.opponents, games, SEED, *place, tell)

        return np.array(lab.piece(key(way), measure), float)

    def key(way: str) -> str:
        return f"{name}-{way.replace(', ', '-').replace(' ', '-').replace('(', '').replace(')', '').lower()}"

    found = {way: outcomes(way, spec) for way, spec in ways(network, setup.worlds).items()}
    rows, lower = [], setup.measure in LOWER_IS_BETTER
    for way, got in found.items():
        figure = of_estimate(interval.estimate(got), 100)
        rows.append(Finding(setup.table, way, COUNTED[setup.measure], figure, None, key(way), SEED, places=2))
    for way in list(found)[1:]:
        less = of_estimate(interval.compare(found[way], found[PEEKING], lower_is_better=lower).difference, 100)
        pieces = f"{key(way)} {key(PEEKING)}"
        rows.append(Finding(setup.differences, way, f"less {PEEKING}", less, None, pieces, SEED, places=2))
    return rows


def _network(lab: Lab, name: str) -> dict[str, Any]:
    """Train a game's network on settled states, or resume; its file and its figures on test states."""
    setup, size = OTHERS[name], lab.size
    store = lab.store(literature.game_of(name), name, setup.variant, setup.seats)
    data = store.games("games", setup.pool, size.learned[name], seed=1)
    return {"network": store.network("network", (data,), seed=1, **setup.learning), **store.test_figures("network")}


def key_of(name: str) -> str:
    """An agent's name as a file name."""
    return AGENTS[name].replace(":", "-").replace("?worlds=", "-")


def _lost(lab: Lab, name: str, games: int) -> np.ndarray:
    lost = lab.piece(f"lost-{key_of(name)}", lambda: losses(AGENTS[name], games, lab.telling(name)))
    return np.array(lost, float)


def losses(spec: str, games: int, progress: Any = None) -> np.ndarray:
    """1 for a game lost, 0 for one not lost, NaN for an endless one: f8[deals, SEATS].

    The agent sits in seat r in column r. Deals and chance events are those of a suite's row with this many games and
    the seed `SEED`.
    """
    moska = load("moska")
    opponents = (OPPONENT,) * (SEATS - 1)
    return outcomes_of(moska, agent(moska, spec), opponents, games, SEED, VARIANT, "loss", progress)


def _difference(first: str, second: str, lost: Mapping[str, np.ndarray]) -> Finding:
    figure = of_estimate(interval.compare(lost[first], lost[second], lower_is_better=True).difference, 100)
    claim = direction("higher", "above 0") if (first, second) == (HIDDEN, PEEKING) else None
    pieces = f"lost-{key_of(first)} lost-{key_of(second)}"
    return Finding(LESS, first, f"less {second}", figure, claim, pieces, SEED, places=2)


def claimed_price() -> Measurement:
    """HIF less MIF in the thesis' Table 1, in percentage points, with the interval that follows from its number of
    games.
    """
    return difference(*(Claim(CLAIMS[name], games=CLAIMED_GAMES).measured() for name in (HIDDEN, PEEKING)))


def _costs(lab: Lab, name: str) -> list[Finding]:
    """Positions scored for each decision, equal on any machine, and milliseconds for each, which depend on it."""
    key = f"cost-{key_of(name)}"
    repeats = lab.piece(key, lambda: _cost(lab, name))
    positions = over_seeds([repeat["rows"] / repeat["decisions"] for repeat in repeats], "repeats")
    time = over_seeds([1000 * repeat["seconds"] / repeat["decisions"] for repeat in repeats], "repeats")
    return [
        Finding(COST, name, POSITIONS, positions, piece=key, seed=SEED, places=2),
        Finding(COST, name, MILLISECONDS, time, piece=key, seed=SEED, places=3),
    ]


def _cost(lab: Lab, name: str) -> list[dict[str, float]]:
    """Play games with the agent in all four seats; the decisions, positions scored and seconds of each repeat."""
    game, size, costs = load("moska"), lab.size, []
    alone = SelfPlay(game, agent(game, AGENTS[name]), SEATS, VARIANT)
    for repeat in range(-1, size.repeats):  # the first repeat compiles; its figures are dropped
        results = alone.play(size.timed, None, seed=SEED + max(repeat, 0))
        lab.tell(repeat + 1, size.repeats, f"cost of {name}")
        costs.append({"decisions": results.decisions, "rows": results.rows, "seconds": results.seconds})
    return costs[1:]
