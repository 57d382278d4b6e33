"""Decisions a second of evenly random play on one core: `cardai.play`, `cardai.Batch` and the PettingZoo adapter.

    taskset -c 0 python tests/guests/adapters/step_speeds.py                         # Tic-Tac-Toe, Durak, Hearts
    taskset -c 0 python tests/guests/adapters/step_speeds.py durak --seconds 2 --repeats 9

Every round measures each of them once, so that other work on the machine slows all alike. Printed are the median and
the range over the rounds, and the speed divided by that of `cardai.play` in the same round. `cardai reproduce peers`
compares a batch with Pgx.
"""

import argparse
import itertools
import statistics
from functools import partial

import cardai
from cardai.experiments import peers_steps
from cardai.guests.adapters import aec
from cardai.measure.speed import SelfPlay, timed
from cardai.playing.agents.spec import evenly_random
from cardai.playing.machine import machine


def by_play(name):
    """What `cardai perf` times: evenly random agents at the table, in one thread. Returns how many decide in a call."""
    game = cardai.load(name)
    alone = SelfPlay(game, evenly_random(game), game.default_seats)
    games = alone.games_in(0.1)
    return lambda: alone.play(games).decisions


def by_batch(name, count):
    """Masks, sampled actions, rewards, last views, autoreset, and observations."""
    steps = peers_steps.by_batch(name, 1, count)
    return lambda: steps()[1]


def by_environment(env):
    """An environment of PettingZoo, with `action_space.sample(mask)`."""
    seeds = itertools.count()

    def game() -> int:
        env.reset(seed=next(seeds))
        for decisions, agent in enumerate(env.agent_iter()):  # noqa: B007
            observation, _, is_over, is_cut, _ = env.last()
            done = is_over or is_cut
            env.step(None if done else env.action_space(agent).sample(observation["action_mask"]))
        return decisions - len(env.possible_agents)

    return game


def runs_of(name):
    """Everything that is measured on a game."""
    yield "cardai.play, random", by_play(name)
    for size in (1024, 4096):
        yield f"cardai.Batch, {size} games", by_batch(name, size)
    yield "PettingZoo, cardai.guests.adapters.aec", by_environment(aec(name))


def measure(name: str, seconds: float, repeats: int) -> None:
    """Print the table of one game."""
    runs = {label: partial(timed, run) for label, run in runs_of(name)}
    for run in runs.values():
        run(seconds / 2)  # compiles and warms up
    rounds = [[run(seconds).per_second for run in runs.values()] for _ in range(repeats)]
    print(f"\n{name}: decisions a second")
    for place, label in enumerate(runs):
        own = [speeds[place] for speeds in rounds]
        ratio = statistics.median(speeds[place] / speeds[0] for speeds in rounds)
        print(f"{label:<46} {statistics.median(own):>12,.0f} ({min(own):,.0f} to {max(own):,.0f})  x {ratio:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("games", nargs="*", default=["tictactoe", "durak", "hearts"])
    parser.add_argument("--seconds", type=float, default=1.0, help="how long each measurement takes")
    parser.add_argument("--repeats", type=int, default=7, help="rounds")
    options = parser.parse_args()
    print(machine())
    for one in options.games:
        measure(one, options.seconds, options.repeats)
