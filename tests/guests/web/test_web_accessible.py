"""The page is for everybody: axe-core finds nothing on any screen, and colours can be told from their ground."""

import random
import re

import pytest

pytest.importorskip("axe_playwright_python", reason="the extra `browser` is not installed")

from axe_playwright_python.sync_playwright import Axe
from study_rehearsal import stage
from web_pages import LARGE, SMALL, Screen

import cardai.guests.web.server

LEAST_CONTRAST = 4.5  # WCAG 2.2, 1.4.3
ON_FELT = [("felt-ink", "felt"), ("felt-soft", "felt"), ("felt-ink", "seat"), ("felt-soft", "seat"), ("glow", "seat")]
ON_PAGE = [("ink", "page"), ("ink", "panel"), ("soft", "panel"), ("accent", "panel"), ("accent-ink", "accent")]
ON_CARD = [("card-ink", "card"), ("red", "card"), ("bad", "panel"), ("page", "bad"), ("soft", "page")]


SERVED = ["hearts", "tictactoe", "--opponents", "random"]


@pytest.fixture(scope="module", params=[(SMALL, "light"), (LARGE, "dark"), (SMALL, "dark"), (LARGE, "light")])
def shown(browser, home, request):
    screen = Screen(browser, home, *request.param)
    yield screen
    screen.close()


def violations(shown: Screen) -> list[str]:
    """What axe-core finds wrong, with the elements."""
    found = Axe().run(shown.page).response["violations"]
    return [f"{one['id']}: {node['html'][:120]}" for one in found for node in one["nodes"]]


def test_the_lobby(shown):
    shown.page.goto(shown.home + "/#more")
    shown.page.wait_for_selector("#seat-0")
    shown.page.click("#settings summary")
    assert violations(shown) == []


def test_a_table_that_waits_and_an_invitation(shown):
    link = shown.invite("tictactoe")
    shown.fits()
    assert violations(shown) == []
    shown.page.goto("about:blank")
    shown.page.goto(link)
    shown.page.wait_for_selector("text=This is your own invitation")
    shown.fits()
    assert violations(shown) == []
    shown.context.clear_cookies()  # as in a friend's browser
    shown.page.goto("about:blank")
    shown.page.goto(link)
    shown.page.wait_for_selector("text=You are invited")
    shown.fits()
    assert violations(shown) == []


@pytest.mark.parametrize("game", ["tictactoe", "hearts"])
def test_a_table_in_play_and_one_that_is_over(shown, game):
    shown.sit_down(game)
    shown.page.wait_for_selector(".board[data-waits] button.piece.lit")
    assert violations(shown) == []
    shown.page.focus("button.piece.lit")
    shown.page.keyboard.press("Enter")
    shown.page.wait_for_selector("button.picked")
    shown.page.click("text=At this table")
    shown.page.click("text=Type a move")
    assert violations(shown) == []
    if game == "tictactoe":
        shown.play_to_the_end(shown.tap, random.Random(5))
        assert violations(shown) == []


def test_cards_to_pass_help_and_points_by_round(shown):
    shown.sit_down("hearts", "match")
    shown.page.wait_for_selector(".board[data-waits] .own button.lit")
    shown.press("[data-key=help]")
    shown.page.wait_for_selector(".peek.help")
    shown.fits()
    assert violations(shown) == []
    shown.press("[data-key=help]")
    for place in (0, 4, 8):
        shown.choose(shown.page.locator(".own .fan button").nth(place).get_attribute("data-key"))
    assert violations(shown) == []
    if shown.width == LARGE:
        return  # the rest is long
    luck, done, ply = random.Random(2), ".side .rounds table", "0"
    shown.choose("move-together")
    while not shown.page.locator(done).count():
        shown.page.wait_for_selector(f".board[data-waits]:not([data-ply='{ply}']), {done}")
        ply = shown.page.get_attribute(".board", "data-ply")
        if shown.page.locator(done).count() == 0:
            shown.move(shown.choose, luck)
    shown.page.wait_for_selector(".board[data-waits]")
    assert violations(shown) == []


def test_the_pages_in_finnish(shown):
    shown.page.goto(shown.home + "/?lang=fi")
    shown.page.wait_for_selector("text=Valitse peli")
    shown.fits()
    assert violations(shown) == []
    shown.sit_down("tictactoe")
    shown.page.wait_for_selector(".board[data-waits] button.piece.lit")
    shown.press("#settings summary")
    shown.fits()
    assert violations(shown) == []
    shown.page.goto(shown.home + "/?lang=en")
    shown.page.wait_for_selector("text=Choose a game")


def test_the_pages_of_a_study(shown, tmp_path, protocol):
    with stage(tmp_path / "data.sqlite", protocol) as served:
        (_, code), language = *served.people.add(1), "fi" if shown.width == LARGE else "en"
        opened = Screen(shown.context.browser, served.home, shown.width, "light", locale=language)
        for address in ("/study", f"/study#{code}", "/organiser#" + served.server.study.key):
            opened.page.goto("about:blank")
            opened.page.goto(served.home + address)
            opened.page.wait_for_selector("main .study h2")
            opened.fits()
            assert violations(opened) == []
        assert (opened.page.inner_text("h2") == "How far everybody is") == (language == "en")
        opened.close()


def test_axe_finds_a_fault(shown):
    shown.page.goto(shown.home + "/#more")
    shown.page.wait_for_selector("#seat-0")
    shown.page.evaluate("document.querySelector('label[for=game]').replaceWith(document.getElementById('game'))")
    assert any("select-name" in text for text in violations(shown))


def luminance(colour: str) -> float:
    """The relative luminance of a colour `#rrggbb`, 0 to 1 (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("ink", "ground"), ON_FELT + ON_PAGE + ON_CARD)
def test_texts_can_be_told_from_their_ground(scheme, ink, ground):
    """axe-core does not judge text on gradients, so the colours of the style sheet are compared too."""
    style = (cardai.guests.web.server.STATIC / "style.css").read_text("utf-8")
    light, dark = re.findall(r":root \{(.*?)\n *\}", style, re.DOTALL)[:2]
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", light))
    if scheme == "dark":
        colours |= dict(re.findall(r"--([\w-]+): (#\w{6})", dark))
    assert contrast(colours[ink], colours[ground]) >= LEAST_CONTRAST
