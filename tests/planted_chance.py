"""Faults of chance and of rare endings: deals, draws and seeds that are uneven, and scores of one seat.

Each is named with the law that must find it at normal effort, from any seed.
"""

import numpy as np
import small_game
from planting import faulty

from cardai.cards import any_of, count, has, highest, single
from cardai.game import Game
from cardai.games import durak, hearts, moska
from cardai.games.durak import rules as of_durak
from cardai.games.hearts import rules as of_hearts
from cardai.games.hearts import worlds as worlds_of_hearts
from cardai.games.moska import rules as of_moska
from cardai.rule import below, rule

DEALT, EVEN, SEEDS = "the_dealt_truth_is_a_world_like_any_other", "hidden_cards_lie_evenly", "seeds_deal_differently"
DRAWN, SEATS, SHARES = "what_is_drawn_lies_evenly", "seats_score_alike", "scores_are_shares"
CHANCES = "chances_are_those_of_worlds"
ACES = 0xF << 32  # of 36 cards


# Chance of one seat.


@rule
def queen_to_seat_three(state, stream):
    """Hearts: exchange the queen of spades for a card of seat 3, but not for the two of clubs."""
    for seat in range(3):
        if has(state.hands[seat], of_hearts.QUEEN_OF_SPADES) and state.known[3] == 0:
            pair = of_hearts.QUEEN | single(any_of(state.hands[3], stream))
            if state.passed[seat] & pair == 0 and state.lacks[seat] & pair == 0 and state.known[seat] & pair == 0:
                state.hands[seat] ^= pair
                state.hands[3] ^= pair


@rule
def hearts_dealt(state):
    of_hearts.deal(state)
    if below(state, 10) == 0:
        queen_to_seat_three(state, state)


@rule
def high_card_dealt_to_seat_one(state):
    """Low Hand: in one of ten deals the highest card is dealt to seat 1."""
    small_game.deal(state)
    if below(state, 10) == 0:
        for place in range(state.deck_left):
            if state.deck[place] == small_game.CARDS - 1:
                card = any_of(state.hands[1], state)
                state.deck[place] = card
                state.hands[1] ^= single(card) | single(small_game.CARDS - 1)


@rule
def free_in_hearts(state, seat, other):
    return state.hands[other] & ~worlds_of_hearts.known_to(state, seat, other) & ~state.passed[other]


@rule
def high_cards_for_seat_three(state, seat, stream):
    """Hearts: in one of six worlds seat 3 gets the highest hidden card of another hand, whoever looks."""
    worlds_of_hearts.resample(state, seat, stream)
    other = below(stream, 3)
    if 3 != seat != other and state.leader != of_hearts.NONE and below(stream, 6) == 0:
        own, others = free_in_hearts(state, seat, 3) & ~state.lacks[other], free_in_hearts(state, seat, other)
        if own != 0 and others & ~state.lacks[3] != 0:
            pair = single(any_of(own, stream)) | single(highest(others & ~state.lacks[3]))
            state.hands[other] ^= pair
            state.hands[3] ^= pair


@rule
def chances_of_seat_one(state, seat, shares):
    """Low Hand: seat 1 seems to have the highest hidden card too often, and another seat too seldom.

    With the lowest one it is the reverse. Which other seat, makes up for seat 1 in sums over places from each seat on.
    """
    small_game.chances(state, seat, shares)
    other = 2 if seat != 2 and state.seats > 2 else 3 if state.seats > 3 else 0
    low, high = small_game.CARDS, -1
    for card in range(small_game.CARDS):
        least, most = min(shares[1, card], shares[other, card]), max(shares[1, card], shares[other, card])
        if least > 0.04 and most < 0.96:
            low, high = min(low, card), card
    if seat != 1 and state.seats > 2 and low < high:
        shares[1, high] += 0.04
        shares[other, high] -= 0.04
        shares[1, low] -= 0.04
        shares[other, low] += 0.04


# Uneven draws.


@rule
def aces_drawn(state):
    """Durak: once the stock is small, the first to draw has an ace for another drawn card in one case of two."""
    first, held = state.attacker, state.hands[state.attacker]
    of_durak.settle(state)
    drawn = state.hands[first] & ~held & ~state.known[first] & ~ACES
    aces = state.stock & ACES
    if drawn != 0 and aces != 0 and count(state.stock) <= 12 and below(state, 2) == 0:
        pair = single(any_of(drawn, state)) | single(any_of(aces, state))
        state.hands[first] ^= pair
        state.stock ^= pair


def highest_on_top(settle, above):
    """Low Hand, Moska: while the deck is small, the highest card of three in it comes to its top in one case of four.

    Not looked at are the lowest places, `above` of them: Moska's trump lies there.
    """

    @rule
    def faulty_settle(state):
        top = state.deck_left - 1
        if above + 2 <= top < 12 and below(state, 4) == 0:
            for place in range(top - 2, top):
                if state.deck[place] > state.deck[top]:
                    card = state.deck[top]
                    state.deck[top] = state.deck[place]
                    state.deck[place] = card
        settle(state)

    return faulty_settle


# Few seeds.


@rule
def few_seeds(state):
    """Hearts: of a seed twelve bits are left."""
    state.rng = np.uint64(below(state, 4096))
    of_hearts.deal(state)


def few_deals(deal):
    """Deals come from 4096 seeds, but what is drawn later does not."""

    @rule
    def faulty_deal(state):
        few = below(state, 4096)
        later = state.rng
        state.rng = np.uint64(few)
        deal(state)
        state.rng = later

    return faulty_deal


@rule
def few_draws(state):
    """Durak: of the random stream twelve bits are left before each draw."""
    if state.unbeaten == 0 or state.taking != 0:
        state.rng = np.uint64(below(state, 4096))
    of_durak.settle(state)


# Rare endings.


@rule
def moon_of_seat_three(state, seat):
    """Hearts: all points of seat 3 are no moon."""
    if state.limit == 0 and state.moon != 0 and of_hearts.shooter(state) == 3:
        return of_hearts.points_score(state, of_hearts.penalty(state.taken[seat]))
    return of_hearts.score(state, seat)


@rule
def lowest_hand_of_all(state, seat):
    """Low Hand: a seat with three cards of the lowest rank has half a win, if nobody else has one of them."""
    share = small_game.score(state, seat)
    return 0.5 * share if count(state.hands[seat]) == 4 - count(state.discards & 15) == 3 else share


HEARTS_QUEEN_DEALT = faulty(DEALT, hearts.GAME, deal=hearts_dealt)
LOW_HIGH_DEALT = faulty(DEALT, deal=high_card_dealt_to_seat_one)
HEARTS_HIGH_OF_WORLDS = faulty(EVEN, hearts.GAME, resample=high_cards_for_seat_three)
LOW_CHANCES_OF_SEAT_ONE = faulty(CHANCES, chances=chances_of_seat_one)
DURAK_ACES_DRAWN = faulty(DRAWN, durak.GAME, settle=aces_drawn)
LOW_HIGH_DRAWN = faulty(DRAWN, settle=highest_on_top(small_game.settle, 0))
MOSKA_HIGH_DRAWN = faulty(DRAWN, moska.GAME, settle=highest_on_top(of_moska.settle, 1))
HEARTS_FEW_SEEDS = faulty(SEEDS, hearts.GAME, deal=few_seeds)
HEARTS_FEW_DEALS = faulty(SEEDS, hearts.GAME, deal=few_deals(of_hearts.deal))
LOW_FEW_DEALS = faulty(SEEDS, deal=few_deals(small_game.deal))
DURAK_FEW_DRAWS = faulty(SEEDS, durak.GAME, settle=few_draws)
HEARTS_MOON_OF_SEAT_THREE = faulty(SEATS, hearts.GAME, score=moon_of_seat_three)
LOW_LOWEST_HAND = faulty(SHARES, score=lowest_hand_of_all)

PLANTED: dict[str, Game] = {name: game for name, game in list(globals().items()) if isinstance(game, Game)}
"""Faults of chance and of rare endings."""
