"""Agents with an evaluator: what they look at, and that they decide as the compiled search by a heuristic does."""

import numpy as np
import pytest

from cardai import evaluator as evaluators
from cardai import load
from cardai.game import CardaiError
from cardai.players import agent
from cardai.table import play


class Judge:
    """An evaluator made of a function of rows."""

    moment, batch = "drawn", 512

    def __init__(self, name, encoder, seats, function):
        self.name, self.encoder, self.seats, self.function, self.calls = name, encoder, seats, function, []

    def score(self, rows):
        self.calls.append(len(rows))
        return self.function(rows.astype(np.int64)).astype(np.float32)

    def check_fits(self, game, variant, seats):
        if seats != self.seats:
            raise CardaiError(f"{self.name} is for {self.seats} seats, not {seats}")


LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


SPAN = 4096.0


def open_lines(rows):
    """The game's heuristic of that name in [0, 1]: a power of two apart, so that equal values stay equal."""
    value = np.zeros(len(rows))
    for line in map(list, LINES):
        own, other = rows[:, line].sum(1), rows[:, [9 + cell for cell in line]].sum(1)
        value += np.where(other == 0, own * own, np.where(own == 0, -np.where(other == 2, 100, other), 0))
        value[own == 3] += 10_000
    return (np.minimum(value, 1000.0) + SPAN / 2) / SPAN


def some_order(rows):
    """Any fixed judgement of all that a row says, with few ties."""
    weights = np.random.default_rng(5).integers(1, 1 << 20, rows.shape[1])
    return (rows @ weights % 4099) / 4099


@pytest.fixture
def judges(monkeypatch):
    known = {
        "lines": Judge("lines", "planes", 2, open_lines),
        "order": Judge("order", "bitmap", 4, some_order),
        "pending": Judge("pending", "afterstate", 4, some_order),
    }
    found = evaluators.find_evaluator
    monkeypatch.setattr("cardai.players.find_evaluator", lambda game, name: known.get(name) or found(game, name))
    return known


def run(name, specs, games=40, seed=1, **options):
    game = load(name)
    lineups = np.tile(np.arange(len(specs)), (games, 1))
    seeds = np.arange(games, dtype=np.uint64) + np.uint64(1000 * seed)
    return play(game, [agent(game, spec) for spec in specs], lineups, seeds, record=True, **options)


def same_games(one, other):
    assert len(one.moves) == len(other.moves)
    return all(np.array_equal(a, b) for a, b in zip(one.moves, other.moves, strict=True))


@pytest.mark.parametrize("kind", ["greedy", "sampled", "peeking"])
@pytest.mark.parametrize("epsilon", [0, 0.3])
def test_an_evaluator_decides_as_the_heuristic_it_computes(judges, kind, epsilon):
    outside = run("tictactoe", [f"{kind}:lines?epsilon={epsilon}", "random"])
    assert same_games(outside, run("tictactoe", [f"{kind}:open_lines?epsilon={epsilon}", "random"]))


def test_temperature_draws_as_with_the_heuristic(judges):
    outside = run("tictactoe", [f"greedy:lines?temperature={2 / SPAN}", "random"])
    inside = run("tictactoe", ["greedy:open_lines?temperature=2", "random"])
    assert same_games(outside, inside)
    assert not same_games(inside, run("tictactoe", ["greedy:open_lines", "random"]))


@pytest.mark.parametrize(
    "spec", ["greedy:pending", "sampled:order?worlds=7", "peeking:order", "greedy:order?epsilon=0.2"]
)
def test_games_depend_on_seed_and_lineup_only(judges, spec):
    specs = [spec, "bot3", "sampled:order?worlds=3", "random"]
    wide = run("moska", specs, threads=2, live=40)
    assert same_games(wide, run("moska", specs, threads=1, live=40))
    assert same_games(wide, run("moska", specs, threads=2, live=3))
    assert wide.rows > 0
