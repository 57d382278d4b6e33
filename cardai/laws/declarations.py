"""Laws on declared states (`cardai.game.declared`), which say of each field what it is and who sees it."""

import functools
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cardai.game.declared import State, state_of
from cardai.game.fields import END, NONE, Field
from cardai.game.learning import suit_orders
from cardai.game.wording import Moves, moves_of
from cardai.laws.law import NotTested, Steps, each_game, each_view, law
from cardai.laws.testbed import Counted, Position, Setup, Testbed, Trace, View

UNDECLARED = "the game does not declare its state (`cardai.game.declared.State`)"
FURTHER, AT_ONCE = 16, 50  # as many times `Effort.searched` games of which only the ends are turned, so many at once
FIRST_ENDS = 32  # times AT_ONCE games of which the ends are looked at first, however short the time is
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
    for check in (seen := Counted([*ends[:FIRST_ENDS], *games, *ends[FIRST_ENDS:]], "games", FIRST_ENDS)):
        yield seen
        check()
    return None


class _Change(NamedTuple):
    """A change of whole states that should make no difference. `words`: "when ..."."""

    states: Callable[[np.ndarray], np.ndarray]
    moves: Callable[[np.ndarray], np.ndarray]
    seat: Callable[[int], int]
    words: str


def _turning(testbed: Testbed, state: State, seats: int, by: int) -> _Change:
    declared = moves_of(testbed.game.move)
    return _Change(
        lambda states: state.turned(states, by),
        lambda moves: moves if declared is None else declared.turned(moves, by, seats),
        lambda seat: (seat + by) % seats,
        f"when all seats move on by {by}",
    )


def _further_ends(testbed: Testbed, state: State, setup: Setup, first: int) -> None:
    traces = testbed.random_games(setup, first, AT_ONCE)
    by = _step(testbed, setup.seats, first // AT_ONCE)
    _compare_ends(traces, _turning(testbed, state, setup.seats, by))


def _turn(state: State, game: Callable[[], Trace | None]) -> None:
    trace = game()
    by = 0 if trace is None else _step(trace.testbed, trace.setup.seats, trace.seed)
    if trace is None or by == 0:
        return
    change = _turning(trace.testbed, state, trace.setup.seats, by)
    _compare_ends([trace], change)
    if len(trace.moves):
        turned = change.states(trace.states)
        _compare_legal(trace, turned, change)
        _compare_views(trace, state, turned, by)
        if _is_next_turned(trace.testbed, state):
            _compare_moves(trace, turned, change)


def _compare_ends(traces: list[Trace], change: _Change) -> None:
    """Scores and outcomes at the ends of games of a setup, as they are and changed."""
    testbed, seats = traces[0].testbed, traces[0].setup.seats
    ends = np.concatenate([trace.states[-1:] for trace in traces])
    changed, outcomes = change.states(ends), testbed.game.learning.outcomes
    for seat, name in itertools.product(range(seats), ["score", *(f"outcome {one}" for one in outcomes)]):
        own = testbed.compiled.values(ends, seat, name)
        other = testbed.compiled.values(changed, change.seat(seat), name)
        wrong = ~np.isclose(own, other, rtol=0.0, atol=ROUNDING, equal_nan=True)
        if wrong.any():
            i = int(np.argmax(wrong))
            that = "it" if change.seat(seat) == seat else "that seat's"
            raise traces[i].end.broken(f"{name} of seat {seat} is {own[i]:g}; {change.words}, {that} is {other[i]:g}")


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
    for name in testbed.game.learning.encoders:
        shares = []
        for trace in testbed.mixed(testbed.traces)[:FEW]:
            by = _step(testbed, trace.setup.seats, trace.seed)
            shares += [_shown_otherwise(trace, state.turned(trace.states, by), by, name, 0).mean()] if by else []
        found += [name] if shares and np.mean(shares) < MOSTLY_OTHER else []
    return found


def _compare_legal(trace: Trace, changed: np.ndarray, change: _Change, are_known: bool = True) -> None:
    """What is legal in changed states; only how many moves, where it is not known how they change."""
    compiled, moves = trace.testbed.compiled, change.moves(trace.moves)
    allowed = compiled.legal(trace.states[:-1])[1] == compiled.legal(changed[:-1])[1]
    if are_known:
        allowed &= compiled.allowed(changed[:-1], moves)
    if not allowed.all():
        raise Position(trace, int(np.argmin(allowed))).broken(f"other moves are legal {change.words}")


def _moved(trace: Trace, changed: np.ndarray, change: _Change) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Plies of moves that draw no chance; the changed states after them; those after changed moves in them."""
    calm = np.flatnonzero(trace.states["rng"][:-1] == trace.states["rng"][1:])
    moves = change.moves(trace.moves[calm])
    return calm, changed[calm + 1], trace.testbed.compiled.moved(changed[calm], moves) if len(calm) else changed[calm]


@functools.lru_cache(maxsize=1)
def _is_next_turned(testbed: Testbed, state: State) -> bool:
    """Whether whose turn it is moves on with the seats, after all moves of all games. Seat 0 passes first in Hearts."""
    for trace in testbed.traces:
        if len(trace.moves) and _step(testbed, trace.setup.seats, 0):
            by = _step(trace.testbed, trace.setup.seats, trace.seed)
            change = _turning(trace.testbed, state, trace.setup.seats, by)
            _, wanted, found = _moved(trace, change.states(trace.states), change)
            if (wanted["turn"] != found["turn"]).any():
                return False
    return True


def _step(testbed: Testbed, seats: int, number: int) -> int:
    """How far seats move on: each in turn, so that teams stay what they are. 0 if no such step is possible."""
    steps = range(max(1, testbed.game.teams), seats, max(1, testbed.game.teams))
    return steps[number % len(steps)] if steps else 0


def _compare_moves(trace: Trace, changed: np.ndarray, change: _Change) -> None:
    """What the recorded moves do in changed states."""
    plies, wanted, found = _moved(trace, changed, change)
    for name in wanted.dtype.names or ():
        wrong = (wanted[name] != found[name]).reshape(len(wanted), -1).any(axis=1) if len(wanted) else np.zeros(1, bool)
        if wrong.any():
            here = Position(trace, int(plies[np.argmax(wrong)]))
            raise here.broken(f"the move changes state.{name} in another way {change.words}")


@law
def suits_may_be_renamed(testbed: Testbed) -> Steps:
    """If suits exchange names, so do legal moves and what moves do; scores and outcomes stay the same.

    For a game that says that its suits are alike (`State(suits_alike=True)`). Moves that draw chance are left out. Of
    moves that are not declared only the number is compared.
    """
    state, moves = _declared(testbed), moves_of(testbed.game.move)
    if not state.suits_alike:
        raise NotTested("the game does not say that its suits are alike (`State`)")
    if left := state.undeclared:
        raise NotTested(f"the state has fields of which nothing is declared ({', '.join(left)})")
    orders = [*itertools.permutations(range(len(state.deck.suits)))][1:]
    for number, game in enumerate(seen := Counted(testbed.games_and_rare_ends, "games")):
        yield seen
        if (trace := game()) is not None:
            _rename(trace, state, moves, orders[number % len(orders)])
    return None


def _rename(trace: Trace, state: State, moves: Moves | None, names: tuple[int, ...]) -> None:
    suits = state.deck.suit_words
    told = ", ".join(f"{suits[suit]} {suits[new]}" for suit, new in enumerate(names) if suit != new)
    change = _Change(
        lambda states: state.renamed(states, names),
        lambda played: played if moves is None else moves.renamed(played, state, names),
        lambda seat: seat,
        f"when suits exchange names ({told})",
    )
    _compare_ends([trace], change)
    if len(trace.moves):
        changed = change.states(trace.states)
        _compare_legal(trace, changed, change, moves is not None)
        if moves is not None:
            _compare_moves(trace, changed, change)


@each_game("encoders")
def suits_may_exchange_their_names(trace: Trace) -> None:
    """What an encoder says by suit (`by_suit`) changes places when suits exchange names, and nothing else changes."""
    state, seats = _declared(trace.testbed), trace.setup.seats
    encoders = {name: one for name, one in trace.testbed.game.learning.encoders.items() if one.by_suit is not None}
    if not encoders:
        raise NotTested("no encoder says which of its values belong to suits (`by_suit`)")
    for (name, encoder), seat in itertools.product(encoders.items(), range(seats)):
        here = View(trace, 0, seat)
        orders = here.in_range(encoder.renamings, seats)
        names = suit_orders(len(state.deck.suits))
        number = 1 + trace.seed % (len(orders) - 1)
        encoded, renamed = trace.testbed.compiled.encoded, state.renamed(trace.states, names[number].tolist())
        wrong = encoded(trace.states, seat, name) != encoded(renamed, seat, name)[:, orders[number]]
        if wrong.any():
            ply, value = (int(place) for place in np.argwhere(wrong)[0])
            what = f"the value {value} of encoder {name} for seat {seat} does not change with the names of suits"
            raise Position(trace, ply).broken(f"{what}: see `by_suit`")


@each_view("texts")
def what_is_not_declared_is_not_shown(here: View) -> None:
    """A field of which nothing is declared is seen by nobody: no text, picture or encoder depends on it."""
    state, game, changed = _declared(here.testbed), here.game, here.state.copy()
    if not state.undeclared:
        raise NotTested("every field of the state is declared")
    states = here.trace.states
    for name in state.undeclared:
        others = states[name][(states[name] != here.state[name]).reshape(len(states), -1).any(axis=1)]
        if len(others):
            changed[name] = others[here.chance(name).integers(len(others))]
    moves = here.some_moves() if here.seat == here.turn else ()
    views: dict[str, Callable[[Any], Any]] = {"show": lambda one: here.ask(game.text.show, one, here.seat)}
    views["spell"] = lambda one: [here.ask(game.text.spell, one, move) for move in moves]
    if game.table.zones is not None:
        zones = game.table.zones
        views["zones"] = lambda one: here.ask(zones, one, here.seat)
    for encoder in game.learning.encoders:
        views[f"encoder {encoder}"] = functools.partial(_row, here, encoder)
    for name, view in views.items():
        if view(here.state) != view(changed):
            told = ", ".join(f"state.{field}" for field in state.undeclared)
            raise here.broken(f"{name} shows seat {here.seat} what is not declared ({told})")


def _row(here: View, encoder: str, state: Any) -> list[int]:
    return here.compiled.encoded(np.array([state], here.game.state), here.seat, encoder)[0].tolist()


def _keep_lacks(
    trace: Trace,
    seat: int,
    field: Field,
    lie: dict[str, np.ndarray],
    known: np.ndarray,
    new_deal: np.ndarray,
    taken: np.ndarray,
) -> None:
    """What all know that a hand lacks is not forgotten, for cards that are hidden, before it gets others unseen."""
    state = _declared(trace.testbed)
    own = next(name for name, one in state.fields.items() if one is field)
    lacks, here = state.lying(field.lacks, trace.states)[:, seat], lie[own][:, seat]
    hidden: Any = (lie[own] > known).any(axis=1)
    for name, place in lie.items():
        hidden = hidden | place.any(axis=1) if state.fields[name].sees == "nobody" else hidden
    unseen = (np.diff(here, axis=0) > np.maximum(taken, np.diff(known[:, seat], axis=0))).any(axis=1)
    lost = (lacks[:-1] > lacks[1:]) & hidden[1:] & (known[1:, seat] == 0)
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
    Cards that are alike are not told apart: only as many are looked for as surely came and stayed.
    """
    state = _declared(trace.testbed)
    hands = {name: one for name, one in state.places.items() if one.what in ("cards", "counts") and one.sees == "own"}
    if not hands:
        raise NotTested("the game declares no hands of several cards")
    seats, states = trace.setup.seats, trace.states
    lie = {name: state.lying(name, states) for name in state.places}  # i8[N, places of the field, kinds]
    came = {name: np.maximum(np.diff(lie[name], axis=0), 0) for name in lie}
    open_ = np.zeros((len(states), state.kinds), np.int64)
    everywhere: Any = 0  # how many cards of each kind came to lie anywhere
    for name in lie:
        if state.fields[name].sees == "all":
            open_ += lie[name].sum(axis=1)
        else:
            everywhere = everywhere + came[name].sum(axis=1)
    opened = np.maximum(-np.diff(open_, axis=0), 0)  # how many lie open no longer
    everywhere = everywhere + np.maximum(np.diff(open_, axis=0), 0)
    gained = [((came[name] > 0) & (opened > 0)[:, None]).any(axis=2).sum(axis=1) for name in hands]
    returned = (np.sum(gained, axis=0) > 1) & (states["rng"][:-1] != states["rng"][1:])  # a new deal
    for name in lie:  # open cards that return to a stock may be drawn from it at once
        if state.fields[name].sees == "nobody":
            returned |= (opened.astype(bool) & came[name].any(axis=1)).any(axis=1)
    for name, field in hands.items():
        known = state.lying(field.known, states) if field.known else np.zeros_like(lie[name])
        for seat in range(seats):
            here, all_know = lie[name][:, seat], known[:, seat]
            elsewhere = everywhere - came[name][:, seat]
            taken = np.clip(opened - elsewhere, 0, came[name][:, seat])
            stayed = np.minimum(here, all_know)[:-1] - np.maximum(elsewhere, -np.diff(here, axis=0))
            if field.lacks:
                _keep_lacks(trace, seat, field, lie, known, new_deal=returned, taken=taken)
            forgotten = np.maximum(stayed, 0) + taken > all_know[1:]
            missing = forgotten.any(axis=1) & ~returned & (states["turn"][1:] != NONE)
            if field.opens not in ("", END):
                missing &= states[field.opens][1:] == 0
            if missing.any():
                ply = int(np.argmax(missing))
                gone = forgotten[ply]
                cards = " ".join(state.deck.name(int(card)) for card in np.flatnonzero(gone))
                kept = f"state.{field.known}" if field.known else f"a field `Known({name!r})`"
                told = f"all know that seat {seat} holds {cards}, and {kept} does not say so"
                raise Position(trace, ply).broken(told)
    return True
