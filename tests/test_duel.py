"""A duel's verdict and its certainty. A duel that was interrupted and continued has the same result."""

import math

import numpy as np
import pytest

import cardai
from cardai.errors import CardaiError
from cardai.measure import duel as duels
from cardai.measure import duplicate
from cardai.measure.bench import run_match
from cardai.measure.duel import Duel, duel, exploring, looks
from cardai.playing.agents.notation import Greedy, Sampled, parse
from cardai.playing.stats.deals import deal_seeds

TICTACTOE, THIRTYONE = cardai.load("tictactoe"), cardai.load("examples/thirtyone")


def test_agents_are_compared_after_the_first_blocks_twice_as_many_and_so_on_to_the_end():
    assert list(looks(1, 1)) == [1]
    assert list(looks(1, 8)) == [1, 2, 4, 8]
    assert list(looks(2, 7)) == [2, 4, 7]
    assert list(looks(3, 3)) == [3]


def test_a_clear_difference_is_decided_at_the_first_look(tmp_path):
    found = duel(TICTACTOE, "greedy:open_lines", "random", seats=2, games=200, most=800, folder=tmp_path)
    assert (found.verdict, found.games, found.looks) == ("better", 200, 1)
    assert found.score.low > 50
    assert found.difference.low > 0
    turned = duel(TICTACTOE, "random", "greedy:open_lines", seats=2, games=200, most=800, folder=tmp_path / "turned")
    assert (turned.verdict, turned.looks) == ("worse", 1)


def test_equals_play_all_games_and_stay_undecided(tmp_path):
    found = duel(TICTACTOE, "random", "random", seats=2, games=100, most=700, folder=tmp_path)
    assert (found.verdict, found.games, found.looks) == ("undecided", 700, 4)
    assert found.level == pytest.approx(1 - 0.05 / 4)
    assert found.difference.contains(0.0)


def test_equals_get_a_verdict_less_often_than_the_level_allows(tmp_path, monkeypatch):
    """Of 300 duels between equals with four looks each, at most 5 % are decided, up to chance (3 sigma: 26)."""

    def coins(game, agents, number, deals, seed, **_):
        seeds = deal_seeds(seed, deals, first=number * deals)
        first = np.random.default_rng(seeds).integers(2, size=(len(seeds), 2)).astype(np.float32)
        marks = np.arange(8 * len(seeds), dtype=np.uint8).reshape(-1, 8)
        return duels._Block(np.stack([first, 1 - first], axis=2), marks)

    monkeypatch.setattr(duels, "_play", coins)
    ends = [
        duel(TICTACTOE, "random", "random", seats=2, games=60, most=480, seed=seed, folder=tmp_path / str(seed))
        for seed in range(300)
    ]
    decided = [one for one in ends if one.verdict != "undecided"]
    assert 0 < len(decided) <= 26
    assert {one.looks for one in decided} > {4}


def test_the_figures_are_those_of_a_match_on_the_same_deals(tmp_path):
    found = duel(THIRTYONE, "house", "random", seats=3, games=300, seed=7, folder=tmp_path)
    match = run_match(THIRTYONE, ["house", "random", "random"], games=300, seed=7)
    (standing,) = (row for row in match.rows if row.spec == "house")
    assert found.score.point == pytest.approx(standing.score.point)
    assert (found.score.low, found.score.high) == pytest.approx((standing.score.low, standing.score.high), abs=0.7)
    (verdict,) = (one for one in match.verdicts if one.one == "house")
    assert found.difference.point == pytest.approx(verdict.difference.point)
    assert (found.verdict, found.games, found.different) == (verdict.verdict, 300, 100)


def test_an_interrupted_duel_continues_and_has_the_same_result(tmp_path, monkeypatch):
    monkeypatch.setattr(duels, "BLOCK", 50)
    agents = {"candidate": "greedy:open_lines?epsilon=1", "other": "random"}
    whole = duel(TICTACTOE, **agents, seats=2, games=100, most=400, folder=tmp_path / "whole")
    assert (whole.looks, len(list((tmp_path / "whole").iterdir()))) == (3, 8)

    def stop(done, total):
        if done > 120:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        duel(TICTACTOE, **agents, seats=2, games=100, most=400, folder=tmp_path / "parts", progress=stop)
    kept = sorted(tmp_path.glob("parts/*"))
    assert [file.name for file in kept] == ["0000.npz", "0001.npz"]
    before = [file.stat().st_mtime_ns for file in kept]
    assert duel(TICTACTOE, **agents, seats=2, games=100, most=400, folder=tmp_path / "parts", threads=1) == whole
    assert [file.stat().st_mtime_ns for file in kept] == before
    for file in (tmp_path / "whole").iterdir():
        assert (tmp_path / "parts" / file.name).read_bytes() == file.read_bytes()


def test_games_are_rounded_up_to_whole_rotations(tmp_path):
    found = duel(THIRTYONE, "random", "random", seats=3, games=100, most=100, folder=tmp_path)
    assert found.games == 102


def test_agents_that_always_play_the_same_game_stay_undecided(tmp_path, monkeypatch):
    """The first free cell against the last one: the first wins every game, but there are only two different games."""
    (tmp_path / "stubborn.py").write_text(
        "def first(game, world):\n    return game.moves(world)[0]\n\n\n"
        "def last(game, world):\n    return game.moves(world)[-1]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    specs = "python:stubborn:first", "python:stubborn:last"
    found = duel(TICTACTOE, *specs, seats=2, games=40, folder=tmp_path / "duel")
    assert found.different == 1
    assert found.verdict == "undecided"


def test_both_agents_explore_or_neither():
    assert exploring(("greedy:x", "sampled:y?worlds=3"), 0.1) == (
        Greedy("x", epsilon=0.1),
        Sampled("y", worlds=3, epsilon=0.1),
    )
    inner = "ahead:x?others=(greedy:y?epsilon=0.5)"
    assert exploring((inner, "greedy:x"), 0.1)[0] == parse(inner).with_options(epsilon=0.1)
    for specs in (("greedy:x", "bot3"), ("greedy:x", "greedy:y?epsilon=0.5"), ("random", "greedy:x")):
        assert exploring(specs, 0.1) == tuple(map(parse, specs))
    assert exploring(("greedy:x", "greedy:y"), 0.0) == (Greedy("x"), Greedy("y"))


def test_endless_games_count_in_no_figure(tmp_path, monkeypatch):
    def given_up(*args, **kwargs):
        results = played(*args, **kwargs)
        results.finished[::5], results.endless[::5], results.moves[0] = False, True, None
        return results

    played = duplicate.play
    monkeypatch.setattr(duplicate, "play", given_up)
    found = duel(TICTACTOE, "greedy:open_lines", "random", seats=2, games=100, folder=tmp_path)
    assert (found.games, found.endless, found.verdict) == (80, 20, "better")
    assert math.isfinite(found.score.point)


def test_a_result_is_written_as_json_and_read_back(tmp_path):
    import json

    found = duel(TICTACTOE, "random", "random", seats=2, games=4, folder=tmp_path)
    assert Duel.from_json(json.loads(json.dumps(found.as_json()))) == found


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 rubbish", None], ids=["empty", "rubbish", "other"])
def test_a_damaged_file_is_named(tmp_path, content):
    duel(TICTACTOE, "random", "random", seats=2, games=40, folder=tmp_path)
    file = tmp_path / "0000.npz"
    if content is None:
        np.savez(file, scores=np.zeros((3, 2, 2)), marks=np.zeros((3, 8), np.uint8))
    else:
        file.write_bytes(content)
    with pytest.raises(CardaiError, match=r"0000\.npz is damaged") as caught:
        duel(TICTACTOE, "random", "random", seats=2, games=40, folder=tmp_path)
    assert "\n" not in str(caught.value)


def test_a_file_that_holds_more_than_numbers_is_refused(tmp_path):
    duel(TICTACTOE, "random", "random", seats=2, games=40, folder=tmp_path)
    np.savez(tmp_path / "0000.npz", scores=np.array([{}], object), marks=np.zeros((20, 8), np.uint8))
    with pytest.raises(CardaiError, match="is damaged"):
        duel(TICTACTOE, "random", "random", seats=2, games=40, folder=tmp_path)


def test_games_of_the_same_few_moves_with_other_cards_are_different_games(tmp_path):
    result = duel(cardai.load("examples/kuhn"), "cfr:100", "random", seats=2, folder=tmp_path, games=1000, most=1000)
    assert result.different >= 10
    assert result.verdict == "better"
    assert result.difference.low > 0
