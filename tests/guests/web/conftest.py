"""Fixtures of the web table: a store, a browser without a page, a study, and a page in a Chromium.

Nothing is collected here without the extra `web`, and no test that needs a page without the extra `browser`.
"""

from importlib.util import find_spec

import pytest

NEED_A_PAGE = ["*_browser.py", "test_web_accessible.py", "test_web_newcomer.py"]
collect_ignore_glob = [] if find_spec("playwright") else NEED_A_PAGE
if find_spec("starlette") is None or find_spec("httpx2") is None:
    collect_ignore_glob = ["*"]


@pytest.fixture
def store(tmp_path):
    from cardai.guests.web.store import Store

    with_tables = Store(tmp_path / "tables.sqlite")
    yield with_tables
    with_tables.close()


@pytest.fixture
def serving(store):
    """A server of two games, which a test may ask what it knows."""
    from web_people import LOW_HAND, TICTACTOE, served

    return served(store, LOW_HAND, TICTACTOE)


@pytest.fixture
def client(serving):
    from web_people import browser_at

    with browser_at(serving) as browser:
        yield browser


@pytest.fixture
def file(tmp_path):
    """A protocol of a study."""
    from web_study import FILE

    path = tmp_path / "study.toml"
    path.write_text(FILE)
    return path


@pytest.fixture
def protocol(file):
    from cardai.guests.web.protocol import read_protocol

    return read_protocol(file)


@pytest.fixture(scope="module")
def home(tmp_path_factory, request):
    """The address of a server of the games that a module names in `SERVED`."""
    from web_clients import Process

    data = tmp_path_factory.mktemp("web") / "tables.sqlite"
    with Process(data, *request.module.SERVED, dealt_alike=True) as process:
        yield process.home


@pytest.fixture(scope="module")
def browser():
    from web_pages import CHROMIUM, chromium

    if CHROMIUM is None:
        pytest.skip("there is no Chromium here")
    with chromium() as running:
        yield running


@pytest.fixture
def screen(browser, home):
    """A function that opens a window, in which nothing may go wrong, and nothing moves unless it is asked to."""
    from web_pages import Screen

    opened = []

    def open_window(width, scheme="light", **options):
        opened.append(Screen(browser, home, width, scheme, **{"reduced_motion": "reduce", **options}))
        return opened[-1]

    yield open_window
    for one in opened:
        one.close()


@pytest.fixture
def screens(screen):
    """Two windows of two people: a phone's and a desk's."""
    from web_pages import LARGE, SMALL

    return [screen(SMALL, reduced_motion="no-preference"), screen(LARGE, "dark", reduced_motion="no-preference")]
