"""Several processes that train together, on one machine or on several, by `jax.distributed`.

    join("10.0.0.1:9876", processes=2, process=0)  # in each process, before JAX computes anything
    result = train(config)

Every process holds all weights and works on its share of each batch. Process 0 alone writes files. In a process that
has joined no others, the functions of this module do their work and nothing else.
"""

import json
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from cardai.errors import CardaiError, whole

T = TypeVar("T")

_HEARTBEAT = 30  # seconds without a sign of life after which a process counts as dead
_SENTENCE = 2000  # most bytes of an error that one process tells the others


def join(
    coordinator: str | None = None,
    processes: int | None = None,
    process: int | None = None,
    timeout: int = 300,
) -> None:
    """Make this process one of several that train together. Call it before JAX computes anything.

    `coordinator`: "HOST:PORT" of process 0, the same in all processes. `processes`: how many there are. `process`: the
    number of this one, from 0. Where all three are None, JAX asks Slurm, Open MPI or the cloud for them.
    `timeout`: the seconds in which all processes must have come.

    Raises CardaiError if the numbers do not fit, if JAX has computed before, or if not all processes came in time.
    """
    import jax

    given = coordinator, processes, process
    if None in given and given != (None, None, None):
        raise CardaiError("coordinator, processes and process belong together: give all three or none of them")
    if processes is not None and process is not None:
        whole("processes", processes, 1)
        if not 0 <= whole("process", process, 0) < processes:
            raise CardaiError(f"process must be 0 to {processes - 1} for {processes} processes, not {process}")
    if coordinator is not None and not coordinator.rpartition(":")[2].isdecimal():
        raise CardaiError(f"coordinator must be HOST:PORT, such as 10.0.0.1:9876, not {coordinator!r}")
    try:
        jax.distributed.initialize(
            coordinator,
            processes,
            process,
            initialization_timeout=timeout,
            heartbeat_timeout_seconds=_HEARTBEAT,
            shutdown_timeout_seconds=_HEARTBEAT,
        )
    except (RuntimeError, ValueError) as error:
        why = str(error).splitlines()[0]
        raise CardaiError(f"the processes of this training did not come together: {why}") from None


def join_as_told(coordinator: str | None, processes: str | None, process: int | None) -> None:
    """Join the others as the options of a command say: texts as given, None for what was not given.

    `processes`: a number, or "auto": Slurm or Open MPI says everything. Without any option nothing is done.
    """
    if processes == "auto":
        if (coordinator, process) != (None, None):
            raise CardaiError("processes auto: Slurm or Open MPI says the coordinator and the process, so give neither")
        join()
    elif (coordinator, processes, process) != (None, None, None):
        if processes is not None and not processes.isdecimal():
            raise CardaiError(f"processes must be a number or auto, not {processes!r}")
        join(coordinator, None if processes is None else int(processes), process)


def count() -> int:
    """Return the number of processes that train together: 1 in a process that has joined no others."""
    import jax

    return jax.process_count()


def number() -> int:
    """Return the number of this process, from 0."""
    import jax

    return jax.process_index()


def together(work: Callable[[], T]) -> T:
    """Do some work in every process, and return its result once all of them have done theirs.

    Raises CardaiError in every process if the work raised one in any of them.
    """
    if count() == 1:
        return work()
    result, sentence = None, b""
    try:
        result = work()
    except CardaiError as error:
        sentence = str(error).encode()[:_SENTENCE] or b"error"
    from jax.experimental import multihost_utils

    padded = np.zeros(_SENTENCE, np.uint8)
    padded[: len(sentence)] = np.frombuffer(sentence, np.uint8)
    everybodys = np.asarray(multihost_utils.process_allgather(padded)).reshape(count(), _SENTENCE)
    for i, theirs in enumerate(everybodys):
        if theirs.any():
            words = theirs.tobytes().rstrip(b"\0").decode(errors="replace")
            raise CardaiError(words if i == number() else f"process {i}: {words}")
    return result  # pyright: ignore[reportReturnType]


def of_first(work: Callable[[], bytes]) -> bytes:
    """Do some work in process 0, and return its result in every process. Raises CardaiError in all if it failed."""
    content = together(lambda: work() if number() == 0 else b"")
    if count() == 1:
        return content
    from jax.experimental import multihost_utils

    size = int(multihost_utils.broadcast_one_to_all(np.uint32(len(content))))
    mine = np.frombuffer(content, np.uint8) if number() == 0 else np.zeros(size, np.uint8)
    return np.asarray(multihost_utils.broadcast_one_to_all(mine)).astype(np.uint8).tobytes()


def refuse_differences(**values: Any) -> None:
    """Raise CardaiError in every process unless all of them have the same values, which are types that JSON has."""
    if count() == 1:
        return
    first = json.loads(of_first(lambda: json.dumps(values).encode()))

    def compare() -> None:
        for name, value in json.loads(json.dumps(values)).items():
            if value != first[name]:
                raise CardaiError(f"its {name} is not that of process 0: all must have the same config and records")

    together(compare)
