"""The page of literature."""

from typing import Any

from experiments.literature import ASKS, DECIDED, MEANT, RELEASED, UNTRAINED
from experiments.machinery.charts import chart
from experiments.machinery.words import Result, rows_by_place, verdict_words, worded

NOTES = (
    "Two seats of a team play alike. Each deal is played twice, with either team on either side; the games of a deal"
    " are one cluster. A tie is four half-suits each, or a game that was cut after 201 questions.",
    "In brackets: the article's figures, from 1500 games. Its untrained network asks anything that may be answered with"
    " yes; the player `plausible`, which does so too, stands in for it. The trained networks choose among such"
    " questions.",
    "As meant: a network that learns from the result of the game and, with a fifth of the weight, from the answer. As"
    " released: from the answer only, which is all that the article's program could learn from.",
    "Asked back: the seat that gave a card has the turn next and asks for it first. At once: a team claims between"
    " getting the turn by an opponent's failure and its first question. Both teams are counted. The article does not"
    " define the two.",
    "keeper plays against two of `logic`, all others against two of `plausible`.",
)


def answers(result: Result) -> list[str]:
    """The answer in one line, then what else the tables show."""
    rows = rows_by_place(result)
    column = "against untrained"
    meant, released = (rows[DECIDED, name, column] for name in (MEANT, RELEASED))
    logic, keeper = rows[DECIDED, "logic", column], rows[DECIDED, "keeper", "against logic"]
    return [
        f"Of the games that are not tied the trained network wins {worded(meant['figure'], 1, ' %')}; the article says"
        f" 70.5 %: {verdict_words(meant)}.",
        f"Learning from answers alone, as the released program does, it wins {worded(released['figure'], 1, ' %')}.",
        f"A player that computes exact chances wins {worded(logic['figure'], 1, ' %')} without learning, and one that"
        f" also claims late wins {worded(keeper['figure'], 1, ' %')} against it.",
        f"Two untrained teams ask {worded(rows[ASKS, UNTRAINED, column]['figure'], 1)} questions a game; the article"
        " says 77.8.",
    ]


def draw(result: Result) -> dict[str, Any]:
    """The share of the decided games that each team wins."""
    figure, (axes,) = chart(height=3.0)
    rows = [row for row in result["rows"] if row["table"] == DECIDED]
    places = range(len(rows))
    axes.barh(places, [row["figure"]["point"] for row in rows])
    axes.set_yticks(places, [f"{row['name']} {row['column']}" for row in rows])
    axes.axvline(50, color="black", linewidth=0.8)
    axes.set_xlabel("games won of those not tied, %")
    return {"teams": figure}
