"""What is shown of the laws that were tested on a game: what was not tested, what is broken, and a line of numbers."""

import re
import textwrap
from collections import defaultdict
from collections.abc import Sequence

from cardai.laws.law import CAUSES, Cause, LawResult

WIDTH = 80  # columns
FEW = 2  # laws that are named beside the reason why they were not tested; more are counted
LACK = re.compile(r"the game has no (`\w+`)")


def report(name: str, results: Sequence[LawResult], verbose: bool = False) -> str:
    """Return the results on the game `name` as lines of text, with what matters most at the end.

    `verbose` names every law, and what it looked at.
    """
    broken, untested, holding = (
        [result for result in results if result.verdict == verdict] for verdict in ("broken", "not tested", "holds")
    )
    lines = [f"holds {_seen(result)}" for result in holding] if verbose else []
    for cause in reversed(CAUSES):
        lines += _not_tested(cause, [result for result in untested if result.cause == cause], verbose)
    for result in broken:
        lines += ["", f"BROKEN {result.law}: {result.about}.", f"  {result.why.removeprefix(f'{result.law}: ')}"]
    if cut := [result for result in results if result.cut]:
        least = min(cut, key=lambda result: result.looked / result.total)
        part = f"a part, for want of time (the least: {least.law}, {least.looked} of {least.total})"
        laws = f"{len(cut)} law{'s' if len(cut) > 1 else ''}"
        lines += ["", f"{laws} looked at {part}; more --seconds or --effort thorough looks at all"]
    hold = f"{len(holding)} hold{'s' if len(holding) == 1 else ''}"
    lines += ["", f"{name}: {len(broken)} broken, {_in_short(untested)}, {hold}"]
    return "\n".join([*lines, *_warning(untested)]).lstrip("\n")


def _warning(untested: Sequence[LawResult]) -> list[str]:
    """The last lines for a game that hides something and leaves out a field by which laws see what its rules do."""
    blind = [result.law for result in untested if result.cause == "field"]
    if not blind:
        return []
    fields, count = _missing(untested), f"{len(blind)} law{'s' if len(blind) > 1 else ''}"
    what = f"this game hides cards and has no {fields}, so {count} on where cards lie saw nothing"
    return textwrap.wrap(f"WARNING: {what}: cards that are dealt unevenly are not found", WIDTH)


def _missing(untested: Sequence[LawResult]) -> str:
    """The fields that are missing: "`holdings`"."""
    matches = (LACK.match(result.why) for result in untested if result.cause == "field")
    return " and ".join(dict.fromkeys(match[1] for match in matches if match))


def _in_short(untested: Sequence[LawResult]) -> str:
    """How many laws were not tested, and why: "7 not tested (2: `holdings` is missing; 5: ...)"."""
    parts = []
    for cause, words in CAUSES.items():
        some = [result for result in untested if result.cause == cause]
        if cause == "field":
            fields = _missing(some)
            words = f"{fields} {'are' if ' and ' in fields else 'is'} missing"
        parts += [f"{len(some)}: {words}"] if some else []
    return f"{len(untested)} not tested" + (f" ({'; '.join(parts)})" if parts else "")


def reasons(results: Sequence[LawResult]) -> list[tuple[str, list[str]]]:
    """Why laws were not tested, the most frequent reason first, and which laws.

    Fields that the game leaves out, and that it need not have, are one reason.
    """
    found: defaultdict[str, list[str]] = defaultdict(list)
    lacking: dict[str, None] = {}
    for result in results:
        lack = LACK.fullmatch(result.why)
        if lack:
            lacking[lack[1]] = None
        found["" if lack else result.why].append(result.law)
    named = [(why or f"the game has no {', '.join(lacking)}", laws) for why, laws in found.items()]
    return sorted(named, key=lambda reason: -len(reason[1]))


def _not_tested(cause: Cause, results: Sequence[LawResult], verbose: bool) -> list[str]:
    """The lines on laws that were not tested for one cause: a line for each reason, with the laws or their number."""
    lines = ["", f"not tested, {CAUSES[cause]}:"] if results else []
    for said, laws in reasons(results):
        is_named = verbose or cause == "field" or len(laws) <= FEW
        lines += _wrapped(f"{said} ({', '.join(laws) if is_named else f'{len(laws)} laws'})")
    return lines


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False, break_long_words=False
    )


def _seen(result: LawResult) -> str:
    """A law that holds, what it looked at and its remark, in words."""
    number = f"{result.looked} of {result.total}" if result.cut else str(result.looked)
    said = f"looked at {number} {result.what.removesuffix('s') if number == '1' else result.what}"
    return f"{result.law} ({said}{f'; {result.remark}' if result.remark else ''})"
