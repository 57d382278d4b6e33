"""Laws on `resample`: worlds deal anew what is hidden, evenly, and independently of what is true.

The tests work by induction over the plies and enumerate no worlds. This file is mostly about the deal: what differs
from deal to deal and shows in no view must be dealt anew, independently of the true deal. `knowledge` tests each move.
"""

from collections.abc import Callable, Iterator

import numpy as np

from cardai.game.compiled.native import HEADER
from cardai.laws.evidence import (
    HINT,
    MANY_WORLDS,
    RNG,
    bits,
    facts,
    off_twice,
    place_of_bit,
    strictness,
    words,
)
from cardai.laws.law import each, each_table, each_view
from cardai.laws.places import log_deals, unpacked
from cardai.laws.testbed import EVEN, LawError, Position, Setup, Testbed, View

OFTEN = 0.4  # a value counts as dealt if it differs between this share of successive deals
MOST_ALIKE = 64  # a larger number of a state is no count of cards that are alike


@each_view("positions")
def worlds_have_their_own_chance(here: View) -> None:
    """A world has a random stream of its own, not the true state's; the same draw gives the same world."""
    worlds = here.worlds(4)
    if (worlds["rng"] == here.state["rng"]).any():
        raise here.broken(f"a world of seat {here.seat} has the random stream of the true state")
    if len(np.unique(worlds["rng"])) < len(worlds):
        raise here.broken(f"two worlds of seat {here.seat} have the same random stream")
    if here.worlds(4).tobytes() != worlds.tobytes():
        raise here.broken(f"resampling with the same stream gives seat {here.seat} other worlds the second time")


@each_view("positions")
def resample_draws_from_its_stream_only(here: View) -> None:
    """resample takes all its chance from the stream it is given: `state.rng` decides nothing and is not drawn from."""
    states = np.repeat(here.states, 3)
    states["rng"] ^= np.array([0, 1, 0xA5A5A5A5A5A5A5A5], np.uint64)
    worlds = here.compiled.resampled(states, here.seat, here.ply)
    if (worlds["rng"] != states["rng"]).any():
        raise here.broken(f"resample for seat {here.seat} draws from state.rng or writes to it")
    contents = facts(worlds)
    if (contents != contents[0]).any():
        raise here.broken(f"the same stream deals seat {here.seat} another world if state.rng is another number")


@each("positions", lambda testbed: testbed.positions(max(4, testbed.effort.texts)))
def worlds_play_on(here: Position) -> None:
    """A world can be played to its end like any state, and its scores are as declared."""
    view = here.views[here.ply % len(here.seats)]
    what = f"a world of seat {view.seat}, played on,"
    ends = here.compiled.finished(view.worlds(2), here.ply)
    if len(left := ends[ends["turn"] >= 0]):
        is_stuck = (here.compiled.legal(left)[1] == 0).any()
        raise here.broken(f"{what} {'leaves a seat to move without a move' if is_stuck else 'has no end in max_plies'}")
    for scores in np.array([here.compiled.values(ends, seat) for seat in here.seats]).T:
        if wrong := here.testbed.wrong_scores(scores):
            raise here.broken(f"{what} ends with {wrong}")


@each_table(hidden=True)
def worlds_deal_anew_what_is_hidden(testbed: Testbed, setup: Setup) -> None:
    """What differs from deal to deal and shows in no view of a seat is dealt anew in the worlds of that seat.

    A number shows if exchanging it for another deal's changes the seat's encodings or text, or if it is a function of
    one that shows, or holds cards of the only place that the seat is not shown, which is where all others must lie.
    Numbers that are the same in most deals are not tested: they may be public and not worth showing.
    This law also finds true cards that are left in fields which the rules do not read.
    """
    deals = testbed.deals(setup, 0, 200)
    for seat in range(setup.seats):
        for number in _not_dealt_anew(testbed, deals, seat):
            if not _is_known(testbed, deals, seat, number):
                what = f"state.{place_of_bit(testbed.game.state, 64 * number)}".removesuffix(" bit 0")
                what = f"{what} differs from deal to deal and seat {seat} does not see it"
                raise _broken_deals(testbed, setup, len(deals), f"{what}, but all its worlds have the true value")


def _broken_deals(testbed: Testbed, setup: Setup, count: int, what: str) -> LawError:
    seeds = testbed.seeds(setup, count)
    return LawError(f"{setup}, seed {seeds[0]} to {seeds[-1]}, ply 0: {what}")


def _not_dealt_anew(testbed: Testbed, deals: np.ndarray, seat: int) -> Iterator[int]:
    """Which numbers of a state differ between deals and are the same in each deal and its world."""
    numbers, worlds = words(deals), words(testbed.compiled.worlds_of_each(deals, seat, 1))
    changing = (numbers[1:] != numbers[:-1]).mean(axis=0) >= OFTEN
    changing[: len(HEADER)] = False
    yield from np.flatnonzero(changing & (numbers == worlds).all(axis=0)).tolist()


def _is_known(testbed: Testbed, deals: np.ndarray, seat: int, number: int) -> bool:
    """Whether a seat is shown a number, or one that it is a function of, or all places but the one that it is of."""
    values = words(deals)
    others = [other for other in range(len(HEADER), values.shape[1]) if other != number]
    if _shows(testbed, deals, seat, number) or any(
        _follows(values[:, number], values[:, other]) and _shows(testbed, deals, seat, other) for other in others
    ):
        return True
    rest = _the_rest(testbed, deals, seat)
    return any((values[:, number] == values[:, column]).all() for column in rest)


def _the_rest(testbed: Testbed, deals: np.ndarray, seat: int) -> list[int]:
    """The numbers of the place that holds all cards which a seat is not shown; none if two places are hidden from it.

    Of a list of cards, the order is hidden even so.
    """
    if testbed.game.table.holdings is None or not testbed.lists_places:
        return []
    places, values = testbed.places[int(deals["seats"][0])], words(deals)
    held = places.counts(deals).sum(axis=1, dtype=np.int64)
    if (held != held[0]).any():
        return []
    varying = (values != values[0]).any(axis=0)
    hidden = [
        place
        for place, columns in places.read_from.items()
        if not all(_shows(testbed, deals, seat, column) for column in columns if varying[column])
    ]
    return places.read_from[hidden[0]] if len(hidden) == 1 and hidden[0] not in places.lists else []


def _shows(testbed: Testbed, deals: np.ndarray, seat: int, number: int) -> bool:
    """Whether a seat's view of a deal changes when a number is exchanged for the next deal's, in 12 that differ."""
    values = words(deals)[:, number]
    changing = np.flatnonzero(values[1:] != values[:-1])[:12]
    deals, mixtures = deals[changing], deals[changing]
    words(mixtures)[:, number] = values[changing + 1]
    if (testbed.compiled.rows(mixtures, seat) != testbed.compiled.rows(deals, seat)).any():
        return True
    show = testbed.game.text.show
    try:
        return any(show(deal, seat) != show(other, seat) for deal, other in zip(deals, mixtures, strict=True))
    except Exception:  # a mixture of two deals may be invalid; `show` noticed it, so the number shows
        return True


def _follows(values: np.ndarray, others: np.ndarray) -> bool:
    """Whether numbers seem to be a function of others: equal others (at least ten) always come with equal ones."""
    kinds = len(np.unique(others))
    return len(np.unique(np.stack([values, others]), axis=1)[0]) == kinds and len(others) - kinds >= 10


@each_table(hidden=True)
def the_dealt_truth_is_a_world_like_any_other(testbed: Testbed, setup: Setup) -> None:
    """Over many deals, each card is in each place as often in the true state as in worlds (5 sigma).

    At the deal, the true state is itself drawn from the worlds that are possible for a seat. So for every bit of the
    state, "1 in the true state and 0 in a world" happens as often as the reverse: in worlds of each seat, and in those
    of all seats together, where the chance of one seat shows best.
    """
    count = testbed.effort.deals
    hint = strictness(int(np.count_nonzero(first := _lean(testbed, testbed.deals(setup, 0, count), 1))))
    if found := off_twice(first, lambda: _lean(testbed, testbed.deals(setup, count, 4 * count), count + 1), hint):
        seat, bit = divmod(found[0], first.shape[1])
        what = f"state.{place_of_bit(testbed.game.state, bit)} is set {'more' if found[1] > 0 else 'less'} often"
        seat = "any seat" if seat == setup.seats else f"seat {seat}"
        raise _broken_deals(testbed, setup, 5 * count, f"{what} in deals than in worlds of {seat} (more than 5 sigma)")


def _lean(testbed: Testbed, deals: np.ndarray, seed: int) -> np.ndarray:
    """How much more often each bit is set in true states than in worlds, in standard deviations: f8[seats + 1, bits].

    Each deal is looked at from one seat. The last row is that of all seats together.
    """
    seats = int(deals["seats"][0])
    more, less = np.zeros((2, seats + 1, 8 * deals.dtype.itemsize))
    for seat in range(seats):
        truth = words(deals[seat::seats])
        world = words(testbed.compiled.worlds_of_each(deals[seat::seats], seat, seed))
        for number in np.flatnonzero((truth != world).any(axis=0)).tolist():
            if number != RNG:
                where = slice(64 * number, 64 * number + 64)
                more[seat, where] = unpacked(truth[:, number] & ~world[:, number]).sum(axis=0, dtype=np.int64)
                less[seat, where] = unpacked(world[:, number] & ~truth[:, number]).sum(axis=0, dtype=np.int64)
    more[seats], less[seats] = more.sum(axis=0), less.sum(axis=0)
    return (more - less) / np.sqrt(np.maximum(more + less, 1))


def likely_declaration(here: View, worlds: np.ndarray, off: Callable[[np.ndarray], np.ndarray]) -> str:
    """What a game probably fails to declare whose worlds are not drawn as they should be, in words for a message.

    `worlds`: STATE[N], all different. `off(shares)`: how far draws of them are from these shares, f8[N], in standard
    deviations: its first number. Counts of cards that are alike are drawn as often as 1 / product of n!, over all
    numbers n of the state; those that are the same card in all worlds count for nothing.
    """
    numbers = words(worlds)[:, len(HEADER) :]
    counts = numbers[:, (numbers != numbers[0]).any(axis=0)]
    if counts.size and counts.min() >= 0 and counts.max() <= MOST_ALIKE:
        for hidden in (counts, counts - counts.min(axis=0)):
            shares = np.exp(log_deals(hidden[:, None]))
            if np.ptp(shares) > EVEN and off(shares / shares.sum())[0] < HINT:
                copies = "" if len(here.game.table.copies) else "`copies` with `holdings`, or "
                rule = f"{'declare' if here.game.rules.weight is None else 'mend'} {copies}the rule `weight`"
                return f"; they are drawn as counts of cards that are alike should be: {rule}"
    is_wrong = "missing" if here.game.rules.weight is None else "wrong"
    return f"; either `resample` is wrong, or the rule `weight` is {is_wrong}"


@each("views", lambda testbed: enumerate(testbed.chosen(2 * len(testbed.traces), "twice")), hidden=True)
def resampling_twice_is_resampling_once(numbered: tuple[int, View]) -> None:
    """Worlds of a world are distributed like worlds of the true state: each bit is set equally often (5 sigma)."""
    i, here = numbered
    if found := off_twice(_drift(here, 128, 100 * i), lambda: _drift(here, MANY_WORLDS, 100 * i + 50)):
        what = f"state.{place_of_bit(here.game.state, found[0])} set {'more' if found[1] > 0 else 'less'} often"
        raise here.broken(f"for seat {here.seat}, worlds of worlds have {what} than worlds")


def _drift(here: View, count: int, seed: int) -> np.ndarray:
    """How much more often each bit is set in worlds of worlds than in worlds, in standard deviations: f8[bits]."""
    once = bits(here.worlds(count, seed)).mean(axis=0)
    of_worlds = np.repeat(here.worlds(4, seed + 1), count // 4)
    twice = bits(here.compiled.worlds_of_each(of_worlds, here.seat, seed + 2)).mean(axis=0)
    mean = (once + twice) / 2
    return (twice - once) / np.sqrt(np.maximum(mean * (1 - mean), 1e-9) * 2 / count)
