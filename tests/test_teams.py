"""Games of teams: seat i belongs to team i % teams, and a team counts once wherever results are counted."""

import json

import numpy as np
import pairs
import pytest
from printing import text_of

from cardai.errors import CardaiError
from cardai.game import MEASURED, Row, Suite
from cardai.measure import duplicate, league
from cardai.measure.bench import run_match, run_suite
from cardai.measure.bench_report import MatchStanding, SuiteResult
from cardai.measure.duel import duel
from cardai.measure.duplicate import line_up_of
from cardai.measure.league import run_all
from cardai.measure.pool import PlannedTable, tables_of
from cardai.playing.agents.spec import agent
from cardai.playing.stats import interval
from cardai.playing.stats.deals import deal_seeds, seats_of_side
from cardai.playing.stats.measure import WonLostTied, decided, leads
from cardai.playing.table.many import play
from cardai.records.mixture import Mix
from cardai.registry import load

PAIRS = pairs.GAME


def with_rows(**rows: Row):
    return PAIRS.changed(suites={"own": Suite("a test", "score", rows, ("high", "low"))})


def played(specs: list[str], deals: int, seed: int) -> np.ndarray:
    """The scores of all seats in the line-up as it is and turned by one seat, f8[deals, 2, seats]."""
    names = list(dict.fromkeys(specs))
    lineup = np.array([names.index(spec) for spec in specs])
    lineups = np.tile([lineup, np.roll(lineup, 1)], (deals, 1))
    agents = [agent(PAIRS, spec) for spec in names]
    return play(PAIRS, agents, lineups, np.repeat(deal_seeds(seed, deals), 2)).scores.reshape(deals, 2, len(specs))


def ends_of(row: MatchStanding | SuiteResult) -> WonLostTied:
    assert row.ends is not None
    return row.ends


# The declaration.


@pytest.mark.parametrize(
    ("teams", "said"),
    [
        (5, "pairs: 4 or 6 seats cannot be 5 teams of equal size; 0 teams: .*; 1: all play together"),
        (3, "pairs: 4 or 6 seats cannot be 3 teams"),
        (-2, "pairs: teams must be at least 0, not -2"),
        (True, "pairs: teams must be a whole number, not True"),
    ],
)
def test_teams_that_the_seats_cannot_form_are_refused(teams, said):
    with pytest.raises(CardaiError, match=said):
        PAIRS.changed(teams=teams)


def test_the_usual_table_has_a_number_of_seats_that_the_game_allows():
    assert PAIRS.changed(seats=range(2, 5), default_seats=0, teams=0).default_seats == 2
    assert PAIRS.changed(seats=range(3, 5), default_seats=0, teams=0).default_seats == 3
    with pytest.raises(CardaiError, match="pairs: default_seats is 2, but the game is for 3 seats"):
        PAIRS.changed(seats=range(3, 4), default_seats=2, teams=0)


def test_each_seat_may_be_a_team_of_its_own():
    assert PAIRS.changed(seats=range(2, 7, 2)).teams == 2
    assert PAIRS.changed(seats=range(4, 5), teams=4).teams == 4


def test_the_numbers_of_seats_are_named_one_by_one_if_they_leave_some_out():
    with pytest.raises(CardaiError, match="pairs is for 4 or 6 seats, not 5"):
        PAIRS.new(5)


# Matches.


def test_a_team_counts_once_a_game_and_each_game_is_played_once():
    report = run_match(PAIRS, ["high", "random", "high", "random"], games=399, seed=3)
    scores = played(["high", "random", "high", "random"], 200, 3)
    own = np.stack([scores[:, 0, 0], scores[:, 1, 1]], axis=1)
    high, others = report.rows
    assert (report.games, high.places, high.score.n, high.score.deals) == (400, 2, 400, 200)
    assert high.score == interval.estimate(own).scaled(100)
    assert others.score.point == pytest.approx(100 - high.score.point)
    assert high.by_seat == pytest.approx([100 * own[:, 0].mean(), 100 * own[:, 1].mean()] * 2)
    (verdict,) = (one for one in report.verdicts if one.one == "high")
    assert (verdict.verdict, verdict.difference.n) == ("better", 400)
    assert "399 games were asked for: rounded up" in text_of(report)


def test_partners_of_different_kinds_are_counted_apart_and_score_alike():
    report = run_match(PAIRS, ["high", "random", "low", "random"], games=400, seed=3)
    high, others, low = report.rows
    assert [row.score.n for row in report.rows] == [400, 400, 400]
    assert high.score == low.score
    assert others.score.point == pytest.approx(100 - high.score.point)


def test_a_player_in_both_teams_is_counted_for_each():
    (row,) = run_match(PAIRS, ["high"] * 4, games=100, seed=3).rows
    assert (row.places, row.score.point, row.score.n, row.score.deals) == (4, 50.0, 200, 100)
    assert ends_of(row).won == ends_of(row).lost


def test_partners_count_by_their_mean_in_a_measure_that_differs_between_them():
    game = PAIRS.changed(measures=("rank",))
    high, low = run_match(game, ["high", "low", "high", "low"], games=400, seed=3).rows
    assert high.beside["rank"].n == low.beside["rank"].n == 400
    assert high.beside["rank"].low > low.beside["rank"].high
    high, low, beside = run_match(game, ["high", "low", "random", "low"], games=400, seed=3).rows
    assert high.beside["rank"].low > beside.beside["rank"].high  # partners, but what they played is their own


# Games won, lost and tied.


def test_the_higher_score_wins_whatever_the_scores_are():
    scores = np.array([[0.7, 0.3], [0.6, 0.8], [0.2, 0.2], [0.3, 0.1]])
    np.testing.assert_array_equal(decided(leads(scores)[:, 0]), [1, 0, np.nan, 1])
    assert (leads(np.tile(scores, 2))[:, [0, 2]] == leads(scores)[:, [0, 0]]).all()


def test_games_won_lost_and_tied_are_counted_and_the_decided_ones_have_an_interval():
    report = run_match(PAIRS, ["high", "random", "high", "random"], games=400, seed=3)
    scores = played(["high", "random", "high", "random"], 200, 3)
    own = np.stack([scores[:, 0, 0], scores[:, 1, 1]], axis=1)
    ends, theirs = ends_of(report.rows[0]), ends_of(report.rows[1])
    assert (ends.won, ends.lost, ends.tied) == ((own == 1).sum(), (own == 0).sum(), (own == 0.5).sum())
    assert min(ends.won, ends.lost, ends.tied) > 0
    assert ends.of_decided == interval.proportion(np.where(own == 0.5, np.nan, own)).scaled(100)
    assert ends.of_decided.n == ends.won + ends.lost
    assert (theirs.won, theirs.lost, theirs.tied) == (ends.lost, ends.won, ends.tied)


def test_a_table_shows_them_in_place_of_the_shares_of_games_won_and_lost():
    report = run_match(PAIRS, ["high", "random", "high", "random"], games=400, seed=3)
    ends, text = ends_of(report.rows[0]), text_of(report)
    assert [measure.name for measure in report.measures] == ["score"]
    header = next(line for line in text.splitlines() if "player" in line)
    assert " ".join(header.split()) == "player score % won-lost-tied of decided % score by seat n"
    assert f"{ends.won}-{ends.lost}-{ends.tied}" in text
    assert str(ends.of_decided) in text
    assert f"{ends.won}-{ends.lost}-{ends.tied}" in str(report)
    found = json.loads(json.dumps(report.as_json(), allow_nan=False))["rows"][0]["ends"]
    assert (found["won"], found["of_decided"]["n"]) == (ends.won, ends.won + ends.lost)


def test_two_seats_are_two_sides_and_three_teams_are_not():
    two = PAIRS.changed(seats=range(2, 3), default_seats=2, teams=0)
    report = run_match(two, ["high", "low"], games=100)
    ends = ends_of(report.rows[0])
    assert ends.won + ends.tied / 2 == pytest.approx(report.rows[0].score.point * report.games / 100)
    three = PAIRS.changed(seats=range(6, 7), default_seats=6, teams=3, score_sum=lambda seats: None)
    report = run_match(three, ["high", "low", "random"] * 2, games=99)
    assert [row.ends for row in report.rows] == [None] * 3
    assert (report.games, [measure.name for measure in report.measures]) == (99, ["score", "win", "loss"])


# Suites.


def test_the_measured_agent_has_a_whole_team():
    game = with_rows(six=Row(("random",) * 3), four=Row(("random", "low")))
    report = run_suite(game, agents=["high"], games=400, seed=3)
    six, four = report.rows
    in_match = run_match(PAIRS, ["high", "random", "high", "low"], games=400, seed=3)
    assert four.games == 400  # the opponents differ, so each rotation is another game
    assert four.figure == in_match.rows[0].score
    assert four.ends == in_match.rows[0].ends
    assert (four.places, four.opponents, four.partners) == (2, ("random", "low"), ())
    scores = played(["high", "random"] * 3, 200, 3)
    own = np.stack([scores[:, 0, 0], scores[:, 1, 1]], axis=1)
    assert (six.places, six.games, six.figure) == (3, 400, interval.estimate(own).scaled(100))
    assert [seat.point for seat in six.by_seat] == pytest.approx([100 * own[:, 0].mean(), 100 * own[:, 1].mean()] * 3)
    assert [seat.n for seat in six.by_seat] == [200] * 6
    text = text_of(report)
    assert "six: 3 seats of the agent, against 3 x random" in text
    assert "four: 2 seats of the agent, against random + low" in text


def test_a_row_may_name_the_whole_line_up():
    game = with_rows(beside=Row((MEASURED, "random", "low", "random")), last=Row(("random", MEASURED) * 2))
    report = run_suite(game, agents=["high"], games=400, seed=3)
    beside, last = report.rows
    in_match = run_match(PAIRS, ["high", "random", "low", "random"], games=400, seed=3)
    assert beside.figure == in_match.rows[0].score
    assert (beside.places, beside.opponents, beside.partners) == (1, ("random", "random"), ("low",))
    assert (last.places, last.opponents, last.figure.n) == (2, ("random", "random"), 400)
    assert last.figure == run_match(PAIRS, ["random", "high"] * 2, games=400, seed=3).rows[1].score
    assert "beside: with low, against 2 x random" in text_of(report)


def test_agents_are_compared_on_the_same_deals_and_against_claims():
    game = with_rows(row=Row(("random", "random"), {"high": 50.0, "low": 27.0}))
    report = run_suite(game, agents=["high", "low", "random"], games=1000, seed=3)
    assert {(one.one, one.other): one.verdict for one in report.verdicts}["high", "low"] == "better"
    high, low, even = report.rows
    assert (high.claim_verdict, low.claim_verdict) == ("higher", "agrees")
    assert high.figure.deals == low.figure.deals == even.figure.deals == 500
    assert (even.games, even.figure.n, even.figure.point) == (500, 1000, 50.0)  # one game, counted for both teams
    assert "counted from each side" in text_of(report)
    assert report.games == 2500


def test_a_game_without_suites_is_measured_as_a_team_against_random():
    report = run_suite(PAIRS, games=40)
    assert {row.opponents for row in report.rows} == {("random", "random")}
    assert {row.places for row in report.rows} == {2}


def test_a_table_of_teams_fits_a_narrow_terminal():
    game = with_rows(row=Row(("random", "random"), {"high": 50.0}))
    for report in (run_suite(game, games=1000), run_match(PAIRS, ["high", "random"] * 2, games=10_000)):
        lines = text_of(report, 80).splitlines()
        assert max(map(len, lines)) <= 80
        assert "\u2026" not in "".join(lines)


def test_opponents_that_cannot_be_teams_are_refused_and_rows_of_other_sizes_reported():
    with pytest.raises(CardaiError, match="3 opponents cannot be 2 teams of equal size"):
        line_up_of(Row(("random",) * 3), 3)
    assert line_up_of(Row(("a", "b", "c", "d")), 3) == (MEASURED, "a", "b", MEASURED, "c", "d")
    (gap,) = run_suite(with_rows(ten=Row(("random",) * 5), ready=Row(("random",) * 2)), games=4).missing[:1]
    assert (gap.row, gap.places, gap.opponents) == ("ten", 5, ("random",) * 5)
    assert "pairs is for 4 or 6 seats, not 10" in gap.reason


# Duels, leagues, training.


def spied(monkeypatch, module) -> list[tuple[np.ndarray, list[int]]]:
    """The line-ups and seeds of all games that a module lets play."""
    calls, whole = [], module.play

    def play(game, agents, lineups, seeds, **options):
        calls.append((np.array(lineups), np.array(seeds).tolist()))
        return whole(game, agents, lineups, seeds, **options)

    monkeypatch.setattr(module, "play", play)
    return calls


@pytest.mark.parametrize("seats", [4, 6])
def test_a_duel_is_one_team_against_the_other(tmp_path, monkeypatch, seats):
    calls = spied(monkeypatch, duplicate)
    found = duel(PAIRS, "high", "random", seats=seats, games=399, seed=7, folder=tmp_path)
    (lineups, seeds), *more = calls
    assert not more
    assert lineups.tolist() == [[0, 1] * (seats // 2), [1, 0] * (seats // 2)] * 200
    assert seeds == np.repeat(deal_seeds(7, 200), 2).tolist()
    report = run_match(PAIRS, ["high", "random"] * (seats // 2), games=399, seed=7)
    assert found.score.point == pytest.approx(report.rows[0].score.point)
    (verdict,) = (one for one in report.verdicts if one.one == "high")
    assert found.difference.point == pytest.approx(verdict.difference.point)
    assert (found.games, found.score.n, found.difference.n) == (400, 400, 400)
    assert duel(PAIRS, "high", "random", seats=seats, games=399, seed=7, folder=tmp_path) == found  # from its file
    assert len(calls) == 2, "the match has played, and nothing else"


def test_a_duel_of_three_teams_has_the_candidate_in_one_of_them(tmp_path, monkeypatch):
    calls = spied(monkeypatch, duplicate)
    three = PAIRS.changed(seats=range(6, 7), default_seats=6, teams=3, score_sum=lambda seats: None)
    found = duel(three, "high", "random", seats=6, games=30, folder=tmp_path)
    assert calls[0][0].tolist() == [[0, 1, 1, 0, 1, 1], [1, 0, 1, 1, 0, 1], [1, 1, 0, 1, 1, 0]] * 10
    assert found.games == 30


def test_a_league_rates_agents_that_play_whole_teams(monkeypatch):
    monkeypatch.setattr(league, "_SPEED_GAMES", (2,))
    monkeypatch.setattr("cardai.playing.stats.ratings.RESAMPLES", 100)
    pool = tuple(agent(PAIRS, spec) for spec in ("random", "high", "low"))
    monkeypatch.setattr(league, "tables_of", lambda *_: [PlannedTable(PAIRS, "standard", 6, pool)])
    calls = spied(monkeypatch, league)
    (table,) = run_all(["pairs"], games=599, seed=1).tables
    lineups, seeds = max(calls, key=lambda call: len(call[1]))
    assert (lineups == lineups[:, [0, 1] * 3]).all()
    assert (lineups[::2, 0] == lineups[1::2, 1]).all()
    assert (lineups[:, 0] != lineups[:, 1]).all()
    assert seeds == np.repeat(deal_seeds(1, 300), 2).tolist()
    standings = {one.spec: one for one in table.standings}
    assert (table.games, table.deals, sum(one.score.n for one in table.standings)) == (600, 300, 1200)
    assert standings["high"].rating.low > 0 > standings["low"].rating.high
    score = np.mean([standings[spec].score.point for spec in standings])
    assert score == pytest.approx(50, abs=0.5)


def test_a_league_plays_no_game_twice_if_its_pool_is_small(monkeypatch):
    monkeypatch.setattr(league, "_SPEED_GAMES", (2,))
    monkeypatch.setattr("cardai.playing.stats.ratings.RESAMPLES", 100)
    single = PAIRS.changed(teams=0)
    pool = tuple(agent(single, spec) for spec in ("random", "high"))
    monkeypatch.setattr(league, "tables_of", lambda *_: [PlannedTable(single, "standard", 4, pool)])
    calls = spied(monkeypatch, league)
    (table,) = run_all(["pairs"], games=400, seed=1).tables
    lineups, seeds = max(calls, key=lambda call: len(call[1]))
    games = [(*lineup, seed) for lineup, seed in zip(lineups.tolist(), seeds, strict=True)]
    assert 200 < len(games) == len(set(games)) < 400  # 2 or 4 rotations of each deal
    assert (table.deals, table.games, len(set(seeds))) == (100, len(games), 100)
    assert all(one.score.n == 2 * len(games) for one in table.standings)


def test_sides_take_turns_in_training():
    assert seats_of_side(np.arange(3), 4, 2).astype(int).tolist() == [[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]
    assert seats_of_side(np.array([5]), 4, 0).astype(int).tolist() == [[0, 1, 0, 0]]


# One team.


def test_where_all_play_together_a_duel_plays_each_agent_in_all_seats_of_the_same_deals(tmp_path):
    hanabi = load("examples/hanabi")
    assert hanabi.teams == 1
    result = duel(hanabi, "careful", "random", seats=3, seed=1, folder=tmp_path / "duel", games=40)
    assert result.verdict == "better"
    together = run_match(hanabi, ["careful"] * 3, games=40, seed=1).rows[0].score
    assert abs(result.score.point - together.point) < 3  # points of 25, on other deals
    alone = duel(hanabi, "careful", "careful", seats=3, seed=1, folder=tmp_path / "same", games=40)
    assert alone.difference.point == 0.0
    assert alone.verdict == "undecided"


def test_where_all_play_together_a_suite_measures_an_agent_in_all_seats():
    report = run_suite(load("examples/hanabi"), games=10, agents=["careful", "random"])
    careful, random = (row.score.point for row in report.rows)
    assert careful > random + 5


def test_where_all_play_together_there_is_no_league():
    with pytest.raises(CardaiError, match="all seats of hanabi are one team"):
        tables_of("examples/hanabi", True, {})


def test_where_all_play_together_a_mixture_of_agents_seats_one_of_them_a_game():
    hanabi, pool = load("examples/hanabi"), {"random": 1.0, "careful": 1.0}
    drawn = Mix(hanabi, pool, 50, 1, None, 3, 1).lineups(0, 50)
    assert (drawn == drawn[:, :1]).all()
    assert 10 < drawn[:, 0].sum() < 40
