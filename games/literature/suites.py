"""The benchmarks of Literature: a team of two or three of one agent against a team of one of our players."""

from cardai.game import MEASURED, Row, Suite

AGENTS = ("plausible", "forgetful", "logic", "keeper")


def against(player, teammates=2):
    """A team of the measured agent against a team of a player, in turns around the table."""
    return (MEASURED, player) * teammates


SUITES = {
    "article": Suite(
        about="two of one agent against two of our players",
        measure="score",
        rows={
            "untrained": Row(
                against("plausible"),
                about="two that ask anything that may succeed, as the article's untrained network does; its trained one"
                " won 70.5 % (67.8 to 73.0) of the games not tied",
            ),
            "logic": Row(against("logic"), about="two that ask what is likeliest"),
            "stranger": Row(
                (MEASURED, "logic", "plausible", "logic"), about="with a partner that asks anything, against two logic"
            ),
        },
        agents=AGENTS,
        variant="article",
        source="Somani, How to train a neural net to play cards",
        games=2000,
    ),
    "six": Suite(
        about="three of one agent against three of our players",
        measure="score",
        rows={"untrained": Row(against("plausible", 3), about="three that ask anything that may succeed")},
        agents=("plausible", "forgetful", "logic"),
        variant="table",
        games=200,
    ),
}
