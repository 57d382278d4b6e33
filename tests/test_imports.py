"""Imports point one way: the core knows no game and no network, games know nothing but the core."""

import ast
import functools
import importlib
import itertools
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("cardai", "games", "evaluators", "experiments")
GAMES = sorted(
    place.stem for place in (ROOT / "games").iterdir() if place.suffix == ".py" or (place / "__init__.py").is_file()
)
GAMES.remove("__init__")
SAME_RULES = {"cardai.games.durak52": "cardai.games.durak"}  # games that are another one with a deck of its own
NETWORKS = {"jax", "jaxlib", "flax", "optax", "chex", "orbax"}


def modules(*folders: str) -> list[Path]:
    found = sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))
    assert found
    return found


def imported(file: Path) -> set[str]:
    """The full names of all modules a file imports, wherever in it: `cardai.rules`, `cardai.games.moska.text`.

    `from package import name` counts as `package.name`, so that it does not matter whether the name is a module.
    """
    package = module_of(file.parent / "__init__.py").split(".")
    names = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base += node.module.split(".") if node.module else []
            names |= {".".join([*base, alias.name]) for alias in node.names}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            names |= {one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)}
    return names


def root_of(name: str) -> str:
    """The package that a module is in; ours are parts of one: `games` of `cardai.games.moska.text`."""
    first, _, rest = name.partition(".")
    part = rest.partition(".")[0]
    return part if first == "cardai" and part in PACKAGES else first


def roots(file: Path) -> set[str]:
    return {root_of(name) for name in imported(file)}


def test_the_reading_of_imports_sees_all_forms(tmp_path, monkeypatch):
    file = tmp_path / "games/one/text.py"
    file.parent.mkdir(parents=True)
    file.write_text(
        "import numpy as np\nfrom .rules import act\nfrom .. import other\nfrom cardai import rules\n"
        "def late():\n    import jax.numpy\n    importlib.import_module('optax.losses')\n"
    )
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert imported(file) == {
        "numpy", "cardai.games.one.rules.act", "cardai.games.other", "cardai.rules", "jax.numpy", "optax.losses"
    }  # fmt: skip


# Modules that are found by a text: names that Python's own imports do not show.
BY_TEXT = {"import_module", "__import__", "resolve_name", "find_spec", "run_module"}
NAMED_WHILE_RUNNING = {
    "cardai/cli/main.py", "cardai/cli/scaffold.py", "cardai/files/entries.py", "cardai/laws/plain_python.py",
    "cardai/measure/situations.py", "cardai/playing/agents/own_code.py", "cardai/playing/agents/spec.py",
    "cardai/playing/stats/report.py", "cardai/registry.py", "cardai/rules/compiling.py",
    "experiments/machinery/catalogue.py",
}  # fmt: skip
"""Files that import a module whose name is given to them: a user's, a game's, an entry point's, or MODULE:OBJECT."""
OBJECT = re.compile(r"[A-Za-z_]\w*(\.\w+)+:\w+")
OURS = {place.stem for place in ROOT.iterdir()}
"""What a name may begin with in the checkout and nowhere else, but for `cardai`."""


def text_of(node: ast.AST | None) -> str | None:
    """A text as it is written, with {} for each part that is filled in; None for anything else."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def imported_by(program: str) -> list[str]:
    """The modules that a text imports, if it is a program, as after `python -c`."""
    try:
        nodes = [*ast.walk(ast.parse(program.replace("{}", "_")))] if "import " in program else []
    except SyntaxError:
        return []
    modules = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return modules + [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]


def named_by_text(file: Path) -> list[str]:
    """The modules, and MODULE:OBJECT, that a file names by texts; {} stands for parts that are filled in.

    They stand in calls that import by a name, after `-m`, in programs and in the form MODULE:OBJECT.
    """
    text, names = file.read_text("utf-8"), []
    for node in ast.walk(ast.parse(text)) if file.suffix == ".py" else ():
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in BY_TEXT and node.args:
            names.append(text_of(node.args[0]) or "{}")
        elif isinstance(node, ast.List | ast.Tuple):
            words = [text_of(word) for word in node.elts]
            names += [name for mark, name in itertools.pairwise(words) if mark == "-m" and name]
        elif (written := text_of(node)) is not None:
            names += [written] if OBJECT.fullmatch(written) else imported_by(written)
    return names + re.findall(r"python3? -m ([\w.]+)", text)


def is_misnamed(name: str) -> bool:
    """Whether a name is found in the checkout alone, or is of the package and found nowhere."""
    module, _, attribute = name.partition(":")
    known = module.partition("{")[0].rpartition(".")[0] if "{" in module else module
    if known.partition(".")[0] != "cardai":
        return known.partition(".")[0] in OURS
    try:
        found = importlib.import_module(known)
    except ImportError as error:
        return (error.name or "").startswith("cardai")  # else an extra is not installed
    return bool(attribute) and not hasattr(found, attribute)


def test_modules_that_are_named_by_texts_are_found_wherever_cardai_is_installed():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    named = {str(file.relative_to(ROOT)): named_by_text(file) for file in [*modules(*PACKAGES, "examples"), *pages]}
    assert {file for file, names in named.items() if any(name.startswith("{") for name in names)} == NAMED_WHILE_RUNNING
    assert {
        "cardai.laws.plain_python",
        "cardai.cli.show.perf:table",
    } <= {name for names in named.values() for name in names}
    assert [f"{file}: {name}" for file, names in named.items() for name in names if is_misnamed(name)] == []


def test_entry_points_and_the_command_are_in_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = [name for group in (project["scripts"], *project["entry-points"].values()) for name in group.values()]
    assert len(names) > 5
    assert [name for name in names if not name.startswith("cardai.") or is_misnamed(name)] == []


def test_names_in_texts_are_seen_in_all_forms(tmp_path):
    file = tmp_path / "one.py"
    file.write_text(
        "import_module(f'experiments.{name}')\nimportlib.util.find_spec(name)\nDRAWN = 'cardai.cli.show.nobody:table'\n"
        "command = [sys.executable, '-m', 'games.moska', 'x']\nprogram = f'import sys; from tests import {name}'\n"
        "# or python -m evaluators.model\n"
    )
    names = ["cardai.cli.show.nobody:table", "evaluators.model", "experiments.{}", "games.moska", "sys", "tests", "{}"]
    assert sorted(named_by_text(file)) == names
    assert [name for name in names if is_misnamed(name)] == [name for name in names if name not in ("sys", "{}")]
    assert not is_misnamed("cardai.cli.show.perf:table")
    assert is_misnamed("cardai.cli.show.perf:no_such_function")


@pytest.mark.parametrize("file", modules("cardai"), ids=lambda file: str(file.relative_to(ROOT)))
def test_the_core_imports_no_game_no_evaluator_no_experiment_and_no_network(file):
    assert roots(file).isdisjoint({"games", "evaluators", "experiments", "tests", "examples", *NETWORKS})


@pytest.mark.parametrize("file", modules("games", "examples"), ids=lambda file: str(file.relative_to(ROOT)))
def test_a_game_imports_the_core_numpy_the_standard_library_and_itself(file):
    own = module_of(file.parent / "__init__.py")
    for name in imported(file):
        root = root_of(name)
        allowed = root in {"cardai", "numpy"} or root in sys.stdlib_module_names
        is_own = own != "cardai.games" and name.startswith((f"{own}.", f"{SAME_RULES.get(own, own)}."))
        assert allowed or is_own, f"{file.relative_to(ROOT)} imports {name}"


@pytest.mark.parametrize("file", modules("evaluators"), ids=lambda file: str(file.relative_to(ROOT)))
def test_evaluators_import_no_game_and_no_experiment(file):
    assert roots(file).isdisjoint({"games", "experiments", "tests", "examples"})


def test_nothing_imports_experiments_but_themselves_and_nothing_imports_tests():
    for file in modules(*PACKAGES):
        assert "tests" not in roots(file), file
        assert file.is_relative_to(ROOT / "experiments") or "experiments" not in roots(file), file


def test_no_module_is_a_drawer_for_everything():
    drawers = {"utils", "util", "common", "helpers", "helper", "misc", "lib", "tools"}
    names = {part for file in modules(*PACKAGES, "examples") for part in (file.stem, *file.relative_to(ROOT).parts)}
    assert names.isdisjoint(drawers)


def test_there_are_games_to_look_for():
    assert {"moska", "tictactoe"} <= set(GAMES)


@pytest.mark.parametrize("file", modules("cardai"), ids=lambda file: str(file.relative_to(ROOT)))
def test_the_code_of_the_core_names_no_game(file):
    """Docstrings may, as examples; code, comments aside, may not."""
    tree = ast.parse(file.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            node.value.value = ""
    code = ast.unparse(tree).lower().replace("'h': 'hearts'", "")  # a suit is called so too
    assert [game for game in GAMES if re.search(rf"\b{game}\b", code)] == []


def module_of(file: Path) -> str:
    place = file.relative_to(ROOT).with_suffix("")
    parts = place.parent.parts if place.name == "__init__" else place.parts
    return ".".join(("cardai", *parts) if parts[0] in PACKAGES[1:] else parts)


def circles(arrows: dict[str, set[str]]) -> set[str]:
    """What is left of a graph when nodes without arrows to others that are left are taken away again and again."""
    left = dict(arrows)
    while free := [name for name, targets in left.items() if not any(target in left for target in targets - {name})]:
        for name in free:
            del left[name]
    return set(left)


def test_circles_are_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"c"}, "e": set()}) == {"a", "b", "c", "d"}
    assert circles({"a": {"b"}, "b": set()}) == set()


def test_no_modules_import_each_other_in_a_circle():
    """Imports at the top of a module and those inside functions alike."""
    files = {module_of(file): file for file in modules(*PACKAGES)}
    arrows = {}
    for name, file in files.items():
        named = imported(file)
        arrows[name] = {target for one in named for target in (one, one.rpartition(".")[0]) if target in files}
    assert circles(arrows) == set()


# Rooms of the core, bottom first: a module imports only its own room and rooms before it.
ROOMS = (
    "errors", "files", "rules", "game", "registry", "playing", "records", "laws", "measure", "cli", "guests",
)  # fmt: skip
DOORS = {"__init__", "__main__"}  # the package's public names and its command


def test_the_picture_of_the_house_shows_the_rooms_in_their_order():
    shown = re.findall(r'fill="#ffd479"[^>]*>(\w+)<', (ROOT / "docs/house.svg").read_text("utf-8"))
    assert [name for name in reversed(shown) if name in ROOMS and name != "guests"] == [
        name for name in ROOMS if (ROOT / "cardai" / name).is_dir() and name != "guests"
    ]


def room_of(file: Path) -> str:
    return file.relative_to(ROOT / "cardai").parts[0].removesuffix(".py")


def test_every_entry_of_the_core_is_a_room_or_a_door():
    entries = {place.name for place in (ROOT / "cardai").iterdir() if place.name not in ("__pycache__", "py.typed")}
    assert {name.removesuffix(".py") for name in entries} == {*ROOMS, *DOORS}
    assert len(entries) <= 13


@pytest.mark.parametrize("file", modules("cardai"), ids=lambda file: str(file.relative_to(ROOT)))
def test_rooms_import_only_downward(file):
    if room_of(file) in DOORS:
        return
    rooms = {name.split(".")[1] for name in imported(file) if root_of(name) == "cardai" != name} - {room_of(file)}
    above = [room for room in rooms if ROOMS.index(room) > ROOMS.index(room_of(file))]
    assert above == [], f"{file.relative_to(ROOT)} imports {above}"


def test_the_benchmark_is_imported_only_to_run_a_suite_or_a_match():
    allowed = {"cardai.measure.bench", "cardai.measure.bench.run_suite", "cardai.measure.bench.run_match"}
    for file in modules(*PACKAGES, "tests"):
        names = {name for name in imported(file) if name.startswith("cardai.measure.bench.")}
        assert names <= allowed, f"{file.relative_to(ROOT)} imports {names - allowed}"


def test_a_name_of_a_class_names_one_class():
    """Except what is private to a module."""
    places: dict[str, list[str]] = {}
    for file in modules(*PACKAGES):
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and node.name != "Scale":
                places.setdefault(node.name, []).append(module_of(file))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


TESTS = ROOT / "tests"


MODULES = {"pytest-xdist": "xdist"}
"""{distribution: its module} where the names differ."""


def brought_by_test() -> set[str]:
    """The roots of what a test may import where the README's test command installed nothing but the extra `test`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    names = [re.split(r"[^\w.-]", line)[0] for line in needed]
    return {MODULES.get(name, name) for name in names} | sys.stdlib_module_names | {*PACKAGES, "examples", "tests"}


@functools.cache
def top_imports(file: Path) -> list[str]:
    """The full names of the modules that a file imports at its top, up to its first `importorskip`."""
    names: list[str] = []
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.Expr | ast.Assign) and "importorskip" in ast.unparse(node.value):
            break
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
    return names


def imported_at_once(file: Path, seen: set[Path]) -> dict[str, Path]:
    """{root: the file} of what is imported when a test file is collected, up to its first `importorskip`."""
    found: dict[str, Path] = {}
    seen.add(file)
    for name in top_imports(file):
        places = [folder / f"{name.replace('.', '/')}.py" for folder in (file.parent, TESTS)]
        own, root = next((place for place in places if place.exists()), None), name.partition(".")[0]
        if own is not None:
            found |= imported_at_once(own, seen) if own not in seen else {}
        elif not (TESTS / root).is_dir():
            found[root] = file
    return found


def foreign_to_test(file: Path, brought: set[str]) -> list[str]:
    where = imported_at_once(file, set())
    return [f"{place.name} imports {root}" for root, place in sorted(where.items()) if root not in brought]


def test_a_test_file_imports_at_once_only_what_the_extra_test_brings():
    """Else the README's test command ends at it; what other extras bring stands after an `importorskip`."""
    brought = brought_by_test()
    assert {"numpy", "pytest", "scipy", "jax", "json", "cardai"} <= brought
    assert "starlette" not in brought
    files = sorted(TESTS.glob("test_*.py"))  # guests have extras of their own
    assert [line for file in files for line in foreign_to_test(file, brought)] == []


def test_an_import_of_another_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "TESTS", tmp_path)
    (tmp_path / "test_one.py").write_text("import json\nimport gymnasium\nimport helper\n")
    (tmp_path / "helper.py").write_text("from starlette.testclient import TestClient\n")
    (tmp_path / "test_two.py").write_text("import json\npytest.importorskip('gymnasium')\nimport gymnasium\n")
    brought = {"json"}
    assert foreign_to_test(tmp_path / "test_one.py", brought) == [
        "test_one.py imports gymnasium", "helper.py imports starlette"
    ]  # fmt: skip
    assert foreign_to_test(tmp_path / "test_two.py", brought) == []
