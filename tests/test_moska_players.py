"""Moska's hand-written players and evaluation, on recorded positions; `test_moska_recorded` has Bot3's decisions."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from cardai.games.moska import players
from cardai.games.moska.rules import ATTACK, END, OPEN, SKIP, resample
from cardai.rules import JIT, STREAM, next_bits
from tests.moska_recorded import GAME, turns

pytestmark = pytest.mark.skipif(not JIT, reason="thousands of positions are for compiled rules")


def listed(cards):
    """Cards as (rank, suit), rank 2 to 14."""
    return [(card // 4 + 2, card % 4) for card in range(52) if int(cards) >> card & 1]


def naive_hand_value(after):
    """HeuristicEvaluator's value for the mover of an after-state; cards to be drawn count as the mean of the unseen."""
    seat, trump, alive = int(after.turn), int(after.trump), listed((1 << 52) - 1 & ~int(after.discards))
    worth = {(r, s): sum(r > q if s == t else s == trump for q, t in alive) for r, s in listed((1 << 52) - 1)}
    hand, table = listed(after.hands[seat]), listed(after.table)
    draws = max(0, min(6 - len(hand), int(after.deck_left))) if int(after.pending) in (OPEN, ATTACK, END) else 0
    cards = hand + (table if int(after.target) == seat else [])
    size = len(cards) + draws
    if size == 0:
        return 1e7, draws
    others = {card for other in range(int(after.seats)) if other != seat for card in listed(after.known[other])}
    unseen = set(alive) - set(hand) - set(listed(after.killed)) - others
    mean = float(np.mean([worth[card] for card in unseen])) if unseen else 0.0
    value = 2.31923085 * (sum(worth[card] for card in cards) + draws * mean) / size - 1.22979539 * size
    return value + 51.86727724 * max(6 - size, 0) + 0.39232656 * bool(after.barring), draws


def test_hand_value_is_the_engines_and_counts_the_cards_to_come_at_their_mean():
    drew = compared = 0
    for number, turn in enumerate(turns()):
        if number % 157 or turn.offered == 1 << SKIP:
            continue
        for move in GAME.moves(turn.state)[:5]:
            after = GAME.after(turn.state, move)
            expected, draws = naive_hand_value(after)
            assert GAME.value(after, int(after.turn), "hand_value") == pytest.approx(expected, rel=1e-12)
            compared, drew = compared + 1, drew + (draws > 0)
    assert compared > 500
    assert drew > 100


def test_assign_costs_as_little_as_scipys_assignment():
    rng = np.random.default_rng(5)
    for _ in range(400):
        n = int(rng.integers(1, 12))
        matrix = np.where(rng.random((n, n)) < 0.3, players.FORBIDDEN, np.floor(rng.normal(30, 30, (n, n))))
        columns = players.assign(matrix)
        assert sorted(columns) == list(range(n))
        assert matrix[range(n), columns].sum() == matrix[linear_sum_assignment(matrix)].sum()


def test_a_bot_leaves_its_stream_where_a_world_and_its_choice_would():
    """Bot0 to bot3 get no worlds, but draw what `resample` draws, so that their games are those they always were."""
    for state in (turn.state for number, turn in enumerate(turns()) if number % 7 == 0):
        ours, worlds = np.zeros(2, STREAM)
        ours.rng = worlds.rng = int(state.ply) << 32
        players.pass_over_a_world(state, ours)
        next_bits(worlds)
        resample(state.copy(), int(state.turn), worlds)
        assert ours.rng == worlds.rng
