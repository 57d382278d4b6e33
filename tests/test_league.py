"""The league: which agents play at which tables, what is reported, and the comparison with earlier ratings."""

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from printing import text_of

from cardai.cli.main import run
from cardai.cli.show.league import rating_words
from cardai.errors import CardaiError
from cardai.measure import league, pool, speed
from cardai.measure.history import append, changes, check_history, read_history
from cardai.measure.league import run_all
from cardai.measure.pool import draw_lineups, pool_of, tables_of
from cardai.playing.agents.spec import Agent
from cardai.playing.stats.interval import Estimate
from cardai.registry import load


@pytest.fixture(autouse=True)
def short(monkeypatch, tmp_path):
    """Only the smallest game, with few games to time agents by, in an empty folder."""
    monkeypatch.setattr(league, "available", lambda: {"tictactoe": "cardai.games.tictactoe"})
    monkeypatch.setattr(league, "_SPEED_GAMES", (2,))
    monkeypatch.setattr("cardai.playing.stats.ratings.RESAMPLES", 100)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def played():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cardai.playing.stats.ratings.RESAMPLES", 100)
        patch.setattr(league, "_SPEED_GAMES", (2,))
        return run_all(["tictactoe"], games=400, seed=1)


@pytest.fixture
def stopped_at(monkeypatch):
    """Press Ctrl-C during the given call of `table.play`, counted from 1; `play` then returns the finished games."""

    def stop(call, whole=league.play):
        calls = itertools.count(1)

        def play(*arguments, **options):
            results = whole(*arguments, **options)
            results.interrupted = next(calls) == call
            return results

        for module in (league, speed):
            monkeypatch.setattr(module, "play", play)

    return stop


def without_time(found):
    return [
        replace(table, seconds=0.0, standings=tuple(replace(one, decisions_per_second=0.0) for one in table.standings))
        for table in found.tables
    ]


@pytest.mark.parametrize(("players", "seats", "count"), [(11, 4, 500), (5, 2, 40), (8, 2, 300), (4, 4, 20)])
def test_all_players_sit_and_meet_equally_often(players, seats, count):
    lineups = draw_lineups(players, seats, count)
    assert all(len(set(lineup)) == seats for lineup in lineups.tolist())
    sat = np.bincount(lineups.ravel(), minlength=players)
    pairs = [
        sum({one, other} <= set(lineup) for lineup in lineups.tolist())
        for one, other in itertools.combinations(range(players), 2)
    ]
    assert sat.max() - sat.min() <= 2
    assert max(pairs) - min(pairs) <= 3
    assert min(pairs) > 0


def test_neighbours_are_drawn_by_lot():
    lineups = draw_lineups(4, 4, 400)
    left = np.mean([(list(lineup).index(0) + 1) % 4 == list(lineup).index(1) for lineup in lineups])
    assert abs(left - 1 / 3) < 0.1


def test_line_ups_repeat_for_their_seed_and_a_shorter_run_has_the_first_of_them():
    assert (draw_lineups(6, 3, 20, 5) == draw_lineups(6, 3, 90, 5)[:20]).all()
    assert (draw_lineups(6, 3, 20, 5) != draw_lineups(6, 3, 20, 6)).any()


def test_a_small_pool_fills_a_large_table_evenly():
    for lineup in draw_lineups(2, 4, 20).tolist():
        assert sorted(lineup) == [0, 0, 1, 1]
    assert (np.bincount(draw_lineups(3, 4, 30).ravel()) == 40).all()


def test_every_model_is_asked_as_it_was_trained_to_be_and_no_agent_peeks():
    moska, refused = pool_of(load("moska"))
    assert not refused
    assert {"greedy:best", "sampled:nn1?worlds=10", "sampled:nn2?worlds=10", "rollout:10"} <= set(moska)
    assert {"random", "random_simple", "bot0", "bot3", "greedy:hand_value"} <= set(moska)
    assert not any(one.peeks for one in moska.values())
    assert not {spec for spec in moska if spec.startswith(("peeking", "sampled:best", "greedy:nn"))}


def test_agents_of_other_packages_are_built_on_models():
    durak, _ = pool_of(load("durak"))
    made = {spec for spec in durak if spec.startswith("endgame:")}
    assert made == {f"endgame:greedy:{model}" for model in ("report2", "report4", "podkidnoy2", "podkidnoy4")}
    assert not {spec for spec in pool_of(load("tictactoe"))[0] if spec.startswith(("endgame:", "policy:"))}


def test_policies_that_come_with_cardai_are_rated_at_the_tables_that_they_fit(monkeypatch):
    (table,) = tables_of("literature", True, {})
    assert "policy:best?greedy" in [one.spec for one in table.pool]
    monkeypatch.setattr(pool, "packaged_specs", lambda game: {"policy:lost": ""})
    agents, refused = pool_of(load("literature"))
    assert list(refused) == ["policy:lost"]
    assert "policy:lost" not in agents


def test_agents_that_run_code_of_others_are_named_and_not_rated(monkeypatch):
    monkeypatch.setattr(pool, "packaged_specs", lambda game: {"python:own:play": ""})
    Path("own.py").write_text("def play(game, world):\n    return game.moves(world)[0]\n")
    monkeypatch.syspath_prepend(".")
    agents, refused = pool_of(load("tictactoe"))
    assert refused == {"python:own:play": "it runs Python code that does not come with cardai"}
    assert "python:own:play" not in agents


def test_an_agent_that_fits_no_table_is_named(monkeypatch):
    def fits(player, game, variant, seats, whole=Agent.fits):
        return player.spec != "policy:best?greedy" and whole(player, game, variant, seats)

    monkeypatch.setattr(Agent, "fits", fits)
    left_out = {}
    (table,) = tables_of("literature", True, left_out)
    assert "policy:best?greedy" not in [one.spec for one in table.pool]
    assert left_out == {"literature: policy:best?greedy": "it fits none of literature (article, 4)"}


def test_tables_are_the_default_one_and_those_of_the_models():
    left_out = {}
    durak = {(plan.variant, plan.seats): [one.spec for one in plan.pool] for plan in tables_of("durak", True, left_out)}
    assert set(durak) == {("podkidnoy", 4), ("podkidnoy", 2), ("report", 2), ("report", 4)}
    assert next(iter(durak)) == ("podkidnoy", 4)
    assert "endgame:greedy:report4" in durak["report", 4]
    assert not any("report" in spec for spec in durak["podkidnoy", 4] + durak["podkidnoy", 2])
    assert all({"random", "thrifty", "rollout:10"} <= set(pool) for pool in durak.values())
    assert not left_out


def test_every_deal_is_played_in_all_rotations(monkeypatch):
    games = []

    def play(game, agents, lineups, seeds, whole=league.play, **options):
        games.append((lineups.tolist(), seeds.tolist()))
        return whole(game, agents, lineups, seeds, **options)

    monkeypatch.setattr(league, "play", play)
    run_all(games=31)
    lineups, seeds = max(games, key=lambda called: len(called[1]))  # beside those that time the agents
    assert len(lineups) == 32
    for (one, deal), (other, same) in zip(
        zip(lineups[::2], seeds[::2], strict=True), zip(lineups[1::2], seeds[1::2], strict=True), strict=True
    ):
        assert (one[::-1], deal) == (other, same)
    assert len(set(seeds)) == 16


def test_the_best_are_on_top_and_scores_add_up(played):
    (table,) = played.tables
    standings = {one.spec: one for one in table.standings}
    assert [one.rating.point for one in table.standings] == sorted(one.rating.point for one in table.standings)[::-1]
    assert standings["random"].rating.point == 0
    assert standings["random"] is table.standings[-1]
    assert (
        standings["greedy:mlp"].rating.low
        > standings["rollout:10"].rating.point
        > standings["rollout:10"].rating.low
        > 0
    )
    assert sum(one.score.n * one.score.point for one in table.standings) == pytest.approx(100 * table.games)
    assert sum(one.score.n for one in table.standings) == 2 * table.games == 800
    assert all(one.score.n == one.rating.n == one.loss.n for one in table.standings)
    assert all(0 <= one.loss.point <= 100 - one.score.point for one in table.standings)
    assert (table.picked, table.deals) == ("first", 200)


def test_a_league_repeats_for_its_seed_on_any_number_of_threads():
    one, two = run_all(games=60, seed=3, threads=1), run_all(games=60, seed=3, threads=2)
    assert without_time(one) == without_time(two)
    assert without_time(run_all(games=60, seed=4)) != without_time(one)


@pytest.mark.parametrize("width", [80, 140])
def test_the_table_shows_every_agent_whole(played, width):
    text = text_of(played, width)
    for one in played.tables[0].standings:
        assert one.agent in text
    assert "\u2026" not in text
    assert max(map(len, text.splitlines())) <= width
    assert "seed 1" in text
    assert ("decisions/s " in text) == (width == 140)


def test_ratings_are_shown_with_the_bounds_they_have():
    shown = [
        ((81.4, 70.2, 95.5), "81 (70 to 96)"),
        ((-0.2, -9.0, 8.0), "0 (-9 to 8)"),
        ((0.0, 0.0, 0.0), "0"),
        ((900.0, 600.0, math.inf), "900 (600 or more)"),
        ((-900.0, -math.inf, -600.0), "-900 (-600 or less)"),
        ((5.0, -math.inf, math.inf), "5 (no bound)"),
        ((5.0, math.nan, math.nan), "5 (no interval)"),
        ((math.nan, math.nan, math.nan), "-"),
    ]
    for figures, text in shown:
        assert rating_words(Estimate(*figures, 9, 9)) == text


def test_a_model_that_fits_no_table_is_named(monkeypatch):
    monkeypatch.setattr(pool, "known_evaluators", lambda game: {"mlp": "", "lost": ""})
    found = run_all(games=20)
    assert list(found.left_out) == ["tictactoe: lost"]
    assert "tictactoe: lost is left out: " in text_of(found)
    assert "greedy:mlp" in {one.spec for one in found.tables[0].standings}


def test_a_game_that_does_not_load_is_named_and_the_others_are_played(monkeypatch):
    Path("bad.py").write_text("1 / 0\n")
    monkeypatch.setattr(league, "available", lambda: {"./bad.py": "", "tictactoe": ""})
    found = run_all(games=20)
    assert "ZeroDivisionError" in found.left_out["./bad.py"]
    assert [table.game for table in found.tables] == ["tictactoe"]
    with pytest.raises(CardaiError, match="did you mean tictactoe"):
        run_all(["tictactoo"], games=20)


def test_an_agent_that_fails_costs_its_own_table_only(monkeypatch):
    monkeypatch.setattr(league, "available", lambda: {"tictactoe": "", "again": ""})
    monkeypatch.setattr(pool, "load", lambda name: load("tictactoe").changed(name=name))
    calls = itertools.count()

    def play(*arguments, whole=league.play, **options):
        if not next(calls):
            raise CardaiError("an evaluator failed")
        return whole(*arguments, **options)

    monkeypatch.setattr(league, "play", play)
    found = run_all(games=20)
    assert found.left_out["tictactoe (standard, 2)"] == "an evaluator failed"
    assert [table.game for table in found.tables] == ["again"]
    assert not found.unplayed
    assert not found.interrupted


def test_endless_games_count_in_no_figure_and_leave_no_ratings(monkeypatch):
    monkeypatch.setattr(pool, "load", lambda name: load(name).changed(max_plies=2))
    found = run_all(games=20)
    (table,) = found.tables
    assert (table.games, table.endless) == (0, 20)
    assert math.isnan(table.standings[0].rating.point)
    assert "20 games did not end" in text_of(found)
    assert "no ratings: ratings need players who have met" in text_of(found)
    assert json.dumps(found.as_json(), allow_nan=False)


def test_ctrl_c_leaves_the_finished_tables(monkeypatch, stopped_at):
    monkeypatch.setattr(league, "available", lambda: {"tictactoe": "", "again": ""})
    monkeypatch.setattr(pool, "load", lambda name: load("tictactoe").changed(name=name))
    whole = run_all(games=20)
    calls = 1 + len(whole.tables[0].standings)
    for call, finished in ((1, 0), (calls, 0), (calls + 1, 1), (10_000, 2)):
        stopped_at(call)
        found = run_all(games=20)
        assert [table.game for table in found.tables] == ["tictactoe", "again"][:finished]
        assert found.interrupted == (finished < 2)
        assert (f"not played: {', '.join(found.unplayed)}" in text_of(found)) == found.interrupted


def test_ctrl_c_while_ratings_are_computed_interrupts_the_league(monkeypatch):
    def rate(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(league, "rate", rate)
    found = run_all(games=20)
    assert found.interrupted
    assert found.unplayed == ("tictactoe (standard, 2)",)


def test_progress_counts_over_all_tables():
    steps = []
    run_all(games=20, progress=lambda *step: steps.append(step))
    assert steps[0] == (0, 20, "tictactoe (standard, 2)")
    assert steps[-1][:2] == (20, 20)


def line_of(found):
    """A run as a line of a history has it."""
    return {"date": "2026-01-01", **found.as_json()}


def test_a_history_keeps_everything(played):
    path = Path("history.jsonl")
    check_history(path)
    assert not path.exists()
    append(path, played)
    append(path, run_all(games=20, seed=2))
    first, second = read_history(path)
    assert (first["seed"], first["asked"], second["seed"]) == (1, 400, 2)
    assert {"commit", "cardai", "processor", "python"} <= set(first["machine"])
    assert first["date"].endswith("+00:00")
    assert first["tables"][0]["version"] == 1
    rating = first["tables"][0]["standings"][0]["rating"]
    assert rating["point"] == played.tables[0].standings[0].rating.point
    check_history(path)
    assert len(read_history(path)) == 2


def test_ratings_that_differ_beyond_both_intervals_are_better_or_worse(played):
    append(Path("h.jsonl"), played)
    (then,) = read_history(Path("h.jsonl"))
    for one in then["tables"][0]["standings"]:
        shift = {"greedy:mlp": -1000, "greedy:cnn": 1000, "rollout:10": -1}.get(one["spec"], 0)
        for bound in ("point", "low", "high"):
            one["rating"][bound] += shift
    found = changes(then, line_of(played))
    verdicts = {change.spec: change.verdict for change in found.changes}
    assert verdicts["greedy:mlp"] == "better"
    assert verdicts["greedy:cnn"] == "worse"
    assert verdicts["rollout:10"] == "undecided"
    (mlp,) = (change for change in found.changes if change.spec == "greedy:mlp")
    assert mlp.difference.point == pytest.approx(1000)
    (figure,) = (one.rating for one in played.tables[0].standings if one.spec == "greedy:mlp")
    width = math.hypot(figure.point - figure.low, figure.high - figure.point)
    assert mlp.difference.low == pytest.approx(1000 - width)


def test_infinite_bounds_stay_infinite_in_a_history_and_decide_nothing(played):
    table = played.tables[0]
    best = replace(table.standings[0], rating=replace(table.standings[0].rating, point=5000.0, high=math.inf))
    append(Path("h.jsonl"), replace(played, tables=(replace(table, standings=(best, *table.standings[1:])),)))
    (line,) = read_history(Path("h.jsonl"))
    assert line["tables"][0]["standings"][0]["rating"]["high"] is None
    found = changes(line, line_of(played))
    assert found.changes[0].difference.low == -math.inf
    assert found.changes[0].verdict == "undecided"


def test_new_and_missing_agents_are_named(played):
    append(Path("h.jsonl"), played)
    (then,) = read_history(Path("h.jsonl"))
    then["tables"][0]["standings"][0]["spec"] = "greedy:old"
    found = changes(then, line_of(played))
    assert found.new == (f"{played.tables[0].standings[0].spec} at tictactoe (standard, 2)",)
    assert found.gone == ("greedy:old at tictactoe (standard, 2)",)


def test_another_version_of_a_game_is_not_compared(played):
    append(Path("h.jsonl"), played)
    (then,) = read_history(Path("h.jsonl"))
    then["tables"][0]["version"] = 7
    found = changes(then, line_of(played))
    assert not found.changes
    assert len(found.new) == len(found.gone) == len(played.tables[0].standings)


@pytest.mark.parametrize("damage", ["{}", "5", "null", "not json", '{"format": "cardai league 1"}', "", "[" * 100_000])
def test_a_damaged_line_is_refused_with_its_number(played, damage):
    path = Path("h.jsonl")
    append(path, played)
    path.write_text(f"{path.read_text()}{damage}\n{path.read_text()}")
    for look in (read_history, check_history):
        with pytest.raises(CardaiError, match=r"h\.jsonl, line 2: it is (damaged|empty)"):
            look(path)


def test_a_history_that_was_cut_off_is_refused(played):
    path = Path("h.jsonl")
    append(path, played)
    append(path, played)
    text = path.read_text()
    for end in (-200, -1):
        path.write_text(text[:end])
        with pytest.raises(CardaiError, match=r"h\.jsonl, line 2"):
            check_history(path)
    path.write_bytes(b"\xff\xfe\n")
    with pytest.raises(CardaiError, match="is not text"):
        read_history(path)


UNBOUNDED = "--seconds bounds the time, which slow agents may make hours"


def call(capsys, *tokens):
    capsys.readouterr()
    code = run([str(token) for token in tokens])
    return code, *capsys.readouterr()


def test_games_of_ones_own_are_rated_beside_others_by_their_paths(capsys):
    kuhn, leduc = (str(Path(__file__).parent.parent / "examples" / name) for name in ("kuhn", "leduc"))
    code, out, _ = call(capsys, "bench", "--all", "--game", kuhn, "--game", leduc, "--games", 20, "--json")
    assert code == 0
    assert [table["game"] for table in json.loads(out)["tables"]] == ["kuhn", "leduc"]
    code, out, _ = call(capsys, "bench", "tictactoe", "--all", "--game", kuhn, "--games", 20, "--json")
    assert [table["game"] for table in json.loads(out)["tables"]] == ["tictactoe", "kuhn"]


def test_all_games_are_measured_from_the_command_line(capsys):
    code, out, err = call(capsys, "bench", "--all", "--games", 40, "--seed", 2, "--history", "h.jsonl")
    assert code == 0
    assert "tictactoe (standard, 2)" in out
    assert "greedy:open_lines" in out
    code, out, err = call(capsys, "bench", "--all", "--games", 40, "--json", "--history", "h.jsonl")
    assert code == 0
    assert err == f"5 agents at 1 table, 40 games at each; {UNBOUNDED}\n"
    report = json.loads(out)
    assert (report["asked"], report["budget"]) == (40, None)
    assert [one["seed"] for one in read_history(Path("h.jsonl"))] == [2, 0]


def test_a_stopped_run_is_reported_and_not_appended(capsys, stopped_at):
    stopped_at(1)
    code, out, err = call(capsys, "bench", "--all", "--games", 20, "--history", "h.jsonl")
    assert code == 130
    assert "not played: tictactoe (standard, 2)" in out
    assert "interrupted" in err
    assert not Path("h.jsonl").exists()


REFUSALS = {
    "bench": "bench needs a game (see `cardai games`), or --all for all games",
    "bench tictactoo --all": "there is no game 'tictactoo'; did you mean tictactoe?",
    "bench --all --game ./nowhere": "nowhere",
    "bench tictactoe --game tictactoe": "--game 'tictactoe' needs --all",
    "bench --all --game tictactoe --game tictactoe": "tictactoe and tictactoe are both games named 'tictactoe'",
    "bench tictactoe --seconds 5": "--seconds '5.0' needs --all",
    "bench --all --seconds 0": "--seconds must be above 0, not 0",
    "bench --all --seconds nan": "--seconds must be above 0, not nan",
    "bench --all --suite random": "--suite 'random' is for a suite, not for --all",
    "bench tictactoe --history h.jsonl": "--history 'h.jsonl' needs --all",
    "bench --all --games 0": "--games must be at least 1, not 0",
    "bench --all --history bad.jsonl": "bad.jsonl, line 1: it is damaged",
    "bench --all --history missing/h.jsonl": "cannot write missing/h.jsonl",
    "bench --all --history .": "cannot write .",
}


@pytest.mark.parametrize("line", REFUSALS)
def test_refusals_are_one_sentence_before_anything_is_played(capsys, line, monkeypatch):
    Path("empty.jsonl").write_text("")
    Path("bad.jsonl").write_text("Dear diary,\n")
    monkeypatch.setattr(league, "play", None)
    code, out, err = call(capsys, *line.split())
    assert (code, out) == (2, "")
    assert REFUSALS[line] in err
    assert err.count("\n") == 1


def paced(monkeypatch, **seconds_a_game):
    """Give agents of Tic-Tac-Toe a speed, by the first word of their specs."""

    def speed(plan, player, seed, threads):
        return league.Speed(100.0, seconds_a_game.get(player.spec.partition(":")[0], 1e-6), 1.0)

    monkeypatch.setattr(league, "speed_of", speed)


@pytest.mark.parametrize(("least", "games"), [(0.3, [1, 8, 32, 32]), (1.0, [1, 8, 32, 128, 128])])
def test_an_agent_is_timed_in_as_many_games_as_take_the_least_seconds(monkeypatch, least, games):
    played, figures = [], {count: SimpleNamespace(seconds=count / 100, decisions=count) for count in (1, 8, 32, 128)}
    alone = SimpleNamespace(play=lambda count, *_, seed: played.append(count) or figures[count])
    monkeypatch.setattr(league, "SelfPlay", lambda *_: alone)
    monkeypatch.setattr(league, "_SPEED_GAMES", (1, 8, 32, 128, 512))
    assert league.speed_of(
        SimpleNamespace(game=None, seats=2, variant=""), None, 1, 1, least
    ).seconds_a_game == pytest.approx(0.01)
    assert played == games


def test_a_budget_cuts_at_whole_deals_and_says_so(monkeypatch):
    paced(monkeypatch, rollout=0.05)
    found = run_all(["tictactoe"], games=400, seed=1, budget=1.0)
    (table,) = found.tables
    cut = {standing.spec: standing for standing in table.standings if standing.cut}
    assert set(cut) == {"rollout:10"}
    assert cut["rollout:10"].score.n == 2 * 20  # 20 deals in 1 s, each in two rotations
    assert cut["rollout:10"].score.deals == 20
    assert (table.deals, table.games, table.cut) == (200, 400, False)
    text = str(found)
    assert "40 *" in text
    assert "400 games a table were asked for, with at most 1 s for each agent at each table" in text
    assert "*: its budget was used up" in text
    assert found.as_json()["budget"] == 1.0
    assert [one["cut"] for one in found.as_json()["tables"][0]["standings"]].count(True) == 1


def test_an_agent_too_slow_for_a_few_deals_is_named_and_not_measured(monkeypatch):
    paced(monkeypatch, rollout=0.2)
    found = run_all(["tictactoe"], games=40, budget=1.0)
    assert "rollout:10" not in [standing.spec for standing in found.tables[0].standings]
    why = found.left_out["tictactoe (standard, 2): rollout:10"]
    assert why == "too slow: 10 deals, the fewest that an interval is made of, take it 2 s, and its budget is 1 s"
    assert f"tictactoe (standard, 2): rollout:10 is left out: {why}" in " ".join(str(found).split())


def test_a_table_ends_when_fewer_than_two_agents_have_budget_left(monkeypatch):
    paced(monkeypatch, random=0.05, greedy=0.05, rollout=0.05)
    found = run_all(["tictactoe"], games=4000, budget=1.0)
    (table,) = found.tables
    assert table.cut
    assert table.deals <= 4 * 20 < 2000
    assert f"ended after {table.deals} deals, when fewer than two agents had budget left" in str(found)
    paced(monkeypatch, random=1.0, greedy=1.0, rollout=1.0)
    assert "too slow" in run_all(["tictactoe"], games=40, budget=1.0).left_out["tictactoe (standard, 2)"]


def test_a_budget_that_is_not_reached_changes_no_figure():
    one, two = run_all(["tictactoe"], games=60, seed=3), run_all(["tictactoe"], games=60, seed=3, budget=1e6)
    assert without_time(one) == without_time(two)


def test_line_ups_without_a_limit_are_as_they_were():
    free = draw_lineups(5, 4, 50, seed=2)
    assert (draw_lineups(5, 4, 50, seed=2, most=[1e9] * 5) == free).all()
    cut = draw_lineups(5, 2, 50, seed=2, most=[3, 50, 50, 50, 50])
    assert (cut == 0).sum() == 3


def test_bench_all_has_a_budget_unless_games_are_asked_for(capsys):
    asked = []
    code, out, err = call(capsys, "bench", "tictactoe", "--all", "--seconds", 0.01, "--json")
    assert code == 0
    assert "0.01 s at most for each agent: up to 1 min, and what compiling and timing take" in err
    asked.append((json.loads(out)["budget"], json.loads(out)["asked"]))
    code, out, _ = call(capsys, "bench", "tictactoe", "--all", "--games", 20, "--json")
    asked.append((json.loads(out)["budget"], json.loads(out)["asked"]))
    assert asked == [(0.01, 10_000), (None, 20)]
