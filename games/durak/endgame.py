"""The agent `endgame:SPEC`: plays as the agent SPEC, and plays endings between two seats without mistakes."""

import threading
from typing import Any

import numpy as np

from cardai.agents.spec import Agent, agent
from cardai.agents.strategy import Strategy, Thinking
from cardai.errors import CardaiError
from cardai.game import Game
from cardai.table.asking import moves_in

from .endgame_solver import Solver, is_ending

AGENT_LIMIT = 300_000  # nodes the agent may visit for one ending; more would keep the other players waiting


def endgame_agent(game: Game, spec: str, argument: str, options: dict[str, str]) -> Agent:
    """Make the agent of a spec `endgame:SPEC`. `argument` and `options` are those of SPEC.

    In an ending the agent asks SPEC for a move. If the solver finds that this move gives score away, the agent plays
    the first best move instead. An ending that takes more than `AGENT_LIMIT` nodes is left to SPEC.

    Raises CardaiError if SPEC peeks at hidden cards.
    """
    query = "&".join(f"{key}={value}" if value else key for key, value in options.items())
    options.clear()  # the caller refuses options that are left; these go to the inner agent
    inner = agent(game, f"{argument}?{query}" if query else argument)
    if inner.peeks:
        raise CardaiError(f"agent {spec!r}: an agent that peeks cannot be given an ending")
    return Agent(spec, Endgame(inner), f"{inner.spec}, but for its mistakes in endings")


class Endgame(Strategy):
    """Plays endings without mistakes, and everything else as the agent `inner` does."""

    def __init__(self, inner: Agent) -> None:
        self.inner, self._solver, self._lock = inner, Solver(AGENT_LIMIT), threading.Lock()

    @property
    def is_foreign(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the inner agent runs somebody else's code."""
        return self.inner.is_foreign

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError if the inner agent cannot play this variant or number of seats."""
        self.inner.check_fits(game, variant, seats)

    def think(self, decisions: Any) -> Thinking:
        """Ask the inner agent in a world for each decision and correct its mistakes, without rounds."""
        worlds = decisions.worlds()
        moves = moves_in(decisions.game, self.inner, worlds)
        with self._lock:
            correct(self._solver, worlds, moves)
        return moves
        yield


def correct(solver: Solver, states: np.ndarray, moves: np.ndarray) -> None:
    """Replace mistakes in endings by best moves, in place.

    states: STATE[n], endings or not. moves: MOVE[n], one for each state; the first best move replaces a move that gives
    score away.
    """
    places = np.array([i for i in range(len(states)) if is_ending(states[i])], np.int64)
    solved = solver.solve(states[places])
    for i, scores, is_solved in zip(places.tolist(), solved.scores, solved.solved, strict=True):
        if is_solved and scores[moves["card"][i]] < np.nanmax(scores):
            moves["card"][i] = np.nanargmax(scores)
