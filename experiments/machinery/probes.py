"""Probes: each computes how one thing behaves, as a digest of what it does or as numbers. See `behaviour`."""

import contextlib
import functools
import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from cardai.errors import CardaiError
from cardai.experiments.machinery import findings
from cardai.experiments.machinery.sealed import read_sealed, write_sealed
from cardai.experiments.machinery.stand_ins import SEED, SMALL, fix_weights, with_stand_ins
from cardai.game import Row, Segment, Suite
from cardai.guests.exact.endings import measure_endings
from cardai.guests.exact.grade import grade
from cardai.guests.exact.solution import solve
from cardai.measure import complexity
from cardai.measure.analysis import analyse
from cardai.measure.bench import run_suite
from cardai.measure.strongest import beside_random
from cardai.playing.agents.spec import agent
from cardai.playing.machine import code_digest
from cardai.playing.stats import interval
from cardai.playing.stats.deals import deal_seeds
from cardai.playing.stats.jsonable import plain
from cardai.playing.table.many import play
from cardai.records.dataset import Dataset, collect
from cardai.records.recipe import Recipe
from cardai.records.record import RecordedGame
from cardai.records.selfplay import simulate
from cardai.registry import load
from cardai.rules.keeping import cache_root

Value = str | list[float]
"""A digest, or numbers from floating-point arithmetic, which differ a little between processors."""

_PLAIN, _QUICK, _DEAR = 32, 8, 2  # seeded games of an agent without, with one, and with many judged positions a move


def _kept(compute: Callable[..., Value]) -> Callable[..., Value]:
    """Compute a value once in a process, and once for the same content of all our code and networks."""

    @functools.cache
    def known(*key: Any) -> Value:
        what = repr((compute.__name__, key))
        name = hashlib.blake2b(what.encode(), digest_size=12).hexdigest()
        code = code_digest("evaluators", "experiments", "games", suffixes=(".py", ".safetensors"))
        place = cache_root() / "behaviour" / code / f"{name}.json"
        with contextlib.suppress(CardaiError):  # it is not there, or damaged
            stored = read_sealed(place)
            if stored["what"] == what:
                return stored["value"]
        return write_sealed(place, {"what": what, "value": compute(*key)})["value"]

    return known


def digest(*parts: Any) -> str:
    found = hashlib.blake2b(digest_size=8)
    for part in parts:
        if isinstance(part, np.ndarray):
            part = (np.round(part, 9) + 0.0 if part.dtype.kind == "f" else part).tobytes()
        found.update((part if isinstance(part, bytes) else repr(part).encode()) + b"\0")
    return found.hexdigest()


@_kept
def plays(name: str, variant: str, seats: int, spec: str) -> Value:
    """A digest of moves and scores of seeded games; an agent has every other seat, the others play at random."""
    game = load(name)
    with tempfile.TemporaryDirectory() as folder:
        player = agent(game, with_stand_ins(spec, Path(folder)))
        games = _PLAIN if ":" not in spec else _DEAR if _is_dear(spec) else _QUICK
        results = beside_random(player, game, variant, seats, games, SEED)
    moves = [b"" if played is None else played.tobytes() for played in results.moves]
    ends = [results.plies, results.endless, results.scores[results.finished]]
    return digest(game.version, *moves, *ends)


@_kept
def outcome(name: str, what: str) -> Value:
    """A digest of an outcome of seeded games at random."""
    game = load(name)
    lineups = np.zeros((_PLAIN, game.default_seats), np.int64)
    results = play(game, [agent(game, "random")], lineups, deal_seeds(SEED, _PLAIN), threads=1, outcomes=(what,))
    return digest(results.outcomes[what][results.finished])


def _is_dear(spec: str) -> bool:
    return not spec.startswith(("greedy:", "policy:")) or "styles" in spec


@functools.cache
def _dataset(name: str, variant: str, seats: int, recipe: str) -> Dataset:
    """The states of seeded games of random play, or of the teacher's."""
    game = load(name)
    with tempfile.TemporaryDirectory() as folder:
        place, fields = Path(folder), json.loads(recipe)
        simulate(game, {"random": 1.0}, 24, out=place / "games.jsonl", seed=SEED, variant=variant, seats=seats)
        teacher = with_stand_ins(fields["teacher"], place)
        return collect(
            [place / "games.jsonl"], Recipe(**fields | {"teacher": teacher, "agents": ()}), game=game, seed=SEED
        )


@_kept
def data(name: str, variant: str, seats: int, recipe: str) -> Value:
    """A digest of the rows and labels that a recipe makes of seeded games."""
    dataset = _dataset(name, variant, seats, recipe)
    return digest(dataset.take(np.arange(len(dataset))), dataset.labels, dataset.game_of)


_LAYOUT = Segment("cells", (3, 4)), Segment("others", (3, 4)), Segment("counts", (5,))


@_kept
def step(body: str, fields: str) -> Value:
    """Losses of a seeded short training of a small network on random rows, and how its weights moved."""
    import jax
    from flax import nnx

    from cardai.evaluators.bodies.build import build
    from cardai.evaluators.network_file import tensors_of
    from cardai.evaluators.training.config import TrainConfig
    from cardai.evaluators.training.trainer import Trainer

    given, stream = json.loads(fields), np.random.default_rng(SEED)
    given["weight_decay"] *= 10  # so that a few steps show it
    config = TrainConfig(
        game="none", data=("none",), out="none", body=body, learning_rate=0.02, steps=8, batch=32, epochs=0, warm_up=2,
        **given,
    )  # fmt: skip
    with jax.default_device(jax.devices("cpu")[0]):
        module = build(body, SMALL[body], list(_LAYOUT), seed=0)
        fix_weights(module)
        before = tensors_of(module)
        trainer = Trainer(nnx.clone(module), config, config.steps)
        state, losses = trainer.start(), []
        for _ in range(config.steps):
            rows = stream.integers(0, 4, (config.batch, sum(segment.size for segment in _LAYOUT))).astype(np.uint8)
            state, loss = trainer.step(state, rows, (rows[:, 0] > rows[:, 20]).astype(np.float32))
            losses.append(float(loss))
        after = tensors_of(trainer.module(trainer.weights(state)))
    return [*losses, *_moved(before, after)]


def _moved(before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray]) -> list[float]:
    """How far the weights moved in all, and how much larger or smaller each tensor became."""
    names = sorted(before)
    far = float(np.sqrt(sum(np.sum((after[name] - before[name]) ** 2) for name in names)))
    return [far, *(float(np.linalg.norm(after[name])) for name in names)]


@_kept
def policy(algorithm: str, name: str, variant: str, seats: int, encoder: str) -> Value:
    """Losses of a seeded short training of a small policy, and the size of its weights."""
    from cardai.evaluators.network_file import tensors_of
    from cardai.evaluators.policies import nfsp, ppo

    place: dict[str, Any] = {"seed": 3, "variant": variant, "seats": seats, "encoder": encoder}
    if algorithm == "ppo":
        trained = ppo.train(load(name), ppo.PpoConfig(games=20, step_games=10, shared=16, hidden=16), **place)
    else:
        config = nfsp.NfspConfig((16,), 1e-3, 1e-3, epochs=2, epoch_games=10, batch=16, optimiser="adam")
        trained = nfsp.train(load(name), config, **place)
    tensors = tensors_of(trained.network)
    counts = [float(trained.metadata.metrics[what]) for what in ("games", "decisions")]
    return [*counts, *(float(np.linalg.norm(tensors[tensor])) for tensor in sorted(tensors))]


@_kept
def estimators() -> Value:
    """Estimates, intervals and comparisons of a fixed sample."""
    stream = np.random.default_rng(SEED)
    shares, other = (stream.random((40, 4)) < chance for chance in (0.3, 0.4))
    points = stream.integers(0, 27, (40, 4)).astype(float)
    shares, other = shares.astype(float), other.astype(float)
    shares[3, 1] = np.nan
    figure = findings.Measurement(15.0, 14.0, 16.0, 900)
    values = [
        [asdict(interval.estimate(sample)) for sample in (shares, points)],
        [asdict(interval.compare(*pair, lower_is_better=True)) for pair in ((shares, other), (points, points[::-1]))],
        interval.wilson(7, 90),
        asdict(findings.over_seeds([1.0, 2.5, 3.0])),
        asdict(findings.difference(figure, findings.Measurement(13.0, 12.5, 14.0, 400))),
    ]
    return _numbers(values)


@_kept
def suite(name: str) -> Value:
    """The rows of a small benchmark in which all play at random."""
    game = load(name)
    measure = next(iter(game.agents.suites.values())).measure if game.agents.suites else "win"
    seats = game.default_seats
    others = Row(("random",) * (seats - (seats // game.teams if game.teams else 1)))
    probe = Suite("", measure, {"random": others}, ("random",))
    report = run_suite(game.changed(suites={"probe": probe}), "probe", ["random"], 40, seed=SEED).as_json()
    return _numbers([[row["figure"], row["beside"]] for row in report["rows"]])


def _numbers(value: Any) -> list[float]:
    """All numbers in plain JSON, in order, but no times."""
    timed = ("seconds", "machine", "rate", "per_second")
    if isinstance(value, Mapping):
        return [
            number for key, part in value.items() if not any(word in key for word in timed) for number in _numbers(part)
        ]
    if isinstance(value, list | tuple):
        return [number for part in value for number in _numbers(part)]
    return [float(value)] if isinstance(value, int | float) and np.isfinite(value) else []


@_kept
def _tree_size() -> Value:
    rows = complexity.measure(load("durak"), [2, 3], 20, "random").as_json()["rows"]
    return _numbers([[row[what] for what in ("decisions", "branching", "power")] for row in rows])


@_kept
def _grades() -> Value:
    graded = grade(solve(load("tictactoe")), "greedy:open_lines")
    return [*map(float, graded.averaged), float(graded.losing_lines)]


@_kept
def _endings() -> Value:
    report = measure_endings(load("durak"), ["thrifty", "random"], 12, variant="report", limit=10_000)
    grades = [asdict(report.grades[spec]) for spec in ("thrifty", "random")]
    return _numbers(plain([[one[what] for what in ("critical", "unsolved", "optimal", "lost")] for one in grades]))


@_kept
def _analysis() -> Value:
    game = load("moska")
    lineups, seeds = np.zeros((1, 4), np.int64), deal_seeds(SEED, 1)
    results = play(game, [agent(game, "bot3")], lineups, seeds, record=True)
    assert results.moves[0] is not None
    recorded = RecordedGame(
        number=0, variant=game.default_variant, seed=int(seeds[0]), lineup=(0, 0, 0, 0), moves=results.moves[0],
        scores=tuple(map(float, results.scores[0])),
    )  # fmt: skip
    found = analyse(game, recorded, agent(game, "greedy:best"), names=["bot3"] * 4, top=3)
    swings = [[swing.ply, swing.seat, swing.before, swing.after, swing.choice] for swing in found.marked()]
    return _numbers(plain([found.values().tolist(), swings]))


MEASURES: Mapping[str, tuple[Any, Callable[[], Value]]] = {
    "tree size durak": (complexity, _tree_size),
    "grade tictactoe": (grade, _grades),
    "endings durak": (measure_endings, _endings),
    "analysis moska": (analyse, _analysis),
}
"""{what and in which game: (what an experiment imports to measure, its behaviour)}."""
