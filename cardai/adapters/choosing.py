"""Decisions as numbered actions, for libraries that know a game by a fixed number of actions and a mask.

A game that numbers its moves (`Game.actions`) is played by these numbers. In any other game with pieces and `picks` a
move is chosen piece by piece: first the pieces that it takes, in order of their numbers, as far as some legal move goes
on with them, and at last its kind, which is the first field of a move. The actions are then the pieces, followed by the
kinds.
"""

from typing import Any

import numpy as np

from cardai.errors import CardaiError, IllegalMove, short, whole
from cardai.game import Game, GameState, copies, listed_pieces
from cardai.kernel.native import raw
from cardai.kernel.rules import door_encode, door_play, lend

KINDS = 8
"""How many kinds of move there may be in a game whose moves are chosen piece by piece."""
_MOST_MOVES = 1_000_000


class Actions:
    """The actions of a game. `count`: how many there are. `extra`: how many values show what is chosen so far.

    kinds: how many kinds of move there are, in a game whose moves are chosen by pieces. Raises CardaiError for a game
    that neither numbers its moves nor says which pieces they take.
    """

    def __init__(self, game: Game, kinds: int = KINDS) -> None:
        self.game = game
        self.by_pieces = not game.actions
        if self.by_pieces and game.picks is None:
            raise CardaiError(
                f"{game.name} has neither actions, which number its moves, nor picks, which say what pieces they take:"
                " it cannot be played by numbered actions"
            )
        self.pieces = len(game.pieces) if self.by_pieces else 0
        self.count = self.pieces + whole("kinds", kinds, 1) if self.by_pieces else max(game.actions.values()) + 1
        self.extra = self.pieces

    def choice(self, state: GameState) -> "Choice":
        """The decision of the seat to move. `state`: the position, or any world of that seat."""
        room = self.game.max_moves
        moves, has_more = self.game.enumerate(state)
        while has_more and room < _MOST_MOVES:
            room = min(4 * room, _MOST_MOVES)
            moves, has_more = self.game.enumerate(state, most=room)
        if has_more:
            raise CardaiError(f"{self.game.name}: a position has more than {_MOST_MOVES} legal moves")
        return Choice(self, [self._path(state, move) for move in moves], moves)

    def path(self, state: GameState, move: np.record) -> list[int]:
        """The actions that choose a move, one after the other."""
        return list(self._path(state, move))

    def words(self, state: GameState, choice: "Choice", action: int) -> str:
        """An action in words; different words for different legal actions."""
        if self.by_pieces and action < self.pieces:
            return self.game.pieces[action]
        path = (*choice.chosen, action)
        place = choice.paths.index(path) if path in choice.paths else -1
        return f"action {action}" if place < 0 else f"{self.game.spell(state, choice.moves[place])}"

    def _path(self, state: GameState, move: np.record) -> tuple[int, ...]:
        if not self.by_pieces:
            fields: Any = move.item()
            if fields not in self.game.actions:
                raise CardaiError(f"{self.game.name}: actions has no number for the legal move {list(fields)}")
            return (self.game.actions[fields],)
        assert self.game.picks is not None
        kind = int(move[self.game.move.names[0]])  # pyright: ignore[reportOptionalSubscript]
        if not 0 <= kind < self.count - self.pieces:
            raise CardaiError(f"{self.game.name} has a move of kind {kind}; say kinds={kind + 1} or more")
        return *listed_pieces(int(self.game.picks(state, move))), self.pieces + kind


class Choice:
    """A decision that is being made. `moves`: the legal moves, MOVE[n]. `chosen`: the actions taken so far.

    `paths`: for each move the actions that choose it. Raises CardaiError if two moves have the same.
    """

    def __init__(self, actions: Actions, paths: list[tuple[int, ...]], moves: np.ndarray) -> None:
        self.actions, self.paths, self.moves = actions, paths, moves
        self.chosen: tuple[int, ...] = ()
        if len(set(paths)) < len(paths):
            raise CardaiError(f"{actions.game.name}: two legal moves take the same pieces and are of the same kind")
        self._open = paths  # the paths that begin with the chosen actions

    @property
    def legal(self) -> list[int]:
        """The legal actions, in ascending order."""
        return sorted({path[len(self.chosen)] for path in self._open})

    def mask(self) -> np.ndarray:
        """The legal actions as i8[count]."""
        mask = np.zeros(self.actions.count, np.int8)
        mask[self.legal] = 1
        return mask

    def values(self) -> np.ndarray:
        """Which pieces are chosen so far, u8[extra]."""
        values = np.zeros(self.actions.extra, np.uint8)
        values[list(self.chosen)] = 1
        return values

    def take(self, action: Any) -> np.record | None:
        """Take an action. Returns the move once it is complete, None before. Raises IllegalMove."""
        is_whole = isinstance(action, int | np.integer) or (isinstance(action, np.ndarray) and action.ndim == 0)
        if not is_whole or isinstance(action, bool) or np.asarray(action).dtype.kind not in "iu":
            raise IllegalMove(f"{self.actions.game.name}: an action is a whole number, not {short(action)}")
        at, action = len(self.chosen), int(action)
        following = [path for path in self._open if path[at] == action]
        if not following:
            legal = ", ".join(map(str, self.legal))
            raise IllegalMove(f"{self.actions.game.name}: action {action} is not legal here; legal are {legal}")
        self.chosen, self._open = (*self.chosen, action), following
        if len(following) == 1 and len(following[0]) == at + 1:
            return self.moves[self.paths.index(following[0])]
        return None


class Views:
    """Rows of an encoder at a table of `seats`, without the checks of `Game.encode`: states are the adapter's own."""

    def __init__(self, game: Game, seats: int, encoder: str | None) -> None:
        chosen = game.encoder(encoder)
        self.width = chosen.width(seats)
        self._entry = game.entry("encode", chosen.encode)

    def row(self, state: GameState, seat: int) -> np.ndarray:
        """The view of a seat, u8[width]."""
        states, rows = copies(state), np.zeros((1, self.width), np.uint8)
        door_encode(self._entry, raw(states), seat, raw(rows))
        return rows[0]


def played(game: Game, state: GameState, move: np.record) -> GameState:
    """The settled state after a move that is known to be legal, as one that a `Choice` returned is."""
    states, moves = copies(state), np.zeros(1, game.move)
    moves[0] = move
    door_play(lend(game.rules), raw(states), raw(moves), True)
    return states[0]


def usual_score(game: Game, seats: int) -> float:
    """The mean score of a seat, in the game's unit, if the scores of the game have a fixed sum.

    Else a half, or 0 if the game's payoff has a unit.
    """
    total = game.score_sum(seats)
    return total / seats if total is not None else 0.5 if game.payoff.is_share else 0.0
