"""Every game here keeps every law, and every law finds the fault it is there for."""

import functools
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pairs
import passing
import planted
import planted_alike
import planted_biases
import planted_chance
import planted_declared
import planted_joint
import planted_more
import planted_rare
import planting
import pytest
import signals
import small_game
import untested
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cardai
from cardai.errors import CardaiError
from cardai.game import Game
from cardai.laws import EFFORTS, LAWS, LawResult, check, evenness
from cardai.laws.strata import strata_of

GAMES = {
    **{name: cardai.load(name) for name in cardai.available()},
    "low_hand": small_game.GAME,
    "pass_left": passing.GAME,
    "pairs": pairs.GAME,
    "signals": signals.GAME,
}


BRIEF = replace(
    EFFORTS["quick"], games=6, searched=10, positions=6, texts=2, deals=400, even=10, listed=20_000, tallied=4,
    dealt=2000, told=20, chances=20, pooled_deals=500, pooled_views=20, symmetry_games=400, plain_games=1, named=40,
    patience=0.2, plain_seconds=1.0, seconds=2.0,
)  # fmt: skip
"""What the quick tests look at; the slow ones take the time of each effort, and see more of the same."""


@functools.cache
def verdicts(name: str, effort: str) -> list[LawResult]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(EFFORTS, "brief", BRIEF)
        patch.setattr(evenness, "FEWEST", 8)
        return check(GAMES[name], effort=effort)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(
    "effort", ["brief", *(pytest.param(one, marks=pytest.mark.slow) for one in ("quick", "normal"))]
)
def test_every_game_keeps_every_law(name: str, effort: str) -> None:
    assert [result.why for result in verdicts(name, effort) if result.verdict == "broken"] == []


def verdict_on(game: Game, **options) -> LawResult:
    """The result of the law that must find the fault of a game."""
    return check(game, laws=[planting.LAW_OF[game]], **options)[0]


@pytest.mark.parametrize("bug", planted.PLANTED)
def test_a_planted_bug_is_killed_by_its_law(bug: str) -> None:
    verdict = verdict_on(planted.PLANTED[bug], effort="quick", seconds=math.inf)
    assert verdict.verdict == "broken"
    assert verdict.why.startswith(f"{verdict.law}: ")
    for word in (r"variant \w+", r"\d seats|seats ", r"seed \d+", r"ply (\d+|unknown)"):
        assert re.search(word, verdict.why), verdict.why
    stumbled = re.search(r"Error\(.*\(.*\.py, line \d+\)$", verdict.why)
    assert not stumbled or verdict.law.startswith("plain_python"), "the kit itself stumbled; the law found nothing"


HARD = {
    **planted_more.PLANTED,
    **planted_biases.PLANTED,
    **planted_joint.PLANTED,
    **planted_alike.PLANTED,
    **planted_chance.PLANTED,
}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
@pytest.mark.parametrize("bug", HARD)
def test_a_fault_that_is_hard_to_see_is_found_from_any_seed(bug: str, seed: int) -> None:
    verdict = verdict_on(HARD[bug], seed=seed, seconds=math.inf)
    assert verdict.why.startswith(f"{verdict.law}: ")
    assert "does not compile" not in verdict.why


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
@pytest.mark.parametrize("bug", ["LAST_CARD_UNBLANKED", "QUEEN_TOLD", "STOCK_GONE", "LAST_TRICKS"])
def test_a_rare_fault_is_found_in_the_least_that_a_law_looks_at(bug: str, seed: int) -> None:
    assert verdict_on(planted_rare.PLANTED[bug], effort="quick", seed=seed, seconds=1e-9).verdict == "broken"


QUICKLY = (
    "LOW_PAIR", "LOW_TRUE_PAIR", "LOW_CHANCES", "HEARTS_HIGH_PASSED", "HEARTS_QUEEN_DEALT", "LOW_CHANCES_OF_SEAT_ONE",
    "DURAK_ACES_DRAWN", "LOW_HIGH_DRAWN", "HEARTS_FEW_SEEDS", "LOW_FEW_DEALS", "DURAK_FEW_DRAWS",
    "HEARTS_MOON_OF_SEAT_THREE", "LOW_LOWEST_HAND",
)  # fmt: skip
"""Faults that the slow test above has too, beside many more, from four seeds."""


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
@pytest.mark.parametrize("bug", [*QUICKLY, *planted_declared.PLANTED])
def test_a_fault_is_found_at_quick_effort(bug: str, seed: int) -> None:
    verdict = verdict_on({**HARD, **planted_declared.PLANTED}[bug], effort="quick", seed=seed)
    assert verdict.why.startswith(f"{verdict.law}: ")


def test_where_a_place_runs_out_and_where_a_seat_is_passed_over_are_kinds_of_position() -> None:
    states = np.zeros(8, small_game.GAME.state)
    states["seats"], states["turn"] = 3, [0, 1, 2, 0, 2, 0, 1, -1]
    stock = [2, 2, 1, 0, 0, 0, 0, 0]
    strata = strata_of("", states, np.array([[3, 3, 3, left] for left in stock]), [])
    plies = {name: found.tolist() for (name, _), found in strata.items()}
    assert plies["the last card of a place: 3 seats"] == [2]
    assert plies["a place runs out: 3 seats"] == [2]
    assert plies["a place has just run out: 3 seats"] == [3]
    assert plies["a seat is passed over: 3 seats"] == [3]  # seat 2 follows seat 0


def test_every_law_kills_a_planted_bug() -> None:
    assert {*planting.LAW_OF.values()} == set(LAWS)
    tested = {**planted.PLANTED, **HARD, **planted_rare.PLANTED, **planted_declared.PLANTED, **passing.PLANTED}
    assert set(planting.LAW_OF) == set(tested.values())


def test_a_problem_says_law_variant_seats_seed_and_ply() -> None:
    verdict = verdict_on(planted.LATE_LEAK, effort="quick", seconds=math.inf)
    assert re.fullmatch(
        r"encodings_are_the_same_in_every_world: variant (two|three), [234] seats, seed \d+, ply \d+: "
        r"the view of seat \d: encoder planes, segment 'own hand', value 0 depends on hidden cards",
        verdict.why,
    )


def test_an_unknown_law_is_named_with_its_neighbours() -> None:
    with pytest.raises(CardaiError, match="did you mean moves_are_distinct"):
        check(small_game.GAME, laws=["moves_are_distinkt"])
    with pytest.raises(CardaiError, match="there is no effort 'heroic'"):
        check(small_game.GAME, effort="heroic")


def test_progress_counts_the_laws() -> None:
    seen: list[tuple[str, int, int]] = []
    laws = ["moves_are_distinct", "moves_are_in_order"]
    check(small_game.GAME, laws=laws, effort="quick", progress=lambda law, done, total: seen.append((law, done, total)))
    assert seen == [(laws[0], 0, 2), (laws[1], 1, 2), ("", 2, 2)]


def test_the_page_lists_the_laws_in_order_under_the_file_each_is_in() -> None:
    page = (Path(__file__).parents[1] / "docs/conformance.md").read_text("utf-8")
    told, file = [], ""
    for line in page.splitlines():
        if section := re.fullmatch(r"## .* \(`(\w+)\.py`\)", line):
            file = section[1]
        elif law := re.match(r"\| `(\w+)` \|", line):
            told.append((file, law[1]))
    assert told == [(law.check.__module__.rpartition(".")[2], name) for name, law in LAWS.items()]


def played(game: Game, seats: int, seed: int, choices: list[int]) -> cardai.GameState:
    """A position of a game, reached by choosing moves by number."""
    state = game.new(seats, seed, list(game.variants)[seed % len(game.variants)])
    for choice in choices:
        moves = game.moves(state)
        if not len(moves):
            break
        following = game.play(state, moves[choice % len(moves)])
        if following["turn"] < 0:
            break
        state = following
    return state


@pytest.mark.parametrize("name", GAMES)
@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_position_looks_the_same_in_any_world(name: str, data: st.DataObject) -> None:
    game = GAMES[name]
    seats = data.draw(st.sampled_from(game.seats))
    choices = data.draw(st.lists(st.integers(0, 1000), max_size=60))
    state = played(game, seats, data.draw(st.integers(0, 2**64 - 1)), choices)
    seat = data.draw(st.integers(0, seats - 1))
    world = game.world(state, seat, data.draw(st.integers(0, 2**64 - 1)))
    assert game.text.show(world, seat) == game.text.show(state, seat)
    for encoder in game.learning.encoders:
        assert np.array_equal(game.encode(world, seat, encoder), game.encode(state, seat, encoder))
    own = game.world(state, int(state["turn"]), 1)
    listed, truncated = game.enumerate(state)
    assert truncated or np.array_equal(game.moves(own), listed)


@pytest.mark.parametrize("name", GAMES)
@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_legal_move_is_allowed_spelled_and_understood(name: str, data: st.DataObject) -> None:
    game = GAMES[name]
    choices = data.draw(st.lists(st.integers(0, 1000), max_size=60))
    state = played(game, data.draw(st.sampled_from(game.seats)), data.draw(st.integers(0, 2**64 - 1)), choices)
    moves = game.moves(state)
    move = moves[data.draw(st.integers(0, len(moves) - 1))]
    assert game.is_allowed(state, move)
    understood = np.array([game.text.parse(state, game.text.spell(state, move))], game.move)
    assert understood.tobytes() == move.tobytes()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if "/" in name else name for name in untested.names()]
)
def test_the_page_says_what_is_not_tested_of_a_game_and_why(name: str) -> None:
    page = (Path(__file__).parents[1] / "docs/conformance.md").read_text("utf-8")
    (told,) = re.findall(rf"^\| {name} \| .*$", page, re.MULTILINE)
    found = verdicts(name, "brief") if name in GAMES else check(untested.game(name), effort="quick", seconds=5.0)
    assert {result.cause for result in found} <= {"", "game", "part"}
    assert told == untested.row(name, found), "run tests/untested.py docs/conformance.md"
