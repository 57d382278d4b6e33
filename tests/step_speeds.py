"""Decisions a second of evenly random play on one core: `cardai.play`, `cardai.Batch`, adapters and other libraries.

    taskset -c 0 python tests/step_speeds.py                         # Tic-Tac-Toe, Durak, Hearts
    taskset -c 0 python tests/step_speeds.py durak --seconds 2 --repeats 9

Every round measures each of them once, so that other work on the machine slows all alike. Printed are the median and
the range over the rounds, and the speed divided by that of `cardai.play` in the same round. Libraries that are not
installed are left out (`pip install 'cardai[zoo]' pygame 'pgx>=2'`).
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np

import cardai
from cardai.agents.spec import evenly_random
from cardai.stats.deals import deal_seeds
from cardai.stats.machine import machine

SEATS = {"tictactoe": 2, "durak": 2, "hearts": 4}
Run = Callable[[float], tuple[int, float]]
"""Plays for about so many seconds. Returns (decisions, seconds that they took)."""


def by_play(name: str) -> Run:
    """What `cardai perf` times: evenly random agents at the table, in one thread."""
    game, seats = cardai.load(name), SEATS[name]
    agents, games = [evenly_random(game)], 256

    def run(seconds: float) -> tuple[int, float]:
        nonlocal games
        results = cardai.play(game, agents, np.zeros((games, seats), np.int64), deal_seeds(0, games), threads=1)
        games = max(16, int(games * seconds / max(results.seconds, 1e-3)))
        return results.decisions, results.seconds

    return run


def by_batch(name: str, count: int, draws: str) -> Run:
    """Steps in a loop: moves drawn by NumPy or by the batch itself, or actions drawn from the masks."""
    batch, rng = cardai.Batch(cardai.load(name), count, seats=SEATS[name]), np.random.default_rng(0)

    def step() -> None:
        if draws == "numpy":
            batch.step((rng.random(count, np.float32) * batch.counts).astype(np.int64))
        elif draws == "batch":
            batch.step(batch.draw())
        else:
            batch.encode()
            batch.step_actions((rng.random((count, batch.actions), np.float32) * batch.masks()).argmax(axis=1))

    def run(seconds: float) -> tuple[int, float]:
        begin, decisions = time.perf_counter(), 0
        while (took := time.perf_counter() - begin) < seconds:
            for _ in range(16):
                step()
            decisions += 16 * count
        return decisions, took

    return run


def by_environment(env: "object") -> Run:
    """One of PettingZoo's environments, ours or its own, with `action_space.sample(mask)`."""

    def run(seconds: float) -> tuple[int, float]:
        begin, decisions = time.perf_counter(), 0
        while (took := time.perf_counter() - begin) < seconds:
            env.reset(seed=decisions)
            for agent in env.agent_iter():
                observation, _, is_over, is_cut, _ = env.last()
                if is_over or is_cut:
                    env.step(None)
                    continue
                env.step(env.action_space(agent).sample(observation["action_mask"]))
                decisions += 1
        return decisions, took

    return run


def by_pgx(count: int) -> Run:
    """Pgx's Tic-Tac-Toe: one jitted, vmapped step with autoreset for a batch, called in a loop."""
    import jax
    import pgx
    from pgx.experimental import act_randomly, auto_reset

    env = pgx.make("tic_tac_toe")

    @jax.jit
    def step(state, key):
        drawn, reset = jax.random.split(key)
        actions = act_randomly(drawn, state.legal_action_mask)
        return jax.vmap(auto_reset(env.step, env.init))(state, actions, jax.random.split(reset, count))

    key = jax.random.PRNGKey(0)
    state = jax.vmap(env.init)(jax.random.split(key, count))
    state = step(state, key)

    def run(seconds: float) -> tuple[int, float]:
        nonlocal state, key
        begin, decisions = time.perf_counter(), 0
        while (took := time.perf_counter() - begin) < seconds:
            for _ in range(16):
                key, own = jax.random.split(key)
                state = step(state, own)
            state.rewards.block_until_ready()
            decisions += 16 * count
        return decisions, took

    return run


def runs_of(name: str, count: int) -> Iterator[tuple[str, Run]]:
    """Everything that is measured on a game."""
    yield "cardai.play, random", by_play(name)
    yield "cardai.Batch, choices drawn by NumPy", by_batch(name, count, "numpy")
    yield "cardai.Batch, choices by draw()", by_batch(name, count, "batch")
    if cardai.load(name).actions:
        yield "cardai.Batch, encode, masks, actions by NumPy", by_batch(name, count, "masks")
    try:
        from cardai.adapters import aec

        yield "PettingZoo, cardai.adapters.aec", by_environment(aec(name, seats=SEATS[name]))
    except cardai.CardaiError as error:
        print(f"left out: {error}")
    if name == "tictactoe":
        try:
            from pettingzoo.classic import tictactoe_v3

            yield "PettingZoo, its own tictactoe_v3", by_environment(tictactoe_v3.env())
        except ImportError as error:
            print(f"left out: PettingZoo's own Tic-Tac-Toe ({error})")
        try:
            yield "Pgx, its own tic_tac_toe", by_pgx(count)
        except ImportError as error:
            print(f"left out: Pgx ({error})")


def measure(name: str, count: int, seconds: float, repeats: int) -> None:
    """Print the table of one game."""
    runs = list(runs_of(name, count))
    for _, run in runs:
        run(seconds / 2)  # compiles and warms up
    speeds: dict[str, list[float]] = {label: [] for label, _ in runs}
    for _ in range(repeats):
        for label, run in runs:
            decisions, took = run(seconds)
            speeds[label].append(decisions / took)
    first = speeds[runs[0][0]]
    print(f"\n{name}, {SEATS[name]} seats, {count} games in a batch: decisions a second")
    for label, own in speeds.items():
        ratio = statistics.median(speed / base for speed, base in zip(own, first, strict=True))
        print(f"{label:<46} {statistics.median(own):>12,.0f} ({min(own):,.0f} to {max(own):,.0f})  x {ratio:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("games", nargs="*", default=list(SEATS), help="tictactoe, durak, hearts")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long each measurement takes")
    parser.add_argument("--repeats", type=int, default=7, help="rounds")
    parser.add_argument("--count", type=int, default=1024, help="games in a batch")
    options = parser.parse_args()
    print(machine())
    for name in options.games:
        measure(name, options.count, options.seconds, options.repeats)


if __name__ == "__main__":
    main()
