"""A person at the keyboard, playing one game against any agents.

The person sees what a player may see: a world of the own seat, as `show` puts it, and the moves of the others, which
are public, spelled in that world too. The truth never reaches the screen.
"""

import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.columns import Columns
from rich.console import Console
from rich.text import Text

from cardai.agents.spec import Agent, agent
from cardai.errors import CardaiError
from cardai.game import Game, GameState
from cardai.kernel import driver
from cardai.table.one import OneGame

HUMAN = "human"
_AT_ONCE = 30  # so many moves are listed without being asked for; of more, some of each group
_OF_A_GROUP = 8

_HELP = """\
Type a move as it is spelled, or its number.
A word or more of a move, its beginning is enough, lists the moves like that.
? shows this, q leaves the game."""


class Inputs:
    """What the person types: first the lines of a file, if there is one, then the keyboard's."""

    def __init__(self, script: Path | None = None) -> None:
        self._script = script
        self._lines = deque(_scripted(script) if script else ())
        self._given = len(self._lines)

    @property
    def is_live(self) -> bool:
        """Whether somebody sits there now."""
        return not self._lines and sys.stdin.isatty()

    def ask(self, console: Console, prompt: str) -> str | None:
        """The next input, None at the end of the keyboard's. Raises CardaiError when nobody is there to go on."""
        if self._lines:
            line = self._lines.popleft()
            console.print(f"{prompt}{line}", markup=False, highlight=False)
            return line
        if self._script and not sys.stdin.isatty():
            raise CardaiError(f"{self._script} ends after {self._given} inputs, and the game is not over")
        try:
            return input(prompt).strip()
        except EOFError:
            if sys.stdin.isatty():
                return None
            raise CardaiError("the input ended, and the game is not over") from None


def _scripted(script: Path) -> list[str]:
    try:
        lines = script.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CardaiError(f"cannot read moves from {script}: {getattr(error, 'strerror', None) or error}") from None
    asked = (f" {line}".partition(" #")[0].strip() for line in lines)
    return [line for line in asked if line]


class Screen:
    """What people at the keyboard see and say. `names`: who sits where."""

    def __init__(self, game: Game, names: Sequence[str], inputs: Inputs, console: Console) -> None:
        self.game, self.names, self.inputs, self.console = game, names, inputs, console
        self.people = [seat for seat, name in enumerate(names) if name == HUMAN]
        self._news: dict[int, list[tuple[str, str]]] = {seat: [] for seat in self.people}
        self._last: int | None = None

    def tell(self, before: GameState, move: np.record) -> None:
        """Note a move that was played in the state `before`, for everybody else at the keyboard."""
        mover = int(before["turn"])
        for seat in self.people:
            if seat != mover:
                world = self.game.world(before, seat, seed=int(before["ply"]))
                self._news[seat].append((f"p{mover}", self.game.spell(world, move)))

    def introduce(self) -> None:
        """Who sits where."""
        self._say(
            ", ".join(self.name(seat) for seat in range(len(self.names))) + ". Type a move, ? for help, q to leave."
        )

    def name(self, seat: int) -> str:
        """A seat with who sits there: "p1 is bot3"."""
        return f"p{seat} is {'you' if self.people == [seat] else self.names[seat]}"

    def choose(self, world: GameState) -> np.record | None:
        """The move of the person whose turn it is, made at once when there is only one; None when the person leaves."""
        seat = int(world["turn"])
        moves, more = self.game.enumerate(world)
        spelled = [self.game.spell(world, move) for move in moves]
        if len(moves) == 1 and not more:
            self._news[seat].append(("you", spelled[0]))
            return moves[0]
        self.show(world, seat)
        menu = Menu(spelled, more)
        menu.show(self.console)
        while True:
            text = self.inputs.ask(self.console, f"p{seat}> ")
            if text is None or text.lower() == "q":
                return None
            found = self._understood(world, text, moves, menu)
            if found is not None:
                return found

    def show(self, world: GameState, seat: int) -> None:
        """What happened since this person's last turn, and the table as it is now."""
        self._hand_over(seat)
        self.console.rule(f"p{seat}")
        for line in told(self._news[seat]):
            self._say(line)
        self._news[seat].clear()
        self._say(f"\n{self.game.show(world, seat)}\n")

    def result(self, state: GameState) -> None:
        """How the game came out."""
        for seat in self.people:
            self.show(self.game.world(state, seat), seat)
        self.console.rule("the game is over")
        for seat, points in enumerate(self.game.points(state)):
            self._say(f"{self.name(seat)}: score {points:g}")

    def _understood(self, world: GameState, text: str, moves: np.ndarray, menu: "Menu") -> np.record | None:
        if text in ("?", ""):
            self._say(_HELP)
            return None
        if menu.numbered and text.isdecimal():
            if 1 <= int(text) <= len(moves):
                return moves[int(text) - 1]
            self._say(f"{text} is not the number of a move: they go from 1 to {len(moves)}")
            return None
        why = f"{text!r} is not among your legal moves now"
        try:
            move = self.game.parse(world, text)
        except ValueError as error:
            move, why = None, str(error)
        if move is not None and self.game.is_allowed(world, move):
            return move
        alike = menu.alike(text)
        if alike:
            menu.list(self.console, alike)
        else:
            self._say(f"{why}; ? helps")
        return None

    def _hand_over(self, seat: int) -> None:
        """Where several people share the keyboard, nobody sees another's cards."""
        if len(self.people) > 1 and self._last != seat and self.inputs.is_live:
            self.inputs.ask(self.console, f"Seat {seat}, press Enter when nobody else is looking. ")
            self.console.clear()
        self._last = seat

    def _say(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False)


def told(news: Sequence[tuple[str, str]]) -> list[str]:
    """Lines for what happened: (who, what) in order.

    What several do one after the other is said once, and what one word says, like skipping, goes on in the line before.
    """
    runs: list[tuple[list[str], str]] = []
    for who, what in news:
        if runs and runs[-1][1] == what:
            if who not in runs[-1][0]:
                runs[-1][0].append(who)
        else:
            runs.append(([who], what))
    lines: list[str] = []
    for movers, what in runs:
        said = f"{', '.join(movers)} {what}" if " " in what else f"{', '.join(movers)}: {what}"
        if lines and " " not in what:
            lines[-1] += f"; {said}"
        else:
            lines.append(said)
    return lines


class Menu:
    """The legal moves, numbered from 1 and grouped by the first word of how they are spelled."""

    def __init__(self, spelled: Sequence[str], more: bool) -> None:
        self.spelled, self.more = spelled, more
        self.numbered = not any(text.isdecimal() for text in spelled)
        self.groups: dict[str, list[int]] = {}
        for i, text in enumerate(spelled):
            self.groups.setdefault(_first_word(text), []).append(i)

    def alike(self, text: str) -> list[int]:
        """The moves that a beginning of them describes: "attack", or "kill td" for all kills with TD in them.

        Each word is the beginning of a word of the move, the first one of its first word.
        """
        words = text.lower().split()
        return [i for i, spelled in enumerate(self.spelled) if words and _describes(words, spelled.lower().split())]

    def show(self, console: Console) -> None:
        """List the moves; of many, the first ones of each group."""
        few, waiting = len(self.spelled) <= _AT_ONCE, []
        for name, places in self.groups.items():
            if len(places) == 1:
                waiting += places
                continue
            self.list(console, waiting)
            waiting = []
            shown = places if few or len(places) <= _OF_A_GROUP + 1 else places[:_OF_A_GROUP]
            self.list(console, shown)
            if len(shown) < len(places):
                left = len(places) - len(shown)
                console.print(f"  and {left} more: {name!r} lists them", markup=False, highlight=False)
        self.list(console, waiting)
        if self.more:
            console.print("There are more than are listed; any legal one can be typed.")

    def list(self, console: Console, places: Sequence[int]) -> None:
        """List some of the moves."""
        if not places:
            return
        width = len(str(max(places) + 1))
        lines = [f"{i + 1:>{width}} {self.spelled[i]}" if self.numbered else self.spelled[i] for i in places]
        console.print(Columns([Text(line) for line in lines], padding=(0, 3), column_first=True))


def _describes(words: Sequence[str], spelled: Sequence[str]) -> bool:
    return spelled[0].startswith(words[0]) and all(any(s.startswith(word) for s in spelled[1:]) for word in words[1:])


def _first_word(text: str) -> str:
    return next(iter(text.lower().split()), "").rstrip(",:;")


def default_seats(game: Game) -> list[str]:
    """A person against the last player the game lists, or by its first heuristic, or at random, at a usual table."""
    heuristics = [f"greedy:{name}" for name in game.heuristics]
    other = next(iter([*reversed([*game.players]), *heuristics, "random"]))
    return [HUMAN] + [other] * (game.default_seats - 1)


def play(
    game: Game,
    seats: Sequence[str],
    *,
    seed: int = 0,
    variant: str | None = None,
    script: Path | None = None,
    console: Console | None = None,
) -> np.ndarray | None:
    """Play a game at the keyboard; each seat's score in [0, 1], or None when the person left.

    `seats`: an agent spec a seat, "human" where a person sits. `script`: a file of inputs, a line each, `#` begins a
    comment; they are used up before anybody is asked. Raises CardaiError for wrong seats and a script that runs dry.
    """
    if HUMAN not in seats:
        raise CardaiError(f"nobody is at the keyboard: one of the seats {','.join(seats)} must be {HUMAN!r}")
    game.options(len(seats), variant)
    inputs = Inputs(script)
    agents = [Agent(HUMAN, driver.OUTSIDE) if spec == HUMAN else agent(game, spec) for spec in seats]
    names = [one.label for one in agents]
    screen, table = Screen(game, names, inputs, console or Console()), OneGame(game, agents, seed, variant)
    screen.introduce()
    if not _play_on(table, screen):
        return None
    screen.result(table.state)
    return game.points(table.state)


def _play_on(table: OneGame, screen: Screen) -> bool:
    """Play to the end; False when a person left before it."""
    while table.state["turn"] >= 0:
        before = table.state
        if not table.step():
            world, choose = table.world(), table.agents[int(before["turn"])].choose
            move = choose(table.game, np.array([world]))[0] if choose else screen.choose(world)
            if move is None:
                return False
            table.commit(move)
        screen.tell(before, table.move)
    return True
