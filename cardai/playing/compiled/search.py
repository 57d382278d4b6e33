"""Search over worlds, compiled: the best moves are played on in sampled worlds, and the best mean is played.

The seat to move compares its moves by one ply of lookahead and plays the best `most` of them in the same worlds, with
the same random numbers. In each world every seat moves by a model of it, up to the seat's next choice: the best
position there, by its own judge, is the value of the move in that world. `turns` choices may be played over before.
Forced moves, and choices in the middle of a decision, are no choices here. A line in which the game ends, or `decided`
gives the seat's score, is worth that score. A heuristic judges such a position too, since its values have a scale of
their own. If the models play to the end of the game, this is pure Monte Carlo (a rollout).

With a `decay` above 0 a line goes on to the end of the game and its value is the mean of what the judge says at this
and all later choices of the seat, and of the score: the first has the weight 1 - decay, each later one `decay` of the
weight before, and the score what is left.

Models that look ahead do so in the world at hand, so nothing is sampled again inside a world. Of choices at the same
time (`Rules.together`) each seat makes its own by its model, and no model sees that of another seat.

A *line* is one move in one world. `play_on` plays a line until it has a value, or until an evaluator outside compiled
code must be asked: then the caller asks it and lets the line go on (`cardai.playing.table.searching`).

Rules that let somebody choose return the *work* done, a measure of the time spent: 0 if there is no legal move,
NOT_A_NUMBER if a network's score is none.

Source: the thesis samples the draws of a move; search over sampled worlds is determinization (Ginsberg 2001). Halving
is sequential halving (Karnin, Koren and Somekh 2013). The mean over choices is the lambda-return of TD(lambda) (Sutton
1988), with `decay` for lambda.
"""

from typing import Any, NamedTuple

import numpy as np

from cardai.game.compiled.native import (
    at,
    below_of,
    call_choose,
    call_score,
    clear,
    copy,
    copy_small,
    get,
    get_float,
    is_midway,
    next_of,
    now,
    ply_of,
    row_of,
    seed_stream,
    separate_address,
    set,
    set_float,
    turn_of,
    unseal,
)
from cardai.game.compiled.rules import SCORE, CompiledRules, chooses_together, legal_moves, lend, make_world, play_move
from cardai.playing.compiled.lookahead import NETWORK, VALUE, Judge, Look, add, compare, compare_moves, pick, pick_best
from cardai.playing.compiled.players import NATIVE, ONE_PLY, OUTSIDE, UNIFORM
from cardai.rules import inlined, rule, separate

# Where a line stands: it has a value; a seat's model must be asked outside; the judge of its last position must be.
VALUED, ASKS, LEAF = range(3)

NOT_A_NUMBER = -1  # in place of work, if a network's score is none

DECAY = 0  # the place of `decay` among the parameters of a search


class Lines(NamedTuple):
    """L lines: moves being played on in worlds."""

    states: Any  # STATE[L]
    streams: Any  # STREAM[L]: the luck of the models
    seats: Any  # i64[L]: the seat that searches
    left: Any  # i64[L]: choices of its own still to be played over; -1: all
    values: Any  # f8[L]: the score of the seat, in [0, 1], as far as it is known
    weights: Any  # f8[L]: of what is not known yet
    status: Any  # i64[L]: VALUED, ASKS or LEAF


class WorldSpace(NamedTuple):
    """Working space of one thread for the search of one decision."""

    world: Any  # STATE[1]
    chosen: Any  # MOVE[1]
    moves: Any  # MOVE[max_moves]: those that are played on, the best first
    totals: Any  # f8[max_moves]: the sum of the values of each
    counts: Any  # i64[max_moves]: and in how many worlds
    lines: Lines  # of one line


@inlined
def choose_evenly(rules, state, scratch, level, stream, chosen):
    """Copy a legal move, drawn evenly, to `chosen`. Returns 0 if there is no legal move."""
    n = abs(legal_moves(rules, state, scratch.moves, level))
    if n > 0:
        copy_small(chosen, at(scratch.moves, level * rules.max_moves + below_of(stream, n)), rules.move_size)
    return n


@rule
def look_of(cast, player, in_world):
    """How a player looks one ply ahead inside compiled code. `in_world`: in a world, of which it sees everything."""
    network, settles, peeks = get(cast.networks, player), get(cast.settles, player), get(cast.peeks, player)
    kind, worlds = VALUE if network == 0 else NETWORK, 1 if in_world else get(cast.worlds, player)
    return Look(Judge(kind, get(cast.calls, player), network), settles != 0, in_world or peeks != 0, worlds)


@rule
def choose_in_world(rules, cast, player, state, scratch, stream, chosen):
    """Let a model choose in a world, of which it sees everything. Returns the work."""
    kind = get(cast.kinds, player)
    if kind == NATIVE:
        clear(chosen, rules.move_size)
        width = get(cast.widths, player)
        if chooses_together(rules, state):
            copy(at(scratch.worlds, 0), state, rules.state_size)
            state = at(scratch.worlds, 0)
            unseal(state, rules.sealed)
        own = row_of(cast.params, player, cast.width, width)
        call_choose(get(cast.calls, player), state, chosen, own, 0, width, stream)
        return 1
    if kind == UNIFORM:
        return choose_evenly(rules, state, scratch, 0, stream, chosen)
    return compare(rules, look_of(cast, player, True), state, scratch, stream, chosen, 0.0, 0.0)


@rule
def judge_choice(rules, cast, player, state, scratch, stream):
    """Let the judge of a model compare the moves of a choice in a world. Returns how many, the best mean, the work."""
    n, work = compare_moves(rules, look_of(cast, player, True), state, scratch, stream)
    best = -np.inf
    for i in range(n):
        best = max(best, get_float(scratch.totals, i) / get(scratch.counts, i))
    return n, best, 0 if n == 0 else work


@rule
def known_score(rules, cast, state, seat):
    """The score of a seat if the game is over or has decided it, otherwise -1.

    A game that does not end within its `max_plies` gives nobody anything.
    """
    if turn_of(state) < 0:
        return call_score(get(rules.calls, SCORE), state, seat)
    if ply_of(state) >= rules.max_plies:
        return 0.0
    decided = get(cast.decided, 0)
    return call_score(decided, state, seat) if decided != 0 else -1.0


@rule
def add_value(lines, line, value, decay):
    """Count what is known now in the value of a line, which has its value if nothing later counts."""
    weight = get_float(lines.weights, line)
    add(lines.values, line, weight * (1.0 - decay) * value)
    set_float(lines.weights, line, weight * decay)
    if decay == 0.0:
        set(lines.status, line, VALUED)


@rule
def play_on(rules, cast, own, others, decay, lines, line, scratch):
    """Play a line until it has a value or somebody outside compiled code must be asked. `lines.status` says which.

    `own`, `others`: the players that stand for the seat that searches and for the other seats. Returns the work.
    """
    state, seat, stream = at(lines.states, line), get(lines.seats, line), at(lines.streams, line)
    move, work = at(scratch.search.chosen, 0), 1
    while True:
        score = known_score(rules, cast, state, seat)
        if score >= 0.0:
            if get(lines.left, line) >= 0 and get(cast.kinds, own) == ONE_PLY and get(cast.networks, own) == 0:
                score = call_score(get(cast.calls, own), state, seat)
            add_value(lines, line, score, 0.0)
            return work
        is_own, is_leaf, left = turn_of(state) == seat, False, get(lines.left, line)
        if is_own and left >= 0:
            n = abs(legal_moves(rules, state, scratch.moves, 0))
            if n == 1:
                play_move(rules, state, at(scratch.moves, 0))
                continue
            if not is_midway(state):
                is_leaf = left == 0
                set(lines.left, line, max(0, left - 1))
        player = own if is_own else others
        if get(cast.kinds, player) == OUTSIDE:
            set(lines.status, line, LEAF if is_leaf else ASKS)
            return work
        if is_leaf:
            n, best, took = judge_choice(rules, cast, player, state, scratch, stream)
            if took <= 0:
                return took
            work += took
            add_value(lines, line, best, decay)
            if decay == 0.0:
                return work
            pick_best(rules, n, scratch, move, stream)
            play_move(rules, state, move)
            continue
        took = choose_in_world(rules, cast, player, state, scratch, stream, move)
        if took <= 0:
            return took
        work += took
        play_move(rules, state, move)


@rule
def begin_line(rules, world, move, seat, turns, bits, lines, line):
    """Play a move in a world and set up its line. `bits`: the luck of the models, the same for all moves of a world."""
    state = at(lines.states, line)
    copy(state, world, rules.state_size)
    if chooses_together(rules, state):
        unseal(state, rules.sealed)
    play_move(rules, state, move)
    seed_stream(at(lines.streams, line), bits)
    set(lines.seats, line, seat)
    set(lines.left, line, turns)
    set_float(lines.values, line, 0.0)
    set_float(lines.weights, line, 1.0)


@rule
def sort_moves(rules, space, first, count, scratch):
    """Put moves first..count-1 of the search in order, the best mean first. Equal ones keep their order."""
    held = at(space.chosen, 0)
    for i in range(first + 1, count):
        total, tried, k = get_float(space.totals, i), get(space.counts, i), i
        copy(held, at(space.moves, i), rules.move_size)
        while k > first and get_float(space.totals, k - 1) / get(space.counts, k - 1) < total / tried:
            copy(at(space.moves, k), at(space.moves, k - 1), rules.move_size)
            set_float(space.totals, k, get_float(space.totals, k - 1))
            set(space.counts, k, get(space.counts, k - 1))
            k -= 1
        copy(at(space.moves, k), held, rules.move_size)
        set_float(space.totals, k, total)
        set(space.counts, k, tried)


@rule
def candidates(rules, cast, player, state, scratch, stream):
    """Put the moves that are played on into the space of the search, without values yet. Returns how many, the work."""
    space, own, most = scratch.search, get(cast.own, player), get(cast.most, player)
    if most > 0 and get(cast.kinds, own) == ONE_PLY:
        n, work = compare_moves(rules, look_of(cast, own, False), state, scratch, stream)
    else:
        make_world(rules, at(space.world, 0), state, turn_of(state), stream)
        n, work = abs(legal_moves(rules, at(space.world, 0), scratch.moves, 0)), 1
        for i in range(n):
            set_float(scratch.totals, i, 0.0)
            set(scratch.counts, i, 1)
    if work < 0:
        return n, NOT_A_NUMBER
    for i in range(n):
        copy(at(space.moves, i), at(scratch.moves, i), rules.move_size)
        set_float(space.totals, i, get_float(scratch.totals, i))
        set(space.counts, i, get(scratch.counts, i))
    if 0 < most < n:
        sort_moves(rules, space, 0, n, scratch)
        n = most
    for i in range(n):
        set_float(space.totals, i, 0.0)
        set(space.counts, i, 0)
    return n, work


@rule
def rounds_of(n):
    """How many times `n` moves can be halved, rounded up: the rounds of sequential halving."""
    rounds = 0
    while (1 << rounds) < n:
        rounds += 1
    return max(1, rounds)


@rule
def try_world(rules, cast, player, state, alive, scratch, stream):
    """Play the first `alive` moves of the search on in a new world, and add their values. Returns the work."""
    space, seat, work = scratch.search, turn_of(state), 0
    decay = get_float(row_of(cast.params, player, cast.width, 1), DECAY)
    make_world(rules, at(space.world, 0), state, seat, stream)
    bits = next_of(stream)
    for i in range(alive):
        world, turns = at(space.world, 0), get(cast.turns, player)
        begin_line(rules, world, at(space.moves, i), seat, turns, bits, space.lines, 0)
        took = play_on(rules, cast, get(cast.own, player), get(cast.others, player), decay, space.lines, 0, scratch)
        if took <= 0:
            return took
        work += took
        add(space.totals, i, get_float(space.lines.values, 0))
        set(space.counts, i, get(space.counts, i) + 1)
    return work


@rule
def compare_in_worlds(rules, cast, player, state, scratch, stream):
    """Compare the best moves of the seat to move over worlds. They stand in `scratch.search`, the best ones first.

    Returns how many are left at the end, each tried in as many worlds as the others, and the work.
    """
    space, worlds = scratch.search, get(cast.worlds, player)
    n, work = candidates(rules, cast, player, state, scratch, stream)
    if n <= 1 or work < 0:
        return n, work if n > 0 else 0
    rounds, alive, total = rounds_of(n) if get(cast.halving, player) != 0 else 1, n, n * worlds
    for i in range(rounds):
        for _ in range(max(1, total // (rounds * alive))):
            took = try_world(rules, cast, player, state, alive, scratch, stream)
            if took <= 0:
                return n, took
            work += took
        sort_moves(rules, space, 0, alive, scratch)
        if i < rounds - 1:
            alive = (alive + 1) // 2
    return alive, work


@rule
def note_time(scratch, player, nanoseconds):
    """Note what a decision with a choice took."""
    spent = scratch.spent
    set(spent, 2 * player, get(spent, 2 * player) + nanoseconds)
    set(spent, 2 * player + 1, get(spent, 2 * player + 1) + 1)


@rule
def put_back(rules, n, scratch):
    """Put the first `n` moves of the search, with their sums and counts, to where a move is picked."""
    space = scratch.search
    for i in range(n):
        copy(at(scratch.moves, i), at(space.moves, i), rules.move_size)
        set_float(scratch.totals, i, get_float(space.totals, i))
        set(scratch.counts, i, max(1, get(space.counts, i)))


@separate
def choose_by_search(rules, cast, player, state, scratch, stream, chosen, epsilon, temperature):
    """Choose a move by search over worlds; who explores does so among the moves left at the end. Returns the work."""
    start = now()
    n, work = compare_in_worlds(rules, cast, player, state, scratch, stream)
    if n == 0 or work <= 0:
        return 0 if n == 0 else work
    if n > 1:
        note_time(scratch, player, now() - start)
    put_back(rules, n, scratch)
    pick(rules, n, scratch, chosen, stream, epsilon, temperature)
    return work


def search_address(rules: CompiledRules, cast: Any, scratch: Any) -> Any:
    """The address of `choose_by_search`, for a driver that is handed such tuples. They are the same for all games."""
    return separate_address(choose_by_search, (lend(rules), lend(cast), 0, 0, lend(scratch), 0, 0, 0.0, 0.0))
