"""Crazy Eights with two packs plays as OpenSpiel's does, and its worlds know from which shuffle each card comes.

OpenSpiel counts kinds and ours tells the packs apart, so a card of theirs is ours modulo 52.

    pip install '.[oracles]'
    pytest tests/test_crazy.py               # 40 games
    pytest -m slow tests/test_crazy.py       # 1,000 games
"""

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import cardai
from cardai.laws import check
from cardai.rules.cards import Deck, as_int

GAME = cardai.load(str(Path(__file__).parent.parent / "examples/crazy"))
DECK, PACK = Deck(packs=2), 52
PLAY, DRAW, PASS, NAME = range(4)
EIGHTS = range(24, 28)


def hand(state, seat):
    """The cards of a hand, as printed."""
    return sorted(card % PACK for card in DECK.listed(state.hands[seat]))


def action_of(move):
    """OpenSpiel's number of a move."""
    kind, card = int(move["kind"]), int(move["card"])
    return (card % PACK, 52, 53, 54 + card)[kind]


def dealt(state, seats):
    """OpenSpiel's table with the deal of a state: the last seat is the dealer."""
    pyspiel = pytest.importorskip("pyspiel", reason="the oracle is OpenSpiel: pip install '.[oracles]'")
    table = pyspiel.load_game("crazy_eights", {"players": seats, "reshuffle": True}).new_initial_state()
    table.apply_action(table.legal_actions()[seats - 1])
    hands = [hand(state, seat) for seat in range(seats)]
    for _ in range(5):
        for seat in range(seats):
            table.apply_action(hands[seat].pop())
    table.apply_action(int(state.top) % PACK)
    return table


def hands_of(table, seats):
    """The hands of OpenSpiel's table, as counts in its observation."""
    width = 3 * PACK
    rows = [np.array(table.observation_tensor(seat))[:width].reshape(PACK, 3).argmax(axis=1) for seat in range(seats)]
    return [[card for card in range(PACK) for _ in range(row[card])] for row in rows]


def their_points(cards):
    """What OpenSpiel counts: it adds the number of a card, not its rank."""
    return -sum(50 if card in EIGHTS else 10 if card >= 36 else card + 2 for card in cards)


def compare(seed):
    """A random game of both. Returns how many plies it had, and how many shuffles."""
    chance, seats = random.Random(seed), 6 + seed % 2
    state = GAME.new(seats, seed)
    table = dealt(state, seats)
    never_draws = seed % 3 == 0  # long hands, and short ones
    while state.turn >= 0:
        assert table.current_player() == state.turn
        moves = GAME.moves(state)
        assert sorted({action_of(move) for move in moves}) == table.legal_actions()
        likely = [move for move in moves if move["kind"] == (PLAY if never_draws else DRAW)]
        move = chance.choice(likely if likely and chance.random() < 0.7 else list(moves))
        before, after = hand(state, int(state.turn)), GAME.play(state, move)
        table.apply_action(action_of(move))
        if table.is_chance_node():
            (drawn,) = (Counter(hand(after, int(after.turn))) - Counter(before)).elements()
            chances = dict(table.chance_outcomes())
            stock = Counter(card % PACK for card in DECK.listed(state.stock))
            assert chances == pytest.approx({card: n / stock.total() for card, n in stock.items()})
            table.apply_action(drawn)
        state = after
        if state.turn >= 0:
            assert hands_of(table, seats) == [hand(state, seat) for seat in range(seats)]
    assert table.is_terminal()
    assert table.returns() == [their_points(hand(state, seat)) for seat in range(seats)]
    return int(state.ply), int(state.shuffles)


def test_40_random_games_are_those_of_openspiel():
    plies, shuffles = zip(*map(compare, range(40)), strict=True)
    assert sum(plies) > 5000
    assert sum(shuffles) > 100


@pytest.mark.slow
def test_1000_random_games_are_those_of_openspiel():
    plies, shuffles = zip(*map(compare, range(1000)), strict=True)
    assert sum(plies) > 100_000
    assert max(shuffles) > 20


def played(seed, draws=0.7, least=2):
    """A position after some shuffles, with a turn left."""
    chance, state = random.Random(seed), GAME.new(6, seed)
    while state.turn >= 0 and (state.shuffles < least or chance.random() < 0.95):
        moves = GAME.moves(state)
        likely = [move for move in moves if move["kind"] == DRAW]
        state = GAME.play(state, chance.choice(likely if likely and chance.random() < draws else list(moves)))
    return state


def origins(state):
    """How many cards of each shuffle each place has."""
    places = [*state.hands[: int(state.seats)], state.stock]
    return [Counter(int(state.came[card]) for card in DECK.listed(cards)) for cards in places]


def test_5_2_worlds_keep_how_many_cards_of_each_shuffle_each_place_has():
    several = 0
    for seed in range(30):
        state = played(seed)
        if state.turn < 0:
            continue
        several += any(len(counter) > 2 for counter in origins(state))
        for seat in range(6):
            world = GAME.world(state, seat, seed)
            assert origins(world) == origins(state)
            assert as_int(world.hands[seat]) == as_int(state.hands[seat])
            assert sum(GAME.table.holdings(world)) == (1 << 104) - 1
            assert GAME.table.holdings(world) != GAME.table.holdings(state)
    assert several > 10


def test_5_2_hidden_cards_of_a_shuffle_lie_evenly_in_the_places_that_have_some():
    state = next(state for state in map(played, range(100)) if state.turn >= 0 and len(origins(state)[1]) > 2)
    seat, n = 0, 3000
    worlds = [GAME.table.holdings(GAME.world(state, seat, seed)) for seed in range(n)]
    hidden, tried = origins(state), 0
    for shuffle in range(int(state.shuffles) + 1):
        total = sum(place[shuffle] for place in hidden[1:])
        cards = [card for card in range(104) if state.came[card] == shuffle and as_int(state.hands[0]) >> card & 1 == 0]
        cards = [card for card in cards if not sum(GAME.table.holdings(state)[7:]) >> card & 1]
        for place in range(1, 7):
            p = hidden[place][shuffle] / max(1, total)
            for card in cards:
                share = sum(world[place] >> card & 1 for world in worlds) / n
                assert abs(share - p) <= 5 * np.sqrt(p * (1 - p) / n) + 1e-12, (shuffle, place, card)
                tried += 0 < p < 1
    assert tried > 50


def test_1_2_a_card_is_turned_up_that_is_no_eight():
    for seed in range(100):
        state = GAME.new(seed=seed)
        assert [len(hand(state, seat)) for seat in range(6)] == [5] * 6
        assert int(state.top) % PACK not in EIGHTS
        assert (int(state.rank), int(state.suit)) == divmod(int(state.top) % PACK, 4)


def test_2_2_who_plays_an_eight_names_a_suit():
    state = GAME.new(seed=3)
    state.hands[0] = [1 << 24 | 1 << 1, 0]
    state = GAME.play(state, GAME.text.parse(state, "a8C"))
    assert [GAME.text.spell(state, move) for move in GAME.moves(state)] == [
        "names clubs", "names diamonds", "names hearts", "names spades"
    ]  # fmt: skip
    state = GAME.play(state, GAME.text.parse(state, "spades"))
    assert "Suit to match: spades." in GAME.text.show(state, 1)
    assert all(int(move["card"]) % 4 == 3 or int(move["card"]) % PACK in EIGHTS for move in GAME.moves(state)[:-1])


def test_4_2_scores_are_shares_of_those_who_have_more_points():
    state = GAME.new(seed=3)
    state.turn, cards = -1, ("", "a8C", "aKC", "aTC", "b2C", "b2D")
    for seat, names in enumerate(cards):
        held = DECK.cards(names)
        state.hands[seat] = [held & (1 << 60) - 1, held >> 60]
    assert GAME.outcome(state, "points").tolist() == [0, 50, 10, 10, 2, 2]
    assert GAME.points(state).tolist() == pytest.approx([1, 0, 0.3, 0.3, 0.7, 0.7])


LAWS = ("scores_are_shares", "act_draws_no_chance", "players_choose_legal_moves", "cards_are_conserved")


def broken(laws=None, seconds=None):
    verdicts = check(GAME, seed=1, effort="quick", laws=laws, seconds=seconds)
    return [verdict.why for verdict in verdicts if verdict.verdict == "broken"]


def test_some_laws_hold():
    assert broken(LAWS, 4) == []


@pytest.mark.slow
def test_every_law_holds():
    assert broken() == []
