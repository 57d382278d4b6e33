"""Decisions as numbered actions, for libraries that know a game by a fixed number of actions and a mask.

A game that numbers its moves (`Learning.actions`) is played by these numbers. In any other game a move is chosen piece
by piece: first the pieces that it takes (`Table.picks`), in order of their numbers, as far as some legal move goes on
with them, and then its kind, which is the first field of a move. The actions are the pieces, followed by the kinds.
Where several legal moves take the same pieces and are of one kind, the choice goes on with their other fields until
one is left: the actions of the kinds are then the digits of the numbers in these fields.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cardai.errors import CardaiError, IllegalMove, short, whole
from cardai.game import Game, GameState, copies, listed_pieces
from cardai.game.compiled.native import raw
from cardai.game.compiled.rules import door_encode, door_play, lend

KINDS = 8
"""How many kinds of move have an action of their own in a game whose moves are chosen piece by piece."""
_MOST_MOVES = 1_000_000


class Actions:
    """The actions of a game. `count`: how many there are. `extra`: how many values show what is chosen so far.

    kinds: how many kinds of move have an action, in a game whose moves are chosen by pieces; a higher number of a kind
    is chosen digit by digit, to this base. `longest`: the most actions that choose a move.
    """

    def __init__(self, game: Game, kinds: int = KINDS) -> None:
        self.game = game
        self.by_pieces = not game.learning.actions
        self.kinds = whole("kinds", kinds, 2)
        self.pieces = len(game.table.pieces) if self.by_pieces else 0
        self.count = self.pieces + self.kinds if self.by_pieces else max(game.learning.actions.values()) + 1
        self.extra = self.count if self.by_pieces else 0
        digits = len(self._digits(np.array([[1 << 62] * len(game.move.names or ())]))[0])
        self.longest = self.pieces + digits if self.by_pieces else 1

    def choice(self, state: GameState) -> "Choice":
        """The decision of the seat to move. `state`: the position, or any world of that seat."""
        room = self.game.max_moves
        moves, has_more = self.game.enumerate(state)
        while has_more and room < _MOST_MOVES:
            room = min(4 * room, _MOST_MOVES)
            moves, has_more = self.game.enumerate(state, most=room)
        if has_more:
            raise CardaiError(f"{self.game.name}: a position has more than {_MOST_MOVES} legal moves")
        return Choice(self, self._paths(state, moves), moves)

    def path(self, state: GameState, move: np.record) -> list[int]:
        """The actions that choose a legal move, one after the other."""
        choice = self.choice(state)
        return list(choice.paths[choice.moves.tolist().index(move.item())])

    def words(self, state: GameState, choice: "Choice", action: int) -> str:
        """An action in words; different words for different legal actions."""
        if self.by_pieces and action < self.pieces:
            return self.game.table.pieces[action]
        path = (*choice.chosen, action)
        place = choice.paths.index(path) if path in choice.paths else -1
        return f"action {action}" if place < 0 else f"{self.game.text.spell(state, choice.moves[place])}"

    def values(self, chosen: Sequence[int]) -> np.ndarray:
        """What is chosen so far, u8[extra]: 1 for a piece; for a digit the places of it, bit 0 for the first digit."""
        values = np.zeros(self.extra, np.uint8)
        pieces = sum(action < self.pieces for action in chosen)
        values[list(chosen[:pieces])] = 1
        for place, action in enumerate(chosen[pieces:]):
            values[action] |= 1 << min(place, 7)
        return values

    def _paths(self, state: GameState, moves: np.ndarray) -> list[tuple[int, ...]]:
        """The actions that choose each of the legal moves, MOVE[n]."""
        if not self.by_pieces:
            return [self._number(move.item()) for move in moves]
        picks = [0 if self.game.table.picks is None else int(self.game.table.picks(state, move)) for move in moves]
        if wrong := [pieces for pieces in picks if not 0 <= pieces < 1 << self.pieces]:
            pieces = f"the pieces {listed_pieces(wrong[0])}" if wrong[0] > 0 else f"{wrong[0]}, which is no set"
            raise CardaiError(f"{self.game.name}: a move picks {pieces}; the game has {self.pieces} pieces")
        alike: dict[int, list[int]] = {}
        for place, pieces in enumerate(picks):
            alike.setdefault(pieces, []).append(place)
        paths: list[tuple[int, ...]] = [()] * len(moves)
        for pieces, places in alike.items():
            digits = self._digits(np.array([moves[place].item() for place in places]))
            for place, rest in zip(places, _told_apart(digits), strict=True):
                paths[place] = *listed_pieces(pieces), *(self.pieces + digit for digit in rest)
        return paths

    def _number(self, fields: Any) -> tuple[int]:
        if fields not in self.game.learning.actions:
            raise CardaiError(f"{self.game.name}: actions has no number for the legal move {list(fields)}")
        return (self.game.learning.actions[fields],)

    def _digits(self, fields: np.ndarray) -> list[tuple[int, ...]]:
        """The fields of moves, i64[n, F], as digits to the base `kinds`, the first field first."""
        columns = []
        for numbers in (fields - np.minimum(fields.min(axis=0), 0)).T.tolist():
            power = 1
            while power * self.kinds <= max(numbers):
                power *= self.kinds
            while power:
                columns.append([number // power % self.kinds for number in numbers])
                power //= self.kinds
        return [*zip(*columns, strict=True)]


def _told_apart(rows: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Rows without the numbers on which all agree that began alike; the first number of each stays."""
    short_rows = [row[:1] for row in rows]
    for column in range(1, len(rows[0])):
        following: dict[tuple[int, ...], set[int]] = {}
        for begun, row in zip(short_rows, rows, strict=True):
            following.setdefault(begun, set()).add(row[column])
        short_rows = [
            (*begun, row[column]) if len(following[begun]) > 1 else begun
            for begun, row in zip(short_rows, rows, strict=True)
        ]
    return short_rows


class Choice:
    """A decision that is being made. `moves`: the legal moves, MOVE[n]. `chosen`: the actions taken so far.

    `paths`: for each move the actions that choose it. Raises CardaiError if two moves have the same number or fields.
    """

    def __init__(self, actions: Actions, paths: list[tuple[int, ...]], moves: np.ndarray) -> None:
        self.actions, self.paths, self.moves = actions, paths, moves
        self.chosen: tuple[int, ...] = ()
        if len(set(paths)) < len(paths):
            raise CardaiError(f"{actions.game.name}: two legal moves have the same number in actions, or are the same")
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
        """What is chosen so far, u8[extra]: see `Actions.values`."""
        return self.actions.values(self.chosen)

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
        self._entry = game.compiler.entry("encode", chosen.encode)

    def row(self, state: GameState, seat: int) -> np.ndarray:
        """The view of a seat, u8[width]."""
        states, rows = copies(state), np.zeros((1, self.width), np.uint8)
        door_encode(self._entry, raw(states), seat, raw(rows))
        return rows[0]


def played(game: Game, state: GameState, move: np.record) -> GameState:
    """The settled state after a move that is known to be legal, as one that a `Choice` returned is."""
    states, moves = copies(state), np.zeros(1, game.move)
    moves[0] = move
    door_play(lend(game.compiler.rules), raw(states), raw(moves), True)
    return states[0]


def usual_score(game: Game, seats: int) -> float:
    """The mean score of a seat, in the game's unit, if the scores of the game have a fixed sum.

    Else a half, or 0 if the game's payoff has a unit.
    """
    total = game.score_sum(seats)
    return total / seats if total is not None else 0.5 if game.payoff.is_share else 0.0
