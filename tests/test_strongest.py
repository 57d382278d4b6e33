"""The list of the strongest agents: measured on deals of its own, written beside the game, and used everywhere."""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import cardai
from cardai.cli import keyboard
from cardai.cli.main import run
from cardai.errors import CardaiError
from cardai.measure import strongest as measuring
from cardai.measure.bench import run_suite
from cardai.measure.coaching.advice import Adviser
from cardai.measure.duplicate import line_up_of
from cardai.measure.move_values import usual_judge, usual_valuer
from cardai.measure.strongest import chosen, content_of, measure
from cardai.playing.agents.spec import HUMAN, agent
from cardai.playing.agents.strongest import (
    AT_ONCE,
    FILE,
    LIMIT,
    SOON,
    TIMES,
    list_file,
    measured_tables,
    strongest,
    strongest_without_search,
)
from cardai.playing.table.one import OneGame

GAMES = {name: cardai.load(name) for name in ("durak", "hearts", "literature", "moska", "tictactoe")}
TABLES = [(name, variant, seats) for name, game in GAMES.items() for variant in game.variants for seats in game.seats]
MEASURED = [(name, table.variant, table.seats) for name, game in GAMES.items() for table in measured_tables(game)]
LISTED = {
    (name, spec): (table.variant, table.seats)
    for name, game in GAMES.items()
    for table in measured_tables(game)
    for spec in table.strongest
}
"""Each listed agent of a game, and one of its tables."""


def listed(name, variant, seats):
    return next(one for one in measured_tables(GAMES[name]) if (one.variant, one.seats) == (variant, seats))


@pytest.fixture
def own(tmp_path):
    """A function that copies an example, with or without a list, as a game of the user's own."""

    def copied(name="thirtyone", content=None):
        folder = tmp_path / f"own_{name}_{len([*tmp_path.iterdir()])}_{tmp_path.name.replace('-', '_')}"
        shutil.copytree(Path(__file__).parent.parent / "examples" / name, folder)
        if content is not None:
            (folder / FILE).write_text(content)
        return cardai.load(str(folder)), folder

    return copied


def list_of(*specs, game="thirtyone", version=1, variant="standard", seats=3, **changes):
    """The text of a list with one table, at which the specs were measured, the strongest first."""
    figures = {"milliseconds": 0.1, "rating": 9.0, "low": 1.0, "high": None, "games": 40, "content": {}}
    table = {
        "variant": variant, "seats": seats, "too_slow": [], "strongest": [specs[0]] * 3, "by": "nobody",
        "agents": [{"spec": spec} | figures for spec in specs],
    }  # fmt: skip
    return json.dumps({"format": "cardai strongest 2", "game": game, "version": version, "tables": [table]} | changes)


NOTEBOOK = """
import sys
from pathlib import Path
from cardai.playing.agents.strongest import strongest
from cardai.measure.bench import run_suite
from cardai.measure.strongest import measure
exec(compile(Path(sys.argv[1]).read_text(), "<cell>", "exec"))
print(strongest(GAME), len(run_suite(GAME, games=4).rows))
measure(GAME, variants=["own"], games=20, seconds=1, out=Path("list.json"))
measure(GAME)
"""


def test_a_game_written_in_a_notebook_has_no_list_beside_it(tmp_path):
    """Its rules are in `__main__`, which has no file there."""
    command = [sys.executable, "-c", NOTEBOOK, str(Path(__file__).with_name("guess.py"))]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "knowing 2\n", done.stderr
    assert json.loads((tmp_path / "list.json").read_text())["game"] == "guess"
    assert "CardaiError: guess is in no file, so no list lies beside it; say in out" in done.stderr


# The lists of the games that come with cardai.


@pytest.mark.parametrize("name", GAMES)
def test_the_usual_table_each_size_of_the_usual_variant_and_each_variant_was_measured(name):
    game, measured = GAMES[name], {(variant, seats) for other, variant, seats in MEASURED if other == name}
    assert {(game.default_variant, seats) for seats in game.seats} <= measured
    assert {(variant, game.default_seats) for variant in game.variants} <= measured


@pytest.mark.parametrize(("name", "variant", "seats"), sorted({*TABLES} - {*MEASURED}))
def test_a_table_that_was_not_measured_has_the_best_that_fits_of_the_one_with_as_many_seats(name, variant, seats):
    game = GAMES[name]
    spec = strongest(game, variant, seats)
    assert agent(game, spec).fits(game, variant, seats)
    nearest = [table for table in measured_tables(game) if table.seats == seats]
    fitting = [one for table in nearest for one in table.agents if agent(game, one.spec).fits(game, variant, seats)]
    assert spec == fitting[0].spec


@pytest.mark.parametrize(("name", "variant", "seats"), MEASURED)
def test_every_measured_table_has_an_agent_for_each_time_that_sits_down_there(name, variant, seats):
    game, table = GAMES[name], listed(name, variant, seats)
    for time, spec in zip(TIMES, table.strongest, strict=True):
        player, measured = agent(game, spec), table.of(spec)
        assert player.fits(game, variant, seats)
        assert not player.peeks
        assert not player.is_foreign
        assert strongest(game, variant, seats, time) == spec
        assert measured.milliseconds <= time
        assert measured.games >= 40
    assert table.agents[-1].rating <= 0 <= table.agents[0].rating
    assert "random" in {measured.spec for measured in table.agents}


@pytest.mark.parametrize("name", GAMES)
def test_a_list_is_about_the_present_rules_players_and_weights(name):
    game = GAMES[name]
    written = json.loads(list_file(game).read_text())
    assert (written["game"], written["version"]) == (game.name, game.version)
    for table in measured_tables(game):
        again = f"measure again: cardai agents {name} --measure --variant {table.variant} --seats {table.seats}"
        then = {measured.spec: measured.content for measured in table.agents}
        now = {spec: content_of(game, spec, table.variant, table.seats) for spec in then}
        assert now == then, again
        pool = measuring._planned(game, (), table.variant, table.seats).pool
        assert {player.spec for player in pool} <= {*then, *table.too_slow}, again


@pytest.mark.parametrize(("name", "spec"), LISTED)
def test_each_listed_agent_plays(name, spec):
    game, (variant, seats) = GAMES[name], LISTED[name, spec]
    table = OneGame(game, [agent(game, spec)] * seats, seed=1, variant=variant)
    plies = 0
    while plies < 12 and table.step():
        plies += 1
    assert plies >= 5


# Everybody is given the listed one.


@pytest.mark.parametrize(("name", "variant", "seats"), TABLES)
def test_hints_and_reviews_are_by_the_strongest_of_the_table(name, variant, seats):
    game = GAMES[name]
    assert str(usual_judge(game, variant, seats, 40)) == strongest(game, variant, seats, LIMIT)
    valuer = agent(game, usual_valuer(game, variant, seats, 40))
    named = valuer.spec.removeprefix("rollout:40?by=").removeprefix("(").removesuffix(")")
    assert named == strongest_without_search(game, variant, seats) or valuer.spec == "rollout:40"
    assert valuer.fits(game, variant, seats)


@pytest.mark.parametrize("name", GAMES)
def test_the_keyboard_seats_the_strongest_and_asks_it_for_hints(name):
    game = GAMES[name]
    for variant in game.variants:
        spec = strongest(game, variant)
        assert keyboard.default_seats(game, variant) == [HUMAN] + [spec] * (game.default_seats - 1)
    assert Adviser(game).judge.spec == strongest(game)


@pytest.mark.parametrize("name", GAMES)
def test_the_page_offers_the_strongest_of_each_table_first_and_that_of_another_table_not_at_all(name):
    pytest.importorskip("starlette", reason="the extra `web` is not installed")
    from cardai.guests.web.offers import offer_of

    game = GAMES[name]
    offer = offer_of(game)
    shown, keys = offer.as_json()["fits"], [*offer.agents]
    for variant in game.variants:
        for seats in game.seats:
            named = [keys[place] for place in shown[variant][str(seats)]]
            first = [*dict.fromkeys(strongest(game, variant, seats, time) for time in (SOON, AT_ONCE))]
            assert named[: len(first)] == first
            assert named[-1] == "random"
            assert {*named[len(first) :]} <= {
                "random",
                *game.agents.players,
                *(f"greedy:{one}" for one in game.agents.heuristics),
            }


@pytest.mark.parametrize("name", GAMES)
def test_a_benchmark_without_a_suite_has_the_strongest_without_a_search_too(name):
    game = GAMES[name]
    suite = next(iter(game.agents.suites.values()))
    report = run_suite(game, games=1, threads=1)
    measured = [row.spec for row in report.rows] + [gap.agent for gap in report.missing]
    for row in suite.rows.values():
        seats = len(line_up_of(row, game.teams))
        assert strongest_without_search(game, suite.variant, seats) in measured
    assert {*suite.agents} <= {*measured}


def test_the_agents_of_a_game_are_listed_with_the_strongest_first(capsys):
    assert run(["agents", "moska"]) == 0
    shown, table = capsys.readouterr().out, listed("moska", "thesis", 4)
    best = table.of(table.strongest[-1])
    head = shown[: shown.index("bot0")]
    assert f"{best.rating:.0f} (" in head
    assert f"{best.milliseconds:g}" in head
    assert run(["agents", "durak", "--variant", "report", "--seats", "2", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [*answer["strongest"].values()] == [*listed("durak", "report", 2).strongest]
    assert run(["agents", "hearts", "--variant", "standard?passing=0"]) == 0
    assert strongest(GAMES["hearts"], "standard?passing=0") in capsys.readouterr().out


# Games with other lists, or none.


def test_a_game_without_a_list_has_what_it_declares_and_then_its_players(own):
    plain, _ = own()
    assert strongest(plain) == "house"
    assert str(usual_judge(plain, "standard", 2, 100)) == "rollout:100"
    declaring, _ = own("goofspiel")
    assert [strongest(declaring, seats=seats) for seats in (2, 3)] == [*declaring.agents.opponents[:1]] * 2


def test_options_that_nobody_measured_get_the_strongest_that_fits(own):
    for options in ("standard?passing=0", "paper?moon=2"):
        spec = strongest(GAMES["hearts"], options)
        assert agent(GAMES["hearts"], spec).fits(GAMES["hearts"], options, 4)
    spec = strongest(GAMES["hearts"], "match?limit=50")
    assert agent(GAMES["hearts"], spec).fits(GAMES["hearts"], "match?limit=50", 4)
    with pytest.raises(CardaiError, match="no variant"):
        strongest(GAMES["hearts"], "mach")
    with pytest.raises(CardaiError, match=r"1, 10, 100, not 7"):
        strongest(GAMES["hearts"], milliseconds=7)


def test_a_list_of_the_user_s_own_is_used_and_one_of_older_rules_is_not(own):
    game, folder = own(content=list_of("greedy:prospects", "random"))
    assert strongest(game) == "greedy:prospects"
    assert strongest(game, seats=2) == "greedy:prospects", "the most similar table that was measured"
    for other in (list_of("random", version=99), list_of("random", game="whist")):
        (folder / FILE).write_text(other)
        assert strongest(game) == "house"


@pytest.mark.parametrize("doing", ["play", "serve", "hint", "review", "bench", "agents"])
def test_a_list_that_names_a_missing_model_is_one_sentence(own, capsys, doing, tmp_path):
    if doing == "serve":
        pytest.importorskip("uvicorn")
    game, folder = own(content=list_of("greedy:gone", "random"))
    if doing in ("hint", "review"):
        with pytest.raises(CardaiError) as raised:
            Adviser(game) if doing == "hint" else usual_valuer(game, "standard", 3, 40)
        text = str(raised.value)
    else:
        tokens = [doing, str(folder), *(["--data", str(tmp_path / "db")] if doing == "serve" else [])]
        assert run(tokens) == 2
        text = capsys.readouterr().err
    assert FILE in text
    assert "'gone'" in text
    assert "cardai agents --measure" in text
    assert "Traceback" not in text


@pytest.mark.parametrize(
    "content",
    ["", "{}", "[]", list_of("random", format="another"), list_of("random", tables=[{}]),
     list_of("random").replace('"spec": "random"', '"spec": "house"')],
)  # fmt: skip
def test_a_damaged_list_is_one_sentence(own, content):
    game, _ = own(content=content)
    with pytest.raises(CardaiError, match=rf"{FILE} is (damaged|not)"):
        strongest(game)


# Measuring.


def test_a_measured_list_is_written_table_by_table_and_resumed(own, monkeypatch, capsys):
    game, folder = own()
    played = []
    usual = measuring.play_table
    monkeypatch.setattr(measuring, "play_table", lambda plan, *more: played.append(plan.name) or usual(plan, *more))
    measure(game, variants=["standard"], seats=[3], games=40, seconds=2, seed=3)
    assert set(played) == {"thirtyone (standard, 3)"}
    (table,) = measured_tables(game)
    assert (table.variant, table.seats) == ("standard", 3)
    assert strongest(game) == table.strongest[-1]
    played.clear()
    measure(game, variants=["standard"], seats=[3], games=40, seconds=2, seed=3)
    assert played == []
    found = measure(game, ["greedy:prospects"], variants=["standard"], seats=[3], games=40, seconds=2, seed=3)
    assert played
    assert "greedy:prospects" in {one.spec for one in found.tables[0].agents}
    assert "greedy:prospects" in str(found) or table.strongest[-1] in str(found)
    with pytest.raises(CardaiError, match="peeks"):
        measure(game, ["peeking:prospects"], seats=[3])
    options = ["--measure", "--seats", "3", "--games", "40", "--seconds", "2", "--seed", "3"]
    assert run(["agents", str(folder), *options]) == 0
    assert "at once" in capsys.readouterr().out


def test_a_table_is_measured_again_when_a_player_plays_otherwise(own, monkeypatch):
    game, folder = own()
    usual, played = measuring.play_table, []
    monkeypatch.setattr(measuring, "play_table", lambda plan, *more: played.append(plan.name) or usual(plan, *more))
    only = {"variants": ["standard"], "seats": [3], "games": 40, "seconds": 2, "seed": 3}
    measure(game, **only)
    changed, code = Path(shutil.copytree(folder, f"{folder}_changed")), "__init__.py"
    (changed / code).write_text((folder / code).read_text().replace('"gain": 2.0', '"gain": 9.0'))
    for place, is_measured in ((folder, False), (changed, True)):
        played.clear()
        measure(cardai.load(str(place)), **only)
        assert bool(played) == is_measured


def rigged(better, deals=200):
    """Two agents and an anchor: lineups and scores of games of two in which the second beats the first that often."""
    pairs = np.array([[1, 2], [2, 1]] * deals).reshape(deals, 2, 2)
    rng = np.random.default_rng(1)
    won = rng.random((deals, 2)) < better
    scores = np.where(pairs == 2, won[..., None], ~won[..., None]).astype(float)
    weak = np.array([[0, 1], [1, 0]] * 40).reshape(40, 2, 2)
    beaten = np.where(weak == 0, rng.random((40, 2, 1)) < 0.1, 0.5)
    return np.concatenate([weak, pairs]), np.concatenate([beaten, scores])


@pytest.mark.parametrize(
    ("better", "dear", "picks"),
    [(0.5, 5.0, ["quick"] * 3), (0.7, 5.0, ["quick", "dear", "dear"]), (0.7, 50.0, ["quick", "quick", "dear"]),
     (0.7, 500.0, ["quick"] * 3), (0.3, 5.0, ["quick"] * 3), (0.7, 0.9, ["dear"] * 3)],
)  # fmt: skip
def test_a_dearer_agent_is_listed_only_if_it_is_better_by_more_than_chance(better, dear, picks):
    lineups, scores = rigged(better)
    names, milliseconds = ["random", "quick", "dear"], {"random": 0.01, "quick": 0.1, "dear": dear}
    assert [*chosen(lineups, scores, names, milliseconds, 1)] == picks


def test_who_is_beaten_by_one_as_quick_is_not_listed():
    picks = chosen(*rigged(0.7), ["random", "quick", "dear"], {"random": 0.01, "dear": 5.0}, 1)
    assert picks == ("random", "dear", "dear")


@dataclass(frozen=True)
class Duels:
    """A table of agents of known strength, for games of two."""

    pool: tuple
    strength: dict
    sides = 2

    def play(self, played, deals):
        """Every pair of a pool as often, with just the share of wins that their strengths say (Bradley and Terry)."""
        names = [player.spec for player in self.pool]
        lineups, scores, rng, games = [], [], np.random.default_rng(1), 2 * (deals // len(names))
        for i, j in combinations(range(len(names)), 2):
            share = 1 / (1 + 10 ** ((self.strength[names[j]] - self.strength[names[i]]) / 400))
            won = rng.permutation(np.arange(games) < games * share).reshape(-1, 2)
            lineups.append(np.broadcast_to([[i, j], [j, i]], (*won.shape, 2)))
            scores.append(np.stack([won ^ [False, True], ~won ^ [False, True]], axis=2).astype(float))
        played.append(names)
        lineups, scores = np.concatenate(lineups), np.concatenate(scores)
        return SimpleNamespace(plan=self, lineups=lineups, scores=scores, speeds=self.pool)


@pytest.mark.parametrize(
    ("strength", "finals", "picks"),
    [
        ({"dear": 30}, [["quick", "dear"]], ["quick", "dear", "dear"]),
        ({"dear": 300}, [], ["quick", "dear", "dear"]),
        ({"dear": -300}, [], ["quick"] * 3),
        ({"dear": 30, "dearest": 60}, [["quick", "dear"], ["dear", "dearest"]], ["quick", "dear", "dearest"]),
    ],
)
def test_who_may_be_better_than_the_one_listed_plays_it_once_more(monkeypatch, strength, finals, picks):
    times = {"random": 0.01, "quick": 0.1, "poor": 0.1, "dear": 5.0, "dearest": 50.0}
    strength = {"random": -800, "quick": 0, "poor": -300} | strength
    pool = tuple(SimpleNamespace(spec=spec, milliseconds=times[spec], strategy=None) for spec in strength)
    played = []
    monkeypatch.setattr(measuring, "speed_of", lambda plan, player, *more: player)
    monkeypatch.setattr(measuring, "play_table", lambda plan, *more: plan.play(played, more[7]))
    rounds, listable = measuring._play(Duels(pool, strength), 1200, 1, 1.0, None)
    assert [*chosen(*measuring._together(rounds), listable, 1)] == picks
    assert played[0] == [*strength]
    assert all("poor" not in names for names in played[1:])
    assert played[2:] == finals


def test_ratings_are_of_all_rounds(own):
    game, _ = own()
    (table,) = measure(game, ["greedy:prospects"], variants=["standard"], seats=[3], games=60, seconds=2).tables
    plan = measuring._planned(game, ["greedy:prospects"], "standard", 3)
    rounds, _ = measuring._play(plan, 20, 0, 2, None)
    lineups, _, names = measuring._together(rounds)
    sat = {name: int((lineups == number).any(axis=2).sum()) for number, name in enumerate(names)}
    assert {one.spec: one.games for one in table.agents} == sat
