"""Laws on states: which rules may change a state, that nothing else is changed, and that cards are conserved."""

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from cardai.conformance.compiled import GUARDS, Compiled, copied, draw_again, move_each, streams
from cardai.conformance.law import law
from cardai.conformance.testbed import Position, Testbed, move_text
from cardai.kernel.native import raw


@law
def rules_touch_only_their_record(testbed: Testbed) -> None:
    """act, settle and resample change only their own state and no memory next to it; act does not change its move."""
    size = testbed.game.state.itemsize
    guard = np.resize(np.arange(1, 256, dtype=np.uint8), size)
    for here, seat in testbed.views(testbed.effort.texts):
        states = np.zeros(1 + 2 * GUARDS, testbed.game.state)
        content = states.view(np.uint8).reshape(len(states), size)
        for name, rule in _writers(testbed.compiled, here, seat).items():
            content[:] = guard
            states[GUARDS] = here.state
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

    act = functools.partial(move, settle=False)
    both = functools.partial(move, settle=True)
    return {"resample": resample, **({"act": act, "act and settle": both} if seat == here.turn else {})}


@law
def asking_changes_nothing(testbed: Testbed) -> None:
    """legal, is_legal, score, encoders, heuristics and players do not change the state they are given."""
    asking = Compiled(testbed.game, in_place=True)
    for here in testbed.positions(testbed.effort.texts):
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
    for name in game.encoders:
        questions[f"encoder {name}"] = functools.partial(asking.encoded, seat=seat, encoder=name)
    for name, heuristic in game.heuristics.items():
        questions[f"heuristic {name}"] = functools.partial(asking.values, seat=seat, heuristic=heuristic)
    for name in game.players:
        questions[f"player {name}"] = functools.partial(asking.choices, player=name, bits=1)
    return questions


@law
def cards_are_conserved(testbed: Testbed) -> None:
    """No card is in two places, appears or disappears; a world has as many cards in each place as the true state.

    `Game.holdings` says where the cards of a game are; a game without it is not tested.
    """
    if testbed.game.holdings is None:
        return
    for trace in testbed.traces:
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
