"""What hidden information costs at Moska: a network that peeks at its draws, and the same one sampling them.

All sit down against three Bot3 on the same deals: the network with its own coming draws before it (MIF), the network in
the mean over 1 to 100 sampled worlds (HIF), the network judging after-states, which it was not made for, and a network
that was made for them and needs no draw at all.

MIF is no fully informed player: it sees the cards it is about to draw or turn, and no card of anybody's hand.

Source: Vahteristo 2023, section 2.1.2 (what the two see) and section 3.2.1, Table 1, benchmark 1.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cardai.agents.spec import agent
from cardai.registry import load
from cardai.stats import interval
from cardai.stats.deals import deal_seeds, rotations
from cardai.stats.jsonable import plain
from cardai.table.many import play
from experiments.machinery.charts import chart, lines
from experiments.machinery.findings import (
    Claim,
    Finding,
    Findings,
    Measurement,
    difference,
    direction,
    of_estimate,
    over_seeds,
    shown,
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

NOTES = (
    "games lost: the same deals for all, seats rotated, Wilson with the deal as cluster; differences deal by deal",
    "MIF sees the cards it is about to draw or turn and nobody's hand: what it spares is the price of hidden draws, not"
    " of all that is hidden",
    "HIF: the mean over so many sampled worlds, for moves that reveal a card; before draw: the after-state is judged,"
    " for which NN2 was not made and best was; best is also another network, that learned longer",
    "cost: per decision, those without a choice among them; positions: different ones sent to the network; ms: as many"
    " games at once as are played, Student's interval over repeats",
)


def run(lab: Lab) -> Findings:
    """Measure every agent, what it costs, and the differences."""
    games = lab.games or lab.size.games
    lost = {name: _lost(lab, name, games) for name in AGENTS}
    rows = [_loss(name, lost[name]) for name in AGENTS]
    rows += [_difference(one, other, lost) for one, other in DIFFERENCES]
    rows += [row for name in AGENTS for row in _costs(lab, name)]
    return Findings(rows, _answer(rows), NOTES)


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
    game, deals, turns = load("moska"), -(-games // SEATS), rotations(SEATS)
    lineups = np.tile((turns > 0).astype(np.int64), (deals, 1))
    seeds = np.repeat(deal_seeds(SEED, deals), SEATS)
    agents = [agent(game, spec), agent(game, OPPONENT)]
    results = play(game, agents, lineups, seeds, variant=VARIANT, progress=progress)
    if results.interrupted:
        raise KeyboardInterrupt
    own = results.scores[lineups == 0]
    return np.where(results.finished, own == 0.0, np.nan).reshape(deals, SEATS)


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
        claim = direction("higher", f"above 0; {shown(claimed_price(), 2)} there")
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


def _answer(rows: Sequence[Finding]) -> list[str]:
    found = {(row.table, row.name, row.column): row for row in rows}

    def lost(name: str) -> str:
        return shown(found[LOST, name, "B1"].figure)

    def cost(name: str) -> str:
        return shown(Measurement(found[COST, name, POSITIONS].figure.point))

    def less(one: str, other: str) -> Finding:
        return found[LESS, one, f"less {other}"]

    price, single, free = less(HIDDEN, PEEKING), less(SAMPLING[1], HIDDEN), less(BEST, PEEKING)
    decided = [worlds for worlds in WORLDS[:-1] if not _is_open(less(SAMPLING[worlds], HIDDEN).figure)]
    few = f"; with more worlds than {max(decided)} no difference is decided" if decided else ""
    return [
        f"Not seeing its coming draws costs NN2 {shown(price.figure, 2)} percentage points against three Bot3: it loses"
        f" {lost(HIDDEN)} % when it samples them in {WORLDS[-1]} worlds and {lost(PEEKING)} % when it peeks"
        f" ({_told(price.figure)}). The thesis' figures differ by {shown(claimed_price(), 2)}, undecided on"
        f" {CLAIMED_GAMES:,} games each.",
        f"One world instead of {WORLDS[-1]} costs {shown(single.figure, 2)} points ({_told(single.figure)}) and judges"
        f" {cost(SAMPLING[1])} positions a decision instead of {cost(HIDDEN)}{few}.",
        f"A network made for after-states needs no draw: it loses {lost(BEST)} %, which less MIF's share is"
        f" {shown(free.figure, 2)} points ({_told(free.figure)}), and judges {cost(BEST)} positions a decision.",
    ]


def _is_open(figure: Measurement) -> bool:
    """Whether a difference is not told from 0."""
    return figure.low is None or figure.high is None or figure.low <= 0 <= figure.high


def _told(figure: Measurement) -> str:
    return "undecided" if _is_open(figure) else "decided"


def draw(result: Mapping[str, Any]) -> dict[str, Any]:
    """Games lost, and positions judged a decision, over worlds; those who need no worlds as lines across."""
    figures = {(row["table"], row["name"], row["column"]): row["figure"] for row in result["rows"]}
    figure, panels = chart(2)
    shares = ((LOST, "B1", "games lost against three Bot3, %"), (COST, POSITIONS, "positions judged a decision"))
    for axes, (table, column, words) in zip(panels, shares, strict=True):
        told = {name: figures[table, name, column] for name in AGENTS}
        points = {name: (one["point"], one["low"], one["high"]) for name, one in told.items()}
        series = {"HIF: samples its draws": [(worlds, *points[name]) for worlds, name in SAMPLING.items()]}
        for name, label in ((PEEKING, "MIF: sees its draws"), (BEST, "best: judges before the draw")):
            series[label] = [(worlds, *points[name]) for worlds in (WORLDS[0], WORLDS[-1])]
        lines(axes, series)
        axes.set_xscale("log")
        axes.set_xticks(WORLDS, [str(one) for one in WORLDS])
        axes.minorticks_off()
        axes.set_xlabel("worlds sampled for a move that reveals a card")
        axes.set_ylabel(words)
    panels[1].set_ylim(bottom=0)
    panels[1].legend()
    return {"worlds": figure}
