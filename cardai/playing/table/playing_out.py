"""Moves played out in worlds: every move of one decision in the same worlds, with the value of each in each."""

import numpy as np

from cardai.errors import BadArgument
from cardai.game import Game, GameState
from cardai.game.compiled.native import raw
from cardai.game.compiled.rules import lend
from cardai.playing.agents.spec import Agent
from cardai.playing.agents.strategy import WorldSearch
from cardai.playing.progress import Progress
from cardai.playing.table.cast import cast_of, lines_of, scratch_of
from cardai.playing.table.complaints import NoLegalMove, NoNumber
from cardai.playing.table.searching import begin_lines, play_lines
from cardai.rules import STREAM

_MOST_LINES = 4096  # played on between two reports of progress


def values_in_worlds(
    game: Game,
    agent: Agent,
    world: GameState,
    moves: np.ndarray,
    worlds: int,
    bits: int,
    progress: Progress | None = None,
) -> np.ndarray:
    """The values of MOVE[k] `moves` for the seat to move, in the same new worlds of that seat: f8[worlds, k].

    `agent`: one that searches worlds (`rollout:`, `ahead:`) and is played in compiled code; a line has the value that
    its search gives it. All `moves` are played on, however few the agent itself would try. `world`: a world of the
    seat to move. `bits`: 64 bits that decide the new worlds and the luck in them.

    Raises BadArgument for another agent, and CardaiError if the game or a network breaks its contract.
    """
    states = np.array([world], game.state)
    plan = agent.strategy.at_table(game, states)
    if not isinstance(plan, WorldSearch) or not plan.is_native:
        raise BadArgument(f"agent {agent.spec!r} plays no worlds on in compiled code")
    cast, stream, count = cast_of(game, [plan]), np.zeros(1, STREAM), len(moves)
    scratch = scratch_of(game, [plan])
    rules, players, space = lend(game.compiler.rules), lend(cast), lend(scratch)
    own, others = int(cast.own[0]), int(cast.others[0])
    stream["rng"] = bits
    step = max(1, _MOST_LINES // max(1, count))
    lines, first, values = lines_of(game, step * max(1, count)), np.zeros(1, np.int64), np.zeros((worlds, count))
    listed, lent, all_moves, share = np.ascontiguousarray(moves), lend(lines), np.array([count]), np.zeros(1, np.int64)
    for done in range(0, worlds, step):
        if progress:
            progress(done, worlds, f"playing {count} moves out in {worlds} worlds")
        share[0] = min(step, worlds - done)
        waiting = np.arange(share[0] * count)
        begin_lines(
            rules, raw(states), raw(stream), raw(first), raw(first), raw(listed), count, raw(all_moves), raw(share), 1,
            plan.turns, space, lent,
        )  # fmt: skip
        line, work = play_lines(rules, players, own, others, plan.decay, lent, raw(waiting), len(waiting), space)
        if work < 0:
            raise NoNumber(agent)
        if line >= 0:
            raise NoLegalMove(game, int(lines.states["turn"][line]), 0)
        values[done : done + share[0]] = lines.values[: len(waiting)].reshape(-1, count)
    return values
