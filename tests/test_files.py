"""Files from anywhere: whatever is in them, a reader takes them or refuses them in one sentence, within limits."""

import errno
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import mutated_files
import numpy as np
import pytest

import cardai
from cardai.cli.main import run
from cardai.errors import CardaiError, is_printable, printable, short
from cardai.files.reading import (
    DEEPEST,
    LARGEST_TOML,
    open_file,
    parse_json,
    parse_toml,
    read_bytes,
    read_json,
    read_text,
)
from cardai.files.writing import held, remove_left_over, temporary, write_once, write_whole
from cardai.records.dataset import collect
from cardai.records.recipe import Recipe
from cardai.records.record import Writer, read, verify
from cardai.records.selfplay import simulate, simulate_shards
from cardai.rules import JIT, keeping

TICTACTOE = cardai.load("tictactoe")
POOL = {"random": 1.0}
FILES = 100  # mutated files of the default suite


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    return mutated_files.kinds(tmp_path_factory.mktemp("kinds"))


def failures(kinds, wanted) -> list[str]:
    outcomes = (mutated_files.attempt(name, kinds[name], seed) for name, seed in wanted)
    return [
        f"python tests/mutated_files.py --kind '{found.kind}' --seed {found.seed}: {found.outcome}\n{found.detail}"
        for found in outcomes
        if found.outcome in mutated_files.FAILURES
    ]


def test_mutated_files_of_every_kind_are_read_or_refused_in_a_sentence(kinds):
    assert failures(kinds, mutated_files.trials(FILES, kinds)) == []


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("model", "n.safetensors"),
        ("policy", "n.safetensors"),
        ("checkpoint", "checkpoint-000000003.safetensors"),
        ("record", "r.jsonl"),
    ],
)
def test_slight_damage_is_never_accepted(kinds, kind, name, tmp_path):
    """A model with one flipped bit was read, and won three quarters of the games that it had won."""
    folder = shutil.copytree(kinds[kind].folder, tmp_path / "f")
    read, content = kinds[kind].readers[-1], (folder / name).read_bytes()
    header = min(8 + int.from_bytes(content[:8], "little"), len(content) // 2)
    places = [*np.linspace(0, header - 1, 100, dtype=int), *np.linspace(header, len(content) - 1, 100, dtype=int)]
    read(folder)
    for damaged in mutated_files.lightly_damaged(content, map(int, places)):
        (folder / name).write_bytes(damaged)
        with pytest.raises(CardaiError) as refusal:
            read(folder)
        assert str(refusal.value).strip().count("\n") == 0


# One reader


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), "nested deeper than 64"),
        ("[" * 100_000, "nested deeper than 64"),
        ('{"a":' * 70 + "1" + "}" * 70, "nested deeper than 64"),
        ("9" * 5000, "more than 21 digits"),
        ("1e999", "'1e999' is not finite"),
        ("NaN", "NaN is not a number"),
        ("-Infinity", "-Infinity is not a number"),
        ('{"a":1,"b":2,"a":3}', "the name 'a' twice"),
        ('["\\ud800"]', "control characters"),
        ('{"\\u001b[31m":1}', "control characters"),
        ('["\\u202e"]', "control characters"),
        ("[" + "0," * 2_200_000 + "0]", "more than 2,097,152 values"),
        ("{", "not JSON"),
        (b"\xff", "not text in UTF-8"),
    ],
    ids=str,
)
def test_json_outside_the_limits_is_refused_in_words(text, why):
    with pytest.raises(ValueError, match=why) as caught:
        parse_json(text)
    assert len(str(caught.value)) < 120


def test_json_within_the_limits_is_read():
    value = {"a": [1, -(2**63), 2**64, 0.5, None, True, "two\nlines\tand é ♠ 🂡"], "b": {}}
    assert parse_json(json.dumps(value)) == value
    assert parse_json("[" * DEEPEST + "]" * DEEPEST) is not None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a = " + "[" * 5000, "nested deeper"),
        ("a = " + "[" * 70 + "]" * 70, "nested deeper"),
        ("a." * 20_000 + "a = 1", "more than 64 parts"),
        ("a = " + "9" * 5000, "too long"),
        ("a = " + "9" * 30, "more than 21 digits"),
        ("a = inf", "not finite"),
        ('a = "\\u202e"', "control characters"),
        ("a = 1\na = 2", "Cannot overwrite"),
        ("#" * (LARGEST_TOML + 1), "more than 1,048,576 characters"),
    ],
    ids=["open", "deep", "key", "number", "long", "inf", "bidi", "twice", "large"],
)
def test_toml_outside_the_limits_is_refused_in_words(text, why):
    with pytest.raises(ValueError, match=why):
        parse_toml(text)


@pytest.mark.parametrize("what", ["pipe", "device", "folder", "loop", "missing", "null"])
def test_what_is_no_file_is_refused_at_once(tmp_path, what):
    place = tmp_path / "x"
    if what == "pipe":
        os.mkfifo(place)
    elif what == "device":
        place.symlink_to("/dev/zero")
    elif what == "folder":
        place.mkdir()
    elif what == "loop":
        place.symlink_to(place)
    elif what == "null":
        place = tmp_path / "a\0b"
    for reader in (read_json, read_text, read, verify, lambda path: collect([path], Recipe())):
        with pytest.raises(CardaiError, match=r"^(cannot read|there is no record file)") as caught:
            reader(place)
        assert "\n" not in str(caught.value)


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    (tmp_path / "x").write_bytes(b"12345")
    assert read_bytes(tmp_path / "x", 5) == b"12345"
    with pytest.raises(OSError, match="more than 4 bytes"):
        read_bytes(tmp_path / "x", 4)
    with open_file(tmp_path / "x") as file:
        assert file.read() == b"12345"


# What reaches the terminal


def test_control_characters_are_escaped_in_every_error():
    hostile = "\x1b]0;title\x07 \u202egnp \x9b31m \u2028 \ud800 \U000e0041"
    assert not is_printable(hostile)
    assert is_printable(str(CardaiError(hostile)))
    assert is_printable(printable(hostile))
    assert str(CardaiError("\x1b[31m")) == "\\u001b[31m"


def test_a_json_text_stays_one_with_the_same_values():
    value = {"a\x7f": "\u202e\U000e0041 é ♠ 🂡"}
    text = printable(json.dumps(value, ensure_ascii=False))
    assert is_printable(text)
    assert json.loads(text) == value


def test_ordinary_texts_of_all_languages_are_printable():
    for text in ("é ♠ 🂡", "日本語", "עברית", "family 👨\u200d👩", "1\u00a0000", "a\nb\tc"):
        assert is_printable(text)
        assert printable(text) == text


def test_quoted_values_are_cut():
    assert len(short("a" * 10_000)) == 60
    assert short(10**5000) == "a int that is too large to show"


def test_a_spec_with_control_characters_is_not_recorded(tmp_path):
    with pytest.raises(CardaiError, match=r"its spec holds control characters"):
        Writer(tmp_path / "g.jsonl", TICTACTOE, ["random\x1b[2J"], None, 2)
    assert list(tmp_path.iterdir()) == []


# Sizes


def forged(place, **header):
    """A record whose header holds these values, with right checksums."""
    simulate(TICTACTOE, POOL, 3, out=place, seed=1, overwrite=True)
    lines = [json.loads(line) for line in place.read_text().splitlines()]
    lines[0] |= header
    if len(lines) > 1 and "plies" in header:
        lines[1] |= {"plies": lines[0].pop("plies"), "moves": lines[0].pop("moves")}
    place.write_bytes(mutated_files.resealed(lines))
    return place


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ({"max_plies": 10}, "recorded with 10 plies at most, but tictactoe has 9"),
        ({"max_plies": 2**27}, "134217728 plies in a game are too many"),
        ({"fields": [f"f{i}" for i in range(70)]}, "of the wrong type"),
        ({"seats": 63}, "of the wrong type"),
        ({"options": {"a": "b"}}, "of the wrong type"),
        ({"agents": ["\x1b[31m"]}, "control characters"),
        ({"game": "t" * 5000}, "is not the name of a game"),
        ({"version": 10**30}, "more than 21 digits"),
    ],
    ids=["plies", "bomb", "fields", "seats", "options", "agents", "game", "version"],
)
def test_sizes_in_a_header_are_checked_before_anything_is_unpacked(tmp_path, header, why):
    with pytest.raises(CardaiError, match=why) as caught:
        verify(forged(tmp_path / "g.jsonl", **header))
    assert len(str(caught.value)) < 300


def test_moves_that_unpack_to_more_than_a_game_are_refused_with_little_memory(tmp_path):
    place = forged(tmp_path / "g.jsonl", plies=[9, 9, 9], moves=mutated_files.packed_zeros())
    with mutated_files.watched() as usage, pytest.raises(CardaiError, match="do not unpack to 27 plies"):
        verify(place)
    assert usage["memory"] < 50e6


# Folders


def test_temporary_names_differ_and_those_of_dead_processes_are_removed(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    own, other = temporary("g.jsonl"), temporary("g.jsonl")
    assert own != other
    assert str(os.getpid()) in own
    dead = own.replace(f"-{os.getpid()}-", f"-{child.pid}-")
    foreign, old = "g.jsonl.elsewhere-1-0123abcd.part", "g.jsonl.elsewhere-2-0123abcd.part"
    kept = {own, foreign, "g.jsonl", "notes.part", "g.jsonl.77.part"}
    for name in (*kept, dead, old):
        (tmp_path / name).write_text("x")
    os.utime(tmp_path / old, (time.time() - 90_000,) * 2)
    remove_left_over(tmp_path, "h.jsonl")
    assert {place.name for place in tmp_path.iterdir()} == kept | {dead, old}
    remove_left_over(tmp_path, "g.jsonl")
    assert {place.name for place in tmp_path.iterdir()} == kept
    (tmp_path / f".{dead}").write_text("x")
    remove_left_over(tmp_path)
    assert {place.name for place in tmp_path.iterdir()} == kept


def test_what_a_killed_simulation_left_is_removed_by_the_next_one(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    left = temporary("games-000000000-000000009.jsonl.gz").replace(f"-{os.getpid()}-", f"-{child.pid}-")
    (tmp_path / left).write_text("x")
    summary = simulate_shards(TICTACTOE, POOL, 20, folder=tmp_path, shard=10)
    assert {place.name for place in tmp_path.iterdir()} == {"simulation.json", *(Path(f).name for f in summary.files)}


def test_a_folder_is_held_by_one_process_and_freed_when_that_ends(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from cardai.files.writing import held\n"
        "with held(Path(sys.argv[1]), 'busy'):\n    print('held', flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        with pytest.raises(CardaiError, match="busy"), held(tmp_path, "busy"):
            pass
        with pytest.raises(CardaiError, match=f"another process is writing games into {tmp_path}"):
            simulate_shards(TICTACTOE, POOL, 20, folder=tmp_path, shard=10)
        child.kill()
    simulate_shards(TICTACTOE, POOL, 20, folder=tmp_path, shard=10)


def test_a_write_that_fails_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        write_whole(tmp_path / "x", b"content")
    assert list(tmp_path.iterdir()) == []


def test_of_several_processes_that_write_a_file_once_one_does_and_all_agree(tmp_path):
    code = (
        "import sys; from pathlib import Path; from cardai.files.writing import write_once\n"
        "content = bytes(range(256)) * 4000\n"
        "print(sum(write_once(Path(sys.argv[1]) / f'{i}', content) for i in range(50)))"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert sum(int(writer.communicate()[0]) for writer in writers) == 50
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(map(str, range(50)))  # and nothing is left over
    assert {file.read_bytes() for file in tmp_path.iterdir()} == {bytes(range(256)) * 4000}


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_is_there_is_never_replaced(tmp_path, monkeypatch, links):
    if not links:
        monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(PermissionError(1, "no links here")))
    file = tmp_path / "games"
    assert write_once(file, b"one")
    assert not write_once(file, b"one")
    with pytest.raises(CardaiError, match=f"{file} exists already, with other content"):
        write_once(file, b"other")
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("games", b"one")]


def test_a_file_that_its_check_refuses_or_that_does_not_fit_on_the_disk_gets_no_name(tmp_path, monkeypatch):
    def refuse(unfinished):
        assert unfinished.read_bytes() == b"bad"
        raise CardaiError("it is bad")

    with pytest.raises(CardaiError, match="it is bad"):
        write_once(tmp_path / "games", b"bad", refuse)
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(OSError, match="No space left"):
        write_once(tmp_path / "games", b"good")
    assert list(tmp_path.iterdir()) == []


# The same game twice


def test_a_folder_and_its_copy_are_not_one_dataset(tmp_path):
    for name in ("a", "b"):
        simulate_shards(TICTACTOE, POOL, 20, folder=tmp_path / name, shard=10, seed=3)
    twice = r"b/games-000000000-.*game 0: .* is also in .*a/games-000000000-.*: 20 games would count"
    with pytest.raises(CardaiError, match=twice):
        collect([tmp_path / "a", tmp_path / "b"], Recipe())


def test_files_that_share_some_games_are_not_one_dataset(tmp_path):
    simulate(TICTACTOE, POOL, 12, out=tmp_path / "whole.jsonl", seed=3)
    simulate_shards(TICTACTOE, POOL, 12, folder=tmp_path / "parts", shard=5, seed=3)
    first = tmp_path / "parts" / "games-000000000-000000004.jsonl.gz"
    first.unlink()
    with pytest.raises(
        CardaiError, match=r"parts/games-000000005-.*game 0: the game with the seed \d+ is also in .*whole"
    ):
        collect([tmp_path / "whole.jsonl", tmp_path / "parts"], Recipe())
    with pytest.raises(CardaiError, match="7 games would count twice"):
        collect([tmp_path / "parts", tmp_path / "whole.jsonl"], Recipe())


def test_the_same_deals_with_other_agents_are_other_games(tmp_path):
    simulate(TICTACTOE, POOL, 12, out=tmp_path / "a.jsonl", seed=3)
    simulate(TICTACTOE, {"greedy:open_lines": 1.0}, 12, out=tmp_path / "b.jsonl", seed=3)
    assert len(collect([tmp_path], Recipe()).seeds) == 24


# The command line


@pytest.mark.parametrize("verb", ["replay", "analyse"])
def test_a_verb_refuses_a_pipe_and_a_hostile_header_with_exit_code_2(tmp_path, capsys, verb):
    os.mkfifo(tmp_path / "pipe")
    hostile = forged(tmp_path / "g.jsonl", game="\x1b[2J\u202e")
    for place in (tmp_path / "pipe", hostile):
        assert run([verb, str(place)]) == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert is_printable(err)


# The cache of compiled rules

_PROGRAM = """
import os, resource, sys, time
from cardai.rules import JIT, compiling, rule

kind, limit, pause, read_only = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]

def refuse(event, arguments):
    writes = event in ("os.mkdir", "os.rename", "os.remove", "os.utime", "os.link")
    if event == "open":
        writes = arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if writes and str(arguments[0]).startswith(read_only):
        raise PermissionError(13, "Permission denied")

if read_only:
    sys.addaudithook(refuse)
if limit >= 0:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
write = compiling.write

def slowly(name, content):
    time.sleep(pause)
    return write(name, content)

compiling.write = slowly

@rule
def doubled(value):
    return value * 2

import numpy as np
for name in kind.split(","):
    value = np.dtype(name).type(3)
    print(doubled(value), type(doubled(value)).__name__, end=" ")
if JIT:
    print(sum(doubled.stats.cache_hits.values()))
"""
KINDS = {"i4": "6 int", "f4": "6.0 float", "f8": "6.0 float", "c16": "(6+0j) complex"}


def program(tmp_path, cache, kinds, limit=-1, pause=0.0, read_only=False):
    """Start a process that compiles a rule for arguments of some types. `limit`: the largest file it may write.

    `read_only`: it may not change anything in the cache, as if that belonged to another user.
    """
    if not (tmp_path / "program.py").exists():  # written once: another process may be reading it
        (tmp_path / "program.py").write_text(_PROGRAM)
    return subprocess.Popen(
        [sys.executable, tmp_path / "program.py", ",".join(kinds), str(limit), str(pause), str(cache) * read_only],
        env={**os.environ, "CARDAI_CACHE": str(cache), "PYTHONPATH": str(Path(cardai.__file__).parents[1])},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


needs_compiling = pytest.mark.skipif(not JIT, reason="nothing is compiled")


@pytest.mark.parametrize(
    "text", ["x = " + "9" * 500_000, "a" + ".a" * 200_000, "a" + " " * 300_000 + "b", "\"'" * 50_000, '"' * 100_000]
)
def test_long_toml_is_refused_at_once(text):
    """The search for long names once took time with the square of a text's length."""
    start = time.process_time()
    with pytest.raises(ValueError, match=r"\w"):
        parse_toml(text)
    assert time.process_time() - start < 2


def test_the_code_that_was_used_last_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("CARDAI_CACHE", str(tmp_path))
    monkeypatch.setattr(keeping, "_KEPT_FILES", 12)
    for age in range(12):
        assert keeping.write(f"{age}.code", b"code")
        os.utime(tmp_path / f"rules/{age}.code", (age, age))
    assert keeping.read("0.code") == b"code"
    assert keeping.write("new.code", b"code")
    kept = {place.name for place, _ in keeping.kept_files()}
    assert kept == {"new.code", "0.code", *(f"{age}.code" for age in range(5, 12))}


def test_code_that_is_not_whole_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setenv("CARDAI_CACHE", str(tmp_path))
    assert keeping.write("a.code", b"code")
    whole = (tmp_path / "rules/a.code").read_bytes()
    for damaged in (whole[:-1], whole + b"x", whole.replace(b"code", b"core"), b"", b"x"):
        (tmp_path / "rules/a.code").write_bytes(damaged)
        assert keeping.read("a.code") is None
    (tmp_path / "rules/b.code").write_bytes(whole)
    assert keeping.read("b.code") is None  # its code would be called with arguments of other types


@needs_compiling
def test_a_cache_folder_that_cannot_be_written_means_that_nothing_is_kept(tmp_path):
    (tmp_path / "file").write_text("")
    for cache, limit, why in ((tmp_path / "file" / "x", -1, "Not a directory"), (tmp_path / "full", 0, "too large")):
        out, err = program(tmp_path, cache, ["i4", "f8"], limit).communicate(timeout=100)
        assert out == "6 int 6.0 float 0\n"
        assert err.startswith(f"cardai: compiled code is not kept in {cache}: ")
        assert why in err
        assert err.count("\n") == 1


@needs_compiling
def test_a_cache_that_may_only_be_read_is_read(tmp_path):
    cache = tmp_path / "cache"
    assert program(tmp_path, cache, ["i4"]).communicate(timeout=100) == ("6 int 0\n", "")
    assert program(tmp_path, cache, ["i4"], read_only=True).communicate(timeout=100) == ("6 int 1\n", "")
    out, err = program(tmp_path, cache, ["i4", "f8"], read_only=True).communicate(timeout=100)
    assert (out, err) == ("6 int 6.0 float 1\n", f"cardai: compiled code is not kept in {cache}: Permission denied\n")
    out, err = program(tmp_path, cache / "new", ["i4"], read_only=True).communicate(timeout=100)
    assert (out, err) == ("6 int 0\n", f"cardai: compiled code is not kept in {cache / 'new'}: Permission denied\n")


@needs_compiling
def test_processes_that_compile_at_once_keep_the_code_of_each(tmp_path):
    cache = tmp_path / "cache"
    running = {kind: program(tmp_path, cache, [kind], pause=0.5) for kind in KINDS}
    for kind, child in running.items():
        assert (*child.communicate(timeout=100), child.returncode) == (f"{KINDS[kind]} 0\n", "", 0)
    out, err = program(tmp_path, cache, KINDS).communicate(timeout=100)
    assert (out, err) == (f"{' '.join(KINDS.values())} 4\n", "")


@needs_compiling
def test_damaged_files_in_the_cache_are_compiled_anew(tmp_path):
    cache = tmp_path / "cache"
    assert program(tmp_path, cache, ["i4"]).communicate(timeout=100) == ("6 int 0\n", "")
    for file in cache.rglob("*.code"):
        file.write_bytes(file.read_bytes()[:40])
    assert program(tmp_path, cache, ["i4"]).communicate(timeout=100) == ("6 int 0\n", "")
    assert program(tmp_path, cache, ["i4"]).communicate(timeout=100) == ("6 int 1\n", "")
