"""Secrets that arise in play: the laws find each fault of a game in which cards are passed on unseen."""

import math
import re

import passing
import planting
import pytest
import small_game

from cardai.laws import check


def verdict(fault: str, effort: str, seed: int):
    game = passing.PLANTED[fault]
    return check(game, laws=[planting.LAW_OF[game]], effort=effort, seed=seed, seconds=math.inf)[0]


@pytest.mark.parametrize("fault", passing.PLANTED)
def test_a_fault_is_found_by_its_law(fault: str) -> None:
    found = verdict(fault, "normal", 0)
    assert re.match(rf"{found.law}: variant \w+, 3 seats, seed \d+, ply \d+: ", found.why), found.why
    assert "Error(" not in found.why, "the kit itself stumbled; the law found nothing"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("fault", passing.PLANTED)
def test_a_fault_is_found_with_other_seeds(fault: str, seed: int) -> None:
    assert verdict(fault, "normal", seed).verdict == "broken"


def test_a_game_without_listable_positions_is_said_to_be_untested() -> None:
    laws = ["worlds_at_the_deal_are_deals_that_look_alike", "worlds_after_a_move_are_the_outcomes_of_worlds_before"]
    assert [verdict.verdict for verdict in check(passing.GAME, laws=laws, effort="quick")] == ["holds"] * 2
    (deals, _) = check(small_game.GAME, laws=laws, effort="quick")
    assert (deals.verdict, deals.cause) == ("not tested", "game")
    assert deals.why == "no position was found in which the worlds of a seat are few enough to list"
