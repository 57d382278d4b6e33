"""The report: results of experiments as Markdown pages and one HTML page that needs nothing else.

    write(Path("report"), [read_sealed(path) for path in paths])

A folder of a report holds README.md, a page and the sealed result of each experiment, their figures, and index.html.
`write_again(folder)` makes all of it from the results that lie there. No figure is written by hand: whoever changes a
result makes it unreadable.
"""

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cardai.errors import CardaiError
from experiments.machinery.catalogue import EXPERIMENTS, HEADLINES, SCALES, module
from experiments.machinery.charts import svg
from experiments.machinery.findings import VERDICTS, shown
from experiments.machinery.provenance import read_sealed, write_sealed

Result = Mapping[str, Any]

LEGEND = (
    "Figures are points with 95 % intervals; in brackets what was claimed. reproduced: the same within the errors of"
    " both; beaten, missed: the difference is more than chance; undecided: the error is too large to say."
)


SHOWN = ("moska-table1",)
"""Experiments whose tables stand beside the headlines in a page of somebody else's, see `put_into`."""
MARKS = "<!-- written by `cardai report`, not by hand -->", "<!-- end of what `cardai report` writes -->"
HEADS = ("table", "row", "figure", "claim", "verdict", "n", "seed", "s", "commit", "command")
"""Of the table of all rows."""


def results_in(folder: Path) -> list[dict[str, Any]]:
    """The results that lie in a folder of a report, or of runs, in the order of the catalogue.

    Raises CardaiError for one that was changed, and when there is none.
    """
    places = [*folder.glob("*/result.json"), *folder.glob("*.json")]
    results = [one for one in map(read_sealed, sorted(places)) if one.get("experiment") in EXPERIMENTS]
    if not results:
        raise CardaiError(f"there is no result of an experiment in {folder}")
    return sorted(results, key=lambda one: list(EXPERIMENTS).index(one["experiment"]))


def write(folder: Path, results: Sequence[Result]) -> Path:
    """Write a report of some results; the page to begin with. CardaiError for a place that cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return _written(folder, results)
    except OSError as error:
        raise CardaiError(f"cannot write to {folder}: {error.strerror or error}") from None


def _written(folder: Path, results: Sequence[Result]) -> Path:
    pages = []
    for result in results:
        name = result["experiment"]
        figures = module(name).draw(result)
        for title, figure in figures.items():
            (folder / f"{name}-{title}.svg").write_text(svg(figure), "utf-8")
        write_sealed(folder / f"{name}.json", {key: value for key, value in result.items() if key != "seal"})
        (folder / f"{name}.md").write_text(page(result, list(figures)), "utf-8")
        pages.append((result, {title: svg(figure, alone=False) for title, figure in figures.items()}))
    (folder / "README.md").write_text(overview(results), "utf-8")
    (folder / "index.html").write_text(_html(pages), "utf-8")
    return folder / "README.md"


def write_again(folder: Path) -> Path:
    """Write a report anew from the results in its folder."""
    return write(folder, results_in(folder))


def put_into(path: Path, results: Sequence[Result]) -> None:
    """Write the headlines, and the table of `SHOWN`, between the marks of a page of Markdown, such as a README.

    Raises CardaiError for a page that cannot be read, or is without the marks.
    """
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise CardaiError(f"cannot read {path}: {error.strerror or error}") from None
    first, mark, rest = text.partition(MARKS[0] + "\n")
    _, end, last = rest.partition(MARKS[1])
    if not mark or not end:
        raise CardaiError(f"{path} has no lines {MARKS[0]!r} and {MARKS[1]!r} to write between")
    path.write_text(f"{first}{mark}{excerpt(results)}{end}{last}", "utf-8")


def excerpt(results: Sequence[Result]) -> str:
    """The headlines and the table of `SHOWN`, as Markdown."""
    lines = [""]
    for question, answers in headlines(results):
        lines += [f"**{question}**", "", *(f"- {answer}" for answer in answers), ""]
    for result in (one for one in results if one["experiment"] in SHOWN):
        lines += _tables(result, "**{}** ({})")
    return "\n".join(lines)


def overview(results: Sequence[Result]) -> str:
    """README.md: what was asked, what came out (the first sentence of each answer), and how long it took."""
    lines = ["# Report", "", *_made(results), "", LEGEND, ""]
    for question, answers in headlines(results):
        lines += [f"**{question}**", "", *(f"- {answer}" for answer in answers), ""]
    lines += ["| experiment | question | answer | verdicts | minutes |", "|---|---|---|---|---:|"]
    for one in results:
        name = one["experiment"]
        answer = one["answer"][0]
        lines.append(
            f"| [{name}]({name}.md) | {one['question']} | {answer} | {_counts(one)} | {one['seconds'] / 60:.1f} |"
        )
    lines += [
        "",
        f"[All of it on one page](index.html). Seconds in all: {sum(one['seconds'] for one in results):,.0f}.",
    ]
    return "\n".join(lines) + "\n"


def headlines(results: Sequence[Result]) -> list[tuple[str, list[str]]]:
    """The questions most readers come with, each with the answers of the experiments about it."""
    answers = {one["experiment"]: one["answer"] for one in results}
    found = (
        (question, [line for name in names for line in answers.get(name, ())]) for question, names in HEADLINES.items()
    )
    return [(question, lines) for question, lines in found if lines]


def page(result: Result, figures: Iterable[str] = ()) -> str:
    """An experiment's page in Markdown."""
    name = result["experiment"]
    lines = [f"# {name}", "", f"**{result['question']}**", "", f"Claimed: {result['claim']} ({result['source']}).", ""]
    lines += [*result["answer"], ""]
    for title in figures:
        lines += [f"![{title.replace('-', ' ')}]({name}-{title}.svg)", ""]
    lines += _tables(result, "## {}")
    lines += [*(f"- {note}" for note in result["notes"]), "", "## Rows", ""]
    lines += ["| " + " | ".join(HEADS) + " |", "|---|---|---:|---:|---|---:|---:|---:|---|---|"]
    lines += ["| " + " | ".join(cells) + " |" for cells in rows(result)]
    lines += [
        "",
        *_made([result]),
        "",
        f"Made by `{result['command']}` in {result['seconds']:,.0f} s; code {result['code']}.",
    ]
    return "\n".join(lines) + "\n"


def _tables(result: Result, heading: str) -> list[str]:
    """The tables of a result in Markdown; `heading`: around the title of a table and the command that made it."""
    lines = []
    for title, columns, body in tables(result):
        lines += [heading.format(title, f"`{result['command']}`"), ""]
        lines += ["| | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
        lines += [f"| {line} | " + " | ".join(cells) + " |" for line, cells in body]
        lines.append("")
    return lines


def tables(result: Result) -> list[tuple[str, list[str], list[tuple[str, list[str]]]]]:
    """The tables of a result: (title, columns, [(line, cells)])."""
    found = []
    for title in dict.fromkeys(row["table"] for row in result["rows"]):
        own = [row for row in result["rows"] if row["table"] == title]
        columns = list(dict.fromkeys(row["column"] for row in own))
        cells = {(row["name"], row["column"]): cell(row) for row in own}
        names = dict.fromkeys(row["name"] for row in own)
        found.append((title, columns, [(name, [cells.get((name, one), "") for one in columns]) for name in names]))
    return found


def cell(row: Mapping[str, Any]) -> str:
    """A figure in a table: "16.0 (15.5-16.5) [14.25] missed"."""
    claim = f" [{claimed(row)}] {row['verdict']}" if row["claim"] else ""
    return shown(row["figure"], row["places"]) + claim


def claimed(row: Mapping[str, Any]) -> str:
    """A row's claim in words; "" without one."""
    claim = row["claim"]
    return "" if not claim else claim["words"] or f"{claim['value']:g}"


def rows(result: Result) -> list[list[str]]:
    """Every row in full, as texts."""
    found = []
    for row in result["rows"]:
        pieces = [result["pieces"][key] for key in row["piece"].split()]
        figure, seconds = row["figure"], sum(piece["seconds"] for piece in pieces)
        name = " ".join(part for part in (row["name"], row["column"]) if part)
        games = row["claim"]["games"] if row["claim"] else 0
        found.append(
            [
                row["table"],
                name,
                shown(figure, row["places"]),
                claimed(row) + (f" (n {games:,})" if games else ""),
                row["verdict"],
                f"{figure['n']:,} {figure['counted']}" if figure["n"] else "",
                str(row["seed"]),
                f"{seconds:,.0f}" if pieces else "",
                ", ".join(dict.fromkeys(str(piece["commit"] or "") for piece in pieces)),
                f"`{row['command']}`" if row["command"] else "",
            ]
        )
    return found


def _counts(result: Result) -> str:
    found = [row["verdict"] for row in result["rows"] if row["verdict"]]
    return ", ".join(f"{found.count(one)} {one}" for one in VERDICTS if one in found) or "-"


def _made(results: Sequence[Result]) -> list[str]:
    """Where the figures come from, in a few lines."""
    machines = {(one["processor"], one["usable_cpus"]): one for result in results for one in result["machines"]}
    commits = sorted({commit for result in results for commit in result["commits"]})
    days = sorted({day for result in results for day in result["days"]})
    scales = " and ".join(scale for scale in SCALES if any(one["scale"] == scale for one in results))
    lines = [f"Scale {scales}; commit {', '.join(commits)}; {days[0]}{f' to {days[-1]}' if len(days) > 1 else ''}."]
    lines += [
        f"{one['processor']}, {one['usable_cpus']} processors, Python {one['python']}, NumPy {one['numpy']},"
        f" Numba {one['numba']}."
        for one in machines.values()
    ]
    return lines


_CSS = """
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--line:#d0d7de;--soft:#f4f6f8;--good:#1a7f37;--bad:#b3261e;
--dim:#59636e}
@media(prefers-color-scheme:dark){:root{--ink:#e6e6e6;--paper:#14171a;--line:#3a4048;--soft:#1d2126;--good:#56c271;
--bad:#ff7b72;--dim:#a0a8b2}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:62rem;padding:1rem;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem}h2{margin-top:2.5rem;border-top:1px solid var(--line);padding-top:1rem}
.wide{overflow-x:auto;overflow-wrap:normal}table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .6rem;border-bottom:1px solid var(--line);text-align:right;vertical-align:top}
th:first-child,td:first-child,.left td,.left th{text-align:left}thead th{background:var(--soft)}
.reproduced,.beaten{color:var(--good)}.missed{color:var(--bad)}.undecided,.dim{color:var(--dim)}
svg{max-width:100%;height:auto;color:var(--ink)}summary{cursor:pointer;color:var(--dim)}code{font-size:.85em}
nav a{margin-right:1rem}a{color:inherit}
"""


def _html(pages: Sequence[tuple[Result, Mapping[str, str]]]) -> str:
    results = [result for result, _ in pages]
    links = "".join(f'<a href="#{one["experiment"]}">{one["experiment"]}</a> ' for one in results)
    made = "<br>".join(map(html.escape, _made(results)))
    body = "".join(_section(result, figures) for result, figures in pages)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><title>cardai: report</title>'
        f"<style>{_CSS}</style></head><body>\n<h1>cardai: report</h1>\n<p>{html.escape(LEGEND)}</p>\n"
        f'<p class="dim">{made}</p>\n{_headlines(results)}<nav>{links}</nav>\n{body}</body></html>\n'
    )


def _headlines(results: Sequence[Result]) -> str:
    return "".join(
        f"<h3>{html.escape(question)}</h3>\n<ul>{''.join(f'<li>{html.escape(line)}</li>' for line in lines)}</ul>\n"
        for question, lines in headlines(results)
    )


def _section(result: Result, figures: Mapping[str, str]) -> str:
    name = result["experiment"]
    parts = [f'<section><h2 id="{name}">{name}</h2>\n<p><strong>{html.escape(result["question"])}</strong></p>']
    parts.append(f'<p class="dim">Claimed: {html.escape(result["claim"])} ({html.escape(result["source"])}).</p>')
    parts += [f"<p>{html.escape(line)}</p>" for line in result["answer"]]
    parts += [f"<figure>{_own_ids(drawn, f'{name}-{title}-')}</figure>" for title, drawn in figures.items()]
    for title, columns, lines in tables(result):
        head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
        inner = "".join(
            f"<tr><td>{html.escape(line)}</td>{''.join(f'<td>{_coloured(one)}</td>' for one in cells)}</tr>\n"
            for line, cells in lines
        )
        parts.append(
            f'<h3>{html.escape(title)}</h3>\n<div class="wide"><table><thead><tr><th></th>{head}</tr></thead>'
            f"<tbody>{inner}</tbody></table></div>"
        )
    parts.append("<ul>" + "".join(f"<li>{html.escape(note)}</li>" for note in result["notes"]) + "</ul>")
    inner = "".join(f"<tr>{''.join(f'<td>{_coloured(one)}</td>' for one in cells)}</tr>\n" for cells in rows(result))
    parts.append(
        f'<details><summary>Each row in full</summary><div class="wide"><table class="left"><thead><tr>'
        f"{''.join(f'<th>{one}</th>' for one in HEADS)}</tr></thead><tbody>{inner}</tbody></table></div></details>"
    )
    command, seconds = html.escape(result["command"]), f"{result['seconds']:,.0f}"
    parts.append(f'<p class="dim">Made by <code>{command}</code> in {seconds} s.</p></section>\n')
    return "\n".join(parts)


def _own_ids(drawn: str, prefix: str) -> str:
    """An SVG whose ids are its own on a page with others."""
    drawn = re.sub(r'id="([^"]+)"', rf'id="{prefix}\1"', drawn)
    drawn = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}\1"', drawn)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}\1)", drawn)


def _coloured(text: str) -> str:
    """A cell as HTML: verdicts in colour, code as code."""
    escaped = html.escape(text)
    escaped = re.sub(r"`([^`]*)`", r"<code>\1</code>", escaped)
    return re.sub(rf"\b({'|'.join(VERDICTS)})\b", r'<span class="\1">\1</span>', escaped)
