"""The site: built strictly, whole without other hosts, found by search, short enough for a phone, open to everybody."""

import functools
import gzip
import http.server
import json
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from web_pages import CHROMIUM, SMALL, chromium

pytest.importorskip("mkdocs")

ROOT = Path(__file__).parent.parent
SCREEN, MOST_SCREENS, MOST_BYTES = 844, 12, 300_000
KINDS = (
    "index",
    "report/index",
    "report/strength",
    "report/claims",
    "docs/contract",
    "docs/glossary",
    "games/moska/RULES",
)
IN_FULL = ("report/strength", "report/mlp-vs-cnn")
browser_needed = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site. A broken link or anchor, or a page that the menu lacks, fails the build."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return folder


def test_each_figure_of_a_result_has_an_address_that_its_table_leads_to(site):
    for name in IN_FULL:
        html = (site / f"{name}.html").read_text("utf-8")
        rows = json.loads((ROOT / f"{name}.json").read_text("utf-8"))["rows"]
        addresses = re.findall(r'<a href="#(r-\w+)" id="\1">|<a id="(r-\w+)"', html)
        assert len({first or second for first, second in addresses}) == len(rows)
        assert {first or second for first, second in addresses} == set(re.findall(r'href="#(r-\w+)"', html))
        assert f'href="{Path(name).name}.json"' in html


def test_code_that_pages_link_to_is_text_that_a_browser_shows(site):
    assert (site / "examples/thirtyone/__init__.py.txt").read_text("utf-8").startswith('"""')


class Served:
    """The site behind a plain server of files, in a browser as wide as a phone. `foreign`: requests to other hosts."""

    def __init__(self, folder, browser, home):
        self.folder, self.home = folder, home
        self.page = browser.new_page(viewport={"width": SMALL, "height": SCREEN})
        self.files, self.foreign = set(), []
        self.page.on("request", lambda request: self._note(request.url))

    def _note(self, url):
        if url.startswith(self.home):
            self.files.add(url.removeprefix(self.home).partition("?")[0].partition("#")[0])
        elif not url.startswith(("data:", "blob:")):
            self.foreign.append(url)


@pytest.fixture(scope="module")
def served(site):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        with chromium() as browser:
            yield Served(site, browser, f"http://127.0.0.1:{server.server_port}/")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@browser_needed
def test_the_first_view_is_small(served):
    served.page.goto(f"{served.home}index.html", wait_until="networkidle")
    files = [served.folder / file for file in served.files]
    sizes = {file.name: min(len(data := file.read_bytes()), len(gzip.compress(data))) for file in files}
    assert sum(sizes.values()) <= MOST_BYTES, sizes


@browser_needed
@pytest.mark.parametrize("words", ["HIF", "Bot3", "moon"])
def test_search_finds(served, words):
    served.page.goto(f"{served.home}index.html?q={words}", wait_until="load")
    served.page.wait_for_selector(".md-search-result__item", state="attached", timeout=10_000)
    assert words.lower() in served.page.inner_text(".md-search-result__list").lower()


@browser_needed
def test_no_page_is_longer_or_wider_than_a_phone_can_bear_and_none_asks_another_host(served):
    long = {}
    for file in sorted(served.folder.rglob("*.html")):
        name = file.relative_to(served.folder).as_posix()
        served.page.goto(served.home + name, wait_until="load")
        high, wide = served.page.evaluate(
            "[document.documentElement.scrollHeight, document.documentElement.scrollWidth]"
        )
        if high > MOST_SCREENS * SCREEN or wide > SMALL:
            long[name] = (round(high / SCREEN, 1), wide)
    assert long == {}
    assert served.foreign == []


@browser_needed
@pytest.mark.parametrize("name", KINDS)
def test_a_page_is_open_to_everybody(served, name):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    served.page.goto(f"{served.home}{name}.html", wait_until="load")
    found = axe.Axe().run(served.page).response["violations"]
    assert [(rule["id"], node["html"][:150]) for rule in found for node in rule["nodes"]] == []


@browser_needed
def test_the_address_of_a_figure_opens_the_part_that_it_is_in(served):
    served.page.goto(f"{served.home}report/strength.html", wait_until="load")
    address = served.page.get_attribute("details:not(.part) a[id^='r-']", "id")
    served.page.goto(f"{served.home}report/strength.html#{address}", wait_until="load")
    served.page.wait_for_function(f"document.getElementById('{address}').checkVisibility()")
