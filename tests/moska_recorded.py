"""Games of Moska recorded from another engine (tests/data/moska/README.md), as positions of ours."""

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import cardai
from games.moska import rules

GAME = cardai.load("moska")
FILE = Path(__file__).parent / "data" / "moska" / "recorded.jsonl.xz"
EVERY_CARD = (1 << 52) - 1


class Turn(NamedTuple):
    """A recorded turn: the position before it as a state of ours, what was done, and what came of it."""

    where: str
    player: str
    state: np.record
    offered: int
    kind: int
    cards: int
    targets: int
    after: dict
    plays: dict


def turns() -> Iterator[Turn]:
    """All recorded turns; `state` is the same record every time, brought up to date."""
    with lzma.open(FILE, "rt") as lines:
        for line in lines:
            game = json.loads(line)
            state, fields = blank(game), {}
            for number, (seat, offered, (kind, cards, targets), before, changes, *plays) in enumerate(game["turns"]):
                fields.update(before)
                bring_up_to_date(state, fields, game, seat)
                after = fields | changes
                where = f"{game['id']} turn {number}"
                yield Turn(where, game["kinds"][seat], state, offered, kind, cards, targets, after, *(plays or [{}]))
                fields = after


def blank(game: dict) -> np.record:
    """A state with what stays the same all game."""
    state = GAME.options(len(game["hands"]), "appendix")[0]
    state.self_attack = rules.DECK_NOW
    state.trump, state.trump_card = game["trump"], game["trump_card"]
    state.turned, state.last, state.pending, state.bout_deck = rules.NONE, rules.NONE, rules.SKIP, 1
    return state


def bring_up_to_date(state: np.record, fields: dict, game: dict, seat: int) -> None:
    """Set everything that the recorded fields say."""
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
    """A move of ours."""
    move = np.zeros(1, GAME.move)[0]
    move.kind, move.cards, move.targets = kind, cards, targets
    return move
