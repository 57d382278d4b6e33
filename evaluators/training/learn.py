"""Learn a game in some minutes, without a choice by hand: measure it, learn it in two ways, go on in the better one.

    report = learn(LearnConfig(game="examples/leduc", out="learned/leduc", minutes=5))
    print(report)

What it does is put together from `iterate` (generations of an evaluator, each trained as `train` does by itself) and
from PPO (a policy). Both begin with a part of the time; the one whose agent is stronger gets the rest. The time is
counted over all calls: after Ctrl-C, the same command goes on with what is left of it.
"""

import dataclasses
import json
import shlex
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from cardai.errors import CardaiError
from cardai.evaluators.scorer import set_device
from cardai.evaluators.training.learn_measures import GameMeasures, measures_of
from cardai.evaluators.training.learners import EvaluatorLearner, Learner, PolicyLearner, Subject
from cardai.files import settings
from cardai.files.reading import read_json
from cardai.files.settings import setting
from cardai.files.writing import write_text
from cardai.game import Game
from cardai.measure.duel import Duel, duel
from cardai.playing.agents.evaluator import DEVICES
from cardai.playing.agents.notation import Greedy
from cardai.playing.agents.spec import agent
from cardai.playing.machine import machine
from cardai.playing.progress import Progress
from cardai.playing.stats.jsonable import plain
from cardai.playing.stats.report import Report
from cardai.registry import load

CONFIG, STATE, REPORT = "learn.toml", "learn-state.json", "learn.json"
RACE = 0.2
"""The share of the time that each way of learning gets before they are compared; policies of several encoders share it.
"""
FINAL = 0.13
FINAL_LEAST = 0.02
"""The largest and the least share of the time that is left for measuring the strength of the result."""
EVALUATOR = EvaluatorLearner.name
_CHOOSING, _FINAL = 10, 11  # purposes of seeds: deals that choose, and deals that nothing was chosen by
_LOOK_GAMES, _CHOOSE_GAMES = 200, 400  # games against each opponent, in a look on the way and in a choice
_FEWEST, _MOST_GAMES = 40, 4000  # games against each opponent at the end
_FEWEST_SEEN = 16  # games against each opponent in a look
_SLOW = 0.1  # seconds a game: an opponent that takes longer is left out
_LOOK = 0.04  # the most of the time that a look takes
_TRIAL = 8  # games that show how long a game takes
_LOOKS = 3  # at a policy while it learns, in the main part

Say = Callable[[str], None]
"""Called with each line that a person may read while it learns."""


@dataclass(frozen=True)
class LearnConfig:
    """The config of `learn`. Raises CardaiError if a value is impossible."""

    called: ClassVar[str] = "learn config"

    game: str = setting("The game to learn.", is_run=False)
    out: str = setting("The folder; it can be used as an agent's name afterwards.", is_run=False)
    minutes: float = setting("How long it may take, over all calls.", span=(0.1, 10**5), is_run=False, default=5.0)
    variant: str | None = setting("The variant; if not given, the game's first one.", default=None)
    seats: int | None = setting("The number of seats; if not given, the usual one.", span=(1, 62), default=None)
    seed: int = setting("Decides everything that is drawn at random.", span=(0, 2**63 - 1), default=0)
    device: str = setting("Where networks compute: auto, cpu or gpu.", choices=DEVICES, is_run=False, default="auto")
    threads: int | None = setting(
        "Threads; if not given, one per processor.", span=(1, 1024), is_run=False, default=None
    )

    def __post_init__(self) -> None:
        settings.check(self)
        if "?" in self.out or "," in self.out:
            raise CardaiError(f"out {self.out!r} contains a ? or a comma, which divide specs; choose another folder")


@dataclass(frozen=True)
class LearnReport(Report, drawn_by="cardai.evaluators.training.show_learning:table"):
    """What was learned.

    `measures`: what the game is like. `choices`: what was chosen, each with its reason, in words.
    `agent`: its spec; empty if the run was interrupted before there was one.
    `strength`: duels of the agent with random and the game's own players, on deals that nothing was chosen by.
    `left_out`: opponents that were not measured, with the reason. `seconds`: the time taken, over all calls.
    """

    game: str
    place: str
    variant: str
    seats: int
    seed: int
    minutes: float
    measures: GameMeasures
    choices: tuple[str, ...]
    agent: str
    strength: tuple[Duel, ...]
    left_out: Mapping[str, str]
    seconds: float
    interrupted: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the report, and the machine it was made on, as plain JSON types."""
        fields = {name: value for name, value in vars(self).items() if name not in ("measures", "strength")}
        own = {"measures": dataclasses.asdict(self.measures), "strength": [one.as_json() for one in self.strength]}
        return plain({**fields, **own, "machine": machine()})

    @property
    def too_short(self) -> str:
        """What to say if the agent was not measured to be better than random; else an empty text."""
        if all(one.other != "random" or one.verdict == "better" for one in self.strength):
            return ""
        return (
            f"not better than random: {self.minutes:g} minutes are too short for {self.game} on this machine; the same "
            "command with more --minutes goes on"
        )

    @property
    def play(self) -> str:
        """The command by which a person plays against the agent."""
        variant = ["--variant", self.variant] if self.variant else []
        others = ",".join(["human", *[self.agent] * (self.seats - 1)])
        return shlex.join(["cardai", "play", self.place, "--seats", others, *variant])


def learn(
    config: LearnConfig, progress: Progress | None = None, say: Say | None = None, began: float | None = None
) -> LearnReport:
    """Learn a game, or go on to learn it, and report on it. Ctrl-C ends it; the report then has what there is.

    `say` is called with what is chosen and how strong the agents are meanwhile. `began`: when the time began, by
    `time.monotonic`; now, if not given. Raises CardaiError for a game without an encoder, and if the folder holds
    something else or another process is at work in it.
    """
    game = load(config.game)
    game.options(config.seats, config.variant)
    if not game.learning.encoders:
        raise CardaiError(f"{game.name} has no encoder, so no network can learn it: add one to its Game (encoders)")
    with settings.claimed(config, CONFIG, "what was learned") as folder:
        set_device(config.device)
        return LearnRun(config, game, folder, progress, say or (lambda line: None), began).finished()


@dataclass
class _State:
    """What a later call goes on from. `seconds`: the time taken; `spent`: by each way of learning.

    `looks`: the mean lead of each agent that was looked at on the way, by its spec. `ended`: the minutes of the longest
    run that came to its end.
    """

    game: str = ""
    seconds: float = 0.0
    spent: dict[str, float] = field(default_factory=dict)
    looks: dict[str, float] = field(default_factory=dict)
    chosen: str = ""
    reason: str = ""
    ended: float = 0.0


class LearnRun:
    """A run in progress."""

    def __init__(
        self, config: LearnConfig, game: Game, folder: Path, progress: Progress | None, say: Say, began: float | None
    ) -> None:
        self.config, self.game, self.folder, self.progress, self.say = config, game, folder, progress, say
        self.seats, self.variant = config.seats or game.default_seats, game.canonical(config.variant)
        self.state = self._read_state()
        if self.state.ended >= config.minutes:
            raise CardaiError(
                f"{folder} has been learned in {self.state.ended:g} minutes already, its result is {folder / REPORT}; "
                "more --minutes goes on with it"
            )
        self._began = (time.monotonic() if began is None else began) - self.state.seconds
        self.total = 60 * config.minutes
        self.left_out: dict[str, str] = {}
        self._pace: dict[str, float] = {}  # seconds a game against each opponent
        self._tried: set[str] = set()  # ways of learning whose games have been timed

    def finished(self) -> LearnReport:
        """Go on to the end and return the report."""
        strength, interrupted, best = (), False, ""
        measures = self.measures = measures_of(self.game, self.seats, self.variant, self.config.seed)
        self.opponents = self._opponents()
        self.learners = self._learners()
        for line in (measures.in_words(), *self._plan()):
            self.say(line)
        try:
            self._race()
            self._main()
            best = self._best(self._finalists())
            strength = self._measured(best)
        except KeyboardInterrupt:
            interrupted = True
            best = best or next(iter(self._candidates(self.state.chosen)), "")
        self.state.ended = self.state.ended if interrupted else self.config.minutes
        self._write_state()
        report = LearnReport(
            game=self.game.name, place=self.config.game, variant=self.config.variant or "", seats=self.seats,
            seed=self.config.seed, minutes=self.config.minutes, measures=measures, choices=tuple(self._plan()),
            agent=self._placed(best) if best else "", strength=strength, left_out=self.left_out, seconds=self._elapsed,
            interrupted=interrupted,
        )  # fmt: skip
        write_text(self.folder / REPORT, json.dumps(report.as_json(), indent=2, ensure_ascii=False) + "\n")
        return report

    @property
    def _elapsed(self) -> float:
        return time.monotonic() - self._began

    def _race(self) -> None:
        """Let each way of learning have its first part of the time, and choose the better one."""
        if self.state.chosen:
            return
        if len(self.learners) == 1:
            self.state.chosen = next(iter(self.learners))
            self.state.reason = "it is the only way for this game"
            return
        policies = len(self.learners) - 1
        for name, learner in self.learners.items():
            share = RACE * self.total / (1 if name == EVALUATOR else policies)
            self._go_on(learner, share - self.state.spent.get(name, 0.0))
        means = {}
        for name in self.learners:
            for spec in self._candidates(name)[:1]:
                means[name] = self._look(spec, _CHOOSE_GAMES)
        if not means:
            raise CardaiError(
                f"{self.config.minutes:g} minutes are too short on this machine: no network was finished; the same "
                "command with more --minutes goes on"
            )
        chosen = max(means, key=lambda name: means[name])
        figures = " against ".join(f"{name} {means[name]:+.3g}" for name in sorted(means, key=lambda one: -means[one]))
        self.state.chosen = chosen
        unit = self.game.payoff.counted or "points"
        self.state.reason = f"{unit} ahead of the other players after the same time, in the mean: {figures}"
        self.say(f"goes on with the {chosen}: {self.state.reason}")
        self._write_state()

    def _main(self) -> None:
        """Let the chosen way of learning have the rest of the time."""
        learner = self.learners[self.state.chosen]
        end = self.total - self._closing(1 + len(self._candidates(learner.name)))
        part = max(5.0, (end - self._elapsed) / _LOOKS)
        while (left := end - self._elapsed) > 1.0:
            self._go_on(learner, min(left, part) if learner.can_be_cut else left)
            if not learner.can_be_cut:
                break
            if end - self._elapsed > 0.2 * part:
                self._look(self._candidates(learner.name)[0], _LOOK_GAMES)

    def _closing(self, candidates: int) -> float:
        """Return the seconds that are left for the last games: enough for all of them, or a share of the time.

        Some games are played against each opponent even if they take longer than that share.
        """
        pace = sum(self._pace.values())
        wanted, least = _MOST_GAMES + candidates * _CHOOSE_GAMES, _FEWEST + candidates * _FEWEST_SEEN
        return max(min(max(1.2 * wanted * pace, FINAL_LEAST * self.total), FINAL * self.total), 1.3 * least * pace)

    def _go_on(self, learner: Learner, seconds: float) -> None:
        """Learn for some seconds. Raises KeyboardInterrupt at Ctrl-C, when what was learned has been kept."""
        if seconds <= 0:
            return
        began = time.monotonic()
        try:
            learner.go_on(seconds)
        finally:
            self.state.spent[learner.name] = self.state.spent.get(learner.name, 0.0) + time.monotonic() - began
            self._write_state()

    def _candidates(self, name: str) -> list[str]:
        """The specs of the agents that a way of learning has made, the most promising first."""
        return self.learners[name].candidates() if name in self.learners else []

    def _finalists(self) -> list[str]:
        """The newest agents of the chosen way, and the one that looked best on the way."""
        specs, chosen = self._candidates(self.state.chosen), self.learners[self.state.chosen]
        looked = {spec: lead for spec, lead in self.state.looks.items() if chosen.has(spec)}
        best = max(looked, key=lambda spec: looked[spec], default=None)
        return list(dict.fromkeys([*specs, *([best] if best else [])]))

    def _best(self, specs: Sequence[str]) -> str:
        """The spec of the strongest agent, by games on deals that are for choosing."""
        if not specs:
            raise CardaiError(f"{self.config.minutes:g} minutes are too short on this machine: no network was finished")
        if len(specs) == 1:
            return specs[0]
        seconds = (self.total - self._elapsed) / 2 / len(specs) / len(self.opponents)
        means = {spec: self._look(spec, self._games(seconds, _CHOOSE_GAMES, None, _FEWEST_SEEN)) for spec in specs}
        return max(means, key=lambda spec: means[spec])

    def _look(self, spec: str, games: int) -> float:
        """Play an agent against all opponents on deals for choosing, and say how it does. Returns the mean lead."""
        seconds = _LOOK * self.total / len(self.opponents)
        if (who := self._name(spec)) not in self._tried:
            self._tried.add(who)
            self._duel(spec, "random", 1, _CHOOSING)  # the first game may compile
            self._duel(spec, "random", _TRIAL, _CHOOSING)
            own = self._pace["random"]  # a network takes longer for a game than the players that were timed so far
            self._pace = {one: max(pace, own) for one, pace in self._pace.items()}
        results = [
            self._duel(spec, one, self._games(seconds, games, one, _FEWEST_SEEN), _CHOOSING) for one in self.opponents
        ]
        words = ", ".join(f"{result.score} {result.unit} against {result.other}" for result in results)
        self.say(f"{self._elapsed:.0f} s, {self._name(spec)}: mean score {words}")
        lead = float(np.mean([result.difference.point for result in results]))
        self.state.looks[spec] = lead
        return lead

    def _measured(self, spec: str) -> tuple[Duel, ...]:
        """Measure an agent against all opponents, on deals by which nothing was chosen, in the time that is left.

        If learning took longer than it should, the games take half of their share nevertheless: few games say nothing.
        """
        results, least = [], FINAL / 2 * self.total / len(self.opponents)
        for i, other in enumerate(self.opponents):
            seconds = max(least, (0.97 * self.total - self._elapsed) / (len(self.opponents) - i))
            games = self._games(seconds, _MOST_GAMES, other)
            results.append(self._duel(spec, other, games, _FINAL))
        return tuple(results)

    def _games(self, seconds: float, most: int, other: str | None = None, least: int = _FEWEST) -> int:
        """How many games against an opponent fit into some seconds."""
        pace = self._pace.get(other, 0.0) if other else max(self._pace.values(), default=0.0)
        return int(min(max(seconds / pace if pace else most, least), most))

    def _duel(self, spec: str, other: str, games: int, purpose: int) -> Duel:
        """Play an agent among copies of an opponent. Raises KeyboardInterrupt at Ctrl-C."""
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            result = duel(
                self.game, spec, other, seats=self.seats, folder=folder, variant=self.variant, games=games, most=games,
                seed=_seed(self.config.seed, purpose), threads=self.config.threads,
            )  # fmt: skip
        self._pace[other] = (time.monotonic() - began) / max(1, result.games + result.endless)
        return result

    def _opponents(self) -> list[str]:
        """Random, and the players and heuristics that come with the game and play a game in a moment.

        In a game without chance they make a move in ten at random: two players without chance would play the same game
        again and again.
        """
        greedy = [Greedy(name) for name in self.game.agents.heuristics]
        if not self.measures.has_chance:
            greedy = [spec.with_options(epsilon=0.1) for spec in greedy]
        own = [*self.game.agents.players, *map(str, greedy)]
        opponents = ["random"]
        for spec in own:
            if spec == "random":
                continue
            try:
                player = agent(self.game, spec)
                player.check_fits(self.game, self.variant, self.seats)
            except CardaiError as error:
                self.left_out[spec] = str(error)
                continue
            if player.peeks:
                self.left_out[spec] = "it peeks"
                continue
            self._duel(spec, "random", 1, _CHOOSING)  # the first game may compile
            began = time.monotonic()
            played = self._duel(spec, "random", _TRIAL, _CHOOSING)
            seconds = (time.monotonic() - began) / max(1, played.games)
            if seconds > _SLOW:
                self.left_out[spec] = f"too slow: {seconds:.2g} s a game"
            else:
                opponents.append(spec)
        return opponents

    def _learners(self) -> dict[str, Learner]:
        """The ways in which the game can be learned: an evaluator, and policies if the game numbers its moves."""
        teacher = self._teacher()
        own = self.config
        subject = Subject(
            self.game, own.game, self.variant, self.seats, own.seed, own.threads, own.device, self.measures,
            self.progress,
        )  # fmt: skip
        seconds = RACE * self.total
        ways: list[Learner] = [
            EvaluatorLearner(subject, self.folder / EVALUATOR, seconds, lambda spec: self._look(spec, _LOOK_GAMES))
        ]
        for encoder in self.game.learning.encoders if self.game.learning.actions else ():
            ways.append(PolicyLearner(subject, self.folder / f"policy-{encoder}", self.total, encoder, teacher))
        return {way.name: way for way in ways}

    def _teacher(self) -> str:
        """The game's own player that is furthest ahead of the others, if it is ahead of random; or an empty text."""
        own = self.opponents[1:]
        games = self._games(_LOOK * self.total / max(1, len(own)) / len(self.opponents), _LOOK_GAMES)
        leads = {
            one: [self._duel(one, other, games, _CHOOSING).difference.point for other in self.opponents if other != one]
            for one in own
        }
        best = max(own, key=lambda one: float(np.mean(leads[one])), default="")
        return best if best and leads[best][0] > 0 else ""

    def _plan(self) -> list[str]:
        """What was chosen, and why, in words."""
        lines = [line for learner in self.learners.values() for line in learner.about()]
        if len(self.learners) == 1:
            lines.append("policy: none, because the game does not number its moves (Learning.actions)")
        return [*lines, f"{self.state.chosen}: chosen; {self.state.reason}"] if self.state.chosen else lines

    def _name(self, spec: str) -> str:
        return next((name for name in self.learners if f"/{name}/" in spec), spec)

    def _placed(self, spec: str) -> str:
        """Copy the network of an agent into the run's folder. Returns the spec by the name of the folder."""
        kind, _, rest = spec.partition(":")
        file, _, options = rest.partition("?")
        name = "policy.safetensors" if kind == "policy" else "model.safetensors"
        source = Path(file)
        shutil.copyfile(source / name if source.is_dir() else source, self.folder / name)
        return f"{kind}:{self.config.out}" + (f"?{options}" if options else "")

    def _read_state(self) -> _State:
        place, own = self.folder / STATE, f"{self.game.name} {self.game.version}"
        if not place.exists():
            return _State(game=own)
        content = read_json(place)
        try:
            state = _State(**content)
        except TypeError:
            raise CardaiError(f"{place} is damaged; choose another folder with --out") from None
        if state.game != own:
            raise CardaiError(f"{self.folder} holds what was learned of {state.game}, not of {own}; choose another")
        return state

    def _write_state(self) -> None:
        self.state.seconds = self._elapsed
        write_text(self.folder / STATE, json.dumps(dataclasses.asdict(self.state), indent=2) + "\n")


def _seed(seed: int, purpose: int) -> int:
    return int(np.random.SeedSequence([seed, purpose]).generate_state(1)[0])
