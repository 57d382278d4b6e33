"""Recorded games are replayed by a recipe: the states it asks for become packed rows and labels.

The loops here are compiled. `Replayer` is their Python side; it works through one chunk of games at a time.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardai.errors import CardaiError
from cardai.game import Game, int_seed
from cardai.game.compiled import native
from cardai.game.compiled.chance import TEACHING, derived
from cardai.game.compiled.native import (
    at,
    begin_ply,
    below_of,
    call_act,
    call_encode,
    call_score,
    call_settle,
    clear_row,
    copy,
    get,
    get_float,
    seed_stream,
    set,
    set_float,
    turn_of,
)
from cardai.game.compiled.rules import ACT, SCORE, SETTLE, goes_on, lend
from cardai.playing.agents.spec import Agent, agent, explores_until
from cardai.playing.agents.strategy import WorldSearch
from cardai.playing.compiled.driver import exploring_plies
from cardai.playing.compiled.replay import AFTER, BEFORE, SETTLED, Replay, replay_game
from cardai.playing.compiled.search import compare_in_worlds
from cardai.playing.stats.measure import label_of
from cardai.playing.table.cast import cast_of, scratch_of
from cardai.playing.table.complaints import NoNumber
from cardai.records import record
from cardai.records.packed import Packed, pack
from cardai.records.recipe import Recipe
from cardai.records.record import Header, RecordedGame
from cardai.rules import STREAM, mixed, rule

_DRAWS = 0x5E1EC7ED  # keeps the draws of a recipe apart from other draws that a game's seed decides
_NO_LIMIT = 2**62


class Chunk(NamedTuple):
    """Some games of one file, replayed together. `share`: how much of all files has been read then, 0 to 1."""

    path: Path | str  # empty for games in memory
    agents: tuple[str, ...]
    games: list[RecordedGame]
    share: float


class Harvest(NamedTuple):
    """The R rows that a chunk of games gave."""

    chunk: Chunk
    rows: Packed
    labels: np.ndarray  # f4[R]
    games: np.ndarray  # i8[R]: the place of each row's game in the chunk
    available: int  # the number of states before `per_game` and `balance` left some out


class ReplayOptions(NamedTuple):
    """A recipe in the form that compiled code takes."""

    seats: int
    drawn: bool
    choices: bool
    balanced: bool
    steady: bool
    per_game: int  # at least 1
    outcomes: int  # how many outcomes the label is made of
    rewards: int  # how many rewards the label is made of
    waiting: int  # a bit for each of these that waits for the seat's next move


class ReplayJob(NamedTuple):
    """G games to be replayed, P plies in all, L in the longest, and the rows of their chosen states."""

    total: int
    key: Any  # u8[1]: mixed into the seeds of the recipe's draws
    seeds: Any  # u8[G]
    ends: Any  # i64[G]: where the moves of game g end
    scores: Any  # f8[G, seats]
    rules: Any  # i64[outcomes + rewards]: those of the label
    values: Any  # f8[G, outcomes, seats]
    wanted: Any  # i64[G]: a bit for each seat whose states are wanted
    untils: Any  # i64[G, seats]: `until` of each seat's agent, -1 if it has none
    limits: Any  # i64[seats]: the ply from which on each seat no longer explores
    latest: Any  # i64[seats]: the ply of the seat's last state, if it was exploring then, else -1
    marks: Any  # i64[L]: 1 for the plies whose state becomes a row; 2 for those still to be drawn
    streams: Any  # STREAM[1]
    available: Any  # i64[1]: see Harvest
    rows: Any  # u8[P, width]
    labels: Any  # f8[P]: a teacher's means
    gains: Any  # f8[P, rewards]: what the moves to the chosen states brought
    settled: Any  # STATE[1]: working space
    next: Any  # STATE[1]: the same
    row_game: Any  # i64[P]
    row_seat: Any  # i64[P]


@rule
def ends_as_recorded(rules, options, job, replay, game):
    """Whether the replayed game is over, with the recorded scores."""
    state = at(replay.states, 0)
    if turn_of(state) >= 0:
        return False
    for seat in range(options.seats):
        if call_score(get(rules.calls, SCORE), state, seat) != get_float(job.scores, game * options.seats + seat):
            return False
    return True


@rule
def mark_wanted(options, job, replay, game, plies):
    """Mark the plies of a replayed game with 1 if the recipe asks for their state, else with 0."""
    for seat in range(options.seats):
        until = get(job.untils, game * options.seats + seat)
        set(job.limits, seat, exploring_plies(until, get(job.seeds, game)) if until >= 0 else 0)
        set(job.latest, seat, -1)
    for ply in range(plies):
        seat, state = get(replay.seats, ply), at(replay.states, 1 + ply)
        wanted = (get(job.wanted, game) >> seat) & 1 != 0
        if options.choices:
            wanted = wanted and get(replay.choices, ply) > 1
        if options.drawn:
            wanted = wanted and turn_of(state) >= 0 and not goes_on(state, seat)
        explores = options.steady and ply < get(job.limits, seat)
        if explores and get(job.latest, seat) >= 0:
            set(job.marks, get(job.latest, seat), 0)
            set(job.latest, seat, -1)
        set(job.marks, ply, 1 if wanted else 0)
        if wanted:
            set(job.latest, seat, ply if explores else -1)


@rule
def thin(marks, count, mark, marked, most, stream):
    """Of the `marked` places among `count` that have this mark, keep at most `most`, drawn evenly, with the mark 1."""
    wanted = min(most, marked)
    for i in range(count):
        if get(marks, i) == mark:
            is_taken = below_of(stream, marked) < wanted
            set(marks, i, 1 if is_taken else 0)
            wanted -= is_taken
            marked -= 1


@rule
def mark_drawn(options, job, replay, game, plies):
    """Of the marked plies of a game, leave those that the recipe's `balance` and `per_game` draw."""
    stream, lowest, lost = at(job.streams, 0), 1.0, 0
    seed_stream(stream, mixed(np.uint64(get(job.seeds, game)) ^ np.uint64(get(job.key, 0))))
    for seat in range(options.seats):
        lowest = min(lowest, get_float(job.scores, game * options.seats + seat))
    others = 0
    for ply in range(plies):
        if get(job.marks, ply) == 1:
            is_lost = get_float(job.scores, game * options.seats + get(replay.seats, ply)) == lowest
            set(job.marks, ply, 1 if is_lost or not options.balanced else 2)
            lost += is_lost
            others += not is_lost
    set(job.available, 0, get(job.available, 0) + lost + others)
    if options.balanced:
        thin(job.marks, plies, 2, others, lost, stream)
    chosen = 0
    for ply in range(plies):
        chosen += get(job.marks, ply)
    thin(job.marks, plies, 1, chosen, options.per_game, stream)


@rule
def replay_and_mark(rules, options, job, replay, game, first, end):
    """Replay a game, note its outcome and mark the plies that the recipe takes. Returns False for an unsound record."""
    plies = end - first
    played = replay_game(rules, replay, get(job.seeds, game), first, end)
    if played < plies or not ends_as_recorded(rules, options, job, replay, game):
        return False
    for i in range(options.outcomes):
        for seat in range(options.seats):
            value = call_score(get(job.rules, i), at(replay.states, 0), seat)
            set_float(job.values, (game * options.outcomes + i) * options.seats + seat, value)
    mark_wanted(options, job, replay, game, plies)
    mark_drawn(options, job, replay, game, plies)
    return True


@rule
def teach(rules, cast, encode, job, replay, game, ply, rows, scratch):
    """Have the teacher search a decision of a replayed game. Its moves become rows from `rows` on, its means labels.

    Returns the new number of rows, or -1 if a network's score is not a number.
    """
    state, stream, space = at(replay.states, 1 + ply), at(job.streams, 0), scratch.search
    seat, after = turn_of(state), at(space.world, 0)
    seed_stream(stream, derived(get(job.seeds, game), TEACHING, ply))
    n, work = compare_in_worlds(rules, cast, 0, state, scratch, stream)
    if work < 0:
        return -1
    for i in range(n if n > 1 else 0):
        copy(after, state, rules.state_size)
        begin_ply(after)
        call_act(get(rules.calls, ACT), after, at(space.moves, i))
        clear_row(job.rows, rows)
        call_encode(encode, after, seat, job.rows, rows)
        set_float(job.labels, rows, get_float(space.totals, i) / get(space.counts, i))
        set(job.row_game, rows, game)
        set(job.row_seat, rows, seat)
        rows += 1
    return rows


@rule
def harvest_taught(rules, cast, encode, options, job, replay, scratch):
    """As `harvest`, with the teacher's means as labels. Returns -1 - G if a network's score is not a number."""
    first, rows = 0, 0
    for game in range(job.total):
        end = get(job.ends, game)
        if not replay_and_mark(rules, options, job, replay, game, first, end):
            return -1 - game
        for ply in range(end - first):
            if get(job.marks, ply) == 1:
                rows = teach(rules, cast, encode, job, replay, game, ply, rows, scratch)
                if rows < 0:
                    return -1 - job.total
        first = end
    return rows


@rule
def harvest(rules, encode, options, job, replay):
    """Replay all games of a job and encode the chosen states. Returns the number of rows, or -1 - g if game g fails.

    A game fails if one of its moves is illegal or if it does not end with the recorded scores.
    """
    first, rows = 0, 0
    for game in range(job.total):
        end = get(job.ends, game)
        if not replay_and_mark(rules, options, job, replay, game, first, end):
            return -1 - game
        for ply in range(end - first):
            if get(job.marks, ply) == 1:
                seat = get(replay.seats, ply)
                clear_row(job.rows, rows)
                call_encode(encode, at(replay.states, 1 + ply), seat, job.rows, rows)
                note_gains(rules, options, job, replay, ply, end - first, rows)
                set(job.row_game, rows, game)
                set(job.row_seat, rows, seat)
                rows += 1
        first = end
    return rows


@rule
def note_gains(rules, options, job, replay, ply, plies, row):
    """Note the rewards of the move of this ply, which the recipe takes. The game has `plies` of them."""
    if options.rewards == 0:
        return
    seat, settled, later = get(replay.seats, ply), at(job.settled, 0), at(job.next, 0)
    settled_after(rules, options, replay, ply, settled)
    if options.waiting != 0:
        copy(later, at(replay.states, 0), rules.state_size)
        for i in range(ply + 1, plies):
            if get(replay.seats, i) == seat:
                settled_after(rules, options, replay, i - 1, later)
                break
    for i in range(options.rewards):
        state = later if (options.waiting >> i) & 1 != 0 else settled
        set_float(job.gains, row * options.rewards + i, call_score(get(job.rules, options.outcomes + i), state, seat))


@rule
def settled_after(rules, options, replay, ply, state):
    """Write the settled state after a ply of a replayed game. With after-states it is made of the one written out."""
    copy(state, at(replay.states, 1 + ply), rules.state_size)
    if not options.drawn:
        call_settle(get(rules.calls, SETTLE), state)


class Replayer:
    """Replays chunks of games by a recipe. Threads may share it."""

    def __init__(self, game: Game, header: Header, recipe: Recipe, seed: int) -> None:
        self.game, self.recipe, self.seats = game, recipe, header.seats
        encoder = game.encoder(recipe.encoder)
        self.width = encoder.width(self.seats)
        self._encode = game.compiler.entry("encode", encoder.encode)
        recipe.check_label(game)
        self._outcomes = [name for name in recipe.terms if name in game.learning.outcomes]
        self._rewards = [name for name in recipe.terms if name in game.learning.rewards]
        rated = [game.learning.outcomes[name] for name in self._outcomes] + [
            game.learning.rewards[name] for name in self._rewards
        ]
        self._rated = native.addresses([*(game.compiler.entry("outcome", outcome.rule) for outcome in rated), 0])
        self._rules = game.compiler.rules
        self._key = np.array([mixed(int_seed(seed ^ _DRAWS))], np.uint64)
        self._options = ReplayOptions(
            self.seats,
            recipe.moment == "drawn",
            recipe.states == "choices" or bool(recipe.teacher),
            recipe.balance == "loser",
            recipe.steady,
            recipe.per_game or _NO_LIMIT,
            len(self._outcomes),
            len(self._rewards),
            sum(1 << i for i, name in enumerate(self._rewards) if game.learning.rewards[name].waits),
        )
        self._teacher = _teacher(game, recipe.teacher, header.variant, self.seats) if recipe.teacher else None

    def __call__(self, chunk: Chunk) -> Harvest:
        game, games = self.game, chunk.games
        lengths = [len(recorded.moves) for recorded in games]
        room = 1 + (sum(lengths) if self._teacher is None else self._most_taught(lengths))
        scores = np.array([recorded.scores for recorded in games])
        moment = BEFORE if self._teacher else SETTLED if self._options.drawn else AFTER
        replay = record.replay_space(game, games, moment, self._options.choices)
        job = ReplayJob(
            total=len(games),
            key=self._key,
            seeds=np.array([recorded.seed % 2**64 for recorded in games], np.uint64),
            ends=np.cumsum(lengths),
            scores=scores,
            rules=self._rated,
            values=np.zeros((len(games), len(self._outcomes), self.seats)),
            wanted=np.array([self._wanted(chunk, recorded) for recorded in games], np.int64),
            untils=self._untils(chunk),
            limits=np.zeros(self.seats, np.int64),
            latest=np.zeros(self.seats, np.int64),
            marks=np.zeros(max(lengths) + 1, np.int64),
            streams=np.zeros(1, STREAM),
            available=np.zeros(1, np.int64),
            rows=np.empty((room, self.width), np.uint8),
            labels=np.empty(room if self._teacher else 1),
            gains=np.empty((room, len(self._rewards))),
            settled=np.zeros(1, game.state),
            next=np.zeros(1, game.state),
            row_game=np.empty(room, np.int64),
            row_seat=np.empty(room, np.int64),
        )
        count = self._harvest(job, replay)
        if count < -len(games):
            assert self._teacher is not None
            raise NoNumber(Agent(self.recipe.teacher, self._teacher))
        if count < 0:
            raise _error(game, chunk, games[-1 - count])
        row_game, row_seat = job.row_game[:count], job.row_seat[:count]
        labels = job.labels[:count] if self._teacher else self._labels(chunk, job, row_game, row_seat)
        return Harvest(chunk, pack(job.rows[:count]), labels.astype(np.float32), row_game, int(job.available[0]))

    def _labels(self, chunk: Chunk, job: ReplayJob, row_game: np.ndarray, row_seat: np.ndarray) -> np.ndarray:
        """The label of each row, f8[R]. Raises CardaiError for an outcome or a reward out of its range."""
        labels = np.zeros(len(row_game))
        for name, weight in self.recipe.terms.items():
            if name in self.game.learning.rewards:
                term = self._gains(chunk, job, name, row_game, row_seat)
            elif name in self.game.learning.outcomes:
                term = self._ends(chunk, job, name)[row_game, row_seat]
            else:
                term = label_of(self.game.payoff, name, job.scores)[row_game, row_seat]
            labels += weight * term
        return labels

    def _ends(self, chunk: Chunk, job: ReplayJob, name: str) -> np.ndarray:
        """An outcome of each game as a label, f8[G, seats]."""
        values = job.values[:, self._outcomes.index(name)]
        for recorded, own in zip(chunk.games, values, strict=True):
            self.game.check_outcome(name, own, f" in {_where(chunk, recorded)}")
        return self.game.learning.outcomes[name].as_label(values)

    def _gains(self, chunk: Chunk, job: ReplayJob, name: str, row_game: np.ndarray, row_seat: np.ndarray) -> np.ndarray:
        """A reward of each row as a label, f8[R]."""
        reward, values = self.game.learning.rewards[name], job.gains[: len(row_game), self._rewards.index(name)]
        wrong = np.flatnonzero(~reward.contains(values))
        if len(wrong):
            where = _where(chunk, chunk.games[row_game[wrong[0]]])
            raise CardaiError(
                f"{self.game.name}: the reward {name} is {values[wrong[0]]:g} for seat {row_seat[wrong[0]]} in {where};"
                f" its range is {reward.low:g} to {reward.high:g}"
            )
        return reward.as_label(values)

    def _harvest(self, job: ReplayJob, replay: Replay) -> int:
        """What the compiled loop returns for a job."""
        lent = self._encode, self._options, lend(job), lend(replay)
        if self._teacher is None:
            return int(harvest(lend(self._rules), *lent))
        cast = cast_of(self.game, [self._teacher])
        scratch = scratch_of(self.game, [self._teacher])
        return int(harvest_taught(lend(self._rules), lend(cast), *lent, lend(scratch)))

    def _most_taught(self, lengths: list[int]) -> int:
        """The largest number of rows that the teacher's moves can make."""
        assert self._teacher is not None
        most = self._teacher.most or self.game.max_moves
        return sum(most * min(length, self._options.per_game) for length in lengths)

    def _untils(self, chunk: Chunk) -> np.ndarray:
        """Returns `until` of each seat's agent, i64[G, seats], or -1 everywhere unless the recipe is `steady`."""
        untils = np.array([explores_until(spec) if self.recipe.steady else -1 for spec in chunk.agents], np.int64)
        return untils[np.array([recorded.lineup for recorded in chunk.games])]

    def _wanted(self, chunk: Chunk, recorded: RecordedGame) -> int:
        """A bit for each seat of a game whose states are wanted."""
        if not self.recipe.agents:
            return (1 << self.seats) - 1
        agents = [chunk.agents[place] for place in recorded.lineup]
        return sum(1 << seat for seat, spec in enumerate(agents) if spec.startswith(self.recipe.agents))


def _teacher(game: Game, spec: str, variant: str, seats: int) -> WorldSearch:
    """The strategy of a teacher. Raises CardaiError unless it is a search over worlds that compiled code plays."""
    found = agent(game, spec)
    found.check_fits(game, variant, seats)
    strategy = found.strategy.at_table(game, game.options(seats, variant))
    if not isinstance(strategy, WorldSearch) or not strategy.is_native:
        raise CardaiError(
            f"teacher {spec!r} must search over worlds in compiled code, by a number of worlds, as ahead:best?worlds=2"
        )
    if strategy.turns >= 0 and strategy.evaluator is None:
        raise CardaiError(f"teacher {spec!r}: the values of a heuristic are no scores; name a model, or a rollout")
    return strategy


def _error(game: Game, chunk: Chunk, recorded: RecordedGame) -> CardaiError:
    """The error for a game that compiled code refused: it says where the game is and what is wrong with it."""
    try:
        record.replay(game, recorded)
    except CardaiError as error:
        return CardaiError(f"{_where(chunk, recorded)}: {error}")
    raise AssertionError("compiled code refused a game that replays")


def _where(chunk: Chunk, recorded: RecordedGame) -> str:
    """Where a game is, for messages."""
    return f"{f'{chunk.path}, ' if chunk.path else ''}game {recorded.number} (seed {recorded.seed})"
