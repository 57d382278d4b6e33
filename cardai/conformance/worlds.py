"""Laws on `resample`: worlds deal anew what is hidden, evenly, and independently of what is true.

The tests work by induction over the plies and enumerate no worlds. This file is mostly about the deal: what differs
from deal to deal and shows in no view must be dealt anew, independently of the true deal. `knowledge` tests each move.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cardai.conformance.evidence import HINT, MANY_WORLDS, SIGMA, bits, facts, is_too_often, place_of_bit, unevenness
from cardai.conformance.law import Steps, law
from cardai.conformance.note import refuse
from cardai.conformance.testbed import Counted, LawError, Position, Setup, Testbed
from cardai.game import Game, GameState, listed_pieces
from cardai.kernel.native import HEADER

OFTEN = 0.4  # a value counts as dealt if it differs between this share of successive deals
CHANCE_WORLDS = 512  # from which shares of worlds are counted
ROUNDING = 1e-6
FEW_WORLDS = 12  # at most this many different worlds are counted one by one


@law
def worlds_have_their_own_chance(testbed: Testbed) -> Steps:
    """A world has a random stream of its own, not the true state's; the same draw gives the same world."""
    for here, seat in (seen := Counted(testbed.views(testbed.effort.positions), "views")):
        yield seen
        worlds = testbed.compiled.worlds(here.states, seat, 4, here.ply)
        if (worlds["rng"] == here.state["rng"]).any():
            raise here.broken(f"a world of seat {seat} has the random stream of the true state")
        if len(np.unique(worlds["rng"])) < len(worlds):
            raise here.broken(f"two worlds of seat {seat} have the same random stream")
        if testbed.compiled.worlds(here.states, seat, 4, here.ply).tobytes() != worlds.tobytes():
            raise here.broken(f"resampling with the same stream gives seat {seat} other worlds the second time")


@law
def resample_draws_from_its_stream_only(testbed: Testbed) -> Steps:
    """resample takes all its chance from the stream it is given: `state.rng` decides nothing and is not drawn from."""
    for here, seat in (seen := Counted(testbed.views(testbed.effort.positions), "views")):
        yield seen
        states = np.repeat(here.states, 3)
        states["rng"] ^= np.array([0, 1, 0xA5A5A5A5A5A5A5A5], np.uint64)
        worlds = testbed.compiled.resampled(states, seat, here.ply)
        if (worlds["rng"] != states["rng"]).any():
            raise here.broken(f"resample for seat {seat} draws from state.rng or writes to it")
        contents = facts(worlds)
        if (contents != contents[0]).any():
            raise here.broken(f"the same stream deals seat {seat} another world if state.rng is another number")


@law
def worlds_play_on(testbed: Testbed) -> Steps:
    """A world can be played to its end like any state, and its scores are as declared."""
    for here in (seen := Counted(testbed.positions(max(4, testbed.effort.texts)), "positions")):
        yield seen
        seat = here.ply % len(here.seats)
        worlds = testbed.compiled.worlds(here.states, seat, 2, here.ply)
        ends, moved = testbed.compiled.finished(worlds, here.ply)
        if (moved < 0).any():
            raise here.broken(f"a world of seat {seat}, played on, leaves a seat to move without a move")
        if (ends["turn"] >= 0).any():
            raise here.broken(f"a world of seat {seat}, played on, does not end within max_plies")
        scores = np.array([testbed.compiled.values(ends, s) for s in here.seats]).T
        declared = testbed.game.score_sum(len(here.seats))
        fair = declared is None or np.allclose(scores.sum(axis=1), declared, atol=1e-9)
        if not (fair and np.isfinite(scores).all() and scores.min() >= 0 and scores.max() <= 1):
            raise here.broken(f"a world of seat {seat}, played on, ends with scores {scores.tolist()}")


@law
def worlds_deal_anew_what_is_hidden(testbed: Testbed) -> Steps:
    """What differs from deal to deal and shows in no view of a seat is dealt anew in the worlds of that seat.

    A value shows if exchanging it for another deal's changes the seat's encodings or text, or if it is a function of a
    value that shows. Values that are the same in most deals are not tested: they may be public and not worth showing.
    This law also finds true cards that are left in fields which the rules do not read.
    """
    for setup in (seen := Counted(testbed.setups, "tables")):
        yield seen
        deals = testbed.deals(setup, 0, 200)
        for seat in range(setup.seats):
            for item in _not_dealt_anew(testbed, deals, seat):
                if not _is_known(testbed, deals, seat, item):
                    where = _at_the_deals(testbed, setup, len(deals))
                    what = f"differs from deal to deal and seat {seat} does not see it"
                    raise LawError(f"{where}: state.{item} {what}, but all its worlds have the true value")


def _at_the_deals(testbed: Testbed, setup: Setup, count: int) -> str:
    seeds = testbed.seeds(setup, count)
    return f"{setup}, seed {seeds[0]} to {seeds[-1]}, ply 0"


@dataclass(frozen=True)
class Item:
    """One value of a state: a field, or one element of its first axis."""

    name: str
    place: tuple[int, ...]

    def __str__(self) -> str:
        return self.name + "".join(f"[{i}]" for i in self.place)

    def of(self, states: np.ndarray) -> np.ndarray:
        """The value in each state: i64[N, ...]."""
        return states[self.name][(slice(None), *self.place)]


def _items(game: Game) -> list[Item]:
    names = (game.state.names or ())[len(HEADER) :]
    return [Item(name, place) for name in names for place in np.ndindex(game.state[name].shape[:1])]


def _not_dealt_anew(testbed: Testbed, deals: np.ndarray, seat: int) -> Iterator[Item]:
    """The values that differ between deals and are the same in each deal and its world."""
    worlds = testbed.compiled.worlds_of_each(deals, seat, 1)
    for item in _items(testbed.game):
        values = item.of(deals)
        changing = (values[1:] != values[:-1]).reshape(len(deals) - 1, -1).any(axis=1).mean()
        if changing >= OFTEN and (item.of(worlds) == values).all():
            yield item


def _is_known(testbed: Testbed, deals: np.ndarray, seat: int, item: Item) -> bool:
    """Whether a seat is shown a value, or a value that it is a function of."""
    if _shows(testbed, deals, seat, item):
        return True
    values = item.of(deals)
    others = (other for other in _items(testbed.game) if other != item and _follows(values, other.of(deals)))
    return any(_shows(testbed, deals, seat, other) for other in others)


def _shows(testbed: Testbed, deals: np.ndarray, seat: int, item: Item) -> bool:
    """Whether a seat's view of a deal changes when a value is exchanged for the next deal's, in 12 that differ."""
    values = item.of(deals)
    changing = np.flatnonzero((values[1:] != values[:-1]).reshape(len(deals) - 1, -1).any(axis=1))[:12]
    deals, mixtures = deals[changing], deals[changing]
    item.of(mixtures)[:] = values[changing + 1]
    if (testbed.compiled.rows(mixtures, seat) != testbed.compiled.rows(deals, seat)).any():
        return True
    show = testbed.game.show
    refuse("show")
    try:
        return any(show(deal, seat) != show(other, seat) for deal, other in zip(deals, mixtures, strict=True))
    except Exception:  # a mixture of two deals may be invalid; `show` noticed it, so the value shows
        return True


def _follows(values: np.ndarray, others: np.ndarray) -> bool:
    """Whether values seem to be a function of others: equal others (at least ten) always come with equal values."""
    known: dict[bytes, bytes] = {}
    repeated = 0
    for value, other in zip(values, others, strict=True):
        key = other.tobytes()
        repeated += key in known
        if known.setdefault(key, value.tobytes()) != value.tobytes():
            return False
    return repeated >= 10


@law
def worlds_do_not_favour_what_they_come_from(testbed: Testbed) -> Steps:
    """A world equals the state it is drawn from no more often than two worlds equal each other."""
    compiled, hits, pairs, worst = testbed.compiled, 0, 0, (0, None)
    for i, (here, seat) in enumerate(seen := Counted(testbed.chosen(60, "favour"), "views")):
        yield seen
        worlds = compiled.worlds(here.states, seat, 64, i)
        contents = facts(worlds)
        if (contents == contents[0]).all():
            continue
        came_from = facts(compiled.worlds_of_each(worlds[:32], seat, i + 1))
        same = int((came_from == contents[:32]).all(axis=1).sum())
        hits, pairs = hits + same, pairs + int((contents[:32] == contents[32:]).all(axis=1).sum())
        if same > worst[0]:
            worst = (same, (here, seat))
    # Both counts have the same expectation if worlds are drawn independently of the state they come from.
    if worst[1] and is_too_often(hits, hits + pairs):
        here, seat = worst[1]
        what = f"worlds equal the state they come from {hits} times, each other {pairs} times"
        raise here.broken(f"{what} (most often for seat {seat} here, {worst[0]} of 32)")


@law
def the_dealt_truth_is_a_world_like_any_other(testbed: Testbed) -> Steps:
    """Over many deals, each card is in each place as often in the true state as in worlds (5 sigma).

    At the deal, the true state is itself drawn from the worlds that are possible for a seat. So for every bit of the
    state, "1 in the true state and 0 in a world" happens as often as the reverse.
    """
    game, count = testbed.game, testbed.effort.deals
    for setup in (seen := Counted(testbed.setups, "tables")):
        yield seen
        deals = testbed.deals(setup, 0, count)
        for seat in range(setup.seats):
            z = _lean(testbed, deals, seat, 1)
            suspects = np.flatnonzero(np.abs(z) > HINT)
            if not len(suspects):
                continue
            again = _lean(testbed, testbed.deals(setup, count, 4 * count), seat, count + 1)[suspects]
            certain = suspects[(np.abs(again) > SIGMA) & (np.sign(again) == np.sign(z[suspects]))]
            if len(certain):
                where, sign = _at_the_deals(testbed, setup, 5 * count), "more" if z[certain[0]] > 0 else "less"
                what = f"state.{place_of_bit(game.state, int(certain[0]))} is set {sign} often in deals than in worlds"
                raise LawError(f"{where}: {what} of seat {seat} (more than 5 sigma)")


def _lean(testbed: Testbed, deals: np.ndarray, seat: int, seed: int) -> np.ndarray:
    """How much more often each bit is set in true states than in worlds, in standard deviations: f8[bits]."""
    truth, world = bits(deals), bits(testbed.compiled.worlds_of_each(deals, seat, seed))
    more = (truth > world).sum(axis=0, dtype=np.int64)
    less = (truth < world).sum(axis=0, dtype=np.int64)
    return (more - less) / np.sqrt(np.maximum(more + less, 1))


@law
def worlds_are_even(testbed: Testbed) -> Steps:
    """Where only few worlds are possible, all are drawn equally often (5 sigma, counted one by one).

    Two worlds are different if their cards are in different places (`Game.holdings`); a game without it is not tested.
    """
    if testbed.game.holdings is None:
        return
    counted = 0
    for i, (here, seat) in enumerate(seen := Counted(testbed.chosen(12 * testbed.effort.even, "even"), "views")):
        yield seen
        if counted >= testbed.effort.even:
            break
        kinds = len(_count_worlds(testbed, here, seat, 60, i))
        if not 2 <= kinds <= FEW_WORLDS:
            continue
        counted += 1
        if unevenness(_count_worlds(testbed, here, seat, 80 * kinds, i + 1)) > HINT:
            counts = _count_worlds(testbed, here, seat, 400 * kinds, i + 2)
            if unevenness(counts) > SIGMA:
                raise here.broken(f"the {len(counts)} worlds of seat {seat} are drawn {sorted(counts)} times")


def _count_worlds(testbed: Testbed, here: Position, seat: int, count: int, seed: int) -> list[int]:
    """How often each arrangement of the cards was drawn."""
    worlds = testbed.compiled.worlds(here.states, seat, count, seed)
    contents = [row.tobytes() for row in facts(worlds)]
    different = dict(zip(contents, worlds, strict=True))
    arrangements: Counter[tuple[int, ...]] = Counter()
    for content, times in Counter(contents).items():
        arrangements[tuple(testbed.holdings(here, different[content]))] += times
    return list(arrangements.values())


@law
def resampling_twice_is_resampling_once(testbed: Testbed) -> Steps:
    """Worlds of a world are distributed like worlds of the true state: each bit is set equally often (5 sigma)."""
    for i, (here, seat) in enumerate(seen := Counted(testbed.chosen(2 * len(testbed.traces), "twice"), "views")):
        yield seen
        suspects = np.abs(_drift(testbed, here, seat, 128, 100 * i)) > HINT
        if not suspects.any():
            continue
        certain = suspects & (np.abs(_drift(testbed, here, seat, MANY_WORLDS, 100 * i + 50)) > SIGMA)
        if certain.any():
            what = place_of_bit(testbed.game.state, int(np.argmax(certain)))
            raise here.broken(f"for seat {seat}, worlds of worlds have state.{what} set more or less often than worlds")


def _drift(testbed: Testbed, here: Position, seat: int, count: int, seed: int) -> np.ndarray:
    """How much more often each bit is set in worlds of worlds than in worlds, in standard deviations: f8[bits]."""
    draw = testbed.compiled.worlds
    once = bits(draw(here.states, seat, count, seed)).mean(axis=0)
    worlds = draw(here.states, seat, 4, seed + 1)
    of_worlds = np.concatenate([draw(world, seat, count // 4, seed + k) for k, world in enumerate(worlds)])
    twice = bits(of_worlds).mean(axis=0)
    mean = (once + twice) / 2
    return (twice - once) / np.sqrt(np.maximum(mean * (1 - mean), 1e-9) * 2 / count)


@law
def chances_are_those_of_worlds(testbed: Testbed) -> Steps:
    """`chances` gives each piece the share of worlds in which a hand has it (5 sigma), the same from any world.

    A game without `chances` or without `Game.holdings` is not tested.
    """
    game = testbed.game
    if game.chances is None or game.holdings is None:
        return
    for i, (here, seat) in enumerate(seen := Counted(testbed.chosen(testbed.effort.even, "chances"), "views")):
        yield seen
        worlds = testbed.compiled.worlds(here.states, seat, CHANCE_WORLDS, i)
        given, others = (_chances(here, seat, game, worlds[k]) for k in (0, 1))
        if not np.allclose(given, others, rtol=0, atol=ROUNDING):
            raise here.broken(f"chances gives seat {seat} other numbers in two of its worlds")
        if given.min() < -ROUNDING or (given.sum(axis=0) > 1 + ROUNDING).any():
            raise here.broken(f"chances gives seat {seat} a piece whose chances are below 0 or sum to more than 1")
        held = np.zeros_like(given)
        for world in worlds:
            for place, cards in enumerate(testbed.holdings(here, world)[: len(here.seats)]):
                held[place, listed_pieces(cards)] += 1
        expected = given * len(worlds)
        spread = np.sqrt(np.maximum(expected * (1 - given), 0))
        wrong = np.abs(held - expected) > SIGMA * spread + SIGMA**2 / 3 * (spread > 0) + ROUNDING * len(worlds)
        if wrong.any():
            place, piece = (int(k) for k in np.argwhere(wrong)[0])
            share = f"{held[place, piece] / len(worlds):.3f} of its worlds"
            said = f"chances says {given[place, piece]:.3f} to seat {seat}"
            raise here.broken(f"seat {place} has {game.pieces[piece]} in {share}, but {said}")


def _chances(here: Position, seat: int, game: Game, world: GameState) -> np.ndarray:
    """What `chances` writes for a seat in one of its worlds: f8[seats, pieces]."""
    assert game.chances is not None
    shares = np.zeros((len(here.seats), len(game.pieces)))
    here.ask(game.chances, world.copy(), seat, shares)
    return shares
