"""Faults that show only in rare situations: the stock is just gone, the last card is drawn, a seat is passed over.

Each is a fault of a line or two in a game of this repository or an example. Further kinds: a card that was turned up
and is later forgotten, leaks that start late in a game, the order of cards in a zone and of moves, texts that rarely
say too much, cards passed on that depend on each other, and the score of one seat. Each is named with a law that finds
it; a whole check may find it by another one.
"""

from pathlib import Path

from planting import faulty, made, seen_by

import cardai
from cardai.game import Game
from cardai.games import durak, hearts, literature, moska
from cardai.rules import rule
from cardai.rules.cards import DECK52, lowest

EXAMPLES = Path(__file__).parents[1] / "examples"
CRAZY, HANABI, MAIJA, THIRTYONE = (
    cardai.load(str(EXAMPLES / name)) for name in ("crazy", "hanabi", "mustamaija", "thirtyone")
)
VIEWS, FORGOTTEN = "encodings_are_the_same_in_every_world", "nothing_seen_is_forgotten"
NEXT_LOWEST = "lowest(state.hands[(seat + 1) % state.seats] | single(60)) & 1"


def leaking(when: str, view) -> dict:
    """An encoder that leaks the lowest bit of the lowest card of the next hand, in some positions."""
    return {"leaking": seen_by(f"... if {when}: row[0] ^= {NEXT_LOWEST}", view.layout, view.encode)["planes"]}


# The stock is just gone, the last card is drawn.

# Durak: between two bouts, when the stock has run out and three seats or more play on.
STOCK_GONE = faulty(
    VIEWS,
    durak.GAME,
    encoders=leaking(
        "state.stock | state.bottom == 0 and state.attacks == 0 and count(state.playing) > 2",
        durak.GAME.learning.encoders["relative"],
    ),
)
# Durak: who draws the turned-up card is not known to hold it, while more than two seats play.
BOTTOM_FORGOTTEN = faulty(
    FORGOTTEN,
    durak.GAME,
    settle="""had = state.bottom
...
if state.bottom != had and count(state.playing) > 2:
    for seat in range(state.seats):
        state.known[seat] &= ~had""",
)
# Durak: the last hidden card of the stock is drawn, and nobody is said to have seen it.
LAST_DRAW_UNREVEALED = faulty(
    "unrevealed_moves_look_the_same",
    durak.GAME,
    settle="had = state.stock ... if had != 0 and state.stock == 0 and count(state.playing) > 2: state.revealed = 0",
)
# Durak: the last hidden card of the stock is not blanked.
LAST_CARD_UNBLANKED = faulty(
    "blank_leaves_nothing_hidden", durak.GAME, blank="had = state.stock ... if count(had) == 1: state.stock = had"
)


def show_the_last_card(state, seat):
    """Musta Maija: the text names the last hidden card of the stock."""
    last = DECK52.names(state.stock) if int(state.stock).bit_count() == 1 else ""
    return f"{MAIJA.text.show(state, seat)}{last}"


LAST_CARD_SHOWN = faulty("text_is_the_same_in_every_world", MAIJA, show=show_the_last_card)


# Moska: the card above the turned-up one stays where it is, in every second world that has it in the deck.
TWO_AT_THE_BOTTOM = faulty(
    "resampling_twice_is_resampling_once",
    moska.GAME,
    resample="""true_card = state.deck[1]
...
if below(stream, 2) == 0 and state.deck_left > 2:
    for place in range(2, state.deck_left):
        if state.deck[place] == true_card:
            state.deck[place] = state.deck[1]
            state.deck[1] = true_card
            return""",
)
# Hanabi: once the deck is empty, cards move up in a hand, but what was told of them stays where it was.
HINTS_STAY = faulty(
    "cards_are_conserved",
    HANABI,
    settle="""seat, chosen, had = state.turn, state.chosen, state.may[state.turn].copy()
...
if chosen != NONE and state.hands[seat, hand_size(state) - 1] == NONE: state.may[seat, :] = had""",
)

# A seat is passed over.

# Durak: when the seat on the attacker's left is out, everybody knows the hand of the defender.
SKIPPED = faulty(
    "unrevealed_moves_look_the_same",
    durak.GAME,
    settle="""... if state.attacks == 0 and count(state.playing) > 2:
    if state.defender != (state.attacker + 1) % state.seats: state.known[state.defender] = state.hands[state.defender]
""",
)

# A card is turned up and later forgotten.

# Moska: a card that the target turned up, and that barred the deck, is forgotten when the target picks it up.
TURNED_FORGOTTEN = faulty(
    FORGOTTEN,
    moska.GAME,
    act="""seat, turned = state.turn, state.barring
...
if move.kind == END: state.known[seat] &= ~turned""",
)
# Thirty-One: what a seat took from the discard pile is forgotten when it knocks.
KNOCKER_FORGOTTEN = faulty(FORGOTTEN, THIRTYONE, act="... if move.kind == KNOCK: state.known[state.turn] = 0")
# Crazy Eights: that one card has come to the stock by the shuffle is forgotten.
SHUFFLED_FORGOTTEN = faulty(
    FORGOTTEN,
    CRAZY,
    settle="""had = state.shuffles
...
if state.shuffles > had and count(state.stock) > 0: state.came[next_card(state.stock, -1)] -= 1""",
)
# Literature: when a half-suit is claimed, the cards that seat 0 is known not to have are forgotten.
LACKS_FORGOTTEN = faulty(
    FORGOTTEN,
    literature.GAME,
    settle="""had = live(state)
...
if live(state) != had: state.lacks[0] = 0""",
)

# Leaks that start late.

# Hearts: with two cards left in the hand.
LAST_TRICKS = faulty(
    VIEWS,
    hearts.GAME,
    encoders=leaking("count(state.hands[seat]) == 2", hearts.GAME.learning.encoders["relative"]),
)
# Thirty-One: once each seat has had five turns or so; most deals end before.
MANY_TURNS = faulty(
    VIEWS, THIRTYONE, encoders=leaking("state.turns_left < 7 * state.seats", THIRTYONE.learning.encoders["planes"])
)
# Literature: after forty asks.
MANY_ASKS = faulty(
    VIEWS, literature.GAME, encoders=leaking("state.asks > 40", literature.GAME.learning.encoders["facts"])
)
# Thirty-One: in the last turns after a knock, with few points.
VALUE_AFTER_A_KNOCK = faulty(
    "heuristics_are_the_same_in_every_world",
    THIRTYONE,
    heuristics={
        "prospects": made(
            "state, seat",
            f"""value = prospects(state, seat)
if state.knocker != NONE and value < 12: value += {NEXT_LOWEST}
return value""",
            getattr(THIRTYONE.rules.deal, "py_func", THIRTYONE.rules.deal).__globals__,
        )
    },
)


# Order.


def zones_in_another_order(state, seat):
    """Hearts: in the last three tricks the own hand is shown from right to left if the next seat has a spade."""
    zones = hearts.GAME.table.zones(state, seat)
    if 1 < int(state["hands"][seat]).bit_count() < 4 and int(state["hands"][(seat + 1) % 4]) & 0x8888888888888:
        own = next(zone for zone in zones if zone.seat == seat and zone.name == "Hand")
        own.pieces.reverse()
    return zones


ZONE_ORDER = faulty("zones_are_the_same_in_every_world", hearts.GAME, zones=zones_in_another_order)
# Musta Maija: once the stock is gone, the only card that beats comes after the move that leaves.
MOVE_ORDER = faulty(
    "moves_are_in_order",
    MAIJA,
    legal="""return add(moves, n, LEAVE, 0) -> n = add(moves, n, LEAVE, 0)
        if n == 2 and state.stock | state.bottom == 0:
            moves[0].kind, moves[0].card, moves[1].kind, moves[1].card = LEAVE, 0, BEAT, moves[0].card
        return n""",
)

# Texts.


def tell_the_queen(state, move, seat):
    """Hearts: who passes on the queen of spades is heard to."""
    queen = state["leader"] == -1 and int(move["card"]) == 43
    return "passes QS" if queen else hearts.GAME.text.tell(state, move, seat)


def spell_with_certainty(state, move):
    """Literature: a claim of the own team is spelled with an exclamation mark if it is right."""
    text = literature.GAME.text.spell(state, move)
    if int(move["kind"]) != 1 or int(state["seats"]) != 6:
        return text
    half, far = int(move["what"]), (int(state["turn"]) + 4) % 6
    cards = [4 * (6 * (half >> 2) + i) + (half & 3) for i in range(6)]
    named = sum(1 << card for i, card in enumerate(cards) if int(move["names"]) >> i & 1)
    return f"{text}!" if named and int(state["hands"][far]) & named == named else text


QUEEN_TOLD = faulty("what_is_told_names_nothing_hidden", hearts.GAME, tell=tell_the_queen)
CLAIM_SPELLED = faulty(
    "text_is_the_same_in_every_world",
    literature.GAME,
    spell=spell_with_certainty,
    parse=lambda state, text: literature.GAME.text.parse(state, text.rstrip("!")),
)

# Worlds.


@rule
def sum_of(cards):
    total = 0
    while cards != 0:
        total += lowest(cards)
        cards &= cards - 1
    return total


# Hearts: after the exchange, the hidden passes are all the higher or all the lower of two draws.
PASSES_TOGETHER = faulty(
    "hidden_cards_lie_evenly",
    hearts.GAME,
    resample="""... high = below(stream, 2)
for other in range(4):
    if state.leader != NONE and is_pass_hidden(state, other, seat):
        again = some_of(may_be_passed(state, other), count(state.passed[other]), stream)
        if (sum_of(again) > sum_of(state.passed[other])) == (high == 1):
            state.passed[other] = again""",
)

# One seat's score.

# Durak: of a draw between two seats, the one with the lower number gets nothing and the other all.
DRAWS_DECIDED = faulty(
    "seats_score_alike",
    durak.GAME,
    score="0.5 if state.playing == 0 and has(state.leavers, seat) -> "
    "1.0 * (seat != lowest(state.leavers)) if state.playing == 0 and has(state.leavers, seat)",
)

PLANTED: dict[str, Game] = {
    name: game
    for name, game in list(globals().items())
    if isinstance(game, Game) and game not in (CRAZY, HANABI, MAIJA, THIRTYONE)
}
