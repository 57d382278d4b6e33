"""Which code a result depends on, and a seal that shows whether a result was edited after it was measured.

An experiment depends on

- its own module and all modules that it imports, directly or not, anywhere in a file;
- `lab`, the machinery that measures, with all modules that `lab` imports;
- the modules that `pyproject.toml` names as entry points of a group, if a file it depends on contains the group's name;
- the packages (`__init__`) of all these modules;
- the rules of its games, and the shipped models that it uses.

It does not depend on code that only shows results: `SHOWING` names these rooms and modules, and code that measures must
not import them. The fingerprint is a hash of all these files. A saved piece can be used only while the fingerprint is
the same; documentation, tests, pages and other experiments do not change it.
"""

import ast
import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from cardai.errors import CardaiError
from cardai.files.reading import read_json
from experiments.machinery.catalogue import EXPERIMENTS

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("cardai", "evaluators", "experiments", "games")
SEAL = "seal"
MEASURING = "experiments.machinery.lab"
"""The module in which every experiment runs."""
SHOWING = (
    "cardai.app",
    "cardai.show",
    "experiments.machinery.catalogue",
    "experiments.machinery.charts",
    "experiments.machinery.listing",
    "experiments.machinery.report",
    "experiments.machinery.verbs",
    "experiments.machinery.words",
    "experiments.pages",
)
"""Rooms and modules that arrange and show measurements: no figure depends on them.

`catalogue` is the one that measuring code imports, for the names of experiments. Its texts are only shown. The
games and models that it names enter the fingerprint through their files.
"""


@cache
def fingerprint(name: str) -> str:
    """A hash of everything an experiment's figures depend on in this tree: 12 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in (*sources(name), *models(name)):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def sources(name: str) -> list[Path]:
    """The files of code that an experiment depends on, sorted."""
    games, announced = EXPERIMENTS[name].games, _entry_points()
    waiting = [MEASURING, f"experiments.{name.replace('-', '_')}"]
    reached: set[Path] = set()
    for game in games:
        waiting += _modules_of(game)
    while waiting:
        module = waiting.pop()
        path = _file(module)
        if path is None or path in reached or only_shows(module) or _is_of_another_game(module, games):
            continue
        reached.add(path)
        waiting += imported(path)
        waiting += [text for text in texts_in(path) if _is_ours(text)]
        waiting += [target for group in texts_in(path) & announced.keys() for target in announced[group]]
        waiting += [module.rpartition(".")[0]]  # its package
    return sorted(reached)


def models(name: str) -> list[Path]:
    """The shipped models and policies that an experiment uses."""
    places = ROOT / "evaluators" / "models", ROOT / "evaluators" / "policies" / "shipped"
    folders = (place / game for game in EXPERIMENTS[name].models for place in places)
    return [path for folder in folders for path in sorted(folder.glob("*.safetensors"))]


def only_shows(module: str) -> bool:
    """Whether a module is one of `SHOWING`, or lies in one of these rooms."""
    return any(module == room or module.startswith(f"{room}.") for room in SHOWING)


def imported(path: Path) -> frozenset[str]:
    """The modules of this project that a file imports anywhere; "from package import name" gives both names."""
    return _read(path, path.stat().st_mtime_ns)[0]


def texts_in(path: Path) -> frozenset[str]:
    """The string constants in a file, which include groups of entry points and names of modules to import."""
    return _read(path, path.stat().st_mtime_ns)[1]


@cache
def _read(path: Path, _: int) -> tuple[frozenset[str], frozenset[str]]:
    package, names, texts = path.relative_to(ROOT).parent.parts, set[str](), set[str]()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1], node.module] if node.level else [node.module]
            whole = ".".join(part for part in base if part)
            names |= {whole} | {f"{whole}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.add(node.value)
    return frozenset(filter(_is_ours, names)), frozenset(texts)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in PACKAGES


def _entry_points() -> dict[str, set[str]]:
    """{group: modules} of this project's entry points, from pyproject.toml or else from the installed distribution."""
    place, modules = ROOT / "pyproject.toml", dict[str, set[str]]()
    if place.is_file():
        groups = tomllib.loads(place.read_text("utf-8"))["project"].get("entry-points", {})
        targets = [(group, target) for group, named in groups.items() for target in named.values()]
    else:
        targets = [(entry.group, entry.value) for entry in distribution("cardai").entry_points]
    for group, target in targets:
        if _is_ours(target):
            modules.setdefault(group, set()).add(target.partition(":")[0])
    return modules


def _modules_of(game: str) -> Iterable[str]:
    """All modules of a game in this tree."""
    place = ROOT / "games" / game
    files = place.rglob("*.py") if place.is_dir() else [place.with_suffix(".py")]
    return [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in files]


def _is_of_another_game(module: str, games: Iterable[str]) -> bool:
    """Whether a module belongs to a game that the experiment does not play; entry points name all games."""
    room, _, rest = module.partition(".")
    return room == "games" and bool(rest) and rest.partition(".")[0] not in games


def _file(module: str) -> Path | None:
    """The file of a module of this project; None if the name is not a module's, for example a function's."""
    if not all(part.isidentifier() for part in module.split(".")):
        return None
    place = ROOT.joinpath(*module.split("."))
    choices = place.with_suffix(".py"), place / "__init__.py"
    return next((path for path in choices if path.is_file()), None)


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content with its hash under `SEAL`, by which a later change can be detected."""
    return {**content, SEAL: _hash(content)}


def write_sealed(path: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    """Write content as sealed JSON, whole or not at all; returns what `read_sealed` will read.

    Raises CardaiError if the file cannot be written.
    """
    from cardai.files.writing import write_whole

    written = sealed(json.loads(json.dumps(content)))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, (json.dumps(written, indent=1, ensure_ascii=False) + "\n").encode())
    except OSError as error:
        raise CardaiError(f"cannot write {path}: {error.strerror or error}") from None
    return written


def read_sealed(path: Path) -> dict[str, Any]:
    """Read sealed JSON. Raises CardaiError for a file that cannot be read, or whose content does not match its seal."""
    try:
        content = read_json(path)
    except CardaiError as error:
        raise CardaiError(f"{error}; delete it, and it will be measured again") from None
    if not isinstance(content, dict) or content.get(SEAL) != _hash(content):
        raise CardaiError(f"{path} was changed after it was measured; delete it, and it will be measured again")
    return content


def _hash(content: Mapping[str, Any]) -> str:
    unsealed = {key: value for key, value in content.items() if key != SEAL}
    text = json.dumps(unsealed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
