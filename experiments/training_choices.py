"""Which choices of the thesis' training matter at Moska: players, size of the data, balance, batch, rate, dropout.

A base is trained on balanced states of games of many hand-written players, and other networks beside it, each with one
choice changed. All networks of a repeat share its seed, and most of them its games; all play the same deals against
three Bot3, so that differences are taken pair by pair. Student's interval over repeats covers the chance in training,
in the games that were learned from and in those that were played.

Overfitting is looked for where it should be seen: in thirty passes over a tenth of the games, at the rate the thesis
took and at the one it calls too fast.

Sources: Vahteristo 2023, sections 2, 2.2, 2.3 and 3.1; the README of its program, "Training a model" and "Data
collection".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cardai.experiments.machinery.findings import Claim, Finding, Findings, direction, over_seeds
from cardai.experiments.machinery.lab import Lab
from cardai.experiments.moska_networks import HAND_WRITTEN, SMALL_NETWORKS, against_bot3
from cardai.files.reading import parse_json, read_text
from cardai.registry import load

SEED = 20261126
BASE = "the base"
POOLS: Mapping[str, Mapping[str, float]] = {
    "many": HAND_WRITTEN,
    "random": {"random": 1.0, "random_simple": 1.0},
    "one": {"bot3": 1.0},
}
"""{name: {spec: weight}} of the players whose games are learned from."""


@dataclass(frozen=True)
class TrainingChoice:
    """What is changed of the base.

    `pool`: of `POOLS`. `is_tenth`: whether there is a tenth of the games. `fields`: of
    `TrainConfig`, but for `larger`, `dropout` and `passes`, see `_fields`.
    """

    pool: str = "many"
    is_tenth: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict)


def _passes(rate: float) -> TrainingChoice:
    return TrainingChoice(is_tenth=True, fields={"learning_rate": rate, "schedule": "constant", "passes": 30})


CHOICES: Mapping[str, TrainingChoice] = {
    BASE: TrainingChoice(),
    "games of random players": TrainingChoice("random"),
    "games of Bot3 alone": TrainingChoice("one"),
    "a tenth of the games": TrainingChoice(is_tenth=True),
    "states as they occur": TrainingChoice(fields={"balance": "natural"}),
    "batches eight times as large": TrainingChoice(fields={"larger": 8}),
    "dropout 0.4": TrainingChoice(fields={"dropout": 0.4}),
    "thirty passes over a tenth, rate 0.0001": _passes(1e-4),
    "thirty passes over a tenth, rate 0.001": _passes(1e-3),
}
"""{name: what is changed}."""


@dataclass(frozen=True)
class Scale:
    """`repeats`: networks of each choice. `games`: games that a network learns from. `benchmark`: games that it plays.
    `learning`: fields of every `TrainConfig`.
    """

    repeats: int
    games: int
    benchmark: int
    learning: Mapping[str, Any] = field(default_factory=dict)


SCALES = {
    "smoke": Scale(2, 1000, 40, SMALL_NETWORKS["smoke"] | {"check_steps": 10}),
    "small": Scale(5, 80_000, 8000, SMALL_NETWORKS["small"] | {"steps": 2000}),
}

LOST = "Games lost against three Bot3, %, mean over networks"
COST = "Less the base, percentage points of games lost"
LEARNED = "Cross-entropy, balanced states divided by game, mean over networks"
FALL, RISE = "validation less training, at the end", "validation at the end less its lowest"

CLAIMS: Mapping[str, Claim] = {
    "games of random players": direction("higher", "loses more"),
    "games of Bot3 alone": direction("higher", "loses more"),
    "a tenth of the games": direction("higher", "loses more"),
    "states as they occur": direction("higher", "loses more"),
    "batches eight times as large": direction("lower", "loses less"),
}
"""{choice: what the sources expect of its games lost, less those of the base}; they give no figures."""
FAST, SLOW = "thirty passes over a tenth, rate 0.001", "thirty passes over a tenth, rate 0.0001"
GAPS = {("dropout 0.4", FALL): direction("lower", "below 0"), (FAST, RISE): direction("higher", "overfits")}


def run(lab: Lab) -> Findings:
    repeats = range(lab.size.repeats)
    learned = {name: [_learned(lab, name, repeat) for repeat in repeats] for name in CHOICES}
    lost = {name: [_played(lab, name, repeat) for repeat in repeats] for name in CHOICES}
    seeds = f"{SEED}-{SEED + len(repeats) - 1}"

    def finding(table: str, name: str, column: str, figures: list[float], claim: Claim | None = None) -> Finding:
        counted = "repeats" if table == COST else "networks"
        kind = "network" if table == LEARNED else "played"
        key = " ".join(f"{kind}-{_folder(name.partition(' less ')[0], repeat)}" for repeat in repeats)
        places = 4 if table == LEARNED else 2
        return Finding(table, name, column, over_seeds(figures, counted), claim, key, seeds, places=places)

    rows = [finding(LOST, name, "B1", lost[name]) for name in CHOICES]
    for name in CHOICES:
        if name != BASE:
            rows.append(finding(COST, name, "B1", _less(lost[name], lost[BASE]), CLAIMS.get(name)))
    for name in CHOICES:
        for column in ("test", FALL, RISE):
            figures = [one[column] for one in learned[name]]
            rows.append(finding(LEARNED, name, column, figures, GAPS.get((name, column))))
    rises = [[one[RISE] for one in learned[name]] for name in (FAST, SLOW)]
    rows.append(finding(LEARNED, f"{FAST} less {SLOW}", RISE, _less(*rises), direction("higher", "overfits faster")))
    return Findings(rows, {"losses": {name: learned[name][0]["losses"] for name in CHOICES}})


def _less(ours: list[float], base: list[float]) -> list[float]:
    return [one - other for one, other in zip(ours, base, strict=True)]


def _folder(name: str, repeat: int) -> str:
    return f"{list(CHOICES).index(name)}-{repeat}"


def _fields(name: str, learning: Mapping[str, Any]) -> dict[str, Any]:
    fields = dict(CHOICES[name].fields)
    if larger := fields.pop("larger", 0):  # as many states in all
        fields |= {"batch": larger * learning["batch"], "steps": max(2, learning["steps"] // larger), "warm_up": 1}
        fields["check_steps"] = max(1, learning["check_steps"] // larger)
    if dropout := fields.pop("dropout", 0.0):
        hidden = learning["options"]["hidden"]
        fields["options"] = {"hidden": hidden, "dropout": [dropout] * len(hidden)}
    if passes := fields.pop("passes", 0):
        fields |= {"epochs": passes, "steps": 0, "check_steps": 0}
    return fields


def _learned(lab: Lab, name: str, repeat: int) -> dict[str, Any]:
    def measure() -> dict[str, Any]:
        choice, seed, size = CHOICES[name], 1 + repeat, lab.size
        store = lab.store(load("moska"), "", "thesis")
        count = max(1, size.games // 10) if choice.is_tenth else size.games
        folder = f"games-{choice.pool}{'-tenth' * choice.is_tenth}-{repeat}"
        games = store.games(folder, POOLS[choice.pool], count, seed=seed)
        store.network(_folder(name, repeat), (games,), seed=seed, **_fields(name, size.learning))
        metrics = read_text(lab.folder / _folder(name, repeat) / "metrics.jsonl").splitlines()
        losses = [(line["loss"], line["validation"]["bce"]) for line in map(parse_json, metrics)]
        (training, validation), lowest = losses[-1], min(validation for _, validation in losses)
        figures = store.test_figures(_folder(name, repeat))
        return {
            "test": figures["bce"], FALL: validation - training, RISE: validation - lowest, "losses": losses,
            "states": figures["states"], "seconds": figures["seconds"],
        }  # fmt: skip

    return lab.piece(f"network-{_folder(name, repeat)}", measure, repeats=False)


def _played(lab: Lab, name: str, repeat: int) -> float:
    """The games that a network loses against three Bot3, in percent; all of a repeat play the same deals."""
    folder = _folder(name, repeat)
    report = lab.bench(f"played-{folder}", against_bot3(), "table", f"greedy:{lab.folder / folder}", seed=SEED + repeat)
    return report["rows"][0]["figure"]["point"]
