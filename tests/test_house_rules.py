"""Options at the command line: every combination that `cardai rules GAME` names is sound, drawn at random."""

import math
import random

import pytest

import cardai
from cardai.laws import check

SEED = 36
A_HANDFUL, MANY = 2, 200


def combinations(game, count, seed=SEED):
    """`count` different variants with a value drawn for each option, as texts; all if there are not so many."""
    rnd, found = random.Random(seed), {}
    count = min(count, math.prod(map(len, game.allowed.values())))
    while len(found) < count:
        drawn = {name: rnd.choice([*values]) for name, values in game.allowed.items()}
        found[
            game.canonical(f"{game.default_variant}?" + "&".join(f"{name}={value}" for name, value in drawn.items()))
        ] = 1
    return list(found)


@pytest.mark.parametrize("name", ["durak", "durak52", "hearts"])
def test_each_option_can_be_set_alone_from_the_text_of_a_variant(name):
    game = cardai.load(name)
    for option, values in game.allowed.items():
        for value in (values[0], values[-1]):
            state = game.new(seed=1, variant=f"{game.default_variant}?{option}={value}")
            assert int(state[option]) == value


@pytest.mark.parametrize("name", ["durak", "durak52", "hearts"])
def test_laws_hold_in_options_drawn_at_random(name):
    assert_sound(name, combinations(cardai.load(name), A_HANDFUL), seconds=8)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
@pytest.mark.parametrize("name", ["durak", "durak52", "hearts"])
def test_laws_hold_in_two_hundred_combinations_of_options(name, part):
    assert_sound(name, combinations(cardai.load(name), MANY)[part::20])


def assert_sound(name, variants, seconds=None):
    game = cardai.load(name)
    for result in check(game, effort="quick", variants=variants, seconds=seconds):
        assert result.verdict != "broken", (variants, result.why)
