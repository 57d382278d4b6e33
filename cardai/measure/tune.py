"""Tunes the parameters of a game's hand-written player by CMA-ES, on duplicate deals.

    result = tune(load("literature"), "keeper", folder=Path("runs/keeper"), minutes=10)
    print(result.spec)                                   # what to write from now on

CMA-ES (Hansen 2016, the library `cma`) draws a generation of trials around the present best guess, and reshapes the
cloud that it draws from towards those that scored more. All trials of a generation play the same deals, in all
rotations; the next generation has others. The start, the guess halfway and the last guess then play deals that no trial
has played, and the best of them is chosen. The chosen one and the start play a third set, on which nothing was chosen:
their difference is what is reported.
"""

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cardai.errors import CardaiError, lacking, positive, short, whole
from cardai.files.named import digests_of, noted
from cardai.files.reading import read_json
from cardai.files.writing import write_text
from cardai.game import Game, is_game
from cardai.game.compiled.doors import check_path
from cardai.measure.duplicate import outcomes, outcomes_of_places, play_rotated
from cardai.playing.agents.notation import Spec, parse
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.machine import thread_count
from cardai.playing.progress import Progress
from cardai.playing.stats import interval
from cardai.playing.stats.deals import distinct_rotations, seats_of_side
from cardai.playing.stats.interval import Estimate
from cardai.playing.stats.measure import measure_of
from cardai.playing.stats.report import Report

FORMAT = "cardai tune 2"
CONFIG, HISTORY = "tune.json", "generations.jsonl"
TRIAL_GAMES, GAMES = 400, 4000
FEWEST_TRIALS = 8
SPREAD, SPREAD_OF_ZERO = 0.5, 0.25
"""The first trials lie around the start by this part of each parameter, and by that much if the parameter is 0."""


@dataclass(frozen=True)
class TuneResult(Report, drawn_by="cardai.cli.show.tables:tuning"):
    """What a search for better parameters led to. Estimates are in `unit`: "%", or that of the game's payoff.

    - `start`, `spec`: the player as it was, and the one to use: the same one if no better one was found.
    - `values`: {parameter: (at the start, now)}; `others`: who plays the other seats, one after the other.
    - `generations`, `trials`: how many were played; `trial_games`: games of each trial.
    - `score`, `start_score`: the mean scores of the two on deals on which nothing was chosen.
    - `difference`: the first mean less the second, on the same deals; `verdict`: "better", "worse" or "undecided".
    """

    game: str
    variant: str
    seats: int
    others: tuple[str, ...]
    start: str
    spec: str
    values: dict[str, tuple[float, float]]
    generations: int
    trials: int
    trial_games: int
    score: Estimate
    start_score: Estimate
    difference: Estimate
    verdict: str
    unit: str = "%"


def tune(
    game: Game,
    player: str | Spec,
    others: Sequence[str] = (),
    *,
    folder: str | Path,
    only: Sequence[str] = (),
    variant: str | None = None,
    seats: int | None = None,
    trial_games: int = TRIAL_GAMES,
    games: int = GAMES,
    minutes: float = 10.0,
    generations: int = 0,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> TuneResult:
    """Search for better parameters of a player, or go on with the search in a folder, and measure what was found.

    `player`: a hand-written player of the game, with the values to begin with: "keeper?ask_at=0.1". `others`: the
    agents of the other seats, each in as many games; the player itself if none is named. `only`: the parameters to
    tune; all if none is named. `trial_games`: games of each trial against each of the others. `games`: those that
    decide, and again those that are reported. The search ends after `minutes` of this call, or with the generation
    `generations` if that is not 0; the same call with more of them goes on.

    Raises CardaiError for a player without parameters, for agents that do not fit, if the library `cma` is missing, and
    if the folder holds another search or a damaged one. KeyboardInterrupt at Ctrl-C; finished generations are kept.
    """
    seats = is_game(game).default_seats if seats is None else whole("seats", seats)
    game.options(seats, variant)
    if not 0 < minutes < math.inf:
        raise CardaiError(f"minutes must be a number above 0, not {minutes:g}")
    space = _space(game, parse(player), only)
    start = str(space.spec(np.zeros(space.size)))
    with noted() as files:
        opponents = tuple(agent(game, spec) for spec in others or (start,))
    table = _Table(game, game.canonical(variant), seats, whole("seed", seed), thread_count(threads), opponents)
    for one in (agent(game, start), *table.others):
        one.check_fits(game, table.variant, seats)
    config = {
        "format": FORMAT, "game": game.name, "version": game.version, "variant": table.variant, "seats": seats,
        "player": start, "only": list(space.names), "others": [one.spec for one in table.others],
        "weights": digests_of(files), "seed": table.seed,
        "trial_games": positive("trial_games", trial_games),
    }  # fmt: skip
    games, generations = positive("games", games), whole("generations", generations, 0)
    search = _Search(table, space, check_path("folder", folder), config)
    search.run(60 * minutes, generations, progress)
    return search.result(games, start, progress)


@dataclass(frozen=True)
class _Table:
    """Where the games are played, and against whom."""

    game: Game
    variant: str
    seats: int
    seed: int
    threads: int
    others: tuple[Agent, ...]

    def scores(self, spec: Spec, games: int, salt: str, number: int = 0) -> np.ndarray:
        """What a player got, f8[deals, rotations and others]. `number`: of the set of deals, each as large."""
        own = agent(self.game, spec)
        places = [bool(one) for one in seats_of_side(np.zeros(1, int), self.seats, self.game.teams)[0]]
        turns = distinct_rotations(places)
        deals = max(interval.FEWEST_DEALS, -(-games // len(turns)))
        group = [place for place, is_own in enumerate(places) if is_own]
        columns = list[np.ndarray]()
        for other in self.others:
            line_up = [own if is_own else other for is_own in places]
            results, sat = play_rotated(
                self.game, line_up, turns, deals, self.seed, self.variant, self.threads, None,
                salt=salt, first=number * deals,
            )  # fmt: skip
            columns.append(outcomes_of_places(sat, [group], outcomes(self.game.payoff, "score", results.complete())))
        return np.concatenate(columns, axis=1)


@dataclass(frozen=True)
class _Space:
    """The parameters that are tuned, as coordinates: 0 is the start, 1 is `SPREAD` of it more.

    `defaults`: the player's own values; those that are ints are counts, which are whole numbers from 1.
    """

    player: Spec
    names: tuple[str, ...]
    defaults: Mapping[str, float]
    start: np.ndarray

    @property
    def size(self) -> int:
        """The number of coordinates; CMA-ES needs two, so a single parameter has one beside it without a meaning."""
        return max(2, len(self.names))

    def values(self, point: np.ndarray) -> dict[str, float]:
        """The parameters at a point, with four digits."""
        scale = np.where(self.start == 0, SPREAD_OF_ZERO, SPREAD * np.abs(self.start))
        raw = self.start + scale * point[: len(self.names)]
        return {
            name: float(max(1, round(value))) if isinstance(self.defaults[name], int) else float(f"{value:.4g}")
            for name, value in zip(self.names, raw.tolist(), strict=True)
        }

    def spec(self, point: np.ndarray) -> Spec:
        """The player at a point."""
        values = self.values(point)
        given = {name: None if value == self.defaults[name] else f"{value:.4g}" for name, value in values.items()}
        return self.player.with_options(**given)


def _space(game: Game, player: Spec, only: Sequence[str]) -> _Space:
    """The parameters of a player that are to be tuned. Raises CardaiError if there are none."""
    tunable = {name: one.defaults for name, one in game.agents.players.items() if one.defaults}
    defaults = tunable.get(player.kind)
    if defaults is None or player.argument is not None:
        have = f"those that have some are {', '.join(tunable)}" if tunable else "none has"
        raise CardaiError(f"{player} is no hand-written player of {game.name} with parameters; {have}")
    if player.option("randomised") is not None:
        raise CardaiError(f"{player} draws its parameters anew for each game; name values to begin with")
    agent(game, player)
    for name in only:
        if name not in defaults:
            raise CardaiError(f"{player.kind} has no parameter {short(name)}; it has {', '.join(defaults)}")
    names = tuple(name for name in defaults if name in only or not only)
    given = {name: player.option(name) for name in names}
    start = [float(defaults[name] if given[name] is None else str(given[name])) for name in names]
    return _Space(player, names, defaults, np.array(start))


class _Search:
    """A search in a folder. Kept generations are told to CMA-ES again, which draws what it drew before."""

    def __init__(self, table: _Table, space: _Space, folder: Path, config: dict[str, Any]) -> None:
        self.table, self.space, self.folder, self.config = table, space, folder, config
        self.method = _method(space.size, table.seed)
        self.means = [np.zeros(space.size)]  # the best guess before each generation, and after the last one
        self._open()

    @property
    def generations(self) -> int:
        return len(self.means) - 1

    def run(self, seconds: float, generations: int, progress: Progress | None) -> None:
        """Play generations until the time is over, `generations` (if not 0) are done, or the cloud is a point."""
        begin, best = time.monotonic(), ""
        while not (self.method.stop() or (generations and self.generations >= generations)):
            passed = time.monotonic() - begin
            if passed >= seconds:
                break
            if progress is not None:
                progress(round(passed), round(seconds), f"generation {self.generations + 1}{best}")
            points = self.method.ask()
            scores = [
                float(np.nanmean(self.table.scores(
                    self.space.spec(point), self.config["trial_games"], "tune trials", self.generations
                )))
                for point in points
            ]  # fmt: skip
            self._tell(points, scores)
            self._keep(points, scores)
            best = f", best trial so far {max(scores):.4g}"

    def result(self, games: int, start: str, progress: Progress | None) -> TuneResult:
        """Choose among the start and two guesses on deals of their own, and compare on others."""
        guesses = dict.fromkeys(str(self.space.spec(self.means[n])) for n in (0, self.generations // 2, -1))
        if progress is not None:
            progress(0, 1, "deciding")
        rated = {spec: float(np.nanmean(self.table.scores(parse(spec), games, "tune choice"))) for spec in guesses}
        chosen = max(rated, key=lambda spec: rated[spec])
        if progress is not None:
            progress(0, 1, "measuring the one chosen")
        played = {spec: self.table.scores(parse(spec), games, "tune result") for spec in {chosen, start}}
        own, before = played[chosen], played[start]
        comparison = interval.compare(own, before)
        measure = measure_of(self.table.game, "score")
        point = next(mean for mean in self.means if str(self.space.spec(mean)) == chosen)
        old, new = self.space.values(self.means[0]), self.space.values(point)
        return TuneResult(
            game=self.table.game.name,
            variant=self.table.variant,
            seats=self.table.seats,
            others=tuple(one.spec for one in self.table.others),
            start=start,
            spec=chosen,
            values={name: (old[name], new[name]) for name in self.space.names},
            generations=self.generations,
            trials=self.generations * self.method.popsize,
            trial_games=self.config["trial_games"],
            score=interval.estimate(own).scaled(measure.scale),
            start_score=interval.estimate(before).scaled(measure.scale),
            difference=comparison.difference.scaled(measure.scale),
            verdict=comparison.verdict if chosen != start else "undecided",
            unit=measure.unit or "%",
        )

    def _tell(self, points: Sequence[np.ndarray], scores: Sequence[float]) -> None:
        self.method.tell(points, [-score for score in scores])
        self.means.append(np.array(self.method.mean))

    def _keep(self, points: Sequence[np.ndarray], scores: Sequence[float]) -> None:
        trials = [
            {"values": self.space.values(point), "score": score} for point, score in zip(points, scores, strict=True)
        ]
        with (self.folder / HISTORY).open("a", encoding="utf-8") as file:
            file.write(json.dumps(trials) + "\n")

    def _open(self) -> None:
        """Begin in a new folder, or read what was played. Raises CardaiError for another search and a damaged one."""
        place = self.folder / CONFIG
        if not place.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            write_text(place, json.dumps(self.config, indent=1) + "\n")
            return
        kept = read_json(place)
        other = [name for name, value in self.config.items() if not isinstance(kept, dict) or kept.get(name) != value]
        if other:
            what = "networks that have learned since" if other == ["weights"] else f"another {other[0]}"
            raise CardaiError(f"{self.folder} holds another search, with {what}; choose another folder")
        history = self.folder / HISTORY
        for number, line in enumerate(history.read_text("utf-8").splitlines() if history.exists() else (), 1):
            points = self.method.ask()
            try:
                trials = json.loads(line)
                is_same = [self.space.values(point) for point in points] == [trial["values"] for trial in trials]
                scores = [float(trial["score"]) for trial in trials]
            except (ValueError, TypeError, KeyError):
                is_same, scores = False, []
            if not is_same:
                raise CardaiError(f"line {number} of {history} is damaged, or of another cma: delete it and all below")
            self._tell(points, scores)


def _method(size: int, seed: int) -> Any:
    """CMA-ES around 0 with a deviation of 1, which draws from a stream of its own. Raises CardaiError without `cma`."""
    try:
        import cma
    except ImportError:
        raise lacking("cardai tune", "cma", "tune") from None
    stream = np.random.default_rng(seed)
    options = {
        "seed": math.nan,
        "randn": lambda *shape: stream.standard_normal(shape),
        "popsize": max(FEWEST_TRIALS, 4 + int(3 * math.log(size))),
        "verbose": -9,
        "verb_log": 0,
    }
    return cma.CMAEvolutionStrategy(np.zeros(size), 1.0, options)
