"""Generations: each step's result is in a file, a stopped run ends with the same ones, only the better are promoted."""

import dataclasses
import hashlib
import io
import json
import math
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console
from safetensors.numpy import load_file

import cardai
from cardai.cli.main import run
from cardai.errors import CardaiError
from cardai.evaluators.model import load as load_model
from cardai.evaluators.model import read_metadata
from cardai.evaluators.training import iterate as iteration
from cardai.evaluators.training import run_log
from cardai.evaluators.training.generations import Generation, IterateReport
from cardai.evaluators.training.iterate import Clock, IterateRun, default_pool, iterate
from cardai.evaluators.training.iterate_config import IterateConfig
from cardai.evaluators.training.iterate_folder import FIGURE, IterateFolder
from cardai.evaluators.training.show_generations import draw_strength, table
from cardai.files import settings
from cardai.measure.duel import Duel
from cardai.playing.stats.interval import Estimate
from cardai.records.record import read as games_of

TICTACTOE = cardai.load("tictactoe")
LEARNING = {
    "options": {"hidden": [32]}, "batch": 128, "epochs": 0, "steps": 60, "check_steps": 30, "learning_rate": 3e-3,
    "parts": (0.8, 0.1, 0.1),
}  # fmt: skip
SMALL = {
    "game": "tictactoe", "pool": ("random",), "games": 400, "training": LEARNING, "benchmark_games": 60,
    "most_benchmark_games": 120, "benchmark_epsilon": 0.1, "generations": 2, "seed": 5, "device": "cpu", "threads": 1,
}  # fmt: skip


def config(out="run", **fields):
    return IterateConfig(**{**SMALL, "out": str(out), **fields})


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run of two generations that nobody stopped: its folder and its report."""
    folder = tmp_path_factory.mktemp("iterate") / "whole"
    return folder, iterate(config(folder), draw=strength_into(folder))


def strength_into(folder):
    """Draws the strength of generations; figures of training are drawn in its own tests."""
    return lambda outcome: draw_strength(outcome, folder / FIGURE) if isinstance(outcome, IterateReport) else None


def kept(folder) -> dict:
    """What a run has left, by file; without seconds, logs of TensorBoard and what names the folder."""
    found = {}
    for file in sorted(folder.rglob("*")):
        name = str(file.relative_to(folder))
        if file.suffix == ".npz":
            found[name] = file.read_bytes()
        elif file.name.endswith(".jsonl.gz"):
            found[name] = [(one.seed, one.lineup, one.scores, one.moves.tolist()) for one in games_of(file)]
        elif file.name.startswith("checkpoint-") and file != max(file.parent.glob("checkpoint-*")):
            continue  # the one before the last depends on where the run was stopped
        elif file.suffix == ".safetensors":
            found[name] = {key: value.tobytes() for key, value in load_file(file).items()}
        elif file.name in ("games.json", "training.json", "benchmark.json", "history.jsonl"):
            found[name] = [timeless(json.loads(text), folder) for text in texts(file)]
        elif "tb" not in file.parts and file.is_file():
            found[name] = None
    return found


def texts(file) -> list[str]:
    return file.read_text().splitlines() if file.suffix == ".jsonl" else [file.read_text()]


def timeless(told, folder):
    told.pop("seconds", None)
    return json.loads(json.dumps(told).replace(str(folder), "RUN"))


def test_a_run_leaves_the_result_of_every_step_in_a_file(whole):
    folder, report = whole
    names = {str(file.relative_to(folder)) for file in folder.rglob("*") if "tb" not in file.parts}
    for place in ("generation-001", "generation-002"):
        for name in ("games.json", "training.json", "benchmark.json", "training/model.safetensors", "duel/0000.npz"):
            assert f"{place}/{name}" in names
    assert {"iterate.toml", "history.jsonl", "iterate.json", "strength.png"} <= names
    assert not [name for name in names if name.endswith(".part")]
    lines = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    assert [line["number"] for line in lines] == [1, 2]
    assert lines == [one.as_json() for one in report.generations]
    assert lines[0]["games"] == 400
    assert lines[0]["states"] == sum(
        len(one.moves) for one in games_of(*(folder / "generation-001/games").glob("*.gz"))
    )
    assert 0.4 < lines[0]["bce"]["validation"] < 0.8
    assert set(lines[0]["seconds"]) == {"games", "training", "benchmark"}
    assert settings.read(IterateConfig, folder / "iterate.toml") == config(folder)
    told = json.loads((folder / "iterate.json").read_text())
    assert (told["stopped"], told["reference"], told["champion"]) == ("generations", "random", report.champion)
    assert told["generations"] == lines


def test_the_folder_of_a_run_is_its_champion(whole):
    folder, report = whole
    assert report.generations[0].is_promoted  # random is easily beaten
    best = folder / f"generation-{report.champion:03d}/training/model.safetensors"
    for name in ("champion.safetensors", "model.safetensors"):
        assert (folder / name).read_bytes() == best.read_bytes()
    assert cardai.agent(TICTACTOE, report.model).evaluator is not None
    assert report.model == f"greedy:{folder}"


def test_a_model_learns_what_suits_the_kind_of_agent_and_from_all_games_of_the_window(whole):
    folder, report = whole
    facts = read_metadata(folder / "generation-002/training/model.safetensors")
    assert facts.moment == "before_draw"
    assert facts.data["games"] == 800
    assert facts.data["agents"]["random"] > 0
    first = str(folder / "generation-001/training/model.safetensors")
    assert facts.data["agents"][f"greedy:{first}"] > facts.data["agents"][f"greedy:{first}?epsilon=0.1"] > 0
    assert report.generations[1].learned > 1.7 * report.generations[0].learned
    assert config(kind="sampled").training["moment"] == "drawn"
    assert config(kind="peeking", training={"moment": "before_draw", "steps": 3}).training["moment"] == "before_draw"


def test_a_run_that_is_stopped_everywhere_ends_with_the_same_files(whole, tmp_path, monkeypatch):
    folder, _ = whole
    monkeypatch.setattr(run_log, "_SHOW_SECONDS", 0.0)
    running = config(tmp_path / "parts", training=LEARNING | {"checkpoint_minutes": 0.0})
    seen, stops = set(), []

    def stop_once(done, total, words):
        """Stop at the first word of each kind of work, and again in the middle of training."""
        key = (
            hashlib.blake2b(words.partition(", ")[0].encode()).digest()
            if "epoch" not in words
            else words[:13] + str(done)
        )
        if key not in seen and ("epoch" not in words or done in (25, 45)):
            seen.add(key)
            stops.append(words)
            raise KeyboardInterrupt

    while (report := iterate(running, stop_once, strength_into(tmp_path / "parts"))).interrupted:
        assert len(stops) < 30
    assert {words.split(": ")[1].split(" ")[0] for words in stops} >= {"simulating", "epoch", "against"}
    assert len(stops) >= 8
    assert report.stopped == "generations"
    first, second = kept(folder), kept(tmp_path / "parts")
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []


def test_a_run_that_has_ended_is_left_as_it_is_and_may_be_given_more(whole, tmp_path):
    folder = tmp_path / "moved"
    shutil.copytree(whole[0], folder)
    before = {
        file: file.stat().st_mtime_ns
        for file in folder.rglob("*")
        if file.name in ("champion.safetensors", "history.jsonl")
    }
    again = iterate(config(folder))
    assert again.generations == whole[1].generations
    assert {file: file.stat().st_mtime_ns for file in before} == before
    more = iterate(config(folder, generations=3))
    assert more.generations[:2] == whole[1].generations
    assert len(more.generations) == 3


def test_a_result_that_is_deleted_is_made_again(whole, tmp_path):
    folder = tmp_path / "moved"
    shutil.copytree(whole[0], folder)
    for name in ("games.json", "training.json", "benchmark.json", "duel/0000.npz"):
        (folder / "generation-001" / name).unlink()
    again = iterate(config(folder), draw=strength_into(folder))
    assert [one.duel.difference for one in again.generations] == [one.duel.difference for one in whole[1].generations]
    assert [one.bce for one in again.generations] == [one.bce for one in whole[1].generations]
    assert kept(folder).keys() == kept(whole[0]).keys()


def test_time_that_is_up_ends_a_run_between_steps_and_inside_them(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(iteration, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(run_log, "_SHOW_SECONDS", 0.0)
    monkeypatch.setattr("cardai.measure.duel.BLOCK", 20)
    running = config(tmp_path / "run", minutes=1.0, training=LEARNING | {"checkpoint_minutes": 0.0})
    place = tmp_path / "run/generation-001"

    def late_in(work, at_end=False):
        """Time is up while this is being done, or when it is done."""

        def late(done, total, words):
            now[0] += 61.0 if work in words and (done == total) == at_end else 0.0

        return late

    report = iterate(running, late_in("simulating", at_end=True))
    assert (report.stopped, report.generations, report.interrupted) == ("minutes", (), False)
    assert "time was up" in shown(report)
    assert (place / "games.json").exists()  # its last game had been played
    assert not (place / "training").exists()
    assert iterate(running, late_in("epoch 3")).stopped == "minutes"
    assert (place / "training/checkpoint-000000038.safetensors").exists()
    assert not (place / "training.json").exists()
    assert iterate(running, late_in("against")).stopped == "minutes"
    assert (place / "training.json").exists()
    assert not (place / "benchmark.json").exists()
    assert len(iterate(dataclasses.replace(running, minutes=0.0, generations=1)).generations) == 1


def shown(report, width=200) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(table(report))
    return console.file.getvalue()


def test_the_table_tells_every_generation(whole):
    _, report = whole
    text = shown(report)
    assert "promoted" in text
    assert "among players random" in text
    assert f"the champion is the model of generation {report.champion}" in text
    assert "stopped" not in text
    assert max(map(len, shown(report, 80).splitlines())) <= 80
    json.dumps(report.as_json(), allow_nan=False)


def line(number, verdict, different=50, score=60.0):
    estimate = Estimate(score, score - 5, score + 5, 100, 50)
    found = Duel("new", "old", 100, 0, different, 1, 0.975, estimate, estimate, verdict)
    return Generation(number, 400, 2800, 0, 2200, 60, {"validation": None, "test": None}, "old", found, found, {})


@pytest.fixture
def planned(tmp_path):
    """A run that has not begun."""

    def begun(**fields):
        folder = IterateFolder(tmp_path / "run")
        return IterateRun(config(tmp_path / "run", **fields), TICTACTOE, folder, Clock(0.0, None))

    return begun


def shares(run, number) -> dict:
    """Who plays a generation: each generation's share, explored and not, and the others'."""
    found = {}
    for spec, weight in run.pool(number).items():
        name = run.name_of(spec.partition("?epsilon")[0])
        key = name + (" exploring" if name != spec and "epsilon" in spec else "")
        found[key] = found.get(key, 0) + weight
    return found


def test_the_first_games_are_played_by_others_and_later_ones_by_models_too(planned, tmp_path):
    (tmp_path / "run").mkdir()
    run = planned(pool=("random@3", "greedy:open_lines@1"), exploring=0.25, window=2)
    assert shares(run, 1) == {"random": 0.75, "greedy:open_lines": 0.25}
    run.ended.append(line(1, "undecided"))
    assert shares(run, 2) == pytest.approx(
        {"random": 0.225, "greedy:open_lines": 0.075, "generation 1": 0.375, "generation 1 exploring": 0.125}
    )
    run.ended += [line(2, "better"), line(3, "worse"), line(4, "worse")]
    assert run.champion == 2
    assert shares(run, 5) == pytest.approx(
        {
            "random": 0.225,
            "greedy:open_lines": 0.075,
            "generation 2": 0.375,
            "generation 2 exploring": 0.125,
            "generation 3": 0.075,
            "generation 3 exploring": 0.025,
            "generation 4": 0.075,
            "generation 4 exploring": 0.025,
        }
    )


def test_without_exploration_or_others_nobody_of_weight_nothing_plays(planned, tmp_path):
    (tmp_path / "run").mkdir()
    run = planned(epsilon=0.0, champion_share=1.0, earlier_share=0.0)
    run.ended += [line(1, "worse"), line(2, "worse")]
    assert shares(run, 3) == {"generation 2": 1.0}


def test_only_the_better_is_promoted(planned, tmp_path):
    (tmp_path / "run").mkdir()
    run = planned()
    run.ended += [line(1, "undecided"), line(2, "worse")]
    assert run.champion == 0
    run.ended += [line(3, "better"), line(4, "undecided")]
    assert run.champion == 3


def test_the_reference_is_the_best_of_the_first_games(planned, tmp_path):
    place = tmp_path / "run/generation-001"
    place.mkdir(parents=True)
    run = planned()
    scores = {"random": 30.0, "greedy:open_lines": 80.0, "peeking:open_lines": 90.0, "rollout:3": 70.0}
    scores |= {"greedy:open_lines?epsilon=0.1": 85.0, "greedy:open_lines?temperature=0.1": 86.0}
    (place / "games.json").write_text(json.dumps({"scores": scores}))
    run.choose_reference()
    assert run.reference == "greedy:open_lines"
    asked = planned(reference="random")
    asked.choose_reference()
    assert asked.reference == "random"


def test_everybody_a_game_brings_plays_when_nobody_is_named():
    pool = default_pool(cardai.load("moska"))
    assert {"random", "bot3", "bot3?randomised", "greedy:hand_value", "greedy:hand_value?epsilon=0.1"} <= set(pool)
    for name in ("moska", "tictactoe"):
        for spec in default_pool(cardai.load(name)):
            assert cardai.agent(cardai.load(name), spec)


def test_too_few_different_games_are_said(whole):
    report = dataclasses.replace(whole[1], generations=(line(1, "undecided", different=2),), champion=0)
    text = shown(report)
    assert "only 2 deals were played in different ways" in text
    assert "benchmark_epsilon" in text
    assert "no model has beaten random yet" in text


def test_a_warm_start_begins_with_the_model_that_plays_most(whole, tmp_path):
    folder = tmp_path / "warm"
    cold, first = whole[0] / "generation-002", "generation-001/training/model.safetensors"
    iterate(config(folder, warm_start=True, training=LEARNING | {"steps": 1, "check_steps": 1, "learning_rate": 1e-9}))
    one, two = (load_model(folder / f"generation-00{k}/training/model.safetensors") for k in (1, 2))
    width = sum(math.prod(shape) for _, shape in one.metadata.layout)
    rows = np.random.default_rng(0).integers(2, size=(64, width), dtype=np.uint8)
    assert read_metadata(folder / "generation-002/training/model.safetensors").training["start_from"] == str(
        folder / first
    )
    assert np.asarray(two.score(rows)) == pytest.approx(np.asarray(one.score(rows)), abs=0.05)
    assert read_metadata(cold / "training/model.safetensors").training["start_from"] is None


def test_a_folder_of_something_else_is_refused(whole, tmp_path):
    folder, _ = whole
    before = kept(folder)
    with pytest.raises(CardaiError, match=r"holds another run, with games 400, not 300 and training\.steps 60, not 9;"):
        iterate(config(folder, games=300, training=LEARNING | {"steps": 9}))
    assert kept(folder) == before
    with pytest.raises(CardaiError, match=r"is not a folder of generations: it has files but no iterate\.toml"):
        iterate(config(folder / "generation-001" / "training"))
    (tmp_path / "file").write_text("")
    with pytest.raises(CardaiError, match="cannot write to"):
        iterate(config(tmp_path / "file"))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("benchmark.json", "{", "is damaged: delete it"),
        ("benchmark.json", '{"champion": "x", "duel": 3, "strength": {}}', "is damaged: delete it"),
        ("training.json", "[]", "is damaged: delete it"),
        ("games.json", '{"games": 3}', "is damaged: delete it"),
        ("training/model.safetensors", None, "cannot read"),
    ],
)
def test_a_damaged_result_is_named(whole, tmp_path, name, content, said):
    folder = tmp_path / "moved"
    shutil.copytree(whole[0], folder)
    place = folder / f"generation-{whole[1].champion:03d}" / name
    place.unlink() if content is None else place.write_text(content)
    with pytest.raises(CardaiError, match=said) as caught:
        iterate(config(folder))
    assert str(place) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"kind": "greedily"}, "kind: there is no choice 'greedily'; did you mean greedy"),
        ({"pool": ("bot3@0",)}, "'bot3@0' is not an agent with a weight"),
        (
            {"champion_share": 0.7, "earlier_share": 0.4},
            "champion_share 0.7 and earlier_share 0.4 are together more than 1",
        ),
        ({"generations": 0}, "generations and minutes are both 0"),
        ({"most_benchmark_games": 20}, "most_benchmark_games 20 is less than benchmark_games 60"),
        ({"training": {"minutes": 3}}, "training must not have minutes: iterate sets it itself"),
        ({"training": {"step": 3}}, "training: training config: there is no field 'step'; did you mean steps"),
        ({"training": {"batch": -1}}, "training: batch must be 0 to"),
        ({"training": {"epochs": 0}}, "training: epochs"),
        ({"training": {"body": "mpl"}}, "training: there is no body 'mpl'"),
        ({"out": "what?"}, "contains a \\?"),
    ],
    ids=str,
)
def test_an_impossible_value_is_named_with_what_is_allowed(fields, said):
    with pytest.raises(CardaiError, match=said) as caught:
        config(**fields)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"pool": ("rndom",)}, "there is no agent 'rndom'; did you mean random"),
        ({"reference": "greedy:nobody"}, "there is no heuristic or model 'nobody'"),
        ({"variant": "large"}, "no variant 'large'"),
        ({"seats": 3}, "not 3"),
        ({"training": LEARNING | {"encoder": "plane"}}, "plane"),
        ({"game": "tictacto"}, "there is no game 'tictacto'; did you mean tictactoe"),
    ],
    ids=str,
)
def test_what_the_game_does_not_know_is_refused_before_anything_is_written(tmp_path, fields, said):
    with pytest.raises(CardaiError, match=said):
        iterate(config(tmp_path / "run", **fields))
    assert not (tmp_path / "run").exists()


def test_a_pool_of_those_who_peek_needs_a_reference(tmp_path):
    with pytest.raises(CardaiError, match="no agent of the pool can be the reference"):
        iterate(config(tmp_path / "run", pool=("peeking:open_lines",)))


def test_the_verb_takes_the_config_from_a_file_and_from_flags(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    settings.write(config(games=300, generations=1), "c.toml")
    assert run(["iterate", "--config", "c.toml", "--out", "run", "--training.steps", "20", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["config"]["training"]["steps"] == 20
    assert [one["games"] for one in told["generations"]] == [300]
    assert run(["iterate", "tictactoe", "--config", "c.toml", "--out", "run"]) == 2
    assert "training.steps 20, not 60" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("iterate", "the iterate config must have game and out"),
        ("iterate tictactoe", "the iterate config must have out: The run's folder."),
        ("iterate tictactoe --out x --games many", "games must be a whole number, not 'many'"),
        ("iterate tictactoe --out x --training.bdy mlp", "--training.bdy"),
        ("iterate moka --out x", "there is no game 'moka'; did you mean moska"),
    ],
)
def test_the_verb_refuses_in_one_sentence(tmp_path, monkeypatch, capsys, line, said):
    monkeypatch.chdir(tmp_path)
    assert run(line.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.startswith("cardai: ")
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())
