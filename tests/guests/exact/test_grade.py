"""Small games over the whole tree: solutions, strategies, exact grades, and what `solve` refuses."""

import functools
import io
import json
from fractions import Fraction

import numpy as np
import pytest
from judges import Judge, know
from rich.console import Console
from test_lookahead import open_lines

from cardai import CardaiError, IllegalMove, load
from cardai.game import Player
from cardai.guests.exact import shown
from cardai.guests.exact.grade import best_against_uniform, grade, grade_strategy
from cardai.guests.exact.solution import solve
from cardai.rules import below, lowest, rule, uniform

TICTACTOE = load("tictactoe")
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


@pytest.fixture(scope="module")
def solution():
    return solve(TICTACTOE)


# A second, independent Tic-Tac-Toe on strings, as the oracle.


def winner(board):
    return next((board[a] for a, b, c in LINES if board[a] != "." and board[a] == board[b] == board[c]), None)


def mover(board):
    return "XO"[board.count("X") > board.count("O")]


def children(board):
    if winner(board):
        return []
    return [board[:i] + mover(board) + board[i + 1 :] for i in range(9) if board[i] == "."]


@functools.cache
def perfect(board):
    """X's score under perfect play."""
    if winner(board) or "." not in board:
        return {"X": 1.0, "O": 0.0, None: 0.5}[winner(board)]
    return (max if mover(board) == "X" else min)(perfect(child) for child in children(board))


def board_of(state):
    x, o = (int(stones) for stones in state.stones)
    return "".join("X" if x >> i & 1 else "O" if o >> i & 1 else "." for i in range(9))


def test_positions_values_and_successors_agree_with_an_independent_solver(solution):
    boards = [board_of(state) for state in solution.states]
    assert len(boards) == len(set(boards)) == 5478
    assert [perfect(board) for board in boards] == solution.values.tolist()
    for i, board in enumerate(boards):
        reached = [boards[j] for j in solution.following[solution.first[i] : solution.first[i + 1]]]
        assert reached == children(board)


def test_a_solution_finds_a_position_whatever_its_stream(solution):
    state = TICTACTOE.new(seed=99)
    assert solution.place(state) == 0
    for text in ("a1", "b1", "a2", "b2"):
        state = TICTACTOE.play(state, TICTACTOE.text.parse(state, text))
    assert solution.values[solution.place(state)] == 1.0
    state.stones[:] = 511
    with pytest.raises(CardaiError, match="cannot be reached"):
        solution.place(state)


@pytest.mark.parametrize(
    ("strategy", "first", "second"),
    [
        (best_against_uniform, ("191/192", "1/192", "0"), ("866/945", "79/945", "0")),
        (lambda s: best_against_uniform(s, safe=False), ("191/192", "1/192", "0"), ("887/945", "43/945", "1/63")),
        (lambda s: s.is_optimal.astype(int), ("75257/77760", "2503/77760", "0"), ("2645/3402", "757/3402", "0")),
        (lambda s: np.ones(len(s.moves), int), ("737/1260", "8/63", "121/420"), ("121/420", "8/63", "737/1260")),
    ],
    ids=["safe", "risk", "minimax", "random"],
)
def test_reference_strategies_have_their_exact_values(solution, strategy, first, second):
    graded = grade_strategy(solution, "tested", strategy(solution))
    for outcome, wanted in zip((graded.first, graded.second), (first, second), strict=True):
        assert (outcome.win, outcome.draw, outcome.loss) == tuple(map(Fraction, wanted))


def test_only_safe_play_has_no_losing_line_and_only_optimal_moves(solution):
    safe = grade_strategy(solution, "safe", best_against_uniform(solution))
    risk = grade_strategy(solution, "risk", best_against_uniform(solution, safe=False))
    anything = grade(solution, "random")
    assert (safe.losing_lines, safe.optimal, safe.optimal_met) == (0, 1, 1)
    assert risk.first.losing_lines == 0 < risk.second.losing_lines
    assert risk.optimal < 1
    assert risk.optimal_met < 1
    assert (anything.first.losing_lines, anything.second.losing_lines) == (77904, 131184)
    assert anything.first.lines == anything.second.lines == 255168


def first_move(game, world):
    return game.moves(world)[0]


def corner_or_last(game, world):
    return game.moves(world)[-1] if int(world.rng) & 1 else game.moves(world)[0]


def always_the_first_cell(game, world):
    return np.zeros(1, game.move)[0]


def test_a_python_function_is_graded_by_its_answers(solution):
    graded = grade(solution, f"python:{__name__}:first_move")
    strategy = np.zeros(len(solution.moves), np.int64)
    strategy[solution.first[:-1][solution.turns >= 0]] = 1
    assert graded.luck == "none"
    wanted = grade_strategy(solution, "the first move", strategy)
    assert (graded.first, graded.second) == (wanted.first, wanted.second)
    with pytest.raises(IllegalMove, match="may not play"):
        grade(solution, f"python:{__name__}:always_the_first_cell")


def test_a_python_function_that_uses_luck_is_estimated_by_a_seed(solution):
    spec = f"python:{__name__}:corner_or_last"
    one, two, other = (grade(solution, spec, seed=seed, samples=6) for seed in (1, 1, 2))
    assert (one.luck, one.samples) == ("estimated", 6)
    assert "fraction" not in one.as_json()["first"]["win"]
    assert one == two
    assert one.averaged != other.averaged


def test_json_and_table_say_what_was_graded(solution):
    graded = grade(solution, "greedy:open_lines")
    content = json.loads(json.dumps(graded.as_json()))
    assert content["agent"] == "greedy:open_lines"
    assert Fraction(content["first"]["win"]["fraction"]) == graded.first.win
    assert content["averaged"]["loss"]["value"] == float(graded.averaged[2])
    assert content["second"]["losing_lines"] == graded.second.losing_lines
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(shown.grades(graded, grade(solution, f"python:{__name__}:corner_or_last", samples=3)))
    text = console.export_text()
    assert "98.96 / 1.04 / 0" in text
    assert "corner_or_last*" in text
    assert "3 decisions in each position" in text


@pytest.mark.parametrize("kind", ["greedy", "sampled", "peeking"])
def test_an_evaluator_is_graded_as_the_heuristic_it_computes(solution, monkeypatch, kind):
    """It is asked about the whole tree in a few batches, and draws lots among the same moves as the heuristic."""
    judge = Judge("lines", "planes", 2, open_lines, batch=3000)
    know(monkeypatch, judge)
    found, expected = grade(solution, f"{kind}:lines"), grade(solution, f"{kind}:open_lines")
    assert len(judge.sizes) > 3
    assert (found.first, found.second) == (expected.first, expected.second)
    assert (found.optimal, found.optimal_met, found.luck) == (expected.optimal, expected.optimal_met, expected.luck)
    assert found.agent == f"{kind}:lines{' (peeks)' if kind == 'peeking' else ''}"


def test_agents_with_evaluators_that_cannot_be_graded_are_refused(solution, monkeypatch):
    know(monkeypatch, Judge("lines", "planes", 3, open_lines))
    for spec, complaint in (
        ("greedy:lines", "lines is for 3 seats, not 2"),
        ("greedy:open_lines?epsilon=0.1", r"agent 'greedy:open_lines\?epsilon=0.1' explores"),
        ("greedy:open_lines?temperature=1", "explores; grade it without epsilon and temperature"),
    ):
        with pytest.raises(CardaiError, match=complaint):
            grade(solution, spec)


# Other rules and players of Tic-Tac-Toe.

deal, settle = TICTACTOE.rules.deal, TICTACTOE.rules.settle


@rule
def lucky_deal(state):
    deal(state)
    state.turn = below(state, 2)


@rule
def lucky_turn(state):
    settle(state)
    if state.turn >= 0:
        state.turn = below(state, 2)


@rule
def hidden(state, seat, stream):
    if seat == 1:
        state.stones[0] = below(stream, 512)


@rule
def everybody_wins(state, seat):
    return 1.0


@rule
def take_free(world, move, number):
    free = 511 & ~(world.stones[0] | world.stones[1])
    for _ in range(number):
        free &= free - 1
    move.cell = lowest(free)


@rule
def first_cell(world, move, params, stream):
    take_free(world, move, 0)


@rule
def any_cell(world, move, params, stream):
    take_free(world, move, below(stream, 9 - world.ply))


@rule
def real_cell(world, move, params, stream):
    take_free(world, move, int((9 - world.ply) * uniform(stream)))


CELLS = TICTACTOE.changed(
    players={name: Player(rule, name) for name, rule in (("one", first_cell), ("any", any_cell), ("real", real_cell))}
)


def test_the_luck_of_a_hand_written_player_is_listed_or_estimated(solution):
    listed = solve(CELLS)
    certain, evenly, real = (grade(listed, spec, samples=2) for spec in ("one", "any", "real"))
    assert [(one.luck, one.samples) for one in (certain, evenly, real)] == [("none", 0), ("known", 0), ("estimated", 2)]
    assert certain.first == grade(solution, f"python:{__name__}:first_move").first
    assert (evenly.first, evenly.optimal) == (grade(solution, "random").first, grade(solution, "random").optimal)
    for spec, complaint in (("one?randomised", "draws its parameters anew"), ("bot", "no agent")):
        with pytest.raises(CardaiError, match=complaint):
            grade(listed, spec)
    with pytest.raises(CardaiError, match="at least 2 times"):
        grade(listed, "real", samples=1)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"deal": lucky_deal}, "its deal is a matter of chance"),
        ({"settle": lucky_turn}, "chance follows a move"),
        ({"resample": hidden}, "something is hidden from seat 1"),
        ({"score": everybody_wins}, "the two scores do not always sum to 1"),
    ],
)
def test_solve_refuses_what_it_cannot_solve(changes, complaint):
    with pytest.raises(CardaiError, match=complaint):
        solve(TICTACTOE.changed(**changes))


def test_solve_refuses_other_tables_and_large_games():
    with pytest.raises(CardaiError, match="it is for 3 to 6 seats, not 2"):
        solve(load("hearts").changed(seats=range(3, 7)))
    with pytest.raises(CardaiError, match="too large to solve: it has more than 1000 positions"):
        solve(TICTACTOE, limit=1000)
