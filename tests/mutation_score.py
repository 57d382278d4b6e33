"""The mutation score of `cardai check`: how many planted faults each law finds, by effort.

    python tests/mutation_score.py --jobs 2                    # all faults at quick and normal, as a table; an hour
    python tests/mutation_score.py --effort quick --law hidden_cards_lie_evenly --seed 3
    python tests/mutation_score.py --into docs/conformance.md  # writes the table into that page
    python tests/mutation_score.py --whole --seeds 3           # whole checks of rare and of hard faults; a night
    python tests/mutation_score.py --whole --seeds 3 --effort quick --into docs/conformance.md

Each fault (`planted*.py`, `passing.py`) is a game with one fault and the law that must find it. This law is tested by
itself: a fault that it finds is dead. Faults that live are named. The exit status is 1 if one lives at normal effort.

With `--whole` a fault is dead if `check` with all laws, in the time of the effort, finds any of them broken: what a
user gets. It tests the faults of `planted_rare.py` and OLD others, drawn once, from the seeds 0 to `--seeds` less 1.
"""

import argparse
import random
import re
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import passing
import planted
import planted_alike
import planted_biases
import planted_chance
import planted_declared
import planted_joint
import planted_more
import planted_rare
import planting

from cardai.game import Game
from cardai.laws import EFFORTS as EFFORT_OF
from cardai.laws import LAWS, LawResult, Testbed, check
from cardai.laws.child import test_all

EFFORTS = "quick", "normal"
OLD = 40  # faults of other files that are tested by whole checks
BLOCK = re.compile(
    r"(<!-- written by `tests/mutation_score.py`, not by hand -->\n).*?(<!-- end of the mutation score -->)", re.S
)
WHOLE = re.compile(
    r"(<!-- written by `tests/mutation_score.py --whole`, not by hand -->\n).*?(<!-- end of the whole checks -->)", re.S
)


def faults() -> Iterator[tuple[str, str, Game]]:
    """All planted faults: their names, the laws that must find them, and the games that have them."""
    old = planted, planted_more, planted_biases, planted_joint, planted_alike, planted_chance
    for module in (*old, planted_rare, planted_declared, passing):
        for name, game in module.PLANTED.items():
            yield f"Pass Left: {name}" if module is passing else name, planting.LAW_OF[game], game


def spread(work: Callable[[str], Any], items: list[str], jobs: int) -> Iterator[Any]:
    """What `work` returns for each item, in order, by so many processes at once."""
    if jobs == 1:
        yield from map(work, items)
        return
    with ProcessPoolExecutor(jobs, get_context("fork")) as pool:
        yield from pool.map(work, items)


def score(laws: list[str], efforts: list[str], seed: int, jobs: int = 1) -> dict[str, dict[str, list[str]]]:
    """The faults that live, by law and effort. Prints each as it is tested."""
    living: dict[str, dict[str, list[str]]] = {law: {effort: [] for effort in efforts} for law in laws}
    law_of = {name: law for name, law, _ in faults() if law in laws}
    found = spread(partial(lives_at, efforts, seed), list(law_of), jobs)
    for (name, law), at in zip(law_of.items(), found, strict=True):
        for effort, lives in at.items():
            if lives:
                living[law][effort].append(name)
            print(f"{law}: {name} {'lives' if lives else 'dies'} at {effort} effort", file=sys.stderr, flush=True)
    return living


def lives_at(efforts: list[str], seed: int, name: str) -> dict[str, bool]:
    """Whether the law of a fault leaves it alive, by effort."""
    law, game = next((law, game) for known, law, game in faults() if known == name)
    return {effort: check(game, laws=[law], effort=effort, seed=seed)[0].verdict != "broken" for effort in efforts}


def table(living: dict[str, dict[str, list[str]]], seed: int) -> str:
    """The score in Markdown."""
    planted_for = {law: [name for name, found_by, _ in faults() if found_by == law] for law in living}
    efforts = list(next(iter(living.values())))
    lines = [
        f"| law | faults planted | {' | '.join(f'dead at {effort}' for effort in efforts)} |",
        "|---|---" + "|---" * len(efforts) + "|",
    ]
    for law, names in planted_for.items():
        dead = [str(len(names) - len(living[law][effort])) for effort in efforts]
        lines.append(f"| {law} | {len(names)} | {' | '.join(dead)} |")
    total = sum(map(len, planted_for.values()))
    dead = [str(total - sum(len(found[effort]) for found in living.values())) for effort in efforts]
    lines.append(f"| all | {total} | {' | '.join(dead)} |")
    alive = [f"{name} ({effort})" for effort in efforts for found in living.values() for name in found[effort]]
    return "\n".join([*lines, "", f"Seed {seed}. Alive: {', '.join(alive) or 'none'}.", ""])


class _Dead(Exception):
    """A law is broken, so the others need not be tested."""


def killer(game: Game, effort: str, seed: int) -> str:
    """The law that a whole check finds broken first, "" if none. The check ends with it."""

    def report(result: LawResult) -> None:
        if result.verdict == "broken":
            raise _Dead(result.law)

    game.compile()
    testbed = Testbed(game, seed, EFFORT_OF[effort])
    try:
        test_all(list(LAWS.values()), testbed, EFFORT_OF[effort].seconds, 20.0, 2.0, report, lambda law: None)
    except _Dead as dead:
        return str(dead)
    return ""


def whole_faults() -> dict[str, Game]:
    """The faults that whole checks are tested with: the rare ones, and OLD others, which are always the same."""
    others = {name: game for name, _, game in faults() if name not in planted_rare.PLANTED}
    return planted_rare.PLANTED | {name: others[name] for name in random.Random(0).sample(sorted(others), OLD)}


def killers(efforts: list[str], seeds: int, name: str) -> dict[tuple[str, int], str]:
    """`killer` of a fault, by effort and seed."""
    game = whole_faults()[name]
    found = {(effort, seed): killer(game, effort, seed) for effort in efforts for seed in range(seeds)}
    for (effort, seed), law in found.items():
        print(f"{effort} {seed} {name}: {law or 'lives'}", file=sys.stderr, flush=True)
    return found


def whole_table(efforts: list[str], seeds: int, jobs: int = 1) -> tuple[str, bool]:
    """The score of whole checks in Markdown, by effort and seed, and whether a fault lives at normal effort."""
    games = whole_faults()
    work = partial(killers, efforts, seeds)
    by_fault = dict(zip(games, spread(work, list(games), jobs), strict=True))
    living = list[str]()
    lines = ["| effort | seed | rare faults dead | other faults dead |", "|---|---|---|---|"]
    for effort in efforts:
        for seed in range(seeds):
            dead = [name for name, found in by_fault.items() if found[effort, seed]]
            living += [f"{name} ({effort}, seed {seed})" for name in games if name not in dead]
            rare = sum(name in planted_rare.PLANTED for name in dead)
            counts = f"{rare} of {len(planted_rare.PLANTED)} | {len(dead) - rare} of {OLD}"
            lines.append(f"| {effort} | {seed} | {counts} |")
    lives = any("(normal" in name for name in living)
    return "\n".join([*lines, "", f"Alive: {', '.join(living) or 'none'}.", ""]), lives


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--effort", choices=("quick", "normal", "thorough"), action="append", help="default: quick and normal"
    )
    parser.add_argument("--law", choices=list(LAWS), action="append", help="only the faults planted for this law")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--into", type=Path, help="write the table between the two marks of this page")
    parser.add_argument("--whole", action="store_true", help="whole checks, not the law of each fault by itself")
    parser.add_argument("--seeds", type=int, default=1, help="with --whole: how many seeds, from 0 on")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    asked = parser.parse_args()
    if asked.whole:
        block = WHOLE
        text, lives = whole_table(asked.effort or list(EFFORTS), asked.seeds, asked.jobs)
    else:
        block = BLOCK
        living = score(asked.law or list(LAWS), asked.effort or list(EFFORTS), asked.seed, asked.jobs)
        text, lives = table(living, asked.seed), any(found.get("normal") for found in living.values())
    print(text)
    if asked.into:
        page = asked.into.read_text("utf-8")
        asked.into.write_text(block.sub(lambda found: f"{found[1]}{text}{found[2]}", page), "utf-8")
    return int(lives)


if __name__ == "__main__":
    sys.exit(main())
