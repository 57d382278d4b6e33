"""Where the cards lie: how many of each kind in each place, found in whole blocks of states.

`Table.holdings` says it for one state, in Python. The places of some examples are compared with the numbers in their
states; what always agrees is read from the state then, which is much faster. A place that agreed by accident would make
laws count cards that do not lie there, so a place is read only if its cards change in enough examples.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from cardai.errors import CardaiError, whole
from cardai.game import counts_of
from cardai.laws.evidence import LOGS, words

WORD = 64  # bits of a number of a state
SUITS = 4
DIFFERENT = 8  # examples in which a place holds something else than in most, at least, if it is to be found in states
RANKED = 62  # more cards than this are no deck of ranks and four suits


@dataclass(frozen=True, eq=False)
class CardKinds:
    """The kinds of card that a game has. `copies`: i8[kinds], how many cards of each, all 1 if places are sets.

    `names`: of the kinds. `are_counts`: whether `Table.holdings` gives counts of kinds, not sets.
    """

    copies: np.ndarray
    names: tuple[str, ...]
    are_counts: bool

    @property
    def kinds(self) -> int:
        return len(self.copies)

    @property
    def is_ranked(self) -> bool:
        """Whether the cards may be ranks of four suits, the suits of a rank side by side."""
        return not self.are_counts and self.kinds <= RANKED and self.kinds % SUITS == 0

    @functools.cached_property
    def pairs(self) -> dict[str, np.ndarray]:
        """Kinds of pairs, by what they are called: f4[kinds, kinds], 1 where two cards are such a pair."""
        card = np.arange(self.kinds)
        first, second = card[:, None], card
        if self.is_ranked:
            found = {
                "cards of one rank": first // SUITS == second // SUITS,
                "cards of one suit": first % SUITS == second % SUITS,
                "neighbours in a suit": np.abs(second - first) == SUITS,
            }
            return {name: (pair & (first != second)).astype(np.float32) for name, pair in found.items()}
        found = {"neighbours by number": np.abs(second - first) == 1}
        found |= {"cards of one kind": first == second} if self.are_counts else {}
        return {name: pair.astype(np.float32) for name, pair in found.items()}

    def counted(self, held: Any) -> np.ndarray:
        """What `Table.holdings` gave, a list, as counts: i8[places, kinds].

        Raises CardaiError for a set with cards that the game does not have, and for what are no counts.
        """
        if self.are_counts:
            return counts_of(held, self.copies, self.names)
        sets = [self.members(cards, f"holdings: place {place}") for place, cards in enumerate(held)]
        return np.array(sets, np.int64).reshape(-1, self.kinds)

    def members(self, cards: Any, what: str) -> np.ndarray:
        """A set of kinds as bool[kinds]. Raises CardaiError, which calls it `what`, if it is no such set."""
        if (highest := whole(what, cards, 0).bit_length() - 1) >= self.kinds:
            raise CardaiError(f"{what} has card {highest}; cards are 0 to {self.kinds - 1}")
        bits = np.frombuffer(int(cards).to_bytes(-(-self.kinds // 8), "little"), np.uint8)
        return np.unpackbits(bits, count=self.kinds, bitorder="little").astype(bool)


def log_deals(counts: np.ndarray) -> np.ndarray:
    """The logarithm of how many deals of cards that are told apart become these counts, but for a constant: f8[N].

    `counts`: i8[N, places, kinds] of places whose order is no part of a state.
    """
    return -LOGS[counts].sum(axis=(1, 2))


class Places:
    """Where the cards lie at tables of one number of seats.

    Places that cannot be read from the numbers of a state are left out, as are those that hold the same cards in almost
    all `examples`. If none can be read, `Table.holdings` is called.
    `found`: the numbers of the places that are not left out. `read_from`: the columns of the numbers of a state from
    which each of them is read. `lists`: what reads those places that are lists in the
    state, so that their order is part of it. `seen`: bool[kinds], the kinds that lay somewhere in an example.
    """

    def __init__(self, examples: np.ndarray, holdings: Callable[[np.record], np.ndarray], deck: CardKinds) -> None:
        self._holdings, self.deck = holdings, deck
        counts, numbers = self._listed(examples), words(examples)
        self.seen = counts.any(axis=(0, 1))
        self.count = counts.shape[1]
        lists = _lists(examples, deck.kinds)
        self._readers: dict[int, Reading] = {}
        self.lists: dict[int, Reading] = {}
        for place in range(self.count):
            wanted = counts[:, place]
            if len(wanted) - np.unique(wanted, axis=0, return_counts=True)[1].max() < DIFFERENT:
                continue
            of_list = lists.get(np.ascontiguousarray(wanted, np.int64).tobytes())
            reader = _of_sets(wanted, numbers) or _of_counts(wanted, numbers) or of_list
            if of_list is not None:
                self.lists[place] = of_list
            if reader is not None:
                self._readers[place] = reader
        self.found = list(self._readers) or list(range(self.count))
        self.read_from = {place: reader.columns for place, reader in self._readers.items()}
        self.columns = {column for columns in self.read_from.values() for column in columns}

    def counts(self, states: np.ndarray) -> np.ndarray:
        """The number of cards of each kind in each place that was found: i8 or smaller [N, places, kinds]."""
        if not self._readers:
            return self._listed(states)
        numbers = words(states)
        return np.stack([reader.read(numbers, self.deck.kinds) for reader in self._readers.values()], axis=1)

    def all_counts(self, states: np.ndarray) -> np.ndarray:
        """The number of cards of each kind in every place, and last in none: i8[N, places + 1, kinds]."""
        held = self.counts(states) if len(self.found) == self.count else self._listed(states)
        left = self.deck.copies - held.sum(axis=1, dtype=np.int64)
        return np.concatenate([held, np.maximum(left, 0)[:, None]], axis=1, dtype=np.int64)

    def sizes(self, states: np.ndarray) -> np.ndarray:
        """The number of cards in each place that was found: i8[N, places]."""
        return self.counts(states).sum(axis=2, dtype=np.int64)

    def _listed(self, states: np.ndarray) -> np.ndarray:
        """The places that every state has, as `Table.holdings` gives them: i8[N, places, kinds]."""
        held = [self._holdings(state) for state in states]
        count = min(map(len, held), default=0)
        return np.array([counts[:count] for counts in held], np.int64).reshape(len(held), count, self.deck.kinds)


@dataclass(frozen=True, eq=False)
class Reading:
    """What reads the counts of a place from some columns of the numbers of states.

    `of(own, kinds)` makes them, i8[N, kinds], of the numbers in these columns, i8[N, columns]. `first`: of a list of
    cards, what is added to the numbers of their kinds.
    """

    columns: list[int]
    of: Callable[[np.ndarray, int], np.ndarray]
    first: int = 0

    def read(self, numbers: np.ndarray, kinds: int) -> np.ndarray:
        """The counts in states, by their numbers, i8[N, words]: i8[N, kinds]."""
        return self.of(numbers[:, self.columns], kinds)

    def seen(self, numbers: np.ndarray, kinds: int) -> np.ndarray:
        """Which kinds were seen in each place of a list: bool[kinds, places]."""
        cards = numbers[:, self.columns] - self.first
        return (cards == np.arange(kinds)[:, None, None]).any(axis=1)


def unpacked(sets: np.ndarray) -> np.ndarray:
    """The members of sets that are numbers of a state: u8[N, WORD], 0 or 1."""
    given = np.ascontiguousarray(sets.astype(np.uint64)).view(np.uint8).reshape(len(sets), WORD // 8)
    return np.unpackbits(given, axis=1, bitorder="little")


def _of_sets(wanted: np.ndarray, numbers: np.ndarray) -> Reading | None:
    """What reads a place, i8[N, kinds], that is a set in one number of the states, or in several."""
    if wanted.max(initial=0) != 1:
        return None
    known: dict[bytes, list[int]] = {}
    for column in range(numbers.shape[1]):
        known.setdefault(numbers[:, column].tobytes(), []).append(column)
    kinds = wanted.shape[1]
    for size in range(min(kinds, WORD), min(kinds, WORD) // 8, -1):
        columns: list[int] = []
        for first in range(0, kinds, size):
            part = wanted[:, first : first + size].astype(np.uint64)
            number = (part << np.arange(part.shape[1], dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
            after = columns[-1] if columns else -1
            here = known.get(number.view(np.int64).tobytes(), [])
            columns.append(next((column for column in here if column > after), -1))
            if columns[-1] < 0:
                break
        else:
            return Reading(columns, partial(_members, size))
    return None


def _members(size: int, own: np.ndarray, kinds: int) -> np.ndarray:
    """The cards of sets in numbers with `size` cards in each: u1[N, kinds]."""
    return unpacked(own.ravel()).reshape(*own.shape, WORD)[:, :, :size].reshape(len(own), -1)[:, :kinds]


def _of_counts(wanted: np.ndarray, numbers: np.ndarray) -> Reading | None:
    """What reads a place that has a number for each kind, at equal distances, in the states."""
    varying = np.flatnonzero((wanted != wanted[:1]).any(axis=0))
    others = [kind for kind in varying[1:] if (wanted[:, kind] != wanted[:, varying[0]]).any()]
    if not others:
        return None
    first, second = int(varying[0]), int(others[0])
    starts, ends = ((numbers == wanted[:, [kind]]).all(axis=0).nonzero()[0] for kind in (first, second))
    for start in starts.tolist():
        for other in ends.tolist():
            step, rest = divmod(other - start, second - first)
            columns = start + step * (np.arange(wanted.shape[1]) - first)
            fits = step > 0 and rest == 0 and columns[0] >= 0 and columns[-1] < numbers.shape[1]
            if fits and (numbers[:, columns] == wanted).all():
                return Reading(columns.tolist(), lambda own, kinds: own)
    return None


def _lists(examples: np.ndarray, kinds: int) -> dict[bytes, Reading]:
    """What reads each list of cards in states, by the bytes of the counts, i8[N, kinds], that it reads in examples.

    Numbers that are no card's stand for no card. A list that is always sorted keeps no order, so it is left out.
    """
    found, numbers = {}, words(examples)
    for kind, offset, *_ in (examples.dtype.fields or {}).values():
        size = kind.shape[-1] if kind.shape else 1
        for start, first in product(range(offset // 8, (offset + kind.itemsize) // 8, size), (0, 1)):
            cards = numbers[:, start : start + size] - first
            reader = Reading([*range(start, start + size)], partial(_of_list, first), first)
            falls = (cards[:, 1:] >= 0) & (cards[:, :-1] > cards[:, 1:])
            if falls.any() and (read := reader.read(numbers, kinds)).sum(axis=1).max() > 1:
                found.setdefault(read.astype(np.int64).tobytes(), reader)
    return found


def _of_list(first: int, own: np.ndarray, kinds: int) -> np.ndarray:
    cards = own - first
    rows, places = np.nonzero((cards >= 0) & (cards < kinds))
    cells = rows * kinds + cards[rows, places]
    return np.bincount(cells, minlength=len(cards) * kinds).reshape(len(cards), kinds)
