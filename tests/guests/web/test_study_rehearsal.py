"""A study is rehearsed from the codes to the report by agents that act as its people, on the page and without it."""

import re
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from study_rehearsal import PERSONS, Actor, rehearse, shares, stage
from web_pages import CHROMIUM, LARGE, Screen, chromium
from web_study import kept_in, traces_of

import cardai
from cardai.guests.web.protocol import Stop, Time, read_protocol
from cardai.guests.web.study import exports_of, words_of
from cardai.guests.web.study_report import export_study, measure_study

THESIS = Path(__file__).parents[3] / "experiments/studies/moska-thesis.toml"
HOSTING = (Path(__file__).parents[3] / "docs/hosting.md").read_text("utf-8")
has_page = pytest.mark.skipif(not CHROMIUM or not find_spec("playwright"), reason="needs a Chromium")
MIXED = ("greedy:open_lines", "random", "greedy:open_lines", "random", "random", "greedy:open_lines", "random")


def rehearsed(folder: Path, games: list[int], protocol, persons=MIXED, page: int = 0):
    """The report of a rehearsal, and its codes' participants."""
    protocol = replace(protocol, pause=0.0, games_each=max(games), stop=Stop(games=sum(games)))
    folder.mkdir(exist_ok=True)
    with stage(folder / "study.sqlite", protocol) as here:
        actors = rehearse(here, persons, games, page)
        report = measure_study(protocol, here.people)
        told = here.ask("state", {}, actors[-1].cookie)
        traces, exported = traces_of(here.people, len(persons)), exports_of(here.store.path)
        export_study(protocol, here.people, exported)
        there = kept_in(folder, traces)
        here.ask("delete", {"delete": True}, actors[-1].cookie)
        left = measure_study(protocol, here.people)
        files = export_study(protocol, here.people, exported)
        (command,) = re.findall(r'^python -c "(.*backup.*)"$', HOSTING, re.MULTILINE)
        subprocess.run([sys.executable, "-c", command.replace("tables", "study")], cwd=folder, check=True)
        assert there == {*traces}, "the search finds what is there"
        assert kept_in(folder, traces) == set(), "the file, a new export and a new backup have nothing of who is gone"
        assert f"P{len(persons):02}" not in "".join(file.read_text("utf-8") for file in files[:3])
        print(f"{len(traces)} traces of P{len(persons):02} in {folder} before they deleted their data, 0 afterwards")
    return report, left, told


def test_a_rehearsal_goes_from_the_codes_to_the_report(protocol, tmp_path):
    report, left, told = rehearsed(tmp_path / "even", shares(21, 7), protocol)
    assert (report.rows[0].people, report.rows[0].games, report.rows[0].unfinished) == (7, 21, 0)
    assert report.is_over
    assert (told["place"], told["finished"]) == ("done", 3)
    assert report.rows[0].figure.low < report.rows[0].figure.point < report.rows[0].figure.high
    assert (left.rows[0].people, left.rows[0].games, left.deleted) == (6, 18, 1)
    assert [one.person for one in left.persons] == [f"P0{number}" for number in range(1, 7)]


@has_page
def test_participants_come_agree_and_play_on_the_page(protocol, tmp_path):
    limited = replace(protocol, time=Time(move=60, game=900))
    report, _, _ = rehearsed(tmp_path / "page", [2, 1], limited, MIXED[:2], page=2)
    assert (report.rows[0].people, report.rows[0].games) == (2, 3)


@has_page
def test_a_participant_sees_how_much_time_is_left_and_that_a_program_moved(protocol, tmp_path):
    violations = pytest.importorskip("test_web_accessible").violations
    with stage(tmp_path / "study.sqlite", replace(protocol, time=Time(move=2, game=60, late="random"))) as here:
        ((_, code),) = here.people.add(1)
        actor = Actor(here, code, cardai.agent(cardai.load("tictactoe"), "random"), 0)
        with chromium() as browser:
            screen = Screen(browser, here.home, LARGE, "light", settings='{"tap": false, "forced": false}')
            page = screen.page
            page.goto(f"{here.home}/study#{code}")
            page.wait_for_selector(f"text={words_of(here.protocol.time)}")
            actor.sit_down(screen)
            page.wait_for_selector(f"text={words_of(here.protocol.time)}")
            page.click("[data-key=next]")
            page.wait_for_selector(".own .clock:has-text('0:02 for this move, 1:00 for the game')")
            assert violations(screen) == []
            page.wait_for_selector(".company:has-text('Your time was over')")
            page.wait_for_selector(".result h2")
            assert violations(screen) == []


@pytest.mark.slow
@pytest.mark.parametrize("games", [shares(260, 7), [200, *[10] * 6]], ids=["even", "one plays 200"])
def test_the_study_of_the_thesis_is_rehearsed(games, tmp_path):
    page = 14 if CHROMIUM and max(games) < 200 else 0
    report, left, _ = rehearsed(tmp_path / "thesis", games, read_protocol(THESIS), PERSONS, page)
    print(report)
    row = report.rows[0]
    assert (row.people, row.games) == (7, 260)
    assert row.fair == 0.25
    assert row.figure.point == pytest.approx(np.mean([one.figure for one in report.persons])), "each counts once"
    assert row.pooled.point == pytest.approx(sum(one.figure * one.games for one in report.persons) / 260)
    assert 0.1 < row.figure.low < row.figure.point < row.figure.high < 0.7
    assert [one.games for one in report.persons] == games
    assert left.rows[0].people == 6
