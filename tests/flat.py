"""Games that are made from fields alone, without their parts."""

from typing import Any

from cardai.game import PART_OF, PARTS, Game


def made_of(**values: Any) -> Game:
    """A game with these fields, each in the part that it belongs to."""
    facts = {name: value for name, value in values.items() if name not in PART_OF}
    parts = {
        part: kind(**{name: value for name, value in values.items() if PART_OF.get(name) == part})
        for part, kind in PARTS.items()
    }
    return Game(**facts, **parts)
