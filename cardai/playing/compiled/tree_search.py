"""Search in a tree of information sets over sampled worlds, compiled: ISMCTS and EPIMC.

A *place* of the tree stands for a move in an information set: for what the seat to move (the *observer*) sees in a
position, which is the state after the game's rule `blank`, and one of its legal moves there. Worlds in which a seat
sees the same share their places, so no move is chosen by what its seat cannot know. Forced moves have no place.

- *ISMCTS*, information-set Monte-Carlo tree search (Cowling, Powley and Whitehouse 2012): each iteration draws a world,
  goes down by UCB with the number of times that a move was available, adds one place, and plays the game on by a
  model. A judge also gives every move a first value, when its information set is first met. The move tried most
  often is played. With several observers (MO-ISMCTS) each seat chooses by what it sees
  itself; with a single one (SO-ISMCTS) all choices are told apart by what the searching seat sees.
- *EPIMC*, extended perfect-information Monte Carlo (Arjonilla, Saffidine and Cazenave 2024): the game is played on
  with known hands only after `depth` choices. Until then, from the last choices to the first, each information set
  takes the move that is best in the mean over the worlds that it holds. With a depth of 1 it is perfect-information
  Monte Carlo, as `rollout:` is.

All moves of a world are played on with the same random numbers. `work`: as in `cardai.playing.compiled.search`.
"""

from typing import Any, NamedTuple

import numpy as np

from cardai.game.compiled.native import (
    at,
    below_of,
    clear_path,
    copy,
    get,
    get_float,
    is_midway,
    keys_of,
    next_of,
    now,
    ply_of,
    row_of,
    seats_of,
    seed_stream,
    separate_address,
    set,
    set_float,
    turn_of,
    unseal,
)
from cardai.game.compiled.rules import (
    CompiledRules,
    chooses_together,
    legal_moves,
    lend,
    make_view,
    make_world,
    play_move,
)
from cardai.playing.compiled.lookahead import add, compare_moves, pick_best
from cardai.playing.compiled.search import (
    NOT_A_NUMBER,
    choose_in_world,
    judge_choice,
    known_score,
    look_of,
    note_time,
    put_back,
)
from cardai.rules import rule, separate

BONUS, SINGLE, DEPTH = range(3)
"""Its parameters: the factor of UCB's second term, whether there is a single observer, and the depth of EPIMC."""

ROOM = 1 << 16  # of the table of places; half of them are used
STEPS = 4096  # choices in one iteration
NODES = 1 << 12  # positions of EPIMC that are not played on with known hands
EDGES = 1 << 15  # moves from them
DEEPEST = 8


class TreeSpace(NamedTuple):
    """Working space of one thread for the tree of one decision. All have length 1 if nobody searches a tree."""

    first: Any  # i64[ROOM]: an odd hash of observer, view and move; 0 if the place is free
    second: Any  # i64[ROOM]: another hash of them
    visits: Any  # i64[ROOM]: how often the move was tried
    available: Any  # i64[ROOM]: how often it was legal when a move was chosen there
    totals: Any  # f8[ROOM]: the sum of what came of it for the seat that moves
    used: Any  # i64[ROOM]: the places in use
    counts: Any  # i64[3]: of places in use, nodes and edges
    path: Any  # i64[STEPS]: the places of an iteration
    movers: Any  # i64[STEPS]: and who moved there
    values: Any  # f8[seats]: what each seat gets in a world
    left: Any  # i64[seats]: how many choices each has left until it is judged; DONE: it has its value
    nodes: Any  # STATE[NODES]
    luck: Any  # i64[NODES]: the random numbers with which the worlds are played on
    edges: Any  # i64[NODES]: the first edge of each node
    sizes: Any  # i64[NODES]: how many edges it has
    above: Any  # i64[NODES]: the edge that leads to it; -1: none
    wanted: Any  # i64[NODES]: a bit for each seat that chose on the way to it
    levels: Any  # i64[DEEPEST + 2]: the first node of each level
    places: Any  # i64[EDGES]: the place of each edge; in ISMCTS of each move of a choice
    scores: Any  # f8[EDGES, seats]: what each seat gets there


DONE = -2
NO_VALUE = -2  # in place of the number of a move


@rule
def place_of(tree, first, second):
    """The place of a move in an information set, by two hashes. A new one is taken if need be; -1: there is no room."""
    first |= 1
    place = (first >> 1) & (ROOM - 1)
    while get(tree.first, place) != 0:
        if get(tree.first, place) == first and get(tree.second, place) == second:
            return place
        place = (place + 1) & (ROOM - 1)
    count = get(tree.counts, 0)
    if count >= ROOM // 2:
        return -1
    set(tree.first, place, first)
    set(tree.second, place, second)
    set(tree.visits, place, 0)
    set(tree.available, place, 0)
    set_float(tree.totals, place, 0.0)
    set(tree.used, count, place)
    set(tree.counts, 0, count + 1)
    return place


@rule
def forget(tree):
    """Empty the tree."""
    for i in range(get(tree.counts, 0)):
        set(tree.first, get(tree.used, i), 0)
    for i in range(3):
        set(tree.counts, i, 0)


@rule
def view_keys(rules, cast, state, observer, space):
    """Two hashes of what an observer sees in a state. `space`: STATE that is written over."""
    make_view(rules, get(cast.blank, 0), space, state, observer)
    path = 64 * ply_of(space) + observer
    clear_path(space)
    return keys_of(space, rules.state_size, path, path + 1)


@rule
def value_all(rules, cast, world, tree):
    """Note the score of each seat that has no value yet and whose score is known. Returns how many still have none."""
    missing = 0
    for seat in range(seats_of(world)):
        if get(tree.left, seat) == DONE:
            continue
        score = known_score(rules, cast, world, seat)
        if score >= 0.0:
            set_float(tree.values, seat, score)
            set(tree.left, seat, DONE)
        else:
            missing += 1
    return missing


@rule
def play_world_on(rules, cast, player, world, bits, wanted, scratch):
    """Play a world on by the model of a tree search until each wanted seat has a value in `tree.values`.

    `wanted`: a bit for each seat; the others get 0. A seat gets its score, or what its judge says of the best position
    at one of its next choices (`cast.turns`, as in `cardai.playing.compiled.search`). Returns the work.
    """
    tree, model, move, work = scratch.tree, get(cast.own, player), at(scratch.search.chosen, 0), 1
    stream = at(scratch.search.lines.streams, 0)
    seed_stream(stream, np.uint64(bits))
    for seat in range(seats_of(world)):
        set(tree.left, seat, get(cast.turns, player) if (wanted >> seat) & 1 else DONE)
        set_float(tree.values, seat, 0.0)
    while value_all(rules, cast, world, tree) > 0:
        seat, left = turn_of(world), get(tree.left, turn_of(world))
        if left >= 0:
            n = abs(legal_moves(rules, world, scratch.moves, 0))
            if n == 1:
                play_move(rules, world, at(scratch.moves, 0))
                continue
            if left == 0 and not is_midway(world):
                n, best, took = judge_choice(rules, cast, model, world, scratch, stream)
                if took <= 0:
                    return took
                set_float(tree.values, seat, best)
                set(tree.left, seat, DONE)
                pick_best(rules, n, scratch, move, stream)
                work += took
                play_move(rules, world, move)
                continue
            if not is_midway(world):
                set(tree.left, seat, left - 1)
        took = choose_in_world(rules, cast, model, world, scratch, stream, move)
        if took <= 0:
            return took
        work += took
        play_move(rules, world, move)
    return work


@rule
def begin_world(rules, world, state, stream):
    """Draw a world of the seat to move, in which no choice at the same time is made yet. Returns its luck."""
    make_world(rules, world, state, turn_of(state), stream)
    if chooses_together(rules, world):
        unseal(world, rules.sealed)
    return np.int64(next_of(stream) >> np.uint64(1))


@rule
def judge_new(rules, cast, player, world, n, scratch, stream):
    """Give each of the `n` moves of a choice that was never tried a first visit, with what the judge says of it.

    Their places stand in `tree.places`. Returns whether all values are numbers.
    """
    tree, look = scratch.tree, look_of(cast, get(cast.own, player), True)
    _, work = compare_moves(rules, look, world, scratch, stream)
    for i in range(n):
        place = get(tree.places, i)
        if get(tree.visits, place) == 0:
            set(tree.visits, place, 1)
            set_float(tree.totals, place, get_float(scratch.totals, i) / get(scratch.counts, i))
    return work > 0


@rule
def choose_place(rules, cast, player, world, observer, n, scratch, stream):
    """Choose among `n` legal moves: one that was never tried, evenly, otherwise by UCB.

    A judge tries each move once by itself. Returns the number of the move, its place, and whether no iteration chose it
    before; a number of -1 if the tree has no room, NO_VALUE if the judge says what is no number.
    """
    tree, fresh, picked, best = scratch.tree, 0, -1, -np.inf
    bonus, is_judged = get_float(row_of(cast.params, player, cast.width, 3), BONUS), get(cast.turns, player) >= 0
    first, second = view_keys(rules, cast, world, observer, at(scratch.worlds, 0))
    for i in range(n):
        one, two = keys_of(at(scratch.moves, i), rules.move_size, first, second)
        place = place_of(tree, one, two)
        if place < 0:
            return -1, -1, False
        set(tree.places, i, place)
        set(tree.available, place, get(tree.available, place) + 1)
        if get(tree.visits, place) == 0:
            fresh += 1
            if not is_judged and below_of(stream, fresh) == 0:
                picked = i
    if fresh > 0 and is_judged and not judge_new(rules, cast, player, world, n, scratch, stream):
        return NO_VALUE, -1, False
    for i in range(n if picked < 0 else 0):
        place, visits = get(tree.places, i), get(tree.visits, get(tree.places, i))
        value = get_float(tree.totals, place) / visits + bonus * np.sqrt(np.log(get(tree.available, place)) / visits)
        if value > best:
            best, picked = value, i
    place = get(tree.places, picked)
    return picked, place, get(tree.visits, place) == (1 if is_judged else 0)


@rule
def iterate(rules, cast, player, state, scratch, stream):
    """One iteration of ISMCTS. Returns the work."""
    tree, world, seat = scratch.tree, at(scratch.search.world, 0), turn_of(state)
    bits, steps, grown, wanted = begin_world(rules, world, state, stream), 0, False, 0
    single = get_float(row_of(cast.params, player, cast.width, 3), SINGLE) != 0.0
    while not grown and steps < STEPS and turn_of(world) >= 0 and ply_of(world) < rules.max_plies:
        n = abs(legal_moves(rules, world, scratch.moves, 0))
        if n == 0:
            return 0
        if n == 1:
            play_move(rules, world, at(scratch.moves, 0))
            continue
        mover = turn_of(world)
        picked, place, grown = choose_place(rules, cast, player, world, seat if single else mover, n, scratch, stream)
        if picked == NO_VALUE:
            return NOT_A_NUMBER
        if picked < 0:
            break
        set(tree.path, steps, place)
        set(tree.movers, steps, mover)
        steps += 1
        wanted |= 1 << mover
        play_move(rules, world, at(scratch.moves, picked))
    work = play_world_on(rules, cast, player, world, bits, wanted, scratch)
    if work > 0:
        for i in range(steps):
            place = get(tree.path, i)
            set(tree.visits, place, get(tree.visits, place) + 1)
            add(tree.totals, place, get_float(tree.values, get(tree.movers, i)))
    return work


@rule
def begin_moves(rules, state, scratch, stream):
    """Put the legal moves of a decision, with values of 0, into the space of the search. Returns how many there are."""
    space = scratch.search
    make_world(rules, at(space.world, 0), state, turn_of(state), stream)
    n = abs(legal_moves(rules, at(space.world, 0), scratch.moves, 0))
    for i in range(n):
        copy(at(space.moves, i), at(scratch.moves, i), rules.move_size)
        set_float(space.totals, i, 0.0)
        set(space.counts, i, 1)
    return n


@separate
def choose_by_ismcts(rules, cast, player, state, scratch, stream, chosen, epsilon, temperature):
    """Choose a move by ISMCTS: the one tried most often, of these the best one. Returns the work."""
    tree, space, start, work, seat = scratch.tree, scratch.search, now(), 1, turn_of(state)
    n = begin_moves(rules, state, scratch, stream)
    forget(tree)
    for _ in range(get(cast.worlds, player) if n > 1 else 0):
        took = iterate(rules, cast, player, state, scratch, stream)
        if took <= 0:
            return took
        work += took
    if n > 1:
        world = at(space.world, 0)
        begin_world(rules, world, state, stream)
        first, second = view_keys(rules, cast, world, seat, at(scratch.worlds, 0))
        for i in range(n):
            one, two = keys_of(at(space.moves, i), rules.move_size, first, second)
            place = place_of(tree, one, two)
            visits = get(tree.visits, place) if place >= 0 else 0
            set_float(space.totals, i, visits + 0.5 * get_float(tree.totals, place) / visits if visits > 0 else 0.0)
        note_time(scratch, player, now() - start)
    put_back(rules, n, scratch)
    if n > 0:
        pick_best(rules, n, scratch, chosen, stream)
    return work if n > 0 else 0


@rule
def add_node(rules, tree, state, bits, above, wanted):
    """Add a position to the next level of EPIMC's tree. `wanted`: a bit for each seat that chose on the way to it."""
    node = get(tree.counts, 1)
    copy(at(tree.nodes, node), state, rules.state_size)
    set(tree.luck, node, bits)
    set(tree.above, node, above)
    set(tree.wanted, node, wanted)
    set(tree.counts, 1, node + 1)


@rule
def store_scores(tree, edge, seats):
    """Note what each seat gets at the end of an edge."""
    for seat in range(seats):
        set_float(tree.scores, edge * seats + seat, get_float(tree.values, seat))


@rule
def fits(rules, tree, begin, end, is_last, scratch):
    """Whether the moves of the nodes begin..end-1 have room, and the positions after them if these are nodes too."""
    total = 0
    for node in range(begin, end):
        total += abs(legal_moves(rules, at(tree.nodes, node), scratch.moves, 0))
    has_nodes = is_last or get(tree.counts, 1) + total <= NODES
    return get(tree.counts, 2) + total <= EDGES and has_nodes and get(tree.counts, 0) + total <= ROOM // 2


@rule
def play_forced(rules, state, scratch):
    """Play moves that are forced. Returns whether somebody has a choice then."""
    while turn_of(state) >= 0 and ply_of(state) < rules.max_plies:
        n = abs(legal_moves(rules, state, scratch.moves, 0))
        if n != 1:
            return n > 1
        play_move(rules, state, at(scratch.moves, 0))
    return False


@rule
def expand(rules, cast, player, node, is_last, scratch):
    """Play each move of a node. Returns the work.

    What comes of a move has values if nobody has a choice there or if the level `is_last`, else it is a node.
    """
    tree, state, work = scratch.tree, at(scratch.tree.nodes, node), 1
    world, bits, seats = at(scratch.search.world, 0), get(scratch.tree.luck, node), seats_of(state)
    wanted = get(tree.wanted, node) | (1 << turn_of(state))
    first, second = view_keys(rules, cast, state, turn_of(state), at(scratch.worlds, 0))
    n = abs(legal_moves(rules, state, scratch.moves, 0))
    begin = get(tree.counts, 2)
    set(tree.edges, node, begin)
    set(tree.sizes, node, n)
    set(tree.counts, 2, begin + n)
    for i in range(n):
        one, two = keys_of(at(scratch.moves, i), rules.move_size, first, second)
        set(tree.places, begin + i, place_of(tree, one, two))
    for i in range(n):
        legal_moves(rules, state, scratch.moves, 0)  # what was listed is written over when worlds are played on
        copy(world, state, rules.state_size)
        play_move(rules, world, at(scratch.moves, i))
        if play_forced(rules, world, scratch) and not is_last:
            add_node(rules, tree, world, bits, begin + i, wanted)
            continue
        took = play_world_on(rules, cast, player, world, bits, wanted, scratch)
        if took <= 0:
            return took
        work += took
        store_scores(tree, begin + i, seats)
    return work


@rule
def grow(rules, cast, player, state, worlds, scratch, stream):
    """Grow EPIMC's tree over `worlds` new worlds. Returns its levels, and the work.

    A level that has no room is not grown: its positions are played on with known hands.
    """
    tree, world, work, level = scratch.tree, at(scratch.search.world, 0), 1, 0
    depth = np.int64(get_float(row_of(cast.params, player, cast.width, 3), DEPTH))
    for _ in range(worlds):
        bits = begin_world(rules, world, state, stream)
        add_node(rules, tree, world, bits, -1, 0)
    begin = 0
    set(tree.levels, 0, 0)
    while level < depth and begin < get(tree.counts, 1):
        end, is_last = get(tree.counts, 1), level + 1 == depth
        if not fits(rules, tree, begin, end, is_last, scratch):
            if level > 0:
                break
            is_last = True
        for node in range(begin, end):
            took = expand(rules, cast, player, node, is_last, scratch)
            if took <= 0:
                return level, took
            work += took
        level += 1
        begin = end
        set(tree.levels, level, begin)
        if is_last:
            break
    for node in range(begin, get(tree.counts, 1)):
        copy(world, at(tree.nodes, node), rules.state_size)
        took = play_world_on(rules, cast, player, world, get(tree.luck, node), get(tree.wanted, node), scratch)
        if took <= 0:
            return level, took
        work += took
        store_scores(tree, get(tree.above, node), seats_of(world))
    return level, work


@rule
def fold(tree, level, seats):
    """Give each move of a level its mean over its information set, and each node the scores of its best move."""
    begin, end = get(tree.levels, level), get(tree.levels, level + 1)
    for node in range(begin, end):
        mover, first = turn_of(at(tree.nodes, node)), get(tree.edges, node)
        for edge in range(first, first + get(tree.sizes, node)):
            place = get(tree.places, edge)
            add(tree.totals, place, get_float(tree.scores, edge * seats + mover))
            set(tree.visits, place, get(tree.visits, place) + 1)
    for node in range(begin, end):
        above, first, best, taken = get(tree.above, node), get(tree.edges, node), -np.inf, -1
        for edge in range(first, first + get(tree.sizes, node)):
            place = get(tree.places, edge)
            mean = get_float(tree.totals, place) / get(tree.visits, place)
            if mean > best:
                best, taken = mean, edge
        for seat in range(seats if above >= 0 else 0):
            set_float(tree.scores, above * seats + seat, get_float(tree.scores, taken * seats + seat))


@separate
def choose_by_epimc(rules, cast, player, state, scratch, stream, chosen, epsilon, temperature):
    """Choose a move by EPIMC: the one with the best mean. Returns the work."""
    tree, space, start, work, levels = scratch.tree, scratch.search, now(), 1, 0
    n = begin_moves(rules, state, scratch, stream)
    forget(tree)
    if n > 1:
        worlds = max(1, min(get(cast.worlds, player), NODES // 2, EDGES // n))
        levels, work = grow(rules, cast, player, state, worlds, scratch, stream)
        if work <= 0:
            return work
        for level in range(levels - 1, -1, -1):
            fold(tree, level, seats_of(state))
        for i in range(n):
            place = get(tree.places, get(tree.edges, 0) + i)
            set_float(space.totals, i, get_float(tree.totals, place) / get(tree.visits, place))
        note_time(scratch, player, now() - start)
    put_back(rules, n, scratch)
    if n > 0:
        pick_best(rules, n, scratch, chosen, stream)
    return work if n > 0 else 0


def tree_address(rules: CompiledRules, cast: Any, scratch: Any, is_epimc: bool) -> Any:
    """The address of `choose_by_epimc` or `choose_by_ismcts`; see `search.search_address`."""
    function = choose_by_epimc if is_epimc else choose_by_ismcts
    return separate_address(function, (lend(rules), lend(cast), 0, 0, lend(scratch), 0, 0, 0.0, 0.0))
