"""Check every game and example on a busy machine, each from an empty cache: no law may be broken.

    python tests/check_under_load.py                                             # all that is documented, some hours
    python tests/check_under_load.py --games tictactoe examples/kuhn --efforts quick --seeds 0

Two checks run at once beside busy loops, so that each gets a part of a processor, as on a machine that does other
work. Each has a cache folder of its own, in which nothing is. A line is printed for each run, and at the end what was
broken. The exit status is 1 if a law was broken or a check did not end with a verdict.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
GAMES = sorted(place.parent.name for place in ROOT.glob("games/*/__init__.py"))
EXAMPLES = sorted(f"examples/{place.parent.name}" for place in ROOT.glob("examples/*/__init__.py"))
LOOP = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for _ in range(10**6): pass"


class Run(NamedTuple):
    """A check. `options`: further words of the command."""

    game: str
    effort: str
    seed: int
    options: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join(self.words())

    def words(self) -> list[str]:
        """The command, behind `cardai`."""
        return ["check", self.game, "--effort", self.effort, "--seed", str(self.seed), *self.options]


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """Processes that do nothing but use processors while the block lasts."""
    processes = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def check(run: Run) -> list[str]:
    """Check a game from an empty cache and print a line. Returns what is wrong: broken laws, or how the check ended."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-m", "cardai", *run.words(), "--json"],
            env={**os.environ, "CARDAI_CACHE": cache}, cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
    results = json.loads(done.stdout) if done.returncode in (0, 1) else []
    verdicts = [result["verdict"] for result in results]
    wrong = [result["why"] for result in results if result["verdict"] == "broken"]
    if not results:
        wrong = [f"exit status {done.returncode}: {done.stderr.strip()}"]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in ("broken", "not tested", "holds"))
    print(f"{run}: {counts}, {time.monotonic() - begun:.0f} s", *wrong, sep="\n    ", flush=True)
    return wrong


def main() -> int:
    """Run the checks. Returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", nargs="+", default=[*GAMES, *EXAMPLES], help="names or paths; all if not given")
    parser.add_argument("--efforts", nargs="+", default=["quick", "normal"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--at-once", type=int, default=2, help="checks that run at the same time")
    parser.add_argument("--loops", type=int, default=6, help="busy loops beside them")
    parser.add_argument("--time-limit", help="passed on to each check")
    given = parser.parse_args()
    options = ("--time-limit", given.time_limit) if given.time_limit else ()
    runs = [Run(*case, options) for case in product(given.games, given.efforts, given.seeds)]
    with busy(given.loops), ThreadPoolExecutor(given.at_once) as pool:
        wrong = [problem for problems in pool.map(check, runs) for problem in problems]
    print(f"{len(runs)} checks, {len(wrong)} of their laws broken")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
