"""Random play beside Pgx, OpenSpiel and RLCard: decisions a second, by the clock and by processor time.

Each round goes once through everybody, so that what else the machine does meanwhile hits all alike, and how many times
as fast cardai is is taken within a round. What is counted, and how each library is driven: docs/peers.md.

Source of the claim: Vahteristo 2023, section 2.1: the thesis' engine plays 0.1-10 games of Moska a second on a core.
"""

# pyright: reportMissingImports=false
# The libraries are there with the extra "peers" only, and imported where they are used.

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from cardai.agents.spec import agent
from cardai.registry import load
from cardai.stats.machine import default_threads
from cardai.table.many import Results, play
from experiments.machinery.findings import Claim, Finding, Findings, Measurement, over_seeds
from experiments.machinery.lab import Lab

BOARD, HANDS = "Tic-Tac-Toe", "Hidden hands"
MOSKA = "cardai Moska, one thread"
PACKAGES = {"Pgx": "pgx", "JAX": "jax", "OpenSpiel": "open_spiel", "RLCard": "rlcard"}
PGX_STEPS = 100  # moves of each game in one call of Pgx's own way
LONGEST = 9  # moves of a game of Tic-Tac-Toe
SETUP, GAMES, DECISIONS, THRIFT, CHOICES, CLOCK, PROCESSOR = (
    "setup", "games/s", "decisions/s", "a processor second", "with a choice, %", "cardai is, by the clock",
    "by processor time",
)  # fmt: skip
ENGINE = Claim(10.0, better="higher", within=0.0, words="0.1-10")


@dataclass(frozen=True)
class Scale:
    """`seconds`: of a measurement; `rounds`: measurements of each; `batches`: of Pgx, the fastest counts.

    `choices`: games a round in which decisions with a choice are counted; RLCard, by far the slowest, gets a twentieth.
    """

    seconds: float
    rounds: int
    batches: tuple[int, ...]
    choices: int


SCALES = {
    "smoke": Scale(0.02, 2, (64,), 40),
    "small": Scale(3.0, 5, (1024, 4096, 16384, 65536), 400),
    "full": Scale(10.0, 9, (1024, 4096, 16384, 65536, 262144), 2000),
}


class Played(NamedTuple):
    """How much one call has played."""

    games: int
    decisions: int


@dataclass(frozen=True)
class Loop:
    """Somebody who is ready to play: one call, and a share of decisions with a choice, in percent, where counted."""

    play: Callable[[], Played]
    choices: Callable[[], float] | None = None


@dataclass(frozen=True)
class Contestant:
    """One way to play one game. `ready` imports, compiles and warms up; it gets the batch if it `batches`, else 0."""

    table: str
    name: str
    ready: Callable[[Scale, int], Loop]
    batches: bool = False

    @property
    def is_ours(self) -> bool:
        return self.name.startswith("cardai")


@cache
def contestants(threads: int) -> tuple[Contestant, ...]:
    """Everybody: ours first in each table, with one thread and, if there are more, with all."""
    found = []
    for table, label, game in ((BOARD, "cardai", "tictactoe"), (HANDS, "cardai Moska", "moska")):
        found.append(Contestant(table, f"{label}, one thread", partial(_ours, game, 1)))
        if threads > 1:
            found.append(Contestant(table, f"{label}, {threads} threads", partial(_ours, game, threads)))
        found += _others(table)
    return tuple(found)


def _others(table: str) -> list[Contestant]:
    if table == BOARD:
        return [
            Contestant(table, "Pgx (its own way)", partial(_pgx, pgx_own_way), batches=True),
            Contestant(table, "Pgx (tuned by us)", partial(_pgx, pgx_tuned), batches=True),
            Contestant(table, "OpenSpiel (as its example.py)", partial(_open_spiel, "tic_tac_toe", False)),
            Contestant(table, "OpenSpiel (tuned by us)", partial(_open_spiel, "tic_tac_toe", True)),
        ]
    return [
        Contestant(table, "OpenSpiel Hearts (as its example.py)", partial(_open_spiel, "hearts", False)),
        Contestant(table, "OpenSpiel Hearts (tuned by us)", partial(_open_spiel, "hearts", True)),
        Contestant(table, "RLCard Dou Dizhu", partial(_rlcard, "doudizhu")),
        Contestant(table, "RLCard Uno", partial(_rlcard, "uno")),
    ]


def run(lab: Lab) -> Findings:
    """Choose Pgx's batches, then measure everybody once a round."""
    ready = cache(lambda one, batch: one.ready(lab.size, batch))
    setup = lab.piece(SETUP, lambda: _setup(lab, ready), repeats=False)
    tried = setup["tried"]
    everybody = [(one, fastest(tried[one.name]) if one.batches else 0) for one in contestants(setup["threads"])]
    rounds = {}
    for number in range(1, lab.size.rounds + 1):
        key = f"round-{number}"
        rounds[key] = lab.piece(key, partial(_round, lab, ready, everybody), repeats=False)
    rows = figures([one for one, _ in everybody], list(rounds.values()), " ".join(rounds))
    return Findings(rows, setup)


def fastest(tried: Mapping[str, float]) -> int:
    """The batch with the most decisions a second."""
    return int(max(tried, key=lambda batch: tried[batch]))


def _setup(lab: Lab, ready: Callable[[Contestant, int], Loop]) -> dict[str, Any]:
    """Threads and versions, and how fast whoever plays in batches is with each size of them."""
    threads, tried = default_threads(), {}
    for one in (one for one in contestants(threads) if one.batches):
        tried[one.name] = {}
        for batch in lab.size.batches:
            lab.tell(len(tried[one.name]), len(lab.size.batches), f"{one.name}, batches of {batch}")
            rates = timed(ready(one, batch).play, min(lab.size.seconds, 1.0))
            tried[one.name][str(batch)] = rates["decisions_per_second"]
    return {"threads": threads, "versions": {name: version(told) for name, told in PACKAGES.items()}, "tried": tried}


def _round(lab: Lab, ready: Callable[[Contestant, int], Loop], everybody: Sequence[tuple[Contestant, int]]) -> Any:
    """{name: its rates}, everybody measured once, when all are ready."""
    loops = {}
    for one, batch in everybody:
        lab.tell(len(loops), len(everybody), f"{one.table}: {one.name} gets ready")
        loops[one.name] = ready(one, batch)
    found = {}
    for name, loop in loops.items():
        lab.tell(len(found), len(loops), name)
        found[name] = timed(loop.play, lab.size.seconds)
        found[name]["choices"] = loop.choices() if loop.choices else None
    return found


def timed(one: Callable[[], Played], seconds: float) -> dict[str, Any]:
    """Rates of calls repeated until so many seconds have passed."""
    games = decisions = 0
    began, used = time.perf_counter(), time.process_time()
    while time.perf_counter() - began < seconds:
        played = one()
        games, decisions = games + played.games, decisions + played.decisions
    wall, used = time.perf_counter() - began, time.process_time() - used
    return {
        "games_per_second": games / wall,
        "decisions_per_second": decisions / wall,
        "decisions_per_processor_second": decisions / used,
    }


def figures(everybody: Sequence[Contestant], rounds: Sequence[Mapping[str, Any]], piece: str) -> list[Finding]:
    """The rows of all rounds; how many times as fast ours is, for the others."""
    rows = []
    for one in everybody:
        ours = [other.name for other in everybody if other.table == one.table and other.is_ours]
        columns = {
            GAMES: (values(rounds, one.name, "games_per_second"), 0),
            DECISIONS: (values(rounds, one.name, "decisions_per_second"), 0),
            THRIFT: (values(rounds, one.name, "decisions_per_processor_second"), 0),
        }
        if rounds[0][one.name]["choices"] is not None:
            columns[CHOICES] = values(rounds, one.name, "choices"), 0
        if not one.is_ours:
            columns[CLOCK] = times(rounds, ours[-1], one.name, "decisions_per_second"), 1
            columns[PROCESSOR] = times(rounds, ours[0], one.name, "decisions_per_processor_second"), 1
        for column, (told, places) in columns.items():
            claim = ENGINE if (one.name, column) == (MOSKA, GAMES) else None
            figure = over_seeds(told, "measurements") if column == CHOICES else speed(told)
            rows.append(Finding(f"{one.table}, random play", one.name, column, figure, claim, piece, places=places))
    return rows


def values(rounds: Sequence[Mapping[str, Any]], name: str, key: str) -> list[float]:
    """One figure of somebody, a value a round."""
    return [told[name][key] for told in rounds]


def times(rounds: Sequence[Mapping[str, Any]], ours: str, name: str, key: str) -> list[float]:
    """How many times as much we do, a value a round."""
    return [own / other for own, other in zip(values(rounds, ours, key), values(rounds, name, key), strict=True)]


def speed(rates: Sequence[float]) -> Measurement:
    """The geometric mean of positive rates, with Student's interval of their logarithms."""
    told = over_seeds([math.log(rate) for rate in rates], "measurements")
    point, low, high = (None if one is None else math.exp(one) for one in (told.point, told.low, told.high))
    return Measurement(point, low, high, told.n, told.counted)


def _ours(name: str, threads: int, size: Scale, _: int) -> Loop:
    """`cardai.table.many.play` with the agent `random`, new seeds in each call; a call takes about a second at most."""
    game = load(name)
    players, begun = [agent(game, "random")], 0

    def some(count: int, tally: bool = False) -> Results:
        nonlocal begun
        lineups = np.zeros((count, game.default_seats), np.int64)
        seeds = np.arange(begun, begun + count, dtype=np.uint64)
        begun += count
        results = play(game, players, lineups, seeds, threads=threads, tally=tally)
        if results.interrupted:
            raise KeyboardInterrupt
        return results

    some(64)
    began = time.perf_counter()
    some(2000)
    chunk = max(2000, int(2000 * min(size.seconds, 1.0) / (time.perf_counter() - began)))

    def choices() -> float:
        results = some(size.choices, tally=True)
        return 100 * float(results.tally[:, 0].sum() / results.plies.sum())

    return Loop(lambda: Played(chunk, some(chunk).decisions), choices)


def _pgx(make: Callable[[int], Callable[[], tuple[Any, Any]]], _: Scale, batch: int) -> Loop:
    """On the CPU, compiled before it is returned."""
    import jax

    processor = jax.devices("cpu")[0]

    def some() -> Played:
        with jax.default_device(processor):
            games, decisions = own()
            return Played(int(games), int(decisions))

    with jax.default_device(processor):
        own = make(batch)
    some()
    return Loop(some)


def pgx_own_way(batch: int) -> Callable[[], tuple[Any, Any]]:
    """Pgx's own random mover and auto-reset, in one scan: (games ended, decisions) of a call."""
    import jax
    import pgx
    from pgx.experimental.utils import act_randomly
    from pgx.experimental.wrappers import auto_reset

    env = pgx.make("tic_tac_toe")
    step = jax.vmap(auto_reset(env.step, env.init))

    def move(carry: Any, _: Any) -> Any:
        state, key = carry
        key, lots, resets = jax.random.split(key, 3)
        state = step(state, act_randomly(lots, state.legal_action_mask), jax.random.split(resets, batch))
        return (state, key), (state.terminated.sum(), state.rewards.sum())

    @jax.jit
    def advance(carry: Any) -> Any:
        carry, (ended, rewards) = jax.lax.scan(move, carry, None, length=PGX_STEPS)
        return carry, ended.sum(), rewards

    keys = jax.random.split(jax.random.key(0), batch)
    carry = jax.jit(jax.vmap(env.init))(keys), jax.random.key(1)

    def some() -> tuple[Any, Any]:
        nonlocal carry
        carry, ended, rewards = advance(carry)
        jax.block_until_ready(rewards)
        return ended, batch * PGX_STEPS  # auto-reset leaves no step without a decision

    return some


def pgx_tuned(batch: int) -> Callable[[], tuple[Any, Any]]:
    """Our best attempt: whole games without resets, one random number a move and all of them drawn at once."""
    import jax
    import jax.numpy as jnp
    import pgx

    env = pgx.make("tic_tac_toe")

    def move(state: Any, lots: Any) -> Any:
        live = ~state.terminated
        free = jnp.cumsum(state.legal_action_mask.astype(jnp.int32), axis=1)
        picked = (lots * free[:, -1]).astype(jnp.int32)
        state = jax.vmap(env.step)(state, jnp.argmax(free > picked[:, None], axis=1))
        return state, live.sum()

    @jax.jit
    def games(key: Any) -> Any:
        deals, lots = jax.random.split(key)
        state = jax.vmap(env.init)(jax.random.split(deals, batch))
        state, live = jax.lax.scan(move, state, jax.random.uniform(lots, (LONGEST, batch)))
        return state.terminated.sum(), live.sum(), state.rewards.sum()  # only steps of games going on are decisions

    key = jax.random.key(0)

    def some() -> tuple[Any, Any]:
        nonlocal key
        key, used = jax.random.split(key)
        ended, decisions, _ = jax.block_until_ready(games(used))
        return ended, decisions

    return some


def _open_spiel(name: str, is_tuned: bool, size: Scale, _: int) -> Loop:
    """Python drives one game at a time; `is_tuned` replaces random.choice by what costs Python least."""
    import pyspiel

    game, stream = pyspiel.load_game(name), random.Random(0)
    draw = stream.random

    def one(tally: list[int] | None = None) -> Played:
        decisions, state = 0, game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                moves, shares = zip(*state.chance_outcomes(), strict=True)
                if is_tuned and min(shares) == max(shares):  # an even deal needs no weights
                    state.apply_action(moves[int(draw() * len(moves))])
                else:
                    state.apply_action(stream.choices(moves, shares)[0])
                continue
            moves = state.legal_actions()
            if tally is not None:
                tally.append(len(moves))
            state.apply_action(moves[int(draw() * len(moves))] if is_tuned else stream.choice(moves))
            decisions += 1
        return Played(1, decisions)

    one()
    return Loop(one, lambda: with_a_choice(one, size.choices))


def _rlcard(name: str, size: Scale, _: int) -> Loop:
    """RLCard's own loop and random agent."""
    import rlcard
    from rlcard.agents import RandomAgent

    env = rlcard.make(name, config={"seed": 0})
    player = RandomAgent(env.num_actions)

    def one(tally: list[int] | None = None) -> Played:
        decisions, (state, _) = 0, env.reset()
        while not env.is_over():
            if tally is not None:
                tally.append(len(state["legal_actions"]))
            state, _ = env.step(player.step(state))
            decisions += 1
        return Played(1, decisions)

    one()
    return Loop(one, lambda: with_a_choice(one, -(-size.choices // 20)))


def with_a_choice(one: Callable[[list[int]], Played], games: int) -> float:
    """The percentage of decisions with more than one legal move in so many games; `one` notes how many there were."""
    tally: list[int] = []
    for _ in range(games):
        one(tally)
    return 100 * sum(moves > 1 for moves in tally) / len(tally)
