"""The agents that specs name: `agent(game, "greedy:best?epsilon=0.1")`.

docs/agents.md describes all kinds of agent and their options. `cardai.playing.agents.notation` has specs as values.
"""

import contextlib
import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint
from typing import Any, cast

import numpy as np

from cardai.errors import BadArgument, CardaiError, short, unknown, whole
from cardai.files.entries import brought
from cardai.game import Game, check_table, is_game
from cardai.game.compiled.doors import check_flag, check_text
from cardai.playing.agents.adjusted import RenamedEvaluator
from cardai.playing.agents.endgame import NODES, Endgame
from cardai.playing.agents.evaluator import Evaluator, find_evaluator, is_evaluator, known_evaluators
from cardai.playing.agents.notation import Greedy, Spec, parse
from cardai.playing.agents.outside import OfProcess, ProcessEvaluator, program_process, python_process
from cardai.playing.agents.own_code import evaluator_at, function_at
from cardai.playing.agents.process import MOST_SECONDS, SECONDS
from cardai.playing.agents.strategy import (
    EvenlyRandom,
    HandWritten,
    OfFunction,
    OnePly,
    Strategy,
    TreeSearch,
    WorldSearch,
    one_by_one,
    plays_worlds_on,
)

MAX_WORLDS = 1_000_000
HUMAN, STUDENT, HELPED = "human", "human?study", "human?helped"
"""Stand in records for a person, one who could take moves back, one for whom an agent made some moves."""
ENTRY_POINTS = "cardai.agents"
"""The entry-point group in which a package names the kinds of agent it brings: `kind = "module:function"`.

`function(game, spec, argument, options) -> Agent` makes the agent of the spec `kind:argument?options`. It removes the
options that it knows from `options`, a dict of texts. A spec in the argument or in an option is without parentheses.
"""


@dataclass(frozen=True)
class Agent:
    """A player ready to sit down: its name in tables, how it comes to its moves, and a line about it.

    `game`: the game that it was made for; it sits down at no other. None if it was made for no game in particular, as
    by `player`.
    """

    spec: str
    strategy: Strategy
    about: str = ""
    game: Game | None = field(default=None, repr=False, compare=False)
    _value: Spec | None = field(default=None, init=False, repr=False, compare=False)

    def __reduce__(self) -> Any:
        """Pickle it as its game and spec. Raises CardaiError for an agent that `agent` did not make of a spec."""
        if self._value is None:
            raise CardaiError(f"agent {self.spec!r} cannot be pickled: it was made in Python, not from a spec")
        return agent, (self.game, self._value, self.strategy.is_isolated)

    @property
    def peeks(self) -> bool:
        """Whether it sees what its seat cannot: every table it appears in says so."""
        return self.strategy.peeks

    @property
    def answers_anywhere(self) -> bool:
        """Whether it is fair and may be asked about single positions: it follows no game, and draws nothing for one."""
        return not (self.peeks or self.strategy.follows or self.strategy.randomised)

    @property
    def is_foreign(self) -> bool:
        """Whether it runs Python code that does not come with cardai or the game. See `Strategy.is_foreign`."""
        return self.strategy.is_foreign

    @property
    def evaluator(self) -> Evaluator | None:
        """The evaluator that the agent asks, or None if it asks none or uses a heuristic of the game."""
        return self.strategy.evaluator

    @property
    def label(self) -> str:
        """Its name in a table."""
        return f"{self.spec} (peeks)" if self.peeks else self.spec

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError unless it can sit down at this table. A variant of None is the default one."""
        self.check_game(game)
        game.options(whole("seats", seats), variant)
        self.strategy.check_fits(game, variant, seats)

    def fits(self, game: Game, variant: str | None, seats: int) -> bool:
        """Whether the agent can play at such a table. Raises CardaiError for a table that the game does not have."""
        is_game(game).options(whole("seats", seats), variant)
        try:
            self.check_fits(game, variant, seats)
        except CardaiError:
            return False
        return True

    def at_table(self, game: Game, states: np.ndarray) -> "Agent":
        """Return the agent as it plays at a table, see `Strategy.at_table`. `states`: STATE[n] of that table."""
        strategy = self.strategy.at_table(game, states) if len(check_table(game, states)) else self.strategy
        return self if strategy is self.strategy else replace(self, strategy=strategy)

    def check_game(self, game: Game) -> None:
        """Raise CardaiError if it, or compiled code that it plays with, was made for another game."""
        is_game(game)
        if self.game is not None and self.game is not game:
            whose = self.game.name if self.game.name != game.name else f"another Game of the name {game.name!r}"
            raise BadArgument(f"agent {self.spec!r} was made for the game {whose}, not for {game.name}")
        if self.strategy.is_native and self.evaluator is None:  # does not depend on variant and seats
            self.strategy.check_fits(game, None, game.default_seats)


EVENLY = "every legal move as likely as the others"
SEARCHES = {
    "greedy": "the best after-state, before any draw",
    "sampled": "the best settled state, in the mean over sampled worlds",
    "peeking": "the best settled state in the true world; it sees its own draws",
    "ahead": "the best mean over worlds that are played on to its next choice",
}
"""The agents that search with any evaluator."""
TREES = {
    "ismcts": "information-set Monte-Carlo tree search",
    "epimc": "perfect-information Monte Carlo, postponed by some choices",
}
"""The agents that search a tree of information sets over worlds."""


def agent(game: Game, spec: "str | Spec | Agent", isolate: bool = False) -> Agent:
    """Return the agent that `spec` names; an Agent is returned as it is.

        agent(game, "bot3"), agent(game, "sampled:best?worlds=20"), agent(game, Sampled("best", worlds=20))
        agent(game, Sampled(mine, worlds=20))  # mine: an evaluator of yours

    With `isolate`, Python code of somebody else's runs in a process of its own, which is sent worlds and nothing else;
    if the administrator starts it, or a program, it runs as a user of its own if it can.
    An agent pickles by its spec: it is made again where it is read.

    Raises CardaiError, which says what is wrong and what there is.
    """
    is_game(game)
    check_flag("isolate", isolate)
    if isinstance(spec, Agent):
        made = spec
    else:
        value = parse(spec)
        made = replace(_made(game, value, isolate), game=game)
        object.__setattr__(made, "_value", value)
    if isolate and made.is_foreign and not made.strategy.is_isolated:
        raise CardaiError(f"agent {made.spec!r} cannot be isolated: only python:... and searches with python:... can")
    return made


def _made(game: Game, value: Spec, isolate: bool) -> Agent:
    """The agent of a spec. Raises CardaiError if there is none, and for an option that it does not take."""
    kind, options = value.kind, _Options(value)
    if is_evaluator(value.argument) and kind not in SEARCHES:
        raise CardaiError(f"agent {options.spec!r} takes no evaluator; {', '.join(SEARCHES)} do")
    if kind in _MAKERS:
        made = _MAKERS[kind](game, value, options, isolate)
    elif kind == "endgame" and value.argument:
        made = _endgame(game, value, options)
    elif kind in game.agents.kinds or (value.argument and kind in _kinds()):
        make = game.agents.kinds[kind] if kind in game.agents.kinds else _kinds()[kind].load()
        made = make(game, options.spec, str(value.argument or ""), options.left)
    elif value.argument is None and kind in game.agents.players:
        made = _hand_written(game, kind, options)
    elif value.argument is None and kind == "random":
        made = Agent(kind, EvenlyRandom(), EVENLY)
    elif value.argument is None and kind == HUMAN:
        raise CardaiError("agent 'human' sits down only in `cardai play`")
    else:
        raise CardaiError(f"{game.name}: " + unknown("agent", options.spec, list_specs(game)))
    options.end()
    return made


def evenly_random(game: Game) -> Agent:
    """The agent to which every legal move is as likely as the others, whether or not `game` has its own `random`."""
    name = "evenly random" if "random" in is_game(game).agents.players else "random"
    return Agent(name, EvenlyRandom(), EVENLY, game)


def player(function: Callable[[Game, np.record], np.record], name: str | None = None) -> Agent:
    """An agent that plays by a function of yours: `function(game, world)` returns a legal move of `world.turn`.

    The world is a copy in which all that the seat cannot know is dealt anew. Moves are verified. `name`: its name in
    tables, the function's by default.
    """
    if not callable(function):
        raise BadArgument(f"function must be a function (game, world) -> move, not {short(function)}")
    spec = (None if name is None else check_text("name", name)) or getattr(function, "__name__", "player")
    return Agent(spec, OfFunction(one_by_one(function, spec)), "a Python function")


def kinds_of(game: Game) -> list[str]:
    """The kinds of agent that the game and installed packages bring, and `endgame` if the game has endings; sorted."""
    own = {"endgame"} if is_game(game).rules.is_open else set()
    return sorted({*own, *game.agents.kinds, *_kinds()})


@functools.cache
def _kinds() -> dict[str, EntryPoint]:
    return brought(ENTRY_POINTS)


def explores_until(spec: str | Spec) -> int:
    """The option `until` of a spec, -1 without. Raises CardaiError if it is no number of plies."""
    until = parse(spec).option("until")
    return -1 if until is None else count_of(str(spec), str(until), "a number of plies")


def list_specs(game: Game) -> dict[str, str]:
    """The agents that a game offers without files of yours, with a line about each.

    A model is listed with the searches that judge the states it was trained on. Others are possible.
    """
    is_game(game)
    found = {"random": EVENLY}
    found.update({name: player.about for name, player in game.agents.players.items()})
    for heuristic in game.agents.heuristics:
        found.update({f"{name}:{heuristic}": about for name, about in SEARCHES.items()})
    for model, known in known_evaluators(game).items():
        names = ("greedy", "ahead") if known.moment == "before_draw" else ("sampled", "peeking", "ahead")
        found.update({f"{name}:{model}": f"{SEARCHES[name]}; {known.about}" for name in names})
    found.update(packaged_specs(game))
    found["rollout:100"] = "pure Monte Carlo over worlds (any number)"
    if game.rules.blank is not None:
        found |= {"ismcts:1000": TREES["ismcts"], "epimc:30": TREES["epimc"]}
    for name in game.agents.kinds:
        with contextlib.suppress(CardaiError):  # one that needs a file or another argument
            found[name] = agent(game, name).about
    return found


def packaged_specs(game: Game) -> dict[str, str]:
    """The agents for a game that come with installed packages, with a line about each, except those of models.

    The module of an entry point in `ENTRY_POINTS` may have a function `listed(game) -> dict[spec, line]`.
    """
    found: dict[str, str] = {}
    for entry in _kinds().values():
        listed = getattr(importlib.import_module(entry.module), "listed", None)
        found.update(listed(is_game(game)) if listed else {})
    return found


def count_of(spec: str, text: str, what: str, least: int = 1, most: int = MAX_WORLDS) -> int:
    """The whole number that a text of a spec names. Raises CardaiError, which calls it `what`, if it names none."""
    if not (text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most):
        raise CardaiError(f"agent {spec!r}: {text!r} is not {what} ({least} to {most})")
    return int(text)


class _Options:
    """The options of a spec, which leave `left`, a dict of texts, as they are read. Errors name the spec."""

    def __init__(self, value: Spec, spec: str = "") -> None:
        self.spec, self.left = spec or str(value), {key: str(part) for key, part in value.options}

    def count(self, key: str, usual: int, what: str, least: int = 1, most: int = MAX_WORLDS) -> int:
        """A whole number, which errors call `what`."""
        return count_of(self.spec, self.left.pop(key, str(usual)), what, least, most)

    def number(self, key: str, usual: float = 0.0, most: float = np.inf) -> float:
        """A finite number from 0 to `most`."""
        text = self.left.pop(key, str(usual))
        with contextlib.suppress(ValueError):
            if 0.0 <= (value := float(text)) <= most and value < np.inf:
                return value
        limit = f"from 0 to {most:g}" if most < np.inf else "of at least 0"
        raise CardaiError(f"agent {self.spec!r}: {key}={text!r} is not a number {limit}")

    def flag(self, key: str) -> bool:
        """Whether an option without a value is given."""
        value = self.left.pop(key, None)
        if value:
            raise CardaiError(f"agent {self.spec!r}: {key!r} takes no value")
        return value is not None

    def exploring(self) -> dict[str, Any]:
        """How the agent explores: fields of `OnePly` and `WorldSearch`."""
        found = {"epsilon": self.number("epsilon", most=1.0), "temperature": self.number("temperature"), "until": -1}
        if "until" in self.left:
            if not any(found[key] for key in ("epsilon", "temperature")):
                raise CardaiError(f"agent {self.spec!r} does not explore: until goes with epsilon or temperature")
            found["until"] = self.count("until", 0, "a number of plies")
        return found

    def seconds(self) -> float:
        """How long a program may take for an answer. No other option may be left."""
        seconds = self.number("seconds", SECONDS, MOST_SECONDS)
        if not seconds:
            raise CardaiError(f"agent {self.spec!r}: seconds=0 leaves no time to answer")
        self.end()
        return seconds

    def end(self) -> None:
        """Raise CardaiError if an option was not read."""
        if self.left:
            raise CardaiError(f"agent {self.spec!r} takes no option {next(iter(self.left))!r}")


def _one_ply(game: Game, value: Spec, options: _Options, isolate: bool) -> Agent:
    evaluator, heuristic = _judge_of(game, value, options, isolate)
    worlds = options.count("worlds", 100, "a number of worlds") if value.kind == "sampled" else 1
    strategy = OnePly(
        evaluator, heuristic, settles=value.kind != "greedy", worlds=worlds, peeks=value.kind == "peeking",
        any_variant=evaluator is not None and options.flag("any_variant"), **options.exploring(),
    )  # fmt: skip
    return Agent(options.spec, strategy, SEARCHES[value.kind])


def _judge_of(game: Game, value: Spec, options: _Options, isolate: bool) -> tuple[Evaluator | None, Any]:
    """The evaluator that a search asks, or None and the heuristic in compiled code."""
    judge, named = value.argument, str(value.argument or "")
    evaluator, heuristic = None, None
    if judge is not None and not isinstance(judge, str | Spec):
        own, evaluator = getattr(judge, "game", game), judge
        if isinstance(own, Game) and own is not game:
            raise BadArgument(f"{judge.name} is an evaluator of {own.name}, not of {game.name}")
    elif named in game.agents.heuristics:
        heuristic = game.compiler.entry("value", game.agents.heuristics[named])
    elif named.startswith("python:"):
        target = named.removeprefix("python:")
        if isolate:
            evaluator = ProcessEvaluator(game, python_process(game, options.spec, target, "evaluator"))
        else:
            evaluator = evaluator_at(game, options.spec, target)
    elif named.startswith("process:"):
        program = parse(cast(Any, judge))
        seconds, command = _Options(program, options.spec).seconds(), str(program.argument or "")
        process = program_process(game, options.spec, command, "evaluator", seconds, isolate)
        evaluator = ProcessEvaluator(game, process)
    elif not named or (evaluator := find_evaluator(game, named)) is None:  # an empty path would be this very folder
        names = [*game.agents.heuristics, *known_evaluators(game)]
        raise CardaiError(f"{game.name}: agent {options.spec!r}: " + unknown("heuristic or model", named, names))
    return _over_renamings(game, options, evaluator), heuristic


def _over_renamings(game: Game, options: _Options, evaluator: Evaluator | None) -> Evaluator | None:
    """The mean of an evaluator over as many names of the suits as the option `renamings` says; itself without it."""
    if "renamings" not in options.left:
        return evaluator
    if evaluator is None or evaluator.seats is None:
        raise CardaiError(f"agent {options.spec!r}: renamings goes with a model, which was made for a number of seats")
    try:
        orders = game.encoder(evaluator.encoder).renamings(evaluator.seats)
    except CardaiError as error:
        raise CardaiError(f"agent {options.spec!r}, encoder {evaluator.encoder!r}: {error}") from None
    count = options.count("renamings", 1, "a number of names for the suits", most=len(orders))
    return RenamedEvaluator(evaluator, orders[:count])


def _endgame(game: Game, value: Spec, options: _Options) -> Agent:
    """Options other than `nodes` are those of the inner agent, unless that has some itself."""
    inner, nodes = parse(cast(Any, value.argument)), options.count("nodes", NODES, "a number of nodes")
    if not inner.options:
        inner = inner.with_options(**options.left)
        options.left.clear()
    options.end()
    try:
        player = replace(_made(game, inner, False), game=game)
        return Agent(options.spec, Endgame(player, game, nodes), f"{inner}, but for its mistakes in endings")
    except CardaiError as error:
        raise CardaiError(f"agent {options.spec!r}: {error}") from None


def _ahead(game: Game, value: Spec, options: _Options, isolate: bool) -> Agent:
    """The agent that plays its best moves on in worlds. A judge of settled states is asked about these."""
    evaluator, heuristic = _judge_of(game, value, options, isolate)
    settles, worlds = (
        evaluator is not None and evaluator.moment == "drawn",
        options.count("worlds", 16, "a number of worlds"),
    )
    any_variant = evaluator is not None and options.flag("any_variant")
    judge = OnePly(evaluator, heuristic, settles=settles, worlds=worlds if settles else 1, any_variant=any_variant)
    named, _ = value.option("others"), options.left.pop("others", None)
    strategy = WorldSearch(
        judge, judge if named is None else _model(game, options.spec, "others", parse(named), isolate), worlds,
        most=options.count("moves", 4, "a number of moves"), turns=options.count("turns", 0, "a number of turns", 0),
        decay=options.number("decay", most=1.0), halving=options.flag("halving"),
        assumed=str(_same_judge(value) if named is None else named), **options.exploring(),
    )  # fmt: skip
    if strategy.decay and evaluator is None:
        raise CardaiError(
            f"agent {options.spec!r}: decay goes with a model: values of a heuristic have a scale of their own"
        )
    return Agent(options.spec, strategy, SEARCHES["ahead"])


def _same_judge(value: Spec) -> Spec:
    """The agent that plays the best moves by the judge of a search, asked in the same way."""
    asked = {key: text for key, text in value.options if key in ("any_variant", "renamings")}
    return Greedy(cast(Any, value.argument)).with_options(**asked)


def _rollout(game: Game, value: Spec, options: _Options, isolate: bool) -> Agent:
    """The agent that plays every move out to the end, by the game's `playouts` or the player of the option `by`."""
    worlds = count_of(options.spec, str(value.argument or ""), "the number of worlds, as in rollout:100")
    named = parse(options.left.pop("by", game.agents.playouts or "random"))
    by = _model(game, options.spec, "by", named, isolate)
    return Agent(options.spec, WorldSearch(by, by, worlds, assumed=str(named)), "pure Monte Carlo over worlds")


def _tree(game: Game, value: Spec, options: _Options, isolate: bool) -> Agent:
    """The agent that searches a tree. Beyond it `by` plays on, or the network of the option `judge` judges."""
    spec, kind = options.spec, value.kind
    worlds = count_of(spec, str(value.argument or ""), f"the number of worlds, as in {kind}:100")
    judge, named = options.left.pop("judge", None), options.left.pop("by", None)
    if judge is not None and named is not None:
        raise CardaiError(f"agent {spec!r}: judge and by exclude each other")
    by = parse(named or game.agents.playouts or "random") if judge is None else Greedy(judge)
    if kind == "epimc":
        more: dict[str, Any] = {"depth": options.count("depth", 2, "a number of choices")}
    else:
        more = {"bonus": options.number("bonus", 0.7), "single": options.flag("single")}
    options.end()
    model = _model(game, spec, "by", by, isolate)
    strategy = TreeSearch(model, worlds, turns=-1 if judge is None else 0, assumed=str(by), **more)
    try:
        strategy.check_search(game)
    except CardaiError as error:
        raise CardaiError(f"agent {spec!r}: {error}") from None
    return Agent(spec, strategy, TREES[kind])


def _model(game: Game, spec: str, option: str, named: Spec, isolate: bool) -> Strategy:
    """The strategy of a spec in an option of another one: somebody who plays worlds on."""
    strategy = _made(game, named, isolate).strategy
    if not plays_worlds_on(strategy):
        who = "hand-written players and those that look one ply ahead without peeking"
        raise CardaiError(f"agent {spec!r}: {option}={named} cannot play worlds on; {who} can")
    return strategy


def _python(game: Game, value: Spec, options: _Options, isolate: bool) -> Agent:
    options.end()
    spec, target = options.spec, str(value.argument or "")
    if isolate:
        process = python_process(game, spec, target, "agent")
        return Agent(spec, OfProcess(process), "a Python function in its own process")
    return Agent(spec, OfFunction(one_by_one(function_at(spec, target), spec)), "a Python function")


def _process(game: Game, value: Spec, options: _Options, isolate: bool) -> Agent:
    command, seconds = str(value.argument or ""), options.seconds()
    process = program_process(game, options.spec, command, "agent", seconds, isolate)
    return Agent(options.spec, OfProcess(process), "a program")


def _hand_written(game: Game, name: str, options: _Options) -> Agent:
    player, spec, randomised = game.agents.players[name], options.spec, options.flag("randomised")
    values = dict(player.defaults)
    counted = {key for key, value in values.items() if isinstance(value, int)}
    for key in [*options.left]:
        if key not in values:
            raise CardaiError(f"agent {spec!r}: " + unknown(f"parameter of {name}", key, values))
        text = options.left.pop(key)
        try:
            values[key] = float(text)
        except ValueError:
            raise CardaiError(f"agent {spec!r}: {key}={text!r} is not a number") from None
        if not np.isfinite(values[key]):
            raise CardaiError(f"agent {spec!r}: {key}={text!r} is not a finite number")
        if key in counted and (values[key] < 1 or values[key] % 1):
            raise CardaiError(f"agent {spec!r}: {key}={text!r} is a count; it must be a whole number from 1")
    counts = sum(1 << number for number, key in enumerate(values) if key in counted)
    call = game.compiler.entry("choose", player.choose)
    strategy = HandWritten(call, tuple(map(float, values.values())), player.sees == "own", randomised, counts)
    return Agent(spec, strategy, player.about)


_MAKERS: dict[str, Callable[[Game, Spec, _Options, bool], Agent]] = {
    **dict.fromkeys(("greedy", "sampled", "peeking"), _one_ply), "ahead": _ahead, "rollout": _rollout,
    **dict.fromkeys(TREES, _tree), "python": _python, "process": _process,
}  # fmt: skip
BUILT_IN = (*_MAKERS, "endgame", "random", HUMAN)
"""The kinds of agent that any game has, but `endgame`, which asks that it has endings."""
