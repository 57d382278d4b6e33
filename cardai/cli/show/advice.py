"""Advice at the table for people: what a hint says, the table of an explanation, and where hidden cards may lie."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from cardai.cli.show.grid import grid, with_notes
from cardai.cli.show.suits import in_suits
from cardai.game import Game, listed_pieces
from cardai.measure.coaching.advice import ExplainedMove, Explanation, Hint
from cardai.measure.coaching.chances import Chances
from cardai.measure.move_values import ComparedFigure

Words = Callable[[str], str]
MOST_ROWS = 20  # moves of an explanation that are shown


def first_hint(game: Game, hints: Sequence[Hint], say: Words = str) -> str:
    """The first step of a hint: the pieces of the best moves, or how one begins if the game says no pieces.

    `say`: puts words of the game into those for the reader.
    """
    judge, pieces = hints[0].judge, taken_by(hints)
    if game.table.picks is None:
        return f"{judge} would play a move that begins with {say(hints[0].words).split()[0]!r}."
    cards = " ".join(game.table.pieces[piece] for piece in listed_pieces(pieces)) or "no card"
    return f"{judge} would take {cards}."


def taken_by(hints: Sequence[Hint]) -> int:
    """All pieces that moves take."""
    return functools.reduce(int.__or__, (hint.pieces for hint in hints))


def table(game: Game, explanation: Explanation, say: Words = str) -> Any:
    """A rich renderable: every legal move beside the best one. `say`: see `first_hint`."""
    shown = grid()
    first, *others = heads(explanation)
    shown.add_column(first, overflow="fold")
    for head in others[:-1]:
        shown.add_column(head, justify="right", overflow="fold")
    shown.add_column(others[-1])
    for words, *figures in rows(explanation):
        shown.add_row(in_suits(say(words), game.table.pieces), *figures)
    return with_notes(notes(explanation), shown)


def heads(explanation: Explanation) -> list[str]:
    """The heads of the columns of `rows`."""
    judged = [explanation.scale, "less the best's"] if _is_judged(explanation) else []
    return ["move", *judged, f"{explanation.counted or 'score'} of rollouts", "less the best's", "rollouts say"]


def rows(explanation: Explanation) -> list[list[str]]:
    """A row of texts for each move: in words, the judge's figures if it has them, the rollouts', what they say."""
    found = []
    for i, move in enumerate(explanation.moves[:MOST_ROWS]):
        judged = _cells(explanation, move.value, i == 0) if _is_judged(explanation) else []
        mean = f"{move.rollouts.mean:{'.4g' if explanation.counted else '.3f'}}"
        played = [mean, "" if i == 0 else difference(move.rollouts, None if explanation.counted else 3)]
        found.append([move.words, *judged, *played, "best" if i == 0 else verdict_of(move)])
    return found


def _is_judged(explanation: Explanation) -> bool:
    return any(move.value is not None for move in explanation.moves)


def _cells(explanation: Explanation, figure: ComparedFigure | None, is_best: bool) -> list[str]:
    if figure is None or math.isnan(figure.mean):
        return ["", ""]
    digits = 3 if explanation.bounded else None
    mean = f"{figure.mean:.3f}" if explanation.bounded else f"{figure.mean:.4g}"
    return [mean, "" if is_best else difference(figure, digits)]


def difference(figure: ComparedFigure, digits: int | None) -> str:
    """The difference from the best move with its interval: "-0.120 (-0.210 to -0.040)". Without `digits` four."""
    form = "+.4g" if digits is None else f"+.{digits}f"
    if figure.low is None or figure.high is None:
        return f"{figure.difference:{form}}"
    return f"{figure.difference:{form}} ({figure.low:{form}} to {figure.high:{form}})"


def verdict_of(move: ExplainedMove) -> str:
    """What the rollouts say of a move beside the best one."""
    if not move.is_told_apart:
        return "not told apart"
    return "worse" if move.rollouts.difference < 0 else "better"


def notes(explanation: Explanation) -> list[str]:
    """What the numbers are, for people."""
    left = len(explanation.moves) - MOST_ROWS
    lines = [f"and {left} more moves that the rollouts like less"] if left > 0 else []
    if explanation.more:
        lines.append("there are more legal moves than are listed")
    lines.append(f"the best move is the one that {explanation.judge} plays, from what your seat knows;")
    lines.append(
        f"rollouts: {explanation.by} plays on to the end in {explanation.worlds} worlds, the same for all moves;"
    )
    lines.append("brackets: 95 % intervals; not told apart: the interval contains 0")
    if any(move.value is not None and move.value.low is None for move in explanation.moves[1:]):
        lines.append(f"{explanation.judge} judges before cards are drawn: the same in all worlds, without an interval")
    if explanation.counted:
        return lines
    amount, what = explanation.unit
    lines.append(f"a score of 0.100 is {0.1 * amount:.2g} {what}")
    return lines


def chances_table(game: Game, chances: Chances, names: Sequence[str] = ()) -> Any:
    """A rich renderable: where each card that the seat cannot see may lie, in percent of the worlds or of all deals.

    `names`: of the seats, p0, p1 if there are none.
    """
    scale, places, what = (1, 1, "cards expected") if len(game.table.copies) else (100, 0, "percent")
    rows, others = grid(), [seat for seat in range(chances.shares.shape[1] - 1) if seat != chances.seat]
    rows.add_column("card")
    for seat in others:
        rows.add_column(names[seat] if names else f"p{seat}", justify="right")
    rows.add_column("elsewhere", justify="right")
    for card, shares in zip(chances.cards, chances.shares, strict=True):
        cells = [f"{scale * shares[place]:.{places}f}" if shares[place] else "-" for place in (*others, -1)]
        rows.add_row(in_suits(game.table.pieces[card], game.table.pieces), *cells)
    lines = [
        f"{what}, exact: of all deals that fit what your seat knows;"
        if chances.is_exact
        else f"{what} of {chances.worlds} worlds of your seat (each within {100 * chances.margin:.0f}, 95 %);"
        if not len(game.table.copies)
        else f"{what}, the mean of {chances.worlds} worlds of your seat;",
        "they follow from the rules and what you have seen, not from why others played as they did",
    ]
    return with_notes(lines, rows)
