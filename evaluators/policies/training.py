"""The training loop that PPO and NFSP share: rounds of games, an update after each round, progress and Ctrl-C.

    table = TrainingTable(game, seed, variant, seats, encoder)
    policy = PolicyTraining(table, algorithm).run(progress, watch, watch_every)

What differs between algorithms is behind `Algorithm`.
"""

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from cardai.errors import CardaiError
from cardai.evaluators.policies.decisions import DecisionEncoder, Trajectories, play_trajectories
from cardai.evaluators.policies.network import Network
from cardai.evaluators.policies.policy import Policy
from cardai.evaluators.training import checkpoint
from cardai.evaluators.training.checkpoint import Checkpoint
from cardai.evaluators.training.trainer import named_arrays, tree_from
from cardai.files import settings
from cardai.game import Game
from cardai.playing.agents.spec import Agent
from cardai.playing.progress import CountProgress

_SAVED_SECONDS = 30.0  # between checkpoints

PolicyWatch = Callable[[int, Policy], None]
"""Called now and then with (games played, the policy as trained so far)."""


class TrainingTable:
    """The game, seats, variant and encoder with which a policy is trained, and the random stream of the training.

    None stands for the game's default. Raises CardaiError for names that the game does not have, and if it does not
    number its moves.
    """

    def __init__(self, game: Game, seed: int, variant: str | None, seats: int | None, encoder: str | None) -> None:
        self.game = game
        self.variant = game.canonical(variant)
        self.seats = game.default_seats if seats is None else seats
        game.options(self.seats, self.variant)
        self.encoder = DecisionEncoder(game, self.seats, encoder)
        self.stream = np.random.default_rng(seed)


class Algorithm(Protocol):
    """What a training algorithm provides.

    `about`: its name, for the policy's metadata. `config`: its settings. `agents`: the agents of all line-ups; the
    first `trained` of them play by the networks in training or teach them, and only their decisions are learned from.
    `choices_only`: forced moves are no decisions. `games`: games in all.
    """

    about: str
    choices_only: bool
    config: Any
    agents: list[Agent]
    trained: int
    games: int

    def rounds(self) -> Iterator[int]:
        """Yields the number of games of each round."""
        ...

    def lineups(self, done: int, count: int) -> np.ndarray:
        """Returns the line-ups of a round of `count` games, i64[count, seats], after `done` games."""
        ...

    def update(self, trajectories: Trajectories) -> dict[str, float]:
        """Learns from the decisions of a round. Returns the mean losses by name, none if there was no update."""
        ...

    def network(self) -> Network:
        """Returns a copy of the policy's network as trained so far."""
        ...


@runtime_checkable
class Resumable(Protocol):
    """An algorithm whose training can be kept in a folder and go on later.

    `others`: the digests of the files that its teacher and its opponent are read from, by name.
    """

    @property
    def others(self) -> Mapping[str, str]: ...

    def kept(self) -> Mapping[str, Any]:
        """Returns all that an update changes, as trees of arrays by name."""
        ...

    def restore(self, kept: Mapping[str, Any]) -> None:
        """Goes on from what `kept` returned."""
        ...


class PolicyTraining:
    """One training of a policy by an algorithm.

    `folder`: where checkpoints are; if it has one, the training goes on from there. The algorithm must be `Resumable`.
    `interrupted`: whether Ctrl-C has ended it. Raises CardaiError if the folder holds another training.
    """

    def __init__(self, table: TrainingTable, algorithm: Algorithm, folder: Path | None = None) -> None:
        self.table, self.algorithm, self.folder = table, algorithm, folder
        self.games = self.decisions = 0
        self.losses: dict[str, float] = {}
        self.start = self._saved = time.perf_counter()
        self.interrupted = False
        self._round = 0, 0, table.stream.bit_generator.state, {}
        if folder is not None:
            self._restore(folder)

    def run(
        self,
        progress: CountProgress | None,
        watch: PolicyWatch | None,
        watch_every: int,
        until: Callable[[], bool] | None = None,
    ) -> Policy:
        """Plays and learns from all rounds and returns the policy. Ctrl-C ends the training early.

        `until` is asked before each round whether to end; a later call goes on from there. `progress` is called after
        each round with (games played, games in all), `watch` whenever another `watch_every` games have been played.
        Raises CardaiError if a loss is no longer finite.
        """
        self.interrupted, passed = False, 0
        try:
            for count in self.algorithm.rounds():
                passed += count
                if passed <= self.games:
                    continue  # a round of an earlier call
                if until and until():
                    break
                trajectories = self._play(count)
                if trajectories is None:
                    self.interrupted = True
                    break
                losses = self.algorithm.update(trajectories)
                before, self.games = self.games, self.games + count
                self.decisions += len(trajectories)
                self._check(losses)
                self.losses = losses or self.losses
                self._keep()
                if progress:
                    progress(self.games, self.algorithm.games)
                if watch and before // watch_every < self.games // watch_every:
                    watch(self.games, self.policy())
        except KeyboardInterrupt:
            self.interrupted = True
        if self.folder is not None:
            self._save(self.folder)
        return self.policy()

    def policy(self) -> Policy:
        """Returns the policy as trained so far."""
        return Policy.of(
            self.table.encoder, self.algorithm.network(), self.table.variant, about=self.algorithm.about,
            training=settings.as_plain(self.algorithm.config),
            metrics={"games": self.games, "decisions": self.decisions, **self.losses},
            seconds=time.perf_counter() - self.start,
        )  # fmt: skip

    @property
    def _run(self) -> dict[str, str]:
        """What a checkpoint belongs to."""
        table, config = self.table, settings.fingerprint(self.algorithm.config)
        where = f"{table.game.name} {table.game.version}, {table.variant}, {table.seats} seats, {table.encoder.encoder}"
        assert isinstance(self.algorithm, Resumable)
        others = json.dumps(dict(self.algorithm.others))
        return {"game": where, "config": config, "teacher or opponent": others}

    def _keep(self) -> None:
        """Note where the training is, between two rounds. An update makes new arrays and leaves these."""
        if self.folder is None:
            return
        assert isinstance(self.algorithm, Resumable)
        stream = self.table.stream.bit_generator.state
        self._round = self.games, self.decisions, stream, dict(self.algorithm.kept())
        if time.perf_counter() - self._saved > _SAVED_SECONDS:
            self._save(self.folder)

    def _save(self, folder: Path) -> None:
        games, decisions, stream, trees = self._round
        if trees:
            tensors = {name: array for key, tree in trees.items() for name, array in named_arrays(tree, key).items()}
            status = {"decisions": decisions, "stream": json.dumps(stream)}
            checkpoint.save(folder, Checkpoint(games, self._run, tensors, status))
        self._saved = time.perf_counter()

    def _restore(self, folder: Path) -> None:
        assert isinstance(self.algorithm, Resumable)
        newest = checkpoint.newest(folder, self._run)
        if newest is None:
            return
        template = self.algorithm.kept()
        self.algorithm.restore({name: tree_from(tree, newest.tensors, name) for name, tree in template.items()})
        self.games, self.decisions = newest.step, newest.status["decisions"]
        self.table.stream.bit_generator.state = json.loads(newest.status["stream"])

    def _play(self, count: int) -> Trajectories | None:
        """Plays a round and returns the decisions to learn from, or None if Ctrl-C stopped it."""
        table, algorithm = self.table, self.algorithm
        lineups = algorithm.lineups(self.games, count)
        seeds = table.stream.integers(2**63, size=count, dtype=np.uint64)
        trajectories = play_trajectories(
            table.encoder, algorithm.agents, lineups, seeds, table.variant, algorithm.choices_only
        )
        return trajectories and trajectories.subset(trajectories.players < algorithm.trained)

    def _check(self, losses: dict[str, float]) -> None:
        for name, loss in losses.items():
            if not math.isfinite(loss):
                raise CardaiError(f"{name} is {loss} after {self.games} games: training has diverged")
