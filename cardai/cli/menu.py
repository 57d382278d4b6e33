"""The legal moves on screen: numbered, in groups, in columns of one width."""

from collections.abc import Sequence

from rich.console import Console

from cardai.cli.show.suits import in_suits

_FEW = 30  # up to this many moves are all listed at once; of more, some of each group
_OF_A_GROUP = 8
_GAP = 3  # columns between two moves


class Menu:
    """The legal moves, numbered from 1 and grouped by their first word.

    `spelled`: the moves in words. `more`: whether there are legal moves that are not among them. `pieces`: the names of
    the game's pieces. Moves that are numbers themselves are not numbered.
    """

    def __init__(self, spelled: Sequence[str], more: bool, pieces: Sequence[str] = ()) -> None:
        self.spelled, self.more, self.pieces = spelled, more, pieces
        self.numbered = not any(text.isdecimal() for text in spelled)
        self.groups: dict[str, list[int]] = {}
        for i, text in enumerate(spelled):
            word = next(iter(text.lower().split()), "").rstrip(",:;")
            self.groups.setdefault(word, []).append(i)

    def alike(self, text: str) -> list[int]:
        """Returns the indices of the moves that a text describes: "attack", or "kill td" for all kills with TD in them.

        Each word of the text must be the beginning of a word of the move, and the first word that of its first word.
        """
        words = text.lower().split()
        return [i for i, spelled in enumerate(self.spelled) if words and _describes(words, spelled.lower().split())]

    def show(self, console: Console) -> None:
        """Print the moves. If there are many, print only the first ones of each group."""
        few, blocks, waiting = len(self.spelled) <= _FEW, [], []
        for name, places in self.groups.items():
            if len(places) == 1:
                waiting += places
                continue
            shown = places if few or len(places) <= _OF_A_GROUP + 1 else places[:_OF_A_GROUP]
            left = len(places) - len(shown)
            blocks += [(waiting, ""), (shown, f"  and {left} more: {name!r} lists them" if left else "")]
            waiting = []
        blocks.append((waiting, ""))
        width = max((len(self._line(place)) for places, _ in blocks for place in places), default=0)
        for places, remark in blocks:
            self._print(console, places, width)
            if remark:
                console.print(remark, markup=False, highlight=False)
        if self.more:
            console.print("There are more legal moves than are listed; you may type any of them.")

    def list(self, console: Console, places: Sequence[int]) -> None:
        """Print the moves with these indices."""
        self._print(console, places, max((len(self._line(place)) for place in places), default=0))

    def _line(self, place: int) -> str:
        number = f"{place + 1:>{len(str(len(self.spelled)))}} " if self.numbered else ""
        return number + self.spelled[place]

    def _print(self, console: Console, places: Sequence[int], width: int) -> None:
        """Print moves in columns of `width`, each column from top to bottom."""
        if not places:
            return
        columns = min(len(places), max(1, (console.width + _GAP) // (width + _GAP)))
        rows = -(-len(places) // columns)
        for row in range(rows):
            line = "".join(self._line(place).ljust(width + _GAP) for place in places[row::rows])
            console.print(in_suits(line.rstrip(), self.pieces), highlight=False)


def _describes(words: Sequence[str], spelled: Sequence[str]) -> bool:
    return spelled[0].startswith(words[0]) and all(any(s.startswith(word) for s in spelled[1:]) for word in words[1:])
