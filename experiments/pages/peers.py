"""The page of peers."""

from collections.abc import Mapping, Sequence
from typing import Any

from cardai.experiments.machinery.charts import COLOURS, chart, logarithmic
from cardai.experiments.machinery.words import Result, about, interval_of, is_open, rows_where, worded
from cardai.experiments.peers import (
    BOARD,
    BOARD_STEPS,
    BOUND,
    CHOICES,
    CLOCK,
    DECISIONS,
    HEARTS,
    HEARTS_STEPS,
    PROCESSOR,
    THRIFT,
    fastest,
)  # fmt: skip


def notes(result: Result) -> list[str]:
    versions = ", ".join(f"{name} {version}" for name, version in result["drawn"]["versions"].items())
    batches = "; ".join(f"{name}: {fastest(rates):,}" for name, rates in result["drawn"]["tried"].items())
    no_bound = result["drawn"]["no bound"]
    return [
        *(f"{line['name']}: {line['counted']}." for line in result["drawn"]["lines"]),
        *([f"The bound for Tic-Tac-Toe in C was not measured: {no_bound}."] if no_bound else []),
        "A decision is one move of one seat in a game in progress. Time spent dealing, or stepping finished games in a"
        " batch, is included; those steps are not counted as decisions. Compilation and warm-up are excluded for every"
        " library.",
        "Speed-up, wall time: how many times as many decisions per second cardai makes as the row, on all"
        " processors. Speed-up, CPU time: one thread of cardai compared with the row by decisions per CPU second;"
        " this also holds on a busy machine, and for a library that uses several processors.",
        "Speeds and speed-ups are medians over rounds, in brackets the lowest and the highest. With five rounds this"
        " range holds the median of all such rounds with 94 % confidence. A speed-up is a ratio within a round.",
        "Steps of a learner: many games are held side by side. Before each decision there are the observation of the"
        " seat to move and its legal actions, after it the rewards, and a game that ends is followed by the next one.",
        "Tic-Tac-Toe is the same game in every library, and Hearts in cardai and OpenSpiel: tests/test_hearts_oracle.py"
        " plays the same rounds in both, ply by ply. The other games with hidden hands are not: those rows say how many"
        " decisions a library simulates in a second, not which one implements a game faster.",
        "The thesis' processor was an Intel i5 of the 12th generation. The thesis does not say which agents played.",
        f"{versions}. Pgx ran on the CPU. Games side by side, those that were fastest of the numbers tried: {batches}.",
    ]


def labels(result: Result) -> dict[str, str]:
    threads = result["drawn"]["threads"]
    return {
        DECISIONS: "decisions per second",
        THRIFT: "decisions per CPU second",
        CHOICES: "decisions with more than one legal move, %",
        CLOCK: f"speed-up, wall time ({threads} threads)",
        PROCESSOR: "speed-up, CPU time (1 thread)",
    }


def answers(result: Result) -> list[str]:
    games = next(row for row in result["rows"] if row["claim"])
    machines = (f"{machine['processor']}, {machine['usable_cpus']} processors" for machine in result["machines"])
    rows = result["rows"]
    board = [f"{about(row, unit='')} times as fast as {library}" for library, row in _least(rows, BOARD).items()]
    return [
        f"By processor time, Hearts is {about(_least(rows, HEARTS)['OpenSpiel'], unit='')} times as fast as"
        f" OpenSpiel's, Tic-Tac-Toe {' and '.join(board)}.",
        f"Hearts: random play on one thread is {faster(rows, HEARTS)}. Tests play the same rounds in both, ply by ply.",
        f"Tic-Tac-Toe: random play on one thread is {faster(rows, BOARD)}.",
        f"Steps of a learner in Tic-Tac-Toe, with observations: a batch on one thread is {faster(rows, BOARD_STEPS)}.",
        f"Steps of a learner in Hearts, with observations: a batch on one thread is {faster(rows, HEARTS_STEPS)}.",
        f"Measured on {'; '.join(dict.fromkeys(machines))}. Speeds are decisions per CPU second.",
        *(
            f"A C program that plays the same Tic-Tac-Toe games, and keeps nothing of them, is {worded(_inverse(row))}"
            " times as fast as one thread of cardai."
            for row in rows_where(result, name=BOUND, column=PROCESSOR)
        ),
        f"{games['name']}: {worded(games['figure'], 0)} games a second. The thesis' engine"
        f" plays {games['claim']['words'].replace('-', ' to ')} on a core.",
    ]


def _inverse(row: Mapping[str, Any]) -> dict[str, float | None]:
    point, low, high = (None if end is None else 1 / end for end in interval_of(row))
    return {"point": point, "low": high, "high": low}


def faster(rows: Sequence[Mapping[str, Any]], table: str) -> str:
    """How many times as fast as each library's fastest way, by processor time; "undecided" where that may be once."""
    parts = []
    for row in _least(rows, table).values():
        times = row["figure"]
        shifted = {name: None if times[name] is None else times[name] - 1 for name in ("low", "high")}
        parts.append(f"{worded(times)} times as fast as {row['name']}{', undecided' if is_open(shifted) else ''}")
    return "; ".join(parts)


def _least(rows: Sequence[Mapping[str, Any]], table: str) -> dict[str, Mapping[str, Any]]:
    """{library: the row of its fastest way} of a table, by processor time."""
    own = [
        row
        for row in rows
        if row["column"] == PROCESSOR and row["table"] == f"{table}, random play" and row["name"] != BOUND
    ]
    libraries: dict[str, list[Mapping[str, Any]]] = {}
    for row in own:
        libraries.setdefault(row["name"].replace(",", "").split()[0], []).append(row)
    return {name: min(ways, key=lambda row: row["figure"]["point"] or 0.0) for name, ways in libraries.items()}


def draw(result: Result) -> dict[str, Any]:
    titles = dict.fromkeys(row["table"] for row in result["rows"])
    tables = {title: rows_where(result, table=title, column=THRIFT)[::-1] for title in titles}
    figure, panels = chart(len(tables), height=0.9 + 0.42 * max(map(len, tables.values())))
    for axes, (title, own) in zip(panels, tables.items(), strict=True):
        for place, row in enumerate(own):
            point, low, high = interval_of(row)
            colour = COLOURS[0] if row["name"].startswith("cardai") else COLOURS[1]
            errors = [[point - low], [high - point]]
            axes.errorbar([point], [place], xerr=errors, color=colour, marker="o", capsize=3, linestyle="none")
        axes.set_yticks(range(len(own)), [row["name"].replace(" (", "\n(").replace("`", "") for row in own])
        logarithmic(axes.xaxis)
        axes.set_title(title)
    panels[-1].set_xlabel("decisions per CPU second")
    return {"speed": figure}
