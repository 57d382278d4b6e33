"""Hand-written Durak players: the report's two, one that keeps accounts, and a hand-written evaluation.

A card's *price* is what it is worth to keep: its rank, 0 to 8, and more for a trump.
"""

from cardai.cards import count, has, lowest, rank, ranks_of, same_rank, single, suit, suit_cards
from cardai.game import Player
from cardai.rule import rule

from .rules import DECK, HAND, NO_CARD, choices, deck_left

CARDS = (1 << DECK) - 1
MIDDLE = 4.0  # the mean rank
TRUMP_PRICE = 13.0
BURDEN = 6.0  # what a card too many weighs while there is a deck
LAST_BURDEN = 30.0  # and what any card weighs without one
TEMPO = 10.0  # what the attack is worth that is lost by taking


@rule
def weakest(cards, trump):
    """The weakest card of a set that is not empty: no trump before a trump, then the lowest rank."""
    plain = cards & ~suit_cards(trump)
    return lowest(plain if plain != 0 else cards)


@rule
def strongest_plain(cards, trump):
    """The highest card of a set that is no trump, of several the first suit; the weakest trump if all are trumps."""
    plain = cards & ~suit_cards(trump)
    if plain == 0:
        return lowest(cards)
    best = lowest(plain)
    while plain != 0:
        if rank(lowest(plain)) > rank(best):
            best = lowest(plain)
        plain &= plain - 1
    return best


@rule
def choose_defensive(world, move, params, stream):
    """Always the weakest card."""
    cards = choices(world, world.turn) & CARDS
    move.card = weakest(cards, world.trump) if cards != 0 else NO_CARD


@rule
def choose_aggressive(world, move, params, stream):
    """Attacks with the strongest plain card, otherwise as the defensive player."""
    cards = choices(world, world.turn) & CARDS
    if cards == 0:
        move.card = NO_CARD
    elif world.turn == world.defender:
        move.card = weakest(cards, world.trump)
    else:
        move.card = strongest_plain(cards, world.trump)


@rule
def price(card, trump, trump_price):
    """What a card is worth to keep."""
    return rank(card) + (trump_price if suit(card) == trump else 0.0)


@rule
def price_of(cards, trump, trump_price):
    """The summed price of a set."""
    total = 0.0
    while cards != 0:
        total += price(lowest(cards), trump, trump_price)
        cards &= cards - 1
    return total


@rule
def mean_price_of_unseen(world, seat, trump_price):
    """The mean price of the cards that `seat` cannot place: what a card still to be drawn is worth."""
    unseen = CARDS & ~(world.hands[seat] | world.discards | world.attacks | world.beats)
    for other in range(world.seats):
        unseen &= ~world.known[other]
    return price_of(unseen, world.trump, trump_price) / count(unseen) if unseen != 0 else MIDDLE


# The thrifty player spends a card where that costs less than keeping it.

WEIGHTS = {
    "trump": 13.0,  # the price of a trump above its rank
    "pair": 0.5,  # opening: how much cheaper a card is for each other one of its rank in hand
    "add": 4.5,  # adds cards that are dearer than the mean by less than this, while there is a deck
    "give": -1.0,  # the same towards a defender who takes
    "matched": 3.0,  # beating: how much cheaper a card is whose rank is on the table
    "burden": 2.0,  # what each card picked up weighs, while there is a deck
    "tempo": 30.0,  # what the attack is worth that is lost by taking, while there is a deck
    "last": 14.0,  # what burden and tempo grow by when the deck is empty
}


@rule
def choose_thrifty(world, move, params, stream):
    seat, trump = world.turn, world.trump
    cards = choices(world, seat)
    may_decline = has(cards, NO_CARD)
    cards &= CARDS
    move.card = NO_CARD
    if cards == 0:
        return
    if not may_decline:
        move.card = cheapest(world, cards, world.hands[seat], params[1], params)
        return
    mean = mean_price_of_unseen(world, seat, params[0])
    if seat == world.defender:
        card = cheapest(world, cards, world.attacks | world.beats, params[4], params)
        if cost_of_beating(world, card, mean, params) <= cost_of_taking(world, mean, params):
            move.card = card
        return
    card = cheapest(world, cards, 0, 0.0, params)
    dearer = price(card, trump, params[0]) - mean
    if deck_left(world) == 0 or dearer < (params[3] if world.taking != 0 else params[2]):
        move.card = card


@rule
def cheapest(world, cards, others, discount, params):
    """The card of least price, less a discount for each of `others`, at most three, that has its rank."""
    best, least = lowest(cards), 100.0
    while cards != 0:
        card = lowest(cards)
        cards &= cards - 1
        alike = count(others & same_rank(card) & ~single(card))
        cost = price(card, world.trump, params[0]) - discount * alike
        if cost < least:
            best, least = card, cost
    return best


@rule
def cost_of_beating(world, card, mean, params):
    """What is spent: the card's price above that of the card drawn for it, less if no new rank comes on the table."""
    spent = price(card, world.trump, params[0]) - (mean if deck_left(world) != 0 else 0.0)
    return spent - (params[4] if ranks_of(world.attacks | world.beats) & single(card) != 0 else 0.0)


@rule
def cost_of_taking(world, mean, params):
    """What the table's cards weigh above their price, and the attack that is lost."""
    table = world.attacks | world.beats
    weight = params[5] + (params[7] if deck_left(world) == 0 else mean)
    return params[6] + count(table) * weight - price_of(table, world.trump, params[0])


@rule
def hand_value(state, seat):
    """What the cards of `seat` are worth, those it takes included, less a burden for each card it must get rid of.

    With a deck, cards short of six are about to be drawn, at the mean price of the unseen ones; cards beyond six weigh
    BURDEN each. Without a deck every card weighs LAST_BURDEN.
    """
    cards, lost = state.hands[seat], 0.0
    if state.taking != 0 and state.defender == seat:
        cards |= state.attacks | state.beats
        lost = TEMPO
    size, total = count(cards), price_of(cards, state.trump, TRUMP_PRICE) - lost
    if deck_left(state) == 0:
        return total - LAST_BURDEN * size
    mean = mean_price_of_unseen(state, seat, TRUMP_PRICE)
    return total + max(0, HAND - size) * mean - max(0, size - HAND) * (BURDEN + mean)


PLAYERS = {
    "defensive": Player(choose_defensive, "always the weakest card (the report's)", sees_truth=True),
    "aggressive": Player(
        choose_aggressive, "the strongest plain card to attack, the weakest to beat (the report's)", sees_truth=True
    ),
    "thrifty": Player(choose_thrifty, "spends cards that cost less than keeping them", WEIGHTS, sees_truth=True),
}
