"""A program that plays and looks for its deals wherever a program can look: `thief.py LOG` over lines of JSON.

With its first move it writes one line to LOG: the texts that may be the salt, the numbers that may be the seed, what it
could open, and the other programs whose memory it could read. Needs nothing but Python's own library, so that any user
can run it.
"""

import contextlib
import json
import os
import re
import sys
from pathlib import Path

_SALT = re.compile(rb"[0-9a-f]{32}")
_MOST = 1 << 24  # bytes that are read at once


def loot() -> dict:
    """What can be found of the process that started this one, and of others that it started."""
    parent, texts, opened = os.getppid(), set(), []

    def look(name: str, content: bytes) -> None:
        opened.append(name)
        texts.update(word.decode() for word in _SALT.findall(content))
        if name in ("cmdline", "environ"):
            texts.update(word.decode("utf-8", "replace").partition("=")[2] for word in content.split(b"\0"))
            texts.update(word.decode("utf-8", "replace") for word in content.split(b"\0"))

    for name in ("cmdline", "environ"):
        with contextlib.suppress(OSError):
            look(name, Path(f"/proc/{parent}/{name}").read_bytes())
    with contextlib.suppress(OSError):
        look("mem", _memory(parent))
    for folder in (f"/proc/{parent}/fd", f"/proc/{parent}/cwd", Path.cwd()):
        with contextlib.suppress(OSError):
            for place in Path(folder).iterdir():
                with contextlib.suppress(OSError):
                    if place.is_file():
                        with place.open("rb") as file:
                            look(str(place), file.read(_MOST))
    seeds = sorted(int(text) for text in texts if re.fullmatch(r"\d{1,18}", text))
    gained = re.findall(r"NoNewPrivs:\s*1", Path("/proc/self/status").read_text())
    user = os.getuid()
    about = {"user": user, "groups": os.getgroups(), "gains_nothing": bool(gained)}
    return {"texts": sorted(texts), "seeds": seeds, "opened": opened, "others": _others(parent), **about}


def _memory(process: int) -> bytes:
    """The salts in the memory of a process that can be written to. Raises OSError if it is closed."""
    found = []
    with Path(f"/proc/{process}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{process}/maps").read_text().splitlines():
            span, rights, *rest = line.split()
            first, last = (int(end, 16) for end in span.split("-"))
            if rights.startswith("rw") and (len(rest) == 3 or rest[-1] == "[heap]"):
                for start in range(first, last, _MOST):
                    with contextlib.suppress(OSError, ValueError, OverflowError):
                        memory.seek(start)
                        found += _SALT.findall(memory.read(min(last - start, _MOST)))
    return b" ".join(found)


def _others(parent: int) -> list[str]:
    """The command lines of other programs of the same parent whose memory or input can be opened."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            if folder.name == str(os.getpid()):
                continue
            if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) != parent:
                continue
            for name in ("mem", "fd/0"):
                os.close(os.open(folder / name, os.O_RDONLY | os.O_NONBLOCK))
            found.append((folder / "cmdline").read_text())
    return found


def thief(game, world):
    """The same as a Python agent: plays its first move."""
    log = Path(os.environ["CARDAI_LOOT"])
    if not log.exists():
        log.write_text(json.dumps(loot()) + "\n")
    return game.moves(world)[0]


if __name__ == "__main__":
    log = Path(sys.argv[1])
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "move":
            if log is not None:
                with log.open("a") as file:
                    file.write(json.dumps(loot()) + "\n")
                log = None
            print(json.dumps({"id": message["id"], "move": 0}), flush=True)
        elif "id" in message:
            print(json.dumps({"id": message["id"], "cardai": 1, "wants": ["count"]}), flush=True)
