"""What the environment sets for Numba, JAX and folders either works or is answered with a sentence, in every verb."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

VERBS = {
    "games": ["games"],
    "agents": ["agents", "tictactoe"],
    "complexity": ["complexity", "tictactoe", "--perft", "2"],
    "play": ["play", "tictactoe"],
    "rules": ["rules", "tictactoe"],
    "doctor": ["doctor"],
    "match": ["match", "tictactoe", "--seats", "random,random", "--games", "4"],
}
WITH_JAX = {
    "match": ["match", "tictactoe", "--seats", "greedy:cnn,random", "--games", "4"],
    "train": ["train", "--game", "tictactoe", "--data", "none", "--out", "run"],
    "train policy": ["train", "policy", "tictactoe", "--preset", "ppo", "--out", "policy.safetensors"],
    "iterate": ["iterate", "tictactoe", "--out", "run"],
    "policy": ["match", "literature", "--seats", "policy:best,random,random,random", "--games", "4"],
}
NONSENSE = ("match", "train")
"""The verbs that are also tried with a platform that exists nowhere: one that plays and one that trains."""


def run(tokens: list[str], folder: Path, **environment: str) -> tuple[int, str, str]:
    """The exit code, stdout and stderr of a command."""
    command = [sys.executable, "-m", "cardai", *tokens]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, input="", check=False
    )
    return done.returncode, done.stdout, done.stderr


def refused(tokens: list[str], folder: Path, **environment: str) -> str:
    """The sentence with which a command is refused."""
    code, _, said = run(tokens, folder, **environment)
    lines = [line for line in said.splitlines() if not line.startswith("W")]  # JAX warns on its own
    assert (code, len(lines)) == (2, 1), said
    assert lines[0].startswith("cardai: ")
    assert list(folder.iterdir()) == []
    return lines[0]


@pytest.mark.parametrize("verb", VERBS)
def test_numba_without_compilation_is_plain_python(verb: str, tmp_path: Path) -> None:
    code, said, errors = run(VERBS[verb], tmp_path, NUMBA_DISABLE_JIT="1")
    assert verb == "play" or code == 0, errors
    assert "Traceback" not in errors
    assert verb != "doctor" or "plain Python" in said


@pytest.mark.parametrize("verb", ["games", "complexity", "play"])
def test_a_setting_that_numba_cannot_take_is_refused_in_a_sentence(verb: str, tmp_path: Path) -> None:
    assert "Numba cannot be used: " in refused(VERBS[verb], tmp_path, NUMBA_NUM_THREADS="0")


PLATFORMS = [("cuda", verb) for verb in WITH_JAX] + [("nonsense", verb) for verb in NONSENSE]


@pytest.mark.parametrize(("platforms", "verb"), PLATFORMS)
def test_a_platform_that_is_not_here_is_refused_in_a_sentence(platforms: str, verb: str, tmp_path: Path) -> None:
    if platforms == "cuda" and Path("/dev/nvidia0").exists():
        pytest.skip("there is a GPU here")
    sentence = refused([*WITH_JAX[verb], *_scored(verb)], tmp_path, JAX_PLATFORMS=platforms)
    assert f"JAX finds no device to compute on here with JAX_PLATFORMS='{platforms}'; unset it" in sentence


@pytest.mark.parametrize("verb", ["match", "train"])
def test_a_setting_that_jax_cannot_take_is_refused_in_a_sentence(verb: str, tmp_path: Path) -> None:
    sentence = refused([*WITH_JAX[verb], *_scored(verb)], tmp_path, JAX_ENABLE_X64="maybe")
    assert "JAX cannot be used: " in sentence
    assert "JAX_ENABLE_X64" in sentence


def _scored(verb: str) -> list[str]:
    return ["--scorer", "jax"] if verb == "match" else []


@pytest.mark.parametrize("folder", ["a file", "not to be written"])
def test_a_cache_that_cannot_be_written_is_said_once(folder: str, tmp_path: Path) -> None:
    cache = tmp_path / "file" if folder == "a file" else Path("/proc/cardai")
    if folder == "a file":
        cache.write_text("")
    code, said, errors = run(VERBS["complexity"], tmp_path, CARDAI_CACHE=str(cache))
    assert (code, len(errors.splitlines())) == (0, 1), errors
    assert "72" in said
    assert f"compiled code is not kept in {cache}" in errors


FORKED = """
import multiprocessing, numpy as np, cardai
from cardai.evaluators.scorer import set_device
set_device("cpu", "jax")
game = cardai.load("{game}")
def play(agents):
    try:
        agents = agents or [cardai.agent(game, "{spec}"), cardai.agent(game, "random")]
        cardai.play(game, agents, np.array([[0, 1] * (2 if game.teams else 1)]), [1])
    except cardai.CardaiError as error:
        print("refused:", error, flush=True)
    else:
        print("played", flush=True)
agents = [cardai.agent(game, "{spec}"), cardai.agent(game, "random")]
play(agents)
for again in (agents, None):
    def work():
        play(again)
    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    child.join(20)
    print("hangs" if child.is_alive() else child.exitcode, flush=True)
    child.kill()
"""


@pytest.mark.parametrize(("game", "spec"), [("tictactoe", "greedy:cnn"), ("literature", "policy:best")])
def test_a_network_in_a_forked_process_is_refused_at_once(game: str, spec: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED.format(game=game, spec=spec)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert [line for line in lines if not line.startswith("refused")] == ["played", "0", "0"], done.stderr
    told = [line for line in lines if line.startswith("refused")]
    assert len(told) == 2
    assert all("'spawn'" in line and "forked" in line for line in told), told


HOMELESS = """
import pathlib, sys
def none():
    raise RuntimeError("Could not determine home directory.")
pathlib.Path.home = none
from cardai.cli.main import run
sys.exit(run(["complexity", "tictactoe", "--perft", "1"]))
"""


def test_without_a_home_folder_a_sentence_names_what_to_set() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("CARDAI_CACHE", "XDG_CACHE_HOME")}
    command = [sys.executable, "-c", HOMELESS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr == "cardai: there is no home folder to keep compiled rules in; set CARDAI_CACHE to a folder\n"
