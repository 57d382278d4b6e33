"""What hidden information costs at Moska: a network that peeks at its draws, and the same one sampling them.

All sit down against three Bot3 on the same deals: the network with its own coming draws before it (MIF), the network in
the mean over 1 to 100 sampled worlds (HIF), the network judging after-states, which it was not made for, and a network
that was made for them and needs no draw at all.

MIF is no fully informed player: it sees the cards it is about to draw or turn, and no card of anybody's hand.

Source: Vahteristo 2023, section 2.1.2 (what the two see) and section 3.2.1, Table 1, benchmark 1.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cardai.agents.spec import agent
from cardai.registry import load
from cardai.stats import interval
from cardai.stats.deals import deal_seeds
from cardai.stats.jsonable import plain
from cardai.table.many import play
from experiments.machinery.duplicate import counted, scores_of
from experiments.machinery.findings import (
    Claim,
    Finding,
    Findings,
    Measurement,
    difference,
    direction,
    of_estimate,
    over_seeds,
)
from experiments.machinery.lab import Lab

SEATS, SEED, VARIANT = 4, 20261123, "thesis"
OPPONENT = "bot3"

WORLDS = (1, 3, 10, 30, 100)
PEEKING, AFTER, BEST = "MIF (peeks)", "before draw", "best, before draw"
SAMPLING = {worlds: f"HIF, {worlds} world{'s' if worlds > 1 else ''}" for worlds in WORLDS}
HIDDEN = SAMPLING[WORLDS[-1]]
AGENTS = {
    PEEKING: "peeking:nn2",
    **{name: f"sampled:nn2?worlds={worlds}" for worlds, name in SAMPLING.items()},
    AFTER: "greedy:nn2",
    BEST: "greedy:best",
}
"""NN2 by how it is asked, and `best`, another network."""

CLAIMS = {PEEKING: 13.65, HIDDEN: 14.25}
CLAIMED_GAMES = 2000
"""Table 1, games lost in percent against three Bot3."""

DIFFERENCES = (
    (HIDDEN, PEEKING),
    *((name, HIDDEN) for name in SAMPLING.values() if name != HIDDEN),
    (AFTER, PEEKING),
    (AFTER, HIDDEN),
    (BEST, PEEKING),
    (BEST, HIDDEN),
)
"""Who is compared with whom."""


@dataclass(frozen=True)
class Scale:
    """`games`: of each agent against three Bot3. `timed`: games of four of a kind, `repeats` times by the clock."""

    games: int
    timed: int
    repeats: int


SCALES = {"smoke": Scale(48, 4, 2), "small": Scale(20_000, 100, 5), "full": Scale(200_000, 400, 9)}

LOST = "Games lost against three Bot3, %"
LESS = "Difference on the same deals, percentage points"
COST = "Cost of a decision, four of a kind at the table"
POSITIONS, MILLISECONDS = "positions judged", "ms"


def run(lab: Lab) -> Findings:
    """Measure every agent, what it costs, and the differences."""
    games = lab.games or lab.size.games
    lost = {name: _lost(lab, name, games) for name in AGENTS}
    rows = [_loss(name, lost[name]) for name in AGENTS]
    rows += [_difference(one, other, lost) for one, other in DIFFERENCES]
    rows += [row for name in AGENTS for row in _costs(lab, name)]
    return Findings(rows)


def key_of(name: str) -> str:
    """An agent's name as a file name."""
    return AGENTS[name].replace(":", "-").replace("?worlds=", "-")


def _lost(lab: Lab, name: str, games: int) -> np.ndarray:
    def measure() -> dict[str, str]:
        lab.tell(0, games, name)
        found = losses(AGENTS[name], games, lambda done, total: lab.tell(done, total, name))
        return {"lost": written(found)}

    return read(lab.piece(f"lost-{key_of(name)}", measure)["lost"])


def losses(spec: str, games: int, progress: Any = None) -> np.ndarray:
    """1 for a game lost, 0 for one not lost, NaN for an endless one: f8[deals, SEATS].

    The agent sits in seat r in column r. Deals and luck are those of a suite's row of so many games with this seed.
    """
    moska = load("moska")
    opponents = (OPPONENT,) * (SEATS - 1)
    scores = scores_of(moska, agent(moska, spec), opponents, games, SEED, VARIANT, progress)
    return counted(scores, "lost")


def written(lost: np.ndarray) -> str:
    """Losses as text, a sign a game: 1, 0, or - for an endless one."""
    return "".join("-" if math.isnan(one) else str(int(one)) for one in lost.ravel().tolist())


def read(text: str) -> np.ndarray:
    """What was `written`, f8[deals, SEATS]."""
    return np.array([{"-": math.nan, "0": 0.0, "1": 1.0}[sign] for sign in text]).reshape(-1, SEATS)


def _figure(estimate: interval.Estimate) -> Measurement:
    return of_estimate(plain(asdict(estimate.scaled(100))))


def _loss(name: str, lost: np.ndarray) -> Finding:
    claim = Claim(CLAIMS[name], games=CLAIMED_GAMES) if name in CLAIMS else None
    column = "B1"
    return Finding(
        LOST, name, column, _figure(interval.proportion(lost)), claim, f"lost-{key_of(name)}", SEED, places=2
    )


def _difference(one: str, other: str, lost: Mapping[str, np.ndarray]) -> Finding:
    found = interval.compare(lost[one], lost[other], lower_is_better=True)
    claim = None
    if (one, other) == (HIDDEN, PEEKING):
        claim = direction("higher", "above 0")
    pieces = f"lost-{key_of(one)} lost-{key_of(other)}"
    return Finding(LESS, one, f"less {other}", _figure(found.difference), claim, pieces, SEED, places=2)


def claimed_price() -> Measurement:
    """HIF less MIF in the thesis' Table 1, in percentage points, with the interval that its games allow."""
    claims = (Claim(CLAIMS[name], games=CLAIMED_GAMES) for name in (HIDDEN, PEEKING))
    hidden, peeking = (Measurement(claim.value, *claim.bounds(), CLAIMED_GAMES) for claim in claims)
    return difference(hidden, peeking)


def _costs(lab: Lab, name: str) -> list[Finding]:
    """Positions a decision, which are the same on any machine, and milliseconds, which are not."""
    key = f"cost-{key_of(name)}"
    told = lab.piece(key, lambda: _cost(lab, name))
    positions = over_seeds([part["rows"] / part["decisions"] for part in told], "repeats")
    time = over_seeds([1000 * part["seconds"] / part["decisions"] for part in told], "repeats")
    return [
        Finding(COST, name, POSITIONS, positions, piece=key, seed=SEED, places=2),
        Finding(COST, name, MILLISECONDS, time, piece=key, seed=SEED, places=3),
    ]


def _cost(lab: Lab, name: str) -> list[dict[str, float]]:
    """Games of four of a kind: decisions, positions judged and seconds of each repeat."""
    game, size, found = load("moska"), lab.size, []
    one, lineups = agent(game, AGENTS[name]), np.zeros((size.timed, SEATS), np.int64)
    for repeat in range(-1, size.repeats):  # the first one compiles, and is forgotten
        results = play(game, [one], lineups, deal_seeds(SEED + max(repeat, 0), size.timed), variant=VARIANT)
        if results.interrupted:
            raise KeyboardInterrupt
        lab.tell(repeat + 1, size.repeats, f"cost of {name}")
        found.append({"decisions": results.decisions, "rows": results.rows, "seconds": results.seconds})
    return found[1:]
