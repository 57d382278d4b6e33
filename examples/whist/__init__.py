"""Mini-Whist: trick taking with 24 cards, as an example of a game in which not to follow suit tells something.

This is the worked example of `docs/dealing.md`. Numbers in comments are the rules of RULES.md in this folder.
"""

from cardai.cards import Deck, any_of, full_deck, lowest, rank, single, suit, suit_cards
from cardai.game import Game, Outcome, Player
from cardai.game.declared import NONE, Card, Each, Hand, Known, Lacks, Moves, Number, Pile, Seat, State, Suit
from cardai.rule import rule

DECK = Deck(ranks="9TJQKA")
CARDS = 24  # 1.1
RANKS = 6
SEATS = 4

STATE = State(
    DECK, SEATS,
    hands=Hand(known="known", lacks="lacks"),
    known=Known("hands"),  # 4.2
    lacks=Lacks("hands"),  # 4.3
    played=Pile(look="pile"),  # 4.1: the tricks that are over
    table=Each(Card("trick")),
    leader=Seat("leader"),
    trump=Suit(),
    tricks=Each(Number(high=CARDS // 3)),
)  # fmt: skip
MOVE = Moves("{card}")

list_cards = MOVE.add_each
play = STATE.move("hands", "table")
put_away = STATE.move("table", "played")


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
    return list_cards(moves, 0, rest)


@rule
def act(state, move):
    seat, led = state.turn, state.table[state.leader]
    if led != NONE and suit(move.card) != suit(led):
        state.lacks[seat] |= suit_cards(suit(led)) & full_deck(CARDS)  # 4.3
    play(state, move.card, seat, seat)


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
        put_away(state, state.table[seat], seat)
    state.turn = state.leader if state.hands[0] != 0 else -1


@rule
def score(state, seat):
    return state.tricks[seat] / (CARDS // state.seats)  # 3.1


@rule
def tricks_taken(state, seat):
    return 1.0 * state.tricks[seat]


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
    max_plies=CARDS,
    deal=deal,
    legal=legal,
    act=act,
    settle=settle,
    score=score,
    score_sum=lambda seats: 1.0,  # 3.1
    players={"thrifty": Player(thrifty, about="takes each trick it can, with the lowest card that does", sees="own")},
    heuristics={"won": won},
    outcomes={"tricks": Outcome(tricks_taken, about="tricks taken", high=CARDS // 3)},
    measures=("share", "tricks"),
    ending=ending,
)
