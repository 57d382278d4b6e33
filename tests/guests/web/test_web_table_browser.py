"""The table in a browser: tricks that stay, moves that play themselves, nothing on it covered."""

import itertools
import json
import random
from pathlib import Path

import covered
import pytest
from web_pages import LARGE, SMALL, Screen

SERVED = ["hearts", "durak", "literature", "moska", "--opponents", "random"]

WAITING = """() => { window.waited = []; window.told = []; new MutationObserver(() => {
    const board = document.querySelector('.board');
    window.told.push(document.querySelector('.status').textContent);
    if (board.hasAttribute('data-waits')) window.waited.push(board.dataset.ply);
}).observe(document.querySelector('.board'), {attributes: true}); }"""


def view(ply, log, *zones):
    """A view of four cards as the page is sent it. `zones`: (name, seat, look, pieces, hidden, marks)."""
    names = ("name", "seat", "look", "pieces", "hidden", "marks")
    return {
        "ply": ply,
        "pieces": ["2C", "3C", "4C", "5C"],
        "log": log,
        "zones": [dict(zip(names, zone, strict=False)) for zone in zones],
    }


OWN, WON = ("Hand", 0, "fan", [3]), ("Won", 2, "pile", [], 0)
TRICK = view(20, [], OWN, WON, ("Trick", None, "row", [0, 1, 2], 0, {"0": "p1", "1": "p2", "2": "p3"}))
TAKEN = view(21, [[0, "plays 5C"]], (*OWN[:3], []), (*WON[:4], 4), ("Trick", None, "row", []))
BEATEN = ("Beaten by", None, "row", [1])
BOUT = view(5, [], ("Hand", 1, "fan", [], 2), ("Attacks", None, "row", [0]), BEATEN)
TAKES = view(
    6, [[0, "passes"]], ("Hand", 1, "fan", [0, 1], 2), ("Attacks", None, "row", []), ("Beaten by", None, "row", [])
)
ADDED = view(
    6, [[0, "adds 4C"]], ("Hand", 1, "fan", [], 2), ("Attacks", None, "row", [0, 2]), ("Beaten by", None, "row", [1])
)
CLEARED = {
    "the fourth card of a trick": (TRICK, TAKEN, {"zones": {"Trick": [0, 1, 2, 3]}, "to": {"seat": 2, "zone": "Won"}}),
    "a bout that is taken": (
        BOUT,
        TAKES,
        {"zones": {"Attacks": [0], "Beaten by": [1]}, "to": {"seat": 1, "zone": "Hand"}},
    ),
    "a bout that goes on": (BOUT, ADDED, None),
    "a game that goes back": (TAKEN, TRICK, None),
}
WORDS = json.loads((Path(__file__).parents[2] / "data/words.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def page(browser, home):
    opened = browser.new_page()
    opened.goto(home + "/#more")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def module(page):
    """A function that calls an export of a module of the page."""
    return lambda name, export, *values: page.evaluate(
        "async ([name, what, values]) => (await import(`/static/${name}.js`))[what](...values)", [name, export, values]
    )


@pytest.mark.parametrize("name", CLEARED)
def test_what_was_cleared_between_two_views_is_found(module, name):
    before, after, held = CLEARED[name]
    found = module("story", "storyOf", before, after)["held"]
    assert (found and {key: found[key] for key in held}) == held


def test_a_verb_is_said_to_whoever_reads(module):
    """The same examples as for the terminal, in test_keyboard.py."""
    for verb, said in WORDS["verbs"]:
        assert module("words", "plain", verb) == said


def test_a_card_of_another_seat_that_is_like_ones_own_is_no_button(module):
    zones = [{"seat": seat, "pieces": pieces} for seat, pieces in ((0, [0, 0, 3]), (1, [0, 5]), (None, [3, 7]))]
    lit = [module("choosing", "litIn", zone, zones, 0, [0, 3, 5, 7]) for zone in zones]
    assert lit == [[0, 3, 5, 7], [5, 7], [5, 7]]


LINE = """async ([count, own, teams, seat, words, ledTo]) => {
    const { Words } = await import("/static/words.js");
    const seats = Array.from({ length: count }, () => ({ kind: "agent", name: "bot" }));
    const all = new Words({ seats, seat: own, watches: own === null, teams, pieces: [] });
    return all.line([seat], words, ledTo, false);
}"""


def test_a_line_is_said_to_whoever_reads(module, page):
    for *given, line in WORDS["lines"]:
        assert page.evaluate(LINE, given) == line


def test_seats_have_names_and_no_two_the_same(module):
    people = [{"kind": "you", "name": "Clara"}, {"kind": "person", "name": "Clara"}]
    seats = [*people, *[{"kind": "agent", "name": "bot3"}] * 3]
    names = module("words", "namesOf", seats)
    assert len(set(names)) == 5
    assert names[0] == "Clara"


def test_a_trick_stays_with_its_winner_and_is_shown_again_on_tap(screen):
    shown, luck = screen(LARGE), random.Random(2)
    shown.sit_down("hearts")
    page = shown.page
    page.wait_for_selector(".board[data-waits]")
    ply = page.get_attribute(".board", "data-ply")
    while page.locator(".middle .round").count() == 0:
        shown.move(shown.choose, luck)
        page.wait_for_selector(f".board[data-waits]:not([data-ply='{ply}'])")
        ply = page.get_attribute(".board", "data-ply")
    shown.pause(0.6)
    shown.move(shown.choose, luck)
    page.wait_for_selector(".board.held .middle .round")
    assert page.locator(".held .middle .round .piece").count() == 4
    assert page.locator(".held .middle .piece.winner").count() == 1
    assert page.locator(".held .seat.takes").count() == 1
    assert "take" in page.inner_text(".held-note")
    page.wait_for_selector(".board:not(.held)")
    page.reload()
    page.click("[data-key=last]")
    assert page.locator(".peek .piece").count() == 4
    page.click("[data-key=last]")
    assert page.locator(".peek").count() == 0


@pytest.mark.parametrize("game", ["durak", "literature"])
def test_no_own_turn_with_one_move_waits_for_a_tap(screen, game):
    shown, luck = screen(SMALL), random.Random(3)
    shown.sit_down(game)
    shown.page.evaluate(WAITING)
    ply = "-1"
    least, most = (8, 30) if game == "durak" else (2, 2)
    for turn in range(most):
        shown.page.wait_for_selector(f".result h2, .board[data-waits]:not([data-ply='{ply}'])")
        only = any("Your only move:" in text for text in shown.page.evaluate("window.told"))
        if shown.page.query_selector(".result") or (turn >= least and only):
            break
        ply = shown.page.get_attribute(".board", "data-ply")
        shown.move(shown.choose, luck)
    choices = {frame["ply"]: len(frame["moves"]) for frame in shown.frames if frame.get("moves")}
    waited = {int(one) for one in shown.page.evaluate("window.waited")}
    assert waited
    assert [ply for ply in waited if choices.get(ply) == 1] == []
    assert 1 in choices.values()
    assert any("Your only move:" in text for text in shown.page.evaluate("window.told"))


def test_a_move_of_one_kind_waits_where_its_owner_wants_to_play_it(screen):
    shown = screen(SMALL, settings='{"tap": false, "forced": false}')
    shown.sit_down("literature")
    shown.page.wait_for_selector(".board[data-waits] .moves button:has-text('No claim')")
    assert shown.page.locator(".moves button").count() == 1


@pytest.mark.parametrize("game", ["durak", "literature"])
def test_nothing_on_the_table_is_covered_and_the_newest_event_is_on_the_screen(browser, home, game):
    luck = random.Random(4)
    shown = Screen(browser, home, SMALL, "light", reduced_motion="reduce")
    covered.sit_down(shown, game, 6, study=True)
    looked = 0
    for _ in covered.turns(shown, luck, 4 if game == "durak" else 1):
        for size, found in covered.look(shown).items():
            assert not any(found[name] for name in found if name.endswith(("covered", "hidden"))), (size, found)
            looked += 1
    shown.close()
    assert looked >= 3


def test_two_taps_lead_from_the_address_to_the_first_card(screen):
    shown = screen(SMALL, settings="{}")
    shown.page.goto(shown.home)
    shown.page.wait_for_selector("text=Hearts for four: passing, thirteen tricks")
    shown.fits()
    shown.press("[data-key=play-durak]")
    shown.page.wait_for_selector(".board[data-waits] .own button.lit")
    begun = shown.page.get_attribute(".board", "data-ply")
    shown.page.locator(".own button.lit").first.tap(position={"x": 9, "y": 12})
    shown.page.wait_for_selector(f".board:not([data-ply='{begun}'])")
    assert shown.page.locator(".lines p:has-text('You ')").count()
    table = shown.page.url
    shown.press("#rules summary")
    shown.page.wait_for_selector("#rules-text h3")
    assert "the deck" in shown.page.inner_text("#rules-text")
    shown.page.goto(shown.home)
    shown.press(".yours a:has-text('Durak: go on')")
    shown.page.wait_for_selector(".board:not([hidden])")
    assert shown.page.url == table


@pytest.mark.slow
def test_in_a_thousand_own_turns_nothing_is_covered():
    sums, done, faults = covered.count(covered.with_zones(), 1000, seed=1)
    assert faults == []
    assert done >= 1000
    assert all(counted["cards"] > 1000 for counted in sums.values())


def test_three_cards_are_passed_together_and_put_back_until_then(screen):
    shown = screen(SMALL, settings="{}")
    shown.sit_down("hearts", "match")
    page = shown.page
    page.wait_for_selector(".board[data-waits] .own button.lit")
    cards = page.locator(".own .fan .piece")
    for place in (0, 4, 8):
        cards.nth(place).tap(position={"x": 9, "y": 12})
    assert page.inner_text("[data-key=move-together]").startswith("Pass ")
    assert page.locator(".own button.lit").count() == 3  # there is room for no more, only to put back
    cards.nth(4).tap(position={"x": 9, "y": 12})
    assert page.locator("[data-key=move-together]").count() == 0
    assert "2 of 3 chosen" in page.inner_text(".bar .status")
    cards.nth(5).tap(position={"x": 9, "y": 12})
    passed = [frame for frame in shown.frames if frame.get("series")]
    assert {frame["ply"] for frame in passed} == {0}
    shown.press("[data-key=move-together]")
    page.wait_for_selector(".board[data-waits]:not([data-ply='0'])")
    assert page.locator(".lines p:text-matches('^You pass')").count() == 3
    assert page.locator(".own .fresh").count() in (2, 3), "what came in return is marked; one may be played already"
    assert page.inner_text(".bar .status").startswith("New: ")


def test_a_card_of_the_table_is_chosen_and_put_back_without_a_jump(screen):
    shown = screen(SMALL, settings="{}")
    shown.sit_down("literature")
    page = shown.page
    page.wait_for_selector(".board[data-waits] .middle button.lit")
    before = page.locator(".middle").bounding_box()
    page.locator(".middle button.lit").nth(3).tap(position={"x": 9, "y": 12})
    page.wait_for_selector(".moves .primary")
    assert page.locator(".middle").bounding_box()["height"] >= before["height"] - 12  # of two lines of the newest event
    shown.press("[data-key=clear]")
    page.wait_for_selector(".middle button.lit >> nth=3")
    assert page.locator(".picked, .moves .primary, [data-key=clear]").count() == 0
    assert page.locator(".middle").bounding_box() == before


def test_a_bout_is_ended_by_a_button_that_names_the_cards(screen):
    shown, luck, ends = screen(SMALL), random.Random(3), "[data-key^='move-ends, picks']"
    shown.sit_down("moska", seats=3)
    page, ply = shown.page, "-1"
    while not page.locator(ends).count():
        page.wait_for_selector(f".board[data-waits]:not([data-ply='{ply}'])")
        ply = page.get_attribute(".board", "data-ply")
        if not page.locator(ends).count():
            shown.move(shown.choose, luck)
    assert page.locator(".picked").count() == 0
    shown.press(ends)
    page.wait_for_selector(".lines p:text-matches('^You end, pick')")


def test_the_words_on_the_screen_are_explained_on_tap(screen):
    shown = screen(SMALL, settings="{}")
    shown.sit_down("literature")
    shown.page.wait_for_selector(".board[data-waits] [data-key=help]")
    shown.press("[data-key=help]")
    explained = shown.page.inner_text(".peek.help")
    for word in ("Ask", "Not seen yet", "Claimed by", "Partner"):
        assert word in explained
    assert "You ask an opponent for a card" in explained
    shown.press("[data-key=help]")
    assert shown.page.locator(".peek").count() == 0
    luck, answered = random.Random(1), ".lines p:text-matches('for .*: (no|you give it|.* gives it)$')"
    while not shown.page.locator(answered).count():  # until somebody has asked
        shown.page.wait_for_selector(f".board[data-waits], {answered}")
        if shown.page.locator("button.piece.lit").count():
            shown.move(shown.choose, luck)
            shown.page.wait_for_selector(answered, timeout=10_000)


SAID = """async ([own, seats, words]) => {
    const { Words } = await import("/static/words.js");
    const everybody = Array.from({ length: 4 }, () => ({ kind: "agent", name: "bot" }));
    return new Words({ seats: everybody, seat: own, watches: false, pieces: [] }).line(seats, words, "", false);
}"""


def test_what_several_seats_do_is_one_line(page):
    assert page.evaluate(SAID, [3, [1, 2], "no claim"]) == "Bruno and Clara: no claim"
    assert page.evaluate(SAID, [3, [1, 3], "skips"]) == "Bruno and you skip"


def test_lines_without_a_choice_are_folded_in_the_log(screen):
    """Between two questions in Literature up to six seats say that they claim nothing."""
    shown, luck = screen(SMALL), random.Random(1)
    shown.sit_down("literature")
    for _ in range(2):
        shown.page.wait_for_selector(".board[data-waits]")
        ply = shown.page.get_attribute(".board", "data-ply")
        shown.move(shown.choose, luck)
        shown.page.wait_for_selector(f".result h2, .board[data-waits]:not([data-ply='{ply}'])")
        if shown.page.locator(".lines p:text-matches(', .*no claim$')").count():
            break
    lines = shown.page.locator(".lines p").all_inner_texts()
    claims = [line.endswith("no claim") for line in lines]
    assert any(claims)
    assert not any(one and other for one, other in itertools.pairwise(claims))
    assert any("," in line for line, is_claim in zip(lines, claims, strict=True) if is_claim)


def test_a_word_is_explained_where_it_stands(screen):
    shown = screen(SMALL, settings="{}")
    shown.sit_down("durak")
    page = shown.page
    page.wait_for_selector(".board[data-waits]")
    page.tap(".zone[data-zone=Deck] .note")
    page.wait_for_selector(".peek.help")
    assert page.locator(".help dt").all_inner_texts() == ["Trump"]
    page.tap(".peek.help")
    page.wait_for_selector(".peek.help", state="detached")
    if page.locator(".lines p").count() == 0:  # nobody has moved
        shown.move(shown.tap, random.Random(2))
    page.locator(".lines p").first.tap()
    meaning = page.inner_text(".lines p .meaning")
    assert ": " in meaning
    assert meaning.split(":")[0].lower() in page.locator(".lines p").first.inner_text().lower()
    page.locator(".lines p").first.tap()
    assert page.locator(".lines .meaning").count() == 0


def test_no_last_cards_are_offered_before_a_trick(screen):
    shown = screen(SMALL, settings="{}")
    shown.sit_down("hearts", "match")
    page = shown.page
    page.wait_for_selector(".board[data-waits] .own button.lit")
    for place in (0, 4, 8):
        page.locator(".own .fan .piece").nth(place).tap(position={"x": 9, "y": 12})
    shown.press("[data-key=move-together]")
    page.wait_for_selector(".board[data-waits]:not([data-ply='0'])")
    is_taken = page.locator(".lines p:has-text('the trick')").count() > 0  # by moves that were the only ones
    assert page.locator("[data-key=last]").count() == is_taken
