"""The page below a path, as a proxy shows it: every address on it stays below the path."""

PATH = "/clubs/cards"
SERVED = ["tictactoe", "--path", PATH]


def test_a_game_is_set_up_played_and_looked_at_again_below_a_path(browser, home):
    page, asked = browser.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{home}/")
    page.click("[data-key=play-tictactoe]")
    page.wait_for_selector(".board[data-waits]")
    table = page.url
    assert table.startswith(f"{home}/t/")
    while page.locator("text=All games").count() == 0:
        if page.locator(".board[data-waits] button.lit").count():
            page.locator(".board[data-waits] button.lit").first.click()
        page.wait_for_timeout(100)
    page.click("text=All games")
    page.wait_for_selector(".yours a")
    assert page.get_attribute(".yours a", "href") == table.removeprefix(home.removesuffix(PATH))
    assert home.endswith(PATH)
    assert [url for url in asked if not url.startswith(home)] == []
