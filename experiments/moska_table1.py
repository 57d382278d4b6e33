"""Table 1 of the thesis, with the models that come with cardai and two simple players against four sets of opponents.

All play the same deals; the thesis had 2000 games a figure.

Source: Vahteristo 2023, section 3.1, Table 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cardai.registry import load
from experiments.machinery.charts import bars, chart
from experiments.machinery.findings import Claim, Finding, Findings, of_estimate, shown
from experiments.machinery.lab import Lab

SEED = 20261122

AGENTS = {
    "NN2-MIF": "peeking:nn2",
    "NN2-HIF": "sampled:nn2",
    "NN1-HIF": "sampled:nn1",
    "Bot3": "bot3",
    "Random": "random",
    "best, before draw": "greedy:best",
}
"""The thesis' names and our specs; the last one is ours alone, beside the claims of the thesis' best, NN2-MIF."""
FACTS = {"Bot3", "Random"}
"""Players that are the same as the thesis': no figure of theirs is better than another."""


@dataclass(frozen=True)
class Scale:
    """`benchmark`: games a figure."""

    benchmark: int


SCALES = {"smoke": Scale(8), "small": Scale(8000), "full": Scale(100_000)}

NOTES = (
    "games lost: the same deals for all, seats rotated, Wilson with the deal as cluster; the thesis: 2,000 games each",
    "B1: three Bot3; B2: three NN1-MIF; B3: Bot3, NN1-MIF and a heuristic that peeks; B4: three random players",
    "MIF (peeks): sees the cards it is about to draw; HIF: the mean over 100 worlds; before draw: needs neither",
    "Bot3 and Random: missed is different from the thesis' figure, in either direction; NN1 in B2 and B3 is ours",
)


def run(lab: Lab) -> Findings:
    """Measure everybody in every row."""
    rows = [row for name, spec in AGENTS.items() for row in _rows(lab, name, spec)]
    return Findings(rows, _answer(rows), NOTES)


def _rows(lab: Lab, name: str, spec: str) -> list[Finding]:
    games = lab.games or lab.size.benchmark
    moska = load("moska")
    key = spec.replace(":", "-")
    report = lab.bench(key, moska, "thesis", spec, games, SEED)
    suite = moska.suites["thesis"]
    command = f"cardai bench moska --suite thesis --agent {spec} --games {games} --seed {SEED}"
    found = []
    for row in report["rows"]:
        claims = suite.rows[row["row"]].claims
        value = claims.get(spec, claims["peeking:nn2"])
        claim = Claim(value, suite.claim_games, "neither" if name in FACTS else "lower")
        line = f"{name} (peeks)" if name.endswith("MIF") else name
        places = 2 if row["row"] == "B4" and name != "Random" else 1
        found.append(
            Finding("Games lost, %", line, row["row"], of_estimate(row["figure"]), claim, key, SEED, command, places)
        )
    return found


def _answer(rows: list[Finding]) -> list[str]:
    networks = [row for row in rows if row.name.partition(" ")[0] not in FACTS and not row.name.startswith("best")]
    counts = ", ".join(
        f"{sum(row.verdict == verdict for row in networks)} {verdict}"
        for verdict in dict.fromkeys(row.verdict for row in networks)
    )
    first = {row.name: row for row in rows if row.column == "B1"}
    return [
        f"Of the thesis' {len(networks)} figures of networks: {counts}. Against three Bot3, NN2-HIF loses"
        f" {shown(first['NN2-HIF'].figure)} % [{first['NN2-HIF'].claim}], Bot3 itself {shown(first['Bot3'].figure)} %"
        f" [{first['Bot3'].claim}], the network that judges before the draw"
        f" {shown(first['best, before draw'].figure)} %.",
    ]


def draw(result: Mapping[str, Any]) -> dict[str, Any]:
    """Each agent in each row, without those who move at random."""
    figure, (axes,) = chart()
    series: dict[str, list[tuple[str, Any, Any, Any]]] = {}
    claims: dict[str, list[tuple[str, Any, Any, Any]]] = {"thesis": []}
    for row in result["rows"]:
        if row["name"] != "Random" and row["column"] != "B4":
            told = row["figure"]
            group = row["name"].removesuffix(" (peeks)").removesuffix(", before draw")
            series.setdefault(row["column"], []).append((group, told["point"], told["low"], told["high"]))
            if row["column"] == "B1" and group != "best":
                claims["thesis"].append((group, row["claim"]["value"], None, None))
    bars(axes, {**series, "thesis, B1": claims["thesis"]})
    axes.set_ylabel("games lost, %")
    axes.legend()
    return {"losses": figure}
