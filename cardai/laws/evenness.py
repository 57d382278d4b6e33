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
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from cardai.laws.evidence import SIGMA, none_drawn, off_twice, strictness, words
from cardai.laws.law import NotTested, Steps, at_once, law, need, nothing_hidden
from cardai.laws.places import SUITS, CardKinds, Places, log_deals
from cardai.laws.testbed import EVEN, Counted, LawError, Looked, Testbed, Trace, View

T = TypeVar("T")

LARGER = 2  # how many times larger the second sample is

PLACES = 24  # places counted apart; after them, cards that lie in no place that is listed are counted
NOWHERE = PLACES
ASIDE = PLACES + 1  # the first of the sets that are hidden beside the places: cards passed on, or laid face down
ALL = ASIDE + 16
_PAIRS_BESIDE = [*itertools.combinations(range(ASIDE, ALL), 2)]
BESIDE = len(_PAIRS_BESIDE)
DRAWS = 256  # worlds of a view
MORE = 1024  # further worlds that show which of some cards that are alike lie in a place for certain
CERTAIN = 25.0  # worlds that should have shown fewer cards of a kind in a place, if fewer may lie there
HEADROOM, LEAST_COUNTED = 2.0, 1 / 32  # see `_evening`
ROUNDING = 1e-6
EVIDENT = 8.0  # standard deviations after which the rest of a first sample is not looked at
TOLD = 3  # states in which it is asked which cards are alike, the true one among them: a draw may change that
FEWEST = 150  # views without which counts say little
STEEP = 8  # see `_small_first`
CHUNK = 1000  # states whose cards are counted at once
PHASES = {"early": (0, 1 / 4), "late": (3 / 4, 1)}  # shares of a game, in which views count once more
PAIRED = 256  # kinds of card, at most, of which each pair is counted by itself


@dataclass(frozen=True, eq=False)
class Drawn(View):
    """A view of the seat to move, and its worlds after the move. `share`: of the game's draws that came before."""

    share: float

    def worlds(self, count: int, seed: int | None = None) -> np.ndarray:
        """Worlds of the state for the seat, after the move that was made: STATE[count]."""
        return self.compiled.moved(super().worlds(count, seed), self.move)


@dataclass(frozen=True)
class Tally:
    """Sums of differences whose means are 0 if a law holds, and the variances of the sums: f8[cells]. See `_names`."""

    total: np.ndarray
    variance: np.ndarray

    @property
    def sigmas(self) -> np.ndarray:
        """How far each sum is from 0, in standard deviations of a normal distribution with as small a tail.

        Rare events add up to a Poisson distribution, whose tail is heavier: 6 where 1 is expected are not 5 sigma.
        """
        variance, off = np.maximum(self.variance, 1), np.abs(self.total)
        surprise = (variance + off) * np.log1p(off / variance) - off
        return np.sign(self.total) * np.sqrt(2 * np.maximum(surprise, 0))


Sample = Generator[Looked, None, Tally | None]
"""Counts at work, as far as they have come; they end with their tally, or None if nothing could be counted."""


@law
def dealt_cards_lie_as_in_worlds(testbed: Testbed) -> Steps:
    """Over many deals, cards of each suit, low and high ones and pairs lie in worlds as in the true state."""
    return _tested(testbed, _dealt, testbed.effort.pooled_deals, "in deals than in worlds", _names_of_parts)


@law
def worlds_keep_no_card_of_the_truth(testbed: Testbed) -> Steps:
    """Where a card lies, which lie together, how long suits are: what a world comes from is not seen in it."""
    what = "in worlds of a world in which they do than in other worlds"
    return _tested(testbed, functools.partial(_of_views, _kept), testbed.effort.pooled_views, what, _names_of_parts)


@law
def hidden_cards_lie_evenly(testbed: Testbed) -> Steps:
    """Hidden cards that may lie in the same places lie in each of them equally often, alone and together."""
    if not testbed.game.cards_alike:
        raise NotTested("the game tells all its cards apart (`cards_alike`)")
    what = "than is even, which `weight` or `cards_alike` would have to say,"
    yield from _tested(
        testbed, functools.partial(_of_views, _uneven), testbed.effort.pooled_views, what, _names_of_parts
    )


@law
def what_is_drawn_lies_evenly(testbed: Testbed) -> Steps:
    """Where a move draws cards, in all worlds of the seat that makes it, they lie as evenly as if nothing had moved."""
    if testbed.game.rules.weight is not None:
        raise NotTested("the worlds of the game are not equally likely (`weight`)")
    if not testbed.game.cards_alike:
        raise NotTested("the game tells all its cards apart (`cards_alike`)")
    tally, what = functools.partial(_of_views, _uneven, draws=True), "after a draw than is even"
    yield from _tested(testbed, tally, testbed.effort.pooled_views, what, _names_of_parts)


@law
def chances_are_those_of_worlds(testbed: Testbed) -> Steps:
    """`chances` gives each piece the share of worlds in which a hand has it, the same from any world.

    Positions are pooled: normal effort finds a chance that is off by two percentage points in all of them.
    """
    need(testbed, "chances")
    yield from _tested(testbed, _by_chances, testbed.effort.chances, "than chances says", _names_of_chances)


def _tested(
    testbed: Testbed,
    tally: Callable[..., Sample],
    count: int,
    what: str,
    names: Callable[[Testbed], list[str]],
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
        why = "no hidden card was found that may lie in several places"
        unclear = ", or so many are alike that it is not clear which are known" if testbed.has_copies else ""
        raise nothing_hidden(testbed, why + unclear)
    again = functools.partial(_again, testbed, tally, LARGER * (max(1, looked.done) if looked.enough else count))
    found = again(first)
    if not found and not looked.enough and looked.done < looked.total:  # it ended early: other counts may be off too
        whole = at_once(tally(testbed, 0, count, np.zeros(len(first.total), bool)))
        found = again(whole) if whole else None
    if found:
        more = "more" if found[1] > 0 else "less"
        raise LawError(f"{testbed.anywhere()}, any ply: {names(testbed)[found[0]]} {more} often {what} (5 sigma)")


def _again(testbed: Testbed, tally: Callable[..., Sample], count: int, first: Tally) -> tuple[int, int] | None:
    """Which count is off in a second sample too: its cell and the sign, or None."""
    hint = strictness(int(np.count_nonzero(first.variance)))

    def sigmas() -> np.ndarray:
        second = at_once(tally(testbed, 1, count, np.abs(first.sigmas) > hint))
        return np.zeros_like(first.total) if second is None else second.sigmas

    return off_twice(first.sigmas, sigmas, hint)


def _dealt(testbed: Testbed, part: int, count: int, suspects: np.ndarray | None) -> Sample:
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
            if (differences := _differences(testbed, block, worlds, seat)) is not None:
                tallies.add(differences, _by_seat(testbed, differences, seat, setup.seats))
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


def _differences(testbed: Testbed, states: np.ndarray, others: np.ndarray, seat: int) -> Tally | None:
    """The counts of states less those of others; None if no card lies elsewhere, as at a table that hides none."""
    lie, otherwise = (_lying(testbed, block, seat) for block in (states, others))
    differing, hands, deck = lie != otherwise, slice(1, int(states["seats"][0])), testbed.deck
    few, hidden = np.flatnonzero(differing.any(axis=(1, 2))), differing.any(axis=0)
    if not len(few):
        return None
    counts = [
        _counts(deck, _groups(testbed, block, hidden, lies)[1], lies, few, hands)
        for block, lies in ((states, lie), (others, otherwise))
    ]
    total = (counts[0] - counts[1]).sum(axis=0, dtype=float)
    variance = np.square(counts[0] - counts[1]).sum(axis=0, dtype=float)
    change = lie[few].astype(np.float32) - otherwise[few]
    alone = change.sum(axis=1, dtype=float), np.square(change).sum(axis=1, dtype=float)
    both = [_hands(deck, lies, hands) for lies in (lie, otherwise)]
    seen, elsewhere = map(_together, both)
    spread = _squares(deck, both[0], seen) + _squares(deck, both[1], elsewhere) - 2 * _both_times(*both)
    return _tally(deck, few, (total, variance), (seen - elsewhere, spread), alone)


def _of_views(
    tally_of: Callable[[View, int, np.ndarray, np.ndarray], Tally | None],
    testbed: Testbed,
    part: int,
    count: int,
    suspects: np.ndarray | None,
    draws: bool = False,
) -> Sample:
    """The tallies of views, each of some worlds and of where the cards lie in them: STATE[DRAWS], see `_lying`.

    `draws`: whether these are worlds after a move that draws cards.
    """
    tallies = _Sum(suspects)
    salt = f"{'kept' if tally_of is _kept else 'even'} {part}"
    for i, here in enumerate(seen := _draws(testbed, count, salt) if draws else _views(testbed, count, salt)):
        yield seen
        states = here.worlds(DRAWS, i)
        lie = _lying(testbed, states, here.seat)
        if (lie != lie[:, :1]).any():
            tally = tally_of(here, i, states, lie)
            if tally is not None:
                share = here.share if isinstance(here, Drawn) else here.ply / len(here.trace.moves)
                phases = (tally if first <= share < end else None for first, end in PHASES.values())
                tallies.add(tally, _by_seat(testbed, tally, here.seat, len(here.seats)), *phases)
        if tallies.is_evident:
            break
    return tallies.tally


def _by_seat(testbed: Testbed, tally: Tally, seat: int, seats: int) -> Tally:
    """A tally of what a seat sees, its places numbered from seat 0 on, so that the chance of one seat adds up."""
    order, first = np.arange(ALL), len(tally.total) - ALL * (3 * len(_names_of_groups(testbed)) + _alone(testbed.deck))
    for place in (0, *range(ASIDE, ALL - seats + 1, max(testbed.game.seats))):
        order[place : place + seats] = place + (np.arange(seats) - seat) % seats
    cells = []
    for sums in (tally.total, tally.variance):
        everywhere, by_kind = np.split(sums[first:], [len(sums) - first - ALL * _alone(testbed.deck)])
        moved = everywhere.reshape(-1, ALL)[:, order].ravel(), by_kind.reshape(ALL, -1)[order].ravel()
        cells.append(np.concatenate([np.zeros(first), *moved]))
    return Tally(*cells)


def _names_of_parts(testbed: Testbed) -> list[str]:
    """What the cells of tallies count: in all views, by the numbers of seats, and in views of PHASES."""
    names = [*_names(testbed)]
    by_seat = [name.replace("seat +", "seat ") for name in names]
    return names + by_seat + [f"{phase} in the game {name}" for phase in PHASES for name in names]


def _draws(testbed: Testbed, count: int, salt: str) -> Counted[View]:
    """Views of seats whose move draws cards, drawn from the seed, in the order of `_views`: `count` of them.

    A move draws if `settle` moves cards, and other ones in a world of the seat.
    """
    draws = []
    for trace in testbed.traces:
        turns, worlds = trace.states["turn"], trace.states.copy()
        moved = _moved(testbed, trace, trace.states, np.arange(len(trace.moves)))
        plies = np.flatnonzero(moved.any(axis=(1, 2)))
        if not len(plies):
            continue
        for seat in np.unique(turns[plies]).tolist():
            its = plies[turns[plies] == seat]
            worlds[its] = testbed.compiled.worlds_of_each(trace.states[its], seat, seat)
        plies = plies[(_moved(testbed, trace, worlds, plies) != moved[plies]).any(axis=(1, 2))].tolist()
        draws += [Drawn(trace, ply, int(turns[ply]), i / len(plies)) for i, ply in enumerate(plies)]
    picked = testbed.chance(f"draws {salt}").integers(len(draws), size=count) if draws else ()
    return Counted(_small_first((draws[i] for i in picked), lambda here: len(here.seats)), "views", FEWEST)


def _moved(testbed: Testbed, trace: Trace, states: np.ndarray, plies: np.ndarray) -> np.ndarray:
    """How many cards of each kind `settle` brings to each place, or takes away: i8[plies, places, kinds].

    `states`: STATE[plies of the game], in which the moves of the game are made.
    """
    places, played = testbed.places[trace.setup.seats], (states[plies], trace.moves[plies])
    after, settled = (testbed.compiled.moved(*played, settle=settle) for settle in (False, True))
    return places.counts(settled).astype(np.int64) - places.counts(after)


def _views(testbed: Testbed, count: int, salt: str, part: int = 1) -> Counted[View]:
    """Views in an order drawn from the seed, small tables first. `part`: one in so many of FEWEST is the least."""
    found = _small_first(testbed.chosen(count, salt), lambda here: len(here.seats))
    return Counted(found, "views", FEWEST // part)


def _kept(here: View, i: int, states: np.ndarray, lie: np.ndarray) -> Tally:
    """The covariance of what is counted in worlds and in a world of each: 0 if these do not depend on those.

    The variance is that over all ways to pair the worlds with the others. Of single cards, those that stay count.
    """
    again, deck = (
        _lying(here.testbed, here.compiled.worlds_of_each(states, here.seat, i + 1), here.seat),
        here.testbed.deck,
    )
    few, hidden = _varying(lie)
    groups, size = _groups(here.testbed, states[:1], hidden[None], lie[:1].min(axis=1)[:, None])[1], len(states)
    hands = slice(1, len(here.seats))
    counts = (_counts(deck, groups, lies, few, hands) for lies in (lie, again))
    before, after = (numbers - numbers.mean(axis=0) for numbers in counts)
    total = (before * after).sum(axis=0, dtype=float)
    variance = np.square(before).sum(axis=0, dtype=float) * np.square(after).sum(axis=0, dtype=float)
    inside, single = groups[:, 0].astype(float), len(groups) * len(few)
    was, now = (lies[few] - lies[few].mean(axis=1, keepdims=True, dtype=np.float32) for lies in (lie, again))
    total[:single] = (inside @ (was * now).sum(axis=1).T).ravel()
    scatter = np.matmul(was.transpose(0, 2, 1), was) * np.matmul(now.transpose(0, 2, 1), now)
    variance[:single] = ((inside @ scatter) * inside).sum(axis=2).T.ravel()
    both = [_hands(deck, lies, hands) for lies in (lie, again)]
    first, second = map(_together, both)
    twice = _both_times(*both) - first * second / size
    spreads = [_squares(deck, held, once) - once**2 / size for held, once in zip(both, (first, second), strict=True)]
    alone = (was * now).sum(axis=1, dtype=float), np.diagonal(scatter, axis1=1, axis2=2) / (size - 1)
    return _tally(deck, few, (total, variance / (size - 1)), (twice, spreads[0] * spreads[1] / (size - 1)), alone)


def _varying(lie: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places that have other cards in other worlds, i8[places], and the cards that lie elsewhere: bool[kinds]."""
    varies = (lie != lie[:, :1]).any(axis=1)
    return np.flatnonzero(varies.any(axis=1)), varies.any(axis=0)


def _uneven(here: View, i: int, states: np.ndarray, lie: np.ndarray) -> Tally | None:
    """What is counted in worlds, less what is even among cards that were seen in the same places. None if none count.

    Such cards are a class. Which cards belong to a group does not depend on how often they were seen where. So if all
    arrangements are equally likely, then given how many cards of each class a place has in a world, these are drawn
    evenly from their class. Cards that are alike are told apart for that. Where `Rules.weight` says that arrangements
    are not equally likely, only some of the worlds count, drawn so that these are an even sample (`_evening`).
    """
    deck, (few, _), hands = here.testbed.deck, _varying(lie), slice(1, len(here.seats))
    told, own = _told(here, i, states), lie[0].min(axis=0)
    lie, number, share = _free(here, i, states, lie, told)
    classes = _classes(lie, number, told)
    lie = lie[:, here.chance(f"even {i}").random(len(share)) < share]
    if not lie.size:
        return None
    alike = np.any(classes, axis=0)
    groups = _groups(here.testbed, here.states, alike[None], own[None, None])[1] & alike
    lie, number = lie * alike, number * alike
    expected, variance = _even(deck, classes, number, groups[:, 0], lie, few, hands)
    differences = _counts(deck, groups, lie, few, hands) - expected
    rare = np.maximum(expected * (1 - expected), 0).sum(axis=0, dtype=float)
    counted = np.maximum(np.square(differences).sum(axis=0, dtype=float), rare)  # a whole number varies as `rare`
    total = differences.sum(axis=0, dtype=float), np.where(variance >= 0, variance, counted)
    pairs = _even_pairs(deck, classes, number, lie, hands)
    beside = _even_beside(deck, classes, groups[:, 0], lie, few)
    return _tally(deck, few, total, pairs, _even_alone(deck, classes, number, lie[few]), beside)


def _free(
    here: View, i: int, states: np.ndarray, lie: np.ndarray, told: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The cards that may lie elsewhere: how many of each kind in each place, u1[ALL, N, kinds], and in all, i8[kinds].

    The others of a kind are known: they lie in a place in all worlds. Of a kind of which there are several cards, some
    may lie in a place in all worlds by chance. If that is not unlikely, its cards count as known, all of them. Third,
    the chance of each world to count, see `_evening`. `told`: what `_told` gives.
    """
    copies = here.testbed.deck.copies
    known = np.where((copies == 1) & _varying(lie)[1], 0, lie.min(axis=1))
    doubtful = (known > 0) & (lie != lie[:, :1]).any(axis=1)  # only cards that are alike
    unclear = np.zeros(len(copies), bool)
    if doubtful.any():
        more = np.concatenate([lie, _lying(here.testbed, _more(here, i), here.seat)], axis=1)
        known = np.where(copies == 1, known, more.min(axis=1))
        free = more[:ASIDE] - known[:ASIDE, None]
        same = _same(np.concatenate([(more > 0).any(axis=1).T, told], axis=1)).astype(float)
        number = free[:, 0].sum(axis=0, dtype=float)  # [kinds]
        size, all_free = free.mean(axis=1) @ same, same @ number  # of the cards that may lie in the same places
        seen = (more[:ASIDE] == known[:ASIDE, None]).sum(axis=1)
        # How often one card fewer would be seen if it were free too, by the ratio of two hypergeometric probabilities.
        fewer = seen * np.maximum(all_free - number - size, 0) / ((number + 1) * (size + 1))
        unclear = (doubtful[:ASIDE] & (known[:ASIDE] > 0) & (fewer < CERTAIN)).any(axis=0)
    free = (lie - known[:, None]).astype(lie.dtype)
    share = _evening(here, i, states, lie, np.where(unclear, 0, known))
    free[:, :, unclear] = 0
    return free, free[:ASIDE, 0].sum(axis=0, dtype=np.int64), share


@functools.lru_cache(maxsize=1)
def _more(here: View, i: int) -> np.ndarray:
    """Further worlds of a view: STATE[MORE]."""
    return here.worlds(MORE, i + 1_000_003)


def _evening(here: View, i: int, states: np.ndarray, lie: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The chance of each world to count so that those which count are even deals of cards told apart: f8[N].

    That is proportional to the number of these deals that become the world, divided by its weight. Sums in which each
    world counted as much would have heavy tails: few worlds decide them, and often none of these is in the sample. So
    worlds are left out instead. The largest quotient is taken from further worlds, HEADROOM times it to be safe. It is
    0 for all worlds if too few would count. `known`: i8[ALL, kinds], the cards that lie in a place in all worlds.
    """
    if here.game.rules.weight is None or np.ptp(_best_quotients(here, states, lie, known)) < EVEN:
        return np.ones(len(states))
    more = _more(here, i)
    lies = np.concatenate([lie, _lying(here.testbed, more, here.seat)], axis=1)
    quotients = np.exp(_best_quotients(here, np.concatenate([states, more]), lies, known))
    most, mean = HEADROOM * quotients[len(states) :].max(), quotients[len(states) :].mean()
    return np.minimum(quotients[: len(states)] / most, 1) * (mean >= LEAST_COUNTED * most)


def _best_quotients(here: View, states: np.ndarray, lie: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Logarithms of the numbers of deals that become each world, divided by its weight, but for a constant: f8[N].

    It is not known which places keep an order. Of three likely cases, that in which the quotients differ least counts.
    """
    seats, places = len(here.seats), here.testbed.places[len(here.seats)]
    free, logarithms = np.maximum(lie[:ASIDE] - known[:ASIDE, None], 0), np.log(here.weights(states))
    is_list, is_pile = np.zeros(ASIDE, bool), np.arange(ASIDE) >= seats
    for p in places.lists:
        is_list[_number(places, seats, here.seat, p)] = True
    is_list[NOWHERE] = len(places.found) < places.count
    quotients = [
        log_deals(free[~in_order].transpose(1, 0, 2)) - logarithms
        for in_order in (is_list, is_pile, np.zeros(ASIDE, bool))
    ]
    best = quotients[0] if min(map(np.ptp, quotients)) >= EVEN else min(quotients, key=np.ptp)
    return best - best.max()


def _by_chances(testbed: Testbed, part: int, count: int, suspects: np.ndarray | None) -> Sample:
    """In how many worlds each piece is in each hand, less what `chances` says, by hand and by tenths of the chance."""
    tallies, most = _Sum(suspects), max(testbed.game.seats)
    for number, here in enumerate(seen := _views(testbed, count, f"chances {part}", 6)):
        yield seen
        worlds = here.worlds(DRAWS, number)
        given = _chances(here, worlds)
        held = np.array([here.counts(world)[: len(here.seats)] for world in worlds], float)
        copies = testbed.deck.copies
        off, spread = held - given, given * (1 - given / copies)
        if (wrong := np.abs(off.sum(axis=0)) > len(worlds) * ROUNDING + _most_off(len(worlds) * spread)).any():
            place, piece = (int(k) for k in np.argwhere(wrong)[0])
            share = f"{held[:, place, piece].mean():.3f} of its worlds"
            said = f"chances says {given[place, piece]:.3f} to seat {here.seat}"
            if here.testbed.has_copies:
                share = f"a mean of {held[:, place, piece].mean():.3f} worlds"
            raise here.broken(f"seat {place} has {here.testbed.deck.names[piece]} in {share}, but {said}")
        cells = np.zeros((2, 2, most, given.shape[1]))  # by the numbers of seats, and from the own seat on
        for part, turned in enumerate((0, -here.seat)):
            cells[:, part, : len(given)] = np.roll([off.sum(axis=0), len(worlds) * spread], turned, axis=1)
        tenth = np.minimum((10 * given / copies).astype(int), 9)
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
    assert here.game.table.chances is not None
    copies = here.testbed.deck.copies
    given, others = np.zeros((2, len(here.seats), len(copies)))
    for shares, world in ((given, worlds[0]), (others, worlds[1])):
        here.ask(here.game.table.chances, world.copy(), here.seat, shares)
    for place, piece in np.argwhere(~np.isfinite(given) | (given < -ROUNDING)).tolist():
        name = here.testbed.deck.names[piece]
        what = f"{given[place, piece]} for {name} in the hand of seat {place}"
        raise here.broken(f"chances gives seat {here.seat} {what}; chances are numbers from 0")
    for piece in np.flatnonzero(given.sum(axis=0) > copies * (1 + ROUNDING)).tolist():
        most = f"sum to {given[:, piece].sum():.3f}; there is {copies[piece]}"
        raise here.broken(f"chances gives seat {here.seat} numbers for {here.testbed.deck.names[piece]} that {most}")
    if not np.allclose(given, others, rtol=0, atol=ROUNDING):
        raise here.broken(f"chances gives seat {here.seat} other numbers in two of its worlds")
    return given


def _names_of_chances(testbed: Testbed) -> list[str]:
    seats, pieces = range(max(testbed.game.seats)), testbed.deck.names
    hands = [f"the hand of seat {sign}{seat}" for sign in ("", "+") for seat in seats]
    alone = [f"{piece} lies in {hand}" for hand in hands for piece in pieces]
    return alone + [f"cards lie in hands where their chances are {k / 10} to {(k + 1) / 10}" for k in range(10)]


def _told(here: View, i: int, states: np.ndarray) -> np.ndarray:
    """What tells kinds of card apart beside the places they were seen in: i8[kinds, columns], equal for cards alike.

    That is the number of their set in `Game.cards_alike`, 0 for no set, and in games whose hands are lists, whether a
    kind was seen in each place of them: something may be known of a third card.
    """
    alike, deck, places = here.game.cards_alike, here.testbed.deck, here.testbed.places[len(here.seats)]
    told = np.full((deck.kinds, 1), int(alike is True))
    if callable(alike):
        sets = np.zeros((deck.kinds, TOLD), int)
        for column, state in zip(sets.T, (here.state, *states), strict=False):
            for k, cards in enumerate(here.ask(alike, state), 1):
                column[here.in_range(deck.members, cards, "a set of cards_alike")] = k
        told[:, 0] = (1 + np.unique(sets, axis=0, return_inverse=True)[1].reshape(-1)) * (sets > 0).all(axis=1)
    lists = [found for place, found in places.lists.items() if place < len(here.seats)]
    numbers = words(np.concatenate([states, _more(here, i)])) if lists else words(states)
    return np.concatenate([told, *(found.seen(numbers, deck.kinds) for found in lists)], axis=1)


def _classes(free: np.ndarray, number: np.ndarray, told: np.ndarray) -> np.ndarray:
    """The hidden cards that are alike, in classes of two kinds at least: bool[C, kinds].

    `free`, `number`: what `_free` gives. `told`: what `_told` gives.
    """
    hidden = (number > 0) & (told[:, 0] > 0)
    same = _same(np.concatenate([(free > 0).any(axis=1).T, told], axis=1)) & hidden
    found = np.unique(same[hidden], axis=0)
    return found[found.sum(axis=1) > 1]


def _same(rows: np.ndarray) -> np.ndarray:
    _, kinds = np.unique(rows, axis=0, return_inverse=True)
    return kinds.reshape(-1, 1) == kinds.reshape(-1)


def _even(
    deck: CardKinds,
    classes: np.ndarray,
    number: np.ndarray,
    groups: np.ndarray,
    lie: np.ndarray,
    few: np.ndarray,
    hands: slice,
) -> tuple[np.ndarray, np.ndarray]:
    """The means of `_counts` over even arrangements, given the number of each class in each place: f4[N, cells].

    Also the variances of their sums, f8[cells], but -1 for those of pairs, which have no short formula. `groups`:
    bool[G, kinds], kinds that are in a class. `number`: i8[kinds], how many cards of each kind are in a class.
    """
    inside = classes * number
    taken, sizes = _taken(classes, lie[few]), inside.sum(axis=1)
    n, c = sizes[:, None, None], taken[:, :, None]  # [classes, 1, 1], [N, classes, 1, places]
    m = (inside @ groups.T)[:, :, None]  # [classes, G, 1]
    mean, spread = (c * (m / n)).sum(axis=1), (c * (m / n) * (1 - m / n) * (n - c) / np.maximum(n - 1, 1)).sum(axis=1)
    none = none_drawn(n, m, c).prod(axis=1)
    pairs = [inside @ kind @ inside.T - np.diag(inside @ np.diag(kind)) for kind in deck.pairs.values()]
    kinds = np.tensordot(_pair_chances(_taken(classes, lie[hands]), sizes), np.array(pairs), ((1, 2), (1, 2))) / 2
    means = mean, (spread + mean**2 - mean) / 2, none, kinds
    unknown = np.full(spread[0].size, -1.0), np.full(len(pairs), -1.0)
    alone, empty = (some.sum(axis=0).ravel() for some in (spread, none * (1 - none)))
    return (
        np.concatenate([some.reshape(len(taken), -1) for some in means], axis=1, dtype=np.float32),
        np.concatenate([alone, unknown[0], empty, unknown[1]]),
    )


def _even_pairs(
    deck: CardKinds, classes: np.ndarray, number: np.ndarray, lie: np.ndarray, hands: slice
) -> tuple[np.ndarray, np.ndarray]:
    """How often two cards lie in one hand, less what is even, and the variance of that: f8[kinds, kinds] each."""
    inside, held = (classes * number).astype(float), _hands(deck, lie, hands)
    if not held.size:
        return _together(held), _together(held)
    chances = _pair_chances(_taken(classes, lie[hands]), inside.sum(axis=1))
    ones = number * (number - 1) / 2  # pairs of cards of one kind
    chance, spread = (inside.T @ some.sum(axis=0) @ inside for some in (chances, chances * (1 - chances)))
    for sums in (chance, spread):
        np.fill_diagonal(sums, ones * np.diag(sums) / np.maximum(number, 1) ** 2)
    found = _together(held)
    if not deck.are_counts:
        return found - chance, spread
    mean = chance / max(1, lie.shape[1])
    return found - chance, np.maximum(_both_times(held, held) - mean * (2 * found - chance), spread)


def _even_alone(
    deck: CardKinds, classes: np.ndarray, number: np.ndarray, lie: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How many cards of each kind some places have, less what is even, and the variance: f8[places, kinds] each."""
    if not _alone(deck):
        return np.zeros((len(lie), 0)), np.zeros((len(lie), 0))
    sizes = np.maximum(classes @ number, 1)
    share = (classes * number / sizes[:, None]).sum(axis=0)  # of its class
    inside = classes.astype(float)
    taken = _taken(classes, lie)  # [N, classes, places]
    off = lie.transpose(1, 0, 2) - np.matmul(taken.transpose(0, 2, 1), inside) * share
    spread = (taken * (sizes[:, None] - taken) / np.maximum(sizes[:, None] - 1, 1)).sum(axis=0)
    return off.sum(axis=0), (spread.T @ inside) * share * (1 - share)


def _even_beside(
    deck: CardKinds, classes: np.ndarray, groups: np.ndarray, lie: np.ndarray, few: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """The covariance of how many cards of a group two sets beside the places have, less what is even, and its variance.

    f8[G * BESIDE] each; None if there are no two such sets, or cards that are alike, which could lie in both. Two cards
    that each have a place in another set are an even draw of two from their class, whatever is known of the places.
    """
    sets = few[few >= ASIDE]
    if len(sets) < 2 or deck.are_counts:
        return None
    inside, cells = classes.astype(np.float32), np.zeros((2, len(groups), BESIDE))
    n, m = inside.sum(axis=1)[:, None], inside @ groups.T.astype(np.float32)  # [classes, 1], [classes, G]
    share, both = m / n, m * (m - 1) / np.maximum(n * (n - 1), 1)
    found = lie[sets].astype(np.float32)
    taken, number = found @ inside.T, found @ groups.T.astype(np.float32)  # [sets, N, classes], [sets, N, G]
    off = number - taken @ share
    for a, b in itertools.combinations(range(len(sets)), 2):
        same, pairs = (found[a] * found[b]) @ inside.T, taken[a] * taken[b]  # [N, classes]
        even = same @ share + (pairs - same) @ both - pairs @ share**2
        product, expected = off[a] * off[b], even + (taken[a] @ share) * (taken[b] @ share)
        rare = np.maximum(expected * (1 - expected), 0).sum(axis=0, dtype=float)
        cell = _PAIRS_BESIDE.index((int(sets[a]), int(sets[b])))
        cells[0, :, cell] = (product - even).sum(axis=0, dtype=float)
        cells[1, :, cell] = np.maximum(np.square(product - even).sum(axis=0, dtype=float), rare)
    return cells[0].ravel(), cells[1].ravel()


def _pair_chances(taken: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The chance that cards of two classes lie in one hand, given `taken` of each: f8[N, classes, classes]."""
    same = np.eye(len(sizes))
    pairs = np.matmul(taken, taken.transpose(0, 2, 1)) - same * taken.sum(axis=2)[:, None]
    return pairs / np.maximum(sizes[:, None] * sizes - same * sizes, 1)


def _taken(classes: np.ndarray, lie: np.ndarray) -> np.ndarray:
    """How many cards of each class some places have: i8[N, classes, places]."""
    return (lie.astype(np.float32) @ classes.T.astype(np.float32)).transpose(1, 2, 0).astype(np.int64)


def _counts(deck: CardKinds, groups: np.ndarray, lie: np.ndarray, few: np.ndarray, hands: slice) -> np.ndarray:
    """What is counted in each state: f4[N, cells]. `groups`: bool[G, N or 1, kinds]. `few`: the places looked at.

    The cells are, one after another: for each group and place, how many cards of the group lie there, how many pairs of
    them, and whether none does; and for each of `CardKinds.pairs`, how many such pairs lie in one hand of another seat.
    """
    sets, held = lie[few].astype(np.float32), lie[hands].astype(np.float32)
    if groups.shape[1] == 1:
        number = (sets @ groups[:, 0].T.astype(np.float32)).transpose(1, 2, 0)  # [N, G, places]
    else:
        number = np.matmul(groups.transpose(1, 0, 2).astype(np.float32), sets.transpose(1, 2, 0))
    kinds = [(held * (held @ kind - np.diag(kind))).sum(axis=(0, 2)) / 2 for kind in deck.pairs.values()]
    cells = [number, number * (number - 1) / 2, (number == 0).astype(np.float32)]
    return np.concatenate([*(cell.reshape(lie.shape[1], -1) for cell in cells), np.array(kinds).T], axis=1)


def _hands(deck: CardKinds, lie: np.ndarray, hands: slice) -> np.ndarray:
    """The hands of other seats, f4[hands, N, kinds]; none of no kinds if there are too many to look at each pair."""
    return lie[hands].astype(np.float32) if deck.kinds <= PAIRED else np.zeros((0, lie.shape[1], 0), np.float32)


def _together(hands: np.ndarray) -> np.ndarray:
    """How many pairs of two kinds lie in one of these hands, f4[hands, N, kinds], in sum: f8[kinds, kinds]."""
    found = np.matmul(hands.transpose(0, 2, 1), hands).sum(axis=0, dtype=float)
    np.fill_diagonal(found, (hands * (hands - 1)).sum(axis=(0, 1)) / 2)
    return found


def _both_times(hands: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The numbers of pairs that lie in one hand in a state and in the other state, multiplied: f8[kinds, kinds]."""
    found = np.zeros(hands.shape[2:] * 2)
    for other in others:
        both = hands * other
        found += np.matmul(both.transpose(0, 2, 1), both).sum(axis=0, dtype=float)
    ones = [(held * (held - 1) / 2).sum(axis=0) for held in (hands, others)]
    np.fill_diagonal(found, (ones[0] * ones[1]).sum(axis=0))
    return found


def _squares(deck: CardKinds, hands: np.ndarray, together: np.ndarray) -> np.ndarray:
    """The numbers of pairs in each state, squared, in sum: f8[kinds, kinds]. `together`: what `_together` gives."""
    return _both_times(hands, hands) if deck.are_counts else together


Sums = tuple[np.ndarray, np.ndarray]
"""Sums of differences and their variances."""


def _tally(
    deck: CardKinds, few: np.ndarray, groups: Sums, pairs: Sums, alone: Sums, beside: Sums | None = None
) -> Tally:
    """The sums and variances of `_counts` and of single kinds, for `few` places, and of pairs of cards, for all places.

    Single kinds count where no suits and ranks tell cards apart. First come those of two sets `beside` the places.
    """
    cells, none = [], np.zeros(BESIDE * ((len(groups[0]) - len(deck.pairs)) // max(1, 3 * len(few))))
    for counts, paired, single, two in zip(groups, pairs, alone, beside or (none, none), strict=True):
        size = len(counts) - len(deck.pairs)
        everywhere = np.zeros((size // max(1, len(few)), ALL))
        everywhere[:, few] = counts[:size].reshape(len(everywhere), len(few))
        by_kind = np.zeros((ALL, _alone(deck)))
        by_kind[few] = single[:, : _alone(deck)]
        cells.append(np.concatenate([two, np.triu(paired).ravel(), counts[size:], everywhere.ravel(), by_kind.ravel()]))
    return Tally(*cells)


class _Sum:
    """Tallies, added up. `is_evident`: whether one of the suspects, or of all if None, is off by more than EVIDENT.

    That is looked at after 8, 16, 32 ... tallies. It is so much stricter than SIGMA that a sound game gains no chance
    to be blamed, and gross faults take no long look.
    """

    def __init__(self, suspects: np.ndarray | None) -> None:
        self.suspects, self.number, self.sums, self.is_evident = suspects, 0, None, False

    @property
    def tally(self) -> Tally | None:
        """The sums: of all tallies, and then of those of each part, if they have any. None if there was no tally."""
        return None if self.sums is None else Tally(*self.sums.reshape(2, -1))

    def add(self, tally: Tally, *parts: Tally | None) -> None:
        """Add a tally, and those of each part: None if it does not belong to a part."""
        if self.sums is None:
            self.sums = np.zeros((2, 1 + len(parts), len(tally.total)))
        for part, counted in enumerate((tally, *parts)):
            if counted is not None:
                self.sums[0, part] += counted.total
                self.sums[1, part] += counted.variance
        self.number += 1
        if self.number >= 8 and self.number.bit_count() == 1:
            total = self.tally
            assert total is not None
            off = np.abs(total.sigmas)
            self.is_evident = bool((off if self.suspects is None else off[self.suspects]).max(initial=0) > EVIDENT)


def _lying(testbed: Testbed, states: np.ndarray, seat: int) -> np.ndarray:
    """How many cards of each kind lie in which place: u1[ALL, N, kinds], of more bytes if there are more of a kind.

    The first places, one for each seat, are taken for hands and are numbered from the seat on. The others are numbered
    so that the last one has the number PLACES - 1, and cards that are in no place lie in NOWHERE. From ASIDE on come
    hidden cards beside the places (`Testbed.hidden_sets`), those of seats numbered from the seat on.
    """
    seats, deck = int(states["seats"][0]), testbed.deck
    places, numbers = testbed.places[seats], words(states)
    lie = np.zeros((ALL, len(states), deck.kinds), np.min_scalar_type(max(int(deck.copies.max()), 1)))
    held = places.counts(states)
    for i, p in enumerate(places.found):
        lie[_number(places, seats, seat, p)] += held[:, i].astype(lie.dtype)
    lie[NOWHERE] = np.maximum(deck.copies - held.sum(axis=1, dtype=np.int64), 0)
    for first, found in zip(range(ASIDE, ALL, max(testbed.game.seats)), testbed.hidden_sets[seats], strict=False):
        counts = found.counts(numbers, deck.kinds)
        for p in range(found.size):
            place = first + ((p - seat) % seats if found.size > 1 else 0)
            if place < ALL:
                lie[place] = counts[:, p]
    return lie


def _number(places: Places, seats: int, seat: int, place: int) -> int:
    return (place - seat) % seats if place < seats else max(seats, PLACES - places.count + place)


def _groups(testbed: Testbed, states: np.ndarray, hidden: np.ndarray, lie: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Groups of cards, bool[G, N, kinds], and what they are called. `hidden`: bool[N, kinds], the cards that vary."""
    cards, own = np.arange(hidden.shape[1]), lie[0] > 0
    order, count = hidden.cumsum(axis=1) - 1, hidden.sum(axis=1, keepdims=True)
    quarter = 4 * order // np.maximum(count, 1)
    groups = {
        "all cards": np.ones_like(hidden),
        "the lowest hidden card": hidden & (order == 0),
        "the highest hidden card": hidden & (order == count - 1),
        "low hidden cards": hidden & (quarter == 0),
        "high hidden cards": hidden & (quarter == 3),
    }
    numbers = {name: states[name][:, None] for name in testbed.small_numbers}
    if not testbed.deck.is_ranked:
        third = 3 * order // np.maximum(count, 1)
        above, below = np.pad(own[:, :-1], ((0, 0), (1, 0))), np.pad(own[:, 1:], ((0, 0), (0, 1)))
        groups |= {
            "hidden cards of the lower half": hidden & (quarter < 2),
            "hidden cards of the upper half": hidden & (quarter > 1),
            "hidden cards of the low third": hidden & (third == 0),
            "hidden cards of the middle third": hidden & (third == 1),
            "hidden cards of the high third": hidden & (third == 2),
            "cards of an own kind": own,
            "cards next to own ones": (above | below) & ~own,
        }
        for name, number in numbers.items():
            groups[f"the card state.{name}"] = cards == number
            groups[f"hidden cards above state.{name}"] = hidden & (cards > number)
        return list(groups), np.array(list(groups.values()))
    ranks = own.reshape(len(own), -1, SUITS)
    longest = ranks.sum(axis=1).argmax(axis=1)[:, None]
    own_ranks = np.repeat(ranks.any(axis=2), SUITS, axis=1)
    groups |= {
        **{f"cards of suit {suit}": np.broadcast_to(cards % SUITS == suit, hidden.shape) for suit in range(SUITS)},
        "cards of an own rank": own_ranks & ~own,
        "cards of the longest own suit": (cards % SUITS == longest) & ~own,
        "cards next above own ones": np.pad(own[:, :-SUITS], ((0, 0), (SUITS, 0))) & ~own,
    }
    for name, number in numbers.items():
        suit = (number < SUITS) & (cards % SUITS == number)
        groups |= {f"cards of the suit state.{name}": suit, f"hidden cards of the suit state.{name}": hidden & suit}
        groups[f"cards of the rank of state.{name}"] = (number >= 0) & (cards // SUITS == number // SUITS)
    return list(groups), np.array(list(groups.values()))


def _names(testbed: Testbed) -> Iterator[str]:
    """What each cell of a tally counts, in words that "more often" may follow."""
    deck, groups = testbed.deck, _names_of_groups(testbed)
    places, pairs = [_named(testbed, place) for place in range(ALL)], itertools.product(deck.names, deck.names)
    for name, (one, other) in itertools.product(groups, _PAIRS_BESIDE):
        yield f"{name} lie in both {places[one]} and {places[other]}"
    for first, second in itertools.islice(pairs, _pairs(deck)):
        yield f"{first} and {second} lie in one hand" if first != second else f"two {first} lie in one hand"
    yield from (f"{pair} lie in one hand" for pair in deck.pairs)
    for what in ("{} lie in {}", "two of {} lie in {}", "none of {} lies in {}"):
        yield from itertools.starmap(what.format, itertools.product(groups, places))
    for place, kind in itertools.product(places, deck.names[: _alone(deck)]):
        yield f"{kind} lies in {place}"


def _names_of_groups(testbed: Testbed) -> list[str]:
    none = np.zeros((1, testbed.deck.kinds), bool)
    return _groups(testbed, np.zeros(1, testbed.game.state), none, none[None])[0]


def _pairs(deck: CardKinds) -> int:
    """How many cells of a tally count a pair of kinds."""
    return deck.kinds**2 if deck.kinds <= PAIRED else 0


def _alone(deck: CardKinds) -> int:
    """How many cells of a tally count single kinds, for each place: none where suits and ranks tell cards apart."""
    return 0 if deck.is_ranked else deck.kinds


def _named(testbed: Testbed, place: int) -> str:
    most = max(testbed.game.seats)
    if place >= ASIDE:
        return f"a set beside the places, of seat +{(place - ASIDE) % most}"
    if most <= place < NOWHERE:
        return f"a pile (the last place but {PLACES - 1 - place})"
    return "the unlisted places" if place == NOWHERE else f"the place of seat +{place}"
