"""Decisions as rows and masks, for agents that choose among numbered moves (`Learning.actions`): policies, yours too.

    def mine(rows, masks):  # u8[n, width], bool[n, A]
        return np.where(masks, rows @ weights, -np.inf).argmax(axis=1)

    cardai.match(game, [cardai.policy(game, mine), "random"])

Functions get the decisions of many games at once.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cardai.errors import BadArgument, CardaiError, short
from cardai.game import Game, GameState, is_game
from cardai.game.compiled.doors import check_text
from cardai.game.compiled.fence import roomy
from cardai.game.compiled.native import at, call_encode, clear_row, get, raw, same, set, turn_of
from cardai.game.compiled.rules import legal_at, lend
from cardai.playing.agents.spec import Agent
from cardai.playing.agents.strategy import OfFunction
from cardai.rules import rule

SelectActions = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""A function that selects an action for each of n decisions: (rows u8[n, width], masks bool[n, A], uniforms f8[n]) ->
actions i64[n]. `masks` marks the legal actions; `uniforms` are random numbers in [0, 1).
"""

SeenRows = Callable[[Game, np.ndarray, np.ndarray], np.ndarray]
"""A function that returns what a policy sees of decisions: (game, worlds STATE[n], rows u8[n, width]) -> u8[n, width].
It may change the rows.
"""


PolicyFunction = Callable[[np.ndarray, np.ndarray], Any]
"""A function of yours: (rows u8[n, width], masks bool[n, A]) -> actions i[n], or chances f[n, A]; see `policy`."""


def policy(game: Game, function: PolicyFunction, *, encoder: str | None = None, name: str | None = None) -> Agent:
    """An agent that plays by a function of rows and masks, which is asked about the decisions of many games at once.

    `function(rows, masks)` gets what the seats to move see, u8[n, width], and which actions are legal, bool[n, A]; an
    action is the number that the game gives a move. It returns either
    - the actions, whole numbers [n], or
    - the chance of each action, f[n, A], at least 0 and 0 for illegal ones: moves are drawn in proportion, by a random
      stream that the seat owns.
    Forced moves are not asked about. `encoder`: which of the game's encoders makes the rows, its first by default.
    `name`: its name in tables, the function's by default. Raises CardaiError for a game that does not number its moves.
    The agent plays that game only, and raises CardaiError for an answer of another kind and for an illegal action.
    """
    is_game(game).encoder(encoder)
    numbered_moves(game)
    if not callable(function):
        raise BadArgument(f"function must be a function (rows, masks) -> actions or chances, not {short(function)}")
    label = (None if name is None else check_text("name", name)) or getattr(function, "__name__", "policy")

    def fits(other: Game, variant: str | None, seats: int) -> None:
        if other is not game:
            raise CardaiError(f"{label} is a policy for {game.name}, not for {other.name}")

    def select(rows: np.ndarray, masks: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        answer = _checked(label, function(rows, masks), masks)
        return answer if answer.ndim == 1 else draw_actions(answer, uniforms)

    def probable(rows: np.ndarray, masks: np.ndarray) -> np.ndarray:
        chances, asked = masks.astype(np.float64), masks.sum(axis=1) > 1
        if asked.any():
            answer = _checked(label, function(rows[asked], masks[asked]), masks[asked])
            chances[asked] = answer if answer.ndim == 2 else np.arange(masks.shape[1]) == answer[:, None]
        return chances / chances.sum(axis=1, keepdims=True)

    strategy = OfFunction(choose_by(select, encoder), fits, chances=chances_by(probable, encoder))
    return Agent(label, strategy, "a policy of yours")


def _checked(label: str, answer: Any, masks: np.ndarray) -> np.ndarray:
    """Returns the answer of a policy: actions i64[n], or chances f8[n, A]. Raises CardaiError if it is none."""
    given, count = np.asarray(answer), len(masks)
    if given.dtype.kind in "iu" and given.shape == (count,):
        outside = (given < 0) | (given >= masks.shape[1])
        wrong = outside | ~masks[np.arange(count), np.where(outside, 0, given)]
        if wrong.any():
            where = int(np.flatnonzero(wrong)[0])
            legal = np.flatnonzero(masks[where]).tolist()
            raise CardaiError(f"{label} returned the action {given[where]}, which is illegal; legal are {short(legal)}")
        return given.astype(np.int64)
    if given.dtype.kind != "f" or given.shape != masks.shape:
        expected = f"actions, whole numbers [{count}], or chances, f[{count}, {masks.shape[1]}]"
        raise CardaiError(f"{label} returned {given.dtype}{list(given.shape)}, not {expected}")
    chances = given.astype(np.float64)
    if not np.isfinite(chances).all() or (chances < 0).any() or (chances[~masks] != 0).any():
        raise CardaiError(f"{label} must return chances that are finite, at least 0, and 0 for illegal actions")
    if not (chances.sum(axis=1) > 0).all():
        raise CardaiError(f"{label} gave all legal actions of a decision the chance 0")
    return chances


def draw_actions(weights: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Draws an action for each row, i64[n], with chances in proportion to `weights`, f8[n, A].

    `uniforms`: random numbers in [0, 1), f8[n]. An action of weight 0 is never drawn.
    """
    cumulative = np.cumsum(weights, axis=1)
    totals = cumulative[:, -1]
    marks = np.minimum(uniforms * totals, np.nextafter(totals, 0))
    return (cumulative <= marks[:, None]).sum(axis=1)


def choose_by(
    select: SelectActions, encoder: str | None, seen: SeenRows | None = None
) -> Callable[[Game, np.ndarray], np.ndarray]:
    """Returns the `choose` function of an outside agent: the moves, MOVE[n], that `select` makes in worlds, STATE[n].

    `seen`: what `select` gets instead of the rows. The random numbers for `select` come from the streams of the worlds.
    """
    encoders: dict[tuple[Game, int], ActionEncoder] = {}

    def choose(game: Game, worlds: np.ndarray) -> np.ndarray:
        key = game, int(worlds["seats"][0])
        if key not in encoders:
            encoders[key] = ActionEncoder(game, key[1], encoder)
        rows, places = encoders[key].encode(worlds)
        rows = rows if seen is None else seen(game, worlds, rows)
        masks = places > 0
        actions = masks.argmax(axis=1)  # the only legal one, where the move is forced
        choices = np.flatnonzero(masks.sum(axis=1) > 1)
        if len(choices):
            actions[choices] = select(rows[choices], masks[choices], uniforms_of(worlds[choices]))
        return encoders[key].moves[places[np.arange(len(worlds)), actions] - 1]

    return choose


def chances_by(
    probable: Callable[[np.ndarray, np.ndarray], np.ndarray], encoder: str | None, seen: SeenRows | None = None
) -> Callable[[Game, np.ndarray], np.ndarray]:
    """Returns the `chances` of an outside agent (`OfFunction`) from the probabilities of actions.

    `probable`: (rows u8[n, width], masks bool[n, A]) -> f8[n, A]. `seen`: as in `choose_by`.
    """

    def chances(game: Game, worlds: np.ndarray) -> np.ndarray:
        rows, places = ActionEncoder(game, int(worlds["seats"][0]), encoder).encode(worlds)
        rows = rows if seen is None else seen(game, worlds, rows)
        shares, found = probable(rows, places > 0), np.zeros((len(worlds), game.max_moves))
        for i in range(len(worlds)):
            legal = np.flatnonzero(places[i])
            found[i, : len(legal)] = shares[i, legal[np.argsort(places[i, legal])]]  # in canonical order
        return found

    return chances


def uniforms_of(worlds: np.ndarray) -> np.ndarray:
    """Returns a random number in [0, 1) for each world, f8[n]: the state of its stream, which its seat's own seeds."""
    return (worlds["rng"] >> np.uint64(11)) * 2.0**-53


class DecisionRules(NamedTuple):
    """What compiled code needs to encode decisions of a game. M moves have numbers, from 0 to A - 1."""

    calls: Any  # i64[7]: addresses of rules, see Rules
    encode: Any
    max_moves: int
    move_size: int
    moves: Any  # MOVE[M] in canonical order
    numbers: Any  # i64[M], the action of each of `moves`
    total: int  # M
    actions: int  # A
    legal: Any  # MOVE[max_moves]: working space


@rule
def encode_decision(decision_rules, state, rows, places, index, choices_only):
    """Encode the decision of the seat to move: its view in rows[index], its legal actions in places[index].

    `places`: i64[n, A], zeros before the call. An action's entry becomes 1 + the index in `moves` of the legal move
    with that number; it stays 0 for an illegal action. With `choices_only` the view of a seat that has only one legal
    move is not written. Returns the number of legal moves, or 0 if one of them has no number.
    """
    legal_count = abs(legal_at(decision_rules, state, decision_rules.legal, 0))
    if legal_count > 1 or not choices_only:
        clear_row(rows, index)
        call_encode(decision_rules.encode, state, turn_of(state), rows, index)
    known = 0  # index in `moves`; legal moves come in the same canonical order
    for i in range(legal_count):
        while known < decision_rules.total and not same(
            at(decision_rules.moves, known), at(decision_rules.legal, i), decision_rules.move_size
        ):
            known += 1
        if known == decision_rules.total:
            return 0
        set(places, index * decision_rules.actions + get(decision_rules.numbers, known), known + 1)
    return legal_count


@rule
def encode_worlds(decision_rules, worlds, count, rows, places):
    """Encode one decision for each of `count` worlds, as `encode_decision`; rows of forced moves are not written.

    Returns the index of the first world with a legal move that has no number, or -1 if there is none.
    """
    for i in range(count):
        if encode_decision(decision_rules, at(worlds, i), rows, places, i, True) == 0:
            return i
    return -1


class ActionEncoder:
    """Turns decisions of a game into arrays, with one encoder, at tables of `seats`.

    `width`: values in an encoded row. `actions`: A, the number of actions. `moves`: MOVE[M], the moves with numbers.
    Raises CardaiError if the game does not number its moves, or has no encoder of that name.
    """

    def __init__(self, game: Game, seats: int, encoder: str | None = None) -> None:
        self.game, self.seats = game, seats
        self.encoder = next(iter(game.learning.encoders)) if encoder is None else encoder
        self.moves, numbers = numbered_moves(game)
        self.actions = int(numbers.max()) + 1
        self.width = game.encoder(encoder).width(seats)
        rules = game.compiler.rules
        self.decision_rules = DecisionRules(
            rules.calls, game.compiler.entry("encode", game.encoder(encoder).encode), rules.max_moves, rules.move_size,
            self.moves, numbers, len(numbers), self.actions, roomy(game.max_moves, game.move),
        )  # fmt: skip
        self.lent = lend(self.decision_rules)

    def encode(self, worlds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Encodes the decision of the seat to move in each world, STATE[n]: rows u8[n, width] and places i64[n, A].

        An action's place is 1 + the index in `moves` of the legal move with that number, and 0 if it is illegal. If
        only one move is legal, the row is all zeros, since nobody needs to look at it. Raises CardaiError if a legal
        move has no number.
        """
        count, states = len(worlds), np.ascontiguousarray(worlds)
        rows, places = np.zeros((count, self.width), np.uint8), np.zeros((count, self.actions), np.int64)
        failed = int(encode_worlds(self.lent, raw(states), count, raw(rows), raw(places)))
        if failed >= 0:
            self.refuse(worlds[failed])
        return rows, places

    def refuse(self, state: GameState) -> None:
        """Raises CardaiError, which names the legal move of a state that has no number."""
        for move in self.game.moves(state):
            if tuple(move.tolist()) not in self.game.learning.actions:
                raise CardaiError(f"{self.game.name}: actions has no number for the legal move {move.tolist()}")
        raise AssertionError("compiled code found a legal move without a number, but all have one")


def numbered_moves(game: Game) -> tuple[np.ndarray, np.ndarray]:
    """Returns the moves that have numbers, MOVE[M] in canonical order, and their numbers, i64[M].

    Raises CardaiError if the game numbers no moves, or if the numbers have gaps.
    """
    if not game.learning.actions:
        raise CardaiError(
            f"{game.name} does not number its moves, so there is no policy for it: its Game has no actions"
        )
    fields = sorted(game.learning.actions)
    numbers = np.array([game.learning.actions[move] for move in fields], np.int64)
    if sorted({*numbers.tolist()}) != list(range(int(numbers.max()) + 1)):
        raise CardaiError(f"{game.name}: actions must number the moves 0, 1, 2 and so on, without gaps")
    return np.array(fields, game.move), numbers
