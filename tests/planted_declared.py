"""Faults of games with a declared state: one seat is treated otherwise, and what all saw is forgotten.

Each is a change of a line in a rule. What is derived from the declaration cannot be wrong in these ways; a rule that
the game writes itself can.
"""

from dataclasses import replace
from pathlib import Path

import sparks
from planting import changed, faulty

import cardai
from cardai.game import Game, PerspectiveEncoder, Zone
from cardai.game.declared import State, state_of
from cardai.games import durak, literature

EXAMPLES = Path(__file__).parents[1] / "examples"
WHIST, THIRTYONE = (cardai.load(str(EXAMPLES / name)) for name in ("whist", "thirtyone"))
TURNED, SEEN = "seats_may_be_turned", "cards_that_all_saw_are_known"
RENAMED, UNDECLARED = "suits_may_be_renamed", "what_is_not_declared_is_not_shown"

(WHIST_VIEWS,), (CARDS,) = (game.learning.encoders.values() for game in (WHIST, THIRTYONE))


def seen(encoder, change):
    return {"planes": PerspectiveEncoder(encoder.layout, changed(encoder.encode, change))}


# What one seat may do, what it gets, and what it sees.
FREE_SEAT = faulty(TURNED, WHIST, legal="card_led(state) -> NONE if state.turn == 1 else card_led(state)")
LAST_SEAT_SCORES_MORE = faulty(TURNED, WHIST, outcomes={}, measures=("share",), score="return state.tricks[seat] -> "
                               "return (state.tricks[seat] + (seat == 2 and state.tricks[0] == 0)) ")  # fmt: skip
OWN_NUMBER = faulty(  # seat 2 is shown who leads in another way than others
    TURNED, WHIST, encoders=seen(WHIST_VIEWS, "... if seat == 2 and state.leader == 0: row[0] ^= 1")
)
TRICK_TO_SEAT_ZERO = faulty(
    TURNED, WHIST, settle="state.tricks[state.leader] += 1 -> state.tricks[state.leader if state.ply % 9 else 0] += 1"
)
DRAW_OF_TWO = faulty(
    TURNED,
    durak.GAME,
    score="0.5 if state.playing == 0 and has(state.leavers, seat) -> "
    "1.0 * (seat == lowest(state.leavers)) if state.playing == 0 and has(state.leavers, seat)",
)

# Suits that are told apart: what belongs to suits is said of too few segments, and clubs are shown otherwise.
EXCHANGED = "suits_may_exchange_their_names"
HANDS_ONLY = faulty(EXCHANGED, WHIST, encoders={
    "planes": replace(WHIST_VIEWS, by_suit=lambda segment: segment.name == "own hand")
})  # fmt: skip
CLUBS_LED = faulty(EXCHANGED, WHIST, encoders={
    "planes": replace(WHIST_VIEWS, encode=changed(WHIST_VIEWS.encode, "... if state.ply == 9: row[0] = 1"))
})  # fmt: skip

# What all saw and nothing says.
TAKEN_FORGOTTEN = faulty(SEEN, THIRTYONE, act="... if move.kind == TAKE: state.known[state.turn] = 0")
FORGOTTEN_BY_A_DRAW = faulty(SEEN, THIRTYONE, act="... if move.kind == DRAW: state.known[state.turn] = 0")
FORGOTTEN_AFTER_A_KNOCK = faulty(SEEN, THIRTYONE, settle="if state.knocker != NONE: state.known[state.turn] = 0 ...")
SHOWN_TRUMP_FORGOTTEN = faulty(SEEN, WHIST, settle="... state.known[state.seats - 1] = 0")
FOLLOWED_FORGOTTEN = faulty(SEEN, WHIST, settle="... if state.ply % 5 == 4: state.lacks[1] = 0")
CLAIM_FORGETS = faulty(
    SEEN,
    literature.GAME,
    settle="""had = live(state)
...
if live(state) != had: state.lacks[0] = 0""",
)
SPARKS_TAKEN_FORGOTTEN = faulty(SEEN, sparks.GAME, act="... if move.kind == TAKE: state.known[:] = 0")
SPARKS_FORGOTTEN_BY_A_PLAY = faulty(SEEN, sparks.GAME, act="if move.kind == PLAY: state.known[state.turn] = 0 ...")

# Suits of which one is treated otherwise.
SPADES_COUNT_LESS = faulty(
    RENAMED, THIRTYONE, score="own = value_of(state, state.hands[seat]) -> "
    "own = value_of(state, state.hands[seat] & ~(single(51) if state.three_alike == 0 else 0))",
)  # fmt: skip
NO_CLUB_IS_TAKEN = faulty(
    RENAMED, THIRTYONE, legal="n = add(moves, n, TAKE, state.top) -> "
    "n = add(moves, n, TAKE, state.top) if state.top % 4 != 0 else n",
)  # fmt: skip
CLUB_TURNS_COUNT_TWICE = faulty(RENAMED, THIRTYONE, settle="if state.top % 13 == 0: state.turns_left -= 1 ...")
SPADE_TRUMPS_SCORE_MORE = faulty(RENAMED, WHIST, outcomes={}, measures=("share",), score="state.tricks[seat] -> "
                                 "(state.tricks[seat] + (state.trump == 3 and state.tricks[seat] == 1))")  # fmt: skip

# Fields of which nothing is declared, and which are shown.
declared = state_of(THIRTYONE.state)
assert declared is not None
LOGGED = THIRTYONE.changed(
    state=State(declared.deck, declared.seats, log=(), **declared.given),
    settle=changed(THIRTYONE.rules.settle, "if state.owed != 0: state.log = lowest(state.stock) + 1 ..."),
)

LOG_SHOWN = faulty(UNDECLARED, LOGGED, show=lambda state, seat: f"{THIRTYONE.text.show(state, seat)} {state['log']}")
LOG_ENCODED = faulty(UNDECLARED, LOGGED, encoders=seen(CARDS, "... row[0] ^= state.log & 1"))
LOG_IN_ZONES = faulty(
    UNDECLARED,
    LOGGED,
    zones=lambda state, seat: [*THIRTYONE.table.zones(state, seat), Zone("Log", note=f"{state['log']}")],
)  # pyright: ignore[reportOptionalCall]

PLANTED: dict[str, Game] = {
    name: game
    for name, game in list(globals().items())
    if isinstance(game, Game) and game not in (WHIST, THIRTYONE, LOGGED)
}
