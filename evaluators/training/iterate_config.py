"""The config of `iterate`: a frozen dataclass, made from a TOML file, from flags or in Python."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from cardai.errors import CardaiError
from cardai.evaluators.training.config import TrainConfig, number_of_devices
from cardai.files import settings
from cardai.files.settings import setting
from cardai.playing.agents.evaluator import DEVICES
from cardai.records.selfplay import parse_pool

DECIDED = ("game", "data", "out", "variant", "start_from", "minutes", "seed", "device", "devices", "threads")
"""The fields of a training config that `iterate` sets itself; `training` may hold all others."""

_MOMENTS = {"greedy": "before_draw", "sampled": "drawn", "peeking": "drawn"}


@dataclass(frozen=True)
class IterateConfig:
    """The config of a run of generations: self-play, training and benchmark.

    Fields of `training` that are not given get the defaults of a training run, except `checkpoint_minutes`, which is 1,
    and `moment`, which depends on `kind`. Raises CardaiError if a value is impossible, or if two fields contradict each
    other.
    """

    called: ClassVar[str] = "iterate config"

    game: str = setting("The game that the models are trained for.")
    out: str = setting("The run's folder.", is_run=False)
    variant: str | None = setting("The game variant to play; if not given, the game's first variant.", default=None)
    seats: int | None = setting(
        "The number of seats; if not given, the game's usual number.", span=(1, 62), default=None
    )
    kind: str = setting(
        "How an agent uses a model: greedy, sampled or peeking. If training sets no moment, it is before_draw for "
        "greedy and drawn for the others.",
        choices=tuple(_MOMENTS),
        default="greedy",
    )
    worlds: int = setting("The number of worlds that a sampled agent evaluates.", span=(1, 10**6), default=100)
    pool: tuple[str, ...] = setting(
        "The agents that play besides models, as SPEC@WEIGHT. If not given: random, and the game's own players and"
        " heuristics, randomised if they can be.",
        default=(),
    )
    champion_share: float = setting(
        "The share of seats that the champion plays; until a model is champion, the newest model plays them.",
        span=(0, 1),
        default=0.5,
    )
    earlier_share: float = setting(
        "The share of seats that the other models of the window play together.", span=(0, 1), default=0.2
    )
    epsilon: float = setting(
        "The probability that a model that explores makes a random move.", span=(0, 1), default=0.1
    )
    exploring: float = setting("The share of the models' seats in which they explore.", span=(0, 1), default=0.4)
    games: int = setting("The number of games in a generation.", span=(1, 10**9), default=10_000)
    window: int = setting(
        "The number of generations whose games a network is trained on, the newest included; models of these "
        "generations play.",
        span=(1, 10**6),
        default=4,
    )
    warm_start: bool = setting(
        "Start with the weights of the model that plays most, instead of random weights.", default=False
    )
    training: Mapping[str, Any] = setting(
        "How a network is trained: fields of a training run.",
        inside=TrainConfig,
        without=DECIDED,
        default_factory=dict,
    )
    reference: str | None = setting(
        "The agent that every model is measured against, which is also the first champion; if not given, the agent"
        " that scores best in the first games.",
        default=None,
    )
    benchmark_games: int = setting(
        "The number of games after which the benchmark first compares the candidate with the champion.",
        span=(1, 10**9),
        default=2000,
    )
    most_benchmark_games: int = setting(
        "The number of games after which the benchmark ends; an undecided candidate is not promoted.",
        span=(1, 10**9),
        default=16_000,
    )
    benchmark_epsilon: float = setting(
        "The probability that either model makes a random move in the benchmark. A game without chance needs some,"
        " or all games are the same.",
        span=(0, 1),
        default=0.0,
    )
    generations: int = setting(
        "Stop after this number of generations; 0 sets no limit.", span=(0, 10**6), is_run=False, default=10
    )
    minutes: float = setting(
        "Stop this call after this many minutes; 0 sets no limit. The same command continues the run.",
        span=(0, 10**7),
        is_run=False,
        default=0.0,
    )
    seed: int = setting("Decides everything that is drawn at random.", span=(0, 2**63 - 1), default=0)
    device: str = setting(
        "Where networks are trained and evaluated: auto, cpu or gpu.", choices=DEVICES, is_run=False, default="auto"
    )
    devices: int | str = setting(
        "How many devices of this machine share each batch of training; auto measures, and takes one unless all of "
        "them are faster.",
        is_run=False,
        default=1,
    )
    threads: int | None = setting(
        "The number of threads; if not given, one per processor.", span=(1, 1024), is_run=False, default=None
    )

    def __post_init__(self) -> None:
        settings.check(self)
        object.__setattr__(self, "devices", number_of_devices(self.devices))
        for name in DECIDED:
            if name in self.training:
                raise CardaiError(f"training must not have {name}: iterate sets it itself")
        given = {"moment": _MOMENTS[self.kind], "checkpoint_minutes": 1.0, **self.training}
        try:
            config = settings.made(TrainConfig, {"game": self.game, "data": ["games"], "out": "training", **given})
        except CardaiError as error:
            raise CardaiError(f"training: {error}") from None
        values = settings.as_plain(config)
        object.__setattr__(self, "training", {name: values[name] for name in values if name not in DECIDED})
        self._refuse_contradictions()

    def _refuse_contradictions(self) -> None:
        parse_pool(self.pool)
        if self.champion_share + self.earlier_share > 1:
            shares = f"champion_share {self.champion_share:g} and earlier_share {self.earlier_share:g}"
            raise CardaiError(f"{shares} are together more than 1")
        if not (self.generations or self.minutes):
            raise CardaiError("generations and minutes are both 0, so the run would never end; give one of them")
        if self.most_benchmark_games < self.benchmark_games:
            raise CardaiError(
                f"most_benchmark_games {self.most_benchmark_games} is less than benchmark_games {self.benchmark_games}"
            )
        if self.training["epochs"] == 0 and not self.training["steps"]:
            raise CardaiError(
                "training: epochs and steps are both 0; give one, so that results do not depend on the clock"
            )
        if "?" in self.out:
            raise CardaiError(
                f"out {self.out!r} contains a ?, which begins the options in an agent's spec; choose another folder"
            )
