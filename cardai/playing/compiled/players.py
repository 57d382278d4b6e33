"""The players of a run as compiled code knows them."""

from typing import Any, NamedTuple

# How a player decides: by a hand-written rule, evenly at random, by one-ply search with a heuristic or a dense network,
# by search over worlds, or outside compiled code.
NATIVE, UNIFORM, ONE_PLY, SEARCH, OUTSIDE = range(5)


class Cast(NamedTuple):
    """The P players of a run, and those that stand for players in the worlds of a search.

    `calls` holds the address of each one's `choose`, `value` or `encode`.
    """

    calls: Any  # i64[P]
    networks: Any  # i64[P]: the address of the network of ONE_PLY; 0: it asks a heuristic
    kinds: Any  # i64[P]: NATIVE ... OUTSIDE
    sees_own: Any  # i64[P]: 1 if NATIVE is given the state with all that is hidden blanked, 0 if it is given a world
    peeks: Any  # i64[P]: 1 if ONE_PLY judges moves in the true world
    settles: Any  # i64[P]: 1 if ONE_PLY judges settled states, 0 if it judges after-states
    worlds: Any  # i64[P]: worlds a decision, for ONE_PLY, and for each move in SEARCH
    randomised: Any  # i64[P]: bit 0 if its parameters are drawn anew for each game; bit k + 1 if number k is a count
    epsilon: Any  # f8[P]: how often any move is played, for players who compare moves
    temperature: Any  # f8[P]: > 0 draws moves by softmax of their worth instead of taking the best
    until: Any  # i64[P]: such a player explores up to a ply drawn for each game from 0..until only; -1: all along
    stops: Any  # i64[P]: 1 if its decisions in open positions are made outside compiled code
    is_open: Any  # i64[1]: the game's `is_open`
    own: Any  # i64[P]: the player that moves for a SEARCH in its worlds
    others: Any  # i64[P]: the player that moves there for the other seats
    most: Any  # i64[P]: the moves that SEARCH plays on; if there are more, `own` chooses; 0: all
    turns: Any  # i64[P]: the choices of its own that SEARCH plays on over; -1: to the end of the game
    halving: Any  # i64[P]: 1 if SEARCH gives up the worse half of its moves again and again
    blank: Any  # i64[1]: the game's `blank`
    decided: Any  # i64[1]: the game's `decided`; 0 without
    search: Any  # i64[P]: what chooses for a SEARCH (`search.choose_by_search`); 0 for others
    params: Any  # f8[P, width]: of hand-written players, and of searches
    widths: Any  # i64[P]: how many parameters each one has
    width: int
