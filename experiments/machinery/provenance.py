"""What a result comes from: the code it depends on, and whether anybody has changed it since.

An experiment depends on

- its own module and all that it imports, directly or not, wherever in a file the import stands;
- the machinery that measures, `lab`, with all that this imports;
- the modules that `pyproject.toml` names as entry points of a group, if a file it depends on asks for that group;
- the packages (`__init__`) that all of these lie in;
- the rules of its games, and the shipped models that it uses.

It does not depend on what only shows: `SHOWING` names those rooms and modules, and nothing that measures may import
them. The fingerprint of all files says whether a piece of work that was kept may be continued: documentation, tests,
pages and other experiments may change meanwhile.
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
from experiments.machinery.catalogue import EXPERIMENTS

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("cardai", "evaluators", "experiments", "games")
SEAL = "seal"
MEASURING = "experiments.machinery.lab"
"""The machinery that every experiment runs in."""
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
"""Rooms and modules that arrange and show what was measured: no figure depends on them.

`catalogue` is imported by what measures, for the names of experiments; its texts are only shown, and what it says of
games and models counts by the files that are hashed.
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
    """The shipped models that an experiment uses."""
    folders = (ROOT / "evaluators" / "models" / game for game in EXPERIMENTS[name].models)
    return [path for folder in folders for path in sorted(folder.glob("*.safetensors"))]


def only_shows(module: str) -> bool:
    """Whether a module is one of `SHOWING`, or lies in one of these rooms."""
    return any(module == room or module.startswith(f"{room}.") for room in SHOWING)


def imported(path: Path) -> frozenset[str]:
    """The modules of ours that a file imports, wherever in it; "from package import name" names both."""
    return _read(path, path.stat().st_mtime_ns)[0]


def texts_in(path: Path) -> frozenset[str]:
    """The constant texts in a file: among them are groups of entry points, and modules that are imported by name."""
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
    """{group: modules} of the entry points that this project announces: in its file, or as it was installed."""
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
    """Whether a module is of a game that an experiment does not play: an entry point may name one."""
    room, _, rest = module.partition(".")
    return room == "games" and bool(rest) and rest.partition(".")[0] not in games


def _file(module: str) -> Path | None:
    """The file of a module of ours; None for a name that is none, such as a function's."""
    if not all(part.isidentifier() for part in module.split(".")):
        return None
    place = ROOT.joinpath(*module.split("."))
    choices = place.with_suffix(".py"), place / "__init__.py"
    return next((path for path in choices if path.is_file()), None)


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content with a hash of itself, which tells later whether it was changed."""
    return {**content, SEAL: _hash(content)}


def write_sealed(path: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    """Write content as sealed JSON, whole or not at all; what a reader will get."""
    from cardai.data.files import write_whole

    kept = sealed(json.loads(json.dumps(content)))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, (json.dumps(kept, indent=1, ensure_ascii=False) + "\n").encode())
    except OSError as error:
        raise CardaiError(f"cannot write {path}: {error.strerror or error}") from None
    return kept


def read_sealed(path: Path) -> dict[str, Any]:
    """Read sealed JSON. CardaiError for a file that cannot be read, or whose content is not what was sealed."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise CardaiError(f"cannot read {path}: {error.strerror or error}") from None
    except ValueError:
        raise CardaiError(f"{path} is damaged: it is no JSON; delete it, and it will be measured again") from None
    if not isinstance(content, dict) or content.get(SEAL) != _hash(content):
        raise CardaiError(f"{path} was changed after it was measured; delete it, and it will be measured again")
    return content


def _hash(content: Mapping[str, Any]) -> str:
    told = {key: value for key, value in content.items() if key != SEAL}
    text = json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
