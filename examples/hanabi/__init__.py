"""Hanabi: cards that are alike, hands that all see but their owner, and one score for all.

Numbers in comments are the rules of RULES.md in this folder.
"""

import numpy as np

from cardai.game import Agents, Game, Learning, Payoff, Player, Rules, Text, move_dtype
from cardai.game.declared import NONE, Cards, Each, Number, Pile, Slots, State, Stock, Word
from cardai.rules import rule
from cardai.rules.cards import Deck, any_kind, full_deck, has, single
from cardai.rules.dealing import deal_hidden

COLOURS, NUMBERS, SEATS, SLOTS = 5, 5, 5, 5
DECK = Deck(ranks="RYGWB", suits="12345")  # a kind of card is 5 * colour + number - 1
KINDS = COLOURS * NUMBERS
COPIES = (3, 2, 2, 2, 1) * COLOURS  # 1.1
NUMBER_OF = np.array(COPIES, np.int64)
HINTS, LIVES = 8, 3  # 1.3
RED, ONES = 0x1F, 0x108421  # the kinds of the first colour and of the first number
WORDS = ("red", "yellow", "green", "white", "blue")

STATE = State(
    DECK, SEATS, COPIES,
    hands=Slots(SLOTS),  # the newest card is the last
    may=Each(Cards("may be", shape=(SLOTS,))),  # 3.1: the kinds that the hints allow a card to be
    told=Each(Number("told", high=1, shape=(SLOTS,))),  # whether the last move told of it
    deck=Stock("Deck"),  # it has no order, a draw decides
    fireworks=Pile(look="pile"),
    discards=Pile(look="pile"),
    hints=Number(high=HINTS),
    lives=Number(high=LIVES),
    turns_left=Number("turns left without a deck", high=SEATS),  # 4.3
    chosen=Word(*(f"{verb} {slot + 1}" for verb in ("discards", "plays") for slot in range(SLOTS))),  # until settled
)  # fmt: skip
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
    state.hands[seat, slot] = kind
    state.may[seat, slot] = full_deck(KINDS)


@rule
def kinds_of(kind, what):
    """The kinds of card that a hint names."""
    return RED << NUMBERS * what if kind == TELL_COLOUR else ONES << what


@rule
def touched(state, seat, kind, what):
    """The set of slots of a hand that a hint would name."""
    slots = 0
    for slot in range(hand_size(state)):
        card = state.hands[seat, slot]
        if card != NONE and has(kinds_of(kind, what), card):
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
    state.told[:, :] = 0
    if move.kind < TELL_COLOUR:
        state.chosen = move.kind * SLOTS + move.what
        return
    state.hints -= 1
    seat, kinds = (state.turn + move.who) % state.seats, kinds_of(move.kind, move.what)
    slots = touched(state, seat, move.kind, move.what)
    for slot in range(hand_size(state)):  # 3.1
        state.told[seat, slot] = slots >> slot & 1
        state.may[seat, slot] &= kinds if slots >> slot & 1 else ~kinds
    state.revealed = single(seat)


@rule
def settle(state):
    if state.deck.sum() == 0:  # 4.3
        state.turns_left -= 1
    if state.chosen != NONE:
        turn_up(state, state.turn, state.chosen % SLOTS, state.chosen // SLOTS == PLAY)
        state.chosen = NONE
        state.revealed = (1 << state.seats) - 1  # the owner sees the card, the others see the one that is drawn
    if state.lives == 0 or state.fireworks.sum() == KINDS or state.turns_left == 0:  # 4
        state.turn = -1
        state.revealed = (1 << state.seats) - 1
    else:
        state.turn = (state.turn + 1) % state.seats


@rule
def turn_up(state, seat, slot, is_played):
    """2.2 to 2.4: the card of a slot is played or discarded, and another one drawn."""
    kind = state.hands[seat, slot]
    if is_played and is_playable(state, kind):
        state.fireworks[kind] = 1
        state.hints += kind % NUMBERS == NUMBERS - 1 and state.hints < HINTS
    else:
        state.discards[kind] += 1
        state.hints += not is_played
        state.lives -= is_played
    last = hand_size(state) - 1
    for slots in (state.hands[seat], state.may[seat]):
        slots[slot:last] = slots[slot + 1 : last + 1].copy()
        slots[last] = 0
    state.hands[seat, last] = NONE
    if state.deck.sum() > 0:
        draw(state, seat, last)


@rule
def score(state, seat):
    return 1.0 * state.fireworks.sum() if state.lives > 0 else 0.0  # 4.1, 4.3


@rule
def resample(state, seat, stream):
    # Each slot of the own hand is a place for one of the cards that its hints allow; the rest of them is the deck.
    cards, dealt = state.deck.copy(), np.zeros((SLOTS + 1, KINDS), np.int64)
    sizes, banned = np.zeros(SLOTS + 1, np.int64), np.zeros(SLOTS + 1, np.int64)
    sizes[SLOTS] = cards.sum()
    for slot in range(SLOTS):
        if state.hands[seat, slot] != NONE:
            cards[state.hands[seat, slot]] += 1
            sizes[slot] = 1
            banned[slot] = full_deck(KINDS) & ~state.may[seat, slot]
    deal_hidden(cards, sizes, banned, dealt, stream)
    for slot in range(SLOTS):
        if state.hands[seat, slot] != NONE:
            state.hands[seat, slot] = np.argmax(dealt[slot])
    state.deck[:] = dealt[SLOTS]


@rule
def is_playable(state, kind):
    return state.fireworks[kind] == 0 and (kind % NUMBERS == 0 or state.fireworks[kind - 1] == 1)


@rule
def is_useless(state, kind):
    """Whether no firework will ever need a card: it is there, or a number below it is all discarded."""
    for lower in range(kind - kind % NUMBERS, kind):
        if state.fireworks[lower] == 0 and state.discards[lower] == NUMBER_OF[lower]:
            return True
    return state.fireworks[kind] == 1


@rule
def share(state, seat, slot, left, asks_playable):
    """How likely a card is playable, or useless, for its owner: by its hints and the cards that the owner sees.

    `left`: int64[25], how many cards of each kind the owner does not see.
    """
    good, total = 0, 0
    for kind in range(KINDS):
        if has(state.may[seat, slot], kind):
            total += left[kind]
            if is_playable(state, kind) if asks_playable else is_useless(state, kind):
                good += left[kind]
    return good / total if total else 0.0


@rule
def unseen_by(state, owner, asker):
    """How many cards of each kind `owner` does not see, as far as `asker` knows (whose own hand is never looked at)."""
    left = NUMBER_OF - state.discards - state.fireworks
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
                for slot in range(SLOTS):
                    if slots >> slot & 1:
                        before, kinds = share(state, seat, slot, left, True), state.may[seat, slot]
                        state.may[seat, slot] &= kinds_of(kind, what)
                        after = share(state, seat, slot, left, True)
                        state.may[seat, slot] = kinds
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
            fresh = world.may[seat, slot] == full_deck(KINDS)
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


def spell(state, move):
    kind, what = int(move["kind"]), int(move["what"])
    if kind < TELL_COLOUR:
        return f"{'plays' if kind == PLAY else 'discards'} {what + 1}"
    seat = (int(state.turn) + int(move["who"])) % int(state.seats)
    return f"tells p{seat} {WORDS[what] if kind == TELL_COLOUR else what + 1}"


def ending(state):
    complete = "All fireworks are complete" if state.fireworks.sum() == KINDS else "The deck is empty"
    return f"{'The last life is lost' if state.lives == 0 else complete}: {round(score(state, 0))} of 25 points."


SLOTS_CHOSEN = [(kind, 0, slot) for kind in (DISCARD, PLAY) for slot in range(SLOTS)]
TOLD = [(kind, who, what) for kind in (TELL_COLOUR, TELL_NUMBER) for who in range(1, SEATS) for what in range(5)]

GAME = Game(
    name="hanabi", title="Hanabi", version=1, seats=range(2, SEATS + 1), default_seats=3, teams=1, state=STATE,
    move=MOVE, max_moves=2 * SLOTS + (SEATS - 1) * 10, payoff=Payoff(0, 25, "points"),
    max_plies=120,  # at most 50 cards are played or discarded, and 8 hints and one for each of them given
    rules=Rules(deal, legal, act, settle, score, resample),
    text=Text(spell=spell, ending=ending),
    learning=Learning(actions={move: number for number, move in enumerate(SLOTS_CHOSEN + TOLD)}),
    agents=Agents({"careful": Player(
        careful, "plays cards that are playable with probability `dares`, hints at those of others, discards the rest",
        {"dares": 0.8}, sees="own",
    )}),
)  # fmt: skip
