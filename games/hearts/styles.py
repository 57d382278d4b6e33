"""The agent `styles:FILE.toml`: several agents for one seat, each for the hands that suit it.

The paper divides a player into styles: play for few points, shoot the moon, break somebody else's moon. A file says
for passing and for playing which agents there are and when each of them decides:

    [[passing]]
    gate = "runs/moon-decider"      # a model or a heuristic of the game
    above = 0.96                    # the line applies if the gate's value for the seat is above this
    agent = "sampled:runs/moon-pass?worlds=1"

    [[passing]]                     # the last line has no gate
    agent = "sampled:runs/pass?worlds=1"

    [[playing]]
    agent = "greedy:runs/play"

The first line that applies decides. The agent has no memory: gates are asked anew at each decision. A seat knows the
hand it was dealt throughout the round, so a gate with the encoder `paper_dealt` always answers the same in a round.

Source: Demirdover, Baykal and Alpaslan 2022, Figure 1 and section 4.3.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardai.errors import CardaiError, short, unknown
from cardai.files.reading import read_toml
from cardai.game import Game
from cardai.game.compiled.native import at, call_score, get, raw, set_float
from cardai.playing.agents.adjusted import at_table
from cardai.playing.agents.evaluator import Evaluator, find_evaluator, known_evaluators
from cardai.playing.agents.spec import Agent, agent, explores_until
from cardai.playing.agents.strategy import Question, Strategy, Thinking
from cardai.playing.table.asking import moves_in
from cardai.rules import rule

from .rules import NONE

PHASES = ("passing", "playing")
KEYS = ("gate", "above", "agent")
_ANY_VARIANT = "?any_variant"
Gated = Generator[Question, np.ndarray, np.ndarray]
"""Yields questions, is sent their scores, returns bool[n]."""


@rule
def value_each(heuristic, states, seats, count, values):
    """Fill values[i] with what a compiled heuristic says of states[i] for seats[i]."""
    for i in range(count):
        set_float(values, i, call_score(heuristic, at(states, i), get(seats, i)))


@dataclass(frozen=True)
class StyleLine:
    """An agent that decides in positions whose value for the seat to move is above `above`.

    The value is that of `evaluator` or of the compiled heuristic `heuristic`; without either it decides in all of them.
    `any_variant`: the evaluator may have been made for another variant.
    """

    agent: Agent
    above: float = 0.0
    evaluator: Evaluator | None = None
    heuristic: Any = None
    any_variant: bool = False

    def applies(self, decisions: Any, worlds: np.ndarray) -> Gated:
        """Whether it decides in each of STATE[n] worlds, after a question if it has an evaluator."""
        seats, values = np.ascontiguousarray(worlds["turn"], np.int64), np.full(len(worlds), np.inf)
        if self.evaluator is not None:
            judge = at_table(self.evaluator, decisions.game, worlds) if self.any_variant else self.evaluator
            values = yield Question(judge, decisions.rows(judge, worlds, seats))
        elif self.heuristic is not None:
            value_each(self.heuristic, raw(np.ascontiguousarray(worlds)), raw(seats), len(worlds), raw(values))
        return values > self.above


class Styles(Strategy):
    """Lets the first line that applies decide, of `passing` while cards are passed, of `playing` afterwards.

    The last line of both has no gate.
    """

    def __init__(self, game: Game, passing: tuple[StyleLine, ...], playing: tuple[StyleLine, ...]) -> None:
        self.game, self.passing, self.playing = game, passing, playing

    @property
    def _strategies(self) -> list[Strategy]:
        return [line.agent.strategy for line in (*self.passing, *self.playing)]

    @property
    def is_foreign(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether one of its agents runs somebody else's code."""
        return any(strategy.is_foreign for strategy in self._strategies)

    @property
    def explores(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether one of its agents sometimes plays another move than the one it prefers."""
        return any(strategy.explores for strategy in self._strategies)

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError unless all its agents and gates fit the game, the variant and the table."""
        for line in (*self.passing, *self.playing):
            line.agent.check_fits(game, variant, seats)
            if line.evaluator is not None:
                line.evaluator.check_fits(game, None if line.any_variant else game.canonical(variant), seats)

    def think(self, decisions: Any) -> Thinking:
        """Ask the gates line by line, and the agent of each line for the moves that it decides."""
        worlds = decisions.worlds()
        moves, is_passing = np.zeros(len(worlds), self.game.move), worlds["leader"] == NONE
        for lines, places in ((self.passing, np.flatnonzero(is_passing)), (self.playing, np.flatnonzero(~is_passing))):
            for line in lines:
                if not len(places):
                    break
                taken = yield from line.applies(decisions, worlds[places])
                if taken.any():
                    moves[places[taken]] = moves_in(self.game, line.agent, worlds[places[taken]])
                places = places[~taken]
        return moves


def styles(game: Game, spec: str, argument: str, options: dict[str, str]) -> Agent:
    """The agent of the spec `styles:FILE.toml`. Raises CardaiError if the file says something impossible."""
    try:
        table = read_toml(argument)
        for name in table:
            if name not in PHASES:
                raise CardaiError(f"{argument}: {unknown('list', name, PHASES)}")
        passing, playing = (_lines(game, argument, phase, table.get(phase)) for phase in PHASES)
    except CardaiError as error:
        raise CardaiError(f"agent {spec!r}: {error}") from None
    made = Styles(game, passing, playing)
    return Agent(spec, made, "passes and plays in several styles, by the hand that it is dealt")


def _lines(game: Game, path: str, phase: str, entries: Any) -> tuple[StyleLine, ...]:
    """The lines of one phase."""
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise CardaiError(f"{path} has no list [[{phase}]] of lines")
    for number, entry in enumerate(entries, 1):
        if ("gate" in entry) != (number < len(entries)):
            rule = "the last line has no gate" if "gate" in entry else "only the last line has no gate"
            raise CardaiError(f"{path}, line {number} of {phase}: {rule}, since it decides all that is left")
    return tuple(_line(game, f"{path}, line {number} of {phase}", entry) for number, entry in enumerate(entries, 1))


def _line(game: Game, where: str, entry: dict[str, Any]) -> StyleLine:
    for key in entry:
        if key not in KEYS:
            raise CardaiError(f"{where}: {unknown('key', key, KEYS)}")
    for key in ("agent", "gate"):
        if key in entry and not (isinstance(entry[key], str) and entry[key]):
            raise CardaiError(f"{where}: {key} must be a text, not {short(entry[key])}")
    if "agent" not in entry:
        raise CardaiError(f"{where}: it names no agent")
    if ("above" in entry) != ("gate" in entry):
        raise CardaiError(f"{where}: gate and above go together")
    try:
        gate = _gate(game, entry["gate"], entry["above"]) if "gate" in entry else {}
        return StyleLine(_inner(game, entry["agent"]), **gate)
    except CardaiError as error:
        raise CardaiError(f"{where}: {error}") from None


def _gate(game: Game, named: str, above: Any) -> dict[str, Any]:
    """The gate of a heuristic or model; `named` may end with ?any_variant."""
    if isinstance(above, bool) or not isinstance(above, int | float):
        raise CardaiError(f"above must be a number, not {short(above)}")
    name = named.removesuffix(_ANY_VARIANT)
    if name in game.agents.heuristics and name == named:
        return {"above": float(above), "heuristic": game.compiler.entry("value", game.agents.heuristics[name])}
    evaluator = find_evaluator(game, name)
    if evaluator is None:
        raise CardaiError(
            f"gate: {unknown('heuristic or model', name, [*game.agents.heuristics, *known_evaluators(game)])}"
        )
    return {"above": float(above), "evaluator": evaluator, "any_variant": name != named}


def _inner(game: Game, spec: str) -> Agent:
    """The agent of a line. Raises CardaiError for one that needs more than a world of its seat for each decision."""
    if "styles:" in spec:
        raise CardaiError(f"an agent in styles cannot be {spec!r}: styles do not contain styles")
    made = agent(game, spec)
    if made.peeks:
        raise CardaiError(f"an agent in styles sees what its seat knows, but {spec!r} peeks")
    if made.strategy.randomised:
        raise CardaiError(f"agent {spec!r} draws its parameters anew for each game; name fixed ones")
    if explores_until(spec) >= 0:
        raise CardaiError(
            f"agent {spec!r}: an agent in styles explores all along or not at all, so until has no meaning"
        )
    return made
