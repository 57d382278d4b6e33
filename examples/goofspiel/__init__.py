"""Goofspiel: bids for prizes, as an example of a game in which all seats choose at the same time.

Numbers in comments are the rules of RULES.md in this folder. The rules are written as if the bids lay open: that they
are secret until all have chosen is the work of the core, for which `together` and the field `sealed` are all it needs.
"""

import numpy as np

from cardai.game import Agents, Game, Learning, Outcome, Player, Rules, Table, Text, Zone
from cardai.game.declared import NONE, Card, Cards, Each, Moves, Number, Option, State
from cardai.rules import rule
from cardai.rules.cards import Deck, any_of, count, full_deck, highest, lowest, single, sum_of
from cardai.rules.parts.standing import best_seats, each_has, share_of_win

CARDS = 13  # 1.1: of each hand, at most; card 0 has the value 1
SEATS = 3
PRIZES = SEATS * CARDS  # the first of the pieces that are prizes; those before are the hands, seat by seat
VALUES = np.arange(1, CARDS + 1)  # of the cards
MOST = CARDS * (CARDS + 1) // 2  # points of all prizes

STATE = State(
    Deck([str(value) for value in range(1, CARDS + 1)], suits=[""]), SEATS,
    cards=(),  # option: how many cards each hand has
    descending=Option(high=1),  # whether the prizes are in order
    carried=Option(high=1),  # whether rule 2.4 holds
    prize=Card(is_place=False),  # in the middle
    pot=Number("points of earlier prizes", high=MOST),  # 2.4
    left=Cards("prizes left"),  # that were not turned up yet, without an order
    hands=Each(Cards("holds")),  # 4.1
    bids=Each(Card("last bid", is_place=False)),  # of the last round that was shown
    points=Each(Number(high=MOST)),
    sealed=(SEATS, 2),  # 2.1: the choices of this round, kept by the core
)  # fmt: skip
MOVE = Moves("bids {card}")

list_cards = MOVE.add_each
points_taken = STATE.value("points")


@rule
def deal(state):
    for seat in range(state.seats):
        state.hands[seat] = full_deck(state.cards)  # 1.1
        state.bids[seat] = NONE
    state.left = full_deck(state.cards)
    turn_up(state)
    state.turn = 0


@rule
def turn_up(state):
    state.prize = highest(state.left) if state.descending != 0 else any_of(state.left, state)  # 1.2
    state.left &= ~single(state.prize)


@rule
def together(state):
    return full_deck(state.seats)  # 2.1


@rule
def legal(state, moves):
    return list_cards(moves, 0, state.hands[state.turn])


@rule
def act(state, move):
    state.bids[state.turn] = move.card
    state.hands[state.turn] &= ~single(move.card)


@rule
def settle(state):
    award(state)
    state.turn = 0
    if state.left != 0:
        turn_up(state)
    if state.left == 0 and state.prize != NONE:  # 2.5
        for seat in range(state.seats):
            state.bids[seat] = lowest(state.hands[seat])
            state.hands[seat] = 0
        award(state)
    if state.prize == NONE:
        state.turn = -1


@rule
def award(state):
    """2.2: the prize goes to the highest bid; if several have it, to nobody (2.3)."""
    best = best_seats(state.bids, full_deck(state.seats))
    if count(best) == 1:
        state.points[lowest(best)] += state.prize + 1 + state.pot
        state.pot = 0
    elif state.carried != 0:  # 2.4
        state.pot += state.prize + 1
    state.prize = NONE


@rule
def ahead(values, state, seat):
    """How much a seat's value is above the best of the others'."""
    best = best_seats(values, full_deck(state.seats) & ~single(seat))
    return 1.0 * (values[seat] - values[lowest(best)])


@rule
def lead(state, seat):
    """The points that a seat is ahead of the best of the others."""
    return ahead(state.points, state, seat)


@rule
def score(state, seat):
    return share_of_win(state.points, full_deck(state.seats), seat)  # 3.1


@rule
def prospects(state, seat):
    """The lead of `seat` if the prizes that are left are divided as the values in the hands are."""
    prizes = sum_of(state.left, VALUES) + state.pot + (state.prize + 1 if state.prize != NONE else 0)
    in_hands = np.zeros(state.seats)
    for other in range(state.seats):
        in_hands[other] = sum_of(state.hands[other], VALUES)
    return ahead(state.points[: state.seats] + prizes * in_hands / max(1.0, in_hands.sum()), state, seat)


@rule
def matching(world, move, params, stream):
    """Bid as much as the prize is worth, or `over` more, as nearly as the hand allows; the lower of two such cards."""
    wanted, rest, least = world.prize + params[0], world.hands[world.turn], 1000.0
    while rest != 0:
        card = lowest(rest)
        rest &= ~single(card)
        if abs(card - wanted) < least:
            least = abs(card - wanted)
            move.card = card


def holdings(state):
    """The hands, the prizes that are left, and all that has been shown."""
    full, seats = 2 ** int(state.cards) - 1, range(int(state.seats))
    hidden = [*(int(state.hands[seat]) << seat * CARDS for seat in seats), int(state.left) << PRIZES]
    return [*hidden, sum(full << seat * CARDS for seat in seats) + (full << PRIZES) - sum(hidden)]


def zones(state, seat):
    hands = [int(state.hands[other]) << other * CARDS for other in range(int(state.seats))]
    places = [
        Zone("Hand", hand, seat=other, look="fan", note=f"{int(state.points[other])} points")
        for other, hand in enumerate(hands)
    ]
    bids = {other * CARDS + int(state.bids[other]): f"p{other}" for other in range(int(state.seats))}
    shown = bids if state.bids[0] != NONE else {}
    prize = [] if state.prize == NONE else [PRIZES + int(state.prize)]
    pot = f"{int(state.pot)} more points" if state.pot else ""
    left = Zone("Prizes left", int(state.left) << PRIZES, open=0)
    return [*places, Zone("Last bids", list(shown), marks=shown), Zone("Prize", prize, note=pot), left]


def picks(state, move):
    return 1 << int(state.turn) * CARDS + int(move["card"])


PIECES = tuple(f"{value}{suit}" for suit in "CDHS" for value in "A23456789TJQK")  # 1.1, 1.2
GAME = Game(
    name="goofspiel", title="Goofspiel", version=1, seats=range(2, SEATS + 1), state=STATE, move=MOVE,
    max_plies=SEATS * CARDS, score_sum=lambda seats: 1.0,  # 3.1
    variants={
        "standard": {"cards": CARDS, "descending": 0, "carried": 0},
        "descending": {"cards": CARDS, "descending": 1, "carried": 0},
        "carried": {"cards": CARDS, "descending": 0, "carried": 1},
    },
    choices={"cards": range(2, CARDS + 1)},
    rules=Rules(deal, legal, act, settle, score, together=together),
    text=Text(ending=each_has("Points", points_taken)),
    table=Table(PIECES, holdings, zones=zones, picks=picks),
    learning=Learning(
        outcomes={
            "points": Outcome(points_taken, about="points taken", high=MOST),
            "lead": Outcome(lead, about="points ahead of the best of the others", low=-MOST, high=MOST),
        },
        measures=("share", "points"),
    ),
    agents=Agents(
        {"matching": Player(matching, "bids what the prize is worth, and over more", {"over": 0.0}, sees="own")},
        {"prospects": prospects}, opponents=("sampled:prospects?worlds=100", "matching"),
    ),
)  # fmt: skip
