"""A law holds, is broken, or was not tested; and if not, it says why, and whether the game lacks a field."""

from collections.abc import Iterator
from dataclasses import replace

import planted_biases
import planting
import pytest
import small_game

import cardai
from cardai.conformance import LawResult, check
from cardai.conformance import testbed as kit
from cardai.conformance.law import CAUSES, Law, NotTested, each, take_turns
from cardai.conformance.testbed import EFFORTS, Counted

COUNT_CARDS = [
    "cards_are_conserved",
    "worlds_are_even",
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


def test_a_reason_is_one_of_four() -> None:
    assert {*CAUSES} == {"field", "game", "part", "call"}
    assert NotTested("why").cause == "game"


def test_without_holdings_the_laws_that_count_cards_are_not_tested() -> None:
    results = check(replace(small_game.GAME, holdings=None), laws=COUNT_CARDS, effort="quick")
    assert [(result.verdict, result.cause) for result in results] == [("not tested", "field")] * len(COUNT_CARDS)
    assert {result.why for result in results} == {
        "the game has no `holdings`: with it the laws count the cards of each place"
    }


def test_a_biased_sampler_without_holdings_is_not_said_to_hold() -> None:
    """It was: 73 of 73 laws held of it."""
    game = planted_biases.PLANTED["LOW_CARD"]
    (verdict,) = check(replace(game, holdings=None), laws=[planting.LAW_OF[game]], effort="quick")
    assert (verdict.verdict, verdict.cause) == ("not tested", "field")


def test_a_game_that_hides_nothing_lacks_nothing() -> None:
    laws = [*COUNT_CARDS, "encodings_are_the_same_in_every_world", "worlds_deal_anew_what_is_hidden"]
    results = check(cardai.load("tictactoe"), laws=laws, effort="quick")
    assert {(result.verdict, result.cause, result.why) for result in results} == {
        ("not tested", "game", "nothing is hidden in this game")
    }


@pytest.mark.parametrize("field", ["heuristics", "players", "encoders"])
def test_what_a_game_does_not_offer_is_not_tested(field: str) -> None:
    laws = {
        "heuristics": "heuristics_are_finite",
        "players": "players_choose_legal_moves",
        "encoders": "encodings_fill_their_layout",
    }
    (result,) = check(replace(small_game.GAME, **{field: {}}), laws=[laws[field]], effort="quick")
    assert (result.verdict, result.cause, result.why) == ("not tested", "game", f"the game has no `{field}`")
