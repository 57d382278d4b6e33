"""Training on several devices gives the losses of one; on the same number of devices, the same bits."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cardai.errors import CardaiError
from cardai.evaluators.training.config import TrainConfig
from cardai.files import settings
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
    assert outcomes["4"]["report"]["devices"] == {"total": 4, "states_per_second": {}}


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
        settings.read(TrainConfig, None, fields | {"devices": value})


def test_devices_are_no_part_of_a_runs_identity():
    one, four = (TrainConfig(game="tictactoe", data=("x",), out="x", devices=devices) for devices in (1, "4"))
    assert four.devices == 4
    assert settings.fingerprint(one) == settings.fingerprint(four)
