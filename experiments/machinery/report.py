"""The report: results of experiments as Markdown pages. `mkdocs build` makes a site of them (docs/site/).

    write(Path("report"), [read_sealed(path) for path in paths])

The folder of a report holds README.md, and for each experiment its page, figures and sealed result; it may hold a
history of ratings. `write_again(folder)` makes all pages from the results and the history in the folder. No
figure is written by hand, and a result that was edited by hand raises CardaiError.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cardai.errors import CardaiError
from cardai.experiments.machinery.catalogue import EXPERIMENTS, SCALES, page_of
from cardai.experiments.machinery.charts import svg
from cardai.experiments.machinery.findings import margins
from cardai.experiments.machinery.sealed import read_sealed, write_sealed
from cardai.experiments.machinery.verdicts import judged
from cardai.experiments.machinery.words import Result, addressed, folded, in_markdown, listed, shown, verdict_with_games
from cardai.experiments.pages import claims, claims_pages, front, ratings
from cardai.files.reading import read_text

IN_SHORT = (
    "**One recipe learns five games.** It plays many games, trains a network to predict from one seat's view how"
    " they end, and plays the move whose next position it likes best."
)
METHOD_PARTS = (
    (
        "What is repeated",
        (
            "Five sources report about card games: a thesis on Moska, the page of its program, a paper on Hearts, an"
            " article on Literature and a student report on Durak.",
            "Moska and Durak: the last player with cards loses. Hearts: players avoid points in tricks. Literature: two"
            " teams ask opponents for cards to collect sets.",
            "The recipe is the thesis': play many games, train a network to predict from one player's view how they"
            " end, play the move whose next position it likes best. The thesis tried it on Tic-Tac-Toe first.",
        ),
    ),
    (
        "Words",
        (
            "World: a guess of all cards that a player cannot see. A search over worlds plays moves on in several of"
            " them before it chooses.",
            "Bot3: the strongest hand-written player of the thesis.",
            "Fair share: what equal players get. Where one of n players loses, each loses 100/n % of the games. Of the"
            " win, which those with the best score share, each has 100/n %. Each of two teams has 50 %.",
            "MLP and CNN: two kinds of network. One reads a position as a list, the other as planes of ranks and suits,"
            " or of the squares of a board.",
            "PPO and NFSP: two ways to learn a policy from games against oneself.",
            "`best`: the name of a network that comes with cardai, one for each game. In Moska stronger ones came later"
            " (`student`). Other pages train networks of their own, mostly smaller and on fewer games.",
        ),
    ),
    (
        "Figures",
        (
            "In brackets after a figure: its 95 % interval. It is over games, or over the repeats of a measurement."
            " Where a page trains several networks of a kind, it is over their trainings, as the page says.",
            "All agents of a table play the same deals, and seats are rotated. The games of one deal count as one"
            " cluster.",
            "Each page plays games of its own: compare figures within a table, not from page to page.",
            "On the page of a question, the source's claim stands in square brackets after our figure, with a verdict.",
        ),
    ),
)
"""The parts of the page of the method: (title, its points)."""
CITE = (
    "Name the page, the address of the figure (press it in its table: the address ends in `#r-` and six signs) and the"
    " commit. The address stays the same when the figure is measured again; the commit says which measurement it was.",
    'For example: "cardai, report/strength.md#r-42bf76, commit 7d21517".',
    "The row in full has the command that measures it, its seed and the number of games.",
    "`CITATION.cff` in the project's folder has the citation of the software. Name the source too where its claim is"
    " shown: the page's last answer says which.",
)
CLAIMS_LEGEND = (
    "A verdict is about a figure and its claim. It depends on the 95 % interval of our"
    " estimate minus the claim; it includes the claim's own sampling error if the source gives its number of games."
)
NUMBERS_LEGEND = (
    "reproduced: the interval leaves no room for a difference that matters, larger than the claim's margin.",
    "better: not reproduced; there is a difference, and ours is better.",
    "missed: not reproduced; there is a difference, and ours is worse, or neither direction is better.",
    "undecided: none of these is shown; in brackets, how many games would decide it if the figure stays where it is.",
    "undecidable: none is shown, and no number of our games can, as the source's own games are too few.",
    "not comparable: opponents, measure or protocol are not alike, so no verdict is given.",
    "Whether there is a difference is tested for all figures of a line together (Holm's method, 95 %).",
)
DIRECTIONS_LEGEND = (
    "Some claims are directions, such as that one thing is better than another. Such a claim is reproduced if the"
    " difference is on the claimed side, missed if it is on the other side, else undecided."
)
SCALE_WORDS = {
    "smoke": "a few games, to test that everything runs",
    "small": "sized for a machine with two processors",
}
STRENGTH = "strength.svg"
"""The picture for the project's first page."""
EXCERPT = (
    "transfer", "tictactoe", "moska-table1", "mlp-vs-cnn", "information", "hearts-best", "literature"
)  # fmt: skip
"""Experiments that have a row in another page, see `put_into`."""
MAIN = "transfer"
"""The experiment whose answer is the main result."""
METHOD, FRONT = "method", "front"
"""The page of how it was measured, and the first part of the names of the front page's figures."""
MARKS = "<!-- written by `cardai report`, not by hand -->", "<!-- end of what `cardai report` writes -->"
HEADS = (
    "#", "figure", "estimate", "command", "claim", "verdict", "n", "seed", "seconds of the run", "commit"
)  # fmt: skip
"""The heads of the tables of rows in full."""


def results_in(folder: Path) -> list[dict[str, Any]]:
    """The results in a folder of a report or of runs, in the order of the catalogue, judged anew.

    Raises CardaiError if a result was edited after it was sealed, or if there is none.
    """
    places = [*folder.glob("*/result.json"), *folder.glob("*.json")]
    results = [result for result in map(read_sealed, sorted(places)) if result.get("experiment") in EXPERIMENTS]
    if not results:
        raise CardaiError(f"there is no result of an experiment in {folder}")
    results = claims.settled([{**result, "rows": judged(result["rows"])} for result in results])
    return sorted(results, key=lambda result: list(EXPERIMENTS).index(result["experiment"]))


def write(folder: Path, results: Sequence[Result]) -> Path:
    """Write a report of some results; returns its first page. Raises CardaiError if it cannot be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return _written(folder, results)
    except OSError as error:
        raise CardaiError(f"cannot write to {folder}: {error.strerror or error}") from None


def _written(folder: Path, results: Sequence[Result]) -> Path:
    texts: dict[str, str] = {}

    def draw(name: str, figures: Mapping[str, Any]) -> list[str]:
        """Add a page's figures; returns their titles."""
        texts.update((f"{name}-{title}.svg", svg(figure)) for title, figure in figures.items())
        return list(figures)

    for result in results:
        name = result["experiment"]
        with _complete(name):
            texts[f"{name}.md"] = page(result, draw(name, page_of(name).draw(result)))
    runs = ratings.runs_in(folder)
    if runs:
        texts[f"{ratings.NAME}.md"] = ratings.page(runs, draw(ratings.NAME, ratings.draw(runs)))
    with _complete(listed([result["experiment"] for result in results])):
        figures = draw(FRONT, front.draw(results))
        texts |= {"README.md": overview(results, runs, figures), f"{METHOD}.md": method(results)}
        texts |= {f"{name}.md": text for name, text in claims_pages.pages(results).items()}
        if (picture := front.strength(results)) is not None:
            texts[STRENGTH] = svg(picture)
    for result in results:
        content = {part: value for part, value in result.items() if part != "seal"}
        write_sealed(folder / f"{result['experiment']}.json", content)
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    return folder / "README.md"


@contextlib.contextmanager
def _complete(name: str) -> Iterator[None]:
    """Raise CardaiError where a page asks for something that a result does not hold."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, StopIteration) as error:
        why = f"{type(error).__name__}: {error}"[:200]
        raise CardaiError(f"the result of {name} is not complete, so its page cannot be made ({why})") from error


def write_again(folder: Path) -> Path:
    """Write a report anew from the results in its folder."""
    return write(folder, results_in(folder))


def put_into(path: Path, results: Sequence[Result]) -> None:
    """Write the table of `excerpt` between the marks of a page of Markdown, such as a README.

    Raises CardaiError if the page cannot be read or does not have both `MARKS`.
    """
    text = read_text(path)
    first, mark, rest = text.partition(MARKS[0] + "\n")
    _, end, last = rest.partition(MARKS[1])
    if not mark or not end:
        raise CardaiError(f"{path} has no lines {MARKS[0]!r} and {MARKS[1]!r} to write between")
    path.write_text(f"{first}{mark}{excerpt(results)}{end}{last}", "utf-8")


def excerpt(results: Sequence[Result]) -> str:
    """The table of questions for a README, those of `EXCERPT`."""
    own = [result for result in results if result["experiment"] in EXCERPT]
    return "\n".join([*_questions(own, results, at="report/"), "", _BELOW, ""])


_BELOW = (
    "[The report](report/README.md) has all questions, with intervals, conditions and commands."
    f" [A page](report/{claims_pages.NAME}.md) says what came of every claim of the sources."
)


def overview(results: Sequence[Result], runs: Sequence[Mapping[str, Any]] = (), figures: Sequence[str] = ()) -> str:
    """README.md: the figures of the front page, then each question with its answer, then where the rest is.

    `runs`: of a history of ratings, see `cardai.experiments.pages.ratings`. `figures`: titles of figures.
    """
    main = [f"**{_answer(result)}**" for result in results if result["experiment"] == MAIN]
    lines = ["# What was shown", "", " ".join([IN_SHORT, *main]), ""]
    lines += [" ".join(f"![{front.IN_WORDS[title]}]({FRONT}-{title}.svg)" for title in figures), ""] if figures else []
    lines += [*(front.HOW_TO_READ[title] for title in figures), ""]
    lines += ["## Questions and answers", "", *_questions(results, results, runs), ""]
    lines += ["## Where to go on", ""]
    lines += [
        f"- [Every claim of the sources]({claims_pages.NAME}.md): {claims.headline(results)}",
        f"- [How it was measured and judged]({METHOD}.md): the method, the words, the machines.",
        f"- [Cite a figure]({METHOD}.md#how-to-cite-a-figure): every figure in a table has an address and a command.",
    ]
    return "\n".join(lines) + "\n"


def method(results: Sequence[Result]) -> str:
    """The page of how figures were measured and judged, once for all pages."""
    lines = ["# How it was measured and judged", ""]
    for title, points in METHOD_PARTS:
        lines += [f"## {title}", "", *(f"- {point}" for point in points), ""]
    lines += ["## What a verdict means", "", *(f"- {line}" for line in legend(results)), ""]
    lines += ["## Margins", "", "| figures | margin | why |", "|---|---:|---|"]
    lines += [f"| {one.of} | {one.within:g} | {one.why} |" for one in margins().values()]
    lines += ["", "## How to cite a figure", "", *(f"- {line}" for line in CITE), ""]
    lines += ["## Machines and times", "", *(f"- {line}" for line in _conditions(results)), ""]
    lines += ["| page | minutes |", "|---|---:|"]
    lines += [
        f"| [{result['experiment']}]({result['experiment']}.md) | {result['seconds'] / 60:.1f} |" for result in results
    ]
    return "\n".join(lines) + "\n"


def _claims_of(name: str, results: Sequence[Result]) -> str:
    own = [claim for listed in claims.sources().values() for claim in listed if name in {row[0] for row in claim.rows}]
    outcomes = [claims.verdict_of(claims.answer(claim, results).outcomes) for claim in own if claim.counts]
    return (
        ", ".join(f"{outcomes.count(one)} {one}" for one in dict.fromkeys(claims.OUTCOMES) if one in outcomes) or "none"
    )


def _questions(
    results: Sequence[Result], every: Sequence[Result], runs: Sequence[Mapping[str, Any]] = (), at: str = ""
) -> list[str]:
    """Lines of a table: the question as a link, the answer in one line, and what came of its claims.

    `every`: all results, as a claim may be answered by several.
    """
    lines = ["| question | answer | claims |", "|---|---|---|"]
    for result in results:
        name = result["experiment"]
        lines.append(
            f"| [{EXPERIMENTS[name].question}]({at}{name}.md) | {_answer(result)} | {_claims_of(name, every)} |"
        )
    if runs:
        lines.append(f"| [{ratings.QUESTION}]({at}{ratings.NAME}.md) | {ratings.answers(runs)[0]} | none |")
    return lines


def page(result: Result, titles: Sequence[str] = ()) -> str:
    """An experiment's page in Markdown: answer, main figure, tables, other figures, conditions."""
    name = result["experiment"]
    entry, (answer, *others) = EXPERIMENTS[name], page_of(result["experiment"]).answers(result)
    images = [figure_lines(name, title, result["command"]) for title in titles]
    lines = [f"# {entry.question}", "", f"**{answer}**", ""]
    lines += [line for image in images[:1] for line in image]
    lines += [f"- {line}" for line in others]
    lines += [f"- Claimed: {entry.claim} ({entry.source}).", ""]
    lines += in_markdown(tables(result, linked=True))
    lines += [line for image in images[1:] for line in image]
    lines += ["## How to read it", "", *(f"- {note}" for note in notes_of(result))]
    lines += [f"- [How it was measured and judged]({METHOD}.md) says what intervals and verdicts mean.", ""]
    lines += ["## Conditions", "", *(f"- {line}" for line in _conditions([result])), ""]
    lines += [
        f"Made by `{result['command']}` in {result['seconds']:,.0f} s."
        f" It is valid while all {len(result['behaviour'])} parts behind it"
        " (rules, agents, networks, estimators) behave the same, which `cardai report report --check` tests.",
        "",
    ]
    return "\n".join([*lines, "## Each row in full", "", *_each_row(result)]) + "\n"


def figure_lines(name: str, title: str, command: str) -> list[str]:
    """Lines of Markdown with a figure at its own address, what made it, and its numbers."""
    caption = f"Made by `{command}`; [its numbers]({name}.json); [this figure alone]({name}-{title}.svg);"
    caption += f" [how to cite it]({METHOD}.md#how-to-cite-a-figure)."
    return [f'<a id="figure-{title}"></a>', "", f"![{title.replace('-', ' ')}]({name}-{title}.svg)", "", caption, ""]


def _each_row(result: Result) -> list[str]:
    """Lines of Markdown: every row at its own address, folded, a table for each table of the page."""
    labels, file = claims.labels_of(result), f"{result['experiment']}.json"
    lines = [f"#: the place of the row in `rows` of [{file}]({file})."]
    numbered = list(enumerate(result["rows"]))
    for title in dict.fromkeys(row["table"] for row in result["rows"]):
        lines += ["", f"**{labels.get(title, title)}**", "", "| " + " | ".join(HEADS) + " |"]
        lines += ["|---:|---|---:|---|---:|---|---:|---:|---:|---|"]
        own = [_in_full(result, number, row) for number, row in numbered if row["table"] == title]
        lines += ["| " + " | ".join(cells) + " |" for cells in own]
    return folded(f"{len(numbered)} rows with their commands, seeds and commits", lines)


def _answer(result: Result) -> str:
    return page_of(result["experiment"]).answers(result)[0]


def notes_of(result: Result) -> Sequence[str]:
    """Notes on how to read the tables of a result: its page's `notes(result)` if it has one, else its `NOTES`."""
    own: Any = page_of(result["experiment"])
    return own.notes(result) if hasattr(own, "notes") else own.NOTES


def legend(results: Sequence[Result]) -> list[str]:
    """How estimates, claims and verdicts are read, a sentence or two a line; verdicts only where there are claims."""
    claims = [row["claim"] for result in results for row in result["rows"] if row["claim"]]
    numbers = [claim for claim in claims if not claim["is_direction"]]
    lines = [CLAIMS_LEGEND] if claims else []
    lines += list(NUMBERS_LEGEND) if numbers else []
    return lines + ([DIRECTIONS_LEGEND] if len(numbers) < len(claims) else [])


def tables(result: Result, linked: bool = False) -> list[tuple[str, list[str], list[tuple[str, list[str]]]]]:
    """The tables of a result: (title, columns, [(line, cells)]); `linked`: figures lead to their rows in full."""
    shown_tables, labels = [], claims.labels_of(result)
    for title in dict.fromkeys(row["table"] for row in result["rows"]):
        own = [row for row in result["rows"] if row["table"] == title]
        columns = list(dict.fromkeys(row["column"] for row in own))
        cells = {(row["name"], row["column"]): cell(row, linked) for row in own}
        body = [
            (labels.get(name, name), [cells.get((name, column), "") for column in columns])
            for name in dict.fromkeys(row["name"] for row in own)
        ]
        shown_tables.append((labels.get(title, title), [labels.get(column, column) for column in columns], body))
    return shown_tables


def cell(row: Mapping[str, Any], linked: bool = False) -> str:
    """A figure in a table: "16.0 (15.5-16.5) [14.25] missed"."""
    claim = f" [{claimed(row)}] {verdict_with_games(row)}" if row["claim"] else ""
    figure = shown(row["figure"], row["places"])
    return f"[{figure}](#{addressed(row['table'], row['name'], row['column'])}){claim}" if linked else figure + claim


def claimed(row: Mapping[str, Any]) -> str:
    """A row's claim in words; "" without one."""
    claim = row["claim"]
    return "" if not claim else claim["words"] or f"{claim['value']:.4g}"


def _in_full(result: Result, number: int, row: Mapping[str, Any]) -> list[str]:
    labels, pieces = claims.labels_of(result), [result["pieces"][name] for name in row["piece"].split()]
    figure, games = row["figure"], row["claim"]["games"] if row["claim"] else 0
    address = addressed(row["table"], row["name"], row["column"])
    return [
        f'<a id="{address}" href="#{address}">{number}</a>',
        ", ".join(labels.get(part, part) for part in (row["name"], row["column"]) if part),
        shown(figure, row["places"]),
        f"`{row['command'] or result['command']}`",
        claimed(row) + (f" (n {games:,})" if games else ""),
        verdict_with_games(row),
        _counted(figure),
        str(row["seed"]),
        f"{sum(piece['seconds'] for piece in pieces):,.0f}" if pieces else "",
        ", ".join(dict.fromkeys(str(piece["commit"] or "") for piece in pieces)),
    ]


def _counted(figure: Mapping[str, Any]) -> str:
    first, space, rest = figure["counted"].partition(" ")
    first = first.removesuffix("s") if figure["n"] == 1 else first
    return f"{figure['n']:,} {first}{space}{rest}" if figure["n"] else ""


def _conditions(results: Sequence[Result]) -> list[str]:
    """Where the figures come from: scale, commits, days, machines."""
    machines = {
        (machine["processor"], machine["usable_cpus"]): machine for result in results for machine in result["machines"]
    }
    commits = sorted({commit for result in results for commit in result["commits"]})
    days = sorted({day for result in results for day in result["days"]})
    scales = [scale for scale in SCALES if any(result["scale"] == scale for result in results)]
    words = " and ".join(f"{scale} ({SCALE_WORDS[scale]})" for scale in scales)
    lines = [f"Scale {words}; commit {', '.join(commits)}; {days[0]}{f' to {days[-1]}' if len(days) > 1 else ''}."]
    lines += [
        f"{machine['processor']}, {machine['usable_cpus']} processors, Python {machine['python']},"
        f" NumPy {machine['numpy']}, Numba {machine['numba']}."
        for machine in machines.values()
    ]
    return lines
