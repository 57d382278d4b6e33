"""The method at Moska tables of two to eight: the same recipe for each, against Bot3 in all other seats.

A network is made for one number of seats: the rows it reads hold one block for each seat, and its file says for how
many. So each size of table gets a network of its own, from games of hand-written players at such a table, and some
generations further, each from its own games, too. A figure is put beside the fair share: whoever plays no better than
the others loses 100/n % of games between n.

Source: Vahteristo 2023, section 4.2, where no figure is given; all figures of the thesis are for four.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cardai.agents.spec import agent
from cardai.errors import CardaiError
from cardai.measure.bench import run_suite
from cardai.registry import load
from experiments.machinery.findings import Claim, Finding, Findings, Measurement, of_estimate
from experiments.machinery.lab import Lab
from experiments.machinery.networks import NetworkStore, generation_names
from experiments.moska_networks import HAND_WRITTEN, LATER_OPPONENTS, SMALL_NETWORKS, against_bot3

SEED, VARIANT, OPPONENT = 20261123, "thesis", "bot3"
SHIPPED, SIZES = "greedy:best", range(2, 9)
"""The network that comes with cardai, and the tables it is tried at."""


@dataclass(frozen=True)
class Scale:
    """How much is done for each size of table, the same for all.

    `seats`: the sizes; `games`: of hand-written players; `later`: of each of the `generations` after the first network;
    `benchmark`: games of a figure; `learning`: fields of every `TrainConfig`.
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
    "full": Scale(
        seats=tuple(SIZES),
        games=400_000,
        generations=4,
        later=200_000,
        benchmark=40_000,
        learning=SMALL_NETWORKS["full"],
    ),
}

LOST = "Games lost against Bot3 in all other seats, %"
SHARE = "Games lost, beside the fair share 100/n"
FAIR = "fair share"
OURS = "best network with cardai"


def run(lab: Lab) -> Findings:
    """Make the networks of each table and measure them there."""
    refusals = lab.piece("tables", refused)
    names = generation_names(lab.size.generations)
    rows, games = [], lab.games or lab.size.benchmark
    for seats in lab.size.seats:
        tests = lab.piece(f"networks-{seats}", lambda seats=seats: networks(lab, seats), repeats=False)
        agents = {_title(name, names): f"greedy:{lab.folder / f'table-{seats}' / name}" for name in names}
        agents = {OPPONENT: OPPONENT, **agents}
        if not refusals[str(seats)]:
            agents[OURS] = SHIPPED
        key = f"lost-{seats}"
        found = lab.piece(key, lambda seats=seats, agents=agents: measured(lab, seats, agents, games))
        rows += [row for name, told in found.items() for row in _rows(seats, name, told, key, _title("best", names))]
        rows += [_test(seats, _title(name, names), told) for name, told in tests.items()]
    rows = sorted(rows, key=lambda row: [LOST, SHARE, TESTS].index(row.table))
    return Findings(rows)


def _title(name: str, names: Sequence[str]) -> str:
    """How a network is called: by its generation."""
    return f"network {1 + list(names).index(name)}"


def networks(lab: Lab, seats: int) -> dict[str, Any]:
    """Make the networks for a table, or go on making them; {name: its figures on test states}."""
    size, place = lab.size, lab.folder / f"table-{seats}"
    store = NetworkStore(load("moska"), place, size.learning, lab.progress, lab.device, VARIANT, seats)
    first = store.games("games", HAND_WRITTEN, size.games, seed=seats)
    store.generations((first,), size.generations, games=size.later, opponents=LATER_OPPONENTS, seed=10 * seats)
    return {name: store.test_figures(name) for name in generation_names(size.generations)}


def refused() -> dict[str, str]:
    """Why the network that comes with cardai cannot sit down at a table of so many; "" where it can."""
    game, found = load("moska"), {}
    for seats in SIZES:
        try:
            agent(game, SHIPPED).check_fits(game, VARIANT, seats)
            found[str(seats)] = ""
        except CardaiError as error:
            found[str(seats)] = str(error)
    return found


def measured(lab: Lab, seats: int, agents: Mapping[str, str], games: int) -> dict[str, Any]:
    """{name: its loss in percent}, all on the same deals; `endless`: games that were given up and count nowhere."""
    game = against_bot3(seats - 1, VARIANT)
    report = run_suite(game, "table", list(agents.values()), games, seed=SEED, progress=lab.progress)
    if report.interrupted:
        raise KeyboardInterrupt
    return {
        name: {"figure": one["figure"], "endless": one["endless"]}
        for name, one in zip(agents, report.as_json()["rows"], strict=True)
    }


def _rows(seats: int, name: str, told: Mapping[str, Any], key: str, best: str) -> list[Finding]:
    """A figure in percent, and as a multiple of the fair share."""
    claim = Claim(1.0, better="lower", words="below 1", is_direction=True) if name == best else None
    own: dict[str, Any] = {"piece": key, "seed": SEED}
    return [
        Finding(LOST, f"{seats} players", name, of_estimate(told["figure"]), **own),
        Finding(SHARE, f"{seats} players", name, of_estimate(told["figure"], seats / 100), claim, places=2, **own),
    ]


TESTS = "Cross-entropy on test states, balanced, divided by game"


def _test(seats: int, name: str, told: Mapping[str, Any]) -> Finding:
    figure = Measurement(told["bce"], n=told["states"], counted="states")
    return Finding(TESTS, f"{seats} players", name, figure, piece=f"networks-{seats}", places=4)
