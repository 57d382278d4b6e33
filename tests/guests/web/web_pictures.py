"""Pictures of the page, for the documentation and for looking at.

    python tests/guests/web/web_pictures.py pictures                  # three games, small and large, light and dark
    python tests/guests/web/web_pictures.py docs --for-the-readme     # those of the README and of docs/table-design.md

Pictures are kept with few colours, which makes them small.
"""

import argparse
import io
import itertools
import random
import tempfile
from pathlib import Path

from PIL import Image
from web_clients import Process
from web_pages import LARGE, SMALL, Screen, chromium

GAMES = ("moska", "hearts", "tictactoe")
DECISIONS = {"moska": 3, "hearts": 4, "tictactoe": 2}  # how many are played before the picture
HEIGHTS = {SMALL: 844, LARGE: 860}
README = [("table-large", "moska", LARGE, "light"), ("table-small", "hearts", SMALL, "dark")]
REVIEW = "table-review", "hearts", LARGE, "light"
COLOURS = 200


def play(shown: Screen, game: str) -> None:
    """Play until the middle of a game, and pick something."""
    luck, page, ply = random.Random(game), shown.page, "-1"
    shown.sit_down(game)
    for decision in itertools.count():
        page.wait_for_selector(f".board[data-waits]:not([data-ply='{ply}'])")
        if decision >= DECISIONS[game] and (game != "hearts" or page.locator(".middle .round .piece").count() > 1):
            break  # in Hearts with cards in the trick
        ply = page.get_attribute(".board", "data-ply") or ""
        shown.move(shown.tap, luck)
    if page.query_selector("button.piece.lit"):
        shown.choose(page.get_attribute("button.piece.lit", "data-key") or "")
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(300)


def review(shown: Screen, game: str) -> None:
    """Play to the end, and look at the game again from the first costly move on."""
    shown.sit_down(game)
    shown.play_to_the_end(shown.choose, random.Random(game))
    shown.press("[data-key=review]")
    shown.page.wait_for_selector(".curve circle")
    shown.page.click("text=Next mistake")
    shown.page.wait_for_timeout(5000)  # all seats are judged by then
    shown.page.evaluate("scrollTo(0, 0)")


def save(picture: bytes, file: Path) -> None:
    """Save a screenshot, well compressed."""
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(COLOURS, kmeans=3).save(file, optimize=True)
    print(f"{file}: {file.stat().st_size / 1000:.0f} kB")


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--for-the-readme", action="store_true")
    chosen = parser.parse_args()
    chosen.folder.mkdir(exist_ok=True)
    wanted = [
        (f"{game}-{width}-{scheme}", game, width, scheme)
        for game in GAMES
        for width in (SMALL, LARGE)
        for scheme in ("light", "dark")
    ]
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        process = Process(Path(folder) / "tables.sqlite", *GAMES)
        try:
            for name, game, width, scheme in [*README, REVIEW] if chosen.for_the_readme else wanted:
                shown = Screen(browser, process.home, width, scheme, HEIGHTS[width])
                (review if name == REVIEW[0] else play)(shown, game)
                save(shown.page.screenshot(), chosen.folder / f"{name}.png")
                shown.close()
        finally:
            process.kill()


if __name__ == "__main__":
    main()
