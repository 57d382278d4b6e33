"""Training: what a run leaves behind, that it goes on to the same bits, and that it refuses what does not fit."""

import dataclasses
import errno
import json
import os
import signal
import sys

import chex
import jax
import numpy as np
import pytest

from cardai.errors import CardaiError
from cardai.evaluators.bodies.build import build
from cardai.evaluators.model import load as load_model
from cardai.evaluators.model import read_metadata
from cardai.evaluators.network_file import tensors_of
from cardai.evaluators.training import checkpoint, job, run_folder, run_log, show_training, start, verbs
from cardai.evaluators.training.batches import collect, epoch_order, in_advance
from cardai.evaluators.training.config import TrainConfig
from cardai.evaluators.training.defaults import completed
from cardai.evaluators.training.metrics import measure
from cardai.evaluators.training.rows_on_device import RowsOnDevice
from cardai.evaluators.training.train import train
from cardai.evaluators.training.trainer import Trainer, TrainState, learning_rate, named_arrays, tree_from
from cardai.files import settings
from cardai.files.writing import held
from cardai.measure.bench import run_match
from cardai.records.packed import PackedRows, pack
from cardai.records.split import split
from cardai.registry import load


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    folder = tmp_path_factory.mktemp("games")
    run_match(load("tictactoe"), ["random", "random"], 1200, seed=3, rotate=False, record=folder / "ttt.jsonl")
    return folder


@pytest.fixture
def config(games, tmp_path):
    def made(**fields):
        usual = {
            "game": "tictactoe",
            "data": (str(games),),
            "out": str(tmp_path / "run"),
            "options": {"hidden": [16, 8], "dropout": 0.1},
            "batch": 256,
            "epochs": 3,
            "parts": (0.8, 0.1, 0.1),
            "device": "cpu",
            "threads": 1,
        }
        return TrainConfig(**{**usual, **fields})

    return made


def test_a_label_that_the_game_does_not_have_leaves_no_folder(config, tmp_path):
    with pytest.raises(CardaiError, match="label 'moon'"):
        train(config(label="moon"))
    assert not (tmp_path / "run").exists()


def kept(folder):
    """The newest checkpoint's arrays, as bytes, and the model's."""
    newest = checkpoint.load(checkpoint.listed(folder)[-1], {})
    return {name: value.tobytes() for name, value in newest.tensors.items()}


def history(folder):
    return [json.loads(line) for line in (folder / run_folder.HISTORY).read_text().splitlines()]


def test_a_run_learns_and_leaves_everything_in_its_folder(config, tmp_path):
    result = train(config(epochs=8, batch=64, learning_rate=3e-3, options={"hidden": [32, 16]}))
    show_training.draw(result)
    names = {place.name for place in (tmp_path / "run").iterdir()}
    assert {"config.toml", "metrics.jsonl", "tb", "model.safetensors", "report.json"} <= names
    assert {"losses.png", "reliability.png"} <= names
    assert not [name for name in names if name.endswith(".part")]
    assert any((tmp_path / "run" / "tb").iterdir())
    lines = history(tmp_path / "run")
    assert [line["epoch"] for line in lines] == list(range(1, 9))
    assert lines[-1]["loss"] < lines[0]["loss"]
    assert result.validation is not None
    assert result.validation.bce < result.validation.floor - 0.005
    assert result.validation.bce == min(line["validation"]["bce"] for line in lines)
    assert result.report["test"]["split"]["bce"] < result.report["test"]["split"]["floor"]
    assert result.report["test"]["balanced"]["prior"] == pytest.approx(0.5)
    assert json.loads((tmp_path / "run" / "report.json").read_text()) == result.report
    assert settings.read(TrainConfig, tmp_path / "run" / "config.toml") == config(
        epochs=8, batch=64, learning_rate=3e-3, options={"hidden": [32, 16]}
    )
    assert show_training.table(result).row_count >= 3
    json.dumps(result.as_json())


HARD = {"ema": 0.9, "optimiser": "adamw", "weight_decay": 0.01, "clip": 1.0, "check_steps": 5, "warm_up": 3}


def interrupted(config, at):
    """Run until step `at`, then as if Ctrl-C were pressed."""

    def press(done, total, words):
        if "loss" in words and done >= at:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(config, progress=press)


@pytest.fixture
def chatty(monkeypatch):
    """Progress is told after every step."""
    monkeypatch.setattr(run_log, "_SHOW_SECONDS", 0.0)


def test_an_interrupted_run_goes_on_to_the_same_bits(config, tmp_path, chatty):
    whole, parts = config(out=str(tmp_path / "whole"), **HARD), config(out=str(tmp_path / "parts"), **HARD)
    train(whole)
    for at in (3, 9, 10, 20):
        interrupted(parts, at)
        assert checkpoint.listed(tmp_path / "parts")[-1].name == f"checkpoint-{at:09d}.safetensors"
    result = train(parts)
    assert kept(tmp_path / "parts") == kept(tmp_path / "whole")
    assert [line["step"] for line in history(tmp_path / "parts")] == [
        line["step"] for line in history(tmp_path / "whole")
    ]
    for one, other in zip(history(tmp_path / "parts"), history(tmp_path / "whole"), strict=True):
        assert (one["loss"], one["validation"]) == (other["loss"], other["validation"])
    assert result.report["test"] == json.loads((tmp_path / "whole" / "report.json").read_text())["test"]


def test_ending_a_run_twice_changes_nothing(config, tmp_path):
    first = train(config())
    before = kept(tmp_path / "run")
    again = train(config())
    assert (again.steps, again.best_step, again.report) == (first.steps, first.best_step, first.report)
    assert kept(tmp_path / "run") == before


def test_a_seed_decides_everything(config, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        train(config(out=str(tmp_path / name), seed=seed, epochs=1))
    assert kept(tmp_path / "a") == kept(tmp_path / "b")
    assert kept(tmp_path / "a") != kept(tmp_path / "c")


def test_rows_kept_on_a_device_give_the_same_bits(config, tmp_path, monkeypatch):
    train(config())
    batches = []

    def noted(self, states, gathered=RowsOnDevice.__call__):
        batches.append(len(states))
        return gathered(self, states)

    monkeypatch.setattr(RowsOnDevice, "__call__", noted)
    monkeypatch.setattr(job, "fits", lambda dataset, device: True)
    train(config(out=str(tmp_path / "kept on it")))
    assert kept(tmp_path / "kept on it") == kept(tmp_path / "run")
    assert set(batches) == {256}


def test_rows_on_a_device_are_those_of_the_dataset(config):
    dataset = collect(config(), load("tictactoe"))
    wide = dataclasses.replace(dataset, packed=PackedRows(dataset.width))
    rows = np.random.default_rng(1).integers(0, 4, (len(dataset), dataset.width), np.uint8)
    rows[:, ::3] = np.minimum(rows[:, ::3], 1)  # columns that need a bit alone
    wide.packed.append(pack(rows[:50]))
    wide.packed.append(pack(rows[50:]))
    some = np.array([0, 49, 50, 3, len(dataset) - 1])
    found, labels = RowsOnDevice(wide, jax.devices("cpu")[0])(some)
    assert (np.asarray(found) == rows[some]).all()
    assert (np.asarray(labels) == dataset.labels[some]).all()
    assert not job.fits(wide, jax.devices("cpu")[0])  # where the host has them already


def test_a_full_disk_at_a_checkpoint_is_one_sentence_and_the_run_goes_on_later(config, tmp_path, monkeypatch):
    train(config(out=str(tmp_path / "whole"), checkpoint_minutes=0.0))
    running = config(checkpoint_minutes=0.0)
    saved = []

    def full(place, content):
        if "checkpoint" in place.name:
            saved.append(place)
            if len(saved) == 2:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written(place, content)

    written = checkpoint.write_whole
    monkeypatch.setattr(checkpoint, "write_whole", full)
    with pytest.raises(CardaiError, match=r"the disk is full; checkpoint-.* is kept") as caught:
        train(running)
    assert "\n" not in str(caught.value)
    assert len(checkpoint.listed(tmp_path / "run")) == 1
    monkeypatch.undo()
    train(running)
    assert kept(tmp_path / "run") == kept(tmp_path / "whole")


def test_a_folder_with_another_run_is_refused_unless_it_may_be_overwritten(config, tmp_path):
    train(config(epochs=1))
    with pytest.raises(
        CardaiError, match=r"holds another run, with learning_rate 0\.001, not 0\.01; choose another folder"
    ):
        train(config(epochs=1, learning_rate=0.01))
    result = train(config(epochs=1, learning_rate=0.01), overwrite=True)
    assert result.steps == history(tmp_path / "run")[-1]["step"]
    assert len(history(tmp_path / "run")) == 1


def test_a_folder_that_is_no_runs_is_left_alone(config, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.txt").write_text("mine")
    with pytest.raises(CardaiError, match=r"run is not a run's folder: it holds files but no config\.toml"):
        train(config(), overwrite=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(CardaiError, match=r"cannot write to .*file"):
        train(config(out=str(tmp_path / "file" / "run")))


def test_a_run_does_not_go_on_with_other_data(config, tmp_path, games, chatty):
    interrupted(config(), 3)
    run_match(load("tictactoe"), ["random", "random"], 600, seed=4, rotate=False, record=tmp_path / "other.jsonl")
    with pytest.raises(CardaiError, match="another run: its data is not this run's"):
        train(config(data=(str(tmp_path / "other.jsonl"),)))


def test_data_of_another_variant_is_refused(config, tmp_path):
    with pytest.raises(CardaiError, match="variant"):
        train(config(variant="wild", out=str(tmp_path / "wild")))


def test_too_little_data_is_said(config, tmp_path):
    with pytest.raises(CardaiError, match=r"batch 100000 is larger than the .* training states"):
        train(config(batch=100_000))
    run_match(load("tictactoe"), ["random", "random"], 12, seed=4, rotate=False, record=tmp_path / "few.jsonl")
    few = (str(tmp_path / "few.jsonl"),)
    with pytest.raises(CardaiError, match=r"the validation part is empty: .* 12 games"):
        train(config(data=few, batch=4, parts=(0.999, 0.0005, 0.0005), out=str(tmp_path / "few")))
    with pytest.raises(CardaiError, match="warm_up 500 must be shorter than the whole run"):
        train(config(warm_up=500, out=str(tmp_path / "warm")))


def test_patience_ends_a_run_and_the_best_is_kept(config, tmp_path):
    result = train(config(
        epochs=200, patience=3, learning_rate=0.03, schedule="constant", options={"hidden": [64, 64]}, limit=800
    ))  # fmt: skip
    assert result.stopped == "patience"
    lines = history(tmp_path / "run")
    losses = [line["validation"]["bce"] for line in lines]
    assert result.best_step == lines[int(np.argmin(losses))]["step"]
    assert int(np.argmin(losses)) == len(losses) - 4


def test_steps_and_minutes_end_a_run(config, tmp_path):
    by_steps = train(config(steps=7, check_steps=3))
    assert (by_steps.stopped, by_steps.steps) == ("steps", 7)
    assert [line["step"] for line in history(tmp_path / "run")] == [3, 6, 7]
    by_time = config(epochs=0, minutes=0.01, schedule="constant", out=str(tmp_path / "timed"))
    result = train(by_time)
    assert result.stopped == "minutes"
    assert result.steps > 0


def test_minutes_alone_plan_the_steps_of_a_falling_rate(config, tmp_path, monkeypatch, chatty):
    monkeypatch.setattr(start, "_PROBED_SECONDS", 0.05)
    timed = config(epochs=0, minutes=0.01)
    interrupted(timed, 3)
    planned = checkpoint.load(checkpoint.listed(tmp_path / "run")[-1], {}).status["planned"]
    assert planned > 3
    result = train(timed)
    assert (result.stopped, result.steps) == ("minutes", planned)
    assert history(tmp_path / "run")[-1]["learning_rate"] < 0.1 * timed.learning_rate
    again = config(epochs=0, steps=planned, out=str(tmp_path / "again"))
    train(again)
    assert kept(tmp_path / "again") == kept(tmp_path / "run")
    assert f"--steps {planned}" in read_metadata(result.model).command


def test_a_run_that_time_ended_goes_on_when_it_is_given_more(config):
    short = config(epochs=0, minutes=0.001, schedule="constant")
    first = train(short)
    again = train(dataclasses.replace(short, minutes=0.01 + first.seconds / 60))
    assert (first.stopped, again.stopped) == ("minutes", "minutes")
    assert again.steps > first.steps


def test_a_network_begins_with_the_weights_of_a_model(config, tmp_path):
    first = train(config(epochs=2))
    after = config(start_from=str(first.model), learning_rate=1e-12, epochs=1, out=str(tmp_path / "after"))
    result = train(after)
    for name, value in tensors_of(load_model(first.model).module).items():
        if name.endswith("kernel"):
            np.testing.assert_allclose(tensors_of(load_model(result.model).module)[name], value, atol=1e-6)
    with pytest.raises(CardaiError, match=r"cannot be started from: its body is mlp, this run's linear"):
        train(dataclasses.replace(after, body="linear", options={}, out=str(tmp_path / "linear")))


def test_a_model_of_a_run_scores_as_its_network_did(config):
    one = config(epochs=2)
    result = train(one)
    model, dataset = load_model(result.model), collect(one, load("tictactoe"))
    test = split(dataset, one.split_by, one.parts, one.seed)[2]
    scores = np.asarray(model.score(dataset.take(test)), float)
    found = measure(np.log(scores) - np.log1p(-scores), dataset.labels[test])
    assert found.bce == pytest.approx(result.report["test"]["split"]["bce"], abs=1e-5)
    assert (model.metadata.variant, model.metadata.seats, model.moment) == ("standard", 2, "before_draw")
    assert model.metadata.metrics == result.report
    assert model.metadata.data["states"] == len(dataset)


def test_two_processes_do_not_train_in_one_folder(config, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    with held(folder, "training"), pytest.raises(CardaiError, match=r"another process is training in .*run"):
        train(config())
    train(config(epochs=1))


def test_without_validation_the_last_weights_are_kept(config):
    result = train(config(parts=(1.0, 0.0, 0.0), epochs=1))
    assert result.validation is None
    assert result.best_step == result.steps
    assert "test" not in result.report


def test_training_that_diverges_ends_with_a_sentence(config, monkeypatch):
    calls = []

    def poisoned(self, rows):
        calls.append(rows)
        return mlp(self, rows) * jax.numpy.nan

    from cardai.evaluators.bodies.mlp import Mlp

    mlp = Mlp.__call__
    monkeypatch.setattr(Mlp, "__call__", poisoned)
    with pytest.raises(CardaiError, match="the loss is nan at step 1: training has diverged"):
        train(config())
    assert calls


def test_the_order_of_an_epoch_depends_on_seed_and_epoch_alone():
    states = np.arange(5, 1000, dtype=np.int32)
    first = epoch_order(3, 0, states)
    np.testing.assert_array_equal(first, epoch_order(3, 0, states))
    assert sorted(first) == list(states)
    assert (first != epoch_order(3, 1, states)).any()
    assert (first != epoch_order(4, 0, states)).any()


def test_work_in_advance_comes_in_order_stops_when_closed_and_passes_errors_on():
    started = []

    def work(item):
        started.append(item)
        if item == 7:
            raise ValueError("seven")
        return item * 10

    assert list(in_advance(work, range(5))) == [0, 10, 20, 30, 40]
    started.clear()
    some = in_advance(work, range(1000))
    assert next(some) == 0
    some.close()
    assert len(started) <= 4
    with pytest.raises(ValueError, match="seven"):
        list(in_advance(work, range(9)))


def trainer(**fields):
    plain = {"game": "tictactoe", "data": ("x",), "out": "x", "batch": 64, "options": {"hidden": [8], "dropout": 0.1}}
    config = TrainConfig(**{**plain, **fields})
    layout = load("tictactoe").encoder().layout(2)
    return Trainer(build("mlp", config.options, layout, 0), config, 100), sum(one.size for one in layout)


def batches(width, n=5):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (n, 64, width)).astype(np.uint8)
    return rows, rows[:, :, 0].astype(np.float32)


def test_a_step_is_traced_once_also_after_its_state_was_read_from_a_file():
    one, width = trainer()
    one.step = jax.jit(chex.assert_max_traces(one._step, n=1), donate_argnums=0)
    rows, labels = batches(width)
    state, _ = one.step(one.start(), rows[0], labels[0])
    tensors = {
        name: value
        for field in TrainState._fields
        for name, value in named_arrays(getattr(state, field), field).items()
    }
    again = TrainState(*[tree_from(getattr(state, field), tensors, field) for field in TrainState._fields])
    direct, _ = one.step(state, rows[1], labels[1])
    restored, _ = one.step(again, rows[1], labels[1])
    assert one.step._cache_size() == 1
    chex.assert_trees_all_equal(direct, restored)


def test_arrays_that_do_not_fit_the_network_are_refused_by_name():
    one, _ = trainer()
    tensors = named_arrays(one.start().params, "params")
    name = next(name for name in tensors if tensors[name].ndim == 2)
    with pytest.raises(CardaiError, match=f"{name} is missing"):
        tree_from(one.start().params, {key: value for key, value in tensors.items() if key != name}, "params")
    with pytest.raises(CardaiError, match=rf"{name} is float32\[1, 1\], it should be"):
        tree_from(one.start().params, tensors | {name: np.zeros((1, 1), np.float32)}, "params")


def test_the_average_follows_the_weights_and_is_what_is_judged():
    one, width = trainer(ema=0.5, learning_rate=0.1)
    rows, labels = batches(width)
    state = one.start()
    average = [np.asarray(leaf) for leaf in jax.tree.leaves(state.params)]
    for i in range(5):
        state, _ = one.step(state, rows[i], labels[i])
        kept = min(0.5, (1 + i) / (10 + i))
        average = [
            kept * old + (1 - kept) * np.asarray(new)
            for old, new in zip(average, jax.tree.leaves(state.params), strict=True)
        ]
    for found, wanted in zip(jax.tree.leaves(one.weights(state)[0]), average, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_weight_decay_shrinks_matrices_alone():
    one, width = trainer(optimiser="adamw", weight_decay=1.0, learning_rate=0.1, schedule="constant")
    other, _ = trainer(optimiser="adam", learning_rate=0.1, schedule="constant")
    rows, labels = batches(width)
    decayed, plain = (made.step(made.start(), rows[0], labels[0])[0].params for made in (one, other))
    for with_decay, without in zip(jax.tree.leaves(decayed), jax.tree.leaves(plain), strict=True):
        assert np.array_equal(with_decay, without) == (with_decay.ndim == 1)


def test_the_learning_rate_rises_and_falls_as_told():
    def rates(**fields):
        config = TrainConfig(game="x", data=("x",), out="x", learning_rate=1.0, **fields)
        return [float(learning_rate(config, 100)(step)) for step in range(101)]

    cosine = rates(warm_up=10, final_rate=0.1)
    assert cosine[0] == pytest.approx(1 / 11)
    assert np.argmax(cosine) == 10
    assert cosine[10] == pytest.approx(1.0)
    assert cosine[100] == pytest.approx(0.1)
    assert (np.diff(cosine[10:]) <= 0).all()
    assert set(rates(schedule="constant")) == {1.0}


def test_the_phases_of_a_game_are_told_apart(config, tmp_path):
    run_match(load("moska"), ["bot3", "bot2", "random", "random"], games=160, seed=3, record=tmp_path / "moska.jsonl")
    result = train(config(
        game="moska", data=(str(tmp_path / "moska.jsonl"),), encoder="bitmap", balance="loser", batch=128, epochs=2
    ))  # fmt: skip
    assert set(result.report["phases"]) == {"deck", "players left"}
    deck = result.report["phases"]["deck"]
    assert set(deck) == {"0", "1-20", "over 20"}
    assert sum(part["split"]["n"] for part in deck.values()) == result.report["states"]["test"]
    assert result.report["test"]["natural"]["prior"] == pytest.approx(0.75)


def test_ctrl_c_says_that_the_same_command_goes_on(config, tmp_path, monkeypatch, capsys):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["cardai.evaluators.training.train"], "train", stopped)
    settings.write(config(), tmp_path / "given.toml")
    assert verbs.train_network(tmp_path / "given.toml") == 130
    assert f"the same command goes on from what is kept in {tmp_path / 'run'}" in capsys.readouterr().err


def test_a_run_of_few_steps_warns_and_one_of_enough_does_not(config):
    warnings = []
    result = train(config(epochs=3), warn=warnings.append)
    assert result.steps < 500
    [sentence] = warnings
    assert f"this run has {result.steps} steps of 256 states, which is fewer than 500" in sentence
    train(config(epochs=3), overwrite=True)  # nobody asked
    train(config(steps=500, batch=16), overwrite=True, warn=warnings.append)
    assert len(warnings) == 1


def test_a_run_without_sizes_says_what_the_number_of_states_decided_and_goes_on(config):
    bare = config(options={}, batch=0, epochs=None, device="cpu", checkpoint_minutes=0.0)
    result = train(bare)
    states = result.report["states"]["training"]
    expected = completed(bare, states)
    assert result.report["body"] == {"name": "mlp", **expected.options}
    assert (result.report["batch"], result.report["epochs"]) == (expected.batch, expected.epochs)
    assert result.steps == expected.epochs * (states // expected.batch)
    metadata = read_metadata(result.model)
    assert metadata.body_options == expected.options
    assert f"--batch {expected.batch}" in metadata.command
    assert train(bare).steps == result.steps  # the folder is known by the same command
    further = train(config(options={}, batch=0, epochs=1, start_from=str(result.model), out=f"{bare.out}-further"))
    assert read_metadata(further.model).body_options == expected.options
