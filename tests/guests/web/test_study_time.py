"""A study may limit how long people think: a program moves for whoever is late, and that is said and kept."""

import csv
import time
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any

import pytest
from web_clients import NONCE
from web_people import move, open_at, views
from web_study import FILE, SECRET, Served, ask, come, names, play

from cardai import CardaiError
from cardai.guests.web.protocol import Time, read_protocol
from cardai.guests.web.store import Store
from cardai.guests.web.study import words_of
from cardai.guests.web.study_report import export_study, games_of
from cardai.records.record import verify

LIMITED = f'{FILE}\n[time]\nmove = 30\nlate = "random"\n'


@pytest.fixture
def limited(tmp_path, protocol):
    """Start a study with a limit in seconds, however short. Gives it and the browser of its participant."""
    with ExitStack() as stack:

        def start(**limits: Any):
            limit = replace(protocol, time=Time(late=SECRET, **limits))
            served = stack.enter_context(Served(tmp_path / "limited.sqlite", limit, 1))
            return served, come(served, 0)

        yield start


def own_moves(served: Served) -> list[tuple[str | None, float]]:
    """The agent and the seconds of each move of the participant in their first game."""
    table = served.people.of_number(1).tables[0]
    return served.store.read("SELECT agent, seconds FROM move WHERE table_id = ? ORDER BY ply", table)


def begin(socket) -> dict:
    socket.send_json({"nonce": NONCE})
    return views(socket, lambda view: view.get("moves"))


def later_than(socket, view: dict) -> dict:
    """The view of the next own decision."""
    return views(socket, lambda now: now.get("moves") and now["ply"] > view["ply"])


def test_a_program_moves_for_whoever_is_late_and_the_person_plays_on(limited):
    served, browser = limited(move=1.0)
    with open_at(browser, ask(browser, "next")["table"]) as socket:
        first = begin(socket)
        assert (first["time"], first["late"]) == ([1.0, None], False)
        later = later_than(socket, first)
        assert later["late"]
        assert names(str(later)) == set(), "nobody is told which program it was"
        assert later["stand_in"] is None
        move(socket, later)
        views(socket, lambda view: view["ply"] > later["ply"])
    (helper, seconds), (own, quick) = own_moves(served)[:2]
    assert (helper, own) == (SECRET, None)
    assert seconds == pytest.approx(1.0)
    assert 0 < quick < 1.0


def test_the_time_of_a_game_is_used_up_by_all_moves_together(limited):
    served, browser = limited(game=1.5)
    with open_at(browser, ask(browser, "next")["table"]) as socket:
        view = begin(socket)
        time.sleep(0.3)
        move(socket, view)
        assert 0 < later_than(socket, view)["time"][1] < 1.2
        assert views(socket, lambda now: now["over"])["late"]
    moves = own_moves(served)
    assert [helper for helper, _ in moves] == [None, *[SECRET] * (len(moves) - 1)]
    assert sum(seconds for _, seconds in moves) == pytest.approx(1.5, abs=0.01)


def test_closing_the_page_stops_no_clock_and_what_nobody_saw_has_its_whole_time(limited):
    served, browser = limited(move=1.0)
    table = ask(browser, "next")["table"]
    with open_at(browser, table) as socket:
        first = begin(socket)
    time.sleep(1.1)
    with open_at(browser, table) as socket:
        later = later_than(socket, first)
        move(socket, later)
        deadline = time.monotonic() + 5
        while len(own_moves(served)) < 2 and time.monotonic() < deadline:  # a closed page may take it along
            time.sleep(0.005)
    time.sleep(1.2)
    with open_at(browser, table) as socket:
        view = views(socket, lambda view: view["over"] or view.get("moves"))
        assert view["over"] or view["ply"] == later["ply"] + 2, "the opponent moved; this decision is seen now"
    assert [helper for helper, _ in own_moves(served)[:2]] == [SECRET, None]


def test_the_time_of_a_game_lasts_over_a_restart(limited):
    served, browser = limited(game=20)
    table = ask(browser, "next")["table"]
    with open_at(browser, table) as socket:
        view = begin(socket)
        time.sleep(0.2)
        move(socket, view)
        left = later_than(socket, view)["time"][1]
    with closing(Store(served.store.path)) as again:
        (seat,) = [seat for seat in again.table(table).seats if seat.agent is None]
    assert 20 - seat.thought == pytest.approx(left)
    assert 0.2 <= seat.thought < 2


def test_report_and_export_say_in_which_games_somebody_was_late(limited):
    served, browser = limited(game=1.5)
    play(browser, 1)
    with open_at(browser, ask(browser, "next")["table"]) as socket:
        begin(socket)
        views(socket, lambda view: view["over"])
    report = served.report()
    games = {row.what: (row.games, row.unfinished) for row in report.rows}
    assert (games["all"], games["in time"]) == ((2, 0), (1, 0))
    assert "no move was made for the person" in " ".join(str(report).split())
    files = export_study(served.protocol, served.people, served.store.path.with_suffix(".export"))
    rows = list(csv.DictReader(files[2].read_text().splitlines()))
    assert {(row["order"], row["late"]) for row in rows} == {("1", "0"), ("2", "1")}
    thought = {row["order"]: float(row["thought"]) for row in csv.DictReader(files[0].read_text().splitlines())}
    for one in games_of(served.protocol, served.people):
        seconds = [float(row["seconds"]) for row in rows if row["order"] == str(one.order)]
        assert thought[str(one.order)] == pytest.approx(sum(seconds), abs=0.1)
    assert all(verify(path).games for path in files[3:])


def test_participants_are_told_before_they_agree(limited):
    told = ask(limited(move=90, game=900)[1], "state")["time"]
    assert told.startswith("You have 90 seconds for each move and 15 minutes for all your moves in a game together.")
    assert "a program makes the move for you" in told
    assert names(told) == set()
    assert words_of(Time()) == ""


def test_times_are_kept_where_there_is_no_limit_too(limited):
    served, browser = limited()
    play(browser, 1)
    assert all(helper is None and 0 < seconds < 5 for helper, seconds in own_moves(served))


def test_a_limit_of_time_is_read_and_what_cannot_be_kept_is_refused(file):
    file.write_text(LIMITED)
    assert read_protocol(file).time == Time(30, 0, "random")
    for old, new, words in [
        ("move = 30", "move = 3", "time: move must be at least 5"),
        ("move = 30", "game = 90000", "time: game must be at most 86400"),
        ("move = 30", "move = 1.5", "a whole number"),
        ('late = "random"', 'late = "greedy:best9"', "greedy:best9"),
        ('late = "random"', 'late = "peek:random"', "peek"),
        ("[time]", "[aids]\nundo = true\n[time]", "without a limit of time"),
    ]:
        file.write_text(LIMITED.replace(old, new))
        with pytest.raises(CardaiError, match=words):
            read_protocol(file)
