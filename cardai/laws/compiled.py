"""A game's rules applied to whole blocks of states: the compiled loops, and `Compiled`, their Python side."""

import functools
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cardai.errors import CardaiError
from cardai.game import Game, int_seed
from cardai.game.compiled.fence import fenced, roomy
from cardai.game.compiled.native import (
    at,
    begin_ply,
    below_of,
    call_act,
    call_choose,
    call_deal,
    call_encode,
    call_is_open,
    call_legal,
    call_resample,
    call_score,
    call_settle,
    call_simplify,
    call_weight,
    clear,
    copy,
    get,
    get_float,
    next_of,
    raw,
    seed_state,
    seed_stream,
    set,
    set_float,
    turn_of,
)
from cardai.game.compiled.rules import (
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
    play_move,
)
from cardai.laws.note import note_again, note_rule
from cardai.rules import STREAM, mixed, rule

PIECE = 64  # records at most that a compiled loop goes through before the kit says that the game is still answering
QUICK = 0.002  # seconds: what takes longer is done in smaller pieces
TRIES, STAGES = 6, 16  # how many random lines are tried from each of how many positions of a game that is steered
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


def parts(count: int) -> Iterator[slice]:
    """Slices of a block of `count` records. Each is noted as a call of its own: a block may take long, a call not.

    The first slice is one record. Each is four times as long as the one before if that was quick, else a quarter.
    """
    first, size = 0, 1
    while first < count:
        note_again()
        start = time.monotonic()
        yield slice(first, min(first + size, count))
        first += size
        size = min(4 * size, PIECE) if time.monotonic() - start < QUICK else max(size // 4, 1)


def pieces(*blocks: np.ndarray) -> Iterator[tuple[Any, ...]]:
    """Blocks of as many records by `parts`: what `raw` makes of a part of each, and the number of records in it."""
    for part in parts(len(blocks[0])):
        yield *(raw(block[part]) for block in blocks), len(blocks[0][part])


def streams(seed: int) -> np.ndarray:
    """A random stream: STREAM[1]."""
    stream = np.zeros(1, STREAM)
    stream["rng"] = mixed(int_seed(seed))
    return stream


class Compiled:
    """A game's rules on blocks of records. They get copies, so that no method changes its arguments."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.width = functools.cache(lambda encoder, seats: game.learning.encoders[encoder].width(seats))

    def given(self, name: str, records: Any, fixed: bool = True) -> np.ndarray:
        """A copy of records, or of a single one, for a rule that may change them only if they are not `fixed`."""
        return copied(records)

    def blank(self, name: str, count: int, dtype: np.dtype) -> np.ndarray:
        """Records for a rule to write."""
        return guarded(count, dtype)

    def blank_moves(self, count: int) -> Any:
        """Moves for `legal` to write, as a `Fenced`."""
        return fenced(self.game.move, count)

    @functools.cached_property
    def rules(self) -> Any:
        """The game's rules in the form that the compiled loops take."""
        return lend(self.game.compiler.rules)

    @functools.cached_property
    def numbers(self) -> dict[str, Any]:
        """The rules that give a state and a seat a number, as the compiled loops take them, by what they are called."""
        game, rules = self.game, {"decided": ("decided", self.game.rules.decided)}
        rules |= {f"heuristic {name}": ("value", value) for name, value in game.agents.heuristics.items()}
        for name, outcome in game.learning.outcomes.items():
            rules[f"outcome {name}"] = "outcome", outcome.rule
            rules[f"applies of outcome {name}"] = "outcome", outcome.applies
        rules |= {f"reward {name}": ("outcome", reward.rule) for name, reward in game.learning.rewards.items()}
        entries = {name: game.compiler.entry(kind, rule) for name, (kind, rule) in rules.items() if rule is not None}
        return {"score": get(self.rules.calls, SCORE), **entries}

    def rule(self, role: str) -> Any:
        """The game's rule `blank`, `is_open`, `simplify` or `weight`, as the loops take it. The game must have it."""
        return self.game.compiler.entry(role, getattr(self.game.rules, role))

    def trace(self, state: Any, moves: np.ndarray) -> np.ndarray:
        """All states of a game: STATE[plies + 1]."""
        note_rule("act and settle")
        states, played = guarded(len(moves) + 1, self.game.state), copied(moves)
        states[0] = state
        for part in parts(len(moves)):
            some, here = states[part.start :], played[part]
            move_each(self.rules, raw(some), 1, raw(here), 1, len(here), True, raw(some[1:]))
        return states

    def dealt(self, like: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Deals at the table of the state `like`, STATE[1], each with its random stream, u64[N]: STATE[N]."""
        states = guarded(len(chance), self.game.state)
        for name in ("seats", *(name for options in self.game.variants.values() for name in options)):
            states[name] = like[name]
        states["rng"] = chance
        return self._each("deal", deal_each, [states])

    def _each(self, what: str, loop: Any, blocks: Sequence[np.ndarray], *more: Any, first: Any = None) -> np.ndarray:
        """Note a call and make it for blocks of as many records, piece by piece. Returns the last block.

        The compiled loop is `loop(first, *blocks, count, *more)`; the first argument is the rules if None.
        """
        note_rule(what)
        for *some, count in pieces(*blocks):
            loop(self.rules if first is None else first, *some, count, *more)
        return blocks[-1]

    def worlds(self, state: Any, seat: int, count: int, seed: int) -> np.ndarray:
        """Worlds of a state for a seat: STATE[count]."""
        return self.worlds_of_each(np.repeat(np.atleast_1d(state), count), seat, seed)

    def worlds_of_each(self, states: np.ndarray, seat: int, seed: int) -> np.ndarray:
        """One world of each state, for a seat: STATE[N]."""
        worlds, stream = self.given("state", states, False), self.given("random stream", streams(seed), False)
        return self._each(f"resample for seat {seat}", draw_again, [worlds], seat, raw(stream))

    def resampled(self, states: np.ndarray, seat: int, seed: int) -> np.ndarray:
        """The states after `resample` for a seat, each with the same stream of chance and its own `rng`: STATE[N]."""
        stream = streams(seed)
        return self._each(
            f"resample for seat {seat}", resample_each, [copied(states)], seat, raw(stream), stream["rng"][0]
        )

    def blanked(self, states: np.ndarray, seat: int) -> np.ndarray:
        """What players with `sees="own"` get in these states at a seat: STATE[N]. The game must have `blank`."""
        blocks = self.given("state", states), self.blank("view", len(states), self.game.state)
        return self._each(f"blank for seat {seat}", blank_each, blocks, self.rule("blank"), seat)

    def opened(self, states: np.ndarray) -> np.ndarray:
        """Which of these states the game calls open and are not over: bool[N]. The game must have `is_open`."""
        blocks = self.given("state", states), np.zeros(len(states), np.int64)
        return self._each("is_open", find_open, blocks, first=self.rule("is_open")) != 0

    def simplified(self, states: np.ndarray) -> np.ndarray:
        """The states after the game's rule `simplify`, which it must have: STATE[N]."""
        return self._each("simplify", simplify_each, [self.given("state", states, False)], first=self.rule("simplify"))

    def moved(self, states: np.ndarray, moves: np.ndarray, settle: bool = True) -> np.ndarray:
        """Returns the settled states after moves, or after-states if `settle` is False.

        A single state or move is paired with all others.
        """
        note_rule("act and settle" if settle else "act")
        given, played = self.given("state", states), self.given("move", moves)
        results = self.blank("state", _pairs(given, played), self.game.state)
        for part in parts(len(results)):
            found = results[part]
            move_each(self.rules, *_part(given, part), *_part(played, part), len(found), settle, raw(found))
        return results

    def after_each(self, states: np.ndarray, moves: np.ndarray) -> np.ndarray:
        """The after-states of every move in every state: STATE[N * M], all moves of the first state first."""
        return self.moved(np.repeat(states, len(moves)), np.tile(moves, len(states)), settle=False)

    def rows(self, states: np.ndarray, seat: int) -> np.ndarray:
        """The rows of all encoders side by side: u8[N, width]."""
        parts = [self.encoded(states, seat, name) for name in self.game.learning.encoders] if len(states) else []
        return np.concatenate(parts, axis=1) if parts else np.zeros((len(states), 0), np.uint8)

    def encoded(self, states: np.ndarray, seat: int, encoder: str) -> np.ndarray:
        """The rows of one encoder: u8[N, width]."""
        given = self.given("state", states)
        width = max(1, self.width(encoder, int(given[0]["seats"])))
        rows = self.blank("row", len(given), np.dtype((np.void, width))).view(np.uint8).reshape(-1, width)
        rows[:] = 0
        entry = self.game.compiler.entry("encode", self.game.learning.encoders[encoder].encode)
        return self._each(f"encoder {encoder} for seat {seat}", encode_each, (given, rows), seat, first=entry)

    def values(self, states: np.ndarray, seat: int, what: str = "score") -> np.ndarray:
        """A number of each state for a seat, by its name in `numbers`, in its own unit: f8[N]."""
        blocks = self.given("state", states), np.zeros(len(states))
        return self._each(f"{what} for seat {seat}", value_each, blocks, seat, first=self.numbers[what])

    def weights(self, states: np.ndarray) -> np.ndarray:
        """What the game's rule `weight`, which it must have, gives for states: f8[N]."""
        blocks = self.given("state", states), np.zeros(len(states))
        return self._each("weight", weigh_each, blocks, first=self.rule("weight"))

    def legal(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Legal moves MOVE[N, max_moves] and their counts i64[N] (negative: truncated)."""
        note_rule("legal")
        given, most = self.given("state", states), self.game.max_moves
        counts, space = np.zeros(len(given), np.int64), self.blank_moves(len(given) * most)
        for part in parts(len(given)):
            some, listed = given[part], space.block[most * part.start :]
            legal_each(self.rules, raw(some), len(some), raw(listed), raw(counts[part]))
        if space.is_damaged():
            raise CardaiError(f"the rule legal wrote outside of its buffer; max_moves is {most}")
        return space.block.copy().reshape(len(given), most), counts

    def moves(self, state: Any) -> np.ndarray:
        """The legal moves of one state: MOVE[n]."""
        moves, counts = self.legal(state)
        return moves[0, : min(abs(int(counts[0])), self.game.max_moves)]

    def allowed(self, states: np.ndarray, moves: np.ndarray) -> np.ndarray:
        """Whether moves are legal: bool[N]. A single state or move is paired with all others."""
        note_rule("is_legal" if self.game.rules.is_legal else "legal")
        given, played = self.given("state", states), self.given("move", moves)
        space, answers = self.blank_moves(self.game.max_moves).block, np.zeros(_pairs(given, played), np.int64)
        for part in parts(len(answers)):
            found = answers[part]
            allow_each(self.rules, *_part(given, part), *_part(played, part), len(found), raw(space), raw(found))
        return answers != 0

    def choices(self, states: np.ndarray, player: str, bits: int) -> np.ndarray:
        """The move of a native player in each state, each time with the same random stream: MOVE[N]."""
        written = self.game.agents.players[player]
        blocks = self.given("state", states), self.blank("move", len(states), self.game.move)
        params = self.given("parameters", np.array(list(written.defaults.values()) or [0.0]))[None]
        stream, call = self.blank("random stream", 1, STREAM), self.game.compiler.entry("choose", written.choose)
        given = call, raw(params), params.size, raw(stream), int_seed(bits)
        return self._each(f"player {player}", choose_each, blocks, *given)

    def steered(
        self, states: np.ndarray, seats: np.ndarray, wanted: np.ndarray, seed: int
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """States played to ends at which a seat's score is as near as can be to a number, whatever all seats want.

        `seats`: i64[N], the seat of each state. `wanted`: f8[N], from 0 to 1. Returns the ends, STATE[N], and the moves
        that lead to them, MOVE[plies] for each, none if no end was found. Chance is foreseen: what the states' random
        streams bring does not depend on how often it was tried.
        """
        note_rule("legal and act and settle")
        given, most, plies, stream = copied(states), self.game.max_plies, np.zeros(len(states), np.int64), streams(seed)
        space, work = roomy(self.game.max_moves, self.game.move), guarded(1, self.game.state)
        lines, trial = guarded(len(states) * most, self.game.move), guarded(most, self.game.move)
        for part in parts(len(given)):
            blocks = [
                raw(block)
                for block in (given[part], seats[part], wanted[part], lines[most * part.start :], plies[part])
            ]
            spare = [raw(block) for block in (stream, space, work, trial)]
            arguments = (*blocks, len(given[part]), TRIES, STAGES, *spare)
            steer_each(self.rules, *arguments)
        return given, [line[:number].copy() for line, number in zip(lines.reshape(-1, most), plies, strict=True)]

    def finished(self, states: np.ndarray, seed: int) -> np.ndarray:
        """States played on at random, until they end, a seat has no move, or `max_plies` are over: STATE[N]."""
        stream, work = streams(seed), guarded(1, self.game.state)
        space, line = roomy(self.game.max_moves, self.game.move), guarded(self.game.max_plies, self.game.move)
        spare = map(raw, (work, stream, space, line))
        return self._each("legal and act and settle", finish_each, [copied(states)], *spare)


def _pairs(states: np.ndarray, moves: np.ndarray) -> int:
    """The number of pairs of states and moves."""
    return max(len(states), len(moves)) if len(states) and len(moves) else 0


def _part(block: np.ndarray, part: slice) -> tuple[Any, int]:
    """A part of a block and the step through it: 1, or 0 for a block of a single record, which goes with all."""
    return (raw(block[part]), 1) if len(block) > 1 else (raw(block), 0)


# The compiled loops. A `step` is 1 to go through a block, or 0 to stay at its first record.


@rule
def draw_again(rules, states, count, seat, streams):
    for i in range(count):
        seed_state(at(states, i), next_of(at(streams, 0)))
        call_resample(get(rules.calls, RESAMPLE), at(states, i), seat, at(streams, 0))


@rule
def resample_each(rules, states, count, seat, streams, bits):
    """Resample each state in place, each time with the same random stream; its own stream is left as it is."""
    for i in range(count):
        seed_stream(at(streams, 0), bits)
        call_resample(get(rules.calls, RESAMPLE), at(states, i), seat, at(streams, 0))


@rule
def blank_each(rules, states, views, count, blank, seat):
    for i in range(count):
        make_view(rules, blank, at(views, i), at(states, i), seat)


@rule
def find_open(is_open, states, answers, count):
    for i in range(count):
        set(answers, i, turn_of(at(states, i)) >= 0 and call_is_open(is_open, at(states, i)) != 0)


@rule
def simplify_each(simplify, states, count):
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
def deal_each(rules, states, count):
    """Deal into each of these states, which are blank but for their options and their random streams."""
    for i in range(count):
        call_deal(get(rules.calls, DEAL), at(states, i))


@rule
def encode_each(encode, states, rows, count, seat):
    for i in range(count):
        call_encode(encode, at(states, i), seat, rows, i)


@rule
def value_each(value, states, values, count, seat):
    for i in range(count):
        set_float(values, i, call_score(value, at(states, i), seat))


@rule
def weigh_each(weight, states, values, count):
    for i in range(count):
        set_float(values, i, call_weight(weight, at(states, i)))


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
def choose_each(rules, states, moves, count, choose, params, width, streams, bits):
    """Let a native player choose in each state, each time with the same random stream."""
    for i in range(count):
        seed_stream(at(streams, 0), bits)
        clear(at(moves, i), rules.move_size)
        call_choose(choose, at(states, i), at(moves, i), params, 0, width, at(streams, 0))


@rule
def finish_each(rules, states, count, work, streams, space, line):
    for i in range(count):
        random_line(rules, at(states, i), work, 0, streams, space, line)
        copy(at(states, i), at(work, 0), rules.state_size)


@rule
def steer_each(rules, states, seats, wanted, lines, plies, count, tries, stages, streams, space, work, trial):
    """Play states to their end in place, and write the moves into `lines`, `max_plies` apart, and their number.

    The best line to an end is known. In each of some stages random lines are tried from where the game has come to, the
    best one of all is followed for a part of the way, and so on.
    """
    most = rules.max_plies
    for i in range(count):
        state, first, n, known, stage, least = at(states, i), i * most, 0, 0, stages, 2.0
        while turn_of(state) >= 0 and n < most:
            for _ in range(tries):
                ended = random_line(rules, state, work, n, streams, space, trial)
                off = abs(call_score(get(rules.calls, SCORE), at(work, 0), get(seats, i)) - get_float(wanted, i))
                if ended > 0 and off < least:
                    least, known = off, ended
                    for ply in range(n, ended):
                        copy(at(lines, first + ply), at(trial, ply), rules.move_size)
            if known <= n:
                break
            for _ in range(max(1, (known - n) // stage)):
                play_move(rules, state, at(lines, first + n))
                n += 1
            stage = max(1, stage - 1)
        set(plies, i, n if turn_of(state) < 0 else 0)


@rule
def random_line(rules, state, work, n, streams, space, line):
    """Play a copy of a state to its end at random from ply n on. Returns the ply of the end, 0 if there was none."""
    copy(at(work, 0), state, rules.state_size)
    while turn_of(at(work, 0)) >= 0 and n < rules.max_plies:
        choices = abs(legal_moves(rules, at(work, 0), space, 0))
        if choices == 0:
            return 0
        copy(at(line, n), at(space, below_of(at(streams, 0), choices)), rules.move_size)
        play_move(rules, at(work, 0), at(line, n))
        n += 1
    return n if turn_of(at(work, 0)) < 0 else 0
