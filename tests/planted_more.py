"""Faults that slip past a look at a few positions: text that writes, unwritten memory, rare leaks, small biases.

Each is named with the law that must find it at normal effort, from any seed.
"""

from dataclasses import replace

import numpy as np
import small_game
from planted import played_by, seen_by
from small_game import DRAW, SEATS

from cardai.cards import count, has, highest, lowest, single
from cardai.game import Game, PerspectiveEncoder
from cardai.games import durak, moska
from cardai.games.durak.rules import settle as settle_durak
from cardai.games.moska.encode import encode_relative, relative_layout
from cardai.rule import below, rule

LAW_OF: dict[Game, str] = {}
"""The law that each faulty game breaks."""


def faulty(law: str, game: Game = small_game.GAME, **changes) -> Game:
    """A game with something replaced, which breaks a law."""
    found = replace(game, **changes)
    LAW_OF[found] = law
    return found


# Text that writes.


def show_tidying(state, seat):
    state["drawing"] = 1
    return small_game.show(state, seat)


def spell_clamping(state, move):
    text = small_game.spell(state, move)
    move["card"] = max(int(move["card"]), 1)
    return text


def parse_keeping(state, text):
    move = small_game.parse(state, text)
    state["stopped"] = int(move["card"]) + 1
    return move


def holdings_emptying(state):
    places = small_game.holdings(state)
    state["deck"][int(state["deck_left"]) :] = 0
    return places


def ending_counting(state):
    state["drawing"] += 1
    return "The game is over."


def tell_marking(state, move, seat):
    state["known"][seat] |= 1 << int(move["card"])
    return small_game.spell(state, move)


SHOW_WRITES = faulty("text_changes_nothing", show=show_tidying)
SPELL_WRITES = faulty("text_changes_nothing", spell=spell_clamping)
PARSE_WRITES = faulty("text_changes_nothing", parse=parse_keeping)
HOLDINGS_WRITE = faulty("text_changes_nothing", holdings=holdings_emptying)
ENDING_WRITES = faulty("text_changes_nothing", ending=ending_counting)
TELL_WRITES = faulty("text_changes_nothing", tell=tell_marking)


# Memory.


@rule
def legal_by_leftovers(state, moves):
    """Looks at the place behind the last move, where a longer list of moves may have left one."""
    n = small_game.legal(state, moves)
    if state.deck_left == 3 and n < len(moves) and n > 1 and moves[n].card & 1:
        n -= 1
    return n


@rule
def legal_writing_behind(state, moves):
    n = small_game.legal(state, moves)
    if state.seats == SEATS and state.deck_left < 4:
        moves[len(moves)].card = 7
    return n


@rule
def low_changing_its_parameters(world, move, params, stream):
    small_game.low(world, move, params, stream)
    if move.kind == DRAW and world.deck_left < 4:
        params[0] += 1.0


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


@rule
def settle_counting_seats(state):
    """At the largest table the entry behind the last hand lies in the next field."""
    small_game.settle(state)
    state.hands[state.seats] |= 0


@rule
def resample_from_its_own_stream(state, seat, stream):
    small_game.resample(state, seat, state)


@rule
def resample_stirring(state, seat, stream):
    """The deal comes from the stream it is given, but how often the stream is stirred does not."""
    for _ in range(below(state, 4)):
        below(stream, 2)
    small_game.resample(state, seat, stream)


@rule
def chances_of_the_truth(state, seat, shares):
    for other in range(state.seats):
        for card in range(small_game.CARDS):
            shares[other, card] = 1.0 * has(state.hands[other], card)


@rule
def chances_forgetting_what_is_known(state, seat, shares):
    small_game.chances(state, seat, shares)
    for other in range(state.seats):
        for card in range(small_game.CARDS):
            if other != seat and has(state.known[other], card):
                shares[other, card] = 0.5


@rule
def chances_of_too_much(state, seat, shares):
    small_game.chances(state, seat, shares)
    shares[seat, 0] = shares[(seat + 1) % state.seats, 0] = 1.0


CHANCES_OF_THE_TRUTH = faulty("chances_are_those_of_worlds", chances=chances_of_the_truth)
CHANCES_FORGETTING = faulty("chances_are_those_of_worlds", chances=chances_forgetting_what_is_known)
CHANCES_OF_TOO_MUCH = faulty("chances_are_those_of_worlds", chances=chances_of_too_much)
LEFTOVERS = faulty("unwritten_memory_is_not_read", legal=legal_by_leftovers)
WRITES_BEHIND = faulty("rules_stay_in_their_buffers", legal=legal_writing_behind)
PARAMETERS_CHANGED = faulty("rules_stay_in_their_buffers", players=played_by(low_changing_its_parameters, stop_at=2.0))
SCRATCH = faulty("plain_python_agrees", heuristics={"points": points_of_scratch})
LARGEST_TABLE = faulty("plain_python_complains_of_nothing", settle=settle_counting_seats)
OWN_STREAM = faulty("resample_draws_from_its_stream_only", resample=resample_from_its_own_stream)
STIRRED = faulty("resample_draws_from_its_stream_only", resample=resample_stirring)


# Late games.


@rule
def encode_plies(state, seat, row):
    """The number of moves played is written into a byte; only games of more than 255 moves show it."""
    encode_relative(state, seat, row)
    row[0] = state.ply


@rule
def encode_steps(state, seat, row):
    small_game.encode(state, seat, row)
    row[0] = 30 * state.ply


MOSKA_PLIES = faulty(
    "encodings_fit_a_byte",
    moska.GAME,
    encoders={"plies": PerspectiveEncoder(relative_layout, encode_plies)},
)
STEPS = faulty("encodings_fit_a_byte", encoders=seen_by(encode_steps))


# Rare leaks.


@rule
def encode_hidden_rarely(state, seat, row):
    """Leaks with the last three cards of the deck, at a table of four with hands of two."""
    small_game.encode(state, seat, row)
    if state.seats == SEATS and state.hand_size == 2 and state.deck_left == 1:
        row[0] = state.deck[0] & 1


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


@rule
def settle_marking_one(state):
    """Durak: if several seats draw, only one of them is marked as having seen a card."""
    settle_durak(state)
    if state.stock != 0 and count(state.revealed) > 1:
        state.revealed = single(highest(state.revealed))


@rule
def settle_forgetting_one(state):
    """Durak: of a large pick-up, one card is not remembered."""
    defender, table = state.defender, state.attacks | state.beats
    settle_durak(state)
    if state.stock != 0 and count(table) >= 4 and state.known[defender] & table == table:
        state.known[defender] &= ~single(lowest(table))


@rule
def settle_past_six_seats(state):
    """Durak: when a seat takes, the entry behind the last hand is written; six seats fill the array."""
    if state.taking != 0:
        state.hands[state.seats] |= 0
    settle_durak(state)


THREE_CARDS = faulty(
    "encodings_are_the_same_in_every_world",
    moska.GAME,
    encoders={"relative": PerspectiveEncoder(relative_layout, encode_at_three_cards)},
)
ONE_MARKED = faulty("unrevealed_moves_look_the_same", durak.GAME, settle=settle_marking_one)
ONE_FORGOTTEN = faulty("nothing_seen_is_forgotten", durak.GAME, settle=settle_forgetting_one)
SIX_SEATS = faulty("plain_python_complains_of_nothing", durak.GAME, settle=settle_past_six_seats)
RARE_LEAK = faulty("encodings_are_the_same_in_every_world", encoders=seen_by(encode_hidden_rarely))

PLANTED: dict[str, Game] = {name: game for name, game in list(globals().items()) if isinstance(game, Game)}
