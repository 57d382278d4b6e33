"""Situations of Literature: questions and claims that cannot fail, in endings with two live half-suits.

A line has the four hands (seat 0 is to move, and knows its own), the sure moves, what everybody knows of the seats
(cards shown, cards they lack, half-suits of which they have a card not shown: 5.1) and the half-suits of seats 0 and 2.
"""

from cardai.measure.situations import Situation

from . import GAME
from .deck import DECK, cards_of
from .rules import EVEN, NOBODY, NONE, ODD

NOTHING = "window", "closer", "moved", "pending", "asker", "asked", "card", "answer", "claimant", "claimed", "names"
CERTAIN = "RULES.md, 2.2 and 3.1: a question that is surely answered with yes gains a card and keeps the turn"


def position(hands, known, lacks, must, even):
    """Seat 0 is to move, by the rules of `table`. The half-suits that are neither live nor `even` are the others'."""
    state = GAME.options(4, "table")[0]
    for seat, hand in enumerate(hands.split(" / ")):
        state.hands[seat] = DECK.cards(hand)
    for field, entries in (("known", known), ("lacks", lacks)):
        for seat, names in entries.items():
            state[field][seat] = DECK.cards(names)
    for seat, halves in must.items():
        state.must[seat] = sum(1 << half for half in halves)
    held = sum(int(hand) for hand in state.hands)
    over = [half for half in range(8) if not held & cards_of(half)]
    state.won[EVEN], state.won[NOBODY] = sum(1 << half for half in even), 0
    state.won[ODD] = sum(1 << half for half in over if half not in even)
    state.mover = state.turn = 0
    for field in NOTHING:
        state[field] = NONE
    return state


_SITUATIONS = (
    (
        "TD 3H 2H / JD AH 8D / 4H 6H 9D / KD QD 5H", "asks p3 for 5H; asks p3 for QD",
        {3: "5H"}, {1: "3H QD", 2: "TD 3H 2H 8D QD"}, {0: (2, 5), 1: (2,)}, (7, 4, 3),
    ),
    (
        "2D TH 3D / 9H 6D AD / QH 5D KH / 8H JH 4D", "asks p3 for 4D",
        {3: "4D"}, {1: "TH", 2: "AD", 3: "2D"}, {}, (7, 4, 3),
    ),
    (
        "9C KC 3S / 2S AS QC / 5S 8C JC / 6S 4S TC", "asks p1 for QC",
        {1: "QC"}, {0: "AS QC", 1: "3S 5S", 2: "6S TC", 3: "9C"}, {3: (3, 4)}, (1, 6, 7),
    ),
    (
        "4C JH AC / TH 9H KH / 5C QH 3C / 8H 2C 6C", "asks p3 for 6C; asks p1 for 9H",
        {3: "6C"}, {0: "9H KH 2C", 1: "4C 3C 6C", 2: "JH 9H", 3: "AC 9H"}, {0: (6,), 2: (0,)}, (7, 4, 3),
    ),
    (
        "3D 2S 5S / 4D 6D 5D / 6S 3S AD / 4S 2D AS", "asks p1 for 6D",
        {0: "2S"}, {0: "4S 2D", 2: "6D", 3: "3D 2S 6D AD"}, {0: (1,), 1: (1,), 2: (1,), 3: (1,)}, (4, 0, 6),
    ),
    (
        "KH 8H QH / QS TS 9H / 8S 9S TH / JH KS JS", "asks p1 for 9H; asks p3 for JH",
        {1: "TS 9H", 2: "9S TH", 3: "KS"}, {0: "TH", 1: "JH", 2: "9H", 3: "QH 8S 9S"}, {1: (7,), 2: (7,), 3: (7,)},
        (2, 5, 0),
    ),
    (
        "6D TC 3D / 8C KC QC / 9C JC AD / 2D 4D 5D", "asks p1 for KC",
        {2: "9C"}, {0: "QC", 1: "TC 4D", 2: "KC 5D", 3: "KC"}, {3: (1,)}, (7, 0, 2),
    ),
    (
        "AC 8D KD / JD QD 3C / 9D 4C 5C / 6C 2C TD", "asks p1 for 3C; asks p3 for 6C",
        {0: "8D", 1: "3C"}, {1: "8D 6C TD", 2: "KD 6C", 3: "3C 4C"}, {2: (5,)}, (2, 3, 7),
    ),
    (
        "3D 6D 4S / AD 5S 6S / 4D AS 2D / 3S 5D 2S", "asks p1 for 6S",
        {0: "4S", 2: "4D 2D"}, {0: "4D 2S", 1: "4S 2S", 2: "6S", 3: "6D 6S"}, {0: (1,), 1: (3,), 3: (3,)}, (6, 2, 7),
    ),
    (
        "2S QD 5S / KD 3S TD / 8D JD AS / 4S 9D 6S", "asks p3 for 4S",
        {3: "4S"}, {0: "KD 8D 9D 6S", 2: "5S 6S", 3: "2S 5S AS"}, {0: (3,), 1: (3, 5)}, (0, 7, 4),
    ),
    (
        "QS 4H 2H / 3H 5H TS / 8S KS JS / 9S 6H AH", "asks p1 for 3H",
        {}, {0: "TS 6H", 1: "2H KS 9S", 2: "3H", 3: "3H 8S"}, {0: (7,), 1: (7,), 3: (7,)}, (3, 0, 1),
    ),
    (
        "AH 8H TH / 6H 9H JH / 3H 5H QH / 2H 4H KH", "asks p3 for 4H; asks p3 for KH",
        {3: "KH"}, {0: "6H KH", 1: "4H", 2: "8H 2H 4H", 3: "TH 6H JH 5H QH"}, {1: (2, 6), 3: (2,)}, (7, 5, 3),
    ),
    (
        "KD 4H QD / TD 3H JD / 2H 9D 6H / 8D AH 5H", "asks p3 for 5H",
        {0: "KD"}, {0: "8D", 1: "KD 5H", 2: "JD 5H", 3: "2H"}, {1: (2, 5), 2: (5,), 3: (2, 5)}, (7, 3, 4),
    ),
    (
        "3D AD 3H / 2D 5D 6H / 6D 4D 4H / AH 2H 5H", "asks p3 for AH; asks p3 for 2H",
        {3: "AH"}, {0: "2D 4D", 1: "6D 2H 5H", 2: "2H", 3: "4D 4H"}, {0: (1,), 1: (2,), 2: (2,), 3: (2,)}, (7, 6, 3),
    ),
    (
        "KC 8C JC / 4D 6D 3D / AD 2D TC / 9C 5D QC", "asks p3 for 9C; asks p3 for QC",
        {0: "KC 8C", 1: "6D 3D", 2: "2D TC"}, {0: "5D", 1: "8C JC 9C", 2: "4D QC"}, {1: (1,), 2: (1,)}, (3, 6, 0),
    ),
    (
        "2D 9D 4D / 8D QD KD / 6D AD 3D / TD JD 5D", "asks p3 for 5D",
        {}, {0: "KD", 1: "2D JD 5D", 2: "5D", 3: "3D"}, {3: (1, 5)}, (6, 7, 0),
    ),
    (
        "2C 3C 4C / TD JD QD / 5C 6C AC / 8D 9D KD", "claims low clubs",
        {2: "5C 6C AC"}, {}, {}, (2, 3, 6),
    ),
    (
        "2S 3S 4S 5S / TH JH QH / 6S AS / 8H 9H KH", "claims low spades",
        {}, {1: "6S AS", 3: "6S AS"}, {}, (0, 1, 5),
    ),
)  # fmt: skip


def _name(known, right):
    """Why the moves are sure, in words."""
    if right.startswith("claims"):
        return f"{'the partner has shown' if known else 'both opponents lack'} the rest: claim"
    asks = [ask.removeprefix("asks ").split(" for ") for ask in right.split("; ")]
    return " and ".join(
        f"{seat} has shown the {card}" if card in known.get(int(seat[1]), "") else f"only {seat} can have the {card}"
        for seat, card in asks
    )


SITUATIONS = tuple(
    Situation(
        _name(known, right),
        position(hands, known, *others),
        tuple(right.split("; ")),
        "in every deal that fits, it succeeds",
        CERTAIN,
    )
    for hands, right, known, *others in _SITUATIONS
)
