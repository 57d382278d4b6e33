"""Training runs on four virtual devices, in a process of their own, because JAX counts its devices once.

    XLA_FLAGS=--xla_force_host_platform_device_count=4 python tests/device_runs.py GAMES FOLDER

prints what the runs came to as JSON.
"""

import hashlib
import json
import shutil
import signal
import sys
from pathlib import Path

import jax

from cardai.errors import CardaiError
from cardai.evaluators.training import checkpoint, run_folder, run_log, start
from cardai.evaluators.training.batches import collect
from cardai.evaluators.training.config import TrainConfig
from cardai.evaluators.training.devices import devices_of
from cardai.evaluators.training.job import TrainingJob
from cardai.evaluators.training.show_training import table
from cardai.evaluators.training.train import train
from cardai.evaluators.training.trainer import Trainer
from cardai.registry import load

STEPS, STOPPED = 8, 3


def config_of(games, out, **fields):
    """A run whose every step is in its history, with all that a step can change: dropout, statistics, an average."""
    usual = {
        "game": "tictactoe", "data": (str(games),), "options": {"hidden": [16], "dropout": 0.1}, "batch": 256,
        "epochs": 0, "steps": STEPS, "check_steps": 1, "parts": (0.8, 0.1, 0.1), "ema": 0.9, "optimiser": "adamw",
        "weight_decay": 0.01, "clip": 1.0, "learning_rate": 3e-3, "device": "cpu", "threads": 1,
    }  # fmt: skip
    return TrainConfig(**{**usual, "out": str(out), **fields})


def outcome_of(folder):
    """The losses of every step, the validations, a digest of everything in the last checkpoint, and the report."""
    lines = [json.loads(line) for line in (Path(folder) / run_folder.HISTORY).read_text().splitlines()]
    tensors = checkpoint.load(checkpoint.listed(folder)[-1], {}).tensors
    digest = hashlib.sha256(b"".join(tensors[name].tobytes() for name in sorted(tensors)))
    return {
        "losses": [line["loss"] for line in lines],
        "validations": [line["validation"]["bce"] for line in lines],
        "digest": digest.hexdigest(),
        "report": json.loads((Path(folder) / run_folder.REPORT).read_text()),
    }


def main(games, folder):
    jax.config.update("jax_compilation_cache_dir", str(folder / "xla"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    outcomes = {}
    for name, devices in (("1", 1), ("2", 2), ("4", 4), ("4 again", 4)):
        train(config_of(games, folder / name, devices=devices))
        outcomes[name] = outcome_of(folder / name)
    interrupt(config_of(games, folder / "stopped", devices=4))
    for devices in (1, 2, 4):
        shutil.copytree(folder / "stopped", folder / f"restored {devices}")
        train(config_of(games, folder / f"restored {devices}", devices=devices))
        outcomes[f"restored {devices}"] = outcome_of(folder / f"restored {devices}")
    outcomes["all-reduce"] = {devices: "all-reduce" in program(games, folder, devices) for devices in (1, 4)}
    outcomes["refused"] = [
        refused(config_of(games, folder / "x", **fields))
        for fields in ({"devices": 4, "batch": 255}, {"devices": 5}, {"devices": 4, "batch": 10**6})
    ]
    outcomes["auto"] = {which: automatic(games, folder, which) for which in ("one", "all")}
    train(config_of(games, folder / "measured", devices="auto", batch=254, steps=2))
    outcomes["measured"] = outcome_of(folder / "measured")["report"]["devices"]
    print(json.dumps(outcomes))


def interrupt(config):
    """Run until step STOPPED, then as if Ctrl-C were pressed."""
    show = run_log.RunProgress.show
    run_log.RunProgress.show = lambda self, status: status.step == STOPPED and signal.raise_signal(signal.SIGINT)
    try:
        train(config)
    except KeyboardInterrupt:
        return
    finally:
        run_log.RunProgress.show = show
    raise AssertionError("the run was not interrupted")


def program(games, folder, devices):
    """The text of the compiled step."""
    config = config_of(games, folder / "x", devices=devices)
    game = load("tictactoe")
    job = TrainingJob(config, game, collect(config, game), devices_of(config))
    trainer = Trainer(start.initial_network(config, job.dataset), config, STEPS, job.devices)
    batch = job.fetch(job.training[: config.batch])
    return trainer.step.lower(job.devices.whole(trainer.start()), *batch).compile().as_text()


def refused(config):
    try:
        train(config)
    except CardaiError as error:
        return str(error)
    return ""


def automatic(games, folder, which):
    """The number of devices in the report and the title, if one device, or all, were measured as the fastest."""
    seconds = {"one": {1: 0.1, 4: 0.2}, "all": {1: 0.2, 4: 0.1}}[which]
    measured = start.step_timer
    start.step_timer = lambda job: lambda least: seconds[len(job.devices.own)]
    try:
        result = train(config_of(games, folder / which, devices="auto"))
    finally:
        start.step_timer = measured
    return {**outcome_of(folder / which)["report"]["devices"], "title": table(result).title}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
