"""Hand-written evaluations of a Hearts position for a seat, by what the seat knows. Numbers refer to RULES.md."""

from cardai.cards import single
from cardai.rule import rule

from .rules import NONE, SEATS, penalty, taker


@rule
def points_so_far(state, seat):
    """4.1: the points that a seat has taken in this round, with those on the table if its card takes them so far."""
    cards = state.taken[seat]
    if state.leader != NONE and state.table[state.leader] != NONE and taker(state) == seat:
        for other in range(SEATS):
            if state.table[other] != NONE:
                cards |= single(state.table[other])
    return penalty(cards)
