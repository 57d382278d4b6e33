"""Outcomes of a game beside its score, and the share of the win: noted in play, in tables and as labels."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import small_game
from judges import Judge, know, some_order
from printing import text_of

import cardai
from cardai.errors import CardaiError
from cardai.game import Game, Outcome, Payoff, Row, Suite
from cardai.measure.analysis import analyse
from cardai.measure.bench import run_match, run_suite
from cardai.measure.duplicate import outcomes
from cardai.playing.agents.spec import agent
from cardai.playing.stats import interval
from cardai.playing.stats.deals import deal_seeds, rotations
from cardai.playing.stats.measure import measure_of, win_shares
from cardai.playing.table.many import Results, play
from cardai.playing.table.one import OneGame
from cardai.records import record
from cardai.records.dataset import collect, collect_games
from cardai.records.recipe import Recipe
from cardai.records.selfplay import simulate_here
from cardai.rules import rule
from cardai.rules.cards import count

PATH = str(Path(__file__).parent.parent / "examples/whist")
WHIST = cardai.load(PATH)


@rule
def points_left(state, seat):
    return 1.0 * small_game.points(state.hands[seat])


@rule
def has_none(state, seat):
    return 1.0 if small_game.points(state.hands[seat]) == 0 else 0.0


@rule
def moves_played(state, seat):
    return 1.0 * state.ply


@rule
def no_number(state, seat):
    return np.nan if seat == 1 else 0.5


POINTS = Outcome(points_left, "points in the hand at the end", -1, 15, lower_is_better=True)
LOW = small_game.GAME.changed(
    outcomes={"points": POINTS, "clean": Outcome(has_none, "hands without a point")},
    measures=("share", "points", "clean"),
    suites={
        "points": Suite("by points", "points", {"random": Row(("random", "random"), {"low": 3.0})}, ("low", "random")),
        "share": Suite(
            "by share", "share", {"random": Row(("random", "random"), {"low": 90.0})}, ("low",), claim_games=1000
        ),
    },
)
LENGTHS = small_game.GAME.changed(outcomes={"moves": Outcome(moves_played, "moves", 0, small_game.TURNS)})


@rule
def took_the_trick(state, seat):
    return 1.0 if state.leader == seat and state.table[seat] == -1 else 0.0


@rule
def cards_played(state, seat):
    return 24.0 - count(state.hands[0] | state.hands[1] | state.hands[2])


TAKING = WHIST.changed(
    rewards={
        "trick": Outcome(took_the_trick, "took the trick, as the last to play to it"),
        "cards": Outcome(cards_played, "cards played so far", 1, 24, lower_is_better=True),
    },
)
FEW_CARDS = WHIST.changed(rewards={"cards": Outcome(cards_played, "cards played so far", 1, 20)})
BROKEN = small_game.GAME.changed(outcomes={"odd": Outcome(no_number, "no number")}, measures=("odd",))


def played(game: Game, specs: list[str], deals: int, seed: int) -> tuple[Results, np.ndarray]:
    """Every deal in all rotations, and the place of the line-up in each seat, i64[games, seats]."""
    places = np.tile(rotations(len(specs)), (deals, 1))
    seeds = np.repeat(deal_seeds(seed, deals), len(specs))
    agents = [agent(game, spec) for spec in specs]
    return play(game, agents, places, seeds, outcomes=tuple(game.learning.outcomes), record=True), places


def by_deal(values: np.ndarray, places: np.ndarray, place: int) -> np.ndarray:
    """What one place got, f8[deals, rotations], found seat by seat."""
    seats = places.shape[1]
    own = [values[game, list(places[game]).index(place)] for game in range(len(places))]
    return np.array(own).reshape(-1, seats)


# The share of the win.


def test_the_share_of_the_win_splits_ties():
    scores = np.array([[1.0, 0.2, 0.5], [0.4, 0.1, 0.4], [0.0, 0.0, 0.0]])
    assert win_shares(scores).tolist() == [[1, 0, 0], [0.5, 0, 0.5], [1 / 3, 1 / 3, 1 / 3]]


def test_the_share_of_an_unfinished_game_is_no_number():
    scores, finished = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([True, False])
    results = Results(scores, np.zeros(2, int), finished, ~finished, 0, 1.0, np.zeros((2, 4)))
    assert outcomes(Payoff(), "share", results)[0].tolist() == [1, 0]
    assert np.isnan(outcomes(Payoff(), "share", results)[1]).all()


# Outcomes of games.


@pytest.mark.parametrize("threads", [1, 2])
def test_play_notes_the_outcomes_that_the_game_gives_the_last_state(threads):
    agents, lineups = [agent(LOW, "low"), agent(LOW, "random")], np.arange(600).reshape(200, 3) % 2
    results = play(LOW, agents, lineups, np.arange(200), outcomes=("clean", "points"), record=True, threads=threads)
    assert set(results.outcomes) == {"clean", "points"}
    for game, moves in enumerate(results.moves):
        state = LOW.new(3, game)
        for move in moves if moves is not None else ():
            state = LOW.play(state, move)
        assert LOW.outcome(state, "points").tolist() == results.outcomes["points"][game].tolist()
        assert LOW.outcome(state, "clean").tolist() == results.outcomes["clean"][game].tolist()
        assert LOW.outcome(state, "points").tolist() == [small_game.points(int(hand)) for hand in state["hands"][:3]]


def test_outcomes_are_noted_of_agents_that_play_outside_compiled_code():
    outside = cardai.player(lambda game, world: game.moves(world)[-1])
    both = [outside, agent(LOW, "random")]
    results = play(LOW, both, np.zeros((30, 3), int), np.arange(30), outcomes=("points",))
    assert (results.outcomes["points"] > 0).any()
    assert play(LOW, both, np.zeros((30, 3), int), np.arange(30)).outcomes == {}


def test_an_outcome_out_of_its_range_stops_a_run():
    with pytest.raises(CardaiError, match="low_hand: the outcome odd is nan for seat 1 in one of these games"):
        run_match(BROKEN, ["random", "random", "random"], games=9)
    with pytest.raises(CardaiError, match="odd is nan for seat 1; its range is 0 to 1"):
        BROKEN.outcome(ended(BROKEN), "odd")


def ended(game: Game):
    state = game.new(3, 1)
    while state["turn"] >= 0:
        state = game.play(state, game.moves(state)[0])
    return state


def test_an_outcome_that_there_is_not_or_not_yet_is_refused():
    with pytest.raises(CardaiError, match="there is no outcome 'point'; did you mean points"):
        LOW.outcome(ended(LOW), "point")
    with pytest.raises(CardaiError, match="the game is not over, this state has no outcome yet"):
        LOW.outcome(LOW.new(3, 1), "points")
    with pytest.raises(CardaiError, match="there is no outcome 'moon'"):
        play(LOW, [agent(LOW, "random")], np.zeros((1, 3), int), np.arange(1), outcomes=("moon",))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"outcomes": {"share": POINTS}}, "an outcome cannot be named 'share', which every game has already"),
        ({"outcomes": {"not_lost": POINTS}}, "an outcome cannot be named 'not_lost'"),
        ({"measures": ("rank",)}, "there is no measure 'rank'; there is score, win, loss, share, points, clean"),
        ({"suites": {"s": Suite("", "rank", {}, ())}}, "there is no measure 'rank'"),
    ],
)
def test_names_that_cannot_be_are_refused_where_the_game_is_written(changes, said):
    with pytest.raises(CardaiError, match=said):
        LOW.changed(**changes)


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 0), (0, np.inf), (np.nan, 1)])
def test_a_range_is_finite_and_rises(low, high):
    with pytest.raises(CardaiError, match="the range of an outcome must be finite and rise"):
        Outcome(points_left, "points", low, high)


def test_a_game_at_a_table_has_its_outcomes():
    table = OneGame(WHIST, [agent(WHIST, "thrifty")] * 3, seed=5)
    table.run()
    tricks = table.outcomes()["tricks"]
    assert tricks.sum() == 8
    assert tricks.tolist() == (8 * table.scores()).tolist()


# Tables.


def test_a_match_gives_each_measure_with_an_interval_over_deals():
    report = run_match(LOW, ["low", "random", "random"], games=600, seed=3)
    results, places = played(LOW, ["low", "random", "random"], 200, 3)
    values = {"share": win_shares(results.scores), **results.outcomes}
    low, others = report.rows
    for name, scale in (("share", 100), ("points", 1), ("clean", 100)):
        own = by_deal(values[name], places, 0)
        assert low.beside[name] == interval.estimate(own).scaled(scale)
        assert low.beside[name].point == pytest.approx(scale * own.mean())
        assert (low.beside[name].n, low.beside[name].deals) == (600, 200)
        both = np.concatenate([by_deal(values[name], places, place) for place in (1, 2)], axis=1)
        assert others.beside[name] == interval.estimate(both).scaled(scale)
    assert low.beside["share"].point + 2 * others.beside["share"].point == pytest.approx(100)


def test_players_are_compared_by_each_measure_on_the_same_deals():
    report = run_match(LOW, ["low", "random", "random"], games=600, seed=3)
    results, places = played(LOW, ["low", "random", "random"], 200, 3)
    verdicts = {(pair.measure, pair.one): pair for pair in report.verdicts}
    assert {measure for measure, _ in verdicts} == {"score", "share", "points", "clean"}
    points = verdicts["points", "low"]
    own = by_deal(results.outcomes["points"], places, 0).mean()
    other = np.mean([by_deal(results.outcomes["points"], places, place).mean() for place in (1, 2)])
    assert points.difference.point == pytest.approx(own - other)
    assert points.difference.high < 0  # fewer points, which is better
    assert (points.verdict, verdicts["points", "random"].verdict) == ("better", "worse")
    assert (verdicts["share", "low"].verdict, verdicts["share", "random"].verdict) == ("better", "worse")


def test_the_table_of_a_match_names_measures_and_units():
    text = text_of(run_match(LOW, ["low", "random", "random"], games=60))
    header = next(line for line in text.splitlines() if "player" in line)
    assert " ".join(header.split()) == "player score % share % points clean % score by seat n"
    assert "points: points in the hand at the end; lower is better" in text
    assert "share %: share of the win: 1/k for each of the k seats with the best score of their table" in text
    assert "win %" not in text


def test_a_game_without_measures_shows_wins_and_losses():
    report = run_match(small_game.GAME, ["low", "random", "random"], games=60)
    assert [measure.name for measure in report.measures] == ["score", "win", "loss"]
    assert "share %" not in text_of(report)
    assert {pair.measure for pair in report.verdicts} == {"score"}


def test_a_suite_may_measure_an_outcome_in_its_own_unit():
    report = run_suite(LOW, "points", games=600, seed=3)
    results, places = played(LOW, ["low", "random", "random"], 200, 3)
    own = by_deal(results.outcomes["points"], places, 0)
    low, even = report.rows
    assert low.figure == interval.mean(own)
    assert [seat.point for seat in low.by_seat] == pytest.approx(own.mean(axis=0))
    assert low.seat_share == pytest.approx(results.outcomes["points"].mean(axis=0))
    assert set(low.beside) == {"share", "clean"}
    assert low.claim_verdict == interval.agreement(low.figure, 3.0)
    verdict = next(pair for pair in report.verdicts if (pair.measure, pair.one) == ("points", "low"))
    assert verdict.verdict == "better"
    assert verdict.difference.point == pytest.approx(low.figure.point - even.figure.point)
    text = text_of(report)
    header = next(line for line in text.splitlines() if "against" in line)
    assert header.split()[:5] == ["against", "agent", "points", "share", "%"]
    assert f"{low.figure}" in str(report)
    assert f"{low.beside['share']}" in str(report)


def test_a_suite_may_measure_the_share_of_the_win_against_a_claim():
    (low,) = run_suite(LOW, "share", games=600, seed=3).rows
    results, places = played(LOW, ["low", "random", "random"], 200, 3)
    share = interval.estimate(by_deal(win_shares(results.scores), places, 0))
    assert low.figure == share.scaled(100)
    assert low.claim_verdict == interval.agreement(share, 0.9, 1000)


def test_the_report_as_json_says_what_the_measures_are():
    report = json.loads(json.dumps(run_match(LOW, ["low", "random", "random"], games=30).as_json()))
    points = next(measure for measure in report["measures"] if measure["name"] == "points")
    assert points == {
        "name": "points", "about": "points in the hand at the end", "low": -1.0, "high": 15.0, "lower_is_better": True,
            "unit": "", "by_role": False,
    }  # fmt: skip
    assert report["rows"][0]["beside"]["points"]["n"] == 30


def test_an_interval_of_an_outcome_covers_the_truth_as_often_as_it_says():
    """Equal agents play the same game in all rotations of a deal: three equal numbers, which count as one."""
    results, places = played(LENGTHS, ["random"] * 3, 8_000, 8)
    truth, covered = results.outcomes["moves"].mean(), 0
    own = by_deal(results.outcomes["moves"], places, 0).reshape(200, 40, 3)
    assert (own == own[:, :, :1]).all()
    for sample in own:
        covered += interval.estimate(sample).contains(truth)
    assert 178 <= covered <= 199  # of 200; about 147 with games taken as independent


def test_a_measure_of_no_game_is_refused():
    assert measure_of(LOW, "loss").lower_is_better
    with pytest.raises(CardaiError, match="low_hand: there is no measure 'moons'"):
        measure_of(LOW, "moons")


# Labels.


def test_an_outcome_is_a_label_of_the_games_that_were_recorded_once(tmp_path):
    games = simulate_here(LOW, {"low": 1, "random": 1}, 40, seats=3)
    rows, ends = {}, []
    for recorded in games:
        ends.append(LOW.outcome(record.replay(LOW, recorded), "points"))
    for label in ("score", "share", "points", "clean"):
        rows[label] = collect_games(LOW, games, Recipe(label=label))
    data = rows["points"]
    assert {one.packed.take(np.arange(len(data))).tobytes() for one in rows.values()} == {
        data.packed.take(np.arange(len(data))).tobytes()
    }
    place = 0
    for number, recorded in enumerate(games):
        state = LOW.new(3, recorded.seed, recorded.variant)
        for move in recorded.moves:
            seat = int(state["turn"])
            assert data.game_of[place] == number
            assert data.labels[place] == np.float32((15 - ends[number][seat]) / 16)
            assert rows["clean"].labels[place] == float(ends[number][seat] == 0)
            assert rows["score"].labels[place] == np.float32(recorded.scores[seat])
            assert rows["share"].labels[place] == np.float32(win_shares(np.array(recorded.scores))[seat])
            state, place = LOW.play(state, move), place + 1
    assert place == len(data)
    assert data.digest != rows["clean"].digest


def test_a_label_that_the_game_does_not_have_is_refused():
    games = simulate_here(WHIST, {"random": 1}, 2)
    with pytest.raises(CardaiError, match="recipe: there is no label 'trick'; did you mean tricks"):
        collect_games(WHIST, games, Recipe(label="trick"))
    with pytest.raises(CardaiError, match="label must be a text"):
        Recipe(label=5)  # pyright: ignore[reportArgumentType]


def test_a_label_out_of_its_range_names_the_game():
    games = simulate_here(BROKEN, {"random": 1}, 3, seats=3)
    with pytest.raises(CardaiError, match=rf"odd is nan for seat 1 in game 0 \(seed {games[0].seed}\)"):
        collect_games(BROKEN, games, Recipe(label="odd"))


@pytest.mark.parametrize("moment", ["before_draw", "drawn"])
def test_rewards_are_read_off_the_state_after_the_move(moment):
    games = simulate_here(TAKING, {"thrifty": 1, "random": 1}, 12, seats=3)
    labels = {
        label: collect_games(TAKING, games, Recipe(label=label, moment=moment)).labels
        for label in ("trick", "cards", "score", "3*score + trick", "tricks+2*cards+0.5*win")
    }
    expected = []
    for recorded in games:
        state = TAKING.new(3, recorded.seed, recorded.variant)
        for move in recorded.moves:
            before, seat = state, int(state["turn"])
            state = TAKING.play(state, move)
            trick = float(state["tricks"][seat] - before["tricks"][seat])
            cards = (state["ply"] - 1) / 23
            if moment == "before_draw" or state["turn"] >= 0:
                score = recorded.scores[seat]
                expected.append([trick, 1 - cards, score, int(score == 1)])
    trick, cards, score, win = np.array(expected).T
    assert labels["trick"].tolist() == trick.tolist()
    assert 0 < trick.mean() < 0.5
    np.testing.assert_allclose(labels["cards"], cards, atol=1e-6)
    np.testing.assert_allclose(labels["3*score + trick"], (3 * score + trick) / 4, atol=1e-6)
    tricks = score  # three seats: both are tricks / 8
    np.testing.assert_allclose(labels["tricks+2*cards+0.5*win"], (tricks + 2 * cards + 0.5 * win) / 3.5, atol=1e-6)


def test_a_reward_out_of_its_range_names_the_game():
    games = simulate_here(FEW_CARDS, {"random": 1}, 3, seats=3)
    with pytest.raises(
        CardaiError, match=rf"reward cards is 21 for seat \d in game 0 \(seed {games[0].seed}\); its range"
    ):
        collect_games(FEW_CARDS, games, Recipe(label="cards"))


@pytest.mark.parametrize(
    "label", ["", "2*", "score+score", "0*score+win", "-1*score", "score win", "score+", "1e3*score"]
)
def test_a_label_that_is_no_sum_is_refused(label):
    with pytest.raises(CardaiError, match="must be a name, or different names with positive weights"):
        Recipe(label=label)


def test_names_of_rewards_are_checked():
    one = Outcome(took_the_trick, "it")
    with pytest.raises(CardaiError, match="whist: a reward cannot be named 'score', which every game has already"):
        WHIST.changed(rewards={"score": one})
    with pytest.raises(CardaiError, match=r"a reward cannot be named 'a\+b'; it must be a word"):
        WHIST.changed(rewards={"a+b": one})
    with pytest.raises(CardaiError, match="'tricks' cannot be the name of an outcome and of a reward"):
        WHIST.changed(rewards={"tricks": one})
    with pytest.raises(CardaiError, match="whist: the outcome trick has waits=True, which is for rewards"):
        WHIST.changed(outcomes={"trick": replace(one, waits=True)})


def test_a_record_file_gives_labels_by_outcomes(tmp_path):
    cardai.records.selfplay.simulate(WHIST, {"random": 1}, 20, seats=3, out=tmp_path / "w.jsonl")
    tricks = collect([tmp_path / "w.jsonl"], Recipe(label="tricks"), game=PATH)
    scores = collect([tmp_path / "w.jsonl"], Recipe(label="score"), game=PATH)
    assert tricks.labels.tolist() == scores.labels.tolist()  # three seats: both are tricks / 8
    assert tricks.about()["recipe"]["label"] == "tricks"


# What people are shown.


def test_a_model_of_an_outcome_is_analysed_against_what_came_of_it(monkeypatch):
    judge = Judge("of_points", "planes", 3, some_order, moment="before_draw")
    judge.metadata = SimpleNamespace(data={"recipe": {"label": "points", "balance": "natural"}})
    know(monkeypatch, judge)
    recorded = simulate_here(LOW, {"low": 1, "random": 1}, 1, seats=3)[0]
    analysis = analyse(LOW, recorded, "greedy:of_points")
    end = record.replay(LOW, recorded)
    assert analysis.scale.name == "expected points, from 0 to 1 (the best)"
    assert analysis.ends().tolist() == ((15 - LOW.outcome(end, "points")) / 16).tolist()
    judge.metadata.data["recipe"]["label"] = "share"
    assert analyse(LOW, recorded, "greedy:of_points").ends().tolist() == win_shares(np.array(recorded.scores)).tolist()
