"""Python agents in a process of their own: they play as in this one, and find nothing but what they are sent."""

import gc
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import cardai
from cardai.errors import CardaiError
from cardai.playing.agents.spec import agent
from cardai.playing.stats.deals import deal_seeds

MOSKA = cardai.load("moska")

AGENTS = '''
import gc
import os

import numpy as np


def lowest(game, world):
    """Depends on the whole world, and prints, as agents do."""
    print("thinking", flush=True)
    moves = game.moves(world)
    return moves[int(world["hands"].sum()) % len(moves)]


def spy(game, world):
    """Plays its first move if the process holds the true state of its table, otherwise its last."""
    moves = game.moves(world)
    if world["ply"] > 12:
        return moves[-1]
    return moves[0 if holds_the_truth(game, world) else len(moves) - 1]


def holds_the_truth(game, world):
    """Whether some array of this process has this table as it is: the same seat and ply, but another deck."""
    for thing in gc.get_objects():
        if type(thing).__name__ != "Slots" or not isinstance(thing.states, np.ndarray):
            continue
        for state in thing.states:
            if state["ply"] == world["ply"] and (state["hands"] != world["hands"]).any():
                return True
    return False


def process(rows):
    return np.full(len(rows), os.getpid() / 2**40)


def weight(rows):
    return rows.sum(axis=1) / (255.0 * rows.shape[1])


def fails(game, world):
    raise RuntimeError("oops")


def dies(game, world):
    os._exit(3)


def rubbish(game, world):
    return 5


def hangs(game, world):
    while True:
        pass


class Liar:
    name, encoder, moment, seats, batch = "liar", "bitmap", "before_draw", None, 64

    def __init__(self, **lies):
        self.__dict__.update(lies)

    def score(self, rows):
        return np.zeros(len(rows))

    def check_fits(self, game, variant, seats):
        pass


batchless = Liar(batch=-1)
number = 3
'''


@pytest.fixture(autouse=True)
def own_code(tmp_path, monkeypatch):
    (tmp_path / "isolated_agents.py").write_text(AGENTS)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("isolated_agents", None)


def played(spec: str, isolate: bool, games: int = 6) -> np.ndarray:
    mine = agent(MOSKA, f"python:isolated_agents:{spec}", isolate=isolate)
    lineups = np.tile([0, 1, 1, 1], (games, 1))
    results = cardai.play(MOSKA, [mine, agent(MOSKA, "bot3")], lineups, deal_seeds(5, games), record=True)
    assert all(moves is not None for moves in results.moves)
    return np.concatenate([moves for moves in results.moves if moves is not None])


def test_an_isolated_agent_plays_the_same_moves():
    assert played("lowest", isolate=True).tobytes() == played("lowest", isolate=False).tobytes()


def test_an_isolated_agent_finds_no_true_state():
    """`spy` looks through its process for the state of its table. It finds it in this process, not in its own."""
    gc.collect()
    last = "lambda"  # a player that always plays its last move, as a spy does that finds nothing
    blind = cardai.player(lambda game, world: game.moves(world)[-1], last)
    lineups = np.tile([0, 1, 1, 1], (1, 1))
    results = cardai.play(MOSKA, [blind, agent(MOSKA, "bot3")], lineups, deal_seeds(5, 1), record=True)
    nothing_found = np.concatenate([moves for moves in results.moves if moves is not None])
    assert played("spy", isolate=True, games=1).tobytes() == nothing_found.tobytes()
    assert played("spy", isolate=False, games=1).tobytes() != nothing_found.tobytes()


def test_an_isolated_evaluator_answers_from_its_own_process():
    rows = np.arange(20, dtype=np.uint8).reshape(4, 5)
    mine = agent(MOSKA, "greedy:python:isolated_agents:process", isolate=True)
    assert mine.evaluator is not None
    where = float(mine.evaluator.score(rows)[0]) * 2**40
    assert round(where) != os.getpid()
    games = cardai.match(MOSKA, [mine, "random", "random", "random"], games=4, salt="")
    assert games.rows[0].spec == "greedy:python:isolated_agents:process"
    here, there = (agent(MOSKA, "greedy:python:isolated_agents:weight", isolate=yes) for yes in (False, True))
    first, second = (cardai.match(MOSKA, [one, *["random"] * 3], games=12, salt="") for one in (here, there))
    assert first.rows == second.rows


def test_an_isolated_evaluator_fits_only_its_own_game():
    mine = agent(MOSKA, "greedy:python:isolated_agents:weight", isolate=True)
    durak = cardai.load("durak")
    assert mine.evaluator is not None
    with pytest.raises(CardaiError, match="is an evaluator of moska"):
        mine.evaluator.check_fits(durak, None, 2)
    with pytest.raises(CardaiError, match="was made for the game moska, not for durak"):
        mine.check_fits(durak, None, 2)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fails", r"agent 'python:isolated_agents:fails', seat \d, ply \d+: it raised RuntimeError\('oops'\)"),
        ("dies", r"agent 'python:isolated_agents:dies': its process has ended \(with exit status 3\)"),
        ("rubbish", "it returned 5, which is not a move of moska"),
    ],
)
def test_what_goes_wrong_there_is_said_here(name, words):
    with pytest.raises(CardaiError, match=words):
        played(name, isolate=True)


def test_what_an_isolated_evaluator_says_of_itself_is_checked():
    with pytest.raises(CardaiError, match="its evaluator: batch"):
        agent(MOSKA, "greedy:python:isolated_agents:batchless", isolate=True)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("python:isolated_agents:nosuch", "cannot import 'isolated_agents:nosuch'"),
        ("python:isolated_agents:number", "is not a function but 3"),
        ("greedy:python:isolated_agents:number", "3 is neither a function"),
        ("python:nosuchmodule:f", "No module named 'nosuchmodule'"),
    ],
)
def test_a_spec_that_names_nothing_is_refused_in_the_same_words(spec, words):
    with pytest.raises(CardaiError, match=words):
        agent(MOSKA, spec, isolate=True)
    with pytest.raises(CardaiError, match=words):
        agent(MOSKA, spec)


def test_code_that_cannot_be_isolated_is_refused():
    durak = cardai.load("durak")
    with pytest.raises(CardaiError, match="'endgame:python:isolated_agents:lowest' cannot be isolated"):
        agent(durak, "endgame:python:isolated_agents:lowest", isolate=True)
    assert not agent(durak, "endgame:thrifty", isolate=True).is_foreign


def test_a_function_of_this_process_is_not_taken_for_isolated():
    mine = cardai.player(lambda game, world: game.moves(world)[0], "mine")
    with pytest.raises(CardaiError, match="agent 'mine' cannot be isolated"):
        cardai.match(MOSKA, [mine, "random"], games=2, isolate=True)
    assert agent(MOSKA, agent(MOSKA, "bot3"), isolate=True).spec == "bot3"


def test_the_process_ends_with_its_agent():
    mine = agent(MOSKA, "python:isolated_agents:lowest", isolate=True)
    process = next(thing for thing in gc.get_objects() if type(thing).__name__ == "Process" and hasattr(thing, "spec"))
    child = process._process
    assert child.poll() is None
    del mine, process
    gc.collect()
    assert child.poll() is not None


def test_match_isolates_and_a_hanging_agent_ends_with_ctrl_c(tmp_path):
    (tmp_path / "ours.py").write_text(AGENTS)
    command = [sys.executable, "-m", "cardai", "match", "tictactoe", "--isolate", "--games", "4", "--json", "--seats"]
    done = subprocess.run(
        [*command, "random,python:ours:rubbish"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, "which is not a move" in done.stderr) == (2, True)
    program = textwrap.dedent(
        """
        import os, signal, sys, threading
        threading.Timer(3.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        from cardai.cli.main import run
        sys.path.append(os.getcwd())
        sys.exit(run(sys.argv[1:]))
        """
    )
    hanging = [sys.executable, "-c", program, *command[3:], "random,python:ours:hangs"]
    done = subprocess.run(hanging, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 130
