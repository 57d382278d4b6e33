"""What installed packages bring by entry points."""

from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec


def brought(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group by name, in order, without those whose module is gone, as with a deleted folder."""
    found = sorted(entry_points(group=group), key=lambda entry: entry.name)
    return {entry.name: entry for entry in found if _is_there(entry.module)}


def _is_there(module: str) -> bool:
    """Whether a module can be found. The packages that it is in are imported, and it is not."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # a package that it is in is gone
        return False
