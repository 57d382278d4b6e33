"""Wrong calls of the public functions, made from their signatures. `test_doors` runs this file in processes of its own.

    python tests/misuse.py PART FIRST

makes the wrong calls of a part from number FIRST on, and prints a line before and after each. The walk takes in every
public function and method of the modules in `PARTS`. `VALUES` has for each parameter a good value and wrong ones. Each
call has one wrong argument. A function with a parameter that is not in `VALUES` ends the walk: so a new public function
cannot be forgotten.
"""

import contextlib
import datetime
import functools
import importlib
import inspect
import io
import json
import math
import re
import resource
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import cardai
from cardai.errors import CardaiError, short
from cardai.game import Outcome
from cardai.playing.agents.notation import Greedy, Spec
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.agents.strategy import EvenlyRandom, HandWritten, OfFunction, OnePly, WorldSearch
from cardai.playing.table.asking import Inquiry, pending_of
from cardai.playing.table.many import play
from cardai.playing.table.one import OneGame
from cardai.records.dataset import collect_games
from cardai.records.recipe import Recipe
from cardai.records.record import RecordedGame, Writer, replay
from cardai.rules import STREAM

GAME, FOREIGN = cardai.load("moska"), cardai.load("tictactoe")
SEATS = 4
MEMORY = 4 << 30  # bytes; a call that takes more ends with MemoryError
PARTS = {
    "play": [
        *("cardai.game", "cardai.game.compiler", "cardai.game.learning", "cardai.game.records", "cardai.game.table"),
        *("cardai.registry", "cardai.playing.table.many", "cardai.playing.table.one", "cardai.playing.table.asking"),
    ],
    "agents": [
        "cardai.playing.agents.evaluator",
        "cardai.playing.agents.function",
        "cardai.playing.agents.spec",
        "cardai.playing.agents.strategy",
    ],
    "measure": ["cardai.measure.bench", "cardai.measure.duel", "cardai.laws"],
    "data": ["cardai.records.record", "cardai.records.dataset", "cardai.records.split"],
    "evaluators": ["cardai.evaluators.model", "cardai.evaluators.scorer"],
}
INNER = {
    "cardai.playing.agents.spec.count_of": "the check itself, of a number in a spec",
    "cardai.game.learning.suit_orders": "arithmetic on the number of a deck's suits",
    "cardai.records.dataset.Dataset.parts": "an inner step of storing, with sizes of ours",
    "cardai.records.record.replay_space": "an inner step of replaying, of a game that has been checked",
    "cardai.game.records.state_dtype": "makes the type of a game's states; called where a game is written",
    "cardai.game.records.move_dtype": "makes the type of a game's moves; called where a game is written",
    "cardai.game.records.GameState": "the type of a record, which NumPy makes",
    **{
        f"cardai.game.{name}": "arithmetic on scores that have been checked"
        for name in ("Payoff.of", "Payoff.share", "Payoff.worth", "Payoff.text", "Game.total_score")
    },
    "cardai.playing.agents.strategy.TreeSearch.check_search": "a part of `check_fits`, asked where a spec is read",
    "cardai.game.table.counts_of": "the check itself, of what `holdings` gives",
    "cardai.evaluators.model.Model.as_onnx": "takes nothing; without the package onnx it says so, see test_export",
    "cardai.registry.importing": "what imports somebody else's code says",
    "cardai.registry.refuse_in_import": "the check itself",
    "cardai.registry.load_version": "what pickle calls with what `reduced` has written",
    "cardai.registry.reduced": "what pickle asks; pickle.dumps is the door to it",
    "cardai.playing.table.many.Results": "what `play` returns",
    "cardai.game.game_of": "what shows a state in a notebook asks, of records alone",
    "cardai.game.copies": "an inner step of the analysis, on states that have been checked",
    "cardai.game.is_game": "the check itself",
    "cardai.game.Game.check_outcome": "the check itself",
    "cardai.playing.table.asking.Inquiry": "how a table asks its agents; `ask` is the door to it",
    "cardai.playing.table.asking.pending_of": "the same",
    "cardai.playing.agents.strategy.plays_worlds_on": "a question about any strategy; searches refuse by it",
    "cardai.playing.agents.strategy.Strategy": "what strategies have in common",
    "cardai.playing.agents.strategy.move_of": "asks a function of somebody else's; `cardai.player` is the door to it",
    "cardai.records.record.Header": "what the first line of a file says",
    "cardai.records.record.Reader.game": "what verbs ask, whose options are whole numbers; see test_record",
    "cardai.records.record.Reader.refuse": "makes an error",
    "cardai.records.record.InOrder": "what `Writer.in_order`, the door to it, returns; `play` calls it",
    "cardai.records.record.check_recorded": "the check itself",
    "cardai.records.record.check_scores": "the check itself",
    "cardai.measure.duel.looks": "arithmetic on numbers that `duel` has checked",
    "cardai.measure.duel.exploring": "arithmetic on specs",
    "cardai.measure.duel.Duel": "a result",
}
DATACLASSES = {"Agent", "Dataset", "EvenlyRandom", "FunctionEvaluator", "Game", "HandWritten", "LawResult"}
DATACLASSES |= {"Learning", "OfFunction", "OnePly", "Outcome", "Payoff", "Person", "PerspectiveEncoder"}
DATACLASSES |= {"Phase", "Player", "RecordedGame", "Results", "Row", "Segment", "Suite", "Table", "TreeSearch"}
DATACLASSES |= {"Verified", "WorldSearch", "Zone"}
"""Classes whose constructors check nothing: their values are looked at where they are used."""


@dataclass
class Fields:
    """A wrong argument of the right type. A function that answers False to it, as `is_allowed` does, is right."""

    value: Any


# Good things.


@functools.cache
def state() -> Any:
    """A position in which a seat may attack or pass, after a few moves."""
    found = GAME.new(SEATS, 3)
    for _ in range(2):
        found = GAME.play(found, GAME.moves(found)[0])
    return found


@functools.cache
def finished() -> Any:
    return replay(GAME, recorded())


def states(count: int = 3) -> np.ndarray:
    return np.array([state()] * count, GAME.state)


def streams(count: int = 3) -> np.ndarray:
    found = np.zeros(count, STREAM)
    found["rng"] = np.arange(count)
    return found


@functools.cache
def judge(of: Any = GAME, moment: str = "before_draw") -> Any:
    return cardai.evaluator(of, lambda rows: np.full(len(rows), 0.5), moment=moment, name="judge")


@functools.cache
def recorded() -> RecordedGame:
    results = play(GAME, [agent(GAME, "random")], np.zeros((1, 2), int), np.array([5]), record=True)
    moves = results.moves[0]
    assert moves is not None
    return RecordedGame(0, 5, GAME.default_variant, (0, 0), tuple(results.scores[0].tolist()), moves)


@functools.cache
def folder() -> Path:
    return Path(tempfile.mkdtemp())


def fresh() -> Path:
    """A path at which there is no file."""
    return Path(tempfile.mkdtemp(dir=folder())) / "games.jsonl"


@functools.cache
def file() -> Path:
    with contextlib.closing(writer(folder() / "sound.jsonl")) as sound:
        one = recorded()
        sound.add(one.seed, one.lineup, one.moves, one.scores)
    return folder() / "sound.jsonl"


def writer(path: Path | None = None) -> Writer:
    return Writer(path or fresh(), GAME, ["random"], None, 2, overwrite=True)


@functools.cache
def dataset() -> Any:
    return collect_games(GAME, [recorded()], Recipe(), threads=1)


def decisions() -> Any:
    first = OfFunction(lambda game, worlds: np.array([game.moves(world)[0] for world in worlds], game.move))
    inquiry = Inquiry(GAME, replace(agent(GAME, "random"), strategy=first))
    inquiry.begin(pending_of(states(), streams(), np.arange(3), np.arange(3)))
    return inquiry.decisions


def table() -> OneGame:
    return OneGame(GAME, [None, agent(GAME, "random")], seed=1)


@functools.cache
def over() -> OneGame:
    """A game that has ended."""
    found = OneGame(GAME, [agent(GAME, "random")] * 2)
    found.run()
    return found


def outcome_of_score() -> Outcome:
    return Outcome(GAME.rules.score, "the score again")


def own_move() -> Any:
    return GAME.moves(state())[0]


@functools.cache
def model() -> Any:
    from cardai.evaluators.bodies.build import build
    from cardai.evaluators.model import Model

    module = build("mlp", {"hidden": [4]}, GAME.encoder().layout(SEATS), 0)
    return Model.of(GAME, module, body="mlp", body_options={"hidden": [4]}, moment="before_draw", seats=SEATS)


@functools.cache
def model_file() -> Path:
    model().save(folder() / "model.safetensors")
    return folder() / "model.safetensors"


def scorer() -> Any:
    from cardai.evaluators.scorer import Scorer

    return Scorer(model().module, "cpu", 64)


def rows() -> np.ndarray:
    return np.zeros((3, GAME.encoder().width(SEATS)), np.uint8)


# Wrong things.


def changed(record: Any, **fields: int) -> Any:
    found = np.array([record], record.dtype)
    for name, value in fields.items():
        found[name] = value
    return found[0]


def swapped(records: np.ndarray) -> np.ndarray:
    return records.astype(records.dtype.newbyteorder(">"))


def whole(least: int | None = None, most: int | None = None, optional: bool = False) -> list[Any]:
    """What is no whole number, or not in this range."""
    found: list[Any] = ["1", "many", 1.0, 2.5, math.nan, math.inf, True, [1], {}, np.float64(2), 1j, b"1"]
    found.append(np.ones(2, int))
    found += [] if optional else [None]
    found += [] if least is None else [least - 1, -(10**30)]
    found += [] if most is None else [most + 1, 10**30]
    return found


def wrong_states() -> list[Any]:
    good, many = state(), states()
    wrong = [None, 5, "state", {}, tuple(good.tolist()), {"seats": 2}, np.array(good), many, many[:1], many[::2]]
    wrong += [FOREIGN.new(), swapped(many)[0], np.void(good.tobytes()), np.frombuffer(good.tobytes(), np.uint8)]
    wrong += [np.zeros(1, GAME.state)[0], np.frombuffer(b"\xff" * GAME.state.itemsize, GAME.state)[0]]
    wrong += [changed(good, seats=value) for value in (0, -1, 1, max(GAME.seats) + 1, 10**12)]
    wrong += [changed(good, turn=value) for value in (-2, SEATS, 10**6, -(2**63))]
    return [*wrong, changed(good, ply=-1), streams()[0], own_move()]


def wrong_moves() -> list[Any]:
    good = own_move()
    moves = np.array([good, good], GAME.move)
    wrong = [None, 5, "skip", {}, tuple(good.tolist()), list(good.tolist()), np.array(good), moves, moves[:1]]
    wrong += [FOREIGN.moves(FOREIGN.new())[0], swapped(moves)[0], state(), np.void(good.tobytes())]
    huge = 2**63 - 1
    for name in GAME.move.names or ():
        wrong += [Fields(changed(good, **{name: value})) for value in (10**9, -(10**9), huge, -huge - 1, 63, 64, -7)]
    return [*wrong, Fields(np.frombuffer(b"\xff" * GAME.move.itemsize, GAME.move)[0])]


AT_TABLE = ("Agent", "OnePly", "WorldSearch", "TreeSearch", "Model")


def wrong_blocks(moving: bool = True) -> list[Any]:
    """Wrong arrays of states."""
    good = states()
    wrong = [None, 5, "states", [state()], state(), good.reshape(3, 1), np.array([FOREIGN.new()] * 3), swapped(good)]
    wrong += [np.zeros(3, GAME.state), np.frombuffer(b"\xff" * 3 * GAME.state.itemsize, GAME.state), good.tobytes()]
    wrong += [np.array([good[0], changed(good[0], turn=SEATS), good[0]], GAME.state)]
    wrong += [np.array([good[0], GAME.new(2, 1), good[0]], GAME.state), streams()]
    return [*wrong, np.array([finished()] * 3, GAME.state)] if moving else wrong


def wrong_streams() -> list[Any]:
    read_only, wide = streams(), streams(6)
    read_only.flags.writeable = False
    wrong = [None, 5, "streams", [1, 2, 3], np.zeros(3, np.uint64), np.zeros(3), states(), streams(2), streams(0)]
    return [*wrong, read_only, wide[::2], swapped(streams()), streams().reshape(3, 1)]


def wrong_agents() -> list[Any]:
    random = agent(GAME, "random")
    wrong: list[Any] = [None, 5, "random", random, ["random"] * 2, [None, 5], {"random": random}, {random}]
    wrong += [[agent(FOREIGN, spec)] * 2 for spec in ("random", "greedy:open_lines", "rollout:3")]
    wrong += [[foreign_agent()] * 2, [replace(foreign_agent(), game=None)] * 2]
    wrong += [[Agent("native", HandWritten(12345, (1.0,)))] * 2, [Agent("value", OnePly(value=12345))] * 2]
    wrong += [
        [Agent("worlds", WorldSearch(EvenlyRandom(), EvenlyRandom(), value))] * 2 for value in (0, -1, "3", 2**70, 1.5)
    ]
    call = agent(GAME, "bot3").strategy
    assert isinstance(call, HandWritten)
    return [
        *wrong,
        [Agent("few", HandWritten(call.call, call.params[:1]))] * 2,
        [Agent("judge", OnePly(judge(FOREIGN)))] * 2,
    ]


def foreign_agent() -> Agent:
    return agent(FOREIGN, "sampled:open_lines?worlds=2")


def wrong_lineups() -> list[Any]:
    good = np.zeros((3, 2), int)
    wrong = [None, 5, "01", "line-up", [0, 0], good[0], good[None], good.astype(float), good.astype(bool), good - 1]
    wrong += [good + 1, good + 10**9, good + 2**62, good.astype(complex), good.astype(object), good.astype(str)]
    wrong += [np.zeros((3, 1), int), np.zeros((3, 40), int), np.full((3, 2), np.nan), [[0, 0], [0]], [[0.5, 0]] * 3]
    return [*wrong, np.array([[0, 0], [0, -5], [0, 0]]), good.astype("M8[s]")]


def wrong_seeds() -> list[Any]:
    wrong = [None, 5, "012", ["0", "1", "2"], [0.0, 1.0, 2.0], np.zeros(3), np.full(3, np.nan), np.zeros(2, int)]
    return [*wrong, np.zeros((3, 1), int), np.zeros(3, bool), [True, True, True], [None] * 3, np.array(["a"] * 3)]


def one_moved() -> np.ndarray:
    return recorded().moves


TEXT: list[Any] = [5, 1.5, b"name", ["name"], {}, True]
NAME: list[Any] = [*TEXT, "", "nothing of this name", "x" * 10_000]
FLAG: list[Any] = [None, "yes", "", 0, 1, 2.0, [], np.zeros(2, bool)]
CALL: list[Any] = [5, "print", 1.5, [print], {}]
PATH: list[Any] = [5, 1.5, True, [], {}, b"file"]
GAMES: list[Any] = [None, "moska", 5, GAME.state, type(GAME), [GAME], {}]


@functools.cache
def values() -> dict[str, tuple[Callable[[], Any], Callable[[], list[Any]]]]:
    """A good value and wrong ones by parameter, or by function and parameter: `play.seeds`, `OneGame.play.move`."""
    seat = whole(0, SEATS - 1)
    one_list = [None, 5, "random", ["random", 5], {"random": 1}, {"random"}]
    found: dict[str, tuple[Any, Any]] = {
        "game": (lambda: GAME, lambda: GAMES),
        "state": (state, wrong_states),
        "points.state": (finished, lambda: [*wrong_states(), state()]),
        "Game.outcome.state": (finished, lambda: [*wrong_states(), state()]),
        "Game.outcome.name": (lambda: "result", lambda: [*NAME, None]),
        "Game.get.name": (lambda: "spell", lambda: [*NAME, None]),
        "as_label.values": (lambda: np.zeros(4), list),
        "contains.values": (lambda: np.zeros(4), list),
        "move": (own_move, wrong_moves),
        "OneGame.move": (lambda: table().legal_moves()[0][0], wrong_moves),
        "seat": (lambda: 1, lambda: seat),
        "at_turn.seat": (lambda: int(state()["turn"]), lambda: [*seat, (int(state()["turn"]) + 1) % SEATS]),
        "told.seat": (lambda: int(state()["turn"]), lambda: seat),
        "OneGame.seat": (lambda: 1, lambda: whole(0, 1)),
        "seats": (lambda: SEATS, lambda: whole(2, max(GAME.seats))),
        "width.seats": (lambda: SEATS, lambda: whole(1, 64)),
        "renamings.seats": (lambda: SEATS, lambda: whole(1, 64)),
        "seed": (lambda: -(10**30), lambda: whole()),
        "language": (lambda: "fi", lambda: [*TEXT, None]),
        "variant": (lambda: None, lambda: [*NAME, "thesis?poll=2", "thesis?hands=1", "thesis?poll", "?poll=1"]),
        "variant_with.options": (
            lambda: {"poll": 1},
            lambda: [None, 5, "poll", ["poll"], {"poll": 2}, {"x": 0}, {5: 0}],
        ),
        "encoder": (lambda: None, lambda: NAME),
        "encoder.name": (lambda: None, lambda: NAME),
        "heuristic": (lambda: "hand_value", lambda: [*NAME, None]),
        "role": (lambda: "value", lambda: [*NAME, None, "deal", "legal"]),
        "function_of.entry": (lambda: 5, list),  # any value may be asked about
        "entry.function": (lambda: GAME.agents.heuristics["hand_value"], lambda: [*CALL, None, print, len]),
        "listed_pieces.pieces": (lambda: 5, lambda: whole(0)),
        "Phase.number": (lambda: 0, lambda: whole(0, 2)),
        "load.name": (lambda: "moska", lambda: [*NAME, None]),
        # Tables.
        "agents": (lambda: [agent(GAME, "random")], wrong_agents),
        "outcomes": (list, lambda: [None, 5, "tricks", ["tricks"], [5], {}]),
        "play.lineups": (lambda: np.zeros((3, 2), int), wrong_lineups),
        "play.seeds": (lambda: np.arange(3), wrong_seeds),
        "threads": (lambda: None, lambda: whole(1, optional=True)),
        "live": (lambda: None, lambda: whole(1, optional=True)),
        "max_plies": (lambda: None, lambda: whole(1, 10**9, optional=True)),
        **{name: (lambda: False, lambda: FLAG) for name in ("record", "checked", "tally", "overwrite", "half")},
        "isolated": (lambda: True, lambda: FLAG),
        "index": (lambda: 0, lambda: [None, -1, 100, "0", 0.5]),
        **dict.fromkeys(("call_seconds", "memory"), (lambda: 9.0, lambda: ["9", 0, -1.0, math.nan, None, [], True])),
        "seconds": (lambda: 0.5, lambda: ["9", 0, -1.0, math.nan, [], True]),
        "isolate": (lambda: False, lambda: FLAG),
        "salt": (lambda: None, lambda: TEXT),
        "rotate": (lambda: True, lambda: FLAG),
        **{name: (lambda: None, lambda: CALL) for name in ("progress", "on_game", "on_position", "on_result")},
        "OneGame.agents": (lambda: [None, agent(GAME, "random")], wrong_agents),
        "history.seed": (lambda: None, lambda: whole(optional=True)),
        "since": (lambda: 0, lambda: whole(0)),
        "rewind.ply": (lambda: 0, lambda: whole(0, 0)),
        "first_of_series.ply": (lambda: 0, lambda: whole(0, over().ply - 1)),
        "viewer": (lambda: 0, lambda: whole(0)),
        "parse_series.texts": (
            lambda: [GAME.text.spell(state(), own_move())],
            lambda: [None, 5, "move", [], [5], [None], ["no such move"], [GAME.text.spell(state(), own_move())] * 2],
        ),
        "parse.text": (lambda: table().spell(table().legal_moves()[0][0]), lambda: [*TEXT, None, "", "no such move"]),
        "ask.agent": (lambda: agent(GAME, "random"), lambda: wrong_players()),
        "moves_in.agent": (lambda: agent(GAME, "random"), lambda: wrong_players()),
        "compare.agent": (lambda: agent(GAME, "greedy:hand_value"), lambda: [*wrong_players(), agent(GAME, "random")]),
        "worlds": (states, wrong_blocks),
        "states": (states, wrong_blocks),
        "streams": (streams, wrong_streams),
        "picked": (lambda: np.arange(3), lambda: wrong_indices(3)),
        "places": (lambda: np.arange(3), lambda: [*wrong_indices(3), np.arange(2)]),
        "draw_worlds.worlds": (states, wrong_written),
        "Decisions.worlds.count": (lambda: 1, lambda: whole(1, 10**6)),
        "Decisions.more_worlds.count": (lambda: 1, lambda: whole(1, 10**6)),
        "Decisions.states": (states, lambda: wrong_blocks(moving=False)),
        **dict.fromkeys(("check_table.states", *(f"{kind}.at_table.states" for kind in AT_TABLE)),
                        (states, lambda: wrong_blocks(moving=False))),
        "Decisions.seats": (lambda: np.arange(3), lambda: [*wrong_indices(SEATS), np.arange(2)]),
        "Decisions.evaluator": (judge, lambda: [None, 5, "best", object(), 12345, {}]),
        "Decisions.settles": (lambda: False, lambda: FLAG),
        "Decisions.peeks": (lambda: False, lambda: [*FLAG, True]),
        "look_ahead.worlds": (lambda: 1, lambda: whole(1, 10**6)),
        "ahead": (lambda: None, lambda: [5, "ahead", {}, []]),
        "epsilon": (lambda: 0.0, lambda: ["0", -0.1, 1.1, math.nan, math.inf, None, [], True]),
        "temperature": (lambda: 0.0, lambda: ["0", -0.1, math.nan, math.inf, None, [], True]),
        # Agents.
        "Decisions.moves_of.agent": (lambda: agent(GAME, "random"), lambda: [None, 3, agent(FOREIGN, "random")]),
        "plan": (lambda: agent(GAME, "rollout:1").strategy, lambda: [None, 3, "ahead", agent(GAME, "random").strategy]),
        "spec": (lambda: "random", lambda: [*NAME, None, "random?x", "bot3?nothing=1", "rollout:0", "sampled:", "?"]),
        "explores_until.spec": (lambda: "greedy:x?epsilon=1&until=3", lambda: [*TEXT, None, "a?b&b", "a?until=x"]),
        "flag.spec": (lambda: "bot3", lambda: [*TEXT, None]),
        "flag.key": (lambda: "greedy", lambda: [*TEXT, None]),
        "flag.options": (dict, lambda: [None, 5, "x", [], {"greedy": "value"}]),
        "agent.spec": (
            lambda: "random", lambda: [*NAME, None, "bot3?x=1", Greedy(judge(FOREIGN)), Spec("random", judge())]
        ),
        "function": (lambda: len, lambda: [*CALL, None]),
        "one_by_one.spec": (lambda: "mine", lambda: [*TEXT, None]),
        "player.name": (lambda: None, lambda: TEXT),
        "evaluator.name": (lambda: None, lambda: TEXT),
        "source": (lambda: len, lambda: [*CALL, None]),
        "moment": (lambda: "before_draw", lambda: [*NAME, None]),
        "batch": (lambda: 2048, lambda: whole(1)),
        "find_evaluator.name": (lambda: "best", lambda: [*TEXT, None]),
        "set_device.device": (lambda: "auto", lambda: [*NAME, None]),
        "set_device.scorer": (lambda: "auto", lambda: [*NAME, None]),
        "thing": (lambda: judge(), list),
        "network_of.evaluator": (lambda: judge(), list),
        "check_fits.game": (lambda: GAME, lambda: [*GAMES, FOREIGN]),
        "FunctionEvaluator.rows": (rows, lambda: wrong_rows()[:-1]),
        "decisions": (decisions, list),
        # Measures.
        "players": (lambda: ["random", "random"], lambda: [*one_list, [], ["random"], ["random"] * 40,
                    ["nobody"] * 2, [agent(FOREIGN, "random")] * 2, [foreign_agent()] * 2]),
        "games": (lambda: 4, lambda: whole(1, 10**9)),
        "run_suite.games": (lambda: 4, lambda: whole(1, 10**9, optional=True)),
        "run_suite.agents": (lambda: ["random"], lambda: [b for b in one_list if b is not None] + [["nobody"]]),
        "suite_name": (lambda: None, lambda: NAME),
        "run_match.record": (lambda: None, lambda: PATH),
        "cluster": (lambda: None, lambda: [5, "auto", {}, [], object()]),
        "candidate": (lambda: "random", lambda: [*NAME, None]),
        "other": (lambda: "random", lambda: [*NAME, None]),
        "folder": (lambda: Path(tempfile.mkdtemp()), lambda: [*PATH, None]),
        "most": (lambda: None, lambda: whole(1, 10**9, optional=True)),
        "duel.games": (lambda: 4, lambda: whole(1, 10**9)),
        "duel.seats": (lambda: 2, lambda: whole(2, max(GAME.seats))),
        "effort": (lambda: "quick", lambda: [*NAME, None]),
        "variants": (lambda: None, lambda: [5, "thesis", [], [5], ["nothing"], {}]),
        "laws": (lambda: ["deals_repeat_for_a_seed"], lambda: [5, "deals_repeat_for_a_seed", ["no law"], [5], {}]),
        # Records and data sets.
        "path": (file, lambda: [*PATH, None]),
        "Writer.path": (fresh, lambda: [*PATH, None]),
        "Writer.game": (lambda: GAME, lambda: GAMES),
        "Writer.agents": (lambda: ["random"], lambda: one_list),
        "of.seats": (lambda: 2, lambda: whole(2, max(GAME.seats))),
        "Writer.seats": (lambda: 2, lambda: whole(2, max(GAME.seats))),
        "Writer.overwrite": (lambda: True, lambda: FLAG),
        "planned": (lambda: None, lambda: whole(0, optional=True)),
        "complete": (lambda: True, lambda: FLAG),
        "lineup": (lambda: [0, 0], lambda: [None, 5, "00", [0], [0, 0, 0], [0, 1], [0, -1], [0.0, 0.0], [None, 0]]),
        "add.moves": (one_moved, wrong_played),
        "scores": (lambda: [0.0, 1.0], lambda: [None, 5, "01", [0.0], ["0", "1"], [math.nan, 0.0], [2.0, 0]]),
        "in_order.first": (lambda: 0, lambda: whole(0)),
        "in_order.lineups": (lambda: np.zeros((3, 2), int), lambda: wrong_lineups()),
        "collect.paths": (lambda: [file()], lambda: [None, 5, [], [5], {}, [folder() / "none.jsonl"]]),
        "in_order.seeds": (lambda: np.arange(3), wrong_seeds),
        "recorded": (recorded, lambda: wrong_recorded()),
        "rules": (lambda: None, lambda: TEXT),
        "paths": (lambda: [file()], lambda: [None, 5, str(file()), [], [5], [None], {}]),
        "recipe": (Recipe, lambda: [None, 5, "loser", {}, Recipe]),
        "collect.game": (lambda: GAME, lambda: [5, [GAME], {}, FOREIGN, "nothing"]),
        "collect_games.games": (lambda: [recorded()], lambda: [None, 5, [], [5], [recorded(), None],
                                *[[one] for one in wrong_recorded()]]),
        "limit": (lambda: None, lambda: whole(0, optional=True)),
        "indices": (lambda: np.arange(3), lambda: [*wrong_indices(len(dataset())), np.zeros((1, 1), int)]),
        "data": (dataset, lambda: [None, 5, "data", {}, []]),
        "by": (lambda: "game", lambda: [*NAME, None]),
        "parts": (lambda: (0.5, 0.5), lambda: [None, 5, "", (), (0.5,), (-1.0, 2.0), ("1",), (math.nan,), (True,)]),
        # Evaluators.
        "Model.rows": (rows, lambda: wrong_rows()),
        "Scorer.rows": (rows, lambda: wrong_rows()),
        "Model.path": (lambda: folder() / "saved.safetensors", lambda: [*PATH, None]),
        "evaluators.load.path": (model_file, lambda: [*PATH, None]),
        "read_metadata.path": (model_file, lambda: [*PATH, None]),
        "find.name": (lambda: "best", lambda: [*TEXT, None]),
        "module": (lambda: model().module, lambda: [None, 5, "mlp", {}, len]),
        "Model.network": (lambda: model().module, lambda: [None, 5, "mlp", {}, len]),
        "body": (lambda: "mlp", lambda: [*NAME, None]),
        "body_options": (lambda: {"hidden": [4]}, lambda: [None, 5, "x", [], {"hidden": "x"}, {"nothing": 1}]),
        "Model.metadata": (lambda: model().metadata, lambda: [None, 5, "x", {}]),
        "Model.name": (lambda: "", lambda: [5, 1.5, None, []]),
        "Model.seats": (lambda: SEATS, lambda: whole(2, max(GAME.seats), optional=True)),
        "Scorer.device": (lambda: "cpu", lambda: NAME),
        "Scorer.batch": (lambda: 64, lambda: whole(1, optional=True)),
        "device_of.name": (lambda: "cpu", lambda: NAME),
        "pieces.n": (lambda: 100, lambda: whole(0)),
        "largest": (lambda: 4096, lambda: whole(1)),
    }  # fmt: skip
    return found


def wrong_players() -> list[Any]:
    wrong = [None, 5, "random", [agent(GAME, "random")], foreign_agent(), replace(foreign_agent(), game=None)]
    wrong += [Agent("native", HandWritten(12345, (1.0,))), Agent("value", OnePly(value=12345))]
    return [*wrong, agent(FOREIGN, "random"), Agent("judge", OnePly(judge(FOREIGN)))]


def wrong_indices(end: int) -> list[Any]:
    good = np.arange(3)
    wrong = [None, 5, "012", good.astype(float), good.astype(bool), good - 1, good + end, good + 2**62, good[None]]
    return [*wrong, np.full(3, np.nan), [0.5, 1, 2], ["0", "1", "2"]]


def wrong_written() -> list[Any]:
    read_only, wide = states(), states(6)
    read_only.flags.writeable = False
    wrong = [None, 5, "worlds", [state()] * 3, np.array([FOREIGN.new()] * 3), swapped(states()), states(2), states(4)]
    return [*wrong, read_only, wide[::2], np.zeros(3), streams()]


def wrong_rows() -> list[Any]:
    good = rows()
    return [None, 5, "rows", good.tolist(), good.astype(float), good.astype(np.int64), good[0], good[None], good[:, 1:]]


def wrong_played() -> list[Any]:
    good, foreign = recorded().moves, np.array([FOREIGN.moves(FOREIGN.new())[0]])
    return [None, 5, "moves", good.tolist(), good[0], good[None], swapped(good), states(), np.zeros(3), foreign]


def wrong_recorded() -> list[Any]:
    good, garbage = recorded(), recorded().moves.copy()
    garbage["kind"][0], garbage["cards"][0] = 10**9, -1
    foreign = FOREIGN.moves(FOREIGN.new())
    wrong: list[Any] = [None, 5, "game", {}, replace(good, seed=1.5), replace(good, seed="5"), replace(good, lineup=5)]
    wrong += [replace(good, variant="nothing"), replace(good, variant=5), replace(good, lineup=(0,))]
    wrong.append(replace(good, scores=(0.0,)))
    wrong += [replace(good, moves=one) for one in (None, 5, "moves", foreign, good.moves[:3], garbage, np.zeros(3))]
    return [*wrong, replace(good, scores=(2.0, 0.5)), replace(good, scores="01")]


# What no parameter can take.


def odd() -> list[Any]:
    """Wrong arguments for any parameter: what belongs nowhere, or is malformed."""
    nested: list[Any] = []
    nested.append(nested)
    deep: Any = 0
    for _ in range(10_000):
        deep = [deep]
    return [
        ..., NotImplemented, 1 + 2j, Decimal("NaN"), Fraction(1, 3), datetime.date(2026, 1, 1), math, object(), nested,
        deep, ValueError("an error"), np.datetime64("NaT"), np.float32("nan"), np.array(["x", None, 3], object),
        np.zeros((2,) * 8), np.dtype("i8"), np.random.default_rng(0), slice(None), re.compile("x"), threading.Lock(),
        frozenset({1}), property(), bytearray(b"x"),
    ]  # fmt: skip


# The walk.


@dataclass
class Function:
    """A public function: its name, how to get it for a call, and its parameters with their defaults."""

    label: str
    home: str
    get: Callable[[], Callable[..., Any]]
    parameters: dict[str, inspect.Parameter]


INSTANCES: dict[str, Callable[[], Any]] = {
    "Game": lambda: GAME,
    "Compiler": lambda: GAME.compiler,
    "Game.outcome": lambda: GAME.changed(outcomes={"result": outcome_of_score()}),
    "Outcome": lambda: outcome_of_score(),
    "PerspectiveEncoder": lambda: GAME.encoder(),
    "Zone": lambda: cardai.game.Zone("hand", 7, look="fan", seat=1),
    "Phase": lambda: cardai.game.Phase("stock", (0, 3)),
    "OneGame": table,
    "OneGame.scores": lambda: over(),
    "OneGame.first_of_series": lambda: over(),
    "OneGame.outcomes": lambda: over(),
    "OneGame.ending": lambda: over(),
    "Decisions": decisions,
    "Agent": lambda: agent(GAME, "bot3"),
    "FunctionEvaluator": judge,
    "HandWritten": lambda: agent(GAME, "bot3").strategy,
    "OnePly": lambda: agent(GAME, "greedy:hand_value").strategy,
    "OfFunction": lambda: cardai.player(lambda game, world: game.moves(world)[0]).strategy,
    "WorldSearch": lambda: agent(GAME, "ahead:hand_value").strategy,
    "TreeSearch": lambda: agent(GAME, "ismcts:3").strategy,
    "Writer": writer,
    "Reader": lambda: importlib.import_module("cardai.records.record").read(file()),
    "Dataset": dataset,
    "Model": model,
    "Scorer": scorer,
    "Scores": lambda: scorer().score(rows()),
}  # fmt: skip


def functions(part: str) -> Iterator[Function]:
    """The public functions of a part, the methods of its classes, and its classes themselves."""
    for home in PARTS[part]:
        module = importlib.import_module(home)
        for name, thing in list(vars(module).items()):
            if name.startswith("_") or getattr(thing, "__module__", None) != home or f"{home}.{name}" in INNER:
                continue
            if inspect.isfunction(thing) and not inspect.getsource(thing).startswith(("@rule", "@inlined")):
                yield Function(name, home, lambda thing=thing: thing, parameters_of(thing))
            elif inspect.isclass(thing) and not is_plain(thing):
                yield from methods(home, thing)


def is_plain(kind: type) -> bool:
    """Whether a class has nothing to check: an error, a protocol, or a tuple."""
    return issubclass(kind, (Exception, tuple)) or getattr(kind, "_is_protocol", False)


def methods(home: str, kind: type) -> Iterator[Function]:
    if kind.__name__ not in DATACLASSES and kind.__name__ not in ("Compiler", "Decisions", "Scores", "Reader"):
        yield Function(kind.__name__, home, lambda: kind, parameters_of(kind))
    for name, thing in vars(kind).items():
        method = getattr(thing, "__func__", thing)
        if name.startswith("_") or not inspect.isfunction(method) or f"{home}.{kind.__name__}.{name}" in INNER:
            continue
        if name == "think" or (name == "score_sum"):
            continue  # called by the table alone; a field
        get: Callable[[], Any] = lambda name=name: getattr(instance(kind.__name__, name), name)  # noqa: E731
        yield Function(f"{kind.__name__}.{name}", home, get, parameters_of(method, skip=1))


def instance(kind: str, method: str) -> Any:
    """An object of a class to call a method of."""
    return INSTANCES.get(f"{kind}.{method}", INSTANCES[kind])()


def parameters_of(function: Any, skip: int = 0) -> dict[str, inspect.Parameter]:
    found = list(inspect.signature(function).parameters.values())[skip:]
    return {one.name: one for one in found if one.kind is not inspect.Parameter.VAR_KEYWORD}


def value_of(function: Function, parameter: str) -> tuple[Callable[[], Any], Callable[[], list[Any]]]:
    """The good value and the wrong ones of a parameter: by function and parameter, by class, or by parameter alone."""
    kind, _, method = function.label.rpartition(".")
    parts = function.home.split(".")
    package = parts[1] if parts[1] == "evaluators" else parts[0]
    tried = [f"{function.label}.{parameter}", f"{package}.{function.label}.{parameter}", f"{method}.{parameter}"]
    tried = [tried[1], tried[0], tried[2], f"{kind}.{parameter}", parameter]
    for name in tried:
        if name in values():
            return values()[name]
    raise KeyError(f"tests/misuse.py has no values for the parameter {parameter!r} of {function.home}.{function.label}")


def good_call(function: Function) -> None:
    function.get()(**{name: value_of(function, name)[0]() for name in function.parameters if is_given(function, name)})


def is_given(function: Function, name: str) -> bool:
    """Whether a good call gives the parameter: not if its default serves."""
    return name not in ("ahead",) or function.label != "Decisions.choose"


@dataclass
class Call:
    """One wrong call."""

    function: Function
    parameter: str
    value: Any

    def text(self) -> str:
        shown = self.value.value if isinstance(self.value, Fields) else self.value
        return f"{self.function.label}({self.parameter}={short(shown)})"


def calls(part: str) -> Iterator[Call]:
    for function in functions(part):
        for name, parameter in function.parameters.items():
            wrong = value_of(function, name)[1]()
            for value in [*wrong, *odd()] if wrong else []:  # one without wrong values takes anything
                if parameter.default is not None or value is not None:
                    yield Call(function, name, value)


_GAME = ["recorded", "game", "move", "score", "seed", "lineup", "seats", "variant", "may not play"]
WORDS = {
    "spec": ["agent", "option", "judge"], "candidate": ["agent", "spec"], "other": ["agent", "spec"],
    "suite_name": ["suite"],
    "game": ["not of", "recorded", "is for"],
    "games": _GAME, "recorded": _GAME, "lineups": ["seats"], "function": ["rule"],
    "players": ["agent", "seats"], "agents": ["agent", "compiled", "worlds", "parameters", "evaluator", "seats"],
    "agent": ["compiled", "evaluator", "encoder"], "streams": ["places"],
    "move": ["may not play"], "paths": ["file"], "path": ["file"], "laws": ["law"],
    "variants": ["variant"], "text": ["move"], "texts": ["text", "move"],
    "moves": ["move"], "name": ["device", "game", "encoder", "evaluator", "outcome"], "options": ["takes no value"],
    "body_options": ["hidden", "option"], "seconds": ["time"],
}  # fmt: skip
"""Other words by which a message may call a parameter."""


def outcome(call: Call) -> tuple[str, str]:
    """What became of a wrong call: refused, accepted, unclear (a poor message) or the error's name; and the message."""
    arguments = {name: value_of(call.function, name)[0]() for name in call.function.parameters}
    arguments[call.parameter] = call.value.value if isinstance(call.value, Fields) else call.value
    if call.function.label == "Decisions.choose":
        return choose_outcome(arguments, call)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            answer = call.function.get()(**arguments)
    except Exception as error:
        return judged(error, call)
    return ("refused", "") if isinstance(call.value, Fields) and answer is False else ("accepted", short(answer, 100))


def choose_outcome(arguments: dict[str, Any], call: Call) -> tuple[str, str]:
    here = decisions()
    ahead = here.look_ahead(judge())
    ahead.weigh(np.full(len(ahead.question.rows), 0.5))
    arguments["ahead"] = arguments["ahead"] if call.parameter == "ahead" else ahead
    try:
        answer = here.choose(**arguments)
    except Exception as error:
        return judged(error, call)
    return "accepted", short(answer, 100)


NAMED = {"spec", "agent", "agents", "players", "candidate", "other", "judge", "rules"}
"""Arguments that name an agent or a file of rules: what the name leads to may be missing or unsound."""
READERS = {"load", "flag", "verify", "replay", "collect", "collect_games", "record_files", "read"}
"""Functions whose argument names a game or recorded games, or is one."""


def judged(error: Exception, call: Call) -> tuple[str, str]:
    message = str(error)
    if not isinstance(error, CardaiError):
        return type(error).__name__, message[:200]
    if type(error) is CardaiError and not {call.parameter, call.function.label} & (NAMED | READERS):
        return "no BadArgument", message[:200]
    words = [call.parameter, call.parameter.replace("_", " "), *WORDS.get(call.parameter, [])]
    is_sentence = 10 < len(message) < 2000 and "\n" not in message
    return ("refused" if is_sentence and any(word in message for word in words) else "unclear"), message[:300]


def good_calls(part: str) -> list[str]:
    """Make a good call of every function. Returns those that fail."""
    failed = []
    for function in functions(part):
        if function.label == "Decisions.choose":
            continue
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                good_call(function)
        except Exception as error:
            failed.append(f"{function.label}: {error!r}")
    return failed


def digest() -> str:
    """Something that changes if misuse has damaged anything that games are played with."""
    agents = [agent(GAME, spec) for spec in ("random", "bot3", "greedy:hand_value")]
    results = play(GAME, agents, np.arange(60).reshape(20, 3) % 3, np.arange(20), threads=1)
    return str((results.scores.sum(axis=0).tolist(), results.plies.tolist()))


def main(part: str, first: int) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))

    def say(**line: Any) -> None:
        print(json.dumps(line), flush=True)

    before = digest()
    if first == 0:
        say(good=good_calls(part))
    for number, call in enumerate(calls(part)):
        if number < first:
            continue
        say(start=number, call=call.text())
        result, message = outcome(call)
        say(end=number, outcome=result, message=message)
    say(good_after=good_calls(part), same=digest() == before)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
