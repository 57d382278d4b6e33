"""Each room of the house has a budget of lines (tests/budget.toml). A change that needs more says there why."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BUDGET = tomllib.loads((ROOT / "tests/budget.toml").read_text("utf-8"))
PACKAGE = ("cardai", "cardai/guests", "games", "evaluators", "experiments")
ENDINGS = {".py", ".js", ".css", ".html"}


def lines_of(place: Path) -> int:
    files = [place] if place.is_file() else place.rglob("*")
    return sum(len(file.read_text("utf-8").splitlines()) for file in files if file.suffix in ENDINGS)


def rooms() -> list[str]:
    """The rooms of the package (folders in its parts, each guest, and the files beside them as one), and the tests."""
    found = [part for part in PACKAGE if any(place.suffix == ".py" for place in (ROOT / part).iterdir())]
    for part in PACKAGE:
        folders = [place for place in (ROOT / part).iterdir() if place.is_dir() and any(place.rglob("*.py"))]
        found += [f"{part}/{place.name}" for place in folders if place.name != "__pycache__"]
    return sorted({*found, "tests"})


def size_of(room: str) -> int:
    place = ROOT / room
    if room in PACKAGE:
        return sum(lines_of(file) for file in place.iterdir() if file.is_file())
    return lines_of(place)


def test_every_room_has_a_budget_and_a_reason():
    assert sorted(BUDGET) == rooms()
    for room, entry in BUDGET.items():
        assert set(entry) == {"lines", "why"}, room
        assert len(entry["why"].split()) >= 5, room


@pytest.mark.parametrize("room", rooms())
def test_a_room_keeps_its_budget(room):
    size, budget = size_of(room), BUDGET[room]["lines"]
    assert size <= budget, f"{room} has {size} lines, {size - budget} above its budget: remove some, or say why"
    assert size >= 0.9 * budget - 20, f"{room} has {size} lines, a tenth below its budget: lower the budget"
