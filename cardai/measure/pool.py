"""Which agents play at which tables of a league, and in which line-ups they meet.

A *table* is a game with a variant and a number of seats: the game's defaults, and those that its shipped models are
for. Its *pool* is the agents that can play there: random and hand-written players, greedy heuristics, every model asked
as it was trained to be asked, every policy, a short rollout, and agents of other packages that are built on such a
model's agent. Agents that peek are in no pool, nor are those that run Python code of somebody else's: the deals of a
league have no salt, so such code could find them by trying seeds (see `run_suite`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cardai.errors import CardaiError
from cardai.game import Game
from cardai.playing.agents.endgame import which_are_open
from cardai.playing.agents.evaluator import known_evaluators
from cardai.playing.agents.notation import Greedy, Sampled, Spec
from cardai.playing.agents.spec import Agent, agent, kinds_of, packaged_specs
from cardai.registry import load

WORLDS = 10
"""Worlds of sampling agents and rollouts, as their specs say. With 100 they play better and take ten times as long."""
ANCHOR = "random"
"""The agent whose rating is 0."""


@dataclass(frozen=True)
class PlannedTable:
    """A table to be played, and its pool."""

    game: Game
    variant: str
    seats: int
    pool: tuple[Agent, ...]

    @property
    def name(self) -> str:
        """For people."""
        return table_name(self.game.name, self.variant, self.seats)

    @property
    def sides(self) -> int:
        """How many agents play against each other: one for each team, or for each seat in a game without teams."""
        return self.game.teams or self.seats


def table_name(game: str, variant: str, seats: int) -> str:
    """The name of a table for people: "moska (thesis, 4)"."""
    return f"{game} ({variant}, {seats})"


def tables_of(name: str, was_named: bool, left_out: dict[str, str]) -> list[PlannedTable]:
    """The tables of a game, the one with the game's defaults first.

    Agents without a table, and a game that does not load, are noted in `left_out` with the reason. A game that
    `was_named` by the caller raises CardaiError instead.
    """
    try:
        game = load(name)
        if game.teams == 1:
            raise CardaiError(f"all seats of {game.name} are one team, so its agents do not play against each other")
        pool, refused = pool_of(game)
        left_out.update({f"{name}: {model}": reason for model, reason in refused.items()})
        places = {(game.default_variant, game.default_seats): None}
        for player in pool.values():
            places |= dict.fromkeys(_places_of(game, player) if player.evaluator is not None else ())
        tables = [
            PlannedTable(
                game, variant, seats, tuple(player for player in pool.values() if player.fits(game, variant, seats))
            )
            for variant, seats in places
        ]
        seated = {player.spec for table in tables for player in table.pool}
        names = ", ".join(table.name for table in tables)
        left_out.update({f"{name}: {spec}": f"it fits none of {names}" for spec in pool if spec not in seated})
        return tables
    except CardaiError as error:
        if was_named:
            raise
        left_out[name] = str(error)
        return []


def pool_of(game: Game) -> tuple[dict[str, Agent], dict[str, str]]:
    """The agents of a game's league by their specs, and the models and packaged agents that it lacks, with the reason.

    A model that was trained on after-states is asked by `greedy:`, one for settled states by `sampled:` with `WORLDS`
    worlds.
    """
    specs = [ANCHOR, *game.agents.players, *map(Greedy, game.agents.heuristics)]
    pool = {str(spec): agent(game, spec) for spec in specs}
    refused = {}
    for model in known_evaluators(game):
        try:
            player = agent(game, Greedy(model))
            if player.evaluator is not None and player.evaluator.moment != "before_draw":
                player = agent(game, Sampled(model, worlds=WORLDS))
            _places_of(game, player)
            pool[player.spec] = player
        except CardaiError as error:
            refused[model] = str(error)
    for model in [player for player in pool.values() if player.evaluator is not None]:
        for kind in kinds_of(game):
            if kind == "endgame" and which_are_open(game, np.array([game.new()], game.state))[0]:
                continue  # it would play every game perfectly, whatever the model
            try:
                player = agent(game, f"{kind}:{model.spec}")
            except CardaiError:  # a kind for another game, or one that is not built on an agent
                continue
            pool[player.spec] = player
    for spec in packaged_specs(game):
        try:
            pool[spec] = agent(game, spec)
        except CardaiError as error:
            refused[spec] = str(error)
    rollout = agent(game, Spec("rollout", WORLDS))
    pool[rollout.spec] = rollout
    refused.update(
        {spec: "it runs Python code that does not come with cardai" for spec in pool if pool[spec].is_foreign}
    )
    return {spec: player for spec, player in pool.items() if not (player.peeks or player.is_foreign)}, refused


def draw_lineups(
    players: int, seats: int, count: int, seed: int = 0, most: Sequence[float] | None = None
) -> np.ndarray:
    """Line-ups of a pool, i64[count, seats]: all players sit, and meet each other, about equally often.

    Each seat goes to the player who has met those already seated least often, then to the one who has sat least often,
    then by lot. No player has two seats at a table while another one could take the seat.

    `most`: in how many seats each player may sit; then they leave the pool. The line-ups end when fewer than two
    players are left.
    """
    rng, limits = np.random.default_rng(seed), np.full(players, np.inf) if most is None else np.array(most)
    lineups, met, sat = np.zeros((count, seats), np.int64), np.zeros((players, players)), np.zeros(players)
    for number, lineup in enumerate(lineups):
        has_left = sat >= limits
        if most is not None and (~has_left).sum() < 2:
            return lineups[:number]
        places = np.zeros(players)
        for seat in range(seats):
            meetings = met[lineup[:seat]].sum(axis=0)
            chosen = np.lexsort((rng.random(players), sat, meetings if seat else sat, places, has_left))[0]
            lineup[seat] = chosen
            places[chosen] += 1
            sat[chosen] += 1
        np.add.at(met, (lineup[:, None], lineup[None, :]), 1)
    return lineups


def _places_of(game: Game, player: Agent) -> list[tuple[str, int]]:
    """The variants and seats that an agent with a model fits. Raises CardaiError with the last reason if none."""
    assert player.evaluator is not None
    places, seats, reason = [], player.evaluator.seats or game.default_seats, CardaiError(f"{game.name} has no variant")
    for variant in game.variants:
        try:
            game.options(seats, variant)
            player.check_fits(game, variant, seats)
            places.append((variant, seats))
        except CardaiError as error:
            reason = error
    if not places:
        raise reason
    return places
