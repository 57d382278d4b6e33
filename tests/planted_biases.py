"""Small faults of chance: cards that lie where they should a little too often, and scores that favour a seat.

Each is named with the law that must find it at normal effort, from any seed.
"""

from pathlib import Path

import small_game
from planting import faulty, made

import cardai
from cardai.cards import any_of, highest, lowest, single, suit_cards
from cardai.game import Game
from cardai.games import durak, moska
from cardai.games.durak import rules as rules_of_durak
from cardai.games.moska import rules as rules_of_moska
from cardai.rule import below, rule

THIRTYONE = cardai.load(str(Path(__file__).parents[1] / "examples/thirtyone"))
resample_thirtyone = THIRTYONE.rules.resample


@rule
def exchange(state, other, card, drawn):
    """Exchange a card of a hand for one of the stock (Thirty-One, Durak)."""
    state.hands[other] ^= single(card) | single(drawn)
    state.stock ^= single(card) | single(drawn)


@rule
def hidden_of(state, other):
    return state.hands[other] & ~state.known[other]


def low_card_to_the_stock(rarity):
    """Thirty-One: in 1 of `rarity` worlds the lowest hidden card of the next hand goes to the stock."""

    @rule
    def resample(state, seat, stream):
        resample_thirtyone(state, seat, stream)
        other = (seat + 1) % state.seats
        if below(stream, rarity) == 0 and hidden_of(state, other) != 0 and state.stock != 0:
            exchange(state, other, lowest(hidden_of(state, other)), any_of(state.stock, stream))

    return resample


@rule
def high_card_kept_late(state, seat, stream):
    """Thirty-One: in 1 of 8 worlds, after two rounds, the highest card of the stock goes to the next hand."""
    resample_thirtyone(state, seat, stream)
    other = (seat + 1) % state.seats
    if state.ply > 2 * state.seats and below(stream, 8) == 0 and hidden_of(state, other) != 0 and state.stock != 0:
        exchange(state, other, any_of(hidden_of(state, other), stream), highest(state.stock))


@rule
def trump_from_the_stock(state, seat, stream):
    """Durak: in 1 of 8 worlds the next hand gets a trump of the stock for another hidden card."""
    rules_of_durak.resample(state, seat, stream)
    other = (seat + 1) % state.seats
    hidden = hidden_of(state, other) & ~suit_cards(state.trump)
    trumps = state.stock & suit_cards(state.trump)
    if state.drew >> other & 1 and below(stream, 8) == 0 and hidden != 0 and trumps != 0:
        exchange(state, other, any_of(hidden, stream), any_of(trumps, stream))


@rule
def trump_to_the_stock_at_the_deal(state, seat, stream):
    """Durak: until it has drawn, in 1 of 12 worlds the next hand has one trump less."""
    rules_of_durak.resample(state, seat, stream)
    other = (seat + 1) % state.seats
    hidden = hidden_of(state, other) & suit_cards(state.trump)
    others = state.stock & ~suit_cards(state.trump)
    if state.drew == 0 and below(stream, 12) == 0 and hidden != 0 and others != 0:
        exchange(state, other, any_of(hidden, stream), any_of(others, stream))


@rule
def moska_low_card(state, seat, stream):
    """Moska: in 1 of 12 worlds the lowest hidden card of the next hand and the top of the deck are exchanged."""
    rules_of_moska.resample(state, seat, stream)
    other, top = (seat + 1) % state.seats, state.deck_left - 1
    hidden = hidden_of(state, other) & ~15  # 1.3: rules tell the twos apart
    if top > 0 and below(stream, 12) == 0 and hidden != 0 and state.deck[top] > 3:
        card, drawn = lowest(hidden), state.deck[top]
        state.hands[other] ^= single(card) | single(drawn)
        state.deck[top] = card


@rule
def like_an_own_card(state, seat, stream):
    """Low Hand: in 1 of 8 worlds a card next above an own one leaves the next hand."""
    small_game.resample(state, seat, stream)
    other = (seat + 1) % state.seats
    near = hidden_of(state, other) & (state.hands[seat] << 4)
    if state.deck_left > 0 and near != 0 and below(stream, 8) == 0:
        card, at = any_of(near, stream), below(stream, state.deck_left)
        state.hands[other] ^= single(card) | single(state.deck[at])
        state.deck[at] = card


@rule
def one_true_card(state, seat, stream):
    """Thirty-One: in 1 of 20 worlds one card of the next hand is the true one."""
    other = (seat + 1) % state.seats
    true_hand = hidden_of(state, other)
    resample_thirtyone(state, seat, stream)
    found = true_hand & ~state.hands[other] & state.stock
    if below(stream, 20) == 0 and found != 0 and hidden_of(state, other) & ~true_hand != 0:
        exchange(state, other, any_of(hidden_of(state, other) & ~true_hand, stream), any_of(found, stream))


@rule
def one_true_card_of_moska(state, seat, stream):
    """Moska: in 1 of 20 worlds one card of the next hand is the true one, if it lies in the deck otherwise."""
    other = (seat + 1) % state.seats
    true_hand = hidden_of(state, other)
    rules_of_moska.resample(state, seat, stream)
    if below(stream, 20) == 0:
        for place in range(1, state.deck_left):
            wrong = hidden_of(state, other) & ~true_hand
            card = state.deck[place]
            if wrong != 0 and true_hand >> card & 1 and card > 3:
                state.deck[place] = highest(wrong)
                state.hands[other] ^= single(card) | single(highest(wrong))
                return


@rule
def lowest_true_card(state, seat, stream):
    """Low Hand: in 1 of 20 worlds the lowest card of the next hand stays."""
    other = (seat + 1) % state.seats
    true_card = lowest(hidden_of(state, other)) if hidden_of(state, other) != 0 else -1
    small_game.resample(state, seat, stream)
    hidden = hidden_of(state, other)
    if true_card >= 0 and below(stream, 20) == 0 and hidden != 0 and hidden >> true_card & 1 == 0:
        for place in range(state.deck_left):
            if state.deck[place] == true_card:
                state.deck[place] = highest(hidden)
                state.hands[other] ^= single(true_card) | single(highest(hidden))


LOW_CARD = faulty("dealt_cards_lie_as_in_worlds", THIRTYONE, resample=low_card_to_the_stock(8))
LOW_CARD_RARELY = faulty("hidden_cards_lie_evenly", THIRTYONE, resample=low_card_to_the_stock(20))
HIGH_CARD_LATE = faulty("hidden_cards_lie_evenly", THIRTYONE, resample=high_card_kept_late)
TRUMP = faulty("hidden_cards_lie_evenly", durak.GAME, resample=trump_from_the_stock)
TRUMP_DEALT = faulty("dealt_cards_lie_as_in_worlds", durak.GAME, resample=trump_to_the_stock_at_the_deal)
MOSKA_LOW_CARD = faulty("dealt_cards_lie_as_in_worlds", moska.GAME, resample=moska_low_card)
MOSKA_LOW_CARD_RARELY = faulty("hidden_cards_lie_evenly", moska.GAME, resample=moska_low_card)
NEAR_OWN = faulty("dealt_cards_lie_as_in_worlds", resample=like_an_own_card)
TRUE_CARD = faulty("worlds_keep_no_card_of_the_truth", THIRTYONE, resample=one_true_card)
TRUE_CARD_OF_MOSKA = faulty("worlds_keep_no_card_of_the_truth", moska.GAME, resample=one_true_card_of_moska)
LOWEST_TRUE_CARD = faulty("worlds_keep_no_card_of_the_truth", resample=lowest_true_card)
# Durak: seat 2's score counts a tenth less; Moska: that of the seat with the highest number.
SCORE_OF_SEAT_TWO = faulty(
    "seats_score_alike",
    durak.GAME,
    score=made("state, seat", "return score(state, seat) * (0.9 if seat == 2 else 1.0)", vars(rules_of_durak)),
    score_sum=lambda seats: None,
)
SCORE_OF_LAST_SEAT = faulty(
    "seats_score_alike",
    moska.GAME,
    score=made(
        "state, seat", "return score(state, seat) * (0.9 if seat == state.seats - 1 else 1.0)", vars(rules_of_moska)
    ),
    score_sum=lambda seats: None,
)

PLANTED: dict[str, Game] = {
    name: game for name, game in list(globals().items()) if isinstance(game, Game) and game is not THIRTYONE
}
