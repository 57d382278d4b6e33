"""The `cardai` command. Its verbs are entry points of the group `cardai.verbs`, `name = "module:function"`, ours too.

Exit codes: 0 done; 1 the answer is no (a law is broken, a game does not load), or a cluster failed; 2 refused, and one
sentence on stderr says why; 130 interrupted, and what was finished until then has been reported.

A verb is a function, or an `App` of cyclopts with verbs of its own. The first line of the function's docstring, or the
App's `help`, is shown in `cardai --help`, under the heading that the module names with `GROUP = "Learn"` (a heading in
`GROUPS`; "Other" if it names none). Both are read from the source: `--help` imports no such module.
"""

import ast
import errno
import functools
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from cyclopts import App, CycloptsError, Group, UnknownCommandError

from cardai.cli.verbs.shared import BROKEN_PIPE, INTERRUPTED, REFUSED, error_type, refused, silence
from cardai.files.entries import brought

GROUPS = {name: Group.create_ordered(name) for name in ("Play", "Measure", "Learn", "Games", "Experiments", "Other")}
"""The headings of `cardai --help`, in order."""


def _version() -> str:
    from importlib.metadata import version

    return version("cardai")


app = App(
    name="cardai",
    help="Card-game AI: fast simulation, hidden information that stays hidden, agents, benchmarks, a table to play at.",
    version=_version,
    group_commands=GROUPS["Other"],
    help_format="plaintext",
    exit_on_error=False,
    print_error=False,
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)


@functools.cache
def add_verbs() -> None:
    """Add all verbs. Their modules are imported when they run; one whose module is gone is left out."""
    for name, entry in brought("cardai.verbs").items():
        about, group = read_verb(entry.module, entry.attr)
        app.command(entry.value, name=name, help=about, group=group)


@functools.cache
def _statements(module: str) -> list[ast.stmt]:
    """What a module says. Nothing if it cannot be read: the verb fails when it is used; the others work."""
    spec = find_spec(module)
    try:
        return ast.parse(Path(spec.origin).read_text("utf-8")).body if spec and spec.origin else []
    except (OSError, SyntaxError):
        return []


def read_verb(module: str, name: str) -> tuple[str | None, Group | None]:
    """What `--help` says of a verb, and the group that its module names, both read from the source."""
    about = group = None
    for node in _statements(module):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            about = (ast.get_docstring(node) or "").partition("\n")[0]
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "GROUP":
            group = GROUPS.get(ast.literal_eval(node.value))
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name and isinstance(node.value, ast.Call):
            about = next((ast.literal_eval(one.value) for one in node.value.keywords if one.arg == "help"), None)
    return about, group


def main() -> None:
    """The console script."""
    is_heard = sys.stdout is not None
    _open_closed_streams()
    sys.exit(run(sys.argv[1:]) if is_heard else refused("standard output is closed: there is nowhere to print to"))


def _open_closed_streams() -> None:
    """Open the standard streams that the caller closed, or the next file that is opened would take their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115


def run(tokens: Sequence[str]) -> int:
    """Run one command line. Returns its exit code."""
    add_verbs()
    try:
        code = app(tokens)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except UnknownCommandError as error:
        from cardai.errors import unknown

        verbs = [name for name in (error.app or app).resolved_commands() if not name.startswith("-")]
        return refused(unknown("command", (error.unused_tokens or tokens)[0], verbs))
    except CycloptsError as error:
        return refused(" ".join(str(error).split()))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except MemoryError:
        return refused("there is not enough memory for that")
    except OSError as error:
        return _failed(error)
    except Exception as error:
        if isinstance(error, error_type()):
            return refused(str(error), getattr(error, "exit_code", REFUSED))
        raise  # a bug in cardai: show its traceback


_OUTSIDE = (
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EBADF,
    errno.EMFILE, errno.ENFILE, errno.EISDIR, errno.ENAMETOOLONG, errno.ENXIO, errno.EAGAIN,
)  # fmt: skip
"""Failures of a disk, a terminal or the system, which no code can prevent. Others are bugs in cardai."""


def _failed(error: OSError) -> int:
    """Refuse what the system did not do. Returns the exit code. Raises `error` again if it is a bug in cardai."""
    if isinstance(error, BrokenPipeError):  # the program that reads has ended, as `head` does
        silence(sys.stdout)
        return BROKEN_PIPE
    if error.errno not in _OUTSIDE:
        raise error
    why = error.strerror or error
    if error.filename is not None:
        return refused(f"cannot use {error.filename}: {why}")
    silence(sys.stdout)  # a stream: those that read and write files name them
    return refused(f"cannot print: {why}")
