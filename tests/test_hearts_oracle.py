"""Hearts against OpenSpiel's: two implementations that share nothing, compared at every ply of random rounds.

cardai deals; OpenSpiel is told the direction and the cards. Then both play the same random moves. Compared are the seat
to move, the legal cards and, at the end, the points. Each round has its own random choice of OpenSpiel's eight options.

    pip install '.[oracles]'
    pytest tests/test_hearts_oracle.py                 # 500 rounds, seconds
    pytest -m slow tests/test_hearts_oracle.py         # 100,000 rounds, a minute or two
"""

import random

import numpy as np
import pytest

from cardai import load
from cardai.games.hearts import rules
from cardai.rules import STREAM, below, rule
from cardai.rules.cards import DECK52

pyspiel = pytest.importorskip("pyspiel", reason="the oracle is OpenSpiel: pip install '.[oracles]'")

# OpenSpiel's options, ours, and the value of ours if OpenSpiel's is set.
OPTIONS = {
    "pass_cards": ("passing", 2),
    "no_pts_on_first_trick": ("no_points_first", 1),
    "can_lead_any_club": ("any_club", 1),
    "jd_bonus": ("jack", 1),
    "avoid_all_tricks_bonus": ("no_trick_bonus", 1),
    "qs_breaks_hearts": ("queen_breaks", 1),
    "must_break_hearts": ("must_break", 1),
    "can_lead_hearts_instead_of_qs": ("lead_for_queen", 1),
}
SETS = range(1 << len(OPTIONS))
QUICK, MANY = 500, 100_000


def theirs(number: int) -> dict[str, bool]:
    """The options of OpenSpiel's with a number, 0 to 255: one bit for each."""
    return {name: bool(number >> bit & 1) for bit, name in enumerate(OPTIONS)}


def ours(number: int) -> dict[str, int]:
    """The same options as a variant of ours."""
    values = {name: value * (number >> bit & 1) for bit, (name, value) in enumerate(OPTIONS.values())}
    return {**HEARTS.variants["standard"], **values}


HEARTS = load("hearts")
GAME = HEARTS.changed(variants={f"options_{number}": ours(number) for number in SETS})


def dealt(state, options: dict[str, bool]):
    """A round of OpenSpiel's with the direction and the hands of `state`, a state of ours just dealt."""
    table = pyspiel.load_game("hearts", options).new_initial_state()
    table.apply_action(int(state["direction"]))
    hands = [DECK52.listed(hand) for hand in state["hands"]]
    for place in range(52):
        table.apply_action(hands[place % 4][place // 4])
    return table


def compare_ends(state, table, where: str) -> None:
    assert table.is_terminal(), where
    assert (26 - state["totals"]).tolist() == table.returns(), where


@rule
def play_round(state, moves, stream, turns, sizes, lists, cards):
    """Play a round of random moves and note each ply: the seat to move, its legal cards and the card played."""
    plies = 0
    while state.turn >= 0:
        turns[plies] = state.turn
        sizes[plies] = rules.legal(state, moves)
        for number in range(sizes[plies]):
            lists[plies, number] = moves[number].card
        move = moves[below(stream, sizes[plies])]
        cards[plies] = move.card
        rules.act(state, move)
        rules.settle(state)
        plies += 1
    return plies


def compare_compiled_rounds(rounds: int, first_seed: int) -> int:
    """Compare rounds that compiled code has played. Returns the number of positions compared."""
    rnd, stream = random.Random(first_seed), np.zeros(1, STREAM)[0]
    stream.rng = first_seed
    moves, lists = np.zeros(HEARTS.max_moves, HEARTS.move), np.zeros((64, HEARTS.max_moves), np.int64)
    turns, sizes, cards = np.zeros((3, 64), np.int64)
    positions = 0
    for seed in range(first_seed, first_seed + rounds):
        number = rnd.choice(SETS)
        state = GAME.new(4, seed, f"options_{number}")
        table = dealt(state, theirs(number))
        plies = play_round(state, moves, stream, turns, sizes, lists, cards)
        where = f"{theirs(number)}, seed {seed}"
        for turn, size, legal, card in zip(
            *(array[:plies].tolist() for array in (turns, sizes, lists, cards)), strict=True
        ):
            assert (table.current_player(), table.legal_actions()) == (turn, legal[:size]), where
            table.apply_action(card)
        compare_ends(state, table, where)
        positions += plies + 1
    return positions


def test_the_oracle_has_no_other_options():
    assert set(pyspiel.load_game("hearts").get_parameters()) == set(OPTIONS)


def test_the_oracles_defaults_are_the_variant_standard():
    defaults = pyspiel.load_game("hearts").get_parameters()
    (number,) = (number for number in SETS if theirs(number) == defaults)
    assert ours(number) == HEARTS.variants["standard"]


def test_500_random_rounds_agree_with_the_oracle_at_every_ply():
    assert 53 * QUICK < compare_compiled_rounds(QUICK, 0) < 65 * QUICK


@pytest.mark.slow
def test_100_000_random_rounds_agree_with_the_oracle_at_every_ply():
    assert 53 * MANY < compare_compiled_rounds(MANY, 1_000_000) < 65 * MANY
