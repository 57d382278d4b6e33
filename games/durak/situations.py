"""Situations of Durak: endings for two in which one move keeps the win.

A line has the hand of the seat to move first, the other hand, the card that lies to be beaten if there is one, and the
right moves. Spades are trump, the deck is empty, and all other cards have been discarded.
"""

from cardai.measure.situations import Situation
from cardai.rules.cards import DECK36, full_deck

from . import GAME
from .rules import NONE


def ending(own, other, attack=""):
    """Seat 0 attacks seat 1; if a card lies on the table, seat 1 is to move, and the hands are as they are then."""
    state = GAME.options(2, "podkidnoy")[0]
    mine, theirs = (other, own) if attack else (own, other)
    state.hands[0], state.hands[1] = DECK36.cards(f"{mine} {attack}"), DECK36.cards(theirs)
    state.discards = int(full_deck(36)) & ~DECK36.cards(f"{own} {other} {attack}")
    state.trump, state.trump_card, state.lowest_trump = "CDHS".index("S"), NONE, NONE
    for seat in range(2):  # what it was dealt is among the discards
        gone = [card for card in range(36) if (state.discards >> card) & 1]
        state.dealt[seat] = sum(1 << card for card in gone[6 * seat : 6 * seat + 6])
    state.drew = state.playing = 0b11
    state.defender, state.limit = 1, min(6, len(theirs.split()))
    return GAME.play(state, GAME.text.parse(state, f"attacks {attack}")) if attack else state


_SITUATIONS = (
    ("lead the queen between two suits of jacks", "JH QC KS", "JD JS", "", "attacks QC"),
    ("lead the diamond under two trumps", "8S TC JD QS", "8H TS JC JS", "", "attacks JD"),
    ("lead the lowest card, into a hand of kings", "7D KD AD AH", "KC KS AS", "", "attacks 7D"),
    ("lead the heart above the other one's", "8D 9H AH", "8H 9C QD", "", "attacks 9H"),
    ("a pair and a queen: lead the queen", "8C 8H QH", "8S TC QD", "", "attacks QH"),
    ("a pair and a trump: lead the trump", "9C 9D AS", "9S KS", "", "attacks AS"),
    ("a pair and an ace: lead the ace", "9C 9H AC", "6D 9S TC", "", "attacks AC"),
    ("a pair and a jack, against the trump of the pair", "7C 7H JC", "7S 9H", "", "attacks JC"),
    ("two queens: lead the queen of clubs", "6C QC QD AC", "6S KD", "", "attacks QC"),
    ("lead the trump before the two sixes", "6C 6D 7S", "TC TD", "", "attacks 7S"),
    ("lead the king, keep the trump for the end", "6H 8D KD KS", "6D 6S 8H KH", "", "attacks KD"),
    ("the jack before the nine and the trump six", "6S 9C JC", "9S JD", "", "attacks JC"),
    ("take, and keep both trumps", "7S 9C 9S KH", "7C 9D", "KD", "takes"),
    ("take, and keep the trump ace", "8S 9D JD AS", "8D 8H AH", "9C", "takes"),
    ("beat with the rank that cannot be added to: ace", "KD AD", "KC", "9D", "beats 9D with AD"),
    ("beat with the rank that cannot be added to: six", "6S KD KH", "KC", "JD", "beats JD with 6S"),
    ("beat high, since the other holds a king", "6H 9D KH AH", "KD", "9H", "beats 9H with AH"),
)  # fmt: skip
SITUATIONS = tuple(
    Situation(name, ending(own, other, attack), (right,), "every other move gives the win away")
    for name, own, other, attack, right in _SITUATIONS
)
