"""A server behind a proxy, by the files of docs/hosting.md: names, addresses, a path, TLS, sockets, backups."""

import asyncio
import json
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from web_clients import Guest, Process, sit_down
from web_people import TICTACTOE, served
from web_study import Served
from websockets.sync.client import connect

from cardai.cli.main import run
from cardai.errors import CardaiError
from cardai.guests.web import server
from cardai.guests.web.proxy import networks_of, path_of

PAGE = (Path(__file__).parents[3] / "docs/hosting.md").read_text("utf-8")
PROXY, NAME = "10.0.0.1", "cards.example"
SCHOOL = 12  # tables of one address in a minute
WISHES = {"game": "tictactoe", "seats": ["me", "random"], "name": "Ann"}


def block(language: str) -> str:
    """The first block of the page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[0]


BEHIND = {"proxies": ["10.0.0.0/24"], "names": [NAME]}


def behind(app, client=PROXY, origin=f"https://{NAME}"):
    """A browser of this origin, whose requests come from `client`."""
    found = TestClient(app, base_url="http://127.0.0.1:8000", client=(client, 5000))
    found.headers |= {"origin": origin, "content-type": "application/json"}
    return found


def browser(store, client=PROXY, **options):
    """A browser at a server that believes 10.0.0.0/24."""
    return behind(served(store, TICTACTOE, **BEHIND, **options).app, client)


def forwarded(address: str, host: str = NAME) -> dict[str, str]:
    return {"host": host, "x-forwarded-for": address, "x-forwarded-proto": "https"}


def statuses(here, addresses) -> list[int]:
    """What somebody at each of these addresses gets who sets up a table."""
    return [here.post("/tables", json=WISHES, headers=forwarded(address)).status_code for address in addresses]


def test_people_behind_a_proxy_are_told_apart_and_those_of_one_address_are_not(store):
    here = browser(store)
    assert statuses(here, [f"192.0.2.{i}" for i in range(15)]) == [200] * 15
    assert statuses(here, ["192.0.2.77"] * (server.NEW_TABLES + 1)) == [200] * server.NEW_TABLES + [429]
    assert "Secure" in here.post("/tables", json=WISHES, headers=forwarded("192.0.2.99")).headers["set-cookie"]


def test_a_school_behind_one_address_sets_up_as_many_tables_as_it_is_allowed(store):
    assert statuses(browser(store, new_tables=30), ["192.0.2.77"] * 31) == [200] * 30 + [429]


@pytest.mark.parametrize("stranger", ["10.0.1.1", "127.0.0.1", "testclient"])
def test_nobody_else_is_believed(store, stranger):
    here, most = browser(store, stranger), server.NEW_TABLES
    assert statuses(here, [f"192.0.2.{i}" for i in range(most + 1)]) == [200] * most + [429]
    asked = forwarded("192.0.2.1", "127.0.0.1:8000") | {"x-forwarded-host": NAME}
    assert here.post("/tables", json=WISHES, headers=asked).status_code == 403


def test_the_name_that_a_proxy_says_is_believed(store):
    asked = forwarded("192.0.2.1", "localhost:8000") | {"x-forwarded-host": NAME}
    assert browser(store).post("/tables", json=WISHES, headers=asked).status_code == 200
    asked["x-forwarded-host"] = "evil.example"
    assert browser(store).post("/tables", json=WISHES, headers=asked).status_code == 403


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        (forwarded("192.0.2.1", "evil.example"), "not asked under this name; cardai serve --name NAME adds one"),
        (forwarded("192.0.2.1", "127.0.0.1:8000"), "a proxy must pass Host on (docs/hosting.md)"),
        (forwarded("192.0.2.1") | {"origin": "https://evil.example"}, "pages of other names"),
    ],
)
def test_a_refusal_says_what_whoever_runs_the_proxy_can_do(store, headers, words):
    answer = browser(store).post("/tables", json=WISHES, headers=headers)
    assert answer.status_code == 403
    assert words in answer.json()["error"]


@pytest.mark.parametrize(("path", "before"), [("/cards", ""), ("/cards", "/cards"), ("/user/ann.b/proxy/8000", "")])
def test_below_a_path_the_page_and_the_cookies_have_it_whether_the_proxy_takes_it_away_or_not(store, path, before):
    """A hub of notebooks takes it away."""
    here = browser(store, path=path)
    page = here.get(f"{before}/", headers=forwarded("192.0.2.1"))
    named = set(re.findall(r'(?:href|src)="(/[^"]*)"', page.text))
    assert named > {f"{path}/", f"{path}/static/style.css", f"{path}/static/main.js"}
    assert all(address.startswith(f"{path}/") for address in named)
    made = here.post(f"{before}/tables", json=WISHES, headers=forwarded("192.0.2.1"))
    paths = set(re.findall(r"Path=([^;,]+)", made.headers["set-cookie"]))
    assert paths == {f"{path}/", f"{path}/t/{made.json()['table']}"}
    assert here.get(f"{before}/static/main.js", headers=forwarded("192.0.2.1")).status_code == 200


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--behind-proxy", "nginx"],
            "--behind-proxy is an address or a network, like 127.0.0.1 or 10.0.0.0/8, not 'nginx'",
        ),
        (["--path", "cards"], "--path is like /cards, of letters, digits, hyphens, dots and the like, not 'cards'"),
        (["--path", "/a/../b"], "--path is like /cards"),
        (["--path", "//evil.example"], "--path is like /cards"),
        (["--path", "/ca rds"], "--path is like /cards"),
        (["--new-tables", "0"], "--new-tables must be"),
    ],
)
def test_wrong_options_are_a_sentence(tmp_path, capsys, options, words):
    assert run(["serve", "tictactoe", "--port", "0", "--data", str(tmp_path / "tables.sqlite"), *options]) != 0
    assert words in " ".join(capsys.readouterr().err.split())


def test_a_path_and_networks_are_read():
    assert (path_of("/"), path_of("/a/b/")) == ("", "/a/b")
    assert path_of("/user/ann_b.c/proxy/8000/") == "/user/ann_b.c/proxy/8000"
    assert networks_of(["::1", "10.0.0.0/8"]) == ["::1/128", "10.0.0.0/8"]
    with pytest.raises(CardaiError):
        path_of('/"><script>')


def test_a_study_is_served_below_a_path(tmp_path, protocol):
    options = {"proxies": BEHIND["proxies"], "path": "/cards", "names": BEHIND["names"]}
    with Served(tmp_path / "study.sqlite", protocol, 1, **options) as study:
        here, headers = behind(study.server.app), forwarded("192.0.2.1")
        home = here.get("/cards/", headers=headers, follow_redirects=False)
        assert home.headers["location"] == "/cards/study"
        came = here.post("/cards/study/enter", json={"code": study.codes[0]}, headers=headers)
    assert came.json()["place"] == "agree"
    assert "Path=/cards/;" in came.headers["set-cookie"]
    assert "Secure" in came.headers["set-cookie"]


# The proxies themselves.


def program(name: str) -> str | None:
    """Where a program is, None if it is not installed."""
    return shutil.which(name, path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin")


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


@contextmanager
def proxied(kind: str, folder: Path, path: str):
    """A server behind nginx or Caddy with TLS, by the blocks of the page. Gives its address and what its TLS needs."""
    pem, key, port = folder / "site.pem", folder / "site.key", free_port()
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", pem],
        check=True, capture_output=True,
    )  # fmt: skip
    process = Process(
        folder / "tables.sqlite", "tictactoe", "--behind-proxy", "127.0.0.1", "--new-tables", str(SCHOOL),
        *(["--path", path] if path else []),
    )  # fmt: skip
    upstream = re.sub(r"^http://([^/]+).*", r"\1", process.home)
    if kind == "nginx":
        text = block("nginx").replace("listen 443", f"listen 127.0.0.1:{port}").replace(NAME, "localhost")
        text = text.replace("/etc/ssl/localhost.pem", str(pem)).replace("/etc/ssl/localhost.key", str(key))
        text = text.replace("127.0.0.1:8000", upstream).replace("location / {", f"location {path}/ {{")
        kinds = "client_body", "proxy", "fastcgi", "uwsgi", "scgi"
        places = "".join(f"{one}_temp_path {folder}/{one};" for one in kinds)
        own = f"daemon off; pid {folder}/pid; error_log {folder}/log; events {{}} http {{ access_log off; {places}"
        (folder / "nginx.conf").write_text(f"{own} {text} }}")
        command = [program("nginx"), "-c", str(folder / "nginx.conf"), "-e", str(folder / "log")]
    else:
        text = block("caddyfile").replace(NAME, f"https://localhost:{port}").replace("127.0.0.1:8000", upstream)
        text = text.replace("reverse_proxy ", f"reverse_proxy {path}/* " if path else "reverse_proxy ")
        text = text.replace("{\n", f"{{\n    tls {pem} {key}\n", 1)
        (folder / "Caddyfile").write_text(
            f"{{\n    admin off\n    auto_https off\n    storage file_system {folder}\n}}\n{text}"
        )
        command = [program("caddy"), "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    proxy = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield f"https://localhost:{port}", ssl.create_default_context(cafile=str(pem))
    finally:
        proxy.send_signal(signal.SIGTERM)
        proxy.wait(10)
        process.kill()


def wait_for(port: int) -> None:
    for _ in range(100):
        with socket.socket() as trying:
            if trying.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the proxy did not start")


@pytest.mark.parametrize("path", ["", "/cards"])
@pytest.mark.parametrize("kind", ["nginx", "caddy"])
def test_a_game_is_played_through_a_proxy_with_tls(tmp_path, kind, path):
    if program(kind) is None or program("openssl") is None:
        pytest.skip(f"{kind} or openssl is not installed")
    with proxied(kind, tmp_path, path) as (home, trust):
        assert refusal(lambda: page_of(home, path, trust, home.removeprefix("https://"))) == "a page"
        cookies = play_one(home, path, trust)
        assert all("Secure" in cookie and f"Path={path}/" in cookie for cookie in cookies)
        assert refusal(lambda: set_up(home, path, trust, {"origin": "https://evil.example"})) == 403
        assert refusal(lambda: page_of(home, path, trust, "evil.example")) in (403, "no page")
        for pupil in range(SCHOOL - 1):
            set_up(home, path, trust, {"x-forwarded-for": f"192.0.2.{pupil}"})
        one_more = refusal(lambda: set_up(home, path, trust, {"x-forwarded-for": "192.0.2.77"}))
        assert one_more == 429, "a school is one address, whatever its browsers say of themselves"


def refusal(ask) -> int | str:
    """The status with which a proxy or the server refuses, or that there is nothing to see."""
    try:
        return "a page" if "main.js" in str(ask()) else "no page"
    except urllib.error.HTTPError as refused:
        return refused.code


def page_of(home: str, path: str, trust, name: str) -> str:
    """The front page, asked for under a name."""
    ask = urllib.request.Request(f"{home}{path}/", headers={"host": name})
    with urllib.request.urlopen(ask, context=trust, timeout=20) as answer:
        return answer.read().decode()


def set_up(home: str, path: str, trust, headers: dict[str, str]) -> tuple[str, list[str]]:
    """Set up a table through a proxy. Returns it, and the cookies."""
    headers = {"origin": home, "content-type": "application/json"} | headers
    ask = urllib.request.Request(f"{home}{path}/tables", json.dumps(WISHES).encode(), headers)
    with urllib.request.urlopen(ask, context=trust, timeout=20) as answer:
        return json.loads(answer.read())["table"], answer.headers.get_all("set-cookie")


def play_one(home: str, path: str, trust=None, headers: dict[str, str] | None = None) -> list[str]:
    """Play a game through a proxy, its socket too. Returns the cookies."""
    table, cookies = set_up(home, path, trust, headers or {})
    address = f"{home.replace('http', 'ws', 1)}{path}/t/{table}/socket"
    own = (headers or {}) | {"cookie": "; ".join(text.partition(";")[0] for text in cookies)}
    with connect(address, ssl=trust, origin=home, additional_headers=own, proxy=None) as tab:  # pyright: ignore[reportArgumentType]
        tab.send(json.dumps({"pause": 0}))
        tab.send(json.dumps({"nonce": "ab" * 32}))
        played, view = -1, {}
        while not view.get("over"):
            view = json.loads(tab.recv(timeout=20))
            if view.get("moves") and view["ply"] > played:
                played = view["ply"]
                tab.send(json.dumps({"ply": played, "move": view["moves"][0][0]}))
    assert played >= 0
    return cookies


@pytest.mark.slow
def test_a_game_is_played_through_jupyter_server_proxy(tmp_path):
    """The proxy of a JupyterHub, where `pip install jupyter-server jupyter-server-proxy` was run."""
    pytest.importorskip("jupyter_server_proxy")
    port, own = free_port(), free_port()
    path, data = f"/user/ann.b/proxy/{own}", tmp_path / "tables.sqlite"
    options = ["--name", "localhost", "--behind-proxy", "127.0.0.1", "--path", path]
    process = Process(data, "tictactoe", *options, port=own)
    command = [sys.executable, "-m", "jupyter_server", "--allow-root", "--no-browser", f"--port={port}",
               "--ServerApp.base_url=/user/ann.b/", "--IdentityProvider.token=secret"]  # fmt: skip
    hub = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        play_one(f"http://localhost:{port}", path, headers={"authorization": "token secret"})
    finally:
        hub.terminate()
        hub.wait(20)
        process.kill()


def test_a_copy_made_while_fifty_tables_play_has_every_acknowledged_move(tmp_path):
    (command,) = re.findall(r'^python -c "(.*backup.*)"$', PAGE, re.MULTILINE)
    with Process(tmp_path / "tables.sqlite", "tictactoe") as process:
        guests = [sit_down(process, "tictactoe", ["me", "random"], seed) for seed in range(50)]
        playing = threading.Thread(target=lambda: asyncio.run(play(process.home, guests)))
        playing.start()
        while playing.is_alive() and sum(guest.acknowledged >= 0 for guest in guests) < 25:
            time.sleep(0.02)
        assert playing.is_alive(), "the copy is made in the middle of games"
        before = {guest.table: guest.acknowledged for guest in guests}
        subprocess.run([sys.executable, "-c", command], cwd=tmp_path, check=True)
        playing.join()
    copy = tmp_path / "elsewhere/copy.sqlite"
    copy.parent.mkdir()
    shutil.move(tmp_path / "copy.sqlite", copy)
    kept = dict(sqlite3.connect(copy).execute("SELECT table_id, max(ply) FROM move GROUP BY table_id").fetchall())
    assert all(kept.get(table, -1) >= ply for table, ply in before.items())
    with Process(copy, "tictactoe") as process:
        again = [Guest(guest.table, guest.cookie, random.Random(7)) for guest in guests]
        assert all(asyncio.run(play(process.home, again)))


async def play(home: str, guests: list[Guest]) -> list[bool]:
    return await asyncio.gather(*(guest.play(home, 0.3) for guest in guests))
