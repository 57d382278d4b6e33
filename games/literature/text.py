"""Literature as text: moves in words, the game as one seat sees it, and the places of the cards."""

from cardai.game import Zone

from .deck import DECK, HALVES, NONE, SIX, card_of, cards_of
from .rules import ASK, CLAIM, EVEN, NO_CLAIM, NOBODY, ODD

NAMES = tuple(f"{part} {suit}" for part in ("low", "high") for suit in DECK.suit_words)


def spell(state, move):
    seat = (int(state["turn"]) + int(move["step"])) % int(state["seats"])
    if move["kind"] == ASK:
        return f"asks p{seat} for {DECK.name(move['what'])}"
    if move["kind"] == CLAIM:
        half, far = int(move["what"]), (int(state["turn"]) + 4) % int(state["seats"])
        return f"claims {NAMES[half]}{named(half, int(move['names']), far)}"
    return "no claim" if move["kind"] == NO_CLAIM else f"gives the turn to p{seat}"


def named(half, names, far):
    """The cards that a claim gives to seat `far`, the second teammate on the left, in words."""
    cards = [DECK.name(card) for i, card in enumerate(DECK.listed(cards_of(half))) if names >> i & 1]
    return f" with {' '.join(cards)} at p{far}" if cards else ""


def show(state, seat):
    lines = [headline(state), standing(state), *last_lines(state)]
    lines.extend(seat_line(state, other, seat) for other in range(int(state["seats"])))
    lines.append(f"Your hand  {by_half(int(state['hands'][seat])) or '-'}")
    return "\n".join(lines)


def headline(state):
    turn, mover = f"p{int(state['turn'])}", f"p{int(state['mover'])}"
    if state["turn"] < 0:
        what = f"The game is over; {mover} was the last mover"
    elif state["pending"] != NONE:
        what = f"{turn} has moved; {mover} was the mover"
    elif state["closer"] != NONE:
        what = f"A team has no cards, so {turn} claims all that is left; {mover} was the last mover"
    elif state["giving"]:
        what = f"{mover} is the mover, has no cards and chooses who goes on"
    elif state["window"] != NONE:
        what = f"{turn} may claim; {mover} is the mover"
    else:
        what = f"{mover} is the mover"
    return f"{what}. {int(state['asks'])} of at most {int(state['limit'])} asks."


def standing(state):
    even, odd, nobody = (listed(state["won"][place]) for place in (EVEN, ODD, NOBODY))
    lost = f"; nobody has {nobody}" if int(state["won"][NOBODY]) else ""
    return f"p0's team has {even}; p1's team has {odd}{lost}."


def last_lines(state):
    """The last ask and the last claim, in words."""
    lines = []
    if state["asker"] != NONE:
        answer = {NONE: "", 0: ": no", 1: ": yes"}[int(state["answer"])]
        lines.append(
            f"Last ask: p{int(state['asker'])} asked p{int(state['asked'])} for {DECK.name(state['card'])}{answer}."
        )
    if state["claimant"] != NONE:
        seat, half = int(state["claimant"]), int(state["claimed"])
        team = [place for place in (EVEN, ODD, NOBODY) if int(state["won"][place]) >> half & 1]
        result = "" if not team else ": right" if team[0] == seat % 2 else ": wrong"
        names = named(half, int(state["names"]), (seat + 4) % int(state["seats"]))
        lines.append(f"Last claim: p{seat} claimed {NAMES[half]}{names}{result}.")
    return lines


def listed(halves):
    """A set of half-suits in words, their number first."""
    names = names_in(halves)
    return f"{len(names)} ({', '.join(names)})" if names else "none"


def names_in(halves):
    """The names of a set of half-suits."""
    return [name for number, name in enumerate(NAMES) if int(halves) >> number & 1]


def seat_line(state, other, seat):
    size = int(state["hands"][other]).bit_count()
    notes = [f"{size} card{'' if size == 1 else 's'}"]
    if state["known"][other]:
        notes.append(f"shown {DECK.names(state['known'][other])}")
    if state["must"][other]:
        notes.append(f"has a hidden card of {', '.join(names_in(state['must'][other]))}")
    if state["lacks"][other]:
        notes.append(f"lacks {DECK.names(state['lacks'][other])}")
    return f"p{other}  " + "; ".join(notes) + (" (you)" if other == seat else "")


def by_half(hand):
    """The cards of a hand, half-suit by half-suit."""
    parts = [DECK.names(hand & cards_of(half)) for half in range(HALVES)]
    return " | ".join(part for part in parts if part)


def zones(state, seat):
    hands = [int(hand) for hand in state["hands"][: int(state["seats"])]]
    shown = [hand if other == seat else int(state["known"][other]) for other, hand in enumerate(hands)]
    unseen = in_halves(sum(hands) & ~sum(shown))
    lacking = {card: seats_lacking(state, card, seat) for card in unseen}
    return [
        *(
            Zone("Hand", in_halves(up), (hand & ~up).bit_count(), seat=other, look="fan", reminder=duty(state, other))
            for other, (hand, up) in enumerate(zip(hands, shown, strict=True))
        ),
        Zone("Not seen yet", unseen, open=0, marks={card: f"not {seats}" for card, seats in lacking.items() if seats}),
        *(
            Zone(f"Claimed by {whom}", 0, SIX * int(won).bit_count(), look="pile", note=listed(won))
            for whom, won in zip(("p0's team", "p1's team", "nobody"), state["won"], strict=True)
            if won or whom != "nobody"
        ),
    ]


def in_halves(cards):
    """A set of cards as a list, half-suit by half-suit."""
    return [card for half in range(HALVES) for card in DECK.listed(cards & cards_of(half))]


def seats_lacking(state, card, seat):
    """5.1: the seats beside `seat` of which everybody knows that they do not have a card, in words."""
    others = [other for other in range(int(state["seats"])) if other != seat]
    return " ".join(f"p{other}" for other in others if int(state["lacks"][other]) >> card & 1)


def duty(state, other):
    """5.1: the half-suits of which everybody knows that a seat has a card that has not been shown, in words."""
    return f"hides a card of {', '.join(names_in(state['must'][other]))}" if state["must"][other] else ""


def picks(state, move):
    """The card asked for; of a claim with six seats, the cards that it gives to the second teammate on the left."""
    if move["kind"] == ASK:
        return 1 << int(move["what"])
    return sum(1 << card_of(int(move["what"]), i) for i in range(SIX) if int(move["names"]) >> i & 1)


def ending(state):
    even, odd = (int(state["won"][team]).bit_count() for team in (EVEN, ODD))
    result = f"p0's team has {even} half-suit{'' if even == 1 else 's'}, p1's team {odd}"
    if even + odd + int(state["won"][NOBODY]).bit_count() < HALVES:
        return f"Not over after {int(state['asks'])} asks: a tie. {result}."
    if even == odd:
        return f"{result}: a tie."
    team = EVEN if even > odd else ODD
    winners = [f"p{seat}" for seat in range(team, int(state["seats"]), 2)]
    return f"{result}: {', '.join(winners[:-1])} and {winners[-1]} win."


def led_to(before, after):
    """2.2, 3.2: whether the card was given, and who has a half-suit that was claimed."""
    if int(after["asks"]) > int(before["asks"]):
        return f"p{int(after['asked'])} gives it" if after["answer"] == 1 else "no"
    for place, whose in ((EVEN, "p0's team has"), (ODD, "p1's team has"), (NOBODY, "nobody gets")):
        if int(after["won"][place]) != int(before["won"][place]):
            right = place == int(before["turn"]) % 2
            return f"{'right' if right else 'wrong'}, {whose} it"
    return ""


TERMS = {
    "Literature": "Two teams collect half-suits of six cards: ask opponents for cards until your team has all six, then"
    " claim.",
    "asks": "You ask an opponent for a card of a half-suit of which you hold another one. If they have it, you get it"
    " and go on; if not, it is their turn.",
    "claims": "Your team holds all six cards of a half-suit, and you say who holds which. All six leave the game.",
    "no claim": "You can prove no half-suit for your team now.",
    "gives the turn": "You have no cards left, so a teammate goes on.",
    "half-suit": "Six cards of a suit: A 2 3 4 5 6 are the low ones, 8 9 10 J Q K the high ones. There are no sevens.",
    "low": "The low half-suit of a suit: A 2 3 4 5 6.",
    "high": "The high half-suit of a suit: 8 9 10 J Q K. There are no sevens.",
    "hides a card of": "This player has asked for such a card, so holds another card of that half-suit.",
    "shown": "A card that everybody has seen go to this player.",
    "Not seen yet": "Cards that nobody has shown. Below each is who cannot have it, as everybody knows.",
    "Claimed by": "The half-suits that a team has won. The team with more of the eight wins.",
    "partner": "You play together: what either of you wins counts for both.",
}


def cards_alike(state):
    """2.1: hidden cards that are as likely in each place: who asks for a card has another one of its half-suit."""
    return [cards_of(half) for half in range(HALVES)]


def holdings(state):
    """The sets of cards in every place: each hand, and the half-suits of each team and of nobody."""
    claimed = [sum(cards_of(half) for half in range(HALVES) if int(won) >> half & 1) for won in state["won"]]
    return [*map(int, state["hands"]), *claimed]
