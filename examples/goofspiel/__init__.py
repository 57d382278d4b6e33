"""Goofspiel: bids for prizes, as an example of a game in which all seats choose at the same time.

Numbers in comments are the rules of RULES.md in this folder. The rules are written as if the bids lay open: that they
are secret until all have chosen is the work of the core, for which `together` and the field `sealed` are all it needs.
"""

from cardai.cards import Deck, any_of, full_deck, highest, lowest, single
from cardai.game import Game, Outcome, Player, Zone
from cardai.game.declared import NONE, Card, Cards, Each, Moves, Number, Option, State
from cardai.rule import rule

CARDS = 13  # 1.1: of each hand, at most; card 0 has the value 1
SEATS = 3
PRIZES = SEATS * CARDS  # the first of the pieces that are prizes; those before are the hands, seat by seat
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
    state.prize = NONE
    state.turn = 0
    if state.left != 0:
        turn_up(state)
    if state.left == 0 and state.prize != NONE:  # 2.5
        for seat in range(state.seats):
            state.bids[seat] = lowest(state.hands[seat])
            state.hands[seat] = 0
        award(state)
        state.prize = NONE
    if state.prize == NONE:
        state.turn = -1


@rule
def award(state):
    taker = winner(state)
    if taker != NONE:  # 2.2
        state.points[taker] += state.prize + 1 + state.pot
        state.pot = 0
    elif state.carried != 0:  # 2.4
        state.pot += state.prize + 1


@rule
def winner(state):
    """The seat with the highest bid, or NONE if several have it."""
    best, taker = NONE, NONE
    for seat in range(state.seats):
        if state.bids[seat] > best:
            best, taker = state.bids[seat], seat
        elif state.bids[seat] == best:
            taker = NONE  # 2.3
    return taker


@rule
def lead(state, seat):
    """The points that a seat is ahead of the best of the others."""
    best = 0
    for other in range(state.seats):
        if other != seat:
            best = max(best, state.points[other])
    return 1.0 * (state.points[seat] - best)


@rule
def score(state, seat):
    if lead(state, seat) < 0:
        return 0.0
    winners = 0
    for other in range(state.seats):
        winners += state.points[other] == state.points[seat]
    return 1.0 / winners  # 3.1


@rule
def points_taken(state, seat):
    return 1.0 * state.points[seat]


@rule
def values_of(cards):
    total = 0
    while cards != 0:
        total += lowest(cards) + 1
        cards &= ~single(lowest(cards))
    return total


@rule
def prospects(state, seat):
    """The lead of `seat` if the prizes that are left are divided as the values in the hands are."""
    prizes, all_hands, own, best = values_of(state.left) + state.pot, 0, 0.0, -1.0
    if state.prize != NONE:
        prizes += state.prize + 1
    for other in range(state.seats):
        all_hands += values_of(state.hands[other])
    for other in range(state.seats):
        hoped = state.points[other] + prizes * values_of(state.hands[other]) / max(1, all_hands)
        if other == seat:
            own = hoped
        else:
            best = max(best, hoped)
    return own - best


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
    places = []
    for other in range(int(state.seats)):
        hand = int(state.hands[other]) << other * CARDS
        places.append(Zone("Hand", hand, seat=other, look="fan", note=f"{int(state.points[other])} points"))
    bids = {other * CARDS + int(state.bids[other]): f"p{other}" for other in range(int(state.seats))}
    shown = bids if state.bids[0] != NONE else {}
    prize = [] if state.prize == NONE else [PRIZES + int(state.prize)]
    pot = f"{int(state.pot)} more points" if state.pot else ""
    left = Zone("Prizes left", int(state.left) << PRIZES, open=0)
    return [*places, Zone("Last bids", list(shown), marks=shown), Zone("Prize", prize, note=pot), left]


def picks(state, move):
    return 1 << int(state.turn) * CARDS + int(move["card"])


def ending(state):
    return "Points: " + ", ".join(f"p{seat} has {int(state.points[seat])}" for seat in range(int(state.seats))) + "."


GAME = Game(
    name="goofspiel",
    title="Goofspiel",
    version=1,
    seats=range(2, SEATS + 1),
    state=STATE,
    move=MOVE,
    max_plies=SEATS * CARDS,
    deal=deal,
    legal=legal,
    act=act,
    settle=settle,
    together=together,
    score=score,
    score_sum=lambda seats: 1.0,  # 3.1
    variants={
        "standard": {"cards": CARDS, "descending": 0, "carried": 0},
        "descending": {"cards": CARDS, "descending": 1, "carried": 0},
        "carried": {"cards": CARDS, "descending": 0, "carried": 1},
    },
    choices={"cards": range(2, CARDS + 1)},
    players={
        "matching": Player(
            matching, about="bids what the prize is worth, and over more", defaults={"over": 0.0}, sees="own"
        )
    },
    heuristics={"prospects": prospects},
    outcomes={
        "points": Outcome(points_taken, about="points taken", high=MOST),
        "lead": Outcome(lead, about="points ahead of the best of the others", low=-MOST, high=MOST),
    },
    measures=("share", "points"),
    opponents=("sampled:prospects?worlds=100", "matching"),
    ending=ending,
    holdings=holdings,
    pieces=tuple(f"{value}{suit}" for suit in "CDHS" for value in "A23456789TJQK"),  # 1.1, 1.2
    zones=zones,
    picks=picks,
)
