"""The parts that games share, against checkers that were written from rules in words.

Tricks: who takes one by sorting, what may be played by listing what the rules of Klaverjassen say, what a card tells by
asking for each other card whether its holder could have played so. Bets: a model that only keeps the words said.
"""

import random
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardai.errors import CardaiError
from cardai.game import move_dtype
from cardai.game.declared import NONE, Card, Each, Flag, Hand, Held, Known, Lacks, Number, Seat, Seats, State, Word
from cardai.rules.cards import Deck
from cardai.rules.parts import betting, tricks
from cardai.rules.parts.standing import best_seats, each_has, share_of_win

SEATS, CARDS = 4, 32
DECK = Deck(ranks="789TJQKA")
TRICKS = State(
    DECK, SEATS,
    hands=Hand(known="known", lacks="lacks"), known=Known("hands"), lacks=Lacks("hands"), table=Each(Card()),
    leader=Seat(),
)  # fmt: skip
PLAIN, TRUMPS = "789JQKTA", "78QKTA9J"  # the ranks of Klaverjassen, the lowest first
ORDER = np.array([[ranks.index(rank) for rank in DECK.ranks] for ranks in (PLAIN, TRUMPS)])
WHOLE = (1 << CARDS) - 1


def strength(card, led, trump, order):
    """How a card ranks in a trick: a trump, else a card of the suit led, else none; then by its rank."""
    suit = card % 4
    return (2 if suit == trump else 1 if suit == led else 0, order[int(suit == trump)][card // 4])


def allowed(hand, laid, trump, order):
    """What a hand may play after the cards laid to a trick, with forced trumps, as the rules say it."""
    if not laid:
        return set(hand)
    led = laid[0] % 4
    lying = [order[1][card // 4] for card in laid if card % 4 == trump]
    higher = {card for card in hand if card % 4 == trump and order[1][card // 4] > max(lying, default=-1)}
    of_suit = {card for card in hand if card % 4 == led}
    trumps = {card for card in hand if card % 4 == trump}
    if led == trump:
        return higher or of_suit or set(hand)
    return of_suit or higher or trumps or set(hand)


def as_set(cards):
    return sum(1 << card for card in cards)


def trick(chance, laid=None, size=5):
    """A state in which some cards have been laid, the cards laid, in order, and the hand of the seat to move."""
    state = np.zeros(1, TRICKS.dtype)[0]
    state["seats"], state["leader"] = SEATS, chance.randrange(SEATS)
    laid = chance.randrange(SEATS) if laid is None else laid
    cards = chance.sample(range(CARDS), laid + size)
    state["table"][:] = NONE
    for step in range(laid):
        state["table"][(state["leader"] + step) % SEATS] = cards[step]
    state["turn"] = (state["leader"] + laid) % SEATS
    state["hands"][state["turn"] % SEATS] = as_set(cards[laid:])
    return state, cards[:laid], cards[laid:]


def test_suit_is_followed_by_who_can():
    for hand in (DECK.cards(cards) for cards in ("7C AC 8D", "8D", "7S 9S", "7C")):
        for led in range(CARDS):
            same = as_set(card for card in DECK.listed(hand) if card % 4 == led % 4)
            assert tricks.may_follow(hand, led) == (same or hand)
        assert tricks.may_follow(hand, NONE) == hand


@pytest.mark.parametrize("trump", [NONE, 0, 3])
@pytest.mark.parametrize("order", [ORDER, tricks.BY_RANK], ids=["klaverjassen", "by rank"])
def test_the_best_card_takes_the_trick(trump, order):
    chance, takers = random.Random(1), set()
    for number in range(3000):
        state, laid, _ = trick(chance, 1 + number % SEATS, 0)
        best = max(range(len(laid)), key=lambda place: strength(laid[place], laid[0] % 4, trump, order))
        assert tricks.taker(state, trump, order) == (state["leader"] + best) % SEATS
        takers.add(best)
    assert takers == {0, 1, 2, 3}


@pytest.mark.parametrize("trump", [NONE, *range(4)])
def test_forced_trumps_are_played_as_klaverjassen_says(trump):
    chance, sizes = random.Random(2), set()
    for _ in range(4000):
        state, laid, hand = trick(chance, size=chance.randrange(1, 9))
        free = tricks.may_follow(as_set(hand), laid[0] if laid else NONE)
        assert tricks.may_play(state, trump, ORDER, 0) == free
        wanted = as_set(allowed(hand, laid, trump, ORDER))
        assert tricks.may_play(state, trump, ORDER, 1) == wanted
        sizes.add(free == wanted)
    assert sizes == ({True} if trump == NONE else {True, False})


@pytest.mark.parametrize("forced", [False, True])
@pytest.mark.parametrize("trump", [NONE, 1])
def test_a_card_tells_all_cards_that_would_have_forbidden_it(forced, trump):
    chance, told = random.Random(3), set()
    for _ in range(1500):
        state, laid, (card,) = trick(chance, size=1)
        seat = int(state["turn"])
        state["known"][seat] = 1 << card
        if forced:
            tricks.note_forced(state, card, trump, ORDER, WHOLE)
        tricks.play_card(state, card, WHOLE)
        of_rules = trump if forced else NONE
        cannot = {other for other in range(CARDS) if card not in allowed([card, other], laid, of_rules, ORDER)}
        assert int(state["lacks"][seat]) == as_set(cannot)
        assert (state["hands"][seat], state["known"][seat], state["table"][seat]) == (0, 0, card)
        assert not np.delete(state["lacks"], seat).any()
        told.add(len(cannot))
    assert 0 in told
    assert len(told) > (3 if forced and trump != NONE else 1)


def test_a_trick_goes_round_and_is_gathered():
    chance = random.Random(4)
    for _ in range(50):
        state, _, cards = trick(chance, 0, SEATS)
        leader = int(state["leader"])
        assert tricks.card_led(state) == NONE
        for step, card in enumerate(cards):
            assert (state["turn"] - leader) % SEATS == step
            tricks.play_card(state, card, WHOLE)
            assert tricks.pass_turn(state) == (step == SEATS - 1)
            assert tricks.on_table(state) == as_set(cards[: step + 1])
        assert tricks.card_led(state) == cards[0]
        assert tricks.gather(state, 2) == as_set(cards)
        assert (state["leader"], state["turn"], state["table"].tolist()) == (2, 2, [NONE] * SEATS)


BETS = State(
    Deck("JQK", "S"), 2,
    hands=Held(opens="shown"), chips=Each(Number()), folded=Seat(), count=(), shown=Flag(),
    said=Word("", "folds", "calls", "raises", shape=(2, 12)),
)  # fmt: skip


class Said:
    """Betting by the words said: what has been paid follows from them."""

    def __init__(self, blinds, first):
        self.blinds, self.first, self.words = blinds, first, [[]]

    @property
    def is_over(self):
        """A fold ends a round, and so does a call that is not its first word."""
        words = [word for word, _ in self.words[-1]]
        return words[-1:] == ["fold"] or (len(words) > 1 and words[-1] == "call")

    @property
    def seat(self):
        return (self.first + len(self.words[-1])) % 2

    @property
    def paid(self):
        paid = [*self.blinds]
        for words in self.words:
            for place, (word, more) in enumerate(words):
                seat = (self.first + place) % 2
                paid[seat] = paid[seat] if word == "fold" else paid[1 - seat] + more * (word == "raise")
        return paid


@settings(deadline=None, derandomize=True)
@given(st.sampled_from([(1, 1), (10, 5), (5, 10)]), st.lists(st.integers(0, 40), min_size=1, max_size=16), st.data())
def test_betting_is_what_the_words_say(blinds, choices, data):
    state, moves = np.zeros(1, BETS.dtype)[0], np.zeros(3, move_dtype("kind"))
    model = Said(blinds, data.draw(st.integers(0, 1)) if blinds == (1, 1) else int(blinds[0] > blinds[1]))
    state["chips"], state["folded"], state["seats"], state["turn"] = blinds, NONE, 2, model.first
    for choice in choices:
        seat, may_raise = model.seat, len(model.words[-1]) < 8
        owed = model.paid[1 - seat] - model.paid[seat]
        wanted = ["fold"] * (owed > 0) + ["call"] + ["raise"] * may_raise
        n = betting.add_bets(state, moves, may_raise)
        assert [("fold", "call", "raise")[kind] for kind in moves["kind"][:n]] == wanted
        assert (betting.to_call(state), betting.pot(state)) == (owed, sum(model.paid))
        word, more = wanted[choice % len(wanted)], 1 + choice
        betting.bet(state, ("fold", "call", "raise").index(word), len(model.words) - 1, more)
        model.words[-1].append((word, more))
        assert state["chips"].tolist() == model.paid
        assert betting.round_over(state) == model.is_over
        assert betting.still_in(state) == (3 if word != "fold" else 1 << 1 - seat)
        if not model.is_over:
            state["turn"] = 1 - state["turn"]
        elif word == "fold" or len(model.words) == 2:
            break
        else:
            model.words.append([])
            state["count"], state["turn"] = 0, model.first
    for round, words in enumerate(model.words):
        kinds = [1 + ("fold", "call", "raise").index(word) for word, _ in words]
        assert state["said"][round].tolist()[: len(kinds) + 1] == [*kinds, 0]
    for winners in (1, 2, 3):
        gains = [betting.won(state, seat, winners) for seat in range(2)]
        assert sum(gains) == 0 if winners < 3 else gains[0] == -gains[1]
        assert gains[0] == {1: model.paid[1], 2: -model.paid[0], 3: (model.paid[1] - model.paid[0]) / 2}[winners]


@pytest.mark.parametrize("is_shown", [True, False])
def test_hands_are_shown_at_the_end_of_betting(is_shown):
    state = np.zeros(1, BETS.dtype)[0]
    betting.end_hand(state, is_shown)
    assert (state["turn"], state["shown"], state["revealed"]) == (-1, is_shown, 3 * is_shown)


def test_the_best_seats_have_the_highest_value():
    for values in product((-1, 0, 2), repeat=3):
        for n in range(1, 4):
            for seats in combinations(range(3), n):
                best = [seat for seat in seats if values[seat] == max(values[other] for other in seats)]
                assert best_seats(np.array(values), as_set(seats)) == best_seats(values, as_set(seats)) == as_set(best)
                shares = [share_of_win(np.array(values), as_set(seats), seat) for seat in range(3)]
                assert shares == [(seat in best) / len(best) for seat in range(3)]
    assert best_seats((3, 4), 0) == 0


STANDING = State(Deck("JQK", "S"), 3, points=Each(Number()), taken=Seats(), dealer=Seat(), rounds=Number(), odd=Card())


def test_fields_are_values_of_outcomes_and_words_for_the_end():
    state = np.zeros(1, STANDING.dtype)[0]
    state["seats"], state["points"], state["taken"], state["dealer"], state["rounds"] = 3, (4, 0, 7), 0b101, 1, 9
    told = {name: [STANDING.value(name)(state, seat) for seat in range(3)] for name in ("points", "taken", "dealer")}
    assert told == {"points": [4.0, 0.0, 7.0], "taken": [1.0, 0.0, 1.0], "dealer": [0.0, 1.0, 0.0]}
    assert STANDING.value("rounds")(state, 2) == 9.0
    assert each_has("Points", STANDING.value("points"))(state) == "Points: p0 has 4, p1 has 0, p2 has 7."
    for wrong in ("odd", "hands"):
        with pytest.raises(CardaiError, match=f"value: {wrong} is no field declared as one number"):
            STANDING.value(wrong)
