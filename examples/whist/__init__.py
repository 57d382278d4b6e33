"""Mini-Whist: trick taking with 24 cards, as an example of a game in which not to follow suit tells something.

This is the worked example of `docs/dealing.md`. Numbers in comments are the rules of RULES.md in this folder.
"""

import numpy as np

from cardai.cards import Deck, any_of, count, filled, full_deck, lowest, put, rank, single, suit, suit_cards
from cardai.dealing import redeal
from cardai.game import Game, Outcome, PerspectiveEncoder, Player, Segment, Zone, move_dtype, state_dtype
from cardai.rule import rule

DECK = Deck(ranks="9TJQKA")
CARDS = 24  # 1.1
RANKS = 6
SEATS = 4
NONE = -1

STATE = state_dtype(
    hands=SEATS,
    known=SEATS,  # 4.2: the cards of each hand that everybody knows
    lacks=SEATS,  # 4.3: cards that each hand cannot hold
    played=(),  # 4.1
    table=SEATS,  # the card of each seat in this trick, or NONE
    leader=(),  # the seat that leads this trick
    trump=(),  # the trump suit
    tricks=SEATS,  # how many tricks each seat has taken
)
MOVE = move_dtype("card")


@rule
def deal(state):
    rest = full_deck(CARDS)
    for seat in range(state.seats):
        state.table[seat] = NONE
        for _ in range(CARDS // state.seats):
            card = any_of(rest, state)
            rest &= ~single(card)
            state.hands[seat] |= single(card)
    dealer = state.seats - 1
    shown = any_of(state.hands[dealer], state)  # 1.2
    state.known[dealer] = single(shown)
    state.trump = suit(shown)
    state.turn = 0  # 1.3


@rule
def must_follow(state):
    """2.1: whether the seat to move holds a card of the suit led."""
    led = state.table[state.leader]
    return led != NONE and state.hands[state.turn] & suit_cards(suit(led)) != 0


@rule
def legal(state, moves):
    rest = state.hands[state.turn]
    if must_follow(state):
        rest &= suit_cards(suit(state.table[state.leader]))
    n = 0
    while rest != 0:
        moves[n].card = lowest(rest)
        rest &= ~single(lowest(rest))
        n += 1
    return n


@rule
def act(state, move):
    seat, led = state.turn, state.table[state.leader]
    if led != NONE and suit(move.card) != suit(led):
        state.lacks[seat] |= suit_cards(suit(led)) & full_deck(CARDS)  # 4.3
    state.hands[seat] &= ~single(move.card)
    state.known[seat] &= ~single(move.card)
    state.played |= single(move.card)
    state.table[seat] = move.card


@rule
def beats(card, other, trump):
    """2.2: whether a card takes the trick from another that would have taken it."""
    if suit(card) == suit(other):
        return card > other
    return suit(card) == trump


@rule
def taker(state):
    """The seat whose card takes the trick so far."""
    best = state.leader
    for step in range(1, state.seats):
        seat = (state.leader + step) % state.seats
        if state.table[seat] != NONE and beats(state.table[seat], state.table[best], state.trump):
            best = seat
    return best


@rule
def settle(state):
    state.turn = (state.turn + 1) % state.seats
    if state.turn != state.leader:
        return
    state.leader = taker(state)
    state.tricks[state.leader] += 1
    for seat in range(state.seats):
        state.table[seat] = NONE
    state.turn = state.leader if state.hands[0] != 0 else -1


@rule
def score(state, seat):
    return state.tricks[seat] / (CARDS // state.seats)  # 3.1


@rule
def tricks_taken(state, seat):
    return 1.0 * state.tricks[seat]


@rule
def resample(state, seat, stream):
    redeal(state.hands, state.known, state.lacks, seat, stream)


@rule
def blank(state, seat):
    for other in range(state.seats):
        if other != seat:
            state.hands[other] = filled(state.known[other], count(state.hands[other]))


def layout(seats):
    planes = [f"{name} of seat +{step}" for step in range(1, seats) for name in ("known", "lacks")]
    values = [f"{name}: seat +{step}" for step in range(seats) for name in ("tricks", "leads", "to move")]
    return (
        *(Segment(name, (RANKS, 4)) for name in ("own hand", "played", "trump", *planes)),
        *(Segment(f"table of seat +{step}", (RANKS, 4)) for step in range(seats)),
        *(Segment(name) for name in values),
    )


@rule
def encode(state, seat, row):
    place = put(row, 0, state.hands[seat], CARDS)
    place = put(row, place, state.played, CARDS)
    place = put(row, place, suit_cards(state.trump), CARDS)
    for step in range(1, state.seats):
        other = (seat + step) % state.seats
        place = put(row, place, state.known[other], CARDS)
        place = put(row, place, state.lacks[other], CARDS)
    for step in range(state.seats):
        card = state.table[(seat + step) % state.seats]
        place = put(row, place, single(card) if card != NONE else 0, CARDS)
    for step in range(state.seats):
        other = (seat + step) % state.seats
        row[place] = state.tricks[other]
        row[place + 1] = state.leader == other
        row[place + 2] = state.turn == other
        place += 3


@rule
def thrifty(world, move, params, stream):
    """Take the trick with the lowest card that does; else play the lowest card. A trump counts as high."""
    rest = world.hands[world.turn]
    if must_follow(world):
        rest &= suit_cards(suit(world.table[world.leader]))
    leads = world.table[world.leader] == NONE
    best = 1000
    while rest != 0:
        card = lowest(rest)
        rest &= ~single(card)
        price = rank(card) + RANKS * (suit(card) == world.trump)
        if not leads and not beats(card, world.table[taker(world)], world.trump):
            price += 100
        if price < best:
            best = price
            move.card = card


@rule
def won(state, seat):
    """The tricks of `seat`, with the one on the table if its card takes that so far."""
    return 1.0 * state.tricks[seat] + (state.table[seat] != NONE and taker(state) == seat)


def holdings(state):
    return [*state.hands[: state.seats], state.played]


def spell(state, move):
    return DECK.name(move["card"])


def parse(state, text):
    move = np.zeros(1, MOVE)[0]
    move["card"] = DECK.card(text)
    return move


def show(state, seat):
    table = [
        f"p{other} {DECK.name(state.table[other])}" for other in range(int(state.seats)) if state.table[other] != NONE
    ]
    lines = [f"Trump: {DECK.suits[int(state.trump)]}. On the table: {', '.join(table) or 'nothing'}."]
    for other in range(int(state.seats)):
        known = f", holds {DECK.names(state.known[other])}" if state.known[other] else ""
        voids = [name for number, name in enumerate(DECK.suits) if int(state.lacks[other]) >> number & 1]
        lacks = f", has no {' '.join(voids)}" if voids else ""
        lines.append(f"p{other}: {state.tricks[other]} tricks{known}{lacks}.")
    return "\n".join([*lines, f"Your hand: {DECK.names(state.hands[seat])}."])


def zones(state, seat):
    order = [(int(state.leader) + step) % int(state.seats) for step in range(int(state.seats))]
    trick = {int(state.table[other]): f"p{other}" for other in order if state.table[other] != NONE}
    suits = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}
    hands = []
    for other in range(int(state.seats)):
        hand = int(state.hands[other])
        shown = hand if other == seat else int(state.known[other])
        hidden = hand.bit_count() - shown.bit_count()
        hands.append(Zone("Hand", shown, hidden, seat=other, look="fan", note=f"{state.tricks[other]} tricks"))
    return [*hands, Zone("Trick", list(trick), note=f"trump {suits[DECK.suits[int(state.trump)]]}", marks=trick)]


def picks(state, move):
    return 1 << int(move["card"])


def ending(state):
    return "Tricks: " + ", ".join(f"p{seat} has {state.tricks[seat]}" for seat in range(int(state.seats))) + "."


GAME = Game(
    name="whist",
    title="Mini-Whist",
    version=1,
    seats=range(3, SEATS + 1),
    default_seats=4,
    state=STATE,
    move=MOVE,
    max_moves=CARDS // 3,
    max_plies=CARDS,
    deal=deal,
    legal=legal,
    act=act,
    settle=settle,
    score=score,
    resample=resample,
    blank=blank,
    score_sum=lambda seats: 1.0,  # 3.1
    actions={(card,): card for card in range(CARDS)},
    encoders={"planes": PerspectiveEncoder(layout, encode)},
    players={"thrifty": Player(thrifty, about="takes each trick it can, with the lowest card that does", sees="own")},
    heuristics={"won": won},
    outcomes={"tricks": Outcome(tricks_taken, about="tricks taken", high=CARDS // 3)},
    measures=("share", "tricks"),
    spell=spell,
    parse=parse,
    show=show,
    pieces=DECK.all_names,
    zones=zones,
    picks=picks,
    ending=ending,
    holdings=holdings,
)
