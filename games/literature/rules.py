"""Literature for four or six: the state, the deal, who may ask and claim what, what a move does. Numbers: RULES.md.

Seats with even numbers are one team, those with odd numbers the other. Cards and half-suits are those of `deck.py`.
"""

import numpy as np

from cardai.game import move_dtype
from cardai.game.declared import Card, Each, Flag, Hand, Known, Lacks, Number, Option, Seat, State
from cardai.rules import below, rule, shuffle
from cardai.rules.cards import count, full_deck, has, lowest, single

from .deck import CARDS, DECK, HALVES, NONE, SIX, card_of, cards_of, half_of
from .proof import FOUR_LEFT, TWO_LEFT, fitting_claims, live, proven_claims, shown

SEATS = 6
EVEN, ODD, NOBODY = range(3)  # the places of `won`
MOST_ASKS = 400  # the largest `limit` of a variant
DROP, LOSE = range(2)  # option `wrong`
ASK, CLAIM, NO_CLAIM, GIVE = range(4)  # kinds of move

STATE = State(
    DECK,
    SEATS,
    # Options, set by the variant.
    any_seat=Option(),  # 3.5: whether all seats may claim, in windows after the deal and after each ask
    proof=Option(),  # 3.4: whether a claim must be proven
    wrong=Option(),  # 3.2: who has a half-suit that the own team held, but not as claimed: 0 nobody, 1 the opponents
    limit=Option(),  # 4.3: how many asks there may be
    # The cards.
    hands=Hand(known="known", lacks="lacks"),
    known=Known("hands"),  # 5.1: those that have been shown
    lacks=Lacks("hands"),  # 5.1: cards not shown
    must=Each(Number()),  # 5.1: the half-suits of which each hand has a card that has not been shown, as a set of 0..7
    won=Number(shape=(3,)),  # the half-suits claimed: those that the even team has, the odd team, nobody; sets of 0..7
    # Whose turn it is.
    mover=Seat(),  # the seat that asks next
    window=Seat(),  # 3.5: the seat that is asked for a claim out of turn, or NONE
    closer=Seat(),  # 4.1: the seat that claims all that is live, or NONE
    giving=Flag(),  # 3.6: 1 while the mover, without cards, chooses a teammate
    asks=Number(),  # how many there have been
    moved=Number(low=NONE, high=3),  # the kind of the last move; NONE before the first one
    pending=Number(low=NONE, high=3),  # the kind of the move that `settle` has yet to carry out; NONE: none
    # The last ask; all are NONE before the first one.
    asker=Seat(),
    asked=Seat(),
    card=Card(is_place=False),
    answer=Number(low=NONE, high=1),  # 1 if the card was given, 0 if not, NONE before the answer
    # The last claim; all are NONE before the first one.
    claimant=Seat(),
    claimed=Number(low=NONE, high=7),  # the half-suit
    names=Number(),  # as in the move
)
MOVE = move_dtype(
    "kind",  # 0 ask, 1 claim, 2 no claim, 3 give the turn to a teammate
    "what",  # the card asked for, 0..47; the half-suit claimed, 0..7; else 0
    "step",  # how far to the left the seat is that is asked, or that gets the turn; else 0
    "names",  # of a claim with six seats: bit i is set if the i-th card is with the teammate at +4
)


@rule
def team_cards(state, team):
    """All cards in the hands of a team, 0 the even or 1 the odd one."""
    cards = 0
    for seat in range(team, state.seats, 2):
        cards |= state.hands[seat]
    return cards


@rule
def deal(state):
    cards = np.empty(CARDS, np.int64)
    for card in range(CARDS):
        cards[card] = card
    shuffle(state, cards, 0, CARDS)
    size = CARDS // state.seats
    for seat in range(state.seats):
        for place in range(size):
            state.hands[seat] |= single(cards[seat * size + place])
    state.mover = below(state, state.seats)
    state.window = NONE
    state.closer = NONE
    state.moved, state.pending = NONE, NONE
    state.asker, state.asked, state.card, state.answer = NONE, NONE, NONE, NONE
    state.claimant, state.claimed, state.names = NONE, NONE, NONE
    next_window(state, 0)


@rule
def legal(state, moves):
    if state.giving != 0:
        return gifts(state, moves)
    n = 0
    if state.window == NONE and state.closer == NONE:
        n = asks(state, moves)
    n = claims(state, moves, n)
    if state.window != NONE:
        n = write(moves, n, NO_CLAIM, 0, 0, 0)
    return n


@rule
def write(moves, n, kind, what, step, names):
    """Write a move in place n. Returns the next place."""
    moves[n].kind = kind
    moves[n].what = what
    moves[n].step = step
    moves[n].names = names
    return n + 1


@rule
def asks(state, moves):
    """2.1: write the asks of the mover."""
    rest, n = may_ask_for(state, state.mover), 0
    while rest != 0:
        card = lowest(rest)
        rest &= rest - 1
        for step in range(1, state.seats, 2):
            if state.hands[(state.mover + step) % state.seats] != 0:
                n = write(moves, n, ASK, card, step, 0)
    return n


@rule
def may_ask_for(state, seat):
    """2.1: the cards that a seat lacks, of the half-suits of which it holds a card."""
    cards = 0
    for half in range(HALVES):
        if state.hands[seat] & cards_of(half) != 0:
            cards |= cards_of(half)
    return cards & ~state.hands[seat]


@rule
def claims(state, moves, n):
    """3.3, 3.4: write the claims of the seat to move from place n on."""
    if state.proof != 0 and state.closer == NONE:
        names = np.empty(HALVES, np.int64)
        proven_claims(state, state.turn, names)
        for half in range(HALVES):
            if names[half] != NONE:
                n = write(moves, n, CLAIM, half, 0, names[half])
        return n
    fitting = np.empty(single(SIX), np.int64)
    for half in range(HALVES):
        if has(live(state), half):
            for i in range(fitting_claims(state, state.turn, half, fitting)):
                n = write(moves, n, CLAIM, half, 0, fitting[i])
    return n


@rule
def gifts(state, moves):
    """3.6: write the teammates to whom the mover may give the turn."""
    n = 0
    for step in range(2, state.seats, 2):
        if state.hands[(state.mover + step) % state.seats] != 0:
            n = write(moves, n, GIVE, 0, step, 0)
    return n


@rule
def act(state, move):
    seat = state.turn
    state.moved, state.pending = move.kind, move.kind
    if move.kind == ASK:
        note_ask(state, seat, (seat + move.step) % state.seats, move.what)
    elif move.kind == CLAIM:
        state.claimant, state.claimed, state.names = seat, move.what, move.names
    elif move.kind == GIVE:
        state.mover = (seat + move.step) % state.seats
        state.giving = 0


@rule
def note_ask(state, asker, asked, card):
    """5.2: what an ask tells before its answer: the asker has a card of the half-suit, and not the card itself."""
    state.asks += 1
    state.asker, state.asked, state.card, state.answer = asker, asked, card, NONE
    if state.known[asker] & cards_of(half_of(card)) == 0:
        state.must[asker] |= single(half_of(card))
    if not has(shown(state), card):
        state.lacks[asker] |= single(card)


@rule
def settle(state):
    kind = state.pending
    state.pending = NONE
    if kind == ASK:
        give_answer(state)
    elif kind == CLAIM:
        carry_out_claim(state)
    if live(state) == 0:  # 4.2
        state.turn = NONE
    elif has_team_without_cards(state):
        close(state)
    elif kind == ASK:
        next_window(state, 0)
    elif state.window != NONE:
        next_window(state, state.window + (kind == NO_CLAIM))
    else:
        start_turn(state)


@rule
def give_answer(state):
    """2.2, 5.2: the card changes hands if it can; everybody learns where it is, or that two seats lack it."""
    card, asker, asked = single(state.card), state.asker, state.asked
    was_shown = shown(state) & card != 0
    if not was_shown:
        state.revealed = full_deck(state.seats) & ~single(asked)
    state.answer = int(state.hands[asked] & card != 0)
    if state.answer == 0:
        state.mover = asked
        if not was_shown:
            state.lacks[asked] |= card
        return
    state.hands[asked] &= ~card
    state.hands[asker] |= card
    state.known[asked] &= ~card
    state.known[asker] |= card
    if not was_shown:
        state.must[asked] &= ~single(half_of(state.card))  # it may have been the one
        for seat in range(state.seats):
            state.lacks[seat] &= ~card


@rule
def carry_out_claim(state):
    """3.1, 3.2: the half-suit goes to a team or to nobody, and its cards leave the game."""
    half, cards = state.claimed, cards_of(state.claimed)
    owner = owner_after_claim(state)
    state.won[owner] |= single(half)
    if owner == state.claimant % 2:
        state.mover = state.claimant  # 3.5
    for other in range(state.seats):
        state.hands[other] &= ~cards
        state.known[other] &= ~cards
        state.lacks[other] &= ~cards
        state.must[other] &= ~single(half)
    state.revealed = full_deck(state.seats)


@rule
def owner_after_claim(state):
    """3.2: who has the half-suit that has been claimed: EVEN, ODD or NOBODY."""
    own = state.claimant % 2
    if team_cards(state, 1 - own) & cards_of(state.claimed) != 0:
        return 1 - own
    if is_claim_right(state):
        return own
    return 1 - own if state.wrong == LOSE else NOBODY


@rule
def is_claim_right(state):
    """3.1: whether each card of the claimed half-suit is in the own hand or with the teammate that the claim names."""
    seat = state.claimant
    for i in range(SIX):
        step = FOUR_LEFT if has(state.names, i) else TWO_LEFT
        if not has(state.hands[seat] | state.hands[(seat + step) % state.seats], card_of(state.claimed, i)):
            return False
    return True


@rule
def has_team_without_cards(state):
    return team_cards(state, EVEN) == 0 or team_cards(state, ODD) == 0


@rule
def close(state):
    """4.1: one seat claims all that is live: the mover, or the next on its left with cards."""
    if state.closer == NONE:
        state.closer = state.mover
        while state.hands[state.closer] == 0:
            state.closer = (state.closer + 1) % state.seats
        state.window = NONE
    state.turn = state.closer


@rule
def next_window(state, first):
    """3.5: ask the next seat for a claim, from seat `first` on; after the last one the mover goes on."""
    if state.any_seat != 0:
        for seat in range(first, state.seats):
            if may_claim_something(state, seat):
                state.window = seat
                state.turn = seat
                return
    state.window = NONE
    start_turn(state)


@rule
def may_claim_something(state, seat):
    """3.5: whether a seat may have a claim as far as everybody knows.

    It has none of a half-suit of which an opponent has shown a card, nor a proven one of a half-suit of which an
    opponent must have a card.
    """
    seen, due = 0, 0
    for other in range((seat + 1) % 2, state.seats, 2):
        seen |= state.known[other]
        due |= state.must[other]
    if state.proof == 0:
        due = 0
    for half in range(HALVES):
        if has(live(state) & ~due, half) and seen & cards_of(half) == 0:
            return True
    return False


@rule
def start_turn(state):
    """The mover's turn; 3.6: without cards, it goes to a teammate; 4.3: after the last ask, the game is cut."""
    mover = state.mover
    if state.asks >= state.limit:
        state.turn = NONE
        return
    if state.hands[mover] == 0:
        helpers, following = 0, NONE
        for step in range(2, state.seats, 2):
            if state.hands[(mover + step) % state.seats] != 0:
                helpers += 1
                following = (mover + step) % state.seats
        state.giving = int(helpers > 1)
        if helpers == 1:
            state.mover = following
    state.turn = state.mover


@rule
def score(state, seat):
    """4.2, 4.3: 1 for the team with more half-suits, 0.5 for a tie."""
    if live(state) != 0:
        return 0.5
    own, others = count(state.won[seat % 2]), count(state.won[1 - seat % 2])
    if own == others:
        return 0.5
    return 1.0 if own > others else 0.0
