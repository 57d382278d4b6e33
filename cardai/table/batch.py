"""Many games at once as NumPy arrays, for algorithms that step games themselves.

    batch = Batch(load("durak"), 1024, seats=3, seed=1)
    while training:
        rows, masks = batch.encode(), batch.masks()
        batch.step_actions(my_policy(rows, masks))
        learn(batch.scores[batch.ended])

All arrays belong to the batch and are written in place. A game that ends is replaced by the next deal in the same step,
so that somebody is to move in every slot (autoreset).

The true states are in the open here: `encode`, `masks`, `moves` and `worlds` give what a seat may know, `states` does
not. Agents that must not peek play through `cardai.play`.
"""

from typing import Any, NamedTuple

import numpy as np

from cardai.errors import CardaiError, IllegalMove, positive
from cardai.game import Game, int_seed, is_game
from cardai.kernel.chance import WORLD, derived
from cardai.kernel.doors import check_indices, check_states
from cardai.kernel.fence import roomy
from cardai.kernel.native import (
    at,
    below_of,
    call_deal,
    call_encode,
    call_score,
    clear_row,
    copy,
    get,
    ply_of,
    raw,
    seed_state,
    seed_stream,
    set,
    turn_of,
)
from cardai.kernel.rules import DEAL, SCORE, legal_moves, lend, make_world, play_move
from cardai.rule import STREAM, mixed, rule
from cardai.table import second_process
from cardai.table.complaints import Complaints, check_listed

EVEN, WORLDS = 0, 1  # what the batch's own streams are for


class Batch:
    """`count` games of one kind, B of them in slots 0 to B - 1, and the arrays that describe them.

    game: the game. seats, variant: the game's usual ones if they are not given. seed: slot s plays the games of the
    seeds seed + s, seed + s + B and so on, which are the deals of `game.new(seats, seed)`. encoder: whose rows `encode`
    writes, the game's first if it is None.

    - `states`: STATE[B], the true states. `turns`: i64[B], the seat to move.
    - `counts`: i64[B], how many legal moves that seat has. `moves`: MOVE[B, max_moves], which they are, in canonical
      order; what stands behind them has no meaning. Where a list is truncated (`docs/contract.md`) it is a random
      choice of the legal moves.
    - `seeds`: u64[B], the seeds of the games.
    - `movers`: i64[B], the seat that moved in the last step.
    - `ended`: bool[B], whether a game ended in the last step, and `scores`: f8[B, seats], what the seats of the game
      that ended last got. Scores are NaN where no game has ended yet, and for a game that was given up because it did
      not end within its `max_plies`.

    Callers can write to `states` only, see `refresh`; the other arrays are read-only.
    Raises CardaiError for a count below 1 and whatever the game does not allow.
    """

    def __init__(
        self,
        game: Game,
        count: int,
        *,
        seats: int | None = None,
        variant: str | None = None,
        seed: int = 0,
        encoder: str | None = None,
    ) -> None:
        self.game = is_game(game)
        self.count = positive("count", count, 1 << 24)
        self._blank = game.options(seats, variant)
        self.seats = int(self._blank["seats"][0])
        self.variant = game.canonical(variant)
        self._states = np.zeros(count, game.state)
        self._turns, self._counts, self._movers = (np.zeros(count, np.int64) for _ in range(3))
        self._listed = roomy(count * game.max_moves, game.move)
        self._seeds = np.zeros(count, np.uint64)
        self._scores, self._ended = np.full((count, self.seats), np.nan), np.zeros(count, bool)
        self._streams = np.zeros(2, STREAM)
        self._choices, self._worlds = np.zeros(count, np.int64), np.zeros(count, game.state)
        self._encoder = game.encoder(encoder) if encoder is not None or game.encoders else None
        width = self._encoder.width(self.seats) if self._encoder else 0
        self._rows = np.zeros((count, width), np.uint8)
        self._encode = game.entry("encode", self._encoder.encode) if self._encoder else None
        self._known, self._numbers = _numbered(game)
        self.actions = int(self._numbers.max()) + 1 if len(self._numbers) else 0
        self._masks = np.zeros((count, self.actions), bool)
        self._places = np.zeros((count, self.actions), np.int64)
        self._rules = lend(game.rules)
        self.states = self._states
        self.turns, self.counts, self.movers = map(_read_only, (self._turns, self._counts, self._movers))
        self.moves = _read_only(self._listed.reshape(count, game.max_moves))
        self.seeds, self.scores, self.ended = map(_read_only, (self._seeds, self._scores, self._ended))
        arrays = _Arrays(self._states, self._listed, self._turns, self._counts, self._movers, self._blank)
        self._arrays, self._lent = arrays, lend(arrays)
        second_process.finish()
        self.reset(seed)

    def reset(self, seed: int = 0) -> None:
        """Deal anew in all slots, as in a new batch with this seed."""
        first = int(int_seed(seed))
        self._seeds[:] = [(first + slot) % 2**64 for slot in range(self.count)]
        seed_streams(np.uint64(first), raw(self._streams))
        self._scores.fill(np.nan)
        self._ended.fill(False)
        with Complaints(self.game):
            stuck = deal_each(self._rules, self._lent, self._seeds, self.count)
        self._refuse_stuck(stuck)

    def step(self, choices: Any) -> None:
        """Play a legal move in each slot, and deal the next game where one ends.

        choices: i64[B], the index of each slot's move in its row of `moves`. Raises IllegalMove, before any move is
        played, if one is not from 0 to counts[slot] - 1.
        """
        chosen = check_indices("choices", choices, self.game.max_moves, (self.count,))
        with Complaints(self.game):
            done = step_each(
                self._rules, self._lent, chosen, self._seeds, self._scores, self._ended, self.count, self.seats
            )
        if done < 0:
            slot = -1 - int(done)
            raise IllegalMove(
                f"{self.game.name}: choices must be below counts; in slot {slot} there are {int(self._counts[slot])}"
                f" legal moves, and {int(chosen[slot])} was chosen"
            )
        self._refuse_stuck(done)

    def step_actions(self, actions: Any) -> None:
        """`step` with the numbers of moves (`Game.actions`), i64[B]. Raises IllegalMove if one is not legal."""
        self.masks()
        chosen = check_indices("actions", actions, self.actions, (self.count,))
        places = self._places[np.arange(self.count), chosen]
        if not places.all():
            slot = int(np.argmin(places))
            legal = np.flatnonzero(self._masks[slot]).tolist()
            raise IllegalMove(
                f"{self.game.name}: in slot {slot} the actions {legal} are legal, not {int(chosen[slot])}"
            )
        self.step(places - 1)

    def masks(self) -> np.ndarray:
        """Which actions are legal for the seats to move: bool[B, A], the same array each time.

        Raises CardaiError if the game does not number its moves, or has no number for a legal one.
        """
        if not self.actions:
            raise CardaiError(f"{self.game.name} does not number its moves (Game.actions); use moves and counts")
        fields = len(self.game.move.names or ())
        lists = self._listed.view(np.int64).reshape(self.count, self.game.max_moves, fields)
        missing = mask_each(lists, self._counts, self._known, self._numbers, self._masks, self._places)
        if missing >= 0:
            raise CardaiError(f"{self.game.name}: actions has no number for a legal move in slot {int(missing)}")
        return self._masks

    def encode(self, seats: Any = None) -> np.ndarray:
        """The views of the seats to move as numbers: u8[B, width], the same array each time.

        seats: whose views, one seat or i64[B]; the seats to move if it is None. Raises CardaiError if the game has no
        encoder.
        """
        if self._encode is None:
            raise CardaiError(f"{self.game.name} has no encoder")
        whose = self._seats(seats)
        encode_each_slot(self._encode, raw(self._states), raw(whose), self.count, raw(self._rows))
        return self._rows

    def worlds(self, seats: Any = None) -> np.ndarray:
        """A new world of the seat to move in each slot, STATE[B], the same array each time. seats: as in `encode`."""
        whose = self._seats(seats)
        lent = raw(self._states), raw(whose), raw(self._streams), self.count, raw(self._worlds)
        with Complaints(self.game):
            worlds_each(self._rules, *lent)
        return self._worlds

    def draw(self) -> np.ndarray:
        """Choices of evenly random moves, i64[B], by a stream of the batch's own; the same array each time."""
        draw_each(raw(self._streams), self._counts, self._choices)
        return self._choices

    def refresh(self) -> None:
        """List the moves again after something was written to `states`, such as states that were copied before.

        Raises CardaiError for what are no states of this game at this table, and for one in which nobody is to move.
        """
        check_states("states", self._states, self.game.state, self.game.name, self.game.seats, moving=True)
        if int(self._states["seats"][0]) != self.seats:
            raise CardaiError(f"states must be of tables of {self.seats} seats, not {int(self._states['seats'][0])}")
        with Complaints(self.game):
            stuck = list_each(self._rules, self._lent, self.count)
        self._refuse_stuck(stuck)

    def _seats(self, seats: Any) -> np.ndarray:
        if seats is None:
            return self._turns
        given = np.full(self.count, seats) if np.ndim(seats) == 0 else seats
        return check_indices("seats", given, self.seats, (self.count,))

    def _refuse_stuck(self, slot: int) -> None:
        """Raise CardaiError unless `slot` is B: a game without a legal move, or that ends with the deal."""
        if slot < self.count:
            where = f"{self.game.name}, game seed {int(self._seeds[slot])}, ply {int(self._states['ply'][slot])}"
            check_listed(self.game, self._states[slot], where)
            raise CardaiError(f"{where}: nobody has a legal move")


class _Arrays(NamedTuple):
    """What compiled code steps."""

    states: Any  # STATE[B]
    moves: Any  # MOVE[B * max_moves]
    turns: Any  # i64[B]
    counts: Any  # i64[B]
    movers: Any  # i64[B]
    blank: Any  # STATE[1]


def _read_only(array: np.ndarray) -> np.ndarray:
    """The same numbers, which only the batch itself can write."""
    view = array.view()
    view.flags.writeable = False
    return view


def _numbered(game: Game) -> tuple[np.ndarray, np.ndarray]:
    """The fields of the moves that have numbers, i64[M, fields] in canonical order, and their numbers, i64[M]."""
    known = sorted(game.actions)
    fields = np.array(known, np.int64).reshape(len(known), len(game.move.names or ()))
    return fields, np.array([game.actions[move] for move in known], np.int64)


@rule
def deal_slot(rules, arrays, seed, slot):
    """Deal the game of a seed in a slot, and list its moves. Returns whether somebody has one."""
    state = at(arrays.states, slot)
    copy(state, at(arrays.blank, 0), rules.state_size)
    seed_state(state, mixed(seed))
    call_deal(get(rules.calls, DEAL), state)
    return list_slot(rules, arrays, slot)


@rule
def list_slot(rules, arrays, slot):
    """List the moves in a slot. Returns whether there are any."""
    state = at(arrays.states, slot)
    set(arrays.turns, slot, turn_of(state))
    n = abs(legal_moves(rules, state, arrays.moves, slot)) if turn_of(state) >= 0 else 0
    set(arrays.counts, slot, n)
    return n > 0


@rule
def deal_each(rules, arrays, seeds, count):
    """Deal in each slot. Returns the first slot in which nobody has a legal move, or `count`."""
    for slot in range(count):
        if not deal_slot(rules, arrays, seeds[slot], slot):
            return slot
    return count


@rule
def list_each(rules, arrays, count):
    """List the moves in each slot. Returns what `deal_each` returns."""
    for slot in range(count):
        if not list_slot(rules, arrays, slot):
            return slot
    return count


@rule
def step_each(rules, arrays, choices, seeds, scores, ended, count, seats):
    """Play a move in each slot. Returns what `deal_each` returns, or -1 - slot for the first choice out of range."""
    for slot in range(count):
        if choices[slot] >= get(arrays.counts, slot):
            return -1 - slot
    for slot in range(count):
        state = at(arrays.states, slot)
        set(arrays.movers, slot, turn_of(state))
        play_move(rules, state, at(arrays.moves, slot * rules.max_moves + choices[slot]))
        ended[slot] = turn_of(state) < 0 or ply_of(state) >= rules.max_plies
        if not ended[slot]:
            if not list_slot(rules, arrays, slot):
                return slot
            continue
        for seat in range(seats):
            scores[slot, seat] = call_score(get(rules.calls, SCORE), state, seat) if turn_of(state) < 0 else np.nan
        seeds[slot] += np.uint64(count)
        if not deal_slot(rules, arrays, seeds[slot], slot):
            return slot
    return count


@rule
def mask_each(lists, counts, known, numbers, masks, places):
    """Mark the legal actions in masks, and 1 + the index of their moves in places.

    lists: i64[B, max_moves, fields]. known: i64[M, fields] in canonical order. Returns the first slot with a move that
    has no number, or -1.
    """
    for slot in range(len(counts)):
        masks[slot] = False
        places[slot] = 0
        for k in range(counts[slot]):
            low, high = 0, len(known) - 1
            while low < high:  # the first known move that does not come before this one
                middle = (low + high) >> 1
                if comes_before(known, middle, lists, slot, k):
                    low = middle + 1
                else:
                    high = middle
            for field in range(known.shape[1]):
                if known[low, field] != lists[slot, k, field]:
                    return slot
            masks[slot, numbers[low]] = True
            places[slot, numbers[low]] = k + 1
    return -1


@rule
def comes_before(known, index, lists, slot, k):
    """Whether known[index] comes before lists[slot, k] in canonical order."""
    for field in range(known.shape[1]):
        if known[index, field] != lists[slot, k, field]:
            return known[index, field] < lists[slot, k, field]
    return False


@rule
def encode_each_slot(encode, states, seats, count, rows):
    """Write the view of seats[slot] in each slot."""
    for slot in range(count):
        clear_row(rows, slot)
        call_encode(encode, at(states, slot), get(seats, slot), rows, slot)


@rule
def worlds_each(rules, states, seats, streams, count, worlds):
    """Make a world of seats[slot] in each slot."""
    for slot in range(count):
        make_world(rules, at(worlds, slot), at(states, slot), get(seats, slot), at(streams, WORLDS))


@rule
def draw_each(streams, counts, choices):
    """Choose an evenly random move in each slot."""
    for slot in range(len(counts)):
        choices[slot] = below_of(at(streams, EVEN), counts[slot])


@rule
def seed_streams(seed, streams):
    """Begin the batch's own streams."""
    for purpose in range(2):
        seed_stream(at(streams, purpose), derived(seed, WORLD, purpose))
