"""Settings: one frozen value, from a TOML file, from flags or from Python, that is kept as TOML.

    @dataclass(frozen=True)
    class Walk:
        called: ClassVar[str] = "walk"
        steps: int = setting("How many steps.", span=(1, 1000), default=10)

        def __post_init__(self) -> None:
            check(self)

    walk = read(Walk, "walk.toml", {"steps": "20"})

Everything that is known of a field lies at the field: its line of help, what it may be, whether a run may go on when it
has changed. The TOML file, `--help`, error messages and the documentation are made from that.
"""

import dataclasses
import hashlib
import json
import math
import tomllib
import types
import typing
from collections.abc import Collection, Mapping
from dataclasses import MISSING, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from cardai.data.files import write_text
from cardai.errors import CardaiError, unknown

T = TypeVar("T")

_KEY = "setting"


@dataclass(frozen=True)
class About:
    """What is known of a field.

    `line`: what it is, in a sentence. `choices`: the texts it may be; `span`: the least and the greatest number.
    `is_run`: whether a run with another value is another run. `inside`: of a table, the settings it holds some of,
    those that are not in `without`.
    """

    line: str
    choices: tuple[str, ...] = ()
    span: tuple[float, float] | None = None
    is_run: bool = True
    inside: Any = None
    without: Collection[str] = ()


def setting(
    line: str,
    *,
    choices: tuple[str, ...] = (),
    span: tuple[float, float] | None = None,
    is_run: bool = True,
    inside: Any = None,
    without: Collection[str] = (),
    **default: Any,
) -> Any:
    """A field of settings, see `About`; `default` or `default_factory` as for any field of a dataclass."""
    return field(metadata={_KEY: About(line, choices, span, is_run, inside, without)}, **default)


def about(kind: Any, name: str) -> About:
    """What is known of the field of that name."""
    return of(next(one for one in dataclasses.fields(kind) if one.name == name))


def of(one: "dataclasses.Field[Any]") -> About:
    """What is known of a field."""
    return one.metadata[_KEY]


def names(kind: Any) -> list[str]:
    """The names of all fields."""
    return [one.name for one in dataclasses.fields(kind)]


def is_table(one: "dataclasses.Field[Any]") -> bool:
    """Whether a field holds names and values."""
    return typing.get_origin(one.type) is Mapping


def check(settings: Any) -> None:
    """Bring every field of settings under construction to its type. Raises CardaiError for what it cannot be."""
    for one in dataclasses.fields(settings):
        kept = _typed(one, getattr(settings, one.name))
        object.__setattr__(settings, one.name, kept)
        _refuse_outside(one, kept)


def read(kind: type[T], path: str | Path | None = None, overrides: Mapping[str, Any] | None = None) -> T:
    """Settings from a TOML file, its fields replaced by those of `overrides` that are not None.

    Overrides may be text as a command line has it ("3e-4", "[256, 128]"); tables are merged key by key. Raises
    CardaiError for what does not fit.
    """
    fields = {one.name: one for one in dataclasses.fields(typing.cast(Any, kind))}
    values = _read_toml(kind, Path(path)) if path is not None else {}
    for name, value in (overrides or {}).items():
        if value is None:
            continue
        _refuse_unknown(kind, name)
        values[name] = _given(fields[name], values.get(name), value)
    missing = [
        name
        for name, one in fields.items()
        if name not in values and one.default is MISSING and one.default_factory is MISSING
    ]
    if missing:
        where = path if path is not None else f"the {_called(kind)}"
        raise CardaiError(f"{where} must say {' and '.join(missing)}: {about(kind, missing[0]).line}")
    return kind(**values)


def write(settings: Any, path: str | Path) -> None:
    """Keep settings as TOML, each field with its line of help. Raises CardaiError when they cannot be written."""
    write_text(Path(path), as_toml(settings))


def as_toml(settings: Any) -> str:
    """Settings as TOML text that `read` reads back; fields that are None are left out."""
    lines, tables = [], []
    for one in dataclasses.fields(settings):
        value, known = getattr(settings, one.name), of(one)
        if is_table(one):
            tables += ["", f"[{one.name}]  # {known.line}", *(_said(key, value[key], known.inside) for key in value)]
        else:
            lines.append(_said(one.name, value, type(settings)))
    return "\n".join(lines + tables) + "\n"


def as_plain(settings: Any) -> dict[str, Any]:
    """Settings as plain JSON types."""
    return json.loads(json.dumps(dataclasses.asdict(settings), default=dict))


def identity(settings: Any) -> dict[str, Any]:
    """The fields that a run must keep from its start to its end, as plain JSON types."""
    kept = {name: value for name, value in as_plain(settings).items() if about(settings, name).is_run}
    for name in kept:
        if inside := about(settings, name).inside:
            kept[name] = {key: value for key, value in kept[name].items() if about(inside, key).is_run}
    return kept


def fingerprint(settings: Any) -> str:
    """A hash of `identity`."""
    text = json.dumps(identity(settings), sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def difference(one: Any, other: Any) -> str:
    """The fields in which settings of one kind are different runs, in words; empty when there is none."""
    first, second = identity(one), identity(other)
    return " and ".join(_differences(first, second))


def literal(value: Any) -> str:
    """A value as TOML has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(literal(item) for item in value)}]"
    if isinstance(value, Mapping):
        said = (f"{_key(key)} = {literal(item)}" for key, item in value.items() if item is not None)
        return f"{{{', '.join(said)}}}"
    raise CardaiError(
        f"a setting cannot be {value!r}: it is neither a number, a text, true or false, nor a list of them"
    )


def _differences(first: Mapping[str, Any], second: Mapping[str, Any], inside: str = "") -> list[str]:
    found = []
    for name in dict.fromkeys([*first, *second]):
        one, other = first.get(name), second.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            found += _differences(one, other, f"{inside}{name}.")
        elif one != other:
            found.append(f"{inside}{name} {one!r}, not {other!r}")
    return found


def _said(name: str, value: Any, kind: Any) -> str:
    """A line of a TOML file, with the line of help where the kind of settings is known."""
    said = f"{_key(name)} = {literal(value)}" if value is not None else f"# {_key(name)} ="
    return f"{said}  # {about(kind, name).line}" if kind else said


def _key(name: str) -> str:
    bare = name.replace("_", "a").replace("-", "a")
    return name if bare.isascii() and bare.isalnum() else json.dumps(name, ensure_ascii=False)


def _read_toml(kind: Any, place: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(place.read_text("utf-8"))
    except OSError as error:
        raise CardaiError(f"cannot read {place}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CardaiError(f"{place} is not TOML: {error}") from None
    for name in values:
        try:
            _refuse_unknown(kind, name)
        except CardaiError as error:
            raise CardaiError(f"{place}: {error}") from None
    return values


def _called(kind: Any) -> str:
    return kind.called


def _refuse_unknown(kind: Any, name: str) -> None:
    if name not in (known := names(kind)):
        raise CardaiError(f"{_called(kind)}: {unknown('field', name, known)}")


def _refuse_outside(one: "dataclasses.Field[Any]", value: Any) -> None:
    known = of(one)
    if known.choices and value not in known.choices:
        raise CardaiError(f"{one.name}: {unknown('choice', value, known.choices)}")
    if known.span and value is not None:
        low, high = known.span
        if not low <= value <= high:
            raise CardaiError(f"{one.name} must be {low:g} to {high:g}, not {value}")


def _given(one: "dataclasses.Field[Any]", before: Any, value: Any) -> Any:
    """A field's value by an override, which may be text; that of a table is merged into what was there before."""
    if is_table(one):
        return _merged(_typed(one, {} if before is None else before), _typed(one, value))
    return _from_text(one.type, value) if isinstance(value, str) else value


def _merged(before: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(before)
    for key, value in given.items():
        if isinstance(value, Mapping):
            inside = merged.get(key)
            merged[key] = _merged(inside if isinstance(inside, Mapping) else {}, value)
        elif value is not None:
            merged[key] = _from_literal(value) if isinstance(value, str) else value
    return merged


def _typed(one: "dataclasses.Field[Any]", value: Any) -> Any:
    """A value as its field holds it: lists become tuples, whole numbers floats where those are meant. CardaiError."""
    wanted: Any = one.type
    alternatives = typing.get_args(wanted) if isinstance(wanted, types.UnionType) else (wanted,)
    for kind in alternatives:
        found = _as_kind(kind, value)
        if found is not _NOT:
            return found
    raise CardaiError(f"{one.name} must be {_words(alternatives[0])}, not {value!r}")


_NOT = object()


def _as_kind(kind: Any, value: Any) -> Any:
    if kind is types.NoneType:
        return None if value is None else _NOT
    if typing.get_origin(kind) is tuple:
        return _as_tuple(typing.get_args(kind), value)
    if typing.get_origin(kind) is Mapping:
        return dict(value) if isinstance(value, Mapping) and all(isinstance(key, str) for key in value) else _NOT
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind or (kind is float and not math.isfinite(value)):
        return _NOT
    return value


def _as_tuple(kinds: tuple[Any, ...], value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return _NOT
    each = (kinds[0],) * len(value) if kinds[-1] is Ellipsis else kinds
    found = tuple(_as_kind(kind, item) for kind, item in zip(each, value, strict=False))
    return found if len(found) == len(value) == len(each) and _NOT not in found else _NOT


def _words(kind: Any) -> str:
    if typing.get_origin(kind) is tuple:
        kinds = typing.get_args(kind)
        return "a list of texts" if kinds[-1] is Ellipsis else f"{len(kinds)} numbers"
    if typing.get_origin(kind) is Mapping:
        return "a table of names and values"
    return {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}[kind]


def _from_text(wanted: Any, text: str) -> Any:
    """A field's value from a command line: plain text for fields that hold text, otherwise as TOML has it."""
    if typing.get_origin(wanted) is tuple:
        return tuple(text.split(",")) if str in typing.get_args(wanted) else _from_literal(text)
    return text if str in (wanted, *typing.get_args(wanted)) else _from_literal(text)


def _from_literal(text: str) -> Any:
    """A text as TOML reads a value: 3, 0.5, true, [1, 2]; whatever is none of these stays text."""
    try:
        found = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return found["value"] if list(found) == ["value"] else text
