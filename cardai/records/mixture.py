"""The games of a simulation: their seeds, their line-ups, drawn from a pool of agents, and how the agents did."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from cardai.errors import CardaiError
from cardai.files.named import digests_of, noted
from cardai.game import Game, int_seed
from cardai.playing.agents.spec import agent
from cardai.playing.machine import thread_count
from cardai.playing.progress import CountProgress
from cardai.playing.stats import interval
from cardai.playing.stats.by_deal import Deals, DealSums
from cardai.playing.stats.deals import deal_seeds
from cardai.playing.stats.interval import Estimate
from cardai.playing.stats.jsonable import plain
from cardai.playing.stats.measure import measure_of, value_of
from cardai.playing.stats.report import Report
from cardai.playing.table.many import Results, play
from cardai.records.record import Header, Writer, read
from cardai.rules import STREAM, mixed, rule, uniform

PLAN = "simulation.json"
FORMAT = "cardai simulation 2"
WEIGHTS = "weights"
"""The entry of a description that has the digest of each file that the pool names."""

_FIGURES = ("score", "win", "loss")  # of each agent
_DEALS, _SEATS = 0xDEA15, 0x5EA75  # keep the draws of deals and line-ups apart from those of benchmarks and players


@dataclass(frozen=True)
class Share:
    """The results of one agent of a pool, over all seats it was drawn for. Estimates are in percent.

    The score is in the unit of the game's payoff if it has one.
    """

    agent: str
    spec: str
    weight: float
    seats: int
    score: Estimate
    win: Estimate
    loss: Estimate


@dataclass(frozen=True)
class Summary(Report, drawn_by="cardai.cli.show.tables:selfplay"):
    """The result of a simulation.

    - `asked`: the number of games asked for; `games`: those played and finished by this call; `states`: their moves.
    - `endless`: games stopped after the game's `max_plies` moves; they are in no file.
    - `files`: all files of the simulation. `found` of them existed before; no other figure here counts their games.
    - `unit`: that of the agents' scores, "" if they are in percent.
    """

    game: str
    version: int
    variant: str
    seats: int
    seed: int
    asked: int
    games: int
    states: int
    endless: int
    agents: tuple[Share, ...]
    files: tuple[str, ...]
    found: int
    seconds: float
    interrupted: bool
    unit: str = ""

    def as_json(self) -> dict[str, Any]:
        """Returns the summary as plain JSON types, with estimates in percent or in `unit`."""
        return plain(asdict(self) | {"level": interval.LEVEL})


@dataclass(frozen=True)
class FileResults:
    """How the games of a file came out: `finished` bool[G], `scores` f8[G, seats], and the sums over its games."""

    finished: np.ndarray
    scores: np.ndarray
    states: int
    endless: int
    seconds: float

    @classmethod
    def of(cls, results: Results) -> Self:
        """From the results of all games of a file."""
        done = results.finished
        states, endless = int(results.plies[done].sum()), int(results.endless.sum())
        return cls(done, results.scores, states, endless, results.seconds)


@rule
def draw_lineups(seeds, key, bounds, lineups, stream):
    """Fill `lineups`, i8[G, seats], with indices into a pool of N agents.

    `bounds`: f8[N], the cumulative shares of the weights; the last is 1. A game's line-up depends only on its seed, the
    key u8[1] and the pool.
    """
    for game in range(len(seeds)):
        stream.rng = mixed(np.uint64(seeds[game]) ^ np.uint64(key[0]))
        for seat in range(lineups.shape[1]):
            drawn, place = uniform(stream), 0
            while drawn >= bounds[place]:
                place += 1
            lineups[game, seat] = place


class Mix:
    """A simulation: its game, its pool, and the seeds and line-ups of its games. It counts results.

    `names`: the specs as its files have them. In a folder that was moved these are not those of the pool.
    """

    def __init__(
        self,
        game: Game,
        pool: Mapping[str, float],
        games: int,
        seed: int,
        variant: str | None,
        seats: int | None,
        threads: int | None,
    ) -> None:
        if not pool:
            raise CardaiError("the pool is empty: name an agent")
        for spec, weight in pool.items():
            if not is_weight(weight):
                raise CardaiError(f"the weight of {spec!r} in the pool must be a number above 0, not {weight}")
        self.game, self.asked, self.seed = game, games, seed
        self.seats = game.default_seats if seats is None else seats
        self.variant = game.canonical(variant)
        game.options(self.seats, self.variant)
        self.pool = dict(pool)
        with noted() as files:
            self.agents = [agent(game, spec) for spec in pool]
        self.names, self._files = list(pool), files
        for member in self.agents:
            member.check_fits(game, self.variant, self.seats)
        self.threads = thread_count(threads)
        self._deals = int(mixed(int_seed(seed ^ _DEALS)))
        self._key = np.array([mixed(int_seed(seed ^ _SEATS))], np.uint64)
        self._bounds = np.cumsum(list(pool.values())) / sum(pool.values())
        self._bounds[-1] = 1.0
        self.games, self.states, self.endless, self.seconds = 0, 0, 0, 0.0
        self._sat = np.zeros(len(self.agents), int)
        self._by_game = [DealSums(len(_FIGURES)) for _ in self.agents]

    def seeds(self, first: int, end: int) -> np.ndarray:
        """The seeds of the games first..end-1, u64[G]."""
        return deal_seeds(self._deals, end - first, first=first)

    def lineups(self, first: int, end: int) -> np.ndarray:
        """Which agents of the pool play the games first..end-1, i64[G, seats]."""
        drawn, stream = np.zeros((end - first, self.seats), np.int64), np.zeros(1, STREAM)
        draw_lineups(self.seeds(first, end), self._key, self._bounds, drawn, stream[0])
        if self.game.teams == 1:
            drawn[:] = drawn[:, :1]  # a partner who plays worse than the agent would spoil what the agent can do
        return drawn

    def writer(self, path: Path, overwrite: bool = False, planned: int | None = None) -> Writer:
        """A writer of games of this simulation."""
        return Writer(path, self.game, self.names, self.variant, self.seats, overwrite=overwrite, planned=planned)

    def play(self, first: int, end: int, writer: Writer, progress: CountProgress | None, before: int = 0) -> Results:
        """Play the games first..end-1 into a file that has `before` games already."""
        seeds, lineups = self.seeds(first, end), self.lineups(first, end)
        return play(
            self.game,
            self.agents,
            lineups,
            seeds,
            variant=self.variant,
            threads=self.threads,
            progress=progress,
            on_game=writer.in_order(lineups, seeds, before),
        )

    def count(self, first: int, end: int, results: FileResults) -> None:
        """Add the results of the games first..end-1, which have been results."""
        done = results.finished
        self.games += int(done.sum())
        self.states += results.states
        self.endless += results.endless
        self.seconds += results.seconds
        seated, scores = self.lineups(first, end)[done], results.scores[done]
        for place, tally in enumerate(self._by_game):
            sat = seated == place
            played = sat.any(axis=1)
            self._sat[place] += int(sat.sum())
            values = (value_of(self.game.payoff, name, scores[played]) for name in _FIGURES)
            tally.add([np.where(sat[played], value, np.nan) for value in values])

    def check(self, file: Path, first: int, end: int) -> None:
        """Raise CardaiError unless an existing file seems to hold the games first..end-1 of this simulation."""
        reader = read(file)
        if reader.header != Header.of(self.game, self.names, self.variant, self.seats):
            raise CardaiError(f"{file} holds games of another simulation than {PLAN} in the same folder describes")
        recorded = next(iter(reader), None)
        if recorded is not None and recorded.seed not in self.seeds(first, end):
            raise CardaiError(f"{file} does not hold games {first:,} to {end - 1:,} of the simulation; move it away")

    def plan(self, shard: int) -> dict[str, Any]:
        """What decides the games of a folder, as its description says it."""
        header = Header.of(self.game, (), self.variant, self.seats)
        table = {name: getattr(header, name) for name in ("game", "version", "variant", "options", "seats")}
        own = {"pool": self.pool, WEIGHTS: digests_of(self._files), "seed": self.seed, "shard": shard}
        return {"format": FORMAT, **table, **own}

    def summary(self, files: Sequence[str], found: int, interrupted: bool, asked: int | None = None) -> Summary:
        """The result of what was counted. `asked`: how many games were to be played, if not all."""
        return Summary(
            game=self.game.name,
            version=self.game.version,
            variant=self.variant,
            seats=self.seats,
            seed=self.seed,
            asked=self.asked if asked is None else asked,
            games=self.games,
            states=self.states,
            endless=self.endless,
            agents=self._shares(),
            files=tuple(files),
            found=found,
            seconds=self.seconds,
            interrupted=interrupted,
            unit=self.game.payoff.counted,
        )

    def _shares(self) -> tuple[Share, ...]:
        shares, payoff, scale = list[Share](), self.game.payoff, measure_of(self.game, "score").scale
        for place, (member, weight) in enumerate(zip(self.agents, self.pool.values(), strict=True)):
            score, *ends = map(self._by_game[place].of, range(len(_FIGURES)))
            figures = (
                _estimate(score, payoff.low, payoff.high).scaled(scale),
                *(_estimate(own).scaled(100) for own in ends),
            )
            shares.append(Share(member.label, member.spec, weight, int(self._sat[place]), *figures))
        return tuple(shares)


def is_weight(number: float) -> bool:
    """Whether a number can be the weight of an agent."""
    return math.isfinite(number) and number > 0


def _estimate(games: Deals, low: float = 0.0, high: float = 1.0) -> Estimate:
    """Returns the mean of an agent's outcomes, with its interval. A game is a cluster. `low`, `high`: their range.

    If all outcomes are 0 or 1, it is Wilson's interval. Otherwise it is a normal one: there are enough games for it,
    and too many for a bootstrap.
    """
    if games.is_binary:
        return interval.proportion(games)
    number, seats = games.number, games.total(games.sizes)
    point = games.total(games.sums) / seats
    if number < 2:
        return Estimate(point, math.nan, math.nan, int(seats), number)
    spread = math.sqrt(number / (number - 1) * games.total((games.sums - point * games.sizes) ** 2)) / seats
    half = interval.NormalDist().inv_cdf(0.5 + interval.LEVEL / 2) * spread
    return Estimate(point, max(point - half, low), min(point + half, high), int(seats), number)
