"""Three ways to learn Durak, by number of games: PPO, NFSP with two settings, and an evaluator network.

PPO and NFSP learn a policy from games against themselves, as in a student report. The evaluator learns to score
positions by the method of the Moska thesis: first from games of hand-written players, then also from its own. Each
learner is measured after several numbers of games against the report's opponents: three random players, one random,
one defensive and one aggressive player. Each stage writes a folder, and a finished stage is not repeated. A policy's
training that was stopped starts again from its beginning.

Source: the report's section "Results" (PPO after 140 000 games; NFSP after 5 000).
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from cardai.evaluators.model import SHIPPED
from cardai.evaluators.policies import nfsp, ppo
from cardai.evaluators.policies.policy import Policy
from cardai.evaluators.policies.policy import load as load_policy
from cardai.experiments.machinery.findings import (
    Claim,
    Finding,
    Findings,
    Measurement,
    difference,
    direction,
    margin,
    of_estimate,
)
from cardai.experiments.machinery.lab import Lab
from cardai.experiments.machinery.networks import generation_names, ship_network
from cardai.files.reading import read_json
from cardai.game import Game
from cardai.guests.exact.endings import measure_endings
from cardai.playing.progress import CountProgress
from cardai.registry import load

COMMAND = "cardai reproduce durak-learners"
LEARNERS = ("ppo", "nfsp-shallow", "nfsp-deep", "evaluator")
EARLIER = 10
"""Before the end of its training, a learner is measured with this many times fewer games than at the end."""
NODES = 100_000
"""The most positions that the solver may visit for a decision; all but the longest endings need fewer."""
TABLES = (2, 4)
"""The numbers of seats; each learner is trained separately for each of them, by throw-in rules the evaluator alone."""

HAND_WRITTEN = {
    "thrifty": 2.0,
    "thrifty?randomised": 2.0,
    "defensive": 1.0,
    "aggressive": 1.0,
    "random": 1.0,
    "greedy:hand_value": 1.0,
    "greedy:hand_value?epsilon=0.15": 1.0,
}
"""{spec: weight} of the players whose games the evaluator's first generation learns from."""
OPPONENTS = {"thrifty": 0.7, "defensive": 0.4, "aggressive": 0.4, "random": 0.4}
"""{spec: weight} of the players that the evaluator's later generations play against."""

CLAIMS = {
    "D1": Claim(99.0, better="higher", within=margin("games of Durak")),
    "D2": Claim(92.0, better="higher", words="83-92"),
}
"""The report's figures for PPO: games not lost, in percent, against three random players (D1) and against one (D2).

The report does not say how many games were counted, so each claim is the best value it gives, and is taken as exact.
"""


@dataclass(frozen=True)
class Scale:
    """How much is played and trained.

    - `games`: numbers of games after which PPO is measured; it ends after the last.
    - `epochs`: epochs of NFSP.
    - `evaluator`: numbers of games, each for an evaluator of its own that learns from that many in all generations.
    - `generations`: generations of an evaluator after the first.
    - `shipped`: the number of games for the evaluators that come with cardai; `throw_in`: the same by throw-in rules.
    - `benchmark`: games behind a figure.
    - `learning`: fields of every `TrainConfig`.
    - `endings`: games whose endings are graded.
    """

    games: tuple[int, ...]
    epochs: int
    evaluator: tuple[int, ...]
    generations: int
    benchmark: int
    learning: Mapping[str, Any] = field(default_factory=dict)
    shipped: int = 0
    throw_in: int = 0
    endings: int = 300


_NETWORK = {
    "encoder": "relative",
    "moment": "before_draw",
    "epochs": 0,
    "learning_rate": 1e-3,
    "warm_up": 100,
    "optimiser": "adamw",
    "weight_decay": 0.01,
}

SCALES = {
    "smoke": Scale(
        games=(25, 50),
        epochs=1,
        evaluator=(200,),
        generations=1,
        benchmark=16,
        learning=_NETWORK | {"options": {"hidden": [16], "dropout": [0.0]}, "batch": 64, "steps": 20, "warm_up": 2},
        shipped=200,
        throw_in=200,
        endings=20,
    ),
    "small": Scale(
        games=(1000, 5000, 20_000, 70_000, 140_000),
        epochs=100,
        evaluator=(),
        generations=3,
        benchmark=20_000,
        learning=_NETWORK
        | {"options": {"hidden": [192, 128, 64], "dropout": [0.0, 0.0, 0.0]}, "batch": 2048, "steps": 3000},
        shipped=600_000,
        throw_in=200_000,
    ),
}


def learned(lab: Lab) -> dict[str, dict[tuple[int, int], str]]:
    """Train every learner by the report's rules, or resume; {learner: {(seats, games learned from): agent's spec}}."""
    agents: dict[str, dict[tuple[int, int], str]] = {name: {} for name in LEARNERS}
    for seats in TABLES:
        for name in LEARNERS[:-1]:
            place = lab.folder / f"{name}-{seats}"
            tell = lab.telling(f"{name} learns at tables of {seats}")
            for games, spec in policies(place, name, seats, lab.size, tell).items():
                agents[name][seats, games] = spec
        for games in (*lab.size.evaluator, lab.size.shipped):
            for seen, spec in evaluator(lab, f"evaluator-{seats}-{games}", "report", seats, games).items():
                agents["evaluator"][seats, seen] = spec
    return agents


def policies(folder: Path, name: str, seats: int, size: Scale, tell: CountProgress | None) -> dict[int, str]:
    """Train a policy and save it after several numbers of games: {games: agent's spec}.

    A policy that is already in the folder after each of these numbers is not trained again.
    """
    wanted = size.games
    if name in nfsp.PRESETS:
        games = size.epochs * nfsp.PRESETS[name].epoch_games
        wanted = tuple(sorted({games // 5, games}))
    places = {games: folder / f"{games:07d}.safetensors" for games in wanted}

    def watch(games: int, policy: Policy) -> None:
        for count, place in places.items():
            if games >= count and not place.exists():
                policy.save(place)

    if not all(place.exists() for place in places.values()):
        folder.mkdir(parents=True, exist_ok=True)
        for place in places.values():  # left by a training run that was stopped
            place.unlink(missing_ok=True)
        durak = load("durak")
        common: dict[str, Any] = {
            "seed": seats, "variant": "report", "seats": seats, "encoder": "report", "progress": tell, "watch": watch
        }  # fmt: skip
        if name in nfsp.PRESETS:
            policy = nfsp.train(durak, replace(nfsp.PRESETS[name], epochs=size.epochs), **common)
        else:
            recipe = replace(ppo.PRESETS[name], games=wanted[-1])
            policy = ppo.train(durak, recipe, watch_every=wanted[0], **common)
        if policy.metadata.metrics["games"] < wanted[-1]:
            raise KeyboardInterrupt
        watch(wanted[-1], policy)
    return {games: f"policy:{place}" for games, place in places.items()}


def evaluator(lab: Lab, name: str, variant: str, seats: int, games: int) -> dict[int, str]:
    """Train an evaluator's generations on `games` games in all, divided evenly over the generations.

    Returns {games that a generation has learned from: its spec}.
    """
    generations, place = lab.size.generations, lab.store(load("durak"), name, variant, seats)
    share = games // (1 + generations)
    first = place.games("games", HAND_WRITTEN, share, seed=seats)
    place.generations((first,), games=[share] * generations, opponents=OPPONENTS, seed=10 * seats)
    names = generation_names(generations)
    return {share * number: f"greedy:{place.folder / name}" for number, name in enumerate(names, 1)}


def throw_in(lab: Lab, seats: int) -> dict[int, str]:
    """Train the evaluator by throw-in rules, or resume; returns as `evaluator` does."""
    return evaluator(lab, f"podkidnoy-{seats}", "podkidnoy", seats, lab.size.throw_in)


def run(lab: Lab) -> Findings:
    seconds = lab.piece("learning", lambda: _learning(lab), repeats=False)
    learners = learned(lab)  # everything is trained by now: this only returns the specs
    rows = [row for name, agents in learners.items() for row in _curve(lab, name, agents, "report", f"row-{name}")]
    by_throw_in = [{(seats, games): spec for games, spec in throw_in(lab, seats).items()} for seats in TABLES]
    thrown = [row for agents in by_throw_in for row in _curve(lab, "evaluator", agents, "podkidnoy", "podkidnoy")]
    endings = [row for name, spec in players_for_two(learners).items() for row in _ending(lab, name, spec)]
    times = [
        Finding(LEARNING, name, "s", Measurement(duration, n=1, counted="runs"), piece="learning", places=0)
        for name, duration in seconds.items()
    ]
    return Findings([*rows, _deeper(rows), *thrown, *endings, *times])


def _learning(lab: Lab) -> dict[str, float]:
    """Train every learner; the seconds of each learner's longest training, summed over both numbers of seats."""
    learners = learned(lab)
    for seats in TABLES:
        throw_in(lab, seats)
    return _seconds(lab.folder, learners)


NOT_LOST, THROWN, ENDINGS = "Games not lost, %", "Games not lost, %, throw-in rules", "Endings between two, no deck"
LEARNING = "Seconds of learning, both tables"
ROWS = {"D1": "3 random", "D2": "1 random", "D3": "1 defensive", "D4": "1 aggressive"}
THROW_IN_ROWS = {"P1": "3 defensive", "P2": "3 thrifty", "P3": "1 defensive", "P4": "1 thrifty"}
"""{row of the suite: its opponents}, for the suites "report" and "podkidnoy"."""


def _curve(lab: Lab, name: str, agents: Mapping[tuple[int, int], str], suite: str, key: str) -> list[Finding]:
    """A learner's games not lost after each number of games it learned from. `key`: begins the names of pieces."""
    last, rows = max(games for _, games in agents), []
    for (seats, games), spec in agents.items():
        piece, count = f"{key}-{seats}-{games}", lab.benchmark if games == last else -(-lab.benchmark // EARLIER)
        for row in lab.bench(piece, at_tables_of(seats), suite, spec, games=count)["rows"]:
            table, column = (NOT_LOST, ROWS[row["row"]]) if suite == "report" else (THROWN, THROW_IN_ROWS[row["row"]])
            claim = CLAIMS.get(row["row"]) if name == "ppo" and games == last else None
            places, line = 2 if row["row"] in CLAIMS else 1, f"{name}, {games:,} games"
            rows.append(Finding(table, line, column, not_lost(row["figure"]), claim, piece, places=places))
    return rows


def _deeper(rows: Iterable[Finding]) -> Finding:
    """How much better NFSP's deep network plays than its shallow one, each at the end of its training.

    The interval takes the two figures as independent.
    """
    ends = {row.name.partition(",")[0]: row for row in rows if row.column == ROWS["D2"]}  # the last one of each learner
    deep, shallow = (ends[f"nfsp-{name}"] for name in ("deep", "shallow"))
    figure = difference(deep.figure, shallow.figure)
    claim = direction("higher", "deeper is better")
    return Finding(
        "NFSP, percentage points", "deep less shallow", ROWS["D2"], figure, claim, f"{deep.piece} {shallow.piece}"
    )


def not_lost(loss: Mapping[str, Any]) -> Measurement:
    """The percentage of games not lost, from an estimate of the percentage of games lost."""
    turned = {"point": "point", "low": "high", "high": "low"}
    figures = {end: None if loss[source] is None else 100 - loss[source] for end, source in turned.items()}
    return of_estimate({**loss, **figures})


def _ending(lab: Lab, name: str, spec: str) -> list[Finding]:
    def graded() -> dict[str, Any]:
        played = measure_endings(load("durak"), [spec, "thrifty"], lab.size.endings, variant="report", limit=NODES)
        return asdict(played.grades[spec])

    key = f"endings-{name.replace(':', '-')}"
    grades = lab.piece(key, graded)
    figures = {what: Measurement(grades[what], n=grades["decisions"], counted="decisions")
               for what in ("critical", "unsolved")}  # fmt: skip
    counts = [Finding(ENDINGS, name, column, figure, piece=key, places=0) for column, figure in figures.items()]
    return [
        *counts,
        Finding(ENDINGS, name, "best move played, %", _counted(grades["optimal"], 100), piece=key),
        Finding(ENDINGS, name, "score lost an ending", _counted(grades["lost"], 1), piece=key, places=3),
    ]


def _counted(estimate: Mapping[str, Any], factor: float) -> Measurement:
    return replace(of_estimate(estimate, factor), counted="decisions")


def at_tables_of(seats: int) -> Game:
    """Durak, its suites cut to the rows with this number of seats."""
    game = load("durak")
    suites = {
        name: replace(suite, rows={key: row for key, row in suite.rows.items() if 1 + len(row.opponents) == seats})
        for name, suite in game.agents.suites.items()
    }
    return game.changed(suites=suites)


def players_for_two(learners: Mapping[str, Mapping[tuple[int, int], str]]) -> dict[str, str]:
    """{name: spec} of the agents whose endings are graded: hand-written players, and each learner fully trained."""
    simple = dict.fromkeys(("random", "aggressive", "defensive", "thrifty", "greedy:hand_value"))
    ends = {name: agents[max(key for key in agents if key[0] == 2)] for name, agents in learners.items()}
    return {name: name for name in simple} | ends


def _seconds(folder: Path, learners: Mapping[str, Mapping[tuple[int, int], str]]) -> dict[str, float]:
    """The seconds of each learner's longest training, summed over both numbers of seats.

    For an evaluator this is without the time of playing its games.
    """
    seconds = {}
    for name, agents in learners.items():
        last = max(games for _, games in agents)
        if name == "evaluator":
            reports = folder.glob(f"evaluator-*-{last}/*/report.json")
            seconds[name] = sum(read_json(report)["seconds"] for report in reports)
        else:
            places = [folder / f"{name}-{seats}" / f"{last:07d}.safetensors" for seats in TABLES]
            seconds[name] = sum(load_policy(place).metadata.seconds for place in places)
    return seconds


def ship(folder: Path) -> list[Path]:
    """Copy the evaluators that learned from the most games to the models that come with cardai; their new paths."""
    runs = {f"report{seats}": (f"evaluator-{seats}-{_most(folder, seats)}", seats) for seats in TABLES}
    runs |= {f"podkidnoy{seats}": (f"podkidnoy-{seats}", seats) for seats in TABLES}
    shipped = []
    for name, (run, seats) in runs.items():
        about = f"Durak for {seats}: judges before any card is drawn"
        place = SHIPPED / "durak" / f"{name}.safetensors"
        shipped.append(ship_network(folder, f"{run}/best", place, about, COMMAND))
    return shipped


def _most(folder: Path, seats: int) -> int:
    return max(int(place.name.rpartition("-")[2]) for place in folder.glob(f"evaluator-{seats}-*"))
