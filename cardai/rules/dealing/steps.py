"""How cards are dealt evenly in steps: the ways to each key are counted, and a chain of keys is drawn.

`cardai.rules.dealing` says what classes, steps and keys are, and why this is even. Here a class is no more than its
number of cards, so that it does not matter what cards are: members of a set, or cards of kinds that look alike.
"""

from math import comb

import numpy as np

from cardai.errors import CardaiError
from cardai.rules import below, rule, separate, uniform
from cardai.rules.cards import count, has, highest, lowest, single

MOST_CARDS = 62  # of a set in one number
MOST_BITS = 62  # of a key: its places' room, and a bit for each place
TOO_LARGE = f"where cards are banned, the sizes of places have at most {MOST_BITS} binary digits, one more for each"
EXACT = 2.0**62  # up to so many deals are counted in int64

BINOMIALS = np.array([[comb(n, k) for k in range(MOST_CARDS + 1)] for n in range(MOST_CARDS + 1)], np.int64)
ROUGH_BINOMIALS = BINOMIALS.astype(np.float64)

# A class of cards is a row: its cards, or the number by which `counts` finds them; the set of places where they
# may lie; how many there are; the places their group obliges; its group.
CARDS, PLACES, SIZE, OBLIGED, GROUP = range(5)
FREE = -1  # the group of all cards whose group obliges nobody

# A step is a row. It gives x cards of a class to place TO; if it is the last of its class, the others go to place REST.
# Shift and mask say where a key keeps the room of a place. ROOM: how many cards later classes may bring to the place.
# DUTY: whether the place must get one of this group, and whether it still can in a later class of the group.
TO, TO_SHIFT, TO_MASK, TO_ROOM, TO_DUTY, TO_MET, REST, REST_SHIFT, REST_MASK, REST_ROOM, REST_DUTY, REST_MET = range(12)
FRESH = 12  # how many cards the class has, in its first step; 0 in the others
NO_DUTY, DUTY_GOES_ON, DUTY_ENDS = range(3)

# A class of a single card that may lie in many places takes one step, which has other columns. ANY: the set of places,
# 0 in the steps above. GOING_ON, ENDING: the places of them that are obliged; the latter cannot get another card of the
# group later. MET: which bit of a key says whether place 0 has met its obligation; the next bits are for the next
# places. From FIELD on, three columns for each place: shift and mask of its room, and how many cards later classes may
# bring to it. CLASS, in steps of both kinds: the row of the class.
ANY, GOING_ON, ENDING, MET, CLASS, FIELD = range(13, 19)
MANY = 4  # so many places are many: for fewer, steps of the other kind are as fast
NOWHERE = -1

KEY, LEFT, SLOT = range(3)  # what is kept of each key that can be reached, besides its ways
FIRST_KEYS, FIRST_SLOTS = 128, 256  # room for keys, and for slots of a hash table, to begin with
LOW = (1 << 31) - 1
HASH, HIGH_HASH = 2654435, 2246823  # odd; times 31 bits of a key they stay below 2^53


@rule
def adds_up(total, sizes):
    """Whether the places get all cards, and no place fewer than none."""
    given = 0
    for size in sizes:
        if size < 0:
            return False
        given += size
    return given == total


@rule
def check_key(sizes):
    """Raises CardaiError unless the room of the places, and whether each has met its obligations, fit in a key."""
    bits = len(sizes)
    for size in sizes:
        bits += width(size)
    if bits > MOST_BITS:
        raise CardaiError(TOO_LARGE)


@rule
def unrestricted_count(total, sizes, binomials):
    """How many deals there were without bans and obligations: float64."""
    left, deals = total, 1.0
    for size in sizes:
        deals *= binomials[left, size]
        left -= size
    return deals


@rule
def put_widest_last(classes, first, end):
    """Sort rows by the number of places where their cards may lie: the last, which takes no steps, has the most."""
    for i in range(first + 1, end):
        for j in range(i, first, -1):
            if count(classes[j, PLACES]) >= count(classes[j - 1, PLACES]):
                break
            for column in range(3):  # the others are the same for all
                kept = classes[j, column]
                classes[j, column] = classes[j - 1, column]
                classes[j - 1, column] = kept


@rule
def steps_of(classes, sizes):
    """The steps that deal all classes but the last: int64[steps, columns]."""
    places, n = len(sizes), 0
    steps = np.zeros((len(classes) * places, FIELD + 3 * places), np.int64)
    to_come = np.zeros(places, np.int64)
    for row in classes:
        for place in range(places):
            if has(row[PLACES], place):
                to_come[place] += row[SIZE]
    for i in range(len(classes) - 1):
        rest, later = classes[i, PLACES], 0
        for place in range(places):
            if has(rest, place):
                to_come[place] -= classes[i, SIZE]
        for j in range(i + 1, len(classes)):
            if classes[j, GROUP] == classes[i, GROUP]:
                later |= classes[j, PLACES]
        if count(rest) >= MANY and classes[i, SIZE] == 1:
            write_card(steps[n], classes[i], sizes, to_come, later)
            steps[n, CLASS] = i
            n += 1
            continue
        owing, last = classes[i, OBLIGED], highest(rest)
        rest &= ~single(last)
        fresh = classes[i, SIZE]
        while rest != 0 or fresh != 0:
            to = lowest(rest) if rest != 0 else NOWHERE
            rest &= rest - 1
            write_place(steps[n], 0, to, sizes, to_come, owing, later)
            write_place(steps[n], REST, last if rest == 0 else NOWHERE, sizes, to_come, owing, later)
            steps[n, FRESH] = fresh
            steps[n, CLASS] = i
            fresh = 0
            n += 1
    return steps[:n]


@rule
def write_place(step, column, place, sizes, to_come, owing, later):
    """Write what a step must know of the place it gives cards to, into six columns."""
    step[column] = place
    step[column + 1 : column + 6] = 0
    if place == NOWHERE:
        return
    shift = 0
    for other in range(place):
        shift += width(sizes[other])
    step[column + 1] = shift
    step[column + 2] = (1 << width(sizes[place])) - 1
    step[column + 3] = to_come[place]
    if has(owing, place):
        step[column + 4] = DUTY_GOES_ON if has(later, place) else DUTY_ENDS
        for other in range(place, len(sizes)):
            shift += width(sizes[other])
        step[column + 5] = single(shift + place)


@rule
def write_card(step, row, sizes, to_come, later):
    """Write the step of a class of a single card that may lie in many places."""
    step[FRESH] = row[SIZE]
    step[ANY] = row[PLACES]
    owing = row[OBLIGED] & row[PLACES]  # the duty of other places ended with an earlier class
    step[GOING_ON] = owing & later
    step[ENDING] = owing & ~later
    shift = 0
    for place in range(len(sizes)):
        column = FIELD + 3 * place
        step[column] = shift
        step[column + 1] = (1 << width(sizes[place])) - 1
        step[column + 2] = to_come[place]
        shift += width(sizes[place])
    step[MET] = shift


@rule
def width(size):
    """How many bits of a key keep the room of a place."""
    return highest(size) + 1 if size > 0 else 0


@rule
def full_room(sizes):
    """The key before any card is dealt."""
    key, shift = 0, 0
    for size in sizes:
        key |= size << shift
        shift += width(size)
    return key


@separate
def count_ways(steps, sizes, ways, binomials):
    """Find all keys that can be reached, step by step, and count the ways to them.

    Returns `keys`, int64[keys, 3], `ends`, int64[steps + 2], and the ways, of the type of the array `ways`, which has
    a one in its first place. The keys before step i are those from ends[i] to ends[i + 1].
    """
    keys, ends = np.empty((len(ways), 3), np.int64), np.zeros(len(steps) + 2, np.int64)
    found = np.zeros(FIRST_SLOTS, np.int32)  # a hash table: where a key after this step is in `keys`, plus one
    keys[0, KEY] = full_room(sizes)
    ends[1] = 1
    end = 1
    for at_step in range(len(steps)):
        step = steps[at_step]
        begin, each = ends[at_step], count(step[ANY]) if step[ANY] != 0 else step[TO_MASK] + 1
        most = end + (end - begin) * each
        if most > len(ways):
            keys, ways = longer(keys, ways, 2 * most)
        while len(found) < 2 * (most - end):
            found = np.zeros(2 * len(found), np.int32)
        end = follow(step, keys, ways, begin, end, found, binomials)
        for at in range(ends[at_step + 1], end):
            found[keys[at, SLOT]] = 0
        ends[at_step + 2] = end
    return keys, ends, ways


@rule
def longer(keys, ways, size):
    """Copies with more room."""
    more_keys, more_ways = np.empty((size, 3), np.int64), np.empty(size, ways.dtype)
    for at in range(len(keys)):  # not by slices: the text of an error that cannot occur takes a second to compile
        for column in range(3):
            more_keys[at, column] = keys[at, column]
        more_ways[at] = ways[at]
    return more_keys, more_ways


@rule
def follow(step, keys, ways, begin, end, found, binomials):
    """Write the keys after a step behind those before it, keys[begin:end]. Returns the new end."""
    n = end
    for at in range(begin, end):
        key = keys[at, KEY]
        if step[ANY] != 0:
            rest = takers(step, key)
            while rest != 0:
                n = reach(with_card(step, key, lowest(rest)), 0, ways[at], keys, ways, found, n)
                rest &= rest - 1
            continue
        left = step[FRESH] if step[FRESH] != 0 else keys[at, LEFT]
        fewest, most = bounds(step, key, left)
        for x in range(fewest, most + 1):
            after = after_step(step, key, left, x)
            if after >= 0:
                n = reach(after, left - x, ways[at] * binomials[left, x], keys, ways, found, n)
    return n


@rule
def reach(key, left, more, keys, ways, found, n):
    """Add ways to a key, which is written into row n if it is new. Returns the first row that is free then."""
    slot = slot_of(key, keys, found)
    if found[slot] == 0:
        keys[n, KEY] = key
        keys[n, LEFT] = left
        keys[n, SLOT] = slot
        ways[n] = 0
        n += 1
        found[slot] = n
    ways[found[slot] - 1] += more
    return n


@rule
def takers(step, key):
    """The places to which a step may give its single card, so that obligations can be met and all room filled."""
    able, due, rest = 0, step[ENDING] & ~(key >> step[MET]), step[ANY]
    while rest != 0:
        place = lowest(rest)
        rest &= rest - 1
        column = FIELD + 3 * place
        free = (key >> step[column]) & step[column + 1]
        if free > 0:
            able |= single(place)
        if free > step[column + 2]:
            due |= single(place)
    if due == 0:
        return able
    return able & due if due & (due - 1) == 0 else 0


@rule
def with_card(step, key, place):
    """The key after a place gets the single card of a step."""
    key = (key - single(step[FIELD + 3 * place])) & ~(step[ENDING] << step[MET])
    return key | single(step[MET] + place) if has(step[GOING_ON], place) else key


@rule
def bounds(step, key, left):
    """The fewest and the most of the `left` cards of a class that a step may give to its place."""
    free = (key >> step[TO_SHIFT]) & step[TO_MASK]
    fewest, most = max(0, free - step[TO_ROOM]), min(left, free)
    if step[REST] != NOWHERE:
        rest = (key >> step[REST_SHIFT]) & step[REST_MASK]
        fewest, most = max(fewest, left - rest), min(most, left - rest + step[REST_ROOM])
    return fewest, most


@rule
def slot_of(key, keys, found):
    """The slot of a hash table in which a key is, or an empty one where it would be."""
    mask = len(found) - 1
    slot = ((key & LOW) * HASH + (key >> 31) * HIGH_HASH >> 20) & mask
    while found[slot] != 0 and keys[found[slot] - 1, KEY] != key:
        slot = (slot + 1) & mask
    return slot


@rule
def after_step(step, key, left, x):
    """The key after x of the `left` cards of a class go to the step's place; NOWHERE if they cannot."""
    if (key >> step[TO_SHIFT]) & step[TO_MASK] < x:
        return NOWHERE
    key = with_duty(key - (x << step[TO_SHIFT]), step[TO_DUTY], step[TO_MET], x)
    if step[REST] == NOWHERE or key < 0:
        return key
    rest = left - x
    if (key >> step[REST_SHIFT]) & step[REST_MASK] < rest:
        return NOWHERE
    return with_duty(key - (rest << step[REST_SHIFT]), step[REST_DUTY], step[REST_MET], rest)


@rule
def with_duty(key, duty, met, x):
    """The key after a place with an obligation got x cards; NOWHERE if it can no longer meet it.

    `met`: the bit of the key that is set from the first card of the group to the last class that could bring one.
    """
    if duty == DUTY_GOES_ON:
        return key | met if x > 0 else key
    if duty == DUTY_ENDS:
        return key & ~met if x > 0 or key & met != 0 else NOWHERE
    return key


@rule
def ways_to_fill(key, last, sizes, binomials):
    """In how many ways the cards of the last class fill the room that is left."""
    left, ways = last[SIZE], binomials[0, 0]
    for place in range(len(sizes)):
        room = key & ((1 << width(sizes[place])) - 1)
        key >>= width(sizes[place])
        if room > left or (room > 0 and not has(last[PLACES], place)):
            return binomials[0, 1]
        ways *= binomials[left, room]
        left -= room
    return ways


@rule
def count_ends(keys, ends, ways, last, sizes, binomials):
    """How many deals there are."""
    total = binomials[0, 1]
    for at in range(ends[-2], ends[-1]):
        total += ways[at] * ways_to_fill(keys[at, KEY], last, sizes, binomials)
    return total


@rule
def sum_over_deals(steps, sizes, last, binomials, means):
    """Write how many cards of each class each place has, into float64[classes, places], which is 0 before.

    They are summed over all deals, whose number is returned.
    """
    keys, ends, ways = count_ways(steps, sizes, np.ones(FIRST_KEYS, np.float64), binomials)
    deals = np.zeros(ends[-1])
    row = len(means) - 1
    total = mean_of_last(keys, ends, ways, last, sizes, deals, binomials, means[row])
    for at_step in range(len(steps) - 1, -1, -1):
        if at_step == len(steps) - 1 or steps[at_step + 1, FRESH] != 0:
            row -= 1
        mean_of_step(steps[at_step], keys, ends[at_step : at_step + 3], ways, deals, binomials, means[row])
    return total


@rule
def mean_of_last(keys, ends, ways, last, sizes, deals, binomials, means):
    """Count the deals from each key before the last class on, and all deals, which are returned.

    Adds to `means`, f8[places], how many cards of the last class each place has, summed over all deals.
    """
    total = 0.0
    for at in range(ends[-2], ends[-1]):
        key = keys[at, KEY]
        deals[at] = ways_to_fill(key, last, sizes, binomials)
        total += ways[at] * deals[at]
        for place in range(len(sizes)):
            means[place] += ways[at] * deals[at] * (key & ((1 << width(sizes[place])) - 1))
            key >>= width(sizes[place])
    return total


@rule
def mean_of_step(step, keys, ends, ways, deals, binomials, means):
    """Count the deals from each key before a step on: keys[ends[0]:ends[1]]; those after it end at ends[2].

    Adds to `means`, f8[places], how many cards the step gives to each place, summed over all deals.
    """
    size = FIRST_SLOTS
    while size < 2 * (ends[2] - ends[1]):
        size *= 2
    found = np.zeros(size, np.int32)
    for at in range(ends[1], ends[2]):
        found[slot_of(keys[at, KEY], keys, found)] = at + 1
    for at in range(ends[0], ends[1]):
        key = keys[at, KEY]
        if step[ANY] != 0:
            rest = takers(step, key)
            while rest != 0:
                place = lowest(rest)
                rest &= rest - 1
                further = deals[found[slot_of(with_card(step, key, place), keys, found)] - 1]
                deals[at] += further
                means[place] += ways[at] * further
            continue
        left = step[FRESH] if step[FRESH] != 0 else keys[at, LEFT]
        fewest, most = bounds(step, key, left)
        for x in range(fewest, most + 1):
            after = after_step(step, key, left, x)
            if after < 0:
                continue
            further = binomials[left, x] * deals[found[slot_of(after, keys, found)] - 1]
            deals[at] += further
            if step[TO] != NOWHERE:
                means[step[TO]] += ways[at] * further * x
            if step[REST] != NOWHERE:
                means[step[REST]] += ways[at] * further * (left - x)


@rule
def draw_chain(last, steps, sizes, ways, binomials, exact, stream, taken, room):
    """Count, then draw a chain of keys backwards. Returns whether a deal fits.

    Writes for each step how many cards it gives to its place, or the place that gets its single card, into `taken`,
    int64[steps], and how many cards of the last class each place gets into `room`, int64[places].
    """
    keys, ends, ways = count_ways(steps, sizes, ways, binomials)
    total = count_ends(keys, ends, ways, last, sizes, binomials)
    if total == 0:
        return False
    pick = np.empty(1, ways.dtype)
    draw_below(stream, total, pick, exact)
    at = draw_end(keys, ends, ways, last, sizes, binomials, pick[0])
    key = keys[at, KEY]
    for place in range(len(sizes)):
        room[place] = key & ((1 << width(sizes[place])) - 1)
        key >>= width(sizes[place])
    for at_step in range(len(steps) - 1, -1, -1):
        draw_below(stream, ways[at], pick, exact)
        before = draw_before(steps[at_step], keys, ways, ends[at_step], ends[at_step + 1], at, binomials, pick[0])
        taken[at_step] = taken_between(steps[at_step], keys[before, KEY], keys[at, KEY])
        at = before
    return True


@rule
def draw_below(stream, total, pick, exact):
    """Write a number drawn evenly below `total` into pick[0], which has its type."""
    if exact:
        pick[0] = below(stream, np.int64(total))
    else:
        pick[0] = uniform(stream) * total


@rule
def draw_end(keys, ends, ways, last, sizes, binomials, pick):
    """The key that the last class fills up: the one whose deals `pick`, a number below their total, falls into."""
    chosen = NOWHERE
    for at in range(ends[-2], ends[-1]):
        share = ways[at] * ways_to_fill(keys[at, KEY], last, sizes, binomials)
        if share > 0:
            chosen = at
            if pick < share:
                break
            pick -= share
    return chosen  # in float64, the shares may add up to a little less than their total: then it is the last one


@rule
def taken_between(step, before, after):
    """How many cards the step gave to its place between two keys; if it has a single card, the place that got it."""
    if step[ANY] != 0:
        rooms = single(step[MET]) - 1
        room = (before & rooms) - (after & rooms)
        rest = step[ANY] if room > 0 and room & (room - 1) == 0 else 0
        while rest != 0:
            if room == single(step[FIELD + 3 * lowest(rest)]):
                return lowest(rest)
            rest &= rest - 1
        return NOWHERE
    return ((before >> step[TO_SHIFT]) & step[TO_MASK]) - ((after >> step[TO_SHIFT]) & step[TO_MASK])


@rule
def draw_before(step, keys, ways, begin, end, target, binomials, pick):
    """The key before `target`, one of keys[begin:end], whose ways `pick`, a number below ways[target], falls into."""
    chosen = NOWHERE
    for at in range(begin, end):
        key = keys[at, KEY]
        x, share = taken_between(step, key, keys[target, KEY]), binomials[0, 1]
        if step[ANY] != 0:
            if x != NOWHERE and has(takers(step, key), x) and with_card(step, key, x) == keys[target, KEY]:
                share += ways[at]
        else:
            left = step[FRESH] if step[FRESH] != 0 else keys[at, LEFT]
            if 0 <= x <= left and after_step(step, key, left, x) == keys[target, KEY]:
                share += ways[at] * binomials[left, x]
        if share > 0:
            chosen = at
            if pick < share:
                break
            pick -= share
    return chosen
