"""Durak's own solver of open positions, as `cardai.agents.endgame` asks for it: `Game.solver`.

It takes a tenth of the positions and a twentieth of the time of the solver for any game, since it knows the rules.
"""

import numpy as np

from cardai.agents.endgame import SolvedEnding
from cardai.game import Game

from .endgame_solver import LIMIT, Solver


class DurakSolver:
    """Solves open positions of Durak, and remembers positions from one to the next.

    `nodes`: the most positions that are visited for one of them.
    """

    def __init__(self, game: Game, nodes: int = LIMIT) -> None:
        self.game, self._solver = game, Solver(nodes)

    def solve(self, states: np.ndarray) -> list[SolvedEnding]:
        """Solve STATE[N]. Raises CardaiError if one is not an open position with a seat to move."""
        solved = self._solver.solve(states)
        moves = [self.game.moves(state) for state in states]
        return [
            SolvedEnding(legal, scores[legal["card"]], int(nodes))
            for legal, scores, nodes in zip(moves, solved.scores, solved.nodes, strict=True)
        ]

    def mend(self, states: np.ndarray, moves: np.ndarray) -> np.ndarray:
        """Replace moves that give score away by the first best ones, in place.

        states: STATE[N], open positions. moves: MOVE[N], one for each. Returns the number of positions visited, i64[N].
        """
        solved = self._solver.solve(states)
        for i, scores in enumerate(solved.scores):
            if solved.solved[i] and scores[moves["card"][i]] < np.nanmax(scores):
                moves["card"][i] = np.nanargmax(scores)
        return solved.nodes
