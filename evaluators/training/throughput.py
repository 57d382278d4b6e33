"""How fast training is, beside the fastest it could be: the matrix products of a step alone, timed in the same run."""

import contextlib
import itertools
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

from cardai.data.dataset import Dataset
from evaluators.bodies.build import build
from evaluators.scorer import device_of
from evaluators.training.batches import epoch_order, in_advance, split_states, total_steps
from evaluators.training.config import TrainConfig
from evaluators.training.trainer import Trainer

_PRODUCTS = ("dot_general", "conv_general_dilated")


@dataclass(frozen=True)
class Throughput:
    """States learned from in a second: by `train`'s steps, batches fetched from the dataset as it does; and what the
    matrix products of a step's forward and backward pass alone allow. `gflops`: their speed, 10^9 a second.
    """

    states_per_second: float
    bound: float
    gflops: float
    batch: int
    device: str

    @property
    def share(self) -> float:
        """How much of the bound is reached, 1 is all."""
        return self.states_per_second / self.bound


def throughput(config: TrainConfig, dataset: Dataset, rounds: int = 5) -> Throughput:
    """Time training steps and their matrix products alone, in turn, and take the median of some rounds of each.

    The products are those that JAX's own trace of the step contains, with their shapes, on random numbers; nothing is
    done with their results. Raises CardaiError as `train` does.
    """
    device = device_of(config.device)
    training, batch = split_states(config, dataset)[0], config.batch
    per_epoch = len(training) // batch

    def places() -> Iterator[np.ndarray]:
        for epoch in itertools.count():
            order = epoch_order(config.seed, epoch, training)
            yield from (order[i * batch : (i + 1) * batch] for i in range(per_epoch))

    def fetched(some: np.ndarray) -> Any:
        return jax.device_put((dataset.take(some), dataset.labels[some]), device)

    with jax.default_device(device):
        trainer = Trainer(
            build(config.body, config.options, dataset.layout, config.seed), config, total_steps(config, per_epoch)
        )
        state = jax.device_put(trainer.start(), device)
        first = fetched(training[:batch])
        products, flops = products_of(jax.make_jaxpr(trainer.step)(state, *first))
        jax.block_until_ready(products())
        with contextlib.closing(in_advance(fetched, places())) as batches:
            state, loss = trainer.step(state, *next(batches))
            loss.block_until_ready()
            steps = _steps_in(1.0, products)
            learned, alone = [], []
            for _ in range(rounds):
                began = time.perf_counter()
                for _ in range(steps):
                    state, loss = trainer.step(state, *next(batches))
                loss.block_until_ready()
                learned.append((time.perf_counter() - began) / steps)
                alone.append(_seconds(products, steps))
    step, product = statistics.median(learned), statistics.median(alone)
    return Throughput(batch / step, batch / product, flops / product / 1e9, batch, str(device))


def products_of(traced: ClosedJaxpr) -> tuple[Callable[[], Any], float]:
    """A jitted function that does the matrix products and convolutions of a trace alone, and its operations.

    Products in loops count once.
    """
    found = list(_found(traced.jaxpr))
    inputs = [[_numbers(place, variable.aval) for place, variable in enumerate(one.invars)] for one in found]

    def products(inputs: list[list[jax.Array]]) -> list[jax.Array]:
        return [one.primitive.bind(*given, **one.params) for one, given in zip(found, inputs, strict=True)]

    compiled = jax.jit(products)
    return lambda: compiled(inputs), sum(map(_operations, found))


def _found(jaxpr: Jaxpr) -> Iterator[JaxprEqn]:
    for one in jaxpr.eqns:
        if one.primitive.name in _PRODUCTS:
            yield one
        for value in one.params.values():
            for inner in value if isinstance(value, tuple | list) else (value,):
                if isinstance(inner, ClosedJaxpr):
                    yield from _found(inner.jaxpr)
                elif isinstance(inner, Jaxpr):
                    yield from _found(inner)


def _numbers(seed: int, shaped: Any) -> jax.Array:
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shaped.shape, np.float32), shaped.dtype)


def _operations(product: JaxprEqn) -> float:
    """Multiplications and additions of a product."""
    out = product.outvars[0].aval.size  # pyright: ignore[reportAttributeAccessIssue]
    left, right = (variable.aval for variable in product.invars)
    if product.primitive.name == "dot_general":
        (axes, _), _ = product.params["dimension_numbers"]
        return 2.0 * out * np.prod([left.shape[axis] for axis in axes])  # pyright: ignore[reportAttributeAccessIssue]
    out_features = right.shape[product.params["dimension_numbers"].rhs_spec[0]]  # pyright: ignore[reportAttributeAccessIssue]
    return 2.0 * out * right.size / out_features  # pyright: ignore[reportAttributeAccessIssue]


def _steps_in(seconds: float, work: Callable[[], Any]) -> int:
    return max(1, round(seconds / _seconds(work, 1)))


def _seconds(work: Callable[[], Any], times: int) -> float:
    began = time.perf_counter()
    for _ in range(times):
        done = work()
        jax.block_until_ready(done)
    return (time.perf_counter() - began) / times
