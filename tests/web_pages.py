"""The page in a real Chromium: sitting down, playing whole games, and what must hold of each screen."""

import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from shutil import which
from typing import Any

CHROMIUM = which("chromium") or which("chromium-browser") or which("google-chrome")
SMALL, LARGE = 390, 1200  # widths of a screen in pixels
MOST_DECISIONS = 600
PICK_FIRST = '{"tap": false}'  # settings: cards are picked, then a move is chosen
MOST_KEYS = 300  # presses on the way to something

FOCUSED = "() => document.activeElement?.dataset?.key ?? ''"
CHOICES = """() => [
    [...document.querySelectorAll('button.piece.lit:not(.picked)')].map((one) => one.dataset.key),
    [...document.querySelectorAll('[data-key^="move-"]')].map((one) => one.dataset.key),
    document.querySelectorAll('button.piece.picked').length,
]"""
IS_BEFORE = """(key) => {
    const wanted = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
    return Boolean(document.activeElement.compareDocumentPosition(wanted) & Node.DOCUMENT_POSITION_PRECEDING);
}"""
TOO_SMALL = """() => [...document.querySelectorAll("button, select, summary, a, input")]
    .map((one) => one.type === "checkbox" ? one.closest("label") : one)
    .filter((one) => one.checkVisibility({visibilityProperty: true}))
    .map((one) => [one.textContent || one.id, one.getBoundingClientRect()])
    .filter(([, box]) => box.width < 44 || box.height < 44)
    .map(([text, box]) => `${text}: ${box.width} x ${box.height}`)"""


@contextmanager
def chromium() -> Iterator[Any]:
    """The distribution's Chromium, driven by playwright."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        try:
            yield browser
        finally:
            browser.close()


class Screen:
    """A page in a window, and all that it was sent. `wrong`: errors of its scripts, and requests to other hosts."""

    def __init__(
        self,
        browser: Any,
        home: str,
        width: int,
        scheme: str,
        height: int = 844,
        settings: str = PICK_FIRST,
        **options: Any,
    ) -> None:
        self.home, self.width = home, width
        is_small = width == SMALL
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            has_touch=is_small,
            is_mobile=is_small,
            **options,
        )
        keep = f"localStorage.getItem('settings') ?? localStorage.setItem('settings', '{settings}')"
        self.context.add_init_script(f"location.host && ({keep})")
        # The person's part in a deal, the same each time.
        self.context.add_init_script("crypto.getRandomValues = (numbers) => numbers.fill(7);")
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.frames: list[dict[str, Any]] = []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", lambda line: self.wrong.append(line.text) if line.type == "error" else None)
        self.page.on("request", lambda asked: None if asked.url.startswith(home) else self.wrong.append(asked.url))
        self.page.on("websocket", lambda socket: socket.on("framereceived", self._take))

    def _take(self, frame: str) -> None:
        self.frames.append(json.loads(frame))

    def close(self) -> None:
        """Close the window. Fails if anything went wrong in it."""
        self.context.close()
        assert self.wrong == [], self.wrong

    # Sitting down.

    def sit_down(self, game: str, variant: str | None = None, seats: int | None = None) -> None:
        """Set up a table with the first agent in all other seats, who moves without a pause."""
        page = self.page
        page.goto(self.home + "/#more")
        page.select_option("#game", game)
        if variant is not None:
            page.select_option("#variant", variant)
        if seats is not None:
            page.select_option("#seats", str(seats))
        self.press("button[type=submit]")
        self.begin()

    def offer_a_seat(self, game: str | None = None) -> None:
        """Set up a table for oneself and a friend, who has no link yet."""
        self.page.goto(self.home + "/#more")
        if game is not None:
            self.page.select_option("#game", game)
        self.page.select_option("#seat-1", "friend")
        self.press("button[type=submit]")
        self.page.wait_for_selector("text=Make a link")

    def invite(self, game: str | None = None) -> str:
        """Set up a table for two people. Returns the friend's link."""
        self.offer_a_seat(game)
        self.page.click("text=Make a link")
        self.page.wait_for_selector("li .link:not([hidden])")
        return self.page.input_value("li .link")

    def sit_down_by_keyboard(self, title: str, variant: str | None = None) -> None:
        """The same with keys only."""
        page = self.page
        page.goto(self.home + "/#more")
        page.wait_for_selector("#game")
        for place, words in (("game", title), ("variant", variant)):
            if words is not None:
                self.tab_to(f"document.activeElement.id === '{place}'")
                page.keyboard.type(words)
        self.tab_to("document.activeElement.type === 'submit'")
        page.keyboard.press("Enter")
        self.begin()

    def begin(self) -> None:
        """Wait for the deal, and let agents move at once."""
        self.page.wait_for_selector(".board:not([hidden])")
        self.pause(0)

    def pause(self, seconds: float) -> None:
        """Choose how long agents wait, and a trick stays."""
        self.page.evaluate(
            "(seconds) => { const one = document.getElementById('pause'); one.value = seconds;"
            " one.dispatchEvent(new Event('change')); }",
            seconds,
        )

    def tab_to(self, is_there: str) -> None:
        """Press Tab until something has the focus."""
        for _ in range(MOST_KEYS):
            if self.page.evaluate(f"() => Boolean({is_there})"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"no Tab leads to where {is_there}")

    # Playing.

    def press(self, selector: str) -> None:
        """Tap on a small screen, click on a large one."""
        if self.width == SMALL:
            self.page.tap(selector)
        else:
            self.page.click(selector)

    def tap(self, key: str) -> None:
        """Choose a card or a move by a finger or the mouse: a card at its corner, which others never cover."""
        act = self.page.tap if self.width == SMALL else self.page.click
        act(f'[data-key="{key}"]', position={"x": 9, "y": 12})

    def choose(self, key: str) -> None:
        """Choose a card or a move without a look at where it is."""
        self.page.dispatch_event(f'[data-key="{key}"]', "click")

    def type(self, key: str) -> None:
        """Choose a card or a move by Tab, arrow keys and Enter."""
        page = self.page
        back = page.evaluate(IS_BEFORE, key)
        for _ in range(MOST_KEYS):
            focused = page.evaluate(FOCUSED)
            if focused == key:
                page.keyboard.press("Enter")
                return
            arrows = focused.startswith("piece-") and key.startswith("piece-")
            page.keyboard.press("ArrowRight" if arrows else "Shift+Tab" if back else "Tab")
        raise AssertionError(f"no key leads to {key}")

    def play_to_the_end(
        self, choose: Callable[[str], None], luck: random.Random, look: Callable[[], None] = lambda: None
    ) -> int:
        """Play any moves until the game is over; `look` is called before each. Returns how many there were."""
        ply = "-1"
        for decisions in range(MOST_DECISIONS):
            mine = f".board[data-waits]:not([data-ply='{ply}'])"
            self.page.wait_for_selector(f".result h2, {mine}")
            look()
            if self.page.query_selector(".result"):
                return decisions
            ply = self.page.get_attribute(".board", "data-ply") or ""
            self.move(choose, luck)
        raise AssertionError(f"the game is not over after {MOST_DECISIONS} decisions")

    def move(self, choose: Callable[[str], None], luck: random.Random) -> None:
        """Pick pieces as the page offers them, until a move is chosen."""
        while True:
            pieces, moves, picked = self.page.evaluate(CHOICES)
            assert pieces or moves, "every selection can be completed"
            if moves and (not pieces or luck.random() < (0.5 if picked else 0.1)):
                choose(luck.choice(moves))
                return
            choose(luck.choice(pieces))

    # What must hold of every screen.

    def fits(self) -> None:
        """Nothing is wider than the screen, and all that can be pressed is large enough for a finger."""
        wide = self.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1], f"the page scrolls sideways: {wide}"
        self.page.evaluate("Promise.all(document.getAnimations().map((one) => one.finished.catch(() => null)))")
        small = self.page.evaluate(TOO_SMALL)
        assert small == [], small
