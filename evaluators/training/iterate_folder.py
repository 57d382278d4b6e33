"""The folder of a run of generations: where its files are, how they are read and written, and which run may use it."""

import contextlib
import json
import math
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cardai.errors import CardaiError
from cardai.evaluators import settings
from cardai.evaluators.model import FILE as MODEL
from cardai.evaluators.training.generations import Generation
from cardai.evaluators.training.iterate_config import IterateConfig
from cardai.files.reading import parse_json, read_bytes, unreadable
from cardai.files.writing import write_whole
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
        place = self.generation(1) / "games.json"
        scores = _read_json(place, ("scores",))["scores"]
        if not scores or not _are_numbers(scores):
            raise _damaged(place)
        return scores

    def read_generation(self, number: int) -> Generation:
        """Return a generation whose steps have all ended."""
        place = self.generation(number)
        games = _read_json(place / "games.json", ("games", "states", "endless"))
        training = _read_json(place / "training.json", ("learned", "steps", "bce"))
        benchmark = _read_json(place / "benchmark.json", ("champion", "duel", "strength"))
        for name, content, counts in (
            ("games", games, ("games", "states", "endless")),
            ("training", training, ("learned", "steps")),
        ):
            if any(type(content[count]) is not int for count in counts):
                raise _damaged(place / f"{name}.json")
        losses = training["bce"]
        if not isinstance(losses, dict) or losses.keys() != {"validation", "test"}:
            raise _damaged(place / "training.json")
        if not _are_numbers({name: loss for name, loss in losses.items() if loss is not None}):
            raise _damaged(place / "training.json")
        if not isinstance(benchmark["champion"], str):
            raise _damaged(place / "benchmark.json")
        return Generation(
            number=number,
            games=games["games"],
            states=games["states"],
            endless=games["endless"],
            learned=training["learned"],
            steps=training["steps"],
            bce=training["bce"],
            champion=benchmark["champion"],
            duel=_duel(place / "benchmark.json", benchmark["duel"]),
            strength=_duel(place / "benchmark.json", benchmark["strength"]),
            seconds=_seconds(place),
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


@contextlib.contextmanager
def claimed(config: IterateConfig) -> Iterator[IterateFolder]:
    """Prepare the folder of a run and hold it for this process. Raises CardaiError as `settings.claimed`."""
    with settings.claimed(config, CONFIG, "generations") as folder:
        yield IterateFolder(folder)


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


def _duel(place: Path, content: Any) -> Duel:
    try:
        return Duel.from_json(content)
    except (TypeError, ValueError, KeyError, AttributeError):
        raise _damaged(place) from None


def _read_json(place: Path, names: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the JSON object in a file, which must have entries of these names."""
    try:
        content = parse_json(_read_bytes(place))
    except ValueError:
        content = None
    if not isinstance(content, dict) or any(name not in content for name in names):
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
    try:
        if not place.exists() or read_bytes(place, _LARGEST) != content:
            write_whole(place, content)
    except OSError as error:
        raise CardaiError(f"cannot write {place}: {error.strerror or error}") from None
