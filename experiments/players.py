"""Networks for Moska with two to eight players: one recipe for all, measured against Bot3 in all other seats.

A network is made for one number of seats: the rows it reads hold one block for each seat, and its file names that
number. So each number of seats gets networks of its own. The first one learns from games of hand-written players at
such a table. Each later generation also learns from games of the generation before it. Each figure is compared with
the fair share: an agent that plays as well as the other n - 1 loses 100/n % of the games.

Source: Vahteristo 2023, section 4.2, where no figure is given; all figures of the thesis are for four.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cardai.errors import CardaiError
from cardai.experiments.machinery.findings import Claim, Finding, Findings, Measurement, of_estimate
from cardai.experiments.machinery.lab import Lab
from cardai.experiments.machinery.networks import generation_names
from cardai.experiments.moska_networks import HAND_WRITTEN, LATER_OPPONENTS, SMALL_NETWORKS, against_bot3
from cardai.playing.agents.spec import agent
from cardai.registry import load

SEED, VARIANT, OPPONENT = 20261123, "thesis", "bot3"
SHIPPED, SIZES = "greedy:best", range(2, 9)
"""The network that comes with cardai, and the numbers of seats at which it is tried."""


@dataclass(frozen=True)
class Scale:
    """How much is played and trained for each number of seats.

    `seats`: the numbers of seats. `games`: games of hand-written players. `generations`: generations after the first
    network. `later`: games of each of these generations. `benchmark`: games behind a figure. `learning`: fields of
    every `TrainConfig`.
    """

    seats: tuple[int, ...]
    games: int
    generations: int
    later: int
    benchmark: int
    learning: Mapping[str, Any] = field(default_factory=dict)


SCALES = {
    "smoke": Scale(
        seats=(2, 4),
        games=200,
        generations=1,
        later=60,
        benchmark=40,
        learning=SMALL_NETWORKS["smoke"],
    ),
    "small": Scale(
        seats=(2, 3, 4, 6, 8),
        games=60_000,
        generations=2,
        later=15_000,
        benchmark=8000,
        learning=SMALL_NETWORKS["small"] | {"steps": 1500},
    ),
}

LOST = "Games lost against Bot3 in all other seats, %"
SHARE = "Games lost, beside the fair share 100/n"
TESTS = "Cross-entropy on test states, balanced, divided by game"
FAIR = "fair share"
OURS = "best network with cardai"


def run(lab: Lab) -> Findings:
    refusals = lab.piece("tables", refused)
    names = generation_names(lab.size.generations)
    rows = []
    for seats in lab.size.seats:
        tests = lab.piece(f"networks-{seats}", lambda seats=seats: networks(lab, seats), repeats=False)
        agents = {_title(name, names): f"greedy:{lab.folder / f'table-{seats}' / name}" for name in names}
        agents = {OPPONENT: OPPONENT, **agents}
        if not refusals[str(seats)]:
            agents[OURS] = SHIPPED
        key = f"lost-{seats}"
        losses = lab.bench(key, against_bot3(seats - 1, VARIANT), "table", *agents.values(), seed=SEED)["rows"]
        for name, loss in zip(agents, losses, strict=True):
            rows += _rows(seats, name, loss, key, _title("best", names))
        for name, test in tests.items():
            figure = Measurement(test["bce"], n=test["states"], counted="states")
            line, column, piece = f"{seats} players", _title(name, names), f"networks-{seats}"
            rows.append(Finding(TESTS, line, column, figure, piece=piece, places=4))
    return Findings(sorted(rows, key=lambda row: [LOST, SHARE, TESTS].index(row.table)))


def _title(name: str, names: Sequence[str]) -> str:
    """What the tables call a network: "network 1" is the first generation."""
    return f"network {1 + list(names).index(name)}"


def networks(lab: Lab, seats: int) -> dict[str, Any]:
    """Train the networks for a number of seats, or resume their training; {name: its figures on test states}."""
    size, store = lab.size, lab.store(load("moska"), f"table-{seats}", VARIANT, seats)
    first = store.games("games", HAND_WRITTEN, size.games, seed=seats)
    store.generations((first,), games=[size.later] * size.generations, opponents=LATER_OPPONENTS, seed=10 * seats)
    return {name: store.test_figures(name) for name in generation_names(size.generations)}


def refused() -> dict[str, str]:
    """{number of seats: why the network that comes with cardai cannot play there, "" where it can}."""
    game, refusals = load("moska"), {}
    for seats in SIZES:
        try:
            agent(game, SHIPPED).check_fits(game, VARIANT, seats)
            refusals[str(seats)] = ""
        except CardaiError as error:
            refusals[str(seats)] = str(error)
    return refusals


def _rows(seats: int, name: str, loss: Mapping[str, Any], key: str, best: str) -> list[Finding]:
    claim = Claim(1.0, better="lower", words="below 1", is_direction=True) if name == best else None
    own: dict[str, Any] = {"piece": key, "seed": SEED}
    return [
        Finding(LOST, f"{seats} players", name, of_estimate(loss["figure"]), **own),
        Finding(SHARE, f"{seats} players", name, of_estimate(loss["figure"], seats / 100), claim, places=2, **own),
    ]
