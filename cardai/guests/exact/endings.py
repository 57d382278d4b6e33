"""Grades of agents where perfect play is known: in open endings, and in the last plies of any game with open hands.

    report = measure_endings(load("moska"), ["greedy:best", "bot3", "bot3", "bot3"], games=1000)
    print(report.grades["greedy:best"].lost_wins)
    measure_endings(load("hearts"), ["duck", "careful", "pimc", "random"], games=200, last=16, worlds=20)

Without `last` it works for every game that says where nothing is hidden any more (`Rules.is_open`). No seat knows all
cards in other endings. But the mean of the values with all cards open (`solve_open_hands`) over the worlds of a seat is
a measure of its moves that depends on no network; with `last` a move is worth this mean.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cardai.errors import positive
from cardai.game import Game
from cardai.game.compiled.chance import TEACHING, derived
from cardai.guests.exact import open_hands
from cardai.guests.exact.open_hands import solve_open_hands
from cardai.measure.duplicate import needs_own_deals, play_rotated, seeds_of
from cardai.playing.agents import endgame
from cardai.playing.agents.endgame import SolvedEnding, solver_of, which_are_open
from cardai.playing.agents.spec import MAX_WORLDS, agent
from cardai.playing.machine import thread_count
from cardai.playing.progress import CountProgress
from cardai.playing.stats import interval
from cardai.playing.stats.deals import distinct_rotations, new_salt
from cardai.playing.stats.interval import Estimate
from cardai.playing.stats.report import Report
from cardai.playing.table.asking import draw_worlds
from cardai.records.record import RecordedGame, replay
from cardai.rules import STREAM


@dataclass(frozen=True)
class EndgameGrade:
    """How an agent plays the endings of its own games.

    - `endings`: games with an ending in which the agent had at least one decision.
    - `decisions`: positions in these endings in which the agent was to move and had more than one legal move.
    - `unsolved`: decisions that took more nodes than the limit; no other figure contains them.
    - `critical`: solved decisions in which some legal moves score less than others.
    - `optimal`: share of critical decisions in which the agent played a best move.
    - `lost`: mean score given away in an ending, summed over its decisions; endings with an unsolved one are left out.
    - `won`: endings that perfect play wins (a score of 1) from the agent's first decision on, if that is solved.
    - `lost_wins`: the share of these in which the agent ended with less.
    """

    endings: int
    decisions: int
    unsolved: int
    critical: int
    optimal: Estimate
    lost: Estimate
    won: int
    lost_wins: Estimate


@dataclass(frozen=True)
class EndingsReport(Report, drawn_by="cardai.guests.exact.shown:endings"):
    """What the endings of some games were like, and how each agent played them.

    - `games`: games finished; `endless`: games given up after the game's `max_plies` moves, which count in no figure.
    - `last`, `worlds`: how many plies an ending is, and in how many worlds a decision was solved; None if endings are
      open positions.
    - `reached`: games in which a seat had a choice in an ending; `decided`: those in which the first such choice was
      solved, so that perfect play from there decides the game.
    - `decisions`, `solved`: all choices in endings, and those that were settled within `limit` nodes (in each world).
    - `nodes`, `milliseconds`: the median, the 95th percentile and the mean over all of them: for the scores of all
      legal moves, with what the solver remembers of the ones before.
    """

    game: str
    variant: str
    seats: int
    games: int
    endless: int
    last: int | None
    worlds: int | None
    limit: int
    reached: int
    decided: int
    decisions: int
    solved: int
    nodes: tuple[float, ...]
    milliseconds: tuple[float, ...]
    grades: dict[str, EndgameGrade]


def measure_endings(
    game: Game,
    agents: Sequence[str],
    games: int,
    seed: int = 0,
    *,
    last: int | None = None,
    worlds: int | None = None,
    variant: str | None = None,
    limit: int | None = None,
    threads: int | None = None,
    progress: CountProgress | None = None,
) -> EndingsReport:
    """Play games between agents and grade how each agent played the endings: open positions, or the `last` plies.

    agents: specs, one for each seat. Each deal is played in all rotations that seat different agents, so `games` is
    rounded up to whole deals. worlds: of the seat to move, in which each decision among the last plies is solved, 20 if
    None; agents get other ones. limit: nodes the solver may visit for one decision in one world. Intervals are 95 % and
    treat deals as independent: Wilson's for shares, bootstrap for means. Raises CardaiError for a bad agent, numbers
    out of range, a game without open positions, and chance that decides something in the last plies. Raises
    KeyboardInterrupt on Ctrl-C.
    """
    if last is None:
        limit, worlds = endgame.NODES if limit is None else limit, None
        ending = _perfect_play(game, limit)
    else:
        limit = open_hands.NODES if limit is None else positive("limit", limit)
        worlds = 20 if worlds is None else positive("worlds", worlds, MAX_WORLDS)
        ending = _open_hands(game, positive("last", last), worlds, limit)
    played, turns, endless = play_games(game, agents, games, seed, variant, threads, progress)
    judged = _judged(game, played, turns, ending, progress)
    firsts = {one.game: one for one in reversed(judged)}.values()
    solved, decided = (sum(not np.isnan(one.best) for one in those) for those in (judged, firsts))
    nodes, milliseconds = (_spread([one.effort[i] for one in judged]) for i in range(2))
    grades = {
        spec: _grade([one for one in judged if one.agent == place], -(-games // turns), seed)
        for place, spec in enumerate(dict.fromkeys(agents))
    }
    return EndingsReport(
        game.name, game.canonical(variant), len(agents), len(played), endless, last, worlds, limit,
        len(firsts), decided, len(judged), solved, nodes, milliseconds, grades,
    )  # fmt: skip


_Ending = tuple[Callable[[np.ndarray], np.ndarray], Callable[[np.ndarray, int, int], SolvedEnding]]
"""Two functions: positions of a game STATE[n] -> which are in its ending, bool[n]; and (position STATE[1], seed of the
game, ply) -> what its moves are worth."""


def _perfect_play(game: Game, limit: int) -> _Ending:
    solver = solver_of(game, limit)
    return lambda states: which_are_open(game, states), lambda state, seed, ply: solver.solve(state)[0]


def _open_hands(game: Game, last: int, worlds: int, limit: int) -> _Ending:
    def solve(state: np.ndarray, seed: int, ply: int) -> SolvedEnding:
        drawn, streams, first = np.zeros(worlds, game.state), np.zeros(1, STREAM), np.zeros(worlds, np.int64)
        streams["rng"] = derived(np.uint64(seed % 2**64), TEACHING, ply)
        draw_worlds(game, state, streams, first, first, drawn)
        found = [solve_open_hands(game, world, limit) for world in drawn]  # pyright: ignore[reportArgumentType]
        scores = np.mean([solved.scores for solved in found], axis=0)
        return SolvedEnding(found[0].moves, scores, sum(solved.nodes for solved in found))

    return lambda states: np.arange(len(states)) >= len(states) - last, solve


def play_games(
    game: Game, agents: Sequence[str], games: int, seed: int, variant: str | None, threads: Any, progress: Any
) -> tuple[list[RecordedGame], int, int]:
    """Play a line-up, one spec for each seat, on duplicate deals. Returns the games, how many each deal has, and how
    many were given up after the game's `max_plies` moves, which are not among them.

    Line-ups are places among the different specs, in order. If an agent runs code of somebody else's, no deal is played
    twice, and none can be guessed from the seed. Raises KeyboardInterrupt on Ctrl-C.
    """
    specs, turns = list(dict.fromkeys(agents)), distinct_rotations(agents)
    line_up, deals = [agent(game, spec) for spec in agents], -(-positive("games", games) // len(turns))
    salt, variant = new_salt() if needs_own_deals(line_up) else "", game.canonical(variant)
    results, places = play_rotated(
        game, line_up, turns, deals, seed, variant, thread_count(threads), progress, salt=salt, moves=True
    )
    lineups = np.array([specs.index(spec) for spec in agents])[places].reshape(-1, len(agents)).tolist()
    seeds, scores = seeds_of(line_up, turns, deals, seed, salt).reshape(-1).tolist(), results.scores.tolist()
    found = [
        RecordedGame(number, seeds[number], variant, tuple(lineups[number]), tuple(scores[number]), moves)
        for number, moves in enumerate(results.complete().moves)
        if moves is not None and results.finished[number]
    ]
    return found, len(turns), int(results.endless.sum())


class _Judged(NamedTuple):
    """A decision by exact values: the scores of the best, the worst and the played move, NaN where it is unsolved.

    `ended`: the score of its seat when the game was over. `effort`: the nodes and milliseconds that it took.
    """

    game: int
    deal: int
    agent: int
    seat: int
    best: float
    worst: float
    played: float
    ended: float
    effort: tuple[int, float]


def _judged(
    game: Game, games: list[RecordedGame], turns: int, ending: _Ending, progress: CountProgress | None
) -> list[_Judged]:
    """Judge all decisions with a choice in endings, in order. `turns`: games of a deal."""
    found, (wanted, solve) = list[_Judged](), ending
    for done, one in enumerate(games):
        states: list[Any] = []
        replay(game, one, lambda state, move, ply, states=states: states.append(state))
        positions = np.array(states, game.state)
        for ply in np.flatnonzero(wanted(positions)).tolist():
            if len(game.moves(states[ply])) > 1:
                began, seat = time.thread_time(), int(states[ply]["turn"])
                solved = solve(positions[ply : ply + 1], one.seed, ply)
                effort = solved.nodes, 1e3 * (time.thread_time() - began)
                place = int(np.argmax(solved.moves == one.moves[ply]))
                best, worst, own = map(float, (solved.best, solved.scores.min(), solved.scores[place]))
                where = one.number, one.number // turns, one.lineup[seat], seat
                found.append(_Judged(*where, best, worst, own, one.scores[seat], effort))
        if progress:
            progress(done + 1, len(games))
    return found


def _spread(values: Sequence[float]) -> tuple[float, ...]:
    """Median, 95th percentile and mean, all 0 without values."""
    found = (np.median(values), np.percentile(values, 95), np.mean(values)) if values else (0, 0, 0)
    return tuple(map(float, found))


def _grade(judged: Sequence[_Judged], deals: int, seed: int) -> EndgameGrade:
    """The grade of an agent by its decisions, each of its seats an ending of its own. seed: of the bootstrap."""
    endings: dict[tuple[int, int], list[_Judged]] = {}
    for one in sorted(judged, key=lambda one: (one.game, one.seat)):
        endings.setdefault((one.game, one.seat), []).append(one)
    solved = [ones for ones in endings.values() if not any(np.isnan(one.best) for one in ones)]
    optimal = ((one.deal, one.played == one.best) for one in judged if one.worst < one.best)
    lost = ((ones[0].deal, sum(one.best - one.played for one in ones)) for ones in solved)
    wins = ((ones[0].deal, ones[0].ended < 1.0) for ones in endings.values() if ones[0].best == 1.0)
    found, thrown = (interval.proportion(_by_deal(pairs, deals)) for pairs in (optimal, wins))
    unsolved, given = sum(np.isnan(one.best) for one in judged), interval.mean(_by_deal(lost, deals), seed)
    return EndgameGrade(len(endings), len(judged), int(unsolved), found.n, found, given, thrown.n, thrown)


def _by_deal(values: Iterable[tuple[int, float]], deals: int) -> np.ndarray:
    """Values by the number of their deal as a table, f8[deals, most of one], filled up with NaN."""
    rows: list[list[float]] = [[] for _ in range(deals)]
    for deal, value in values:
        rows[deal].append(value)
    table = np.full((deals, max(map(len, rows))), np.nan)
    for row, own in zip(table, rows, strict=True):
        row[: len(own)] = own
    return table
