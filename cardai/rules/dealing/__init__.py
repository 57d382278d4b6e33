"""Hidden cards dealt evenly when some places cannot hold some cards, or must hold one of some cards.

A rule `resample` calls one of these; `docs/dealing.md` has examples. A place is whatever holds cards: a hand, the
stock. Cards are a set in one number, a wide set, or counts of kinds that are alike: the types of the arguments say so.

    redeal          deals all hands but one anew, in place: all that most trick-taking games need
    deal_hidden     deals cards to places; a place has a set of cards that it cannot hold ("could not follow suit")
    deal_piles      deals cards of several shuffles, of which it is known how many each place has
    deal_obliged    also with obligations: a place holds at least one card of a group
    deal_count      how many deals there are
    deal_chances    the chance of each card to be in each place
    weight_of       how likely counts of kinds are: the rule `weight` of a game with a deck that is a list

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

Cards of kinds that are alike are counted one by one, as if they were told apart, so each such deal is as likely as the
others: a class has the cards of its kinds, copies and all.

For a set in one number all this is exact in int64 if there are at most 2^62 deals when bans and obligations are ignored
(39 cards to three hands: 2^56.2). If there are more, and for wide sets and counts, `ways` are float64, and the
probabilities are rounded at about the fifteenth digit.

The work grows with the number of keys: for each step, at most the product of (size + 1) over all places, and far
fewer if bans leave little choice. It is about 1 us for three places, and some milliseconds for five places with eight
cards each.
"""

import numpy as np

from cardai.rules import forms, rule, separate
from cardai.rules.cards import any_of, count, has, lowest, single
from cardai.rules.dealing import counts
from cardai.rules.dealing.steps import (
    ANY,
    BINOMIALS,
    CARDS,
    CLASS,
    EXACT,
    FIRST_KEYS,
    FREE,
    FRESH,
    GROUP,
    MOST_CARDS,
    NOWHERE,
    OBLIGED,
    PLACES,
    REST,
    ROUGH_BINOMIALS,
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
    unrestricted_count,
)

__all__ = ["deal_chances", "deal_count", "deal_hidden", "deal_obliged", "deal_piles", "redeal", "weight_of"]


@forms({(2, 2, 1): counts.redeal, (2, 2, 2): counts.redeal_wide}, separate)
def redeal(hands, known, lacks, seat, stream):
    """Deal anew, evenly, what `seat` cannot know of the other hands. Returns whether a deal fits.

    `hands`: int64[seats], changed in place; every hand keeps its size. `known`: int64[seats], the cards of each hand
    that `seat` knows to be there, whatever `lacks` says; its own hand need not be in it. `lacks`: int64[seats], cards
    that each hand cannot hold. `stream`: a random stream. Of wide sets all three are int64[seats, words]; of counts,
    `hands` and `known` are int64[seats, kinds], and `lacks` are sets of kinds.
    If no deal fits, because `lacks` excludes the true one by mistake, the hidden cards are in no hand then, so that the
    law `cards_are_conserved` tells of it.
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

    `cards`: a set of at most 62 cards. `sizes`: int64[places], how many of them each place gets, all together.
    `banned`: int64[places], the cards that a place cannot hold. `dealt`: int64[places], what each place gets, written
    here; empty if no deal fits. `stream`: a random stream.
    Raises CardaiError if something is banned and the sizes, in binary and with one more for each place, have more than
    62 digits.
    """
    return deal_obliged(cards, sizes, banned, banned[:0], sizes[:0], dealt, stream)


@separate
def deal_piles(piles, sizes, banned, dealt, stream):
    """Deal the cards of several piles, of which it is known how many each place got. Returns whether a deal fits.

    `piles`: int64[piles], the hidden cards of each pile, which share none. `sizes`: int64[piles, places], how many of
    them each place has now. `banned`, `dealt`: as in `deal_hidden`, for all piles together. So each deal that fits is
    as likely as the others. Of wide sets and of counts, piles and what is dealt are rows.
    """
    given = np.empty_like(dealt)
    flat, more = dealt.reshape(-1), given.reshape(-1)
    flat[:] = 0
    for pile in range(len(piles)):
        if not deal_hidden(piles[pile], sizes[pile], banned, given, stream):
            flat[:] = 0
            return False
        for i in range(len(flat)):
            flat[i] += more[i]  # the sets of different piles share no card
    return True


@forms({(1, 1, 1): counts.deal_obliged, (1, 1, 2): counts.deal_obliged_wide}, separate)
def deal_obliged(cards, sizes, banned, groups, must, dealt, stream):
    """Deal like `deal_hidden`, and so that each place gets a card of each group that it must have.

    `groups`: int64[groups], at most 62 sets that share no card. `must`: int64[places], sets of numbers of groups: if
    bit g is set, the place gets at least one card of `groups[g]`. Returns whether a deal fits.
    """
    dealt[:] = 0
    if not adds_up(count(cards), sizes):
        return False
    if not is_restricted(cards, sizes, banned, groups, must):
        hand_out(cards, sizes, dealt, stream)
        return True
    classes, steps = plan(cards, sizes, banned, groups, must)
    if len(classes) == 0:
        return False
    check_key(sizes)
    if unrestricted_count(count(cards), sizes, ROUGH_BINOMIALS) <= EXACT:
        return deal_in_steps(classes, steps, sizes, dealt, np.ones(FIRST_KEYS, np.int64), BINOMIALS, True, stream)
    return deal_in_steps(classes, steps, sizes, dealt, np.ones(FIRST_KEYS, np.float64), ROUGH_BINOMIALS, False, stream)


@forms({(1, 1, 1): counts.deal_count, (1, 1, 2): counts.deal_count_wide}, separate)
def deal_count(cards, sizes, banned, groups, must):
    """How many deals `deal_obliged` draws from: float64, exact up to 2^53; 0 if no deal fits."""
    if not adds_up(count(cards), sizes):
        return 0.0
    classes, steps = plan(cards, sizes, banned, groups, must)
    if len(classes) == 0:
        return 0.0
    check_key(sizes)
    keys, ends, ways = count_ways(steps, sizes, np.ones(FIRST_KEYS, np.float64), ROUGH_BINOMIALS)
    return count_ends(keys, ends, ways, classes[-1], sizes, ROUGH_BINOMIALS)


@forms({(1, 1, 1): counts.deal_chances, (1, 1, 2): counts.deal_chances_wide}, separate)
def deal_chances(cards, sizes, banned, groups, must, chances):
    """Write the chance of each card to be in each place, over all deals that `deal_obliged` draws from.

    `chances`: float64[places, more than the highest card], in [0, 1], written here; 0 for cards that are not dealt, and
    everywhere if no deal fits. Correct to about the twelfth digit. Returns whether a deal fits.
    """
    chances[:] = 0.0
    if not adds_up(count(cards), sizes):
        return False
    classes, steps = plan(cards, sizes, banned, groups, must)
    if len(classes) == 0:
        return False
    check_key(sizes)
    means = np.zeros((len(classes), len(sizes)))
    total = sum_over_deals(steps, sizes, classes[-1], ROUGH_BINOMIALS, means)
    if total == 0:
        return False
    for row in range(len(classes)):
        left = classes[row, CARDS]
        while left != 0:
            for place in range(len(sizes)):
                chances[place, lowest(left)] = means[row, place] / (total * classes[row, SIZE])
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
def is_restricted(cards, sizes, banned, groups, must):
    """Whether some place that gets cards may not get all of them, or must get one of a group."""
    for place in range(len(sizes)):
        if sizes[place] > 0 and banned[place] & cards != 0:
            return True
        if len(groups) > 0 and must[place] != 0:
            return True
    return False


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
    """The classes, and the steps that deal all of them but the last: int64[classes, 5], int64[steps, columns].

    There are no classes if a card may lie nowhere, or if no card of a group may lie where one must.
    """
    classes = np.empty((MOST_CARDS + 1, 5), np.int64)
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
        classes[i, SIZE] = count(classes[i, CARDS])
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
def deal_in_steps(classes, steps, sizes, dealt, ways, binomials, exact, stream):
    """Draw how many cards each step deals, then which. Returns whether a deal fits."""
    taken, room = np.empty(len(steps), np.int64), np.empty(len(sizes), np.int64)
    if not draw_chain(classes[-1], steps, sizes, ways, binomials, exact, stream, taken, room):
        return False
    left = 0
    for at_step in range(len(steps)):
        step = steps[at_step]
        if step[FRESH] != 0:
            left = classes[step[CLASS], CARDS]
        if step[ANY] != 0:
            dealt[taken[at_step]] |= left
            continue
        chosen = some_of(left, taken[at_step], stream)
        left &= ~chosen
        if step[TO] != NOWHERE:
            dealt[step[TO]] |= chosen
        if step[REST] != NOWHERE:
            dealt[step[REST]] |= left
    hand_out(classes[-1, CARDS], room, dealt, stream)
    return True
