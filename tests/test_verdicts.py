"""A law holds, is broken, or was not tested; and if not, it says why, and whether the game lacks a field."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import planted_biases
import planting
import pytest
import small_game

import cardai
from cardai.cli.main import run
from cardai.cli.show import laws
from cardai.laws import LawResult, check
from cardai.laws import testbed as kit
from cardai.laws.law import Law, each, take_turns
from cardai.laws.testbed import EFFORTS, Counted, Looked

COUNT_CARDS = [
    "cards_are_conserved",
    "dealt_cards_lie_as_in_worlds",
    "worlds_keep_no_card_of_the_truth",
    "hidden_cards_lie_evenly",
]


def result_of(law: Law, seconds: float = 1.0) -> LawResult:
    (result,) = take_turns([law], kit.Testbed(small_game.GAME, 0, EFFORTS["quick"]), seconds, lambda law: None)
    return result


def law_of(count: int, answer: object, **options: object) -> Law:
    def a_law(thing: int) -> object:
        """Something is so."""
        return answer

    return each("things", lambda testbed: range(count), **options)(a_law)  # pyright: ignore[reportArgumentType]


def test_a_law_that_looked_at_nothing_does_not_hold() -> None:
    result = result_of(law_of(0, None))
    assert (result.verdict, result.cause, result.why) == ("not tested", "game", "the game has no things")

    def steps(_testbed: kit.Testbed) -> Iterator[Counted[int]]:
        yield Counted((), "things")

    assert result_of(Law("bare", "bare", steps)).verdict == "not tested"  # pyright: ignore[reportArgumentType]


def test_a_law_whose_things_all_offer_nothing_does_not_hold() -> None:
    assert result_of(law_of(3, None)).verdict == "holds"
    result = result_of(law_of(3, False, none="no thing is red"))
    assert (result.verdict, result.cause, result.why) == ("not tested", "game", "no thing is red")


def test_a_law_that_was_cut_before_it_found_anything_says_so() -> None:
    assert result_of(law_of(10_000, False, none="no thing is red"), 1e-9).cause == "part"

    def steps(_testbed: kit.Testbed) -> Iterator[Looked]:
        looked = Looked(10, "things")
        looked.enough = True
        yield looked

    result = result_of(Law("late", "late", steps), 1e-9)  # pyright: ignore[reportArgumentType]
    assert (result.verdict, result.cause, result.why) == ("not tested", "part", "the time was over before any things")


def test_without_holdings_the_laws_that_count_cards_are_not_tested() -> None:
    results = check(small_game.GAME.changed(holdings=None), laws=COUNT_CARDS, effort="quick")
    assert [(result.verdict, result.cause) for result in results] == [("not tested", "field")] * len(COUNT_CARDS)
    assert {result.why for result in results} == {
        "the game has no `holdings`: with it the laws count the cards of each place"
    }


def test_a_biased_sampler_without_holdings_is_not_said_to_hold() -> None:
    """It was: 73 of 73 laws held of it."""
    game = planted_biases.PLANTED["LOW_CARD"]
    (verdict,) = check(game.changed(holdings=None), laws=[planting.LAW_OF[game]], effort="quick")
    assert (verdict.verdict, verdict.cause) == ("not tested", "field")


def test_a_game_that_hides_nothing_lacks_nothing() -> None:
    names = [*COUNT_CARDS, "encodings_are_the_same_in_every_world", "worlds_deal_anew_what_is_hidden"]
    results = check(cardai.load("tictactoe"), laws=names, effort="quick")
    assert {(result.verdict, result.cause, result.why) for result in results} == {
        ("not tested", "game", "nothing is hidden in this game")
    }


def test_what_a_game_does_not_offer_is_not_tested() -> None:
    (result,) = check(small_game.GAME.changed(heuristics={}), laws=["heuristics_are_finite"], effort="quick")
    assert (result.verdict, result.cause, result.why) == ("not tested", "game", "the game has no `heuristics`")


def result(law: str, verdict: str, why: str = "", cause: str = "", **more: Any) -> LawResult:
    return LawResult(law, "Something is so", verdict, 0.1, why, cause, **more)  # pyright: ignore[reportArgumentType]


RESULTS = [
    result("first", "holds", looked=1, what="games"),
    result("second", "not tested", "the game has no `holdings`: with it the laws count the cards", "field"),
    result("third", "broken", "third: variant two, seed 3, ply 4: a card is lost"),
    result("fourth", "not tested", "the game has no `teams`", "game"),
    result("fifth", "not tested", "the game has no `zones`", "game"),
    result("sixth", "not tested", "the game has no `zones`", "game"),
    result("seventh", "not tested", "the game ended 3 laws before it", "call"),
    result("eighth", "holds", looked=3, total=9, what="views", cut=True, remark="slow"),
    result("ninth", "holds", looked=2, total=80, what="views", cut=True),
]


def test_the_report_groups_what_was_not_tested_and_ends_with_the_numbers() -> None:
    assert laws.report("mine", RESULTS) == (
        "not tested, nothing of the kind in this game:\n"
        "  the game has no `teams`, `zones` (3 laws)\n"
        "\n"
        "not tested, the game crashed or did not return:\n"
        "  the game ended 3 laws before it (seventh)\n"
        "\n"
        "not tested, a field is missing:\n"
        "  the game has no `holdings`: with it the laws count the cards (second)\n"
        "\n"
        "BROKEN third: Something is so.\n"
        "  variant two, seed 3, ply 4: a card is lost\n"
        "\n"
        "2 laws looked at a part, for want of time (the least: ninth, 2 of 80); "
        "more --seconds or --effort thorough looks at all\n"
        "\n"
        "mine: 1 broken, 5 not tested (1: `holdings` is missing; 1: the game crashed or did not return; "
        "3: nothing of the kind in this game), 3 hold\n"
        "WARNING: this game hides cards and has no `holdings`, so 1 law on where cards\n"
        "lie saw nothing: cards that are dealt unevenly are not found"
    )
    assert "WARNING" not in laws.report("mine", [row for row in RESULTS if row.cause != "field"])


def test_a_verbose_report_names_every_law() -> None:
    text = laws.report("mine", RESULTS, verbose=True)
    assert text.splitlines()[:5] == [
        "holds first (looked at 1 game)",
        "holds eighth (looked at 3 of 9 views; slow)",
        "holds ninth (looked at 2 of 80 views)",
        "",
        "not tested, nothing of the kind in this game:",
    ]
    assert "`teams`, `zones` (fourth, fifth, sixth)" in text


def test_reasons_fit_a_terminal_of_80_columns() -> None:
    text = laws.report("tictactoe", check(cardai.load("tictactoe"), effort="quick", seconds=0.1), verbose=True)
    reasons = [line for line in text.splitlines() if line.startswith("  ")]
    assert reasons
    assert max(map(len, reasons)) <= 80


@pytest.fixture
def unseen(tmp_path: Path) -> str:
    """The path of a game that leaves out `holdings`."""
    path = tmp_path / "unseen.py"
    path.write_text(Path(small_game.__file__).read_text("utf-8").replace("holdings=holdings, ", ""), "utf-8")
    return str(path)


def test_a_missing_field_fails_only_a_strict_check(unseen: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["check", unseen, "--law", "cards_are_conserved", "--law", "teams_score_alike", "--effort", "quick"]
    assert run(command) == 0
    said = capsys.readouterr().out
    assert said.endswith(
        "low_hand: 0 broken, 2 not tested (1: `holdings` is missing; 1: nothing of the kind in this game), 0 hold\n"
        "WARNING: this game hides cards and has no `holdings`, so 1 law on where cards\n"
        "lie saw nothing: cards that are dealt unevenly are not found\n"
    )
    assert run([*command, "--strict"]) == 1
    assert run([*command[:2], *command[4:], "--strict"]) == 0  # that there are no teams is no lack
    capsys.readouterr()
    assert run([*command, "--json"]) == 0
    assert [(row["verdict"], row["cause"]) for row in json.loads(capsys.readouterr().out)] == [
        ("not tested", "field"),
        ("not tested", "game"),
    ]
