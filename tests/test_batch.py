"""Games stepped as arrays are the games that the core plays move by move."""

import itertools
from pathlib import Path

import numpy as np
import pytest

import cardai
from cardai.errors import BadArgument, CardaiError, IllegalMove
from cardai.game import move_dtype
from cardai.game.compiled.rules import lend
from cardai.playing.table.batch import Batch, _Actions, _numbering, number_of
from cardai.rules import rule

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
    """Step a batch with random actions, and the same games one by one through `Game`."""
    batch, rng = Batch(game, count, seats=seats, seed=40), np.random.default_rng(1)
    states = [game.new(seats, 40 + slot) for slot in range(count)]
    seeds, finished = [40 + slot for slot in range(count)], 0
    for _ in range(steps):
        actions, chosen = np.zeros(count, np.int64), []
        for slot, state in enumerate(states):
            assert batch.states[slot] == state
            assert batch.seeds[slot] == seeds[slot]
            moves = game.moves(state)
            assert (batch.moves[slot, : batch.counts[slot]] == moves).all()
            assert batch.counts[slot] == len(moves)
            assert batch.turns[slot] == state.turn
            assert (batch.observations[slot] == game.encode(state, int(state.turn))).all()
            numbers = (
                [game.learning.actions[move.item()] for move in moves] if game.learning.actions else range(len(moves))
            )
            assert np.flatnonzero(batch.action_mask[slot]).tolist() == sorted(numbers)
            place = int(rng.integers(len(moves)))
            actions[slot] = numbers[place]
            chosen.append(moves[place].copy())
        movers = batch.turns.copy()
        _, rewards, terminations, truncations, infos = batch.step(actions)
        assert (batch.movers == movers).all()
        assert not truncations.any()
        assert (infos["_final_obs"] == terminations).all()
        for slot, move in enumerate(chosen):
            after = game.play(states[slot], move)
            assert terminations[slot] == (after.turn < 0)
            if after.turn < 0:
                assert (rewards[slot] == game.points(after)).all()
                for seat in range(seats):
                    assert (infos["final_obs"][slot, seat] == game.encode(after, seat)).all()
                seeds[slot] += count
                after = game.new(seats, seeds[slot])
                finished += 1
            else:
                assert not rewards[slot].any()
            states[slot] = after
    assert finished >= 1


def alone(gymnasium, first):
    """Return Tic-Tac-Toe by the rules alone: both seats act in turn. Resets deal the seeds first, first + 2, ..."""

    class Alone(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(0, 255, (27,), np.uint8)
        action_space = gymnasium.spaces.Discrete(9)

        def __init__(self):
            self.seed = first - 2

        def reset(self, *, seed=None, options=None):
            self.seed += 2
            self.state = TICTACTOE.new(2, self.seed)
            return TICTACTOE.encode(self.state, 0), {}

        def step(self, action):
            mover = int(self.state.turn)
            self.state = TICTACTOE.play(self.state, TICTACTOE.moves(self.state)[[*self.legal()].index(action)])
            is_over = self.state.turn < 0
            reward = float(TICTACTOE.points(self.state)[mover]) if is_over else 0.0
            return TICTACTOE.encode(self.state, mover if is_over else int(self.state.turn)), reward, is_over, False, {}

        def legal(self):
            return TICTACTOE.moves(self.state)["cell"].tolist()

    return Alone()


def test_a_step_answers_as_gymnasiums_vector_environments_do():
    """`SyncVectorEnv` in the mode SAME_STEP, field by field."""
    gymnasium = pytest.importorskip("gymnasium", reason="the extra `gym` brings Gymnasium")
    mode = gymnasium.vector.AutoresetMode.SAME_STEP
    makers = [lambda first=first: alone(gymnasium, first) for first in (3, 4)]
    envs = gymnasium.vector.SyncVectorEnv(makers, autoreset_mode=mode)
    batch, slots = Batch(TICTACTOE, 2, seed=3), np.arange(2)
    theirs, _ = envs.reset()
    ours, _ = batch.reset(3)
    assert (theirs == ours).all()
    ended = 0
    for _ in range(60):
        actions, movers = batch.sample().copy(), batch.turns.copy()
        theirs, their_rewards, their_ends, their_cuts, their_infos = envs.step(actions)
        ours, rewards, terminations, truncations, infos = batch.step(actions)
        assert (ours == theirs).all()
        assert (rewards[slots, movers] == their_rewards).all()
        assert (terminations == their_ends).all()
        assert (truncations == their_cuts).all()
        assert (infos["_final_obs"] == their_infos.get("_final_obs", False)).all()
        for slot in np.flatnonzero(terminations):
            assert (infos["final_obs"][slot, movers[slot]] == their_infos["final_obs"][slot]).all()
            ended += 1
    assert ended >= 10


def test_the_games_of_a_batch_do_not_depend_on_what_was_played_before():
    batch = Batch(LEDUC, 3, seed=5)
    first = batch.states.copy()
    for _ in range(20):
        batch.step(batch.sample())
    observations, infos = batch.reset(5)
    assert observations is batch.observations
    assert infos["action_mask"] is batch.action_mask
    assert (batch.states == first).all()
    assert not batch.terminations.any()
    assert not batch.rewards.any()
    draws = [batch.sample().copy() for _ in range(4)]
    batch.reset(5)
    assert all((batch.sample() == drawn).all() for drawn in draws)


def test_seeds_wrap_around():
    batch = Batch(TICTACTOE, 3, seed=-2)
    assert batch.seeds.tolist() == [2**64 - 2, 2**64 - 1, 0]


def test_samples_are_even_and_legal():
    batch = Batch(TICTACTOE, 9000, seed=1)
    shares = np.bincount(batch.sample(), minlength=9) / 9000
    assert np.abs(shares - 1 / 9).max() < 5 * np.sqrt(1 / 9 / 9000)
    batch.step(batch.sample())
    assert batch.action_mask[np.arange(9000), batch.sample()].all()


def test_samples_follow_logits_among_the_legal_actions():
    batch, rng = Batch(TICTACTOE, 20_000, seed=1), np.random.default_rng(0)
    batch.step(np.full(20_000, 4))
    logits = rng.normal(size=9) * 2
    logits[7] = -np.inf
    shares = np.exp(logits) * (np.arange(9) != 4)
    shares /= shares.sum()
    for kind in (np.float32, np.float64):
        drawn = np.bincount(batch.sample(np.tile(logits.astype(kind), (20_000, 1))), minlength=9) / 20_000
        assert (np.abs(drawn - shares) <= 5 * np.sqrt(shares * (1 - shares) / 20_000)).all()


def test_wrong_logits_are_refused():
    batch = Batch(TICTACTOE, 3)
    for wrong in (None, np.zeros((3, 8)), np.zeros((3, 9), int), "logits", [[0.0]]):
        if wrong is not None:
            with pytest.raises(BadArgument, match=r"logits must be floats of shape \[3, 9\], not"):
                batch.sample(wrong)
    for wrong in (np.nan, np.inf, -np.inf):
        logits = np.zeros((3, 9))
        logits[1] = wrong
        with pytest.raises(BadArgument, match="in slot 1 not"):
            batch.sample(logits)


def test_what_learners_read_is_taken_by_jax_without_a_copy():
    """By dlpack and `device_put`; `jnp.asarray` copies what is NumPy's, wherever it begins."""
    jax = pytest.importorskip("jax")
    for count in (1, 3, 64):
        batch = Batch(LEDUC, count)
        for array in (batch.observations, batch.action_mask, batch.final_obs, batch.encode(0)):
            for taken in (jax.numpy.from_dlpack(array), jax.device_put(array)):
                assert taken.unsafe_buffer_pointer() == array.ctypes.data
                assert taken.dtype == array.dtype
        assert batch.rewards.ctypes.data % 64 == 0


def test_what_learners_read_is_taken_by_torch_without_a_copy():
    torch = pytest.importorskip("torch")
    batch = Batch(LEDUC, 3)
    for array in (batch.observations, batch.action_mask, batch.final_obs, batch.rewards):
        for taken in (torch.from_numpy(array), torch.from_dlpack(array)):
            assert taken.data_ptr() == array.ctypes.data


def test_what_is_written_to_the_outputs_has_no_effect():
    batch = Batch(LEDUC, 3, seed=1)
    batch.action_mask[:] = True
    batch.observations[:] = 7
    with pytest.raises(IllegalMove, match=r"in slot 0 the actions \[1, 2\] are legal, not 0"):
        batch.step([0, 1, 1])
    batch.step(batch.sample())
    assert batch.action_mask.sum() < batch.action_mask.size
    assert not (batch.observations == 7).any()


def test_moves_without_numbers_are_played_by_their_places():
    """And moves that share a number, and those of several fields, are told apart by what is legal."""
    numbered, plain = Batch(LEDUC, 20, seed=3), Batch(LEDUC.changed(actions={}), 20, seed=3)
    assert plain.action_mask.shape == (20, LEDUC.max_moves)
    rng = np.random.default_rng(0)
    for _ in range(30):
        assert (plain.action_mask == (np.arange(LEDUC.max_moves) < plain.counts[:, None])).all()
        places = (rng.random(20) * plain.counts).astype(np.int64)
        moves = [row[place].item() for row, place in zip(plain.moves, places, strict=True)]
        numbered.step(np.array([LEDUC.learning.actions[move] for move in moves]))
        plain.step(places)
        assert (plain.states == numbered.states).all()


def test_an_action_that_was_legal_in_the_slot_before_is_refused():
    batch = Batch(TICTACTOE, 3, seed=1)
    for _ in range(60):
        batch.step(batch.sample())
        chosen, states = batch.sample().copy(), batch.states.copy()
        for slot, action in itertools.product(range(3), (*range(-2, 12), -(2**63), 2**63 - 1)):
            if action not in np.flatnonzero(batch.action_mask[slot]):
                with pytest.raises(IllegalMove, match=f"in slot {slot} the actions .* are legal, not {action}$"):
                    batch.step([*chosen[:slot], action, *chosen[slot + 1 :]])
        assert (batch.states == states).all()


@pytest.mark.parametrize("values", [range(9), [3**k for k in range(9)], [-(2**60), *range(1, 8), 2**60], [-1] * 9])
def test_numbers_of_moves_are_looked_up_whatever_the_fields_are(values):
    """One field, or two whose product is large, equal for all, negative or as wide as a set of cards."""
    one = {(value,): number for number, value in enumerate(dict.fromkeys(values))}
    two = {(value, k): k for k, value in enumerate(values)}
    for actions in (one, two):
        wide = len(next(iter(actions)))
        game = LEDUC.changed(actions=actions, move=move_dtype(*"ab"[:wide]))
        table, factors, shift = _numbering(game)
        asked = [*actions, *(tuple(field + 1 for field in move) for move in actions), (-1,) * wide, (0,) * wide]
        lists = np.array(asked, np.int64)
        lent = lend(
            _Actions(lists, lists, np.zeros((1, 9), np.uint8), 9, lists, table, len(table), factors, wide, shift)
        )
        assert [looked_up(lent, k) for k in range(len(asked))] == [actions.get(move, -1) for move in asked]


@rule
def looked_up(actions, k):
    return number_of(actions, k)


def test_worlds_keep_what_the_seat_knows_and_deal_the_rest_anew():
    batch = Batch(LEDUC, 300, seed=2)
    worlds = batch.worlds().copy()
    assert (worlds["hands"][:, 0] == batch.states["hands"][:, 0]).all()
    assert 0.1 < (worlds["hands"][:, 1] == batch.states["hands"][:, 1]).mean() < 0.3  # one in five
    others = batch.worlds(1)
    assert (others["hands"][:, 1] == batch.states["hands"][:, 1]).all()
    rows = batch.encode(1).copy()
    assert (batch.encode(np.zeros(300, int)) == batch.observations).all()
    batch.states[:] = others
    assert (batch.encode(1) == rows).all()  # the encoder law, through the batch


def test_states_can_be_written_and_gone_on_from():
    batch = Batch(LEDUC, 4, seed=1)
    kept, rows, mask = batch.states.copy(), batch.observations.copy(), batch.action_mask.copy()
    batch.step(np.full(4, 2))
    assert not (batch.observations == rows).all()
    batch.states[:] = kept
    observations, infos = batch.refresh()
    assert (observations == rows).all()
    assert (infos["action_mask"] == mask).all()
    fresh = Batch(LEDUC, 4, seed=1)
    assert (batch.moves[:, :2] == fresh.moves[:, :2]).all()  # both moves of the first turn
    assert (batch.counts == fresh.counts).all()
    batch.states["turn"] = -1
    with pytest.raises(BadArgument, match="nobody is to move"):
        batch.refresh()


def test_illegal_actions_are_refused_before_anything_is_played():
    batch = Batch(LEDUC, 4, seed=1)
    before = batch.states.copy()
    for wrong in ([1, 1], [1.0] * 4, None, "abcd", [[1]] * 4, [True] * 4):
        with pytest.raises(BadArgument, match="actions must"):
            batch.step(wrong)
    for wrong in (0, 3, -1, 2**63 - 1, 2**64 - 1, -(2**63)):
        actions = np.array([1, 1, wrong, 1], np.uint64 if wrong > 2**63 else np.int64)
        with pytest.raises(IllegalMove, match=rf"in slot 2 the actions \[1, 2\] are legal, not {wrong}"):
            batch.step(actions)
    assert (batch.states == before).all()
    batch.step([1, 1, 1, 1])


def test_what_a_game_lacks_is_said_in_a_sentence():
    bare = Batch(LEDUC.changed(actions={}, encoders={}), 2)
    assert bare.observations.shape == (2, 0)
    bare.step(bare.sample())
    with pytest.raises(CardaiError, match="has no encoder"):
        bare.encode(0)
    with pytest.raises(CardaiError, match="no number for a legal move in slot 0"):
        Batch(LEDUC.changed(actions={(0,): 0, (1,): 1}), 2)
    for wrong in (0, -1, 2.0, "2", None, 2**40):
        with pytest.raises(BadArgument, match="count"):
            Batch(LEDUC, wrong)
    with pytest.raises(CardaiError, match="2 seats, not 5"):
        Batch(LEDUC, 2, seats=5)
    for wrong in (2, -1, [0, 1, 2], "0"):
        with pytest.raises(CardaiError, match="seats"):
            Batch(LEDUC, 2).encode(wrong)


def test_observations_can_be_left_out():
    batch = Batch(LEDUC, 5, seed=1, observes=False)
    assert batch.observations.shape == (5, 0)
    assert batch.final_obs.shape == (5, 2, 0)
    batch.step(batch.sample())
    assert (batch.encode(batch.turns)[0] == LEDUC.encode(batch.states[0], int(batch.turns[0]))).all()


def test_a_game_that_does_not_end_is_given_up():
    batch = Batch(TICTACTOE.changed(max_plies=3), 5)
    for _ in range(2):
        batch.step(batch.sample())
    states, movers, actions = batch.states.copy(), batch.turns.copy(), batch.sample()
    _, rewards, terminations, truncations, infos = batch.step(actions)
    assert truncations.all()
    assert not terminations.any()
    assert not rewards.any()
    assert infos["_final_obs"].all()
    for slot, action in enumerate(actions):
        last = TICTACTOE.play(states[slot], np.array((action,), TICTACTOE.move)[()])
        assert movers[slot] == 0
        for seat in range(2):
            assert (infos["final_obs"][slot, seat] == TICTACTOE.encode(last, seat)).all()
    assert (batch.states["ply"] == 0).all()
