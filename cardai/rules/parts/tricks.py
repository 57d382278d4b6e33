"""Tricks: following suit, forced trumps, who takes the trick, and what a played card tells. Cards are 4 * rank + suit.

Fields, all declared: `hands` with their `known` and `lacks`; `table`, the card of each seat, NONE where none lies;
`leader`, the seat that leads the trick. The seat that plays is `turn`. A trick begins with an empty table. Declared:

    hands=Hand(known="known", lacks="lacks"), known=Known("hands"), lacks=Lacks("hands"),
    table=Each(Card("trick")), leader=Seat("leader"),

`trump` is a suit, or NONE for none. `order` says how high each rank is, int64[2, ranks]: row 0 where the suit is no
trump, row 1 in trumps. `BY_RANK` is the order of most games: the higher rank is the higher card.
"""

import numpy as np

from cardai.rules import rule
from cardai.rules.cards import any_of, lowest, rank, single, suit, suit_cards

NONE = -1
BY_RANK = np.array([range(13), range(13)])


@rule
def deal_hands(state, cards, size):
    """Deal `size` cards of a set to each seat, by the state's chance, before an empty table; returns the last card."""
    card = NONE
    for seat in range(state.seats):
        state.table[seat] = NONE
        for _ in range(size):
            card = any_of(cards, state)
            cards &= ~single(card)
            state.hands[seat] |= single(card)
    return card


@rule
def card_led(state):
    """The card that the leader has played to this trick, or NONE."""
    return state.table[state.leader]


@rule
def may_follow(hand, led):
    """The cards of a hand that follow suit: those of the suit of the card `led`; all if it has none, or led is NONE."""
    same = hand & suit_cards(suit(led)) if led != NONE else 0
    return same if same != 0 else hand


@rule
def beats(card, other, trump, order):
    """Whether a card takes the trick from `other`, a card that would have taken it so far."""
    if suit(card) == suit(other):
        row = 1 if suit(card) == trump else 0
        return order[row, rank(card)] > order[row, rank(other)]
    return suit(card) == trump


@rule
def taker(state, trump, order):
    """The seat whose card takes the trick so far; the leader has played."""
    best = state.leader
    for seat in range(state.seats):
        if state.table[seat] != NONE and beats(state.table[seat], state.table[best], trump, order):
            best = seat
    return best


@rule
def over(state, cards, trump, order):
    """Those of some cards that are trumps over the highest trump of a trick that has begun; all trumps if none lies."""
    top, rest, found = state.table[taker(state, trump, order)], cards & suit_cards(trump), 0
    while rest != 0:
        if beats(lowest(rest), top, trump, order):
            found |= single(lowest(rest))
        rest &= rest - 1
    return found


@rule
def may_play(state, trump, order, forced):
    """The cards that the seat to move may play.

    It follows suit if it can. Where `forced` is not 0, who cannot must trump if it can, and who plays a trump, for
    this or since trumps are led, must go over the highest trump that lies there if it can (as in Klaverjassen).
    """
    hand, led = state.hands[state.turn], card_led(state)
    cards = may_follow(hand, led)
    if forced == 0 or led == NONE or trump == NONE or (suit(led) != trump and suit(lowest(cards)) == suit(led)):
        return cards
    for better in (over(state, cards, trump, order), cards & suit_cards(trump)):
        if better != 0:
            return better
    return cards


@rule
def note_forced(state, card, trump, order, deck):
    """Write to `lacks` what a card tells beside the suit led, where trumps are forced: before `play_card`."""
    led = card_led(state)
    if led == NONE or trump == NONE or (suit(card) == suit(led) != trump):
        return
    if suit(card) != trump:
        state.lacks[state.turn] |= suit_cards(trump) & deck
    elif over(state, single(card), trump, order) == 0:
        state.lacks[state.turn] |= over(state, deck, trump, order)


@rule
def play_card(state, card, deck):
    """The seat to move plays a card. Who does not follow suit has no card of it: `lacks`. `deck`: the set of all."""
    seat, led = state.turn, card_led(state)
    if led != NONE and suit(card) != suit(led):
        state.lacks[seat] |= suit_cards(suit(led)) & deck
    state.hands[seat] &= ~single(card)
    state.known[seat] &= ~single(card)
    state.table[seat] = card


@rule
def pass_turn(state):
    """The next seat is to move; returns whether the trick is over, which it is if that seat has led."""
    state.turn = (state.turn + 1) % state.seats
    return state.turn == state.leader


@rule
def on_table(state):
    """The cards of the trick, as a set."""
    cards = 0
    for seat in range(state.seats):
        if state.table[seat] != NONE:
            cards |= single(state.table[seat])
    return cards


@rule
def gather(state, seat):
    """A seat takes the trick, leads the next one and is to move. The table is empty; returns what lay there, a set."""
    cards = on_table(state)
    for other in range(state.seats):
        state.table[other] = NONE
    state.leader = seat
    state.turn = seat
    return cards
