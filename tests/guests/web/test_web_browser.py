"""The page in a real browser: every game to its end by tapping and by keyboard, small and large, light and dark."""

import gzip
import random
from pathlib import Path

import pytest
import web_truth
from web_clients import Process
from web_pages import LARGE, SMALL, Screen

import cardai
from cardai.guests.web import server
from cardai.records.record import Reader

EXAMPLES = Path(__file__).parents[3] / "examples"
OWN = [place.parent for place in EXAMPLES.glob("*/__init__.py")]
GAMES = {**{name: name for name in cardai.available()}, **{path.name: str(path) for path in OWN}}
SERVED = [*GAMES.values(), "--opponents", "random"]
SHORT = {"literature": "table"}  # the variant whose games of random moves are short, where it is not the first one
SCREENS = [(SMALL, "light"), (LARGE, "dark"), (SMALL, "dark"), (LARGE, "light")]
FEW = {"moska": 2}  # seats, where a game of all seats takes long by random moves
LONG = ("durak", "hearts", "literature", "moska")  # by keyboard these take too long for every run of the tests
PLANS = [
    pytest.param(
        name,
        by,
        *SCREENS[(number + offset) % 4],
        id=f"{name}-{by}",
        marks=[pytest.mark.slow] if by == "keys" and name in LONG else [],
    )
    for number, name in enumerate(sorted(GAMES))
    for offset, by in enumerate(("tapping", "keys"))
]


def test_the_first_load_of_a_table_is_small_and_brings_no_code_that_it_does_not_use(screen):
    shown = screen(SMALL)
    shown.sit_down("tictactoe")
    asked = set()
    shown.page.on("request", lambda request: asked.add(request.url))
    shown.page.reload()
    shown.begin()
    names = {"page.html"} | {url.rpartition("/static/")[2] for url in asked if "/static/" in url}
    assert {"table.js", "zones.js", "style.css"} <= names
    assert names.isdisjoint({"lobby.js", "learning.js", "challenge.js", "waiting.js", "fair.js"})
    assert compressed(names) <= 40_000
    assert compressed(server.sent_files()) <= 150_000


def compressed(names) -> int:
    """The bytes of these files as they are sent."""
    return sum(len(gzip.compress(server.sent_files()[name].read_bytes())) for name in names)


def record_of(shown: Screen, folder: Path) -> Path:
    """The record of the game that a window shows, which must be over."""
    answer = shown.context.request.get(f"{shown.page.url}/record")
    assert answer.ok, answer.text()
    file = folder / "game.jsonl"
    file.write_bytes(answer.body())
    return file


def inspected(shown: Screen, folder: Path, frames) -> web_truth.Findings:
    """What is found in frames of the game that a window shows."""
    reader = Reader(record_of(shown, folder))
    (played,) = reader
    game = reader.load(GAMES[reader.header.game])
    return web_truth.inspect(game, reader.header.variant, reader.header.seats, played.seed, played.moves, frames)


def test_all_screens_and_ways_to_play_occur():
    assert {(width, scheme) for _, _, width, scheme in (plan.values for plan in PLANS)} == set(SCREENS)
    assert len(GAMES) >= 7


@pytest.mark.parametrize(("game", "by", "width", "scheme"), PLANS)
def test_a_game_is_played_to_its_end(screen, tmp_path, game, by, width, scheme):
    """Nothing is too wide or too small for a finger on the way, and no frame has a hidden card."""
    shown = screen(width, scheme)
    if by == "tapping":
        shown.sit_down(game, SHORT.get(game), FEW.get(game))
    else:
        shown.sit_down_by_keyboard(cardai.load(GAMES[game]).title, SHORT.get(game))
    choose = shown.tap if by == "tapping" else shown.type
    decisions = shown.play_to_the_end(choose, random.Random(game), shown.fits)
    least = {"holdem": 0, "kuhn": 1, "leduc": 1}  # the other may fold at once, or after one move
    assert decisions >= least.get(game, 2)
    result = shown.page.inner_text(".result")
    assert "Checked in this browser: the deal was fixed before you sat down" in result
    found = inspected(shown, tmp_path, shown.frames)
    assert found.problems == []
    assert found.frames > decisions
    nothing_hidden = "tictactoe", "goofspiel", "hanabi"  # or no card has a name of its own
    assert found.cards > 0 or game in nothing_hidden


def test_a_frame_with_a_hidden_card_would_be_found(screen, tmp_path):
    shown = screen(LARGE, "light")
    shown.sit_down("whist")
    shown.play_to_the_end(shown.tap, random.Random(1))
    frame = next(frame for frame in shown.frames if frame.get("ply") == 1)
    other = next(zone for zone in frame["zones"] if zone.get("seat") == 2 and zone["hidden"])
    mine = next(zone for zone in frame["zones"] if zone.get("seat") == 0)
    shows_one = set(range(24)) - {piece for zone in frame["zones"] for piece in zone["pieces"]}
    for piece in sorted(shows_one):
        leak = {**other, "pieces": [*other["pieces"], piece], "hidden": other["hidden"] - 1}
        planted = {**frame, "zones": [leak if zone is other else zone for zone in frame["zones"]]}
        problems = inspected(shown, tmp_path, [planted]).problems
        assert any("in another world" in text for text in problems)
        assert any("Hand shows" in text for text in problems)
    spoken = {**frame, "log": [[1, cardai.load(GAMES["whist"]).table.pieces[sorted(shows_one)[0]]]]}
    assert any("words name" in text for text in inspected(shown, tmp_path, [spoken]).problems)
    assert mine["pieces"]


def test_a_game_goes_on_after_a_refresh_and_a_spectator_sees_what_the_player_sees(screen, tmp_path):
    shown, eyes = screen(LARGE, "dark"), screen(SMALL, "light")
    shown.sit_down("whist")
    shown.page.click("text=At this table")
    shown.page.click("text=Let somebody watch my cards")
    shown.page.wait_for_selector(".tools .link:not([hidden])")
    eyes.page.goto(shown.page.input_value(".tools .link"))
    eyes.press("button[type=submit]")
    eyes.page.wait_for_selector(".board:not([hidden])")
    luck = random.Random(3)
    shown.page.wait_for_selector(".board[data-waits]")
    hand = shown.page.inner_text(".own .pieces")
    shown.page.reload()
    shown.page.wait_for_selector("button.piece.lit")
    assert shown.page.inner_text(".own .pieces") == hand
    shown.play_to_the_end(shown.tap, luck)
    eyes.page.wait_for_selector(".result .sentence")
    eyes.fits()
    watched = [frame for frame in eyes.frames if "ply" in frame]
    assert all(frame["watches"] and "moves" not in frame for frame in watched)
    found = inspected(shown, tmp_path, watched)
    assert (found.problems, found.cards > 0) == ([], True)


def test_a_move_whose_connection_is_closed_is_sent_again(browser, tmp_path):
    """Here a tab may send very few messages, so that its connection is closed again and again."""
    with Process(tmp_path / "tables.sqlite", "tictactoe", messages=3) as process:
        shown = Screen(browser, process.home, LARGE, "light")
        shown.sit_down("tictactoe")
        assert shown.play_to_the_end(shown.tap, random.Random(4)) >= 3
    assert [text for text in shown.wrong if "WebSocket" not in text] == []


@pytest.mark.parametrize(("width", "scheme"), [(SMALL, "light"), (LARGE, "dark")])
def test_eight_seats_fit(screen, width, scheme):
    shown, luck = screen(width, scheme), random.Random(8)
    shown.page.goto(shown.home + "/#more")
    shown.page.select_option("#game", "moska")
    shown.page.select_option("#seats", "8")
    shown.fits()
    shown.sit_down("moska", seats=8)
    for _ in range(4):
        shown.page.wait_for_selector(".board[data-waits], .result")
        shown.fits()
        if shown.page.query_selector(".result"):
            break
        ply = shown.page.get_attribute(".board", "data-ply")
        shown.move(shown.tap, luck)
        shown.page.wait_for_selector(f".board:not([data-ply='{ply}'])")
    assert len(shown.page.query_selector_all(".seat")) == 8


def test_a_button_says_what_it_shows_and_keeps_the_focus(screen):
    """What is seen is hidden from screen readers, and the text for them is beside it."""
    shown = screen(LARGE, "light")
    shown.sit_down("whist")
    page = shown.page
    piece = page.locator(".board[data-waits] button.piece.lit").first  # asked for anew each time: the page draws again
    assert piece.locator(".seen").get_attribute("aria-hidden") == "true"
    assert piece.locator(".said").inner_text().strip().endswith(", playable")
    key = piece.get_attribute("data-key")
    piece.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.getAttribute('aria-pressed') === 'true'")
    assert page.evaluate("document.activeElement.dataset.key") == key
