"""The players of a run as compiled code takes them, and its working space."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cardai.game import Game
from cardai.game.compiled import native
from cardai.game.compiled.fence import roomy
from cardai.playing.agents.endgame import Endgame
from cardai.playing.agents.strategy import EvenlyRandom, HandWritten, OnePly, Strategy, TreeSearch, WorldSearch
from cardai.playing.compiled.dense import space_for
from cardai.playing.compiled.driver import NEXT, Games, Slots
from cardai.playing.compiled.lookahead import BUCKETS, DEEP, Leaves, Scratch
from cardai.playing.compiled.players import NATIVE, ONE_PLY, OUTSIDE, SEARCH, UNIFORM, Cast
from cardai.playing.compiled.search import Lines, WorldSpace, search_address
from cardai.playing.compiled.tree_search import DEEPEST, EDGES, NODES, ROOM, STEPS, TreeSpace, tree_address
from cardai.rules import STREAM

MOST_KNOWN = 1024  # rows of a decision that a network scores only once


_USUAL: dict[str, Any] = {
    "networks": 0, "kinds": OUTSIDE, "sees_own": 0, "peeks": 0, "settles": 0, "worlds": 1, "randomised": 0,
    "epsilon": 0.0, "temperature": 0.0, "until": -1, "stops": 0, "own": 0, "others": 0, "most": 0, "turns": 0,
    "halving": 0,
}  # fmt: skip
"""The columns of `Cast` that hold numbers, and those of a player that says nothing of them."""


def cast_of(game: Game, strategies: Sequence[Strategy]) -> Cast:
    """The players of a run as the driver takes them, in this order, and after them those that searches play on with."""
    everyone = with_models(strategies)
    players = [_USUAL | _said(strategy) | _player(game, strategy, everyone) for strategy in everyone]
    numbers = {name: np.array([player[name] for player in players], type(usual)) for name, usual in _USUAL.items()}
    params = [player.get("params", ()) for player in players]
    table = np.zeros((len(players), max([1, *map(len, params)])))
    for row, values in zip(table, params, strict=True):
        row[: len(values)] = values

    def address(role: str, is_needed: Any = True) -> np.ndarray:
        rule = getattr(game.rules, role) if is_needed else None
        return native.addresses([game.compiler.entry(role, rule) if rule else 0])

    cast = Cast(
        calls=native.addresses([player.get("call", 0) for player in players]),
        **numbers,
        is_open=address("is_open", numbers["stops"].any()),
        blank=address("blank", _searches_trees(everyone) or numbers["sees_own"].any()),
        decided=address("decided"),
        search=native.addresses([0] * len(players)),
        params=table,
        widths=np.array([len(values) for values in params], np.int64),
        width=table.shape[1],
    )  # fmt: skip
    if SEARCH not in cast.kinds:  # to compile the search takes as long as a small game
        return cast
    return cast._replace(search=native.addresses([_search_address(game, cast, strategy) for strategy in everyone]))


def _search_address(game: Game, cast: Cast, strategy: Strategy) -> Any:
    """The address of what chooses for a strategy that searches, 0 for another one."""
    search = _inside(strategy)
    if isinstance(search, TreeSearch):
        return tree_address(game.compiler.rules, cast, scratch_of(game), search.depth > 0)
    is_native = isinstance(search, WorldSearch) and search.is_native
    return search_address(game.compiler.rules, cast, scratch_of(game)) if is_native else 0


def with_models(strategies: Sequence[Strategy]) -> list[Strategy]:
    """These strategies, then the players that those that search have play in their worlds, each once."""
    models = [model for one in map(_inside, strategies) for model in one.models]
    everyone = list(strategies)
    for model in models:
        if not any(model is one for one in everyone):
            everyone.append(model)
    return everyone


def _searches_trees(strategies: Sequence[Strategy]) -> bool:
    return any(isinstance(_inside(one), TreeSearch) for one in strategies)


def _inside(strategy: Strategy) -> Strategy:
    """The strategy that decides, except in endings."""
    return strategy.inner.strategy if isinstance(strategy, Endgame) else strategy


def _said(strategy: Strategy) -> dict[str, Any]:
    """The columns of `Cast` that are fields of a strategy."""
    fields = vars(strategy).items()
    return {name: value for name, value in fields if name in _USUAL and isinstance(value, bool | int | float)}


def _player(game: Game, strategy: Strategy, everyone: Sequence[Strategy]) -> dict[str, Any]:
    """Returns what else the driver knows of one player of the cast `everyone`: columns of `Cast`, and its `call`."""
    match strategy:
        case EvenlyRandom():
            return {"kinds": UNIFORM}
        case HandWritten() as player:
            drawn = int(player.randomised) and 1 | player.counts << 1
            return {"kinds": NATIVE, "call": player.call, "params": player.params, "randomised": drawn}
        case OnePly(evaluator=None) as search:
            return {"kinds": ONE_PLY, "call": search.value}
        case OnePly(evaluator=evaluator, network=network) if evaluator is not None and network is not None:
            encoder = game.encoder(evaluator.encoder).encode
            return {"kinds": ONE_PLY, "call": game.compiler.entry("encode", encoder), "networks": network.address}
        case Endgame(inner=inner) if inner.strategy.is_native:
            return _said(inner.strategy) | _player(game, inner.strategy, everyone) | {"stops": 1}
        case WorldSearch() as search:
            return {
                "kinds": SEARCH if search.is_native else OUTSIDE,
                "own": _place(search.own, everyone),
                "others": _place(search.others, everyone),
                "params": (search.decay,),
            }
        case TreeSearch() as search:
            return {
                "kinds": SEARCH,
                "own": _place(search.by, everyone),
                "params": (search.bonus, float(search.single), float(search.depth)),
            }
        case _:
            return {}


def _place(strategy: Strategy, everyone: Sequence[Strategy]) -> int:
    return next(place for place, one in enumerate(everyone) if one is strategy)


def scratch_of(game: Game, strategies: Sequence[Strategy] = ()) -> Scratch:
    """Returns working space for one thread, in which these strategies are played in compiled code."""
    depth, played = DEEP + 2, [_inside(one) for one in with_models(strategies)]
    networks = [one.network for one in played if isinstance(one, OnePly) and one.network is not None]
    return Scratch(
        np.zeros(depth, game.state),
        roomy(depth * game.max_moves, game.move),
        np.zeros(game.max_moves),
        np.zeros(game.max_moves, np.int64),
        np.zeros(game.max_moves, np.int64),
        np.zeros(1),
        np.zeros(depth, np.int64),
        np.zeros(2, STREAM),
        leaves_of(game, MOST_KNOWN if networks else 1, max([1, *(network.features for network in networks)])),
        space_for(networks),
        WorldSpace(
            np.zeros(1, game.state),
            np.zeros(1, game.move),
            roomy(game.max_moves, game.move),
            np.zeros(game.max_moves),
            np.zeros(game.max_moves, np.int64),
            lines_of(game, 1),
        ),
        _tree_of(game, _searches_trees(played)),
        np.zeros(2 * max(1, len(played)), np.int64),
    )


def _tree_of(game: Game, is_searched: bool) -> TreeSpace:
    """Room for the tree of one decision, for nothing unless one `is_searched`."""
    room, steps, nodes, edges = (ROOM, STEPS, NODES, EDGES) if is_searched else (1, 1, 1, 1)
    seats = max(game.seats)

    def numbers(count: int) -> np.ndarray:
        return np.zeros(count, np.int64)

    return TreeSpace(
        first=numbers(room), second=numbers(room), visits=numbers(room), available=numbers(room),
        totals=np.zeros(room), used=numbers(room), counts=numbers(3), path=numbers(steps), movers=numbers(steps),
        values=np.zeros(seats), left=numbers(seats), nodes=np.zeros(nodes, game.state), luck=numbers(nodes),
        edges=numbers(nodes), sizes=numbers(nodes), above=numbers(nodes), wanted=numbers(nodes),
        levels=numbers(DEEPEST + 2), places=numbers(edges), scores=np.zeros(edges * seats),
    )  # fmt: skip


def lines_of(game: Game, count: int) -> Lines:
    """Room for so many lines of a search."""
    return Lines(
        np.zeros(count, game.state),
        np.zeros(count, STREAM),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count),
        np.zeros(count),
        np.zeros(count, np.int64),
    )


def leaves_of(game: Game, room: int, width: int) -> Leaves:
    """An empty batch with room for so many rows, of `width` values each."""
    return Leaves(
        room,
        np.zeros(6, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(2 * room, game.move),
        np.zeros(2 * room),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room),
        np.zeros((room, width), np.uint8),
        np.zeros(room, np.int64),
        np.zeros(BUCKETS, np.int64),
        np.zeros(room, np.int64),
    )


def slots_of(game: Game, cast: Cast, count: int, seats: int, log_length: int = 0) -> Slots:
    """Places for `count` games at once, none dealt yet: place s plays game s next."""
    return Slots(
        states=np.zeros(count, game.state),
        streams=np.zeros(count * seats, STREAM),
        params=np.zeros((count * seats, cast.width)),
        limits=np.zeros(count * seats, np.int64),
        chosen=np.zeros(count, game.move),
        log=np.zeros(count * log_length, game.move),
        status=np.full(count, NEXT, np.int64),
        game=np.zeros(count, np.int64),
        following=np.arange(count),
    )


def games_of(game: Game, blank: np.ndarray, seeds: np.ndarray, lineups: np.ndarray, names: Sequence[str] = ()) -> Games:
    """G games to be played, with room for how they come out. `names`: the outcomes that are noted."""
    count, seats = lineups.shape
    calls = [game.compiler.entry("outcome", game.learning.outcomes[name].rule) for name in names]
    return Games(
        total=count,
        seats=seats,
        seeds=seeds,
        lineups=lineups,
        blank=blank,
        scores=np.zeros((count, seats)),
        plies=np.zeros(count, np.int64),
        finished=np.zeros(count, np.int64),
        tally=np.zeros((count, 4)),
        rated=len(names),
        outcomes=native.addresses(calls or [0]),
        values=np.zeros((len(names), count, seats)),
    )
