"""Generations: games are played, a network is trained on them, and is promoted if it beats the champion.

    report = iterate(read(IterateConfig, "moska.toml"))

The folder of a run holds the config, a folder for each generation, and what is made of the generations: the history,
the report and the champion's model. Each step of a generation leaves its result in a file:

    generation-001/games/       records          games.json      how many games; the mean score of each agent
    generation-001/training/    a training run   training.json   its metrics
    generation-001/duel/ ...    played games     benchmark.json  the model against the champion and the reference

A run that was stopped continues there, and ends with the same files as a run that was not.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cardai.errors import CardaiError
from cardai.evaluators.scorer import set_device
from cardai.evaluators.training.config import TrainConfig
from cardai.evaluators.training.generations import Generation, IterateReport
from cardai.evaluators.training.iterate_config import IterateConfig
from cardai.evaluators.training.iterate_folder import CONFIG, STEPS, IterateFolder
from cardai.evaluators.training.outcome import TrainingResult
from cardai.files import settings
from cardai.game import Game
from cardai.measure.duel import duel, exploring
from cardai.playing.agents.notation import Greedy, Spec
from cardai.playing.agents.spec import agent
from cardai.playing.progress import Progress
from cardai.playing.stats.measure import measure_of
from cardai.records.elsewhere import Machines
from cardai.records.record import read
from cardai.records.selfplay import SHARD, parse_pool, simulate_shards
from cardai.registry import load

Draw = Callable[[TrainingResult | IterateReport], None]
"""Draws the figures of a training run or of the generations so far."""

FEWEST_IN_FILE = 1000  # games; those of the unfinished file are lost when simulation is stopped


def iterate(
    config: IterateConfig, progress: Progress | None = None, draw: Draw | None = None, cluster: Machines | None = None
) -> IterateReport:
    """Make generations, or continue to make them, until there are enough or time is up.

    If the config's folder holds a run of the same config, that run continues. Time is checked all along: when it is
    up, simulation loses the unfinished file, training the steps since its last checkpoint, a benchmark its block.
    Ctrl-C ends the run in the same way; the report then has the generations that were finished.

    `draw` is called with the result of each training run, and with the report so far after each generation.
    `cluster`: the machines that play the games; this one trains.

    Raises CardaiError if the folder holds something else, or if the config does not fit the game.
    """
    game = load(config.game)
    _refuse_unfit(config, game)
    with settings.claimed(config, CONFIG, "generations") as place:
        set_device(config.device)
        run = IterateRun(config, game, IterateFolder(place), Clock(config.minutes, progress), draw, cluster)
        stopped = "generations"
        try:
            while not config.generations or len(run.ended) < config.generations:
                run.next_generation()
        except _TimeIsUp:
            stopped = "minutes"
        except KeyboardInterrupt:
            stopped = "interrupted"
        report = run.report(stopped)
        run.folder.write_report(report.as_json())
        return report


def default_pool(game: Game) -> dict[str, float]:
    """Return the pool of a config without one: random and all players and heuristics of the game, spec -> weight."""
    pool = {"random": 1.0}
    for name, player in game.agents.players.items():
        pool[name] = 1.0
        if player.defaults:
            pool[str(Spec(name, randomised=True))] = 1.0
    for greedy in map(Greedy, game.agents.heuristics):
        pool |= {str(greedy): 1.0, str(greedy.with_options(epsilon=0.1)): 1.0}
    return pool


class _TimeIsUp(Exception):
    """The minutes are over."""


class Clock:
    """Reports progress, and ends the present step when time is up. `about`: what progress says first."""

    def __init__(self, minutes: float, progress: Progress | None) -> None:
        self.progress, self.about = progress, ""
        self.deadline = time.monotonic() + 60 * minutes if minutes else float("inf")

    def check(self) -> None:
        """Raise _TimeIsUp if time is up."""
        if time.monotonic() > self.deadline:
            raise _TimeIsUp

    def __call__(self, done: int, total: int, words: str = "") -> None:
        """Take the progress of a step. A step that is done is not ended any more."""
        if self.progress:
            self.progress(done, total, f"{self.about}: {words}" if words else self.about)
        if done < total:
            self.check()


class IterateRun:
    """A run in progress: the generations that have ended, and the three steps that make the next one."""

    def __init__(
        self,
        config: IterateConfig,
        game: Game,
        folder: IterateFolder,
        clock: "Clock",
        draw: Draw | None = None,
        cluster: Machines | None = None,
    ) -> None:
        self.cluster = cluster
        self.config, self.game, self.folder, self.clock, self.draw = config, game, folder, clock, draw
        self.seats = config.seats or game.default_seats
        self.others = parse_pool(config.pool) or default_pool(game)
        self.reference = config.reference or ""  # chosen after the first games
        self.ended: list[Generation] = []
        while all(folder.has_result(1 + len(self.ended), step) for step in STEPS):
            self._end(1 + len(self.ended))
        self._write()

    @property
    def champion(self) -> int:
        """The generation whose model is the champion, or 0 while the reference is."""
        return max((generation.number for generation in self.ended if generation.is_promoted), default=0)

    def next_generation(self) -> None:
        """Make the generation after the last one, or continue to make it."""
        number = 1 + len(self.ended)
        for name, step in zip(STEPS, (self._simulate, self._train, self._benchmark), strict=True):
            if not self.folder.has_result(number, name):
                self.clock.check()
                self.clock.about = f"generation {number}"
                with self.folder.timed(number, name):
                    result = step(number)
                self.folder.write_result(number, name, result)
            self.choose_reference()
        self._end(number)
        self._write()

    def report(self, stopped: str) -> IterateReport:
        """Return the report of the generations so far.

        `stopped`: what ended the run, as in `IterateReport`, or empty while the run goes on.
        """
        config, game = self.config, self.game
        total, scale = game.score_sum(self.seats), measure_of(game, "score").scale
        return IterateReport(
            game_title=game.title,
            title=f"{game.title}, {self.seats} seats: {config.training['body']}, {config.kind}",
            mean_score=None if total is None else scale * total / self.seats,
            config=settings.as_plain(config),
            reference=self.reference,
            champion=self.champion,
            model=str(self._spec(self.folder.path)) if self.champion else self.reference,
            stopped=stopped,
            generations=tuple(self.ended),
        )

    def pool(self, number: int) -> dict[str, float]:
        """Return who plays the games of a generation: spec -> weight."""
        config, leader = self.config, self._leader(number)
        total, rest = sum(self.others.values()), 1.0 - config.champion_share - config.earlier_share if leader else 1.0
        pool = {spec: rest * weight / total for spec, weight in self.others.items()}
        earlier = [one for one in range(max(1, number - config.window), number) if one != leader]
        shares = {leader: config.champion_share} if leader else {}
        shares |= {generation: config.earlier_share / len(earlier) for generation in earlier}
        explored = config.exploring if config.epsilon else 0.0
        for generation, share in shares.items():
            spec = self._spec(self.folder.model(generation))
            random = spec.with_options(epsilon=f"{config.epsilon:g}")
            pool |= {str(spec): share * (1 - explored), str(random): share * explored}
        return {spec: weight for spec, weight in pool.items() if weight > 1e-12}

    def choose_reference(self) -> None:
        """Choose the reference, if the config names none: the agent with the best mean score in the first games.

        Agents that peek do not qualify, and agents that are randomised or explore only if there are no others.
        """
        if self.reference:
            return
        scores = self.folder.scores()
        agents = [player for player in (agent(self.game, spec) for spec in scores) if not player.peeks]
        steady = [player for player in agents if not (player.strategy.randomised or player.strategy.explores)]
        if not agents:
            raise CardaiError("no agent of the pool can be the reference, because all of them peek; name a reference")
        self.reference = max(steady or agents, key=lambda player: scores[player.spec]).spec

    def name_of(self, spec: str) -> str:
        """Return what tables call an agent: "generation 2" for a model of this run, its spec for others."""
        for number in range(1, 2 + len(self.ended)):
            if spec == str(self._spec(self.folder.model(number))):
                return f"generation {number}"
        return spec

    def _simulate(self, number: int) -> dict[str, Any]:
        """Play the games of a generation."""
        simulated = simulate_shards(
            self.game,
            self.pool(number),
            self.config.games,
            folder=self.folder.generation(number) / "games",
            seed=self._seed(number, 0),
            variant=self.config.variant,
            seats=self.seats,
            shard=min(max(self.config.games // 10, FEWEST_IN_FILE), SHARD),
            threads=self.config.threads,
            progress=self.clock,
            cluster=self.cluster,
        )
        if simulated.interrupted:
            raise KeyboardInterrupt
        return _summary(simulated.files, self.config.games)

    def _train(self, number: int) -> dict[str, Any]:
        """Train a generation's network on the games of the window."""
        from cardai.evaluators.training.train import train

        config, generations = self.config, range(max(1, number - self.config.window + 1), number + 1)
        leader = self._leader(number)
        result = train(
            TrainConfig(
                game=config.game,
                data=tuple(str(self.folder.generation(one) / "games") for one in generations),
                out=str(self.folder.generation(number) / "training"),
                variant=config.variant,
                start_from=str(self.folder.model(leader)) if config.warm_start and leader else None,
                seed=self._seed(number, 1),
                device=config.device,
                devices=config.devices,
                threads=config.threads,
                **config.training,
            ),
            self.clock,
        )
        if self.draw:
            self.draw(result)
        test = result.report.get("test", {}).get("split", {}).get("bce")
        return {
            "learned": result.report["states"]["training"],
            "steps": result.steps,
            "bce": {"validation": result.validation and result.validation.bce, "test": test},
        }

    def _benchmark(self, number: int) -> dict[str, Any]:
        """Play a generation's model against the champion and against the reference."""
        candidate = self._spec(self.folder.model(number))
        champion = str(self._spec(self.folder.model(self.champion))) if self.champion else self.reference
        duels = {
            "duel": (champion, self.config.most_benchmark_games, self._seed(number, 2)),
            "strength": (self.reference, self.config.benchmark_games, self._seed(0, 2)),
        }
        results = {}
        for name, (other, most, seed) in duels.items():
            self.clock.check()
            self.clock.about = f"generation {number}: against {self.name_of(other)}"
            results[name] = duel(
                self.game,
                *exploring((candidate, other), self.config.benchmark_epsilon),
                seats=self.seats,
                folder=self.folder.generation(number) / name,
                variant=self.config.variant,
                games=self.config.benchmark_games,
                most=most,
                seed=seed,
                threads=self.config.threads,
                progress=self.clock,
                cluster=self.cluster,
            ).as_json()
        return {"champion": self.name_of(champion), **results}

    def _leader(self, number: int) -> int:
        """Return the generation whose model plays most: the champion, else the newest one, or 0 if there is none."""
        return self.champion or number - 1

    def _end(self, number: int) -> None:
        """Add a generation to those that have ended."""
        self.choose_reference()
        self.ended.append(self.folder.read_generation(number))

    def _write(self) -> None:
        """Write and draw what is made of the generations so far."""
        self.folder.write_history(self.ended, self.champion)
        if self.ended and self.draw:
            self.draw(self.report(""))

    def _spec(self, model: Path) -> Spec:
        """Return what names the agent that plays by a model."""
        return Spec(self.config.kind, model, worlds=self.config.worlds if self.config.kind == "sampled" else None)

    def _seed(self, number: int, purpose: int) -> int:
        """Return the seed of a step of a generation."""
        return int(np.random.SeedSequence([self.config.seed, number, purpose]).generate_state(1)[0])


def _refuse_unfit(config: IterateConfig, game: Game) -> None:
    """Raise CardaiError for a name that the game does not know, before anything is played."""
    game.options(config.seats, config.variant)
    game.encoder(config.training["encoder"])
    for spec in (*parse_pool(config.pool), *([config.reference] if config.reference else [])):
        agent(game, spec).check_fits(game, config.variant, config.seats or game.default_seats)


def _summary(files: Sequence[str], wanted: int) -> dict[str, Any]:
    """Return how many games and states record files hold, and each agent's mean score over its seats, times 100.

    `wanted`: the number of games that was played; those that reached no end are not in the files.
    """
    games = states = 0
    scores: dict[str, list[float]] = {}
    for file in files:
        reader = read(file)
        for game in reader:
            games += 1
            states += len(game.moves)
            for place, score in zip(game.lineup, game.scores, strict=True):
                scores.setdefault(reader.header.agents[place], []).append(score)
    means = {spec: 100 * sum(values) / len(values) for spec, values in scores.items()}
    return {"games": games, "states": states, "endless": wanted - games, "scores": means}
