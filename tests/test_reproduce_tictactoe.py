"""The experiment on Tic-Tac-Toe: what it leaves behind, and (slow) that our protocol ends in perfect play."""

import json

import pytest
import rich

from cardai.exact import grade, solve
from cardai.game import CardaiError
from cardai.registry import load
from evaluators.model import read_facts
from evaluators.selftaught import School
from experiments import tictactoe
from experiments.tictactoe import BODIES, GOAL, PROTOCOLS, reproduce


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    folder, told = tmp_path_factory.mktemp("tictactoe") / "deep" / "run", []
    return reproduce(folder, "smoke", progress=lambda *said: told.append(said)), folder, told


def test_every_network_has_a_curve_from_random_weights_to_its_last_iteration(smoke):
    result = smoke[0]
    assert len(result.runs) == len(PROTOCOLS) * len(BODIES)
    for run in result.runs:
        assert [point.iteration for point in run.curve] == [0, 1, 2]
        assert all(abs(one.win + one.draw + one.loss - 1) < 1e-12 for one in run.curve)
        assert run.curve[0].cross_entropy is None
        assert run.grade["averaged"]["win"]["value"] == run.curve[-1].win
        assert not run.is_perfect  # 400 games are not enough


def test_the_bounds_are_those_of_the_game(smoke):
    wins = {name: round(100 * one["averaged"]["win"]["value"], 4) for name, one in smoke[0].bounds.items()}
    assert wins == {"most wins, never losing": 95.5597, "most wins": 96.6708, "random": 43.6508}


def test_the_folder_holds_result_figure_and_models(smoke):
    result, folder, _ = smoke
    assert sorted(place.name for place in folder.iterdir()) == [
        "cnn.safetensors", "curves.svg", "mlp.safetensors", "result.json",
    ]  # fmt: skip
    kept = json.loads((folder / "result.json").read_text("utf-8"))
    assert kept == json.loads(json.dumps(result.as_json()))
    assert (folder / "curves.svg").read_text("utf-8").startswith("<?xml")


def test_a_saved_model_plays_what_was_graded_and_says_where_it_is_from(smoke):
    result, folder, _ = smoke
    game = load("tictactoe")
    for body, told in result.models.items():
        place, (run,) = folder / told["file"], result.of("ours", body)
        found = grade(solve(game), f"greedy:{place}").as_json()
        assert found["averaged"] == run.grade["averaged"] == told["averaged"]
        facts = read_facts(place)
        assert (facts.game, facts.body, facts.moment) == ("tictactoe", body, "before_draw")
        assert facts.command == "cardai reproduce tictactoe"
        assert facts.metrics["losing_lines"] == run.curve[-1].losing_lines


def test_progress_ends_when_all_is_done(smoke):
    told = smoke[2]
    done, totals = [one[0] for one in told], {one[1] for one in told}
    assert done == list(range(1, len(told) + 1))
    assert totals == {len(told)}


def test_the_table_fits_a_terminal_of_80_columns(smoke, capsys):
    rich.print(smoke[0].table())
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("thesis, mlp" in line and " 65 " in line for line in lines)


def test_an_unknown_scale_is_refused(tmp_path):
    with pytest.raises(CardaiError, match="huge"):
        reproduce(tmp_path, "huge")


def test_a_folder_that_cannot_be_made_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(tictactoe, "_run", lambda *_: pytest.fail("nothing should be taught for a place that is none"))
    with pytest.raises(CardaiError, match="cannot make"):
        reproduce(tmp_path / "file" / "run", "smoke")


@pytest.mark.slow
@pytest.mark.parametrize("body", BODIES)
def test_our_protocol_ends_in_perfect_play(body):
    game = load("tictactoe")
    *_, last = School(game, PROTOCOLS["ours"], body, BODIES[body]).generations(100)
    found = grade(solve(game), last.agent())
    assert found.losing_lines == 0
    assert found.averaged[0] >= GOAL
