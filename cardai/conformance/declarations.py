"""Laws on declared states (`cardai.game.declared`), which say of each field what it is and who sees it."""

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from cardai.conformance.law import NotTested, Steps, each_game, law
from cardai.conformance.testbed import Counted, Position, Setup, Testbed, Trace
from cardai.game.declared import State, state_of
from cardai.game.fields import END, NONE, Field
from cardai.game.wording import moves_of

UNDECLARED = "the game does not declare its state (`cardai.game.declared.State`)"
FURTHER, AT_ONCE = 16, 50  # as many times `Effort.searched` games of which only the ends are turned, so many at once
ROUNDING = 1e-9
FEW = 6  # games that show whether an encoder numbers seats from its own on
MOSTLY_OTHER = 0.5  # the share of rows that differ, from which on it does not
FURTHER_FROM = 700_000  # the number of the first seed of these games, beyond those of others


def _declared(testbed: Testbed) -> State:
    state = state_of(testbed.game.state)
    if state is None:
        raise NotTested(UNDECLARED)
    return state


@law
def seats_may_be_turned(testbed: Testbed) -> Steps:
    """If all seats move on by one or more, so do legal moves, what moves do, views, scores and outcomes.

    Seats may differ in who begins: where others are next then, it does not matter what moves do. Moves that draw chance
    are left out. Of many further games only the ends are turned, since some endings are rare.
    """
    state = _declared(testbed)
    setups = [setup for setup in testbed.setups if _step(testbed, setup.seats, 0)]
    if not testbed.game.seats_alike or not setups:
        raise NotTested("seats are not alike in this game (`seats_alike`)")
    if left := state.undeclared:
        raise NotTested(f"the state has fields of which nothing is declared ({', '.join(left)})")
    further = range(FURTHER_FROM, FURTHER_FROM + FURTHER * testbed.effort.searched, AT_ONCE)
    ends = [functools.partial(_further_ends, testbed, state, setups[i % len(setups)], n) for i, n in enumerate(further)]
    games = [functools.partial(_turn, state, game) for game in testbed.games_and_rare_ends]
    for check in (seen := Counted([*games, *ends], "games")):
        yield seen
        check()
    return None


def _further_ends(testbed: Testbed, state: State, setup: Setup, first: int) -> None:
    traces = testbed.random_games(setup, first, AT_ONCE)
    ends = np.concatenate([trace.states[-1:] for trace in traces])
    _compare_ends(traces, state, ends, _step(testbed, setup.seats, first // AT_ONCE))


def _turn(state: State, game: Callable[[], Trace | None]) -> None:
    trace = game()
    by = 0 if trace is None else _step(trace.testbed, trace.setup.seats, trace.seed)
    if trace is None or by == 0:
        return
    _compare_ends([trace], state, trace.states[-1:], by)
    if len(trace.moves):
        turned = state.turned(trace.states, by)
        _compare_legal(trace, turned, by)
        _compare_views(trace, state, turned, by)
        if _is_next_turned(trace.testbed, state):
            _compare_moves(trace, turned, by)


def _compare_ends(traces: list[Trace], state: State, ends: np.ndarray, by: int) -> None:
    """Scores and outcomes at the ends of games of a setup, as they are and turned."""
    testbed, seats = traces[0].testbed, traces[0].setup.seats
    turned = state.turned(ends, by)
    for seat, name in itertools.product(range(seats), ["score", *(f"outcome {one}" for one in testbed.game.outcomes)]):
        own = testbed.compiled.values(ends, seat, name)
        other = testbed.compiled.values(turned, (seat + by) % seats, name)
        wrong = ~np.isclose(own, other, rtol=0.0, atol=ROUNDING, equal_nan=True)
        if wrong.any():
            i = int(np.argmax(wrong))
            told = f"{name} of seat {seat} is {own[i]:g}; when all seats move on by {by}, that seat's is {other[i]:g}"
            raise traces[i].end.broken(told)


def _compare_views(trace: Trace, state: State, turned: np.ndarray, by: int) -> None:
    """What encoders show in the states of a game, as they are and turned."""
    for name in _relative_encoders(trace.testbed, state):
        for seat in range(trace.setup.seats):
            wrong = _shown_otherwise(trace, turned, by, name, seat)
            if wrong.any():
                told = f"encoder {name} shows seat {seat} something else when all seats move on by {by}"
                raise Position(trace, int(np.argmax(wrong))).broken(told)


def _shown_otherwise(trace: Trace, turned: np.ndarray, by: int, name: str, seat: int) -> np.ndarray:
    """In which states of a game an encoder shows a seat another row when all seats have moved on: bool[N]."""
    encoded, seats = trace.testbed.compiled.encoded, trace.setup.seats
    return (encoded(trace.states, seat, name) != encoded(turned, (seat + by) % seats, name)).any(axis=1)


@functools.lru_cache(maxsize=1)
def _relative_encoders(testbed: Testbed, state: State) -> list[str]:
    """The encoders that number seats from their own on: those whose rows mostly stay the same. Others need not."""
    found = []
    for name in testbed.game.encoders:
        shares = []
        for trace in testbed.mixed(testbed.traces)[:FEW]:
            by = _step(testbed, trace.setup.seats, trace.seed)
            shares += [_shown_otherwise(trace, state.turned(trace.states, by), by, name, 0).mean()] if by else []
        found += [name] if shares and np.mean(shares) < MOSTLY_OTHER else []
    return found


def _turned_moves(trace: Trace, by: int) -> np.ndarray:
    declared = moves_of(trace.testbed.game.move)
    return trace.moves if declared is None else declared.turned(trace.moves, by, trace.setup.seats)


def _compare_legal(trace: Trace, turned: np.ndarray, by: int) -> None:
    """What is legal in turned states."""
    compiled, moves = trace.testbed.compiled, _turned_moves(trace, by)
    counts, others = compiled.legal(trace.states[:-1])[1], compiled.legal(turned[:-1])[1]
    allowed = compiled.allowed(turned[:-1], moves) & (counts == others)
    if not allowed.all():
        here = Position(trace, int(np.argmin(allowed)))
        raise here.broken(f"other moves are legal when all seats move on by {by}")


def _moved(trace: Trace, turned: np.ndarray, by: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Plies of moves that draw no chance; the states after them, turned; those after turned moves in turned states."""
    calm = np.flatnonzero(trace.states["rng"][:-1] == trace.states["rng"][1:])
    moves = _turned_moves(trace, by)[calm]
    return calm, turned[calm + 1], trace.testbed.compiled.moved(turned[calm], moves) if len(calm) else turned[calm]


@functools.lru_cache(maxsize=1)
def _is_next_turned(testbed: Testbed, state: State) -> bool:
    """Whether whose turn it is moves on with the seats, after all moves of all games. Seat 0 passes first in Hearts."""
    for trace in testbed.traces:
        if len(trace.moves) and _step(testbed, trace.setup.seats, 0):
            by = _step(trace.testbed, trace.setup.seats, trace.seed)
            _, wanted, found = _moved(trace, state.turned(trace.states, by), by)
            if (wanted["turn"] != found["turn"]).any():
                return False
    return True


def _step(testbed: Testbed, seats: int, number: int) -> int:
    """How far seats move on: each in turn, so that teams stay what they are. 0 if no such step is possible."""
    steps = range(max(1, testbed.game.teams), seats, max(1, testbed.game.teams))
    return steps[number % len(steps)] if steps else 0


def _compare_moves(trace: Trace, turned: np.ndarray, by: int) -> None:
    """What the recorded moves do in turned states."""
    plies, wanted, found = _moved(trace, turned, by)
    for name in wanted.dtype.names or ():
        wrong = (wanted[name] != found[name]).reshape(len(wanted), -1).any(axis=1) if len(wanted) else np.zeros(1, bool)
        if wrong.any():
            here = Position(trace, int(plies[np.argmax(wrong)]))
            raise here.broken(f"the move changes state.{name} in another way when all seats move on by {by}")


def _keep_lacks(
    trace: Trace,
    seat: int,
    field: Field,
    lie: dict[str, np.ndarray],
    known: np.ndarray,
    new_deal: np.ndarray,
    was_open: np.ndarray,
) -> None:
    """What all know that a hand lacks is not forgotten, for cards that are hidden, before it gets others unseen."""
    state = _declared(trace.testbed)
    own = next(name for name, one in state.fields.items() if one is field)
    lacks, here = state.lying(field.lacks, trace.states)[:, seat], lie[own][:, seat]
    hidden: Any = (lie[own] & ~known).any(axis=1)
    for name, place in lie.items():
        hidden = hidden | place.any(axis=1) if state.fields[name].sees == "nobody" else hidden
    unseen = (here[1:] & ~here[:-1] & ~was_open & ~known[1:, seat]).any(axis=1)
    lost = lacks[:-1] & ~lacks[1:] & hidden[1:] & ~known[1:, seat]
    wrong = lost.any(axis=1) & ~unseen & ~new_deal & (trace.states["turn"][1:] != NONE)
    if wrong.any():
        ply = int(np.argmax(wrong))
        cards = " ".join(state.deck.name(int(card)) for card in np.flatnonzero(lost[ply]))
        told = f"all knew that seat {seat} had none of {cards}, and state.{field.lacks} says so no longer"
        raise Position(trace, ply).broken(told)


@each_game()
def cards_that_all_saw_are_known(trace: Trace) -> bool:
    """A card that all saw go into a hand is known to be there until it leaves (`Known`), and lacks stay (`Lacks`).

    What a hand lacks may be forgotten when it gets cards that not all saw, and of cards that are hidden no longer.
    """
    state = _declared(trace.testbed)
    hands = {name: field for name, field in state.places.items() if field.what == "cards" and field.sees == "own"}
    if not hands:
        raise NotTested("the game declares no hands that are sets of cards")
    seats, states = trace.setup.seats, trace.states
    lie = {name: state.lying(name, states) for name in state.places}  # bool[N, places of the field, kinds]
    open_ = np.zeros((len(states), state.kinds), bool)
    for name in lie:
        open_ |= lie[name].any(axis=1) if state.fields[name].sees == "all" else False
    hidden: list[Any] = [lie[name].any(axis=1) for name in lie if state.fields[name].sees == "nobody"]
    was_open = open_[:-1]
    gained = [(lie[name][1:] & ~lie[name][:-1] & was_open[:, None]).any(axis=2).sum(axis=1) for name in hands]
    returned = (np.sum(gained, axis=0) > 1) & (states["rng"][:-1] != states["rng"][1:])  # a new deal
    for one in hidden:  # open cards that return to a stock may be drawn from it at once
        returned |= (was_open & one[1:]).any(axis=1)
    for name, field in hands.items():
        known = state.lying(field.known, states) if field.known else np.zeros_like(lie[name])
        for seat in range(seats):
            here, all_know = lie[name][:, seat], known[:, seat]
            taken = here[1:] & ~here[:-1] & was_open
            forgotten = here[1:] & here[:-1] & all_know[:-1]
            if field.lacks:
                _keep_lacks(trace, seat, field, lie, known, new_deal=returned, was_open=was_open)
            missing = ((taken | forgotten) & ~all_know[1:]).any(axis=1) & ~returned & (states["turn"][1:] != NONE)
            if field.opens not in ("", END):
                missing &= states[field.opens][1:] == 0
            if missing.any():
                ply = int(np.argmax(missing))
                gone = ((taken | forgotten) & ~all_know[1:])[ply]
                cards = " ".join(state.deck.name(int(card)) for card in np.flatnonzero(gone))
                kept = f"state.{field.known}" if field.known else f"a field `Known({name!r})`"
                told = f"all know that seat {seat} holds {cards}, and {kept} does not say so"
                raise Position(trace, ply).broken(told)
    return True
