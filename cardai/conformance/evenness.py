"""Laws on where hidden cards lie, alone and together, counted over thousands of worlds.

A small bias shows in such counts long before it shows in any single position. Counted are the cards of some groups (low
and high ones, suits, cards like own ones) in each place, pairs of them, hands without any, and whether two given cards
lie in one hand. Each law compares counts that are equally large on average if `resample` is even and uses nothing that
is hidden.

The true state is not an even draw once players have made choices: a seat with few legal moves is likelier to have made
the one that was seen. So truth is compared with worlds at the deal only, when nobody has chosen yet. Later, a world
takes the place of the truth, and worlds of it are compared with it; and worlds are compared with what is even among
cards that no rule tells apart.

Worlds of one view are independent draws, given the view. So each is a sample of its own, though positions of a game are
alike: the mean of what is counted is 0 in each view by itself if the law holds.
"""

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from cardai.conformance.evidence import SIGMA, none_drawn, off_twice, strictness, words
from cardai.conformance.law import NotTested, Steps, at_once, law, need, nothing_hidden
from cardai.conformance.testbed import CARDS, Counted, LawError, Looked, Testbed, View
from cardai.game import listed_pieces

T = TypeVar("T")

LARGER = 2  # how many times larger the second sample is

SUITS = 4
PLACES = 24  # places counted apart; after them, cards that lie in no place that is listed are counted
NOWHERE = PLACES
ASIDE = PLACES + 1  # the first of the sets that are hidden beside the places: cards passed on, or laid face down
ALL = ASIDE + 16
DRAWS = 256  # worlds of a view
ROUNDING = 1e-6
EVIDENT = 8.0  # standard deviations after which the rest of a first sample is not looked at
FEWEST = 150  # views without which counts say little
STEEP = 8  # see `_small_first`
CHUNK = 1000  # states whose cards are counted at once

CARD = np.arange(CARDS)
KINDS = {
    "cards of one rank": CARD[:, None] // SUITS == CARD // SUITS,
    "cards of one suit": CARD[:, None] % SUITS == CARD % SUITS,
    "neighbours in a suit": np.abs(CARD - CARD[:, None]) == SUITS,
}
KIND = np.array([kind & (CARD[:, None] != CARD) for kind in KINDS.values()], np.float32)  # [KINDS, CARDS, CARDS]


@dataclass(frozen=True)
class Tally:
    """Sums of differences whose means are 0 if a law holds, and the variances of the sums: f8[cells]. See `_name`."""

    total: np.ndarray
    variance: np.ndarray

    @property
    def sigmas(self) -> np.ndarray:
        """How far each sum is from 0, in standard deviations."""
        return self.total / np.sqrt(np.maximum(self.variance, 1))


Sample = Generator[Looked, None, Tally | None]
"""Counts at work, as far as they have come; they end with their tally, or None if nothing could be counted."""


@law
def dealt_cards_lie_as_in_worlds(testbed: Testbed) -> Steps:
    """Over many deals, cards of each suit, low and high ones and pairs lie in worlds as in the true state."""
    return _tested(testbed, _dealt, testbed.effort.pooled_deals, "in deals than in worlds")


@law
def worlds_keep_no_card_of_the_truth(testbed: Testbed) -> Steps:
    """Where a card lies, which lie together, how long suits are: what a world comes from is not seen in it."""
    what = "in worlds of a world in which they do than in other worlds"
    return _tested(testbed, functools.partial(_of_views, _kept), testbed.effort.pooled_views, what)


@law
def hidden_cards_lie_evenly(testbed: Testbed) -> Steps:
    """Hidden cards that may lie in the same places lie in each of them equally often, alone and together.

    A rule may tell such cards apart, such as "a seat holds a card of the rank that it asks for". A game with such a
    rule says which cards it does not tell apart (`Game.cards_alike`); if there are none, it is not tested.
    """
    if not testbed.game.cards_alike:
        raise NotTested("the game tells all its cards apart (`cards_alike`)")
    yield from _tested(testbed, functools.partial(_of_views, _uneven), testbed.effort.pooled_views, "than is even")


@law
def chances_are_those_of_worlds(testbed: Testbed) -> Steps:
    """`chances` gives each piece the share of worlds in which a hand has it, the same from any world.

    Positions are pooled: normal effort finds a chance that is off by two percentage points in all of them. A game
    without `chances` or without `Game.holdings` is not tested.
    """
    need(testbed, "chances")
    yield from _tested(testbed, _by_chances, testbed.effort.chances, "than chances says", _named_chance)


def _tested(
    testbed: Testbed,
    tally: Callable[..., Sample],
    count: int,
    what: str,
    name: Callable[[Testbed, int], str] | None = None,
) -> Steps:
    """Break the law if one of the counts is off by more than SIGMA in two samples.

    `tally(testbed, part, count, suspects)` takes a sample of its own for each `part`. The first may be cut; the second,
    which is taken only if something seems to be wrong, is LARGER and is not. Both end early if one of the `suspects`,
    bool[cells], or of all counts if None, is EVIDENT. `what`: compared with what, in words.
    """
    need(testbed, "holdings")
    looked, steps = Looked(0, ""), tally(testbed, 0, count, None)
    try:
        while True:
            looked = next(steps)
            yield looked
    except StopIteration as done:
        first = done.value
    if first is None or not first.variance.any():
        raise nothing_hidden(testbed, "no hidden card was found that may lie in several places")
    again = functools.partial(_again, testbed, tally, LARGER * (max(1, looked.done) if looked.enough else count))
    found = again(first)
    if not found and not looked.enough and looked.done < looked.total:  # it ended early: other counts may be off too
        whole = at_once(tally(testbed, 0, count, np.zeros(len(first.total), bool)))
        found = again(whole) if whole else None
    if found:
        more = "more" if found[1] > 0 else "less"
        raise LawError(
            f"{testbed.anywhere()}, any ply: {(name or _name)(testbed, found[0])} {more} often {what} (5 sigma)"
        )


def _again(testbed: Testbed, tally: Callable[..., Sample], count: int, first: Tally) -> tuple[int, int] | None:
    """Which count is off in a second sample too: its cell and the sign, or None."""
    hint = strictness(int(np.count_nonzero(first.variance)))

    def sigmas() -> np.ndarray:
        second = at_once(tally(testbed, 1, count, np.abs(first.sigmas) > hint))
        return np.zeros_like(first.total) if second is None else second.sigmas

    return off_twice(first.sigmas, sigmas, hint)


def _dealt(testbed: Testbed, part: int, count: int, suspects: np.ndarray | None) -> Sample:
    """Deals less a world of each."""
    tallies = _Sum(suspects)
    each, before = (-(-number // len(testbed.setups)) for number in (count, part * testbed.effort.pooled_deals))
    seen = Looked(each * len(testbed.setups), "deals")
    for setup, first in itertools.product(
        _small_first(testbed.setups, lambda setup: setup.seats), range(0, each, CHUNK)
    ):
        yield seen
        if seen.enough or tallies.is_evident:
            break
        deals = testbed.deals(setup, before + first, min(CHUNK, each - first))
        seen.done += len(deals)
        for seat in range(setup.seats):
            block = deals[seat :: setup.seats]
            worlds = testbed.compiled.worlds_of_each(block, seat, part * setup.seats + seat + first)
            tallies.add(_differences(testbed, block, worlds, seat))
    return tallies.tally


def _small_first(things: Iterable[T], seats: Callable[[T], int]) -> list[T]:
    """Things in an order in which those of small tables come earlier: worlds of large ones may take much longer.

    Before the second thing of a table of s seats come about (s / t) ** STEEP things of a table of t seats.
    """
    number: Counter[int] = Counter()
    keys = []
    for thing in things:
        number[seats(thing)] += 1
        keys.append((number[seats(thing)] * seats(thing) ** STEEP, len(keys), thing))
    return [thing for _, _, thing in sorted(keys, key=lambda key: key[:2])]


def _differences(testbed: Testbed, states: np.ndarray, others: np.ndarray, seat: int) -> Tally:
    """The counts of states less those of others."""
    lie, otherwise = (_lying(testbed, block, seat) for block in (states, others))
    differing, hands = lie != otherwise, slice(1, int(states["seats"][0]))
    few, hidden = np.flatnonzero(differing.any(axis=(1, 2))), differing.any(axis=0)
    counts = [
        _counts(_groups(testbed.small_numbers, block, hidden, lies)[1], lies, few, hands)
        for block, lies in ((states, lie), (others, otherwise))
    ]
    both = [lies[hands].astype(np.float32) for lies in (lie, otherwise)]
    seen, elsewhere, twice = _together(both[0]), _together(both[1]), _both_times(*both)
    total = (counts[0] - counts[1]).sum(axis=0, dtype=float)
    variance = np.square(counts[0] - counts[1]).sum(axis=0, dtype=float)
    return _tally(few, total, seen - elsewhere, variance, seen + elsewhere - 2 * twice)


def _of_views(
    tally: Callable[[View, int, np.ndarray, np.ndarray], Tally],
    testbed: Testbed,
    part: int,
    count: int,
    suspects: np.ndarray | None,
) -> Sample:
    """The tallies of views, each of some worlds and of where the cards lie in them: STATE[DRAWS], see `_lying`."""
    tallies = _Sum(suspects)
    for i, here in enumerate(seen := _views(testbed, count, f"{'kept' if tally is _kept else 'even'} {part}")):
        yield seen
        states = here.worlds(DRAWS, i)
        lie = _lying(testbed, states, here.seat)
        if (lie != lie[:, :1]).any():
            tallies.add(tally(here, i, states, lie))
        if tallies.is_evident:
            break
    return tallies.tally


def _views(testbed: Testbed, count: int, salt: str, least: int = FEWEST) -> Counted[View]:
    return Counted(_small_first(testbed.chosen(count, salt), lambda here: len(here.seats)), "views", least)


def _kept(here: View, i: int, states: np.ndarray, lie: np.ndarray) -> Tally:
    """The covariance of what is counted in worlds and in a world of each: 0 if these do not depend on those.

    The variance is that over all ways to pair the worlds with the others. Of single cards, those that stay count.
    """
    again = _lying(here.testbed, here.compiled.worlds_of_each(states, here.seat, i + 1), here.seat)
    few, hidden = _varying(lie)
    groups, size = _groups(here.testbed.small_numbers, states[:1], hidden[None], lie[:, :1])[1], len(states)
    hands = slice(1, len(here.seats))
    before, after = (_centred(_counts(groups, lies, few, hands)) for lies in (lie, again))
    total = (before * after).sum(axis=0, dtype=float)
    variance = np.square(before).sum(axis=0, dtype=float) * np.square(after).sum(axis=0, dtype=float)
    inside, single = groups[:, 0].astype(float), len(groups) * len(few)
    was, now = (lies[few] - lies[few].mean(axis=1, keepdims=True, dtype=np.float32) for lies in (lie, again))
    total[:single] = (inside @ (was * now).sum(axis=1).T).ravel()
    scatter = np.matmul(was.transpose(0, 2, 1), was) * np.matmul(now.transpose(0, 2, 1), now)
    variance[:single] = ((inside @ scatter) * inside).sum(axis=2).T.ravel()
    both = [lies[hands].astype(np.float32) for lies in (lie, again)]
    first, second = map(_together, both)
    twice = _both_times(*both) - first * second / size
    spreads = first * (1 - first / size) * second * (1 - second / size)
    return _tally(few, total, twice, variance / (size - 1), spreads / (size - 1))


def _varying(lie: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places that have other cards in other worlds, i8[places], and the cards that lie elsewhere: bool[CARDS]."""
    varies = (lie != lie[:, :1]).any(axis=1)
    return np.flatnonzero(varies.any(axis=1)), varies.any(axis=0)


def _centred(numbers: np.ndarray) -> np.ndarray:
    return numbers - numbers.mean(axis=0)


def _uneven(here: View, i: int, states: np.ndarray, lie: np.ndarray) -> Tally:
    """What is counted in worlds, less what is even among the cards that were seen in the same places.

    Such cards are a class. Which cards belong to a group does not depend on how often they were seen where. So if all
    arrangements are equally likely, then given how many cards of each class a place has in a world, these are drawn
    evenly from their class.
    """
    classes, (few, _), hands = _classes(here, states[0], lie), _varying(lie), slice(1, len(here.seats))
    alike = np.any(classes, axis=0)
    groups = _groups(here.testbed.small_numbers, states[:1], alike[None], lie[:, :1])[1] & alike
    lie = lie & alike
    expected, variance = _even(classes, groups[:, 0], lie, few, hands)
    differences = _counts(groups, lie, few, hands) - expected
    rare = np.maximum(expected * (1 - expected), 0).sum(axis=0, dtype=float)  # the least that a whole number varies
    counted = np.maximum(np.square(differences).sum(axis=0, dtype=float), rare)
    chance, spread = _even_pairs(classes, lie, hands)
    total = differences.sum(axis=0, dtype=float)
    return _tally(
        few, total, _together(lie[hands].astype(np.float32)) - chance, np.where(variance < 0, counted, variance), spread
    )


def _by_chances(testbed: Testbed, part: int, count: int, suspects: np.ndarray | None) -> Sample:
    """In how many worlds each piece is in each hand, less what `chances` says, by hand and by tenths of the chance."""
    tallies, most = _Sum(suspects), max(testbed.game.seats)
    for number, here in enumerate(seen := _views(testbed, count, f"chances {part}", FEWEST // 6)):
        yield seen
        worlds = here.worlds(DRAWS, number)
        given = _chances(here, worlds)
        held = np.zeros((len(worlds), *given.shape))
        for i, world in enumerate(worlds):
            for place, cards in enumerate(here.holdings(world)[: len(here.seats)]):
                held[i, place, listed_pieces(cards)] = 1
        off, spread = held - given, given * (1 - given)
        if (wrong := np.abs(off.sum(axis=0)) > len(worlds) * ROUNDING + _most_off(len(worlds) * spread)).any():
            place, piece = (int(k) for k in np.argwhere(wrong)[0])
            share = f"{held[:, place, piece].mean():.3f} of its worlds"
            said = f"chances says {given[place, piece]:.3f} to seat {here.seat}"
            raise here.broken(f"seat {place} has {here.game.pieces[piece]} in {share}, but {said}")
        cells = np.zeros((2, most, given.shape[1]))
        cells[:, : len(given)] = np.roll([off.sum(axis=0), len(worlds) * spread], -here.seat, axis=1)
        tenth = np.minimum((10 * given).astype(int), 9)
        tenths = np.array([(off * (tenth == k) * (spread > 0)).sum(axis=(1, 2)) for k in range(10)])
        tallies.add(Tally(*(np.append(*pair) for pair in zip(cells, (tenths.sum(1), (tenths**2).sum(1)), strict=True))))
        if tallies.is_evident:
            break
    return tallies.tally


def _most_off(variance: np.ndarray) -> np.ndarray:
    """How far counts may be off in one view by chance."""
    return SIGMA * np.sqrt(np.maximum(variance, 0)) + SIGMA**2 / 3 * (variance > 0)


def _chances(here: View, worlds: np.ndarray) -> np.ndarray:
    """What `chances` writes for the seat, the same in two of its worlds: f8[seats, pieces]."""
    assert here.game.chances is not None
    given, others = np.zeros((2, len(here.seats), len(here.game.pieces)))
    for shares, world in ((given, worlds[0]), (others, worlds[1])):
        here.ask(here.game.chances, world.copy(), here.seat, shares)
    if not np.allclose(given, others, rtol=0, atol=ROUNDING):
        raise here.broken(f"chances gives seat {here.seat} other numbers in two of its worlds")
    if given.min() < -ROUNDING or (given.sum(axis=0) > 1 + ROUNDING).any():
        raise here.broken(f"chances gives seat {here.seat} a piece whose chances are below 0 or sum to more than 1")
    return given


def _named_chance(testbed: Testbed, cell: int) -> str:
    """What a cell of `_by_chances` counts, in words."""
    place, piece = divmod(cell, len(testbed.game.pieces))
    if place < max(testbed.game.seats):
        return f"{testbed.game.pieces[piece]} lies in the hand of seat +{place}"
    return f"cards lie in hands where their chances are {piece / 10} to {(piece + 1) / 10}"


def _classes(here: View, state: np.record, lie: np.ndarray) -> np.ndarray:
    """The hidden cards that are alike, in classes of two cards at least: bool[C, CARDS]."""
    alike, told = here.game.cards_alike, np.zeros(CARDS, np.int64)
    if callable(alike):
        for number, cards in enumerate(here.ask(alike, state), 1):
            told[[card for card in range(CARDS) if int(cards) >> card & 1]] = number
    seen = np.concatenate([lie.any(axis=1).T, told[:, None]], axis=1)
    hidden = _varying(lie)[1] & ((told > 0) | (alike is True))
    _, kinds = np.unique(seen, axis=0, return_inverse=True)
    found = [hidden & (kinds.reshape(-1) == kind) for kind in np.unique(kinds[hidden])]
    return np.array([cards for cards in found if cards.sum() > 1], bool).reshape(-1, CARDS)


def _even(
    classes: np.ndarray, groups: np.ndarray, lie: np.ndarray, few: np.ndarray, hands: slice
) -> tuple[np.ndarray, np.ndarray]:
    """The means of `_counts` over even arrangements, given the number of each class in each place: f4[N, cells].

    Also the variances of their sums, f8[cells], but -1 for those of pairs, which have no short formula. `groups`:
    bool[G, CARDS], cards that are in a class.
    """
    taken, sizes = _taken(classes, lie[few]), classes.sum(axis=1)
    n, c = sizes[:, None, None], taken[:, :, None]  # [classes, 1, 1], [N, classes, 1, places]
    m = (classes.astype(np.int64) @ groups.T)[:, :, None]  # [classes, G, 1]
    mean, spread = (c * (m / n)).sum(axis=1), (c * (m / n) * (1 - m / n) * (n - c) / np.maximum(n - 1, 1)).sum(axis=1)
    none = none_drawn(n, m, c).prod(axis=1)
    inside = classes.astype(np.float32)
    kinds = (
        np.tensordot(_pair_chances(_taken(classes, lie[hands]), sizes), inside @ KIND @ inside.T, ((1, 2), (1, 2))) / 2
    )
    means = mean, (spread + mean**2 - mean) / 2, none, kinds
    unknown = np.full(spread[0].size, -1.0), np.full(len(KINDS), -1.0)
    alone, empty = (some.sum(axis=0).ravel() for some in (spread, none * (1 - none)))
    return (
        np.concatenate([some.reshape(len(taken), -1) for some in means], axis=1, dtype=np.float32),
        np.concatenate([alone, unknown[0], empty, unknown[1]]),
    )


def _even_pairs(classes: np.ndarray, lie: np.ndarray, hands: slice) -> tuple[np.ndarray, np.ndarray]:
    """How often two cards would lie in one hand if all were even, and the variance of that: f8[CARDS, CARDS] each."""
    chances = _pair_chances(_taken(classes, lie[hands]), classes.sum(axis=1))
    inside = classes.astype(float)
    sums = chances.sum(axis=0), (chances * (1 - chances)).sum(axis=0)
    return inside.T @ sums[0] @ inside, inside.T @ sums[1] @ inside


def _pair_chances(taken: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The chance that cards of two classes lie in one hand, given `taken` of each: f8[N, classes, classes]."""
    same = np.eye(len(sizes))
    pairs = np.matmul(taken, taken.transpose(0, 2, 1)) - same * taken.sum(axis=2)[:, None]
    return pairs / np.maximum(sizes[:, None] * sizes - same * sizes, 1)


def _taken(classes: np.ndarray, lie: np.ndarray) -> np.ndarray:
    """How many cards of each class some places have: i8[N, classes, places]."""
    return (lie.astype(np.float32) @ classes.T.astype(np.float32)).transpose(1, 2, 0).astype(np.int64)


def _counts(groups: np.ndarray, lie: np.ndarray, few: np.ndarray, hands: slice) -> np.ndarray:
    """What is counted in each state: f4[N, cells]. `groups`: bool[G, N or 1, CARDS]. `few`: the places looked at.

    The cells are, one after another: for each group and place, how many cards of the group lie there, how many pairs of
    them, and whether none does; and for each of KINDS, how many pairs of it lie in one hand of another seat.
    """
    sets, held = lie[few].astype(np.float32), lie[hands].astype(np.float32)
    if groups.shape[1] == 1:
        number = (sets @ groups[:, 0].T.astype(np.float32)).transpose(1, 2, 0)  # [N, G, places]
    else:
        number = np.matmul(groups.transpose(1, 0, 2).astype(np.float32), sets.transpose(1, 2, 0))
    kinds = [(held @ kind * held).sum(axis=(0, 2)) / 2 for kind in KIND]
    cells = [number, number * (number - 1) / 2, (number == 0).astype(np.float32)]
    return np.concatenate([*(cell.reshape(lie.shape[1], -1) for cell in cells), np.array(kinds).T], axis=1)


def _together(hands: np.ndarray) -> np.ndarray:
    """How often two cards lie in one of these hands, f4[hands, N, CARDS]: f8[CARDS, CARDS]."""
    return np.matmul(hands.transpose(0, 2, 1), hands).sum(axis=0, dtype=float)


def _both_times(hands: np.ndarray, others: np.ndarray) -> np.ndarray:
    """How often two cards lie in one hand in a state and also in the other state: f8[CARDS, CARDS]."""
    return sum((_together(hands * other) for other in others), np.zeros((CARDS, CARDS)))


def _tally(few: np.ndarray, total: np.ndarray, together: np.ndarray, variance: np.ndarray, spread: np.ndarray) -> Tally:
    """The sums and variances of `_counts`, for `few` places, and of pairs of cards, for all places."""
    cells = []
    for counts, pairs in ((total, together), (variance, spread)):
        size = len(counts) - len(KINDS)
        everywhere = np.zeros((size // max(1, len(few)), ALL))
        everywhere[:, few] = counts[:size].reshape(len(everywhere), -1)
        cells.append(np.concatenate([np.triu(pairs, 1).ravel(), counts[size:], everywhere.ravel()]))
    return Tally(*cells)


class _Sum:
    """Tallies, added up. `is_evident`: whether one of the suspects, or of all if None, is off by more than EVIDENT.

    That is looked at after 8, 16, 32 ... tallies. It is so much stricter than SIGMA that a sound game gains no chance
    to be blamed, and gross faults take no long look.
    """

    def __init__(self, suspects: np.ndarray | None) -> None:
        self.suspects, self.number, self.tally, self.is_evident = suspects, 0, None, False

    def add(self, tally: Tally) -> None:
        total, number = self.tally, self.number + 1
        total = tally if total is None else Tally(total.total + tally.total, total.variance + tally.variance)
        self.number, self.tally = number, total
        if number >= 8 and number.bit_count() == 1:
            off = np.abs(total.sigmas)
            self.is_evident = bool((off if self.suspects is None else off[self.suspects]).max(initial=0) > EVIDENT)


def _lying(testbed: Testbed, states: np.ndarray, seat: int) -> np.ndarray:
    """Which cards lie in which place: bool[ALL, N, CARDS].

    The first places, one for each seat, are taken for hands and are numbered from the seat on. The others are numbered
    so that the last one has the number PLACES - 1, and cards that are in no place lie in NOWHERE. From ASIDE on come
    hidden sets of cards (`Testbed.aside`), those of seats numbered from the seat on.
    """
    seats = int(states["seats"][0])
    sets, aside = testbed.places[seats].sets(states), testbed.aside[seats]
    count, numbers = sets.shape[1], words(states)
    places = [(p - seat) % seats if p < seats else max(seats, PLACES - count + p) for p in range(count)]
    lie = np.zeros((ALL, len(states), CARDS), bool)
    for p in range(count):
        lie[places[p]] |= _unpacked(sets[:, p])
    lie[NOWHERE] = ~lie.any(axis=0)
    for first, (column, size) in zip(range(ASIDE, ALL, max(testbed.game.seats)), aside, strict=False):
        for p in range(size):
            place = first + ((p - seat) % seats if size > 1 else 0)
            if place < ALL:
                lie[place] = _unpacked(numbers[:, column + p])
    return lie


def _unpacked(sets: np.ndarray) -> np.ndarray:
    """The cards of each set: bool[N, CARDS]."""
    given = np.ascontiguousarray(sets.astype(np.uint64)).view(np.uint8).reshape(len(sets), 8)
    return np.unpackbits(given, axis=1, bitorder="little")[:, :CARDS].astype(bool)


def _groups(
    numbers: list[str], states: np.ndarray, hidden: np.ndarray, lie: np.ndarray
) -> tuple[list[str], np.ndarray]:
    """Groups of cards, bool[G, N, CARDS], and what they are called. `hidden`: bool[N, CARDS], the cards that vary."""
    cards = np.arange(CARDS)
    order, count = hidden.cumsum(axis=1) - 1, hidden.sum(axis=1, keepdims=True)
    quarter = 4 * order // np.maximum(count, 1)
    own = lie[0]
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


def _name(testbed: Testbed, cell: int) -> str:
    """What a cell of a tally counts, in words that "more often" may follow."""
    if cell < CARDS**2:
        pieces = testbed.game.pieces
        pair = [pieces[card] if card < len(pieces) else f"card {card}" for card in divmod(cell, CARDS)]
        return f"{' and '.join(pair)} lie in one hand"
    cell -= CARDS**2
    if cell < len(KINDS):
        return f"{list(KINDS)[cell]} lie in one hand"
    none = np.zeros((1, CARDS), bool)
    names, _ = _groups(testbed.small_numbers, np.zeros(1, testbed.game.state), none, np.zeros((ALL, 1, CARDS), bool))
    what, rest = divmod(cell - len(KINDS), len(names) * ALL)
    group, place = divmod(rest, ALL)
    several, where = names[group], _named(testbed, place)
    return (f"{several} lie in {where}", f"two of {several} lie in {where}", f"none of {several} lies in {where}")[what]


def _named(testbed: Testbed, place: int) -> str:
    most = max(testbed.game.seats)
    if place >= ASIDE:
        return f"a set beside the places, of seat +{(place - ASIDE) % most}"
    if most <= place < NOWHERE:
        return f"a pile (the last place but {PLACES - 1 - place})"
    return "the unlisted places" if place == NOWHERE else f"the place of seat +{place}"
