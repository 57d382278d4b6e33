"""The table of a league: every agent's rating at every table."""

import itertools
import math
from typing import Any

from cardai.cli.show.grid import add_figures, add_names, endless_notes, fitting, grid, stacked, with_notes
from cardai.measure.league import League
from cardai.measure.pool import ANCHOR
from cardai.playing.stats.interval import Estimate


def table(league: League) -> Any:
    """A rich renderable of a league."""
    return with_notes(_notes(league), fitting(lambda is_narrow: _standings(league, is_narrow)))


def rating_words(rating: Estimate) -> str:
    """A rating or a difference of two: "812 (790 to 835)".

    With one infinite bound it is "812 (790 or more)". A rating whose bounds are equal, as the anchor's, is the number
    alone.
    """
    if math.isnan(rating.point):
        return "-"
    point, low, high = (
        str(round(number)) if math.isfinite(number) else "" for number in (rating.point, rating.low, rating.high)
    )
    if math.isnan(rating.low) or math.isnan(rating.high):
        return f"{point} (no interval)"
    if rating.low == rating.high:
        return point
    if low and high:
        return f"{point} ({low} to {high})"
    return f"{point} ({low} or more)" if low else f"{point} ({high} or less)" if high else f"{point} (no bound)"


def _standings(league: League, is_narrow: bool) -> Any:
    """One line for each agent, in sections by table. The narrow form has no losses and no speed."""
    games = {played.game for played in league.tables}
    table = grid(f"Every agent {f'of {games.pop()}' if len(games) == 1 else 'on every game'}", is_narrow)
    table.add_column("table", no_wrap=True)
    add_names(table, "agent", [standing.agent for played in league.tables for standing in played.standings])
    table.add_column("rating", justify="right", style="bold", no_wrap=True)
    units = {played.unit for played in league.tables}
    score = f"score{' in ' * any(units)}{', '.join(sorted(unit or '%' for unit in units))}" if any(units) else "score %"
    add_figures(table, *([score, "n"] if is_narrow else [score, "loss %", "n", "decisions/s"]))
    for played in league.tables:
        table.add_section()
        names = itertools.chain([stacked(played.name, is_narrow)], itertools.repeat(""))
        for standing, name in zip(played.standings, names, strict=False):
            cells = [name, standing.agent, stacked(rating_words(standing.rating), is_narrow)]
            cells += [stacked(standing.score, is_narrow), *([] if is_narrow else [str(standing.loss)])]
            speed = [] if is_narrow else [f"{standing.decisions_per_second:,.0f}"]
            table.add_row(*cells, f"{standing.score.n:,}{' *' if standing.cut else ''}", *speed)
    return table


def _notes(league: League) -> list[str]:
    games = sum(played.games for played in league.tables)
    notes = [
        f"rating: Elo points above {ANCHOR} at that table (Plackett-Luce model), 95 % interval by a bootstrap over "
        "deals; it depends on which other agents play there",
        "score, loss %: mean score and share of games with score 0 (of a payoff: below 0) against all agents of the"
        " table, 95 % intervals",
        f"decisions/s: the agent in all seats, on {league.threads} threads",
        f"seed {league.seed}; line-ups are drawn evenly from the table's agents, each deal is played in all rotations",
        f"{games:,} games, {league.seconds:.0f} s in all on {league.threads} threads",
    ]
    if league.budget is not None:
        notes += _budget_notes(league, league.budget)
    ratings = [standing.rating for played in league.tables for standing in played.standings]
    if any(math.isinf(bound) for rating in ratings for bound in (rating.low, rating.high)):
        notes.append(
            f"or more, or less: no chain of wins leads from {ANCHOR} to this agent, or from it to {ANCHOR}, so the "
            "games set no bound; only a prior worth one game keeps the rating finite"
        )
    notes += [f"{played.name}: no ratings: {played.unrated}" for played in league.tables if played.unrated]
    notes += endless_notes(sum(played.endless for played in league.tables))
    notes += [f"{name} is left out: {reason}" for name, reason in league.left_out.items()]
    if league.interrupted:
        unplayed = f"; not played: {', '.join(league.unplayed)}" if league.unplayed else ""
        notes.append(f"stopped before the end: only finished tables count{unplayed}")
    return notes


def _budget_notes(league: League, budget: float) -> list[str]:
    """What the budget of seconds was, and what it has cut."""
    notes = [f"{league.asked:,} games a table were asked for, with at most {budget:g} s for each agent at each table"]
    if any(standing.cut for played in league.tables for standing in played.standings):
        notes.append("*: its budget was used up, and later deals were played without it")
    notes += [
        f"{played.name}: ended after {played.deals:,} deals, when fewer than two agents had budget left"
        for played in league.tables
        if played.cut
    ]
    return notes
