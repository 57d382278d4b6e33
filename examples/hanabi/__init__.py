"""Hanabi: cards that are alike, hands that all see but their owner, and one score for all.

Numbers in comments are the rules of RULES.md in this folder.
"""

import numpy as np

from cardai.cards import any_kind, put, single
from cardai.dealing import deal_hidden, weight_of
from cardai.game import Game, Payoff, PerspectiveEncoder, Player, Segment, Zone, move_dtype, state_dtype
from cardai.rule import rule

COLOURS, NUMBERS, SEATS, SLOTS = 5, 5, 5, 5
KINDS = COLOURS * NUMBERS  # a kind of card is 5 * colour + number - 1
COPIES = (3, 2, 2, 2, 1) * COLOURS  # 1.1
NUMBER_OF = np.array(COPIES, np.int64)
HINTS, LIVES = 8, 3  # 1.3
ANY, NONE = 31, -1  # the set of all colours, or of all numbers
NAMES = tuple(f"{colour}{number}" for colour in "RYGWB" for number in range(1, 6))
MARKS = "RYGWB", "12345"
WORDS = ("red", "yellow", "green", "white", "blue")

STATE = state_dtype(
    hands=(SEATS, SLOTS),  # the kind of the card in each slot, NONE beyond the hand; the newest card is the last
    colours=(SEATS, SLOTS),  # 3.1: the set of colours that each card may have, by hints
    numbers=(SEATS, SLOTS),  # 3.1: the set of numbers, as 1 << number - 1
    told=SEATS,  # the set of slots of which the last move told
    deck=KINDS,  # how many cards of each kind are in it: it has no order, a draw decides
    deck_size=(),
    fireworks=COLOURS,  # how high each is
    discards=KINDS,
    hints=(),
    lives=(),
    turns_left=(),  # 4.3: turns when the deck is empty
    chosen=(),  # the slot that is played or discarded, until it is settled; else NONE
    plays=(),  # 1 if it is played
)
MOVE = move_dtype("kind", "who", "what")

# Kinds of move, in canonical order. `who`: for a hint how many seats further its target sits, else 0. `what`: the slot,
# the colour, or the number less 1.
DISCARD, PLAY, TELL_COLOUR, TELL_NUMBER = range(4)


@rule
def hand_size(state):
    """1.2."""
    return 5 if state.seats < 4 else 4


@rule
def deal(state):
    state.hints, state.lives, state.turns_left, state.chosen = HINTS, LIVES, state.seats, NONE
    state.deck[:] = NUMBER_OF
    state.deck_size = NUMBER_OF.sum()
    state.hands[:, :] = NONE
    for seat in range(state.seats):
        for slot in range(hand_size(state)):
            draw(state, seat, slot)
    state.turn = 0


@rule
def draw(state, seat, slot):
    """2.4: draw a card into a slot, of which nothing was told yet."""
    kind = any_kind(state.deck, state)
    state.deck[kind] -= 1
    state.deck_size -= 1
    state.hands[seat, slot] = kind
    state.colours[seat, slot] = ANY
    state.numbers[seat, slot] = ANY


@rule
def touched(state, seat, kind, what):
    """The set of slots of a hand that a hint would name."""
    slots = 0
    for slot in range(hand_size(state)):
        card = state.hands[seat, slot]
        if card != NONE and what == (card // NUMBERS if kind == TELL_COLOUR else card % NUMBERS):
            slots |= 1 << slot
    return slots


@rule
def legal(state, moves):
    n = 0
    for kind in range(2):
        for slot in range(hand_size(state)):
            if state.hands[state.turn, slot] != NONE and (kind == PLAY or state.hints < HINTS):  # 2.2
                moves[n].kind, moves[n].who, moves[n].what = kind, 0, slot
                n += 1
    for kind in range(TELL_COLOUR, TELL_NUMBER + 1):
        for step in range(1, state.seats):
            for what in range(5):
                if state.hints > 0 and touched(state, (state.turn + step) % state.seats, kind, what) != 0:  # 2.1
                    moves[n].kind, moves[n].who, moves[n].what = kind, step, what
                    n += 1
    return n


@rule
def act(state, move):
    state.told[:] = 0
    if move.kind < TELL_COLOUR:
        state.chosen = move.what
        state.plays = move.kind
        return
    state.hints -= 1
    seat = (state.turn + move.who) % state.seats
    slots = touched(state, seat, move.kind, move.what)
    masks = state.colours[seat] if move.kind == TELL_COLOUR else state.numbers[seat]
    for slot in range(hand_size(state)):  # 3.1
        masks[slot] &= 1 << move.what if slots >> slot & 1 else ~(1 << move.what)
    state.told[seat] = slots
    state.revealed = single(seat)


@rule
def settle(state):
    if state.deck_size == 0:  # 4.3
        state.turns_left -= 1
    if state.chosen != NONE:
        turn_up(state, state.turn, state.chosen)
        state.chosen = NONE
        state.plays = 0
        state.revealed = (1 << state.seats) - 1  # the owner sees the card, the others see the one that is drawn
    if state.lives == 0 or state.fireworks.sum() == KINDS or state.turns_left == 0:  # 4
        state.turn = -1
        state.revealed = (1 << state.seats) - 1
    else:
        state.turn = (state.turn + 1) % state.seats


@rule
def turn_up(state, seat, slot):
    """2.2 to 2.4: the card of a slot is played or discarded, and another one drawn."""
    kind = state.hands[seat, slot]
    colour, number = kind // NUMBERS, kind % NUMBERS
    if state.plays == 1 and state.fireworks[colour] == number:
        state.fireworks[colour] += 1
        state.hints += number == NUMBERS - 1 and state.hints < HINTS
    else:
        state.discards[kind] += 1
        state.hints += 1 - state.plays
        state.lives -= state.plays
    last = hand_size(state) - 1
    for slots in (state.hands[seat], state.colours[seat], state.numbers[seat]):
        slots[slot:last] = slots[slot + 1 : last + 1].copy()
        slots[last] = 0
    state.hands[seat, last] = NONE
    if state.deck_size > 0:
        draw(state, seat, last)


@rule
def score(state, seat):
    return 1.0 * state.fireworks.sum() if state.lives > 0 else 0.0  # 4.1, 4.3


@rule
def may_be(state, seat, slot, kind):
    """Whether a card may be of a kind, by the hints."""
    return state.colours[seat, slot] >> kind // NUMBERS & 1 and state.numbers[seat, slot] >> kind % NUMBERS & 1


@rule
def resample(state, seat, stream):
    # Each slot of the own hand is a place for one of the cards that its hints allow; the rest of them is the deck.
    cards, dealt = state.deck.copy(), np.zeros((SLOTS + 1, KINDS), np.int64)
    sizes, banned = np.zeros(SLOTS + 1, np.int64), np.zeros(SLOTS + 1, np.int64)
    sizes[SLOTS] = state.deck_size
    for slot in range(SLOTS):
        if state.hands[seat, slot] != NONE:
            cards[state.hands[seat, slot]] += 1
            sizes[slot] = 1
            for kind in range(KINDS):
                banned[slot] |= 0 if may_be(state, seat, slot, kind) else single(kind)
    deal_hidden(cards, sizes, banned, dealt, stream)
    for slot in range(SLOTS):
        if state.hands[seat, slot] != NONE:
            state.hands[seat, slot] = np.argmax(dealt[slot])
    state.deck[:] = dealt[SLOTS]


@rule
def weight(state):
    """A state is as likely as the deals that become it: cards in hands have an order, those in the deck have none."""
    return weight_of(state.deck.reshape((1, KINDS)))


@rule
def blank(state, seat):
    for slot in range(hand_size(state)):
        state.hands[seat, slot] = min(state.hands[seat, slot], 0)
    state.deck[:] = 0


def layout(seats):
    each = range(seats)
    return (
        *(Segment(f"hand of seat +{step}", (SLOTS, KINDS)) for step in each if step),
        *(Segment(f"colours of seat +{step}", (SLOTS, COLOURS)) for step in each),
        *(Segment(f"numbers of seat +{step}", (SLOTS, NUMBERS)) for step in each),
        *(Segment(f"told of seat +{step}", (SLOTS,)) for step in each),
        Segment("fireworks", (COLOURS,)),
        Segment("discards", (COLOURS, NUMBERS)),
        *map(Segment, ("deck", "hints", "lives", "turns left", "to move", "slot", "plays")),
    )


@rule
def encode(state, seat, row):
    place = 0
    for step in range(1, state.seats):
        for kind in state.hands[(seat + step) % state.seats]:
            place = put(row, place, single(kind) if kind != NONE else 0, KINDS)
    for masks in (state.colours, state.numbers):
        for step in range(state.seats):
            for mask in masks[(seat + step) % state.seats]:
                place = put(row, place, mask, 5)
    for step in range(state.seats):
        place = put(row, place, state.told[(seat + step) % state.seats], SLOTS)
    row[place : place + COLOURS] = state.fireworks
    row[place + COLOURS : place + COLOURS + KINDS] = state.discards
    turn = (state.turn - seat) % state.seats if state.turn >= 0 else SEATS
    values = (state.deck_size, state.hints, state.lives, state.turns_left, turn, state.chosen + 1, state.plays)
    for i in range(len(values)):
        row[place + COLOURS + KINDS + i] = values[i]


@rule
def is_playable(state, kind):
    return state.fireworks[kind // NUMBERS] == kind % NUMBERS


@rule
def is_useless(state, kind):
    """Whether no firework will ever need a card: it is there, or a number below it is all discarded."""
    colour = kind // NUMBERS
    for number in range(state.fireworks[colour], kind % NUMBERS):
        if state.discards[5 * colour + number] == NUMBER_OF[number]:
            return True
    return state.fireworks[colour] > kind % NUMBERS


@rule
def share(state, seat, slot, left, asks_playable):
    """How likely a card is playable, or useless, for its owner: by its hints and the cards that the owner sees.

    `left`: int64[25], how many cards of each kind the owner does not see.
    """
    good, total = 0, 0
    for kind in range(KINDS):
        if may_be(state, seat, slot, kind):
            total += left[kind]
            if is_playable(state, kind) if asks_playable else is_useless(state, kind):
                good += left[kind]
    return good / total if total else 0.0


@rule
def unseen_by(state, owner, asker):
    """How many cards of each kind `owner` does not see, as far as `asker` knows (whose own hand is never looked at)."""
    left = NUMBER_OF - state.discards
    for kind in range(KINDS):
        left[kind] -= state.fireworks[kind // NUMBERS] > kind % NUMBERS
    for seat in range(state.seats):
        for slot in range(SLOTS):
            if seat != owner and seat != asker and state.hands[seat, slot] != NONE:
                left[state.hands[seat, slot]] -= 1
    return left


@rule
def best_hint(state, move):
    """Fill in the hint after which cards that can be played are likeliest to be, and others least. Returns whether."""
    best = 0.0
    for step in range(1, state.seats):
        seat = (state.turn + step) % state.seats
        left = unseen_by(state, seat, state.turn)
        for kind in range(TELL_COLOUR, TELL_NUMBER + 1):
            for what in range(5):
                slots = touched(state, seat, kind, what)
                worth = -0.01 * step
                masks = state.colours[seat] if kind == TELL_COLOUR else state.numbers[seat]
                for slot in range(SLOTS):
                    if slots >> slot & 1:
                        before, mask = share(state, seat, slot, left, True), masks[slot]
                        masks[slot] = 1 << what
                        after = share(state, seat, slot, left, True)
                        masks[slot] = mask
                        worth += (after - before) * (1.0 if is_playable(state, state.hands[seat, slot]) else -0.5)
                if slots != 0 and worth > best:
                    best = worth
                    move.kind, move.who, move.what = kind, step, what
    return best > 0.0


@rule
def careful(world, move, params, stream):
    """Play what is likely enough to be playable; else hint at what the others can play; else discard."""
    seat, left = world.turn, unseen_by(world, world.turn, world.turn)
    play, discard, playable, useless = NONE, 0, 0.0, -1.0
    for slot in range(hand_size(world)):
        if world.hands[seat, slot] != NONE:
            likely = share(world, seat, slot, left, True)
            if likely > playable:
                play, playable = slot, likely
            fresh = world.colours[seat, slot] == ANY and world.numbers[seat, slot] == ANY
            spare = share(world, seat, slot, left, False) + (0.3 if fresh else 0.0) - 0.001 * slot
            if spare > useless:
                discard, useless = slot, spare
    if play != NONE and playable >= (params[0] if world.lives > 1 else 1.0):
        move.kind, move.what = PLAY, play
    elif world.hints == 0 or not best_hint(world, move):
        if world.hints < HINTS:
            move.kind, move.what = DISCARD, discard
        else:
            move.kind, move.who = TELL_NUMBER, 1
            move.what = world.hands[(seat + 1) % world.seats, 0] % NUMBERS


CAREFUL = Player(
    careful,
    about="plays cards that are playable with probability `dares`, hints at those of others, discards the rest",
    defaults={"dares": 0.8},
    sees="own",
)


def holdings(state):
    hands = [np.bincount(hand[hand != NONE], minlength=KINDS) for hand in np.asarray(state.hands)[: int(state.seats)]]
    fireworks = [int(state.fireworks[kind // NUMBERS] > kind % NUMBERS) for kind in range(KINDS)]
    return [*hands, state.deck, fireworks, state.discards]


def spell(state, move):
    kind, what = int(move["kind"]), int(move["what"])
    if kind < TELL_COLOUR:
        return f"{'plays' if kind == PLAY else 'discards'} {what + 1}"
    seat = (int(state.turn) + int(move["who"])) % int(state.seats)
    return f"tells p{seat} {WORDS[what] if kind == TELL_COLOUR else what + 1}"


def known(state, seat, slot):
    """What the owner of a card may think that it is, by hints: "R 1" (a red 1), "RY 45", and "?" for all of them."""
    both = int(state.colours[seat, slot]), int(state.numbers[seat, slot])
    words = ("".join(MARKS[i][bit] for bit in range(5) if mask >> bit & 1) for i, mask in enumerate(both))
    return " ".join("?" if len(word) == 5 else word for word in words)


def show(state, seat):
    high = " ".join(f"{colour}{int(height)}" for colour, height in zip("RYGWB", state.fireworks, strict=True))
    thrown = " ".join(NAMES[kind] for kind in range(KINDS) for _ in range(int(state.discards[kind])))
    lines = [f"Fireworks: {high}. Hints: {int(state.hints)}. Lives: {int(state.lives)}. Deck: {int(state.deck_size)}."]
    lines.append(f"Discarded: {thrown or 'nothing'}.")
    for other in range(int(state.seats)):
        cards = []
        for slot in np.flatnonzero(state.hands[other] != NONE).tolist():
            name = "" if other == seat else NAMES[state.hands[other, slot]]
            mark = "*" if int(state.told[other]) >> slot & 1 else ""
            cards.append(f"{name}({known(state, other, slot)}){mark}")
        lines.append(f"p{other}{' (you)' if other == seat else ''}: {' '.join(cards)}.")
    return "\n".join(lines)


def zones(state, seat):
    hands = []
    for other in range(int(state.seats)):
        cards = [int(kind) for kind in state.hands[other] if kind != NONE]
        note = ", ".join(known(state, other, slot) for slot in range(len(cards)))
        seen = [] if other == seat else cards
        hands.append(Zone("Hand", seen, len(cards) - len(seen), seat=other, look="fan", open=seen, reminder=note))
    tops = [5 * colour + int(height) - 1 for colour, height in enumerate(state.fireworks) if height]
    discards = [kind for kind in range(KINDS) for _ in range(int(state.discards[kind]))]
    left = f"{int(state.hints)} hints, {int(state.lives)} lives"
    deck = Zone("Deck", hidden=int(state.deck_size), look="pile", note=left)
    return [*hands, Zone("Fireworks", tops), deck, Zone("Discards", discards, look="fan")]


def ending(state):
    complete = "All fireworks are complete" if state.fireworks.sum() == KINDS else "The deck is empty"
    return f"{'The last life is lost' if state.lives == 0 else complete}: {round(score(state, 0))} of 25 points."


SLOTS_CHOSEN = [(kind, 0, slot) for kind in (DISCARD, PLAY) for slot in range(SLOTS)]
TOLD = [(kind, who, what) for kind in (TELL_COLOUR, TELL_NUMBER) for who in range(1, SEATS) for what in range(5)]
ACTIONS = {move: number for number, move in enumerate(SLOTS_CHOSEN + TOLD)}

GAME = Game(
    name="hanabi", title="Hanabi", version=1, seats=range(2, SEATS + 1), default_seats=3, teams=1,
    state=STATE, move=MOVE, max_moves=2 * SLOTS + (SEATS - 1) * 10, actions=ACTIONS,
    max_plies=120,  # at most 50 cards are played or discarded, and 8 hints and one for each of them given
    deal=deal, legal=legal, act=act, settle=settle, score=score, payoff=Payoff(0, 25, "points"),
    resample=resample, blank=blank, weight=weight, copies=COPIES, holdings=holdings,
    encoders={"slots": PerspectiveEncoder(layout, encode)}, players={"careful": CAREFUL},
    spell=spell, show=show, pieces=NAMES, zones=zones, ending=ending,
)  # fmt: skip
