"""Random play beside other libraries, in one run: decisions a second, medians over interleaved repeats.

    pip install -e ".[peers]"
    python benchmarks/peers.py [--seconds 3] [--repeats 3] [--processors 1] [--json FILE]

A library that is not installed keeps its rows, which say so. What is counted, and how each library is driven, stands in
benchmarks/README.md.
"""

import argparse
import importlib.util
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import cardai
from cardai.machine import machine
from cardai.table import default_threads

PGX_BATCHES = (1024, 4096, 16384, 65536)
PGX_STEPS = 100  # moves of each game in one call of Pgx's own way
CHOICE_GAMES = 400  # for the share of decisions with more than one legal move

Rate = Callable[[float], tuple[int, float]]
"""Plays for about so many seconds: (decisions made, seconds it took)."""


@dataclass
class Contestant:
    """One way of playing one game. `prepare` imports, compiles and warms up, and returns the thing that is measured."""

    workload: str
    name: str
    module: str
    prepare: Callable[[float], "Prepared"]
    rates: list[float] = field(default_factory=list)  # decisions a second
    economy: list[float] = field(default_factory=list)  # decisions a second of processor time
    prepared: "Prepared | None" = None

    @property
    def is_ours(self) -> bool:
        return self.module == "cardai"

    @property
    def rate(self) -> float:
        return statistics.median(self.rates)

    @property
    def thrift(self) -> float:
        return statistics.median(self.economy)


@dataclass
class Prepared:
    """`choices`: the share of decisions with more than one legal move, where it was counted."""

    play: Rate
    note: str = ""
    choices: float | None = None


# cardai


def ours(name: str, seats: int, threads: int) -> Callable[[float], Prepared]:
    def prepare(seconds: float) -> Prepared:
        from cardai.players import agent
        from cardai.table import play

        game = cardai.load(name)
        players = [agent(game, "random")]

        def run(count: int, tally: bool = False) -> Any:
            lineups, seeds = np.zeros((count, seats), np.int64), np.arange(count, dtype=np.uint64)
            return play(game, players, lineups, seeds, threads=threads, tally=tally)

        run(64)
        began = time.perf_counter()
        run(2000)
        chunk = max(2000, int(2000 * min(seconds, 1.0) / (time.perf_counter() - began)))
        tallied = run(CHOICE_GAMES, tally=True)

        def measured(limit: float) -> tuple[int, float]:
            return until(limit, lambda: run(chunk).decisions)

        return Prepared(
            measured, f"{threads} threads" if threads > 1 else "", tallied.tally[:, 0].sum() / tallied.plies.sum()
        )

    return prepare


def until(limit: float, play: Callable[[], int]) -> tuple[int, float]:
    """Call `play` until `limit` seconds have passed: the decisions it made, the seconds it took."""
    decisions, began = 0, time.perf_counter()
    while (passed := time.perf_counter() - began) < limit:
        decisions += play()
    return decisions, passed


# Pgx


def pgx_own_way(batch: int) -> Callable[[], int]:
    """Pgx's own random mover and auto-reset, in one scan."""
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
        return (state, key), state.rewards.sum()

    @jax.jit
    def advance(carry: Any) -> Any:
        return jax.lax.scan(move, carry, None, length=PGX_STEPS)

    keys = jax.random.split(jax.random.key(0), batch)
    carry = jax.jit(jax.vmap(env.init))(keys), jax.random.key(1)

    def play() -> int:
        nonlocal carry
        carry, rewards = advance(carry)
        jax.block_until_ready(rewards)
        return batch * PGX_STEPS  # auto-reset leaves no step without a decision

    return play


def pgx_tuned(batch: int) -> Callable[[], int]:
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
        state, live = jax.lax.scan(move, state, jax.random.uniform(lots, (9, batch)))
        return live.sum(), state.rewards.sum()  # only steps of games still going on are decisions

    key = jax.random.key(0)

    def play() -> int:
        nonlocal key
        key, used = jax.random.split(key)
        return int(jax.block_until_ready(games(used))[0])

    return play


def pgx(make: Callable[[int], Callable[[], int]]) -> Callable[[float], Prepared]:
    """Take the batch size that is fastest here."""

    def prepare(seconds: float) -> Prepared:
        found = {}
        for batch in PGX_BATCHES:
            play = make(batch)
            play()
            decisions, took = until(min(seconds, 1.0), play)
            found[batch] = (decisions / took, play)
        best = max(found, key=lambda batch: found[batch][0])
        return Prepared(lambda limit: until(limit, found[best][1]), f"batch {best}, best of {len(found)}")

    return prepare


# OpenSpiel


def open_spiel(name: str, tight: bool) -> Callable[[float], Prepared]:
    """Python drives one game at a time; `tight` replaces random.choice by what costs Python least."""

    def prepare(_: float) -> Prepared:
        import pyspiel

        game, stream = pyspiel.load_game(name), random.Random(0)
        draw = stream.random

        def play(tally: list[int] | None = None) -> int:
            decisions, state = 0, game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    moves, shares = zip(*state.chance_outcomes(), strict=True)
                    if tight and min(shares) == max(shares):  # an even deal needs no weights
                        state.apply_action(moves[int(draw() * len(moves))])
                    else:
                        state.apply_action(stream.choices(moves, shares)[0])
                    continue
                moves = state.legal_actions()
                if tally is not None:
                    tally.append(len(moves))
                state.apply_action(moves[int(draw() * len(moves))] if tight else stream.choice(moves))
                decisions += 1
            return decisions

        tally: list[int] = []
        for _ in range(CHOICE_GAMES):
            play(tally)
        return Prepared(lambda limit: until(limit, play), "", share_of_choices(tally))

    return prepare


def share_of_choices(tally: list[int]) -> float:
    return sum(n > 1 for n in tally) / len(tally)


# RLCard


def rlcard(name: str) -> Callable[[float], Prepared]:
    """RLCard's own loop and random agent."""

    def prepare(_: float) -> Prepared:
        import rlcard
        from rlcard.agents import RandomAgent

        env = rlcard.make(name, config={"seed": 0})
        player = RandomAgent(env.num_actions)

        def play(tally: list[int] | None = None) -> int:
            decisions, (state, _) = 0, env.reset()
            while not env.is_over():
                if tally is not None:
                    tally.append(len(state["legal_actions"]))
                state, _ = env.step(player.step(state))
                decisions += 1
            return decisions

        tally: list[int] = []
        for _ in range(CHOICE_GAMES // 20):
            play(tally)
        return Prepared(lambda limit: until(limit, play), "", share_of_choices(tally))

    return prepare


def contestants() -> list[Contestant]:
    """All rows, ours first in each workload."""
    board, hands, threads = "Tic-Tac-Toe", "hidden hands", default_threads()
    rows = [Contestant(board, "cardai, one thread", "cardai", ours("tictactoe", 2, 1))]
    if threads > 1:
        rows.append(Contestant(board, "cardai, all", "cardai", ours("tictactoe", 2, threads)))
    rows += [
        Contestant(board, "Pgx, its own act_randomly and auto_reset", "pgx", pgx(pgx_own_way)),
        Contestant(board, "Pgx, tuned by us", "pgx", pgx(pgx_tuned)),
        Contestant(board, "OpenSpiel, as its example.py", "pyspiel", open_spiel("tic_tac_toe", tight=False)),
        Contestant(board, "OpenSpiel, tuned by us", "pyspiel", open_spiel("tic_tac_toe", tight=True)),
        Contestant(hands, "cardai Moska, one thread", "cardai", ours("moska", 4, 1)),
    ]
    if threads > 1:
        rows.append(Contestant(hands, "cardai Moska, all", "cardai", ours("moska", 4, threads)))
    return [
        *rows,
        Contestant(hands, "OpenSpiel Hearts, as its example.py", "pyspiel", open_spiel("hearts", tight=False)),
        Contestant(hands, "OpenSpiel Hearts, tuned by us", "pyspiel", open_spiel("hearts", tight=True)),
        Contestant(hands, "RLCard Dou Dizhu", "rlcard", rlcard("doudizhu")),
        Contestant(hands, "RLCard Uno", "rlcard", rlcard("uno")),
    ]


def measure(rows: list[Contestant], seconds: float, repeats: int) -> None:
    """Fill in each row's rates: every repeat goes once through all rows."""
    for row in rows:
        if row.is_ours or importlib.util.find_spec(row.module):
            print(f"preparing {row.workload}: {row.name}", file=sys.stderr)
            row.prepared = row.prepare(seconds)
    for repeat in range(repeats):
        print(f"repeat {repeat + 1} of {repeats}", file=sys.stderr)
        for row in rows:
            if row.prepared:
                used = time.process_time()
                decisions, took = row.prepared.play(seconds)
                row.rates.append(decisions / took)
                row.economy.append(decisions / (time.process_time() - used))


def as_json(rows: list[Contestant], seconds: float, repeats: int) -> dict[str, Any]:
    """The run in plain numbers."""
    names = {"pgx": "pgx", "pyspiel": "open_spiel", "rlcard": "rlcard"}
    found = {name: version(name) for module, name in names.items() if importlib.util.find_spec(module)}
    if importlib.util.find_spec("jax"):
        found["jax"] = version("jax")
    return {
        "machine": {**machine(), "peers": found, "processors_used": sorted(os.sched_getaffinity(0))},
        "seconds": seconds,
        "repeats": repeats,
        "rows": [
            {
                "workload": row.workload,
                "name": row.name,
                "installed": row.prepared is not None,
                "note": row.prepared.note if row.prepared else "",
                "decisions_per_second": row.rates,
                "decisions_per_processor_second": row.economy,
                "median": row.rate if row.rates else None,
                "median_per_processor_second": row.thrift if row.rates else None,
                "share_with_a_choice": row.prepared.choices if row.prepared else None,
                "cardai_is_times_as_fast": factors(rows, row),
            }
            for row in rows
        ],
    }


def factors(rows: list[Contestant], row: Contestant) -> dict[str, float]:
    """How many times as fast we are: by the clock, with all processors; and by processor time, with one thread."""
    ours_here = [other for other in rows if other.workload == row.workload and other.is_ours and other.rates]
    if not row.rates or not ours_here:
        return {}
    return {"clock": ours_here[-1].rate / row.rate, "processor": ours_here[0].thrift / row.thrift}


def table(rows: list[Contestant], workload: str) -> Any:
    """A `rich` table of one workload."""
    from rich.table import Table

    shown = Table(title=f"{workload}: random play", title_justify="left")
    shown.add_column("library")
    columns = ("decisions/s", "a processor second", "with a choice", "cardai is, by the clock", "by processor time")
    for column in columns:
        shown.add_column(column, justify="right")
    for row in [row for row in rows if row.workload == workload]:
        if not row.prepared:
            shown.add_row(row.name, "not installed: extra \\[peers]")
            continue
        choices, times = row.prepared.choices, factors(rows, row)
        shown.add_row(
            f"{row.name} ({row.prepared.note})" if row.prepared.note else row.name,
            f"{row.rate:,.0f}",
            f"{row.thrift:,.0f}",
            f"{100 * choices:.0f} %" if choices is not None else "",
            *(f"{times[how]:,.1f} x" for how in ("clock", "processor")),
        )
    return shown


def write(file: Path, found: dict[str, Any]) -> None:
    """Write JSON so that no half-written file is left behind."""
    with tempfile.NamedTemporaryFile("w", dir=file.parent, suffix=".tmp", delete=False, encoding="utf-8") as unfinished:
        json.dump(found, unfinished, indent=1)
    Path(unfinished.name).replace(file)


def main(arguments: list[str] | None = None) -> None:
    """The command of the module's docstring."""
    parser = argparse.ArgumentParser(description="Random play beside other libraries: decisions a second.")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each measurement takes")
    parser.add_argument("--repeats", type=int, default=3, help="measurements a row; the median counts")
    parser.add_argument("--processors", type=int, help="how many processors everybody may use (default: all)")
    parser.add_argument("--json", type=Path, help="also write the run to this file")
    chosen = parser.parse_args(arguments)
    if not 0 < chosen.seconds < float("inf") or chosen.repeats < 1:
        parser.error("--seconds must be more than 0 and --repeats at least 1")
    if chosen.json and not os.access(chosen.json.absolute().parent, os.W_OK):
        parser.error(f"cannot write {chosen.json}: its folder is not there or not writable")
    if chosen.processors is not None:
        usable = sorted(os.sched_getaffinity(0))
        if not 1 <= chosen.processors <= len(usable):
            parser.error(f"--processors must be 1 to {len(usable)}, not {chosen.processors}")
        os.sched_setaffinity(0, usable[: chosen.processors])
    rows = contestants()
    measure(rows, chosen.seconds, chosen.repeats)
    found = as_json(rows, chosen.seconds, chosen.repeats)

    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 160)
    for workload in dict.fromkeys(row.workload for row in rows):
        console.print(table(rows, workload))
    about = found["machine"]
    console.print(
        f"{about['processor']}, {len(about['processors_used'])} processors; {about['peers']}", highlight=False
    )
    if chosen.json:
        write(chosen.json, found)
        console.print(f"written to {chosen.json}")


if __name__ == "__main__":
    main()
