"""The page's buttons for learning, in a real browser: hints, undo, a look back, playing on, the same deal by a code."""

import re

from test_web_accessible import violations
from web_pages import LARGE, SMALL

SERVED = ["tictactoe"]


def sit_down(shown, **wishes):
    """Set up a table of Tic-Tac-Toe, with these choices under *More settings*."""
    shown.page.goto(shown.home + "/#more")
    shown.page.select_option("#game", "tictactoe")
    if wishes.get("study"):
        shown.page.check("#study")
    if wishes.get("people"):
        shown.page.select_option("#challenge", str(wishes["people"]))
    shown.press('button:text("Sit down")')
    shown.begin()


def is_for_everybody(shown):
    """Nothing that axe-core finds, nothing wider than the screen, nothing too small to press."""
    assert violations(shown) == []
    shown.fits()


def play_to_the_end(page):
    for _ in range(6):
        page.wait_for_selector("button.piece.lit, .result")
        if page.query_selector(".result"):
            return
        page.click("button.piece.lit")
        page.click(".moves button.primary")
        page.wait_for_selector("button.picked", state="detached")
    page.wait_for_selector(".result")


def test_a_study_game_with_hints_undo_a_look_back_and_playing_on(screen):
    shown = screen(SMALL, "dark")
    sit_down(shown, study=True)
    page = shown.page
    page.wait_for_selector("text=Hint")
    page.wait_for_selector(".stands >> nth=1")
    page.click("text=Hint")
    page.wait_for_selector(".advice p[role=status]")
    assert page.locator(".piece.hint").count() == 1
    assert re.search(r"would take [abc][123]", page.inner_text(".advice p[role=status]"))
    page.click("[data-key=advice-move]")
    page.wait_for_selector("text=Best by")
    page.click("text=Why?")
    page.wait_for_selector(".advice table")
    assert page.locator(".advice tbody tr").count() == 9
    is_for_everybody(shown)
    page.click("button.piece.lit >> nth=0")
    page.click(".moves button.primary")
    page.wait_for_selector(".lines p >> nth=1")
    page.click("[data-key=undo]")
    page.wait_for_selector(".lines p", state="detached")
    assert page.locator("button.piece.lit").count() == 9
    play_to_the_end(page)
    page.click("text=Look at the game again")
    page.wait_for_selector(".key:nth-child(2)")
    is_for_everybody(shown)
    for _ in range(3):
        page.click("[data-key='go-One move on']")
    page.wait_for_selector("text=Move 4 of")
    first = page.url
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("text=Move 3 of")
    page.click("text=Play on from here")
    page.wait_for_url(lambda url: url != first)
    page.wait_for_selector(".lines p >> nth=1")
    assert page.locator(".lines p").count() == 2
    assert page.locator("button.piece.lit").count() == 7


def test_the_same_deal_by_a_code(screen):
    shown, other = screen(LARGE), screen(SMALL)
    sit_down(shown, people=2)
    page, friend = shown.page, other.page
    code = page.inner_text(".looked code")
    play_to_the_end(page)
    assert page.query_selector("text=Save the game") is None
    page.click("text=End it without the others")
    page.wait_for_selector(".looked .trouble:text('in the last 10 minutes; wait for them')")
    friend.goto(other.home + "/#more")
    friend.fill("#code", code)
    friend.click("text=Play this deal")
    other.begin()
    play_to_the_end(friend)
    friend.wait_for_selector("text=2 of 2 have finished")
    friend.wait_for_selector("text=in your seat")
    friend.wait_for_selector("th:text('less yours')")
    assert "The deal follows from what was fixed before the game" in friend.inner_text(".result")
    page.click("text=See who has finished")
    page.wait_for_selector("text=in your seat")
    is_for_everybody(shown)
    assert page.query_selector("text=Save the game") is not None
