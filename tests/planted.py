"""Low Hand and Tic-Tac-Toe with one fault each, and the law that must find it."""

from dataclasses import replace

import pairs
import signals
import small_game
from planting import faulty, made, number, seen_by

from cardai.game import Game, Outcome, Segment, Zone
from cardai.games import durak, tictactoe
from cardai.rules import rule

# Deals, plies, scores.


SETTLE_BY_FOREIGN_CHANCE = """if state.drawing != 0 and state.deck_left > 1:
    i, last = np.random.randint(0, state.deck_left), state.deck_left - 1
    state.deck[i], state.deck[last] = state.deck[last], state.deck[i]
..."""


@rule
def score_of_the_best_partner(state, seat):
    """In a tie, the seat that played the highest card wins alone."""
    if pairs.lead(state, seat) != 0:
        return pairs.score(state, seat)
    for other in range(state.seats):
        if pairs.rank_played(state, other) > pairs.rank_played(state, seat):
            return 0.0
    return 1.0


FOREIGN_DEAL = faulty(
    "deals_repeat_for_a_seed",
    deal="""... i, j = np.random.randint(0, state.deck_left), np.random.randint(0, state.deck_left)
state.deck[i], state.deck[j] = state.deck[j], state.deck[i]""",
)
UNSHUFFLED = faulty("seeds_deal_differently", deal="shuffle(state, state.deck, 0, CARDS) -> next_bits(state)")
FOREIGN_DRAW = faulty("play_repeats_for_a_seed", settle=SETTLE_BY_FOREIGN_CHANCE)
UNREPLAYABLE = faulty("records_replay", settle=SETTLE_BY_FOREIGN_CHANCE)
TOO_LONG = faulty("every_game_ends", max_plies=6)
TICTACTOE_ENDLESS = faulty("every_game_ends", tictactoe.GAME, settle=made("state", "state.turn = 1 - state.turn"))
PLY_SKIPPED = faulty("header_stays_in_range", settle="... if state.deck_left < 4: state.ply += 1")
REVEALED_TO_NOBODY = faulty("header_stays_in_range", settle="... state.revealed = 1 << state.seats")
ACT_DRAWS = faulty("act_draws_no_chance", act="... if move.kind == DRAW and state.deck_left == 3: next_bits(state)")
SCORE_OF_TWO = faulty("scores_are_shares", score="1.0 / winners -> 2.0 / winners")
SCORE_UNSHARED = faulty("scores_are_shares", score="1.0 / winners -> 1.0")
PARTNERS_APART = faulty("teams_score_alike", pairs.GAME, score=score_of_the_best_partner, score_sum=lambda seats: None)
TICTACTOE_DRAW_LOST = faulty("scores_are_shares", tictactoe.GAME, score_sum=lambda seats: 0.5)


# Moves.


ACCEPT_EVERYTHING = made(
    "state, move", "return move.kind >= STOP and move.kind <= TAKE and move.card >= 0 and move.card < CARDS"
)

STUCK = faulty("seat_to_move_has_moves", legal="return n -> return n if state.deck_left > 1 else 0")
UNSORTED = faulty(
    "moves_are_in_order",
    legal="""return n -> if state.deck_left < 3 and n > 2:
        moves[n - 1].card, moves[n - 2].card = moves[n - 2].card, moves[n - 1].card
    return n""",
)
LISTED_TWICE = faulty(
    "moves_are_distinct",
    legal="""return n -> if n > 1 and n < 9:
        moves[n].kind, moves[n].card = moves[n - 1].kind, moves[n - 1].card
        n += 1
    return n""",
)
MOVES_LEAK = faulty(
    "own_moves_are_the_same_in_every_world",
    legal="""return n -> if n > 1 and state.ply >= state.seats and has(state.hands[(state.turn + 1) % state.seats], 15):
        n -= 1
    return n""",
)
ACCEPTING = faulty("is_legal_agrees_with_legal", is_legal=ACCEPT_EVERYTHING)
WITHOUT_TAKES = faulty(
    "truncated_lists_have_every_kind",
    legal="""return n -> kept = n
    while kept > 0 and moves[kept - 1].kind == TAKE:
        kept -= 1
    return truncated(kept) if kept < n else n""",
    is_legal=made(
        "state, move",
        """if move.kind == STOP:
    return move.card == 0 and state.ply >= state.seats
if move.kind != DRAW and (move.kind != TAKE or state.top == NONE):
    return False
return 0 <= move.card < CARDS and has(state.hands[state.turn], move.card)""",
    ),
)
REPAIRING = faulty(
    "illegal_moves_raise",
    is_legal=ACCEPT_EVERYTHING,
    act="""kept = move.card
if move.kind != STOP and not has(state.hands[state.turn], move.card):
    move.card = lowest(state.hands[state.turn])
...
move.card = kept""",
)
MOVE_CHANGED = faulty("rules_stay_in_their_buffers", act="... move.card = 0")
NOTING = faulty("rules_stay_in_their_buffers", legal="state.drawing = state.deck_left < 4 ...")
UNNUMBERED = faulty("actions_number_the_moves", tictactoe.GAME, actions={(cell,): cell for cell in range(8)})
NUMBERED_ALIKE = faulty("actions_number_the_moves", tictactoe.GAME, actions={(cell,): cell // 2 for cell in range(9)})
TICTACTOE_TAKEN_CELL = faulty(
    "is_legal_agrees_with_legal",
    tictactoe.GAME,
    is_legal=made("state, move", "return move.cell >= 0 and move.cell < 9"),
)


# What a seat may know.


def layout_with_sizes(seats):
    return (*small_game.layout(seats), Segment("cards of the next seat"))


def show_next(state, seat):
    left = int(state.deck_left)
    drawn = f" next {small_game.DECK.name(state.deck[left - 1])}" if 0 < left < 4 else ""
    return small_game.show(state, seat) + drawn


def zones_marked(state, seat):
    *others, discards = small_game.zones(state, seat)
    following = int(state.deck[int(state.deck_left) - 1]) if state.deck_left else 0
    return [*others, replace(discards, marks={following: "next"})]


def zones_with_the_top(state, seat):
    top = [int(state.top)] if state.top != small_game.NONE else []
    return [*small_game.zones(state, seat), Zone("Top", top)]


HIDDEN_LATE = "... if state.deck_left <= 2: row[0] = state.deck[0] & 1"
VIEW_LEAK = faulty(
    "encodings_are_the_same_in_every_world", encode="... row[0] = has(state.hands[(seat + 1) % state.seats], 0)"
)
LATE_LEAK = faulty("encodings_are_the_same_in_every_world", encode=HIDDEN_LATE)
AFTER_STATE_LEAK = faulty(
    "after_states_are_the_same_in_every_world",
    encode="... if state.drawing != 0: row[0] = state.deck[state.deck_left - 1]",
)
VALUE_LEAK = faulty(
    "heuristics_are_the_same_in_every_world",
    heuristics={"all": number("1.0 * points(state.hands[(seat + 1) % state.seats]) - points(state.hands[seat])")},
)
OWN = "players_who_see_their_own_use_no_hidden_card"
PEEKING = faulty(
    OWN,
    choose="""... if move.kind == DRAW and has(world.hands[(world.turn + 1) % world.seats], 3):
    move.card = lowest(world.hands[world.turn])""",
)
PEEKING_AT_THE_DECK = faulty(
    OWN,
    choose="""... if move.kind == DRAW and world.deck_left > 2 and world.deck[world.deck_left - 1] > 12:
    move.card = lowest(world.hands[world.turn])""",
)
DECK_UNBLANKED = faulty("blank_leaves_nothing_hidden", blank="state.deck[i] = 0 -> pass")
HAND_UNBLANKED_LATE = faulty(
    "blank_leaves_nothing_hidden",
    blank="other != seat: -> other != seat and (state.deck_left >= 3 or other != (seat + 1) % state.seats):",
)
BLANKED_BY_THE_TRUTH = faulty(  # the lowest cards that are hidden, hand by hand: they are other ones in another world
    "blank_leaves_nothing_hidden",
    blank="hands[other] = filled(state.known[other], count(state.hands[other])) -> "
    "hands[other] = filled(state.hands[other] & -state.hands[other] if state.known[other] == 0 else state.known[other],"
    " count(state.hands[other]))",
)
OWN_HAND_BLANKED = faulty(
    "blank_leaves_what_is_known", blank="... state.hands[seat] = filled(0, count(state.hands[seat]))"
)
BLANKED_TOO_FAR = faulty("rules_stay_in_their_buffers", blank="... state.known[seat - seat + SEATS] = 1")
TOP_BLANKED = faulty("blank_leaves_what_is_known", blank="... if state.deck_left < 4: state.top = NONE")
COUNT_BLANKED = faulty(
    "blank_leaves_what_is_known",
    blank="filled(state.known[other], count(state.hands[other])) -> state.known[other]",
    encoders=seen_by("... row[-1] = count(state.hands[(seat + 1) % state.seats])", layout_with_sizes),
)
TEXT_LEAK = faulty("text_is_the_same_in_every_world", show=show_next)
ZONES_LAW = "zones_are_the_same_in_every_world"
ZONES_SHOW_A_HAND = faulty(ZONES_LAW, zones="hand if other == seat else int(state.known[other]) -> hand")
ZONES_COUNT_LOW_CARDS = faulty(ZONES_LAW, zones='look="fan" -> note=str((hand & 255).bit_count())')
ZONES_MARK_THE_NEXT = faulty(ZONES_LAW, zones=zones_marked)
ZONES_AT_THE_END = faulty(ZONES_LAW, zones="hand if other == seat -> hand if other == seat or state.turn < 0")
ZONES_TWICE = faulty("a_piece_lies_in_one_zone", zones=zones_with_the_top)
ZONES_BEYOND = faulty("a_piece_lies_in_one_zone", pieces=small_game.DECK.all_names[:-1])
PICKS_NOWHERE = faulty("picks_lie_in_zones", picks=lambda state, move: 1 << int(state.deck[int(state.deck_left) - 1]))
PICKS_HIDDEN = faulty("picks_lie_in_zones", zones="hands.append -> if other != seat: hands.append")
AGENTS_SEE_A_HAND = faulty("agents_decide_by_what_they_know", encode=HIDDEN_LATE)
AGENTS_SEE_THE_DECK = faulty(  # what the seat is about to draw decides what everybody knows
    "agents_decide_by_what_they_know",
    act="""... if state.drawing != 0 and state.deck[state.deck_left - 1] >= 8:
    state.known[state.turn] = state.hands[state.turn]""",
)
SILENT = faulty("unrevealed_moves_look_the_same", settle="... state.revealed = 0")
MARKING = faulty(  # the drawn card becomes known to everybody, though nobody is shown it
    "unrevealed_moves_look_the_same",
    settle="""if state.drawing != 0 and state.deck_left < 5:
    state.known[state.turn] |= single(state.deck[state.deck_left - 1])
...""",
)


# Worlds.


# The lowest unknown card always ends up at the bottom of the deck, as if the shuffle forgot the last place.
UNEVENLY = """... least, holder = state.deck[0], -1
if state.deck_left == 0 or state.ply <= {} * state.seats:
    return
for other in range(state.seats):
    if other != seat:
        hidden = state.hands[other] & ~state.known[other]
        if hidden != 0 and lowest(hidden) < least:
            least, holder = lowest(hidden), other
if holder >= 0:
    state.hands[holder] ^= single(least) | single(state.deck[0])
    state.deck[0] = least"""
HALF_THE_TIME = """if next_bits(stream) >> np.uint64(63) != np.uint64(0): return
..."""


FORGETFUL = faulty("worlds_deal_anew_what_is_hidden", resample=made("state, seat, stream", "pass"))
DECK_KEPT = faulty(  # only hands are exchanged
    "worlds_deal_anew_what_is_hidden",
    resample=(
        "full_deck(CARDS) & ~state.discards & ~state.hands[seat] -> 0",
        "pool &= ~state.known[other] -> pool |= state.hands[other] & ~state.known[other] if other != seat else 0",
        "range(state.deck_left) -> range(0)",
    ),
)
UNEVEN = faulty("the_dealt_truth_is_a_world_like_any_other", resample=UNEVENLY.format(-1))
UNEVEN_LATE = faulty("worlds_after_a_move_are_the_outcomes_of_worlds_before", resample=UNEVENLY.format(1))
FAVOURING = faulty("resampling_twice_is_resampling_once", resample=HALF_THE_TIME)
AGENTS_IMAGINE_THE_TRUTH = faulty("agents_decide_by_what_they_know", resample=HALF_THE_TIME)
ONE_PAIR = faulty(  # exchanges one card of a hand with one of the deck: near the truth, and further away each time
    "resampling_twice_is_resampling_once",
    resample=made(
        "state, seat, stream",
        """other = (seat + 1) % state.seats
hidden = state.hands[other] & ~state.known[other]
if hidden != 0 and state.deck_left > 0:
    card = any_of(hidden, stream)
    i = np.int64(next_bits(stream) >> np.uint64(40)) % state.deck_left
    state.hands[other] ^= single(card) | single(state.deck[i])
    state.deck[i] = card""",
    ),
)
PLAYED_CARD = faulty(
    "cards_are_conserved",
    resample="""... other = (seat + 1) % state.seats
if state.discards != 0 and state.hands[other] & ~state.known[other] != 0:
    state.hands[other] ^= single(lowest(state.hands[other] & ~state.known[other]))
    state.hands[other] |= single(lowest(state.discards))""",
)
KNOWN_CARD = faulty(  # cards taken face up are dealt anew as if nobody had seen them
    "nothing_seen_is_forgotten",
    resample=(
        "pool &= ~state.known[other] -> pass",
        "count(state.hands[other]) - count(state.known[other]) -> count(state.hands[other])",
        "state.hands[other] = state.known[other] -> state.hands[other] = 0",
    ),
)
SECOND_SIGHT = faulty(  # every other turn, the highest card of each hand is known without having been seen
    "nothing_is_learnt_unseen",
    resample="""known = state.known.copy()
for other in range(state.seats):
    if state.deck_left & 1 and state.hands[other] != 0:
        state.known[other] |= single(highest(state.hands[other]))
...
state.known[:] = known""",
)
ON_RAILS = faulty("worlds_have_their_own_chance", resample="... state.rng = np.uint64(7)")
OTHER_TURN = faulty("worlds_keep_what_is_public", resample="... state.turn = seat")
WITHOUT_HANDS = faulty(
    "worlds_play_on",
    resample="""... for other in range(state.seats):
    if other != seat:
        state.hands[other] = state.known[other] = 0""",
)
TOO_FAR = faulty("rules_stay_in_their_buffers", resample="... state.known[seat - seat + SEATS] = 1")


# Encodings, text, players.


def layout_with_more(seats):
    return (*small_game.layout(seats), Segment("weather"))


def points(rule: object, *span: float) -> dict[str, Outcome]:
    return {"points": Outcome(rule, "points", *span)}  # pyright: ignore[reportArgumentType]


BEYOND_THE_RANGE = points(number("1.0 * points(state.hands[seat])"))
CLEARING_THE_HAND = points(made("state, seat", "state.hands[seat] = 0\nreturn 0.5"))
OUTCOME_LAW = "outcomes_keep_their_range"
CHEAT = """... if world.deck_left == 2:
    move.kind = DRAW
    move.card = lowest(full_deck(CARDS) & ~world.hands[world.turn])"""
WEATHER = faulty("every_segment_says_something", encoders=seen_by("...", layout_with_more))
WIDE = faulty("encodings_fill_their_layout", encode="... row[len(row)] = 1")
WRAPPING = faulty("encodings_fit_a_byte", encode="... row[0] = 250 + state.deck_left")
INFINITE = faulty(
    "heuristics_are_finite",
    heuristics={"points": number("-np.inf if state.hands[seat] == 0 or state.deck_left < 2 else 0.0")},
)
INFINITE_AFTER_ACT = faulty(
    "heuristics_are_finite", heuristics={"points": number("np.inf if state.drawing != 0 else 0.0")}
)
NO_NUMBER = faulty(OUTCOME_LAW, outcomes=points(number("np.nan if state.stopped != 0 and seat == 1 else 0.5")))
BOUNDLESS = faulty(OUTCOME_LAW, outcomes=BEYOND_THE_RANGE)
CLEARING = faulty(OUTCOME_LAW, outcomes=CLEARING_THE_HAND)
GREEDY_REWARD = faulty(OUTCOME_LAW, rewards=BEYOND_THE_RANGE)
LATE_REWARD = faulty(  # right after the move, when it is another seat's turn, it is in its range
    OUTCOME_LAW,
    rewards={"late": Outcome(number("2.0 if state.turn == seat or state.turn < 0 else 0.5"), "late", waits=True)},  # pyright: ignore[reportArgumentType]
)
CLEARING_REWARD = faulty(OUTCOME_LAW, rewards=CLEARING_THE_HAND)
HASTY = faulty("what_is_decided_stays_so", decided=number("1.0 if seat == 0 and state.ply > 4 else -1.0"))
CHEATING = faulty("players_choose_legal_moves", choose=CHEAT)
CHEATING_AT_THE_TABLE = faulty("named_agents_can_play", choose=CHEAT)
VAGUE = faulty("spelling_is_understood", spell='return ( -> return "takes" if move["kind"] == TAKE else (')
CARELESS = faulty("spelling_is_understood", parse='if card else 0 -> if kind == "draws" else 0')


# Compiled code and plain Python.

HUGE = made(  # beyond 64 bits compiled whole numbers wrap; Python's do not
    "state, seat",
    """number = 3
for _ in range(7):
    number = number * number % 1000000000000000003
return float(number)""",
)


PLAIN_LAW = "plain_python_complains_of_nothing"
WRAPPING_NUMBERS = faulty("plain_python_agrees", heuristics={"huge": HUGE})
WRAPPING_OUTCOMES = faulty("plain_python_agrees", outcomes=points(HUGE, -2e18, 2e18))
# The seat after the last is no seat; compiled code writes into the field that follows.
OUT_OF_RANGE = faulty(PLAIN_LAW, act="... state.hands[state.turn + 1 + SEATS - state.seats] |= 0")
TRUSTING = faulty(
    PLAIN_LAW,
    is_legal=made(
        "state, move",
        """if move.kind == STOP:
    return move.card == 0 and state.ply >= state.seats
if move.kind < STOP or move.kind > TAKE or (move.kind == TAKE and state.top == NONE):
    return False
return state.deck[move.card] >= NONE and move.card >= 0 and has(state.hands[state.turn], move.card)""",
    ),
)
SECOND_PARAMETER = faulty(PLAIN_LAW, choose="... if params[1] > 1000.0: move.kind = STOP")


# Open positions.

OPEN_LAW = "open_positions_leave_nothing_to_chance"
HIDDEN_HANDS = faulty(OPEN_LAW, is_open=made("state", "return state.deck_left < 8"))
# Durak: with a deck, hands are hidden and cards are drawn.
WITH_A_DECK = faulty(OPEN_LAW, durak.GAME, is_open=made("state", "return count(state.playing) == 2"))
NOW_AND_THEN = faulty(OPEN_LAW, tictactoe.GAME, is_open=made("state", "return state.ply % 2 == 0"))
TURN_BY_LOT = faulty(
    OPEN_LAW,
    tictactoe.GAME,
    settle="""... if state.turn >= 0 and count(state.stones[0] | state.stones[1]) > 4:
    state.turn = any_of(3, state)""",
)
END_BY_PLY = faulty(OPEN_LAW, tictactoe.GAME, settle="... if state.ply > 7: state.turn = -1")
# Durak: forgets how many cards may still be added.
ROOM_FORGOTTEN = faulty("simplify_keeps_what_follows", durak.GAME, simplify=made("state", "state.limit = 6"))
CENTRE_FORGOTTEN = faulty(  # forgets who took the centre in a full position: the moves stay, the scores do not
    "simplify_keeps_what_follows",
    tictactoe.GAME,
    simplify=made(
        "state",
        """if count(state.stones[0] | state.stones[1]) == 8:
    state.stones[0] |= state.stones[1] & single(4)
    state.stones[1] &= ~single(4)""",
    ),
)


# Choices at the same time.


def as_own_rules(game: Game, **rules) -> Game:
    """The game with rules in the place of the core's own, which keep choices secret."""
    game._set(rules)
    return game


CHOICES_NOT_REDRAWN = as_own_rules(faulty("hidden_moves_stay_hidden", signals.GAME), resample=signals.resample)
CHOICES_NOT_BLANKED = as_own_rules(faulty("blank_leaves_nothing_hidden", signals.GAME), blank=signals.blank)
CHOICE_TOLD = as_own_rules(
    faulty("what_is_told_names_nothing_hidden", signals.GAME), tell=lambda state, move, seat: signals.spell(state, move)
)
CHOICE_ENCODED = faulty(
    "encodings_are_the_same_in_every_world",
    signals.GAME,
    encoders=seen_by("... row[0] += state.sealed[1, 1]", signals.layout, signals.encode),
)
CHOICE_SHOWN = faulty(
    "text_is_the_same_in_every_world",
    signals.GAME,
    show='chosen: {chosen}" -> chosen: {state.sealed[chosen, 1].tolist()}"',
)
CHOSEN_TOGETHER_ONCE = faulty(
    "choices_do_not_depend_on_who_has_chosen",
    signals.GAME,
    together="7 & ~(1 << state.number % SEATS) -> 7 & ~(1 << (state.number + (state.turn < 2)) % SEATS)",
)
TURN_OF_THE_CALLER = faulty(
    "choices_do_not_depend_on_who_has_chosen", signals.GAME, settle="state.turn = other -> state.turn = caller"
)
LAST_MUST_DOUBLE = faulty(
    "choices_do_not_depend_on_who_has_chosen",
    signals.GAME,
    legal="if state.call != 1 or number > 0: -> if number > 0 or state.sealed[(state.turn + 1) % SEATS, 0] == 0:",
)


# Single calls.

# Raises before the first discard.
NO_DISCARD = faulty("plain_python_plays_through", show='return f"hand -> return f"{1 // (int(state.top) + 1)} hand')
NOTHING_LEGAL = faulty("every_call_returns", legal="return n -> return n if state.ply < 2 else 0")

PLANTED: dict[str, Game] = {name: game for name, game in list(globals().items()) if isinstance(game, Game)}
