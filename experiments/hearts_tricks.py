"""Whether Hearts is learned better if every card is also rewarded for its trick, and with which limit.

Besides the reward at the end of a round, (10 - points) / 10, the paper gives each state of the play network up to half
as much for the trick to which the card went: (limit - points) / limit, or 0 from the limit on. It chose 4 among the
limits from 1 to 4. Here networks learn from the end of the round alone, and from both with each limit, with twice the
weight on the end.

All else is as in `cardai.experiments.hearts_rewards`: the games of hand-written players that a repeat's networks share,
generations of own games, three `careful` in the benchmark, Student's interval over repeats.

Source: Demirdover, Baykal and Alpaslan 2022, section 4.2 and Table 2.
"""

from collections.abc import Mapping

from cardai.experiments import hearts_rewards
from cardai.experiments.hearts_rewards import RewardComparison
from cardai.experiments.machinery.findings import Findings
from cardai.experiments.machinery.lab import Lab

SEED = 20261128
WITHOUT = "no reward for tricks"
CHOSEN = "limit 4"
"""The paper's choice."""
REWARDS: Mapping[str, str] = {
    WITHOUT: "normal",
    **{f"limit {limit}": f"2*normal+trick_{limit}" for limit in range(1, 5)},
}
"""{reward for tricks: the label that networks learn}."""
SCALES = {**hearts_rewards.SCALES}
GAIN = "Share of the win less that with another reward for tricks of the same repeat, percentage points"
SAVED = "Points a round less those with another reward for tricks of the same repeat"
PAIRS: Mapping[tuple[str, str], str] = {
    **{(f"limit {limit}", WITHOUT): "makes training better" for limit in range(1, 5)},
    **{(CHOSEN, f"limit {limit}"): "plays best" for limit in range(1, 4)},
}
"""{(reward for tricks, another): what the paper says of it beside the other}; it gives no figures, and no measure."""


def run(lab: Lab) -> Findings:
    return RewardComparison(lab, REWARDS, SEED).findings(PAIRS, GAIN, SAVED)
