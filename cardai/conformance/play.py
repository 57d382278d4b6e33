"""Laws on deals, plies and scores: a game repeats from its seed, comes to an end, and has scores as declared."""

import math
from collections.abc import Generator

import numpy as np

from cardai.conformance.evidence import HINT, SIGMA, facts
from cardai.conformance.law import Steps, at_once, law
from cardai.conformance.testbed import MOVES_TRIED, Counted, LawError, Looked, Position, Setup, Testbed, move_text
from cardai.game import int_seed
from cardai.rule import mixed
from cardai.table.many import Results


@law
def deals_repeat_for_a_seed(testbed: Testbed) -> Steps:
    """The same seed, variant and number of seats give the same deal, byte for byte."""
    for trace in (seen := Counted(testbed.mixed(testbed.traces), "games")):
        yield seen
        again = testbed.game.new(trace.setup.seats, trace.seed, trace.setup.variant)
        if again.tobytes() != trace.states[0].tobytes():
            raise Position(trace, 0).broken("a second deal from the same seed differs from the first")


@law
def seeds_deal_differently(testbed: Testbed) -> Steps:
    """If dealing draws chance, 64 seeds do not all give the same deal."""
    for setup in (seen := Counted(testbed.setups, "tables")):
        yield seen
        seeds, deals = testbed.seeds(setup, 64), testbed.deals(setup, 0, 64)
        drew = any(int(rng) != int(mixed(int_seed(int(seed)))) for rng, seed in zip(deals["rng"], seeds, strict=True))
        contents = facts(deals)
        if drew and (contents == contents[0]).all():
            raise LawError(
                f"{setup}, seed {seeds[0]} to {seeds[-1]}, ply 0: deal draws chance, but all deals are the same"
            )


@law
def play_repeats_for_a_seed(testbed: Testbed) -> Steps:
    """A game depends only on its seed and line-up, not on the number of threads or of games played at once."""
    for setup in (seen := Counted(testbed.setups, "tables")):
        yield seen
        lineups = testbed.chance("repeat", setup).integers(0, len(testbed.agents), (6, setup.seats))
        first = testbed.results(setup, lineups, testbed.agents, live=6)
        for options in ({"live": 1}, {"live": 4, "threads": 2}):
            second = testbed.results(setup, lineups, testbed.agents, **options)
            for i in range(len(lineups)):
                _same_game(testbed, setup, i, first, second, f"with {options}")


def _same_game(testbed: Testbed, setup: Setup, i: int, first: Results, second: Results, how: str) -> None:
    where = f"{setup}, seed {testbed.seeds(setup, i + 1)[i]}"
    if first.endless[i] != second.endless[i]:
        raise LawError(
            f"{where}, ply {testbed.game.max_plies}: the game was endless once, but not when played again {how}"
        )
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
def records_replay(testbed: Testbed) -> Steps:
    """Replaying the recorded moves leads from the deal to the same end and the same scores."""
    for trace in (seen := Counted(testbed.mixed(testbed.traces), "games")):
        yield seen
        end = trace.end
        if end.turn >= 0:
            raise end.broken("the recorded game was over here; replayed, it goes on")
        scores = [float(testbed.compiled.values(end.states, seat)[0]) for seat in end.seats]
        if scores != list(trace.scores):
            raise end.broken(f"replayed, the scores are {scores}; they were {list(trace.scores)}")


@law
def every_game_ends(testbed: Testbed) -> Steps:
    """Evenly random games of each variant and seat count end within max_plies; a seat to move always has a legal move.

    Line-ups of simple players may repeat positions for ever, so only evenly random play must end.
    """
    for setup in (seen := Counted(testbed.setups, "tables")):
        yield seen
        lineups = np.zeros((max(20, testbed.effort.games), setup.seats), np.int64)
        results = testbed.results(setup, lineups, testbed.agents)
        if results.endless.any():
            seed = testbed.seeds(setup, len(lineups))[np.argmax(results.endless)]
            raise LawError(f"{setup}, seed {seed}, ply {testbed.game.max_plies}: the game has not ended")


@law
def scores_are_shares(testbed: Testbed) -> Steps:
    """Final scores are in [0, 1] and add up to what score_sum declares."""
    for trace in (seen := Counted(testbed.mixed(testbed.traces), "games")):
        yield seen
        scores = trace.scores
        if not (np.isfinite(scores).all() and scores.min() >= 0.0 and scores.max() <= 1.0):
            raise trace.end.broken(f"scores {list(scores)} are not all in [0, 1]")
        declared = testbed.game.score_sum(trace.setup.seats)
        if declared is not None and not math.isclose(scores.sum(), declared, abs_tol=1e-9):
            raise trace.end.broken(f"scores {list(scores)} add up to {scores.sum()}, declared is {declared}")


@law
def teams_score_alike(testbed: Testbed) -> Steps:
    """Seats of a team, as `teams` declares them, have the same score at the end of every game."""
    teams = testbed.game.teams
    for trace in (seen := Counted(testbed.mixed(testbed.traces) if teams else (), "games")):
        yield seen
        for seat in range(teams, trace.setup.seats):
            if trace.scores[seat] != trace.scores[seat % teams]:
                told = f"seats {seat % teams} and {seat} are a team and score {trace.scores[seat % teams]:g} and"
                raise trace.end.broken(f"{told} {trace.scores[seat]:g}")


@law
def seats_score_alike(testbed: Testbed) -> Steps:
    """Evenly random seats have the same mean score wherever they sit, given how far they sit from the first to move.

    It is tested where the deal draws who begins (5 sigma). A game whose seats differ otherwise says so
    (`Game.seats_alike`).
    """
    if not testbed.game.seats_alike:
        return
    each = -(-testbed.effort.symmetry_games // len(testbed.setups))
    first = yield from _favours(testbed, 0, each)
    if np.abs(first).max() <= HINT:
        return
    second = at_once(_favours(testbed, each, 3 * each)) * np.sign(first) * (np.abs(first) > HINT)
    if second.max() > SIGMA:
        seat = int(np.argmax(second))
        what = f"seat {seat} scores {'more' if first[seat] > 0 else 'less'} than other seats in its place (5 sigma)"
        where = f"all variants, variant {testbed.game.default_variant} first, seats {testbed.game.seats}"
        raise LawError(f"{where}, seed {testbed.seed} and following, ply unknown: {what}")


def _favours(testbed: Testbed, first: int, count: int) -> Generator[Looked, None, np.ndarray]:
    """How much more each seat scores than others that are as far from the first to move, in standard deviations.

    `count` games of each setup are played from the seed number `first` on.
    """
    surplus, variance = np.zeros(max(testbed.game.seats)), np.zeros(max(testbed.game.seats))
    seen = Looked(count * len(testbed.setups), "games")
    for setup in testbed.setups:
        yield seen
        if seen.enough:
            break
        starts = testbed.deals(setup, first, count)["turn"]
        lineups = np.zeros((count, setup.seats), np.int64)
        results = testbed.results(setup, lineups, testbed.agents, first, record=False, checked=False)
        more = _surplus(results.scores[results.finished], starts[results.finished])
        seen.done += count
        surplus[: setup.seats] += more.sum(axis=0)
        variance[: setup.seats] += (more**2).sum(axis=0)
    return surplus / np.sqrt(np.maximum(variance, 1))


def _surplus(scores: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Scores less the mean of all seats as far from the first to move: f8[games, seats].

    They are 0 where a seat never or hardly ever begins, because there is nothing to compare it with.
    """
    games, seats = scores.shape
    if (np.bincount(starts, minlength=seats) < games / (4 * seats)).any():
        return np.zeros_like(scores)
    by_distance = np.take_along_axis(scores, (starts[:, None] + np.arange(seats)) % seats, axis=1)
    means = by_distance.mean(axis=0)
    return scores - means[(np.arange(seats) - starts[:, None]) % seats]


@law
def header_stays_in_range(testbed: Testbed) -> Steps:
    """turn, ply, seats, revealed, midway and the variant's options always have a value that is allowed."""
    for trace in (seen := Counted(testbed.mixed(testbed.traces), "games")):
        yield seen
        states, seats = trace.states, trace.setup.seats
        fixed = {"seats": seats, **testbed.game.variants[trace.setup.variant]}
        wrong = {name: np.flatnonzero(states[name] != value) for name, value in fixed.items()}
        wrong["ply"] = np.flatnonzero(states["ply"] != np.arange(len(states)))
        wrong["turn"] = np.flatnonzero((states["turn"][:-1] < 0) | (states["turn"][:-1] >= seats))
        wrong["revealed"] = np.flatnonzero((states["revealed"] < 0) | (states["revealed"] >> seats != 0))
        wrong["midway"] = np.flatnonzero((states["midway"] != 0) & (states["midway"] != 1))
        for name, plies in wrong.items():
            if len(plies):
                raise Position(trace, int(plies[0])).broken(f"{name} is {states[plies[0]][name]}")


@law
def act_draws_no_chance(testbed: Testbed) -> Steps:
    """act does not draw from the state's random stream; only settle does, after the after-state."""
    for here in (seen := Counted(testbed.positions(testbed.effort.positions), "positions")):
        yield seen
        moves = testbed.compiled.moves(here.states)[:MOVES_TRIED]
        after = testbed.compiled.moved(here.states, moves, settle=False)
        drawn = np.flatnonzero(after["rng"] != here.state["rng"])
        if len(drawn):
            raise here.broken(f"act({move_text(testbed.game, here.state, moves[drawn[0]])}) drew from state.rng")


@law
def open_positions_leave_nothing_to_chance(testbed: Testbed) -> Steps:
    """In a position that is_open calls open, nothing is hidden from the seat to move and only moves decide, to the end.

    Each such position is also played on with another random stream, and as if it were ply 0.
    """
    if testbed.game.is_open is None:
        return None
    tested = 0
    for trace in (seen := Counted(testbed.mixed(testbed.traces), "games")):
        yield seen
        opened = np.flatnonzero(testbed.compiled.opened(trace.states[:-1]))
        if len(opened) and opened[-1] - opened[0] >= len(opened):
            ply = int(np.setdiff1d(np.arange(opened[0], opened[-1]), opened)[0])
            raise Position(trace, ply).broken(f"is_open is false here, but true at ply {ply - 1} of the same game")
        if len(opened) and opened[-1] != len(trace.moves) - 1:
            ply = int(opened[-1])
            raise Position(trace, ply).broken("is_open is true here, but false after the move that was played")
        for ply in _some(opened, testbed.effort.positions):
            _is_open(testbed, Position(trace, int(ply)))
        tested += len(opened)
    return None if tested else "no game came to a position that is_open calls open"


def _is_open(testbed: Testbed, here: Position) -> None:
    """Test that worlds of the seat to move are the true state, and that the path to it decides nothing."""
    worlds = testbed.compiled.worlds(here.states, here.turn, 4, here.ply)
    if (facts(worlds) != facts(here.states)).any():
        raise here.broken(f"is_open is true, but resample deals anew what seat {here.turn} cannot know")
    moves = testbed.some_moves(here)
    other = _forgotten(here.states)
    other["rng"] ^= np.uint64(0xA5A5A5A5A5A5A5A5)
    after, again = testbed.compiled.moved(here.states, moves), testbed.compiled.moved(other, moves)
    wrong = np.flatnonzero((facts(_forgotten(after)) != facts(_forgotten(again))).any(axis=1))
    if len(wrong):
        text = move_text(testbed.game, here.state, moves[wrong[0]])
        raise here.broken(f"is_open is true, but after {text} the random stream or the ply decides what follows")
    if (after["turn"] < 0).any() and _scores(testbed, here, after).tolist() != _scores(testbed, here, again).tolist():
        raise here.broken("is_open is true, but the random stream or the ply decides the scores")


def _forgotten(states: np.ndarray) -> np.ndarray:
    """Copies of states as the search of endings sees them: without the ply and what was revealed."""
    found = np.array(states)
    found["ply"] = found["revealed"] = 0
    return found


def _scores(testbed: Testbed, here: Position, states: np.ndarray) -> np.ndarray:
    """The scores of all seats in those of the states that are over."""
    return np.array([testbed.compiled.values(states[states["turn"] < 0], seat) for seat in here.seats])


def _some(plies: np.ndarray, count: int) -> np.ndarray:
    """At most `count` of some plies, spread evenly."""
    return plies[np.unique(np.linspace(0, len(plies) - 1, min(count, len(plies))).round().astype(int))]


@law
def simplify_keeps_what_follows(testbed: Testbed) -> Steps:
    """In open positions, simplify changes neither the legal moves, nor whose turn follows them, nor the scores."""
    if testbed.game.is_open is None or testbed.game.simplify is None:
        return
    for trace in (seen := Counted(testbed.mixed(testbed.traces), "games")):
        yield seen
        opened = np.flatnonzero(testbed.compiled.opened(trace.states[:-1]))
        state = trace.states[opened[:1]]
        for ply in opened.tolist():
            here, state = Position(trace, ply), testbed.compiled.simplified(state)
            moves = testbed.compiled.moves(here.states)
            if not np.array_equal(testbed.compiled.moves(state), moves) and not testbed.game.enumerate(here.state)[1]:
                raise here.broken("simplify changes the legal moves")
            tried = testbed.some_moves(here)
            after, again = testbed.compiled.moved(here.states, tried), testbed.compiled.moved(state, tried)
            if (after["turn"] != again["turn"]).any() or (after["midway"] != again["midway"]).any():
                raise here.broken("simplify changes whose turn follows a move")
            if (_scores(testbed, here, after) != _scores(testbed, here, again)).any():
                raise here.broken("simplify changes the scores after a move")
            state = testbed.compiled.moved(state, here.move)
