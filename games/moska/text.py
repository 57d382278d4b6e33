"""Moska as text: moves in words and back, the table as one seat sees it, and the places of the cards."""

import numpy as np

from cardai.game import Zone
from cardai.rules.cards import DECK52

from .rules import ATTACK, END, KILL, KILL_TURNED, MOVE, NONE, OPEN, SELF, SKIP, STATE, TURN

VERBS = {"end": END, "open": OPEN, "attack": ATTACK, "play": SELF, "self": SELF}
VERBS |= {"kill": KILL, "turn": TURN, "skip": SKIP}
FILLERS = ("pick", "picks", "and", "to", "himself", "self", "myself")  # words that a move may have beside its cards


def spell(state, move):
    return "ends" if move["kind"] == END and not move["cards"] else MOVE.spelled(STATE, move)


def parse(state, text):
    words = text.replace(",", " ").lower().split()
    kind = VERBS.get(words[0].removesuffix("s")) if words else None
    if kind is None:
        raise ValueError(
            f"{text.strip()!r} is no move; try: skip, attack 6S 6H, kill 6S with 9S, turn, end, end picks 6S"
        )
    if kind == KILL and "with" not in words:
        raise ValueError("a kill names the cards that kill: kill 6S with 9S")
    killed, played = [], [word for word in words[1:] if word not in FILLERS]
    if kind == KILL:
        at = played.index("with")
        killed, played = played[:at], played[at + 1 :]
        if played[:1] == ["turned"]:
            kind, played = KILL_TURNED, played[1:]
    if kind in (TURN, SKIP):
        played = []
    move = np.zeros(1, MOVE.dtype)[0]
    move["kind"] = kind
    move["cards"], move["targets"] = DECK52.cards(" ".join(played)), DECK52.cards(" ".join(killed))
    return move


def show(state, seat):
    trump = int(state["trump"])
    bottom = f", {DECK52.name(state['trump_card'])} at the bottom" if state["deck_left"] else ""
    deck = f"{int(state['deck_left'])} cards in the deck{bottom}"
    lines = [f"Trump {DECK52.suit_words[trump]} ({DECK52.suits[trump]}); {deck}."]
    for other in range(int(state["seats"])):
        lines.append(_seat_line(state, other, seat))
    lines.append(f"Table   {_or_dash(state['table'])}" + (" (a deck card bars the deck)" if state["barring"] else ""))
    lines.append(f"Killed  {_or_dash(state['killed'])}")
    if state["turned"] != NONE:
        lines.append(f"Turned  {DECK52.name(state['turned'])}")
    lines.append(f"Your hand  {_or_dash(state['hands'][seat])}")
    return "\n".join(lines)


def zones(state, seat):
    left, turned = int(state["deck_left"]), int(state["turned"])
    trump = f"trump {DECK52.suit_words[int(state['trump'])]}"
    barring = dict.fromkeys(DECK52.listed(state["barring"]), "bars the deck")
    return [
        *(STATE.hand_zone(state, other, seat, _seat_notes(state, other)) for other in range(int(state["seats"]))),
        Zone("Deck", [int(state["trump_card"])] if left else [], hidden=max(left - 1, 0), look="pile", note=trump),
        Zone("Table", int(state["table"]), marks=barring),
        Zone("Turned", [] if turned == NONE else [turned]),
        Zone("Killed", int(state["killed"]), look="pile"),
    ]


def _seat_notes(state, other):
    """What everybody knows of a seat beside its cards, in words."""
    if not int(state["playing"]) >> other & 1:
        return "out"
    notes = ["target"] if other == int(state["target"]) else []
    if int(state["ready"]) >> other & 1:
        notes.append("ready")
    return ", ".join(notes)


def ending(state):
    (loser,) = (seat for seat in range(int(state["seats"])) if int(state["playing"]) >> seat & 1)
    return f"p{loser} is left with cards and loses."


def led_to(before, after):
    """3.2, 4.2: the card that was turned up, and what is taken up at the end of a bout."""
    if after["turned"] != NONE and before["turned"] == NONE:
        return f"{DECK52.name(after['turned'])} is turned up"
    barring = int(after["barring"]) & ~int(before["barring"])
    return f"{DECK52.names(barring)} comes, kills nothing and bars the deck" if barring else ""


TERMS = {
    "Moska": "Get rid of your cards: the last player who still holds any loses.",
    "opens": "The first attack of a bout: one card, or several of which each rank occurs at least twice.",
    "attacks": "Lays more cards before the target, of ranks that are in the bout already; then draws up to six.",
    "plays": "The target attacks itself with cards of ranks that are in the bout, to be rid of them.",
    "kills": "A higher card of the same suit kills a card, and a trump kills any card that is no trump.",
    "turns the deck": "The target lets the top card of the deck fight: it must kill a card if it can, or else stays.",
    "skips": "Plays nothing now, and is ready. Once all attackers are ready, the target ends the bout.",
    "ends": "The bout is over. The target picks up the cards not killed, or all, draws up to six, and loses its turn"
    " to attack if it picked up any.",
    "target": "The player who is attacked and must kill the cards on the table or pick them up.",
    "ready": "This attacker has nothing to add for now. When all are ready, the target may end the bout.",
    "bars the deck": "Turned from the deck and not killed yet: until it is, the deck may not be turned again.",
    "trump": "Cards of this suit kill all cards of other suits.",
    "out": "Has no cards left and cannot lose any more. The last player with cards loses.",
    "Table": "The cards that are not killed yet.",
    "Turned": "The card that the target has turned up: it must kill with it now.",
    "Killed": "Killed cards, and those that killed them. They leave the game at the end of the bout unless picked up.",
    "Deck": "The cards left to draw. The card that lies face up is at the bottom: its suit is trump.",
}


def _seat_line(state, other, seat):
    if not int(state["playing"]) >> other & 1:
        return f"p{other}  out"
    size = int(state["hands"][other]).bit_count()
    notes = [f"{size} card{'s' if size != 1 else ''}"]
    if _seat_notes(state, other):
        notes.append(_seat_notes(state, other))
    if other != seat and state["known"][other]:
        notes.append(f"known: {DECK52.names(state['known'][other])}")
    return f"p{other}  " + ", ".join(notes) + (" (you)" if other == seat else "")


def _or_dash(cards):
    return DECK52.names(cards) or "-"
