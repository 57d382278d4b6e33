"""What studies of people would show, with agents of unequal strength in their place."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import cardai
from cardai import CardaiError
from cardai.guests.web.plan import plan_study
from cardai.guests.web.protocol import Plan

GAME = cardai.load("tictactoe")
TABLE = ("human", "random")
ONE = Plan(("random",), (5,), (10,))


def planned(persons, people=(5, 12), games=(10, 40), **options):
    return plan_study(GAME, TABLE, Plan(persons, people, games), "share", trials=400, **options)


def test_intervals_contain_the_truth_as_often_as_they_say():
    plan = planned([f"greedy:open_lines?epsilon={epsilon}" for epsilon in (0.4, 0.6, 0.8)], people=(5, 7, 12))
    assert all(0.93 <= row.covers <= 0.98 for row in plan.rows)
    assert plan.truth == pytest.approx(np.mean([person.mean for person in plan.persons]))


def test_a_plan_says_where_an_interval_would_promise_too_much():
    plan = planned(["greedy:mlp", "greedy:open_lines", "random"], people=(5,))
    assert all(row.covers < 0.9 for row in plan.rows), "of five people often none is the one that is unlike the others"


def test_more_people_help_where_people_differ_and_more_games_where_they_do_not():
    unlike, alike = planned(["greedy:mlp", "random"]), planned(["random"])
    few, _, many, _ = unlike.rows
    assert (few.people, few.games, many.people, many.games) == (5, 10, 12, 10)
    assert many.width < 0.75 * few.width
    assert unlike.rows[1].width > 0.9 * few.width, "more games of five unlike people show hardly more"
    assert alike.rows[1].width < 0.6 * alike.rows[0].width
    assert all(row.shows >= 0.5 * row.width for row in (*unlike.rows, *alike.rows))


def test_the_seat_of_a_person_goes_round_the_table():
    strong, other = (plan_study(GAME, table, ONE, "win", trials=4000) for table in (TABLE, TABLE[::-1]))
    ties = 0.127  # of random play (5.2 of tests/test_tictactoe.py's exact tree: 0.585 and 0.288 won)
    for plan in (strong, other):
        assert plan.persons[0].mean == pytest.approx((1 - ties) / 2, abs=4 * math.sqrt(0.25 / 4000))


def test_the_same_seed_plans_the_same():
    assert planned(["random"], seed=3) == planned(["random"], seed=3)
    assert planned(["random"], seed=3) != planned(["random"], seed=4)


@pytest.mark.parametrize(
    ("table", "wishes", "options", "words"),
    [
        (("random", "random"), {}, {}, "has one seat for a person, 'human', not 0"),
        (("human", "human"), {}, {}, "not 2"),
        (TABLE, {"people": (4,)}, {}, "people must be"),
        (TABLE, {"games": ()}, {}, "for persons, numbers of people and of games"),
        (TABLE, {"persons": ("nobody",)}, {}, "nobody"),
        (TABLE, {}, {"measure": "points"}, "a plan is for one of score, win, loss, share"),
        (TABLE, {}, {"trials": 0}, "trials must be"),
    ],
)
def test_an_impossible_plan_is_a_sentence(table, wishes, options, words):
    with pytest.raises(CardaiError, match=words):
        plan_study(GAME, table, replace(ONE, **wishes), **options)


def test_a_plan_is_printed_as_a_table_and_as_json():
    plan = plan_study(GAME, TABLE, Plan(("random", "greedy:mlp"), (7,), (37,)), "win", trials=100)
    assert "259" in str(plan)
    assert "people are as strong as random" in " ".join(str(plan).split())
    found = json.loads(json.dumps(plan.as_json()))
    assert (found["kind"], found["rows"][0]["people"], found["persons"][1]["spec"]) == ("plan", 7, "greedy:mlp")
