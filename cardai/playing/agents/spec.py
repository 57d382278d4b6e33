"""Agent specs: the string that names an agent, and the agent it names.

random                  every legal move is as likely as the others, unless the game has its own player of that name
NAME                    a hand-written player of the game: bot3
NAME?p=0.5&q=2          the same with other parameters; NAME?randomised draws each value x anew from [0, 2x] for every
                        game (training data wants varied players)
greedy:EVALUATOR        plays the move with the best after-state (before any draw)
sampled:EVALUATOR       plays the move with the best settled state, in the mean over worlds (?worlds=100)
peeking:EVALUATOR       plays the move with the best settled state in the true world. It sees what it will draw: for
                        comparison only
ahead:EVALUATOR         plays its best moves on in worlds, up to its next choice, and takes the best mean there
rollout:N               plays each move out in N worlds and takes the best mean score (pure Monte Carlo)
ismcts:N                information-set Monte-Carlo tree search, N iterations a decision, each in a new world
epimc:N                 extended perfect-information Monte Carlo in N worlds: hands are known after ?depth=2 choices
python:MODULE:FUNCTION  a function of yours: (game, world) -> move
process:COMMAND         a program of yours in any language, which is asked over lines of JSON (docs/protocol.md);
                        ?seconds=10 is how long it may take for an answer (60)
policy:FILE             a network that gives the probability of each move, by its file or a shipped name; ?greedy plays
                        the likeliest
endgame:SPEC            plays as the agent SPEC, but without mistakes once nothing is hidden any more, if the game says
                        when; endgame:(SPEC)?nodes=1000 visits at most so many positions for a decision
human                   somebody at the keyboard (in `cardai play`)

An EVALUATOR is a heuristic of the game, a shipped model, a model file, a run folder, or python:MODULE:OBJECT or
process:COMMAND, an evaluator of yours. Options of the three that search: ?epsilon=0.1 plays any legal move that often;
?temperature=0.05 draws the move by a softmax of the means; &until=N does so only before a ply drawn from 0..N for each
game; ?any_variant lets a model play a variant that it was not trained on; ?renamings=8 takes the mean of its scores
over 8 of the 24 ways to exchange the names of the suits, if its encoder names suits.

Options of `ahead`, beside these: ?moves=4 (how many moves it plays on), ?worlds=16 (in how many worlds each), ?turns=0
(choices of its own that are played over), ?others=SPEC (how it thinks the other seats play; without it, as its
evaluator likes best), ?halving (half of the moves are given up again and again, and the others share their worlds),
?decay=0.7 (worlds are played to the end; its first judgement has 0.3 of the weight, each later one 0.7 of the one
before, and the end what is left), ?ms=5 (milliseconds of a processor instead of a number of worlds). `rollout` takes
?by=SPEC, who plays the worlds on. `ismcts` and `epimc` take that too, or ?judge=EVALUATOR, a network that judges each
seat's position at its next choice instead; `ismcts` takes ?bonus=0.7 (how much it explores), ?single (choices are told
apart by what the searching seat sees, not by what their own seat sees) and ?ms.

A SPEC inside another one that has options itself stands in parentheses: `ahead:best?others=(greedy:nn2?any_variant)`.
So does a path with a ?, or with a comma in a list of specs: `greedy:(runs/what?)`.
`cardai.playing.agents.notation` has specs as values: `Ahead("best", others=Greedy("nn2", any_variant=True))`.

A game may bring kinds of its own (`Agents.kinds`), an installed package too (`ENTRY_POINTS`).
"""

import contextlib
import functools
import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint
from itertools import accumulate
from typing import Any, cast

import numpy as np

from cardai.errors import BadArgument, CardaiError, short, unknown, whole
from cardai.files.entries import brought
from cardai.game import Game, check_table, is_game
from cardai.game.compiled.doors import check_flag, check_kind, check_text
from cardai.playing.agents.adjusted import RenamedEvaluator
from cardai.playing.agents.endgame import NODES, Endgame
from cardai.playing.agents.evaluator import Evaluator, find_evaluator, is_evaluator, known_evaluators
from cardai.playing.agents.notation import Greedy, Spec, parse
from cardai.playing.agents.outside import OfProcess, ProcessEvaluator, program_process, python_process
from cardai.playing.agents.own_code import evaluator_at, function_at
from cardai.playing.agents.process import MOST_SECONDS, SECONDS
from cardai.playing.agents.strategy import (
    MOST_MILLISECONDS,
    EvenlyRandom,
    HandWritten,
    OfFunction,
    OnePly,
    Strategy,
    TreeSearch,
    WorldSearch,
    one_by_one,
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
    made = spec if isinstance(spec, Agent) else _from_spec(game, parse(spec), isolate)
    if isolate and made.is_foreign and not made.strategy.is_isolated:
        raise CardaiError(f"agent {made.spec!r} cannot be isolated: only python:... and searches with python:... can")
    return made


def _from_spec(game: Game, value: Spec, isolate: bool) -> Agent:
    try:
        made = replace(_made(game, value, isolate), game=game)
    except CardaiError:
        _refuse_divided(value)
        raise
    object.__setattr__(made, "_value", value)
    return made


def _refuse_divided(value: Spec) -> None:
    """Raise CardaiError if a spec has options because a path in it has a ?, which begins them."""
    first, *others = str(value).partition(":")[2].split("?")
    for path in accumulate(others, lambda before, part: f"{before}?{part}", initial=first):
        if path != first and os.path.exists(path):  # noqa: PTH110 - False for what can be no path
            raise CardaiError(
                f"agent {str(value)!r}: its options begin at the first ?, so a path with a ? stands in parentheses:"
                f" {value.kind}:({path})"
            )


def _made(game: Game, value: Spec, isolate: bool) -> Agent:
    spec, kind, options = str(value), value.kind, {key: str(part) for key, part in value.options}
    if kind in SEARCHES:
        return _searching(game, value, options, isolate)
    if is_evaluator(value.argument):
        raise CardaiError(f"agent {spec!r} takes no evaluator; {', '.join(SEARCHES)} do")
    argument = str(value.argument or "")
    if kind == "rollout":
        return _rollout(game, value, options, isolate)
    if kind in TREES:
        return _tree(game, value, options, isolate)
    if kind == "python":
        _nothing_left(spec, options)
        if isolate:
            process = python_process(game, spec, argument, "agent")
            return Agent(spec, OfProcess(process), "a Python function in its own process")
        return Agent(spec, OfFunction(function_at(spec, argument)), "a Python function")
    if kind == "process":
        process = program_process(game, spec, argument, "agent", _seconds(spec, options), isolate)
        return Agent(spec, OfProcess(process), "a program")
    if kind == "endgame" and argument:
        return _endgame(game, value, options)
    if kind in game.agents.kinds or (argument and kind in _kinds()):
        make = game.agents.kinds[kind] if kind in game.agents.kinds else _kinds()[kind].load()
        made = make(game, spec, argument, options)
        _nothing_left(spec, options)
        return made
    if kind in game.agents.players and value.argument is None:
        return _hand_written(game, spec, kind, options)
    if kind == "random" and value.argument is None:
        _nothing_left(spec, options)
        return Agent(spec, EvenlyRandom(), EVENLY)
    if kind == HUMAN and value.argument is None:
        raise CardaiError("agent 'human' sits down only in `cardai play`")
    raise CardaiError(f"{game.name}: " + unknown("agent", spec, list_specs(game)))


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


def _nothing_left(spec: str, options: dict[str, str]) -> None:
    if options:
        raise CardaiError(f"agent {spec!r} takes no option {next(iter(options))!r}")


def count_of(spec: str, text: str, what: str, least: int = 1, most: int = MAX_WORLDS) -> int:
    """The whole number that a text of a spec names. Raises CardaiError, which calls it `what`, if it names none."""
    if not (text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most):
        raise CardaiError(f"agent {spec!r}: {text!r} is not {what} ({least} to {most})")
    return int(text)


def _searching(game: Game, value: Spec, options: dict[str, str], isolate: bool) -> Agent:
    """A search with an evaluator, or with the heuristic, model or Python object of a name."""
    spec, kind = str(value), value.kind
    evaluator, heuristic = _judge_of(game, value, isolate)
    evaluator = _evened(game, spec, options, evaluator)
    if kind == "ahead":
        return _ahead(game, value, options, isolate, evaluator, heuristic)
    worlds = 1
    if kind == "sampled":
        worlds = count_of(spec, options.pop("worlds", "100"), "a number of worlds")
    epsilon, temperature, until = _exploring(spec, options)
    any_variant = flag(spec, "any_variant", options) if evaluator else False
    _nothing_left(spec, options)
    strategy = OnePly(
        evaluator,
        heuristic,
        settles=kind != "greedy",
        worlds=worlds,
        peeks=kind == "peeking",
        epsilon=epsilon,
        temperature=temperature,
        until=until,
        any_variant=any_variant,
    )
    return Agent(spec, strategy, SEARCHES[kind])


def _judge_of(game: Game, value: Spec, isolate: bool) -> tuple[Evaluator | None, Any]:
    """The evaluator that a search asks, or None and the heuristic in compiled code."""
    spec, judge = str(value), value.argument
    if judge is not None and not isinstance(judge, str | Spec):
        own = getattr(judge, "game", game)
        if isinstance(own, Game) and own is not game:
            raise BadArgument(f"{judge.name} is an evaluator of {own.name}, not of {game.name}")
        return judge, None
    named = str(judge or "")
    if named in game.agents.heuristics:
        return None, game.compiler.entry("value", game.agents.heuristics[named])
    if named.startswith("python:"):
        target = named.removeprefix("python:")
        if isolate:
            return ProcessEvaluator(game, python_process(game, spec, target, "evaluator")), None
        return evaluator_at(game, spec, target), None
    if named.startswith("process:"):
        program = parse(judge if judge is not None else "")
        options = {key: str(part) for key, part in program.options}
        seconds, command = _seconds(spec, options), str(program.argument or "")
        return ProcessEvaluator(game, program_process(game, spec, command, "evaluator", seconds, isolate)), None
    evaluator = find_evaluator(game, named) if named else None  # an empty path would be this very folder
    if evaluator is None:
        names = [*game.agents.heuristics, *known_evaluators(game)]
        raise CardaiError(f"{game.name}: agent {spec!r}: " + unknown("heuristic or model", named, names))
    return evaluator, None


def _evened(game: Game, spec: str, options: dict[str, str], evaluator: Evaluator | None) -> Evaluator | None:
    """The mean of an evaluator over as many names of the suits as the option `renamings` says; itself without it."""
    text = options.pop("renamings", None)
    if text is None:
        return evaluator
    if evaluator is None or evaluator.seats is None:
        raise CardaiError(f"agent {spec!r}: renamings goes with a model, which was made for a number of seats")
    try:
        orders = game.encoder(evaluator.encoder).renamings(evaluator.seats)
    except CardaiError as error:
        raise CardaiError(f"agent {spec!r}, encoder {evaluator.encoder!r}: {error}") from None
    count = count_of(spec, text, "a number of names for the suits", most=len(orders))
    return RenamedEvaluator(evaluator, orders[:count])


def _seconds(spec: str, options: dict[str, str]) -> float:
    """The option that says how long a program may take for an answer. Nothing else may be among the options."""
    text = options.pop("seconds", f"{SECONDS:g}")
    _nothing_left(spec, options)
    seconds = _number(spec, "seconds", text, MOST_SECONDS)
    if not seconds:
        raise CardaiError(f"agent {spec!r}: seconds={text!r} leaves no time to answer")
    return seconds


def _endgame(game: Game, value: Spec, options: dict[str, str]) -> Agent:
    """Options other than `nodes` are those of the inner agent, unless that has some itself."""
    spec, inner = str(value), parse(cast(Any, value.argument))
    nodes = count_of(spec, options.pop("nodes", str(NODES)), "a number of nodes")
    if not inner.options:
        inner = inner.with_options(**options)
        options.clear()
    _nothing_left(spec, options)
    try:
        player = replace(_made(game, inner, False), game=game)
        return Agent(spec, Endgame(player, game, nodes), f"{inner}, but for its mistakes in endings")
    except CardaiError as error:
        raise CardaiError(f"agent {spec!r}: {error}") from None


def _exploring(spec: str, options: dict[str, str]) -> tuple[float, float, int]:
    """The options that say how an agent explores: epsilon, temperature and until."""
    epsilon = _number(spec, "epsilon", options.pop("epsilon", "0"), 1.0)
    temperature = _number(spec, "temperature", options.pop("temperature", "0"), np.inf)
    until = options.pop("until", None)
    if until is not None and not (epsilon or temperature):
        raise CardaiError(f"agent {spec!r} does not explore: until goes with epsilon or temperature")
    return epsilon, temperature, -1 if until is None else count_of(spec, until, "a number of plies")


def _ahead(
    game: Game, value: Spec, options: dict[str, str], isolate: bool, evaluator: Evaluator | None, heuristic: Any
) -> Agent:
    """The agent that plays its best moves on in worlds. A judge of settled states is asked about these."""
    spec = str(value)
    settles = evaluator is not None and evaluator.moment == "drawn"
    worlds = count_of(spec, options.pop("worlds", "16"), "a number of worlds")
    any_variant = flag(spec, "any_variant", options) if evaluator else False
    judge = OnePly(evaluator, heuristic, settles=settles, worlds=worlds if settles else 1, any_variant=any_variant)
    named, _ = value.option("others"), options.pop("others", None)
    others = judge if named is None else _model(game, spec, "others", parse(named), isolate)
    halving, milliseconds = flag(spec, "halving", options), options.pop("ms", "0")
    epsilon, temperature, until = _exploring(spec, options)
    strategy = WorldSearch(
        judge,
        others,
        worlds,
        most=count_of(spec, options.pop("moves", "4"), "a number of moves"),
        turns=count_of(spec, options.pop("turns", "0"), "a number of turns", 0),
        decay=_number(spec, "decay", options.pop("decay", "0"), 1.0),
        halving=halving,
        milliseconds=_number(spec, "ms", milliseconds, MOST_MILLISECONDS),
        epsilon=epsilon,
        temperature=temperature,
        until=until,
        assumed=str(_same_judge(value) if named is None else named),
    )
    if strategy.decay and evaluator is None:
        raise CardaiError(f"agent {spec!r}: decay goes with a model: values of a heuristic have a scale of their own")
    if strategy.milliseconds and not strategy.is_native:
        raise CardaiError(f"agent {spec!r}: ms counts the time of compiled code, but an evaluator is asked outside it")
    _nothing_left(spec, options)
    return Agent(spec, strategy, SEARCHES["ahead"])


def _same_judge(value: Spec) -> Spec:
    """The agent that plays the best moves by the judge of a search, asked in the same way."""
    asked = {key: text for key, text in value.options if key in ("any_variant", "renamings")}
    return Greedy(cast(Any, value.argument)).with_options(**asked)


def _rollout(game: Game, value: Spec, options: dict[str, str], isolate: bool) -> Agent:
    """The agent that plays every move out to the end, by the game's `playouts` or the player of the option `by`."""
    spec = str(value)
    worlds = count_of(spec, str(value.argument or ""), "the number of worlds, as in rollout:100")
    named = parse(options.pop("by", game.agents.playouts or "random"))
    by = _model(game, spec, "by", named, isolate)
    _nothing_left(spec, options)
    return Agent(spec, WorldSearch(by, by, worlds, assumed=str(named)), "pure Monte Carlo over worlds")


def _tree(game: Game, value: Spec, options: dict[str, str], isolate: bool) -> Agent:
    """The agent that searches a tree. Beyond it `by` plays on, or the network of the option `judge` judges."""
    spec, kind = str(value), value.kind
    worlds = count_of(spec, str(value.argument or ""), f"the number of worlds, as in {kind}:100")
    judge, named = options.pop("judge", None), options.pop("by", None)
    if judge is not None and named is not None:
        raise CardaiError(f"agent {spec!r}: judge and by exclude each other")
    by = parse(named or game.agents.playouts or "random") if judge is None else Greedy(judge)
    more: dict[str, Any] = {}
    if kind == "epimc":
        more["depth"] = count_of(spec, options.pop("depth", "2"), "a number of choices")
    else:
        more["bonus"] = _number(spec, "bonus", options.pop("bonus", "0.7"), np.inf)
        more["single"] = flag(spec, "single", options)
        more["milliseconds"] = _number(spec, "ms", options.pop("ms", "0"), MOST_MILLISECONDS)
    _nothing_left(spec, options)
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
    if not isinstance(strategy, HandWritten | EvenlyRandom | OnePly) or strategy.randomised or strategy.peeks:
        who = "hand-written players and those that look one ply ahead without peeking"
        raise CardaiError(f"agent {spec!r}: {option}={named} cannot play worlds on; {who} can")
    return strategy


def _number(spec: str, key: str, text: str, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not (0.0 <= value <= most and np.isfinite(value)):
        limit = f"from 0 to {most:g}" if np.isfinite(most) else "of at least 0"
        raise CardaiError(f"agent {spec!r}: {key}={text!r} is not a number {limit}")
    return value


def flag(spec: str, key: str, options: dict[str, str]) -> bool:
    """Remove an option that takes no value from `options`. Returns whether it was there.

    Raises CardaiError if it has a value.
    """
    check_text("spec", spec)
    value = check_kind("options", options, dict, "a dict of texts").pop(check_text("key", key), None)
    if value not in (None, ""):
        raise CardaiError(f"agent {spec!r}: {key!r} takes no value")
    return value is not None


def _hand_written(game: Game, spec: str, name: str, options: dict[str, str]) -> Agent:
    player = game.agents.players[name]
    randomised = flag(spec, "randomised", options)
    values = dict(player.defaults)
    counted = {key for key, value in values.items() if isinstance(value, int)}
    for key, text in options.items():
        if key not in values:
            raise CardaiError(f"agent {spec!r}: " + unknown(f"parameter of {name}", key, values))
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
