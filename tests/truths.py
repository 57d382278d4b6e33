"""The true state of a game at a table, which no table shows: the game replayed by its seed and moves."""

from cardai.game import GameState
from cardai.table.one import OneGame


def truth_of(table: OneGame, ply: int | None = None) -> GameState:
    state = table.game.new(table.seats, table.seed, table.variant)
    for move in table.moves[:ply]:
        state = table.game.play(state, move)
    return state
