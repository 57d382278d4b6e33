"""What a game of Literature was beside its score, and what each move brought, counted move by move."""

import numpy as np
import pytest

from cardai.games.literature import rules
from cardai.records.dataset import collect_games
from cardai.records.recipe import Recipe
from cardai.records.selfplay import simulate_here
from cardai.registry import load

GAME = load("literature")


@pytest.mark.parametrize(("variant", "seats"), [("article", 4), ("table", 4), ("strict", 6)])
def test_outcomes_and_rewards_are_what_the_moves_brought(variant, seats):
    games = simulate_here(GAME, {"random": 1}, 4, seats=seats, variant=variant)
    seen = set()
    for recorded in games:
        state, asks, won = GAME.new(seats, recorded.seed, variant), 0, [0, 0]
        for move in recorded.moves:
            seat, kind = int(state["turn"]), int(move["kind"])
            asked = (seat + int(move["step"])) % seats
            had = int(state["hands"][asked]) >> int(move["what"]) & 1 if kind == rules.ASK else 0
            before = [int(halves).bit_count() for halves in state["won"][:2]]
            state = GAME.play(state, move)
            after = [int(halves).bit_count() for halves in state["won"][:2]]
            asks += kind == rules.ASK
            won = after
            brought = {rules.ASK: had, rules.CLAIM: after[seat % 2] - before[seat % 2]}.get(kind, 0.5)
            reward = getattr(GAME.learning.rewards["answer"].of, "py_func")(state, seat)  # noqa: B009
            assert reward == brought
            seen.add((kind, brought))
        is_cut = sum(int(halves).bit_count() for halves in state["won"]) < 8
        assert GAME.outcome(state, "asks").tolist() == [asks] * seats
        assert GAME.outcome(state, "half_suits").tolist() == [won[seat % 2] for seat in range(seats)]
        assert GAME.outcome(state, "cut").tolist() == [is_cut] * seats
    assert {(rules.ASK, 0), (rules.ASK, 1)} <= seen


def test_a_network_may_learn_the_answer_and_the_result():
    games = simulate_here(GAME, {"random": 1}, 2)
    scores, answers, both = (
        collect_games(GAME, games, Recipe(encoder=None, label=label)).labels
        for label in ("score", "answer", "5*score+answer")
    )
    np.testing.assert_allclose(both, (5 * scores + answers) / 6, atol=1e-6)
