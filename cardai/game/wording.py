"""Moves of a declared game: their words, which also say what a move consists of."""

import functools
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cardai.errors import CardaiError, unknown
from cardai.game import move_dtype
from cardai.game.fields import Declaration, renamed_sets
from cardai.game.written import Source, written

MOST_ACTIONS = 128
"""Forms of moves, at most, that get a number each."""

_SLOT = re.compile(r"\{([a-z_]+)(?::([a-z]+))?\}")
_KINDS = ("card", "suit", "rank", "seat", "number", "cards")


class Moves:
    """A game's moves, declared by their words, in the order of their kinds. Give it to `Game` as `move`.

    `words`: a verb in the third person and what it is about, as in `Moves("draws", "discards {card}")`. A slot names a
    field of the move and what that is: "card", "suit", "rank", "seat", "number" or "cards" (a set); where they differ,
    `{card:suit}` is the field `card`, which holds a suit. With several kinds the first field of the move is `kind`, the
    number of its words; a field that a kind does not have is 0.
    `hidden`: numbers of kinds whose slots others do not learn. `numbers`: the range of fields that hold numbers.
    Raises CardaiError for a slot of another kind.
    """

    def __init__(self, *words: str, hidden: Sequence[int] = (), numbers: Mapping[str, range] | None = None) -> None:
        self.words, self.hidden, self.numbers = words, tuple(hidden), dict(numbers or {})
        self.slots = [[(name, kind or name) for name, kind in _SLOT.findall(one)] for one in words]
        fields = list(dict.fromkeys(name for slots in self.slots for name, _ in slots))
        for name, kind in itertools.chain.from_iterable(self.slots):
            if kind not in _KINDS:
                raise CardaiError(
                    f"Moves: {{{name}}}: {unknown('kind of slot', kind, _KINDS)}; {{{name}:number}} is one"
                )
        self.fields = (["kind"] if len(words) > 1 else []) + fields
        self.dtype = move_dtype(*self.fields)
        _MOVES[id(self.dtype)] = self

    def turned(self, moves: np.ndarray, by: int, seats: int) -> np.ndarray:
        """Moves, MOVE[N], as they are when all seats have moved on by `by`: those that name a seat name another."""
        found = moves.copy()
        for kind, slots in enumerate(self.slots):
            of_kind = moves["kind"] == kind if len(self.words) > 1 else np.ones(len(moves), bool)
            for name, slot in slots:
                if slot == "seat":
                    found[name][of_kind] = (moves[name][of_kind] + by) % seats
        return found

    def renamed(self, moves: np.ndarray, state: Declaration, names: Sequence[int]) -> np.ndarray:
        """Moves, MOVE[N], as they are when suits have other names: `names[suit]` is the new one of a suit."""
        found, cards = moves.copy(), np.array(state.deck.renamed(names))
        for kind, slots in enumerate(self.slots):
            of_kind = moves["kind"] == kind if len(self.words) > 1 else np.ones(len(moves), bool)
            for name, slot in slots:
                values = moves[name][of_kind]
                if slot in ("card", "suit"):
                    found[name][of_kind] = (cards if slot == "card" else np.array(names))[values]
                elif slot == "cards":
                    found[name][of_kind] = renamed_sets(values, cards, is_wide=False)
        return found

    @functools.cached_property
    def add(self) -> Callable[..., int]:
        """The rule `add(moves, n, ...)` for `legal`: writes a move with these fields as `moves[n]`; returns n + 1."""
        text = Source(f"def add({', '.join(['moves', 'n', *self.fields])}):")
        text.add(*(f"moves[n].{name} = {name}" for name in self.fields), "return n + 1")
        return written(text, "move")

    @functools.cached_property
    def add_each(self) -> Callable[..., int]:
        """The rule `add_each(moves, n, kind, cards)`: writes a move for each card of a set, as `moves[n]` and after it.

        Without kinds it is `add_each(moves, n, cards)`. Fields that are neither `kind` nor `card` are 0. Returns the
        number of the next move.
        """
        with_kind = ["kind"] if "kind" in self.fields else []
        text = Source(f"def add_each({', '.join(['moves', 'n', *with_kind, 'cards'])}):")
        with text.block("while cards != 0:"):
            for name in self.fields:
                text.add(f"moves[n].{name} = {'kind' if name == 'kind' else 'lowest(cards)' if name == 'card' else 0}")
            text.add("cards &= cards - 1", "n += 1")
        text.add("return n")
        return written(text, "move")

    def kind_of(self, move: Any) -> int:
        """The kind of a move: the number of its words."""
        return int(move["kind"]) if len(self.words) > 1 else 0

    def spelled(self, state: Declaration, move: Any) -> str:
        """A move in its words."""
        kind = self.kind_of(move)
        values = {name: _value(state, slot, int(move[name])) for name, slot in self.slots[kind]}
        return _SLOT.sub(lambda found: values[found[1]], self.words[kind])

    def derived(self, state: Declaration, given: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of `Game` that follow: the type, words, what is pointed at, and numbers where there are few."""
        made: dict[str, Any] = {"move": self.dtype}
        if not given.get("spell"):
            made["spell"] = lambda record, move: self.spelled(state, move)
        if any("card" in (kind for _, kind in slots) or "cards" in (kind for _, kind in slots) for slots in self.slots):
            made["picks"] = functools.partial(_picked, self)
        if self.hidden:
            made["tell"] = functools.partial(_told, self, state)
        forms = self.forms(state)
        if forms is not None:
            made["actions"] = {form: number for number, form in enumerate(forms)}
            made["max_moves"] = len(forms)
        return made

    def forms(self, state: Declaration) -> list[tuple[int, ...]] | None:
        """All moves that the words allow, in canonical order; None if there are more than `MOST_ACTIONS`."""
        found: list[tuple[int, ...]] = []
        for number, slots in enumerate(self.slots):
            ranges = {"kind": range(number, number + 1)} if len(self.words) > 1 else {}
            for name, kind in slots:
                if kind == "cards" or (kind == "number" and name not in self.numbers):
                    return None
                sizes = {
                    "card": state.kinds,
                    "suit": len(state.deck.suits),
                    "rank": len(state.deck.ranks),
                    "seat": state.seats,
                }
                ranges[name] = self.numbers[name] if name in self.numbers else range(sizes[kind])
            found += itertools.product(*(ranges.get(name, range(1)) for name in self.fields))
            if len(found) > MOST_ACTIONS:
                return None
        return sorted(found)


_MOVES: dict[int, Moves] = {}


def moves_of(dtype: np.dtype) -> Moves | None:
    """The declaration that a move's type was made from, None if it was made by `move_dtype`."""
    found = _MOVES.get(id(dtype))
    return found if found is not None and found.dtype is dtype else None


def _value(state: Declaration, kind: str, value: int) -> str:
    deck = state.deck
    names: dict[str, Callable[[], str]] = {
        "card": lambda: deck.name(value), "suit": lambda: deck.suit_words[value], "rank": lambda: deck.ranks[value],
        "seat": lambda: f"p{value}", "number": lambda: str(value), "cards": lambda: deck.names(value),
    }  # fmt: skip
    return names[kind]()


def _told(moves: Moves, state: Declaration, record: Any, move: Any, seat: int) -> str:
    kind = moves.kind_of(move)
    if kind not in moves.hidden:
        return moves.spelled(state, move)
    slots = dict(moves.slots[kind])
    return _SLOT.sub(lambda found: "cards" if slots[found[1]] == "cards" else f"a {slots[found[1]]}", moves.words[kind])


def _picked(moves: Moves, record: Any, move: Any) -> int:
    found = 0
    for name, slot in moves.slots[moves.kind_of(move)]:
        if slot in ("card", "cards"):
            found |= 1 << int(move[name]) if slot == "card" else int(move[name])
    return found
