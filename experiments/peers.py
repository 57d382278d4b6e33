"""Speed of evenly random play in cardai, Pgx, OpenSpiel and RLCard: decisions a second, of wall and of processor time.

Whole games are played first; then games are stepped many at once, as a learner does it
(`cardai.experiments.peers_steps`). Each round measures every library once, so that other load on the machine affects
all alike. The ratio of cardai's speed to another library's is computed within each round. docs/peers.md says what is
counted and how each library is driven.

Source of the claim: Vahteristo 2023, section 2.1: the thesis' engine plays 0.1-10 games of Moska a second on a core.
"""

# pyright: reportMissingImports=false
# The libraries come with the extra "peers" only, so they are imported in the functions that use them.

import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from typing import Any

import numpy as np

from cardai.experiments.machinery.findings import Claim, Finding, Findings, Measurement, margin, over_seeds
from cardai.experiments.machinery.lab import Lab
from cardai.experiments.peers_bound import NO_COMPILER, Bound, compiler
from cardai.experiments.peers_steps import Steps, by_batch, by_pgx, by_states, by_vector
from cardai.game import Game
from cardai.measure.speed import SelfPlay, timed
from cardai.playing.agents.spec import Agent, agent, evenly_random
from cardai.playing.machine import default_threads
from cardai.playing.table.many import Results, play
from cardai.registry import load

BOARD, HEARTS, HANDS, OWN = "Tic-Tac-Toe", "Hearts", "Other hidden hands", "More of cardai"
BOARD_STEPS, HEARTS_STEPS = "Tic-Tac-Toe, steps of a learner", "Hearts, steps of a learner"
STEPPED = (BOARD_STEPS, HEARTS_STEPS)
MOSKA = "cardai Moska, evenly random, one thread"
BOUND = "C program, the bound"
PACKAGES = {"Pgx": "pgx", "JAX": "jax", "OpenSpiel": "open_spiel", "RLCard": "rlcard"}
PGX_STEPS = 100  # moves of each game in one call of Pgx's own way
LONGEST = 9  # moves of a game of Tic-Tac-Toe
MEAN_MOVES = 3203 / 420  # of a game of Tic-Tac-Toe with evenly random players, by enumeration
ROLLOUTS = 1000  # games in one call of OpenSpiel's rollouts
SETUP, GAMES, DECISIONS, THRIFT, CHOICES, CLOCK, PROCESSOR = (
    "setup", "games/s", "decisions/s", "a processor second", "with a choice, %", "cardai is, by the clock",
    "by processor time",
)  # fmt: skip
ENGINE = Claim(10.0, better="higher", within=margin("speed"), words="0.1-10")


@dataclass(frozen=True)
class Scale:
    """How long is measured.

    `seconds`: duration of a measurement. `rounds`: measurements of each contestant. `batches`: batch sizes tried with
    Pgx's whole games, of which the fastest is measured; `stepped`: the same for steps of a learner, `in_python` where
    Python steps one game after the other. `choices`: games in each round in which decisions with more than one legal
    move are counted; RLCard, by far the slowest, plays a twentieth of them.
    """

    seconds: float
    rounds: int
    batches: tuple[int, ...]
    stepped: tuple[int, ...]
    in_python: tuple[int, ...]
    choices: int

    def tried(self, entry: "Contestant") -> tuple[int, ...]:
        """The batch sizes that are tried with a contestant."""
        if entry.table not in STEPPED:
            return self.batches
        return self.in_python if entry.name.startswith("OpenSpiel") else self.stepped


SCALES = {
    "smoke": Scale(0.02, 2, (64,), (64,), (8,), 40),
    "small": Scale(2.0, 5, (1024, 4096, 16384, 65536), (1024, 4096), (16, 128), 400),
}


@dataclass(frozen=True)
class Loop:
    """A contestant that is compiled and warmed up.

    `play` plays some games, and returns how many games and decisions these were. `choices` gives the percentage of
    decisions with more than one legal move, None where that is not counted.
    """

    play: Steps
    choices: Callable[[], float] | None = None


@dataclass(frozen=True)
class Contestant:
    """One library's way to play one game.

    `counted`: what its time goes to and what its decisions are, in a line. `ready` imports, compiles and warms up. It
    gets the batch size, which is 0 unless the contestant `batches`.
    """

    table: str
    name: str
    counted: str
    ready: Callable[[Scale, int], Loop]
    batches: bool = False

    @property
    def is_ours(self) -> bool:
        return self.name.startswith("cardai")


OURS = "moves are listed, drawn evenly and played; the score of every game is kept"
RLCARD = "its own loop in Python (env.reset, env.step) with its RandomAgent"
IN_PYTHON = "one game at a time in Python, random.choice of the list of legal moves"
TUNED = "one game at a time in Python, the cheapest even draw from the list of legal moves"


@cache
def contestants(threads: int, can_compile: bool = True) -> tuple[Contestant, ...]:
    """All contestants. In each table cardai comes first: with one thread, then with all `threads` if there are more.

    `can_compile`: whether there is a C compiler for the bound.
    """
    everybody = [
        *_ours_of(BOARD, "cardai", "tictactoe", threads), *_board(),
        *_ours_of(HEARTS, "cardai Hearts", "hearts", threads), *_hearts(),
        *_ours_of(HANDS, "cardai Moska", "moska", threads),
        Contestant(HANDS, "RLCard Dou Dizhu", RLCARD, partial(_rlcard, "doudizhu")),
        Contestant(HANDS, "RLCard Uno", RLCARD, partial(_rlcard, "uno")),
        *_ours_of(OWN, "cardai Durak", "durak", 1), *_ours_of(OWN, "cardai Literature", "literature", 1),
        Contestant(
            OWN, "cardai Moska, its player `random`, one thread", "the thesis' random player, which draws a kind of"
            " move, then cards: it never lists the legal moves", partial(_ours, "moska", _named, 1),
        ),
        *_stepped(BOARD_STEPS, "tictactoe", threads), *_stepped(HEARTS_STEPS, "hearts", threads),
    ]  # fmt: skip
    return tuple(one for one in everybody if one.name != BOUND or can_compile)


def _ours_of(table: str, label: str, game: str, threads: int) -> list[Contestant]:
    label += "" if table == BOARD else ", evenly random"
    return [
        Contestant(table, f"{label}, {'one thread' if count == 1 else f'{count} threads'}", OURS,
                   partial(_ours, game, evenly_random, count)) for count in sorted({1, threads})
    ]  # fmt: skip


def _named(game: Game) -> Agent:
    return agent(game, "random")


def _board() -> list[Contestant]:
    """The bound, and other libraries' ways to play Tic-Tac-Toe."""
    return [
        Contestant(
            BOARD, BOUND, "the same games as cardai's by the same random streams, in C: no list, no call, no record of"
            " a game", _in_c,
        ),
        Contestant(
            BOARD, "Pgx (its own way)", "act_randomly and auto_reset in one scan over 100 moves: every step is a"
            " decision", partial(_pgx, pgx_own_way), batches=True,
        ),
        Contestant(
            BOARD, "Pgx (tuned by us)", "whole games, one random number a move; steps of finished games take time"
            " but are no decisions", partial(_pgx, pgx_tuned), batches=True,
        ),
        Contestant(BOARD, "OpenSpiel (as its example.py)", IN_PYTHON, partial(_open_spiel, "tic_tac_toe", False)),
        Contestant(BOARD, "OpenSpiel (tuned by us)", TUNED, partial(_open_spiel, "tic_tac_toe", True)),
        Contestant(
            BOARD, "OpenSpiel (its C++ rollouts)", "RandomRolloutEvaluator from the empty board, in C++;"
            " decisions are games times 3203/420, the mean length", _open_spiel_rollouts,
        ),
    ]  # fmt: skip


def _hearts() -> list[Contestant]:
    return [
        Contestant(HEARTS, "OpenSpiel Hearts (as its example.py)", IN_PYTHON, partial(_open_spiel, "hearts", False)),
        Contestant(HEARTS, "OpenSpiel Hearts (tuned by us)", TUNED, partial(_open_spiel, "hearts", True)),
        Contestant(
            HEARTS, "OpenSpiel Hearts (its C++ bots)", "evaluate_bots with its uniform random bots, a game a call, in"
            " C++", partial(_open_spiel_bots, "hearts"),
        ),
    ]  # fmt: skip


def _stepped(table: str, game: str, threads: int) -> list[Contestant]:
    """Steps of a learner: `cardai.Batch` in one thread and in all, then the others."""
    label, name, is_board = table.partition(",")[0], game.replace("tictactoe", "tic_tac_toe"), table == BOARD_STEPS
    ours = "a batch a thread: observations, masks, sampled actions, rewards, last views, the next game"
    ways: dict[str, tuple[str, Callable[[int], Steps]]] = {
        f"cardai.Batch {label}, {count} thread{'s' if count > 1 else ''}": (ours, partial(by_batch, game, count))
        for count in sorted({1, threads})
    }
    if is_board:
        scan = "one scan over 64 steps a call; one random number a move, games begun anew by a copy"
        own = "act_randomly, auto_reset and vmap under jit, one step a call"
        ways |= {"Pgx steps (one a call)": (own, partial(by_pgx, False))}
        ways |= {"Pgx steps (tuned by us)": (scan, partial(by_pgx, True))}
    library = f"OpenSpiel{'' if is_board else ' Hearts'}"
    vector = "rl_environment with observations of all seats, reset_if_done; Python"
    states = "apply_action on a list of states in Python, its observer writes the view of the seat to move"
    ways |= {f"{library}, its SyncVectorEnv": (vector, partial(by_vector, name))}
    ways |= {f"{library} steps (tuned by us)": (states, partial(by_states, name))}
    return [
        Contestant(table, name, counted, partial(_by_steps, make), batches=True)
        for name, (counted, make) in ways.items()
    ]


def run(lab: Lab) -> Findings:
    """Choose Pgx's batch sizes, then measure every contestant once in each round."""
    ready = cache(lambda contestant, batch: contestant.ready(lab.size, batch))
    setup = lab.piece(SETUP, lambda: _setup(lab, ready), repeats=False)
    tried = setup["tried"]
    ready.cache_clear()  # of batch sizes that were tried and are not measured: some take gigabytes
    everybody = contestants(setup["threads"], setup["no bound"] is None)
    batches = [(entry, fastest(tried[entry.name]) if entry.batches else 0) for entry in everybody]
    rounds = {}
    for number in range(1, lab.size.rounds + 1):
        key = f"round-{number}"
        rounds[key] = lab.piece(key, partial(_round, lab, ready, batches), repeats=False)
    rows = figures(everybody, list(rounds.values()), " ".join(rounds))
    return Findings(rows, setup | {"lines": [{"name": one.name, "counted": one.counted} for one in everybody]})


def fastest(tried: Mapping[str, float]) -> int:
    """The batch size with the most decisions a processor second."""
    return int(max(tried, key=lambda batch: tried[batch]))


def _setup(lab: Lab, ready: Callable[[Contestant, int], Loop]) -> dict[str, Any]:
    """The number of threads, the libraries' versions, decisions a CPU second by batch size, why there is no bound.

    "no bound" is None if there is a C compiler.
    """
    threads, tried = default_threads(), {}
    for entry in (entry for entry in contestants(threads) if entry.batches):
        own = tried[entry.name] = {}
        for batch in lab.size.tried(entry):
            lab.tell(len(own), len(lab.size.tried(entry)), f"{entry.name}, batches of {batch}")
            rates = rates_of(ready(entry, batch).play, min(lab.size.seconds, 1.0))
            own[str(batch)] = rates["decisions_per_processor_second"]
    return {
        "threads": threads,
        "versions": {name: version(package) for name, package in PACKAGES.items()},
        "tried": tried,
        "no bound": None if compiler() else NO_COMPILER,
    }


def _round(lab: Lab, ready: Callable[[Contestant, int], Loop], batches: Sequence[tuple[Contestant, int]]) -> Any:
    """Warm up all contestants, then measure each once: {name: its rates}. `batches`: (contestant, batch size)."""
    loops = {}
    for entry, batch in batches:
        lab.tell(len(loops), len(batches), f"{entry.table}: {entry.name} gets ready")
        loops[entry.name] = ready(entry, batch)
    rates = {}
    for name, loop in loops.items():
        lab.tell(len(rates), len(loops), name)
        rates[name] = rates_of(loop.play, lab.size.seconds)
        rates[name]["choices"] = loop.choices() if loop.choices else None
    return rates


def rates_of(play_some: Steps, seconds: float) -> dict[str, Any]:
    """Call `play` until `seconds` have passed; its games and decisions by second, and decisions by processor second."""
    ended = []

    def work() -> int:
        games, decisions = play_some()
        ended.append(games)
        return decisions

    run = timed(work, seconds)
    return {
        "games_per_second": sum(ended) / run.seconds,
        "decisions_per_second": run.per_second,
        "decisions_per_processor_second": run.count / run.processor_seconds,
    }


def figures(everybody: Sequence[Contestant], rounds: Sequence[Mapping[str, Any]], piece: str) -> list[Finding]:
    """Each contestant's rates over all rounds; for other libraries also how many times as fast cardai is."""
    rows = []
    for entry in everybody:
        ours = [other.name for other in everybody if other.table == entry.table and other.is_ours]
        columns = {
            GAMES: (values(rounds, entry.name, "games_per_second"), 0),
            DECISIONS: (values(rounds, entry.name, "decisions_per_second"), 0),
            THRIFT: (values(rounds, entry.name, "decisions_per_processor_second"), 0),
        }
        if entry.table in STEPPED:  # games begun at once end at once, in some measurements none
            del columns[GAMES]
        if rounds[0][entry.name]["choices"] is not None:
            columns[CHOICES] = values(rounds, entry.name, "choices"), 0
        if not entry.is_ours:
            columns[CLOCK] = times(rounds, ours[-1], entry.name, "decisions_per_second"), 1
            columns[PROCESSOR] = times(rounds, ours[0], entry.name, "decisions_per_processor_second"), 1
        for column, (by_round, places) in columns.items():
            claim = ENGINE if (entry.name, column) == (MOSKA, GAMES) else None
            figure = over_seeds(by_round, "measurements") if column == CHOICES else speed(by_round)
            rows.append(Finding(f"{entry.table}, random play", entry.name, column, figure, claim, piece, places=places))
    return rows


def values(rounds: Sequence[Mapping[str, Any]], name: str, key: str) -> list[float]:
    """One rate of a contestant, a value for each round."""
    return [rates[name][key] for rates in rounds]


def times(rounds: Sequence[Mapping[str, Any]], ours: str, name: str, key: str) -> list[float]:
    """The ratio of cardai's rate to another contestant's, a value for each round."""
    return [own / other for own, other in zip(values(rounds, ours, key), values(rounds, name, key), strict=True)]


def speed(rates: Sequence[float]) -> Measurement:
    """The median of rates and their range, which holds the median of all such measurements: in 94 % of fives.

    A mean would follow the one measurement in thirty in which other threads of the process work on.
    """
    return Measurement(statistics.median(rates), min(rates), max(rates), len(rates), "measurements")


def _ours(name: str, player: Callable[[Game], Agent], threads: int, size: Scale, _: int) -> Loop:
    """Plays with `cardai.play` and an agent in all seats: new seeds in each call, a second at most."""
    game = load(name)
    players, begun = [player(game)], 0

    def some(count: int, tally: bool = False) -> Results:
        nonlocal begun
        lineups = np.zeros((count, game.default_seats), np.int64)
        seeds = np.arange(begun, begun + count, dtype=np.uint64)
        begun += count
        return play(game, players, lineups, seeds, threads=threads, tally=tally).complete()

    some(64)
    chunk = max(2000, SelfPlay(game, players[0], game.default_seats).games_in(min(size.seconds, 1.0)))

    def choices() -> float:
        results = some(size.choices, tally=True)
        return 100 * float(results.tally[:, 0].sum() / results.plies.sum())

    return Loop(lambda: (chunk, some(chunk).decisions), choices)


def _in_c(size: Scale, _: int) -> Loop:
    """Plays the bound, new seeds in each call: milliseconds at most."""
    bound, begun = Bound(), 0
    chunk = 100_000

    def some() -> tuple[int, int]:
        nonlocal begun
        totals = bound.play(begun, chunk)
        begun += chunk
        return chunk, totals.decisions

    def choices() -> float:
        totals = bound.play(begun, size.choices)
        return 100 * (1 - totals.ninths / totals.decisions)

    some()
    return Loop(some, choices)


def _pgx(make: Callable[[int], Callable[[], tuple[Any, Any]]], _: Scale, batch: int) -> Loop:
    """Plays with Pgx on the CPU; compiled before the loop is returned."""
    import jax

    processor = jax.devices("cpu")[0]

    def some() -> tuple[int, int]:
        with jax.default_device(processor):
            games, decisions = own()
            return int(games), int(decisions)

    with jax.default_device(processor):
        own = make(batch)
    some()
    return Loop(some)


def _by_steps(make: Callable[[int], Steps], _: Scale, batch: int) -> Loop:
    steps = make(batch)
    steps()
    return Loop(steps)


def pgx_own_way(batch: int) -> Callable[[], tuple[Any, Any]]:
    """Pgx driven by its own random moves and auto-reset, in one scan; a call returns (games ended, decisions)."""
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
    """Pgx as fast as we can drive it: whole games without resets, one random number a move, all drawn at once."""
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
        return state.terminated.sum(), live.sum(), state.rewards.sum()  # a step after a game's end is no decision

    key = jax.random.key(0)

    def some() -> tuple[Any, Any]:
        nonlocal key
        key, used = jax.random.split(key)
        ended, decisions, _ = jax.block_until_ready(games(used))
        return ended, decisions

    return some


def _open_spiel(name: str, is_tuned: bool, size: Scale, _: int) -> Loop:
    """Plays OpenSpiel from Python, one game at a time; `is_tuned` replaces random.choice by a cheaper expression."""
    import pyspiel

    game, stream = pyspiel.load_game(name), random.Random(0)
    draw = stream.random

    def play_one(tally: list[int] | None = None) -> tuple[int, int]:
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
        return 1, decisions

    play_one()
    return Loop(play_one, lambda: with_a_choice(play_one, size.choices))


def _open_spiel_rollouts(size: Scale, _: int) -> Loop:
    """Plays OpenSpiel's own rollouts in C++, from the empty board.

    Its evaluator cannot be called from Python. A search with a single simulation evaluates the root, and does no more.
    """
    import pyspiel

    game = pyspiel.load_game("tic_tac_toe")
    evaluator = pyspiel.RandomRolloutEvaluator(n_rollouts=ROLLOUTS, seed=0)
    search = pyspiel.MCTSBot(
        game, evaluator, uct_c=2.0, max_simulations=1, max_memory_mb=1, solve=False, seed=0, verbose=False
    )
    start = game.new_initial_state()

    def some() -> tuple[int, int]:
        search.mcts_search(start)
        return ROLLOUTS, round(ROLLOUTS * MEAN_MOVES)

    some()
    return Loop(some, _open_spiel("tic_tac_toe", True, size, 0).choices)


def _open_spiel_bots(name: str, size: Scale, _: int) -> Loop:
    """Plays OpenSpiel's uniform random bots against each other in C++, a game in each call.

    The number of chance moves is the same in all games of Hearts, so it is counted once.
    """
    import pyspiel

    game, seed = pyspiel.load_game(name), 0
    bots = [pyspiel.make_uniform_random_bot(player, player) for player in range(game.num_players())]

    def finished() -> Any:
        nonlocal seed
        state, seed = game.new_initial_state(), seed + 1
        pyspiel.evaluate_bots(state, bots, seed)
        return state

    chances = sum(step.player < 0 for step in finished().full_history())
    return Loop(lambda: (1, finished().move_number() - chances), _open_spiel(name, True, size, 0).choices)


def _rlcard(name: str, size: Scale, _: int) -> Loop:
    import rlcard
    from rlcard.agents import RandomAgent

    env = rlcard.make(name, config={"seed": 0})
    player = RandomAgent(env.num_actions)

    def play_one(tally: list[int] | None = None) -> tuple[int, int]:
        decisions, (state, _) = 0, env.reset()
        while not env.is_over():
            if tally is not None:
                tally.append(len(state["legal_actions"]))
            state, _ = env.step(player.step(state))
            decisions += 1
        return 1, decisions

    play_one()
    return Loop(play_one, lambda: with_a_choice(play_one, -(-size.choices // 20)))


def with_a_choice(play_one: Callable[[list[int]], object], games: int) -> float:
    """The percentage of decisions with more than one legal move in `games` games.

    `play_one` plays a game and appends the number of legal moves at each decision to the list it gets.
    """
    tally: list[int] = []
    for _ in range(games):
        play_one(tally)
    return 100 * sum(moves > 1 for moves in tally) / len(tally)
