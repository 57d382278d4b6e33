"""Durak from its rules, as naively as it can be written: lists, sets, named cards; nothing shared with cardai.

    table = Table(hands, deck, trump="S", first=0, throws_in_after_take=True)
    while table.turn is not None:
        table.play(min(table.legal_moves()))
    print(table.scores)

A card is `Card(rank, suit)`, rank 2 to 14 (ace), suit "C", "D", "H" or "S". A move is a pair: ("attack", card),
("beat", card), ("transfer", card), ("show", card), ("pass", None) or ("take", None). Numbers in comments are those of
Durak's RULES.md.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

HAND = 6  # 1.1, 3.1
SUITS = "CDHS"
MOST_ATTACKS, AT_FIRST = 6, 5  # 2.3


class Card(NamedTuple):
    """A playing card: rank 2 to 14, suit a letter of CDHS."""

    rank: int
    suit: str


Move = tuple[str, Card | None]
LOWEST = {24: 9, 36: 6, 52: 2}  # 1.1: the lowest rank of a deck, by its cards
PACKS = {
    cards: frozenset(Card(rank, suit) for rank in range(lowest, 15) for suit in "CDHS")
    for cards, lowest in LOWEST.items()
}
TAKE: Move = ("take", None)
PASS: Move = ("pass", None)


def beats(card: Card, attack: Card, trump: str) -> bool:
    """2.1: whether `card` beats `attack`: as a higher card of its suit, or as a trump on a plain card."""
    if card.suit == attack.suit:
        return card.rank > attack.rank
    return card.suit == trump


def first_attackers(hands: Iterable[Iterable[Card]], trump: str) -> set[int]:
    """1.3: the seats that may attack first: the holder of the lowest trump; anybody if there is no trump."""
    trumps = [{card for card in hand if card.suit == trump} for hand in hands]
    lowest = min(set().union(*trumps), default=None)
    return {seat for seat, held in enumerate(trumps) if lowest is None or lowest in held}


class Table:
    """A game in progress.

    `hands`: the cards dealt to each seat; `deck`: the rest, the next card to be drawn first; `shown`: the turned card
    of 1.2, None where no card is turned. `throws_in_after_take` tells the presets apart (2.4). `five`: "", or where a
    bout has at most five attack cards (2.3): "first bout", or "until a discard". `full`: cards in a full hand.
    `transfers`: whether a defender may transfer the attack (2.6); `shows`: also by showing the trump (2.7).
    """

    def __init__(
        self,
        hands: Iterable[Iterable[Card]],
        deck: Iterable[Card],
        trump: str,
        first: int,
        throws_in_after_take: bool,
        shown: Card | None = None,
        five: str = "",
        full: int = HAND,
        transfers: bool = False,
        shows: bool = False,
    ) -> None:
        self.hands = [set(hand) for hand in hands]
        self.deck = list(deck)
        self.trump = trump
        self.shown = shown
        self.throws_in_after_take = throws_in_after_take
        self.five = five
        self.full = full
        self.transfers = transfers
        self.shows = shows
        self.bouts_over = 0
        self.discards: set[Card] = set()
        lowest = min((card for card in set().union(*self.hands) if card.suit == trump), default=None)
        self.known = [hand & {shown, lowest} for hand in self.hands]  # 1.2, 1.3: both were shown
        self.playing = [True] * len(self.hands)
        self.scores: list[Fraction] | None = None
        self.begin_bout(first)

    # A bout

    def begin_bout(self, attacker: int) -> None:
        """2: `attacker` must attack the next player on the left."""
        self.first_attacker = attacker
        self.defender = self.next_player(attacker)
        self.right = attacker  # who may add a card
        self.passed: set[int] = set()
        self.pairs: list[list[Card]] = []  # [attack], or [attack, the card that beat it]
        self.taking = False
        self.has_shown = False
        self.most = min(self.most_in_bout(), len(self.hands[self.defender]))  # 2.3
        self.turn: int | None = attacker

    def most_in_bout(self) -> int:
        """2.3: how many attack cards any bout may have now."""
        is_early = {"": False, "first bout": self.bouts_over == 0, "until a discard": not self.discards}
        return AT_FIRST if is_early[self.five] else MOST_ATTACKS

    def next_player(self, seat: int) -> int:
        """The next seat clockwise that is still in the game."""
        following = (seat + 1) % len(self.hands)
        while not self.playing[following]:
            following = (following + 1) % len(self.hands)
        return following

    def on_table(self) -> list[Card]:
        """All cards of the bout."""
        return [card for pair in self.pairs for card in pair]

    def unbeaten(self) -> list[Card]:
        """The attack cards that no card lies on."""
        return [pair[0] for pair in self.pairs if len(pair) == 1]

    def legal_moves(self) -> set[Move]:
        """What the seat to move may do; nothing when the game is over."""
        if self.turn is None:
            return set()
        hand = self.hands[self.turn]
        if self.turn == self.defender:
            attack = self.unbeaten()[0]
            beating: set[Move] = {("beat", card) for card in hand if beats(card, attack, self.trump)}  # 2.1
            return {TAKE} | beating | self.transferring() | self.showing()
        if not self.pairs:
            return {("attack", card) for card in hand}  # 2.1
        ranks = {card.rank for card in self.on_table()}
        return {PASS} | {("attack", card) for card in hand if card.rank in ranks}  # 2.2

    def may_transfer(self) -> bool:
        """2.6: whether a card of the rank would transfer the attack."""
        if not self.transfers or not self.pairs or self.taking or any(len(pair) == 2 for pair in self.pairs):
            return False
        return min(len(self.hands[self.next_player(self.defender)]), self.most_in_bout()) >= len(self.pairs) + 1

    def transferring(self) -> set[Move]:
        """2.6: the cards with which the defender may transfer the attack."""
        if not self.may_transfer():
            return set()
        rank = self.pairs[0][0].rank
        return {("transfer", card) for card in self.hands[self.defender] if card.rank == rank}

    def showing(self) -> set[Move]:
        """2.7: the trump that the defender may show."""
        if not self.shows or self.has_shown or self.taking or any(len(pair) == 2 for pair in self.pairs):
            return set()
        if len(self.hands[self.next_player(self.defender)]) < len(self.pairs):
            return set()
        trump = Card(self.pairs[0][0].rank, self.trump)
        return {("show", trump)} & {("show", card) for card in self.hands[self.defender]}

    def play(self, move: Move) -> None:
        """Play a legal move and all that follows without a decision."""
        assert move in self.legal_moves(), (move, self.legal_moves())
        assert self.turn is not None
        what, card = move
        if what == "show":
            assert card is not None
            self.known[self.turn].add(card)
            self.has_shown = True
            self.transfer()
        elif card is not None:
            self.hands[self.turn].remove(card)
            self.known[self.turn].discard(card)
        if what == "attack":
            assert card is not None
            self.pairs.append([card])
            self.passed = set()  # 2.2
        elif what == "beat":
            assert card is not None
            next(pair for pair in self.pairs if len(pair) == 1).append(card)
        elif what == "transfer":
            assert card is not None
            self.pairs.append([card])
            self.pairs.sort(key=lambda pair: SUITS.index(pair[0].suit))  # 2.6: they are beaten in this order
            self.transfer()
        elif what == "take":
            self.taking = True
        elif what == "pass":
            self.passed.add(self.turn)
            self.right = self.next_attacker(self.turn)  # 2.2
        self.go_on()

    def transfer(self) -> None:
        """2.6: the defender becomes the attacker, the next player the defender."""
        assert self.turn is not None
        self.first_attacker = self.right = self.turn
        self.defender = self.next_player(self.turn)
        self.most = min(self.most_in_bout(), len(self.hands[self.defender]))

    def next_attacker(self, seat: int) -> int:
        """The next player clockwise who does not defend."""
        following = self.next_player(seat)
        return self.next_player(following) if following == self.defender else following

    def attackers(self) -> list[int]:
        """The first attacker and then the other players clockwise, but the defender."""
        seats, seat = [self.first_attacker], self.next_player(self.first_attacker)
        while seat != self.first_attacker:
            if seat != self.defender:
                seats.append(seat)
            seat = self.next_player(seat)
        return seats

    def go_on(self) -> None:
        """2.4: end the bout, or find who decides next."""
        if self.unbeaten() and not self.taking:
            self.turn = self.defender
            return
        if self.bout_is_over():
            self.end_bout()
        else:
            while not self.hands[self.right]:  # nothing to decide without a card
                self.passed.add(self.right)
                self.right = self.next_attacker(self.right)
            self.turn = self.right

    def bout_is_over(self) -> bool:
        """2.4: whether no card can or will be added."""
        if self.taking and not self.throws_in_after_take:
            return True
        if len(self.pairs) == self.most:
            return True
        if not self.taking and not self.hands[self.defender]:
            return True
        return all(seat in self.passed or not self.hands[seat] for seat in self.attackers())

    def end_bout(self) -> None:
        """2.5, 3: the cards of the bout go where they belong, hands are filled up, players leave."""
        cards = self.on_table()
        self.bouts_over += 1
        if self.taking:
            self.hands[self.defender] |= set(cards)
            self.known[self.defender] |= set(cards)  # 2.5
        else:
            self.discards |= set(cards)  # 2.5
        for seat in [*self.attackers(), self.defender]:  # 3.1
            self.fill_up(seat)
        leaving = [seat for seat in self.players() if not self.hands[seat] and not self.deck]  # 3.2
        for seat in leaving:
            self.playing[seat] = False
        if len(self.players()) == 2 and not self.deck:  # 5.3
            self.known = [set(hand) for hand in self.hands]
        if len(self.players()) > 1:
            attacks = self.defender if not self.taking else self.next_player(self.defender)  # 3.3
            self.begin_bout(attacks if self.playing[attacks] else self.next_player(attacks))
        else:
            self.end_game(leaving)

    def players(self) -> list[int]:
        """The seats still in the game."""
        return [seat for seat in range(len(self.hands)) if self.playing[seat]]

    def fill_up(self, seat: int) -> None:
        """3.1: draw up to a full hand, while there are any. The turned card is seen when it is drawn (1.2)."""
        while len(self.hands[seat]) < self.full and self.deck:
            card = self.next_card(seat)
            self.deck.remove(card)
            self.hands[seat].add(card)
            if card == self.shown:
                self.known[seat].add(card)

    def next_card(self, seat: int) -> Card:
        """The card that `seat` is about to draw."""
        return self.deck[0]

    def end_game(self, leaving: list[int]) -> None:
        """4.1: the player who still has cards is the durak; if nobody has, the players who left last share."""
        self.pairs, self.turn = [], None
        self.scores = [Fraction(1)] * len(self.hands)
        durak = self.players()
        for seat in durak or leaving:
            self.scores[seat] = Fraction(0) if durak else Fraction(1, 2)
