"""The paper on Hearts, row by row: an agent made of seven networks against stand-ins for its opponents.

`cardai.experiments.hearts_networks` trains the networks, with what the paper leaves open and how we chose it. Here
the agents are made and measured: their share of the win with ties split, points a round, and moons.

The paper's opponents were a program by Monte Carlo tree search (MCTS) inside a commercial application, an agent that
its authors trained by Q-learning (DQN), and people. Stand-ins for MCTS are `rollout:100?by=random`, which plays worlds
on at random, and `pimc`, a stronger one; for DQN it is a policy trained here. Figures beside a claim therefore say
how our agent does against the stand-in, not against the paper's opponent. The rows with people (T3.5, T4.4 and T6)
cannot be repeated and have no stand-in. A game of the paper goes on to a number of points that it does not name; ours
is one round.

Beside its row T4.2 stands the network `best` of Hearts: one network for all that the paper has seven for.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cardai.evaluators.policies.nfsp import NfspConfig
from cardai.experiments.hearts_networks import Stages, judged, plays, quantile, seconds_of
from cardai.experiments.machinery.findings import Claim, Finding, Findings, difference, direction, margin, of_estimate
from cardai.experiments.machinery.lab import Lab
from cardai.measure.duplicate import outcomes, outcomes_of_place, outcomes_of_places, play_rotated
from cardai.playing.agents.spec import agent
from cardai.playing.machine import default_threads
from cardai.playing.stats import interval
from cardai.playing.stats.deals import deal_seeds, rotations
from cardai.playing.stats.jsonable import plain
from cardai.registry import load

SEED, CHOOSING = 20261123, 20261124
"""The deals of all figures, and those on which thresholds are chosen."""
SHARE, POINTS, MADE, TRIED = (
    "Share of the win, %",
    "Points a round",
    "Moons made of those tried, %",
    "Rounds with a try, %",
)
FOES = "Rounds with a moon of the other three, %"
TREE, PIMC = "rollout:100?by=random", "pimc"
MCTS = {"3 rollout:100": TREE, "3 pimc": PIMC}
"""{column: spec} of the stand-ins for MCTS."""
DQN, OWN = "3 DQN", "3 without breaker"
ABOVE = (0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7)
"""Thresholds of the moon deciders; the paper's is 0.96."""
BREAKING = (1.0, 0.5, 0.25)
"""Shares of hands that the breaker plays: those for which its decider predicts most."""
ONE = "one network"
CANNOT = [f"{row} (three against a person)" for row in ("T3.5", "T4.4", "T6")]
"""Rows of the paper that need people."""


def _won(value: float) -> Claim:
    return Claim(value, games=1000, better="higher", within=margin("share of Hearts"))


def _points(value: float) -> Claim:
    return Claim(value, games=1000, better="lower", within=margin("points of Hearts"), is_mean=True)


CLAIMS: Mapping[str, Mapping[str, Claim]] = {
    "T3.1": {SHARE: _won(26.6), POINTS: _points(6.32)},
    "T3.2": {SHARE: _won(26.3), POINTS: _points(6.32)},
    "T3.3": {SHARE: _won(30.3), POINTS: _points(5.93)},
    "T3.4": {SHARE: _won(28.0)},
    "T4.1": {SHARE: _won(26.1), POINTS: _points(6.74), MADE: Claim(21.4, better="higher", within=margin("moons made"))},
    "T4.2": {
        SHARE: _won(32.0),
        POINTS: _points(6.27),
        MADE: Claim(52.24, games=67, better="higher", within=margin("moons made at last")),
    },
    "T4.3": {SHARE: _won(32.0)},
    "T5 on": {SHARE: _won(22.5), POINTS: _points(7.38), FOES: Claim(6.1, games=1000, within=margin("moons of others"))},
    "T5 off": {
        SHARE: _won(24.8),
        POINTS: _points(7.48),
        FOES: Claim(11.1, games=1000, better="neither", within=margin("moons of others")),
    },
}
"""The paper's figures. Its share of moons made comes from attempts that it does not count; 35 of 67 fits T4.2."""
TITLES = {
    "T3.1": "T3.1 play network",
    "T3.2": "T3.2 with pass network",
    "T3.3": "T3.3 both fine-tuned",
    "T3.4": "T3.4 play network",
    "T4.1": "T4.1 first moon decider",
    "T4.2": "T4.2 moons, all networks",
    "T4.3": "T4.3 moons, all networks",
    "T5 on": "T5 breaker on",
    "T5 off": "T5 breaker off",
    ONE: ONE,
}


@dataclass(frozen=True)
class Scale:
    """How much is played and trained.

    `games`: of each stage of a network; `decided`: behind each decider. `generations`: of play networks after the
    first; `tunings`: rounds of games that two networks play together. `choosing`: games for each threshold.
    `benchmark`: games behind a figure. `learning`: fields of every `TrainConfig`. `dqn`: the stand-in's training.
    """

    games: int
    decided: int
    generations: int
    tunings: int
    choosing: int
    benchmark: int
    learning: Mapping[str, Any]
    dqn: NfspConfig


_LEARNING = {
    "epochs": 0,
    "schedule": "cosine",
    "optimiser": "adamw",
    "weight_decay": 0.01,
    "learning_rate": 2e-3,
    "options": {"hidden": [256], "dropout": [0.0]},
    "parts": (0.95, 0.04, 0.01),
}
_MEDIUM = _LEARNING | {"batch": 2048, "steps": 2500, "warm_up": 100, "check_steps": 500}
_DQN = {"policy_rate": 1e-3, "value_rate": 1e-3, "optimiser": "adam", "anticipation": 1.0, "epsilon": 0.5, "steps": 3}
SCALES = {
    "smoke": Scale(
        games=60,
        decided=60,
        generations=1,
        tunings=1,
        choosing=8,
        benchmark=8,
        learning=_LEARNING
        | {"options": {"hidden": [8], "dropout": [0.0]}, "parts": (0.8, 0.1, 0.1), "batch": 64, "steps": 10},
        dqn=NfspConfig((8,), epochs=1, epoch_games=20, round_games=10, updates=2, batch=32, **_DQN),
    ),
    "small": Scale(
        games=30_000,
        decided=30_000,
        generations=4,
        tunings=3,
        choosing=4000,
        benchmark=4000,
        learning=_MEDIUM,
        dqn=NfspConfig(
            (128,), epochs=40, epoch_games=500, round_games=100, updates=32, batch=256, memory=200_000, **_DQN
        ),
    ),
}


@dataclass(frozen=True)
class PaperRow:
    """Games of one agent against three others of one kind. `gate`: its decider and threshold, if it tries moons."""

    row: str
    column: str
    variant: str
    spec: str
    foes: str
    gate: tuple[str, float] | None = None

    @property
    def key(self) -> str:
        """The name of its piece."""
        return f"{self.row}-{self.column}".replace(" ", "-").replace(":", "-").lower()


def run(lab: Lab) -> Findings:
    stages = Stages(lab)
    lab.piece("networks", lambda: _trained(stages), repeats=False)
    own = stages.sub_agents
    early = _above(lab, "early", "paper_hold", stages.early_composed)
    late = _above(lab, "late", "paper", stages.composed)
    shots = (own.moon_decider, late)
    rows = [
        *_against_mcts(lab, "T3.1", "paper_plain", plays(own.play)),
        *_against_mcts(lab, "T3.2", "paper_pass", stages.normal(tuned=False)),
        *_against_mcts(lab, "T3.3", "paper_pass", stages.normal()),
        *_against_mcts(lab, "T4.1", "paper_hold", stages.early_composed(early), (own.early_decider, early)),
        *_against_mcts(lab, "T4.2", "paper", stages.composed(late), shots),
        *_against_dqn(lab, stages, late),
        *_breaking(lab, stages, late),
        *_against_mcts(lab, ONE, "paper", "greedy:best?any_variant"),
    ]
    return Findings(rows, {"seconds": seconds_of(lab.folder), "above": {"early": early, "late": late}})


def _trained(stages: Stages) -> dict[str, float]:
    assert stages.sub_agents
    for variant in ("paper_plain", "paper_hold"):
        stages.dqn(variant)
    return seconds_of(stages.lab.folder)


def _above(lab: Lab, name: str, variant: str, made: Any) -> float:
    """The threshold with the largest share of the win against three `careful`, on deals of their own."""

    def measure() -> dict[str, Any]:
        shares = {}
        for above in ABOVE:
            contest = PaperRow(f"above {above}", name, variant, made(above), "careful")
            shares[f"{above:g}"] = played(lab, contest, lab.size.choosing, CHOOSING)["own share"]["point"]
        return {"above": float(max(shares, key=lambda above: shares[above])), "shares": shares}

    return lab.piece(f"above-{name}", measure)["above"]


def _against_mcts(lab: Lab, row: str, variant: str, spec: str, gate: tuple[str, float] | None = None) -> list[Finding]:
    contests = [PaperRow(row, column, variant, spec, foes, gate) for column, foes in MCTS.items()]
    return [finding for contest in contests for finding in _findings(lab, contest)]


def _against_dqn(lab: Lab, stages: Stages, above: float) -> list[Finding]:
    """T3.4 and T4.3. RLCard, in which the paper's DQN agents played, has no passing."""
    own = stages.sub_agents
    moons = stages.composed(above)
    contests = (
        PaperRow("T3.4", DQN, "paper_plain", plays(own.tuned_play), f"{stages.dqn('paper_plain')}?greedy"),
        PaperRow("T4.3", DQN, "paper_hold", moons, f"{stages.dqn('paper_hold')}?greedy", (own.moon_decider, above)),
    )
    return [finding for contest in contests for finding in _findings(lab, contest)]


def _breaking(lab: Lab, stages: Stages, above: float) -> list[Finding]:
    """T5: with and without the breaker against three without it, and how many moons it prevents."""
    lab.piece("breaker", lambda: {"networks": len(stages.breaker(above))}, repeats=False)
    foes, breaker = stages.composed(above), _breaker(lab, stages, above)
    gate = stages.sub_agents.moon_decider, above
    on = PaperRow("T5 on", OWN, "paper", stages.composed(above, breaker), foes, gate)
    off = PaperRow("T5 off", OWN, "paper", foes, foes, gate)
    rows = [finding for contest in (on, off) for finding in _findings(lab, contest)]
    moons = [row for row in rows if row.table == FOES]
    fewer = difference(moons[0].figure, moons[1].figure)
    claim = direction("lower", "61 less 111 in 1000 games")
    return [*rows, Finding(FOES, "T5 on less off", OWN, fewer, claim, f"{on.key} {off.key}", SEED)]


def _breaker(lab: Lab, stages: Stages, above: float) -> tuple[str, str, float]:
    """The breaker, its decider, and the threshold with the fewest moons of the others, on deals of their own."""
    play, decider = stages.breaker(above)

    def measure() -> dict[str, Any]:
        moons: dict[str, float] = {}
        for share in BREAKING:
            least = quantile(stages.game, decider, "paper", share, max(100, lab.size.choosing // 4), CHOOSING)
            spec = stages.composed(above, (play, decider, -1.0 if share == 1.0 else least))
            contest = PaperRow(f"breaking {share}", OWN, "paper", spec, stages.composed(above))
            moons[repr(-1.0 if share == 1.0 else least)] = played(lab, contest, lab.size.choosing, CHOOSING)[
                "foes moon"
            ]["point"]
        return {"above": float(min(moons, key=lambda least: moons[least])), "moons": moons}

    return play, decider, lab.piece("above-breaker", measure)["above"]


def _findings(lab: Lab, contest: PaperRow) -> list[Finding]:
    told = lab.piece(contest.key, lambda: played(lab, contest, lab.benchmark, SEED))
    claims, title = CLAIMS.get(contest.row, {}), TITLES[contest.row]

    def finding(table: str, name: str, figure: str, claim: Claim | None = None, places: int = 1) -> Finding:
        return Finding(table, name, contest.column, of_estimate(told[figure]), claim, contest.key, SEED, places=places)

    rows = [
        finding(SHARE, title, "own share", claims.get(SHARE)),
        finding(POINTS, title, "own points", claims.get(POINTS), places=2),
        finding(POINTS, f"{title}: each other", "foes points", places=2),
    ]
    if contest.gate is not None:
        rows += [finding(TRIED, title, "tried"), finding(MADE, title, "made", claims.get(MADE))]
    if contest.variant in ("paper", "paper_hold"):
        rows.append(finding(FOES, title, "foes moon", claims.get(FOES)))
    return rows


def played(lab: Lab, contest: PaperRow, games: int, seed: int) -> dict[str, Any]:
    """Estimates from games of a contest, as JSON: shares in percent, points in points.

    "own" is the first agent, "foes" the other three: their points are a seat's, their moons those of all three. "tried"
    is the share of hands on which the agent's gate says to shoot the moon, and "made" how many of these it shoots.
    """
    game = load("hearts")
    ours, foes = agent(game, contest.spec), agent(game, contest.foes)
    tell = lab.telling(f"{contest.row} against {contest.column}")
    results, places = play_rotated(
        game, [ours, foes, foes, foes], rotations(4), -(-games // 4), seed, contest.variant, default_threads(), tell,
        noted=("points", "moon"),
    )  # fmt: skip
    share, points, moon = (outcomes(game.payoff, name, results.complete()) for name in ("share", "points", "moon"))
    moons = outcomes_of_place(places, 0, moon)
    estimates = {
        "own share": interval.mean(outcomes_of_place(places, 0, share)).scaled(100),
        "own points": interval.mean(outcomes_of_place(places, 0, points)),
        "foes points": interval.mean(outcomes_of_places(places, [[1], [2], [3]], points)),
        "own moon": interval.proportion(moons).scaled(100),
        "foes moon": interval.proportion(moon.sum(axis=1).reshape(moons.shape) - moons).scaled(100),
    }
    if contest.gate is not None:
        deals = deal_seeds(seed, len(places))
        wanted = judged(game, contest.gate[0], contest.variant, deals) > contest.gate[1]
        tried = np.take_along_axis(wanted, np.argmax(places == 0, axis=2), axis=1)
        estimates["tried"] = interval.proportion(tried.astype(float)).scaled(100)
        estimates["made"] = interval.proportion(np.where(tried, moons, np.nan)).scaled(100)
    return plain({name: asdict(estimate) for name, estimate in estimates.items()})
