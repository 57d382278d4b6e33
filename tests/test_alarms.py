"""Right games of unusual kinds break no law that once took them for faulty, and their faulty siblings still do."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pairs
from planting import changed

from cardai.conformance import LawResult, check
from cardai.game import Game


def verdict(game: Game, law: str, **options) -> LawResult:
    return check(game, laws=[law], **{"effort": "quick", **options})[0]


def of_two(hand: int) -> Game:
    """Pairs of 20 cards and two seats; with hands of 10 no card is left over, so that a seat knows the other hand."""
    text = Path(pairs.__file__).read_text("utf-8").replace("CARDS = 12", "CARDS = 20")
    text = text.replace("HAND = 2", f"HAND = {hand}").replace("state.ply == state.seats", "state.ply == 2 * HAND")
    names = {"__name__": "pairs_of_two"}
    exec(compile(text, pairs.__file__, "exec"), names)
    game: Any = names["GAME"]
    return replace(game, seats=range(2, 3), default_seats=2, max_plies=2 * hand)


def test_the_only_world_is_the_truth() -> None:
    assert verdict(of_two(10), "worlds_deal_anew_what_is_hidden").verdict != "broken"


def test_the_truth_is_not_the_only_world_while_cards_are_left_over() -> None:
    kept = replace(
        of_two(9), resample=changed(pairs.resample, "hidden = state.stock -> return\n    hidden = state.stock")
    )
    assert verdict(kept, "worlds_deal_anew_what_is_hidden").verdict == "broken"
