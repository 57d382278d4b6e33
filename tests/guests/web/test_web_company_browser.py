"""Two people at a table in a real browser: each sees who is there, who is waited for, and what became of the other."""

import random

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("playwright.sync_api", reason="the extra `browser` is not installed")
pytest.importorskip("axe_playwright_python", reason="the extra `browser` is not installed")

from test_web_accessible import violations
from web_pages import CHROMIUM, Screen

pytest_plugins = "web_browser"
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
SERVED = ["tictactoe"]


def meet(mine: Screen, theirs: Screen) -> str:
    """Sit down together. Returns the link by which the friend came."""
    link = mine.invite("tictactoe")
    theirs.page.goto(link)
    theirs.page.fill("#name", "Ben")
    theirs.press("text=Come in")
    for one in (mine, theirs):
        one.page.wait_for_selector(".board:not([hidden])")
    return link


def test_a_dot_says_whether_the_other_is_there_and_the_front_page_whose_turn_it_is(screens):
    mine, theirs = screens
    link = mine.invite("tictactoe")
    theirs.page.goto(link)
    theirs.page.wait_for_selector(".hosts:has-text('Player is waiting for you')")
    theirs.fits()
    theirs.page.fill("#name", "Ben")
    theirs.press("text=Come in")
    mine.page.wait_for_selector(".others .dot.here:has-text('is here')")
    mine.fits()
    theirs.page.goto(theirs.home)
    mine.page.wait_for_selector(".others .dot:not(.here):has-text('is not here')")
    theirs.page.wait_for_selector(".yours .state:has-text('Player is at the table.')")
    theirs.fits()
    theirs.page.go_back()
    mine.page.wait_for_selector(".others .dot.here")


def test_a_friend_leaves_an_agent_plays_and_the_friend_takes_the_seat_back(screens):
    mine, theirs = screens
    meet(mine, theirs)
    theirs.press(".leave summary")
    theirs.fits()
    theirs.press("text=Leave until I come back")
    theirs.page.wait_for_selector(".status:has-text('You have left. An agent plays for you.')")
    mine.page.wait_for_selector(".others .gone:has-text('agent plays')")
    mine.page.wait_for_selector(".board[data-waits]")
    mine.move(mine.choose, random.Random(1))
    mine.page.wait_for_selector(".board[data-waits][data-ply='2']")
    for one in screens:
        one.fits()
        assert violations(one) == []
    theirs.page.reload()
    theirs.press("text=Take my seat back")
    mine.page.wait_for_selector(".others h2:not(:has(.gone))")
    mine.page.reload()
    mine.press(".leave summary")
    mine.press("text=Give up for good")
    theirs.page.wait_for_selector(".others .gone")
    mine.page.wait_for_selector(".status:has-text('You gave up.')")
    assert mine.page.query_selector("text=Take my seat back") is None
    theirs.play_to_the_end(theirs.choose, random.Random(1))


def test_what_is_said_is_seen_and_may_be_muted_and_both_play_again(screens):
    mine, theirs = screens
    meet(mine, theirs)
    for one in screens:
        one.press("summary:has-text('Say something')")
        one.fits()
    theirs.press("text=Good luck!")
    mine.page.wait_for_selector(".others .speech:has-text('Good luck!')")
    mine.page.wait_for_selector("[role=status]:has-text('Ben: Good luck!')", state="attached")
    theirs.page.wait_for_selector(".own .speech:has-text('Good luck!')")
    assert violations(mine) == []
    mine.page.evaluate("localStorage.setItem('settings', JSON.stringify({ mute: true }))")
    theirs.press("text=Oops!")
    theirs.page.wait_for_selector(".own .speech:has-text('Oops!')")
    mine.press("text=Thank you!")
    theirs.page.wait_for_selector(".others .speech:has-text('Thank you!')")
    mine.page.wait_for_selector(".own .speech:has-text('Thank you!')")
    assert mine.page.query_selector("text=Ben: Oops!") is None
    mine.press(".leave summary")
    mine.press("text=Give up for good")
    theirs.play_to_the_end(theirs.choose, random.Random(1))
    mine.page.wait_for_selector(".result")
    mine.press("text=Play again")
    mine.page.wait_for_selector("text=Ben, who has not come yet")
    mine.fits()
    theirs.press("text=Join the next game")
    for one in screens:
        one.page.wait_for_selector(".board[data-ply='0']:not(.over)")
    mine.page.wait_for_selector(".others h2:has-text('Ben')")


def test_a_seat_is_played_on_two_devices(screens):
    mine, other = screens
    mine.sit_down("tictactoe")
    mine.press("summary:has-text('At this table')")
    mine.press("text=Play on another device")
    mine.page.wait_for_selector(".tools .link:not([hidden])")
    other.page.goto(mine.page.input_value(".tools .link"))
    other.page.wait_for_selector("text=Your seat, on this device too")
    other.fits()
    other.press("text=Come in")
    other.page.wait_for_selector(".board[data-waits]")
    other.move(other.choose, random.Random(1))
    mine.page.wait_for_selector(".board[data-waits][data-ply='2']")
    mine.move(mine.choose, random.Random(1))
    other.page.wait_for_selector(".board[data-ply='4'], .result")


def test_the_last_line_up_is_offered_again(screens):
    mine, _ = screens
    mine.page.goto(mine.home + "/#more")
    assert not mine.page.is_visible("text=As last time")
    mine.page.select_option("#seat-0", "random")
    mine.page.select_option("#seat-1", "me")
    mine.press("button[type=submit]")
    mine.page.wait_for_selector(".board:not([hidden])")
    mine.page.goto(mine.home + "/#more")
    assert mine.page.input_value("#seat-0") == "me"
    mine.press("text=As last time")
    assert [mine.page.input_value(f"#seat-{seat}") for seat in (0, 1)] == ["random", "me"]
    mine.fits()
