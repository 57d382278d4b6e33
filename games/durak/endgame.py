"""The agent `endgame:SPEC`: plays as the agent SPEC, and plays endings between two seats without mistakes."""

import threading
from dataclasses import dataclass, field

import numpy as np

from cardai.agents.spec import Agent, agent
from cardai.errors import CardaiError
from cardai.game import Game
from cardai.kernel import driver
from cardai.table.asking import moves_in

from .endgame_solver import Solver, is_ending

AGENT_LIMIT = 300_000  # nodes the agent may visit for one ending; more would keep the other players waiting


def find_agent(game: Game, spec: str, argument: str, options: dict[str, str]) -> Agent:
    """Make the agent of a spec `endgame:SPEC`; `argument` and `options` are those of SPEC.

    In an ending the agent asks SPEC for a move. If the solver finds that this move gives score away, the agent plays
    the first best move instead. An ending that takes more than `AGENT_LIMIT` nodes is left to SPEC.

    Raises CardaiError if the game is not Durak, or if SPEC peeks at hidden cards.
    """
    if game.name != "durak":
        raise CardaiError(f"agent {spec!r}: endings are solved for durak, not for {game.name}")
    query = "&".join(f"{key}={value}" if value else key for key, value in options.items())
    options.clear()  # the caller refuses options that are left; these go to the inner agent
    inner = agent(game, f"{argument}?{query}" if query else argument)
    if inner.peeks:
        raise CardaiError(f"agent {spec!r}: an agent that peeks cannot be given an ending")
    solver, lock = Solver(AGENT_LIMIT), threading.Lock()

    def choose(game: Game, worlds: np.ndarray) -> np.ndarray:
        moves = moves_in(game, inner, worlds)
        with lock:
            correct(solver, worlds, moves)
        return moves

    return Finisher(
        spec, driver.OUTSIDE, about=f"{inner.spec}, but for its mistakes in endings", choose=choose, inner=inner
    )


@dataclass(frozen=True)
class Finisher(Agent):
    """An agent that plays endings without mistakes, and everything else as the agent `inner` does."""

    inner: Agent | None = field(default=None, compare=False)

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError if the inner agent cannot play this variant or number of seats."""
        assert self.inner is not None
        self.inner.check_fits(game, variant, seats)


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
