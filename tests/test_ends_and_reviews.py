"""The end of a game and the look back at it: every figure says what it counts, and a cost is in the game's own unit."""

import io
import re

import numpy as np
import pytest
from printing import text_of
from rich.console import Console

import cardai
from cardai.cli import keyboard
from cardai.cli.main import run
from cardai.cli.show import advice as shown_advice
from cardai.cli.show import analysis as shown_analysis
from cardai.cli.show.tally import tally
from cardai.errors import CardaiError
from cardai.measure.analysis import analyse
from cardai.measure.coaching.advice import Adviser
from cardai.measure.move_values import played_on
from cardai.playing.table.one import OneGame
from cardai.records.record import RecordedGame

GAMES = {name: cardai.load(name) for name in cardai.available()}
TABLES = [("moska", "thesis"), ("durak", "podkidnoy"), ("hearts", "standard"), ("hearts", "match"), ("hearts", "jack"),
          ("literature", "table"), ("tictactoe", "standard")]  # fmt: skip


def ended(game, variant: str, seed: int = 3, spec: str = "random") -> OneGame:
    table = OneGame(game, [cardai.agent(game, spec)] * game.default_seats, seed, variant)
    table.run()
    return table


def recorded(table: OneGame) -> RecordedGame:
    return RecordedGame(0, table.seed, table.variant, tuple(range(table.seats)), tuple(table.scores()), table.moves)


@pytest.mark.parametrize(("name", "variant"), TABLES)
def test_every_figure_at_the_end_has_a_head_that_says_what_it_counts(name, variant):
    game = GAMES[name]
    table = ended(game, variant)
    heads, rows = tally(game, table.scores().tolist(), table.outcomes())
    assert len(heads) == len(set(heads)) == len(rows[0])
    assert heads[-1] == "score (0 to 1)"
    assert [float(row[-1]) for row in rows] == pytest.approx(table.scores().tolist(), abs=1e-3)


@pytest.mark.parametrize("variant", ["standard", "match"])
def test_points_of_hearts_are_in_one_unit_at_the_end_of_a_round_and_of_a_match(variant):
    """The sentence and the rows below it say the same points: those of the whole game, not the mean of its rounds."""
    game = GAMES["hearts"]
    table = ended(game, variant, spec="duck")
    heads, rows = tally(game, table.scores().tolist(), table.outcomes())
    said = [int(points) for points in re.findall(r"p\d has (-?\d+)", table.ending())]
    assert [float(row[heads.index("points in all")]) for row in rows] == said
    assert "points a round" not in heads


def test_the_end_at_the_keyboard_labels_every_figure(tmp_path):
    moves = tmp_path / "moves.txt"
    moves.write_text("b2\na3\nc3\na1\na2\nc2\nb3\nb1\n")
    console = Console(file=io.StringIO(), width=100)
    keyboard.play(GAMES["tictactoe"], ["human", "human"], seed=1, script=moves, console=console)
    assert re.search(r"Ada is at the keyboard; score \(0 to 1\): [\d.]+", console.file.getvalue())


def test_a_tally_names_outcomes_of_the_game():
    with pytest.raises(CardaiError, match="tally"):
        GAMES["moska"].changed(tally=("points",))
    assert GAMES["literature"].learning.tallied == ["half_suits"]
    assert GAMES["hearts"].changed(tally=()).learning.tallied == ["points", "moon"]
    assert GAMES["moska"].learning.tallied == []


UNITS = {
    ("moska", "thesis"): (100.0, "percentage points of the chance not to lose"),
    ("hearts", "standard"): (26.0, "points"),
    ("hearts", "jack"): (36.0, "points"),
    ("hearts", "match"): (100.0, "percentage points of the win"),
    ("literature", "table"): (100.0, "percentage points of the chance to win"),
}


@pytest.mark.parametrize(("table", "unit"), UNITS.items())
def test_a_score_is_worth_so_much_in_the_games_own_unit(table, unit):
    name, variant = table
    game = GAMES[name]
    state = game.new(game.default_seats, 1, variant)
    assert game.payoff.worth(state) == unit
    if unit[1] == "points":  # the difference of two scores is that of the points
        end = ended(game, variant)
        points, scores = end.outcomes()["total"], end.scores()
        assert scores[0] - scores[1] == pytest.approx((points[1] - points[0]) / unit[0])


def test_a_costly_move_says_in_words_what_was_better_and_what_it_cost():
    game = GAMES["hearts"]
    report = analyse(game, recorded(ended(game, "standard")), names=["x"] * 4, seat=0)
    turn = report.mistakes()[0]
    assert turn.best not in (None, turn.move)
    assert report.cost_words(turn) == f"{26 * turn.cost:.2g} points"
    text = text_of(shown_analysis.table(report))
    assert report.cost_words(turn) in text
    assert turn.best in text


def test_a_game_without_a_model_is_reviewed_by_rollouts_that_name_a_better_move():
    game = GAMES["literature"]
    played = recorded(ended(game, "table", seed=1))
    report = analyse(game, played, "rollout:20", names=["x"] * 4, seat=0)
    assert report.scale.bounded
    assert report.mistakes(), "random asks can be bettered"
    turn = report.mistakes()[0]
    assert turn.seat == 0
    assert turn.cost > 0
    assert "percentage points of the chance to win" in report.cost_words(turn)
    assert all(one.value is None for one in report.turns if one.seat != 0)
    assert report == analyse(game, played, "rollout:20", names=["x"] * 4, seat=0), "the same worlds each time"
    words = text_of(shown_analysis.table(report))
    assert "found in other worlds" in words
    assert report.cost_words(turn) in words


def test_rollouts_call_no_move_better_that_is_not():
    """Where all moves are alike (the first card of Tic-Tac-Toe's mirror images) few are called better by chance."""
    game = GAMES["tictactoe"]
    state = game.new(2, 1)
    corners = [move for move in game.moves(state) if game.text.spell(state, move) in ("a1", "a3", "c1", "c3")]
    only = game.changed(name="corners")
    agent = cardai.agent(only, "rollout:40")
    found = [played_on(only, agent, state, corners[i % 4], seed) for i, seed in enumerate(range(40))]
    told = [one for one in found if one and one.best is not None]
    assert all(one.best == "b2" for one in told), "only the centre is better than a corner for random players"
    assert all(one and np.isfinite([one.worth, one.best_worth]).all() for one in found)


def test_analyse_judges_by_rollouts_where_no_model_comes(tmp_path, capsys):
    file = tmp_path / "two.jsonl"
    match = ["match", "durak", "--variant", "report", "--seats", "random,random,random", "--games", "3"]
    assert run([*match, "--no-rotate", "--record", str(file), "--seed", "1"]) == 0
    capsys.readouterr()
    assert run(["analyse", str(file)]) == 0
    said = capsys.readouterr().out
    assert "rollout:40" in said
    assert "percentage points" in said


def test_the_table_of_why_says_what_a_score_is_worth():
    game = GAMES["hearts"]
    state = game.new(4, 1, "match")
    notes = " ".join(shown_advice.notes(Adviser(game, "rollout:4", 4, "match", worlds=4).explain(state, 1)))
    assert "a score of 0.100 is 10 percentage points of the win" in notes


def test_points_beside_the_tricks_of_a_match_say_of_which_rounds_they_are():
    game = GAMES["hearts"]
    table = OneGame(game, [cardai.agent(game, "duck")] * 4, 3, "match")
    for _ in range(90):
        table.step()
    notes = [zone.words for zone in game.table.zones(table.seen(0, 1), 0) if zone.name == "Won"]
    assert all(re.fullmatch(r"-?\d+ before, \d+ points? this round", note) for note in notes), notes
    assert sum(int(note.split()[0]) for note in notes) == 26, "one round is over"
    table.run()
    notes = [zone.words for zone in game.table.zones(table.seen(0, 1), 0) if zone.name == "Won"]
    assert [int(note.split()[-3]) for note in notes] == [int(points) for points in table.outcomes()["total"]]
