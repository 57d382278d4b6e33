"""How games a second and the use of the processors grow with the number of threads: the thesis' Figure 3.

Each repeat measures every number of threads once, so that other load on the machine affects all of them alike.

Source: Vahteristo 2023, section 2.1 and Figure 3: 40 processes on 40 processors.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

from cardai.experiments.machinery.findings import Claim, Finding, Findings, over_seeds
from cardai.experiments.machinery.lab import Lab
from cardai.measure.speed import SelfPlay, timed
from cardai.playing.agents.spec import agent
from cardai.playing.machine import default_threads
from cardai.registry import load

GAME = "moska"
AGENTS = {"random": 1.0, "bot3": 0.5, "greedy:best": 0.04}
"""{spec of the agent in all seats: its number of games as a share of those of random play}; networks take longer."""


@dataclass(frozen=True)
class Scale:
    """`games`: games of random play in one measurement. `repeats`: measurements of each agent and number of threads.

    `most`: the largest number of threads; 0 means one for each processor.
    """

    games: int
    repeats: int
    most: int = 0


SCALES = {"smoke": Scale(200, 2, 2), "small": Scale(60_000, 7)}


def run(lab: Lab) -> Findings:
    rows = [row for spec in AGENTS for row in _rows(lab, spec)]
    return Findings(rows)


def thread_counts(most: int) -> list[int]:
    """The powers of two up to `most`, and `most` itself, sorted."""
    return sorted({*(2**power for power in range(most.bit_length()) if 2**power <= most), most})


def _rows(lab: Lab, spec: str) -> list[Finding]:
    key = f"{spec.replace(':', '-')}"
    measured = lab.piece(key, lambda: _measured(lab, spec), repeats=False)
    rows = []
    for threads, figures in measured.items():
        name = f"{threads} thread{'s' if threads != '1' else ''}"
        speed_up = [speed / single for speed, single in zip(figures["speeds"], measured["1"]["speeds"], strict=True)]
        claim = None
        if threads != "1" and threads == list(measured)[-1]:
            claim = Claim(1.0, better="higher", words="scales well", is_direction=True)
        for column, values, places in (
            ("games/s", figures["speeds"], 0),
            ("speed-up", speed_up, 2),
            ("use of the processors, %", figures["used"], 0),
        ):
            figure = over_seeds(values, "measurements")
            rows.append(
                Finding(f"Moska, 4 x {spec}", name, column, figure, claim if column == "speed-up" else None, key,
                    places=places)
            )  # fmt: skip
    return rows


def _measured(lab: Lab, spec: str) -> dict[str, Any]:
    """{threads: {"speeds": games/s, "used": use of these threads' processors in percent}}, a value for each repeat."""
    game, size = load(GAME), lab.size
    alone, games = SelfPlay(game, agent(game, spec), game.default_seats), max(int(size.games * AGENTS[spec]), 8)
    counts = thread_counts(size.most or default_threads())
    measured: dict[str, Any] = {str(threads): {"speeds": [], "used": []} for threads in counts}
    alone.play(8, None, seed=1)  # compiled before the clock starts
    for repeat in range(size.repeats):
        for threads in counts:
            work = partial(alone.play, games, threads, seed=repeat)
            run = timed(lambda work=work: int(work().finished.sum()))
            measured[str(threads)]["speeds"].append(run.per_second)
            measured[str(threads)]["used"].append(100 * run.processor_seconds / run.seconds / threads)
        lab.tell(repeat + 1, size.repeats, f"4 x {spec}")
    return measured
