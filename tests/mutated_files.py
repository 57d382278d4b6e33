"""Mutated files of the kinds that people hand to each other or edit, and what readers make of them.

    python tests/mutated_files.py                                # 10,000 files: the outcomes by kind
    python tests/mutated_files.py --kind record --seed 17        # one of them again, with its traceback

A kind is a sound file, ways to change it (bytes, or values with right checksums) and the readers that get the result.
An outcome is "refused" (a CardaiError, or exit code 2), "accepted" (the file is still sound, as far as it is read), or
a failure: "traceback", "memory", "slow" or "control" (a control character was printed).
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
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
Mutation = Callable[[random.Random, bytes], bytes]


@dataclass(frozen=True)
class Kind:
    """A kind of file. In a fresh copy of `folder` one of the `files` is changed, then the readers get the folder."""

    folder: Path
    files: tuple[str, ...]
    readers: tuple[Callable[[Path], object], ...]
    share: int  # of the files of a run
    mutate: Mutation | None = None  # changes values; by the ending of the file if None


@dataclass(frozen=True)
class Outcome:
    kind: str
    seed: int
    outcome: str
    detail: str = ""


# Mutations of bytes


def damaged(rng: random.Random, content: bytes) -> bytes:
    """Some bytes flipped, cut off, doubled, left out, replaced, inserted, or all of them compressed."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        at, size = rng.randrange(len(changed) + 1), rng.choice((1, 1, 2, 8, 64, 1000))
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
            (slice(None), rng.choice((gzip.compress, zlib.compress))(bytes(changed))),
            (slice(None), rng.choice((b"", b"\n", bytes(4096), bytes(changed[::-1])))),
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
    links = [lambda: place.symlink_to(target)] * 4
    rng.choice([*links, lambda: os.mkfifo(place), place.mkdir, place.touch, lambda: place.write_bytes(_bomb())])()


@functools.cache
def _bomb() -> bytes:
    return gzip.compress(bytes(200_000_000), 9)


# Mutations of values


class Raw(str):
    """A text that is written as it is, without quotes."""


def nasty(rng: random.Random, value: Any) -> object:
    """Another value: of another type, out of range, too long, too deep, or near the old one."""
    levels = rng.choice((70, 900, 20_000))
    deep = rng.choice((Raw("[" * levels + "]" * levels), Raw('{"a":' * levels + "1" + "}" * levels)))
    choices: list[object] = [
        None, True, False, 0, 1, -1, 2, 63, 2**31, 2**63, 2**64, -(2**63), 10**30, Raw("9" * 4001), 0.5, -0.5, 1e308,
        float("nan"), float("inf"), "", "0", "a", "\x1b[31mred\x1b[0m", "\u202eabc", "\ud800", "[/x]", "\x00",
        "a" * 100_000, "{}", "%s", "../../etc/passwd", "?", "\n\n", [], {}, [0], [[]], {"a": 1}, [1] * 100_000, deep,
        ["a", 1, None],
    ]  # fmt: skip
    if isinstance(value, int | float):
        choices += [value + 1, value - 1, -value, value * 10**6, value / 2, str(value)] * 3
    if isinstance(value, str | list):
        choices += [value[:-1], value + value[:1], value[::-1], value * 100] * 3
    if isinstance(value, dict) and value:
        name, text = next(iter(value)), as_json(value)
        twice = Raw(f"{{{json.dumps(name)}:{as_json(value[name])},{text[1:]}")
        choices += [twice, dict([*value.items()][1:]), {**value, "extra": 1}, dict(reversed(value.items()))] * 3
    return rng.choice(choices)


def changed(rng: random.Random, value: object) -> object:
    """A JSON value of which one part, anywhere, is another one, is missing, or has another name."""
    holder: Any = [copy.deepcopy(value)]
    whole, place = holder, 0
    while isinstance(inside := holder[place], dict | list) and inside and rng.random() < 0.8:
        holder, place = inside, rng.choice(list(inside)) if isinstance(inside, dict) else rng.randrange(len(inside))
    match rng.randrange(6):
        case 0 if holder is not whole:
            del holder[place]
        case 1 if isinstance(holder, dict):
            holder[rng.choice(("x", "", "\x1b[31m", place.upper()))] = holder.pop(place)
        case _:
            holder[place] = nasty(rng, inside)
    return whole[0]


def as_json(value: object) -> str:
    """A value as JSON text, also with parts that are written as they are."""
    if isinstance(value, Raw):
        return value
    if isinstance(value, dict):
        return f"{{{','.join(f'{json.dumps(str(name))}:{as_json(item)}' for name, item in value.items())}}}"
    return f"[{','.join(map(as_json, value))}]" if isinstance(value, list | tuple) else json.dumps(value)


def _bytes(value: object) -> bytes:
    return as_json(value).encode("utf-8", "surrogatepass")


def json_mutation(rng: random.Random, content: bytes) -> bytes:
    return _bytes(changed(rng, json.loads(content)))


def lines_mutation(rng: random.Random, content: bytes) -> bytes:
    """One of the lines of JSON is another one."""
    lines = content.splitlines()
    at = rng.randrange(len(lines))
    lines[at] = _bytes(changed(rng, json.loads(lines[at])))
    return b"\n".join(lines) + b"\n"


def toml_mutation(rng: random.Random, content: bytes) -> bytes:
    """A line is missing, doubled, begins otherwise, or has another value."""
    lines = content.decode().splitlines()
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
    return "\n".join([*lines, ""]).encode()


TOML_VALUES = (
    "0", "1", "-1", "2", "0.5", "nan", "inf", "-inf", "true", '""', '"a"', "[]", "{}", "[1, 2]", '["a"]', "1e308",
    "9" * 5000, "0x" + "f" * 5000, "9223372036854775808", "10000000000000000000000", "1979-05-27", "07:32:00",
    "[" * 900 + "]" * 900, "{a = " * 900 + "1" + "}" * 900, '"\\u001b[31m"', '"\\u202e"', '"' + "a" * 100_000 + '"',
    "[" + "1, " * 100_000 + "]", '"\\ud800"', "{a = 1, a = 2}", "'''\n\n'''", '"?"', '"[/x]"', '"mlp"', "[8]",
    "[100000000]", "1e-300", "99999999999", "{" + "a." * 3000 + "a = 1}", '"cnn"', '"' + "é" * 50 + '"', "9999-99-99",
)  # fmt: skip


def resealed(lines: list[Any]) -> bytes:
    """Lines of a record with their checksums and the digest at the end."""
    digest, content = hashlib.blake2b(digest_size=16), b""
    for line in lines:
        line.pop("sum", None)
        if "digest" in line:
            line["digest"] = digest.hexdigest()
        body = _bytes(line)[:-1]
        text = body + b',"sum":"' + hashlib.blake2b(body, digest_size=8).hexdigest().encode() + b'"}\n'
        digest.update(text)
        content += text
    return content


def record_mutation(rng: random.Random, content: bytes) -> bytes:
    """Other values in a record with right checksums; or damage behind the compression."""
    packed = content[:2] == b"\x1f\x8b"
    text = gzip.decompress(content) if packed else content
    if packed and rng.random() < 0.15:
        return gzip.compress(damaged(rng, text))
    lines = [json.loads(line) for line in text.splitlines()]
    for _ in range(rng.choice((1, 1, 2))):
        at = rng.choice((0, 0, rng.randrange(len(lines)), len(lines) - 1))
        lot, mutant = rng.random(), changed(rng, lines[at])
        if lot < 0.1:  # moves of 100 million bytes; the header allows as many plies
            lines[0]["max_plies"] = 2**27
            mutant = {**lines[1], "plies": [12_500_000], "moves": packed_zeros()}
        elif lot < 0.2:  # a value of a few megabytes
            large = ("a" * 3_000_000, [0] * 1_000_000, [[]] * 500_000, {str(i): i for i in range(100_000)})
            mutant = {**lines[at], rng.choice(list(lines[at])): rng.choice(large)}
        lines[at] = mutant if isinstance(mutant, dict) else {"x": mutant}
    return gzip.compress(resealed(lines)) if packed else resealed(lines)


@functools.cache
def packed_zeros() -> str:
    """Moves that are 100 million bytes when they are unpacked."""
    return base64.b64encode(zlib.compress(bytes(100_000_000), 9)).decode()


def safetensors_mutation(rng: random.Random, content: bytes) -> bytes:
    """Another size or header of a file of tensors, or other metadata in it."""
    if rng.random() < 0.07:
        return rng.randbytes(8) + content[8:]
    content = undigested(content)
    size = int.from_bytes(content[:8], "little")
    header, rest = json.loads(content[8 : 8 + size]), content[8 + size :]
    if rng.random() < 0.3:
        header = changed(rng, header)
    else:
        header["__metadata__"]["cardai"] = as_json(changed(rng, json.loads(header["__metadata__"]["cardai"])))
    text = _bytes(header)
    text += b" " * (-len(text) % 8)
    content = len(text).to_bytes(8, "little") + text + rest
    return digested(content) if rng.random() < 0.8 else content


def quietly(*words: object) -> Callable[[Path], object]:
    """A reader that runs a command line. A word that begins with @ is a path in the folder."""

    def reader(folder: Path) -> object:
        tokens = [str(folder / str(word)[1:]) if str(word).startswith("@") else str(word) for word in words]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(tokens)
        printable(out.getvalue() + err.getvalue())
        if code == 2:
            raise CardaiError(err.getvalue())
        return code

    return reader


class PrintedControl(Exception):
    """A control character came to the terminal."""


def printable(printed: str) -> None:
    if found := CONTROL.search(printed):
        raise PrintedControl(f"{found[0]!r} in {printed[max(0, found.start() - 40) :][:100]!r}")


# The kinds


def kinds(folder: Path) -> dict[str, Kind]:
    """All kinds of files, made in a folder."""
    built: dict[str, Kind] = {}
    for make in (_records, _networks, _configs, _runs, _scripts):
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
    from cardai.evaluators.training import checkpoint, run_status
    from cardai.measure import history

    checkpoints, ratings = _fresh(folder, "checkpoints"), _fresh(folder, "ratings")
    tensors = {"params/kernel": np.arange(12, dtype=np.float32), "best/kernel": np.zeros((0, 3), np.float32)}
    line = {"step": 3, "epoch": 0.5, "loss": 0.6, "learning_rate": 0.1, "validation": {"bce": 0.6}}
    status = {"planned": 0, "step": 3, "seconds": 1.5, "history": [line], "best": line, "best_step": 3, "stopped": ""}
    names = ("timed_seconds", "timed_steps", "loss", "losses", "worse")
    status |= dict(zip(names, (1.0, 2, 0.5, 1, 0), strict=True))
    checkpoint.save(checkpoints, checkpoint.Checkpoint(3, {"config": "a"}, tensors, status))
    shutil.copy(Path(__file__).resolve().parents[1] / "report/ratings.jsonl", ratings / "h.jsonl")

    def continued(place: Path) -> object:
        from cardai.evaluators.training import train

        newest = checkpoint.newest(place, {"config": "a"})
        make = getattr(train, "_status", lambda _, newest: run_status.RunStatus(**newest.status))
        state = make(place, newest) if newest else run_status.RunStatus()
        state.is_time_up(1.0)
        state.states_per_second(8)
        if state.best is not None and state.best["validation"]:
            state.best["validation"]["bce"] + 0.5
        return [line["step"] + line["loss"] for line in state.history]

    def compared(place: Path) -> object:
        runs = history.read_history(place / "h.jsonl")
        comparison = history.changes(runs[0], runs[-1])
        printable(comparison.then + "".join(comparison.gone))
        return comparison

    return {
        "checkpoint": Kind(checkpoints, ("checkpoint-000000003.safetensors",), (continued,), 6),
        "ratings": Kind(ratings, ("h.jsonl",), (compared,), 6, lines_mutation),
    }


def _scripts(folder: Path) -> dict[str, Kind]:
    scripts = _fresh(folder, "script")
    (scripts / "moves.txt").write_text("b2\na1\nc3\nq\n")
    command = ("play", "tictactoe", "--seats", "human,random", "--seed", 1, "--moves-from", "@moves.txt")
    return {"script": Kind(scripts, ("moves.txt",), (quietly(*command),), 4)}


MUTATIONS: dict[str, Mutation] = {
    ".json": json_mutation,
    ".jsonl": record_mutation,
    ".gz": record_mutation,
    ".toml": toml_mutation,
    ".safetensors": safetensors_mutation,
    ".txt": damaged,
}
"""What changes the values in a file, by its ending."""


# Trying


@contextlib.contextmanager
def watched() -> Iterator[dict[str, float]]:
    """Stop what takes more than `MOST_SECONDS`, or far more than `MOST_MEMORY`; measures the memory."""
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
    resident = _memory("VmRSS")
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, HANGS)
    try:
        yield usage
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        usage["memory"] = max(0.0, _memory("VmHWM") - resident)
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
        lot, content = rng.random(), file.read_bytes()
        if lot < 0.08:
            special(rng, file)
        else:
            mutate = damaged if lot < 0.33 else kind.mutate or MUTATIONS[file.suffix]
            file.write_bytes(mutate(rng, content))
        found = [_read(name, seed, reader, place, Path(temporary) / f"w{i}") for i, reader in enumerate(kind.readers)]
    return max(found, key=lambda one: ("accepted", "refused", *FAILURES).index(one.outcome))


def _read(name: str, seed: int, reader: Callable[[Path], object], place: Path, work: Path) -> Outcome:
    """What a reader makes of a copy of a folder."""
    shutil.copytree(place, work, symlinks=True, copy_function=_linked)
    outcome, detail, usage = "accepted", "", {"memory": 0.0}
    try:
        with watched() as usage:
            reader(work)
    except CardaiError as error:
        outcome, detail = "control" if CONTROL.search(str(error)) else "refused", str(error)
    except TookTooLong:
        outcome = "slow"
    except PrintedControl as error:
        outcome, detail = "control", str(error)
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        outcome, detail = "memory" if isinstance(error, MemoryError) else "traceback", traceback.format_exc()
    if usage["memory"] > MOST_MEMORY:
        outcome, detail = "memory", f"{usage['memory'] / 1e6:.0f} MB"
    return Outcome(name, seed, outcome, detail)


def _linked(source: str, target: str) -> str:
    """Copy a file, or make a pipe where there is one."""
    if Path(source).is_fifo():
        os.mkfifo(target)
        return target
    return shutil.copy2(source, target, follow_symlinks=False)


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
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    with tempfile.TemporaryDirectory() as temporary:
        known = kinds(Path(temporary))
        for name, seed in trials(asked.count, known):
            if asked.kind in (None, name) and asked.seed in (None, seed):
                found = attempt(name, known[name], seed)
                counts[name, found.outcome] += 1
                if found.outcome in FAILURES or asked.seed is not None:
                    print(f"--kind '{name}' --seed {seed}: {found.outcome}\n{found.detail[-1800:]}", flush=True)
    for (name, outcome), count in counts.items():
        print(name, outcome, count, sep="\t")
    return any(outcome in FAILURES for _, outcome in counts)


if __name__ == "__main__":
    sys.exit(main())
