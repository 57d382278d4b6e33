"""What the command line offers to browsers: games, and agents to play against, each under a key.

A browser sends keys, and a key that is not listed is refused. It never sends a spec, since specs name files.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cardai.agents.spec import Agent, agent, usual_opponent
from cardai.errors import BadArgument, CardaiError
from cardai.game import Game
from cardai.table.one import OneGame

_WARM_PLIES = 40  # moves played before anybody is served, so that nobody waits for a compiler


@dataclass(frozen=True)
class Offer:
    """A game that can be played here: `agents` by key, the usual opponent first; `variants` by name."""

    key: str
    game: Game
    agents: dict[str, Agent]
    variants: tuple[str, ...]
    seats: int

    def agent_of(self, key: object) -> Agent:
        """The agent with a key. Raises BadArgument if it is not offered."""
        found = self.agents.get(key) if isinstance(key, str) else None
        if found is None:
            raise BadArgument(f"this server offers no such opponent in {self.game.title}")
        return found

    def as_json(self) -> dict[str, Any]:
        """What a page needs to set up a table."""
        return {
            "key": self.key,
            "title": self.game.title,
            "variants": list(self.variants),
            "seats": list(self.game.seats),
            "usual": self.seats,
            "agents": [[key, player.label] for key, player in self.agents.items()],
        }

    def warm_up(self) -> None:
        """Compile all that a table of this game uses, by playing the beginning of a game with each agent."""
        for player in self.agents.values():
            table = OneGame(self.game, [player] * self.seats, seed=1, variant=self.variants[0])
            for _ in range(_WARM_PLIES):
                if not table.step():
                    break
            table.history(0, max(0, table.ply - 1), 1)


def offer_of(
    game: Game,
    opponents: Sequence[str] = (),
    variant: str | None = None,
    seats: int | None = None,
    isolate: bool = False,
) -> Offer:
    """Returns what is offered of a game: the `opponents`, or the game's own players if there are none.

    Raises CardaiError for a spec that names no agent of the game, and for a number of seats or a variant that the game
    does not have.
    """
    seats = game.default_seats if seats is None else seats
    game.options(seats, variant)
    specs = dict.fromkeys(opponents) or dict.fromkeys((usual_opponent(game), *game.players, "random"))
    agents = {spec: agent(game, spec, isolate=isolate) for spec in specs}
    for player in agents.values():
        player.check_fits(game, variant, seats)
    variants = tuple(game.variants) if variant is None else (variant,)
    return Offer(game.name, game, agents, variants, seats)


def by_key(offers: Sequence[Offer]) -> dict[str, Offer]:
    """Offers by their keys. Raises CardaiError if two games have the same name."""
    found: dict[str, Offer] = {}
    for offer in offers:
        if offer.key in found:
            raise CardaiError(f"two of the games to serve are named {offer.key!r}")
        found[offer.key] = offer
    return found
