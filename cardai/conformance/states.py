"""Laws on states and memory: which rules may change a state, what they may write and read, and that no card is lost.

Each rule is called on records and arrays that lie between guard records. All that a rule may not read is filled with a
pattern of bytes; the results must be the same for two patterns.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cardai.conformance.compiled import (
    GUARDS,
    allow_each,
    blank_each,
    choose_each,
    draw_again,
    encode_each,
    legal_each,
    move_each,
    simplify_each,
    streams,
    value_each,
    weigh_each,
)
from cardai.conformance.law import each, each_game, each_position, each_view
from cardai.conformance.note import functions_of, refuse
from cardai.conformance.steps import texts
from cardai.conformance.testbed import Position, Testbed, Trace, View
from cardai.game import int_seed
from cardai.kernel.ending import find_open
from cardai.kernel.native import raw
from cardai.rule import STREAM

PATTERNS = (0x55, 0xAA)  # bytes; each bit is set in one of them
WRITERS = ("act", "act and settle", "resample", "blank", "simplify")  # the rules that change a state


@each_view("texts")
def rules_touch_only_their_record(here: View) -> None:
    """act, settle, resample, blank, simplify change only their own state, nothing next to it; act leaves its move."""
    _stay_in_their_buffers(here, {name: run for name, run in _runs(here).items() if name in WRITERS})


@each_position("texts")
def asking_changes_nothing(here: Position) -> None:
    """legal, is_legal, is_open, weight, score, encoders, heuristics, players do not change the state they are given."""
    _stay_in_their_buffers(here, {name: run for name, run in _runs(here.own).items() if name not in WRITERS})


def _stay_in_their_buffers(here: Position, runs: "dict[str, Callable[[Fence], bytes]]") -> None:
    """Break the law if one of these rules writes where it may not."""
    for name, run in runs.items():
        refuse(*functions_of(name))
        fence = Fence(PATTERNS[0])
        run(fence)
        for damaged in fence.damaged():
            raise here.broken(f"{name} writes {damaged}")


@each("positions", Testbed.with_ends)
def text_changes_nothing(here: Position) -> None:
    """show, spell, parse, tell, ending, holdings, zones and picks change neither the state nor the move they get."""
    game, is_over, own = here.game, here.turn < 0, here.state
    functions = texts(game, len(here.seats), is_over)
    if not is_over:
        functions["parse"] = lambda state, move: game.text.parse(state, game.text.spell(own.copy(), move))
    for name, write in functions.items():
        fence, moves = Fence(PATTERNS[0]), here.trace.moves[:1] if is_over else here.move
        state, move = fence.given("state", here.states, fixed=True), fence.given("move", moves, fixed=True)
        refuse(*functions_of(name), *(["spell"] if name == "parse" else []))
        here.ask(write, state[0], move[0])
        for damaged in fence.damaged():
            raise here.broken(f"{name} writes {damaged}")


@each_game("holdings")
def cards_are_conserved(trace: Trace) -> None:
    """No card is in two places, appears or disappears; a world has as many cards in each place as the true state.

    `Table.holdings` says where the cards of a game are; a game without it is not tested.
    """
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
    _stay_in_their_buffers(here, _runs(here))


@each("views", _places)
def unwritten_memory_is_not_read(here: View) -> None:
    """The results of a rule do not depend on what lies in memory that nobody has written, nor around its buffers."""
    for name, run in _runs(here).items():
        refuse(*functions_of(name))
        first, second = (run(Fence(pattern)) for pattern in PATTERNS)
        if first != second:
            what = "does something else if unwritten memory holds other bytes"
            raise here.broken(f"{name}, asked for seat {here.seat}, {what}")


@dataclass
class Fence:
    """Blocks of records, each between guard records that are filled with a pattern of bytes."""

    pattern: int
    _blocks: list[tuple[str, np.ndarray, bytes, bytes | None]] = field(default_factory=list)

    def given(self, name: str, records: np.ndarray, fixed: bool = False) -> np.ndarray:
        """A copy of records in a fenced block. If `fixed`, they count as damaged when they change."""
        block = self._fenced(name, len(records), records.dtype, records.tobytes() if fixed else None)
        block[:] = records
        return block

    def blank(self, name: str, count: int, dtype: Any) -> np.ndarray:
        """Records that nobody has written, in a fenced block."""
        return self._fenced(name, count, np.dtype(dtype), None)

    def _fenced(self, name: str, count: int, dtype: np.dtype, fixed: bytes | None) -> np.ndarray:
        whole = np.frombuffer(bytearray([self.pattern]) * ((count + 2 * GUARDS) * dtype.itemsize), dtype)
        self._blocks.append((name, whole, whole[:GUARDS].tobytes(), fixed))
        return whole[GUARDS:-GUARDS]

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


def _runs(here: View) -> dict[str, Callable[[Fence], bytes]]:
    """The rules by name, as functions that call them on blocks of a fence and return their results as bytes."""
    game, compiled, rules, seat = here.game, here.compiled, here.compiled.rules, here.seat

    def given(fence: Fence, view: np.ndarray | None = None) -> Any:
        return raw(fence.given("state", here.states if view is None else view, fixed=True))

    def legal(fence: Fence) -> bytes:
        moves, counts = fence.blank("moves", game.max_moves, game.move), np.zeros(1, np.int64)
        legal_each(rules, given(fence), 1, raw(moves), raw(counts))
        return counts.tobytes() + moves[: abs(int(counts[0]))].tobytes()

    def is_legal(fence: Fence) -> bytes:
        move, space = fence.given("move", here.move, True), fence.blank("moves", game.max_moves, game.move)
        answers = np.zeros(1, np.int64)
        allow_each(rules, given(fence), 0, raw(move), 0, 1, raw(space), raw(answers))
        return answers.tobytes()

    def moved(fence: Fence, settle: bool) -> bytes:
        result, move = fence.given("state", here.states), fence.given("move", here.move, True)
        move_each(rules, given(fence), 0, raw(move), 0, 1, settle, raw(result))
        return result.tobytes()

    def resample(fence: Fence) -> bytes:
        state, stream = fence.given("state", here.states), fence.given("random stream", streams(here.ply))
        draw_again(rules, raw(state), seat, raw(stream), 1)
        return state.tobytes() + stream.tobytes()

    def blank(fence: Fence) -> bytes:
        view = fence.blank("view", 1, game.state)
        blank_each(rules, compiled.rule("blank"), given(fence), 1, seat, raw(view))
        return view.tobytes()

    def is_open(fence: Fence) -> bytes:
        picked, found = np.zeros(1, np.int64), np.zeros(1, np.int64)
        find_open(compiled.rule("is_open"), given(fence), raw(picked), 1, raw(found))
        return found.tobytes()

    def weight(fence: Fence) -> bytes:
        values = np.zeros(1)
        weigh_each(compiled.rule("weight"), given(fence), 1, raw(values))
        return values.tobytes()

    def simplify(fence: Fence) -> bytes:
        state = fence.given("state", here.states)
        simplify_each(compiled.rule("simplify"), raw(state), 1)
        return state.tobytes()

    def value(fence: Fence, name: str) -> bytes:
        values = np.zeros(1)
        value_each(compiled.numbers[name], given(fence), 1, seat, raw(values))
        return values.tobytes()

    def encode(fence: Fence, name: str) -> bytes:
        row = fence.blank("row", max(1, compiled.width(name, len(here.seats))), np.uint8)
        row[:] = 0
        encode_each(game.compiler.entry("encode", game.learning.encoders[name].encode), given(fence), 1, seat, raw(row))
        return row.tobytes()

    def choose(fence: Fence, name: str) -> bytes:
        player = game.agents.players[name]
        world = given(fence, compiled.blanked(here.states, seat) if player.sees == "own" else None)
        params = fence.given("parameters", np.array(list(player.defaults.values()) or [0.0]), True)
        move, stream = fence.blank("move", 1, game.move), fence.blank("random stream", 1, STREAM)
        entry, width, seed = game.compiler.entry("choose", player.choose), len(params), int_seed(here.ply)
        choose_each(rules, entry, world, 1, raw(params[None]), width, raw(stream), seed, raw(move))
        return move.tobytes() + stream.tobytes()

    is_own, partial = seat == here.turn, functools.partial
    return {
        "legal": legal,
        "is_legal": is_legal,
        "resample": resample,
        **({"act": partial(moved, settle=False), "act and settle": partial(moved, settle=True)} if is_own else {}),
        **({"blank": blank} if game.rules.blank else {}),
        **({"is_open": is_open} if game.rules.is_open else {}),
        **({"weight": weight} if game.rules.weight else {}),
        **({"simplify": simplify} if game.rules.simplify and compiled.opened(here.states)[0] else {}),
        **{
            name: partial(value, name=name)
            for name in ("score", *(f"heuristic {name}" for name in game.agents.heuristics))
        },
        **{f"encoder {name}": partial(encode, name=name) for name in game.learning.encoders},
        **{f"player {name}": partial(choose, name=name) for name in (game.agents.players if is_own else ())},
    }
