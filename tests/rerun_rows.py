"""Random rows of the report, measured again by the commands that they print: their figures must come out the same.

    python tests/rerun_rows.py --rows 30 --minutes 60 --seed 1
    python tests/rerun_rows.py --rows 30 --most 120              # only rows whose command took two minutes at most

Rows are drawn from results that are valid, among figures that must repeat: no times, no trainings. A row whose command
takes longer than what is left of the minutes, by the seconds of the first time, is passed over and counted. The first
lines say of each experiment how many rows were drawn from, and how many `--most` leaves out.
"""

import argparse
import json
import math
import random
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cardai.experiments.machinery.report import OUTDATED, results_in
from cardai.experiments.machinery.sealed import read_sealed

ROOT = Path(__file__).parent.parent
ENDS = ("point", "low", "high")


def main() -> int:
    """Draw the rows, run their commands, and say which figures are the same; returns 0 if all are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=30)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--most", type=float, default=math.inf, help="the most seconds that a command took")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rows = repeatable()
    short = [(result, row) for result, row in rows if cost_of(result, row) <= asked.most]
    for name in dict.fromkeys(result["experiment"] for result, _ in rows):
        every, those = (sum(result["experiment"] == name for result, _ in some) for some in (rows, short))
        print(f"{name}: {those} rows, {every - those} left out for their length", flush=True)
    drawn, passed = draw(short, asked.rows, 60 * asked.minutes, asked.seed)
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        outputs: dict[str, Any] = {}
        for result, row in drawn:
            command = row["command"] or result["command"]
            if command not in outputs:
                outputs[command] = run(command, Path(folder))
            same = is_same(row, outputs[command])
            outcomes.append(same)
            figure = ", ".join(row[part] for part in ("table", "name", "column"))
            print("same:" if same else "DIFFERENT:", figure, "by", command, flush=True)
    print(f"{sum(outcomes)} of {len(outcomes)} rows the same; {passed} drawn rows would have taken too long")
    return int(not all(outcomes) or not outcomes)


def repeatable() -> list[tuple[Any, Any]]:
    """The rows of valid results that must repeat, each with its result."""
    return [
        (result, row)
        for result in results_in(ROOT / "report")
        if OUTDATED not in result
        for row in result["rows"]
        if all(result["pieces"][key]["repeats"] for key in row["piece"].split())
    ]


def cost_of(result: Any, row: Any) -> float:
    """The seconds that the command of a row took the first time."""
    pieces = row["piece"].split() if row["command"] else result["pieces"]
    return sum(result["pieces"][key]["seconds"] for key in pieces)


def draw(rows: list[tuple[Any, Any]], count: int, seconds: float, seed: int) -> tuple[list[tuple[Any, Any]], int]:
    """At most `count` of these rows that can be measured in the time, and how many were passed over."""
    random.Random(seed).shuffle(rows)
    paid: set[str] = set()
    drawn: list[tuple[Any, Any]] = []
    passed = 0
    for result, row in rows:
        command = row["command"] or result["command"]
        cost = 0.0 if command in paid else cost_of(result, row)
        if len(drawn) == count:
            break
        if cost > seconds:
            passed += 1
            continue
        seconds -= cost
        paid.add(command)
        drawn.append((result, row))
    return drawn, passed


def run(command: str, folder: Path) -> Any:
    """What a command prints as JSON; of `cardai reproduce`, the rows of the result that it leaves in the folder."""
    words = shlex.split(command)[1:]
    is_experiment = words[0] == "reproduce"
    more = ["--out", str(folder)] if is_experiment else ["--json"]
    done = subprocess.run(
        [sys.executable, "-m", "cardai", *words, *more], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    return read_sealed(folder / words[1] / "result.json")["rows"] if is_experiment else json.loads(done.stdout)


def is_same(row: Any, output: Any) -> bool:
    """Whether the figure of a row is in what its command gave, as a part of one or in percent."""
    place = ("table", "name", "column")
    figure = [row["figure"][end] for end in ENDS]
    found = [one["figure"] for one in parts(output) if all(one.get(name) == row[name] for name in place)]
    for one in found or parts(output):
        ends: list[Any] = [one.get(end) for end in ENDS]
        if None not in (*ends, *figure) and any(
            all(math.isclose(factor * end, own, rel_tol=1e-12) for end, own in zip(ends, figure, strict=True))
            for factor in ((1,) if found else (1, 100))
        ):
            return True
        if found and ends == figure:
            return True
    return False


def parts(value: Any) -> Iterator[dict[str, Any]]:
    """All mappings within a value, at any depth."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts(part)


if __name__ == "__main__":
    sys.exit(main())
