"""The compiled loops that play games: one driver for every game, called with the addresses of its rules.

The tuples below are declared with NumPy arrays and handed over by `lend`; `cardai.playing.table.many` is the Python
side.
"""

from typing import Any, NamedTuple

import numpy as np

from cardai.game.compiled.chance import EXPLORING, SEAT, derived
from cardai.game.compiled.native import (
    at,
    call_choose,
    call_deal,
    call_is_open,
    call_score,
    call_separate,
    clear,
    copy,
    get,
    get_float,
    guessed,
    ply_of,
    row_of,
    seed_state,
    seed_stream,
    set,
    set_float,
    turn_of,
    uniform_of,
)
from cardai.game.compiled.rules import DEAL, SCORE, is_among, legal_moves, make_view, make_world, play_move
from cardai.playing.compiled.lookahead import add, compare
from cardai.playing.compiled.players import NATIVE, OUTSIDE, SEARCH, UNIFORM
from cardai.playing.compiled.search import choose_evenly, look_of
from cardai.rules import inlined, mixed, rule

# Where a slot stands when the driver comes back.
NEXT, RUNNING, WAITING, ASKED, DONE, LOG_FULL, EMPTY, STUCK, ILLEGAL, NO_NUMBER = range(10)

# How a game came out (0: not yet).
FINISHED, ENDLESS = 1, 2

ALL_ALONG = 1 << 40  # more plies than any game has


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
    rated: int  # how many outcomes are noted
    outcomes: Any  # i64[rated]: their addresses
    values: Any  # f8[rated, total, seats]: what they were


class Order(NamedTuple):
    """What the driver is asked to do."""

    stride: int  # slot s plays games s, s + stride, ...
    max_plies: int
    log_length: int  # 0 when not recording
    checked: bool  # verify every move of every player
    tally: bool  # count legal moves


@inlined
def decide(rules, cast, player, state, params, index, explores, scratch, stream, chosen):
    """Let a player of the cast choose a move.

    Returns the work done, a measure of time spent, 0 if there is no legal move, or -1 if a network's score is not a
    number.
    """
    kind = get(cast.kinds, player)
    if kind == NATIVE:
        clear(chosen, rules.move_size)
        view = at(scratch.worlds, 0)
        if get(cast.sees_own, player) != 0:
            make_view(rules, get(cast.blank, 0), view, state, turn_of(state))
        else:
            make_world(rules, view, state, turn_of(state), stream)
        width = get(cast.widths, player)
        own = row_of(params, index, cast.width, width)
        call_choose(get(cast.calls, player), view, chosen, own, 0, width, stream)
        return 1
    if kind == UNIFORM:
        return 1 if choose_evenly(rules, state, scratch, 0, stream, chosen) > 0 else 0
    epsilon = get_float(cast.epsilon, player) if explores else 0.0
    temperature = get_float(cast.temperature, player) if explores else 0.0
    if kind == SEARCH:
        arguments = rules, cast, player, state, scratch, stream, chosen, epsilon, temperature
        return call_separate(get(cast.search, player), arguments)
    return compare(rules, look_of(cast, player, False), state, scratch, stream, chosen, epsilon, temperature)


@rule
def deal_game(rules, games, game, state):
    """A freshly dealt state for one of the games."""
    copy(state, at(games.blank, 0), rules.state_size)
    seed_state(state, mixed(get(games.seeds, game)))
    call_deal(get(rules.calls, DEAL), state)


@rule
def exploring_plies(until, seed):
    """Returns the ply from which a game's players no longer explore, drawn evenly from 0..`until` by the game's seed.

    If `until` is -1, they explore in the whole game.
    """
    if until < 0:
        return ALL_ALONG
    return np.int64(np.float64(derived(seed, EXPLORING, 0) >> np.uint64(11)) * 2.0**-53 * (until + 1))


@rule
def seat_players(cast, games, slots, slot, game):
    """Give each seat of a slot its own random stream and its player's parameters.

    An evenly random player shows its stream to nobody, so that its stream may begin at a number that is cheap to make.
    """
    seats = games.seats
    for seat in range(seats):
        stream = at(slots.streams, slot * seats + seat)
        player = get(games.lineups, game * games.seats + seat)
        if get(cast.kinds, player) == UNIFORM:
            seed_stream(stream, mixed(get(games.seeds, game) ^ mixed(seat + 1)))
        else:
            seed_stream(stream, derived(get(games.seeds, game), SEAT, seat))
        for k in range(get(cast.widths, player)):
            value = get_float(cast.params, player * cast.width + k)
            drawn = get(cast.randomised, player)
            if drawn != 0 and (drawn >> (k + 1)) & 1:
                value = 1.0 + np.floor((2.0 * value - 1.0) * uniform_of(stream))
            elif drawn != 0:
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
def rate_game(rules, games, game, state):
    """Note every seat's score and outcomes of a game that is over."""
    for seat in range(games.seats):
        place = game * games.seats + seat
        set_float(games.scores, place, call_score(get(rules.calls, SCORE), state, seat))
        for i in range(games.rated):
            value = call_score(get(games.outcomes, i), state, seat)
            set_float(games.values, i * games.total * games.seats + place, value)


@rule
def advance(rules, cast, games, slots, scratch, order, first, end, budget):
    """Play the games of slots first..end-1 until each waits or is done, or the budget is spent.

    Returns how many decisions were made.
    """
    seats = games.seats
    decisions, likely_turn = 0, 0
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
                likely_turn = turn_of(state)
                seat_players(cast, games, slots, slot, game)
                set(slots.status, slot, RUNNING)
            if get(slots.status, slot) != RUNNING:
                break
            game, turn, ply = get(slots.game, slot), turn_of(state), ply_of(state)
            if turn < 0:
                rate_game(rules, games, game, state)
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
            turn = guessed(turn, likely_turn)
            likely_turn = turn + 1 if turn + 1 < seats else 0
            player = get(games.lineups, game * games.seats + turn)
            if get(cast.kinds, player) == OUTSIDE or (
                get(cast.stops, player) != 0 and call_is_open(get(cast.is_open, 0), state) != 0
            ):
                set(slots.status, slot, WAITING)
                break
            if order.tally:
                count_choices(rules, games, game, state, scratch)
            place = slot * seats + turn
            explores, stream = ply < get(slots.limits, place), at(slots.streams, place)
            work = decide(rules, cast, player, state, slots.params, place, explores, scratch, stream, move)
            if work <= 0:
                set(slots.status, slot, STUCK if work == 0 else NO_NUMBER)
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
def commit(rules, games, slots, picked, count, order, checked, scratch):
    """Play the chosen moves of slots that wait for an outside player.

    Returns the first slot whose move is illegal, or -1. Without `checked` the moves are known to be legal.
    """
    for i in range(count):
        slot = get(picked, i)
        state, move = at(slots.states, slot), at(slots.chosen, slot)
        if order.tally:
            count_choices(rules, games, get(slots.game, slot), state, scratch)
        if checked and not is_among(rules, state, move, scratch.moves, 0):
            return slot
        if order.log_length > 0:
            copy(at(slots.log, slot * order.log_length + ply_of(state)), move, rules.move_size)
        play_move(rules, state, move)
        set(slots.status, slot, RUNNING)
    return -1


@rule
def count_leaves(rules, worlds, moves, left, depth):
    """Returns how many move sequences of length `depth` start at worlds[0] (perft).

    `left`: i64[depth + 1] of working space.
    """
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
