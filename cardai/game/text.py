"""A game in words: its moves, its table, its end."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cardai.errors import short
from cardai.rules.cards import SYMBOLS

_EXAMPLES = 4  # moves in the sentence for a text that is none


@dataclass(frozen=True)
class Text:
    """A game in words, in plain Python. A declared state and declared moves give `spell` and `show`.

    `spell(state, move) -> str` words a move; `show(state, seat) -> str` is the table as that seat sees it.
    `parse(state, text) -> move` reads a move (raises ValueError if the text is no move). Without it, a text is the
    legal move that is spelled so, or the only one that it shortens, up to its last word ("beats with 9S", "9S").
    `tell(state, move, seat) -> str` is what another `seat` is told of a move: a game in which moves are hidden in whole
    or in part (cards passed, sealed bids) needs it. Without it, moves are public and `spell` words them for everybody.
    `ending(state) -> str` says how a finished game ended, in a sentence that all seats may read.
    `terms` are the game's words for people who do not know it yet: each begins a move as `spell` words it ("kills"), or
    stands in a note or a name of a zone ("target"), and is explained by a sentence.
    `led_to(before, after)` says what a move led to, in words that every seat may read ("no"), "" if nothing is to be
    said; both are settled states.
    `rounds(state)` is how many rounds of a match are over and what each seat has so far, None where rounds do not
    count. `series(state)` is how many own moves from here on are one choice, made in any order (cards that are passed
    together).
    """

    spell: Callable[..., str] = None  # pyright: ignore[reportAssignmentType]
    show: Callable[..., str] = None  # pyright: ignore[reportAssignmentType]
    parse: Callable[..., Any] = None  # pyright: ignore[reportAssignmentType]
    tell: Callable[..., str] | None = None
    ending: Callable[[Any], str] | None = None
    terms: Mapping[str, str] = field(default_factory=dict)
    led_to: Callable[[Any, Any], str] | None = None
    rounds: Callable[[Any], tuple[int, Sequence[float]] | None] | None = None
    series: Callable[[Any], int] | None = None


def spelled_so(game: Any, state: Any, text: str) -> Any:
    """The legal move that is spelled like a text, or the only one that a text shortens, up to its last word: MOVE.

    Capitals and spaces do not count, nor does the person of the verb: "draw" is "draws". A card may be named suit first
    ("s9"), and a ten "10". Raises ValueError, with moves that are legal, if there is none.
    """
    pieces = {piece.lower() for piece in game.table.pieces}
    wanted, moves = [_as_named(word, pieces) for word in text.lower().split()], game.moves(state)
    spelled = [game.text.spell(state, move) for move in moves]
    words = [one.lower().split() for one in spelled]
    for fits in (
        wanted.__eq__,
        lambda one: _with_stem(one) == _with_stem(wanted),
        lambda one: (
            wanted[-1:] == one[-1:] and (_stands_in(wanted, one) or _stands_in(_with_stem(wanted), _with_stem(one)))
        ),
    ):
        found = [move for move, one in zip(moves, words, strict=True) if fits(one)]
        if len(found) == 1:
            return found[0]
    examples = [*dict.fromkeys(spelled[:: max(1, len(spelled) // _EXAMPLES)])][:_EXAMPLES]
    raise ValueError(f"{short(text.strip())} is no move here; a move is {listed(examples)}")


def _as_named(word: str, pieces: set[str]) -> str:
    """A word, or the name of the piece that it means."""
    short_ten = word.translate(SYMBOLS).lower().replace("10", "t")
    return next((one for one in (word, short_ten, short_ten[::-1]) if one in pieces), word)


def _stands_in(words: list[str], spelled: list[str]) -> bool:
    """Whether words stand among others in their order."""
    rest = iter(spelled)
    return all(word in rest for word in words)


def _with_stem(words: list[str]) -> list[str]:
    """Words whose first one has lost its ending, unless it is as short as a card's name."""
    return [re.sub(r"(?<=[a-z]{3})[es]+$", "", words[0]), *words[1:]] if words else []


def listed(values: Sequence[Any]) -> str:
    """Values of an option in words: "0, 1 or 2", "0 to 1000"."""
    if isinstance(values, range) and len(values) > 3 and values.step == 1:
        return f"{values[0]} to {values[-1]}"
    *others, last = map(str, values)
    return f"{', '.join(others)} or {last}" if others else last
