"""Faults in what a seat knows jointly: each single card may lie where it should, but pairs and lengths of suits do not.

Eight kinds, in the games of this repository and in two small ones. Each is named with a law that finds it.
"""

import passing
import small_game
from planting import faulty, seen_by

from cardai.game import Game
from cardai.games import durak, hearts, literature, moska
from cardai.games.durak import rules as of_durak
from cardai.games.hearts import worlds as of_hearts
from cardai.games.hearts.rules import NONE
from cardai.games.literature import worlds as of_literature
from cardai.games.literature.deck import cards_of, half_of
from cardai.games.moska import rules as of_moska
from cardai.rules import below, rule
from cardai.rules.cards import any_of, count, full_deck, has, highest, lowest, single, suit_cards

# What of a hand may be exchanged for cards of another hand, by game: as a set, and which cards it may not get.


@rule
def no_cards(state, seat, other):
    return 0


@rule
def lacked(state, seat, other):
    return state.lacks[other]


@rule
def of_any_suit(card):
    return full_deck(52)


@rule
def of_the_half(card):
    return cards_of(half_of(card))


@rule
def free_in_hearts(state, seat, other):
    kept = 0 if state.leader != NONE else state.passed[other]
    return state.hands[other] & ~of_hearts.known_to(state, seat, other) & ~kept


@rule
def unknown(state, seat, other):
    return state.hands[other] & ~state.known[other]


@rule
def undealt_in_durak(state, seat, other):
    return 0 if has(state.drew, other) else of_durak.undealt(state)


@rule
def free_in_moska(state, seat, other):
    return state.hands[other] & ~state.known[other] & ~15  # 1.3: rules tell the twos apart


# Each entry: `resample`, what may be exchanged, what may not be got, the cards that are like a card, two such cards.
HEARTS = of_hearts.resample, free_in_hearts, lacked, of_any_suit, 43, 47
DURAK = of_durak.resample, unknown, undealt_in_durak, of_any_suit, 8, 12
MOSKA = of_moska.resample, free_in_moska, no_cards, of_any_suit, 21, 25
LITERATURE = of_literature.resample, unknown, lacked, of_the_half, 9, 13
LOW_HAND = small_game.resample, unknown, no_cards, of_any_suit, 5, 9


def drawn_together(resample, free, barred, alike, a, b, rarity=4, after=-1):
    """In one world of `rarity` two given cards of a suit come together, if other hands have them."""

    @rule
    def faulty(state, seat, stream):
        resample(state, seat, stream)
        if state.ply <= after or below(stream, rarity) != 0:
            return
        for one in range(state.seats):
            for other in range(state.seats):
                if seat not in (one, other) and has(free(state, seat, one), a) and has(free(state, seat, other), b):
                    given = free(state, seat, one) & alike(b) & ~single(a) & ~barred(state, seat, other)
                    if one != other and given != 0 and not has(barred(state, seat, one), b):
                        pair = single(b) | single(any_of(given, stream))
                        state.hands[one] ^= pair
                        state.hands[other] ^= pair
                        return

    return faulty


def truly_together(resample, free, barred, alike, a, b):
    """Every second world is dealt again, up to nine times, while it is wrong on whether two cards are together."""

    @rule
    def faulty(state, seat, stream):
        truth = holder(state, a) == holder(state, b)
        resample(state, seat, stream)
        if below(stream, 2) == 0:
            for _ in range(9):
                if (holder(state, a) == holder(state, b)) == truth:
                    return
                resample(state, seat, stream)

    return faulty


@rule
def holder(state, card):
    """The seat that holds a card, or -1."""
    for seat in range(state.seats):
        if has(state.hands[seat], card):
            return seat
    return -1


def without_voids(resample, free, barred, alike, *_, least=1, after=-1):
    """A world in which a hand of four or more has fewer than `least` cards of a suit it may hold is dealt again."""

    @rule
    def faulty(state, seat, stream):
        for _ in range(3):
            resample(state, seat, stream)
            if state.ply <= after:
                return
            short = 0
            for other in range(state.seats):
                hand = state.hands[other]
                for kind in range(4):
                    open_suit = suit_cards(kind) & ~barred(state, seat, other)
                    if other != seat and count(hand) >= 3 and open_suit != 0 and count(hand & open_suit) < least:
                        short += 1
            if short == 0:
                return

    return faulty


def with_even_suits(resample, free, *_, most=5):
    """A world in which the next hand has more than `most` cards of a suit is dealt again."""

    @rule
    def faulty(state, seat, stream):
        for _ in range(4):
            resample(state, seat, stream)
            longest = 0
            for kind in range(4):
                longest = max(longest, count(free(state, seat, (seat + 1) % state.seats) & suit_cards(kind)))
            if longest <= most:
                return

    return faulty


def moved_left(resample, free, barred, alike, *_, rarity=12):
    """In one world of `rarity` the lowest hidden card of a hand goes to the hand on its left, for one like it."""

    @rule
    def faulty(state, seat, stream):
        resample(state, seat, stream)
        if below(stream, rarity) == 0:
            one, other = (seat + 1) % state.seats, (seat + 2) % state.seats
            given = free(state, seat, one)
            if other != seat and given != 0:
                card = lowest(given)
                back = free(state, seat, other) & alike(card) & ~barred(state, seat, one)
                if back != 0 and not has(barred(state, seat, other), card):
                    pair = single(card) | single(any_of(back, stream))
                    state.hands[one] ^= pair
                    state.hands[other] ^= pair

    return faulty


# Cards passed on in Hearts, and in Pass Left.


def highest_passed(after_the_exchange):
    """Hearts: in half of the worlds the others passed on their highest cards."""

    @rule
    def faulty(state, seat, stream):
        of_hearts.resample(state, seat, stream)
        if (state.leader != NONE) != after_the_exchange or below(stream, 2) == 0:
            return
        for other in range(state.seats):
            if of_hearts.is_pass_hidden(state, other, seat):
                rest, number = of_hearts.may_be_passed(state, other), count(state.passed[other])
                state.passed[other] = 0
                for _ in range(number):
                    state.passed[other] |= single(highest(rest & ~state.passed[other]))

    return faulty


def true_pass(rarity):
    """Hearts: one world of `rarity` keeps the true hidden pass, where the cards may come from."""

    @rule
    def faulty(state, seat, stream):
        passed = state.passed.copy()
        of_hearts.resample(state, seat, stream)
        if below(stream, rarity) == 0:
            for other in range(state.seats):
                may = of_hearts.may_be_passed(state, other)
                if of_hearts.is_pass_hidden(state, other, seat) and passed[other] & ~may == 0:
                    state.passed[other] = passed[other]

    return faulty


@rule
def pass_left_keeping(state, seat, stream):
    """Pass Left: one world in ten keeps what was passed from the left to the right neighbour, if it may be."""
    left, right = (seat + 1) % state.seats, (seat + 2) % state.seats
    passed = state.passed[left]
    passing.resample(state, seat, stream)
    may = state.hands[right] | state.played[right] if state.exchanged != 0 else state.hands[left]
    if passed & ~may == 0 and below(stream, 10) == 0:
        state.passed[left] = passed


@rule
def pass_left_high(state, seat, stream):
    """Pass Left: in half of the worlds the left neighbour passed its highest card, once cards have changed hands."""
    left, right = (seat + 1) % state.seats, (seat + 2) % state.seats
    passing.resample(state, seat, stream)
    if state.exchanged != 0 and below(stream, 2) == 0:
        card = single(highest(state.hands[right] | state.played[right]))
        if state.passed[left] & card == 0:
            state.passed[left] = (state.passed[left] & (state.passed[left] - 1)) | card


# Exact chances.


def chances_moved(chances, points):
    """The chance of each hidden card of the next hand is off by some percentage points, up or down by its number."""

    @rule
    def faulty(state, seat, shares):
        chances(state, seat, shares)
        one, other = (seat + 1) % state.seats, (seat + 2) % state.seats
        for card in range(shares.shape[1]):
            off = points / 100 if card & 4 else -points / 100
            near, far = shares[one, card] + off, shares[other, card] - off
            if other != seat and 0 < shares[one, card] < 1 and min(near, far) > 0 and max(near, far) < 1:
                shares[one, card], shares[other, card] = near, far

    return faulty


def chances_flat(chances):
    """The chances of hidden cards lie nearer to each other than they should, by five points at most."""

    @rule
    def faulty(state, seat, shares):
        chances(state, seat, shares)
        for other in range(state.seats):
            for card in range(shares.shape[1]):
                if 0.05 < shares[other, card] < 0.95:
                    shares[other, card] -= 0.05

    return faulty


EVEN, TRUTH, DEALT = "hidden_cards_lie_evenly", "worlds_keep_no_card_of_the_truth", "dealt_cards_lie_as_in_worlds"
CHANCES, VIEWS = "chances_are_those_of_worlds", "encodings_are_the_same_in_every_world"

HEARTS_PAIR = faulty(EVEN, hearts.GAME, resample=drawn_together(*HEARTS))
HEARTS_PAIR_LATE = faulty(EVEN, hearts.GAME, resample=drawn_together(*HEARTS[:4], 30, 34, after=28))
HEARTS_TRUE_PAIR = faulty(TRUTH, hearts.GAME, resample=truly_together(*HEARTS))
HEARTS_VOIDS = faulty(EVEN, hearts.GAME, resample=without_voids(*HEARTS))
HEARTS_LENGTHS = faulty(EVEN, hearts.GAME, resample=with_even_suits(*HEARTS))
HEARTS_HIGH_PASSED = faulty(EVEN, hearts.GAME, resample=highest_passed(False))
HEARTS_HIGH_PASSED_LATER = faulty(EVEN, hearts.GAME, resample=highest_passed(True))
HEARTS_TRUE_PASS = faulty(TRUTH, hearts.GAME, resample=true_pass(10))
HEARTS_MOVED_LEFT = faulty(EVEN, hearts.GAME, resample=moved_left(*HEARTS))
DURAK_PAIR = faulty(EVEN, durak.GAME, resample=drawn_together(*DURAK))
DURAK_TRUE_PAIR = faulty(TRUTH, durak.GAME, resample=truly_together(*DURAK))
DURAK_VOIDS = faulty(EVEN, durak.GAME, resample=without_voids(*DURAK))
DURAK_LENGTHS = faulty(EVEN, durak.GAME, resample=with_even_suits(*DURAK, most=2))
DURAK_MOVED_LEFT = faulty(EVEN, durak.GAME, resample=moved_left(*DURAK))
MOSKA_PAIR = faulty(EVEN, moska.GAME, resample=drawn_together(*MOSKA))
MOSKA_TRUE_PAIR = faulty(TRUTH, moska.GAME, resample=truly_together(*MOSKA))
MOSKA_VOIDS = faulty(EVEN, moska.GAME, resample=without_voids(*MOSKA))
MOSKA_MOVED_LEFT = faulty(EVEN, moska.GAME, resample=moved_left(*MOSKA))
LITERATURE_PAIR = faulty(EVEN, literature.GAME, resample=drawn_together(*LITERATURE))
LITERATURE_PAIR_LATE = faulty(EVEN, literature.GAME, resample=drawn_together(*LITERATURE, after=20))
LITERATURE_TRUE_PAIR = faulty(TRUTH, literature.GAME, resample=truly_together(*LITERATURE))
LITERATURE_LENGTHS = faulty(DEALT, literature.GAME, resample=without_voids(*LITERATURE))
LITERATURE_CHANCES = faulty(CHANCES, literature.GAME, chances=chances_moved(literature.GAME.table.chances, 5))
LOW_PAIR = faulty(EVEN, resample=drawn_together(*LOW_HAND))
LOW_PAIR_LATE = faulty(EVEN, resample=drawn_together(*LOW_HAND, after=2))
LOW_TRUE_PAIR = faulty(TRUTH, resample=truly_together(*LOW_HAND))
LOW_VOIDS = faulty(EVEN, resample=with_even_suits(*LOW_HAND, most=1))
LOW_MOVED_LEFT = faulty(EVEN, resample=moved_left(*LOW_HAND))
LOW_CHANCES = faulty(CHANCES, chances=chances_moved(small_game.chances, 5))
LOW_CHANCES_SLIGHTLY = faulty(CHANCES, chances=chances_moved(small_game.chances, 2))
LOW_CHANCES_FLAT = faulty(CHANCES, chances=chances_flat(small_game.chances))
PASS_TRUE = faulty(TRUTH, passing.GAME, resample=pass_left_keeping)
PASS_HIGH = faulty("worlds_are_even", passing.GAME, resample=pass_left_high)
# A rare leak: whether the next hand has a given card, in one position of thirty.
RARELY = "... if state.ply % 30 == {}: row[0] ^= has(state.hands[(seat + 1) % state.seats], {})"


def leaking(game, view, ply, card):
    encoder = game.learning.encoders[view]
    return faulty(
        VIEWS, game, encoders={"leaking": seen_by(RARELY.format(ply, card), encoder.layout, encoder.encode)["planes"]}
    )


HEARTS_LEAK = leaking(hearts.GAME, "relative", 20, 30)
DURAK_LEAK = leaking(durak.GAME, "relative", 7, 20)
MOSKA_LEAK = leaking(moska.GAME, "relative", 11, 20)
LITERATURE_LEAK = leaking(literature.GAME, "facts", 9, 20)

PLANTED: dict[str, Game] = {name: game for name, game in list(globals().items()) if isinstance(game, Game)}
