"""Right games of unusual kinds break no law that once took them for faulty, and their faulty siblings still do."""

import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pairs
import signals
from planting import changed

import cardai
from cardai.game import Game, PerspectiveEncoder, Segment, state_dtype
from cardai.laws import EFFORTS, LawResult, check, evenness
from cardai.laws import testbed as kit
from cardai.rules import below, rule

EXAMPLES = Path(__file__).parent.parent / "examples"
GOOFSPIEL = cardai.load(str(EXAMPLES / "goofspiel"))


def verdict(game: Game, law: str, **options) -> LawResult:
    return check(game, laws=[law], **{"effort": "quick", **options})[0]


def edited(path: str, *edits: tuple[str, str]) -> Game:
    """The game of a file with other texts in the place of some."""
    text = Path(path).read_text("utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    module: Any = ModuleType("edited")
    sys.modules["edited"] = module  # or its compiled rules would not be kept
    exec(compile(text, path, "exec"), vars(module))
    return module.GAME


def of_two(hand: int) -> Game:
    """Pairs of 20 cards and two seats; with hands of 10 no card is left over, so that a seat knows the other hand."""
    edits = ("CARDS = 12", "CARDS = 20"), ("HAND = 2", f"HAND = {hand}"), ("ply == state.seats", "ply == 2 * HAND")
    return replace(edited(pairs.__file__, *edits), seats=range(2, 3), default_seats=2, max_plies=2 * hand)


def test_the_only_world_is_the_truth() -> None:
    assert verdict(of_two(10), "worlds_deal_anew_what_is_hidden").verdict != "broken"


def test_the_truth_is_not_the_only_world_while_cards_are_left_over() -> None:
    keeps = changed(pairs.resample, "hidden = state.stock -> return\n    hidden = state.stock")
    kept = of_two(9).changed(resample=keeps)
    assert verdict(kept, "worlds_deal_anew_what_is_hidden").verdict == "broken"


@rule
def with_a_secret(state, seat, stream):
    """Signals, with a number for each seat that no other seat is shown."""
    for other in range(3):
        if other != seat:
            state.secret[other] = below(stream, 4)


@rule
def deal_secrets(state):
    state.call = -1
    state.turn = 0
    for seat in range(3):
        state.secret[seat] = below(state, 4)


@rule
def blank_secrets(state, seat):
    for other in range(3):
        if other != seat:
            state.secret[other] = 0


@rule
def encode_secret(state, seat, row):
    row[0] = state.secret[seat]
    for other in range(3):
        row[1 + other] = state.points[other]


SECRETS = signals.GAME.changed(
    state=state_dtype(number=(), call=(), amounts=3, points=3, secret=3, sealed=(3, 3)),
    deal=deal_secrets,
    resample=with_a_secret,
    blank=blank_secrets,
    encoders={"all": PerspectiveEncoder(lambda seats: (Segment("secret"), Segment("points", (3,))), encode_secret)},
)


def test_choices_that_all_are_shown_are_not_hidden_where_the_state_does_not_keep_who_made_which() -> None:
    assert verdict(SECRETS, "what_is_told_names_nothing_hidden").verdict != "broken"


def names_secrets_at_last(state, move, seat):
    return "a call" if state["call"] < 0 else f"a number; secrets are {state['secret'].tolist()}"


def test_a_tell_of_a_game_with_choices_at_the_same_time_may_name_nothing_hidden() -> None:
    game = SECRETS.changed(tell=names_secrets_at_last)
    assert verdict(game, "what_is_told_names_nothing_hidden").verdict == "broken"


def test_seats_are_compared_where_all_of_them_begin() -> None:
    assert verdict(GOOFSPIEL, "seats_score_alike").verdict == "holds"
    favoured = GOOFSPIEL.changed(deal=changed(GOOFSPIEL.rules.deal, "state.turn = 0 -> state.points[0] = 3"))
    assert verdict(favoured, "seats_score_alike").verdict == "broken"


def test_worlds_that_forget_a_pile_which_became_the_stock_are_found_at_once() -> None:
    one_pile = ("piles[state.came[card]]", "piles[0]"), ("sizes[state.came[card],", "sizes[0,")
    naive = edited(str(EXAMPLES / "crazy/__init__.py"), *one_pile)
    naive = replace(naive, seats=range(6, 7), default_seats=6)
    assert verdict(naive, "nothing_seen_is_forgotten", seconds=0.1).verdict == "broken"


def test_deals_that_hide_nothing_are_not_counted_beside_others():
    """A table of two without a stock ended the law with an error of NumPy's, beside larger tables."""
    testbed = kit.Testbed(of_two(10), 0, EFFORTS["quick"], None)
    deals = testbed.deals(testbed.setups[0], 0, 10)[::2]
    worlds = testbed.compiled.worlds_of_each(deals, 0, 1)
    assert evenness._differences(testbed, deals, worlds, 0) is None
    assert verdict(of_two(10), "dealt_cards_lie_as_in_worlds").verdict == "not tested"
