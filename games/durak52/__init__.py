"""Durak with a deck of 52 cards: the rules, words and players of `games/durak`, whose RULES.md it shares.

A move is one card or none. The field `card` of a move is the card, 0 to 51, or 52 for no card (pass or take). Networks
for 36 cards have fewer outputs and narrower inputs, so this is a game of its own.
"""

from cardai.game import PerspectiveEncoder
from cardai.games.durak import GAME as DURAK
from cardai.games.durak.encode import encode_whole, whole_layout
from cardai.games.durak.rules import STATE, WHOLE_DECK
from cardai.rules.cards import DECK52

ACTIONS = WHOLE_DECK + 1

GAME = DURAK.changed(
    name="durak52",
    title="Durak with 52 cards",
    version=1,
    state=STATE.with_deck(DECK52),
    max_moves=ACTIONS,
    variants={name: {**DURAK.variants[name], "cards": WHOLE_DECK} for name in ("podkidnoy", "perevodnoy")},
    choices={**DURAK.choices, "cards": (WHOLE_DECK,)},
    encoders={"relative": PerspectiveEncoder(whole_layout, encode_whole)},
    actions={(card,): card for card in range(ACTIONS)},
    suites={},
    pieces=DECK52.all_names,
    opponents=("endgame:sampled:hand_value?worlds=20", "thrifty"),
)
