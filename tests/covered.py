"""How often a card on the table or the newest event is not to be seen at an own turn, as the page is loaded.

    python tests/covered.py --turns 1000

All games with zones and all their numbers of seats take turns, plain tables and study tables, against players who move
at random, so that hands grow large. Each own turn is looked at on a phone, on a phone in landscape and on a desk. That
takes half an hour and more; `--part 2/6` does the second of six parts.
"""

import argparse
import itertools
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from web_clients import Process
from web_pages import Screen, chromium

import cardai

SIZES = {"phone": (390, 844), "landscape": (844, 390), "desk": (1280, 800)}
EXAMPLES = Path(__file__).parent.parent / "examples"
PATIENCE = 180_000  # milliseconds, on a machine that does other things too
MOST_TURNS = 60  # of one game

# A card's corner says what it is. A pile shows its top card, and the others on tap.
HIDDEN = """() => {
    const isSeen = (element, x, y) => {
        const box = element.getBoundingClientRect();
        const [left, top] = [box.left + x * box.width, box.top + y * box.height];
        if (left < 0 || top < 0 || left >= innerWidth || top >= innerHeight) return false;
        return element.contains(document.elementFromPoint(left, top));
    };
    const covered = (cards) => [...cards].filter((card) => card.checkVisibility() && !isSeen(card, .14, .16)).length;
    const table = document.querySelectorAll(".middle .zone:not(.pile) [data-piece]");
    const hand = document.querySelectorAll(".own .fan [data-piece]");
    const event = document.querySelector(".events li:last-child");
    return {cards: table.length, covered: covered(table), hand: hand.length, "hand covered": covered(hand),
        "newest event hidden": event && !isSeen(event, .02, .5) ? 1 : 0,
        "status hidden": isSeen(document.querySelector(".bar .status"), .02, .5) ? 0 : 1};
}"""

# Whether two frames were drawn, within some seconds.
DRAWN = """() => Promise.race([
    new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))),
    new Promise((done) => setTimeout(() => done(false), 5000)),
])"""


def look(shown: Screen) -> dict[str, dict[str, int]]:
    """What is hidden at each size, as the page is loaded."""
    found = {}
    for name, (width, height) in SIZES.items():
        shown.page.set_viewport_size({"width": width, "height": height})
        shown.page.evaluate("scrollTo(0, 0)")
        while not shown.page.evaluate(DRAWN):  # now and then Chromium forgets to draw a window
            print("no frame was drawn: a picture makes Chromium draw", flush=True)
            shown.page.screenshot()
        found[name] = shown.page.evaluate(HIDDEN)
    return found


def turns(shown: Screen, luck: random.Random, most: int) -> Any:
    """Play a game of random moves. Yields at each own turn."""
    ply = "-1"
    for _ in range(most):
        # Between two own turns in Literature hundreds of moves may lie, many of them forced ones of this seat.
        shown.page.wait_for_selector(f".result h2, .board[data-waits]:not([data-ply='{ply}'])", timeout=PATIENCE)
        if shown.page.query_selector(".result"):
            return
        ply = shown.page.get_attribute(".board", "data-ply") or ""
        yield
        shown.page.set_viewport_size({"width": 390, "height": 844})
        shown.move(shown.choose, luck)


def is_forced(shown: Screen) -> bool:
    """Whether the newest view offers one move only. At an own turn that waits for a tap it may not."""
    newest = next(frame for frame in reversed(shown.frames) if "ply" in frame)
    return len(newest.get("moves", ())) == 1


def sit_down(shown: Screen, game: str, seats: int, study: bool) -> None:
    """Sit down in the first seat against players who move at random."""
    table = {"game": game, "seats": ["me", *["random"] * (seats - 1)], "name": "Ann", "study": study}
    answer = shown.context.request.post(f"{shown.home}/tables", data=table, headers={"origin": shown.home})
    assert answer.ok, answer.text()
    shown.page.goto(f"{shown.home}/t/{answer.json()['table']}")
    shown.begin()


def count(
    games: Sequence[str], wanted: int, seed: int, part: int = 1, parts: int = 1
) -> tuple[dict[str, Counter], int, list[str]]:
    """Sums over own turns by size, how many turns, and which tables hid something, in one of several parts."""
    sums, luck, done, faults = {name: Counter() for name in SIZES}, random.Random(seed), 0, []
    plans = []
    for path in games:
        game = cardai.load(path)
        plans += [(game.name, seats, study) for seats in game.seats for study in (False, True)]
    plans = plans[part - 1 :: parts]
    wanted = -(-wanted // parts)
    share = -(-wanted // len(plans))
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        process = Process(Path(folder) / "tables.sqlite", *games, "--opponents", "random")
        try:
            for game, seats, study in itertools.chain(plans, itertools.cycle(plans)):
                shown = Screen(browser, process.home, 390, "light", reduced_motion="reduce")
                sit_down(shown, game, seats, study)
                for _ in itertools.islice(turns(shown, luck, MOST_TURNS), share):
                    done += 1
                    if is_forced(shown):
                        faults.append(f"{game}, {seats} seats: the only move waits for a tap")
                    for size, found in look(shown).items():
                        sums[size].update(found)
                        sums[size]["most in hand"] = max(sums[size]["most in hand"], found["hand"])
                        if any(found[name] for name in found if name.endswith(("covered", "hidden"))):
                            faults.append(f"{game}, {seats} seats, {size}: {found}")
                shown.close()
                if done >= wanted:
                    break
        finally:
            process.kill()
    return sums, done, faults


def with_zones() -> list[str]:
    """The games whose table is shown by its zones."""
    paths = [*cardai.available(), *(str(place.parent) for place in sorted(EXAMPLES.glob("*/__init__.py")))]
    return [path for path in paths if cardai.load(path).table.zones is not None]


def main() -> None:
    """Count, and print the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--games", nargs="*")
    parser.add_argument("--part", default="1/1", help="such as 2/6: the second of six parts")
    chosen = parser.parse_args()
    part, parts = map(int, chosen.part.split("/"))
    sums, done, faults = count(chosen.games or with_zones(), chosen.turns, chosen.seed, part, parts)
    print("\n".join(faults[:40]))
    print(f"{done} own turns")
    for size, counted in sums.items():
        print(f"{size}: " + ", ".join(f"{name} {number}" for name, number in counted.items()))


if __name__ == "__main__":
    main()
