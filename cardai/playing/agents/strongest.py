"""The strongest agents of a game by the time that a decision takes: the list that was measured, and who is met by it.

    strongest(game, "thesis", 4)                        # "ahead:best?worlds=8": with `LIMIT` milliseconds a decision
    strongest(game, "thesis", 4, milliseconds=AT_ONCE)  # "greedy:expert"

The list is the file `strongest.json` beside the game's module. `cardai agents GAME --measure` measures and writes it
(`cardai.measure.strongest`). Everything that seats an agent or asks one for advice, without being told which, asks
here. A game without a list has the agents that it declares (`Agents.opponents`), its players and its heuristics.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardai.errors import BadArgument, CardaiError, whole
from cardai.files.reading import read_json
from cardai.game import Game, is_game
from cardai.playing.agents.notation import Greedy
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.agents.strategy import EvenlyRandom, HandWritten, OnePly
from cardai.registry import home_of

FILE = "strongest.json"
FORMAT = "cardai strongest 2"
TIMES = (1.0, 10.0, 100.0)
"""For how many milliseconds a decision, on one core and in the mean, a strongest agent is listed."""
AT_ONCE, SOON, LIMIT = TIMES


@dataclass(frozen=True)
class MeasuredAgent:
    """An agent at a table. `milliseconds`: of a processor for a decision, in the mean.

    - `rating`, `low`, `high`: Elo points above `random` with their 95 % interval, None where the games set no bound.
    - `games`: how many it played. `content`: the first 12 digits of the SHA-256 of each network's file that it reads,
      by what its spec calls it; of a hand-written player or heuristic, of its moves in seeded games there, as "moves".
    """

    spec: str
    milliseconds: float
    rating: float
    low: float | None
    high: float | None
    games: int
    content: dict[str, str]


@dataclass(frozen=True)
class MeasuredTable:
    """One table of the list.

    - `agents`: all that were measured there, the best rating first; `too_slow`: specs of those that were not.
    - `strongest`: for each of `TIMES`, the spec of the agent of choice. `by`: how it was measured, for people.
    """

    variant: str
    seats: int
    agents: tuple[MeasuredAgent, ...]
    too_slow: tuple[str, ...]
    strongest: tuple[str, ...]
    by: str

    @property
    def picks(self) -> dict[str, float]:
        """The strongest agents, each with the least of `TIMES` for which it is listed, the quickest first."""
        found: dict[str, float] = {}
        for milliseconds, spec in zip(TIMES, self.strongest, strict=True):
            found.setdefault(spec, milliseconds)
        return found

    def of(self, spec: str) -> MeasuredAgent:
        """The figures of one of its agents."""
        return next(measured for measured in self.agents if measured.spec == spec)


def strongest(
    game: Game, variant: str | None = None, seats: int | None = None, milliseconds: float = LIMIT, skip: Any = None
) -> str:
    """The spec of the strongest agent at a table that takes at most so many of `TIMES` for a decision.

    At a table that was not measured, it is the best of those measured at the most similar table that fits: one of as
    many seats and the same variant but for changed options, one of as many seats, then any. Without a list, it is the
    first of the game's `opponents` that fits, then its last hand-written player, its first heuristic, or `random`.
    `skip`: a function of an Agent that says whether it does not do.

    Raises CardaiError for a table that the game does not have, and if the list or the game names an agent that cannot
    be made.
    """
    return next(_by_strength(game, variant, seats, milliseconds, skip))


def strongest_without_search(game: Game, variant: str | None = None, seats: int | None = None) -> str:
    """The spec of the strongest agent at a table that decides at once by what it sees: no search, nothing solved.

    Raises CardaiError as `strongest` does.
    """
    return strongest(game, variant, seats, AT_ONCE, lambda player: not is_without_search(player))


def is_without_search(player: Agent) -> bool:
    """Whether an agent decides by what it sees: a hand-written player, or one that looks one ply ahead."""
    return isinstance(player.strategy, OnePly | HandWritten | EvenlyRandom)


def list_file(game: Game) -> Path | None:
    """Where the list of a game stands, whether or not there is one. None for a game that is in no file."""
    folder = home_of(game)[1]
    return None if folder is None else folder / FILE


def measured_tables(game: Game) -> tuple[MeasuredTable, ...]:
    """The tables of a game's list; none if it has no list, or one of another version of its rules.

    Raises CardaiError for a damaged list.
    """
    place = list_file(is_game(game))
    return _read(place, place.stat().st_mtime_ns, game.name, game.version) if place and place.is_file() else ()


def _by_strength(game: Game, variant: str | None, seats: int | None, milliseconds: float, skip: Any) -> Iterator[str]:
    seats = is_game(game).default_seats if seats is None else whole("seats", seats)
    game.options(seats, variant)
    variant = game.canonical(variant)
    if milliseconds not in TIMES:
        raise BadArgument(f"milliseconds must be one of {', '.join(f'{time:g}' for time in TIMES)}, not {milliseconds}")
    tables = measured_tables(game)
    at_table = [table for table in tables if (table.variant, table.seats) == (variant, seats)]
    named = [table.strongest[TIMES.index(milliseconds)] for table in at_table]
    for table in at_table or sorted(tables, key=lambda table: _distance(table, variant, seats)):
        named += [measured.spec for measured in table.agents if measured.milliseconds <= milliseconds]
    source = list_file(game) if named else None
    for spec in named or game.agents.opponents:
        try:
            found = agent(game, spec)
        except CardaiError as error:
            where = f"{source}: {error}; `cardai agents --measure` writes a new list" if source else str(error)
            raise CardaiError(where) from None
        if found.fits(game, variant, seats) and not (skip and skip(found)):
            yield spec
    for spec in (*reversed([*game.agents.players]), *map(Greedy, game.agents.heuristics), "random"):
        if not (skip and skip(agent(game, spec))):
            yield str(spec)


def _distance(table: MeasuredTable, variant: str, seats: int) -> tuple[bool, bool]:
    """The lower, the more similar a measured table is to one that was not measured."""
    return table.seats != seats, table.variant != variant.partition("?")[0]


@functools.lru_cache
def _read(place: Path, changed: int, name: str, version: int) -> tuple[MeasuredTable, ...]:
    """The tables in a file. `changed`: the time of its last change, so that it is read again after one."""
    content = read_json(place)
    try:
        if content["format"] != FORMAT:
            raise ValueError("the format is another one")
        if (content["game"], content["version"]) != (name, version):
            return ()
        return tuple(_table(table) for table in content["tables"])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise CardaiError(
            f"{place} is damaged, or no list of `cardai agents --measure`: remove it, or write it again"
        ) from None


def _table(content: dict[str, Any]) -> MeasuredTable:
    agents = tuple(MeasuredAgent(**measured) for measured in content["agents"])
    lists: dict[str, Any] = {name: tuple(content[name]) for name in ("strongest", "too_slow")}
    table = MeasuredTable(**(content | lists | dict[str, Any](agents=agents)))
    if len(table.strongest) != len(TIMES) or not {measured.spec for measured in agents}.issuperset(table.strongest):
        raise ValueError("the strongest agents are not among those measured")
    return table
