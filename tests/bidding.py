"""A game of bids with payoffs from -384 to 192 points, for tests: one soloist against two, fifteen cards without suits.

1. Each of three seats gets four of the cards 0 to 14; three stay unseen.
2. In turn, each seat passes or bids 2 to 4 tricks, more than those before it. If all pass, everybody gets 0.
3. The last bidder is the soloist and leads. Everybody plays a card, the highest takes the trick, and its seat leads.
4. A bid of k tricks counts 12 * 2^k points. The soloist gets them for k tricks or more, and loses twice as many for
   fewer. The others get nothing, so that most games are 0 to most seats.
"""

import numpy as np

from cardai.game import (
    Agents,
    Game,
    Learning,
    Outcome,
    Payoff,
    PerspectiveEncoder,
    Player,
    Rules,
    Segment,
    Table,
    Text,
    listed_pieces,
    move_dtype,
    state_dtype,
)
from cardai.rules import rule
from cardai.rules.cards import any_of, count, has, highest, lowest, single

SEATS, CARDS, HAND, NOBODY = 3, 15, 4, -1
BID, CARD = 0, 1

STATE = state_dtype(
    hands=SEATS,
    tricks=SEATS,
    table=SEATS,  # the card that each seat has played to the trick, as a set
    played=(),  # the cards of earlier tricks
    passed=SEATS,
    bid=(),
    soloist=(),
    leader=(),
)
MOVE = move_dtype("kind", "what")


@rule
def deal(state):
    rest = (1 << CARDS) - 1
    for seat in range(SEATS):
        for _ in range(HAND):
            card = any_of(rest, state)
            rest &= ~single(card)
            state.hands[seat] |= single(card)
    state.soloist = NOBODY
    state.turn = 0


@rule
def bids(state):
    """Whether the seats still bid: nobody has played a card, and a seat has not spoken."""
    return state.ply < SEATS


@rule
def legal(state, moves):
    n = 0
    if bids(state):
        for tricks in range(HAND + 1):
            if tricks == 0 or tricks > max(state.bid, 1):
                moves[n].kind, moves[n].what = BID, tricks
                n += 1
        return n
    hand = state.hands[state.turn]
    while hand != 0:
        moves[n].kind, moves[n].what = CARD, lowest(hand)
        hand &= hand - 1
        n += 1
    return n


@rule
def act(state, move):
    if move.kind == BID:
        if move.what > 0:
            state.bid = move.what
            state.soloist = state.turn
        else:
            state.passed[state.turn] = 1
    else:
        state.hands[state.turn] &= ~single(move.what)
        state.table[state.turn] = single(move.what)


@rule
def settle(state):
    if state.ply < SEATS:
        state.turn += 1
        return
    if state.ply == SEATS:  # the last seat has spoken
        state.turn = state.soloist  # NOBODY ends the game
        return
    trick = state.table[0] | state.table[1] | state.table[2]
    if count(trick) < SEATS:
        state.turn = (state.turn + 1) % SEATS
        return
    for seat in range(SEATS):
        if has(state.table[seat], highest(trick)):
            state.turn = seat
        state.table[seat] = 0
    state.tricks[state.turn] += 1
    state.played |= trick
    if state.hands[state.turn] == 0:
        state.turn = -1


@rule
def is_made(state):
    return state.tricks[state.soloist] >= state.bid


@rule
def score(state, seat):
    if seat != state.soloist:
        return 0.0
    points = 12.0 * (1 << state.bid)
    return points if is_made(state) else -2.0 * points


@rule
def is_soloist(state, seat):
    return seat == state.soloist


@rule
def is_defender(state, seat):
    return state.soloist != NOBODY and seat != state.soloist


@rule
def won_alone(state, seat):
    return 1.0 * is_made(state)


@rule
def won_together(state, seat):
    return 1.0 - is_made(state)


@rule
def resample(state, seat, stream):
    known = state.hands[seat] | state.played | state.table[0] | state.table[1] | state.table[2]
    unseen = ((1 << CARDS) - 1) & ~known
    for other in range(SEATS):
        if other != seat:
            size = count(state.hands[other])
            state.hands[other] = 0
            for _ in range(size):
                card = any_of(unseen, stream)
                unseen &= ~single(card)
                state.hands[other] |= single(card)


@rule
def encode(state, seat, row):
    for card in range(CARDS):
        row[card] = has(state.hands[seat], card)
        row[CARDS + card] = has(state.played, card)
    for step in range(SEATS):
        other, place = (seat + step) % SEATS, 2 * CARDS + step * (CARDS + 3)
        for card in range(CARDS):
            row[place + card] = has(state.table[other], card)
        row[place + CARDS] = other == state.soloist
        row[place + CARDS + 1] = state.tricks[other]
        row[place + CARDS + 2] = state.passed[other]
    row[5 * CARDS + 9] = state.bid
    row[5 * CARDS + 10] = state.ply <= SEATS


def layout(seats):
    own = [Segment("hand", (CARDS,)), Segment("played", (CARDS,))]
    for step in range(seats):
        own += [Segment(f"table +{step}", (CARDS,)), Segment(f"soloist +{step}"), Segment(f"tricks +{step}")]
        own += [Segment(f"passed +{step}")]
    return (*own, Segment("bid"), Segment("bidding"))


@rule
def careful(world, move, params, stream):
    """Bid the number of its cards from `high` on, and play its highest card."""
    hand = world.hands[world.turn]
    if bids(world):
        strong = count(hand >> int(params[0]))
        move.kind, move.what = BID, strong if strong > max(world.bid, 1) else 0
    else:
        move.kind, move.what = CARD, highest(hand)


def spell(state, move):
    if move["kind"] == CARD:
        return f"plays {int(move['what'])}"
    return f"bids {int(move['what'])}" if move["what"] else "passes"


def parse(state, text):
    verb, *what = text.split()
    if verb == "passes" and not what:
        return _move(BID, 0)
    if verb not in ("bids", "plays") or len(what) != 1 or not what[0].isdecimal():
        raise ValueError(f"{text!r} is not 'passes', 'bids 2' or 'plays 7'")
    return _move(BID if verb == "bids" else CARD, int(what[0]))


def _move(kind, what):
    move = np.zeros(1, MOVE)[0]
    move["kind"], move["what"] = kind, what
    return move


def show(state, seat):
    lines = [f"hand {listed_pieces(int(state['hands'][seat]))}, bid {int(state['bid'])}"]
    for other in range(SEATS):
        alone = " alone" if other == state["soloist"] else ""
        table = listed_pieces(int(state["table"][other]))
        lines.append(f"p{other}{alone}: {int(state['tricks'][other])} tricks, table {table}")
    return "\n".join([*lines, f"played {listed_pieces(int(state['played']))}"])


def holdings(state):
    hands = [int(hand) for hand in state["hands"]]
    table = [int(cards) for cards in state["table"]]
    rest = ((1 << CARDS) - 1) & ~sum(hands) & ~sum(table) & ~int(state["played"])
    return [*hands, rest, *table, int(state["played"])]


GAME = Game(
    name="bidding",
    title="Bidding",
    version=1,
    seats=range(SEATS, SEATS + 1),
    default_seats=SEATS,
    state=STATE,
    move=MOVE,
    max_moves=HAND + 1,
    max_plies=SEATS * (HAND + 1),
    payoff=Payoff(-384, 192, "points"),
    rules=Rules(deal, legal, act, settle, score, resample=resample),
    text=Text(spell=spell, parse=parse, show=show),
    table=Table(holdings=holdings),
    learning=Learning(
        outcomes={
            "alone": Outcome(won_alone, "won as soloist", applies=is_soloist),
            "together": Outcome(won_together, "won as defender", applies=is_defender),
        },
        measures=("win", "alone", "together"),
        tally=("alone", "together"),
        encoders={"plain": PerspectiveEncoder(layout, encode)},
        actions={
            (kind, what): kind * (HAND + 1) + what
            for kind, size in ((BID, HAND + 1), (CARD, CARDS))
            for what in range(size)
        },
    ),
    agents=Agents(
        players={"careful": Player(careful, "bids its high cards", {"high": 11.0})},
    ),
)
