"""Where an experiment runs: its measurements are saved in pieces, bound to the config and behaviour that made them.

    def run(lab: Lab) -> Findings:
        value = lab.piece("random", lambda: measure(lab.size.games))   # JSON; measured once, then read from its file

A folder belongs to one experiment, one config and one behaviour of all that the experiment uses (see
`cardai.experiments.machinery.behaviour`). Running anything else in it raises CardaiError before any file is
changed. So does a piece that was edited by hand.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardai.errors import CardaiError, lacking, unknown
from cardai.experiments.machinery.behaviour import behaviour, differences
from cardai.experiments.machinery.catalogue import EXPERIMENTS, module
from cardai.experiments.machinery.findings import Findings
from cardai.experiments.machinery.sealed import SEAL, read_sealed, write_sealed
from cardai.experiments.machinery.verdicts import judged
from cardai.game import Game
from cardai.measure.bench import run_suite
from cardai.playing.machine import machine
from cardai.playing.progress import Progress
from cardai.playing.stats.jsonable import plain

if TYPE_CHECKING:
    from cardai.experiments.machinery.networks import NetworkStore

BINDING, RESULT, PIECES = "experiment.json", "result.json", "pieces"


@dataclass(frozen=True)
class Lab:
    """What an experiment's `run` gets.

    `size`: its config for the scale, from its `SCALES`. `games`: games behind each figure instead of the scale's
    number. `made`: {key: saved content} of all pieces that `run` has used so far. `bound`: the seal of the folder's
    binding, which its pieces name.
    """

    name: str
    folder: Path
    scale: str
    size: Any
    games: int | None = None
    device: str = "auto"
    progress: Progress | None = None
    made: dict[str, dict[str, Any]] = field(default_factory=dict)
    bound: str = ""

    def piece(self, key: str, measure: Callable[[], Any], repeats: bool = True) -> Any:
        """The value of `measure()` as plain JSON types; it is saved under `key`, and later calls read it from there.

        `repeats`: whether the same is measured in another run, times and speeds apart.
        """
        place = self.folder / PIECES / f"{key}.json"
        saved = self._saved(place) if place.exists() else None
        if saved is None:
            self.tell(0, 1, key)
            stopped = self.folder / PIECES / f"{key}.seconds"  # what was spent before a measurement was stopped
            began = time.perf_counter() - (read_sealed(stopped)["seconds"] if stopped.exists() else 0.0)
            try:
                value = plain(measure())
            except BaseException:
                write_sealed(stopped, {"seconds": time.perf_counter() - began})
                raise
            content = {
                "experiment": self.name,
                "bound": self.bound,
                "key": key,
                "repeats": repeats,
                "seconds": round(time.perf_counter() - began, 2),
                "when": time.strftime("%Y-%m-%d", time.gmtime()),
                "machine": machine(),
                "value": value,
            }
            saved = write_sealed(place, content)
        self.made[key] = saved
        return saved["value"]

    def bench(self, key: str, game: Game, suite: str, *specs: str, games: int = 0, seed: int = 0) -> dict[str, Any]:
        """The rows of agents in a suite as JSON, saved as a piece. Raises KeyboardInterrupt on Ctrl-C.

        `games`: in each row, instead of those of `benchmark`.
        """

        def measure() -> dict[str, Any]:
            report = run_suite(game, suite, specs, games or self.benchmark, seed=seed, progress=self.progress)
            if report.interrupted:
                raise KeyboardInterrupt
            return report.as_json()

        return self.piece(key, measure)

    @property
    def benchmark(self) -> int:
        """The games behind a figure: `games`, or the `benchmark` of the scale."""
        return self.games or self.size.benchmark

    def store(self, game: Game, folder: str = "", *place: Any, **learning: Any) -> "NetworkStore":
        """Where networks of a game are trained, by the scale's `learning` with some fields replaced.

        `folder`: within the experiment's. `place`: as the last fields of `NetworkStore`: variant, seats and seed.
        """
        from cardai.experiments.machinery.networks import NetworkStore

        fields = {**self.size.learning, **learning}
        return NetworkStore(game, self.folder / folder, fields, self.progress, self.device, *place)

    def telling(self, what: str) -> Callable[[float, float], None]:
        """A function of (done, total) that shows them as steps of `what`."""
        return lambda done, total: self.tell(int(done), int(total), what)

    def tell(self, done: int, total: int, what: str) -> None:
        """Show that `done` of `total` steps of `what` are done."""
        if self.progress is not None:
            self.progress(done, total, f"{self.name}: {what}")

    def _saved(self, place: Path) -> dict[str, Any]:
        content = read_sealed(place)
        if content.get("key") != place.stem:
            raise CardaiError(f"{place} is damaged: it is another piece; delete it, and it will be measured again")
        if (content["experiment"], content["bound"]) != (self.name, self.bound):
            raise CardaiError(f"{place} was made in another folder; delete it, and it will be measured again")
        return content


def run(
    name: str,
    folder: Path,
    scale: str = "small",
    *,
    games: int | None = None,
    device: str = "auto",
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Run an experiment in a folder, or resume it; returns its sealed result, which is also written to `result.json`.

    Raises CardaiError for an unknown experiment or scale, for a module it needs that is not installed, and for a folder
    that holds another experiment, config or behaviour.
    """
    if name not in EXPERIMENTS:
        raise CardaiError(unknown("experiment", name, EXPERIMENTS))
    entry = EXPERIMENTS[name]
    for needed, extra in entry.missing().items():
        raise lacking(name, needed, extra)
    experiment = module(name)
    if scale not in experiment.SCALES:
        raise CardaiError(unknown("scale", scale, experiment.SCALES))
    size = experiment.SCALES[scale]
    config = {"scale": scale, "games": games, "config": plain(asdict(size))}
    binding = _bind(name, folder, config)
    lab = Lab(name, folder, scale, size, games, device, progress, bound=binding[SEAL])
    findings: Findings = experiment.run(lab)
    header = {"experiment": name, **config, "behaviour": binding["behaviour"], "command": command(name, config)}
    content = findings.as_json()
    return write_sealed(
        folder / RESULT, {**header, **_provenance(lab.made), **content, "rows": judged(content["rows"])}
    )


def command(name: str, config: Mapping[str, Any]) -> str:
    """The command that reproduces a result."""
    games = f" --games {config['games']}" if config["games"] else ""
    return f"cardai reproduce {name} --scale {config['scale']}{games}"


def _provenance(made: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Where, when and by which commits the pieces were measured, and how long each took."""
    used = [piece["machine"] for piece in made.values()]
    machines = {(computer["processor"], computer["usable_cpus"]): computer for computer in used}
    return {
        "commits": sorted({computer["commit"] or "no checkout" for computer in used}),
        "days": sorted({piece["when"] for piece in made.values()}),
        "machines": [{**computer, "commit": None} for computer in machines.values()],
        "seconds": round(sum(piece["seconds"] for piece in made.values()), 1),
        "pieces": {
            key: {"seconds": piece["seconds"], "commit": piece["machine"]["commit"], "repeats": piece["repeats"]}
            for key, piece in made.items()
        },
    }


def _bind(name: str, folder: Path, config: Mapping[str, Any]) -> dict[str, Any]:
    """Bind the folder to this experiment, config and behaviour; return the binding.

    Raises CardaiError if it is bound to others.
    """
    own, place = {"experiment": name, **config}, folder / BINDING
    if place.exists():
        bound = read_sealed(place)
        for key, value in own.items():
            if bound.get(key) != plain(value):
                raise CardaiError(_refusal(folder, key, bound, own))
        changed = differences(bound.get("behaviour", {}), behaviour(name, config["scale"]))
        if changed:
            raise CardaiError(
                f"{folder} was begun when {in_words(changed)} behaved otherwise (commit {bound.get('commit')}); figures"
                " of different behaviour are not mixed: delete it or choose another folder with --out"
            )
        return bound
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CardaiError(f"{folder} holds something that is no experiment; choose another folder with --out")
    return write_sealed(place, {**own, "behaviour": behaviour(name, config["scale"]), "commit": machine()["commit"]})


def in_words(changed: Sequence[str], most: int = 3) -> str:
    """The first of what has changed, and how many more there are."""
    rest = f" and {len(changed) - most} more" if len(changed) > most else ""
    return ", ".join(map(repr, changed[:most])) + rest


def _refusal(folder: Path, key: str, bound: Mapping[str, Any], own: Mapping[str, Any]) -> str:
    away = "delete it or choose another folder with --out"
    if key == "config":
        return f"{folder} was begun with another config of the scale {own['scale']}; {away}"
    begun, wanted = ("the scale's" if value is None else value for value in (bound.get(key), own[key]))
    return f"{folder} was begun with {key} {begun}, not {wanted}; {away}"
