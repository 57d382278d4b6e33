"""The comparison with other libraries: everybody plays whole games, evenly, and stands beside the right one of us."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from cardai.errors import CardaiError
from cardai.experiments import peers_bound
from cardai.experiments.machinery.findings import Findings, Measurement
from cardai.experiments.machinery.verdicts import judged
from cardai.experiments.pages.peers import answers, faster, notes
from cardai.experiments.peers import (
    BOARD,
    BOARD_STEPS,
    BOUND,
    CHOICES,
    CLOCK,
    GAMES,
    HANDS,
    HEARTS,
    HEARTS_STEPS,
    MEAN_MOVES,
    MOSKA,
    OWN,
    PROCESSOR,
    SCALES,
    STEPPED,
    contestants,
    figures,
    speed,
)  # fmt: skip
from cardai.experiments.peers_bound import NO_COMPILER, Bound, compiler
from cardai.playing.agents.spec import evenly_random
from cardai.playing.table.many import play
from cardai.registry import load

EVERYBODY = contestants(2)
MODULES = {"cardai": "cardai", "Pgx": "pgx", "OpenSpiel": "pyspiel", "RLCard": "rlcard"}
NEEDS_COMPILER = pytest.mark.skipif(compiler() is None, reason=NO_COMPILER)
BATCH = 500
WITH_A_CHOICE = 100 * (1 - 37 / 105 / MEAN_MOVES)
"""Percent of the moves of a game of Tic-Tac-Toe, by enumeration: all but the ninth, which 37 of 105 games have."""


def module(one):
    return MODULES[one.name.split()[0].rstrip(",").partition(".")[0]]


def told(one, factor):
    """A round's figures: ours with all threads twice as fast by the clock, and a little dearer."""
    rate = 1000.0 if one.is_ours else 10.0 * factor
    by_clock = 2 * rate if "threads" in one.name else rate
    thrift = 0.9 * rate if "threads" in one.name else rate
    return {
        "games_per_second": by_clock / 10,
        "decisions_per_second": by_clock,
        "decisions_per_processor_second": thrift,
        "choices": None if one.batches else 90.0,
    }


@pytest.fixture
def rows():
    rounds = [{one.name: told(one, factor) for one in EVERYBODY} for factor in (1.0, 2.0, 4.0)]
    return {(row.name, row.column): row for row in figures(EVERYBODY, rounds, "round-1 round-2 round-3")}


def test_all_our_threads_are_compared_by_the_clock_and_one_by_processor_time(rows):
    for one in EVERYBODY:
        if one.is_ours:
            assert (one.name, CLOCK) not in rows
        else:
            assert rows[one.name, CLOCK].figure.point == pytest.approx(100.0)  # 2000 / (10, 20, 40)
            assert rows[one.name, PROCESSOR].figure.point == pytest.approx(50.0)  # 1000 / (10, 20, 40)
        assert ((one.name, CHOICES) in rows) is not one.batches


def test_only_moska_on_one_thread_stands_beside_the_engine_of_the_thesis(rows):
    (claimed,) = (row for row in judged(Findings(list(rows.values())).as_json()["rows"]) if row["claim"])
    assert (claimed["name"], claimed["column"], claimed["verdict"]) == (MOSKA, GAMES, "better")


def test_with_one_processor_the_same_one_of_us_is_compared_both_ways():
    alone = contestants(1)
    rows = figures(alone, [{one.name: told(one, factor) for one in alone} for factor in (1.0, 2.0)], "round-1 round-2")
    for table in (BOARD, HEARTS, HANDS, *STEPPED):
        assert sum(one.is_ours for one in alone if one.table == table) == 1
    points = {column: {row.figure.point for row in rows if row.column == column} for column in (CLOCK, PROCESSOR)}
    assert points[CLOCK] == points[PROCESSOR]


def test_a_speed_is_the_median_with_the_range():
    assert speed([5.0, 100.0, 1.0]) == Measurement(5.0, 1.0, 100.0, 3, "measurements")


def test_the_answer_names_each_librarys_fastest_way_and_says_when_it_is_undecided():
    close = {"OpenSpiel (as its example.py)": (500.0, 510.0, 490.0), "OpenSpiel (tuned by us)": (700.0, 1000.0, 1500.0)}
    rounds = [{one.name: told(one, 1.0) for one in EVERYBODY} for _ in range(3)]
    for name, rates in close.items():
        for one, rate in zip(rounds, rates, strict=True):
            one[name]["decisions_per_processor_second"] = rate
    rows = judged(Findings(figures(EVERYBODY, rounds, "round-1")).as_json()["rows"])
    words = faster(rows, BOARD).split("; ")
    assert [part.split(" as fast as ")[1] for part in words] == [
        "Pgx (its own way)", "OpenSpiel (tuned by us), undecided"
    ]  # fmt: skip


def count_of(one):
    """How many games are held side by side: few where Python steps them, as those begun at once end at once."""
    few = 4 if one.table == HEARTS_STEPS else 50
    return (BATCH if "Pgx" in one.name or one.is_ours else few) if one.batches else 0


@pytest.mark.parametrize("one", EVERYBODY, ids=lambda one: one.name)
def test_everybody_plays_whole_games_by_even_draws(one):
    if one.name == BOUND and compiler() is None:
        pytest.skip(NO_COMPILER)
    if one.name != BOUND and importlib.util.find_spec(module(one)) is None:
        pytest.skip(f"needs {module(one)}")
    loop = one.ready(SCALES["smoke"], count_of(one))
    assert (loop.choices is None) is one.batches
    games = decisions = 0
    while games < (4000 if one.table in (BOARD, BOARD_STEPS) else 12 if one.batches else 2):
        ended, made = loop.play()
        games, decisions = games + ended, decisions + made
    share = loop.choices() if loop.choices else None
    if one.table in (BOARD, BOARD_STEPS):
        assert decisions / games == pytest.approx(MEAN_MOVES, abs=0.15)  # five standard errors, and games begun at once
        assert share is None or share == pytest.approx(WITH_A_CHOICE, abs=4)
    elif one.batches:
        assert 40 < decisions / games < 100  # 52 cards, 12 passed in three of four
    else:
        assert decisions > 10 * games
        assert share is not None
        assert 20 < share < 90


def test_every_game_of_cardai_is_played_evenly_at_random():
    games = {place.name for place in Path(peers_bound.__file__).parent.parent.joinpath("games").iterdir()}
    ours = [one for one in EVERYBODY if one.is_ours and not one.batches]
    even = {one.ready.args[0] for one in ours if one.ready.args[1] is evenly_random}
    own_rules = games - {"durak52"}  # which plays by the rules of Durak
    assert even == {name for name in own_rules if not name.startswith("_") and name != "py.typed"}
    assert all(one.ready.args[1] is evenly_random for one in ours if one.table != OWN)
    assert [one.name for one in ours if one.ready.args[1] is not evenly_random] == [
        "cardai Moska, its player `random`, one thread"
    ]


@NEEDS_COMPILER
def test_the_bound_plays_the_games_that_cardai_plays():
    game, seed, count = load("tictactoe"), 2**64 - 1000, 2000
    seeds = np.arange(count, dtype=np.uint64) + np.uint64(seed)
    results = play(game, [evenly_random(game)], np.zeros((count, 2), np.int64), seeds)
    wins, losses = (results.scores == 1).sum(axis=0)
    assert Bound().play(seed, count) == (results.plies.sum(), (results.plies == 9).sum(), wins, losses)


@NEEDS_COMPILER
def test_a_compiler_that_fails_is_named(monkeypatch):
    monkeypatch.setattr(peers_bound, "SOURCE", "int play(")
    with pytest.raises(CardaiError, match=r"does not compile the C program: .*error"):
        Bound()


def test_without_a_compiler_the_bound_is_left_out_and_the_page_says_so(monkeypatch):
    monkeypatch.setattr(peers_bound, "COMPILERS", ("no_such_compiler",))
    with pytest.raises(CardaiError, match="no C compiler was found"):
        Bound()
    others = contestants(2, can_compile=False)
    assert {one.name for one in EVERYBODY} - {one.name for one in others} == {BOUND}
    result = page_of_all(others) | {"machines": [{"processor": "a processor", "usable_cpus": 2}]}
    result["drawn"]["no bound"] = NO_COMPILER
    assert f"The bound for Tic-Tac-Toe in C was not measured: {NO_COMPILER}." in notes(result)
    assert not any("C program" in answer for answer in answers(result))


def page_of_all(everybody):
    rounds = [{one.name: told(one, factor) for one in everybody} for factor in (1.0, 2.0, 4.0)]
    for rates in rounds:
        rates[BOUND] = told(EVERYBODY[0], 1.0) | {"decisions_per_processor_second": 4000.0}
    rows = judged(Findings(figures(everybody, rounds, "round-1")).as_json()["rows"])
    counted = [{"name": one.name, "counted": one.counted} for one in everybody]
    drawn = {"versions": {"Pgx": "1"}, "tried": {"Pgx": {"64": 1.0}}, "no bound": None, "lines": counted}
    return {"rows": rows, "drawn": drawn}


def test_the_page_says_of_each_row_what_it_counts_and_how_fast_the_bound_is():
    result = page_of_all(EVERYBODY) | {"machines": [{"processor": "a processor", "usable_cpus": 2}]}
    assert notes(result)[: len(EVERYBODY)] == [f"{one.name}: {one.counted}." for one in EVERYBODY]
    words = next(answer for answer in answers(result) if "C program" in answer)
    assert "is 4.0 (4.0 to 4.0) times as fast as one thread of cardai" in words
