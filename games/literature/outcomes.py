"""What a game of Literature was beside its score, and what a move brought at once. Numbers refer to RULES.md."""

from cardai.game import Outcome
from cardai.rules import rule
from cardai.rules.cards import count

from .deck import HALVES
from .proof import live
from .rules import ASK, CLAIM, MOST_ASKS, STATE


@rule
def half_suits_won(state, seat):
    """4.2: how many half-suits the team of a seat has."""
    return 1.0 * count(state.won[seat % 2])


@rule
def was_cut(state, seat):
    """4.3: whether half-suits were left when the game was cut."""
    return 1.0 if live(state) != 0 else 0.0


@rule
def success(state, seat):
    """1 for a question answered with the card and for a claim that brought the half-suit, 0 if not; other moves 0.5."""
    if state.moved == ASK:
        return 1.0 * state.answer
    if state.moved == CLAIM:
        return 1.0 if state.won[seat % 2] & (1 << state.claimed) != 0 else 0.0
    return 0.5


OUTCOMES = {
    "half_suits": Outcome(half_suits_won, "half-suits of the team", high=HALVES),
    "asks": Outcome(STATE.value("asks"), "questions in the game", high=MOST_ASKS),
    "cut": Outcome(was_cut, "games that were cut"),
}
REWARDS = {
    "answer": Outcome(success, "1 for a question answered with yes or a claim that succeeds, 0 if not, else 0.5")
}
MEASURES = ("half_suits", "asks", "cut")
