"""Moska for two to eight seats: the state, the deal, what a move does. Rule numbers refer to RULES.md.

Cards are those of `cardai.rules.cards` with 52 cards, suits C D H S. What may be played is in `moves.py`.
"""

from cardai.game.declared import (
    NONE,
    Card,
    Cards,
    Flag,
    Hand,
    Known,
    Moves,
    Number,
    Option,
    Order,
    Pile,
    Seat,
    Seats,
    State,
    Suit,
)  # fmt: skip
from cardai.rules import below, rule, shuffle
from cardai.rules.cards import DECK52, any_of, count, filled, full_deck, has, lowest, ranks_of, single, suit, suit_cards

DECK = 52
HAND = 6  # 1.1
SEATS = 8

STATE = State(
    DECK52,
    SEATS,
    # Options, set by the variant.
    self_attack=Option(),  # 2.4: DECK_NOW or BOUT_DECK
    attacker_ready=Option(),  # 4.4: whether an attacker who has just played counts as ready
    swap_two=Option(),  # 1.3
    poll=Option(),  # 6.1: whether ready seats are asked too
    # The cards.
    hands=Hand(known="known"),
    known=Known("hands"),  # 7.1
    deck=Order(DECK),  # from the bottom (the trump card, known to all) to the top
    deck_left=Number(),
    table=Pile(),  # cards of this bout that are not killed
    killed=Pile(),  # killed cards of this bout, and the cards that killed them
    discards=Pile(),  # cards that have left the game
    barring=Cards(),  # 3.2: the deck card that lies unkilled on the table
    turned=Card(),  # 3.2: the deck card that waits for its kill, or NONE
    trump=Suit(),
    trump_card=Card(is_place=False),  # the card at the bottom
    drawn=Seats(),  # 7.4: that may hold a hidden card drawn since the deal
    # The bout.
    target=Seat(),
    playing=Seats(),  # still in the game
    ready=Seats(),  # 4.4
    last=Seat(),  # the seat that moved last, or NONE
    bout_deck=Flag(),  # whether there was a deck when this bout began
    pending=Number(),  # the kind of move that `settle` has to complete; SKIP for nothing
    picked=Flag(),  # whether the target picked up cards at the end just made
)
MOVE = Moves(
    "ends, picks {cards}",
    "opens {cards}",
    "attacks {cards}",
    "plays {cards} to himself",
    "kills {targets:cards} with {cards}",
    "turns the deck",
    "skips",
    "kills {targets:cards} with turned {cards}",
)
END, OPEN, ATTACK, SELF, KILL, TURN, SKIP, KILL_TURNED = range(8)

DECK_NOW, BOUT_DECK = 0, 1
IN_DECK = SEATS


@rule
def killed_by(card, trump):
    """Returns the set of cards that `card` kills."""
    lower = suit_cards(suit(card)) & (single(card) - 1)
    return lower | (full_deck(DECK) & ~suit_cards(trump)) if suit(card) == trump else lower


@rule
def playable(state, hand):
    """2.2: the cards of a hand whose rank is on the table."""
    return hand & ranks_of(state.table | state.killed)


@rule
def left_of(state, seat):
    """The next seat clockwise that is still in the game."""
    seat = (seat + 1) % state.seats
    while not has(state.playing, seat):
        seat = (seat + 1) % state.seats
    return seat


@rule
def initiating_seat(state):
    """1.4: the next seat on the target's right that is still in the game."""
    seat = (state.target - 1) % state.seats
    while not has(state.playing, seat):
        seat = (seat - 1) % state.seats
    return seat


@rule
def is_open(state):
    """Whether the bout has been opened."""
    return (state.table | state.killed) != 0


@rule
def attackers(state):
    """The set of seats still in the game, without the target."""
    return state.playing & ~single(state.target)


@rule
def all_others_ready(state):
    """4.1, 4.4: whether every attacker is ready."""
    return attackers(state) & ~state.ready == 0


@rule
def room_to_attack(state):
    """2.1, 2.2: how many more cards may be played to the target."""
    return count(state.hands[state.target]) - count(state.table)


@rule
def deal(state):
    for card in range(DECK):
        state.deck[card] = card
    shuffle(state, state.deck, 0, DECK)
    state.deck_left = DECK
    for seat in range(state.seats):
        for _ in range(HAND):
            state.hands[seat] |= single(take_top(state))
    # 1.2: the next card is turned and lies at the bottom.
    top = state.deck_left - 1
    turned = state.deck[top]
    state.deck[top] = state.deck[0]
    state.deck[0] = turned
    state.trump = suit(turned)
    two = state.trump  # the lowest card of the trump suit
    if state.swap_two != 0:
        for seat in range(state.seats):
            if has(state.hands[seat], two):  # 1.3
                state.hands[seat] ^= single(two) | single(turned)
                state.known[seat] = single(turned)
                state.deck[0] = two
    state.trump_card = state.deck[0]
    state.turned = NONE
    state.last = NONE
    state.pending = SKIP
    state.playing = single(state.seats) - 1
    state.target = below(state, state.seats)  # 1.4
    state.bout_deck = 1
    choose_turn(state)


@rule
def take_top(state):
    """Take the top card of the deck."""
    state.deck_left -= 1
    card = state.deck[state.deck_left]
    state.deck[state.deck_left] = NONE
    return card


@rule
def act(state, move):
    seat = state.turn
    state.pending = move.kind
    state.picked = 0
    if move.kind == SKIP:
        state.ready |= single(seat)
        return
    # 4.4: after any move but a skip, nobody else is ready.
    state.ready = 0
    if move.kind == END:
        end_bout(state, seat, move.cards)
        return
    if move.kind == OPEN or move.kind == ATTACK or move.kind == SELF:
        leave_hand(state, seat, move.cards)
        state.table |= move.cards
    elif move.kind == KILL:
        leave_hand(state, seat, move.cards)
        kill(state, move.cards, move.targets)
    elif move.kind == KILL_TURNED:
        state.turned = NONE
        kill(state, move.cards, move.targets)
    if seat == state.target:
        if state.table == 0 and move.kind != TURN:
            state.ready = single(seat)
    elif state.attacker_ready != 0:
        state.ready = single(seat)


@rule
def leave_hand(state, seat, cards):
    """Take cards out of a hand, and out of what is known of it (7.1)."""
    state.hands[seat] &= ~cards
    state.known[seat] &= ~cards
    if state.hands[seat] == state.known[seat]:
        state.drawn &= ~single(seat)


@rule
def kill(state, cards, targets):
    """3.1: `cards` kill `targets`."""
    state.table &= ~targets
    state.killed |= cards | targets
    state.barring &= ~targets


@rule
def end_bout(state, seat, cards):
    """4.2: the target picks up `cards`, and the other cards of the bout leave the game."""
    state.hands[seat] |= cards
    state.known[seat] |= cards
    state.picked = cards != 0
    discard_bout(state, cards)


@rule
def discard_bout(state, kept):
    """All cards of the bout except `kept` leave the game."""
    state.discards |= (state.table | state.killed) & ~kept
    state.table = 0
    state.killed = 0
    state.barring = 0


@rule
def settle(state):
    seat, pending = state.turn, state.pending
    state.pending = SKIP
    if pending == TURN:
        turn_deck(state, seat)
        if state.turned != NONE:
            return
    elif pending == OPEN or pending == ATTACK or pending == END:
        draw_to_six(state, seat)
    if state.deck_left == 0 and has(state.hands[seat], state.trump_card):
        state.known[seat] |= single(state.trump_card)  # 7.1: this seat drew the last card
    if state.deck_left == 0 and count(state.playing) == 2:
        other = lowest(state.playing & ~single(seat))
        state.known[other] = state.hands[other]  # 7.3
        state.revealed |= (single(state.seats) - 1) & ~state.playing
    leave_if_out(state, seat, pending == END)
    if count(state.playing) == 1:
        state.turn = -1  # 5.2
        return
    state.last = seat
    choose_turn(state)


@rule
def turn_deck(state, seat):
    """3.2: turn the top card. It waits for its kill, or stays on the table if it kills nothing."""
    if state.deck_left > 1:
        state.revealed = single(state.seats) - 1
    card = take_top(state)
    if killed_by(card, state.trump) & state.table != 0:
        state.turned = card
        state.midway = 1
    else:
        state.table |= single(card)
        state.barring = single(card)


@rule
def draw_to_six(state, seat):
    """2.3, 4.2: draw from the deck up to six cards."""
    while state.deck_left > 0 and count(state.hands[seat]) < HAND:
        if state.deck_left > 1:  # the last card is the trump card, which everybody knows
            state.revealed = single(seat)
            state.drawn |= single(seat)
        state.hands[seat] |= single(take_top(state))


@rule
def leave_if_out(state, seat, ended):
    """5.1: without a deck, a seat without cards is out. After that or an end, the next bout begins (4.3)."""
    is_target = seat == state.target
    is_out = state.hands[seat] == 0 and state.deck_left == 0 and not (is_target and state.table != 0)
    if is_out:
        state.playing &= ~single(seat)
        if is_target:
            discard_bout(state, 0)
    if state.playing == 0 or not (ended or (is_out and is_target)):
        return
    state.target = left_of(state, seat)
    if is_out or state.picked != 0:
        state.target = left_of(state, state.target)
    state.bout_deck = state.deck_left > 0
    state.ready = 0


@rule
def choose_turn(state):
    """6: draw the seat to move next."""
    asked = state.playing
    if state.poll == 0:
        if all_others_ready(state):
            state.turn = state.target  # 6.2
            return
        asked &= ~state.ready
    others = asked
    if state.last != NONE:
        others &= ~single(state.last)
    state.turn = any_of(others if others != 0 else asked, state)


@rule
def score(state, seat):
    return 0.0 if has(state.playing, seat) else 1.0  # 5.3


@rule
def decided(state, seat):
    """5.3: a seat that is out has not lost."""
    return -1.0 if has(state.playing, seat) else 1.0


@rule
def unknown_to(state, seat):
    """The cards whose place `seat` does not know: they lie in other hands, or in the deck above the trump card."""
    seen = state.hands[seat] | state.table | state.killed | state.discards
    if state.turned != NONE:
        seen |= single(state.turned)
    if state.deck_left > 0:
        seen |= single(state.trump_card)
    for other in range(state.seats):
        seen |= state.known[other]
    return full_deck(DECK) & ~seen


@rule
def resample(state, seat, stream):
    # The unknown cards are shuffled in the deck's array, above the trump card; the other hands are dealt from its end.
    pool, end, two, two_at = unknown_to(state, seat), 1, state.trump, NONE  # two: the lowest card of the trump suit
    if state.swap_two != 0 and has(pool, two):
        two_at = place_of_two(state, seat, stream)
    if two_at != NONE:
        pool &= ~single(two)
    while pool != 0:
        card = lowest(pool)
        pool &= ~single(card)
        state.deck[end] = card
        end += 1
    shuffle(stream, state.deck, 1, end)
    for other in range(state.seats):
        if other != seat:
            missing = count(state.hands[other]) - count(state.known[other])
            state.hands[other] = state.known[other]
            if other == two_at:
                state.hands[other] |= single(two)
                missing -= 1
            for _ in range(missing):
                end -= 1
                state.hands[other] |= single(state.deck[end])
                state.deck[end] = NONE
    if two_at == IN_DECK:
        place = 1 + below(stream, end)
        state.deck[end] = state.deck[place]
        state.deck[place] = two
    if state.deck_left == 0:
        state.deck[0] = NONE


@rule
def blank(state, seat):
    # Hidden cards of other hands become the lowest cards, hidden cards of the deck its trump card.
    for other in range(state.seats):
        if other != seat:
            state.hands[other] = filled(state.known[other], count(state.hands[other]))
    card = state.trump_card
    for place in range(1, state.deck_left):
        state.deck[place] = card


@rule
def is_all_known(state):
    """7.3: whether each of the two seats left knows all cards. Then 6.1 leaves no choice whose turn it is."""
    return state.deck_left == 0 and count(state.playing) == 2


@rule
def simplify(state):
    # Who knows what, and cards out of the game.
    for seat in range(state.seats):
        state.known[seat] = 0
        if not has(state.playing, seat):
            state.hands[seat] = 0
    state.discards = 0
    state.drawn = 0
    state.trump_card = 0
    state.picked = 0
    state.last = NONE


@rule
def place_of_two(state, seat, stream):
    """7.4: draw where the unseen two of trumps lies, with the same probability for each hidden card it may be.

    Returns a seat or IN_DECK, or NONE if no hidden card may be the two, as in a position that no game leads to.
    """
    places = max(state.deck_left - 1, 0) + places_in_hands(state, seat, SEATS)
    if places == 0:
        return NONE
    left = below(stream, places)
    for other in range(state.seats):
        if left < places_in_hands(state, seat, other + 1):
            return other
    return IN_DECK


@rule
def places_in_hands(state, seat, end):
    """7.4: how many hidden cards of the seats before `end`, other than `seat`, may be the two of trumps."""
    total = 0
    for other in range(min(end, state.seats)):
        if other != seat and has(state.drawn, other):
            total += count(state.hands[other]) - count(state.known[other])
    return total
