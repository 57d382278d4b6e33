"""The networks of the paper on Hearts, stage by stage, and the stand-ins for its opponents.

Each stage has a folder and resumes. The order is the paper's: a network that plays for few points; one that passes,
from games that the first one finishes; both again, from games that they play together (fine-tuning); the same for
shooting the moon, with a decider before and after there is a network that passes for it; last a network that breaks
moons, and its decider. The networks that pass and play are evaluators: `sampled:` and `greedy:` play by them.

What the paper leaves open, and what we chose:

| open | ours |
|---|---|
| layers | one hidden layer of rectified units, a logistic output |
| rates, steps, loss | AdamW on cross-entropy; a quarter of the rate in fine-tuning |
| exploration | some moves at random or by softmax; opponents are hand-written players too |
| immediate rewards | none: every state gets the terminal reward, as the paper's states do too |
| moons are rare | no game is left out, but one seat of four tries one in each game |
| thresholds of deciders | the best of a few in games against `careful`, on deals of their own |
| the decider for breaking moons | predicts the breaker's reward; its threshold is a share of hands |
| the DQN agent | NFSP with anticipation 1, which is Q-learning; it plays by the average of its best responses |

Source: Demirdover, Baykal and Alpaslan 2022, section 4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from cardai.evaluators.policies import nfsp
from cardai.evaluators.training.run_folder import REPORT
from cardai.experiments.machinery.lab import Lab
from cardai.experiments.machinery.networks import NetworkStore
from cardai.files.reading import read_json
from cardai.files.writing import write_text
from cardai.game import Game
from cardai.playing.agents.evaluator import find_evaluator
from cardai.playing.stats.deals import deal_seeds
from cardai.registry import load

SEATS = 4
BEGINNERS = {"duck": 2.0, "careful": 2.0, "random": 1.0}
"""{spec: weight} of the players whose games the first network learns from."""
BESIDE = {"careful": 0.5, "duck": 0.5}
"""{spec: weight} of hand-written players beside a network that learns from its own games."""
PASSERS = ("random", "duck", "careful")
"""Who passes in the games from which the first pass networks learn."""
WAYS = ((1.0, "", ""), (1.0, "&epsilon=0.1", ""), (1.0, "", "&epsilon=0.05"), (1.0, "&temperature=0.02", ""))
"""(weight, how it passes, how it plays): the ways of networks in games from which they learn together."""
SHOTS = {"": 2.0, "&epsilon=0.03": 2.0, "&temperature=0.01": 1.0}
"""{how it plays: weight} of a network that learns to shoot the moon, which one wrong card ruins."""

PLAY: Mapping[str, Any] = {"encoder": "paper_play", "moment": "before_draw"}
PASS: Mapping[str, Any] = {"encoder": "paper_pass", "moment": "drawn", "per_game": 8}
DEALT: Mapping[str, Any] = {"encoder": "paper_dealt", "moment": "before_draw", "per_game": 4}
Line = tuple[str, str, float] | tuple[str]
"""A line of a styles file: (agent, gate, above) or (agent,)."""


@dataclass(frozen=True)
class SubAgents:
    """The trained networks, as paths of their files, and the specs of agents that are made of them.

    The fields `play`, `passing`: before fine-tuning; `tuned_play`, `tuned_passing`: after it. `moon_*`: the last
    versions, `early_*` those before there was a network that passes to shoot the moon. `breaker*`: against moons.
    """

    play: str
    passing: str
    tuned_play: str
    tuned_passing: str
    early_moon: str
    early_decider: str
    moon_play: str
    moon_passing: str
    moon_decider: str


def plays(model: str, how: str = "") -> str:
    """The spec of the agent that plays by a play network in any variant. `how`: further options, "&epsilon=0.1"."""
    return f"greedy:{model}?any_variant{how}"


def passes(model: str, how: str = "") -> str:
    """The spec of the agent that passes by a pass network in any variant."""
    return f"sampled:{model}?worlds=1&any_variant{how}"


class Stages:
    """The stages of one lab. Each method trains its networks, or finds them finished. `seed`: added to all seeds."""

    def __init__(self, lab: Lab, seed: int = 0) -> None:
        self.lab, self.size, self.game, self.seed = lab, lab.size, load("hearts"), seed

    def styles(self, name: str, passing: Sequence[Line], playing: Sequence[Line]) -> str:
        """Write a styles file; its spec."""
        lists = [_list("passing", passing), _list("playing", playing)]
        place = self.lab.folder / "styles" / f"{name}.toml"
        place.parent.mkdir(exist_ok=True)
        write_text(place, "\n".join(lists))
        return f"styles:{place}"

    def plain(self) -> tuple[str, str]:
        """The play and the pass network before fine-tuning."""
        store, size = self._store("play", "paper_plain"), self.size
        first = store.games("games", BEGINNERS, size.games, seed=1)
        play = store.generations(
            (first,), games=[size.games] * size.generations, opponents=BESIDE, seed=10, label="normal", **PLAY
        )
        pool = {self.styles(f"pass-{name}", [(name,)], [(plays(play),)]): 1.0 for name in PASSERS}
        store = self._store("pass", "paper_pass")
        games = store.games("games", pool, size.games, seed=20)
        return play, store.network("first", (games,), seed=20, label="normal", **PASS)

    def tuned(self, name: str, variant: str, label: str, play: str, passing: str, others: Mapping[str, float],
              share: float = 1.0, seed: int = 0) -> tuple[str, str]:  # fmt: skip
        """Both networks again, from all games so far that they play together; the play and the pass network.

        `others`: {spec: weight} of the agents beside them, whose weights sum to that of the networks' `share`.
        """
        store, size, data = self._store(name, variant), self.size, ()
        own = f"styles:{self.lab.folder / 'styles' / name}-"
        fields: Any = {"label": label, "agents": (own,), "seed": seed, "learning_rate": self._slow}
        for number in range(size.tunings):
            pool = {
                self.styles(f"{name}-{number}-{i}", [(passes(passing, first),)], [(plays(play, second),)]): share
                * weight
                for i, (weight, first, second) in enumerate(WAYS)
            }
            data = (*data, store.games(f"games{number}", {**pool, **others}, size.games, seed + 2 * number))
            play = store.network(f"play{number}", data, start_from=play, **fields, **PLAY)
            passing = store.network(f"pass{number}", data, start_from=passing, **fields, **PASS)
        return play, passing

    def shooter(self, normal: str) -> str:
        """The network that plays to shoot the moon without passing, against three of the network `normal`."""
        store, size = self._store("moon", "paper_hold"), self.size
        others = {plays(normal): 3.0}
        pool = {"greedy:moon_hope": 0.5, "greedy:moon_hope?epsilon=0.05": 0.5, **others}
        games = store.games("games0", pool, size.games, seed=40)
        newest = store.network("play0", (games,), seed=40, label="moon", agents=("greedy:moon_hope",), **PLAY)
        for number in range(1, 1 + size.generations):
            pool = {plays(newest, how): weight / 5 for how, weight in SHOTS.items()}
            games = store.games(f"games{number}", {**pool, **others}, size.games, seed=40 + number)
            own = (f"greedy:{store.folder}",)
            newest = store.network(
                f"play{number}", (games,), seed=40, label="moon", start_from=newest, agents=own, **PLAY
            )
        return newest

    def decider(self, name: str, variant: str, label: str, spec: str, others: Mapping[str, float], seed: int) -> str:
        """A network that predicts from the dealt hand how an agent will succeed by a label."""
        store = self._store(name, variant)
        games = store.games("games", {spec: 1.0, **others}, self.size.decided, seed)
        return store.network("decider", (games,), seed=seed, label=label, agents=(spec,), **DEALT)

    @cached_property
    def sub_agents(self) -> SubAgents:
        """All networks but those that break moons."""
        play, passing = self.plain()
        tuned_play, tuned_passing = self.tuned("tuned", "paper_pass", "normal", play, passing, BESIDE, seed=30)
        early = self.shooter(tuned_play)
        early_decider = self.decider("early", "paper_hold", "moon", plays(early), {plays(tuned_play): 3.0}, seed=50)
        others = {self.styles("normal", [(passes(tuned_passing),)], [(plays(tuned_play),)]): 3.0}
        pool = {self.styles("shots-random", [("random",)], [(plays(early),)]): 1.0, **others}
        store = self._store("moon-pass", "paper")
        games = store.games("games", pool, self.size.games, seed=60)
        own = (f"styles:{self.lab.folder / 'styles' / 'shots'}-",)
        moon_passing = store.network("first", (games,), seed=60, label="moon", agents=own, **PASS)
        moon_play, moon_passing = self.tuned("moons", "paper", "moon", early, moon_passing, others, 0.25, seed=70)
        spec = self.styles("shooter", [(passes(moon_passing),)], [(plays(moon_play),)])
        decider = self.decider("late", "paper", "moon", spec, others, seed=80)
        return SubAgents(
            play, passing, tuned_play, tuned_passing, early, early_decider, moon_play, moon_passing, decider
        )

    def normal(self, tuned: bool = True) -> str:
        """The agent that passes and plays for few points."""
        own = self.sub_agents
        play, passing = (own.tuned_play, own.tuned_passing) if tuned else (own.play, own.passing)
        return self.styles("normal" if tuned else "untuned", [(passes(passing),)], [(plays(play),)])

    def early_composed(self, above: float) -> str:
        """The agent that tries a moon if the first decider gives it more than `above`; no network passes."""
        own = self.sub_agents
        lines: list[Line] = [(plays(own.early_moon), own.early_decider, above), (plays(own.tuned_play),)]
        return self.styles(f"early-{above:g}", [("careful",)], lines)

    def composed(self, above: float, breaker: tuple[str, str, float] | None = None) -> str:
        """The agent that passes and plays to shoot the moon, or for few points; with `breaker` also against moons.

        `breaker`: the network that plays against moons, its decider and its threshold.
        """
        own = self.sub_agents
        passing: list[Line] = [(passes(own.moon_passing), own.moon_decider, above), (passes(own.tuned_passing),)]
        lines: list[Line] = [(plays(own.moon_play), own.moon_decider, above), (plays(own.tuned_play),)]
        if breaker is None:
            return self.styles(f"composed-{above:g}", passing, lines)
        lines[1:1] = [(plays(breaker[0]), breaker[1], breaker[2])]
        return self.styles(f"breaking-{above:g}-{breaker[2]:.3f}", passing, lines)

    def breaker(self, above: float) -> tuple[str, str]:
        """The network that plays so that nobody shoots the moon, against three that try, and its decider."""
        own, newest, size = self.sub_agents, self.sub_agents.tuned_play, self.size
        store, others = self._store("breaker", "paper"), {self.composed(above): 3.0}
        passing: list[Line] = [(passes(own.tuned_passing),)]
        for number in range(size.tunings):
            pool = {
                self.styles(f"breaker-{number}-{i}", passing, [(plays(newest, how),)]): weight / 5
                for i, (how, weight) in enumerate(SHOTS.items())
            }
            games = store.games(f"games{number}", {**pool, **others}, size.games, seed=90 + number)
            chosen = (f"styles:{self.lab.folder / 'styles' / 'breaker'}-",)
            newest = store.network(
                f"play{number}",
                (games,),
                seed=90,
                label="breaker",
                start_from=newest,
                agents=chosen,
                learning_rate=self._slow,
                **PLAY,
            )
        spec = self.styles("against-moons", passing, [(plays(newest),)])
        return newest, self.decider("breaker-decider", "paper", "breaker", spec, others, seed=100)

    def dqn(self, variant: str) -> str:
        """The stand-in for the paper's DQN agents, trained in this variant; its spec."""
        place = self.lab.folder / f"dqn-{variant}.safetensors"
        if not place.exists():
            policy = nfsp.train(
                self.game, self.size.dqn, seed=self.seed + 7, variant=variant, encoder="paper_play",
                progress=self.lab.telling(f"DQN learns {variant}"),
            )  # fmt: skip
            if policy.metadata.metrics["games"] < self.size.dqn.epochs * self.size.dqn.epoch_games:
                raise KeyboardInterrupt
            policy.save(place)
        return f"policy:{place}"

    @property
    def _slow(self) -> float:
        """The learning rate of networks that have learned before: at the full one they forget what they knew."""
        return self.size.learning["learning_rate"] / 4

    def _store(self, name: str, variant: str) -> NetworkStore:
        return self.lab.store(self.game, name, variant, SEATS, self.seed)


def _list(phase: str, lines: Sequence[Line]) -> str:
    texts = []
    for line in lines:
        texts.append(f'[[{phase}]]\nagent = "{line[0]}"\n')
        if len(line) == 3:
            texts.append(f'gate = "{line[1]}?any_variant"\nabove = {line[2]!r}\n')
    return "".join(texts)


def judged(game: Game, model: str, variant: str, seeds: np.ndarray) -> np.ndarray:
    """What a decider says of each hand of these deals: f8[deals, SEATS]."""
    decider = find_evaluator(game, model)
    assert decider is not None
    rows = [
        game.encode(game.new(SEATS, int(seed), variant), seat, "paper_dealt") for seed in seeds for seat in range(SEATS)
    ]
    return np.asarray(decider.score(np.array(rows)), np.float64).reshape(len(seeds), SEATS)


def quantile(game: Game, model: str, variant: str, share: float, deals: int, seed: int) -> float:
    """The value that a decider exceeds on this share of hands."""
    return float(np.quantile(judged(game, model, variant, deal_seeds(seed, deals)), 1.0 - share))


def seconds_of(folder: Path) -> dict[str, float]:
    """{network: the seconds of its training}, for all in a folder."""
    reports = sorted(folder.glob(f"*/*/{REPORT}"))
    return {str(place.parent.relative_to(folder)): read_json(place)["seconds"] for place in reports}
