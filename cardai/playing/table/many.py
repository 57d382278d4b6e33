"""Many games at once: native players are advanced in compiled code, agents that think are asked in batches.

While an evaluator scores the positions of one half of the games, the other half plays on.

    results = play(game, [agent(game, "bot3"), agent(game, "random")], lineups, seeds)

A game depends on its seed and its line-up only: not on how many are live, on threads, or on what is played beside it.
That takes evaluators that score a row the same whatever it is scored with, as our networks do on a processor; where
rounding depends on the batch, it may tip a choice between moves that are all but equal.
"""

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, NoReturn, Self

import numpy as np

from cardai.errors import BadArgument, CardaiError, IllegalMove, positive, unknown
from cardai.files.writing import interrupts_held
from cardai.game import Game, is_game, move_dtype, state_dtype
from cardai.game.compiled.doors import check_flag, check_function, check_integers, check_list, check_seeds
from cardai.game.compiled.native import raw
from cardai.game.compiled.rules import CompiledRules, lend
from cardai.playing.agents.outside import Seated
from cardai.playing.agents.spec import Agent
from cardai.playing.agents.strategy import AgentFailed, EvenlyRandom
from cardai.playing.compiled import driver
from cardai.playing.compiled.driver import Order
from cardai.playing.machine import default_threads
from cardai.playing.progress import CountProgress
from cardai.playing.table import second_process
from cardai.playing.table.asking import Inquiry, pending_of
from cardai.playing.table.cast import cast_of, games_of, scratch_of, slots_of
from cardai.playing.table.complaints import Complaints, NoLegalMove, NoNumber, check_listed
from cardai.playing.table.ended import Each, Kept, OnGame, Sink
from cardai.playing.table.following import Following
from cardai.rules import JIT

LIVE_NATIVE = 64  # games a thread holds when nobody outside is asked: few, so that they stay in cache
LIVE_RECORDED = 128  # as long as each game waits for the others to end, before it is recorded
LIVE_OUTSIDE = 1024
SLICE_SECONDS = 0.1  # how long threads play before Python looks at Ctrl-C and at the progress line
LONGEST_SLICE_SECONDS = 1.0  # and how long at most, if one call takes so long that threads would wait for each other
CALLS_A_SLICE = 20
CALL_SECONDS = 0.005  # about how long one call of compiled code takes, so that threads end their slice together
MOST_BUDGET = 10_000_000
BLOCK = 1 << 15
"""How many games are best played by one call, if there are many: enough to be quick, and their results are small."""
FEW = 64  # decisions that are not worth another thread


@dataclass
class Results:
    """How G games came out. Where `finished` is False, the other columns mean nothing: the run was interrupted, or the
    game is `endless`: it was given up after `max_plies` moves (some line-ups of simple players go round in circles).
    """

    scores: np.ndarray  # f8[G, seats] in [0, 1]
    plies: np.ndarray  # i64[G]
    finished: np.ndarray  # bool[G]
    endless: np.ndarray  # bool[G]
    decisions: int
    seconds: float
    tally: np.ndarray  # f8[G, 4], see driver.Games
    moves: list[np.ndarray | None] = field(default_factory=list)  # MOVE[plies] a game, when recording
    interrupted: bool = False
    rows: int = 0  # positions that evaluators judged
    batches: int = 0  # in so many calls, of evaluators outside compiled code
    thinking: np.ndarray | None = None
    """f8[P, 2]: how long each agent that searches over worlds in compiled code thought, in seconds on one core, and at
    how many decisions with a choice. Other agents have 0 and 0."""
    outcomes: Mapping[str, np.ndarray] = field(default_factory=dict)
    """The outcomes that were asked for, by name: f8[G, seats], each in its own unit."""

    def complete(self) -> Self:
        """Returns these results. Raises KeyboardInterrupt if the run was interrupted."""
        if self.interrupted:
            raise KeyboardInterrupt
        return self


def play(
    game: Game,
    agents: Sequence[Agent],
    lineups: np.ndarray,
    seeds: np.ndarray,
    *,
    variant: str | None = None,
    threads: int | None = None,
    live: int | None = None,
    record: bool = False,
    checked: bool = False,
    tally: bool = False,
    max_plies: int | None = None,
    progress: CountProgress | None = None,
    on_game: OnGame | Sink | None = None,
    outcomes: Sequence[str] = (),
) -> Results:
    """Play G games and return how they came out.

    `lineups`: i64[G, seats], places in `agents`. `seeds`: u64[G]; other whole numbers are taken modulo 2^64. `live`:
    games held at once. `record` keeps the moves; with `on_game(index, moves, scores)` they are handed over as games end
    instead, or in blocks if it is a `Sink`. `checked` verifies every move of every player (always done for outside
    players). `tally` counts legal moves. `outcomes`: names of `Learning.outcomes` to be noted of every game. Ctrl-C
    stops early with what is finished. Raises IllegalMove for an outside or checked player's move, CardaiError for a
    game that breaks its contract, for an agent that does not fit this table or whose evaluator fails, and, before
    anything is played, for an argument that it cannot take.
    """
    is_game(game)
    agents = check_list("agents", agents, Agent, "agents, as cardai.agent() returns")
    lineups = check_integers("lineups", lineups, (None, None))
    seats, seeds = lineups.shape[1], check_seeds(seeds, len(lineups))
    game.options(seats, variant)
    if lineups.size and not 0 <= lineups.min() <= lineups.max() < len(agents):
        wrong = lineups.min() if lineups.min() < 0 else lineups.max()
        raise BadArgument(f"lineups name agent {wrong}, there are {len(agents)}")
    for player in agents:
        player.check_fits(game, variant, seats)
    for name, number in (("threads", threads), ("live", live), ("max_plies", max_plies)):
        if number is not None:
            positive(name, number)
    for name, value in (("record", record), ("checked", checked), ("tally", tally)):
        check_flag(name, value)
    check_function("progress", progress)
    if not isinstance(on_game, Sink):
        check_function("on_game", on_game)
    outcomes = check_list("outcomes", outcomes, str, "names of the game's outcomes")
    for name in outcomes:
        if name not in game.learning.outcomes:
            raise BadArgument(f"outcomes: {game.name}: {unknown('outcome', name, game.learning.outcomes)}")
    lineups = np.ascontiguousarray(lineups, np.int64)
    kept = Kept(len(seeds))
    sink = on_game if isinstance(on_game, Sink) else Each(on_game) if on_game else kept if record else None
    agents = [player.at_table(game, game.options(seats, variant)) for player in agents]
    table = _Table(game, agents, lineups, seeds, variant, threads, live, sink, outcomes)
    most = game.max_plies if max_plies is None else int(max_plies)
    table.order = Order(len(table.slots.status), most, table.log_length, bool(checked), bool(tally))
    results = table.run(progress)
    return replace(results, moves=kept.moves) if record or on_game is not None else results


class _Table:
    def __init__(
        self,
        game: Game,
        agents: Sequence[Agent],
        lineups: np.ndarray,
        seeds: np.ndarray,
        variant: str | None,
        threads: int | None,
        live: int | None,
        sink: Sink | None,
        outcomes: Sequence[str] = (),
    ) -> None:
        count, seats = lineups.shape
        self.game, self.agents, self.rules = game, agents, game.compiler.rules
        self.blank = game.options(seats, variant)
        strategies = [agent.strategy for agent in agents]
        self.cast = cast_of(game, strategies)
        has_outside = not all(agent.strategy.is_native for agent in agents)
        has_evaluator = any(agent.evaluator is not None for agent in agents if not agent.strategy.is_native)
        threads = max(1, min(threads or default_threads(), count)) if JIT else 1
        live = live or (LIVE_OUTSIDE if has_outside else (LIVE_RECORDED if sink else LIVE_NATIVE) * threads)
        most = min([count, *(one.most_tables or count for one in strategies)])
        live = max(1, min(live, most))
        self.threads = min(threads, live)
        self.following: Following | None = None
        if any(one.follows for one in strategies):
            sink = self.following = Following(game, agents, lineups, seeds, variant, sink)
        self.sink = sink
        self.log_length = 256 if sink else 0
        self.slots = slots_of(game, self.cast, live, seats, self.log_length)
        self.states, self.chosen = self.slots.states, self.slots.chosen
        self.games = games_of(game, self.blank, seeds, lineups, outcomes)
        self.outcomes = outcomes
        self.scratches = [scratch_of(game, strategies) for _ in range(self.threads)]
        self.budgets = [1000] * self.threads  # of work in one call of compiled code
        self.took = [0.0] * self.threads  # seconds of each thread's last call
        halves = 2 if has_evaluator and live > 1 else 1
        self.parts = [_Part(*ends) for ends in pairwise(np.linspace(0, live, halves + 1).astype(int).tolist())]
        self.idle: dict[int, list[Inquiry]] = {}  # by agent: those that nobody waits for
        self.moved_in = np.zeros(live, np.int64)  # the round in which an outside player last moved in a slot
        self.round = 0
        self.rows = self.batches = 0
        self.order: Order
        self.lent = lend(self.rules), lend(self.cast), lend(self.games), lend(self.slots)
        self.lent_scratches = [lend(scratch) for scratch in self.scratches]

    def run(self, progress: CountProgress | None) -> Results:
        status, total = self.slots.status, len(self.games.seeds)
        self._load_driver()
        start = reported = time.perf_counter()
        decisions, interrupted = 0, False
        pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        try:
            if pool:
                _start_threads(pool, self.threads)
            with Complaints(self.game):
                while (status != driver.EMPTY).any():
                    self.round += 1
                    for part in self.parts:
                        self._receive(part)
                        decisions += self._advance(part, pool) + self._ask(part, pool)
                    self._hand_over()
                    self._lengthen_logs()
                    self._stop_on_fault()
                    if progress and time.perf_counter() - reported > SLICE_SECONDS:
                        progress(int((self.games.finished > 0).sum()), total)
                        reported = time.perf_counter()
        except KeyboardInterrupt:
            interrupted = True
        finally:
            if pool:
                pool.shutdown()
        if interrupted:
            self._hand_over()  # what finished in the slice that was cut short
        if self.following:
            self.following.close()
        if progress:
            progress(int((self.games.finished > 0).sum()), total)
        finished = self.games.finished == driver.FINISHED
        for name, values in zip(self.outcomes, self.games.values, strict=True):
            self.game.check_outcome(name, values[finished], " in one of these games")
        return Results(
            self.games.scores,
            self.games.plies,
            finished,
            self.games.finished == driver.ENDLESS,
            decisions,
            time.perf_counter() - start,
            self.games.tally,
            [],
            interrupted,
            self.rows + sum(int(scratch.space.scored[0]) for scratch in self.scratches),
            self.batches,
            np.array([1e-9, 1.0]) * sum(scratch.spent.reshape(-1, 2) for scratch in self.scratches),
            dict(zip(self.outcomes, self.games.values, strict=True)),
        )

    def _load_driver(self) -> None:
        """Have the driver compiled before the clock starts, by a call that plays nothing."""
        second_process.finish()
        lent = *self.lent, self.lent_scratches[0]
        driver.advance(*lent, self.order, 0, 0, 0)  # pyright: ignore[reportCallIssue]

    def _advance(self, played: "_Part", pool: ThreadPoolExecutor | None) -> int:
        """Let every thread play its slots for a slice of time, or until all of them wait.

        Returns how many decisions were made.
        """

        def share(i: int) -> int:
            first, end, made = bounds[i], bounds[i + 1], 0
            scratch = self.lent_scratches[i]
            while (self.slots.status[first:end] <= driver.RUNNING).any():
                began = time.perf_counter()
                budget = self.budgets[i]
                made += driver.advance(rules, cast, games, slots, scratch, self.order, first, end, budget)
                took = self.took[i] = time.perf_counter() - began
                if took < CALL_SECONDS:
                    self.budgets[i] = min(2 * budget, MOST_BUDGET)
                elif took > 3 * CALL_SECONDS:
                    self.budgets[i] = max(budget // 2, 1)
                is_ahead = self.sink is not None and self.sink.takes_at_once and self._collect(first, end)
                if is_ahead or time.perf_counter() > deadline:
                    break
            return made

        bounds = np.linspace(played.first, played.end, self.threads + 1).astype(int).tolist()
        seconds = max(SLICE_SECONDS, min(LONGEST_SLICE_SECONDS, CALLS_A_SLICE * max(self.took)))
        deadline = time.perf_counter() + seconds
        rules, cast, games, slots = self.lent
        return sum(pool.map(share, range(self.threads))) if pool else share(0)

    def _ask(self, part: "_Part", pool: ThreadPoolExecutor | None) -> int:
        """Ask the agents that slots of a part wait for. Returns how many decisions they took on."""
        waiting = part.first + np.flatnonzero(self.slots.status[part.first : part.end] == driver.WAITING)
        if not len(waiting):
            return 0
        waiting = waiting[np.argsort(self.moved_in[waiting], kind="stable")]  # those that wait longest go first
        turns = self.states["turn"][waiting]
        playing = self.games.lineups[self.slots.game[waiting], turns]
        asked = 0
        for player in np.unique(playing).tolist():
            picked = waiting[playing == player]
            asked += self._begin(part, player, picked, picked * self.games.seats + turns[playing == player], pool)
        return asked

    def _begin(
        self, part: "_Part", player: int, picked: np.ndarray, places: np.ndarray, pool: ThreadPoolExecutor | None
    ) -> int:
        """Ask agent number `player` for the decisions of some slots, as many as its batches hold.

        `picked`: indices of the slots. `places`: indices of the seats' random streams, one for each slot. Returns how
        many decisions the agent took on.
        """
        agent = self.agents[player]
        count = min(self.threads, 1 + len(picked) // FEW) if agent.evaluator is not None else 1
        shares, idle = np.array_split(np.arange(len(picked)), count), self.idle.setdefault(player, [])
        while len(idle) < len(shares):
            idle.append(Inquiry(self.game, agent))
        inquiries = [idle.pop() for _ in shares]

        def begin(inquiry: Inquiry, share: np.ndarray) -> int:
            slots, table = picked[share], self.slots
            pending = pending_of(table.states, table.streams, slots, places[share], table.limits)
            with self._naming_the_game(slots):
                return inquiry.begin(pending, seated=self._seated(agent, slots))

        asked = sum(pool.map(begin, inquiries, shares) if pool and count > 1 else map(begin, inquiries, shares))
        for inquiry in inquiries:
            self.slots.status[inquiry.picked] = driver.ASKED
            if inquiry.question is None:
                self._finish(player, inquiry)
            else:
                inquiry.send()
                part.inquiries.append((player, inquiry))
        return asked

    def _seated(self, agent: Agent, picked: np.ndarray) -> list[Seated] | None:
        """What an agent that follows its games is told before its moves in some slots, None for other agents."""
        if self.following is None or not agent.strategy.follows:
            return None
        logs, states = self.slots.log.reshape(len(self.states), self.log_length), self.states
        return [
            self.following.seated(
                slot, int(self.slots.game[slot]), int(states["turn"][slot]), int(states["ply"][slot]), logs[slot]
            )
            for slot in picked.tolist()
        ]

    def _receive(self, part: "_Part") -> None:
        """Wait for the answers to a part's questions. Play the moves of agents that are done, ask the others again."""
        inquiries, part.inquiries = part.inquiries, []
        for player, inquiry in inquiries:
            with self._naming_the_game(inquiry.picked):
                inquiry.receive()
            if inquiry.question is None:
                self._finish(player, inquiry)
            else:
                inquiry.send()
                part.inquiries.append((player, inquiry))

    def _finish(self, player: int, inquiry: Inquiry) -> None:
        """Play the moves of an agent that is done thinking."""
        self.chosen[inquiry.picked] = inquiry.moves
        self._commit(inquiry.picked, self.order.checked or not self.agents[player].strategy.is_trusted)
        self.rows += inquiry.rows
        self.batches += inquiry.batches
        self.idle[player].append(inquiry)

    @contextlib.contextmanager
    def _naming_the_game(self, picked: np.ndarray) -> Iterator[None]:
        """Have errors about the i-th of some decisions name the game in slot picked[i]."""
        try:
            yield
        except NoLegalMove as error:
            self._stop_stuck(picked[error.place])
        except AgentFailed as error:
            raise CardaiError(f"{error}, in the game with seed {self._seed(picked[error.place])}") from error

    def _commit(self, picked: np.ndarray, checked: bool) -> None:
        """Play the moves chosen in some slots."""
        (rules, _, games, slots), scratch = self.lent, self.lent_scratches[0]
        wrong = driver.commit(rules, games, slots, raw(picked), len(picked), self.order, checked, scratch)
        if wrong >= 0:
            self._refuse(int(wrong))
        self.moved_in[picked] = self.round

    def _refuse(self, slot: int) -> None:
        """Raise IllegalMove for the chosen move of a slot."""
        state = self.states[slot]
        spec = self.agents[self.games.lineups[self.slots.game[slot], state["turn"]]].spec
        try:
            self.game.play(state, self.chosen[slot])
        except IllegalMove as error:
            raise IllegalMove(f"{error} (agent {spec}, game seed {self._seed(slot)}, ply {state['ply']})") from None
        raise AssertionError("a move was refused that is legal")

    def _seed(self, slot: int) -> int:
        return int(self.games.seeds[self.slots.game[slot]])

    def _collect(self, first: int, end: int) -> bool:
        """Have the games taken that have ended in slots first..end-1, and let these slots go on.

        Returns whether these slots should wait for the others.
        """
        ended = first + np.flatnonzero(self.slots.status[first:end] == driver.DONE)
        if self.sink is None or len(ended) == 0:
            return False
        games, logs = self.slots.game[ended], self.slots.log.reshape(-1, self.log_length)
        plies, scores = self.games.plies[games], self.games.scores[games]
        with interrupts_held():  # Ctrl-C neither loses a game nor has one taken twice
            is_ahead = self.sink.take(games, ended, plies, logs, scores)
            self.slots.status[ended] = driver.NEXT
        return is_ahead

    def _hand_over(self) -> None:
        """Take all games that have ended, and let the sink hand them over."""
        self._collect(0, len(self.states))
        if self.sink:
            self.sink.hand_over()

    def _lengthen_logs(self) -> None:
        """Make room for games that filled their log."""
        full = self.slots.status == driver.LOG_FULL
        if full.any():
            live = len(self.states)
            longer = np.zeros((live, 2 * self.log_length), self.game.move)
            longer[:, : self.log_length] = self.slots.log.reshape(live, self.log_length)
            self.log_length *= 2
            self.slots = self.slots._replace(log=longer.reshape(-1))
            self.lent = *self.lent[:3], lend(self.slots)
            self.order = self.order._replace(log_length=self.log_length)
            self.slots.status[full] = driver.RUNNING

    def _stop_on_fault(self) -> None:
        faults = np.flatnonzero(self.slots.status >= driver.STUCK)
        if len(faults):
            slot = int(faults[0])
            if self.slots.status[slot] == driver.ILLEGAL:
                self._refuse(slot)
            if self.slots.status[slot] == driver.NO_NUMBER:
                turn = self.states["turn"][slot]
                agent = self.agents[self.games.lineups[self.slots.game[slot], turn]]
                raise NoNumber(agent, f", in the game with seed {self._seed(slot)}")
            self._stop_stuck(slot)

    def _stop_stuck(self, slot: int) -> NoReturn:
        state = self.states[slot]
        where = f"{self.game.name}, game seed {self._seed(slot)}, ply {int(state['ply'])}"
        check_listed(self.game, state, where)
        raise CardaiError(f"{where}: seat {int(state['turn'])} is to move and has no legal move")


class _Part:
    """Slots first..end-1, which play together, and the agents that think about their games."""

    def __init__(self, first: int, end: int) -> None:
        self.first, self.end = first, end
        self.inquiries: list[tuple[int, Inquiry]] = []  # with the agent each one is of


def _start_threads(pool: ThreadPoolExecutor, threads: int) -> None:
    """Start all threads of a pool. It would not wait for a thread if Ctrl-C came while that was being started."""
    together = threading.Barrier(threads)
    with interrupts_held():
        list(pool.map(lambda _: together.wait(), range(threads)))


def compile_driver() -> None:
    """Compile the driver, at a table of a game without rules (`cardai.playing.table.second_process`)."""
    state, move = state_dtype(), move_dtype("card")
    rules = CompiledRules(np.zeros(8, np.int64), False, state.itemsize, move.itemsize, 1, 1, (0, 0))
    game: Any = SimpleNamespace(
        seats=range(2, 3), state=state, move=move, max_moves=1, options=lambda *_: np.zeros(1, state),
        rules=SimpleNamespace(blank=None, decided=None, is_open=None),
        compiler=SimpleNamespace(rules=rules),
    )  # fmt: skip
    agents, lineups = [Agent("even", EvenlyRandom())], np.zeros((1, 2), np.int64)
    table = _Table(game, agents, lineups, np.zeros(1, np.uint64), None, 1, 1, None)
    table.order = Order(1, 1, 0, False, False)
    table._load_driver()
