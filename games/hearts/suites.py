"""The benchmarks of Hearts: one agent against three of the same kind.

The paper's agents won against three players by Monte Carlo tree search (MCTS), 1000 games a row. How strong these were
is not known, so its figures stand beside two stand-ins: `rollout:100?by=random`, which plays worlds on at random, and
`pimc`, which is stronger. Its percentages sum to 100 over the seats, so they are shares of the win.
"""

from cardai.game import Row, Suite

AGENTS = ("random", "duck", "careful", "greedy:danger", "pimc", "greedy:best?any_variant")
MCTS, PIMC = ("rollout:100?by=random",) * 3, ("pimc",) * 3


def of_paper(variant, about, figures):
    """A suite of the paper. `figures`: what its agent achieved against MCTS, in words."""
    return Suite(
        about=f"one agent against three stand-ins for the paper's MCTS, {about}",
        measure="share",
        rows={
            "mcts": Row(MCTS, about=f"three that play worlds on at random; the paper's agent won {figures}"),
            "pimc": Row(PIMC, about="three that play worlds on by duck"),
        },
        agents=AGENTS,
        variant=variant,
        source="Demirdöver, Baykal, Alpaslan 2022",
    )


def of_players(variant, about, games):
    """A suite of one agent against three of our players."""
    return Suite(
        about=f"one agent against three of our players, {about}",
        measure="score",
        rows={
            "duck": Row(("duck",) * 3, about="three who duck"),
            "careful": Row(("careful",) * 3, about="three who weigh what a card will cost"),
            "pimc": Row(PIMC, about="three that play worlds on by duck"),
        },
        agents=AGENTS,
        variant=variant,
        games=games,
    )


SUITES = {
    "paper_plain": of_paper(
        "paper_plain", "without passing and moons", "26.6 % (24.0 to 29.4) with 6.32 points a round (table 3, row 1)"
    ),
    "paper_pass": of_paper(
        "paper_pass",
        "without moons",
        "26.3 % (23.7 to 29.1), fine-tuned 30.3 % (27.5 to 33.2) (table 3, rows 2, 3)",
    ),
    "paper": of_paper("paper", "all rules", "32.0 % (29.2 to 35.0) with 6.27 points a round (table 4, row 2)"),
    "standard": of_players("standard", "one round", 2000),
    "match": of_players("match", "games to 100 points", 400),
}
