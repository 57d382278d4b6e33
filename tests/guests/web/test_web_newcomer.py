"""Whole games on a phone, from the front page, by taps on what the page shows, as somebody plays who is new to them.

Each tap is a real one: it fails if something else lies where it goes. What must hold at each decision is what people
stumbled on (docs/table-design.md).
"""

import random
import re
import time

import covered
import pytest
from web_pages import CHOICES, MOST_DECISIONS, SMALL, Screen

pytestmark = pytest.mark.slow
SERVED = ["moska", "hearts", "literature", "durak"]
STATUS = re.compile(r"(New: .+\. )?Your turn(\.|: [a-z, ]+\.)")
CUT_OFF = """() => [...document.querySelectorAll('.events li:last-child, .bar .status, .moves button')]
    .filter((one) => one.checkVisibility() && one.clientWidth > 1)
    .filter((one) => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 3)
    .map((one) => one.textContent)"""
SEAT, SPEC = re.compile(r"\bp\d\b"), re.compile(r"\w+:\w+|\?\w+=")


def stumbles(shown: Screen) -> list[str]:
    """What is wrong with the screen at an own decision."""
    page = shown.page
    found = [f"{name}: {count}" for name, count in page.evaluate(covered.HIDDEN).items() if count and "dden" in name]
    found += [f"cut off: {text}" for text in page.evaluate(CUT_OFF)]
    status, seen = page.inner_text(".bar .status"), page.inner_text(".play")
    found += [] if STATUS.match(status) else [f"status: {status}"]
    found += [f"{name}: {seen}" for name, wrong in (("seat", SEAT), ("spec", SPEC)) if wrong.search(seen)]
    return found


def decide(shown: Screen, luck: random.Random | None, ply: str) -> int:
    """Tap until a move is made, any move or without `luck` the first one. Returns how many taps it took."""
    for taps in range(40):
        gone = shown.page.evaluate("(ply) => !document.querySelector(`.board[data-waits][data-ply='${ply}']`)", ply)
        if gone:
            return taps
        pieces, moves, picked = shown.page.evaluate(CHOICES)
        if moves and (picked or not pieces or (luck and luck.random() < 0.3)):
            shown.press(f'[data-key="{luck.choice(moves) if luck else moves[0]}"]')
        elif pieces:
            shown.tap(luck.choice(pieces) if luck else pieces[0])
        shown.page.wait_for_timeout(60)
    raise AssertionError(f"no move after many taps: {shown.page.inner_text('.bar')}")


def first_card(shown: Screen, game: str) -> str:
    """How many taps and seconds lead from the address to the first own move, and of these how many the others took."""
    begun, page = time.perf_counter(), shown.page
    page.goto(shown.home)
    shown.press(f"[data-key=play-{game}]")
    page.wait_for_selector(".board:not([hidden])")
    seated = time.perf_counter()
    page.wait_for_selector(".board[data-waits]", timeout=covered.PATIENCE)
    waited = time.perf_counter() - seated
    taps = 1 + decide(shown, None, page.get_attribute(".board", "data-ply") or "")
    return f"{taps} taps and {time.perf_counter() - begun:.1f} s ({waited:.1f} s of others)"


@pytest.mark.parametrize("game", SERVED)
def test_a_whole_game_is_played_from_the_front_page_by_taps_without_a_stumble(browser, home, game):
    shown, luck = Screen(browser, home, SMALL, "light", settings="{}"), random.Random(game)
    page, ply, taps, found = shown.page, "-1", [], []
    seconds = first_card(shown, game)
    page.goto(home)
    shown.press(f"[data-key=play-{game}]")
    shown.begin()
    for _ in range(MOST_DECISIONS):
        page.wait_for_selector(f".result h2, .board[data-waits]:not([data-ply='{ply}'])", timeout=covered.PATIENCE)
        if page.query_selector(".result"):
            break
        ply = page.get_attribute(".board", "data-ply") or ""
        found += [f"ply {ply}: {what}" for what in stumbles(shown)]
        taps.append(decide(shown, luck, ply))
    end = page.inner_text(".result .sentence")
    print(f"{game}: first move after {seconds}. {len(taps)} decisions, {sum(taps)} taps, {max(taps)} at most; {end}")
    assert found == []
    assert not re.search(r"\b[Yy]ou\b[^.,;]*\b(wins|loses|is|has)\b", end)
    assert len(taps) >= 3
    shown.fits()
    shown.close()
