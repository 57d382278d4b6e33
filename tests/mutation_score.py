"""The mutation score of `cardai check`: how many planted faults each law finds, by effort.

    python tests/mutation_score.py                             # all faults at quick and normal, as a table; an hour
    python tests/mutation_score.py --effort quick --law hidden_cards_lie_evenly --seed 3
    python tests/mutation_score.py --into docs/conformance.md  # writes the table into that page

Each fault (`planted*.py`, `passing.py`) is a game with one fault and the law that must find it. This law is tested by
itself: a fault that it finds is dead. Faults that live are named. The exit status is 1 if one lives at normal effort.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import passing
import planted
import planted_alike
import planted_biases
import planted_joint
import planted_more
import planting

from cardai.conformance import LAWS, check
from cardai.game import Game

EFFORTS = "quick", "normal"
BLOCK = re.compile(
    r"(<!-- written by `tests/mutation_score.py`, not by hand -->\n).*?(<!-- end of the mutation score -->)", re.S
)


def faults() -> Iterator[tuple[str, str, Game]]:
    """All planted faults: their names, the laws that must find them, and the games that have them."""
    for module in (planted, planted_more, planted_biases, planted_joint, planted_alike):
        for name, game in module.PLANTED.items():
            yield name, planting.LAW_OF[game], game
    for name, (law, game) in passing.FAULTS.items():
        yield f"Pass Left: {name}", law, game


def score(laws: list[str], efforts: list[str], seed: int) -> dict[str, dict[str, list[str]]]:
    """The faults that live, by law and effort. Prints each as it is tested."""
    living: dict[str, dict[str, list[str]]] = {law: {effort: [] for effort in efforts} for law in laws}
    for name, law, game in faults():
        for effort in efforts if law in laws else ():
            (result,) = check(game, laws=[law], effort=effort, seed=seed)
            lives = result.verdict != "broken"
            if lives:
                living[law][effort].append(name)
            print(f"{law}: {name} {'lives' if lives else 'dies'} at {effort} effort", file=sys.stderr, flush=True)
    return living


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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--effort", choices=("quick", "normal", "thorough"), action="append", help="default: quick and normal"
    )
    parser.add_argument("--law", choices=list(LAWS), action="append", help="only the faults planted for this law")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--into", type=Path, help="write the table between the two marks of this page")
    asked = parser.parse_args()
    living = score(asked.law or list(LAWS), asked.effort or list(EFFORTS), asked.seed)
    text = table(living, asked.seed)
    print(text)
    if asked.into:
        page = asked.into.read_text("utf-8")
        asked.into.write_text(BLOCK.sub(lambda found: f"{found[1]}{text}{found[2]}", page), "utf-8")
    return int(any(found.get("normal") for found in living.values()))


if __name__ == "__main__":
    sys.exit(main())
