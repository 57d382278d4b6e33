"""Laws on what a seat learns from a move: its worlds after the move agree with what it saw, and assume no more.

The laws work by induction. A recorded move is played in worlds of the position before it. The outcomes that look to
the seat like the position after it are all possible then, as far as the seat can tell. What varies among these
outcomes must vary among worlds drawn after the move, otherwise the seat learnt something it did not see. What is the
same in all outcomes must be the same in those worlds, otherwise the seat forgot something it knew.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cardai.conformance.evidence import MANY_WORLDS, bits, place_of_bit
from cardai.conformance.law import law
from cardai.conformance.testbed import Position, Testbed, move_text
from cardai.conformance.views import same_rows

OFTEN = 0.25  # a bit varies if it differs from the true one in this share of worlds


@law
def unrevealed_moves_look_the_same(testbed: Testbed) -> None:
    """If a move reveals nothing to a seat (`revealed`), what the seat sees after it is the same in all its worlds.

    Search agents rely on it: they try such a move in one world only. Everybody sees whose turn comes next, which may
    depend on hidden cards, since a seat without a choice is passed over. So outcomes with another turn are left out.
    """
    for i, (here, seat) in enumerate(testbed.chosen(6 * len(testbed.traces), "unrevealed")):
        worlds = testbed.compiled.worlds(here.states, seat, testbed.effort.worlds, i)
        moves = testbed.some_moves(here) if seat == here.turn else here.move
        for k in range(len(moves)):
            _looks_the_same(testbed, here, seat, worlds, moves[k : k + 1])


def _looks_the_same(testbed: Testbed, here: Position, seat: int, worlds: np.ndarray, move: np.ndarray) -> None:
    compiled, show = testbed.compiled, testbed.game.show
    held = worlds[compiled.allowed(worlds, move)]
    outcomes = compiled.moved(np.concatenate([here.states, held]), move)
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


def _steps(testbed: Testbed, salt: str, worlds: int) -> Iterator[Step]:
    for here, seat in testbed.chosen(4 * len(testbed.traces), salt):
        if here.following.turn >= 0:
            yield _step(testbed, here, seat, worlds, here.ply)


def _step(testbed: Testbed, here: Position, seat: int, count: int, seed: int) -> Step:
    worlds = testbed.compiled.worlds(here.states, seat, count, seed)
    outcomes = testbed.compiled.moved(worlds[testbed.compiled.allowed(worlds, here.move)], here.move)
    return Step(here, seat, _looking_like(testbed, here.following, seat, outcomes))


def _looking_like(testbed: Testbed, here: Position, seat: int, states: np.ndarray) -> np.ndarray:
    """The states that `seat` cannot tell from the true state by turn, encodings, own moves or text: STATE[M]."""
    truth, show = here.state, testbed.game.show
    same = (states["turn"] == truth["turn"]) & (states["midway"] == truth["midway"])
    states = states[same & ((states["revealed"] ^ truth["revealed"]) >> seat & 1 == 0)]
    rows = testbed.compiled.rows(np.concatenate([here.states, states]), seat)
    states = states[(rows[1:] == rows[0]).all(axis=1)]
    if here.turn == seat and len(states):
        moves, counts = testbed.compiled.legal(np.concatenate([here.states, states]))
        if counts[0] > 0:
            moves = moves[:, : counts[0]]
            states = states[(counts[1:] == counts[0]) & (moves[1:] == moves[0]).all(axis=1)]
    shown = here.ask(show, truth, seat)
    return states[np.array([here.ask(show, state, seat) == shown for state in states], bool)]


@law
def nothing_is_learnt_unseen(testbed: Testbed) -> None:
    """A seat learns only from what it sees: a move that reveals nothing to it makes nothing certain in its worlds.

    What varies among the outcomes of the move in worlds of the position before must vary in worlds drawn after it.
    """
    for step in _steps(testbed, "learnt", 64):
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
def nothing_seen_is_forgotten(testbed: Testbed) -> None:
    """What a seat knows from play stays the same in its worlds: a card it saw played or taken is not dealt anew.

    What is the same in all outcomes that the seat cannot tell from the true state must be the same in worlds drawn
    after the move. If the move was secret, the seat saw less: so all other moves of that turn are tried as well before
    the law counts as broken.
    """
    for step in _steps(testbed, "forgotten", 128):
        if len(step.outcomes) < 24:
            continue
        truth, ply = step.truth, step.before.ply
        worlds = testbed.compiled.worlds(step.after.states, step.seat, 64, ply + 1)
        known = (bits(step.outcomes) == truth).all(axis=0) & ((bits(worlds) != truth).mean(axis=0) >= OFTEN)
        if known.any():
            more = _step(testbed, step.before, step.seat, MANY_WORLDS, ply + 2)
            known &= (bits(more.outcomes) == truth).all(axis=0)
        if known.any():
            known &= ~_explained(testbed, step, known)
        if known.any():
            what = f"state.{place_of_bit(testbed.game.state, int(np.argmax(known)))}"
            raise step.after.broken(
                f"worlds of seat {step.seat} change {what}, which it knew from the last move or before"
            )


def _explained(testbed: Testbed, step: Step, known: np.ndarray) -> np.ndarray:
    """Bits that may vary: another move, which looks the same to the seat, would have set them differently."""
    truth, explained = step.truth, np.zeros(len(known), bool)
    worlds = testbed.compiled.worlds(step.before.states, step.seat, 128, step.before.ply + 3)
    for i in range(len(worlds)):
        world = worlds[i : i + 1]
        outcomes = testbed.compiled.moved(world, testbed.compiled.moves(world))
        wanted = known & ~explained
        outcomes = outcomes[(bits(outcomes)[:, wanted] != truth[wanted]).any(axis=1)]
        alike = _looking_like(testbed, step.after, step.seat, outcomes)
        explained |= (bits(alike) != truth).any(axis=0)
    return explained
