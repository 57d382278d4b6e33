"""The nightly tests: those that take seconds each. They run when what they look at has changed.

    python tests/nightly.py          # the files of tests/nightly.toml of which something changed since they passed
    python tests/nightly.py --all    # every file

A file that passes is noted in tests/data/nightly.json with the digest of what it looks at: itself, the modules of
tests/ that it imports, and a part of cardai, which grows with what the file names (`PARTS`).
"""

import hashlib
import json
import re
import sys
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ROOT = TESTS.parent
NOTE = TESTS / "data/nightly.json"
LISTED: dict[str, list[str]] = tomllib.loads((TESTS / "nightly.toml").read_text("utf-8"))
"""{file: its nightly tests}: functions, beginnings of cases such as "test_a[moska-", or "*"."""
PARTS = (
    ("cardai/errors.py", "cardai/registry.py", "cardai/files", "cardai/rules", "cardai/game", "cardai/playing",
     "games", "examples"),
    ("cardai/laws",),
    ("cardai", "evaluators", "experiments", "docs", "README.md", "pyproject.toml"),
)  # fmt: skip
READ = (".py", ".md", ".toml", ".json", ".js", ".css", ".html", ".svg", ".safetensors", ".jsonl", ".gz", ".npz")
"""Endings of the files whose change is one."""
_LAWS = re.compile(r"cardai\.laws")
_MORE = re.compile(
    r"cardai\.(records|measure|cli|guests|evaluators|experiments)|run_match|subprocess|\"docs|experiments"
)


def is_nightly(file: str, function: str, name: str) -> bool:
    """Whether a test is listed: by its function, by how its name with parameters begins, or with all of its file."""
    listed = LISTED.get(file, ())
    return not {"*", function}.isdisjoint(listed) or any(name.startswith(one) for one in listed if "[" in one)


def sources(file: Path) -> list[Path]:
    """A file of tests/ and those beside it that it imports, and so on."""
    found, waiting = [], [file]
    while waiting:
        found.append(waiting.pop())
        named = re.findall(r"^\s*(?:from|import) (\w+)", found[-1].read_text("utf-8"), re.MULTILINE)
        beside = [TESTS / f"{name}.py" for name in dict.fromkeys(named)]
        waiting += [place for place in beside if place.exists() and place not in (*found, *waiting)]
    return found


@cache
def digest_of(part: str) -> str:
    """The digest of a file, or of the files of a folder that tests may read."""
    from cardai.playing.machine import files_digest  # not where tests are collected: some watch what is imported

    return files_digest({part: ROOT / part}, READ)


def state_of(name: str) -> str:
    """The digest of what a file of tests looks at."""
    files = sorted(sources(TESTS / name))
    text = "".join(file.read_text("utf-8") for file in files)
    most = 2 if _MORE.search(text) else 1 if _LAWS.search(text) else 0
    parts = [*[str(file.relative_to(ROOT)) for file in files], *[part for parts in PARTS[: most + 1] for part in parts]]
    return hashlib.sha256("".join(map(digest_of, parts)).encode()).hexdigest()[:16]


class Outcomes:
    """Counts what passed and what failed, by file."""

    def __init__(self) -> None:
        self.passed, self.failed = Counter[str](), Counter[str]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = Path(report.nodeid.partition("::")[0]).name
        self.failed[name] += report.failed
        self.passed[name] += report.when == "call" and report.passed


def main(words: list[str]) -> int:
    noted = json.loads(NOTE.read_text("utf-8")) if NOTE.exists() else {}
    states = {name: state_of(name) for name in LISTED}
    chosen = [name for name in LISTED if "--all" in words or noted.get(name) != states[name]]
    print(f"{len(chosen)} of {len(LISTED)} files have changed since their nightly tests passed")
    if not chosen:
        return 0
    outcomes = Outcomes()
    options = ["-m", "nightly and not slow", "-n", "auto", "--dist", "loadfile", "--durations=10"]
    code = pytest.main([*options, *[str(TESTS / name) for name in chosen]], plugins=[outcomes])
    good = [name for name in chosen if outcomes.passed[name] and not outcomes.failed[name]] if code in (0, 1) else []
    kept = {name: state for name, state in noted.items() if name in LISTED} | {name: states[name] for name in good}
    NOTE.write_text(json.dumps(dict(sorted(kept.items())), indent=0) + "\n", "utf-8")
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
