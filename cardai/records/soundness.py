"""Whether recorded games replay to their scores, for many games at once, in compiled code.

`cardai.records.record.verify` says more about a game that does not, and takes some three times as long.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cardai.game import Game
from cardai.game.compiled.native import at, call_score, get, get_float, turn_of
from cardai.game.compiled.rules import SCORE, lend
from cardai.playing.compiled.replay import NOTHING, replay_game
from cardai.records.record import RecordedGame, replay_space
from cardai.rules import rule


class _Ends(NamedTuple):
    """How G games are said to have ended."""

    total: int
    seats: int
    seeds: Any  # u8[G]
    ends: Any  # i64[G]: where the moves of game g end
    scores: Any  # f8[G, seats]


def first_unsound(game: Game, recorded: Sequence[RecordedGame]) -> int | None:
    """The place of the first game that does not replay to its scores. None if all do.

    The games are of one file: of this game, variant and number of seats.
    """
    if not recorded:
        return None
    replay = replay_space(game, recorded, NOTHING)
    ends = _Ends(
        total=len(recorded),
        seats=len(recorded[0].lineup),
        seeds=np.array([one.seed for one in recorded], np.uint64),
        ends=np.cumsum([len(one.moves) for one in recorded]),
        scores=np.array([one.scores for one in recorded]),
    )
    found = int(_first_unsound(lend(game.compiler.rules), lend(ends), lend(replay)))
    return None if found < 0 else found


@rule
def _first_unsound(rules, ends, replay):
    """The first game that does not replay to its scores, or -1."""
    first = 0
    for game in range(ends.total):
        end = get(ends.ends, game)
        if replay_game(rules, replay, get(ends.seeds, game), first, end) < end - first:
            return game
        state = at(replay.states, 0)
        if turn_of(state) >= 0:
            return game
        for seat in range(ends.seats):
            if call_score(get(rules.calls, SCORE), state, seat) != get_float(ends.scores, game * ends.seats + seat):
                return game
        first = end
    return -1
