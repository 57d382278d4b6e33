"""What agents that follow their games are told: the moves that others made since their last one, and how games end.

The moves are taken from the log of a table and played again here, so that each is worded in a world of the seat that is
told (`Game.told`). Nothing else of the true state gets out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from cardai.game import Game, GameState, int_seed
from cardai.game.compiled.chance import VIEW, derived
from cardai.game.compiled.together import told_of
from cardai.playing.agents.outside import Seated
from cardai.playing.agents.spec import Agent
from cardai.playing.table.ended import Sink


def told(game: Game, before: GameState, move: np.record, seat: int, seed: int) -> tuple[int, str]:
    """The seat that moved, and its move in words that `seat` may read.

    `before`: the state before the move. `seed`: that of the game, which decides what is dealt anew.
    """
    return int(before["turn"]), told_of(game, before, move, seat, world_of(game, before, seat, seed))


def words_of(game: Game, state: GameState, move: np.record, seat: int | None = None) -> str:
    """A move in words: in full, or what a seat is told, in a world of it. `state`: before the move."""
    if seat is None:
        return game.text.spell(state, move)
    return told_of(game, state, move, seat, game.world(state, seat, seed=int(state["ply"])))


class MoveTold(NamedTuple):
    """A move as a seat may read it: who moved, in words, what it led to ("" if nothing is said), and what each seat got
    in the round that it ended, None if it ended none."""

    seat: int
    words: str
    led_to: str = ""
    gained: tuple[float, ...] | None = None


def events(game: Game, states: Sequence[GameState], moves: Sequence[np.record], seat: int, seed: int) -> list[MoveTold]:
    """What a seat may read of moves. `states`: the ones before each move, and the one after the last.

    All is made from worlds of the seat. `seed`: see `told`.
    """
    if game.text.led_to is None and game.text.rounds is None:
        return [MoveTold(*told(game, state, move, seat, seed)) for state, move in zip(states, moves, strict=False)]
    worlds = [world_of(game, state, seat, seed) for state in states]
    found = []
    for state, move, before, after in zip(states, moves, worlds, worlds[1:], strict=False):
        led_to = "" if game.text.led_to is None else game.text.led_to(before, after)
        words = told_of(game, state, move, seat, before)
        found.append(MoveTold(int(state["turn"]), words, led_to, _gained(game, before, after)))
    return found


def _gained(game: Game, before: GameState, after: GameState) -> tuple[float, ...] | None:
    """What each seat got in a round that has just ended, None if none has."""
    first, last = (None if game.text.rounds is None else game.text.rounds(world) for world in (before, after))
    if first is None or last is None or first[0] == last[0]:
        return None
    return tuple(float(now) - float(then) for now, then in zip(last[1], first[1], strict=True))


def by_round(game: Game, past: Sequence[MoveTold], world: GameState) -> dict[str, list] | None:
    """A match by its rounds: `rows` of a name and what each seat got, and the `total` of each; None if the game counts
    no rounds. `past`: all its moves. `world`: the present position, as the same seat sees it."""
    now = None if game.text.rounds is None else game.text.rounds(world)
    if now is None:
        return None
    gained, total = [event.gained for event in past if event.gained is not None], [float(points) for points in now[1]]
    first = now[0] - len(gained) + 1
    rows = [[str(number), *points] for number, points in enumerate(gained, first)]
    earlier = [points - sum(column) for points, *column in zip(total, *gained, strict=True)]
    return {"rows": [["before", *earlier], *rows] if any(earlier) else rows, "total": total}


def world_of(game: Game, state: GameState, seat: int, seed: int) -> GameState:
    """A world of `seat` in a state of the game of a seed, always the same one: to word something from."""
    luck = int(derived(int_seed(seed), VIEW, int(state["ply"]) * int(state["seats"]) + seat))
    return game.world(state, seat, luck)


@dataclass
class _Live:
    """A game that is followed. `tables`: by seat, the number that its agent has for the table."""

    index: int
    state: GameState
    news: dict[int, list[tuple[int, str]]]
    tables: dict[int, int] = field(default_factory=dict)


class Following(Sink):
    """Follows the games of a run for the agents that want it. Takes games that end, and hands them on to `sink`."""

    takes_at_once = False  # programs are told in the thread that asks them

    def __init__(
        self,
        game: Game,
        agents: Sequence[Agent],
        lineups: np.ndarray,
        seeds: np.ndarray,
        variant: str | None,
        sink: Sink | None,
    ) -> None:
        self.game, self.agents, self.lineups, self.seeds = game, agents, lineups, seeds
        self.variant, self.sink = game.canonical(variant), sink
        self._live: dict[int, _Live] = {}

    def seated(self, slot: int, index: int, seat: int, ply: int, log: np.ndarray) -> Seated:
        """What a seat is told before a move: in the game of this index, which has had `ply` moves, log[:ply]."""
        live = self._live.get(slot)
        if live is None or live.index != index:
            if live is not None:
                self._end(live, None, "")  # it was given up as endless
            live = self._live[slot] = self._begun(index)
        self._go_on(live, ply, log)
        agent, is_new = self._agent(index, seat), seat not in live.tables
        if is_new:
            live.tables[seat] = agent.strategy.new_table()
        return self._seated(live, seat, is_new)

    def take(
        self, games: np.ndarray, slots: np.ndarray, plies: np.ndarray, logs: np.ndarray, scores: np.ndarray
    ) -> bool:
        for i, (index, slot) in enumerate(zip(games.tolist(), slots.tolist(), strict=True)):
            live = self._live.get(slot)
            if live is not None and live.index == index:
                del self._live[slot]
                self._go_on(live, int(plies[i]), logs[slot])
                ending = self.game.text.ending(live.state) if self.game.text.ending else ""
                self._end(live, [float(score) for score in scores[i]], ending)
        return self.sink.take(games, slots, plies, logs, scores) if self.sink else False

    def hand_over(self) -> None:
        if self.sink:
            self.sink.hand_over()

    def close(self) -> None:
        """Tell agents of the games that were not played to their end."""
        while self._live:
            self._end(self._live.popitem()[1], None, "")

    def _agent(self, index: int, seat: int) -> Agent:
        return self.agents[self.lineups[index, seat]]

    def _begun(self, index: int) -> _Live:
        seats = self.lineups.shape[1]
        followed = [seat for seat in range(seats) if self._agent(index, seat).strategy.follows]
        return _Live(index, self.game.new(seats, int(self.seeds[index]), self.variant), {seat: [] for seat in followed})

    def _go_on(self, live: _Live, ply: int, log: np.ndarray) -> None:
        """Play the moves of a game up to a ply, and note what its seats are told of them."""
        while int(live.state["ply"]) < ply:
            move, seed = log[int(live.state["ply"])], int(self.seeds[live.index])
            for seat, news in live.news.items():
                news.append(told(self.game, live.state, move, seat, seed))
            live.state = self.game.play(live.state, move)

    def _seated(self, live: _Live, seat: int, is_new: bool) -> Seated:
        news, live.news[seat] = live.news[seat], []
        return Seated(live.tables[seat], seat, self.lineups.shape[1], self.variant, news, is_new)

    def _end(self, live: _Live, scores: list[float] | None, ending: str) -> None:
        for seat in live.tables:
            self._agent(live.index, seat).strategy.end_table(self._seated(live, seat, False), scores, ending)
