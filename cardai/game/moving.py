"""Moving cards between places of a declared state, with what everybody then knows of hands."""

from collections.abc import Callable

from cardai.errors import unknown
from cardai.game.fields import Declaration
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
    if (state.is_wide and not state.copies) or old.shape or new.shape:
        state.refuse(f"move: {source} or {target} has an order or is a wide set; write this rule yourself")
    if old.known and new.sees != "all" and (new.known or new.sees == "nobody" or state.copies):
        state.refuse(
            f"move: a card that goes unseen from {source} to {target} may be one that all know to be in {source};"
            " write this rule yourself, with what they know then"
        )
    is_card = "card" in (old.what, new.what)
    cards = ["card"] if is_card else ["kind", "number"] if state.copies else ["cards"]
    seats = [name for name, field in (("from_seat", old), ("to_seat", new)) if field.each]
    text = Source(f"def move({', '.join(['state', *cards, *seats])}):")
    if is_card:
        text.add("kind, number = card, 1" if state.copies else "cards = single(card)")
    _change(state, source, "from_seat", text, goes=True)
    if old.known:
        _change(state, old.known, "from_seat", text, goes=True)
    _change(state, target, "to_seat", text)
    if new.known and old.sees == "all":
        _change(state, new.known, "to_seat", text)
    if new.lacks and old.sees != "all":
        text.add(f"state.{new.lacks}[to_seat] = 0")
    return written(text, state.title)


def _change(state: Declaration, name: str, seat: str, text: Source, goes: bool = False) -> None:
    """Write that cards come to lie in a field, or that they go: of those that all know, as many as there are."""
    field = state.fields[name]
    at = f"state.{name}[{seat}]" if field.each else f"state.{name}"
    if field.what == "card":
        text.add(f"{at} = NONE" if goes else f"{at} = card")
    elif field.what == "cards":
        text.add(f"{at} &= ~cards" if goes else f"{at} |= cards")
    elif field.is_place or not goes:
        text.add(f"{at}[kind] {'-' if goes else '+'}= number")
    else:
        text.add(f"{at}[kind] = max(0, {at}[kind] - number)")
