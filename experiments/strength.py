"""Strength against time in all games: agents that search over worlds, and those that do not.

All agents of a game play the same deals, seats rotated. The time of a decision is measured apart, with the agent in all
seats and in one thread, because the time of a game also has that of its opponents.

Some agents have a model of how the others play. If their opponents play by that very model, the agent knows their plan,
and its figure says little about other opponents: such figures stand in columns of their own.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from cardai.agents.endgame import Endgame
from cardai.agents.spec import agent
from cardai.agents.strategy import WorldSearch
from cardai.experiments.machinery.duplicate import COUNTED, LOWER_IS_BETTER, outcomes_of
from cardai.experiments.machinery.findings import Finding, Findings, of_estimate, over_seeds
from cardai.experiments.machinery.lab import Lab
from cardai.game import MEASURED, Row
from cardai.measure.duplicate import line_up_of
from cardai.measure.speed import SelfPlay
from cardai.registry import load
from cardai.stats import interval
from cardai.stats.jsonable import plain

SEED = 20261124
MILLISECONDS = "ms a decision"
KNOWN = ", as it assumes"
"""What the column of opponents who play by the agent's model of them has after their name."""

PLAIN, ITSELF, PLAYER, ROLLOUT, ENDING = (
    "no search",
    "ahead (itself)",
    "ahead (player)",
    "rollout",
    "endgame",
)
"""Families of agents, as charts name them. In parentheses: how `ahead` assumes that the others play, as itself does or
as the contest's simple player does."""


@dataclass(frozen=True)
class Contest:
    """A game and what is compared there.

    `judge`: the evaluator of all searches. `player`: a simple player, which is also tried as a model of the others.
    `opponents`: {name of a column: who sits in the other seats, or in those of the other team}. `measure`: one of
    `COUNTED`. `families`: {spec: its family} where the usual agents do not fit. `is_dear`: a game takes seconds, so
    fewer are played.
    """

    game: str
    variant: str
    title: str
    judge: str
    player: str
    opponents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    seats: int = 2
    measure: str = "loss"
    families: Mapping[str, str] | None = None
    has_endings: bool = True
    is_dear: bool = False

    @property
    def counted(self) -> str:
        """What tables call the measure."""
        return COUNTED[self.measure]

    @property
    def lower_is_better(self) -> bool:
        """Whether a lower figure is better."""
        return self.measure in LOWER_IS_BETTER

    def agents(self) -> Mapping[str, str]:
        """{spec: its family}."""
        if self.families is not None:
            return self.families
        ahead = f"ahead:{self.judge}"
        endings = {f"endgame:greedy:{self.judge}": ENDING, f"endgame:({ahead}?worlds=16&halving)": ENDING}
        return {
            self.player: PLAIN,
            f"greedy:{self.judge}": PLAIN,
            f"{ahead}?worlds=4": ITSELF,
            f"{ahead}?worlds=16": ITSELF,
            f"{ahead}?worlds=16&halving": ITSELF,
            f"{ahead}?worlds=16&turns=1": ITSELF,
            f"{ahead}?worlds=4&others={self.player}": PLAYER,
            f"{ahead}?worlds=16&others={self.player}": PLAYER,
            f"{ahead}?worlds=16&halving&others={self.player}": PLAYER,
            "rollout:4": ROLLOUT,
            "rollout:16": ROLLOUT,
            **(endings if self.has_endings else {}),
        }


DUELS = {"one defensive": ("defensive",), "one thrifty": ("thrifty",)}
CONTESTS = {
    "moska": Contest(
        "moska",
        "thesis",
        "Moska for four",
        "best",
        "bot3",
        {"three Bot3": ("bot3",) * 3, "three greedy:best": ("greedy:best",) * 3},
        seats=4,
    ),
    "durak-report": Contest("durak", "report", "Durak for two, rules of the report", "report2", "thrifty", DUELS),
    "durak-podkidnoy": Contest("durak", "podkidnoy", "Durak for two, throw-in rules", "podkidnoy2", "thrifty", DUELS),
    "tictactoe": Contest(
        "tictactoe",
        "standard",
        "Tic-Tac-Toe",
        "open_lines",
        "random",
        {"one random": ("random",), "one greedy:mlp": ("greedy:mlp",)},
    ),
    "hearts": Contest(
        "hearts",
        "standard",
        "Hearts, one round",
        "best",
        "careful",
        {"three careful": ("careful",) * 3, "three greedy:best": ("greedy:best",) * 3},
        seats=4,
        measure="share",
        has_endings=False,
    ),
    "literature": Contest(
        "literature",
        "article",
        "Literature, two against two",
        "share",
        "logic",
        {"two plausible": ("plausible",) * 2, "two logic": ("logic",) * 2},
        seats=4,
        measure="score",
        families={
            "plausible": PLAIN,
            "logic": PLAIN,
            "keeper?ask_at=0.1": PLAIN,
            "policy:best?greedy": PLAIN,
            "rollout:4": ROLLOUT,
        },
        is_dear=True,
    ),
}
"""{the name of its chart: a contest}. The opponents of Moska are those of its suite "search"."""


@dataclass(frozen=True)
class Scale:
    """How much is played.

    `games`: games behind a figure of an agent that does not search; `searched`: of one that does; `dear`: of one that
    searches where games are dear. `timed`: games with the agent in all seats, played `repeats` times to measure its
    time.
    """

    games: int
    searched: int
    dear: int
    timed: int
    repeats: int


SCALES = {
    "smoke": Scale(40, 4, 2, 1, 2),
    "small": Scale(20_000, 2000, 400, 10, 3),
    "full": Scale(100_000, 20_000, 4000, 50, 5),
}


def run(lab: Lab) -> Findings:
    """Measure every agent of every contest against all opponents, and its time."""
    return Findings([row for name in CONTESTS for row in sorted(_rows(lab, name), key=lambda row: _place(row, name))])


def _place(row: Finding, name: str) -> int:
    """Where a row's column stands in its table: the time first, then each opponents' two columns."""
    return [MILLISECONDS, *(one + known for one in CONTESTS[name].opponents for known in ("", KNOWN))].index(row.column)


def _rows(lab: Lab, name: str) -> Iterator[Finding]:
    contest = CONTESTS[name]
    for spec, family in contest.agents().items():
        sizes = lab.size.games, lab.size.searched, lab.size.dear
        games = lab.games or sizes[(family != PLAIN) + contest.is_dear]
        for opponents in contest.opponents:
            yield _reached(lab, name, spec, opponents, games)
        yield _time(lab, name, spec)


def _reached(lab: Lab, name: str, spec: str, opponents: str, games: int) -> Finding:
    """What an agent reaches by the contest's measure, in percent."""
    contest = CONTESTS[name]
    key, others = key_of(name, spec, opponents), contest.opponents[opponents]

    def measure() -> dict[str, Any]:
        game = load(contest.game)

        def tell(done: int, total: int) -> None:
            lab.tell(done, total, f"{spec}, {opponents}")

        found = outcomes_of(game, agent(game, spec), others, games, SEED, contest.variant, contest.measure, tell)
        return plain(asdict(interval.estimate(found).scaled(100)))

    figure = of_estimate(lab.piece(key, measure))
    column = opponents + KNOWN * (model_of(contest, spec) in others)
    seats = ",".join(spec if name == MEASURED else name for name in line_up_of(Row(others), load(contest.game).teams))
    command = f"cardai match {contest.game} --variant {contest.variant} --seats '{seats}' --games {games} --seed {SEED}"
    return Finding(table_of(contest), spec, column, figure, piece=key, seed=SEED, command=command)


def table_of(contest: Contest) -> str:
    """The title of a contest's table."""
    return f"{contest.title}: {contest.counted}, %"


def model_of(contest: Contest, spec: str) -> str:
    """The spec of the player by which an agent plays the other seats in its worlds; "" if it does not search."""
    plan = agent(load(contest.game), spec).strategy
    plan = plan.inner.strategy if isinstance(plan, Endgame) else plan
    return plan.assumed if isinstance(plan, WorldSearch) else ""


def key_of(*parts: str) -> str:
    """Parts of a piece's name as a file name."""
    return "-".join(re.sub(r"\W+", "-", part).strip("-") for part in parts)


def _time(lab: Lab, name: str, spec: str) -> Finding:
    """The milliseconds of a decision, over the repeats."""
    key = key_of(name, spec, "time")
    timed = lab.piece(key, lambda: _timed(lab, CONTESTS[name], spec))
    figure = over_seeds([1000 * repeat["seconds"] / timed["decisions"] for repeat in timed["repeats"]], "repeats")
    return Finding(table_of(CONTESTS[name]), spec, MILLISECONDS, figure, piece=key, seed=SEED, places=4)


def _timed(lab: Lab, contest: Contest, spec: str) -> dict[str, Any]:
    """Play games with the agent in all seats, in one thread; decisions with a choice, and the seconds of each repeat.

    Decisions are counted in a run of the same games that is not timed, since counting takes time. It also compiles.
    """
    game, size = load(contest.game), lab.size
    alone = SelfPlay(game, agent(game, spec), contest.seats, contest.variant)
    decisions = int(alone.play(size.timed, seed=SEED, tally=True).tally[:, 0].sum())
    lab.tell(0, size.repeats, f"time of {spec}")
    runs = [alone.play(size.timed, seed=SEED) for _ in range(size.repeats)]
    return {"decisions": decisions, "repeats": [{"seconds": run.seconds} for run in runs]}
