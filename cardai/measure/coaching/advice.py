"""Advice for the seat to move: the best move by a judge, and how much worse the other moves are.

    adviser = Adviser(game, "greedy:best", seats=4)
    hint = adviser.hint(state, seed=3)            # the judge's move, and the pieces it takes
    explanation = adviser.explain(state, seed=3)  # every legal move beside it

*What it may use.* Everything is made from one world of the seat to move, which `seed` decides: a copy in which all that
the seat cannot know is dealt anew. So advice is the same in all worlds of the seat, and tells nothing hidden.

*The best move* is the one that the judge plays. It chooses in worlds of its own.

*The other moves* are compared with it in new worlds, which all moves share, so that their luck cancels. Two figures are
given, each with the 95 % bootstrap interval of the difference from the best move: the judge's value, and the mean score
of rollouts by simple players. A move is *told apart* if the interval does not contain 0. The best move was not chosen
in these worlds, so its lead is not flattered by the choice: a move may also come out ahead of it. A judge of
after-states (`greedy:`) gives the same value in all worlds, so its values have no interval.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cardai.errors import CardaiError, positive
from cardai.game import Game, GameState, Payoff, int_seed
from cardai.game.compiled.chance import ANALYSIS, derived
from cardai.measure.move_values import (
    ComparedFigure,
    compared,
    figures,
    plays_on,
    rollouts_beside,
    usual_judge,
    with_move,
)
from cardai.measure.value_scale import payoff_of, scale_of, shifted_agent
from cardai.playing.agents.endgame import Endgame
from cardai.playing.agents.notation import Spec
from cardai.playing.agents.spec import Agent
from cardai.playing.agents.spec import agent as agent_of
from cardai.playing.agents.strategy import OnePly, Person, TreeSearch, WorldSearch
from cardai.playing.progress import Progress
from cardai.playing.stats.jsonable import plain
from cardai.playing.table.asking import ask
from cardai.playing.table.searching import values_in_worlds
from cardai.rules import STREAM

WORLDS = 100  # in which moves are compared
MOST_WORLDS = 1000
_FIRST = 1 << 31  # numbers of the streams of advice: `cardai.measure.move_values` uses those below


@dataclass(frozen=True)
class Hint:
    """The move that the judge plays: in words, as `MOVE`, and the set of pieces it takes (0 for none)."""

    move: np.record
    words: str
    pieces: int
    judge: str


@dataclass(frozen=True)
class ExplainedMove:
    """One legal move. `value`: by the judge, None if it gives moves no values. `rollouts`: mean score at the end.

    Scores are in the unit of the game's payoff if it has one.
    """

    words: str
    pieces: int
    value: ComparedFigure | None
    rollouts: ComparedFigure

    @property
    def is_told_apart(self) -> bool:
        """Whether the rollouts tell this move from the best one."""
        return self.rollouts.is_told_apart


@dataclass(frozen=True)
class Explanation:
    """Every legal move beside the best one, which comes first; the others by their rollouts, the best first.

    - `judge`: the spec of the agent that names the best move; `scale`: what its values are, "" if it gives none.
    - `bounded`: the values are shown in [0, 1]. `by`: who plays worlds out; `worlds`: how many.
    - `unit`: how much a score of 1 is in the game's own unit, and of what (`Payoff.worth`).
    - `more`: there are legal moves that are not listed. `counted`: the unit in which rollouts are given, "" for scores.
    """

    judge: str
    scale: str
    bounded: bool
    by: str
    worlds: int
    moves: tuple[ExplainedMove, ...]
    more: bool
    unit: tuple[float, str]
    counted: str = ""

    def as_json(self) -> dict[str, Any]:
        """Everything as plain JSON types, with `is_told_apart` of each move."""
        rows = [asdict(move) | {"is_told_apart": move.is_told_apart} for move in self.moves]
        return plain({"kind": "explanation"} | asdict(self) | {"moves": rows})


class Adviser:
    """Advises the seats of one kind of table by a judge, an agent or its spec; None for `usual_judge`.

    `worlds`: in how many worlds moves are compared. Raises CardaiError for a judge that does not fit, peeks, explores,
    or draws its parameters anew for each game.
    """

    def __init__(
        self,
        game: Game,
        judge: str | Spec | Agent | None = None,
        seats: int | None = None,
        variant: str | None = None,
        worlds: int = WORLDS,
    ) -> None:
        seats = game.default_seats if seats is None else seats
        game.options(seats, variant)
        spec = usual_judge(game, game.canonical(variant), seats, WORLDS) if judge is None else judge
        self.game, self.worlds = game, positive("worlds", worlds, MOST_WORLDS)
        self.judge = _checked(game, agent_of(game, spec), variant, seats)
        self._player = self.judge if plays_on(self.judge) else agent_of(game, rollouts_beside(self.judge, worlds))
        strategy = self._player.strategy
        self.by = strategy.assumed if isinstance(strategy, WorldSearch | TreeSearch) else self._player.spec
        """The spec of who plays worlds out."""
        self._valued = self.judge.strategy.inner if isinstance(self.judge.strategy, Endgame) else self.judge
        self._values = _valuing(game, self._valued, seats)

    def hint(self, state: GameState, seed: int) -> Hint:
        """The judge's move for the seat to move. `state`: any state or world in which it is to move."""
        world = self._world(state, seed)
        move = ask(self.game, self.judge, np.array([world]), self._streams(world, seed, 1))[0]
        return Hint(move, self.game.text.spell(world, move), self._pieces(world, move), self.judge.label)

    def hints(self, state: GameState, seed: int) -> list[Hint]:
        """The judge's moves for the whole choice of the seat to move: one, or those that belong together
        (`Text.series`)."""
        found, world = [self.hint(state, seed)], self._world(state, seed)
        for _ in range(self.game.in_series(world) - 1):
            world = self.game.play(world, found[-1].move)
            found.append(self.hint(world, seed))
        return found

    def explain(self, state: GameState, seed: int, progress: Progress | None = None) -> Explanation:
        """All legal moves beside the judge's, see the module. `state`: as in `hint`; the same seed names the same move.

        Raises CardaiError if the judge, or an evaluator that it asks, fails.
        """
        hint, world = self.hint(state, seed), self._world(state, seed)
        moves, best, more = with_move(self.game, world, hint.move)
        bits = int(self._streams(world, seed, 2)["rng"][0])
        ends = values_in_worlds(self.game, self._player, world, moves, self.worlds, bits, progress)
        scale = scale_of(self.game, self._valued, int(world["seats"])) if self._values is not None else None
        payoff, own = self.game.payoff, Payoff() if scale is None else payoff_of(self.game, scale)
        rollouts = [figure.in_unit(payoff) for figure in figures(ends, best)]
        judged = self._judged(world, moves, best, seed, progress)
        values = [figure and figure.in_unit(own) for figure in judged]
        rows = [
            ExplainedMove(self.game.text.spell(world, move), self._pieces(world, move), value, rollout)
            for move, value, rollout in zip(moves, values, rollouts, strict=True)
        ]
        order = sorted(range(len(rows)), key=lambda i: (i != best, -rows[i].rollouts.mean))
        return Explanation(
            self.judge.label, scale.name if scale else "", scale.is_share if scale else False, self.by,
            self.worlds, tuple(rows[i] for i in order), more, payoff.worth(world),
            payoff.counted,
        )  # fmt: skip

    def _world(self, state: GameState, seed: int) -> GameState:
        """The world of the seat to move from which all advice is made."""
        if state["turn"] < 0:
            raise CardaiError(f"{self.game.name}: the game is over, nobody is to move")
        return self.game.world(state, int(state["turn"]), int(self._streams(state, seed, 0)["rng"][0]))

    def _streams(self, state: GameState, seed: int, purpose: int, count: int = 1) -> np.ndarray:
        """STREAM[count] that belong to a seed, a ply and one of the purposes 0 to 3."""
        streams, place = np.zeros(count, STREAM), _FIRST + 1024 * (4 * int(state["ply"]) + purpose)
        streams["rng"] = [derived(int_seed(seed), ANALYSIS, place + i) for i in range(count)]
        return streams

    def _pieces(self, world: GameState, move: np.record) -> int:
        return int(self.game.table.picks(world, move)) if self.game.table.picks is not None else 0

    def _judged(
        self, world: GameState, moves: np.ndarray, best: int, seed: int, progress: Progress | None
    ) -> Sequence[ComparedFigure | None]:
        """The judge's figure of each move, or None for all if it gives moves no values."""
        agent = self._values
        if agent is None:
            return [None] * len(moves)
        if isinstance(agent.strategy, WorldSearch):
            bits = int(self._streams(world, seed, 3)["rng"][0])
            return figures(values_in_worlds(self.game, agent, world, moves, self.worlds, bits, progress), best)
        count = self.worlds if agent.strategy.settles else 1  # pyright: ignore[reportAttributeAccessIssue]
        streams = self._streams(world, seed, 3, count)
        found = compared(self.game, agent, np.array([world] * count), streams, progress)
        return figures(np.array([_in_order(moves, *one) for one in found]), best)


def _checked(game: Game, judge: Agent, variant: str | None, seats: int) -> Agent:
    """Returns `judge`. Raises CardaiError if it cannot advise at this table."""
    strategy = judge.strategy
    if judge.peeks:
        raise CardaiError(f"agent {judge.spec!r} peeks; advice may use only what a seat knows")
    if strategy.explores or strategy.randomised:
        raise CardaiError(f"agent {judge.spec!r} does not always play the move it prefers; name a judge that does")
    if isinstance(strategy, Person):
        raise CardaiError(f"agent {judge.spec!r} is asked elsewhere; name a judge that computes")
    judge.check_fits(game, variant, seats)
    return judge


def _valuing(game: Game, judge: Agent, seats: int) -> Agent | None:
    """The agent that gives moves the judge's values, one world at a time. None if the judge gives them none.

    Its values are on the scale that `scale_of` names.
    """
    strategy = judge.strategy
    if isinstance(strategy, WorldSearch):
        return judge if strategy.is_native and not plays_on(judge) else None
    if not isinstance(strategy, OnePly):
        return None
    one_world = dataclasses.replace(judge, strategy=dataclasses.replace(strategy, worlds=1))
    return shifted_agent(one_world, scale_of(game, judge, seats))


def _in_order(moves: np.ndarray, listed: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The values of `listed` moves in the order of `moves`, which they all are among: f8[k], NaN for one not listed."""
    if len(listed) == len(moves) and (listed == moves).all():
        return values
    found = np.full(len(moves), np.nan)
    for i, move in enumerate(moves):
        place = np.flatnonzero(listed == move)
        if len(place):
            found[i] = values[place[0]]
    return found
