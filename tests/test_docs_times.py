"""No page says how long something takes, unless the command that measures it stands beside it or a command wrote it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
NUMBER = r"(?:\d[\d.,]*(?: (?:to|or) \d[\d.,]*)?|an?|half an?|one|two|three|four|five|ten|twenty|some|few|several)"
UNIT = r"(?:ns|nanoseconds?|us|µs|microseconds?|ms|milliseconds?|s|seconds?|min|minutes?|h|hours?|days?|nights?|weeks?)"
TIME = re.compile(rf"\b{NUMBER} {UNIT}\b|\b(?:for|take|takes|in) (?:seconds|minutes|hours|days)\b")
COUNT, THINGS = r"(?:\d|million|thousands?|dozens?)[ \d,.]*", r"(?:games|states|decisions|rows|moves|files|steps)"
RATE = re.compile(rf"{COUNT} {THINGS} a second\b")
COMMAND = re.compile(r"`(?:[A-Z_]+=\S+ )?(?:cardai|python|pytest|taskset|pip|ssh|ray)\b[^`]*`")
LIMITS = {
    "agents.md": {"100 ms"},  # the times for which a strongest agent is listed
    "benchmarks.md": {"10 seconds"},  # the budget of `cardai bench --all`
    "hosting.md": {"a minute", "two seconds"},  # how long addresses are kept, and the server takes to end
    "protocol.md": {"60 seconds", "60 s", "ten minutes", "half a second"},  # how long a program may take
    "serve.md": {"10 ms", "10 seconds", "15 seconds", "a minute", "5 minutes", "10 minutes"},  # what the server allows
    "table-design.md": {"220 ms"},  # how long cards move
}
"""Times that the code sets, which nothing measures."""
WRITTEN = re.compile(r"<!-- written by `cardai report`.*?<!-- end of what `cardai report` writes -->", re.DOTALL)


def parts(page: Path) -> list[str]:
    """The paragraphs, items of lists and rows of tables of a page, without fenced blocks and what commands wrote."""
    text = WRITTEN.sub("", page.read_text("utf-8"))
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) ?)", text) if part.strip()]


def times(part: str) -> list[str]:
    """The figures of time in a part of a page that has no command."""
    if COMMAND.search(part):
        return []
    words = re.sub(r"`[^`]*`", "", part)
    figures = [found[0] for found in TIME.finditer(words) if found[0] not in ("a second", "one second")]
    return figures + [found[0] for found in RATE.finditer(words)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_figure_of_time_is_typed_without_its_command(page):
    allowed = LIMITS.get(page.name, set())
    found = [(part[:160], left) for part in parts(page) if (left := [one for one in times(part) if one not in allowed])]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "The first run takes about half a minute longer, to compile the rules.",
        "All of it runs in ten minutes.",
        "It takes 0.1 to 5 ms.",
        "About a million states a second on each processor.",
        "It was trained for 21 minutes.",
        "This takes seconds.",
    ],
)
def test_a_typed_time_is_found(text):
    assert times(text)
    assert not times(f"{text} `cardai perf moska` measures it.")


def test_what_is_no_time_is_none():
    for text in ("A second, larger sample.", "Seat 2 is a second one.", "`--seconds 5`", "How many games a second?"):
        assert times(text) == []
    assert set(LIMITS) <= {page.name for page in PAGES}
