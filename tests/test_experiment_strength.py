"""The experiment on strength and time: whose plan an agent knows, whom the answer names, what a chart shows."""

import pytest

from cardai.experiments import strength
from cardai.experiments.machinery.duplicate import outcomes_of
from cardai.experiments.pages.strength import answers, draw
from cardai.experiments.strength import CONTESTS, KNOWN, MILLISECONDS, key_of, model_of, table_of
from cardai.measure.bench import run_match
from cardai.registry import load

MOSKA = CONTESTS["moska"]


def test_the_opponents_of_moska_are_those_of_its_suite_for_searches():
    rows = load("moska").suites["search"].rows
    assert list(MOSKA.opponents.values()) == [row.opponents for row in rows.values()]


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


def test_the_command_of_a_row_plays_the_games_behind_it():
    game, contest = load("tictactoe"), CONTESTS["tictactoe"]
    line_up = ("greedy:open_lines", *contest.opponents["one random"])
    report = run_match(game, line_up, 40, seed=strength.SEED, variant=contest.variant)
    own = next(row for row in report.rows if row.spec == line_up[0])
    player = strength.agent(game, line_up[0])
    lost = outcomes_of(game, player, line_up[1:], 40, strength.SEED, contest.variant, "loss")
    assert own.loss.point == pytest.approx(100 * lost.mean())
    assert own.loss.n == lost.size


def row(contest, name, column, point, low=None, high=None):
    figure = {"point": point, "low": low, "high": high, "n": 10, "counted": "games"}
    return {"table": table_of(contest), "name": name, "column": column, "figure": figure, "claim": None}


def two_of(contest):
    """The greedy agent of a contest, or its first player, and its first agent that searches ahead, if it has one."""
    agents, greedy = contest.agents(), f"greedy:{contest.judge}"
    plain = greedy if greedy in agents else next(iter(agents))
    return plain, next((spec for spec in agents if spec.startswith("ahead")), "")


@pytest.fixture
def result():
    """A made-up result: rollouts lose least, but only against opponents whose plan they know."""
    rows = []
    for contest in CONTESTS.values():
        plain, ahead = two_of(contest)
        times = {plain: 0.04, "rollout:4": 1.0} | ({ahead: 2.0} if ahead else {})
        rows += [row(contest, name, MILLISECONDS, time) for name, time in times.items()]
        for column in contest.opponents:
            rows.append(row(contest, plain, column, 12.5, 12.0, 13.0))
            rows += [row(contest, ahead, column, 7.5, 7.0, 8.0)] if ahead else []
            rows.append(row(contest, "rollout:4", column + KNOWN, 1.0, 0.5, 1.5))
    return {"rows": rows}


def test_the_answer_names_no_agent_for_games_against_opponents_whose_plan_it_knows(result):
    headline, rest, first, *others = answers(result)
    assert headline == (
        "A search helps in 4 of 6 contests. Moska for four, against three Bot3: games lost 7.5 % instead of 12.5 %."
    )
    assert rest == "No search is shown to be better in: Hearts, one round; Literature, two against two."
    assert first == (
        "Moska for four, against three Bot3: `ahead:best?worlds=4` loses 7.5 % (7.0 to 8.0) of its games at 2 ms a"
        " decision. Without a search `greedy:best` loses 12.5 % (12.0 to 13.0) of its games at 0.04 ms a decision."
    )
    assert len(others) == len(CONTESTS) - 1
    assert not any("rollout" in line for line in others)
    assert any("gets 12.5 % (12.0 to 13.0) of the win" in line and "No agent that searches" in line for line in others)
    assert any("`plausible` scores 12.5 %" in line for line in others)


def test_a_search_is_called_better_only_if_the_intervals_do_not_overlap(result):
    for one in result["rows"]:
        if one["name"].startswith("ahead") and one["column"] != MILLISECONDS:
            one["figure"] |= {"low": 7.0, "high": 12.1}
    assert answers(result)[0].startswith("No agent that searches over worlds is shown to be better")
    for one in result["rows"]:
        if one["name"].startswith("ahead") and one["column"] != MILLISECONDS and "win" in one["table"]:
            one["figure"] |= {"point": 14.0, "low": 13.1, "high": 15.0}  # a share: higher is better
    assert "share of the win" in answers(result)[0]


def test_a_chart_has_a_panel_for_each_kind_of_opponents_and_a_point_for_each_figure(result):
    drawn = draw(result)
    assert list(drawn) == list(CONTESTS)
    for contest, figure in zip(CONTESTS.values(), drawn.values(), strict=True):
        assert len(figure.axes) == len(contest.opponents)
        for axes in figure.axes:
            points = {
                container.get_label(): list(zip(*container.lines[0].get_data(), strict=True))
                for container in axes.containers
            }
            ahead = {"ahead (itself)": [(2.0, 7.5)]} if two_of(contest)[1] else {}
            assert points == {"no search": [(0.04, 12.5)], "rollout, known": [(1.0, 1.0)]} | ahead
            assert axes.get_xscale() == "log"
