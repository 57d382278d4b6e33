"""The page in other languages than English: nothing of it is left out, and Moska can be played in Finnish."""

import json
import random
import re
from pathlib import Path

import pytest
from web_pages import LARGE, SMALL, Screen

import cardai
from cardai.cli.show.tally import tally
from cardai.guests.web.server import STATIC
from cardai.playing.table.one import OneGame
from cardai.registry import words_of

SERVED = ["moska", "literature", "--opponents", "random", "--judge", "rollout:4"]
ROOT = Path(__file__).parents[3]
CATALOGUE = json.loads((STATIC / "fi.json").read_text("utf-8"))
SCRIPTS = {file.name: file.read_text("utf-8") for file in STATIC.glob("*.js")}
CALL = re.compile(r'(?<![\w.])(?:this\.)?t\((?:"((?:[^"\\]|\\.)+)"|([^"\n]{1,40}))')
# What `t` is asked for by other means than a text, and the constants that have these texts.
BY_NAME = {
    "company.js": ["GONE", "YOU_ARE_GONE"], "learning.js": ["STEPS"],
    "pieces.js": ["SUITS", "RANKS"], "settings.js": ["SETTINGS"], "study.js": ["PLACES"],
    "waiting.js": ["HEADS", "ABOUT"], "review.js": ["step("], "language.js": ["data-text"],
}  # fmt: skip
MOSKA = cardai.load("moska")


def constant(script: str, name: str) -> set[str]:
    """The texts in a constant of a script: those that people read, not its keys."""
    if name == "step(":
        return set(re.findall(r'step\("([^"]+)"', script))
    if name == "data-text":
        return set(re.findall(r"data-text>([^<]+)<", (STATIC / "page.html").read_text("utf-8")))
    body = re.search(rf"const {name} = (.*?);\n", script, re.DOTALL)
    assert body, name
    texts = {text for text in re.findall(r'"([^"]*)"', body[1]) if re.search(r"\w{2}", text)}
    return texts - set(re.findall(r'\["(\w*)", "', body[1]))


def used() -> set[str]:
    """All texts that the page asks the catalogue for."""
    texts = set()
    for name, script in SCRIPTS.items():
        for text, other in CALL.findall(script):
            texts |= {text} if text else set()
            assert text or name in BY_NAME, f"{name}: t({other} is asked for by no text that a test finds"
        for constant_name in BY_NAME.get(name, ()):
            texts |= constant(script, constant_name)
    return texts


def test_every_text_of_the_page_is_in_the_catalogue_and_none_is_left_over():
    assert used() == set(CATALOGUE["page"])


def test_a_text_keeps_its_places_in_the_catalogue():
    for english, other in CATALOGUE["page"].items():
        assert sorted(re.findall(r"\{\w+\}", english)) == sorted(re.findall(r"\{\w+\}", other)), english
    for english, other in CATALOGUE["server"].items():
        places = {f"{{{number + 1}}}" for number in range(english.count("{}"))}
        assert set(re.findall(r"\{\d\}", other)) == places, english


def test_what_the_server_says_is_said_somewhere():
    """Each sentence of the catalogue that the server sends stands in its code, so that none is kept for nothing."""
    sources = [*(ROOT / "cardai").rglob("*.py"), *STATIC.glob("*.js"), *(ROOT / "games/moska").glob("*.py")]
    code = "\n".join(file.read_text("utf-8") for file in sources)
    for english in CATALOGUE["server"]:
        parts = [part for part in re.split(r"\{\}", english) if part.strip()]
        assert all(part in code for part in parts), english


def words_in_games(game, count: int) -> set[str]:
    """Words of moves, what they led to, zones, their notes and marks, and ends, in random games of all tables."""
    words, luck = set(), random.Random(7)
    for number in range(count):
        seats = game.seats[number % len(game.seats)]
        table = OneGame(game, [None] * seats, number, list(game.variants)[number % len(game.variants)])
        while not table.is_over:
            world = table.seen(table.turn, 1)
            for zone in game.table.zones(world, table.turn):
                words |= {zone.name, *zone.marks.values(), *([zone.words] if zone.words else [])}
            moves = game.moves(world)
            words |= {game.text.spell(world, move) for move in moves[:50]}
            table.play(moves[luck.randrange(len(moves))])
        words |= {event.led_to for event in table.events(0, 0, 1) if event.led_to}
        words |= {table.ending(), *tally(game, table.scores(), table.outcomes())[0]}
    return words


def test_all_words_of_moska_are_said_in_finnish(browser, home):
    catalogue = words_of(MOSKA, "fi")
    assert set(catalogue["terms"]) == set(MOSKA.text.terms)
    assert all(heading and sentence for heading, sentence in catalogue["terms"].values())
    page = browser.new_page()
    page.goto(home)
    words = sorted(words_in_games(MOSKA, 21))
    assert len(words) > 1000
    spoken = page.evaluate(
        "async ([said, words]) => { const { sayer } = await import('/static/language.js'); const say = sayer(said);"
        " return words.map((one) => say(one, 0, 0)); }",
        [catalogue["said"], words],
    )
    page.close()
    english = {word for one in words for word in re.findall(r"[a-z]{2,}", re.sub(r"\bp\d\b", "", one))} - {"ready"}
    for before, after in zip(words, spoken, strict=True):
        left = english & set(re.findall(r"[a-zäö]{2,}", after))
        assert not left, (before, after)
        assert sorted(re.findall(r"\b\w[CDHS]\b", before)) == sorted(re.findall(r"\b\w[CDHS]\b", after))


SEEN = """() => [...document.querySelectorAll("body, body *")].flatMap((one) => [
    ...(one.closest("script, style, noscript, [lang=en]") ? [] : one.childNodes),
    one.getAttribute("aria-label"), one.getAttribute("title"), one.getAttribute("placeholder"),
]).map((one) => (one?.nodeType === 3 ? one.data : typeof one === "string" ? one : "").trim()).filter(Boolean)"""


def english_in(texts: list[str]) -> list[str]:
    """The texts that are the page's own and not said in Finnish."""
    same = {text for text, other in CATALOGUE["page"].items() if text == other}
    known = [re.compile(re.sub(r"\\\{\w+\\\}", ".+", re.escape(text))) for text in CATALOGUE["page"]
             if text not in same and re.search(r"[A-Za-z]{3}", re.sub(r"\{\w+\}", "", text))]  # fmt: skip
    return [text for text in texts if any(pattern.fullmatch(text) for pattern in known)]


@pytest.mark.parametrize(("width", "locale"), [(SMALL, "en-GB"), pytest.param(LARGE, "fi-FI", marks=pytest.mark.slow)])
def test_a_game_of_moska_is_played_in_finnish(browser, home, width, locale):
    shown = Screen(browser, home, width, "light", settings='{"tap": false}', locale=locale, reduced_motion="reduce")
    page, luck, texts = shown.page, random.Random(5), set()
    is_long = width == LARGE  # with hints and the review
    page.goto(home + ("/" if locale == "fi-FI" else "/?lang=fi"))
    page.wait_for_selector("text=Valitse peli")
    page.goto(home + "/#more")  # it is remembered
    page.wait_for_selector("#seat-0")
    texts |= set(page.evaluate(SEEN))
    page.select_option("#game", "moska")
    page.select_option("#seats", "2" if width == SMALL else "4")
    page.set_checked("#study", is_long)
    shown.press("button[type=submit]")
    shown.begin()
    page.wait_for_selector(".board[data-waits]")
    shown.press("[data-key=help]")
    page.wait_for_selector(".peek.help")
    texts |= set(page.evaluate(SEEN))
    shown.press("[data-key=help]")
    for key in ("advice-pieces", "advice-move", "advice-why") if is_long else ():
        shown.press(f"[data-key={key}]")
        page.wait_for_selector(f".advice [role=status]{' table' if key == 'advice-why' else ''}")
        texts |= set(page.evaluate(SEEN))
    shown.play_to_the_end(shown.choose, luck, lambda: texts.update(page.evaluate(SEEN)))
    texts |= set(page.evaluate(SEEN))
    assert "Sinä" in texts
    assert any(text.startswith("Sinä ") for text in texts)
    assert any("lyömällä" in text for text in texts)
    assert any("moskaksi" in text for text in texts)
    if is_long:
        shown.press("[data-key=review]")
        page.wait_for_selector("text=Valinnat ja onni")
        texts |= set(page.evaluate(SEEN))
    assert english_in(sorted(texts)) == []
    words = re.compile(r"\b(the|you|your|is|to|of|with|and)\b", re.IGNORECASE)
    assert sorted(text for text in texts if words.search(text)) == []
    assert page.evaluate("document.documentElement.lang") == "fi"
    shown.fits()
    shown.close()


def test_a_game_without_words_in_finnish_says_so_and_speaks_english(browser, home):
    shown = Screen(browser, home, SMALL, "light", locale="fi-FI", reduced_motion="reduce")
    shown.sit_down("literature")
    shown.page.wait_for_selector(".lines p")
    assert shown.page.inner_text(".side .small >> nth=0") == "Tämän pelin omat sanat ovat englanniksi."
    assert not [text for text in shown.page.locator(".lines p").all_inner_texts() if "Sinä" in text]
    shown.press("#settings summary")
    shown.page.select_option("#language", "en")
    shown.page.wait_for_selector("text=What happened")
    assert shown.page.evaluate("document.documentElement.lang") == "en"
    shown.close()
