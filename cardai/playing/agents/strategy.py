"""How agents come to their moves: the kinds of strategy there are.

Strategies of the first four kinds are played in compiled code, if heuristics or dense networks are their only judges.
All others *think*: they decide for many tables at once, in rounds. `think(decisions)` is a generator. It looks at
worlds, yields the positions that it wants judged (`Question`), is sent their scores, and may ask again as often as it
likes. It returns its moves. A search agent is a class with a `think`:

    class Cautious(Strategy):
        evaluator = ...

        def think(self, decisions):
            ahead = decisions.look_ahead(self.evaluator)
            scores = yield ahead.question
            ahead.weigh(scores)
            return decisions.choose(ahead)

`decisions` (`cardai.playing.table.asking.Decisions`) hands out worlds, never the true state.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from cardai.errors import BadArgument, CardaiError, place_of, positive, short, whole
from cardai.game import Game, check_table, is_game
from cardai.game.compiled.doors import check_text
from cardai.playing.agents.adjusted import ShiftedEvaluator, at_table, natural_shift
from cardai.playing.agents.evaluator import Evaluator, network_of
from cardai.playing.compiled.dense import DenseNetwork
from cardai.playing.compiled.tree_search import DEEPEST


class Question(NamedTuple):
    """Positions that a strategy wants judged: rows of `evaluator.encoder`, u8[n, width]. They are not changed."""

    evaluator: Evaluator
    rows: np.ndarray


Thinking = Generator[Question, np.ndarray, np.ndarray]
"""Yields questions, is sent f8[n] in [0, 1] for each, returns MOVE[n]: a legal move for each decision."""


class Strategy:
    """What every strategy says of itself. A strategy that thinks overrides `think`."""

    peeks: bool = False
    """Whether it sees what its seat cannot; every table in which it appears says so."""
    is_native: bool = False
    """Whether it is played in compiled code."""
    is_trusted: bool = False
    """Whether its moves are legal by construction; the moves of others are always verified."""
    randomised: bool = False
    """Whether its parameters are drawn anew for each game."""
    explores: bool = False
    """Whether it sometimes plays another move than the one it prefers."""
    evaluator: Evaluator | None = None
    """The evaluator that it asks, if it asks one."""
    is_foreign: bool = True
    """Whether it runs code that does not come with cardai or the game. No deal is then played twice."""
    is_isolated: bool = False
    """Whether that code runs in a process of its own."""
    follows: bool = False
    """Whether it is told what happens between its moves, and how games end: by `new_table` and `end_table`."""
    most_tables: int | None = None
    """At how many tables it plays at once, None if that does not matter."""
    chances: Callable[[Game, np.ndarray], np.ndarray] | None = None
    """The probability of each legal move in worlds STATE[n]: f8[n, max_moves], 0 beyond the last. None if unknown."""
    models: "tuple[Strategy, ...]" = ()
    """Those that move in its worlds, for it and for others."""

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError unless it can play this variant (None: the default one) at a table of `seats`."""
        is_game(game).options(whole("seats", seats), variant)

    def new_table(self) -> int:
        """Return the number of a new table. A strategy that `follows` its games has it."""
        raise NotImplementedError

    def end_table(self, seated: Any, scores: Sequence[float] | None, ending: str) -> None:
        """Take note that a game is over. A strategy that `follows` its games has it.

        `seated`: what the seat is told last, a `cardai.playing.agents.outside.Seated`. `scores`: None if the game was
        not played to its end.
        """
        raise NotImplementedError

    def at_table(self, game: Game, states: np.ndarray) -> "Strategy":
        """Return the strategy as it plays at a table: itself, unless it judges there by another evaluator.

        `states`: STATE[n] of that table, n at least 1; they hold its options.
        """
        return self

    def think(self, decisions: Any) -> Thinking:
        """Decide for all of `decisions`. The module describes how."""
        raise NotImplementedError
        yield


@dataclass(frozen=True)
class EvenlyRandom(Strategy):
    """Every legal move is as likely as the others."""

    is_native = True
    is_trusted = True
    is_foreign = False


@dataclass(frozen=True)
class HandWritten(Strategy):
    """A player that a game brings: the compiled rule `call` with its parameters, as `cardai.game.Player` says.

    `counts`: which parameters are counts, as a set (bit k for number k).
    """

    call: Any
    params: tuple[float, ...] = ()
    sees_own: bool = False
    randomised: bool = False
    counts: int = 0

    is_native = True
    is_foreign = False

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError unless `call` is a compiled player of this game, whose parameters it has."""
        super().check_fits(game, variant, seats)
        function, players = game.compiler.function_of("choose", self.call), game.agents.players.values()
        counts = [len(player.defaults) for player in players if player.choose is function]
        if not counts:
            raise BadArgument(f"the game {game.name} has compiled no player {short(self.call)}")
        if len(self.params) not in counts:
            raise BadArgument(f"the player of {game.name} does not have {len(self.params)} parameters")


@dataclass(frozen=True, kw_only=True)
class _Exploring(Strategy):
    """Sometimes plays another move: with probability `epsilon` any one, or by a softmax at `temperature`.

    It does so before a ply drawn from 0..`until` for each game, or all along if `until` is -1.
    """

    epsilon: float = 0.0
    temperature: float = 0.0
    until: int = -1

    is_trusted = True

    @property
    def explores(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether it sometimes plays another move than the best one."""
        return self.epsilon > 0.0 or self.temperature > 0.0


class _Searching(Strategy):
    """Plays worlds on by its `models`, of which the first one judges."""

    is_trusted = True

    @property
    def evaluator(self) -> Evaluator | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The evaluator that judges positions."""
        return self.models[0].evaluator

    @property
    def is_foreign(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether one of its models asks somebody else's code."""
        return any(model.is_foreign for model in self.models)

    @property
    def is_isolated(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether all code of somebody else's runs in processes of its own."""
        return self.is_foreign and all(model.is_isolated for model in self.models if model.is_foreign)

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError unless its models fit, and can play worlds on."""
        super().check_fits(game, variant, seats)
        for model in self.models:
            if not plays_worlds_on(model):
                raise BadArgument("worlds are played on by fixed hand-written players or those that look one ply ahead")
            model.check_fits(game, variant, seats)


def plays_worlds_on(strategy: Strategy) -> bool:
    """Whether a strategy can move in the worlds of a search: it is fixed, and decides at once by what it sees."""
    can = isinstance(strategy, HandWritten | EvenlyRandom | OnePly)
    return can and not (strategy.randomised or strategy.peeks)


@dataclass(frozen=True)
class OnePly(_Exploring):
    """The move that leads to the best position, by an evaluator or by the compiled heuristic `value`.

    `settles`: settled states are judged, in the mean over `worlds`; otherwise after-states, in one world. `peeks`: in
    the true world. `any_variant`: its evaluator may have been made for another variant; then it is asked as
    `cardai.playing.agents.adjusted.at_table` says.
    """

    evaluator: Evaluator | None = None
    value: Any = None
    settles: bool = False
    worlds: int = 1
    peeks: bool = False
    any_variant: bool = False

    @property
    def is_native(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether it asks a heuristic or a dense network, which compiled code calls."""
        return self.evaluator is None or self.network is not None

    @property
    def network(self) -> DenseNetwork | None:
        """The network that compiled code scores instead of asking the evaluator, if there is one."""
        return None if self.evaluator is None else network_of(self.evaluator)

    @property
    def is_foreign(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether its evaluator is somebody else's code."""
        return self.evaluator is not None and getattr(self.evaluator, "is_foreign", True)

    @property
    def is_isolated(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether its evaluator runs in a process of its own."""
        return getattr(self.evaluator, "is_isolated", False)

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError unless its evaluator fits the game, the variant and the table."""
        super().check_fits(game, variant, seats)
        positive("worlds", self.worlds)
        if self.evaluator is None:
            if game.compiler.function_of("value", self.value) is None:
                raise BadArgument(f"the game {game.name} has compiled no heuristic {short(self.value)}")
            return
        self.evaluator.check_fits(game, None if self.any_variant else game.canonical(variant), seats)
        game.encoder(self.evaluator.encoder)
        if self.evaluator.seats not in (None, seats):  # rows of another width would be written
            raise CardaiError(f"{self.evaluator.name} is for tables of {self.evaluator.seats} seats, not of {seats}")
        self.check_network(game, seats)

    def check_network(self, game: Game, seats: int) -> None:
        """Raise CardaiError if compiled code scores a network that does not take the rows of this table."""
        super().check_fits(game, None, seats)
        if self.evaluator is not None and self.network is not None:
            width, features = game.encoder(self.evaluator.encoder).width(seats), self.network.features
            if features != width:
                raise CardaiError(f"{self.evaluator.name} scores rows of {features} values, not of {width}")

    def at_table(self, game: Game, states: np.ndarray) -> "OnePly":
        """Return the strategy with its evaluator as that is at the table, if it may be of another variant."""
        check_table(game, states)
        if not self.any_variant or self.evaluator is None:
            return self
        there = at_table(self.evaluator, game, states)
        return self if there is self.evaluator else replace(self, evaluator=there)

    def think(self, decisions: Any) -> Thinking:
        """Look one ply ahead and take the best move, in one round."""
        ahead = decisions.look_ahead(self.evaluator or self.value, self.settles, self.worlds, self.peeks)
        yield from ahead.ask()
        return decisions.choose(ahead, self.epsilon, self.temperature)


@dataclass(frozen=True)
class WorldSearch(_Searching, _Exploring):  # pyright: ignore[reportIncompatibleVariableOverride]
    """Plays its best moves on in sampled worlds and takes the one with the best mean (`compiled/search.py`).

    `own`: the player that moves for it in its worlds. If that looks one ply ahead, it also chooses the `most` moves
    that are tried (0: all are) and judges the last position. A game that ends on the way counts with its score, so
    scores of a model are shifted to natural play (`natural_shift`). `others`: the player that moves there for the other
    seats. `worlds`: in how many worlds each move is tried, on average if it is `halving`: then the worse half of the
    moves is given up again and again, and the others share its worlds. `turns`: choices of its own that it plays over
    before its judge is asked; -1: it plays to the end of the game. `decay`: from 0 to 1, how much each later judgement
    counts beside the one before; above 0 all lines are played to the end of the game, whose score has the rest of the
    weight, and the judge must be a model. It explores among the moves that are left at the end. `assumed`: the spec of
    `others`, for tables.
    """

    own: Strategy
    others: Strategy
    worlds: int
    most: int = 0
    turns: int = -1
    decay: float = 0.0
    halving: bool = False
    assumed: str = ""

    @property
    def is_native(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether both players that it plays on with are played in compiled code."""
        return self.own.is_native and self.others.is_native

    @property
    def models(self) -> tuple[Strategy, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Both players that it plays on with."""
        return self.own, self.others

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError unless both players fit, and compiled code or an evaluator can play them in worlds."""
        super().check_fits(game, variant, seats)
        positive("worlds", self.worlds)
        whole("most", self.most, 0)
        whole("turns", self.turns, -1)
        if self.turns >= 0 and not isinstance(self.own, OnePly):
            raise BadArgument("turns must be -1 if own does not judge positions: it plays to the end of the game")
        if not 0.0 <= self.decay <= 1.0:
            raise BadArgument(f"decay must be from 0 to 1, not {short(self.decay)}")
        if self.decay and (self.turns < 0 or self.evaluator is None):
            raise BadArgument("decay must be 0 unless a model judges positions before the end of the game")

    def at_table(self, game: Game, states: np.ndarray) -> "WorldSearch":
        """Return the search with both players as they are at the table, and its judge shifted to natural play."""
        check_table(game, states)
        own = self.own.at_table(game, states)
        others = own if self.others is self.own else self.others.at_table(game, states)
        own = _at_natural_play(own, game) if self.turns >= 0 else own
        return self if own is self.own and others is self.others else replace(self, own=own, others=others)

    def think(self, decisions: Any) -> Thinking:
        """Play its worlds on, and ask the judge about all lines that wait for it at once."""
        return (yield from decisions.search(self))


@dataclass(frozen=True)
class TreeSearch(_Searching):
    """Searches a tree of information sets over sampled worlds: see `cardai.playing.compiled.tree_search`.

    `by`: the player that moves for everybody beyond the tree, in compiled code. `worlds`: how many it draws for a
    decision with a choice. `depth`: 0 is ISMCTS; EPIMC plays on with known hands after so many choices, 1 to 8.
    `turns`: how many choices each seat has beyond the tree before `by`, who must look one ply ahead by a network,
    judges for it; -1: to the end of the game. Of ISMCTS alone: `bonus`, the factor of UCB's second term; `single`,
    whether all choices are told apart by what the searching seat sees, and not by what their own seat sees. `assumed`:
    the spec of `by`.
    """

    by: Strategy
    worlds: int
    depth: int = 0
    turns: int = -1
    bonus: float = 0.7
    single: bool = False
    assumed: str = ""

    is_native = True

    @property
    def models(self) -> tuple[Strategy, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The player that it plays on with."""
        return (self.by,)

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError unless `by` fits, and such a search is possible: see `check_search`."""
        super().check_fits(game, variant, seats)
        self.check_search(game)

    def check_search(self, game: Game) -> None:
        """Raise CardaiError unless the game says what a seat sees, and `by` is played in compiled code."""
        if game.rules.blank is None:
            raise CardaiError(
                f"a tree of information sets needs the rule blank, which {game.name} does not have;"
                " if the game hides nothing, one that does nothing will do"
            )
        if not self.by.is_native:
            raise CardaiError("a tree is searched in compiled code only, but its player asks an evaluator outside it")
        positive("worlds", self.worlds)
        whole("turns", self.turns, -1)
        whole("depth", self.depth, 0)
        if self.depth > DEEPEST:
            raise BadArgument(f"depth must be from 0 to {DEEPEST}, not {short(self.depth)}")
        if self.turns >= 0 and not (isinstance(self.by, OnePly) and self.by.network is not None):
            raise CardaiError("only a network judges for all seats on one scale; name one, or let games be played on")
        if not 0.0 <= self.bonus < np.inf:
            raise BadArgument(f"bonus must be finite and at least 0, not {short(self.bonus)}")

    def at_table(self, game: Game, states: np.ndarray) -> "TreeSearch":
        """Return the search with its player as that is at the table, and its judge shifted to natural play."""
        check_table(game, states)
        by = self.by.at_table(game, states)
        by = _at_natural_play(by, game) if self.turns >= 0 else by
        return self if by is self.by else replace(self, by=by)


def _at_natural_play(player: Strategy, game: Game) -> Strategy:
    """A player whose judge's scores are shifted to natural play, as scores of ended games are."""
    if not isinstance(player, OnePly) or player.evaluator is None:
        return player
    shift = natural_shift(player.evaluator, game)
    return replace(player, evaluator=ShiftedEvaluator(player.evaluator, shift)) if shift else player


@dataclass(frozen=True)
class OfFunction(Strategy):
    """Moves of a Python function: `function(game, worlds)` gets STATE[n] and returns MOVE[n].

    `fits(game, variant, seats)`, if given, raises CardaiError unless the function can play there. `chances(game,
    worlds)`, if given, returns how likely it plays each legal move, as `Strategy.chances` says.
    """

    function: Callable[[Game, np.ndarray], np.ndarray]
    fits: Callable[[Game, str | None, int], None] | None = None
    is_foreign: bool = True
    is_isolated: bool = False
    chances: Callable[[Game, np.ndarray], np.ndarray] | None = None

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Ask `fits`."""
        super().check_fits(game, variant, seats)
        if self.fits is not None:
            self.fits(game, variant, seats)

    def think(self, decisions: Any) -> Thinking:
        """Call the function with a world for each decision, without rounds."""
        return self.function(decisions.game, decisions.worlds())
        yield


@dataclass(frozen=True)
class Person(Strategy):
    """Somebody who is asked elsewhere. `cardai.playing.table.one.OneGame` waits for their move."""

    is_foreign = False


class Unfit(CardaiError):
    """What a Python function that plays did instead of returning a move."""


class AgentFailed(CardaiError):
    """A Python function that plays has raised, or returned something that is not a move.

    `place`: the index of its world among those it was asked about.
    """

    def __init__(self, sentence: str, place: int) -> None:
        super().__init__(sentence)
        self.place = place


def one_by_one(
    function: Callable[[Game, np.record], np.record], spec: str = "python"
) -> Callable[[Game, np.ndarray], np.ndarray]:
    """Returns a function for many tables that calls `function(game, world) -> move`.

    It raises AgentFailed if that fails.
    """

    if not callable(function):
        raise BadArgument(f"function must be a function (game, world) -> move, not {short(function)}")

    check_text("spec", spec)

    def choose(game: Game, worlds: np.ndarray) -> np.ndarray:
        moves = np.zeros(len(worlds), game.move)
        for i, world in enumerate(worlds):
            try:
                moves[i] = move_of(function, game, world)
            except Unfit as error:
                where = f"agent {spec!r}, seat {int(world['turn'])}, ply {int(world['ply'])}"
                raise AgentFailed(f"{where}: {error}", i) from error
        return moves

    return choose


def move_of(function: Callable[[Game, np.record], np.record], game: Game, world: np.record) -> np.record:
    """What a Python function plays in a world. Raises Unfit if it raises something, or returns no move of the game."""
    try:
        move = function(game, world)
    except Exception as error:  # somebody's code: say where
        raise Unfit(f"it raised {error!r}{place_of(error)}") from error
    if getattr(move, "dtype", None) != game.move or np.shape(move) != ():
        raise Unfit(f"it returned {short(move)}, which is not a move of {game.name}")
    return move
