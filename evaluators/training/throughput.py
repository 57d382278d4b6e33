"""The speed of training, beside an upper bound: the speed of a step's matrix products alone."""

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
from cardai.evaluators.bodies.build import build
from cardai.evaluators.scorer import device_of
from cardai.evaluators.training.batches import epoch_batches, in_advance
from cardai.evaluators.training.config import TrainConfig
from cardai.evaluators.training.devices import TrainingDevices
from cardai.evaluators.training.job import TrainingJob
from cardai.evaluators.training.start import total_steps
from cardai.evaluators.training.trainer import Trainer
from cardai.registry import load

_PRODUCTS = ("dot_general", "conv_general_dilated")


@dataclass(frozen=True)
class Throughput:
    """How fast training is.

    `states_per_second`: the speed of training steps, with batches fetched from the dataset as `train` does.
    `bound`: the speed if a step did nothing but the matrix products of its forward and backward pass.
    `gflops`: the speed of these products, in 10^9 operations a second.
    """

    states_per_second: float
    bound: float
    gflops: float
    batch: int
    device: str

    @property
    def share(self) -> float:
        """The share of the bound that is reached, in [0, 1]."""
        return self.states_per_second / self.bound


def throughput(config: TrainConfig, dataset: Dataset, rounds: int = 5) -> Throughput:
    """Measure training steps and their matrix products alone, in turn. Speeds are medians over the rounds.

    The products are those in JAX's trace of a step, with the same shapes, of random numbers. Raises CardaiError as
    `train` does.
    """
    device = device_of(config.device)
    job = TrainingJob(config, load(config.game), dataset, TrainingDevices((device,)))
    batches_of_epochs = (epoch_batches(config, epoch, job.training) for epoch in itertools.count())
    places = itertools.chain.from_iterable(batches_of_epochs)
    with jax.default_device(device):
        module = build(config.body, config.options, dataset.layout, config.seed)
        trainer = Trainer(module, config, total_steps(config, job.per_epoch))
        state = jax.device_put(trainer.start(), device)
        first = job.fetch(job.training[: config.batch])
        products, operations = products_of(jax.make_jaxpr(trainer.step)(state, *first))
        jax.block_until_ready(products())
        with contextlib.closing(in_advance(job.fetch, places)) as batches:
            state, loss = trainer.step(state, *next(batches))
            loss.block_until_ready()
            steps = _steps_in(1.0, products)
            step_seconds, product_seconds = [], []
            for _ in range(rounds):
                began = time.perf_counter()
                for _ in range(steps):
                    state, loss = trainer.step(state, *next(batches))
                loss.block_until_ready()
                step_seconds.append((time.perf_counter() - began) / steps)
                product_seconds.append(_seconds(products, steps))
    step, product = statistics.median(step_seconds), statistics.median(product_seconds)
    return Throughput(
        config.batch / step, config.batch / product, operations / product / 1e9, config.batch, str(device)
    )


def products_of(traced: ClosedJaxpr) -> tuple[Callable[[], Any], float]:
    """Return a jitted function that does only the matrix products and convolutions of a trace, and their operations.

    A product in a loop counts once.
    """
    equations = list(_products_in(traced.jaxpr))
    inputs = [[_numbers(i, variable.aval) for i, variable in enumerate(equation.invars)] for equation in equations]

    def products(inputs: list[list[jax.Array]]) -> list[jax.Array]:
        pairs = zip(equations, inputs, strict=True)
        return [equation.primitive.bind(*given, **equation.params) for equation, given in pairs]

    compiled = jax.jit(products)
    return lambda: compiled(inputs), sum(map(_operations, equations))


def _products_in(jaxpr: Jaxpr) -> Iterator[JaxprEqn]:
    """Yield the products and convolutions of a trace, also those of the functions that it calls."""
    for equation in jaxpr.eqns:
        if equation.primitive.name in _PRODUCTS:
            yield equation
        for value in equation.params.values():
            for inner in value if isinstance(value, tuple | list) else (value,):
                if isinstance(inner, ClosedJaxpr):
                    yield from _products_in(inner.jaxpr)
                elif isinstance(inner, Jaxpr):
                    yield from _products_in(inner)


def _numbers(seed: int, shaped: Any) -> jax.Array:
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shaped.shape, np.float32), shaped.dtype)


def _operations(product: JaxprEqn) -> float:
    """Return the number of multiplications and additions of a product."""
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
