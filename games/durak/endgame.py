"""Perfect play once the deck is empty and two are left: then both can count what the other holds (5.3).

    values = solve(game, state)  # each legal move's score under perfect play, f8[n]: 0, 1/2 or 1
    graded = grade_endgames(game, ["defensive", "aggressive"], games=1000)
    print(graded["defensive"].optimal)

Alpha-beta with a table of positions settles an ending, because positions never repeat. Within a bout every attack and
every beat puts a card on the table, and a pass or a take ends the bout or the beating. A beaten bout takes at least two
cards out of the game. A bout that is taken leaves their number as it was, but then the same seat attacks again, with at
least one card less. So the pair (cards in the game, cards of the attacker) falls from bout to bout.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from cardai.agents.spec import Agent, agent
from cardai.cards import count, has, lowest, ranks_of, single, suit, suit_cards
from cardai.errors import CardaiError
from cardai.game import Game, GameState
from cardai.kernel import driver
from cardai.kernel.driver import lend
from cardai.kernel.native import at, begin_ply, copy, raw
from cardai.rule import hashed, mixed, rule
from cardai.stats import interval
from cardai.stats.deals import deal_seeds, rotations
from cardai.stats.interval import Estimate
from cardai.table.asking import moves_in
from cardai.table.many import play

from .rules import ACTIONS, BOUT, NO_CARD, NONE, act, choices, settle

LIMIT = 20_000_000  # nodes that a position may take, about two seconds
AGENT_LIMIT = 300_000  # the same for a player, who has no time
TABLE = 1 << 21  # positions remembered, 40 bytes each

LOSS, DRAW, WIN, OPEN = -1, 0, 1, 2  # for the seat to move; OPEN: not settled

_TRUMP = 3  # positions are turned so that this suit is trump
_TRUMPS = 0x888888888
_SUIT = 0x111111111  # the first suit's cards
_DEEPEST = 1500  # no way to the end is longer: 4 moves for each card still in the game, from bout to bout
_SALT = 0xDEC4  # keeps the words of a key from cancelling each other
_WAYS = 4  # places of the table where a position may lie
_UNSOLVED = -1.0

NODE = np.dtype(
    (
        np.record,
        [
            (name, "i8")
            for name in (
                "attacker",  # the hand of the seat that attacks
                "defender",
                "bout",  # all cards on the table
                "attack",  # the card to beat; after a take the card added last; or NONE
                "room",  # how many attack cards the bout may still have
                "taking",  # 1 once the defender takes
                "adds",  # option add_after_take
                "turned",  # 1 if the other seat made the move that led here
                "alpha",
                "beta",
                "floor",  # alpha when the search came here
                "best",
                "cards",  # moves not tried yet: cards to play
                "other",  # 1 while pass or take has not been tried
                "began",  # nodes visited before
                "place",  # where the table may have it
            )
        ],
    )
)
"""A position between two, and how far the search is with it."""

ENTRY = np.dtype((np.record, [(name, "i8") for name in ("one", "two", "low", "high", "work")]))
"""What is remembered of a position: its value is in [low, high], which took `work` nodes to find."""


# The rules for two without a deck. `tests/test_durak_endgame.py` holds them equal to those of the game.


@rule
def defends(node):
    """Whether the defender is to move."""
    return node.attack != NONE and node.taking == 0


@rule
def beaters(card, hand):
    """The cards of a hand that beat a card (2.1)."""
    higher = hand & suit_cards(suit(card)) & ~(2 * single(card) - 1)
    return higher if suit(card) == _TRUMP else higher | (hand & _TRUMPS)


@rule
def list_moves(node):
    """Set `cards` and `other`. After a take cards are added in ascending order: any other leads to the same."""
    node.other = 1
    if defends(node):
        node.cards = beaters(node.attack, node.defender)
    elif node.bout == 0:
        node.cards = node.attacker
        node.other = 0
    else:
        node.cards = node.attacker & ranks_of(node.bout)
        if node.attack != NONE:
            node.cards &= ~(2 * single(node.attack) - 1)


@rule
def follow(node, card, child):
    """Play a card, or pass or take (NONE): the mover's value if that ends the game, else OPEN and `child` is next."""
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
    """2.4: whether no card can or will be added. Who has no fitting card passes."""
    if defends(node):
        return False
    if node.taking != 0 and node.adds == 0:
        return True
    return passed or node.room == 0 or node.defender == 0 or node.attacker & ranks_of(node.bout) == 0


@rule
def end_bout(node, by_defender):
    """2.5, 3.2, 3.3: the attacker's value if the game is over, else OPEN and the next bout begins."""
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
    """Two hands at the beginning of a bout, as `plain_form` has them."""
    plain_form(node, attacker, defender)
    node.bout = 0
    node.attack = NONE
    node.taking = 0
    node.room = min(BOUT, count(defender))  # 2.3


@rule
def plain_form(node, attacker, defender):
    """Move ranks together where one has left the game, and sort the suits but trump: all that is played the same
    then looks the same.
    """
    one, other, place, rest = 0, 0, 0, attacker | defender
    while rest != 0:
        first = lowest(rest) & ~3
        one |= ((attacker >> first) & 15) << place
        other |= ((defender >> first) & 15) << place
        rest &= ~(15 << first)
        place += 4
    a, b, c = suit_of_both(one, other, 0), suit_of_both(one, other, 1), suit_of_both(one, other, 2)
    low, high = min(a, b, c), max(a, b, c)
    middle = a ^ b ^ c ^ low ^ high
    node.attacker = (one & _TRUMPS) | (low & _SUIT) | (middle & _SUIT) << 1 | (high & _SUIT) << 2
    low, middle, high = low >> 1, middle >> 1, high >> 1
    node.defender = (other & _TRUMPS) | (low & _SUIT) | (middle & _SUIT) << 1 | (high & _SUIT) << 2


@rule
def suit_of_both(one, other, suit):
    """A suit's cards in two hands as one number: bit 4 * rank for the first, the bit after it for the other."""
    return ((one >> suit) & _SUIT) | ((other >> suit) & _SUIT) << 1


# Search


@rule
def wins_at_once(node):
    """Whether the attacker wins, at the beginning of a bout, because he gets rid of his cards one by one.

    He does if the defender can beat at most one of them. He plays the others first, each suit upwards, trumps last:
    every one is taken, and what was taken beats none that follows. The last card ends the game for him, beaten or not;
    beaten by the only card of the other it would be a draw, but who has taken one has two.
    """
    if node.attacker & (node.attacker - 1) == 0 and node.defender & (node.defender - 1) == 0:
        return beaters(lowest(node.attacker), node.defender) == 0
    rest, beatable = node.attacker, 0
    while rest != 0 and beatable < 2:
        beatable += beaters(lowest(rest), node.defender) != 0
        rest &= rest - 1
    return beatable < 2


@rule
def next_move(node):
    """Strike the move to be tried next from the list: the weakest card, in the end NONE (pass or take)."""
    if node.cards == 0:
        node.other = 0
        return NONE
    plain = node.cards & ~_TRUMPS
    card = lowest(plain if plain != 0 else node.cards)
    node.cards &= ~single(card)
    return card


@rule
def first_word(node):
    """Half of what tells a position from others: 62 bits."""
    return node.attacker | (node.defender & 0x3FFFFFF) << 36


@rule
def second_word(node):
    """The other half: 57 bits; never 0 in a game that goes on, since there is room or a card lies on the table."""
    flags = node.attack + 1 | node.room << 6 | node.taking << 9 | node.adds << 10
    return node.defender >> 26 | node.bout << 10 | flags << 46


@rule
def recall(node, table):
    """Narrow alpha and beta to what is remembered; the value if that settles the node, else OPEN."""
    one, two = first_word(node), second_word(node)
    node.place = hashed(mixed(mixed(one) ^ mixed(two ^ _SALT)), len(table) // _WAYS) * _WAYS
    for way in range(node.place, node.place + _WAYS):
        entry = table[way]
        if entry.one == one and entry.two == two:
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
    """Keep what `best` says; of the entries that may lie there the one that took least work has to go."""
    one, two = first_word(node), second_word(node)
    kept, low, high = node.place, LOSS, WIN
    for way in range(node.place, node.place + _WAYS):
        if table[way].one == one and table[way].two == two:
            kept, low, high = way, table[way].low, table[way].high
            break
        if table[way].work < table[kept].work:
            kept = way
    entry = table[kept]
    entry.one = one
    entry.two = two
    entry.low = max(low, node.best) if node.best > node.floor else low
    entry.high = min(high, node.best) if node.best < node.beta else high
    entry.work = work


@rule
def arrive(node, table, visited):
    """Make a node ready to be searched; its value if that is not needed, else OPEN."""
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
    """The value of nodes[0] for its mover, OPEN if that takes more than `limit` nodes; and the nodes it took."""
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
def is_ending(state):
    """Whether two seats are left, no card is in the deck, and the game goes on."""
    return state.turn >= 0 and state.stock == 0 and state.bottom == 0 and count(state.playing) == 2


@rule
def trump_last(cards, trump):
    """A set of cards with the trump suit and suit 3 exchanged."""
    if trump == _TRUMP:
        return cards
    moved, others = cards >> trump & _SUIT, cards >> _TRUMP & _SUIT
    return (cards & ~((_SUIT << trump) | _TRUMPS)) | moved << _TRUMP | others << trump


@rule
def set_up(node, state):
    """The position of an ending."""
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
    """Fill scores, f8[total, ACTIONS], NaN before, for the legal actions; _UNSOLVED where the limit came first.

    visited: i64[total], nodes each ending took. nodes: NODE[_DEEPEST + 1], working space.
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
    """A move's value for its mover, OPEN if that takes over `limit` nodes; and the nodes it took."""
    value, took = follow(root, card, nodes[0]), 0
    if value == OPEN:
        by_other = nodes[0].turned
        value, took = search(nodes, table, limit)
        if value != OPEN and by_other:
            value = -value
    return value, took


@dataclass(frozen=True)
class Solved:
    """Values of N endings. `scores`: f8[N, ACTIONS], what the mover of each gets for each action if both play perfectly
    from then on; NaN for actions that are not legal, and in a whole row for an ending that was not `solved` within the
    limit. `nodes`: i64[N], positions visited for it.
    """

    scores: np.ndarray
    solved: np.ndarray  # bool[N]
    nodes: np.ndarray

    @property
    def best(self) -> np.ndarray:
        """f8[N]: each ending's value for its mover; NaN where it was not solved."""
        return np.where(self.solved, np.max(np.nan_to_num(self.scores, nan=-1.0), axis=1), np.nan)


class Solver:
    """Solves endings and remembers positions between them. `limit`: nodes an ending may take; `table`: how many
    positions are remembered, rounded down to a multiple of four.
    """

    def __init__(self, limit: int = LIMIT, table: int = TABLE) -> None:
        if limit < 1 or table < _WAYS:
            raise CardaiError(f"a solver wants a limit of 1 node or more and {_WAYS} places, not {limit} and {table}")
        self.limit = limit
        self._table = np.zeros(table // _WAYS * _WAYS, ENTRY)
        self._nodes = np.zeros(_DEEPEST + 1, NODE)

    def solve(self, states: np.ndarray) -> Solved:
        """Values of STATE[N]. CardaiError if one is no ending: two seats left, an empty deck, a seat to move."""
        states = np.ascontiguousarray(states)
        for i in range(len(states)):
            if not is_ending(states[i]):
                raise CardaiError(f"durak: state {i} is no ending; an ending has two seats left and an empty deck")
        scores, visited = np.full((len(states), ACTIONS), np.nan), np.zeros(len(states), np.int64)
        solve_each(states, len(states), scores, visited, self._nodes, self._table, self.limit)
        solved = ~(scores == _UNSOLVED).any(axis=1)
        scores[~solved] = np.nan
        return Solved(scores, solved, visited)


def solve(game: Game, state: GameState, limit: int = LIMIT) -> np.ndarray:
    """What each legal move is worth to the seat to move if both play perfectly: f8[n] in {0, 1/2, 1}, in the order of
    `game.moves(state)`. CardaiError if `state` is no ending, or takes more than `limit` nodes.
    """
    found = Solver(limit).solve(np.array([state], game.state))
    if not found.solved[0]:
        raise CardaiError(f"{game.name}: this ending takes more than {limit} nodes; raise the limit")
    return found.scores[0, game.moves(state)["card"]]


# An agent that ends its games perfectly


def find_agent(game: Game, spec: str, argument: str, options: dict[str, str]) -> Agent:
    """The agent `endgame:SPEC`, for the entry-point group `cardai.agents`: SPEC, but for its mistakes in endings.

    Where the solver says that the move SPEC would play gives score away, it plays the first one that does not. An
    ending that takes more than `AGENT_LIMIT` nodes is left to SPEC. CardaiError for other games and agents that peek.
    """
    if game.name != "durak":
        raise CardaiError(f"agent {spec!r}: endings are solved for durak, not for {game.name}")
    query = "&".join(f"{key}={value}" if value else key for key, value in options.items())
    options.clear()  # they are the other agent's
    inner = agent(game, f"{argument}?{query}" if query else argument)
    if inner.peeks:
        raise CardaiError(f"agent {spec!r}: an agent that peeks cannot be given an ending")
    solver, lock = Solver(AGENT_LIMIT), threading.Lock()

    def choose(game: Game, worlds: np.ndarray) -> np.ndarray:
        moves = moves_in(game, inner, worlds)
        with lock:
            correct(solver, worlds, moves)
        return moves

    return Finisher(
        spec, driver.OUTSIDE, about=f"{inner.spec}, but for its mistakes in endings", choose=choose, inner=inner
    )


@dataclass(frozen=True)
class Finisher(Agent):
    """An agent that plays endings without mistakes, and everything else as `inner`."""

    inner: Agent | None = field(default=None, compare=False)

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError unless the inner agent can sit down at this table."""
        assert self.inner is not None
        self.inner.check_fits(game, variant, seats)


def correct(solver: Solver, states: np.ndarray, moves: np.ndarray) -> None:
    """Replace, in place, the moves MOVE[n] that give score away in those of STATE[n] that are endings."""
    places = np.array([i for i in range(len(states)) if is_ending(states[i])], np.int64)
    solved = solver.solve(states[places])
    for i, scores, is_solved in zip(places.tolist(), solved.scores, solved.solved, strict=True):
        if is_solved and scores[moves["card"][i]] < np.nanmax(scores):
            moves["card"][i] = np.nanargmax(scores)


# How well agents play endings


@dataclass(frozen=True)
class EndgameGrade:
    """How an agent plays the endings that its own games come to.

    `endings`: games in which it was one of the last two. `decisions`: those in them with more than one legal move;
    `unsolved`: those of them that took more nodes than the limit and are in no figure; `critical`: those of the solved
    ones in which the moves are not all worth the same. `optimal`: the share of critical decisions in which it played a
    best move. `lost`: the score it gave away in an ending, in the mean, against the best moves at each decision.
    """

    endings: int
    decisions: int
    unsolved: int
    critical: int
    optimal: Estimate
    lost: Estimate


@rule
def note_decisions(rules, states, block, moves, plies, actions):
    """Replay a game from states[0]; keep its endings with a choice, whose number is returned, and what was played.

    `block`: the memory of states, STATE[plies + 1]. moves: MOVE[plies]. actions: i64[plies].
    """
    kept = 0
    for ply in range(plies):
        if is_ending(states[kept]) and count(choices(states[kept], states[kept].turn)) > 1:
            actions[kept] = moves[ply].card
            copy(at(block, kept + 1), at(block, kept), rules.state_size)
            kept += 1
        begin_ply(at(block, kept))
        act(states[kept], moves[ply])
        settle(states[kept])
    return kept


def grade_endgames(
    game: Game,
    agents: Sequence[str],
    games: int,
    seed: int = 0,
    *,
    variant: str | None = None,
    limit: int = LIMIT,
    threads: int | None = None,
) -> dict[str, EndgameGrade]:
    """Let agents (specs, one a seat) play, and grade each by the endings it came to.

    Each deal is played once with every rotation of the seats, so that `games` is rounded up to whole deals; intervals
    (95 %) hold deals for independent: Wilson's for shares, bootstrap for means. Raises CardaiError for a bad agent.
    """
    if games < 1:
        raise CardaiError(f"there must be 1 game or more, not {games}")
    specs, seats = list(dict.fromkeys(agents)), len(agents)
    deals = -(-games // seats)
    lineups = np.tile(np.array([specs.index(spec) for spec in agents])[rotations(seats)], (deals, 1))
    seeds = np.repeat(deal_seeds(seed, deals), seats)
    players = [agent(game, spec) for spec in specs]
    results = play(game, players, lineups, seeds, variant=variant, threads=threads, record=True)
    solver, found = Solver(limit), []
    for number, (lineup, moves) in enumerate(zip(lineups, results.moves, strict=True)):
        if moves is not None and results.finished[number]:
            states, actions = decisions_of(game, game.new(seats, int(seeds[number]), variant), moves)
            found.append(_Played(number // seats, lineup[states["turn"]], *_gains(solver, states, actions)))
    return {spec: _grade(found, place, deals, seed) for place, spec in enumerate(specs)}


def decisions_of(game: Game, deal: GameState, moves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The endings of a game, STATE[n], in which the mover had a choice, and the actions that were played, i64[n]."""
    states, actions = np.zeros(len(moves) + 1, game.state), np.zeros(len(moves), np.int64)
    states[0] = deal
    n = note_decisions(lend(game.rules), states, raw(states), moves, len(moves), actions)
    return states[:n], actions[:n]


class _Played(NamedTuple):
    """The decisions of one game's ending, n of them."""

    deal: int
    agents: np.ndarray  # i64[n]: whose decision
    worst: np.ndarray  # f8[n]: what the worst move would have lost, NaN where that was not solved
    lost: np.ndarray  # f8[n]: what the move played has lost


def _gains(solver: Solver, states: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the worst move would have lost and what the one played has lost, f8[n] both, NaN where not solved."""
    if not len(states):
        return np.zeros(0), np.zeros(0)
    solved = solver.solve(states)
    worst = np.min(np.where(np.isnan(solved.scores), np.inf, solved.scores), axis=1)
    return solved.best - worst, solved.best - solved.scores[np.arange(len(states)), actions]


def _grade(found: Sequence[_Played], place: int, deals: int, seed: int) -> EndgameGrade:
    optimal: list[list[float]] = [[] for _ in range(deals)]
    lost: list[list[float]] = [[] for _ in range(deals)]
    endings = decisions = unsolved = 0
    for one in found:
        own = one.agents == place
        if not own.any():
            continue
        endings += 1
        decisions += int(own.sum())
        unsolved += int(np.isnan(one.lost[own]).sum())
        optimal[one.deal] += (one.lost[own & (one.worst > 0)] == 0).astype(float).tolist()
        if not np.isnan(one.lost[own]).any():
            lost[one.deal].append(float(one.lost[own].sum()))
    shares = interval.proportion(_padded(optimal))
    return EndgameGrade(endings, decisions, unsolved, shares.n, shares, interval.mean(_padded(lost), seed))


def _padded(rows: Sequence[Sequence[float]]) -> np.ndarray:
    """Rows of any length side by side, NaN where one is shorter: f8[len(rows), longest]."""
    table = np.full((len(rows), max(map(len, rows))), np.nan)
    for row, values in zip(table, rows, strict=True):
        row[: len(values)] = values
    return table
