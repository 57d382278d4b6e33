"""What a result comes from: the code it depends on, and whether anybody has changed it since.

An experiment depends on its own module and all that it imports, directly or not, on its games, and on the shipped
models it asks. Their fingerprint says whether a piece of work that was kept may be gone on with: documentation, tests
and other experiments may change meanwhile.
"""

import ast
import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from cardai.errors import CardaiError
from experiments.machinery.catalogue import EXPERIMENTS

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("cardai", "evaluators", "experiments", "games")
SEAL = "seal"
SHOWING = {"catalogue", "charts", "findings", "lab", "listing", "provenance", "report", "verbs"}
"""Modules of experiments that keep, arrange and show what was measured: no figure depends on them."""


@cache
def fingerprint(name: str) -> str:
    """A hash of everything an experiment's figures depend on in this tree: 12 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in (*sources(name), *_models(name)):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def sources(name: str) -> list[Path]:
    """The files of code that an experiment depends on, sorted."""
    found: set[Path] = set()
    waiting = [_file(f"experiments.{name.replace('-', '_')}")]
    for game in EXPERIMENTS[name].games:
        place = ROOT / "games" / game
        waiting += place.rglob("*.py") if place.is_dir() else [place.with_suffix(".py")]
    while waiting:
        path = waiting.pop()
        if path is not None and path not in found and not _only_shows(path):
            found.add(path)
            waiting += [_file(module) for module in imported(path)]
    return sorted(found)


def imported(path: Path) -> set[str]:
    """The modules of ours that a file imports, wherever in it; "from package import name" names both."""
    package, names = path.relative_to(ROOT).parent.parts, set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1], node.module] if node.level else [node.module]
            whole = ".".join(part for part in base if part)
            names |= {whole} | {f"{whole}.{alias.name}" for alias in node.names}
    return {name for name in names if name.partition(".")[0] in PACKAGES}


def _file(module: str) -> Path | None:
    """The file of a module of ours; None for a name that is none, such as a function's."""
    place = ROOT.joinpath(*module.split("."))
    choices = place.with_suffix(".py"), place / "__init__.py"
    return next((path for path in choices if path.is_file()), None)


def _only_shows(path: Path) -> bool:
    return path.parent == ROOT / "experiments" / "machinery" and path.stem in SHOWING


def _models(name: str) -> Iterable[Path]:
    for game in EXPERIMENTS[name].models:
        yield from sorted((ROOT / "evaluators" / "models" / game).glob("*.safetensors"))


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
