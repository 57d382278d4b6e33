"""Hand-written Hearts players. They look at nothing hidden. Numbers refer to RULES.md."""

from cardai.cards import highest, lowest, single, suit, suit_cards
from cardai.game import Player
from cardai.rule import rule

from .rules import ALL_HEARTS, NONE, QUEEN, QUEEN_OF_SPADES, SEATS, choices, taker


@rule
def choose_duck(world, move, params, stream):
    """Pass the highest cards, lead the lowest, play under the trick with the highest card that does not take it."""
    cards = choices(world)
    if world.leader == NONE:
        move.card = highest(cards)
    elif world.table[world.leader] == NONE:
        move.card = lowest(cards)
    else:
        move.card = ducked(world, cards)


@rule
def ducked(world, cards):
    """The card with which `duck` follows, of the set of legal ones."""
    best = world.table[taker(world)]
    if cards & suit_cards(suit(best)) == 0:
        return thrown(cards)
    under = cards & (single(best) - 1)
    if under & QUEEN != 0:
        return QUEEN_OF_SPADES
    if under != 0:
        return highest(under)
    return highest(cards) if is_last(world) else lowest(cards)


@rule
def thrown(cards):
    """The card that `duck` gives away to somebody else's trick."""
    if cards & QUEEN != 0:
        return QUEEN_OF_SPADES
    return highest(cards & ALL_HEARTS if cards & ALL_HEARTS != 0 else cards)


@rule
def is_last(world):
    """Whether the seat to move plays the fourth card of the trick."""
    return (world.turn + 1) % SEATS == world.leader


PLAYERS = {
    "duck": Player(
        choose_duck,
        about="plays the highest card that does not take the trick, throws the queen of spades, then hearts",
        sees="own",
    ),
}
