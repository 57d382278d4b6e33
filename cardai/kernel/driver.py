"""The compiled loops that play games: one driver for every game, called with the addresses of its rules.

Nothing here knows a game. Records are handled by their bytes, arrays by their addresses (`cardai.kernel.native`); the
tuples below are declared with NumPy arrays and handed over by `lend`. `cardai.table.many` is the Python side.
"""

from typing import Any, NamedTuple

import numpy as np

from cardai.kernel.native import (
    at,
    begin_ply,
    below_of,
    call_act,
    call_choose,
    call_deal,
    call_encode,
    call_is_legal,
    call_legal,
    call_resample,
    call_score,
    call_settle,
    clear,
    copy,
    copy_small,
    get,
    get_float,
    is_midway,
    next_of,
    ply_of,
    raw,
    revealed_of,
    row_of,
    same,
    seed_state,
    seed_stream,
    set,
    set_float,
    turn_of,
    uniform_of,
)
from cardai.rule import inlined, mixed, rule

DEAL, LEGAL, ACT, SETTLE, SCORE, RESAMPLE, IS_LEGAL = range(7)  # places in Rules.calls

# How a player decides.
NATIVE, UNIFORM, GREEDY, SAMPLED, PEEKING, ROLLOUT, OUTSIDE = range(7)

# Where a slot stands when the driver comes back.
NEXT, RUNNING, WAITING, DONE, LOG_FULL, EMPTY, STUCK, ILLEGAL = range(8)

# How a game came out (0: not yet).
FINISHED, ENDLESS = 1, 2

EXPLORING = 0xE4B10  # tells the draws of `exploring_plies` from others that a game's seed decides
ALL_ALONG = 1 << 40  # more plies than any game has
DEEP = 4  # how many choices inside one decision are searched; scratch space is laid out for it


class Rules(NamedTuple):
    """A game's compiled rules. `calls`: i64[7] addresses in the order above; sizes in bytes."""

    calls: Any
    has_is_legal: bool
    state_size: int
    move_size: int
    max_moves: int
    max_plies: int


class Cast(NamedTuple):
    """The players of a run, P of them; `calls` holds each one's `choose` or `value`."""

    calls: Any  # i64[P]
    kinds: Any  # i64[P]: NATIVE ... OUTSIDE
    sees_truth: Any  # i64[P]: 1 if it is given the true state
    worlds: Any  # i64[P]: worlds a decision, for SAMPLED and ROLLOUT
    randomised: Any  # i64[P]: 1 if its parameters are drawn anew for each game
    epsilon: Any  # f8[P]: how often any move is played, for players who compare moves
    temperature: Any  # f8[P]: > 0 draws moves by softmax of their worth instead of taking the best
    until: Any  # i64[P]: such a player explores up to a ply drawn for each game from 0..until only; -1: all along
    params: Any  # f8[P, width]
    widths: Any  # i64[P]: how many parameters each one has
    width: int
    playout: Any  # i64[1]: the `choose` that finishes rollouts
    playout_width: int
    has_playout: bool  # False: evenly random moves do


class Scratch(NamedTuple):
    """Working space of one thread."""

    worlds: Any  # STATE[DEEP + 2]
    moves: Any  # MOVE[(DEEP + 2) * max_moves]
    totals: Any  # f8[max_moves]
    counts: Any  # i64[max_moves]
    open: Any  # i64[max_moves]: 1 while more worlds are wanted
    best: Any  # f8[DEEP + 2]
    left: Any  # i64[DEEP + 2]
    streams: Any  # STREAM[1]
    params: Any  # f8[1, playout_width]


class Slots(NamedTuple):
    """B games being played at once and where each one stands."""

    states: Any  # STATE[B]
    streams: Any  # STREAM[B * seats]: each seat's own
    params: Any  # f8[B * seats, width]
    limits: Any  # i64[B * seats]: the ply from which on a seat no longer explores
    chosen: Any  # MOVE[B]
    log: Any  # MOVE[B * log_length]: the moves played, when recording
    status: Any  # i64[B]
    game: Any  # i64[B]: the game being played
    following: Any  # i64[B]: the game after it


class Games(NamedTuple):
    """Games to be played and how they came out."""

    total: int
    seats: int
    seeds: Any  # u8[count] as uint64
    lineups: Any  # i64[count, seats]
    blank: Any  # STATE[1]: seats and options
    scores: Any  # f8[count, seats]
    plies: Any  # i64[count]
    finished: Any  # i64[count]: 0, FINISHED or ENDLESS
    tally: Any  # f8[count, 4]: decisions with a choice, sum of moves there, sum of log10(moves), truncations


class Order(NamedTuple):
    """What the driver is asked to do."""

    stride: int  # slot s plays games s, s + stride, ...
    max_plies: int
    log_length: int  # 0 when not recording
    checked: bool  # verify every move of every player
    tally: bool  # count legal moves


@inlined
def legal_moves(rules, state, moves, level):
    """Write the legal moves into space `level`; how many, negative if there were more."""
    return call_legal(get(rules.calls, LEGAL), state, moves, level * rules.max_moves, rules.max_moves)


@rule
def is_among(rules, state, move, moves, level):
    """Whether a move is legal."""
    if rules.has_is_legal:
        return call_is_legal(get(rules.calls, IS_LEGAL), state, move) != 0
    for i in range(abs(legal_moves(rules, state, moves, level))):
        if same(at(moves, level * rules.max_moves + i), move, rules.move_size):
            return True
    return False


@inlined
def play_move(rules, state, move):
    """Both halves of a move."""
    begin_ply(state)
    call_act(get(rules.calls, ACT), state, move)
    call_settle(get(rules.calls, SETTLE), state)


@inlined
def make_world(rules, world, state, seat, stream):
    """Make `world` a copy of `state` in which `seat` knows what it knows and the rest is dealt anew."""
    copy(world, state, rules.state_size)
    seed_state(world, next_of(stream))
    call_resample(get(rules.calls, RESAMPLE), world, seat, stream)


@rule
def add(column, index, value):
    """Add to a float64 of a column."""
    set_float(column, index, get_float(column, index) + value)


@rule
def goes_on(state, seat):
    """Whether `seat` is in the middle of a decision."""
    return turn_of(state) == seat and is_midway(state)


@rule
def worth(rules, value, state, seat, scratch):
    """A settled state's value; in the middle of a decision, its best continuation's (at most DEEP choices deep)."""
    if not goes_on(state, seat):
        return call_score(value, state, seat)
    best, left = scratch.best, scratch.left
    level = 2
    set_float(best, level, -np.inf)
    set(left, level, abs(legal_moves(rules, state, scratch.moves, level)))
    while True:
        if get(left, level) == 0:
            if level == 2:
                return get_float(best, 2)
            level -= 1
            set_float(best, level, max(get_float(best, level), get_float(best, level + 1)))
            continue
        set(left, level, get(left, level) - 1)
        trial = at(scratch.worlds, level)
        copy(trial, state if level == 2 else at(scratch.worlds, level - 1), rules.state_size)
        play_move(rules, trial, at(scratch.moves, level * rules.max_moves + get(left, level)))
        if goes_on(trial, seat) and level < DEEP:
            level += 1
            set_float(best, level, -np.inf)
            set(left, level, abs(legal_moves(rules, trial, scratch.moves, level)))
        else:
            set_float(best, level, max(get_float(best, level), call_score(value, trial, seat)))


@rule
def list_choices(rules, view, scratch):
    """List the moves of the seat to move, none of them weighed yet (a single one need not be); how many."""
    n = abs(legal_moves(rules, view, scratch.moves, 0))
    for i in range(n):
        set_float(scratch.totals, i, 0.0)
        set(scratch.counts, i, 1 if n == 1 else 0)
        set(scratch.open, i, 1)
    return n


@rule
def pick_best(rules, n, scratch, chosen, stream):
    """Copy the move with the highest mean to `chosen`; ties are broken evenly."""
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
    """Copy a move to `chosen` by the means: the best, or as exploration has it (Cast.epsilon, Cast.temperature)."""
    if epsilon > 0.0 and uniform_of(stream) < epsilon:
        copy(chosen, at(scratch.moves, below_of(stream, n)), rules.move_size)
    elif temperature > 0.0:
        pick_softly(rules, n, scratch, chosen, stream, temperature)
    else:
        pick_best(rules, n, scratch, chosen, stream)


@rule
def choose_by_value(rules, kind, value, worlds, state, scratch, stream, chosen, epsilon, temperature):
    """One-ply search by a heuristic; the work done, in values."""
    seat = turn_of(state)
    view, trial = at(scratch.worlds, 0), at(scratch.worlds, 1)
    if kind == PEEKING:
        copy(view, state, rules.state_size)
    else:
        make_world(rules, view, state, seat, stream)
    n, work = list_choices(rules, view, scratch), 1
    for world in range(worlds if n > 1 else 0):
        if world > 0:
            make_world(rules, view, state, seat, stream)
        for i in range(n):
            if get(scratch.open, i) == 0:
                continue
            copy(trial, view, rules.state_size)
            begin_ply(trial)
            call_act(get(rules.calls, ACT), trial, at(scratch.moves, i))
            if kind == GREEDY:
                add(scratch.totals, i, call_score(value, trial, seat))
            else:
                call_settle(get(rules.calls, SETTLE), trial)
                # If nothing hidden was turned up to this seat, one world says it all.
                set(scratch.open, i, (revealed_of(trial) >> seat) & 1)
                add(scratch.totals, i, worth(rules, value, trial, seat, scratch))
            set(scratch.counts, i, get(scratch.counts, i) + 1)
            work += 1
    if n > 0:
        pick(rules, n, scratch, chosen, stream, epsilon, temperature)
    return work if n > 0 else 0


@inlined
def choose_evenly(rules, state, scratch, level, stream, chosen):
    """Any legal move, each as likely as the others; 0 when there is none."""
    n = abs(legal_moves(rules, state, scratch.moves, level))
    if n > 0:
        copy_small(chosen, at(scratch.moves, level * rules.max_moves + below_of(stream, n)), rules.move_size)
    return n


@rule
def play_out(rules, cast, state, scratch, stream):
    """Play a world to its end, or to `max_plies`, since some players go round in circles; the moves it took."""
    move = at(scratch.moves, 2 * rules.max_moves)
    work = 0
    while turn_of(state) >= 0 and ply_of(state) < rules.max_plies:
        if cast.has_playout:
            clear(move, rules.move_size)
            call_choose(get(cast.playout, 0), state, move, scratch.params, 0, cast.playout_width, stream)
        elif choose_evenly(rules, state, scratch, 1, stream, move) == 0:
            break
        play_move(rules, state, move)
        work += 1
    return work


@rule
def choose_by_rollout(rules, cast, worlds, state, scratch, stream, chosen):
    """Pure Monte Carlo: each move is played out in the same worlds and the best mean score wins; the work done."""
    seat = turn_of(state)
    view, trial, luck = at(scratch.worlds, 0), at(scratch.worlds, 1), at(scratch.streams, 0)
    make_world(rules, view, state, seat, stream)
    n, work = list_choices(rules, view, scratch), 1
    for world in range(worlds if n > 1 else 0):
        if world > 0:
            make_world(rules, view, state, seat, stream)
        bits = next_of(stream)
        for i in range(n):
            copy(trial, view, rules.state_size)
            play_move(rules, trial, at(scratch.moves, i))
            seed_stream(luck, bits)
            work += play_out(rules, cast, trial, scratch, luck)
            if turn_of(trial) < 0:  # a game that does not end is worth nothing
                add(scratch.totals, i, call_score(get(rules.calls, SCORE), trial, seat))
            set(scratch.counts, i, get(scratch.counts, i) + 1)
    pick_best(rules, n, scratch, chosen, stream)
    return work if n > 0 else 0


@inlined
def decide(rules, cast, player, state, params, index, explores, scratch, stream, chosen):
    """Let a player of the cast choose; the work done, 0 when there was no legal move."""
    kind = get(cast.kinds, player)
    if kind == NATIVE:
        clear(chosen, rules.move_size)
        view = state
        if get(cast.sees_truth, player) == 0:
            view = at(scratch.worlds, 0)
            make_world(rules, view, state, turn_of(state), stream)
        width = get(cast.widths, player)
        own = row_of(params, index, cast.width, width)
        call_choose(get(cast.calls, player), view, chosen, own, 0, width, stream)
        return 1
    if kind == UNIFORM:
        return 1 if choose_evenly(rules, state, scratch, 0, stream, chosen) > 0 else 0
    if kind == ROLLOUT:
        return choose_by_rollout(rules, cast, get(cast.worlds, player), state, scratch, stream, chosen)
    worlds = get(cast.worlds, player) if kind == SAMPLED else 1
    epsilon = get_float(cast.epsilon, player) if explores else 0.0
    temperature = get_float(cast.temperature, player) if explores else 0.0
    value = get(cast.calls, player)
    return choose_by_value(rules, kind, value, worlds, state, scratch, stream, chosen, epsilon, temperature)


@rule
def deal_game(rules, games, game, state):
    """A freshly dealt state for one of the games."""
    copy(state, at(games.blank, 0), rules.state_size)
    seed_state(state, mixed(get(games.seeds, game)))
    call_deal(get(rules.calls, DEAL), state)


@rule
def exploring_plies(until, seed):
    """The ply from which on a game's players that explore until then no longer do; `until` -1: never."""
    if until < 0:
        return ALL_ALONG
    return np.int64(np.float64(mixed(np.uint64(seed) ^ np.uint64(EXPLORING)) >> np.uint64(11)) * 2.0**-53 * (until + 1))


@rule
def seat_players(cast, games, slots, slot, game):
    """Give each seat of a slot its own random stream and its player's parameters."""
    seats = games.seats
    for seat in range(seats):
        stream = at(slots.streams, slot * seats + seat)
        seed_stream(stream, mixed(get(games.seeds, game) ^ mixed(seat + 1)))
        player = get(games.lineups, game * games.seats + seat)
        for k in range(get(cast.widths, player)):
            value = get_float(cast.params, player * cast.width + k)
            if get(cast.randomised, player) != 0:
                value = 2.0 * value * uniform_of(stream)
            set_float(slots.params, (slot * seats + seat) * cast.width + k, value)
        set(slots.limits, slot * seats + seat, exploring_plies(get(cast.until, player), get(games.seeds, game)))


@rule
def count_choices(rules, games, game, state, scratch):
    """Add a decision with more than one legal move to the game's tally."""
    n = legal_moves(rules, state, scratch.moves, 0)
    if abs(n) > 1:
        add(games.tally, 4 * game + 0, 1.0)
        add(games.tally, 4 * game + 1, abs(n))
        add(games.tally, 4 * game + 2, np.log10(abs(n)))
        add(games.tally, 4 * game + 3, n < 0)


@rule
def advance(rules, cast, games, slots, scratch, order, first, end, budget):
    """Play the games of slots first..end-1 until each waits or is done, or the budget is spent; decisions made."""
    seats = games.seats
    decisions = 0
    for slot in range(first, end):
        state, move = at(slots.states, slot), at(slots.chosen, slot)
        while budget > 0:
            if get(slots.status, slot) == NEXT:
                game = get(slots.following, slot)
                if game >= games.total:
                    set(slots.status, slot, EMPTY)
                    break
                set(slots.game, slot, game)
                set(slots.following, slot, game + order.stride)
                deal_game(rules, games, game, state)
                seat_players(cast, games, slots, slot, game)
                set(slots.status, slot, RUNNING)
            if get(slots.status, slot) != RUNNING:
                break
            game, turn, ply = get(slots.game, slot), turn_of(state), ply_of(state)
            if turn < 0:
                for seat in range(seats):
                    set_float(games.scores, game * seats + seat, call_score(get(rules.calls, SCORE), state, seat))
                set(games.plies, game, ply)
                set(games.finished, game, FINISHED)
                set(slots.status, slot, DONE if order.log_length > 0 else NEXT)
                continue
            if ply >= order.max_plies:
                set(games.finished, game, ENDLESS)
                set(slots.status, slot, NEXT)
                continue
            if order.log_length > 0 and ply >= order.log_length:
                set(slots.status, slot, LOG_FULL)
                break
            player = get(games.lineups, game * games.seats + turn)
            if get(cast.kinds, player) == OUTSIDE:
                set(slots.status, slot, WAITING)
                break
            if order.tally:
                count_choices(rules, games, game, state, scratch)
            place = slot * seats + turn
            explores, stream = ply < get(slots.limits, place), at(slots.streams, place)
            work = decide(rules, cast, player, state, slots.params, place, explores, scratch, stream, move)
            if work == 0:
                set(slots.status, slot, STUCK)
                break
            if order.checked and not is_among(rules, state, move, scratch.moves, 0):
                set(slots.status, slot, ILLEGAL)
                break
            if order.log_length > 0:
                copy(at(slots.log, slot * order.log_length + ply), move, rules.move_size)
            play_move(rules, state, move)
            decisions += 1
            budget -= work
    return decisions


@rule
def make_worlds(rules, slots, seats, picked, count, worlds):
    """For each of the slots `picked` (`count` of them), the world of the seat to move, into the block `worlds`."""
    for i in range(count):
        slot = get(picked, i)
        state = at(slots.states, slot)
        turn = turn_of(state)
        make_world(rules, at(worlds, i), state, turn, at(slots.streams, slot * seats + turn))


@rule
def commit(rules, slots, picked, count, order, checked, scratch):
    """Play the chosen moves of slots waiting for an outside player; the first slot whose move is illegal, or -1.

    Without `checked` the moves are known to be legal.
    """
    for i in range(count):
        slot = get(picked, i)
        state, move = at(slots.states, slot), at(slots.chosen, slot)
        if checked and not is_among(rules, state, move, scratch.moves, 0):
            return slot
        if order.log_length > 0:
            copy(at(slots.log, slot * order.log_length + ply_of(state)), move, rules.move_size)
        play_move(rules, state, move)
        set(slots.status, slot, RUNNING)
    return -1


@rule
def count_leaves(rules, worlds, moves, left, depth):
    """Perft: how many move sequences of length `depth` start at worlds[0]; `left`: i64[depth + 1] of working space."""
    if depth == 0:
        return 1
    total, level = 0, 0
    set(left, 0, abs(legal_moves(rules, at(worlds, 0), moves, 0)))
    while level >= 0:
        if level == depth - 1 or get(left, level) == 0:
            total += get(left, level) if level == depth - 1 else 0
            level -= 1
            continue
        set(left, level, get(left, level) - 1)
        following = at(worlds, level + 1)
        copy(following, at(worlds, level), rules.state_size)
        play_move(rules, following, at(moves, level * rules.max_moves + get(left, level)))
        level += 1
        set(left, level, 0 if turn_of(following) < 0 else abs(legal_moves(rules, following, moves, level)))
    return total


def lend(arrays: Any) -> Any:
    """A tuple of the kinds above with each array as the driver takes it; the caller keeps the arrays alive."""
    return type(arrays)(*(raw(item) if isinstance(item, np.ndarray) else item for item in arrays))


# Doors: single calls for `Game`, on blocks of one record.


@rule
def door_deal(rules, states, seed):
    """Deal into a blank state that carries its options."""
    seed_state(at(states, 0), mixed(seed))
    call_deal(get(rules.calls, DEAL), at(states, 0))


@rule
def door_legal(rules, states, moves):
    """Write the legal moves; how many, negative if there were more."""
    if turn_of(at(states, 0)) < 0:
        return 0
    return legal_moves(rules, at(states, 0), moves, 0)


@rule
def door_is_legal(rules, states, moves):
    """Whether moves[max_moves] is legal; those before it are working space."""
    if turn_of(at(states, 0)) < 0:
        return False
    return is_among(rules, at(states, 0), at(moves, rules.max_moves), moves, 0)


@rule
def door_play(rules, states, moves, settle):
    """Play one move in place, with or without its second half."""
    state = at(states, 0)
    begin_ply(state)
    call_act(get(rules.calls, ACT), state, at(moves, 0))
    if settle:
        call_settle(get(rules.calls, SETTLE), state)


@rule
def door_resample(rules, states, seat, streams):
    """Deal anew, in place, what a seat cannot know."""
    seed_state(at(states, 0), next_of(at(streams, 0)))
    call_resample(get(rules.calls, RESAMPLE), at(states, 0), seat, at(streams, 0))


@rule
def door_score(rules, states, seat):
    """A seat's score."""
    return call_score(get(rules.calls, SCORE), at(states, 0), seat)


@rule
def door_value(value, states, seat):
    """A heuristic's value."""
    return call_score(value, at(states, 0), seat)


@rule
def door_encode(encode, states, seat, rows):
    """Fill rows[0] from states[0]."""
    call_encode(encode, at(states, 0), seat, rows, 0)
