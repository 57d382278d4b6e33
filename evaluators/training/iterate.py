"""Generations: games are played, a network learns from them, and is promoted if it beats the champion.

    report = iterate(read(IterateConfig, "moska.toml"))

The folder of a run holds what was decided (`iterate.toml`), a folder for each generation, and what is made of these:
`history.jsonl` (a line a generation), `iterate.json`, `strength.png` and the champion (`champion.safetensors` and, so
that the folder is an agent, `model.safetensors`). Each step of a generation leaves its result in a file there:

    generation-001/games/       records          games.json      how many, and how each agent did
    generation-001/training/    a training run   training.json   its figures
    generation-001/duel/ ...    played games     benchmark.json  against the champion and the reference

A run that was stopped anywhere goes on there, and ends with the files it would have had.
"""

import contextlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cardai.agents.spec import agent
from cardai.data.files import write_whole
from cardai.data.record import read
from cardai.data.selfplay import SHARD, parse_pool, simulate_shards
from cardai.errors import CardaiError
from cardai.game import Game
from cardai.measure.duel import Duel, duel, exploring, with_epsilon
from cardai.progress import Progress
from cardai.registry import load
from evaluators import settings
from evaluators.model import FILE as MODEL
from evaluators.scorer import set_device
from evaluators.training.config import TrainConfig
from evaluators.training.generations import Generation, IterateReport, draw_strength
from evaluators.training.iterate_config import IterateConfig

if TYPE_CHECKING:
    from evaluators.training.train import TrainingResult

CONFIG, HISTORY, REPORT = "iterate.toml", "history.jsonl", "iterate.json"
CHAMPION, FIGURE = "champion.safetensors", "strength.png"
STEPS = ("games", "training", "benchmark")  # of a generation; each has its result in a file of that name
FEWEST_IN_FILE = 1000  # games; those of the file under way are lost when simulation is stopped


def iterate(config: IterateConfig, progress: Progress | None = None) -> IterateReport:
    """Make generations, or go on making them, until there are enough or time is up.

    In a folder with a run of the same config, that run goes on. Time is looked at all along: simulation loses the file
    under way, training what came after its last checkpoint, a benchmark its block. Ctrl-C ends it in the same way, with
    the generations that have ended. Raises CardaiError for a folder of something else and for what does not fit.
    """
    game, folder = load(config.game), Path(config.out)
    _refuse_unfit(config, game)
    _claim(folder, config)
    set_device(config.device)
    run = _Run(config, game, _Clock(config.minutes, progress))
    stopped = "generations"
    try:
        while not config.generations or len(run.ended) < config.generations:
            run.next_generation()
    except _TimeIsUp:
        stopped = "minutes"
    except KeyboardInterrupt:
        stopped = "interrupted"
    return run.report(stopped)


def default_pool(game: Game) -> dict[str, float]:
    """Who plays when nobody is named: random and all the game brings, spec -> weight."""
    pool = {"random": 1.0}
    for name, player in game.players.items():
        pool[name] = 1.0
        if player.defaults:
            pool[f"{name}?randomised"] = 1.0
    for heuristic in game.heuristics:
        pool[f"greedy:{heuristic}"] = 1.0
        pool[f"greedy:{heuristic}?epsilon=0.1"] = 1.0
    return pool


class _TimeIsUp(Exception):
    """The minutes are over."""


class _Clock:
    """Tells progress, and ends what is under way when time is up."""

    def __init__(self, minutes: float, progress: Progress | None) -> None:
        self.progress, self.about = progress, ""
        self.deadline = time.monotonic() + 60 * minutes if minutes else float("inf")

    def look(self) -> None:
        """Raise _TimeIsUp if it is."""
        if time.monotonic() > self.deadline:
            raise _TimeIsUp

    def __call__(self, done: int, total: int, words: str = "") -> None:
        """Progress of a step; what has come to its end is not thrown away."""
        if self.progress:
            self.progress(done, total, f"{self.about}: {words}" if words else self.about)
        if done < total:
            self.look()


class _Run:
    """A run: the generations that have ended, and how the next one is made."""

    def __init__(self, config: IterateConfig, game: Game, clock: _Clock) -> None:
        self.config, self.game, self.clock = config, game, clock
        self.folder = Path(config.out)
        self.seats = config.seats or game.default_seats
        self.others = parse_pool(config.pool) or default_pool(game)
        self.reference = config.reference or ""  # until the first games tell
        self.ended: list[Generation] = []
        while self._has_ended(1 + len(self.ended)):
            self._end(1 + len(self.ended))
        self._keep()

    @property
    def champion(self) -> int:
        """The generation whose model is the champion; 0 while the reference is."""
        return max((one.number for one in self.ended if one.is_promoted), default=0)

    def next_generation(self) -> None:
        """Make the generation after the last one, or go on making it."""
        number = 1 + len(self.ended)
        for name, step in zip(STEPS, (self._games, self._training, self._benchmark), strict=True):
            place = self._place(number) / f"{name}.json"
            if not place.exists():
                self.clock.look()
                self.clock.about = f"generation {number}"
                with self._timed(number, name):
                    made = step(number)
                _write_json(place, made)
            self._choose_reference()
        self._end(number)
        self._keep()

    def report(self, stopped: str) -> IterateReport:
        """The generations so far."""
        config, title = self.config, f"{self.game.title}, {self.seats} seats"
        found = IterateReport(
            title=f"{title}: {config.training['body']}, {config.kind}",
            config=settings.as_plain(config),
            reference=self.reference,
            champion=self.champion,
            model=self._spec(self.folder) if self.champion else self.reference,
            stopped=stopped,
            generations=tuple(self.ended),
        )
        _write_json(self.folder / REPORT, found.as_json())
        return found

    def _games(self, number: int) -> dict[str, Any]:
        simulated = simulate_shards(
            self.game,
            self._pool(number),
            self.config.games,
            folder=self._place(number) / "games",
            seed=self._seed(number, 0),
            variant=self.config.variant,
            seats=self.seats,
            shard=min(max(self.config.games // 10, FEWEST_IN_FILE), SHARD),
            threads=self.config.threads,
            progress=self.clock,
        )
        if simulated.interrupted:
            raise KeyboardInterrupt
        return _counted(simulated.files, self.config.games)

    def _training(self, number: int) -> dict[str, Any]:
        from evaluators.training.train import train

        config = self.config
        first, leader = max(1, number - config.window + 1), self._leader(number)
        learned = TrainConfig(
            game=config.game,
            data=tuple(str(self._place(one) / "games") for one in range(first, number + 1)),
            out=str(self._place(number) / "training"),
            variant=config.variant,
            start_from=str(self._model(leader)) if config.warm_start and leader else None,
            seed=self._seed(number, 1),
            device=config.device,
            threads=config.threads,
            **config.training,
        )
        result: TrainingResult = train(learned, self.clock)
        test = result.report.get("test", {}).get("split", {}).get("bce")
        return {
            "learned": result.report["states"]["training"],
            "steps": result.steps,
            "bce": {"validation": result.validation and result.validation.bce, "test": test},
        }

    def _benchmark(self, number: int) -> dict[str, Any]:
        candidate, champion = self._spec(self._model(number)), self._champion_spec()
        duels = {
            "duel": (champion, self.config.most_benchmark_games, self._seed(number, 2)),
            "strength": (self.reference, self.config.benchmark_games, self._seed(0, 2)),
        }
        found = {}
        for name, (other, most, seed) in duels.items():
            self.clock.look()
            self.clock.about = f"generation {number}: against {self._name(other)}"
            found[name] = duel(
                self.game,
                *exploring((candidate, other), self.config.benchmark_epsilon),
                seats=self.seats,
                folder=self._place(number) / name,
                variant=self.config.variant,
                games=self.config.benchmark_games,
                most=most,
                seed=seed,
                threads=self.config.threads,
                progress=self.clock,
            ).as_json()
        return {"champion": self._name(champion), **found}

    def _pool(self, number: int) -> dict[str, float]:
        """Who plays the games of a generation, spec -> weight."""
        config, leader = self.config, self._leader(number)
        total, rest = sum(self.others.values()), 1.0 - config.champion_share - config.earlier_share if leader else 1.0
        pool = {spec: rest * weight / total for spec, weight in self.others.items()}
        others = [one for one in range(max(1, number - config.window), number) if one != leader]
        shares = {leader: config.champion_share} if leader else {}
        shares |= {one: config.earlier_share / len(others) for one in others}
        explored = config.exploring if config.epsilon else 0.0
        for one, share in shares.items():
            spec = self._spec(self._model(one))
            pool |= {spec: share * (1 - explored), with_epsilon(spec, config.epsilon): share * explored}
        return {spec: weight for spec, weight in pool.items() if weight > 1e-12}

    def _leader(self, number: int) -> int:
        """The generation whose model plays most: the champion, or else the newest; 0 if there is none."""
        return self.champion or number - 1

    def _champion_spec(self) -> str:
        return self._spec(self._model(self.champion)) if self.champion else self.reference

    def _choose_reference(self) -> None:
        """Take the best of the first games, unless another was asked for; rather one that always plays its best."""
        if self.reference:
            return
        scores = _read_json(self._place(1) / "games.json", ("scores",))["scores"]
        agents = [one for one in (agent(self.game, spec) for spec in scores) if not one.peeks]
        steady = [one for one in agents if not (one.strategy.randomised or one.strategy.explores)]
        if not agents:
            raise CardaiError("nobody of the pool can be the reference: all of them peek; name one")
        self.reference = max(steady or agents, key=lambda one: scores[one.spec]).spec

    def _has_ended(self, number: int) -> bool:
        return all((self._place(number) / f"{step}.json").exists() for step in STEPS)

    def _end(self, number: int) -> None:
        """Take the results of a generation's steps, from their files, into the history."""
        self._choose_reference()
        place = self._place(number)
        games = _read_json(place / "games.json", ("games", "states", "endless"))
        training = _read_json(place / "training.json", ("learned", "steps", "bce"))
        benchmark = _read_json(place / "benchmark.json", ("champion", "duel", "strength"))
        self.ended.append(
            Generation(
                number=number,
                games=games["games"],
                states=games["states"],
                endless=games["endless"],
                learned=training["learned"],
                steps=training["steps"],
                bce=training["bce"],
                champion=benchmark["champion"],
                duel=_duel(place / "benchmark.json", benchmark["duel"]),
                strength=_duel(place / "benchmark.json", benchmark["strength"]),
                seconds=_spent(place),
            )
        )

    def _keep(self) -> None:
        """Write what is made of all generations."""
        lines = "".join(f"{json.dumps(one.as_json())}\n" for one in self.ended)
        _write_bytes(self.folder / HISTORY, lines.encode())
        if self.champion:
            model = _read_bytes(self._model(self.champion))
            _write_bytes(self.folder / CHAMPION, model)
            _write_bytes(self.folder / MODEL, model)
        if self.ended:
            draw_strength(self.ended, self.game.title, self.reference, self._alike(), self.folder / FIGURE)

    def _alike(self) -> float | None:
        """The mean score of players that are alike, in percent, where the game promises one."""
        total = self.game.score_sum(self.seats)
        return 100 * total / self.seats if total else None

    def _place(self, number: int) -> Path:
        return self.folder / f"generation-{number:03d}"

    def _model(self, number: int) -> Path:
        return self._place(number) / "training" / MODEL

    def _spec(self, model: Path) -> str:
        """A model as an agent."""
        worlds = f"?worlds={self.config.worlds}" if self.config.kind == "sampled" else ""
        return f"{self.config.kind}:{model}{worlds}"

    def _name(self, spec: str) -> str:
        """What tables call an agent."""
        for number in range(1, 2 + len(self.ended)):
            if spec == self._spec(self._model(number)):
                return f"generation {number}"
        return spec

    def _seed(self, number: int, purpose: int) -> int:
        """A seed of its own for each step of each generation."""
        return int(np.random.SeedSequence([self.config.seed, number, purpose]).generate_state(1)[0])

    @contextlib.contextmanager
    def _timed(self, number: int, step: str) -> Iterator[None]:
        """Add up the time that a step takes, in its parts if it is stopped."""
        place, began = self._place(number), time.monotonic()
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CardaiError(f"cannot write to {place}: {error.strerror or error}") from None
        try:
            yield
        finally:
            spent = _spent(place)
            spent[step] = round(spent.get(step, 0.0) + time.monotonic() - began, 3)
            with contextlib.suppress(CardaiError):  # a full disk has been named already
                _write_json(place / "seconds.json", spent)


def _refuse_unfit(config: IterateConfig, game: Game) -> None:
    """Refuse names that the game does not know before anything is played."""
    game.options(config.seats, config.variant)
    game.encoder(config.training["encoder"])
    for spec in (*parse_pool(config.pool), *([config.reference] if config.reference else [])):
        agent(game, spec).check_fits(game, config.variant, config.seats or game.default_seats)


def _claim(folder: Path, config: IterateConfig) -> None:
    """Make the run's folder ready, or refuse it: it must be new or empty, or hold this run."""
    place = folder / CONFIG
    try:
        if place.exists():
            changed = settings.difference(settings.read(IterateConfig, place), config)
            if changed:
                raise CardaiError(f"{folder} holds another run, with {changed}; choose another folder")
        elif folder.is_dir() and any(folder.iterdir()):
            raise CardaiError(f"{folder} is no folder of generations: it holds files but no {CONFIG}; choose another")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CardaiError(f"cannot write to {folder}: {error.strerror or error}") from None
    settings.write(config, place)


def _counted(files: Sequence[str], asked: int) -> dict[str, Any]:
    """What record files hold; `scores`: each agent's mean over its seats, in percent, spec -> number."""
    games = states = 0
    scores: dict[str, list[float]] = {}
    for file in files:
        reader = read(file)
        for one in reader:
            games += 1
            states += len(one.moves)
            for place, score in zip(one.lineup, one.scores, strict=True):
                scores.setdefault(reader.header.agents[place], []).append(score)
    means = {spec: 100 * sum(found) / len(found) for spec, found in scores.items()}
    return {"games": games, "states": states, "endless": asked - games, "scores": means}


def _spent(place: Path) -> dict[str, float]:
    """The seconds that the steps of a generation took, by their names."""
    file = place / "seconds.json"
    return _read_json(file) if file.exists() else {}


def _read_json(place: Path, names: tuple[str, ...] = ()) -> dict[str, Any]:
    try:
        found = json.loads(_read_bytes(place))
    except ValueError:
        found = None
    if not isinstance(found, dict) or any(name not in found for name in names):
        raise _damaged(place)
    return found


def _duel(place: Path, told: Any) -> Duel:
    try:
        return Duel.from_json(told)
    except (TypeError, KeyError, AttributeError):
        raise _damaged(place) from None


def _damaged(place: Path) -> CardaiError:
    return CardaiError(f"{place} is damaged: delete it, and its step is done again")


def _read_bytes(place: Path) -> bytes:
    try:
        return place.read_bytes()
    except OSError as error:
        raise CardaiError(f"cannot read {place}: {error.strerror or error}") from None


def _write_json(place: Path, told: Mapping[str, Any]) -> None:
    _write_bytes(place, (json.dumps(told, indent=2, ensure_ascii=False) + "\n").encode())


def _write_bytes(place: Path, content: bytes) -> None:
    """Give a file this content, unless it has it."""
    try:
        if not place.exists() or place.read_bytes() != content:
            write_whole(place, content)
    except OSError as error:
        raise CardaiError(f"cannot write {place}: {error.strerror or error}") from None
