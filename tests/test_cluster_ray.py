"""Two Ray nodes on this machine play what one process plays, whatever dies. A test takes up to a minute."""

import contextlib
import hashlib
import importlib.util
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import two_nodes
from safetensors.numpy import load_file

ROOT = Path(__file__).parents[1]
SECRET, OTHER_SECRET = "a" * 32, "b" * 32
FILES = 24  # of a simulation that takes long enough to be disturbed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="the extra `cluster` brings Ray"),
    pytest.mark.skipif(sys.platform != "linux", reason="workers are found in /proc"),
]


class Nodes:
    """Two nodes that are up."""

    def __init__(self, process, about):
        self.process, self.address, self.raylets = process, about["address"], about["raylets"]

    def remove(self):
        self.process.stdin.write("remove\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "removed\n"


def environment(secret=SECRET):
    return os.environ | {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secret, "PYTHONPATH": str(ROOT)}


@contextlib.contextmanager
def nodes_up(*arguments):
    command = [sys.executable, str(ROOT / "tests/two_nodes.py"), *map(str, arguments)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=environment()
    ) as process:  # fmt: skip
        try:
            yield Nodes(process, json.loads(process.stdout.readline()))
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


def begin(*tokens, secret=SECRET):
    command = [sys.executable, "-m", "cardai", *map(str, tokens)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment(secret))


def call(*tokens, secret=SECRET, limit=300.0):
    """The exit code, the output and the errors of a command, and how many seconds it took."""
    began = time.monotonic()
    process = begin(*tokens, secret=secret)
    out, err = process.communicate(timeout=limit)
    return process.returncode, out, err, time.monotonic() - began


def selfplay(folder, *more, files=FILES, game="durak"):
    agents = ("--agent", "random@2") if game == "durak" else ("--agent", "random,greedy:open_lines")
    return ("selfplay", game, *agents, "--games", 10_000 * files, "--seed", 7, "--out", folder, "--json", *more)


def digests(folder):
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(Path(folder).iterdir())}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The digests of the files that one process writes."""
    folder = tmp_path_factory.mktemp("expected") / "games"
    code, _, err, _ = call(*selfplay(folder))
    assert (code, err) == (0, "")
    return digests(folder)


def files_in(folder):
    return list(Path(folder).glob("games-*")) if Path(folder).is_dir() else []


def wait_for(condition, seconds=120.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def test_one_machine_two_threads_and_two_nodes_write_the_same_files(nodes, expected, tmp_path):
    assert call(*selfplay(tmp_path / "threads", "--threads", 2))[0] == 0
    assert digests(tmp_path / "threads") == expected
    code, out, err, _ = call(*selfplay(tmp_path / "nodes", "--cluster", nodes.address))
    assert (code, err) == (0, "")
    assert digests(tmp_path / "nodes") == expected
    assert (json.loads(out)["games"], json.loads(out)["interrupted"]) == (10_000 * FILES, False)


def test_a_match_has_the_figures_of_one_machine(nodes):
    tokens = ("match", "durak", "--seats", "random,thrifty,random", "--games", 3000, "--json")
    reports = [json.loads(call(*tokens, *more)[1]) for more in ((), ("--cluster", nodes.address))]
    for report in reports:
        del report["seconds"], report["threads"]
    assert reports[0] == reports[1]


def test_iterate_trains_the_networks_of_one_machine(nodes, tmp_path):
    few = ("--games", 300, "--training.batch", 128, "--training.epochs", 2, "--training.options.hidden", "[16]")
    duel = ("--benchmark-games", 60, "--most-benchmark-games", 120, "--benchmark-epsilon", 0.1)
    weights = []
    for folder, more in ((tmp_path / "one", ()), (tmp_path / "two", ("--cluster", nodes.address))):
        code, _, err, _ = call("iterate", "tictactoe", "--generations", 2, *few, *duel, "--out", folder, *more)
        assert (code, err) == (0, "")
        models = sorted(folder.glob("generation-*/training/model.safetensors"))
        weights.append([{name: array.tobytes() for name, array in load_file(file).items()} for file in models])
    assert len(weights[0]) == 2
    assert weights[0] == weights[1]


def test_workers_that_are_killed_are_replaced(nodes, expected, tmp_path):
    process = begin(*selfplay(tmp_path, "--cluster", nodes.address))
    killed = 0
    for count in (2, 6):
        wait_for(lambda count=count: len(files_in(tmp_path)) >= count)
        for worker in two_nodes.workers_of(nodes.raylets[1]):
            os.kill(worker, signal.SIGKILL)
            killed += 1
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (0, "")
    assert killed
    assert digests(tmp_path) == expected


def test_the_files_of_a_node_that_is_removed_are_played_by_the_other(own_nodes, expected, tmp_path):
    process = begin(*selfplay(tmp_path, "--cluster", own_nodes.address))
    wait_for(lambda: len(files_in(tmp_path)) >= 3)
    own_nodes.remove()
    left = len(files_in(tmp_path))
    began = time.monotonic()
    wait_for(lambda: len(files_in(tmp_path)) >= left + 6, 30.0)
    assert time.monotonic() - began < 30.0
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (0, "")
    assert digests(tmp_path) == expected


def test_the_files_of_a_node_that_falls_silent_are_played_by_the_other_within_30_seconds(own_nodes, expected, tmp_path):
    """As if its cable were pulled: its processes are there, and nothing comes from them."""
    process = begin(*selfplay(tmp_path, "--cluster", own_nodes.address))
    wait_for(lambda: len(files_in(tmp_path)) >= 3 and two_nodes.workers_of(own_nodes.raylets[1]))
    silent = [*two_nodes.workers_of(own_nodes.raylets[1]), own_nodes.raylets[1]]
    for one in silent:
        os.kill(one, signal.SIGSTOP)
    try:
        left = FILES - len(files_in(tmp_path))
        wait_for(lambda: len(files_in(tmp_path)) == FILES, 30.0 + 4.0 * left)  # the time of the others on one node
        _, err = process.communicate(timeout=60)
    finally:
        for one in silent:
            os.kill(one, signal.SIGKILL)
    assert (process.returncode, err) == (0, "")
    assert digests(tmp_path) == expected


def test_a_driver_that_was_killed_goes_on(nodes, expected, tmp_path):
    process = begin(*selfplay(tmp_path, "--cluster", nodes.address))
    wait_for(lambda: len(files_in(tmp_path)) >= 3)
    process.kill()
    process.communicate()
    kept = digests(tmp_path)
    assert {name: kept[name] for name in kept if name.startswith("games-")}.items() <= expected.items()
    code, out, err, _ = call(*selfplay(tmp_path, "--cluster", nodes.address))
    assert (code, err) == (0, "")
    assert json.loads(out)["found"] >= 3
    assert digests(tmp_path) == expected


def test_ctrl_c_keeps_what_is_done(nodes, expected, tmp_path):
    process = begin(*selfplay(tmp_path, "--cluster", nodes.address))
    wait_for(lambda: len(files_in(tmp_path)) >= 3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in err
    assert json.loads(out)["interrupted"]
    assert digests(tmp_path).items() <= expected.items()
    code, _, err, _ = call(*selfplay(tmp_path, "--cluster", nodes.address))
    assert (code, err) == (0, "")
    assert digests(tmp_path) == expected


def test_a_head_that_dies_ends_the_run_in_a_sentence_and_the_same_command_goes_on(expected, tmp_path):
    with nodes_up() as nodes:
        process = begin(*selfplay(tmp_path, "--cluster", nodes.address))
        wait_for(lambda: len(files_in(tmp_path)) >= 3)
        nodes.process.stdin.close()  # both nodes, and the head with them
        _, err = process.communicate(timeout=90)
        assert process.returncode == 1
        assert_sentence(err, "is lost", "the same command goes on")
    assert {name: one for name, one in digests(tmp_path).items() if "games-" in name}.items() <= expected.items()
    assert call(*selfplay(tmp_path))[0] == 0  # on one machine, for a change
    assert digests(tmp_path) == expected


def assert_sentence(err, *parts):
    assert err.startswith("cardai: ")
    assert err.count("\n") == 1, err
    for part in parts:
        assert part in err


def assert_refused_in_time(done, *parts):
    code, out, err, seconds = done
    assert (code, out) == (1, "")
    assert_sentence(err, *parts)
    own = call(*selfplay("nothing", "--cluster", "nowhere", game="tictactoe"))[3]  # which is refused without a look
    assert seconds < 20 + 2 * own


def test_a_node_with_another_version_of_the_game_is_refused(tmp_path):
    copy = tmp_path / "copy"
    for package in ("cardai", "games", "evaluators"):
        shutil.copytree(ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__"))
    rules = copy / "games/tictactoe/__init__.py"
    rules.write_text(rules.read_text().replace("version=1,", "version=2,"))
    (copy / "sitecustomize.py").write_text("import cardai.games.tictactoe, cardai.table.cluster.work\n")
    with nodes_up(copy) as nodes:
        done = call(*selfplay(tmp_path / "out", "--cluster", nodes.address, game="tictactoe", files=3))
    assert_refused_in_time(done, "has tictactoe 2, here is tictactoe 1; install the same version on all machines")
    assert not files_in(tmp_path / "out")


def test_a_wrong_token_is_refused(nodes, tmp_path):
    tokens = selfplay(tmp_path / "out", "--cluster", nodes.address, game="tictactoe", files=3)
    assert_refused_in_time(call(*tokens, secret=OTHER_SECRET), "does not take this machine's token")


def test_a_wrong_address_is_refused(tmp_path):
    tokens = selfplay(tmp_path / "out", "--cluster", "127.0.0.1:9", game="tictactoe", files=3)
    assert_refused_in_time(call(*tokens), "no cluster answers at 127.0.0.1:9")
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections and never answers
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        tokens = selfplay(tmp_path / "out", "--cluster", address, game="tictactoe", files=3)
        assert_refused_in_time(call(*tokens), f"cannot join the cluster at {address}: it did not answer within 15 s")


def test_a_file_that_always_fails_is_named_and_the_others_are_written(nodes, tmp_path):
    source, move = (ROOT / "games/tictactoe/__init__.py").read_text(), "    state.stones[state.turn] |="
    bang = "    if state.ply == 4 and state.rng % np.uint64(30011) == np.uint64(5):\n        raise ValueError('bang')\n"
    game = tmp_path / "fails" / "fails.py"
    game.parent.mkdir()
    game.write_text("import numpy as np\n" + source.replace(move, bang + move))
    tokens = selfplay(tmp_path / "out", "--cluster", nodes.address, game=game, files=6)
    tokens = [*tokens[:2], "--agent", "random", *tokens[4:]]
    for _ in range(2):
        code, _, err, _ = call(*tokens)
        assert code == 1
        assert_sentence(err, "of", "files could not be played", "ValueError", "the same command tries again")
        assert 1 <= len(files_in(tmp_path / "out")) < 6
        for file in files_in(tmp_path / "out"):
            assert file.name not in err


def test_the_speed_of_a_cluster_is_measured_beside_that_of_its_machines(nodes):
    code, out, err, _ = call("perf", "tictactoe", "--cluster", nodes.address, "--seconds", 4, "--json")
    assert (code, err) == (0, "")
    report = json.loads(out)
    assert (report["machines"], report["processors"]) == (2, 2)
    assert 0.3 < report["share"] < 1.5
    assert report["share_with_start"] < report["share"]
    rounds, alone = report["together"], report["alone"]
    assert len(alone) == len(rounds) + 1
    assert report["seconds"] == pytest.approx(sum(report["games"] / len(rounds) / speed for speed in rounds))
    means = [(before + after) / 2 for before, after in itertools.pairwise(alone)]
    assert report["shares"] == pytest.approx([speed / mean for speed, mean in zip(rounds, means, strict=True)])
