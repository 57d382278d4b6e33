"""Laws on what a game computes besides its rules: encodings, text, heuristics, outcomes, players."""

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator

import numpy as np

from cardai.errors import CardaiError
from cardai.game import Game, Outcome
from cardai.laws.law import (
    NotTested,
    Steps,
    each_end,
    each_game,
    each_position,
    each_table,
    each_view,
    law,
    need,
)
from cardai.laws.states import Fence
from cardai.laws.testbed import Counted, LawError, Position, Setup, Testbed, Trace, View
from cardai.playing.agents.evaluator import known_evaluators
from cardai.playing.agents.notation import Spec, parse
from cardai.playing.agents.spec import TREES, Agent, agent, list_specs, packaged_specs

AT_ONCE = 25  # games that are played at once to look for what is rare
FEW = 6  # positions of a game that is looked at only for what is rare
THINNED = 16  # one position of a game in so many is looked at first


@each_view("texts", needs="encoders")
def encodings_fill_their_layout(here: View) -> None:
    """An encoder writes the values of its row and nothing beyond; a row does not depend on the rows around it."""
    for name in here.game.learning.encoders:
        if (width := here.compiled.width(name, len(here.seats))) < 1:
            raise here.broken(f"the layout of encoder {name} is empty")
        rows = (fence := Fence(here.compiled)).encoded(here.states, here.seat, name)
        if any(damaged.endswith("row") for damaged in fence.damaged()):
            raise here.broken(f"encoder {name} writes beyond its {width} values")
        if (here.game.encode(here.state, here.seat, name) != rows[0]).any():
            raise here.broken(f"encoder {name} gives seat {here.seat} another row the second time")
    first = max(0, here.ply - 1)
    around = here.rows(here.trace.states[first : here.ply + 2])
    if (around[here.ply - first] != here.rows(here.states)[0]).any():
        raise here.broken(f"the row of seat {here.seat} depends on the rows around it")


@law
def every_segment_says_something(testbed: Testbed) -> Steps:
    """Every named segment of an encoding varies over the positions and after-states of many games."""
    if not testbed.has_all_variants:
        raise NotTested("options of a variant may silence a segment, and not all named variants are tested", "part")
    need(testbed, "encoders")
    span: dict[tuple[str, str], tuple[int, int]] = {}  # the smallest and the largest value of a segment so far
    silent = {
        (name, segment.name)
        for name, encoder in testbed.game.learning.encoders.items()
        for seats in testbed.game.seats
        for segment in encoder.layout(seats)
    }
    for find in (seen := Counted(_of_many_games(testbed), "games")):
        if not silent:
            return
        yield seen
        setup, states = find()
        for name, seat in itertools.product({name for name, _ in silent}, range(setup.seats)):
            rows, first = testbed.compiled.encoded(states, seat, name), 0
            for segment in testbed.game.learning.encoders[name].layout(setup.seats):
                part, key = rows[:, first : first + segment.size], (name, segment.name)
                least, greatest = span.get(key, (255, 0))
                least, greatest = span[key] = min(least, int(part.min())), max(greatest, int(part.max()))
                if least < greatest:
                    silent.discard(key)
                first += segment.size
    for name, segment in sorted(silent & set(span)) if not seen.enough else ():
        first = testbed.traces[0]
        where = f"{first.setup} and all others, seed {first.seed} and following, ply 0 and following"
        raise LawError(f"{where}: encoder {name}, segment {segment!r} is always {span[name, segment][0]}")


def _of_many_games(testbed: Testbed) -> Iterator[Callable[[], tuple[Setup, np.ndarray]]]:
    """Functions that give states of games and states after their moves, STATE[N].

    First some of each game, in which most segments vary, then all, then a few of many games that were played at random.
    """
    for step in (THINNED, 1):
        for trace in testbed.traces:
            yield functools.partial(_states_and_after, trace, slice(None, None, step))
    for setup in testbed.setups:
        for first in range(0, -(-testbed.effort.searched // len(testbed.setups)), AT_ONCE):
            yield functools.partial(_of_random_games, testbed, setup, first)


def _states_and_after(trace: Trace, plies: slice | list[int]) -> tuple[Setup, np.ndarray]:
    after = trace.testbed.compiled.moved(trace.states[:-1][plies], trace.moves[plies], settle=False)
    return trace.setup, np.concatenate([trace.states[:-1][plies], after, trace.states[-1:]])


def _of_random_games(testbed: Testbed, setup: Setup, first: int) -> tuple[Setup, np.ndarray]:
    traces = testbed.random_games(setup, first, AT_ONCE)
    return setup, np.concatenate([_states_and_after(trace, trace.sampled(FEW))[1] for trace in traces])


@each_position("texts")
def spelling_is_understood(here: Position) -> None:
    """parse reads what spell writes, and different legal moves are spelled differently."""
    moves, known = here.game.moves(here.state), set()
    for move in moves[:: max(1, len(moves) // 200)]:
        spelled = here.ask(here.game.text.spell, here.state, move)
        if spelled in known:
            raise here.broken(f"two legal moves are both spelled {spelled!r}")
        known.add(spelled)
        understood = here.ask(here.game.text.parse, here.state, spelled)
        if np.array([understood], here.game.move).tobytes() != move.tobytes():
            raise here.broken(f"parse({spelled!r}) gives {here.text(understood)}, not the move spelled")


@each_game("heuristics")
def heuristics_are_finite(trace: Trace) -> None:
    """Heuristics give states and after-states a finite value, for every seat."""
    compiled, plies = trace.testbed.compiled, trace.sampled(trace.testbed.effort.positions)
    after = compiled.moved(trace.states[plies], trace.moves[plies], settle=False)
    states = np.concatenate([trace.states[plies], trace.states[-1:], after])
    for name, seat in itertools.product(trace.testbed.game.agents.heuristics, range(trace.setup.seats)):
        values = compiled.values(states, seat, f"heuristic {name}")
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            ply = [*plies, len(trace.moves), *plies][wrong[0]]
            what = f"heuristic {name} is {values[wrong[0]]} for seat {seat}"
            raise Position(trace, ply).broken(f"{what}{' after act' if wrong[0] > len(plies) else ''}")


@each_end()
def outcomes_keep_their_range(trace: Trace) -> None:
    """Outcomes of an ended game and rewards of moves are in their declared ranges, and do not change the state"""
    game = trace.testbed.game
    if not (game.learning.outcomes or game.learning.rewards):
        raise NotTested("the game has no `outcomes` and no `rewards`")
    for name, seat in itertools.product(game.learning.outcomes, range(trace.setup.seats)):
        _keeps_range(View(trace, len(trace.moves), seat), f"outcome {name}", game.learning.outcomes[name])
    turns = trace.states["turn"]
    for (name, reward), ply in itertools.product(game.learning.rewards.items(), range(len(trace.moves))):
        later = np.flatnonzero((turns[ply + 1 :] == turns[ply]) | (turns[ply + 1 :] < 0) | (not reward.waits))
        if len(later):
            _keeps_range(View(trace, ply + 1 + int(later[0]), int(turns[ply])), f"reward {name}", reward)


def _keeps_range(here: View, what: str, outcome: Outcome) -> None:
    """Raises LawError unless an outcome of a state is in its range for a seat and leaves the state as it is."""
    (value,), applies = (fence := Fence(here.compiled)).values(here.states, here.seat, what), f"applies of {what}"
    if np.isnan(value) and applies in fence.numbers:  # it may be no number if it does not apply
        value = np.nan if fence.values(here.states, here.seat, applies)[0] else outcome.low
    if not outcome.contains(value):
        span = f"{outcome.low:g} to {outcome.high:g}"
        raise here.broken(f"the {what} is {value:g} for seat {here.seat}; its range is {span}")
    if any(fence.damaged()):
        raise here.broken(f"the {what} changes the state")


@each_end("decided", none="no game came to a position in which decided gives a score")
def what_is_decided_stays_so(trace: Trace) -> bool:
    """A score that decided gives is the seat's score at the end of the game."""
    is_tested, payoff, low = False, trace.testbed.game.payoff, trace.testbed.game.payoff.low
    for seat in range(trace.setup.seats):
        said = trace.testbed.compiled.values(trace.states[:-1], seat, "decided")
        score = trace.testbed.compiled.values(trace.states[-1:], seat)[0]
        is_tested |= not bool((said < 0.0).all())
        for ply in np.flatnonzero(~(said < 0.0) & (said != score)).tolist():
            what = f"decided gives seat {seat} {payoff.of(said[ply]):g}; it is below {low:g} while a score is open, and"
            raise Position(trace, ply).broken(f"{what} its score is {payoff.of(score):g} at the end")
    return is_tested


@each_table(needs="players")
def players_choose_legal_moves(testbed: Testbed, setup: Setup) -> None:
    """Every native player, with its own and with randomised parameters, chooses only legal moves."""
    for name, player in testbed.game.agents.players.items():
        specs = [name, Spec(name, randomised=True)] if player.defaults else [name]
        lineups = np.arange(4 * setup.seats).reshape(4, setup.seats) % len(specs)
        testbed.results(setup, lineups, [agent(testbed.game, spec) for spec in specs])


@law
def named_agents_can_play(testbed: Testbed) -> Steps:
    """Every kind of agent that the framework offers for a game plays legal games of each variant."""
    models = known_evaluators(testbed.game)  # they are not the game's, and each fits one setup only
    packaged = packaged_specs(testbed.game)  # nor are these
    specs = [parse(spec) for spec in list_specs(testbed.game) if spec not in packaged]
    specs = [spec for spec in specs if spec.argument not in models]
    length = np.mean([len(trace.moves) for trace in testbed.traces])
    setups = testbed.mixed([Setup(variant, testbed.game.default_seats) for variant in testbed.variants])
    rounds, order = int(np.clip(testbed.effort.named // max(length, 1), 2, max(8, len(setups)))), testbed.mixed(specs)
    games = [(i, setups[(i + k) % len(setups)], spec) for i in range(rounds) for k, spec in enumerate(order)]
    for i, setup, spec in (seen := Counted(games, "games of agents")):
        yield seen
        seated = [_with_few_worlds(testbed.game, spec), testbed.agents[0]]
        testbed.results(setup, np.arange(setup.seats).clip(0, 1)[None], seated, i)


def _with_few_worlds(game: Game, spec: Spec) -> Agent:
    """The agent of a spec, in few worlds where it searches in any: that it plays is tested, not how well."""
    if spec.kind in ("rollout", *TREES):
        return agent(game, Spec(spec.kind, 1))
    if spec.kind in ("sampled", "ahead", *game.agents.kinds):
        with contextlib.suppress(CardaiError):  # an agent of the game's own that has no such option
            return agent(game, spec.with_options(worlds=2))
    return agent(game, spec)
