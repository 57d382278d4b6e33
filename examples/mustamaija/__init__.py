"""Musta Maija (Black Mary): attacks of one suit, beaten card by card; the last with cards, the queen of spades, loses.

Numbers in comments are the rules of RULES.md in this folder.
"""

from cardai.game import Agents, Game, Player, Row, Rules, Suite, Text
from cardai.game.declared import NONE, Card, Hand, Known, Moves, Number, Pile, Seat, State, Stock, Suit
from cardai.rules import rule
from cardai.rules.cards import DECK52, any_of, beaters, count, full_deck, has, lowest, single, suit, suit_cards
from cardai.rules.dealing import some_of

DECK = 52
SEATS = 6
HAND = 5  # 1.1
SPADES = 3
MAIJA = 43  # 1.4
BOUTS = 200  # 3.3

STATE = State(
    DECK52, SEATS,
    hands=Hand(known="known"),
    known=Known("hands"),  # 4.1
    stock=Stock(),
    bottom=Pile("under the stock", look="pile"),  # 1.2: the turned-up card; once it is gone, there is no stock
    trump=Suit("trumps"),
    gone=Pile("out of the game", look="pile"),  # 2.5
    attacker=Seat(says="attacks"),
    defender=Seat(says="defends"),
    laid=Pile("to be beaten"),  # 2.1: the attack cards that the defender has still to beat or to leave
    last=Card("laid last", is_place=False),  # NONE before and after an attack
    left=Pile("left unbeaten"),  # the attack cards that the defender leaves
    beaten=Pile(),  # those beaten in this bout and the cards that beat them
    bouts_left=Number("bouts left", high=BOUTS),  # 3.3
)  # fmt: skip
MOVE = Moves("lays {card}", "no more", "beats with {card}", "leaves")
LAY, STOP, BEAT, LEAVE = range(4)

add, add_each = MOVE.add, MOVE.add_each
draw = STATE.move("stock", "hands")
draw_last = STATE.move("bottom", "hands")
lay = STATE.move("hands", "laid")
leave = STATE.move("laid", "left")
lose = STATE.move("laid", "beaten")
beat = STATE.move("hands", "beaten")
pick_up = STATE.move("left", "hands")
put_away = STATE.move("beaten", "gone")


@rule
def deal(state):
    state.stock = full_deck(DECK)
    turned = any_of(state.stock & ~suit_cards(SPADES), state)  # 1.2
    state.bottom = single(turned)
    state.stock &= ~state.bottom
    state.trump = suit(turned)
    for seat in range(state.seats):
        draw(state, some_of(state.stock, HAND, state), seat)  # 1.1
    state.last = NONE
    state.bouts_left = BOUTS
    begin_bout(state, 0)  # 1.3


@rule
def is_in(state, seat):
    """3.1: whether a seat is in the game. In a bout its cards on the table count as well."""
    return state.hands[seat] != 0 or state.bottom != 0


@rule
def next_in(state, seat):
    """The next seat clockwise that is in the game; `seat` itself if there is no other."""
    following = (seat + 1) % state.seats
    while following != seat and not is_in(state, following):
        following = (following + 1) % state.seats
    return following


@rule
def begin_bout(state, attacker):
    state.attacker = attacker
    state.defender = next_in(state, attacker)
    state.turn = attacker


@rule
def answers(state):
    """2.3, 2.4: the defender's cards that beat the lowest attack card it has not answered."""
    card, hand = lowest(state.laid), state.hands[state.defender] & ~single(MAIJA)
    return 0 if card == MAIJA else hand & beaters(card, state.trump)


@rule
def cards_to_lay(state):
    """2.1: the cards that the attacker may lay. Those of an attack are laid from the lowest to the highest."""
    hand = state.hands[state.attacker]
    if state.last == NONE:
        return hand
    return hand & suit_cards(suit(state.last)) & ~(2 * single(state.last) - 1)


@rule
def legal(state, moves):
    if state.turn == state.defender:
        n = add_each(moves, 0, BEAT, answers(state))
        return add(moves, n, LEAVE, 0)
    n = add_each(moves, 0, LAY, cards_to_lay(state))
    return add(moves, n, STOP, 0) if state.last != NONE else n


@rule
def act(state, move):
    seat, attacked = state.turn, state.laid & -state.laid  # the lowest one
    if move.kind == LAY:
        lay(state, single(move.card), seat)
        is_last = count(state.laid) == count(state.hands[state.defender]) or state.hands[seat] == 0
        state.last = NONE if is_last else move.card
    elif move.kind == STOP:
        state.last = NONE
    elif move.kind == BEAT:
        lose(state, attacked)
        beat(state, single(move.card), seat)
    else:
        leave(state, attacked)


@rule
def settle(state):
    if state.turn == state.attacker and state.last == NONE:
        draw_up(state, state.attacker)  # 2.2
        state.turn = state.defender
    elif state.laid != 0:
        state.midway = 1  # 2.1, 2.3: there may be another card to lay, and there is one to answer
    else:
        end_bout(state)


@rule
def draw_up(state, seat):
    """Draw up to five cards; the turned-up card comes last, and everybody knows it."""
    while count(state.hands[seat]) < HAND and state.bottom != 0:
        if state.stock != 0:
            draw(state, single(any_of(state.stock, state)), seat)
            state.revealed |= single(seat)
        else:
            draw_last(state, state.bottom, seat)


@rule
def end_bout(state):
    """2.5, 2.6, 3: the defender takes what it left, and the next seat attacks."""
    defender, has_left = state.defender, state.left != 0
    put_away(state, state.beaten)
    pick_up(state, state.left, defender)
    draw_up(state, defender)
    state.bouts_left -= 1
    following = next_in(state, defender) if has_left or not is_in(state, defender) else defender
    if state.bouts_left == 0 or next_in(state, following) == following:
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
def house(world, move, params, stream):
    """Attack with all cards of the suit that has most, trumps last. Beat with the lowest card of the suit.

    Beat with trumps if there are at least `spend` in the hand, or no stock is left.
    """
    hand, trumps = world.hands[world.turn], suit_cards(world.trump)
    if world.turn == world.defender:
        cards = answers(world)
        same = cards & suit_cards(suit(lowest(world.laid)))
        if same == 0 and count(hand & trumps) < params[0] and world.bottom != 0:
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


def spell(state, move):
    kind, card = int(move["kind"]), DECK52.name(move["card"])
    attacked = DECK52.names(state.laid).partition(" ")[0]
    return (f"lays {card}", "no more", f"beats {attacked} with {card}", f"leaves {attacked}")[kind]


def ending(state):
    losers = [f"p{seat}" for seat in range(int(state.seats)) if state.hands[seat]]
    return f"{losers[0]} is left with Maija." if len(losers) == 1 else f"{', '.join(losers)} have lost together."


HOUSE = Player(house, "attacks with its longest suit; while there is a stock, beats with trumps if it has `spend`",
               {"spend": 2.0}, sees="own")  # fmt: skip
AGAINST_THE_HOUSE = Suite("against three players of the house", "score", {"house": Row(("house", "house", "house"))},
                          ("random", "house", "sampled:burden?worlds=20"))  # fmt: skip
GAME = Game(
    name="mustamaija", title="Musta Maija", version=2, seats=range(2, SEATS + 1), default_seats=4, state=STATE,
    move=MOVE, max_moves=DECK, score_sum=lambda seats: seats - 1,  # 3.4
    max_plies=BOUTS * 28,  # 13 cards of a suit at most, each laid and answered, and the end of an attack
    rules=Rules(deal, legal, act, settle, score),
    text=Text(spell=spell, ending=ending),
    agents=Agents({"house": HOUSE}, {"burden": burden}, suites={"house": AGAINST_THE_HOUSE}),
)  # fmt: skip
