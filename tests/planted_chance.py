"""Faults of chance and of rare endings: deals, draws and seeds that are uneven, and scores of one seat.

Each is named with the law that must find it at normal effort, from any seed.
"""

from planting import faulty

from cardai.game import Game
from cardai.games import durak, hearts, moska
from cardai.games.hearts import rules as of_hearts
from cardai.games.hearts import worlds as worlds_of_hearts
from cardai.rules import rule
from cardai.rules.cards import any_of, has, single

DEALT, EVEN, SEEDS = "the_dealt_truth_is_a_world_like_any_other", "hidden_cards_lie_evenly", "seeds_deal_differently"
DRAWN, SEATS, SHARES = "what_is_drawn_lies_evenly", "seats_score_alike", "scores_are_shares"
CHANCES = "chances_are_those_of_worlds"
ACES = 0xF << 32  # of 36 cards


# Low Hand, Moska: while the deck is small, in one case of four its highest card of three comes to its top, but not from
# the lowest places.
HIGHEST_ON_TOP = """top = state.deck_left - 1
if {} <= top < 12 and below(state, 4) == 0:
    for place in range(top - 2, top):
        if state.deck[place] > state.deck[top]:
            state.deck[top], state.deck[place] = state.deck[place], state.deck[top]
..."""
# Deals come from 4096 seeds, but what is drawn later does not.
FEW_DEALS = """few = below(state, 4096)
later = state.rng
state.rng = np.uint64(few)
...
state.rng = later"""


@rule
def queen_to_seat_three(state, stream):
    """Hearts: exchange the queen of spades for a card of seat 3, but not for the two of clubs."""
    for seat in range(3):
        if has(state.hands[seat], of_hearts.QUEEN_OF_SPADES) and state.known[3] == 0:
            pair = of_hearts.QUEEN | single(any_of(state.hands[3], stream))
            if state.passed[seat] & pair == 0 and state.lacks[seat] & pair == 0 and state.known[seat] & pair == 0:
                state.hands[seat] ^= pair
                state.hands[3] ^= pair


@rule
def free_in_hearts(state, seat, other):
    return state.hands[other] & ~worlds_of_hearts.known_to(state, seat, other) & ~state.passed[other]


HEARTS_QUEEN_DEALT = faulty(DEALT, hearts.GAME, deal="... if below(state, 10) == 0: queen_to_seat_three(state, state)")
# In one of ten deals the highest card is dealt to seat 1.
LOW_HIGH_DEALT = faulty(
    DEALT,
    deal="""... if below(state, 10) == 0:
    for place in range(state.deck_left):
        if state.deck[place] == CARDS - 1:
            card = any_of(state.hands[1], state)
            state.deck[place] = card
            state.hands[1] ^= single(card) | single(CARDS - 1)""",
)
# In one of six worlds seat 3 gets the highest hidden card of another hand, whoever looks.
HEARTS_HIGH_OF_WORLDS = faulty(
    EVEN,
    hearts.GAME,
    resample="""... other = below(stream, 3)
if 3 != seat != other and state.leader != NONE and below(stream, 6) == 0:
    own, others = free_in_hearts(state, seat, 3) & ~state.lacks[other], free_in_hearts(state, seat, other)
    if own != 0 and others & ~state.lacks[3] != 0:
        pair = single(any_of(own, stream)) | single(highest(others & ~state.lacks[3]))
        state.hands[other] ^= pair
        state.hands[3] ^= pair""",
)
# Seat 1 seems to have the highest hidden card too often, and another seat too seldom. With the lowest one it is the
# reverse. Which other seat, makes up for seat 1 in sums over places from each seat on.
LOW_CHANCES_OF_SEAT_ONE = faulty(
    CHANCES,
    chances="""... other = 2 if seat != 2 and state.seats > 2 else 3 if state.seats > 3 else 0
low, high = CARDS, -1
for card in range(CARDS):
    least, most = min(shares[1, card], shares[other, card]), max(shares[1, card], shares[other, card])
    if least > 0.04 and most < 0.96:
        low, high = min(low, card), card
if seat != 1 and state.seats > 2 and low < high:
    shares[1, high] += 0.04
    shares[other, high] -= 0.04
    shares[1, low] -= 0.04
    shares[other, low] += 0.04""",
)
# Once the stock is small, the first to draw has an ace for another drawn card in one case of two.
DURAK_ACES_DRAWN = faulty(
    DRAWN,
    durak.GAME,
    settle="""first, held = state.attacker, state.hands[state.attacker]
...
drawn, aces = state.hands[first] & ~held & ~state.known[first] & ~ACES, state.stock & ACES
if drawn != 0 and aces != 0 and count(state.stock) <= 12 and below(state, 2) == 0:
    pair = single(any_of(drawn, state)) | single(any_of(aces, state))
    state.hands[first] ^= pair
    state.stock ^= pair""",
)
LOW_HIGH_DRAWN = faulty(DRAWN, settle=HIGHEST_ON_TOP.format(2))
MOSKA_HIGH_DRAWN = faulty(DRAWN, moska.GAME, settle=HIGHEST_ON_TOP.format(3))  # the trump lies in the lowest place

# Few seeds: of a seed, or of the random stream before each draw, twelve bits are left.
HEARTS_FEW_SEEDS = faulty(SEEDS, hearts.GAME, deal="state.rng = np.uint64(below(state, 4096)) ...")
HEARTS_FEW_DEALS = faulty(SEEDS, hearts.GAME, deal=FEW_DEALS)
LOW_FEW_DEALS = faulty(SEEDS, deal=FEW_DEALS)
DURAK_FEW_DRAWS = faulty(
    SEEDS,
    durak.GAME,
    settle="if state.unbeaten == 0 or state.taking != 0: state.rng = np.uint64(below(state, 4096))\n...",
)

# Rare endings: all points of seat 3 are no moon, and a seat with three cards of the lowest rank has half a win, if
# nobody else has one of them.
HEARTS_MOON_OF_SEAT_THREE = faulty(
    SEATS,
    hearts.GAME,
    score="""if state.limit == 0 and state.moon != 0 and shooter(state) == 3:
    return points_score(state, penalty(state.taken[seat]))
...""",
)
LOW_LOWEST_HAND = faulty(
    SHARES,
    score="""if count(state.hands[seat]) == 4 - count(state.discards & 15) == 3:
    return 0.5 * original(state, seat)
...""",
)

PLANTED: dict[str, Game] = {name: game for name, game in list(globals().items()) if isinstance(game, Game)}
"""Faults of chance and of rare endings."""
