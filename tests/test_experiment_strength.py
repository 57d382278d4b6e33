"""The experiment on strength at equal time: whose plan an agent knows, what is called better, what a chart shows."""

import json
import shlex

import pytest

from cardai.cli.main import run
from cardai.experiments import strength
from cardai.experiments.machinery.lab import Lab
from cardai.experiments.pages.strength import answers, draw
from cardai.experiments.strength import (
    AHEAD,
    BUDGETS,
    CONTESTS,
    EPIMC,
    ISMCTS,
    MILLISECONDS,
    PIMC,
    column_of,
    key_of,
    model_of,
)
from cardai.registry import load

MOSKA = CONTESTS["moska"]
FIGURE = "point", "low", "high", "n"


@pytest.mark.parametrize(
    ("spec", "model"),
    [
        ("bot3", ""),
        ("greedy:best", ""),
        ("ahead:best?worlds=4", "greedy:best"),
        ("ahead:best?worlds=4&others=bot3", "bot3"),
        ("endgame:(ahead:best?halving)", "greedy:best"),
        ("endgame:greedy:best", ""),
        ("rollout:4", "bot3"),
        ("ismcts:4", "bot3"),
        ("epimc:4?judge=best", "greedy:best"),
    ],
)
def test_the_model_of_an_agent_is_the_player_by_which_it_plays_the_others(spec, model):
    assert model_of(MOSKA, spec) == model


@pytest.mark.parametrize("name", CONTESTS)
def test_pieces_have_names_of_their_own(name):
    contest = CONTESTS[name]
    keys = [key_of(name, spec, column) for spec in contest.agents() for column in (*contest.opponents, "time")]
    assert len(set(keys)) == len(keys)
    assert all(key.replace("-", "").replace("_", "").isalnum() for key in keys)


@pytest.mark.parametrize(
    ("name", "spec", "opponents"),
    [
        ("tictactoe", "greedy:mlp", "one random"),
        ("tictactoe", "random", "one random"),
        ("durak-report", "greedy:report2", "one greedy:report2"),
        ("hearts", "careful", "three careful"),
        ("hearts", "careful", "three greedy:best"),
        ("literature", "logic", "two logic"),
        ("literature", "keeper", "two logic"),
    ],
)
def test_the_command_of_a_row_prints_its_figure(tmp_path, capsys, name, spec, opponents):
    """Also if the agent has all seats, which `cardai match` counts together."""
    lab = Lab("strength", tmp_path, "smoke", strength.SCALES["smoke"])
    row = strength._reached(lab, name, spec, opponents)
    assert run([*shlex.split(row.command)[1:], "--json"]) == 0
    measure, printed = CONTESTS[name].measure, json.loads(capsys.readouterr().out)
    own = next(one for one in printed["rows"] if one["spec"] == spec)
    figure = own[measure] if measure in own else own["beside"][measure]
    assert [figure[part] for part in FIGURE] == [getattr(row.figure, part) for part in FIGURE]


def row(contest, name, column, point, low=None, high=None, table=""):
    figure = {"point": point, "low": low, "high": high, "n": 10, "counted": "games"}
    return {"table": table or contest.table, "name": name, "column": column, "figure": figure, "claim": None}


@pytest.mark.parametrize("name", CONTESTS)
def test_each_search_has_a_place_for_each_budget_and_nobody_knows_the_plan_of_the_first_opponents(name):
    contest = CONTESTS[name]
    assert set(contest.searches) == {PIMC, ISMCTS, EPIMC, AHEAD}
    assert all(len(specs) == len(BUDGETS) for specs in contest.searches.values())
    for spec in contest.agents():
        assert strength.agent(load(contest.game), spec).fits(load(contest.game), contest.variant, contest.seats)
        assert model_of(contest, spec) not in contest.opponents[contest.main], spec


@pytest.fixture
def result():
    """A made-up result: at 1 ms PIMC is better than `ahead` in Moska, worse in Hearts and undecided elsewhere."""
    rows = []
    for name, contest in CONTESTS.items():
        for spec, (family, place) in contest.agents().items():
            rows.append(row(contest, spec, MILLISECONDS, 2.0 if family == AHEAD else 1.0))
            for column in contest.opponents if place <= 0 else [contest.main]:
                rows.append(row(contest, spec, column, 7.5 if family == AHEAD else 12.5, 7.0, 13.0))
        low, high = {"moska": (-4.0, -1.0), "hearts": (-4.0, -1.0)}.get(name, (-2.0, 2.0))
        rows.append(row(contest, PIMC, column_of(1), (low + high) / 2, low, high, contest.differences))
    return {"rows": rows}


def test_the_answer_counts_what_is_shown_to_be_better_or_worse(result):
    headline, pimc, moska, *others = answers(result)
    assert headline == "At equal time other searches beat `ahead` in 1 of 6 comparisons, and lose in 1."
    assert pimc == (
        "PIMC beside `ahead`: better in Moska for four (1 ms); worse in Hearts, one round (1 ms); undecided in 4"
        " comparisons."
    )
    assert moska.startswith("Moska for four, against three greedy:best, games lost: at 1 ms `ahead:")
    assert "without such a search `bot3`, 12" in moska
    assert len(others) == len(CONTESTS) - 1


def test_a_figure_without_an_interval_is_neither_the_best_nor_a_comparison(result):
    moska = CONTESTS["moska"]
    for spec, at in ((moska.searches[PIMC][1], 0.0), *((specs[2], 5.0) for specs in moska.searches.values())):
        (own,) = (one for one in result["rows"] if (one["name"], one["column"]) == (spec, moska.main))
        own["figure"] |= {"point": at, "low": None, "high": None}
    result["rows"].append(row(moska, PIMC, column_of(100), -9.0, table=moska.differences))
    headline, _, told, *_ = answers(result)
    assert "in 1 of 6 comparisons" in headline
    assert "at 10 ms `ahead:" in told
    assert "at 100 ms too few games for an interval" in told


def test_a_chart_has_a_panel_for_each_kind_of_opponents_and_a_point_for_each_figure(result):
    drawn = draw(result)
    assert list(drawn) == list(CONTESTS)
    for contest, figure in zip(CONTESTS.values(), drawn.values(), strict=True):
        for axes, opponents in zip(figure.axes, contest.opponents, strict=True):
            points = {
                container.get_label(): list(zip(*container.lines[0].get_data(), strict=True))
                for container in axes.containers
            }
            own = contest.searches[AHEAD][: None if opponents == contest.main else 1]
            assert points.get(AHEAD, []) == [(2.0, 7.5) for spec in own if spec is not None]
            assert axes.get_xscale() == "log"
