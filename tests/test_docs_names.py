"""Every name of ours that the pages mention exists: functions, classes, fields, files, verbs, options and specs."""

import ast
import builtins
import importlib
import inspect
import pkgutil
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from cardai import registry
from cardai.cli import main as cli
from cardai.playing.agents.evaluator import known_evaluators
from cardai.playing.agents.spec import BUILT_IN, kinds_of, list_specs

ROOT = Path(__file__).parent.parent
PAGES = [
    *sorted((ROOT / "docs").glob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *sorted(ROOT.glob("games/*/RULES.md")),
    *sorted(ROOT.glob("examples/*/*.md")),
    *sorted(ROOT.glob("experiments/*.md")),
    ROOT / "cardai/cli/template/RULES.md",
]
PACKAGES = ("cardai", "evaluators", "experiments", "games", "examples")
FOLDERS = (*PACKAGES, "tests", "docs", "report", ".ci")
OTHERS = {
    # of other libraries
    "PettingZooEnv", "PettingZooWrapper", "api_test", "seed_test", "check_env", "random_sim_test",
    "parallel_api_test", "apply_actions", "crazy_eights", "reshuffle",
    "serialize_game_and_state",
    # put together when a program runs
    "player_1", "durak_v1",
}  # fmt: skip


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def quoted(page: Path) -> list[str]:
    """What stands in backticks, each once."""
    return list(dict.fromkeys(" ".join(text.split()) for text in re.findall(r"`([^`]+)`", prose(page))))


@cache
def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return listed.splitlines()


@cache
def words_of_code() -> frozenset[str]:
    """All words of our code: names, and words in its texts, but not those of comments."""
    words: set[str] = {*dir(builtins), *OTHERS}
    for name in tracked():
        file = ROOT / name
        if name.startswith("tests/"):
            words.add(file.stem)
        elif name.endswith(".py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                for _, value in ast.iter_fields(node):
                    for item in value if isinstance(value, list) else [value]:
                        if isinstance(item, str):
                            words.update(re.findall(r"\w+", item))
        elif name.endswith((".toml", ".js", ".html")):
            words.update(re.findall(r"\w+", file.read_text("utf-8")))
    return frozenset(words)


@cache
def classes() -> dict[str, set[str]]:
    """The attributes of each class of ours, with those of its bases of ours."""
    own: dict[str, set[str]] = {}
    bases: dict[str, list[str]] = {}
    for name in tracked():
        if not name.endswith(".py") or name.startswith("tests/"):
            continue
        for node in ast.walk(ast.parse((ROOT / name).read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                found = own.setdefault(node.name, set())
                bases[node.name] = [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases]
                for item in ast.walk(node):
                    if isinstance(item, ast.FunctionDef):
                        found.add(item.name)
                    elif isinstance(item, ast.AnnAssign | ast.Assign):
                        targets = [item.target] if isinstance(item, ast.AnnAssign) else item.targets
                        found |= {ast.unparse(target).removeprefix("self.") for target in targets}
    for name, above in bases.items():
        for base in above:
            own[name] |= own.get(base, set())
    return own


@cache
def verbs() -> dict[str, set[str]]:
    """The options of each verb."""
    cli.add_verbs()
    found = {}
    for name in cli.app:
        if not name.startswith("-"):
            command = cli.app[name]
            below = [command[verb] for verb in command if not verb.startswith("-")]  # verbs of a verb
            if command.default_command is not None:
                below.append(command)
            arguments = [one for verb in below for one in verb.assemble_argument_collection()]
            found[name] = {option for argument in arguments for option in argument.names} | {"--help"}
    return found


@cache
def games() -> list:
    paths = [str(path.parent) for path in sorted((ROOT / "examples").glob("*/__init__.py"))]
    return [registry.load(name) for name in [*registry.available(), *paths]]


@cache
def agents() -> tuple[frozenset[str], frozenset[str]]:
    """The first words of specs, and the names of evaluators and policies."""
    specs = [spec for game in games() for spec in (*list_specs(game), *game.agents.players)]
    kinds = {kind for game in games() for kind in kinds_of(game)}
    judges = {name for game in games() for name in (*game.agents.heuristics, *known_evaluators(game))}
    first = {re.split(r"[:?]", spec)[0] for spec in specs}
    return frozenset({*first, *kinds, *BUILT_IN}), frozenset(judges | {spec.partition(":")[2] for spec in specs})


def resolved(name: str) -> bool:
    """Whether a dotted name leads to something."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            if not hasattr(thing, part) and part not in getattr(thing, "__dataclass_fields__", {}):
                return False
            thing = getattr(thing, part, None)
        return True
    return False


def wrong(text: str) -> str:
    """Why a text in backticks names nothing that exists, or ""."""
    dotted = re.match(rf"(?:{'|'.join(PACKAGES)})(?:\.\w+)+(?![\w/])", text)
    if dotted and not text.startswith("examples.") and not re.search(r"\.(md|py|toml|jsonl?)\b", dotted[0]):
        return wrong_call(text, dotted[0]) if resolved(dotted[0]) else f"{dotted[0]} does not exist"
    member = re.match(r"([A-Z]\w+)\.(\w+)", text)
    if member and member[1] in classes():
        return "" if member[2] in classes()[member[1]] else f"{member[1]} has no {member[2]}"
    if text.startswith("cardai "):
        return wrong_command(text.split()[1:])
    option = re.match(r"--[a-z][\w-]*", text)
    if option:
        known = {name for options in verbs().values() for name in options}
        return "" if option[0] in known | OTHER_OPTIONS else f"no verb has {option[0]}"
    place = re.match(rf"(?:{'|'.join(map(re.escape, FOLDERS))})/[\w./*-]*", re.sub(r"[A-Z]{3,}", "*", text))
    if place:
        return "" if list(ROOT.glob(place[0].rstrip("/"))) else f"there is no {place[0]}"
    spec = re.fullmatch(r"([a-z][a-z_0-9]*):([\w:?=&,.-]*)", text)
    if spec and spec[1] not in ("python", "http", "https"):
        first, judges = agents()
        inner = re.split(r"[?&,]", spec[2])[0]
        if spec[1] not in first:
            return f"no agent is called {spec[1]}"
        is_name = re.fullmatch(r"[a-z][a-z_]*", inner) is not None
        return "" if not is_name or inner in judges | first else f"no evaluator is called {inner}"
    call = re.match(r"([A-Za-z_]\w*)\(", text)
    word = call[1] if call else text
    if re.fullmatch(r"[A-Za-z_]\w{2,}", word):
        return "" if word in words_of_code() else f"nothing is called {word}"
    return ""


def wrong_call(text: str, name: str) -> str:
    """Why a dotted function does not take the arguments that a page calls it with, or ""."""
    if not text.startswith(f"{name}("):
        return ""
    try:
        call = ast.parse(text, mode="eval").body
    except SyntaxError:  # an excerpt, or with words for arguments
        return ""
    assert isinstance(call, ast.Call)
    keywords = {keyword.arg: None for keyword in call.keywords if keyword.arg}
    try:
        inspect.signature(pkgutil.resolve_name(name)).bind(*call.args, **keywords)
    except TypeError as error:
        return f"{name}: {error}"
    return ""


def wrong_command(words: list[str]) -> str:
    verb = words[0]
    if not re.fullmatch(r"[a-z][a-z-]*", verb):
        return ""
    if verb not in verbs():
        return f"there is no verb {verb}"
    for word in words[1:]:
        option = re.match(r"--[a-z][\w-]*", word)
        if option and option[0] not in verbs()[verb]:
            return f"cardai {verb} has no {option[0]}"
    return ""


OTHER_OPTIONS = {"--dist", "--strict"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_names_on_a_page_exist(page):
    assert [(text, why) for text in quoted(page) if (why := wrong(text))] == []


def commands(page: Path) -> list[list[str]]:
    """The command lines of `cardai` in a page's blocks."""
    blocks = re.findall(r"^```(?:sh|console)\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    found = [re.search(r"(?:^|[;&|$] *)(?:python -m )?cardai ([a-z].*)", line.partition(" #")[0]) for line in lines]
    return [match[1].split() for match in found if match]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_blocks_have_verbs_and_options_that_exist(page):
    assert [(words, why) for words in commands(page) if (why := wrong_command(words))] == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("cardai.experiments.scaling.nothing(game)", "cardai.experiments.scaling.nothing does not exist"),
        ("cardai.nowhere", "cardai.nowhere does not exist"),
        ("cardai.match(game)", "cardai.match: missing a required argument: 'players'"),
        ("Game.no_such_field", "Game has no no_such_field"),
        ("cardai no-such-verb", "there is no verb no-such-verb"),
        ("cardai match moska --no-such-option", "cardai match has no --no-such-option"),
        ("--no-such-option", "no verb has --no-such-option"),
        ("cardai/nowhere.py", "there is no cardai/nowhere.py"),
        ("gredy:best", "no agent is called gredy"),
        ("greedy:bst", "no evaluator is called bst"),
        (
            "no_such_function_of_ours(x)".replace("no_such", "no" + "where"),
            "nothing is called nowhere_function_of_ours",
        ),
    ],
)
def test_a_name_that_does_not_exist_is_found(text, why):
    assert wrong(text) == why


def test_names_that_exist_are_fine():
    for text in (
        "cardai.match", "cardai.Game", "Agents.players", "cardai bench --all", "--seed", "greedy:best", "bot3",
        "cardai/errors.py", "run_suite(game)", "games/moska/RULES.md", "cardai.playing.stats.interval.compare",
    ):  # fmt: skip
        assert wrong(text) == ""
    assert sum(len(quoted(page)) for page in PAGES) > 1000
