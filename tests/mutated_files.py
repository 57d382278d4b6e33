"""Mutated files of every kind that cardai reads, and what its readers make of them.

    python tests/mutated_files.py                                # 10,000 files: a table of outcomes by kind
    python tests/mutated_files.py --kind record --seed 17        # one of them again, with its traceback

A kind is a sound file, ways to change it (bytes, or values in its JSON or TOML) and the readers that get the result. An
outcome is "refused" (a CardaiError, or exit code 2), "accepted" (the file is still sound, as far as it is read), or a
failure: "traceback", "memory", "slow" or "control" (a control character was printed).
"""

import argparse
import base64
import collections
import contextlib
import copy
import functools
import gzip
import hashlib
import io
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import cardai
from cardai.cli.main import run
from cardai.errors import CardaiError
from cardai.files.tensors import digested, undigested
from cardai.records.dataset import collect
from cardai.records.recipe import Recipe
from cardai.records.record import read, verify
from cardai.records.selfplay import simulate, simulate_shards

MOST_MEMORY = 500e6  # bytes
MOST_SECONDS = 10.0  # of processor time
HANGS = 60.0  # seconds
FAILURES = ("traceback", "memory", "slow", "control")
GAME = cardai.load("tictactoe")
POOL = {"random": 1.0, "greedy:open_lines": 1.0}
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True)
class Kind:
    """A kind of file. In a fresh copy of `folder` one of the `files` is changed, then the readers get the folder."""

    folder: Path
    files: tuple[str, ...]
    readers: tuple[Callable[[Path], object], ...]
    share: int  # of the files of a run
    mutate: Callable[[random.Random, Path], None] | None = None  # by the ending of the file if None


@dataclass(frozen=True)
class Outcome:
    kind: str
    seed: int
    outcome: str
    seconds: float
    megabytes: float
    detail: str = ""


# Mutations of bytes


def damaged(rng: random.Random, content: bytes) -> bytes:
    """Some bytes flipped, cut off, doubled, left out, replaced, inserted, or all of them compressed."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        at, size, all_of_it = rng.randrange(len(changed) + 1), rng.choice((1, 1, 2, 8, 64, 1000)), bytes(changed)
        here, some = slice(at, at + size), changed[at : at + size]
        places_and_bytes = [
            (here, bytes(byte ^ 1 << rng.randrange(8) for byte in some)),
            (slice(at, None), b""),
            (here, b""),
            (slice(at, at), some),
            (here, bytes(len(some))),
            (slice(at, at), rng.randbytes(size)),
            (here, rng.choice(TOKENS)),
            (slice(at, at), rng.choice(TOKENS)),
            (slice(None), rng.choice((gzip.compress, zlib.compress))(all_of_it)),
            (slice(None), rng.choice((b"", b"\n", bytes(4096), all_of_it[::-1]))),
        ]
        where, other = rng.choice(places_and_bytes)
        changed[where] = other
    return bytes(changed)


def lightly_damaged(content: bytes, places: Iterator[int]) -> Iterator[bytes]:
    """Content with a bit flipped, cut off, or with two unlike bytes changed round, at each of these places."""
    rng = random.Random(0)
    for number, at in enumerate(places):
        changed = bytearray(content)
        match number % 3:
            case 0:
                changed[at] ^= 1 << rng.randrange(8)
            case 1:
                del changed[at:]
            case 2:
                other = rng.choice([place for place, byte in enumerate(content) if byte != content[at]])
                changed[at], changed[other] = content[other], content[at]
        yield bytes(changed)


TOKENS = (
    b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b"[" * 3000, b'{"a":' * 3000, b'"\\ud800"', b"\x1b[31m", b"\xff\xfe",
    "\u202e".encode(), b"\x00", b'"', b"}", b"]", b",", b"\n", b"null", b"true", b"-1", b"0.5", b"[]", b"{}", b"= 1\n",
    b"[[a]]\n", b"a.b.c = 1\n", b"\r\n", b"18446744073709551616", b"1_0", b"0x" + b"f" * 5000,
    b"a." * 2000 + b"a = 1\n",
)  # fmt: skip


def special(rng: random.Random, place: Path) -> None:
    """Something else in place of a file: a pipe, a device, a folder, a link, nothing, or a bomb."""
    place.unlink()
    target = rng.choice(("/dev/zero", "/dev/null", place, "missing"))
    rng.choice(
        (
            *[lambda: place.symlink_to(target)] * 4,
            *(lambda: os.mkfifo(place), place.mkdir, place.touch, lambda: place.write_bytes(_bomb())),
        )
    )()


@functools.cache
def _bomb() -> bytes:
    return gzip.compress(bytes(200_000_000), 9)


# Mutations of values


class Text(str):
    """A text that is written as it is, without quotes."""


class Twice(dict):
    """A table that is written with its first name twice."""


def nasty(rng: random.Random, value: object) -> object:
    """Another value: of another type, out of range, too long, too deep, or near the old one."""
    levels = rng.choice((70, 900, 20_000))
    deep = rng.choice((Text("[" * levels + "]" * levels), Text('{"a":' * levels + "1" + "}" * levels)))
    choices: list[object] = [
        None, True, False, 0, 1, -1, 2, 63, 2**31, 2**63, 2**64, -(2**63), 10**30, 10**4000, 0.5, -0.5, 1e308,
        float("nan"), float("inf"), "", "0", "a", "\x1b[31mred\x1b[0m", "\u202eabc", "\ud800", "[/x]", "[red]",
        "\x00", "a" * 100_000, "{}", "%s", "../../etc/passwd", "?", "\n\n", [], {}, [0], [[]], {"a": 1}, [1] * 100_000,
        deep, ["a", 1, None],
    ]  # fmt: skip
    if type(value) is int:
        choices += [value + 1, value - 1, -value, value * 10**6, float(value), str(value)] * 3
    if isinstance(value, float):
        choices += [value / 2, 1 - value, int(value) if math.isfinite(value) else 0] * 3
    if isinstance(value, str):
        choices += [value[:-1], value + "x", value.upper(), value * 100, value[::-1]] * 3
    if isinstance(value, list):
        choices += [value[:-1], value + value[:1], value[::-1], value * 100] * 3
    if isinstance(value, dict):
        choices += [
            Twice(value),
            dict(list(value.items())[1:]),
            {**value, "extra": 1},
            dict(reversed(value.items())),
        ] * 3
    return rng.choice(choices)


def changed(rng: random.Random, value: object) -> object:
    """A JSON value of which one part, anywhere, is another one, is missing, or has another name."""
    value = copy.deepcopy(value)
    holder, place, inside = [value], 0, value
    while isinstance(inside, dict | list) and inside and rng.random() < 0.8:
        holder, place = inside, rng.choice(list(inside)) if isinstance(inside, dict) else rng.randrange(len(inside))
        inside = holder[place]
    if holder[0:1] == [value] if isinstance(holder, list) else False:
        return nasty(rng, value)
    match rng.randrange(6):
        case 0:
            del holder[place]
        case 1 if isinstance(holder, dict):
            holder[rng.choice(("x", "", "\x1b[31m", place.upper()))] = holder.pop(place)
        case _:
            holder[place] = nasty(rng, inside)
    return value


def as_json(value: object, indent: int | None = None) -> str:
    """A value as JSON text, also with names twice and with numbers that are not finite."""
    if isinstance(value, Text):
        return value
    if isinstance(value, Twice) and value:
        name = next(iter(value))
        return f"{{{json.dumps(name)}:{as_json(value[name])},{as_json(dict(value))[1:]}"
    if isinstance(value, dict):
        return f"{{{','.join(f'{json.dumps(str(name))}:{as_json(item)}' for name, item in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(as_json, value))}]"
    if type(value) is int:
        return str(value) if abs(value) < 10**100 else "9" * 4001
    return json.dumps(value)


def bytes_mutated(rng: random.Random, place: Path, share: float) -> bool:
    """Change a file without regard to its format, as often as `share` says. Returns False if it was left as it was."""
    lot = rng.random()
    if lot < 0.08:
        special(rng, place)
    elif lot < share:
        place.write_bytes(damaged(rng, place.read_bytes()))
    return lot < share


def json_mutation(rng: random.Random, place: Path, again: Callable[[object], object] = lambda value: value) -> None:
    """Change a file of JSON by its bytes or by its values. `again`: seals changed values, so that readers go on."""
    if not bytes_mutated(rng, place, 0.35):
        value = changed(rng, json.loads(place.read_text("utf-8")))
        with contextlib.suppress(Exception):
            value = again(value)
        place.write_text(as_json(value), "utf-8", "surrogatepass")


def lines_mutation(rng: random.Random, place: Path) -> None:
    """Change a file of JSON lines."""
    if not bytes_mutated(rng, place, 0.35):
        lines = place.read_text("utf-8").splitlines()
        at = rng.randrange(len(lines))
        lines[at] = as_json(changed(rng, json.loads(lines[at])))
        place.write_text("\n".join(lines) + "\n", "utf-8", "surrogatepass")


def toml_mutation(rng: random.Random, place: Path) -> None:
    """Change a file of TOML by its bytes or by its lines."""
    if not bytes_mutated(rng, place, 0.3):
        lines = place.read_text("utf-8").splitlines()
        for _ in range(rng.choice((1, 1, 2))):
            at = rng.randrange(len(lines))
            name, equals, _ = lines[at].partition("=")
            match rng.randrange(6):
                case 0:
                    del lines[at]
                case 1:
                    lines.insert(rng.randrange(len(lines)), lines[at])
                case 2:
                    lines[at] = rng.choice(("x", "[x]", "a.b", '"', "\x1b[31m", "[[a]]")) + lines[at]
                case _:
                    lines[at] = f"{name}= {rng.choice(TOML_VALUES)}" if equals else rng.choice(TOML_VALUES)
        place.write_text("\n".join(lines) + "\n", "utf-8")


TOML_VALUES = (
    "0", "1", "-1", "2", "0.5", "nan", "inf", "-inf", "true", '""', '"a"', "[]", "{}", "[1, 2]", '["a"]', "1e308",
    "9" * 5000, "0x" + "f" * 5000, "9223372036854775808", "10000000000000000000000", "1979-05-27", "07:32:00",
    "[" * 900 + "]" * 900, "{a = " * 900 + "1" + "}" * 900, '"\\u001b[31m"', '"\\u202e"', '"' + "a" * 100_000 + '"',
    "[" + "1, " * 100_000 + "]", '"\\ud800"', "{a = 1, a = 2}", "'''\n\n'''", '"?"', '"[/x]"', '"mlp"', "[8]",
    "[100000000]", "1e-300", "99999999999", "{" + "a." * 3000 + "a = 1}", '"cnn"', '"' + "é" * 50 + '"', "9999-99-99",
)  # fmt: skip


# Records


def resealed(lines: list[dict[str, object]]) -> bytes:
    """Lines of a record with their checksums and the digest at the end."""
    digest, content = hashlib.blake2b(digest_size=16), b""
    for line in lines:
        line.pop("sum", None)
        if "digest" in line:
            line["digest"] = digest.hexdigest()
        body = as_json(line).encode("utf-8", "surrogatepass")[:-1]
        text = body + b',"sum":"' + hashlib.blake2b(body, digest_size=8).hexdigest().encode() + b'"}\n'
        digest.update(text)
        content += text
    return content


def record_mutation(rng: random.Random, place: Path) -> None:
    """Change a record by its bytes, or by its values with right checksums."""
    lot, content = rng.random(), place.read_bytes()
    packed = content[:2] == b"\x1f\x8b"
    text = gzip.decompress(content) if packed else content
    if lot < 0.08:
        special(rng, place)
        return
    if lot < 0.3:
        place.write_bytes(damaged(rng, content))
        return
    if lot < 0.4 and packed:
        place.write_bytes(gzip.compress(damaged(rng, text)))
        return
    lines = [json.loads(line) for line in text.splitlines()]
    for _ in range(rng.choice((1, 1, 2))):
        at = rng.choice((0, 0, rng.randrange(len(lines)), len(lines) - 1))
        if rng.random() < 0.2:
            lines[at] = rng.choice((bomb(lines), swollen(rng, lines[at])))[0]
        else:
            mutant = changed(rng, lines[at])
            lines[at] = mutant if isinstance(mutant, dict) else {"x": mutant}
    if rng.random() < 0.1:
        lines[1:2] = []
    place.write_bytes(gzip.compress(resealed(lines)) if packed else resealed(lines))


def bomb(lines: list[dict[str, object]]) -> tuple[dict[str, object]]:
    """A line with moves of 100 million bytes; the header allows as many plies."""
    lines[0]["max_plies"] = 2**27
    line = dict(lines[min(1, len(lines) - 1)])
    line |= {"plies": [12_500_000], "moves": _packed_zeros()}
    return (line,)


@functools.cache
def _packed_zeros() -> str:
    return base64.b64encode(zlib.compress(bytes(100_000_000), 9)).decode()


def swollen(rng: random.Random, line: dict[str, object]) -> tuple[dict[str, object]]:
    """A line with a value of a few megabytes."""
    name = rng.choice(list(line))
    large = rng.choice(
        ("a" * 3_000_000, [0] * 1_000_000, ["ab"] * 500_000, [[]] * 500_000, {str(i): i for i in range(100_000)})
    )
    return ({**line, name: large},)


def quietly(*words: object) -> Callable[[Path], object]:
    """A reader that runs a command line. A word that begins with @ is a path in the folder."""

    def reader(folder: Path) -> object:
        tokens = [str(folder / str(word)[1:]) if str(word).startswith("@") else str(word) for word in words]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(tokens)
        printed = out.getvalue() + err.getvalue()
        if found := CONTROL.search(printed):
            raise PrintedControl(f"{found[0]!r} in {printed[max(0, found.start() - 40) :][:100]!r}")
        if code == 2:
            raise CardaiError(err.getvalue())
        return code

    return reader


class PrintedControl(Exception):
    """A control character came to the terminal."""


def safetensors_mutation(rng: random.Random, place: Path) -> None:
    """Change a file of tensors by its bytes, by its header, or by the metadata in it."""
    lot, content = rng.random(), place.read_bytes()
    if lot < 0.08:
        special(rng, place)
        return
    if lot < 0.3:
        place.write_bytes(damaged(rng, content))
        return
    if lot < 0.35:
        place.write_bytes(rng.randbytes(8) + content[8:])
        return
    content = undigested(content)
    size = int.from_bytes(content[:8], "little")
    header, rest = json.loads(content[8 : 8 + size]), content[8 + size :]
    if lot < 0.55:
        header = changed(rng, header)
    else:
        header["__metadata__"]["cardai"] = as_json(changed(rng, json.loads(header["__metadata__"]["cardai"])))
    text = as_json(header).encode("utf-8", "surrogatepass")
    text += b" " * (-len(text) % 8)
    content = len(text).to_bytes(8, "little") + text + rest
    place.write_bytes(digested(content) if rng.random() < 0.8 else content)


# The kinds


def kinds(folder: Path) -> dict[str, Kind]:
    """All kinds of files, made in a folder."""
    built: dict[str, Kind] = {}
    for make in (_records, _networks, _configs, _runs, _results, _scripts):
        built |= make(folder)
    return built


def _fresh(folder: Path, name: str) -> Path:
    place = folder / name
    place.mkdir()
    return place


def _records(folder: Path) -> dict[str, Kind]:
    plain, packed, shards, pair = (_fresh(folder, name) for name in ("plain", "packed", "shards", "pair"))
    simulate(GAME, POOL, 6, out=plain / "r.jsonl", seed=1)
    simulate(GAME, POOL, 6, out=packed / "r.jsonl.gz", seed=1)
    simulate(GAME, POOL, 5, out=pair / "a.jsonl", seed=3)
    simulate(GAME, POOL, 5, out=pair / "b.jsonl.gz", seed=4)

    def readers(name: str) -> tuple[Callable[[Path], object], ...]:
        return (
            lambda place: verify(place / name),
            lambda place: list(read(place / name)),
            lambda place: collect([place / name], Recipe()),
            quietly("replay", f"@{name}", "--verify"),
            quietly("replay", f"@{name}", "--verify", "--json"),
            quietly("replay", f"@{name}", "--game", 1),
        )

    def resume(place: Path) -> object:
        return simulate_shards(GAME, POOL, 8, folder=place, shard=4, seed=2)

    resume(shards)
    in_shards = ("simulation.json", "games-000000000-000000003.jsonl.gz")
    return {
        "record": Kind(plain, ("r.jsonl",), readers("r.jsonl"), 24),
        "packed record": Kind(packed, ("r.jsonl.gz",), readers("r.jsonl.gz"), 14),
        "self-play folder": Kind(shards, in_shards, (resume,), 10),
        "dataset": Kind(pair, ("a.jsonl", "b.jsonl.gz"), (lambda place: collect([place], Recipe(per_game=2)),), 8),
    }


def _networks(folder: Path) -> dict[str, Kind]:
    from cardai.evaluators import model as models
    from cardai.evaluators.policies import policy as policies
    from cardai.evaluators.policies.decisions import DecisionEncoder
    from cardai.evaluators.policies.network import Network, initialised

    model, policy, name = _fresh(folder, "model"), _fresh(folder, "policy"), "n.safetensors"
    shutil.copy(models.SHIPPED / "tictactoe" / "mlp.safetensors", model / name)
    encoder = DecisionEncoder(GAME, 2)
    network = initialised(lambda: Network(encoder.width, (8,), encoder.actions), 0)
    policies.Policy.of(encoder, network, GAME.default_variant).save(policy / name)
    readers = (lambda place: models.read_metadata(place / name), lambda place: models.load(place / name))
    return {
        "model": Kind(model, (name,), readers, 8),
        "policy": Kind(policy, (name,), (lambda place: policies.load(place / name),), 6),
    }


def _configs(folder: Path) -> dict[str, Kind]:
    from cardai.evaluators.training.config import TrainConfig
    from cardai.evaluators.training.iterate_config import IterateConfig
    from cardai.files import settings

    train, iterate, name = _fresh(folder, "train"), _fresh(folder, "iterate-config"), "config.toml"
    settings.write(TrainConfig(game="tictactoe", data=("games",), out="run", agents=("random",)), train / name)
    settings.write(IterateConfig(game="tictactoe", out="run", pool=("random@2",)), iterate / name)
    return {
        "training config": Kind(
            train, (name,), (lambda place: settings.fingerprint(settings.read(TrainConfig, place / name)),), 8
        ),
        "iterate config": Kind(
            iterate, (name,), (lambda place: settings.as_toml(settings.read(IterateConfig, place / name)),), 6
        ),
    }


def _runs(folder: Path) -> dict[str, Kind]:
    from cardai.evaluators.training import checkpoint
    from cardai.evaluators.training.generations import IterateReport
    from cardai.evaluators.training.iterate_folder import IterateFolder
    from cardai.evaluators.training.show_generations import table
    from cardai.measure.duel import duel

    checkpoints, blocks, generations = (_fresh(folder, name) for name in ("checkpoints", "duel", "generations"))
    tensors = {"params/kernel": np.arange(12, dtype=np.float32), "best/kernel": np.zeros((0, 3), np.float32)}
    line = {"step": 3, "epoch": 0.5, "loss": 0.6, "learning_rate": 0.1, "validation": {"bce": 0.6}}
    status = {"planned": 0, "step": 3, "seconds": 1.5, "history": [line], "best": line, "best_step": 3, "stopped": ""}
    names = ("timed_seconds", "timed_steps", "loss", "losses", "worse")
    status |= dict(zip(names, (1.0, 2, 0.5, 1, 0), strict=True))
    checkpoint.save(checkpoints, checkpoint.Checkpoint(3, {"config": "a"}, tensors, status))

    def continued(place: Path) -> object:
        from cardai.evaluators.training import run_status, train

        newest = checkpoint.newest(place, {"config": "a"})
        make = getattr(train, "_status", lambda _, newest: run_status.RunStatus(**newest.status))
        state = make(place, newest) if newest else run_status.RunStatus()
        state.is_time_up(1.0)
        state.states_per_second(8)
        if state.best is not None and state.best["validation"]:
            state.best["validation"]["bce"] + 0.5
        return [line["step"] + line["loss"] for line in state.history]

    def played(place: Path) -> object:
        return duel(GAME, "random", "greedy:open_lines", seats=2, folder=place, games=20)

    result = played(blocks)
    generation = _fresh(generations, "generation-001")
    steps = {
        "games": {"games": 20, "states": 150, "endless": 0, "scores": {"random": 40.5, "greedy:open_lines": 60.0}},
        "training": {"learned": 100, "steps": 60, "bce": {"validation": 0.6, "test": None}},
        "benchmark": {"champion": "random", "duel": result.as_json(), "strength": result.as_json()},
        "seconds": {"games": 1.5, "training": 2},
    }
    for name, content in steps.items():
        (generation / f"{name}.json").write_text(json.dumps(content))

    def reported(place: Path) -> object:
        from rich.console import Console

        run_folder = IterateFolder(place)
        one = run_folder.read_generation(1)
        best = max(run_folder.scores().items(), key=lambda pair: pair[1])[0]
        report = IterateReport("t", "t", 50.0, {}, best, 1 if one.is_promoted else 0, "m", "generations", (one,))
        text = io.StringIO()
        Console(file=text, width=200).print(table(report))
        if found := CONTROL.search(text.getvalue()):
            raise PrintedControl(repr(found[0]))
        return json.dumps(report.as_json())

    return {
        "checkpoint": Kind(checkpoints, ("checkpoint-000000003.safetensors",), (continued,), 6),
        "duel block": Kind(blocks, ("0000.npz",), (played,), 4),
        "generation": Kind(generations, tuple(f"{generation.name}/{name}.json" for name in steps), (reported,), 6),
    }


def npz_mutation(rng: random.Random, place: Path) -> None:
    if not bytes_mutated(rng, place, 0.5):
        scores, marks = np.zeros((10, 2, 2), np.float32), np.zeros((10, 8), np.uint8)
        other = rng.choice(
            (
                {"scores": np.array([{"a": 1}], object)},
                {"scores": scores.astype(rng.choice(("f8", "U4", "c16", "M8[s]", "?", ">f4")))},
                {"scores": np.full_like(scores, rng.choice((np.nan, np.inf, -1e30, 5)))},
                {"marks": np.zeros((10**8,), np.uint8)},
                {"marks": np.zeros(rng.choice(((), (0,), (10, 9), (8, 10))), np.uint8)},
                *({}, {}),
            )
        )
        arrays = {"scores": scores, "marks": marks, "x\x1b": np.zeros(3), **other}
        for name in rng.sample(list(arrays), rng.choice((0, 1))):
            del arrays[name]
        np.savez_compressed(place, **arrays)
        if rng.random() < 0.5:
            content = place.read_bytes()
            at = content.find(b"'shape'")
            place.write_bytes(
                damaged(rng, content) if at < 0 else content[:at] + b"'shape': (999999999999,), " + content[at:]
            )


def _results(folder: Path) -> dict[str, Kind]:
    from cardai.experiments.machinery import lab, sealed
    from cardai.measure import history
    from cardai.measure.league import League

    root = Path(__file__).resolve().parents[1]
    pieces, report, ratings = (_fresh(folder, name) for name in ("pieces", "report", "ratings"))
    (pieces / "pieces").mkdir()
    content = {"experiment": "complexity", "bound": "", "key": "first", "value": {"point": 25.0, "rows": [1, 2, 3]}}
    sealed.write_sealed(pieces / "pieces" / "first.json", content)
    sealed.write_sealed(pieces / "pieces" / "first.seconds", {"seconds": 12.5})
    shutil.copy(root / "report" / "complexity.json", report / "complexity.json")
    (ratings / "h.jsonl").write_bytes((root / "report" / "ratings.jsonl").read_bytes())

    def seal(value: object) -> object:
        unsealed = {key: item for key, item in value.items() if key != "seal"}  # pyright: ignore
        return sealed.sealed(json.loads(as_json(unsealed)))

    def mutate(rng: random.Random, place: Path) -> None:
        if place.suffix == ".json":
            json_mutation(rng, place, seal if place.name == "complexity.json" else lambda value: value)
            return
        place.write_bytes(rng.choice((b"", b"x", b"nan", b"inf", b"-1", b"9" * 5000, b"\xff\xfe", b"1e5", b"\x1b[31m")))
        place.with_suffix(".json").unlink()

    def used(place: Path) -> object:
        return lab.Lab("complexity", place, "smoke", None).piece("first", lambda: {"point": 25.0, "rows": [1, 2, 3]})

    def compared(place: Path) -> object:
        run_before = history.last_run(place / "h.jsonl")
        league = League(0, 10, 1, (), {}, (), 1.0, False)
        comparison = history.compare(league, run_before).comparison
        if found := CONTROL.search(comparison.then + "".join(comparison.gone)):
            raise PrintedControl(repr(found[0]))
        return comparison

    piece = "pieces/first.json"
    return {
        "piece": Kind(pieces, (piece, piece, piece, "pieces/first.seconds"), (used,), 6, mutate),
        "report": Kind(report, ("complexity.json",), (quietly("report", "@."),), 1, mutate),
        "ratings": Kind(ratings, ("h.jsonl",), (compared,), 6, lines_mutation),
    }


def _scripts(folder: Path) -> dict[str, Kind]:
    scripts = _fresh(folder, "script")
    (scripts / "moves.txt").write_text("b2\na1\nc3\nq\n")
    command = ("play", "tictactoe", "--seats", "human,random", "--seed", 1, "--moves-from", "@moves.txt")
    return {"script": Kind(scripts, ("moves.txt",), (quietly(*command),), 4)}


MUTATIONS: dict[str, Callable[[random.Random, Path], object]] = {
    ".json": json_mutation,
    ".jsonl": record_mutation,
    ".gz": record_mutation,
    ".toml": toml_mutation,
    ".safetensors": safetensors_mutation,
    ".npz": npz_mutation,
    ".txt": functools.partial(bytes_mutated, share=1.0),
}
"""What changes a file, by its ending."""


# Trying


@contextlib.contextmanager
def watched() -> Iterator[dict[str, float]]:
    """Stop what takes more than `MOST_SECONDS`, or far more than `MOST_MEMORY`; measures time and memory."""
    usage: dict[str, float] = {}

    def stop(*_: object) -> None:
        raise TookTooLong

    before = {number: signal.signal(number, stop) for number in (signal.SIGALRM, signal.SIGPROF)}
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
    if pages:
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 3 * 10**9, hard))
    resident, began = _memory("VmRSS"), time.process_time()
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, HANGS)
    try:
        yield usage
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        usage["seconds"], usage["memory"] = time.process_time() - began, max(0.0, _memory("VmHWM") - resident)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        for number, handler in before.items():
            signal.signal(number, handler)


class TookTooLong(BaseException):
    """A reader takes more than `MOST_SECONDS`."""


def _memory(name: str) -> float:
    """A figure of this process's memory in bytes, 0 where the system does not tell."""
    status = Path("/proc/self/status")
    text = status.read_text() if status.exists() else ""
    found = re.search(rf"{name}:\s+(\d+) kB", text)
    return 1024.0 * int(found[1]) if found else 0.0


def attempt(name: str, kind: Kind, seed: int) -> Outcome:
    """Mutate a file and give it to all readers of its kind. The worst outcome counts."""
    rng = random.Random(f"{name} {seed}")
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary) / "f"
        shutil.copytree(kind.folder, place)
        file = place / rng.choice(kind.files)
        (kind.mutate or MUTATIONS[file.suffix])(rng, file)
        worst = Outcome(name, seed, "accepted", 0.0, 0.0)
        for number, reader in enumerate(kind.readers):
            work = Path(temporary) / f"w{number}"
            shutil.copytree(place, work, symlinks=True, copy_function=_linked)
            outcome, detail, usage = "accepted", "", {"seconds": 0.0, "memory": 0.0}
            try:
                with watched() as usage:
                    reader(work)
            except CardaiError as error:
                outcome, detail = "refused", str(error)
                if CONTROL.search(detail):
                    outcome = "control"
            except TookTooLong:
                outcome = "slow"
            except PrintedControl as error:
                outcome, detail = "control", str(error)
            except MemoryError:
                outcome, detail = "memory", traceback.format_exc()
            except (KeyboardInterrupt, GeneratorExit):
                raise
            except BaseException:
                outcome, detail = "traceback", traceback.format_exc()
            if usage["memory"] > MOST_MEMORY:
                outcome, detail = "memory", f"{usage['memory'] / 1e6:.0f} MB"
            found = Outcome(name, seed, outcome, usage["seconds"], usage["memory"] / 1e6, detail)
            if (_rank(found.outcome), found.seconds) > (_rank(worst.outcome), worst.seconds):
                worst = found
    return worst


def _linked(source: str, target: str) -> str:
    """Copy a file, or make a pipe where there is one."""
    if Path(source).is_fifo():
        os.mkfifo(target)
        return target
    return shutil.copy2(source, target, follow_symlinks=False)


def _rank(outcome: str) -> int:
    return ("accepted", "refused", *FAILURES).index(outcome)


def trials(total: int, known: dict[str, Kind]) -> Iterator[tuple[str, int]]:
    """Kinds and seeds of about `total` mutated files, by the kinds' shares."""
    shares = sum(kind.share for kind in known.values())
    for name, kind in known.items():
        for seed in range(-(-total * kind.share // shares)):
            yield name, seed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--kind")
    parser.add_argument("--seed", type=int)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        known = kinds(Path(temporary))
        wanted = [pair for pair in trials(asked.count, known) if asked.kind in (None, pair[0])]
        if asked.seed is not None:
            wanted = [(asked.kind, asked.seed)]
        counts: dict[str, collections.Counter] = {name: collections.Counter() for name in known}
        slowest = largest = 0.0
        failed, seen = 0, collections.Counter()
        for name, seed in wanted:
            outcome = attempt(name, known[name], seed)
            counts[name][outcome.outcome] += 1
            slowest, largest = max(slowest, outcome.seconds), max(largest, outcome.megabytes)
            if outcome.outcome in FAILURES or asked.seed is not None:
                failed += outcome.outcome in FAILURES
                last = outcome.detail.strip().splitlines()[-1:] or [""]
                seen[name, outcome.outcome, last[0][:80]] += 1
                if seen[name, outcome.outcome, last[0][:80]] == 1 or asked.seed is not None:
                    print(f"{name} --seed {seed}: {outcome.outcome} {outcome.seconds:.1f} s {outcome.megabytes:.0f} MB")
                    print(outcome.detail[-1800:], flush=True)
        print("kind", "files", "accepted", "refused", *FAILURES, sep="\t")
        for name, counter in counts.items():
            numbers = (counter[outcome] for outcome in ("accepted", "refused", *FAILURES))
            print(name, sum(counter.values()), *numbers, sep="\t")
        print(f"slowest {slowest:.2f} s, largest {largest:.0f} MB, {failed} failures of {len(wanted)}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
