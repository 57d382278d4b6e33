"""The legal moves: which kinds a seat may choose from, and all moves of each kind. Rule numbers refer to RULES.md.

A hand of twenty cards has a million subsets, so there may be more moves than the buffer holds. Moves are counted before
they are listed. If there are too many, the moves of a random part of the hand are listed, which has the same kinds.
"""

from cardai.rules import hashed, mixed, rule, truncated
from cardai.rules.cards import count, has, lowest, next_subset, same_rank, single, suit_cards

from .counts import count_kills, count_openings, count_subsets
from .rules import (
    ATTACK,
    BOUT_DECK,
    DECK,
    END,
    KILL,
    KILL_TURNED,
    MOVE,
    NONE,
    OPEN,
    SELF,
    SKIP,
    TURN,
    all_others_ready,
    initiating_seat,
    is_open,
    killed_by,
    playable,
    room_to_attack,
)  # fmt: skip

add = MOVE.add
FEW = 9  # so many cards have at most 2^9 - 1 sets to play and C(9, 4) kills, which fit into the buffer


@rule
def offered(state):
    """The kinds of move that the seat to move may choose from, as a set: bit `1 << kind`."""
    seat, hand = state.turn, state.hands[state.turn]
    if state.turned != NONE:
        return single(KILL_TURNED)
    if seat != state.target:
        if not is_open(state):
            return single(OPEN) if seat == initiating_seat(state) else single(SKIP)
        kinds = single(SKIP)
        if room_to_attack(state) > 0 and playable(state, hand) != 0:
            kinds |= single(ATTACK)
        return kinds
    if not is_open(state):
        return single(SKIP)
    kinds = single(END) if all_others_ready(state) else single(SKIP)  # 4.1, 4.4
    if may_play_to_self(state) and playable(state, hand) != 0:
        kinds |= single(SELF)
    if killed_together(hand, state.table, state.trump) > 0:
        kinds |= single(KILL)
    if state.table != 0 and state.deck_left > 0 and state.barring == 0:
        kinds |= single(TURN)  # 3.2
    return kinds


@rule
def may_play_to_self(state):
    """2.4: whether the target may play cards to itself."""
    return state.bout_deck != 0 if state.self_attack == BOUT_DECK else state.deck_left > 0


@rule
def is_legal(state, move):
    kind, cards, targets = move.kind, move.cards, move.targets
    if kind < END or kind > KILL_TURNED or not has(offered(state), kind):
        return False
    hand = state.hands[state.turn]
    if kind == KILL_TURNED:
        chosen = killed_by(state.turned, state.trump) & state.table & targets
        return cards == single(state.turned) and chosen == targets and count(targets) == 1
    if kind == KILL:
        return (
            cards != 0 and cards & ~hand == 0 and targets & ~state.table == 0 and is_kill(cards, targets, state.trump)
        )
    if targets != 0:
        return False
    if kind == END:
        return cards == state.table or cards == (state.table | state.killed)  # 4.2
    if kind == OPEN:
        return is_opening(cards, hand, room_to_attack(state))
    if kind == ATTACK:
        return is_part(cards, playable(state, hand), room_to_attack(state))
    if kind == SELF:
        return is_part(cards, playable(state, hand), DECK)
    return cards == 0


@rule
def is_part(cards, whole, most):
    """Whether `cards` is a subset of `whole`, not empty and with at most `most` cards."""
    return cards != 0 and cards & ~whole == 0 and count(cards) <= most


@rule
def is_opening(cards, hand, most):
    """2.1: one card, or each rank at least twice."""
    if not is_part(cards, hand, most):
        return False
    rest = cards
    while rest != 0 and count(cards) > 1:
        rank = same_rank(lowest(rest))
        if count(cards & rank) == 1:
            return False
        rest &= ~rank
    return True


@rule
def is_kill(cards, targets, trump):
    """3.1: whether each of `cards` can kill one of `targets` and each target is killed by one."""
    size = count(cards)
    return count(targets) == size and killed_together(cards, targets, trump) == size


@rule
def legal(state, moves):
    hand, kinds = state.hands[state.turn], offered(state)
    if count(hand | state.table) <= FEW or count_moves(state, kinds, hand) <= len(moves):
        return list_moves(state, kinds, hand, moves)
    bits = mixed(hand ^ state.ply)
    while count_moves(state, kinds, hand) > len(moves):
        bits = mixed(bits)
        rest = hand
        for _ in range(hashed(bits, count(hand))):
            rest &= rest - 1
        left_out = hand & ~single(lowest(rest))
        if keeps_all_kinds(state, kinds, left_out):
            hand = left_out
    return truncated(list_moves(state, kinds, hand, moves))


@rule
def keeps_all_kinds(state, kinds, hand):
    """Whether a part of the hand, not empty, has a move of each of the `kinds` that the whole hand has.

    There is always a card that may be left out. If not, the hand has two cards at most: the last one that may be played
    and the last one that kills, and only one of them kills. The moves of such a hand fit into the buffer.
    """
    if (has(kinds, ATTACK) or has(kinds, SELF)) and playable(state, hand) == 0:
        return False
    return not has(kinds, KILL) or killed_together(hand, state.table, state.trump) > 0


@rule
def list_moves(state, kinds, hand, moves):
    """Write all moves of `kinds` that play cards of `hand`, in order. Returns their number."""
    n = 0
    if has(kinds, END):
        n = add(moves, n, END, state.table, 0)
        if state.killed != 0:
            n = add(moves, n, END, state.table | state.killed, 0)
    if has(kinds, OPEN):
        n = list_openings(hand, room_to_attack(state), moves, n)
    if has(kinds, ATTACK):
        n = list_subsets(ATTACK, playable(state, hand), room_to_attack(state), moves, n)
    if has(kinds, SELF):
        n = list_subsets(SELF, playable(state, hand), DECK, moves, n)
    if has(kinds, KILL):
        n = list_kills(hand, state.table, state.trump, moves, n)
    if has(kinds, TURN):
        n = add(moves, n, TURN, 0, 0)
    if has(kinds, SKIP):
        n = add(moves, n, SKIP, 0, 0)
    if has(kinds, KILL_TURNED):
        rest = killed_by(state.turned, state.trump) & state.table
        while rest != 0:
            card = lowest(rest)
            rest &= ~single(card)
            n = add(moves, n, KILL_TURNED, single(state.turned), single(card))
    return n


@rule
def count_moves(state, kinds, hand):
    """How many moves of `kinds` play cards of `hand`: as many as `list_moves` writes, without listing them."""
    if has(kinds, KILL_TURNED):
        return count(killed_by(state.turned, state.trump) & state.table)
    n = count(kinds & (single(END) | single(TURN) | single(SKIP)))
    if has(kinds, END) and state.killed != 0:
        n += 1
    if has(kinds, OPEN):
        n += count_openings(hand, room_to_attack(state))
    if has(kinds, ATTACK):
        n += count_subsets(playable(state, hand), room_to_attack(state))
    if has(kinds, SELF):
        n += count_subsets(playable(state, hand), DECK)
    if has(kinds, KILL):
        n += count_kills(hand, state.table, state.trump)
    return n


@rule
def list_subsets(kind, cards, most, moves, n):
    """Write all subsets of `cards` with 1 to `most` cards. Returns the number of moves so far."""
    chosen = next_subset(0, cards, most)
    while chosen != 0:
        n = add(moves, n, kind, chosen, 0)
        chosen = next_subset(chosen, cards, most)
    return n


@rule
def list_openings(hand, most, moves, n):
    """2.1: write single cards, and sets in which each rank occurs at least twice. Returns the number of moves so far.

    One rank after the other, each set of two to four of its cards is written alone and with each set written before.
    """
    first, rest = n, hand
    while rest != 0:
        n = add(moves, n, OPEN, single(lowest(rest)), 0)
        rest &= rest - 1
    sets, rest = n, hand
    while rest != 0:
        alike, before = rest & same_rank(lowest(rest)), n
        rest &= ~alike
        chosen = next_subset(0, alike, most)
        while chosen != 0:
            if count(chosen) > 1:
                n = add(moves, n, OPEN, chosen, 0)
                for i in range(sets, before):
                    if count(moves[i].cards | chosen) <= most:
                        n = add(moves, n, OPEN, moves[i].cards | chosen, 0)
            chosen = next_subset(chosen, alike, most)
    sort_by_cards(moves, first, n)
    return n


@rule
def list_kills(hand, table, trump, moves, n):
    """3.1: write every kill: a set of killers and a set of targets. Returns the number of moves so far.

    Each pair of sets is listed once, even if there are several ways to match the cards.
    """
    killers, killable, rest = 0, 0, hand
    while rest != 0:
        targets = killed_by(lowest(rest), trump) & table
        killable |= targets
        killers |= rest & -rest if targets != 0 else 0
        rest &= rest - 1
    most = killed_together(hand, table, trump)
    cards = next_subset(0, killers, most)
    while cards != 0:
        targets = next_subset(0, killable, count(cards))
        while targets != 0:
            if is_kill(cards, targets, trump):
                n = add(moves, n, KILL, cards, targets)
            targets = next_subset(targets, killable, count(cards))
        cards = next_subset(cards, killers, most)
    return n


@rule
def killed_together(hand, table, trump):
    """3.1: how many cards on the table the cards of a hand can kill, each by another one."""
    total, left, spare = 0, 0, count(hand & suit_cards(trump))
    for suit in range(4):
        open_cards, own = table & suit_cards(suit), hand & suit_cards(suit)
        while open_cards != 0:
            killers = own & ~(single(lowest(open_cards)) * 2 - 1)
            if killers == 0:
                break
            total += 1
            spare -= suit == trump
            own = killers & (killers - 1)
            open_cards &= open_cards - 1
        left += 0 if suit == trump else count(open_cards)
    return total + min(left, spare)


@rule
def sort_by_cards(moves, first, end):
    """Sort moves[first:end], which differ only in their cards, into canonical order (Shell sort)."""
    gap = 1
    while 3 * gap + 1 < end - first:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(first + gap, end):
            cards, j = moves[i].cards, i
            while j >= first + gap and moves[j - gap].cards > cards:
                moves[j].cards = moves[j - gap].cards
                j -= gap
            moves[j].cards = cards
        gap //= 3
