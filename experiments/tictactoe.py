"""Networks that learn Tic-Tac-Toe from random weights, by the thesis' protocol and by one that reaches perfect play.

The thesis leaves open how fast its networks learn and how many steps they make. It labels a state 1 if its player did
not lose: a draw is worth as much as a win. Its protocol is run with this label and two others, at several rates, and
with and without the random moves that it calls essential.

Every network is graded by walking the whole game tree, so a grade has no sampling error; only the networks differ from
seed to seed. The goal of our protocol is a network that no sequence of the opponent's moves beats, and that wins at
least 95.0 % of games against evenly random moves (a player that never loses can win 95.56 % of them at most).

Source: Vahteristo 2023, section 2.4 and Figure 4.
"""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from cardai.evaluators.model import SHIPPED
from cardai.evaluators.model import load as load_model
from cardai.evaluators.training.selfplay_in_memory import SelfPlayGeneration, SelfPlayProtocol, SelfPlayTraining
from cardai.experiments.machinery.findings import Claim, Finding, Findings, Measurement, direction, margin, over_seeds
from cardai.experiments.machinery.lab import Lab
from cardai.guests.exact.grade import Grade, best_against_uniform, grade, grade_strategy
from cardai.guests.exact.solution import Solution, solve
from cardai.playing.stats.jsonable import plain
from cardai.registry import load

COMMAND = "cardai reproduce tictactoe"

BODIES: Mapping[str, Mapping[str, Any]] = {
    "mlp": {"hidden": [128, 128, 64]},
    "cnn": {"channels": [16, 16], "kernel": [3, 3], "dense": [64]},
}
"""{body: options}. As in the thesis, the MLP has four dense layers, and the CNN two convolutions and two dense layers,
with the output layer counted; the sizes are ours.
"""

PROTOCOLS = {
    "thesis": SelfPlayProtocol(
        iterations=10,
        games=5000,
        opponent="random",
        epsilon=0.2,
        window=1,
        steps=300,
        label="not_lost",
        training={"batch": 256, "learning_rate": 1e-3, "schedule": "constant"},
    ),
    "ours": SelfPlayProtocol(
        iterations=6,
        games=40_000,
        first_players="random",
        epsilon=0.1,
        temperature=0.2,
        window=4,
        steps=1000,
        merge_rows=True,
        count_power=0.5,
        training={"batch": 256, "learning_rate": 3e-3, "schedule": "cosine", "final_rate": 0.02, "ema": 0.99},
    ),
}
"""For "thesis", the thesis gives the number of games, the opponent, the 20 % of random moves, the label, and that a
network learns from "the most recent iteration". Batch size, steps (two passes) and learning rate are ours.

In "ours" the network plays itself. Moves drawn by a softmax of their scores are mostly nearly best ones, which the
network must learn to distinguish; evenly random moves (10 %) keep blunders in the data. Both seats explore alike: if
one kind of player made most of the rare moves, their labels would show that player's skill, not the move's score.
"""

LABELS = ("not_lost", "score", "win")
"""What a state is labelled with: 1 for a game not lost; 1, 1/2 and 0 for a win, a draw and a loss; 1 for a win."""
RATES = (1e-4, 3e-4, 1e-3)
"""Learning rates; the thesis gives 1e-4 for its networks of Moska, and 1e-3 as too fast for these."""
RANDOM_MOVES = (0.2, 0.0)
"""The share of a network's moves that are random while games are gathered."""

CLAIMS = {"mlp": 65.0, "cnn": 92.0}
"""{body: the highest percentage of games won against random play}, from section 2.4: one network of each."""
GOAL = 0.95


@dataclass(frozen=True)
class Scale:
    """`seeds`: networks of each body by our protocol; `open`: at each setting that the thesis leaves open. `fields`:
    fields of both protocols to replace.
    """

    seeds: int
    open: int
    fields: Mapping[str, int] = field(default_factory=dict)


SCALES = {
    "smoke": Scale(1, 1, {"iterations": 2, "games": 200, "steps": 20}),
    "small": Scale(3, 10),
}


@dataclass(frozen=True)
class OpenSetting:
    """A setting of what the thesis does not say, or that is varied beside what it says.

    `label`: of `LABELS`. `rate`: of `RATES`. `epsilon`: of `RANDOM_MOVES`.
    """

    label: str
    rate: float
    epsilon: float

    @property
    def name(self) -> str:
        """Such as "not_lost, rate 0.0001", or "not_lost, rate 0.0001, no random moves"."""
        return f"{self.label}, rate {self.rate:g}" + ("" if self.epsilon else ", no random moves")

    @property
    def key(self) -> str:
        """For the names of pieces: "thesis_not_lost_0.0001_0.2"."""
        return f"thesis_{self.label}_{self.rate:g}_{self.epsilon:g}"

    @property
    def is_the_thesis(self) -> bool:
        """Whether it agrees with all that the thesis says."""
        return self.label == PROTOCOLS["thesis"].label and self.epsilon == PROTOCOLS["thesis"].epsilon

    def applied(self, protocol: SelfPlayProtocol) -> SelfPlayProtocol:
        """The protocol with this setting."""
        training = {**protocol.training, "learning_rate": self.rate}
        return replace(protocol, label=self.label, epsilon=self.epsilon, training=training)


OPEN = [OpenSetting(label, rate, epsilon) for epsilon in RANDOM_MOVES for label in LABELS for rate in RATES]


WON = "Games won against evenly random moves, %"
LOST = "Losing lines: sequences of the opponent's moves that beat the network"
THESIS = "The thesis' protocol: games won against evenly random moves, %, after the best iteration"
APART = "The CNN's figure less the MLP's, points"
TABLES = (THESIS, APART, WON, LOST, "Seconds")
ENDS: Mapping[str, Any] = {"least": min, "most": max}


def run(lab: Lab) -> Findings:
    solution = solve(load("tictactoe"))
    thesis, ours = (replace(PROTOCOLS[name], **lab.size.fields) for name in ("thesis", "ours"))
    curves: dict[str, list[Any]] = {}
    rows = []
    for body in BODIES:
        runs, keys = _networks(lab, solution, "ours", ours, body, lab.size.seeds)
        curves |= dict(zip(keys, [run["curve"] for run in runs], strict=True))
        rows += _rows(body, runs, " ".join(keys))
    for setting in OPEN:
        best, pieces = {}, []
        for body in BODIES:
            name, protocol = setting.key, setting.applied(thesis)
            runs, keys = _networks(lab, solution, name, protocol, body, lab.size.open)
            if setting.is_the_thesis:
                curves |= dict(zip(keys, [run["curve"] for run in runs], strict=True))
            best[body] = [100 * max(point["win"] for point in run["curve"][1:]) for run in runs]
            pieces += keys
            rows += _open_rows(setting, body, best[body], " ".join(keys))
        rows.append(_apart(setting, best, " ".join(pieces)))
    rows += [
        row for name, bound in lab.piece("bounds", lambda: _bounds(solution)).items() for row in _bound(name, bound)
    ]
    return Findings(sorted(rows, key=lambda row: TABLES.index(row.table)), {"curves": curves})


def _networks(
    lab: Lab, solution: Solution, name: str, protocol: SelfPlayProtocol, body: str, seeds: int
) -> tuple[list[dict[str, Any]], list[str]]:
    """The graded runs of a body by a protocol, and the keys of their pieces."""
    training = SelfPlayTraining(solution.game, protocol, body, BODIES[body])
    keys = [f"{name}-{body}-{seed}" for seed in range(seeds)]
    runs = [
        lab.piece(key, lambda seed=seed: _trained(lab, training, solution, name, seed)) for seed, key in enumerate(keys)
    ]
    return runs, keys


def _trained(lab: Lab, training: SelfPlayTraining, solution: Solution, protocol: str, seed: int) -> dict[str, Any]:
    """Train one network and grade it after each iteration; seed 0 of each body by our protocol is saved as a model.

    `curve`: shares of games against random play, in [0, 1], both seats averaged; the number of sequences of the
    opponent's moves that beat the network; the training loss, None for iteration 0, which has random weights. `grade`:
    the full one after the last iteration. `seconds`: of self-play and training; those of the first seed include
    compilation.
    """
    generations, seconds, curve, body = training.generations(seed), 0.0, [], training.config.body
    graded = last = None
    while True:
        began = time.perf_counter()
        generation = next(generations, None)
        seconds += time.perf_counter() - began
        if generation is None:
            break
        last, graded = generation, grade(solution, generation.agent())
        curve.append(_point(generation, graded))
        what = f"{protocol}, {body}, seed {seed}: {100 * curve[-1]['win']:.1f} % won"
        lab.tell(len(curve), 1 + training.protocol.iterations, what)
    assert last is not None
    assert graded is not None
    run = {"protocol": protocol, "body": body, "seed": seed, "curve": curve, "grade": graded.as_json()}
    run["seconds"] = round(seconds, 2)
    if protocol == "ours" and seed == 0:
        _save(lab.folder, run, last)
    return run


def _open_rows(setting: OpenSetting, body: str, best: list[float], piece: str) -> list[Finding]:
    """What the networks of a body reach at one setting: their mean, and the least and most of them."""
    claim = None
    if setting.is_the_thesis:  # of one network: its error is the spread of ours
        claim = Claim(CLAIMS[body], games=1, better="higher", within=margin("games of Tic-Tac-Toe"), is_mean=True)
    source: dict[str, Any] = {"piece": piece, "seed": f"0-{len(best) - 1}", "places": 1}
    ends = [(f"{body}, {word}", Measurement(end(best), n=len(best), counted="networks")) for word, end in ENDS.items()]
    return [
        Finding(THESIS, setting.name, body, over_seeds(best), claim, **source),
        *(Finding(THESIS, setting.name, column, figure, **source) for column, figure in ends),
    ]


def _apart(setting: OpenSetting, best: Mapping[str, list[float]], piece: str) -> Finding:
    """The difference of the two bodies; networks of one number share their games' seeds, so they are pairs."""
    pairs = [cnn - mlp for cnn, mlp in zip(best["cnn"], best["mlp"], strict=True)]
    claim = direction("higher", "CNN better") if setting.is_the_thesis else None
    figure, seeds = over_seeds(pairs, "pairs of networks"), f"0-{len(pairs) - 1}"
    return Finding(APART, setting.name, "CNN less MLP", figure, claim, piece, seeds)


def _rows(body: str, runs: list[dict[str, Any]], piece: str) -> list[Finding]:
    """The figures of one body by our protocol, over its networks."""
    wins = [[100 * point["win"] for point in run["curve"]] for run in runs]
    lines = [float(run["curve"][-1]["losing_lines"]) for run in runs]
    name = f"our protocol, {body}"
    source: dict[str, Any] = {"piece": piece, "seed": f"0-{len(runs) - 1}"}
    best = [max(curve[1:]) for curve in wins]
    slowest = Measurement(max(run["seconds"] for run in runs), n=1, counted="networks")
    return [
        Finding(WON, name, "best iteration", over_seeds(best), places=2, **source),
        Finding(WON, name, "last iteration", over_seeds([curve[-1] for curve in wins]), places=2, **source),
        Finding(LOST, name, "mean", over_seeds(lines), places=1, **source),
        Finding(LOST, name, "fewest", Measurement(min(lines), n=len(lines), counted="networks"), places=0, **source),
        Finding(LOST, name, "most", Measurement(max(lines), n=len(lines), counted="networks"), places=0, **source),
        Finding("Seconds", name, "slowest network", slowest, places=0, **source),
    ]


def _bounds(solution: Solution) -> dict[str, Any]:
    bounds = {
        "most wins, never losing": grade_strategy(solution, "safe", best_against_uniform(solution)),
        "most wins": grade_strategy(solution, "bold", best_against_uniform(solution, safe=False)),
        "random": grade(solution, "random"),
    }
    return {name: bound.as_json() for name, bound in bounds.items()}


def _bound(name: str, bound: Mapping[str, Any]) -> list[Finding]:
    lines = sum(bound[side]["losing_lines"] for side in ("first", "second"))
    exact: dict[str, Any] = {"piece": "bounds", "seed": ""}
    win = Measurement(100 * bound["averaged"]["win"]["value"], n=1, counted="tree")
    return [
        Finding(WON, name, "last iteration", win, places=2, **exact),
        Finding(LOST, name, "mean", Measurement(lines, n=1, counted="tree"), places=0, **exact),
    ]


def _point(generation: SelfPlayGeneration, graded: Grade) -> dict[str, Any]:
    win, drawn, lost = map(float, graded.averaged)
    return {
        "iteration": generation.number, "win": win, "draw": drawn, "loss": lost, "losing_lines": graded.losing_lines,
        "cross_entropy": generation.loss if generation.number else None,
    }  # fmt: skip


def _save(folder: Path, run: Mapping[str, Any], generation: SelfPlayGeneration) -> None:
    last = run["curve"][-1]
    generation.model(
        about="never loses" if last["losing_lines"] == 0 and last["win"] >= GOAL else "",
        training=plain(asdict(generation.training.protocol)),
        data={"games": "its own", "seed": run["seed"]},
        metrics=plain(last),
        seconds=run["seconds"],
        command=COMMAND,
    ).save(folder / f"{run['body']}.safetensors")


def ship(folder: Path) -> list[Path]:
    """Copy the models in a folder to those that come with cardai; their new paths."""
    shipped = []
    for body in BODIES:
        shipped.append(SHIPPED / "tictactoe" / f"{body}.safetensors")
        shipped[-1].parent.mkdir(exist_ok=True)
        load_model(folder / f"{body}.safetensors").save(shipped[-1])
    return shipped
