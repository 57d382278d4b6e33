"""My Game: three hidden cards; swap some for better ones, then the most points win.

This small game is complete. Replace it part by part, from the top, and run `cardai check ./mygame` after each step.
Replace `TestSampleGame` in test_mygame.py too: it tests the rules below.
Rules: RULES.md in this folder, whose numbers the comments quote.
"""

from cardai.game import Agents, Game, Player, Rules
from cardai.game.declared import Flag, Hand, Moves, Number, Option, Pile, State, Stock
from cardai.rules import rule
from cardai.rules.cards import DECK52, any_of, full_deck, lowest, rank, single

DECK = 52
SEATS = 4
HAND = 3  # 1.1
ROUNDS = 3  # 2.2

# 1. The state: each field says what it is, which also says who sees it. Worlds, text, places on the table and what
# networks see follow. `turn`, `seats`, `ply`, `revealed`, `midway` and the random stream are there already.
STATE = State(
    DECK52, SEATS,
    lowest_wins=Option(high=1),  # the variants at the bottom set it
    hands=Hand(opens="shown"),
    stock=Stock(),
    discards=Pile("discards"),
    owed=Flag("draw owed"),  # between the decision to swap and the draw
    shown=Flag("hands shown"),  # 3.1
    turns_left=Number("turns left"),
)  # fmt: skip

# 2. The moves, in words. The number of its words is the `kind` of a move, a slot is a further field.
MOVE = Moves("keeps", "swaps {card}")
KEEP, SWAP = range(2)

add, add_each = MOVE.add, MOVE.add_each
draw = STATE.move("stock", "hands")
drop = STATE.move("hands", "discards")


# 3. The deal. The state comes in filled with zeros, but for `seats` and the options. Chance comes from the state:
# `any_of(cards, state)`, `below(state, n)` and `shuffle(state, ...)`, never from anywhere else.
@rule
def deal(state):
    state.stock = full_deck(DECK)
    for seat in range(state.seats):
        for _ in range(HAND):
            draw(state, single(any_of(state.stock, state)), seat)
    state.turns_left = ROUNDS * state.seats
    state.turn = 0


# 4. The legal moves of `state.turn`, each once, by kind and then by card.
@rule
def legal(state, moves):
    n = add(moves, 0, KEEP, 0)
    return add_each(moves, n, SWAP, state.hands[state.turn])


# 5. A move, first half: what the player decides. Read nothing here that `state.turn` may not see, and draw nothing.
@rule
def act(state, move):
    if move.kind == SWAP:
        drop(state, single(move.card), state.turn)
        state.owed = 1


# 6. Second half: what follows without a decision. Draws, whose turn it is, the end (turn = -1). Put the seats that were
# shown a hidden card into `revealed`; set `midway` when the same seat goes on with the same decision.
@rule
def settle(state):
    if state.owed != 0:
        state.owed = 0
        draw(state, single(any_of(state.stock, state)), state.turn)
        state.revealed = single(state.turn)
    state.turns_left -= 1
    if state.turns_left > 0:
        state.turn = (state.turn + 1) % state.seats
    else:
        state.shown = 1  # 3.1
        state.revealed = full_deck(state.seats)
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


# 8. A player written by hand: it fills `move` for `world.turn`. With `sees="own"` it is shown nothing hidden.
@rule
def careful(world, move, params, stream):
    worst = lowest(world.hands[world.turn])
    if rank(worst) + 2 < params[0]:
        move.kind = SWAP
        move.card = worst


# 9. A heuristic: how good a state is for a seat, on any scale. `greedy:`, `sampled:` and `peeking:` agents use it.
@rule
def hand_points(state, seat):
    total = 1.0 * points(state.hands[seat])
    if state.turn == seat and state.owed != 0:
        total += 8.0  # the mean of a card
    return -total if state.lowest_wins != 0 else total


# 10. The game: some facts, its rules, and who plays it. Its text, its table and what networks see follow from the state
# and the moves. Raise `version` whenever a recorded game would now be played differently.
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
    score_sum=lambda seats: seats / 2,  # what all scores of a game add up to; leave it out if that varies
    rules=Rules(deal, legal, act, settle, score),
    agents=Agents(
        players={"careful": Player(careful, "swaps its lowest card below so many points", {"below": 8.0}, sees="own")},
        heuristics={"hand_points": hand_points},
    ),
)
