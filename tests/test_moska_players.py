"""Moska's hand-written players agree with a second, naive implementation of each, on recorded positions."""

from collections import Counter
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from cardai.games.moska import players
from cardai.games.moska.rules import ATTACK, END, KILL, KILL_TURNED, OPEN, SELF, SKIP, TURN, resample
from cardai.rules import JIT, STREAM, next_bits
from tests.moska_recorded import GAME, turns
from tests.views import chosen as move_by

pytestmark = pytest.mark.skipif(not JIT, reason="thousands of positions are for compiled rules")

NEEDS_CARDS = (OPEN, ATTACK, SELF, KILL, KILL_TURNED)
IMPOSSIBLE = 100_000


@cache
def positions() -> list[np.record]:
    """Every 23rd recorded position, and positions in which a turned card waits for its kill."""
    states = []
    for number, turn in enumerate(turns()):
        if number % 23 == 0 and turn.offered != 1 << SKIP:
            states.append(turn.state.copy())
        if number % 5 == 0 and turn.offered >> TURN & 1:
            turned = GAME.play(turn.state, move_of(TURN))
            if turned.midway:
                states.append(turned)
    return states


def move_of(kind: int) -> np.record:
    move = np.zeros(1, GAME.move)[0]
    move.kind = kind
    return move


def chosen(name: str, state: np.record, seed: int = 0, **params: float) -> tuple[int, int, int]:
    """What a player plays in a position: (kind, cards, targets)."""
    move = move_by(GAME, name, state, (seed + 1) * 0x9E3779B97F4A7C15 % 2**64, **params)
    return int(move.kind), int(move.cards), int(move.targets)


class NaivePosition:
    """A position with cards as lists of (rank, suit), rank 2 to 14, and the terms of the rules computed from them."""

    def __init__(self, state: np.record) -> None:
        self.state = state
        self.seat, self.is_target = int(state.turn), int(state.turn) == int(state.target)
        self.trump = int(state.trump)
        self.hand, self.table = listed(state.hands[self.seat]), listed(state.table)
        self.killed = listed(state.killed)
        self.deck = int(state.deck_left)
        self.fits = int(state.hands[state.target]).bit_count() - len(self.table)
        self.alive = [card for card in listed((1 << 52) - 1) if card not in listed(state.discards)]
        self.turned = (int(state.turned) // 4 + 2, int(state.turned) % 4) if state.turned >= 0 else None
        self.kinds = {int(kind) for kind in np.unique(GAME.moves(state)["kind"])}
        self.barring = listed(state.barring)
        seats = [seat for seat in range(int(state.seats)) if seat != self.seat]
        self.others_known = {card for seat in seats for card in listed(state.known[seat])}
        self.score = {card: sum(self.kills(card, other) for other in self.alive) for card in listed((1 << 52) - 1)}

    def kills(self, card, other):
        if card[1] == other[1]:
            return card[0] > other[0]
        return card[1] == self.trump

    def playable(self):
        ranks = {rank for rank, _ in self.table + self.killed}
        return [card for card in self.hand if card[0] in ranks]

    def basic(self, card):
        return 38 + card[0] if card[1] == self.trump else card[0] - 2

    def killable(self, card):
        return [other for other in self.table if self.kills(card, other)]

    def mean_unseen(self):
        unseen = set(self.alive) - set(self.hand) - set(self.killed) - self.others_known
        return float(np.mean([self.score[card] for card in unseen])) if unseen else 0.0


def listed(cards):
    return [(card // 4 + 2, card % 4) for card in range(52) if int(cards) >> card & 1]


def set_of(cards):
    return sum(1 << 4 * (rank - 2) + suit for rank, suit in cards)


def parts(cards, most):
    """All subsets with 1 to `most` cards."""
    return [part for size in range(1, min(len(cards), most) + 1) for part in combinations(cards, size)]


def largest_parts(cards, most):
    return [(set_of(part), 0) for part in combinations(cards, min(len(cards), most))]


def cheap_kills(naive, key):
    """Each hand card kills the card with the least `key`; if several choose the same card, the last one kills it."""
    by_target = {}
    for card in naive.hand:
        if naive.killable(card):
            by_target[min(naive.killable(card), key=key)] = card
    return [(set_of(by_target.values()), set_of(by_target))]


def bot0(naive, kind):
    lowest = min(naive.hand, default=(0, 0))
    return {
        END: lambda: [(set_of(naive.table), 0)],
        OPEN: lambda: largest_parts([c for c in naive.hand if c[0] == lowest[0]], naive.fits),
        ATTACK: lambda: largest_parts(naive.playable(), naive.fits),
        SELF: lambda: [(set_of(c for c in naive.playable() if c[1] != naive.trump), 0)],
        KILL: lambda: cheap_kills(naive, key=lambda card: card),
        KILL_TURNED: lambda: [(set_of([naive.turned]), set_of([t])) for t in naive.killable(naive.turned)],
    }.get(kind, lambda: [(0, 0)])()


def bot1(naive, kind):
    least = min(map(naive.basic, naive.hand), default=0)

    def turned():
        options = naive.killable(naive.turned)
        low = min(map(naive.basic, options))
        return [(set_of([naive.turned]), set_of([t])) for t in options if naive.basic(t) == low]

    return {
        OPEN: lambda: largest_parts([c for c in naive.hand if naive.basic(c) == least], naive.fits),
        ATTACK: lambda: largest_parts([c for c in naive.playable() if naive.basic(c) < 11], naive.fits),
        KILL: lambda: cheap_kills(naive, key=lambda card: (naive.basic(card), card)),
        KILL_TURNED: turned,
    }.get(kind, lambda: bot0(naive, kind))()


def cost(naive, params, card, target):
    factor = 1.0
    if card[0] in {rank for rank, _ in naive.table}:
        factor += params[0]
    if target[0] in {rank for rank, _ in naive.hand}:
        factor += params[1]
    if target in naive.barring and naive.deck > 0:
        factor += params[2]
    return int(factor * (naive.score[card] + naive.score[target]))


def best_kills(naive, params):
    """The cheapest assignment with most kills: its (kills, cost), and all (killers, targets) within the threshold."""
    limit = ((params[4] - 52) / 52) * naive.deck + 52
    best = {0: (0, 0, {(0, 0)})}  # by the set of table cards taken: kills, cost, results
    for card in naive.hand:
        following = dict(best)
        for taken, (count, total, results) in best.items():
            for place, target in enumerate(naive.table):
                if taken >> place & 1 or not naive.kills(card, target):
                    continue
                price = cost(naive, params, card, target)
                kept = {(a | set_of([card]), b | set_of([target])) if price <= limit else (a, b) for a, b in results}
                offer, there = (count + 1, total + price), following.get(taken | 1 << place)
                if there is None or there[1] > offer[1]:
                    following[taken | 1 << place] = (*offer, kept)
                elif there[1] == offer[1]:
                    following[taken | 1 << place] = (*offer, there[2] | kept)
        best = following
    most = max(best.values(), key=lambda entry: (entry[0], -entry[1]))[:2]
    return most, set().union(*(results for *entry, results in best.values() if tuple(entry) == most))


def by_counting(naive, kind, params):
    """The cards that bot2 and bot3 may play for a kind of move: all choices if they draw lots or several are equal."""

    def openings():
        least = min(naive.score[c] for c in naive.hand)
        return [(set_of([c]), 0) for c in naive.hand if naive.score[c] == least]

    def attacks():
        fine = [c for c in naive.playable() if naive.score[c] < 10 or naive.deck == 0]
        return largest_parts(fine, naive.fits)

    def to_self():
        threshold = 52 - naive.deck
        pairs = [(h, p) for h in naive.hand for p in naive.playable() if naive.kills(h, p)]
        return [(set_of({p for h, p in pairs if naive.score[h] + naive.score[p] <= threshold}), 0)]

    def turned():
        def price(target):
            by_hand = any(naive.kills(h, target) for h in naive.hand)
            return (1 + params[3] * by_hand) * (naive.score[naive.turned] + naive.score[target])

        options = naive.killable(naive.turned)
        least = min(map(price, options))
        return [(set_of([naive.turned]), set_of([t])) for t in options if price(t) == pytest.approx(least, rel=1e-12)]

    return {
        END: lambda: [(set_of(naive.table), 0)],
        OPEN: openings,
        ATTACK: attacks,
        SELF: to_self,
        KILL: lambda: sorted(best_kills(naive, params)[1]),
        KILL_TURNED: turned,
    }.get(kind, lambda: [(0, 0)])()


def bot2(naive):
    """All moves that bot2 may choose."""
    params = list(GAME.agents.players["bot2"].defaults.values())
    plays = {kind: by_counting(naive, kind, params) for kind in naive.kinds}
    if OPEN in plays:
        return {(OPEN, *play) for play in plays[OPEN]}
    kinds = {kind for kind in plays if kind not in NEEDS_CARDS or any(cards for cards, _ in plays[kind])}
    for dropped in (SKIP, END):
        kinds = kinds - {dropped} or kinds
    return {(kind, *play) for kind in kinds for play in plays[kind] if play[0] or kind not in NEEDS_CARDS}


@pytest.mark.parametrize("name", ["bot0", "bot1", "bot2"])
def test_the_simpler_bots_play_every_kind_that_the_naive_implementation_allows_and_no_other_move(name):
    account = {"bot0": bot0, "bot1": bot1}.get(name)
    for state in positions()[::5]:
        naive = NaivePosition(state)
        if account:
            allowed = {
                (kind, *play)
                for kind in naive.kinds
                for play in account(naive, kind)
                if play[0] or kind not in NEEDS_CARDS
            }
        else:
            allowed = bot2(naive)
        played = {chosen(name, state, seed) for seed in range(40)}
        assert played <= allowed, (played - allowed, allowed)
        assert {kind for kind, *_ in played} == {kind for kind, *_ in allowed}


@pytest.mark.parametrize("name", ["bot2", "bot3"])
def test_kills_are_those_of_a_cheapest_assignment(name):
    params = np.array(list(GAME.agents.players[name].defaults.values()))
    sizes = Counter()
    for state in positions()[::2]:
        naive = NaivePosition(state)
        if KILL not in naive.kinds:
            continue
        hand = state.hands[state.turn]
        kept = tuple(int(cards) for cards in players.kill_cards(state, hand, params))
        (count, total), results = best_kills(naive, list(params))
        assert kept in results
        matrix = np.array(
            [[cost(naive, params, c, t) if naive.kills(c, t) else IMPOSSIBLE for t in naive.table] for c in naive.hand]
        )
        rows, columns = linear_sum_assignment(matrix)
        real = matrix[rows, columns] < IMPOSSIBLE
        assert (real.sum(), matrix[rows, columns][real].sum()) == (count, total)
        sizes[count] += 1
    assert sizes[1] > 50
    assert sizes[2] > 10


def test_assign_costs_as_little_as_scipys_assignment():
    rng = np.random.default_rng(5)
    for _ in range(400):
        n = int(rng.integers(1, 12))
        matrix = np.where(rng.random((n, n)) < 0.3, float(IMPOSSIBLE), np.floor(rng.normal(30, 30, (n, n))))
        columns = players.assign(matrix)
        assert sorted(columns) == list(range(n))
        assert matrix[range(n), columns].sum() == matrix[linear_sum_assignment(matrix)].sum()


def naive_hand_value(state, seat):
    """HeuristicEvaluator's value of a settled state."""
    naive = NaivePosition(state)
    cards = listed(state.hands[seat]) + (naive.table if int(state.target) == seat else [])
    if not cards:
        return 1e7
    return (
        2.31923085 * np.mean([naive.score[card] for card in cards])
        + 0.39232656 * bool(state.barring)
        + 0.76678776 * len(set(cards))
        - 1.99658315 * len(cards)
        + 51.86727724 * max(6 - len(cards), 0)
    )


def test_hand_value_of_settled_states_is_the_engines():
    for state in positions()[::8]:
        for seat in range(int(state.seats)):
            assert GAME.value(state, seat, "hand_value") == pytest.approx(naive_hand_value(state, seat), rel=1e-12)


def test_hand_value_before_a_draw_counts_the_cards_to_come_at_their_mean():
    drew = 0
    for state in positions()[::7]:
        seat, naive = int(state.turn), NaivePosition(state)
        for move in GAME.moves(state)[:5]:
            after = GAME.after(state, move)
            hand = listed(after.hands[seat])
            draws = max(0, min(6 - len(hand), naive.deck)) if int(move.kind) in (OPEN, ATTACK, END) else 0
            cards = hand + (listed(after.table) if int(state.target) == seat else [])
            unseen_of = NaivePosition(after)  # the same seat is to move: nothing has been settled
            size = len(cards) + draws
            if size == 0:
                assert GAME.value(after, seat, "hand_value") == 1e7
                continue
            mean = (sum(unseen_of.score[c] for c in cards) + draws * unseen_of.mean_unseen()) / size
            expected = 2.31923085 * mean - 1.22979539 * size + 51.86727724 * max(6 - size, 0)
            expected += 0.39232656 * bool(after.barring)
            assert GAME.value(after, seat, "hand_value") == pytest.approx(expected, rel=1e-12)
            drew += draws > 0
    assert drew > 100


def weight_of_kills(naive):
    """The probability of each set of kills of the benchmark's random player: it plays each pair in turn with 1/2."""
    found = {(0, 0): 1.0}
    for card in naive.hand:
        following = Counter()
        for (cards, targets), p in found.items():
            for target in naive.killable(card):
                if not targets & set_of([target]):
                    p /= 2
                    following[cards | set_of([card]), targets | set_of([target])] += p
            following[cards, targets] += p
        found = following
    return found


def weights_of_random(naive):
    """The probability of each move of the benchmark's random player, which chooses again after no cards."""
    found = Counter()
    for kind in naive.kinds:
        if kind == END:
            options = Counter({(set_of(naive.table), 0): 0.5})
            options[set_of(naive.table + naive.killed), 0] += 0.5
        elif kind in (ATTACK, SELF):
            cards = naive.playable()
            most = min(len(cards), naive.fits) if kind == ATTACK else len(cards)
            options = Counter()
            for part in parts(cards, most):
                same_size = len(list(combinations(cards, len(part))))
                options[set_of(part), 0] = 1 / (most + 1) / same_size
        elif kind == KILL:
            options = weight_of_kills(naive)
        elif kind == KILL_TURNED:
            targets = naive.killable(naive.turned)
            options = {(set_of([naive.turned]), set_of([t])): 1 / len(targets) for t in targets}
        else:
            options = {(0, 0): 1.0}
        for (cards, targets), p in options.items():
            if cards or kind not in NEEDS_CARDS:
                found[kind, cards, targets] += p
    total = sum(found.values())
    return {move: p / total for move, p in found.items()}


def test_random_chooses_each_move_with_the_probability_of_the_naive_implementation():
    """Every move of 15 positions within 5 sigma of its probability."""
    n, tested = 3000, 0
    for state in positions():
        naive = NaivePosition(state)
        if OPEN in naive.kinds or not 6 <= len(GAME.moves(state)) <= 20 or tested == 15:
            continue
        tested += 1
        played = Counter(chosen("random", state, seed) for seed in range(n))
        expected = weights_of_random(naive)
        assert set(played) <= set(expected)
        for move, p in expected.items():
            assert abs(played[move] - n * p) < 5 * np.sqrt(n * p * (1 - p)) + 1
    assert tested == 15


def test_a_bot_leaves_its_stream_where_a_world_and_its_choice_would():
    """Bot0 to bot3 get no worlds, but draw what `resample` draws, so that their games are those they always were."""
    for state in (turn.state for number, turn in enumerate(turns()) if number % 7 == 0):
        ours, worlds = np.zeros(2, STREAM)
        ours.rng = worlds.rng = int(state.ply) << 32
        players.pass_over_a_world(state, ours)
        next_bits(worlds)
        resample(state.copy(), int(state.turn), worlds)
        assert ours.rng == worlds.rng
