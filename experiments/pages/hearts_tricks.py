"""The page of hearts-tricks."""

from cardai.experiments.hearts_rewards import LAST, POINTS, SHARE
from cardai.experiments.hearts_tricks import CHOSEN, GAIN, PAIRS, REWARDS, SAVED, WITHOUT
from cardai.experiments.machinery.words import Result, rows_by_place, worded
from cardai.experiments.pages.hearts_rewards import draw

__all__ = ["LABELS", "NOTES", "answers", "draw"]

NOTES = (
    "All networks learn (10 - points) / 10 of the seat's round, at least 0, for each state. With a reward for tricks"
    " they also learn (limit - points) / limit of the trick to which the card went, at least 0, with half of that"
    " weight, as in the paper. Points of a trick count for the seat that took it.",
    "Games, generations and the benchmark are those of [hearts-rewards](hearts-rewards.md). All networks of a repeat"
    " share the first games and the deals that they play.",
    "The paper says that rewards for tricks make training better, and that 4 gave the best performance of the limits"
    " from 1 to 4, without figures. Its loss is a squared error, ours is cross-entropy.",
    "Student-t interval over repeats; it includes the errors of training and of play.",
)

LABELS = {
    SHARE: "Share of the win against three careful, %",
    POINTS: "Points a round against three careful",
    GAIN: "Share of the win, percentage points: one reward less another",
    SAVED: "Points a round: one reward less another",
}


def answers(result: Result) -> list[str]:
    rows = rows_by_place(result)

    def of(table: str, name: str, places: int) -> str:
        return worded(rows[table, name, LAST]["figure"], places)

    beside = [" less ".join(pair) for pair in PAIRS if pair[1] == WITHOUT]
    gains = [rows[GAIN, name, LAST]["figure"] for name in beside]
    more = sum(figure["low"] is not None and figure["low"] > 0 for figure in gains)
    fewer = sum(figure["high"] is not None and figure["high"] < 0 for figure in gains)
    chosen, others = f"{CHOSEN} less {WITHOUT}", [name for name in REWARDS if name not in (WITHOUT, CHOSEN)]
    worse = [rows[GAIN, f"{CHOSEN} less {other}", LAST]["figure"] for other in others]
    beaten = sum(figure["low"] is not None and figure["low"] > 0 for figure in worse)
    return [
        f"Of {len(gains)} rewards for tricks, {more} make the network win more than without one, {fewer} make it win"
        " less.",
        f"The paper's {CHOSEN} changes the share of the win by {of(GAIN, chosen, 1)} percentage points, and the points"
        f" a round by {of(SAVED, chosen, 2)}.",
        f"Against three `careful` a network without a reward for tricks has {of(SHARE, WITHOUT, 1)} % of the win and"
        f" {of(POINTS, WITHOUT, 2)} points a round. With the {CHOSEN} it has {of(SHARE, CHOSEN, 1)} % and"
        f" {of(POINTS, CHOSEN, 2)}.",
        f"Of the limits, {CHOSEN} wins more than {beaten} of the {len(others)} others.",
    ]
