"""Thirty-One (also Scat): three hidden cards, a stock, a discard pile, and a knock that ends the deal.

This is the worked example of `docs/add-a-game.md`. Numbers in comments are the rules of RULES.md in this folder.
"""

import numpy as np

from cardai.cards import DECK52, any_of, count, filled, full_deck, lowest, put, rank, same_rank, single, suit_cards
from cardai.game import Game, PerspectiveEncoder, Player, Row, Segment, Suite, Zone, move_dtype, state_dtype
from cardai.rule import rule

DECK = 52
SEATS = 4
HAND = 3  # 1.1
ROUNDS = 12  # 4.2
ACE = 12  # the highest rank
NONE = -1

STATE = state_dtype(
    three_alike=(),  # option: whether rule 3.2 holds
    hands=SEATS,
    known=SEATS,  # 5.1: the cards of each hand that everybody knows
    stock=(),
    discards=(),  # the discard pile as a set, its top included
    top=(),  # the top card of the discard pile; NONE between a take and the discard that follows
    taken=(),  # 2.3: the card taken this turn, or NONE
    owed=(),  # 1 between the decision to draw a card and the draw itself
    knocker=(),  # the seat that has knocked, or NONE
    turns_left=(),  # 4.2: turns that all seats together have left
)
MOVE = move_dtype("kind", "card")

# Kinds of move, in canonical order. `card`: the card taken or discarded, otherwise 0.
DRAW, TAKE, KNOCK, DISCARD = range(4)


@rule
def deal(state):
    state.stock = full_deck(DECK)
    for seat in range(state.seats):
        for _ in range(HAND):  # 1.1
            state.hands[seat] |= single(from_stock(state))
    state.top = from_stock(state)  # 1.2
    state.discards = single(state.top)
    state.taken = NONE
    state.knocker = NONE
    state.turns_left = ROUNDS * state.seats
    state.turn = 0  # 1.3


@rule
def from_stock(state):
    """Draw a random card from the stock. The stock is a set without an order, so nobody can peek at the next card."""
    card = any_of(state.stock, state)
    state.stock &= ~single(card)
    return card


@rule
def must_discard(state):
    """Whether the seat to move has drawn or taken a card this turn."""
    return count(state.hands[state.turn]) > HAND


@rule
def legal(state, moves):
    n = 0
    if must_discard(state):
        rest = state.hands[state.turn]
        if state.taken != NONE:
            rest &= ~single(state.taken)  # 2.3
        while rest != 0:
            card = lowest(rest)
            rest &= ~single(card)
            moves[n].kind = DISCARD
            moves[n].card = card
            n += 1
        return n
    moves[0].kind = DRAW
    moves[0].card = 0
    moves[1].kind = TAKE
    moves[1].card = state.top
    n = 2
    if state.knocker == NONE:  # 2.4
        moves[2].kind = KNOCK
        moves[2].card = 0
        n = 3
    return n


@rule
def act(state, move):
    seat = state.turn
    if move.kind == DRAW:
        state.owed = 1
    elif move.kind == TAKE:
        state.hands[seat] |= single(move.card)
        state.known[seat] |= single(move.card)  # 5.1
        state.discards &= ~single(move.card)
        state.taken = move.card
        state.top = NONE
    elif move.kind == KNOCK:
        state.knocker = seat
    else:
        state.hands[seat] &= ~single(move.card)
        state.known[seat] &= ~single(move.card)
        state.discards |= single(move.card)
        state.top = move.card
        state.taken = NONE


@rule
def settle(state):
    if state.owed != 0:
        state.owed = 0
        state.hands[state.turn] |= single(from_stock(state))
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
def points(cards):
    """3.1: the sum of the values of some cards."""
    total = 0
    while cards != 0:
        card = lowest(cards)
        cards &= ~single(card)
        total += 11 if rank(card) == ACE else min(rank(card) + 2, 10)
    return total


@rule
def value_of(state, cards):
    """3: the value of a hand of three cards."""
    best = 0
    for suit in range(4):
        best = max(best, points(cards & suit_cards(suit)))
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
def resample(state, seat, stream):
    # Every card whose place `seat` does not know may lie in the stock or be a hidden card of any other hand.
    unseen = state.stock
    for other in range(state.seats):
        if other != seat:
            unseen |= state.hands[other] & ~state.known[other]
    for other in range(state.seats):
        if other != seat:
            hidden = count(state.hands[other]) - count(state.known[other])
            state.hands[other] = state.known[other]
            for _ in range(hidden):
                card = any_of(unseen, stream)
                unseen &= ~single(card)
                state.hands[other] |= single(card)
    state.stock = unseen


@rule
def blank(state, seat):
    for other in range(state.seats):
        if other != seat:
            state.hands[other] = filled(state.known[other], count(state.hands[other]))
    state.stock = filled(0, count(state.stock))


def layout(seats):
    planes = ["own hand", "discards", "top", "taken", *(f"known of seat +{step}" for step in range(1, seats))]
    values = ["to move", "knocked", "cards"]
    return (
        *(Segment(name, (13, 4)) for name in planes),
        *(Segment(f"{name}: seat +{step}") for step in range(seats) for name in values),
        Segment("draw owed"),
        Segment("stock"),
        Segment("turns left"),
    )


@rule
def encode(state, seat, row):
    place = put(row, 0, state.hands[seat], DECK)
    place = put(row, place, state.discards, DECK)
    place = put(row, place, single(state.top) if state.top != NONE else 0, DECK)
    place = put(row, place, single(state.taken) if state.taken != NONE else 0, DECK)
    for step in range(1, state.seats):
        place = put(row, place, state.known[(seat + step) % state.seats], DECK)
    for step in range(state.seats):
        other = (seat + step) % state.seats
        row[place] = state.turn == other
        row[place + 1] = state.knocker == other
        row[place + 2] = count(state.hands[other])
        place += 3
    row[place] = state.owed
    row[place + 1] = count(state.stock)
    row[place + 2] = state.turns_left


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
        worth = 100 * value_of(state, left) + points(left)
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


HOPE = 1.0  # points that drawing a card is expected to add
KNOCK_AT = 25.0  # a knock counts the points above this once more


@rule
def prospects(state, seat):
    """The value of the hand of `seat` after its best discard; a knock makes good hands better and bad ones worse."""
    value = 1.0 * best_value(state, state.hands[seat], state.taken if state.turn == seat else NONE)
    if state.knocker == seat:
        return value + (value - KNOCK_AT)
    if state.turn == seat and state.owed != 0:
        return value + HOPE
    return value


def holdings(state):
    return [*state.hands[: state.seats], state.stock, state.discards]


def spell(state, move):
    kind, card = int(move["kind"]), int(move["card"])
    if kind in (DRAW, KNOCK):
        return "draws" if kind == DRAW else "knocks"
    return f"{'takes' if kind == TAKE else 'discards'} {DECK52.name(card)}"


def parse(state, text):
    verb, _, card = text.strip().lower().partition(" ")
    word = verb.removesuffix("s")  # a person types "draw"
    kinds = {"draw": DRAW, "take": TAKE, "knock": KNOCK, "discard": DISCARD}
    if word not in kinds or (card == "") != (word in ("draw", "knock")):
        raise ValueError(f"{text.strip()!r} is no move; a move is draws, knocks, takes 9S or discards 9S")
    move = np.zeros(1, MOVE)[0]
    move["kind"] = kinds[word]
    move["card"] = DECK52.card(card) if card else 0
    return move


def show(state, seat):
    top = "nothing" if state.top == NONE else DECK52.name(state.top)
    lines = [f"Stock: {int(state.stock).bit_count()} cards. On the discard pile: {top}."]
    for other in range(int(state.seats)):
        if other != seat:
            known = DECK52.names(state.known[other])
            lines.append(f"p{other}: {int(state.hands[other]).bit_count()} cards{', with ' + known if known else ''}.")
    if state.knocker != NONE:
        lines.append(f"p{state.knocker} has knocked.")
    value = best_value(state, state.hands[seat], state.taken)
    lines.append(f"Your hand: {DECK52.names(state.hands[seat])}, worth {value}.")
    return "\n".join(lines)


def zones(state, seat):
    hands = []
    for other in range(int(state.seats)):
        shown = int(state.hands[other] if other == seat else state.known[other])
        hidden = int(state.hands[other]).bit_count() - shown.bit_count()
        note = "has knocked" if state.knocker == other else ""
        hands.append(Zone("Hand", shown, hidden, seat=other, look="fan", note=note))
    top = [] if state.top == NONE else [int(state.top)]
    below = int(state.discards).bit_count() - len(top)
    stock = Zone("Stock", hidden=int(state.stock).bit_count(), look="pile")
    return [*hands, stock, Zone("Discard pile", top, hidden=below, look="pile")]


def picks(state, move):
    return 1 << int(move["card"]) if move["kind"] in (TAKE, DISCARD) else 0


def ending(state):
    hands = [f"p{seat} has {value_of(state, state.hands[seat])}" for seat in range(int(state.seats))]
    return f"All hands are turned up: {', '.join(hands)}."


GAME = Game(
    name="thirtyone",
    title="Thirty-One",
    version=1,
    seats=range(2, SEATS + 1),
    default_seats=3,
    state=STATE,
    move=MOVE,
    max_moves=HAND + 1,
    max_plies=2 * ROUNDS * SEATS,  # 4.2
    variants={"standard": {"three_alike": 0}, "three_alike": {"three_alike": 1}},
    deal=deal,
    legal=legal,
    act=act,
    settle=settle,
    score=score,
    resample=resample,
    blank=blank,
    score_sum=lambda seats: seats / 2,  # 4.4
    encoders={"planes": PerspectiveEncoder(layout, encode)},
    players={
        "house": Player(
            house,
            about="knocks at knock_at points, takes the discard if that gains at least gain points",
            defaults={"knock_at": 25.0, "gain": 2.0},
            sees="own",
        )
    },
    heuristics={"prospects": prospects},
    suites={
        "house": Suite(
            about="against two players of the house",
            measure="score",
            rows={"house": Row(("house", "house"))},
            agents=("random", "house", "sampled:prospects?worlds=20"),
        )
    },
    spell=spell,
    parse=parse,
    show=show,
    pieces=DECK52.all_names,
    zones=zones,
    picks=picks,
    ending=ending,
    holdings=holdings,
)
