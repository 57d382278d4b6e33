"""Laws on deals, plies and scores: a game repeats from its seed, comes to an end, and has scores as declared.

Before all others come laws on single calls. A game that crashes or hangs does so there first, where the call is known.
"""

from collections import Counter, defaultdict
from collections.abc import Generator
from typing import Any

import numpy as np

from cardai.game.compiled.together import seats_together
from cardai.laws.evidence import SIGMA, facts, marks, off_twice, strictness
from cardai.laws.law import NotTested, Steps, at_once, each_end, each_game, each_position, each_table, law
from cardai.laws.plain_python import in_plain_python
from cardai.laws.steps import play_through
from cardai.laws.testbed import MOVES_TRIED, STEERED_FROM, LawError, Looked, Position, Setup, Testbed, Trace
from cardai.playing.table.many import Results
from cardai.rules import mixed

AT_ONCE = 12  # games of a setup that are steered at once, for each seat
WORLDS = 64  # of each deal, to see how often they equal it
LEAST_HITS = 10  # the variance of how often they do, at least: with none seen, a few may be expected
FEW = 2.0  # the variance of a count that says too little by itself


@law
def plain_python_plays_through(testbed: Testbed) -> Steps:
    """Played move by move in plain Python (CARDAI_JIT=0), no function raises, runs for ever or fills the memory.

    One game with the fewest seats and one with the most, of the first variant: plain Python is too slow for all.
    """
    return in_plain_python(testbed, _walks, lambda answer: answer["error"])


def _walks(testbed: Testbed) -> dict[str, Any]:
    tables = [Setup(next(iter(testbed.variants)), n) for n in sorted({testbed.game.seats[0], testbed.game.seats[-1]})]
    return {"walks": [{**vars(setup), "seed": int(testbed.seeds(setup, 1)[0])} for setup in tables]}


@each_table()
def every_call_returns(testbed: Testbed, setup: Setup) -> None:
    """Played move by move, every function returns: none crashes, raises, runs for ever or fills the memory."""
    play_through(testbed.game, setup, int(testbed.seeds(setup, 1)[0]))


@each_game()
def deals_repeat_for_a_seed(trace: Trace) -> None:
    """The same seed, variant and number of seats give the same deal, byte for byte."""
    again = trace.testbed.game.new(trace.setup.seats, trace.seed, trace.setup.variant)
    if again.tobytes() != trace.states[0].tobytes():
        raise Position(trace, 0).broken("a second deal from the same seed differs from the first")


@each_table(none="deal draws no chance")
def seeds_deal_differently(testbed: Testbed, setup: Setup) -> bool:
    """If dealing draws chance, games of two seeds share no random stream, nor more deals than worlds allow.

    A deal is at most as likely as it is among the worlds that a seat has then. So deals equal others at most as often
    as worlds equal the deal they come from (5 sigma). Where nothing is hidden, only equal streams are found.
    """
    count = testbed.effort.deals
    seeds, deals = testbed.seeds(setup, count), testbed.deals(setup, 0, count)
    drew = bool((deals["rng"] != np.array([mixed(seed) for seed in seeds], np.uint64)).any())
    where = f"{setup}, seed {seeds[0]} to {seeds[-1]}, ply 0"
    if drew and (marks(deals) == marks(deals[:1])).all():
        raise LawError(f"{where}: deal draws chance, but all deals are the same")
    played = [trace.states["rng"] for trace in testbed.traces if trace.setup == setup]
    for when, streams in (
        ("after the deal", deals["rng"]),
        ("later in the game", np.concatenate([np.setdiff1d(streams, streams[:1]) for streams in played])),
    ):
        if same := len(streams) - len(np.unique(streams)):
            raise LawError(f"{where}: {same} random streams {when} are those of games from other seeds")
    if drew and off_twice(
        _repeated(testbed, deals), lambda: _repeated(testbed, testbed.deals(setup, count, 4 * count))
    ):
        what = f"{count - len(np.unique(marks(deals)))} of {count} deals are those of earlier seeds"
        raise LawError(f"{where}: {what}; the worlds at the deal are too many for that (5 sigma)")
    return drew


def _repeated(testbed: Testbed, deals: np.ndarray) -> np.ndarray:
    """How much more often deals equal others than worlds equal the deal they come from, in standard deviations: f8[1].

    The second half of the deals is compared with each of the first half, and that with some worlds of it.
    """
    seats, half = int(deals["seats"][0]), len(deals) // 2
    known, number = np.unique(given := marks(deals[:half]), return_counts=True)
    place = np.minimum(np.searchsorted(known, others := marks(deals[half:])), len(known) - 1)
    equal = np.where(known[place] == others, number[place], 0)
    hits = np.zeros(half)
    for seat in range(seats if equal.any() else 0):
        worlds = testbed.compiled.worlds_of_each(np.repeat(deals[seat:half:seats], WORLDS), seat, seat)
        hits[seat::seats] = (marks(worlds).reshape(-1, WORLDS) == given[seat::seats, None]).sum(axis=1)
    variance = equal.var() / len(equal) + max(LEAST_HITS, (hits * (1 - hits / WORLDS)).sum()) / WORLDS**2
    return np.array([max(0.0, equal.mean() - hits.sum() / WORLDS) / variance**0.5])


@each_table()
def play_repeats_for_a_seed(testbed: Testbed, setup: Setup) -> None:
    """A game depends only on its seed and line-up, not on the number of threads or of games played at once."""
    lineups = testbed.chance("repeat", setup).integers(0, len(testbed.agents), (6, setup.seats))
    first = testbed.results(setup, lineups, testbed.agents, live=6)
    for options in ({"live": 1}, {"live": 4, "threads": 2}):
        second = testbed.results(setup, lineups, testbed.agents, **options)
        for i, seed in enumerate(testbed.seeds(setup, len(lineups))):
            ply, what = _difference(first, second, i)
            if what:
                raise LawError(f"{setup}, seed {seed}, ply {ply}: {what}, played with {options}")


def _difference(first: Results, second: Results, i: int) -> tuple[int, str]:
    """The ply from which game i went on differently when it was played again, and how it did, "" if it did not."""
    one, other = first.moves[i], second.moves[i]
    if one is None or other is None:
        ended = next((moves for moves in (one, other) if moves is not None), None)
        return (0, "") if ended is None else (len(ended), "the game was endless once, and then it was not")
    common = min(len(one), len(other))
    differing = np.flatnonzero(one[:common] != other[:common])
    if len(differing) or len(one) != len(other):
        return int(differing[0]) if len(differing) else common, "another move than before"
    if (first.scores[i] != second.scores[i]).any():
        return common, f"scores {second.scores[i]} after {first.scores[i]}"
    return 0, ""


@each_game()
def records_replay(trace: Trace) -> None:
    """Replaying the recorded moves leads from the deal to the same end and the same scores."""
    end = trace.end
    if end.turn >= 0:
        raise end.broken("the recorded game was over here; replayed, it goes on")
    scores = [float(end.compiled.values(end.states, seat)[0]) for seat in end.seats]
    if scores != list(trace.scores):
        raise end.broken(f"replayed, the scores are {scores}; they were {list(trace.scores)}")


@each_table()
def every_game_ends(testbed: Testbed, setup: Setup) -> None:
    """Evenly random games of each variant and seat count end within max_plies; a seat to move always has a legal move.

    Line-ups of simple players may repeat positions for ever, so only evenly random play must end.
    """
    lineups = np.zeros((max(20, testbed.effort.games), setup.seats), np.int64)
    results = testbed.results(setup, lineups, testbed.agents)
    if results.endless.any():
        seed = testbed.seeds(setup, len(lineups))[np.argmax(results.endless)]
        raise LawError(f"{setup}, seed {seed}, ply {testbed.game.max_plies}: the game has not ended")


@each_end()
def scores_are_shares(trace: Trace) -> None:
    """Final scores are in the range of the payoff, by default [0, 1], and add up to what score_sum declares."""
    if wrong := trace.testbed.wrong_scores(trace.scores):
        raise trace.end.broken(wrong)


@each_end("teams")
def teams_score_alike(trace: Trace) -> None:
    """Seats of a team, as `teams` declares them, have the same score at the end of every game."""
    for seat, score in enumerate(trace.scores):
        first = seat % trace.testbed.game.teams
        if score != trace.scores[first]:
            told = f"seats {first} and {seat} are a team and score {trace.scores[first]:g} and {score:g}"
            raise trace.end.broken(told)


@law
def seats_score_alike(testbed: Testbed) -> Steps:
    """Seats score alike wherever they sit, given how far from the first to move: on average, and at rare ends.

    It is tested where the deal draws who begins, each seat as often, or where all begin with choices at the same time
    (5 sigma). The average is that of evenly random games. Rare ends are those of games that are steered to them
    (`Testbed.steered`): the scores of all seats come as often as the same scores one seat further. A game whose seats
    differ otherwise says so (`Game.seats_alike`).
    """
    if not testbed.game.seats_alike:
        raise NotTested("the game says that its seats differ (`seats_alike`)")
    each = -(-testbed.effort.symmetry_games // len(testbed.setups))
    first, steered = yield from _favours(testbed, 0, each, testbed.effort.symmetry_games)
    if not first:
        raise NotTested("the deal does not draw who begins, so seats may differ")
    names = list(first)

    def again() -> np.ndarray:
        second, _ = at_once(_favours(testbed, each, 3 * each, 3 * steered))
        return np.array([second.get(name, 0.0) for name in names])

    if found := off_twice(np.array([*first.values()]), again, strictness(len(first))):
        favour, payoff = names[found[0]], testbed.game.payoff
        what, than = f"seat {favour} scores", "other seats in its place"
        if isinstance(favour, tuple):
            ends = ", ".join(f"{payoff.of(score):g}" for score in favour)
            what, than = (
                f"in games steered to rare ends, seats have the scores {ends}",
                "these scores moved by some seats",
            )
        what = f"{what} {'more' if found[1] > 0 else 'less'} {'often ' * (than[0] == 't')}than {than} (5 sigma)"
        raise LawError(f"{testbed.anywhere()}, ply unknown: {what}")


Favour = int | tuple[float, ...]
"""What is counted: the mean score of a seat in random games, or how often steered ones end with scores of all seats."""


def _favours(
    testbed: Testbed, first: int, count: int, steer: int
) -> Generator[Looked, None, tuple[dict[Favour, float], int]]:
    """How far what is counted is from what is even, in standard deviations, and how many games were steered.

    `count` random games of each setup are played from the seed number `first` on, and `steer` steered ones in all.
    """
    sums: defaultdict[Favour, np.ndarray] = defaultdict(lambda: np.zeros(2))
    ends: dict[Setup, list[tuple[float, ...]]] = {}
    seen = Looked(count * len(testbed.setups) + steer, "games")
    for setup in testbed.setups:
        yield seen
        if seen.enough:
            break
        more = _surplus(testbed, setup, first, count)
        seen.done += count
        if more is not None:
            ends[setup] = []
            for seat in range(setup.seats):
                sums[seat] += more[:, seat].sum(), (more[:, seat] ** 2).sum()
    steered = 0
    while ends and steered < steer and not seen.enough:
        for setup, scores in ends.items():
            yield seen
            if seen.enough:
                break
            size = AT_ONCE * setup.seats
            lines, ended = testbed.steered(setup, STEERED_FROM + 4 * first + steered, size)
            scores += (tuple(end) for line, end in zip(lines, ended.tolist(), strict=True) if len(line))
            steered += size
            seen.done = min(seen.done + size, seen.total)
    for scores in ends.values():
        _add_ends(sums, Counter(scores))
    seen.done = seen.done if seen.enough else seen.total
    return {name: total / variance**0.5 for name, (total, variance) in sums.items() if variance >= FEW}, steered


def _add_ends(sums: defaultdict[Favour, np.ndarray], ends: Counter[tuple[float, ...]]) -> None:
    """Count how much more often each end comes than its rotations do on average. `ends`: scores of all seats."""
    for scores in list(ends):
        rotations = {scores[seat:] + scores[:seat] for seat in range(len(scores))}
        number, share = sum(ends[moved] for moved in rotations), 1 / len(rotations)
        for moved in rotations if scores == min(rotations & ends.keys()) else ():
            sums[moved] += ends[moved] - number * share, number * share * (1 - share)


def _surplus(testbed: Testbed, setup: Setup, first: int, count: int) -> np.ndarray | None:
    """Scores of random games, less the mean of all seats as far from the first to move: f8[games, seats].

    None if a seat begins more often than others: then there is nothing to compare it with.
    """
    deals, seats = testbed.deals(setup, first, count), np.arange(setup.seats)
    if not (all_begin := all(len(seats_together(testbed.game, deal)) == setup.seats for deal in deals)):
        even = count / setup.seats
        if (np.abs(np.bincount(deals["turn"], minlength=setup.seats) - even) > SIGMA * np.sqrt(even)).any():
            return None
    lineups = np.zeros((count, setup.seats), np.int64)
    results = testbed.results(setup, lineups, testbed.agents, first, record=False, checked=False)
    scores, starts = results.scores[results.finished], deals["turn"][results.finished, None]
    if all_begin:
        return scores - scores.mean()
    means = np.take_along_axis(scores, (starts + seats) % setup.seats, axis=1).mean(axis=0)
    return scores - means[(seats - starts) % setup.seats]


@each_game()
def header_stays_in_range(trace: Trace) -> None:
    """turn, ply, seats, revealed, midway and the variant's options always have a value that is allowed."""
    states, seats = trace.states, trace.setup.seats
    fixed = {"seats": seats, "ply": np.arange(len(states)), **trace.testbed.variants[trace.setup.variant]}
    wrong = {name: states[name] != value for name, value in fixed.items()}
    wrong["turn"] = (states["turn"][:-1] < 0) | (states["turn"][:-1] >= seats)
    wrong["revealed"] = (states["revealed"] < 0) | (states["revealed"] >> seats != 0)
    wrong["midway"] = (states["midway"] != 0) & (states["midway"] != 1)
    for name, is_wrong in wrong.items():
        if is_wrong.any():
            ply = int(np.argmax(is_wrong))
            raise Position(trace, ply).broken(f"{name} is {states[ply][name]}")


@each_position("positions")
def act_draws_no_chance(here: Position) -> None:
    """act does not draw from the state's random stream; only settle does, after the after-state."""
    moves = here.moves[:MOVES_TRIED]
    drew = moves[here.compiled.moved(here.states, moves, settle=False)["rng"] != here.state["rng"]]
    if len(drew):
        raise here.broken(f"act({here.text(drew[0])}) drew from state.rng")


@each_game("is_open", none="no game came to a position that is_open calls open")
def open_positions_leave_nothing_to_chance(trace: Trace) -> bool:
    """In a position that is_open calls open, nothing is hidden from the seat to move and only moves decide, to the end.

    Each such position is also played on with another random stream, and as if it were ply 0.
    """
    opened = _opened(trace)
    closed = np.setdiff1d(np.arange(opened[0], len(trace.moves)), opened) if len(opened) else opened
    if len(closed):
        raise Position(trace, int(closed[0])).broken("is_open is false here, but true earlier in the same game")
    number = min(trace.testbed.effort.positions, len(opened))
    for i in np.unique(np.linspace(0, len(opened) - 1, number).round()):
        _is_open(Position(trace, int(opened[int(i)])))
    return len(opened) > 0


def _opened(trace: Trace) -> np.ndarray:
    return np.flatnonzero(trace.testbed.compiled.opened(trace.states[:-1]))


def _is_open(here: Position) -> None:
    """Test that worlds of the seat to move are the true state, and that the path to it decides nothing."""
    if (facts(here.own.truth_and_worlds(4)) != facts(here.states)).any():
        raise here.broken(f"is_open is true, but resample deals anew what seat {here.turn} cannot know")
    moves, other = here.some_moves(), _forgotten(here.states)
    other["rng"] ^= np.uint64(0xA5A5A5A5A5A5A5A5)
    after, again = here.compiled.moved(here.states, moves), here.compiled.moved(other, moves)
    wrong = moves[(facts(_forgotten(after)) != facts(_forgotten(again))).any(axis=1)]
    if len(wrong):
        what = f"after {here.text(wrong[0])} the random stream or the ply decides what follows"
        raise here.broken(f"is_open is true, but {what}")
    if not np.array_equal(_scores(here, after), _scores(here, again), equal_nan=True):
        raise here.broken("is_open is true, but the random stream or the ply decides the scores")


def _forgotten(states: np.ndarray) -> np.ndarray:
    """Copies of states as the search of endings sees them: without the ply and what was revealed."""
    found = np.array(states)
    found["ply"] = found["revealed"] = 0
    return found


def _scores(here: Position, states: np.ndarray) -> np.ndarray:
    """The scores of all seats in those of the states that are over."""
    return np.array([here.compiled.values(states[states["turn"] < 0], seat) for seat in here.seats])


@each_game("is_open simplify", none="no game came to a position that is_open calls open")
def simplify_keeps_what_follows(trace: Trace) -> bool:
    """In open positions, simplify changes neither the legal moves, nor whose turn follows them, nor the scores."""
    opened = _opened(trace)
    state, compiled = trace.states[opened[:1]], trace.testbed.compiled
    for ply in opened.tolist():
        here, state = Position(trace, ply), compiled.simplified(state)
        if not here.is_truncated and not np.array_equal(compiled.moves(state), here.moves):
            raise here.broken("simplify changes the legal moves")
        tried = here.some_moves()
        after, again = compiled.moved(here.states, tried), compiled.moved(state, tried)
        if (after["turn"] != again["turn"]).any() or (after["midway"] != again["midway"]).any():
            raise here.broken("simplify changes whose turn follows a move")
        if (_scores(here, after) != _scores(here, again)).any():
            raise here.broken("simplify changes the scores after a move")
        state = compiled.moved(state, here.move)
    return len(opened) > 0
