"""Agents with an evaluator at every door: suites, matches, records. What an evaluator does wrong is one sentence."""

from pathlib import Path

import numpy as np
import pytest
import small_game
from judges import Judge, know, some_order
from printing import text_of

from cardai import load
from cardai.errors import CardaiError
from cardai.evaluators.bodies.build import build
from cardai.evaluators.model import FILE, Model
from cardai.game import Row, Suite
from cardai.measure import bench, complexity, duplicate
from cardai.playing.agents.spec import agent
from cardai.playing.table.many import play
from cardai.records import record

TICTACTOE, MOSKA, LOW_HAND = load("tictactoe"), load("moska"), small_game.GAME


def other_order(rows):
    return 1.0 - some_order(rows)


@pytest.fixture
def judges(monkeypatch):
    judges = [Judge("one", "planes", 2, some_order), Judge("other", "planes", 2, other_order)]
    know(monkeypatch, *judges, Judge("three", "planes", 3, some_order))
    return judges


def seeds_of(count):
    return np.arange(count, dtype=np.uint64)


def test_a_suite_measures_agents_with_evaluators_and_says_who_peeks(judges):
    specs = ["peeking:one", "greedy:one", "sampled:one?worlds=3", "low"]
    report = bench.run_suite(LOW_HAND, agents=specs, games=20)
    assert [row.agent for row in report.rows] == ["peeking:one (peeks)", *specs[1:]]
    assert [row["agent"] for row in report.as_json()["rows"]] == ["peeking:one (peeks)", *specs[1:]]
    assert text_of(report).count("peeking:one (peeks)") >= 1
    assert all(row.figure.n == 20 for row in report.rows)


def test_a_match_of_two_models_a_native_player_and_a_function_is_recorded_and_sound(judges, tmp_path):
    specs = ["peeking:one", "greedy:other?epsilon=0.2"]
    file = tmp_path / "match.jsonl.gz"
    report = bench.run_match(LOW_HAND, specs, games=40, record=file, threads=2)
    assert report.games == 40
    assert {one.agent for one in report.rows} == {"peeking:one (peeks)", specs[1]}
    assert "peeking:one (peeks)" in report.title
    assert "peeking:one (peeks)" in text_of(report)
    reader = record.read(file)
    assert reader.header.agents == tuple(specs)
    assert len({tuple(one.lineup) for one in reader}) == 2
    for one in reader:
        record.replay(LOW_HAND, one)


def test_choices_of_agents_with_evaluators_are_counted(judges):
    """The same tally as for the native player whose moves are played."""
    report = complexity.measure(TICTACTOE, [2], 10, "greedy:one")
    assert report.rows[0].decisions.point > 4
    counted = play(TICTACTOE, [agent(TICTACTOE, "greedy:one")], np.zeros((3, 2), int), seeds_of(3), tally=True)
    for tally, plies in zip(counted.tally.tolist(), counted.plies.tolist(), strict=True):
        sizes = np.array([9 - ply for ply in range(plies) if ply < 8])
        assert tally == pytest.approx([len(sizes), sizes.sum(), np.log10(sizes).sum(), 0])


# Ctrl-C.


def interrupting(judge, after):
    """Ctrl-C comes while the evaluator computes, the so-manieth time it is asked."""
    function = judge.function

    def score(rows):
        if len(judge.sizes) > after:
            raise KeyboardInterrupt
        return function(rows)

    judge.function = score


def test_ctrl_c_while_an_evaluator_computes_keeps_the_finished_games(judges):
    cast, lineups = [agent(LOW_HAND, spec) for spec in ("sampled:one", "low")], np.tile([[0, 1]], (60, 1))
    whole = play(LOW_HAND, cast, lineups, seeds_of(60), record=True, live=6)
    interrupting(judges[0], len(judges[0].sizes) * 3 // 2)
    part = play(LOW_HAND, cast, lineups, seeds_of(60), record=True, live=6)
    assert part.interrupted
    assert 5 < part.finished.sum() < 55
    for i in range(60):
        assert (part.moves[i] is not None) == part.finished[i]
        if part.finished[i]:
            assert part.moves[i].tobytes() == whole.moves[i].tobytes()
            assert part.scores[i].tolist() == whole.scores[i].tolist()


def test_ctrl_c_in_a_recorded_match_leaves_a_sound_file_that_is_called_incomplete(judges, tmp_path):
    interrupting(judges[0], 15)
    report = bench.run_match(LOW_HAND, ["greedy:one", "low"], 4000, record=tmp_path / "cut.jsonl")
    assert report.interrupted
    found = record.verify(tmp_path / "cut.jsonl", rules=str(Path(small_game.__file__)))
    assert not found.complete
    assert found.games == report.games > 0


# Evaluators that fail.


def broken(answer):
    judge = Judge("odd", "planes", 2, some_order)
    judge.score = answer
    return judge


def raising(rows):
    raise RuntimeError("out of paper\nand ink")


class Late:
    """An answer that fails when it is waited for, as what is computed meanwhile does."""

    def __array__(self, dtype=None, copy=None):
        raise OSError("the device has gone")


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (raising, r"it raised RuntimeError\('out of paper\\nand ink'\) \(.*test_evaluators.py, line \d+\)"),
        (lambda rows: Late(), r"it raised OSError\('the device has gone'\) \(.*test_evaluators.py, line \d+\)"),
        (lambda rows: np.full(len(rows), np.nan), "it scores a position nan, which is not in \\[0, 1\\]"),
        (lambda rows: np.arange(len(rows)) - 0.5, "it scores a position -0.5, which is not in"),
        (lambda rows: np.zeros((len(rows), 1)), r"it answered \d+ positions with an array of shape \(\d+, 1\)"),
        (lambda rows: 0.5, r"it answered \d+ positions with an array of shape \(\)"),
        (lambda rows: [object()] * len(rows), "it raised TypeError"),
        (lambda rows: ["good"] * len(rows), "it raised ValueError"),
    ],
)
def test_an_evaluator_that_fails_is_named_in_one_sentence(monkeypatch, tmp_path, answer, complaint):
    know(monkeypatch, broken(answer))
    with pytest.raises(CardaiError, match=f"agent 'greedy:odd', evaluator odd: {complaint}") as error:
        bench.run_match(LOW_HAND, ["greedy:odd", "low"], 10, record=tmp_path / "none.jsonl")
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_an_evaluators_own_sentence_is_passed_on(monkeypatch):
    def refuse(rows):
        raise CardaiError("the device is busy")

    know(monkeypatch, broken(refuse))
    with pytest.raises(CardaiError, match=r"^the device is busy$"):
        bench.run_match(LOW_HAND, ["greedy:odd", "low"], 10)


def test_an_evaluator_that_lies_about_its_seats_is_refused_all_the_same(monkeypatch):
    """Rows of another width than there is room for would be written over other memory."""
    judge = Judge("liar", "planes", 2, some_order)
    judge.check_fits = lambda game, variant, seats: None
    know(monkeypatch, judge)
    with pytest.raises(CardaiError, match="liar is for tables of 2 seats, not of 3"):
        bench.run_match(LOW_HAND, ["greedy:liar", "low", "low"], 3)
    judge.encoder = "circles"
    with pytest.raises(CardaiError, match="low_hand has no encoder 'circles'; it has planes"):
        bench.run_match(LOW_HAND, ["greedy:liar", "low"], 3)


# Agents that do not fit.


def test_who_does_not_fit_is_refused_before_anything_is_played(judges, monkeypatch, tmp_path):
    monkeypatch.setattr(duplicate, "play", None)
    refusal = "three is for 3 seats, not 2"
    with pytest.raises(CardaiError, match=refusal):
        bench.run_suite(LOW_HAND, agents=["low", "greedy:three"])
    with pytest.raises(CardaiError, match=refusal):
        bench.run_match(LOW_HAND, ["low", "greedy:three"], record=tmp_path / "none.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_opponents_and_a_suites_own_agents_that_do_not_fit_are_reported_as_missing(judges, monkeypatch):
    rows = {"R1": Row(("greedy:three",)), "R2": Row(("low",))}
    a_test = Suite("a test", "score", rows, ("low", "peeking:three"), games=4)
    monkeypatch.setattr(bench, "_suite", lambda game, name: a_test)
    report = bench.run_suite(LOW_HAND)
    assert [(row.agent, row.row) for row in report.rows] == [("low", "R2")]
    assert [(gap.agent, gap.row) for gap in report.missing] == [
        ("low", "R1"), ("peeking:three", "R1"), ("peeking:three", "R2"),
    ]  # fmt: skip
    assert all(gap.reason == "three is for 3 seats, not 2" for gap in report.missing)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Models of two games: a file, and the folder of a run."""
    folder = tmp_path_factory.mktemp("models")
    for game, seats, path in ((TICTACTOE, 2, "lines.safetensors"), (MOSKA, 4, f"run/{FILE}")):
        module = build("linear", {}, game.encoder().layout(seats), seed=1)
        (folder / path).parent.mkdir(exist_ok=True)
        Model.of(game, module, body="linear", body_options={}, moment="drawn", seats=seats).save(folder / path)
    (folder / "empty").mkdir()
    (folder / "text.safetensors").write_text("no model")
    return folder


def test_a_model_file_and_a_run_folder_are_agents(folder):
    report = bench.run_match(TICTACTOE, [f"greedy:{folder}/lines.safetensors", "random"], 20)
    assert report.games == 20
    report = bench.run_match(MOSKA, [f"peeking:{folder}/run", "random", "bot3", f"sampled:{folder}/run?worlds=2"], 4)
    assert f"peeking:{folder}/run (peeks)" in {row.agent for row in report.rows}


def complain(game, specs, **options):
    with pytest.raises(CardaiError) as error:
        bench.run_match(game, specs, 4, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_model_for_another_table_is_refused_by_name(folder):
    lines, run = f"{folder}/lines.safetensors", f"{folder}/run"
    assert (
        complain(MOSKA, [f"greedy:{lines}", "bot3", "bot3", "bot3"]) == f"{lines} is a model of tictactoe, not of moska"
    )
    assert complain(MOSKA, [f"greedy:{run}", "bot3"]) == f"{run} is a model for 4 seats, not for 2"
    table = [f"greedy:{run}", "bot3", "bot3", "bot3"]
    wanted = f"{run} is a model of moska's variant 'thesis', not 'appendix'"
    assert complain(MOSKA, table, variant="appendix") == wanted
    assert (
        complain(MOSKA, table, variant="nonsense") == "moska has no variant 'nonsense'; it has thesis, appendix, polled"
    )
    table[0] += "?any_variant"
    assert bench.run_match(MOSKA, table, 4, variant="appendix").games == 4
    assert complain(MOSKA, [f"greedy:{run}?any_variant", "bot3"]) == f"{run} is a model for 4 seats, not for 2"


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("greedy:", "no heuristic or model ''; there is hand_value"),
        ("greedy:nn999", "there is no heuristic or model 'nn999'"),
        ("greedy:nowhere/nn.safetensors", "cannot read the model nowhere/nn.safetensors: No such file or directory"),
        ("greedy:{}/empty", r"the folder .*/empty holds no model.safetensors"),
        ("greedy:{}/text.safetensors", r"text.safetensors"),
        ("greedy:{}/run?worlds=3", "takes no option 'worlds'"),
        ("sampled:{}/run?worlds=none", "'none' is not a number of worlds"),
        ("sampled:{}/run?worlds=3&worlds=4", "each once"),
        ("greedy:{}/run?any_variant=1", "'any_variant' takes no value"),
        ("greedy:{}/run?epsilon=2", "epsilon='2' is not a number from 0 to 1"),
        ("greedy:{}/run?temperature=-1", "temperature='-1' is not a number of at least 0"),
        ("greedy:{}/run?temperature=inf", "temperature='inf' is not a number"),
        ("greedy:hand_value?any_variant", "takes no option 'any_variant'"),
        ("greedy:hand_value?renamings=4", "renamings goes with a model"),
        ("sampled:nn2?renamings=25", r"'25' is not a number of names for the suits \(1 to 24\)"),
        ("greedy:best?renamings=4", "encoder 'relative': by_suit must choose segments that end in"),
    ],
)
def test_a_spec_with_a_bad_model_or_option_is_refused_with_a_sentence(folder, spec, complaint):
    with pytest.raises(CardaiError, match=complaint) as error:
        agent(MOSKA, spec.format(folder))
    assert "\n" not in str(error.value)
