"""The contract between a game and cardai: what a game must define, and the functions that callers use to play it.

A game is one value, `GAME = Game(name="tictactoe", ...)`. Its rules are functions marked `@rule`, which read and write
two kinds of record: a *state* and a *move*. Beside a few facts a game has five parts: its `rules`, its `text`, what
lies on the `table`, what networks see and learn (`learning`), and who plays it (`agents`). `docs/contract.md` explains
the contract, and `cardai check` tests that a game keeps it.
"""

import functools
import hashlib
import math
import pkgutil
import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from cardai.errors import BadArgument, CardaiError, IllegalMove, short, unknown, whole
from cardai.game.agents import MEASURED, Agents, Player, Row, Suite
from cardai.game.compiled import together
from cardai.game.compiled.chance import WORLD, derived
from cardai.game.compiled.doors import check_kind, check_seat, check_seed, check_state, check_states, check_text
from cardai.game.compiled.fence import Fenced, fenced, forget
from cardai.game.compiled.native import raw
from cardai.game.compiled.query import divided, options_of
from cardai.game.compiled.rules import (
    SCORE,
    door_deal,
    door_encode,
    door_legal,
    door_move,
    door_resample,
    door_value,
    door_weight,
    lend,
)
from cardai.game.compiler import Compiler
from cardai.game.learning import MEASURES, MOST_SUITS, Learning, Outcome, PerspectiveEncoder, Phase, Segment
from cardai.game.records import CORE_FIELDS, GameState, move_dtype, state_dtype
from cardai.game.rules import Rules
from cardai.game.sound import in_words, refuse_unsound
from cardai.game.table import LOOKS, Table, Zone, counts_of, listed_pieces
from cardai.game.text import Text, listed, spelled_so
from cardai.rules import STREAM, shuffle

__all__ = [
    "CORE_FIELDS",
    "LOOKS",
    "MEASURED",
    "MEASURES",
    "MOST_SUITS",
    "Agents",
    "Game",
    "GameState",
    "Learning",
    "Outcome",
    "Payoff",
    "PerspectiveEncoder",
    "Phase",
    "Player",
    "Row",
    "Rules",
    "Segment",
    "Suite",
    "Table",
    "Text",
    "Zone",
    "check_table",
    "copies",
    "counts_of",
    "game_of",
    "int_seed",
    "is_game",
    "listed_pieces",
    "move_dtype",
    "state_dtype",
]

_NUMBER = re.compile(r"-?[0-9]{1,18}")
_OF_STATES: "weakref.WeakValueDictionary[int, Game]" = weakref.WeakValueDictionary()
"""The games of this process by the `id` of their `state_dtype`."""


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


@dataclass(frozen=True)
class Game:
    """A game as cardai knows it: some facts, and five parts.

    `state` and `move` are declared (`State`, `Moves` of `cardai.game.declared`), or record types made by `state_dtype`
    and `move_dtype`. What follows from a declaration a game may still give itself, and then its own is taken.
    `max_plies` is the most moves that a game may take, `max_moves` the most legal moves of a position.
    `default_seats` is the table that is played at if nobody says how large: of two if left out, or the smallest.
    `variants` are named settings of the options, which are fields of the state; the first is the default. `choices` are
    the values that an option may have, in `NAME?option=value&option=value`; those of an option that is not in it are
    the values that some variant gives it.
    `payoff` is the range and the unit in which `score`, `score_sum` and `decided` count: shares from 0 to 1 by default,
    or as in Payoff(-384, 192, "points"). `score_sum(seats)` is what all scores sum to, None if that varies.
    `teams`: how many teams play; seat i belongs to team i % teams, and seats of a team always score alike. 1 if all
    seats play together (a cooperative game), 0 if each plays for itself.
    `seats_alike` is False if seats differ in more than who moves first, `cards_alike` if a rule makes some hidden cards
    likelier than others in a place where both may lie. `cardai check` tests what both promise.
    `references` are published figures: "complexity" is log10 of the size of the game tree, by number of seats.
    Raises CardaiError for what does not fit together: only one of `pieces` and `zones`, `copies` without `holdings`, an
    outcome that has a name of any game, a term that is not explained by a sentence.
    """

    name: str
    title: str
    version: int
    seats: range
    state: Any
    move: Any
    max_plies: int
    rules: Rules
    text: Text = field(default_factory=lambda: Text())
    table: Table = field(default_factory=Table)
    learning: Learning = field(default_factory=Learning)
    agents: Agents = field(default_factory=Agents)
    max_moves: int = 0
    default_seats: int = 0
    variants: Mapping[str, Mapping[str, int]] = field(default_factory=lambda: {"standard": {}})
    choices: Mapping[str, Sequence[int]] = field(default_factory=dict)
    payoff: Payoff = Payoff()
    score_sum: Callable[[int], float | None] = lambda seats: None
    teams: int = 0
    seats_alike: bool = True
    cards_alike: bool | Callable[[Any], Sequence[int]] = True
    references: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    compiler: Compiler = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._take_declared()
        if self.default_seats == 0:
            object.__setattr__(self, "default_seats", 2 if 2 in self.seats else next(iter(self.seats), 2))
        refuse_unsound(self)
        if self.text.parse is None or getattr(self.text.parse, "func", None) is spelled_so:
            self._set({"parse": functools.partial(spelled_so, self)})
        if self.rules.together is not None:
            self._set(together.sealing(self))
        object.__setattr__(self, "compiler", Compiler(self))
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
        given = {name: self.get(name) for name in (*_FACTS, *PART_OF)}
        made = declared.derived(self.move, given)
        self._set(
            {name: value for name, value in made.items() if name in ("state", "move") or _is_left_out(given[name])}
        )

    def _set(self, values: Mapping[str, Any]) -> None:
        """Give fields of the game and of its parts other values, by name. For a game that is being made."""
        for part, own in _by_part(values).items():
            for name, value in {part: replace(getattr(self, part), **own)}.items() if part else own.items():
                object.__setattr__(self, name, value)

    def get(self, name: str) -> Any:
        """The value of a field of the game, or of one of its parts, by its name alone.

        Raises BadArgument for a name that no field has.
        """
        (part,) = _by_part({check_text("name", name): None})
        return getattr(getattr(self, part) if part else self, name)

    def changed(self, **values: Any) -> "Game":
        """Another game, in which fields of the game or of its parts have other values: `changed(spell=...)`.

        Raises BadArgument for a name that no field has, and CardaiError like `Game`.
        """
        parts = _by_part(values)
        own = {part: replace(getattr(self, part), **some) for part, some in parts.items() if part}
        return replace(self, **parts.get("", {}), **own)

    def compile(self) -> None:
        """Compile all rules, encoders, heuristics, outcomes and players now, or load them from the cache.

        Raises CardaiError for the first that does not compile, with its file, its line and the reason.
        """
        self.compiler.compile()

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<Game {self.name}, version {self.version}: {self.title}, {in_words(self.seats)} seats>"

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
        return {name: listed(values) for name, values in self.allowed.items()}

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
                raise BadArgument(f"{what}: {option} is {listed(self.allowed[option])}, not {short(value)}")
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
                raise BadArgument(f"{self.name}: options: {name} is {listed(self.allowed[name])}, not {short(value)}")
        wanted = {name: int(options.get(name, 0)) for name in self._option_names}
        best, changes = "", None
        for name, own in self.variants.items():
            different = {option: value for option, value in wanted.items() if int(own.get(option, 0)) != value}
            if changes is None or len(different) < len(changes):
                best, changes = name, different
        query = "&".join(f"{option}={value}" for option, value in (changes or {}).items())
        return f"{best}?{query}" if query else best

    def options(self, seats: int | None = None, variant: str | None = None) -> np.ndarray:
        """A blank STATE[1] with a variant's options. Raises CardaiError for a wrong number of seats or variant.

        `variant`: a name, or a text such as "standard?moon=2" (see `variant_options`).
        """
        seats = self.default_seats if seats is None else whole("seats", seats)
        if seats not in self.seats:
            raise BadArgument(f"{self.name} is for {in_words(self.seats)} seats, not {short(seats)}")
        chosen = self.variant_options(variant)
        blank: np.ndarray = np.zeros(1, self.state)
        blank["seats"] = seats
        for name, value in chosen.items():
            blank[name] = value
        return blank

    def new(self, seats: int | None = None, seed: int = 0, variant: str | None = None) -> GameState:
        """Returns a freshly dealt state. The same seed, a whole number modulo 2^64, gives the same deal everywhere."""
        states, bits = self.options(seats, variant), int_seed(seed)
        door_deal(self.compiler.lent, raw(states), bits)
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
        lent = self.compiler.lent if room == self.max_moves else lend(self.compiler.rules._replace(max_moves=room))
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
        is_legal = bool(door_move(self.compiler.lent, raw(states), raw(asked), raw(space.block), halves))
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
            text = f"{self.text.spell(state, move)!r} ({fields})"
        except Exception:  # a move so wrong that the game cannot spell it: its fields say all there is
            text = f"({fields})"
        legal = self.moves(state)
        shown = "; ".join(self.text.spell(state, other) for other in legal[:12])
        more = f"; and {len(legal) - 12} more" if len(legal) > 12 else ""
        return f"{self.name}: seat {int(state['turn'])} may not play {text}; legal: {shown}{more}"

    def world(self, state: GameState, seat: int, seed: int = 0) -> GameState:
        """A world (determinization): a copy in which all that `seat` cannot know, and the stream, is dealt anew."""
        states, seats, _ = self._copy(state)
        seat, streams = check_seat("seat", seat, seats), np.zeros(1, STREAM)
        streams["rng"] = derived(int_seed(seed), WORLD, 0)
        door_resample(self.compiler.lent, raw(states), seat, raw(streams))
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
        return 1 if self.text.series is None or own["turn"] < 0 else max(1, int(self.text.series(own)))

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
                move = self.text.parse(state, check_text("text", text))
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
            if self.text.tell is None or seat == turn:
                return self.text.spell(states[0], self._own_move(move))
            return self.text.tell(states[0], self._own_move(move), seat)
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
        return np.array([door_value(self.compiler.rules.calls[SCORE], raw(states), seat) for seat in range(seats)])

    def outcome(self, state: GameState, name: str) -> np.ndarray:
        """What an ended game was for each seat by an outcome, f8[seats], in the outcome's own unit; NaN where it does
        not apply (`Outcome.applies`).

        Raises CardaiError if the game is not over, for an unknown name and for a number outside the outcome's range.
        """
        states, seats, turn = self._copy(state)
        if check_text("name", name) not in self.learning.outcomes:
            raise BadArgument(f"{self.name}: {unknown('outcome', name, self.learning.outcomes)}")
        if turn >= 0:
            raise BadArgument(f"{self.name}: the game is not over, this state has no outcome yet")
        entry = self.compiler.entry("outcome", self.learning.outcomes[name].rule)
        values = np.array([float(door_value(entry, raw(states), seat)) for seat in range(seats)])
        return self.check_outcome(name, values)

    def check_outcome(self, name: str, values: np.ndarray, where: str = "") -> np.ndarray:
        """Returns the values of an outcome, f8[..., seats]. Raises CardaiError if one of them is out of its range.

        `where`: the game or games in words, for the message.
        """
        outcome = self.learning.outcomes[name]
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
        door_encode(self.compiler.entry("encode", chosen.encode), raw(states), seat, raw(rows))
        return rows[0]

    def value(self, state: GameState, seat: int, heuristic: str) -> float:
        """Returns the value of a state for `seat` by a heuristic, on the heuristic's own scale. Higher is better."""
        states, seats, _ = self._copy(state)
        seat = check_seat("seat", seat, seats)
        if check_text("heuristic", heuristic) not in self.agents.heuristics:
            raise BadArgument(f"{self.name}: {unknown('heuristic', heuristic, self.agents.heuristics)}")
        return float(door_value(self.compiler.entry("value", self.agents.heuristics[heuristic]), raw(states), seat))

    def lying(self, state: GameState) -> list[list[int]]:
        """The pieces in each place that `holdings` lists, the lowest first; one of which there are n cards is n times.

        Raises CardaiError for a game without `holdings`, and for a place that is not what `copies` promises.
        """
        if self.table.holdings is None:
            raise CardaiError(f"{self.name} does not say where its cards lie (holdings)")
        state = self._copy(state)[0][0]
        if not len(self.table.copies):
            return [listed_pieces(int(cards)) for cards in self.table.holdings(state)]
        return [np.repeat(np.arange(len(self.table.copies)), place).tolist() for place in self._counts(state)]

    def _counts(self, state: GameState) -> np.ndarray:
        """What `holdings` says where cards are alike, see `counts_of`."""
        assert self.table.holdings is not None
        return counts_of(self.table.holdings(state), self.table.copies, self.table.pieces, f"{self.name}: holdings")

    def weigh(self, state: GameState) -> float:
        """How likely a state is beside others that look the same to a seat, before choices are considered: above 0.

        By the rule `weight` if the game has it. Else 1.0 without `copies`, and with them the number of ways to deal
        the cards, told apart, so that each place holds what it does: for each kind, copies! / product of n! over the
        places, n of this kind each; cards that no place lists are in one place more. Where an order that is hidden is
        part of the state, as of a deck that is a list of kinds, this is not so, and the game gives `weight`.
        Raises CardaiError for a weight that is not a finite number above 0, and like `lying`.
        """
        states, _, _ = self._copy(state)
        if self.rules.weight is not None:
            weight = float(door_weight(self.compiler.entry("weight", self.rules.weight), raw(states)))
            if not 0.0 < weight < math.inf:
                raise CardaiError(f"{self.name}: the rule weight gives {weight}; it must be a finite number above 0")
            return weight
        if not len(self.table.copies):
            return 1.0
        ways, left = 1, [int(copies) for copies in self.table.copies]
        for place in self._counts(states[0]).tolist():
            for kind, number in enumerate(place):
                ways *= math.comb(left[kind], number)
                left[kind] -= number
        return float(ways)

    def encoder(self, name: str | None = None) -> PerspectiveEncoder:
        """Returns an encoder by name, or the first one if `name` is None. Raises CardaiError for an unknown name."""
        if not self.learning.encoders:
            raise BadArgument(f"{self.name} has no encoder")
        name = next(iter(self.learning.encoders)) if name is None else check_text("encoder", name)
        if name not in self.learning.encoders:
            raise BadArgument(f"{self.name} has no encoder {short(name)}; it has {', '.join(self.learning.encoders)}")
        return self.learning.encoders[name]

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


PARTS = {"rules": Rules, "text": Text, "table": Table, "learning": Learning, "agents": Agents}
"""The parts of a `Game`."""

PART_OF = {one.name: part for part, kind in PARTS.items() for one in fields(kind)}
"""The part of a `Game` that a field is in, by the name of the field."""

_FACTS = [one.name for one in fields(Game) if one.name not in PARTS and one.init]


def _by_part(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Fields by the part that they are in, "" for the game itself. Raises BadArgument for a name that no field has."""
    found: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        if name not in PART_OF and name not in (*_FACTS, *PARTS):
            raise BadArgument(unknown("field", name, (*_FACTS, *PART_OF)))
        found.setdefault(PART_OF.get(name, ""), {})[name] = value
    return found


def _is_left_out(value: Any) -> bool:
    """Whether a game leaves a field to what follows from its declaration."""
    return value is None or value == 0 or (isinstance(value, Mapping | Sequence) and not value)


def game_of(state: GameState) -> Game | None:
    """The game of a state. None if that cannot be told, as in another process than the one that made it.

    Raises CardaiError for anything but a record.
    """
    return _OF_STATES.get(id(check_kind("state", state, np.void, "a state of a game").dtype))


def is_game(game: Any) -> Game:
    """Returns `game`. Raises CardaiError unless it is a Game."""
    return check_kind("game", game, Game, "what cardai.load() returns")


def check_table(game: Game, states: Any) -> np.ndarray:
    """Return states of one table, STATE[n]. Raises CardaiError unless they are states of the game."""
    return check_states("states", states, is_game(game).state, game.name, game.seats)


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
