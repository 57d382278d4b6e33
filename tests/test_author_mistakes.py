"""A mistake in a game's Python is told in one sentence with the author's function, file and line, and none of ours."""

import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import small_game

import cardai
from cardai.errors import CardaiError, place_of
from cardai.laws import LawResult, check

SHOW = "def show(state, seat):\n"
HOLDINGS = "def holdings(state):\n"
SPELL = "def spell(state, move):\n"
LAYOUT = "def layout(seats):\n"

MISTAKES = {
    "TypeError": (SHOW, 'return "seat " + seat', r"show for seat 0 raised TypeError\(.*\)"),
    "a number": (SHOW, "return 3", "show for seat 0 returns 3; it must return a text that is not empty"),
    "None": (SPELL, "pass", "spell returns None, as a function without return does; it must return a text .*"),
    "an array for a number": (
        HOLDINGS,
        "return [state.hands, 0]",
        r"holdings returns \[array.*; it must return a list .*",
    ),
    "wrong dtype": (
        HOLDINGS,
        "return np.array(state.hands, float)",
        r"holdings returns array.*; it must return a list .*",
    ),
    "a generator": (
        HOLDINGS,
        "yield from state.hands",
        "holdings returns <generator .*, as a function with yield does; .*",
    ),
    "async": (SHOW, 'return "async"', "show for seat 0 returns <coroutine .*, as an async function does; .*"),
    "recursion": (SHOW, "return show(state, seat)", "show for seat 0 calls itself without end"),
    "a layout that raises": (LAYOUT, "return {}[seats]", r"encoder planes for seat 0 raised KeyError\(\d\)"),
    "a layout of None": (LAYOUT, "pass", "layout returns None; it must return a tuple of Segment"),
    "exit": (SHOW, "raise SystemExit(3)", r".*SystemExit\(3\)"),
}
"""What is planted: the function, its new body, and the sentence."""


@pytest.fixture
def written(tmp_path: Path) -> Iterator[Callable[..., tuple[str, int]]]:
    """Writes Low Hand with a mistake into a file: its path, and the line of the function."""

    def write(name: str) -> tuple[str, int]:
        head, body, _ = MISTAKES[name]
        text = Path(small_game.__file__).read_text("utf-8")
        assert text.count(head) == 1
        new = f"async {head}" if name == "async" else head
        text = text.replace(head, f"{new}{textwrap.indent(body, '    ')}\n\n\ndef _before(*_):\n")
        path = tmp_path / "mistaken.py"
        path.write_text(text, "utf-8")
        return str(path), text[: text.index(new)].count("\n") + 1

    yield write
    sys.modules.pop("mistaken", None)


def shows_ours(result: LawResult, path: str) -> bool:
    return bool(re.search(r"/(cardai|numpy|site-packages)/", result.why.replace(path, "")))


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_the_authors_line_and_none_of_ours(name: str, written: Callable[..., tuple]) -> None:
    path, line = written(name)
    game = cardai.load(path)
    names = ["every_call_returns", "cards_are_conserved"]
    results = check(game, laws=names, variants=["two"], effort="quick", seconds=0.1, isolated=name == "exit")
    broken = [result for result in results if result.verdict == "broken"]
    assert broken
    assert not any(shows_ours(result, path) for result in broken)
    sentence = rf".*: {MISTAKES[name][2]} \({re.escape(path)}, line ({line}|{line + 1})\)"
    assert any(re.fullmatch(sentence, result.why) for result in broken), [result.why for result in broken]


def test_no_law_shows_a_line_of_ours(written: Callable[..., tuple]) -> None:
    path, _ = written("an array for a number")
    results = check(cardai.load(path), variants=["two"], effort="quick", seconds=0.5)
    assert sum(result.verdict == "broken" for result in results) > 3
    assert [result.why for result in results if shows_ours(result, path)] == []


def test_the_place_of_an_error_is_the_innermost_line_that_is_not_ours() -> None:
    with pytest.raises(CardaiError) as ours:
        cardai.load("no such game")
    assert Path(__file__).name in place_of(ours.value)
    with pytest.raises(re.error) as pythons:
        re.compile("(")
    assert re.search(r"test_author_mistakes\.py, line \d+\)$", place_of(pythons.value))
