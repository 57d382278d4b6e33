"""Laws on what a seat learns from a move: its worlds after the move agree with what it saw, and assume no more.

The laws work by induction. A recorded move is played in worlds of the position before it; if it is hidden from the
seat, so are all moves that the seat is told in the same words (`Game.tell`). The outcomes that look to the seat like
the position after it are all possible then, as far as the seat can tell. What varies among these outcomes must vary
among worlds drawn after the move, otherwise the seat learnt something it did not see. What is the same in all outcomes
must be the same in those worlds, otherwise the seat forgot something it knew.

After some moves a seat is shown so much, such as the cards passed to it, that hardly any outcome looks like the true
position. Two laws need none that does: what is the same in all outcomes, however they look, is known; and if another
hidden move, with the recorded moves after it, looks the same to a seat, then it cannot know which of the two was made.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cardai.conformance.evidence import MANY_WORLDS, bits, facts, marks, place_of_bit
from cardai.conformance.law import Steps, law
from cardai.conformance.strata import LARGE_CHANGE
from cardai.conformance.testbed import Counted, Position, Testbed, move_text
from cardai.conformance.views import same_rows
from cardai.kernel.native import HEADER

OFTEN = 0.25  # a bit varies if it differs from the true one in this share of worlds
PUBLIC = HEADER[:-1]  # the fields of the header without `rng`: everybody sees them
TEXTS = 12  # texts that are read in a first look
WORLDS, MOST_MOVES = 8, 600  # in which other moves are tried, and how many moves in all of them
DRAWS = 6  # worlds by which two states are compared
BLOCKS = (128, 1024, *(8192,) * 11)  # worlds drawn until nothing is left that might be wrong: 91 264 in all
RARELY, FEWEST = 0.01, 4096  # a less frequent view, or fewer outcomes, say nothing about what is always so
FAR = 24  # moves after a hidden move that are played again with another one in its place
NO_OTHER = "not tested: no hidden move was found that could have been another one for all that a seat is shown"


@law
def unrevealed_moves_look_the_same(testbed: Testbed) -> Steps:
    """If a move reveals nothing to a seat (`revealed`), what the seat sees after it is the same in all its worlds.

    Search agents rely on it: they try such a move in one world only. Everybody sees whose turn comes next, which may
    depend on hidden cards, since a seat without a choice is passed over. So outcomes with another turn are left out.
    """
    for i, (here, seat) in enumerate(seen := Counted(testbed.chosen(6 * len(testbed.traces), "unrevealed"), "views")):
        yield seen
        worlds = testbed.compiled.worlds(here.states, seat, testbed.effort.worlds, i)
        if seat != here.turn:
            _looks_the_same(testbed, here, seat, here.move, *told_alike(testbed, here, seat, worlds))
            continue
        moves = testbed.some_moves(here)
        for move in moves.reshape(len(moves), 1):
            held = worlds[testbed.compiled.allowed(worlds, move)]
            _looks_the_same(testbed, here, seat, move, held, np.repeat(move, len(held)))


def _looks_the_same(
    testbed: Testbed, here: Position, seat: int, move: np.ndarray, worlds: np.ndarray, moves: np.ndarray
) -> None:
    """Break the law if a move looks different to `seat` than `moves` in `worlds`, pair by pair."""
    compiled, show = testbed.compiled, testbed.game.show
    outcomes = compiled.moved(np.concatenate([here.states, worlds]), np.concatenate([move, moves]))
    unseen = outcomes[(outcomes["revealed"] >> seat & 1 == 0) & (outcomes["turn"] == outcomes["turn"][0])]
    if len(unseen) < 2 or unseen["turn"][0] < 0:
        return
    what = f"{move_text(testbed.game, here.state, move[0])} reveals nothing to seat {seat}"
    same_rows(testbed, here, compiled.rows(unseen, seat), what)
    if len({here.following.ask(show, state, seat) for state in unseen[:3]}) > 1:
        raise here.broken(f"{what}, but the text it is shown then depends on hidden cards")


@dataclass(frozen=True)
class Step:
    """A recorded move as a seat saw it: from `before` to `after`.

    `outcomes`: STATE[N], the states after the move in worlds of `before`, as far as they look to the seat like `after`.
    """

    before: Position
    seat: int
    outcomes: np.ndarray

    @property
    def after(self) -> Position:
        """The position after the move in the true game."""
        return self.before.following

    @property
    def truth(self) -> np.ndarray:
        """The bits of the true state after the move: u8[bits]."""
        return bits(self.after.states)[0]


def _moves_seen(testbed: Testbed, salt: str) -> Counted[tuple[Position, int]]:
    """Positions before moves that do not end the game, and seats: drawn ones, and all seats before large changes."""
    pairs = testbed.chosen(4 * len(testbed.traces), salt)
    for here in testbed.of_stratum(LARGE_CHANGE, len(testbed.traces) // 2):
        pairs += [(here, seat) for seat in here.seats]
    return Counted(testbed.mixed([pair for pair in pairs if pair[0].following.turn >= 0]), "views")


def _step(testbed: Testbed, here: Position, seat: int, count: int, seed: int) -> Step:
    worlds = testbed.compiled.worlds(here.states, seat, count, seed)
    outcomes = testbed.compiled.moved(*told_alike(testbed, here, seat, worlds))
    return Step(here, seat, looking_like(testbed, here.following, seat, outcomes))


@law
def nothing_is_learnt_unseen(testbed: Testbed) -> Steps:
    """A seat learns only from what it sees: a move that reveals nothing to it makes nothing certain in its worlds.

    What varies among the outcomes of the move in worlds of the position before must vary in worlds drawn after it.
    """
    for here, seat in (seen := _moves_seen(testbed, "learnt")):
        yield seen
        step = _step(testbed, here, seat, 64, here.ply)
        if len(step.outcomes) < 16 or step.after.state["revealed"] >> step.seat & 1:
            continue
        truth = step.truth
        unknown = (bits(step.outcomes) != truth).mean(axis=0) >= OFTEN
        for count in (64, MANY_WORLDS):
            worlds = testbed.compiled.worlds(step.after.states, step.seat, count, step.before.ply + count)
            unknown &= (bits(worlds) == truth).all(axis=0)
            if not unknown.any():
                break
        else:
            what = f"state.{place_of_bit(testbed.game.state, int(np.argmax(unknown)))}"
            found = f"all worlds of seat {step.seat} have the true {what}"
            raise step.after.broken(f"{found}, which it did not know a move ago and was not shown")


@law
def nothing_seen_is_forgotten(testbed: Testbed) -> Steps:
    """What a seat knows from play stays the same in its worlds: a card it saw played or taken is not dealt anew.

    What is the same in all outcomes that the seat cannot tell from the true state must be the same in worlds drawn
    after the move.
    """
    for here, seat in (seen := _moves_seen(testbed, "forgotten")):
        yield seen
        step = _step(testbed, here, seat, 128, here.ply)
        if len(step.outcomes) < 24:
            continue
        truth, ply = step.truth, step.before.ply
        worlds = testbed.compiled.worlds(step.after.states, step.seat, 64, ply + 1)
        known = (bits(step.outcomes) == truth).all(axis=0) & ((bits(worlds) != truth).mean(axis=0) >= OFTEN)
        if known.any():
            more = _step(testbed, step.before, step.seat, MANY_WORLDS, ply + 2)
            known &= (bits(more.outcomes) == truth).all(axis=0)
        if known.any():
            what = f"state.{place_of_bit(testbed.game.state, int(np.argmax(known)))}"
            raise step.after.broken(
                f"worlds of seat {step.seat} change {what}, which it knew from the last move or before"
            )


@law
def what_every_outcome_shares_is_known(testbed: Testbed) -> Steps:
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
    views = [(place, seat) for place in testbed.mixed(list(_eventful(testbed))) for seat in place.seats]
    for here, seat in (seen := Counted(views, "views")):
        yield seen
        worlds = testbed.compiled.worlds(here.following.states, seat, 64, here.ply + 1)
        varied = (bits(worlds) != bits(here.following.states)).mean(axis=0) >= OFTEN
        if varied.any():
            known = _in_every_outcome(testbed, here, seat, varied)
            if known.any():
                what = f"state.{place_of_bit(testbed.game.state, int(np.argmax(known)))}"
                found = f"worlds of seat {seat} change {what}, which is the same however the last move turned out"
                raise here.following.broken(found)


def _eventful(testbed: Testbed) -> Iterator[Position]:
    """Positions before moves, drawn by the square of how many bits of the state's sets and counts the move changes."""
    for trace in testbed.traces:
        weights = _bits_changed(trace.states) ** 2 * (trace.states["turn"][1:] >= 0)
        number = min(testbed.effort.eventful, int((weights > 0).sum()))
        if number:
            chance = testbed.chance("eventful", trace.setup, trace.seed)
            plies = chance.choice(len(weights), number, replace=False, p=weights / weights.sum())
            yield from (Position(trace, int(ply)) for ply in plies)


def _bits_changed(states: np.ndarray) -> np.ndarray:
    """How many bits each move of a game changes: f8[plies]. A negative number counts as one bit: it means "none"."""
    words = facts(states).view(np.int64)
    before, after = words[:-1], words[1:]
    some = np.bitwise_count(before ^ after)
    return np.where((before < 0) | (after < 0), before != after, some).sum(axis=1, dtype=np.float64)


def _in_every_outcome(testbed: Testbed, here: Position, seat: int, among: np.ndarray) -> np.ndarray:
    """Which bits, `among` some, have their true value in all outcomes of a move in worlds of a seat: bool[bits]."""
    compiled, after = testbed.compiled, here.following
    truth, shown = bits(after.states)[0], compiled.rows(after.states, seat)[0]
    known, number, alike = among.copy(), 0, np.zeros(len(shown), np.int64)
    for i, count in enumerate(BLOCKS):
        worlds = compiled.worlds(here.states, seat, count, here.ply + 1000 * i)
        if i == 0 and is_truncated(testbed, here, seat, worlds):
            return np.zeros_like(known)
        outcomes = compiled.moved(*told_alike(testbed, here, seat, worlds, count))
        outcomes = outcomes[_same_header(after, outcomes)]
        known &= (bits(outcomes) == truth).all(axis=0)
        if not known.any():
            return known
        number += len(outcomes)
        alike += (compiled.rows(outcomes, seat) == shown).sum(axis=0) if len(outcomes) else 0
    return known & (number >= FEWEST) & bool((alike >= RARELY * number).all())


@law
def hidden_moves_stay_hidden(testbed: Testbed) -> Steps:
    """A seat's worlds leave open which hidden move another seat made until something that it is shown depends on it.

    Another legal move that the seat is told in the same words takes the place of a hidden one, and the recorded moves
    follow it, as long as they are legal and lead to positions that look the same to the seat. A bit of the state that
    differs then, after a quarter of such moves or more, must differ in some of its worlds.

    A false alarm takes a bit that differs in a share q of the worlds, but after a quarter of the hidden moves, and in
    none of N = 91 264 worlds. The move of the record is one of the moves alike, so by symmetry a bit is in a true
    state of that kind with a probability of at most 4 q. So the probability of both, 4 q (1 - q)^N, is below 1 in
    60 000 for each bit even for the worst q, which is 1/N, and vanishes for q above 1 in 1000.
    """
    tried = 0
    for here, seat in (seen := Counted(testbed.chosen(4 * testbed.effort.told, "stays hidden"), "views")):
        yield seen
        tried += _stays_hidden(testbed, here, seat)
    return None if tried else NO_OTHER


def _stays_hidden(testbed: Testbed, here: Position, seat: int) -> bool:
    """Break the law if it is broken here. Returns whether other moves could be tried."""
    if not _hides(testbed, here, seat):
        return False
    compiled, moves = testbed.compiled, told_alike(testbed, here, seat, here.states)[1]
    moves = moves[moves != here.move[0]]
    if not len(moves):
        return False
    least, found, states, after = OFTEN * len(moves), None, compiled.moved(here.states, moves), here.following
    while after.turn >= 0 and after.ply <= here.ply + FAR:
        states = states[look_alike(testbed, after, seat, states)]
        if len(states) < least:
            break
        found = after, states
        states = states[compiled.allowed(states, after.move)]
        if not len(states):
            break
        states, after = compiled.moved(states, after.move), after.following
    if found is not None:
        _left_open(testbed, here, seat, *found, least)
    return found is not None


def _left_open(testbed: Testbed, here: Position, seat: int, after: Position, states: np.ndarray, least: float) -> None:
    """Break the law if worlds of `seat` never have a bit that differs in `least` of the states after other moves."""
    truth = bits(after.states)[0]
    unknown = (bits(states) != truth).sum(axis=0) >= least
    for i, count in enumerate(BLOCKS):
        if not unknown.any():
            return
        worlds = testbed.compiled.worlds(after.states, seat, count, after.ply + 1000 * i)
        unknown &= (bits(worlds) == truth).all(axis=0)
    if unknown.any():
        what = f"state.{place_of_bit(testbed.game.state, int(np.argmax(unknown)))}"
        other = f"with another move at ply {here.ply}, hidden from it, all would look the same to it"
        raise after.broken(f"all worlds of seat {seat} have the true {what}, but {other}")


@law
def what_is_told_is_the_same_in_every_world(testbed: Testbed) -> Steps:
    """What another seat is told of a move (`tell`, or `spell` without it) is the same text in all worlds of that seat.

    The text is asked for in a world of that seat, in which a hidden move may not be legal.
    """
    for i, (here, seat) in enumerate(seen := Counted(testbed.chosen(4 * testbed.effort.told, "told"), "views")):
        yield seen
        if seat != here.turn:
            words = testbed.words(here, here.states, here.move, seat)[0]
            worlds = testbed.compiled.worlds(here.states, seat, 4, i)
            for other in testbed.words(here, worlds, np.repeat(here.move, len(worlds)), seat):
                if other != words:
                    raise here.broken(f"seat {seat} is told {words!r}, but {other!r} in one of its worlds")


@law
def what_is_told_names_nothing_hidden(testbed: Testbed) -> Steps:
    """Two moves that leave a seat the same worlds are told to it in the same words: no text names what worlds hide.

    Other moves are tried in worlds of the seat. One that leads to a state which the seat cannot tell from the true one,
    and from which `resample` deals it the very same worlds, leaves it the same worlds. A game that hides moves and has
    no `tell` breaks this law.
    """
    for i, (here, seat) in enumerate(seen := Counted(testbed.chosen(2 * testbed.effort.told, "hidden"), "views")):
        yield seen
        if seat != here.turn:
            _names_nothing(testbed, here, seat, i)


def _names_nothing(testbed: Testbed, here: Position, seat: int, seed: int) -> None:
    """Break the law if a move that leaves `seat` the same worlds as the true one is told in other words."""
    compiled = testbed.compiled
    states, moves = all_moves(testbed, compiled.worlds(here.states, seat, WORLDS, seed))
    some = testbed.chance("tried", seed).permutation(len(states))[:MOST_MOVES]
    results = compiled.moved(states[some], moves[some])
    alike = look_alike(testbed, here.following, seat, results, TEXTS)
    states, moves, results = states[some][alike], moves[some][alike], results[alike]
    words = testbed.words(here, here.states, here.move, seat)[0]
    told = testbed.words(here, states, moves, seat)
    differing = np.array([text != words for text in told], bool)
    differing &= ~np.isin(marks(results), np.append(marks(results[~differing]), marks(here.following.states)))
    wanted = compiled.worlds(here.following.states, seat, DRAWS, seed).tobytes()
    for place in np.flatnonzero(differing):
        if compiled.worlds(results[place : place + 1], seat, DRAWS, seed).tobytes() == wanted:
            what = f"seat {seat} is told {words!r}, and its worlds after that are those after {told[place]!r}"
            raise here.broken(f"{what}: the text says more than the seat can know")


# What looks the same to a seat.


def looking_like(
    testbed: Testbed, here: Position, seat: int, states: np.ndarray, texts: int | None = None
) -> np.ndarray:
    """The states that `seat` cannot tell from the true state: STATE[M]. `texts`: as for `look_alike`."""
    return states[look_alike(testbed, here, seat, states, texts)]


def look_alike(testbed: Testbed, here: Position, seat: int, states: np.ndarray, texts: int | None = None) -> np.ndarray:
    """Whether `seat` cannot tell states from the true one by header, encodings, own moves or text: bool[N].

    With `texts`, so many texts are read first, and if all are the same, the rest is taken for the same too.
    """
    truth, show = here.state, testbed.game.show
    alike = _same_header(here, states)
    rows = testbed.compiled.rows(np.concatenate([here.states, states[alike]]), seat)
    alike[alike] = (rows[1:] == rows[0]).all(axis=1)
    if here.turn == seat and alike.any():
        moves, counts = testbed.compiled.legal(np.concatenate([here.states, states[alike]]))
        if counts[0] > 0:
            moves = moves[:, : counts[0]]
            alike[alike] = (counts[1:] == counts[0]) & (moves[1:] == moves[0]).all(axis=1)
    shown, left = here.ask(show, truth, seat), states[alike]
    if texts is None or any(here.ask(show, state, seat) != shown for state in left[:: len(left) // texts + 1]):
        alike[alike] = [here.ask(show, state, seat) == shown for state in left]
    return alike


def _same_header(here: Position, states: np.ndarray) -> np.ndarray:
    """Whether states have the true header, which everybody sees: bool[N]."""
    return np.all([states[name] == here.state[name] for name in PUBLIC], axis=0)


def told_alike(
    testbed: Testbed, here: Position, seat: int, worlds: np.ndarray, most: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The moves in worlds that `seat` is told in the same words as the true move: (STATE[N], MOVE[N]), pair by pair.

    A move that the seat knows is the true one, in the worlds in which it is legal: a move of its own, or any if the
    game hides none. Else `legal` gives the moves; some may be missing if it truncates (`is_truncated`). With `most`,
    only so many moves are looked at, drawn from all worlds.
    """
    if not _hides(testbed, here, seat):
        held = worlds[testbed.compiled.allowed(worlds, here.move)]
        return held, np.repeat(here.move, len(held))
    before, moves = all_moves(testbed, worlds)
    if most is not None:
        drawn = testbed.chance("told", here.ply).permutation(len(moves))[:most]
        before, moves = before[drawn], moves[drawn]
    words = testbed.words(here, here.states, here.move, seat)[0]
    alike = np.array([told == words for told in testbed.words(here, before, moves, seat)], bool)
    return before[alike], moves[alike]


def is_truncated(testbed: Testbed, here: Position, seat: int, worlds: np.ndarray) -> bool:
    """Whether `told_alike` may miss moves in worlds, because `legal` truncates them."""
    return _hides(testbed, here, seat) and bool((testbed.compiled.legal(worlds)[1] < 0).any())


def _hides(testbed: Testbed, here: Position, seat: int) -> bool:
    return testbed.game.tell is not None and seat != here.turn


def all_moves(testbed: Testbed, worlds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every legal move in every world: (STATE[N], MOVE[N]), pair by pair."""
    moves, counts = testbed.compiled.legal(worlds)
    numbers = np.minimum(np.abs(counts), testbed.game.max_moves)
    written = np.arange(moves.shape[1]) < numbers[:, None]
    return np.repeat(worlds, numbers), moves[written]
