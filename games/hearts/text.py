"""Hearts as text: moves in words and back, the round as one seat sees it, and the places of the cards."""

import numpy as np

from cardai.game import Zone
from cardai.rules.cards import DECK52

from .rules import (
    AIM_ROUND,
    ALL_POINTS,
    JACK_OF_DIAMONDS,
    MOON_NOTHING,
    MOVE,
    NONE,
    PASS,
    POINT_CARDS,
    SEATS,
    fewest_points,
    penalty,
)
from .worlds import known_to

DIRECTIONS = ("to nobody", "to the left", "across", "to the right")
PASSING = ("pass", "passes")
PLAYING = ("play", "plays", "lead", "leads", "discard", "discards")


def spell(state, move):
    card = DECK52.name(move["card"])
    if state["leader"] == NONE:
        return f"passes {card}"
    led = int(state["table"][state["leader"]])
    if led == NONE:
        return f"leads {card}"
    return f"plays {card}" if int(move["card"]) & 3 == led & 3 else f"discards {card}"


def parse(state, text):
    words = text.split()
    verbs = PASSING if state["leader"] == NONE else PLAYING
    if len(words) == 2 and words[0].lower() in verbs:
        words = words[1:]
    if len(words) != 1:
        raise ValueError(f"{text.strip()!r} is no move here; try: {verbs[1]} QS, or QS")
    move = np.zeros(1, MOVE.dtype)[0]
    move["card"] = DECK52.card(words[0])
    return move


def tell(state, move, seat):
    return spell(state, move) if state["leader"] != NONE else "passes a card"


def show(state, seat):
    lines = [headline(state)]
    lines.extend(seat_line(state, other, seat) for other in range(SEATS))
    lines.extend(exchange_lines(state, seat))
    chosen = int(state["passed"][seat]) if state["leader"] == NONE else 0
    lines.append(f"Your hand  {by_suit(int(state['hands'][seat]) & ~chosen)}")
    return "\n".join(lines)


def headline(state):
    if state["turn"] < 0:
        return "The game is over."
    match = f"Round {int(state['rounds']) + 1} of a match to {int(state['limit'])} points. " if state["limit"] else ""
    if state["leader"] == NONE:
        return f"{match}Each player passes {PASS} cards {DIRECTIONS[int(state['direction'])]}."
    hearts = "broken" if state["broken"] else "not broken"
    trick = int(sum(state["tricks"])) + 1
    return f"{match}Trick {trick}, p{int(state['leader'])} leads; hearts are {hearts}."


def seat_line(state, other, seat):
    notes = [counted(int(state["hands"][other]).bit_count(), "card")]
    if state["leader"] == NONE:
        notes.append(f"has chosen {int(state['passed'][other]).bit_count()} of {PASS}")
    if state["leader"] != NONE:
        notes.append(counted(int(state["tricks"][other]), "trick"))
        notes.append(counted(penalty(state["taken"][other]), "point") + taken_cards(state, other))
    if state["limit"]:
        notes.append(f"{int(state['totals'][other])} in all")
    if state["table"][other] != NONE:
        notes.append(f"on the table {DECK52.name(state['table'][other])}")
    if known_to(state, seat, other):
        notes.append(f"holds {DECK52.names(known_to(state, seat, other))}")
    if state["lacks"][other] and state["hands"][other]:
        notes.append(f"has no {lacking(int(state['lacks'][other]))}")
    return f"p{other}  " + ", ".join(notes) + (" (you)" if other == seat else "")


def taken_cards(state, seat):
    """The cards that count among those a seat has taken, in brackets."""
    counting = POINT_CARDS | (1 << JACK_OF_DIAMONDS if state["jack"] else 0)
    cards = DECK52.names(int(state["taken"][seat]) & counting)
    return f" ({cards})" if cards else ""


def lacking(cards):
    """The suits of which everybody knows that a seat has none; "spades but the queen" if it may hold that one."""
    names = []
    for number, name in enumerate(DECK52.suit_words):
        missing = [card for card in DECK52.listed(cards) if card & 3 == number]
        if len(missing) == 13:
            names.append(name)
        elif missing:
            names.append(f"{name} but QS")
    return ", ".join(names)


def exchange_lines(state, seat):
    """What the seat passed on and was passed, as far as it knows."""
    lines, direction = [], int(state["direction"])
    if not direction or not state["passed"][seat]:
        return lines
    receiver, giver = (seat + direction) % SEATS, (seat - direction) % SEATS
    verb = "pass  " if state["leader"] == NONE else "passed"
    lines.append(f"You {verb} {DECK52.names(state['passed'][seat])} to p{receiver}")
    if state["leader"] != NONE:
        lines.append(f"You got    {DECK52.names(state['passed'][giver])} from p{giver}")
    return lines


def by_suit(cards):
    """The cards of a hand, suit by suit, the lowest first."""
    suits = [DECK52.names(int(cards) & 0x1111111111111 << number) for number in range(4)]
    return " | ".join(names for names in suits if names) or "-"


def zones(state, seat):
    order = [(int(state["leader"]) + step) % SEATS for step in range(SEATS)]
    trick = [] if state["leader"] == NONE else [(int(state["table"][s]), s) for s in order if state["table"][s] != NONE]
    chosen = int(state["passed"][seat]) if state["leader"] == NONE else 0
    direction = DIRECTIONS[int(state["direction"])]
    passing = [Zone("You pass", chosen, seat=seat, note=direction)] if state["leader"] == NONE else []
    return [
        *(zone for other in range(SEATS) for zone in seat_zones(state, other, seat, chosen)),
        *passing,
        Zone("Trick", [card for card, _ in trick], marks={card: f"p{other}" for card, other in trick}),
    ]


def seat_zones(state, other, seat, chosen):
    """The hand of a seat, of which `chosen` cards lie elsewhere, and the tricks it has taken: those that count."""
    hand, taken = int(state["hands"][other]), int(state["taken"][other])
    shown = hand & ~chosen if other == seat else int(known_to(state, seat, other))
    left = 0 if other == seat else hand.bit_count() - shown.bit_count()
    choosing = state["leader"] == NONE and state["turn"] >= 0
    note = f"{int(state['passed'][other]).bit_count()} of {PASS} chosen" if choosing else ""
    counting = taken & (POINT_CARDS | (1 << JACK_OF_DIAMONDS if state["jack"] else 0))
    points, total = counted(penalty(taken), "point"), int(state["totals"][other])
    before = ""
    if state["limit"] and state["turn"] >= 0:  # totals have the rounds that are over
        before, points = f"{total} before", f"{points} this round"
    elif state["limit"]:
        points = f"{points} in the last round, {total} in all"
    return [
        Zone("Hand", in_suits(shown), hidden=left, seat=other, look="fan", note=note),
        Zone("Won", counting, (taken & ~counting).bit_count(), other, "pile", note=before, open=0, reminder=points),
    ]


def in_suits(cards):
    """A set of cards as a list, suit by suit, the lowest first."""
    return [card for number in range(4) for card in DECK52.listed(cards & 0x1111111111111 << number)]


def ending(state):
    totals = [int(points) for points in state["totals"]]
    points = ", ".join(f"p{seat} has {points}" for seat, points in enumerate(totals))
    shot = [seat for seat in range(SEATS) if int(state["taken"][seat]) & POINT_CARDS == POINT_CARDS]
    moon = f"p{shot[0]} shot the moon. " if shot and state["moon"] != MOON_NOTHING else ""
    if not state["limit"]:
        return f"{moon}Points: {points}."
    rounds = f"{moon}Points after {counted(int(state['rounds']), 'round')}: {points}"
    if state["aim"] == AIM_ROUND and max(totals) < state["limit"]:
        return f"{rounds}."
    winners = [f"p{seat}" for seat in range(SEATS) if totals[seat] == min(totals)]
    wins = f"{winners[0]} wins" if len(winners) == 1 else f"{', '.join(winners[:-1])} and {winners[-1]} share the win"
    return f"{rounds}; {wins}."


def led_to(before, after):
    """Who takes a trick, and what a round of a match has cost each seat."""
    if int(before["rounds"]) != int(after["rounds"]):
        gained = [f"p{seat} {round_points}" for seat, round_points in enumerate(after["totals"] - before["totals"])]
        return f"the round is over: {', '.join(gained)}"
    taker = next((seat for seat in range(SEATS) if after["tricks"][seat] > before["tricks"][seat]), None)
    if taker is None:
        return ""
    points = penalty(int(after["taken"][taker]) & ~int(before["taken"][taker]))
    return f"p{taker} takes the trick" + (f" with {counted(points, 'point')}" if points else "")


def rounds(state):
    """5.1: the rounds of a match that are over, and the points in them; None for a game of one round."""
    return (int(state["rounds"]), state["totals"].tolist()) if state["limit"] else None


def series(state):
    """2.1: the cards that the seat to move still passes."""
    return PASS - int(state["passed"][state["turn"]]).bit_count() if state["leader"] == NONE else 1


TERMS = {
    "Hearts": "Take few points. Each heart taken is one, the queen of spades thirteen.",
    "passes": "Three cards go to another player before the round; you see what you get when everybody has passed.",
    "leads": "The first card of a trick: the others must play a card of its suit if they have one.",
    "plays": "A card of the suit that was led; the highest card of that suit takes the trick.",
    "discards": "You have no card of the suit that was led, so you may play any card; it cannot take the trick.",
    "Trick": "One card from each player. Whoever played the highest card of the suit led takes them and leads next.",
    "Won": "The cards of tricks that count: a heart is one point, the queen of spades thirteen. Few points are good.",
    "point": "Each heart you take is one point, the queen of spades thirteen. The fewest points win.",
    "broken": "Hearts may be led once a heart has been played (hearts are broken).",
    "shot the moon": "Whoever takes all 26 points has none, and everybody else has 26.",
}


def whole(state):
    """What a score of 1 is in the game's own unit: points in one round, the win in a match."""
    if state["limit"]:
        return 100.0, "percentage points of the win"
    return float(ALL_POINTS - fewest_points(state)), "points"


def counted(number, noun):
    """A number of things in words: "1 trick", "2 tricks"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
