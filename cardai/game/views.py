"""What a seat sees of a declared state: numbers for networks, text, places on a table, and sets of cards."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cardai.game import Segment, Zone, listed_pieces
from cardai.game.fields import END, NONE, Declaration, Field
from cardai.game.written import Source, sized, written
from cardai.rules.cards import Deck, as_int

# As numbers


def encoder(
    state: Declaration,
) -> tuple[Callable[[int], tuple[Segment, ...]], Callable[..., None], Callable[[Segment], bool]]:
    """The layout and the rule of the encoder: own hand, other hands as far as they are seen, places, facts, the turn.

    Third, which segments have a value for each suit along their last axis.

    Everything that is said of seats begins with the own seat and goes on clockwise.
    """
    text, parts = Source("def encode(state, seat, row):"), list[_Part]()
    text.add("at = 0")
    for name, field in state.places.items():
        if field.sees in ("own", "others"):
            _encode_hands(state, name, field, text, parts)
        elif field.sees == "nobody" and field.high:
            continue  # its size says nothing
        elif field.sees == "nobody":
            text.add(f"row[at] = {sized(field, f'state.{name}')}", "at += 1")
            parts.append(_Part(f"{state.label(name).lower()} size"))
        else:
            _encode_open(state, name, field, text, parts)
    for name, field in state.facts.items():
        if field.sees == "all":
            _encode_open(state, name, field, text, parts)
        else:
            _put(state, field, name, "seat", text)
            shape = _shape_of(state, field)[0]
            label = f"own {state.label(name).lower()}"
            parts.append(_Part(label, (*field.shape, *shape), what=field.what))
    with text.block("if state.turn >= 0:"):
        text.add("row[at + (state.turn - seat) % state.seats] = 1")
    parts.append(_Part("to move", by_seat=True))

    def layout(seats: int) -> tuple[Segment, ...]:
        return tuple(segment for part in parts for segment in part.segments(seats))

    def by_suit(segment: Segment) -> bool:
        return segment.name.partition(": seat +")[0] in of_suits

    kinds = {"suit", "card", "cards", "counts"} if len(_shape_of_cards(state)) > 1 else {"suit"}
    of_suits = {part.name for part in parts if part.what in kinds}
    return layout, written(text, state.title), by_suit


class _Part:
    """Segments of a layout. `each`: one for each seat from `first` on. `by_seat`: with a value for each seat.

    `what`: what its values are of, see `Field`.
    """

    def __init__(
        self,
        name: str,
        shape: tuple[int, ...] = (),
        each: bool = False,
        first: int = 0,
        by_seat: bool = False,
        what: str = "",
    ) -> None:
        self.name, self.shape, self.each, self.first, self.by_seat = name, shape, each, first, by_seat
        self.what = what

    def segments(self, seats: int) -> Iterator[Segment]:
        """The segments at a table of so many seats."""
        shape = (*self.shape, seats) if self.by_seat else self.shape
        for step in range(self.first, seats if self.each else self.first + 1):
            yield Segment(f"{self.name}: seat +{step}" if self.each else self.name, shape)


def _shape_of_cards(state: Declaration) -> tuple[int, ...]:
    deck = state.deck
    is_grid = not deck.others and deck.packs == 1
    return (len(deck.ranks), len(deck.suits)) if is_grid else (deck.size,)


def _encode_hands(state: Declaration, name: str, field: Field, text: Source, parts: list[_Part]) -> None:
    label, cards = state.label(name).lower(), _shape_of_cards(state)
    other = "(seat + step) % state.seats"
    if field.sees == "others":
        with text.block("for step in range(1, state.seats):"):
            _put(state, field, name, other, text)
        parts.append(_Part(label, (*field.shape, *cards), each=True, first=1, what="cards"))
        return
    _put(state, field, name, "seat", text)
    parts.append(_Part(f"own {label}", cards, what="cards"))
    if field.known:
        with text.block("for step in range(state.seats):"):
            _put(state, state.fields[field.known], field.known, other, text)
        parts.append(_Part(f"{label} as all know it", cards, each=True, what="cards"))
    if field.opens not in ("", END):  # nobody chooses by what is seen at the end
        with text.block("for step in range(1, state.seats):"):
            with text.block(f"if state.{field.opens} != 0:"):
                _put(state, field, name, other, text)
            with text.block("else:"):
                text.add(f"at += {state.kinds}")
        parts.append(_Part(f"{label} shown", cards, each=True, first=1, what="cards"))
    if field.lacks:
        with text.block("for step in range(state.seats):"):
            _put(state, state.fields[field.lacks], field.lacks, other, text)
        parts.append(_Part(f"{label} lacks", cards, each=True, what="cards"))
    if field.what != "card" and not field.high:
        with text.block("for step in range(state.seats):"):
            text.add(f"row[at + step] = {sized(field, f'state.{name}[{other}]')}")
        text.add("at += state.seats")
        parts.append(_Part(f"{label} sizes", by_seat=True))


def _encode_open(state: Declaration, name: str, field: Field, text: Source, parts: list[_Part]) -> None:
    """A field that all see."""
    with text.block("for step in range(state.seats):" if field.each else ""):
        _put(state, field, name, "(seat + step) % state.seats", text)
    shape, by_seat = _shape_of(state, field)
    label = state.label(name).lower()
    parts.append(_Part(label, (*field.shape, *shape), each=field.each, by_seat=by_seat, what=field.what))


def _shape_of(state: Declaration, field: Field) -> tuple[tuple[int, ...], bool]:
    """The shape of one value of a field, and whether it has a value for each seat."""
    if field.what in ("cards", "card", "counts"):
        return _shape_of_cards(state), False
    deck = state.deck
    numbers = {"suit": len(deck.suits), "rank": len(deck.ranks), "word": len(field.words)}
    if field.what in numbers:
        return (numbers[field.what],), False
    return (), field.what in ("seat", "seats")


def _put(state: Declaration, field: Field, name: str, seat: str, text: Source) -> None:
    """Write the values of a field from `at` on. `seat`: whose, if there is one for each seat."""
    axes = [f"i{axis}" for axis in range(len(field.shape))]
    indices = [seat, *axes] if field.each else axes
    value = f"state.{name}[{', '.join(indices)}]" if indices else f"state.{name}"
    depth = text.depth
    for axis, size in zip(axes, field.shape, strict=True):
        text.add(f"for {axis} in range({size}):")
        text.depth += 1
    if field.what == "cards":
        text.add(f"at = put(row, at, {value}, {state.kinds})")
    elif field.what == "counts":
        with text.block(f"for kind in range({state.kinds}):"):
            text.add(f"row[at + kind] = state.{name}[{', '.join([*indices, 'kind'])}]")
        text.add(f"at += {state.kinds}")
    elif field.what == "number":
        text.add(f"row[at] = {value}" + (f" - {field.low}" if field.low else ""), "at += 1")
    elif field.what == "seats":
        with text.block("for further in range(state.seats):"):
            text.add(f"row[at + further] = ({value} >> ((seat + further) % state.seats)) & 1")
        text.add("at += state.seats")
    else:
        (shape, by_seat) = _shape_of(state, field)
        with text.block(f"if {value} != NONE:"):
            text.add(f"row[at + ({value} - seat) % state.seats] = 1" if by_seat else f"row[at + {value}] = 1")
        text.add(f"at += {'state.seats' if by_seat else int(np.prod(shape))}")
    text.depth = depth


# As sets of cards


def holdings(state: Declaration) -> Callable[[Any], list[Any]]:
    """The function that lists the cards in each place: sets, or counts in a game whose cards are alike."""
    places = state.places

    def held(record: Any) -> list[Any]:
        seats, found = int(record.seats), list[Any]()
        for name, field in places.items():
            is_row = (field.each and field.sees != "all") or (field.sees == "nobody" and bool(field.shape))
            rows = record[name][: seats if field.each else None] if is_row else [record[name]]
            found += [_held(state, field, row, seats) for row in rows]
        return found

    return held


def _held(state: Declaration, field: Field, row: Any, seats: int) -> Any:
    if field.what != "card":
        return _together(field, row, seats)
    cards = [int(one) for one in np.ravel(row[:seats] if field.each and field.sees == "all" else row) if one != NONE]
    if state.copies:
        return np.bincount(np.array(cards, int), minlength=state.kinds)
    return _union(1 << one for one in cards)


def _together(field: Field, value: Any, seats: int) -> Any:
    """What lies in a place, or in those of all seats if all see them: a set, an int, or counts."""
    rows = value[:seats] if field.each and field.sees == "all" else [value]
    return np.sum(rows, axis=0) if field.what == "counts" else _union(as_int(one) for one in rows)


def _union(sets: Iterator[int]) -> int:
    found = 0
    for one in sets:
        found |= one
    return found


# For people


def said(state: Declaration, field: Field, value: Any) -> str:
    """A value of a field in words."""
    deck = state.deck
    if field.what == "cards" and field.shape:
        return " ".join(_brief(deck, deck.listed(one)) for one in value if one) or "none"
    if field.what == "cards":
        return deck.names(value) or "none"
    if field.what == "counts":
        return " ".join(deck.name(kind) for kind in _listed(field, value)) or "none"
    if np.ndim(value):
        words = (said(state, field, one) for one in value)
        return ("; " if np.ndim(value) > 1 else " ").join(one for one in words if one != "none") or "none"
    if field.what == "seats":
        return " ".join(f"p{seat}" for seat in range(state.seats) if int(value) >> seat & 1) or "none"
    number = int(value)
    if field.what == "number":
        return str(number)
    if number == NONE:
        return "none"
    names: dict[str, Sequence[str]] = {
        "card": deck.all_names,
        "suit": deck.suit_words,
        "rank": deck.ranks,
        "word": field.words,
    }
    return f"p{number}" if field.what == "seat" else names[field.what][number] or "none"


def _brief(deck: Deck, cards: list[int]) -> str:
    """What a card may be: ranks and suits if all cards of both are among them ("RY45"), with "?" for any."""
    ranks, suits = {card // len(deck.suits) for card in cards}, {card % len(deck.suits) for card in cards}
    if len(ranks) * len(suits) != len(cards):
        return "/".join(deck.name(card) for card in cards)
    return "".join(
        "?" if len(those) == len(names) else "".join(names[one] for one in sorted(those))
        for those, names in ((ranks, deck.ranks), (suits, deck.suits))
    )


def _of_seat(state: Declaration, record: Any, seat: int) -> list[str]:
    """What all know of a seat, beside its cards."""
    found = []
    for name, field in state.facts.items():
        value = record[name]
        if field.sees != "all" or (field.what == "number" and not field.each):
            continue
        if field.says:
            holds = (
                {"seat": value == seat, "seats": int(value) >> seat & 1}.get(field.what)
                if not field.each
                else value[seat]
            )
            found += [field.says] if holds else []
        elif field.each:
            words = said(state, field, value[seat])
            label = state.label(name)
            if words != "none":
                found.append(f"{label} {words}")
    if "sealed" in (state.dtype.names or ()) and record["sealed"][seat][0]:  # kept by the core, see `Rules.together`
        found.append("has chosen")
    return found


def _lacking(state: Declaration, lacks: int) -> list[str]:
    """What a hand cannot hold: whole suits by their names, and other cards."""
    deck, found, rest = state.deck, [], lacks
    for number, name in enumerate(deck.suits):
        of_suit = _union(1 << card for card in range(number, len(deck.suits) * len(deck.ranks), len(deck.suits)))
        if deck.packs == 1 and lacks & of_suit == of_suit:
            found, rest = [*found, name], rest & ~of_suit
    words = [f"has no {' '.join(found)}"] if found else []
    return words + ([f"has none of {deck.names(rest)}"] if rest else [])


def _listed(field: Field, own: Any) -> list[int]:
    """The cards that lie in a place: those of a set or of counts from the lowest on, others in their order."""
    if field.what == "cards":
        return listed_pieces(as_int(own))
    if field.what == "counts":
        return np.repeat(np.arange(len(own)), own).tolist()
    return [int(one) for one in np.ravel(own) if one != NONE]


def _seen_of(field: Field, record: Any, other: int, seat: int, name: str) -> list[int]:
    """The cards in the hand of `other` that `seat` knows to be there."""
    own = record[name][other]
    is_seen = other == seat if field.sees == "own" else other != seat
    if is_seen or (record["turn"] < 0 if field.opens == END else field.opens and record[field.opens]):
        return _listed(field, own)
    if not field.known:
        return []
    known = record[field.known][other]
    return _listed(field, np.minimum(known, own) if field.what == "counts" else as_int(known) & as_int(own))


def _cards(number: int) -> str:
    return f"{number} card{'s' * (number != 1)}"


def _titled(state: Declaration, name: str) -> str:
    label = state.label(name)
    return label[:1].upper() + label[1:]


def _is_top(state: Declaration, name: str) -> bool:
    return any(field.top == name for field in state.places.values())


def hand_zone(state: Declaration, name: str, record: Any, other: int, seat: int, note: str) -> Zone:
    """The place in which the cards of `other` lie, as `seat` sees it."""
    field = state.fields[name]
    shown = _seen_of(field, record, other, seat, name)
    hidden = len(_listed(field, record[name][other])) - len(shown)
    return Zone(_titled(state, name), shown, hidden, seat=other, look=field.look, note=note)


def zones(state: Declaration) -> Callable[[Any, int], list[Zone]]:
    """The function that lists the places on the table as a seat sees them."""

    def seen(record: Any, seat: int) -> list[Zone]:
        seats, found = range(int(record.seats)), list[Zone]()
        noted = False
        for name, field in state.places.items():
            label = _titled(state, name)
            if field.sees in ("own", "others"):
                for other in seats:
                    note = "" if noted else ", ".join(_of_seat(state, record, other))
                    found.append(hand_zone(state, name, record, other, seat, note))
                noted = True
            elif field.sees == "nobody":
                found.append(Zone(label, hidden=len(_listed(field, record[name])), look=field.look))
            elif not _is_top(state, name):
                found.append(_lying(state, name, field, record, label))
        shared = next((place for place, zone in enumerate(found) if zone.seat is None), None)
        if shared is not None:
            found[shared] = replace(found[shared], note=", ".join(_noted(state, record)))
        if not found or not noted:
            found += [Zone("", seat=other, note=", ".join(_of_seat(state, record, other))) for other in seats]
        return found

    return seen


def _noted(state: Declaration, record: Any) -> list[str]:
    """What a page says of the game beside its cards: suits, ranks, words and numbers."""
    facts = {
        name: said(state, field, record[name])
        for name, field in state.facts.items()
        if field.what in ("suit", "rank", "word", "number") and not (field.each or field.shape or field.is_option)
    }
    flags = {name for name, field in state.facts.items() if field.is_flag}
    return [f"{state.label(name)} {words}" for name, words in facts.items() if words != "none" and name not in flags]


def _lying(state: Declaration, name: str, field: Field, record: Any, label: str) -> Zone:
    """A place that all see."""
    if field.top:
        top = int(record[field.top])
        return Zone(label, [] if top == NONE else [top], len(_listed(field, record[name])), look=field.look)
    if field.what == "cards":
        return Zone(label, _together(field, record[name], int(record.seats)), look=field.look)
    if field.what == "counts":
        counts = _together(field, record[name], int(record.seats))
        marks = {kind: f"{number} x" for kind, number in enumerate(counts.tolist()) if number > 1}
        return Zone(label, np.flatnonzero(counts).tolist(), look=field.look, marks=marks)
    lie = np.atleast_1d(record[name])[: int(record.seats)] if field.each else np.ravel(record[name])
    placed = {int(one): f"p{place}" for place, one in enumerate(lie) if one != NONE}
    return Zone(label, list(placed), look=field.look, marks=placed if field.each else {})


def show(state: Declaration, variant: Mapping[str, int]) -> Callable[[Any, int], str]:
    """The function that says a position in words, as a seat sees it. It says options that are not as in `variant`."""

    def seen(record: Any, seat: int) -> str:
        lines = []
        for name, field in state.places.items():
            label = _titled(state, name)
            if field.sees == "nobody":
                lines.append(f"{label}: {_cards(len(_listed(field, record[name])))}.")
            elif field.sees == "all":
                value = record[name][: int(record.seats)] if field.each else record[name]
                if field.each:
                    value = [(place, one) for place, one in enumerate(value) if said(state, field, one) != "none"]
                    words = ", ".join(f"p{place} {said(state, field, one)}" for place, one in value) or "none"
                else:
                    words = said(state, field, value)
                lines.append(f"{label}: {words}.")
        for name, field in state.facts.items():
            is_usual = field.is_option and record[name] == variant.get(name, 0)
            words = said(state, field, record[name]) if not field.each and not is_usual else "none"
            if field.is_flag and not field.each:
                lines += [f"{(field.says or state.label(name)).capitalize()}."] if record[name] else []
            elif not field.says and words != "none":
                lines.append(f"{_titled(state, name)}: {words}.")
        hands = {name: field for name, field in state.places.items() if field.sees in ("own", "others")}
        for other in range(int(record.seats)):
            words = []
            for name, field in hands.items():
                if field.sees == "others" and other != seat:
                    words.append(f"holds {said(state, field, record[name][other])}")
                    continue
                size = len(_listed(field, record[name][other]))
                words.append(_cards(size))
                known = _seen_of(field, record, other, seat, name) if other != seat else []
                words += [f"holds {' '.join(map(state.deck.name, known))}"] if known else []
                if field.lacks and size:
                    words += _lacking(state, as_int(record[field.lacks][other]))
            lines.append(f"p{other}{' (you)' * (other == seat)}: {', '.join(words + _of_seat(state, record, other))}.")
        for name, field in hands.items():
            if field.sees == "own":
                one = field.what == "card"
                mine = said(state, field, record[name][seat])
                lines.append(f"Your {'card' if one else state.label(name).lower()}: {mine}.")
        for name, field in state.facts.items():
            if field.sees == "own" and np.any(record[name][seat]):
                lines.append(f"Your {state.label(name).lower()}: {said(state, field, record[name][seat])}.")
        return "\n".join(lines)

    return seen
