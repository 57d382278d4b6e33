"""Musta Maija (Black Mary): attacks of one suit, beaten card by card; the last with cards, the queen of spades, loses.

Numbers in comments are the rules of RULES.md in this folder.
"""

from cardai.cards import DECK52, any_of, count, filled, full_deck, has, lowest, put, single, suit, suit_cards
from cardai.dealing import some_of
from cardai.game import Game, PerspectiveEncoder, Player, Row, Segment, Suite, Zone, move_dtype, state_dtype
from cardai.rule import rule

DECK = 52
SEATS = 6
HAND = 5  # 1.1
SPADES = 3
MAIJA = 43  # 1.4
BOUTS = 200  # 3.3
NONE = -1

STATE = state_dtype(
    hands=SEATS,
    known=SEATS,  # 4.1: the cards of each hand that everybody knows
    stock=(),  # without the turned-up card
    bottom=(),  # 1.2: the turned-up card, as a set, while it lies under the stock
    trump=(),  # the trump suit
    gone=(),  # 2.5: the cards that have left the game
    attacker=(),
    defender=(),
    laid=(),  # 2.1: the attack cards; in the defence those that the defender has still to beat or to leave
    last=(),  # the attack card laid last, or NONE
    limit=(),  # 2.1: how many there may be
    left=(),  # the attack cards that the defender leaves
    beaten=(),  # those beaten in this bout and the cards that beat them
    defending=(),  # whether it is the defender's turn
    bouts_left=(),  # 3.3
)
MOVE = move_dtype("kind", "card")

# Kinds of move, in canonical order. `card`: the card laid or beaten with, otherwise 0.
LAY, STOP, BEAT, LEAVE = range(4)
TRUMPS = ("clubs", "diamonds", "hearts")  # 1.2


@rule
def deal(state):
    state.stock = full_deck(DECK)
    for seat in range(state.seats):
        state.hands[seat] = some_of(state.stock, HAND, state)  # 1.1
        state.stock &= ~state.hands[seat]
    turned = any_of(state.stock & ~suit_cards(SPADES), state)  # 1.2
    state.bottom = single(turned)
    state.stock &= ~state.bottom
    state.trump = suit(turned)
    state.bouts_left = BOUTS
    begin_bout(state, 0)  # 1.3


@rule
def is_in(state, seat):
    """3.1: whether a seat is in the game. In a bout its cards on the table count as well."""
    return state.hands[seat] != 0 or state.stock | state.bottom != 0


@rule
def next_in(state, seat):
    """The next seat clockwise that is in the game; `seat` itself if there is no other."""
    following = (seat + 1) % state.seats
    while following != seat and not is_in(state, following):
        following = (following + 1) % state.seats
    return following


@rule
def begin_bout(state, attacker):
    """1.3, 2.1."""
    state.attacker = attacker
    state.defender = next_in(state, attacker)
    state.laid, state.left, state.beaten = 0, 0, 0
    state.last = NONE
    state.limit = count(state.hands[state.defender])
    state.defending = 0
    state.turn = attacker


@rule
def beaters(state):
    """2.3, 2.4: the defender's cards that beat the lowest attack card it has not answered."""
    card, hand = lowest(state.laid), state.hands[state.defender] & ~single(MAIJA)
    if card == MAIJA:
        return 0
    cards = hand & suit_cards(suit(card)) & ~(2 * single(card) - 1)
    if suit(card) != state.trump:
        cards |= hand & suit_cards(state.trump)
    return cards


@rule
def cards_to_lay(state):
    """2.1: the cards that the attacker may lay. Those of an attack are laid from the lowest to the highest."""
    hand = state.hands[state.attacker]
    if state.last == NONE:
        return hand
    return hand & suit_cards(suit(state.last)) & ~(2 * single(state.last) - 1)


@rule
def legal(state, moves):
    rest, kind = (beaters(state), BEAT) if state.defending != 0 else (cards_to_lay(state), LAY)
    n = 0
    while rest != 0:
        moves[n].kind = kind
        moves[n].card = lowest(rest)
        rest &= rest - 1
        n += 1
    if state.defending != 0 or state.last != NONE:
        moves[n].kind = LEAVE if state.defending != 0 else STOP
        moves[n].card = 0
        n += 1
    return n


@rule
def act(state, move):
    seat, card = state.turn, single(move.card)
    if move.kind == LAY or move.kind == BEAT:
        state.hands[seat] &= ~card
        state.known[seat] &= ~card
    if move.kind == LAY:
        state.laid |= card
        state.last = move.card
        if count(state.laid) == state.limit or state.hands[seat] == 0:
            state.defending = 1
    elif move.kind == STOP:
        state.defending = 1
    else:
        answered = single(lowest(state.laid))
        state.laid &= ~answered
        if move.kind == BEAT:
            state.beaten |= answered | card
        else:
            state.left |= answered


@rule
def settle(state):
    if state.defending == 0:
        state.midway = 1  # 2.1: the attacker may lay another card
    elif state.turn == state.attacker:
        draw_up(state, state.attacker)  # 2.2
        state.turn = state.defender
    elif state.laid != 0:
        state.midway = 1
    else:
        end_bout(state)


@rule
def draw_up(state, seat):
    """Draw up to five cards; the turned-up card comes last, and everybody knows it."""
    while count(state.hands[seat]) < HAND and state.stock | state.bottom != 0:
        if state.stock != 0:
            card = single(any_of(state.stock, state))
            state.stock &= ~card
            state.revealed |= single(seat)
        else:
            card = state.bottom
            state.bottom = 0
            state.known[seat] |= card
        state.hands[seat] |= card


@rule
def end_bout(state):
    """2.5, 2.6, 3: the defender takes what it left, and the next seat attacks."""
    defender, left = state.defender, state.left
    state.gone |= state.beaten
    state.hands[defender] |= left
    state.known[defender] |= left  # 4.1
    draw_up(state, defender)
    state.bouts_left -= 1
    following = defender if left == 0 and is_in(state, defender) else next_in(state, defender)
    if state.bouts_left == 0 or next_in(state, following) == following:
        state.left, state.beaten = 0, 0
        state.turn = -1
    else:
        begin_bout(state, following)


@rule
def score(state, seat):
    """3.4."""
    losers = 0
    for other in range(state.seats):
        losers += state.hands[other] != 0
    return 1.0 - 1.0 / losers if state.hands[seat] != 0 else 1.0


@rule
def resample(state, seat, stream):
    # Every card whose place `seat` does not know may lie in the stock or be a hidden card of any other hand.
    unseen = state.stock
    for other in range(state.seats):
        if other != seat:
            unseen |= state.hands[other] & ~state.known[other]
    for other in range(state.seats):
        if other != seat:
            hidden = some_of(unseen, count(state.hands[other]) - count(state.known[other]), stream)
            unseen &= ~hidden
            state.hands[other] = state.known[other] | hidden
    state.stock = unseen


@rule
def blank(state, seat):
    for other in range(state.seats):
        if other != seat:
            state.hands[other] = filled(state.known[other], count(state.hands[other]))
    state.stock = filled(state.bottom, count(state.stock | state.bottom)) & ~state.bottom


def layout(seats):
    planes = ["own hand", "to be beaten", "left", "beaten", "gone", "turned up"]
    return (
        *(Segment(name, (13, 4)) for name in (*planes, *(f"known of seat +{step}" for step in range(1, seats)))),
        *(Segment(f"{name}: seat +{step}") for step in range(seats) for name in ("cards", "attacks", "defends")),
        Segment("trumps", (3,)),
        Segment("defence"),
        Segment("more cards may be laid"),
        Segment("stock"),
        Segment("bouts left"),
    )


@rule
def encode(state, seat, row):
    place = put(row, 0, state.hands[seat], DECK)
    place = put(row, place, state.laid, DECK)
    place = put(row, place, state.left, DECK)
    place = put(row, place, state.beaten, DECK)
    place = put(row, place, state.gone, DECK)
    place = put(row, place, state.bottom, DECK)
    for step in range(1, state.seats):
        place = put(row, place, state.known[(seat + step) % state.seats], DECK)
    for step in range(state.seats):
        other = (seat + step) % state.seats
        row[place] = count(state.hands[other])
        row[place + 1] = state.attacker == other
        row[place + 2] = state.defender == other
        place += 3
    row[place + state.trump] = 1
    row[place + 3] = state.defending
    row[place + 4] = state.limit - count(state.laid) if state.defending == 0 else 0
    row[place + 5] = count(state.stock)
    row[place + 6] = state.bouts_left


@rule
def house(world, move, params, stream):
    """Attack with all cards of the suit that has most, trumps last. Beat with the lowest card of the suit.

    Beat with trumps if there are at least `spend` in the hand, or no stock is left.
    """
    hand, trumps = world.hands[world.turn], suit_cards(world.trump)
    if world.defending != 0:
        cards = beaters(world)
        same = cards & suit_cards(suit(lowest(world.laid)))
        if same == 0 and count(hand & trumps) < params[0] and world.stock | world.bottom != 0:
            cards = 0
        move.kind = BEAT if cards != 0 else LEAVE
        move.card = lowest(same if same != 0 else cards) if cards != 0 else 0
        return
    cards = cards_to_lay(world)
    if world.last == NONE:
        most = 0
        for color in range(4):
            own = hand & suit_cards(color)
            if color != world.trump and count(own) > count(most):
                most = own
        cards = most if most != 0 else cards
    elif suit(world.last) == world.trump:
        cards = 0
    move.kind = LAY if cards != 0 else STOP
    move.card = lowest(cards) if cards != 0 else 0


@rule
def burden(state, seat):
    """Minus the cards in the hand of a seat, and five more for Maija."""
    return -1.0 * count(state.hands[seat]) - 5.0 * has(state.hands[seat], MAIJA)


def holdings(state):
    hands = state.hands[: state.seats]
    return [*hands, state.stock, state.bottom, state.laid, state.left, state.beaten, state.gone]


def spell(state, move):
    kind, card = int(move["kind"]), int(move["card"])
    if kind == STOP:
        return "no more"
    if kind == LAY:
        return f"lays {DECK52.name(card)}"
    first = DECK52.name(int(state.laid & -state.laid).bit_length() - 1)
    return f"leaves {first}" if kind == LEAVE else f"beats {first} with {DECK52.name(card)}"


def show(state, seat):
    stock = int(state.stock | state.bottom).bit_count()
    under = f", the lowest one {DECK52.names(state.bottom)}" if state.bottom else ""
    lines = [f"Stock: {stock} cards{under}. Trumps: {TRUMPS[int(state.trump)]}."]
    for other in range(int(state.seats)):
        if other != seat:
            known, cards = DECK52.names(state.known[other]), int(state.hands[other]).bit_count()
            lines.append(f"p{other}: {cards} cards{', with ' + known if known else ''}.")
    if state.turn >= 0:
        lines.append(f"p{state.attacker} attacks p{state.defender}.")
    for name, cards in (("To be beaten", state.laid), ("Left", state.left), ("Beaten", state.beaten)):
        if cards:
            lines.append(f"{name}: {DECK52.names(cards)}.")
    lines.append(f"Your hand: {DECK52.names(state.hands[seat]) or 'no cards'}.")
    return "\n".join(lines)


def zones(state, seat):
    found = []
    for other in range(int(state.seats)):
        shown = int(state.hands[other] if other == seat else state.known[other])
        hidden = int(state.hands[other]).bit_count() - shown.bit_count()
        found.append(Zone("Hand", shown, hidden, seat=other, look="fan"))
    found.append(Zone("To be beaten", int(state.laid)))
    found.append(Zone("Left", int(state.left)))
    found.append(Zone("Beaten", int(state.beaten)))
    found.append(Zone("Stock", int(state.bottom), int(state.stock).bit_count(), look="pile"))
    found.append(Zone("Gone", hidden=int(state.gone).bit_count(), look="pile"))
    return found


def picks(state, move):
    return 1 << int(move["card"]) if move["kind"] in (LAY, BEAT) else 0


def ending(state):
    losers = [f"p{seat}" for seat in range(int(state.seats)) if state.hands[seat]]
    return f"{losers[0]} is left with Maija." if len(losers) == 1 else f"{', '.join(losers)} have lost together."


GAME = Game(
    name="mustamaija",
    title="Musta Maija",
    version=1,
    seats=range(2, SEATS + 1),
    default_seats=4,
    state=STATE,
    move=MOVE,
    max_moves=DECK,
    max_plies=BOUTS * 28,  # 13 cards of a suit at most, each laid and answered, and the end of an attack
    variants={"standard": {}},
    deal=deal,
    legal=legal,
    act=act,
    settle=settle,
    score=score,
    resample=resample,
    blank=blank,
    score_sum=lambda seats: seats - 1,  # 3.4
    encoders={"planes": PerspectiveEncoder(layout, encode)},
    players={
        "house": Player(
            house,
            about="attacks with its longest suit; while there is a stock, beats with trumps if it has `spend` of them",
            defaults={"spend": 2.0},
            sees="own",
        )
    },
    heuristics={"burden": burden},
    suites={
        "house": Suite(
            about="against three players of the house",
            measure="score",
            rows={"house": Row(("house", "house", "house"))},
            agents=("random", "house", "sampled:burden?worlds=20"),
        )
    },
    spell=spell,
    show=show,
    pieces=DECK52.all_names,
    zones=zones,
    picks=picks,
    ending=ending,
    holdings=holdings,
)
