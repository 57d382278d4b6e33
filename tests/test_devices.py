"""Training on several devices gives the losses of one; on the same number of devices, the same bits."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from device_runs import config_of, outcome_of

from cardai.errors import CardaiError
from cardai.evaluators import settings
from cardai.evaluators.training import checkpoint, processes
from cardai.evaluators.training.config import TrainConfig, read_config
from cardai.measure.bench import run_match
from cardai.registry import load

ROOT = Path(__file__).parent.parent
FOUR = "--xla_force_host_platform_device_count=4"


def environment(flags=""):
    flags = f"{flags} {os.environ.get('XLA_FLAGS', '')}"
    return os.environ | {"XLA_FLAGS": flags, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    file = tmp_path_factory.mktemp("games") / "ttt.jsonl"
    run_match(load("tictactoe"), ["random", "random"], 600, seed=3, rotate=False, record=file)
    return file


@pytest.fixture(scope="module")
def outcomes(games, tmp_path_factory):
    """What `device_runs.py` prints, see there."""
    command = [sys.executable, str(ROOT / "tests/device_runs.py"), str(games), str(tmp_path_factory.mktemp("runs"))]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(FOUR))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("devices", ["2", "4"])
def test_several_devices_give_the_losses_of_one(outcomes, devices):
    one, several = outcomes["1"], outcomes[devices]
    assert len(one["losses"]) == 8
    np.testing.assert_allclose(several["losses"], one["losses"], rtol=0, atol=1e-5)
    np.testing.assert_allclose(several["validations"], one["validations"], rtol=0, atol=1e-5)
    assert max(one["losses"]) - min(one["losses"]) > 1e-3


def test_the_gradients_of_several_devices_are_added_up_in_the_compiled_step(outcomes):
    assert outcomes["all-reduce"] == {"1": False, "4": True}


def test_the_same_number_of_devices_gives_the_same_bits(outcomes):
    assert outcomes["4"]["digest"] == outcomes["4 again"]["digest"]
    assert outcomes["4"]["losses"] == outcomes["4 again"]["losses"]


@pytest.mark.parametrize("devices", [1, 2, 4])
def test_a_run_stopped_on_four_devices_continues_on_any_number(outcomes, devices):
    restored, whole = outcomes[f"restored {devices}"], outcomes["4"]
    np.testing.assert_allclose(restored["losses"], whole["losses"], rtol=0, atol=1e-5)
    if devices == 4:
        assert restored["digest"] == whole["digest"]


def test_a_report_names_the_devices_only_if_there_are_several(outcomes):
    assert "devices" not in outcomes["1"]["report"]
    assert outcomes["4"]["report"]["devices"] == {"total": 4, "processes": 1, "states_per_second": {}}


def test_a_batch_that_cannot_be_divided_and_devices_that_are_not_there_are_refused_in_a_sentence(outcomes):
    indivisible, too_many, too_large = outcomes["refused"]
    assert indivisible.startswith("batch 255 cannot be divided evenly among 4 devices")
    assert too_many.startswith("devices 5: JAX finds 4 here (cpu)")
    assert "batch 1000000 is larger than the" in too_large
    assert not any("\n" in sentence for sentence in outcomes["refused"])


def test_auto_takes_one_device_unless_all_are_faster_and_says_so(outcomes):
    one, every = outcomes["auto"]["one"], outcomes["auto"]["all"]
    assert (one["total"], every["total"]) == (1, 4)
    assert one["states_per_second"] == {"1": 2560, "4": 1280}
    assert "on 1 device (measured: 2,560 states/s on 1, 1,280 states/s on 4)" in one["title"]
    assert "on 4 devices (measured: 1,280 states/s on 1, 2,560 states/s on 4)" in every["title"]


def test_auto_measures_as_many_devices_as_divide_the_batch(outcomes):
    assert set(outcomes["measured"]["states_per_second"]) == {"1", "2"}  # batch 254


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", "true", "5000"])
def test_devices_must_be_a_number_or_auto(value):
    fields = {"game": "tictactoe", "data": "x", "out": "x"}
    with pytest.raises(CardaiError, match="devices must be 1 to 4096, or auto"):
        read_config(None, fields | {"devices": value})


def test_devices_are_no_part_of_a_runs_identity():
    one, four = (TrainConfig(game="tictactoe", data=("x",), out="x", devices=devices) for devices in (1, "4"))
    assert four.devices == 4
    assert one.fingerprint() == four.fingerprint()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("host:1", "2", None), "coordinator, processes and process belong together"),
        (("host:1", "2", 2), "process must be 0 to 1 for 2 processes, not 2"),
        (("host", "2", 0), "coordinator must be HOST:PORT"),
        (("host:1", "some", 0), "processes must be a number or auto, not 'some'"),
        (("host:1", "auto", 0), "processes auto: Slurm or Open MPI says"),
    ],
)
def test_processes_that_cannot_come_together_are_refused_in_a_sentence(given, said):
    with pytest.raises(CardaiError, match=said):
        processes.join_as_told(*given)


@pytest.fixture
def started(games, tmp_path):
    """Starts `cardai train` in one or two processes on loopback. The second one names a folder that stays empty."""
    running = []

    def start(name, count, **fields):
        settings.write(config_of(games, tmp_path / name, **fields), tmp_path / "run.toml")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        for i in range(count):
            together = ["--coordinator", f"127.0.0.1:{port}", "--processes", str(count), "--process", str(i)]
            command = [sys.executable, "-m", "cardai", "train", str(tmp_path / "run.toml")]
            command += together if count > 1 else []
            command += ["--out", str(tmp_path / "nothing")] if i else []
            running.append(
                subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
            )
        return running[-count:]

    yield start
    for process in running:
        process.kill()
        process.communicate()


def ended(processes):
    """What they printed and said, once all have ended without an error."""
    texts = [process.communicate(timeout=300) for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), texts
    return texts


@pytest.mark.slow
def test_two_processes_train_as_one_does(started, tmp_path):
    ended(started("alone", 1))
    first, second = ended(started("together", 2))
    alone, together = outcome_of(tmp_path / "alone"), outcome_of(tmp_path / "together")
    np.testing.assert_allclose(together["losses"], alone["losses"], rtol=0, atol=1e-7)
    np.testing.assert_allclose(together["validations"], alone["validations"], rtol=0, atol=1e-7)
    assert len(alone["losses"]) == 8
    assert "on 2 devices of 2 processes" in " ".join(first[0].split())
    assert "BCE" in first[0]
    assert "BCE" not in second[0]
    assert not (tmp_path / "nothing").exists()


@pytest.mark.slow
def test_if_a_process_is_killed_the_other_ends_and_all_go_on_from_the_last_checkpoint(started, tmp_path):
    long = {"steps": 900, "check_steps": 50, "checkpoint_minutes": 0.0}
    first, second = started("together", 2, **long)
    wait_for(lambda: checkpoint.listed(tmp_path / "together"))
    second.kill()
    _, said = first.communicate(timeout=120)
    assert first.returncode != 0
    assert "another process of this training has ended" in " ".join(said.split())
    newest = checkpoint.listed(tmp_path / "together")[-1]
    assert 0 < int(newest.stem.split("-")[1]) < 900
    ended(started("together", 2, **long))
    assert outcome_of(tmp_path / "together")["report"]["steps"] == 900


@pytest.mark.slow
def test_processes_of_which_one_is_refused_all_end_with_a_sentence(started, tmp_path):
    (tmp_path / "together").mkdir()
    (tmp_path / "together" / "thesis.txt").write_text("mine")
    first, second = started("together", 2)
    sentences = [" ".join(process.communicate(timeout=120)[1].split()) for process in (first, second)]
    assert [process.returncode for process in (first, second)] == [2, 2]
    assert "together is not a run's folder" in sentences[0]
    assert "process 0: " in sentences[1]
    assert "together is not a run's folder" in sentences[1]


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
