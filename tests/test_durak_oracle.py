"""Durak agrees move by move with the oracle: a second implementation in plain Python, written from the rules alone.

Games are dealt by cardai, which draws the order of the deck card by card. So the oracle is told which cards each seat
drew; it decides by itself who draws, how many, and when.
"""

import random
from collections.abc import Iterable

import pytest
from oracles.durak import LOWEST, PACKS, TAKE, Card, Table, first_attackers

from cardai import load

DURAK, WHOLE = load("durak"), load("durak52")
HOUSE_RULES = [
    "perevodnoy?cards=24&first_five=1&add_after_take=0",
    "report?transfer=1",
    "podkidnoy?cards=24&first_five=1",
    "report?cards=24&first_five=2&suit_limit=5",
    "podkidnoy?first_five=2",
    "perevodnoy?transfer=2",
    "report?transfer=2&cards=24",
]
WHOLE_RULES = [*WHOLE.variants, "perevodnoy?turn_up=0&suit_limit=4&first_five=2&add_after_take=0&transfer=2"]
TABLES = [
    *((DURAK, variant, seats) for variant in (*DURAK.variants, *HOUSE_RULES) for seats in DURAK.seats),
    *((WHOLE, variant, seats) for variant in WHOLE_RULES for seats in WHOLE.seats),
]
FIVE = "", "first bout", "until a discard"  # the oracle's words for `first_five`
QUICK, MANY = 400, 10_000  # positions of each table, of twice as many with 52 cards


def cards_of(state, number: int) -> set[Card]:
    """A set of cards as the oracle names them. The lowest number is the six, in a deck of 52 the two."""
    first = min(LOWEST[36], LOWEST[deck_of(state)])
    return {Card(card // 4 + first, "CDHS"[card % 4]) for card in range(52) if int(number) >> card & 1}


def deck_of(state) -> int:
    """1.1: how many cards the deck has."""
    return int(state.cards) or 36


def no_card(state) -> int:
    """The action that plays no card."""
    return max(deck_of(state), 36)


class Mirror(Table):
    """The oracle, following a game that cardai deals and plays."""

    def __init__(self, state, seats: int):
        hands = [cards_of(state, hand) for hand in state.hands[:seats]]
        deck = PACKS[deck_of(state)] - set().union(*hands)
        shown = None if state.trump_card < 0 else next(iter(cards_of(state, 1 << int(state.trump_card))))
        takes_on = bool(state.add_after_take)
        five, full = FIVE[int(state.first_five)], len(hands[0])
        rules = takes_on, shown, five, full, bool(state.transfer), int(state.transfer) == 2
        super().__init__(hands, sorted(deck), "CDHS"[state.trump], int(state.turn), *rules)
        self.drawn = []

    def follow(self, move, after) -> None:
        """Play the move that cardai has played. `after` is cardai's state after it, which shows the cards drawn."""
        self.drawn = [cards_of(after, hand) & set(self.deck) for hand in after.hands[: len(self.hands)]]
        self.play(move)
        assert not any(self.drawn), f"drew too much: {self.drawn}"

    def next_card(self, seat: int) -> Card:
        """One of the cards that the seat drew in cardai; the turned card must be the last of the deck."""
        left = sorted(self.drawn[seat], key=lambda card: card == self.shown)
        assert left, f"seat {seat} drew too little"
        assert left[0] != self.shown or self.deck == [self.shown], "the turned card lies at the bottom"
        self.drawn[seat].remove(left[0])
        return left[0]


def move_of(state, action: int, table: Table):
    """An action of cardai's in the oracle's words."""
    defends = table.turn == table.defender
    if action == no_card(state):
        return TAKE if defends else ("pass", None)
    card = next(iter(cards_of(state, 1 << action)))
    first = table.pairs[0][0] if table.pairs else None
    if not defends or first is None:
        return ("attack", card)
    if card == showing(state, table):
        return ("show", Card(first.rank, table.trump))
    if card == first:  # the number of the transfer with the trump of the rank
        return ("transfer", Card(card.rank, table.trump))
    return ("transfer" if ("transfer", card) in table.transferring() and card.suit != table.trump else "beat", card)


def showing(state, table: Table) -> Card | None:
    """The card whose number shows the trump of the rank: RULES.md, Moves."""
    if not table.showing():
        return None
    first = table.pairs[0][0]
    lowest = min(LOWEST[36], LOWEST[deck_of(state)])
    suit = next(suit for suit in "CDHS" if suit not in (first.suit, table.trump))
    return Card(first.rank - 1 if first.rank > lowest else lowest + 1, suit)


def bits(seats: Iterable[int]) -> int:
    """A set of seats as a number."""
    return sum(1 << seat for seat in seats)


def compare(game, state, table: Table) -> None:
    """Assert that both implementations agree on a position, its legal moves and its scores."""
    seats = len(table.hands)
    assert (-1 if table.turn is None else table.turn) == state.turn
    assert table.hands == [cards_of(state, hand) for hand in state.hands[:seats]]
    assert table.known == [cards_of(state, known) for known in state.known[:seats]]
    assert table.discards == cards_of(state, state.discards)
    assert set(table.deck) == cards_of(state, state.stock | state.bottom)
    assert bits(table.players()) == state.playing
    assert {pair[0] for pair in table.pairs} == cards_of(state, state.attacks)
    assert {pair[1] for pair in table.pairs if len(pair) == 2} == cards_of(state, state.beats)
    assert {move_of(state, int(move["card"]), table) for move in game.moves(state)} == table.legal_moves()
    if table.turn is None:
        assert table.scores == game.points(state).tolist()
    else:
        assert set(table.unbeaten()) == cards_of(state, state.unbeaten)
        assert (table.first_attacker, table.defender, table.taking) == (state.attacker, state.defender, state.taking)


def compare_deal(game, state, variant: str) -> None:
    """1: hands are full, none has too many cards of a suit, and the right seat attacks first."""
    hands, options = [cards_of(state, hand) for hand in state.hands[: state.seats]], game.variant_options(variant)
    full = 4 if options.get("cards") == 24 and state.seats > 4 else 6
    assert all(len(hand) == full for hand in hands)
    assert int(state.turn) in first_attackers(hands, "CDHS"[state.trump])
    limit = options["suit_limit"]
    assert not any(sum(card.suit == suit for card in hand) > limit for hand in hands for suit in "CDHS")
    if options["turn_up"]:
        assert "CDHS"[state.trump] == "CDHS"[state.trump_card % 4]


def compare_games(game, variant: str, seats: int, positions: int) -> int:
    """Compare `positions` positions of games with random moves. Returns the number of games that ended."""
    positions *= 2 if game is WHOLE else 1
    rnd, seed, ended = random.Random(f"{game.name} {variant} {seats}"), 0, 0
    while positions > 0:
        state = game.new(seats, seed, variant)
        compare_deal(game, state, variant)
        table = Mirror(state, seats)
        compare(game, state, table)
        seed, positions = seed + 1, positions - 1
        while state.turn >= 0 and positions > 0:
            legal = game.moves(state)
            move = legal[rnd.randrange(len(legal))]
            if (
                move["card"] == legal["card"].max() and len(legal) > 1 and seed % 2
            ):  # games that are not all taking and passing
                move = legal[rnd.randrange(len(legal))]
            state = game.play(state, move)
            table.follow(move_of(state, int(move["card"]), table), state)
            compare(game, state, table)
            positions -= 1
        ended += table.turn is None
    return ended


@pytest.mark.parametrize(("game", "variant", "seats"), TABLES)
def test_random_games_agree_with_the_oracle_in_every_position(game, variant, seats):
    assert compare_games(game, variant, seats, QUICK) > 0


@pytest.mark.slow
@pytest.mark.parametrize(("game", "variant", "seats"), TABLES)
def test_random_games_agree_with_the_oracle_in_100_000_positions(game, variant, seats):
    assert compare_games(game, variant, seats, MANY) > 20
