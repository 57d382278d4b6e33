"""Literature (Fish) for four or six in two teams: asking for cards, and claiming half-suits. Rules: RULES.md.

A move has the fields `kind`, `what`, `step` and `names`: an ask (0, card, 1 | 3 | 5, 0), a claim (1, half-suit, 0,
names), no claim (2, 0, 0, 0), or the turn given to a teammate (3, 0, 2 | 4, 0). Seats are counted to the left.
"""

from cardai.game import Agents, Game, Learning, Payoff, PerspectiveEncoder, Phase, Rules, Table, Text

from .deck import CARDS, HALVES, SIX
from .encode import (
    article_layout,
    card_chances,
    chances_layout,
    encode_article,
    encode_chances,
    encode_facts,
    facts_layout,
)
from .outcomes import MEASURES, OUTCOMES, REWARDS
from .players import PLAYERS, share
from .rules import ASK, CLAIM, GIVE, MOST_ASKS, MOVE, NO_CLAIM, STATE, act, deal, legal, score, settle
from .suites import SUITES
from .text import TERMS, cards_alike, ending, holdings, led_to, picks, show, spell, zones
from .worlds import resample

ACTIONS = {(ASK, card, step, 0): 3 * card + step // 2 for card in range(CARDS) for step in (1, 3, 5)}
ACTIONS |= {
    (CLAIM, half, 0, names): 3 * CARDS + (half << SIX) + names for half in range(HALVES) for names in range(1 << SIX)
}
ACTIONS |= {(NO_CLAIM, 0, 0, 0): 656, (GIVE, 0, 2, 0): 657, (GIVE, 0, 4, 0): 658}

GAME = Game(
    name="literature",
    title="Literature",
    version=1,
    seats=range(4, 7, 2),
    default_seats=4,
    teams=2,
    state=STATE,
    move=MOVE,
    max_moves=(HALVES << SIX) + 1,  # 3.3: the claims of a seat without cards, and no claim
    max_plies=1500,  # 4.3: 201 asks with six windows each, or 400 asks
    variants={
        "article": {"any_seat": 1, "proof": 1, "wrong": 0, "limit": 201},
        "table": {"any_seat": 0, "proof": 0, "wrong": 0, "limit": MOST_ASKS},
        "strict": {"any_seat": 0, "proof": 0, "wrong": 1, "limit": MOST_ASKS},
    },
    choices={"limit": range(1, MOST_ASKS + 1)},
    score_sum=lambda seats: seats / 2,  # 4.2
    seats_alike=False,  # 3.5: seats claim in the order of their numbers
    cards_alike=cards_alike,
    payoff=Payoff(unit="the chance to win"),
    rules=Rules(deal, legal, act, settle, score, resample=resample),
    text=Text(spell=spell, show=show, ending=ending, terms=TERMS, led_to=led_to),
    table=Table(zones=zones, picks=picks, holdings=holdings, chances=card_chances),
    learning=Learning(
        encoders={
            "facts": PerspectiveEncoder(facts_layout, encode_facts),
            "chances": PerspectiveEncoder(chances_layout, encode_chances),
            "article": PerspectiveEncoder(article_layout, encode_article),
        },
        phases={"questions asked, halved": Phase("questions asked, halved", (10, 25))},
        outcomes=OUTCOMES,
        measures=MEASURES,
        tally=("half_suits",),
        rewards=REWARDS,
        actions=ACTIONS,
    ),
    agents=Agents(
        players=PLAYERS,
        heuristics={"share": share},
        playouts="plausible",
        opponents=("keeper", "policy:best?greedy"),
        suites=SUITES,
    ),
)
