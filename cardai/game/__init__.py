"""The contract between a game and cardai: what a game must define, and the functions that callers use to play it.

A game is one value, `GAME = Game(name="tictactoe", ...)`. Its rules are functions marked `@rule`, which read and write
two kinds of record: a *state* (`state_dtype`) and a *move* (`move_dtype`). `docs/contract.md` explains the contract,
and `cardai check` tests that a game keeps it.
"""

import functools
import hashlib
import itertools
import keyword
import math
import pkgutil
import re
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cardai.cards import SYMBOLS
from cardai.errors import BadArgument, CardaiError, IllegalMove, place_of_function, short, unknown, whole
from cardai.kernel import native, refusal, together
from cardai.kernel.chance import WORLD, derived
from cardai.kernel.composed import in_shares, where_it_applies
from cardai.kernel.doors import check_kind, check_seat, check_seed, check_state, check_states, check_text
from cardai.kernel.fence import Fenced, fenced, forget
from cardai.kernel.native import ROLES, raw
from cardai.kernel.query import divided, options_of
from cardai.kernel.rules import (
    SCORE,
    Rules,
    door_deal,
    door_encode,
    door_legal,
    door_move,
    door_resample,
    door_value,
    door_weight,
    lend,
)
from cardai.rule import STREAM, elsewhere, shuffle

CORE_FIELDS = native.HEADER

_CALLS, _OTHERS = tuple(ROLES)[:8], tuple(ROLES)[8:]  # the roles in `Rules.calls`, and those of `Game.entry`
_COMPILING = threading.RLock()  # held while a rule is compiled, so that it is compiled once


_EXAMPLES = 4  # moves in the sentence for a text that is none
_OF_STATES: "weakref.WeakValueDictionary[int, Game]" = weakref.WeakValueDictionary()
"""The games of this process by the `id` of their `state_dtype`."""
_REPR = 300  # characters of a state's repr, at most


class GameState(np.record):  # pyright: ignore[reportIncompatibleVariableOverride]: NumPy types its `__module__`
    """A game's state: one record of its `state_dtype`, whose first fields are the core's."""

    def __repr__(self) -> str:
        """Return the names and values of the fields that are not 0, cut to 300 characters."""
        shown = [name for name in self.dtype.names or () if name == "turn" or np.any(self[name])]
        return short(_Fields(", ".join(f"{name}={np.asarray(self[name]).tolist()}" for name in shown)), _REPR)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the table as the seat to move sees it."""
        return pkgutil.resolve_name("cardai.show.html:state")(self)


class _Fields(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return f"GameState({self})"


def state_dtype(**fields: int | tuple[int, ...]) -> np.dtype:
    """The record type of a game's states: the core's fields, then the game's fields, int64 of the given shapes.

    The core's fields are:
    - `seats`: the number of seats;
    - `turn`: the seat to move, -1 when the game is over; set by the game;
    - `ply`: moves played so far; set by the core;
    - `revealed`: the set of seats (bit `1 << seat`) to whom the last move showed a hidden card; set by the game;
    - `midway`: 1 while the seat to move is in the middle of a decision; set by the game;
    - `rng`: the random stream for all chance in the game (uint64); set by the core.

    The core clears `revealed` and `midway` before each move. Raises CardaiError for a field with the name of a core
    field or of an attribute of NumPy records (`size`, `round`), and for a shape that is not of whole numbers from 1.
    """
    for name, shape in fields.items():
        _refuse_name("state_dtype", name)
        if name in CORE_FIELDS:
            raise CardaiError(f"state_dtype: the core already has a field {name!r}")
        _refuse_shape(name, shape)
    core = [(name, "u8" if name == "rng" else "i8") for name in CORE_FIELDS]
    return np.dtype((GameState, core + [(name, "i8", shape) for name, shape in fields.items()]))


def move_dtype(*fields: str) -> np.dtype:
    """The record type of a game's moves: int64 fields. Canonical order compares the first field, then the next.

    Raises CardaiError for a field that is named twice or like an attribute of NumPy records (`size`, `round`).
    """
    for i, name in enumerate(fields):
        _refuse_name("move_dtype", name)
        if name in fields[:i]:
            raise CardaiError(f"move_dtype: the field {name!r} is named twice")
    return np.dtype((np.record, [(name, "i8") for name in fields]))


def _refuse_name(function: str, name: object) -> None:
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise CardaiError(f"{function}: {short(name)} cannot be the name of a field; a rule could not write state.name")
    if hasattr(GameState, name):
        raise CardaiError(
            f"{function}: a field cannot be named {name!r}, since NumPy records have an attribute of that name, which"
            f" plain Python (CARDAI_JIT=0) would use instead; {name}_ would do"
        )


def _refuse_shape(name: str, shape: object) -> None:
    sizes = shape if isinstance(shape, tuple) else (shape,)
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
            allowed = "a whole number from 1, or a tuple of them; () is a single number"
            raise CardaiError(f"state_dtype: the shape of {name!r} is {short(shape)}; it must be {allowed}")


@dataclass(frozen=True)
class Segment:
    """A named part of an encoding, of shape () for a value, (n,) for a list, (h, w) for a board or ranks x suits."""

    name: str
    shape: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """The number of values."""
        return int(np.prod(self.shape, dtype=int))


MOST_SUITS = 6
"""Suits that may exchange names: they have 720 orders."""


@dataclass(frozen=True)
class PerspectiveEncoder:
    """A seat's view of a state as numbers.

    `layout(seats)` returns the segments in order. The rule `encode(state, seat, row)` fills `row`, u8[width], which
    holds zeros before. It may use only what `seat` may know; `cardai check` tests that. `by_suit(segment)` says which
    segments have a value for each suit along their last axis, in a game whose rules do not tell the names of the suits
    apart; None if it has no suits, or the encoder no names of them.
    """

    layout: Callable[[int], Sequence[Segment]]
    encode: Callable[..., None]
    by_suit: Callable[[Segment], bool] | None = None

    def width(self, seats: int) -> int:
        """The number of values for a table of `seats`, a whole number from 1 to 64. Else it raises CardaiError."""
        whole("seats", seats, 1, 64)
        segments = self.layout(seats)
        if not isinstance(segments, Sequence) or not all(isinstance(segment, Segment) for segment in segments):
            where = place_of_function(self.layout)
            raise CardaiError(f"layout returns {short(segments)}; it must return a tuple of Segment{where}")
        return sum(segment.size for segment in segments)

    def renamings(self, seats: int) -> np.ndarray:
        """The orders of a row's values in which suits have each other's names: i64[k, width], k = 24 for 4 suits.

        The first is the row's own; the first 4 give each suit each name once. Raises CardaiError if the encoder does
        not name suits.
        """
        width, places, first = self.width(seats), [], 0
        for segment in self.layout(seats):
            if self.by_suit is not None and self.by_suit(segment):
                places.append(np.arange(first, first + segment.size).reshape(-1, *segment.shape[-1:]))
            first += segment.size
        suits, found = places[0].shape[-1] if places else 0, []
        if not 2 <= suits <= MOST_SUITS or any(part.shape[1:] != (suits,) for part in places):
            shapes = ", ".join(str(part.shape[1:]) for part in places) or "none"
            raise CardaiError(
                f"by_suit must choose segments that end in the same 2 to {MOST_SUITS} suits, not {shapes}"
            )
        for others in itertools.permutations(range(1, suits)):
            for turned in range(suits):
                names, order = np.roll((0, *others), turned), np.arange(width)
                for part in places:
                    order[part] = part[:, names]
                found.append(order)
        return np.array(found)


@dataclass(frozen=True)
class Player:
    """A game's hand-written player: the rule `choose(world, move, params, stream)` fills `move` for seat `world.turn`.

    `world` is a copy of the state in which everything that the seat cannot know is dealt anew (a determinization).
    `params`: f8[len(defaults)], the parameters in the order of `defaults`, which maps names to default values. One
    whose default is an int is a count, such as 3 cards: a whole number from 1, also where it is drawn at random.

    A player that looks at nothing hidden is declared with `sees="own"`. It gets a copy in which the game's rule `blank`
    has written over everything hidden, which is faster; `cardai check` tests that it plays as it does in every world.
    Raises CardaiError unless `sees` is "world" or "own".
    """

    choose: Callable[..., None]
    about: str
    defaults: Mapping[str, float] = field(default_factory=dict)
    sees: str = "world"

    def __post_init__(self) -> None:
        for name, value in self.defaults.items():
            if isinstance(value, int):
                whole(f"defaults: {name}", value, 1)
        if self.sees not in ("world", "own"):
            raise CardaiError(f'a player sees "world" or "own", not {short(self.sees)}')


@dataclass(frozen=True)
class Payoff:
    """What the end of a game is worth, in the game's own unit: the rule `score` gives a number from `low` to `high`.

    The core brings it into [0, 1], where it is called a score; people read it in the unit. From 0 to 1, the default, it
    is a share, which tables show in percent; its `unit` says of what: "the chance to win". Else `unit` names what is
    counted: "chips". `whole(state) -> (float, str)`: what `high - low` is for people who read what a move cost, and of
    what, if that depends on the options of the state: (26.0, "points").
    Raises CardaiError unless `low` < `high`, both finite, and for another range than 0 to 1 without a unit.
    """

    low: float = 0.0
    high: float = 1.0
    unit: str = "the score"
    whole: Callable[[Any], tuple[float, str]] | None = None

    def __post_init__(self) -> None:
        if not -math.inf < self.low < self.high < math.inf:
            raise CardaiError(f"the range of a payoff must be finite and rise, not {self.low} to {self.high}")
        if not self.is_share and self.unit in ("", Payoff.unit):
            raise CardaiError(f'a payoff from {self.low:g} to {self.high:g} needs a unit, such as "chips"')

    @property
    def is_share(self) -> bool:
        """Whether it is from 0 to 1, so that tables show it in percent."""
        return (self.low, self.high) == (0.0, 1.0)

    @property
    def counted(self) -> str:
        """The unit that figures stand in, "" for percent."""
        return "" if self.is_share else self.unit

    def of(self, scores: Any) -> Any:
        """Scores in [0, 1] in the game's unit, f8[...]; whole payoffs are exact."""
        if self.is_share:
            return np.asarray(scores, float)
        return np.round(self.low + (self.high - self.low) * np.asarray(scores, float), 9) + 0.0

    def share(self, payoff: float) -> float:
        """A payoff as a score in [0, 1], or beyond if it is out of the range."""
        return (payoff - self.low) / (self.high - self.low)

    def worth(self, state: Any) -> tuple[float, str]:
        """How much 1 of the score is, and of what: (576.0, "points")."""
        if self.whole is not None:
            return self.whole(state)
        return (100.0, f"percentage points of {self.unit}") if self.is_share else (self.high - self.low, self.unit)

    def text(self, score: float) -> str:
        """A score in words: "-12 chips"; of a share the number alone."""
        return f"{self.of(score):g}{'' if self.is_share else f' {self.unit}'}"


_NUMBER = re.compile(r"-?[0-9]{1,18}")

MEASURES = {
    "score": "mean score",
    "win": "share of games won: score 1, or a payoff above 0 in a game with a unit",
    "loss": "share of games lost: score 0, or a payoff below 0 in a game with a unit",
    "share": "share of the win: 1/k for each of the k seats with the best score of their table",
}
"""What can be measured of the scores of any game."""
_TAKEN = {*MEASURES, "not_lost"}  # labels of any game (`cardai.data.recipe.LABELS`) have these names too


@dataclass(frozen=True)
class Outcome:
    """What an ended game was for a seat beside its score: points in the game's own unit, or whether something happened.

    Also what a move brought its seat at once (`Game.rewards`). The rule `of(state, seat)` gives a number from `low` to
    `high` for a state of a game that is over, or for the settled state after the move. `about` says what it is. From 0
    to 1 it is a share, which tables show in percent. Networks can learn it as a label, see `as_label`.
    `scale`: the values (least, most) that labels are scaled by, if they are not `low` and `high`.
    `waits`: a reward is read off the state in which the seat moves next, or in which the game ends, and not off the one
    right after the move. So it can say how the trick ended to which a card went.
    `applies(state, seat)`: a rule that says whether it is asked about a seat at all, such as whether the seat was the
    soloist. Figures then count only such seats, and `of` is not asked about others, whose value is NaN.
    Raises CardaiError unless `low` < `high`, both finite, and those of `scale` lie between them.
    """

    of: Callable[..., float]
    about: str
    low: float = 0.0
    high: float = 1.0
    lower_is_better: bool = False
    scale: tuple[float, float] | None = None
    waits: bool = False
    applies: Callable[..., bool] | None = None

    def __post_init__(self) -> None:
        if not -math.inf < self.low < self.high < math.inf:
            raise CardaiError(f"the range of an outcome must be finite and rise, not {self.low} to {self.high}")
        if self.scale is not None and not self.low <= self.scale[0] < self.scale[1] <= self.high:
            raise CardaiError(f"the scale of an outcome must rise within {self.low} to {self.high}, not {self.scale}")

    @functools.cached_property
    def rule(self) -> Callable[..., float]:
        """The rule that gives the value for a seat, and NaN where the outcome does not apply."""
        return self.of if self.applies is None else where_it_applies(self.of, self.applies)

    def contains(self, values: Any) -> Any:
        """Whether values are in the declared range: bool[...]. NaN is not."""
        return (np.asarray(values) >= self.low) & (np.asarray(values) <= self.high)

    def as_label(self, values: np.ndarray) -> np.ndarray:
        """Values of the outcome as labels in [0, 1], of which higher ones are better.

        Raises CardaiError for a value outside of the scale.
        """
        low, high = self.scale or (self.low, self.high)
        shares = (np.asarray(values) - low) / (high - low)
        if self.scale is not None and ((shares < 0.0) | (shares > 1.0)).any():
            wrong = np.asarray(values)[(shares < 0.0) | (shares > 1.0)].flat[0]
            raise CardaiError(f"{wrong:g} {self.about} is no label: labels are scaled by {low:g} to {high:g}")
        return 1.0 - shares if self.lower_is_better else shares


MEASURED = "*"
"""Stands for the measured agent in a row of a suite that names the whole line-up."""


@dataclass(frozen=True)
class Row:
    """One line-up of a suite: the opponents of the measured agent, and figures that others published.

    - `opponents`: specs of the agents in all other seats, in order. The measured agent has one seat, in a game of teams
      (`Game.teams`) all seats of one team. A row that contains `MEASURED` names the agents of all seats instead: the
      measured agent has the seats of that name, as in `(MEASURED, "bot", "partner", "bot")`.
    - `claims`: the published figure by agent spec, in percent, or in the unit of an outcome.
    """

    opponents: tuple[str, ...]
    claims: Mapping[str, float] = field(default_factory=dict)
    about: str = ""


@dataclass(frozen=True)
class Suite:
    """A published benchmark of a game. A suite never changes: a change makes a new suite.

    `measure`: one of `MEASURES`, or the name of an outcome of the game. Claims are in the measure's unit.
    `agents`: specs of the agents measured by default.
    `claim_games`: the number of games behind each claim; 0 if it is not known, or if the claims are exact.
    """

    about: str
    measure: str
    rows: Mapping[str, Row]
    agents: tuple[str, ...]
    games: int = 2000
    variant: str | None = None
    source: str = ""
    claim_games: int = 0


@dataclass(frozen=True)
class Phase:
    """Divides states into phases of the game, by the sum of an encoder's segment. A model's figures are given by phase.

    The cuts (0, 20) give the phases "0", "1-20" and "over 20". Without cuts each sum is a phase of its own.
    """

    segment: str
    cuts: tuple[int, ...] = ()

    def name(self, number: int) -> str:
        """Returns the name of a phase. `number`: the number of the range, from 0. Without cuts it is the sum.

        Raises CardaiError for anything else.
        """
        number = whole("number", number, 0, len(self.cuts) if self.cuts else None)
        if not self.cuts:
            return str(number)
        if number == len(self.cuts):
            return f"over {self.cuts[-1]}"
        low, high = (self.cuts[number - 1] + 1 if number else 0), self.cuts[number]
        return str(high) if low == high else f"{low}-{high}"


LOOKS = ("row", "fan", "pile", "grid")
"""How the pieces of a `Zone` may lie."""


@dataclass(frozen=True)
class Zone:
    """A place on the table as one seat sees it: a hand, the stock, the board. Pages show a game by its zones.

    `pieces`: those face up, numbers of `Game.pieces`: a set (bit `1 << piece`), or a sequence if their order matters.
    `hidden`: how many further ones lie face down. `seat`: whose place it is, None for everybody's. `look`: one of
    `LOOKS`; a grid has a `shape` (rows, columns) and as many pieces, row by row. `note`: words beside the name
    ("target"). `marks`: words on single pieces ("X", "p2").

    Whoever paid attention knows more than lies open on a real table. `open`: those of `pieces` that lie open; None: all
    of them, but none in the fan of another seat. `reminder`: words beside the note that only say what has happened.
    Raises CardaiError for another look, a count below 0, a grid with another number of pieces than its shape has, and
    open pieces that are not among the pieces.
    """

    name: str
    pieces: int | Sequence[int] = 0
    hidden: int = 0
    seat: int | None = None
    look: str = "row"
    shape: tuple[int, int] = (0, 0)
    note: str = ""
    marks: Mapping[int, str] = field(default_factory=dict)
    open: int | Sequence[int] | None = None
    reminder: str = ""

    def __post_init__(self) -> None:
        if self.look not in LOOKS:
            raise CardaiError(unknown("look", self.look, LOOKS))
        whole("hidden", self.hidden, 0)
        if self.look == "grid" and len(self.listed) != self.shape[0] * self.shape[1]:
            raise CardaiError(f"the grid {short(self.name)} of shape {self.shape} has {len(self.listed)} pieces")
        if self.open and not {*_in_order(self.open)} <= {*self.listed}:
            raise CardaiError(f"pieces of {short(self.name)} that lie open must be among its pieces")

    @functools.cached_property
    def listed(self) -> list[int]:
        """The pieces that lie face up: those of a set from the lowest to the highest, those of a sequence in order."""
        return _in_order(self.pieces)

    @property
    def words(self) -> str:
        """The words beside the name: the note and the reminder."""
        return ", ".join(filter(None, (self.note, self.reminder)))

    def unaided(self, viewer: int) -> "Zone":
        """This place as it is on a real table to the seat `viewer`, who has to remember the rest.

        Pieces of a fan or a pile that do not lie open lie face down. In a row or a grid they are left out. Raises
        CardaiError for a viewer that is no seat's number.
        """
        viewer = whole("viewer", viewer, 0)
        is_own = self.look != "fan" or self.seat in (None, viewer)
        lying = self.pieces if self.open is None and is_own else self.open or 0
        shown, hidden = _in_order(lying), self.hidden
        if self.look in ("fan", "pile"):
            hidden += len(self.listed) - len(shown)
        marks = {piece: mark for piece, mark in self.marks.items() if piece in shown}
        return replace(self, pieces=lying, hidden=hidden, marks=marks, open=None, reminder="")


def _in_order(pieces: int | Sequence[int]) -> list[int]:
    return listed_pieces(int(pieces)) if isinstance(pieces, int | np.integer) else [int(piece) for piece in pieces]


def listed_pieces(pieces: int) -> list[int]:
    """The members of a set of pieces as a list, the lowest first. Raises CardaiError for a number below 0."""
    rest = whole("pieces", pieces, 0)
    found = []
    while rest:  # by the lowest bit: most sets have few members
        found.append((rest & -rest).bit_length() - 1)
        rest &= rest - 1
    return found


def counts_of(
    held: Sequence[Any], copies: Sequence[int] | np.ndarray, names: Sequence[str], what: str = "holdings"
) -> np.ndarray:
    """What `Game.holdings` gave where cards are alike, as int64[places, kinds].

    `names`: of the kinds; none for their numbers. Raises CardaiError, which calls it `what`, unless each place has a
    count for each kind and there are no more cards than `copies`.
    """
    rows, named = [], names or [f"kind {kind}" for kind in range(len(copies))]
    for place, counts in enumerate(held):
        if not hasattr(counts, "__len__") or isinstance(counts, str) or len(counts) != len(copies):
            raise CardaiError(f"{what}: place {place} is {short(counts)}; copies asks for {len(copies)} counts")
        if not (isinstance(counts, np.ndarray) and counts.dtype.kind == "i" and (counts >= 0).all()):
            of = f"{what}: place {place}: the count of"
            counts = [whole(f"{of} {name}", number, 0) for name, number in zip(named, counts, strict=True)]
        rows.append(counts)
    found = np.array(rows, np.int64).reshape(len(rows), len(copies))
    most = found.sum(axis=0)
    if (most > copies).any():
        kind = int(np.argmax(most > copies))
        listed = f"{what} lists {most[kind]} cards of {named[kind]} in all places"
        raise CardaiError(f"{listed}; copies says there are {copies[kind]}")
    return found


@dataclass(frozen=True)
class Game:
    """A game as cardai knows it. All that a game can define is a field of this class.

    Rules (compiled; see `docs/contract.md`): `deal(state)`, `legal(state, moves) -> n`, `act(state, move)`,
    `settle(state)`, `score(state, seat)` in the range of `payoff`, `resample(state, seat, stream)`,
    `is_legal(state, move)`, which may be None if `legal` always lists all moves, and `blank(state, seat)`, which writes
    over what is hidden from `seat`. A game needs `blank` only if it has players with `sees="own"`; without it, such a
    player is a CardaiError.
    `is_open(state)` says whether from here to the end nothing is hidden from the seat to move and chance decides
    nothing; such endings are solved exactly. `simplify(state)` may clear what no rule reads in them (history,
    knowledge), so that more of them are equal.
    Text (plain Python): `spell(state, move) -> str`, `show(state, seat) -> str`, the table as that seat sees it, and
    `parse(state, text) -> move` (raises ValueError if the text is no move). Without `parse`, a text is the legal move
    that is spelled so, or the only one whose last words it is.
    `tell(state, move, seat) -> str` is what another `seat` is told of a move: a game in which moves are hidden in whole
    or in part (cards passed, sealed bids) needs it. Without it, moves are public and `spell` words them for everybody.
    `ending(state) -> str` says how a finished game ended, in a sentence that all seats may read.
    `holdings(state)` lists the set of cards in each place whose size everybody knows: the hands first, in the order of
    the seats, then the deck, each pile. `cardai check` counts the cards with it. `chances(state, seat, shares)` writes
    the exact chance of each piece to be in each hand, float64[seats, pieces], over all deals that fit what `seat`
    knows.
    `copies`: how many cards of each piece the deck has, for a game in which cards are alike. Then a piece is a kind of
    card, a place of `holdings` is a sequence of counts, len(copies) whole numbers, and `chances` writes the expected
    number of cards of each kind in each hand. Without it there is one card of each piece, and a place is a set, an int.
    `weight(state)` is a rule: how likely a state is beside others that look the same to a seat, before choices are
    considered, a number above 0. Without it, states are equally likely, and with `copies` as likely as the deals that
    become them: see `weigh`.
    `seats_alike` is False if seats differ in more than who moves first, `cards_alike` if a rule makes some hidden cards
    likelier than others in a place where both may lie. `cardai check` tests what both promise.
    `variants` are named settings of the options, which are fields of the state; the first is the default. `choices` are
    the values that an option may have, in `NAME?option=value&option=value`; those of an option that is not in it are
    the values that some variant gives it.
    `together(state)` is a rule that gives the set of seats that choose at the same time in a position, 0 if the seat to
    move chooses alone. The core keeps their choices in the field `sealed` of the state and plays them when the last
    seat has chosen (`cardai.kernel.together`).
    `teams`: how many teams play; seat i belongs to team i % teams, and seats of a team always score alike. 1 if all
    seats play together (a cooperative game), 0 if each plays for itself.
    `references` are published figures: "complexity" is log10 of the size of the game tree, by number of seats.
    `phases` divide a game into parts by name, for the figures of models.
    `decided(state, seat)` is a rule that gives the score of a seat as soon as it is certain, and otherwise a number
    below the range of `payoff`, -1 if that is 0 to 1. Searches stop there instead of playing on; a game needs it
    if seats are out before the game ends. `playouts` names the hand-written player that plays worlds on in `rollout:N`;
    without it every legal move is as likely.
    `opponents` are specs of agents that may be strong, which `cardai strongest` measures; until it has, people who name
    nobody meet the first that fits their table.
    `payoff` is the range and the unit in which `score`, `score_sum` and `decided` count: shares from 0 to 1 by default,
    or as in Payoff(-384, 192, "points"). `tally` are the outcomes that the end of one game shows for each seat; without
    it, those among the `measures`.
    `actions` numbers the moves for networks with one output a move: it maps a move's fields to a number, 0 to n-1
    without gaps. Moves that are never legal together may share a number.
    `agents` are kinds of agent that only this game has: `function(game, spec, argument, options) -> Agent` makes the
    agent of the spec `kind:argument?options` and removes the options that it knows from the dict `options`.
    `solver(game, nodes)` makes a faster solver of open positions than the one for any game, with the same methods
    `solve` and `mend` (`cardai.agents.endgame.EndingSolver`).
    `outcomes` are what an ended game was for a seat beside its score: points in the game's own unit, or events. They
    are measures of tables and labels of training data. `measures` are those that tables show beside the mean score,
    names of `MEASURES` or of outcomes.
    `rewards` are what a move brought its seat at once, read off the settled state after it, or by the time it moves
    next (`Outcome.waits`). They are labels of training data, beside the score or mixed with it.
    `zones(state, seat)` lists the places on the table as `seat` sees them, `picks(state, move)` is the set of pieces
    that a player points at to choose a move, both plain Python. `pieces` are the names of the pieces (cards, cells) by
    number. With them a page has cards to tap; without them it shows the text of `show` and a list of moves.
    `terms` are the game's words for people who do not know it yet: each begins a move as `spell` words it ("kills"), or
    stands in a note or a name of a zone ("target"), and is explained by a sentence. `led_to(before, after)` says what a
    move led to, in words that every seat may read ("no"), "" if nothing is to be said; both are settled states.
    `rounds(state)` is how many rounds of a match are over and what each seat has so far, None where rounds do not
    count. `series(state)` is how many own moves from here on are one choice, made in any order (cards that are passed
    together). All are plain Python, and games do without them.
    Raises CardaiError if only one of `pieces` and `zones` is given, or `picks` without them; for `copies` without
    `holdings`, of another length than `pieces`, or below 1; for a term that is not explained by a sentence.
    """

    name: str
    title: str
    version: int
    seats: range
    state: Any
    move: Any
    max_plies: int
    deal: Callable[..., None]
    legal: Callable[..., int]
    act: Callable[..., None]
    settle: Callable[..., None]
    score: Callable[..., float]
    max_moves: int = 0
    resample: Callable[..., None] = None  # pyright: ignore[reportAssignmentType]
    spell: Callable[..., str] = None  # pyright: ignore[reportAssignmentType]
    show: Callable[..., str] = None  # pyright: ignore[reportAssignmentType]
    parse: Callable[..., Any] = None  # pyright: ignore[reportAssignmentType]
    is_legal: Callable[..., bool] | None = None
    blank: Callable[..., None] | None = None
    is_open: Callable[..., bool] | None = None
    simplify: Callable[..., None] | None = None
    together: Callable[..., int] | None = None
    tell: Callable[..., str] | None = None
    ending: Callable[[Any], str] | None = None
    holdings: Callable[[Any], Sequence[Any]] | None = None
    copies: Sequence[int] = ()
    weight: Callable[..., float] | None = None
    chances: Callable[[Any, int, Any], None] | None = None
    score_sum: Callable[[int], float | None] = lambda seats: None
    teams: int = 0
    seats_alike: bool = True
    cards_alike: bool | Callable[[Any], Sequence[int]] = True
    default_seats: int = 2
    variants: Mapping[str, Mapping[str, int]] = field(default_factory=lambda: {"standard": {}})
    choices: Mapping[str, Sequence[int]] = field(default_factory=dict)
    encoders: Mapping[str, PerspectiveEncoder] = field(default_factory=dict)
    players: Mapping[str, Player] = field(default_factory=dict)
    heuristics: Mapping[str, Callable[..., float]] = field(default_factory=dict)
    suites: Mapping[str, Suite] = field(default_factory=dict)
    references: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    phases: Mapping[str, Phase] = field(default_factory=dict)
    decided: Callable[..., float] | None = None
    playouts: str | None = None
    opponents: tuple[str, ...] = ()
    payoff: Payoff = Payoff()
    tally: tuple[str, ...] = ()
    actions: Mapping[tuple[int, ...], int] = field(default_factory=dict)
    agents: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    solver: Callable[..., Any] | None = None
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    measures: tuple[str, ...] = ()
    rewards: Mapping[str, Outcome] = field(default_factory=dict)
    pieces: Sequence[str] = ()
    zones: Callable[[Any, int], Sequence[Zone]] | None = None
    picks: Callable[[Any, Any], int] | None = None
    terms: Mapping[str, str] = field(default_factory=dict)
    led_to: Callable[[Any, Any], str] | None = None
    rounds: Callable[[Any], tuple[int, Sequence[float]] | None] | None = None
    series: Callable[[Any], int] | None = None

    def __post_init__(self) -> None:
        self._take_declared()
        for name in ("resample", "spell", "show"):
            if vars(self)[name] is None:
                raise CardaiError(f"{self.name}: the game needs {name}; it follows from a State and Moves")
        whole(f"{self.name}: max_moves", self.max_moves, 1)
        if bool(self.pieces) != (self.zones is not None) or (self.picks is not None and self.zones is None):
            raise CardaiError(f"{self.name}: zones and pieces are given together, and picks only with them")
        for term, sentence in self.terms.items():
            if not term or not isinstance(sentence, str) or not re.fullmatch(r"[^a-z].*[.!]", sentence):
                raise CardaiError(f"{self.name}: the term {short(term)} is explained by {short(sentence)}, no sentence")
        self._check_copies()
        if self.parse is None or getattr(self.parse, "func", None) is _spelled_so:
            object.__setattr__(self, "parse", functools.partial(_spelled_so, self))
        teams = whole(f"{self.name}: teams", self.teams, 0)
        if any(seats % teams for seats in self.seats if teams):
            divided = f"{_in_words(self.seats)} seats cannot be {teams} teams of equal size"
            raise CardaiError(f"{self.name}: {divided}; 0 teams: each seat plays for itself; 1: all play together")
        if self.default_seats not in self.seats:
            wrong = f"default_seats is {short(self.default_seats)}, but the game is for {_in_words(self.seats)} seats"
            raise CardaiError(f"{self.name}: {wrong}")
        for what, names in (("an outcome", self.outcomes), ("a reward", self.rewards)):
            for name in names:
                if name in _TAKEN:
                    raise CardaiError(f"{self.name}: {what} cannot be named {name!r}, which every game has already")
                if not name.isidentifier():  # a label may be a sum of several
                    raise CardaiError(f"{self.name}: {what} cannot be named {name!r}; it must be a word, like 'points'")
        for name, outcome in self.outcomes.items():
            if outcome.waits:
                raise CardaiError(f"{self.name}: the outcome {name} has waits=True, which is for rewards")
        for name in self.outcomes.keys() & self.rewards.keys():
            raise CardaiError(f"{self.name}: {name!r} cannot be the name of an outcome and of a reward")
        for name in (*self.measures, *(suite.measure for suite in self.suites.values())):
            if name not in (*MEASURES, *self.outcomes):
                raise CardaiError(f"{self.name}: {unknown('measure', name, (*MEASURES, *self.outcomes))}")
        for name in self.tally:
            if name not in self.outcomes:
                raise CardaiError(f"{self.name}: tally: {unknown('outcome', name, self.outcomes)}")
        for name in self.choices:
            if name not in self._option_names:
                raise CardaiError(f"{self.name}: choices has {name!r}, but no variant sets this option")
        for variant, options in self.variants.items():
            for name, value in options.items():
                if value not in self.choices.get(name, (value,)):
                    raise CardaiError(f"{self.name}: the variant {variant} sets {name}={value}, which choices excludes")
        blind = [name for name, player in self.players.items() if player.sees == "own"]
        if blind and self.blank is None:
            raise CardaiError(f'{self.name}: the player {blind[0]} sees="own", so the game needs the rule blank')
        if self.together is not None:
            together.check_sealed(self.name, self.seats, self.state, self.move)
            if self.is_open is not None:
                raise CardaiError(f"{self.name}: endings are solved move by move; a game has is_open or together")
            for name, function in together.sealing(self).items():
                object.__setattr__(self, name, function)

        _OF_STATES.setdefault(id(self.state), self)

    def _take_declared(self) -> None:
        """Take what follows from declarations (`cardai.game.declared`), where the game does not give it itself."""
        declared: Any = self.state
        if isinstance(declared, np.dtype):
            if not isinstance(self.move, np.dtype):
                raise CardaiError(f"{self.name}: move is {short(self.move)}; Moves need a state that is a State")
            return
        if not hasattr(declared, "derived"):
            raise CardaiError(f"{self.name}: state is {short(declared)}; it must be a State, or made by state_dtype")
        declared.title = self.name
        for name, value in declared.derived(self.move, vars(self)).items():
            own = vars(self)[name]
            if (
                name in ("state", "move")
                or own is None
                or own == 0
                or (isinstance(own, Mapping | Sequence) and not own)
            ):
                object.__setattr__(self, name, value)

    def _check_copies(self) -> None:
        for kind, number in enumerate(self.copies):
            whole(f"{self.name}: copies[{kind}]", number, 1)
        if len(self.copies) and self.holdings is None:
            raise CardaiError(f"{self.name}: copies says what holdings counts, so the game needs holdings too")
        if len(self.copies) and self.pieces and len(self.copies) != len(self.pieces):
            kinds = f"copies has {len(self.copies)} numbers, but there are {len(self.pieces)} pieces"
            raise CardaiError(f"{self.name}: {kinds}; it has one for each")

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<Game {self.name}, version {self.version}: {self.title}, {_in_words(self.seats)} seats>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what another process needs to load the same game: its name, or the path of its file, and its version.

        Raises CardaiError for a game that is in no module as `GAME`.
        """
        return pkgutil.resolve_name("cardai.registry:reduced")(self)

    def total_score(self, seats: int) -> float | None:
        """What the scores of a game, which are in [0, 1], sum to; None if that varies."""
        total, payoff = self.score_sum(seats), self.payoff
        return total if total is None or payoff.is_share else (total - seats * payoff.low) / (payoff.high - payoff.low)

    @property
    def tallied(self) -> list[str]:
        """The names of the outcomes that the end of one game shows for each seat."""
        return [*self.tally] or [name for name in self.measures if name in self.outcomes]

    @property
    def default_variant(self) -> str:
        """The name of the first variant."""
        return next(iter(self.variants))

    @property
    def _option_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for options in self.variants.values() for name in options))

    @functools.cached_property
    def allowed(self) -> Mapping[str, Sequence[int]]:
        """The values that each option may have in a variant's text, in ascending order."""
        found: dict[str, Sequence[int]] = {}
        for name in self._option_names:
            known = {int(options.get(name, 0)) for options in self.variants.values()}
            found[name] = self.choices.get(name) or tuple(sorted(known))
        return found

    @property
    def allowed_in_words(self) -> Mapping[str, str]:
        """The values that each option may have, in words: "0, 1 or 2"."""
        return {name: _listed(values) for name, values in self.allowed.items()}

    def variant_options(self, variant: str | None = None) -> dict[str, int]:
        """The options of a variant: name -> value. `variant`: a text such as "standard?moon=2", None for the default.

        Raises CardaiError for a name that is no variant, an option that the game does not have, and a value that it
        does not allow.
        """
        text = self.default_variant if variant is None else check_text("variant", variant)
        what = f"{self.name}: variant {short(text)}"
        name, query = divided(what, text)
        if name not in self.variants:
            raise BadArgument(f"{self.name} has no variant {short(name)}; it has {', '.join(self.variants)}")
        chosen = {}
        for option, value in options_of(what, query).items():
            if option not in self.allowed:
                raise BadArgument(f"{what}: {unknown('option', option, self.allowed)}")
            number = int(value) if _NUMBER.fullmatch(value) else None
            if number is None or number not in self.allowed[option]:
                raise BadArgument(f"{what}: {option} is {_listed(self.allowed[option])}, not {short(value)}")
            chosen[option] = number
        return {option: int(number) for option, number in self.variants[name].items()} | chosen

    def canonical(self, variant: str | None = None) -> str:
        """The text of a variant that all texts with the same options share; the default one's name for None.

        It is the name of a variant with these options, if there is one. Else it begins with the variant that differs
        in the fewest options. Raises CardaiError like `variant_options`.
        """
        if variant is None or (isinstance(variant, str) and variant in self.variants):
            return self.default_variant if variant is None else variant
        return self.variant_with(self.variant_options(variant))

    def variant_of(self, state: GameState) -> str:
        """The canonical text of the variant whose options a state has. Raises CardaiError for another game's state."""
        own = self._copy(state)[0][0]
        return self.variant_with({name: int(own[name]) for name in self.allowed})

    def variant_with(self, options: Mapping[str, int]) -> str:
        """The canonical text of the variant with these options, name -> value; those left out are 0.

        Raises CardaiError for an option that the game does not have, and for a value that it does not allow.
        """
        for name, value in check_kind("options", options, Mapping, "options by name").items():
            if name not in self.allowed:
                raise BadArgument(f"{self.name}: options: {unknown('option', name, self.allowed)}")
            if whole(f"options: {name}", value) not in self.allowed[name]:
                raise BadArgument(f"{self.name}: options: {name} is {_listed(self.allowed[name])}, not {short(value)}")
        wanted = {name: int(options.get(name, 0)) for name in self._option_names}
        best, changes = "", None
        for name, own in self.variants.items():
            different = {option: value for option, value in wanted.items() if int(own.get(option, 0)) != value}
            if changes is None or len(different) < len(changes):
                best, changes = name, different
        query = "&".join(f"{option}={value}" for option, value in (changes or {}).items())
        return f"{best}?{query}" if query else best

    @functools.cached_property
    def rules(self) -> Rules:
        """The compiled rules. The first use compiles them or loads them from the cache."""
        ours_first = sorted(self.own_rules(), key=lambda pair: elsewhere.is_under_way(pair[1]))
        made = {role: self._entry(role, function) for role, function in ours_first}
        return Rules(
            native.addresses([made.get(role, made["legal"]) for role in _CALLS]),
            self.is_legal is not None,
            self.state.itemsize,
            self.move.itemsize,
            self.max_moves,
            self.max_plies,
            (0, 0) if self.together is None else together.place_of_sealed(self.state),
        )

    @functools.cached_property
    def _lent(self) -> Rules:
        return lend(self.rules)

    def entry(self, role: str, function: Callable[..., Any]) -> Any:
        """A rule of this game that `rules` does not hold, compiled for the driver. Each is compiled once.

        `role`: "value" (a heuristic), "outcome" (also of a reward), "decided", "choose" (a player), "encode", "blank",
        "is_open", "simplify" or "weight".
        Raises CardaiError for another role, and if the rule does not compile.
        """
        _check_role(role)
        if not callable(function) or not hasattr(getattr(function, "py_func", function), "__code__"):
            raise BadArgument(f"function must be a rule, not {short(function)}")
        return self._entry(role, function)

    def _entry(self, role: str, function: Callable[..., Any]) -> Any:
        """The entry of a rule in any role. All threads get the same one, so that `function_of` finds it."""
        with _COMPILING:
            known = self.__dict__.setdefault("_entries", {})
            if (role, function) not in known:
                known[role, function] = self._compiled(role, function)
            return known[role, function]

    def compile(self) -> None:
        """Compile all rules, encoders, heuristics, outcomes and players now, or load them from the cache.

        Raises CardaiError for the first that does not compile, with its file, its line and the reason.
        """
        assert self.rules  # first: a second process may compile one of them
        for role, function in self.compiled_rules():
            self._entry(role, function)

    def own_rules(self) -> list[tuple[str, Callable[..., Any]]]:
        """All that `rules` compiles: (role, rule)."""
        return [rule for rule in self.compiled_rules() if rule[0] in _CALLS]

    def compiled_rules(self) -> list[tuple[str, Callable[..., Any]]]:
        """All that `compile` compiles: (role, rule)."""
        rated = (*self.outcomes.values(), *self.rewards.values())
        several: dict[str, list[Any]] = {
            "encode": [encoder.encode for encoder in self.encoders.values()],
            "value": [*self.heuristics.values()],
            "outcome": [*(one.applies for one in rated if one.applies), *(one.rule for one in rated)],
            "choose": [player.choose for player in self.players.values()],
        }
        fields = {role: [getattr(self, role)] for role in ROLES if role not in several and getattr(self, role)}
        return [(role, function) for role in ROLES for function in (several | fields).get(role, ())]

    def function_of(self, role: str, entry: Any) -> Callable[..., Any] | None:
        """The function for which `entry()` returned this entry in this role, None if there is none of this game."""
        _check_role(role)
        known = list(self.__dict__.get("_entries", {}).items())  # other threads may be adding to it
        if not isinstance(entry, int | np.integer) and not callable(entry):  # a function, in plain Python
            return None
        return next((function for (made, function), it in known if made == role and it == entry), None)

    def _compiled(self, role: str, function: Callable[..., Any]) -> Any:
        refusal.refuse_parameters(self.name, role, together.own_of(function))
        refusal.refuse_large_sets(self.name, function)
        elsewhere.finish(function)
        payoff, made = self.payoff, function
        if role in ("score", "decided") and not payoff.is_share:
            made = in_shares(function, payoff.low, payoff.high)
        try:
            return native.entry(role, made, self.state, self.move)
        except Exception as error:  # the compiler raises many things, a KeyError for a field that does not exist
            why = refusal.explained(error, role, function, self.state, self.move)
            raise CardaiError(f"{self.name}: {why}") from error

    # The rules for callers in Python. These methods never change the state that they are given. They raise CardaiError
    # for an argument of a wrong type, out of range or of another game. A state must come from this game's own methods:
    # the core's fields are checked, the others cannot be.

    def options(self, seats: int | None = None, variant: str | None = None) -> np.ndarray:
        """A blank STATE[1] with a variant's options. Raises CardaiError for a wrong number of seats or variant.

        `variant`: a name, or a text such as "standard?moon=2" (see `variant_options`).
        """
        seats = self.default_seats if seats is None else whole("seats", seats)
        if seats not in self.seats:
            raise BadArgument(f"{self.name} is for {_in_words(self.seats)} seats, not {short(seats)}")
        chosen = self.variant_options(variant)
        blank: np.ndarray = np.zeros(1, self.state)
        blank["seats"] = seats
        for name, value in chosen.items():
            blank[name] = value
        return blank

    def new(self, seats: int | None = None, seed: int = 0, variant: str | None = None) -> GameState:
        """Returns a freshly dealt state. The same seed, a whole number modulo 2^64, gives the same deal everywhere."""
        states, bits = self.options(seats, variant), int_seed(seed)
        door_deal(self._lent, raw(states), bits)
        return states[0]

    def moves(self, state: GameState) -> np.ndarray:
        """Returns the legal moves, MOVE[n] in canonical order, none if the game is over. See also `enumerate`."""
        return self.enumerate(state)[0]

    def enumerate(self, state: GameState, most: int | None = None) -> tuple[np.ndarray, bool]:
        """The legal moves, and whether there were too many.

        `most`: how many are wanted at most, 1 to 10^9; the game's `max_moves` if it is None. If there are more, the
        list is a random choice of them in canonical order, the same each time, with moves of every kind (first field)
        if there is room. Raises CardaiError if the rule `legal`
        writes outside of its buffer.
        """
        most = self.max_moves if most is None else whole("most", most, 1, 10**9)
        room = max(most, self.max_moves)  # a rule need not look at the length of its buffer
        lent = self._lent if room == self.max_moves else lend(self.rules._replace(max_moves=room))
        states, space = self._copy(state)[0], fenced(self.move, room)
        n = int(door_legal(lent, raw(states), raw(space.block)))
        self._check_written(space, room, n)
        moves = space.block[: abs(n)].copy()
        return (moves, n < 0) if abs(n) <= most else (_some(moves, most), True)

    def is_allowed(self, state: GameState, move: np.record) -> bool:
        """Whether a move is legal here. Raises IllegalMove for something that is no move of this game."""
        return self._tried(state, move, 0)[1]

    def _tried(self, state: GameState, move: np.record, halves: int) -> tuple[GameState, bool]:
        """A copy of the state after so many halves of a move if it is legal, and whether it is."""
        states, asked, space = self._copy(state)[0], np.zeros(1, self.move), fenced(self.move, self.max_moves)
        asked[0] = self._own_move(move)
        is_legal = bool(door_move(self._lent, raw(states), raw(asked), raw(space.block), halves))
        self._check_written(space, self.max_moves)
        return states[0], is_legal

    def _check_written(self, space: Fenced, room: int, n: int = 0) -> None:
        """Raise CardaiError if `legal` has left its buffer of `room` moves, or returned more."""
        if abs(n) > room or space.is_damaged():
            forget()
            what = f"says that it wrote {abs(n)} moves" if abs(n) > room else "wrote outside of its buffer"
            allowed = f"max_moves is {self.max_moves}" if room == self.max_moves else f"there was room for {room}"
            raise CardaiError(f"{self.name}: the rule legal {what}; {allowed}")

    def play(self, state: GameState, move: np.record) -> GameState:
        """The settled state after a move. Raises IllegalMove, which names the move and the legal moves."""
        return self._moved(state, move, 2)

    def after(self, state: GameState, move: np.record) -> GameState:
        """The after-state: after the player's decision, before chance. Raises IllegalMove."""
        return self._moved(state, move, 1)

    def _moved(self, state: GameState, move: np.record, halves: int) -> GameState:
        after, is_legal = self._tried(state, move, halves)
        if not is_legal:
            raise IllegalMove(self._refusal(state, move))
        return after

    def _refusal(self, state: GameState, move: np.record) -> str:
        fields = self._fields(move)
        if state["turn"] < 0:
            return f"{self.name}: the game is over, ({fields}) cannot be played"
        try:
            text = f"{self.spell(state, move)!r} ({fields})"
        except Exception:  # a move so wrong that the game cannot spell it: its fields say all there is
            text = f"({fields})"
        legal = self.moves(state)
        shown = "; ".join(self.spell(state, other) for other in legal[:12])
        more = f"; and {len(legal) - 12} more" if len(legal) > 12 else ""
        return f"{self.name}: seat {int(state['turn'])} may not play {text}; legal: {shown}{more}"

    def world(self, state: GameState, seat: int, seed: int = 0) -> GameState:
        """A world (determinization): a copy in which all that `seat` cannot know, and the stream, is dealt anew."""
        states, seats, _ = self._copy(state)
        seat, streams = check_seat("seat", seat, seats), np.zeros(1, STREAM)
        streams["rng"] = derived(int_seed(seed), WORLD, 0)
        door_resample(self._lent, raw(states), seat, raw(streams))
        return states[0]

    def choosing(self, state: GameState) -> list[int]:
        """The seats that may choose now: the seat to move, and those that choose at the same time and have not yet.

        They are in the order in which they are to move. None if the game is over.
        """
        return together.choosing(self, self._copy(state)[0][0])

    def at_turn(self, state: GameState, seat: int) -> GameState:
        """A copy of a state in which it is the turn of a seat that may choose now, to read off what it may do.

        Raises CardaiError for another seat.
        """
        states, seats, _ = self._copy(state)
        return together.at_turn(self, states[0], check_seat("seat", seat, seats))

    def in_series(self, state: GameState) -> int:
        """How many own moves from here on are one choice of the seat to move, at least 1 (see `series`)."""
        own = self._copy(state)[0][0]
        return 1 if self.series is None or own["turn"] < 0 else max(1, int(self.series(own)))

    def parse_series(self, state: GameState, texts: Sequence[str]) -> list[np.record]:
        """The moves that texts name, one after the other.

        Raises BadArgument for a text that names none, a move that is not legal there, and more than belong together.
        """
        room, moves = self.in_series(state), []
        if isinstance(texts, str) or not isinstance(texts, Sequence):
            raise BadArgument(f"texts must be a list of texts, not {short(texts)}")
        if not 0 < len(texts) <= room:
            raise BadArgument(f"{len(texts)} moves were given; {room} belong together here")
        for text in texts:
            try:
                move = self.parse(state, check_text("text", text))
            except ValueError as error:
                raise BadArgument(str(error)) from None
            if not self.is_allowed(state, move):
                raise BadArgument(f"{text!r} is not among your legal moves now")
            moves.append(move)
            state = self.play(state, move)
        return moves

    def told(self, state: GameState, move: np.record, seat: int) -> str:
        """What `seat` may know of a move of the seat to move, in words.

        `state`: the state before the move, or a world of `seat` in it. A seat's own moves are spelled. Raises
        IllegalMove for an own move that is not legal, and for one that the game cannot put in words.
        """
        states, seats, turn = self._copy(state)
        if check_seat("seat", seat, seats) == turn and not self.is_allowed(state, move):
            raise IllegalMove(self._refusal(state, move))
        try:
            if self.tell is None or seat == turn:
                return self.spell(states[0], self._own_move(move))
            return self.tell(states[0], self._own_move(move), seat)
        except (LookupError, TypeError, ValueError) as error:
            if self.is_allowed(state, move):  # the game is at fault
                raise
            raise IllegalMove(f"{self.name}: no text of the game fits the move ({self._fields(move)})") from error

    def points(self, state: GameState) -> np.ndarray:
        """Each seat's score in [0, 1], f8[seats]; `payoff.of` gives it in the game's unit.

        Raises CardaiError if the game is not over.
        """
        states, seats, turn = self._copy(state)
        if turn >= 0:
            raise BadArgument(f"{self.name}: the game is not over, this state has no score yet")
        return np.array([door_value(self.rules.calls[SCORE], raw(states), seat) for seat in range(seats)])

    def outcome(self, state: GameState, name: str) -> np.ndarray:
        """What an ended game was for each seat by an outcome, f8[seats], in the outcome's own unit; NaN where it does
        not apply (`Outcome.applies`).

        Raises CardaiError if the game is not over, for an unknown name and for a number outside the outcome's range.
        """
        states, seats, turn = self._copy(state)
        if check_text("name", name) not in self.outcomes:
            raise BadArgument(f"{self.name}: {unknown('outcome', name, self.outcomes)}")
        if turn >= 0:
            raise BadArgument(f"{self.name}: the game is not over, this state has no outcome yet")
        entry = self.entry("outcome", self.outcomes[name].rule)
        values = np.array([float(door_value(entry, raw(states), seat)) for seat in range(seats)])
        return self.check_outcome(name, values)

    def check_outcome(self, name: str, values: np.ndarray, where: str = "") -> np.ndarray:
        """Returns the values of an outcome, f8[..., seats]. Raises CardaiError if one of them is out of its range.

        `where`: the game or games in words, for the message.
        """
        outcome = self.outcomes[name]
        wrong = np.argwhere(~outcome.contains(values) & ~((outcome.applies is not None) & np.isnan(values)))
        if len(wrong):
            value, seat, span = values[tuple(wrong[0])], wrong[0][-1], f"{outcome.low:g} to {outcome.high:g}"
            raise CardaiError(
                f"{self.name}: the outcome {name} is {value:g} for seat {seat}{where}; its range is {span}"
            )
        return values

    def encode(self, state: GameState, seat: int, encoder: str | None = None) -> np.ndarray:
        """The view of `seat` as numbers, u8[width]. Without a name the game's first encoder is used."""
        chosen, (states, seats, _) = self.encoder(encoder), self._copy(state)
        seat, rows = check_seat("seat", seat, seats), np.zeros((1, chosen.width(seats)), np.uint8)
        door_encode(self.entry("encode", chosen.encode), raw(states), seat, raw(rows))
        return rows[0]

    def value(self, state: GameState, seat: int, heuristic: str) -> float:
        """Returns the value of a state for `seat` by a heuristic, on the heuristic's own scale. Higher is better."""
        states, seats, _ = self._copy(state)
        seat = check_seat("seat", seat, seats)
        if check_text("heuristic", heuristic) not in self.heuristics:
            raise BadArgument(f"{self.name}: {unknown('heuristic', heuristic, self.heuristics)}")
        return float(door_value(self.entry("value", self.heuristics[heuristic]), raw(states), seat))

    def lying(self, state: GameState) -> list[list[int]]:
        """The pieces in each place that `holdings` lists, the lowest first; one of which there are n cards is n times.

        Raises CardaiError for a game without `holdings`, and for a place that is not what `copies` promises.
        """
        if self.holdings is None:
            raise CardaiError(f"{self.name} does not say where its cards lie (holdings)")
        state = self._copy(state)[0][0]
        if not len(self.copies):
            return [listed_pieces(int(cards)) for cards in self.holdings(state)]
        return [np.repeat(np.arange(len(self.copies)), place).tolist() for place in self._counts(state)]

    def _counts(self, state: GameState) -> np.ndarray:
        """What `holdings` says where cards are alike, see `counts_of`."""
        assert self.holdings is not None
        return counts_of(self.holdings(state), self.copies, self.pieces, f"{self.name}: holdings")

    def weigh(self, state: GameState) -> float:
        """How likely a state is beside others that look the same to a seat, before choices are considered: above 0.

        By the rule `weight` if the game has it. Else 1.0 without `copies`, and with them the number of ways to deal
        the cards, told apart, so that each place holds what it does: for each kind, copies! / product of n! over the
        places, n of this kind each; cards that no place lists are in one place more. Where an order that is hidden is
        part of the state, as of a deck that is a list of kinds, this is not so, and the game gives `weight`.
        Raises CardaiError for a weight that is not a finite number above 0, and like `lying`.
        """
        states, _, _ = self._copy(state)
        if self.weight is not None:
            weight = float(door_weight(self.entry("weight", self.weight), raw(states)))
            if not 0.0 < weight < math.inf:
                raise CardaiError(f"{self.name}: the rule weight gives {weight}; it must be a finite number above 0")
            return weight
        if not len(self.copies):
            return 1.0
        ways, left = 1, [int(copies) for copies in self.copies]
        for place in self._counts(states[0]).tolist():
            for kind, number in enumerate(place):
                ways *= math.comb(left[kind], number)
                left[kind] -= number
        return float(ways)

    def encoder(self, name: str | None = None) -> PerspectiveEncoder:
        """Returns an encoder by name, or the first one if `name` is None. Raises CardaiError for an unknown name."""
        if not self.encoders:
            raise BadArgument(f"{self.name} has no encoder")
        name = next(iter(self.encoders)) if name is None else check_text("encoder", name)
        if name not in self.encoders:
            raise BadArgument(f"{self.name} has no encoder {short(name)}; it has {', '.join(self.encoders)}")
        return self.encoders[name]

    def _copy(self, state: GameState) -> tuple[np.ndarray, int, int]:
        """A copy of a caller's state, STATE[1], its number of seats and the seat to move, or -1."""
        return check_state(state, self.state, self.name, self.seats)

    def _own_move(self, move: np.record) -> np.record:
        """A caller's move. Raises IllegalMove unless it is one record of this game's type; its fields may be wrong."""
        if not isinstance(move, np.void) or move.dtype != self.move:
            raise IllegalMove(f"{short(move)} is not a move of {self.name}")
        return move

    def _fields(self, move: np.record) -> str:
        return ", ".join(f"{name}={int(move[name])}" for name in self.move.names or ())


def game_of(state: GameState) -> Game | None:
    """The game of a state. None if that cannot be told, as in another process than the one that made it.

    Raises CardaiError for anything but a record.
    """
    return _OF_STATES.get(id(check_kind("state", state, np.void, "a state of a game").dtype))


def is_game(game: Any) -> Game:
    """Returns `game`. Raises CardaiError unless it is a Game."""
    return check_kind("game", game, Game, "what cardai.load() returns")


def _spelled_so(game: Game, state: GameState, text: str) -> Any:
    """The legal move that is spelled like a text, or the only one whose last words it is: MOVE.

    Capitals and spaces do not count, nor does the person of the verb: "draw" is "draws". A card may be named suit first
    ("s9"), and a ten "10". Raises ValueError, with moves that are legal, if there is none.
    """
    pieces = {piece.lower() for piece in game.pieces}
    wanted, moves = [_as_named(word, pieces) for word in text.lower().split()], game.moves(state)
    spelled = [game.spell(state, move) for move in moves]
    words = [one.lower().split() for one in spelled]
    for fits in (
        wanted.__eq__,
        lambda one: _with_stem(one) == _with_stem(wanted),
        lambda one: bool(wanted) and one[-len(wanted) :] == wanted,
    ):
        found = [move for move, one in zip(moves, words, strict=True) if fits(one)]
        if len(found) == 1:
            return found[0]
    examples = [*dict.fromkeys(spelled[:: max(1, len(spelled) // _EXAMPLES)])][:_EXAMPLES]
    raise ValueError(f"{short(text.strip())} is no move here; a move is {_listed(examples)}")


def _as_named(word: str, pieces: set[str]) -> str:
    """A word, or the name of the piece that it means."""
    short_ten = word.translate(SYMBOLS).lower().replace("10", "t")
    return next((one for one in (word, short_ten, short_ten[::-1]) if one in pieces), word)


def _with_stem(words: list[str]) -> list[str]:
    """Words whose first one has lost its ending, unless it is as short as a card's name."""
    return [re.sub(r"(?<=[a-z]{3})[es]+$", "", words[0]), *words[1:]] if words else []


def _listed(values: Sequence[Any]) -> str:
    """Values of an option in words: "0, 1 or 2", "0 to 1000"."""
    if isinstance(values, range) and len(values) > 3 and values.step == 1:
        return f"{values[0]} to {values[-1]}"
    *others, last = map(str, values)
    return f"{', '.join(others)} or {last}" if others else last


def check_table(game: Game, states: Any) -> np.ndarray:
    """Return states of one table, STATE[n]. Raises CardaiError unless they are states of the game."""
    return check_states("states", states, is_game(game).state, game.name, game.seats)


def _in_words(seats: range) -> str:
    """The numbers of seats of a game: "2", "2 to 8", "4 or 6"."""
    if len(seats) > 1 and seats.step == 1:
        return f"{seats[0]} to {seats[-1]}"
    return " or ".join(map(str, seats))


def _check_role(role: str) -> None:
    if check_text("role", role) not in _OTHERS:
        raise BadArgument(f"role must be {', '.join(_OTHERS[:-1])} or {_OTHERS[-1]}, not {short(role)}")


def int_seed(seed: int) -> Any:
    """A seed as random streams take it, uint64: a whole number modulo 2^64. Raises CardaiError for anything else."""
    return check_seed(seed)


def _some(moves: np.ndarray, most: int) -> np.ndarray:
    """Some of the moves, MOVE[most] in their order, by chance that depends on the moves only.

    There is one of each kind (the moves with the same first field), if there is room.
    """
    stream, order = np.zeros(1, STREAM), np.arange(len(moves))
    digest = hashlib.blake2b(moves.tobytes() + most.to_bytes(8, "little"), digest_size=8).digest()
    stream["rng"] = int.from_bytes(digest, "little")
    shuffle(stream[0], order, 0, len(order))
    first = np.sort(np.unique(moves[order][next(iter(moves.dtype.names or ()))], return_index=True)[1])
    order = np.concatenate([order[first], np.delete(order, first)])
    return moves[np.sort(order[:most])]


def copies(state: GameState, count: int = 1) -> np.ndarray:
    """`count` copies of a state, STATE[count]. Nothing is checked."""
    return np.repeat(np.array([state], state.dtype), count)
