"""Laws on states and memory: which rules may change a state, what they may write and read, and that no card is lost.

The last two laws call each rule on records and arrays that lie between guard records. All that a rule may not read is
filled with a pattern of bytes; the results must be the same for two patterns.
"""

import functools
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cardai.conformance.compiled import (
    GUARDS,
    Compiled,
    allow_each,
    blank_each,
    choose_each,
    copied,
    draw_again,
    encode_each,
    legal_each,
    move_each,
    simplify_each,
    streams,
    value_each,
)
from cardai.conformance.law import Steps, law
from cardai.conformance.note import functions_of, refuse
from cardai.conformance.testbed import Counted, Position, Testbed, move_text
from cardai.game import Game, int_seed
from cardai.kernel.native import get, raw
from cardai.kernel.rules import SCORE
from cardai.rule import STREAM

PATTERNS = (0x55, 0xAA)  # bytes; each bit is set in one of them


@law
def rules_touch_only_their_record(testbed: Testbed) -> Steps:
    """act, settle, resample, blank, simplify change only their own state, nothing next to it; act leaves its move."""
    size = testbed.game.state.itemsize
    guard = np.resize(np.arange(1, 256, dtype=np.uint8), size)
    for here, seat in (seen := Counted(testbed.views(testbed.effort.texts), "views")):
        yield seen
        states = np.zeros(1 + 2 * GUARDS, testbed.game.state)
        content = states.view(np.uint8).reshape(len(states), size)
        for name, rule in _writers(testbed.compiled, here, seat).items():
            content[:] = guard
            states[GUARDS] = here.state
            refuse(*functions_of(name))
            rule(raw(states[GUARDS : GUARDS + 1]))
            if (np.delete(content, GUARDS, axis=0) != guard).any():
                raise here.broken(f"{name} writes beyond its state")


def _writers(compiled: Compiled, here: Position, seat: int) -> dict[str, Callable[[Any], None]]:
    """Returns the rules that change a state, by name. Each is called with a raw block of one state."""

    def resample(state: Any) -> None:
        stream = streams(here.ply)
        draw_again(compiled.rules, state, seat, raw(stream), 1)

    def move(state: Any, settle: bool) -> None:
        given, moves = copied(here.states), copied(here.move)
        move_each(compiled.rules, raw(given), 0, raw(moves), 0, 1, settle, state)
        if moves.tobytes() != here.move.tobytes():
            text = move_text(compiled.game, here.state, here.move[0])
            raise here.broken(f"act changes its move {text}")

    def blank(state: Any) -> None:
        given = copied(here.states)
        blank_each(compiled.rules, compiled.blank, raw(given), 1, seat, state)

    def simplify(state: Any) -> None:
        assert compiled.game.simplify is not None
        simplify_each(compiled.game.entry("simplify", compiled.game.simplify), state, 1)

    act = functools.partial(move, settle=False)
    both = functools.partial(move, settle=True)
    return {
        "resample": resample,
        **({"blank": blank} if compiled.game.blank else {}),
        **({"simplify": simplify} if compiled.game.simplify and compiled.opened(here.states)[0] else {}),
        **({"act": act, "act and settle": both} if seat == here.turn else {}),
    }


@law
def asking_changes_nothing(testbed: Testbed) -> Steps:
    """legal, is_legal, is_open, score, encoders, heuristics and players do not change the state they are given."""
    asking = Compiled(testbed.game, in_place=True)
    for here in (seen := Counted(testbed.positions(testbed.effort.texts), "positions")):
        yield seen
        for name, ask in _questions(asking, here).items():
            asked = copied(here.states)
            ask(asked)
            if asked.tobytes() != here.state.tobytes():
                field = next(f for f in testbed.game.state.names or () if (asked[0][f] != here.state[f]).any())
                raise here.broken(f"{name} changes state.{field}")


def _questions(asking: Compiled, here: Position) -> dict[str, Callable[[np.ndarray], Any]]:
    """The functions that read a state and must not change it, by name."""
    game, seat = asking.game, here.turn
    questions: dict[str, Callable[[np.ndarray], Any]] = {
        "legal": asking.legal,
        "is_legal": lambda states: asking.allowed(states, copied(here.move)),
        "score": lambda states: asking.values(states, seat),
    }
    if game.is_open is not None:
        questions["is_open"] = asking.opened
    for name in game.encoders:
        questions[f"encoder {name}"] = functools.partial(asking.encoded, seat=seat, encoder=name)
    for name, heuristic in game.heuristics.items():
        questions[f"heuristic {name}"] = functools.partial(asking.values, seat=seat, heuristic=heuristic)
    for name in game.players:
        questions[f"player {name}"] = functools.partial(asking.choices, player=name, bits=1)
    return questions


@law
def text_changes_nothing(testbed: Testbed) -> Steps:
    """show, spell, parse, tell, ending, holdings, zones and picks change neither the state nor the move they get."""
    for here in (seen := Counted(testbed.positions(testbed.effort.texts), "positions")):
        yield seen
        for name, write in _texts(testbed.game, here).items():
            _leaves_all_as_it_was(here, name, write)
    for trace in (seen := Counted(testbed.mixed(testbed.traces), "games")):
        yield seen
        for name, write in _texts_of_an_end(testbed.game, trace.end).items():
            _leaves_all_as_it_was(trace.end, name, write)


def _leaves_all_as_it_was(here: Position, name: str, write: Callable[[Any, Any], Any]) -> None:
    state, move = copied(here.states), copied(here.move if len(here.move) else here.trace.moves[:1])
    before = move.tobytes()
    refuse(*functions_of(name), *(["spell"] if name == "parse" else []))
    here.ask(write, state[0], move[0])
    if state.tobytes() != here.state.tobytes():
        name_of = next(f for f in here.state.dtype.names or () if (state[0][f] != here.state[f]).any())
        raise here.broken(f"{name} changes state.{name_of}")
    if move.tobytes() != before:
        raise here.broken(f"{name} changes the move it is given")


def _texts(game: Game, here: Position) -> dict[str, Callable[[Any, Any], Any]]:
    """The game's functions in plain Python by name, each called with a state and the move that was played."""
    texts: dict[str, Callable[[Any, Any], Any]] = {
        "spell": game.spell,
        "parse": lambda state, move: game.parse(state, game.spell(here.state.copy(), move)),
        **_texts_of_an_end(game, here),
    }
    tell, picks = game.tell, game.picks
    if picks is not None:
        texts["picks"] = picks
    for seat in here.seats if tell else ():
        texts[f"tell for seat {seat}"] = lambda state, move, seat=seat: tell and tell(state, move, seat)
    texts.pop("ending", None)
    return texts


def _texts_of_an_end(game: Game, here: Position) -> dict[str, Callable[[Any, Any], Any]]:
    texts: dict[str, Callable[[Any, Any], Any]] = {}
    for seat in here.seats:
        texts[f"show for seat {seat}"] = lambda state, move, seat=seat: game.show(state, seat)
        if game.zones is not None:
            texts[f"zones for seat {seat}"] = lambda state, move, seat=seat, zones=game.zones: zones(state, seat)
    for name in ("holdings", "ending"):
        function = getattr(game, name)
        if function is not None:
            texts[name] = lambda state, move, function=function: function(state)
    return texts


@law
def cards_are_conserved(testbed: Testbed) -> Steps:
    """No card is in two places, appears or disappears; a world has as many cards in each place as the true state.

    `Game.holdings` says where the cards of a game are; a game without it is not tested.
    """
    if testbed.game.holdings is None:
        return
    for trace in (seen := Counted(testbed.mixed(testbed.traces), "games")):
        yield seen
        dealt = Position(trace, 0)
        deck = functools.reduce(operator.or_, testbed.holdings(dealt, dealt.state))
        for ply in range(len(trace.states)):
            here = Position(trace, ply)
            _conserved(testbed, here, here.state, deck, "the state")
        for ply in trace.sampled(testbed.effort.texts):
            _conserved_nearby(testbed, Position(trace, ply), deck)


def _conserved_nearby(testbed: Testbed, here: Position, deck: int) -> None:
    """Test the after-state and the worlds of a position."""
    after = testbed.compiled.moved(here.states, here.move, settle=False)
    _conserved(testbed, here, after[0], deck, "the after-state")
    sizes = [held.bit_count() for held in testbed.holdings(here, here.state)]
    for seat in here.seats:
        for world in testbed.compiled.worlds(here.states, seat, 4, here.ply):
            what = f"a world of seat {seat}"
            counts = [held.bit_count() for held in _conserved(testbed, here, world, deck, what)]
            if counts != sizes:
                raise here.broken(f"{what} has {counts} cards in its places, the true state {sizes}")


def _conserved(testbed: Testbed, here: Position, state: Any, deck: int, what: str) -> list[int]:
    held, seen = testbed.holdings(here, state), 0
    for cards in held:
        if seen & cards:
            raise here.broken(f"{what} has {_listed(seen & cards)} in two places")
        seen |= cards
    if seen != deck:
        lost, new = _listed(deck & ~seen), _listed(seen & ~deck)
        raise here.broken(f"{what} does not hold the cards dealt: missing {lost}, new {new}")
    return held


def _listed(cards: int) -> str:
    numbers = [str(card) for card in range(cards.bit_length()) if cards >> card & 1]
    return f"card {' '.join(numbers)}" if numbers else "none"


@law
def rules_stay_in_their_buffers(testbed: Testbed) -> Steps:
    """No rule writes before or behind a buffer it is given, nor to a record or parameters that it may only read."""
    for here, seat in (seen := Counted(_places(testbed), "views")):
        yield seen
        for name, run in _runs(testbed.compiled, here, seat).items():
            refuse(*functions_of(name))
            fence = Fence(PATTERNS[0])
            run(fence)
            for damaged in fence.damaged():
                raise here.broken(f"{name}, asked for seat {seat}, writes {damaged}")


@law
def unwritten_memory_is_not_read(testbed: Testbed) -> Steps:
    """The results of a rule do not depend on what lies in memory that nobody has written, nor around its buffers."""
    for here, seat in (seen := Counted(_places(testbed), "views")):
        yield seen
        for name, run in _runs(testbed.compiled, here, seat).items():
            refuse(*functions_of(name))
            first, second = (run(Fence(pattern)) for pattern in PATTERNS)
            if first != second:
                what = "does something else if unwritten memory holds other bytes"
                raise here.broken(f"{name}, asked for seat {seat}, {what}")


def _places(testbed: Testbed) -> Iterator[tuple[Position, int]]:
    """Positions with all seats; those of the largest table come from every game, since arrays are full there."""
    most = max(testbed.game.seats)
    for here, seat in testbed.views(testbed.effort.texts):
        if here.trace.setup.seats == most or seat == here.turn:
            yield here, seat


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
                yield f"to the {name}, which it may only read"


def _runs(compiled: Compiled, here: Position, seat: int) -> dict[str, Callable[[Fence], bytes]]:
    """The rules by name, as functions that call them on blocks of a fence and return their results as bytes."""
    game, rules = compiled.game, compiled.rules

    def legal(fence: Fence) -> bytes:
        moves, counts = fence.blank("moves", game.max_moves, game.move), np.zeros(1, np.int64)
        legal_each(rules, raw(fence.given("state", here.states, True)), 1, raw(moves), raw(counts))
        return counts.tobytes() + moves[: abs(int(counts[0]))].tobytes()

    def is_legal(fence: Fence) -> bytes:
        state, answers = fence.given("state", here.states, True), np.zeros(1, np.int64)
        move, space = fence.given("move", here.move, True), fence.blank("moves", game.max_moves, game.move)
        allow_each(rules, raw(state), 0, raw(move), 0, 1, raw(space), raw(answers))
        return answers.tobytes()

    def moved(fence: Fence, settle: bool) -> bytes:
        result = fence.given("state", here.states)
        state, move = fence.given("state", here.states, True), fence.given("move", here.move, True)
        move_each(rules, raw(state), 0, raw(move), 0, 1, settle, raw(result))
        return result.tobytes()

    def resample(fence: Fence) -> bytes:
        state, stream = fence.given("state", here.states), fence.given("random stream", streams(here.ply))
        draw_again(rules, raw(state), seat, raw(stream), 1)
        return state.tobytes() + stream.tobytes()

    def blank(fence: Fence) -> bytes:
        state, view = fence.given("state", here.states, True), fence.blank("view", 1, game.state)
        blank_each(rules, compiled.blank, raw(state), 1, seat, raw(view))
        return view.tobytes()

    def value(fence: Fence, function: Any) -> bytes:
        values = np.zeros(1)
        value_each(function, raw(fence.given("state", here.states, True)), 1, seat, raw(values))
        return values.tobytes()

    def encode(fence: Fence, name: str) -> bytes:
        row = fence.blank("row", max(1, compiled.width(name, len(here.seats))), np.uint8)
        row[:] = 0
        entry = game.entry("encode", game.encoders[name].encode)
        encode_each(entry, raw(fence.given("state", here.states, True)), 1, seat, raw(row))
        return row.tobytes()

    def choose(fence: Fence, name: str) -> bytes:
        player = game.players[name]
        given = compiled.blanked(here.states, seat) if player.sees == "own" else here.states
        world, move = fence.given("world", given, True), fence.blank("move", 1, game.move)
        params = fence.given("parameters", np.array(list(player.defaults.values()) or [0.0]), True)
        stream, entry = fence.blank("random stream", 1, STREAM), game.entry("choose", player.choose)
        width, seed = len(params), int_seed(here.ply)
        choose_each(rules, entry, raw(world), 1, raw(params), width, raw(stream), seed, raw(move))
        return move.tobytes() + stream.tobytes()

    runs: dict[str, Callable[[Fence], bytes]] = {
        "legal": legal,
        "is_legal": is_legal,
        "act": lambda fence: moved(fence, False),
        "act and settle": lambda fence: moved(fence, True),
        "score": lambda fence: value(fence, get(rules.calls, SCORE)),
        "resample": resample,
        **({"blank": blank} if game.blank else {}),
    }
    for name, heuristic in game.heuristics.items():
        entry = game.entry("value", heuristic)
        runs[f"heuristic {name}"] = lambda fence, entry=entry: value(fence, entry)
    for name in game.encoders:
        runs[f"encoder {name}"] = lambda fence, name=name: encode(fence, name)
    for name in game.players if seat == here.turn else ():
        runs[f"player {name}"] = lambda fence, name=name: choose(fence, name)
    return runs
