"""Data sets whose labels are the means of a search over worlds, instead of how games ended."""

import numpy as np
import pytest

from cardai.errors import CardaiError
from cardai.records.dataset import collect
from cardai.records.recipe import Recipe
from cardai.records.record import read
from cardai.records.selfplay import simulate
from cardai.registry import load

DURAK = load("durak")
TEACHER = "ahead:podkidnoy4?moves=3&worlds=4"


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """A record file of a few games."""
    place = tmp_path_factory.mktemp("games") / "games.jsonl"
    simulate(DURAK, {"thrifty": 1.0, "random": 1.0}, 12, out=place, seed=3)
    return place


def after_states_of(game, path) -> dict[bytes, int]:
    """{row: the place of its game} of all after-states of all legal moves in recorded games, seen by who moves."""
    rows: dict[bytes, int] = {}
    for number, played in enumerate(read(path)):
        state = game.new(len(played.lineup), played.seed, played.variant)
        for move in played.moves:
            moves = game.moves(state)
            if len(moves) > 1:
                for option in moves:
                    rows[game.encode(game.after(state, option), int(state["turn"])).tobytes()] = number
            state = game.play(state, move)
    return rows


def test_rows_are_the_after_states_of_the_moves_that_the_teacher_tried(games):
    data = collect([games], Recipe(per_game=5, teacher=TEACHER), seed=1)
    known = after_states_of(DURAK, games)
    rows = data.take(np.arange(len(data)))
    assert all(row.tobytes() in known for row in rows)
    assert set(np.bincount(data.game_of)) <= set(range(2 * 5, 3 * 5 + 1))
    assert ((data.labels >= 0) & (data.labels <= 1)).all()
    assert len(np.unique(data.labels)) > 20


def test_labels_do_not_depend_on_threads_and_follow_the_teacher(games):
    one, two = (collect([games], Recipe(per_game=5, teacher=TEACHER), seed=1, threads=n) for n in (1, 2))
    assert np.array_equal(one.labels, two.labels)
    assert one.digest == two.digest
    other = collect([games], Recipe(per_game=5, teacher="rollout:4?by=random"), seed=1)
    assert other.digest != one.digest
    assert set(np.round(4 * other.labels, 6) % 1) <= {0.0, 0.5}  # means of 4 games: 0, 1/2 or 1 each


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ({"teacher": "thrifty"}, "must search over worlds in compiled code"),
        ({"teacher": "ahead:hand_value"}, "the values of a heuristic are no scores"),
        ({"teacher": "ahead:nothing"}, "there is no heuristic or model"),
        ({"teacher": TEACHER, "moment": "drawn"}, "a teacher labels after-states"),
    ],
)
def test_a_teacher_that_cannot_teach_is_refused(games, recipe, words):
    with pytest.raises(CardaiError, match=words):
        collect([games], Recipe(**recipe))
