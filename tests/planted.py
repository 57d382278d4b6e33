"""Low Hand and Tic-Tac-Toe with one fault each, and the law that must find it."""

from dataclasses import replace

import numpy as np
import pairs
import small_game
from small_game import CARDS, DRAW, NONE, SEATS, STOP, TAKE, take_next

from cardai.cards import any_of, count, filled, full_deck, has, highest, lowest, single
from cardai.game import Game, Outcome, PerspectiveEncoder, Player, Segment, Zone
from cardai.games import durak, tictactoe
from cardai.rule import next_bits, rule, truncated

LAW_OF: dict[Game, str] = {}
"""The law that each faulty game breaks."""


def faulty(law: str, game: Game = small_game.GAME, **changes) -> Game:
    """A game with something replaced, which breaks a law."""
    found = replace(game, **changes)
    LAW_OF[found] = law
    return found


def seen_by(encode, layout=small_game.layout) -> dict[str, PerspectiveEncoder]:
    return {"planes": PerspectiveEncoder(layout, encode)}


def played_by(choose, **parameters: float) -> dict[str, Player]:
    return {"low": Player(choose, "faulty", parameters, sees="own")}


# Deals, plies, scores.


@rule
def deal_by_foreign_chance(state):
    small_game.deal(state)
    i, j = np.random.randint(0, state.deck_left), np.random.randint(0, state.deck_left)
    state.deck[i], state.deck[j] = state.deck[j], state.deck[i]


@rule
def deal_without_shuffling(state):
    next_bits(state)
    for card in range(CARDS):
        state.deck[card] = card
    state.deck_left = CARDS
    for seat in range(state.seats):
        for _ in range(state.hand_size):
            state.hands[seat] |= single(take_next(state))
    state.top = NONE


@rule
def settle_by_foreign_chance(state):
    if state.drawing != 0 and state.deck_left > 1:
        i, last = np.random.randint(0, state.deck_left), state.deck_left - 1
        state.deck[i], state.deck[last] = state.deck[last], state.deck[i]
    small_game.settle(state)


@rule
def settle_without_end(state):
    state.turn = 1 - state.turn


@rule
def settle_with_ply_skipped(state):
    small_game.settle(state)
    if state.deck_left < 4:
        state.ply += 1


@rule
def settle_beyond_seats(state):
    small_game.settle(state)
    state.revealed = 1 << state.seats


@rule
def act_with_chance(state, move):
    small_game.act(state, move)
    if move.kind == DRAW and state.deck_left == 3:
        next_bits(state)


@rule
def score_of_two(state, seat):
    return 2.0 * small_game.score(state, seat)


@rule
def score_of_the_best_partner(state, seat):
    """In a tie, the seat that played the highest card wins alone."""
    if pairs.lead(state, seat) != 0:
        return pairs.score(state, seat)
    for other in range(state.seats):
        if pairs.rank_played(state, other) > pairs.rank_played(state, seat):
            return 0.0
    return 1.0


@rule
def score_unshared(state, seat):
    return 1.0 if small_game.score(state, seat) > 0.0 else 0.0


FOREIGN_DEAL = faulty("deals_repeat_for_a_seed", deal=deal_by_foreign_chance)
UNSHUFFLED = faulty("seeds_deal_differently", deal=deal_without_shuffling)
FOREIGN_DRAW = faulty("play_repeats_for_a_seed", settle=settle_by_foreign_chance)
UNREPLAYABLE = faulty("records_replay", settle=settle_by_foreign_chance)
TOO_LONG = faulty("every_game_ends", max_plies=6)
TICTACTOE_ENDLESS = faulty("every_game_ends", tictactoe.GAME, settle=settle_without_end)
PLY_SKIPPED = faulty("header_stays_in_range", settle=settle_with_ply_skipped)
REVEALED_TO_NOBODY = faulty("header_stays_in_range", settle=settle_beyond_seats)
ACT_DRAWS = faulty("act_draws_no_chance", act=act_with_chance)
SCORE_OF_TWO = faulty("scores_are_shares", score=score_of_two)
SCORE_UNSHARED = faulty("scores_are_shares", score=score_unshared)
PARTNERS_APART = faulty("teams_score_alike", pairs.GAME, score=score_of_the_best_partner, score_sum=lambda seats: None)
TICTACTOE_DRAW_LOST = faulty("scores_are_shares", tictactoe.GAME, score_sum=lambda seats: 0.5)


# Moves.


@rule
def legal_until_late(state, moves):
    return small_game.legal(state, moves) if state.deck_left > 1 else 0


@rule
def legal_unsorted(state, moves):
    n = small_game.legal(state, moves)
    if state.deck_left < 3 and n > 2:
        last = moves[n - 1].card
        moves[n - 1].card = moves[n - 2].card
        moves[n - 2].card = last
    return n


@rule
def legal_twice(state, moves):
    n = small_game.legal(state, moves)
    if n > 1 and n < 9:
        moves[n].kind = moves[n - 1].kind
        moves[n].card = moves[n - 1].card
        n += 1
    return n


@rule
def legal_by_other_hand(state, moves):
    n = small_game.legal(state, moves)
    other = (state.turn + 1) % state.seats
    if n > 1 and state.ply >= state.seats and has(state.hands[other], 15):
        n -= 1
    return n


@rule
def accept_everything(state, move):
    return move.kind >= STOP and move.kind <= TAKE and move.card >= 0 and move.card < CARDS


@rule
def act_repairing(state, move):
    kept = move.card
    if move.kind != STOP and not has(state.hands[state.turn], move.card):
        move.card = lowest(state.hands[state.turn])
    small_game.act(state, move)
    move.card = kept


@rule
def act_changing_its_move(state, move):
    small_game.act(state, move)
    move.card = 0


@rule
def legal_with_a_note(state, moves):
    state.drawing = state.deck_left < 4
    return small_game.legal(state, moves)


@rule
def cell_or_taken(state, move):
    return move.cell >= 0 and move.cell < 9


STUCK = faulty("seat_to_move_has_moves", legal=legal_until_late)
UNSORTED = faulty("moves_are_in_order", legal=legal_unsorted)
LISTED_TWICE = faulty("moves_are_distinct", legal=legal_twice)
MOVES_LEAK = faulty("own_moves_are_the_same_in_every_world", legal=legal_by_other_hand)
ACCEPTING = faulty("is_legal_agrees_with_legal", is_legal=accept_everything)


@rule
def legal_without_takes(state, moves):
    n = small_game.legal(state, moves)
    kept = n
    while kept > 0 and moves[kept - 1].kind == TAKE:
        kept -= 1
    return truncated(kept) if kept < n else n


@rule
def in_hand_or_stop(state, move):
    if move.kind == STOP:
        return move.card == 0 and state.ply >= state.seats
    if move.kind != DRAW and (move.kind != TAKE or state.top == NONE):
        return False
    return 0 <= move.card < CARDS and has(state.hands[state.turn], move.card)


WITHOUT_TAKES = faulty("truncated_lists_have_every_kind", legal=legal_without_takes, is_legal=in_hand_or_stop)
REPAIRING = faulty("illegal_moves_raise", is_legal=accept_everything, act=act_repairing)
MOVE_CHANGED = faulty("rules_touch_only_their_record", act=act_changing_its_move)
NOTING = faulty("asking_changes_nothing", legal=legal_with_a_note)
UNNUMBERED = faulty("actions_number_the_moves", tictactoe.GAME, actions={(cell,): cell for cell in range(8)})
NUMBERED_ALIKE = faulty("actions_number_the_moves", tictactoe.GAME, actions={(cell,): cell // 2 for cell in range(9)})
TICTACTOE_TAKEN_CELL = faulty("is_legal_agrees_with_legal", tictactoe.GAME, is_legal=cell_or_taken)


# What a seat may know.


@rule
def encode_hidden(state, seat, row):
    small_game.encode(state, seat, row)
    row[0] = has(state.hands[(seat + 1) % state.seats], 0)


@rule
def encode_hidden_late(state, seat, row):
    small_game.encode(state, seat, row)
    if state.deck_left <= 2:
        row[0] = state.deck[0] & 1


@rule
def encode_next_draw(state, seat, row):
    small_game.encode(state, seat, row)
    if state.drawing != 0:
        row[0] = state.deck[state.deck_left - 1]


@rule
def points_of_all(state, seat):
    return small_game.points(state.hands[(seat + 1) % state.seats]) - small_game.points(state.hands[seat])


@rule
def low_peeking(world, move, params, stream):
    small_game.low(world, move, params, stream)
    if move.kind == DRAW and has(world.hands[(world.turn + 1) % world.seats], 3):
        move.card = lowest(world.hands[world.turn])


@rule
def low_peeking_at_the_deck(world, move, params, stream):
    small_game.low(world, move, params, stream)
    if move.kind == DRAW and world.deck_left > 2 and world.deck[world.deck_left - 1] > 12:
        move.card = lowest(world.hands[world.turn])


@rule
def blank_without_deck(state, seat):
    for other in range(state.seats):
        if other != seat:
            state.hands[other] = filled(state.known[other], count(state.hands[other]))


@rule
def blank_until_late(state, seat):
    other = (seat + 1) % state.seats
    hand = state.hands[other]
    small_game.blank(state, seat)
    if state.deck_left < 3:
        state.hands[other] = hand


@rule
def blank_by_sorting(state, seat):
    """The lowest cards that are hidden, hand by hand: they are other ones in another world."""
    for other in range(state.seats):
        if other != seat and state.known[other] == 0 and count(state.hands[other]) > 1:
            low = single(lowest(state.hands[other]))
            state.hands[other] = low | filled(low, count(state.hands[other]))
    for i in range(state.deck_left):
        state.deck[i] = 0


@rule
def blank_own_hand(state, seat):
    small_game.blank(state, seat)
    state.hands[seat] = filled(0, count(state.hands[seat]))


@rule
def blank_top(state, seat):
    small_game.blank(state, seat)
    if state.deck_left < 4:
        state.top = NONE


@rule
def blank_counts(state, seat):
    small_game.blank(state, seat)
    for other in range(state.seats):
        if other != seat:
            state.hands[other] = state.known[other]


@rule
def blank_too_far(state, seat):
    """Writes one number behind the record: `known` is its last field."""
    small_game.blank(state, seat)
    state.known[seat - seat + SEATS] = 1


@rule
def encode_sizes(state, seat, row):
    small_game.encode(state, seat, row)
    row[-1] = count(state.hands[(seat + 1) % state.seats])


def layout_with_sizes(seats):
    return (*small_game.layout(seats), Segment("cards of the next seat"))


def zones_with_a_hand(state, seat):
    hands = (Zone("Hand", int(state.hands[other]), seat=other) for other in range(int(state.seats)))
    return [*hands, *small_game.zones(state, seat)[int(state.seats) :]]


def zones_with_a_count(state, seat):
    low = int(state.hands[(seat + 1) % int(state.seats)] & 255).bit_count()
    return [replace(zone, note=f"{low} low cards" if low else "") for zone in small_game.zones(state, seat)]


def zones_marked(state, seat):
    *others, discards = small_game.zones(state, seat)
    following = int(state.deck[int(state.deck_left) - 1]) if state.deck_left else 0
    return [*others, replace(discards, marks={following: "next"})]


def zones_open_at_the_end(state, seat):
    return zones_with_a_hand(state, seat) if state.turn < 0 else small_game.zones(state, seat)


def zones_with_the_top(state, seat):
    top = [int(state.top)] if state.top != small_game.NONE else []
    return [*small_game.zones(state, seat), Zone("Top", top)]


def zones_without_own_hand(state, seat):
    return [zone for zone in small_game.zones(state, seat) if zone.seat != seat]


def picks_the_next(state, move):
    return 1 << int(state.deck[int(state.deck_left) - 1])


def show_next(state, seat):
    left = int(state.deck_left)
    drawn = f" next {small_game.DECK.name(state.deck[left - 1])}" if 0 < left < 4 else ""
    return small_game.show(state, seat) + drawn


@rule
def settle_silently(state):
    small_game.settle(state)
    state.revealed = 0


@rule
def settle_marking(state):
    """The drawn card becomes known to everybody, though nobody is shown it."""
    seat = state.turn
    if state.drawing != 0 and state.deck_left < 5:
        state.known[seat] |= single(state.deck[state.deck_left - 1])
    small_game.settle(state)


@rule
def act_by_next_card(state, move):
    """What the seat is about to draw decides what everybody knows."""
    small_game.act(state, move)
    if state.drawing != 0 and state.deck[state.deck_left - 1] >= 8:
        state.known[state.turn] = state.hands[state.turn]


VIEW_LEAK = faulty("encodings_are_the_same_in_every_world", encoders=seen_by(encode_hidden))
LATE_LEAK = faulty("encodings_are_the_same_in_every_world", encoders=seen_by(encode_hidden_late))
AFTER_STATE_LEAK = faulty("after_states_are_the_same_in_every_world", encoders=seen_by(encode_next_draw))
VALUE_LEAK = faulty("heuristics_are_the_same_in_every_world", heuristics={"all": points_of_all})
OWN = "players_who_see_their_own_use_no_hidden_card"
PEEKING = faulty(OWN, players=played_by(low_peeking, stop_at=2.0))
PEEKING_AT_THE_DECK = faulty(OWN, players=played_by(low_peeking_at_the_deck, stop_at=2.0))
DECK_UNBLANKED = faulty("blank_leaves_nothing_hidden", blank=blank_without_deck)
HAND_UNBLANKED_LATE = faulty("blank_leaves_nothing_hidden", blank=blank_until_late)
BLANKED_BY_THE_TRUTH = faulty("blank_leaves_nothing_hidden", blank=blank_by_sorting)
OWN_HAND_BLANKED = faulty("blank_leaves_what_is_known", blank=blank_own_hand)
BLANKED_TOO_FAR = faulty("rules_touch_only_their_record", blank=blank_too_far)
TOP_BLANKED = faulty("blank_leaves_what_is_known", blank=blank_top)
COUNT_BLANKED = faulty(
    "blank_leaves_what_is_known", blank=blank_counts, encoders=seen_by(encode_sizes, layout_with_sizes)
)
TEXT_LEAK = faulty("text_is_the_same_in_every_world", show=show_next)
ZONES_SHOW_A_HAND = faulty("zones_are_the_same_in_every_world", zones=zones_with_a_hand)
ZONES_COUNT_LOW_CARDS = faulty("zones_are_the_same_in_every_world", zones=zones_with_a_count)
ZONES_MARK_THE_NEXT = faulty("zones_are_the_same_in_every_world", zones=zones_marked)
ZONES_AT_THE_END = faulty("zones_are_the_same_in_every_world", zones=zones_open_at_the_end)
ZONES_TWICE = faulty("a_piece_lies_in_one_zone", zones=zones_with_the_top)
ZONES_BEYOND = faulty("a_piece_lies_in_one_zone", pieces=small_game.DECK.all_names[:-1])
PICKS_NOWHERE = faulty("picks_lie_in_zones", picks=picks_the_next)
PICKS_HIDDEN = faulty("picks_lie_in_zones", zones=zones_without_own_hand)
AGENTS_SEE_A_HAND = faulty("agents_decide_by_what_they_know", encoders=seen_by(encode_hidden_late))
AGENTS_SEE_THE_DECK = faulty("agents_decide_by_what_they_know", act=act_by_next_card)
SILENT = faulty("unrevealed_moves_look_the_same", settle=settle_silently)
MARKING = faulty("unrevealed_moves_look_the_same", settle=settle_marking)


# Worlds.


@rule
def resample_nothing(state, seat, stream):
    pass


@rule
def resample_hands_only(state, seat, stream):
    """The deck keeps the cards it has; only hands are exchanged."""
    pool = 0
    for other in range(state.seats):
        if other != seat:
            pool |= state.hands[other] & ~state.known[other]
    for other in range(state.seats):
        if other != seat:
            hidden = count(state.hands[other]) - count(state.known[other])
            state.hands[other] = state.known[other]
            for _ in range(hidden):
                card = any_of(pool, stream)
                state.hands[other] |= single(card)
                pool &= ~single(card)


@rule
def resample_unevenly(state, seat, stream):
    """The lowest unknown card always ends up at the bottom of the deck, as if the shuffle forgot the last place."""
    small_game.resample(state, seat, stream)
    if state.deck_left > 0:
        least, holder = state.deck[0], -1
        for other in range(state.seats):
            if other != seat:
                hidden = state.hands[other] & ~state.known[other]
                if hidden != 0 and lowest(hidden) < least:
                    least, holder = lowest(hidden), other
        if holder >= 0:
            state.hands[holder] ^= single(least) | single(state.deck[0])
            state.deck[0] = least


@rule
def resample_unevenly_late(state, seat, stream):
    if state.ply > state.seats:
        resample_unevenly(state, seat, stream)
    else:
        small_game.resample(state, seat, stream)


@rule
def resample_half_the_time(state, seat, stream):
    if next_bits(stream) >> np.uint64(63) == np.uint64(0):
        small_game.resample(state, seat, stream)


@rule
def resample_one_pair(state, seat, stream):
    """Exchange one card of a hand with one of the deck: near the truth, and further away each time."""
    other = (seat + 1) % state.seats
    hidden = state.hands[other] & ~state.known[other]
    if hidden != 0 and state.deck_left > 0:
        card = any_of(hidden, stream)
        i = np.int64(next_bits(stream) >> np.uint64(40)) % state.deck_left
        state.hands[other] ^= single(card) | single(state.deck[i])
        state.deck[i] = card


@rule
def resample_played_card(state, seat, stream):
    small_game.resample(state, seat, stream)
    other = (seat + 1) % state.seats
    if state.discards != 0 and state.hands[other] & ~state.known[other] != 0:
        state.hands[other] ^= single(lowest(state.hands[other] & ~state.known[other]))
        state.hands[other] |= single(lowest(state.discards))


@rule
def resample_known_cards(state, seat, stream):
    """Cards taken face up are dealt anew as if nobody had seen them."""
    known = state.known.copy()
    for other in range(state.seats):
        state.known[other] = 0
    small_game.resample(state, seat, stream)
    for other in range(state.seats):
        state.known[other] = known[other]


@rule
def resample_with_second_sight(state, seat, stream):
    """Every other turn, the highest card of each hand is known without having been seen."""
    known = state.known.copy()
    for other in range(state.seats):
        if state.deck_left & 1 and state.hands[other] != 0:
            state.known[other] |= single(highest(state.hands[other]))
    small_game.resample(state, seat, stream)
    for other in range(state.seats):
        state.known[other] = known[other]


@rule
def resample_on_rails(state, seat, stream):
    small_game.resample(state, seat, stream)
    state.rng = np.uint64(7)


@rule
def resample_turn(state, seat, stream):
    small_game.resample(state, seat, stream)
    state.turn = seat


@rule
def resample_without_hands(state, seat, stream):
    small_game.resample(state, seat, stream)
    for other in range(state.seats):
        if other != seat:
            state.hands[other] = 0
            state.known[other] = 0


@rule
def resample_too_far(state, seat, stream):
    """Writes one number behind the record: `known` is its last field."""
    small_game.resample(state, seat, stream)
    state.known[seat - seat + SEATS] = 1


FORGETFUL = faulty("worlds_deal_anew_what_is_hidden", resample=resample_nothing)
DECK_KEPT = faulty("worlds_deal_anew_what_is_hidden", resample=resample_hands_only)
UNEVEN = faulty("the_dealt_truth_is_a_world_like_any_other", resample=resample_unevenly)
UNEVEN_LATE = faulty("worlds_are_even", resample=resample_unevenly_late)
FAVOURING = faulty("worlds_do_not_favour_what_they_come_from", resample=resample_half_the_time)
AGENTS_IMAGINE_THE_TRUTH = faulty("agents_decide_by_what_they_know", resample=resample_half_the_time)
ONE_PAIR = faulty("resampling_twice_is_resampling_once", resample=resample_one_pair)
PLAYED_CARD = faulty("cards_are_conserved", resample=resample_played_card)
KNOWN_CARD = faulty("nothing_seen_is_forgotten", resample=resample_known_cards)
SECOND_SIGHT = faulty("nothing_is_learnt_unseen", resample=resample_with_second_sight)
ON_RAILS = faulty("worlds_have_their_own_chance", resample=resample_on_rails)
OTHER_TURN = faulty("worlds_keep_what_is_public", resample=resample_turn)
WITHOUT_HANDS = faulty("worlds_play_on", resample=resample_without_hands)
TOO_FAR = faulty("rules_touch_only_their_record", resample=resample_too_far)


# Encodings, text, players.


def layout_with_more(seats):
    return (*small_game.layout(seats), Segment("weather"))


@rule
def encode_too_much(state, seat, row):
    small_game.encode(state, seat, row)
    row[len(row)] = 1


@rule
def encode_wrapping(state, seat, row):
    small_game.encode(state, seat, row)
    row[0] = 250 + state.deck_left


@rule
def infinite_points(state, seat):
    return -np.inf if state.hands[seat] == 0 or state.deck_left < 2 else 0.0


@rule
def points_without_a_number(state, seat):
    return np.nan if state.stopped != 0 and seat == 1 else 0.5


@rule
def points_beyond_the_range(state, seat):
    return 1.0 * small_game.points(state.hands[seat])


@rule
def points_that_clear_the_hand(state, seat):
    state.hands[seat] = 0
    return 0.5


@rule
def decide_by_the_ply(state, seat):
    """Calls the game for the first seat, too early."""
    return 1.0 if seat == 0 and state.ply > 4 else -1.0


@rule
def infinite_while_drawing(state, seat):
    return np.inf if state.drawing != 0 else 0.0


@rule
def low_cheating(world, move, params, stream):
    small_game.low(world, move, params, stream)
    if world.deck_left == 2:
        move.kind = DRAW
        move.card = lowest(full_deck(CARDS) & ~world.hands[world.turn])


def spell_vaguely(state, move):
    return "take" if move["kind"] == TAKE else small_game.spell(state, move)


def parse_carelessly(state, text):
    move = small_game.parse(state, text)
    move["card"] = 0 if move["kind"] == TAKE else move["card"]
    return move


WEATHER = faulty("every_segment_says_something", encoders=seen_by(small_game.encode, layout_with_more))
WIDE = faulty("encodings_fill_their_layout", encoders=seen_by(encode_too_much))
WRAPPING = faulty("encodings_fit_a_byte", encoders=seen_by(encode_wrapping))
INFINITE = faulty("heuristics_are_finite", heuristics={"points": infinite_points})
INFINITE_AFTER_ACT = faulty("heuristics_are_finite", heuristics={"points": infinite_while_drawing})
NO_NUMBER = faulty("outcomes_keep_their_range", outcomes={"points": Outcome(points_without_a_number, "points")})
BOUNDLESS = faulty("outcomes_keep_their_range", outcomes={"points": Outcome(points_beyond_the_range, "points")})
CLEARING = faulty("outcomes_keep_their_range", outcomes={"points": Outcome(points_that_clear_the_hand, "points")})
GREEDY_REWARD = faulty("outcomes_keep_their_range", rewards={"points": Outcome(points_beyond_the_range, "points")})
CLEARING_REWARD = faulty("outcomes_keep_their_range", rewards={"points": Outcome(points_that_clear_the_hand, "points")})
HASTY = faulty("what_is_decided_stays_so", decided=decide_by_the_ply)
CHEATING = faulty("players_choose_legal_moves", players=played_by(low_cheating, stop_at=2.0))
CHEATING_AT_THE_TABLE = faulty("named_agents_can_play", players=played_by(low_cheating, stop_at=2.0))
VAGUE = faulty("spelling_is_understood", spell=spell_vaguely)
CARELESS = faulty("spelling_is_understood", parse=parse_carelessly)


# Compiled code and plain Python.


@rule
def huge_points(state, seat):
    """Beyond 64 bits compiled whole numbers wrap; Python's do not."""
    number = 3
    for _ in range(7):
        number = number * number % 1000000000000000003
    return float(number)


@rule
def act_out_of_range(state, move):
    """The seat after the last is no seat; compiled code writes into the field that follows."""
    small_game.act(state, move)
    state.hands[state.turn + 1 + SEATS - state.seats] |= 0


@rule
def low_with_second_parameter(world, move, params, stream):
    small_game.low(world, move, params, stream)
    if params[1] > 1000.0:
        move.kind = STOP


@rule
def is_legal_by_index(state, move):
    if move.kind == STOP:
        return move.card == 0 and state.ply >= state.seats
    if move.kind < STOP or move.kind > TAKE or (move.kind == TAKE and state.top == NONE):
        return False
    return state.deck[move.card] >= NONE and move.card >= 0 and has(state.hands[state.turn], move.card)


WRAPPING_NUMBERS = faulty("plain_python_agrees", heuristics={"huge": huge_points})
WRAPPING_OUTCOMES = faulty("plain_python_agrees", outcomes={"huge": Outcome(huge_points, "huge", -2e18, 2e18)})
OUT_OF_RANGE = faulty("plain_python_complains_of_nothing", act=act_out_of_range)
TRUSTING = faulty("plain_python_complains_of_nothing", is_legal=is_legal_by_index)
SECOND_PARAMETER = faulty(
    "plain_python_complains_of_nothing", players=played_by(low_with_second_parameter, stop_at=2.0)
)


# Open positions.


@rule
def is_open_to_nobody(state):
    """The hands are hidden."""
    return state.deck_left < 8


@rule
def open_without_two_left(state):
    """Durak: with a deck, hands are hidden and cards are drawn."""
    return count(state.playing) == 2


@rule
def open_at_even_plies(state):
    return state.ply % 2 == 0


@rule
def settle_by_lot(state):
    """Who begins the next turn is drawn, though all stones lie open."""
    tictactoe.settle(state)
    if state.turn >= 0 and count(state.stones[0] | state.stones[1]) > 4:
        state.turn = any_of(3, state)


@rule
def settle_by_ply(state):
    tictactoe.settle(state)
    if state.ply > 7:
        state.turn = -1


@rule
def simplify_too_much(state):
    """Durak: forgets how many cards may still be added."""
    state.limit = 6


@rule
def simplify_centre(state):
    """Forgets who took the centre in a full position: the moves stay, the scores do not."""
    if count(state.stones[0] | state.stones[1]) == 8:
        state.stones[0] |= state.stones[1] & single(4)
        state.stones[1] &= ~single(4)


OPEN_LAW = "open_positions_leave_nothing_to_chance"
HIDDEN_HANDS = faulty(OPEN_LAW, is_open=is_open_to_nobody)
WITH_A_DECK = faulty(OPEN_LAW, durak.GAME, is_open=open_without_two_left)
NOW_AND_THEN = faulty(OPEN_LAW, tictactoe.GAME, is_open=open_at_even_plies)
TURN_BY_LOT = faulty(OPEN_LAW, tictactoe.GAME, settle=settle_by_lot)
END_BY_PLY = faulty(OPEN_LAW, tictactoe.GAME, settle=settle_by_ply)
ROOM_FORGOTTEN = faulty("simplify_keeps_what_follows", durak.GAME, simplify=simplify_too_much)
CENTRE_FORGOTTEN = faulty("simplify_keeps_what_follows", tictactoe.GAME, simplify=simplify_centre)


# Single calls.


def show_last_discard(state, seat):
    """Raises before the first discard."""
    return f"{1 // (int(state['top']) + 1)} {small_game.show(state, seat)}"


@rule
def legal_of_nothing(state, moves):
    return small_game.legal(state, moves) if state.ply < 2 else 0


NO_DISCARD = faulty("plain_python_plays_through", show=show_last_discard)
NOTHING_LEGAL = faulty("every_call_returns", legal=legal_of_nothing)

PLANTED: dict[str, Game] = {name: game for name, game in list(globals().items()) if isinstance(game, Game)}
