"""Laws on where hidden cards lie, counted over thousands of worlds: low and high cards, suits, cards like own ones.

A small bias shows in such counts long before it shows in any single position. Each law compares counts that are equally
large on average if `resample` is even and uses nothing that is hidden.

The true state is not an even draw once players have made choices: a seat with few legal moves is likelier to have made
the one that was seen. So truth is compared with worlds at the deal only, when nobody has chosen yet. Later, worlds are
compared with worlds, and with what is even among cards that no rule tells apart.
"""

import functools
from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

from cardai.conformance.evidence import off_twice
from cardai.conformance.law import Steps, at_once, law
from cardai.conformance.testbed import Counted, LawError, Looked, Testbed, View

LARGER = 2  # how many times larger the second sample is
CARDS = 62  # the most that a set can hold
SUITS = 4
PLACES = 24  # places counted apart; after them, cards that lie in no place that is listed are counted
NOWHERE = PLACES
DRAWS = 256  # worlds of a view
CHUNK = 2000  # states whose cards are counted at once


@dataclass(frozen=True)
class Tally:
    """Sums of differences whose means are 0 if a law holds, and the variances of the sums: f8[groups, PLACES + 1]."""

    total: np.ndarray
    variance: np.ndarray

    @property
    def sigmas(self) -> np.ndarray:
        """How far each sum is from 0, in standard deviations."""
        return self.total / np.sqrt(np.maximum(self.variance, 1))


@law
def dealt_cards_lie_as_in_worlds(testbed: Testbed) -> Steps:
    """Over many deals, low and high cards, suits, trumps and cards like own ones lie in worlds as in the true state."""
    return _tested(testbed, _dealt, testbed.effort.pooled_deals, "in deals than in worlds")


@law
def worlds_keep_no_card_of_the_truth(testbed: Testbed) -> Steps:
    """A card stays where it was in the state that a world is drawn from only as often as chance has it."""
    what = "where they lay in the state resampled than in another world of it"
    return _tested(testbed, functools.partial(_of_views, _kept), testbed.effort.pooled_views, what)


@law
def hidden_cards_lie_evenly(testbed: Testbed) -> Steps:
    """Hidden cards that may lie in the same places lie in each of them equally often: low and high ones, all suits.

    A rule may tell such cards apart, such as "a seat holds a card of the rank that it asks for". A game with such a
    rule says so (`Game.cards_alike`) and is not tested.
    """
    count = testbed.effort.pooled_views if testbed.game.cards_alike else 0
    return _tested(testbed, functools.partial(_of_views, _uneven), count, "than is even")


def _tested(
    testbed: Testbed, tally: Callable[[Testbed, int, int], Generator[Looked, None, Tally | None]], count: int, what: str
) -> Steps:
    """Break the law if the count of a group of cards in a place is off by more than SIGMA in two samples.

    `tally(testbed, part, count)` takes a sample of its own for each `part`. The first may be cut; the second, which is
    taken only if something seems to be wrong, is larger and is not. `what`: compared with what, in words.
    """
    first = yield from tally(testbed, 0, count if testbed.game.holdings else 0)
    if first is None:
        return

    def again() -> np.ndarray:
        second = at_once(tally(testbed, 1, LARGER * count))
        assert second is not None
        return second.sigmas

    if found := off_twice(first.sigmas, again):
        more = "more" if found[1] > 0 else "less"
        raise LawError(f"{testbed.anywhere()}, any ply: {_named(testbed, found[0])} lie {more} often {what} (5 sigma)")


def _dealt(testbed: Testbed, part: int, count: int) -> Generator[Looked, None, Tally | None]:
    """Deals less a world of each."""
    tallies = []
    each = -(-count // len(testbed.setups))
    seen = Looked(each * len(testbed.setups), "deals")
    for setup in testbed.setups if each else ():
        yield seen
        if seen.enough:
            break
        deals = testbed.deals(setup, part * each, each)
        seen.done += each
        for seat in range(setup.seats):
            block = deals[seat :: setup.seats]
            worlds = testbed.compiled.worlds_of_each(block, seat, part * setup.seats + seat)
            tallies.append(_differences(testbed, block, worlds, seat))
    return _sum(tallies)


def _differences(testbed: Testbed, states: np.ndarray, others: np.ndarray, seat: int) -> Tally | None:
    """The counts of states less those of others."""
    tallies = []
    for first in range(0, len(states), CHUNK):
        pair = states[first : first + CHUNK], others[first : first + CHUNK]
        where, elsewhere = (_where(testbed, block, seat) for block in pair)
        differing = where != elsewhere
        counts = [
            _counts(_groups(testbed.numbers, block, differing, places)[1], places)
            for block, places in zip(pair, (where, elsewhere), strict=True)
        ]
        tallies.append(_tally(counts[0] - counts[1]))
    return _sum(tallies)


def _of_views(
    tally: Callable[[View, int, np.ndarray, np.ndarray], Tally], testbed: Testbed, part: int, count: int
) -> Generator[Looked, None, Tally | None]:
    """The tallies of views, each of some worlds and the places of the cards in them: STATE[DRAWS], i8[DRAWS, CARDS]."""
    tallies = []
    views = testbed.chosen(count, f"{'kept' if tally is _kept else 'even'} {part}") if count else ()
    for i, here in enumerate(seen := Counted(views, "views")):
        yield seen
        states = here.worlds(DRAWS, i)
        where = _where(testbed, states, here.seat)
        if (where != where[0]).any():
            tallies.append(tally(here, i, states, where))
    return _sum(tallies)


def _kept(here: View, i: int, states: np.ndarray, where: np.ndarray) -> Tally:
    """Cards that stay where they were in the world resampled, less those that are there in another world of it."""
    hidden = np.repeat((where != where[0]).any(axis=0, keepdims=True), DRAWS, axis=0)
    again = _where(here.testbed, here.compiled.worlds_of_each(states, here.seat, i + 1), here.seat)
    _, groups = _groups(here.testbed.numbers, states, hidden, where)
    swapped = again.reshape(-1, 2, CARDS)[:, ::-1].reshape(-1, CARDS)
    stay, other = (_counts(groups & (where == place), where) for place in (again, swapped))
    return _tally((stay - other).reshape(-1, 2, *stay.shape[1:]).sum(axis=1))


def _uneven(here: View, i: int, states: np.ndarray, where: np.ndarray) -> Tally:
    """Cards in each place in worlds, less what is even among the cards that were seen in the same places.

    Which cards belong to a group does not depend on how often they were seen where. So if all arrangements are equally
    likely, the difference has the variance of a sum of numbers drawn without replacement.
    """
    hidden = (where != where[0]).any(axis=0)
    groups = _groups(here.testbed.numbers, states[:1], hidden[None], where[:1])[1][:, 0] & hidden
    seen = _onehot(where).sum(axis=0)
    total = np.zeros((len(groups), PLACES + 1))
    variance = np.zeros_like(total)
    _, kinds = np.unique(seen > 0, axis=0, return_inverse=True)
    for kind in np.unique(kinds[hidden]):
        alike = hidden & (kinds.reshape(-1) == kind)
        n, counts = int(alike.sum()), seen[alike]
        if n > 1:
            inside = groups[:, alike].astype(float)
            taken = inside.sum(axis=1, keepdims=True)
            total += inside @ (counts - counts.mean(axis=0))
            variance += taken * (n - taken) / (n - 1) * counts.var(axis=0)
    return Tally(total, variance)


def _tally(differences: np.ndarray) -> Tally:
    """f4[N, G, PLACES + 1], one for each independent sample."""
    return Tally(differences.sum(axis=0, dtype=float), (differences.astype(float) ** 2).sum(axis=0))


def _sum(tallies: list[Tally | None]) -> Tally | None:
    given = [tally for tally in tallies if tally is not None]
    if not given:
        return None
    return Tally(sum(tally.total for tally in given), sum(tally.variance for tally in given))  # pyright: ignore


def _where(testbed: Testbed, states: np.ndarray, seat: int) -> np.ndarray:
    """The place of each card: i8[N, CARDS].

    The first places, one for each seat, are taken for hands and are numbered from the seat on. The others are numbered
    so that the last one has the number PLACES - 1, and cards that are in no place have the number NOWHERE.
    """
    seats = int(states["seats"][0])
    sets = testbed.places[seats].sets(states).astype(np.uint64)
    count = sets.shape[1]
    number = [(p - seat) % seats if p < seats else max(seats, PLACES - count + p) for p in range(count)]
    bits = np.unpackbits(np.ascontiguousarray(sets).view(np.uint8), bitorder="little")
    bits = bits.reshape(len(sets), count, 64)[:, :, :CARDS]
    where = np.array(number, np.int8)[bits.argmax(axis=1)]
    return np.where(bits.any(axis=1), where, NOWHERE)


def _onehot(where: np.ndarray) -> np.ndarray:
    """f4[N, CARDS, PLACES + 1]."""
    return (where[:, :, None] == np.arange(PLACES + 1, dtype=np.int8)).astype(np.float32)


def _counts(groups: np.ndarray, where: np.ndarray) -> np.ndarray:
    """How many cards of each group lie in each place: f4[N, G, PLACES + 1]. `groups`: bool[G, N, CARDS]."""
    return np.matmul(groups.transpose(1, 0, 2).astype(np.float32), _onehot(where))


def _groups(
    numbers: list[str], states: np.ndarray, hidden: np.ndarray, where: np.ndarray
) -> tuple[list[str], np.ndarray]:
    """Groups of cards, bool[G, N, CARDS], and what they are called. `hidden`: bool[N, CARDS], the cards that vary."""
    cards = np.arange(CARDS)
    order, count = hidden.cumsum(axis=1) - 1, hidden.sum(axis=1, keepdims=True)
    quarter = 4 * order // np.maximum(count, 1)
    own = where == 0
    ranks = own[:, : CARDS // SUITS * SUITS].reshape(len(own), -1, SUITS)
    longest = ranks.sum(axis=1).argmax(axis=1)[:, None]
    own_ranks = np.pad(np.repeat(ranks.any(axis=2), SUITS, axis=1), ((0, 0), (0, CARDS % SUITS)))
    groups = {
        "all cards": np.ones_like(hidden),
        "the lowest hidden card": hidden & (order == 0),
        "the highest hidden card": hidden & (order == count - 1),
        "low hidden cards": hidden & (quarter == 0),
        "high hidden cards": hidden & (quarter == 3),
        **{f"cards of suit {suit}": np.broadcast_to(cards % SUITS == suit, hidden.shape) for suit in range(SUITS)},
        "cards of an own rank": own_ranks & ~own,
        "cards of the longest own suit": (cards % SUITS == longest) & ~own,
        "cards next above own ones": np.pad(own[:, :-SUITS], ((0, 0), (SUITS, 0))) & ~own,
    }
    for name in numbers:
        number = states[name][:, None]
        suit = (number < SUITS) & (cards % SUITS == number)
        groups |= {f"cards of the suit state.{name}": suit, f"hidden cards of the suit state.{name}": hidden & suit}
        groups[f"cards of the rank of state.{name}"] = (number >= 0) & (cards // SUITS == number // SUITS)
    return list(groups), np.array(list(groups.values()))


def _named(testbed: Testbed, cell: int) -> str:
    """Which cards in which place a cell of a tally counts, in words."""
    (group, place), most = divmod(cell, PLACES + 1), max(testbed.game.seats)
    none = np.zeros((1, CARDS), bool)
    names, _ = _groups(testbed.numbers, np.zeros(1, testbed.game.state), none, none)
    if most <= place < NOWHERE:
        return f"{names[group]} in a pile (the last place but {PLACES - 1 - place})"
    return f"{names[group]} in {'the unlisted places' if place == NOWHERE else f'the place of seat +{place}'}"
