"""Agents and evaluators made of a user's own Python: `cardai.player`, `cardai.evaluator`, `cardai.match`, specs."""

import sys
import types

import numpy as np
import pytest

import cardai
from cardai.errors import CardaiError
from cardai.playing.agents.notation import Greedy, Sampled, Spec
from cardai.playing.agents.spec import agent, list_specs

TICTACTOE = cardai.load("tictactoe")


def first_legal(game, world):
    return game.moves(world)[0]


def stones(rows):
    """More of one's own stones than of the other's on the board."""
    return 0.5 + (rows[:, :9].astype(float).sum(axis=1) - rows[:, 9:18].sum(axis=1)) / 20


class Classifier:
    """What scikit-learn's classifiers offer."""

    def predict_proba(self, rows):
        return np.column_stack([1 - stones(rows), stones(rows)])

    def predict(self, rows):
        raise AssertionError("a classifier is asked for probabilities")


class Regressor:
    def predict(self, rows):
        return stones(rows)


def test_a_match_takes_specs_and_agents_and_prints():
    mine = cardai.player(first_legal)
    report = cardai.match(TICTACTOE, [mine, "random"], games=40, seed=3, salt="")
    assert [row.spec for row in report.rows] == ["first_legal", "random"]
    assert report.games == 40
    assert "first_legal" in str(report)
    *_, played, process, salt = str(report).splitlines()
    assert played.startswith("40 games in ")
    assert process == "not sealed: first_legal ran in cardai's process, which holds all cards"
    assert salt == "not sealed: the salt was given, so that the deals can have been known"
    again = cardai.match(TICTACTOE, [cardai.player(first_legal), "random"], games=40, seed=3, salt="")
    assert again.rows == report.rows


def test_a_players_illegal_move_is_refused():
    wrong = cardai.player(lambda game, world: np.zeros(1, game.move)[0], name="wrong")
    with pytest.raises(cardai.IllegalMove, match="agent wrong"):
        cardai.match(TICTACTOE, [wrong, wrong], games=4)


@pytest.mark.parametrize("judge", [stones, Classifier(), Regressor()], ids=["function", "classifier", "regressor"])
def test_an_evaluator_of_ones_own_plays_like_any_other(judge):
    mine = cardai.agent(TICTACTOE, Greedy(cardai.evaluator(TICTACTOE, judge, name="stones")))
    same = cardai.agent(TICTACTOE, Greedy(cardai.evaluator(TICTACTOE, stones, name="stones")))
    assert mine.spec == "greedy:stones"
    first, second = (cardai.match(TICTACTOE, [one, "random"], games=40, seed=1, salt="") for one in (mine, same))
    assert first.rows == second.rows


def test_a_torch_module_is_called_without_gradients_on_floats(monkeypatch):
    torch = types.ModuleType("torch")

    class Tensor(np.ndarray):
        def cpu(self):
            return self

        def numpy(self):
            return np.asarray(self)

    class Module:
        def eval(self):
            self.evaluates = True

        def parameters(self):
            return iter(())

        def __call__(self, rows):
            assert self.evaluates
            assert torch.quiet
            assert rows.dtype == np.float32
            return stones(rows)[:, None].view(Tensor)

    class no_grad:  # noqa: N801
        def __enter__(self):
            torch.quiet = True

        def __exit__(self, *error):
            torch.quiet = False

    torch.nn, torch.no_grad, torch.float32, torch.quiet = types.SimpleNamespace(Module=Module), no_grad, "f4", False
    torch.as_tensor = lambda rows, dtype, device: rows.astype(dtype)
    monkeypatch.setitem(sys.modules, "torch", torch)
    rows = np.zeros((3, 18), np.uint8)
    assert cardai.evaluator(TICTACTOE, Module()).score(rows).tolist() == stones(rows).tolist()


def test_options_of_a_search_go_with_an_evaluator_of_ones_own():
    mine = cardai.evaluator(TICTACTOE, stones, moment="drawn")
    searching = cardai.agent(TICTACTOE, Sampled(mine, worlds=3, epsilon=0.1))
    assert searching.spec == "sampled:stones?worlds=3&epsilon=0.1"
    assert (searching.strategy.worlds, searching.strategy.epsilon) == (3, 0.1)
    for kind in ("bot3", "rollout", "python", "endgame"):
        with pytest.raises(CardaiError, match="takes no evaluator"):
            cardai.agent(TICTACTOE, Spec(kind, mine))


def test_an_evaluator_of_another_game_is_refused():
    moska = cardai.evaluator(cardai.load("moska"), stones)
    with pytest.raises(CardaiError, match="stones is an evaluator of moska, not of tictactoe"):
        cardai.match(TICTACTOE, [Greedy(moska), "random"], games=2)


@pytest.mark.parametrize(
    ("judge", "options", "sentence"),
    [
        (3, {}, "3 is neither a function of rows nor an object with predict"),
        (stones, {"moment": "later"}, "there is no moment 'later'"),
        (stones, {"encoder": "none"}, "tictactoe has no encoder 'none'"),
    ],
)
def test_what_is_no_evaluator_is_refused(judge, options, sentence):
    with pytest.raises(CardaiError, match=sentence):
        cardai.evaluator(TICTACTOE, judge, **options)


def test_scores_out_of_range_are_refused_by_name():
    mine = cardai.evaluator(TICTACTOE, lambda rows: rows.sum(axis=1) + 2.0, name="loud")
    with pytest.raises(CardaiError, match=r"evaluator loud: it scores a position .*, which is not in \[0, 1\]"):
        cardai.match(TICTACTOE, [Greedy(mine), "random"], games=2)


def test_specs_name_evaluators_in_modules(tmp_path, monkeypatch):
    (tmp_path / "own_judges.py").write_text("def stones(rows):\n    return rows[:, 0] / 255\n\nnumber = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    named = agent(TICTACTOE, "greedy:python:own_judges:stones?epsilon=0.1")
    assert named.spec == "greedy:python:own_judges:stones?epsilon=0.1"
    assert cardai.match(TICTACTOE, [named, "random"], games=4).games == 4
    for spec, sentence in (
        ("greedy:python:own_judges", "an evaluator is named python:MODULE:OBJECT"),
        ("greedy:python:own_judges:none", "cannot import 'own_judges:none'"),
        ("greedy:python:own_judges:number", "3 is neither a function"),
    ):
        with pytest.raises(CardaiError, match=sentence):
            agent(TICTACTOE, spec)


def test_agents_are_listed_with_the_searches_that_fit_their_models():
    specs = list_specs(cardai.load("moska"))
    assert "greedy:best" in specs
    assert "sampled:best" not in specs
    assert {"sampled:nn2", "peeking:nn2"} <= specs.keys()
    assert "greedy:nn2" not in specs
