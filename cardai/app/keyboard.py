"""People at the keyboard, who play one game against any agents.

A person sees what a player may see: the view of their own seat, and the other seats' moves in words that this seat may
read. `OneGame` gives nothing else, so the true state never reaches the screen.
"""

import contextlib
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.columns import Columns
from rich.console import Console
from rich.text import Text

from cardai.agents.spec import agent, usual_opponent
from cardai.data.record import Writer
from cardai.errors import CardaiError, printable
from cardai.files.reading import read_bytes
from cardai.game import Game
from cardai.show.progress import Line
from cardai.table.one import OneGame

_LONGEST_SCRIPT = 1 << 20  # bytes
HUMAN = "human"
_FEW = 30  # up to this many moves are all listed at once; of more, some of each group
_OF_A_GROUP = 8

_HELP = """\
Type a move as it is spelled, or its number.
Type the beginning of one or more words of a move to list the moves that have such words.
? shows this help, q leaves the game."""


class Inputs:
    """What people type: first the lines of a file, if there is one, then what comes from the keyboard."""

    def __init__(self, script: Path | None = None) -> None:
        self._script = script
        self._lines = deque(_scripted(script) if script else ())
        self._given = len(self._lines)

    @property
    def is_live(self) -> bool:
        """Whether the next input comes from a person at the keyboard, not from a file or a pipe."""
        return not self._lines and sys.stdin.isatty()

    def ask(self, console: Console, prompt: str) -> str | None:
        """The next input, or None at the end of the keyboard's input.

        Raises CardaiError if the inputs come from a file or a pipe, and it has ended.
        """
        if self._lines:
            line = self._lines.popleft()
            console.print(printable(f"{prompt}{line}"), markup=False, highlight=False)
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
        lines = read_bytes(script, _LONGEST_SCRIPT).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CardaiError(f"cannot read moves from {script}: {getattr(error, 'strerror', None) or error}") from None
    inputs = (f" {line}".partition(" #")[0].strip() for line in lines)
    return [line for line in inputs if line]


class Screen:
    """What people at the keyboard see and type. `names`: who sits in each seat, `HUMAN` for a person."""

    def __init__(self, table: OneGame, names: Sequence[str], inputs: Inputs, console: Console) -> None:
        self.table, self.names, self.inputs, self.console = table, names, inputs, console
        self.people = [seat for seat, name in enumerate(names) if name == HUMAN]
        self._shown = dict.fromkeys(self.people, 0)  # the ply up to which each person has seen the moves
        self._forced: set[int] = set()  # the plies of moves that were played for a person, as their only legal ones
        self._last: int | None = None

    def introduce(self) -> None:
        """Print who sits where."""
        seats = ", ".join(self.name(seat) for seat in range(len(self.names)))
        self._say(f"{seats}. Type a move, ? for help, q to leave.")

    def name(self, seat: int) -> str:
        """A seat and who sits there: "p1 is bot3"."""
        return f"p{seat} is {'you' if self.people == [seat] else self.names[seat]}"

    def choose(self) -> np.record | None:
        """The move of the person whose turn it is, or None if the person leaves.

        A person with only one legal move is not asked.
        """
        seat = self.table.turn
        moves, more = self.table.legal_moves()
        if len(moves) == 1 and not more:
            self._forced.add(self.table.ply)
            return moves[0]
        self.show(seat)
        menu = Menu([self.table.spell(move) for move in moves], more)
        menu.show(self.console)
        while True:
            text = self.inputs.ask(self.console, f"p{seat}> ")
            if text is None or text.lower() == "q":
                return None
            move = self._understood(text, moves, menu)
            if move is not None:
                return move

    def show(self, seat: int) -> None:
        """Print what happened since this person's last turn, and the table as the person sees it now."""
        self._hand_over(seat)
        self.console.rule(f"p{seat}")
        for line in summary(self._news(seat)):
            self._say(line)
        self._shown[seat] = self.table.ply
        self._say(f"\n{self.table.view(seat)}\n")

    def result(self) -> None:
        """Print how the game ended and each seat's score."""
        for seat in self.people:
            self.show(seat)
        self.console.rule("the game is over")
        ending = self.table.ending()
        if ending:
            self._say(ending)
        outcomes = self.table.outcomes()
        for seat, score in enumerate(self.table.scores()):
            own = (
                f", {name} {values[seat]:g}" for name, values in outcomes.items() if name in self.table.game.measures
            )
            self._say(f"{self.name(seat)}: score {score:g}{''.join(own)}")

    def _news(self, seat: int) -> list[tuple[str, str]]:
        """The moves that a person has not seen yet, as (who, what), without those that the person typed."""
        first = self._shown[seat]
        news = []
        for ply, (mover, words) in enumerate(self.table.history(seat, first), first):
            if mover != seat:
                news.append((f"p{mover}", words))
            elif ply in self._forced:
                news.append(("you", words))
        return news

    def _understood(self, text: str, moves: np.ndarray, menu: "Menu") -> np.record | None:
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
            move = self.table.parse(text)
        except ValueError as error:
            move, why = None, str(error)
        if move is not None and self.table.is_legal(move):
            return move
        alike = menu.alike(text)
        if alike:
            menu.list(self.console, alike)
        else:
            self._say(f"{why}; ? helps")
        return None

    def _hand_over(self, seat: int) -> None:
        """If several people share the keyboard, hide one person's cards before the next one looks."""
        if len(self.people) > 1 and self._last != seat and self.inputs.is_live:
            self.inputs.ask(self.console, f"Seat {seat}, press Enter when nobody else is looking. ")
            self.console.clear()
        self._last = seat

    def _say(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False)


def summary(news: Sequence[tuple[str, str]]) -> list[str]:
    """Lines for what happened, from (who, what) in order.

    The same move by several seats in a row is one entry with all their names. An entry of one word, like "skips", goes
    on in the line before it.
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
        entry = f"{', '.join(movers)} {what}" if " " in what else f"{', '.join(movers)}: {what}"
        if lines and " " not in what:
            lines[-1] += f"; {entry}"
        else:
            lines.append(entry)
    return lines


class Menu:
    """The legal moves, numbered from 1 and grouped by their first word.

    `spelled`: the moves in words. `more`: whether there are legal moves that are not among them. Moves that are numbers
    themselves are not numbered.
    """

    def __init__(self, spelled: Sequence[str], more: bool) -> None:
        self.spelled, self.more = spelled, more
        self.numbered = not any(text.isdecimal() for text in spelled)
        self.groups: dict[str, list[int]] = {}
        for i, text in enumerate(spelled):
            self.groups.setdefault(_first_word(text), []).append(i)

    def alike(self, text: str) -> list[int]:
        """Returns the indices of the moves that a text describes: "attack", or "kill td" for all kills with TD in them.

        Each word of the text must be the beginning of a word of the move, and the first word that of its first word.
        """
        words = text.lower().split()
        return [i for i, spelled in enumerate(self.spelled) if words and _describes(words, spelled.lower().split())]

    def show(self, console: Console) -> None:
        """Print the moves. If there are many, print only the first ones of each group."""
        few, waiting = len(self.spelled) <= _FEW, []
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
            console.print("There are more legal moves than are listed; you may type any of them.")

    def list(self, console: Console, places: Sequence[int]) -> None:
        """Print the moves with these indices."""
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
    """A person and, in the other seats of a usual table, the usual opponent."""
    return [HUMAN] + [usual_opponent(game)] * (game.default_seats - 1)


def play(
    game: Game,
    seats: Sequence[str],
    *,
    seed: int = 0,
    variant: str | None = None,
    script: Path | None = None,
    record: Path | None = None,
    overwrite: bool = False,
    isolate: bool = False,
    console: Console | None = None,
) -> np.ndarray | None:
    """Play a game at the keyboard. Returns each seat's score, f8[seats] in [0, 1], or None if a person left the game.

    `seats`: an agent spec for each seat, `HUMAN` for a person. `script`: a file of inputs, one a line, `#` begins a
    comment; they are used before anybody is asked. `record`: a file that the finished game is written to, which may
    exist only with `overwrite`; nothing is written if the game is left or interrupted. `isolate`: see
    `cardai.agents.spec.agent`.

    Raises CardaiError for seats or a file that cannot be used, before anything is shown, and for a script that ends
    before the game does.
    """
    if HUMAN not in seats:
        raise CardaiError(f"nobody is at the keyboard: one of the seats {','.join(seats)} must be {HUMAN!r}")
    game.options(len(seats), variant)
    inputs = Inputs(script)
    with Line("loading the players"):
        agents = [None if spec == HUMAN else agent(game, spec, isolate=isolate) for spec in seats]
        table = OneGame(game, agents, seed, variant)
    names = [HUMAN if player is None else player.label for player in agents]
    specs = list(dict.fromkeys(seats))
    with contextlib.ExitStack() as stack:
        writer = None
        if record is not None:  # before the game begins, so that a file that cannot be written is refused at once
            writer = Writer(record, game, specs, variant, len(seats), overwrite=overwrite, planned=1)
            stack.enter_context(writer)
        screen = Screen(table, names, inputs, console or Console())
        screen.introduce()
        if not _play_on(table, screen):
            return None
        if writer is not None:
            writer.add(seed, [specs.index(spec) for spec in seats], table.moves, table.scores().tolist())
    screen.result()
    return table.scores()


def _play_on(table: OneGame, screen: Screen) -> bool:
    """Play to the end. Returns False if a person left before it."""
    while not table.is_over:
        with Line("the others think"):
            table.run()
        if table.is_waiting:
            move = screen.choose()
            if move is None:
                return False
            table.play(move)
    return True
