"""One-ply search, compiled: play every legal move in the worlds of the seat to move and compare where they lead.

This is the only lookahead there is. A game's heuristic and a dense network judge a position at once (`compare`, which
the driver calls while it plays). Any other evaluator judges from outside compiled code: positions are encoded as the
rows of one batch (`gather`), the evaluator scores the batch in one call, `weigh` takes the means and `choose` the
moves. Both take the same steps in `look_ahead`.

A *leaf* is a position that a move may lead to in one world. A move has one leaf in a world, or several if the same seat
goes on with its decision: then it will take the best of them. A *group* is the leaves of one move in one world. A row
that occurs twice in a decision is scored once, so equal positions have equal scores.

A choice at the same time as others' (`Rules.together`) is judged after all have been shown: in each world the other
seats choose evenly at random, whether they are asked before or after this one, and all moves of the decision meet the
same choices.
"""

from typing import Any, NamedTuple

import numpy as np

from cardai.game.compiled.native import (
    at,
    begin_ply,
    below_of,
    call_act,
    call_encode,
    call_score,
    call_settle,
    clear_row,
    copy,
    get,
    get_float,
    hash_row,
    next_of,
    ply_of,
    revealed_of,
    same_row,
    seed_stream,
    set,
    set_float,
    turn_of,
    uniform_of,
    unseal,
)
from cardai.game.compiled.rules import (
    ACT,
    SCORE,
    SETTLE,
    chooses_together,
    goes_on,
    legal_at,
    legal_moves,
    make_world,
    play_move,
    waits,
)
from cardai.playing.compiled.dense import FEATURES, Workspace, score_row
from cardai.rules import rule, separate

DEEP = 4  # how many choices inside one decision are searched; working space is laid out for it
TOGETHER_WORLDS = 16  # in which a choice at the same time is judged at least
BUCKETS = 4096  # of the hash table in which equal rows of a decision find each other

# How many of each a batch holds: indices into Leaves.used. FIRST is the first row of the decision being added.
DECISIONS, MOVES, GROUPS, LEAVES, ROWS, FIRST = range(6)


# Who judges: an evaluator from outside, a heuristic or a dense network.
BATCH, VALUE, NETWORK = range(3)


class Judge(NamedTuple):
    """Who judges positions. `call`: the address of the heuristic, otherwise of the encoder. `network`: its address."""

    kind: int  # BATCH, VALUE or NETWORK
    call: Any
    network: int


class Look(NamedTuple):
    """Which positions are judged, and by whom."""

    judge: Judge
    settles: bool  # settled states are judged, otherwise after-states
    peeks: bool  # in the true world; choices at the same time are no part of it: nobody has made them yet
    worlds: int  # otherwise in so many worlds


class Pending(NamedTuple):
    """Decisions to be made in states[picked[i]], i = 0..n-1, by the random streams streams[places[i]]."""

    states: Any  # STATE[S]
    streams: Any  # STREAM[T]
    picked: Any  # i64[n]
    places: Any  # i64[n]
    limits: Any  # i64[T]: the ply from which on the seat of a stream no longer explores


class Leaves(NamedTuple):
    """A batch: decisions, their moves, groups, leaves and rows, each a range of the next one's; R rows have room."""

    room: int
    used: Any  # i64[6]: how many of each there are
    move_end: Any  # i64[R]: where the moves of decision d end
    group_end: Any  # i64[R]: where its groups end
    moves: Any  # MOVE[2R]
    means: Any  # f8[2R]: the mean score of each move
    group_move: Any  # i64[R]: the move, counted within its decision, that a group belongs to
    leaf_end: Any  # i64[R]: where the leaves of group g end
    leaf_row: Any  # i64[R]: the row of a leaf; -1 if its value is known
    leaf_value: Any  # f8[R]: the score of an ended game
    rows: Any  # u8[R, width]
    hashes: Any  # i64[R]
    table: Any  # i64[BUCKETS]: the newest row with a hash
    before: Any  # i64[R]: the next older one


class Scratch(NamedTuple):
    """Working space of one thread."""

    worlds: Any  # STATE[DEEP + 2]
    moves: Any  # MOVE[(DEEP + 2) * max_moves]
    totals: Any  # f8[max_moves]
    counts: Any  # i64[max_moves]
    open: Any  # i64[max_moves]: 1 while more worlds are wanted
    best: Any  # f8[1]: the best leaf of a group, unless a batch is gathered
    left: Any  # i64[DEEP + 2]
    streams: Any  # STREAM[2]: one that is kept to be put back, and the luck of seats that choose at the same time
    leaves: Leaves  # a batch; for networks, the rows of one decision; of one row if only heuristics are asked
    space: Workspace
    search: Any  # cardai.playing.compiled.search.WorldSpace
    tree: Any  # cardai.playing.compiled.tree_search.TreeSpace
    spent: Any  # i64[2P]: the nanoseconds and the decisions of each player of the cast that searches over worlds


@rule
def add(column, index, value):
    """Add to a float64 of a column."""
    set_float(column, index, get_float(column, index) + value)


@rule
def known_row(batch, rows, row):
    """The place of an earlier row of the decision that equals row `row`, or -1. Then the row is noted for later ones.

    `rows`: the rows of the batch.
    """
    key = hash_row(rows, row)
    bucket = key & (BUCKETS - 1)
    first, newest = get(batch.used, FIRST), get(batch.table, bucket)
    other = newest
    while first <= other < row:
        if get(batch.hashes, other) == key and same_row(rows, other, row):
            return other
        older = get(batch.before, other)
        if older >= other:
            break
        other = older
    set(batch.hashes, row, key)
    set(batch.before, row, newest if first <= newest < row else -1)
    set(batch.table, bucket, row)
    return -1


@rule
def score_leaf(judge, scratch, state, seat, repeats):
    """The score of a position by a network. `repeats`: whether positions may occur again in the decision.

    Rows and scores of the decision stand in the batch, as many as there is room for; `used[LEAVES]` counts positions.
    """
    batch = scratch.leaves
    used, rows = batch.used, (batch.rows[0], get(judge.network, FEATURES))
    leaf, row = get(used, LEAVES), get(used, ROWS)
    set(used, LEAVES, leaf + 1)
    clear_row(rows, row)
    call_encode(judge.call, state, seat, rows, row)
    if not repeats:
        return score_row(judge.network, at(rows, row), leaf == 0, scratch.space)
    other = known_row(batch, rows, row)
    if other >= 0:
        return get_float(batch.leaf_value, other)
    score = score_row(judge.network, at(rows, row), leaf == 0, scratch.space)
    set_float(batch.leaf_value, row, score)
    set(used, ROWS, min(row + 1, batch.room - 1))
    return score


@rule
def visit(rules, judge, scratch, state, seat, is_settled, repeats):
    """Add a leaf to the current group. Returns False if the batch has no room for it.

    Evaluators are not asked about a finished game: its score is known.
    """
    if judge.kind == VALUE:
        set_float(scratch.best, 0, max(get_float(scratch.best, 0), call_score(judge.call, state, seat)))
        return True
    is_over = is_settled and turn_of(state) < 0
    if judge.kind == NETWORK:
        if is_over:
            score = call_score(get(rules.calls, SCORE), state, seat)
        else:
            score = score_leaf(judge, scratch, state, seat, repeats)
        if not score <= get_float(scratch.best, 0):  # also if it is not a number
            set_float(scratch.best, 0, score)
        return True
    batch = scratch.leaves
    used = batch.used
    leaf, row = get(used, LEAVES), get(used, ROWS)
    if leaf >= batch.room or row >= batch.room:
        return False
    set(used, LEAVES, leaf + 1)
    if is_over:
        set(batch.leaf_row, leaf, -1)
        set_float(batch.leaf_value, leaf, call_score(get(rules.calls, SCORE), state, seat))
        return True
    clear_row(batch.rows, row)
    call_encode(judge.call, state, seat, batch.rows, row)
    other = known_row(batch, batch.rows, row)
    set(batch.leaf_row, leaf, row if other < 0 else other)
    if other < 0:
        set(used, ROWS, row + 1)
    return True


@rule
def visit_continuations(rules, judge, scratch, state, seat, repeats):
    """Take in every position the seat can reach from the middle of its decision, at most DEEP choices deep."""
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
        elif not visit(rules, judge, scratch, trial, seat, True, repeats):
            return False


@separate
def show_choices(rules, state, seat, scratch, bits):
    """Let the others choose evenly at random until the choice of `seat` is shown. `bits`: their luck."""
    stream, first = at(scratch.streams, 1), rules.max_moves  # space 1 of the moves, in which nothing stands
    seed_stream(stream, bits)
    while turn_of(state) >= 0 and waits(rules, state, seat):
        n = abs(legal_at(rules, state, scratch.moves, first))
        if n == 0:
            return
        play_move(rules, state, at(scratch.moves, first + below_of(stream, n)))


@rule
def end_group(judge, scratch, group, i):
    """Close the current group, which belongs to move `i`. Returns False if the batch has no room for it."""
    if judge.kind != BATCH:
        add(scratch.totals, i, get_float(scratch.best, 0))
        set(scratch.counts, i, get(scratch.counts, i) + 1)
        return True
    batch = scratch.leaves
    if group >= batch.room:
        return False
    set(batch.group_move, group, i)
    set(batch.leaf_end, group, get(batch.used, LEAVES))
    return True


@rule
def look_ahead(rules, look, state, scratch, stream):
    """Play every legal move of the seat to move in its worlds and collect the states that follow.

    Returns how many legal moves there are, or -1 if the batch has no room. The moves stand in `scratch.moves`. Groups
    go to `scratch.leaves`, from used[GROUPS] on, if a batch is gathered, otherwise to `scratch.totals` and `counts`. A
    single move is not judged.
    """
    seat, group, judge = turn_of(state), get(scratch.leaves.used, GROUPS), look.judge
    settles, worlds = look.settles, look.worlds
    view, trial = at(scratch.worlds, 0), at(scratch.worlds, 1)
    if look.peeks:
        copy(view, state, rules.state_size)
    else:
        make_world(rules, view, state, seat, stream)
    n = abs(legal_moves(rules, view, scratch.moves, 0))
    together, bits = n > 1 and chooses_together(rules, view), np.uint64(0)
    if together:
        settles, worlds = True, max(worlds, TOGETHER_WORLDS)
    for i in range(n):
        set_float(scratch.totals, i, 0.0)
        set(scratch.counts, i, 1 if n == 1 else 0)
        set(scratch.open, i, 1)
    for world in range(worlds if n > 1 else 0):
        if world > 0 and not look.peeks:
            make_world(rules, view, state, seat, stream)
        if together:
            unseal(view, rules.sealed)
            bits = next_of(stream)
        for i in range(n):
            if get(scratch.open, i) == 0:
                continue
            copy(trial, view, rules.state_size)
            begin_ply(trial)
            call_act(get(rules.calls, ACT), trial, at(scratch.moves, i))
            set_float(scratch.best, 0, -np.inf)
            if not settles:
                fits = visit(rules, judge, scratch, trial, seat, False, worlds > 1)
            else:
                call_settle(get(rules.calls, SETTLE), trial)
                if together:
                    show_choices(rules, trial, seat, scratch, bits)
                # If nothing hidden was turned up to this seat, one world says it all.
                set(scratch.open, i, (revealed_of(trial) >> seat) & 1)
                if goes_on(trial, seat):
                    fits = visit_continuations(rules, judge, scratch, trial, seat, worlds > 1)
                else:
                    fits = visit(rules, judge, scratch, trial, seat, True, worlds > 1)
            if not (fits and end_group(judge, scratch, group, i)):
                return -1
            group += 1
    if judge.kind == BATCH:
        set(scratch.leaves.used, GROUPS, group)
    return n


@rule
def pick_best(rules, n, scratch, chosen, stream):
    """Copy the move with the highest mean to `chosen`. Ties are broken evenly."""
    best, ties, picked = -np.inf, 0, 0
    for i in range(n):
        mean = get_float(scratch.totals, i) / get(scratch.counts, i)
        if mean > best:
            best, ties, picked = mean, 1, i
        elif mean == best:
            ties += 1
            if below_of(stream, ties) == 0:
                picked = i
    copy(chosen, at(scratch.moves, picked), rules.move_size)


@rule
def pick_softly(rules, n, scratch, chosen, stream, temperature):
    """Copy a move to `chosen`, drawn with probabilities proportional to exp(mean / temperature)."""
    best, total = -np.inf, 0.0
    for i in range(n):
        best = max(best, get_float(scratch.totals, i) / get(scratch.counts, i))
    for i in range(n):
        total += np.exp((get_float(scratch.totals, i) / get(scratch.counts, i) - best) / temperature)
        set_float(scratch.totals, i, total)
    mark, picked = total * uniform_of(stream), 0
    while picked < n - 1 and get_float(scratch.totals, picked) <= mark:
        picked += 1
    copy(chosen, at(scratch.moves, picked), rules.move_size)


@rule
def pick(rules, n, scratch, chosen, stream, epsilon, temperature):
    """Copy a move to `chosen` by the means in `scratch`: the best one, unless the player explores.

    With probability `epsilon` any move is as likely; a `temperature` above 0 draws by softmax of the means.
    """
    if epsilon > 0.0 and uniform_of(stream) < epsilon:
        copy(chosen, at(scratch.moves, below_of(stream, n)), rules.move_size)
    elif temperature > 0.0:
        pick_softly(rules, n, scratch, chosen, stream, temperature)
    else:
        pick_best(rules, n, scratch, chosen, stream)


@rule
def compare_moves(rules, look, state, scratch, stream):
    """Look ahead by a heuristic or a network. The moves, `totals` and `counts` stand in `scratch`.

    Returns how many legal moves there are, and the work done: 1 plus the positions judged, or -1 if a network's score
    is not a number.
    """
    used = scratch.leaves.used
    set(used, FIRST, 0)
    set(used, LEAVES, 0)
    set(used, ROWS, 0)
    n = look_ahead(rules, look, state, scratch, stream)
    work = 1
    for i in range(n if n > 1 else 0):
        if np.isnan(get_float(scratch.totals, i)):
            return n, -1
        work += get(scratch.counts, i)
    return n, work


@rule
def compare(rules, look, state, scratch, stream, chosen, epsilon, temperature):
    """Choose a move by a heuristic or a network.

    Returns the work done, as `compare_moves` does, or 0 if there is no legal move.
    """
    n, work = compare_moves(rules, look, state, scratch, stream)
    if n == 0:
        return 0
    if work > 0:
        pick(rules, n, scratch, chosen, stream, epsilon, temperature)
    return work


@rule
def add_decision(rules, look, state, scratch, stream):
    """Add a decision to the batch. Returns False if there is no room for it. A heuristic's means are known at once."""
    batch = scratch.leaves
    used = batch.used
    decision, move = get(used, DECISIONS), get(used, MOVES)
    set(used, FIRST, get(used, ROWS))
    n = look_ahead(rules, look, state, scratch, stream)
    if n < 0 or move + n > 2 * batch.room or decision >= batch.room:
        return False
    for i in range(n):
        copy(at(batch.moves, move + i), at(scratch.moves, i), rules.move_size)
        if look.judge.kind != BATCH:
            set_float(batch.means, move + i, get_float(scratch.totals, i) / get(scratch.counts, i))
    set(batch.move_end, decision, move + n)
    set(batch.group_end, decision, get(used, GROUPS))
    set(used, DECISIONS, decision + 1)
    set(used, MOVES, move + n)
    return True


@rule
def gather(rules, look, pending, count, scratch):
    """Fill an empty batch with decisions. Returns how many of them there was room for.

    The stream of a decision that does not fit stays as it was, so that the decision sees the same worlds later.
    """
    saved, used = at(scratch.streams, 0), scratch.leaves.used
    for i in range(count):
        state, stream = at(pending.states, get(pending.picked, i)), at(pending.streams, get(pending.places, i))
        groups, leaves, rows = get(used, GROUPS), get(used, LEAVES), get(used, ROWS)
        copy(saved, stream, 8)
        if not add_decision(rules, look, state, scratch, stream):
            copy(stream, saved, 8)
            set(used, GROUPS, groups)
            set(used, LEAVES, leaves)
            set(used, ROWS, rows)
            return i
    return count


@rule
def weigh(scores, scratch):
    """Compute the mean of each move of the batch, over worlds, of its best leaf. `scores`: f8[rows]."""
    batch = scratch.leaves
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
            add(scratch.totals, i, best)
            set(scratch.counts, i, get(scratch.counts, i) + 1)
            group += 1
        for i in range(n):
            set_float(batch.means, move + i, get_float(scratch.totals, i) / max(1, get(scratch.counts, i)))
        move += n


@rule
def choose(rules, epsilon, temperature, pending, chosen, scratch):
    """Copy to chosen[d] the move of each decision of the batch.

    Returns the first decision without a legal move, or -1.
    """
    batch, move = scratch.leaves, 0
    for decision in range(get(batch.used, DECISIONS)):
        n, place = get(batch.move_end, decision) - move, get(pending.places, decision)
        if n == 0:
            return decision
        for i in range(n):
            copy(at(scratch.moves, i), at(batch.moves, move + i), rules.move_size)
            set_float(scratch.totals, i, get_float(batch.means, move + i))
            set(scratch.counts, i, 1)
        explores = ply_of(at(pending.states, get(pending.picked, decision))) < get(pending.limits, place)
        stream, heat = at(pending.streams, place), temperature if explores else 0.0
        pick(rules, n, scratch, at(chosen, decision), stream, epsilon if explores else 0.0, heat)
        move += n
    return -1
