"""Steps as a learner takes them: many games at once, an observation and the legal actions before each decision.

Every contestant of these tables gives the same for each decision: the observation of the seat to move, which actions
are legal, the rewards, and the next game where one has ended. Actions are drawn evenly from what is legal, as cheaply
as each library lets us.
"""

# pyright: reportMissingImports=false
# The libraries come with the extra "peers" only, so they are imported in the functions that use them.

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from cardai.playing.table.batch import Batch
from cardai.registry import load

STEPS = 16  # steps of all games in a call
SCAN = 64  # steps in a call of Pgx, tuned

Steps = Callable[[], tuple[int, int]]
"""Takes some steps in all games; returns how many games have ended and how many decisions there were."""


def by_batch(name: str, threads: int, count: int) -> Steps:
    """`cardai.Batch` with observations, masks, sampled actions, rewards and last views; a batch for each thread."""
    batches = [Batch(load(name), count) for _ in range(threads)]
    pool = ThreadPoolExecutor(threads)

    def steps(batch: Batch) -> int:
        ended = 0
        for _ in range(STEPS):
            batch.step(batch.sample())
            ended += int(np.count_nonzero(batch.terminations))
        return ended

    def some() -> tuple[int, int]:
        ended = sum(pool.map(steps, batches)) if threads > 1 else steps(batches[0])
        return ended, STEPS * count * threads

    return some


def by_pgx(is_tuned: bool, count: int) -> Steps:
    """Pgx's Tic-Tac-Toe in one jitted step for all games.

    `is_tuned`: one scan over `SCAN` steps in a call, an action drawn by one random number of 32 bits, and games begun
    anew by a copy, since the beginning is always the same; else Pgx's `act_randomly` and `auto_reset`, one step in a
    call, as a learner that chooses outside calls it.
    """
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental import act_randomly, auto_reset

    env = pgx.make("tic_tac_toe")
    state = start = jax.vmap(env.init)(jax.random.split(jax.random.PRNGKey(0), count))

    def own_way(state: Any, key: Any) -> Any:
        drawn, reset = jax.random.split(key)
        actions = act_randomly(drawn, state.legal_action_mask)
        return jax.vmap(auto_reset(env.step, env.init))(state, actions, jax.random.split(reset, count))

    def tuned(state: Any, key: Any) -> Any:
        state = state.replace(terminated=jnp.zeros(count, bool))
        free = jnp.cumsum(state.legal_action_mask.astype(jnp.int32), axis=1)
        picked = (jax.random.uniform(key, (count,)) * free[:, -1]).astype(jnp.int32)
        after = jax.vmap(env.step)(state, jnp.argmax(free > picked[:, None], axis=1))
        over = after.terminated

        def begun(old: Any, new: Any) -> Any:
            return jnp.where(over.reshape(-1, *[1] * (new.ndim - 1)), old, new)

        return jax.tree.map(begun, start, after).replace(rewards=after.rewards, terminated=over)

    def given(state: Any, key: Any) -> Any:
        """The state after a step, and what a learner reads of it: all of it is written, as a batch writes it."""
        state = tuned(state, key) if is_tuned else own_way(state, key)
        return state, (state.observation, state.legal_action_mask, state.rewards, state.terminated)

    @jax.jit
    def advance(state: Any, key: Any) -> Any:
        return jax.lax.scan(given, state, jax.random.split(key, SCAN)) if is_tuned else given(state, key)

    key = jax.random.PRNGKey(1)

    def some() -> tuple[int, int]:
        nonlocal state, key
        ended, calls = [], 1 if is_tuned else STEPS
        for _ in range(calls):
            key, own = jax.random.split(key)
            state, outputs = advance(state, own)
            ended.append(outputs[-1])
        jax.block_until_ready(state)
        return sum(int(np.count_nonzero(over)) for over in ended), calls * (SCAN if is_tuned else 1) * count

    return some


def by_vector(name: str, count: int) -> Steps:
    """OpenSpiel's `SyncVectorEnv` of its `rl_environment`, with `reset_if_done`."""
    import pyspiel
    from open_spiel.python import rl_environment, vector_env
    from open_spiel.python.rl_agent import StepOutput

    game, draw = pyspiel.load_game(name), random.Random(0).random
    envs = vector_env.SyncVectorEnv([rl_environment.Environment(game) for _ in range(count)])
    steps = envs.reset()

    def some() -> tuple[int, int]:
        nonlocal steps
        outputs = []
        for step in steps:
            moves = step.observations["legal_actions"][step.observations["current_player"]]
            outputs.append(StepOutput(moves[int(draw() * len(moves))], None))
        steps, _, done, _ = envs.step(outputs, reset_if_done=True)
        return sum(done), count

    return some


def by_states(name: str, count: int) -> Steps:
    """OpenSpiel's states, as fast as we can drive them from Python: its observer writes into one array."""
    import pyspiel
    from open_spiel.python.observation import make_observation

    game, draw = pyspiel.load_game(name), random.Random(0).random
    kind = pyspiel.IIGObservationType(
        perfect_recall=True, public_info=True, private_info=pyspiel.PrivateInfoType.SINGLE_PLAYER
    )
    observer = make_observation(game, kind if game.get_type().provides_information_state_tensor else None)
    assert observer is not None
    assert observer.tensor is not None

    def begun() -> Any:
        state = game.new_initial_state()
        while state.is_chance_node():
            moves = state.legal_actions()  # an even deal
            state.apply_action(moves[int(draw() * len(moves))])
        return state

    states = [begun() for _ in range(count)]
    rows, masks = np.zeros((count, len(observer.tensor)), np.float32), np.zeros((count, game.num_distinct_actions()))
    rewards = np.zeros((count, game.num_players()))

    def some() -> tuple[int, int]:
        ended = 0
        rewards[:], masks[:] = 0.0, 0.0
        for place, state in enumerate(states):
            observer.set_from(state, state.current_player())
            rows[place] = observer.tensor
            moves = state.legal_actions()
            masks[place, moves] = 1.0
            state.apply_action(moves[int(draw() * len(moves))])
            if state.is_terminal():
                rewards[place] = state.returns()
                states[place] = begun()
                ended += 1
        return ended, count

    return some
