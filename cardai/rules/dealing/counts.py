"""Dealing cards that are alike, and sets of more cards than a number holds: forms of the rules of
`cardai.rules.dealing`.

Cards are counts, int64[kinds]: how many there are of each kind. Bans and groups are sets of kinds. A wide set is the
case of one card of each kind, in which bans and groups are wide sets too. Cards of a kind are told apart when deals are
counted and drawn.
"""

import numpy as np

from cardai.rules import WORD, rule, separate
from cardai.rules.cards import add, any_kind, clear, has, single
from cardai.rules.dealing.steps import (
    ANY,
    CARDS,
    CLASS,
    FIRST_KEYS,
    FREE,
    FRESH,
    GROUP,
    NOWHERE,
    OBLIGED,
    PLACES,
    REST,
    SIZE,
    TO,
    adds_up,
    check_key,
    count_ends,
    count_ways,
    draw_chain,
    put_widest_last,
    steps_of,
    sum_over_deals,
)

NO_CLASS = -1


@separate
def redeal(hands, known, lacks, seat, stream):
    """The form of `cardai.rules.dealing.redeal` for counts: hands, known int64[seats, kinds], lacks int64[seats]."""
    places, kinds = hands.shape
    sizes, dealt, hidden = np.zeros(places, np.int64), np.empty((places, kinds), np.int64), np.zeros(kinds, np.int64)
    gather(hands, known, seat, sizes, hidden)
    fits = deal_obliged(hidden, sizes, lacks, lacks[:0], sizes[:0], dealt, stream)
    for place in range(places):
        for kind in range(kinds):
            hands[place, kind] += dealt[place, kind]
    return fits


@separate
def redeal_freely(hands, known, stream):
    """The same for all hands where none lacks anything, which compiles in far less time."""
    sizes, hidden = np.zeros(len(hands), np.int64), np.zeros(hands.shape[1], np.int64)
    gather(hands, known, len(hands), sizes, hidden)
    for place in range(len(hands)):
        move_some(hidden, hands[place], sizes[place], stream)


@rule
def gather(hands, known, seat, sizes, hidden):
    """Take the cards that `seat` does not know out of the other hands, and write how many of each kind and hand."""
    for place in range(len(hands)):
        if place != seat:
            for kind in range(len(hidden)):
                unknown = hands[place, kind] - known[place, kind]
                hidden[kind] += unknown
                sizes[place] += unknown
                hands[place, kind] -= unknown


@separate
def redeal_wide(hands, known, lacks, seat, stream):
    """The form of `cardai.rules.dealing.redeal` for wide sets: all are int64[seats, words]."""
    places, kinds = len(hands), WORD * hands.shape[1]
    sizes, hidden = np.zeros(places, np.int64), np.zeros(kinds, np.int64)
    for place in range(places):
        for card in range(kinds):
            if place != seat and has(hands[place], card) and not has(known[place], card):
                hidden[card] = 1
                sizes[place] += 1
        if place != seat:
            for word in range(hands.shape[1]):
                hands[place, word] &= known[place, word]
    dealt = np.empty((places, kinds), np.int64)
    fits = deal_obliged(hidden, sizes, lacks, lacks[:0], sizes[:0], dealt, stream)
    for place in range(places):
        add_all(hands[place], dealt[place])
    return fits


@separate
def deal_obliged(cards, sizes, banned, groups, must, dealt, stream):
    """The form of `cardai.rules.dealing.deal_obliged` for counts: cards int64[kinds], dealt int64[places, kinds]."""
    for place in range(len(dealt)):
        clear(dealt[place])
    total = cards.sum()
    if not adds_up(total, sizes):
        return False
    left = cards.copy()
    if not is_restricted(cards, sizes, banned, groups, must):
        for place in range(len(sizes)):
            move_some(left, dealt[place], sizes[place], stream)
        return True
    class_of = np.empty(len(cards), np.int64)
    classes, steps = plan(cards, sizes, banned, groups, must, class_of)
    if len(classes) == 0:
        return False
    check_key(sizes)
    taken, room = np.empty(len(steps), np.int64), np.empty(len(sizes), np.int64)
    ways = np.ones(FIRST_KEYS, np.float64)
    if not draw_chain(classes[-1], steps, sizes, ways, binomials_up_to(total), False, stream, taken, room):
        return False
    for at_step in range(len(steps)):
        step = steps[at_step]
        if step[FRESH] != 0:
            take_class(cards, class_of, classes[step[CLASS], CARDS], left)
        if step[ANY] != 0:
            move_some(left, dealt[taken[at_step]], 1, stream)
            continue
        if step[TO] != NOWHERE:
            move_some(left, dealt[step[TO]], taken[at_step], stream)
        if step[REST] != NOWHERE:
            move_some(left, dealt[step[REST]], left.sum(), stream)
    take_class(cards, class_of, classes[-1, CARDS], left)
    for place in range(len(sizes)):
        move_some(left, dealt[place], room[place], stream)
    return True


@separate
def deal_obliged_wide(cards, sizes, banned, groups, must, dealt, stream):
    """The form of `cardai.rules.dealing.deal_obliged` for wide sets: dealt int64[places, words], groups too."""
    counts = as_counts(cards)
    given = np.empty((len(sizes), len(counts)), np.int64)
    fits = deal_obliged(counts, sizes, banned, groups, must, given, stream)
    for place in range(len(sizes)):
        clear(dealt[place])
        add_all(dealt[place], given[place])
    return fits


@separate
def deal_count(cards, sizes, banned, groups, must):
    """The form of `cardai.rules.dealing.deal_count` for counts. Cards of a kind are told apart."""
    total = cards.sum()
    if not adds_up(total, sizes):
        return 0.0
    classes, steps = plan(cards, sizes, banned, groups, must, np.empty(len(cards), np.int64))
    if len(classes) == 0:
        return 0.0
    check_key(sizes)
    binomials = binomials_up_to(total)
    keys, ends, ways = count_ways(steps, sizes, np.ones(FIRST_KEYS, np.float64), binomials)
    return count_ends(keys, ends, ways, classes[-1], sizes, binomials)


@separate
def deal_count_wide(cards, sizes, banned, groups, must):
    """The form of `cardai.rules.dealing.deal_count` for wide sets."""
    return deal_count(as_counts(cards), sizes, banned, groups, must)


@separate
def deal_chances(cards, sizes, banned, groups, must, chances):
    """The form of `cardai.rules.dealing.deal_chances` for counts: the expected number of each kind in each place."""
    for place in range(len(chances)):
        for kind in range(chances.shape[1]):
            chances[place, kind] = 0.0
    total = cards.sum()
    if not adds_up(total, sizes):
        return False
    class_of = np.empty(len(cards), np.int64)
    classes, steps = plan(cards, sizes, banned, groups, must, class_of)
    if len(classes) == 0:
        return False
    check_key(sizes)
    sums = np.zeros((len(classes), len(sizes)))
    deals = sum_over_deals(steps, sizes, classes[-1], binomials_up_to(total), sums)
    if deals == 0:
        return False
    for row in range(len(classes)):
        for kind in range(len(cards)):
            if class_of[kind] == classes[row, CARDS]:
                for place in range(len(sizes)):
                    chances[place, kind] = sums[row, place] * cards[kind] / (deals * classes[row, SIZE])
    return True


@separate
def deal_chances_wide(cards, sizes, banned, groups, must, chances):
    """The form of `cardai.rules.dealing.deal_chances` for wide sets."""
    counts = as_counts(cards)
    expected = np.empty((len(sizes), len(counts)))
    fits = deal_chances(counts, sizes, banned, groups, must, expected)
    for place in range(len(chances)):
        for card in range(chances.shape[1]):
            chances[place, card] = expected[place, card] if card < len(counts) else 0.0
    return fits


@rule
def as_counts(cards):
    """A wide set as counts of its cards: int64[60 * words]."""
    counts = np.zeros(WORD * len(cards), np.int64)
    for card in range(len(counts)):
        counts[card] = has(cards, card)
    return counts


@rule
def add_all(cards, counts):
    """Add to a wide set, in place, the cards that are counted."""
    for card in range(len(counts)):
        if counts[card] != 0:
            add(cards, card)


@rule
def binomials_up_to(most):
    """Binomial coefficients up to those of `most`, or of 1: float64[most + 1, most + 1]."""
    size = max(most, 1) + 1
    found = np.zeros((size, size))
    for n in range(size):
        found[n, 0] = 1.0
        for k in range(1, n + 1):
            found[n, k] = found[n - 1, k - 1] + found[n - 1, k]
    return found


@rule
def move_some(left, into, number, stream):
    """Move `number` cards, each as likely as the others, from counts to other counts."""
    for _ in range(number):
        kind = any_kind(left, stream)
        left[kind] -= 1
        into[kind] += 1


@rule
def take_class(cards, class_of, number, left):
    """Write the cards of the kinds of a class into `left`."""
    for kind in range(len(cards)):
        left[kind] = cards[kind] if class_of[kind] == number else 0


@rule
def is_restricted(cards, sizes, banned, groups, must):
    """Whether some place that gets cards may not get all of them, or must get one of a group."""
    for place in range(len(sizes)):
        if len(groups) > 0 and must[place] != 0:
            return True
        for kind in range(len(cards)):
            if sizes[place] > 0 and cards[kind] > 0 and has(banned[place], kind):
                return True
    return False


@separate
def plan(cards, sizes, banned, groups, must, class_of):
    """The classes, and the steps that deal all of them but the last: int64[classes, 5], int64[steps, columns].

    `class_of`: int64[kinds], written here: the class of each kind, as in its column CARDS. There are no classes if a
    card may lie nowhere, or if no card of a group may lie where one must.
    """
    classes, n = np.zeros((len(cards) + 1, 5), np.int64), 0
    for kind in range(len(cards)):
        class_of[kind] = NO_CLASS
    for group in range(len(groups)):
        obliged, reached, first = 0, 0, n
        for place in range(len(sizes)):
            if has(must[place], group):
                obliged |= single(place)
        if obliged != 0:
            for kind in range(len(cards)):
                if cards[kind] > 0 and has(groups[group], kind):
                    where = places_of(kind, sizes, banned)
                    reached |= where
                    n = classify(kind, cards[kind], where, obliged, group, classes, first, n, class_of)
            if obliged & ~reached != 0:
                return classes[:0], classes[:0]
    first = n
    for kind in range(len(cards)):
        if cards[kind] > 0 and class_of[kind] == NO_CLASS:
            where = places_of(kind, sizes, banned)
            n = classify(kind, cards[kind], where, 0, FREE, classes, first, n, class_of)
    if n == first:  # the last class fills all room that is left; here there is none
        classes[n, CARDS] = n + 1
        n += 1
    put_widest_last(classes, first, n)
    for i in range(n):
        if classes[i, SIZE] != 0 and classes[i, PLACES] == 0:
            return classes[:0], classes[:0]
    return classes[:n], steps_of(classes[:n], sizes)


@rule
def places_of(kind, sizes, banned):
    """The places where cards of a kind may lie."""
    where = 0
    for place in range(len(sizes)):
        if sizes[place] > 0 and not has(banned[place], kind):
            where |= single(place)
    return where


@rule
def classify(kind, number, where, obliged, group, classes, first, end, class_of):
    """Add a kind to its class, one of the rows from `first` on, or to a new one. Returns the row after them."""
    row = first
    while row < end and classes[row, PLACES] != where:
        row += 1
    if row == end:
        classes[row, CARDS] = row + 1
        classes[row, PLACES] = where
        classes[row, OBLIGED] = obliged
        classes[row, GROUP] = group
    classes[row, SIZE] += number
    class_of[kind] = classes[row, CARDS]
    return max(end, row + 1)
