"""Two ways to learn a game that `learn` tries: an evaluator, by generations, and a policy, by lessons and PPO.

Each has a folder of its own, in which its settings are kept: they come from measured times, and a later call goes on
with those of the first one.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cardai.errors import CardaiError
from cardai.evaluators.policies.decisions import play_trajectories
from cardai.evaluators.policies.network import on_device
from cardai.evaluators.policies.ppo import Ppo, PpoConfig
from cardai.evaluators.policies.training import PolicyTraining, TrainingTable
from cardai.evaluators.training.generations import IterateReport
from cardai.evaluators.training.iterate import iterate
from cardai.evaluators.training.iterate_config import IterateConfig
from cardai.evaluators.training.iterate_folder import CONFIG, STEPS, IterateFolder
from cardai.evaluators.training.learn_measures import GameMeasures
from cardai.files import settings
from cardai.game import Game
from cardai.playing.agents.spec import agent
from cardai.playing.progress import Progress

POLICY_CONFIG = "ppo.toml"

_SIMULATED = 0.2  # the share of the first part of the time in which a generation's games are played, about
_SLOWER = 3.0  # how much longer a game of the pool takes than one of random play, about
_STATES_A_SECOND = 5000  # of the first part of the time: so many states can be played and trained on, at least
_FEWEST_GAMES, _MOST_GAMES = 300, 20_000  # of a generation; from fewer no part is left to test on
_STEP_DECISIONS = 2000  # of the games of a step of PPO
_LESSONS = 0.6  # the share of the time that lessons take at most, about
_LEARNED_A_SECOND = 15_000  # decisions of a teacher, about
_TRIAL = 20  # games of the teacher that show how long they take
_FEWEST_LESSONS, _MOST_LESSONS = 100, 100_000  # games


@dataclass(frozen=True)
class Subject:
    """What is to be learned, and with what. `place`: the name or path of the game."""

    game: Game
    place: str
    variant: str
    seats: int
    seed: int
    threads: int | None
    device: str
    measures: GameMeasures
    progress: Progress | None


class EvaluatorLearner:
    """Generations: games are played, a network learns how they end, and the agent takes the best position next.

    `watch`: called with the spec of each agent that is finished.
    """

    name, can_be_cut = "evaluator", False

    def __init__(self, subject: Subject, folder: Path, seconds: float, watch: Callable[[str], Any]) -> None:
        self.folder, self.progress, self.watch = IterateFolder(folder), subject.progress, watch
        file, measures = folder / CONFIG, subject.measures
        here = {"game": subject.place, "out": str(folder), "threads": subject.threads, "device": subject.device}
        if file.exists():
            self.config = replace(settings.read(IterateConfig, file), **here)
            return
        games = generation_games(measures, seconds)
        benchmark = min(max(games // 10, 100), 1000)
        self.config = IterateConfig(
            **here, variant=subject.variant, seats=subject.seats, games=games, window=3, benchmark_games=benchmark,
            most_benchmark_games=2 * benchmark, benchmark_epsilon=0.0 if measures.has_chance else 0.1, generations=0,
            minutes=1.0, seed=subject.seed, training={"checkpoint_minutes": 0.0},
        )  # fmt: skip

    def about(self) -> list[str]:
        """Say how many games a generation has, and who plays them."""
        return [
            f"evaluator: generations of {self.config.games:,} games, which fit into the time at the measured speed, "
            "first among random and the game's own players; layers, batch and epochs by the number of their states"
        ]

    def go_on(self, seconds: float) -> None:
        """Make generations for some seconds. Raises KeyboardInterrupt at Ctrl-C, after what was learned was kept."""
        shown = len(self._finished())

        def draw(outcome: Any) -> None:
            nonlocal shown
            if isinstance(outcome, IterateReport) and len(outcome.generations) > shown:
                shown = len(outcome.generations)
                self.watch(self._spec(shown))

        if iterate(replace(self.config, minutes=seconds / 60), self.progress, draw).interrupted:
            raise KeyboardInterrupt

    def candidates(self) -> list[str]:
        """Return the two generations that did best against the reference; an unfinished one only without others."""
        finished = self._finished()
        if not finished:
            return [self._spec(1)] if self.folder.model(1).exists() else []
        leads = {number: self.folder.read_generation(number).strength.difference.point for number in finished}
        return [self._spec(number) for number in sorted(leads, key=lambda number: -leads[number])[:2]]

    def has(self, spec: str) -> bool:
        """Whether this is the spec of a generation."""
        return spec in map(self._spec, self._finished())

    def _finished(self) -> list[int]:
        numbers = []
        while all(self.folder.has_result(len(numbers) + 1, step) for step in STEPS):
            numbers.append(len(numbers) + 1)
        return numbers

    def _spec(self, number: int) -> str:
        return f"greedy:{self.folder.model(number).parent}"


class PolicyLearner:
    """A policy that sees by one of the game's encoders: lessons, then PPO.

    The strongest of the game's own players, if there are any, gives lessons. In PPO the network plays against itself
    and makes moves that led to better scores more probable.
    """

    can_be_cut = True

    def __init__(self, subject: Subject, folder: Path, seconds: float, encoder: str, teacher: str) -> None:
        self.subject, self.folder, self.name, self.encoder = subject, folder, folder.name, encoder
        self._training: PolicyTraining | None = None
        file, measures = folder / POLICY_CONFIG, subject.measures
        if file.exists():
            self.config = settings.read(PpoConfig, file)
            return
        step = int(min(max(_STEP_DECISIONS / measures.decisions, 16), 256)) // 4 * 4
        lessons = self._lessons(teacher, _LESSONS * seconds)
        self.config = PpoConfig(
            games=10**8, step_games=step, batch_games=step // 4, learning_rate=1e-3, final_rate=1e-3,
            choices_only=True, teacher=teacher, lessons=lessons, lesson_games=min(max(lessons // 50, 20), 200),
            lesson_batch=64,
        )  # fmt: skip
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CardaiError(f"cannot write to {folder}: {error.strerror or error}") from None
        settings.write(self.config, file)

    def _lessons(self, teacher: str, seconds: float) -> int:
        """How many games of lessons fit into some seconds; 0 without a teacher. Some games show how long they are."""
        if not teacher:
            return 0
        table = self._table()
        seeds = table.stream.integers(2**63, size=_TRIAL, dtype=np.uint64)
        lineups, agents = np.zeros((_TRIAL, table.seats), np.int64), [agent(table.game, teacher)]
        began = time.monotonic()
        played = play_trajectories(table.encoder, agents, lineups, seeds, table.variant, choices_only=True)
        decisions = len(played) if played is not None else 0
        pace = (time.monotonic() - began + decisions / _LEARNED_A_SECOND) / _TRIAL
        return _rounded(min(max(seconds / pace, _FEWEST_LESSONS), _MOST_LESSONS))

    def about(self) -> list[str]:
        """Say how large its steps and its network are, and who teaches it."""
        config = self.config
        if self.encoder != next(iter(self.subject.game.learning.encoders)):
            return [f"{self.name}: a policy like the first one that sees by another encoder"]
        lines = [
            f"{self.name}: PPO in steps of {config.step_games} games, about {_STEP_DECISIONS:,} decisions if games are "
            f"not long; layers of {config.shared} and {config.hidden} units"
        ]
        if config.teacher:
            who = f"first the moves of up to {config.lessons:,} games of {config.teacher}"
            lines.append(f"{self.name}: {who}, the strongest of the game's own players")
        return lines

    def go_on(self, seconds: float) -> None:
        """Learn for some seconds and write the policy. Raises KeyboardInterrupt at Ctrl-C, after it was written."""
        until = time.monotonic() + seconds

        def tell(games: int, _: int) -> None:
            if self.subject.progress:
                left = max(0.0, until - time.monotonic())
                self.subject.progress(round(seconds - left), round(seconds), f"{self.name}: {games:,} games")

        with on_device():
            policy = self._continued().run(tell, None, 1, lambda: time.monotonic() > until)
            policy.save(self.folder / f"policy-{policy.metadata.metrics['games']:010d}.safetensors")
        if self._continued().interrupted:
            raise KeyboardInterrupt

    def candidates(self) -> list[str]:
        """Return the newest policy: its most probable moves and, if cards are hidden, its drawn moves too."""
        files = self._files()
        if not files:
            return []
        specs = [f"policy:{files[-1]}?greedy", f"policy:{files[-1]}"]
        return specs if self.subject.measures.is_hidden else specs[:1]

    def has(self, spec: str) -> bool:
        """Whether this is the spec of a policy that was written."""
        return spec in (f"policy:{file}?greedy" for file in self._files())

    def _continued(self) -> PolicyTraining:
        if self._training is None:
            table = self._table()
            self._training = PolicyTraining(table, Ppo(table, self.config, self.subject.seed), self.folder)
        return self._training

    def _table(self) -> TrainingTable:
        own = self.subject
        return TrainingTable(own.game, own.seed, own.variant, own.seats, self.encoder)

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("policy-*.safetensors"))


Learner = EvaluatorLearner | PolicyLearner
"""A way to learn a game. `can_be_cut`: whether it can be asked to go on in small parts without a loss."""


def generation_games(measures: GameMeasures, seconds: float) -> int:
    """Return how many games a generation has, if the first part of the time is so many seconds."""
    played = _SIMULATED * seconds / (_SLOWER * measures.seconds)
    learned = _STATES_A_SECOND * seconds / measures.decisions
    return _rounded(max(min(played, learned, _MOST_GAMES), _FEWEST_GAMES))


def _rounded(number: float) -> int:
    """Return a number in which only the first digit is not 0."""
    unit = 10 ** (len(str(int(number))) - 1)
    return int(number) // unit * unit
