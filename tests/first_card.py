"""How long a new user takes from the sources to the first card played in the browser against their own model.

    python tests/first_card.py

Runs the commands of docs/serve.md one after the other in an empty folder, with a new environment and without anything
compiled before, then plays a card over the page's own socket. Prints what each step took.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEADING = "From nothing to a game against your own model"
NONCE = "ab" * 32


def commands() -> list[str]:
    """The commands of docs/serve.md under the heading."""
    section = (ROOT / "docs/serve.md").read_text("utf-8").split(f"\n## {HEADING}\n")[1]
    block = re.search(r"```sh\n(.*?)```", section, re.DOTALL)
    assert block, "docs/serve.md has no commands under this heading"
    return [line.partition("#")[0].strip() for line in block[1].splitlines() if line.partition("#")[0].strip()]


@contextmanager
def timed(step: str) -> Iterator[None]:
    """Print what a step took."""
    begun = time.perf_counter()
    yield
    print(f"{time.perf_counter() - begun:6.1f} s  {step}", flush=True)


def play_a_card(home: str) -> str:
    """Sit down at the first game that is offered, against the first agent, and play a legal move. Returns its words."""
    from websockets.sync.client import connect

    headers = {"origin": home, "content-type": "application/json"}
    (offer,) = json.loads(urllib.request.urlopen(f"{home}/games", timeout=30).read())
    seats = ["me"] + [offer["agents"][0][0]] * (offer["usual"] - 1)
    wishes = json.dumps({"game": offer["key"], "seats": seats, "name": "Ann"}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{home}/tables", wishes, headers), timeout=30) as answer:
        cookies = "; ".join(text.partition(";")[0] for text in answer.headers.get_all("set-cookie"))
        table = json.loads(answer.read())["table"]
    address = f"{home.replace('http', 'ws')}/t/{table}/socket"
    with connect(address, origin=home, additional_headers={"cookie": cookies}) as socket:
        socket.send(json.dumps({"nonce": NONCE, "pause": 0}))
        sent = None
        while True:
            view = json.loads(socket.recv(timeout=60))
            if sent and view["ply"] > sent[0]:
                return sent[1]
            if view.get("moves") and not sent:
                sent = (view["ply"], view["moves"][0][0])
                socket.send(json.dumps({"ply": sent[0], "move": sent[1]}))


def main() -> None:
    """Run the commands and print the times."""
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        environment["CARDAI_CACHE"] = str(place / "cache")
        environment["PATH"] = f"{place / 'mine/bin'}{os.pathsep}{environment['PATH']}"
        *before, serve = commands()
        for command in before:
            with timed(command):
                installs = command.replace("'.[web]'", f"'{ROOT}[web]'").replace(". mine/bin/activate", "true")
                subprocess.run(installs, shell=True, check=True, cwd=place, env=environment, stdout=subprocess.DEVNULL)
        with timed(serve):
            server = subprocess.Popen(
                [*serve.split(), "--port", "0"], cwd=place, env=environment, stdout=subprocess.PIPE, text=True
            )
            assert server.stdout is not None
            home = re.search(r"at (http://\S+)/ ", server.stdout.readline())
        try:
            assert home, "the server did not start"
            with timed("the first card"):
                words = play_a_card(home[1])
        finally:
            server.kill()
            server.wait()
    print(f"{time.perf_counter() - begun:6.1f} s  in all, until {words!r} was played", file=sys.stdout)


if __name__ == "__main__":
    main()
