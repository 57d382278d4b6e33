"""Durak for two to six seats: the state, the deal, what may be played, what a move does. Numbers refer to RULES.md.

Cards are those of `cardai.rules.cards`: card = 4 * rank + suit, rank 0 the six, of 52 the two. A position with two
seats in `playing` and with `stock` and `bottom` empty has no hidden cards (5.3) and no chance left.
"""

from cardai.game.declared import (
    NONE,
    Card,
    Cards,
    Each,
    Flag,
    Hand,
    Known,
    Moves,
    Number,
    Option,
    Pile,
    Seat,
    Seats,
    State,
    Stock,
    Suit,
)  # fmt: skip
from cardai.rules import below, rule
from cardai.rules.cards import (
    DECK36,
    any_of,
    beaters,
    count,
    full_deck,
    has,
    lowest,
    rank,
    ranks_of,
    same_rank,
    single,
    suit,
    suit_cards,
)

DECK = 36
SHORT_DECK = 24  # 1.1: nine to ace
WHOLE_DECK = 52  # 1.1: two to ace
HAND = 6  # 1.1
SHORT_HAND = 4  # 1.1: with 24 cards and five or six seats
SEATS = 6
BOUT = 6  # 2.3: attack cards in a bout
FIRST_BOUT = 5  # 2.3: the same with `first_five`
IN_FIRST_BOUT = 1  # 2.3: `first_five` holds for the first bout; with 2, until cards have been discarded
PLAYED, SHOWN = 1, 2  # 2.6, 2.7: by a card of the rank, by showing its trump
NO_CARD = 36  # in a deck of 52 it is 52: `no_card`
ACTIONS = 37  # a move is a number below this, of 52 cards below 53
FIXED_TRUMP = 3  # 1.2: spades, if no card is turned up
TRIES = 10_000  # after so many worlds that no deal allows, `resample` keeps one (invented positions have no other)

STATE = State(
    DECK36,
    SEATS,
    # Options, set by the variant. Those that it leaves out are 0.
    turn_up=Option(),  # 1.2
    suit_limit=Option(),  # 1.2: how many cards of a suit a hand may be dealt
    add_after_take=Option(),  # 2.4
    cards=Option(),  # 1.1: the cards of the deck, 24 or 52; 0 if 36
    first_five=Option(),  # 2.3
    transfer=Option(),  # 2.6: whether a defender may transfer the attack; 2.7: with 2, by showing the trump too
    # The cards.
    hands=Hand(known="known"),
    known=Known("hands"),  # 5.1
    stock=Stock(),  # the hidden cards of the deck; their order is drawn only when they are
    bottom=Pile(),  # the turned-up card, while it lies under the stock
    attacks=Pile(),  # the attack cards of this bout
    beats=Pile(),  # the cards that beat them
    unbeaten=Cards(),  # the attack cards not beaten: after a transfer there are several, and once the defender takes
    discards=Pile(),
    trump=Suit(),
    trump_card=Card(is_place=False),  # the turned-up card, or NONE
    # The bout.
    attacker=Seat(),  # the seat that began the bout, or was the last to transfer the attack
    defender=Seat(),
    lead=Seat(),  # 2.2: the seat with the right to add a card, or that had it last
    passed=Seats(),  # that passed since the last attack card
    taking=Flag(),  # whether the defender takes
    transferable=Number(),  # how the defender may transfer if it has the card: PLAYED, SHOWN, their sum, or 0
    shown=Flag(),  # 2.7: whether the trump of the rank has been shown in this bout
    limit=Number(),  # 2.3: how many attack cards there may be
    fives=Flag(),  # 2.3: whether a bout has at most five, by `first_five`
    playing=Seats(),  # still in the game
    leavers=Seats(),  # that left together most recently
    # What is known about the deal.
    lowest_trump=Card(is_place=False),  # 1.3: the lowest trump dealt, which was shown, or NONE
    dealt=Each(Cards()),  # 5.4, 5.5: the cards that everybody knows each seat was dealt
    since=Each(
        Cards()
    ),  # hidden cards each seat played or showed after its first draw; they may have been dealt or drawn
    drew=Seats(),  # that have drawn a hidden card
)
MOVE = Moves("plays {card:number}")  # 0..35, or `no_card` to pass or take
add_each = MOVE.add_each


@rule
def left_of(state, seat):
    """The next seat clockwise that is still in the game."""
    seat = (seat + 1) % state.seats
    while not has(state.playing, seat):
        seat = (seat + 1) % state.seats
    return seat


@rule
def all_cards(state):
    """1.1: all cards of the game. In a deck of 24 the sixes, sevens and eights are missing."""
    if state.cards == 0:
        return full_deck(DECK)
    return full_deck(WHOLE_DECK) if state.cards == WHOLE_DECK else full_deck(DECK) & ~full_deck(DECK - SHORT_DECK)


@rule
def no_card(state):
    """The move that plays no card: to pass or to take. It comes after all cards."""
    return WHOLE_DECK if state.cards == WHOLE_DECK else NO_CARD


@rule
def hand_size(state):
    """1.1, 3.1: how many cards each seat is dealt, and draws up to."""
    return SHORT_HAND if state.cards == SHORT_DECK and state.seats * HAND > SHORT_DECK else HAND


@rule
def deck_left(state):
    """How many cards the deck has, the turned-up one included."""
    return count(state.stock | state.bottom)


@rule
def deal(state):
    state.trump, state.trump_card = FIXED_TRUMP, NONE
    while True:
        deal_hands(state)
        if is_within_limit(state):
            break
    state.playing = single(state.seats) - 1
    state.lowest_trump = NONE
    state.fives = min(state.first_five, 1)
    attacker = find_lowest_trump(state)
    start_bout(state, attacker if attacker != NONE else below(state, state.seats))  # 1.3


@rule
def deal_hands(state):
    """1.1, 1.2: turn up a card if the variant says so, and deal the hands."""
    state.stock = all_cards(state)
    if state.turn_up != 0:
        state.trump_card = any_of(state.stock, state)
        state.trump = suit(state.trump_card)
        state.bottom = single(state.trump_card)
        state.stock &= ~state.bottom
    full = hand_size(state)
    for seat in range(state.seats):
        state.hands[seat] = 0
        state.known[seat] = 0
        for _ in range(full):
            state.hands[seat] |= top_card(state, seat)
        state.dealt[seat] = state.known[seat]


@rule
def top_card(state, seat):
    """Remove the next card of the deck for a seat and return it as a set. Only the turned-up card is known to all."""
    card = state.bottom
    if state.stock != 0:
        card = single(any_of(state.stock, state))
        state.stock &= ~card
    else:
        state.bottom = 0
        state.known[seat] |= card  # 5.1
    return card


@rule
def is_within_limit(state):
    """1.2: whether no hand has more than `suit_limit` cards of a suit."""
    for seat in range(state.seats):
        for each in range(4):
            if count(state.hands[seat] & suit_cards(each)) > state.suit_limit:
                return False
    return True


@rule
def find_lowest_trump(state):
    """1.3: show the lowest trump in the hands. Returns the seat that holds it, or NONE if nobody has a trump."""
    held = 0
    for seat in range(state.seats):
        held |= state.hands[seat] & suit_cards(state.trump)
    if held == 0:
        return NONE
    state.lowest_trump = lowest(held)
    for seat in range(state.seats):
        if has(state.hands[seat], state.lowest_trump):
            state.known[seat] |= single(state.lowest_trump)
            state.dealt[seat] |= single(state.lowest_trump)
            return seat
    return NONE


@rule
def start_bout(state, attacker):
    state.attacker = attacker
    state.lead = attacker
    state.turn = attacker
    state.defender = left_of(state, attacker)
    state.limit = room_against(state, state.defender)


@rule
def room_against(state, seat):
    """2.3: how many attack cards a bout may have in all if `seat` begins to defend now."""
    return min(FIRST_BOUT if state.fives != 0 else BOUT, count(state.hands[seat]))


@rule
def choices(state, seat):
    """Returns the set of actions of `seat` (a move's `card`, or `no_card`), empty if the seat has nothing to decide.

    Between `act` and `settle` the mover has decided, so the set is empty, unless it may add another card.
    """
    if state.turn != seat:
        return 0
    hand = state.hands[seat]
    if seat == state.defender:
        if state.unbeaten == 0 or state.taking != 0:
            return 0
        moves = hand & beaters(lowest(state.unbeaten), state.trump) | single(no_card(state))  # 2.1
        if state.transferable != 0:
            moves |= transfers(state, seat)
        return moves
    if state.attacks == 0:
        return hand  # 2.1
    if (state.unbeaten != 0 and state.taking == 0) or has(state.passed, seat):
        return 0
    return hand & ranks_of(state.attacks | state.beats) | single(no_card(state))  # 2.2


@rule
def transfers(state, seat):
    """2.6, 2.7: the set of moves of the defender `seat` that transfer the attack.

    A transferring move has the number of its card. But the trump of the rank can beat a plain attack card too: the move
    that transfers with it has the number of that attack card, the first on the table.
    """
    first = lowest(state.attacks)
    held = state.hands[seat] & same_rank(first)
    trump = held & suit_cards(state.trump)
    moves = 0
    if state.transferable & PLAYED != 0:
        moves = held if trump == 0 else held & ~trump | single(first)
    if state.transferable & SHOWN != 0 and trump != 0:
        moves |= single(number_of_showing(first, state.trump))
    return moves


@rule
def number_of_showing(first, trump):
    """2.7: the move that shows the trump of the rank. `first`: the first attack card.

    It has the number of a card that is legal for no defender: of a third suit, which is plain, and of another rank.
    """
    plain = 0
    while plain == suit(first) or plain == trump:
        plain += 1
    return 4 * (rank(first) - 1 if rank(first) != 0 else 1) + plain


@rule
def shows(state, card):
    """2.7: whether a legal move of the seat to move, a card, shows a trump."""
    return state.transferable & SHOWN != 0 and card == number_of_showing(lowest(state.attacks), state.trump)


@rule
def ways_to_transfer(state):
    """2.6, 2.7: how the defender may transfer the attack, if it holds the card: PLAYED, SHOWN, their sum, or 0."""
    if state.transfer == 0 or state.beats != 0:
        return 0
    room = room_against(state, left_of(state, state.defender)) - count(state.attacks)
    ways = PLAYED if room > 0 else 0
    return ways + SHOWN if state.transfer == SHOWN and state.shown == 0 and room >= 0 else ways


@rule
def is_transfer(state, card):
    """2.6: whether a legal move of the defender, a card, transfers the attack."""
    first = lowest(state.attacks)
    return state.transferable != 0 and rank(card) == rank(first) and (suit(card) != state.trump or card == first)


@rule
def card_played(state, card):
    """The card that leaves the hand by a legal move, a card."""
    on_table = has(state.attacks, card)  # only a transfer with the trump has such a number (`transfers`)
    return (card & ~3) + state.trump if on_table else card


@rule
def legal(state, moves):
    return add_each(moves, 0, choices(state, state.turn))


@rule
def act(state, move):
    seat = state.turn
    if move.card == no_card(state):
        if seat == state.defender:
            state.taking = 1
            state.transferable = 0
        else:
            state.passed |= single(seat)
        return
    if shows(state, move.card):
        show_trump(state, seat)
        return
    transferring = seat == state.defender and is_transfer(state, move.card)
    state.transferable = 0
    card = single(card_played(state, move.card) if transferring else move.card)
    note_shown(state, seat, card)
    state.hands[seat] &= ~card
    state.known[seat] &= ~card
    if seat == state.defender and not transferring:
        state.beats |= card
        state.unbeaten &= state.unbeaten - 1  # 2.6: the attack cards are beaten in order
    else:
        if transferring:
            transfer_from(state, seat)
        state.attacks |= card
        state.unbeaten |= card
        state.lead = seat
        state.passed = 0  # 2.2


@rule
def transfer_from(state, seat):
    """2.6: the defender `seat` becomes the attacker, and the next player the defender."""
    state.attacker = seat
    state.defender = left_of(state, seat)
    state.limit = room_against(state, state.defender)


@rule
def show_trump(state, seat):
    """2.7: show the trump of the rank."""
    card = same_rank(lowest(state.attacks)) & suit_cards(state.trump)
    note_shown(state, seat, card)
    state.known[seat] |= card  # 5.1
    state.shown = 1
    state.transferable = 0
    state.lead = seat
    transfer_from(state, seat)


@rule
def note_shown(state, seat, card):
    """5.4, 5.5: note what a hidden card tells about the deal when it is played or shown."""
    if state.known[seat] & card == 0 and undealt(state) & card == 0:
        if has(state.drew, seat):
            state.since[seat] |= card
        else:
            state.dealt[seat] |= card


@rule
def undealt(state):
    """5.4: the trumps that were in nobody's hand after the deal."""
    trumps = suit_cards(state.trump)  # those that the deck lacks change nothing
    return trumps & (single(state.lowest_trump) - 1) if state.lowest_trump != NONE else trumps


@rule
def settle(state):
    if state.unbeaten != 0 and state.taking == 0:
        state.turn = state.defender
        state.transferable = ways_to_transfer(state)
        return
    seat = next_to_add(state)
    if seat != NONE:
        state.lead = seat
        state.turn = seat
        return
    end_bout(state)


@rule
def next_to_add(state):
    """2.2, 2.4: returns the seat that may add a card once all are beaten or taken, or NONE if the bout is over."""
    if count(state.attacks) >= state.limit or (state.taking != 0 and state.add_after_take == 0):
        return NONE
    for step in range(state.seats):
        seat = (state.lead + step) % state.seats
        if seat != state.defender and state.hands[seat] != 0 and not has(state.passed, seat):
            return seat
    return NONE


@rule
def end_bout(state):
    table, following = state.attacks | state.beats, state.defender
    if state.taking != 0:  # 2.5
        state.hands[state.defender] |= table
        state.known[state.defender] |= table
        following = left_of(state, state.defender)
    else:
        state.discards |= table
    if state.fives != 0 and (state.first_five == IN_FIRST_BOUT or state.taking == 0):
        state.fives = 0  # 2.3
    refill(state)
    state.attacks = 0
    state.beats = 0
    state.unbeaten = 0
    state.passed = 0
    state.taking = 0
    state.shown = 0
    if deck_left(state) == 0:
        leave(state)
        if count(state.playing) < 2:
            state.turn = -1  # 4.1
            return
    start_bout(state, following if has(state.playing, following) else left_of(state, following))  # 3.3


@rule
def refill(state):
    """3.1: fill up the hands: the first attacker, the other attackers clockwise, the defender."""
    full = hand_size(state)
    fill_up(state, state.attacker, full)
    seat = left_of(state, state.attacker)
    while seat != state.attacker:
        if seat != state.defender:
            fill_up(state, seat, full)
        seat = left_of(state, seat)
    fill_up(state, state.defender, full)


@rule
def fill_up(state, seat, full):
    """3.1: draw until the hand has `full` cards, or the deck is empty."""
    while count(state.hands[seat]) < full and (state.stock | state.bottom) != 0:
        if state.stock != 0:
            state.revealed |= single(seat)
            state.drew |= single(seat)
        state.hands[seat] |= top_card(state, seat)


@rule
def leave(state):
    """3.2: seats without cards leave. 5.3: once two are left, all cards are known."""
    leavers = 0
    for seat in range(state.seats):
        if has(state.playing, seat) and state.hands[seat] == 0:
            leavers |= single(seat)
    if leavers != 0:
        state.leavers = leavers
        state.playing &= ~leavers
    if count(state.playing) == 2:
        state.revealed |= (single(state.seats) - 1) & ~state.playing
        for seat in range(state.seats):
            state.known[seat] = state.hands[seat]


@rule
def score(state, seat):
    """4.1: 0 for the durak, 1/2 for those who share a draw, 1 for all others."""
    if has(state.playing, seat):
        return 0.0
    return 0.5 if state.playing == 0 and has(state.leavers, seat) else 1.0


@rule
def decided(state, seat):
    """4.1: a seat that left while others play on has won."""
    return -1.0 if has(state.playing, seat) else 1.0


@rule
def resample(state, seat, stream):
    # A seat that has drawn nothing holds no card of `undealt`. Such hands are dealt first, from the other cards. Worlds
    # that 5.4 or 5.5 rule out for another reason are dealt again.
    unknown = unknown_to(state, seat)
    for _ in range(TRIES):
        rest = unknown
        for has_drawn in range(2):
            for other in range(state.seats):
                if other != seat and ((state.drew >> other) & 1) == has_drawn:
                    rest = deal_hidden(state, other, rest, stream)
        state.stock = rest
        if is_possible(state, seat):
            return


@rule
def is_open(state):
    """5.3: whether each of the two seats left knows all cards."""
    return count(state.playing) == 2 and (state.stock | state.bottom) == 0


@rule
def simplify(state):
    # Who knows what, what was dealt, and cards out of the game.
    for seat in range(state.seats):
        state.known[seat] = 0
        state.dealt[seat] = 0
        state.since[seat] = 0
        if not has(state.playing, seat):
            state.hands[seat] = 0
    state.discards = 0
    state.drew = 0
    state.leavers = 0
    state.lowest_trump = NONE
    state.trump_card = NONE


@rule
def unknown_to(state, seat):
    """The cards whose place `seat` does not know: they lie in other hands or in the stock."""
    seen = state.hands[seat] | state.attacks | state.beats | state.discards | state.bottom
    for other in range(state.seats):
        seen |= state.known[other]
    return all_cards(state) & ~seen


@rule
def deal_hidden(state, other, rest, stream):
    """Deal the hidden cards of a hand anew from the set `rest`. Returns the cards left over."""
    hidden = count(state.hands[other]) - count(state.known[other])
    state.hands[other] = state.known[other]
    barred = 0 if has(state.drew, other) else undealt(state)
    for _ in range(hidden):
        fitting = rest & ~barred
        card = single(any_of(fitting if fitting != 0 else rest, stream))
        state.hands[other] |= card
        rest &= ~card
    return rest


@rule
def is_possible(state, seat):
    """5.4, 5.5: whether some deal and some draws lead to the hands of all other seats."""
    for other in range(state.seats):
        hidden = state.hands[other] & ~state.known[other]
        if other != seat and hidden != 0 and not can_have_been_dealt(state, other, hidden):
            return False
    return True


@rule
def can_have_been_dealt(state, seat, hidden):
    """5.4, 5.5: whether `seat` can have been dealt its `dealt` cards and enough of those in `hidden` and `since`."""
    dealt, maybe_dealt = state.dealt[seat], (hidden | state.since[seat]) & ~undealt(state)
    most = 0
    for each in range(4):
        most += min(count(maybe_dealt & suit_cards(each)), state.suit_limit - count(dealt & suit_cards(each)))
    return most >= hand_size(state) - count(dealt)
