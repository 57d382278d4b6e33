"""Why a rule does not compile, in one sentence with file and line, made from the compiler's error and the source.

The compiler's own messages are long, and many of them have no line or name no cause. `explained` reads the source of
the rule and of the rules that it calls to find both.
"""

import ast
import inspect
import linecache
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardai.errors import CardaiError, short, unknown
from cardai.game.compiled.native import ROLES
from cardai.rules import JIT
from cardai.rules.cards import LIMIT, MOST, full_deck, same_rank, single


class Place(NamedTuple):
    """A line of source."""

    file: str
    line: int

    def __str__(self) -> str:
        source = linecache.getline(self.file, self.line).strip()
        return f"({_near(self.file)}, line {self.line}{f': {short_line(source)}' if source else ''})"


class Reason(NamedTuple):
    """Why a rule does not compile, and where, if that is known."""

    why: str
    place: Place | None


def refuse_parameters(game: str, role: str, function: Callable[..., Any]) -> None:
    """Raises CardaiError unless `function` is a function with as many parameters as rules of its role have."""
    source, wanted = getattr(function, "py_func", function), ROLES[role].parameters
    code = getattr(source, "__code__", None)
    if code is None:
        raise CardaiError(f"{game}: {role} is {short(function)}; it must be a function marked @rule")
    if JIT and not hasattr(function, "py_func"):
        raise CardaiError(f"{game}: {role} must be a rule; mark {source.__name__} with @rule {_place_of_def(source)}")
    given = tuple(inspect.signature(source).parameters.values())
    plain = all(one.kind is one.POSITIONAL_OR_KEYWORD and one.default is one.empty for one in given)
    if len(given) != len(wanted) or not plain:
        form = f"{source.__name__}({', '.join(map(str, given))})"
        raise CardaiError(f"{game}: {role} takes ({', '.join(wanted)}), but the rule is {form} {_place_of_def(source)}")


def refuse_large_sets(game: str, function: Callable[..., Any]) -> None:
    """Raises CardaiError if a rule, or one that it calls, makes a set in one number of a constant that is too large.

    Compiled code would make another set. Only constants can be seen before a rule runs.
    """
    for rule in _rules_from(getattr(function, "py_func", function)):
        code, scope = rule.__code__, rule.__globals__
        named = [name for name in code.co_names if id(scope.get(name)) in _MOST]
        values = [*code.co_consts, *(scope.get(name) for name in code.co_names)]
        if not named or not any(type(value) is int and value >= MOST for value in values):
            continue
        for node in ast.walk(_tree(rule)):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
                continue
            most, given = _MOST.get(id(scope.get(node.func.id))) if node.func.id in named else None, node.args[-1]
            value = given.value if isinstance(given, ast.Constant) else scope.get(getattr(given, "id", ""))
            if most is not None and type(value) is int and value > most:
                what = f"calls {node.func.id}({value}), where {most} is the most; {LIMIT}"
                raise CardaiError(f"{game}: the rule {rule.__name__} {what} {Place(code.co_filename, node.lineno)}")


_MOST = {id(full_deck): MOST, id(single): MOST - 1, id(same_rank): MOST - 1}  # by rule: the largest argument


def explained(error: Exception, role: str, function: Callable[..., Any], state: np.dtype, move: np.dtype) -> str:
    """One sentence for an error of the compiler: the rule, the reason, and the line of the fault."""
    source = getattr(function, "py_func", function)
    rules = list(_rules_from(source))
    text = str(error)
    reason = (
        _field(error, rules, state, move)
        or _result(text, role, source)
        or _name(text, rules)
        or _circle(text, rules)
        or _foreign(text, rules)
        or _other(text)
    )
    place = reason.place or _place_in(text, rules) or _place_of_def(source)
    return f"the rule {source.__name__} does not compile: {reason.why} {place}"


# The reasons. Each function returns None if the error is of another kind.


def _field(error: Exception, rules: list[Any], state: np.dtype, move: np.dtype) -> Reason | None:
    """A field that the record does not have. The compiler raises a KeyError with its name and no line."""
    if not isinstance(error, KeyError) or len(error.args) != 1 or not isinstance(error.args[0], str):
        return None
    name, known = error.args[0], [*(state.names or ()), *(move.names or ())]
    place = next((place for rule in rules for place in _uses(rule, name)), None)
    return Reason(unknown("field", name, dict.fromkeys(known)), place)


def _uses(function: Callable[..., Any], field: str) -> Iterator[Place]:
    """Where a rule reads or writes `x.field` or `x["field"]`."""
    for node in ast.walk(_tree(function)):
        if not isinstance(node, ast.Attribute | ast.Subscript):
            continue
        is_key = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == field
        if is_key or (isinstance(node, ast.Attribute) and node.attr == field):
            yield Place(function.__code__.co_filename, node.lineno)


def _result(text: str, role: str, function: Callable[..., Any]) -> Reason | None:
    """A rule whose result is missing, on all its ways or on some, or of another type."""
    no_conversion = re.search(r"No conversion from (.+) to \w+ for '\S*return_value", text)
    branches = re.search(r"Can't unify return type from the following types: ([^\n]+)", text)
    if no_conversion and ROLES[role].result != "void":
        must = f"{role} must return {ROLES[role].returns}"
        if not no_conversion[1].startswith(("none", "Omitted", "OptionalType")):
            return Reason(f"{must}, not {_type_in_words(no_conversion[1])}", None)
        returns = [node for node in ast.walk(_tree(function)) if isinstance(node, ast.Return)]
        if not any(node.value for node in returns):
            return Reason(f"it has no return with a value; {must}", _place_of_def(function))
        bare = next((node for node in returns if node.value is None), None)
        where = Place(function.__code__.co_filename, bare.lineno) if bare else _place_of_def(function)
        return Reason(f"not every way through it ends in a return with a value; {must}", where)
    if branches:
        types = [_type_in_words(name) for name in dict.fromkeys(branches[1].split(", "))]
        return Reason(f"it returns {' in one branch and '.join(types)} in another; all must be of one type", None)
    return None


def _name(text: str, rules: list[Any]) -> Reason | None:
    """A name that is not defined, or that means something that compiled code cannot use."""
    undefined = re.search(r"name '(\w+)' is not defined", text)
    if undefined:
        name = undefined[1]
        for rule in rules:
            known = [*rule.__globals__, *rule.__code__.co_varnames]
            for node in ast.walk(_tree(rule)):
                if isinstance(node, ast.Name) and node.id == name:
                    return Reason(
                        unknown("name", name, known).partition(";")[0] + _similar(name, known),
                        Place(rule.__code__.co_filename, node.lineno),
                    )
        return Reason(f"there is no name {name!r}", None)
    untyped = re.search(r"Untyped global name '(\w+)'.*?<class '([\w.]+)'>", text, re.DOTALL)
    if untyped:
        name, kind = untyped[1], untyped[2].rpartition(".")[2]
        if kind in ("function", "method", "builtin_function_or_method"):
            return Reason(f"{name} is a plain Python function; mark it with @rule to call it from a rule", None)
        return Reason(f"{name} is a Python {kind}; a rule can use numbers, tuples and NumPy arrays of its module", None)
    listed = re.search(r"reflected (\w+)\(.*assigned to variable '(\w+)' in globals", text)
    if listed:
        return Reason(f"{listed[2]} is a Python {listed[1]}; make it a tuple or a NumPy array", None)
    return None


def _similar(name: str, known: list[str]) -> str:
    sentence = unknown("name", name, known)
    return sentence[sentence.index(";") :] if "did you mean" in sentence else ""


def _circle(text: str, rules: list[Any]) -> Reason | None:
    """Rules that call each other in a circle."""
    if "compiler re-entrant" not in text and "recursion" not in text.lower():
        return None
    names = dict.fromkeys(re.findall(r"CPUDispatcher\(<function (?:\w+\.<locals>\.)?(\w+) at", text))
    called = " and ".join(names) or " and ".join(rule.__name__ for rule in rules)
    return Reason(f"{called} call each other in a circle; a rule must not, use a loop instead", _place_of_def(rules[0]))


_FOREIGN = {
    (ast.List, ast.ListComp): "list",
    (ast.Dict, ast.DictComp): "dict",
    (ast.Set, ast.SetComp): "set",
    (ast.GeneratorExp,): "generator expression",
    (ast.JoinedStr,): "text",
    (ast.Try,): "try",
    (ast.With,): "with",
    (ast.Match,): "match",
    (ast.Lambda,): "lambda",
    (ast.Global, ast.Nonlocal): "global variable that it changes",
}


def _foreign(text: str, rules: list[Any]) -> Reason | None:
    """A part of Python that rules do not have, at the line of the error, or anywhere if the error has no such line."""
    place = _place_in(text, rules)
    found = [
        (Place(rule.__code__.co_filename, getattr(node, "lineno", 0)), word)
        for rule in rules
        for node in ast.walk(_tree(rule))
        for kinds, word in _FOREIGN.items()
        if isinstance(node, kinds)
    ]
    here = [(where, word) for where, word in found if where == place]
    blocks = [(where, word) for where, word in found if place is None or word in ("try", "with", "match")]
    for where, word in here or blocks:
        return Reason(f"a rule cannot use a {word}; it has numbers, arrays, ifs, loops and other rules", where)
    return None


def _other(text: str) -> Reason:
    """Any other error of the compiler: its first line that says something, in our words where we know them."""
    call = re.search(r"No implementation of function Function\((.+?)\) found for signature:\s*>>> (\w+)\((.*)\)", text)
    if call:
        arguments = [_type_in_words(argument) for argument in _split(call[3])]
        if call[2] in ("getitem", "setitem", "static_getitem", "static_setitem"):
            return Reason(f"{arguments[0]} has no item at {' and '.join(arguments[1:2])}", None)
        return Reason(f"compiled code has no {call[2]} of {' and '.join(arguments)}", None)
    cast = re.search(r"Cannot cast (.+?) to ([\w()]+):", text)
    if cast:
        return Reason(f"{_type_in_words(cast[1])} cannot be used as {_type_in_words(cast[2])}", None)
    attribute = re.search(r"Unknown attribute '(\w+)' of type (.+)", text)
    if attribute:
        return Reason(f"{_type_in_words(attribute[2])} has no attribute {attribute[1]!r}", None)
    array_field = re.search(r"No definition for lowering unaligned array\(.*\)\.(\w+) = ", text)
    if array_field:
        field = array_field[1]
        return Reason(f"an array of records has no field {field!r}; one of its records has: moves[n].{field}", None)
    if "Cannot bind 'args=" in text:
        called = re.search(r"to signature '(.+?)'", text)
        takes = f", which takes {called[1]}" if called else ""
        return Reason(f"it calls a rule with a wrong number of arguments{takes}", None)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("Failed in")]
    first = re.sub(r"\.?\s*Raised from .*", "", (lines or ["the compiler gives no reason"])[0])
    return Reason(f"{first} (rules are compiled code: numbers, arrays, ifs and loops)", None)


_TYPES = (
    (r"Literal\[str\]\((.*)\)$", r"the text '\1'"),
    (r"Literal\[int\]\((.*)\)$", r"the number \1"),
    (r"(u?int\d+|bool)$", "a whole number"),
    (r"float\d+$", "a number with a fraction"),
    (r"unicode_type$", "a text"),
    (r"none$", "nothing"),
    (r"(reflected )?list\(.*", "a list"),
    (r"(DictType|dict)\b.*", "a dict"),
    (r"(Uni)?Tuple\(.*", "a tuple"),
    (r"(unaligned )?(nested)?array\(.*", "an array"),
    (r"Record\(.*", "a record"),
)


def _type_in_words(name: str) -> str:
    for pattern, words in _TYPES:
        if re.match(pattern, name.strip()):
            return re.sub(pattern, words, name.strip())
    return short_line(name.strip())


def _split(arguments: str) -> list[str]:
    """The arguments of a signature, apart at the commas that are in no brackets."""
    parts, depth = [""], 0
    for letter in arguments:
        depth += (letter in "([{<") - (letter in ")]}>")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


# The source.


def _rules_from(function: Callable[..., Any]) -> Iterator[Any]:
    """A rule and the rules that it calls, as plain functions, each once."""
    waiting, seen = [function], set()
    while waiting:
        one = waiting.pop(0)
        if one in seen:
            continue
        seen.add(one)
        yield one
        scope = {**one.__globals__, **inspect.getclosurevars(one).nonlocals}
        names = *one.__code__.co_names, *one.__code__.co_freevars
        callees = (getattr(scope.get(name), "py_func", None) for name in names)
        waiting += [callee for callee in callees if callee is not None]


def _tree(function: Callable[..., Any]) -> ast.AST:
    """The parsed source of a function with the line numbers of its file. Empty if it has no file."""
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError):  # typed at a prompt, or a lambda within a longer expression
        return ast.Module([], [])
    return ast.increment_lineno(tree, first - 1)


def _place_of_def(function: Callable[..., Any]) -> Place:
    """The line of a function's `def`, which follows its decorators."""
    node = next((node for node in ast.walk(_tree(function)) if isinstance(node, ast.FunctionDef)), None)
    return Place(function.__code__.co_filename, node.lineno if node else function.__code__.co_firstlineno)


def _place_in(text: str, rules: list[Any]) -> Place | None:
    """The first line that an error names in the file of one of the rules."""
    files = {Path(rule.__code__.co_filename).resolve(): rule.__code__.co_filename for rule in rules}
    named = re.findall(r'(?:at (\S.*?) \((\d+)\)|File "(.+?)", line (\d+))', text)
    for at, at_line, file, line in named:
        known = files.get(Path(at or file).resolve())
        if known:
            return Place(known, int(at_line or line))
    return None


def _near(file: str) -> str:
    """A file as the user would name it: from the working directory if it is below it."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


def short_line(text: str, most: int = 80) -> str:
    """A line of source for a message, cut to `most` characters."""
    return text if len(text) <= most else f"{text[: most - 3]}..."
