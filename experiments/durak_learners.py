"""Three ways to learn Durak, at equal numbers of games: PPO, NFSP with two settings, and positions judged by a network.

    print(reproduce(Path("runs/durak-learners"), "small").table())

PPO and NFSP learn a policy from games against themselves, as a student report did; the evaluator learns, by the method
of the Moska thesis, how good positions are, first from hand-written players' games and then from its own. Each one is
measured along the way against the report's opponents: three random players, one, a defensive one, an aggressive one.
Each stage has a folder and is kept; what was stopped in the middle of a policy's training begins that training anew.

Source: the report's section "Results" (PPO after 140 000 games; NFSP after 5 000).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from cardai.bench import plain, with_notes
from cardai.game import Game
from cardai.machine import machine
from cardai.registry import load
from evaluators.checkpoint import write_whole
from evaluators.model import SHIPPED
from evaluators.policies import nfsp, ppo
from evaluators.policies.policy import Policy
from evaluators.policies.policy import load as load_policy
from experiments import workshop
from experiments.workshop import Progress, Workshop, generation_names, measured, shown, size_of
from games.durak.endgame import grade_endgames

COMMAND = "cardai reproduce durak-learners"
LEARNERS = ("ppo", "nfsp-shallow", "nfsp-deep", "evaluator")
EARLIER = 10
"""Of the games of a figure a learner gets at its end, one in so many is played to measure it before."""
NODES = 100_000
"""Positions that the solver may visit for a decision: all but the longest endings take less."""
TABLES = (2, 4)
"""Seats of the tables at which they learn, each for itself."""
THROW_IN_TABLE = 2
"""The same by throw-in rules."""

HAND_WRITTEN = {
    "thrifty": 2.0,
    "thrifty?randomised": 2.0,
    "defensive": 1.0,
    "aggressive": 1.0,
    "random": 1.0,
    "greedy:hand_value": 1.0,
    "greedy:hand_value?epsilon=0.15": 1.0,
}
"""Whose games the evaluator learns from first."""
OPPONENTS = {"thrifty": 0.7, "defensive": 0.4, "aggressive": 0.4, "random": 0.4}
"""Whom its later generations meet."""

CLAIMS = {"D1": "99", "D2": "83-92"}
"""What the report says of PPO: games not lost, in percent, against three random players and against one."""


@dataclass(frozen=True)
class Scale:
    """How much is played and learned.

    `games`: after how many games PPO is measured, the last is its end; `epochs`: NFSP's; `evaluator`: how many games
    an evaluator learns from in all its generations; `generations`: after the first; `shipped`: the games of those that
    come with cardai, `throw_in`: the same by throw-in rules. `benchmark`: games of a figure; `learning`: fields of
    every `TrainConfig`; `endings`: games whose endings are graded.
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
        epochs=2,
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
        evaluator=(20_000,),
        generations=3,
        benchmark=20_000,
        learning=_NETWORK
        | {"options": {"hidden": [192, 128, 64], "dropout": [0.0, 0.0, 0.0]}, "batch": 2048, "steps": 3000},
        shipped=600_000,
        throw_in=200_000,
    ),
}
SCALES["thesis"] = replace(
    SCALES["small"],
    shipped=4_000_000,
    throw_in=4_000_000,
    learning={**SCALES["small"].learning, "batch": 8192, "steps": 20_000},
)


def learned(folder: Path, scale: str, progress: Progress | None = None, device: str = "auto") -> dict[str, dict]:
    """Learn everything, or go on; {learner: {(seats, games): agent's spec}} for the rules of the report."""
    size, found = size_of(SCALES, scale), {name: {} for name in LEARNERS}
    for seats in TABLES:
        for name in LEARNERS[:-1]:
            for games, spec in policies(folder / f"{name}-{seats}", name, seats, size, progress).items():
                found[name][seats, games] = spec
        for games in (*size.evaluator, size.shipped):
            place = folder / f"evaluator-{seats}-{games}"
            for seen, spec in evaluator(place, "report", seats, games, size, progress, device).items():
                found["evaluator"][seats, seen] = spec
    return found


def policies(folder: Path, name: str, seats: int, size: Scale, progress: Progress | None) -> dict[int, str]:
    """A policy's training, kept after so many games each: {games: agent's spec}."""
    wanted = size.games
    if name in nfsp.RECIPES:
        games = size.epochs * nfsp.RECIPES[name].epoch_games
        wanted = tuple(sorted({games // 5, games}))
    places = {games: folder / f"{games:07d}.safetensors" for games in wanted}

    def watch(games: int, policy: Policy) -> None:
        for one, place in places.items():
            if games >= one and not place.exists():
                policy.save(place)

    def tell(done: float, total: float) -> None:
        if progress:
            progress(int(done), int(total), f"{name} learns at tables of {seats}")

    if not all(place.exists() for place in places.values()):
        folder.mkdir(parents=True, exist_ok=True)
        for place in places.values():  # of a training that was stopped
            place.unlink(missing_ok=True)
        durak = load("durak")
        common: dict[str, Any] = {
            "seed": seats, "variant": "report", "seats": seats, "encoder": "report", "progress": tell, "watch": watch
        }  # fmt: skip
        if name in nfsp.RECIPES:
            policy = nfsp.train(durak, replace(nfsp.RECIPES[name], epochs=size.epochs), **common)
        else:
            recipe = replace(ppo.RECIPES[name], games=wanted[-1])
            policy = ppo.train(durak, recipe, watch_every=wanted[0], **common)
        if policy.facts.metrics["games"] < wanted[-1]:
            raise KeyboardInterrupt
        watch(wanted[-1], policy)
    return {games: f"policy:{place}" for games, place in places.items()}


def evaluator(
    folder: Path, variant: str, seats: int, games: int, size: Scale, progress: Progress | None, device: str
) -> dict[int, str]:
    """Networks that judge positions, from so many games in all, evenly divided over the generations.

    {games that a generation has learned from: its spec}.
    """
    place = Workshop(load("durak"), folder, size.learning, progress, device, variant, seats)
    share = games // (1 + size.generations)
    first = place.games("games", HAND_WRITTEN, share, seed=seats)
    place.generations((first,), size.generations, games=share, opponents=OPPONENTS, seed=10 * seats)
    names = generation_names(size.generations)
    return {share * number: f"greedy:{folder / name}" for number, name in enumerate(names, 1)}


@dataclass(frozen=True)
class Reproduction:
    """What came out. `rows`: each measurement by the report's rules, `throw_in`: by those of podkidnoy; `endings`: how
    the endings between two were played; `seconds` the longest learning of each learner took, playing included for
    policies, for both tables.
    """

    scale: str
    rows: tuple[Mapping[str, Any], ...]
    throw_in: tuple[Mapping[str, Any], ...]
    endings: tuple[Mapping[str, Any], ...]
    seconds: Mapping[str, float]

    def as_json(self) -> dict[str, Any]:
        """Everything in it and the machine, as plain JSON types."""
        return plain(asdict(self) | {"machine": machine()})

    def table(self) -> Any:
        """For a terminal: a rich renderable."""
        from rich import box
        from rich.table import Table

        table = Table(title="Games not lost, percent [the report]", title_justify="left", box=box.HORIZONTALS)
        for heading in ("learner", "games", *ROWS.values()):
            table.add_column(heading, justify="left" if heading == "learner" else "right")
        for (learner, games), figures in by_learner(self.rows).items():
            table.add_row(learner, f"{games:,}", *(figures.get(row, "") for row in ROWS))
        other = Table(title="The same, throw-in rules", title_justify="left", box=box.HORIZONTALS)
        for heading in ("learner", "games", *THROW_IN_ROWS.values()):
            other.add_column(heading, justify="left" if heading == "learner" else "right")
        for (learner, games), figures in by_learner(self.throw_in).items():
            other.add_row(learner, f"{games:,}", *(figures.get(row, "") for row in THROW_IN_ROWS))
        return with_notes(self._notes(), table, other, self._endings())

    def _endings(self) -> Any:
        from rich import box
        from rich.table import Table

        table = Table(title="Endings between two, no deck", title_justify="left", box=box.HORIZONTALS)
        for heading in ("agent", "decisions", "unsolved", "critical", "best move, %", "score lost an ending"):
            table.add_column(heading, justify="left" if heading == "agent" else "right")
        for one in self.endings:
            counts = [f"{one[name]:,}" for name in ("decisions", "unsolved", "critical")]
            table.add_row(one["agent"], *counts, shown(one["optimal"], 1, 100), shown(one["lost"], 3))
        return table

    def _notes(self) -> list[str]:
        played = {one["n"] for one in self.rows}
        return [
            f"scale {self.scale}: {' or '.join(f'{n:,}' for n in sorted(played))} games a figure, the same deals for"
            " all, seats rotated; 95 % intervals; rules of the report; a draw is not lost",
            "critical: decisions in endings against thrifty in which some move loses score; unsolved ones needed more"
            f" than {NODES:,} nodes",
            "one network learned for tables of four, one for tables of two; policies draw their moves",
            "seconds of learning: " + ", ".join(f"{name} {seconds:,.0f}" for name, seconds in self.seconds.items()),
        ]


def by_learner(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int], dict[str, str]]:
    """{(learner, games): {row of the suite: its figure in words}}."""
    found: dict[tuple[str, int], dict[str, str]] = {}
    for one in rows:
        claim = CLAIMS.get(one["row"]) if one["learner"] == "ppo" else None
        said = shown(one) + (f" [{claim}]" if claim else "")
        found.setdefault((one["learner"], one["games"]), {})[one["row"]] = said
    return found


ROWS = {"D1": "3 random", "D2": "1 random", "D3": "1 defensive", "D4": "1 aggressive"}
THROW_IN_ROWS = {"P3": "1 defensive", "P4": "1 thrifty"}
"""The rows of both suites, and who sits there."""


def reproduce(
    folder: Path, scale: str, *, games: int | None = None, device: str = "auto", progress: Progress | None = None
) -> Reproduction:
    """Learn everything and measure it, or go on; each finished piece is kept in the folder."""
    size, found = size_of(SCALES, scale), learned(folder, scale, progress, device)
    asked, rows, thrown = games or size.benchmark, [], []
    for name, agents in found.items():
        last = max(learned_from for _, learned_from in agents)
        for (seats, learned_from), spec in agents.items():
            count = asked if learned_from == last else -(-asked // EARLIER)
            kept = folder / f"row-{name}-{seats}-{learned_from}-{count}.json"
            report = measured(at_tables_of(seats), "report", spec, count, kept, progress)
            rows += [_turned(name, learned_from, row) for row in report["rows"]]
    place = folder / f"podkidnoy-{THROW_IN_TABLE}"
    agents = evaluator(place, "podkidnoy", THROW_IN_TABLE, size.throw_in, size, progress, device)
    for seen, spec in agents.items():
        count = asked if seen == size.throw_in else -(-asked // EARLIER)
        kept = folder / f"row-{place.name}-{seen}-{count}.json"
        report = measured(at_tables_of(THROW_IN_TABLE), "podkidnoy", spec, count, kept, progress)
        thrown += [_turned("evaluator", seen, row) for row in report["rows"]]
    endings = [_graded(folder, name, spec, size, progress) for name, spec in players_for_two(found).items()]
    return Reproduction(scale, tuple(rows), tuple(thrown), tuple(endings), _seconds(folder, found))


def at_tables_of(seats: int) -> Game:
    """Durak with only those rows of its suites that so many sit at."""
    game = load("durak")
    suites = {
        name: replace(suite, rows={key: row for key, row in suite.rows.items() if 1 + len(row.opponents) == seats})
        for name, suite in game.suites.items()
    }
    return replace(game, suites=suites)


def players_for_two(found: Mapping[str, Mapping[tuple[int, int], str]]) -> dict[str, str]:
    """{name: spec} of those whose endings are graded: hand-written players, and each learner at its end."""
    simple = dict.fromkeys(("random", "aggressive", "defensive", "thrifty", "greedy:hand_value"))
    ends = {name: agents[max(key for key in agents if key[0] == 2)] for name, agents in found.items()}
    return {name: name for name in simple} | ends


def _graded(folder: Path, name: str, spec: str, size: Scale, progress: Progress | None) -> dict[str, Any]:
    """How well an agent ends its games against `thrifty`, by the exact solver; kept in the folder."""
    kept = folder / f"endings-{name.replace(':', '-')}-{size.endings}.json"
    if not kept.exists():
        if progress:
            progress(0, size.endings, f"endings of {name}")
        grade = grade_endgames(load("durak"), [spec, "thrifty"], size.endings, variant="report", limit=NODES)[spec]
        write_whole(kept, (json.dumps(plain({"agent": name, **asdict(grade)}), indent=2) + "\n").encode())
    return json.loads(kept.read_text("utf-8"))


def _turned(learner: str, games: int, row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the suite, which counts games lost, as one of games not lost."""
    figure, sides = row["figure"], {"point": "point", "low": "high", "high": "low"}
    turned = {one: None if figure[other] is None else 100 - figure[other] for one, other in sides.items()}
    return {"learner": learner, "games": games, "row": row["row"], "n": figure["n"], **turned}


def _seconds(folder: Path, found: Mapping[str, Mapping[tuple[int, int], str]]) -> dict[str, float]:
    """How long each learner's longest training took, at both tables: without simulation for evaluators."""
    seconds = {}
    for name, agents in found.items():
        last = max(games for _, games in agents)
        if name == "evaluator":
            reports = folder.glob(f"evaluator-*-{last}/*/report.json")
            seconds[name] = sum(json.loads(one.read_text("utf-8"))["seconds"] for one in reports)
        else:
            places = [folder / f"{name}-{seats}" / f"{last:07d}.safetensors" for seats in TABLES]
            seconds[name] = sum(load_policy(place).facts.seconds for place in places)
    return seconds


def ship(folder: Path) -> list[Path]:
    """Put the networks that learned most among the models that come with cardai; where they lie now."""
    runs = {f"report{seats}": (f"evaluator-{seats}-{_most(folder, seats)}", seats) for seats in TABLES}
    runs[f"podkidnoy{THROW_IN_TABLE}"] = f"podkidnoy-{THROW_IN_TABLE}", THROW_IN_TABLE
    shipped = []
    for name, (run, seats) in runs.items():
        about = f"Durak for {seats}: judges before any card is drawn"
        place = SHIPPED / "durak" / f"{name}.safetensors"
        shipped.append(workshop.ship(folder, f"{run}/best", place, about, COMMAND))
    return shipped


def _most(folder: Path, seats: int) -> int:
    """The most games an evaluator has learned from in a folder."""
    return max(int(place.name.rpartition("-")[2]) for place in folder.glob(f"evaluator-{seats}-*"))


def draw(folder: Path, result: Reproduction) -> Path:
    """Games not lost over games learned from, a panel for each of the report's opponents; the image file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    for axes, (row, title) in zip(figure.subplots(2, 2).flat, ROWS.items(), strict=True):
        for learner in LEARNERS:
            points = sorted(
                (one["games"], one["point"]) for one in result.rows if (one["learner"], one["row"]) == (learner, row)
            )
            axes.plot(*zip(*points, strict=True), marker="o", label=learner)
        claim = CLAIMS.get(row)
        if claim:
            low, _, high = claim.partition("-")
            axes.axhspan(float(low) - 0.2, float(high or low) + 0.2, color="grey", alpha=0.3, label="the report's PPO")
        axes.set_xscale("log")
        axes.set_title(f"against {title}")
        axes.set_xlabel("games learned from")
        axes.set_ylabel("games not lost, %")
    figure.axes[0].legend(frameon=False)
    figure.savefig(folder / "learners.svg")
    return folder / "learners.svg"
