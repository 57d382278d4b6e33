"""The page of hearts."""

from typing import Any

from cardai.experiments.hearts import CANNOT, DQN, FOES, MADE, MCTS, ONE, OWN, SHARE, TITLES
from cardai.experiments.machinery.charts import dotted
from cardai.experiments.machinery.words import (
    Result,
    about,
    listed,
    percent,
    points,
    rows_by_place,
    rows_where,
    series_of,
)

NOTES = (
    "Share of the win: the fewest points of a round win, k seats with as few share it; 25 % is equal. Same deals, seats"
    " rotated. Intervals by bootstrap over deals, of moons by Wilson.",
    "In brackets: the paper's figure, from 1000 games a row. Its opponents are not available. rollout:100 and pimc"
    " stand in for its Monte Carlo tree search, DQN is trained here, so a verdict says how our agent does against a"
    " stand-in.",
    f"{listed(CANNOT)}: these rows of the paper need people and are not repeated.",
    "T3.1 to T3.4: rules without moons; T3.1, T3.4, T4.1 and T4.3: nothing is passed.",
    "Tried: the moon decider gives the hand more than its threshold, so that the moon networks pass and play.",
    "Each other: the mean of the three other seats. Moons of the other three: the share of rounds in which one of them"
    " shoots the moon.",
)


def answers(result: Result) -> list[str]:
    rows, (column, stronger), moons = rows_by_place(result), MCTS, TITLES["T4.2"]
    all_networks, (first, second) = rows[SHARE, moons, column], (percent(rows[SHARE, ONE, one]) for one in MCTS)
    return [
        f"A player made of five of them gets {about(all_networks)} of the win against three stand-ins for the paper's"
        " search; equal players get 25 %.",
        f"The figure is {percent(all_networks)}, by the paper's rules, against three `{column.removeprefix('3 ')}`. The"
        " other two networks play against moons.",
        "The paper says 32.0 %, against its own search. The opponents differ, so this is no test of its figure.",
        f"Against three stronger stand-ins (`{stronger.removeprefix('3 ')}`) the player gets"
        f" {percent(rows[SHARE, moons, stronger])}.",
        f"One network that passes and plays (`best`) gets {first} and {second}. It trained for longer, but by the usual"
        " rules.",
        f"Fine-tuning, without moons: from {percent(rows[SHARE, TITLES['T3.2'], column])} to"
        f" {percent(rows[SHARE, TITLES['T3.3'], column])}. The paper says 26.3 to 30.3 %.",
        f"The last version makes {percent(rows[MADE, moons, column])} of the moons that it tries, the first one"
        f" {percent(rows[MADE, TITLES['T4.1'], column])}. In the paper these are 52.24 and 21.4 %.",
        f"Rounds in which one of the others shoots the moon, with the breaker less without:"
        f" {points(rows[FOES, 'T5 on less off', OWN], 1)}. In the paper they fall from 11.1 to 6.1 %.",
    ]


def draw(result: Result) -> dict[str, Any]:
    rows = rows_where(result, table=SHARE)
    series = series_of(rows, lambda row: f"against {row['column']}", "name")
    paper = [
        (row["name"], row["claim"]["value"], None, None) for row in rows if row["claim"] and row["column"] != "3 pimc"
    ]
    columns = (f"against {column}" for column in (*MCTS, DQN, OWN))
    series = {column: series.get(column, []) for column in columns} | {"the paper, against its own": paper}
    return {"rows": dotted(series, "share of the win, %", 5.2, (25, "equal"))}
