"""A program that breaks the protocol in one way, named as its argument. Greets properly, unless that is the way."""

import json
import os
import subprocess
import sys
import time

KIND = sys.argv[1]
GREETING = {"cardai": 1, "wants": ["count"]}


def say(content):
    os.write(1, content if isinstance(content, bytes) else json.dumps(content).encode() + b"\n")


def flood(content):
    while True:
        os.write(1, content)


def greet(number):
    match KIND:
        case "dead at once":
            sys.exit(4)
        case "another version":
            return say({"id": number, "cardai": 2})
        case "no greeting":
            return say({"id": number})
        case "unknown wants":
            return say({"id": number, "cardai": 1, "wants": ["everything"]})
        case "endless tables":
            return say({"id": number, "cardai": 1, "tables": 0})
    return say({"id": number, **GREETING})


def answer(number):
    match KIND:
        case "garbage":
            say(b"bestmove e2e4\n")
        case "not text":
            say(b'{"move": "\xff\xfe"}\n')
        case "no object":
            say([0])
        case "not a number":
            say(b'{"move": NaN}\n')
        case "huge number":
            say(b'{"move": ' + b"9" * 100_000 + b"}\n")
        case "nested":
            say(b"[" * 50_000 + b"\n")
        case "flood without lines":
            flood(b"0" * 65536)
        case "flood of lines":
            flood(b'{"move":0}\n' * 4096)
        case "flood of nothing":
            flood(b"\n" * 65536)
        case "hang":
            time.sleep(60)
        case "half a line":
            say(b'{"move"')
            time.sleep(60)
        case "death":
            sys.exit(3)
        case "killed":
            os.kill(os.getpid(), 9)
        case "closed output":
            os.close(1)
            time.sleep(60)
        case "closed input":
            say({"move": 0})
            os.close(0)
            time.sleep(60)
        case "too far":
            say({"id": number, "move": 1000})
        case "below":
            say({"id": number, "move": -1})
        case "true":
            say({"id": number, "move": True})
        case "a half":
            say({"id": number, "move": 0.5})
        case "no move":
            say({"id": number})
        case "other words":
            say({"id": number, "move": "castles long"})
        case "wrong fields":
            say({"id": number, "move": [1, 2, 3]})
        case "large fields":
            say({"id": number, "move": [10**20]})
        case "illegal fields":
            say({"id": number, "move": [77]})
        case "another question":
            say({"id": number + 100_000, "move": 0})
        case "twice":
            say(json.dumps({"id": number, "move": 0}).encode() + b"\n" + b'{"move": 0}\n')
        case "worlds without end":
            say({"id": number, "worlds": 1})
        case "too many worlds":
            say({"id": number, "worlds": 10**9})
        case "bytes":
            say({"id": number, "bytes": 10**15})
        case "own error":
            say({"id": number, "error": "I resign\x1b[31m"})
        case "children":
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            time.sleep(60)


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        greet(message["id"])
    elif "id" in message:
        answer(message["id"])
