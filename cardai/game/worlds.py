"""The rules `resample` and `blank` of a declared state: what a seat cannot see is dealt anew, or written over."""

from collections.abc import Callable, Iterator
from typing import Any

from cardai.game.fields import END, Declaration, Field
from cardai.game.written import Source, written
from cardai.rules.cards import words


def resample(state: Declaration) -> Callable[..., Any]:
    """The rule that deals anew, evenly, what a seat cannot see. Every place keeps its size.

    Known cards stay in their hand, and no hand gets a card that it lacks. Raises CardaiError for slots and orders: what
    may lie there depends on the game.
    """
    places = {name: field for name, field in state.places.items() if field.sees != "all"}
    text = Source("def resample(state, seat, stream):")
    _refuse_own_facts(state, "resample")
    if not places:
        return written(text, state.title)
    if any(field.shape for field in places.values()):
        state.refuse("resample: write this rule yourself; what lies in slots and orders follows from the game's rules")
    if state.copies or state.is_wide or any(field.lacks for field in places.values()):
        _deal_at_once(state, places, text)
    else:
        _deal(state, places, text)
    return written(text, state.title)


def _refuse_own_facts(state: Declaration, rule: str) -> None:
    """Raises CardaiError if there are facts that only a seat knows: where their cards may lie, the rules say."""
    for name, field in state.facts.items():
        if field.sees != "all":
            state.refuse(f"{rule}: write this rule yourself; the game's rules say what state.{name} may be")


def _hidden(name: str, field: Field) -> str:
    """The cards of a place of the seat `other` that the viewer does not see."""
    own = f"state.{name}[other]" if field.each else f"state.{name}"
    if field.what == "card":
        return f"(single({own}) if {own} != NONE else 0)"
    return f"({own} & ~state.{field.known}[other])" if field.known else own


def _open(field: Field) -> str:
    if field.opens == END:
        return " and state.turn >= 0"
    return f" and state.{field.opens} == 0" if field.opens else ""


def _gather(state: Declaration, places: dict[str, Field], text: Source) -> None:
    """Unite all hidden cards in `unseen`."""
    text.add("unseen = 0")
    for name, field in places.items():
        if not field.each:
            text.add(f"unseen |= state.{name}")
            continue
        with text.block("for other in range(state.seats):"), text.block(f"if other != seat{_open(field)}:"):
            text.add(f"unseen |= {_hidden(name, field)}")


def _deal(state: Declaration, places: dict[str, Field], text: Source) -> None:
    """Deal to one place after the other; the last one gets what is left, if it is always hidden."""
    _gather(state, places, text)
    names = list(places)
    for name in names:
        field = places[name]
        if not field.each:
            rest = "unseen" if name == names[-1] else f"some_of(unseen, count(state.{name}), stream)"
            text.add(f"dealt = {rest}", f"state.{name} = dealt", "unseen &= ~dealt")
            continue
        with text.block("for other in range(state.seats):"), text.block(f"if other != seat{_open(field)}:"):
            own = f"state.{name}[other]"
            if field.what == "card":
                with text.block(f"if {own} != NONE:"):
                    text.add(f"{own} = any_of(unseen, stream)", f"unseen &= ~single({own})")
                continue
            number = f"count({own} & ~state.{field.known}[other])" if field.known else f"count({own})"
            text.add(f"dealt = some_of(unseen, {number}, stream)", "unseen &= ~dealt")
            text.add(f"{own} = state.{field.known}[other] & {own} | dealt" if field.known else f"{own} = dealt")


def _deal_at_once(state: Declaration, places: dict[str, Field], text: Source) -> None:
    """Deal to all places at once, a row for each, so that none gets what it lacks.

    What a seat knows is what lies in its own places, in open ones, and what all know.
    """
    if len(places) == 1:
        ((name, field),) = places.items()
        if field.known and field.lacks and not field.opens:
            text.add(f"redeal(state.{name}, state.{field.known}, state.{field.lacks}, seat, stream)")
            return
    rows = [*_rows(state, places)]
    number = sum(state.seats if field.each else 1 for field in places.values())
    shape, whole = (number,), ""
    if state.copies or state.is_wide:
        shape, whole = (number, state.kinds if state.copies else words(state.kinds)), "[:]"
    text.add(*(f"{name} = np.zeros({shape}, np.int64)" for name in ("lie", "known")))
    is_free = bool(state.copies) and not any(field.lacks for field in places.values())
    if not is_free:
        text.add(f"lacks = np.zeros({number}, np.int64)" if state.copies else "lacks = np.zeros_like(lie)")
    for field, loop, own, at in rows:
        with text.block(loop):
            if field.what == "card":
                lay = f"lie[{at}, {own}] = 1" if state.copies else f"lie[{at}] = single({own})"
                with text.block(f"if {own} != NONE:"):
                    text.add(f"add(lie[{at}], {own})" if state.is_wide and not state.copies else lay)
            else:
                text.add(f"lie[{at}] = {own}")
            if field.each:
                known = f"state.{field.known}[other]" if field.known else "0"
                text.add(f"known[{at}] = lie[{at}]")
                with text.block(f"if other != seat{_open(field)}:"):
                    text.add(f"known[{at}] = " + (f"np.minimum({known}, lie[{at}])" if state.copies else known))
            if field.lacks:
                text.add(f"lacks[{at}] = state.{field.lacks}[other]")
    text.add("redeal_freely(lie, known, stream)" if is_free else "redeal(lie, known, lacks, NONE, stream)")
    for field, loop, own, at in rows:
        with text.block(loop), text.block(f"if {own} != NONE:" if field.what == "card" else ""):
            card = f"np.argmax(lie[{at}])" if state.copies else f"lowest(lie[{at}])"
            text.add(f"{own} = {card}" if field.what == "card" else f"{own}{whole} = lie[{at}]")


def _rows(state: Declaration, places: dict[str, Field]) -> Iterator[tuple[Field, str, str, str]]:
    """Each place with the loop over its seats, what lies there and the number of its row, as text."""
    number = 0
    for name, field in places.items():
        if field.each:
            at = f"{number} + other" if number else "other"
            yield field, "for other in range(state.seats):", f"state.{name}[other]", at
        else:
            yield field, "", f"state.{name}", f"{number}"
        number += state.seats if field.each else 1


def weight(state: Declaration) -> Callable[..., Any]:
    """The rule that says how likely counts are: only hidden places without an order matter, and there unknown cards."""
    text = Source("def weight(state):")
    text.add("weight = 1.0")
    for name, field in state.places.items():
        if field.what == "counts" and field.sees != "all":
            places = f"state.{name}" if field.each else f"state.{name}.reshape((1, {state.kinds}))"
            text.add(f"weight *= weight_of({places}" + (f" - state.{field.known})" if field.known else ")"))
    text.add("return weight")
    return written(text, state.title)


def blank(state: Declaration) -> Callable[..., Any]:
    """The rule that writes over what is hidden from a seat: sizes and known cards stay, the rest are low cards.

    Counts are then of the first kind, even more of them than there are.
    """
    text = Source("def blank(state, seat):")
    _refuse_own_facts(state, "blank")
    for name, field in state.places.items():
        if field.sees == "all":
            continue
        if not field.each:
            if field.shape:
                state.refuse("blank: write this rule yourself; the game's rules say what is hidden of an order")
            elif state.is_wide or field.what == "counts":
                text.add(*_blanked(state, field, f"state.{name}", "0"))
            else:  # other cards than those that lie open, which rules may unite with these
                open_ = [one for one, place in state.places.items() if (place.what, place.sees) == ("cards", "all")]
                text.add("seen = 0", *(f"seen |= state.{one}" for one in open_ if not state.fields[one].each))
                text.add(f"state.{name} = filled(seen, count(seen) + count(state.{name})) & ~seen")
            continue
        other = "==" if field.sees == "others" else "!="
        with text.block("for other in range(state.seats):"), text.block(f"if other {other} seat{_open(field)}:"):
            own = f"state.{name}[other]"
            if field.shape:
                with text.block(f"for slot in range({field.shape[0]}):"):
                    text.add(f"{own[:-1]}, slot] = min({own[:-1]}, slot], 0)")
            elif field.what == "card":
                with text.block(f"if {own} != NONE:"):
                    text.add(f"{own} = int(state.{name}[seat] == 0)")
            else:
                text.add(*_blanked(state, field, own, f"state.{field.known}[other]" if field.known else "0"))
    return written(text, state.title)


def _blanked(state: Declaration, field: Field, place: str, known: str) -> list[str]:
    if field.what == "counts":
        kept = f"np.minimum({known}, {place})"
        return [f"size = np.sum({place})", f"{place}[:] = {kept}", f"{place}[0] += size - np.sum({place})"]
    if not state.is_wide:
        return [f"{place} = filled({known}, count({place}))"]
    kept = f"{known}.copy()" if known != "0" else f"np.zeros_like({place})"
    return [f"{place}[:] = filled({kept}, count({place}))"]
