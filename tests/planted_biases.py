"""Small faults of chance: cards that lie where they should a little too often, and scores that favour a seat.

Each is named with the law that must find it at normal effort, from any seed.
"""

from pathlib import Path

from planting import faulty

import cardai
from cardai.game import Game
from cardai.games import durak, moska
from cardai.rules import rule
from cardai.rules.cards import single

THIRTYONE = cardai.load(str(Path(__file__).parents[1] / "examples/thirtyone"))
DEALT, EVEN, TRUTH = "dealt_cards_lie_as_in_worlds", "hidden_cards_lie_evenly", "worlds_keep_no_card_of_the_truth"


@rule
def exchange(state, other, card, drawn):
    """Exchange a card of a hand for one of the stock (Thirty-One, Durak)."""
    state.hands[other] ^= single(card) | single(drawn)
    state.stock ^= single(card) | single(drawn)


@rule
def from_deck(state, other, place, card):
    """Exchange a card of a hand for the one at a place of the deck (Low Hand, Moska)."""
    state.hands[other] ^= single(card) | single(state.deck[place])
    state.deck[place] = card


@rule
def hidden_of(state, other):
    return state.hands[other] & ~state.known[other]


def lowest_to_the_stock(rarity):
    """Thirty-One: in 1 of `rarity` worlds the lowest hidden card of the next hand goes to the stock."""
    return f"""... other = (seat + 1) % state.seats
if below(stream, {rarity}) == 0 and hidden_of(state, other) != 0 and state.stock != 0:
    exchange(state, other, lowest(hidden_of(state, other)), any_of(state.stock, stream))"""


# Moska: in 1 of 12 worlds the lowest hidden card of the next hand and the top of the deck are exchanged. Rule 1.3 tells
# the twos apart.
LOWEST_TO_THE_DECK = """... other, top = (seat + 1) % state.seats, state.deck_left - 1
hidden = hidden_of(state, other) & ~15
if top > 0 and below(stream, 12) == 0 and hidden != 0 and state.deck[top] > 3:
    from_deck(state, other, top, lowest(hidden))"""

LOW_CARD = faulty(DEALT, THIRTYONE, resample=lowest_to_the_stock(8))
LOW_CARD_RARELY = faulty(EVEN, THIRTYONE, resample=lowest_to_the_stock(20))
# In 1 of 8 worlds, after two rounds, the highest card of the stock goes to the next hand.
HIGH_CARD_LATE = faulty(
    EVEN,
    THIRTYONE,
    resample="""... other = (seat + 1) % state.seats
if state.ply > 2 * state.seats and below(stream, 8) == 0 and hidden_of(state, other) != 0 and state.stock != 0:
    exchange(state, other, any_of(hidden_of(state, other), stream), highest(state.stock))""",
)
# In 1 of 8 worlds the next hand gets a trump of the stock for another hidden card.
TRUMP = faulty(
    EVEN,
    durak.GAME,
    resample="""... other, trump = (seat + 1) % state.seats, suit_cards(state.trump)
hidden, trumps = hidden_of(state, other) & ~trump, state.stock & trump
if state.drew >> other & 1 and below(stream, 8) == 0 and hidden != 0 and trumps != 0:
    exchange(state, other, any_of(hidden, stream), any_of(trumps, stream))""",
)
# Until it has drawn, in 1 of 12 worlds the next hand has one trump less.
TRUMP_DEALT = faulty(
    DEALT,
    durak.GAME,
    resample="""... other, trump = (seat + 1) % state.seats, suit_cards(state.trump)
hidden, others = hidden_of(state, other) & trump, state.stock & ~trump
if state.drew == 0 and below(stream, 12) == 0 and hidden != 0 and others != 0:
    exchange(state, other, any_of(hidden, stream), any_of(others, stream))""",
)
MOSKA_LOW_CARD = faulty(DEALT, moska.GAME, resample=LOWEST_TO_THE_DECK)
MOSKA_LOW_CARD_RARELY = faulty(EVEN, moska.GAME, resample=LOWEST_TO_THE_DECK)
# Low Hand: in 1 of 8 worlds a card next above an own one leaves the next hand.
NEAR_OWN = faulty(
    DEALT,
    resample="""... other = (seat + 1) % state.seats
near = hidden_of(state, other) & (state.hands[seat] << 4)
if state.deck_left > 0 and near != 0 and below(stream, 8) == 0:
    from_deck(state, other, below(stream, state.deck_left), any_of(near, stream))""",
)
# In 1 of 20 worlds one card of the next hand is the true one.
TRUE_CARD = faulty(
    TRUTH,
    THIRTYONE,
    resample="""other = (seat + 1) % state.seats
true_hand = hidden_of(state, other)
...
found = true_hand & ~state.hands[other] & state.stock
if below(stream, 20) == 0 and found != 0 and hidden_of(state, other) & ~true_hand != 0:
    exchange(state, other, any_of(hidden_of(state, other) & ~true_hand, stream), any_of(found, stream))""",
)
# The same, if it lies in the deck otherwise.
TRUE_CARD_OF_MOSKA = faulty(
    TRUTH,
    moska.GAME,
    resample="""other = (seat + 1) % state.seats
true_hand = hidden_of(state, other)
...
if below(stream, 20) == 0:
    for place in range(1, state.deck_left):
        wrong = hidden_of(state, other) & ~true_hand
        if wrong != 0 and true_hand >> state.deck[place] & 1 and state.deck[place] > 3:
            from_deck(state, other, place, highest(wrong))
            return""",
)
# Low Hand: in 1 of 20 worlds the lowest card of the next hand stays.
LOWEST_TRUE_CARD = faulty(
    TRUTH,
    resample="""other = (seat + 1) % state.seats
true_card = lowest(hidden_of(state, other)) if hidden_of(state, other) != 0 else NONE
...
hidden = hidden_of(state, other)
if true_card != NONE and below(stream, 20) == 0 and hidden != 0 and hidden >> true_card & 1 == 0:
    for place in range(state.deck_left):
        if state.deck[place] == true_card:
            from_deck(state, other, place, highest(hidden))""",
)


def nine_tenths(game, seat):
    """The score of one seat counts a tenth less."""
    score = f"return original(state, seat) * (0.9 if seat == {seat} else 1.0)\n..."
    return faulty("seats_score_alike", game, score=score, score_sum=lambda seats: None)


SCORE_OF_SEAT_TWO = nine_tenths(durak.GAME, 2)
SCORE_OF_LAST_SEAT = nine_tenths(moska.GAME, "state.seats - 1")

PLANTED: dict[str, Game] = {
    name: game for name, game in list(globals().items()) if isinstance(game, Game) and game is not THIRTYONE
}
