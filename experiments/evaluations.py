"""Every player's evaluation over one game of Moska, each from its own information: the thesis' Figure 6.

One Bot3 sits among three networks, as a human did there. The same judge looks at more such games, to say what its
evaluations are worth: how often the seat that it thinks worst of is the one that loses.

Source: Vahteristo 2023, section 3.3 and Figure 6.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cardai.agents.spec import agent
from cardai.data.record import RecordedGame
from cardai.measure.analysis import Analysis, analyse
from cardai.registry import load
from cardai.stats.deals import deal_seeds, rotations
from cardai.stats.interval import proportion
from cardai.stats.jsonable import plain
from cardai.table.many import play
from experiments.machinery.findings import Finding, Findings, Measurement, of_estimate
from experiments.machinery.lab import Lab

LINEUP = ("bot3", "greedy:best", "greedy:best", "greedy:best")
JUDGE = "greedy:best"
SEED = 20261122
QUARTERS = {"a quarter of the moves": 0.25, "half": 0.5, "three quarters": 0.75, "all but the last": 1.0}
TOP = 5
WORST = "The seat thought worst of lost, %"


@dataclass(frozen=True)
class Scale:
    """`games`: that are judged; the first one is drawn."""

    games: int


SCALES = {"smoke": Scale(8), "small": Scale(400), "full": Scale(10_000)}


def run(lab: Lab) -> Findings:
    """Play, judge and count."""
    found = lab.piece("games", lambda: _judged(lab))
    rows = [
        Finding(WORST, "games judged by best", words, told, piece="games", seed=SEED)
        for words, told in ((words, Measurement(**one)) for words, one in found["worst"].items())
    ]
    game = found["drawn"]
    table = "One game: the moves at which evaluations changed most"
    for i, one in enumerate(game["swings"][:TOP], 1):
        name = f"({i}) move {one['ply']}, {game['names'][one['seat']]} (p{one['seat']}): {one['move']}"
        for column, value in (("before", one["before"]), ("after", one["after"]), ("own choice", one["choice"])):
            rows.append(
                Finding(table, name, column, Measurement(value, n=1), piece="games", seed=game["seed"], places=3)
            )
    return Findings(rows, {"game": game})


def _judged(lab: Lab) -> dict[str, Any]:
    """Play so many games and have them judged; the first one in full."""
    moska = load("moska")
    players = [agent(moska, spec) for spec in dict.fromkeys(LINEUP)]
    turns = rotations(len(LINEUP))
    deals = -(-(lab.games or lab.size.games) // len(turns))
    who = np.array([list(dict.fromkeys(LINEUP)).index(spec) for spec in LINEUP])
    lineups = who[np.tile(np.argsort(turns, axis=1), (deals, 1))]
    seeds = np.repeat(deal_seeds(SEED, deals), len(turns))
    results = play(moska, players, lineups, seeds, record=True)
    if results.interrupted:
        raise KeyboardInterrupt
    judge, right, first = agent(moska, JUDGE), np.full((len(seeds), len(QUARTERS)), np.nan), None
    for number, (lineup, moves) in enumerate(zip(lineups, results.moves, strict=True)):
        lab.tell(number, len(seeds), "games judged")
        if moves is None:
            continue
        played = RecordedGame(
            number=number,
            variant=moska.default_variant,
            seed=int(seeds[number]),
            lineup=tuple(int(one) for one in lineup),
            moves=moves,
            scores=tuple(float(one) for one in results.scores[number]),
        )
        found = analyse(moska, played, judge, names=[players[one].spec for one in lineup], top=TOP)
        right[number] = _worst_lost(found)
        first = found if first is None else first
    assert first is not None
    by_deal = right.reshape(deals, len(turns), len(QUARTERS))
    return {"worst": {words: _share(by_deal[:, :, i]) for i, words in enumerate(QUARTERS)}, "drawn": _told(first)}


def _worst_lost(found: Analysis) -> list[float]:
    """Whether the seat thought worst of at each of `QUARTERS` lost; NaN while a seat has not moved yet."""
    values, loser = found.values(), int(np.argmin(found.scores))
    told = []
    for share in QUARTERS.values():
        now = values[max(round(share * len(values)) - 2, 0)]
        told.append(np.nan if np.isnan(now).any() else float(np.argmin(now) == loser))
    return told


def _share(right: np.ndarray) -> dict[str, Any]:
    estimate = proportion(right).scaled(100)
    told = of_estimate(plain({name: getattr(estimate, name) for name in ("point", "low", "high", "n", "deals")}))
    return {"point": told.point, "low": told.low, "high": told.high, "n": told.n}


def _told(found: Analysis) -> dict[str, Any]:
    """What is kept of the game that is drawn."""
    swings = [
        {
            "ply": one.ply, "seat": one.seat, "before": one.before, "after": one.after, "choice": one.choice,
            "move": found.turns[one.ply].move,
        }
        for one in found.marked()
    ]  # fmt: skip
    judged = [[turn.ply, turn.seat, turn.value] for turn in found.turns if turn.value is not None]
    return plain(
        {"names": found.names, "seed": found.seed, "scores": found.scores, "values": judged, "swings": swings,
         "plies": len(found.turns), "numbers": found.scale.name, "source": found.scale.source}
    )  # fmt: skip
