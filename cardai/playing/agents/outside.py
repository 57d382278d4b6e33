"""Agents and evaluators that are programs: what they are asked, and what their answers mean (docs/protocol.md).

    OfProcess(process)                    # a strategy: the spec process:COMMAND
    ProcessEvaluator(game, process)       # an evaluator: greedy:process:COMMAND

Python functions that are isolated (`python:MODULE:FUNCTION` with `isolate`) are programs too:
`cardai.playing.agents.isolated`.
"""

import base64
import functools
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardai.errors import BadArgument, CardaiError, positive, short, unknown, whole
from cardai.game import Game, GameState, listed_pieces
from cardai.playing.agents.function import FunctionEvaluator, evaluator
from cardai.playing.agents.process import SECONDS, Process, started
from cardai.playing.agents.strategy import AgentFailed, Strategy, Thinking
from cardai.registry import name_of, rules_of

WANTS = ("view", "told", "moves", "picks", "count", "bytes")
USUAL_WANTS = ("view", "told", "moves", "picks")
PYTHON_SECONDS = 600.0
"""How long an isolated Python function may take for a move, and an evaluator for a batch of rows."""
MOST_WORLDS = 1000
"""The most worlds in one request of a program."""
_LONGEST_NAME = 100


class Seated(NamedTuple):
    """A seat of a table at which a program plays.

    `table`: the program's number of it. `told`: (seat, words) of each move that the seat was told since its last move.
    """

    table: int
    seat: int
    seats: int
    variant: str
    told: Sequence[tuple[int, str]]
    is_new: bool


def program_process(
    game: Game, spec: str, command: str, role: str, seconds: float = SECONDS, isolate: bool = False
) -> Process:
    """Start the program of a spec with process:COMMAND. `role`: "agent" or "evaluator".

    `isolate`: as in `cardai.playing.agents.process.started`. Raises CardaiError if it does not start or greet.
    """
    return started(spec, _words(spec, command), _hello(game, role), seconds, isolate=isolate)


def python_process(game: Game, spec: str, target: str, role: str) -> Process:
    """Start a process for a Python function or evaluator, MODULE:OBJECT. `role`: "agent" or "evaluator".

    Raises CardaiError if the object cannot be imported, or is no function or evaluator.
    """
    paths = [entry or str(Path.cwd()) for entry in sys.path]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-P", "-m", "cardai.playing.agents.isolated", spec, target, name_of(game)]
    return started(spec, command, {"role": role}, PYTHON_SECONDS, environment, isolate=True)


def _words(spec: str, command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise CardaiError(f"agent {spec!r}: {command!r} is no command: {error}") from None
    if not words:
        raise CardaiError(f"agent {spec!r}: a program is named process:COMMAND, as in process:./bot")
    return words


def _hello(game: Game, role: str) -> dict[str, Any]:
    try:
        rules = rules_of(game)
    except CardaiError:  # a game of the user's own may have none
        rules = ""
    about = {"role": role, "game": game.name, "title": game.title, "version": game.version}
    return {**about, "rules": rules, "pieces": list(game.table.pieces), "encoders": list(game.learning.encoders)}


class OfProcess(Strategy):
    """Moves of a program. Each place at a table has a process of its own."""

    is_foreign = is_isolated = True

    def __init__(self, process: Process) -> None:
        self.process = process
        try:
            wants = process.about.get("wants", USUAL_WANTS)
            if not isinstance(wants, list | tuple):
                raise BadArgument(f"wants must be a list of names, not {short(wants)}")
            for name in wants:
                if name not in WANTS:
                    raise BadArgument(unknown("thing to want", name, WANTS))
            tables = process.about.get("tables")
            self.most_tables = None if tables is None else positive("tables", tables)
        except CardaiError as error:
            raise CardaiError(f"agent {process.spec!r}: {error}") from None
        self.wants = frozenset(wants)

    @property
    def follows(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the program wants to be told of moves."""
        return "told" in self.wants

    def new_table(self) -> int:
        """Return the program's number of a new table."""
        return self.process.new_table()

    def end_table(self, seated: Seated, scores: Sequence[float] | None, ending: str) -> None:
        """Tell the program that a game is over; `scores` is None if it was not played to its end."""
        told = _told(seated)
        self.process.tell({"type": "end", "table": seated.table, "told": told, "scores": scores, "ending": ending})

    def think(self, decisions: Any) -> Thinking:
        """Ask the program about all decisions at once, without rounds."""
        game, worlds, seated = decisions.game, decisions.worlds(), decisions.seated
        if "bytes" in self.wants:
            return self._by_bytes(game, worlds)
        asked = [Asked(game, self.wants, world) for world in worlds]
        questions = []
        for i, one in enumerate(asked):
            at_table = seated[i] if seated is not None else None
            if at_table is not None and at_table.is_new:
                self.process.tell(_begin(game, at_table, worlds[i]))
            questions.append(one.question(at_table))

        def extra(index: int, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
            if "worlds" not in answer:
                return None
            return {"type": "worlds", "worlds": self._worlds(decisions, index, answer["worlds"])}

        answers = self.process.ask(questions, extra)
        moves = np.zeros(len(worlds), game.move)
        for i, (one, answer) in enumerate(zip(asked, answers, strict=True)):
            try:
                moves[i] = one.move_of(answer)
            except ValueError as error:  # also CardaiError of an argument
                raise AgentFailed(f"agent {self.process.spec!r}, {one.where}: {error}", i) from None
        return moves
        yield

    def _by_bytes(self, game: Game, worlds: np.ndarray) -> np.ndarray:
        """The moves of a program that is sent worlds as their bytes, and answers with those of moves."""
        size, question = len(worlds) * game.move.itemsize, {"type": "moves", "count": len(worlds)}
        answer = self.process.ask_bytes(question, np.ascontiguousarray(worlds).tobytes(), size)
        if isinstance(answer, bytes):
            return np.frombuffer(answer, game.move).copy()
        place = answer.get("place")
        if type(place) is not int or not 0 <= place < len(worlds):
            raise _failed(self.process.spec, answer)
        where = Asked(game, self.wants, worlds[place]).where
        raise AgentFailed(f"agent {self.process.spec!r}, {where}: {str(answer['error'])[:1000]}", place)

    def _worlds(self, decisions: Any, index: int, count: Any) -> list[dict[str, Any]]:
        try:
            positive("worlds", count, MOST_WORLDS)
        except CardaiError as error:
            raise CardaiError(f"agent {self.process.spec!r}: it asked for what it cannot have: {error}") from None
        return [_world(decisions.game, world) for world in decisions.more_worlds(index, count)]


class Asked:
    """One decision that a program is asked for in a world of the seat to move. `wants`: which of `WANTS` it is sent."""

    def __init__(self, game: Game, wants: Set[str], world: GameState) -> None:
        self.game, self.world, self.wants = game, world, wants
        self.seat = int(world["turn"])

    @property
    def where(self) -> str:
        """The seat and the ply, for messages."""
        return f"seat {self.seat}, ply {int(self.world['ply'])}"

    @functools.cached_property
    def legal(self) -> tuple[np.ndarray, bool]:
        """The legal moves, MOVE[n], and whether there are more."""
        return self.game.enumerate(self.world)

    @functools.cached_property
    def texts(self) -> list[str]:
        """The legal moves in words."""
        return [self.words_of(move) for move in self.legal[0]]

    def words_of(self, move: np.record) -> str:
        """A legal move in words."""
        return self.game.text.spell(self.world, move)

    def question(self, seated: Seated | None = None) -> dict[str, Any]:
        """What the program is asked."""
        game, world, wants = self.game, self.world, self.wants
        question: dict[str, Any] = {"type": "move", "seat": self.seat, "ply": int(world["ply"])}
        if seated is not None:
            question["table"] = seated.table
            question["told"] = _told(seated)
        if "view" in wants:
            question["view"] = game.text.show(world, self.seat)
        if wants & {"moves", "picks", "count"}:
            question["count"] = len(self.legal[0])
            if self.legal[1]:
                question["more"] = True
        if "moves" in wants:
            question["moves"] = self.texts
        if "picks" in wants and game.table.picks is not None:
            question["picks"] = [_picked(game, world, move) for move in self.legal[0]]
        return question

    def move_of(self, answer: Mapping[str, Any]) -> Any:
        """The move that an answer means. Raises ValueError, which says what is wrong with it."""
        if "error" in answer:
            raise ValueError(str(answer["error"])[:1000])
        given = answer.get("move")
        if isinstance(given, str):
            if given in self.texts:
                return self.legal[0][self.texts.index(given)]
            return self.game.text.parse(self.world, given)
        if isinstance(given, list):
            if len(given) != len(self.game.move.names or ()):
                raise ValueError(f"it answered {short(given)}, which are not the fields of a move of {self.game.name}")
            limits = np.iinfo(np.int64)
            fields = [whole("a field of its move", number, limits.min, limits.max) for number in given]
            return np.array([tuple(fields)], self.game.move)[0]
        moves, _ = self.legal
        if type(given) is not int or not 0 <= given < len(moves):
            raise ValueError(f"it answered {short(dict(answer))}; a move is a number from 0 to {len(moves) - 1}")
        return moves[given]


def _told(seated: Seated) -> list[dict[str, Any]]:
    return [{"seat": seat, "text": text} for seat, text in seated.told]


def _begin(game: Game, seated: Seated, world: GameState) -> dict[str, Any]:
    """What a program is told of a table before its first decision there."""
    names = [f"p{seat}" for seat in range(seated.seats)]
    options = {name: int(world[name]) for name in game.allowed}
    about = {"type": "begin", "table": seated.table, "seat": seated.seat, "seats": seated.seats, "names": names}
    return {**about, "variant": seated.variant, "options": options}


def _picked(game: Game, world: GameState, move: np.record) -> list[str]:
    assert game.table.picks is not None
    return [game.table.pieces[piece] for piece in listed_pieces(int(game.table.picks(world, move)))]


def _world(game: Game, world: GameState) -> dict[str, Any]:
    """A world as a program is sent it: its bytes, and where all cards lie if the game says so."""
    sent: dict[str, Any] = {"state": base64.b64encode(world.tobytes()).decode()}
    if game.table.holdings is not None and game.table.pieces:
        sent["places"] = [[game.table.pieces[piece] for piece in place] for place in game.lying(world)]
    return sent


class ProcessEvaluator(FunctionEvaluator):
    """An evaluator of `game` that is a program, which is sent rows.

    Raises CardaiError if the program says of itself what cannot be.
    """

    is_foreign = is_isolated = True

    def __init__(self, game: Game, process: Process) -> None:
        about = process.about

        def asked(rows: np.ndarray) -> np.ndarray:
            question = {"type": "score", "count": len(rows), "width": rows.shape[1]}
            answer = process.ask_bytes(question, np.ascontiguousarray(rows).tobytes(), 8 * len(rows))
            if isinstance(answer, bytes):
                return np.frombuffer(answer, "<f8")
            raise _failed(process.spec, answer)

        def check(variant: str | None, seats: int) -> None:
            answer = process.ask([{"type": "fits", "variant": variant, "seats": seats}])[0]
            if "error" in answer:
                raise _failed(process.spec, answer)

        try:
            seats = None if about.get("seats") is None else positive("seats", about["seats"])
            said = {name: about[name] for name in ("encoder", "moment", "batch") if name in about}
            made = evaluator(game, asked, name=about.get("name", process.spec), **said)
        except CardaiError as error:
            raise CardaiError(f"agent {process.spec!r}: its evaluator: {error}") from None
        super().__init__(game, made.name[:_LONGEST_NAME], asked, made.encoder, made.moment, made.batch, seats)
        object.__setattr__(self, "_check", check if about.get("checks") is True else None)

    _check: Callable[[str | None, int], None] | None

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError unless it is asked about the game it was made for, and as the program itself does."""
        super().check_fits(game, variant, seats)
        if self._check is not None:
            self._check(variant, seats)


def _failed(spec: str, answer: Mapping[str, Any]) -> CardaiError:
    return CardaiError(f"agent {spec!r}: {str(answer['error'])[:1000]}")
