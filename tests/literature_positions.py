"""Positions of Literature for tests, set up by hand."""

import cardai
from cardai.games.literature.deck import DECK, cards_of
from cardai.games.literature.rules import EVEN, NOBODY, NONE, ODD
from cardai.games.literature.text import NAMES

GAME = cardai.load("literature")
LOW_CLUBS, LOW_DIAMONDS, LOW_HEARTS, LOW_SPADES, HIGH_CLUBS, HIGH_DIAMONDS, HIGH_HEARTS, HIGH_SPADES = range(8)


def cards(names):
    return DECK.cards(names)


def names(cards):
    return DECK.names(cards)


def halves(*numbers):
    """A set of half-suits."""
    return sum(1 << number for number in numbers)


def position(hands, mover=0, variant="article", known=(), lacks=(), must=(), even=(), odd=(), **fields):
    """A position in which the mover is to ask: the hands by seat, in words.

    `known`, `lacks`: seats and cards in words. `must`: seats and half-suits. `even`, `odd`: the half-suits that the
    teams have; nobody has the others of which no card is in a hand. Other fields are options or fields of the state.
    """
    state = GAME.options(len(hands), variant)[0]
    for seat, hand in enumerate(hands):
        state.hands[seat] = cards(hand)
    for field, entries in (("known", known), ("lacks", lacks)):
        for seat, some in dict(entries).items():
            state[field][seat] = cards(some)
    for seat, some in dict(must).items():
        state.must[seat] = halves(*some)
    held = sum(int(hand) for hand in state.hands)
    live = [half for half in range(8) if held & cards_of(half)]
    assert held == sum(cards_of(half) for half in live), "a card of a live half-suit is in no hand"
    state.won[EVEN], state.won[ODD] = halves(*even), halves(*odd)
    state.won[NOBODY] = 255 & ~halves(*live, *even, *odd)
    state.mover = state.turn = mover
    for field in (
        "window",
        "closer",
        "moved",
        "pending",
        "asker",
        "asked",
        "card",
        "answer",
        "claimant",
        "claimed",
        "names",
    ):
        state[field] = NONE
    for name, value in fields.items():
        state[name] = value
    return state


def spelled(state):
    """The legal moves, in words."""
    return [GAME.text.spell(state, move) for move in GAME.moves(state)]


def asks(state):
    return [text for text in spelled(state) if text.startswith("asks")]


def claims(state):
    return [text.removeprefix("claims ") for text in spelled(state) if text.startswith("claims")]


def play(state, *texts):
    for text in texts:
        state = GAME.play(state, GAME.text.parse(state, text))
    return state


def without_windows(state):
    """The state after all windows that are open, in which nobody claims."""
    while state.turn >= 0 and state.window != NONE:
        state = play(state, "no claim")
    return state


def owner(state, half):
    """Who has a half-suit: "even", "odd", "nobody" or "live"."""
    for place, team in ((EVEN, "even"), (ODD, "odd"), (NOBODY, "nobody")):
        if int(state.won[place]) >> half & 1:
            return team
    return "live"


def half_named(name):
    return NAMES.index(name)
