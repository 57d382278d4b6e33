"""The page of hearts."""

from typing import Any

from cardai.experiments.hearts import DQN, FOES, MADE, MCTS, ONE, OWN, SHARE, TITLES, unrepeated
from cardai.experiments.machinery.charts import chart, dots, key, level
from cardai.experiments.machinery.words import Result, interval_of, listed, rows_by_place, verdict_words, worded

NOTES = (
    "Share of the win: the fewest points of a round win, k seats with as few share it; 25 % is equal. Same deals, seats"
    " rotated. Intervals by bootstrap over deals, of moons by Wilson.",
    "In brackets: the paper's figure, from 1000 games a row. Its opponents are not available. rollout:100 and pimc"
    " stand in for its Monte Carlo tree search, DQN is trained here, so a verdict says how our agent does against a"
    " stand-in.",
    f"{listed(unrepeated())}: these rows of the paper need people and are not repeated.",
    "T3.1 to T3.4: rules without moons; T3.1, T3.4, T4.1 and T4.3: nothing is passed.",
    "Tried: the moon decider gives the hand more than its threshold, so that the moon networks pass and play.",
    "Each other: the mean of the three other seats. Moons of the other three: the share of rounds in which one of them"
    " shoots the moon.",
)


def answers(result: Result) -> list[str]:
    """The answer in one line, then what else the tables show."""
    rows = rows_by_place(result)
    moons, tuned = TITLES["T4.2"], TITLES["T3.3"]
    column, stronger = MCTS
    all_networks = rows[SHARE, moons, column]
    fewer = rows[FOES, "T5 on less off", OWN]
    weaker, alone = column.removeprefix("3 "), ""
    if (SHARE, ONE, column) in rows:
        first, second = (worded(rows[SHARE, ONE, one]["figure"], 1, " %") for one in MCTS)
        alone = (
            " One network that passes and plays (`best`, trained for longer, but by the usual rules) has"
            f" {first} and {second}."
        )
    return [
        "A player that uses five of them, trained here (the other two play against moons), has"
        f" {worded(all_networks['figure'], 1, ' %')} of the win, where"
        f" a fair share is 25 %, by the paper's rules against three stand-ins for its search (`{weaker}`). The paper"
        f" says 32.0 % against its own search, so opponents differ; as figures: {verdict_words(all_networks)}. Against"
        " three stronger stand-ins"
        f" (`{stronger.removeprefix('3 ')}`) it has {worded(rows[SHARE, moons, stronger]['figure'], 1, ' %')}.{alone}",
        f"Fine-tuning: from {worded(rows[SHARE, TITLES['T3.2'], column]['figure'], 1, ' %')} to"
        f" {worded(rows[SHARE, tuned, column]['figure'], 1, ' %')} without moons; the paper says 26.3 to 30.3 %.",
        f"Of the moons that it tries the last version makes {worded(rows[MADE, moons, column]['figure'], 1, ' %')}, the"
        f" first one {worded(rows[MADE, TITLES['T4.1'], column]['figure'], 1, ' %')}; the paper says 52.24 and 21.4 %.",
        f"The breaker changes the rounds in which one of the others shoots the moon by"
        f" {worded(fewer['figure'], 1, ' percentage points')}; the paper says 6.1 % instead of 11.1 %.",
    ]


def draw(result: Result) -> dict[str, Any]:
    """The share of the win in each row, beside the paper's."""
    figure, (axes,) = chart(height=5.2)
    rows = [row for row in result["rows"] if row["table"] == SHARE]
    series: dict[str, list[Any]] = {
        f"against {column}": [(row["name"], *interval_of(row)) for row in rows if row["column"] == column]
        for column in (*MCTS, DQN, OWN)
    }
    series["the paper, against its own"] = [
        (row["name"], row["claim"]["value"], None, None) for row in rows if row["claim"] and row["column"] != "3 pimc"
    ]
    dots(axes, series)
    level(axes, 25, "equal", across=False)
    axes.set_xlabel("share of the win, %")
    key(figure)
    return {"rows": figure}
