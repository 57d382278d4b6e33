"""How the evaluations of all four seats change during one game of Moska: the thesis' Figure 6.

One Bot3 plays against three networks; in the thesis a human had Bot3's seat. One network evaluates every seat from
that seat's own view. To test these evaluations, the same network also evaluates more such games, and the experiment
counts how often the seat with the lowest evaluation loses.

Source: Vahteristo 2023, section 3.3 and Figure 6.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cardai.experiments.machinery.findings import Finding, Findings, Measurement, of_estimate
from cardai.experiments.machinery.lab import Lab
from cardai.measure.analysis import Analysis, analyse
from cardai.playing.agents.spec import agent
from cardai.playing.stats.deals import deal_seeds, rotations
from cardai.playing.stats.interval import proportion
from cardai.playing.stats.jsonable import plain
from cardai.playing.table.many import play
from cardai.records.record import RecordedGame
from cardai.registry import load

LINEUP = ("bot3", "greedy:best", "greedy:best", "greedy:best")
JUDGE = "greedy:best"
SEED = 20261122
QUARTERS = {"a quarter of the moves": 0.25, "half": 0.5, "three quarters": 0.75, "all but the last": 1.0}
TOP = 5
WORST = "The seat thought worst of lost, %"


@dataclass(frozen=True)
class Scale:
    """`games`: the number of games that are evaluated. The first finished one is drawn."""

    games: int


SCALES = {"smoke": Scale(8), "small": Scale(400)}


def run(lab: Lab) -> Findings:
    evaluated = lab.piece("games", lambda: _evaluated_games(lab))
    rows = [
        Finding(WORST, "games judged by best", words, Measurement(**share), piece="games", seed=SEED)
        for words, share in evaluated["worst"].items()
    ]
    game = evaluated["drawn"]
    table = "One game: the moves at which evaluations changed most"
    for i, swing in enumerate(game["swings"][:TOP], 1):
        name = f"({i}) move {swing['ply']}, {game['names'][swing['seat']]} (p{swing['seat']}): {swing['move']}"
        for column, value in (("before", swing["before"]), ("after", swing["after"]), ("own choice", swing["choice"])):
            rows.append(
                Finding(table, name, column, Measurement(value, n=1), piece="games", seed=game["seed"], places=3)
            )
    return Findings(rows, {"game": game})


def _evaluated_games(lab: Lab) -> dict[str, Any]:
    """Play the scale's number of games and evaluate each seat on each of its own turns.

    Returns {"worst": how often the seat with the lowest evaluation lost, at each of `QUARTERS`, in percent;
    "drawn": the evaluations of the first finished game}.
    """
    moska = load("moska")
    players = [agent(moska, spec) for spec in dict.fromkeys(LINEUP)]
    turns = rotations(len(LINEUP))
    deals = -(-(lab.games or lab.size.games) // len(turns))
    agent_of_place = np.array([list(dict.fromkeys(LINEUP)).index(spec) for spec in LINEUP])
    lineups = agent_of_place[np.tile(np.argsort(turns, axis=1), (deals, 1))]
    seeds = np.repeat(deal_seeds(SEED, deals), len(turns))
    results = play(moska, players, lineups, seeds, record=True).complete()
    judge, right, first = agent(moska, JUDGE), np.full((len(seeds), len(QUARTERS)), np.nan), None
    for number, (lineup, moves) in enumerate(zip(lineups, results.moves, strict=True)):
        lab.tell(number, len(seeds), "games judged")
        if moves is None:
            continue
        played = RecordedGame(
            number=number,
            variant=moska.default_variant,
            seed=int(seeds[number]),
            lineup=tuple(int(agent_number) for agent_number in lineup),
            moves=moves,
            scores=tuple(float(score) for score in results.scores[number]),
        )
        names = [players[agent_number].spec for agent_number in lineup]
        analysis = analyse(moska, played, judge, names=names, top=TOP)
        right[number] = _worst_lost(analysis)
        first = analysis if first is None else first
    assert first is not None
    by_deal = right.reshape(deals, len(turns), len(QUARTERS))
    worst = {words: asdict(of_estimate(proportion(by_deal[:, :, i]), 100)) for i, words in enumerate(QUARTERS)}
    return {"worst": worst, "drawn": _drawn_game(first)}


def _worst_lost(analysis: Analysis) -> list[float]:
    """For each of `QUARTERS`: 1.0 if the seat with the lowest evaluation at that point lost the game, else 0.0.

    NaN where some seat has not moved yet and so has no evaluation.
    """
    values, loser = analysis.values(), int(np.argmin(analysis.scores))
    is_right = []
    for share in QUARTERS.values():
        now = values[max(round(share * len(values)) - 2, 0)]
        is_right.append(np.nan if np.isnan(now).any() else float(np.argmin(now) == loser))
    return is_right


def _drawn_game(analysis: Analysis) -> dict[str, Any]:
    """The parts of an analysis that the chart and the table of the drawn game need, as plain JSON types."""
    swings = [
        {
            "ply": swing.ply, "seat": swing.seat, "before": swing.before, "after": swing.after, "choice": swing.choice,
            "move": analysis.turns[swing.ply].move,
        }
        for swing in analysis.marked()
    ]  # fmt: skip
    values = [[turn.ply, turn.seat, turn.value] for turn in analysis.turns if turn.value is not None]
    return plain(
        {"names": analysis.names, "seed": analysis.seed, "scores": analysis.scores, "values": values, "swings": swings,
         "plies": len(analysis.turns), "numbers": analysis.scale.name, "source": analysis.scale.source}
    )  # fmt: skip
