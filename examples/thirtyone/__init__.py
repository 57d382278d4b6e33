"""Thirty-One (also Scat): three hidden cards, a stock, a discard pile, and a knock that ends the deal.

This is the worked example of `docs/add-a-game.md`. Numbers in comments are the rules of RULES.md in this folder.
"""

import numpy as np

from cardai.game import Agents, Game, Player, Row, Rules, Suite, Text
from cardai.game.declared import NONE, Card, Flag, Hand, Known, Moves, Number, Option, Pile, Seat, State, Stock
from cardai.rules import rule
from cardai.rules.cards import DECK52, any_of, count, full_deck, lowest, same_rank, single, suit_cards, sum_of
from cardai.rules.parts.standing import each_has

DECK = 52
SEATS = 4
HAND = 3  # 1.1
ROUNDS = 12  # 4.2
HOPE = 1.0  # points that drawing a card is expected to add
KNOCK_AT = 25.0  # a knock counts the points above this once more
VALUES = np.array([11 if rank == 12 else min(rank + 2, 10) for rank in range(13) for _ in range(4)])  # 3.1, by card

STATE = State(
    DECK52, SEATS, suits_alike=True,
    three_alike=Option(high=1),  # 3.2
    hands=Hand(known="known"),
    known=Known("hands"),  # 5.1
    stock=Stock(),
    discards=Pile("discard pile", look="pile", top="top"),
    top=Card("top of the discard pile"),  # NONE between a take and the discard that follows
    taken=Card("taken this turn", is_place=False),  # 2.3
    owed=Flag("draw owed"),  # between the decision to draw a card and the draw itself
    knocker=Seat(says="has knocked"),
    turns_left=Number("turns left"),  # 4.2: of all seats together
)  # fmt: skip
MOVE = Moves("draws", "takes {card}", "knocks", "discards {card}")
DRAW, TAKE, KNOCK, DISCARD = range(4)

add, add_each = MOVE.add, MOVE.add_each
draw = STATE.move("stock", "hands")
take = STATE.move("top", "hands")
discard = STATE.move("hands", "top")
turn_up = STATE.move("stock", "top")
cover = STATE.move("top", "discards")


@rule
def deal(state):
    state.stock = full_deck(DECK)
    for seat in range(state.seats):
        for _ in range(HAND):  # 1.1
            draw(state, single(any_of(state.stock, state)), seat)
    turn_up(state, any_of(state.stock, state))  # 1.2
    state.taken = NONE
    state.knocker = NONE
    state.turns_left = ROUNDS * state.seats
    state.turn = 0  # 1.3


@rule
def must_discard(state):
    """Whether the seat to move has drawn or taken a card this turn."""
    return count(state.hands[state.turn]) > HAND


@rule
def legal(state, moves):
    if must_discard(state):
        taken = single(state.taken) if state.taken != NONE else 0
        return add_each(moves, 0, DISCARD, state.hands[state.turn] & ~taken)  # 2.3
    n = add(moves, 0, DRAW, 0)
    n = add(moves, n, TAKE, state.top)
    if state.knocker == NONE:  # 2.4
        n = add(moves, n, KNOCK, 0)
    return n


@rule
def act(state, move):
    seat = state.turn
    if move.kind == DRAW:
        state.owed = 1
    elif move.kind == TAKE:
        take(state, move.card, seat)
        state.taken = move.card
    elif move.kind == KNOCK:
        state.knocker = seat
    else:
        if state.top != NONE:
            cover(state, state.top)
        discard(state, move.card, seat)
        state.taken = NONE


@rule
def settle(state):
    if state.owed != 0:
        state.owed = 0
        draw(state, single(any_of(state.stock, state)), state.turn)
        state.revealed = single(state.turn)
    if must_discard(state):
        state.midway = 1  # the turn is not over: the same seat chooses again
        return
    state.turns_left -= 1
    following = (state.turn + 1) % state.seats
    if following == state.knocker or state.stock == 0 or state.turns_left == 0:  # 4.1, 4.2
        show_hands(state)
    else:
        state.turn = following


@rule
def show_hands(state):
    """4.3: the deal is over and every hand is turned up."""
    for seat in range(state.seats):
        state.known[seat] = state.hands[seat]
    state.revealed = single(state.seats) - 1
    state.turn = -1


@rule
def value_of(state, cards):
    """3: the value of a hand of three cards."""
    best = 0
    for suit in range(4):
        best = max(best, sum_of(cards & suit_cards(suit), VALUES))
    if state.three_alike != 0 and cards & ~same_rank(lowest(cards)) == 0:
        best = max(best, 30)  # 3.2
    return best


@rule
def score(state, seat):
    """4.4: the share of the other hands that this hand beats; an equal hand counts as half beaten."""
    own = value_of(state, state.hands[seat])
    beaten = 0.0
    for other in range(state.seats):
        if other != seat:
            value = value_of(state, state.hands[other])
            beaten += 1.0 if own > value else 0.5 if own == value else 0.0
    return beaten / (state.seats - 1)


@rule
def worst_card(state, hand, taken):
    """The card to discard from a hand of four: the rest has the highest value, and of equal values the most points.

    `taken`: the card that may not be discarded, or NONE.
    """
    best, discard = -1, NONE
    rest = hand
    while rest != 0:
        card = lowest(rest)
        rest &= ~single(card)
        left = hand & ~single(card)
        worth = 100 * value_of(state, left) + sum_of(left, VALUES)
        if card != taken and worth > best:
            best, discard = worth, card
    return discard


@rule
def best_value(state, hand, taken):
    """The value of a hand after the best discard, if it has four cards."""
    if count(hand) > HAND:
        hand &= ~single(worst_card(state, hand, taken))
    return value_of(state, hand)


@rule
def house(world, move, params, stream):
    """Knock with a hand of `knock_at` points; take the discard if that adds `gain` points; otherwise draw."""
    knock_at, gain = params[0], params[1]
    hand = world.hands[world.turn]
    if must_discard(world):
        move.kind = DISCARD
        move.card = worst_card(world, hand, world.taken)
        return
    value = value_of(world, hand)
    if world.knocker == NONE and value >= knock_at:
        move.kind = KNOCK
    elif best_value(world, hand | single(world.top), world.top) >= value + gain:
        move.kind = TAKE
        move.card = world.top
    else:
        move.kind = DRAW


@rule
def prospects(state, seat):
    """The value of the hand of `seat` after its best discard; a knock makes good hands better and bad ones worse."""
    value = 1.0 * best_value(state, state.hands[seat], state.taken if state.turn == seat else NONE)
    if state.knocker == seat:
        return value + (value - KNOCK_AT)
    if state.turn == seat and state.owed != 0:
        return value + HOPE
    return value


HOUSE = Player(house, "knocks at knock_at points, takes the discard if that gains at least gain points",
               {"knock_at": 25.0, "gain": 2.0}, sees="own")  # fmt: skip
AGAINST_THE_HOUSE = Suite("against two players of the house", "score", {"house": Row(("house", "house"))},
                          ("random", "house", "sampled:prospects?worlds=20"))  # fmt: skip
GAME = Game(
    name="thirtyone", title="Thirty-One", version=1, seats=range(2, SEATS + 1), default_seats=3, state=STATE, move=MOVE,
    max_moves=HAND + 1, max_plies=2 * ROUNDS * SEATS,  # 4.2
    score_sum=lambda seats: seats / 2,  # 4.4
    variants={"standard": {"three_alike": 0}, "three_alike": {"three_alike": 1}},
    rules=Rules(deal, legal, act, settle, score),
    text=Text(ending=each_has("All hands are turned up", lambda state, seat: value_of(state, state.hands[seat]))),
    agents=Agents({"house": HOUSE}, {"prospects": prospects}, suites={"house": AGAINST_THE_HOUSE}),
)  # fmt: skip
