"""Who plays a game: players written by hand, and against whom agents are measured."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cardai.errors import CardaiError, short, whole


@dataclass(frozen=True)
class Player:
    """A game's hand-written player: the rule `choose(world, move, params, stream)` fills `move` for seat `world.turn`.

    `world` is a copy of the state in which everything that the seat cannot know is dealt anew (a determinization).
    `params`: f8[len(defaults)], the parameters in the order of `defaults`, which maps names to default values. One
    whose default is an int is a count, such as 3 cards: a whole number from 1, also where it is drawn at random.

    A player that looks at nothing hidden is declared with `sees="own"`. It gets a copy in which the game's rule `blank`
    has written over everything hidden, which is faster; `cardai check` tests that it plays as it does in every world.
    Raises CardaiError unless `sees` is "world" or "own".
    """

    choose: Callable[..., None]
    about: str
    defaults: Mapping[str, float] = field(default_factory=dict)
    sees: str = "world"

    def __post_init__(self) -> None:
        for name, value in self.defaults.items():
            if isinstance(value, int):
                whole(f"defaults: {name}", value, 1)
        if self.sees not in ("world", "own"):
            raise CardaiError(f'a player sees "world" or "own", not {short(self.sees)}')


MEASURED = "*"
"""Stands for the measured agent in a row of a suite that names the whole line-up."""


@dataclass(frozen=True)
class Row:
    """One line-up of a suite: the opponents of the measured agent, and figures that others published.

    - `opponents`: specs of the agents in all other seats, in order. The measured agent has one seat, in a game of teams
      (`Game.teams`) all seats of one team. A row that contains `MEASURED` names the agents of all seats instead: the
      measured agent has the seats of that name, as in `(MEASURED, "bot", "partner", "bot")`.
    - `claims`: the published figure by agent spec, in percent, or in the unit of an outcome.
    """

    opponents: tuple[str, ...]
    claims: Mapping[str, float] = field(default_factory=dict)
    about: str = ""


@dataclass(frozen=True)
class Suite:
    """A published benchmark of a game. A suite never changes: a change makes a new suite.

    `measure`: one of `MEASURES`, or the name of an outcome of the game. Claims are in the measure's unit.
    `agents`: specs of the agents measured by default.
    `claim_games`: the number of games behind each claim; 0 if it is not known, or if the claims are exact.
    """

    about: str
    measure: str
    rows: Mapping[str, Row]
    agents: tuple[str, ...]
    games: int = 2000
    variant: str | None = None
    source: str = ""
    claim_games: int = 0


@dataclass(frozen=True)
class Agents:
    """Who plays a game. All may be left out.

    `players` are written by hand, `heuristics` are rules `value(state, seat)` that judge a state, both by name.
    `playouts` names the player that plays worlds on in `rollout:N`; without it every legal move is as likely.
    `opponents` are specs of agents that may be strong, which `cardai agents --measure` measures; until it has, people
    who name nobody meet the first that fits their table.
    `kinds` are kinds of agent that only this game has: `function(game, spec, argument, options) -> Agent` makes the
    agent of the spec `kind:argument?options` and removes the options that it knows from the dict `options`.
    `solver(game, nodes)` makes a faster solver of open positions than the one for any game, with the same methods
    `solve` and `mend` (`cardai.playing.agents.endgame.EndingSolver`).
    `suites` are published benchmarks by name.
    """

    players: Mapping[str, Player] = field(default_factory=dict)
    heuristics: Mapping[str, Callable[..., float]] = field(default_factory=dict)
    playouts: str | None = None
    opponents: tuple[str, ...] = ()
    kinds: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    solver: Callable[..., Any] | None = None
    suites: Mapping[str, Suite] = field(default_factory=dict)
