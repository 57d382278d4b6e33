"""Agents that think outside compiled code: what they are given, and how their questions are answered.

An agent's strategy decides for many tables at once, in rounds (`cardai.playing.agents.strategy`). `Decisions` is what
it is given, `Inquiry` carries its questions to the evaluator and the scores back. `ask`, `compare` and `moves_in` ask
any agent about positions of the caller's.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cardai.errors import BadArgument, CardaiError, place_of, positive, short
from cardai.game import Game, is_game
from cardai.game.compiled.chance import LUCK, derived
from cardai.game.compiled.doors import check_flag, check_indices, check_kind, check_number, check_states, check_written
from cardai.game.compiled.native import at, call_encode, clear_row, get, raw, turn_of
from cardai.game.compiled.rules import lend, make_world
from cardai.playing.agents.evaluator import Evaluator, is_evaluator
from cardai.playing.agents.outside import Seated
from cardai.playing.agents.spec import MAX_WORLDS, Agent
from cardai.playing.agents.strategy import AgentFailed, OnePly, Question, Thinking, WorldSearch
from cardai.playing.compiled import driver
from cardai.playing.compiled.driver import ALL_ALONG
from cardai.playing.compiled.ending import find_open
from cardai.playing.compiled.lookahead import Pending
from cardai.playing.table.cast import cast_of, scratch_of, with_models
from cardai.playing.table.complaints import BadScore, NoLegalMove, NoNumber, check_listed
from cardai.playing.table.lookahead import Lookahead
from cardai.playing.table.searching import Search
from cardai.rules import STREAM, rule


@rule
def make_worlds(rules, pending, count, worlds):
    """Fill worlds[i] with a world of the seat to move in each of `count` decisions."""
    for i in range(count):
        state, stream = at(pending.states, get(pending.picked, i)), at(pending.streams, get(pending.places, i))
        make_world(rules, at(worlds, i), state, turn_of(state), stream)


@rule
def encode_each(encode, states, seats, count, rows):
    """Fill rows[i] with the view of seat seats[i] in states[i]."""
    for i in range(count):
        clear_row(rows, i)
        call_encode(encode, at(states, i), get(seats, i), rows, i)


def draw_worlds(
    game: Game, states: np.ndarray, streams: np.ndarray, picked: np.ndarray, places: np.ndarray, worlds: np.ndarray
) -> None:
    """Fill worlds[i], STATE[n], with a world of the seat to move in states[picked[i]].

    The stream streams[places[i]] decides what is dealt anew. `picked` and `places` are indices. Raises CardaiError
    for arrays of another type or game, read-only ones among those that change, and indices out of range.
    """
    states = _states("states", is_game(game), states)
    picked = check_indices("picked", picked, len(states))
    check_written("streams", streams, STREAM, "random streams")
    places = check_indices("places", places, len(streams), (len(picked),))
    check_written("worlds", worlds, game.state, "worlds", len(picked))
    _draw_worlds(game, pending_of(states, streams, picked, places), worlds)


def pending_of(
    states: np.ndarray, streams: np.ndarray, picked: np.ndarray, places: np.ndarray, limits: np.ndarray | None = None
) -> Pending:
    """Decisions. Their seats explore in the whole game without `limits`."""
    limits = np.full(len(streams), ALL_ALONG) if limits is None else limits
    picked, places = np.ascontiguousarray(picked, np.int64), np.ascontiguousarray(places, np.int64)
    return Pending(states, streams, picked, places, limits)


def _draw_worlds(game: Game, pending: Pending, worlds: np.ndarray) -> None:
    make_worlds(lend(game.compiler.rules), lend(pending), len(worlds), raw(worlds))


class Decisions:
    """Decisions that one agent has to make, at any number of tables: `len(decisions)`.

    `seated`: what each seat was told since its last move, for agents that follow their games; None for others, and for
    decisions that belong to no game.
    It hands out worlds of the seats to move, drawn by each seat's own random stream, never the true states.
    """

    def __init__(
        self,
        game: Game,
        agent: Agent,
        pending: Pending,
        lookaheads: dict[tuple[Any, int], Lookahead],
        are_worlds: bool = False,
        seated: Sequence[Seated] | None = None,
    ) -> None:
        self.game, self.seated, self._agent, self._pending = game, seated, agent, pending
        self._lookaheads, self._used, self._are_worlds = lookaheads, 0, are_worlds
        self._is_fixed = False

    def __len__(self) -> int:
        return len(self._pending.picked)

    @property
    def seats(self) -> np.ndarray:
        """The seat to move in each decision, i64[n]."""
        return np.ascontiguousarray(self._pending.states["turn"][self._pending.picked], np.int64)

    def worlds(self, count: int = 1) -> np.ndarray:
        """Returns new worlds of the seats to move: STATE[n] if `count` is 1, otherwise STATE[count, n]."""
        positive("count", count, MAX_WORLDS)
        self._is_fixed = True
        if count > 1:
            return np.stack([self._drawn(self._pending) for _ in range(count)])
        return self._pending.states[self._pending.picked] if self._are_worlds else self._drawn(self._pending)

    def more_worlds(self, index: int, count: int) -> np.ndarray:
        """Returns further worlds of the seat to move in one decision: STATE[count]."""
        check_indices("index", [index], len(self))
        positive("count", count, MAX_WORLDS)
        return self._drawn(self._of(np.full(count, index)))

    def _of(self, chosen: np.ndarray) -> Pending:
        """Some of the decisions, by their indices i64[k]."""
        return self._pending._replace(picked=self._pending.picked[chosen], places=self._pending.places[chosen])

    def _drawn(self, pending: Pending) -> np.ndarray:
        """New worlds, STATE[n]."""
        worlds = np.zeros(len(pending.picked), self.game.state)
        _draw_worlds(self.game, pending, worlds)
        return worlds

    def moves_of(self, agent: Agent) -> np.ndarray:
        """What another agent plays in a world of each decision: MOVE[n]. The world decides its luck."""
        return moves_in(self.game, agent, self.worlds())

    def open_positions(self) -> tuple[np.ndarray, np.ndarray]:
        """Which decisions are in open positions, as i64[k], and a world of each of them, STATE[k].

        Such a world is the true state, apart from the random stream. The game must have the rule `is_open`.
        """
        assert self.game.rules.is_open is not None
        found, pending = np.zeros(len(self), np.int64), self._pending
        is_open = self.game.compiler.entry("is_open", self.game.rules.is_open)
        find_open(is_open, raw(pending.states), raw(pending.picked), len(self), raw(found))
        places, self._is_fixed = np.flatnonzero(found), True
        chosen = self._of(places)
        return places, pending.states[chosen.picked] if self._are_worlds else self._drawn(chosen)

    def look_ahead(
        self, evaluator: Evaluator | Any, settles: bool = False, worlds: int = 1, peeks: bool = False
    ) -> Lookahead:
        """Play every legal move of every decision in the seat's worlds. See `cardai.playing.compiled.lookahead`.

        `evaluator`: an evaluator, or a compiled heuristic (`Compiler.entry("value", ...)`). If there is not enough
        room, the first call takes in only the first decisions: the agent decides these now, `len(decisions)` of them,
        and the others later. Raises CardaiError if the agent does not say that it peeks.
        """
        check_flag("settles", settles)
        if check_flag("peeks", peeks) and not self._agent.peeks:
            raise BadArgument(f"agent {self._agent.spec!r} looks at the true state, but does not say that it peeks")
        if not is_evaluator(evaluator) and self.game.compiler.function_of("value", evaluator) is None:
            what = "neither an evaluator nor a compiled heuristic of this game"
            raise BadArgument(f"agent {self._agent.spec!r}: evaluator {short(evaluator)} is {what}")
        positive("worlds", worlds, MAX_WORLDS)
        key = evaluator if isinstance(evaluator, int) else id(evaluator), self._used
        self._used += 1
        if key not in self._lookaheads:
            self._lookaheads[key] = Lookahead(self.game, evaluator, int(self._pending.states["seats"][0]))
        ahead = self._lookaheads[key]
        try:
            taken = ahead.gather(self._pending, settles, worlds, peeks, self._is_fixed)
        except CardaiError as error:
            raise CardaiError(f"agent {self._agent.spec!r}: {error}") from None
        self._pending, self._is_fixed = self._of(np.arange(taken)), True
        return ahead

    def search(self, plan: WorldSearch) -> Thinking:
        """Search over worlds (`cardai.playing.compiled.search`). Returns the moves, MOVE[n], after its questions."""
        check_kind("plan", plan, WorldSearch, "a search over worlds")
        return Search(self.game, plan, self, self._agent).think()

    def rows(self, evaluator: Evaluator, states: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """The views of seats[i] in STATE[n] states[i], as rows for an evaluator: u8[n, width]."""
        if not is_evaluator(evaluator):
            raise BadArgument(f"evaluator must be an evaluator, not {short(evaluator)}")
        encoder, size = self.game.encoder(evaluator.encoder), int(self._pending.states["seats"][0])
        states = _states("states", self.game, states, moving=False, size=size)
        seats = check_indices("seats", seats, size, (len(states),))
        rows = np.zeros((len(states), encoder.width(size)), np.uint8)
        encode_each(self.game.compiler.entry("encode", encoder.encode), raw(states), raw(seats), len(states), raw(rows))
        return rows

    def choose(self, ahead: Lookahead, epsilon: float = 0.0, temperature: float = 0.0) -> np.ndarray:
        """The move with the highest mean in each decision of a lookahead that was weighed, MOVE[n].

        Ties are broken evenly, by the seat's stream; `epsilon` and `temperature` explore. Raises NoLegalMove.
        """
        check_kind("ahead", ahead, Lookahead, "what look_ahead() returned")
        check_number("epsilon", epsilon, 1.0)
        check_number("temperature", temperature)
        chosen, stuck = ahead.choose(epsilon, temperature)
        if stuck >= 0:
            raise NoLegalMove(self.game, int(self.seats[stuck]), stuck)
        return chosen


class Inquiry:
    """An agent thinking about some decisions, and the question that it waits for. It can be begun again when done."""

    def __init__(self, game: Game, agent: Agent) -> None:
        self.game, self.agent = game, agent
        self.rows = self.batches = 0  # rows judged and questions asked, since it was begun
        self._lookaheads: dict[tuple[Any, int], Lookahead] = {}

    def begin(self, pending: Pending, are_worlds: bool = False, seated: Sequence[Seated] | None = None) -> int:
        """Have the agent think about decisions. Returns how many of them it takes on, at least one.

        `are_worlds`: their states are worlds of the seat to move. `seated`: as in `Decisions`.
        """
        self.decisions = Decisions(self.game, self.agent, pending, self._lookaheads, are_worlds, seated)
        self.rows = self.batches = 0
        self.moves: np.ndarray | None = None
        self._answer: Any = None
        self._thinking: Thinking = self.agent.strategy.think(self.decisions)
        self._go_on(None)
        self.picked = self.decisions._pending.picked
        return len(self.picked)

    def _go_on(self, scores: np.ndarray | None) -> None:
        """Let the agent think up to its next question, or to its moves."""
        self.question: Question | None = None
        try:
            self.question = self._thinking.send(scores)  # pyright: ignore[reportArgumentType]
        except StopIteration as end:
            moves, count = end.value, len(self.decisions)
            if getattr(moves, "dtype", None) != self.game.move or np.shape(moves) != (count,):
                raise CardaiError(f"agent {self.agent.spec!r} answers {count} decisions with {short(moves)}") from None
            self.moves = moves

    def send(self) -> None:
        """Send the question off. Raises CardaiError, which names agent and evaluator, if the evaluator fails."""
        assert self.question is not None
        self.rows += len(self.question.rows)
        self.batches += 1
        try:
            self._answer = self.question.evaluator.score(self.question.rows)
        except Exception as error:  # an evaluator is anybody's code
            raise self._failed(error) from error

    def receive(self) -> None:
        """Wait for the answer and let the agent go on: to another `question`, or to its `moves`.

        Raises CardaiError, which names the evaluator, unless the answer is a number in [0, 1] for each row.
        """
        self._go_on(self._scores())

    def _scores(self) -> np.ndarray:
        """The answer: f8[rows] in [0, 1]."""
        assert self.question is not None
        try:
            answer = np.asarray(self._answer)
            scores = answer.astype(np.float64)
        except Exception as error:  # an answer that is computed meanwhile fails when it is waited for
            raise self._failed(error) from error
        count = len(self.question.rows)
        if answer.shape != (count,):
            raise CardaiError(f"{self._who}: it answered {count} positions with an array of shape {answer.shape}")
        wrong = ~((scores >= 0.0) & (scores <= 1.0))
        if wrong.any():
            raise BadScore(self._who, scores[wrong][0])
        return scores

    @property
    def _who(self) -> str:
        assert self.question is not None
        return f"agent {self.agent.spec!r}, evaluator {self.question.evaluator.name}"

    def _failed(self, error: Exception) -> CardaiError:
        """What an exception inside an evaluator becomes."""
        if isinstance(error, CardaiError):
            return error
        return CardaiError(f"{self._who}: it raised {short(error, 300)}{place_of(error)}")

    def finish(self) -> np.ndarray:
        """Answer all further questions at once. Returns the moves, MOVE[n]."""
        while self.question is not None:
            self.send()
            self.receive()
        assert self.moves is not None
        return self.moves


@rule
def decide_each(rules, cast, states, streams, count, scratch, chosen):
    """Let a native player choose in each of `count` states.

    Returns (i, what `decide` returned) for the first state in which it does not, or (-1, 1).
    """
    for i in range(count):
        stream, move = at(streams, i), at(chosen, i)
        work = driver.decide(rules, cast, 0, at(states, i), cast.params, 0, True, scratch, stream, move)
        if work <= 0:
            return i, work
    return -1, 1


@rule
def seed_luck(bits, streams):
    """Seed a stream from each of u8[n] numbers."""
    for i in range(len(bits)):
        streams[i].rng = derived(bits[i], LUCK, 0)


def ask(game: Game, agent: Agent, worlds: np.ndarray, streams: np.ndarray) -> np.ndarray:
    """What an agent plays in STATE[n], each a world of the seat to move, with STREAM[n] as its luck: MOVE[n].

    All worlds are of one variant. It explores all along, if it explores. Raises CardaiError for an agent whose
    parameters are drawn anew for each game or whose moves somebody else makes, for one made for another game, for
    worlds and streams that are not of this game or do not fit each other, and NoLegalMove.
    """
    worlds = _asked(game, agent, worlds, streams, "worlds")
    agent = agent.at_table(game, worlds[:1])
    if agent.strategy.randomised:
        raise CardaiError(f"agent {agent.spec!r} draws its parameters anew for each game; name fixed ones")
    chosen = np.zeros(len(worlds), game.move)
    if not agent.strategy.is_native:
        return _think(game, agent, worlds, streams, are_worlds=True)[0]
    if len(worlds):
        for strategy in with_models([agent.strategy]):
            if isinstance(strategy, OnePly):
                strategy.check_network(game, int(worlds["seats"][0]))
    cast = cast_of(game, [agent.strategy])
    scratch = scratch_of(game, [agent.strategy])
    lent = lend(game.compiler.rules), lend(cast), raw(worlds), raw(streams), len(worlds), lend(scratch), raw(chosen)
    stuck, work = decide_each(*lent)
    if work < 0:
        raise NoNumber(agent)
    if stuck >= 0:
        check_listed(game, worlds[stuck])
        raise NoLegalMove(game, int(worlds["turn"][stuck]), int(stuck))
    return chosen


def moves_in(game: Game, agent: Agent, worlds: np.ndarray) -> np.ndarray:
    """`ask` for agents that are made of other agents: each world's own random stream decides the luck in it.

    So the same worlds get the same moves.
    """
    worlds = _states("worlds", is_game(game), worlds)
    streams = np.zeros(len(worlds), STREAM)
    seed_luck(np.ascontiguousarray(worlds["rng"]), streams)
    return ask(game, agent, worlds, streams)


def compare(
    game: Game, agent: Agent, states: np.ndarray, streams: np.ndarray
) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray]:
    """How an agent that searches one ply compares its moves in STATE[n], with STREAM[n] as its luck.

    Returns two things: for each state its moves, MOVE[k], with their mean scores, f8[k], and the moves that the agent
    plays, MOVE[n].
    """
    states = _asked(game, agent, states, streams, "states")
    agent = agent.at_table(game, states[:1])
    if not isinstance(agent.strategy, OnePly):
        raise BadArgument(f"agent {agent.spec!r} does not compare its moves: it searches no ply")
    moves, options = _think(game, agent, states, streams)
    return options, moves


def _states(what: str, game: Game, states: np.ndarray, moving: bool = True, size: int | None = None) -> np.ndarray:
    """A caller's states, STATE[n]. `moving`: somebody is to move in each. `size`: how many seats they must have."""
    found = check_states(what, states, game.state, game.name, game.seats, moving)
    if size is not None and len(found) and int(found["seats"][0]) != size:
        raise BadArgument(f"{what} are of tables of {int(found['seats'][0])} seats, not of {size}")
    return found


def _asked(game: Game, agent: Agent, states: np.ndarray, streams: np.ndarray, what: str) -> np.ndarray:
    """A caller's states, which an agent of this game is asked about, with a stream for each."""
    found = _states(what, is_game(game), states)
    check_written("streams", streams, STREAM, "random streams", len(found))
    check_kind("agent", agent, Agent, "what cardai.agent() returns")
    agent.check_game(game)
    return found


def _think(
    game: Game, agent: Agent, states: np.ndarray, streams: np.ndarray, are_worlds: bool = False
) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """The moves of an agent that thinks, and the options it compared in its first lookahead."""
    inquiry, places, moves = Inquiry(game, agent), np.arange(len(states)), []
    options: list[tuple[np.ndarray, np.ndarray]] = []
    while len(places):
        try:
            taken = inquiry.begin(pending_of(states, streams, places, places), are_worlds)
            moves.append(inquiry.finish())
        except (NoLegalMove, AgentFailed) as failure:
            failure.place += len(states) - len(places)
            raise
        for ahead in list(inquiry._lookaheads.values())[:1]:
            options += ahead.options()
        places = places[taken:]
    return np.concatenate([np.zeros(0, game.move), *moves]), options
