"""What one agent got on duplicate deals with rotated seats, game by game: f8[deals, rotations]."""

from collections.abc import Callable, Sequence

import numpy as np

from cardai.game import MEASURED, Game, Row
from cardai.measure.duplicate import line_up_of, outcomes, outcomes_of_places, play_rotated, sides
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.machine import default_threads
from cardai.playing.stats.deals import distinct_rotations

COUNTED = {
    "win": "games won",
    "loss": "games lost",
    "not_lost": "games not lost",
    "share": "share of the win",
    "score": "score, a tie counted half",
}
"""{measure: what tables call it}; `cardai.playing.stats.measure.OF_SCORES` defines the measures."""
LOWER_IS_BETTER = ("loss",)


def outcomes_of(
    game: Game,
    player: Agent,
    opponents: Sequence[str],
    games: int,
    seed: int,
    variant: str | None,
    measure: str,
    progress: Callable[[int, int], None] | None = None,
) -> np.ndarray:
    """What a player got in each game of each deal by a measure: f8[deals, outcomes], NaN for a game without an end.

    `opponents`: specs, as in a row of a suite. In a game of teams the player has all seats of its team, and they count
    once. Games are those of a match between these agents with this many games and this seed, and are counted as there:
    a deal has an outcome for each rotation, and if opponents have the player's own spec, for each of its places (teams)
    in each rotation that seats different agents. Raises KeyboardInterrupt on Ctrl-C.
    """
    named = line_up_of(Row(tuple(opponents)), game.teams)
    others = {spec: agent(game, spec) for spec in dict.fromkeys(named) if spec != MEASURED}
    line_up = [player if spec == MEASURED else others[spec] for spec in named]
    own = [place for place, one in enumerate(line_up) if one.spec == player.spec]
    turns = distinct_rotations([one.spec for one in line_up])
    results, places = play_rotated(
        game,
        line_up,
        turns,
        -(-games // len(turns)),
        seed,
        game.canonical(variant),
        default_threads(),
        progress,
    )
    return outcomes_of_places(places, sides(own, game.teams), outcomes(game.payoff, measure, results.complete()))
