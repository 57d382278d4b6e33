"""Links in a real browser: one's own keeps the seat, and a friend's works for the friend."""

SERVED = ["tictactoe"]


def test_the_organiser_opens_the_links_they_made_and_keeps_the_seat_and_the_friend_comes_by_them(screens):
    mine, theirs = screens
    link = mine.invite("tictactoe")
    mine.fits()
    mine.page.reload()
    mine.page.wait_for_selector("text=Copy the link")
    assert mine.page.input_value("li .link") == link, "the link is not replaced by another one"
    for tab in (mine.page, mine.context.new_page()):  # in the same tab only what is behind the # changes
        tab.goto(link)
        tab.wait_for_selector("text=This is your own invitation")
        assert tab.input_value(".own-link .link") == link
        tab.wait_for_selector("li:has-text('(you)')")
        mine.fits()
    theirs.page.goto(link)
    theirs.page.fill("#name", "Ben")
    theirs.press("text=Come in")
    theirs.page.wait_for_selector(".board:not([hidden])")
    mine.page.wait_for_selector(".own h2:has-text('You')")
    theirs.page.goto(link)
    theirs.page.wait_for_selector(".others h2:has-text('Player')")
    theirs.page.wait_for_selector(".own h2:has-text('You')")
    late = theirs.context.browser.new_context()
    page = late.new_page()
    page.goto(link)
    page.wait_for_selector("text=This link was used before")
    assert page.query_selector("#name") is None
    late.close()


def test_a_link_that_cannot_be_made_is_said_at_the_table(screens):
    mine, _ = screens
    mine.offer_a_seat()
    mine.page.route("**/invite", lambda route: route.fulfill(status=400, json={"error": "this seat is taken"}))
    mine.page.click("text=Make a link")
    mine.page.wait_for_selector(".waiting .trouble:has-text('this seat is taken')")
    mine.wrong.clear()  # the console names the answer that was refused
