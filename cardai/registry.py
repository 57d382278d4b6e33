"""Finding games: those in `games/`, those other packages announce, and any folder or file by its path."""

import difflib
import importlib
import importlib.util
import sys
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from cardai.game import CardaiError, Game

ENTRY_POINTS = "cardai.games"
"""The entry-point group in which another package names its games: `name = "module"` or `"module:GAME"`."""


def available() -> dict[str, str]:
    """The names of all games that `load` finds, with the module each one lives in."""
    found = {}
    package = importlib.util.find_spec("games")
    for folder in package.submodule_search_locations or () if package else ():
        for place in sorted(Path(folder).iterdir()):
            is_game = place.suffix == ".py" or (place / "__init__.py").is_file()
            if is_game and not place.name.startswith("_"):
                found[place.stem] = f"games.{place.stem}"
    for entry in entry_points(group=ENTRY_POINTS):
        found.setdefault(entry.name, entry.value)
    return found


def load(name: str) -> Game:
    """A game by its name, or by the path of its folder or file. Raises CardaiError, which names the nearest games."""
    if "/" in name or name.endswith(".py") or (name.startswith(".") and Path(name).exists()):
        return _game_of(_module_at(Path(name)), name)
    known = available()
    if name not in known:
        raise CardaiError(unknown("game", name, known))
    module, _, attribute = known[name].partition(":")
    return _game_of(importlib.import_module(module), name, attribute or "GAME")


def unknown(kind: str, name: str, known: object) -> str:
    """The sentence for a name that does not exist: it says the nearest ones, or all if none is near."""
    names = [str(one) for one in known]  # pyright: ignore[reportGeneralTypeIssues]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if near:
        return f"there is no {kind} {name!r}; did you mean {' or '.join(near)}?"
    return f"there is no {kind} {name!r}; there is {', '.join(names) or 'none'}"


def _game_of(module: ModuleType, name: str, attribute: str = "GAME") -> Game:
    game = getattr(module, attribute, None)
    if not isinstance(game, Game):
        raise CardaiError(f"{name}: {module.__name__} has no {attribute} that is a cardai Game")
    return game


def _module_at(place: Path) -> ModuleType:
    file = place / "__init__.py" if place.is_dir() else place
    if not file.is_file():
        raise CardaiError(f"{place} is neither a game's folder (with an __init__.py) nor its file")
    name = file.parent.name if file.name == "__init__.py" else file.stem
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == str(file.resolve()):
        return loaded
    if loaded is not None:
        raise CardaiError(f"{place}: a module named {name!r} is already loaded; rename the folder")
    locations = [str(file.parent.resolve())] if file.name == "__init__.py" else None
    spec = importlib.util.spec_from_file_location(name, file.resolve(), submodule_search_locations=locations)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
