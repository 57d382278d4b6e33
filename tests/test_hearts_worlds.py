"""Worlds of Hearts (RULES.md, 6): they are exactly the deals that the play so far allows, and all are as likely.

The deals are listed without the game's own bookkeeping: a hand is possible if the seat could play all its cards as it
did, and if it holds the cards that the own seat passed to it.
"""

import math
from collections import Counter
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chisquare

import cardai
from cardai.games.hearts import rules, worlds
from cardai.laws import check
from cardai.rules import STREAM, rule
from cardai.rules.cards import DECK52

GAME = cardai.load("hearts")
HEARTS = sum(1 << card for card in range(2, 52, 4))
QUEEN = 1 << 43
FIVE_SIGMA = 5.7e-7
MOST_DEALS = 3000
VARIANTS = ("standard", "paper", "jack", "match")


def bits(cards):
    return int(cards).bit_count()


def suit_of(card):
    return sum(1 << each for each in range(card % 4, 52, 4))


# One round as everybody saw it.


def watched(seed, variant, options=None):
    """The states of the first round of a random game, and for each play the seat, the card and the suit led or None."""
    state, rng = GAME.new(4, seed, variant), np.random.default_rng(seed)
    for name, value in (options or {}).items():
        state[name] = value
    states, plays = [state], []
    while state.turn >= 0 and state.rounds == 0:
        move = rng.choice(GAME.moves(state))
        if state.leader >= 0:
            led = int(state.table[state.leader])
            plays.append((int(state.turn), int(move["card"]), None if led < 0 else led % 4))
        state = GAME.play(state, move)
        states.append(state)
    return states, plays


def could_play(held, card, led, first, broken, options):
    """Whether the rules let a seat play this card of its hand. `first`: in the first trick."""
    if led is not None:
        same = held & suit_of(led)
        if same:
            return bool(same >> card & 1)
        no_points = held & ~(HEARTS | QUEEN)
        return not (first and options["no_points_first"] and no_points) or bool(no_points >> card & 1)
    if first:
        return card == 0
    if broken or not options["must_break"] or not HEARTS >> card & 1:
        return True
    others = held & ~HEARTS
    return not others or bool(others == QUEEN and options["lead_for_queen"])


def is_possible(seat, hand, plays, options):
    """Whether a seat that now holds `hand` could play all its cards as it did."""
    held = hand | sum(1 << card for other, card, _ in plays if other == seat)
    broken = False
    for place, (other, card, led) in enumerate(plays):
        if other == seat:
            if not could_play(held, card, led, place < 4, broken, options):
                return False
            held &= ~(1 << card)
        broken |= bool(HEARTS >> card & 1) or (card == 43 and bool(options["queen_breaks"]))
    return True


def passed_to(state, seat, other):
    """The cards that `seat` passed to `other` and that are still in its hand."""
    is_receiver = (seat + int(state.direction)) % 4 == other
    return int(state.passed[seat]) & ~int(state.played[other]) if is_receiver else 0


def naive_count(state, seat):
    """How many deals there were if only the own passed cards were known."""
    sizes = [bits(state.hands[other]) - bits(passed_to(state, seat, other)) for other in range(4) if other != seat]
    return math.factorial(sum(sizes)) // math.prod(math.factorial(size) for size in sizes)


def listed(state, seat, plays):
    """All deals that agree with what `seat` knows: tuples of the hands of the next three seats."""
    others = [(seat + step) % 4 for step in (1, 2, 3)]
    known = [passed_to(state, seat, other) for other in others]
    sizes = [bits(state.hands[other]) for other in others]
    hidden = sum(int(state.hands[other]) for other in others) & ~sum(known)
    options = {name: int(state[name]) for name in ("must_break", "queen_breaks", "no_points_first", "lead_for_queen")}

    @cache
    def fits(place, hand):
        return is_possible(others[place], hand, plays, options)

    def hands(place, cards):
        for some in combinations(DECK52.listed(cards), sizes[place] - bits(known[place])):
            hand = sum(1 << card for card in some) | known[place]
            if fits(place, hand):
                yield hand

    return [
        (first, second, third)
        for first in hands(0, hidden)
        for second in hands(1, hidden & ~first)
        for third in [hidden & ~first & ~second | known[2]]
        if fits(2, third)
    ]


@rule
def draw_worlds(resample, states, seat, stream):
    for i in range(len(states)):
        resample(states[i], seat, stream)


def drawn(state, seat, n, seed=0):
    """`n` worlds of a seat, STATE[n]."""
    states, stream = np.repeat(np.array([state], GAME.state), n), np.zeros(1, STREAM)
    stream["rng"] = seed
    draw_worlds(worlds.resample, states, seat, stream[0])
    return states


def counted(states, seat):
    """How often each deal occurs among worlds: by the hands of the next three seats."""
    return Counter(map(tuple, states["hands"][:, [(seat + step) % 4 for step in (1, 2, 3)]].tolist()))


def late_positions(number):
    """Positions of tricks 9 to 13 with few deals, in which cards passed on are still out and some seat lacks cards."""
    found, seed = [], 0
    while len(found) < number:
        seed += 1
        states, plays = watched(seed, VARIANTS[seed % 4], {"lead_for_queen": seed % 3 == 0})
        fitting = [
            (states[-1 - len(plays) + place], seat, plays[:place])
            for place in range(32, 49)
            for seat in range(4)
            if is_telling(states[-1 - len(plays) + place], seat)
        ]
        found.extend(fitting[:: max(1, len(fitting) // 3)][:3])
    return found[:number]


def is_telling(state, seat):
    """Whether a position is to be tested: own passed cards are out, something is lacked, and the deals are few."""
    others = [other for other in range(4) if other != seat]
    hidden = sum(int(state.hands[other]) for other in others)
    known = any(passed_to(state, seat, other) for other in others)
    lacking = any(int(state.lacks[other]) & hidden for other in others)
    return known and lacking and 1 < naive_count(state, seat) <= MOST_DEALS


def check_late_worlds(number):
    """Assert that worlds in late positions are all possible deals and even. Returns in how many the play excludes some.

    Each deal is drawn 25 times on average.
    """
    smaller, worst = 0, 1.0
    for place, (state, seat, plays) in enumerate(late_positions(number)):
        possible = listed(state, seat, plays)
        smaller += len(possible) < naive_count(state, seat)
        counts = counted(drawn(state, seat, 25 * len(possible) + 200, place), seat)
        assert set(counts) == set(possible), "worlds are not the deals that the play allows"
        if len(possible) > 1:
            worst = min(worst, chisquare(list(counts.values())).pvalue)
    assert worst > FIVE_SIGMA, "some deals are drawn more often than others"
    return smaller


def test_6_worlds_are_all_possible_deals_and_even_in_200_late_positions():
    assert check_late_worlds(200) > 100, "few of the positions are ones in which the play excludes deals"


# Cards that others pass on.


def choosing(seed, plies):
    """A state in the passing phase, after so many cards were chosen."""
    state, rng = GAME.new(4, seed, "match"), np.random.default_rng(seed)
    for _ in range(plies):
        state = GAME.play(state, rng.choice(GAME.moves(state)))
    return state


@pytest.mark.parametrize("plies", [2, 4, 8])
def test_6_2_while_cards_are_passed_others_may_have_chosen_any_of_their_hand(plies):
    state, seat = choosing(5, plies), 3
    states = drawn(state, seat, 20_000, plies)
    for other in range(3):
        number = bits(state.passed[other])
        assert number == min(3, max(0, plies - 3 * other))
        chosen, hands = states["passed"][:, other], states["hands"][:, other]
        assert not (chosen & ~hands).any()
        assert set(np.bitwise_count(chosen).tolist()) == {number}
        if number:  # each card that the seat does not hold is as likely to be chosen
            counts = (chosen[:, None] >> np.arange(52) & 1).sum(0)
            hidden = [card for card in range(52) if not int(state.hands[seat]) >> card & 1]
            assert chisquare(counts[hidden]).pvalue > FIVE_SIGMA
            assert counts.sum() == counts[hidden].sum()
    for other in range(4):
        assert (drawn(state, other, 50)["passed"][:, other] == state.passed[other]).all()


def check_passed(direction):
    """Assert that after an exchange, what others passed on is any three of the cards that the receiver had."""
    state, rng = choosing(direction, 0), np.random.default_rng(direction)
    state.direction = direction
    for _ in range(12 + 30):
        state = GAME.play(state, rng.choice(GAME.moves(state)))
    for seat in range(4):
        states = drawn(state, seat, 30_000, seat)
        for other in range(4):
            receiver, passed = (other + direction) % 4, states["passed"][:, other]
            if seat in (other, receiver):
                assert (passed == state.passed[other]).all(), "a seat does not know what it passed on or got"
                continue
            had = states["hands"][:, receiver] | states["played"][:, receiver]
            assert not (passed & ~had).any(), "cards were passed on that the receiver never had"
            assert set(np.bitwise_count(passed).tolist()) == {3}
            counts = Counter(map(tuple, passed_places(had, passed).tolist()))
            assert len(counts) == 286
            assert chisquare(list(counts.values())).pvalue > FIVE_SIGMA


@pytest.mark.parametrize("direction", [1, 2, 3])
def test_6_2_after_the_exchange_others_may_have_passed_any_three_of_what_the_receiver_had(direction):
    check_passed(direction)


def passed_places(had, passed):
    """For each world, which of the receiver's 13 cards were passed on, counted from the lowest: i64[n, 3]."""
    held = had[:, None] >> np.arange(52) & 1
    order = np.cumsum(held, 1) - 1
    _, cards = np.nonzero(passed[:, None] >> np.arange(52) & 1)
    return np.take_along_axis(order, cards.reshape(-1, 3), 1)


# What players are given that see their own.


def test_blank_leaves_what_the_seat_knows_and_no_other_card():
    for seed in range(12):
        states, _ = watched(seed, VARIANTS[seed % 4])
        for state in states[:-1]:
            for seat in range(4):
                blanked = np.array([state], GAME.state)[0]
                worlds.blank(blanked, seat)
                for other in range(4):
                    assert bits(blanked.hands[other]) == bits(state.hands[other])
                    assert bits(blanked.passed[other]) == bits(state.passed[other])
                    if other != seat and state.leader >= 0:
                        sure = passed_to(state, seat, other) | int(state.known[other])
                        assert int(blanked.hands[other]) & sure == sure
                assert blanked.hands[seat] == state.hands[seat]
                assert blanked.passed[seat] == state.passed[seat]


# Faults planted in the game. A law of `cardai check` must find each.


@rule
def resample_leaving_passed_cards(state, seat, stream):
    """Leaves what others passed on as it is."""
    passed = state.passed.copy()
    worlds.resample(state, seat, stream)
    if state.leader != rules.NONE:
        state.passed[:] = passed


@rule
def resample_dealing_passed_cards(state, seat, stream):
    """Deals the cards that others passed on to those who have got them."""
    known = state.known.copy()
    if state.leader != rules.NONE:
        for other in range(4):
            receiver = (other + state.direction) % 4
            state.known[receiver] |= state.passed[other] & ~state.played[receiver]
    worlds.resample(state, seat, stream)
    state.known[:] = known


@rule
def resample_forgetting_own_passed_cards(state, seat, stream):
    """Deals the cards that the seat passed on to anybody."""
    passed = state.passed[seat]
    if state.leader != rules.NONE:
        state.passed[seat] = 0
    worlds.resample(state, seat, stream)
    state.passed[seat] = passed


@rule
def resample_ignoring_voids(state, seat, stream):
    """Forgets who could not follow suit."""
    lacks = state.lacks.copy()
    state.lacks[:] = 0
    worlds.resample(state, seat, stream)
    state.lacks[:] = lacks


BY_LAW = {
    "peeking at passed cards": ("worlds_keep_no_card_of_the_truth", resample_dealing_passed_cards),
    "ignoring voids": ("worlds_after_a_move_are_the_outcomes_of_worlds_before", resample_ignoring_voids),
    "ignoring voids, seen at once": ("nothing_seen_is_forgotten", resample_ignoring_voids),
    "forgetting own passed cards": ("what_every_outcome_shares_is_known", resample_forgetting_own_passed_cards),
    "others' passed cards left as they are": ("hidden_moves_stay_hidden", resample_leaving_passed_cards),
    "others' passed cards dealt to who got them": ("hidden_moves_stay_hidden", resample_dealing_passed_cards),
}


@pytest.mark.parametrize("fault", BY_LAW)
def test_a_planted_fault_is_found_by_its_law(fault):
    law, resample = BY_LAW[fault]
    (verdict,) = check(GAME.changed(resample=resample), laws=[law], effort="quick", seconds=math.inf)
    assert verdict.verdict == "broken"
    assert verdict.why.startswith(f"{law}: ")
