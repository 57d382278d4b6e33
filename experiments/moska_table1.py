"""Table 1 of the thesis, with the models that come with cardai and two simple players against four sets of opponents.

All agents play the same deals. Each figure of the thesis comes from 2000 games.

Source: Vahteristo 2023, section 3.1, Table 1.
"""

import re
from dataclasses import dataclass
from shlex import quote

from cardai.experiments.machinery.findings import Claim, Finding, Findings, of_estimate
from cardai.experiments.machinery.lab import Lab
from cardai.registry import load

SEED = 20261122

AGENTS = {
    "NN2-MIF": "peeking:nn2",
    "NN2-HIF": "sampled:nn2",
    "NN1-HIF": "sampled:nn1",
    "Bot3": "bot3",
    "Random": "random",
    "NN2-HIF, suits renamed": "sampled:nn2?renamings=8",
    "best, before draw": "greedy:best",
}
"""{the thesis' name of an agent: our spec}. The last two are not in the thesis. They are compared with its NN2-HIF and
with its best agent, NN2-MIF.
"""
COMPARED = {"NN2-HIF, suits renamed": "sampled:nn2", "best, before draw": "peeking:nn2"}
"""{an agent that is not in the thesis: whose claims it is compared with}"""
LOST = "Games lost, %"
FACTS = {"Bot3", "Random"}
"""Agents that should play just as the thesis' agents do: neither side of a claim is better, and any clear
difference is a miss.
"""


@dataclass(frozen=True)
class Scale:
    """`benchmark`: the number of games behind each figure."""

    benchmark: int


SCALES = {"smoke": Scale(8), "small": Scale(8000)}


def run(lab: Lab) -> Findings:
    rows = [row for name, spec in AGENTS.items() for row in _rows(lab, name, spec)]
    return Findings(rows)


def _rows(lab: Lab, name: str, spec: str) -> list[Finding]:
    moska = load("moska")
    key = re.sub(r"[:?=]", "-", spec)
    report = lab.bench(key, moska, "thesis", spec, seed=SEED)
    suite = moska.agents.suites["thesis"]
    command = f"cardai bench moska --suite thesis --agent {quote(spec)} --games {lab.benchmark} --seed {SEED}"
    rows = []
    for row in report["rows"]:
        value = suite.rows[row["row"]].claims[COMPARED.get(name, spec)]
        claim = Claim(value, suite.claim_games, "neither" if name in FACTS else "lower")
        line = f"{name} (peeks)" if name.endswith("MIF") else name
        places = 2 if row["row"] == "B4" and name != "Random" else 1
        rows.append(Finding(LOST, line, row["row"], of_estimate(row["figure"]), claim, key, SEED, command, places))
    return rows
