"""Games stepped as arrays are the games that the core plays move by move."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import cardai
from cardai.errors import BadArgument, CardaiError, IllegalMove
from cardai.table.batch import Batch

EXAMPLES = Path(__file__).parent.parent / "examples"
TICTACTOE = cardai.load("tictactoe")
LEDUC = cardai.load(str(EXAMPLES / "leduc"))
GAMES = {"tictactoe": 2, "durak": 3, "hearts": 4, "literature": 4, "moska": 3}


def loaded(name):
    return LEDUC if name == "leduc" else cardai.load(name)


@pytest.mark.parametrize("name", ["tictactoe", "durak", "leduc"])
def test_a_batch_plays_the_games_of_the_core_move_for_move(name):
    agree(loaded(name), {"durak": 3}.get(name, 2), count=4, steps=400)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hearts", "literature", "moska"])
def test_a_batch_plays_all_games_of_the_core_move_for_move(name):
    """A minute, most of it to compile: pytest -m slow tests/test_batch.py."""
    agree(loaded(name), GAMES[name], count=2, steps=1200)


def agree(game, seats, count, steps):
    """Step a batch with random choices, and the same games one by one through `Game`."""
    batch, rng = Batch(game, count, seats=seats, seed=40), np.random.default_rng(1)
    states = [game.new(seats, 40 + slot) for slot in range(count)]
    seeds, finished = [40 + slot for slot in range(count)], 0
    for _ in range(steps):
        rows = batch.encode()
        masks = batch.masks() if game.actions else np.zeros((count, 0), bool)
        for slot, state in enumerate(states):
            assert batch.states[slot] == state
            assert batch.seeds[slot] == seeds[slot]
            moves = game.moves(state)
            assert (batch.moves[slot, : batch.counts[slot]] == moves).all()
            assert batch.counts[slot] == len(moves)
            assert batch.turns[slot] == state.turn
            assert (rows[slot] == game.encode(state, int(state.turn))).all()
            if game.actions:
                assert set(np.flatnonzero(masks[slot])) == {game.actions[move.item()] for move in moves}
        choices = (rng.random(count) * batch.counts).astype(np.int64)
        movers = batch.turns.copy()
        chosen = [batch.moves[slot, choice].copy() for slot, choice in enumerate(choices)]
        batch.step(choices)
        assert (batch.movers == movers).all()
        for slot, move in enumerate(chosen):
            after = game.play(states[slot], move)
            assert batch.ended[slot] == (after.turn < 0)
            if batch.ended[slot]:
                assert (batch.scores[slot] == game.points(after)).all()
                seeds[slot] += count
                after = game.new(seats, seeds[slot])
                finished += 1
            states[slot] = after
    assert finished >= 1


def test_the_games_of_a_batch_do_not_depend_on_what_was_played_before():
    batch = Batch(LEDUC, 3, seed=5)
    first = batch.states.copy()
    for _ in range(20):
        batch.step(batch.draw())
    batch.reset(5)
    assert (batch.states == first).all()
    assert not batch.ended.any()
    assert np.isnan(batch.scores).all()
    draws = [batch.draw().copy() for _ in range(4)]
    batch.reset(5)
    assert all((batch.draw() == drawn).all() for drawn in draws)


def test_seeds_wrap_around():
    batch = Batch(TICTACTOE, 3, seed=-2)
    assert batch.seeds.tolist() == [2**64 - 2, 2**64 - 1, 0]


def test_draws_are_even():
    batch = Batch(TICTACTOE, 9000, seed=1)
    shares = np.bincount(batch.draw(), minlength=9) / 9000
    assert np.abs(shares - 1 / 9).max() < 5 * np.sqrt(1 / 9 / 9000)


def test_worlds_keep_what_the_seat_knows_and_deal_the_rest_anew():
    batch = Batch(LEDUC, 300, seed=2)
    worlds = batch.worlds().copy()
    assert (worlds["hands"][:, 0] == batch.states["hands"][:, 0]).all()
    assert 0.1 < (worlds["hands"][:, 1] == batch.states["hands"][:, 1]).mean() < 0.3  # one in five
    others = batch.worlds(1)
    assert (others["hands"][:, 1] == batch.states["hands"][:, 1]).all()
    rows = batch.encode(1).copy()
    batch.states[:] = others
    assert (batch.encode(1) == rows).all()  # the encoder law, through the batch


def test_actions_play_what_choices_play():
    one, other = Batch(TICTACTOE, 50, seed=3), Batch(TICTACTOE, 50, seed=3)
    rng = np.random.default_rng(0)
    for _ in range(30):
        actions = (rng.random((50, 9)) * one.masks()).argmax(axis=1)
        places = [[int(move["cell"]) for move in row[:n]] for row, n in zip(other.moves, other.counts, strict=True)]
        other.step(np.array([row.index(action) for row, action in zip(places, actions, strict=True)]))
        one.step_actions(actions)
        assert (one.states == other.states).all()


def test_states_can_be_written_and_gone_on_from():
    batch = Batch(LEDUC, 4, seed=1)
    kept = batch.states.copy()
    batch.step(np.ones(4, int))
    batch.states[:] = kept
    batch.refresh()
    fresh = Batch(LEDUC, 4, seed=1)
    assert (batch.moves[:, :2] == fresh.moves[:, :2]).all()  # both moves of the first turn
    assert (batch.counts == fresh.counts).all()
    batch.states["turn"] = -1
    with pytest.raises(BadArgument, match="nobody is to move"):
        batch.refresh()


def test_illegal_choices_are_refused_before_anything_is_played():
    batch = Batch(LEDUC, 4, seed=1)
    before = batch.states.copy()
    for wrong in ([0, 0, 2, 0], [0, 0, 3, 0], [0, 0, -1, 0], [0, 0], [0.0] * 4, None, "abcd", [[0] * 4], [True] * 4):
        with pytest.raises(CardaiError, match="choices must"):
            batch.step(wrong)
    for wrong in ([0, 1, 1, 1], [1, 1, 1, 3], [-1, 1, 1, 1], None):
        with pytest.raises(CardaiError, match=r"actions|in slot 0 the actions \[1, 2\] are legal, not 0"):
            batch.step_actions(wrong)
    assert (batch.states == before).all()
    with pytest.raises(IllegalMove):
        batch.step([0, 0, 2, 0])


def test_what_a_game_lacks_is_said_in_a_sentence():
    bare = Batch(dataclasses.replace(LEDUC, actions={}, encoders={}), 2)
    with pytest.raises(CardaiError, match="does not number its moves"):
        bare.masks()
    with pytest.raises(CardaiError, match="has no encoder"):
        bare.encode()
    with pytest.raises(CardaiError, match="no number for a legal move in slot 0"):
        Batch(dataclasses.replace(LEDUC, actions={(0,): 0, (1,): 1}), 2).masks()
    for wrong in (0, -1, 2.0, "2", None, 2**40):
        with pytest.raises(BadArgument, match="count"):
            Batch(LEDUC, wrong)
    with pytest.raises(CardaiError, match="2 seats, not 5"):
        Batch(LEDUC, 2, seats=5)
    for wrong in (2, -1, [0, 1, 2], "0"):
        with pytest.raises(CardaiError, match="seats"):
            Batch(LEDUC, 2).encode(wrong)


def test_a_game_that_does_not_end_is_given_up():
    batch = Batch(dataclasses.replace(TICTACTOE, max_plies=3), 5)
    for _ in range(3):
        batch.step(batch.draw())
    assert batch.ended.all()
    assert np.isnan(batch.scores).all()
    assert (batch.states["ply"] == 0).all()
