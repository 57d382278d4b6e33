"""The page of literature."""

from typing import Any

from cardai.experiments.literature import ASKS, BEST, DECIDED, LATE, MEANT, RELEASED, UNTRAINED
from cardai.experiments.machinery.charts import dotted
from cardai.experiments.machinery.words import Result, about, percent, rows_by_place, rows_where, series_of, worded

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
    "The column says whom a team plays: two of `logic`, or two of `plausible`, the untrained stand-in.",
)


def answers(result: Result) -> list[str]:
    rows, column = rows_by_place(result), "against untrained"
    meant, released, logic = (percent(rows[DECIDED, name, column]) for name in (MEANT, RELEASED, "logic"))
    keeper, late, ours = (percent(rows[DECIDED, name, "against logic"]) for name in ("keeper", LATE, BEST))
    return [
        f"It wins {about(rows[DECIDED, MEANT, column])} of decided games against untrained stand-ins. A player that"
        f" infers exactly, without learning, wins {about(rows[DECIDED, 'logic', column])}.",
        f"The network is trained as the article says. It wins {meant} of the games that are not tied. The article says"
        " 70.5 %, against its own untrained network: the opponents differ.",
        f"Trained as the article's program really is, only to predict a yes, it wins {released}.",
        f"`logic` computes exact chances, without learning, and wins {logic}. If it claims late, it wins {late} against"
        f" `logic`; `keeper`, which also weighs what else speaks for a question, wins {keeper}.",
        f"The policy that comes with cardai, which learned from keeper, wins {ours} against logic and"
        f" {percent(rows[DECIDED, BEST, column])} against the untrained stand-in.",
        f"Two untrained teams ask {worded(rows[ASKS, UNTRAINED, column]['figure'], 1)} questions a game. The article"
        " says 77.8.",
    ]


def draw(result: Result) -> dict[str, Any]:
    rows = rows_where(result, table=DECIDED)
    series = series_of(rows, lambda _: "", lambda row: f"{row['name']} {row['column']}")
    return {"teams": dotted(series, "games won of those not tied, %", 3.4, (50, "equal"), columns=0)}
