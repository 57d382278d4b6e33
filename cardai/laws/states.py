"""Laws on states and memory: which rules may change a state, what they may write and read, and that no card is lost.

Each rule is called on records and arrays that lie between guard records. All that a rule may not read is filled with a
pattern of bytes; the results must be the same for two patterns.
"""

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from cardai.laws.compiled import GUARDS, Compiled
from cardai.laws.law import each, each_game
from cardai.laws.steps import Question, questions, texts
from cardai.laws.testbed import Position, Testbed, Trace, View

PATTERNS = (0x55, 0xAA)  # bytes; each bit is set in one of them


def _calls(here: View) -> dict[str, Question]:
    """What can be asked of the rules at a view, and the rules that change a state."""
    found = questions(here.game, here.states, here.seat, here.ply)
    found["score"] = lambda on: on.values(here.states, here.seat)
    if here.seat == here.turn:
        found["act"] = lambda on: on.moved(here.states, here.move, settle=False)
        found["act and settle"] = lambda on: on.moved(here.states, here.move)
    return found


@each("positions", Testbed.with_ends)
def text_changes_nothing(here: Position) -> None:
    """show, spell, parse, tell, ending, holdings, zones and picks change neither the state nor the move they get."""
    game, is_over, own = here.game, here.turn < 0, here.state
    functions = texts(game, len(here.seats), is_over)
    if not is_over:
        functions["parse"] = lambda state, move: game.text.parse(state, game.text.spell(own.copy(), move))
    for name, write in functions.items():
        fence, moves = Fence(here.compiled), here.trace.moves[:1] if is_over else here.move
        state, move = fence.given("state", here.states), fence.given("move", moves)
        here.ask(write, state[0], move[0])
        for damaged in fence.damaged():
            raise here.broken(f"{name} writes {damaged}")


@each_game("holdings")
def cards_are_conserved(trace: Trace) -> None:
    """No card is in two places, appears or disappears; a world has as many cards in each place as the true state."""
    dealt = Position(trace, 0)
    deck = dealt.counts(dealt.state).sum(axis=0)
    for ply in range(len(trace.states)):
        here = Position(trace, ply)
        _conserved(here, here.state, deck, "the state")
    for ply in trace.sampled(trace.testbed.effort.texts):
        here = Position(trace, ply)
        after = here.compiled.moved(here.states, here.move, settle=False)
        _conserved(here, after[0], deck, "the after-state")
        sizes = here.counts(here.state).sum(axis=1).tolist()
        for seat, world in ((view.seat, world) for view in here.views for world in view.worlds(4)):
            what = f"a world of seat {seat}"
            counts = _conserved(here, world, deck, what).sum(axis=1).tolist()
            if counts != sizes:
                raise here.broken(f"{what} has {counts} cards in its places, the true state {sizes}")


def _conserved(here: Position, state: Any, deck: np.ndarray, what: str) -> np.ndarray:
    held = here.counts(state)
    seen, names = held.sum(axis=0), here.testbed.deck.names
    if not here.testbed.deck.are_counts and (seen > 1).any():
        raise here.broken(f"{what} has cards {_named(seen - 1, names)} in two places")
    if (seen != deck).any():
        lost, new = _named(deck - seen, names), _named(seen - deck, names)
        raise here.broken(f"{what} does not hold the cards dealt: missing {lost}, new {new}")
    return held


def _named(numbers: np.ndarray, names: Sequence[str]) -> str:
    """The names of cards, each as often as its number says, in words."""
    return ", ".join(name for name, n in zip(names, numbers.tolist(), strict=True) for _ in range(n)) or "none"


def _places(testbed: Testbed) -> Iterator[View]:
    """Views of seats to move, and at the largest table of all seats, since arrays are full there."""
    most = max(testbed.game.seats)
    return (here for here in testbed.views(testbed.effort.texts) if len(here.seats) == most or here.seat == here.turn)


@each("views", _places)
def rules_stay_in_their_buffers(here: View) -> None:
    """No rule writes before or behind a buffer it is given, nor to a record or parameters that it may only read."""
    for name, call in _calls(here).items():
        call(fence := Fence(here.compiled))
        for damaged in fence.damaged():
            raise here.broken(f"{name} writes {damaged}")


@each("views", _places)
def unwritten_memory_is_not_read(here: View) -> None:
    """The results of a rule do not depend on what lies in memory that nobody has written, nor around its buffers."""
    for name, call in _calls(here).items():
        first, second = (np.asarray(call(Fence(here.compiled, pattern))).tobytes() for pattern in PATTERNS)
        if first != second:
            what = "does something else if unwritten memory holds other bytes"
            raise here.broken(f"{name}, asked for seat {here.seat}, {what}")


class Fence(Compiled):
    """Rules on blocks of records, each between guard records that are filled with a pattern of bytes."""

    def __init__(self, compiled: Compiled, pattern: int = PATTERNS[0]) -> None:
        super().__init__(compiled.game)
        self.rules, self.numbers, self.pattern = compiled.rules, compiled.numbers, pattern
        self._blocks: list[tuple[str, np.ndarray, bytes, bytes | None]] = []

    def given(self, name: str, records: Any, fixed: bool = True) -> np.ndarray:
        records = np.atleast_1d(records)
        block = self.blank(name, len(records), records.dtype, records.tobytes() if fixed else None)
        block[:] = records
        return block

    def blank(self, name: str, count: int, dtype: np.dtype, fixed: bytes | None = None) -> np.ndarray:
        whole = np.frombuffer(bytearray([self.pattern]) * ((count + 2 * GUARDS) * dtype.itemsize), dtype)
        self._blocks.append((name, whole, whole[:GUARDS].tobytes(), fixed))
        return whole[GUARDS:-GUARDS]

    def blank_moves(self, count: int) -> Any:
        return SimpleNamespace(block=self.blank("moves", count, self.game.move), is_damaged=lambda: False)

    def damaged(self) -> Iterator[str]:
        """Where something was written that should not have been, in words."""
        for name, whole, guard, fixed in self._blocks:
            if whole[:GUARDS].tobytes() != guard:
                yield f"before the {name}"
            if whole[-GUARDS:].tobytes() != guard:
                yield f"behind the {name}"
            if fixed is not None and whole[GUARDS:-GUARDS].tobytes() != fixed:
                was, now = np.frombuffer(fixed, whole.dtype), whole[GUARDS:-GUARDS]
                field = next((f".{f}" for f in whole.dtype.names or () if (was[f] != now[f]).any()), "")
                yield f"to the {name}{field}, which it may only read"
