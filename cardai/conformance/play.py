"""Laws on deals, plies and scores: a game repeats from its seed, ends, and shares out its points."""

import math

import numpy as np

from cardai.conformance.evidence import facts
from cardai.conformance.ground import MOVES_TRIED, Ground, LawError, Position, Table, move_text
from cardai.conformance.law import law
from cardai.game import int_seed
from cardai.rule import mixed
from cardai.table.many import Results


@law
def deals_repeat_for_a_seed(ground: Ground) -> None:
    """The same seed, variant and seats give the same deal, byte for byte."""
    for trace in ground.traces:
        again = ground.game.new(trace.table.seats, trace.seed, trace.table.variant)
        if again.tobytes() != trace.states[0].tobytes():
            raise Position(trace, 0).broken("a second deal from the same seed differs from the first")


@law
def seeds_deal_differently(ground: Ground) -> None:
    """If dealing draws chance, 64 seeds do not all give the same deal."""
    for table in ground.tables:
        seeds, deals = ground.seeds(table, 64), ground.deals(table, 0, 64)
        drew = any(int(rng) != int(mixed(int_seed(int(seed)))) for rng, seed in zip(deals["rng"], seeds, strict=True))
        said = facts(deals)
        if drew and (said == said[0]).all():
            raise LawError(
                f"{table}, seed {seeds[0]} to {seeds[-1]}, ply 0: deal draws chance, yet all deals are alike"
            )


@law
def play_repeats_for_a_seed(ground: Ground) -> None:
    """A game depends on its seed and line-up only: not on threads, nor on how many games are live."""
    for table in ground.tables:
        lineups = ground.chance("repeat", table).integers(0, len(ground.agents), (6, table.seats))
        first = ground.results(table, lineups, ground.agents, live=6)
        for options in ({"live": 1}, {"live": 4, "threads": 2}):
            second = ground.results(table, lineups, ground.agents, **options)
            for i in range(len(lineups)):
                _same_game(ground, table, i, first, second, f"with {options}")


def _same_game(ground: Ground, table: Table, i: int, first: Results, second: Results, how: str) -> None:
    where = f"{table}, seed {ground.seeds(table, i + 1)[i]}"
    if first.endless[i] != second.endless[i]:
        raise LawError(f"{where}, ply {ground.game.max_plies}: endless once and not again, {how}")
    if first.endless[i]:
        return
    one, other = first.moves[i], second.moves[i]
    assert one is not None
    assert other is not None
    if one.tobytes() != other.tobytes():
        common = min(len(one), len(other))
        same = one[:common] == other[:common]
        raise LawError(
            f"{where}, ply {common if same.all() else int(np.argmin(same))}: another move than before, {how}"
        )
    if (first.scores[i] != second.scores[i]).any():
        raise LawError(f"{where}, ply {len(one)}: scores {second.scores[i]} after {first.scores[i]}")


@law
def records_replay(ground: Ground) -> None:
    """The recorded moves lead from the deal to the same end and the same scores."""
    for trace in ground.traces:
        end = trace.end
        if end.turn >= 0:
            raise end.broken("the recorded game was over here; replayed, it goes on")
        scores = [float(ground.compiled.values(end.states, seat)[0]) for seat in end.seats]
        if scores != list(trace.scores):
            raise end.broken(f"replayed, the scores are {scores}; they were {list(trace.scores)}")


@law
def every_game_ends(ground: Ground) -> None:
    """Evenly random games of every variant and seat count end within max_plies, and nobody to move is without a move.

    Line-ups of simple players may go round in circles; the table gives such games up and counts them.
    """
    for table in ground.tables:
        lineups = np.zeros((max(20, ground.effort.games), table.seats), np.int64)
        results = ground.results(table, lineups, ground.agents)
        if results.endless.any():
            seed = ground.seeds(table, len(lineups))[np.argmax(results.endless)]
            raise LawError(f"{table}, seed {seed}, ply {ground.game.max_plies}: the game has not ended")


@law
def scores_are_shares(ground: Ground) -> None:
    """Final scores lie in [0, 1] and add up to what score_sum declares."""
    for trace in ground.traces:
        scores = trace.scores
        if not (np.isfinite(scores).all() and scores.min() >= 0.0 and scores.max() <= 1.0):
            raise trace.end.broken(f"scores {list(scores)} are not all in [0, 1]")
        declared = ground.game.score_sum(trace.table.seats)
        if declared is not None and not math.isclose(scores.sum(), declared, abs_tol=1e-9):
            raise trace.end.broken(f"scores {list(scores)} add up to {scores.sum()}, declared is {declared}")


@law
def header_stays_in_range(ground: Ground) -> None:
    """turn, ply, seats, revealed, midway and the variant's options always hold what they may."""
    for trace in ground.traces:
        states, seats = trace.states, trace.table.seats
        fixed = {"seats": seats, **ground.game.variants[trace.table.variant]}
        wrong = {name: np.flatnonzero(states[name] != value) for name, value in fixed.items()}
        wrong["ply"] = np.flatnonzero(states["ply"] != np.arange(len(states)))
        wrong["turn"] = np.flatnonzero((states["turn"][:-1] < 0) | (states["turn"][:-1] >= seats))
        wrong["revealed"] = np.flatnonzero((states["revealed"] < 0) | (states["revealed"] >> seats != 0))
        wrong["midway"] = np.flatnonzero((states["midway"] != 0) & (states["midway"] != 1))
        for name, plies in wrong.items():
            if len(plies):
                raise Position(trace, int(plies[0])).broken(f"{name} is {states[plies[0]][name]}")


@law
def act_draws_no_chance(ground: Ground) -> None:
    """act leaves the random stream alone: all chance is settle's, after the after-state."""
    for here in ground.positions(ground.effort.positions):
        moves = ground.compiled.moves(here.states)[:MOVES_TRIED]
        after = ground.compiled.moved(here.states, moves, settle=False)
        drawn = np.flatnonzero(after["rng"] != here.state["rng"])
        if len(drawn):
            raise here.broken(f"act({move_text(ground.game, here.state, moves[drawn[0]])}) drew from state.rng")
