"""The results of suites and matches, as `cardai.measure.bench` returns them."""

from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

from cardai.stats import interval
from cardai.stats.interval import Estimate
from cardai.stats.jsonable import plain
from cardai.stats.machine import machine

MEASURES = {
    "loss": "share of games lost (score 0)",
    "win": "share of games won (score 1)",
    "score": "mean score",
}


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

    def words(self, agent: str, row: str) -> str:
        """A note under a table."""
        time = f"{self.milliseconds:.2g} ms a decision" if self.decisions else "asks its evaluator in batches"
        note = f"{agent} in {row}: {time}; it thinks that the others play as {self.others}"
        return f"{note}, and here they do: it exploits them" if self.exploits else note


@dataclass(frozen=True)
class SuiteResult:
    """The result of one agent in one row of a suite. Estimates are in percent.

    - `figure`: the suite's measure; `score`: the mean score.
    - `by_seat[s]`: the agent's figure in seat s.
    - `seat_share[s]`: the same measure for seat s over all games, whichever agent sat there.
    - `claim`: the published figure, in percent; `claim_verdict`: how the agent's figure compares with it.
    - `endless`: games given up after the game's `max_plies` moves. They count in no figure.
    - `search`: for an agent that searches over worlds, what that cost.
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
    endless: int
    decisions: int
    seconds: float
    games_per_second: float
    seed: int
    interrupted: bool
    search: SearchCost | None = None


@dataclass(frozen=True)
class MissingRow:
    """A row of a suite that an agent could not play, and why."""

    agent: str
    row: str
    opponents: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class MatchStanding:
    """One player of a match, all its places in the line-up taken together. Estimates are in percent of its games.

    `by_seat[s]`: its mean score in seat s, in percent; NaN if it never sat there.
    """

    agent: str
    spec: str
    places: int
    score: Estimate
    win: Estimate
    loss: Estimate
    by_seat: tuple[float, ...]


@dataclass(frozen=True)
class PairVerdict:
    """Agent `one` compared with agent `other` on the same deals, and the verdict on `one`.

    `difference`: the figure of `one` less that of `other`, in percentage points. `row`: the row of the suite; empty in
    a match, where both sat at the same table and their mean scores are compared.
    """

    row: str
    one: str
    other: str
    difference: Estimate
    verdict: str


RowT = TypeVar("RowT", SuiteResult, MatchStanding)


@dataclass(frozen=True)
class BenchReport(Generic[RowT]):
    """What a suite (`kind` "suite") or a match (`kind` "match") measured.

    - `measure`: the suite's measure, "loss", "win" or "score".
    - `salt`: made the deals together with the seed; empty if no agent runs code of somebody else's.
    - `asked`: the games requested, in each row of a suite. Slightly more are played, to complete rotations.
    - `rows`: `SuiteResult`s of a suite, `MatchStanding`s of a match.
    - `missing`: the rows that could not be played.
    - `unplayed`: how many rows were not begun when the run was interrupted.
    - `source`: where the suite's claims come from.
    - `claim_games`: the number of games behind each claim, or 0 if it is not known.
    - `games`: the games finished, over all rows.
    - `endless`: games given up after the game's `max_plies` moves, over all rows.
    - `seconds`, `decisions`: the time taken and the decisions made, over all rows.
    """

    kind: str
    game: str
    version: int
    variant: str
    title: str
    measure: str
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

    def __str__(self) -> str:
        """The report in plain text: the title, then a line for each row."""
        lines = [self.title]
        for row in self.rows:
            if isinstance(row, MatchStanding):
                lines.append(f"{row.agent}: score {row.score} %, win {row.win} %, loss {row.loss} %")
            else:
                lines.append(f"{row.row}, {row.agent}: {row.measure} {row.figure} %")
        return "\n".join([*lines, f"{self.games:,} games"])

    def as_json(self) -> dict[str, Any]:
        """Returns this report and the machine it was measured on as plain JSON types, with figures in percent."""
        return plain(asdict(self) | {"level": interval.LEVEL, "machine": machine()})
