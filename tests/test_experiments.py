"""Every experiment at the scale "smoke": it runs, its rows are whole, nothing is done twice, its models ship.

pytest -m "nightly and not slow" tests/test_experiments.py  # 6 minutes of a processor
pytest -m slow tests/test_experiments.py                    # perfect play, minutes
"""

from types import SimpleNamespace

import pytest

from cardai.evaluators.model import read_metadata
from cardai.evaluators.training.selfplay_in_memory import SelfPlayTraining
from cardai.experiments import durak_learners, hearts_best, moska_expert, moska_networks, tictactoe
from cardai.experiments.machinery import behaviour, lab, networks, observing, report
from cardai.experiments.machinery.catalogue import EXPERIMENTS, page_of
from cardai.experiments.machinery.verdicts import VERDICTS
from cardai.guests.exact.grade import grade
from cardai.guests.exact.solution import solve
from cardai.registry import load


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """{name: its folder, result and uses}, each made when it is first asked for."""
    place, found = tmp_path_factory.mktemp("runs"), {}

    def one(name):
        lacking = EXPERIMENTS[name].missing()
        if lacking:
            pytest.skip(f"needs {', '.join(lacking)}")
        if name not in found:
            lab.behaviour(name, "smoke")  # so that its games are not taken for the experiment's
            with observing.observed(place / name) as uses:
                found[name] = place / name, lab.run(name, place / name, "smoke"), uses
        return found[name]

    return one


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_runs_and_its_rows_are_whole(made, name, tmp_path):
    folder, result, _ = made(name)
    assert result["rows"]
    assert page_of(name).answers(result)[0].endswith(".")
    places = [(row["table"], row["name"], row["column"]) for row in result["rows"]]
    assert len(set(places)) == len(places)
    for row in result["rows"]:
        figure = row["figure"]
        assert row["verdict"] in (VERDICTS if row["claim"] else ("",))
        assert all(key in result["pieces"] for key in row["piece"].split())
        assert row["piece"], row["name"]
        if figure["low"] is not None:
            assert figure["low"] <= figure["point"] <= figure["high"]
            assert figure["n"] > 0
    assert (folder / lab.RESULT).exists()
    front = report.write(tmp_path, [result])
    assert EXPERIMENTS[name].question in front.read_text("utf-8")
    assert list(tmp_path.glob(f"{name}-*.svg"))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_what_an_experiment_uses_is_written_down(made, name):
    """If this fails, run `python -m cardai.experiments.machinery.observing NAME` and read the difference."""
    assert made(name)[2] == behaviour.uses_of(name)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_what_is_finished_is_not_done_again(made, name):
    folder, result, _ = made(name)
    assert lab.run(name, folder, "smoke") == result  # the seconds, too: nothing was measured


def figures(result, table):
    return {(row["name"], row["column"]): row["figure"] for row in result["rows"] if row["table"] == table}


def test_the_bounds_of_tictactoe_are_those_of_the_game(made):
    won = figures(made("tictactoe")[1], tictactoe.WON)
    bounds = {name: round(won[name, "last iteration"]["point"], 4) for name in ("most wins, never losing", "most wins",
              "random")}  # fmt: skip
    assert bounds == {"most wins, never losing": 95.5597, "most wins": 96.6708, "random": 43.6508}


def test_a_curve_of_tictactoe_begins_with_random_weights(made):
    for curve in made("tictactoe")[1]["drawn"]["curves"].values():
        assert [point["iteration"] for point in curve] == [0, 1, 2]
        assert curve[0]["cross_entropy"] is None
        assert all(abs(one["win"] + one["draw"] + one["loss"] - 1) < 1e-12 for one in curve)


def test_a_model_of_tictactoe_plays_what_was_graded_and_says_where_it_is_from(made):
    folder, result, _ = made("tictactoe")
    game = load("tictactoe")
    for body in tictactoe.BODIES:
        found = grade(solve(game), f"greedy:{folder / f'{body}.safetensors'}").as_json()
        last = result["drawn"]["curves"][f"ours-{body}-0"][-1]
        assert found["averaged"]["win"]["value"] == last["win"]
        facts = read_metadata(folder / f"{body}.safetensors")
        assert (facts.game, facts.body, facts.moment) == ("tictactoe", body, "before_draw")
        assert facts.command == tictactoe.COMMAND


def test_moskas_networks_are_asked_in_every_way_and_those_that_peek_are_marked(made):
    _, result, _ = made("moska-networks")
    lost = figures(result, "Games lost, %")
    assert len(lost) == 4 * len(moska_networks.asked_of(2))
    assert {name for name, _ in lost if "MIF" in name} == {"nn1 MIF (peeks)", "nn2 MIF (peeks)"}


@pytest.mark.parametrize(
    ("name", "module", "shipped"),
    [
        ("moska-networks", moska_networks, ["best", "nn1", "nn2"]),
        ("moska-expert", moska_expert, ["expert"]),
        ("hearts-best", hearts_best, ["best"]),
        ("durak-learners", durak_learners, ["podkidnoy2", "podkidnoy4", "report2", "report4"]),
        ("tictactoe", tictactoe, ["cnn", "mlp"]),
    ],
)
def test_models_can_be_shipped_and_do_not_say_whose_folder_they_were_made_in(
    made, name, module, shipped, tmp_path, monkeypatch
):
    folder, _, _ = made(name)
    monkeypatch.setattr(module, "SHIPPED", tmp_path)
    places = module.ship(folder)
    assert sorted(place.stem for place in places) == shipped
    assert str(folder).encode() not in b"".join(place.read_bytes() for place in places)
    assert networks.load_model(places[0]).metadata.command == f"cardai reproduce {name}"


def test_every_learner_of_durak_is_measured_at_its_tables(made):
    _, result, _ = made("durak-learners")
    found = {(name.partition(",")[0], column) for name, column in figures(result, durak_learners.NOT_LOST)}
    assert found == {(name, row) for name in durak_learners.LEARNERS for row in durak_learners.ROWS.values()}
    thrown = {column for _, column in figures(result, durak_learners.THROWN)}
    assert thrown == set(durak_learners.THROW_IN_ROWS.values())


def test_games_not_lost_turn_the_interval_round():
    told = durak_learners.not_lost({"point": 30.0, "low": 25.0, "high": 36.0, "n": 400, "deals": 100})
    assert (told.point, told.low, told.high, told.n) == (70.0, 64.0, 75.0, 400)
    none = durak_learners.not_lost({"point": 0.0, "low": 0.0, "high": 0.5, "n": 400, "deals": 100})
    assert (none.point, none.low, none.high) == (100.0, 99.5, 100.0)


def test_a_policy_that_was_stopped_is_not_taken_for_finished(tmp_path, monkeypatch):
    stopped = SimpleNamespace(metadata=SimpleNamespace(metrics={"games": 25}))
    monkeypatch.setattr(durak_learners.ppo, "train", lambda *a, **k: stopped)
    with pytest.raises(KeyboardInterrupt):
        durak_learners.policies(tmp_path / "ppo", "ppo", 2, durak_learners.SCALES["smoke"], None)
    assert not list((tmp_path / "ppo").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("body", tictactoe.BODIES)
def test_our_protocol_ends_in_perfect_play(body):
    game = load("tictactoe")
    *_, last = SelfPlayTraining(game, tictactoe.PROTOCOLS["ours"], body, tictactoe.BODIES[body]).generations(100)
    found = grade(solve(game), last.agent())
    assert found.losing_lines == 0
    assert found.averaged[0] >= tictactoe.GOAL
