"""Exact values of positions near the end of a game for any number of seats, with all cards open (double dummy).

    solved = solve_open_hands(game, state)            # every seat knows all cards and wants the best score for itself

With more than two seats there is no single value under perfect play, since a seat may have several best moves that
differ for the others. Here it plays the first of them in canonical order (max^n, Luckhardt and Irani 1986).
"""

import numpy as np

from cardai.errors import CardaiError, positive
from cardai.game import Game, GameState
from cardai.game.compiled.doors import check_states
from cardai.game.compiled.fence import roomy
from cardai.game.compiled.native import at, call_score, copy, get, raw, same, seed_state, turn_of
from cardai.game.compiled.rules import SCORE, legal_moves, lend, play_move
from cardai.measure.situations import Situation
from cardai.playing.agents.endgame import SolvedEnding, solver_of, which_are_open
from cardai.rules import rule

NODES = 1_000_000
"""The most positions that are visited for one position: about a third of a second."""
DEPTH = 200  # positions on a line
STREAM_BITS = 1  # the random stream of a position
TOO_LONG, CUT_SHORT, CHANCE = -1, -2, -3
WORLDS, _MOST = 40, 3_000_000  # how many worlds prove a situation, and the most positions for each


@rule
def solve_each_move(rules, states, moves, seats, limit, ways, tried, best, scores, visited):
    """Search all lines from states[0] to the end of the game. Fills scores, f8[max_moves], for its seat to move.

    `states`: STATE[DEPTH]. `moves`: MOVE[DEPTH * max_moves]. `ways` and `tried`, i64[DEPTH]: the legal moves of each
    position on the line, and how many have been tried. `best`: f8[DEPTH * seats], the scores of all seats there.
    `visited`: i64[1]. Returns the number of legal moves, TOO_LONG, CUT_SHORT or CHANCE.
    """
    space, depth = at(states, len(ways) - 1), 0
    ways[0] = legal_moves(rules, at(states, 0), moves, 0)
    tried[0] = 0
    while ways[depth] >= 0:
        if tried[depth] < ways[depth]:
            visited[0] += 1
            if visited[0] > limit or depth + 3 >= len(ways):
                return TOO_LONG
            after = at(states, depth + 1)
            copy(after, at(states, depth), rules.state_size)
            play_move(rules, after, at(moves, depth * rules.max_moves + tried[depth]))
            if turn_of(after) >= 0:
                depth += 1
                ways[depth] = legal_moves(rules, after, moves, depth)
                tried[depth] = 0
                continue
            copy(space, after, rules.state_size)
            seed_state(space, STREAM_BITS)
            if not same(space, after, rules.state_size):
                return CHANCE  # something was drawn since the first position
            for seat in range(seats):
                best[(depth + 1) * seats + seat] = call_score(get(rules.calls, SCORE), after, seat)
        elif depth == 0:
            return ways[0]
        else:
            depth -= 1
        first, mover = depth * seats, turn_of(at(states, depth))  # the scores after the move tried stand behind them
        if tried[depth] == 0 or best[first + seats + mover] > best[first + mover]:
            for seat in range(seats):
                best[first + seat] = best[first + seats + seat]
        if depth == 0:
            scores[tried[0]] = best[seats + mover]
        tried[depth] += 1
    return CUT_SHORT


def solve_open_hands(game: Game, state: GameState, nodes: int = NODES) -> SolvedEnding:
    """Solve a position in which somebody is to move. Every line from it to the end of the game is searched.

    Raises CardaiError for a state of another game or one without a seat to move, if chance decides something before
    the end of the game, and if the game does not list all legal moves there.
    """
    states = check_states("state", np.array([state], game.state), game.state, game.name, game.seats, True)
    seats, most = int(states["seats"][0]), game.max_moves
    line, moves = np.zeros(DEPTH, game.state), roomy(DEPTH * most, game.move)
    line[0] = states[0]
    line[0]["rng"] = STREAM_BITS
    ways, tried, best = np.zeros(DEPTH, np.int64), np.zeros(DEPTH, np.int64), np.zeros(DEPTH * seats)
    scores, visited = np.full(most, np.nan), np.zeros(1, np.int64)
    lent = lend(game.compiler.rules), raw(line), raw(moves), seats, positive("nodes", nodes)
    found = solve_each_move(*lent, ways, tried, best, scores, visited)
    if found == CUT_SHORT:
        raise CardaiError(f"{game.name}: a position has more legal moves than the {most} that are listed")
    if found == CHANCE:
        raise CardaiError(f"{game.name}: chance decides something between this position and the end of the game")
    if found == TOO_LONG:
        scores[:] = np.nan
    return SolvedEnding(moves[: ways[0]].copy(), scores[: ways[0]].copy(), int(visited[0]))


def proven(game: Game, situation: Situation, worlds: int = WORLDS) -> set[str]:
    """The right moves of an exact situation, in words: under perfect play if the position is open (`Rules.is_open`),
    otherwise with all cards open, as those that are best in every one of many worlds of the seat to move.

    Raises CardaiError if the position cannot be solved.
    """
    state = situation.state
    states = np.array([state], game.state)
    if game.rules.is_open is not None and which_are_open(game, states)[0]:
        found = solver_of(game, _MOST).solve(states)
    else:
        drawn = [game.world(state, int(state["turn"]), seed) for seed in range(worlds)]
        found = [solve_open_hands(game, world) for world in drawn]
    if not all(solved.is_solved for solved in found):
        raise CardaiError(f"{game.name}: {situation.name!r} takes too many positions to solve")
    best = [solved.moves[solved.scores == solved.best] for solved in found]
    return set.intersection(*({game.text.spell(state, move) for move in moves} for moves in best))
