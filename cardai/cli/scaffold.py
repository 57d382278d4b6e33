"""`cardai new-game`: write a folder with a small complete game, from which to build another.

The template is the game in `cardai/cli/template`, which the tests check like any other game.
"""

import importlib.util
import keyword
import sys
import tempfile
from pathlib import Path

from cardai.errors import CardaiError
from cardai.registry import available

TEMPLATE = Path(__file__).parent / "template"
PLACEHOLDER, TITLE_PLACEHOLDER = "mygame", "My Game"
FILES = ("__init__.py", "RULES.md", "test_mygame.py")


def create(name: str, folder: Path = Path()) -> Path:
    """Write a new game `name` into `folder`/`name`. Returns that path.

    Raises CardaiError, and writes nothing, if the name cannot be the name of a Python module or is already used, if the
    path exists, or if the folder cannot be written to.
    """
    if not (name.isascii() and name.isidentifier()) or name.startswith("_") or keyword.iskeyword(name):
        raise CardaiError(f"{name!r} cannot be a game's name; write a Python name, such as my_game")
    place = folder / name
    if place.exists() or place.is_symlink():
        raise CardaiError(f"{place} exists already; nothing was written")
    if name in available() or _is_module(name):
        raise CardaiError(f"{name!r} is already the name of a game or of an installed module; choose another")
    try:
        with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=folder, ignore_cleanup_errors=True) as temporary:
            unfinished = Path(temporary) / name
            _write(name, unfinished)
            unfinished.rename(place)
    except OSError as error:
        raise CardaiError(f"cannot write to {folder}: {error.strerror or error}") from None
    return place


def _is_module(name: str) -> bool:
    spec = None if name in sys.stdlib_module_names else importlib.util.find_spec(name)
    return name in sys.stdlib_module_names or (spec is not None and spec.origin is not None)


def _write(name: str, place: Path) -> None:
    place.mkdir()
    title = name.replace("_", " ").title()
    for file in FILES:
        text = (TEMPLATE / file).read_text("utf-8")
        text = text.replace(PLACEHOLDER, name).replace(TITLE_PLACEHOLDER, title)
        (place / file.replace(PLACEHOLDER, name)).write_text(text, "utf-8")
