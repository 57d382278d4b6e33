"""Situations of Moska: endings for two in which one move keeps the win.

A line has the hand of the seat to move first, the other hand, the cards that lie to be killed if there are any, and the
right move. Spades are trump, the deck is empty, and all other cards have left the game.
"""

from cardai.measure.situations import Situation
from cardai.rules.cards import DECK52, full_deck

from . import GAME
from .rules import NONE, SKIP


def ending(own, other, table=""):
    """Seat 0 opens against seat 1; if cards lie on the table, seat 1 is to move, and the hands are as they are then."""
    state = GAME.options(2, "thesis")[0]
    mine, theirs = (other, own) if table else (own, other)
    state.hands[0], state.hands[1] = DECK52.cards(f"{mine} {table}"), DECK52.cards(theirs)
    state.discards = int(full_deck(52)) & ~DECK52.cards(f"{own} {other} {table}")
    state.deck[:] = state.turned = state.last = NONE
    state.pending, state.target, state.playing, state.drawn = SKIP, 1, 0b11, 0b11
    state.trump, state.trump_card = "CDHS".index("S"), DECK52.card("2S")
    return GAME.play(state, GAME.text.parse(state, f"opens {table}")) if table else state


_SITUATIONS = (
    ("a pair and one more: open with the pair", "9C QC QD", "8D 8H 8S 9D", "", "opens QC QD"),
    ("open with the pair, keep the ace", "7C 7D AC", "4S 7H AS", "", "opens 7C 7D"),
    ("open with the low pair", "3C 3H 5D", "3D 5S QD QS", "", "opens 3C 3H"),
    ("open with the kings, keep the eight", "8D KD KH", "7D 7H 7S", "", "opens KD KH"),
    ("open with the fours under the queen of trumps", "4D 4H 5H", "4C QS", "", "opens 4D 4H"),
    ("open with the tens, four cards against three", "9H TC TH", "8H 8S 9C 9S", "", "opens TC TH"),
    ("not the pair: open with the one more", "4C 4H 7C KD", "KH KS", "", "opens 7C"),
    ("not the pair: the trump queen first", "8C 8H 9D QS", "9C 9H 9S", "", "opens QS"),
    ("one of the pair only", "7D KC KD AC", "7C 8D 8S", "", "opens KC"),
    ("open with the card between", "6D 7S TD AD", "6C 6S 7C AH", "", "opens TD"),
    ("open with the jack, keep the king of trumps", "8C JD KS", "9C KD", "", "opens JD"),
    ("open with the ace, keep the trump", "6C 7H KS AD", "6S AH", "", "opens AD"),
    ("kill with the trump that cannot be added to", "2C 2S 5S", "5C", "9D", "kills 9D with 2S"),
    ("kill with the higher trump", "5S 7D 7S", "5H", "AD", "kills AD with 7S"),
    ("kill with the suit, keep the trump", "9S JD KH", "9H TC KC", "TD", "kills TD with JD"),
    ("pick up one card, keep the jack and the trump", "6S 8C 8H JD", "4C 6D JH", "4D", "ends, picks 4D"),
    ("pick up two cards, keep the trump ace", "6D 6H AS", "4C AD", "4D 4S", "ends, picks 4D 4S"),
)  # fmt: skip
SITUATIONS = tuple(
    Situation(name, ending(own, other, table), (right,), "every other move gives the win away")
    for name, own, other, table, right in _SITUATIONS
)
