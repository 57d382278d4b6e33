"""A cluster that has been joined: Ray carries tasks to its machines, and has them done again where a machine dies.

with Cluster("auto") as cluster:
    simulate_shards(game, pool, 1_000_000, folder="games", cluster=cluster)
"""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import islice
from typing import Any, Self

from cardai.errors import CardaiError, lacking
from cardai.files.named import digest_of, noted
from cardai.game import Game
from cardai.guests.cluster.blocks import play_games
from cardai.guests.cluster.files import play_files
from cardai.guests.cluster.identity import device_kind, identity
from cardai.guests.cluster.joining import AUTO, ClusterFailed, check_address, knock, try_to_join
from cardai.guests.cluster.work import MachineRefused, TaskFailed, perform
from cardai.playing.agents.spec import Agent, agent
from cardai.records.simulation_folder import MIXED
from cardai.registry import name_of

_A_SLOT = 2  # the most tasks that are out for each processor, so that a worker never waits for the driver
_RETRIES = 3  # of a task that failed, or whose worker ended
_LOOK = 1.0  # seconds between two looks at whether the head is there and which machines there are


class Cluster:
    """A cluster that has been joined: `Machines` as `cardai.records.elsewhere` has them. Use it in a `with` block.

    `address`: "auto" for the cluster that this machine belongs to, or the HOST:PORT of its head. `mixed`: networks may
    compute on machines of several kinds. `device`, `scorer`: where networks compute, as in `set_device`.

    Raises CardaiError if Ray is not installed or the address is none, and ClusterFailed if it cannot be joined.
    """

    play, play_files = play_games, play_files

    def __init__(self, address: str, *, mixed: bool = False, device: str = "auto", scorer: str = "auto") -> None:
        check_address(address)
        if find_spec("ray") is None:
            raise lacking("--cluster", "ray", "cluster")
        if address != AUTO:
            knock(address)
        os.environ.setdefault("RAY_AUTH_MODE", "token")  # without a token anybody could send code to the cluster
        try_to_join(address)
        import ray  # pyright: ignore[reportMissingImports]

        self.ray: Any = ray
        ray.init(address, log_to_driver=False, logging_level="ERROR")
        self.head = ray.get_runtime_context().gcs_address
        self.mixed, self.device, self.scorer = mixed, device, scorer
        self._files: dict[str, Any] = {}  # what Ray holds of files that specs name, by digest
        self._warm: set[tuple[str, ...]] = set()  # (machine, kind of task, game, device) that are ready to play
        self._look()
        if not self.slots:
            raise ClusterFailed(f"the cluster at {address} has no processor to play on")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.ray.shutdown()

    def device_of(self, agents: Iterable[Agent]) -> str | None:
        """What networks of these agents compute on. None if no agent has a network."""
        return (MIXED if self.mixed else device_kind(self.device)) if any(map(_has_network, agents)) else None

    def map(
        self, game: Game, specs: Sequence[str], kind: str, request: Mapping[str, Any],
        items: Mapping[int, bytes], warm: bytes, tell: Callable[[str], object] = str,
    ) -> Iterator[tuple[int, bytes | TaskFailed]]:  # fmt: skip
        """Yields the number and the answer of each task, in any order, or why it failed again and again.

        `specs`: the agents that play. `kind`, `request`: see `work`. `items`: what each task is to play. `warm`: an
        item that compiles what the others need. `tell` takes what is being done.

        Raises ClusterFailed if a machine may not play this game, which is found before the first task, or if the
        cluster is lost. Raises CardaiError for agents that play on one machine only.
        """
        order, kept = self._order(game, specs, kind, request)
        gpus = 1 if self.device == "gpu" else 0
        task = self.ray.remote(num_cpus=1, num_gpus=gpus, max_retries=_RETRIES, retry_exceptions=[TaskFailed])(perform)
        tell(f"compiling on {self.words}, once")
        self._greet(task, (kind, order["game"], order["identity"]["device"]), kept, warm)
        waiting, out, known = iter(items), dict[Any, int](), set(self._nodes)
        while True:
            again = list(out.values()) if known - self._nodes.keys() else []  # what a lost machine has may hang
            known = set(self._nodes)
            for number in [*again, *islice(waiting, max(0, max(1, _A_SLOT * self.slots) - len(out)))]:
                out[task.remote(kept[0], items[number], *kept[1:])] = number
            if not out:
                return
            for result in self._ended(out):
                number = out[result]
                out = {other: its for other, its in out.items() if its != number}
                yield number, self._answer(result)

    def _order(
        self, game: Game, specs: Sequence[str], kind: str, request: Mapping[str, Any]
    ) -> tuple[dict[str, Any], list[Any]]:
        """The order for tasks, and what Ray holds of it and of the files that specs name, which travel once."""
        with noted() as places:
            agents = [agent(game, spec) for spec in specs]
        for player in agents:
            if player.is_foreign:
                raise CardaiError(f"agent {player.spec!r} runs code of yours, which plays on this machine only")
        own = identity(game, self.device if any(map(_has_network, agents)) else None)
        named = [(name, digest_of(place.read_bytes())) for name, place in places.items()]
        for (_, digest), place in zip(named, places.values(), strict=True):
            if digest not in self._files:
                self._files[digest] = self.ray.put(place.read_bytes())
        order = {"kind": kind, "request": request, "game": name_of(game), "identity": own, "files": named}
        order |= {"mixed": self.mixed, "device": self.device, "scorer": self.scorer}
        return order, [self.ray.put(json.dumps(order).encode()), *(self._files[digest] for _, digest in named)]

    def _greet(self, task: Any, what: tuple[str, ...], kept: Sequence[Any], warm: bytes) -> None:
        """Have each machine compile what it needs. Raises ClusterFailed if one may not play."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # pyright: ignore[reportMissingImports]

        out = {}
        for node in [node for node in self._nodes if (node, *what) not in self._warm]:
            there = task.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False))
            out[there.remote(kept[0], warm, *kept[1:])] = node
        while out:
            for result in self._ended(out):
                node, answer = out.pop(result), self._answer(result)
                if isinstance(answer, TaskFailed):
                    raise ClusterFailed(f"machine {self._nodes.get(node, node)} cannot play this: {answer}")
                self._warm.add((node, *what))
            out = {result: node for result, node in out.items() if node in self._nodes}

    def _ended(self, out: Iterable[Any]) -> list[Any]:
        """The tasks that have ended, of those that are out. Waits a while for one."""
        if time.monotonic() - self._looked > _LOOK:
            self._look()
        return self.ray.wait(list(out), timeout=_LOOK)[0]

    def _answer(self, result: Any) -> bytes | TaskFailed:
        errors = self.ray.exceptions
        try:
            return self.ray.get(result)
        except errors.LocalRayletDiedError:
            raise _lost("Ray has ended on this machine") from None
        except errors.RayError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, MachineRefused):
                raise cause from None
            return cause if isinstance(cause, TaskFailed) else TaskFailed(f"its worker ended ({type(error).__name__})")

    def _look(self) -> None:
        """See which machines there are. Raises ClusterFailed if the head is lost, for which Ray ends its process."""
        try:
            knock(self.head)
        except ClusterFailed as error:
            raise _lost(str(error)) from None
        nodes = [node for node in self.ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
        self._nodes = {node["NodeID"]: node["NodeManagerHostname"] for node in nodes}
        self.slots = sum(int(node["Resources"]["CPU"]) for node in nodes)
        self.words = f"{len(nodes)} machine{'s' if len(nodes) > 1 else ''}, {self.slots} processors"
        self._looked = time.monotonic()


def _lost(why: str) -> ClusterFailed:
    return ClusterFailed(f"the cluster is lost: {why}; what was finished is kept, and the same command goes on")


def _has_network(player: Agent) -> bool:
    """Whether an agent's moves may depend on how networks round."""
    return player.evaluator is not None or not player.strategy.is_native
