"""Hearts' hand-written players, its heuristics, the search pimc and the suites."""

import numpy as np
import pytest
from test_hearts_rules import after_deal, position, suits
from views import chosen as move_of

import cardai
from cardai.errors import CardaiError
from cardai.games.hearts.rules import NONE
from cardai.measure import bench
from cardai.playing.agents.spec import agent
from cardai.playing.stats.interval import proportion
from cardai.playing.table.many import play
from cardai.rules.cards import DECK52

GAME = cardai.load("hearts")


def chosen(name, state, **params):
    return DECK52.name(move_of(GAME, name, state, **params)["card"])


def passes(name, hand, **params):
    """The three cards that a player passes of a hand, the lowest first."""
    state = after_deal(1)
    rest = DECK52.listed((1 << 52) - 1 & ~DECK52.cards(hand))
    state.hands[:] = [DECK52.cards(hand), *(sum(1 << card for card in rest[first::3]) for first in range(3))]
    for _ in range(3):
        state = GAME.play(state, GAME.text.parse(state, chosen(name, state, **params)))
    return DECK52.names(state.passed[0])


def last(hand, table, others=("2D 3D", "4D 5D", "6D 7D"), **fields):
    """Seat 3 plays last to a trick that seat 0 leads; each hand is of three cards before it, hearts are broken."""
    return position([*others, hand], table=table.split(), **{"broken": 1} | fields)


# The player duck.


@pytest.mark.parametrize(
    ("hand", "table", "card"),
    [
        ("3C 9C KC", "TC 2C 4C", "9C"),  # the highest that does not take the trick
        ("JC QC KC", "TC 2C 4C", "KC"),  # it must take: the highest, if nobody plays after it
        ("3S QS AS", "KS 2S 4S", "QS"),
        ("3H QS AH", "KC 2C 4C", "QS"),  # discards: the queen, then the highest heart, then the highest card
        ("3H AS TH", "KC 2C 4C", "TH"),
        ("3D AS KD", "KC 2C 4C", "AS"),
    ],
)
def test_duck_plays_under_the_trick_and_throws_what_is_dangerous(hand, table, card):
    assert chosen("duck", last(hand, table)) == card


def test_duck_leads_its_lowest_card_and_follows_with_the_lowest_when_others_may_play_above():
    state = position(["7D 3S KC", "8C JC QC", "2D 4D 5D", "6D 8D 9D"])
    assert chosen("duck", state) == "3S"
    second = position(["7D 3S", "8C JC QC", "2D 4D 5D", "6D 8D 9D"], table=["7C"])
    assert chosen("duck", second) == "8C"


def test_duck_passes_its_highest_cards():
    assert passes("duck", suits("2345", "67K", "8A", "9TQA")) == "KD AH AS"


# The player careful.


@pytest.mark.parametrize(
    ("hand", "table", "card"),
    [
        ("3C 9C KC", "TC 2C QH", "9C"),
        ("3S QS AS", "KS 2S 4S", "QS"),
        ("3H QS AH", "KC 2C 4C", "QS"),
        ("2S 7S KS", "TS 3S QS", "7S"),
    ],
)
def test_careful_plays_under_dear_tricks_and_throws_the_queen(hand, table, card):
    assert chosen("careful", last(hand, table, others=("JC 6S 6H", "8C 5S 5H", "AC 8S 8H"))) == card


def test_careful_passes_the_queen_without_guards():
    assert "QS" in passes("careful", suits("2468", "357", "2468", "Q7"))
    assert "QS" not in passes("careful", suits("QKA", "JKA", "", "234567Q"), own=0.0)


def test_careful_takes_points_to_stop_a_moon_if_it_is_asked_to():
    state = last("2H AH 3C", "TH 3H 4H", taken=((0, "QS JH QH KH 5H 6H 7H 8H 9H"),), tricks=(10, 0, 0, 0))
    assert chosen("careful", state, stop=0.0) == "2H"
    assert chosen("careful", state, stop=3.0) == "AH"


def test_careful_tries_to_shoot_the_moon_when_it_hopes_to():
    hand = suits("K", "A", "AKQJT", "AKQJT")
    state = position([hand, "3C 4C 5C 6C 7C 8C 9C TC JC QC 2D 3D", "5D 6D 7D 8D 9D TD JD QD KD 2S 3S 4S",
                      "2H 3H 4H 5H 6H 7H 8H 9H 6S 7S 8S 9S"], broken=1, table=())  # fmt: skip
    assert GAME.value(state, 0, "moon_hope") > GAME.agents.players["careful"].defaults["shoot"]
    assert GAME.value(state, 3, "moon_hope") < 0.1
    while state.turn >= 0:
        state = GAME.play(state, GAME.text.parse(state, chosen("careful" if state.turn == 0 else "duck", state)))
    assert list(GAME.outcome(state, "moon")) == [1, 0, 0, 0]


# Strength: on the same deals, in every rotation.


def points(specs, games, variant="standard"):
    """The points a round of the first agent and of the others, with intervals."""
    report = bench.run_match(GAME, specs, games=games, variant=variant, threads=1, seed=4)
    return [row.figure("points") for row in report.rows]


# The search pimc.


def test_pimc_is_a_rollout_by_duck():
    seeds, line_up = np.arange(4, dtype=np.uint64), np.tile([0, 1, 1, 1], (4, 1))
    results = [
        cardai.play(GAME, [agent(GAME, spec), agent(GAME, "duck")], line_up, seeds, record=True, threads=1).scores
        for spec in ("pimc?worlds=7", "rollout:7?by=duck", "rollout:7")
    ]
    assert (results[0] == results[1]).all()
    assert (results[0] == results[2]).all(), "worlds are played on by duck unless another player is named"
    assert agent(GAME, "pimc").strategy == agent(GAME, "rollout:100?by=duck").strategy


@pytest.mark.parametrize("spec", ["pimc:duck", "pimc?worlds=0", "pimc?by=careful"])
def test_pimc_refuses_what_it_does_not_take(spec):
    with pytest.raises(CardaiError):
        agent(GAME, spec)


# Heuristics.


def test_points_count_what_was_taken_and_the_trick_on_the_table_for_who_takes_it():
    state = last("2H AH 3C", "TH 3H 4H", taken=((0, "QS 2C 3D 4D"), (3, "5H")))
    before = [GAME.value(state, seat, "points") for seat in range(4)]
    assert before == [-16.0, 0.0, 0.0, -1.0]
    after = GAME.after(state, GAME.text.parse(state, "AH"))
    assert [GAME.value(after, seat, "points") for seat in range(4)] == [-13.0, 0.0, 0.0, -5.0]


def test_danger_likes_low_cards_short_suits_and_guarded_queens():
    def danger(hand):
        state = after_deal(0)
        rest = DECK52.listed((1 << 52) - 1 & ~DECK52.cards(hand))
        state.hands[:] = [DECK52.cards(hand), *(sum(1 << card for card in rest[first::3]) for first in range(3))]
        return GAME.value(state, 0, "danger")

    assert danger(suits("2345", "234", "234", "234")) > danger(suits("2345", "234", "234", "KA4"))
    assert danger(suits("2345", "234", "2", "2345Q")) > danger(suits("23456", "234", "2345", "Q"))
    assert danger(suits("2345", "234", "2345", "23")) > danger(suits("2345", "234", "TJQK", "23"))


def test_moon_hope_is_none_once_another_seat_has_points_and_sure_once_all_are_taken():
    state = last("2H AH 3C", "TH 3H 4H", taken=((1, "5H"),))
    assert [GAME.value(state, seat, "moon_hope") for seat in (0, 2, 3)] == [0.0] * 3
    full = last("2D AC 3C", "TC 4C 5C", taken=((2, "QS " + " ".join(rank + "H" for rank in "23456789TJQKA")),))
    assert [GAME.value(full, seat, "moon_hope") for seat in range(4)] == [0.0, 0.0, 1.0, 0.0]
    lost = last("3C 9C KC", "TC 2C 4H", taken=((1, "5H"),))
    after = GAME.after(lost, GAME.text.parse(lost, "KC"))
    assert GAME.value(after, 1, "moon_hope") == 0.0, "seat 3 takes a heart"


# Suites.


def test_suites_name_players_that_there_are():
    for suite in GAME.agents.suites.values():
        assert suite.variant in GAME.variants
        for spec in {*suite.agents, *(spec for row in suite.rows.values() for spec in row.opponents)}:
            agent(GAME, spec).check_fits(GAME, suite.variant, 4)


@pytest.mark.slow
def test_how_many_hands_that_promise_a_moon_become_one():
    """docs/hearts.md: the moons of seat 0, of rounds where its hand promises one, each deal once, with three duck."""
    deals, line_ups = np.arange(40_000, dtype=np.uint64), np.tile([0, 1, 1, 1], (40_000, 1))
    made = {}
    for spec in ("greedy:best", "careful", "greedy:winner"):
        played = play(GAME, [agent(GAME, spec), agent(GAME, "duck")], line_ups, deals, record=True, outcomes=("moon",))
        moons = [
            float(moon)
            for deal, moves, moon in zip(deals, played.moves, played.outcomes["moon"][:, 0], strict=True)
            if promises_a_moon(int(deal), moves)
        ]
        made[spec] = proportion(np.array(moons)[:, None]).scaled(100)
        print(f"{spec} makes {made[spec]} % of {len(moons)} such hands moons")
    assert made["careful"].low > made["greedy:best"].high
    assert made["greedy:winner"].low > made["greedy:best"].high


def promises_a_moon(deal, moves):
    """Whether `moon_hope` of seat 0 is above 0.5 when the first card of a round is led."""
    state = GAME.new(4, deal)
    for move in moves:
        if state["leader"] != NONE:
            return GAME.value(state, 0, "moon_hope") > 0.5
        state = GAME.play(state, move)
    raise AssertionError("no card was led")
