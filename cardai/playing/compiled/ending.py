"""Perfect play in open positions, compiled: proof-number search with a table of positions, by a game's own rules.

In an open position nothing is hidden from the seats to move and chance decides nothing (`Rules.is_open`). If two seats
still decide and their scores have the same sum in every end, each move has an exact value. The search finds it, or says
that it does not know: a position that comes back on its own line, a list of moves that is not whole, a third seat that
decides and the limit of nodes all leave a value open, and no value is built on one that is open.

Values are scores of the *root seat*, the one to move in the position that is asked about; the other seat makes them
small. A search tests whether a value is greater than a number, `alpha`. It is df-pn (Nagai 2002) with the weak sums of
Ueda et al. (2008): the *proof number* of a position is an estimate of how many positions must still be searched to show
that it is greater, the *disproof number* to show that it is not; 0 means shown, INFINITE that it cannot be. The search
always goes on where least is missing, which suits endings in which one side has few replies.
"""

from typing import Any, NamedTuple

import numpy as np

from cardai.game.compiled.native import (
    at,
    call_is_open,
    call_score,
    call_simplify,
    clear_path,
    copy,
    copy_small,
    get,
    get_float,
    keys_of,
    same,
    seats_of,
    set,
    set_float,
    turn_of,
)
from cardai.game.compiled.rules import SCORE, legal_at, play_move
from cardai.rules import rule

OPEN, UNSEEN = 2.0, 3.0  # in place of a value: it is not known; the game is not over yet
INFINITE = 1 << 40
NO_LIMIT = 1 << 50  # of the numbers of a position
WAYS = 4  # entries of the table in which a position may be stored
ON_LINE = 1 << 40  # in place of the work of an entry: the position lies on the line being searched
TOLERANCE = 1e-9  # sums of scores that differ by less are the same

NODE = np.dtype(
    (
        np.record,
        [
            (name, "i8")
            for name in (
                "is_own",  # 1 if the root seat is to move
                "first",  # the place of its first move in the buffer of moves
                "count",  # how many moves it has; 0 if its value cannot be known
                "proof",
                "disproof",
                "most_proof",  # the search leaves the position once a number reaches its limit
                "most_disproof",
                "following",  # the move being searched
                "is_cut",  # 1 if one of the first moves was enough, so that the others were not looked at
                "unknown",  # how many moves the other number is made of
                "began",  # positions visited before this one
                "one",  # the two halves of its key in the table
                "two",
                "place",  # its entry in the table, or -1
            )
        ]
        + [(name, "f8") for name in ("low", "high")],  # bounds of its value
    )
)
"""A position on the line being searched, and the state of the search in it."""

BRANCH = np.dtype(
    (np.record, [(n, "i8") for n in ("one", "two", "proof", "disproof")] + [("low", "f8"), ("high", "f8")])
)
"""A move of a position on the line: the key of the position after it, its numbers, and the bounds of its value."""

ENTRY = np.dtype(
    (
        np.record,
        [(name, "i8") for name in ("one", "two", "proof", "disproof", "work")]
        + [(name, "f8") for name in ("low", "high", "alpha")],
    )
)
"""What the table holds of a position: its key, its numbers for `alpha`, the positions visited, bounds of its value."""


class SearchSpace(NamedTuple):
    """Working space of a search, for lines of at most D positions."""

    depth: int  # D
    room: int  # M
    simplify: Any  # i64[1]: the address of the game's `simplify`
    has_simplify: bool
    states: Any  # STATE[D + 1]: those of the line; the last one is the root
    moves: Any  # MOVE[M]: the moves of all positions of the line
    seats: Any  # i64[3]: the seat to move at the root; the other one that decides, or -1; 1 once a third one decides
    sums: Any  # f8[2 * 64]: the least and the greatest sum of the root seat's score and that of each other seat


@rule
def begin(rules, space, state):
    """Make `state` the root."""
    root = at(space.states, space.depth)
    copy(root, state, rules.state_size)
    set(space.seats, 0, turn_of(root))
    set(space.seats, 1, -1)
    set(space.seats, 2, 0)
    for seat in range(64):
        set_float(space.sums, 2 * seat, UNSEEN)
        set_float(space.sums, 2 * seat + 1, -UNSEEN)


@rule
def is_sound(space):
    """Whether only two seats decide, and the sum of their scores was the same in every end that was seen."""
    other = get(space.seats, 1)
    if get(space.seats, 2) != 0:
        return False
    return other < 0 or get_float(space.sums, 2 * other + 1) - get_float(space.sums, 2 * other) < TOLERANCE


@rule
def follow(rules, space, parent, move, depth):
    """Play a move of `parent` and make the position after it number `depth` of the line.

    Returns its value for the root seat if the game is over, otherwise UNSEEN.
    """
    child, seat = at(space.states, depth), get(space.seats, 0)
    copy(child, parent, rules.state_size)
    play_move(rules, child, move)
    if turn_of(child) < 0:
        score = call_score(get(rules.calls, SCORE), child, seat)
        for other in range(seats_of(child)):
            if other != seat:
                total = score + call_score(get(rules.calls, SCORE), child, other)
                set_float(space.sums, 2 * other, min(total, get_float(space.sums, 2 * other)))
                set_float(space.sums, 2 * other + 1, max(total, get_float(space.sums, 2 * other + 1)))
        return score
    if space.has_simplify:
        call_simplify(get(space.simplify, 0), child)
    clear_path(child)
    return UNSEEN


@rule
def note_seat(space, turn):
    """Note that a seat decides. Returns False if it is the third one."""
    if turn == get(space.seats, 0) or turn == get(space.seats, 1):
        return True
    if get(space.seats, 1) < 0:
        set(space.seats, 1, turn)
        return True
    set(space.seats, 2, 1)
    return False


@rule
def expand(rules, space, nodes, branches, table, depth, alpha, visited):
    """Prepare the search in position `depth` of the line: list its moves and look up the positions after them.

    Returns the number of positions visited.
    """
    node, state = nodes[depth], at(space.states, depth)
    node.first = nodes[depth - 1].first + nodes[depth - 1].count if depth > 0 else 0
    node.count = 0
    node.is_cut = 0
    node.began = visited
    node.low = 0.0
    node.high = 1.0
    enter(node, table, alpha)
    if (
        depth + 1 >= space.depth
        or node.first + 2 * rules.max_moves > space.room
        or not note_seat(space, turn_of(state))
    ):
        return visited
    n = legal_at(rules, state, space.moves, node.first)
    node.count = max(n, 0)  # a list that is not whole has a negative length
    end = node.first + node.count
    for i in range(node.first, end):
        branch = branches[i]
        branch.one = 0
        branch.two = 0
        value = follow(rules, space, state, at(space.moves, i), depth + 1)
        if value == UNSEEN:
            child = at(space.states, depth + 1)
            one, two = keys_of(child, rules.state_size, get(space.seats, 0), 0)
            branch.one = one
            branch.two = two
            if not look_up(branch, table, alpha):
                replies = abs(legal_at(rules, child, space.moves, end))
                is_own = turn_of(child) == get(space.seats, 0)
                branch.proof = 1 if is_own else max(replies, 1)
                branch.disproof = max(replies, 1) if is_own else 1
        else:
            branch.low = value
            branch.high = value
            judge(branch, alpha)
        if (branch.proof if node.is_own != 0 else branch.disproof) == 0:
            node.is_cut = 1  # this move is enough; those before it are not looked at again
            node.count = i + 1 - node.first
            break
    return visited + max(node.count, 1)


@rule
def judge(branch, alpha):
    """Set the numbers of a move if the bounds of its value say whether it is greater than alpha. Returns if they do."""
    if branch.low > alpha:
        branch.proof = 0
        branch.disproof = INFINITE
        return True
    if branch.high <= alpha:
        branch.proof = INFINITE
        branch.disproof = 0
        return True
    return False


@rule
def look_up(branch, table, alpha):
    """Set the numbers and bounds of a move to those in the table. Returns whether the numbers are there."""
    branch.low = 0.0
    branch.high = 1.0
    first = (branch.two & (len(table) // WAYS - 1)) * WAYS
    for way in range(first, first + WAYS):
        entry = table[way]
        if entry.one == branch.one and entry.two == branch.two:
            branch.low = entry.low
            branch.high = entry.high
            if judge(branch, alpha):
                return True
            if entry.work == ON_LINE:
                branch.proof = INFINITE
                branch.disproof = INFINITE
                return True
            if entry.alpha == alpha:
                branch.proof = entry.proof
                branch.disproof = entry.disproof
                return True
            return False
    return False


@rule
def enter(node, table, alpha):
    """Note in the table that a position lies on the line, if there is room, and take its bounds from there."""
    first = (node.two & (len(table) // WAYS - 1)) * WAYS
    place = first
    for way in range(first, first + WAYS):
        if table[way].one == node.one and table[way].two == node.two:
            place = way
            break
        if table[way].work < table[place].work:
            place = way
    entry = table[place]
    if entry.work == ON_LINE:
        node.place = -1
        return
    node.place = place
    if entry.one == node.one and entry.two == node.two:
        node.low = entry.low
        node.high = entry.high
    entry.one = node.one
    entry.two = node.two
    entry.low = node.low
    entry.high = node.high
    entry.work = ON_LINE


@rule
def leave(node, table, alpha, visited):
    """Store what the search found in a position."""
    if node.place >= 0:
        entry = table[node.place]
        entry.proof = node.proof
        entry.disproof = node.disproof
        entry.alpha = alpha
        entry.low = node.low
        entry.high = node.high
        entry.work = visited - node.began


@rule
def weigh(node, branches):
    """Set a position's numbers, bounds and the move to search next from its moves. Returns the second best number."""
    best, second, most, unknown = INFINITE, INFINITE, 0, 0
    low, high = (0.0, 0.0) if node.is_own != 0 else (1.0, 1.0)
    node.following = -1
    for i in range(node.first, node.first + node.count):
        branch = branches[i]
        own, other = (branch.proof, branch.disproof) if node.is_own != 0 else (branch.disproof, branch.proof)
        if node.is_own != 0:
            low = max(low, branch.low)
            high = max(high, branch.high)
        else:
            low = min(low, branch.low)
            high = min(high, branch.high)
        if other != 0:
            unknown += 1
            most = max(most, other)
        if own < best:
            second = best
            best = own
            node.following = i
        else:
            second = min(second, own)
            if node.following < 0 and 0 < other < INFINITE:
                node.following = i  # the one cannot be shown, but perhaps the other
    if node.count > 0 and (node.is_cut == 0 or node.is_own != 0):
        node.low = max(node.low, low)
    if node.count > 0 and (node.is_cut == 0 or node.is_own == 0):
        node.high = min(node.high, high)
    total = min(most + unknown - 1, INFINITE) if unknown > 0 else 0
    if node.count == 0:
        total = INFINITE
    if best == 0:
        total = INFINITE
    node.proof = best if node.is_own != 0 else total
    node.disproof = total if node.is_own != 0 else best
    node.unknown = unknown
    return second


@rule
def search(rules, space, nodes, branches, table, alpha, limit):
    """Test whether the value of position 0 of the line is greater than alpha.

    `nodes`: NODE[D + 1]. `branches`: BRANCH[M]. `table`: ENTRY[...], WAYS times a power of two. They are changed in
    place. nodes[0] then has bounds of the value; both are on the same side of alpha unless the test failed. Returns the
    number of positions visited, which goes beyond `limit` by the moves of one position at most.
    """
    depth, root = 0, at(space.states, 0)
    one, two = keys_of(root, rules.state_size, get(space.seats, 0), 0)
    nodes[0].one = one
    nodes[0].two = two
    nodes[0].is_own = turn_of(root) == get(space.seats, 0)
    nodes[0].most_proof = NO_LIMIT
    nodes[0].most_disproof = NO_LIMIT
    visited = expand(rules, space, nodes, branches, table, 0, alpha, 0)
    while True:
        node = nodes[depth]
        second = weigh(node, branches)
        if (
            visited >= limit
            or node.following < 0
            or node.proof >= node.most_proof
            or node.disproof >= node.most_disproof
            or node.proof == 0
            or node.disproof == 0
        ):
            leave(node, table, alpha, visited)
            if depth == 0:
                return visited
            depth -= 1
            branch = branches[nodes[depth].following]
            branch.proof = node.proof
            branch.disproof = node.disproof
            branch.low = node.low
            branch.high = node.high
            continue
        branch, child = branches[node.following], nodes[depth + 1]
        follow(rules, space, at(space.states, depth), at(space.moves, node.following), depth + 1)
        child.one = branch.one
        child.two = branch.two
        child.is_own = turn_of(at(space.states, depth + 1)) == get(space.seats, 0)
        more = second + 1 + (second >> 2)
        if node.is_own != 0:
            child.most_proof = min(node.most_proof, more)
            child.most_disproof = node.most_disproof - (node.unknown - 1)
        else:
            child.most_disproof = min(node.most_disproof, more)
            child.most_proof = node.most_proof - (node.unknown - 1)
        depth += 1
        visited = expand(rules, space, nodes, branches, table, depth, alpha, visited)


@rule
def value_of(rules, space, nodes, branches, table, limit, move, alpha):
    """The value of a move of the root for the seat that makes it, or OPEN, and the number of positions visited.

    If the value is at most `alpha`, it is an upper bound. Otherwise it is exact.
    """
    value, visited = follow(rules, space, at(space.states, space.depth), move, 0), 1
    while value == UNSEEN:
        visited += search(rules, space, nodes, branches, table, alpha, limit - visited)
        if nodes[0].high <= alpha:
            value = nodes[0].high
        elif nodes[0].low <= alpha:
            value = OPEN
        elif nodes[0].low >= nodes[0].high:
            value = nodes[0].low
        alpha = nodes[0].low
    return value, visited


@rule
def score_moves(rules, space, nodes, branches, table, limit, states, moves, scores):
    """Score the legal moves of the open position states[0], for the seat to move: f8[max_moves].

    They are written to `moves`. A score is OPEN where the limit of nodes did not suffice. Returns the number of moves,
    negative if the list is not whole; the number of positions visited; and whether the game is one that this search can
    solve, without which the scores and `table` are worthless.
    """
    n, visited = legal_at(rules, at(states, 0), moves, 0), 0
    begin(rules, space, at(states, 0))
    for i in range(n):
        value, took = value_of(rules, space, nodes, branches, table, limit - visited, at(moves, i), 0.0)
        visited += took
        set_float(scores, i, value)
    return n, visited, is_sound(space)


@rule
def better_move(rules, space, nodes, branches, table, limit, moves, count, chosen):
    """The number of a move of the root that is surely better than number `chosen`; -1 if none is known.

    Returns the number of positions visited, too. Moves after `chosen` are searched only for whether they are better.
    """
    value, visited = value_of(rules, space, nodes, branches, table, limit, at(moves, chosen), 0.0)
    best, better = 0.0 if value == OPEN else value, -1
    for i in range(count):
        if best >= 1.0 or visited >= limit:
            break
        if i != chosen:
            other, took = value_of(rules, space, nodes, branches, table, limit - visited, at(moves, i), best)
            visited += took
            if other != OPEN and other > best:
                best = other
                better = i
    if not is_sound(space) or (value == OPEN and best < 1.0):
        better = -1
    return better, visited


@rule
def mend_each(rules, space, nodes, branches, table, limit, states, count, moves, chosen, visits):
    """Replace moves that surely give score away by better ones, in open positions.

    states: STATE[count]. chosen: MOVE[count], changed in place. moves: MOVE[max_moves], working space. visits:
    i64[count], filled with the number of positions visited for each. Returns False if the game is none that this search
    can solve; then `table` is worthless.
    """
    for i in range(count):
        n = legal_at(rules, at(states, i), moves, 0)
        set(visits, i, 0)
        place = 0
        while place < n and not same(at(moves, place), at(chosen, i), rules.move_size):
            place += 1
        if place >= n or n < 2:  # a list that is not whole has a negative length
            continue
        begin(rules, space, at(states, i))
        better, visited = better_move(rules, space, nodes, branches, table, limit, moves, n, place)
        set(visits, i, visited)
        if better >= 0:
            copy_small(at(chosen, i), at(moves, better), rules.move_size)
        if not is_sound(space):
            return False
    return True


@rule
def find_open(is_open, states, picked, count, found):
    """Write which of the positions states[picked[i]] are open and not over: i64[count]."""
    for i in range(count):
        state = at(states, get(picked, i))
        set(found, i, turn_of(state) >= 0 and call_is_open(is_open, state) != 0)
