"""Exact values of positions near the end of a game for any number of seats, with all cards open (double dummy).

    solved = solve_open_hands(game, state)            # every seat knows all cards and wants the best score for itself
    report = measure_hands(load("hearts"), ["duck", "careful", "pimc", "random"], games=200, last=16)

No seat knows all cards in a real game. But the mean of these values over the worlds of a seat is a measure of its moves
that depends on no network: `measure_hands` says how much less than the best move agents play, in this mean.

With more than two seats there is no single value under perfect play, since a seat may have several best moves that
differ for the others. Here it plays the first of them in canonical order (max^n, Luckhardt and Irani 1986).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cardai.agents.spec import MAX_WORLDS
from cardai.errors import CardaiError, positive, whole
from cardai.game import Game, GameState
from cardai.kernel.chance import TEACHING, derived
from cardai.kernel.doors import check_states
from cardai.kernel.fence import roomy
from cardai.kernel.native import at, call_score, copy, get, raw, same, seed_state, turn_of
from cardai.kernel.rules import SCORE, legal_moves, lend, play_move
from cardai.measure.perfect.played import padded, play_games
from cardai.rule import STREAM, rule
from cardai.stats import interval
from cardai.stats.interval import Estimate
from cardai.stats.jsonable import plain
from cardai.stats.progress import CountProgress
from cardai.stats.report import Report
from cardai.table.asking import draw_worlds

NODES = 1_000_000
"""The most positions that are visited for one position: about a third of a second."""
DEPTH = 200  # positions on a line
STREAM_BITS = 1  # the random stream of a position
TOO_LONG, CUT_SHORT, CHANCE = -1, -2, -3


@dataclass(frozen=True)
class OpenHands:
    """The N legal moves of a position with all cards open, and what they lead to.

    `moves`: MOVE[N]. `scores`: f8[N, seats] in [0, 1], the score of every seat after each; NaN if the search needed
    more than its limit of positions. `nodes`: how many it visited.
    """

    moves: np.ndarray
    scores: np.ndarray
    nodes: int

    @property
    def is_solved(self) -> bool:
        """Whether the scores are known."""
        return not np.isnan(self.scores).any()


@rule
def take_if_better(best, tried, depth, seat, seats):
    """The values of the position after a move become those of the position before it, if its seat prefers them."""
    first, after = depth * seats, (depth + 1) * seats
    if tried[depth] == 0 or best[after + seat] > best[first + seat]:
        for i in range(seats):
            best[first + i] = best[after + i]


@rule
def has_drawn(rules, state, space):
    """Whether chance has decided something since the random stream of a state was set. `space`: a state to write to."""
    copy(space, state, rules.state_size)
    seed_state(space, STREAM_BITS)
    return not same(space, state, rules.state_size)


@rule
def solve_each_move(rules, states, moves, seats, limit, ways, tried, best, scores, visited):
    """Search all lines from states[0] to the end of the game. Fills scores, f8[max_moves, seats], move by move.

    `states`: STATE[DEPTH]. `moves`: MOVE[DEPTH * max_moves]. `ways` and `tried`, i64[DEPTH]: the legal moves of each
    position on the line, and how many have been tried. `best`: f8[DEPTH * seats]. `visited`: i64[1]. Returns the
    number of legal moves, TOO_LONG, CUT_SHORT or CHANCE.
    """
    space = at(states, len(ways) - 1)
    depth, first = 0, np.int64(legal_moves(rules, at(states, 0), moves, 0))
    if first < 0:
        return CUT_SHORT
    ways[0] = first
    tried[0] = 0
    while True:
        if tried[depth] == ways[depth]:
            if depth == 0:
                return first
            depth -= 1
            take_if_better(best, tried, depth, turn_of(at(states, depth)), seats)
        else:
            visited[0] += 1
            if visited[0] > limit or depth + 3 >= len(ways):
                return TOO_LONG
            after = at(states, depth + 1)
            copy(after, at(states, depth), rules.state_size)
            play_move(rules, after, at(moves, depth * rules.max_moves + tried[depth]))
            if turn_of(after) >= 0:
                n = legal_moves(rules, after, moves, depth + 1)
                if n < 0:
                    return CUT_SHORT
                depth += 1
                ways[depth] = n
                tried[depth] = 0
                continue
            if has_drawn(rules, after, space):
                return CHANCE
            for seat in range(seats):
                best[(depth + 1) * seats + seat] = call_score(get(rules.calls, SCORE), after, seat)
            take_if_better(best, tried, depth, turn_of(at(states, depth)), seats)
        if depth == 0:
            for seat in range(seats):
                scores[tried[0], seat] = best[seats + seat]
        tried[depth] += 1


def solve_open_hands(game: Game, state: GameState, nodes: int = NODES) -> OpenHands:
    """Solve a position in which somebody is to move. Every line from it to the end of the game is searched.

    Raises CardaiError for a state of another game or one without a seat to move, if chance decides something before
    the end of the game, and if the game does not list all legal moves there.
    """
    states = check_states("state", np.array([state], game.state), game.state, game.name, game.seats, True)
    whole("nodes", nodes, 1)
    return _solved(game, states, nodes)


def _solved(game: Game, states: np.ndarray, nodes: int) -> OpenHands:
    """`solve_open_hands` of STATE[1]."""
    seats, most = int(states["seats"][0]), game.max_moves
    line, moves = np.zeros(DEPTH, game.state), roomy(DEPTH * most, game.move)
    line[0] = states[0]
    line[0]["rng"] = STREAM_BITS
    ways, tried, best = np.zeros(DEPTH, np.int64), np.zeros(DEPTH, np.int64), np.zeros(DEPTH * seats)
    scores, visited = np.full((most, seats), np.nan), np.zeros(1, np.int64)
    lent = lend(game.compiler.rules), raw(line), raw(moves), seats, nodes
    found = solve_each_move(*lent, ways, tried, best, scores, visited)
    if found == CUT_SHORT:
        raise CardaiError(f"{game.name}: a position has more legal moves than the {most} that are listed")
    if found == CHANCE:
        raise CardaiError(f"{game.name}: chance decides something between this position and the end of the game")
    n = int(ways[0])
    if found == TOO_LONG:
        scores[:] = np.nan
    return OpenHands(moves[:n].copy(), scores[:n].copy(), int(visited[0]))


@dataclass(frozen=True)
class HandGrade:
    """How an agent plays the last plies of its own games, measured by the mean over worlds with all cards open.

    - `decisions`: those with more than one legal move. `unsolved`: of them, those with a world that needed more
      positions than the limit; no other figure contains them.
    - `best`: the share of the others in which no move has a higher mean than the one played.
    - `lost`: how much score a decision gives away in this mean, from 0 to 1.
    """

    decisions: int
    unsolved: int
    best: Estimate
    lost: Estimate


@dataclass(frozen=True)
class HandsReport(Report, drawn_by="cardai.show.endings:hands_table"):
    """How agents played the last plies of some games. `worlds`: in how many worlds each decision was solved.

    `games`: games finished; `endless`: games given up after the game's `max_plies` moves, which count in no figure.
    """

    game: str
    variant: str
    seats: int
    games: int
    endless: int
    last: int
    worlds: int
    limit: int
    grades: dict[str, HandGrade]

    def as_json(self) -> dict[str, Any]:
        """The report as plain JSON types."""
        return plain(asdict(self))


def measure_hands(
    game: Game,
    agents: Sequence[str],
    games: int,
    seed: int = 0,
    *,
    last: int = 16,
    worlds: int = 20,
    variant: str | None = None,
    limit: int = NODES,
    threads: int | None = None,
    progress: CountProgress | None = None,
) -> HandsReport:
    """Play games between agents and measure their decisions among the last `last` plies by open hands.

    `agents`: specs, one for each seat. Each deal is played in all rotations that seat different agents, so `games` is
    rounded up to whole deals. `worlds`: drawn from the view of the seat to move; agents get other ones. `limit`:
    positions visited in one world. Intervals are 95 %, with the deal as cluster: Wilson's for shares, bootstrap for
    means. Raises CardaiError for a bad agent, numbers out of range, and a game in which chance decides something that
    late.
    """
    positive("games", games)
    positive("last", last)
    positive("worlds", worlds, MAX_WORLDS)
    positive("limit", limit)
    variant = game.canonical(variant)
    specs, deals, played_games, endless = play_games(game, agents, games, seed, variant, threads, None)
    best: list[list[list[float]]] = [[[] for _ in range(deals)] for _ in specs]  # of each agent and deal
    lost: list[list[list[float]]] = [[[] for _ in range(deals)] for _ in specs]
    unsolved = np.zeros(len(specs), int)
    for number, played in enumerate(played_games):
        if progress:
            progress(number, len(played_games))
        state = played.start
        for ply, move in enumerate(played.moves):
            legal = game.moves(state) if len(played.moves) - ply <= last else np.zeros(0, game.move)
            if len(legal) > 1:
                mover = int(played.lineup[state["turn"]])
                means = _means(game, state, worlds, limit, played.seed, ply)
                if means is None:
                    unsolved[mover] += 1
                else:
                    mean = means[int(np.argmax(legal == move))]
                    best[mover][played.deal].append(float(mean == means.max()))
                    lost[mover][played.deal].append(float(means.max() - mean))
            state = game.play(state, move)
    if progress:
        progress(len(played_games), len(played_games))
    grades = {}
    for i, spec in enumerate(specs):
        decisions = int(unsolved[i]) + sum(map(len, best[i]))
        shares, means_lost = interval.proportion(padded(best[i])), interval.mean(padded(lost[i]), seed)
        grades[spec] = HandGrade(decisions, int(unsolved[i]), shares, means_lost)
    return HandsReport(game.name, variant, len(agents), len(played_games), endless, last, worlds, limit, grades)


def _means(game: Game, state: GameState, worlds: int, limit: int, seed: int, ply: int) -> np.ndarray | None:
    """The mean score of the seat to move after each of its moves, f8[N], over worlds; None if one is not solved."""
    seat, drawn, streams = int(state["turn"]), np.zeros(worlds, game.state), np.zeros(1, STREAM)
    streams["rng"] = derived(np.uint64(seed % 2**64), TEACHING, ply)
    first = np.zeros(worlds, np.int64)
    draw_worlds(game, np.array([state], game.state), streams, first, first, drawn)
    scores = [_solved(game, drawn[i : i + 1], limit).scores[:, seat] for i in range(worlds)]
    means = np.mean(scores, axis=0)
    return None if np.isnan(means).any() else means
