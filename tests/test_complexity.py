import json

import numpy as np
import pytest
from printing import text_of
from truths import expected_at_random

from cardai import load
from cardai.cli.show.complexity import figure
from cardai.cli.show.figure import save_figure
from cardai.errors import CardaiError
from cardai.measure.complexity import measure
from cardai.rules import rule, truncated
from cardai.rules.cards import has

GAME = load("tictactoe")


def exact():
    """The expected number of decisions, and sum of log10(moves), when both players move at random."""
    return expected_at_random(lambda free: np.array([free > 1, np.log10(free)]))


@rule
def legal_in_part(state, moves):
    taken = state.stones[0] | state.stones[1]
    n = 0
    for cell in range(9):
        if not has(taken, cell) and n < 2:
            moves[n].cell = cell
            n += 1
    return truncated(n) if state.ply < 7 else n


def test_random_play_has_its_exact_complexity():
    row = measure(GAME, games=20_000).rows[0]
    decisions, logarithm = exact()
    assert row.decisions.contains(decisions)
    assert row.geometric.contains(logarithm)
    assert row.decisions.high - row.decisions.low < 0.05
    assert row.truncated == 0


def test_both_sizes_of_the_tree_agree_with_their_parts():
    row = measure(GAME, games=500).rows[0]
    assert row.power.point == pytest.approx(row.decisions.point * np.log10(row.branching.point))
    assert row.geometric.point < row.power.point
    for one in (row.decisions, row.branching, row.power, row.geometric):
        assert one.low < one.point < one.high
        assert one.n == 500


def test_figures_do_not_depend_on_threads_but_on_seed_and_agent():
    def figures(**options):
        row = measure(GAME, games=300, **options).rows[0]
        return row.decisions, row.branching, row.power, row.geometric

    assert figures(threads=1) == figures(threads=2)
    assert figures(seed=1) != figures(seed=2)
    assert figures(agent="greedy:open_lines") != figures()


def test_truncated_enumerations_are_counted_and_reported():
    report = measure(GAME.changed(legal=legal_in_part), games=20)
    assert report.rows[0].truncated > 20
    assert report.rows[0].branching.point == 2.0
    assert f"{report.rows[0].truncated} decisions had more moves" in text_of(report)


def test_the_table_has_the_figures_and_says_what_is_counted():
    report = measure(GAME, games=200, references={2: 5.5})
    text = text_of(report)
    assert str(report.rows[0].power) in text
    assert "published" in text
    assert "5.5" in text
    assert "more than one legal move" in text


def test_json_keeps_everything_and_the_machine():
    found = json.loads(json.dumps(measure(GAME, games=50, seed=9).as_json(), allow_nan=False))
    assert found["seed"] == 9
    assert found["rows"][0]["players"] == 2
    assert found["rows"][0]["power"]["n"] == 50
    assert found["machine"]["numpy"] == np.__version__


def test_references_come_from_the_game_unless_given():
    game = GAME.changed(references={"complexity": {2: 5.0}})
    assert measure(game, games=10).rows[0].reference == 5.0
    assert measure(game, games=10, references={2: 6.0}).rows[0].reference == 6.0
    assert measure(GAME, games=10).rows[0].reference is None


@pytest.mark.parametrize(("ending", "begins"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_the_figure_is_written(tmp_path, ending, begins):
    place = tmp_path / f"complexity.{ending}"
    save_figure(place, figure(measure(GAME, games=50)))
    assert place.read_bytes().startswith(begins)
    assert list(tmp_path.iterdir()) == [place]


def test_the_figure_shows_published_values_when_there_are_some():
    def labels(references):
        legend = figure(measure(GAME, games=50, references=references)).axes[0].get_legend()
        return [text.get_text() for text in legend.get_texts()]

    assert "published" not in labels({})
    assert "published" in labels({2: 5.0})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"players": [3]}, "is for 2 seats, not 3"),
        ({"games": 0}, "games must be at least 1, not 0"),
        ({"agent": "nonesuch"}, "no agent 'nonesuch'"),
        ({"variant": "nonesuch"}, "no variant 'nonesuch'"),
        ({"threads": 0}, "threads must be at least 1"),
    ],
)
def test_bad_input_is_refused(options, words):
    with pytest.raises(CardaiError, match=words):
        measure(GAME, **options)
