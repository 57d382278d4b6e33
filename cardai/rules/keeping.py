"""Where compiled code is kept, and under which name: a hash of all that the code depends on.

The name of a file holds a hash of the *content* of the rule and of everything that it reaches: the code of the rules
that it calls, the values of the constants that it reads, and so on, whatever the files are called that they stand in.
So an installed copy and a checkout share what is kept, and after an edit only what the edit changed is compiled again.
Versions of Python, NumPy and the compiler and the processor are part of the hash too.

A file holds a hash of its name and content and is written whole, so that several processes may read and write at once.
What is damaged, or was kept under another name, is compiled anew. A folder that may only be read is read.
"""

import builtins
import contextlib
import enum
import hashlib
import os
import re
import sys
import time
import types as python_types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cardai.errors import CardaiError, printable
from cardai.files.writing import remove_left_over, temporary

_KEPT_FILES = 1024  # those used last; a version of cardai and its games takes about 150
_DAY = 24 * 3600.0
_MAGIC = b"cardai compiled 1\n"
_DIGEST = 16  # bytes
_OLDER = f"*-{'[0-9a-f]' * 16}"  # the folders of earlier versions
_OUTSIDE = {"numpy", "numba", "llvmlite", *sys.stdlib_module_names}  # their versions are part of the hash


class Unkept(Exception):
    """The code depends on something that cannot be hashed, so that it is not kept."""


def cache_root() -> Path:
    """The folder for compiled rules: the environment's `CARDAI_CACHE`, or `cardai` in the user's cache folder."""
    chosen = os.environ.get("CARDAI_CACHE")
    if chosen:
        return Path(chosen)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cardai"
    except RuntimeError:  # nobody's process, as in a container
        raise CardaiError("there is no home folder to keep compiled rules in; set CARDAI_CACHE to a folder") from None


# Files


def rules_folder() -> Path:
    """The folder of the files of compiled code, inside `cache_root()`. It may not be there."""
    return cache_root() / "rules"


def kept_files() -> list[tuple[Path, int]]:
    """The files of compiled code, the one used last first, and their sizes in bytes."""
    found: list[tuple[float, Path, int]] = []
    with contextlib.suppress(OSError), os.scandir(rules_folder()) as entries:  # it may not be there
        for entry in entries:
            with contextlib.suppress(OSError):  # another process has just removed it
                if entry.name.endswith(".code"):
                    status = entry.stat()
                    found.append((status.st_mtime, Path(entry.path), status.st_size))
    return [(place, size) for _, place, size in sorted(found, reverse=True)]


def all_files() -> list[tuple[Path, int]]:
    """The files of compiled code and their sizes, with those that earlier versions of cardai left, which nobody reads.

    Those are files of Numba's own in folders of `cache_root()` that are called NAME-HASH.
    """
    older: list[tuple[Path, int]] = []
    for place in sorted(cache_root().glob(f"{_OLDER}/*/*.nb[ci]")):
        with contextlib.suppress(OSError):
            older.append((place, place.stat().st_size))
    return kept_files() + older


def forget() -> int:
    """Delete `all_files`, and older folders. Returns how many bytes that frees. Raises CardaiError if a file stays."""
    freed = 0
    for place, size in all_files():
        try:
            place.unlink(missing_ok=True)
        except OSError as error:
            raise CardaiError(f"cannot delete {place}: {error.strerror or error}") from None
        freed += size
    for folder in cache_root().glob(_OLDER):
        for place in (*folder.glob("*"), folder):
            with contextlib.suppress(OSError):  # it is not empty, or no folder
                place.rmdir()
    return freed


def read(name: str) -> bytes | None:
    """What was kept under a name; None if nothing was, or the file is damaged, another one or cannot be read."""
    place = rules_folder() / name
    try:
        content = place.read_bytes()
    except (OSError, ValueError):
        return None
    head = len(_MAGIC) + _DIGEST
    if content[: len(_MAGIC)] != _MAGIC or content[len(_MAGIC) : head] != _seal(name, content[head:]):
        return None
    with contextlib.suppress(OSError):  # it may only be read, or belongs to somebody else
        if time.time() - place.stat().st_mtime > _DAY:
            os.utime(place)  # it was used now: the files that were not used for longest are forgotten
    return content[head:]


def write(name: str, content: bytes) -> bool:
    """Keep something under a name. Returns False if that is not possible; then a line on stderr says so, once."""
    folder = rules_folder()
    unfinished = folder / f".{temporary(name)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            unfinished.write_bytes(_MAGIC + _seal(name, content) + content)
            unfinished.replace(folder / name)
        except BaseException:
            with contextlib.suppress(OSError):
                unfinished.unlink(missing_ok=True)
            raise
        _forget_oldest()
    except OSError as error:
        _tell_not_kept(error)
        return False
    return True


def _seal(name: str, content: bytes) -> bytes:
    return _digest(name.encode() + b"\0" + content)


def may_keep() -> bool:
    """Whether files can be written to the folder, or it can be made."""
    place = rules_folder()
    while not place.exists() and place != place.parent:
        place = place.parent
    return place.is_dir() and os.access(place, os.W_OK | os.X_OK)


def _forget_oldest() -> None:
    """If there are too many files, delete a quarter: those that were not used for longest."""
    files = kept_files()
    if len(files) > _KEPT_FILES:
        for place, _ in files[_KEPT_FILES * 3 // 4 :]:
            with contextlib.suppress(OSError):
                place.unlink()
        remove_left_over(rules_folder())


_told: list[str] = []


def _tell_not_kept(error: OSError) -> None:
    """Say, once in a process, that compiled code is not kept, so that the next process compiles it again."""
    if not _told:
        _told.append(f"compiled code is not kept in {cache_root()}: {error.strerror or error}")
        print(f"cardai: {printable(_told[0])}", file=sys.stderr)


# Names


def name_of(function: Callable[..., Any], signature: Any, surroundings: str) -> str:
    """The name under which the code of a rule is kept, for a signature and a way to call it.

    `signature`: Numba types. `surroundings`: versions, processor, and how it is compiled. Raises Unkept if the code
    depends on something that cannot be hashed.
    """
    source = source_of(function)
    types = _text(source, signature, {}) + surroundings
    return f"{name_begins(function)}-{_digest(types.encode()).hex()[:12]}.code"


def name_begins(function: Callable[..., Any]) -> str:
    """How the names begin under which the code of a rule is kept, for any signature. Raises Unkept like `name_of`."""
    source = source_of(function)
    title = re.sub(r"[^\w.]", "", f"{source.__module__}.{source.__qualname__}", flags=re.ASCII)[-80:]
    return f"{title}-{content_of(source)}"


def is_kept(function: Callable[..., Any]) -> bool:
    """Whether code of a rule, as it is now, is kept, for some signature."""
    try:
        return any(rules_folder().glob(f"{name_begins(function)}-*.code"))
    except Unkept:
        return False


def content_of(function: Callable[..., Any]) -> str:
    """A hash, in hexadecimal digits, of a function and of everything that it reaches. Raises Unkept."""
    reached: dict[int, str] = {}
    waiting = [source_of(function)]
    while waiting:
        source = waiting.pop()
        if id(source) not in reached:
            reached[id(source)], others = _own(source)
            waiting += others
    own = reached.pop(id(source_of(function)))
    return _digest("\0".join([own, *sorted(reached.values())]).encode()).hex()


def source_of(function: Any) -> Any:
    """The Python function of a rule."""
    return getattr(function, "py_func", function)


_owns: dict[int, tuple[Any, str | None, list[Any]]] = {}  # the function, which is kept alive; its text; what it calls


def note_compiled(function: Callable[..., Any]) -> None:
    """Note that a function is compiled now. If constants that it reads are no longer what they were, it is not kept."""
    source = source_of(function)
    known = _owns.get(id(source))
    if known is not None and known[1] is not None and _computed(source)[1:] != known[1:]:
        _owns[id(source)] = source, None, []


def _own(source: Any) -> tuple[str, list[Any]]:
    """The text of a function, without those that it calls, and these. Raises Unkept."""
    if id(source) not in _owns:
        _owns[id(source)] = _computed(source)
    _, text, others = _owns[id(source)]
    if text is None:
        raise Unkept(f"{source.__qualname__} depends on something that cannot be hashed")
    return text, others


def _computed(source: Any) -> tuple[Any, str | None, list[Any]]:
    others: dict[int, Any] = {}
    try:
        parts = [source.__module__ or "", source.__qualname__, _code_text(source, source.__code__, others)]
        parts += [_text(source, source.__defaults__, others), _text(source, source.__kwdefaults__, others)]
        for cell in source.__closure__ or ():
            try:
                parts.append(_text(source, cell.cell_contents, others))
            except ValueError:  # an empty cell
                parts.append("empty")
    except Unkept:
        return source, None, []
    return source, "\n".join(parts), list(others.values())


def _code_text(source: Any, code: Any, others: dict[int, Any]) -> str:
    """All of a code object that counts for what it does, with the values of the global names that it reads."""
    constants = list(code.co_consts)
    if constants and isinstance(constants[0], str) and constants[0] == source.__doc__:
        constants[0] = ""
    parts = [
        code.co_code.hex(), code.co_exceptiontable.hex(), repr(code.co_names), repr(code.co_varnames),
        repr(code.co_freevars), repr(code.co_cellvars),
        repr((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)),
    ]  # fmt: skip
    for constant in constants:
        is_code = isinstance(constant, python_types.CodeType)
        parts.append(_code_text(source, constant, others) if is_code else _text(source, constant, others))
    for name in code.co_names:
        if name in source.__globals__:
            parts.append(f"{name}={_text(source, source.__globals__[name], others, code.co_names)}")
        elif hasattr(builtins, name):
            parts.append(f"{name}=builtin")
    return "\n".join(parts)


def _text(source: Any, value: Any, others: dict[int, Any], names: tuple[str, ...] = ()) -> str:
    """A value that a function reads, as a text that is the same for equal values only.

    `others`: takes the functions that are found in it. `names`: all names in the code, among them attributes that are
    read from a module. Raises Unkept.
    """
    kind, thing = type(value), value
    if value is None or value is ... or kind in (bool, int, float, complex, str, bytes, range, slice):
        return f"{kind.__name__}:{value!r}"
    if isinstance(value, np.generic):
        return f"{value.dtype}:{value.tobytes().hex()}"
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        form = f"{_text(source, value.dtype, others)}{value.shape}{value.flags.c_contiguous}{value.flags.f_contiguous}"
        return f"{form}:{_digest(value.tobytes()).hex()}"
    if isinstance(value, np.dtype):
        return f"dtype:{value.kind}{value.type.__name__}{value.itemsize}{value.alignment}{value.str}{value.fields}"
    if kind in (tuple, list):
        return f"{kind.__name__}({','.join(_text(source, one, others) for one in value)})"
    if kind in (set, frozenset):
        return f"{kind.__name__}({','.join(sorted(_text(source, one, others) for one in value))})"
    if kind is dict:
        items = [f"{_text(source, key, others)}={_text(source, one, others)}" for key, one in thing.items()]
        return f"dict({','.join(items)})"
    if isinstance(value, enum.Enum):
        return f"{_class_text(source, kind)}.{value.name}={_text(source, value.value, others)}"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return f"{_class_text(source, kind)}({','.join(_text(source, one, others) for one in value)})"
    if isinstance(value, python_types.ModuleType):
        return _module_text(source, value, others, names)
    if isinstance(value, (python_types.BuiltinFunctionType, np.ufunc)):
        return f"builtin:{getattr(value, '__module__', '')}.{value.__name__}"
    if isinstance(value, type):
        return _class_text(source, value)
    if hasattr(thing, "py_func") and hasattr(thing, "targetoptions"):  # a rule
        options = _text(source, thing.targetoptions, others), getattr(thing, "is_separate", False)
        forms = _text(source, dict(getattr(thing, "forms", {})), others)
        return f"{_function_text(source, thing.py_func, others)}{options}{forms}"
    if hasattr(thing, "_defn") and hasattr(thing, "_name"):  # an intrinsic: its code is made by Python functions
        return f"intrinsic:{thing._name}:{_maker_text(source, thing._defn, others)}"
    if isinstance(value, python_types.FunctionType):
        outside = (value.__module__ or "").partition(".")[0] in _OUTSIDE
        text = f"function:{value.__module__}.{value.__qualname__}"
        return text if outside else _function_text(source, value, others) + _files_text(value.__module__)
    return _other_text(source, value, others)


def _function_text(source: Any, function: Any, others: dict[int, Any]) -> str:
    others[id(function)] = function
    return f"function:{function.__module__}.{function.__qualname__}"


def _maker_text(source: Any, function: Any, others: dict[int, Any]) -> str:
    """A Python function that makes the code of an intrinsic: its file, and the values that it was defined with."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    makers = [isinstance(value, python_types.FunctionType) for value in cells]
    texts = [
        _maker_text(source, value, others) if is_maker else _text(source, value, others)
        for value, is_maker in zip(cells, makers, strict=True)
    ]
    return f"{function.__module__}.{function.__qualname__}{texts}{_files_text(function.__module__)}"


def _module_text(source: Any, module: Any, others: dict[int, Any], names: tuple[str, ...]) -> str:
    if module.__name__.partition(".")[0] in _OUTSIDE:
        return f"module:{module.__name__}"
    read = [name for name in names if name in vars(module)]
    return f"module:{[(name, _text(source, vars(module)[name], others, names)) for name in read]}"


def _class_text(source: Any, kind: type) -> str:
    name = f"class:{kind.__module__}.{kind.__qualname__}"
    if kind.__module__.partition(".")[0] in _OUTSIDE:
        return name
    fields = getattr(kind, "_fields", None)
    if issubclass(kind, tuple) and fields is not None:
        return name + repr(fields)
    return name + _files_text(kind.__module__)


def _other_text(source: Any, value: Any, others: dict[int, Any]) -> str:
    """A type or signature of the compiler, or a value that nothing is known of but where it comes from."""
    if type(value).__module__.partition(".")[0] == "numba":
        parts = [str(value)]
        for inner in _types_in(value):
            if hasattr(inner, "instance_class"):
                parts.append(_class_text(source, inner.instance_class))
        text = "|".join(parts)
        if " at 0x" not in text:
            return text
    raise Unkept(f"{source.__qualname__} reads {type(value).__qualname__}, which cannot be hashed")


def _types_in(kind: Any) -> Iterator[Any]:
    """A type of the compiler, or a signature, and the types of which it is made."""
    yield kind
    inner = [getattr(kind, name, None) for name in ("dtype", "return_type", "_dtype")]
    for one in [*inner, *(getattr(kind, "types", None) or ()), *(getattr(kind, "args", None) or ())]:
        if one is not None and one is not kind and type(one).__module__.partition(".")[0] == "numba":
            yield from _types_in(one)


_files: dict[str, str] = {}


def _files_text(module: str | None) -> str:
    """A hash of the file of a module and of all files beside it, on which code may depend. Raises Unkept.

    Files of the core stand alone: those beside them are reached by what is imported from them.
    """
    if module not in _files:
        place = getattr(sys.modules.get(module or ""), "__file__", None)
        if place is None or not Path(place).is_file():
            raise Unkept(f"the module {module} has no file")
        alone = (module or "").startswith("cardai.") and not (module or "").startswith("cardai.games.")
        beside = [Path(place).name, *sorted(file.name for file in Path(place).parent.glob("*.py") if not alone)]
        contents = [name.encode() + b"\0" + (Path(place).parent / name).read_bytes() for name in beside]
        _files[module or ""] = _digest(b"\0".join(contents)).hex()
    return _files[module or ""]


def file_digest(*places: Path) -> str:
    """A hash of the contents of files, in hexadecimal digits."""
    return _digest(b"\0".join(place.read_bytes() for place in places)).hex()


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST).digest()
