"""Tic-Tac-Toe keeps the rules of its RULES.md; tests are named after the rule they hold."""

import numpy as np
import pytest

from cardai import IllegalMove, load
from cardai.guests.exact.grade import grade
from cardai.guests.exact.solution import solve
from cardai.measure.perft import perft

GAME = load("tictactoe")


def after(*cells):
    """The state after these moves from the start."""
    state = GAME.new()
    for cell in cells:
        state = GAME.play(state, GAME.text.parse(state, cell))
    return state


def names(state):
    return [GAME.text.spell(state, move) for move in GAME.moves(state)]


def test_1_the_board_is_empty_at_first_and_all_nine_cells_are_free():
    assert names(GAME.new()) == ["a3", "b3", "c3", "a2", "b2", "c2", "a1", "b1", "c1"]
    assert GAME.text.show(GAME.new(), 0).splitlines()[:3] == ["3  . . .", "2  . . .", "1  . . ."]


def test_1_cells_are_named_by_column_from_the_left_and_row_from_the_bottom():
    board = GAME.text.show(after("a1", "c3"), 0).splitlines()
    assert board[:4] == ["3  . . O", "2  . . .", "1  X . .", "   a b c"]


def test_2_x_begins_and_the_seats_take_turns():
    assert [int(after(*["a1", "b1", "c1", "a2", "b2"][:n]).turn) for n in range(6)] == [0, 1, 0, 1, 0, 1]


def test_3_a_taken_cell_is_not_legal_for_either_seat():
    state = after("b2")
    assert "b2" not in names(state)
    with pytest.raises(ValueError, match="'b2' is no move here; a move is a3, "):
        GAME.text.parse(state, "b2")
    assert "a1" not in names(after("b2", "a1"))


@pytest.mark.parametrize("cell", [-1, 9, 10**12])
def test_3_a_cell_outside_the_board_is_not_legal(cell):
    move = np.zeros(1, GAME.move)[0]
    move["cell"] = cell
    with pytest.raises(IllegalMove, match=f"cell={cell}"):
        GAME.play(GAME.new(), move)


@pytest.mark.parametrize(
    "line", ["a3 b3 c3", "a2 b2 c2", "a1 b1 c1", "a1 a2 a3", "b1 b2 b3", "c1 c2 c3", "a1 b2 c3", "c1 b2 a3"]
)
@pytest.mark.parametrize("winner", [0, 1])
def test_4_each_of_the_eight_lines_wins_at_once(line, winner):
    line = line.split()
    free = [name for name in names(GAME.new()) if name not in line]
    other = next([a, b, c] for a in free for b in free for c in free if a < b < c and not is_line(a, b, c))
    moves = [name for pair in zip(line, other, strict=True) for name in (pair if winner == 0 else pair[::-1])]
    state = after(*(moves[:5] if winner == 0 else moves))
    assert state.turn == -1
    assert not len(GAME.moves(state))
    assert GAME.points(state).tolist() == ([1.0, 0.0] if winner == 0 else [0.0, 1.0])


def is_line(a, b, c):
    """Whether three different cells are in line: the sum of the outer two is twice the middle one."""
    points = sorted(("abc".index(name[0]), int(name[1])) for name in (a, b, c))
    return all(points[0][i] + points[2][i] == 2 * points[1][i] for i in range(2))


def test_4_a_line_on_the_last_cell_wins_and_does_not_draw():
    board = ["a3", "c3", "b2", "b1", "b3", "a2", "c2", "a1"]
    assert after(*board).turn == 0
    state = after(*board, "c1")
    assert state.stones.sum() == 2**9 - 1
    assert GAME.points(state).tolist() == [1.0, 0.0]


def test_5_a_full_board_without_a_line_is_a_draw():
    state = after(*["b2", "a1", "a3", "c1", "b1", "b3", "c2", "a2", "c3"])
    assert state.turn == -1
    assert GAME.points(state).tolist() == [0.5, 0.5]


def test_6_scores_sum_to_one_in_every_end():
    solution = solve(GAME)
    ends = solution.states[solution.turns < 0]
    assert len(ends) == 958
    assert {tuple(GAME.points(state)) for state in ends} == {(1.0, 0.0), (0.5, 0.5), (0.0, 1.0)}


def test_perft_counts_the_tree_without_going_on_after_a_win():
    assert perft(GAME, 9) == [1, 9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]


def test_planes_show_own_stones_then_the_others_then_whose_turn_it_is():
    state = after("a3", "c1", "b2")
    own, other, turn = GAME.encode(state, 0).reshape(3, 3, 3)
    assert own.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert other.tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert not turn.any()
    own, other, turn = GAME.encode(state, 1).reshape(3, 3, 3)
    assert own.tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert turn.all()


def test_open_lines_takes_a_win_before_it_stops_one():
    state = after(*["a3", "a1", "b3", "b1"])
    assert max(names(state), key=lambda name: value_after(state, name)) == "c3"
    state = after(*["a3", "b2", "b3"])
    assert max(names(state), key=lambda name: value_after(state, name)) == "c3"


def value_after(state, name):
    return GAME.value(GAME.after(state, GAME.text.parse(state, name)), int(state.turn), "open_lines")


def test_claims_of_the_random_suite_are_the_exact_win_rates():
    claims = GAME.agents.suites["random"].rows["random"].claims
    assert {"random", "greedy:open_lines"} <= set(claims)
    for spec, percent in claims.items():
        assert round(float(100 * grade(GAME, spec).averaged[0]), 2) == percent
