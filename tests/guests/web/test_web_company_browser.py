"""Two people at a table in a real browser: each sees who is there, who is waited for, and what became of the other."""

import random

import pytest

pytest.importorskip("axe_playwright_python", reason="the extra `browser` is not installed")

from test_web_accessible import violations
from web_pages import Screen

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


def test_both_play_again_at_the_same_table(screens):
    mine, theirs = screens
    meet(mine, theirs)
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
