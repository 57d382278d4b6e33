"""Every way in which chance can decide what a rule does, with its exact probability.

    chance = ListedChance(game)
    for way in chance.deals(seats=2):
        print(way.probability, game.text.show(way.state, 0))

Rules draw all their chance through `below`, or through rules that call it. A copy of the rule runs as plain Python, in
which `below` answers from a list, again and again until all lists of answers have been tried. So a game needs to
declare nothing. Rules that draw in another way (`uniform`, `next_bits`) are refused, and so are too many ways.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from types import CellType, CodeType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from cardai.errors import CardaiError, positive
from cardai.game import Game, GameState, is_game
from cardai.game.compiled.doors import check_seat, check_state
from cardai.rules import STREAM

MOST_WAYS = 100_000
"""In how many ways chance may decide one deal, draw or world, if no other limit is given."""

_RULES = "cardai.rules"  # the module of `below` and of the other rules that touch a stream


class Unlistable(CardaiError):
    """Chance that decides in too many ways, or by numbers that cannot be listed."""


class Way(NamedTuple):
    """One way in which chance can decide: its probability, and the record that the rule leaves."""

    probability: Fraction
    state: Any


class ListedChance:
    """Lists what chance can do in a game. `most`: in how many ways it may decide one thing.

    All methods raise Unlistable if there are more, and if a rule draws its chance in a way that cannot be listed.
    Equal records are one way, with the sum of their probabilities. The streams of listed states are 0.
    """

    def __init__(self, game: Game, most: int = MOST_WAYS) -> None:
        self.game = is_game(game)
        self._answers = _Answers(positive("most", most))
        self._copies = _Copies(self._answers)
        self._stream = np.zeros(1, STREAM)

    def deals(self, seats: int | None = None, variant: str | None = None) -> list[Way]:
        """All deals. Raises CardaiError for a wrong number of seats or variant."""
        return self._ways("the deal", self.game.options(seats, variant), self._copies.of(self.game.rules.deal))

    def settled(self, after: GameState) -> list[Way]:
        """All states that can follow an after-state."""
        return self._ways("what follows a move", self._copy(after), self._copies.of(self.game.rules.settle))

    def worlds(self, state: GameState, seat: int) -> list[Way]:
        """All worlds of a seat."""
        states, rule = self._copy(state), self._copies.of(self.game.rules.resample)
        seat = check_seat("seat", seat, int(states["seats"][0]))
        return self._ways(f"a world of seat {seat}", states, lambda world: rule(world, seat, self._stream[0]))

    def choices(self, choose: Callable[..., None], world: GameState, params: np.ndarray) -> list[Way]:
        """All moves that a hand-written player can choose in a world: ways whose `state` is a move.

        `choose`: the player's rule. `params`: f8[its parameters].
        """
        worlds, rule = self._copy(world), self._copies.of(choose)
        moves = np.zeros(1, self.game.move)
        return self._ways("a move", moves, lambda move: rule(worlds.copy()[0], move, params, self._stream[0]))

    def _copy(self, state: GameState) -> np.ndarray:
        states = check_state(state, self.game.state, self.game.name, self.game.seats)[0].copy()
        states["rng"] = 0
        return states

    def _ways(self, what: str, records: np.ndarray, run: Callable[[Any], None]) -> list[Way]:
        """All that `run` can make of records[0]."""
        answers, found = self._answers, {}
        answers.begin(f"{self.game.name}: {what}")
        while True:
            record = records.copy()
            run(record[0])
            if self._stream["rng"][0] or ("rng" in (record.dtype.names or ()) and record["rng"][0]):
                self._stream["rng"] = 0
                answers.refuse()  # it was drawn from the stream itself
            key = record.tobytes()
            found[key] = found.get(key, Fraction(0)) + answers.probability
            if not answers.go_on():
                return [Way(chance, np.frombuffer(bytearray(key), records.dtype)[0]) for key, chance in found.items()]


class _Answers:
    """Stands for all random streams: answers `below` from a list, and goes through all lists of answers."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.begin("")

    def begin(self, what: str) -> None:
        """Begin with the first list, of zeros. `what`: what chance decides, for messages."""
        self.what = what
        self.answers: list[int] = []
        self.counts: list[int] = []  # out of how many numbers each answer is chosen
        self.given = 0

    def below(self, stream: Any, n: Any) -> int:
        """The next answer, a number from 0 to n - 1."""
        if self.given == len(self.answers):
            self.answers.append(0)
            self.counts.append(int(n))
            if math.prod(self.counts) > self.most:
                raise Unlistable(f"{self.what} is decided by chance in more than {self.most} ways, too many to list")
        self.given += 1
        return self.answers[self.given - 1]

    def refuse(self, *_: Any) -> Any:
        """Stands for rules whose numbers cannot be listed."""
        raise Unlistable(f"{self.what} is decided by uniform or next_bits; only what below draws can be listed")

    @property
    def probability(self) -> Fraction:
        """The probability of the present list of answers."""
        return Fraction(1, math.prod(self.counts))

    def go_on(self) -> bool:
        """Go on to the next list. Returns False after the last one."""
        self.given = 0
        while self.answers and self.answers[-1] == self.counts[-1] - 1:
            self.answers.pop()
            self.counts.pop()
        if self.answers:
            self.answers[-1] += 1
        return bool(self.answers)


class _Copies:
    """Copies of rules in plain Python, in which every rule that they call is such a copy, and draws are answered."""

    def __init__(self, answers: _Answers) -> None:
        self._made: dict[Any, Callable[..., Any]] = {}
        self._instead: dict[str, Callable[..., Any]] = {
            "below": answers.below,
            "uniform": answers.refuse,
            "next_bits": answers.refuse,
            "skip_shuffle": lambda stream, n: None,  # it only moves the stream on
            "count": lambda cards: int(cards).bit_count(),
            "lowest": lambda cards: (int(cards) & -int(cards)).bit_length() - 1,
            "highest": lambda cards: int(cards).bit_length() - 1,
        }

    def of(self, rule: Any) -> Callable[..., Any]:
        """The copy of a rule."""
        function = getattr(rule, "py_func", rule)
        if function.__module__ == _RULES and function.__name__ in self._instead:
            return self._instead[function.__name__]
        if function.__module__ == _RULES and function.__name__ != "shuffle":
            return rule  # it draws nothing
        if function not in self._made:
            names = dict(function.__globals__)
            cells = tuple(CellType(self._swapped(cell.cell_contents)) for cell in function.__closure__ or ())
            copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells)
            self._made[function] = copy
            for name in _names_in(function.__code__) & names.keys():
                names[name] = self._swapped(names[name])
        return self._made[function]

    def _swapped(self, value: Any) -> Any:
        """A rule's copy instead of the rule; anything else as it is."""
        return self.of(value) if hasattr(value, "py_func") or isinstance(value, FunctionType) else value


def _names_in(code: CodeType) -> set[str]:
    """All global names that a function reads, functions inside it too."""
    inner = (_names_in(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inner)
