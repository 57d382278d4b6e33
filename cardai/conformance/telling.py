"""Laws on what other seats are told of a move: the words are the same in all their worlds, and name nothing hidden."""

import numpy as np

from cardai.conformance.law import law
from cardai.conformance.listing import TEXTS, all_moves, look_alike, marks
from cardai.conformance.testbed import Position, Testbed

WORLDS = 8  # in which other moves are tried
MOST_MOVES = 600  # moves tried in these worlds together
DRAWS = 6  # worlds by which two states are compared


@law
def what_is_told_is_the_same_in_every_world(testbed: Testbed) -> None:
    """What another seat is told of a move (`tell`, or `spell` without it) is the same text in all worlds of that seat.

    The text is asked for in a world of that seat, in which a hidden move may not be legal.
    """
    for i, (here, seat) in enumerate(testbed.chosen(4 * testbed.effort.told, "told")):
        if seat != here.turn:
            words = testbed.words(here, here.states, here.move, seat)[0]
            worlds = testbed.compiled.worlds(here.states, seat, 4, i)
            for other in testbed.words(here, worlds, np.repeat(here.move, len(worlds)), seat):
                if other != words:
                    raise here.broken(f"seat {seat} is told {words!r}, but {other!r} in one of its worlds")


@law
def what_is_told_names_nothing_hidden(testbed: Testbed) -> None:
    """Two moves that leave a seat the same worlds are told to it in the same words: no text names what worlds hide.

    Other moves are tried in worlds of the seat. One that leads to a state which the seat cannot tell from the true one,
    and from which `resample` deals it the very same worlds, leaves it the same worlds. A game that hides moves and has
    no `tell` breaks this law.
    """
    for i, (here, seat) in enumerate(testbed.chosen(2 * testbed.effort.told, "hidden")):
        if seat != here.turn:
            _names_nothing(testbed, here, seat, i)


def _names_nothing(testbed: Testbed, here: Position, seat: int, seed: int) -> None:
    """Break the law if a move that leaves `seat` the same worlds as the true one is told in other words."""
    compiled = testbed.compiled
    states, moves = all_moves(testbed, compiled.worlds(here.states, seat, WORLDS, seed))
    some = testbed.chance("tried", seed).permutation(len(states))[:MOST_MOVES]
    results = compiled.moved(states[some], moves[some])
    alike = look_alike(testbed, here.following, seat, results, TEXTS)
    states, moves, results = states[some][alike], moves[some][alike], results[alike]
    words = testbed.words(here, here.states, here.move, seat)[0]
    told = testbed.words(here, states, moves, seat)
    differing = np.array([text != words for text in told], bool)
    differing &= ~np.isin(marks(results), np.append(marks(results[~differing]), marks(here.following.states)))
    wanted = compiled.worlds(here.following.states, seat, DRAWS, seed).tobytes()
    for place in np.flatnonzero(differing):
        if compiled.worlds(results[place : place + 1], seat, DRAWS, seed).tobytes() == wanted:
            what = f"seat {seat} is told {words!r}, and its worlds after that are those after {told[place]!r}"
            raise here.broken(f"{what}: the text says more than the seat can know")
