"""Decisions as arrays, probabilities of legal actions, memories, training, and policies as files and agents."""

import dataclasses
import json

import chex
import jax
import jax.numpy as jnp
import kuhn_exact as kuhn
import numpy as np
import pairs
import pytest
import small_game
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load as tensors_of
from safetensors.numpy import save as bytes_of

import cardai
from cardai.errors import CardaiError
from cardai.evaluators.policies import nfsp, ppo, training
from cardai.evaluators.policies.decisions import DecisionEncoder, play_trajectories
from cardai.evaluators.policies.memory import CircularBuffer, ReservoirBuffer
from cardai.evaluators.policies.network import (
    Network,
    best_actions,
    compiled,
    draw_legal_actions,
    initialised,
    log_probabilities,
    padded,
    probabilities,
)
from cardai.evaluators.policies.policy import Policy, load
from cardai.files.tensors import undigested
from cardai.guests.exact.grade import grade
from cardai.guests.exact.solution import solve
from cardai.playing.agents.actions import draw_actions
from cardai.playing.agents.spec import agent
from cardai.playing.table.many import play

TICTACTOE = cardai.load("tictactoe")
TINY = ppo.PpoConfig(games=60, step_games=20, batch_games=10, shared=8, hidden=8)
BRIEF = nfsp.NfspConfig((8,), policy_rate=0.1, value_rate=0.1, epochs=2, epoch_games=60, round_games=30, batch=16)


def policy_of(game=TICTACTOE, seed=0, hidden=(8,)):
    encoder = DecisionEncoder(game, 2)
    network = initialised(lambda: Network(encoder.width, hidden, encoder.actions), seed)
    return Policy.of(encoder, network, game.default_variant)


@pytest.mark.parametrize("game", [TICTACTOE, kuhn.GAME], ids=lambda game: game.name)
def test_encoded_decisions_agree_with_encode_and_moves_of_the_game(game):
    states, encoder = [], DecisionEncoder(game, 2)
    for seed in range(20):
        state, stream = game.new(seed=seed), np.random.default_rng(seed)
        while state["turn"] >= 0:
            states.append(state)
            state = game.play(state, stream.choice(game.moves(state)))
    rows, places = encoder.encode(np.array(states, game.state))
    for state, row, places_of_actions in zip(states, rows, places, strict=True):
        if len(game.moves(state)) > 1:  # the others are not encoded
            assert row.tolist() == game.encode(state, int(state["turn"])).tolist()
        legal = {tuple(move.tolist()): game.learning.actions[tuple(move.tolist())] for move in game.moves(state)}
        legal_places = np.flatnonzero(places_of_actions)
        encoded = {tuple(encoder.moves[places_of_actions[number] - 1].tolist()): number for number in legal_places}
        assert encoded == legal


def test_trajectories_hold_what_each_seat_saw_did_and_scored():
    game, lineups = kuhn.GAME, np.array([[0, 1], [1, 0]] * 20)
    seeds = np.arange(40, dtype=np.uint64)
    agents = [agent(game, "random"), agent(game, "honest")]
    trajectories = play_trajectories(DecisionEncoder(game, 2), agents, lineups, seeds)
    results = play(game, agents, lineups, seeds, record=True)
    assert trajectories is not None
    expected = []
    for index, moves in enumerate(results.moves):
        state, lines = game.new(seed=index), [[], []]
        for move in moves if moves is not None else ():
            seat = int(state["turn"])
            row = game.encode(state, seat).tolist()
            lines[seat].append((row, int(move["bets"]), results.scores[index, seat], index, lineups[index, seat]))
            state = game.play(state, move)
        expected += [(*line, line is of_seat[-1]) for of_seat in lines for line in of_seat]
    columns = (
        trajectories.rows.tolist(), trajectories.actions, trajectories.scores, trajectories.games,
        trajectories.players, trajectories.last,
    )  # fmt: skip
    assert list(zip(*columns, strict=True)) == expected
    assert trajectories.masks.all()


def test_forced_moves_can_be_left_out():
    agents, lineups, seeds = [agent(TICTACTOE, "random")], np.zeros((30, 2), np.int64), np.arange(30, dtype=np.uint64)
    encoder = DecisionEncoder(TICTACTOE, 2)
    every, choices = (play_trajectories(encoder, agents, lineups, seeds, None, only) for only in (False, True))
    assert every is not None
    assert choices is not None
    chosen = every.masks.sum(axis=1) > 1
    assert 0 < chosen.sum() < len(every)
    for name in ("rows", "masks", "actions", "scores", "games"):
        assert np.array_equal(getattr(choices, name), getattr(every, name)[chosen])
    lasts = [(trajectory, last) for trajectory, last in zip(choices.games, choices.last, strict=True) if last]
    assert len(lasts) == 60  # one for each seat of each game


def test_a_game_that_does_not_number_its_moves_is_refused():
    with pytest.raises(CardaiError, match="low_hand does not number its moves"):
        ppo.train(small_game.GAME, TINY)
    with pytest.raises(CardaiError, match="without gaps"):
        DecisionEncoder(kuhn.GAME.changed(actions={(0,): 0, (1,): 2}), 2)
    some = kuhn.GAME.changed(name="some", actions={(0,): 0})
    with pytest.raises(CardaiError, match=r"some: actions has no number for the legal move \(1,\)"):
        DecisionEncoder(some, 2).encode(np.array([some.new()], some.state))
    with pytest.raises(CardaiError, match="no number for the legal move"):
        play_trajectories(
            DecisionEncoder(some, 2), [agent(some, "random")], np.zeros((3, 2), int), np.arange(3, dtype=np.uint64)
        )


MASKS = st.lists(st.booleans(), min_size=5, max_size=5).filter(any)
LOGITS = st.lists(st.floats(-80, 80, width=32), min_size=5, max_size=5)
LOGS = jax.jit(log_probabilities)
UNIFORMS = st.floats(0, 1, exclude_max=True) | st.just(1 - 2.0**-53)


@settings(deadline=None)
@given(MASKS, LOGITS, UNIFORMS)
def test_an_illegal_action_has_probability_zero_and_is_never_selected(mask, logits, uniform):
    masks, values, uniforms = np.array([mask]), np.array([logits], np.float32), np.array([uniform])
    chances = probabilities(values, masks)
    assert (chances[~masks] == 0).all()
    assert chances.sum() == pytest.approx(1)
    assert (np.exp(np.asarray(LOGS(values, masks)))[~masks] == 0).all()
    for actions in (
        draw_actions(chances, uniforms), draw_legal_actions(masks, uniforms), best_actions(values, masks)
    ):  # fmt: skip
        assert masks[0, actions[0]]


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 6), st.floats(0, 1)), min_size=1, max_size=4),
    st.floats(0, 1), st.floats(0, 1), st.integers(0, 1000),
)  # fmt: skip
def test_advantages_are_the_discounted_sums_of_the_textbook(trajectories, discount, trace, seed):
    """Schulman et al. 2016, eq. 16: the advantage at t is the sum over l of (discount trace)^l delta(t + l)."""
    lengths, scores = zip(*trajectories, strict=True)
    values = np.random.default_rng(seed).random(sum(lengths))
    rewards, last, expected = np.zeros(sum(lengths)), np.zeros(sum(lengths), bool), []
    first = 0
    for length, score in zip(lengths, scores, strict=True):
        rewards[first + length - 1], last[first + length - 1] = score, True
        ahead = [*values[first : first + length], 0.0]
        deltas = [rewards[first + t] + discount * ahead[t + 1] - ahead[t] for t in range(length)]
        expected += [sum((discount * trace) ** k * delta for k, delta in enumerate(deltas[t:])) for t in range(length)]
        first += length
    advantages = np.zeros(len(values))
    ppo.trace_back(values, rewards, last, discount, trace, advantages)
    assert advantages == pytest.approx(np.array(expected), abs=1e-12)


def ppo_batch(stream, rows=6, actions=4):
    masks = stream.random((rows, actions)) < 0.6
    taken = stream.integers(actions, size=rows)
    masks[np.arange(rows), taken] = True
    return {
        "masks": masks,
        "actions": taken.astype(np.int32),
        "taken": np.log(stream.random(rows)).astype(np.float32),
        "advantages": stream.standard_normal(rows).astype(np.float32),
        "returns": stream.random(rows).astype(np.float32),
        "weights": np.ones(rows, np.float32),
    }


def test_the_loss_is_that_of_the_paper_and_padding_does_not_change_it():
    stream = np.random.default_rng(3)
    batch = ppo_batch(stream)
    logits, values = stream.standard_normal((6, 4)).astype(np.float32), stream.random(6).astype(np.float32)
    config = ppo.PpoConfig(value_weight=0.7, entropy_weight=0.03)
    chances = probabilities(logits, batch["masks"])
    ratio = chances[np.arange(6), batch["actions"]] / np.exp(batch["taken"])
    advantages = (batch["advantages"] - batch["advantages"].mean()) / batch["advantages"].std()
    gain = np.minimum(ratio * advantages, np.clip(ratio, 0.8, 1.2) * advantages).mean()
    error = 0.5 * np.square(values - batch["returns"]).mean()
    entropy = -np.where(chances > 0, chances * np.log(np.where(chances > 0, chances, 1)), 0).sum(axis=1).mean()
    expected = -gain + 0.7 * error - 0.03 * entropy
    loss = jax.jit(ppo.loss_of, static_argnums=3)(logits, values, batch, config)
    assert float(loss) == pytest.approx(expected, rel=1e-5)
    padded_batch = {name: padded(column, 9) for name, column in batch.items()}
    loss_and_gradient = jax.jit(jax.value_and_grad(ppo.loss_of), static_argnums=3)
    loss, gradient = loss_and_gradient(padded(logits, 9), padded(values, 9), padded_batch, config)
    assert float(loss) == pytest.approx(expected, rel=1e-5)
    chex.assert_tree_all_finite(gradient)
    assert (np.asarray(gradient)[~padded_batch["masks"]] == 0).all()


def test_a_ratio_beyond_the_clip_has_no_gradient():
    batch = {
        "masks": np.ones((2, 2), bool),
        "actions": np.array([0, 0], np.int32),
        "taken": np.log([0.2, 0.5]).astype(np.float32),
        "advantages": np.array([1, -1], np.float32),
        "returns": np.zeros(2, np.float32),
        "weights": np.ones(2, np.float32),
    }
    config = ppo.PpoConfig(entropy_weight=0.0)
    gradient = jax.jit(jax.grad(ppo.loss_of), static_argnums=3)(jnp.zeros((2, 2)), jnp.zeros(2), batch, config)
    assert (np.asarray(gradient)[0] == 0).all()  # the ratio 0.5 / 0.2 is over 1.2, and the advantage is positive
    assert (np.asarray(gradient)[1] != 0).all()


def test_the_target_of_an_action_is_the_score_or_the_older_value_of_the_best_legal_action():
    following = jnp.array([[0.3, 0.9, 0.5], [0.3, 0.9, 0.5]])
    older = jnp.array([[0.8, 0.7, 0.6], [0.8, 0.7, 0.6]])
    masks = jnp.array([[True, False, True], [True, True, True]])
    target = nfsp.target_of(following, older, masks, jnp.array([0.0, 0.25]), jnp.array([False, True]))
    assert target.tolist() == pytest.approx([0.6, 0.25])


def test_no_target_is_outside_the_scores():
    values, masks = jnp.array([[1.5, 0.2], [-0.5, -0.7]]), jnp.ones((2, 2), bool)
    target = nfsp.target_of(values, values, masks, jnp.zeros(2), jnp.zeros(2, bool))
    assert target.tolist() == [1.0, 0.0]


def test_targets_look_some_decisions_ahead_but_not_into_another_trajectory():
    last = np.array([False, False, False, True, True, False, True])
    for steps, following, ends in (
        (1, [1, 2, 3, 3, 4, 6, 6], [False, False, False, True, True, False, True]),
        (2, [2, 3, 3, 3, 4, 6, 6], [False, False, True, True, True, True, True]),
        (9, [3, 3, 3, 3, 4, 6, 6], [True] * 7),
    ):
        ahead, over = nfsp.steps_ahead(last, steps)
        assert (ahead.tolist(), over.tolist()) == (following, ends)
    assert [len(part) for part in nfsp.steps_ahead(np.zeros(0, bool), 3)] == [0, 0]


def test_a_circular_buffer_holds_the_latest_items():
    memory = CircularBuffer(5)
    for first, end in ((0, 3), (3, 4), (4, 11), (11, 13)):
        memory.add(number=np.arange(first, end), twice=2 * np.arange(first, end))
        assert sorted(memory.columns["number"][: len(memory)]) == list(range(max(0, end - 5), end))
    assert (memory.columns["twice"] == 2 * memory.columns["number"]).all()


def test_a_reservoir_keeps_every_item_as_likely_as_any_other():
    kept, runs, size, total = np.zeros(40), 4000, 10, 40
    stream = np.random.default_rng(7)
    for _ in range(runs):
        memory = ReservoirBuffer(size, stream)
        cuts = np.sort(stream.integers(0, total + 1, size=3)).tolist()
        for first, end in zip([0, *cuts], [*cuts, total], strict=True):
            memory.add(number=np.arange(first, end))
        held = memory.columns["number"]
        assert len(memory) == size
        assert len({*held.tolist()}) == size
        kept[held] += 1
    spread = np.sqrt(runs * 0.25 * 0.75)
    assert np.abs(kept - runs / 4).max() < 4.5 * spread
    assert np.square((kept - runs / 4) / spread).mean() < 2


def test_a_policy_plays_legal_moves_and_draws_them_by_its_probabilities():
    policy, count = policy_of(), 4000
    seeds = np.arange(count, dtype=np.uint64)
    results = play(TICTACTOE, [policy.agent()], np.zeros((count, 2), int), seeds, record=True)
    first = np.array([moves["cell"][0] for moves in results.moves if moves is not None])
    rows, places = DecisionEncoder(TICTACTOE, 2).encode(np.array([TICTACTOE.new()], TICTACTOE.state))
    chances = policy.probabilities(rows, places > 0)[0]
    shares = np.bincount(first, minlength=9) / count
    assert np.abs(shares - chances).max() < 5 * np.sqrt(0.25 / count)
    assert policy.agent(greedy=True).strategy.function is not None
    assert grade(solve(TICTACTOE), policy.agent(greedy=True)).luck == "none"
    greedy = play(TICTACTOE, [policy.agent(greedy=True)], np.zeros((5, 2), int), seeds[:5], record=True)
    assert {int(moves["cell"][0]) for moves in greedy.moves if moves is not None} == {int(chances.argmax())}


def test_a_game_does_not_depend_on_other_games_played_at_once():
    policy, seeds = policy_of(hidden=(16,)), np.arange(50, dtype=np.uint64)
    together = play(TICTACTOE, [policy.agent()], np.zeros((50, 2), int), seeds, record=True)
    alone = play(TICTACTOE, [policy.agent()], np.zeros((1, 2), int), seeds[17:18], record=True)
    assert together.moves[17].tolist() == alone.moves[0].tolist()


def test_a_policy_does_not_see_hidden_cards():
    policy = policy_of(kuhn.GAME)
    choose = policy.agent().strategy.function
    assert choose is not None
    for card in range(kuhn.CARDS):
        worlds = np.array([kuhn.state_at(card, "p")] * 2, kuhn.STATE)
        worlds["cards"][1, 0] = (card + 2) % kuhn.CARDS
        worlds["left"][1] = 1 << (card + 1) % kuhn.CARDS
        assert worlds["cards"][0].tolist() != worlds["cards"][1].tolist()
        for bits in range(0, 2**64, 2**58):
            worlds["rng"] = bits
            first, second = choose(kuhn.GAME, worlds)
            assert first == second


def test_the_best_response_explores_as_often_as_epsilon_says():
    table = training.TrainingTable(kuhn.GAME, 0, None, None, None)
    algorithm = nfsp.Nfsp(table, BRIEF, 0)
    algorithm.epsilon = 0.5
    rows, places = table.encoder.encode(np.array([kuhn.state_at(0, "")] * 1000, kuhn.STATE))
    actions = algorithm._respond(rows, places > 0, (np.arange(1000) + 0.5) / 1000)
    assert sorted(np.bincount(actions, minlength=2).tolist()) == [250, 750]


@pytest.mark.parametrize("greedy", [False, True])
def test_a_policy_file_is_an_agent(tmp_path, greedy):
    policy = policy_of(seed=4)
    policy.save(tmp_path / "mine.safetensors")
    spec = f"policy:{tmp_path / 'mine.safetensors'}" + ("?greedy" if greedy else "")
    read = cardai.agent(TICTACTOE, spec)
    assert read.spec == spec
    seeds, lineups = np.arange(30, dtype=np.uint64), np.zeros((30, 2), int)
    expected = play(TICTACTOE, [policy.agent(greedy)], lineups, seeds)
    assert play(TICTACTOE, [read], lineups, seeds).scores.tolist() == expected.scores.tolist()
    assert load(tmp_path / "mine.safetensors").metadata == policy.metadata


def test_a_policy_that_comes_with_cardai_is_listed_and_has_a_name(tmp_path, monkeypatch):
    from cardai.evaluators.policies import named
    from cardai.files.named import noted
    from cardai.playing.agents.spec import list_specs

    monkeypatch.setattr(named, "SHIPPED", tmp_path)
    assert not [spec for spec in list_specs(kuhn.GAME) if spec.startswith("policy:")]
    (tmp_path / "kuhn").mkdir()
    ppo.train(kuhn.GAME, TINY).save(tmp_path / "kuhn/tiny.safetensors")
    assert "policy:tiny?greedy" in list_specs(kuhn.GAME)
    with noted() as files:
        agent(kuhn.GAME, "policy:tiny?greedy")
    assert files == {"policy:tiny": tmp_path / "kuhn/tiny.safetensors"}
    with pytest.raises(CardaiError, match="tiny"):
        agent(TICTACTOE, "policy:tiny")


def test_other_options_of_the_spec_are_refused(tmp_path):
    policy_of().save(tmp_path / "mine.safetensors")
    with pytest.raises(CardaiError, match="takes no option 'worlds'"):
        cardai.agent(TICTACTOE, f"policy:{tmp_path / 'mine.safetensors'}?worlds=3")
    with pytest.raises(CardaiError, match="'greedy' takes no value"):
        cardai.agent(TICTACTOE, f"policy:{tmp_path / 'mine.safetensors'}?greedy=1")
    with pytest.raises(CardaiError, match=r"cannot read .*none\.safetensors"):
        cardai.agent(TICTACTOE, f"policy:{tmp_path / 'none.safetensors'}")


def test_a_policy_refuses_what_it_was_not_made_for():
    policy = policy_of()
    policy.check_fits(TICTACTOE, "standard", 2)

    def other(**changes):
        return TICTACTOE.changed(**changes)

    layout = TICTACTOE.learning.encoders["planes"].layout
    renamed = dataclasses.replace(TICTACTOE.learning.encoders["planes"], layout=lambda seats: layout(seats)[::-1])
    for game, why in (
        (kuhn.GAME, "a policy of tictactoe, not of kuhn"),
        (other(version=2), "version 1; here it is version 2"),
        (other(encoders={"rows": TICTACTOE.learning.encoders["planes"]}), "needs the encoder 'planes'"),
        (other(encoders={"planes": renamed}), "made for another encoder 'planes'"),
        (other(actions={(cell,): 8 - cell for cell in range(9)}), "other numbers of the moves"),
        (other(variants={"small": {}}), "variant 'standard'"),
    ):
        with pytest.raises(CardaiError, match=why):
            policy.agent().check_fits(game, None, 2)
    policy.agent(any_variant=True).check_fits(other(variants={"small": {}}), None, 2)
    with pytest.raises(CardaiError, match="a policy of tictactoe, not of kuhn"):
        play(kuhn.GAME, [policy.agent()], np.zeros((1, 2), int), np.zeros(1, np.uint64))


def test_a_damaged_file_is_refused_by_name(tmp_path):
    place = tmp_path / "mine.safetensors"
    policy_of().save(place)
    whole = undigested(place.read_bytes())
    metadata = json.loads(json.loads(whole[8 : 8 + int.from_bytes(whole[:8], "little")])["__metadata__"]["cardai"])
    tensors = tensors_of(whole)

    def with_metadata(**changes):
        return bytes_of(tensors, {"cardai": json.dumps(metadata | changes)})

    assert load(place).metadata.hidden == (8,)
    for content, why in (
        (whole, "its metadata have no digest"),
        (with_metadata(format="cardai model 1"), "its format is 'cardai model 1'"),
        (with_metadata(hidden=[8, 8]), "lacks the tensor layers.1.bias"),
        (with_metadata(hidden=[0]), "hidden must be 0 to 64 numbers"),
        (with_metadata(actions=4), r"output.bias is F32 \[9\], it should be F32 \[4\]"),
        (with_metadata(actions=0), "actions must be 1 to"),
        (with_metadata(width=10**9), "width must be 1 to"),
    ):
        place.write_bytes(content)
        with pytest.raises(CardaiError, match=why) as error:
            load(place)
        assert str(place) in str(error.value)


def weights_of(policy):
    return policy._weights


def test_rows_of_any_number_take_few_compiled_programs():
    chex.clear_trace_counter()
    run = compiled(chex.assert_max_traces(lambda weights, rows: weights * rows.astype(jnp.float32), n=7))
    for count in (0, 1, 63, 64, 65, 100, 200, 300, 600, 1100, 3000, 4096, 5000, 9000):  # sizes: 64, 128, ..., 4096
        assert run(2.0, np.ones((count, 3), np.uint8)).tolist() == [[2.0] * 3] * count


def test_the_update_of_nfsp_is_traced_once(monkeypatch):
    chex.clear_trace_counter()
    monkeypatch.setattr(nfsp.CompiledNfsp, "_update", chex.assert_max_traces(nfsp.CompiledNfsp._update, n=1))
    config = dataclasses.replace(BRIEF, batch=17)  # programs of other tests are not used again
    policy = nfsp.train(kuhn.GAME, config, seed=1)
    assert "value_loss" in policy.metadata.metrics


def test_the_update_of_ppo_is_traced_once_for_each_padded_size(monkeypatch):
    chex.clear_trace_counter()
    monkeypatch.setattr(ppo.CompiledPpo, "_update", chex.assert_max_traces(ppo.CompiledPpo._update, n=1))
    config = dataclasses.replace(TINY, batch_games=9)  # at most 27 decisions, padded to 64
    policy = ppo.train(kuhn.GAME, config, seed=1)
    assert "loss" in policy.metadata.metrics


@pytest.mark.parametrize(("module", "config"), [(ppo, TINY), (nfsp, BRIEF)], ids=["ppo", "nfsp"])
def test_the_seed_decides_what_is_learned(module, config):
    first, again, other = (module.train(kuhn.GAME, config, seed=seed) for seed in (1, 1, 2))
    chex.assert_trees_all_equal(weights_of(first), weights_of(again))
    with pytest.raises(AssertionError, match="not exactly equal"):
        chex.assert_trees_all_equal(weights_of(first), weights_of(other))
    assert first.metadata.metrics["games"] == (config.games if module is ppo else 120)
    assert first.metadata.metrics == again.metadata.metrics


@pytest.mark.parametrize(("module", "config", "step"), [(ppo, TINY, 20), (nfsp, BRIEF, 30)], ids=["ppo", "nfsp"])
def test_ctrl_c_leaves_what_was_learned_so_far(module, config, step, monkeypatch):
    seen = []

    def stop(done, total):
        seen.append((done, total))
        if len(seen) == 2:
            raise KeyboardInterrupt

    policy = module.train(kuhn.GAME, config, seed=1, progress=stop)
    assert policy.metadata.metrics["games"] == 2 * step == seen[-1][0]
    assert seen[-1][1] == (60 if module is ppo else 120)

    calls = []

    def interrupted(*arguments):
        calls.append(1)
        return play_trajectories(*arguments) if len(calls) < 3 else None

    monkeypatch.setattr(training, "play_trajectories", interrupted)
    again = module.train(kuhn.GAME, config, seed=1)
    chex.assert_trees_all_equal(weights_of(policy), weights_of(again))


def test_a_loss_that_is_not_finite_stops_the_training():
    wild = dataclasses.replace(BRIEF, value_rate=10.0, updates=200, hidden=(64, 64, 64), epochs=20)
    with pytest.raises(CardaiError, match="training has diverged"):
        nfsp.train(TICTACTOE, wild, seed=1)


def test_impossible_settings_are_refused():
    with pytest.raises(CardaiError, match="hidden must be numbers from 1"):
        dataclasses.replace(nfsp.DEEP, hidden=(0,))
    with pytest.raises(CardaiError, match="there is no agent 'nobody'"):
        ppo.train(kuhn.GAME, dataclasses.replace(TINY, opponent="nobody"))


def test_lessons_need_a_teacher():
    for lonely in ({"lessons": 5}, {"teacher": "random"}):
        with pytest.raises(CardaiError, match="lessons need a teacher, and a teacher needs lessons"):
            ppo.PpoConfig(**lonely)


def test_lessons_are_the_teachers_games_and_come_first():
    config = dataclasses.replace(TINY, teacher="honest", opponent="random", lessons=30, lesson_games=20)
    algorithm = ppo.Ppo(training.TrainingTable(kuhn.GAME, 1, None, None, None), config, 1)
    assert list(algorithm.rounds()) == [20, 20, 20, 20, 20]
    assert algorithm.games == 100
    assert [member.spec for member in algorithm.agents] == ["learner", "honest", "random"]
    assert algorithm.trained == 2
    assert algorithm.lineups(20, 2).tolist() == [[1, 1], [1, 1]]
    assert sorted(algorithm.lineups(40, 2).tolist()) == [[0, 2], [2, 0]]


def test_a_network_that_learns_against_an_opponent_has_one_side_at_a_time():
    game = pairs.GAME.changed(actions={(card,): card for card in range(pairs.CARDS)})
    table = training.TrainingTable(game, 0, None, None, None)
    learner = ppo.Ppo(table, dataclasses.replace(TINY, opponent="high"), 0)
    assert learner.lineups(1, 3).tolist() == [[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]
