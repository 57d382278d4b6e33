"""Hand-written Literature players, and a hand-written evaluation. They look at nothing hidden. Numbers: RULES.md.

All of them claim by the proofs of rule 3.4, also where the rules do not ask for one.
"""

import numpy as np

from cardai.game import Player
from cardai.rules import below, rule
from cardai.rules.cards import count, has, lowest, single

from .deck import CARDS, HALVES, NONE, SIX, card_of, cards_of, half_of
from .encode import card_chances
from .proof import FOUR_LEFT, TWO_LEFT, fitting_claims, live, proven_claims, room, shown
from .rules import ASK, CLAIM, GIVE, NO_CLAIM, may_ask_for

LATE = 30  # so many asks before the game is cut, `keeper` no longer waits


@rule
def set_move(move, kind, what, step, names):
    move.kind = kind
    move.what = what
    move.step = step
    move.names = names


@rule
def claim_proven(world, move):
    """Fill in the first proven claim. Returns whether there is one; there is none while the turn is given away."""
    if world.giving != 0:
        return False
    names = np.empty(HALVES, np.int64)
    proven_claims(world, world.turn, names)
    for half in range(HALVES):
        if names[half] != NONE:
            set_move(move, CLAIM, half, 0, names[half])
            return True
    return False


@rule
def claim_fitting(world, move):
    """4.1: fill in the first claim of a live half-suit that is not seen to be false."""
    names = np.empty(single(SIX), np.int64)
    for half in range(HALVES):
        if has(live(world), half) and fitting_claims(world, world.turn, half, names) > 0:
            set_move(move, CLAIM, half, 0, names[0])
            return


@rule
def must_not_ask(world, move, stream):
    """Fill in the move where no question can be asked: a claim of all that is live, no claim, or a gift of the turn."""
    if world.giving != 0:
        set_move(move, GIVE, 0, any_helper(world, stream), 0)
    elif world.closer != NONE:
        claim_fitting(world, move)
    elif world.window != NONE:
        set_move(move, NO_CLAIM, 0, 0, 0)
    else:
        return False
    return True


@rule
def any_helper(world, stream):
    """3.6: how far to the left a teammate with cards sits; each is as likely."""
    near = count(world.hands[(world.turn + TWO_LEFT) % world.seats]) > 0
    far = count(world.hands[(world.turn + FOUR_LEFT) % world.seats]) > 0
    if near and far:
        return TWO_LEFT * (1 + below(stream, 2))
    return TWO_LEFT if near else FOUR_LEFT


@rule
def may_have(world, seat, cards):
    """Which of some cards, none of them in the own hand, a seat may have as far as everybody knows (5.1)."""
    hidden = ~shown(world) & ~world.lacks[seat] if room(world, seat) > 0 else 0
    return cards & (world.known[seat] | hidden)


@rule
def ask_evenly(world, move, stream, plausible):
    """Fill in any ask, each as likely; with `plausible` only asks that may succeed, if there are any."""
    total = askable(world, plausible)
    plausible = plausible and total > 0
    drawn = below(stream, total if plausible else askable(world, False))
    for step in range(1, world.seats, 2):
        rest = cards_to_ask(world, step, plausible)
        while rest != 0:
            if drawn == 0:
                set_move(move, ASK, lowest(rest), step, 0)
            drawn -= 1
            rest &= rest - 1


@rule
def askable(world, plausible):
    """How many asks there are."""
    total = 0
    for step in range(1, world.seats, 2):
        total += count(cards_to_ask(world, step, plausible))
    return total


@rule
def cards_to_ask(world, step, plausible):
    """The cards that the mover may ask an opponent for (2.1); with `plausible` those that it may have."""
    other, cards = (world.turn + step) % world.seats, may_ask_for(world, world.turn)
    if world.hands[other] == 0:
        return 0
    return may_have(world, other, cards) if plausible else cards


@rule
def choose_plausible(world, move, params, stream):
    """Claim what is proven; else ask any question that may be answered with yes."""
    if claim_proven(world, move) or must_not_ask(world, move, stream):
        return
    ask_evenly(world, move, stream, True)


@rule
def choose_forgetful(world, move, params, stream):
    """Remember only the last question: ask a card back that has just been taken, else ask for anything."""
    if claim_proven(world, move) or must_not_ask(world, move, stream):
        return
    seat = world.turn
    ask_evenly(world, move, stream, False)
    if world.asked == seat and world.card != NONE:
        taken = single(world.card) if world.answer == 1 else 0
        if taken & may_ask_for(world, seat) != 0 and world.hands[world.asker] != 0:
            set_move(move, ASK, world.card, (world.asker - seat) % world.seats, 0)


@rule
def known_of_team(world, seat, half):
    """How many cards of a half-suit the seat knows to be in its team."""
    number = count(world.hands[seat] & cards_of(half))
    for step in range(TWO_LEFT, world.seats, 2):
        number += count(world.known[(seat + step) % world.seats] & cards_of(half))
    return number


@rule
def choose_logic(world, move, params, stream):
    """Claim what is proven; else ask the question with the greatest chance of a yes."""
    if claim_proven(world, move) or must_not_ask(world, move, stream):
        return
    ask_well(world, move, np.zeros(5))


@rule
def ask_well(world, move, weights):
    """Fill in the ask with the greatest chance of a yes plus `weights` of what else speaks for it; returns the chance.

    Among equals it is of the half-suit of which the team is known to have most. In this order, each from 0 to 1: how
    much of the half-suit the team is known to have; how open the answer is; that everybody learns of a half-suit that
    the asker has cards of it; if the answer is no, how many cards of the team the one asked knows and may ask for; that
    all cards of the half-suit would be in the team.
    """
    seat, chances = world.turn, np.empty((world.seats, CARDS))
    card_chances(world, seat, chances)
    best, held, likely = -1e9, -1, -1.0
    for step in range(1, world.seats, 2):
        other, rest = (seat + step) % world.seats, may_ask_for(world, seat)
        if world.hands[other] == 0:
            continue
        danger = exposed_to(world, other) if weights[3] != 0.0 else 0.0
        while rest != 0:
            card = lowest(rest)
            rest &= rest - 1
            chance, half = chances[other, card], half_of(card)
            own = known_of_team(world, seat, half)
            told = not has(world.must[seat], half) and world.known[seat] & cards_of(half) == 0
            worth = chance + weights[0] * own / SIX + weights[1] * 4.0 * chance * (1.0 - chance)
            worth += weights[2] * told + weights[3] * (1.0 - chance) * danger
            worth += weights[4] * chance * (own == SIX - 1)
            if worth > best + 1e-9 or (worth > best - 1e-9 and own > held):
                best, held, likely = worth, own, chance
                set_move(move, ASK, card, step, 0)
    return likely


@rule
def exposed_to(world, seat):
    """Which part of a half-suit's six cards a seat could take by questions that are surely answered with yes, 0 to 1.

    They are cards of the other team that have been shown, of half-suits of which the seat is known to have one.
    """
    number = 0
    for half in range(HALVES):
        if has(world.must[seat], half) or world.known[seat] & cards_of(half) != 0:
            for step in range(1, world.seats, 2):
                number += count(world.known[(seat + step) % world.seats] & cards_of(half))
    return min(1.0, number / SIX)


@rule
def choose_keeper(world, move, params, stream):
    """As `logic`, but claim late: nobody can take a card of a half-suit that is all in one team.

    A claim out of turn takes the turn from an opponent (3.5). On turn, a claim waits for want of a likely question.
    It does not wait any more when the game will soon be cut.
    """
    is_proven = claim_proven(world, move)
    waits = world.closer == NONE and world.giving == 0 and world.asks + LATE < world.limit
    if is_proven and not waits:
        return
    if is_proven and world.window != NONE:
        if (world.mover - world.turn) % 2 == 0:
            set_move(move, NO_CLAIM, 0, 0, 0)
        return
    if is_proven:
        half, names = move.what, move.names
        if may_ask_for(world, world.turn) == 0 or ask_well(world, move, params[1:]) < params[0]:
            set_move(move, CLAIM, half, 0, names)
        return
    if not must_not_ask(world, move, stream):
        ask_well(world, move, params[1:])


@rule
def share(state, seat):
    """The half-suits that the team has, and of each live one the part of its cards that the team may expect: 0 to 1."""
    chances = np.empty((state.seats, CARDS))
    card_chances(state, seat, chances)
    value, rest = 1.0 * count(state.won[seat % 2]), live(state)
    while rest != 0:
        half = lowest(rest)
        rest &= rest - 1
        for i in range(SIX):
            for other in range(seat % 2, state.seats, 2):
                value += chances[other, card_of(half, i)] / SIX
    return value / HALVES


TUNED = {"ask_at": 0.14, "held": 0.7, "open": 0.0, "tell": 0.25, "danger": -1.0, "last": 0.35}
"""Parameters of `keeper`, found by `cardai tune` against `logic` (docs/literature.md)."""

PLAYERS = {
    "plausible": Player(
        choose_plausible,
        about="claims what is proven, else asks anything that may be answered with yes",
        sees="own",
    ),
    "logic": Player(
        choose_logic,
        about="claims what is proven, else asks what is most likely answered with yes, by exact chances",
        sees="own",
    ),
    "forgetful": Player(
        choose_forgetful, about="claims what is proven, asks a taken card back, else asks anything", sees="own"
    ),
    "keeper": Player(
        choose_keeper,
        about="logic that keeps proven half-suits until a claim wins the turn",
        defaults=TUNED,
        sees="own",
    ),
}
