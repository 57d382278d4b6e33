"""The process that Ray runs in. Run as a program: it takes frames from its standard input and answers on its output.

Ray is here alone, because it writes to the terminal, waits for minutes for what is not there, and ends its process when
the cluster is lost. `cardai.table.cluster.engine` has this process do all that without harm, and gives it up in time.

A frame is one byte for its kind, a number as i64, the length of what follows as i64, and so many bytes.
"""

import json
import logging
import os
import queue
import struct
import sys
import threading
import time
from typing import IO, Any

CONNECT, KEEP, FORGET, SUBMIT, CANCEL = b"c", b"k", b"f", b"s", b"x"
READY, NODES, ANSWER, LOST, BROKEN = b"r", b"n", b"a", b"l", b"b"
HEAD = struct.Struct("<cqq")
_POLL = 0.05  # seconds for which Ray is waited for while there may be frames
_LOOK = 1.0  # seconds between two looks at which machines there are


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Do what frames say until the source ends."""
    frames: queue.SimpleQueue[tuple[bytes, int, bytes] | None] = queue.SimpleQueue()
    threading.Thread(target=_read_all, args=(source, frames), daemon=True).start()
    first = frames.get()
    if first is None:
        return
    try:
        ray = _connected(json.loads(first[2])["address"])
        _send(sink, READY, 0, b"")
        _Serving(ray, sink).until_the_end(frames)
    except Exception as error:
        _send(sink, BROKEN, 0, f"{type(error).__name__}: {error}".encode())


def read_frame(source: IO[bytes]) -> tuple[bytes, int, bytes] | None:
    """The next frame: (kind, number, content). None at the end."""
    head = source.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    kind, number, length = HEAD.unpack(head)
    content = source.read(length)
    return None if len(content) < length else (kind, number, content)


class _Serving:
    def __init__(self, ray: Any, sink: IO[bytes]) -> None:
        self.ray, self.sink = ray, sink
        self.kept: dict[int, Any] = {}  # contents that Ray holds for tasks
        self.tickets: dict[Any, int] = {}  # tasks that are out, by what Ray calls their results
        self.looked = 0.0
        self.task = ray.remote(max_retries=0)(_task)

    def until_the_end(self, frames: "queue.SimpleQueue[tuple[bytes, int, bytes] | None]") -> None:
        while True:
            if time.monotonic() - self.looked > _LOOK:
                self.tell_nodes()
            while True:
                try:
                    frame = frames.get(timeout=0.0 if self.tickets else _POLL)
                except queue.Empty:
                    break
                if frame is None:
                    return
                self.obey(*frame)
            if self.tickets:
                ready, _ = self.ray.wait(list(self.tickets), num_returns=1, timeout=_POLL)
                for result in ready:
                    self.answer(result, self.tickets.pop(result))

    def tell_nodes(self) -> None:
        alive = [node for node in self.ray.nodes() if node["Alive"]]
        about = [
            {
                "name": node["NodeID"],
                "host": node["NodeManagerHostname"],
                "cpus": int(node["Resources"].get("CPU", 0)),
                "gpus": int(node["Resources"].get("GPU", 0)),
            }
            for node in alive
        ]
        self.looked = time.monotonic()
        _send(self.sink, NODES, 0, json.dumps(about).encode())

    def obey(self, kind: bytes, number: int, content: bytes) -> None:
        if kind == KEEP:
            self.kept[number] = self.ray.put(content)
        elif kind == FORGET:
            del self.kept[number]
        elif kind == SUBMIT:
            self.submit(number, json.loads(content))
        elif kind == CANCEL:
            for result, ticket in list(self.tickets.items()):
                if ticket == number:
                    del self.tickets[result]
                    self.ray.cancel(result, force=True)

    def submit(self, ticket: int, what: dict[str, Any]) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # pyright: ignore[reportMissingImports]

        where = NodeAffinitySchedulingStrategy(what["node"], soft=False)
        options = {"num_cpus": what["cpus"], "num_gpus": what["gpus"], "scheduling_strategy": where}
        contents = [self.kept[number] for number in what["contents"]]
        result = self.task.options(**options).remote(what["number"], *contents)
        self.tickets[result] = ticket

    def answer(self, result: Any, ticket: int) -> None:
        try:
            content = self.ray.get(result)
        except Exception as error:
            said = " ".join(str(error).split())[:300]
            _send(self.sink, LOST, ticket, f"{type(error).__name__}: {said}".encode())
        else:
            _send(self.sink, ANSWER, ticket, content)


def _task(number: int, order: bytes, *contents: bytes) -> bytes:
    """What Ray runs in a worker. Its code goes there with it, so a machine without cardai can say so."""
    import json
    import platform

    try:
        from cardai.table.cluster.work import perform
    except ImportError as error:
        text = f"machine {platform.node()} has no cardai, or another version of it ({error})"
        head = {"kind": "refused", "host": platform.node(), "text": text, "seconds": 0.0}
        return json.dumps(head).encode() + b"\n"
    return perform(order, number, *contents)


def _connected(address: str) -> Any:
    """Ray, connected to the cluster at an address; "local" starts one of this machine alone."""
    import ray  # pyright: ignore[reportMissingImports]

    options: dict[str, Any] = {"include_dashboard": False} if address == "local" else {}
    ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **options)
    return ray


def _read_all(source: IO[bytes], frames: "queue.SimpleQueue[tuple[bytes, int, bytes] | None]") -> None:
    while (frame := read_frame(source)) is not None:
        frames.put(frame)
    frames.put(None)


def _send(sink: IO[bytes], kind: bytes, number: int, content: bytes) -> None:
    sink.write(HEAD.pack(kind, number, len(content)) + content)
    sink.flush()


if __name__ == "__main__":
    frames_in, frames_out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what Ray prints must not get among the frames
    serve(frames_in, frames_out)
    sys.stderr.flush()
