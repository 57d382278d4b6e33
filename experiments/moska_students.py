"""Students of Moska: networks that count who can kill what, and learn from a search one turn further than `expert` did.

As an experiment it measures those that come with cardai, alone and as the judge of a search. As a program it trains:

    python -m cardai.experiments.moska_students runs/moska-students --device gpu     # the same command resumes a run

The encoder is `tactical`. A student begins with the weights of `expert`, which sees a part of that: further inputs and
further units of wider layers begin without any effect. At 30 decisions of each game the teacher plays up to six moves
on in one world, over its next choice to the one after, and the student learns the values of all six. Stages:

    small1    the layers of `expert`; the teacher is the search by `expert`
    big2      wider layers, from small1; the teacher is the search by small1
    student   goes on from big2, and `student_small` from small1; the teacher is the search by big2, in which the others
              play as small1

`student` and `student_small`, which come with cardai, were made so on a lent machine, one NVIDIA H100 and 16 processor
cores, in 12 minutes: 70,000, 110,416 and 48,000 games, 7.9, 12.6 and 5.6 million labels. Nearly all of the time are
games and labels, which need processors: some 120 microseconds a label by small1's layers. The GPU trains 4 to 5 million
states a second.

Source: Anthony, Tian and Barber 2017 (expert iteration); Chen, Goodfellow and Shlens 2016 (wider layers that begin as
narrower ones).
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cardai.evaluators.model import SHIPPED, Model
from cardai.evaluators.model import load as load_model
from cardai.experiments.machinery.findings import Finding, Findings, of_estimate
from cardai.experiments.machinery.lab import Lab
from cardai.experiments.machinery.networks import NetworkStore, watched
from cardai.experiments.moska_expert import LOST
from cardai.game import Game
from cardai.playing.progress import Progress
from cardai.records.dataset import collect_games
from cardai.records.recipe import Recipe
from cardai.records.selfplay import simulate_here
from cardai.registry import load

SEED = 20261126
ALONE = {name: f"greedy:{name}" for name in ("best", "expert", "student_small", "student")}
SEARCHES = {
    "student_small, search": "ahead:student_small?worlds=16",
    "student_small, deep": "ahead:student_small?worlds=32&turns=1",
}
"""{name: spec} of the agents that are measured: without a search, and with one."""


@dataclass(frozen=True)
class Scale:
    """How much is played: games behind a figure without a search (`alone`) and with one (`searched`)."""

    alone: int
    searched: int


SCALES = {"smoke": Scale(8, 4), "small": Scale(20_000, 1000)}

ENCODER = "tactical"
SMALL, BIG = (256, 256, 128), (512, 512, 256)
NATURAL = 0.8
"""What is added to the log odds of `expert`, which learned on the scale of its balanced judge."""
OTHERS = {"bot3": 1.0, "bot3?randomised": 1.0, "greedy:best": 2.0, "greedy:nn2": 0.5}
"""{spec: weight} of those with whom the judge of a stage plays its games."""
WAYS = {"": 8.0, "?epsilon=0.1": 4.0, "?temperature=0.02": 4.0}
"""{options of the judge's spec: weight}: the ways in which it plays them."""
TEACHER = "?moves=6&worlds=1&turns=1"
LEARNING = {
    "encoder": ENCODER, "moment": "before_draw", "epochs": 0, "schedule": "cosine", "optimiser": "adamw",
    "weight_decay": 0.01, "parts": (0.97, 0.02, 0.01), "batch": 8192, "warm_up": 100, "per_game": 30,
}  # fmt: skip


@dataclass(frozen=True)
class StudentStages:
    """How many games each stage plays, how many steps it trains, and how many games give the scale of new inputs."""

    games: tuple[int, int, int] = (70_000, 110_416, 48_000)
    steps: tuple[int, int, int] = (2500, 3943, 2000)
    start_games: int = 2000


STAGES = StudentStages()


def train(
    folder: Path, sizes: StudentStages = STAGES, progress: Progress | None = None, device: str = "auto", **learning: Any
) -> dict[str, str]:
    """Train the students in a folder, or resume; returns {name: model file}. `learning`: fields of `TrainConfig`."""
    game = load("moska")
    store = NetworkStore(game, folder, LEARNING | learning, progress, device)
    rows = typical_rows(game, sizes.start_games)
    made: dict[str, str] = {}

    def stage(
        number: int,
        names: Sequence[str],
        judge: str,
        starts: Sequence[str],
        rate: float,
        others: str = "",
        **more: float,
    ) -> None:
        pool = OTHERS | {f"greedy:{judge}{way}": weight for way, weight in WAYS.items()} | more
        games = store.games(f"games{number}", pool, sizes.games[number - 1], seed=1500 + number)
        for name, start in zip(names, starts, strict=True):
            hidden = list(SMALL if "small" in name else BIG)
            made[name] = store.network(
                name, (games,), seed=number, teacher=f"ahead:{judge}{TEACHER}{others}", start_from=start,
                learning_rate=rate, steps=sizes.steps[number - 1], check_steps=max(2, sizes.steps[number - 1] // 4),
                options={"hidden": hidden, "dropout": [0.0] * len(hidden)},
            )  # fmt: skip

    def begun(name: str, model: str | Path, hidden: Sequence[int], shift: float = 0.0) -> str:
        place = folder / f"{name}.safetensors"
        if not place.exists():
            grown(load_model(model), ENCODER, rows, hidden, shift).save(place)
        return str(place)

    stage(1, ["small1"], "expert", [begun("start", SHIPPED / "moska" / "expert.safetensors", SMALL, NATURAL)], 5e-4)
    small = made["small1"]
    stage(2, ["big2"], small, [begun("wider", small, BIG)], 5e-4)
    big = made["big2"]
    company = {"greedy:expert": 1.0, f"greedy:{small}": 2.0, f"greedy:{big}": 7.0}
    stage(3, ["student", "student_small"], big, [big, small], 4e-4, f"&others=greedy:{small}", **company)
    return made


def typical_rows(game: Game, games: int) -> np.ndarray:
    """Rows u8[n, width] of after-states as they occur, for the mean and the variance of inputs that are new."""
    played = simulate_here(game, {"greedy:expert": 1.0, "bot3": 0.3}, games, seed=77)
    data = collect_games(game, played, Recipe(encoder=ENCODER, moment="before_draw", per_game=20))
    return data.take(np.arange(len(data)))


def grown(model: Model, encoder: str, rows: np.ndarray, hidden: Sequence[int], shift: float = 0.0) -> Model:
    """A model of more inputs and wider layers whose log odds are those of `model`, plus `shift`.

    `encoder`: its values begin with those of the model's own encoder, or are the same. `rows`: u8[n, width] of it.
    New units have random weights to what is before them, from the seed 0, and none to what comes after.
    """
    draw, tensors = np.random.default_rng(0), {name: np.array(value) for name, value in model.tensors.items()}
    own, width = len(tensors["statistics.mean"]), rows.shape[1]
    for name, found in (("mean", rows[:, own:].mean(axis=0)), ("variance", rows[:, own:].var(axis=0))):
        tensors[f"statistics.{name}"] = np.concatenate([tensors[f"statistics.{name}"], found])
    for i, (inputs, units) in enumerate(zip([width, *hidden], hidden, strict=False)):
        kernel, bias = tensors[f"dense.layers.{i}.kernel"], tensors[f"dense.layers.{i}.bias"]
        wider = np.zeros((inputs, units))
        wider[: len(kernel), : len(bias)] = kernel
        wider[:, len(bias) :] = draw.normal(0, np.sqrt(2 / inputs), (inputs, units - len(bias)))
        tensors[f"dense.layers.{i}.kernel"] = wider
        tensors[f"dense.layers.{i}.bias"] = np.concatenate([bias, np.zeros(units - len(bias))])
    last = tensors["dense.logit.kernel"]
    tensors["dense.logit.kernel"] = np.concatenate([last, np.zeros((hidden[-1] - len(last), 1))])
    tensors["dense.logit.bias"] = tensors["dense.logit.bias"] + shift
    layout = tuple((segment.name, segment.shape) for segment in load("moska").encoder(encoder).layout(model.seats))
    options = {"hidden": list(hidden), "dropout": [0.0] * len(hidden)}
    metadata = replace(model.metadata, encoder=encoder, layout=layout, body_options=options)
    return Model(metadata, {name: value.astype(np.float32) for name, value in tensors.items()})


def run(lab: Lab) -> Findings:
    of_size: Mapping[int, Mapping[str, str]] = {lab.size.alone: ALONE, lab.size.searched: SEARCHES}
    return Findings(
        [
            Finding(LOST, name, row["row"], of_estimate(row["figure"]), piece=key)
            for games, agents in of_size.items()
            for name, spec in agents.items()
            for key in (name.replace(", ", "-"),)
            for row in lab.bench(key, load("moska"), "search", spec, games=lab.games or games, seed=SEED)["rows"]
        ]
    )


def main() -> None:
    """Train in a folder, or resume."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="where games and networks are kept")
    parser.add_argument("--device", default="auto", help="where networks are trained: auto, cpu or gpu")
    arguments = parser.parse_args()
    students = watched("students", lambda line: train(arguments.folder, progress=line, device=arguments.device))
    for name, place in students.items():
        print(name, place)


if __name__ == "__main__":
    main()
