"""Durak as text: moves in words and back, the table as one seat sees it, and the places of the cards."""

import numpy as np

from cardai.cards import DECK36, DECK52, suit_cards
from cardai.game import Zone

from .rules import HAND, MOVE, NONE, SHOWN, STATE, WHOLE_DECK, number_of_showing


def _deck(state):
    """The names of the cards, from the six on or from the two on (1.1)."""
    return DECK52 if int(state["cards"]) == WHOLE_DECK else DECK36


def _no_card(state):
    """The move that plays no card (`rules.no_card`)."""
    return _deck(state).size


def spell(state, move):
    card = int(move["card"])
    defends = int(state["turn"]) == int(state["defender"])
    if card == _no_card(state):
        return "takes" if defends else "passes"
    if card == _showing(state):
        return f"shows {_deck(state).name(_trump_of_rank(state))}"
    transferred = _transferred(state, card) if defends else None
    if transferred is not None:
        return f"transfers with {_deck(state).name(transferred)}"
    if defends:
        return f"beats {_to_beat(state)} with {_deck(state).name(card)}"
    return f"{'adds' if state['attacks'] else 'attacks'} {_deck(state).name(card)}"


def parse(state, text):
    words = text.split()
    verb = words[0].lower() if words else ""
    defends = int(state["turn"]) == int(state["defender"])
    move = np.zeros(1, MOVE)[0]
    if verb in (("take", "takes") if defends else ("pass", "passes")) and len(words) == 1:
        move["card"] = _no_card(state)
    elif defends and verb in ("beat", "beats") and len(words) in (3, 4) and words[-2].lower() == "with":
        if len(words) == 4 and _deck(state).card(words[1]) != _deck(state).card(_to_beat(state)):
            raise ValueError(f"{words[1]} is not what is to be beaten, {_to_beat(state)} is")
        move["card"] = _deck(state).card(words[-1])
    elif defends and verb in ("transfer", "transfers") and len(words) == 3 and words[1].lower() == "with":
        move["card"] = _transferring(state, _deck(state).card(words[-1]))
    elif defends and verb in ("show", "shows") and len(words) == 2 and _showing(state) is not None:
        if _deck(state).card(words[1]) != _trump_of_rank(state):
            raise ValueError(
                f"{words[1]} is not {_deck(state).name(_trump_of_rank(state))}, the trump that may be shown"
            )
        move["card"] = _showing(state)
    elif not defends and verb in ("attack", "attacks", "add", "adds") and len(words) == 2:
        move["card"] = _deck(state).card(words[1])
    else:
        known = "takes, beats 6S with 9S, beats with 9S" if defends else "passes, attacks 6S, adds 6S"
        known += ", transfers with 6S" if defends and state["transfer"] else ""
        known += ", shows 6S" if defends and _showing(state) is not None else ""
        raise ValueError(f"{text.strip()!r} is no move here; try: {known}")
    return move


def _to_beat(state):
    """The name of the attack card that is to be beaten next."""
    return _deck(state).name(_deck(state).listed(state["unbeaten"])[0])


def _showing(state):
    """The move that shows the trump of the rank (2.7); None if there is none."""
    if not state["transferable"] & SHOWN:
        return None
    return int(number_of_showing(DECK52.listed(state["attacks"])[0], int(state["trump"])))


def _trump_of_rank(state):
    """The trump of the rank of the attack cards."""
    return DECK52.listed(state["attacks"])[0] & ~3 | int(state["trump"])


def _transferred(state, card):
    """The card with which a move of the defender transfers the attack; None if it beats."""
    first, trump = DECK52.listed(state["attacks"])[0], int(state["trump"])
    if state["beats"] or card >> 2 != first >> 2:
        return None
    if card == first:
        return (card & ~3) + trump
    return None if card & 3 == trump else card


def _transferring(state, card):
    """The number of the move that transfers with a card (`rules.transfers`)."""
    table = DECK52.listed(state["attacks"])
    if card >> 2 != table[0] >> 2:
        raise ValueError(f"{_deck(state).name(card)} has not the rank of {_to_beat(state)}, which is to be transferred")
    return table[0] if card & 3 == int(state["trump"]) else card


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
    card = int(move["card"])
    if card == _no_card(state):
        return 0
    if card == _showing(state):
        return 1 << _trump_of_rank(state)
    transferred = _transferred(state, card) if int(state["turn"]) == int(state["defender"]) else None
    return 1 << (card if transferred is None else transferred)


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
