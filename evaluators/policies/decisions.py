"""Decisions as arrays: what the seat to move saw, which actions it had, which it took and what it got in the end.

An *action* is the number of a move (`Game.actions`). Positions come from the table as worlds (`DecisionEncoder.look`)
or from recorded games (`DecisionEncoder.review`); compiled code encodes them and lists their actions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from cardai.agents.spec import Agent
from cardai.errors import CardaiError
from cardai.game import Game, GameState
from cardai.kernel.driver import LEGAL, lend
from cardai.kernel.native import (
    at,
    call_encode,
    call_legal,
    clear_row,
    get,
    raw,
    same,
    set,
    turn_of,
)
from cardai.kernel.replay import BEFORE, Replay, replay_game
from cardai.rule import rule
from cardai.table.complaints import Complaints
from cardai.table.many import play


class DecisionRules(NamedTuple):
    """What compiled code needs to look at positions of a game; M moves are numbered, with A numbers."""

    calls: Any  # i64[7]: addresses of rules, see driver.Rules
    encode: Any
    max_moves: int
    move_size: int
    moves: Any  # MOVE[M] in canonical order
    numbers: Any  # i64[M]
    total: int  # M
    actions: int  # A
    legal: Any  # MOVE[max_moves]: working space


@rule
def look_at(lens, state, rows, places, index):
    """Fill rows[index] with the view of the seat to move and places[index] with its actions; False: one has no number.

    `places`: i64[n, A], zero before: 1 + the place among `moves` of the legal move with that number, 0 without.
    """
    clear_row(rows, index)
    call_encode(lens.encode, state, turn_of(state), rows, index)
    known = 0  # both lists are in canonical order
    for i in range(abs(call_legal(get(lens.calls, LEGAL), state, lens.legal, 0, lens.max_moves))):
        while known < lens.total and not same(at(lens.moves, known), at(lens.legal, i), lens.move_size):
            known += 1
        if known == lens.total:
            return False
        set(places, index * lens.actions + get(lens.numbers, known), known + 1)
    return True


@rule
def look_at_all(lens, worlds, count, rows, places):
    """`look_at` for each of `count` worlds; the first with a move that has no number, or -1."""
    for i in range(count):
        if not look_at(lens, at(worlds, i), rows, places, i):
            return i
    return -1


@rule
def number_of(lens, move):
    """The number of a move that has one."""
    for i in range(lens.total):
        if same(at(lens.moves, i), move, lens.move_size):
            return get(lens.numbers, i)
    return -1


@rule
def look_at_games(rules, lens, replay, seeds, ends, count, rows, places, taken, games, seats):
    """Replay `count` games and look at every decision; the moves of game g end at ends[g]. `taken`: its action.

    Returns how many decisions there are, fewer than ends[-1] if a move is illegal. Returns -1 - p if the state at ply p
    of a game has a move without a number; it is then replay.states[1 + p].
    """
    n = 0
    for game in range(count):
        first, end = n, get(ends, game)
        if replay_game(rules, replay, get(seeds, game), first, end) < end - first:
            return n
        for ply in range(end - first):
            if not look_at(lens, at(replay.states, 1 + ply), rows, places, n):
                return -1 - ply
            set(taken, n, number_of(lens, at(replay.moves, n)))
            set(games, n, game)
            set(seats, n, get(replay.seats, ply))
            n += 1
    return n


@dataclass(frozen=True)
class Trajectories:
    """D decisions, those of a seat in a game side by side and in order.

    `score` is what the seat got at the end of the game, in [0, 1]; `last`: it had no further decision. `player`: who
    sat there, as in the line-up. Only legal actions are in `masks`.
    """

    rows: np.ndarray  # u8[D, width]
    masks: np.ndarray  # bool[D, A]
    actions: np.ndarray  # i64[D]
    scores: np.ndarray  # f8[D]
    last: np.ndarray  # bool[D]
    games: np.ndarray  # i64[D]
    players: np.ndarray  # i64[D]

    def __len__(self) -> int:
        return len(self.actions)

    def part(self, places: np.ndarray) -> Self:
        """Some of them: i64 places or bool[D]."""
        return type(self)(*(getattr(self, name)[places] for name in self.__dataclass_fields__))


class DecisionEncoder:
    """How a game's decisions become arrays, by one encoder for tables of `seats`.

    `width` of a row, `actions`: how many numbers moves have. CardaiError when the game does not number its moves.
    """

    def __init__(self, game: Game, seats: int, encoder: str | None = None) -> None:
        self.game, self.seats = game, seats
        self.encoder = next(iter(game.encoders)) if encoder is None else encoder
        self.moves, numbers = numbered(game)
        self.actions = int(numbers.max()) + 1
        self.width = game.encoder(encoder).width(seats)
        rules = game.rules
        self._lens = DecisionRules(
            rules.calls, game.entry("encode", game.encoder(encoder).encode), rules.max_moves, rules.move_size,
            self.moves, numbers, len(numbers), self.actions, np.zeros(game.max_moves, game.move),
        )  # fmt: skip
        self._lent = lend(self._lens)

    def look(self, worlds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the seats to move see in STATE[n], u8[n, width], and their actions: i64[n, A], see `look_at`."""
        count = len(worlds)
        rows, places = np.zeros((count, self.width), np.uint8), np.zeros((count, self.actions), np.int64)
        stuck = int(look_at_all(self._lent, raw(np.ascontiguousarray(worlds)), count, raw(rows), raw(places)))
        if stuck >= 0:
            self._refuse(worlds[stuck])
        return rows, places

    def review(
        self, seeds: np.ndarray, moves: Sequence[np.ndarray], lineups: np.ndarray, scores: np.ndarray,
        variant: str | None = None,
    ) -> Trajectories:  # fmt: skip
        """All decisions of games that were played to the end: u64[G], MOVE[plies] each, i64[G, seats], f8[G, seats]."""
        ends = np.cumsum([len(one) for one in moves], dtype=np.int64)
        total = int(ends[-1]) if len(ends) else 0
        rows, places = np.zeros((total, self.width), np.uint8), np.zeros((total, self.actions), np.int64)
        taken, games, seats = (np.zeros(total, np.int64) for _ in range(3))
        played = np.concatenate([*moves, np.zeros(0, self.game.move)]).astype(self.game.move)
        longest = max((len(one) for one in moves), default=0)
        seeds = np.ascontiguousarray(seeds, np.uint64)
        replay = Replay(
            blank=self.game.options(self.seats, variant),
            moves=played,
            moment=BEFORE,
            counts_choices=False,
            states=np.zeros(1 + longest, self.game.state),
            seats=np.zeros(longest, np.int64),
            choices=np.zeros(0, np.int64),
            buffer=np.zeros(self.game.max_moves, self.game.move),
        )
        with Complaints(self.game):
            n = look_at_games(
                lend(self.game.rules), self._lent, lend(replay), raw(seeds), raw(ends), len(moves), raw(rows),
                raw(places), raw(taken), raw(games), raw(seats),
            )  # fmt: skip
        if n < 0:
            self._refuse(replay.states[-n])
        if n < total:
            raise CardaiError(f"{self.game.name}: a game cannot be replayed, its move {n} of all games is illegal")
        order = np.argsort(games * self.seats + seats, kind="stable")
        games, seats = games[order], seats[order]
        own = games * self.seats + seats
        following = np.append(own[1:], -1)
        return Trajectories(
            rows[order], places[order] > 0, taken[order], scores[games, seats], own != following, games,
            lineups[games, seats],
        )  # fmt: skip

    def _refuse(self, state: GameState) -> None:
        """Raise CardaiError for the legal move of a state that has no number."""
        for move in self.game.moves(state):
            if tuple(move.tolist()) not in self.game.actions:
                raise CardaiError(f"{self.game.name}: actions has no number for the legal move {move.tolist()}")
        raise AssertionError("every legal move has a number, and yet one was refused")


def numbered(game: Game) -> tuple[np.ndarray, np.ndarray]:
    """The moves that have numbers, MOVE[M] in canonical order, and their numbers, i64[M].

    CardaiError when there are none, or the numbers have gaps.
    """
    if not game.actions:
        raise CardaiError(
            f"{game.name} does not number its moves, so there is no policy for it: its Game has no actions"
        )
    fields = sorted(game.actions)
    numbers = np.array([game.actions[one] for one in fields], np.int64)
    if sorted({*numbers.tolist()}) != list(range(int(numbers.max()) + 1)):
        raise CardaiError(f"{game.name}: actions must number the moves 0, 1, 2 and so on, without gaps")
    return np.array(fields, game.move), numbers


def played(
    sight: DecisionEncoder, agents: Sequence[Agent], lineups: np.ndarray, seeds: np.ndarray, variant: str | None = None
) -> Trajectories | None:
    """The decisions of all seats in games that are played now; None when Ctrl-C stopped them.

    `lineups`: i64[G, seats], places in `agents`. Games that were given up as endless are left out.
    """
    results = play(sight.game, agents, lineups, seeds, variant=variant, threads=1, record=True)
    if results.interrupted:
        return None
    kept = [game for game, moves in enumerate(results.moves) if moves is not None]
    moves = [results.moves[game] for game in kept]
    return sight.review(seeds[kept], moves, lineups[kept], results.scores[kept], variant)  # pyright: ignore
