"""What `cardai check` does not test of the games and examples here, and why, as a table in `docs/conformance.md`.

python tests/untested.py docs/conformance.md    # writes the table into that page; two minutes
"""

import re
import sys
from pathlib import Path

import cardai
from cardai.cli.show.laws import reasons
from cardai.game import Game
from cardai.laws import LawResult, check

ROOT = Path(__file__).parents[1]
EXAMPLES = "kuhn", "leduc", "thirtyone", "whist", "goofspiel", "hanabi", "crazy", "holdem", "mustamaija"
BLOCK = re.compile(
    r"(<!-- written by `tests/untested.py`, not by hand -->\n).*?(<!-- end of what is not tested -->)", re.S
)


def names() -> list[str]:
    """The games of this repository and its examples, as `cardai.load` takes them."""
    return [*cardai.available(), *(f"examples/{name}" for name in EXAMPLES)]


def game(name: str) -> Game:
    """A game by one of these names."""
    return cardai.load(str(ROOT / name) if "/" in name else name)


OF_THE_GAME = "the game", "nothing is hidden", "deal draws", "no player looks"
"""How reasons begin that do not depend on which positions were found in the time."""


def row(name: str, results: list[LawResult]) -> str:
    """The row of a game: its name, how many laws cannot be tested on it, and the reasons with the number of laws."""
    untested = [result for result in results if result.verdict == "not tested" and result.why.startswith(OF_THE_GAME)]
    why = "; ".join(f"{said} ({len(laws)})" for said, laws in reasons(untested))
    return f"| {name} | {len(untested)} | {why} |"


def main() -> None:
    page = Path(sys.argv[1])
    rows = [row(name, check(game(name), effort="quick", seconds=4.0)) for name in names()]
    table = "\n".join(["| game | laws without a test | why, and how many of them |", "|---|---|---|", *rows, ""])
    page.write_text(BLOCK.sub(lambda found: found[1] + table + found[2], page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
