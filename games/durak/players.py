"""Hand-written Durak players: two of the report (RULES.md), one that weighs costs, and a hand-written evaluation.

A card's *price* says how much it is worth to keep: its rank, from 0, and more for a trump.
"""

from cardai.game import Player
from cardai.rules import rule
from cardai.rules.cards import count, has, lowest, rank, ranks_of, same_rank, single, suit, suit_cards, weakest

from .rules import NONE, SHOWN, card_played, choices, deck_left, hand_size, no_card, number_of_showing, unknown_to

MIDDLE = 4.0  # the mean rank of 36 cards
TRUMP_PRICE = 13.0
BURDEN = 6.0  # what each card beyond a full hand costs while there is a deck
LAST_BURDEN = 30.0  # what each card costs without a deck
TEMPO = 10.0  # what the next attack is worth; a defender who takes loses it


@rule
def strongest_plain(cards, trump):
    """Returns the highest plain card of a set, of the first suit in a tie, or the lowest trump if all are trumps."""
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
    """Always play the weakest card, to beat or to transfer, but show a trump rather than play a card."""
    cards = choices(world, world.turn)
    move.card = showing(world, cards)
    cards &= world.hands[world.turn]
    if move.card == NONE:
        move.card = weakest(cards, world.trump) if cards != 0 else no_card(world)


@rule
def showing(world, cards):
    """2.7: the one of the moves `cards` that shows a trump, or NONE."""
    if world.transferable & SHOWN == 0:
        return NONE
    card = number_of_showing(lowest(world.attacks), world.trump)
    return card if has(cards, card) else NONE


@rule
def choose_aggressive(world, move, params, stream):
    """Attack with the strongest plain card. Otherwise play as the defensive player."""
    cards = choices(world, world.turn) & world.hands[world.turn]
    if world.turn == world.defender:
        choose_defensive(world, move, params, stream)
    elif cards == 0:
        move.card = no_card(world)
    else:
        move.card = strongest_plain(cards, world.trump)


@rule
def price(card, trump, trump_price):
    """How much a card is worth to keep: its rank, and `trump_price` more for a trump."""
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
    """The expected price of a card drawn from the deck: the mean over the cards whose place `seat` does not know."""
    unseen = unknown_to(world, seat) | world.bottom
    return price_of(unseen, world.trump, trump_price) / count(unseen) if unseen != 0 else MIDDLE


# The thrifty player plays a card when that costs less than keeping it.

WEIGHTS = {
    "trump": 13.0,  # added to the price of a trump
    "pair": 0.5,  # opening: discount on a card for each other card of its rank in hand
    "add": 4.5,  # adds cards whose price is above the mean by less than this, while there is a deck
    "give": -1.0,  # the same when the defender takes
    "matched": 3.0,  # beating: discount on a card whose rank is on the table already
    "burden": 2.0,  # what each card picked up costs
    "tempo": 30.0,  # what the next attack is worth; a defender who takes loses it
    "last": 14.0,  # added to the cost of each card picked up, when the deck is empty
}


@rule
def choose_thrifty(world, move, params, stream):
    """Play the cheapest card if that costs less than keeping it. `params` are the values of WEIGHTS, in order."""
    seat, trump = world.turn, world.trump
    cards = choices(world, seat)
    decline = no_card(world)
    may_decline = has(cards, decline)
    cards &= ~single(decline)
    move.card = decline
    if cards == 0:
        return
    if not may_decline:
        move.card = cheapest(world, cards, world.hands[seat], params[1], params)
        return
    mean = mean_price_of_unseen(world, seat, params[0])
    if seat == world.defender:
        shown = showing(world, cards)
        if shown != NONE:
            move.card = shown
            return
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
    """The card of least price, after a discount for each other card of its rank in the set `others`."""
    best, least = lowest(cards), 100.0
    while cards != 0:
        card = lowest(cards)
        cards &= cards - 1
        played = card_played(world, card) if world.transfer != 0 else card
        same = count(others & same_rank(played) & ~single(played))
        cost = price(played, world.trump, params[0]) - discount * same
        if cost < least:
            best, least = card, cost
    return best


@rule
def cost_of_beating(world, card, mean, params):
    """The card's price, less the mean price of the card drawn for it, and less if its rank is on the table already."""
    played = card_played(world, card) if world.transfer != 0 else card
    spent = price(played, world.trump, params[0]) - (mean if deck_left(world) != 0 else 0.0)
    return spent - (params[4] if ranks_of(world.attacks | world.beats) & single(played) != 0 else 0.0)


@rule
def cost_of_taking(world, mean, params):
    """What the cards on the table cost to pick up, beyond their price, and the next attack, which is lost."""
    table = world.attacks | world.beats
    weight = params[5] + (params[7] if deck_left(world) == 0 else mean)
    return params[6] + count(table) * weight - price_of(table, world.trump, params[0])


@rule
def hand_value(state, seat):
    """Returns the value of a hand: the summed price of the cards of `seat`, less a cost for having too many.

    A card's price is its rank, from 0, plus TRUMP_PRICE for a trump. A defender who is taking holds the cards on the
    table too, and loses TEMPO. While there is a deck, each card missing from a full hand (six cards) adds the mean
    price of the cards that the seat has not seen, since it will be drawn. Each card beyond it then subtracts that mean
    and BURDEN, 6. Without a deck every card in the hand subtracts LAST_BURDEN, 30.
    """
    cards, lost = state.hands[seat], 0.0
    if state.taking != 0 and state.defender == seat:
        cards |= state.attacks | state.beats
        lost = TEMPO
    size, total = count(cards), price_of(cards, state.trump, TRUMP_PRICE) - lost
    if deck_left(state) == 0:
        return total - LAST_BURDEN * size
    mean = mean_price_of_unseen(state, seat, TRUMP_PRICE)
    full = hand_size(state)
    return total + max(0, full - size) * mean - max(0, size - full) * (BURDEN + mean)


PLAYERS = {
    "defensive": Player(choose_defensive, "always plays the weakest card (report)", sees="own"),
    "aggressive": Player(
        choose_aggressive, "attacks with the strongest plain card, beats with the weakest (report)", sees="own"
    ),
    "thrifty": Player(choose_thrifty, "plays a card if that costs less than keeping it", WEIGHTS, sees="own"),
}
