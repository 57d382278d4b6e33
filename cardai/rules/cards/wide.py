"""Sets of more cards than fit in one number: int64[words], 60 cards a word, the lowest ones in the first.

Those of `cardai.rules.cards` that take sets take these too, and choose by the type of the set. What only wide sets need
is here: they are changed in place, since a number cannot hold them.
"""

from cardai.rules import WORD, below, count, lowest, rule, write_bits

__all__ = ["add", "assign", "clear", "intersect", "meets", "remove", "subtract", "unite", "words"]


def words(size: int) -> int:
    """How many numbers a wide set of `size` cards takes: the shape of its field in `state_dtype`."""
    return -(-size // WORD)


@rule
def add(cards, card):
    """Add a card to a wide set, in place."""
    cards[card // WORD] |= 1 << card % WORD


@rule
def remove(cards, card):
    """Remove a card from a wide set, in place."""
    cards[card // WORD] &= ~(1 << card % WORD)


@rule
def clear(cards):
    """Make a wide set empty, in place."""
    for i in range(len(cards)):
        cards[i] = 0


@rule
def assign(cards, others):
    """Make a wide set equal to another one, in place."""
    for i in range(len(cards)):
        cards[i] = others[i]


@rule
def unite(cards, others):
    """Add all cards of another set to a wide set, in place: `cards |= others`."""
    for i in range(len(cards)):
        cards[i] |= others[i]


@rule
def subtract(cards, others):
    """Remove all cards of another set from a wide set, in place: `cards &= ~others`."""
    for i in range(len(cards)):
        cards[i] &= ~others[i]


@rule
def intersect(cards, others):
    """Keep only the cards of a wide set that another set has too, in place: `cards &= others`."""
    for i in range(len(cards)):
        cards[i] &= others[i]


@rule
def meets(cards, others):
    """Whether two wide sets share a card."""
    for i in range(len(cards)):
        if cards[i] & others[i] != 0:
            return True
    return False


# Forms of the rules of `cardai.rules.cards`, which say what each does.


@rule
def has_card(cards, card):
    return (cards[card // WORD] >> card % WORD) & 1 != 0


@rule
def next_of(cards, card):
    first, card = (card + 1) // WORD, (card + 1) % WORD
    for i in range(first, len(cards)):
        rest = cards[i] >> card if i == first else cards[i]
        if rest != 0:
            return WORD * i + lowest(rest) + (card if i == first else 0)
    return -1


@rule
def filled_up(cards, size):
    found, missing = cards.copy(), size - count(cards)
    for i in range(len(cards)):
        while missing > 0:
            free = ~found[i] & ((1 << WORD) - 1)
            if free == 0:
                break
            found[i] |= free & -free
            missing -= 1
    return found


@rule
def drawn(cards, stream):
    k = below(stream, count(cards))
    for i in range(len(cards)):
        word, here = cards[i], count(cards[i])
        if k < here:
            for _ in range(k):
                word &= word - 1
            return WORD * i + lowest(word)
        k -= here
    return -1


@rule
def put_words(row, first, cards, size):
    for i in range(len(cards)):
        if size > WORD * i:
            write_bits(row, first + WORD * i, cards[i], min(WORD, size - WORD * i))
    return first + size
