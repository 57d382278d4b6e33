"""Tic-Tac-Toe: three in a row on a 3x3 board. The smallest complete game; copy this file to begin your own.

Numbers in comments are the rules of RULES.md in this folder. A cell is a number, 0 at the top left to 8 at the bottom
right, row by row. The stones of a seat are a set of cells (bit `1 << cell`).
"""

import numpy as np

from cardai.game import (
    Agents,
    Game,
    Learning,
    Payoff,
    PerspectiveEncoder,
    Row,
    Rules,
    Segment,
    Suite,
    Table,
    Text,
    Zone,
    move_dtype,
    state_dtype,
)
from cardai.rules import rule
from cardai.rules.cards import count, has, lowest, single

STATE = state_dtype(stones=2)  # stones[seat]: the set of cells it has taken; seat 0 is X, seat 1 is O
MOVE = move_dtype("cell")

CELLS = 9  # 1
BOARD = (1 << CELLS) - 1
LINES = (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)  # 4: rows, columns, diagonals
WON = np.array([any(stones & line == line for line in LINES) for stones in range(1 << CELLS)])  # by the set of stones


@rule
def has_line(stones):
    return WON[stones]


@rule
def deal(state):
    state.turn = 0  # 2: X begins


@rule
def legal(state, moves):
    free = BOARD & ~(state.stones[0] | state.stones[1])  # 3
    n = 0
    while free != 0:
        moves[n].cell = lowest(free)
        free &= free - 1  # without the lowest
        n += 1
    return n


@rule
def act(state, move):
    state.stones[state.turn] |= single(move.cell)


@rule
def settle(state):
    if has_line(state.stones[state.turn]) or state.stones[0] | state.stones[1] == BOARD:
        state.turn = -1  # 4, 5: over
    else:
        state.turn = 1 - state.turn  # 2


@rule
def score(state, seat):  # 6
    if has_line(state.stones[seat]):
        return 1.0
    if has_line(state.stones[1 - seat]):
        return 0.0
    return 0.5


@rule
def resample(state, seat, stream):
    pass  # nothing is hidden, so the only world is the true one


@rule
def blank(state, seat):
    pass


@rule
def encode(state, seat, row):
    for cell in range(CELLS):
        row[cell] = has(state.stones[seat], cell)
        row[CELLS + cell] = has(state.stones[1 - seat], cell)
        row[2 * CELLS + cell] = state.turn == seat


@rule
def open_lines(state, seat):
    """The lines still open to `seat`, less those open to the opponent. A line with more stones on it counts more."""
    if has_line(state.stones[seat]):
        return 1000.0
    value = 0.0
    for line in LINES:
        own, other = count(state.stones[seat] & line), count(state.stones[1 - seat] & line)
        if other == 0:
            value += own * own
        elif own == 0:
            value -= 100.0 if other == 2 else other
    return value


@rule
def is_open(state):
    return True


def layout(seats):
    return (Segment("own stones", (3, 3)), Segment("other stones", (3, 3)), Segment("own turn", (3, 3)))


NAMES = tuple(f"{column}{row}" for row in "321" for column in "abc")


def spell(state, move):
    return NAMES[int(move["cell"])]


def show(state, seat):
    lines = []
    for row in range(3):
        cells = range(3 * row, 3 * row + 3)
        marks = ("X" if state.stones[0] >> c & 1 else "O" if state.stones[1] >> c & 1 else "." for c in cells)
        lines.append(f"{3 - row}  " + " ".join(marks))
    return "\n".join([*lines, "   a b c", f"You are {'XO'[seat]}."])


def zones(state, seat):
    marks = {
        cell: mark
        for mark, stones in zip("XO", state.stones, strict=True)
        for cell in range(CELLS)
        if stones >> cell & 1
    }
    return [Zone("Board", BOARD, look="grid", shape=(3, 3), note=f"you are {'XO'[seat]}", marks=marks)]


def picks(state, move):
    return 1 << int(move["cell"])


def ending(state):
    winners = [mark for mark, stones in zip("XO", state.stones, strict=True) if has_line(stones)]
    return f"{winners[0]} has three in a row and wins." if winners else "A draw: nobody has three in a row."


GAME = Game(
    name="tictactoe",
    title="Tic-Tac-Toe",
    version=1,
    seats=range(2, 3),
    state=STATE,
    move=MOVE,
    max_moves=CELLS,
    max_plies=CELLS,
    score_sum=lambda seats: 1.0,
    payoff=Payoff(unit="the chance to win"),
    rules=Rules(deal, legal, act, settle, score, resample=resample, blank=blank, is_open=is_open),
    text=Text(spell=spell, show=show, ending=ending),
    table=Table(pieces=NAMES, zones=zones, picks=picks),
    learning=Learning(
        encoders={"planes": PerspectiveEncoder(layout, encode)},
        actions={(cell,): cell for cell in range(CELLS)},
    ),
    agents=Agents(
        heuristics={"open_lines": open_lines},
        opponents=("endgame:greedy:open_lines", "greedy:open_lines", "greedy:mlp", "greedy:cnn"),
        suites={
            "random": Suite(
                about="against a player who moves at random",
                measure="win",
                rows={
                    "random": Row(
                        ("random",), {"random": 43.65, "greedy:open_lines": 93.82}, "one opponent, evenly random"
                    )
                },
                agents=("random", "greedy:open_lines", "rollout:100"),
                source="exact value",
            )
        },
    ),
)
