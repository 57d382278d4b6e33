"""Exact solutions of games for two in which both choose at the same time and nothing else is hidden, for tests.

By backward induction: at each position a matrix game is solved by a linear program (von Neumann 1928, Shapley 1953).
`solved` solves one matrix; `Solution` a game of cardai; `openspiel_value` a position of OpenSpiel's own goofspiel, by
its own rules.
"""

import re

import numpy as np
from scipy.optimize import linprog

from cardai.guests.exact.listing import ListedChance


def solved(matrix):
    """The value of a matrix game for the row player, who maximises, and the best mixture of rows."""
    rows, columns = matrix.shape
    if rows == 1 or columns == 1:
        place = int(matrix.min(axis=1).argmax())
        return float(matrix[place].min() if columns > 1 else matrix[place, 0]), np.eye(rows)[place]
    least = matrix.max(axis=0).min(), matrix.min(axis=1).max()
    if least[0] == least[1]:  # a saddle point
        return float(least[0]), np.eye(rows)[int(matrix.min(axis=1).argmax())]
    found = linprog(
        [*np.zeros(rows), -1.0],
        A_ub=np.column_stack([-matrix.T, np.ones(columns)]),
        b_ub=np.zeros(columns),
        A_eq=[[*np.ones(rows), 0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
    )
    mixture = np.maximum(found.x[:-1], 0.0)
    return float(found.x[-1]), mixture / mixture.sum()


class Solution:
    """Values and mixtures of all positions of a game in which a round begins."""

    def __init__(self, game):
        self.game, self.chance = game, ListedChance(game)
        self._values, self._matrices = {}, {}

    def value(self, state):
        """What a position is worth to seat 0 if both play their best: its score in [0, 1]."""
        key = key_of(state)
        if key not in self._values:
            if state["turn"] < 0:
                self._values[key] = float(self.game.points(state)[0])
            else:
                self._values[key] = solved(self.matrix(state))[0]
        return self._values[key]

    def matrix(self, state):
        """What each pair of choices is worth to seat 0, f8[moves of seat 0, moves of seat 1]."""
        key = key_of(state)
        if key not in self._matrices:
            choices = [self.game.moves(self.game.at_turn(state, seat)) for seat in range(2)]
            worth = [[self.expected(state, own, other, self.value) for other in choices[1]] for own in choices[0]]
            self._matrices[key] = np.array(worth)
        return self._matrices[key]

    def expected(self, state, own, other, value):
        """The mean of `value` over what chance makes of a pair of choices."""
        middle = self.game.play(state, own)
        following = self.game.play(middle, other)
        if following["rng"] == middle["rng"]:
            return value(following)
        ways = self.chance.settled(self.game.after(middle, other))
        return sum(float(way.probability) * value(way.state) for way in ways)

    def mixture(self, state, seat):
        """How a seat chooses here: a probability for each of its moves."""
        matrix = self.matrix(state)
        return solved(matrix if seat == 0 else 1.0 - matrix.T)[1]

    def best_reply(self, state, seat, known=None):
        """What the best reply to the mixtures of `seat` brings the other seat: its score."""
        known = {} if known is None else known
        key = key_of(state)
        if key not in known:
            if state["turn"] < 0:
                known[key] = float(self.game.points(state)[1 - seat])
            else:
                known[key] = self._best_reply(state, seat, lambda then: self.best_reply(then, seat, known))
        return known[key]

    def _best_reply(self, state, seat, reply):
        choices = [self.game.moves(self.game.at_turn(state, other)) for other in range(2)]
        worth = np.array([[self.expected(state, own, other, reply) for other in choices[1]] for own in choices[0]])
        mixture = self.mixture(state, seat)
        return float((mixture @ worth if seat == 0 else worth @ mixture).max())

    def play(self, game, world):
        """A move by the mixture, as a function for `cardai.player`: chance comes from the world."""
        start = world.copy()
        start["sealed"], start["turn"] = 0, 0
        mixture = self.mixture(start, int(world["turn"]))
        luck = np.random.default_rng(int(world["rng"]))
        return game.moves(world)[luck.choice(len(mixture), p=mixture)]


def key_of(state):
    """What decides the rest of a game."""
    bare = state.copy()
    for name in ("ply", "revealed", "rng", "bids"):
        bare[name] = 0
    return bare.tobytes()


def openspiel_value(state, known):
    """What a position of OpenSpiel's goofspiel for two is worth to player 0, from -1 to 1, by its own rules."""
    if state.is_terminal():
        return state.returns()[0]
    key = _openspiel_key(state)
    if key not in known:
        if state.is_chance_node():
            ways = state.chance_outcomes()
            known[key] = sum(chance * openspiel_value(state.child(action), known) for action, chance in ways)
        else:
            rows = []
            for own in state.legal_actions(0):
                row = []
                for other in state.legal_actions(1):
                    child = state.clone()
                    child.apply_actions([own, other])
                    row.append(openspiel_value(child, known))
                rows.append(row)
            known[key] = solved(np.array(rows))[0]
    return known[key]


def _openspiel_key(state):
    """Hands, prizes and points; the order of earlier prizes decides nothing."""
    text = str(state)
    *before, last = "".join(re.findall(r"Point card sequence: ([\d ]*)", text)).split() or [""]
    return state.is_chance_node(), re.sub(r"Point card sequence: [\d ]*", "", text), tuple(sorted(before)), last
