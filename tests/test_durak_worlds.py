"""Worlds of Durak (RULES.md, 5): they are exactly the positions that a deal and the play so far allow."""

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import cardai
from cardai.games.durak import rules
from cardai.laws import check
from cardai.rules import below, rule
from cardai.rules.cards import DECK36, has, lowest, single

GAME = cardai.load("durak")


def bits(cards):
    return int(cards).bit_count()


@dataclass
class Diary:
    """What everybody saw of one hand since the deal, in order: draws of hidden cards, and hidden cards played."""

    public: set[int]  # cards known to have been dealt
    events: list[int | None] = field(default_factory=list)  # None: a card drawn; otherwise the card shown

    def allows(self, hidden: set[int], undealt: set[int], suit_limit: int) -> bool:
        """Whether some deal and some order of draws lead to these hidden cards."""
        shown = [card for card in self.events if card is not None]
        draws = len(self.events) - len(shown)
        cards = [*shown, *hidden]
        for drawn in combinations(cards, draws):
            dealt = (set(cards) - set(drawn)) | self.public
            suits = Counter(card % 4 for card in dealt)
            if dealt & undealt or max(suits.values(), default=0) > suit_limit:
                continue
            if self._were_drawn_before_they_were_shown(set(drawn)):
                return True
        return False

    def _were_drawn_before_they_were_shown(self, drawn: set[int]) -> bool:
        held = 0
        for event in self.events:
            held += event is None
            held -= event in drawn
            if held < 0:
                return False
        return True


def listed(cards):
    return set(DECK36.listed(cards))


def watched(seats, seed, variant, plies):
    """A state after some random moves, and a diary of every hand."""
    state, rng = GAME.new(seats, seed, variant), np.random.default_rng(seed)
    diaries = [Diary(listed(state.known[seat])) for seat in range(seats)]
    for _ in range(plies):
        move = rng.choice(GAME.moves(state))
        seat, card = int(state.turn), int(move["card"])
        if card < 36 and not int(state.known[seat]) >> card & 1:
            diaries[seat].events.append(card)
        following = GAME.play(state, move)
        if following.turn < 0:
            break
        if following.attacks == 0 and following.stock != state.stock:
            _note_draws(state, following, diaries)
        state = following
    return state, diaries


def _note_draws(before, after, diaries):
    gone = listed(before.stock) - listed(after.stock)
    for seat, diary in enumerate(diaries):
        diary.events.extend([None] * len(gone & listed(after.hands[seat])))


def undealt(state):
    trumps = {card for card in range(36) if card % 4 == int(state.trump)}
    lowest_trump = int(state.lowest_trump)
    return {card for card in trumps if lowest_trump == rules.NONE or card < lowest_trump}


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    seats=st.integers(2, 5), seed=st.integers(0, 2**32), variant=st.sampled_from(sorted(GAME.variants)),
    plies=st.integers(0, 60),
)  # fmt: skip
def test_5_4_and_5_5_a_hand_is_possible_if_a_deal_and_draws_lead_to_it(seats, seed, variant, plies):
    state, diaries = watched(seats, seed, variant, plies)
    rng = np.random.default_rng(seed)
    limit, barred = int(state.suit_limit), undealt(state)
    for seat in range(seats):
        unknown = listed(rules.unknown_to(state, (seat + 1) % seats))
        hidden = bits(state.hands[seat]) - bits(state.known[seat])
        for _ in range(4 if hidden else 0):
            guess = {int(card) for card in rng.choice(sorted(unknown), hidden, replace=False)}
            accepted = rules.can_have_been_dealt(state, seat, sum(1 << card for card in guess))
            if not has(int(state.drew), seat):
                accepted = accepted and not guess & barred
            possible = diaries[seat].allows(guess, barred, limit)
            assert accepted or not possible, "a possible hand is excluded"
            if variant == "podkidnoy" or not has(int(state.drew), seat):
                assert accepted == possible


@pytest.mark.parametrize("variant", GAME.variants)
def test_the_truth_and_its_worlds_are_possible(variant):
    states = [watched(2 + seed % 5, seed, variant, seed % 90)[0] for seed in range(120)]
    for seed, state in enumerate(states):
        for seat in range(int(state.seats)):
            assert rules.is_possible(state, seat)
            world = GAME.world(state, seat, seed)
            assert rules.is_possible(world, seat)
            for other in range(int(state.seats)):
                barred = rules.undealt(state) if not int(state.drew) >> other & 1 else 0
                hidden = int(world.hands[other]) & ~int(world.known[other])
                assert other == seat or hidden & barred == 0


def late_position():
    """Seat 1 holds four hidden cards, at least three of them dealt; 6S and 7S were in nobody's hand."""
    state = GAME.options(2)[0]
    state.hands[0] = DECK36.cards("6C 7C 8C 9C TC JC")
    state.hands[1] = DECK36.cards("6D 7D 8D 6S")
    state.stock, state.bottom = DECK36.cards("7S 9D"), DECK36.cards("AS")
    state.trump, state.trump_card, state.lowest_trump = 3, DECK36.card("AS"), DECK36.card("8S")
    state.dealt[1], state.since[1] = DECK36.cards("6H 7H"), DECK36.cards("8H")
    state.known[0] = DECK36.cards("6C")
    state.drew, state.playing, state.defender, state.limit = 3, 3, 1, 4
    everywhere = sum(int(state[name]) for name in ("stock", "bottom")) + int(state.hands.sum())
    state.discards = (1 << 36) - 1 & ~everywhere
    return state


def test_5_4_worlds_are_all_the_possible_ones_and_even():
    state = late_position()
    unknown = DECK36.cards("6D 7D 8D 9D 6S 7S")
    low = DECK36.cards("6S 7S")
    hands = [sum(1 << card for card in some) for some in combinations(DECK36.listed(unknown), 4)]
    possible = {hand for hand in hands if bits(hand & low) <= 1}
    assert 0 < len(possible) < len(hands)
    counts = Counter(int(GAME.world(state, 0, seed).hands[1]) for seed in range(3000))
    assert set(counts) == possible
    assert chisquare(list(counts.values())).pvalue > 1e-4


# Faults planted in the game, each with the law of `cardai check` that must find it.


@rule
def resample_forgetting_the_deal(state, seat, stream):
    """Ignores 5.4: hands may hold trumps lower than the one shown."""
    shown = state.lowest_trump
    state.lowest_trump = state.trump
    rules.resample(state, seat, stream)
    state.lowest_trump = shown


@rule
def resample_forgetting_what_was_taken(state, seat, stream):
    known = state.known.copy()
    for other in range(state.seats):
        state.known[other] &= single(state.lowest_trump) if state.lowest_trump != rules.NONE else 0
    rules.resample(state, seat, stream)
    for other in range(state.seats):
        state.known[other] = known[other]


@rule
def resample_unevenly(state, seat, stream):
    """Of two other hands, the earlier one gets the lower hidden card more often."""
    rules.resample(state, seat, stream)
    for step in range(1, state.seats - 1):
        one, other = (seat + step) % state.seats, (seat + step + 1) % state.seats
        hidden, more = state.hands[one] & ~state.known[one], state.hands[other] & ~state.known[other]
        if hidden != 0 and more != 0 and lowest(hidden) > lowest(more) and below(stream, 2) == 0:
            pair = single(lowest(hidden)) | single(lowest(more))
            state.hands[one] ^= pair
            state.hands[other] ^= pair


FAULTY = {
    "the_dealt_truth_is_a_world_like_any_other": resample_forgetting_the_deal,
    "nothing_seen_is_forgotten": resample_forgetting_what_was_taken,
    "worlds_are_even": resample_unevenly,
}


@pytest.mark.parametrize("law", FAULTY)
def test_a_planted_bug_is_killed_by_its_law(law):
    (verdict,) = check(GAME.changed(resample=FAULTY[law]), laws=[law], effort="quick", seconds=math.inf)
    assert verdict.verdict == "broken"
    assert verdict.why.startswith(f"{law}: ")
