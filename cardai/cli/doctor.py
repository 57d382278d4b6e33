"""`cardai doctor`: what cardai runs on here, whether each game loads and plays, and games compiled ahead."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rich.table import Table

from cardai.cli.show.progress import Line, is_cold
from cardai.errors import CardaiError
from cardai.game import Game
from cardai.playing.agents.notation import Greedy
from cardai.playing.agents.spec import agent
from cardai.playing.machine import machine
from cardai.playing.table.many import play
from cardai.registry import available
from cardai.rules import JIT
from cardai.rules.keeping import all_files, cache_root, kept_files, may_keep, rules_folder


def examine(load: Callable[[str], Game]) -> dict[str, Any]:
    """Returns versions, processors, the cache, and whether each game plays. "healthy" is False if one does not.

    `load`: loads a game by its name. Of the games whose rules are not compiled yet, only the one with the smallest
    state is compiled and played.
    """
    games, healthy = _try_games(load)
    return machine() | {
        "rules": how_compiled(),
        "cache_folder": str(rules_folder()),
        "cache_megabytes": round(sum(size for _, size in all_files()) / 1e6, 1),
        "to_clear_the_cache": "cardai doctor --clear-cache",
        "games": games,
        "healthy": healthy,
    }


def how_compiled() -> str:
    """How rules are run here, in words."""
    if not JIT:
        return "plain Python (CARDAI_JIT=0)"
    from cardai.rules.compiling import why_stock

    return f"compiled by Numba alone, slowly: {why_stock}" if why_stock else "compiled"


def _try_games(load: Callable[[str], Game]) -> tuple[dict[str, str], bool]:
    """Returns the state of each game, by name, and whether at least one game loads and none is broken."""
    states: dict[str, str] = {}
    games: dict[str, Game] = {}
    for name in available():
        try:
            games[name] = load(name)
        except CardaiError as error:
            states[name] = f"broken: {error}"
    for place, name in enumerate(sorted(games, key=lambda name: games[name].state.itemsize)):
        skipped = place > 0 and is_cold(games[name])
        states[name] = "not compiled yet; the first use compiles it, once" if skipped else _try(games[name])
    healthy = bool(games) and not any(state.startswith("broken") for state in states.values())
    return dict(sorted(states.items())), healthy


def _try(game: Game) -> str:
    """Play a few random games. Returns how long it took until the rules were ready, or what is wrong."""
    start = time.perf_counter()
    lineups = np.zeros((4, game.default_seats), np.int64)
    with Line(game.name, game):
        try:
            results = play(game, [agent(game, "random")], lineups, np.arange(4), checked=True)
        except CardaiError as error:
            return f"broken: {error}"
    if not results.finished.all():
        return "broken: random games do not end"
    return f"plays; its rules were ready in {time.perf_counter() - start:.1f} s"


def warm(games: Sequence[Game]) -> dict[str, Any]:
    """Compile all rules of games, what plays them, the search and what `Game` calls, or load them.

    Returns the seconds that each game took, where the code is and how large it is. Raises CardaiError if nothing is
    compiled here, if a rule does not compile, and if the code cannot be kept.
    """
    if not JIT:
        raise CardaiError("nothing is compiled with CARDAI_JIT=0")
    if not may_keep():
        raise CardaiError(f"compiled code cannot be kept in {cache_root()}: it cannot be written to")
    seconds: dict[str, float] = {}
    for game in games:
        start = time.perf_counter()
        with Line(f"compiling {game.name}", game):
            game.compile()
            _use(game)
        seconds[game.name] = round(time.perf_counter() - start, 1)
    megabytes = round(sum(size for _, size in kept_files()) / 1e6, 1)
    return {"games": seconds, "cache_folder": str(rules_folder()), "cache_megabytes": megabytes}


def _use(game: Game) -> None:
    """Play a game by all that plays games, since what Python calls is compiled when it is first called."""
    specs = ["random", *map(Greedy, [*game.agents.heuristics][:1]), "rollout:1"]
    agents = [agent(game, spec) for spec in specs]
    lineups = np.arange(len(agents))[:, None].repeat(game.default_seats, 1)
    lineups[1:, 1:] = 0  # one seat of the slower ones is enough
    play(game, agents, lineups, np.arange(len(agents)), checked=True, max_plies=8)
    state = game.new()
    move = game.moves(state)[0]
    assert game.is_allowed(state, move)
    game.after(state, move)
    game.world(game.play(state, move), 0)
    for name in game.learning.encoders:
        game.encode(state, 0, name)
    for name in game.agents.heuristics:
        game.value(state, 0, name)


def table(facts: dict[str, Any]) -> Table:
    """What `examine` or `warm` found, for people."""
    drawn = Table(show_header=False)
    for name, value in facts.items():
        for game, state in value.items() if name == "games" else ():
            drawn.add_row(f"game {game}", state if isinstance(state, str) else f"ready after {state:.1f} s")
        if name != "games":
            drawn.add_row(name.replace("_", " "), str(value))
    return drawn
