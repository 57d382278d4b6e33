"""What a finished game of Hearts was for a seat beside its score: what the paper's networks learn too (7.3 to 7.5).

The outcomes are the same in all variants. So games that are recorded once serve to train networks for each.
"""

from cardai.game import Outcome
from cardai.rules import rule

from .rules import (
    ALL_POINTS,
    JACK_BONUS,
    MOST_ROUNDS,
    NONE,
    STATE,
    TRICK_BONUS,
    few_points,
    moon_broken,
    moon_shot,
    penalty,
)

TRICK_LIMITS = (1, 2, 3, 4)
"""Points from which on the rewards `trick_1` to `trick_4` are 0."""
LIMITS = (5, 6, 7, 8, 9, 11, 12, 13, 26)
"""Points from which on the outcomes `normal_5` to `normal_26` are 0, as `normal` is from 10 on."""


@rule
def points_a_round(state, seat):
    """4, 5.1: the mean points of the game's rounds, of which there is one unless `limit` is set."""
    return state.totals[seat] / state.rounds


def fewer_than(limit):
    """The rule that gives (limit - points) / limit for the last round, at least 0, as 7.3 does with 10."""

    @rule
    def few(state, seat):
        return max(0, limit - penalty(state.taken[seat])) / limit

    return few


def fewer_in_trick(limit):
    """The rule that gives the seat which took the trick before (limit - points) / limit, at least 0; in all else 1."""

    @rule
    def few(state, seat):
        has_passed = state.leader == NONE and state.passed[seat] != 0  # its move before was no card of that trick
        if state.last_taker != seat or has_passed:
            return 1.0
        return max(0, limit - penalty(state.last)) / limit

    return few


OUTCOMES = {
    "points": Outcome(
        points_a_round,
        "points a round",
        low=-ALL_POINTS - JACK_BONUS,  # 4.2, 4.3: with `moon` 2 and `jack`
        high=ALL_POINTS,
        lower_is_better=True,
        scale=(-JACK_BONUS, ALL_POINTS),  # 4.1, 4.3: no named variant has `moon` 2
    ),
    "total": Outcome(
        STATE.value("totals"),
        "points in all",
        low=-MOST_ROUNDS * (ALL_POINTS + JACK_BONUS + TRICK_BONUS),
        high=MOST_ROUNDS * ALL_POINTS,
        lower_is_better=True,
    ),
    "moon": Outcome(moon_shot, "rounds, in a match the last ones, in which the seat shot the moon"),
    "normal": Outcome(few_points, "(10 - points) / 10 in the last round, at least 0"),
    **{
        f"normal_{limit}": Outcome(fewer_than(limit), f"({limit} - points) / {limit} in the last round, at least 0")
        for limit in LIMITS
    },
    "breaker": Outcome(moon_broken, "0 if the last round was a moon, else 1 without points, 0.1 with"),
}
REWARDS = {
    f"trick_{limit}": Outcome(
        fewer_in_trick(limit), f"({limit} - points) / {limit} in the card's trick, at least 0", waits=True
    )
    for limit in TRICK_LIMITS
}
MEASURES = ("share", "points", "moon")
