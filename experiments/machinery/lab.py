"""Where an experiment runs: pieces of work that are kept, bound to the code and the config they were made by.

    def run(lab: Lab) -> Findings:
        value = lab.piece("random", lambda: measure(lab.size.games))   # JSON; measured once, then read

A folder belongs to one experiment, one config and one state of the code it depends on; anything else is refused before
it is touched. A piece that was changed by hand is refused, too.
"""

import random
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cardai.errors import CardaiError, unknown
from cardai.game import Game
from cardai.measure.bench import run_suite
from cardai.progress import Progress
from cardai.stats.jsonable import plain
from cardai.stats.machine import machine
from experiments.machinery.catalogue import EXPERIMENTS, module
from experiments.machinery.findings import Findings
from experiments.machinery.provenance import fingerprint, read_sealed, write_sealed

BINDING, RESULT, PIECES = "experiment.json", "result.json", "pieces"
SPEEDS = {"seconds", "games_per_second", "states_per_second", "rows_per_second", "machine", "when", "utilisation"}
"""What differs between two measurements of the same thing; all else must not."""


class Different(CardaiError):
    """A measurement that was made again and did not come out the same."""


@dataclass(frozen=True)
class Lab:
    """What an experiment's `run` gets. `size`: its config, of its `SCALES`.

    `games`: games a figure, instead of the scale's number; `again`: pieces that are measured although they are kept.
    `made`: the pieces asked for so far.
    """

    name: str
    folder: Path
    scale: str
    size: Any
    games: int | None = None
    device: str = "auto"
    progress: Progress | None = None
    again: Collection[str] = ()
    made: dict[str, dict[str, Any]] = field(default_factory=dict)

    def piece(self, key: str, measure: Callable[[], Any], repeats: bool = True) -> Any:
        """What `measure` returns, as plain JSON types; kept under `key` and not measured again.

        `repeats`: whether a second measurement must give the same, but for `SPEEDS`.
        """
        place = self.folder / PIECES / f"{key}.json"
        kept = self._kept(place) if place.exists() else None
        if kept is None or key in self.again:
            self.tell(0, 1, key)
            began, earlier = time.perf_counter(), self._earlier(key)
            try:
                value = plain(measure())
            except BaseException:
                self._earlier(key).write_text(str(_seconds(earlier) + time.perf_counter() - began))
                raise
            content = {
                "experiment": self.name,
                "code": fingerprint(self.name),
                "key": key,
                "repeats": repeats,
                "seconds": round(_seconds(earlier) + time.perf_counter() - began, 2),
                "when": time.strftime("%Y-%m-%d", time.gmtime()),
                "machine": machine(),
                "value": value,
            }
            if kept is not None and repeats and _lasting(kept["value"]) != _lasting(content["value"]):
                difference = _first_difference(_lasting(kept["value"]), _lasting(content["value"]))
                raise Different(f"{self.name}, {key} came out different the second time: {difference}")
            kept = write_sealed(place, content) if kept is None else kept
        self.made[key] = kept
        return kept["value"]

    def bench(
        self, key: str, game: Game, suite: str, spec: str, games: int, seed: int = 0, variant: str | None = None
    ) -> dict[str, Any]:
        """An agent's rows of a suite as JSON, kept. Ctrl-C is raised."""

        def measure() -> dict[str, Any]:
            report = run_suite(game, suite, [spec], games, seed=seed, variant=variant, progress=self.progress)
            if report.interrupted:
                raise KeyboardInterrupt
            return report.as_json()

        return self.piece(key, measure)

    def tell(self, done: int, total: int, what: str) -> None:
        """Show how far it is."""
        if self.progress is not None:
            self.progress(done, total, f"{self.name}: {what}")

    def _earlier(self, key: str) -> Path:
        """The file with the seconds that a piece took before it was stopped."""
        place = self.folder / PIECES / f"{key}.seconds"
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def _kept(self, place: Path) -> dict[str, Any]:
        content = read_sealed(place)
        if (content["experiment"], content["code"]) != (self.name, fingerprint(self.name)):
            raise CardaiError(f"{place} was made by other code ({content['code']}, now {fingerprint(self.name)})")
        return content


def run(
    name: str,
    folder: Path,
    scale: str = "small",
    *,
    games: int | None = None,
    device: str = "auto",
    progress: Progress | None = None,
    again: Collection[str] = (),
) -> dict[str, Any]:
    """Run an experiment in a folder, or go on with it; its sealed result, which lies there as `result.json`.

    Raises CardaiError for an unknown experiment or scale, for a module it needs that is not installed, and for a folder
    that holds another experiment, config or code.
    """
    if name not in EXPERIMENTS:
        raise CardaiError(unknown("experiment", name, EXPERIMENTS))
    entry = EXPERIMENTS[name]
    for needed, extra in entry.missing().items():
        raise CardaiError(f"{name} needs {needed}, which is not installed: pip install 'cardai[{extra}]'")
    experiment = module(name)
    if scale not in experiment.SCALES:
        raise CardaiError(unknown("scale", scale, experiment.SCALES))
    size = experiment.SCALES[scale]
    config = {"scale": scale, "games": games, "config": plain(asdict(size))}
    _bind(name, folder, config)
    lab = Lab(name, folder, scale, size, games, device, progress, again)
    findings: Findings = experiment.run(lab)
    return write_sealed(folder / RESULT, _header(name, config) | _provenance(lab.made) | findings.as_json())


def _header(name: str, config: Mapping[str, Any]) -> dict[str, Any]:
    return {"experiment": name, **config, "code": fingerprint(name), "command": command(name, config)}


def command(name: str, config: Mapping[str, Any]) -> str:
    """The command that makes a result."""
    games = f" --games {config['games']}" if config["games"] else ""
    return f"cardai reproduce {name} --scale {config['scale']}{games}"


def _provenance(made: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Where, when and by which commits the pieces were measured, and how long each took."""
    machines = {(one["machine"]["processor"], one["machine"]["usable_cpus"]): one["machine"] for one in made.values()}
    return {
        "commits": sorted({one["machine"]["commit"] or "no checkout" for one in made.values()}),
        "days": sorted({one["when"] for one in made.values()}),
        "machines": [{**one, "commit": None} for one in machines.values()],
        "seconds": round(sum(one["seconds"] for one in made.values()), 1),
        "pieces": {
            key: {"seconds": one["seconds"], "commit": one["machine"]["commit"], "repeats": one["repeats"]}
            for key, one in made.items()
        },
    }


def _bind(name: str, folder: Path, config: Mapping[str, Any]) -> None:
    """Make the folder that of this experiment, config and code; CardaiError when it is another's."""
    own = {"experiment": name, "code": fingerprint(name), **config}
    place = folder / BINDING
    if place.exists():
        found = read_sealed(place)
        for key, value in own.items():
            if found.get(key) != plain(value):
                raise CardaiError(_refusal(folder, key, found, own))
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CardaiError(f"{folder} holds something that is no experiment; choose another folder with --out")
    else:
        write_sealed(place, {**own, "commit": machine()["commit"]})


def _refusal(folder: Path, key: str, found: Mapping[str, Any], own: Mapping[str, Any]) -> str:
    away = "delete it or choose another folder with --out"
    if key == "code":
        return (
            f"{folder} was begun by other code (commit {found.get('commit')}, code {found['code']}, now {own['code']});"
            f" results of different code are not mixed: {away}"
        )
    if key == "config":
        return f"{folder} was begun with another config of the scale {own['scale']}; {away}"
    begun, asked = ("the scale's" if one is None else one for one in (found.get(key), own[key]))
    return f"{folder} was begun with {key} {begun}, not {asked}; {away}"


def chosen_again(folder: Path, count: int, seed: int) -> list[str]:
    """So many kept pieces that must repeat, chosen at random. CardaiError when nothing is kept there."""
    found = (read_sealed(path) for path in sorted((folder / PIECES).glob("*.json")))
    keys = [one["key"] for one in found if one["repeats"]]
    if not keys:
        raise CardaiError(f"{folder} holds no measurement that could be repeated")
    return sorted(random.Random(seed).sample(keys, min(count, len(keys))))


def _seconds(place: Path) -> float:
    return float(place.read_text()) if place.exists() else 0.0


def _lasting(value: Any) -> Any:
    """A measurement without what differs from one time to the next."""
    if isinstance(value, Mapping):
        return {key: _lasting(one) for key, one in value.items() if key not in SPEEDS}
    return [_lasting(one) for one in value] if isinstance(value, (list, tuple)) else value


def _first_difference(one: Any, other: Any, where: str = "") -> str:
    if isinstance(one, Mapping) and isinstance(other, Mapping) and one.keys() == other.keys():
        pairs = [(f"{where}.{key}", one[key], other[key]) for key in one]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = [(f"{where}[{i}]", *pair) for i, pair in enumerate(zip(one, other, strict=True))]
    else:
        return f"{where.lstrip('.')} is {other}, was {one}"
    return next(_first_difference(a, b, place) for place, a, b in pairs if a != b)
