"""Cards of red suits in red, in any text of a game, where the terminal has colours."""

import re
from collections.abc import Sequence

from rich.text import Text

_RED, _SUITS = "DH", "CDHS"


def in_suits(text: str, pieces: Sequence[str]) -> Text:
    """A text with the names of red cards in red. `pieces`: the names of the game's pieces (`Table.pieces`).

    Pieces are cards if their names end in the letter of a suit, of which there are several; all other text stays as it
    is. A console without colours, or with NO_COLOR, prints it plain.
    """
    shown = Text(text)
    if len({name[-1:] for name in pieces}) > 1 and all(name[-1:] in _SUITS for name in pieces):
        red = "|".join(re.escape(name) for name in pieces if name[-1:] in _RED)
        shown.highlight_regex(rf"(?<!\w)(?:{red})(?!\w)", "red")
    return shown
