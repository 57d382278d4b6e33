"""Situations of Tic-Tac-Toe: the moves so far, whose turn it then is, and all moves that give nothing away."""

from cardai.measure.situations import Situation

from . import GAME


def after(moves):
    """The position after these moves."""
    state = GAME.new()
    for move in moves.split():
        state = GAME.play(state, GAME.text.parse(state, move))
    return state


_SITUATIONS = (
    ("answer a corner in the centre", "a1", "b2", "every other answer loses to a fork"),
    ("answer the centre in a corner", "b2", "a3 c3 a1 c1", "an edge loses to a fork"),
    ("answer an edge", "b1", "b3 b2 a1 c1", "the others lose to a fork"),
    ("punish the far corner", "a1 c3", "a3 c1", "a fork comes with the third corner"),
    ("punish a corner beside the first", "a1 c1", "a3 c3 a2", "the answer is forced, then a fork comes"),
    ("punish an edge beside the corner", "a1 a2", "b2 b1 c1", "the answer is forced, then a fork comes"),
    ("punish an edge beside the centre", "b2 b1", "a3 c3 a2 c2 a1 c1", "any but the far one leads to a fork"),
    ("punish an edge beside an edge", "b1 a2", "b2 a1", "both edges meet in the corner a1"),
    ("between two corners, play an edge", "a1 b2 c3", "b3 a2 c2 b1", "an edge threatens, a corner lets the other fork"),
    ("defend from the centre's far corner", "b2 a1 c3", "a3 c1", "an edge lets the other fork"),
    ("block the line through the centre", "b2 a1 b1", "b3", "b3 would make three in the column b"),
    ("block a column", "a1 b2 a3", "a2", "a2 would make three in the column a"),
    ("fork with two edges", "a2 c1 b3", "c3 a1", "two lines with one open place each"),
    ("block instead of making two", "a1 b2 b1 c1 a3", "a2", "a2 is the third of the column a"),
    ("stop the line, not the fork", "a1 b2 c3 b1 b3", "a3", "a3 is the third of the row a3 b3 c3"),
    ("keep to the forced line", "b2 a3 c1 a1", "a2", "a1 and a3 already stand: a2 must be taken"),
)  # fmt: skip
SITUATIONS = tuple(Situation(name, after(moves), tuple(right.split()), why) for name, moves, right, why in _SITUATIONS)
