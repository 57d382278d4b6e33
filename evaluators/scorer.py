"""A network as a function from rows to scores, compiled for a few batch sizes, on a chosen device.

score = Scorer(module).score
answer = score(rows)          # returns at once
scores = np.asarray(answer)   # waits
"""

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from cardai.errors import BadArgument, CardaiError, positive, short, unknown, whole
from cardai.evaluators.jax_start import check_devices, refuse_fork
from cardai.game.compiled.doors import check_text
from cardai.playing.agents.evaluator import DEVICES, SCORERS
from cardai.rules import JIT

if TYPE_CHECKING:
    import jax
    from flax import nnx

SMALLEST = 64
LARGEST = {"cpu": 4096, "gpu": 65536}
"""The largest batch by kind of device. A larger one scores no more rows a second, and its first score comes later."""

_device, _scorer = "auto", "auto"


def set_device(device: str = "auto", scorer: str = "auto") -> None:
    """Choose where all networks compute from now on, and what computes.

    `device`: "auto" (a GPU if there is one), "cpu" or "gpu". `scorer`: "native" for compiled code in the threads that
    play, on the CPU, "jax", or "auto": native for dense bodies that are not too large, unless the device is "gpu".

    Raises CardaiError for other names, for "gpu" if JAX finds none, and for "native" on a GPU or in plain Python.
    """
    global _device, _scorer
    if check_text("device", device) not in DEVICES:
        raise BadArgument(unknown("device", device, DEVICES))
    if check_text("scorer", scorer) not in SCORERS:
        raise BadArgument(unknown("scorer", scorer, SCORERS))
    if device == "gpu":
        device_of(device)
    if scorer == "native" and device == "gpu":
        raise CardaiError("scorer 'native' computes on the CPU; on a GPU the scorer is 'jax'")
    if scorer == "native" and not JIT:
        raise CardaiError("scorer 'native' is compiled code, and CARDAI_JIT=0 compiles nothing")
    _device, _scorer = device, scorer


def chosen() -> tuple[str, str]:
    """Returns the device and the scorer that were chosen by `set_device`."""
    return _device, _scorer


def device_of(name: str | None = None) -> Any:
    """Return the JAX device of this name, by default the chosen one. Raises CardaiError if it does not exist."""
    name = _device if name is None else name
    if check_text("device", name) not in DEVICES:
        raise BadArgument(unknown("device", name, DEVICES))
    check_devices()
    import jax

    try:
        return jax.local_devices(backend=None if name == "auto" else name)[0]
    except RuntimeError:
        there = ", ".join(sorted({device.platform for device in jax.devices()}))
        raise CardaiError(f"device {name!r}: JAX finds none here, only {there}") from None


class Scores:
    """Scores that a device may still be computing: `np.asarray` waits for them, f4[n] in [0, 1]."""

    def __init__(self, parts: "list[tuple[jax.Array, int]]") -> None:
        self._parts = parts

    def __len__(self) -> int:
        return sum(n for _, n in self._parts)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        parts = [np.asarray(part)[:n] for part, n in self._parts]
        scores = np.concatenate(parts) if parts else np.zeros(0, np.float32)
        return scores if dtype is None else scores.astype(dtype, copy=False)


class Scorer:
    """Scores rows with a network in evaluation mode: the sigmoid of its logits.

    Rows are scored in batches whose sizes are powers of two from `SMALLEST` to `batch` (see `pieces`). The network is
    traced and compiled once for each of these sizes, for all networks of the same structure together. The other rows of
    a batch change a row's score by rounding alone, by less than 1e-6.
    """

    def __init__(self, module: "nnx.Module", device: str | None = None, batch: int | None = None) -> None:
        check_devices()
        import jax
        from flax import nnx

        from cardai.evaluators.bodies.layers import evaluating

        self.device = device_of(device)
        if not isinstance(module, nnx.Module):
            raise BadArgument(f"module must be a network (a flax nnx.Module), not {short(module)}")
        self.batch = (None if batch is None else positive("batch", batch)) or LARGEST.get(
            self.device.platform, LARGEST["gpu"]
        )
        fold = getattr(module, "folded", None)
        graph, state = nnx.split(fold() if fold else evaluating(module))
        self._weights = jax.device_put(nnx.as_pure(state), self.device)
        try:
            self._score = _compiled(graph)
        except TypeError:  # somebody else's network has an attribute that cannot be hashed
            self._score = _compiled.__wrapped__(graph)

    def score(self, rows: np.ndarray) -> Scores:
        """Score rows u8[n, width] -> f4[n] in [0, 1]. `rows` may not be changed before the scores were waited for.

        Raises CardaiError for rows of another type or with another number of dimensions.
        """
        import jax

        refuse_fork()
        if not isinstance(rows, np.ndarray) or rows.dtype != np.uint8 or rows.ndim != 2:
            raise BadArgument(f"rows must be an array u8[n, width], not {short(rows)}")
        parts, first = [], 0
        for size in pieces(len(rows), self.batch):
            piece = rows[first : first + size]
            n, first = len(piece), first + len(piece)
            if n < size:
                piece = np.concatenate([piece, np.zeros((size - n, rows.shape[1]), np.uint8)])
            try:
                scores = self._score(self._weights, jax.device_put(piece, self.device))
            except TypeError as error:  # only the network knows how wide its rows are
                raise BadArgument(f"rows u8[n, {rows.shape[1]}] do not fit the network: {short(error)}") from None
            parts.append((scores, n))
        return Scores(parts)


def _scores(graph: Any, weights: Any, rows: "jax.Array") -> "jax.Array":
    """The scores of rows u8[n, width] by a network in two parts: f4[n]. It is traced once for each graph and n."""
    import chex
    import jax
    from flax import nnx

    chex.assert_rank(rows, 2)
    chex.assert_type(rows, jax.numpy.uint8)
    with jax.default_matmul_precision("highest"):  # else GPUs round to ten bits, and agree with no CPU
        scores = jax.nn.sigmoid(nnx.merge(graph, weights)(rows))
    chex.assert_shape(scores, (len(rows),))
    return scores


@functools.cache
def _compiled(graph: Any) -> Any:
    import jax

    return jax.jit(functools.partial(_scores, graph))


def pieces(n: int, largest: int) -> list[int]:
    """Return the sizes of the batches in which n rows are scored: powers of two, at least SMALLEST.

    Only the last batch is not full: at most a quarter of it, or fewer than SMALLEST of its rows, are empty.
    """
    n, largest, sizes = whole("n", n, 0), positive("largest", largest), []
    while n > 0:
        size = SMALLEST
        while size < min(n, largest):
            size *= 2
        if size > 2 * SMALLEST and 4 * n < 3 * size:
            size //= 2
        sizes.append(size)
        n -= size
    return sizes
