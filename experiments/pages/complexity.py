"""The page of complexity."""

from typing import Any

from cardai.experiments.complexity import AGENTS, COLUMNS, DURAK, PLAYERS
from cardai.experiments.machinery.charts import chart, key, lines
from cardai.experiments.machinery.words import Result, interval_of, rows_by_place, rows_where, size_of, worded

NOTES = (
    "We count the decisions of all players with more than one legal move. The thesis counted the decisions of one"
    " evaluating player, which it does not name, in 500 games for each number of players, and multiplied them by the"
    " number of players. Its figures are compared with `greedy:hand_value`, the simplest player here that judges all"
    " its moves. Bot3 and random play are shown beside it.",
    "b: mean number of legal moves in a decision. d: mean number of decisions in a game. b^d: size of the game tree.",
    "Intervals are bootstrapped over games. The thesis gives no error; it is taken to be what ours would be in 500"
    " games. Six of its seven figures are read off its Figure 1.",
    "Evenly random play gives a lower bound for the whole tree. The mean over games of the product of the numbers"
    " of moves is the number of its leaves (Knuth 1975). The mean of their logarithms is less than the logarithm of"
    " that mean.",
)

LABELS = {
    f"{max(players)} less {min(players)}": f"{max(players)} players minus {min(players)}"
    for players in PLAYERS.values()
}


def answers(result: Result) -> list[str]:
    rows, power = rows_by_place(result), COLUMNS["power"]
    two, four, eight, by_chance, durak = (
        rows[f"{game.capitalize()}, all seats {AGENTS[game][agent]}", f"{players} players", power]
        for game, agent, players in (
            ("moska", 0, 2), ("moska", 0, 4), ("moska", 0, 8), ("moska", -1, 4), ("durak", 0, 2)
        )
    )  # fmt: skip
    ours, theirs = (
        [f"10^{row[part][value]:.0f}" for row in (two, four, eight)]
        for part, value in (("figure", "point"), ("claim", "value"))
    )
    fall = rows_where(result, name="8 less 2")[0]["figure"]
    point, low, high = (f"10^{end:.1f}" for end in interval_of(four))
    return [
        f"It depends on who plays. Moska for four has 10^{four['figure']['point']:.0f} if all judge their moves, and"
        f" 10^{by_chance['figure']['point']:.0f} at random. The thesis says {theirs[1]}.",
        "A size is the mean number of moves to choose from, to the power of the mean number of decisions in a game.",
        f"With `{AGENTS['moska'][0]}` in all seats Moska has {ours[0]} for two players, {point} ({low} to {high}) for"
        f" four and {ours[2]} for eight. The thesis, with a player of its own, has {theirs[0]}, {theirs[1]} and"
        f" {theirs[2]}.",
        f"Durak for two has 10^{durak['figure']['point']:.1f} with two hand-written players (`{AGENTS['durak'][0]}`)."
        f" The thesis cites 10^{durak['claim']['value']:g}.",
        f"From two players to eight the exponent {'falls' if fall['point'] < 0 else 'grows'} by"
        f" {worded(size_of(fall))}. The thesis' exponent falls, too.",
    ]


def draw(result: Result) -> dict[str, Any]:
    figure, panels = chart(len(PLAYERS), height=2.9)
    for axes, game in zip(panels, PLAYERS, strict=True):
        drawn = {agent: result["drawn"]["rows"][f"{game}-{agent}"] for agent in AGENTS[game]}
        series: dict[str, Any] = {
            agent: [(row["players"], *interval_of({"figure": row["power"]})) for row in rows]
            for agent, rows in drawn.items()
        }
        published = {row["players"]: row["reference"] for row in drawn[AGENTS[game][0]]} if game == "moska" else DURAK
        series["published"] = [(players, size, None, None) for players, size in published.items() if size is not None]
        lines(axes, series)
        axes.set(
            title=f"{game.capitalize()}: {', '.join(AGENTS[game])} in all seats", xlabel="players",
            xticks=list(PLAYERS[game]), ylabel="log10 of the tree's size", ylim=(0, None),
        )  # fmt: skip
    key(figure)
    return {"players": figure}
