"""Strength at equal time in all games: four kinds of search over worlds at 1, 10 and 100 ms a decision, and none.

All agents of a game play the same deals, seats rotated. A search is given its time as a fixed number of worlds or
iterations, so that its games can be repeated anywhere; the time of a decision is measured apart, as processor time with
the agent in all seats and in one thread.

Some agents have a model of how the others play. If their opponents play by that very model, the agent knows their plan,
and its figure says little about other opponents: such figures stand in columns of their own.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardai.experiments.machinery.duplicate import COUNTED, LOWER_IS_BETTER, outcomes_of
from cardai.experiments.machinery.findings import Finding, Findings, Measurement, of_estimate
from cardai.experiments.machinery.lab import Lab
from cardai.game import MEASURED, Row
from cardai.measure.duplicate import line_up_of
from cardai.measure.speed import SelfPlay, timed
from cardai.playing.agents.endgame import Endgame
from cardai.playing.agents.spec import agent
from cardai.playing.agents.strategy import TreeSearch, WorldSearch
from cardai.playing.stats import interval
from cardai.playing.stats.deals import deal_seeds
from cardai.playing.table.many import play
from cardai.registry import load

SEED = 20261126
MILLISECONDS = "ms a decision"
KNOWN = ", as it assumes"
"""What the column of opponents who play by the agent's model of them has after their name."""
BUDGETS = 1, 10, 100
"""Milliseconds a decision that a search is given."""

PLAIN, PIMC, ISMCTS, EPIMC, AHEAD, ENDING = "no search", "PIMC", "ISMCTS", "EPIMC", "ahead", "endgame"
"""Families of agents, as charts name them."""


@dataclass(frozen=True)
class Contest:
    """A game and what is compared there.

    `simple`: agents without a search over worlds, or with a small one, {spec: its family}. `searches`: {family: its
    spec for each of `BUDGETS`}, None where it cannot use so much time, or where games would be too dear. `opponents`:
    {name of a column: who sits in the other seats, or in those of the other team}; searches play the first ones at all
    budgets, the others at the smallest. `measure`: one of `COUNTED`.
    """

    game: str
    variant: str
    title: str
    simple: Mapping[str, str]
    searches: Mapping[str, tuple[str | None, ...]]
    opponents: Mapping[str, tuple[str, ...]]
    seats: int = 2
    measure: str = "loss"

    @property
    def counted(self) -> str:
        """What tables call the measure."""
        return COUNTED[self.measure]

    @property
    def table(self) -> str:
        """The title of its table."""
        return f"{self.title}: {self.counted}, %"

    @property
    def differences(self) -> str:
        """The title of the table of differences."""
        return f"{self.title}, against {self.main}: {self.counted}, less those of ahead, percentage points"

    @property
    def lower_is_better(self) -> bool:
        """Whether a lower figure is better."""
        return self.measure in LOWER_IS_BETTER

    @property
    def main(self) -> str:
        """The column of the first opponents."""
        return next(iter(self.opponents))

    def agents(self) -> dict[str, tuple[str, int]]:
        """{spec: its family, and the place of its budget in `BUDGETS`, -1 without one}."""
        found = {spec: (family, -1) for spec, family in self.simple.items()}
        for family, specs in self.searches.items():
            found |= {spec: (family, place) for place, spec in enumerate(specs) if spec is not None}
        return found


CONTESTS = {
    "moska": Contest(
        "moska",
        "thesis",
        "Moska for four",
        {"bot3": PLAIN, "greedy:student": PLAIN, "greedy:student_small": PLAIN},
        {
            PIMC: ("rollout:12", "rollout:125", "rollout:1250"),
            ISMCTS: ("ismcts:9?judge=student_small", "ismcts:80?judge=student_small", "ismcts:800?judge=student_small"),
            EPIMC: (None, "epimc:3", "epimc:4?judge=student_small"),
            AHEAD: (
                "ahead:student_small?worlds=5",
                "ahead:student_small?worlds=24&turns=1",
                "ahead:student_small?worlds=240&turns=1",
            ),
        },
        {"three greedy:best": ("greedy:best",) * 3, "three Bot3": ("bot3",) * 3},
        seats=4,
    ),
    "durak-report": Contest(
        "durak",
        "report",
        "Durak for two, rules of the report",
        {"thrifty": PLAIN, "greedy:report2": PLAIN, "endgame:(ahead:report2?worlds=16&halving)": ENDING},
        {
            PIMC: ("rollout:110", "rollout:1200", "rollout:12000"),
            ISMCTS: ("ismcts:350", "ismcts:3550", "ismcts:35500"),
            EPIMC: ("epimc:6?judge=report2", "epimc:55?judge=report2", "epimc:550?judge=report2"),
            AHEAD: (
                "ahead:report2?worlds=17&turns=1",
                "ahead:report2?worlds=190&turns=1",
                "ahead:report2?worlds=1900&turns=1",
            ),
        },
        {"one defensive": ("defensive",), "one greedy:report2": ("greedy:report2",)},
    ),
    "durak-podkidnoy": Contest(
        "durak",
        "podkidnoy",
        "Durak for two, throw-in rules",
        {"thrifty": PLAIN, "greedy:podkidnoy2": PLAIN, "endgame:(ahead:podkidnoy2?worlds=16&halving)": ENDING},
        {
            PIMC: ("rollout:120", "rollout:1250", "rollout:12500"),
            ISMCTS: ("ismcts:340", "ismcts:3800", "ismcts:39000"),
            EPIMC: ("epimc:7?judge=podkidnoy2", "epimc:73?judge=podkidnoy2", "epimc:730?judge=podkidnoy2"),
            AHEAD: (
                "ahead:podkidnoy2?worlds=18&turns=1",
                "ahead:podkidnoy2?worlds=200&turns=1",
                "ahead:podkidnoy2?worlds=2040&turns=1",
            ),
        },
        {"one defensive": ("defensive",), "one greedy:podkidnoy2": ("greedy:podkidnoy2",)},
    ),
    "tictactoe": Contest(
        "tictactoe",
        "standard",
        "Tic-Tac-Toe",
        {"random": PLAIN, "greedy:mlp": PLAIN, "endgame:greedy:open_lines": ENDING},
        {
            PIMC: ("rollout:780", "rollout:9000", "rollout:90000"),
            ISMCTS: ("ismcts:1800", "ismcts:17000", "ismcts:170000"),
            EPIMC: ("epimc:800", None, None),
            AHEAD: ("ahead:mlp?worlds=50", "ahead:mlp?worlds=580", "ahead:mlp?worlds=5900"),
        },
        {"one greedy:cnn": ("greedy:cnn",), "one random": ("random",)},
    ),
    "hearts": Contest(
        "hearts",
        "standard",
        "Hearts, one round",
        {"careful": PLAIN, "greedy:best": PLAIN},
        {
            PIMC: ("rollout:95", "rollout:1130", "rollout:11300"),
            ISMCTS: ("ismcts:15?judge=best", "ismcts:150?judge=best", "ismcts:1500?judge=best"),
            EPIMC: ("epimc:14", "epimc:325", "epimc:33?judge=best"),
            AHEAD: ("ahead:best?worlds=5", "ahead:best?worlds=45", "ahead:best?worlds=450"),
        },
        {"three careful": ("careful",) * 3, "three greedy:best": ("greedy:best",) * 3},
        seats=4,
        measure="share",
    ),
    "literature": Contest(
        "literature",
        "article",
        "Literature, two against two",
        {"logic": PLAIN, "keeper": PLAIN, "policy:best?greedy": PLAIN},
        {
            PIMC: (None, "rollout:2", "rollout:20"),
            ISMCTS: ("ismcts:8", "ismcts:110", "ismcts:1100"),
            EPIMC: (None, None, None),
            AHEAD: (None, "ahead:share?worlds=3&others=plausible", "ahead:share?worlds=30&others=plausible"),
        },
        {"two logic": ("logic",) * 2, "two policy:best": ("policy:best?greedy",) * 2},
        seats=4,
        measure="score",
    ),
}
"""{the name of its chart: a contest}. The opponents of Moska are those of its suite "search".

The form of each search was chosen before: played out or judged by the network, and for `ahead` up to the next choice or
one further. In Moska, Hearts and Durak with throw-in rules it did best at 1 ms in trials on other deals (seed 777, 120
to 300 games). Durak by the report's rules has that of the other Durak, Tic-Tac-Toe and Literature were not tried, and
`ahead?turns=1` comes from earlier results. Numbers of worlds come from their processor time, measured there too.
"""


@dataclass(frozen=True)
class Scale:
    """How much is played.

    `simple`: games behind a figure of an agent without a search; `searched`: {contest: games of a search at each
    budget}; `timed`: games with the agent in all seats, played to measure its time at each of them.
    """

    simple: int
    searched: Mapping[str, tuple[int, ...]]
    timed: tuple[int, ...]


SCALES = {
    "smoke": Scale(40, dict.fromkeys(CONTESTS, (4,)), (1,)),
    "small": Scale(
        1000,
        {
            "moska": (1000, 240, 32),
            "durak-report": (1000, 320, 60),
            "durak-podkidnoy": (1000, 320, 60),
            "tictactoe": (1000, 200, 40),
            "hearts": (1000, 320, 48),
            "literature": (200, 60, 12),
        },
        (8, 3, 1),
    ),
}


def run(lab: Lab) -> Findings:
    """Measure every agent of every contest against its opponents, its time, and how searches differ at equal time.

    What is quick is measured first.
    """
    rows: dict[str, list[Finding]] = {name: [] for name in CONTESTS}
    for place in range(-1, len(BUDGETS)):
        for name in CONTESTS:
            rows[name] += _rows(lab, name, place)
    found = []
    for name, contest in CONTESTS.items():
        found += sorted(rows[name], key=lambda row: _order(row, contest))
        found += _differences(lab, name)
    return Findings(found)


def _order(row: Finding, contest: Contest) -> tuple[int, int]:
    """Where a row stands in its table: by its column, the time first, and by its line."""
    columns = [MILLISECONDS, *(one + known for one in contest.opponents for known in ("", KNOWN))]
    return columns.index(row.column), list(contest.agents()).index(row.name)


def _rows(lab: Lab, name: str, place: int) -> Iterator[Finding]:
    """The rows of a contest's agents with the budget at a place, -1: without one."""
    contest = CONTESTS[name]
    for spec, (_, own) in contest.agents().items():
        if own != place or place >= len(lab.size.searched[name]):
            continue
        for opponents in contest.opponents:
            if place <= 0 or opponents == contest.main:
                yield _reached(lab, name, spec, opponents)
        yield _time(lab, name, spec, place)


def _games(lab: Lab, name: str, spec: str) -> int:
    family, place = CONTESTS[name].agents()[spec]
    return lab.games or (lab.size.simple if family == PLAIN else lab.size.searched[name][max(place, 0)])


def _outcomes(lab: Lab, name: str, spec: str, opponents: str) -> np.ndarray:
    """What an agent reaches in each game by the contest's measure: f8[deals, outcomes]; see `outcomes_of`."""
    contest = CONTESTS[name]
    others = contest.opponents[opponents]

    def measure() -> list[list[float]]:
        game, games = load(contest.game), _games(lab, name, spec)
        tell, place = lab.telling(f"{spec}, {opponents}"), (contest.variant, contest.measure)
        return outcomes_of(game, agent(game, spec), others, games, SEED, *place, tell).tolist()

    return np.array(lab.piece(key_of(name, spec, opponents), measure), float)


def _reached(lab: Lab, name: str, spec: str, opponents: str) -> Finding:
    """What an agent reaches by the contest's measure, in percent."""
    contest = CONTESTS[name]
    others, games = contest.opponents[opponents], _games(lab, name, spec)
    figure = of_estimate(interval.estimate(_outcomes(lab, name, spec, opponents)), 100)
    column = opponents + KNOWN * (model_of(contest, spec) in others)
    seats = ",".join(spec if one == MEASURED else one for one in line_up_of(Row(others), load(contest.game).teams))
    command = f"cardai match {contest.game} --variant {contest.variant} --seats '{seats}' --games {games} --seed {SEED}"
    piece = key_of(name, spec, opponents)
    return Finding(contest.table, spec, column, figure, piece=piece, seed=SEED, command=command)


def _differences(lab: Lab, name: str) -> Iterator[Finding]:
    """How the other searches differ from `ahead` at equal time, against the first opponents, deal by deal."""
    contest = CONTESTS[name]
    budgets, aheads = BUDGETS[: len(lab.size.searched[name])], contest.searches[AHEAD]
    for family, specs in contest.searches.items():
        for spec, ahead, budget in zip(specs, aheads, budgets, strict=False):
            if family == AHEAD or spec is None or ahead is None:
                continue
            found = [_outcomes(lab, name, one, contest.main) for one in (spec, ahead)]
            less = interval.compare(*found, lower_is_better=contest.lower_is_better).difference
            pieces = " ".join(key_of(name, one, contest.main) for one in (spec, ahead))
            figure = of_estimate(less, 100)
            yield Finding(contest.differences, family, column_of(budget), figure, piece=pieces, seed=SEED)


def column_of(budget: int) -> str:
    """The column of a budget in the table of differences."""
    return f"{budget} ms"


def model_of(contest: Contest, spec: str) -> str:
    """The spec of the player by which an agent plays the other seats in its worlds; "" if it does not search."""
    plan = agent(load(contest.game), spec).strategy
    plan = plan.inner.strategy if isinstance(plan, Endgame) else plan
    return plan.assumed if isinstance(plan, WorldSearch | TreeSearch) else ""


def key_of(*parts: str) -> str:
    """Parts of a piece's name as a file name."""
    return "-".join(re.sub(r"\W+", "-", part).strip("-") for part in parts)


def _time(lab: Lab, name: str, spec: str, place: int) -> Finding:
    """The milliseconds of a decision with a choice, over all decisions of the games."""
    key = key_of(name, spec, "time")
    games = lab.size.timed[max(place, 0)]
    taken = lab.piece(key, lambda: _timed(CONTESTS[name], spec, games))
    figure = Measurement(1000 * taken["seconds"] / taken["decisions"], n=taken["decisions"], counted="decisions")
    return Finding(CONTESTS[name].table, spec, MILLISECONDS, figure, piece=key, seed=SEED, places=4)


def _timed(contest: Contest, spec: str, games: int) -> dict[str, Any]:
    """Play games with the agent in all seats, in one thread; decisions with a choice, and processor seconds."""
    game = load(contest.game)
    player, lineup = agent(game, spec), np.zeros((1, contest.seats), np.int64)
    play(game, [player], lineup, deal_seeds(SEED, 1), variant=contest.variant, threads=1, max_plies=1)  # compiles
    alone = SelfPlay(game, player, contest.seats, contest.variant)
    taken = timed(lambda: int(alone.play(games, seed=SEED, tally=True).tally[:, 0].sum()))
    return {"decisions": taken.count, "seconds": taken.processor_seconds}
