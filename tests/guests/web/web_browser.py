"""Fixtures of tests in a real browser, which name this module as their plugin: a server of the games in `SERVED`."""

import pytest
from web_clients import Process
from web_pages import LARGE, SMALL, Screen, chromium


@pytest.fixture(scope="module")
def home(tmp_path_factory, request):
    process = Process(tmp_path_factory.mktemp("web") / "tables.sqlite", *request.module.SERVED, dealt_alike=True)
    yield process.home
    process.kill()


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture
def screens(browser, home):
    """Two windows of two people: a phone's and a desk's."""
    opened = [Screen(browser, home, SMALL, "light"), Screen(browser, home, LARGE, "dark")]
    yield opened
    for one in opened:
        one.close()
