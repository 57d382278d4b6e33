"""Two Ray nodes on this machine play what one process plays, whatever dies. A test takes up to a minute."""

import contextlib
import hashlib
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from safetensors.numpy import load_file

ROOT = Path(__file__).parents[3]
SECRET, OTHER_SECRET = "a" * 32, "b" * 32
FILES = 6
QUICK = {"RAY_health_check_period_ms": "1000", "RAY_health_check_timeout_ms": "3000"}  # a silent node is soon given up

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="the extra `cluster` brings Ray"),
    pytest.mark.skipif(sys.platform != "linux", reason="workers are found in /proc"),
]


def environment(secret=SECRET):
    return os.environ | QUICK | {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secret, "PYTHONPATH": str(ROOT)}


def begin(*command, secret=SECRET, **more):
    pipe = subprocess.PIPE
    command = [sys.executable, *map(str, command)]
    return subprocess.Popen(command, stdout=pipe, text=True, env=environment(secret), **{"stderr": pipe} | more)


@contextlib.contextmanager
def nodes_up(*arguments):
    program = Path(__file__).with_name("two_nodes.py")
    more = {"stdin": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with begin(program, *arguments, **more) as process:
        try:
            about = json.loads(process.stdout.readline())
            process.__dict__ |= about
            yield process
        finally:
            process.stdin.close()
            process.wait(60)


@pytest.fixture(scope="module")
def nodes():
    with nodes_up() as up:
        yield up


@pytest.fixture
def own_nodes():
    with nodes_up() as up:
        yield up


def call(*tokens, secret=SECRET):
    """The exit code, the output and the errors of a command."""
    process = begin("-m", "cardai", *tokens, secret=secret)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def selfplay(folder, *more, game="durak", files=FILES):
    agents = ("--agent", "random@2") if game == "durak" else ("--agent", "random")
    return ("selfplay", game, *agents, "--games", 10_000 * files, "--seed", 7, "--out", folder, "--json", *more)


def digests(folder):
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(Path(folder).iterdir())}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The digests of the files that one process writes."""
    folder = tmp_path_factory.mktemp("expected") / "games"
    assert call(*selfplay(folder))[::2] == (0, "")
    return digests(folder)


def files_in(folder):
    return list(Path(folder).glob("games-*"))


def wait_for(condition, seconds=120.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def workers_of(raylet: int) -> list[int]:
    """The worker processes of a raylet that are at a task now."""
    found = []
    for place in Path("/proc").iterdir():
        try:
            status = (place / "stat").read_text().rpartition(")")[2].split()
            name = (place / "cmdline").read_bytes()
        except (OSError, IndexError):
            continue
        if int(status[1]) == raylet and name.startswith(b"ray::perform"):
            found.append(int(place.name))
    return found


@contextlib.contextmanager
def disturbed(folder, address, code=0, said=""):
    """A simulation that has written a file and goes on. After the block it ends with this code and these words."""
    with begin("-m", "cardai", *selfplay(folder, "--cluster", address)) as process:
        wait_for(lambda: files_in(folder))
        yield process
        err = process.communicate(timeout=120)[1]
    assert process.returncode == code, err
    assert said in err
    own = [line for line in err.splitlines() if not line.startswith("[20")]  # Ray may add what it does about lost nodes
    assert len(own) == bool(said), err


def assert_goes_on(folder, expected, *more):
    """What is written is right, and the same command plays the rest."""
    kept = {name: one for name, one in digests(folder).items() if name.startswith("games-")}
    assert 0 < len(kept) < FILES
    assert kept.items() <= expected.items()
    code, out, err = call(*selfplay(folder, *more))
    assert (code, err, json.loads(out)["found"]) == (0, "", len(kept))
    assert digests(folder) == expected


def test_two_nodes_write_the_files_of_one_process(nodes, expected, tmp_path):
    assert call(*selfplay(tmp_path, "--cluster", nodes.address))[::2] == (0, "")
    assert digests(tmp_path) == expected


def test_iterate_trains_the_networks_of_one_machine(nodes, tmp_path):
    few = ("--games", 300, "--training.batch", 128, "--training.epochs", 2, "--training.options.hidden", "[16]")
    duel = ("--benchmark-games", 60, "--most-benchmark-games", 120, "--benchmark-epsilon", 0.1)
    weights = []
    for folder, more in ((tmp_path / "one", ()), (tmp_path / "two", ("--cluster", nodes.address))):
        code, _, err = call("iterate", "tictactoe", "--generations", 2, *few, *duel, "--out", folder, *more)
        assert (code, err) == (0, "")
        models = sorted(folder.glob("generation-*/training/model.safetensors"))
        weights.append([{name: array.tobytes() for name, array in load_file(file).items()} for file in models])
    assert len(weights[0]) == 2
    assert weights[0] == weights[1]


def test_workers_that_are_killed_are_replaced(nodes, expected, tmp_path):
    with disturbed(tmp_path, nodes.address):
        workers = [worker for raylet in nodes.raylets for worker in workers_of(raylet)]
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
    assert workers
    assert digests(tmp_path) == expected


def test_the_files_of_a_node_that_is_removed_are_played_by_the_other(own_nodes, expected, tmp_path):
    with disturbed(tmp_path, own_nodes.address):
        own_nodes.stdin.write("remove\n")
        own_nodes.stdin.flush()
        assert own_nodes.stdout.readline() == "removed\n"
    assert digests(tmp_path) == expected


def test_the_files_of_a_node_that_falls_silent_are_played_by_the_other(own_nodes, expected, tmp_path):
    """As if its cable were pulled: its processes are there, and nothing comes from them."""
    silent = []
    try:
        with disturbed(tmp_path, own_nodes.address):
            silent = [own_nodes.raylets[1], *workers_of(own_nodes.raylets[1])]
            for one in silent:
                os.kill(one, signal.SIGSTOP)
            wait_for(lambda: len(files_in(tmp_path)) == FILES, 30.0 + 4.0 * FILES)  # the other's time to play them
    finally:
        for one in silent:
            os.kill(one, signal.SIGKILL)
    assert digests(tmp_path) == expected


@pytest.mark.parametrize(
    ("with_signal", "code", "said"), [(signal.SIGKILL, -9, ""), (signal.SIGINT, 130, "interrupted")]
)
def test_a_driver_that_was_ended_goes_on(nodes, expected, tmp_path, with_signal, code, said):
    with disturbed(tmp_path, nodes.address, code, said) as process:
        process.send_signal(with_signal)
    assert_goes_on(tmp_path, expected, "--cluster", nodes.address)


def test_a_head_that_dies_ends_the_run_in_a_sentence_and_the_same_command_goes_on(expected, tmp_path):
    with nodes_up() as nodes, disturbed(tmp_path, nodes.address, 1, "cardai: the cluster is lost: no cluster answers"):
        os.kill(nodes.head, signal.SIGKILL)
    assert_goes_on(tmp_path, expected)  # on one machine, for a change


def assert_refused(folder, address, words, secret=SECRET):
    began = time.monotonic()
    code, out, err = call(*selfplay(folder, "--cluster", address, game="tictactoe", files=3), secret=secret)
    assert (code, out, err.count("\n")) == (1, "", 1), err
    assert err.startswith("cardai: ")
    assert words in err
    assert time.monotonic() - began < 30  # of which some are cardai's own start
    assert not files_in(folder)


def test_a_node_with_another_version_of_the_game_is_refused(tmp_path):
    copy = tmp_path / "copy"
    for package in ("cardai", "games", "evaluators"):
        shutil.copytree(ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__"))
    rules = copy / "games/tictactoe/__init__.py"
    rules.write_text(rules.read_text().replace("version=1,", "version=2,"))
    (copy / "sitecustomize.py").write_text("import cardai.games.tictactoe, cardai.guests.cluster\n")
    with nodes_up(copy) as nodes:
        assert_refused(tmp_path / "out", nodes.address, "has game tictactoe 2, the driver has tictactoe 1; install the")


def test_a_wrong_token_and_wrong_addresses_are_refused(nodes, tmp_path):
    assert_refused(tmp_path, nodes.address, "it does not take this machine's token", OTHER_SECRET)
    assert_refused(tmp_path, "127.0.0.1:9", "no cluster answers at 127.0.0.1:9: Connection refused")
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections and never answers
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        assert_refused(tmp_path, address, f"cannot join the cluster at {address}: it did not answer within 12 s")


def test_a_file_that_always_fails_is_named_and_the_others_are_written(nodes, tmp_path):
    source, move = (ROOT / "games/tictactoe/__init__.py").read_text(), "    state.stones[state.turn] |="
    bang = "    if state.ply == 4 and state.rng % np.uint64(30011) == np.uint64(5):\n        raise ValueError('bang')\n"
    game = tmp_path / "fails" / "fails.py"
    game.parent.mkdir()
    game.write_text("import numpy as np\n" + source.replace(move, bang + move))
    for _ in range(2):
        code, _, err = call(*selfplay(tmp_path / "out", "--cluster", nodes.address, game=game))
        assert (code, err.count("\n")) == (1, 1), err
        assert err.startswith("cardai: ")
        for words in ("files could not be played: games-", "ValueError", "the same command tries again"):
            assert words in err
        written = [file.name for file in files_in(tmp_path / "out")]
        assert 1 <= len(written) < FILES
        assert not [name for name in written if name in err]
