"""Hand-written Hearts players, which look at nothing hidden, and the search `pimc`. Numbers refer to RULES.md."""

from dataclasses import replace

import numpy as np

from cardai.errors import CardaiError
from cardai.game import Game, Player
from cardai.playing.agents.spec import Agent, agent
from cardai.rules import rule
from cardai.rules.cards import count, highest, lowest, next_subset, single, suit, suit_cards

from .heuristics import (
    ELSEWHERE,
    WEIGHTS,
    hand_losers,
    hand_risk,
    moon_hope,
    suit_risk,
    taking_chance,
    thrown_points,
)
from .rules import (
    ALL_HEARTS,
    HEARTS,
    NONE,
    PASS,
    POINT_CARDS,
    QUEEN,
    QUEEN_OF_SPADES,
    SEATS,
    SPADES,
    choices,
    is_first_trick,
    penalty,
    table_cards,
    taker,
    unseen_by,
)

# The player `duck`.


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


# The player `careful`.

STYLE = {
    "future": 0.62,  # what the points that the hand will cost count, beside those of the current trick
    "lead": 0.14,  # what it costs to take a trick and lead next
    "flush": 0.66,  # what it is worth to lead a spade below the queen while somebody else has her
    "stop": 0.21,  # how much it is worth to keep somebody else from taking all points
    "shoot": 0.6,  # the least hope of taking all points with which it tries to
    "keep": 3.0,  # when it tries, what losing a trick with points counts, beside the cards that will lose later
}
FUTURE, LEAD, FLUSH, STOP, SHOOT, KEEP = range(len(WEIGHTS), len(WEIGHTS) + len(STYLE))


@rule
def choose_careful(world, move, params, stream):
    """Play the card after which the trick and the hand cost least. `params`: the values of WEIGHTS, then of STYLE."""
    if world.leader == NONE:
        move.card = passed_carefully(world, params)
        return
    seat, best = world.turn, 1e9
    rest, unseen, alone = choices(world), unseen_by(world, world.turn), alone_with_points(world)
    shoots = moon_hope(world, seat) > params[SHOOT]
    while rest != 0:
        card = lowest(rest)
        rest &= rest - 1
        if shoots:
            cost = shooting_cost(world, card, unseen, params)
        else:
            cost = trick_cost(world, card, unseen, alone, params)
            cost += params[FUTURE] * hand_risk(world.hands[seat] & ~single(card), unseen, params)
        if cost < best:
            best = cost
            move.card = card


@rule
def alone_with_points(world):
    """The seat that alone has taken points in this round, or NONE."""
    alone = NONE
    for seat in range(SEATS):
        if world.taken[seat] & POINT_CARDS != 0:
            if alone != NONE:
                return NONE
            alone = seat
    return alone


@rule
def trick_cost(world, card, unseen, alone, params):
    """What a card will cost in the current trick."""
    seat, table = world.turn, table_cards(world)
    leads = table == 0
    best = NONE if leads else world.table[taker(world)]
    kind = suit(card) if leads else suit(best)
    threat = moon_threat(world, seat, alone, params)
    if not leads and (suit(card) != kind or card < best):
        gives = penalty(single(card)) > 0 and taker(world) == alone
        return threat if gives else 0.0
    follow, throw = seats_to_come(world, kind, unseen)
    same = unseen & suit_cards(kind)
    above = count(same & ~(single(card) - 1))
    chance = taking_chance(1.0 * above, 1.0 * (count(same) - above)) ** (follow / 3.0)
    points = 1.0 * penalty(table | single(card))
    if not (is_first_trick(world) and world.no_points_first != 0):
        points += throw * thrown_points(unseen, params)
    if kind == HEARTS:
        points += follow
    if kind == SPADES and card > QUEEN_OF_SPADES and unseen & QUEEN != 0:
        points += 13.0 * follow / 3.0
    if points > 0.0:
        points -= threat
    cost = chance * (points + params[LEAD])
    if (
        leads
        and kind == SPADES
        and unseen & QUEEN != 0
        and highest(world.hands[seat] & suit_cards(SPADES)) < QUEEN_OF_SPADES
    ):
        cost -= params[FLUSH]
    return cost


@rule
def shooting_cost(world, card, unseen, params):
    """What a card will cost who tries to take all points: points that others get, and cards that will lose later."""
    seat, table = world.turn, table_cards(world)
    leads = table == 0
    best = NONE if leads else world.table[taker(world)]
    kind = suit(card) if leads else suit(best)
    follow, throw = seats_to_come(world, kind, unseen)
    chance = 0.0
    if leads or (suit(card) == kind and card > best):
        above = count(unseen & suit_cards(kind) & ~(single(card) - 1))
        chance = ELSEWHERE ** (above * follow / 2.0) if follow > 0.0 else 1.0
    with_points = 1.0 if (table | single(card)) & POINT_CARDS != 0 or kind == HEARTS else min(1.0, throw)
    return params[KEEP] * (1.0 - chance) * with_points + hand_losers(world.hands[seat] & ~single(card), unseen)


@rule
def moon_threat(world, seat, alone, params):
    """What it costs to let the seat that alone has points take more of them."""
    if alone == NONE or alone == seat:
        return 0.0
    share = penalty(world.taken[alone]) / 26.0
    return params[STOP] * 26.0 * share * share


@rule
def seats_to_come(world, kind, unseen):
    """How many of the seats that play after this one will follow the suit `kind` and how many will not, on average."""
    follow, throw = 0.0, 0.0
    void = ELSEWHERE ** (1.0 * count(unseen & suit_cards(kind)))
    other = (world.turn + 1) % SEATS
    while other != world.leader:
        lacking = 1.0 if unseen & suit_cards(kind) & ~world.lacks[other] == 0 else void
        throw += lacking
        follow += 1.0 - lacking
        other = (other + 1) % SEATS
    return follow, throw


@rule
def passed_carefully(world, params):
    """The next card to pass: one of those without which the hand costs least. The cost is a sum over suits.

    For each suit, find the best choice of 0, 1, 2 and 3 cards, then the best numbers of cards for the four suits.
    """
    hand = choices(world)
    need = PASS - count(world.passed[world.turn])
    unseen = unseen_by(world, world.turn)
    given, thrown_on = world.passed[world.turn], thrown_points(unseen, params)
    costs, sets = np.empty((4, PASS + 1)), np.zeros((4, PASS + 1), np.int64)
    for kind in range(4):
        own, others = hand & suit_cards(kind), (unseen | given) & suit_cards(kind)
        costs[kind, :] = 1e9
        costs[kind, 0] = suit_risk(own, others, kind, thrown_on, params)
        chosen = next_subset(0, own, need)
        while chosen != 0:
            n = count(chosen)
            cost = suit_risk(own & ~chosen, others | chosen, kind, thrown_on, params)
            if cost < costs[kind, n]:
                costs[kind, n] = cost
                sets[kind, n] = chosen
            chosen = next_subset(chosen, own, need)
    best, passed = 1e18, 0
    for clubs in range(need + 1):
        for diamonds in range(need + 1 - clubs):
            for hearts in range(need + 1 - clubs - diamonds):
                spades = need - clubs - diamonds - hearts
                cost = costs[0, clubs] + costs[1, diamonds] + costs[2, hearts] + costs[3, spades]
                if cost < best:
                    best = cost
                    passed = sets[0, clubs] | sets[1, diamonds] | sets[2, hearts] | sets[3, spades]
    return highest(passed)


PLAYERS = {
    "duck": Player(
        choose_duck,
        about="plays the highest card that does not take the trick, throws the queen of spades, then hearts",
        sees="own",
    ),
    "careful": Player(
        choose_careful,
        about="plays the card after which the trick and the rest of its hand will cost the fewest points",
        defaults=WEIGHTS | STYLE,
        sees="own",
    ),
}


# The search `pimc`.


def pimc(game: Game, spec: str, argument: str, options: dict[str, str]) -> Agent:
    """The agent `pimc?worlds=100`: perfect-information Monte Carlo (PIMC) with `duck`, as `rollout:100?by=duck`.

    It plays each move out in the same worlds, all seats by `duck`, and takes the move with the best mean score. Raises
    CardaiError for an argument (`pimc:x`) and for a number of worlds that `rollout` does not take.
    """
    if argument:
        raise CardaiError(f"agent {spec!r}: pimc takes nothing after a colon; its option is ?worlds=100")
    made = agent(game, f"rollout:{options.pop('worlds', '100')}?by=duck")
    return replace(made, spec=spec, about="each move played out by duck in sampled worlds; the best mean score")
