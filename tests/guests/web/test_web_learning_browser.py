"""The page's buttons for learning, in a real browser: hints, undo, a look back, playing on, the same deal by a code."""

import re

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("playwright.sync_api", reason="the extra `browser` is not installed")
pytest.importorskip("axe_playwright_python", reason="the extra `browser` is not installed")

from axe_playwright_python.sync_playwright import Axe
from web_pages import CHROMIUM, PICK_FIRST, TOO_SMALL

pytest_plugins = "web_browser"
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
SERVED = ["tictactoe"]
PICK = f"location.host && localStorage.setItem('settings', '{PICK_FIRST}')"


@pytest.fixture
def page(browser, home, request):
    """A page that must neither fail nor ask another host."""
    width, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    context.add_init_script(PICK)
    shown, wrong = context.new_page(), []
    shown.on("pageerror", lambda error: wrong.append(str(error)))
    shown.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
    shown.on("request", lambda asked: None if asked.url.startswith(home) else wrong.append(asked.url))
    yield shown
    context.close()
    assert wrong == []


def sit_down(page, home, **wishes):
    page.goto(home + "/#more")
    page.select_option("#game", "tictactoe")
    if wishes.get("study"):
        page.check("#study")
    if wishes.get("people"):
        page.select_option("#challenge", str(wishes["people"]))
    page.click('button:text("Sit down")')
    page.wait_for_selector(".board:not([hidden])")
    hurry(page)


def hurry(page):
    page.evaluate(
        "() => { const one = document.getElementById('pause'); one.value = 0; one.dispatchEvent(new Event('change')); }"
    )


def is_for_everybody(page) -> bool:
    """Nothing that axe-core finds, nothing wider than the screen, nothing too small to press."""
    wrong = [(one["id"], node["html"][:120]) for one in Axe().run(page).response["violations"] for node in one["nodes"]]
    assert wrong == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    return page.evaluate(TOO_SMALL) == []


def play_to_the_end(page):
    for _ in range(6):
        page.wait_for_selector("button.piece.lit, .result")
        if page.query_selector(".result"):
            return
        page.click("button.piece.lit")
        page.click(".moves button.primary")
        page.wait_for_selector("button.picked", state="detached")
    page.wait_for_selector(".result")


@pytest.mark.parametrize("page", [(390, "dark")], indirect=True, ids=["small dark"])
def test_a_study_game_with_hints_undo_a_look_back_and_playing_on(page, home):
    sit_down(page, home, study=True)
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
    assert is_for_everybody(page)
    page.click("button.piece.lit >> nth=0")
    page.click(".moves button.primary")
    page.wait_for_selector(".lines p >> nth=1")
    page.click("[data-key=undo]")
    page.wait_for_selector(".lines p", state="detached")
    assert page.locator("button.piece.lit").count() == 9
    play_to_the_end(page)
    page.click("text=Look at the game again")
    page.wait_for_selector(".key:nth-child(2)")
    assert is_for_everybody(page)
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


@pytest.mark.parametrize("page", [(1200, "light")], indirect=True, ids=["large light"])
def test_the_same_deal_by_a_code(page, home, browser):
    sit_down(page, home, people=2)
    code = page.inner_text(".looked code")
    play_to_the_end(page)
    assert page.query_selector("text=Save the game") is None
    page.click("text=End it without the others")
    page.wait_for_selector(".looked .trouble:text('in the last 10 minutes; wait for them')")
    friend = browser.new_context().new_page()
    friend.context.add_init_script(PICK)
    friend.goto(home + "/#more")
    friend.fill("#code", code)
    friend.click("text=Play this deal")
    friend.wait_for_selector(".board:not([hidden])")
    hurry(friend)
    play_to_the_end(friend)
    friend.wait_for_selector("text=2 of 2 have finished")
    friend.wait_for_selector("text=in your seat")
    friend.wait_for_selector("th:text('less yours')")
    assert "The deal follows from what was fixed before the game" in friend.inner_text(".result")
    friend.context.close()
    page.click("text=See who has finished")
    page.wait_for_selector("text=in your seat")
    assert is_for_everybody(page)
    assert page.query_selector("text=Save the game") is not None
