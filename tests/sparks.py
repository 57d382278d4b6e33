"""Sparks: a small game with cards that are alike, for tests: places are counts of kinds.

1. The deck has, in each of three colours, three ones, two twos, two threes and a four. A hand has four cards.
2. In turn a seat plays a card face up and draws one as long as there are any, or it takes the last card played if that
   does not count. In the variant `taking` all seats together may take four, in the variant `plain` none.
3. A card counts if the lower ones of its colour have been played before it. All seats score the share that counts.

Everybody knows the cards that a seat has taken. So a kind may lie in a hand once for certain, and once more by chance.
`PLAIN` is the game without them, where the counts say how likely a world is.
"""

from cardai.game import Agents, Game, Player, Rules, Table
from cardai.game.declared import NONE, Card, Flag, Hand, Known, Moves, Number, Option, Pile, State, Stock
from cardai.rules import rule
from cardai.rules.cards import Deck, any_kind

COLOURS, RANKS, SEATS, HAND, TAKES = 3, 4, 3, 4, 4
KINDS = RANKS * COLOURS
COPIES = (3, 2, 2, 1) * COLOURS
PLAY, TAKE = range(2)

STATE = State(
    Deck(ranks="RGB", suits="1234"), SEATS, COPIES,  # a kind is 4 * colour + number - 1
    most_taken=Option(high=TAKES),  # how many cards all seats together may take
    taken=Number(high=TAKES),
    hands=Hand(known="known"),
    known=Known("hands"),
    stock=Stock(),
    played=Pile(),
    built=Number(high=RANKS, shape=(COLOURS,)),  # the highest card that counts
    last=Card(is_place=False),  # the last card played, or NONE if it counts
    drawing=Flag(),
)  # fmt: skip
MOVE = Moves("plays {card}", "takes {card}")
add = MOVE.add
draw, take, play = STATE.move("stock", "hands"), STATE.move("played", "hands"), STATE.move("hands", "played")


@rule
def deal(state):
    for card in range(KINDS):
        state.stock[card] = COPIES[card]
    for seat in range(state.seats):
        for _ in range(HAND):
            draw(state, any_kind(state.stock, state), 1, seat)
    state.last = NONE


@rule
def legal(state, moves):
    n = 0
    for card in range(KINDS):
        if state.hands[state.turn, card] > 0:
            n = add(moves, n, PLAY, card)
    if state.taken < state.most_taken and state.last != NONE:
        n = add(moves, n, TAKE, state.last)
    return n


@rule
def act(state, move):
    card, state.last = move.card, NONE
    if move.kind == TAKE:
        take(state, card, 1, state.turn)
        state.taken += 1
        return
    play(state, card, 1, state.turn)
    if state.built[card // RANKS] == card % RANKS:
        state.built[card // RANKS] += 1
    else:
        state.last = card
    state.drawing = 1


@rule
def settle(state):
    if state.drawing != 0 and state.stock.sum() > 0:
        draw(state, any_kind(state.stock, state), 1, state.turn)
        state.revealed = 1 << state.turn
    state.drawing = 0
    state.turn = (state.turn + 1) % state.seats
    if state.hands[state.turn].sum() == 0:
        state.turn = -1


@rule
def score(state, seat):
    return state.built.sum() / KINDS


@rule
def careful(world, move, params, stream):
    """Plays a card that counts, else any."""
    for card in range(KINDS):
        if world.hands[world.turn, card] > 0:
            move.card = card
            if world.built[card // RANKS] == card % RANKS:
                return


def chances(state, seat, shares):
    """How many cards of each kind are expected in each hand: the hidden ones are as likely to lie in each place."""
    hidden = state.stock.copy()
    for other in range(int(state.seats)):
        if other != seat:
            hidden += state.hands[other] - state.known[other]
    for other in range(int(state.seats)):
        unknown = state.hands[other].sum() - state.known[other].sum()
        expected = state.known[other] + hidden * (unknown / max(1, hidden.sum()))
        shares[other] = state.hands[seat] if other == seat else expected


GAME = Game(
    name="sparks", title="Sparks", version=1, seats=range(2, SEATS + 1), state=STATE, move=MOVE,
    max_plies=sum(COPIES) + 2 * TAKES, variants={"taking": {"most_taken": TAKES}, "plain": {}},
    rules=Rules(deal, legal, act, settle, score), table=Table(chances=chances),
    agents=Agents(players={"careful": Player(careful, "plays a card that counts, else any")}),
)  # fmt: skip
PLAIN = GAME.changed(weight=None, variants={"plain": {}})
resample, holdings = GAME.rules.resample, GAME.table.holdings
