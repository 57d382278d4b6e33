"""Finds games: by name in `games/` and in other installed packages, and by the path of any folder or file."""

import contextlib
import importlib
import importlib.util
import json
import re
import shlex
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from cardai.errors import CardaiError, place_of, short, unknown
from cardai.game import Game, is_game
from cardai.game.compiled.doors import check_text

ENTRY_POINTS = "cardai.games"
"""The entry-point group in which another package lists its games: `name = "module"` or `"module:GAME"`."""
RULES = "RULES.md"

_IMPORTS = threading.local()  # `files`: what this thread is importing of somebody else's
_LOADING = threading.RLock()  # held while a file's code runs: until it ends, its module is known but has no game


@contextlib.contextmanager
def importing(file: str) -> Iterator[None]:
    """While somebody else's code is imported, `refuse_in_import` refuses what starts processes."""
    files: list[str] = _IMPORTS.__dict__.setdefault("files", [])
    files.append(file)
    try:
        yield
    finally:
        files.pop()


def refuse_in_import(what: str) -> None:
    """Raise CardaiError if a module calls this while it is imported: each process that imports it would start another.

    `what` is called: the name of a function, or words.
    """
    if files := _IMPORTS.__dict__.get("files"):
        raise CardaiError(
            f"{files[-1]} calls {what} while it is imported, and so would each process that it starts, without end; put"
            ' the call under `if __name__ == "__main__":`'
        )


def available() -> dict[str, str]:
    """Returns all games that `load` finds: name -> dotted module name."""
    modules = {}
    package = importlib.util.find_spec("cardai.games")
    for folder in package.submodule_search_locations or () if package else ():
        for place in sorted(Path(folder).iterdir()):
            is_game = place.suffix == ".py" or (place / "__init__.py").is_file()
            if is_game and not place.name.startswith("_"):
                modules[place.stem] = f"cardai.games.{place.stem}"
    for entry in entry_points(group=ENTRY_POINTS):
        modules.setdefault(entry.name, entry.value)
    return modules


def load(name: str) -> Game:
    """Load a game by its name, or by the path of its folder or file.

    Raises CardaiError for an unknown name, with the most similar names, and for a game whose code does not run. Such a
    game can be loaded again after its code has been corrected.
    """
    check_text("name", name)
    if "/" in name or name.endswith(".py") or (name.startswith(".") and Path(name).exists()):
        place = Path(name)
        file = _file_of(place)
        with _LOADING:
            return _loaded(name, _module_name(file), lambda: _module_at(file, place), "GAME")
    known = available()
    if name not in known:
        here = ""
        if 0 < len(name) < 200 and Path(name).is_dir():
            here = f" (for the one in this folder say {shlex.quote('./' + name)})"
        raise CardaiError(unknown("game", name, known) + here)
    module, _, attribute = known[name].partition(":")
    return _loaded(name, module, lambda: importlib.import_module(module), attribute or "GAME")


def name_of(game: Game) -> str:
    """What `load` is given in another process to load the same game: its name, or the path of its file.

    Raises CardaiError for a game that is in no module as `GAME`.
    """
    is_game(game)
    for module in list(sys.modules.values()):
        if getattr(module, "GAME", None) is game and getattr(module, "__file__", None):
            if module.__name__ == available().get(game.name):
                return game.name
            return str(module.__file__)
    raise CardaiError(f"{game.name} cannot be loaded in another process: no module holds it as GAME")


def home_of(game: Game) -> tuple[str, Path | None]:
    """The package of a game and its folder, in which files about the game lie.

    It is that of the module that holds the game as `GAME`, or for a game that none holds, of its rule `deal`. The
    package is "" for a game of a single file; the folder is None for one that is in no file, as in a notebook.
    """
    deals = sys.modules.get(is_game(game).rules.deal.__module__)
    held = (module for module in list(sys.modules.values()) if getattr(module, "GAME", None) is game)
    module = next((module for module in held if getattr(module, "__file__", None)), deals)
    file = getattr(module, "__file__", None)
    if module is None or file is None:
        return "", None
    return (module.__name__ if hasattr(module, "__path__") else module.__package__ or ""), Path(file).parent


def rules_of(game: Game) -> str:
    """The rules of a game, as Markdown: the file RULES.md beside its module.

    Raises CardaiError if the game has no file of rules, or it cannot be read.
    """
    file = _module_of(game).parent / RULES
    if not file.is_file():
        raise CardaiError(f"{game.name} has no written rules: there is no {RULES} beside {_module_of(game)}")
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CardaiError(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from None


def words_of(game: Game, language: str) -> dict[str, Any] | None:
    """What a game is called and says in a language of two letters: the file words.fi.json beside its module.

    None if the game brings no such file. It has `about`, the game in a sentence; `agents`, what is said of its players;
    `terms`, a heading and a sentence for each of `Text.terms`; and `said`, the words of moves, events, zones and ends,
    or patterns of them (docs/serve.md). Raises CardaiError if the file cannot be read.
    """
    file = _module_of(game).parent / f"words.{check_text('language', language)}.json"
    if not re.fullmatch("[a-z]{2}", language) or not file.is_file():
        return None
    try:
        return json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise CardaiError(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from None


def _module_of(game: Game) -> Path:
    return Path(getattr(is_game(game).rules.deal, "py_func", game.rules.deal).__code__.co_filename)


def reduced(game: Game) -> tuple[Callable[[str, int], Game], tuple[str, int]]:
    """What pickle keeps of a game: how another process loads it. Raises CardaiError as `name_of` does."""
    return load_version, (name_of(game), game.version)


def load_version(name: str, version: int) -> Game:
    """Load a game as `load` does. Raises CardaiError also if it has another version."""
    game = load(name)
    if game.version != version:
        raise CardaiError(f"{name} has version {game.version} here; version {version} was sent")
    return game


def _loaded(name: str, module: str, import_it: Callable[[], ModuleType], attribute: str) -> Game:
    """The game of a module. If the module has none or does not run, its imports are undone."""
    before = set(sys.modules)
    try:
        with importing(name):
            imported = import_it()
        game = getattr(imported, attribute, None)
        if isinstance(game, Game):
            return game
        reason = f"it is {type(game).__name__}" if hasattr(imported, attribute) else "there is none"
        raise CardaiError(f"{name}: {module} has no {attribute} that is a cardai Game: {reason}")
    except (Exception, SystemExit) as error:  # a game may be anybody's code: say what is wrong with it, and where
        for added in set(sys.modules) - before:
            if added == module or added.startswith(f"{module}."):
                del sys.modules[added]
        if isinstance(error, CardaiError):
            raise
        raise CardaiError(f"{name} does not load: {type(error).__name__}: {error}{place_of(error)}") from error


def _file_of(place: Path) -> Path:
    file = (place / "__init__.py" if place.is_dir() else place).resolve()
    if not file.is_file():
        raise CardaiError(f"{short(str(place), 200)} is neither a game's folder (with an __init__.py) nor its file")
    return file


def _module_name(file: Path) -> str:
    return file.parent.name if file.name == "__init__.py" else file.stem


def _module_at(file: Path, place: Path) -> ModuleType:
    name = _module_name(file)
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == str(file):
        return loaded
    if loaded is not None:
        raise CardaiError(f"{place}: a module named {name!r} is already loaded; rename the folder")
    locations = [str(file.parent)] if file.name == "__init__.py" else None
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=locations)
    if spec is None or spec.loader is None:
        raise CardaiError(f"{place} is not a Python file; a game's file ends in .py")
    importlib.invalidate_caches()  # finds a module that was changed a moment ago
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
