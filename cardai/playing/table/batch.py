"""Many games at once as NumPy arrays, for algorithms that step games themselves.

    batch = Batch(load("durak"), 1024, seats=3, seed=1)
    observations, infos = batch.reset(seed=1)
    while training:
        actions = my_policy(observations, infos["action_mask"])
        observations, rewards, terminations, truncations, infos = batch.step(actions)

The names are those of Gymnasium's vector API with `AutoresetMode.SAME_STEP`: a game that ends is replaced by the next
deal in the same step, so that somebody is to move in every slot. All arrays belong to the batch, are the same objects
each time, and are written in place.

The true states are in the open here: `observations`, `encode`, `action_mask`, `moves` and `worlds` give what a seat may
know, `states` does not. Agents that must not peek play through `cardai.play`.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from cardai.errors import BadArgument, CardaiError, IllegalMove, positive, short
from cardai.game import Game, int_seed, is_game
from cardai.game.compiled.chance import WORLD, derived
from cardai.game.compiled.doors import check_flag, check_indices, check_integers, check_states
from cardai.game.compiled.fence import aligned, roomy
from cardai.game.compiled.native import (
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
    set,
    set_in_row,
    turn_of,
    uniform_of,
)
from cardai.game.compiled.rules import DEAL, SCORE, legal_moves, lend, make_world, play_move
from cardai.playing.table import second_process
from cardai.playing.table.asking import encode_each
from cardai.playing.table.complaints import Complaints, check_listed
from cardai.rules import STREAM, inlined, mixed, rule

SAMPLES, WORLDS = 0, 1  # what the batch's own streams are for
_NO_NUMBER, _NOT_LEGAL = 1, 2  # what is wrong in a slot; else nobody has a legal move
_CODES = 3


class Batch:
    """`count` games of one kind, B of them in slots 0 to B - 1, and the arrays that describe them.

    seats, variant: the game's usual ones if they are not given. seed: slot s plays the games of the seeds seed + s,
    seed + s + B and so on, which are the deals of `game.new(seats, seed)`. encoder: which one writes the observations,
    the game's first if it is None. observes: False leaves observations out, which saves their time.

    - `observations`: u8[B, width], the view of the seat to move as the encoder writes it; width 0 without an encoder.
    - `action_mask`: bool[B, A], which actions are legal for that seat. An action is the number that the game gives a
      move (`Learning.actions`), or the place of the move in `moves`, where A is `max_moves`.
    - `turns`: i64[B], the seat to move. `counts`: i64[B], how many legal moves that seat has. `moves`: MOVE[B,
      max_moves], which they are, in canonical order. Where a list is truncated (`docs/contract.md`) it is a random
      choice of the legal moves. `seeds`: u64[B], of the games. `movers`: i64[B], the seat that moved in the last step.
    - `rewards`: f8[B, seats], what the last step brought each seat where a game ended: its score, in the unit of the
      game's payoff if it has one; else 0. `terminations`, `truncations`: bool[B], whether the last step ended a game,
      or gave it up because it did not end within its `max_plies`.
    - `final_obs`: u8[B, seats, width], each seat's view of the last state of the game that ended last in this slot.

    Callers can write to `states` (STATE[B], the true states), see `refresh`. `observations`, `action_mask`, `rewards`
    and `final_obs` begin at a multiple of 64 bytes, so that JAX (`jax.numpy.from_dlpack`) and PyTorch
    (`torch.from_numpy`) take them without copying; the batch reads nothing from them. All others are read-only. Raises
    CardaiError for a count below 1 and whatever the game does not allow.
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
        observes: bool = True,
    ) -> None:
        self.game = is_game(game)
        self.count = positive("count", count, 1 << 24)
        blank = game.options(seats, variant)
        self.seats = int(blank["seats"][0])
        self.variant = game.canonical(variant)
        check_flag("observes", observes)
        chosen = game.encoder(encoder) if encoder is not None or game.learning.encoders else None
        self._width = chosen.width(self.seats) if chosen else 0
        self._encode = game.compiler.entry("encode", chosen.encode) if chosen else 0
        width = self._width if observes else 0
        self.actions = max(game.learning.actions.values()) + 1 if game.learning.actions else game.max_moves
        self._states: np.ndarray = np.zeros(count, game.state)
        self._listed = roomy(count * game.max_moves, game.move)
        self._turns, self._counts, self._movers = (np.zeros(count, np.int64) for _ in range(3))
        self._seeds = np.zeros(count, np.uint64)
        self._ends = np.zeros((3, count), bool)
        self._streams = np.zeros(2, STREAM)
        self._own_streams = raw(self._streams)
        self.observations = aligned((count, width), np.uint8)
        self.final_obs = aligned((count, self.seats, width), np.uint8)
        self.action_mask = aligned((count, self.actions), bool)
        self.rewards = aligned((count, self.seats), np.float64)
        self._rows = self._worlds = self._logits = None  # made when they are asked for
        self._sampled, self._chosen = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self._numbers = np.zeros((count, game.max_moves if game.learning.actions else 0), np.int64)
        self.states = self._states
        self.turns, self.counts, self.movers = map(_read_only, (self._turns, self._counts, self._movers))
        self.moves = _read_only(self._listed.reshape(count, game.max_moves))
        self.seeds, ends = map(_read_only, (self._seeds, self._ends))
        self.terminations, self.truncations, ended = ends
        self._infos = {"action_mask": self.action_mask, "final_obs": self.final_obs, "_final_obs": ended}
        self._rules = lend(game.compiler.rules)
        final = self.final_obs.reshape(count * self.seats, width)
        arrays = _Arrays(
            self._states, self._listed, self._turns, self._counts, self._movers, blank,
            self.observations, final, width > 0, self._encode, self.seats,
        )  # fmt: skip
        mask, (table, factors, shift) = self.action_mask.view(np.uint8), _numbering(game)
        numbered = _Actions(
            self._listed.view(np.int64), self._numbers, mask, self.actions,
            np.zeros(count * self.actions if game.learning.actions else 0, np.int64),
            table, len(table), factors, len(factors), shift,
        )  # fmt: skip
        self._kept = arrays, numbered
        self._lent, self._actions = lend(arrays), lend(numbered)
        second_process.finish()
        self.reset(seed)

    def reset(self, seed: int = 0) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Deal anew in all slots, as in a new batch with this seed. Returns (observations, infos), see `step`."""
        first = int(int_seed(seed))
        self._seeds[:] = [(first + slot) % 2**64 for slot in range(self.count)]
        self._streams["rng"] = [derived(np.uint64(first), WORLD, purpose) for purpose in (SAMPLES, WORLDS)]
        self.rewards.fill(0.0)
        self._ends.fill(False)
        with Complaints(self.game):
            stuck = list_each(self._rules, self._lent, self._actions, self._seeds, True, self.count)
        self._refuse(stuck)
        return self.observations, self._infos

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        """Take an action in each slot, and deal the next game where one ends.

        actions: i64[B], legal ones. Returns (observations, rewards, terminations, truncations, infos) of the next
        decision in each slot, where infos has `action_mask`, `final_obs` and `_final_obs`, bool[B]: whether a game
        ended. They are the batch's own arrays, overwritten by the next call: copy what you keep.
        Raises IllegalMove, before any move is played, if an action is not legal.
        """
        given = check_integers("actions", actions, (self.count,))
        self._chosen[:] = given  # what is beyond 63 bits becomes negative, and is refused
        with Complaints(self.game):
            fault = step_each(
                self._rules, self._lent, self._actions, self._chosen, self._seeds, self.rewards, self._ends, self.count
            )
        self._refuse(fault, given)
        if not self.game.payoff.is_share:
            self.rewards[self.terminations] = self.game.payoff.of(self.rewards[self.terminations])
        return self.observations, self.rewards, self.terminations, self.truncations, self._infos

    def sample(self, logits: Any = None) -> np.ndarray:
        """Legal actions drawn in compiled code by a stream of the batch's own: i64[B], the same array each time.

        logits: f4[B, A]; an action is drawn in proportion to exp(logit), among the legal ones. If it is None, all legal
        actions are equally likely. Raises CardaiError for logits that are NaN or inf, or -inf for all that is legal.
        """
        if logits is None:
            numbers, room = self._actions.numbers, self.game.max_moves
            sample_each(
                numbers, len(self.game.learning.actions) > 0, room, self._own_streams, self._counts, self._sampled
            )
            return self._sampled
        given = np.asarray(logits)
        if given.dtype.kind != "f" or given.shape != (self.count, self.actions):
            what = f"{given.dtype} of shape {list(given.shape)}" if given.dtype != object else short(logits)
            raise BadArgument(f"logits must be floats of shape [{self.count}, {self.actions}], not {what}")
        if self._logits is None:
            self._logits = np.zeros(given.shape, np.float32)
        np.copyto(self._logits, given, casting="same_kind")
        wrong = sample_by_logits(
            self._rules, self._own_streams, self._counts, self._actions, self._logits, self._sampled
        )
        if wrong >= 0:
            raise BadArgument(f"logits of legal actions must be finite, or -inf for some; in slot {int(wrong)} not")
        return self._sampled

    def encode(self, seats: Any) -> np.ndarray:
        """The views of any seats as numbers: u8[B, width], the same array each time.

        seats: whose views, one seat or i64[B]. `observations` are those of the seats to move. Raises CardaiError if the
        game has no encoder.
        """
        if not self._width:
            raise CardaiError(f"{self.game.name} has no encoder")
        if self._rows is None:
            self._rows = aligned((self.count, self._width), np.uint8)
        whose = self._seats(seats)
        encode_each(self._encode, raw(self._states), raw(whose), self.count, raw(self._rows))
        return self._rows

    def worlds(self, seats: Any = None) -> np.ndarray:
        """A new world of a seat in each slot, STATE[B], the same array each time.

        seats: whose worlds, one seat or i64[B]; the seats to move if it is None.
        """
        if self._worlds is None:
            self._worlds = np.zeros(self.count, self.game.state)
        whose = self._turns if seats is None else self._seats(seats)
        with Complaints(self.game):
            worlds_each(self._rules, raw(self._states), raw(whose), self._own_streams, self.count, raw(self._worlds))
        return self._worlds

    def refresh(self) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Bring all arrays up to date after something was written to `states`, such as states that were copied before.

        Returns (observations, infos), see `step`. Raises CardaiError for what are no states of this game at this table,
        and for one in which nobody is to move.
        """
        check_states("states", self._states, self.game.state, self.game.name, self.game.seats, moving=True)
        if int(self._states["seats"][0]) != self.seats:
            raise CardaiError(f"states must be of tables of {self.seats} seats, not {int(self._states['seats'][0])}")
        with Complaints(self.game):
            stuck = list_each(self._rules, self._lent, self._actions, self._seeds, False, self.count)
        self._refuse(stuck)
        return self.observations, self._infos

    def _seats(self, seats: Any) -> np.ndarray:
        given = np.full(self.count, seats) if np.ndim(seats) == 0 else seats
        return check_indices("seats", given, self.seats, (self.count,))

    def _refuse(self, fault: int, actions: np.ndarray | None = None) -> None:
        """Raise CardaiError for a fault that a compiled loop has found; -1 is none."""
        if fault < 0:
            return
        slot, code = divmod(int(fault), _CODES)
        if code == _NOT_LEGAL and actions is not None:
            legal = np.flatnonzero(self._legal(slot))
            raise IllegalMove(
                f"{self.game.name}: in slot {slot} the actions {short(legal.tolist())} are legal, not"
                f" {int(actions[slot])}"
            )
        where = f"{self.game.name}, game seed {int(self._seeds[slot])}, ply {int(self._states['ply'][slot])}"
        if code == _NO_NUMBER:
            raise CardaiError(f"{where}: actions has no number for a legal move in slot {slot}")
        check_listed(self.game, self._states[slot], where)
        raise CardaiError(f"{where}: nobody has a legal move")

    def _legal(self, slot: int) -> np.ndarray:
        """The legal actions in a slot, bool[A], whatever was written to `action_mask`."""
        mask, count = np.zeros(self.actions, bool), int(self._counts[slot])
        mask[self._numbers[slot, :count] if self.game.learning.actions else np.arange(count)] = True
        return mask


class _Arrays(NamedTuple):
    """What compiled code steps, lent to it."""

    states: Any  # STATE[B]
    moves: Any  # MOVE[B * max_moves]
    turns: Any  # i64[B]
    counts: Any  # i64[B]
    movers: Any  # i64[B]
    blank: Any  # STATE[1]
    rows: Any  # u8[B, width]
    final: Any  # u8[B * seats, width]
    observes: bool
    encode: Any
    seats: int


class _Actions(NamedTuple):
    """The numbers of moves, lent to compiled code. In a game that does not number its moves `size` is 0.

    The hash table has rows of a move's fields and its number, -1 in an empty row. A move is in the row of its hash or
    behind it, before the next empty one.
    """

    lists: Any  # i64[B * max_moves * fields], the legal moves
    numbers: Any  # i64[B * max_moves], their numbers
    masks: Any  # u8[B, A]
    actions: int  # A
    places: Any  # i64[B * A], where a number that is in `numbers` stands there; others mean nothing
    table: Any  # i64[size * (fields + 1)]
    size: int  # a power of two
    factors: Any  # i64[fields]
    fields: int
    shift: int


def _read_only(array: np.ndarray) -> np.ndarray:
    """The same numbers, which only the batch itself can write."""
    view = array.view()
    view.flags.writeable = False
    return view


def _numbering(game: Game) -> tuple[np.ndarray, np.ndarray, int]:
    """The hash table of a game's numbered moves, its factors and its shift (`_Actions`)."""
    fields = len(game.move.names or ())
    if not game.learning.actions:
        return np.zeros((0, fields + 1), np.int64), np.zeros(fields, np.int64), 0
    known = np.array(list(game.learning.actions), np.int64).reshape(len(game.learning.actions), fields)
    bits = max(2, (4 * len(known)).bit_length())
    ranges = [int(column.max()) + 1 for column in known.T]
    steps = [math.prod(ranges[:i]) for i in range(fields + 1)]
    if known.min() >= 0 and steps[-1] <= 1 << (bits + 3):  # a row of its own for each combination of fields
        bits, factors, shift = max(bits, (steps[-1] - 1).bit_length()), np.array(steps[:-1], np.int64), 0
    else:
        odd = [(0x9E3779B97F4A7C15 * (2 * i + 1)) % 2**64 for i in range(fields)]
        factors, shift = np.array(odd, np.uint64).view(np.int64), 64 - bits
    table = np.full((1 << bits, fields + 1), -1, np.int64)
    for move, number in zip(known, game.learning.actions.values(), strict=True):
        total = sum(int(field) * int(factor) for field, factor in zip(move, factors, strict=True))
        row = (total >> shift) % len(table)
        while table[row, fields] >= 0:
            row = (row + 1) % len(table)
        table[row] = *move, number
    return table, factors, shift


@inlined
def row_of(fields, first, factors, count, shift, size):
    """The row in the hash table for the fields of a move, places first to first + count - 1 of a column."""
    total = 0
    for i in range(count):
        total += get(fields, first + i) * get(factors, i)
    return (total >> shift) & (size - 1)


@inlined
def number_of(actions, move):
    """The number of a listed move, or -1. move: its place among those of all slots."""
    fields = actions.fields
    first, wide = move * fields, fields + 1
    if fields == 1 and actions.shift == 0:  # as below, in half the time
        row = get(actions.lists, first) & (actions.size - 1)
        if get(actions.table, row * 2) == get(actions.lists, first):
            return get(actions.table, row * 2 + 1)
    row = row_of(actions.lists, first, actions.factors, fields, actions.shift, actions.size)
    if is_in_row(actions, first, row * wide):
        return get(actions.table, row * wide + fields)
    return number_behind(actions, first, row)


@inlined
def is_in_row(actions, first, start):
    """Whether the row of the table that begins at place `start` has the fields of a move."""
    difference = 0
    for i in range(actions.fields):
        difference |= get(actions.table, start + i) ^ get(actions.lists, first + i)
    return difference == 0


@rule
def number_behind(actions, first, row):
    """The number of a move that is not in its first row, or -1."""
    wide = actions.fields + 1
    while get(actions.table, row * wide + actions.fields) >= 0:
        row = (row + 1) & (actions.size - 1)
        if is_in_row(actions, first, row * wide):
            break
    return get(actions.table, row * wide + actions.fields)


@inlined
def action_at(actions, first, k):
    """The action that is the k-th legal move of a slot, whose moves are listed from place `first` on."""
    return get(actions.numbers, first + k) if actions.size > 0 else k


@inlined
def place_of(actions, first, base, action, n):
    """The place of an action among the n legal moves of a slot, or -1.

    The moves are listed from place `first` on, the actions of the slot from place `base` on.
    """
    if actions.size == 0:
        return action if 0 <= action < n else -1
    if not 0 <= action < actions.actions:
        return -1
    k = get(actions.places, base + action)
    return k if k < n and get(actions.numbers, first + k) == action else -1


@inlined
def list_slot(rules, arrays, actions, slot):
    """List the moves in a slot, mark their actions and write the view of the seat to move. Returns a fault or -1."""
    state = at(arrays.states, slot)
    turn = turn_of(state)
    set(arrays.turns, slot, turn)
    n = abs(legal_moves(rules, state, arrays.moves, slot)) if turn >= 0 else 0
    set(arrays.counts, slot, n)
    if n == 0:
        return _CODES * slot
    clear_row(actions.masks, slot)
    first, base = slot * rules.max_moves, slot * actions.actions
    for k in range(n):
        number = k
        if actions.size > 0:
            number = number_of(actions, first + k)
            if number < 0:
                return _CODES * slot + _NO_NUMBER
            set(actions.numbers, first + k, number)
            set(actions.places, base + number, k)
        set_in_row(actions.masks, slot, number, 1)
    if arrays.observes:
        clear_row(arrays.rows, slot)
        call_encode(arrays.encode, state, turn, arrays.rows, slot)
    return -1


@inlined
def deal_slot(rules, arrays, seed, slot):
    """Deal the game of a seed in a slot."""
    state = at(arrays.states, slot)
    copy(state, at(arrays.blank, 0), rules.state_size)
    seed_state(state, mixed(seed))
    call_deal(get(rules.calls, DEAL), state)


@rule
def list_each(rules, arrays, actions, seeds, deals, count):
    """List the moves in each slot, after its game is dealt if `deals`.

    Returns the first fault, slot * _CODES + what is wrong, or -1.
    """
    for slot in range(count):
        if deals:
            deal_slot(rules, arrays, seeds[slot], slot)
        fault = list_slot(rules, arrays, actions, slot)
        if fault >= 0:
            return fault
    return -1


@rule
def step_each(rules, arrays, actions, chosen, seeds, rewards, ends, count):
    """Take an action in each slot. Returns what `list_each` returns. chosen: i64[B], written over. ends: bool[3, B]."""
    for slot in range(count):
        first, base = slot * rules.max_moves, slot * actions.actions
        chosen[slot] = place_of(actions, first, base, chosen[slot], get(arrays.counts, slot))
        if chosen[slot] < 0:
            return _CODES * slot + _NOT_LEGAL
    for slot in range(count):
        state = at(arrays.states, slot)
        set(arrays.movers, slot, turn_of(state))
        play_move(rules, state, at(arrays.moves, slot * rules.max_moves + chosen[slot]))
        is_over = turn_of(state) < 0
        is_cut = not is_over and ply_of(state) >= rules.max_plies
        ends[0, slot] = is_over
        ends[1, slot] = is_cut
        ends[2, slot] = is_over or is_cut
        for seat in range(arrays.seats):
            rewards[slot, seat] = call_score(get(rules.calls, SCORE), state, seat) if is_over else 0.0
        if is_over or is_cut:
            if arrays.observes:
                for seat in range(arrays.seats):
                    clear_row(arrays.final, slot * arrays.seats + seat)
                    call_encode(arrays.encode, state, seat, arrays.final, slot * arrays.seats + seat)
            seeds[slot] += np.uint64(count)
            deal_slot(rules, arrays, seeds[slot], slot)
        fault = list_slot(rules, arrays, actions, slot)
        if fault >= 0:
            return fault
    return -1


@rule
def sample_each(numbers, is_numbered, max_moves, streams, counts, sampled):
    """Draw a legal action in each slot, all equally likely. numbers: those of `_Actions`, if moves have numbers."""
    for slot in range(len(counts)):
        k = below_of(at(streams, SAMPLES), counts[slot])
        sampled[slot] = get(numbers, slot * max_moves + k) if is_numbered else k


@rule
def sample_by_logits(rules, streams, counts, actions, logits, sampled):
    """Draw a legal action in each slot by logits, f4[B, A]. Returns the first slot with wrong logits, or -1."""
    for slot in range(len(counts)):
        n, first = counts[slot], slot * rules.max_moves
        highest = -np.inf
        for k in range(n):
            logit = np.float64(logits[slot, action_at(actions, first, k)])
            if not logit < np.inf:
                return slot
            highest = max(highest, logit)
        if highest == -np.inf:
            return slot
        total = 0.0
        for k in range(n):
            total += np.exp(np.float64(logits[slot, action_at(actions, first, k)]) - highest)
        left, drawn = uniform_of(at(streams, SAMPLES)) * total, -1
        for k in range(n):
            share = np.exp(np.float64(logits[slot, action_at(actions, first, k)]) - highest)
            if share > 0.0 and (drawn < 0 or left >= 0.0):
                drawn = k
            left -= share
        sampled[slot] = action_at(actions, first, drawn)
    return -1


@rule
def worlds_each(rules, states, seats, streams, count, worlds):
    """Make a world of seats[slot] in each slot."""
    for slot in range(count):
        make_world(rules, at(worlds, slot), at(states, slot), get(seats, slot), at(streams, WORLDS))
