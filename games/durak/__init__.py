"""Durak for two to six: the throw-in game (podkidnoy) with its house rules, and that of a student report. See RULES.md.

A move is one card or none. The field `card` of a move is the card, 0 to 35, or 36 for no card (pass or take). With 52
cards, moves have other numbers and seats other views: `games/durak52` is the game with these rules.
"""

from cardai.game import Agents, Game, Learning, Payoff, PerspectiveEncoder, Phase, Row, Rules, Suite, Table, Text

from .encode import encode_relative, encode_report, relative_layout, report_layout
from .endgame_solver import DurakSolver
from .players import PLAYERS, hand_value
from .rules import ACTIONS, MOVE, STATE, act, deal, decided, is_open, legal, resample, score, settle, simplify
from .text import TERMS, cards_alike, ending, picks, show, spell, zones

PODKIDNOY_RULES = {"turn_up": 1, "suit_limit": 6, "add_after_take": 1}
SIMPLE = ("random", "defensive", "aggressive", "thrifty", "greedy:hand_value")
REPORT = Suite(
    about="one agent against the simple players of the report, by its rules",
    measure="loss",
    rows={
        "D1": Row(("random",) * 3, about="three random players; the report's PPO won about 99 %"),
        "D2": Row(("random",), about="one random player; the report's PPO won 83 to 92 %"),
        "D3": Row(("defensive",), about="one defensive player"),
        "D4": Row(("aggressive",), about="one aggressive player"),
    },
    agents=SIMPLE,
    variant="report",
    source="the report, PPO after 140 000 games",
)
PODKIDNOY = Suite(
    about="one agent against those who spend their cards with care, throw-in rules",
    measure="loss",
    rows={
        "P1": Row(("defensive",) * 3, about="three defensive players"),
        "P2": Row(("thrifty",) * 3, about="three thrifty players"),
        "P3": Row(("defensive",), about="one defensive player"),
        "P4": Row(("thrifty",), about="one thrifty player"),
    },
    agents=SIMPLE,
    variant="podkidnoy",
)

MODELS = ("podkidnoy2", "report2", "podkidnoy4", "report4")

GAME = Game(
    name="durak",
    title="Durak",
    version=1,
    seats=range(2, 7),
    default_seats=4,
    state=STATE,
    move=MOVE,
    max_moves=ACTIONS,
    max_plies=3000,
    variants={
        "podkidnoy": PODKIDNOY_RULES,
        "perevodnoy": PODKIDNOY_RULES | {"cards": 0, "first_five": 0, "transfer": 1},
        "report": {"turn_up": 0, "suit_limit": 4, "add_after_take": 0},
    },
    choices={
        "turn_up": range(2),
        "suit_limit": range(4, 7),  # 1.2: hands with fewer cards of each suit are too rare to be dealt by chance
        "add_after_take": range(2),
        "cards": (0, 24),  # 1.1: 0 for 36
        "first_five": range(3),
        "transfer": range(3),
    },
    score_sum=lambda seats: 1.0 if seats == 2 else None,
    cards_alike=cards_alike,
    payoff=Payoff(unit="the chance not to lose"),
    rules=Rules(
        deal, legal, act, settle, score, resample=resample, is_open=is_open, simplify=simplify, decided=decided
    ),
    text=Text(spell=spell, show=show, ending=ending, terms=TERMS),
    table=Table(zones=zones, picks=picks),
    learning=Learning(
        encoders={
            "relative": PerspectiveEncoder(relative_layout, encode_relative),
            "report": PerspectiveEncoder(report_layout, encode_report),
        },
        actions={(card,): card for card in range(ACTIONS)},
        phases={"deck": Phase("deck", (0, 9)), "players left": Phase("playing")},
    ),
    agents=Agents(
        players=PLAYERS,
        solver=DurakSolver,
        heuristics={"hand_value": hand_value},
        suites={"report": REPORT, "podkidnoy": PODKIDNOY},
        playouts="thrifty",
        opponents=(
            *(f"endgame:(ahead:{model}?worlds=16&halving&decay=0.6)" for model in MODELS),
            *(f"endgame:(ahead:{model}?worlds=32&turns=1)" for model in MODELS),
            *(f"endgame:(ahead:{model}?worlds=16&halving)" for model in MODELS),
            *(f"endgame:greedy:{model}" for model in MODELS),
            *(f"greedy:{model}" for model in MODELS),
            "endgame:ismcts:3000",
            "endgame:ismcts:300",
            "endgame:rollout:128",
            "endgame:thrifty",
        ),
    ),
)
