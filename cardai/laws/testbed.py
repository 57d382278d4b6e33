"""The testbed of the laws: games that were played in every variant and with every number of seats."""

import functools
import hashlib
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

import numpy as np

from cardai.errors import CardaiError
from cardai.game import CORE_FIELDS, Game, GameState, copies, int_seed
from cardai.laws.answers import asked
from cardai.laws.compiled import Compiled
from cardai.laws.evidence import facts, words
from cardai.laws.note import note_again, note_place, note_rule
from cardai.laws.places import WORD, CardKinds, Places, log_deals, unpacked
from cardai.laws.strata import SELDOM, Stratum, in_rounds, strata_of
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.agents.strategy import EvenlyRandom
from cardai.playing.table.many import Results, play
from cardai.rules import mixed

T = TypeVar("T")


class LawError(Exception):
    """A law is broken. The message says where and how."""


class Looked:
    """How far a law has come: it has looked at `done` of `total` things. `what` says which things, in the plural.

    It must look at no more once `enough` is set, and come to its conclusion. `least` are looked at however long that
    takes: one in LEAST if not given.
    """

    def __init__(self, total: int, what: str, least: int = 0) -> None:
        self.done, self.total, self.what, self.enough = 0, total, what, False
        self.least = min(total, least) or math.ceil(total / LEAST)


class Counted(Looked, Generic[T]):
    """Things that a law looks at one after another, until it has looked at enough."""

    def __init__(self, things: Iterable[T], what: str, least: int = 0) -> None:
        self.things = list(things)
        super().__init__(len(self.things), what, least)

    def __iter__(self) -> Iterator[T]:
        for thing in self.things:
            if self.enough:
                return
            yield thing
            self.done += 1


@dataclass(frozen=True)
class Effort:
    """How much to test. Counts are for each setup (a variant and a number of seats) unless a comment says otherwise."""

    games: int  # in all setups together, but at least three of each
    searched: int  # further games, in all setups together, from which only rare positions are taken
    positions: int  # of each game, for comparisons in compiled code
    texts: int  # positions of each game, for comparisons in Python
    worlds: int  # of each position and seat
    deals: int  # for what deals and worlds of them have in common
    even: int  # positions whose worlds are counted, in all setups together
    listed: int  # states looked at to list worlds before and after moves, in all setups together
    tallied: int  # positions whose listed worlds are drawn often, in all setups together
    dealt: int  # deals made to find those that look like a given one, for each seat
    told: int  # moves whose text for other seats is compared, in all setups together
    chances: int  # positions whose `chances` are compared with worlds, in all setups together; 256 worlds of each
    pooled_deals: int  # for counts of where cards lie, in all setups together
    pooled_views: int  # for the same later in the game, in all setups together; 256 worlds of each
    symmetry_games: int  # for the mean scores of seats, in all setups together
    plain_games: int  # replayed in plain Python, in all setups together
    named: int  # moves in the games of each agent that is offered, whose variants take turns; 2 games at least
    patience: float  # seconds in which plain Python may call one function of the game, in all; then it is left out
    plain_seconds: float  # in which plain Python may play, and again in which it may repeat games
    eventful: int  # positions of each game before moves that change much, for what every outcome shares
    seconds: float  # for all laws together


EFFORTS = {
    "quick": Effort(
        games=15, searched=100, positions=12, texts=3, worlds=4, deals=3000, even=60, listed=200_000, tallied=20,
        dealt=40_000, told=60, chances=120, pooled_deals=10_000, pooled_views=250, symmetry_games=4000, plain_games=2,
        named=400, patience=1.0, plain_seconds=4.0, eventful=2, seconds=25.0,
    ),
    "normal": Effort(
        games=48, searched=1000, positions=32, texts=6, worlds=8, deals=6000, even=90, listed=1_000_000, tallied=80,
        dealt=700_000, told=200, chances=240, pooled_deals=40_000, pooled_views=900, symmetry_games=12_000,
        plain_games=6, named=2000, patience=2.0, plain_seconds=4.0, eventful=3, seconds=46.0,
    ),
    "thorough": Effort(
        games=300, searched=5000, positions=100, texts=12, worlds=24, deals=30_000, even=200, listed=10_000_000,
        tallied=600, dealt=7_000_000, told=2000, chances=1000, pooled_deals=200_000, pooled_views=2000,
        symmetry_games=100_000, plain_games=20, named=10_000, patience=120.0, plain_seconds=math.inf,
        eventful=3, seconds=math.inf,
    ),
}  # fmt: skip

PYTHON_FUNCTIONS = (
    "show", "spell", "parse", "tell", "ending", "holdings", "zones", "picks", "chances", "cards_alike",
    "led_to", "rounds", "series",
)  # fmt: skip
LEAST = 100  # one in so many of the things that a law looks at is always looked at
STEERED_FROM = 500_000  # the number of the first seed of these games, beyond those of others
WANTED = 0.0, 1.0, 0.0, 0.5  # the scores to which games are steered, in turn
STEERED = 4  # as many times as many games of a setup are steered to rare ends as are played
RARE = 4  # one in so many positions, or one if there are fewer, is taken from the strata, each stratum in turn
STRETCH = 16  # plies in a row that are looked at together
RARE_FIRST = 60  # such stretches around rare positions, before all others
SWEPT = 100  # further games of which all plies are looked at
SCARCE = 20  # a stratum with fewer positions is searched for in further games
SEARCHED_AT_ONCE = 25
EVEN = 1e-6  # weights that differ by less than this share are equal
MOSTLY = 0.7  # the share of the cards that a hidden set shows sooner or later
EXAMPLES, SPREAD = 200, 200  # states from which the places of the cards are found: from anywhere, and by phases
WALKS, WALKED = 3, 60  # games of each setup, and moves of each, that are played with guards around the moves
MOVES_TRIED = 24  # moves of a position whose after-states are compared


@dataclass(frozen=True)
class Setup:
    """A variant and a number of seats."""

    variant: str
    seats: int

    def __str__(self) -> str:
        return f"variant {self.variant}, {self.seats} seats"


@dataclass(frozen=True, eq=False)
class Trace:
    """One game: `states`: STATE[plies + 1], `moves`: MOVE[plies], `scores`: f8[seats] as `table.many` gave them."""

    testbed: "Testbed"
    setup: Setup
    seed: int
    states: np.ndarray
    moves: np.ndarray
    scores: np.ndarray

    def sampled(self, count: int) -> list[int]:
        """At most `count` plies at which a seat is to move: the first, the last, and a drawn one in each equal part.

        Drawn, so that games of one length do not show the same plies again and again.
        """
        plies = len(self.moves)
        if plies <= count:
            return list(range(plies))
        parts = np.linspace(0, plies, max(1, count - 1))
        drawn = self.testbed.chance("sampled", self.setup, self.seed, count).uniform(parts[:-1], parts[1:])
        return sorted({0, plies - 1, *drawn.astype(int).tolist()})[-count:] if count else []

    @property
    def end(self) -> "Position":
        return Position(self, len(self.moves))


@dataclass(frozen=True)
class HiddenSets:
    """Cards beside the places: `size` sets in the numbers of a state from `column` on, or counts if `width` > 1."""

    column: int
    size: int
    width: int

    def could_hold(self, numbers: np.ndarray, copies: np.ndarray) -> bool:
        """Whether the numbers of states, i8[N, words], are sets or counts of cards of which there are `copies`."""
        own = numbers[:, self.column : self.column + self.size * self.width]
        fits = bool((own >= 0).all()) and (self.width > 1 or bool((own >> len(copies) == 0).all()))
        return fits and bool((self.counts(numbers, len(copies)) <= copies).all())

    def counts(self, numbers: np.ndarray, kinds: int) -> np.ndarray:
        """The number of cards of each kind, from the numbers of states, i8[N, words]: u1 or i8 [N, size, kinds]."""
        own = numbers[:, self.column : self.column + self.size * self.width]
        if self.width > 1:
            return own.reshape(len(own), self.size, self.width)
        return unpacked(own.ravel())[:, :kinds].reshape(len(own), self.size, kinds)


_roles: dict[int, str] = {}
"""What the functions of the game under test are called in notes, by `id`: "show", whatever name the game gave it."""


@dataclass(frozen=True, eq=False)
class Position:
    """A point in a game: before its move number `ply`."""

    trace: Trace
    ply: int

    @property
    def testbed(self) -> "Testbed":
        return self.trace.testbed

    @property
    def game(self) -> Game:
        return self.testbed.game

    @property
    def compiled(self) -> Compiled:
        return self.testbed.compiled

    @property
    def states(self) -> np.ndarray:
        """The true state as a block: STATE[1]."""
        self._note()
        return self.trace.states[self.ply : self.ply + 1]

    @property
    def state(self) -> GameState:
        return self.states[0]

    @property
    def move(self) -> np.ndarray:
        """The move that was played here: MOVE[1]."""
        return self.trace.moves[self.ply : self.ply + 1]

    @property
    def moves(self) -> np.ndarray:
        """The legal moves: MOVE[n]."""
        return self.compiled.moves(self.states)

    @property
    def is_truncated(self) -> bool:
        """Whether `legal` leaves moves out: which ones is a random choice, drawn from the state's random stream."""
        return bool(self.compiled.legal(self.states)[1][0] < 0)

    @property
    def turn(self) -> int:
        return int(self.state["turn"])

    @property
    def seats(self) -> range:
        return range(self.trace.setup.seats)

    @property
    def following(self) -> Self:
        """The position after the move that was played."""
        return replace(self, ply=self.ply + 1)

    @property
    def own(self) -> "View":
        return View(self.trace, self.ply, self.turn)

    @property
    def views(self) -> "list[View]":
        return [View(self.trace, self.ply, seat) for seat in self.seats]

    def chance(self, salt: str) -> np.random.Generator:
        """Returns a random generator for this position."""
        return self.testbed.chance(salt, self.trace.setup, self.trace.seed, self.ply)

    def some_moves(self) -> np.ndarray:
        """The move that was played and other legal moves, one of each kind if there is room: MOVE[at most MOVES_TRIED].

        Moves with the same first field are of a kind.
        """
        moves = self.moves
        picked = self.chance("moves").permutation(len(moves))
        kinds = moves[picked][next(iter(moves.dtype.names or ()))]
        is_first = np.zeros(len(moves), bool)
        is_first[np.unique(kinds, return_index=True)[1]] = True
        picked = np.concatenate([picked[is_first], picked[~is_first]])
        return np.concatenate([self.move, moves[np.sort(picked[: MOVES_TRIED - 1])]])

    def text(self, move: Any) -> str:
        """A move, or the only one of MOVE[1], for a problem's message."""
        return move_text(self.game, self.state, np.atleast_1d(move)[0])

    def counts(self, state: Any) -> np.ndarray:
        """The number of cards of each kind in each place, by `Table.holdings`: i8[places, kinds].

        Raises LawError if it raises or gives something else.
        """
        assert self.game.table.holdings is not None
        return self.in_range(self.testbed.deck.counted, self.ask(self.game.table.holdings, state))

    def weights(self, states: np.ndarray) -> np.ndarray:
        """How likely states are beside others that look the same to a seat, by `Game.weigh`: f8[N] with a mean of 1."""
        if self.game.rules.weight is not None:
            found = self.compiled.weights(states)
            if (wrong := ~(np.isfinite(found) & (found > 0))).any():
                value = found[np.argmax(wrong)]
                raise self.broken(f"weight gives {value} for a world; it must be a finite number above 0")
        elif self.testbed.has_copies:
            logarithms = log_deals(self.testbed.places[len(self.seats)].all_counts(states))
            found = np.exp(logarithms - logarithms.max(initial=-np.inf))
        else:
            found = np.ones(len(states))
        return found / found.mean() if len(found) else found

    def in_range(self, check: Callable[..., T], *arguments: Any) -> T:
        """Call a function that raises CardaiError for what the game gave. The error is reported here."""
        try:
            return check(*arguments)
        except CardaiError as error:
            raise self.broken(str(error)) from error

    def broken(self, what: str) -> LawError:
        return LawError(f"{self.trace.setup}, seed {self.trace.seed}, ply {self.ply}: {what}")

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call one of the game's Python functions. An exception in it breaks the law that is being tested."""
        self._note()
        note_rule(role := _roles.get(id(function)) or getattr(function, "__name__", "a function"))
        try:
            return asked(self.game, role, function, *arguments)
        except CardaiError as error:
            raise self.broken(str(error)) from error

    def _note(self) -> None:
        note_place(self.trace.setup, self.trace.seed, self.ply)


@dataclass(frozen=True, eq=False)
class View(Position):
    """A position and a seat that looks at it."""

    seat: int

    def worlds(self, count: int, seed: int | None = None) -> np.ndarray:
        """Worlds of the state for the seat: STATE[count]."""
        return self.compiled.worlds(self.states, self.seat, count, self.ply if seed is None else seed)

    def truth_and_worlds(self, count: int | None = None) -> np.ndarray:
        """The state, followed by worlds of it for the seat: STATE[1 + count], as many as the effort has if None."""
        return np.concatenate([self.states, self.worlds(count or self.testbed.effort.worlds)])

    def rows(self, states: np.ndarray) -> np.ndarray:
        """The rows of all encoders for the seat side by side: u8[N, width]."""
        return self.compiled.rows(states, self.seat)

    def words(self, states: np.ndarray, moves: np.ndarray) -> list[str]:
        """What the seat is told of moves, pair by pair. An exception in `tell` or `spell` is reported here."""
        words = [self.ask(self.game.told, state, move, self.seat) for state, move in zip(states, moves, strict=True)]
        for text in words:
            if not isinstance(text, str) or not text:
                raise self.broken(f"seat {self.seat} is told {text!r} of a move, not a text")
        return words


@dataclass(frozen=True, eq=False)
class Stretch:
    """At most STRETCH plies of a game in a row, as one seat sees them: compiled code looks at them all at once."""

    trace: Trace
    seat: int
    plies: range

    @property
    def compiled(self) -> Compiled:
        return self.trace.testbed.compiled

    @property
    def states(self) -> np.ndarray:
        """The true states: STATE[plies]."""
        note_place(self.trace.setup, self.trace.seed, self.plies.start)
        return self.trace.states[self.plies.start : self.plies.stop]

    def worlds(self) -> np.ndarray:
        """A world of each of the states for the seat: STATE[plies]."""
        return self.compiled.worlds_of_each(self.states, self.seat, self.plies.start)

    def view(self, place: int) -> View:
        """The view of the seat at one of these plies, the first of which is 0."""
        return View(self.trace, self.plies[place], self.seat)


class Testbed:
    """Games of every variant and number of seats, played when they are first needed. The seed decides all chance.

    `variants`: texts of the variants to play, instead of all that the game names.
    """

    def __init__(self, game: Game, seed: int, effort: Effort, variants: Sequence[str] | None = None) -> None:
        self.game, self.seed, self.effort = game, seed, effort
        self.has_all_variants = variants is None
        self.variants = {name: game.variant_options(name) for name in (game.variants if variants is None else variants)}
        self.setups = [Setup(variant, seats) for variant in self.variants for seats in game.seats]
        self.compiled = Compiled(game)
        self._walked: set[Setup] = set()
        self._further: list[Trace] = []  # SWEPT games that were searched for rare positions
        _roles.clear()
        _roles.update({id(game.get(role)): role for role in PYTHON_FUNCTIONS})

    def somewhere(self) -> str:
        """The place of a fault, for a message, if it is not known more exactly."""
        return f"a variant of {', '.join(self.variants)}, seats {self.game.seats}, seed {self.seed}, ply unknown"

    def anywhere(self) -> str:
        """What was looked at if a fault shows only in sums over games of all setups, for a message."""
        seats, variant = self.game.seats, next(iter(self.variants))
        return f"all variants, variant {variant} first, seats {seats}, seed {self.seed} and following"

    def wrong_scores(self, scores: np.ndarray) -> str | None:
        """What is wrong with the scores of a game, f8[seats], in words; None if they are as declared."""
        payoff, declared = self.game.payoff, self.game.score_sum(len(scores))
        own = payoff.of(scores)
        if not (np.isfinite(scores).all() and scores.min() >= 0.0 and scores.max() <= 1.0):
            return f"scores {own.tolist()} are not all in [{payoff.low:g}, {payoff.high:g}]"
        if declared is not None and not math.isclose(own.sum(), declared, abs_tol=1e-9 * (payoff.high - payoff.low)):
            return f"scores {own.tolist()} add up to {own.sum():g}, declared is {declared:g}"
        return None

    def seeds(self, setup: Setup, count: int, first: int = 0) -> np.ndarray:
        """The seeds of `count` games of a setup, from the number `first` on: u64[count]."""
        first += self.seed * 101_000_303 + self.setups.index(setup) * 1_000_003
        return int_seed(first) + np.arange(count, dtype=np.uint64)

    def chance(self, *salt: object) -> np.random.Generator:
        """Returns a random generator for the kit's own choices. The same seed and salt give the same generator."""
        digest = hashlib.blake2b(repr((self.seed, *map(str, salt))).encode(), digest_size=8).digest()
        return np.random.default_rng(int.from_bytes(digest))

    @functools.cached_property
    def agents(self) -> list[Agent]:
        """An evenly random agent, and then the game's own players."""
        evenly = Agent("evenly random", EvenlyRandom())
        return [evenly, *(agent(self.game, name) for name in self.game.agents.players)]

    def results(
        self, setup: Setup, lineups: np.ndarray, agents: Sequence[Agent], first: int = 0, **options: Any
    ) -> Results:
        """Play games of a setup, one for each line-up, from the seed number `first` on.

        Every move is verified and recorded. Raises LawError if a game cannot be played.
        """
        self._walk(setup)
        seeds = self.seeds(setup, len(lineups), first)
        note_place(setup, f"{seeds[0]} to {seeds[-1]}", "unknown")
        try:
            options = {"threads": 1, "record": True, "checked": True, "progress": lambda *_: note_again(), **options}
            return play(self.game, agents, lineups, seeds, variant=setup.variant, **options)
        except CardaiError as error:
            place = "" if "ply" in str(error) else f"seed {seeds[0]} to {seeds[-1]}, ply unknown, "
            raise LawError(f"{setup}, {place}{error}") from error

    def _walk(self, setup: Setup) -> None:
        """Play some random moves of a setup, once, with a guarded buffer: compiled loops give `legal` a bare one.

        Raises LawError if `legal` writes outside of it.
        """
        if setup in self._walked:
            return
        chance = self.chance("walk", setup)
        for seed in self.seeds(setup, WALKS).tolist():
            note_place(setup, seed, 0)
            state, ply = self.game.new(setup.seats, seed, setup.variant), 0
            while state["turn"] >= 0 and ply < WALKED:
                note_place(setup, seed, ply)
                note_rule("legal")
                try:
                    moves = self.game.moves(state)
                except CardaiError as error:
                    raise LawError(f"{setup}, seed {seed}, ply {ply}: {error}") from error
                if len(moves) == 0:
                    break
                state, ply = self.compiled.moved(copies(state), copies(chance.choice(moves)))[0], ply + 1
        self._walked.add(setup)

    def deals(self, setup: Setup, first: int, count: int) -> np.ndarray:
        """Freshly dealt states from the seeds first..first+count-1 of a setup: STATE[count]."""
        seeds = self.seeds(setup, count, first)
        note_place(setup, f"{seeds[0]} to {seeds[-1]}", 0)
        streams = np.array([mixed(seed) for seed in seeds], np.uint64)
        return self.compiled.dealt(self.game.options(setup.seats, setup.variant), streams)

    @functools.cached_property
    def traces(self) -> list[Trace]:
        """The games of all setups, a third of them evenly random, the rest by mixed line-ups."""
        return [
            trace
            for setup in self.setups
            for trace in self._played(setup, 0, self._lineups(setup, 0, self._games_each))
        ]

    @property
    def _games_each(self) -> int:
        return max(3, -(-self.effort.games // len(self.setups)))

    def random_games(self, setup: Setup, first: int, count: int) -> list[Trace]:
        """Games of a setup that evenly random players have played, from the seed number `first` on."""
        return self._played(setup, first, np.zeros((count, setup.seats), np.int64))

    def steered(self, setup: Setup, first: int, count: int) -> tuple[list[np.ndarray], np.ndarray]:
        """The lines, MOVE[plies] each, and scores, f8[count, seats], of games of a setup that are steered to rare ends.

        All seats do what brings the score of one of them, each in turn, as near as can be to 0, to 1, or to the middle.
        A line is empty if no end was found. The games are those from the seed number `first` on.
        """
        self._walk(setup)
        number, deals = np.arange(first, first + count), self.deals(setup, first, count)
        wanted = np.array(WANTED)[number // setup.seats % len(WANTED)]
        bits = int(self.chance("steered", setup, first).integers(2**62))
        ends, lines = self.compiled.steered(deals, number % setup.seats, wanted, bits)
        return lines, np.array([self.compiled.values(ends, seat) for seat in range(setup.seats)]).T

    @functools.cached_property
    def games_and_rare_ends(self) -> list[Callable[[], Trace | None]]:
        """What gives each of `traces`, and as many games of each setup that are played now, steered to rare ends."""
        played = [functools.partial(lambda trace: trace, trace) for trace in self.mixed(self.traces)]
        numbers = range(STEERED_FROM, STEERED_FROM + STEERED * self._games_each)
        steered = [functools.partial(self._steered, *game) for game in itertools.product(self.setups, numbers)]
        return [*played, *self.mixed(steered)]

    def _steered(self, setup: Setup, number: int) -> Trace | None:
        """A game that is steered to a rare end, or None if no end was found."""
        (moves,), scores = self.steered(setup, number, 1)
        states = self.compiled.trace(self.deals(setup, number, 1)[0], moves)
        return (
            Trace(self, setup, int(self.seeds(setup, 1, number)[0]), states, moves, scores[0]) if len(moves) else None
        )

    def _lineups(self, setup: Setup, first: int, count: int) -> np.ndarray:
        """Line-ups i64[count, seats] for games from the seed number `first` on, a third of them evenly random."""
        lineups = self.chance("line-ups", setup, first).integers(0, len(self.agents), (count, setup.seats))
        lineups[::3] = 0
        return lineups

    def _played(self, setup: Setup, first: int, lineups: np.ndarray, threads: int = 1) -> list[Trace]:
        """Play a game for each line-up, from the seed number `first` on. Returns those that have ended."""
        try:
            results = self.results(setup, lineups, self.agents, first, threads=threads)
        except LawError:  # faults of players are the subject of another law
            results = self.results(setup, 0 * lineups, self.agents, first, threads=threads)
        seeds = self.seeds(setup, len(lineups), first).tolist()
        if not results.finished.any():
            where = f"{setup}, seed {seeds[0]} to {seeds[-1]}, ply {self.game.max_plies}"
            raise LawError(f"{where}: no game has ended, so there is nothing to test")
        traces = []
        for i in np.flatnonzero(results.finished):
            dealt, moves = self.game.new(setup.seats, seeds[i], setup.variant), results.moves[i]
            assert moves is not None
            traces.append(Trace(self, setup, seeds[i], self.compiled.trace(dealt, moves), moves, results.scores[i]))
        return traces

    @functools.cached_property
    def _strata(self) -> dict[Stratum, list[Position]]:
        """Positions of each stratum, the rarest stratum first. Scarce ones are searched for in further games."""
        strata: defaultdict[Stratum, list[Position]] = defaultdict(list)
        for trace in self.traces:
            self._sort_in(strata, trace, {})
        first, count = self._games_each, -(-self.effort.searched // len(self.setups))
        for setup in self.setups:
            for start in range(first, first + count, SEARCHED_AT_ONCE):
                known = {name: len(positions) for name, positions in strata.items()}
                lineups = self._lineups(setup, start, min(SEARCHED_AT_ONCE, first + count - start))
                for trace in self._played(setup, start, lineups, threads=2):
                    self._sort_in(strata, trace, known)
                    self._further += [trace] if len(self._further) < SWEPT else []
        return dict(sorted(strata.items(), key=lambda item: (len(item[1]), item[0])))

    def _sort_in(self, strata: dict[Stratum, list[Position]], trace: Trace, known: dict[Stratum, int]) -> None:
        """Add positions of a game to the strata that are scarce: of which fewer than SCARCE positions are known."""
        sizes = np.zeros((len(trace.states), 0), np.int64)
        if self.game.table.holdings is not None and self.lists_places:
            sizes = self.places[trace.setup.seats].sizes(trace.states)
        for name, plies in strata_of(str(trace.setup), trace.states, sizes, self.numbers).items():
            if known.get(name, 0) < SCARCE:
                if known:  # two plies of a further game, so that what is scarce comes from many games
                    plies = plies[[0, -1]]
                strata[name] += [Position(trace, int(ply)) for ply in plies]

    @functools.cached_property
    def numbers(self) -> list[str]:
        """The game's fields of a state that hold a single number and are no option."""
        options = {name for options in self.game.variants.values() for name in options}
        names = [name for name in self.game.state.names or () if name not in CORE_FIELDS and name not in options]
        return [name for name in names if not self.game.state[name].shape]

    @functools.cached_property
    def small_numbers(self) -> list[str]:
        """Those of `numbers` that may be the number of a card or a suit, and are no secret."""
        found = self.numbers
        for seats in self.game.seats:
            states = self._examples(seats)
            worlds = self.compiled.worlds_of_each(states, 0, 0)
            found = [
                name
                for name in found
                if -1 <= states[name].min() <= states[name].max() < self.deck.kinds
                and (states[name] == worlds[name]).all()
            ]
        return found

    @functools.cached_property
    def hides_something(self) -> bool:
        """Whether something is hidden from a seat in this game: a world of it differs from the true state."""
        return any(
            (facts(states) != facts(self.compiled.worlds_of_each(states, seat, seat))).any()
            for states in map(self._examples, self.game.seats)
            for seat in range(int(states["seats"][0]))
        )

    @functools.cached_property
    def deck(self) -> CardKinds:
        """The kinds of card that the game has. It must have `holdings`."""
        names, copies = tuple(self.game.table.pieces), self.game.table.copies
        kinds = len(copies) or len(names) or max(map(self._highest_card, self.setups)) + 1
        names = names or tuple(f"card {card}" for card in range(kinds))
        return CardKinds(np.array(copies, np.int64) if copies else np.ones(kinds, np.int64), names, len(copies) > 0)

    def _highest_card(self, setup: Setup) -> int:
        """The highest card of the first deal of a setup, in a game that has sets of cards and no `pieces`."""
        here = next(Position(trace, 0) for trace in self.traces if trace.setup == setup)
        assert here.game.table.holdings is not None
        held = here.ask(here.game.table.holdings, here.state)
        cards = (
            [int(cards) for cards in held if isinstance(cards, int | np.integer)] if hasattr(held, "__iter__") else []
        )
        return max(cards, default=1).bit_length() - 1

    @property
    def has_copies(self) -> bool:
        return any(number > 1 for number in self.game.table.copies)

    @property
    def is_even(self) -> bool:
        """Whether states that look the same to a seat are equally likely."""
        return self.game.rules.weight is None and not self.has_copies

    @functools.cached_property
    def places(self) -> dict[int, Places]:
        """Where the cards lie, by number of seats. The game must have `holdings`.

        Beside examples from anywhere, all games show the same phases: a widow may hold cards at their first plies only.
        """
        places = {}
        for seats in self.game.seats:
            traces = [trace for trace in self.traces if trace.setup.seats == seats]
            phases = [trace.states[trace.sampled(2 + SPREAD // len(traces))] for trace in traces]
            examples = np.concatenate([self._examples(seats), *phases])
            places[seats] = Places(examples, traces[0].end.counts, self.deck)
        return places

    @functools.cached_property
    def lists_places(self) -> bool:
        """Whether `Table.holdings` gives what it should. If not, other laws say so; this one chooses positions."""
        try:
            return bool(self.places)
        except LawError:
            return False

    def _examples(self, seats: int) -> np.ndarray:
        """States of games with this number of seats: STATE[EXAMPLES]."""
        states = np.concatenate([trace.states for trace in self.traces if trace.setup.seats == seats])
        return states[self.chance("places", seats).integers(len(states), size=EXAMPLES)]

    @functools.cached_property
    def hidden_sets(self) -> dict[int, list[HiddenSets]]:
        """Hidden cards beside the places, such as those passed on, by number of seats.

        Each is a field of the state: a set or a count of each kind, one or one for each seat. It is told by what it
        holds: always cards of the game, in the end most of them, in a world other ones than in the state it is drawn
        from, but as many.
        """
        return {seats: list(self._hidden_sets(seats)) for seats in self.game.seats}

    def _hidden_sets(self, seats: int) -> Iterator[HiddenSets]:
        states, worlds = self._examples(seats), self._examples(seats)
        for seat in range(seats):
            worlds[seat::seats] = self.compiled.worlds_of_each(states[seat::seats], seat, seat)
        places, kinds = self.places[seats], self.deck.kinds
        for name, (kind, offset, *_) in (self.game.state.fields or {}).items():
            width, most = kinds if self.deck.are_counts else 1, max(self.game.seats)
            shape = kind.shape[:-1] if self.deck.are_counts and kind.shape[-1:] == (kinds,) else kind.shape
            is_field = self.deck.are_counts == (shape != kind.shape) and (self.deck.are_counts or kinds < WORD)
            found = HiddenSets(offset // 8, seats if shape else 1, width)
            if name in CORE_FIELDS or found.column in places.columns or not is_field:
                continue
            if len(shape) > 1 or (shape and shape[0] < most):
                continue
            if found.could_hold(words(np.concatenate([states, worlds])), self.deck.copies * places.seen):
                sets, others = (found.counts(words(block), kinds) for block in (states, worlds))
                spread = (sets.any(axis=(0, 1)) | others.any(axis=(0, 1))).sum()
                is_hidden = (sets.sum(axis=2) == others.sum(axis=2)).all() and (sets != others).any()
                if is_hidden and spread >= MOSTLY * places.seen.sum():
                    yield found

    def from_strata(self, count: int, salt: str) -> list[Position]:
        """Returns `count` positions in which a seat is to move, drawn from strata in rounds, but for SELDOM ones."""
        chance = self.chance("strata", salt)
        strata = {stratum: found for stratum, found in self._strata.items() if not stratum[0].startswith(SELDOM)}
        drawn = (strata[stratum] for stratum in itertools.islice(in_rounds(strata), count if strata else 0))
        return [positions[chance.integers(len(positions))] for positions in drawn]

    def of_stratum(self, stratum: Stratum, count: int) -> list[Position]:
        """Returns at most `count` different positions of one stratum, drawn at random."""
        positions = self._strata.get(stratum, [])
        order = self.chance("of stratum", stratum).permutation(len(positions))
        return [positions[i] for i in order[:count]]

    def of_kind(self, kind: str, count: int) -> list[Position]:
        """Returns at most `count` positions of the strata of a kind in turn, the rarest stratum first."""
        strata = [stratum for stratum in self._strata if stratum[0].partition(":")[0] == kind]
        found = [self.of_stratum(stratum, count) for stratum in strata]
        turns = itertools.zip_longest(*found)
        return [here for turn in turns for here in turn if here is not None][:count]

    def positions(self, count: int) -> Iterator[Position]:
        """Positions in which a seat is to move, on average at most `count` of each game.

        Three quarters are spread over the plies of each game, in an order drawn from the testbed's seed. The others are
        drawn from each stratum in turn, rare ones first; one of them comes after each of the former until all have.
        """
        rare = -(-count // RARE)
        spread = self.mixed([Position(trace, ply) for trace in self.traces for ply in trace.sampled(count - rare)])
        drawn = self.from_strata(rare * len(self.traces), f"positions {count}")
        for pair in itertools.zip_longest(drawn, spread):
            yield from (here for here in pair if here is not None)

    def stretches(self) -> list[Stretch]:
        """All plies of the games, and of SWEPT further ones, in stretches of every seat.

        The first RARE_FIRST are around positions drawn from each stratum in turn.
        """
        chance, found = self.chance("stretches"), []
        for here in self.from_strata(RARE_FIRST, "stretches"):
            first = max(0, min(here.ply - STRETCH // 2, len(here.trace.moves) - STRETCH))
            plies = range(first, min(first + STRETCH, len(here.trace.moves)))
            found.append(Stretch(here.trace, int(chance.integers(len(here.seats))), plies))
        for traces in (self.traces, self._further):
            found += self.mixed(
                [
                    Stretch(trace, seat, range(first, min(first + STRETCH, len(trace.moves))))
                    for trace in traces
                    for first in range(0, len(trace.moves), STRETCH)
                    for seat in range(trace.setup.seats)
                ]
            )
        return found

    def with_ends(self) -> list[Position]:
        """Positions for comparisons in Python, the ends of all games among them."""
        return self.mixed([*self.positions(self.effort.texts), *(trace.end for trace in self.traces)])

    def mixed(self, things: Sequence[T]) -> list[T]:
        """Things in an order drawn from the testbed's seed, so that the first of them are of all kinds."""
        return [things[i] for i in self.chance("mixed", len(things)).permutation(len(things))]

    def views(self, count: int) -> Iterator[View]:
        """These positions as every seat sees them."""
        for here in self.positions(count):
            yield from here.views

    def chosen(self, count: int, salt: str) -> list[View]:
        """Returns `count` positions drawn from all games, each as a drawn seat sees it.

        In every second one all plies of a game are equally likely. The others are drawn from each stratum in turn.
        """
        chance = self.chance(salt)
        found = [here.views[chance.integers(len(here.seats))] for here in self.from_strata(count // 2, salt)]
        for picked in (self.traces[i] for i in chance.integers(len(self.traces), size=count - len(found))):
            if len(picked.moves):
                here = Position(picked, int(chance.integers(len(picked.moves))))
                found.append(here.views[chance.integers(len(here.seats))])
        return [found[i] for i in chance.permutation(len(found))]


def written(game: Game, moves: np.ndarray) -> np.ndarray:
    """Moves as whole numbers, one column for each field: i64[N, fields]."""
    return np.ascontiguousarray(moves).view(np.int64).reshape(len(moves), len(game.move.names or ()))


def move_text(game: Game, state: GameState, move: Any) -> str:
    """A move for a problem's message: its fields, and its spelling unless `spell` raises."""
    fields = ", ".join(f"{name}={int(move[name])}" for name in game.move.names or ())
    try:
        return f"{game.text.spell(state, move)!r} ({fields})"
    except Exception:  # another law tests spelling; the fields are enough here
        return f"({fields})"
