"""Hidden cards dealt evenly when some places cannot hold some cards, or must hold one of some cards.

A rule `resample` calls one of these; `docs/dealing.md` has examples. A place is whatever holds cards: a hand, the
stock.

    redeal          deals all hands but one anew, in place: all that most trick-taking games need
    deal_hidden     deals cards to places; a place has a set of cards that it cannot hold ("could not follow suit")
    deal_obliged    also with obligations: a place holds at least one card of a group
    deal_count      how many deals there are
    deal_chances    the chance of each card to be in each place

**Each possible deal has the same probability.** Cards that may lie in the same places, and whose group obliges the
same places, form a class. A deal is made in steps. A step gives x cards of one class to one place, out of the `left`
cards of the class that earlier steps left over; the last class fills all room that is left. Call the room left in
each place, together with the obligations met so far, a key. It decides which steps may follow. The number of ways to
reach a key is

    ways(key) = sum over the keys before it of ways(key before) * C(left, x)

with 1 for the key before any step. Different ways are different deals, because each step says which cards a place
gets of a class, and each deal is reached in exactly one way. So the number of deals is the sum over the last keys of
ways(key) times the number of ways in which the last class fills the room.

Draw a last key with probability in proportion to its term of this sum. Then go back: draw the key before with
probability ways(key before) * C(left, x) / ways(key). In the product of all these probabilities each ways(key)
cancels. What is left is the product of all C(left, x) and of the ways to fill, divided by the number of deals. Now
draw the x cards of each step evenly from the `left` ones: this has probability 1 / C(left, x). So each deal has
probability 1 / (number of deals).

The chance that a place has a card of a class is the same for all cards of the class: the mean number of them in the
place, divided by their number. In a step, it gets x cards in ways(key) * C(left, x) * deals(key after) of all deals,
where deals(key) is the number of ways to go on from a key, counted backwards.

All this is exact in int64 if there are at most 2^62 deals when bans and obligations are ignored (39 cards to three
hands: 2^56.2). If there are more, `ways` are float64, and the probabilities are rounded at about the fifteenth digit.

The work grows with the number of keys: for each step, at most the product of (size + 1) over all places, and far
fewer if bans leave little choice. It is about 1 us for three places, and some milliseconds for five places with eight
cards each.
"""

from math import comb

import numpy as np

from cardai.cards import any_of, count, has, highest, lowest, single
from cardai.rule import below, rule, separate, uniform

__all__ = ["deal_chances", "deal_count", "deal_hidden", "deal_obliged", "redeal", "weight_of"]

MOST_CARDS = 62
MOST_PLACES = 9  # places that get cards: their room and obligations fit in a key of 40 bits
EXACT = 2.0**62  # up to so many deals are counted in int64

BINOMIALS = np.array([[comb(n, k) for k in range(MOST_CARDS + 1)] for n in range(MOST_CARDS + 1)], np.int64)
ROUGH_BINOMIALS = BINOMIALS.astype(np.float64)

# A class of cards is a row: its cards, the set of places where they may lie, the places their group obliges, its group.
CARDS, PLACES, OBLIGED, GROUP = range(4)
FREE = -1  # the group of all cards whose group obliges nobody

# A step is a row. It gives x cards of a class to place TO; if it is the last of its class, the others go to place REST.
# Shift and mask say where a key keeps the room of a place. ROOM: how many cards later classes may bring to the place.
# DUTY: whether the place must get one of this group, and whether it still can in a later class of the group.
TO, TO_SHIFT, TO_MASK, TO_ROOM, TO_DUTY, TO_MET, REST, REST_SHIFT, REST_MASK, REST_ROOM, REST_DUTY, REST_MET = range(12)
FRESH = 12  # the cards of the class, in its first step; 0 in the others
NO_DUTY, DUTY_GOES_ON, DUTY_ENDS = range(3)

# A class of a single card that may lie in many places takes one step, which has other columns. ANY: the set of places,
# 0 in the steps above. GOING_ON, ENDING: the places of them that are obliged; the latter cannot get another card of the
# group later. MET: which bit of a key says whether place 0 has met its obligation; the next bits are for the next
# places. From FIELD on, three columns for each place: shift and mask of its room, and how many cards later classes may
# bring to it.
ANY, GOING_ON, ENDING, MET, FIELD = range(13, 18)
MANY = 4  # so many places are many: for fewer, steps of the other kind are as fast
NOWHERE = -1

KEY, LEFT, SLOT = range(3)  # what is kept of each key that can be reached, besides its ways
FIRST_KEYS, FIRST_SLOTS = 128, 256  # room for keys, and for slots of a hash table, to begin with
HASH = 2654435  # odd; times a key of 40 bits it stays below 2^62


@separate
def redeal(hands, known, lacks, seat, stream):
    """Deal anew, evenly, what `seat` cannot know of the other hands. Returns whether a deal fits.

    `hands`: int64[seats], changed in place; every hand keeps its size. `known`: int64[seats], the cards of each hand
    that `seat` knows to be there, whatever `lacks` says; its own hand need not be in it. `lacks`: int64[seats], cards
    that each hand cannot hold. `stream`: a random stream. If no deal fits, because `lacks` excludes the true one by
    mistake, the hidden cards are in no hand then, so that the law `cards_are_conserved` tells of it.
    """
    places = len(hands)
    sizes, dealt = np.zeros(places, np.int64), np.empty(places, np.int64)
    hidden = 0
    for place in range(places):
        if place != seat:
            unknown = hands[place] & ~known[place]
            hidden |= unknown
            sizes[place] = count(unknown)
            hands[place] &= known[place]
    fits = deal_hidden(hidden, sizes, lacks, dealt, stream)
    for place in range(places):
        hands[place] |= dealt[place]
    return fits


@separate
def deal_hidden(cards, sizes, banned, dealt, stream):
    """Deal `cards` evenly so that no place gets a card that is banned there. Returns whether a deal fits.

    `cards`: a set of at most 62 cards. `sizes`: int64[places], how many of them each place gets; all together, and at
    most nine places more than 0. `banned`: int64[places], the cards that a place cannot hold. `dealt`: int64[places],
    what each place gets, written here; empty if no deal fits. `stream`: a random stream.
    """
    return deal_obliged(cards, sizes, banned, banned[:0], banned[:0], dealt, stream)


@separate
def deal_obliged(cards, sizes, banned, groups, must, dealt, stream):
    """Deal like `deal_hidden`, and so that each place gets a card of each group that it must have.

    `groups`: int64[groups], at most 62 sets that share no card. `must`: int64[places], sets of numbers of groups: if
    bit g is set, the place gets at least one card of `groups[g]`. Returns whether a deal fits.
    """
    dealt[:] = 0
    if not adds_up(cards, sizes):
        return False
    if not is_restricted(cards, sizes, banned, groups, must):
        hand_out(cards, sizes, dealt, stream)
        return True
    classes, steps = plan(cards, sizes, banned, groups, must)
    if len(classes) == 0:
        return False
    if unrestricted_count(cards, sizes) <= EXACT:
        return deal_in_steps(classes[-1], steps, sizes, dealt, np.ones(FIRST_KEYS, np.int64), BINOMIALS, True, stream)
    return deal_in_steps(
        classes[-1], steps, sizes, dealt, np.ones(FIRST_KEYS, np.float64), ROUGH_BINOMIALS, False, stream
    )


@separate
def deal_count(cards, sizes, banned, groups, must):
    """How many deals `deal_obliged` draws from: float64, exact up to 2^53; 0 if no deal fits."""
    if not adds_up(cards, sizes):
        return 0.0
    classes, steps = plan(cards, sizes, banned, groups, must)
    if len(classes) == 0:
        return 0.0
    keys, ends, ways = count_ways(steps, sizes, np.ones(FIRST_KEYS, np.float64), ROUGH_BINOMIALS)
    return count_ends(keys, ends, ways, classes[-1], sizes, ROUGH_BINOMIALS)


@separate
def deal_chances(cards, sizes, banned, groups, must, chances):
    """Write the chance of each card to be in each place, over all deals that `deal_obliged` draws from.

    `chances`: float64[places, more than the highest card], in [0, 1], written here; 0 for cards that are not dealt, and
    everywhere if no deal fits. Correct to about the twelfth digit. Returns whether a deal fits.
    """
    chances[:] = 0.0
    if not adds_up(cards, sizes):
        return False
    classes, steps = plan(cards, sizes, banned, groups, must)
    if len(classes) == 0:
        return False
    keys, ends, ways = count_ways(steps, sizes, np.ones(FIRST_KEYS, np.float64), ROUGH_BINOMIALS)
    deals = np.zeros(ends[-1])
    means = np.zeros((len(classes), len(sizes)))
    total = mean_of_last(keys, ends, ways, classes[-1], sizes, deals, means[-1])
    if total == 0:
        return False
    row = len(classes) - 1
    for at_step in range(len(steps) - 1, -1, -1):
        if at_step == len(steps) - 1 or steps[at_step + 1, FRESH] != 0:
            row -= 1
        mean_of_step(steps[at_step], keys, ends[at_step : at_step + 3], ways, deals, means[row])
    for row in range(len(classes)):
        left = classes[row, CARDS]
        while left != 0:
            for place in range(len(sizes)):
                chances[place, lowest(left)] = means[row, place] / (total * count(classes[row, CARDS]))
            left &= left - 1
    return True


@rule
def weight_of(places):
    """How likely counts of kinds are, beside others of the same cards: 1 / product of n!, float64.

    `places`: int64[places, kinds], how many cards of each kind lie in each place whose order nobody keeps. For a game's
    rule `weight`, where other places are lists whose order is hidden: those are left out.
    """
    weight = 1.0
    for place in places:
        for number in place:
            for n in range(2, number + 1):
                weight /= n
    return weight


@rule
def adds_up(cards, sizes):
    """Whether the places get all cards, and no place fewer than none."""
    total, places = 0, 0
    for size in sizes:
        if size < 0:
            return False
        total += size
        places += size > 0
    return total == count(cards) and places <= MOST_PLACES


@rule
def is_restricted(cards, sizes, banned, groups, must):
    """Whether some place that gets cards may not get all of them, or must get one of a group."""
    for place in range(len(sizes)):
        if sizes[place] > 0 and banned[place] & cards != 0:
            return True
        if len(groups) > 0 and must[place] != 0:
            return True
    return False


@rule
def unrestricted_count(cards, sizes):
    """How many deals there were without bans and obligations: float64."""
    left, total = count(cards), 1.0
    for size in sizes:
        total *= ROUGH_BINOMIALS[left, size]
        left -= size
    return total


@rule
def some_of(cards, number, stream):
    """A subset of `number` cards, each as likely."""
    size = count(cards)
    fewer = min(number, size - number)
    drawn = 0
    for _ in range(fewer):
        drawn |= single(any_of(cards & ~drawn, stream))
    return drawn if fewer == number else cards & ~drawn


@rule
def hand_out(cards, sizes, dealt, stream):
    """Deal cards that may lie anywhere: `sizes` of them to the places."""
    for place in range(len(sizes)):
        if sizes[place] > 0:
            chosen = some_of(cards, sizes[place], stream)
            dealt[place] |= chosen
            cards &= ~chosen


@separate
def plan(cards, sizes, banned, groups, must):
    """The classes, and the steps that deal all of them but the last: int64[classes, 4], int64[steps, columns].

    There are no classes if a card may lie nowhere, or if no card of a group may lie where one must.
    """
    classes = np.empty((MOST_CARDS + 1, 4), np.int64)
    n, rest = 0, cards
    for group in range(len(groups)):
        obliged = 0
        for place in range(len(sizes)):
            if has(must[place], group):
                obliged |= single(place)
        if obliged != 0:
            first = n
            n = classify(cards & groups[group], sizes, banned, obliged, group, classes, n)
            rest &= ~groups[group]
            reached = 0
            for i in range(first, n):
                reached |= classes[i, PLACES]
            if obliged & ~reached != 0:
                return classes[:0], classes[:0]
    first = n
    n = classify(rest, sizes, banned, 0, FREE, classes, n)
    if n == first:  # the last class fills all room that is left; here there is none
        classes[n, :] = 0
        n += 1
    put_widest_last(classes, first, n)
    for i in range(n):
        if classes[i, CARDS] != 0 and classes[i, PLACES] == 0:
            return classes[:0], classes[:0]
    return classes[:n], steps_of(classes[:n], sizes)


@rule
def classify(cards, sizes, banned, obliged, group, classes, first):
    """Write the classes of the cards of a group from row `first` on. Returns the row after them."""
    if cards == 0:
        return first
    classes[first, CARDS] = cards
    classes[first, PLACES] = 0
    n = first + 1
    for place in range(len(sizes)):
        if sizes[place] > 0:
            for i in range(first, n):
                here = classes[i, CARDS] & ~banned[place]
                elsewhere = classes[i, CARDS] & banned[place]
                if here != 0 and elsewhere != 0:
                    classes[n, CARDS] = elsewhere
                    classes[n, PLACES] = classes[i, PLACES]
                    classes[i, CARDS] = here
                    n += 1
                if here != 0:
                    classes[i, PLACES] |= single(place)
    for i in range(first, n):
        classes[i, OBLIGED] = obliged
        classes[i, GROUP] = group
    return n


@rule
def put_widest_last(classes, first, end):
    """Sort rows by the number of places where their cards may lie: the last, which takes no steps, has the most."""
    for i in range(first + 1, end):
        for j in range(i, first, -1):
            if count(classes[j, PLACES]) >= count(classes[j - 1, PLACES]):
                break
            for column in range(2):  # the others are the same for all
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
                to_come[place] += count(row[CARDS])
    for i in range(len(classes) - 1):
        rest, later = classes[i, PLACES], 0
        for place in range(places):
            if has(rest, place):
                to_come[place] -= count(classes[i, CARDS])
        for j in range(i + 1, len(classes)):
            if classes[j, GROUP] == classes[i, GROUP]:
                later |= classes[j, PLACES]
        if count(rest) >= MANY and count(classes[i, CARDS]) == 1:
            write_card(steps[n], classes[i], sizes, to_come, later)
            n += 1
            continue
        owing, last = classes[i, OBLIGED], highest(rest)
        rest &= ~single(last)
        fresh = classes[i, CARDS]
        while rest != 0 or fresh != 0:
            to = lowest(rest) if rest != 0 else NOWHERE
            rest &= rest - 1
            write_place(steps[n], 0, to, sizes, to_come, owing, later)
            write_place(steps[n], REST, last if rest == 0 else NOWHERE, sizes, to_come, owing, later)
            steps[n, FRESH] = fresh
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
    step[FRESH] = row[CARDS]
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
        begin, most = ends[at_step], len(sizes)
        for size in sizes:
            most = max(most, size + 1)
        most = end + (end - begin) * most
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
        left = count(step[FRESH]) if step[FRESH] != 0 else keys[at, LEFT]
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
    slot = (key * HASH >> 20) & mask
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
    left, ways = count(last[CARDS]), binomials[0, 0]
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
def mean_of_last(keys, ends, ways, last, sizes, deals, means):
    """Count the deals from each key before the last class on, and all deals, which are returned.

    Adds to `means`, f8[places], how many cards of the last class each place has, summed over all deals.
    """
    total = 0.0
    for at in range(ends[-2], ends[-1]):
        key = keys[at, KEY]
        deals[at] = ways_to_fill(key, last, sizes, ROUGH_BINOMIALS)
        total += ways[at] * deals[at]
        for place in range(len(sizes)):
            means[place] += ways[at] * deals[at] * (key & ((1 << width(sizes[place])) - 1))
            key >>= width(sizes[place])
    return total


@rule
def mean_of_step(step, keys, ends, ways, deals, means):
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
        left = count(step[FRESH]) if step[FRESH] != 0 else keys[at, LEFT]
        fewest, most = bounds(step, key, left)
        for x in range(fewest, most + 1):
            after = after_step(step, key, left, x)
            if after < 0:
                continue
            further = ROUGH_BINOMIALS[left, x] * deals[found[slot_of(after, keys, found)] - 1]
            deals[at] += further
            if step[TO] != NOWHERE:
                means[step[TO]] += ways[at] * further * x
            if step[REST] != NOWHERE:
                means[step[REST]] += ways[at] * further * (left - x)


@rule
def draw_below(stream, total, pick, exact):
    """Write a number drawn evenly below `total` into pick[0], which has its type."""
    if exact:
        pick[0] = below(stream, np.int64(total))
    else:
        pick[0] = uniform(stream) * total


@rule
def deal_in_steps(last, steps, sizes, dealt, ways, binomials, exact, stream):
    """Count, then draw a chain of keys backwards, then the cards of each step. Returns whether a deal fits."""
    keys, ends, ways = count_ways(steps, sizes, ways, binomials)
    total = count_ends(keys, ends, ways, last, sizes, binomials)
    if total == 0:
        return False
    pick, taken = np.empty(1, ways.dtype), np.empty(len(steps), np.int64)
    draw_below(stream, total, pick, exact)
    at = draw_end(keys, ends, ways, last, sizes, binomials, pick[0])
    room = np.empty(len(sizes), np.int64)
    key = keys[at, KEY]
    for place in range(len(sizes)):
        room[place] = key & ((1 << width(sizes[place])) - 1)
        key >>= width(sizes[place])
    for at_step in range(len(steps) - 1, -1, -1):
        draw_below(stream, ways[at], pick, exact)
        before = draw_before(steps[at_step], keys, ways, ends[at_step], ends[at_step + 1], at, binomials, pick[0])
        taken[at_step] = taken_between(steps[at_step], keys[before, KEY], keys[at, KEY])
        at = before
    left = 0
    for at_step in range(len(steps)):
        step = steps[at_step]
        if step[FRESH] != 0:
            left = step[FRESH]
        if step[ANY] != 0:
            dealt[taken[at_step]] |= left
            continue
        chosen = some_of(left, taken[at_step], stream)
        left &= ~chosen
        if step[TO] != NOWHERE:
            dealt[step[TO]] |= chosen
        if step[REST] != NOWHERE:
            dealt[step[REST]] |= left
    hand_out(last[CARDS], room, dealt, stream)
    return True


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
            left = count(step[FRESH]) if step[FRESH] != 0 else keys[at, LEFT]
            if 0 <= x <= left and after_step(step, key, left, x) == keys[target, KEY]:
                share += ways[at] * binomials[left, x]
        if share > 0:
            chosen = at
            if pick < share:
                break
            pick -= share
    return chosen
