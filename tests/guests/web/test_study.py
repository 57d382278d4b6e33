"""A study of people: its protocol, who plays what, consent, blinding, stopping, deletion, and the report."""

import csv
import itertools
import json
import re
import tomllib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from web_clients import NONCE
from web_people import another, open_at, views
from web_study import FILE, SECRET, Served, ask, come, kept_in, names, play, traces_of

import cardai
from cardai import CardaiError
from cardai.cli.main import run
from cardai.guests.web.protocol import ALWAYS, Aids, Stop, protocol_of, read_protocol, williams
from cardai.guests.web.study import exports_of
from cardai.guests.web.study_report import export_study, games_of, measure_study, play_references, refuse_early
from cardai.guests.web.tables import WebTable
from cardai.playing.table.one import OneGame
from cardai.records.record import verify

SHIPPED = sorted((Path(__file__).parents[3] / "experiments/studies").glob("*.toml"))


@pytest.fixture
def served(tmp_path, protocol):
    with Served(tmp_path / "study.sqlite", protocol) as one:
        yield one


# The protocol.


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_protocol_that_is_shipped_can_be_run(path):
    assert read_protocol(path).tables


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("games_each = 4", "games_eech = 4", "no field 'games_eech'"),
        ("games_each = 4", "", "must have games_each"),
        ("games_each = 4", "games_each = true", "a whole number, not True"),
        ("games_each = 4", "games_each = 0", "games_each"),
        ("games = 40", "", "stop says when the study ends"),
        ("games = 40", 'until = "tomorrow"', "a day like 2027-03-31"),
        ('code = "B"', 'code = "A"', "unlike the others"),
        ('opponents = ["random"]', 'opponents = ["greedy:best9"]', "greedy:best9"),
        ('opponents = ["random"]', 'opponents = ["random", "random"]', "seats"),
        ('opponents = ["random"]', "opponents = [3]", "a list of texts"),
        ("pause = 0", "pause = 60", "pause is 0 to 5 seconds"),
        ('measure = "share"', 'measure = "luck"', "no measure 'luck'"),
        ('level = "level"', 'level = "remarks"', "level is the key"),
        ('when = "after"', 'when = "later"', "when is"),
        ("[stop]", "[aids]\nhint = true\n[stop]", "no field 'hint'"),
        ('consent = "We keep your moves."', 'consent = " "', "consent is a text"),
        ("[[table]]", "[table]", "TOML"),
    ],
)  # fmt: skip
def test_a_protocol_that_no_study_could_be_run_by_is_refused_in_a_sentence(file, old, new, words):
    assert old in FILE
    file.write_text(FILE.replace(old, new, 1 if old.startswith("games_each") else -1))
    with pytest.raises(CardaiError, match=re.escape(words)) as refused:
        read_protocol(file)
    assert str(refused.value).startswith(str(file))
    assert "\n" not in str(refused.value)


def test_a_text_game_cannot_hide_what_is_known():
    path = str(Path(__file__).parents[2] / "guess.py")
    content = tomllib.loads(FILE) | {"table": [{"code": "A", "game": path, "opponents": ["random"]}], "references": []}
    with pytest.raises(CardaiError, match="known_cards can be off only in games with zones"):
        protocol_of(content)


@pytest.mark.parametrize("size", range(2, 9))
def test_every_number_stands_in_every_place_and_after_every_other_equally_often(size):
    design = williams(size)
    for place in design.T:
        assert len(set(Counter(place.tolist()).values())) == 1
    pairs = Counter((one, other) for row in design.tolist() for one, other in itertools.pairwise(row))
    assert len(pairs) == size * (size - 1)
    assert len(set(pairs.values())) == 1


def test_line_ups_and_seats_are_balanced_over_people_and_within_each(protocol):
    cells = [(protocol.sitting(0, number).table.code, protocol.sitting(0, number).seat) for number in range(8)]
    assert set(Counter(cells).values()) == {2}
    for number in range(8):
        column = Counter((one.table.code, one.seat) for one in (protocol.sitting(who, number) for who in range(4)))
        assert len(column) == 4, "each game of the order is played in all ways, by four people"
    assert protocol.sitting(1, 0).line_up.count("human") == 1
    other = replace(protocol, seed=6)
    assert any(protocol.sitting(0, number) != other.sitting(0, number) for number in range(8))


def test_a_study_that_runs_keeps_its_protocol_but_for_remarks(file, protocol, capsys):
    assert run(["study", "codes", str(file), "--people", "2", "--home", "https://cards.example"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(re.fullmatch(r"P0\d (\w{10}) https://cards.example/study#\1", line) for line in lines), lines
    file.write_text("# a remark\n" + FILE)
    assert read_protocol(file).digest == protocol.digest
    file.write_text(FILE.replace("games = 40", "games = 41"))
    assert run(["study", "codes", str(file), "--people", "2"]) == 2
    assert "a study that runs keeps its protocol" in capsys.readouterr().err


def test_a_protocol_to_begin_with_is_written_for_any_games_and_can_be_run(tmp_path, capsys):
    path = tmp_path / "new.toml"
    assert run(["study", "new", str(path), "tictactoe", "hearts"]) == 0
    made = read_protocol(path)
    assert [(one.game, one.variant) for one in made.tables] == [("tictactoe", "standard"), ("hearts", "standard")]
    assert made.games_each == 2 + 4
    assert run(["study", "codes", str(path), "--people", "1"]) == 0
    assert run(["study", "new", str(path), "tictactoe"]) == 2
    assert "cannot write" in capsys.readouterr().err
    path.write_text(path.read_text().replace("# [time]", "[time]").replace("# move", "move").replace("# late", "late"))
    assert read_protocol(path).time.move == 120


SEVERAL = f"""
title = "Two games"
contact = "Ada"
consent = "We keep your moves."
games_each = 6
references = ["random", "tictactoe={SECRET}", "hearts=careful", "duck"]
stop = {{ games = 40 }}
plan = {{ persons = ["hearts=careful", "tictactoe=random"], people = [7], games = [4] }}
pause = 0

[[table]]
code = "A"
game = "tictactoe"
opponents = ["random"]

[[table]]
code = "B"
game = "hearts"
opponents = ["careful", "duck", "duck"]
"""


def test_a_study_of_several_games_has_references_and_plans_for_each(tmp_path, capsys):
    path = tmp_path / "several.toml"
    path.write_text(SEVERAL)
    several = read_protocol(path)
    assert several.references_of == {"tictactoe": ["random", SECRET], "hearts": ["random", "careful", "duck"]}
    assert run(["study", "plan", str(path), "--trials", "8", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [found[code]["line_up"][:2] for code in "AB"] == [["human", "random"], ["human", "careful"]]
    assert [[person["spec"] for person in found[code]["persons"]] for code in "AB"] == [["random"], ["careful"]]
    assert [row["people"] for row in found["B"]["rows"]] == [7]
    with Served(tmp_path / "several.sqlite", several, 1) as served:
        browser = come(served, 0, "")
        for _ in range(6):
            play(browser, 1, most=13)
        report = served.report()
        head, *rows = csv.reader(export_study(several, served.people, tmp_path / "out")[0].read_text().splitlines())
    assert [(row.game, [one.spec for one in row.references]) for row in report.rows if row.what == "all"] == [
        ("tictactoe", ["random", SECRET]), ("hearts", ["random", "careful", "duck"])
    ]  # fmt: skip
    assert [(one.person, one.game) for one in report.persons] == [("P01", "tictactoe"), ("P01", "hearts")]
    assert "hearts=careful" in str(report)
    assert "P01 hearts" in str(report)
    assert head[-4:] == [f"{spec} score" for spec in ("random", SECRET, "careful", "duck")]
    assert all((row[-1] == "") == (row[5] == "tictactoe") for row in rows if row[9])
    for old, new, words in [
        ('"hearts=careful", "duck"', '"harts=careful"', "references: 'harts=careful'"),
        (', "tictactoe=random"', "", "no agents that stand for people at tictactoe"),
    ]:
        assert old in SEVERAL
        path.write_text(SEVERAL.replace(old, new))
        assert run(["study", "plan", str(path), "--trials", "8"]) == 2
        assert words in " ".join(capsys.readouterr().err.split())


# Participants.


def test_nobody_plays_before_they_have_agreed(served):
    browser = another(served.client)
    assert ask(browser, "state") == {"place": "enter"}
    assert "code" in ask(browser, "next", status=400)["error"]
    assert "no participant" in ask(browser, "enter", {"code": "aaaaaaaaaa"}, 400)["error"]
    state = ask(browser, "enter", {"code": f" {served.codes[0].upper()} "})
    assert (state["place"], state["consent"], state["person"]) == ("agree", "We keep your moves.", "P01")
    assert "agreed" in ask(browser, "next", status=400)["error"]
    assert "without having agreed" in ask(browser, "agree", {"answers": {"level": "well"}}, 400)["error"]
    assert "choose one of" in ask(browser, "agree", {"agrees": True, "answers": {"level": "very"}}, 400)["error"]
    assert ask(browser, "agree", {"agrees": True, "answers": {"level": "well"}})["place"] == "play"
    assert ask(browser, "next")["table"]


def test_a_participant_goes_on_on_another_device_and_a_stranger_has_no_seat(served):
    first = come(served, 0)
    play(first, 1, most=1)
    second = another(served.client)
    state = ask(second, "enter", {"code": served.codes[0]})
    assert state["running"] == ask(second, "next")["table"] == ask(first, "next")["table"]
    with open_at(come(served, 1), state["running"]) as socket:
        assert "closed" in socket.receive_json()
    assert play(second, 2)[-1]["over"]
    assert ask(first, "state")["finished"] == 1


def test_a_participant_plays_what_the_protocol_says_and_is_asked_at_the_end(served):
    browser = come(served, 1)
    for number in range(4):
        play(browser, number)
    rows = [served.store.table(table) for table in served.people.of_number(2).tables]
    wanted = [served.protocol.sitting(1, number) for number in range(4)]
    assert [tuple(seat.agent or "human" for seat in row.seats) for row in rows] == [one.line_up for one in wanted]
    assert "all your games" in ask(browser, "next", status=400)["error"]
    assert ask(browser, "state")["place"] == "asked"
    assert ask(browser, "answer", {"answers": {"remarks": "nice"}})["place"] == "done"
    assert served.people.of_number(2).answers == {"level": "well", "remarks": "nice"}


def test_who_stops_plays_no_further_game_and_what_they_played_counts(served):
    browser = come(served, 0)
    play(browser, 1)
    assert ask(browser, "stop")["place"] == "asked"
    assert "stopped" in ask(browser, "next", status=400)["error"]
    assert served.people.of_number(1).finished == 1


def test_no_further_game_is_begun_when_the_rule_says_so(tmp_path, protocol):
    with Served(tmp_path / "a.sqlite", replace(protocol, stop=Stop(games=2))) as served:
        one, other = come(served, 0), come(served, 1)
        play(one, 1)
        play(other, 2, most=1)
        assert "has all its games" in ask(one, "next", status=400)["error"]
        assert not served.server.study.study.is_over, "a game is played still"
        play(other, 3)
        assert served.server.study.study.is_over


# What is shown.


def everything_told(served: Served) -> str:
    """All that a participant is sent in a game, and beside it."""
    browser, found = come(served, 0), []
    for number in range(2):
        found += [json.dumps(view) for view in play(browser, number)]
    table = served.people.of_number(1).tables[0]
    for path in ("/study", f"/t/{table}", f"/t/{table}/company", "/organiser", "/rules/tictactoe"):
        found.append(browser.get(path).text)
    return " ".join([*found, *(json.dumps(ask(browser, name)) for name in ("state", "next", "stop"))])


def test_participants_learn_nowhere_who_their_opponents_are(served):
    assert names(everything_told(served)) == set()


def test_a_table_that_names_its_agents_is_found_out(served, monkeypatch):
    def who(table, other, seat, watches):
        return {"name": table.row.seats[other].agent or "you", "kind": "agent"}

    monkeypatch.setattr(WebTable, "_who", who)
    assert names(everything_told(served))


def test_what_would_tell_more_or_choose_who_plays_is_not_there(served):
    browser = come(served, 0)
    play(browser, 1)
    table = served.people.of_number(1).tables[0]
    at_table = ("record", "invite", "fill", "rematch", "branch", "review", "join")
    for address in ("/games", "/tables", "/challenge", *(f"/t/{table}/{what}" for what in at_table)):
        assert {browser.get(address).status_code, browser.post(address, json={}).status_code} <= {404, 405}


def test_aids_that_are_off_are_refused_and_those_that_are_on_are_given(tmp_path, protocol):
    for number, aids in enumerate((Aids(), Aids(True, True, True, True, True))):
        with Served(tmp_path / f"{number}.sqlite", replace(protocol, aids=aids)) as served:
            browser = come(served, 0)
            with open_at(browser, ask(browser, "next")["table"]) as socket:
                socket.send_json({"nonce": NONCE})
                view = views(socket, lambda view: view.get("moves"))
                assert view["aids"] == (list(vars(aids)) if number else [])
                for message in ({"advice": "pieces", "ply": view["ply"]}, {"advice": "standing", "ply": view["ply"]}):
                    socket.send_json(message)
                    answer = views(socket, lambda view: "advice" in view or view.get("error"))
                    assert ("advice" in answer) == bool(number), answer
                socket.send_json({"ply": view["ply"], "move": view["moves"][0][0]})
                later = views(socket, lambda now: now.get("moves") and now["ply"] > view["ply"])  # noqa: B023
                socket.send_json({"undo": view["ply"]})
                after = views(socket, lambda now: now.get("error") or now.get("ply", 99) < later["ply"])  # noqa: B023
                assert ("error" in after) != bool(number)
                socket.send_json({"pause": 1})
                assert "the study says" in views(socket, lambda view: view.get("error"))["error"]


def test_the_organiser_sees_how_far_everybody_is_and_no_result(served):
    play(come(served, 0), 1)
    key = served.server.study.key
    found = ask(served.client, "progress", {"key": key})
    nobody = [[f"P0{number}", "has not come", 0, 0] for number in (2, 3)]
    assert [row[:4] for row in found["people"]] == [["P01", "play", 1, 0], *nobody]
    assert not {"score", "share", "level"} & set(json.dumps(found).replace('"', " ").split())
    assert names(json.dumps(found)) == set()
    assert "organiser" in ask(served.client, "progress", {"key": key[:-1]}, 400)["error"]


# Deletion.


def test_who_deletes_their_data_is_gone_everywhere(served, tmp_path):
    stays, goes = come(served, 0), come(served, 1, "badly")
    for number in range(2):
        play(stays, number)
        play(goes, number)
    open_game = ask(goes, "next")["table"]
    person = served.people.of_number(2)
    folder = exports_of(served.store.path)
    export_study(served.protocol, served.people, folder)
    traces = [*traces_of(served.people, 2), b'{"level": "badly"']
    assert kept_in(tmp_path, traces) == {*traces}, "the search finds what is there"
    with open_at(goes, open_game) as socket:
        views(socket)
        assert "say delete" in ask(goes, "delete", {}, 400)["error"]
        assert ask(goes, "delete", {"delete": True})["place"] == "enter"
        assert views(socket, lambda frame: "closed" in frame)["closed"] == "this game was deleted"
    assert kept_in(tmp_path, traces) == set()
    assert not [*folder.iterdir()], "exports are made anew"
    assert ask(goes, "state") == {"place": "enter"}
    assert "no participant" in ask(goes, "enter", {"code": served.codes[1]}, 400)["error"]
    assert all(served.server.room.table(table) is None for table in person.tables)
    assert "no such table" in goes.post(f"/t/{open_game}/arrive", json={"invitation": "x"}).json()["error"]
    assert {one.person for one in games_of(served.protocol, served.people)} == {"P01"}
    assert served.report().deleted == 1
    ((name, _),) = served.people.add(1)
    assert name == "P04", "nobody gets the number of somebody who is gone"


# The report.


def test_the_report_waits_for_the_end(served, file):
    play(come(served, 0), 1)
    with pytest.raises(CardaiError, match="the study goes on, with 1 games so far"):
        refuse_early(served.protocol, served.people)
    assert run(["study", "report", str(file)]) == 2
    refuse_early(replace(served.protocol, results=ALWAYS), served.people)


def test_the_report_counts_each_person_once_and_unfinished_games_both_ways(served):
    for number, games in ((0, 4), (1, 2)):
        browser = come(served, number, ("well", "badly")[number])
        for luck in range(games):
            play(browser, 3 + luck)
    play(browser, 3, most=1)
    report = served.report()
    games = games_of(served.protocol, served.people)
    row = report.rows[0]
    assert (row.what, row.people, row.games, row.unfinished) == ("all", 2, 6, 1)
    shares = {"P01": [], "P02": []}
    for one in games:
        if one.scores is not None:
            shares[one.person].append(0.5 if one.scores[0] == one.scores[1] else one.scores[one.seat])
    assert row.figure.point == pytest.approx(np.mean([np.mean(own) for own in shares.values()]))
    assert row.with_all.point == pytest.approx(np.mean([np.mean(shares["P01"]), np.mean([*shares["P02"], 0.0])]))
    assert row.pooled.point == pytest.approx(np.mean([*shares["P01"], *shares["P02"]]))
    assert row.fair == pytest.approx(0.5)
    assert np.isnan(row.figure.low)
    assert "no interval: fewer than 5 people" in str(report)
    assert {one.what for one in report.rows} == {"all", "table A", "table B", "level well", "level badly"}
    early, late = np.mean(shares["P01"][:2]), np.mean(shares["P01"][2:])
    assert (report.persons[0].early, report.persons[0].late) == pytest.approx((early, late))
    json.dumps(report.as_json())


def test_agents_play_the_deals_of_people_in_their_seats(served):
    browser, game = come(served, 0), cardai.load("tictactoe")
    for number in range(4):
        play(browser, number)
    games = games_of(served.protocol, served.people)
    play_references(served.protocol, games)
    for one, spec in itertools.product(games, served.protocol.references):
        line_up = [cardai.agent(game, seat.agent or spec) for seat in one.row.seats]
        table = OneGame(game, line_up, one.row.seed, one.row.variant)
        table.run()
        assert one.references[spec].tolist() == table.scores().tolist()
    row = measure_study(served.protocol, served.people).rows[0]
    assert [one.spec for one in row.references] == [SECRET, "random"]
    for one in row.references:
        assert one.ahead.point == pytest.approx(row.figure.point - one.own.point)


def test_the_export_has_person_level_order_and_times_and_its_records_verify(served):
    for number in (0, 1):
        browser = come(served, number)
        for luck in range(3):
            play(browser, luck)
    play(browser, 1, most=1)
    folder = exports_of(served.store.path)
    files = export_study(served.protocol, served.people, folder)
    rows = list(csv.DictReader(files[0].read_text().splitlines()))
    assert [(row["person"], row["level"], row["order"]) for row in rows] == [
        *(("P01", "well", str(n)) for n in (1, 2, 3)), *(("P02", "well", str(n)) for n in (1, 2, 3, 4))
    ]  # fmt: skip
    assert rows[-1]["record"] == rows[-1]["score"] == rows[-1]["ended"] == ""
    assert all(row["begun"] <= row["ended"] and float(row["seconds"]) >= 0 for row in rows[:-1])
    assert all(verify(path).games for path in files[3:])
    assert {row["record"] for row in rows[:-1]} == {path.name for path in files[3:]}
    with pytest.raises(CardaiError, match="holds an export already"):
        export_study(served.protocol, served.people, folder)
    text = "".join(path.read_text() for path in files[:3])
    assert not [code for code in served.codes if code in text]
