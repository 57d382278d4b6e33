"""The page in a real browser: whole games by keyboard and by tapping, on a small screen and on a large one."""

from pathlib import Path
from shutil import which

import pytest
from test_web import Process  # skips this file too if the extra is not installed

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = which("chromium") or which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
WHIST = str(Path(__file__).parent.parent / "examples/whist")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    process = Process(tmp_path_factory.mktemp("web") / "tables.sqlite", "tictactoe", WHIST)
    yield process.home
    process.kill()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield chromium
        chromium.close()


@pytest.fixture(params=[(390, "dark"), (1200, "light")], ids=["small dark", "large light"])
def page(browser, home, request):
    """A page that must neither fail nor ask another host."""
    width, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    shown, wrong = context.new_page(), []
    shown.on("pageerror", lambda error: wrong.append(str(error)))
    shown.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
    shown.on("request", lambda asked: None if asked.url.startswith(home) else wrong.append(asked.url))
    yield shown
    context.close()
    assert wrong == []


def sit_down(page, home: str, game: str) -> None:
    page.goto(home)
    page.select_option("#game", game)
    page.click("button[type=submit]")
    page.wait_for_selector(".board:not([hidden])")
    page.evaluate(
        "() => { const one = document.getElementById('pause'); one.value = 0; one.dispatchEvent(new Event('change')); }"
    )


def fits(page) -> None:
    """Nothing is wider than the screen, and all that can be pressed is large enough."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    small = page.evaluate(
        """() => [...document.querySelectorAll("button, select, summary, a, input")]
            .filter((one) => one.checkVisibility() && !(one.type === "checkbox"))
            .map((one) => [one.textContent, one.getBoundingClientRect()])
            .filter(([, box]) => box.width < 44 || box.height < 44).map(([text]) => text)"""
    )
    assert small == []


def test_a_game_is_played_by_keyboard_alone(page, home):
    sit_down(page, home, "tictactoe")
    fits(page)
    for _ in range(5):
        page.wait_for_selector("button.piece.lit, .result")
        if page.query_selector(".result"):
            break
        page.focus("button.piece.lit")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true", "the focus stays"
        page.focus(".moves button.primary")
        page.keyboard.press("Enter")
        page.wait_for_selector("button.picked", state="detached")
    page.wait_for_selector(".result")
    assert "Checked in this browser: the deal was fixed before you sat down" in page.inner_text(".result")
    fits(page)


def test_a_game_is_played_by_tapping_and_goes_on_after_a_refresh(page, home):
    sit_down(page, home, "whist")
    for turn in range(6):
        page.wait_for_selector("button.piece.lit, .result")
        fits(page)
        if turn == 2:
            hand = page.inner_text(".own")
            page.reload()
            page.wait_for_selector("button.piece.lit")
            assert page.inner_text(".own") == hand
        page.click("button.piece.lit")
        page.click(".moves button.primary")
        page.wait_for_selector("button.picked", state="detached")
    page.wait_for_selector(".result")
    assert "Tricks:" in page.inner_text(".result")


def test_a_button_says_what_it_shows(page, home):
    """What is seen is hidden from screen readers, and the text for them is beside it."""
    sit_down(page, home, "whist")
    page.wait_for_selector("button.piece.lit")
    piece = page.query_selector("button.piece.lit")
    assert piece.query_selector(".seen").get_attribute("aria-hidden") == "true"
    assert piece.query_selector(".said").inner_text().strip().endswith(", playable")
