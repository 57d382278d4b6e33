"""Hanabi, an example of cards that are alike: it plays by its rules, as OpenSpiel's does, and keeps every law."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import cardai
from cardai.laws import check

GAME = cardai.load(str(Path(__file__).parent.parent / "examples/hanabi"))
NAMES = list(GAME.table.pieces)


def position(*hands, seed=1, **fields):
    """A position in which seat 0 moves; the deck holds all other cards."""
    state = GAME.new(len(hands), seed)
    state.deck[:] = GAME.table.copies
    for seat, hand in enumerate(hands):
        kinds = [NAMES.index(name) for name in hand.split()]
        state.hands[seat, : len(kinds)] = kinds
        np.subtract.at(state.deck, kinds, 1)
    for name, value in fields.items():
        state[name] = value
    return state


def kinds(names):
    """How many cards there are of each kind: "R1 R2"."""
    return np.bincount([NAMES.index(name) for name in names.split()], minlength=25)


def heights(state):
    return state.fireworks.reshape(5, 5).sum(axis=1).tolist()


def may_be(state, seat):
    """What the hints allow each card of a hand to be: colours and numbers."""
    found = [[NAMES[kind] for kind in range(25) if int(one) >> kind & 1] for one in state.may[seat]]
    order = "RYGWB12345"
    return ["".join(sorted({*"".join(names)}, key=order.index)) for names in found]


def play(state, *moves):
    for move in moves:
        state = GAME.play(state, GAME.text.parse(state, move))
    return state


def legal(state):
    return [GAME.text.spell(state, move) for move in GAME.moves(state)]


HANDS = "R1 R1 G3 W5 B2", "Y1 Y2 R2 R3 B1"


def test_2_1_a_hint_names_all_cards_of_a_colour_or_number_and_at_least_one():
    state = position(*HANDS)
    assert [move for move in legal(state) if move.startswith("tell")] == [
        "tells p1 red", "tells p1 yellow", "tells p1 blue", "tells p1 1", "tells p1 2", "tells p1 3"
    ]  # fmt: skip
    state = play(state, "tell p1 red")
    assert (int(state.hints), state.told[1].tolist()) == (7, [0, 0, 1, 1, 0])
    assert may_be(state, 1) == ["YGWB12345", "YGWB12345", "R12345", "R12345", "YGWB12345"]
    assert state.revealed == 0b10


def test_2_1_nobody_hints_without_a_token():
    assert not any(move.startswith("tell") for move in legal(position(*HANDS, hints=0)))


def test_2_2_a_discard_gives_a_token_back_and_is_not_allowed_with_all_of_them():
    assert not any(move.startswith("discard") for move in legal(position(*HANDS)))
    state = play(position(*HANDS, hints=3), "discard 2")
    assert (int(state.hints), int(state.discards[NAMES.index("R1")])) == (4, 1)


def test_2_3_the_next_card_of_a_colour_builds_and_any_other_costs_a_life():
    state = play(position(*HANDS), "play 1")
    assert (heights(state), int(state.lives)) == ([1, 0, 0, 0, 0], 3)
    state = play(state, "play 5", "play 1")
    assert (heights(state), int(state.lives)) == ([1, 0, 0, 0, 1], 2)
    assert state.discards[NAMES.index("R1")] == 1


def test_2_3_a_five_gives_a_token_back_if_one_is_missing():
    fireworks = kinds("W1 W2 W3 W4")
    assert play(position(*HANDS, fireworks=fireworks, hints=3), "play 4").hints == 4
    assert play(position(*HANDS, fireworks=fireworks), "play 4").hints == 8


def test_2_4_the_others_move_up_and_what_was_told_moves_with_them():
    state = play(position(*HANDS), "tell p1 1", "play 1", "tell p1 red")
    assert [NAMES[kind] for kind in state.hands[1, :4]] == ["Y2", "R2", "R3", "B1"]
    assert may_be(state, 1) == ["YGWB2345", "R2345", "R2345", "YGWB1", "YGWB12345"]


def test_4_1_the_last_life_costs_all_points():
    state = position(*HANDS, fireworks=kinds("R1"), lives=1)
    assert GAME.points(play(state, "play 1")).tolist() == [0.0, 0.0]


def test_4_2_all_fireworks_end_the_game():
    state = play(position(*HANDS, fireworks=np.ones(25, int) - kinds("W5")), "play 4")
    assert (int(state.turn), GAME.points(state).tolist()) == (-1, [1.0, 1.0])


def test_4_3_each_seat_has_one_more_turn_after_the_last_card_is_drawn():
    state = position(*HANDS, hints=0, deck=kinds("G1"))
    state = play(state, "discard 1")
    for _ in range(2):
        assert state.turn >= 0
        state = play(state, "discard 1")
    assert (int(state.turn), int(state.deck.sum())) == (-1, 0)


def test_worlds_are_as_likely_as_deals_of_cards_that_are_told_apart():
    """Two cards of three and one colour: all physical deals counted against 12 000 worlds, at five sigma."""
    hand, deck = "Y1 Y2", {"Y1": 2, "Y2": 1, "R3": 1}
    state = position(hand, "Y1 Y2 Y3 Y4 Y5")
    state.deck[:] = 0
    for name, number in deck.items():
        state.deck[NAMES.index(name)] = number
    state.hands[0, 2:] = -1
    state.may[0, 0] &= 0b00011 * 0x108421  # a 1 or a 2
    cards = ["Y1"] * 3 + ["Y2"] * 2 + ["R3"]
    deals = [(cards[i], cards[j]) for i, j in product(range(6), repeat=2) if i != j and cards[i] != "R3"]
    worlds = [GAME.world(state, 0, seed) for seed in range(12_000)]
    drawn = [(NAMES[world.hands[0, 0]], NAMES[world.hands[0, 1]]) for world in worlds]
    for pair in set(deals) | set(drawn):
        share = deals.count(pair) / len(deals)
        assert abs(drawn.count(pair) / len(drawn) - share) < 5 * (share * (1 - share) / len(drawn)) ** 0.5, pair
    sample = dict(zip(drawn, worlds, strict=True))
    weights = {pair: GAME.weigh(world) for pair, world in sample.items()}
    for pair, weight in weights.items():
        assert weight / sum(weights.values()) == pytest.approx(deals.count(pair) / len(deals))


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_it_plays_as_openspiel_does(seats):
    compare_with_openspiel(seats, 25)


@pytest.mark.slow
@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_it_plays_as_openspiel_does_in_a_thousand_games(seats):
    compare_with_openspiel(seats, 1000)


def compare_with_openspiel(seats, games):
    pyspiel = pytest.importorskip("pyspiel")
    theirs_of = pyspiel.load_game("hanabi", {"players": seats})
    rng, ends = np.random.default_rng(seats), set()
    for seed in range(games):
        ours, theirs = GAME.new(seats, seed), theirs_of.new_initial_state()
        for seat, slot in product(range(seats), range(5 if seats < 4 else 4)):
            theirs.apply_action(int(ours.hands[seat, slot]))
        while ours.turn >= 0:
            assert theirs.current_player() == ours.turn
            moves = {
                in_openspiel(GAME.text.spell(ours, move), int(ours.turn), seats): move for move in GAME.moves(ours)
            }
            actions = {theirs.action_to_string(theirs.current_player(), one): one for one in theirs.legal_actions()}
            assert set(moves) == set(actions)
            names = sorted(moves)
            if rng.random() < 0.9:  # plays at random end at once
                names = [name for name in names if "Play" not in name or is_good(ours, moves[name])] or names
            name, seat = str(rng.choice(names)), int(ours.turn)
            before, ours = ours, GAME.play(ours, moves[name])
            theirs.apply_action(actions[name])
            if theirs.is_chance_node():
                last = (4 if seats < 4 else 3) if before.deck.sum() else -1
                theirs.apply_action(int(ours.hands[seat, last]))
            if not theirs.is_terminal():  # it draws no card after the end
                assert described(ours) == lines_of(theirs)
        assert theirs.is_terminal()
        assert theirs.returns() == pytest.approx((25 * GAME.points(ours)).tolist())
        ends.add(GAME.text.ending(ours).partition(":")[0])
    assert len(ends) >= 2  # games end in different ways


def is_good(state, move):
    kind = int(state.hands[state.turn, move["what"]])
    return heights(state)[kind // 5] == kind % 5


def in_openspiel(text, turn, seats):
    """One of our moves in OpenSpiel's words."""
    words = text.split()
    if words[0] != "tells":
        return f"({words[0].removesuffix('s').capitalize()} {int(words[1]) - 1})"
    step = (int(words[1][1:]) - turn) % seats
    what = f"rank {words[2]}" if words[2].isdigit() else f"color {words[2][0].upper()}"
    return f"(Reveal player +{step} {what})"


def described(state):
    """What OpenSpiel prints of a state: lives, hints, fireworks, hands with what is known of each card, discards."""
    lines = [f"Life tokens: {int(state.lives)}", f"Info tokens: {int(state.hints)}"]
    lines.append("Fireworks: " + " ".join(f"{c}{int(h)}" for c, h in zip("RYGWB", heights(state), strict=True)))
    for seat in range(int(state.seats)):
        for slot in range(5):
            if state.hands[seat, slot] >= 0:
                lines.append(f"{NAMES[state.hands[seat, slot]]} {may_be(state, seat)[slot]}")
    thrown = sorted(NAMES[kind] for kind in range(25) for _ in range(int(state.discards[kind])))
    return [*lines, f"Deck size: {int(state.deck.sum())}", " ".join(thrown)]


def lines_of(theirs):
    lines = []
    for line in str(theirs).splitlines():
        if "||" in line:
            line = f"{line[:2]} {line.rpartition('|')[2]}"
        if line.startswith("Discards"):
            line = " ".join(sorted(line.split()[1:]))
        if line.strip() != "Hands:" and not line.startswith(("-----", "Cur player")):
            lines.append(line.strip())
    return lines


def test_the_careful_player_builds_more_than_half():
    """1 000 games of two: chance gives 0.0 of 25 points; the bots of Walton-Rivers and others (2017) 9 to 17."""
    careful = cardai.agent(GAME, "careful")
    results = cardai.play(GAME, [careful], np.zeros((1000, 2), int), np.arange(1000))
    assert 25 * results.scores.mean() > 13.0


def test_every_law_holds():
    assert [verdict for verdict in check(GAME, seed=1, effort="quick") if verdict.verdict == "broken"] == []
