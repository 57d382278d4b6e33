"""Search over worlds for many decisions at once, when an evaluator outside compiled code judges positions.

It plays as `cardai.playing.compiled.search` does, which plays the lines on. All lines of many decisions go on until
they wait for an evaluator; then it is asked about all of them together.
"""

from collections.abc import Generator
from typing import Any

import numpy as np

from cardai.game import Game
from cardai.game.compiled.native import at, copy, get, get_float, next_of, ply_of, raw, set, set_float, turn_of
from cardai.game.compiled.rules import legal_moves, lend, make_world, play_move
from cardai.playing.agents.strategy import OnePly, Question, Thinking, WorldSearch
from cardai.playing.compiled.lookahead import pick
from cardai.playing.compiled.search import LEAF, VALUED, Lines, begin_line, play_on, rounds_of
from cardai.playing.table.cast import cast_of, lines_of, scratch_of
from cardai.playing.table.complaints import NoLegalMove, NoNumber
from cardai.playing.table.lookahead import Lookahead
from cardai.rules import rule

MOST_LINES = 1 << 15  # that are played on at once
LINES = -1  # in the key of a lookahead: it judges lines, and is not one of those that decisions begin with


@rule
def list_moves(rules, states, streams, picked, places, count, scratch, moves, sizes):
    """Write the legal moves in a world of each decision to moves[i * max_moves], and their number to sizes[i]."""
    world = at(scratch.worlds, 0)
    for i in range(count):
        state = at(states, get(picked, i))
        make_world(rules, world, state, turn_of(state), at(streams, get(places, i)))
        n = abs(legal_moves(rules, world, scratch.moves, 0))
        set(sizes, i, n)
        for k in range(n):
            copy(at(moves, i * rules.max_moves + k), at(scratch.moves, k), rules.move_size)


@rule
def begin_lines(rules, states, streams, picked, places, moves, width, alive, shares, count, turns, scratch, lines):
    """Begin the lines of each decision: the first alive[i] of its `width` moves, in shares[i] new worlds."""
    world, line = at(scratch.worlds, 0), 0
    for i in range(count):
        state, stream = at(states, get(picked, i)), at(streams, get(places, i))
        for _ in range(get(shares, i)):
            make_world(rules, world, state, turn_of(state), stream)
            bits = next_of(stream)
            for k in range(get(alive, i)):
                begin_line(rules, world, at(moves, i * width + k), turn_of(state), turns, bits, lines, line)
                line += 1


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


@rule
def pick_each(rules, states, streams, picked, places, limits, moves, width, alive, means, count, scratch, heat, chosen):
    """Copy to chosen[i] the best of the first alive[i] moves of each decision. `heat`: f8[2], epsilon, temperature."""
    for i in range(count):
        n, place = get(alive, i), get(places, i)
        for k in range(n):
            copy(at(scratch.moves, k), at(moves, i * width + k), rules.move_size)
            set_float(scratch.totals, k, get_float(means, i * width + k))
            set(scratch.counts, k, 1)
        explores = ply_of(at(states, get(picked, i))) < get(limits, place)
        epsilon, temperature = get_float(heat, 0), get_float(heat, 1)
        pick(
            rules,
            n,
            scratch,
            at(chosen, i),
            at(streams, place),
            epsilon if explores else 0.0,
            temperature if explores else 0.0,
        )


class Search:
    """The search of some decisions of one agent, at tables of one size.

    `decisions`: `cardai.playing.table.asking.Decisions`, whose states are the true ones: only worlds are made of them.
    """

    def __init__(self, game: Game, plan: WorldSearch, decisions: Any, agent: Any) -> None:
        plan = plan.at_table(game, decisions._states[decisions._picked[:1]])
        self.game, self.plan, self.decisions, self.agent = game, plan, decisions, agent
        self.cast, self.scratch = cast_of(game, [plan]), scratch_of(game, [plan])
        self.own, self.others = int(self.cast.own[0]), int(self.cast.others[0])
        self.lent = lend(game.compiler.rules), lend(self.cast), lend(self.scratch)

    def _asked(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The states, streams, places of states, places of streams, and limits of the decisions."""
        it = self.decisions
        return it._states, it._streams, it._picked, it._places, it._limits

    def think(self) -> Thinking:
        """Search all decisions, so many at once that their lines have room. Returns their moves, MOVE[n]."""
        moves, alive, width = yield from self._candidates()
        count = len(self.decisions)
        totals, tried = np.zeros((count, width)), np.zeros((count, width), np.int64)
        lines = alive * self.plan.worlds
        first = 0
        while first < count:
            fits = np.searchsorted(np.cumsum(lines[first:]), MOST_LINES, "right")
            end = first + max(1, int(fits))
            part = slice(first, end)
            yield from self._search(part, moves[part], alive[part], totals[part], tried[part])
            first = end
        means = np.ascontiguousarray(totals / np.maximum(1, tried))
        chosen, (states, streams, picked, places, limits) = np.zeros(count, self.game.move), self._asked()
        heat = np.array([self.plan.epsilon, self.plan.temperature])
        pick_each(
            self.lent[0], raw(states), raw(streams), raw(picked), raw(places), raw(limits), raw(moves.reshape(-1)),
            width, raw(alive), raw(means), count, self.lent[2], raw(heat), raw(chosen),
        )  # fmt: skip
        return chosen

    def _candidates(self) -> Generator[Question, np.ndarray, tuple[np.ndarray, np.ndarray, int]]:
        """The moves to play on, MOVE[n, K], the best first; how many each decision has, i64[n]; and K."""
        plan, decisions, game = self.plan, self.decisions, self.game
        if plan.most and isinstance(plan.own, OnePly):
            ahead = decisions.look_ahead(plan.own.evaluator or plan.own.value, plan.own.settles, plan.own.worlds)
            scores = (yield ahead.question) if len(ahead.question.rows) else np.zeros(0)
            ahead.weigh(scores)
            options = [_best(moves, means, plan.most) for moves, means in ahead.options()]
        else:
            states, streams, picked, places, _ = self._asked()
            count = len(decisions)
            listed, sizes = np.zeros((count, game.max_moves), game.move), np.zeros(count, np.int64)
            list_moves(
                self.lent[0], raw(states), raw(streams), raw(picked), raw(places), count, self.lent[2],
                raw(listed.reshape(-1)), raw(sizes),
            )  # fmt: skip
            most = plan.most or game.max_moves
            options = [moves[: min(size, most)] for moves, size in zip(listed, sizes.tolist(), strict=True)]
        alive = np.array([len(moves) for moves in options], np.int64)
        if (alive == 0).any():
            place = int(np.flatnonzero(alive == 0)[0])
            raise NoLegalMove(game, int(decisions.seats[place]), place)
        width = int(alive.max())
        moves = np.zeros((len(options), width), game.move)
        for row, found in zip(moves, options, strict=True):
            row[: len(found)] = found
        return moves, alive, width

    def _search(
        self, part: slice, moves: np.ndarray, alive: np.ndarray, totals: np.ndarray, tried: np.ndarray
    ) -> Generator[Question, np.ndarray, None]:
        """Try the moves of some decisions in worlds, in one round or as halving says. All arrays are changed."""
        rounds = np.array([rounds_of(n) if self.plan.halving else 1 for n in alive.tolist()])
        budget = alive * self.plan.worlds
        for i in range(int(rounds.max())):
            goes_on = (alive > 1) & (i < rounds)
            shares = np.where(goes_on, np.maximum(1, budget // (rounds * alive)), 0).astype(np.int64)
            owners = np.repeat(np.arange(len(alive)), shares * alive)
            places = [np.tile(np.arange(n), share) for n, share in zip(alive.tolist(), shares.tolist(), strict=True)]
            values = yield from self._values(part, moves, alive, shares, len(owners))
            entries = owners, np.concatenate([np.zeros(0, np.int64), *places])
            np.add.at(totals, entries, values)
            np.add.at(tried, entries, 1)
            for d in np.flatnonzero(goes_on).tolist():
                n = int(alive[d])
                order = np.argsort(-(totals[d, :n] / tried[d, :n]), kind="stable")
                for column in (moves, totals, tried):
                    column[d, :n] = column[d, order]
                alive[d] = (n + 1) // 2 if i < rounds[d] - 1 else n

    def _values(
        self, part: slice, moves: np.ndarray, alive: np.ndarray, shares: np.ndarray, count: int
    ) -> Generator[Question, np.ndarray, np.ndarray]:
        """Play the lines of some decisions to the end. Returns their values, f8[lines]."""
        (states, streams, picked, places, _), lines = self._asked(), lines_of(self.game, max(1, count))
        rules, cast, scratch = self.lent
        lent = lend(lines)
        begin_lines(
            rules, raw(states), raw(streams), raw(picked[part]), raw(places[part]), raw(moves.reshape(-1)),
            moves.shape[1], raw(alive), raw(shares), len(alive), self.plan.turns,
            scratch, lent,
        )  # fmt: skip
        waiting = np.arange(count)
        while len(waiting):
            line, work = play_lines(
                rules, cast, self.own, self.others, self.plan.decay, lent, raw(waiting), len(waiting), scratch
            )
            if work < 0:
                raise NoNumber(self.agent)
            if line >= 0:
                raise NoLegalMove(self.game, int(lines.states["turn"][line]), 0)
            waiting = waiting[lines.status[waiting] != VALUED]
            is_own = lines.states["turn"][waiting] == lines.seats[waiting]
            players = np.where(is_own, self.own, self.others)
            for player in np.unique(players).tolist():
                yield from self._ask(player, lines, waiting[players == player])
            waiting = waiting[lines.status[waiting] != VALUED]
        return lines.values[:count]

    def _ask(self, player: int, lines: Lines, waiting: np.ndarray) -> Generator[Question, np.ndarray, None]:
        """Have an evaluator judge the moves in lines that wait for it, which go on unless a leaf has its value then."""
        model = self.plan.own if player == self.own else self.plan.others
        assert isinstance(model, OnePly)
        kept, key = self.decisions._lookaheads, (id(model.evaluator), LINES)
        if key not in kept:  # kept from one batch of decisions to the next: its arrays are large
            kept[key] = Lookahead(self.game, model.evaluator, int(lines.states["seats"][0]))
        ahead, never = kept[key], np.zeros(len(lines.states), np.int64)
        while len(waiting):
            taken = ahead.gather(
                lines.states, lines.streams, waiting, waiting, settles=model.settles, worlds=1, peeks=True
            )
            scores = (yield ahead.question) if len(ahead.question.rows) else np.zeros(0)
            means, asked = ahead.weigh(scores), waiting[:taken]
            chosen, stuck = ahead.choose(0.0, 0.0, never)
            if stuck >= 0:
                raise NoLegalMove(self.game, int(lines.states["turn"][asked[stuck]]), 0)
            is_leaf = lines.status[asked] == LEAF
            firsts = np.concatenate([[0], ahead.leaves.move_end[: taken - 1]])
            leaves, best, decay = asked[is_leaf], np.maximum.reduceat(means, firsts)[is_leaf], self.plan.decay
            lines.values[leaves] += lines.weights[leaves] * (1.0 - decay) * best
            lines.weights[leaves] *= decay
            ends = is_leaf & (decay == 0.0)
            lines.status[asked[ends]] = VALUED
            goes_on = np.ascontiguousarray(asked[~ends])
            moves = chosen[~ends]
            play_moves(self.lent[0], lend(lines), raw(goes_on), len(goes_on), raw(moves))
            waiting = waiting[taken:]


def _best(moves: np.ndarray, means: np.ndarray, most: int) -> np.ndarray:
    """The `most` best of some moves, the best first; all in their order if there are no more."""
    return moves if len(moves) <= most else moves[np.argsort(-means, kind="stable")[:most]]
