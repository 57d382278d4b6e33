"""What a run of generations is: one frozen value, from a TOML file, from flags or from Python."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from cardai.data.selfplay import parse_pool
from cardai.errors import CardaiError, unknown
from evaluators import settings
from evaluators.scorer import DEVICES
from evaluators.settings import setting
from evaluators.training.config import TrainConfig

DECIDED = ("game", "data", "out", "variant", "start_from", "minutes", "seed", "device", "threads")
"""What a run decides of the training of its networks; the rest is in `training`."""

_MOMENTS = {"greedy": "before_draw", "sampled": "drawn", "peeking": "drawn"}


@dataclass(frozen=True)
class IterateConfig:
    """Everything that decides what comes out of the generations. Raises CardaiError for an impossible value.

    `training` is completed with what a training run has by default, and with the states that suit the kind of agent.
    """

    called: ClassVar[str] = "iterate config"

    game: str = setting("The game that is learned.")
    out: str = setting("The run's folder.", is_run=False)
    variant: str | None = setting("The variant that is played; the game's first one if not given.", default=None)
    seats: int | None = setting("How many seats; the game's usual number if not given.", span=(1, 62), default=None)
    kind: str = setting(
        "How a model plays: greedy, sampled or peeking. Unless training says otherwise, greedy learns before_draw, the"
        " others drawn.",
        choices=tuple(_MOMENTS),
        default="greedy",
    )
    worlds: int = setting("How many worlds a sampled model looks at.", span=(1, 10**6), default=100)
    pool: tuple[str, ...] = setting(
        "Who plays besides models, as SPEC@WEIGHT; if not given, random and the game's own players and heuristics,"
        " randomised where they can be.",
        default=(),
    )
    champion_share: float = setting(
        "The share of seats that the champion plays in; until a model is one, the newest model.",
        span=(0, 1),
        default=0.5,
    )
    earlier_share: float = setting(
        "The share of seats for the other models of the window together.", span=(0, 1), default=0.2
    )
    epsilon: float = setting("How often a model that explores plays any move.", span=(0, 1), default=0.1)
    exploring: float = setting("The share of the models' seats in which they explore.", span=(0, 1), default=0.4)
    games: int = setting("Games of a generation.", span=(1, 10**9), default=10_000)
    window: int = setting(
        "A network learns from the games of so many generations, its own the last; their models play.",
        span=(1, 10**6),
        default=4,
    )
    warm_start: bool = setting("Begin with the weights of the model that plays most.", default=False)
    training: Mapping[str, Any] = setting(
        "How a network learns: fields of a training run.",
        inside=TrainConfig,
        without=DECIDED,
        default_factory=dict,
    )
    reference: str | None = setting(
        "The agent that every model is measured against, and the first champion; if not given, the best of the first"
        " games.",
        default=None,
    )
    benchmark_games: int = setting("Games after which it is looked who is better.", span=(1, 10**9), default=2000)
    most_benchmark_games: int = setting(
        "Games after which a candidate that is not better is not promoted.", span=(1, 10**9), default=16_000
    )
    benchmark_epsilon: float = setting(
        "How often both play any move in the benchmark: a game without chance needs some, or all games are one.",
        span=(0, 1),
        default=0.0,
    )
    generations: int = setting(
        "Stop after so many generations; 0 is no limit.", span=(0, 10**6), is_run=False, default=10
    )
    minutes: float = setting(
        "Stop after so many minutes of this call; 0 is no limit. The same command goes on.",
        span=(0, 10**7),
        is_run=False,
        default=0.0,
    )
    seed: int = setting("Decides everything that is drawn.", span=(0, 2**63 - 1), default=0)
    device: str = setting("Where networks compute: auto, cpu or gpu.", choices=DEVICES, is_run=False, default="auto")
    threads: int | None = setting(
        "Threads; as many as processors if not given.", span=(1, 1024), is_run=False, default=None
    )

    def __post_init__(self) -> None:
        settings.check(self)
        for name in DECIDED:
            if name in self.training:
                raise CardaiError(f"training says {name}, which the run decides itself")
        given = {"moment": _MOMENTS[self.kind], "checkpoint_minutes": 1.0, **self.training}
        known = [name for name in settings.names(TrainConfig) if name not in DECIDED]
        for name in given:
            if name not in known:
                raise CardaiError(f"training: {unknown('field', name, known)}")
        try:
            learned = TrainConfig(game=self.game, data=("games",), out="training", **given)
        except CardaiError as error:
            raise CardaiError(f"training: {error}") from None
        kept = settings.as_plain(learned)
        object.__setattr__(self, "training", {name: kept[name] for name in known})
        self._refuse_contradictions()

    def _refuse_contradictions(self) -> None:
        parse_pool(self.pool)
        if self.champion_share + self.earlier_share > 1:
            shares = f"champion_share {self.champion_share:g} and earlier_share {self.earlier_share:g}"
            raise CardaiError(f"{shares} are together more than all seats")
        if not (self.generations or self.minutes):
            raise CardaiError("generations and minutes are both 0, so it would never end; give one of them")
        if self.most_benchmark_games < self.benchmark_games:
            raise CardaiError(
                f"most_benchmark_games {self.most_benchmark_games} is less than benchmark_games {self.benchmark_games}"
            )
        if not (self.training["epochs"] or self.training["steps"]):
            raise CardaiError("training: epochs and steps are both 0; what is learned must not depend on the clock")
        if "?" in self.out:
            raise CardaiError(
                f"out {self.out!r} contains a ?, which begins the options of an agent; choose another folder"
            )
