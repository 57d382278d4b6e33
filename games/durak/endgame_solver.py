"""Durak's own solver of open positions (`Agents.solver`): two seats left and no deck (RULES.md, 5.3).

It visits fewer positions than the solver for any game, and takes less time for each, since it knows the rules: on 315
endings of random games 3.5 times less. Within a million positions each it solves 288 of them, the other one 242.

Alpha-beta search with a table of positions. It ends because no position occurs twice. Within a bout every attack and
every beat puts a card on the table, and a pass or a take ends the bout or the beating. A beaten bout takes at least two
cards out of the game. A bout that is taken takes none out, but then the same seat attacks again, with at least one card
less. So the pair (cards in the game, cards of the attacker) falls from bout to bout.
"""

import functools

import numpy as np

from cardai.errors import whole
from cardai.game import Game
from cardai.playing.agents.endgame import NODES, EndingSolver, SolvedEnding, open_only
from cardai.rules import hashed, mixed, rule
from cardai.rules.cards import beaters, count, has, lowest, ranks_of, single, weakest

from .rules import ACTIONS, BOUT, NO_CARD, NONE, WHOLE_DECK

TABLE = 1 << 21  # entries of the table of positions, 40 bytes each

LOSS, DRAW, WIN, OPEN = -1, 0, 1, 2  # for the seat to move; OPEN: not known yet

_TRUMP = 3  # suits are renamed so that this one is trump
_TRUMPS = 0x888888888
_SUIT = 0x111111111  # the cards of suit 0
_DEEPEST = 1500  # no line of play is longer: at most 4 moves in a bout for each card still in the game
_SALT = 0xDEC4  # so that equal words of a key do not cancel in its hash
_WAYS = 4  # table entries in which a position may be stored
_UNSOLVED = -1.0  # in place of a score: the limit of nodes was reached

NODE = np.dtype(
    (
        np.record,
        [
            (name, "i8")
            for name in (
                "attacker",  # the hand of the seat that attacks
                "defender",
                "bout",  # all cards on the table, beaten or not
                "attack",  # the card to beat; after a take the card added last; or NONE
                "room",  # how many attack cards the bout may still have
                "taking",  # 1 once the defender takes
                "adds",  # option add_after_take
                "turned",  # 1 if the other seat made the move that led here
                "alpha",
                "beta",
                "floor",  # alpha when the search arrived here
                "best",  # the best value of the moves tried so far
                "cards",  # moves not tried yet: cards to play
                "other",  # 1 while pass or take has not been tried
                "began",  # nodes visited before this one
                "place",  # the first table entry in which it may be stored
            )
        ],
    )
)
"""A position between two seats, and the state of the search in it. Values are those for the seat to move."""

ENTRY = np.dtype((np.record, [(name, "i8") for name in ("first", "second", "low", "high", "work")]))
"""What the table stores of a position: its key (`first`, `second`), bounds of its value, and the nodes they took."""


# The rules for two seats without a deck. `tests/test_durak_endgame.py` compares them with the game's own rules.


@rule
def defends(node):
    """Whether the defender is to move."""
    return node.attack != NONE and node.taking == 0


@rule
def list_moves(node):
    """Set `cards` and `other`.

    After a take the attacker adds cards in ascending order only, because any other order leads to the same position.
    """
    node.other = 1
    if defends(node):
        node.cards = node.defender & beaters(node.attack, _TRUMP)
    elif node.bout == 0:
        node.cards = node.attacker
        node.other = 0
    else:
        node.cards = node.attacker & ranks_of(node.bout)
        if node.attack != NONE:
            node.cards &= ~(2 * single(node.attack) - 1)


@rule
def follow(node, card, child):
    """Play a card, or pass or take (NONE).

    If that ends the game, returns the value for the seat that moved. Otherwise fills `child` with the next position and
    returns OPEN.
    """
    by_defender = defends(node)
    child.attacker = node.attacker
    child.defender = node.defender
    child.bout = node.bout
    child.attack = NONE
    child.room = node.room
    child.taking = node.taking
    child.adds = node.adds
    if card != NONE:
        child.bout |= single(card)
        if by_defender:
            child.defender &= ~single(card)
        else:
            child.attacker &= ~single(card)
            child.attack = card
            child.room -= 1
    elif by_defender:
        child.taking = 1
    if is_over(child, card == NONE and not by_defender):
        value = end_bout(child, by_defender)
        return -value if by_defender and value != OPEN else value
    child.turned = by_defender != defends(child)
    return OPEN


@rule
def is_over(node, passed):
    """2.4: whether the bout is over. An attacker without a fitting card passes, so this needs no decision."""
    if defends(node):
        return False
    if node.taking != 0 and node.adds == 0:
        return True
    return passed or node.room == 0 or node.defender == 0 or node.attacker & ranks_of(node.bout) == 0


@rule
def end_bout(node, by_defender):
    """2.5, 3.2, 3.3: return the attacker's value if the game is over. Otherwise begin a bout and return OPEN."""
    if node.taking != 0:
        if node.attacker == 0:
            return WIN
        begin_bout(node, node.attacker, node.defender | node.bout)
        node.turned = by_defender
        return OPEN
    if node.attacker == 0 or node.defender == 0:
        return DRAW if node.attacker == node.defender else WIN if node.attacker == 0 else LOSS
    begin_bout(node, node.defender, node.attacker)
    node.turned = not by_defender
    return OPEN


@rule
def begin_bout(node, attacker, defender):
    """Set up the beginning of a bout between two hands, in the normal form of `normalise`."""
    normalise(node, attacker, defender)
    node.bout = 0
    node.attack = NONE
    node.taking = 0
    node.room = min(BOUT, count(defender))  # 2.3


@rule
def normalise(node, attacker, defender):
    """Set both hands in normal form, so that positions that are played alike become equal.

    Ranks that have left the game are closed up, and the three plain suits are sorted.
    """
    attacking, defending, place, rest = 0, 0, 0, attacker | defender
    while rest != 0:
        first = lowest(rest) & ~3
        attacking |= ((attacker >> first) & 15) << place
        defending |= ((defender >> first) & 15) << place
        rest &= ~(15 << first)
        place += 4
    a = suit_of_both(attacking, defending, 0)
    b = suit_of_both(attacking, defending, 1)
    c = suit_of_both(attacking, defending, 2)
    low, high = min(a, b, c), max(a, b, c)
    middle = a ^ b ^ c ^ low ^ high
    node.attacker = (attacking & _TRUMPS) | (low & _SUIT) | (middle & _SUIT) << 1 | (high & _SUIT) << 2
    low, middle, high = low >> 1, middle >> 1, high >> 1
    node.defender = (defending & _TRUMPS) | (low & _SUIT) | (middle & _SUIT) << 1 | (high & _SUIT) << 2


@rule
def suit_of_both(attacking, defending, suit):
    """A suit's cards in both hands as one number: bit 4 * rank for the attacker, the bit after it for the defender."""
    return ((attacking >> suit) & _SUIT) | ((defending >> suit) & _SUIT) << 1


# Search


@rule
def wins_at_once(node):
    """Whether the attacker, at the beginning of a bout, surely wins by attacking with one card after another.

    This holds if the defender can beat at most one of the attacker's cards. The attacker plays that one last, and the
    others before it: each suit upwards, trumps last. The defender must take all of these, and no card taken beats a
    card that follows. The attacker's last card ends the game, whether it is beaten or not. It would be a draw if the
    defender beat it with an only card; but a defender who has taken a card holds at least two.
    """
    if node.attacker & (node.attacker - 1) == 0 and node.defender & (node.defender - 1) == 0:
        return node.defender & beaters(lowest(node.attacker), _TRUMP) == 0
    rest, beatable = node.attacker, 0
    while rest != 0 and beatable < 2:
        beatable += node.defender & beaters(lowest(rest), _TRUMP) != 0
        rest &= rest - 1
    return beatable < 2


@rule
def next_move(node):
    """Remove the next move from the list and return it: the weakest card, or NONE (pass or take) after all cards."""
    if node.cards == 0:
        node.other = 0
        return NONE
    card = weakest(node.cards, _TRUMP)
    node.cards &= ~single(card)
    return card


@rule
def first_word(node):
    """The first half of a position's key in the table: 62 bits."""
    return node.attacker | (node.defender & 0x3FFFFFF) << 36


@rule
def second_word(node):
    """The second half of the key: 57 bits. Never 0 while the game goes on, as there is room or a card on the table."""
    flags = node.attack + 1 | node.room << 6 | node.taking << 9 | node.adds << 10
    return node.defender >> 26 | node.bout << 10 | flags << 46


@rule
def recall(node, table):
    """Look a position up in the table, and narrow `node.alpha` and `node.beta` to the bounds stored there.

    `table`: ENTRY[...], the bounds of positions searched before, by a hash of the position. Returns the value for the
    seat to move (LOSS, DRAW or WIN), or a bound of it beyond alpha or beta, if that settles the node. Otherwise returns
    OPEN, which means not known yet. Changes `node` in place, `place` included.
    """
    first, second = first_word(node), second_word(node)
    node.place = hashed(mixed(mixed(first) ^ mixed(second ^ _SALT)), len(table) // _WAYS) * _WAYS
    for way in range(node.place, node.place + _WAYS):
        entry = table[way]
        if entry.first == first and entry.second == second:
            if entry.low >= node.beta or entry.low == entry.high:
                return entry.low
            if entry.high <= node.alpha:
                return entry.high
            node.alpha = max(node.alpha, entry.low)
            node.beta = min(node.beta, entry.high)
            return OPEN
    return OPEN


@rule
def remember(node, table, work):
    """Store what the search found in a node. A new position replaces the entry, of its four, that took least work."""
    first, second = first_word(node), second_word(node)
    place, low, high = node.place, LOSS, WIN
    for way in range(node.place, node.place + _WAYS):
        if table[way].first == first and table[way].second == second:
            place, low, high = way, table[way].low, table[way].high
            break
        if table[way].work < table[place].work:
            place = way
    entry = table[place]
    entry.first = first
    entry.second = second
    entry.low = max(low, node.best) if node.best > node.floor else low
    entry.high = min(high, node.best) if node.best < node.beta else high
    entry.work = work


@rule
def arrive(node, table, visited):
    """Prepare a node for the search. Returns its value if it is known without a search, otherwise OPEN."""
    node.began = visited
    node.best = LOSS - 1
    if node.bout == 0 and wins_at_once(node):
        return WIN
    value = recall(node, table)
    node.floor = node.alpha
    list_moves(node)
    return value


@rule
def search(nodes, table, limit):
    """Find the value of the position in nodes[0] by alpha-beta search.

    `nodes`: NODE[_DEEPEST + 1], the positions of the line being searched, by depth. `table`: ENTRY[...], the table of
    positions, see `recall`. Both are changed in place. Returns the value for the seat to move in nodes[0] (LOSS, DRAW
    or WIN), or OPEN if the search reached `limit` nodes before it was done, and the number of nodes visited.
    """
    depth, visited = 0, 1
    nodes[0].alpha = LOSS
    nodes[0].beta = WIN
    value = arrive(nodes[0], table, visited)
    while True:
        node = nodes[depth]
        if value == OPEN and (node.best >= node.beta or (node.cards == 0 and node.other == 0)):
            value = node.best
            remember(node, table, visited - node.began)
        if value != OPEN:
            if depth == 0:
                return value, visited
            if node.turned:
                value = -value
            depth -= 1
        elif visited >= limit:
            return OPEN, visited
        else:
            child = nodes[depth + 1]
            value = follow(node, next_move(node), child)
            if value == OPEN:
                child.alpha = -node.beta if child.turned else node.alpha
                child.beta = -node.alpha if child.turned else node.beta
                depth += 1
                visited += 1
                value = arrive(child, table, visited)
                continue
        node = nodes[depth]
        node.best = max(node.best, value)
        node.alpha = max(node.alpha, value)
        value = OPEN


# From the game's states


@rule
def trump_last(cards, trump):
    """A set of cards with the trump suit and suit 3 (`_TRUMP`) exchanged."""
    if trump == _TRUMP:
        return cards
    trumps, last_suit = cards >> trump & _SUIT, cards >> _TRUMP & _SUIT
    return (cards & ~((_SUIT << trump) | _TRUMPS)) | trumps << _TRUMP | last_suit << trump


@rule
def set_up(node, state):
    """Fill `node` with the position of an ending."""
    node.attacker = trump_last(state.hands[state.attacker], state.trump)
    node.defender = trump_last(state.hands[state.defender], state.trump)
    node.bout = trump_last(state.attacks | state.beats, state.trump)
    node.taking = state.taking
    node.attack = NONE
    if state.unbeaten != 0 and state.taking == 0:
        node.attack = lowest(trump_last(state.unbeaten, state.trump))
    node.room = state.limit - count(state.attacks)
    node.adds = state.add_after_take


@rule
def solve_each(states, total, scores, visited, nodes, table, limit):
    """Score every legal action of each ending.

    states: STATE[total], endings. scores: f8[total, ACTIONS], NaN before; filled for the legal actions, with _UNSOLVED
    where the limit was reached. visited: i64[total], filled with the nodes visited for each ending. nodes:
    NODE[_DEEPEST + 1], working space. limit: nodes that may be visited for one ending.
    """
    root = nodes[_DEEPEST]
    for i in range(total):
        trump = states[i].trump
        set_up(root, states[i])
        list_moves(root)
        cards, other = root.cards, root.other
        visited[i] = 0
        for action in range(ACTIONS):
            card = lowest(trump_last(single(action), trump)) if action != NO_CARD else NONE
            if (card == NONE and other != 0) or (card != NONE and has(cards, card)):
                value, took = value_of(root, card, nodes, table, limit - visited[i])
                visited[i] += took
                scores[i, action] = _UNSOLVED if value == OPEN else 0.5 * (value + 1)


@rule
def value_of(root, card, nodes, table, limit):
    """Play a card, or pass or take (NONE), in `root` and search the position after it.

    Returns the move's value for the seat that makes it (LOSS, DRAW or WIN), or OPEN if the search reached `limit`
    nodes, and the number of nodes visited. `nodes` and `table`: see `search`.
    """
    value, took = follow(root, card, nodes[0]), 0
    if value == OPEN:
        by_other = nodes[0].turned
        value, took = search(nodes, table, limit)
        if value != OPEN and by_other:
            value = -value
    return value, took


def is_known(states: np.ndarray) -> np.ndarray:
    """Which of STATE[N] have only what this search knows: at most 36 cards, no bouts of five (2.3), no transfers (2.6).

    bool[N].
    """
    return np.asarray((states["cards"] != WHOLE_DECK) & (states["fives"] == 0) & (states["transfer"] == 0))


class DurakSolver:
    """Solves open positions of Durak, and remembers positions from one to the next.

    Positions with rules that this search does not know (`is_known`) are left to the solver for any game.
    nodes: the most positions that are visited for one of them. table: entries of the table of positions, rounded down
    to a multiple of four.
    """

    def __init__(self, game: Game, nodes: int = NODES, table: int = TABLE) -> None:
        self.game, self.nodes = game, whole("nodes", nodes, 1)
        self._table, self._line = np.zeros(table // _WAYS * _WAYS, ENTRY), np.zeros(_DEEPEST + 1, NODE)

    def solve(self, states: np.ndarray) -> list[SolvedEnding]:
        """Solve STATE[N]. Raises CardaiError if one is not an open position with a seat to move."""
        states, known = open_only(self.game, states), is_known(states)
        scores, visited = self._scores(states[known])
        moves = [self.game.moves(state) for state in states[known]]
        own = (
            SolvedEnding(legal, row[legal["card"]], int(nodes))
            for legal, row, nodes in zip(moves, scores, visited, strict=True)
        )
        others = iter([] if known.all() else self._for_any.solve(states[~known]))
        return [next(own if knows else others) for knows in known]

    def mend(self, states: np.ndarray, moves: np.ndarray) -> np.ndarray:
        """Replace moves that give score away by the first best ones, in place.

        states: STATE[N], open positions. moves: MOVE[N], one for each. Returns the number of positions visited, i64[N].
        """
        states, visited = open_only(self.game, states), np.zeros(len(states), np.int64)
        own, others = np.flatnonzero(is_known(states)), np.flatnonzero(~is_known(states))
        scores, visited[own] = self._scores(states[own])
        best = np.fmax.reduce(scores, axis=1)  # NaN where no score is known
        for i in np.flatnonzero(scores[np.arange(len(own)), moves["card"][own]] < best):
            moves["card"][own[i]] = np.nanargmax(scores[i])
        if len(others):
            mended = moves[others]
            visited[others] = self._for_any.mend(states[others], mended)
            moves[others] = mended
        return visited

    @functools.cached_property
    def _for_any(self) -> EndingSolver:
        return EndingSolver(self.game, self.nodes)

    def _scores(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The scores of the legal actions, f8[N, ACTIONS], otherwise NaN; the number of positions visited, i64[N]."""
        scores, visited = np.full((len(states), ACTIONS), np.nan), np.zeros(len(states), np.int64)
        solve_each(states, len(states), scores, visited, self._line, self._table, self.nodes)
        scores[(scores == _UNSOLVED).any(axis=1)] = np.nan
        return scores, visited
