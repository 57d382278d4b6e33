"""Pass Left: a small game in which cards are passed on unseen, for the tests of secrets that arise in play.

1. Twelve cards, three seats, hands of four. A seat drawn by lot begins.
2. In turn, each seat chooses one or two cards of its hand (by the variant) for its left neighbour. The others see that
   it has chosen, and not what. When all have chosen, the cards change hands.
3. In the variant `one`, each seat then says whether it holds a heart.
4. Tricks: in turn each seat plays a card face up, of the suit led if it holds one. The highest card of the suit led
   takes the trick and leads next. The score is the share of tricks taken.

A seat knows the cards that it passed on, and those passed to it. Everybody knows who said what in 3, and who could not
follow suit in 4. `PLANTED` has the game with one fault each.
"""

import numpy as np
from planting import changed, faulty

from cardai.game import (
    Agents,
    Game,
    Learning,
    PerspectiveEncoder,
    Player,
    Rules,
    Segment,
    Table,
    Text,
    move_dtype,
    state_dtype,
)
from cardai.rules import below, rule
from cardai.rules.cards import (
    Deck,
    any_of,
    count,
    filled,
    full_deck,
    has,
    highest,
    lowest,
    next_subset,
    put,
    rank,
    single,
    suit,
)
from cardai.rules.cards import suit_cards as all_of_suit
from cardai.rules.dealing import some_of

CARDS = 12
SEATS = 3
HAND = 4
HEARTS = 2
NONE = -1
DECK = Deck(ranks="234")
TRIES = 1000  # deals that `resample` tries; a position of a real game needs a few

STATE = state_dtype(
    passing=(),  # option: how many cards each seat passes on
    declaring=(),  # option: whether rule 3 holds
    hands=SEATS,
    passed=SEATS,  # the cards that each seat passes on: known to itself, and after the exchange to its left neighbour
    exchanged=(),  # 1 once the cards have changed hands
    with_hearts=(),  # the set of seats that said they hold a heart
    lacks=SEATS,  # the suits that everybody knows a seat has no card of, as a set
    played=SEATS,  # the cards each seat has played
    table=SEATS,  # the card each seat has played to this trick, or NONE
    led=(),  # the suit led, or NONE
    tricks=SEATS,
)
MOVE = move_dtype("cards")


@rule
def deal(state):
    rest = full_deck(CARDS)
    for seat in range(SEATS):
        state.table[seat] = NONE
        for _ in range(HAND):
            card = single(any_of(rest, state))
            state.hands[seat] |= card
            rest &= ~card
    state.led = NONE
    state.turn = below(state, SEATS)


@rule
def legal(state, moves):
    hand, n = state.hands[state.turn], 0
    if state.exchanged == 0:
        chosen = next_subset(0, hand, state.passing)
        while chosen != 0:
            if count(chosen) == state.passing:
                moves[n].cards = chosen
                n += 1
            chosen = next_subset(chosen, hand, state.passing)
        return n
    fitting = hand & suit_cards(state.led) if state.led != NONE else hand
    left = fitting if fitting != 0 else hand
    while left != 0:
        moves[n].cards = single(lowest(left))
        left &= left - 1
        n += 1
    return n


@rule
def suit_cards(kind):
    return all_of_suit(kind) & full_deck(CARDS)


@rule
def act(state, move):
    seat = state.turn
    if state.exchanged == 0:
        state.passed[seat] = move.cards
        return
    state.hands[seat] &= ~move.cards
    state.played[seat] |= move.cards
    card = lowest(move.cards)
    state.table[seat] = card
    if state.led == NONE:
        state.led = suit(card)
    elif suit(card) != state.led:
        state.lacks[seat] |= single(state.led)


@rule
def settle(state):
    following = (state.turn + 1) % SEATS
    if state.exchanged == 0:
        if state.passed[following] != 0:
            exchange(state)
        state.turn = following
    elif state.table[following] == NONE:
        state.turn = following
    else:
        end_trick(state)


@rule
def exchange(state):
    for seat in range(SEATS):
        state.hands[seat] &= ~state.passed[seat]
    for seat in range(SEATS):
        state.hands[(seat + 1) % SEATS] |= state.passed[seat]
    state.exchanged = 1
    state.revealed = full_deck(SEATS)
    if state.declaring != 0:
        for seat in range(SEATS):
            if state.hands[seat] & suit_cards(HEARTS) != 0:
                state.with_hearts |= single(seat)


@rule
def end_trick(state):
    best, taker = NONE, 0
    for seat in range(SEATS):
        card = state.table[seat]
        state.table[seat] = NONE
        if suit(card) == state.led and rank(card) > best:
            best, taker = rank(card), seat
    state.tricks[taker] += 1
    state.led = NONE
    state.turn = taker if state.hands[taker] != 0 else -1


@rule
def score(state, seat):
    return state.tricks[seat] / HAND


@rule
def resample(state, seat, stream):
    left, right = (seat + 1) % SEATS, (seat + 2) % SEATS  # `right` passes its cards on to `seat`
    kept = state.passed[seat] & ~state.played[left] if state.exchanged != 0 else 0
    deal_others(state, seat, kept, stream)
    if state.exchanged == 0:
        for other in (left, right):
            if state.passed[other] != 0:
                state.passed[other] = some_of(state.hands[other], state.passing, stream)
    else:
        state.passed[left] = some_of(state.hands[right] | state.played[right], state.passing, stream)


@rule
def deal_others(state, seat, kept, stream):
    """Deal the hands of the two other seats anew: `kept` stays with the left one. Rules 3 and 4 exclude some deals."""
    left, right = (seat + 1) % SEATS, (seat + 2) % SEATS
    pool = (state.hands[left] | state.hands[right]) & ~kept
    missing = count(state.hands[left]) - count(kept)
    for _ in range(TRIES):
        chosen = some_of(pool, missing, stream)
        state.hands[left], state.hands[right] = chosen | kept, pool & ~chosen
        if is_possible(state, left) and is_possible(state, right):
            return


@rule
def is_possible(state, seat):
    """Whether the hand of a seat agrees with what everybody has seen of it."""
    for kind in range(4):
        if has(state.lacks[seat], kind) and state.hands[seat] & suit_cards(kind) != 0:
            return False
    if state.exchanged == 0 or state.declaring == 0:
        return True
    held = (state.hands[seat] | state.played[seat]) & suit_cards(HEARTS) != 0
    return held == has(state.with_hearts, seat)


@rule
def blank(state, seat):
    left, right = (seat + 1) % SEATS, (seat + 2) % SEATS
    kept = state.passed[seat] & ~state.played[left] if state.exchanged != 0 else 0
    state.hands[left] = filled(kept, count(state.hands[left]))
    state.hands[right] = filled(0, count(state.hands[right]))
    state.passed[left] = filled(0, count(state.passed[left]))
    if state.exchanged == 0:
        state.passed[right] = filled(0, count(state.passed[right]))


@rule
def encode(state, seat, row):
    at = put(row, 0, state.hands[seat], CARDS)
    at = put(row, at, state.passed[seat], CARDS)
    at = put(row, at, state.passed[(seat + 2) % SEATS] if state.exchanged != 0 else 0, CARDS)
    for step in range(SEATS):
        other = (seat + step) % SEATS
        at = put(row, at, state.played[other], CARDS)
        at = put(row, at, single(state.table[other]) if state.table[other] != NONE else 0, CARDS)
        at = put(row, at, state.lacks[other], 4)
        row[at] = state.passed[other] != 0
        row[at + 1] = has(state.with_hearts, other)
        row[at + 2] = state.tricks[other]
        row[at + 3] = state.turn == other
        at += 4
    row[at] = state.exchanged
    row[at + 1] = state.passing


def layout(seats):
    planes = ("own hand", "passed on", "received")
    return (
        *(Segment(name, (3, 4)) for name in planes),
        *(
            segment
            for step in range(seats)
            for segment in (
                Segment(f"played by seat +{step}", (3, 4)),
                Segment(f"on the table of seat +{step}", (3, 4)),
                Segment(f"suits that seat +{step} lacks", (4,)),
                Segment(f"seat +{step} has chosen"),
                Segment(f"seat +{step} said hearts"),
                Segment(f"tricks of seat +{step}"),
                Segment(f"seat +{step} to move"),
            )
        ),
        Segment("exchanged"),
        Segment("cards passed"),
    )


@rule
def taken(state, seat):
    return float(state.tricks[seat])


@rule
def high(world, move, params, stream):
    hand = world.hands[world.turn]
    if world.exchanged == 0:
        for _ in range(world.passing):
            move.cards |= single(highest(hand & ~move.cards))
        return
    fitting = hand & suit_cards(world.led) if world.led != NONE else hand
    move.cards = single(highest(fitting if fitting != 0 else hand))


def spell(state, move):
    return ("plays " if state["exchanged"] else "passes ") + DECK.names(move["cards"])


def parse(state, text):
    verb, _, cards = text.partition(" ")
    if verb not in ("passes", "plays"):
        raise ValueError(f"{verb!r} is neither passes nor plays")
    move = np.zeros(1, MOVE)[0]
    move["cards"] = DECK.cards(cards)
    return move


def tell(state, move, seat):
    cards = int(state["passing"])
    return spell(state, move) if state["exchanged"] else f"passes {cards} card{'s' if cards > 1 else ''}"


def show(state, seat):
    received = DECK.names(state.passed[(seat + 2) % SEATS]) if state.exchanged else ""
    lines = [f"You hold {DECK.names(state.hands[seat])}, passed {DECK.names(state.passed[seat])}, received {received}"]
    for other in range(SEATS):
        said = "" if not (state.exchanged and state.declaring) else f", {hearts(state, other)}"
        lacks = "".join(DECK.suits[kind] for kind in range(4) if int(state.lacks[other]) >> kind & 1)
        table = DECK.name(state.table[other]) if state.table[other] != NONE else "none"
        lines.append(
            f"p{other} {'has chosen' if state.passed[other] else 'chooses'}, played"
            f" {DECK.names(state.played[other])}, now {table}, {int(state.tricks[other])} tricks, lacks {lacks}{said}"
        )
    return "\n".join(lines)


def hearts(state, seat):
    return "had hearts" if int(state.with_hearts) >> seat & 1 else "had no hearts"


def cards_alike(state):
    """3: a seat that says so holds a heart."""
    return [0x111 << HEARTS, full_deck(CARDS) & ~(0x111 << HEARTS)]


def holdings(state):
    return [*(int(hand) for hand in state.hands), *(int(cards) for cards in state.played)]


GAME = Game(
    name="pass_left",
    title="Pass Left",
    version=1,
    seats=range(SEATS, SEATS + 1),
    default_seats=SEATS,
    state=STATE,
    move=MOVE,
    max_moves=6,
    max_plies=SEATS + CARDS,
    score_sum=lambda seats: 1.0,
    cards_alike=cards_alike,
    variants={"two": {"passing": 2}, "one": {"passing": 1, "declaring": 1}},
    rules=Rules(deal, legal, act, settle, score, resample=resample, blank=blank),
    text=Text(spell=spell, parse=parse, show=show, tell=tell),
    table=Table(holdings=holdings),
    learning=Learning(
        encoders={"planes": PerspectiveEncoder(layout, encode)},
    ),
    agents=Agents(
        players={"high": Player(high, "passes and plays its highest cards", sees="own")},
        heuristics={"taken": taken},
    ),
)

OUTCOMES = "worlds_after_a_move_are_the_outcomes_of_worlds_before"
EVEN = "worlds_are_even"
DEALS = "worlds_at_the_deal_are_deals_that_look_alike"
SAME_WORDS = "what_is_told_is_the_same_in_every_world"
WORDS = "what_is_told_names_nothing_hidden"
SHARED = "what_every_outcome_shares_is_known"
UNSEEN = "hidden_moves_stay_hidden"


@rule
def swap(state, card, other):
    """Exchange a card of a hand, as a set, for one that another hand has."""
    for holder in range(SEATS):
        if state.hands[holder] & (card | other) != 0:
            state.hands[holder] ^= card | other


@rule
def keeps_a_heart(state, seat):
    for other in range(SEATS):
        bare = state.hands[other] != 0 and state.hands[other] & suit_cards(HEARTS) == 0
        if other != seat and bare and has(state.with_hearts, other):
            return False
    return True


# Keeps what the left neighbour passed to the right one, and where it lies.
TRUTH_ABOUT_OTHERS = """left, right = (seat + 1) % SEATS, (seat + 2) % SEATS
passed, hand = state.passed[left], state.hands[right]
...
if state.exchanged != 0:
    state.passed[left] = passed
    while passed & hand & state.hands[left] != 0:
        card = single(lowest(passed & hand & state.hands[left]))
        swap(state, card, single(lowest(state.hands[right] & ~(passed & hand))))"""
# Forgets which cards the seat itself passed on: they may be in either hand.
OWN_PASS_FORGOTTEN = """left = (seat + 1) % SEATS
passed, state.passed[seat] = state.passed[seat], 0
...
state.passed[seat] = passed
if state.exchanged != 0: state.passed[seat] = some_of(state.hands[left] | state.played[left], state.passing, stream)"""


def tell_suits(state, move, seat):
    """Tells how many suits the seat to move holds."""
    held = int(state["hands"][int(state["turn"])])
    return f"{tell(state, move, seat)} of {sum(held & 0x1111 << kind > 0 for kind in range(4))} suits"


def tell_of_hearts(state, move, seat):
    """Tells only whether a heart is among the cards passed."""
    has_heart = int(move["cards"]) & 0x1111 << HEARTS and not state["exchanged"]
    return tell(state, move, seat) + (" with a heart" if has_heart else "")


PLANTED: dict[str, Game] = {
    "truth about others": faulty(OUTCOMES, GAME, resample=TRUTH_ABOUT_OTHERS),
    "truth about others, found by samples": faulty(UNSEEN, GAME, resample=TRUTH_ABOUT_OTHERS),
    "own pass forgotten": faulty(OUTCOMES, GAME, resample=OWN_PASS_FORGOTTEN),
    "own pass forgotten, found by samples": faulty(SHARED, GAME, resample=OWN_PASS_FORGOTTEN),
    # Remembers which cards the seat passed on, but not that its left neighbour has them.
    "own pass anywhere": faulty(
        SHARED,
        GAME,
        resample="passed, state.passed[seat] = state.passed[seat], 0 ... state.passed[seat] = passed",
    ),
    # Leaves what the left neighbour passed on as it is.
    "what others passed": faulty(
        UNSEEN, GAME, resample="passed = state.passed.copy() ... if state.exchanged != 0: state.passed[:] = passed"
    ),
    # Forgets which of its cards were passed to the seat.
    "received cards forgotten": faulty(
        OUTCOMES,
        GAME,
        resample="""... if state.exchanged != 0:
    state.passed[(seat + 2) % SEATS] = some_of(state.hands[seat] | state.played[seat], state.passing, stream)""",
        encoders={"planes": PerspectiveEncoder(layout, changed(encode, "... row[2 * CARDS : 3 * CARDS] = 0"))},
        show=", received {received} -> ",
    ),
    # Assumes that a seat has chosen the highest card it holds.
    "high cards passed": faulty(
        OUTCOMES,
        GAME,
        resample="""... for other in range(SEATS):
    if other != seat and state.exchanged == 0 and state.passed[other] != 0:
        high_one = single(highest(state.hands[other]))
        if state.passed[other] & high_one == 0:
            state.passed[other] = state.passed[other] & (state.passed[other] - 1) | high_one""",
    ),
    # In 5 % of worlds, the highest card of the left neighbour's hand is where it was.
    "one true card": faulty(
        EVEN,
        GAME,
        resample="""left, right = (seat + 1) % SEATS, (seat + 2) % SEATS
before = state.hands[left]
...
if state.exchanged != 0 and before != 0 and below(stream, 20) == 0:
    card, movable = single(highest(before)), state.hands[left] & ~state.passed[seat]
    if state.hands[right] & card != 0 and movable != 0:
        other = single(lowest(movable))
        swap(state, other, card)
        if not is_possible(state, left) or not is_possible(state, right):
            swap(state, card, other)""",
    ),
    # Forgets "at least one heart": who said so may hold none.
    "hearts forgotten": faulty(
        OUTCOMES,
        GAME,
        resample="""none, option, state.declaring = full_deck(SEATS) & ~state.with_hearts, state.declaring, 0
for _ in range(TRIES):
    original(state, seat, stream)
    denied = 0
    for other in range(SEATS):
        if has(none, other):
            denied |= state.hands[other] & suit_cards(HEARTS)
    if option == 0 or state.exchanged == 0 or denied == 0:
        break
state.declaring = option
return
...""",
    ),
    # Assumes that who said it holds a heart has one still, though it may have played it.
    "a heart invented": faulty(
        OUTCOMES,
        GAME,
        resample="""for _ in range(TRIES):
    original(state, seat, stream)
    if state.declaring == 0 or state.exchanged == 0 or keeps_a_heart(state, seat):
        return
...""",
    ),
    "cards told": faulty(WORDS, GAME, tell=lambda state, move, seat: spell(state, move)),
    "no tell": faulty(WORDS, GAME, tell=None),
    "hearts told": faulty(WORDS, GAME, tell=tell_of_hearts),
    "suits told": faulty(SAME_WORDS, GAME, tell=tell_suits),
    # At the deal, the left neighbour always has the lowest card that the seat does not hold.
    "lowest card placed": faulty(
        DEALS,
        GAME,
        resample="""... left, right = (seat + 1) % SEATS, (seat + 2) % SEATS
card = single(lowest(state.hands[left] | state.hands[right]))
if state.ply == 0 and state.hands[right] & card != 0:
    swap(state, single(highest(state.hands[left])), card)""",
    ),
    # Deals again while a seat holds all hearts, which the worlds of others allow.
    "deal with a rule": faulty(
        DEALS,
        GAME,
        deal="""while True:
    original(state)
    crowded = 0
    for seat in range(SEATS):
        crowded += state.hands[seat] & suit_cards(HEARTS) == suit_cards(HEARTS)
    if crowded == 0:
        return
    for seat in range(SEATS):
        state.hands[seat] = 0
...""",
    ),
    # Forgets who could not follow suit.
    "suits lacked forgotten": faulty(OUTCOMES, GAME, resample="state.lacks[:] = 0 ..."),
}
