"""Laws on moves: `legal` lists distinct moves in order, and no other move can be played."""

import functools
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice, pairwise, product

import numpy as np

from cardai.errors import CardaiError, IllegalMove, short
from cardai.game import Game
from cardai.game.compiled.together import SEALED, choosing, seats_together
from cardai.laws.law import NotTested, Steps, each, each_game, each_position, law
from cardai.laws.testbed import Counted, Position, Testbed, Trace, written
from cardai.playing.agents.actions import numbered_moves
from cardai.playing.agents.choosing import Actions, Choice

PERTURBED = 6  # moves of a position that are varied, and moves of other positions that are tried
VARIATIONS = 4  # of each varied move
ONWARD = 8  # positions that show that moves of a kind only follow an own move
LISTED_TOGETHER = 64  # positions whose moves are listed at once
SAID_OF_SEATS = re.compile(r"[a-z]+s\b|no\b|[^a-z]|[a-z]+\d")  # "draws", "no claim", "QH", "b2"
BY_NUMBER, TO_A_READER = re.compile(r"\b[Ss]eat \d"), re.compile(r"\b[Yy]ours?\b|\b[Yy]ou\b")
LIKE_A_CARD_SET = 64  # a field with a value as large as this is taken for a set of cards


@each_position("positions")
def seat_to_move_has_moves(here: Position) -> None:
    """While the game goes on, legal lists 1 to max_moves moves in its buffer, and the same when it is called again."""
    try:
        (first, counts), (second, again) = (here.compiled.legal(here.states) for _ in range(2))
    except CardaiError as error:
        raise here.broken(str(error)) from error
    if not 1 <= abs(counts[0]) <= here.game.max_moves:
        raise here.broken(f"legal returned {counts[0]}, max_moves is {here.game.max_moves}")
    if counts[0] != again[0] or first.tobytes() != second.tobytes():
        raise here.broken("legal lists other moves when it is called again")


@each_position("positions")
def moves_are_distinct(here: Position) -> None:
    """legal lists no move twice."""
    unique, counts = np.unique(written(here.game, here.moves), axis=0, return_counts=True)
    if (counts > 1).any():
        raise here.broken(f"the move {unique[np.argmax(counts)].tolist()} is listed {counts.max()} times")


@each_position("positions")
def moves_are_in_order(here: Position) -> None:
    """legal lists moves in canonical order: ascending by their fields, the first field first."""
    moves = [tuple(move) for move in written(here.game, here.moves).tolist()]
    for former, latter in pairwise(moves):
        if former > latter:
            raise here.broken(f"the move {list(latter)} is listed after {list(former)}")


@each_position("positions")
def is_legal_agrees_with_legal(here: Position) -> None:
    """is_legal accepts the moves that legal lists, and neither variations of them nor moves of other positions."""
    listed = here.moves
    refused = listed[~here.compiled.allowed(here.states, listed)]
    if len(refused):
        raise here.broken(f"legal lists {here.text(refused[0])}, is_legal refuses it")
    others = foreign_moves(here, listed) if not here.is_truncated else listed[:0]
    accepted = others[here.compiled.allowed(here.states, others)]
    if len(accepted):
        raise here.broken(f"is_legal accepts {here.text(accepted[0])}, legal does not list it")


@each_game("is_legal", none="legal truncated no list")
def truncated_lists_have_every_kind(trace: Trace) -> bool:
    """A list that leaves moves out has a move of each kind (the first field) of which is_legal accepts a move."""
    number = 0
    for number, (here, listed) in enumerate(_truncated(trace), 1):  # noqa: B007 (counted)
        others = moves_of_other_kinds(here, listed)
        accepted = others[here.compiled.allowed(here.states, others)]
        if len(accepted):
            raise here.broken(f"legal leaves moves out, among them {here.text(accepted[0])} and all others of its kind")
    return number > 0


@each("positions", Testbed.with_ends)
def illegal_moves_raise(here: Position) -> None:
    """play and after raise IllegalMove for a move that is legal elsewhere but not here, and for any after the end."""
    moves, truncated = here.game.enumerate(here.state) if here.turn >= 0 else (here.move, False)
    others = foreign_moves(here, moves)[-4:] if len(moves) else here.trace.moves[:2]
    for move, door in product(() if truncated else others, (here.game.play, here.game.after)):
        try:
            door(here.state, move)
        except IllegalMove:
            continue
        raise here.broken(f"{door.__name__} accepts {here.text(move)}, which is not legal here")


@each_position("positions", needs="actions")
def actions_number_the_moves(here: Position) -> None:
    """If a game numbers its moves (`actions`), every legal move has a number, and no two legal ones share it."""
    numbered: dict[int, np.record] = {}
    for move in here.moves:
        number = (here.game.learning.actions or {}).get(tuple(move.tolist()))
        if number is None:
            raise here.broken(f"{here.text(move)} is legal and has no number in actions")
        if number in numbered:
            pair = f"{here.text(numbered[number])} and {here.text(move)}"
            raise here.broken(f"{pair} are legal together and share the number {number}")
        numbered[number] = move


@each_position("texts")
def moves_are_chosen_by_numbers(here: Position) -> None:
    """Each legal move can be chosen by numbered actions, as policies and adapters choose it."""
    try:
        actions = _actions(here.game)
        paths, moves = (choice := actions.choice(here.state)).paths, choice.moves
    except CardaiError as error:
        raise here.broken(str(error)) from error
    for place in here.chance("chosen").permutation(len(moves))[:PERTURBED].tolist():
        choice = Choice(actions, paths, moves)
        *first, last = paths[place]
        if any(choice.take(action) is not None for action in first) or choice.take(last) != moves[place]:
            raise here.broken(f"the actions {list(paths[place])} do not choose {here.text(moves[place])}")


@functools.lru_cache(maxsize=1)
def _actions(game: Game) -> Actions:
    """The actions of a game. Raises CardaiError if it numbers its moves in a way that policies cannot use."""
    if game.learning.actions:
        numbered_moves(game)
    return Actions(game)


@each("positions", Testbed.with_ends)
def texts_are_in_the_third_person(here: Position) -> None:
    """Words of moves begin with a verb in the third person, a name or "no"; no text for all says "you" or "Seat 1"."""
    game, state = here.game, here.state
    moves = [here.ask(game.text.spell, state, move) for move in here.some_moves()] if here.turn >= 0 else []
    for words in moves:
        if not SAID_OF_SEATS.match(words):
            form = 'does not begin with a verb in the third person ("draws"), a card, a number or "no"'
            raise here.broken(f"the move {words!r} {form}")
    for_all = moves + ([here.ask(game.text.ending, state)] if game.text.ending and here.turn < 0 else [])
    if game.text.led_to and here.ply:
        for_all.append(here.ask(game.text.led_to, here.trace.states[here.ply - 1], state))
    if game.text.tell and here.turn >= 0:
        for_all += [here.ask(game.text.tell, state, here.move[0], seat) for seat in here.seats if seat != here.turn]
    for_one = [here.ask(game.text.show, state, seat) for seat in here.seats]
    zones = [zone for seat in here.seats if game.table.zones for zone in here.ask(game.table.zones, state, seat)]
    for_one += [text for zone in zones for text in (zone.name, zone.words, *zone.marks.values())]
    for text in for_all + for_one:
        if named := BY_NUMBER.search(text):
            raise here.broken(f"{named[0]!r} in {short(text)}: seats are called p0, p1 in all texts")
    for text in for_all:
        if named := TO_A_READER.search(text):
            raise here.broken(f"{named[0]!r} in {short(text)}, which all seats read: seats are called p0, p1")


@each_position("positions", needs="terms")
def terms_explain_every_move(here: Position) -> None:
    """If a game explains its words (`terms`), the words of every legal move begin with one that is explained."""
    for move in here.some_moves():
        words = here.ask(here.game.text.spell, here.state, move)
        if not any(words.startswith(term) and not words[len(term) :][:1].isalpha() for term in here.game.text.terms):
            raise here.broken(f"{words!r} begins with no word that terms explains")


@each_position("positions", needs="series", none="no moves belong together (`series`)")
def a_series_is_one_choice(here: Position) -> bool:
    """Moves that belong together (`series`) may be made in any order, and show the seat nothing in between."""
    game, seat = here.game, here.turn
    assert game.text.series is not None
    if (left := int(here.ask(game.text.series, here.state))) < 2:
        return False
    if len(here.moves) < 2:
        raise here.broken(f"series is {left}, but there is one legal move")
    first, second = here.chance("series").choice(here.moves, 2, replace=False)
    ends = []
    for one, other in ((first, second), (second, first)):
        between = game.play(here.state, one)
        if between["turn"] != seat or between["revealed"] or int(here.ask(game.text.series, between)) != left - 1:
            raise here.broken(f"series is {left}, but {left - 1} such moves do not follow {here.text(one)}")
        if not between["midway"]:
            raise here.broken(f"series is {left}, so settle should set `midway` after {here.text(one)}")
        if not game.is_allowed(between, other):
            raise here.broken(f"series is {left}, but {here.text(other)} is not legal after {here.text(one)}")
        ends.append(game.play(between, other).tobytes())
    if ends[0] != ends[1]:
        raise here.broken(f"{here.text(first)} and {here.text(second)} lead elsewhere in the other order")
    return True


@law
def a_decision_that_goes_on_is_midway(testbed: Testbed) -> Steps:
    """A seat that moves again, by moves of kinds that nobody ever begins with, goes on with its decision (`midway`)."""
    begun: set[int] = set()
    followed: Counter[int] = Counter()
    onward: list[tuple[Position, set[int]]] = []
    for trace in (seen := Counted(testbed.traces, "games")):
        yield seen
        turns = trace.states["turn"]
        for ply, kinds in enumerate(_kinds(trace)):
            if ply == 0 or turns[ply] != turns[ply - 1]:
                begun |= kinds
            elif not trace.states["midway"][ply]:
                followed.update(kinds)
                onward.append((Position(trace, ply), kinds))
    for here, kinds in onward:
        if not kinds & begun and min(followed[kind] for kind in kinds) >= ONWARD:
            what = f"seat {here.turn} moves again, and {here.text(here.move)} is of a kind that nobody begins with"
            raise here.broken(f"{what}: it goes on with its decision, so settle should set `midway`")
    if not onward:
        raise NotTested("no seat moves again after its own move, but where the game sets `midway`")
    shown = [here for here, _ in onward if int(here.state["revealed"]) >> here.turn & 1]
    what = f"in {len(shown)} positions, as at ply {shown[0].ply} of seed {shown[0].trace.seed}," if shown else ""
    return f"{what} a seat moves again after its move showed it a card: is that `midway`?" if shown else None


def _kinds(trace: Trace) -> Iterator[set[int]]:
    """The kinds of legal moves, the first field, at each ply of a game."""
    kind = (trace.testbed.game.move.names or ("",))[0]
    return ({*moves[kind].tolist()} for moves, _ in _listed(trace))


def _truncated(trace: Trace) -> Iterator[tuple[Position, np.ndarray]]:
    """Positions of a game whose list of moves is truncated, with the list; at most `positions`."""
    found = ((Position(trace, ply), moves) for ply, (moves, is_part) in enumerate(_listed(trace)) if is_part)
    return islice(found, trace.testbed.effort.positions)


def _listed(trace: Trace) -> Iterator[tuple[np.ndarray, bool]]:
    """The legal moves at each ply of a game, MOVE[n], and whether `legal` leaves some out."""
    for first in range(0, len(trace.moves), LISTED_TOGETHER):
        moves, counts = trace.testbed.compiled.legal(trace.states[:-1][first : first + LISTED_TOGETHER])
        yield from ((row[: abs(count)], count < 0) for row, count in zip(moves, counts.tolist(), strict=True))


def moves_of_other_kinds(here: Position, listed: np.ndarray) -> np.ndarray:
    """Moves of the kinds that are not listed here. Fields that are sets of cards are empty or have a single card."""
    names = list(here.game.move.names or ())
    known = np.concatenate([listed, *(trace.moves for trace in here.testbed.traces)])
    chance = here.chance("kinds")
    values = [[0, *(1 << bit for bit in range(int(known[name].max()).bit_length()))] for name in names[1:]]
    values = [sets if sets[-1] >= LIKE_A_CARD_SET else [] for sets in values]
    moves = []
    for kind in sorted({*range(int(known[names[0]].max()) + 2)} - {*listed[names[0]].tolist()}):
        played = known[known[names[0]] == kind]
        bases = np.concatenate([chance.choice(some, min(PERTURBED, len(some)), False) for some in (listed, played)])
        for base in bases if any(len(sets) == 0 for sets in values) else bases[:1]:
            numbers = [sets or [int(base[name])] for sets, name in zip(values, names[1:], strict=True)]
            moves += [(kind, *others) for others in product(*numbers)]
    return np.array(moves, here.game.move)


def foreign_moves(here: Position, listed: np.ndarray) -> np.ndarray:
    """Moves that are not listed here: listed moves with one field changed, and moves played at other plies."""
    played, names, chance = here.trace.moves, here.game.move.names or (), here.chance("foreign")
    picked = chance.choice(listed, min(PERTURBED, len(listed)), replace=False)
    moves = np.concatenate([picked] * VARIATIONS + [played[chance.integers(len(played), size=PERTURBED)]])
    for move in moves[: VARIATIONS * len(picked)]:
        name = names[chance.integers(len(names))]
        largest, other = int(played[name].max()), chance.choice(played)[name]
        if largest >= LIKE_A_CARD_SET:  # one card more or less
            move[name] ^= 1 << int(chance.integers(largest.bit_length()))
        else:
            move[name] = (int(move[name]) + 1, int(move[name]) - 1, other)[chance.integers(3)]
    known = {move.tobytes() for move in listed}
    return np.array([move for move in moves if move.tobytes() not in known], here.game.move)


@each_position("positions", needs="together")
def choices_do_not_depend_on_who_has_chosen(here: Position) -> bool:
    """Of seats that choose at the same time, who they are and what they may choose is the same whoever has chosen."""
    who = here.ask(seats_together, here.game, here.state)
    if who and here.turn not in who:
        raise here.broken(f"seats {who} choose at the same time, but it is the turn of seat {here.turn}")
    states = np.repeat(here.states, 1 + len(who))
    states[SEALED][1:] = 0
    states["turn"][1:] = who
    for number, state in enumerate(states[1:]):
        found = here.ask(seats_together, here.game, state)
        if found != who:
            chosen = sorted({*who} - {*choosing(here.game, here.state)})
            now = (
                f"seats {found} choose at the same time if nobody has chosen and it is the turn of seat {state['turn']}"
            )
            raise here.broken(f"{now}, but seats {who} if {chosen} have and it is the turn of seat {here.turn}")
        if who[number] == here.turn and not here.is_truncated:
            moves, others = here.moves, here.compiled.moves(states[[1 + number]])
            if not np.array_equal(moves, others):
                raise here.broken(f"seat {here.turn} has other legal moves here than before anybody had chosen")
    return bool(who)
