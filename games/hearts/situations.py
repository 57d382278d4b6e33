"""Situations of Hearts: endings of rounds in which a card is best in every world that fits, with all cards open.

Each is a deal and the cards passed and played since, in order. `cardai.measure.situations` says what *exact* means.
"""

from cardai.measure.situations import Situation
from cardai.rules.cards import DECK52

from . import GAME


def after(seed, cards):
    """The position after these cards."""
    state = GAME.new(seed=seed, variant="standard")
    for name in cards.split():
        moves = GAME.moves(state)
        state = GAME.play(state, moves[moves["card"] == DECK52.card(name)][0])
    return state


_SITUATIONS = (
    (
        "void in clubs, only hearts: throw the ace", 101, "discards AH",
        "JS TS 8S KS KH QS AS JH TH AH AC QD 2C 5C 7C AC 4S 2S 3S AS 2D JD TD 8D 3C TC 6C 4C 3D 5D KD QD 8C JC QC QS "
        "4D 6D 9D 7D AD QH 6H KH 9C 7H JS 4H KC",
    ),
    (
        "void in diamonds: throw the lone spade", 104, "discards 8S",
        "AD KS QH TH 5C 8S KH KD 5H QS JC 9C 2C AC KD JC 8D 7D 5D 6D 6S 2S 9S KS TC 5C 7S 9C AD JD 4D QD 5S JS 3S TS "
        "9D 2D 3D QH TH 7H 8H 9H 6C 5H 8C 4C 6H 4H AS 2H TD 3C",
    ),
    (
        "last to play on one heart: take it with the jack", 105, "plays JS",
        "AD QH TC AH QS 8H AS TH 7H KS KD JD 2C TC QD 6C 6D 5D 3D JD 3C JC QS 7C 9D 7D KC 4D QC 2D 8C 4C TD 6S 9C 8D "
        "AD 7S AS KD 3H 4H 5H 5C 2S 5S JH 3S AC QH AH TH 9S 9H 8S",
    ),
    (
        "three diamonds, void: throw a high one", 108, "discards AD; discards KD",
        "9H 8H 7H JC 4C 6C AS AH KS TH KD 4S 2C 7C AC KC 6D 7D JD 5D 8C 3C 4H 6C 2S 4S QD JS 4C 5C TH 4D KS TS KH 9S "
        "QS 5S 7H 8S 9C 2D 8H JC 6H AH 5H 9H AS 3D 9D 7S 3S",
    ),
    (
        "lead a low spade, keep the king of hearts", 109, "leads 2S; leads 4S",
        "AC KC QS AH QH JH KS KH KD 3S 3D 2C 2C 3C 4C 6C 2D 3D 5D JD 5C 8C 7C KC 7D 8D 9D 6D KD TD 6H AH KS 8S QS TS "
        "AD 9H AC QH QD 4H TC JH 4D 2H 7S 8H TH QC 9S 7H",
    ),
    (
        "a heart is led and you are void: throw the spade", 110, "discards 4S",
        "4C QH 7S 5C 5D TC KH QS 9H 8S 9C 9D 2C KC AC 9C KS 6S 9S AS 2D KD 9D JD TD 3D 6D 5D QS 8S 5S 2S 9H 3H 8H TH "
        "TS JS 4H 7S 2H AH QH 8D JC 3C TC KH 6H 7D",
    ),
    (
        "three hearts, last to play in diamonds: keep the four", 112, "discards 7H; discards 8H",
        "2C 5C 4C JC 7D 6D 2D 3D 9S JS 6S 7S 3C 7C JH TC KH 6H QH 3H KC 8C QC AS 9C AC AH 8S 8D TH 4D AD 5S QS 4S 2S "
        "TD 9H 5D",
    ),
    (
        "three clubs and a diamond: throw the diamond", 114, "discards 8D",
        "KC QD QC AS KS QS KH JH JD AD AC KD 2C 3C 8C 6C 4D 2D 5D QD 5C QS 4C AC 3S TH 4S 2S 5S 6S 8S 5H 8H KC 7H KH "
        "7D AD TD 6D KD 9D QH JD 4H QC 6H JH 9H AH",
    ),
    (
        "hearts that are safe, and a diamond: throw the diamond", 115, "discards 7D",
        "AH KS KH 3H 8C JH AD QH QD 9H 8D QS 2C 7C KC 8C 3S 5S AS QS 3C 9C 6C 5C 2S KS 9S JS 5D 9D QD JD AD 8D 2D JH "
        "TC QC 4C TH 4D TD 8H 3D TS 6S KD 4S 7S 7H QH",
    ),
    (
        "lead the ten of hearts before it is too late", 116, "leads TH",
        "AH AD KC KD QS QH QC JS JD KH 9H 8H 2C 8C 7C 6C AC QC 9C KC 8D 4D 7D 5D QD JD 6D TD KD 2D KH 9D 2S 4S 3S 9S "
        "2H 5H 3H 9H 4C JC QH TC 3D QS JH 8H 4H KS 7H 6H",
    ),
    (
        "lead the jack of hearts between two diamonds", 119, "leads JH",
        "AH QC TC QS TH 7H AS JH 9H KH QH TD 2C 3C JC 9C 2D 3D KD JD 5D 9D 6D 4D KC 8C 7C 5C AD 7D TD AH 3S 2S 4S JS "
        "6S 7S AS 5S 4H 2H 6C 3H 5H 6H TC TH 7H 9H 8H QC",
    ),
    (
        "lead the four of hearts, not an ace", 121, "leads 4H",
        "2C 5C 6C 4C 2S TS 4S 3S 3C QC TC 7C 2D 5D 6D 3D 5S QH 7S KS JC KH 9C AC JS QS 9S TH TD JH 8D 4D QD 8H JD 9D "
        "KD 3H 7D 2H",
    ),
    (
        "throw a middle heart and keep the queen", 122, "discards 7H; discards 9H",
        "5S QH AC QS JH TH AH KS KD AD KH 7D 2C 6C 8C AC 3S 4S 8S 9S 5C 4C 3C TC KS KH JS QS KD AD 4D 6S 4H 3H 2H AH "
        "2S 6D 5S JC 9C 7C QC 7D TS 8D 7S 8H QD 2D 5D TH JD 3D",
    ),
    (
        "win a trick without points with the ten", 123, "plays TD",
        "AS KH 6C JD 4C 3D 5C AH 9D KS QC TH 2C 8C 7C 4C 9C 6C KC 5C 3S TS JS 7S JC KH QH 3C 5S 2S 3D QS 8S KS 6S AD "
        "TH 7H 8H 5H 9S AS JD 4S 2D 5D KD 6D 9D QC",
    ),
    (
        "under a heart: not the lowest", 125, "plays 7H; plays 8H",
        "QD 6S 8S AC KH KC AS KS QH AD JH 5H 2C 9C KS QC 4S 6S 3S AS 2S 9S 8S 7S 6D 5D TD KD 4D 7D 3D TS QS 4H JS 5S "
        "3H QD KH AH TH 9H JD 3C QH JH TC JC 2H",
    ),
    (
        "void in spades: throw the king of clubs", 126, "discards KC",
        "2S AS 8C 8S 2H 7H KS JD TH 2D 9S 7D 2C 3C 5C JC QS 6S 8S KS 4S 7S TS 8H 4D 3D KD 8D QC KH 8C TC QD 9D 5D TD "
        "9C 7D 6C 7C TH QH 3S 7H 9H 2S 6H 3H 9S AS 5H",
    ),
    (
        "void in hearts: throw the five of diamonds", 127, "discards 5D",
        "2C 7C 6C 3C 2D 4D 6D AD 2S 7S 8S 6S 4C 9C 5C KC JD TD KD 8D 9S 4S KS QH QD 7D AH 9D 3H 4H 9H 7H AC TH QS QC "
        "3S 5S AS 8H 6H",
    ),
    (
        "void in hearts: throw the ten of clubs", 128, "discards TC",
        "2C 3C KC AC 4D 8C 9D 3D 9C QS 4C 5C 9S 8S KH JS 3S 4S 2S AH TD 2D 7D JC 7S 6S 3H 5S 5H 7H 7C 4H JD 8D QC 6D "
        "JH",
    ),
    (
        "void in diamonds: throw the ten of spades", 130, "discards TS",
        "AS KC JS KD JH TC AH 8C QD AD KS QS 2C AD 3C 7C 3S 4S 6S AS 4C TC 9C QS KD QD 9D JD 5H 6H 3H JS 2D 4D 3D TD "
        "2H 7H 8H 6D 5D 2S 8D AH 4H 9H TH 5C 7D QC JH",
    ),
    (
        "last to play: give the heart away", 132, "discards 3H",
        "5S TH AD KD QD JC AH QS JH AS AC KS 2C AC KC 4C 3C KH TC 9C 6S 3S 9S 7S 5D 7D KD 4D 5H 4H 8H 7H 6D AD 9D 2D "
        "2S JC 8S KS 8D QH JD QS QD AH 9H TH 3D JH AS",
    ),
    (
        "void in spades: throw the king of clubs, not a heart", 136, "discards KC",
        "AH KH 8H AD KD QC QS QD JH AC KC QH 2C 3C 4C AC 2D 6D 5D QD 7D 4D JD TD 4S 2S 3S 7S 3D AH 9D JH 2H QS 7H 6H "
        "6S KH 5S 8S TC 9C 5C 7C JC 8C TH 6C 9S",
    ),
)  # fmt: skip
SITUATIONS = tuple(
    Situation(name, after(seed, cards), tuple(right.split("; ")), "no other card is better in any world that fits")
    for name, seed, right, cards in _SITUATIONS
)
