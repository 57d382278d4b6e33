"""The encoder `tactical` of Moska beside counts made in another way: by all assignments and by binomials."""

import itertools
from math import comb

import numpy as np
import pytest
from views import segments

from cardai.errors import CardaiError
from cardai.game import PerspectiveEncoder, Segment
from cardai.games.moska.encode import WHOLE, chance_to_hold, killed_together
from cardai.records.record import replay
from cardai.records.selfplay import simulate_here
from cardai.registry import load

MOSKA = load("moska")
TRUMP = 2


def kills(killer, card, trump):
    if killer % 4 == card % 4:
        return killer > card
    return killer % 4 == trump


def as_set(cards):
    return sum(1 << int(card) for card in cards)


def positions(count, seats):
    """After-states of games of weak and of strong play, each with the seat that has moved."""
    for game in simulate_here(MOSKA, {"bot3": 1.0, "random": 1.0}, count, seed=11, seats=seats):
        asked = []
        replay(MOSKA, game, lambda state, move, ply, asked=asked: asked.append((state.copy(), move.copy())))
        for state, move in asked[3::7]:
            yield MOSKA.after(state, move), int(state["turn"])


def cards_of(bits):
    return [card for card in range(52) if (int(bits) >> card) & 1]


def by_hand(plane, own, order):
    """{card: value} of a plane whose suits are in the order that the own hand gives them."""
    return {card: int(plane[4 * (card // 4) + order.index(card % 4)]) for card in own}


@pytest.mark.parametrize("seats", [2, 4, 8])
def test_the_counts_are_those_of_the_cards(seats):
    seen = 0
    for state, seat in positions(6, seats):
        rows, seen = segments(MOSKA, state, seat, "tactical"), seen + 1
        hand, table, trump = cards_of(state["hands"][seat]), cards_of(state["table"]), int(state["trump"])
        in_play = {card // 4 for card in cards_of(state["table"] | state["killed"])}
        strengths = [sum(2 ** (card // 4) for card in hand if card % 4 == suit) for suit in range(4)]
        order = [trump, *sorted({0, 1, 2, 3} - {trump}, key=lambda suit: (-strengths[suit], suit))]
        known = {card for each in state["known"][:seats] for card in cards_of(each)}
        gone = cards_of(state["discards"] | state["table"] | state["killed"])
        bottom = {int(state["trump_card"])} if state["deck_left"] else set()
        turned = {int(state["turned"])} - {-1}
        unseen = set(range(52)) - set(hand) - known - set(gone) - bottom - turned

        def killers(card, cards, trump=trump):
            return sum(kills(other, card, trump) for other in cards)

        assert by_hand(rows["unseen killers of own card"], hand, order) == {c: killers(c, unseen) for c in hand}
        assert by_hand(rows["own card of a rank in play"], hand, order) == {c: c // 4 in in_play for c in hand}
        assert by_hand(rows["own killers of card on table"], table, order) == {c: killers(c, hand) for c in table}
        ranks = [card // 4 for card in hand]
        assert rows["two of a rank"].tolist() == [ranks.count(rank) >= 2 for rank in range(13)]
        assert rows["three of a rank"].tolist() == [ranks.count(rank) >= 3 for rank in range(13)]
        assert rows["rank in play"].tolist() == [rank in in_play for rank in range(13)]
        assert rows["unseen cards"] == len(unseen)
        assert rows["unseen trumps"] == sum(card % 4 == trump for card in unseen)
        assert rows["unseen cards of a rank in play"] == sum(card // 4 in in_play for card in unseen)
        for step in range(seats):
            other = (seat + step) % seats
            hidden = len(cards_of(state["hands"][other])) - len(cards_of(state["known"][other]))
            shown = hand if step == 0 else cards_of(state["known"][other])
            assert rows["hidden cards"][step] == hidden
            assert rows["known cards of a rank in play"][step] == sum(card // 4 in in_play for card in shown)
        before = segments(MOSKA, state, seat, "relative")
        assert all((rows[name] == values).all() for name, values in before.items())
    assert seen > 50


def test_the_most_cards_that_a_hand_kills_together_are_those_of_the_best_assignment():
    random = np.random.default_rng(5)
    for _ in range(300):
        cards = random.permutation(52)
        table, hand = cards[: random.integers(0, 5)], cards[5 : 5 + random.integers(0, 6)]
        best = 0
        for order in itertools.permutations(hand, min(len(hand), len(table))):
            for chosen in itertools.combinations(table, len(order)):
                best = max(best, sum(kills(a, b, TRUMP) for a, b in zip(order, chosen, strict=True)))
        assert killed_together(as_set(hand), as_set(table), TRUMP) == best


@pytest.mark.parametrize("hidden", [6, 20, 40])
def test_the_chance_to_hold_one_of_some_cards_is_hypergeometric(hidden):
    random = np.random.default_rng(hidden)
    state = np.zeros(1, MOSKA.state)[0]
    for _ in range(100):
        unseen = random.permutation(52)[:hidden]
        wanted, size = random.integers(0, hidden + 1), random.integers(0, min(hidden, 12) + 1)
        state["hands"][1] = as_set(unseen[:size])
        got = chance_to_hold(state, 1, as_set(unseen[:wanted]), as_set(unseen), hidden)
        exact = 1 - comb(hidden - wanted, size) / comb(hidden, size)
        assert 100 * exact - 1e-9 <= got <= 100 * exact + 1 + 100 * size / WHOLE  # rounded up
    state["known"][1] = state["hands"][1] = 1 << 51
    assert chance_to_hold(state, 1, 1 << 51, 0, 0) == 100


def with_other_names(state, names):
    """A state in which suit s is called names[s]."""

    def card(old):
        return 4 * (old // 4) + names[old % 4] if old >= 0 else old

    def cards(old):
        return as_set(map(card, cards_of(old)))

    other = state.copy()
    for field in ("table", "killed", "discards", "barring"):
        other[field] = cards(state[field])
    for field in ("hands", "known"):
        other[field] = [cards(old) for old in state[field]]
    other["deck"] = [card(old) for old in state["deck"]]
    other["turned"], other["trump_card"] = card(state["turned"]), card(state["trump_card"])
    other["trump"] = names[state["trump"]]
    return other


@pytest.mark.parametrize("encoder", ["bitmap", "afterstate"])
@pytest.mark.parametrize("seats", [2, 4, 5])
def test_the_orders_of_a_row_are_the_rows_of_positions_with_other_names(encoder, seats):
    orders, trumps = MOSKA.encoder(encoder).renamings(seats), 2 + 4 * seats + np.arange(4)
    assert orders[0].tolist() == list(range(orders.shape[1]))
    assert sorted(orders[:4, trumps[0]]) == trumps.tolist()  # each name once
    for state, seat in itertools.islice(positions(4, seats), 12):
        row = MOSKA.encode(state, seat, encoder)
        others = (with_other_names(state, names) for names in itertools.permutations(range(4)))
        rows = {MOSKA.encode(other, seat, encoder).tobytes() for other in others}
        assert {row[order].tobytes() for order in orders} == rows
        assert len(rows) == 24


@pytest.mark.parametrize(
    ("names", "shapes"), [("", "none"), ("abc", r"\(\), \(4,\), \(4,\)"), ("d", r"\(13,\)"), ("be", r"\(4,\), \(5,\)")]
)
def test_segments_that_cannot_all_end_in_suits_are_refused(names, shapes):
    layout = (Segment("a"), Segment("b", (13, 4)), Segment("c", (4,)), Segment("d", (4, 13)), Segment("e", (3, 5)))
    encoder = PerspectiveEncoder(lambda seats: layout, lambda *_: None, lambda segment: segment.name in set(names))
    with pytest.raises(CardaiError, match=f"end in the same 2 to 6 suits, not {shapes}"):
        encoder.renamings(4)
