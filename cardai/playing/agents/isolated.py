"""A Python function or evaluator as a program of its own, which speaks the protocol of docs/protocol.md.

    python -m cardai.playing.agents.isolated SPEC MODULE:OBJECT GAME

A Python function in the same process can look at anything that the interpreter holds: the true state, the seeds, the
other agents. Here it has worlds, or rows, and nothing else. `cardai.playing.agents.outside` starts this module.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from cardai.errors import CardaiError, place_of, short
from cardai.game import Game
from cardai.playing.agents.own_code import evaluator_at, function_at
from cardai.playing.agents.process import VERSION, close_memory
from cardai.playing.agents.strategy import Unfit, move_of
from cardai.registry import load

_MOMENT = 0.1  # seconds: who waits sees that answers come


class Served:
    """Somebody's object, and what it answers to questions."""

    def __init__(self, spec: str, target: str, game_name: str) -> None:
        self.spec, self.target, self.game_name = spec, target, game_name
        self.game: Game
        self.thing: Any = None

    def answers(self, question: dict[str, Any], content: bytes) -> Iterator[tuple[dict[str, Any], bytes]]:
        """The parts of the answer to a question, with the bytes after each. What the object raises is a sentence."""
        place = 0
        try:
            match question["type"]:
                case "hello":
                    yield {"cardai": VERSION, **self._greeting(question["role"])}, b""
                case "moves":
                    moves, begun = bytearray(), time.monotonic()
                    for world in np.frombuffer(bytearray(content), self.game.state):
                        moves += move_of(self.thing, self.game, world).tobytes()
                        place += 1
                        if time.monotonic() - begun > _MOMENT:
                            yield {}, bytes(moves)
                            moves, begun = bytearray(), time.monotonic()
                    if moves:
                        yield {}, bytes(moves)
                case "score":
                    rows = np.frombuffer(content, np.uint8).reshape(question["count"], question["width"])
                    yield {}, np.asarray(self.thing.score(rows)).astype("<f8").tobytes()
                case _:
                    self.thing.check_fits(self.game, question["variant"], question["seats"])
                    yield {}, b""
        except Unfit as error:
            yield {"error": str(error), "place": place}, b""
        except CardaiError as error:
            yield {"cardai": VERSION, "error": str(error).removeprefix(f"agent {self.spec!r}: ")[:1000]}, b""
        except Exception as error:  # anything that somebody's code raises is said to the other side
            yield {"error": f"it raised {short(error, 300)}{place_of(error)}"}, b""

    def _greeting(self, role: str) -> dict[str, Any]:
        """What the other side is told of the object."""
        self.game = load(self.game_name)
        if role == "agent":
            self.thing = function_at(self.spec, self.target)
            return {"wants": ["bytes"]}
        self.thing = evaluator_at(self.game, self.spec, self.target)
        about = {name: getattr(self.thing, name) for name in ("name", "encoder", "moment", "seats", "batch")}
        return {**about, "checks": True}


def serve(source: IO[bytes], sink: IO[bytes], served: Served) -> None:
    """Answer questions until the source ends."""
    for line in source:
        question = json.loads(line)
        content = source.read(question.get("bytes", 0))
        for answer, bytes_after in served.answers(question, content):
            length = {"bytes": len(bytes_after)} if bytes_after else {}
            sink.write(json.dumps({"id": question["id"], **answer, **length}).encode() + b"\n" + bytes_after)
            sink.flush()


if __name__ == "__main__":
    close_memory()  # to other programs that play
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # what the agent reads and prints must not get among the lines
    os.dup2(2, 1)
    serve(questions, answers, Served(*sys.argv[1:]))
