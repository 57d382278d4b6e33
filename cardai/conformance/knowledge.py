"""Laws on what a seat learns from a move: its worlds after the move agree with what it saw, and assume no more.

The laws work by induction. A recorded move is played in worlds of the position before it; if it is hidden from the
seat, so are all moves that the seat is told in the same words (`Game.tell`). The outcomes that look to the seat like
the position after it are all possible then, as far as the seat can tell. What varies among these outcomes must vary
among worlds drawn after the move, otherwise the seat learnt something it did not see. What is the same in all outcomes
must be the same in those worlds, otherwise the seat forgot something it knew.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cardai.conformance.evidence import MANY_WORLDS, bits, place_of_bit
from cardai.conformance.law import law
from cardai.conformance.listing import looking_like, told_alike
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


def _steps(testbed: Testbed, salt: str, worlds: int) -> Iterator[Step]:
    for here, seat in testbed.chosen(4 * len(testbed.traces), salt):
        if here.following.turn >= 0:
            yield _step(testbed, here, seat, worlds, here.ply)


def _step(testbed: Testbed, here: Position, seat: int, count: int, seed: int) -> Step:
    worlds = testbed.compiled.worlds(here.states, seat, count, seed)
    outcomes = testbed.compiled.moved(*told_alike(testbed, here, seat, worlds))
    return Step(here, seat, looking_like(testbed, here.following, seat, outcomes))


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
    after the move.
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
            what = f"state.{place_of_bit(testbed.game.state, int(np.argmax(known)))}"
            raise step.after.broken(
                f"worlds of seat {step.seat} change {what}, which it knew from the last move or before"
            )
