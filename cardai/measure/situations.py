"""Situations: positions of a game with a name and a right answer, and how often agents find it.

    report = measure_situations(load("durak"), ["thrifty", "greedy:podkidnoy4"])     # `cardai bench durak --situations`

A game's folder may have the module `situations.py` with `SITUATIONS`, a tuple of `Situation`. One score of an agent
says how often it wins; situations say what it does not understand.

*Right* are the moves that a situation lists. One without a `source` is exact: they are best under perfect play if the
position is open (`Rules.is_open`), otherwise with all cards open in every one of many worlds of the seat to move. One
with a source follows a rule of thumb, which the source gives.
"""

import importlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cardai.errors import CardaiError, positive, whole
from cardai.game import Game, GameState, is_game
from cardai.game.compiled.chance import ANALYSIS, derived
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.agents.strongest import TIMES, strongest, strongest_without_search
from cardai.playing.stats.jsonable import plain
from cardai.playing.stats.report import Report
from cardai.playing.table.asking import ask
from cardai.registry import home_of
from cardai.rules import STREAM

MODULE = "situations"
TRIES = 20
_SITUATIONS = 1 << 27  # the first number of the streams of situations


@dataclass(frozen=True)
class Situation:
    """A position and its right moves.

    - `name`: a line that tells it from the others; `why`: why these moves are right.
    - `state`: the position, with a seat to move; `right`: the right moves, in the words of `Text.spell`.
    - `source`: where a rule of thumb is from; "" if the right moves are exact.
    """

    name: str
    state: GameState
    right: tuple[str, ...]
    why: str
    source: str = ""


@dataclass(frozen=True)
class SituationRow:
    """How often agents play a right move, in [0, 1] by the report's agents; None for one that fits no such table.

    `exact`: whether the right moves are proven. `chance`: the share of right moves among the legal ones.
    """

    name: str
    why: str
    exact: bool
    chance: float
    shares: tuple[float | None, ...]


@dataclass(frozen=True)
class SituationsReport(Report, drawn_by="cardai.cli.show.tables:situations"):
    """The situations of a game, and the agents' shares of right play, each asked `tries` times with other luck."""

    game: str
    version: int
    agents: tuple[str, ...]
    tries: int
    seed: int
    rows: tuple[SituationRow, ...]

    def share(self, place: int) -> float | None:
        """The mean share of right play of the agent at a place of `agents`, over the situations it was asked about."""
        found = [row.shares[place] for row in self.rows if row.shares[place] is not None]
        return float(np.mean(np.array(found, float))) if found else None

    def as_json(self) -> dict[str, Any]:
        """Everything as plain JSON types, with the `means` of the agents."""
        return plain(asdict(self) | {"means": [self.share(place) for place in range(len(self.agents))]})


def situations_of(game: Game) -> tuple[Situation, ...]:
    """The situations of a game. Raises CardaiError if its folder has no module of them, or one is none of this game."""
    package, folder = home_of(is_game(game))
    if folder is None or not (folder / f"{MODULE}.py").is_file():
        raise CardaiError(f"{game.name} has no situations: there is no {MODULE}.py beside its rules")
    if not package:
        raise CardaiError(f"{game.name} is a single file: a game with situations is a folder")
    found = getattr(importlib.import_module(f"{package}.{MODULE}"), "SITUATIONS", None)
    if not isinstance(found, tuple) or not found or not all(isinstance(one, Situation) for one in found):
        raise CardaiError(f"{game.name}: {MODULE}.py has no SITUATIONS, a tuple of Situation")
    for one in found:
        _right_moves(game, one)
    return found


def measure_situations(
    game: Game, agents: Sequence[str | Agent] | None = None, tries: int = TRIES, seed: int = 0
) -> SituationsReport:
    """Ask agents what they play in each situation of a game, `tries` times with other luck and other worlds.

    `agents`: by default the strongest at the table of the first one, the hand-written players and `random`. Raises
    CardaiError for a game without situations, for an agent that it does not have, and for one that fits no table.
    """
    found, tries, seed = situations_of(game), positive("tries", tries), whole("seed", seed)
    named = agents
    if named is None:
        table = game.variant_of(found[0].state), int(found[0].state["seats"])
        best = strongest_without_search(game, *table), *(strongest(game, *table, time) for time in TIMES)
        named = [*best, *game.agents.players, "random"]
    asked = [one if isinstance(one, Agent) else agent(game, one) for one in dict.fromkeys(named)]
    rows = []
    for number, one in enumerate(found):
        streams = np.zeros(tries, STREAM)
        streams["rng"] = [derived(seed, ANALYSIS, _SITUATIONS + number * tries + i) for i in range(tries)]
        right, legal = _right_moves(game, one), len(game.moves(one.state))
        shares = tuple(_share(game, player, one.state, right, streams) for player in asked)
        rows.append(SituationRow(one.name, one.why, not one.source, len(right) / legal, shares))
    for place, player in enumerate(asked):
        if agents is not None and all(row.shares[place] is None for row in rows):
            player.check_fits(game, None, int(found[0].state["seats"]))
    return SituationsReport(game.name, game.version, tuple(one.label for one in asked), tries, seed, tuple(rows))


def _right_moves(game: Game, situation: Situation) -> np.ndarray:
    """The right moves, MOVE[k]. Raises CardaiError if one is not legal, or if all legal moves are right."""
    if not isinstance(situation.state, np.record) or situation.state.dtype != game.state:
        raise CardaiError(f"{game.name}: the state of {situation.name!r} is no state of the game")
    moves = game.moves(situation.state)
    words = [game.text.spell(situation.state, move) for move in moves]
    for text in situation.right:
        if text not in words:
            raise CardaiError(f"{game.name}: {situation.name!r}: {text!r} is not legal; legal are {', '.join(words)}")
    right = moves[[text in situation.right for text in words]]
    if not 0 < len(right) < len(moves):
        raise CardaiError(f"{game.name}: {situation.name!r} has {len(right)} right moves of {len(moves)}")
    return right


def _share(game: Game, player: Agent, state: GameState, right: np.ndarray, streams: np.ndarray) -> float | None:
    """How often an agent plays a right move, once with each of STREAM[n]. Returns None if it cannot sit there."""
    if not player.fits(game, game.variant_of(state), int(state["seats"])):
        return None
    worlds = [game.world(state, int(state["turn"]), seed) for seed in range(len(streams))]
    played = ask(game, player, np.array(worlds, game.state), streams.copy())
    return float(np.mean([(right == move).any() for move in played]))
