"""Whatever a game's code does, its author is told in a sentence what is wrong and where."""

import functools
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import planted
import planting
import pytest
import small_game
import unruly

import cardai.rules
from cardai.errors import CardaiError
from cardai.game import PerspectiveEncoder, Player, move_dtype, state_dtype
from cardai.laws import EFFORTS, LAWS, Law, LawResult, check, child, compiled, views
from cardai.laws import testbed as kit
from cardai.laws.compiled import Compiled
from cardai.laws.note import note_call, note_place
from cardai.rules import JIT, compiling, keeping, rule

HERE = Path(__file__).name
compiled_only = pytest.mark.skipif(not JIT, reason="plain Python compiles nothing")


# Rules that do not compile.

OTHERS = """
TABLE = [1, 2, 3]


def plain(number):
    return number + 1


@rule
def take_next(state):
    return 1


@rule
def writes_no_field(state):
    state.stoped = 1


@rule
def back_again(state):
    wrong(state)
"""
REFUSED = {
    "state.turn = state.hnads[0]": "there is no field 'hnads'; did you mean hands",
    "writes_no_field(state)  # state.stoped = 1": "there is no field 'stoped'; did you mean stopped",
    "moves[0].knd = 1": "there is no field 'knd'; did you mean kind",
    "moves[0].kind = 1  # def": "it has no return with a value; legal must return the number of moves that it wrote",
    "if len(moves) == 1: return 3  # def": "not every way through it ends in a return with a value; legal must return "
    "the number of moves that it wrote",
    'return "won"': "score must return a number in the range of the payoff, not the text 'won'",
    "state.turn = plain(state.turn)": "plain is a plain Python function; mark it with @rule to call it from a rule",
    "state.turn = TABLE[state.turn]": "TABLE is a Python list; make it a tuple or a NumPy array",
    "state.deck_left = [1, 2]": "a rule cannot use a list",
    'state.turn = len({1: "x", 2: 3})': "a rule cannot use a dict",
    'state.turn = "two"': "the text 'two' cannot be used as a whole number",
    "state.turn = take_nxt(state)": "there is no name 'take_nxt'; did you mean take_next",
    "back_again(state)  # def": "wrong and back_again call each other in a circle; a rule must not, use a loop instead",
    "moves.kind = 1; return 1  # def": "an array of records has no field 'kind'; one of its records has: moves[n].kind",
}
"""What a wrong rule does, and why that is refused. The line that is told stands behind a #, if it is another one."""


@compiled_only
@pytest.mark.parametrize("wrong", REFUSED)
def test_a_rule_that_does_not_compile_is_refused_in_one_sentence_with_its_line(wrong: str, tmp_path: Path) -> None:
    role, given = "settle", "state"
    if "moves" in wrong or "won" in wrong:
        role, given = ("legal", "state, moves") if "moves" in wrong else ("score", "state, seat")
    file, (body, _, told), head = tmp_path / "mine.py", wrong.partition("  # "), f"def wrong({given}):"
    text = f"{OTHERS}\n\n@rule\n{head}\n    {body}\n"
    file.write_text(text, "utf-8")
    names = vars(cardai.rules).copy()
    exec(compile(text, str(file), "exec"), names)
    with pytest.raises(CardaiError) as refused:
        small_game.GAME.changed(**{role: names["wrong"]}).new()
    message, source = str(refused.value), head if told == "def" else told or body
    line = [line.strip() for line in text.splitlines()].index(source) + 1
    begin = f"low_hand: the rule wrong does not compile: {REFUSED[wrong]}"
    assert message.startswith(begin), (
        f"Numba {numba.__version__} words an error in its own way: see compiled/refusal.py"
    )
    assert message.endswith(f"mine.py, line {line}: {source})")
    assert "\n" not in message
    assert len(message) < 400


@rule
def reads_no_field(state):
    state.turn = state.hnads[0]


@compiled_only
def test_encoders_heuristics_and_players_are_refused_likewise() -> None:
    @rule
    def encode(state, seat, row):
        row[0] = state.nothing

    @rule
    def value(state, seat):
        return 0.0 * state.nothing

    @rule
    def choose(world, move, params, stream):
        move.nothing = 1

    for changes in (
        {"encoders": {"wrong": PerspectiveEncoder(small_game.layout, encode)}},
        {"heuristics": {"wrong": value}},
        {"players": {"wrong": Player(choose, "fails")}},
    ):
        with pytest.raises(CardaiError, match=r"the rule \w+ does not compile: there is no field 'nothing'.*line \d+"):
            small_game.GAME.changed(**changes).compile()


def test_a_rule_with_a_wrong_number_of_parameters_is_refused() -> None:
    said = rf"low_hand: act takes \(state, move\), but the rule is reads_no_field\(state\).*{HERE}, line \d+"
    with pytest.raises(CardaiError, match=said):
        small_game.GAME.changed(act=reads_no_field).new()


@compiled_only
def test_a_rule_that_is_not_decorated_is_refused() -> None:
    with pytest.raises(CardaiError, match=r"settle must be a rule; mark reads_no_field with @rule \(.*line \d+: def"):
        small_game.GAME.changed(settle=reads_no_field.py_func).new()


def test_a_rule_that_is_no_function_is_refused() -> None:
    with pytest.raises(CardaiError, match="settle is 3; it must be a function marked @rule"):
        small_game.GAME.changed(settle=3).new()  # pyright: ignore[reportArgumentType]


@compiled_only
def test_a_rule_that_calls_itself_is_refused_where_it_is_defined() -> None:
    with pytest.raises(CardaiError, match=rf"endless calls itself; a rule must not, .*{HERE}, line \d+\)"):

        @rule
        def endless(n):
            return endless(n)


# Fields.


@pytest.mark.parametrize("name", sorted(set(dir(np.record)) | {"turn", "rng", "two words", "1st", "for", ""}))
def test_a_field_that_rules_could_not_use_is_refused(name: str) -> None:
    with pytest.raises(CardaiError, match="state_dtype: "):
        state_dtype(**{name: ()})
    if name not in ("turn", "rng"):
        with pytest.raises(CardaiError, match="move_dtype: "):
            move_dtype("card", name)


def test_the_refusal_of_a_field_says_why() -> None:
    with pytest.raises(
        CardaiError, match="cannot be named 'round', since NumPy records have an attribute of that name"
    ):
        state_dtype(hands=4, round=())
    with pytest.raises(CardaiError, match="move_dtype: the field 'card' is named twice"):
        move_dtype("card", "kind", "card")


@pytest.mark.parametrize("shape", [0, -1, 1.5, True, "4", None, [4], (4, 0), (2, 1.0), ((2,),)])
def test_a_field_with_an_impossible_shape_is_refused(shape: object) -> None:
    with pytest.raises(CardaiError, match=r"state_dtype: the shape of 'hands' is .*whole number"):
        state_dtype(hands=shape)  # pyright: ignore[reportArgumentType]


def test_shapes_of_whole_numbers_are_taken() -> None:
    assert state_dtype(one=(), list=3, board=(np.int64(2), 3))["board"].shape == (2, 3)


# Games that crash, hang or eat memory.

STEP = "every_call_returns"
LATE = r"every_call_returns: variant three, 2 seats, seed 0, ply 2: "
FIRST = r"every_call_returns: variant three, 2 seats, seed 0, ply 0: "
FAULTS = {
    "ENDLESS_SETTLE": rf"{LATE}settle did not come back within 1 s",
    "ENDLESS_RESAMPLE": rf"{FIRST}resample for seat 1 did not come back within 1 s",
    "ENDLESS_SPELL": rf"{FIRST}spell did not come back within 1 s \(unruly.py line \d+\)",
    "FULL_MEMORY": rf"{FIRST}show for seat 0 took more than 0.25 GiB of memory \(unruly.py line \d+\)",
    "FAILING_SHOW": rf"{FIRST}show for seat 0 raised ZeroDivisionError\(.*\) \(.*unruly.py, line \d+\)",
    "ASLEEP": rf"{FIRST}show for seat 0 did not come back within 1 s \(unruly.py line \d+\)",
    "LEAVES": rf"{FIRST}parse of 'draws for .*' ended the process with exit status 3",
    "EXITS": rf"{FIRST}parse of 'draws for .*' raised SystemExit\(4\) \(.*unruly.py, line \d+\)",
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_game_that_does_not_return_breaks_a_law_which_says_where(name: str) -> None:
    seconds = 20 if "MEMORY" in name else 1  # a busy machine fills memory slowly
    (result,) = check(getattr(unruly, name), laws=[STEP], effort="quick", call_seconds=seconds, memory=0.25)
    assert result.verdict == "broken"
    assert re.fullmatch(FAULTS[name], result.why), result.why


# What counts as the time of a call.


def tried(steps: Callable[[], object], call_seconds: float = 1.0) -> LawResult:
    """The result of a law that makes one call, `steps`, with a limit for it."""

    def law(_testbed: kit.Testbed) -> Any:
        yield (seen := kit.Looked(1, "calls"))
        note_place("a table", 0, 0)
        note_call("show")
        steps()
        seen.done = 1

    results: list[LawResult] = []
    testbed = kit.Testbed(small_game.GAME, 0, EFFORTS["quick"])
    child.test_all([Law("law", "", law)], testbed, 1.0, call_seconds, 2.0, results.append, lambda law: None)
    return results[0]


def work(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="a process cannot be tied to a processor here")
def test_a_busy_machine_breaks_no_law() -> None:
    core = min(os.sched_getaffinity(0))
    loop = f"import os\nos.sched_setaffinity(0, [{core}])\nprint(flush=True)\nwhile True: pass"
    others = [subprocess.Popen([sys.executable, "-c", loop], stdout=subprocess.PIPE) for _ in range(6)]
    try:
        for other in others:
            assert other.stdout is not None
            other.stdout.readline()
        begun = time.monotonic()
        result = tried(lambda: (os.sched_setaffinity(0, [core]), work(0.5)))
        assert time.monotonic() - begun > 1, "the machine was not busy"
    finally:
        for other in others:
            other.kill()
            other.communicate()
    assert (result.verdict, result.why) == ("holds", "")


@compiled_only
def test_compiling_is_no_time_of_the_game_and_is_kept_by_a_process_that_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @rule
    def doubled(number):
        return 2 * number

    def write_slowly(name: str, content: bytes) -> bool:
        work(1.5)
        return keeping.write(name, content)

    monkeypatch.setenv("CARDAI_CACHE", str(tmp_path))
    monkeypatch.setattr(compiling, "write", write_slowly)
    assert tried(lambda: doubled(1)).verdict == "holds"
    for file in (tmp_path / "rules").iterdir():
        file.unlink()
    result = tried(lambda: (doubled(1), work(math.inf)))
    assert re.fullmatch(
        rf"law: a table, seed 0, ply 0: show did not come back within 1 s \({HERE} line \d+\)", result.why
    )
    assert keeping.is_kept(doubled)


@pytest.mark.parametrize("program", ["while True: pass", "import time; time.sleep(1000)"])
def test_a_process_that_a_call_starts_must_end_too(program: str) -> None:
    result = tried(lambda: subprocess.run([sys.executable, "-c", program], check=False))
    assert "show did not come back within 1 s" in result.why


@pytest.mark.parametrize(
    ("program", "seconds", "sleeps"),
    [("while time.process_time() < 1.5: pass", 1.5, True), ("while True: pass", 0.0, False)],
)
def test_what_a_process_uses_is_read(program: str, seconds: float, sleeps: bool) -> None:
    words = f"import time\nprint(flush=True)\n{program}\nprint(flush=True)\ntime.sleep(1000)"
    with subprocess.Popen([sys.executable, "-c", words], stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            assert process.stdout is not None
            for _ in range(2 if sleeps else 1):
                process.stdout.readline()
            time.sleep(0.2)
            usage = child._Usage(process.pid)
        finally:
            process.kill()
    assert usage.sleeps == sleeps
    assert 4 << 20 < usage.memory < 400 << 20
    assert usage.seconds >= 0.9 * seconds  # the clock ticks in hundredths


# Blocks of calls, and how `Compiled` makes each.

PLIES = 20
BLOCKS: dict[str, Callable[[Compiled, np.ndarray, np.ndarray], object]] = {
    "trace": lambda on, states, moves: on.trace(states[0], np.repeat(moves[:1], PLIES)),
    "moved": lambda on, states, moves: on.moved(states, moves),
    "a state moved": lambda on, states, moves: on.moved(states[:1], moves),
    "values": lambda on, states, moves: on.values(states, 0, "heuristic low_points"),
    "legal": lambda on, states, moves: on.legal(states),
    "allowed": lambda on, states, moves: on.allowed(states, moves),
    "finished": lambda on, states, moves: on.finished(states[:6], 0),
}


def longest_share(block: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> float:
    """The longest time between two calls of a game that were noted, as a share of the time of all.

    It is the least of three runs: what other programs delay is not the block's. Delayed runs have other `parts`.
    """
    block()  # compiles
    runs: list[list[float]] = []
    for name in ("note_again", "note_rule"):
        monkeypatch.setattr(compiled, name, lambda *_: runs[-1].append(time.thread_time()))
    for _ in range(3):
        runs.append([])
        block()
        runs[-1].append(time.thread_time())
    return min(float(np.diff(run).max() / (run[-1] - run[0])) for run in runs)


@compiled_only
@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_of_slow_calls_is_not_one_call(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on = Compiled(unruly.SLOW)
    states = np.array([small_game.GAME.new(3, seed) for seed in range(PLIES)])
    moves = np.concatenate([Compiled(small_game.GAME).moves(state)[:1] for state in states])
    assert longest_share(lambda: BLOCKS[name](on, states, moves), monkeypatch) < 0.5


@compiled_only
def test_many_moves_scored_by_a_slow_encoder_are_not_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    testbed = kit.Testbed(unruly.SLOW_ENCODE, 0, EFFORTS["quick"])
    positions = [kit.Position(testbed.traces[0], ply) for ply in range(3)]
    block = functools.partial(views._same_worth, positions, "planes", "any")
    for settles in (False, True):
        assert longest_share(functools.partial(block, settles), monkeypatch) < 0.3


@compiled_only
def test_a_write_to_memory_of_others_breaks_a_law_which_says_where() -> None:
    (result,) = check(unruly.WILD_WRITE, laws=[STEP], effort="quick")
    assert result.verdict == "broken"
    assert re.fullmatch(rf"{LATE}settle crashed \(SIG(SEGV|BUS)\)", result.why), result.why


def test_plain_python_says_the_line_of_an_index_out_of_range() -> None:
    """It is the first law, before compiled code runs."""
    assert next(iter(LAWS)) == "plain_python_plays_through"
    (result,) = check(unruly.WILD_WRITE, laws=["plain_python_plays_through"], effort="quick")
    assert re.fullmatch(
        r"plain_python_plays_through: variant three, 2 seats, seed 0, ply 2: settle raised IndexError\(.*"
        r"\) \(.*unruly.py, line \d+\)",
        result.why,
    ), result.why


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("ENDLESS_SETTLE", r"ply 2: settle did not come back within 1 s \(unruly.py line \d+\)"),
        ("LEAVES", r"plain Python stopped with exit status 3 and no message at .*ply 0: parse of 'draws for .*'"),
    ],
)
def test_plain_python_is_watched_too(name: str, problem: str) -> None:
    (result,) = check(getattr(unruly, name), laws=["plain_python_plays_through"], effort="quick", call_seconds=1)
    assert result.verdict == "broken"
    assert re.search(problem, result.why), result.why


@compiled_only
def test_other_laws_go_on_after_a_crash_and_a_few_crashes_are_enough() -> None:
    laws = [STEP, "plain_python_plays_through", "every_game_ends", "moves_are_distinct", "scores_are_shares"]
    first, second, *others = check(unruly.WILD_WRITE, laws=laws, effort="quick")
    assert "crashed" in first.why
    assert "IndexError" in second.why
    assert [result.verdict for result in others] == ["broken", "broken", "not tested"]
    place = r"variant three, 2 seats, seed \d+, ply \d+: act and settle crashed \(SIG(SEGV|BUS)\)"
    assert re.fullmatch(f"every_game_ends: {place}", others[0].why), others[0].why
    assert others[2].why == "the game ended 3 laws before it by crashing or not returning"


def test_a_sound_game_gets_the_same_results_in_a_process_of_its_own() -> None:
    laws = [STEP, "moves_are_distinct", "worlds_are_even", "text_is_the_same_in_every_world"]
    both = [check(small_game.GAME, laws=laws, effort="quick", isolated=isolated) for isolated in (True, False)]
    for results in both:
        assert [(result.law, result.verdict, result.why) for result in results] == [(law, "holds", "") for law in laws]


def test_a_broken_law_gives_the_same_problem_in_a_process_of_its_own() -> None:
    game, law = planted.VIEW_LEAK, planting.LAW_OF[planted.VIEW_LEAK]
    problems = {
        check(game, laws=[law], effort="quick", isolated=isolated, seconds=math.inf)[0].why
        for isolated in (True, False)
    }
    assert len(problems) == 1


def test_no_process_is_left_after_a_check() -> None:
    before = children_of(os.getpid())
    for game in (small_game.GAME, unruly.ENDLESS_SPELL):
        check(game, laws=[STEP], effort="quick", call_seconds=1)
    assert children_of(os.getpid()) == before


@compiled_only
def test_a_rule_that_does_not_compile_ends_the_check_at_once() -> None:
    with pytest.raises(CardaiError, match="there is no field 'hnads'"):
        check(small_game.GAME.changed(settle=reads_no_field), effort="quick")


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"seconds": 0}, "seconds must be more than 0"),
        ({"memory": -1}, "memory must be a number from 0 to .*, not -1"),
        ({"call_seconds": 0}, "call_seconds must be more than 0"),
        ({"seconds": float("nan")}, "seconds must be a number of at least 0, not nan"),
    ],
)
def test_limits_that_leave_nothing_are_refused(limits: dict[str, float], words: str) -> None:
    with pytest.raises(CardaiError, match=words):
        check(small_game.GAME, **limits)


# The command.

CHECK = [sys.executable, "-m", "cardai", "check", "./strange.py", "--effort", "quick"]
ROOT = Path(__file__).parents[1]


def strange(folder: Path, name: str) -> dict[str, Any]:
    """A file with a game of `unruly`, and how to start a command beside it."""
    (folder / "strange.py").write_text(f"import unruly\n\nGAME = unruly.{name}\n")
    path = os.pathsep.join([str(ROOT), str(Path(__file__).parent)])
    return {
        "cwd": folder,
        "env": {**os.environ, "PYTHONPATH": path},
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
    }


def children_of(pid: int) -> set[int]:
    """The processes that a process started and that have not ended."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,stat=,comm="], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split(None, 3) for line in listed.splitlines()]
    return {int(row[0]) for row in rows if int(row[1]) == pid and row[2][0] != "Z" and row[3] != "ps"}


def is_running(pid: int) -> bool:
    listed = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return listed.strip() != "" and listed.strip()[0] != "Z"


def test_the_command_says_which_law_a_crash_broke(tmp_path: Path) -> None:
    ended = subprocess.run([*CHECK, "--law", STEP], **strange(tmp_path, "LEAVES"), text=True, check=False, timeout=120)
    assert ended.returncode == 1, ended
    assert ended.stderr == ""
    assert f"BROKEN {STEP}: " in ended.stdout
    problem = r"  variant three, .*: parse of '.*' ended the process with exit status 3\n"
    assert len(re.findall(problem, ended.stdout)) == 1
    assert ended.stdout.endswith("low_hand: 1 broken, 0 not tested, 0 hold\n")


@compiled_only
def test_the_command_says_in_one_line_what_does_not_compile(tmp_path: Path) -> None:
    options = strange(tmp_path, "WILD_WRITE")
    (tmp_path / "strange.py").write_text(
        "import small_game\nfrom cardai.rules import rule\n\n\n@rule\n"
        "def settle(state):\n    state.trun = -1\n\n\nGAME = small_game.GAME.changed(settle=settle)\n"
    )
    ended = subprocess.run(CHECK, **options, text=True, check=False, timeout=120)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        "cardai: low_hand: the rule settle does not compile: there is no field 'trun'; did you mean turn or rng?"
        " (strange.py, line 7: state.trun = -1)\n"
    )


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_ctrl_c_ends_a_check_at_once_and_leaves_no_process(tmp_path: Path, end: signal.Signals) -> None:
    """Nor does the end of the command in any other way."""
    command = subprocess.Popen([*CHECK, "--law", STEP], **strange(tmp_path, "ENDLESS_SETTLE"), text=True)
    try:
        patience = time.monotonic() + 120
        while not (started := children_of(command.pid)) and time.monotonic() < patience:
            time.sleep(0.05)
        assert len(started) == 1
        time.sleep(1)
        assert command.poll() is None
        asked = time.monotonic()
        command.send_signal(end)
        stderr = command.communicate(timeout=20)[1]
        assert time.monotonic() - asked < 2
        assert (command.returncode, stderr) == ((130, "interrupted\n") if end == signal.SIGINT else (-9, ""))
        time.sleep(0.5)
        assert not any(is_running(pid) for pid in started)
    finally:
        command.kill()


def test_memory_of_a_process_that_has_just_begun_is_not_counted_twice() -> None:
    """A process started by `subprocess` shares its parent's memory for a moment."""
    program = (
        "import subprocess; b = bytes(range(256)) * (300 << 12); print(flush=True)\nwhile True: subprocess.run('true')"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as fat:
        try:
            assert fat.stdout is not None
            fat.stdout.readline()
            usage, end = child._Usage(fat.pid), time.monotonic() + 3
            most = 0
            while time.monotonic() < end:
                usage.look()
                most = max(most, usage.grown())
        finally:
            fat.kill()
    assert most < 200 << 20
