"""A game's rules applied to whole blocks of states: the compiled loops, and `Compiled`, their Python side."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cardai.conformance.note import note_again, note_rule
from cardai.errors import CardaiError
from cardai.game import Game, Outcome, int_seed
from cardai.kernel.ending import find_open
from cardai.kernel.fence import fenced, roomy
from cardai.kernel.native import (
    at,
    begin_ply,
    below_of,
    call_act,
    call_choose,
    call_deal,
    call_encode,
    call_legal,
    call_resample,
    call_score,
    call_settle,
    call_simplify,
    clear,
    copy,
    get,
    next_of,
    raw,
    seed_state,
    seed_stream,
    set,
    set_float,
    turn_of,
)
from cardai.kernel.rules import (
    ACT,
    DEAL,
    LEGAL,
    RESAMPLE,
    SCORE,
    SETTLE,
    is_among,
    legal_moves,
    lend,
    make_view,
    make_world,
    play_move,
)
from cardai.rule import STREAM, mixed, rule

PIECE = 64  # records that a compiled loop goes through before the kit says that the game is still answering
GUARDS = 4  # spare records after a block, which no rule may write to


def guarded(count: int, dtype: np.dtype) -> np.ndarray:
    """A block of blank records with spare ones behind it, so that a rule that writes too far damages nothing else."""
    return np.zeros(count + GUARDS, dtype)[:count]


def copied(records: Any) -> np.ndarray:
    """A copy of states or moves, or of a single one, in a guarded block."""
    given = np.atleast_1d(records)
    block = guarded(len(given), given.dtype)
    block[:] = given
    return block


def pieces(count: int) -> Iterator[slice]:
    """Slices of a block of `count` records. Each is noted as a call of its own: a block may take long, a call not."""
    for first in range(0, count, PIECE):
        note_again()
        yield slice(first, min(first + PIECE, count))


def streams(seed: int) -> np.ndarray:
    """A random stream: STREAM[1]."""
    stream = np.zeros(1, STREAM)
    stream["rng"] = mixed(int_seed(seed))
    return stream


class Compiled:
    """A game's rules on blocks of records. They get copies, so that no method changes its arguments.

    With `in_place` they get the caller's own records, in guarded blocks, so that a law can see what they change.
    """

    def __init__(self, game: Game, in_place: bool = False) -> None:
        self.game, self.given = game, (lambda block: block) if in_place else copied
        self.width = functools.cache(lambda encoder, seats: game.encoders[encoder].width(seats))

    @functools.cached_property
    def rules(self) -> Any:
        """The game's rules in the form that the compiled loops take."""
        return lend(self.game.rules)

    @functools.cached_property
    def blank(self) -> Any:
        """The game's rule `blank`, which it must have, as the compiled loops take it."""
        assert self.game.blank is not None
        return self.game.entry("blank", self.game.blank)

    def trace(self, state: Any, moves: np.ndarray) -> np.ndarray:
        """All states of a game: STATE[plies + 1]."""
        note_rule("act and settle")
        states, played = guarded(len(moves) + 1, self.game.state), self.given(moves)
        states[0] = state
        play_through(self.rules, raw(states), raw(played), len(moves))
        return states

    def dealt(self, like: np.ndarray, count: int, seed: int) -> np.ndarray:
        """Deals of the same table as the state `like`, STATE[1]: STATE[count]."""
        note_rule("deal")
        blank, states, stream = np.zeros(1, self.game.state), guarded(count, self.game.state), streams(seed)
        for name in self.options:
            blank[name] = like[name]
        states[:] = blank
        deal_each(self.rules, raw(states), raw(stream), count)
        return states

    @functools.cached_property
    def options(self) -> frozenset[str]:
        """The fields of a state that are set before the deal: the number of seats and the variants' options."""
        return frozenset(["seats", *(name for options in self.game.variants.values() for name in options)])

    def worlds(self, state: Any, seat: int, count: int, seed: int) -> np.ndarray:
        """Worlds of a state for a seat: STATE[count]."""
        return self.truth_and_worlds(state, seat, count, seed)[1:]

    def truth_and_worlds(self, state: Any, seat: int, count: int, seed: int) -> np.ndarray:
        """A state, followed by worlds of it for a seat: STATE[1 + count]."""
        note_rule(f"resample for seat {seat}")
        states, stream = guarded(1 + count, self.game.state), streams(seed)
        states[:1] = state
        for piece in pieces(count):
            worlds = states[1:][piece]
            draw_worlds(self.rules, raw(states), seat, raw(stream), raw(worlds), len(worlds))
        return states

    def worlds_of_each(self, states: np.ndarray, seat: int, seed: int) -> np.ndarray:
        """One world of each state, for a seat: STATE[N]."""
        note_rule(f"resample for seat {seat}")
        worlds, stream = self.given(states), streams(seed)
        for piece in pieces(len(worlds)):
            draw_again(self.rules, raw(worlds[piece]), seat, raw(stream), len(worlds[piece]))
        return worlds

    def resampled(self, states: np.ndarray, seat: int, seed: int) -> np.ndarray:
        """The states after `resample` for a seat, each with the same stream of chance and its own `rng`: STATE[N]."""
        note_rule(f"resample for seat {seat}")
        worlds, stream = self.given(states), streams(seed)
        bits = stream["rng"][0]
        for piece in pieces(len(worlds)):
            resample_each(self.rules, raw(worlds[piece]), seat, raw(stream), bits, len(worlds[piece]))
        return worlds

    def blanked(self, states: np.ndarray, seat: int) -> np.ndarray:
        """What players with `sees="own"` get in these states at a seat: STATE[N]. The game must have `blank`."""
        note_rule(f"blank for seat {seat}")
        given, views = self.given(states), guarded(len(states), self.game.state)
        blank_each(self.rules, self.blank, raw(given), len(given), seat, raw(views))
        return views

    def opened(self, states: np.ndarray) -> np.ndarray:
        """Which of these states the game calls open and are not over: bool[N]. The game must have `is_open`."""
        assert self.game.is_open is not None
        note_rule("is_open")
        given, picked, found = self.given(states), np.arange(len(states)), np.zeros(len(states), np.int64)
        is_open = self.game.entry("is_open", self.game.is_open)
        find_open(is_open, raw(given), raw(picked), len(states), raw(found))
        return found != 0

    def simplified(self, states: np.ndarray) -> np.ndarray:
        """The states after the game's rule `simplify`, which it must have: STATE[N]."""
        assert self.game.simplify is not None
        note_rule("simplify")
        given = self.given(states)
        simplify_each(self.game.entry("simplify", self.game.simplify), raw(given), len(given))
        return given

    def moved(self, states: np.ndarray, moves: np.ndarray, settle: bool = True) -> np.ndarray:
        """Returns the settled states after moves, or after-states if `settle` is False.

        A single state or move is paired with all others.
        """
        note_rule("act and settle" if settle else "act")
        given, played = self.given(states), self.given(moves)
        count, *steps = _steps(given, played)
        results = guarded(count, self.game.state)
        move_each(self.rules, raw(given), steps[0], raw(played), steps[1], count, settle, raw(results))
        return results

    def after_each(self, states: np.ndarray, moves: np.ndarray) -> np.ndarray:
        """The after-states of every move in every state: STATE[N * M], all moves of the first state first."""
        return self.moved(np.repeat(states, len(moves)), np.tile(moves, len(states)), settle=False)

    def rows(self, states: np.ndarray, seat: int) -> np.ndarray:
        """The rows of all encoders side by side: u8[N, width]."""
        parts = [self.encoded(states, seat, name) for name in self.game.encoders] if len(states) else []
        return np.concatenate(parts, axis=1) if parts else np.zeros((len(states), 0), np.uint8)

    def encoded(self, states: np.ndarray, seat: int, encoder: str) -> np.ndarray:
        """The rows of one encoder: u8[N, width]."""
        note_rule(f"encoder {encoder} for seat {seat}")
        given, encode = self.given(states), self.game.encoders[encoder].encode
        rows = np.zeros((len(given) + 1, max(1, self.width(encoder, int(given[0]["seats"])))), np.uint8)
        entry = self.game.entry("encode", encode)
        for piece in pieces(len(given)):
            encode_each(entry, raw(given[piece]), len(given[piece]), seat, raw(rows[piece.start :]))
        return rows[:-1]

    def values(self, states: np.ndarray, seat: int, heuristic: Callable[..., float] | None = None) -> np.ndarray:
        """The values of a heuristic, or the scores if it is None: f8[N]."""
        note_rule(self._name_of(heuristic, seat) if heuristic else f"score of seat {seat}")
        function = self.game.entry("value", heuristic) if heuristic else get(self.rules.calls, SCORE)
        return self._value_each(function, states, seat)

    def outcomes(self, states: np.ndarray, seat: int, outcome: Outcome) -> np.ndarray:
        """An outcome of states of games that are over, or a reward of settled ones, in its own unit: f8[N]."""
        note_rule(self._name_of(outcome, seat))
        return self._value_each(self.game.entry("outcome", outcome.of), states, seat)

    def _name_of(self, function: Any, seat: int) -> str:
        """A heuristic, outcome or reward of the game in words, as it is called for a seat."""
        game = self.game
        for kind, link, functions in (
            ("heuristic", "for", game.heuristics),
            ("outcome", "of", game.outcomes),
            ("reward", "of", game.rewards),
        ):
            for name, other in functions.items():
                if other is function:
                    return f"{kind} {name} {link} seat {seat}"
        return f"decided for seat {seat}"

    def _value_each(self, function: Any, states: np.ndarray, seat: int) -> np.ndarray:
        given, values = self.given(states), np.zeros(len(states))
        for piece in pieces(len(given)):
            value_each(function, raw(given[piece]), len(given[piece]), seat, raw(values[piece]))
        return values

    def legal(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Legal moves MOVE[N, max_moves] and their counts i64[N] (negative: truncated)."""
        note_rule("legal")
        given, most = self.given(states), self.game.max_moves
        counts, space = np.zeros(len(given), np.int64), fenced(self.game.move, len(given) * most)
        legal_each(self.rules, raw(given), len(given), raw(space.block), raw(counts))
        if space.is_damaged():
            raise CardaiError(f"the rule legal wrote outside of its buffer; max_moves is {most}")
        return space.block.copy().reshape(len(given), most), counts

    def moves(self, state: Any) -> np.ndarray:
        """The legal moves of one state: MOVE[n]."""
        moves, counts = self.legal(np.atleast_1d(state))
        return moves[0, : min(abs(int(counts[0])), self.game.max_moves)]

    def allowed(self, states: np.ndarray, moves: np.ndarray) -> np.ndarray:
        """Returns whether moves are legal, bool[N]. A single state or move is paired with all others."""
        note_rule("is_legal" if self.game.is_legal else "legal")
        given, played = self.given(states), self.given(moves)
        count, *steps = _steps(given, played)
        space, answers = roomy(self.game.max_moves, self.game.move), np.zeros(count, np.int64)
        allow_each(self.rules, raw(given), steps[0], raw(played), steps[1], count, raw(space), raw(answers))
        return answers != 0

    def choices(self, states: np.ndarray, player: str, bits: int) -> np.ndarray:
        """The move of a native player in each state, each time with the same random stream: MOVE[N]."""
        note_rule(f"player {player}")
        given, moves = self.given(states), guarded(len(states), self.game.move)
        choose, values = self.game.players[player].choose, list(self.game.players[player].defaults.values())
        params, stream, width = np.array([values or [0.0]]), np.zeros(1, STREAM), max(1, len(values))
        call, seed = self.game.entry("choose", choose), int_seed(bits)
        for piece in pieces(len(given)):
            part, found = given[piece], moves[piece]
            choose_each(self.rules, call, raw(part), len(part), raw(params), width, raw(stream), seed, raw(found))
        return moves

    def finished(self, states: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """States played to their end at random, and the number of moves: i64[N], -1 if a seat to move had no move."""
        note_rule("legal and act and settle")
        given, moved, stream = self.given(states), np.zeros(len(states), np.int64), streams(seed)
        space, most = roomy(self.game.max_moves, self.game.move), self.game.max_plies
        finish_each(self.rules, raw(given), len(given), raw(space), raw(stream), most, raw(moved))
        return given, moved


def _steps(states: np.ndarray, moves: np.ndarray) -> tuple[int, int, int]:
    """The number of pairs of states and moves, and for each block its step: 1, or 0 if it has a single record."""
    count = max(len(states), len(moves)) if len(states) and len(moves) else 0
    return count, int(len(states) > 1), int(len(moves) > 1)


# The compiled loops. A `step` is 1 to go through a block, or 0 to stay at its first record.


@rule
def play_through(rules, states, moves, count):
    """Set states[i + 1] to states[i] after moves[i]."""
    for i in range(count):
        copy(at(states, i + 1), at(states, i), rules.state_size)
        play_move(rules, at(states, i + 1), at(moves, i))


@rule
def draw_worlds(rules, states, seat, streams, worlds, count):
    """Fill `worlds` with worlds of states[0] for a seat."""
    for i in range(count):
        make_world(rules, at(worlds, i), at(states, 0), seat, at(streams, 0))


@rule
def draw_again(rules, states, seat, streams, count):
    """Replace each state by one of its own worlds."""
    for i in range(count):
        seed_state(at(states, i), next_of(at(streams, 0)))
        call_resample(get(rules.calls, RESAMPLE), at(states, i), seat, at(streams, 0))


@rule
def resample_each(rules, states, seat, streams, bits, count):
    """Resample each state in place, each time with the same random stream; its own stream is left as it is."""
    for i in range(count):
        seed_stream(at(streams, 0), bits)
        call_resample(get(rules.calls, RESAMPLE), at(states, i), seat, at(streams, 0))


@rule
def blank_each(rules, blank, states, count, seat, views):
    """Set each view to its state with all that is hidden from a seat blanked."""
    for i in range(count):
        make_view(rules, blank, at(views, i), at(states, i), seat)


@rule
def simplify_each(simplify, states, count):
    """Apply `simplify` to each of `count` states, in place."""
    for i in range(count):
        call_simplify(simplify, at(states, i))


@rule
def move_each(rules, states, state_step, moves, move_step, count, settle, results):
    """Set results[i] to the settled state after a move, or without `settle` to the after-state."""
    for i in range(count):
        result = at(results, i)
        copy(result, at(states, i * state_step), rules.state_size)
        begin_ply(result)
        call_act(get(rules.calls, ACT), result, at(moves, i * move_step))
        if settle:
            call_settle(get(rules.calls, SETTLE), result)


@rule
def deal_each(rules, states, stream, count):
    """Deal into each of these states, which are blank but for their options."""
    for i in range(count):
        seed_state(at(states, i), next_of(at(stream, 0)))
        call_deal(get(rules.calls, DEAL), at(states, i))


@rule
def encode_each(encode, states, count, seat, rows):
    """Encode each state into its row."""
    for i in range(count):
        call_encode(encode, at(states, i), seat, rows, i)


@rule
def value_each(value, states, count, seat, values):
    """Set the value of a heuristic, the score or an outcome of each state."""
    for i in range(count):
        set_float(values, i, call_score(value, at(states, i), seat))


@rule
def legal_each(rules, states, count, moves, counts):
    """List the legal moves of each state, `max_moves` apart, and count them (negative if truncated)."""
    for i in range(count):
        set(counts, i, call_legal(get(rules.calls, LEGAL), at(states, i), moves, i * rules.max_moves, rules.max_moves))


@rule
def allow_each(rules, states, state_step, moves, move_step, count, space, answers):
    """Set whether each move is legal in its state. `space`: MOVE[max_moves], working space."""
    for i in range(count):
        set(answers, i, is_among(rules, at(states, i * state_step), at(moves, i * move_step), space, 0))


@rule
def choose_each(rules, choose, states, count, params, width, streams, bits, moves):
    """Let a native player choose in each state, each time with the same random stream."""
    for i in range(count):
        seed_stream(at(streams, 0), bits)
        clear(at(moves, i), rules.move_size)
        call_choose(choose, at(states, i), at(moves, i), params, 0, width, at(streams, 0))


@rule
def finish_each(rules, states, count, space, streams, most, moved):
    """Play states to their end in place, evenly at random.

    Fills `moved` with the number of moves of each game, or -1 if a seat to move had no move.
    """
    for i in range(count):
        state, n = at(states, i), 0
        while turn_of(state) >= 0 and n < most:
            choices = abs(legal_moves(rules, state, space, 0))
            if choices == 0:
                n = -1
                break
            play_move(rules, state, at(space, below_of(at(streams, 0), choices)))
            n += 1
        set(moved, i, n)
