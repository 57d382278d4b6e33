"""Moving cards between places of a declared state, with what everybody then knows of hands."""

from collections.abc import Callable

from cardai.errors import unknown
from cardai.game.fields import Declaration, Field
from cardai.game.written import Source, written


def mover(state: Declaration, source: str, target: str) -> Callable[..., None]:
    """The rule that moves cards between two places: see `cardai.game.declared.State.move`.

    What a card does to what all know, by who sees the places:
    - it leaves a hand: it is known there no longer;
    - from where all see it into a hand: all know that the hand has it;
    - unseen into a hand: that may hold again what it lacked.
    """
    places = {name: field for name, field in state.fields.items() if field.is_place}
    for name in (source, target):
        if name not in places:
            state.refuse(f"move: {unknown('place', name, places)}")
    old, new = places[source], places[target]
    if state.is_wide or "counts" in (old.what, new.what) or old.shape or new.shape:
        state.refuse(f"move: {source} or {target} is no set in one number and no single card; write this rule yourself")
    if old.known and new.sees != "all" and (new.known or new.sees == "nobody"):
        state.refuse(
            f"move: a card that goes unseen from {source} to {target} may be one that all know to be in {source};"
            " write this rule yourself, with what they know then"
        )
    is_card = "card" in (old.what, new.what)
    seats = [name for name, field in (("from_seat", old), ("to_seat", new)) if field.each]
    text = Source(f"def move({', '.join(['state', 'card' if is_card else 'cards', *seats])}):")
    if is_card:
        text.add("cards = single(card)")
    at = f"state.{source}[from_seat]" if old.each else f"state.{source}"
    text.add(f"{at} = NONE" if old.what == "card" else f"{at} &= ~cards")
    if old.known:
        text.add(f"state.{old.known}[from_seat] &= ~cards")
    at = f"state.{target}[to_seat]" if new.each else f"state.{target}"
    text.add(f"{at} = card" if new.what == "card" else f"{at} |= cards")
    _note(old, new, text)
    return written(text, state.title)


def _note(old: Field, new: Field, text: Source) -> None:
    """Write down what all know of the hand that gets the cards."""
    if new.known and old.sees == "all":
        text.add(f"state.{new.known}[to_seat] |= cards")
    if new.lacks and old.sees != "all":
        text.add(f"state.{new.lacks}[to_seat] = 0")
