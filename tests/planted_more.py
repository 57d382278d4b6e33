"""Faults that slip past a look at a few positions: text that writes, unwritten memory, rare leaks, small biases.

Each is named with the law that must find it at normal effort, from any seed.
"""

import numpy as np
import small_game
from planting import faulty, seen_by
from small_game import SEATS

from cardai.game import Game
from cardai.games import durak, hearts, moska
from cardai.games.moska.encode import encode_relative, relative_layout
from cardai.rules import rule
from cardai.rules.cards import count, lowest

# Text that writes.


def spell_clamping(state, move):
    text = small_game.spell(state, move)
    move["card"] = max(int(move["card"]), 1)
    return text


def ending_counting(state):
    state["drawing"] += 1
    return "The game is over."


def tell_marking(state, move, seat):
    state["known"][seat] |= 1 << int(move["card"])
    return small_game.spell(state, move)


TEXT_LAW = "text_changes_nothing"
SHOW_WRITES = faulty(TEXT_LAW, show='return f"hand -> state["drawing"] = 1\n    return f"hand')
SPELL_WRITES = faulty(TEXT_LAW, spell=spell_clamping)
PARSE_WRITES = faulty(TEXT_LAW, parse='return move -> state["stopped"] = int(move["card"]) + 1\n    return move')
HOLDINGS_WRITE = faulty(TEXT_LAW, holdings='return [*( -> state["deck"][int(state["deck_left"]) :] = 0\n    return [*(')
ENDING_WRITES = faulty(TEXT_LAW, ending=ending_counting)
TELL_WRITES = faulty(TEXT_LAW, tell=tell_marking)


# Memory.


@rule
def points_of_scratch(state, seat):
    """Adds up a list of its own, of which it has filled all places but the last."""
    list_of_points = np.empty(SEATS, np.int64)
    for other in range(state.seats - 1):
        list_of_points[other] = 0
    list_of_points[0] = small_game.points(state.hands[seat])
    total = 0
    for other in range(state.seats):
        total += list_of_points[other]
    return -float(total)


CHANCES_LAW = "chances_are_those_of_worlds"
CHANCES_OF_THE_TRUTH = faulty(
    CHANCES_LAW,
    chances=("state.hands[seat] if other == seat else state.known[other] -> state.hands[other]", "hidden, -> 0,"),
)
CHANCES_FORGETTING = faulty(
    CHANCES_LAW, chances="1.0 * has(certain, card) -> (1.0 if other == seat else 0.5) * has(certain, card)"
)
CHANCES_OF_TOO_MUCH = faulty(CHANCES_LAW, chances="... shares[seat, 0] = shares[(seat + 1) % state.seats, 0] = 1.0")
# Looks at the place behind the last move, where a longer list of moves may have left one.
LEFTOVERS = faulty(
    "unwritten_memory_is_not_read",
    legal="""return n -> if state.deck_left == 3 and n < len(moves) and n > 1 and moves[n].card & 1:
        n -= 1
    return n""",
)
WRITES_BEHIND = faulty(
    "rules_stay_in_their_buffers",
    legal="""return n -> if state.seats == SEATS and state.deck_left < 4:
        moves[len(moves)].card = 7
    return n""",
)
PARAMETERS_CHANGED = faulty(
    "rules_stay_in_their_buffers",
    choose="... if move.kind == DRAW and world.deck_left < 4: params[0] += 1.0",
)
SCRATCH = faulty("plain_python_agrees", heuristics={"points": points_of_scratch})
# At the largest table the entry behind the last hand lies in the next field.
LARGEST_TABLE = faulty("plain_python_complains_of_nothing", settle="... state.hands[state.seats] |= 0")
OWN_STREAM = faulty("resample_draws_from_its_stream_only", resample="pool, stream -> pool, state")
# The deal comes from the stream it is given, but how often the stream is stirred does not.
STIRRED = faulty(
    "resample_draws_from_its_stream_only", resample="for _ in range(below(state, 4)): below(stream, 2)\n..."
)


# Late games.

# The number of moves played is written into a byte; only games of more than 255 moves show it.
MOSKA_PLIES = faulty(
    "encodings_fit_a_byte", moska.GAME, encoders=seen_by("... row[0] = state.ply", relative_layout, encode_relative)
)
STEPS = faulty("encodings_fit_a_byte", encode="... row[0] = 30 * state.ply")


# Rare leaks.


@rule
def encode_at_three_cards(state, seat, row):
    """Moska: leaks when three seats are left with one card each."""
    encode_relative(state, seat, row)
    left, cards = 0, 0
    for other in range(state.seats):
        left += state.hands[other] != 0
        cards += count(state.hands[other])
    following = state.hands[(seat + 1) % state.seats]
    if left == 3 and cards == 3 and following != 0:
        row[0] = lowest(following)


THREE_CARDS = faulty(
    "encodings_are_the_same_in_every_world",
    moska.GAME,
    encoders=seen_by("...", relative_layout, encode_at_three_cards),
)
# Durak: if several seats draw, only one of them is marked as having seen a card.
ONE_MARKED = faulty(
    "unrevealed_moves_look_the_same",
    durak.GAME,
    settle="... if state.stock != 0 and count(state.revealed) > 1: state.revealed = single(highest(state.revealed))",
)
ONE_FORGOTTEN = faulty(  # Durak: of a large pick-up, one card is not remembered
    "nothing_seen_is_forgotten",
    durak.GAME,
    settle="""defender, table = state.defender, state.attacks | state.beats
...
if state.stock != 0 and count(table) >= 4 and state.known[defender] & table == table:
    state.known[defender] &= ~single(lowest(table))""",
)
# Durak: when a seat takes, the entry behind the last hand is written; six seats fill the array.
SIX_SEATS = faulty(
    "plain_python_complains_of_nothing", durak.GAME, settle="if state.taking != 0: state.hands[state.seats] |= 0\n..."
)
# Leaks with the last three cards of the deck, at a table of four with hands of two.
RARE_LEAK = faulty(
    "encodings_are_the_same_in_every_world",
    encode="""... if state.seats == SEATS and state.hand_size == 2 and state.deck_left == 1:
    row[0] = state.deck[0] & 1""",
)

# Decisions of several moves that no state calls midway.
PASSED_NOT_MIDWAY = faulty("a_series_is_one_choice", hearts.GAME, settle="... state.midway = 0")
KILLS_NOT_MIDWAY = faulty("a_decision_that_goes_on_is_midway", moska.GAME, settle="... state.midway = 0")

# Words for people: a kind of move that nobody explains, two moves that are said to belong together where the turn
# goes on after the first, and a line of the log that names what is in the deck.
NUMBERS = {(kind, card): kind * small_game.CARDS + card for kind in range(3) for card in range(small_game.CARDS)}
UNEXPLAINED = faulty("terms_explain_every_move", terms={"draws": "A card is drawn.", "stops": "The game is over."})
PLAIN_VERBS = faulty(
    "texts_are_in_the_third_person", spell=lambda state, move: small_game.spell(state, move).replace("draws", "draw")
)
SAYS_YOU = faulty("texts_are_in_the_third_person", ending=lambda state: "You have the lowest hand.")
SEAT_BY_NUMBER = faulty(
    "texts_are_in_the_third_person", show=lambda state, seat: f"{small_game.show(state, seat)}; Seat {seat} is yours"
)
LED_TO_YOU = faulty("texts_are_in_the_third_person", led_to=lambda before, after: "you are next")

# Moves that no number chooses: a piece that the game has not, and numbers with a gap, which policies refuse.
PICKS_WHAT_IS_NOT = faulty("moves_are_chosen_by_numbers", picks=lambda state, move: 1 << small_game.CARDS)
NUMBERED_WITH_A_GAP = faulty("moves_are_chosen_by_numbers", actions=NUMBERS | {(small_game.TAKE, 15): 99})
TOGETHER_IN_A_TRICK = faulty("a_series_is_one_choice", hearts.GAME, series=lambda state: 2)
SAYS_WHAT_COMES = faulty(
    "what_is_told_is_the_same_in_every_world",
    led_to=lambda before, after: f"then {small_game.DECK.name(int(after['deck'][0]))}",
)

PLANTED: dict[str, Game] = {name: game for name, game in list(globals().items()) if isinstance(game, Game)}
