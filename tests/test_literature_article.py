"""What the experiment on the article has its networks choose among."""

import numpy as np

import cardai
from cardai.experiments.literature import moves_of_article
from cardai.games.literature.players import may_have
from cardai.games.literature.rules import ASK, CLAIM

GAME = cardai.load("literature")
CONSIDERED = GAME.changed(legal=moves_of_article)


def test_its_networks_claim_what_is_proven_and_ask_nothing_that_is_known_to_fail():
    rng, left_out, claims = np.random.default_rng(1), 0, 0
    for seed in range(10):
        state = GAME.new(4, seed, "article")
        while state["turn"] >= 0:
            legal, moves = GAME.moves(state), CONSIDERED.moves(state)
            assert len(moves)
            assert np.isin(moves, legal).all()
            if (legal["kind"] == CLAIM).any():
                assert (moves["kind"] == CLAIM).all()
                claims += 1
            elif (legal["kind"] == ASK).any():
                hopeful = [move for move in legal if is_hopeful(state, move)]
                assert moves.tolist() == sorted(move.tolist() for move in hopeful or legal)
                left_out += len(legal) - len(moves)
            else:
                assert len(moves) == len(legal)
            state = GAME.play(state, legal[rng.integers(len(legal))])
    assert left_out > 1000
    assert claims > 20


def is_hopeful(state, move):
    """Whether a question may be answered with yes, as far as everybody knows."""
    other = (int(state["turn"]) + int(move["step"])) % 4
    return may_have(state, other, np.int64(1) << np.int64(move["what"])) != 0
