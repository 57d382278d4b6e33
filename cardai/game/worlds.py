"""The rules `resample` and `blank` of a declared state: what a seat cannot see is dealt anew, or written over."""

from collections.abc import Callable
from typing import Any

from cardai.game.fields import END, Declaration, Field
from cardai.game.written import Source, written


def resample(state: Declaration) -> Callable[..., Any]:
    """The rule that deals anew, evenly, what a seat cannot see. Every place keeps its size.

    Known cards stay in their hand, and no hand gets a card that it lacks. Raises CardaiError for slots and counts: what
    may lie there depends on the game.
    """
    places = {name: field for name, field in state.places.items() if field.sees != "all"}
    text = Source("def resample(state, seat, stream):")
    _refuse_own_facts(state, "resample")
    if not places:
        return written(text, state.title)
    if any(field.what == "counts" or field.shape for field in places.values()):
        state.refuse("resample: write this rule yourself; what lies in slots and counts follows from the game's rules")
    if state.is_wide or any(field.lacks for field in places.values()):
        _deal_with_bans(state, places, text)
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


def _deal_with_bans(state: Declaration, places: dict[str, Field], text: Source) -> None:
    """Deal to all places at once, so that none gets what it cannot hold."""
    if state.is_wide or any(field.what == "card" for field in places.values()):
        state.refuse(
            "resample: write this rule yourself, with cardai.dealing: here sets are wide, or single cards banned"
        )
    if len(places) == 1:
        ((name, field),) = places.items()
        if field.known and not field.opens:
            text.add(f"redeal(state.{name}, state.{field.known}, state.{field.lacks}, seat, stream)")
            return
    first, number = {}, 0
    for name, field in places.items():
        first[name] = number
        number += state.seats if field.each else 1
    text.add(*(f"{name} = np.zeros({number}, np.int64)" for name in ("sizes", "banned", "dealt")))
    text.add("unseen = 0")
    for name, field in places.items():
        if not field.each:
            text.add(f"unseen |= state.{name}", f"sizes[{first[name]}] = count(state.{name})")
            continue
        with text.block("for other in range(state.seats):"), text.block(f"if other != seat{_open(field)}:"):
            text.add(f"hidden = {_hidden(name, field)}", "unseen |= hidden")
            text.add(f"sizes[{first[name]} + other] = count(hidden)", f"state.{name}[other] &= ~hidden")
            if field.lacks:
                text.add(f"banned[{first[name]} + other] = state.{field.lacks}[other]")
    text.add("deal_hidden(unseen, sizes, banned, dealt, stream)")
    for name, field in places.items():
        if not field.each:
            text.add(f"state.{name} = dealt[{first[name]}]")
            continue
        with text.block("for other in range(state.seats):"):
            text.add(f"state.{name}[other] |= dealt[{first[name]} + other]")


def blank(state: Declaration) -> Callable[..., Any]:
    """The rule that writes over what is hidden from a seat: sizes and known cards stay, the rest are low cards."""
    text = Source("def blank(state, seat):")
    _refuse_own_facts(state, "blank")
    for name, field in state.places.items():
        if field.sees == "all":
            continue
        if not field.each:
            if field.what == "counts":
                text.add(f"size = np.sum(state.{name})", f"state.{name}[:] = 0", f"state.{name}[0] = size")
            elif field.shape:
                state.refuse("blank: write this rule yourself; the game's rules say what is hidden of an order")
            elif state.is_wide:
                text.add(*_blanked(state, f"state.{name}", "0"))
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
                    text.add(f"{own} = lowest(~single(state.{name}[seat]))")
            else:
                text.add(*_blanked(state, own, f"state.{field.known}[other]" if field.known else "0"))
    return written(text, state.title)


def _blanked(state: Declaration, place: str, known: str) -> list[str]:
    if not state.is_wide:
        return [f"{place} = filled({known}, count({place}))"]
    kept = f"{known}.copy()" if known != "0" else f"np.zeros_like({place})"
    return [f"{place}[:] = filled({kept}, count({place}))"]
