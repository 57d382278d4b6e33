"""A recorded game, analysed: how good each seat's position was after its moves, and which moves changed that.

    analysis = analyse_file("games.jsonl", "greedy:best", number=3)
    rich.print(cardai.cli.show.analysis.table(analysis))
    save_figure("game3.svg", cardai.cli.show.analysis.figure(analysis))

docs/records.md says which states are evaluated, from what information, and why a seat keeps the value of its own last
move until its next one. With `seat`, an analysis is what that seat may read: the moves of others in the words it is
told, and values of its own positions only, since the values of others come from what those seats know.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cardai.errors import CardaiError, positive
from cardai.game import Game, GameState, Payoff
from cardai.game.compiled.doors import check_seat
from cardai.measure.move_values import (
    MoveWorth,
    evaluated,
    one_ply,
    played_on,
    plays_on,
    positions,
    usual_valuer,
    weighed,
)
from cardai.measure.value_scale import ValueScale, payoff_of, scale_of, shifted_agent, unit_of
from cardai.playing.agents.notation import Spec
from cardai.playing.agents.spec import Agent
from cardai.playing.agents.spec import agent as agent_of
from cardai.playing.agents.strategy import OnePly
from cardai.playing.progress import Progress
from cardai.playing.stats.jsonable import plain
from cardai.playing.stats.measure import OF_SCORES, value_of
from cardai.playing.stats.report import Report
from cardai.playing.table.following import words_of
from cardai.records import record
from cardai.records.record import RecordedGame

WORLDS = 40
"""Worlds in which rollouts play the moves of a decision on, at a table without a model."""

PlyJudge = Callable[[int, GameState, np.record], tuple[float | None, MoveWorth]]
"""A function of a ply, the state before it and its move -> the value of the position moved into, and of the move."""


@dataclass(frozen=True)
class AnalysedMove:
    """One move of a game and its values for the seat that moved. A value is None if the agent gives none.

    - `move`: in words.
    - `value`: of the position moved into; `before`: the `value` of the seat's last own move.
    - `listed`: how many legal moves the agent compared, 0 if it was not asked.
    - `worth`: the value of the move that was played, as the agent compared it with the others.
    - `best`: the move with the highest such value, in words, if that is higher than `worth`; `best_worth`: its value.
    """

    ply: int
    seat: int
    move: str
    value: float | None
    before: float | None
    listed: int
    worth: float | None
    best: str | None
    best_worth: float | None

    @property
    def cost(self) -> float:
        """How much value the choice cost. It is 0 if no other move has a higher value, or values are not known."""
        return 0.0 if self.best_worth is None or self.worth is None else max(0.0, self.best_worth - self.worth)


@dataclass(frozen=True)
class Swing:
    """The change of a seat's value from its last own move to this one, and the parts that add up to it.

    - `choice`: minus the cost of its choices since then.
    - `draw`: the value after it drew less the value it could expect (`sampled:` only).
    - `others`: the rest, which is the moves of others and chance.
    """

    ply: int
    seat: int
    before: float
    after: float
    choice: float
    draw: float
    others: float

    @property
    def change(self) -> float:
        """After minus before."""
        return self.after - self.before


@dataclass(frozen=True)
class Analysis(Report, drawn_by="cardai.cli.show.analysis:table"):
    """A recorded game and the values that an agent gives its positions.

    - `number`: of the game in its file; `names`: who sat in each seat; `scores`: the seats' scores, in [0, 1], or
      in the unit of the game's payoff.
    - `agent`: the spec of the agent whose values these are; `moment`: the states it evaluates, "before_draw",
      "drawn" or, by rollouts, "played_on"; `scale`: what the values mean.
    - `turns`: one `AnalysedMove` for each ply.
    - `seat`: the seat that the analysis is for, or None if it shows everything. With a seat, `seed` is None, because
      everything could be dealt from it again.
    - `outcome`: what the values predict, as it came, for each seat: an outcome of the game as a label, or the payoff in
      a game with a unit; else empty.
    - `unit`: a difference of 1 between values in the game's own unit: how many, and of what.
    - `top`: how many costly moves are marked, and how many of the largest swings are listed. `worlds_seed`: decides
      which worlds are evaluated.
    """

    game: str
    title: str
    version: int
    variant: str
    number: int
    seed: int | None
    names: tuple[str, ...]
    agent: str
    moment: str
    scale: ValueScale
    turns: tuple[AnalysedMove, ...]
    scores: tuple[float, ...]
    top: int
    worlds_seed: int
    seat: int | None = None
    file: str = ""
    outcome: tuple[float, ...] = ()
    unit: tuple[float, str] = (1.0, "of the values")

    def cost_words(self, turn: AnalysedMove) -> str:
        """What the choice of a move cost, in the game's own unit: "5.2 points"."""
        amount = self.unit[0] * turn.cost
        return f"{f'{amount:.0f}' if amount >= 10 else f'{amount:.2g}'} {self.unit[1]}"

    @property
    def seats(self) -> int:
        """The number of seats."""
        return len(self.scores)

    def values(self) -> np.ndarray:
        """Each seat's value after every ply, f8[plies, seats]: that of its own last move, NaN before its first."""
        values = np.full((len(self.turns), self.seats), np.nan)
        for turn in self.turns:
            if turn.value is not None:
                values[turn.ply :, turn.seat] = turn.value
        return values

    def ends(self) -> np.ndarray | None:
        """What the values predict, as it came, f8[seats]: each seat's label. None for values without a unit."""
        if not self.scale.bounded:
            return None
        label = self.scale.label
        return np.array(self.outcome) if self.outcome else OF_SCORES[label](np.array(self.scores)) * 1.0

    def swings(self) -> list[Swing]:
        """All changes of a seat's value from one own move to the next, the largest first."""
        choices, swings = [0.0] * self.seats, []
        for turn in self.turns:
            choices[turn.seat] -= turn.cost
            if turn.value is None:
                continue
            if turn.before is not None:
                draw = turn.value - turn.worth if self.moment == "drawn" and turn.worth is not None else 0.0
                others = turn.value - turn.before - choices[turn.seat] - draw
                swings.append(Swing(turn.ply, turn.seat, turn.before, turn.value, choices[turn.seat], draw, others))
            choices[turn.seat] = 0.0
        return sorted(swings, key=lambda swing: -abs(swing.change))

    def marked(self) -> list[Swing]:
        """The `top` largest swings, without those that change nothing."""
        return [swing for swing in self.swings() if swing.change][: self.top]

    def mistakes(self) -> list[AnalysedMove]:
        """The `top` costliest moves of whoever moved, whatever others and chance did to them."""
        return [turn for turn in self.missed() if turn.cost > 0][: self.top]

    def missed(self) -> list[AnalysedMove]:
        """The moves for which another legal move has a higher value, the costliest first."""
        return sorted((turn for turn in self.turns if turn.best is not None), key=lambda turn: -turn.cost)

    def notes(self) -> list[str]:
        """What the numbers mean, for people."""
        if self.moment == "played_on":
            notes = [
                f"numbers: {self.scale.name}, the mean over worlds in which a simple player plays on after the move;",
                "the better move was found in other worlds than those in which the cost is measured;",
                "it is named only where the 95 % interval of the cost does not contain 0",
            ]
        else:
            notes = self._evaluator_notes()
        if self.seat is not None:
            notes.append(
                f"moves of others are worded as seat {self.seat} is told of them, and only its own are evaluated,"
            )
            notes.append("because the values of others come from what those seats know")
        return notes

    def _evaluator_notes(self) -> list[str]:
        state = "in the after-state, before any draw" if self.moment == "before_draw" else "in the settled state"
        notes = [
            f"numbers: {self.scale.name}; {self.scale.source}",
            f"a seat is evaluated when it has moved, {state}, from what that seat knows;",
            "it keeps that value until its next move, because models are trained on such positions only",
        ]
        if self.moment == "drawn":
            notes.append("not evaluated: the end of the game, and a seat in the middle of its decision")
        return notes

    def as_json(self) -> dict[str, Any]:
        """Everything as plain JSON types. `top` says how many of the swings and missed moves tables show."""
        ends = self.ends()
        content: dict[str, Any] = {"kind": "analysis"} | asdict(self)
        content["turns"] = [
            asdict(turn) | {"cost": turn.cost, "values": row}
            for turn, row in zip(self.turns, self.values(), strict=True)
        ]
        content["swings"] = [asdict(swing) | {"change": swing.change} for swing in self.swings()]
        content["missed"] = [asdict(turn) | {"cost": turn.cost} for turn in self.missed()]
        return plain(content | {"ends": ends, "notes": self.notes()})


def analyse_file(
    path: str | Path,
    agent: str | None = None,
    *,
    number: int = 0,
    rules: str | None = None,
    seed: int = 0,
    top: int = 5,
    seat: int | None = None,
    progress: Progress | None = None,
) -> Analysis:
    """Analyse game `number` of a file. `rules`: the path of the game if it has no name here.

    Raises CardaiError for a file that cannot be read, is damaged, is of another version of the game or does not have
    that game, and as `analyse` does.
    """
    reader = record.read(path)
    game, played = reader.load(rules), reader.game(number)
    names = [reader.header.agents[place] for place in played.lineup]
    analysis = analyse(game, played, agent, names=names, seed=seed, top=top, seat=seat, progress=progress)
    return dataclasses.replace(analysis, file=str(path))


def analyse(
    game: Game,
    played: RecordedGame,
    agent: Agent | str | Spec | None = None,
    *,
    names: Sequence[str] | None = None,
    seed: int = 0,
    top: int = 5,
    seat: int | None = None,
    progress: Progress | None = None,
) -> Analysis:
    """Replay a game and evaluate every seat's positions.

    - `agent`: an agent with an evaluator, or one that plays moves on to the end (`rollout:100`), or its spec. By
      default `usual_valuer`.
    - `names`: who sat in each seat; if not given, the places in the line-up.
    - `seed`: decides which worlds are evaluated.
    - `seat`: show only what this seat may know: others' moves in the words it is told, and values of its own positions.

    Raises CardaiError for a game that does not replay, for an agent without an evaluator or that does not fit, and for
    a seat that the table does not have.
    """
    positive("top", top)
    seats = len(played.lineup)
    if seat is not None:
        check_seat("seat", seat, seats)
    agent = usual_valuer(game, played.variant, seats, WORLDS) if agent is None else agent
    player = _evaluating(game, agent_of(game, agent), played.variant, seats)
    scale = scale_of(game, player, seats)
    player = shifted_agent(player, scale)
    states, moves = _replayed(game, played)
    moment, judge = _judge(game, player, states, moves, seed, progress, seat)
    turns = _analysed_moves(game, judge, states, moves, seat, payoff_of(game, scale))
    return Analysis(
        game=game.name,
        title=game.title,
        version=game.version,
        variant=played.variant,
        number=played.number,
        seed=played.seed if seat is None else None,
        names=tuple(names) if names is not None else tuple(f"agent {place}" for place in played.lineup),
        agent=player.spec,
        moment=moment,
        scale=scale,
        turns=tuple(turns),
        scores=tuple(game.payoff.of(played.scores).tolist()),
        top=top,
        worlds_seed=seed,
        seat=seat,
        outcome=_outcome(game, scale, states[-1], played.scores),
        unit=unit_of(game, scale, states[-1]),
    )


def _outcome(game: Game, scale: ValueScale, end: GameState, scores: Sequence[float]) -> tuple[float, ...]:
    """What values predict of an ended game, as in `Analysis.outcome`."""
    if scale.bounded and scale.label in game.learning.outcomes:
        return tuple(game.learning.outcomes[scale.label].as_label(game.outcome(end, scale.label)).tolist())
    if not scale.bounded or game.payoff.is_share:
        return ()
    return tuple((1.0 * value_of(game.payoff, scale.label, np.array(scores))).tolist())


def _evaluating(game: Game, agent: Agent, variant: str, seats: int) -> Agent:
    """Returns `agent`. Raises CardaiError if it does not evaluate what its seat knows, or does not fit the table."""
    if agent.peeks:
        raise CardaiError(f"agent {agent.spec!r} peeks; a seat is evaluated from what it knows: greedy: or sampled:")
    if not plays_on(agent) and not isinstance(agent.strategy, OnePly):
        raise CardaiError(
            f"agent {agent.spec!r} evaluates no positions; greedy:EVALUATOR, sampled:EVALUATOR and rollout:N do"
        )
    if isinstance(agent.strategy, OnePly) and agent.strategy.explores:
        raise CardaiError(f"agent {agent.spec!r} explores, which says nothing about a position; name it without")
    agent.check_fits(game, variant, seats)
    return agent


def _replayed(game: Game, played: RecordedGame) -> tuple[list[GameState], list[np.record]]:
    """Returns the states before each move with the last state, and the moves."""
    seen: list[tuple[GameState, np.record]] = []
    try:
        end = record.replay(game, played, lambda state, move, ply: seen.append((state, move)))
    except CardaiError as error:
        raise CardaiError(f"game {played.number} (seed {played.seed}): {error}") from None
    return [*(state for state, _ in seen), end], [move for _, move in seen]


def _analysed_moves(
    game: Game,
    judge: PlyJudge,
    states: Sequence[GameState],
    moves: Sequence[np.record],
    only: int | None,
    payoff: Payoff,
) -> Iterator[AnalysedMove]:
    """Every move with its values, which `payoff` turns into its unit.

    `only`: the seat that the words are for, and whose moves alone have values.
    """
    last: dict[int, float] = {}
    for ply, (state, move) in enumerate(zip(states[:-1], moves, strict=True)):
        seat, value, worth = int(state["turn"]), None, MoveWorth(0, None, None, None)
        if only in (None, seat):
            value, worth = judge(ply, state, move)
            value, own, best = (
                one if one is None else float(payoff.of(one)) for one in (value, worth.worth, worth.best_worth)
            )
            worth = worth._replace(worth=own, best_worth=best)
        yield AnalysedMove(ply, seat, words_of(game, state, move, only), value, last.get(seat), *worth)
        if value is not None:
            last[seat] = value


def _judge(
    game: Game,
    agent: Agent,
    states: Sequence[GameState],
    moves: Sequence[np.record],
    seed: int,
    progress: Progress | None,
    only: int | None,
) -> tuple[str, PlyJudge]:
    """Returns where an agent evaluates the game, as in `Analysis.moment`, and what it says of each ply."""
    if plays_on(agent):

        def by_rollouts(ply: int, state: GameState, move: np.record) -> tuple[float | None, MoveWorth]:
            if progress:
                progress(ply, len(moves), f"playing moves on by {agent.spec}")
            found = played_on(game, agent, state, move, seed) or MoveWorth(0, None, None, None)
            return found.worth, found

        return "played_on", by_rollouts
    settles = one_ply(agent).settles
    choices = weighed(game, agent, states[:-1], seed, progress, only)
    values = evaluated(game, agent, positions(game, agent, states, moves, seed, only))

    def by_evaluator(ply: int, state: GameState, move: np.record) -> tuple[float | None, MoveWorth]:
        found = _beside_the_best(game, state, move, choices.get(ply))
        if not settles and found.worth is not None:
            found = found._replace(worth=values.get(ply))
        return values.get(ply), found

    return "drawn" if settles else "before_draw", by_evaluator


def _beside_the_best(
    game: Game, state: GameState, move: np.record, choices: tuple[np.ndarray, np.ndarray] | None
) -> MoveWorth:
    """The move that was played beside the others. `choices`: what the agent compared, None without a choice."""
    if choices is None:
        return MoveWorth(1, None, None, None)
    moves, values = choices
    own = np.flatnonzero(moves == move)
    worth = float(values[own[0]]) if len(own) else None  # None: a truncated list may be without the move played
    best = int(np.argmax(values))
    if worth is None or values[best] <= worth:
        return MoveWorth(len(moves), worth, None, worth)
    return MoveWorth(len(moves), worth, game.text.spell(state, moves[best]), float(values[best]))
