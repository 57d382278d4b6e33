"""The page of complexity."""

from typing import Any

from cardai.experiments.complexity import AGENTS, COLUMNS, DURAK, PLAYERS
from cardai.experiments.machinery.charts import chart, key, lines
from cardai.experiments.machinery.words import Result, rows_by_place, size_of, worded

NOTES = (
    "We count the decisions of all players with more than one legal move. The thesis counted the decisions of one"
    " evaluating player, in 500 games for each number of players, and multiplied them by the number of players. Our"
    " players are Bot3, thrifty or random. Both may cause differences; how much each one contributes was not measured.",
    "b: mean number of legal moves in a decision. d: mean number of decisions in a game. b^d: size of the game tree.",
    "Intervals are bootstrapped over games. The thesis gives no error, so its numbers are taken as exact.",
)

LABELS = {
    f"{max(players)} less {min(players)}": f"{max(players)} players minus {min(players)}"
    for players in PLAYERS.values()
}


def answers(result: Result) -> list[str]:
    """The answer in one line, then what else the tables show."""
    rows, power = rows_by_place(result), COLUMNS["power"]
    table = f"Moska, all seats {AGENTS['moska'][0]}"
    four, fall = rows[table, "4 players", power], next(row for row in result["rows"] if row["name"] == "8 less 2")
    point, low, high = (f"10^{four['figure'][part]:.1f}" for part in ("point", "low", "high"))
    by_chance = rows[f"Moska, all seats {AGENTS['moska'][1]}", "4 players", power]["figure"]["point"]
    ends = [rows[table, f"{players} players", power] for players in (min(PLAYERS["moska"]), max(PLAYERS["moska"]))]
    ours, theirs = ([row[part][field] for row in ends] for part, field in (("figure", "point"), ("claim", "value")))
    two = next(
        row for row in result["rows"] if row["table"] == f"Durak, all seats {AGENTS['durak'][0]}" and row["claim"]
    )
    durak = (
        f"For Durak with two hand-written players (`{AGENTS['durak'][0]}`):"
        f" 10^{two['figure']['point']:.1f}; the thesis cites 10^{two['claim']['value']:g}."
    )
    way = "falls" if fall["figure"]["point"] < 0 else "grows"
    return [
        "It depends on who plays. Estimated as the mean number of moves to choose from, to the power of the mean"
        f" number of decisions in a game, Moska has 10^{ours[0]:.0f} with two players, {point} ({low} to {high}) with"
        f" four and 10^{ours[1]:.0f} with eight if all are Bot3 (thesis, with a player of its own: 10^{theirs[0]:.0f},"
        f" 10^{four['claim']['value']:.0f} and 10^{theirs[1]:.0f}); with four random players"
        f" 10^{by_chance:.0f}. {durak}",
        f"From two players to eight the exponent {way} by {worded(size_of(fall['figure']))}. The thesis'"
        " exponent falls, too.",
    ]


def draw(result: Result) -> dict[str, Any]:
    """The logarithm of the tree's size over the number of players, a panel for each game."""
    figure, panels = chart(len(PLAYERS), height=2.9)
    for axes, game in zip(panels, PLAYERS, strict=True):
        series: dict[str, Any] = {}
        for name, rows in result["drawn"]["rows"].items():
            own, _, agent = name.partition("-")
            if own == game:
                powers = [(row["players"], row["power"]) for row in rows]
                series[agent] = [(players, power["point"], power["low"], power["high"]) for players, power in powers]
        published = {row["players"]: row["reference"] for row in result["drawn"]["rows"][f"{game}-{AGENTS[game][0]}"]}
        published = published if game == "moska" else DURAK
        series["published"] = [
            (players, value, None, None) for players, value in published.items() if value is not None
        ]
        lines(axes, series)
        axes.set_title(f"{game.capitalize()}: {', '.join(AGENTS[game])} in all seats")
        axes.set_xlabel("players")
        axes.set_xticks(list(PLAYERS[game]))
        axes.set_ylabel("log10 of the tree's size")
        axes.set_ylim(bottom=0)
    key(figure)
    return {"players": figure}
