"""Sealed evaluation: whatever foreign code remembers, it is dealt nothing twice, in no measurement there is.

`remembering.py` has the planted adversaries.
"""

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import remembering

import cardai
from cardai.cli.show.bench import condition_notes
from cardai.measure import duplicate, league
from cardai.measure.bench import run_match, run_suite
from cardai.measure.duel import duel
from cardai.measure.duplicate import at_the_table, unsealed
from cardai.measure.pool import PlannedTable
from cardai.playing.agents.spec import agent
from cardai.playing.stats import interval
from cardai.playing.stats.deals import rotations
from cardai.playing.table.many import play

HEARTS, DURAK, MOSKA = map(cardai.load, ("hearts", "durak", "moska"))
NOTING, NOTING_TOO = "python:remembering:noting", "python:remembering:noting_too"
LIGHT = {"hearts": "duck", "durak": "thrifty", "moska": "bot2"}


@pytest.fixture
def dealt(monkeypatch):
    """Fills a Counter with how often foreign code plays each deal: {seed: games}."""
    found = Counter()

    def noted(game, agents, lineups, seeds, **options):
        foreign = np.array([player.is_foreign for player in agents])
        found.update(np.asarray(seeds)[foreign[lineups].any(axis=1)].tolist())
        return play(game, agents, lineups, seeds, **options)

    for module in ("cardai.measure.duplicate", "cardai.measure.league"):
        monkeypatch.setattr(f"{module}.play", noted)
    monkeypatch.setattr(league, "_SPEED_GAMES", (8,))
    remembering.PUT_TOGETHER.clear()
    return found


def once(dealt: Counter, least: int) -> bool:
    """Whether foreign code has played enough games, and no deal twice."""
    return len(dealt) >= least and set(dealt.values()) == {1}


@pytest.mark.parametrize("game", [HEARTS, DURAK, MOSKA], ids=lambda game: game.name)
def test_no_deal_comes_twice_in_a_match(game, dealt):
    report = run_match(game, [NOTING, *[LIGHT[game.name]] * 3], games=40, variant=None)
    assert once(dealt, 40)
    assert report.own_deals
    assert report.salt
    assert "no deal played twice, since an agent runs code that may remember it" in condition_notes(report)[0]


def test_in_a_suite_neither_rows_nor_agents_share_a_deal_that_foreign_code_saw(dealt):
    suite = next(iter(MOSKA.agents.suites))
    report = run_suite(MOSKA, suite, agents=[NOTING, NOTING_TOO, "bot1"], games=8)
    assert once(dealt, 2 * 8 * len(MOSKA.agents.suites[suite].rows))
    assert report.own_deals


def test_hands_of_four_rotations_make_a_deck_where_deals_are_shared_and_never_where_they_are_not(dealt, monkeypatch):
    """The adversary finds whole deals where they are shared: the test can fail."""
    line_up = [NOTING, "duck", "duck", "duck"]
    run_match(HEARTS, line_up, games=80, variant="paper_hold")
    assert len(remembering.PUT_TOGETHER) > 500
    assert sum(remembering.PUT_TOGETHER) == 0
    monkeypatch.setattr(duplicate, "needs_own_deals", lambda players: False)
    run_match(HEARTS, line_up, games=80, variant="paper_hold")
    assert sum(remembering.PUT_TOGETHER) > 300


def test_no_deal_comes_twice_in_a_duel_even_if_it_is_resumed(dealt, tmp_path):
    foes = {"candidate": NOTING, "other": "thrifty", "seats": 3, "games": 60}
    found = duel(DURAK, **foes, folder=tmp_path)
    assert once(dealt, 60)
    assert found.own_deals
    assert "no deal was played twice" in str(found)
    first = set(dealt)
    duel(DURAK, **foes, folder=tmp_path / "again")
    assert once(dealt, 120)
    assert len(first) == 60 or first < set(dealt)


def test_no_deal_comes_twice_in_a_league_and_none_that_an_agent_was_timed_with(dealt, monkeypatch):
    timed = set()

    def noted(game, agents, lineups, seeds, **options):
        timed.update(seeds.tolist())
        return play(game, agents, lineups, seeds, **options)

    monkeypatch.setattr("cardai.measure.speed.play", noted)
    pool = tuple(agent(DURAK, spec) for spec in ("random", "thrifty", NOTING, NOTING_TOO))
    plan = league.LeaguePlan((PlannedTable(DURAK, DURAK.default_variant, 3, pool),), {})
    played = league.run_all(games=60, plan=plan)
    assert played.left_out == {}
    assert once(dealt, 30)
    assert timed
    assert not timed & set(dealt)
    assert played.tables[0].salt


def test_other_agents_are_compared_on_the_deals_of_the_first_foreign_one(monkeypatch):
    seeds = {}

    def noted(game, agents, lineups, given, **options):
        seeds[agents[lineups[0][0]].spec] = given.reshape(-1, lineups.shape[1])
        return play(game, agents, lineups, given, **options)

    monkeypatch.setattr("cardai.measure.duplicate.play", noted)
    run_suite(DURAK, agents=["defensive", NOTING, NOTING_TOO], games=40)
    assert (seeds["defensive"] == seeds[NOTING]).all()
    assert not np.isin(seeds[NOTING_TOO], seeds[NOTING]).any()


def test_without_foreign_code_deals_are_shared_as_before(monkeypatch):
    seeds = []
    monkeypatch.setattr(
        "cardai.measure.duplicate.play",
        lambda *given, **options: [seeds.append(given[3]), play(*given, **options)][1],
    )
    report = run_match(DURAK, ["thrifty", "random", "random"], games=12)
    assert len(np.unique(seeds[0])) == 4
    assert not report.own_deals


def test_an_isolated_agent_has_a_process_for_each_place_and_others_are_named():
    here, there = agent(HEARTS, NOTING), agent(HEARTS, NOTING_TOO)
    ducks = [agent(HEARTS, "duck")] * 2
    ran = "ran in cardai's process, which holds all cards"
    places = "had several places at a table, which can tell each other their hands"
    assert unsealed([[here, *ducks], ducks], None) == (f"{NOTING} {ran}",)
    assert unsealed([[here, here, *ducks], [there, here]], None) == tuple(
        f"{label} {reason}" for label, reason in ((NOTING, ran), (NOTING, places), (NOTING_TOO, ran))
    )
    assert unsealed([ducks], "pepper") == ()
    assert len(at_the_table([agent(HEARTS, NOTING), here, *ducks])) == 2
    strategy = SimpleNamespace(is_isolated=True)
    apart: list[Any] = [SimpleNamespace(is_foreign=True, strategy=strategy, spec="x", label="x") for _ in range(2)]
    assert len(at_the_table(apart)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("adversary", ["remembering", "counting", "timing", "writing"])
def test_memory_gains_nothing_in_hearts(adversary, tmp_path, monkeypatch):
    """Points of the same player with and without memory, on the same deals: their difference contains 0, to 1 point."""
    monkeypatch.setenv("CARDAI_NOTES", str(tmp_path / "notes"))
    assert_equal(HEARTS, adversary, "points", 1.0, 400 if adversary == "writing" else 1600, "paper_hold")


@pytest.mark.slow
@pytest.mark.parametrize(("game", "games"), [(DURAK, 12_000), (MOSKA, 14_000)], ids=["durak", "moska"])
def test_memory_gains_nothing_in_durak_and_moska(game, games):
    assert_equal(game, "remembering", "score", 0.01, games, None)


def assert_equal(game, adversary, measure, most, games, variant):
    values = {}
    for name in ("forgetful", adversary):
        line_up = [agent(game, spec) for spec in (f"python:remembering:{name}", *[LIGHT[game.name]] * 3)]
        turns, noted = rotations(4), [measure] if measure != "score" else []
        results, places = duplicate.play_rotated(
            game, line_up, turns, games // 4, 1, game.canonical(variant), 2, None, salt="a salt", noted=noted
        )
        values[name] = duplicate.outcomes_of_place(places, 0, duplicate.outcomes(game.payoff, measure, results))
    found = interval.compare(values[adversary], values["forgetful"]).difference
    print(f"{game.name} {adversary}, n {games}: {found}")  # shown by -s
    assert found.contains(0.0), found
    assert found.high - found.low < 2 * most, found
