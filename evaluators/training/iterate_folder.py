"""The folder of a run of generations: where its files are, how they are read and written, and which run may use it."""

import contextlib
import json
import math
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cardai.errors import CardaiError
from cardai.evaluators.model import FILE as MODEL
from cardai.evaluators.training.generations import Generation
from cardai.files.reading import parse_json, read_bytes, unreadable
from cardai.files.writing import write_bytes
from cardai.measure.duel import Duel

CONFIG, HISTORY, REPORT = "iterate.toml", "history.jsonl", "iterate.json"
_LARGEST = 1 << 34  # bytes of a model
CHAMPION, FIGURE = "champion.safetensors", "strength.png"
STEPS = ("games", "training", "benchmark")  # of a generation; the result of each is in a file of that name


class IterateFolder:
    """The folder of a run. All methods raise CardaiError, which names the file, if one cannot be read or written."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def generation(self, number: int) -> Path:
        """Return the folder of a generation."""
        return self.path / f"generation-{number:03d}"

    def model(self, number: int) -> Path:
        """Return the file of a generation's model."""
        return self.generation(number) / "training" / MODEL

    def has_result(self, number: int, step: str) -> bool:
        """Whether a step of a generation has ended."""
        return (self.generation(number) / f"{step}.json").exists()

    def write_result(self, number: int, step: str, result: Mapping[str, Any]) -> None:
        """Write the result of a step of a generation."""
        _write_json(self.generation(number) / f"{step}.json", result)

    def scores(self) -> dict[str, float]:
        """Return the mean score of each agent in the games of the first generation, in percent."""
        scores = _result(self.generation(1), "games", scores=dict)["scores"]
        if not scores or not _are_numbers(scores):
            raise _damaged(self.generation(1) / "games.json")
        return scores

    def read_generation(self, number: int) -> Generation:
        """Return a generation whose steps have all ended."""
        place = self.generation(number)
        games = _result(place, "games", games=int, states=int, endless=int)
        training = _result(place, "training", learned=int, steps=int, bce=dict)
        benchmark = _result(place, "benchmark", champion=str, duel=dict, strength=dict)
        losses = training["bce"]
        known = {name: loss for name, loss in losses.items() if loss is not None}
        if losses.keys() != {"validation", "test"} or not _are_numbers(known):
            raise _damaged(place / "training.json")
        try:
            duel, strength = (Duel.from_json(benchmark.pop(name)) for name in ("duel", "strength"))
        except (TypeError, ValueError, KeyError, AttributeError):
            raise _damaged(place / "benchmark.json") from None
        return Generation(
            number=number, duel=duel, strength=strength, seconds=_seconds(place), **games, **training, **benchmark
        )

    def write_history(self, generations: list[Generation], champion: int) -> None:
        """Write a line for each generation, and the champion's model. `champion`: its generation, or 0 for none."""
        lines = "".join(f"{json.dumps(generation.as_json())}\n" for generation in generations)
        _write_bytes(self.path / HISTORY, lines.encode())
        if champion:
            model = _read_bytes(self.model(champion))
            _write_bytes(self.path / CHAMPION, model)
            _write_bytes(self.path / MODEL, model)

    def write_report(self, report: Mapping[str, Any]) -> None:
        """Write the run's report."""
        _write_json(self.path / REPORT, report)

    @contextlib.contextmanager
    def timed(self, number: int, step: str) -> Iterator[None]:
        """Add the time that a step takes to its seconds. A step that is stopped is timed in several parts."""
        place, began = self.generation(number), time.monotonic()
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CardaiError(f"cannot write to {place}: {error.strerror or error}") from None
        try:
            yield
        finally:
            seconds = _seconds(place)
            seconds[step] = round(seconds.get(step, 0.0) + time.monotonic() - began, 3)
            with contextlib.suppress(CardaiError):  # if the disk is full, an error has said so already
                _write_json(place / "seconds.json", seconds)


def _seconds(place: Path) -> dict[str, float]:
    """Return the seconds that each step of a generation took."""
    file = place / "seconds.json"
    seconds = _read_json(file) if file.exists() else {}
    if not _are_numbers(seconds):
        raise _damaged(file)
    return seconds


def _are_numbers(content: Any) -> bool:
    """Whether a value is a table of finite numbers."""
    return isinstance(content, dict) and all(
        type(value) in (int, float) and math.isfinite(value) for value in content.values()
    )


def _result(place: Path, step: str, **kinds: type) -> dict[str, Any]:
    """Return the entries of these names, which must be of these types, in the result of a step."""
    content = _read_json(place / f"{step}.json")
    if any(type(content.get(name)) is not kind for name, kind in kinds.items()):
        raise _damaged(place / f"{step}.json")
    return {name: content[name] for name in kinds}


def _read_json(place: Path) -> dict[str, Any]:
    try:
        content = parse_json(_read_bytes(place))
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise _damaged(place)
    return content


def _damaged(place: Path) -> CardaiError:
    return CardaiError(f"{place} is damaged: delete it, and its step is done again")


def _read_bytes(place: Path) -> bytes:
    try:
        return read_bytes(place, _LARGEST)
    except OSError as error:
        raise unreadable(place, error) from None


def _write_json(place: Path, content: Mapping[str, Any]) -> None:
    _write_bytes(place, (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())


def _write_bytes(place: Path, content: bytes) -> None:
    """Write a file whole or not at all. A file that has this content already is left as it is."""
    if not place.exists() or _read_bytes(place) != content:
        write_bytes(place, content)
