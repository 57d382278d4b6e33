"""Search over worlds for many decisions at once, when an evaluator outside compiled code judges positions.

It plays as `cardai.playing.compiled.search` does, which plays the lines on. All lines of many decisions go on until
they wait for an evaluator; then it is asked about all of them together.
"""

from collections.abc import Generator
from typing import Any

import numpy as np

from cardai.errors import BadArgument
from cardai.game import Game, GameState
from cardai.game.compiled.native import at, get, next_of, raw, turn_of
from cardai.game.compiled.rules import lend, make_world, play_move
from cardai.playing.agents.spec import Agent
from cardai.playing.agents.strategy import OnePly, Question, Thinking, WorldSearch
from cardai.playing.compiled import lookahead
from cardai.playing.compiled.lookahead import DECISIONS, Pending
from cardai.playing.compiled.search import LEAF, VALUED, Lines, begin_line, play_on, rounds_of
from cardai.playing.progress import Progress
from cardai.playing.table.cast import cast_of, leaves_of, lines_of, scratch_of
from cardai.playing.table.complaints import NoLegalMove, NoNumber
from cardai.playing.table.lookahead import Lookahead
from cardai.rules import STREAM, rule

MOST_LINES = 1 << 15  # that are played on at once
_REPORTED = 4096  # lines played on between two reports of progress
LINES = -1  # in the key of a lookahead: it judges lines, and is not one of those that decisions begin with


@rule
def begin_lines(rules, pending, count, moves, sizes, shares, turns, scratch, lines):
    """Begin the lines of each decision: its sizes[i] moves, which stand together, in shares[i] new worlds."""
    world, line, first = at(scratch.worlds, 0), 0, 0
    for i in range(count):
        state, stream = at(pending.states, get(pending.picked, i)), at(pending.streams, get(pending.places, i))
        for _ in range(get(shares, i)):
            make_world(rules, world, state, turn_of(state), stream)
            bits = next_of(stream)
            for k in range(get(sizes, i)):
                begin_line(rules, world, at(moves, first + k), turn_of(state), turns, bits, lines, line)
                line += 1
        first += get(sizes, i)


@rule
def play_lines(rules, cast, own, others, decay, lines, picked, count, scratch):
    """Play lines on. Returns (i, what `play_on` returned) for the first that cannot go on, or (-1, 1)."""
    for i in range(count):
        work = play_on(rules, cast, own, others, decay, lines, get(picked, i), scratch)
        if work <= 0:
            return get(picked, i), work
    return -1, 1


@rule
def play_moves(rules, lines, picked, count, chosen):
    """Play the moves that a model chose in some lines."""
    for i in range(count):
        play_move(rules, at(lines.states, get(picked, i)), at(chosen, i))


class Playout:
    """Plays the lines of a search, at tables of one size. Errors name `agent`, whose search `plan` is at the table."""

    def __init__(self, game: Game, plan: WorldSearch, agent: Agent) -> None:
        self.game, self.plan, self.agent = game, plan, agent
        self._cast, self._scratch = cast_of(game, [plan]), scratch_of(game, [plan])
        self.own, self.others = int(self._cast.own[0]), int(self._cast.others[0])
        self.rules, self.cast, self.scratch = lend(game.compiler.rules), lend(self._cast), lend(self._scratch)

    def begin(self, pending: Pending, moves: np.ndarray, sizes: np.ndarray, shares: np.ndarray) -> Lines:
        """The lines of decisions: sizes[i] of `moves`, MOVE[sum of sizes], in shares[i] new worlds, world by world."""
        lines, moves = lines_of(self.game, max(1, int(sizes @ shares))), np.ascontiguousarray(moves)
        counts, space = (raw(sizes), raw(shares), self.plan.turns), (self.scratch, lend(lines))
        begin_lines(self.rules, lend(pending), len(sizes), raw(moves), *counts, *space)
        return lines

    def play(self, lines: Lines, waiting: np.ndarray) -> np.ndarray:
        """Play lines on, given by their numbers. Returns those that wait for an evaluator outside compiled code.

        Raises NoNumber if a network scores one by what is no number, and NoLegalMove.
        """
        lent = lend(lines), raw(waiting), len(waiting), self.scratch
        line, work = play_lines(self.rules, self.cast, self.own, self.others, self.plan.decay, *lent)
        if work < 0:
            raise NoNumber(self.agent)
        if line >= 0:
            raise NoLegalMove(self.game, int(lines.states["turn"][line]), 0)
        return waiting[lines.status[waiting] != VALUED]


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
    states, none = np.array([world], game.state), np.zeros(1, np.int64)
    plan = agent.strategy.at_table(game, states)
    if not isinstance(plan, WorldSearch) or not plan.is_native:
        raise BadArgument(f"agent {agent.spec!r} plays no worlds on in compiled code")
    playout, stream, count = Playout(game, plan, agent), np.zeros(1, STREAM), len(moves)
    stream["rng"] = bits
    pending, values = Pending(states, stream, none, none, none), np.zeros((worlds, count))
    step = max(1, _REPORTED // max(1, count))
    for done in range(0, worlds, step):
        if progress:
            progress(done, worlds, f"playing {count} moves out in {worlds} worlds")
        share = min(step, worlds - done)
        lines = playout.begin(pending, moves, np.array([count]), np.array([share]))
        playout.play(lines, np.arange(share * count))
        values[done : done + share] = lines.values[: share * count].reshape(-1, count)
    return values


class Search(Playout):
    """The search of some decisions of one agent.

    `decisions`: `cardai.playing.table.asking.Decisions`, whose states are the true ones: only worlds are made of them.
    """

    def __init__(self, game: Game, plan: WorldSearch, decisions: Any, agent: Agent) -> None:
        super().__init__(game, plan.at_table(game, decisions._pending.states[decisions._pending.picked[:1]]), agent)
        self.decisions = decisions

    def think(self) -> Thinking:
        """Search all decisions, so many at once that their lines have room. Returns their moves, MOVE[n]."""
        options = yield from self._candidates()
        lines, first, found = self.plan.worlds * np.array([len(moves) for moves in options]), 0, []
        while first < len(options):
            end = first + max(1, int(np.searchsorted(np.cumsum(lines[first:]), MOST_LINES, "right")))
            found.append((yield from self._search(self.decisions._of(np.arange(first, end)), options[first:end])))
            first = end
        sizes, moves, means = (np.concatenate(parts) for parts in zip(*found, strict=True))
        leaves = leaves_of(self.game, max(len(moves), len(sizes)), 1)
        leaves.used[DECISIONS], leaves.move_end[: len(sizes)] = len(sizes), np.cumsum(sizes)
        leaves.moves[: len(moves)], leaves.means[: len(moves)] = moves, means
        chosen, scratch = np.zeros(len(sizes), self.game.move), lend(self._scratch._replace(leaves=leaves))
        heat, pending = (self.plan.epsilon, self.plan.temperature), lend(self.decisions._pending)
        lookahead.choose(self.rules, *heat, pending, raw(chosen), scratch)
        return chosen

    def _candidates(self) -> Generator[Question, np.ndarray, list[np.ndarray]]:
        """The moves to play on in each decision, the best first."""
        plan, decisions, game = self.plan, self.decisions, self.game
        if plan.most and isinstance(plan.own, OnePly):
            ahead = decisions.look_ahead(plan.own.evaluator or plan.own.value, plan.own.settles, plan.own.worlds)
            yield from ahead.ask()
            options = [_best(moves, means, plan.most) for moves, means in ahead.options()]
        else:
            worlds, most = decisions._drawn(decisions._pending), plan.most or game.max_moves
            options = [game.enumerate(world)[0][:most] for world in worlds]
        for place, moves in enumerate(options):
            if not len(moves):
                raise NoLegalMove(game, int(decisions.seats[place]), place)
        return options

    def _search(
        self, pending: Pending, options: list[np.ndarray]
    ) -> Generator[Question, np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Try the moves of some decisions in worlds, in one round or as halving says.

        Returns those that are left: how many of each decision, i64[n], which, and their means.
        """
        sizes, moves = np.array([len(own) for own in options]), np.concatenate(options)
        rounds = np.array([rounds_of(n) if self.plan.halving else 1 for n in sizes.tolist()])
        budget, totals, tried = sizes * self.plan.worlds, np.zeros(len(moves)), np.zeros(len(moves))
        for i in range(int(rounds.max())):
            goes_on, first = (sizes > 1) & (i < rounds), np.cumsum(sizes) - sizes
            shares = np.where(goes_on, np.maximum(1, budget // (rounds * sizes)), 0)
            values = yield from self._values(pending, moves, sizes, shares)
            numbers = zip(first.tolist(), sizes.tolist(), shares.tolist(), strict=True)
            entries = np.concatenate([np.tile(np.arange(begin, begin + n), share) for begin, n, share in numbers])
            np.add.at(totals, entries, values)
            np.add.at(tried, entries, 1)
            owner = np.repeat(np.arange(len(sizes)), sizes)
            order = np.lexsort((np.where(goes_on[owner], -totals / np.maximum(1, tried), 0.0), owner))
            sizes = np.where(goes_on & (i < rounds - 1), (sizes + 1) // 2, sizes)
            order = order[np.arange(len(order)) - first[owner] < sizes[owner]]
            moves, totals, tried = moves[order], totals[order], tried[order]
        return sizes, moves, totals / np.maximum(1, tried)

    def _values(
        self, pending: Pending, moves: np.ndarray, sizes: np.ndarray, shares: np.ndarray
    ) -> Generator[Question, np.ndarray, np.ndarray]:
        """Play the lines of some decisions to the end. Returns their values, f8[lines]."""
        lines, count = self.begin(pending, moves, sizes, shares), int(sizes @ shares)
        waiting = np.arange(count)
        while len(waiting):
            waiting = self.play(lines, waiting)
            is_own = lines.states["turn"][waiting] == lines.seats[waiting]
            for player in sorted({self.own, self.others}):
                asked = waiting[np.where(is_own, self.own, self.others) == player]
                yield from self._ask(player, lines, asked)
            waiting = waiting[lines.status[waiting] != VALUED]
        return lines.values[:count]

    def _ask(self, player: int, lines: Lines, waiting: np.ndarray) -> Generator[Question, np.ndarray, None]:
        """Have an evaluator judge the moves in lines that wait for it, which go on unless a leaf has its value then."""
        model, decay = self.plan.own if player == self.own else self.plan.others, self.plan.decay
        kept, key = self.decisions._lookaheads, (id(model.evaluator), LINES)
        never = np.zeros(len(lines.states), np.int64)
        while len(waiting):
            assert isinstance(model, OnePly)
            if key not in kept:  # kept from one batch of decisions to the next: its arrays are large
                kept[key] = Lookahead(self.game, model.evaluator, int(lines.states["seats"][0]))
            ahead, pending = kept[key], Pending(lines.states, lines.streams, waiting, waiting, never)
            taken = ahead.gather(pending, model.settles, 1, True)
            means, asked = (
                ahead.weigh((yield ahead.question) if len(ahead.question.rows) else np.zeros(0)),
                waiting[:taken],
            )
            chosen, stuck = ahead.choose(0.0, 0.0)
            if stuck >= 0:
                raise NoLegalMove(self.game, int(lines.states["turn"][asked[stuck]]), 0)
            is_leaf = lines.status[asked] == LEAF
            firsts = np.concatenate([[0], ahead.leaves.move_end[: taken - 1]])
            leaves, best = asked[is_leaf], np.maximum.reduceat(means, firsts)[is_leaf]
            lines.values[leaves] += lines.weights[leaves] * (1.0 - decay) * best
            lines.weights[leaves] *= decay
            ends = is_leaf & (decay == 0.0)
            lines.status[asked[ends]] = VALUED
            goes_on, moves = np.ascontiguousarray(asked[~ends]), chosen[~ends]
            play_moves(self.rules, lend(lines), raw(goes_on), len(goes_on), raw(moves))
            waiting = waiting[taken:]


def _best(moves: np.ndarray, means: np.ndarray, most: int) -> np.ndarray:
    """The `most` best of some moves, the best first; all in their order if there are no more."""
    return moves if len(moves) <= most else moves[np.argsort(-means, kind="stable")[:most]]
