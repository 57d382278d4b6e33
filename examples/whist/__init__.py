"""Mini-Whist: trick taking with 24 cards, as an example of a game in which not to follow suit tells something.

This is the worked example of `docs/dealing.md`. Numbers in comments are the rules of RULES.md in this folder.
"""

from cardai.game import Agents, Game, Learning, Outcome, Player, Rules, Text
from cardai.game.declared import NONE, Card, Each, Hand, Known, Lacks, Moves, Number, Pile, Seat, State, Suit
from cardai.rules import rule
from cardai.rules.cards import Deck, any_of, full_deck, lowest, rank, single, suit
from cardai.rules.parts.standing import each_has
from cardai.rules.parts.tricks import BY_RANK, card_led, deal_hands, gather, may_follow, pass_turn, play_card, taker
from cardai.rules.parts.tricks import beats as is_better

DECK = Deck(ranks="9TJQKA")
CARDS = 24  # 1.1
RANKS = 6
SEATS = 4

STATE = State(
    DECK, SEATS, suits_alike=True,
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
tricks_taken = STATE.value("tricks")


@rule
def deal(state):
    deal_hands(state, full_deck(CARDS), CARDS // state.seats)  # 1.1
    dealer = state.seats - 1
    shown = any_of(state.hands[dealer], state)  # 1.2
    state.known[dealer] = single(shown)
    state.trump = suit(shown)
    state.turn = 0  # 1.3


@rule
def legal(state, moves):
    return list_cards(moves, 0, may_follow(state.hands[state.turn], card_led(state)))  # 2.1


@rule
def act(state, move):
    play_card(state, move.card, full_deck(CARDS))  # 4.3


@rule
def settle(state):
    if pass_turn(state):
        state.played |= gather(state, taker(state, state.trump, BY_RANK))  # 2.2
        state.tricks[state.leader] += 1
        state.turn = state.leader if state.hands[0] != 0 else -1


@rule
def score(state, seat):
    return state.tricks[seat] / (CARDS // state.seats)  # 3.1


@rule
def thrifty(world, move, params, stream):
    """Take the trick with the lowest card that does; else play the lowest card. A trump counts as high."""
    led, best = card_led(world), 1000
    rest = may_follow(world.hands[world.turn], led)
    while rest != 0:
        card = lowest(rest)
        rest &= ~single(card)
        price = rank(card) + RANKS * (suit(card) == world.trump)
        if led != NONE and not is_better(card, world.table[taker(world, world.trump, BY_RANK)], world.trump, BY_RANK):
            price += 100
        if price < best:
            best = price
            move.card = card


@rule
def won(state, seat):
    """The tricks of `seat`, with the one on the table if its card takes that so far."""
    takes = state.table[seat] != NONE and taker(state, state.trump, BY_RANK) == seat
    return 1.0 * state.tricks[seat] + takes


THRIFTY = Player(thrifty, "takes each trick it can, with the lowest card that does", sees="own")
GAME = Game(
    name="whist", title="Mini-Whist", version=1, seats=range(3, SEATS + 1), default_seats=4, state=STATE, move=MOVE,
    max_plies=CARDS, score_sum=lambda seats: 1.0,  # 3.1
    rules=Rules(deal, legal, act, settle, score),
    text=Text(ending=each_has("Tricks", tricks_taken)),
    learning=Learning(
        outcomes={"tricks": Outcome(tricks_taken, about="tricks taken", high=CARDS // 3)}, measures=("share", "tricks"),
    ),
    agents=Agents({"thrifty": THRIFTY}, {"won": won}),
)  # fmt: skip
