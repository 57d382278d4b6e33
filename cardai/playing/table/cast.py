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


def cast_of(game: Game, strategies: Sequence[Strategy]) -> Cast:
    """The players of a run as the driver takes them, in this order, and after them those that searches play on with."""
    everyone = with_models(strategies)
    players = [_player(game, strategy, everyone) for strategy in everyone]

    def column(name: str, otherwise: float, dtype: Any = np.int64) -> np.ndarray:
        return np.array([player.get(name, otherwise) for player in players], dtype)

    needs_blank = _searches_trees(everyone) or column("sees_own", 0).any()
    params = [player.get("params", ()) for player in players]
    width = max([1, *map(len, params)])
    table = np.zeros((len(players), width))
    for row, values in zip(table, params, strict=True):
        row[: len(values)] = values
    cast = Cast(
        native.addresses([player.get("call", 0) for player in players]),
        column("network", 0),
        column("kind", OUTSIDE),
        column("sees_own", 0),
        column("peeks", 0),
        column("settles", 0),
        column("worlds", 1),
        column("randomised", 0),
        column("epsilon", 0.0, np.float64),
        column("temperature", 0.0, np.float64),
        column("until", -1),
        column("stops", 0),
        native.addresses(
            [
                game.compiler.entry("is_open", game.rules.is_open)
                if game.rules.is_open and column("stops", 0).any()
                else 0
            ]
        ),
        column("own", 0),
        column("others", 0),
        column("most", 0),
        column("turns", 0),
        column("halving", 0),
        column("nanoseconds", 0),
        native.addresses([game.compiler.entry("blank", game.rules.blank) if game.rules.blank and needs_blank else 0]),
        native.addresses([game.compiler.entry("decided", game.rules.decided) if game.rules.decided else 0]),
        native.addresses([0] * len(players)),
        table,
        np.array([len(values) for values in params], np.int64),
        width,
    )
    if SEARCH not in cast.kinds:  # to compile the search takes as long as a small game
        return cast
    addresses = [_search_address(game, cast, strategy) for strategy in everyone]
    return cast._replace(search=native.addresses(addresses))


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


def _player(game: Game, strategy: Strategy, everyone: Sequence[Strategy]) -> dict[str, Any]:
    """Returns what the driver knows of one player: column of `Cast` -> value. Columns left out are the same for all.

    `everyone`: the players of the cast.
    """
    explores = {
        name: getattr(strategy, name) for name in ("epsilon", "temperature", "until") if hasattr(strategy, name)
    }
    match strategy:
        case EvenlyRandom():
            return {"kind": UNIFORM}
        case HandWritten() as player:
            return {
                "kind": NATIVE,
                "call": player.call,
                "params": player.params,
                "sees_own": player.sees_own,
                "randomised": int(player.randomised) and 1 | player.counts << 1,
            }
        case OnePly() as search if search.is_native:
            network = search.network
            return explores | {
                "kind": ONE_PLY,
                "call": search.value if search.evaluator is None else _encode(game, search.evaluator.encoder),
                "network": 0 if network is None else network.address,
                "peeks": search.peeks,
                "settles": search.settles,
                "worlds": search.worlds,
            }
        case Endgame(inner=inner) if inner.strategy.is_native:
            return {**_player(game, inner.strategy, everyone), "stops": 1}
        case WorldSearch() as search:
            place = {id(one): index for index, one in enumerate(everyone)}
            return explores | {
                "kind": SEARCH if search.is_native else OUTSIDE,
                "own": place[id(search.own)],
                "others": place[id(search.others)],
                "worlds": search.worlds,
                "most": search.most,
                "turns": search.turns,
                "halving": search.halving,
                "nanoseconds": round(search.milliseconds * 1_000_000),
                "params": (search.decay,),
            }
        case TreeSearch() as search:
            return {
                "kind": SEARCH,
                "own": next(index for index, one in enumerate(everyone) if one is search.by),
                "worlds": search.worlds,
                "turns": search.turns,
                "nanoseconds": round(search.milliseconds * 1_000_000),
                "params": (search.bonus, float(search.single), float(search.depth)),
            }
        case _:
            return explores


def _encode(game: Game, encoder: str) -> Any:
    return game.compiler.entry("encode", game.encoder(encoder).encode)


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
