"""An analysed game as tables (the transcript, the largest changes, the costliest moves) and as a figure."""

from typing import Any

import numpy as np
from rich.text import Text

from cardai.cli.show.grid import grid, with_notes
from cardai.measure.analysis import AnalysedMove, Analysis

_FAR = 1000.0  # times the median value: beyond it, only a logarithmic scale shows both
_STYLES = ("-", "--", ":", "-.")
_MARKERS = "osD^vPX*"
_INKS = ("#000000", "#0b62a4", "#b5440f", "#3a7d44", "#7a4aa0", "#8a6d00", "#5c5c5c", "#a01a58")


def table(analysis: Analysis) -> Any:
    """A rich renderable: the transcript, the moves that are marked in it, then the largest changes and their parts."""
    tables = [_transcript(analysis), _costliest_moves(analysis), _largest_swings(analysis)]
    return with_notes(analysis.notes(), *(table for table in tables if table.row_count))


def figure(analysis: Analysis) -> Any:
    """A matplotlib figure: each seat's value over the plies as a line, with the costliest moves marked."""
    from matplotlib.figure import Figure

    marked, plies = analysis.mistakes(), len(analysis.turns)
    figure = Figure(figsize=(8.4, 4.6 + 0.17 * len(marked)), layout="constrained")
    axes = figure.add_subplot()
    values, ends = analysis.values(), analysis.ends()
    for seat in range(analysis.seats):
        _draw_seat(axes, analysis, seat, values[:, seat], np.nan if ends is None else ends[seat])
    for number, turn in enumerate(marked, 1):
        _draw_mark(axes, number, turn)
    axes.set_title(f"{analysis.title}, game {analysis.number}: each seat's value by {analysis.agent}", parse_math=False)
    axes.set_ylabel(analysis.scale.name, parse_math=False)
    lines = [_mark_words(analysis, number, turn) for number, turn in enumerate(marked, 1)]
    axes.set_xlabel("\n".join(["ply", *lines]), fontsize=8)
    axes.xaxis.label.set_parse_math(False)
    axes.set_xlim(0, max(1, plies))
    _scale_values(axes, analysis, values)
    legend = axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)
    for text in legend.get_texts():
        text.set_parse_math(False)  # names of agents may hold dollar signs
    axes.grid(alpha=0.25)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure


def _transcript(analysis: Analysis) -> Any:
    reader = f"seed {analysis.seed}" if analysis.seat is None else f"as p{analysis.seat} is told"
    head = f"{analysis.game} {analysis.version} ({analysis.variant}), game {analysis.number}, {reader}: "
    lines = [head + analysis.agent, *(f"p{seat} is {name}" for seat, name in enumerate(analysis.names))]
    table = grid(Text("\n".join(lines)))  # names of agents may hold square brackets
    table.add_column("ply", justify="right")
    table.add_column("who")
    table.add_column("move", overflow="fold")
    for seat in range(analysis.seats):
        table.add_column(f"p{seat}", justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    numbers = {turn.ply: number for number, turn in enumerate(analysis.mistakes(), 1)}
    for turn in analysis.turns:
        cells = ["" if seat != turn.seat else _number(analysis, turn.value) for seat in range(analysis.seats)]
        mark = f"({numbers[turn.ply]}) ?! {turn.best}" if turn.ply in numbers else ""
        texts = [Text(cell) for cell in (turn.move, *cells, mark)]
        table.add_row(str(turn.ply), f"p{turn.seat}", *texts, style="bold" if mark else None)
    table.add_section()
    table.add_row("", "", analysis.scale.unit or "scores", *(f"{score:g}" for score in analysis.scores))
    return table


def _largest_swings(analysis: Analysis) -> Any:
    table = grid(Text("The moves with the largest change of a seat's value since its own last move"))
    for name in ("ply", "who", "move", "before -> after", "change", "others, chance", "own choice"):
        table.add_column(name, justify="left" if name in ("who", "move") else "right", overflow="fold")
    has_draws = analysis.moment == "drawn"
    if has_draws:
        table.add_column("draw", justify="right")
    for swing in analysis.marked():
        parts = [swing.change, swing.others, swing.choice, *([swing.draw] if has_draws else [])]
        way = f"{_number(analysis, swing.before)} -> {_number(analysis, swing.after)}"
        figures = [_number(analysis, part, signed=True) for part in parts]
        move = Text(analysis.turns[swing.ply].move)
        table.add_row(str(swing.ply), f"p{swing.seat}", move, way, *figures)
    return table


def _costliest_moves(analysis: Analysis) -> Any:
    table = grid(Text("?! Moves for which the agent values another legal move more"))
    for name in ("", "ply", "who", "played", "value", "better", "value", "cost", "of moves"):
        left = name in ("who", "played", "better", "cost")
        table.add_column(name, justify="left" if left else "right", overflow="fold")
    for number, turn in enumerate(analysis.mistakes(), 1):
        played, best = (Text(text or "") for text in (turn.move, turn.best))
        values = [_number(analysis, value) for value in (turn.worth, turn.best_worth)]
        cost = Text(analysis.cost_words(turn))
        row = f"({number})", str(turn.ply), f"p{turn.seat}", played, values[0], best, values[1], cost, str(turn.listed)
        table.add_row(*row)
    return table


def _number(analysis: Analysis, value: float | None, signed: bool = False) -> str:
    if value is None:
        return ""
    return f"{value:{'+' if signed else ''}{'.3f' if analysis.scale.is_share else '.4g'}}"


def _draw_seat(axes: Any, analysis: Analysis, seat: int, values: np.ndarray, end: float) -> None:
    """One seat's values, f8[plies], as a step line that ends at `end`, with a dot at each of its own moves."""
    ink, plies = _INKS[seat % len(_INKS)], len(analysis.turns)
    style = _STYLES[seat % len(_STYLES)]
    name = analysis.names[seat]
    label = f"p{seat} {name if len(name) <= 24 else name[:21] + '...'} scored {analysis.scores[seat]:g}"
    steps = np.append(values, end)
    axes.step(np.arange(plies + 1), steps, where="post", color=ink, linestyle=style, linewidth=1.3, label=label)
    own = [turn.ply for turn in analysis.turns if turn.seat == seat and turn.value is not None]
    marker = _MARKERS[seat % len(_MARKERS)]
    axes.plot(own, values[own], color=ink, marker=marker, markersize=2.6, linestyle="")


def _draw_mark(axes: Any, number: int, turn: AnalysedMove) -> None:
    ring = {"boxstyle": "circle,pad=0.15", "facecolor": "white", "edgecolor": "black", "linewidth": 0.8}
    height = turn.worth if turn.value is None else turn.value
    axes.annotate(
        str(number), (turn.ply, height), (0, -11), textcoords="offset points", ha="center", va="center",
        fontsize=7, bbox=ring,
    )  # fmt: skip


def _scale_values(axes: Any, analysis: Analysis, values: np.ndarray) -> None:
    """Choose the scale of the values: 0 to 1 if they are scores, logarithmic if some are huge."""
    if analysis.scale.is_share:
        axes.set_ylim(-0.06, 1.06)
    if analysis.scale.bounded:
        return
    usual = float(np.nanmedian(np.abs(values))) if np.isfinite(values).any() else 0.0
    if usual and np.nanmax(np.abs(values)) > _FAR * usual:  # a heuristic may say "won" by a huge number
        axes.set_yscale("symlog", linthresh=usual)


def _mark_words(analysis: Analysis, number: int, turn: AnalysedMove) -> str:
    played, best = (text if len(text) <= 40 else f"{text[:37]}..." for text in (turn.move, turn.best or ""))
    values = f"{_number(analysis, turn.worth)} to {_number(analysis, turn.best_worth)}"
    return f"({number}) ply {turn.ply}, p{turn.seat} {played}; better: {best} ({values})"
