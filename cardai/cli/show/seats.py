"""Names for seats, and the second person for whoever reads: "p1 kills" is "Bruno kills", or "You kill" to that seat.

The page does the same (`cardai/guests/web/static/words.js`); `tests/data/words.json` has examples for both.
"""

import re
from collections.abc import Sequence

NAMES = ("Ada", "Bruno", "Clara", "David", "Emma", "Felix", "Greta", "Hugo")  # by seat
_ODD = {"has": "have", "is": "are", "does": "do"}


def plain(verb: str) -> str:
    """Return a verb as it is said to somebody: "kills" is "kill", "passes" is "pass"; other words stay as they are."""
    if verb in _ODD:
        return _ODD[verb]
    if re.search(r"[a-z]{2}ies$", verb):
        return f"{verb[:-3]}y"
    if re.search(r"(ss|sh|ch|x|zz)es$", verb):
        return verb[:-2]
    return verb[:-1] if re.search(r"[a-z]{2}s$", verb) and not re.search(r"(ss|us|is)$", verb) else verb


def to_you(words: str) -> str:
    """Return a move in words, said to whoever plays it: "ends, picks 6S" is "end, pick 6S"."""
    said = re.sub(r"^[a-z]+|(?<=, )[a-z]+|(?<=, and )[a-z]+", lambda found: plain(found[0]), words)
    return re.sub(r"\b(to|for) (himself|themselves)\b", r"\1 yourself", said)


def listed(names: Sequence[str]) -> str:
    """Return names as a subject: "Ada, Bruno and Clara"."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


class Seats:
    """The seats of a table for one reader. `own`: the reader's seat, None for nobody's. `teams`: see `Game.teams`."""

    def __init__(self, count: int, own: int | None, teams: int = 0) -> None:
        self.names = [*NAMES[:count], *(f"Seat {seat + 1}" for seat in range(len(NAMES), count))]
        self.own, self.teams = own, teams

    def name(self, seat: int) -> str:
        """The name of a seat, "You" for the reader's own."""
        return "You" if seat == self.own else self.names[seat]

    def text(self, words: str) -> str:
        """Return words of a game, in which seats are named p0, p1, for the reader."""
        words = re.sub(r"\b([Yy]ou are )p(\d)\b", lambda found: found[1] + self._who(found[2]), words)
        words = re.sub(r"\bp(\d)'s team\b", lambda found: self._team(int(found[1])), words)
        words = re.sub(r"\bp(\d)'s\b", lambda found: "your" if self._is_own(found[1]) else found[0], words)
        words = re.sub(r"\bp(\d) ([a-z]+)\b(?:([^.;:,]* and )(wins|loses|is|has)\b)?", self._with_verb, words)
        return re.sub(r"\bp(\d)\b", lambda found: "you" if self._is_own(found[1]) else self._who(found[1]), words)

    def sentence(self, words: str) -> str:
        """Return whole sentences of a game for the reader."""
        return re.sub(r"(^|[.;:] )you(r?)\b", r"\1You\2", self.text(words))

    def line(self, seat: int, words: str, led_to: str = "") -> str:
        """Return a line of the log: who, the move, and what it led to."""
        colon = ":" if re.match(r"(no |[^a-z])|[a-z]*[^s\Wa]\b", words) else ""  # "no claim" is no verb, nor is a card
        said = self.text(to_you(words) if seat == self.own else re.sub(r"\bhimself\b", "themselves", words))
        return f"{self.name(seat)}{colon} {said}" + (f": {self.text(led_to)}" if led_to else "")

    def view(self, text: str) -> str:
        """Return the text of `Text.show` with names at the beginning of its lines, in a column."""
        width = max(map(len, self.names))
        lines = []
        for line in text.replace(" (you)", "").splitlines():
            found = re.match(r"p(\d)  +(.*)", line)
            lines.append(
                f"{self.name(int(found[1])):<{width}}  {self.text(found[2])}" if found else self.sentence(line)
            )
        return "\n".join(lines)

    def typed(self, text: str) -> str:
        """Return what the reader typed with names of seats, as the game names them: "asks Bruno" is "asks p1"."""
        for seat, name in enumerate(self.names):
            text = re.sub(rf"\b{name}\b", f"p{seat}", text, flags=re.IGNORECASE)
        return text

    def _with_verb(self, found: re.Match[str]) -> str:
        said = f"you {plain(found[2])}{found[3] or ''}{plain(found[4] or '')}"
        return said if self._is_own(found[1]) else found[0]

    def _who(self, seat: str) -> str:
        return self.names[int(seat)] if int(seat) < len(self.names) else f"p{seat}"

    def _is_own(self, seat: str) -> bool:
        return self.own == int(seat)

    def _team(self, seat: int) -> str:
        """A team of one of its seats in words."""
        if self.own is not None and self.teams == 2:
            return "your team" if (seat - self.own) % self.teams == 0 else "the other team"
        return f"{self.names[seat]}'s team"
