"""Laws on what a seat learns from a move: its worlds after the move agree with what it saw, and assume no more.

The laws work by induction. A recorded move is played in worlds of the position before it; if it is hidden from the
seat, so are all moves that the seat is told in the same words (`Text.tell`). The outcomes that look to the seat like
the position after it are all possible then, as far as the seat can tell. What varies among these outcomes must vary
among worlds drawn after the move, otherwise the seat learnt something it did not see. What is the same in all outcomes
must be the same in those worlds, otherwise the seat forgot something it knew.

After some moves a seat is shown so much, such as the cards passed to it, that hardly any outcome looks like the true
position. Two laws need none that does: what is the same in all outcomes, however they look, is known; and if another
hidden move, with the recorded moves after it, looks the same to a seat, then it cannot know which of the two was made.
"""

from collections.abc import Callable

import numpy as np

from cardai.game.compiled.native import HEADER
from cardai.game.compiled.together import SEALED, own_of, shows_choices
from cardai.laws.evidence import MANY_WORLDS, bits, facts, marks, place_of_bit
from cardai.laws.law import each
from cardai.laws.strata import GROWTH, LARGE_CHANGE, SELDOM
from cardai.laws.testbed import Position, Testbed, View
from cardai.laws.views import same_rows

OFTEN = 0.25  # a bit varies if it differs from the true one in this share of worlds
PUBLIC = HEADER[:-1]  # the fields of the header without `rng`: everybody sees them
SELDOM_MOVES = 64  # before a field changes that seldom does, which are looked at
GROWTHS = 6  # views before a place grows much
TOLD_PLIES = 100  # of a game in which all moves are told
TEXTS = 12  # texts that are read in a first look
WORLDS, MOST_MOVES = 8, 600  # in which other moves are tried, and how many moves in all of them
DRAWS = 6  # worlds by which two states are compared
BLOCKS = (128, 1024, *(8192,) * 11)  # worlds drawn until nothing is left that might be wrong: 91 264 in all
RARELY, FEWEST = 0.01, 4096  # a less frequent view, or fewer outcomes, say nothing about what is always so
FAR = 24  # moves after a hidden move that are played again with another one in its place
NO_UNSEEN = "no move was found that reveals nothing to a seat"
ALONE = "no move of another seat was found"
NO_OTHER = "no hidden move was found that could have been another one for all that a seat is shown"


def _moves_unseen(testbed: Testbed) -> list[View]:
    """Drawn views, and those of all seats before a field changes that seldom does: what happens once a game."""
    found = testbed.chosen(6 * len(testbed.traces), "unrevealed")
    seldom = {(id(here.trace), here.ply): here for here in testbed.of_kind(SELDOM, 4 * SELDOM_MOVES)}
    for here in list(seldom.values())[:SELDOM_MOVES]:
        found += here.views
    return testbed.mixed(found)


@each("views", _moves_unseen, none=NO_UNSEEN, hidden=True)
def unrevealed_moves_look_the_same(here: View) -> bool:
    """If a move reveals nothing to a seat (`revealed`), what the seat sees after it is the same in all its worlds.

    Search agents rely on it: they try such a move in one world only. Everybody sees whose turn comes next, which may
    depend on hidden cards, since a seat without a choice is passed over. So outcomes with another turn are left out.
    """
    worlds = here.worlds(here.testbed.effort.worlds)
    if here.seat != here.turn:
        return _looks_the_same(here, here.move, *told_alike(here, worlds))
    is_tested = False
    for move in here.some_moves():
        held = worlds[here.compiled.allowed(worlds, move)]
        is_tested |= _looks_the_same(here, np.atleast_1d(move), held, np.repeat(move, len(held)))
    return is_tested


def _looks_the_same(here: View, move: np.ndarray, worlds: np.ndarray, moves: np.ndarray) -> bool:
    """Break the law if a move looks different to the seat than `moves` in `worlds`, pair by pair.

    Returns False if it was revealed to the seat, so that there is nothing to compare.
    """
    outcomes = here.compiled.moved(np.concatenate([here.states, worlds]), np.concatenate([move, moves]))
    unseen = outcomes[(outcomes["revealed"] >> here.seat & 1 == 0) & (outcomes["turn"] == outcomes["turn"][0])]
    if len(unseen) < 2 or unseen["turn"][0] < 0:
        return False
    what = f"{here.text(move)} reveals nothing to seat {here.seat}"
    same_rows(here, here.rows(unseen), what)
    if len({here.following.ask(here.game.text.show, state, here.seat) for state in unseen[:3]}) > 1:
        raise here.broken(f"{what}, but the text it is shown then depends on hidden cards")
    return True


def _moves_seen(salt: str) -> Callable[[Testbed], list[View]]:
    """Views before moves that do not end the game: drawn ones, and those of all seats before large changes.

    The first of them are before a place grows much, such as a stock that discards return to, and before a field changes
    that seldom does: what a seat knew of these cards is easily lost.
    """

    def views(testbed: Testbed) -> list[View]:
        found = testbed.chosen(8 * len(testbed.traces), salt)
        for here in testbed.of_stratum(LARGE_CHANGE, len(testbed.traces) // 2):
            found += here.views
        chance = testbed.chance("rare", salt)
        rare = [*testbed.of_kind(GROWTH, GROWTHS), *testbed.of_kind(SELDOM, SELDOM_MOVES)]
        first = [here.views[chance.integers(len(here.seats))] for here in rare]
        return [here for here in (*first, *testbed.mixed(found)) if here.following.turn >= 0]

    return views


def _outcomes(here: View, count: int, seed: int) -> np.ndarray:
    """The states after the move in `count` worlds, as far as they look to the seat like the true one: STATE[N]."""
    return looking_like(here.following, _results(here, count, seed))


def _encoded_alike(here: View, count: int) -> np.ndarray:
    """The same by the header and the encodings alone, without texts, which take longest: STATE[N].

    It is enough for a first look: what the text shows of the position itself must be in all worlds anyhow.
    """
    results = _results(here, count, here.ply)
    return results[_rows_alike(here.following, results)]


def _results(here: View, count: int, seed: int) -> np.ndarray:
    return here.compiled.moved(*told_alike(here, here.worlds(count, seed)))


def _known(here: View, states: np.ndarray) -> np.ndarray:
    """Which bits have their true value in all of these states: bool[bits]."""
    return (bits(states) == bits(here.states)).all(axis=0)


def _vary(here: View, states: np.ndarray) -> np.ndarray:
    """Which bits differ from the true ones in OFTEN of these states: bool[bits]."""
    return (bits(states) != bits(here.states)).mean(axis=0) >= OFTEN


@each("views", _moves_seen("learnt"), none=NO_UNSEEN, hidden=True)
def nothing_is_learnt_unseen(here: View) -> bool:
    """A seat learns only from what it sees: a move that reveals nothing to it makes nothing certain in its worlds.

    What varies among the outcomes of the move in worlds of the position before must vary in worlds drawn after it.
    """
    after = here.following
    if after.state["revealed"] >> here.seat & 1 or len(rough := _encoded_alike(here, 64)) < 16:
        return False
    if not (_vary(after, rough) & _known(after, after.worlds(64))).any():
        return True
    outcomes = _outcomes(here, 64, here.ply)
    if len(outcomes) < 16:
        return False
    unknown = _vary(after, outcomes)
    for count in (64, MANY_WORLDS):
        unknown &= unknown.any() and _known(after, after.worlds(count, here.ply + count))
    if unknown.any():
        what = f"all worlds of seat {here.seat} have the true {place_of(after, unknown)}"
        raise after.broken(f"{what}, which it did not know a move ago and was not shown")
    return True


@each(
    "views",
    _moves_seen("forgotten"),
    none="no move was found of which enough outcomes look alike",
    hidden=True,
)
def nothing_seen_is_forgotten(here: View) -> bool:
    """What a seat knows from play stays the same in its worlds: a card it saw played or taken is not dealt anew.

    What is the same in all outcomes that the seat cannot tell from the true state must be the same in worlds drawn
    after the move.
    """
    after = here.following
    if len(rough := _encoded_alike(here, 64)) < 12:
        return False
    if here.game.learning.encoders and not (_known(after, rough) & _vary(after, after.worlds(64))).any():
        return True
    outcomes = _outcomes(here, 128, here.ply)
    if len(outcomes) < 24:
        return False
    known = _known(after, outcomes) & _vary(after, after.worlds(64))
    known &= known.any() and _known(after, _outcomes(here, MANY_WORLDS, here.ply + 2))
    if known.any():
        what = f"worlds of seat {here.seat} change {place_of(after, known)}"
        raise after.broken(f"{what}, which it knew from the last move or before")
    return True


def _eventful(testbed: Testbed) -> list[View]:
    """Views before moves, drawn by the square of how many bits of the state's sets and counts the move changes."""
    found = []
    for trace in testbed.traces:
        weights = _bits_changed(trace.states) ** 2 * (trace.states["turn"][1:] >= 0)
        number = min(testbed.effort.eventful, int((weights > 0).sum()))
        if number:
            chance = testbed.chance("eventful", trace.setup, trace.seed)
            plies = chance.choice(len(weights), number, replace=False, p=weights / weights.sum())
            found += [view for ply in plies for view in Position(trace, int(ply)).views]
    return testbed.mixed(found)


def _bits_changed(states: np.ndarray) -> np.ndarray:
    """How many bits each move of a game changes: f8[plies]. A negative number counts as one bit: it means "none"."""
    before, after = (facts(part).view(np.int64) for part in (states[:-1], states[1:]))
    some = np.bitwise_count(before ^ after)
    return np.where((before < 0) | (after < 0), before != after, some).sum(axis=1, dtype=np.float64)


@each("views", _eventful, hidden=True)
def what_every_outcome_shares_is_known(here: View) -> None:
    """What is the same after a move in all worlds of a seat, whatever it is shown then, stays so in later worlds.

    So a seat knows where the cards lie that it passed on, whatever is passed to it at the same time. Outcomes count if
    turn and phase are the true ones. Positions are left out in which `legal` truncates hidden moves, or in which one
    number of the seat's encodings is the true one in fewer than 1 % of the outcomes.

    A false alarm takes a state that the seat cannot know exactly, after an event that none of the outcomes had. If
    that event has the probability p, and the bit in question then differs in a quarter of the worlds, it has the
    probability p (1 - p/4)^N. N is 4096 at least and mostly more than 20 000. For the worst p, 4/N, that is 1 in 2800,
    mostly below 1 in 13 000. But such an event must not show in any number of the encodings, each of which p < 1 %
    would exclude, but only in several of them together. No rule of a game here comes near to that.
    """
    after = here.following
    known = _vary(after, after.worlds(64))
    if known.any():
        known = _in_every_outcome(here, known)
    if known.any():
        what = f"worlds of seat {here.seat} change {place_of(after, known)}"
        raise after.broken(f"{what}, which is the same however the last move turned out")


def _in_every_outcome(here: View, among: np.ndarray) -> np.ndarray:
    """Which bits, `among` some, have their true value in all outcomes of a move in worlds of the seat: bool[bits]."""
    after, known, number = here.following, among.copy(), 0
    shown = here.rows(after.states)[0]
    alike = np.zeros(len(shown), np.int64)
    for i, count in enumerate(BLOCKS):
        worlds = here.worlds(count, here.ply + 1000 * i)
        if i == 0 and is_truncated(here, worlds):
            return np.zeros_like(known)
        outcomes = here.compiled.moved(*told_alike(here, worlds, count))
        outcomes = outcomes[_same_header(after, outcomes)]
        known &= _known(after, outcomes)
        if not known.any():
            return known
        number += len(outcomes)
        alike += (here.rows(outcomes) == shown).sum(axis=0) if len(outcomes) else 0
    return known & (number >= FEWEST) & bool((alike >= RARELY * number).all())


@each("views", lambda testbed: testbed.chosen(4 * testbed.effort.told, "stays hidden"), none=NO_OTHER, hidden=True)
def hidden_moves_stay_hidden(here: View) -> bool:
    """A seat's worlds leave open which hidden move another seat made until something that it is shown depends on it.

    Another legal move that the seat is told in the same words takes the place of a hidden one, and the recorded moves
    follow it, as long as they are legal and lead to positions that look the same to the seat. A bit of the state that
    differs then, after a quarter of such moves or more, must differ in some of its worlds.

    A false alarm takes a bit that differs in a share q of the worlds, but after a quarter of the hidden moves, and in
    none of N = 91 264 worlds. The move of the record is one of the moves alike, so by symmetry a bit is in a true
    state of that kind with a probability of at most 4 q. So the probability of both, 4 q (1 - q)^N, is below 1 in
    60 000 for each bit even for the worst q, which is 1/N, and vanishes for q above 1 in 1000.
    """
    moves = told_alike(here, here.states)[1] if _hides(here) else here.move
    moves = moves[moves != here.move[0]]
    least, found, states, after = OFTEN * len(moves), None, here.compiled.moved(here.states, moves), here.following
    while len(states) and after.turn >= 0 and after.ply <= here.ply + FAR:
        states = looking_like(after, states)
        if len(states) < least:
            break
        found = after, states
        states = states[here.compiled.allowed(states, after.move)]
        states, after = here.compiled.moved(states, after.move), after.following
    if found is not None:
        _left_open(*found, least, f"with another move at ply {here.ply}, hidden from it, all would look the same to it")
    return found is not None


def _left_open(after: View, states: np.ndarray, least: float, why: str) -> None:
    """Break the law if worlds of the seat never have a bit that differs in `least` of the states after other moves."""
    unknown = (bits(states) != bits(after.states)).sum(axis=0) >= least
    for i, count in enumerate(BLOCKS):
        unknown &= unknown.any() and _known(after, after.worlds(count, after.ply + 1000 * i))
    if unknown.any():
        what = f"all worlds of seat {after.seat} have the true {place_of(after, unknown)}"
        raise after.broken(f"{what}, but {why}")


@each("views", lambda testbed: testbed.chosen(4 * testbed.effort.told, "told"), none=ALONE, hidden=True)
def what_is_told_is_the_same_in_every_world(here: View) -> bool:
    """What another seat is told of a move (`tell`, or `spell` without it) is the same text in all worlds of that seat.

    The text is asked for in a world of that seat, in which a hidden move may not be legal. So are what the move led to
    (`led_to`) and the rounds of a match (`rounds`), for the seat that moved too.
    """
    _same_results(here)
    if here.seat == here.turn:
        return False
    states = here.truth_and_worlds(4)
    words, *others = here.words(states, np.repeat(here.move, len(states)))
    for other in others:
        if other != words:
            raise here.broken(f"seat {here.seat} is told {words!r}, but {other!r} in one of its worlds")
    return True


def _same_results(here: View) -> None:
    """Break the law if what a move led to, or the points of rounds, are not the same in all worlds of the seat."""
    game, after = here.game, here.following
    before, following = here.truth_and_worlds(4), after.truth_and_worlds(4)
    asked: dict[str, Callable[[int], object]] = {}
    if (rounds := game.text.rounds) is not None:
        asked["rounds"] = lambda place: here.ask(rounds, following[place])
    if (led_to := game.text.led_to) is not None:
        asked["led_to"] = lambda place: here.ask(led_to, before[place], following[place])
    for name, ask in asked.items():
        truth, *others = (ask(place) for place in range(min(len(before), len(following))))
        for other in others:
            if other != truth:
                raise here.broken(f"{name} is {truth!r} for seat {here.seat}, but {other!r} in one of its worlds")


def _moves_told(testbed: Testbed) -> list[View]:
    """Drawn views. Before them, those of the next seat where most other moves are told in the same words, but not this.

    There a text may name by accident what it mostly hides.
    """
    found = []
    for trace in testbed.traces if own_of(testbed.game.text.tell) is not None else ():
        for ply in trace.sampled(TOLD_PLIES):
            here = Position(trace, ply)
            view = here.views[(here.turn + 1) % len(here.seats)]
            moves = here.moves
            words = view.words(np.repeat(here.states, len(moves)), moves)
            (own,) = view.words(here.states, here.move)
            if words.count(own) < max(map(words.count, words)):
                found.append(view)
    return [*testbed.mixed(found), *testbed.chosen(2 * testbed.effort.told, "hidden")]


@each("views", _moves_told, none=ALONE, hidden=True)
def what_is_told_names_nothing_hidden(here: View) -> bool:
    """Two moves that leave a seat the same worlds are told to it in the same words: no text names what worlds hide.

    Other moves are tried in worlds of the seat. One that leads to a state which the seat cannot tell from the true one,
    and from which `resample` deals it the very same worlds, leaves it the same worlds. A game that hides moves and has
    no `tell` breaks this law. The last of several choices at the same time shows all of them: a game hides a part of
    them only by a `tell` of its own, and the choices before the last stay the true ones then.
    """
    shows_all = shows_choices(here.game, here.state)
    if here.seat == here.turn or (shows_all and own_of(here.game.text.tell) is None):
        return False
    compiled, after = here.compiled, here.following
    worlds = here.worlds(WORLDS)
    if shows_all:
        worlds[SEALED] = here.state[SEALED]
    states, moves = all_moves(here, worlds)
    some = here.chance("tried").permutation(len(states))[:MOST_MOVES]
    results = compiled.moved(states[some], moves[some])
    alike = look_alike(after, results, TEXTS)
    states, moves, results = states[some][alike], moves[some][alike], results[alike]
    (words,), told = here.words(here.states, here.move), here.words(states, moves)
    differing = np.array([text != words for text in told], bool)
    differing &= ~np.isin(marks(results), np.append(marks(results[~differing]), marks(after.states)))
    wanted = after.worlds(DRAWS).tobytes()
    for place in np.flatnonzero(differing):
        if compiled.worlds(results[place], here.seat, DRAWS, after.ply).tobytes() == wanted:
            what = f"seat {here.seat} is told {words!r}, and its worlds after that are those after {told[place]!r}"
            raise here.broken(f"{what}: the text says more than the seat can know")
    return True


# What looks the same to a seat.


def looking_like(here: View, states: np.ndarray, texts: int | None = None) -> np.ndarray:
    """The states that the seat cannot tell from the true state: STATE[M]. `texts`: as for `look_alike`."""
    return states[look_alike(here, states, texts)]


def look_alike(here: View, states: np.ndarray, texts: int | None = None) -> np.ndarray:
    """Whether the seat cannot tell states from the true one by header, encodings, own moves or text: bool[N].

    With `texts`, so many texts are read first, and if all are the same, the rest is taken for the same too.
    """
    alike = _rows_alike(here, states)
    if here.turn == here.seat and alike.any() and not here.is_truncated:
        moves, counts = here.compiled.legal(np.concatenate([here.states, states[alike]]))
        moves = moves[:, : counts[0]]
        alike[alike] = (counts[1:] == counts[0]) & (moves[1:] == moves[0]).all(axis=1)
    truth, left = here.ask(here.game.text.show, here.state, here.seat), states[alike]
    first = left[:: len(left) // texts + 1] if texts is not None else left[:0]
    if texts is None or any(here.ask(here.game.text.show, state, here.seat) != truth for state in first):
        alike[alike] = [here.ask(here.game.text.show, state, here.seat) == truth for state in left]
    return alike


def _rows_alike(here: View, states: np.ndarray) -> np.ndarray:
    """Whether states have the true header, and the seat the same encodings in them as in the true state: bool[N]."""
    alike = _same_header(here, states)
    rows = here.rows(np.concatenate([here.states, states[alike]]))
    alike[alike] = (rows[1:] == rows[0]).all(axis=1)
    return alike


def _same_header(here: View, states: np.ndarray) -> np.ndarray:
    """Whether states have the true header, which everybody sees: bool[N]."""
    return np.all([states[name] == here.state[name] for name in PUBLIC], axis=0)


def told_alike(here: View, worlds: np.ndarray, most: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The moves in worlds that the seat is told in the same words as the true move: (STATE[N], MOVE[N]), pair by pair.

    A move that the seat knows is the true one, in the worlds in which it is legal: a move of its own, or any if the
    game hides none. Else `legal` gives the moves; some may be missing if it truncates (`is_truncated`). With `most`,
    only so many moves are looked at, drawn from all worlds.
    """
    if not _hides(here):
        held = worlds[here.compiled.allowed(worlds, here.move)]
        return held, np.repeat(here.move, len(held))
    before, moves = all_moves(here, worlds)
    if most is not None:
        drawn = here.testbed.chance("told", here.ply).permutation(len(moves))[:most]
        before, moves = before[drawn], moves[drawn]
    (words,) = here.words(here.states, here.move)
    alike = np.array([told == words for told in here.words(before, moves)], bool)
    return before[alike], moves[alike]


def is_truncated(here: View, worlds: np.ndarray) -> bool:
    """Whether `told_alike` may miss moves in worlds, because `legal` truncates them."""
    return _hides(here) and bool((here.compiled.legal(worlds)[1] < 0).any())


def _hides(here: View) -> bool:
    return here.game.text.tell is not None and here.seat != here.turn


def all_moves(here: View, worlds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every legal move in every world: (STATE[N], MOVE[N]), pair by pair."""
    moves, counts = here.compiled.legal(worlds)
    numbers = np.minimum(np.abs(counts), here.game.max_moves)
    return np.repeat(worlds, numbers), moves[np.arange(moves.shape[1]) < numbers[:, None]]


def place_of(here: View, wrong: np.ndarray) -> str:
    """The first of some bits of a state, bool[bits], by its field: "state.hands[2] bit 17"."""
    return f"state.{place_of_bit(here.game.state, int(np.argmax(wrong)))}"
