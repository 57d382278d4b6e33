"""What a game is like for those who learn it: measured in some games of random play."""

from dataclasses import dataclass

import numpy as np

from cardai.game import Game, GameState
from cardai.playing.agents.spec import agent
from cardai.playing.table.many import play

_PLAYED, _LOOKED_AT = 60, 6  # games
_STATES = 12  # of each game that is looked at


@dataclass(frozen=True)
class GameMeasures:
    """What a game is like.

    `decisions`: of a game of random play, on average. `choices`: legal moves of a decision, on average.
    `width`: values of an encoded row. `actions`: numbers of moves; 0 if the game does not number them.
    `is_hidden`: whether a seat was found not to know everything. `has_chance`: whether two games are dealt differently,
    or chance was found to play on.
    `seconds`: of a game of random play on one thread.
    """

    decisions: float
    choices: float
    width: int
    actions: int
    is_hidden: bool
    has_chance: bool
    seconds: float

    def in_words(self) -> str:
        """In one line, for people."""
        hidden = "hidden cards" if self.is_hidden else "nothing hidden"
        chance = "chance" if self.has_chance else "no chance"
        moves = f"{self.actions} numbered moves" if self.actions else "moves without numbers"
        return (
            f"the game: {self.decisions:.0f} decisions, {self.choices:.1f} legal moves at each, {self.width} values a "
            f"state, {moves}, {hidden}, {chance}"
        )


def measures_of(game: Game, seats: int, variant: str, seed: int) -> GameMeasures:
    """Measure a game by random play; the seed decides which games."""
    seeds = np.random.default_rng([seed, 12]).integers(2**63, size=_PLAYED, dtype=np.uint64)
    lineups = np.zeros((_PLAYED, seats), np.int64)
    results = play(game, [agent(game, "random")], lineups, seeds, variant=variant, threads=1, record=True).complete()
    choices, is_hidden, has_chance = [], False, False
    deals = {_without_stream(game.new(seats, int(one), variant)) for one in seeds[:8].astype(np.int64)}
    for one, moves in zip(seeds[:_LOOKED_AT].astype(np.int64).tolist(), results.moves, strict=False):
        state = game.new(seats, int(one), variant)
        stream, played = int(state.rng), moves if moves is not None else ()
        for i, move in enumerate(played):
            if i % max(1, len(played) // _STATES) == 0:
                choices.append(len(game.moves(state)))
                is_hidden = is_hidden or _hides(game, state)
            state = game.play(state, move)
        has_chance = has_chance or int(state.rng) != stream
    return GameMeasures(
        decisions=float(np.mean(results.plies)),
        choices=float(np.mean(choices)) if choices else 0.0,
        width=game.encoder().width(seats),
        actions=1 + max(game.learning.actions.values()) if game.learning.actions else 0,
        is_hidden=is_hidden,
        has_chance=has_chance or len(deals) > 1,
        seconds=results.seconds / _PLAYED,
    )


def _hides(game: Game, state: GameState) -> bool:
    own = _without_stream(state)
    return any(_without_stream(game.world(state, int(state.turn), seed)) != own for seed in range(2))


def _without_stream(state: GameState) -> bytes:
    copy = state.copy()
    copy["rng"] = 0
    return copy.tobytes()
