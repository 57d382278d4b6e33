"""Agents that judge moves by an evaluator outside compiled code: what they must look at, and what they make of it.

For each decision compiled code lists the moves, plays each one in the worlds of the seat and encodes where it leads, as
the rows of one batch (`gather`); the evaluator scores the batch in one call; compiled code takes the mean over worlds
and chooses (`choose`). The same search by a heuristic, which needs no batch, is `driver.choose_by_value`.

A *leaf* is a position that a move may lead to in one world: usually one; several where the mover goes on to choose, of
which he will take the best. A *group* is the leaves of one move in one world. Rows that occur twice in a decision are
encoded once, so equal positions have equal scores.
"""

from typing import Any, NamedTuple

import numpy as np

from cardai.agents.spec import Agent
from cardai.errors import CardaiError, place_of, short
from cardai.game import Game
from cardai.kernel import driver
from cardai.kernel.driver import (
    ALL_ALONG,
    DEEP,
    GREEDY,
    PEEKING,
    SCORE,
    Scratch,
    goes_on,
    legal_moves,
    lend,
    make_world,
    pick,
    play_move,
)
from cardai.kernel.native import (
    at,
    begin_ply,
    call_act,
    call_encode,
    call_score,
    call_settle,
    clear_row,
    copy,
    get,
    get_float,
    hash_row,
    ply_of,
    raw,
    revealed_of,
    same_row,
    set,
    set_float,
    turn_of,
)
from cardai.rule import rule
from cardai.table.cast import cast_of, scratch_of

BUCKETS = 4096  # of the table in which equal rows of a decision find each other
MOST_BYTES = 1 << 29  # of rows in a batch, which one decision may fill; a run holds a few batches for each agent
SMALLEST = 2048  # moves that a batch has room for at least

# Where a batch stands, in Leaves.used.
DECISIONS, MOVES, GROUPS, LEAVES, ROWS, FIRST = range(6)  # FIRST: the first row of the decision being added


class Leaves(NamedTuple):
    """A batch: decisions, their moves, groups, leaves and rows, each a range of the next one's; R rows have room."""

    room: int
    used: Any  # i64[6]: how many of each there are
    move_end: Any  # i64[R]: where the moves of decision d end
    group_end: Any  # i64[R]: where its groups end
    moves: Any  # MOVE[2R]
    means: Any  # f8[2R]: what each move is worth
    group_move: Any  # i64[R]: the move, counted within its decision, that a group is about
    leaf_end: Any  # i64[R]: where the leaves of group g end
    leaf_row: Any  # i64[R]: the row of a leaf; -1 when its value is known
    leaf_value: Any  # f8[R]: the value of an ended game
    rows: Any  # u8[R, width]
    hashes: Any  # i64[R]
    table: Any  # i64[BUCKETS]: the newest row with a hash
    before: Any  # i64[R]: the next older one


@rule
def add_leaf(rules, encode, batch, state, seat, settled):
    """Add a leaf to the group being filled; False when there is no room."""
    used = batch.used
    leaf, row = get(used, LEAVES), get(used, ROWS)
    if leaf >= batch.room or row >= batch.room:
        return False
    if settled and turn_of(state) < 0:
        set(batch.leaf_row, leaf, -1)
        set_float(batch.leaf_value, leaf, call_score(get(rules.calls, SCORE), state, seat))
        set(used, LEAVES, leaf + 1)
        return True
    clear_row(batch.rows, row)
    call_encode(encode, state, seat, batch.rows, row)
    key = hash_row(batch.rows, row)
    bucket = key & (BUCKETS - 1)
    first, newest = get(used, FIRST), get(batch.table, bucket)
    other = newest
    set(batch.leaf_row, leaf, row)
    set(used, LEAVES, leaf + 1)
    while first <= other < row:
        if get(batch.hashes, other) == key and same_row(batch.rows, other, row):
            set(batch.leaf_row, leaf, other)
            return True
        older = get(batch.before, other)
        if older >= other:
            break
        other = older
    set(batch.hashes, row, key)
    set(batch.before, row, newest if first <= newest < row else -1)
    set(batch.table, bucket, row)
    set(used, ROWS, row + 1)
    return True


@rule
def add_continuations(rules, encode, batch, state, seat, scratch):
    """Add every position the seat can reach from the middle of its decision (at most DEEP choices deep)."""
    left, level = scratch.left, 2
    set(left, level, abs(legal_moves(rules, state, scratch.moves, level)))
    while True:
        if get(left, level) == 0:
            if level == 2:
                return True
            level -= 1
            continue
        set(left, level, get(left, level) - 1)
        trial = at(scratch.worlds, level)
        copy(trial, state if level == 2 else at(scratch.worlds, level - 1), rules.state_size)
        play_move(rules, trial, at(scratch.moves, level * rules.max_moves + get(left, level)))
        if goes_on(trial, seat) and level < DEEP:
            level += 1
            set(left, level, abs(legal_moves(rules, trial, scratch.moves, level)))
        elif not add_leaf(rules, encode, batch, trial, seat, True):
            return False


@rule
def add_decision(rules, encode, kind, worlds, batch, state, scratch, stream):
    """Add all that one decision must look at; False when there is no room for it."""
    used, seat = batch.used, turn_of(state)
    view, trial = at(scratch.worlds, 0), at(scratch.worlds, 1)
    set(used, FIRST, get(used, ROWS))
    if kind == PEEKING:
        copy(view, state, rules.state_size)
    else:
        make_world(rules, view, state, seat, stream)
    n = abs(legal_moves(rules, view, scratch.moves, 0))
    move, group = get(used, MOVES), get(used, GROUPS)
    if move + n > 2 * batch.room:
        return False
    for i in range(n):
        copy(at(batch.moves, move + i), at(scratch.moves, i), rules.move_size)
        set(scratch.open, i, 1)
    for world in range(worlds if n > 1 else 0):
        if world > 0:
            make_world(rules, view, state, seat, stream)
        for i in range(n):
            if get(scratch.open, i) == 0:
                continue
            if group >= batch.room:
                return False
            copy(trial, view, rules.state_size)
            begin_ply(trial)
            call_act(get(rules.calls, driver.ACT), trial, at(scratch.moves, i))
            if kind != GREEDY:
                call_settle(get(rules.calls, driver.SETTLE), trial)
                # If nothing hidden was turned up to this seat, one world says it all.
                set(scratch.open, i, (revealed_of(trial) >> seat) & 1)
            if kind != GREEDY and goes_on(trial, seat):
                fits = add_continuations(rules, encode, batch, trial, seat, scratch)
            else:
                fits = add_leaf(rules, encode, batch, trial, seat, kind != GREEDY)
            if not fits:
                return False
            set(batch.group_move, group, i)
            set(batch.leaf_end, group, get(used, LEAVES))
            group += 1
    decision = get(used, DECISIONS)
    if decision >= batch.room:
        return False
    set(batch.move_end, decision, move + n)
    set(batch.group_end, decision, group)
    set(used, DECISIONS, decision + 1)
    set(used, MOVES, move + n)
    set(used, GROUPS, group)
    return True


@rule
def gather(rules, encode, kind, worlds, batch, states, streams, picked, places, count, scratch):
    """Fill an empty batch with decisions in states[picked[i]], by streams[places[i]]; how many there was room for.

    The stream of a decision that does not fit is as it was, so that it sees the same worlds when its time comes.
    """
    saved = at(scratch.streams, 0)
    for i in range(count):
        stream, leaves, rows = at(streams, get(places, i)), get(batch.used, LEAVES), get(batch.used, ROWS)
        copy(saved, stream, 8)
        if not add_decision(rules, encode, kind, worlds, batch, at(states, get(picked, i)), scratch, stream):
            copy(stream, saved, 8)
            set(batch.used, LEAVES, leaves)
            set(batch.used, ROWS, rows)
            return i
    return count


@rule
def weigh(batch, scores, scratch):
    """What each move is worth: the mean over worlds of its best leaf; `scores`: f8[rows]."""
    move, group, leaf = 0, 0, 0
    for decision in range(get(batch.used, DECISIONS)):
        n = get(batch.move_end, decision) - move
        for i in range(n):
            set_float(scratch.totals, i, 0.0)
            set(scratch.counts, i, 0)
        while group < get(batch.group_end, decision):
            best = -np.inf
            while leaf < get(batch.leaf_end, group):
                row = get(batch.leaf_row, leaf)
                best = max(best, get_float(batch.leaf_value, leaf) if row < 0 else get_float(scores, row))
                leaf += 1
            i = get(batch.group_move, group)
            set_float(scratch.totals, i, get_float(scratch.totals, i) + best)
            set(scratch.counts, i, get(scratch.counts, i) + 1)
            group += 1
        for i in range(n):
            set_float(batch.means, move + i, get_float(scratch.totals, i) / max(1, get(scratch.counts, i)))
        move += n


@rule
def choose(rules, batch, epsilon, temperature, states, streams, limits, picked, places, chosen, scratch):
    """Copy to chosen[picked[d]] the move of each decision; the first decision without a legal move, or -1.

    The player explores before the ply limits[places[d]].
    """
    move = 0
    for decision in range(get(batch.used, DECISIONS)):
        n = get(batch.move_end, decision) - move
        if n == 0:
            return decision
        for i in range(n):
            copy(at(scratch.moves, i), at(batch.moves, move + i), rules.move_size)
            set_float(scratch.totals, i, get_float(batch.means, move + i))
            set(scratch.counts, i, 1)
        place, slot = get(places, decision), get(picked, decision)
        explores = ply_of(at(states, slot)) < get(limits, place)
        heat = temperature if explores else 0.0
        pick(rules, n, scratch, at(chosen, slot), at(streams, place), epsilon if explores else 0.0, heat)
        move += n
    return -1


class Question:
    """A batch on its way: an agent is asked for its moves in some states; the answer may take its time.

    `states`: STATE[S], `streams`: STREAM[...]; decision d is about states[picked[d]] and takes its luck from
    streams[places[d]].
    """

    def __init__(self, game: Game, agent: Agent, scratch: Scratch) -> None:
        assert agent.evaluator is not None
        self.agent, self.evaluator, self.scratch = agent, agent.evaluator, scratch
        self._rules, self._scratch = lend(game.rules), lend(scratch)
        encoder = game.encoder(self.evaluator.encoder)
        self.encode = game.entry("encode", encoder.encode)
        self.width = encoder.width(self.evaluator.seats)
        self.game, self.answer, self.asked = game, None, 0
        self._make_room(max(self.evaluator.batch, SMALLEST, game.max_moves))

    def _make_room(self, room: int) -> None:
        self.batch = Leaves(
            room,
            np.zeros(6, np.int64),
            np.zeros(room, np.int64),
            np.zeros(room, np.int64),
            np.zeros(2 * room, self.game.move),
            np.zeros(2 * room),
            np.zeros(room, np.int64),
            np.zeros(room, np.int64),
            np.zeros(room, np.int64),
            np.zeros(room),
            np.zeros((room, self.width), np.uint8),
            np.zeros(room, np.int64),
            np.zeros(BUCKETS, np.int64),
            np.zeros(room, np.int64),
        )
        self._batch = lend(self.batch)

    def gather(self, states: np.ndarray, streams: np.ndarray, picked: np.ndarray, places: np.ndarray) -> int:
        """Take in as many of the decisions as there is room for, at least one; how many.

        CardaiError when one decision alone needs more rows than memory should hold.
        """
        self.picked, self.places = np.ascontiguousarray(picked, np.int64), np.ascontiguousarray(places, np.int64)
        while True:
            self.batch.used[:] = 0
            worlds = self.agent.worlds if self.agent.kind == driver.SAMPLED else 1
            self.asked = int(
                gather(
                    self._rules, self.encode, self.agent.kind, worlds, self._batch, raw(states), raw(streams),
                    raw(self.picked), raw(self.places), len(self.picked), self._scratch,
                )
            )  # fmt: skip
            if self.asked:
                break
            if 2 * self.batch.room * self.width > MOST_BYTES:
                advice = "; take fewer worlds" if worlds > 1 else ""
                raise CardaiError(
                    f"agent {self.agent.spec!r}: one decision needs more than {self.batch.room} rows{advice}"
                )
            self._make_room(2 * self.batch.room)
        return self.asked

    def send(self) -> None:
        """Send the positions off to the evaluator. CardaiError, which names it, when it fails."""
        self.answer = None
        if self.rows:
            try:
                self.answer = self.evaluator.score(self.batch.rows[: self.rows])
            except Exception as error:  # an evaluator is anybody's code
                raise self._failed(error) from error

    @property
    def rows(self) -> int:
        """How many positions the evaluator is asked about."""
        return int(self.batch.used[ROWS])

    def weigh(self) -> np.ndarray:
        """Wait for the answer; what each move of all decisions is worth, f8[moves].

        CardaiError, which names the evaluator, unless the answer is a number in [0, 1] for each position.
        """
        scores = self._heard() if self.rows else np.zeros(1)
        weigh(self._batch, raw(scores), self._scratch)
        return self.batch.means[: self.batch.used[MOVES]]

    def _heard(self) -> np.ndarray:
        """The answer: f8[rows] in [0, 1]."""
        try:
            answer = np.asarray(self.answer)
            scores = answer.astype(np.float64)
        except Exception as error:  # what is computed meanwhile fails when it is waited for
            raise self._failed(error) from error
        if answer.shape != (self.rows,):
            raise CardaiError(f"{self._who}: it answered {self.rows} positions with an array of shape {answer.shape}")
        wrong = ~((scores >= 0.0) & (scores <= 1.0))
        if wrong.any():
            raise CardaiError(f"{self._who}: it judges a position as {scores[wrong][0]:g}, which is not in [0, 1]")
        return scores

    @property
    def _who(self) -> str:
        return f"agent {self.agent.spec!r}, evaluator {self.evaluator.name}"

    def _failed(self, error: Exception) -> CardaiError:
        """What an exception inside an evaluator becomes."""
        if isinstance(error, CardaiError):
            return error
        return CardaiError(f"{self._who}: it raised {short(error, 300)}{place_of(error)}")

    def choose(self, states: np.ndarray, streams: np.ndarray, limits: np.ndarray, chosen: np.ndarray) -> int:
        """Wait for the answer and write the moves into chosen[picked]; a decision without a legal move, or -1.

        `limits`, i64 as many as streams: the ply from which on a seat no longer explores.
        """
        self.weigh()
        return int(
            choose(
                self._rules, self._batch, self.agent.epsilon, self.agent.temperature, raw(states), raw(streams),
                raw(limits), raw(self.picked), raw(self.places), raw(chosen), self._scratch,
            )
        )  # fmt: skip

    def options(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Once the answer was heard: each decision's moves, MOVE[n], and what each is worth, f8[n]."""
        ends = self.batch.move_end[: self.asked].tolist()
        parts = [slice(i, j) for i, j in zip([0, *ends[:-1]], ends, strict=True)]
        return [(self.batch.moves[part], self.batch.means[part]) for part in parts]


def decide(
    game: Game, agent: Agent, states: np.ndarray, streams: np.ndarray, picked: np.ndarray, places: np.ndarray,
    chosen: np.ndarray, limits: np.ndarray | None = None,
) -> list[tuple[np.ndarray, np.ndarray]]:  # fmt: skip
    """Let an agent with an evaluator choose in states[picked[i]], by streams[places[i]], into chosen[picked[i]].

    It explores before the ply limits[places[i]]; all along when there are none.

    Returns for each decision the moves it had, MOVE[n], and what each was worth to it, f8[n].
    """
    limits = np.full(len(streams), ALL_ALONG) if limits is None else limits
    question, done, found = Question(game, agent, scratch_of(game, cast_of(game, [agent]))), 0, []
    while done < len(picked):
        asked = question.gather(states, streams, picked[done:], places[done:])
        question.send()
        stuck = question.choose(states, streams, limits, chosen)
        if stuck >= 0:
            seat = int(states["turn"][picked[done + stuck]])
            raise CardaiError(f"{game.name}: seat {seat} is to move and has no legal move")
        found += [(moves.copy(), worth.copy()) for moves, worth in question.options()]
        done += asked
    return found
