"""Moska's lists of legal moves: the same as recorded, counted exactly, and cheap even if there are millions."""

import hashlib
import time

import numpy as np
import pytest
from moska_positions import GAME, positions

from cardai.game.compiled.native import at, call_legal, raw
from cardai.game.compiled.rules import LEGAL
from cardai.games.moska import moves
from cardai.games.moska.counts import count_kills, count_subsets
from cardai.rules import JIT, rule
from cardai.rules.cards import full_deck, suit_cards

# (positions, the largest hand, seed): how many lists are truncated, and the hash of all. Commit 4dd32fc gave these.
RECORDED = {
    (3000, 8, 1): (2, "5549b63b61f0a55a"),
    (1500, 20, 2): (52, "405f664db1af50e1"),
    (600, 40, 3): (177, "f36017081b8c73c1"),
}


@pytest.mark.skipif(not JIT, reason="a million moves")
@pytest.mark.parametrize("made_up", RECORDED)
def test_lists_are_those_that_were_recorded(made_up):
    truncations, digest = 0, hashlib.blake2b(digest_size=8)
    for state in positions(*made_up):
        listed, was_truncated = GAME.enumerate(state)
        truncations += was_truncated
        digest.update(bytes([was_truncated]) + listed.tobytes())
    assert (truncations, digest.hexdigest()) == RECORDED[made_up]


@pytest.mark.parametrize(("number", "largest"), [(400, 8), (200, 13)] if JIT else [(10, 6)])
def test_as_many_moves_are_counted_as_are_listed(number, largest):
    room, most = np.zeros(100_000, GAME.move), 0
    for state in positions(number, largest, seed=4):
        hand, kinds = state.hands[state.turn], moves.offered(state)
        counted = moves.count_moves(state, kinds, hand)
        assert counted <= len(room)
        assert counted == moves.list_moves(state, kinds, hand, room)
        most = max(most, counted)
    assert most > 2 ** (largest - 3)


@pytest.mark.parametrize("on_table", range(moves.FEW))
def test_few_cards_have_moves_that_fit_into_the_buffer(on_table):
    """A kill is a set of cards and a set of targets. There are most if each card kills each target."""
    trumps = suit_cards(0)
    table = trumps & full_deck(4 * on_table)
    hand = trumps & full_deck(4 * moves.FEW) & ~table
    others = 4  # two ends, turning the deck, skipping
    assert count_subsets(hand, moves.DECK) + count_kills(hand, table, 0) + others <= GAME.max_moves


@rule
def list_again(legal, states, index, buffer, room, times):
    """Lists the moves of a state several times. Returns what `legal` returns."""
    n = 0
    for _ in range(times):
        n = call_legal(legal, at(states, index), buffer, 0, room)
    return n


@pytest.mark.skipif(not JIT, reason="speed of compiled code")
def test_a_truncated_list_costs_hardly_more_than_a_full_buffer():
    """Hands of up to 40 cards have up to 10^12 moves."""
    states = np.array(positions(600, 40, seed=6), GAME.state)
    buffer, legal = np.zeros(GAME.max_moves, GAME.move), GAME.compiler.rules.calls[LEGAL]
    arguments = raw(states), raw(buffer), GAME.max_moves
    full, cut = [], []
    for index in range(len(states)):
        times, n = [], 0
        for _ in range(3):
            began = time.perf_counter()
            n = list_again(legal, arguments[0], index, *arguments[1:], 5)
            times.append(time.perf_counter() - began)
        if n < 0 or n > GAME.max_moves // 2:
            (cut if n < 0 else full).append(min(times))
    assert len(cut) > 50
    assert len(full) > 5
    assert np.median(cut) < 2.5 * np.median(full)
