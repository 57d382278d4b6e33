"""Decisions a second of evenly random play on one core: `cardai.play`, `cardai.Batch`, adapters and other libraries.

    taskset -c 0 python tests/guests/adapters/step_speeds.py                         # Tic-Tac-Toe, Durak, Hearts
    taskset -c 0 python tests/guests/adapters/step_speeds.py durak --seconds 2 --repeats 9

Every round measures each of them once, so that other work on the machine slows all alike. Printed are the median and
the range over the rounds, and the speed divided by that of `cardai.play` in the same round. Libraries that are not
installed are left out (`pip install '.[zoo]' pygame 'pgx>=2'`). A batch and Pgx give the same: observations,
masks, sampled actions, rewards, and the next game where one ends; each is measured with several batch sizes.
"""

import argparse
import itertools
import statistics
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import cardai
from cardai.experiments import peers_steps
from cardai.measure.speed import SelfPlay, Timed, timed
from cardai.playing.agents.spec import evenly_random
from cardai.playing.machine import machine

SEATS = {"tictactoe": 2, "durak": 2, "hearts": 4}
Run = Callable[[float], Timed]
"""Plays for about so many seconds. Returns the decisions and the seconds that they took."""


def by_play(name: str) -> Run:
    """What `cardai perf` times: evenly random agents at the table, in one thread."""
    game, seats = cardai.load(name), SEATS[name]
    alone = SelfPlay(game, evenly_random(game), seats)
    games = alone.games_in(0.1)
    return partial(timed, lambda: alone.play(games).decisions)


def by_batch(name: str, count: int, observes: bool) -> Run:
    """Steps in a loop with actions that the batch samples: masks, rewards, last views, autoreset, and observations."""
    batch = cardai.Batch(cardai.load(name), count, seats=SEATS[name], observes=observes)

    def some() -> int:
        for _ in range(16):
            batch.step(batch.sample())
        return 16 * count

    return partial(timed, some)


def by_copying(name: str, count: int) -> Run:
    """Copies the observations of a batch, and no game is played: how fast bytes are written at best."""
    rows = cardai.Batch(cardai.load(name), count, seats=SEATS[name]).observations
    target = rows.copy()

    def some() -> int:
        for _ in range(16):
            np.copyto(target, rows)
        return 16 * count

    return partial(timed, some)


def by_environment(env: "object") -> Run:
    """One of PettingZoo's environments, ours or its own, with `action_space.sample(mask)`."""

    seeds = itertools.count()

    def game() -> int:
        decisions = 0
        env.reset(seed=next(seeds))
        for agent in env.agent_iter():
            observation, _, is_over, is_cut, _ = env.last()
            if is_over or is_cut:
                env.step(None)
                continue
            env.step(env.action_space(agent).sample(observation["action_mask"]))
            decisions += 1
        return decisions

    return partial(timed, game)


def by_pgx(count: int, is_tuned: bool) -> Run:
    """Pgx's Tic-Tac-Toe with what a batch gives, as `cardai.experiments.peers_steps` drives it."""
    steps = peers_steps.by_pgx(is_tuned, count)
    return partial(timed, lambda: steps()[1])


def runs_of(name: str, batches: list[int]) -> Iterator[tuple[str, Run]]:
    """Everything that is measured on a game."""
    yield "cardai.play, random", by_play(name)
    for size in batches:
        yield f"cardai.Batch, {size} games", by_batch(name, size, True)
    yield f"cardai.Batch, {batches[0]} games, no observations", by_batch(name, batches[0], False)
    yield f"copying {batches[0]} observations, no game", by_copying(name, batches[0])
    try:
        from cardai.guests.adapters import aec

        yield "PettingZoo, cardai.guests.adapters.aec", by_environment(aec(name, seats=SEATS[name]))
    except cardai.CardaiError as error:
        print(f"left out: {error}")
    if name == "tictactoe":
        try:
            from pettingzoo.classic import tictactoe_v3

            yield "PettingZoo, its own tictactoe_v3", by_environment(tictactoe_v3.env())
        except ImportError as error:
            print(f"left out: PettingZoo's own Tic-Tac-Toe ({error})")
        try:
            for size in batches:
                yield f"Pgx, its own way, {size} games", by_pgx(size, is_tuned=False)
                yield f"Pgx, tuned by us, {size} games", by_pgx(size, is_tuned=True)
        except ImportError as error:
            print(f"left out: Pgx ({error})")


def measure(name: str, batches: list[int], seconds: float, repeats: int) -> None:
    """Print the table of one game."""
    runs = list(runs_of(name, batches))
    for _, run in runs:
        run(seconds / 2)  # compiles and warms up
    speeds: dict[str, list[float]] = {label: [] for label, _ in runs}
    for _ in range(repeats):
        for label, run in runs:
            speeds[label].append(run(seconds).per_second)
    first = speeds[runs[0][0]]
    print(f"\n{name}, {SEATS[name]} seats: decisions a second")
    for label, own in speeds.items():
        ratio = statistics.median(speed / base for speed, base in zip(own, first, strict=True))
        print(f"{label:<46} {statistics.median(own):>12,.0f} ({min(own):,.0f} to {max(own):,.0f})  x {ratio:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("games", nargs="*", default=list(SEATS), help="tictactoe, durak, hearts")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long each measurement takes")
    parser.add_argument("--repeats", type=int, default=7, help="rounds")
    parser.add_argument("--batches", type=int, nargs="+", default=[1024, 4096], help="games in a batch")
    options = parser.parse_args()
    print(machine())
    for name in options.games:
        measure(name, options.batches, options.seconds, options.repeats)


if __name__ == "__main__":
    main()
