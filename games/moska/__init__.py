"""Moska, the Finnish relative of Durak, for two to eight. Rules: RULES.md in this folder.

This is the game of a thesis (Vahteristo 2023), whose method cardai generalises to other card games.
"""

from cardai.game import Agents, Game, Learning, Payoff, PerspectiveEncoder, Phase, Row, Rules, Suite, Table, Text

from .encode import (
    afterstate_layout,
    bitmap_layout,
    by_suit,
    encode_afterstate,
    encode_bitmap,
    encode_relative,
    encode_tactical,
    relative_layout,
    tactical_layout,
)  # fmt: skip
from .moves import is_legal, legal
from .players import PLAYERS, hand_value
from .rules import (
    BOUT_DECK,
    DECK_NOW,
    MOVE,
    STATE,
    act,
    blank,
    deal,
    decided,
    is_all_known,
    resample,
    score,
    settle,
    simplify,
)
from .text import TERMS, ending, led_to, parse, show, spell, zones


def _claims(*losses: float) -> dict[str, float]:
    """Losses in percent from one benchmark of the thesis' Table 1, by agent."""
    agents: tuple[str, ...] = ("random", "bot3", "peeking:nn2", "sampled:nn2", "sampled:nn1")
    return dict(zip(agents, losses, strict=True))


THESIS = Suite(
    about="one agent against three others, the loser is the last player still in",
    measure="loss",
    rows={
        "B1": Row(("bot3",) * 3, _claims(90.75, 25.15, 13.65, 14.25, 23.8), "three Bot3"),
        "B2": Row(("peeking:nn1",) * 3, _claims(90.2, 27.55, 15.35, 18.45, 26.3), "three NN1-MIF"),
        "B3": Row(
            ("bot3", "peeking:nn1", "peeking:hand_value"),
            _claims(87.7, 24.75, 12.65, 15.65, 21.15),
            "Bot3, NN1-MIF and the thesis' HeuristicEvaluator",
        ),
        "B4": Row(("random",) * 3, _claims(24.95, 0.4, 0.0, 0.05, 0.25), "three random players"),
    },
    agents=("random", "bot3", "greedy:best"),
    games=200,
    variant="thesis",
    source="thesis, Table 1",
    claim_games=2000,
)

SEARCH = Suite(
    about="one agent against three that play by plan or by network; agents that search say what that costs",
    measure="loss",
    rows={
        "B1": Row(("bot3",) * 3, about="three Bot3"),
        "N1": Row(("greedy:best",) * 3, about="three times the network that learned from outcomes"),
    },
    agents=(
        "bot3",
        "greedy:best",
        "greedy:expert",
        "greedy:student",
        "ahead:best?halving",
        "ahead:expert?halving",
        "ahead:expert?halving&others=bot3",
        "ahead:student_small?worlds=32&turns=1",
    ),
    games=4000,
    variant="thesis",
)

GAME = Game(
    name="moska",
    title="Moska",
    version=1,
    seats=range(2, 9),
    default_seats=4,
    state=STATE,
    move=MOVE,
    max_moves=1000,
    max_plies=5000,
    variants={
        "thesis": {"self_attack": DECK_NOW, "attacker_ready": 1, "swap_two": 1},
        "appendix": {"self_attack": BOUT_DECK, "attacker_ready": 0, "swap_two": 1},
        "polled": {"self_attack": DECK_NOW, "attacker_ready": 1, "swap_two": 1, "poll": 1},
    },
    choices={"swap_two": range(2)},
    score_sum=lambda seats: seats - 1.0,
    references={"complexity": dict(zip(range(2, 9), (81.3, 65.2, 59.2, 52.3, 52.0, 42.9, 45.2), strict=True))},
    payoff=Payoff(unit="the chance not to lose"),
    rules=Rules(
        deal,
        legal,
        act,
        settle,
        score,
        is_legal=is_legal,
        resample=resample,
        blank=blank,
        is_open=is_all_known,
        simplify=simplify,
        decided=decided,
    ),
    text=Text(spell=spell, parse=parse, show=show, ending=ending, terms=TERMS, led_to=led_to),
    table=Table(zones=zones),
    learning=Learning(
        encoders={
            "bitmap": PerspectiveEncoder(bitmap_layout, encode_bitmap, by_suit),
            "afterstate": PerspectiveEncoder(afterstate_layout, encode_afterstate, by_suit),
            "relative": PerspectiveEncoder(relative_layout, encode_relative),
            "tactical": PerspectiveEncoder(tactical_layout, encode_tactical),
        },
        phases={"deck": Phase("deck", (0, 20)), "players left": Phase("playing")},
    ),
    agents=Agents(
        players=PLAYERS,
        heuristics={"hand_value": hand_value},
        suites={"thesis": THESIS, "search": SEARCH},
        playouts="bot3",
        opponents=(
            "ahead:student_small?worlds=14&turns=1&decay=0.7&halving&moves=8",
            "ahead:student_small?worlds=128&turns=1&halving",
            "ahead:student_small?worlds=32&turns=1",
            "ahead:student_small?worlds=8&turns=1",
            "ahead:student_small?worlds=16",
            "ahead:best?worlds=16&others=bot3",
            "endgame:greedy:student",
            "greedy:student",
            "greedy:student_small",
            "greedy:expert",
            "greedy:best",
            "rollout:128",
            "ahead:hand_value?worlds=16&others=bot3",
            "endgame:bot3",
        ),
    ),
)
