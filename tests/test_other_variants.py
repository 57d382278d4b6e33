"""A model in a variant that it was not trained on sees nothing there that it could not see in training."""

import dataclasses

import numpy as np
import pytest

import cardai
from cardai.errors import CardaiError
from cardai.evaluators.model import Model
from cardai.evaluators.policies.named import SHIPPED
from cardai.evaluators.policies.policy import load as load_policy
from cardai.measure.move_values import evaluated, positions
from cardai.playing.agents.adjusted import HeldEvaluator, ShiftedEvaluator
from cardai.playing.agents.evaluator import find_evaluator, known_evaluators, set_device
from cardai.playing.compiled import dense
from cardai.playing.table.asking import compare
from cardai.playing.table.cast import with_models
from cardai.records.own_games import constant_columns
from cardai.records.selfplay import simulate_here

HEARTS, MOSKA, DURAK = cardai.load("hearts"), cardai.load("moska"), cardai.load("durak")
LITERATURE = cardai.load("literature")
MODELS = [(game, name) for game in (HEARTS, MOSKA, DURAK) for name in known_evaluators(game)]


def decisions_of(game, variant, seats, count=3):
    """States before moves in a variant, STATE[n], and streams for an agent that is asked there."""
    states = []
    for one in simulate_here(game, {"random": 1.0}, count, seed=5, variant=variant, seats=seats):
        state = game.new(seats, one.seed, variant)
        for move in one.moves:
            states.append(state)
            state = game.play(state, move)
    return np.array(states, game.state), np.zeros(len(states), cardai.rules.STREAM)


@pytest.mark.parametrize(("game", "name"), MODELS, ids=lambda thing: getattr(thing, "name", thing))
def test_inputs_that_never_vary_in_own_games_are_those_of_the_training(game, name):
    """The record of the training is the running statistics of the inputs, which every shipped model of these has."""
    model = find_evaluator(game, name)
    own, variances = model.metadata, model.tensors["statistics.variance"]
    columns, values = constant_columns(game, own.variant, own.seats, own.encoder, own.moment)
    assert set(np.flatnonzero(variances < 1e-12)) <= set(columns)
    assert (variances[columns] < 1 / 30_000).all()
    np.testing.assert_allclose(model.tensors["statistics.mean"][columns], values, atol=1e-4)


@pytest.mark.parametrize("scorer", ["native", "jax"])
def test_hearts_best_plays_a_match_as_it_plays_a_round(scorer):
    """It won 0.5 % of such matches, as at random, while the totals of earlier rounds reached its weights."""
    set_device("cpu", scorer)
    try:
        table = ["greedy:best?any_variant", "careful", "careful", "careful"]
        report = cardai.match(HEARTS, table, games=60, variant="match", seed=3)
        assert report.rows[0].score.point > 20
    finally:
        set_device()


def test_a_search_and_its_models_are_asked_as_at_another_variant():
    table = [
        "ahead:best?any_variant&worlds=1&moves=2&others=(greedy:best?any_variant)",
        "careful",
        "careful",
        "careful",
    ]
    report = cardai.match(HEARTS, table, games=12, variant="match", seed=3)
    assert report.rows[0].score.point > 10
    there = cardai.agent(HEARTS, table[0]).at_table(HEARTS, HEARTS.options(4, "match"))
    models = [one.evaluator for one in with_models([there.strategy]) if one is not there.strategy]
    assert [type(model) for model in models] == [HeldEvaluator, HeldEvaluator]


@pytest.mark.parametrize(
    "spec", ["greedy:best?any_variant", "ahead:report2?any_variant", "endgame:(greedy:report2?any_variant)"]
)
def test_an_agent_at_a_table_of_its_own_variant_is_the_same_agent(spec):
    game, own, other = (DURAK, "report", "podkidnoy") if "report" in spec else (HEARTS, "standard", "match")
    seats = 2 if game is DURAK else 4
    player = cardai.agent(game, spec)
    assert player.at_table(game, game.options(seats, own)) is player
    there = player.at_table(game, game.options(seats, other))
    assert there is not player
    assert there.at_table(game, game.options(seats, other)) is there
    plain = cardai.agent(game, "greedy:best" if game is HEARTS else "greedy:report2")
    assert plain.at_table(game, game.options(seats, other)) is plain


def test_a_row_of_another_variant_is_judged_as_the_row_with_held_inputs_by_both_scorers():
    model = find_evaluator(HEARTS, "best")
    held = model.at_table(HEARTS, HEARTS.options(4, "match"))
    states, _ = decisions_of(HEARTS, "match", 4, 1)
    rows = np.array([HEARTS.encode(state, int(state["turn"]), "relative") for state in states[::5]])
    before, mended = rows.copy(), rows.copy()
    mended[:, held.columns] = held.values
    assert (rows != mended).any(axis=1).mean() > 0.9
    wanted = np.asarray(model.score(mended))
    np.testing.assert_array_equal(np.asarray(held.score(rows)), wanted)
    np.testing.assert_array_equal(rows, before)
    np.testing.assert_allclose(held.network.score(rows), wanted, atol=1e-5)
    assert np.abs(np.asarray(model.score(rows)) - wanted).max() > 0.1


def test_a_network_with_held_columns_and_a_shift_is_the_same_network_otherwise():
    rng, shapes = np.random.default_rng(2), ((9, 20), (20, 1))
    layers = [(0.2 * rng.normal(size=shape).astype("f4"), rng.normal(size=shape[1]).astype("f4")) for shape in shapes]
    network, rows = dense.network(layers), rng.integers(0, 4, (50, 9), dtype=np.uint8)
    columns, values = np.array([2, 7]), np.array([3, 1], np.uint8)
    mended = rows.copy()
    mended[:, columns] = values
    raw = network.score(mended)
    np.testing.assert_allclose(dense.holding(network, columns, values).score(rows), raw, atol=1e-5)
    odds = 2.5 * raw / (1 - raw.astype(float))
    np.testing.assert_allclose(dense.shifted(network, np.log(2.5)).score(mended), odds / (1 + odds), atol=1e-5)
    np.testing.assert_array_equal(network.score(mended), raw)


def test_advice_and_analysis_hold_inputs_as_play_does():
    player = cardai.agent(HEARTS, "greedy:best?any_variant")
    one = simulate_here(HEARTS, {"random": 1.0}, 1, seed=5, variant="match")[0]
    states, state = [], HEARTS.new(4, one.seed, "match")
    for move in one.moves:
        states.append(state)
        state = HEARTS.play(state, move)
    seen = positions(HEARTS, player, [*states, state], one.moves)[-40:-1]
    values = evaluated(HEARTS, player, seen)
    held = player.evaluator.at_table(HEARTS, HEARTS.options(4, "match"))
    rows = np.array([HEARTS.encode(each.worlds[0], each.seat, "relative") for each in seen])
    np.testing.assert_allclose([values[each.ply] for each in seen], held.score(rows), atol=1e-6)
    asked, streams = np.array(states[-60:-50], HEARTS.state), np.zeros(10, cardai.rules.STREAM)
    there = player.at_table(HEARTS, HEARTS.options(4, "match"))
    for (_, means), (_, wanted) in zip(
        compare(HEARTS, player, asked, streams)[0], compare(HEARTS, there, asked, streams.copy())[0], strict=True
    ):
        np.testing.assert_array_equal(means, wanted)


def test_a_policy_sees_what_it_could_see_in_training():
    policy = load_policy(SHIPPED / "literature/best.safetensors")
    states, _ = decisions_of(LITERATURE, "article", 4, 1)
    states = states[5:40]
    other = states.copy()
    other["wrong"], other["limit"] = 1, LITERATURE.variants["strict"]["limit"]
    plain, any_variant = policy.agent(greedy=True), policy.agent(greedy=True, any_variant=True)
    wanted, soft = plain.strategy.chances(LITERATURE, states), policy.agent().strategy.chances(LITERATURE, states)
    np.testing.assert_array_equal(any_variant.strategy.chances(LITERATURE, states), wanted)
    np.testing.assert_array_equal(any_variant.strategy.chances(LITERATURE, other), wanted)
    held = policy.agent(any_variant=True).strategy.chances(LITERATURE, other)
    np.testing.assert_allclose(held, soft, atol=1e-6)
    assert np.abs(policy.agent().strategy.chances(LITERATURE, other) - soft).max() > 1e-3
    chosen = any_variant.strategy.function(LITERATURE, other)
    np.testing.assert_array_equal(chosen, plain.strategy.function(LITERATURE, states))


def test_a_model_of_a_variant_that_is_no_more_plays_no_other_one():
    model = find_evaluator(HEARTS, "best")
    old = Model(dataclasses.replace(model.metadata, variant="older"), model.tensors, "old")
    with pytest.raises(
        CardaiError, match=r"old was trained on the variant 'older' \(passing=2, .*does not have any more"
    ):
        old.at_table(HEARTS, HEARTS.options(4, "match"))
    changed = Model(dataclasses.replace(model.metadata, options={"passing": 1}), model.tensors, "old")
    with pytest.raises(CardaiError, match="does not have any more"):
        changed.at_table(HEARTS, HEARTS.options(4, "standard"))


# Values as they come in play: models that were trained with a loser in every second state.


def predictions(name, specs, games=100):
    """A model's scores of the states in games on other deals, f8[n], and the scores at their ends."""
    from cardai.records.dataset import collect_games
    from cardai.records.recipe import Recipe

    model = find_evaluator(MOSKA, name)
    played = simulate_here(MOSKA, dict.fromkeys(specs, 1.0), games, seed=77, seats=4)
    found = collect_games(MOSKA, played, Recipe(model.encoder, model.moment))
    rows = [found.take(np.arange(i, min(i + 8192, len(found)))) for i in range(0, len(found), 8192)]
    return model, rows, found.labels


@pytest.mark.parametrize("name", ["best", "expert", "nn2"])
def test_shifted_values_say_how_often_the_end_comes(name):
    """Without the shift they are too low by 0.11 to 0.17."""
    model, rows, labels = predictions(name, ["bot3", "greedy:best"])
    shifted = ShiftedEvaluator(model, model.natural_shift(MOSKA))
    raw = np.concatenate([np.asarray(model.score(part)) for part in rows])
    said = np.concatenate([shifted.score(part) for part in rows])
    assert raw.mean() < labels.mean() - 0.09
    assert abs(said.mean() - labels.mean()) < 0.02
    native = np.concatenate([shifted.network.score(part) for part in rows])
    np.testing.assert_allclose(native, said, atol=1e-5)


@pytest.mark.parametrize(("game", "name"), [(DURAK, "report4"), (HEARTS, "best"), (cardai.load("tictactoe"), "mlp")])
def test_models_of_states_as_they_come_are_not_shifted(game, name):
    assert find_evaluator(game, name).natural_shift(game) == 0


def test_a_shift_is_known_for_every_label_that_its_training_balanced():
    best = find_evaluator(MOSKA, "best")

    def shift(label):
        data = {"recipe": {**best.metadata.data["recipe"], "label": label}}
        return Model(dataclasses.replace(best.metadata, data=data), best.tensors).natural_shift(MOSKA)

    assert shift("not_lost") == shift("win") == shift("score") > 0.8
    untold = Model(dataclasses.replace(best.metadata, data={}), best.tensors)
    assert untold.natural_shift(MOSKA) == 0
    expert = find_evaluator(MOSKA, "expert")  # its teacher's values were those of balanced data; later ones are not
    data = {**expert.metadata.data, "labels": "natural"}
    assert Model(dataclasses.replace(expert.metadata, data=data), expert.tensors).natural_shift(MOSKA) == 0


def test_a_search_weighs_ends_and_a_models_values_on_one_scale():
    """A game that ends in a world counts with its score; beside it the values of `best` were too low."""
    blank = MOSKA.options(4)
    there = cardai.agent(MOSKA, "ahead:best").at_table(MOSKA, blank).strategy
    shift = find_evaluator(MOSKA, "best").natural_shift(MOSKA)
    assert there.own.evaluator.shift == pytest.approx(shift)
    assert there.others.evaluator is find_evaluator(MOSKA, "best")  # the others only choose a move
    assert there.at_table(MOSKA, blank) is there
    for spec in ("rollout:8?by=(greedy:best)", "greedy:best", "sampled:nn2"):
        player = cardai.agent(MOSKA, spec)
        assert player.at_table(MOSKA, blank) is player
    durak = cardai.agent(DURAK, "ahead:report2")
    assert durak.at_table(DURAK, DURAK.options(2, "report")) is durak
