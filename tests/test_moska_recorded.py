"""Moska agrees with games recorded from another engine: legal moves, their effects, and Bot3's decisions."""

from collections import Counter

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from cardai.games.moska import players, rules
from cardai.rules import JIT, STREAM
from cardai.rules.cards import DECK52
from tests.moska_recorded import GAME, RecordedTurn, move_of, turns

pytestmark = pytest.mark.skipif(not JIT, reason="70 000 turns are for compiled rules")
MAY_BE_EMPTY = (rules.END, rules.TURN, rules.SKIP)


def is_no_op(turn: RecordedTurn) -> bool:
    """The other engine accepts plays of no cards; ours does not."""
    return turn.cards == 0 and turn.kind not in MAY_BE_EMPTY


def played(turn: RecordedTurn) -> np.record:
    """Our state after the recorded turn. A turned deck card that kills is one turn there, and two decisions here."""
    if turn.kind != rules.TURN:
        return GAME.play(turn.state, move_of(turn.kind, turn.cards, turn.targets))
    after = GAME.play(turn.state, move_of(rules.TURN, 0, 0))
    if turn.targets:
        after = GAME.play(after, move_of(rules.KILL_TURNED, turn.cards, turn.targets))
    return after


def differences(turn: RecordedTurn) -> list[str]:
    """The differences between our rules and the recording in one turn; empty if they agree."""
    found = []
    moves, was_truncated = GAME.enumerate(turn.state)
    kinds = sum(1 << int(kind) for kind in np.unique(moves["kind"]))
    if kinds != turn.offered:
        found.append(f"offered {kinds:08b}, recorded {turn.offered:08b}")
    for kind, recorded in turn.plays.items():
        ours = [[int(m["cards"]), int(m["targets"])] for m in moves if m["kind"] == int(kind)]
        if sorted(ours) != sorted(recorded) and not was_truncated:
            found.append(f"moves of kind {kind}: {len(ours)}, recorded {len(recorded)}")
    if is_no_op(turn):
        return found
    after, seats = played(turn), int(turn.state.seats)
    for name, recorded in turn.after.items():
        ours = after["deck_left"] if name == "deck" else after[name]
        ours = ours[:seats].tolist() if np.ndim(ours) else int(ours)
        over = name == "target" and after.turn < 0
        if ours != recorded and not over and name != "ready":
            found.append(f"{name}: {ours}, recorded {recorded}")
    deck = turn.state.deck[: int(after.deck_left)]
    if after.deck[: int(after.deck_left)].tolist() != deck.tolist():
        found.append("the order of the deck changed")
    return found


def test_every_recorded_turn_is_legal_and_does_what_was_recorded():
    seen, wrong = Counter(), []
    for turn in turns():
        seen["turns"] += 1
        seen["no-ops"] += is_no_op(turn)
        seen["lists of moves"] += len(turn.plays)
        wrong += [f"{turn.where}: {text}" for text in differences(turn)]
    assert wrong == []
    assert seen == {"turns": 70874, "no-ops": 1946, "lists of moves": 1385}


def test_the_oracle_notices_a_wrong_rule():
    """A deck with one card less after an end is reported."""
    turn = next(t for t in turns() if t.kind == rules.END and t.cards)
    assert differences(turn) == []
    spoilt = turn._replace(after=turn.after | {"deck": turn.after["deck"] - 1})
    assert differences(spoilt) == [f"deck: {turn.after['deck']}, recorded {turn.after['deck'] - 1}"]


def bot3_choices(state: np.record, draws: int) -> set[tuple[int, int, int]]:
    """The moves that our Bot3 plays here with `draws` different random streams."""
    params = np.array(list(players.PLAYERS["bot3"].defaults.values()))
    found = set()
    for seed in range(draws):
        move, stream = np.zeros(1, GAME.move)[0], np.zeros(1, STREAM)[0]
        stream.rng = seed * 0x9E3779B97F4A7C15 % 2**64
        players.choose_bot3(state, move, params, stream)
        found.add((int(move.kind), int(move.cards), int(move.targets)))
    return found


def is_tie(turn: RecordedTurn, ours: set[tuple[int, int, int]]) -> bool:
    """Whether Bot3's own measure finds the recorded move as good as one of our moves."""
    worth = [int(players.worth(turn.state, card)) for card in range(52)]
    for kind, cards, _ in ours:
        if kind != turn.kind:
            continue
        if kind == rules.OPEN and sum_of(worth, cards) == sum_of(worth, turn.cards):
            return True
        if kind == rules.ATTACK and cards.bit_count() == turn.cards.bit_count() == rules.room_to_attack(turn.state):
            return True
        if kind == rules.KILL and is_part_of_a_cheapest_matching(turn):
            return True
    return False


def is_part_of_a_cheapest_matching(turn: RecordedTurn) -> bool:
    """Whether Bot3's assignment of all hand cards to all table cards can contain the recorded kills at no more cost."""
    hand, table = int(turn.state.hands[turn.state.turn]), int(turn.state.table)
    least = cost_of_matching(turn, hand, table)
    apart = cost_of_matching(turn, turn.cards, turn.targets)
    return least == apart + cost_of_matching(turn, hand & ~turn.cards, table & ~turn.targets)


def cost_of_matching(turn: RecordedTurn, cards: int, targets: int) -> float:
    """The least cost, as Bot3 counts it, of matching as many of `cards` with `targets` as there can be."""
    if cards == 0 or targets == 0:
        return 0.0
    params = np.array(list(players.PLAYERS["bot3"].defaults.values()))
    hand = turn.state.hands[turn.state.turn]
    cost = np.array(
        [
            [players.kill_cost(turn.state, card, target, hand, params) for target in DECK52.listed(targets)]
            for card in DECK52.listed(cards)
        ]
    )
    return float(cost[linear_sum_assignment(cost)].sum())


def sum_of(worth: list[int], cards: int) -> int:
    return sum(worth[card] for card in DECK52.listed(cards))


def test_bot3_decides_as_the_recorded_bot3_did():
    count, disagreements = Counter(), []
    for turn in turns():
        if turn.player != "B3" or (turn.offered.bit_count() < 2 and turn.kind == rules.SKIP):
            continue
        recorded = (
            turn.kind,
            turn.cards if turn.kind != rules.TURN else 0,
            turn.targets if turn.kind != rules.TURN else 0,
        )
        ours = bot3_choices(turn.state, 1)
        count["decisions"] += 1
        if recorded in ours:
            count["equal"] += 1
            continue
        ours = bot3_choices(turn.state, 16)
        if recorded in ours or is_tie(turn, ours):
            count["ties"] += 1
        else:
            disagreements.append(f"{turn.where}: {recorded}, ours {ours}")
    agreement = 1 - len(disagreements) / count["decisions"]
    print(count, f"agreement {agreement:.4%}", *disagreements[:10], sep="\n")
    assert agreement >= 0.995
