"""The results of suites and matches, as `cardai.measure.bench` returns them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from cardai.playing.stats.interval import Estimate
from cardai.playing.stats.measure import Measure, WonLostTied
from cardai.playing.stats.report import Report


@dataclass(frozen=True)
class SearchCost:
    """What the search over worlds of an agent cost, and whom it had in mind.

    - `milliseconds`: the mean time of a decision with a choice, on one core; `decisions`: how many there were. Both are
      0 if an evaluator was asked in batches, whose time belongs to no decision.
    - `others`: the spec of the player by which it plays the other seats in its worlds.
    - `exploits`: whether it met that very player in this row, so that it knew its opponents' plan.
    """

    milliseconds: float
    decisions: int
    others: str
    exploits: bool


@dataclass(frozen=True)
class SuiteResult:
    """The result of one agent in one row of a suite. Estimates are in percent, or in the unit of a payoff or outcome.

    - `places`: how many seats of a game the agent had; `opponents`: the agents in the seats of others; `partners`:
      other agents in the agent's own team, in a game of teams.
    - `figure`: the suite's measure; `score`: the mean score; `beside`: the game's other measures
      (`Learning.measures`). A team counts once a game.
    - `by_seat[s]`: the agent's figure in seat s.
    - `seat_share[s]`: the same measure for seat s over all games, whichever agent sat there.
    - `claim`: the published figure, in the same unit; `claim_verdict`: how the agent's figure compares with it.
    - `games`: games finished. Rotations in which equal agents sit alike are one game, which counts for each of them.
    - `endless`: games given up after the game's `max_plies` moves. They count in no figure.
    - `search`: for an agent that searches over worlds, what that cost.
    - `ends`: games won, lost and tied, if there are two sides: two seats or two teams.
    """

    agent: str
    spec: str
    row: str
    opponents: tuple[str, ...]
    measure: str
    figure: Estimate
    score: Estimate
    by_seat: tuple[Estimate, ...]
    seat_share: tuple[float, ...]
    claim: float | None
    claim_verdict: str | None
    games: int
    endless: int
    decisions: int
    seconds: float
    games_per_second: float
    seed: int
    interrupted: bool
    search: SearchCost | None = None
    beside: Mapping[str, Estimate] = field(default_factory=dict)
    places: int = 1
    partners: tuple[str, ...] = ()
    ends: WonLostTied | None = None


@dataclass(frozen=True)
class MissingRow:
    """A row of a suite that an agent could not play, and why. `places`, `partners`: as in `SuiteResult`."""

    agent: str
    row: str
    opponents: tuple[str, ...]
    reason: str
    places: int = 1
    partners: tuple[str, ...] = ()


@dataclass(frozen=True)
class MatchStanding:
    """One player of a match, all its places in the line-up taken together, in the units of a `SuiteResult`.

    A game counts for each of its places, in a game of teams for each team that it plays in. `by_seat[s]`: its mean
    score in seat s; NaN if it never sat there. `beside`, `ends`: as in `SuiteResult`.
    """

    agent: str
    spec: str
    places: int
    score: Estimate
    win: Estimate
    loss: Estimate
    by_seat: tuple[float, ...]
    beside: Mapping[str, Estimate] = field(default_factory=dict)
    ends: WonLostTied | None = None

    def figure(self, name: str) -> Estimate:
        """The estimate of a measure of the report."""
        return self.beside[name] if name in self.beside else getattr(self, name)


@dataclass(frozen=True)
class PairVerdict:
    """Agent `one` compared with agent `other` on the same deals, and the verdict on `one`.

    `difference`: the figure of `one` less that of `other` by `measure`, in percentage points, or in the unit of an
    outcome. `row`: the row of the suite; empty in a match, where both sat at the same table.
    """

    row: str
    one: str
    other: str
    difference: Estimate
    verdict: str
    measure: str


RowT = TypeVar("RowT", SuiteResult, MatchStanding)


@dataclass(frozen=True)
class BenchReport(Report, Generic[RowT], drawn_by="cardai.cli.show.bench:table", on_machine=True):
    """What a suite (`kind` "suite") or a match (`kind` "match") measured.

    - `measure`: the suite's measure; "score" in a match. `measures`: that one first, then those that are shown beside
      it: the game's (`Learning.measures`), or "win" and "loss" in a match of a game without. Where all rows have
      `ends`, these stand for "win", "loss" and "share".
    - `salt`: made the deals together with the seed; empty if no agent runs code of somebody else's.
    - `asked`: the games requested, in each row of a suite. Slightly more are played, to complete rotations.
    - `missing`: the rows that could not be played; `unplayed`: how many were not begun when the run was interrupted.
    - `source`: where the suite's claims come from; `claim_games`: the games behind each, or 0 if that is not known.
    - `games`, `endless`, `seconds`, `decisions`: as in `SuiteResult`, over all rows.
    - `own_deals`: whether no deal was played twice, since an agent runs code of somebody else's.
    - `unsealed`: why such code could know hidden cards, a sentence each; empty if the system kept them from it.
    """

    kind: str
    game: str
    version: int
    variant: str
    title: str
    measure: str
    measures: tuple[Measure, ...]
    seed: int
    salt: str
    asked: int
    rotate: bool
    threads: int
    rows: tuple[RowT, ...]
    missing: tuple[MissingRow, ...] = ()
    unplayed: int = 0
    verdicts: tuple[PairVerdict, ...] = ()
    source: str = ""
    claim_games: int = 0
    games: int = 0
    endless: int = 0
    seconds: float = 0.0
    decisions: int = 0
    interrupted: bool = False
    own_deals: bool = False
    unsealed: tuple[str, ...] = ()
