"""The hand-written players and the hand-written evaluation of the thesis' engine (RULES.md names both).

A player chooses a kind of move and then its cards. The engine's hands were lists, and some of its choices depended on
their order. Our hands are sets: a player here takes the lowest card first, or a random one if the engine's order was as
good as random.
"""

from collections.abc import Mapping

import numpy as np

from cardai.game import Player
from cardai.rules import below, next_bits, rule, skip_shuffle, uniform
from cardai.rules.cards import any_of, beaters, count, full_deck, has, lowest, same_rank, single, suit, suit_cards
from cardai.rules.cards import weakest as the_weakest

from .encode import cards_to_draw
from .moves import offered
from .rules import (
    ATTACK,
    DECK,
    END,
    HAND,
    KILL,
    KILL_TURNED,
    OPEN,
    SELF,
    SKIP,
    TURN,
    killed_by,
    playable,
    room_to_attack,
    unknown_to,
)  # fmt: skip

KINDS = KILL_TURNED + 1
FORBIDDEN = 100_000.0  # the cost of a pair of cards that is no kill


@rule
def some_of(cards, size, stream):
    """A random subset with `size` cards."""
    chosen = 0
    for _ in range(size):
        card = any_of(cards & ~chosen, stream)
        chosen |= single(card)
    return chosen


@rule
def set_move(move, kind, cards, targets):
    move.kind = kind
    move.cards = cards
    move.targets = targets


@rule
def lowest_of(cards, most):
    """The `most` lowest cards of a set."""
    chosen = 0
    while cards != 0 and count(chosen) < most:
        chosen |= cards & -cards
        cards &= cards - 1
    return chosen


@rule
def may_be_empty(kind):
    """Whether a move of this kind needs no cards. (A player that finds no cards for another kind chooses again.)"""
    return kind == END or kind == TURN or kind == SKIP


@rule
def pass_over_a_world(world, stream):
    """Draw the numbers that `resample` draws to make a world of the seat to move, and that world's stream, unused.

    Bot0 to bot3 look at nothing hidden, but once they were given such worlds, from the stream that they choose with.
    So their games stay the same. All that the count of draws depends on is known to the seat.
    """
    next_bits(stream)
    seat = world.turn
    pool, deck, hidden, places = unknown_to(world, seat), max(world.deck_left - 1, 0), 0, 0
    for other in range(world.seats):
        if other != seat:
            cards = count(world.hands[other]) - count(world.known[other])
            hidden += cards
            if has(world.drawn, other):
                places += cards
    size, in_deck = count(pool), False
    if world.swap_two != 0 and has(pool, world.trump) and deck + places > 0:
        in_deck = below(stream, deck + places) >= places
        size -= 1
    skip_shuffle(stream, size)
    if in_deck:
        below(stream, size - hidden + 1)


# Random players.


@rule
def choose_random(world, move, params, stream):
    """The random player of the thesis' benchmarks: a random kind, then random cards; again if these are no cards."""
    hand = world.hands[world.turn]
    kinds = offered(world)
    while True:
        kind = any_of(kinds, stream)
        cards, targets = 0, 0
        if kind == END:
            cards = world.table if below(stream, 2) == 0 else world.table | world.killed
        elif kind == OPEN:
            cards = random_opening(hand, room_to_attack(world), stream)
        elif kind == ATTACK:
            choice = playable(world, hand)
            cards = some_of(choice, below(stream, min(count(choice), room_to_attack(world)) + 1), stream)
        elif kind == SELF:
            choice = playable(world, hand)
            cards = some_of(choice, below(stream, count(choice) + 1), stream)
        elif kind == KILL:
            cards, targets = random_kill(hand, world.table, world.trump, stream)
        elif kind == KILL_TURNED:
            cards = single(world.turned)
            targets = single(any_of(killed_by(world.turned, world.trump) & world.table, stream))
        if cards != 0 or may_be_empty(kind):
            set_move(move, kind, cards, targets)
            return


@rule
def random_opening(hand, most, stream):
    """Draw a random card up to ten times, and keep it if the opening stays legal. So all cards have one rank."""
    chosen = 0
    for _ in range(10):
        rest = hand & ~chosen
        if rest == 0 or count(chosen) >= most:
            break
        card = any_of(rest, stream)
        if chosen == 0 or same_rank(card) & chosen != 0:
            chosen |= single(card)
    return chosen


@rule
def random_kill(hand, table, trump, stream):
    """Go through all pairs of cards that are a kill, and play each that is still possible with probability 1/2."""
    cards, targets = 0, 0
    rest = hand
    while rest != 0:
        card = lowest(rest)
        rest &= rest - 1
        options = killed_by(card, trump) & table & ~targets
        while options != 0:
            target = lowest(options)
            options &= options - 1
            if below(stream, 2) == 0:
                cards |= single(card)
                targets |= single(target)
                break
    return cards, targets


@rule
def choose_random_simple(world, move, params, stream):
    """The engine's first random player: a random kind, cards of one rank; at an end it picks up the table only."""
    hand = world.hands[world.turn]
    kinds = offered(world)
    while True:
        kind = any_of(kinds, stream)
        cards, targets = 0, 0
        if kind == END:
            cards = world.table
        elif kind == OPEN:
            cards = single(any_of(hand, stream))
        elif kind == ATTACK or kind == SELF:
            of_rank = playable(world, hand)
            of_rank &= same_rank(any_of(of_rank, stream))
            most = room_to_attack(world) if kind == ATTACK else count(hand)
            cards = some_of(of_rank, min(count(of_rank), below(stream, most + 1)), stream)
        elif kind == KILL:
            rest = hand
            while rest != 0:
                card = lowest(rest)
                rest &= rest - 1
                options = killed_by(card, world.trump) & world.table
                if options != 0 and uniform(stream) < 0.7:
                    target = any_of(options, stream)
                    if not has(targets, target):
                        cards |= single(card)
                        targets |= single(target)
        elif kind == KILL_TURNED:
            cards = single(world.turned)
            targets = single(any_of(killed_by(world.turned, world.trump) & world.table, stream))
        if cards != 0 or may_be_empty(kind):
            set_move(move, kind, cards, targets)
            return


# Bot0 and bot1: a random kind of move, then its cheapest cards.


@rule
def kill_cheaply(hand, table, trump, by_rank):
    """Each hand card kills the cheapest table card it can. If several choose the same one, the last one kills it."""
    cards, targets, owner = 0, 0, np.zeros(DECK, np.int64)
    rest = hand
    while rest != 0:
        card = lowest(rest)
        rest &= rest - 1
        options = killed_by(card, trump) & table
        if options != 0:
            target = lowest(options) if by_rank else the_weakest(options, trump)
            if has(targets, target):
                cards &= ~single(owner[target])
            owner[target] = card
            cards |= single(card)
            targets |= single(target)
    return cards, targets


@rule
def choose_obvious(world, move, stream, by_rank):
    """Play as bot0 (`by_rank`) or bot1: a random kind, then its lowest (bot0) or cheapest (bot1) cards."""
    pass_over_a_world(world, stream)
    hand, trump = world.hands[world.turn], world.trump
    kinds = offered(world)
    while True:
        kind = any_of(kinds, stream)
        cards, targets = 0, 0
        if kind == END:
            cards = world.table
        elif kind == OPEN:
            first = lowest(hand) if by_rank else the_weakest(hand, trump)
            same = hand & same_rank(first)
            if not by_rank and suit(first) != trump:
                same &= ~suit_cards(trump)
            cards = lowest_of(same, room_to_attack(world))
        elif kind == ATTACK:
            choice = playable(world, hand)
            if not by_rank:
                choice &= full_deck(4 * 11) & ~suit_cards(trump)
            cards = some_of(choice, min(count(choice), room_to_attack(world)), stream)
        elif kind == SELF:
            cards = playable(world, hand) & ~suit_cards(trump)
        elif kind == KILL:
            cards, targets = kill_cheaply(hand, world.table, trump, by_rank)
        elif kind == KILL_TURNED:
            options = killed_by(world.turned, trump) & world.table
            cards = single(world.turned)
            targets = single(lowest(options) if by_rank else the_weakest(options, trump))
        if cards != 0 or may_be_empty(kind):
            set_move(move, kind, cards, targets)
            return


@rule
def choose_bot0(world, move, params, stream):
    choose_obvious(world, move, stream, True)


@rule
def choose_bot1(world, move, params, stream):
    choose_obvious(world, move, stream, False)


# Bot2 and bot3 count cards: a card is worth the number of cards it kills, of those still in the game.


@rule
def worth(world, card):
    """The number of cards that `card` kills, of those not yet discarded: 0 to 51."""
    return count(killed_by(card, world.trump) & ~world.discards)


@rule
def worth_of(world, cards):
    """The summed worth of a set."""
    alive, trumps = full_deck(DECK) & ~world.discards, suit_cards(world.trump)
    total = count(cards & trumps) * count(alive & ~trumps)
    while cards != 0:
        card = lowest(cards)
        total += count(alive & suit_cards(suit(card)) & (single(card) - 1))
        cards &= cards - 1
    return total


@rule
def cheapest_opening(world, hand):
    """Returns the card worth least, as a set, or the lowest of these in a tie.

    The engine also weighed openings of several cards, with a sixth parameter (`quadratic`); one card always won.
    """
    best, least = 0, DECK
    while hand != 0:
        card = lowest(hand)
        hand &= hand - 1
        if worth(world, card) < least:
            best, least = card, worth(world, card)
    return single(best)


@rule
def attack_cards(world, hand, stream):
    """Returns the playable cards worth less than ten, or all of them if there is no deck.

    If there is not enough room on the table, it returns random ones of them.
    """
    choice, cards = playable(world, hand), 0
    while choice != 0:
        card = lowest(choice)
        choice &= choice - 1
        if world.deck_left == 0 or worth(world, card) < 10:
            cards |= single(card)
    room = room_to_attack(world)
    return cards if count(cards) <= room else some_of(cards, room, stream)


@rule
def self_cards(world, hand):
    """Playable cards that another hand card kills, if both are worth no more than the cards gone from the deck."""
    choice, cards = playable(world, hand), 0
    while choice != 0:
        card = lowest(choice)
        choice &= choice - 1
        killers = beaters(card, world.trump) & hand
        while killers != 0:
            killer = lowest(killers)
            killers &= killers - 1
            if worth(world, killer) + worth(world, card) <= DECK - world.deck_left:
                cards |= single(card)
    return cards


@rule
def kill_cost(world, card, target, hand, params):
    """Returns the cost of killing `target` with `card`, or FORBIDDEN if it is no kill.

    The cost is cut to a whole number as in the engine.
    """
    if not has(beaters(target, world.trump), card):
        return FORBIDDEN
    factor = 1.0
    if same_rank(card) & world.table != 0:
        factor += params[0]
    if same_rank(target) & hand != 0:
        factor += params[1]
    if has(world.barring, target) and world.deck_left > 0:
        factor += params[2]
    return float(int(factor * (worth(world, card) + worth(world, target))))


@rule
def kill_cards(world, hand, params):
    """Match hand cards with table cards at least cost, and keep the kills within the threshold: (killers, targets)."""
    killers, rest = 0, world.table
    while rest != 0:
        killers |= beaters(lowest(rest), world.trump) & hand
        rest &= rest - 1
    if killers == 0:
        return 0, 0
    rows, columns = count(killers), count(world.table)
    size = max(rows, columns)
    cost = np.zeros((size, size))
    rest = killers
    for i in range(rows):
        targets = world.table
        for j in range(columns):
            cost[i, j] = kill_cost(world, lowest(rest), lowest(targets), hand, params)
            targets &= targets - 1
        rest &= rest - 1
    threshold = (params[4] - DECK) / DECK * world.deck_left + DECK
    column_of = assign(cost)
    cards, targets = 0, 0
    for i in range(rows):
        j = column_of[i]
        if j < columns and cost[i, j] < FORBIDDEN and cost[i, j] <= threshold:
            cards |= single(card_at(killers, i))
            targets |= single(card_at(world.table, j))
    return cards, targets


@rule
def card_at(cards, place):
    """A card of a set by its place, from the lowest (0) up."""
    for _ in range(place):
        cards &= cards - 1
    return lowest(cards)


@rule
def assign(cost):
    """Minimum-cost perfect matching of a square matrix f8[n, n]: the column of each row, i64[n].

    Shortest augmenting paths with potentials (Jonker and Volgenant 1987).
    """
    n = len(cost)
    # Two arrays hold all, since taking an array costs more than most of these assignments. A row counts from 1 there.
    u, v, shortest, floats = 0, n + 1, 2 * (n + 1), np.zeros(3 * (n + 1))
    row_of, way, done, numbers = 0, n + 1, 2 * (n + 1), np.zeros(3 * (n + 1), np.int64)
    for i in range(n):
        numbers[row_of + n] = i + 1
        column = n
        for j in range(n + 1):
            floats[shortest + j] = np.inf
            numbers[done + j] = 0
        while numbers[row_of + column] != 0:
            numbers[done + column] = 1
            row, nearest, step = numbers[row_of + column] - 1, n, np.inf
            for j in range(n):
                if numbers[done + j] == 0:
                    reduced = cost[row, j] - floats[u + row] - floats[v + j]
                    if reduced < floats[shortest + j]:
                        floats[shortest + j] = reduced
                        numbers[way + j] = column
                    if floats[shortest + j] < step:
                        step, nearest = floats[shortest + j], j
            for j in range(n + 1):
                if numbers[done + j] != 0:
                    floats[u + numbers[row_of + j] - 1] += step
                    floats[v + j] -= step
                else:
                    floats[shortest + j] -= step
            column = nearest
        while column != n:
            previous = numbers[way + column]
            numbers[row_of + column] = numbers[row_of + previous]
            column = previous
    column_of = np.zeros(n, np.int64)
    for j in range(n):
        column_of[numbers[row_of + j] - 1] = j
    return column_of


@rule
def kill_of_turned(world, hand, params):
    """The table card that the turned card kills at least cost. It costs a little more if a hand card kills it too."""
    options = killed_by(world.turned, world.trump) & world.table
    best, least = lowest(options), np.inf
    while options != 0:
        target = lowest(options)
        options &= options - 1
        factor = 1.0 + (params[3] if beaters(target, world.trump) & hand != 0 else 0.0)
        cost = factor * (worth(world, world.turned) + worth(world, target))
        if cost < least:
            best, least = target, cost
    return single(best)


@rule
def choose_bot2(world, move, params, stream):
    """Choose a random kind for which there are cards to play, an end or a skip only if there is no other."""
    pass_over_a_world(world, stream)
    hand = world.hands[world.turn]
    kinds = offered(world)
    if kinds == single(OPEN):
        set_move(move, OPEN, cheapest_opening(world, hand), 0)
        return
    if kinds == single(KILL_TURNED):
        set_move(move, KILL_TURNED, single(world.turned), kill_of_turned(world, hand, params))
        return
    attack = attack_cards(world, hand, stream) if has(kinds, ATTACK) else 0
    to_self = self_cards(world, hand) if has(kinds, SELF) else 0
    killers, killed = kill_cards(world, hand, params) if has(kinds, KILL) else (0, 0)
    useful = kinds & ~(single(SKIP) | single(END))
    if attack == 0:
        useful &= ~single(ATTACK)
    if to_self == 0:
        useful &= ~single(SELF)
    if killers == 0:
        useful &= ~single(KILL)
    kind = any_of(useful if useful != 0 else kinds & (single(SKIP) | single(END)), stream)
    cards = world.table if kind == END else attack if kind == ATTACK else to_self if kind == SELF else 0
    set_move(move, kind, killers if kind == KILL else cards, killed if kind == KILL else 0)


@rule
def mean_worth_of_unseen(world, seat):
    """The mean worth of the cards not in the own hand, not killed, and not known to be in another hand."""
    alive, trumps = full_deck(DECK) & ~world.discards, suit_cards(world.trump)
    seen = world.hands[seat] | world.killed
    for other in range(world.seats):
        if other != seat:
            seen |= world.known[other]
    unseen = count(alive & ~seen)
    if unseen == 0:
        return 0.0
    total = count(alive & trumps) * count(alive & ~trumps)  # what all cards are worth: of n in a suit, the k-th kills k
    for each in range(4):
        size = count(alive & suit_cards(each))
        total += size * (size - 1) // 2
    return (total - worth_of(world, alive & seen)) / unseen


@rule
def highest_worth(world):
    """The highest worth of a card still in the game."""
    alive = full_deck(DECK) & ~world.discards
    if alive & suit_cards(world.trump) != 0:
        return count(alive) - 1  # the highest trump kills all others
    best = 0
    for each in range(4):
        best = max(best, count(alive & suit_cards(each)) - 1)
    return best


@rule
def value_of_hand(world, size, worth, draws, top, mean):
    """Bot3's value of a hand of `size` cards that are worth `worth` together: their mean worth.

    Cards to be drawn (`draws`) count with the worth `mean`, and each card short of six adds the worth `top`.
    """
    drawn = min(HAND - size, world.deck_left) if draws and size < HAND else 0
    if size + drawn == 0:
        return np.inf
    return (worth + max(0.0, top * (HAND - size - drawn)) + mean * drawn) / (size + drawn)


@rule
def choose_bot3(world, move, params, stream):
    """Choose the kind of move that leaves the hand worth most, a random one in a tie."""
    pass_over_a_world(world, stream)
    seat, hand = world.turn, world.hands[world.turn]
    kinds = offered(world)
    if kinds == single(OPEN):
        set_move(move, OPEN, cheapest_opening(world, hand), 0)
        return
    if kinds == single(KILL_TURNED):
        set_move(move, KILL_TURNED, single(world.turned), kill_of_turned(world, hand, params))
        return
    if kinds == single(SKIP):
        set_move(move, SKIP, 0, 0)
        return
    top, mean = float(highest_worth(world)), mean_worth_of_unseen(world, seat)
    held, own = count(hand), worth_of(world, hand)
    best, ties = -1.0, 0
    while kinds != 0:
        kind = lowest(kinds)
        kinds &= kinds - 1
        cards, targets = 0, 0
        if kind == END:
            cards = world.table
        elif kind == ATTACK:
            cards = attack_cards(world, hand, stream)
        elif kind == SELF:
            cards = self_cards(world, hand)
        elif kind == KILL:
            cards, targets = kill_cards(world, hand, params)
        if cards == 0 and (kind == ATTACK or kind == SELF or kind == KILL):
            continue
        sign = 1 if kind == END else -1  # the cards are picked up or played
        size, worth = held + sign * count(cards), own + sign * worth_of(world, cards)
        value = value_of_hand(world, size, worth, kind != SKIP, top, mean)
        if value < best:
            continue
        ties = ties + 1 if value == best else 1
        best = value
        if ties == 1 or below(stream, ties) == 0:
            set_move(move, kind, cards, targets)


# An evaluation of states.


ENGINE = (2.31923085, 0.76678776 - 1.99658315, 51.86727724, 0.39232656)
"""The engine's weights of `weighed_hand`: the mean worth, a card, a card missing to six, a deck card that bars."""


@rule
def hand_value(state, seat):
    """The engine's HeuristicEvaluator: a value of the own hand, and of the table's cards if this seat is the target."""
    return weighed_hand(state, seat, ENGINE[0], ENGINE[1], ENGINE[2], ENGINE[3])


@rule
def weighed_hand(state, seat, of_mean, of_card, of_missing, of_bar):
    """`hand_value` by any weights. In an after-state, cards to be drawn count with the mean of the unseen ones."""
    cards = state.hands[seat]
    if state.target == seat:
        cards |= state.table
    drawn = cards_to_draw(state) if state.turn == seat else 0
    size = count(cards) + drawn
    if size == 0:
        return 1e7
    total = float(worth_of(state, cards))
    if drawn > 0:
        total += drawn * mean_worth_of_unseen(state, seat)
    value = of_mean * total / size + of_card * size + of_missing * max(HAND - size, 0)
    return value + (of_bar if state.barring != 0 else 0.0)


WEIGHTS = ("already_played", "same_rank_in_hand", "bars_the_deck", "hand_kills_too", "threshold")


def weights(*values: float) -> Mapping[str, float]:
    """The parameters of bot2 and bot3 by name, in the order in which `params` has them."""
    return dict(zip(WEIGHTS, values, strict=True))


PLAYERS = {
    "random": Player(choose_random, "a random kind of move, then random cards (the thesis' Random)", sees="own"),
    "random_simple": Player(choose_random_simple, "an earlier random player: cards of one rank", sees="own"),
    "bot0": Player(choose_bot0, "a random kind of move, the lowest cards", sees="own"),
    "bot1": Player(choose_bot1, "a random kind of move, the cheapest cards, trumps kept", sees="own"),
    "bot2": Player(choose_bot2, "a random kind of move that has cards to play, cards chosen by counting",
                   weights(-0.38, 0.072, -0.29, 0.336, 30.44), sees="own"),
    "bot3": Player(choose_bot3, "the kind of move that leaves the best hand, by counting cards (the thesis' Bot3)",
                   weights(0.025, -0.0095, 0.0068, 0.0036, 0.73), sees="own"),
}  # fmt: skip
