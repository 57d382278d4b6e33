"""Settings: frozen dataclasses whose values come from a TOML file, from flags or from Python, and are saved as TOML.

    @dataclass(frozen=True)
    class Walk:
        called: ClassVar[str] = "walk"
        steps: int = setting("How many steps.", span=(1, 1000), default=10)

        def __post_init__(self) -> None:
            check(self)

    walk = read(Walk, "walk.toml", {"steps": "20"})

Each field may carry its own description (see `SettingInfo`): its line of help, its allowed values, and whether a run
can be continued after the value has changed. The TOML file, `--help`, error messages and the documentation use it.
A field may be a number, a text, a day, a list or a table of these, or another such dataclass, which a table gives.
In this module `kind` is a class of settings, such as `Walk`, or an instance of one.
"""

import contextlib
import dataclasses
import hashlib
import json
import math
import types
import typing
from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from cardai.errors import CardaiError, short, unknown
from cardai.files.reading import parse_toml, read_toml
from cardai.files.writing import held, write_text

T = TypeVar("T")

_KEY = "setting"


@dataclass(frozen=True)
class SettingInfo:
    """The description of a field.

    - `line`: one line of help; empty if there is none.
    - `choices`: the texts that are allowed; if empty, any.
    - `span`: the least and the greatest number that are allowed; None sets no limits.
    - `is_run`: whether the value is part of a run's identity, so that a run cannot be continued with another value.
    - `inside`: for a table, the class of settings whose fields it may hold; None if it may hold any names.
    - `without`: the fields of `inside` that the table may not hold.
    """

    line: str = ""
    choices: tuple[str, ...] = ()
    span: tuple[float, float] | None = None
    is_run: bool = True
    inside: Any = None
    without: Collection[str] = ()


def setting(
    line: str = "",
    *,
    choices: tuple[str, ...] = (),
    span: tuple[float, float] | None = None,
    is_run: bool = True,
    inside: Any = None,
    without: Collection[str] = (),
    **default: Any,
) -> Any:
    """Return a dataclass field with its description, see `SettingInfo`.

    `default`: `default=` or `default_factory=`, as for any dataclass field.
    """
    return field(metadata={_KEY: SettingInfo(line, choices, span, is_run, inside, without)}, **default)


def about(kind: Any, name: str) -> SettingInfo:
    """Return the description of the field with this name."""
    return of(_fields(kind)[name])


def of(entry: "dataclasses.Field[Any]") -> SettingInfo:
    """Return the description of a field."""
    return entry.metadata.get(_KEY, SettingInfo())


def names(kind: Any) -> list[str]:
    """Return the names of all fields."""
    return list(_fields(kind))


def is_table(entry: "dataclasses.Field[Any]") -> bool:
    """Return whether a field is a table: a mapping of names to values."""
    return typing.get_origin(entry.type) is Mapping


def check(settings: Any) -> None:
    """Convert each field of settings to its type, in place; call this in `__post_init__`.

    Raises CardaiError if a value has the wrong type or is not allowed.
    """
    for entry in dataclasses.fields(settings):
        value = _converted(entry, getattr(settings, entry.name))
        object.__setattr__(settings, entry.name, value)
        _refuse_outside(entry, value)


def read(kind: type[T], path: str | Path | None = None, overrides: Mapping[str, Any] | None = None) -> T:
    """Return settings from a TOML file; values of `overrides` that are not None replace the file's.

    Values of `overrides` may be text from a command line ("3e-4", "[256, 128]"). Tables are merged key by key. Raises
    CardaiError if the file cannot be read, a field is unknown or missing, or a value is not allowed.
    """
    fields, values = _fields(kind), {} if path is None else read_toml(path)
    _refuse_unknown(kind, values, f"{path}: ")
    given = {name: value for name, value in (overrides or {}).items() if value is not None}
    _refuse_unknown(kind, given)
    values |= {name: _overridden(fields[name], values.get(name), value) for name, value in given.items()}
    return made(kind, values, str(path or ""))


def made(kind: type[T], values: Mapping[str, Any], where: str = "") -> T:
    """Return settings with these values, converted to the types of their fields. `where`: what messages call them.

    Raises CardaiError if a field is unknown or missing, or if a value has the wrong type or is not allowed.
    """
    fields = _fields(kind)
    _refuse_unknown(kind, values)
    missing = [
        name
        for name, entry in fields.items()
        if name not in values and entry.default is MISSING and entry.default_factory is MISSING
    ]
    if missing:
        called = where or (f"the {_title(kind)}" if _title(kind) else "it")
        line = about(kind, missing[0]).line
        raise CardaiError(f"{called} must have {' and '.join(missing)}{line and f': {line}'}")
    converted = {name: _converted(fields[name], value) for name, value in values.items()}
    for name, value in converted.items():
        _refuse_outside(fields[name], value)
    return kind(**converted)


def write(settings: Any, path: str | Path) -> None:
    """Write settings to a TOML file, each field with its line of help. Raises CardaiError if that fails."""
    write_text(Path(path), as_toml(settings))


@contextlib.contextmanager
def claimed(settings: Any, name: str, content: str) -> Iterator[Path]:
    """Make the folder `settings.out` of a run, hold it for this process and write the settings to its file `name`.

    Raises CardaiError unless it is new or empty, or holds this very run and no other process continues it. `content`:
    what is in such a folder, in words.
    """
    folder = Path(settings.out)
    place = folder / name
    with contextlib.ExitStack() as stack:
        try:
            if place.exists():
                changed = difference(read(type(settings), place), settings)
                if changed:
                    raise CardaiError(f"{folder} holds another run, with {changed}; choose another folder")
            elif folder.is_dir() and any(folder.iterdir()):
                raise CardaiError(f"{folder} is not a folder of {content}: it has files but no {name}; choose another")
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(held(folder, f"another process is at work in {folder}"))
        except OSError as error:
            raise CardaiError(f"cannot write to {folder}: {error.strerror or error}") from None
        write(settings, place)
        yield folder


def as_toml(settings: Any) -> str:
    """Return settings as TOML text that `read` accepts; a field that is None becomes a comment."""
    lines, tables = [], []
    for entry in dataclasses.fields(settings):
        value, info = getattr(settings, entry.name), of(entry)
        if is_table(entry):
            tables += [
                "",
                f"[{entry.name}]  # {info.line}",
                *(_toml_line(key, value[key], info.inside) for key in value),
            ]
        else:
            lines.append(_toml_line(entry.name, value, type(settings)))
    return "\n".join(lines + tables) + "\n"


def as_plain(settings: Any) -> dict[str, Any]:
    """Return settings as plain JSON types."""
    return json.loads(json.dumps(dataclasses.asdict(settings), default=dict))


def identity(settings: Any) -> dict[str, Any]:
    """Return the fields that must not change when a run is continued (`is_run`), as plain JSON types."""
    values = {name: value for name, value in as_plain(settings).items() if about(settings, name).is_run}
    for name in values:
        if inside := about(settings, name).inside:
            values[name] = {key: value for key, value in values[name].items() if about(inside, key).is_run}
    return values


def fingerprint(settings: Any) -> str:
    """Return a hash of `identity`, in hexadecimal."""
    text = json.dumps(identity(settings), sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def difference(first: Any, second: Any) -> str:
    """Return in words in which fields of `identity` two settings of one class differ; empty if in none."""
    return " and ".join(_differences(identity(first), identity(second)))


def literal(value: Any) -> str:
    """Return a value as TOML text. Raises CardaiError if TOML cannot hold it."""
    if isinstance(value, int | float | str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(literal(item) for item in value)}]"
    if isinstance(value, Mapping):
        pairs = (f"{_key(key)} = {literal(item)}" for key, item in value.items() if item is not None)
        return f"{{{', '.join(pairs)}}}"
    raise CardaiError(
        f"a setting must be a number, a text, true, false, or a list or table of these, not {short(value)}"
    )


def _differences(first: Mapping[str, Any], second: Mapping[str, Any], inside: str = "") -> list[str]:
    differences = []
    for name in dict.fromkeys([*first, *second]):
        before, after = first.get(name), second.get(name)
        if isinstance(before, dict) and isinstance(after, dict):
            differences += _differences(before, after, f"{inside}{name}.")
        elif before != after:
            differences.append(f"{inside}{name} {short(before)}, not {short(after)}")
    return differences


def _toml_line(name: str, value: Any, kind: Any) -> str:
    """Return a line of a TOML file; if `kind` is not None, with the field's line of help as a comment."""
    line = f"{_key(name)} = {literal(value)}" if value is not None else f"# {_key(name)} ="
    return f"{line}  # {about(kind, name).line}" if kind else line


def _key(name: str) -> str:
    bare = name.replace("_", "a").replace("-", "a")
    return name if bare.isascii() and bare.isalnum() else json.dumps(name, ensure_ascii=False)


def _fields(kind: Any) -> "dict[str, dataclasses.Field[Any]]":
    return {entry.name: entry for entry in dataclasses.fields(kind)}


def _title(kind: Any) -> str:
    return getattr(kind, "called", "")


def _refuse_unknown(kind: Any, given: Collection[str], before: str = "") -> None:
    title, known = f"{_title(kind)}: " if _title(kind) else "", names(kind)
    for name in given:
        if name not in known:
            raise CardaiError(f"{before}{title}{unknown('field', name, known)}")


def _refuse_outside(entry: "dataclasses.Field[Any]", value: Any) -> None:
    info = of(entry)
    if info.choices and value not in info.choices:
        raise CardaiError(f"{entry.name}: {unknown('choice', value, info.choices)}")
    if info.span and value is not None:
        low, high = info.span
        if not low <= value <= high:
            raise CardaiError(f"{entry.name} must be {low:g} to {high:g}, not {short(value)}")


def _overridden(entry: "dataclasses.Field[Any]", before: Any, value: Any) -> Any:
    """Return a field's value after an override, which may be text; tables are merged with the value before."""
    if is_table(entry):
        return _merged(_converted(entry, {} if before is None else before), _converted(entry, value))
    return _from_text(entry.type, value) if isinstance(value, str) else value


def _merged(before: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(before)
    for key, value in given.items():
        if isinstance(value, Mapping):
            inside = merged.get(key)
            merged[key] = _merged(inside if isinstance(inside, Mapping) else {}, value)
        elif value is not None:
            merged[key] = _from_literal(value) if isinstance(value, str) else value
    return merged


def _converted(entry: "dataclasses.Field[Any]", value: Any) -> Any:
    """Return a value converted to its field's type: a list to a tuple, an int to a float.

    Raises CardaiError if it cannot be converted.
    """
    wanted: Any = entry.type
    alternatives = typing.get_args(wanted) if isinstance(wanted, types.UnionType) else (wanted,)
    for kind in alternatives:
        try:
            converted = _as_kind(kind, value)
        except CardaiError as error:  # in a table
            raise CardaiError(f"{entry.name}: {error}") from None
        if converted is not _NOT:
            return converted
    raise CardaiError(f"{entry.name} must be {_words(alternatives[0])}, not {short(value)}")


_NOT = object()  # what _as_kind returns if a value does not have the type


def _as_kind(kind: Any, value: Any) -> Any:
    if kind is types.NoneType:
        return None if value is None else _NOT
    if typing.get_origin(kind) is tuple:
        return _as_tuple(typing.get_args(kind), value)
    if typing.get_origin(kind) is Mapping:
        return _as_table(typing.get_args(kind)[1], value)
    if dataclasses.is_dataclass(kind) and isinstance(value, Mapping):
        return made(typing.cast(Any, kind), value)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind or (kind is float and not math.isfinite(value)):
        return _NOT
    return value


def _as_table(inside: Any, value: Any) -> Any:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        return _NOT
    items = {key: item if inside is Any else _as_kind(inside, item) for key, item in value.items()}
    return _NOT if _NOT in items.values() else items


def _as_tuple(kinds: tuple[Any, ...], value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return _NOT
    each = (kinds[0],) * len(value) if kinds[-1] is Ellipsis else kinds
    items = tuple(_as_kind(kind, item) for kind, item in zip(each, value, strict=False))
    return items if len(items) == len(value) == len(each) and _NOT not in items else _NOT


def _words(kind: Any) -> str:
    if typing.get_origin(kind) is tuple:
        kinds = typing.get_args(kind)
        each = "lists" if typing.get_origin(kinds[0]) is tuple else f"{_words(kinds[0])[2:]}s"
        return f"a list of {each}" if kinds[-1] is Ellipsis else f"{len(kinds)} numbers"
    if typing.get_origin(kind) is Mapping:
        inside = typing.get_args(kind)[1]
        return "a table of names and values" if inside is Any else f"a table of names and {_words(inside)[2:]}s"
    return _WORDS.get(kind, "a table")


_WORDS = {
    bool: "true or false", int: "a whole number", float: "a number", str: "a text", date: "a day like 2027-03-31"
}  # fmt: skip


def _from_text(wanted: Any, text: str) -> Any:
    """Return a field's value from command-line text: the text itself if the field holds text, else parsed as TOML."""
    if typing.get_origin(wanted) is tuple:
        is_list_of_texts = str in typing.get_args(wanted) and not text.startswith("[")
        return tuple(text.split(",")) if is_list_of_texts else _from_literal(text)
    return text if str in (wanted, *typing.get_args(wanted)) else _from_literal(text)


def _from_literal(text: str) -> Any:
    """Return the value that a text has in TOML, such as 3, 0.5, true or [1, 2]; if it has none, the text itself."""
    try:
        parsed = parse_toml(f"value = {text}")
    except ValueError:
        return text
    return parsed["value"] if list(parsed) == ["value"] else text
