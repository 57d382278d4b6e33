"""The rules of a game, which are compiled."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Rules:
    """The rules of a game: functions marked `@rule` that read and write a state. The first five are needed.

    `deal(state)` deals; `legal(state, moves) -> n` writes the legal moves of the seat to move in canonical order;
    `act(state, move)` is what the player decides; `settle(state)` is what follows, with chance, and whose turn it is;
    `score(state, seat)` is what the end is worth, in the range of `payoff`.
    `resample(state, seat, stream)` deals anew what is hidden from `seat`. `blank(state, seat)` writes over it; a game
    needs that only if it has players with `sees="own"`. Both follow from a declared state.
    `is_legal(state, move)` may be None if `legal` always lists all moves.
    `decided(state, seat)` gives the score of a seat as soon as it is certain, and otherwise a number below the range of
    `payoff`, -1 if that is 0 to 1. Searches stop there instead of playing on; a game needs it if seats are out before
    the game ends.
    `is_open(state)` says whether from here to the end nothing is hidden from the seat to move and chance decides
    nothing; such endings are solved exactly. `simplify(state)` may clear what no rule reads in them (history,
    knowledge), so that more of them are equal.
    `together(state)` gives the set of seats that choose at the same time in a position, 0 if the seat to move chooses
    alone. The core keeps their choices in the field `sealed` of the state and plays them when the last seat has chosen
    (`cardai.game.compiled.together`).
    `weight(state)` is how likely a state is beside others that look the same to a seat, before choices are considered,
    a number above 0. Without it, states are equally likely, and where cards are alike as likely as the deals that
    become them: see `Game.weigh`.
    """

    deal: Callable[..., None]
    legal: Callable[..., int]
    act: Callable[..., None]
    settle: Callable[..., None]
    score: Callable[..., float]
    resample: Callable[..., None] = None  # pyright: ignore[reportAssignmentType]
    blank: Callable[..., None] | None = None
    is_legal: Callable[..., bool] | None = None
    decided: Callable[..., float] | None = None
    is_open: Callable[..., bool] | None = None
    simplify: Callable[..., None] | None = None
    together: Callable[..., int] | None = None
    weight: Callable[..., float] | None = None
