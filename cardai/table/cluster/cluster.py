"""The door to a cluster: join it, see that its machines may play a game, and have tasks carried out.

with Cluster("auto") as cluster:
    simulate_shards(game, pool, 1_000_000, folder="games", cluster=cluster)
"""

import contextlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from cardai.agents.spec import Agent, agent
from cardai.errors import CardaiError
from cardai.files.named import digest_of, noted
from cardai.game import Game
from cardai.kernel.doors import check_kind
from cardai.registry import name_of
from cardai.table.cluster.driving import ClusterFailed, carry_out
from cardai.table.cluster.engine import RayEngine
from cardai.table.cluster.identity import device_kind, identity, refusal
from cardai.table.cluster.work import DONE, GREET, WARM, Answer, WorkOrder
from cardai.table.many import play

_GREETING, _WARMING = 60.0, 600.0  # seconds in which a machine must say what it is, and have compiled the rules

Tell = Callable[[str], None]
"""Takes what is being done, for a progress line."""


class Cluster:
    """A cluster that has been joined. Use it in a `with` block.

    `address`: "auto", "local" or HOST:PORT, see `RayEngine`. `mixed`: networks may compute on machines of several
    kinds. `device`, `scorer`: where networks compute, as in `set_device`. Raises CardaiError and ClusterFailed as
    `RayEngine` does.
    """

    def __init__(self, address: str, *, mixed: bool = False, device: str = "auto", scorer: str = "auto") -> None:
        self.engine = RayEngine(address)
        self.address, self.mixed, self.device, self.scorer = address, mixed, device, scorer
        self._warm: set[tuple[str, str, bool]] = set()  # (machine, game, networks) that have been greeted
        self._files: dict[str, int] = {}  # the files of specs that are kept, by digest

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.engine.close()

    @property
    def slots(self) -> int:
        """How many tasks run at once."""
        return sum(node.slots for node in self.engine.nodes().values())

    @property
    def words(self) -> str:
        """What the cluster is, for a progress line."""
        machines = len(self.engine.nodes())
        return f"{machines} machine{'s' if machines > 1 else ''}, {self.slots} processors"

    def device_of(self, agents: Iterable[Agent]) -> str | None:
        """The kind of device that networks of these agents compute on. None if no agent has a network."""
        return device_kind(self.device) if any(map(_has_network, agents)) else None

    def run(
        self,
        game: Game,
        specs: Sequence[str],
        task: str,
        request: Mapping[str, Any],
        numbers: Iterable[int],
        take: Callable[[int, Answer], None],
        *,
        data: bytes = b"",
        tell: Tell | None = None,
        cpus: int = 1,
    ) -> dict[int, str]:
        """Have the tasks of some numbers done. Returns those that failed again and again, each with the reason.

        `specs`: the agents that play. `task`, `request`, `data`: see `WorkOrder`. `take(number, answer)` is called once
        for each task that is done, in any order.

        Raises ClusterFailed if a machine may not play this game, which is found before the first task, if the cluster
        is lost, and as `carry_out`. Raises CardaiError for agents that play on one machine only.
        """
        order, contents = self._order(game, specs, task, request, data)
        gpus = 1 if self.device == "gpu" else 0
        is_timed = any("ms=" in spec for spec in specs)  # such agents think by the clock, so no game is played alike
        with self._kept(order, data, contents) as kept:
            self._greet(order, kept, tell or (lambda _: None))

            def send(number: int, node: str) -> int:
                return self.engine.submit(number, kept, node, cpus, gpus)

            return carry_out(self.engine, numbers, send, take, must_agree=not is_timed)

    def greet(self, game: Game, specs: Sequence[str], tell: Tell | None = None) -> None:
        """Have each machine say what it is, and compile the rules, before there are tasks. Raises as `run` does."""
        order, contents = self._order(game, specs, f"{__name__}:_nothing_to_do", {}, b"")
        with self._kept(order, b"", contents) as kept:
            self._greet(order, kept, tell or (lambda _: None))

    def on_each(
        self,
        game: Game,
        specs: Sequence[str],
        task: str,
        request: Mapping[str, Any],
    ) -> list[tuple[str, Answer]]:
        """Have the same task done on each processor of each machine, all at once.

        Returns the machine's name and the answer of each processor. `request`: see `WorkOrder`.
        """
        self.greet(game, specs)
        order, contents = self._order(game, specs, task, request, b"")
        with self._kept(order, b"", contents) as kept:
            names = [name for name, node in self.engine.nodes().items() for _ in range(node.slots)]
            return self._ask_all(names, 0, kept, _WARMING)

    @contextlib.contextmanager
    def _kept(self, order: WorkOrder, data: bytes, contents: Sequence[bytes]) -> Iterator[list[int]]:
        """Yields the contents of an order's tasks, which the engine keeps; those of files also for later orders."""
        own = [self.engine.keep(order.as_bytes()), self.engine.keep(data)]
        for (_, digest), content in zip(order.files, contents, strict=True):
            if digest not in self._files:
                self._files[digest] = self.engine.keep(content)
        try:
            yield own + [self._files[digest] for _, digest in order.files]
        finally:
            for content in own:
                self.engine.forget(content)

    def _order(
        self, game: Game, specs: Sequence[str], task: str, request: Mapping[str, Any], data: bytes
    ) -> tuple[WorkOrder, list[bytes]]:
        """The order for tasks, and the contents of the files that specs name."""
        with noted() as files:
            agents = [agent(game, spec) for spec in specs]
        for player in agents:
            if player.is_foreign:
                raise CardaiError(f"agent {player.spec!r} runs code of yours, which plays on this machine only")
        contents = {name: _read(place) for name, place in files.items()}
        has_networks = any(map(_has_network, agents))
        order = WorkOrder(
            task=task,
            game=name_of(game),
            identity=identity(game, self.device if has_networks else None),
            mixed=self.mixed,
            device=self.device,
            scorer=self.scorer,
            files=[(name, digest_of(content)) for name, content in contents.items()],
            request=dict(request),
            data=digest_of(data),
        )
        return order, list(contents.values())

    def _greet(self, order: WorkOrder, kept: Sequence[int], tell: Tell) -> None:
        """Have each machine say what it is, and compile the rules. Raises ClusterFailed if one may not play."""
        what = order.game, bool(order.identity["device"])
        nodes = {name: node for name, node in self.engine.nodes().items() if (name, *what) not in self._warm}
        if not nodes:
            return
        tell(f"asking {self.words}")
        for node, answer in self._ask_all(nodes, GREET, kept, _GREETING):
            if answer.kind == DONE:
                text = refusal(nodes[node].host, order.identity, json.loads(answer.content), self.mixed)
            else:
                text = answer.text
            if text:
                raise ClusterFailed(text)
        tell(f"compiling {order.game}'s rules on {self.words}, once: up to 60 s")
        for node, answer in self._ask_all(nodes, WARM, kept, _WARMING):
            if answer.kind != DONE:
                raise ClusterFailed(f"machine {nodes[node].host} cannot play this: {answer.text}")
            self._warm.add((node, *what))

    def _ask_all(
        self, nodes: Iterable[str], number: int, kept: Sequence[int], seconds: float
    ) -> list[tuple[str, Answer]]:
        """The answers of some machines to a task, one for each time a machine is named.

        Leaves out those that are gone meanwhile.
        """
        there = self.engine.nodes()
        tickets = {self.engine.submit(number, kept, node): node for node in nodes if node in there}
        answers: list[tuple[str, Answer]] = []
        deadline = time.monotonic() + seconds
        while tickets:
            for event in self.engine.events(0.2):
                node = tickets.pop(event.ticket, None)
                if node is not None:
                    lost = Answer("failed", "", f"its worker ended ({event.why})", 0.0, b"")
                    answers.append((node, event.answer or lost))
            for ticket in [ticket for ticket, node in tickets.items() if node not in self.engine.nodes()]:
                del tickets[ticket]
            if tickets and time.monotonic() > deadline:
                host = self.engine.nodes()[next(iter(tickets.values()))].host
                raise ClusterFailed(f"machine {host} did not answer within {seconds:.0f} seconds")
        return answers


def _nothing_to_do(game: Game, request: Mapping[str, Any], data: bytes) -> Callable[[int], bytes]:
    """The work of a task that only compiles the rules of a game."""
    del request, data

    def work(number: int) -> bytes:
        lineups, seeds = np.zeros((1, game.default_seats), np.int64), np.zeros(1, np.uint64)
        play(game, [agent(game, "random")], lineups, seeds, threads=1)
        return b"%d" % number

    return work


def check_cluster(cluster: Cluster | None) -> None:
    """Raise CardaiError for anything but a cluster that was joined, or None."""
    if cluster is not None:
        check_kind("cluster", cluster, Cluster, "a Cluster that was joined")


def _has_network(player: Agent) -> bool:
    """Whether an agent's moves may depend on how networks round."""
    evaluator = player.evaluator
    return evaluator is not None or not player.strategy.is_native


def _read(place: Path) -> bytes:
    try:
        return place.read_bytes()
    except OSError as error:
        raise CardaiError(f"cannot read {place}: {error.strerror or error}") from None
