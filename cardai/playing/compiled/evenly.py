"""A loop that plays evenly random games, with the rules of one game compiled into it.

The driver (`cardai.playing.compiled.driver`) calls rules by their addresses, so that it is compiled once for all games.
In a game with short rules the calls take longer than the rules. `loop_of` makes a loop for one game. It does what
`driver.advance` does where all players are evenly random and games are neither recorded nor checked: it plays the same
games, and can go on where the driver has stopped.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from cardai.game.compiled.native import guessed
from cardai.playing.compiled.driver import EMPTY, ENDLESS, FINISHED, NEXT, RUNNING, STUCK
from cardai.rules import mixed, rule

GAMMA = 0x9E3779B97F4A7C15


def loop_of(deal: Any, legal: Any, act: Any, settle: Any, score: Any) -> Callable[..., int]:
    """The loop of a game with these rules."""

    @rule
    def play_evenly(states, streams, status, playing, following, moves, results, seeds, blank, limits, budget):
        """Play the games of some slots until all are done, or `budget` decisions are made. Returns how many were.

        states: STATE[B]. streams: STREAM[B, seats]. status, playing, following: i64[B], as in `Slots`. moves:
        MOVE[max_moves]. results: (scores f8[n, seats], plies i64[n], finished i64[n]). seeds: u64[n]. blank: STATE[1].
        limits: (first slot, the slot after the last, stride, max_plies).
        """
        scores, plies, finished = results
        first, end, stride, max_plies = limits
        decisions, seats, total, room = 0, streams.shape[1], len(seeds), len(moves)
        likely_turn = 0
        for number in range(first, end):
            slot = np.uint64(number)  # without a sign, so that no index may count from the end
            state = states[slot]
            while decisions < budget:
                if status[slot] == NEXT:
                    game = following[slot]
                    if game >= total:
                        status[slot] = EMPTY
                        break
                    playing[slot] = game
                    following[slot] = game + stride
                    states[slot] = blank[0]
                    state.rng = mixed(seeds[game])
                    deal(state)
                    likely_turn = state.turn
                    for seat in range(seats):
                        streams[slot, seat].rng = mixed(seeds[game] ^ mixed(seat + 1))
                    status[slot] = RUNNING
                if status[slot] != RUNNING:
                    break
                while decisions < budget and state.turn >= 0 and state.ply < max_plies:
                    n = abs(legal(state, moves))
                    if n == 0 or n > room:
                        status[slot] = STUCK
                        break
                    turn = guessed(state.turn, likely_turn)
                    likely_turn = turn + 1 if turn + 1 < seats else 0
                    stream = streams[slot, np.uint64(turn)]
                    bits = np.uint64(stream.rng) + np.uint64(GAMMA)
                    stream.rng = bits
                    choice = ((mixed(bits) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32)
                    state.ply += 1
                    state.revealed = 0
                    state.midway = 0
                    act(state, moves[choice])
                    settle(state)
                    decisions += 1
                if status[slot] == STUCK:
                    break
                game = playing[slot]
                if state.turn < 0:
                    for seat in range(seats):
                        scores[game, seat] = score(state, seat)
                    plies[game] = state.ply
                    finished[game] = FINISHED
                    status[slot] = NEXT
                elif state.ply >= max_plies:
                    finished[game] = ENDLESS
                    status[slot] = NEXT
        return decisions

    return play_evenly
