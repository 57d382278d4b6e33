"""How large the game trees are, by number of players: the thesis' Figure 1, and the same for Durak.

Only decisions with more than one legal move count, those of all players. A game with d such decisions and about b legal
moves in each has a tree of about b^d positions.

Source: Vahteristo 2023, section 1.1.2 and Figure 1.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cardai.experiments.machinery.findings import Claim, Finding, Findings, difference, direction, margin, of_estimate
from cardai.experiments.machinery.lab import Lab
from cardai.measure import complexity
from cardai.registry import load

PLAYERS = {"moska": range(2, 9), "durak": range(2, 7)}
AGENTS = {"moska": ("greedy:hand_value", "bot3", "random"), "durak": ("thrifty", "random")}
"""{game: the agents that are measured, each in all seats}. The first is compared with the source: in Moska a player
that judges all its moves, since the thesis counted one. Random play is the last.
"""
CLAIMED_GAMES = {"moska": 500, "durak": 0}
"""The games behind a figure of the source, 0 if it does not say."""
DURAK = {2: 44 * math.log10(2.17)}
"""{players: log10 of b^d} that the thesis cites for Durak: b = 2.17 and d = 44 with two players."""
COLUMNS = {"decisions": "decisions a game", "branching": "moves a decision", "power": "log10 b^d"}


@dataclass(frozen=True)
class Scale:
    """`benchmark`: games for each number of players."""

    benchmark: int


SCALES = {"smoke": Scale(20), "small": Scale(10_000)}


def run(lab: Lab) -> Findings:
    rows, drawn = [], {}
    for game, agents in AGENTS.items():
        for agent in agents:
            key = f"{game}-{agent}"
            report = lab.piece(key, lambda game=game, agent=agent: _measured(lab, game, agent))
            drawn[key] = report["rows"]
            rows += [row for counts in report["rows"] for row in _rows(lab, game, agent, counts, key)]
            rows.append(_fall(game, agent, report["rows"], key))
    return Findings(rows, {"rows": drawn})


def _measured(lab: Lab, game: str, agent: str) -> dict[str, Any]:
    report = complexity.measure(load(game), list(PLAYERS[game]), lab.benchmark, agent, progress=lab.progress)
    if report.interrupted:
        raise KeyboardInterrupt
    return report.as_json()


def _rows(lab: Lab, game: str, agent: str, counts: Mapping[str, Any], key: str) -> list[Finding]:
    seats = counts["players"]
    reference = counts["reference"] if game == "moska" else DURAK.get(seats)
    command = f"cardai complexity {game} --players {seats} --games {lab.benchmark} --agent {agent}"
    rows = []
    for name, column in COLUMNS.items():
        claim = None
        if name == "power" and reference is not None and agent == AGENTS[game][0]:
            claim = Claim(
                round(reference, 1),
                CLAIMED_GAMES[game],
                better="neither",
                within=margin("size of a tree"),
                is_mean=game == "moska",
            )
        table = f"{game.capitalize()}, all seats {agent}"
        rows.append(Finding(table, f"{seats} players", column, of_estimate(counts[name]), claim, key, 0, command))
    return rows


def _fall(game: str, agent: str, rows: list[Mapping[str, Any]], key: str) -> Finding:
    """The difference in log10 of b^d between the largest and the smallest number of players."""
    figure = difference(of_estimate(rows[-1]["power"]), of_estimate(rows[0]["power"]))
    claim = direction("lower", "goes down") if (game, agent) == ("moska", AGENTS["moska"][0]) else None
    table, name = f"{game.capitalize()}, all seats {agent}", f"{rows[-1]['players']} less {rows[0]['players']}"
    return Finding(table, name, COLUMNS["power"], figure, claim, key)
