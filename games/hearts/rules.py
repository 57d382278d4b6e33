"""Hearts for four: the state, the deal, what may be passed and played, what a move does. Numbers refer to RULES.md.

Cards are those of `cardai.rules.cards` with 52 cards: card = 4 * rank + suit, rank 0 the two and 12 the ace, suits
clubs, diamonds, hearts, spades. So 0 is the two of clubs, 43 the queen of spades and 51 the ace of spades.

A round has a passing phase (`leader` is NONE), if cards are passed in it, and thirteen tricks.
"""

import math

import numpy as np

from cardai.game.declared import (
    NONE,
    Card,
    Cards,
    Each,
    Flag,
    Hand,
    Known,
    Lacks,
    Moves,
    Number,
    Option,
    Pile,
    Seat,
    State,
)  # fmt: skip
from cardai.rules import below, rule, shuffle
from cardai.rules.cards import DECK52, count, full_deck, has, single, suit, suit_cards
from cardai.rules.parts.standing import share_of_win as share
from cardai.rules.parts.tricks import BY_RANK, gather, pass_turn, play_card
from cardai.rules.parts.tricks import on_table as table_cards  # noqa: F401 - for the other modules of Hearts
from cardai.rules.parts.tricks import taker as seat_that_takes

CARDS = 52
DECK = (1 << CARDS) - 1
SEATS = 4
HAND = 13  # 1.1
PASS = 3  # 2.1: cards that each seat passes on
CLUBS, DIAMONDS, HEARTS, SPADES = range(4)
TWO_OF_CLUBS = 0
JACK_OF_DIAMONDS = 37
QUEEN_OF_SPADES = 43

QUEEN = 1 << QUEEN_OF_SPADES  # the set of this card
ALL_HEARTS = 0x1111111111111 << HEARTS
POINT_CARDS = ALL_HEARTS | QUEEN  # 4.1
ALL_POINTS = 26  # 4.1
QUEEN_POINTS = 13  # 4.1
JACK_BONUS = 10  # 4.3
TRICK_BONUS = 5  # 4.4
MOST_ROUNDS = 40  # 5.1
MOST_EARLIER = 12  # 7.2: the most rounds before the one that is played

PASS_NEVER, PASS_IN_TURN, PASS_FROM_ANYWHERE = range(3)  # option `passing`
MOON_NOTHING, MOON_OTHERS_PAY, MOON_SHOOTER_GAINS = range(3)  # option `moon`
AIM_ROUND = 4  # option `aim`
DIRECTIONS = (1, 3, 2, 0)  # 1.2: left, right, across, hold

STATE = State(
    DECK52,
    SEATS,
    # Options, set by the variant.
    passing=Option(),  # 1.2: 0 no cards are passed; 1 left, right, across, hold in turn; 2 the same from a random one
    moon=Option(),  # 4.2: who takes all 26 points: 0 has them; 1 none and the others 26 each; 2 has 26 less than none
    jack=Option(),  # 4.3: 1 if the jack of diamonds is worth 10 points less
    no_trick_bonus=Option(),  # 4.4: 1 if a seat without a trick has 5 points less, unless a seat takes all 26 points
    must_break=Option(),  # 3.5: 1 if no heart may be led before hearts are broken
    queen_breaks=Option(),  # 3.5: 1 if the queen of spades breaks hearts too
    no_points_first=Option(),  # 3.3: 1 if the first trick gets no point card from a hand that has another card
    lead_for_queen=Option(),  # 3.5: 1 if a seat with only hearts and the queen of spades may lead an unbroken heart
    any_club=Option(),  # 3.1: 1 if the first lead may be any club
    limit=Option(),  # 5.1: points that end the game, 0 for a game of one round
    aim=Option(),  # 7.2: 4 if one round is played, out of the middle of a match; else 0
    # The cards of this round.
    hands=Hand(known="known", lacks="lacks"),  # a card chosen to be passed stays here until the exchange
    passed=Each(Cards(sees="own")),  # 2.1: chosen to pass on, before the exchange and after it; 0 after the round
    played=Each(Cards()),  # those on the table included
    lacks=Lacks("hands"),  # 6.1: because of what it played
    known=Known("hands"),  # 6.1: the two of clubs, until it is played
    taken=Each(Pile()),  # the cards of the tricks each seat has taken
    tricks=Each(Number()),  # how many tricks each seat has taken
    table=Each(Card()),  # the card each seat has laid to the current trick, or NONE
    last=Cards(),  # the cards of the trick before, until cards of another round are passed
    last_taker=Seat(),  # the seat that took them; NONE if there is no such trick
    leader=Seat(),  # the seat that leads the current trick; NONE while cards are passed
    broken=Flag(),  # 3.5
    # The game.
    direction=Number(),  # 1.2: seat s passes to (s + direction) % 4: 1 left, 2 across, 3 right; 0 nothing is passed
    first_direction=Number(),  # the place in DIRECTIONS of the first round's direction, 0..3; 3 if none are passed
    rounds=Number(),  # how many rounds are over
    totals=Each(Number()),  # 5.1: each seat's points in the rounds that are over
)
MOVE = Moves("plays {card}")  # to pass it, or to play it
add_each = MOVE.add_each


@rule
def deal(state):
    state.first_direction = 3
    if state.passing == PASS_IN_TURN:
        state.first_direction = 0
    elif state.passing == PASS_FROM_ANYWHERE:
        state.first_direction = below(state, len(DIRECTIONS))
    if is_round_of_match(state):
        draw_earlier(state)
    state.last_taker = NONE
    deal_round(state)


@rule
def is_round_of_match(state):
    """7.2: whether one round is played, out of the middle of a match."""
    return state.aim == AIM_ROUND and state.limit != 0


@rule
def draw_earlier(state):
    """7.2: draw up to twelve rounds before this one, none of which ends the match.

    In each, the queen and the hearts in lots of four, four and five go to any seats.
    """
    points = np.empty(SEATS, np.int64)
    for _ in range(below(state, MOST_EARLIER + 1)):
        points[:] = state.totals
        points[below(state, SEATS)] += QUEEN_POINTS
        for lot in (4, 4, 5):
            points[below(state, SEATS)] += lot
        if points.max() >= state.limit:
            return
        for seat in range(SEATS):
            state.totals[seat] = points[seat]
        state.rounds += 1


@rule
def deal_round(state):
    """1.1: shuffle and deal all cards, and begin to pass or to play."""
    cards = np.empty(CARDS, np.int64)
    for card in range(CARDS):
        cards[card] = card
    shuffle(state, cards, 0, CARDS)
    for seat in range(SEATS):
        state.hands[seat] = 0
        for place in range(HAND):
            state.hands[seat] |= single(cards[seat * HAND + place])
        state.played[seat] = 0
        state.lacks[seat] = 0
        state.known[seat] = 0
        state.taken[seat] = 0
        state.tricks[seat] = 0
        state.table[seat] = NONE
    state.broken = 0
    state.revealed = full_deck(SEATS)
    state.direction = 0
    if state.passing != PASS_NEVER:
        state.direction = DIRECTIONS[(state.first_direction + state.rounds) % len(DIRECTIONS)]
    if state.direction == 0:
        start_play(state)
    else:
        state.leader = NONE
        state.turn = 0  # 2.2


@rule
def start_play(state):
    """3.1: the seat that holds the two of clubs leads, so everybody knows where that card is."""
    for seat in range(SEATS):
        if has(state.hands[seat], TWO_OF_CLUBS):
            state.leader = seat
            state.turn = seat
            state.known[seat] = single(TWO_OF_CLUBS)


@rule
def choices(state):
    """The set of cards that the seat to move may pass or play."""
    if state.leader == NONE:
        return state.hands[state.turn] & ~state.passed[state.turn]  # 2.2
    if state.table[state.leader] == NONE:
        return leads(state)
    return follows(state)


@rule
def leads(state):
    """3.1, 3.5: the cards that the seat to move may lead."""
    hand = state.hands[state.turn]
    if is_first_trick(state):
        return hand & suit_cards(CLUBS) if state.any_club != 0 else single(TWO_OF_CLUBS)
    if state.must_break == 0 or state.broken != 0:
        return hand
    others = hand & ~ALL_HEARTS
    if others == 0 or (others == QUEEN and state.lead_for_queen != 0):
        return hand
    return others


@rule
def follows(state):
    """3.2, 3.3: the cards that the seat to move may play to a trick that another seat leads."""
    hand = state.hands[state.turn]
    same = hand & suit_cards(suit(state.table[state.leader]))
    if same != 0:
        return same
    if state.no_points_first != 0 and is_first_trick(state) and hand & ~POINT_CARDS != 0:
        return hand & ~POINT_CARDS
    return hand


@rule
def is_first_trick(state):
    """Whether the seat to move has played no card in this round."""
    return count(state.hands[state.turn]) == HAND


@rule
def legal(state, moves):
    return add_each(moves, 0, choices(state))


@rule
def act(state, move):
    seat, card = state.turn, single(move.card)
    if state.leader == NONE:
        state.passed[seat] |= card  # 2.2
        return
    note_lacks(state, seat, move.card)
    play_card(state, move.card, DECK)  # 3.2, 6.1
    state.played[seat] |= card
    if card & ALL_HEARTS != 0 or (card == QUEEN and state.queen_breaks != 0):
        state.broken = 1  # 3.5


@rule
def note_lacks(state, seat, card):
    """6.1: what everybody learns about the hand of `seat` from a card that it is about to play, beside 3.2."""
    led = state.table[state.leader]
    if led == NONE:
        if suit(card) == HEARTS and state.broken == 0 and state.must_break != 0:  # 3.5
            kept = POINT_CARDS if state.lead_for_queen != 0 else ALL_HEARTS
            state.lacks[seat] |= full_deck(CARDS) & ~kept
    elif suit(card) != suit(led) and state.no_points_first != 0 and is_first_trick(state) and has(POINT_CARDS, card):
        state.lacks[seat] |= full_deck(CARDS) & ~POINT_CARDS  # 3.3


@rule
def settle(state):
    if state.leader == NONE:
        go_on_passing(state)
        return
    if pass_turn(state):
        end_trick(state)
        if state.hands[state.turn] == 0:
            end_round(state)


@rule
def go_on_passing(state):
    """2.1, 2.2: a seat chooses three cards, then the next seat does. After the last one the cards change hands."""
    if count(state.passed[state.turn]) < PASS:
        state.midway = 1
    elif state.turn < SEATS - 1:
        state.turn += 1
    else:
        exchange(state)
        start_play(state)


@rule
def exchange(state):
    """2.1: all passed cards change hands at once."""
    state.last = 0
    state.last_taker = NONE
    for seat in range(SEATS):
        state.hands[seat] &= ~state.passed[seat]
    for seat in range(SEATS):
        state.hands[(seat + state.direction) % SEATS] |= state.passed[seat]
    state.revealed = full_deck(SEATS)


@rule
def unseen_by(state, seat):
    """The cards in other hands, as a set: all that are neither in the own hand nor played."""
    unseen = DECK & ~state.hands[seat]
    for other in range(SEATS):
        unseen &= ~state.played[other]
    return unseen


@rule
def taker(state):
    """3.4: the seat whose card takes the trick so far: the highest card of the suit led. The trick has begun."""
    return seat_that_takes(state, NONE, BY_RANK)


@rule
def end_trick(state):
    """3.4: the taker gets the cards and leads next."""
    seat = taker(state)
    state.last = gather(state, seat)
    state.last_taker = seat
    state.taken[seat] |= state.last
    state.tricks[seat] += 1


@rule
def end_round(state):
    """4, 5.1: count the points, then end the game or deal the next round."""
    for seat in range(SEATS):
        state.totals[seat] += round_points(state, seat)
    for seat in range(SEATS):
        state.passed[seat] = 0
    state.rounds += 1
    if is_last_round(state):
        state.turn = -1
    else:
        deal_round(state)


@rule
def is_last_round(state):
    """5.1: whether the game is over, at the end of a round."""
    if state.limit == 0 or state.rounds == MOST_ROUNDS or is_round_of_match(state):
        return True
    for seat in range(SEATS):
        if state.totals[seat] >= state.limit:
            return True
    return False


@rule
def penalty(cards):
    """4.1: the points of a set of cards, 0 to 26, before 4.2 to 4.4."""
    return count(cards & ALL_HEARTS) + QUEEN_POINTS * has(cards, QUEEN_OF_SPADES)


@rule
def shooter(state):
    """4.2: the seat that has taken all 26 points of this round, or NONE."""
    for seat in range(SEATS):
        if state.taken[seat] & POINT_CARDS == POINT_CARDS:
            return seat
    return NONE


@rule
def round_points(state, seat):
    """4: the points of `seat` if the round ended with the tricks taken so far, -36 to 26."""
    points, shot = penalty(state.taken[seat]), shooter(state)
    if shot != NONE and state.moon == MOON_OTHERS_PAY:
        points = 0 if shot == seat else ALL_POINTS
    elif shot == seat and state.moon == MOON_SHOOTER_GAINS:
        points = -ALL_POINTS
    if state.jack != 0 and has(state.taken[seat], JACK_OF_DIAMONDS):
        points -= JACK_BONUS
    if state.no_trick_bonus != 0 and state.tricks[seat] == 0 and shot == NONE:
        points -= TRICK_BONUS
    return points


@rule
def fewest_points(state):
    """The fewest points that a seat can have in a round."""
    shot = -ALL_POINTS if state.moon == MOON_SHOOTER_GAINS else 0
    if state.jack != 0:
        return shot - JACK_BONUS
    return min(shot, -TRICK_BONUS * state.no_trick_bonus)


@rule
def score(state, seat):
    if state.limit != 0:
        return share_gained(state, seat) if is_round_of_match(state) else share_of_win(state, seat)
    return points_score(state, state.totals[seat])


@rule
def points_score(state, points):
    """7.1: the score of a seat with these points in a game of one round."""
    return (ALL_POINTS - points) / (ALL_POINTS - fewest_points(state))


@rule
def share_of_win(state, seat):
    """5.1: 1 for the lowest total, shared by the seats that have it."""
    return share(-state.totals, full_deck(SEATS), seat)


@rule
def share_gained(state, seat):
    """7.2: what the last round changed in the share of the win that a seat may expect; 1/2 if it is the same."""
    before = np.empty(SEATS, np.int64)
    for other in range(SEATS):
        before[other] = state.totals[other] - round_points(state, other)
    after = share_of_win(state, seat)
    if state.totals.max() < state.limit:
        after = expected_share(state.totals, state.limit, seat)
    return (1.0 + after - expected_share(before, state.limit, seat)) / 2


@rule
def expected_share(totals, limit, seat):
    """7.2: how much of the win a seat may expect with these totals, from 0 to 1, before the match is over."""
    scale, whole = 4.73 + 1.36 * math.sqrt(max(1, limit - totals.max())), 0.0
    for other in range(SEATS):
        whole += math.exp((totals[seat] - totals[other]) / scale)
    return 1.0 / whole


@rule
def few_points(state, seat):
    """7.3, of the last round."""
    return max(0, 10 - penalty(state.taken[seat])) / 10


@rule
def moon_shot(state, seat):
    """7.4, of the last round."""
    return 1.0 if shooter(state) == seat else 0.0


@rule
def moon_broken(state, seat):
    """7.5, of the last round."""
    if shooter(state) != NONE:
        return 0.0
    return 1.0 if penalty(state.taken[seat]) == 0 else 0.1


@rule
def decided(state, seat):
    """In a game of one round, the score is certain once all cards that count are taken."""
    if state.limit != 0:
        return -1.0
    counting = POINT_CARDS | (single(JACK_OF_DIAMONDS) if state.jack != 0 else 0)
    if all_taken(state) & counting != counting:
        return -1.0
    if state.no_trick_bonus != 0 and state.tricks[seat] == 0 and shooter(state) == NONE:
        return -1.0  # 4.4
    return points_score(state, round_points(state, seat))


@rule
def all_taken(state):
    """The cards of all tricks of this round."""
    taken = 0
    for seat in range(SEATS):
        taken |= state.taken[seat]
    return taken
