import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from printing import text_of

from cardai import load
from cardai.cli.show import bench as shown
from cardai.errors import CardaiError
from cardai.game import MEASURED, Agents, Game, Row, Rules, Suite, Text, move_dtype, state_dtype
from cardai.measure import bench, duplicate
from cardai.measure.bench import run_match, run_suite
from cardai.measure.bench_report import SuiteResult
from cardai.playing.agents.spec import agent
from cardai.playing.stats import interval
from cardai.playing.stats.deals import deal_seeds, distinct_rotations, rotations
from cardai.playing.table.many import play
from cardai.rules import rule, shuffle

TICTACTOE = load("tictactoe")
RANDOM_WIN, RANDOM_WIN_FIRST, RANDOM_WIN_SECOND = 43.6508, 58.4921, 28.8095  # exact, percent

# Three seats get two of the cards 0..6 each and play one at once; the highest card wins.
STATE = state_dtype(hands=(3, 2), played=3)
MOVE = move_dtype("card")
CARDS = 7


@rule
def deal(state):
    deck = np.arange(7)
    shuffle(state, deck, 0, 7)
    for seat in range(3):
        state.hands[seat][0] = min(deck[2 * seat], deck[2 * seat + 1])
        state.hands[seat][1] = max(deck[2 * seat], deck[2 * seat + 1])
        state.played[seat] = -1
    state.turn = 0


@rule
def legal(state, moves):
    for i in range(2):
        moves[i].card = state.hands[state.turn][i]
    return 2


@rule
def act(state, move):
    state.played[state.turn] = move.card


@rule
def settle(state):
    state.turn = state.turn + 1 if state.turn < 2 else -1


@rule
def score(state, seat):
    for other in range(3):
        if state.played[other] > state.played[seat]:
            return 0.0
    return 1.0


@rule
def resample(state, seat, stream):
    """No agent of these tests uses a world."""


@rule
def high(state, seat):
    return float(state.played[seat])


HIGHEST = Game(
    name="highest",
    title="Highest card",
    version=1,
    seats=range(3, 4),
    default_seats=3,
    state=STATE,
    move=MOVE,
    max_moves=2,
    max_plies=3,
    rules=Rules(deal, legal, act, settle, score, resample=resample),
    text=Text(
        spell=lambda state, move: str(move["card"]), parse=lambda state, text: int(text), show=lambda state, seat: ""
    ),
    agents=Agents(
        heuristics={"high": high},
    ),
)


def without_time(report):
    return [replace(row, seconds=0.0, games_per_second=0.0) for row in report.rows]


@pytest.fixture
def played(monkeypatch):
    """The line-ups (as specs) and seeds of every call of `play`."""
    calls = []
    play = duplicate.play

    def spy(game, agents, lineups, seeds, **options):
        calls.append(([[agents[i].spec for i in lineup] for lineup in lineups], list(seeds)))
        return play(game, agents, lineups, seeds, **options)

    monkeypatch.setattr(duplicate, "play", spy)
    return calls


def test_rotations_give_each_place_every_seat_and_keep_the_order():
    for seats in (2, 3, 4, 8):
        turns = rotations(seats)
        assert turns.shape == (seats, seats)
        for column in turns.T:
            assert sorted(column) == list(range(seats))
        for turn in turns:
            assert all((turn[(s + 1) % seats] - turn[s]) % seats == 1 for s in range(seats))


@pytest.mark.parametrize(
    ("line_up", "count"),
    [("ABCD", 4), ("AAAB", 4), ("ABBA", 4), ("ABAB", 2), ("ABABAB", 2), ("ABCABC", 3), ("AA", 1), ("AAAAA", 1)],
)
def test_rotations_that_seat_equal_agents_alike_are_played_once(line_up, count):
    turns = distinct_rotations(line_up)
    assert (turns == rotations(len(line_up))[:count]).all()
    assert len(turns) == count == len({tuple(np.array(list(line_up))[turn]) for turn in rotations(len(line_up))})


def test_a_match_plays_no_game_twice(played):
    report = run_match(TICTACTOE, ["random", "random"], games=30, seed=1)
    (lineups, seeds), *_ = played
    assert (report.games, len(lineups), len(set(seeds))) == (30, 30, 30)
    assert [(row.places, row.score.n, row.score.point) for row in report.rows] == [(2, 60, 50.0)]


def test_deal_seeds_differ_and_a_shorter_run_has_the_first_of_them():
    seeds = deal_seeds(7, 5000)
    assert seeds.dtype == np.uint64
    assert len(set(seeds.tolist())) == 5000
    assert (deal_seeds(7, 10) == seeds[:10]).all()
    assert not set(deal_seeds(8, 5000).tolist()) & set(seeds.tolist())
    assert (deal_seeds(-1, 3) == deal_seeds(2**64 - 1, 3)).all()


def test_every_deal_is_played_once_with_the_agent_in_each_seat(played):
    run_suite(HIGHEST, agents=["greedy:high"], games=30)
    (lineups, seeds), *more = played
    assert not more
    assert len(lineups) == 30
    by_deal = {seed: [lineups[i].index("greedy:high") for i in range(30) if seeds[i] == seed] for seed in seeds}
    assert len(by_deal) == 10
    assert all(sorted(places) == [0, 1, 2] for places in by_deal.values())
    assert all(lineup.count("random") == 2 for lineup in lineups)


def test_every_agent_and_row_gets_the_same_deals(played):
    rows = {"a": Row(("random",)), "b": Row(("greedy:open_lines",))}
    two = Suite("", "win", rows, ("random", "greedy:open_lines"))
    run_suite(TICTACTOE.changed(suites={"two": two}), "two", games=20, seed=3)
    assert len(played) == 4
    assert all(sorted(set(seeds)) == sorted(deal_seeds(3, 10).tolist()) for _, seeds in played)
    assert [len(seeds) for _, seeds in played] == [10, 20, 20, 10]  # equal agents play each deal once


def test_the_agent_among_its_equals_has_the_figures_of_all_rotations():
    """They are one game, which is played once and counted from each seat."""
    (row,) = run_suite(HIGHEST, agents=["random"], games=300, seed=5).rows
    again = play(HIGHEST, [agent(HIGHEST, "random")], np.zeros((300, 3), int), np.repeat(deal_seeds(5, 100), 3))
    wins = again.scores[np.arange(300), np.arange(300) % 3].reshape(100, 3)
    assert row.figure == interval.estimate(wins).scaled(100)
    assert [seat.point for seat in row.by_seat] == pytest.approx(100 * wins.mean(axis=0))
    assert (row.games, row.figure.n, row.figure.deals) == (100, 300, 100)


def test_each_result_is_handed_over_when_its_games_are_played():
    rows: list[SuiteResult] = []
    report = run_suite(TICTACTOE, agents=["random", "greedy:open_lines"], games=40, on_result=rows.append)
    assert rows == list(report.rows)
    assert shown.line(TICTACTOE, rows[0]) == f"random, random *: win % {rows[0].figure}, n 40"


def test_random_play_at_tictactoe_has_its_exact_figures():
    report = run_suite(TICTACTOE, agents=["random"], games=20_000)
    (row,) = report.rows
    assert row.figure.contains(RANDOM_WIN)
    assert row.figure.high - row.figure.low < 1.5
    assert row.by_seat[0].contains(RANDOM_WIN_FIRST)
    assert row.by_seat[1].contains(RANDOM_WIN_SECOND)
    assert not row.by_seat[0].contains(RANDOM_WIN_SECOND)
    assert row.seat_share == pytest.approx([seat.point for seat in row.by_seat])  # both seats play alike
    assert row.score.point == 50.0  # every game is played from both sides
    assert (row.figure.n, row.figure.deals) == (20_000, 10_000)
    assert row.claim_verdict == "agrees"


def test_a_hidden_hand_game_has_its_exact_figure():
    wins = games = 0.0
    for deck in itertools.permutations(range(CARDS), 6):
        best = max(deck[:2])
        wins += sum(best > max(a, b) for a in deck[2:4] for b in deck[4:6]) / 4
        games += 1
    (row,) = run_suite(HIGHEST, agents=["greedy:high"], games=15_000).rows
    assert row.figure.contains(100 * wins / games)
    assert all(seat.contains(100 * wins / games) for seat in row.by_seat)
    assert row.figure.high - row.figure.low < 2


def test_an_agent_may_be_measured_in_several_seats(played):
    rows = {"two": Row((MEASURED, "random", MEASURED))}
    game = HIGHEST.changed(suites={"s": Suite("", "win", rows, ("greedy:high",))})
    (row,) = run_suite(game, games=3000, seed=2).rows
    (lineups, _), *_ = played
    assert all(lineup.count("greedy:high") == 2 for lineup in lineups)
    (match,) = (one for one in run_match(HIGHEST, ["greedy:high", "random", "greedy:high"], 3000, seed=2).rows[:1])
    assert row.figure.point == pytest.approx(match.win.point)
    assert (row.places, row.opponents, row.partners) == (2, ("random",), ())
    assert (row.figure.n, row.games) == (3000, 3000)  # once a game
    assert [seat.point for seat in row.by_seat] == pytest.approx(match.by_seat)
    assert all(seat.n == 2000 for seat in row.by_seat)


def test_results_do_not_depend_on_threads():
    one = run_suite(TICTACTOE, agents=["random", "greedy:open_lines"], games=400, threads=1)
    two = run_suite(TICTACTOE, agents=["random", "greedy:open_lines"], games=400, threads=2)
    assert without_time(one) == without_time(two)
    assert one.verdicts == two.verdicts
    assert without_time(run_suite(TICTACTOE, games=400, seed=1, agents=["random"])) != without_time(one)[:1]


def test_games_are_rounded_up_to_whole_rotations_and_the_table_says_so():
    report = run_suite(HIGHEST, agents=["random"], games=100)
    assert (report.rows[0].figure.n, report.rows[0].figure.deals, report.asked) == (102, 34, 100)
    assert "100 games were asked for: rounded up" in text_of(report)
    assert "rounded up" not in text_of(run_suite(HIGHEST, agents=["random"], games=102))


def test_a_game_without_suites_is_measured_against_random():
    report = run_suite(HIGHEST, games=60)
    assert report.measure == "score"
    assert {row.agent for row in report.rows} == {"random", "greedy:high"}
    assert all(row.opponents == ("random", "random") for row in report.rows)
    assert run_suite(HIGHEST, "random", games=60).rows[0].figure == report.rows[0].figure


def test_verdicts_say_who_is_better():
    report = run_suite(TICTACTOE, agents=["random", "greedy:open_lines"], games=600)
    verdicts = {(v.one, v.other): v.verdict for v in report.verdicts}
    assert verdicts == {("random", "greedy:open_lines"): "worse", ("greedy:open_lines", "random"): "better"}
    assert "better" in text_of(report)


def test_fewer_losses_are_better():
    by_losses = replace(TICTACTOE.agents.suites["random"], measure="loss")
    game = TICTACTOE.changed(suites={"loss": by_losses})
    report = run_suite(game, agents=["greedy:open_lines", "random"], games=600)
    assert report.rows[0].figure.point < report.rows[1].figure.point
    assert report.verdicts[0].verdict == "better"


def test_a_wrong_claim_is_contradicted():
    row = Row(("random",), {"random": 60.0, "greedy:open_lines": 50.0})
    game = TICTACTOE.changed(suites={"wrong": Suite("", "win", {"r": row}, ("random", "greedy:open_lines"))})
    verdicts = [row.claim_verdict for row in run_suite(game, "wrong", games=2000).rows]
    assert verdicts == ["lower", "higher"]


def test_rows_that_cannot_be_played_are_reported():
    rows = {"ready": Row(("random",)), "later": Row(("greedy:nonesuch",))}
    game = TICTACTOE.changed(suites={"s": Suite("", "win", rows, ("random", "unborn"))})
    report = run_suite(game, "s", games=20)
    assert [row.row for row in report.rows] == ["ready"]
    assert {(gap.agent, gap.row) for gap in report.missing} == {
        ("random", "later"),
        ("unborn", "ready"),
        ("unborn", "later"),
    }
    text = text_of(report)
    assert text.count("not available") >= 6
    assert "no heuristic or model 'nonesuch'" in text
    assert len(report.as_json()["missing"]) == 3


def test_endless_games_count_in_no_figure_and_are_reported():
    report = run_suite(TICTACTOE.changed(max_plies=6), agents=["greedy:open_lines"], games=400)
    (row,) = report.rows
    assert row.endless > 0
    assert row.figure.n == 400 - row.endless
    assert f"{row.endless} games did not end" in text_of(report)
    none = run_suite(TICTACTOE.changed(max_plies=2), agents=["greedy:open_lines"], games=10)
    assert none.rows[0].figure.n == 0
    assert none.as_json()["rows"][0]["figure"]["point"] is None
    assert "10 games did not end" in text_of(none)


class Stop:
    """Counts the moves of a player who presses Ctrl-C at the hundredth."""

    moves = 0


def stops(game, world):
    Stop.moves += 1
    if Stop.moves == 100:
        raise KeyboardInterrupt
    return game.moves(world)[0]


def test_an_interrupted_run_reports_its_finished_games(monkeypatch):
    monkeypatch.setattr(Stop, "moves", 0)
    monkeypatch.setattr("cardai.playing.table.many.LIVE_OUTSIDE", 4)
    report = run_suite(TICTACTOE, agents=["random", f"python:{__name__}:stops", "greedy:open_lines"], games=200)
    assert [row.interrupted for row in report.rows] == [False, True]
    assert report.interrupted
    assert report.unplayed == 1
    assert 0 < report.rows[1].figure.n < 200
    assert report.rows[1].figure.n < report.rows[0].figure.n == 200
    text = text_of(report)
    assert "only finished games count" in text
    assert "1 rows were not begun" in text


def test_progress_counts_over_the_whole_suite():
    steps = []
    run_suite(TICTACTOE, agents=["random", "greedy:open_lines"], games=50, progress=lambda *step: steps.append(step))
    assert steps[0][:2] == (0, 75)  # random against itself plays each deal once
    assert steps[-1][:2] == (75, 75)
    assert [done for done, _, _ in steps] == sorted(done for done, _, _ in steps)
    assert "greedy:open_lines" in steps[-1][2]


def test_the_report_as_json_holds_what_is_needed_to_repeat_it():
    report = run_suite(TICTACTOE, agents=["random"], games=40, seed=5)
    found = json.loads(json.dumps(report.as_json(), allow_nan=False))
    assert (found["seed"], found["variant"], found["version"], found["asked"]) == (5, "standard", 1, 40)
    assert found["rows"][0]["figure"]["point"] == report.rows[0].figure.point
    assert found["machine"]["python"].startswith("3.")
    assert {"commit", "numba", "numpy", "cpus", "platform"} <= set(found["machine"])


def test_the_table_shows_point_interval_claim_and_source():
    report = run_suite(TICTACTOE, agents=["random"], games=400, seed=5)
    text = text_of(report)
    for part in (str(report.rows[0].figure), "43.65", "exact value", "seed 5", "win %"):
        assert part in text


def test_a_match_gives_each_player_its_figures():
    report = run_match(TICTACTOE, ["random", "greedy:open_lines"], games=1000)
    random, greedy = report.rows
    assert random.score.point + greedy.score.point == pytest.approx(100)
    assert greedy.win.point == pytest.approx(random.loss.point)
    assert greedy.score.n == 1000
    assert greedy.score.low > 90
    assert {(v.one, v.verdict) for v in report.verdicts} == {("random", "worse"), ("greedy:open_lines", "better")}
    assert str(greedy.score) in text_of(report)
    assert json.dumps(report.as_json(), allow_nan=False)


def test_equal_specs_are_one_player_with_several_places():
    report = run_match(HIGHEST, ["random", "greedy:high", "random"], games=300)
    assert [(row.agent, row.places, row.score.n) for row in report.rows] == [
        ("random", 2, 600),
        ("greedy:high", 1, 300),
    ]
    assert report.rows[1].score.point + 2 * report.rows[0].score.point == pytest.approx(100)
    assert "2 x random" in text_of(report)


def test_a_match_without_rotation_keeps_the_seats(played):
    report = run_match(TICTACTOE, ["greedy:open_lines", "random"], games=31, rotate=False)
    (lineups, seeds), *_ = played
    assert lineups == [["greedy:open_lines", "random"]] * 31
    assert len(set(seeds)) == 31
    assert report.games == 31
    assert np.isnan(report.rows[0].by_seat[1])
    assert "seats as named" in text_of(report)


def test_a_match_can_be_recorded_and_replayed(tmp_path):
    from cardai.records.record import Reader

    place = tmp_path / "games.jsonl"
    report = run_match(HIGHEST, ["random", "greedy:high", "random"], games=9, seed=4, record=place)
    games = list(Reader(place))
    assert len(games) == report.games == 9
    assert [int(game.seed) for game in games] == np.repeat(deal_seeds(4, 3), 3).tolist()
    with pytest.raises(CardaiError, match=r"games\.jsonl"):
        run_match(HIGHEST, ["random"] * 3, games=9, record=place)
    run_match(HIGHEST, ["random"] * 3, games=3, record=place, overwrite=True)
    assert len(list(Reader(place))) == 3


@pytest.mark.parametrize("players", [["random", "greedy:high", "random"], ["random"] * 3])
def test_a_match_in_blocks_is_the_same(players, tmp_path, monkeypatch):
    whole = run_match(HIGHEST, players, games=100, seed=4, record=tmp_path / "whole.jsonl")
    monkeypatch.setattr(bench, "BLOCK", 9)
    in_blocks = run_match(HIGHEST, players, games=100, seed=4, record=tmp_path / "blocks.jsonl")
    assert replace(in_blocks, seconds=whole.seconds) == whole
    assert (tmp_path / "blocks.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"suite_name": "rendom"}, "no suite 'rendom'; did you mean random"),
        ({"agents": ["nonesuch"]}, "no agent 'nonesuch'"),
        ({"games": 0}, "games must be at least 1, not 0"),
        ({"games": -5}, "not -5"),
        ({"variant": "nonesuch"}, "no variant 'nonesuch'"),
        ({"threads": 0}, "threads must be at least 1"),
    ],
)
def test_bad_input_of_a_suite_is_refused(options, words):
    with pytest.raises(CardaiError, match=words):
        run_suite(TICTACTOE, **options)


@pytest.mark.parametrize(
    ("specs", "options", "words"),
    [
        (["random"] * 3, {}, "is for 2 seats, not 3"),
        (["random", "nonesuch"], {}, "no agent 'nonesuch'"),
        (["random"] * 2, {"games": 0}, "games must be at least 1"),
        (["random"] * 2, {"variant": "nonesuch"}, "no variant"),
    ],
)
def test_bad_input_of_a_match_is_refused(specs, options, words):
    with pytest.raises(CardaiError, match=words):
        run_match(TICTACTOE, specs, **options)


def test_names_are_whole_in_a_narrow_terminal():
    game = load("moska")
    specs = ["greedy:hand_value", "bot3", "random_simple", "bot3?threshold=0.5"]
    reports = run_match(game, specs, 8), run_suite(game, "thesis", ["random", "greedy:hand_value"], 8)
    for report in reports:
        for width in (80, 120):
            text = text_of(report, width)
            named = {row.agent for row in report.rows}
            table = [line.split("  ") for line in text.splitlines()]
            cells = {cell.strip().removesuffix(" *") for line in table for cell in line}
            assert named <= cells
            assert "\u2026" not in text
            assert max(map(len, text.splitlines())) <= width


def test_each_pair_of_players_is_compared_once():
    report = run_match(load("tictactoe"), ["random", "greedy:open_lines"], 40)
    assert len([line for line in text_of(report).splitlines() if "better" in line]) == 1
