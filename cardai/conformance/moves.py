"""Laws on moves: `legal` lists distinct moves in order, and no other move can be played."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from cardai.conformance.law import Steps, law
from cardai.conformance.note import refuse
from cardai.conformance.testbed import Counted, Position, Testbed, Trace, move_text, written
from cardai.errors import CardaiError, IllegalMove

PERTURBED = 6  # moves of a position that are varied, and moves of other positions that are tried
VARIATIONS = 4  # of each varied move
LISTED_TOGETHER = 64  # positions whose moves are listed at once
LIKE_A_CARD_SET = 64  # a field with a value as large as this is taken for a set of cards


@law
def seat_to_move_has_moves(testbed: Testbed) -> Steps:
    """While the game goes on, legal lists 1 to max_moves moves in its buffer, and the same when it is called again."""
    for here in (seen := Counted(testbed.positions(testbed.effort.positions), "positions")):
        yield seen
        try:
            (first, counts), (second, again) = (testbed.compiled.legal(here.states) for _ in range(2))
        except CardaiError as error:
            raise here.broken(str(error)) from error
        n = int(counts[0])
        if not 1 <= abs(n) <= testbed.game.max_moves:
            raise here.broken(f"legal returned {n}, max_moves is {testbed.game.max_moves}")
        if n != again[0] or first.tobytes() != second.tobytes():
            raise here.broken("legal lists other moves when it is called again")


@law
def moves_are_distinct(testbed: Testbed) -> Steps:
    """legal lists no move twice."""
    for here in (seen := Counted(testbed.positions(testbed.effort.positions), "positions")):
        yield seen
        moves = written(testbed.game, testbed.compiled.moves(here.states))
        unique, counts = np.unique(moves, axis=0, return_counts=True)
        if (counts > 1).any():
            raise here.broken(f"the move {unique[np.argmax(counts)].tolist()} is listed {counts.max()} times")


@law
def moves_are_in_order(testbed: Testbed) -> Steps:
    """legal lists moves in canonical order: ascending by their fields, the first field first."""
    for here in (seen := Counted(testbed.positions(testbed.effort.positions), "positions")):
        yield seen
        moves = written(testbed.game, testbed.compiled.moves(here.states))
        former, latter = moves[:-1], moves[1:]
        differs = former != latter
        field, line = differs.argmax(axis=1), np.arange(len(former))
        wrong = np.flatnonzero(differs.any(axis=1) & (former[line, field] > latter[line, field]))
        if len(wrong):
            pair = moves[wrong[0] : wrong[0] + 2].tolist()
            raise here.broken(f"the move {pair[1]} is listed after {pair[0]}")


@law
def is_legal_agrees_with_legal(testbed: Testbed) -> Steps:
    """is_legal accepts the moves that legal lists, and neither variations of them nor moves of other positions."""
    for here in (seen := Counted(testbed.positions(testbed.effort.positions), "positions")):
        yield seen
        moves, counts = testbed.compiled.legal(here.states)
        listed = moves[0, : abs(counts[0])]
        refused = np.flatnonzero(~testbed.compiled.allowed(here.states, listed))
        if len(refused):
            move = move_text(testbed.game, here.state, listed[refused[0]])
            raise here.broken(f"legal lists {move}, is_legal refuses it")
        if counts[0] < 0:
            continue  # a move that a truncated list leaves out may be legal
        others = foreign_moves(testbed, here, listed)
        accepted = np.flatnonzero(testbed.compiled.allowed(here.states, others))
        if len(accepted):
            move = move_text(testbed.game, here.state, others[accepted[0]])
            raise here.broken(f"is_legal accepts {move}, legal does not list it")


@law
def truncated_lists_have_every_kind(testbed: Testbed) -> Steps:
    """A list that leaves moves out has a move of each kind (the first field) of which is_legal accepts a move."""
    for trace in (seen := Counted(testbed.mixed(testbed.traces) if testbed.game.is_legal else (), "games")):
        yield seen
        for here, listed in _truncated(testbed, trace):
            others = moves_of_other_kinds(testbed, here, listed)
            accepted = np.flatnonzero(testbed.compiled.allowed(here.states, others))
            if len(accepted):
                move = move_text(testbed.game, here.state, others[accepted[0]])
                raise here.broken(f"legal leaves moves out, among them {move} and all others of its kind")


@law
def illegal_moves_raise(testbed: Testbed) -> Steps:
    """play and after raise IllegalMove for a move that is legal elsewhere but not here, and for any after the end."""
    for here in (seen := Counted(testbed.positions(testbed.effort.texts), "positions")):
        yield seen
        moves, truncated = testbed.game.enumerate(here.state)
        if not truncated:
            _refuse_all(testbed, here, foreign_moves(testbed, here, moves)[-4:])
    for trace in (seen := Counted(testbed.mixed(testbed.traces), "games")):
        yield seen
        _refuse_all(testbed, trace.end, trace.moves[:2])


@law
def actions_number_the_moves(testbed: Testbed) -> Steps:
    """If a game numbers its moves (`actions`), every legal move has a number, and no two legal ones share it."""
    numbers = testbed.game.actions
    for here in (seen := Counted(testbed.positions(testbed.effort.positions) if numbers else (), "positions")):
        yield seen
        moves = testbed.compiled.moves(here.states)
        for move in moves:
            if tuple(move.tolist()) not in numbers:
                raise here.broken(f"{move_text(testbed.game, here.state, move)} is legal and has no number in actions")
        found = [numbers[tuple(move.tolist())] for move in moves]
        for i, number in enumerate(found):
            if number in found[:i]:
                pair = [move_text(testbed.game, here.state, moves[k]) for k in (found.index(number), i)]
                raise here.broken(f"{' and '.join(pair)} are legal together and share the number {number}")


def _refuse_all(testbed: Testbed, here: Position, moves: np.ndarray) -> None:
    refuse("spell", "is_legal")  # a refusal spells the move
    for move in moves:
        for door in (testbed.game.play, testbed.game.after):
            try:
                door(here.state, move)
            except IllegalMove:
                continue
            refused = move_text(testbed.game, here.state, move)
            raise here.broken(f"{door.__name__} accepts {refused}, which is not legal here")


def _truncated(testbed: Testbed, trace: Trace) -> Iterator[tuple[Position, np.ndarray]]:
    """Positions of a game whose list of moves is truncated, with the list; at most `positions`."""
    found = 0
    for first in range(0, len(trace.moves), LISTED_TOGETHER):
        end = min(first + LISTED_TOGETHER, len(trace.moves))
        moves, counts = testbed.compiled.legal(trace.states[first:end])
        for row in np.flatnonzero(counts < 0)[: testbed.effort.positions - found]:
            found += 1
            yield Position(trace, first + int(row)), moves[row, : -counts[row]]


def moves_of_other_kinds(testbed: Testbed, here: Position, listed: np.ndarray) -> np.ndarray:
    """Moves of the kinds that are not listed here. Fields that are sets of cards are empty or have a single card."""
    names = list(testbed.game.move.names or ())
    known = np.concatenate([listed, *(trace.moves for trace in testbed.traces)])
    chance = testbed.chance("kinds", here.trace.setup, here.trace.seed, here.ply)
    values = [[0, *(1 << bit for bit in range(int(known[name].max()).bit_length()))] for name in names[1:]]
    values = [sets if sets[-1] >= LIKE_A_CARD_SET else [] for sets in values]
    moves = []
    for kind in sorted({*range(int(known[names[0]].max()) + 2)} - {*listed[names[0]].tolist()}):
        played = known[known[names[0]] == kind]
        bases = np.concatenate([chance.choice(some, min(PERTURBED, len(some)), False) for some in (listed, played)])
        for base in bases if any(len(sets) == 0 for sets in values) else bases[:1]:
            numbers = [sets or [int(base[name])] for sets, name in zip(values, names[1:], strict=True)]
            moves += [(kind, *others) for others in product(*numbers)]
    return np.array(moves, testbed.game.move)


def foreign_moves(testbed: Testbed, here: Position, listed: np.ndarray) -> np.ndarray:
    """Moves that are not listed here: listed moves with one field changed, and moves played at other plies."""
    played, names = here.trace.moves, testbed.game.move.names or ()
    chance = testbed.chance("foreign", here.trace.setup, here.trace.seed, here.ply)
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
    return np.array([move for move in moves if move.tobytes() not in known], testbed.game.move)
