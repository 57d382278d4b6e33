"""Two people in real browsers choose at the same time, and see the choices when both have made theirs."""

from pathlib import Path

SERVED = [str(Path(__file__).parents[3] / "examples/goofspiel")]


def bid(screen, seat, value):
    """Pick a card of the seat's own hand, and play it."""
    screen.page.click(f"[data-key=piece-{13 * seat + value - 1}]")
    screen.page.click(f"[data-key='move-bids {value}']")
    screen.page.wait_for_selector(".own .badge:text-is('has chosen')")


def test_both_choose_at_the_same_time_and_the_last_may_be_first(screens):
    mine, theirs = screens
    theirs.page.goto(mine.invite())
    theirs.page.fill("#name", "Ben")
    theirs.press("text=Come in")
    for one in screens:
        one.page.wait_for_selector(".board:not([hidden])")
        one.page.wait_for_selector("[data-waits]")
    mine.page.click("[data-key=piece-3]")
    bid(theirs, 1, 11)
    theirs.page.wait_for_selector("text=You have chosen. Player is to move.")
    mine.page.wait_for_selector(".others .badge:text-is('has chosen')")
    assert mine.page.locator(".lines p").count() == 0
    assert mine.page.locator(".own button.picked").count() == 1, "what I have picked stays picked"
    mine.page.click("[data-key='move-bids 4']")
    for one in screens:
        one.page.wait_for_selector(".lines p:has-text('all show:')")
        one.page.wait_for_selector("[data-waits]")
        assert one.page.locator(".badge:text-is('has chosen')").count() == 0
        one.fits()
    mine.page.wait_for_selector(".lines p:has-text('Ben has chosen; all show: you bid 4, Ben bids 11')")
    theirs.page.wait_for_selector(".lines p:has-text('You have chosen; all show: Player bids 4, you bid 11')")
    seen = [frame for frame in mine.frames if frame.get("ply") == 0]
    assert any(frame["chosen"] == [1] for frame in seen if "chosen" in frame)
    assert not any("bids 11" in str(frame.get("log")) for frame in seen)
