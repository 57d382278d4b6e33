"""A program that breaks the protocol in one way, named as its argument. Greets properly, unless that is the way."""

import json
import os
import subprocess
import sys
import time

KIND = sys.argv[1]
GREETINGS = {
    "another version": {"cardai": 2},
    "no greeting": {},
    "unknown wants": {"cardai": 1, "wants": ["everything"]},
    "endless tables": {"cardai": 1, "tables": 0},
}
ANSWERS = {
    "too far": {"move": 1000},
    "true": {"move": True},
    "no move": {},
    "other words": {"move": "castles long"},
    "wrong fields": {"move": [1, 2, 3]},
    "large fields": {"move": [10**20]},
    "illegal fields": {"move": [77]},
    "worlds without end": {"worlds": 1},
    "too many worlds": {"worlds": 10**9},
    "own error": {"error": "I resign\x1b[31m"},
}
LINES = {
    "garbage": b"bestmove e2e4\n",
    "not text": b'{"move": "\xff\xfe"}\n',
    "no object": b"[0]\n",
    "huge number": b'{"move": ' + b"9" * 100_000 + b"}\n",
    "nested": b"[" * 50_000 + b"\n",
    "half a line": b'{"move"',
    "closed input": b'{"move": 0}\n',
}
FLOODS = {
    "flood without lines": b"0" * 65536,
    "flood of lines": b'{"move":0}\n' * 4096,
    "flood of nothing": b"\n" * 65536,
}


def say(number, content):
    os.write(1, json.dumps({"id": number, **content}).encode() + b"\n")


def answer(number):
    if KIND in ANSWERS:
        say(number, ANSWERS[KIND])
    os.write(1, LINES.get(KIND, b""))
    while KIND in FLOODS:
        os.write(1, FLOODS[KIND])
    match KIND:
        case "death":
            sys.exit(3)
        case "killed":
            os.kill(os.getpid(), 9)
        case "closed output":
            os.close(1)
        case "closed input":
            os.close(0)
        case "another question":
            say(number + 100_000, {"move": 0})
        case "twice":
            os.write(1, json.dumps({"id": number, "move": 0}).encode() + b'\n{"move": 0}\n')
        case "children":
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    if KIND in ("hang", "half a line", "closed output", "closed input", "children"):
        time.sleep(60)


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        if KIND == "dead at once":
            sys.exit(4)
        say(message["id"], GREETINGS.get(KIND, {"cardai": 1, "wants": ["count"]}))
    elif "id" in message:
        answer(message["id"])
