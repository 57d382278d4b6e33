"""What a seat is told of hidden moves: no transcript for a seat names a card that others passed on unseen."""

import json
import math
import re
from pathlib import Path

import passing
import pytest

import cardai
from cardai.cli.main import run
from cardai.cli.show.seats import NAMES
from cardai.laws import check
from cardai.playing.table.one import OneGame

RULES = Path(passing.__file__)
CARD = re.compile(r"\b[234][CDHS]\b")


@pytest.fixture
def output(capsys):
    """The output of a command line that must succeed."""

    def printed(*tokens):
        capsys.readouterr()
        assert run([str(token) for token in tokens]) == 0
        return capsys.readouterr().out

    return printed


@pytest.fixture
def file(tmp_path, output):
    """Four games of Pass Left."""
    path = tmp_path / "games.jsonl"
    seats = ("--seats", "high,random,random", "--variant", "two", "--games", 4)
    output("match", RULES, *seats, "--record", path)
    return path


def passes(lines, seat):
    """The moves of the exchange: those of a seat, and those of the others."""
    chosen = [(mover, words) for mover, words in lines if words.startswith("pass")]
    assert len(chosen) == 3
    return [words for mover, words in chosen if mover == seat], [words for mover, words in chosen if mover != seat]


def transcript(text, own=None):
    """The moves of a replay, (seat, words). `own`: the seat that is called You."""
    names = {name: seat for seat, name in enumerate(NAMES)} | {"You": own}
    return [(names[name], words) for name, words in re.findall(r"^ *\d+ +([A-Z]\w+):? (.*?) *$", text, re.MULTILINE)]


@pytest.mark.parametrize("seat", range(3))
def test_the_history_of_a_table_names_only_own_passed_cards(seat):
    table = OneGame(passing.GAME, [cardai.agent(passing.GAME, "random")] * 3, seed=4)
    table.run()
    own, others = passes(table.history(seat), seat)
    assert len(CARD.findall(own[0])) == 2
    assert others == ["passes 2 cards"] * 2


@pytest.mark.parametrize("seat", range(3))
def test_a_replay_for_a_seat_names_only_own_passed_cards(file, output, seat):
    everything, text = (output("replay", file, "--rules", RULES, "--game", 2, *more) for more in ((), ("--seat", seat)))
    own, others = passes(transcript(text, seat), seat)
    assert len(CARD.findall(own[0])) == 2
    assert others == ["passes 2 cards"] * 2
    plays = [
        [words.replace("plays ", "play ") for _, words in transcript(*one)] for one in ((everything,), (text, seat))
    ]
    assert [words for words in plays[0] if words.startswith("play")] == [
        words for words in plays[1] if words.startswith("play")
    ]
    assert "seed" in everything
    assert "seed" not in text
    assert "sees it" not in text
    assert len(re.findall(r"as you see it", text)) == len(transcript(text, seat))
    assert f"\n{NAMES[seat]} is " in everything
    assert not re.search(r"\bp\d\b", text + everything)


@pytest.mark.parametrize("seat", range(3))
def test_an_analysis_for_a_seat_names_only_own_passed_cards_and_values_only_own_positions(file, output, seat):
    given = ("analyse", file, "--rules", RULES, "--agent", "greedy:taken", "--seat", seat)
    report = json.loads(output(*given, "--json"))
    own, others = passes([(turn["seat"], turn["move"]) for turn in report["turns"]], seat)
    assert len(CARD.findall(own[0])) == 2
    assert others == ["passes 2 cards"] * 2
    assert report["seed"] is None
    for turn in report["turns"]:
        values = [turn[name] for name in ("value", "worth", "best", "best_worth")]
        assert turn["seat"] == seat or (values == [None] * 4 and turn["listed"] == 0)
    assert any(turn["value"] is not None for turn in report["turns"])
    table = output(*given)
    assert "seed" not in table
    assert not [
        line for line in table.splitlines() if "passes " in line and f"p{seat}" not in line and CARD.search(line)
    ]


def test_without_a_seat_an_analysis_shows_everything(file, output):
    report = json.loads(output("analyse", file, "--rules", RULES, "--agent", "greedy:taken", "--json"))
    turns = report["turns"]
    assert all(len(CARD.findall(turn["move"])) == 2 for turn in turns[:3])
    assert {turn["seat"] for turn in turns if turn["value"] is not None} == {0, 1, 2}
    assert report["seed"] is not None


@pytest.mark.parametrize("verb", [("replay",), ("analyse", "--agent", "greedy:taken")])
def test_a_seat_that_is_not_there_is_refused(file, capsys, verb):
    assert run([verb[0], str(file), "--rules", str(RULES), *verb[1:], "--seat", "3"]) == 2
    assert "there is no seat 3; the seats are 0 to 2" in capsys.readouterr().err


def test_knowledge_laws_take_a_hidden_move_by_what_is_told_of_it():
    laws = ["unrevealed_moves_look_the_same", "nothing_is_learnt_unseen", "nothing_seen_is_forgotten"]
    assert [verdict.verdict for verdict in check(passing.GAME, laws=laws, effort="quick")] == ["holds"] * 3


def test_without_tell_a_passed_card_that_worlds_deal_anew_is_forgotten():
    (verdict,) = check(passing.PLANTED["no tell"], laws=["nothing_seen_is_forgotten"], seconds=math.inf)
    assert "which it knew from the last move or before" in verdict.why
