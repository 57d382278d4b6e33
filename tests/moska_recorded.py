"""Games of Moska recorded from another engine (tests/data/moska/README.md), as states of our game."""

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import cardai
from cardai.games.moska import rules

GAME = cardai.load("moska")
FILE = Path(__file__).parent / "data" / "moska" / "recorded.jsonl.xz"
EVERY_CARD = (1 << 52) - 1


class RecordedTurn(NamedTuple):
    """A recorded turn: the position before it as a state of our game, the move, and the fields after it."""

    where: str
    player: str
    state: np.record
    offered: int
    kind: int
    cards: int
    targets: int
    after: dict
    plays: dict


def turns() -> Iterator[RecordedTurn]:
    """All recorded turns. `state` is one record that is updated for each turn: copy it to keep it."""
    with lzma.open(FILE, "rt") as lines:
        for line in lines:
            game = json.loads(line)
            state, fields = blank(game), {}
            for number, (seat, offered, (kind, cards, targets), before, changes, *plays) in enumerate(game["turns"]):
                fields.update(before)
                bring_up_to_date(state, fields, game, seat)
                after = fields | changes
                where = f"{game['id']} turn {number}"
                yield RecordedTurn(
                    where, game["kinds"][seat], state, offered, kind, cards, targets, after, *(plays or [{}])
                )
                fields = after


def blank(game: dict) -> np.record:
    """A state with the fields that stay the same during the whole game."""
    state = GAME.options(len(game["hands"]), "appendix")[0]
    state.self_attack = rules.DECK_NOW
    state.trump, state.trump_card = game["trump"], game["trump_card"]
    state.turned, state.last, state.pending, state.bout_deck = rules.NONE, rules.NONE, rules.SKIP, 1
    return state


def bring_up_to_date(state: np.record, fields: dict, game: dict, seat: int) -> None:
    """Set the recorded fields in a state."""
    seats = len(game["hands"])
    left = fields["deck"]
    state.turn = seat
    state.hands[:seats], state.known[:seats] = fields["hands"], fields["known"]
    state.deck[:] = rules.NONE
    state.deck[:left] = game["deck"][:left]
    state.deck_left = left
    for name in ("table", "killed", "barring", "ready", "playing", "target"):
        state[name] = fields[name]
    somewhere = fields["table"] | fields["killed"] | sum(1 << card for card in game["deck"][:left])
    for hand in fields["hands"]:
        somewhere |= hand
    state.discards = EVERY_CARD & ~somewhere


def move_of(kind: int, cards: int, targets: int) -> np.record:
    """A move of our game."""
    move = np.zeros(1, GAME.move)[0]
    move.kind, move.cards, move.targets = kind, cards, targets
    return move
