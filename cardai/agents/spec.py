"""Agent specs: the string that names a player, and the player it names.

random                  every legal move is as likely, unless the game has its own player of that name
NAME                    a hand-written player of the game: bot3
NAME?p=0.5&q=2          the same with other parameters; NAME?randomised draws each value x anew from
                        [0, 2x] for every game (training data wants varied players)
greedy:JUDGE            plays the move whose after-state (before any draw) its judge values most
sampled:JUDGE           ... whose settled state it values most, in the mean over worlds (?worlds=100)
peeking:JUDGE           ... in the true world: it sees what it will draw. For comparison only
                        A judge is a heuristic of the game, a shipped model, a model file or a run folder. With
                        ?epsilon=0.1 any move is played that often; ?temperature=0.05 draws moves by softmax of their
                        worth; both only before a ply drawn from 0..N for each game with ?until=N. ?any_variant
                        lets a model play a variant that it was not trained on
rollout:N               plays each move out in N worlds and takes the best mean score (pure Monte Carlo)
python:MODULE:FUNCTION  a function of yours: (game, world) -> move
policy:FILE             a network that says how likely to play each move; ?greedy plays the likeliest
endgame:SPEC            SPEC, but for its mistakes in endings, where a game can solve them. This and the kind before
                        come from packages that announce them (`ENTRY_POINTS`), as yours may
human                   somebody at the keyboard (in `cardai play`)
"""

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import numpy as np

from cardai.agents.evaluator import Evaluator, find_evaluator, known_evaluators
from cardai.errors import CardaiError, place_of, short, unknown
from cardai.game import Game
from cardai.kernel import driver

MAX_WORLDS = 1_000_000
ENTRY_POINTS = "cardai.agents"
"""The entry-point group in which a package names the kinds of agent it brings: `kind = "module:function"`.

`function(game, spec, argument, options) -> Agent` makes the agent of the spec `kind:argument?options`. It takes the
options it knows out of `options`, a dict of texts.
"""


@dataclass(frozen=True)
class Agent:
    """A player ready to sit down. `spec` is its name in tables; `peeks` if it sees what its seat cannot."""

    spec: str
    kind: int
    call: Any = 0
    params: tuple[float, ...] = ()
    sees_truth: bool = False
    randomised: bool = False
    worlds: int = 1
    about: str = ""
    epsilon: float = 0.0
    temperature: float = 0.0
    until: int = -1
    any_variant: bool = False
    evaluator: Evaluator | None = field(default=None, compare=False)
    choose: Callable[[Game, np.ndarray], np.ndarray] | None = field(default=None, compare=False)

    @property
    def peeks(self) -> bool:
        """Whether it sees what its seat cannot: every table it appears in says so."""
        return self.kind == driver.PEEKING

    @property
    def is_outside(self) -> bool:
        """Whether it decides outside compiled code: a Python function, a person, an evaluator."""
        return self.kind == driver.OUTSIDE or self.evaluator is not None

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError unless it can sit down at this table."""
        judge = self.evaluator
        if judge is None:
            return
        judge.check_fits(game, None if self.any_variant else variant or game.default_variant, seats)
        game.encoder(judge.encoder)
        if judge.seats != seats:  # rows of another width would be written
            raise CardaiError(f"{judge.name} judges tables of {judge.seats} seats, not of {seats}")

    @property
    def label(self) -> str:
        """Its name in a table."""
        return f"{self.spec} (peeks)" if self.peeks else self.spec


GENERIC = {
    "greedy": (driver.GREEDY, "the best after-state, before any draw"),
    "sampled": (driver.SAMPLED, "the best settled state, in the mean over sampled worlds"),
    "peeking": (driver.PEEKING, "the best settled state in the true world; it sees its own draws"),
}


class AgentFailed(CardaiError):
    """A Python function that plays has raised, or returned what is no move. `place`: of its world among those asked."""

    def __init__(self, sentence: str, place: int) -> None:
        super().__init__(sentence)
        self.place = place


def agent(game: Game, spec: str) -> Agent:
    """The player that `spec` names. Raises CardaiError, which says what is wrong and what there is."""
    head, _, query = spec.partition("?")
    options = _options(spec, query)
    name, _, argument = head.partition(":")
    if name in GENERIC:
        return _by_judge(game, spec, name, argument, options)
    if name == "rollout":
        worlds = _count(spec, argument, "the number of worlds, as in rollout:100")
        _nothing_left(spec, options)
        return Agent(spec, driver.ROLLOUT, worlds=worlds, about="pure Monte Carlo over worlds")
    if name == "python":
        _nothing_left(spec, options)
        return Agent(spec, driver.OUTSIDE, choose=_callback(spec, argument), about="a Python function")
    if argument and name in _kinds():
        found = _kinds()[name].load()(game, spec, argument, options)
        _nothing_left(spec, options)
        return found
    if head in game.players:
        return _hand_written(game, spec, head, options)
    if head == "random":
        _nothing_left(spec, options)
        return Agent(spec, driver.UNIFORM, sees_truth=True, about="every legal move as likely as the others")
    if head == "human":
        raise CardaiError("agent 'human' sits down only in `cardai play`")
    raise CardaiError(f"{game.name}: " + unknown("agent", spec, list_specs(game)))


@functools.cache
def _kinds() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}


def explores_until(spec: str) -> int:
    """The option `until` in a spec, -1 without."""
    return int(_options(spec, spec.partition("?")[2]).get("until", -1))


def list_specs(game: Game) -> dict[str, str]:
    """The agents anybody can name for a game, with a line about each."""
    found = {"random": "every legal move as likely as the others"}
    found.update({name: player.about for name, player in game.players.items()})
    for heuristic in game.heuristics:
        found.update({f"{name}:{heuristic}": about for name, (_, about) in GENERIC.items()})
    for model, about in known_evaluators(game).items():
        found.update({f"{name}:{model}": f"{how}; {about}" for name, (_, how) in GENERIC.items()})
    found["rollout:100"] = "pure Monte Carlo over worlds (any number)"
    return found


def _options(spec: str, query: str) -> dict[str, str]:
    options = {}
    for part in query.split("&") if query else ():
        key, _, value = part.partition("=")
        if not key or key in options:
            raise CardaiError(f"agent {spec!r}: options are written ?name=value&name=value, each once")
        options[key] = value
    return options


def _nothing_left(spec: str, options: dict[str, str]) -> None:
    if options:
        raise CardaiError(f"agent {spec!r} takes no option {next(iter(options))!r}")


def _count(spec: str, text: str, what: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= MAX_WORLDS):
        raise CardaiError(f"agent {spec!r}: {text!r} is not {what} (1 to {MAX_WORLDS})")
    return int(text)


def _by_judge(game: Game, spec: str, name: str, judge: str, options: dict[str, str]) -> Agent:
    kind, about = GENERIC[name]
    evaluator, call = None, 0
    if judge in game.heuristics:
        call = game.entry("value", game.heuristics[judge])
    else:
        evaluator = find_evaluator(game, judge) if judge else None  # an empty path would be this very folder
        if evaluator is None:
            judges = [*game.heuristics, *known_evaluators(game)]
            raise CardaiError(f"{game.name}: agent {spec!r}: " + unknown("heuristic or model", judge, judges))
    worlds = 1
    if name == "sampled":
        worlds = _count(spec, options.pop("worlds", "100"), "a number of worlds")
    epsilon = _number(spec, "epsilon", options.pop("epsilon", "0"), 1.0)
    temperature = _number(spec, "temperature", options.pop("temperature", "0"), np.inf)
    until = options.pop("until", None)
    if until is not None and not (epsilon or temperature):
        raise CardaiError(f"agent {spec!r} does not explore: until goes with epsilon or temperature")
    any_variant = _flag(spec, "any_variant", options) if evaluator else False
    _nothing_left(spec, options)
    return Agent(
        spec, kind, call, worlds=worlds, sees_truth=name == "peeking", about=about, epsilon=epsilon,
        temperature=temperature, until=-1 if until is None else _count(spec, until, "a number of plies"),
        any_variant=any_variant, evaluator=evaluator,
    )  # fmt: skip


def _number(spec: str, key: str, text: str, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not (0.0 <= value <= most and np.isfinite(value)):
        limit = f"from 0 to {most:g}" if np.isfinite(most) else "of at least 0"
        raise CardaiError(f"agent {spec!r}: {key}={text!r} is not a number {limit}")
    return value


def _flag(spec: str, key: str, options: dict[str, str]) -> bool:
    value = options.pop(key, None)
    if value not in (None, ""):
        raise CardaiError(f"agent {spec!r}: {key!r} takes no value")
    return value is not None


def _hand_written(game: Game, spec: str, name: str, options: dict[str, str]) -> Agent:
    player = game.players[name]
    randomised = _flag(spec, "randomised", options)
    values = dict(player.defaults)
    for key, text in options.items():
        if key not in values:
            raise CardaiError(f"agent {spec!r}: " + unknown(f"parameter of {name}", key, values))
        try:
            values[key] = float(text)
        except ValueError:
            raise CardaiError(f"agent {spec!r}: {key}={text!r} is not a number") from None
        if not np.isfinite(values[key]):
            raise CardaiError(f"agent {spec!r}: {key}={text!r} is not a finite number")
    call = game.entry("choose", player.choose)
    return Agent(spec, driver.NATIVE, call, tuple(values.values()), player.sees_truth, randomised, about=player.about)


def _callback(spec: str, target: str) -> Callable[[Game, np.ndarray], np.ndarray]:
    module, _, name = target.partition(":")
    if not module or not name:
        raise CardaiError(f"agent {spec!r}: a function is named python:MODULE:FUNCTION")
    try:
        function = getattr(importlib.import_module(module), name)
    except (Exception, SystemExit) as error:  # the module is anybody's code
        kind = "" if isinstance(error, (ImportError, AttributeError)) else f"{type(error).__name__}: "
        where = "" if isinstance(error, AttributeError) else place_of(error)
        raise CardaiError(f"agent {spec!r}: cannot import {target!r}: {kind}{error}{where}") from error
    if not callable(function):
        raise CardaiError(f"agent {spec!r}: {target!r} is not a function but {function!r}")
    chosen: Any = function  # what it takes and returns shows when it is asked
    return one_by_one(chosen, spec)


def one_by_one(
    function: Callable[[Game, np.record], np.record], spec: str = "python"
) -> Callable[[Game, np.ndarray], np.ndarray]:
    """A player of many tables from a function (game, world) -> move. It raises AgentFailed when the function fails."""

    def choose(game: Game, worlds: np.ndarray) -> np.ndarray:
        moves = np.zeros(len(worlds), game.move)
        for i, world in enumerate(worlds):
            where = f"agent {spec!r}, seat {int(world['turn'])}, ply {int(world['ply'])}"
            try:
                move = function(game, world)
            except Exception as error:  # somebody's code: say whose and where
                raise AgentFailed(f"{where}: it raised {error!r}{place_of(error)}", i) from error
            if getattr(move, "dtype", None) != game.move or np.shape(move) != ():
                raise AgentFailed(f"{where}: it returned {short(move)}, which is not a move of {game.name}", i)
            moves[i] = move
        return moves

    return choose
