"""Ray, in a process of its own, seen from outside: machines, tasks sent to them, and what came of these.

The process may hang, write to the terminal or end: each of these becomes one sentence here, within `CONNECTING` seconds
while the cluster is looked for, and within `SILENT` seconds later.
"""

import contextlib
import json
import os
import queue
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from types import TracebackType
from typing import IO, Self

from cardai.errors import CardaiError, lacking, short
from cardai.table.cluster import ray_process
from cardai.table.cluster.driving import ClusterFailed, Event, Node
from cardai.table.cluster.ray_process import (
    ANSWER,
    BROKEN,
    CANCEL,
    CONNECT,
    FORGET,
    HEAD,
    KEEP,
    LOST,
    NODES,
    SUBMIT,
)
from cardai.table.cluster.work import Answer

CONNECTING, SILENT = 15.0, 15.0
AUTO, LOCAL = "auto", "local"
"""The address of the cluster that this machine belongs to, and that of a new one of this machine alone."""
_KNOCKING = 5.0  # seconds in which the head must take a connection
_STARTING = 90.0  # seconds in which a cluster of this machine alone must have started
_WRONG_TOKEN = "Unauthenticated", "InvalidAuthToken"
_NO_TOKEN = "AuthenticationError", "auth_token", "AUTH_TOKEN", "authentication token"


class RayEngine:
    """The machines of a Ray cluster. Use it in a `with` block.

    `address`: "auto" for the cluster that this machine belongs to, "local" for a new one of this machine alone, or the
    HOST:PORT of its head. Raises CardaiError if Ray is not installed or the address is none, and ClusterFailed, in a
    sentence, if nobody answers there, if the token is wrong, and later if the cluster is lost.
    """

    def __init__(self, address: str) -> None:
        self.address = _checked(address)
        if find_spec("ray") is None:
            raise lacking("--cluster", "ray", "cluster")
        if ":" in address:
            _knock(address)
        environment = {"RAY_AUTH_MODE": "token"} | os.environ  # without a token anybody could send code to the cluster
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", ray_process.__name__],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
            start_new_session=True,
        )  # fmt: skip
        self._frames: queue.SimpleQueue[tuple[bytes, int, bytes] | None] = queue.SimpleQueue()
        self._said: deque[str] = deque(maxlen=50)
        self._nodes: dict[str, Node] = {}
        self._gpus: dict[str, int] = {}
        self._tickets = self._contents = 0
        for target in (self._read_frames, self._read_words):
            threading.Thread(target=target, daemon=True).start()
        try:
            self._tell(CONNECT, 0, json.dumps({"address": address}).encode())
            self._await_connection()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def nodes(self) -> Mapping[str, Node]:
        """The machines that are there now, by name, with a slot for each processor."""
        return self._nodes

    def keep(self, content: bytes) -> int:
        """Have a content kept for tasks. Returns its number. Each machine gets it once."""
        self._contents += 1
        self._tell(KEEP, self._contents, content)
        return self._contents

    def forget(self, content: int) -> None:
        """Keep a content no longer, once no task needs it."""
        with contextlib.suppress(ClusterFailed):
            self._tell(FORGET, content, b"")

    def submit(self, number: int, contents: Sequence[int], node: str, cpus: int = 1, gpus: int = 0) -> int:
        """Send a task to a machine, with contents that are kept. Returns its ticket."""
        self._tickets += 1
        what = {"number": number, "contents": list(contents), "node": node, "cpus": cpus, "gpus": gpus}
        self._tell(SUBMIT, self._tickets, json.dumps(what).encode())
        return self._tickets

    def cancel(self, ticket: int) -> None:
        """Give a task up, whether or not it has begun."""
        with contextlib.suppress(ClusterFailed):
            self._tell(CANCEL, ticket, b"")

    def events(self, seconds: float) -> list[Event]:
        """What has happened to tasks since the last call. Waits until something happens, at most so long."""
        deadline, events = time.monotonic() + seconds, list[Event]()
        for kind, number, content in self._heard(deadline):
            if kind == ANSWER:
                events.append(Event(number, Answer.of(content)))
            elif kind == LOST:
                events.append(Event(number, None, content.decode()))
            if events and self._frames.empty():
                break
        return events

    def close(self) -> None:
        """End the process. What it has out is given up."""
        with contextlib.suppress(OSError, ValueError):
            assert self._process.stdin
            self._process.stdin.close()
        try:
            self._process.wait(5.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _heard(self, deadline: float) -> Iterator[tuple[bytes, int, bytes]]:
        """The frames that come until a deadline. Keeps the machines up to date, and sees when the cluster is lost."""
        while True:
            try:
                frame = self._frames.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                if time.monotonic() - self._last > SILENT:
                    raise self._lost("it has not answered for some time") from None
                return
            self._last = time.monotonic()
            if frame is None:
                raise self._lost("the connection to it has ended")
            if frame[0] == BROKEN:
                raise self._lost(frame[2].decode())
            if frame[0] == NODES:
                about = json.loads(frame[2])
                self._nodes = {one["name"]: Node(one["name"], one["host"], one["cpus"]) for one in about if one["cpus"]}
                self._gpus = {one["name"]: one["gpus"] for one in about}
            yield frame

    def _lost(self, why: str) -> ClusterFailed:
        return ClusterFailed(
            f"the cluster at {self.address} is lost: {short(why, 300)}; what was finished is kept, and the same command"
            " goes on"
        )

    def _await_connection(self) -> None:
        patience = _STARTING if self.address == LOCAL else CONNECTING
        deadline = time.monotonic() + patience
        self._last = time.monotonic()
        while time.monotonic() < deadline:
            with contextlib.suppress(queue.Empty):
                frame = self._frames.get(timeout=0.1)
                if frame is None or frame[0] == BROKEN:
                    said = frame[2].decode() if frame else " ".join(self._said)
                    raise self._no_connection(said)
                if frame[0] == NODES:
                    self._frames.put(frame)
                    for _ in self._heard(time.monotonic()):
                        pass
                    if not self._nodes:
                        raise ClusterFailed(f"the cluster at {self.address} has no processor to play on")
                    return
            if any(mark in line for line in list(self._said) for mark in _WRONG_TOKEN):
                raise self._no_connection(" ".join(self._said))
        raise ClusterFailed(f"cannot join the cluster at {self.address}: it did not answer within {patience:.0f} s")

    def _no_connection(self, said: str) -> ClusterFailed:
        """The error for a cluster that cannot be joined. `said`: what Ray said about it."""
        if any(mark in said for mark in _WRONG_TOKEN):
            return ClusterFailed(
                f"the cluster at {self.address} does not take this machine's token: put the head's ~/.ray/auth_token"
                " here too"
            )
        if any(mark in said for mark in _NO_TOKEN):
            return ClusterFailed(
                "this machine has no token for a cluster: `ray get-auth-token --generate` makes one, and its"
                " ~/.ray/auth_token must be the same on all machines"
            )
        if self.address == AUTO and "Could not find any running Ray" in said:
            return ClusterFailed(
                "this machine belongs to no cluster: say `ray start --head` or `ray start --address=HOST:PORT` first"
            )
        if "ersion mismatch" in said or "same version" in said:
            return ClusterFailed(
                f"the cluster at {self.address} has another version of Ray or Python: {short(said, 200)}"
            )
        return ClusterFailed(f"cannot join the cluster at {self.address}: {short(said, 200)}")

    def _tell(self, kind: bytes, number: int, content: bytes) -> None:
        assert self._process.stdin
        try:
            self._process.stdin.write(HEAD.pack(kind, number, len(content)) + content)
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise self._lost("the connection to it has ended") from None

    def _read_frames(self) -> None:
        source: IO[bytes] | None = self._process.stdout
        assert source
        with source:
            while (frame := ray_process.read_frame(source)) is not None:
                self._frames.put(frame)
        self._frames.put(None)

    def _read_words(self) -> None:
        assert self._process.stderr
        with self._process.stderr as source:
            for line in source:
                self._said.append(line.decode(errors="replace").strip())


def _checked(address: str) -> str:
    """An address as it is. Raises CardaiError for a text that is none."""
    host, _, port = address.rpartition(":")
    if address not in (AUTO, LOCAL) and not (host and "/" not in host and port.isdecimal() and 0 < int(port) < 65536):
        raise CardaiError(f"--cluster is auto, local or HOST:PORT, not {short(address)}")
    return address


def _knock(address: str) -> None:
    """Raise ClusterFailed unless somebody takes a connection at this address."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), _KNOCKING).close()
    except OSError as error:
        raise ClusterFailed(
            f"no cluster answers at {address}: {error.strerror or error}; `ray start --head` on its first machine"
            " prints the address"
        ) from None
