"""Hearts for four: passing, thirteen tricks, and points that nobody wants. Rules: RULES.md.

A move is one card, 0 to 51, passed or played.
"""

from cardai.game import Agents, Game, Learning, Payoff, PerspectiveEncoder, Phase, Rules, Table, Text

from .encode import (
    encode_dealt,
    encode_pass,
    encode_play,
    encode_relative,
    pass_layout,
    play_layout,
    relative_layout,
)
from .heuristics import danger, moon_hope, points_so_far
from .outcomes import MEASURES, OUTCOMES, REWARDS
from .players import PLAYERS, pimc
from .rules import AIM_ROUND, HAND, MOVE, SEATS, STATE, act, deal, decided, legal, score, settle
from .styles import styles
from .suites import SUITES
from .text import TERMS, ending, led_to, parse, rounds, series, show, spell, tell, whole, zones
from .worlds import blank, resample

MOST_POINTS = 1000  # of a match: after 40 rounds a seat has 1040 at most (5.1)
STANDARD = {
    "passing": 2,
    "moon": 1,
    "jack": 0,
    "no_trick_bonus": 0,
    "must_break": 1,
    "queen_breaks": 1,
    "no_points_first": 1,
    "lead_for_queen": 0,
    "any_club": 0,
    "limit": 0,
    "aim": 0,
}
PAPER = STANDARD | {"queen_breaks": 0}

GAME = Game(
    name="hearts",
    title="Hearts",
    version=1,
    seats=range(SEATS, SEATS + 1),
    default_seats=SEATS,
    state=STATE,
    move=MOVE,
    max_moves=HAND,
    max_plies=2560,  # 5.1: forty rounds of 12 cards passed and 52 played
    variants={
        "standard": STANDARD,
        "match": STANDARD | {"limit": 100, "passing": 1},
        "match_round": STANDARD | {"limit": 100, "passing": 1, "aim": 4},
        "jack": STANDARD | {"jack": 1},
        "paper": PAPER,
        "paper_pass": PAPER | {"moon": 0},
        "paper_hold": PAPER | {"passing": 0},
        "paper_plain": PAPER | {"moon": 0, "passing": 0},
    },
    choices={
        **dict.fromkeys(STANDARD, range(2)),
        "passing": range(3),
        "moon": range(3),
        "limit": range(MOST_POINTS + 1),
        "aim": (0, AIM_ROUND),
    },
    payoff=Payoff(whole=whole),
    rules=Rules(deal, legal, act, settle, score, resample=resample, blank=blank, decided=decided),
    text=Text(
        spell=spell,
        parse=parse,
        show=show,
        tell=tell,
        ending=ending,
        terms=TERMS,
        led_to=led_to,
        rounds=rounds,
        series=series,
    ),
    table=Table(zones=zones),
    learning=Learning(
        encoders={
            "relative": PerspectiveEncoder(relative_layout, encode_relative),
            "paper_play": PerspectiveEncoder(play_layout, encode_play),
            "paper_pass": PerspectiveEncoder(pass_layout, encode_pass),
            "paper_dealt": PerspectiveEncoder(play_layout, encode_dealt),
        },
        outcomes=OUTCOMES,
        rewards=REWARDS,
        measures=MEASURES,
        tally=("total",),
        phases={
            "passing": Phase("passing"),
            "tricks taken": Phase("tricks taken", (2, 5, 8)),
            "seats with points": Phase("has points"),
        },
    ),
    agents=Agents(
        players=PLAYERS,
        heuristics={"points": points_so_far, "danger": danger, "moon_hope": moon_hope},
        playouts="duck",
        opponents=(
            "ahead:winner?worlds=32&turns=1",
            "ahead:winner?worlds=16",
            "ahead:best?worlds=32&turns=1",
            "ahead:best?worlds=16&others=careful",
            "greedy:best",
            "greedy:winner",
            "pimc?worlds=1000",
            "pimc",
        ),
        kinds={"pimc": pimc, "styles": styles},
        suites=SUITES,
    ),
)
