"""Experiments and their results in a terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from rich import box
from rich.console import Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from cardai.cli.show.progress import Line
from cardai.experiments.machinery.catalogue import EXPERIMENTS, page_of


@dataclass(frozen=True)
class ExperimentList:
    """The list of all experiments: {name: its entry in the catalogue}."""

    entries: Mapping[str, Mapping[str, Any]]

    def as_json(self) -> list[dict[str, Any]]:
        """The entry of each experiment, with the command that runs it."""
        return [{"experiment": name, "command": _command(name), **entry} for name, entry in self.entries.items()]

    def table(self) -> Any:
        """For a terminal: a rich renderable."""
        table = Table(box=box.HORIZONTALS, padding=(0, 1, 1, 0))
        table.add_column("experiment", no_wrap=True)
        table.add_column("question, claim and source")
        table.add_column("minutes", justify="right")
        for name, entry in self.entries.items():
            text = f"{entry['question']}\n[dim]claimed: {escape(entry['claim'])} ({escape(entry['source'])})[/]"
            table.add_row(name, text, f"{entry['minutes']:g}")
        notes = f"{_command('NAME')} runs one, {_command('all')} all of them; minutes: --scale small on two cores"
        return Group(table, Text(notes, style="dim"))


@dataclass(frozen=True)
class ReproductionSummary:
    """Results of experiments, {experiment not run: the module it lacks}, and the path of the report."""

    results: Sequence[Mapping[str, Any]]
    missing: Mapping[str, str]
    report: Path

    def as_json(self) -> dict[str, Any]:
        """All fields as plain JSON types; each result also has its question and answers."""
        return {
            "results": [_with_words(result) for result in self.results],
            "missing": dict(self.missing),
            "report": str(self.report),
        }

    def table(self) -> Any:
        """For a terminal: a rich renderable."""
        parts = [part for result in self.results for part in _shown(result, len(self.results) == 1)]
        parts += [Text(f"not run: {name} needs {what}", style="yellow") for name, what in self.missing.items()]
        return Group(*parts, Text(f"report: {self.report}", style="dim"))


@dataclass(frozen=True)
class Validity:
    """What behaves otherwise now than when results were measured: {experiment: what has changed}.

    A result is valid if nothing has.
    """

    changed: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, results: Sequence[Mapping[str, Any]]) -> Self:
        """Compute how everything behind these results behaves now, which may take some minutes."""
        from cardai.experiments.machinery.behaviour import behaviour, differences

        changed = {}
        with Line("behaviour") as line:
            for number, result in enumerate(results):
                name = result["experiment"]
                line(number, len(results), name)
                changed[name] = differences(result["behaviour"], behaviour(name, result["scale"]))
        return cls(changed)

    def as_json(self) -> dict[str, Any]:
        """{experiment: {"valid", "changed"}}."""
        return {name: {"valid": not what, "changed": list(what)} for name, what in self.changed.items()}

    def table(self) -> Any:
        """For a terminal: a rich renderable."""
        parts = [
            Text(f"{name}: not valid any more, changed: {', '.join(what)}", style="red")
            if what
            else Text(f"{name}: valid", style="green")
            for name, what in self.changed.items()
        ]
        valid = sum(not what for what in self.changed.values())
        return Group(*parts, Text(f"{valid} of {len(self.changed)} results are valid", style="bold"))


def _command(name: str) -> str:
    return f"cardai reproduce {name}"


def _with_words(result: Mapping[str, Any]) -> dict[str, Any]:
    name = result["experiment"]
    return {"question": EXPERIMENTS[name].question, "answers": page_of(name).answers(result), **result}


def _shown(result: Mapping[str, Any], in_full: bool) -> list[Any]:
    """The parts of a result for a terminal: its answers, and if `in_full` also its tables and notes."""
    from cardai.experiments.machinery.report import legend, notes_of, tables

    name = result["experiment"]
    parts: list[Any] = [Text(f"{name}: {EXPERIMENTS[name].question}", style="bold")]
    for title, columns, lines in tables(result) if in_full else ():
        table = Table(title=title, title_justify="left", box=box.HORIZONTALS, padding=(0, 1, 0, 0))
        table.add_column("")
        for column in columns:
            table.add_column(column, justify="right")
        for line, cells in lines:
            table.add_row(escape(line), *map(_coloured, cells))
        parts.append(table)
    parts += [Text(line) for line in page_of(name).answers(result)]
    if in_full:
        notes = [*notes_of(result), *legend([result]), f"scale {result['scale']}, {result['seconds']:,.0f} s in all"]
        parts.append(Text("\n".join(notes), style="dim"))
    return parts


def _coloured(text: str) -> str:
    colours = {
        "reproduced": "green", "better": "green", "missed": "red", "undecided": "yellow", "undecidable": "yellow"
    }  # fmt: skip
    text = escape(text)
    for word, colour in colours.items():
        text = text.replace(f" {word}", f" [{colour}]{word}[/]")
    return text
