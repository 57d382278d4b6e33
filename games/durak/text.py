"""Durak as text: moves in words, the table as one seat sees it, and the places of the cards."""

from cardai.game import Zone
from cardai.rules.cards import DECK36, DECK52, suit_cards

from .rules import HAND, NONE, STATE, WHOLE_DECK, card_played, is_transfer, shows


def _deck(state):
    """The names of the cards, from the six on or from the two on (1.1)."""
    return DECK52 if int(state["cards"]) == WHOLE_DECK else DECK36


def _decided(state, move):
    """What a move does: a verb, and the card that is played or shown, NONE for none."""
    card, defends = int(move["card"]), state["turn"] == state["defender"]
    if card == _deck(state).size:
        return "takes" if defends else "passes", NONE
    if not defends:
        return "adds" if state["attacks"] else "attacks", card
    if shows(state, card):
        return "shows", DECK52.listed(state["attacks"])[0] & ~3 | int(state["trump"])
    if is_transfer(state, card):
        return "transfers with", int(card_played(state, card))
    return f"beats {_deck(state).name(DECK52.listed(state['unbeaten'])[0])} with", card


def spell(state, move):
    verb, card = _decided(state, move)
    return verb if card == NONE else f"{verb} {_deck(state).name(card)}"


def show(state, seat):
    trump = int(state["trump"])
    bottom = f", {_deck(state).names(state['bottom'])} at the bottom" if state["bottom"] else ""
    deck = f"{int(state['stock'] | state['bottom']).bit_count()} cards in the deck{bottom}"
    lowest = _deck(state).name(state["lowest_trump"]) if state["lowest_trump"] != NONE else "none"
    lines = [f"Trump {DECK36.suit_words[trump]} ({DECK36.suits[trump]}), lowest dealt: {lowest}; {deck}."]
    lines.extend(_seat_line(state, other, seat) for other in range(int(state["seats"])))
    room = int(state["limit"]) - int(state["attacks"]).bit_count()
    lines.append(f"Attacks    {_or_dash(state, state['attacks'])} ({room} more at most)")
    lines.append(f"Beaten by  {_or_dash(state, state['beats'])}")
    if state["unbeaten"]:
        lines.append(f"Unbeaten   {_deck(state).names(state['unbeaten'])}")
    lines.append(f"Discarded  {_or_dash(state, state['discards'])}")
    lines.append(f"Your hand  {_or_dash(state, state['hands'][seat])}")
    return "\n".join(lines)


def zones(state, seat):
    deck, bottom = int(state["stock"]).bit_count(), int(state["bottom"])
    trump = f"trump {DECK36.suit_words[int(state['trump'])]}"
    unbeaten = dict.fromkeys(DECK52.listed(state["unbeaten"]), "unbeaten")
    return [
        *(STATE.hand_zone(state, other, seat, _seat_notes(state, other)) for other in range(int(state["seats"]))),
        Zone("Deck", bottom, hidden=deck, look="pile", note=trump),
        Zone("Attacks", int(state["attacks"]), marks=unbeaten),
        Zone("Beaten by", int(state["beats"])),
        Zone("Discarded", int(state["discards"]), look="pile", open=0),
    ]


def _seat_notes(state, other):
    """What everybody knows of a seat beside its cards, in words."""
    if not int(state["playing"]) >> other & 1:
        return "out"
    notes = ["attacker"] if other == int(state["attacker"]) else []
    if other == int(state["defender"]):
        notes.append("takes" if state["taking"] else "defender")
    if int(state["passed"]) >> other & 1:
        notes.append("passed")
    return ", ".join(notes)


def picks(state, move):
    card = _decided(state, move)[1]
    return 0 if card == NONE else 1 << card


def ending(state):
    names = {
        place: [f"p{seat}" for seat in range(int(state["seats"])) if int(state[place]) >> seat & 1]
        for place in ("playing", "leavers")
    }
    if names["playing"]:
        return f"{names['playing'][0]} is left with cards and is the durak."
    return f"Nobody has cards left: a draw between {' and '.join(names['leavers'])}."


TERMS = {
    "Durak": "Get rid of your cards: the last player who still holds any is the fool, and loses.",
    "attacks": "Lays a card before the defender, who must beat it or take.",
    "adds": "One more attack card, of a rank that is on the table.",
    "passes": "Adds nothing. When all attackers have passed and all is beaten, the bout is over.",
    "beats": "A higher card of the same suit beats a card, and a trump beats any card that is no trump.",
    "takes": "The defender picks up all cards on the table, and may not attack next.",
    "transfers": "A card of the same rank passes the attack on to the next player, before anything is beaten.",
    "shows": "The trump of the rank is shown, not played: that passes the attack on once in a bout.",
    "attacker": "The player who may attack first, or add a card now.",
    "defender": "The player who must beat the cards on the table or take them.",
    "passed": "This attacker has nothing to add for now.",
    "unbeaten": "This card is still to be beaten.",
    "trump": "Cards of this suit beat all cards of other suits.",
    "out": "Has no cards left and cannot lose any more. The last player with cards is the durak, the fool.",
    "Attacks": "The cards that the defender must beat.",
    "Beaten by": "The cards with which the defender has beaten attacks.",
    "Discarded": "Cards of earlier bouts that were all beaten. They are out of the game.",
    "Deck": "The cards left to draw. The card that lies face up is at the bottom: its suit is trump.",
}


def cards_alike(state):
    """5.4, 5.5: hidden cards that are as likely in each place: by whether they may have been dealt, and by suit."""
    trumps, everything = int(suit_cards(state["trump"])), (1 << _deck(state).size) - 1
    lowest = int(state["lowest_trump"])
    undealt = trumps & ((1 << lowest) - 1 if lowest != NONE else everything)
    limited = int(state["suit_limit"]) < HAND
    groups = [int(suit_cards(suit)) & everything for suit in range(4)] if limited else [everything]
    return [part for group in groups for part in (group & undealt, group & ~undealt) if part]


def _seat_line(state, other, seat):
    if not int(state["playing"]) >> other & 1:
        return f"p{other}  out" + (" (you)" if other == seat else "")
    size = int(state["hands"][other]).bit_count()
    notes = [f"{size} card{'s' if size != 1 else ''}"]
    if _seat_notes(state, other):
        notes.append(_seat_notes(state, other))
    if other != seat and state["known"][other]:
        notes.append(f"known: {_deck(state).names(state['known'][other])}")
    return f"p{other}  " + ", ".join(notes) + (" (you)" if other == seat else "")


def _or_dash(state, cards):
    return _deck(state).names(cards) or "-"
