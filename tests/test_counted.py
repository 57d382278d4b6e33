"""Laws that count cards: games of many cards and of cards that are alike, planted faults, and authors' mistakes."""

import re
from pathlib import Path

import false_alarms
import follow
import lamps
import loaded
import numpy as np
import planted_alike
import planted_more
import planting
import pytest
import small_game
import sparks
import tall

import cardai
from cardai.game import Game, Zone, state_dtype
from cardai.laws import LAWS, check, evenness
from cardai.laws import testbed as beds
from cardai.laws.evidence import unevenness
from cardai.laws.places import CardKinds, Places
from cardai.rules import rule

SOUND = {game.name: game for game in (tall.GAME, sparks.GAME, follow.GAME, lamps.GAME, loaded.GAME)} | {
    "plain": sparks.PLAIN
}
COUNTING = [
    "cards_are_conserved", "dealt_cards_lie_as_in_worlds", "worlds_keep_no_card_of_the_truth",
    "hidden_cards_lie_evenly", "what_is_drawn_lies_evenly", "chances_are_those_of_worlds",
    "worlds_at_the_deal_are_deals_that_look_alike",
    "worlds_after_a_move_are_the_outcomes_of_worlds_before", "worlds_are_even",
]  # fmt: skip
QUICK = beds.EFFORTS["quick"]


@pytest.mark.parametrize("name", SOUND)
def test_a_game_of_many_or_of_like_cards_keeps_the_laws_that_count(name: str, monkeypatch) -> None:
    """The slow test below looks longer, at all laws."""
    monkeypatch.setattr(evenness, "FEWEST", 20)
    monkeypatch.setattr(evenness, "DRAWS", 64)
    laws = [law for law in COUNTING if law != "worlds_at_the_deal_are_deals_that_look_alike"]
    results = check(SOUND[name], effort="quick", laws=laws, seconds=0.5)
    assert [result.why for result in results if result.verdict == "broken"] == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("effort", ["quick", "normal"])
@pytest.mark.parametrize("name", SOUND)
def test_a_game_of_many_or_of_like_cards_keeps_every_law(name: str, effort: str, seed: int) -> None:
    results = check(SOUND[name], effort=effort, seed=seed)
    assert [result.why for result in results if result.verdict == "broken"] == []


@pytest.mark.parametrize(
    "fault",
    [
        "TALL_LATE", "TALL_DEALT", "TALL_KEPT", "TALL_TWICE", "SPARKS_PLAIN_EVEN",
        "SPARKS_NEVER_TWO", "SPARKS_TWICE", "SPARKS_SEEN", "SPARKS_CHANCES", "FOLLOW_EVEN_KINDS", "FOLLOW_UNWEIGHTED",
    ],
)  # fmt: skip
def test_a_fault_of_counts_is_found_at_quick_effort(fault: str) -> None:
    """The slow test of `test_conformance` has all of them, from four seeds at normal effort."""
    game = planted_alike.PLANTED[fault]
    (result,) = check(game, laws=[planting.LAW_OF[game]], effort="quick")
    assert result.why.startswith(f"{result.law}: ")


UNDECLARED = {
    "SPARKS_NO_COPIES": "declare `copies` with `holdings`, or the rule `weight`",
    "SPARKS_WRONG_WEIGHT": "the rule `weight`",
    "LOADED_UNWEIGHTED": "`weight` or `cards_alike` would have to say",
    "KILLS_NOT_MIDWAY": "settle should set `midway`",
    "PASSED_NOT_MIDWAY": "settle should set `midway`",
}


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
@pytest.mark.parametrize("fault", UNDECLARED)
def test_a_law_names_the_declaration_that_is_missing_or_wrong(fault: str, seed: int) -> None:
    game = {**planted_alike.PLANTED, **planted_more.PLANTED}[fault]
    (result,) = check(game, laws=[planting.LAW_OF[game]], effort="quick", seed=seed)
    assert UNDECLARED[fault] in result.why


def test_counts_of_kinds_without_copies_are_told_to_give_them() -> None:
    (result,) = check(sparks.PLAIN.changed(copies=(), chances=None), laws=["cards_are_conserved"], effort="quick")
    assert "counts of kinds need `copies`" in result.why


@pytest.mark.parametrize("game", [sparks.PLAIN, planted_alike.SPARKS_CHANCES])
def test_kinds_need_no_pieces(game: Game) -> None:
    plain = game.changed(pieces=(), zones=None, picks=None)
    (result,) = check(plain, laws=["chances_are_those_of_worlds"], effort="quick")
    assert (result.verdict == "broken") == (game is not sparks.PLAIN)
    assert "Error" not in result.why


@pytest.mark.slow
def test_sound_worlds_of_unequal_weight_raise_no_false_alarm(monkeypatch) -> None:
    """Of many seeds: each may call for a second sample in one of 100; in sum they show a small bias."""
    for name, number in false_alarms.WORLDS.items():
        monkeypatch.setattr(evenness, name, number)
    called, broken, sigmas = false_alarms.checks("steep", 1000)
    assert called <= 20
    assert not broken
    assert np.abs(sigmas).max() < 5


def test_rare_events_are_surprising_by_their_own_tail() -> None:
    """Of 5 sigma by a normal distribution: 6 where 1 is expected are common, 600 more than 10,000 are not."""
    off = evenness.Tally(np.array([5.0, 600.0, -5.0, 0.0]), np.array([1.0, 10_000.0, 1.0, 1.0])).sigmas
    assert 3 < off[0] < 3.5
    assert 5.9 < off[1] < 6
    assert (off[2], off[3]) == (-off[0], 0)


def test_a_card_that_rarely_lies_elsewhere_may_be_blanked() -> None:
    """Of the only white five of Hanabi, 180 worlds said that it is in the deck."""
    hanabi = cardai.load(str(Path(__file__).parents[1] / "examples/hanabi"))
    (result,) = check(hanabi, effort="quick", laws=["blank_leaves_what_is_known"])
    assert result.verdict == "holds", result.why


@pytest.mark.parametrize("name", SOUND)
def test_places_are_read_from_states_as_holdings_gives_them(name: str) -> None:
    bed = beds.Testbed(SOUND[name], 0, QUICK)
    for seats, places in bed.places.items():
        states = np.concatenate([trace.states for trace in bed.traces if trace.setup.seats == seats])[::7]
        here = next(trace.end for trace in bed.traces if trace.setup.seats == seats)
        wanted = np.array([here.counts(state) for state in states])
        np.testing.assert_array_equal(places.counts(states), wanted[:, places.found])
        assert set(range(seats)) <= set(places.found)
        assert places.columns  # none of these games lists its places one state at a time


CARDS, AT = 70, 3


def as_words(where, size):
    """The sets of the cards in each place, `size` cards in a number: i8[N, AT, words]."""
    held = (where[:, None] == np.arange(AT)[:, None]).astype(np.int64)
    parts = [held[:, :, first : first + size] for first in range(0, CARDS, size)]
    return np.stack([(part << np.arange(part.shape[2])).sum(axis=2) for part in parts], axis=2)


@pytest.mark.parametrize(
    ("shape", "write"),
    [
        ((AT, 2), lambda where: as_words(where, 60)),
        ((AT, 3), lambda where: as_words(where, 32)),
        ((AT, CARDS), lambda where: where[:, None] == np.arange(AT)[:, None]),
        ((CARDS, AT), lambda where: where[:, :, None] == np.arange(AT)),
        ((AT, CARDS), lambda where: np.where(where[:, None] == np.arange(AT)[:, None], np.arange(CARDS)[::-1], -1)),
    ],
    ids=["words", "short words", "a number for each", "the same by card", "lists"],
)
def test_places_are_read_however_a_state_keeps_them(shape, write) -> None:
    states, chance = np.zeros(300, state_dtype(before=(), cards=shape, after=4)), np.random.default_rng(3)
    where = chance.integers(0, AT, (300, CARDS))
    states["cards"], states["after"] = write(where), chance.integers(0, 100, (300, 4))
    if shape == (AT, CARDS) and states["cards"].min() < 0:
        where = where[:, ::-1]
    counts = (where[:, None] == np.arange(AT)[:, None]).astype(np.int64)
    by_state = {state.tobytes(): held for state, held in zip(states, counts, strict=True)}
    kinds = CardKinds(np.ones(CARDS, np.int64), tuple(map(str, range(CARDS))), False)
    places = Places(states[:200], lambda state: by_state[state.tobytes()], kinds)
    assert len(places.columns) in (AT * -(-CARDS // 60), AT * 3, AT * CARDS)
    np.testing.assert_array_equal(places.counts(states), counts)
    assert bool(places.lists) == (states["cards"].min() < 0)


def test_a_place_that_is_hardly_ever_filled_is_not_found_by_accident() -> None:
    """The widow of Dou Dizhu, in 1 of 200 examples, passed for sets of two kinds each, and a sound game for uneven."""
    states = np.zeros(300, state_dtype(before=4, widow=15, after=4))
    states["widow"][0, [2, 4, 8]] = 1
    states["widow"][200:] = np.random.default_rng(1).multinomial(3, np.full(15, 1 / 15), 100)
    deck = CardKinds(np.full(15, 4), tuple(map(str, range(15))), True)
    places = Places(states[:200], lambda state: np.stack([state["widow"], state["after"].repeat(4)[:15]]), deck)
    np.testing.assert_array_equal(places.counts(states[200:])[:, 0], states["widow"][200:])


def test_places_are_found_in_states_from_the_first_plies_of_every_game(monkeypatch) -> None:
    examples = {}
    monkeypatch.setattr(beds, "Places", lambda states, *_: examples.setdefault(int(states["seats"][0]), states))
    bed = beds.Testbed(sparks.GAME, 0, QUICK)
    assert bed.places
    for trace in bed.traces:
        for ply in (0, len(trace.moves) - 1):
            assert (examples[trace.setup.seats] == trace.states[ply]).any()


def test_a_deck_that_is_a_list_is_known_as_one() -> None:
    places = beds.Testbed(follow.GAME, 0, QUICK).places[2]
    assert list(places.lists) == [3]
    assert not beds.Testbed(sparks.GAME, 0, QUICK).places[2].lists
    assert list(beds.Testbed(lamps.GAME, 0, QUICK).places[2].lists) == [0, 1, 3]


def test_the_weights_of_many_states_are_those_of_each() -> None:
    for game in (sparks.PLAIN, sparks.GAME, follow.GAME, small_game.GAME):
        trace = beds.Testbed(game, 0, QUICK).traces[0]
        wanted = np.array([game.weigh(state) for state in trace.states])
        np.testing.assert_allclose(trace.end.weights(trace.states), wanted / wanted.mean(), rtol=1e-9)


def test_counts_are_compared_with_their_shares() -> None:
    shares = np.array([0.5, 0.25, 0.2, 0.05])
    drawn = np.random.default_rng(1).multinomial(10_000, shares, 400)
    off = [unevenness(counts.tolist(), shares) for counts in drawn]
    assert abs(np.mean(off)) < 0.2
    assert 0.9 < np.std(off) < 1.1
    assert unevenness([2500, 2500, 2500, 2500], shares) > 30
    rare = np.array([0.9, 0.0999, 0.0001])
    assert unevenness([9000, 998, 2], rare) < 3  # too few to tell


@rule
def nan_weight(state):
    return np.nan


def low_holdings(held):
    return small_game.GAME.changed(holdings=lambda state: held)


def low_zones(**changes):
    return small_game.GAME.changed(zones=lambda state, seat: [Zone("Hand", **changes)])


def wrong_chances(value):
    def chances(state, seat, shares):
        shares[1 - min(seat, 1), 3] = value

    return small_game.GAME.changed(chances=chances)


def low(**changes):
    return small_game.GAME.changed(**changes)


MISTAKES: dict[str, tuple[Game, str, str]] = {
    "no set": (low_holdings([1, None]), "cards_are_conserved", "holdings returns .1, None.; it must"),
    "a float": (low_holdings([1, 2.0]), "cards_are_conserved", "holdings returns .1, 2.0."),
    "no such card": (low_holdings([1 << 70]), "cards_are_conserved", "place 0 has card 70; cards are 0 to 15"),
    "holdings raises": (low(holdings=lambda state: 1 // 0), "cards_are_conserved", "holdings raised ZeroDivision"),
    "a weight that is no number": (
        sparks.GAME.changed(weight=nan_weight), "hidden_cards_lie_evenly", "weight gives nan for a world; it must be",
    ),
    "no zones": (low(zones=lambda state, seat: None), "a_piece_lies_in_one_zone", "zones returns None"),
    "no pieces": (low_zones(pieces=None), "a_piece_lies_in_one_zone", "zone 'Hand' of seat 0 has the pieces None, "),
    "a piece below 0": (low_zones(pieces=-1), "a_piece_lies_in_one_zone", "has the pieces -1, not a set"),
    "picks nothing": (low(picks=lambda state, move: None), "picks_lie_in_zones", "picks returns None"),
    "picks below 0": (low(picks=lambda state, move: -1), "picks_lie_in_zones", "picks returns for .* must be at least"),
    "no chance": (wrong_chances(np.nan), "chances_are_those_of_worlds", "chances gives seat . nan for 2S in the hand "),
    "a chance below 0": (wrong_chances(-0.5), "chances_are_those_of_worlds", "gives seat . -0.5 for 2S in the hand of"),
    "too great a chance": (wrong_chances(1.5), "chances_are_those_of_worlds", "for 2S that sum to 1.500; there is 1"),
    "alike, but no list": (low(cards_alike=lambda state: 7), "hidden_cards_lie_evenly", "cards_alike returns 7"),
    "alike, but below 0": (
        low(cards_alike=lambda state: [-1]), "hidden_cards_lie_evenly", "a set of cards_alike must be at least 0",
    ),
    "alike, but no card": (
        low(cards_alike=lambda state: [1 << 20]), "hidden_cards_lie_evenly", "a set of cards_alike has card 20",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_in_one_sentence(mistake: str) -> None:
    game, law, sentence = MISTAKES[mistake]
    (result,) = check(game, laws=[law], effort="quick", seconds=0.01)
    assert re.match(rf"{law}: variant .*, seed \d+, ply \d+: .*{sentence}", result.why), result.why
    assert "cardai/laws" not in result.why
    assert "numpy" not in result.why


def test_wrong_holdings_break_the_laws_that_count_and_no_other() -> None:
    results = check(MISTAKES["no set"][0], effort="quick", seconds=0.01)
    broken = {result.law for result in results if result.verdict == "broken"}
    calling = {"every_call_returns", "text_changes_nothing", "encodings_fit_a_byte"}
    assert "cards_are_conserved" in broken
    assert broken <= {*COUNTING, *calling} | {law for law in LAWS if law.startswith("plain_python")}
    told = {result.why for result in results if result.law in COUNTING and result.verdict == "broken"}
    assert all("holdings returns [1, None]" in why for why in told)
