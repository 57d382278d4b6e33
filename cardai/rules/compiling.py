"""Compiles rules with Numba, each piece of machine code once, and loads what was kept.

Numba optimises every function together with all that it calls, turns it into machine code and stores it: a rule that
ten others call is optimised eleven times. Only *entry points* are ever called from outside compiled code: what the
driver calls by its address, and what Python calls. So here a function that is compiled for a compiled caller is left
as it is, and an entry point is linked with all that it reaches, optimised and turned into machine code once. A
*separate* rule is an entry point too, which callers reach by the name of its symbol.

This is the only module that relies on parts of Numba that are not public: `RELIED_ON` names them. With a version of
Numba that is not in `KNOWN_VERSIONS`, or without one of these parts, rules are compiled as Numba does it by itself
(`why_stock` says why), which takes four times as long. Games are the same.
"""

import contextlib
import gc
import importlib
import itertools
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import numba
import numpy as np
from numba.core import event, types
from numba.core.registry import CPUDispatcher, cpu_target

from cardai.rules.keeping import Unkept, file_digest, name_of, note_compiled, read, source_of, write

KNOWN_VERSIONS = ("0.68",)

RELIED_ON = {
    "numba._dynfunc": ("make_function",),
    "numba.core.ccallback": ("CFunc", "_CFuncCompiler"),
    "numba.core.codegen.JITCodeLibrary": (
        "_ensure_finalized", "_finalize_final_module", "_get_module_for_linking", "_optimize_final_module",
        "_raise_if_finalized", "_set_compiled_object", "_get_compiled_object", "add_linking_library",
        "enable_object_caching", "finalize", "get_pointer_to_function", "has_dynamic_globals",
    ),
    "numba.core.codegen.JITCPUCodegen": (
        "_check_llvm_bugs", "_library_class", "create_library", "magic_tuple", "set_env",
    ),
    "numba.core.codegen.JitEngine": ("_load_defined_symbols", "get_function_address"),
    "numba.core.compiler": ("Compiler", "Flags", "compile_result"),
    "numba.core.compiler.CompileResult": ("_reduce", "_rebuild"),
    "numba.core.compiler_lock": ("global_compiler_lock",),
    "numba.core.dispatcher": ("_FunctionCompiler",),
    "numba.core.dispatcher.Dispatcher": (
        "_insert", "compile", "fold_argument_types", "get_call_template", "get_overload",
    ),
    "numba.core.environment": ("Environment", "lookup_environment"),
    "numba.core.errors": ("ForceLiteralArg",),
    "numba.core.registry": ("CPUDispatcher", "cpu_target"),
    "numba.core.serialize": ("dumps",),
    "numba.core.sigutils": ("normalize_signature",),
    "numba.core.target_extension": ("dispatcher_registry", "target_registry"),
    "numba.core.typing.templates": ("make_concrete_template",),
}  # fmt: skip
"""The parts of Numba that are not public on which this module relies."""


def _found(name: str) -> Any:
    """A module, or a class in a module, by its full name. Raises ImportError or AttributeError."""
    try:
        return importlib.import_module(name)
    except ImportError:
        module, _, last = name.rpartition(".")
        return getattr(importlib.import_module(module), last)


def _why_stock() -> str:
    if not numba.__version__.startswith(tuple(f"{version}." for version in KNOWN_VERSIONS)):
        known = " and ".join(KNOWN_VERSIONS)
        return f"this is Numba {numba.__version__}, and cardai knows the compiler of Numba {known}"
    for owner, names in RELIED_ON.items():
        try:
            missing = [name for name in names if not hasattr(_found(owner), name)]
        except (ImportError, AttributeError):
            missing = [owner]
        if missing:
            return f"Numba {numba.__version__} has no {owner}.{missing[0]}"
    return ""


why_stock = _why_stock()
"""Why Numba compiles rules by itself here, in words, or empty."""

SEPARATE = "separate"

_alive: list[Any] = []  # code is freed with what it belongs to
_TROUBLES = (
    OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, ImportError, pickle.PickleError,
)  # fmt: skip


def _target() -> Any:
    """Numba's context of code for this processor."""
    target: Any = cpu_target
    return target.target_context


def _surroundings(kind: str) -> str:
    """Whatever else compiled code depends on, besides its source: versions, processor and options of the compiler."""
    options = sorted(
        (name, value) for name, value in os.environ.items() if name.startswith("NUMBA_") and name not in _NO_MATTER
    )
    versions = numba.__version__, llvmlite.__version__, np.__version__, sys.implementation.cache_tag
    codegen = _target().codegen()
    return repr((kind, bool(why_stock), versions, codegen.magic_tuple(), options, _OWN_CONTENT))


_NO_MATTER = {"NUMBA_CACHE_DIR", "NUMBA_DEBUG_CACHE", "NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER"}
_OWN_CONTENT = file_digest(Path(__file__), Path(__file__).with_name("keeping.py"))


def _name(function: Any, signature: Any, kind: str) -> str | None:
    """The name under which compiled code is kept; None if it is not."""
    try:
        return name_of(function, signature, _surroundings(kind))
    except Unkept:
        return None


class Watcher(event.Listener):
    """Calls `begins` with the name of each entry point when it begins to be compiled, and `ends` when it is."""

    def __init__(self, begins: Callable[[str], None], ends: Callable[[], None] = lambda: None) -> None:
        self.begins, self.ends = begins, ends
        event.register(_COMPILING, self)

    def stop(self) -> None:
        """Watch no longer."""
        event.unregister(_COMPILING, self)

    def on_start(self, event: Any) -> None:
        """Is called by Numba."""
        self.begins(source_of(event.data["dispatcher"]).__name__)

    def on_end(self, event: Any) -> None:
        """Is called by Numba."""
        self.ends()


_COMPILING = "numba:compile"  # the event that Numba's own dispatchers trigger


def _compiling(function: Any) -> Any:
    """A block in which an entry point is compiled."""
    note_compiled(function)
    return event.trigger_event(_COMPILING, {"dispatcher": function})


def form_of(rule: Any, kinds: Any) -> Any:
    """The form of a rule for arguments of these types: the rule itself, or one of its `forms`."""
    for dimensions, other in rule.forms.items():
        if all(getattr(kind, "ndim", 0) == n for kind, n in zip(kinds, dimensions, strict=False)):
            return other
    return rule


def widened(kind: Any) -> Any:
    """The type of an argument, without its value if that is known when a rule is compiled.

    Numba would compile a function once for every constant that a caller passes, which is of no use to rules.
    """
    return types.unliteral(kind) if isinstance(kind, (types.IntegerLiteral, types.BooleanLiteral)) else kind


if not why_stock:
    from numba import _dynfunc  # pyright: ignore[reportAttributeAccessIssue]
    from numba.core import compiler, sigutils
    from numba.core.ccallback import _CFuncCompiler  # pyright: ignore[reportAttributeAccessIssue]
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import _FunctionCompiler  # pyright: ignore[reportAttributeAccessIssue]
    from numba.core.environment import Environment, lookup_environment
    from numba.core.errors import ForceLiteralArg
    from numba.core.serialize import dumps
    from numba.core.target_extension import dispatcher_registry, target_registry
    from numba.core.typing.templates import make_concrete_template
    from numba.extending import lower_cast

    _CPU = target_registry["cpu"]
    _Dispatcher: Any = CPUDispatcher
    _ENVIRONMENT = "_ZN08NumbaEnv"  # begins the name of a variable that points to the Python objects of a function
    _UNRESOLVED = ".numba.unresolved$"  # begins the name of a pointer to a function that is in the middle of compiling
    _LINKED = "NRT_"  # begins the names of functions of Numba's own that count references

    _numbers = itertools.count(1)

    class _Library(JITCodeLibrary):
        """The code of one function: of an inner one, as it was translated, or of an entry point.

        An inner one is finished only if something else than a rule, compiled by Numba, calls it.
        """

        kept_as: str | None = None  # the name of its file
        is_separate = False  # callers reach it by its symbol
        is_recursive = False

        def add_linking_library(self, library: Any) -> None:
            """Take another library in when this one is finished."""
            if not isinstance(library, _Library):
                library._ensure_finalized()
            self._linking_libraries.append(library)

        def _get_module_for_linking(self) -> Any:
            if self._shared_module is not None:  # Numba's own would finish the library first
                return self._shared_module
            if self._finalized:
                return super()._get_module_for_linking()
            self._finalized = True  # as the code is now
            try:
                return super()._get_module_for_linking()
            finally:
                self._finalized = False

        def finalize(self) -> None:
            """Finish an inner function as Numba does, since something else than a rule calls it."""
            self._raise_if_finalized()
            self._link()
            self._shared_module = None
            self._finish()
            self._set_environments(self._environments())

        def seal(self, exported: dict[str, str], mark: str, is_of_game: bool) -> list[tuple[str, Any]]:
            """Finish an entry point. The functions `exported`, under new names, can be called then.

            `mark`: makes names unique. `is_of_game`: whether it is a rule that the driver calls. Then nothing else can
            be called, and functions with one caller are taken into it. In the driver that would slow its loop down.
            Returns variables and the environments to which they point.
            """
            self._link()
            module = self._final_module
            environments = self._environments()
            self.is_recursive = any(one.name.startswith(_UNRESOLVED) for one in module.global_variables)
            if not self.is_recursive:
                for function in module.functions:
                    is_own = not function.is_declaration and not function.name.startswith(_LINKED)
                    if is_own and function.name not in exported:
                        if is_of_game:
                            function.linkage = "internal"
                        else:
                            function.name = f"{function.name}${mark}"
                environments = []
                for variable in module.global_variables:
                    if variable.name.startswith(_ENVIRONMENT):
                        environment = lookup_environment(variable.name)
                        variable.name = f"{variable.name}${mark}"
                        if environment is not None:
                            environments.append((variable.name, environment))
            for name, symbol in exported.items():
                module.get_function(name).name = symbol
            self._finish()
            self._set_environments(environments)
            return environments

        def _environments(self) -> list[tuple[str, Any]]:
            names = [variable.name for variable in self._final_module.global_variables]
            found = [(name, lookup_environment(name)) for name in names if name.startswith(_ENVIRONMENT)]
            return [(name, environment) for name, environment in found if environment is not None]

        def _set_environments(self, environments: list[tuple[str, Any]]) -> None:
            for name, environment in environments:
                _target().codegen().set_env(name, environment)
                _alive.append(environment)

        def _link(self) -> None:
            for library in self.reached():
                if not getattr(library, "is_separate", False):
                    self._reload_init.update(library._reload_init)
                    self._final_module.link_in(library._get_module_for_linking(), preserve=True)

        def reached(self) -> list[Any]:
            """All libraries that are to be linked in, users before what they use.

            A function that nobody refers to yet when it is linked would be dropped.
            """
            return self._found_from(lambda library: not library._finalized)

        def separate(self) -> list["_Library"]:
            """The libraries of separate rules that are called from here, also from inside finished libraries."""
            found = self._found_from(lambda library: not library.is_separate)
            return [library for library in found if getattr(library, "is_separate", False)]

        def _found_from(self, is_open: Callable[["_Library"], bool]) -> list[Any]:
            """All libraries that are reached, users before what they use, through those that are open."""
            seen: set[int] = set()
            found: list[Any] = []

            def visit(library: Any) -> None:
                if id(library) in seen:
                    return
                seen.add(id(library))
                if isinstance(library, _Library) and is_open(library):
                    for inner in library._linking_libraries:
                        visit(inner)
                found.append(library)

            for library in self._linking_libraries:
                visit(library)
            return found[::-1]

        def _finish(self) -> None:
            self._codegen._check_llvm_bugs()
            self._optimize_final_module()
            self._final_module.verify()
            self._finalize_final_module()

    class _Kept(NamedTuple):
        """What is kept of an entry point."""

        title: str
        code: bytes
        symbols: tuple[str, ...]
        environments: list[tuple[str, str, list[Any]]]  # variable, module, constants
        constants: list[Any]  # of the function itself
        needs: tuple[str, ...]  # the files of separate rules
        reload_init: tuple[Any, ...]
        description: Any  # of a separate rule, for its callers
        signature: Any

    class _Entry(NamedTuple):
        """An entry point that can be called, by its symbols."""

        library: Any
        symbols: tuple[str, ...]
        constants: list[Any]
        description: Any
        signature: Any

        def address(self) -> int:
            return self.library._codegen._engine.get_function_address(self.symbols[0])

    _separate: dict[str, _Entry] = {}  # by the names of their files

    @contextlib.contextmanager
    def _own_libraries() -> Iterator[None]:
        """Have all code that is compiled in this block put into libraries that are not finished.

        That of Numba's own functions too, which are dispatchers that it makes when they are needed. Nothing is thrown
        away by the way: Python would go through all that the compiler made again and again, a fifth of its time.
        """
        codegen = _target().codegen()
        is_outer = "_library_class" not in vars(codegen)
        collects = is_outer and gc.isenabled()
        if collects:
            gc.disable()
        codegen._library_class = _Library
        dict.__setitem__(dispatcher_registry, _CPU, _Inlaid)  # its own refuses a key twice
        try:
            yield
        finally:
            if is_outer:
                del codegen._library_class
                dict.__setitem__(dispatcher_registry, _CPU, CPUDispatcher)
            if collects:
                gc.enable()

    def _entry(function: Any, signature: Any, kind: str, compile_: Callable[[], Any]) -> tuple[_Entry, bool]:
        """An entry point, and whether it was kept. Called with the compiler's lock.

        `compile_` returns Numba's result, whose library is not finished, and the name of the function to be called.
        """
        _target().refresh()
        name = _name(function, signature, kind)
        kept = _loaded(name, kind) if name is not None else None
        if kept is not None:
            return kept, True
        with _compiling(function):
            return _compiled(function, signature, kind, name, compile_), False

    def _compiled(function: Any, signature: Any, kind: str, name: str | None, compile_: Callable[[], Any]) -> _Entry:
        with _own_libraries():
            result, plain = compile_()
        library = result.library
        mark = name.rpartition("-")[2].removesuffix(".code") if name else f"{next(_numbers)}.unkept"
        symbol = f"cardai.{source_of(function).__name__}.{mark}"
        needs = [inner.kept_as for inner in library.separate()]
        environments = library.seal({plain: symbol}, mark, kind == "C")
        entry = _Entry(library, (symbol,), list(result.environment.consts), result.fndesc, result.signature)
        _alive.append(library)
        if kind == SEPARATE:
            _set_apart(name, entry)
        is_whole = not library.has_dynamic_globals and not library.is_recursive and None not in needs
        is_plain = all(environment.can_cache() for _, environment in environments)
        if name is not None and is_whole and is_plain and name == _name(function, signature, kind):
            library.kept_as = name  # constants are still what they were
            _keep(name, entry, environments, tuple(needs))
        return entry

    def _keep(name: str, entry: _Entry, environments: list[tuple[str, Any]], needs: tuple[Any, ...]) -> None:
        library, description = entry.library, entry.description
        description.typemap = description.calltypes = None
        is_separate = library.is_separate
        kept = _Kept(
            library.name, library._get_compiled_object(), entry.symbols,
            [(symbol, one.globals["__name__"], list(one.consts)) for symbol, one in environments], entry.constants,
            needs, tuple(library._reload_init), description if is_separate else None,
            entry.signature if is_separate else None,
        )  # fmt: skip
        write(name, dumps(tuple(kept)))

    def _loaded(name: str, kind: str) -> _Entry | None:
        """The entry point that is kept under a name; None if there is none, or it, or what it needs, is damaged."""
        if name in _separate:
            return _separate[name]
        content = read(name)
        if content is None:
            return None
        try:
            kept = _Kept(*pickle.loads(content))
            modules = [sys.modules[module] for _, module, _ in kept.environments]
        except _TROUBLES:
            return None
        if any(_loaded(other, SEPARATE) is None for other in kept.needs):
            return None
        for function in kept.reload_init:
            function()
        library = _Library(_target().codegen(), kept.title)
        library.enable_object_caching()
        library._set_compiled_object(kept.code)
        library._finalize_final_module()
        library.kept_as = name
        environments: list[tuple[str, Any]] = []
        for (symbol, _, constants), module in zip(kept.environments, modules, strict=True):
            environments.append((symbol, _environment(vars(module), symbol, constants)))
        library._set_environments(environments)
        _alive.append(library)
        entry = _Entry(library, kept.symbols, kept.constants, kept.description, kept.signature)
        if kind == SEPARATE:
            _set_apart(name, entry)
        return entry

    def _set_apart(name: str | None, entry: _Entry) -> None:
        entry.library.is_separate = True
        entry.description.mangled_name = entry.symbols[0]
        if name is not None:
            _separate[name] = entry

    def _environment(names: dict[str, Any], symbol: str, constants: list[Any]) -> Any:
        environment = Environment(names)
        environment.consts[:] = constants
        environment.env_name = symbol
        return environment

    class _Flags(compiler.Flags):
        """Numba's flags, compared faster: it looks up what it has found before by them, thousands of times."""

        def __hash__(self) -> int:
            return _HASH

        def __eq__(self, other: object) -> bool:
            return (type(other) is _Flags and self._values == other._values) or super().__eq__(other)

    _HASH = hash(compiler.Flags())  # of the names of all flags: it is the same for all values

    class _RuleCompiler(_FunctionCompiler):
        """Translates a function. Its code is not finished."""

        for_python = False

        def _customize_flags(self, flags: Any) -> Any:
            flags.no_compile = True
            flags.no_cpython_wrapper = not self.for_python
            flags.no_cfunc_wrapper = True
            return _Flags(flags)

    class _PythonCompiler(_RuleCompiler):
        """Translates a function that Python calls."""

        for_python = True

    class _AddressCompiler(_CFuncCompiler):
        """Translates a function that is called like one of C."""

        def _customize_flags(self, flags: Any) -> Any:
            return _Flags(super()._customize_flags(flags))

    class _Inner:
        """Stands for a function that compiled code calls, in the tables of Numba."""

        def __init__(self, name: str) -> None:
            self.__name__ = name

    class _Inlaid(_Dispatcher):
        """A function that is compiled into its callers.

        `overloads` holds what was compiled for compiled callers, Numba's own table what Python calls.
        """

        is_separate = False

        def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None, **more: Any) -> None:
            super().__init__(py_func, locals, targetoptions, **more)
            parts = py_func, self.targetdescr, self.targetoptions, self.locals, compiler.Compiler
            self._compiler, self._for_python = _RuleCompiler(*parts), _PythonCompiler(*parts)
            self._entries: dict[Any, Any] = {}

        def get_call_template(self, args: Any, kws: Any) -> Any:
            """Numba's template of a call with these types, for a compiled caller."""
            pysig, args = self._compiler.fold_argument_types(args, kws)
            if self._can_compile:
                self._compile_inside(tuple(args))
            name = self.py_func.__name__
            template = make_concrete_template(f"call of {name}", key=name, signatures=self.nopython_signatures)
            return template, pysig, args, {}

        def _compile_inside(self, args: tuple[Any, ...]) -> None:
            """Compile for a compiled caller."""
            with global_compiler_lock, self._compiling_counter:
                if args in self.overloads:
                    return
                if self.is_separate:
                    entry = self.entry(args)
                    result = compiler.compile_result(
                        typing_context=self.typingctx, target_context=self.targetctx, library=entry.library,
                        fndesc=entry.description, signature=entry.signature, objectmode=False, lifted=(),
                    )  # fmt: skip
                else:
                    note_compiled(self.py_func)
                    with _own_libraries():
                        result = self._translated(self._compiler, args, None)
                stand_in = _Inner(self.py_func.__name__)
                self.targetctx.insert_user_function(stand_in, result.fndesc, [result.library])
                self.overloads[args] = result._replace(entry_point=stand_in)

        def entry(self, args: tuple[Any, ...]) -> _Entry:
            """The entry point for compiled callers elsewhere."""

            def compile_() -> Any:
                result = self._translated(self._compiler, args, None)
                return result, result.fndesc.mangled_name

            with global_compiler_lock:
                entry, was_kept = _entry(self.py_func, args, SEPARATE, compile_)
                (self._cache_hits if was_kept else self._cache_misses)[args] += 1
                return entry

        def compile(self, sig: Any) -> Any:
            """Compile for Python. Returns what is to be called."""
            with global_compiler_lock, self._compiling_counter:
                if not self._can_compile:
                    raise RuntimeError("compilation disabled")
                args, return_type = sigutils.normalize_signature(sig)
                args = tuple(args)
                if args not in self._entries:

                    def compile_() -> Any:
                        result = self._translated(self._for_python, args, return_type)
                        return result, result.fndesc.llvm_cpython_wrapper_name

                    entry, was_kept = _entry(self.py_func, args, f"python {self.targetoptions}", compile_)
                    (self._cache_hits if was_kept else self._cache_misses)[args] += 1
                    source = self.py_func
                    environment = _environment(source.__globals__, f"{entry.symbols[0]}.environment", entry.constants)
                    function = _dynfunc.make_function(
                        sys.modules.get(source.__module__), source.__name__, source.__doc__ or "", entry.address(),
                        environment, (entry.library,),
                    )  # fmt: skip
                    self._insert([kind._code for kind in args], function, False)
                    self._entries[args] = function
                return self._entries[args]

        def _translated(self, with_: Any, args: tuple[Any, ...], return_type: Any) -> Any:
            try:
                return with_.compile(args, return_type)
            except ForceLiteralArg as error:
                raise error.bind_fold_arguments(
                    lambda given, kws: self._compiler.fold_argument_types(given, kws)[1]
                ) from None

    class _Rule(_Inlaid):
        """A rule."""

        forms: Mapping[tuple[int, ...], Any] = {}

        def compile(self, sig: Any) -> Any:
            """Compile for Python, in the form for these types. Returns what is to be called."""
            args = tuple(sigutils.normalize_signature(sig)[0])
            form = form_of(self, args)
            if form is self:
                return super().compile(sig)
            self._insert([kind._code for kind in args], found := form.compile(sig), False)
            return found

        def get_overload(self, sig: Any) -> Any:
            """What stands for the code for these types in the tables of Numba."""
            form = form_of(self, sigutils.normalize_signature(sig)[0])
            return super().get_overload(sig) if form is self else form.get_overload(sig)

        def get_call_template(self, args: Any, kws: Any) -> Any:
            """Numba's template of a call with these types, for a compiled caller."""
            form = form_of(self, args)
            if form is not self:
                return form.get_call_template(args, kws)
            wide = _plain if self.is_separate else widened
            return super().get_call_template(tuple(map(wide, args)), {name: wide(kind) for name, kind in kws.items()})

    def _plain(kind: Any) -> Any:
        """The type of an argument of a separate rule: one for an array in a record and for any other."""
        if isinstance(kind, types.NestedArray):
            return types.Array(kind.dtype, kind.ndim, "C")
        return widened(kind)

    @lower_cast(types.NestedArray, types.Array)
    def _(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
        return value  # they are the same in memory

    def compiled_rule(function: Any, options: dict[str, Any], is_separate: bool = False) -> Any:
        """The rule of a function: a dispatcher of Numba, which compiles it when it is called."""
        found = _Rule(function, targetoptions={"nopython": True, "boundscheck": None, **options})
        found.is_separate = is_separate
        return found

    def address_of(function: Any, signature: Any) -> int:
        """The address at which a function can be called like one of C, with a signature of Numba."""

        def compile_() -> Any:
            parts = cpu_target, {}, {}, compiler.Compiler
            result = _AddressCompiler(function, *parts).compile(signature.args, signature.return_type)
            return result, result.fndesc.llvm_cfunc_wrapper_name

        with global_compiler_lock:
            return _entry(function, signature, "C", compile_)[0].address()

    def native_address(rule: Any, args: tuple[Any, ...]) -> int:
        """The address at which compiled code calls a separate rule with arguments of these types."""
        return rule.entry(args).address()

else:
    from numba.core import compiler, sigutils
    from numba.core.ccallback import CFunc
    from numba.core.serialize import dumps

    class _StockCache:
        """Keeps what Numba compiles by itself, in the place of Numba's own cache, which compares dates of files."""

        cache_path = ""

        def __init__(self, function: Any, kind: str) -> None:
            self.function, self.kind = function, kind

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            """The kept code of a signature, or None if there is none or it cannot be read."""
            target_context.refresh()
            name = _name(self.function, sig, self.kind)
            content = read(name) if name is not None else None
            try:
                if content is not None:
                    return compiler.CompileResult._rebuild(target_context, *pickle.loads(content))
            except _TROUBLES:
                pass
            note_compiled(self.function)
            return None

        def save_overload(self, sig: Any, data: Any) -> None:
            """Keep the code of a signature, if that is possible."""
            name = _name(self.function, sig, self.kind)
            if name is not None and not data.library.has_dynamic_globals:
                write(name, dumps(data._reduce()))

    def compiled_rule(function: Any, options: dict[str, Any], is_separate: bool = False) -> Any:
        """The rule of a function: a dispatcher of Numba, which compiles it when it is called."""
        found: Any = numba.njit(**options)(function)
        found._cache, found.forms = _StockCache(function, f"rule {options}"), {}
        template, compile_, overload = found.get_call_template, found.compile, found.get_overload

        def template_of(args: Any, kws: Any) -> Any:
            form = form_of(found, args)
            if form is not found:
                return form.get_call_template(args, kws)
            return template(tuple(map(widened, args)), {name: widened(kind) for name, kind in kws.items()})

        def compiled(sig: Any) -> Any:
            form = form_of(found, sigutils.normalize_signature(sig)[0])
            return compile_(sig) if form is found else form.compile(sig)

        def overload_of(sig: Any) -> Any:
            form = form_of(found, sigutils.normalize_signature(sig)[0])
            return overload(sig) if form is found else form.get_overload(sig)

        found.get_call_template, found.compile, found.get_overload = template_of, compiled, overload_of
        return found

    def address_of(function: Any, signature: Any) -> int:
        """The address at which a function can be called like one of C, with a signature of Numba."""
        compiled: Any = CFunc(function, (signature.args, signature.return_type), locals={}, options={})
        compiled._cache = _StockCache(function, "C")
        with _compiling(function):
            compiled.compile()
        _alive.append(compiled)
        return compiled.address

    def native_address(rule: Any, args: tuple[Any, ...]) -> int:
        """The address at which compiled code calls a separate rule with arguments of these types."""
        rule.compile(args)
        result = rule.overloads[args]
        return result.library.get_pointer_to_function(result.fndesc.mangled_name)
