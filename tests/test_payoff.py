"""Payoffs in a game's own unit, and outcomes that are about some seats only."""

from pathlib import Path

import numpy as np
import pytest
from bidding import GAME, NOBODY, is_soloist, score

import cardai
from cardai.cli.show import advice
from cardai.cli.show.tally import tally
from cardai.errors import CardaiError
from cardai.game import Game, Outcome, Payoff
from cardai.guests.exact.tree import GameTree
from cardai.laws import check
from cardai.measure.analysis import analyse
from cardai.measure.bench import run_match, run_suite
from cardai.measure.coaching.advice import Adviser
from cardai.measure.duel import duel
from cardai.playing.agents.choosing import usual_score
from cardai.playing.agents.spec import agent
from cardai.playing.stats.deals import deal_seeds
from cardai.playing.table.many import play
from cardai.records.selfplay import simulate, simulate_here
from cardai.rules import rule


def ended(game: Game, wanted, most: int = 200):
    """A finished game of the first legal moves that is as wanted."""
    for seed in range(most):
        state, chance = game.new(seed=seed), np.random.default_rng(seed)
        while state["turn"] >= 0:
            moves = game.moves(state)
            state = game.play(state, moves[int(chance.integers(len(moves)))])
        if wanted(state):
            return state
    raise AssertionError("no such game")


def test_a_payoff_is_a_finite_range_with_a_unit():
    for low, high in ((1, 1), (2, -2), (0, float("inf"))):
        with pytest.raises(CardaiError, match="must be finite and rise"):
            Payoff(low, high, "chips")
    with pytest.raises(CardaiError, match="needs a unit"):
        Payoff(-2, 2)


def test_scores_are_payoffs_brought_into_0_to_1():
    payoff = Payoff(-384, 192, "points")
    assert payoff.of([0.0, 2 / 3, 1.0]).tolist() == [-384.0, 0.0, 192.0]
    assert all(payoff.of(payoff.share(points)) == points for points in range(-384, 193))
    assert payoff.text(payoff.share(-96)) == "-96 points"
    assert Payoff().text(0.25) == "0.25"


def test_the_core_has_scores_and_the_rule_has_points():
    lost = ended(GAME, lambda state: state["soloist"] != NOBODY and score(state, state["soloist"]) < 0)
    soloist = int(lost["soloist"])
    points = GAME.payoff.of(GAME.points(lost))
    assert points[soloist] == -24.0 * (1 << int(lost["bid"]))
    assert np.delete(points, soloist).tolist() == [0.0, 0.0]


def test_the_sum_of_payoffs_is_that_of_scores():
    zero_sum = GAME.changed(name="zero", score_sum=lambda seats: 0.0)
    assert zero_sum.total_score(3) == pytest.approx(3 * 384 / 576)
    assert GAME.total_score(3) is None


def test_a_match_speaks_in_points():
    report = run_match(GAME, ["careful", "random", "random"], games=300, seed=2)
    seats = np.tile([[0, 1, 1], [1, 0, 1], [1, 1, 0]], (100, 1))
    agents = [agent(GAME, spec) for spec in ("careful", "random")]
    results = play(GAME, agents, seats, np.repeat(deal_seeds(2, 100), 3))
    points = GAME.payoff.of(results.scores)
    content = report.as_json()
    assert content["measures"][0]["unit"] == "points"
    for row, place in zip(content["rows"], (0, 1), strict=True):
        assert row["score"]["point"] == pytest.approx(points[seats == place].mean())
        assert row["score"]["low"] < row["score"]["point"] < row["score"]["high"]


def test_a_game_is_won_with_a_payoff_above_0():
    report = run_match(GAME, ["careful", "careful", "careful"], games=200, seed=1)
    row = report.rows[0]
    made = row.beside["alone"].point * row.beside["alone"].n
    assert row.win.point * row.win.n == pytest.approx(made)
    assert 0 < row.loss.point < 100 - row.win.point


def test_an_outcome_of_a_role_counts_the_games_in_which_it_applied():
    report = run_match(GAME, ["careful"] * 3, games=300, seed=1)
    alone, together = (report.rows[0].beside[name] for name in ("alone", "together"))
    assert together.n == 2 * alone.n < 2 * report.games
    assert alone.point + together.point == pytest.approx(100)
    assert alone.low < alone.point < alone.high


def test_a_role_that_nobody_had_is_no_number():
    passive = GAME.changed(name="passive", measures=("alone",))
    report = run_match(passive, ["careful?high=15"] * 3, games=30)
    content = report.as_json()
    figure = content["rows"][0]["beside"]["alone"]
    assert (figure["n"], figure["point"], figure["low"]) == (0, None, None)


def test_who_had_no_role_has_no_value():
    state = ended(GAME, lambda state: state["soloist"] == 1)
    assert np.isnan(GAME.outcome(state, "alone")).tolist() == [True, False, True]
    assert np.isnan(GAME.outcome(state, "together")).tolist() == [False, True, False]
    heads, rows = tally(
        GAME, GAME.points(state).tolist(), {name: GAME.outcome(state, name) for name in GAME.learning.outcomes}
    )
    assert heads == ["won as soloist", "won as defender", "points"]
    assert rows[0][0] == "-"
    assert rows[1][0] in ("0", "1")
    assert rows[0][2] == "0"


def test_the_law_wants_a_number_where_an_outcome_applies():
    @rule
    def nothing(state, seat):
        return np.nan

    for applies in (None, is_soloist):
        outcomes = {"alone": Outcome(nothing, "nothing", applies=applies)}
        wrong = GAME.changed(name="wrong", outcomes=outcomes, measures=(), tally=())
        result = check(wrong, laws=["outcomes_keep_their_range"], isolated=False)[0]
        assert result.verdict == "broken"
        assert "the outcome alone is nan for seat" in result.why
    sound = check(GAME, laws=["outcomes_keep_their_range", "scores_are_shares"], isolated=False)
    assert [result.verdict for result in sound] == ["holds", "holds"]


def test_the_law_wants_payoffs_in_their_range():
    wrong = GAME.changed(name="wrong", payoff=Payoff(-384, 48, "points"))
    result = check(wrong, laws=["scores_are_shares"], isolated=False)[0]
    assert result.verdict == "broken"
    assert "are not all in [-384, 48]" in result.why


def test_an_outcome_of_a_role_is_no_label():
    from cardai.records.recipe import Recipe

    with pytest.raises(CardaiError, match="does not apply to every seat"):
        Recipe(label="alone").check_label(GAME)


def test_a_duel_speaks_in_points(tmp_path):
    result = duel(GAME, "careful", "random", seats=3, games=300, folder=tmp_path)
    assert result.unit == "points"
    assert result.score.point > -20
    assert type(result).from_json(result.as_json()) == result
    assert "points ahead" in str(result)
    assert "%," not in str(result)


def test_a_suite_speaks_in_points():
    report = run_suite(GAME, games=90)
    assert {row.agent: row.figure.point for row in report.rows}["random"] < -50


def test_a_batch_pays_points():
    batch, paid = cardai.Batch(GAME, 8, seed=3), []
    for _ in range(40):
        _, rewards, ended, _, _ = batch.step(batch.sample())
        paid += rewards[ended].ravel().tolist()
        assert not rewards[~ended].any()
    assert set(paid) <= {0.0, *(sign * 12.0 * 2**bid for bid in (2, 3, 4) for sign in (1, -2))}
    assert min(paid) < 0


def test_standard_environments_take_off_what_equal_players_get():
    assert usual_score(GAME, 3) == 0.0
    assert usual_score(GAME.changed(name="sum", score_sum=lambda seats: -96.0), 3) == -32.0


def test_utilities_of_a_small_game_are_in_the_unit():
    kuhn = cardai.load(str(Path(__file__).parent.parent / "examples/kuhn"))
    chips = kuhn.changed(name="chips", payoff=Payoff(-2, 2, "chips"), score=kuhn.learning.outcomes["chips"].of)
    chips = chips.changed(score_sum=lambda seats: 0.0)
    tree = GameTree.of(chips)
    assert np.array_equal(tree.utilities("score"), tree.utilities("chips"))


def test_reviews_and_advice_speak_in_points():
    recorded = simulate_here(GAME, {"careful": 1.0, "random": 1.0}, 3, seed=1)[0]
    analysis = analyse(GAME, recorded, "rollout:8")
    assert analysis.scores == tuple(GAME.payoff.of(recorded.scores))
    assert analysis.outcome == analysis.scores
    assert (analysis.scale.name, analysis.unit) == ("expected points", (1.0, "points"))
    assert any(turn.value is not None and abs(turn.value) > 1 for turn in analysis.turns)
    explanation = Adviser(GAME, "rollout:8", worlds=12).explain(GAME.new(seed=1), seed=2)
    assert advice.heads(explanation)[1] == "points of rollouts"
    assert not any("a score of 0.100" in note for note in advice.notes(explanation))
    assert min(move.rollouts.mean for move in explanation.moves) < -1


def test_a_simulation_speaks_in_points(tmp_path):
    summary = simulate(GAME, {"careful": 1.0, "random": 1.0}, 200, out=tmp_path / "games.jsonl", seed=1)
    scores = {share.agent: share.score for share in summary.agents}
    assert summary.unit == "points"
    assert scores["random"].point < -20 < scores["careful"].point
    assert scores["random"].low < scores["random"].point < scores["random"].high
