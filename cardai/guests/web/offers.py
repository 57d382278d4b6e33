"""What the command line offers to browsers: games, and agents to play against, each under a key.

A browser sends keys, and a key that is not listed is refused. It never sends a spec, since specs name files.
"""

import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any
from zlib import crc32

import numpy as np

from cardai.errors import BadArgument, CardaiError
from cardai.game import Game
from cardai.playing.agents.notation import Greedy
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.agents.strongest import AT_ONCE, SOON, measured_tables, strongest
from cardai.playing.table.asking import moves_in
from cardai.playing.table.one import OneGame

_SHOWN = 5  # pieces in the picture of a game
_WARM_UP = 1.0  # seconds of a game at most, before anybody is served, so that nobody waits for a compiler


@dataclass(frozen=True)
class Offer:
    """A game that can be played here: `agents` by key, `variants` by name.

    `strongest`: the keys of the strongest agents at each table, the usual opponent first. Those of another table are
    not offered at a table.
    """

    key: str
    game: Game
    agents: dict[str, Agent]
    variants: tuple[str, ...]
    seats: int
    strongest: Mapping[tuple[str, int], tuple[str, ...]] = field(default_factory=dict)

    def agent_of(self, key: object) -> Agent:
        """The agent with a key. Raises BadArgument if it is not offered."""
        found = self.agents.get(key) if isinstance(key, str) else None
        if found is None:
            raise BadArgument(f"this server offers no such opponent in {self.game.title}")
        return found

    def agent_at(self, key: object, variant: str, seats: int) -> Agent:
        """The agent with a key, for such a table. Raises BadArgument if it is not offered or cannot play there."""
        found = self.agent_of(key)
        try:
            found.check_fits(self.game, variant, seats)
        except CardaiError as error:
            raise BadArgument(f"{found.label} cannot play at this table: {error}") from None
        return found

    def fitting(self, variant: str, seats: int) -> dict[str, Agent]:
        """The agents that can play at such a table by their keys, the usual opponent first."""
        first, elsewhere = self.strongest.get((variant, seats), ()), {*chain(*self.strongest.values())}
        keys = dict.fromkeys([*first, *(key for key in self.agents if key not in elsewhere)])
        return {key: self.agents[key] for key in keys if self.agents[key].fits(self.game, variant, seats)}

    def stand_in(self, variant: str, seats: int) -> str | None:
        """The key of the agent that plays for people at such a table: the first that can. None if none can."""
        fitting = self.fitting(variant, seats).items()
        return next((key for key, player in fitting if player.answers_anywhere), None)

    def as_json(self) -> dict[str, Any]:
        """What a page needs to set up a table.

        `agents`: key, name, what it does, `elo`. `fits`: by variant and number of seats, which of `agents` can play.
        """
        places, sizes = {key: place for place, key in enumerate(self.agents)}, list(self.game.seats)
        return {
            "key": self.key,
            "title": self.game.title,
            "about": about(self.game),
            "cards": _pictured(self.game),
            "variants": list(self.variants),
            "seats": sizes,
            "usual": self.seats,
            "agents": [[key, player.label, player.about, self.elo(key)] for key, player in self.agents.items()],
            "fits": {
                variant: {
                    str(seats): [places[key] for key in self.fitting(variant, seats)] for seats in self.game.seats
                }
                for variant in self.variants
            },
        }

    def elo(self, key: str) -> int:
        """How many Elo an agent is above random play at the table that is shown first, in tens. 0: not measured."""
        tables = measured_tables(self.game)
        first = [table for table in tables if (table.variant, table.seats) == (self.variants[0], self.seats)]
        ratings = [one.rating for table in first for one in table.agents if one.spec == key]
        return max(0, int(round(ratings[0], -1))) if ratings else 0

    def warm_up(self) -> None:
        """Compile all that a table of this game uses, its endings too, by a game of each agent or `_WARM_UP` of it."""
        for player in self.agents.values():
            variant, seats = next(
                (variant, seats)
                for variant, seats in _tables(self.game, self.variants, self.seats)
                if player.fits(self.game, variant, seats)
            )
            table = OneGame(self.game, [player] * seats, seed=1, variant=variant)
            end = time.monotonic() + _WARM_UP
            while table.step() and time.monotonic() < end:
                pass
            table.history(0, max(0, table.ply - 1), 1)
        tables = {self.stand_in(*table): table for table in reversed(_tables(self.game, self.variants, self.seats))}
        for key, (variant, seats) in tables.items():
            if key is not None:
                moves_in(self.game, self.agents[key], np.array([self.game.new(seats, 1, variant)], self.game.state))


def about(game: Game) -> str:
    """A game in a sentence: the first one of its module's docstring, "" if it has none."""
    module = next((one for one in list(sys.modules.values()) if getattr(one, "GAME", None) is game), None)
    return re.split(r"(?<=\.)\s", (getattr(module, "__doc__", None) or "").strip(), maxsplit=1)[0]


def offer_of(
    game: Game,
    opponents: Sequence[str] = (),
    variant: str | None = None,
    seats: int | None = None,
    isolate: bool = False,
) -> Offer:
    """Returns what is offered of a game: the `opponents`; if there are none, its strongest agents and its own players.

    Each table has its own strongest agents (`cardai.playing.agents.strongest`): those that take 10 ms a decision, since
    many tables share the processors of a server, and those that answer at once. An agent is offered at the tables that
    it fits. Raises CardaiError for a spec that names no agent of the game or one that fits no table, if no agent fits
    the table that is shown first, and for a number of seats or a variant that the game does not have.
    """
    seats = game.default_seats if seats is None else seats
    game.options(seats, variant)
    variants = tuple(game.variants) if variant is None else (game.canonical(variant),)
    tables = _tables(game, variants, seats)
    if not opponents:
        best = {table: dict.fromkeys(strongest(game, *table, time) for time in (SOON, AT_ONCE)) for table in tables}
        own = [*reversed([*game.agents.players])] or [str(Greedy(name)) for name in game.agents.heuristics]
        made = {spec: agent(game, spec) for spec in dict.fromkeys([*chain(*best.values()), *own, "random"])}
        return Offer(game.name, game, made, variants, seats, {table: tuple(found) for table, found in best.items()})
    made = {spec: agent(game, spec, isolate=isolate) for spec in dict.fromkeys(opponents)}
    fitting = {spec: [player.fits(game, *table) for table in tables] for spec, player in made.items()}
    for spec, player in made.items():
        if not any(fitting[spec]):
            player.check_fits(game, *tables[0])
    if not any(fits[0] for fits in fitting.values()):
        next(iter(made.values())).check_fits(game, *tables[0])
    return Offer(game.name, game, made, variants, seats)


def _tables(game: Game, variants: Sequence[str], seats: int) -> list[tuple[str, int]]:
    """The tables that are offered, (variant, seats), the one that is shown first at the beginning."""
    every = [(variant, count) for variant in variants for count in game.seats]
    return [(variants[0], seats), *(table for table in every if table != (variants[0], seats))]


def _pictured(game: Game) -> list[str]:
    """The pieces in the picture of a game: others for each game of the same cards."""
    step = max(1, len(game.table.pieces) // _SHOWN)
    return list(game.table.pieces[crc32(game.name.encode()) % step :: step][:_SHOWN])
