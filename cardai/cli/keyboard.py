"""People at the keyboard, who play one game against any agents.

A person sees what a player may see: the view of their own seat, and the other seats' moves in words that this seat may
read. `OneGame` gives nothing else, so the true state never reaches the screen.
"""

import contextlib
import re
import sys
from collections import Counter, deque
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from cardai.cli.coach import STUDY, Coach
from cardai.cli.menu import Menu
from cardai.cli.show.console import Output
from cardai.cli.show.progress import Line
from cardai.cli.show.seats import Seats, listed, to_you
from cardai.cli.show.suits import in_suits
from cardai.cli.show.tally import rounds_table, tally
from cardai.errors import CardaiError, printable
from cardai.files.kind import foreign_kind
from cardai.files.reading import read_bytes
from cardai.game import Game
from cardai.playing.agents.spec import HUMAN, STUDENT, agent
from cardai.playing.agents.strongest import strongest
from cardai.playing.table.one import OneGame
from cardai.records.record import Writer

_LONGEST_SCRIPT = 1 << 20  # bytes

_HELP = """\
Type a move as it is spelled, or its number.
Type the beginning of one or more words of a move to list the moves that have such words.
rules prints the rules of the game, words what its words mean, scores a match by its rounds.
? shows this help, q leaves the game."""
_COMMANDS = ("rules", "words", "scores")


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

    @property
    def has_more(self) -> bool:
        """Whether somebody can answer: there are lines of the file left, or a person is at the keyboard."""
        return bool(self._lines) or self.is_live

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
        content = read_bytes(script, _LONGEST_SCRIPT)
        kind = foreign_kind(content) if content.strip() else ""
        if kind:
            raise CardaiError(f"cannot read moves from {script}: {kind}")
        lines = content.decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CardaiError(f"cannot read moves from {script}: {getattr(error, 'strerror', None) or error}") from None
    inputs = (f" {line}".partition(" #")[0].strip() for line in lines)
    return [line for line in inputs if line]


class Screen:
    """What people at the keyboard see and type. `names`: who sits in each seat, `HUMAN` for a person.

    `coach`: answers those who ask for advice. `studies`: whether they may, and take moves back.
    """

    def __init__(
        self,
        table: OneGame,
        names: Sequence[str],
        inputs: Inputs,
        console: Console,
        coach: Coach | None = None,
        studies: bool = False,
    ) -> None:
        self.table, self.names, self.inputs, self.console, self.studies = table, names, inputs, console, studies
        self.coach = coach or Coach(table, None, console)
        self.people = [seat for seat, name in enumerate(names) if name == HUMAN]
        self._only = self.people[0] if len(self.people) == 1 else None  # who reads what is for nobody in particular
        self._shown = dict.fromkeys(self.people, 0)  # the ply up to which each person has seen the moves
        self._forced: set[int] = set()  # the plies of moves that were played for a person, as their only legal ones
        self._last: int | None = None

    def introduce(self) -> None:
        """Print who sits where."""
        seats = ", ".join(self.name(seat) for seat in range(len(self.names)) if seat != self._only)
        study = f" At this study table: {', '.join(STUDY)}." if self.studies else ""
        self._say(f"{seats}. Type a move, ? for help, q to leave.{study}")

    def name(self, seat: int) -> str:
        """A seat and who sits there: "Bruno is bot3"."""
        name, teams = self.words(self._only).name(seat), self.table.game.teams
        if seat == self._only:
            return name
        is_partner = self._only is not None and teams and (seat - self._only) % teams == 0
        who = "at the keyboard" if seat in self.people else self.names[seat]
        return f"{name} is {who}" + (", your partner" if is_partner else "")

    def words(self, seat: int | None) -> Seats:
        """Words for a person of the table, or for all of them."""
        return Seats(len(self.names), seat, self.table.game.teams)

    def choose(self) -> list[np.record] | None:
        """The move of the person whose turn it is, or several that belong together; None if the person leaves, and
        no move if they took moves back.

        A person with only one legal move is not asked.
        """
        seat = self.table.turn
        moves, more = self.table.legal_moves()
        if len(moves) == 1 and not more:
            self._forced.add(self.table.ply)
            return [moves[0]]
        self.show(seat)
        words = self.words(seat)
        menu = Menu([words.text(to_you(self.table.spell(move))) for move in moves], more, self.table.game.table.pieces)
        menu.show(self.console)
        while True:
            text = self.inputs.ask(self.console, f"{words.names[seat] if self._only is None else 'You'}> ")
            if text is None or text.lower() == "q":
                return None
            command = text.lower()
            if command in (*_COMMANDS, *STUDY) and not menu.alike(text):
                if self._obey(command):
                    return []
                continue
            chosen = self._understood(text, moves, menu)
            if chosen:
                return chosen

    def _obey(self, command: str) -> bool:
        """Do what a command asks for. Returns whether moves were taken back."""
        if command == "rules":
            self._answer(self.coach.rules)
        elif command == "words":
            for term, sentence in self.table.game.text.terms.items():
                self._say(f"{term}: {sentence}")
        elif command == "scores":
            if not self._show_rounds():
                self._say("This game is not played in rounds that are counted.")
        elif not self.studies:
            self._say(f"{command} is for study games, which are marked in their record: cardai play --study")
        elif command == "undo":
            return self._take_back()
        else:
            self._answer(self.coach.answers[command])
        return False

    def _answer(self, answer: Callable[[], None]) -> None:
        try:
            answer()
        except CardaiError as error:
            self._say(f"{error}")

    def _take_back(self) -> bool:
        """Go back to the last decision of the person whose turn it is. Returns False if there is none."""
        seat = self.table.turn
        asked = [ply for ply, mover in enumerate(self.table.movers) if mover == seat and ply not in self._forced]
        if not asked:
            self._say("There is no move of yours to take back.")
            return False
        self.table.rewind(self.table.first_of_series(asked[-1]))
        self._forced = {ply for ply in self._forced if ply < self.table.ply}
        self._shown = {other: min(ply, self.table.ply) for other, ply in self._shown.items()}
        self._say(f"Back before your move at ply {self.table.ply}.")
        return True

    def show(self, seat: int) -> None:
        """Print what happened since this person's last turn, and the table as the person sees it now."""
        self._hand_over(seat)
        self.console.rule(self.words(self._only).name(seat))
        for line in summary(self._news(seat)):
            self._say(line)
        self._shown[seat] = self.table.ply
        self._say(f"\n{self.words(seat).view(self.table.view(seat))}\n")

    def result(self) -> None:
        """Print how the game ended and each seat's score."""
        for seat in self.people:
            self.show(seat)
        self.console.rule("the game is over")
        ending = self.table.ending()
        words = self.words(self._only)
        if ending:
            self._say(words.sentence(ending))
        self._show_rounds()
        heads, rows = tally(self.table.game, self.table.scores().tolist(), self.table.outcomes())
        for seat, figures in enumerate(rows):
            words = (f"{head}: {figure}" for head, figure in zip(heads, figures, strict=True))
            self._say(f"{self.name(seat)}; {', '.join(words)}")

    def _show_rounds(self) -> bool:
        """Print a match by its rounds. Returns False if the game counts none."""
        match, words = self.table.by_round(max(self.table.turn, 0)), self.words(self._only)
        if match is not None:
            self.console.print(rounds_table([words.name(seat) for seat in range(len(self.names))], match))
        return match is not None

    def _news(self, seat: int) -> list[tuple[str, str]]:
        """The moves that a person has not seen yet, as (who, what), without those that the person typed."""
        first = self._shown[seat]
        news = []
        words = self.words(seat)
        for ply, event in enumerate(self.table.events(seat, first), first):
            is_own, led_to = event.seat == seat, words.text(event.led_to)
            if not is_own or ply in self._forced or led_to:
                said = words.text(to_you(event.words) if is_own else event.words)
                news.append((words.name(event.seat), said + (f": {led_to}" if led_to else "")))
        return news

    def _understood(self, text: str, moves: np.ndarray, menu: "Menu") -> list[np.record]:
        if text in ("?", ""):
            self._say(_HELP)
            if (together := self.table.game.in_series(self.table.world())) > 1:
                self._say(f"You may type {together} moves in one line.")
            for name, about in STUDY.items() if self.studies else ():
                self._say(f"{name}: {about}")
            return []
        if text.lower() in (spelled := [one.lower() for one in menu.spelled]):
            return [moves[spelled.index(text.lower())]]
        move, why = self._named(text)
        if menu.numbered and text.isdecimal():
            return self._numbered(text, move, moves, menu)
        if several := self._together(text, menu, moves):
            return several
        if move is not None:
            return [move]
        alike = menu.alike(text)
        if alike:
            menu.list(self.console, alike)
        else:
            self._say(f"{why}; ? helps")
        return []

    def _named(self, text: str) -> tuple[np.record | None, str]:
        """The legal move that a text names in words, or None and why it names none."""
        try:
            move = self.table.parse(self.words(self.table.turn).typed(text))
        except ValueError as error:
            return None, str(error)
        is_legal = self.table.is_legal(move)
        return (move, "") if is_legal else (None, f"{text!r} is not among your legal moves now")

    def _numbered(self, text: str, named: np.record | None, moves: np.ndarray, menu: "Menu") -> list[np.record]:
        """The move with a number. A person whose number also names other moves is asked which one they mean."""
        count, place = len(moves), int(text) - 1
        meant = {place} & {*range(count)}
        meant |= {i for i, words in enumerate(menu.spelled) if words.split()[-1:] == [text] or moves[i] == named}
        if len(meant) == 1:
            return [moves[meant.pop()]]
        if meant:
            readings = [f"{menu.spelled[i]!r}{f' (number {text})' * (i == place)}" for i in sorted(meant)]
            self._say(f"{text} may be {' or '.join(readings)}; type one of them in words")
        elif named is None:
            numbers = f"they go from 1 to {count}; or type one in words: {self.table.spell(moves[0])}"
            self._say(f"{text} is not the number of a move: {numbers}")
        return [] if meant or named is None else [named]

    def _together(self, text: str, menu: "Menu", moves: np.ndarray) -> list[np.record]:
        """Several moves that belong together, from one line: "pass QS 2C 3D", or by numbers; none if it is not so."""
        game, world = self.table.game, self.table.world()
        parts = text.replace(",", " ").split()
        verbs = {word.split()[0] for word in menu.spelled} | {game.text.spell(world, move).split()[0] for move in moves}
        parts = [part for part in parts if part.lower() not in verbs]
        if not 1 < len(parts) <= game.in_series(world):
            return []
        numbers = all(part.isdecimal() and 1 <= int(part) <= len(moves) for part in parts) and menu.numbered
        readings = [parts, [game.text.spell(world, moves[int(part) - 1]) for part in parts] if numbers else parts]
        series = []
        for texts in readings:
            with contextlib.suppress(ValueError):
                series.append(game.parse_series(world, texts))
        return series[-1] if series and (not numbers or len(series) == 1) else []

    def _hand_over(self, seat: int) -> None:
        """If several people share the keyboard, hide one person's cards before the next one looks."""
        if len(self.people) > 1 and self._last != seat and self.inputs.is_live:
            name = self.words(None).name(seat)
            self.inputs.ask(self.console, f"{name}, press Enter when nobody else is looking. ")
            self.console.clear()
        self._last = seat

    def _say(self, text: str) -> None:
        self.console.print(in_suits(text, self.table.game.table.pieces), highlight=False)


def summary(news: Sequence[tuple[str, str]]) -> list[str]:
    """Lines for what happened, from (who, what) in order.

    The same move by several seats in a row is one entry with all their names, and how often each made it: "Ada and
    Bruno skip". An entry of one word, like "skips", goes on in the line before it; how often does not matter there.
    """
    runs: list[tuple[Counter[str], str]] = []
    for who, what in news:
        if not runs or runs[-1][1] != what:
            runs.append((Counter(), what))
        runs[-1][0][who] += 1
    lines: list[str] = []
    for movers, what in runs:
        counted = " " in what
        named = listed([f"{who} ({times} times)" if counted and times > 1 else who for who, times in movers.items()])
        colon = ":" * bool(re.match(r"no\b|[^a-z]|[a-z]\d", what))  # "no claim" is no verb, nor is a card or a cell
        entry = f"{named}{colon} {to_you(what) if len(movers) > 1 else what}"
        if lines and " " not in what:
            lines[-1] += f"; {entry}"
        else:
            lines.append(entry)
    return lines


def default_seats(game: Game, variant: str | None = None) -> list[str]:
    """A person and, in the other seats of a table of the usual size, the strongest agent. Raises CardaiError as
    `strongest` does."""
    return [HUMAN] + [strongest(game, variant)] * (game.default_seats - 1)


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
    study: bool = False,
    judge: str | None = None,
    console: Console | None = None,
) -> np.ndarray | None:
    """Play a game at the keyboard. Returns each seat's score, f8[seats] in [0, 1], or None if a person left the game.

    `seats`: an agent spec for each seat, `HUMAN` for a person. `script`: a file of inputs, one a line, `#` begins a
    comment; they are used before anybody is asked. `record`: a file that the finished game is written to, which may
    exist only with `overwrite`; nothing is written if the game is left or interrupted. `isolate`: see
    `cardai.playing.agents.spec.agent`. `study`: people may ask for advice by `judge` (the usual one if None) and take
    moves back, and the record calls them `STUDENT`.

    Raises CardaiError for seats or a file that cannot be used, before anything is shown, and for a script that ends
    before the game does.
    """
    if HUMAN not in seats:
        raise CardaiError(f"nobody is at the keyboard: one of the seats {','.join(seats)} must be {HUMAN!r}")
    if judge is not None and not study:
        raise CardaiError(f"the judge {judge!r} gives hints, which need a study game (--study)")
    game.options(len(seats), variant)
    inputs = Inputs(script)
    with Line("loading the players"):
        agents = [None if spec == HUMAN else agent(game, spec, isolate=isolate) for spec in seats]
        table, console = OneGame(game, agents, seed, variant), console or Output()
        coach = Coach(table, judge, console)
        if judge is not None:  # so that a judge that cannot be used is refused at once
            assert coach.adviser
    names = [HUMAN if player is None else player.label for player in agents]
    written = [STUDENT if study and spec == HUMAN else spec for spec in seats]
    specs = list(dict.fromkeys(written))
    with contextlib.ExitStack() as stack:
        writer = None
        if record is not None:  # before the game begins, so that a file that cannot be written is refused at once
            writer = Writer(record, game, specs, variant, len(seats), overwrite=overwrite, planned=1)
            stack.enter_context(writer)
        screen = Screen(table, names, inputs, console, coach, study)
        screen.introduce()
        if not _play_on(table, screen):
            return None
        if writer is not None:
            writer.add(seed, [specs.index(spec) for spec in written], table.moves, table.scores().tolist())
    screen.result()
    return table.scores()


def _play_on(table: OneGame, screen: Screen) -> bool:
    """Play to the end. Returns False if a person left before it."""
    while not table.is_over:
        with Line("the others think"):
            table.run()
        if table.is_waiting:
            chosen = screen.choose()
            if chosen is None:
                return False
            for move in chosen:
                table.play(move)
    return True
