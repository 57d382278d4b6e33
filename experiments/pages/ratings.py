"""The page of ratings: the last run of a history of `cardai bench --all`, beside the run before it.

runs = runs_in(Path("report"))
text = page(runs, list(draw(runs)))
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cardai.cli.show.league import rating_words
from cardai.experiments.machinery.charts import chart, dots, key
from cardai.experiments.machinery.words import in_markdown, shown
from cardai.measure.history import RatedAgent, RatingChange, RatingComparison, changes, ratings_in, read_history
from cardai.measure.pool import ANCHOR, table_name
from cardai.playing.stats.interval import Estimate
from cardai.registry import load

NAME = "ratings"
HISTORY = "ratings.jsonl"
"""The file of the history in the folder of a report."""
QUESTION = "Which of the agents that come with cardai are rated highest?"
NOTES = (
    f"Rating: Elo points above `{ANCHOR}` at that table (Plackett-Luce model); 95 % interval by a bootstrap over deals,"
    f" of the distance to `{ANCHOR}`. It depends on the other agents at the table and says nothing across tables.",
    "Score: the mean over games against all other agents of the table; what a game's scores are, its rules say"
    " (`cardai rules GAME`).",
    "Change: of two independent runs; better or worse if the interval excludes 0, which one in twenty does by chance"
    " alone. Ratings of a table are fitted together, so an agent that is new, or that plays better than before, shifts"
    " those of all others there.",
    f"Or more, no bound: no chain of wins leads from `{ANCHOR}` to the agent, or back, so the games set no bound.",
    "Agents guess hidden cards from 10 worlds, where 100 are usual. No agent sees them. docs/benchmarks.md says how the"
    " ratings are made.",
)

Run = Mapping[str, Any]


def runs_in(folder: Path) -> list[Run]:
    """The runs of the history in a folder, oldest first; none without a history.

    Raises CardaiError if the history is damaged.
    """
    return list(read_history(folder / HISTORY)) if (folder / HISTORY).exists() else []


def answers(runs: Sequence[Run]) -> list[str]:
    run = runs[-1]
    usual: dict[str, Run] = {}
    for table in run["tables"]:
        usual.setdefault(table["game"], table)
    ratings = ratings_in(run)
    firsts = [(_title(name), table, table["standings"][0]) for name, table in usual.items() if not table["unrated"]]
    lines = [
        "Rated first of those that played: "
        + ", ".join(f"{title} `{first['spec']}`" for title, _, first in firsts)
        + ".",
        "Whether the first is better than the second is not tested.",
        *(
            f"{title}: `{first['spec']}` is {rating_words(ratings[_rated(table, first['spec'])])} Elo points above"
            f" random play, first of {len(table['standings'])} that play against each other."
            for title, table, first in firsts
        ),
    ]
    comparison = _compared(runs)
    if comparison:
        counts = Counter(change.verdict for change in comparison.changes)
        lines.append(
            f"Since the run before ({comparison.then}), of {len(comparison.changes)} ratings {counts['better']} are"
            f" better, {counts['worse']} worse, {counts['undecided']} undecided."
        )
        lines += [f"Agents that are new at a table: {len(comparison.new)}."] if comparison.new else []
        lines += [f"Gone: {', '.join(comparison.gone)}."] if comparison.gone else []
    return lines


def tables(runs: Sequence[Run]) -> list[tuple[str, list[str], list[tuple[str, list[str]]]]]:
    """The tables of the last run: (title, columns, [(agent, cells)])."""
    comparison, ratings = _compared(runs), ratings_in(runs[-1])
    since = {(change.table, change.spec): change for change in comparison.changes} if comparison else {}
    columns = ["rating", *([f"change since {runs[-2]['date'][:10]}"] if comparison else []), "score, %", "n"]
    all_tables = []
    for table in runs[-1]["tables"]:
        name, body = table_name(table["game"], table["variant"], table["seats"]), []
        for standing in table["standings"]:
            rating, score = ratings.get(_rated(table, standing["spec"])), standing["score"]
            moved = [_moved(standing["spec"], since.get((name, standing["spec"])))] if comparison else []
            cells = [rating_words(rating) if rating else "-", *moved, shown(score), f"{score['n']:,}"]
            body.append((f"`{standing['spec']}`", cells))
        all_tables.append((_named(table), columns, body))
    return all_tables


def draw(runs: Sequence[Run]) -> dict[str, Any]:
    """A figure for each table, that with most agents first: ratings of the last run and of the one before."""
    figures = {}
    for table in sorted(runs[-1]["tables"], key=lambda table: -len(table["standings"])):
        figure, (axes,) = chart(height=1.2 + 0.27 * len(table["standings"]))
        series: dict[str, Any] = {}
        for run in runs[-2:]:
            ratings = ratings_in(run)
            own = [(one["spec"], ratings.get(_rated(table, one["spec"]))) for one in table["standings"]]
            if any(rating for _, rating in own):
                series[run["date"][:10]] = [(spec, *_drawn(rating)) for spec, rating in own]
        dots(axes, series)
        axes.set_title(_named(table))
        axes.set_xlabel(f"Elo points above {ANCHOR}")
        key(figure)
        figures[f"{table['game']}-{table['variant']}-{table['seats']}"] = figure
    return figures


def page(runs: Sequence[Run], titles: Sequence[str] = ()) -> str:
    """The page in Markdown."""
    answer, *others = answers(runs)
    images = [f"![{NAME} {title.replace('-', ' ')}]({NAME}-{title}.svg)" for title in titles]
    lines = [f"# {QUESTION}", "", f"**{answer}**", ""]
    lines += [line for image in images[:1] for line in (image, "")]
    lines += [*(f"- {line}" for line in others), ""]
    lines += in_markdown(tables(runs))
    lines += [line for image in images[1:] for line in (image, "")]
    lines += ["## How to read it", "", *(f"- {note}" for note in NOTES), "", "## Conditions", "", conditions(runs), ""]
    lines += ["## All runs", "", "| date | commit | tables | games a table | seed |", "|---|---|---:|---:|---:|"]
    lines += [
        f"| {run['date']} | {run['machine']['commit']} | {len(run['tables'])} | {run['asked']:,} | {run['seed']} |"
        for run in reversed(runs)
    ]
    return "\n".join(lines) + "\n"


def conditions(runs: Sequence[Run]) -> str:
    """Where the figures of the last run come from, and the command."""
    run = runs[-1]
    machine = run["machine"]
    return (
        f"Made by `cardai bench --all --games {run['asked']} --seed {run['seed']} --history report/{HISTORY}`;"
        f" commit {machine['commit']}; {run['date'][:10]}; {machine['processor']}, {machine['usable_cpus']} processors,"
        f" Python {machine['python']}, NumPy {machine['numpy']}, Numba {machine['numba']}."
    )


def _compared(runs: Sequence[Run]) -> RatingComparison | None:
    return changes(runs[-2], runs[-1]) if len(runs) > 1 else None


def _rated(table: Run, spec: str) -> RatedAgent:
    return table["game"], table["version"], table["variant"], table["seats"], spec


def _moved(spec: str, change: RatingChange | None) -> str:
    """The change of an agent's rating in words; none for the anchor, whose rating is 0 always."""
    if change is None:
        return "new"
    return "" if spec == ANCHOR else f"{rating_words(change.difference)} {change.verdict}"


def _drawn(rating: Estimate | None) -> tuple[float | None, float | None, float | None]:
    """A rating's point, low and high; None for what is missing or has no bound."""
    if rating is None:
        return None, None, None
    low, high = (bound if math.isfinite(bound) else None for bound in (rating.low, rating.high))
    return rating.point, low, high


def _title(game: str) -> str:
    return load(game).title


def _named(table: Run) -> str:
    return f"{_title(table['game'])}, variant {table['variant']}, {table['seats']} seats"
