"""Decisions as arrays, for training policies.

An *action* is the number of a move (`Learning.actions`). `DecisionEncoder` encodes positions at a table and decisions
of recorded games; `play_trajectories` plays games and returns their decisions.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from cardai.errors import CardaiError
from cardai.game import Game
from cardai.game.compiled.fence import roomy
from cardai.game.compiled.native import (
    at,
    get,
    raw,
    same,
    set,
)
from cardai.game.compiled.rules import lend
from cardai.playing.agents.actions import ActionEncoder, encode_decision
from cardai.playing.agents.spec import Agent
from cardai.playing.compiled.replay import BEFORE, Replay, replay_game
from cardai.playing.table.complaints import Complaints
from cardai.playing.table.many import play
from cardai.records.own_games import constant_in, own_games
from cardai.rules import rule

_GAMES = 20  # replayed at once, as a game's decisions have a place for each action


@rule
def number_of(decision_rules, move):
    """Returns the number of a move, or -1 if it has none."""
    for i in range(decision_rules.total):
        if same(at(decision_rules.moves, i), move, decision_rules.move_size):
            return get(decision_rules.numbers, i)
    return -1


@rule
def encode_games(rules, decision_rules, replay, seeds, ends, count, choices_only, rows, places, taken, games, seats):
    """Replay `count` games and encode each decision. The moves of game g end at ends[g].

    Decision d: `taken`, its action; `games`, its game; `seats`, the seat that made it; i64[D] each. With `choices_only`
    forced moves are no decisions. Returns (number of decisions, number of moves before an illegal one, ply): if the
    state at a ply of a game has a legal move without a number, the ply, and the state is replay.states[1 + ply];
    otherwise -1.
    """
    n, first = 0, 0
    for game in range(count):
        end = get(ends, game)
        if replay_game(rules, replay, get(seeds, game), first, end) < end - first:
            return n, first, -1
        for ply in range(end - first):
            legal = encode_decision(decision_rules, at(replay.states, 1 + ply), rows, places, n, choices_only)
            if legal == 0:
                return n, first, ply
            if legal == 1 and choices_only:
                for action in range(decision_rules.actions):
                    set(places, n * decision_rules.actions + action, 0)
                continue
            set(taken, n, number_of(decision_rules, at(replay.moves, first + ply)))
            set(games, n, game)
            set(seats, n, get(replay.seats, ply))
            n += 1
        first = end
    return n, first, -1


@dataclass(frozen=True)
class Trajectories:
    """D decisions. Those of one seat in one game, a trajectory, are adjacent and in order of play.

    `masks`: which actions were legal. `scores`: what the seat got at the end of the game, in [0, 1]. `last`: the seat
    had no later decision in the game. `games`: index of the game. `players`: index of the seat's agent, as in the
    line-up.
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

    def subset(self, selected: np.ndarray) -> Self:
        """Returns some of the decisions, selected by index, i64[n], or by mask, bool[D]."""
        return type(self)(*(getattr(self, name)[selected] for name in self.__dataclass_fields__))


class DecisionEncoder(ActionEncoder):
    """An encoder of decisions that also replays games: see `ActionEncoder`."""

    def replay(
        self, seeds: np.ndarray, moves: Sequence[np.ndarray], lineups: np.ndarray, scores: np.ndarray,
        variant: str | None = None, choices_only: bool = False,
    ) -> Trajectories:  # fmt: skip
        """Returns all decisions of G games that were played to their end; `choices_only`: without forced moves.

        `seeds`: u64[G]; `moves`: MOVE[plies] of each game; `lineups`: i64[G, seats]; `scores`: f8[G, seats].
        Raises CardaiError if a legal move has no number, or if a recorded move is illegal.
        """
        ends = np.cumsum([len(game_moves) for game_moves in moves], dtype=np.int64)
        total = int(ends[-1]) if len(ends) else 0
        rows, places = np.zeros((total, self.width), np.uint8), np.zeros((total, self.actions), np.int64)
        taken, games, seats = (np.zeros(total, np.int64) for _ in range(3))
        all_moves = np.concatenate([*moves, np.zeros(0, self.game.move)]).astype(self.game.move)
        longest = max((len(game_moves) for game_moves in moves), default=0)
        seeds = np.ascontiguousarray(seeds, np.uint64)
        replay = Replay(
            blank=self.game.options(self.seats, variant),
            moves=all_moves,
            moment=BEFORE,
            counts_choices=False,
            states=np.zeros(1 + longest, self.game.state),
            seats=np.zeros(longest, np.int64),
            choices=np.zeros(0, np.int64),
            buffer=roomy(self.game.max_moves, self.game.move),
        )
        with Complaints(self.game):
            n, replayed, unknown = encode_games(
                lend(self.game.compiler.rules), self.lent, lend(replay), raw(seeds), raw(ends), len(moves),
                choices_only, raw(rows), raw(places), raw(taken), raw(games), raw(seats),
            )  # fmt: skip
        if unknown >= 0:
            self.refuse(replay.states[1 + unknown])
        if replayed < total:
            raise CardaiError(
                f"{self.game.name}: a game cannot be replayed: a move after move {replayed} of all games is illegal"
            )
        rows, places, taken, games, seats = (array[:n] for array in (rows, places, taken, games, seats))
        order = np.argsort(games * self.seats + seats, kind="stable")
        games, seats = games[order], seats[order]
        trajectory = games * self.seats + seats
        next_trajectory = np.append(trajectory[1:], -1)
        return Trajectories(
            rows[order], places[order] > 0, taken[order], scores[games, seats], trajectory != next_trajectory, games,
            lineups[games, seats],
        )  # fmt: skip


@functools.lru_cache(maxsize=16)
def constant_inputs(game: Game, variant: str, seats: int, encoder: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns the columns that never vary at the decisions of own games, i64[k], and their values there, u8[k].

    See `cardai.records.own_games`. Forced moves are no decisions.
    """
    games, table = own_games(game, variant, seats), DecisionEncoder(game, seats, encoder)

    def rows(first: int) -> np.ndarray:
        part = games[first : first + _GAMES]
        seeds = np.array([recorded.seed % 2**64 for recorded in part], np.uint64)
        lineups = np.array([recorded.lineup for recorded in part], np.int64)
        scores = np.array([recorded.scores for recorded in part])
        return table.replay(seeds, [recorded.moves for recorded in part], lineups, scores, variant, True).rows

    return constant_in(map(rows, range(0, len(games), _GAMES)))


def play_trajectories(
    encoder: DecisionEncoder,
    agents: Sequence[Agent],
    lineups: np.ndarray,
    seeds: np.ndarray,
    variant: str | None = None,
    choices_only: bool = False,
) -> Trajectories | None:
    """Plays games and returns the decisions of all seats, or None if Ctrl-C stopped the games.

    `choices_only`: forced moves are left out.
    `lineups`: i64[G, seats], indices of `agents`. `seeds`: u64[G]. Games that reached the limit of plies are left out.
    """
    results = play(encoder.game, agents, lineups, seeds, variant=variant, threads=1, record=True)
    if results.interrupted:
        return None
    ended = [game for game, moves in enumerate(results.moves) if moves is not None]
    moves = [results.moves[game] for game in ended]
    return encoder.replay(seeds[ended], moves, lineups[ended], results.scores[ended], variant, choices_only)  # pyright: ignore
