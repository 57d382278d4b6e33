"""The exact exploitability of Kuhn poker (`examples/kuhn`), from Kuhn's rules alone, for the tests of learners.

A history is the text of its moves, an information set a card and a history.
"""

import itertools
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import cardai

GAME = cardai.load(str(Path(__file__).parent.parent / "examples/kuhn"))
CARDS, BET, NAMES = (getattr(sys.modules["kuhn"], name) for name in ("CARDS", "BET", "NAMES"))
STATE = GAME.state

Strategy = Callable[[int, str], float]
"""(own card, history) -> the probability to bet."""

HISTORIES = (("", "pb"), ("p", "b"))
"""Where each seat decides."""


def won(cards: tuple[int, int], history: str) -> float | None:
    """What seat 0 has won in chips; None while the game goes on."""
    higher = 1 if cards[0] > cards[1] else -1
    return {"pp": higher, "bb": 2 * higher, "pbb": 2 * higher, "bp": 1, "pbp": -1}.get(history)


def value(strategies: tuple[Strategy, Strategy], cards: tuple[int, int], history: str = "") -> float:
    """What seat 0 wins in the mean."""
    ended = won(cards, history)
    if ended is not None:
        return ended
    seat = len(history) % 2
    bets = strategies[seat](cards[seat], history)
    return sum(
        chance * value(strategies, cards, history + move) for move, chance in (("p", 1 - bets), ("b", bets)) if chance
    )


def mean_value(strategies: tuple[Strategy, Strategy]) -> float:
    """The same over all deals."""
    return float(np.mean([value(strategies, cards) for cards in itertools.permutations(range(CARDS), 2)]))


def best_response_value(strategy: Strategy, seat: int) -> float:
    """The most that `seat` can win in the mean against a strategy of the other seat: the best of all pure ones."""
    places = [(card, history) for card in range(CARDS) for history in HISTORIES[seat]]
    found = []
    for choices in itertools.product((0.0, 1.0), repeat=len(places)):
        pure = dict(zip(places, choices, strict=True))
        answer: Strategy = lambda card, history, pure=pure: pure[card, history]  # noqa: E731
        won = mean_value((answer, strategy) if seat == 0 else (strategy, answer))
        found.append(won if seat == 0 else -won)
    return max(found)


def nash_conv(strategy: Strategy) -> float:
    """What both seats together could win by best responses to a strategy, in chips: 0 in equilibrium."""
    return best_response_value(strategy, 0) + best_response_value(strategy, 1)


def equilibrium(alpha: float) -> Strategy:
    """Kuhn's equilibria, 0 <= alpha <= 1/3."""
    bets = {
        (0, ""): alpha, (1, ""): 0, (2, ""): 3 * alpha, (0, "pb"): 0, (1, "pb"): alpha + 1 / 3, (2, "pb"): 1,
        (0, "p"): 1 / 3, (1, "p"): 0, (2, "p"): 1, (0, "b"): 0, (1, "b"): 1 / 3, (2, "b"): 1,
    }  # fmt: skip
    return lambda card, history: bets[card, history]


def strategy_of(chances: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Strategy:
    """The strategy of a policy: (rows u8[n, width], masks bool[n, 2]) -> f8[n, 2]."""
    places = [(card, history) for histories in HISTORIES for card in range(CARDS) for history in histories]
    rows = np.array([GAME.encode(state_at(card, history), len(history) % 2) for card, history in places])
    bets = chances(rows, np.ones((len(rows), 2), bool))[:, BET]
    known = dict(zip(places, bets.tolist(), strict=True))
    return lambda card, history: known[card, history]


def state_at(card: int, history: str) -> np.record:
    """A state in which the seat to move holds a card."""
    state = GAME.new()
    seat = len(history) % 2
    state.cards[seat], state.cards[1 - seat] = card, (card + 1) % CARDS
    state.left = 1 << (card + 2) % CARDS
    for move in history:
        state = GAME.play(state, GAME.text.parse(state, NAMES["pb".index(move)]))
    return state
