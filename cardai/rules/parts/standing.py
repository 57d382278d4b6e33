"""Who is ahead: the best of some values, a win that the best share, and words for what each seat has.

`values` are numbers by seat, the higher the better: a field such as `state.points`, or an array or tuple that a rule
makes. Values of seats that are not asked about may be anything.
"""

from collections.abc import Callable
from typing import Any

from cardai.rules import rule
from cardai.rules.cards import count, has, lowest, single


@rule
def best_seats(values, seats):
    """The set of those of some seats, a set too, that have the highest value: all of them if they are equal."""
    found, rest = 0, seats
    while rest != 0:
        seat = lowest(rest)
        rest &= rest - 1
        if found == 0 or values[seat] > values[lowest(found)]:
            found = single(seat)
        elif values[seat] == values[lowest(found)]:
            found |= single(seat)
    return found


@rule
def share_of_win(values, seats, seat):
    """What a seat gets of a win that the best of `seats`, a set, share: 1.0 alone, 0.5 of two, 0.0 for others."""
    best = best_seats(values, seats)
    return 1.0 / count(best) if has(best, seat) else 0.0


def each_has(title: str, value: Callable[[Any, int], float]) -> Callable[[Any], str]:
    """The function `ending` of a game that says what each seat has: "Tricks: p0 has 3, p1 has 5."

    `value(state, seat)` is a rule or another function, such as that of an outcome; people read up to six digits of it.
    """

    def ending(state: Any) -> str:
        return f"{title}: {', '.join(f'p{seat} has {value(state, seat):g}' for seat in range(int(state.seats)))}."

    return ending
