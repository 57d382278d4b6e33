"""Every public function refuses what it cannot take, in a sentence, before anything reaches compiled code.

`misuse.py` makes the wrong calls from the functions' signatures, in a process of its own: a call that ends or hangs
that process is seen as such, and the calls after it are made in another one.
"""

import json
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import numpy as np
import pytest

from cardai.errors import BadArgument, CardaiError, IllegalMove, short, whole
from cardai.game.compiled.doors import check_integers, check_list, check_seeds

FILE = Path(__file__).parent / "misuse.py"
PATIENCE = 60.0  # seconds without a line after which a call hangs
START_PATIENCE = 400.0  # seconds until the first call: games may have to be compiled


@dataclass
class Report:
    """What became of the wrong calls of a part: (call, outcome, message)."""

    ends: list[tuple[str, str, str]] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)


def run(part: str) -> Report:
    """Make all wrong calls of a part, in as many processes as it takes."""
    report, first = Report(), 0
    while first >= 0:
        first = run_from(part, first, report)
    return report


def listen(process: subprocess.Popen[str], lines: Queue[str]) -> None:
    """Hand on the lines that a process prints, and an empty one at its end."""
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put("")


def run_from(part: str, first: int, report: Report) -> int:
    """Make the calls from number `first` on. Returns the number after the call that ended the process, or -1."""
    process = subprocess.Popen(
        [sys.executable, str(FILE), part, str(first)],
        stdout=subprocess.PIPE,
        text=True,
    )
    lines: Queue[str] = Queue()
    listener = threading.Thread(target=listen, args=(process, lines))
    listener.start()
    call, number, hung, patience = "", first, False, START_PATIENCE
    while True:
        try:
            text = lines.get(timeout=patience)
        except Empty:
            hung = True
            process.kill()
        if hung or not text:
            break
        line = json.loads(text)
        if "start" in line:
            call, number, patience = line["call"], line["start"], PATIENCE
        elif "end" in line:
            report.ends.append((call, line["outcome"], line["message"]))
            call = ""
        else:
            report.notes.append(line)
    process.wait()
    listener.join()
    assert process.stdout is not None
    process.stdout.close()
    if report.notes and "same" in report.notes[-1]:
        return -1
    if not call:
        raise AssertionError(f"{part}: the process ended outside of a call, with exit status {process.returncode}")
    report.ends.append((call, "hang" if hung else "crash", f"exit status {process.returncode}"))
    return number + 1


@pytest.mark.parametrize("part", ["play", "agents", "measure", "data", "evaluators"])
def test_wrong_calls_are_refused_in_a_sentence_and_right_ones_still_work(part, capsys):
    began = time.perf_counter()
    report = run(part)
    counts = Counter(outcome for _, outcome, _ in report.ends)
    with capsys.disabled():
        print(f"\n{part}: {len(report.ends)} wrong calls, {dict(counts)}, {time.perf_counter() - began:.0f} s")
    assert [end for end in report.ends if end[1] != "refused"] == []
    assert {"play": 4000, "agents": 1500, "measure": 1200, "data": 1100, "evaluators": 800}[part] <= counts["refused"]
    assert report.notes == [{"good": []}, {"good_after": [], "same": True}]


def test_a_crash_and_a_hang_are_seen_as_such(tmp_path, monkeypatch):
    program = tmp_path / "misuse.py"
    program.write_text(
        "import json, os, sys, time\n"
        "def say(**line): print(json.dumps(line), flush=True)\n"
        "acts = [lambda: None, lambda: os.kill(os.getpid(), 11), lambda: time.sleep(60), lambda: None]\n"
        "for number in range(int(sys.argv[2]), 4):\n"
        "    say(start=number, call=f'call {number}'); acts[number](); say(end=number, outcome='refused', message='')\n"
        "say(good_after=[], same=True)\n"
    )
    monkeypatch.setitem(globals(), "FILE", program)
    monkeypatch.setitem(globals(), "PATIENCE", 1.0)
    ends = run("any").ends
    assert [(call, outcome) for call, outcome, _ in ends] == [
        ("call 0", "refused"), ("call 1", "crash"), ("call 2", "hang"), ("call 3", "refused")
    ]  # fmt: skip


def test_an_argument_that_cannot_be_taken_is_a_cardai_error_and_a_value_error():
    assert issubclass(BadArgument, CardaiError)
    assert issubclass(BadArgument, ValueError)
    assert issubclass(IllegalMove, CardaiError)


@pytest.mark.parametrize("number", [3, np.int64(3), np.uint8(3), np.array(3)])
def test_whole_numbers_of_python_and_numpy_are_taken(number):
    assert whole("games", number, 1, 5) == 3
    assert type(whole("games", number)) is int


@pytest.mark.parametrize("number", [True, np.True_, 3.0, np.float64(3), "3", None, [3], np.array([3]), float("nan")])
def test_what_is_no_whole_number_is_refused(number):
    with pytest.raises(BadArgument, match="games must be a whole number, not "):
        whole("games", number)


def test_seeds_are_taken_modulo_two_to_the_64():
    assert check_seeds([-1, 2**64 + 5, 2**200, np.uint64(7)]).tolist() == [2**64 - 1, 5, 0, 7]
    assert check_seeds(np.array([-1, 5])).tolist() == [2**64 - 1, 5]
    assert check_seeds(range(3)).tolist() == [0, 1, 2]


def test_integers_are_never_cast_from_something_else():
    assert check_integers("lineups", [[0, 1]], (None, 2)).tolist() == [[0, 1]]
    for wrong in ([[0.0, 1.0]], [[True, False]], [["0", "1"]], [[0, 2**70]], [[0], [0, 1]], [0, 1]):
        with pytest.raises(BadArgument, match="lineups must"):
            check_integers("lineups", wrong, (None, 2))


def test_a_text_is_no_list_of_texts():
    with pytest.raises(BadArgument, match="agents must be a list of specs, not 'random'"):
        check_list("agents", "random", str, "specs")


class Unshown:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    "value", [10**5000, Unshown(), np.zeros((99, 99)), "a\nb" * 999], ids=["digits", "repr raises", "array", "text"]
)
def test_any_value_has_a_short_text_of_one_line(value):
    assert len(short(value)) <= 60
    assert "\n" not in short(value)
