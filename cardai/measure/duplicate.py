"""A line-up on duplicate deals: play each deal in several rotations, and find what the line-up's places scored.

Code of somebody else's (`Agent.is_foreign`) may remember what it is shown: in all rotations of a deal together it would
see all hands. So if an agent of the line-up runs such code, nothing is dealt twice: each rotation has a deal of its
own, and what is called a deal here is a block of these games, in which each place sits once in each seat.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from cardai.errors import CardaiError
from cardai.game import MEASURED, Game, Payoff, Row
from cardai.playing.agents.process import openings
from cardai.playing.agents.spec import Agent
from cardai.playing.progress import CountProgress
from cardai.playing.stats.deals import deal_seeds
from cardai.playing.stats.measure import value_of
from cardai.playing.table.many import Results, play
from cardai.records.elsewhere import Machines
from cardai.records.record import Writer


def line_up_of(row: Row, teams: int) -> tuple[str, ...]:
    """The line-up of a row of a suite: a spec for each place, and `MEASURED` for each of the measured agent's places.

    `teams`: as in `Game.teams`. Raises CardaiError if the opponents do not fill the other teams.
    """
    if MEASURED in row.opponents:
        return row.opponents
    if not teams:
        return (MEASURED, *row.opponents)
    if teams == 1:
        raise CardaiError("where all seats are one team, a row names MEASURED for each of them")
    members, missing = divmod(len(row.opponents), teams - 1)
    if missing:
        raise CardaiError(f"{len(row.opponents)} opponents cannot be {teams - 1} teams of equal size")
    others = iter(row.opponents)
    return tuple(next(others) if place % teams else MEASURED for place in range(members * teams))


def play_rotated(
    game: Game,
    line_up: Sequence[Agent],
    turns: np.ndarray,
    deals: int,
    seed: int,
    variant: str,
    threads: int | None,
    progress: CountProgress | None,
    writer: Writer | None = None,
    salt: str = "",
    noted: Sequence[str] = (),
    moves: bool = False,
    first: int = 0,
    cluster: Machines | None = None,
    own_deals: bool = False,
) -> tuple[Results, np.ndarray]:
    """Play a line-up on duplicate deals. Returns the results and which place of the line-up sat in each seat.

    `turns`: which place sits in each seat in the rotations that each deal is played in, i64[rotations, seats]. The
    places are i64[deals, rotations, seats]; game d * rotations + r of the results is rotation r of deal d. `writer`:
    takes the games; its agents are the specs of the line-up, each once. `salt`: see `deal_seeds`. `noted`: names of
    outcomes that are noted of each game. `moves`: keep the moves of each game in the results. `first`: the number of
    the first deal. `cluster`: the machines that play. `own_deals`: each rotation has a deal of its own even if no agent
    runs code of somebody else's.
    """
    places = np.tile(turns, (deals, 1))
    seeds = seeds_of(line_up, turns, deals, seed, salt, first, own_deals).reshape(-1)
    agents = at_the_table(line_up)
    lineups = np.array([_number(agents, player) for player in line_up])[places]
    specs = list(dict.fromkeys(player.spec for player in line_up))
    by_spec = np.array([specs.index(player.spec) for player in line_up])[places]
    results = (play if cluster is None else cluster.play)(
        game,
        agents,
        lineups,
        seeds,
        variant=variant,
        threads=threads,
        progress=progress,
        on_game=writer and writer.in_order(by_spec, seeds, first * len(turns)),
        outcomes=noted,
        record=moves,
    )
    return results, places.reshape(deals, *turns.shape)


def seeds_of(
    players: Iterable[Agent],
    turns: np.ndarray,
    deals: int,
    seed: int,
    salt: str = "",
    first: int = 0,
    own_deals: bool = False,
) -> np.ndarray:
    """The seeds of games on duplicate deals, u64[deals, rotations], between such players; see `play_rotated`."""
    if not (own_deals or needs_own_deals(players)):
        return np.repeat(deal_seeds(seed, deals, salt, first)[:, None], len(turns), axis=1)
    seats = turns.shape[1]  # so line-ups with fewer rotations have the same deals in those that they play
    return deal_seeds(seed, deals * seats, salt, first * seats).reshape(deals, seats)[:, : len(turns)].copy()


def needs_own_deals(players: Iterable[Agent]) -> bool:
    """Whether an agent runs code of somebody else's, which must see no deal twice."""
    return any(player.is_foreign for player in players)


def at_the_table(line_up: Sequence[Agent]) -> list[Agent]:
    """The agents that play: those with the same spec are one, except those with a process for each place."""
    agents: list[Agent] = []
    for player in line_up:
        if _number(agents, player) < 0:
            agents.append(player)
    return agents


def unsealed(line_ups: Iterable[Sequence[Agent]], salt: str | None) -> tuple[str, ...]:
    """Why code of somebody else's could know hidden cards, a sentence each; empty if the system keeps them from it.

    `salt`: the one that was given, None if it is to be drawn for the run.
    """
    reasons: dict[str, None] = {}
    for line_up in line_ups:
        foreign = [player for player in line_up if player.is_foreign]
        labels = [player.label for player in foreign]
        for player in foreign:
            if not player.strategy.is_isolated:
                reasons[f"{player.label} ran in cardai's process, which holds all cards"] = None
            if labels.count(player.label) > 1:
                reasons[f"{player.label} had several places at a table, which can tell each other their hands"] = None
        if foreign:
            reasons |= dict.fromkeys(openings())
            if salt is not None:
                reasons["the salt was given, so that the deals can have been known"] = None
    return tuple(reasons)


def _number(agents: Sequence[Agent], player: Agent) -> int:
    """The index of the agent that plays for `player`, -1 if there is none."""
    own = player.strategy.is_isolated
    alike = (i for i, other in enumerate(agents) if (other is player if own else other.spec == player.spec))
    return next(alike, -1)


def outcomes(payoff: Payoff, measure: str, results: Results) -> np.ndarray:
    """What each seat got in each game by a measure (`stats.measure`): f8[G, seats], NaN for unfinished games.

    An outcome of the game must be among those that were noted. Its values are in its own unit, NaN for seats to which
    it does not apply; scores are in the unit of the game's `payoff`, others in [0, 1].
    """
    noted = results.outcomes.get(measure)
    values = value_of(payoff, measure, results.scores) if noted is None else noted
    return np.where(results.finished[:, None], values, np.nan)


def outcomes_of_place(places: np.ndarray, place: int, outcomes: np.ndarray) -> np.ndarray:
    """The outcomes of one place of the line-up, f8[deals, rotations], from those of all seats, f8[G, seats]."""
    deals, turns, seats = places.shape
    seat = np.argmax(places == place, axis=2)
    return np.take_along_axis(outcomes.reshape(deals, turns, seats), seat[:, :, None], axis=2)[:, :, 0]


def outcomes_of_places(places: np.ndarray, groups: Sequence[Sequence[int]], outcomes: np.ndarray) -> np.ndarray:
    """The outcomes of several groups of places side by side, f8[deals, len(groups) * rotations].

    A group counts once a game, by the mean of its places' outcomes; places to which an outcome does not apply are left
    out.
    """
    means = []
    for group in groups:
        own = np.array([outcomes_of_place(places, place, outcomes) for place in group])
        count = np.isfinite(own).sum(axis=0)
        means.append(np.nansum(own, axis=0) / np.where(count, count, np.nan))
    return np.concatenate(means, axis=1)


def sides(own: Sequence[int], teams: int) -> list[list[int]]:
    """A player's places by team (`Game.teams`), or each for itself without teams: groups for `outcomes_of_places`."""
    found: dict[int, list[int]] = {}
    for place in own:
        found.setdefault(place % teams if teams else place, []).append(place)
    return list(found.values())
