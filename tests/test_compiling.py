"""Compiled code is kept under the content that it depends on, and compiled by Numba alone it plays the same games."""

import importlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cardai
import cardai.games
from cardai.rules import JIT, keeping

ROOT = Path(cardai.__file__).parents[1]
pytestmark = pytest.mark.skipif(not JIT, reason="nothing is compiled")

RULES = '''
"""A module."""
from typing import NamedTuple
import numpy as np
from cardai.rules.cards import count
from cardai.rules import inlined, rule, separate
import beside

LIMIT = 3
TABLE = np.arange(4)
NAMES = ("a", "b")


class Pair(NamedTuple):
    one: int
    other: int


@rule
def inner(a):
    """Says something."""
    return a + LIMIT


@rule
def between(a):
    return inner(a) + TABLE[a]


@rule
def outer(a):
    # a remark
    pair = Pair(a, 2)
    return between(a) + count(a) + beside.STEP + pair.one * len(NAMES)


@rule
def other(a):
    return a * 2
'''


def loaded(folder, text, step=1):
    """The module of a text, in a folder of its own."""
    folder.mkdir()
    (folder / "beside.py").write_text(f"STEP = {step}\nUNUSED = {step + 1}\n")
    (folder / "rules.py").write_text(text)
    for name in ("beside", "rules"):
        spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


@pytest.fixture
def content(tmp_path):
    def of(text, name="outer", **more):
        module = loaded(tmp_path / str(len(list(tmp_path.iterdir()))), text, **more)
        return keeping.content_of(getattr(module, name))

    yield of
    for name in ("beside", "rules"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a + LIMIT", "a - LIMIT"),  # the code of a rule that is called by one that is called
        ("LIMIT = 3", "LIMIT = 4"),
        ("LIMIT = 3", "LIMIT = 3.0"),
        ("np.arange(4)", "np.arange(4) + 1"),
        ("np.arange(4)", "np.arange(4, dtype=np.int32)"),
        ("@rule\ndef inner", "@inlined\ndef inner"),
        ("@rule\ndef inner", "@separate\ndef inner"),
        ("one: int\n    other: int", "other: int\n    one: int"),
        ("Pair(a, 2)", "Pair(a, 3)"),
        ('("a", "b")', '("a", "b", "c")'),
    ],
)
def test_code_has_another_name_if_anything_that_it_reaches_is_changed(content, old, new):
    assert old in RULES
    assert content(RULES) != content(RULES.replace(old, new))


def test_code_has_another_name_if_a_number_of_another_module_is_changed(content):
    assert content(RULES, step=1) != content(RULES, step=2)
    assert content(RULES, "other", step=1) == content(RULES, "other", step=2)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# a remark", "# another\n    # remark"),
        ("Says something.", "Says something else, at length."),
        ('"""A module."""', '"""A module\n\nof rules."""'),
        ("a * 2", "a * 3"),  # a rule that is not reached
        ("LIMIT = 3", "LIMIT = 3\nUNUSED = 5"),
    ],
)
def test_code_keeps_its_name_if_nothing_is_changed_that_it_reaches(content, old, new):
    assert old in RULES
    assert content(RULES) == content(RULES.replace(old, new))


def test_a_rule_that_depends_on_what_cannot_be_hashed_is_not_kept(content):
    with pytest.raises(keeping.Unkept):
        content(RULES.replace("LIMIT = 3", "LIMIT = object()"))


def rules_of(module):
    """The rules that a module defines."""
    found = [item for item in vars(module).values() if hasattr(item, "py_func")]
    return [item for item in found if item.py_func.__module__ == module.__name__]


def modules():
    """Those in which rules may be; others may need an extra that is not installed."""
    found = [
        importlib.import_module(".".join((package.__name__, *file.relative_to(place).with_suffix("").parts)))
        for package in (cardai, cardai.games)
        for place in [Path(package.__path__[0])]
        for file in sorted(place.rglob("*.py"))
        if b"@rule" in file.read_bytes() or b"@inlined" in file.read_bytes() or b"@separate" in file.read_bytes()
    ]
    return [*found, *(importlib.import_module(name) for name in ("small_game", "planted", "steps"))]


def test_the_name_of_every_rule_depends_on_every_rule_that_it_calls():
    seen = 0
    for module in modules():
        for caller in rules_of(module):
            assert keeping.content_of(caller)
            reached = keeping._own(caller.py_func)[1]
            for name in caller.py_func.__code__.co_names:
                callee = getattr(caller.py_func.__globals__.get(name), "py_func", None)
                if callee:
                    seen += 1
                    assert callee in reached, f"{caller.__qualname__} calls {name}"
    assert seen > 300


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import rules

if len(sys.argv) > 2:
    rules.LIMIT = int(sys.argv[2])
print(rules.outer(1), sum(rules.outer.stats.cache_hits.values()))
"""


def ran(folder, cache, *arguments, code=PROGRAM):
    env = {**os.environ, "CARDAI_CACHE": str(cache), "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder), *arguments], env=env, capture_output=True, text=True, timeout=300
    )
    assert (done.stderr, done.returncode) == ("", 0)
    return done.stdout.split()


def test_a_copy_elsewhere_shares_what_is_kept(tmp_path):
    loaded(tmp_path / "one", RULES)
    loaded(tmp_path / "two", RULES.replace("# a remark", "#\n    #"))
    for name in ("beside", "rules"):
        sys.modules.pop(name, None)
    cache = tmp_path / "cache"
    assert ran(tmp_path / "one", cache) == ["9", "0"]
    assert ran(tmp_path / "two", cache) == ["9", "1"]
    assert ran(tmp_path / "two", cache, "5") == ["11", "0"]  # a constant that was changed after it was read
    assert ran(tmp_path / "one", cache) == ["9", "1"]
    (file,) = [place for place, _ in kept(cache) if "rules.outer" in place.name][:1]
    file.unlink()
    assert ran(tmp_path / "two", cache, "3") in (["9", "0"], ["9", "1"])


def kept(cache):
    return [(place, place.stat().st_size) for place in sorted((cache / "rules").glob("*.code"))]


SEPARATE = RULES.replace("@rule\ndef inner", "@separate\ndef inner").replace(
    "@rule\ndef between", "@separate\ndef between"
)


def test_a_separate_rule_is_compiled_once_and_again_if_its_code_is_gone(tmp_path):
    loaded(tmp_path / "one", SEPARATE)
    for name in ("beside", "rules"):
        sys.modules.pop(name, None)
    cache = tmp_path / "cache"
    assert ran(tmp_path / "one", cache) == ["9", "0"]
    names = [place.name.partition("-")[0] for place, _ in kept(cache)]
    assert names == ["rules.between", "rules.inner", "rules.outer"]
    assert ran(tmp_path / "one", cache) == ["9", "1"]
    for place, _ in kept(cache)[:2]:
        before = place.read_bytes()
        place.unlink()
        assert ran(tmp_path / "one", cache) == ["9", "0"]
        place.write_bytes(before[:-1])
        assert ran(tmp_path / "one", cache) == ["9", "0"]
        assert ran(tmp_path / "one", cache) == ["9", "1"]


def test_files_that_changed_their_names_are_compiled_anew(tmp_path):
    """The process that called the wrong code was ended by the operating system."""
    loaded(tmp_path / "one", RULES)
    for name in ("beside", "rules"):
        sys.modules.pop(name, None)
    cache, other = tmp_path / "cache", tmp_path / "other"
    assert ran(tmp_path / "one", cache) == ["9", "0"]
    assert ran(tmp_path / "one", other, "5") == ["11", "0"]
    mine, theirs = kept(cache)[0][0], kept(other)[0][0]
    mine.write_bytes(theirs.read_bytes())
    assert ran(tmp_path / "one", cache) == ["9", "0"]
    assert ran(tmp_path / "one", cache) == ["9", "1"]


SHARED = """
from cardai.rules import rule, separate


@separate
def apart(a):
    return a + 2


@rule
def shared(a):
    return 2 * apart(a)


@rule
def first(a):
    return shared(a) + 1


@rule
def second(a):
    return shared(a) + 3


@rule
def third(a):
    return shared(a) + 5
"""
BOTH, ALONE = (
    f"import sys; sys.path.insert(0, sys.argv[1]); import both; print({calls})"
    for calls in (
        "both.first(1), both.second(1), both.third(1)",
        "both.third(1), *both.third.stats.cache_hits.values()",
    )
)


def test_every_entry_point_names_the_separate_rules_that_a_shared_one_calls(tmp_path):
    """Without them it is called in a process that has not loaded them, which crashes."""
    (tmp_path / "both.py").write_text(SHARED)
    assert ran(tmp_path, tmp_path / "cache", code=BOTH) == ["7", "9", "11"]
    assert ran(tmp_path, tmp_path / "cache", code=ALONE) == ["11", "1"]


GAMES = """
import sys
import numba
if len(sys.argv) > 2:
    numba.__version__ = sys.argv[2]
import numpy as np
import small_game
from cardai.cli.doctor import how_compiled
from cardai.rules import STREAM

game, digest = small_game.GAME, []
for seed in range(20):
    state = game.new(4, seed)
    while state.turn >= 0:
        moves = game.moves(state)
        digest += [int(field) for name in moves.dtype.names for field in moves[name]]
        state = game.play(state, moves[seed % len(moves)])
        digest += game.world(state, 0, seed).hands.tolist()
    digest += game.points(state).tolist()
print(hash(tuple(digest)))
print(how_compiled().replace(" ", "_"))
"""


def test_a_numba_that_is_not_known_compiles_by_itself_and_plays_the_same(tmp_path):
    known = ran(tmp_path, tmp_path / "cache", code=GAMES)
    unknown = [ran(tmp_path, tmp_path / "cache", "99.1.0", code=GAMES) for _ in range(2)]
    assert known[1] == "compiled"
    assert unknown[0] == unknown[1] == [known[0], unknown[0][1]]
    assert unknown[0][1].startswith("compiled_by_Numba_alone,_slowly:_this_is_Numba_99.1.0,_and_cardai_knows")


def test_a_part_of_numba_that_is_missing_is_named(monkeypatch):
    from cardai.rules import compiling

    assert compiling._why_stock() == compiling.why_stock
    monkeypatch.setitem(compiling.RELIED_ON, "numba.core.dispatcher", ("no_such_part",))
    assert "has no numba.core.dispatcher.no_such_part" in compiling._why_stock()


def test_a_number_on_which_a_rule_depends_is_hashed_by_its_type_and_value():
    same = [1, True, 1.0, "1", b"1", np.int64(1), np.int32(1), (1,), [1], None]
    texts = {keeping._text(None, value, {}) for value in same}
    assert len(texts) == len(same)
