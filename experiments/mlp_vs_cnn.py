"""An MLP or a CNN? Both taught the same states in the same order, at equal size, at their own size, in equal time.

Each game has one set of recorded games. A network of either body learns from the same states in the same order, as
often as the other with its seed, and is judged by the same test states and on the same deals. A third body is the CNN
again, but the cells of its planes have changed places: what is next to each other there is not so in the game. It
has the same layers, so what it does worse is what neighbourhood is worth.

Equal seconds: the MLP gets as many steps more as it learns from more states a second, in the median over the networks
of the first condition. So a run on another machine gives it another number of steps, which the table tells.

Source: Vahteristo 2023, sections 1.3, 2.4 and 3.1.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from flax import nnx

from cardai.agents.spec import Agent, agent
from cardai.game import Game, Segment
from cardai.measure.grade import grade
from cardai.measure.solution import solve
from cardai.registry import load
from cardai.stats import interval
from cardai.stats.deals import deal_seeds, rotations
from cardai.table.many import play
from evaluators.bodies.build import construct
from evaluators.bodies.options import MlpOptions, options_of
from evaluators.model import Model
from evaluators.model import load as load_model
from evaluators.training.compare import (
    BodyComparison,
    BodyEvaluator,
    cells_shuffled,
    comparison_of,
    parameters,
    rows_per_second,
)
from evaluators.training.config import TrainConfig
from experiments import durak_learners, moska_networks
from experiments.machinery.charts import bars, chart, lines
from experiments.machinery.findings import Claim, Finding, Findings, Measurement, direction, over_seeds, shown
from experiments.machinery.lab import Lab
from experiments.machinery.networks import NetworkStore

SEED = 20261122
"""Of the deals of benchmarks."""


@dataclass(frozen=True)
class Board:
    """A game as it is learned and measured here.

    `pool`: who plays the games that are learned from. `learning`: fields of `TrainConfig`. `opponents`: who sits with
    the network when it is measured; nobody where play is graded exactly. `strength`: what is counted then, the share
    of games "won", "lost" or "not lost"; `claim` on how much more of it a CNN has than an MLP.
    """

    title: str
    pool: Mapping[str, float]
    learning: Mapping[str, Any]
    strength: str
    about: str
    opponents: tuple[str, ...] = ()
    variant: str | None = None
    claim: Claim | None = None

    @property
    def seats(self) -> int:
        """At the table."""
        return 1 + len(self.opponents) if self.opponents else 2

    @property
    def sign(self) -> int:
        """1 where more is better, -1 where less is."""
        return -1 if self.strength == "lost" else 1


_CARDS = {"encoder": "relative", "optimiser": "adamw", "weight_decay": 0.01}

BOARDS = {
    "tictactoe": Board(
        "Tic-Tac-Toe",
        pool={"random": 1.0, "greedy:open_lines?epsilon=0.2": 1.0},
        learning={},
        strength="won",
        about="against evenly random moves, both seats taken together, exactly",
        claim=direction("higher", "CNN better"),
    ),
    "moska": Board(
        "Moska",
        pool=moska_networks.HAND_WRITTEN,
        learning=_CARDS | {"balance": "loser", "per_game": 40},
        strength="lost",
        about="against three Bot3, asked before it draws",
        opponents=("bot3",) * 3,
        variant="thesis",
        claim=direction("higher", "MLP better"),
    ),
    "durak": Board(
        "Durak",
        pool=durak_learners.HAND_WRITTEN,
        learning=_CARDS | {"per_game": 30},
        strength="not lost",
        about="against one defensive player, by the rules of the report",
        opponents=("defensive",),
        variant="report",
    ),
}
"""The thesis says that a CNN highly outperformed an MLP in Tic-Tac-Toe (2.4), and that networks without convolutions
consistently outperformed others in Moska (3.1). It says nothing of Durak."""


@dataclass(frozen=True)
class Scale:
    """How much is done, by game. `games`: recorded to learn from; `steps`: of a network; `seeds`: networks of a kind.

    `own`: the options of each body at its own size; the CNN is compared at that size, too, with an MLP of as many
    parameters. `benchmark`: games of a network at the table; `learning`: fields of every `TrainConfig`.
    """

    seeds: Mapping[str, int]
    games: Mapping[str, int]
    steps: Mapping[str, int]
    own: Mapping[str, Mapping[str, Mapping[str, Any]]]
    benchmark: int
    learning: Mapping[str, Any]


_CNN = {"channels": [16, 16], "kernel": [3, 3], "dense": [64]}

SCALES = {
    "smoke": Scale(
        seeds={"tictactoe": 2, "moska": 2, "durak": 2},
        games={"tictactoe": 400, "moska": 200, "durak": 200},
        steps={"tictactoe": 20, "moska": 20, "durak": 20},
        own={
            "tictactoe": {"mlp": {"hidden": [24, 24, 12]}, "cnn": {"channels": [4, 4], "kernel": [3, 3], "dense": [8]}},
            "moska": {"mlp": {"hidden": [32, 16]}, "cnn": {"channels": [4, 4], "kernel": [3, 3], "dense": [32]}},
            "durak": {"mlp": {"hidden": [32, 16]}, "cnn": {"channels": [4, 4], "kernel": [3, 3], "dense": [32]}},
        },
        benchmark=40,
        learning={"batch": 64, "learning_rate": 2e-3},
    ),
    "small": Scale(
        seeds={"tictactoe": 8, "moska": 5, "durak": 5},
        games={"tictactoe": 20_000, "moska": 60_000, "durak": 60_000},
        steps={"tictactoe": 1200, "moska": 1000, "durak": 1000},
        own={
            "tictactoe": {"mlp": {"hidden": [128, 128, 64]}, "cnn": _CNN},
            "moska": {"mlp": {"hidden": [256, 256, 128]}, "cnn": _CNN},
            "durak": {"mlp": {"hidden": [192, 128, 64]}, "cnn": _CNN},
        },
        benchmark=4000,
        learning={"batch": 1024, "learning_rate": 2e-3, "warm_up": 50},
    ),
    "full": Scale(
        seeds={"tictactoe": 10, "moska": 5, "durak": 5},
        games={"tictactoe": 200_000, "moska": 1_000_000, "durak": 1_000_000},
        steps={"tictactoe": 10_000, "moska": 20_000, "durak": 20_000},
        own={"tictactoe": {"mlp": {}, "cnn": {}}, "moska": {"mlp": {}, "cnn": {}}, "durak": {"mlp": {}, "cnn": {}}},
        benchmark=20_000,
        learning={"batch": 4096, "learning_rate": 1e-3, "warm_up": 200},
    ),
}  # fmt: skip
"""Own sizes: `small` has the MLPs that other experiments teach these games, `full` the bodies' own defaults."""

FEW = 10
"""With little data, one step in so many is made."""

KINDS = {
    "cnn": "CNN",
    "mlp": "MLP, as many parameters",
    "shuffled": "CNN, cells shuffled",
    "own": "MLP, its own size",
    "long": "MLP, as many seconds",
    "cnn-few": "CNN, a tenth of the steps",
    "mlp-few": "MLP, a tenth of the steps",
}
"""The networks of a seed, in the order they are taught: all but three with the same states in the same order."""

PAIRS = {
    "equal data and size": ("cnn", "mlp"),
    "equal data, own sizes": ("cnn", "own"),
    "equal seconds": ("cnn", "long"),
    "a tenth of the data": ("cnn-few", "mlp-few"),
    "its cells shuffled": ("cnn", "shuffled"),
}
"""Who is compared with whom, seed by seed; the last one is no MLP."""
CLAIMED = tuple(PAIRS)[:3]
"""Where what the thesis says is tested: it does not say how its networks compare in size, data and time."""


def run(lab: Lab) -> Findings:
    """Teach and measure all networks of all games."""
    rows: list[Finding] = []
    drawn: dict[str, Any] = {}
    answer: list[str] = []
    for name in BOARDS:
        study = Study(lab, name)
        rows += study.rows()
        answer += study.answer()
        drawn[name] = study.drawn()
    return Findings(rows, answer, NOTES, drawn)


class Study:
    """The networks of one game."""

    def __init__(self, lab: Lab, name: str) -> None:
        self.lab, self.name, self.board, self.size = lab, name, BOARDS[name], lab.size
        self.seeds = range(self.size.seeds[name])
        self.taught: dict[str, list[dict[str, Any]]] = {}
        kinds = [kind for kind in KINDS if kind != "long"]
        every = [{kind: self._taught(kind, seed) for kind in kinds} for seed in self.seeds]
        self.taught = {kind: [one[kind] for one in every] for kind in kinds}
        self.taught["long"] = [self._taught("long", seed) for seed in self.seeds]
        self.strong = {kind: [self._strength(kind, seed) for seed in self.seeds] for kind in KINDS}
        self.speeds = {kind: self._speed(kind) for kind in ("cnn", "mlp", "own")}

    def steps(self, kind: str) -> int:
        """How many a network makes."""
        usual = self.size.steps[self.name]
        if kind.endswith("few"):
            return usual // FEW
        return round(usual * self._ratio()) if kind == "long" else usual

    def _ratio(self) -> float:
        """How many times as many states a second the MLP learns from as the CNN."""
        mlp, cnn = (median(one["states_per_second"] for one in self.taught[kind]) for kind in ("mlp", "cnn"))
        return mlp / cnn

    def _taught(self, kind: str, seed: int) -> dict[str, Any]:
        """What a network's learning came to; the network itself is left in a file."""
        return self.lab.piece(f"taught-{self.name}-{kind}-{seed}", lambda: self._teach(kind, seed), repeats=False)

    def _teach(self, kind: str, seed: int) -> dict[str, Any]:
        comparison, steps = self._comparison, self.steps(kind)
        body, options = body_of(kind, self.size.own[self.name], comparison.layout)
        order = cells_shuffled(comparison.layout, seed) if kind == "shuffled" else None

        def tell(done: int, total: int, what: str) -> None:
            self.lab.tell(done, total, f"{self.board.title}, {KINDS[kind]}, seed {seed}: {what}")

        found = comparison.train(comparison.body(body, options, seed), seed, steps, order, tell)
        told = {
            "test": found.test.as_json(),
            "training": found.training.as_json(),
            "parameters": parameters(found.module),
            "options": dict(options),
            "steps": steps,
            "states": found.states,
            "states_per_second": round(found.states_per_second),
            "seconds": found.states / found.states_per_second,
        }
        _save(self._file(kind, seed), comparison, found.module, body, options, told, kind)
        return told

    @cached_property
    def _comparison(self) -> BodyComparison:
        """The states of all networks; the games are played first."""
        place = NetworkStore(
            load(self.name), self.lab.folder / self.name, {}, self.lab.progress, self.lab.device,
            self.board.variant, self.board.seats,
        )  # fmt: skip
        data = place.games("games", self.board.pool, self.size.games[self.name], seed=1)
        learning = {**self.size.learning, **self.board.learning}
        return comparison_of(
            TrainConfig(
                game=self.name, data=(data,), out=str(place.folder), parts=(0.95, 0.0, 0.05), epochs=0,
                steps=self.size.steps[self.name], device=self.lab.device, **learning,
            )
        )  # fmt: skip

    def _file(self, kind: str, seed: int) -> Path:
        return self.lab.folder / self.name / f"{kind}-{seed}.safetensors"

    def _player(self, kind: str, seed: int) -> Agent:
        """A network from its file, at the table."""
        model, game = load_model(self._file(kind, seed)), load(self.name)
        facts, layout = model.metadata, model.metadata.segments
        order = cells_shuffled(layout, seed) if kind == "shuffled" else None
        where = facts.game, facts.variant, facts.seats, facts.encoder, facts.moment
        one = BodyEvaluator(f"{kind}-{seed}", *where, model.module, order).player()
        one.check_fits(game, self.board.variant, facts.seats)
        return one

    def _strength(self, kind: str, seed: int) -> dict[str, Any]:
        """How well a network plays: {"share": in percent, "games": how many}; and how safely, where that is exact."""

        def measure() -> dict[str, Any]:
            game, player = load(self.name), self._player(kind, seed)
            if not self.board.opponents:
                graded = grade(solve(game), player)
                return {"share": 100 * float(graded.averaged[0]), "games": 0, "losing_lines": graded.losing_lines}
            count = self.lab.games or self.size.benchmark
            scores = scores_of(game, player, self.board.opponents, count, SEED, self.board.variant)
            share = interval.proportion(np.where(np.isnan(scores), np.nan, counted(scores, self.board.strength)))
            return {"share": 100 * share.point, "low": 100 * share.low, "high": 100 * share.high, "games": share.n}

        return self.lab.piece(f"strength-{self.name}-{kind}-{seed}", measure)

    def _speed(self, kind: str) -> list[float]:
        """Rows judged in a second by the first network of a kind, in the batches that a table asks in."""

        def measure() -> dict[str, Any]:
            module, comparison = load_model(self._file(kind, 0)).module, self._comparison
            rows = comparison.dataset.take(np.arange(4096) % len(comparison.dataset))
            return {"rows_per_second": rows_per_second(module, rows)}

        return self.lab.piece(f"speed-{self.name}-{kind}", measure, repeats=False)["rows_per_second"]

    def figure(self, kind: str, what: str) -> Measurement:
        """A figure of the networks of a kind."""
        return over_seeds(self._values(kind, what))

    def difference(self, pair: str, what: str) -> Measurement:
        """A figure of one kind less that of the other, seed by seed."""
        one, other = (self._values(kind, what) for kind in PAIRS[pair])
        return over_seeds([a - b for a, b in zip(one, other, strict=True)], "pairs of networks")

    def _values(self, kind: str, what: str) -> list[float]:
        if what in ("share", "losing_lines"):
            return [one[what] for one in self.strong[kind]]
        if what in ("test", "training"):
            return [one[what]["bce"] for one in self.taught[kind]]
        return [float(one[what]) for one in self.taught[kind]]

    def _pieces(self, what: str, *kinds: str) -> str:
        first = "strength" if what in ("share", "losing_lines") else "taught"
        return " ".join(f"{first}-{self.name}-{kind}-{seed}" for kind in kinds for seed in self.seeds)

    def rows(self) -> list[Finding]:
        """Two tables: the networks, and their differences."""
        return [*self._networks(), *self._differences()]

    def _networks(self) -> list[Finding]:
        table, found = f"{self.board.title}: networks; games {self.board.strength} {self.board.about}", []
        columns = [
            ("share", f"games {self.board.strength}, %", 2),
            ("test", "test BCE", 4),
            ("training", "BCE of states learned", 4),
            ("seconds", "s of learning", 1),
        ]
        if not self.board.opponents:
            columns.insert(1, ("losing_lines", "losing lines", 1))
        for kind, words in KINDS.items():
            for what, column, places in columns:
                pieces = self._pieces(what, kind)
                found.append(Finding(table, words, column, self.figure(kind, what), None, pieces, SEED, places=places))
            for what, column, factor, places in (("parameters", "parameters", 1, 0), ("states", "M states", 1e-6, 2)):
                exact = Measurement(factor * self.taught[kind][0][what], n=len(self.seeds), counted="networks")
                found.append(Finding(table, words, column, exact, None, self._pieces(what, kind), places=places))
            if kind in self.speeds:
                speed = self._judged(kind)
                found.append(Finding(table, words, "rows/s judged", speed, None, f"speed-{self.name}-{kind}", places=0))
        return found

    def _differences(self) -> list[Finding]:
        table, found = f"{self.board.title}: the CNN's figure less the other's, seed by seed", []
        for pair, kinds in PAIRS.items():
            for what, column, places in (("share", f"games {self.board.strength}, points", 2), ("test", "test BCE", 4)):
                claim = self.board.claim if what == "share" and pair in CLAIMED else None
                pieces = self._pieces(what, *kinds)
                found.append(
                    Finding(table, pair, column, self.difference(pair, what), claim, pieces, SEED, places=places)
                )
        return found

    def _judged(self, kind: str) -> Measurement:
        rounds = sorted(self.speeds[kind])
        return Measurement(median(rounds), rounds[0], rounds[-1], len(rounds), "rounds")

    def answer(self) -> list[str]:
        """What came out, and why."""
        share = {pair: self.difference(pair, "share") for pair in PAIRS}
        test = {pair: self.difference(pair, "test") for pair in PAIRS}
        who = "the CNN is better", "the MLP is better"
        told = "; ".join(
            f"{pair}, {shown(share[pair], 2)}: {side(share[pair], self.board.sign, *who)}" for pair in CLAIMED
        )
        held = "" if self.board.claim is None else f" What the thesis found, {self.board.claim}, {self._held(share)}."
        first, shuffled = "equal data and size", "its cells shuffled"
        worth = side(test[shuffled], -1, "matters", "does harm", "is not seen to matter")
        mlp, cnn = (f"{self._judged(kind).point:,.0f}" for kind in ("mlp", "cnn"))
        return [
            f"{self.board.title}, games {self.board.strength} by the CNN less those by the MLP, in points: {told}."
            + held,
            f"Why: at equal data and size the CNN's test BCE less the MLP's is {shown(test[first], 4)}. Less that of"
            f" the same CNN with its cells shuffled it is {shown(test[shuffled], 4)}, and {shown(share[shuffled], 2)}"
            f" points in play: neighbourhood {worth}. The MLP of its size learns {self._ratio():.1f} times as fast and"
            f" judges {mlp} rows a second, the CNN {cnn}.",
        ]

    def _held(self, share: Mapping[str, Measurement]) -> str:
        """Where the claim holds, in words."""
        rows = {pair: Finding("", "", "", share[pair], self.board.claim).verdict for pair in CLAIMED}
        parts = {
            words: [pair for pair, verdict in rows.items() if verdict == wanted]
            for wanted, words in (("reproduced", "holds"), ("missed", "is turned round"), ("undecided", "is undecided"))
        }
        return ", ".join(f"{words} at {', '.join(pairs)}" for words, pairs in parts.items() if pairs)

    def drawn(self) -> dict[str, Any]:
        """What the figures show."""
        return {
            kind: {
                "share": asdict(self.figure(kind, "share")),
                "test": asdict(self.figure(kind, "test")),
                "seconds": self.figure(kind, "seconds").point,
            }
            for kind in KINDS
        }


def body_of(
    kind: str, own: Mapping[str, Mapping[str, Any]], layout: Sequence[Segment]
) -> tuple[str, Mapping[str, Any]]:
    """The body of a kind of network and its options; most MLPs have as many parameters as the CNN."""
    if kind in ("cnn", "cnn-few", "shuffled"):
        return "cnn", own["cnn"]
    if kind == "own":
        return "mlp", own["mlp"]
    wanted = parameters(nnx.eval_shape(lambda: construct("cnn", own["cnn"], layout)))
    shape = options_of("mlp", own["mlp"])
    assert isinstance(shape, MlpOptions)
    return "mlp", {"hidden": hidden_for(wanted, shape.hidden, sum(segment.size for segment in layout))}


def hidden_for(wanted: int, shape: Sequence[int], width: int) -> list[int]:
    """The hidden layers, as wide to each other as those of `shape`, of the MLP with the nearest number of parameters.

    `width`: values in a row.
    """
    choices = ([max(1, round(units * one / shape[0])) for units in shape] for one in range(1, 4096))
    return min(choices, key=lambda hidden: abs(dense_parameters(width, hidden) - wanted))


def dense_parameters(width: int, hidden: Sequence[int]) -> int:
    """How many numbers an MLP learns."""
    layers = [width, *hidden, 1]
    return sum((before + 1) * after for before, after in itertools.pairwise(layers))


def _save(
    place: Path,
    comparison: BodyComparison,
    module: nnx.Module,
    body: str,
    options: Mapping[str, Any],
    told: Any,
    kind: str,
) -> None:
    """Keep a network as a model. One with shuffled cells says so; it is of no use without their order."""
    dataset = comparison.dataset
    Model.of(
        comparison.game, module, body=body, body_options=options, moment=comparison.config.moment, seats=dataset.seats,
        variant=dataset.variant, encoder=dataset.recipe.encoder, about=KINDS[kind], data=dataset.about(), metrics=told,
        command="cardai reproduce mlp-vs-cnn",
    ).save(place)  # fmt: skip


def scores_of(
    game: Game, player: Agent, opponents: Sequence[str], games: int, seed: int, variant: str | None
) -> np.ndarray:
    """A player's score in each game of each deal, f8[deals, seats]: seat by seat, NaN for a game that did not end."""
    others = {spec: agent(game, spec) for spec in dict.fromkeys(opponents)}
    lineup = np.array([0, *(1 + list(others).index(spec) for spec in opponents)])
    turns = rotations(len(lineup))
    deals = -(-games // len(turns))
    holder = np.tile(turns, (deals, 1))
    seeds = np.repeat(deal_seeds(seed, deals), len(turns))
    results = play(game, [player, *others.values()], lineup[holder], seeds, variant=variant)
    if results.interrupted:
        raise KeyboardInterrupt
    own = np.where(results.finished, results.scores[holder == 0], np.nan)
    return own.reshape(deals, len(turns))


def counted(scores: np.ndarray, strength: str) -> np.ndarray:
    """1 where a game counts, f8: "won" is a score of 1, "lost" of 0."""
    return {"won": scores == 1.0, "lost": scores == 0.0, "not lost": scores > 0.0}[strength].astype(float)


def side(difference: Measurement, sign: int, up: str = "better", down: str = "worse", none: str = "undecided") -> str:
    """On which side of 0 a difference is, with its whole interval; `sign`: 1 where more of it is better, else -1."""
    if not difference.is_decisive:
        return none
    assert difference.low is not None
    assert difference.high is not None
    low, high = sorted((sign * difference.low, sign * difference.high))
    return up if low > 0 else down if high < 0 else none


NOTES = (
    "networks: means over seeds, which decide weights, split, order of the states and, if any, how cells are shuffled",
    "differences: network by network with equal seeds, Student's interval: the error of training and of play together",
    "equal seconds: the MLP makes as many steps more as it learns from more states a second, compilation not counted",
    "cells shuffled: the same CNN, but in all its planes alike the cells have changed places at random",
    "own size: the MLP's; the CNN's is the one at which sizes are equal",
    "BCE of states learned: on as many of them as there are test states; far below test BCE, it is overfitting",
    "losing lines: sequences of the opponent's moves that beat the network; 0 is perfect safety",
    "rows/s judged: 4,096 at once, the median of five rounds with the lowest and highest",
)


def draw(result: Mapping[str, Any]) -> dict[str, Any]:
    """How much better the CNN plays in each condition; and test loss over seconds of learning."""
    return {"strength": _drawn_strength(result["drawn"]), "loss": _drawn_loss(result["drawn"])}


def _drawn_strength(drawn: Mapping[str, Any]) -> Any:
    figure, panels = chart(len(drawn), columns=3, height=4.2)
    for axes, (name, found) in zip(panels, drawn.items(), strict=True):
        sides = (("CNN", 0), ("MLP, or CNN with its cells shuffled", 1))
        bars(axes, {label: [(pair, *_three(found[kinds[i]]["share"])) for pair, kinds in PAIRS.items()]
                    for label, i in sides})  # fmt: skip
        axes.set_title(f"{BOARDS[name].title}: games {BOARDS[name].strength}, %")
        axes.tick_params(axis="x", rotation=75)
    panels[0].legend(fontsize=7)
    return figure


def _drawn_loss(drawn: Mapping[str, Any]) -> Any:
    figure, panels = chart(len(drawn), columns=3, height=4.2)
    for axes, (name, found) in zip(panels, drawn.items(), strict=True):
        lines(axes, {KINDS[kind]: [(found[kind]["seconds"], *_three(found[kind]["test"]))] for kind in KINDS})
        axes.set_title(BOARDS[name].title)
        axes.set_xscale("log")
        axes.set_xlabel("seconds of learning")
        axes.set_ylabel("test BCE")
    panels[0].legend(fontsize=7)
    return figure


def _three(figure: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    return figure["point"], figure["low"], figure["high"]
