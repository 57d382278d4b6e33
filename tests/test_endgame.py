"""Open endings of any game: the solver agrees with other solvers and with plain minimax, and so does the agent."""

import numpy as np
import pytest
import small_game

import cardai
from cardai import CardaiError
from cardai.games.durak.endgame_solver import DurakSolver
from cardai.guests.exact.solution import solve
from cardai.laws.compiled import Compiled
from cardai.measure.pool import pool_of
from cardai.playing.agents.endgame import Endgame, EndingSolver
from cardai.playing.agents.spec import agent, kinds_of
from cardai.playing.table.asking import moves_in
from cardai.playing.table.many import play
from cardai.rules import rule
from cardai.rules.cards import count

TICTACTOE, MOSKA, DURAK = (cardai.load(name) for name in ("tictactoe", "moska", "durak"))


def open_states(game, spec, games, seats, variant=None, seed=0) -> np.ndarray:
    """The open positions of games of one agent, those with a choice: STATE[n]."""
    seeds, compiled, found = np.arange(seed, seed + games), Compiled(game), []
    results = play(game, [agent(game, spec)], np.zeros((games, seats), int), seeds, variant=variant, record=True)
    for number, moves in zip(seeds, results.moves, strict=True):
        assert moves is not None
        states = compiled.trace(game.new(seats, int(number), variant), moves)[:-1]
        found += [state for state in states[compiled.opened(states)] if len(game.moves(state)) > 1]
    return np.array(found, game.state)


def by_minimax(game, state, limit=1500) -> list[float] | None:
    """The score of each move for the seat to move, by trying all lines in plain Python; None beyond `limit` positions.

    Positions are told apart by all their bytes but the ply, the stream and what was revealed.
    """
    known: dict[bytes, float] = {}
    line: set[bytes] = set()

    def worth(state, seat: int) -> float:
        if state["turn"] < 0:
            return float(game.points(state)[seat])
        plain = state.copy()
        plain["ply"] = plain["rng"] = plain["revealed"] = 0
        key = plain.tobytes()
        assert key not in line, "a position came back"
        if key not in known:
            if len(known) > limit:
                raise TimeoutError
            line.add(key)
            pick = max if int(state["turn"]) == seat else min
            known[key] = pick(worth(game.play(state, move), seat) for move in game.moves(state))
            line.remove(key)
        return known[key]

    try:
        return [worth(game.play(state, move), int(state["turn"])) for move in game.moves(state)]
    except TimeoutError:
        return None


# The solver


def test_positions_of_tictactoe_have_the_values_of_the_whole_tree():
    solution = solve(TICTACTOE)
    solver = EndingSolver(TICTACTOE)
    places = np.flatnonzero(solution.turns >= 0)[::2]
    for place, solved in zip(places, solver.solve(solution.states[places].copy()), strict=True):
        seat, edges = solution.turns[place], slice(solution.first[place], solution.first[place + 1])
        values = solution.values[solution.following[edges]]
        assert solved.moves.tolist() == solution.moves[edges].tolist()
        assert solved.scores.tolist() == (values if seat == 0 else 1 - values).tolist()
        assert solved.best == solved.scores.max()
    assert {0.0, 0.5, 1.0} == set(solution.values.tolist())


@pytest.mark.parametrize(("variant", "seats"), [("thesis", 2), ("appendix", 4), ("polled", 3)])
def test_small_endings_of_moska_are_worth_what_minimax_in_plain_python_says(variant, seats):
    states = open_states(MOSKA, "bot3", 40, seats, variant)
    small = [state for state in states if sum(int(hand).bit_count() for hand in state["hands"]) <= 6][:24]
    compared = lost = 0
    for state, solved in zip(small, EndingSolver(MOSKA).solve(np.array(small, MOSKA.state)), strict=True):
        expected = by_minimax(MOSKA, state)
        if expected is not None:
            assert solved.scores.tolist() == expected
            compared += 1
            lost += 0.0 in expected
    assert compared > 10
    assert lost > 3


DURAK_TABLES = ((2, "podkidnoy"), (2, "report"), (3, "podkidnoy"))


def test_durak_is_solved_alike_by_its_own_solver_and_by_the_one_for_any_game():
    by_table = [open_states(DURAK, "thrifty", 60, seats, variant, 100 * seats) for seats, variant in DURAK_TABLES]
    compared, seen = 0, set()
    for states in by_table:
        states = states[:: max(1, len(states) // 140)]
        general, own = EndingSolver(DURAK, 20_000).solve(states), DurakSolver(DURAK, 200_000).solve(states)
        for one, other in zip(general, own, strict=True):
            assert one.moves.tolist() == other.moves.tolist()
            if one.is_solved and other.is_solved:
                assert one.scores.tolist() == other.scores.tolist()
                compared += 1
                seen |= set(one.scores.tolist())
    assert compared >= 300
    assert seen == {0.0, 0.5, 1.0}


def test_values_do_not_depend_on_what_the_table_holds():
    states = open_states(MOSKA, "bot3", 60, 4)
    small = np.array([state for state in states if sum(int(hand).bit_count() for hand in state["hands"]) <= 7])[:60]
    tiny, usual = EndingSolver(MOSKA, table=4), EndingSolver(MOSKA)
    forwards, backwards = usual.solve(small), EndingSolver(MOSKA).solve(small[::-1].copy())[::-1]
    compared = 0
    for one, other, third in zip(forwards, backwards, tiny.solve(small), strict=True):
        assert one.is_solved
        assert one.scores.tolist() == other.scores.tolist()
        if third.is_solved:
            assert third.scores.tolist() == one.scores.tolist()
            compared += 1
    assert compared > 20


def test_a_position_beyond_the_limit_has_no_score():
    (hard,) = open_states(DURAK, "thrifty", 1, 2)[:1]
    (solved,) = EndingSolver(DURAK, 50).solve(np.array([hard], DURAK.state))
    assert not solved.is_solved
    assert np.isnan(solved.scores).all()
    assert np.isnan(solved.best)
    assert 50 <= solved.nodes < 50 + 200


def test_positions_that_are_not_open_and_games_without_any_are_refused():
    with pytest.raises(CardaiError, match="state 0 is no open position"):
        EndingSolver(MOSKA).solve(np.array([MOSKA.new()], MOSKA.state))
    with pytest.raises(CardaiError, match="it does not say where nothing is hidden"):
        EndingSolver(small_game.GAME)
    with pytest.raises(CardaiError, match="table must be a power of two from 4, not 5"):
        EndingSolver(MOSKA, table=5)


@rule
def act_in_circles(state, move):
    """The centre is never taken: whoever plays there gives the turn away."""
    if move.cell != 4:
        state.stones[state.turn] |= 1 << move.cell


@rule
def score_for_nothing(state, seat):
    """Both win if the board is full."""
    if count(state.stones[0] | state.stones[1]) == 9:
        return 1.0
    return TICTACTOE_SCORE(state, seat)


TICTACTOE_SCORE = TICTACTOE.rules.score
CIRCLES = TICTACTOE.changed(act=act_in_circles, max_plies=1000)
GIVING = TICTACTOE.changed(score=score_for_nothing, score_sum=lambda seats: None)


def test_what_depends_on_a_position_that_comes_back_stays_open():
    """With the centre empty for ever, seats may pass for ever; a line of three that is there to take still wins."""
    start = CIRCLES.new()
    solver = EndingSolver(CIRCLES)
    assert not solver.solve(np.array([start], CIRCLES.state))[0].is_solved
    state = start.copy()
    state["stones"] = [0b000000011, 0b011000000]
    (solved,) = solver.solve(np.array([state], CIRCLES.state))
    assert not solved.is_solved
    moves = CIRCLES.moves(state)
    chosen = moves[moves["cell"] == 4]
    solver.mend(np.array([state], CIRCLES.state), chosen)
    assert chosen["cell"].tolist() == [2]


def test_a_game_whose_scores_have_no_fixed_sum_is_not_solved():
    state = GIVING.new()
    (solved,) = EndingSolver(GIVING).solve(np.array([state], GIVING.state))
    assert not solved.is_solved
    moves = GIVING.moves(state)[-1:].copy()
    EndingSolver(GIVING).mend(np.array([state], GIVING.state), moves)
    assert moves["cell"].tolist() == GIVING.moves(state)[-1:]["cell"].tolist()


# The agent


def test_the_agent_changes_only_moves_that_give_score_away():
    states = open_states(MOSKA, "bot3", 60, 4)[:150]
    finisher, plain = agent(MOSKA, "endgame:random?nodes=20000"), agent(MOSKA, "random")
    before, played = moves_in(MOSKA, plain, states), moves_in(MOSKA, finisher, states)
    changed = mended = 0
    for old, new, solved in zip(before, played, EndingSolver(MOSKA, 20_000).solve(states), strict=True):
        if not solved.is_solved:
            continue
        worth = {move.tobytes(): score for move, score in zip(solved.moves, solved.scores, strict=True)}
        assert worth[new.tobytes()] == solved.best or old == new
        assert (old == new) or worth[old.tobytes()] < worth[new.tobytes()]
        changed += old != new
        mended += worth[old.tobytes()] < solved.best
    assert changed > 3
    assert changed == mended


@pytest.mark.parametrize(
    "spec", ["bot3", "greedy:hand_value", "sampled:hand_value?worlds=2", "python:test_endgame:first"]
)
def test_games_are_the_inner_agents_up_to_the_first_mistake_in_an_ending(spec):
    """Whether the inner agent is played in compiled code, thinks in rounds or is a Python function."""
    lineups, seeds = np.zeros((24, 4), int), np.arange(24)
    one, other = (
        play(MOSKA, [agent(MOSKA, name)], lineups, seeds, record=True)
        for name in (spec, f"endgame:{spec}&nodes=2000".replace("&", "&" if "?" in spec else "?"))
    )
    compiled, same = Compiled(MOSKA), 0
    for seed, before, after in zip(seeds, one.moves, other.moves, strict=True):
        assert before is not None
        assert after is not None
        differing = np.flatnonzero(before[: len(after)] != after[: len(before)])
        states = compiled.trace(MOSKA.new(4, int(seed)), before)
        same += not len(differing)
        if len(differing):
            assert compiled.opened(states[differing[:1]])[0]
    assert same > 5


def first(game, world):
    return game.moves(world)[0]


def test_options_belong_to_the_inner_agent_except_the_limit_of_nodes():
    made = agent(DURAK, "endgame:rollout:3?nodes=77").strategy
    assert isinstance(made, Endgame)
    assert made.nodes == 77
    assert made.inner.spec == "rollout:3"
    inner = agent(DURAK, "endgame:greedy:hand_value?nodes=5&epsilon=0.5").strategy
    assert isinstance(inner, Endgame)
    assert inner.inner.spec == "greedy:hand_value?epsilon=0.5"
    bracketed = agent(DURAK, "endgame:(rollout:3)?nodes=5").strategy
    assert isinstance(bracketed, Endgame)
    assert bracketed.inner.spec == "rollout:3"


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("endgame:peeking:hand_value", "an agent that peeks cannot be given an ending"),
        ("endgame:bot3?randomised", "draws its parameters anew for each game"),
        ("endgame:bot3?nodes=0", "'0' is not a number of nodes"),
        ("endgame:(bot3?threshold=1)?epsilon=1", "takes no option 'epsilon'"),
        ("endgame:nobody", "nobody"),
        ("endgame", "no agent 'endgame'"),
    ],
)
def test_an_impossible_endgame_agent_is_refused(spec, sentence):
    with pytest.raises(CardaiError, match=sentence):
        agent(MOSKA, spec)


def test_games_with_open_positions_have_the_kind_and_leagues_wrap_their_models():
    assert "endgame" in kinds_of(MOSKA)
    assert "endgame" not in kinds_of(small_game.GAME)
    assert "endgame:greedy:best" in pool_of(MOSKA)[0]
