"""My Game: three hidden cards; swap some for better ones, then the most points win.

This small game is complete. Replace it part by part, from the top, and run `cardai check ./mygame` after each step.
Replace `TestSampleGame` in test_mygame.py too: it tests the rules below.
Rules: RULES.md in this folder, whose numbers the comments quote.
"""

from cardai.cards import DECK52, any_of, count, full_deck, lowest, put, rank, single
from cardai.game import Game, PerspectiveEncoder, Player, Segment, move_dtype, state_dtype
from cardai.rule import rule

# 1. The state: everything there is to know about a position, as whole numbers. A set of cards is one number, a field
# with a length is an array. `turn`, `seats`, `ply`, `revealed`, `midway` and the random stream are there already.
DECK = 52
SEATS = 4
HAND = 3  # 1.1
ROUNDS = 3  # 2.2
NONE = -1

STATE = state_dtype(
    lowest_wins=(),  # an option; the variants at the bottom set it
    hands=SEATS,
    stock=(),
    discards=(),
    owed=(),  # 1 between the decision to swap and the draw
    turns_left=(),
)

# 2. A move: what tells one move from another, and nothing that follows from it.
MOVE = move_dtype("card")  # the card to swap, or NONE to keep all


# 3. The deal. The state comes in filled with zeros, but for `seats` and the options. Chance comes from the state:
# `any_of(cards, state)`, `below(state, n)` and `shuffle(state, ...)`, never from anywhere else.
@rule
def deal(state):
    state.stock = full_deck(DECK)
    for seat in range(state.seats):
        for _ in range(HAND):
            state.hands[seat] |= single(from_stock(state))
    state.turns_left = ROUNDS * state.seats
    state.turn = 0


@rule
def from_stock(state):
    card = any_of(state.stock, state)
    state.stock &= ~single(card)
    return card


# 4. The legal moves of `state.turn`, smallest first, each once. Every field of every move must be written.
@rule
def legal(state, moves):
    moves[0].card = NONE
    n = 1
    rest = state.hands[state.turn]
    while rest != 0:
        card = lowest(rest)
        rest &= ~single(card)
        moves[n].card = card
        n += 1
    return n


# 5. A move, first half: what the player decides. Read nothing here that `state.turn` may not see, and draw nothing.
@rule
def act(state, move):
    if move.card != NONE:
        state.hands[state.turn] &= ~single(move.card)
        state.discards |= single(move.card)
        state.owed = 1


# 6. Second half: what follows without a decision. Draws, whose turn it is, the end (turn = -1). Put the seats that were
# shown a hidden card into `revealed`; set `midway` when the same seat goes on with the same decision.
@rule
def settle(state):
    if state.owed != 0:
        state.owed = 0
        state.hands[state.turn] |= single(from_stock(state))
        state.revealed = single(state.turn)
    state.turns_left -= 1
    if state.turns_left > 0:
        state.turn = (state.turn + 1) % state.seats
    else:
        state.revealed = single(state.seats) - 1  # 3.1: all hands are shown
        state.turn = -1


@rule
def points(cards):
    total = 0
    while cards != 0:
        card = lowest(cards)
        cards &= ~single(card)
        total += rank(card) + 2
    return total


# 7. How good the end is for a seat, from 0 to 1. Called only when the game is over.
@rule
def score(state, seat):
    beaten = 0.0
    for other in range(state.seats):
        if other != seat:
            lead = points(state.hands[seat]) - points(state.hands[other])
            if state.lowest_wins != 0:
                lead = -lead
            beaten += 1.0 if lead > 0 else 0.5 if lead == 0 else 0.0
    return beaten / (state.seats - 1)


# 8. Deal anew all that `seat` cannot know, every possibility as likely as the others, from `stream`. Agents think in
# such worlds. What all have seen must stay: a game in which cards are picked up from the table has a field for them.
@rule
def resample(state, seat, stream):
    if state.turn < 0:
        return  # 3.1
    unseen = state.stock
    for other in range(state.seats):
        if other != seat:
            unseen |= state.hands[other]
    for other in range(state.seats):
        if other != seat:
            cards = count(state.hands[other])
            state.hands[other] = 0
            for _ in range(cards):
                card = any_of(unseen, stream)
                unseen &= ~single(card)
                state.hands[other] |= single(card)
    state.stock = unseen


# 9. A seat's view as numbers for networks: named parts, and the rule that fills them. Sets of cards become planes.
def layout(seats):
    return (
        Segment("own hand", (13, 4)),
        Segment("discards", (13, 4)),
        Segment("own turn"),
        Segment("draw owed"),
        Segment("turns left"),
    )


@rule
def encode(state, seat, row):
    place = put(row, 0, state.hands[seat], DECK)
    place = put(row, place, state.discards, DECK)
    row[place] = state.turn == seat
    row[place + 1] = state.owed
    row[place + 2] = state.turns_left


# 10. A player written by hand: it fills `move` for `world.turn`. It is given a world, so it may look at everything.
@rule
def careful(world, move, params, stream):
    worst = lowest(world.hands[world.turn])
    move.card = worst if rank(worst) + 2 < params[0] else NONE


# 11. A heuristic: how good a state is for a seat, on any scale. `greedy:`, `sampled:` and `peeking:` agents use it.
@rule
def hand_points(state, seat):
    total = 1.0 * points(state.hands[seat])
    if state.turn == seat and state.owed != 0:
        total += 8.0  # the mean of a card
    return -total if state.lowest_wins != 0 else total


# 12. Text for people. What `spell` writes is read back, too; `show` names only what the seat may see.
def spell(state, move):
    return "keeps" if move["card"] == NONE else f"swaps {DECK52.name(move['card'])}"


def show(state, seat):
    turns_left = int(state.turns_left)
    lines = [f"Turns left: {turns_left}. Discarded: {DECK52.names(state.discards) or 'nothing'}."]
    if state.turn < 0:
        lines += [f"p{other}: {DECK52.names(state.hands[other])}." for other in range(int(state.seats))]
    lines.append(f"Your hand: {DECK52.names(state.hands[seat])}.")
    return "\n".join(lines)


# 13. Where the cards are: places whose sizes everybody knows. With it the laws can count cards and worlds.
def holdings(state):
    return [*state.hands[: state.seats], state.stock, state.discards]


# 14. The game. Raise `version` whenever a recorded game would now be played differently.
GAME = Game(
    name="mygame",
    title="My Game",
    version=1,
    seats=range(2, SEATS + 1),
    state=STATE,
    move=MOVE,
    max_moves=HAND + 1,  # the most legal moves there can be
    max_plies=ROUNDS * SEATS,  # the most moves a game can last
    variants={"standard": {"lowest_wins": 0}, "lowball": {"lowest_wins": 1}},
    deal=deal,
    legal=legal,
    act=act,
    settle=settle,
    score=score,
    score_sum=lambda seats: seats / 2,  # what all scores of a game add up to; leave it out if that varies
    resample=resample,
    encoders={"planes": PerspectiveEncoder(layout, encode)},
    players={"careful": Player(careful, "swaps its lowest card below so many points", {"below": 8.0})},
    heuristics={"hand_points": hand_points},
    spell=spell,
    show=show,
    holdings=holdings,
)
