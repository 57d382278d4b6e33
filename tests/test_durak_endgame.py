"""Durak's endings: the solver agrees with plain minimax on the oracle; the agent and the grades that use it."""

import copy
import functools
import random

import numpy as np
import pytest
from oracles.durak import PACKS, Card, Move, Table

from cardai import CardaiError, load
from cardai.games.durak.endgame_solver import DurakSolver
from cardai.games.durak.rules import NO_CARD, STATE, is_open
from cardai.rules.cards import DECK36

GAME, WHOLE = load("durak"), load("durak52")
SMALL, OF_THESE_LARGER = 1200, 100  # endings with up to three and up to four cards a hand


def card_of(card: Card) -> int:
    return 4 * (card.rank - 6) + "CDHS".index(card.suit)


def set_of(cards) -> int:
    return sum(1 << card_of(card) for card in cards)


def action_of(move: Move, table: Table | None = None) -> int:
    what, card = move
    if table is not None and what == "transfer" and card is not None and card.suit == table.trump:
        return card_of(table.pairs[0][0])
    return NO_CARD if card is None else card_of(card)


def small_ending(seed: int, most: int, **rules) -> Table:
    """A position with at most `most` cards a hand before a bout, and up to three moves into it.

    With house rules all cards are of three ranks, so that many can be transferred.
    """
    rnd = random.Random(seed)
    cards = rnd.sample([card for card in sorted(PACKS[36]) if card.rank < (9 if rules else 15)], 2 * most)
    hands = cards[: rnd.randint(1, most)], cards[most : most + rnd.randint(1, most)]
    table = Table(hands, [], rnd.choice("CDHS"), rnd.randrange(2), bool(rnd.randrange(2)), **rules)
    for _ in range(rnd.randrange(4)):
        following = copy.deepcopy(table)
        following.play(rnd.choice(sorted(table.legal_moves(), key=str)))
        if following.turn is None:
            break
        table = following
    return table


def state_of(table: Table) -> np.ndarray:
    """The oracle's table for two as the game's state, STATE[1]."""
    state = np.zeros(1, STATE)
    one = state[0]
    one.seats, one.turn, one.playing = 2, table.turn, 3
    one.add_after_take, one.taking = table.throws_in_after_take, table.taking
    one.transferable = table.may_transfer() and table.turn == table.defender
    one.transfer, one.fives = table.transfers, table.five == "until a discard" and not table.discards
    one.first_five = 2 if table.five else 0
    one.trump, one.trump_card, one.lowest_trump = "CDHS".index(table.trump), -1, -1
    one.attacker, one.defender, one.lead, one.limit = table.first_attacker, table.defender, table.right, table.most
    for seat in range(2):
        one.hands[seat] = one.known[seat] = set_of(table.hands[seat])
    one.attacks = set_of(pair[0] for pair in table.pairs)
    one.beats = set_of(pair[1] for pair in table.pairs if len(pair) == 2)
    one.unbeaten = set_of(table.unbeaten())
    one.discards = (1 << 36) - 1 & ~(one.hands.sum() | one.attacks | one.beats)
    return state


def by_minimax(table: Table) -> dict[int, float]:
    """The score of each move for the seat to move, by trying all lines of play on the oracle."""
    known: dict[tuple, float] = {}

    def worth(table: Table, seat: int) -> float:
        """The score of `seat`."""
        if table.turn is None:
            return float(table.scores[seat])
        hands, pairs = map(frozenset, table.hands), map(tuple, table.pairs)
        key = table.turn, table.first_attacker, table.taking, tuple(hands), tuple(pairs)
        if key not in known:
            known[key] = max(worth(after(table, move), table.turn) for move in table.legal_moves())
        return known[key] if seat == table.turn else 1.0 - known[key]

    return {action_of(move): worth(after(table, move), table.turn) for move in table.legal_moves()}


def after(table: Table, move: Move) -> Table:
    following = copy.copy(table)
    following.hands = [set(hand) for hand in table.hands]
    following.known = [set(cards) for cards in table.known]
    following.discards, following.passed = set(table.discards), set(table.passed)
    following.pairs, following.playing = [list(pair) for pair in table.pairs], list(table.playing)
    following.play(move)
    return following


@functools.cache
def solved_small():
    """SMALL endings on the oracle, solved by one solver with one table of positions."""
    tables = [small_ending(seed, most=4 if seed < OF_THESE_LARGER else 3) for seed in range(SMALL)]
    return tables, DurakSolver(GAME).solve(states_of(tables))


def scores_of(solved):
    return dict(zip(solved.moves["card"].tolist(), solved.scores.tolist(), strict=True))


def states_of(tables) -> np.ndarray:
    return np.concatenate([state_of(table) for table in tables])


def own_games(seats: int, variant: str, games: int):
    """Every state of random games that is an ending."""
    rnd = random.Random(seats)
    for seed in range(games):
        state = GAME.new(seats, seed, variant)
        while state.turn >= 0:
            if is_open(state):
                yield state
            legal = GAME.moves(state)
            state = GAME.play(state, legal[rnd.randrange(len(legal))])


def hands_of(own: str, other: str, trump: str = "S", adds: bool = True) -> np.ndarray:
    """An ending before a bout that seat 0 begins, by the names of the cards."""
    cards = [[Card("6789TJQKA".index(name[0]) + 6, name[1]) for name in hand.split()] for hand in (own, other)]
    return state_of(Table(cards, [], trump, 0, adds))


def test_every_move_of_small_endings_is_worth_what_minimax_on_the_oracle_says():
    tables, found = solved_small()
    drawn = 0
    for table, solved in zip(tables, found, strict=True):
        expected = by_minimax(table)
        assert scores_of(solved) == expected
        assert solved.best == max(expected.values())
        drawn += 0.5 in expected.values()
    assert drawn > 20
    assert sum(table.taking for table in tables) > 20
    assert sum(len(table.unbeaten()) for table in tables) > 200


def bounds_of(table: Table) -> dict[int, tuple[float, float]]:
    """What the seat to move can make sure of with each move, and the most it can hope for, on the oracle.

    By house rules play may go round for ever. Where the two numbers are the same, it need not, and that is the value.
    """
    root, positions, seen = key_of(table), {}, [table]
    while seen:
        here = seen.pop()
        if key_of(here) not in positions:
            nexts = {action_of(move, here): after(here, move) for move in here.legal_moves()}
            ends = {move: float(there.scores[0]) for move, there in nexts.items() if there.turn is None}
            seen += [there for there in nexts.values() if there.turn is not None]
            positions[key_of(here)] = here.turn, {move: ends.get(move, key_of(nexts[move])) for move in nexts}
    bounds = []
    for start in (0.0, 1.0):
        worth, changes = dict.fromkeys(positions, start), True  # the score of seat 0
        while changes:
            changes = False
            for key, (turn, nexts) in positions.items():
                value = (min if turn else max)(worth.get(there, there) for there in nexts.values())
                worth[key], changes = value, changes or worth[key] != value
        bounds.append({move: worth.get(there, there) for move, there in positions[root][1].items()})
    low, high = bounds
    return {move: (1 - high[move], 1 - low[move]) if table.turn else (low[move], high[move]) for move in low}


def key_of(table: Table) -> tuple:
    hands, pairs = map(frozenset, table.hands), map(tuple, table.pairs)
    roles = table.turn, table.first_attacker, table.defender, table.taking, table.most, not table.discards
    return *roles, tuple(hands), tuple(pairs)


HOUSE_RULES = [{"transfers": True}, {"five": "until a discard"}, {"transfers": True, "five": "until a discard"}]


@pytest.mark.parametrize("most", [3, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("rules", HOUSE_RULES, ids=str)
def test_endings_by_house_rules_are_solved_by_the_solver_for_any_game(rules, most):
    solver, solved, differ = DurakSolver(GAME), 0, 0
    tables = [small_ending(seed, most, **rules) for seed in range(150)]
    for table, ending in zip(tables, solver.solve(states_of(tables)), strict=True):
        expected = bounds_of(table)
        assert {*expected} == {*ending.moves["card"].tolist()}
        plain = copy.copy(table)
        plain.transfers = False
        differ += bounds_of(plain) != expected
        if ending.is_solved:
            solved += 1
            assert {move: (score, score) for move, score in scores_of(ending).items()} == expected
    assert solved > 120
    assert (differ > 5) == ("transfers" in rules)


@pytest.mark.parametrize("ranks_higher", [0, 4])
def test_endings_of_a_deck_of_52_are_worth_what_the_same_cards_are_in_one_of_36(ranks_higher):
    tables, found = solved_small()
    tables, found, shift = tables[-300:], found[-300:], 4 * ranks_higher
    states = states_of(tables).astype(WHOLE.state)
    states["cards"] = 52
    for place in ("hands", "known", "attacks", "beats", "unbeaten", "discards"):
        states[place] <<= shift
    for one, solved in zip(found, DurakSolver(WHOLE).solve(states), strict=True):
        moved = {52 if card == NO_CARD else card + shift: score for card, score in scores_of(one).items()}
        assert scores_of(solved) == moved


def test_an_ending_by_house_rules_is_mended_beside_others():
    tables = [small_ending(seed, 3, **({"transfers": True} if seed % 2 else {})) for seed in range(40)]
    states, solver = states_of(tables), DurakSolver(GAME)
    found, moves = solver.solve(states), np.array([GAME.moves(state)[-1] for state in states], GAME.move)
    before = moves.copy()
    solver.mend(states, moves)
    for ending, was, now in zip(found, before["card"], moves["card"], strict=True):
        if ending.is_solved:
            scores = scores_of(ending)
            assert scores[now] == ending.best if scores[was] < ending.best else now == was
    assert (before != moves).sum() > 5


def test_values_do_not_depend_on_the_table_of_positions():
    tables, found = solved_small()
    states, expected = states_of(tables[:200]), list(map(scores_of, found[:200]))
    assert list(map(scores_of, DurakSolver(GAME, table=4).solve(states))) == expected
    assert list(map(scores_of, DurakSolver(GAME).solve(states[::-1])[::-1])) == expected


@pytest.mark.parametrize(("seats", "variant"), [(2, "podkidnoy"), (2, "report"), (4, "podkidnoy"), (5, "report")])
def test_each_legal_move_of_the_games_own_endings_has_a_value_that_play_keeps(seats, variant):
    solver, met = DurakSolver(GAME, 5000), 0
    for state in own_games(seats, variant, 8):
        (solved,) = solver.solve(np.array([state], GAME.state))
        if not solved.is_solved:
            continue
        assert solved.moves.tolist() == GAME.moves(state).tolist()
        for move, score in zip(solved.moves, solved.scores, strict=True):
            following = GAME.play(state, move)
            if following.turn < 0:
                assert GAME.points(following)[int(state.turn)] == score
                met += 1
    assert met > 5


def test_an_attacker_with_one_card_that_can_be_beaten_wins_by_playing_it_last():
    values = scores_of(DurakSolver(GAME).solve(hands_of("6C AD", "7C 8H"))[0])
    assert values[DECK36.card("AD")] == 1.0
    assert values[DECK36.card("6C")] < 1.0


def test_an_ending_beyond_the_limit_has_no_value():
    state = next(state for state in own_games(2, "podkidnoy", 5) if len(GAME.moves(state)) > 4)
    (solved,) = DurakSolver(GAME, 10).solve(np.array([state], GAME.state))
    assert np.isnan(solved.scores).all()
    assert np.isnan(solved.best)
    assert solved.nodes >= 10
    chosen = solved.moves[1:2].copy()
    DurakSolver(GAME, 10).mend(np.array([state], GAME.state), chosen)
    assert chosen == solved.moves[1]


def test_a_state_with_a_deck_or_three_players_or_no_turn_is_refused():
    over = hands_of("6C", "7C")
    over["turn"] = -1
    for state in (GAME.new(2), GAME.new(6), over[0]):
        with pytest.raises(CardaiError, match="state 0 is no open position"):
            DurakSolver(GAME).solve(np.array([state], GAME.state))
    with pytest.raises(CardaiError, match="nodes must be at least 1, not 0"):
        DurakSolver(GAME, 0)


# An agent that ends its games perfectly
