"""A network as a function from rows to scores: compiled for a few batch sizes, on a device that can be chosen.

score = Scorer(module).score
answer = score(rows)          # returns at once
scores = np.asarray(answer)   # waits
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from cardai.errors import CardaiError, unknown

if TYPE_CHECKING:
    import jax
    from flax import nnx

DEVICES = ("auto", "cpu", "gpu")
SMALLEST = 64
LARGEST = {"cpu": 4096, "gpu": 65536}
"""The largest batch by kind of device: beyond it rows per second grow no more, and the first answer comes later."""

_chosen = "auto"


def set_device(name: str) -> None:
    """Choose where networks compute from now on: "auto" (a GPU if there is one), "cpu" or "gpu".

    CardaiError for another name, and for "gpu" where JAX finds none. Scorers that exist stay where they are.
    """
    global _chosen
    if name not in DEVICES:
        raise CardaiError(unknown("device", name, DEVICES))
    if name == "gpu":
        device_of(name)
    _chosen = name


def device_of(name: str | None = None) -> Any:
    """The jax device of that name; None is the one `set_device` chose. CardaiError when there is none."""
    import jax

    name = _chosen if name is None else name
    if name not in DEVICES:
        raise CardaiError(unknown("device", name, DEVICES))
    try:
        return jax.devices(None if name == "auto" else name)[0]
    except RuntimeError:
        there = ", ".join(sorted({one.platform for one in jax.devices()}))
        raise CardaiError(f"device {name!r}: JAX finds none here, only {there}") from None


class Scores:
    """Scores on their way: `np.asarray` waits for them, f4[n] in [0, 1]."""

    def __init__(self, parts: "list[tuple[jax.Array, int]]") -> None:
        self._parts = parts

    def __len__(self) -> int:
        return sum(n for _, n in self._parts)

    def is_ready(self) -> bool:
        """Whether `np.asarray` would return at once."""
        return all(part.is_ready() for part, _ in self._parts)  # pyright: ignore[reportAttributeAccessIssue]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        parts = [np.asarray(part)[:n] for part, n in self._parts]
        scores = np.concatenate(parts) if parts else np.zeros(0, np.float32)
        return scores if dtype is None else scores.astype(dtype, copy=False)


class Scorer:
    """Scores rows by a network in evaluation mode: the sigmoid of its logits.

    Rows are sent as u8, in batches of powers of two from `SMALLEST` to `batch` (see `pieces`), so there are no more
    programs to compile than that (`traces` counts them). A row's score depends on what is scored with it by rounding
    alone: less than 1e-6.
    """

    def __init__(self, module: "nnx.Module", device: str | None = None, batch: int | None = None) -> None:
        import jax
        from flax import nnx

        from evaluators.bodies.layers import evaluating

        self.device = device_of(device)
        self.batch = batch or LARGEST.get(self.device.platform, LARGEST["gpu"])
        self.traces = 0
        fold = getattr(module, "folded", None)
        graph, state = nnx.split(fold() if fold else evaluating(module))
        self._weights = jax.device_put(nnx.as_pure(state), self.device)

        def score(weights: Any, rows: jax.Array) -> jax.Array:
            self.traces += 1
            with jax.default_matmul_precision("highest"):  # else GPUs round to ten bits, and agree with no CPU
                return jax.nn.sigmoid(nnx.merge(graph, weights)(rows))  # pyright: ignore[reportCallIssue]

        self._score = jax.jit(score)

    def score(self, rows: np.ndarray) -> Scores:
        """u8[n, width] -> f4[n] in [0, 1], on its way: `rows` must stay as they are until it has been waited for."""
        import jax

        parts, first = [], 0
        for size in pieces(len(rows), self.batch):
            piece = rows[first : first + size]
            n, first = len(piece), first + len(piece)
            if n < size:
                piece = np.concatenate([piece, np.zeros((size - n, rows.shape[1]), np.uint8)])
            parts.append((self._score(self._weights, jax.device_put(piece, self.device)), n))
        return Scores(parts)


def pieces(n: int, largest: int) -> list[int]:
    """The batch sizes that n rows are scored in: powers of two, at least SMALLEST; only the last is not full.

    At most a quarter of it is empty, or fewer than SMALLEST rows.
    """
    found = []
    while n > 0:
        size = SMALLEST
        while size < min(n, largest):
            size *= 2
        if size > 2 * SMALLEST and 4 * n < 3 * size:
            size //= 2
        found.append(size)
        n -= size
    return found
