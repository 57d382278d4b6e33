"""The random stream: SplitMix64 as published, and numbers drawn evenly from it."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cardai.rules import (
    JIT,
    STREAM,
    below,
    count,
    hashed,
    highest,
    lowest,
    mixed,
    next_bits,
    rule,
    shuffle,
    skip_shuffle,
    uniform,
)

PUBLISHED = {
    1234567: [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ],
    0: [16294208416658607535, 7960286522194355700, 487617019471545679],
}


def stream_of(seed):
    stream = np.zeros(1, STREAM)[0]
    stream.rng = seed
    return stream


@rule
def fill_below(stream, n, numbers):
    for i in range(len(numbers)):
        numbers[i] = below(stream, n)


def drawn(seed, n, size):
    numbers = np.zeros(size, np.int64)
    fill_below(stream_of(seed), n, numbers)
    return numbers


def is_even(counts, total):
    """Whether counts that should all be equal are, within 5 sigma each."""
    p = 1 / len(counts)
    return np.abs(np.asarray(counts) - total * p).max() <= 5 * np.sqrt(total * p * (1 - p))


@pytest.mark.parametrize("seed", PUBLISHED)
def test_the_stream_is_splitmix64_as_published(seed):
    stream = stream_of(seed)
    assert [int(next_bits(stream)) for _ in PUBLISHED[seed]] == PUBLISHED[seed]


def plain_mixed(number):
    number = ((number ^ number >> 30) * 0xBF58476D1CE4E5B9) % 2**64
    number = ((number ^ number >> 27) * 0x94D049BB133111EB) % 2**64
    return number ^ number >> 31


@settings(deadline=None)  # the first example compiles
@given(st.integers(0, 2**64 - 1))
def test_mixed_is_the_output_function_of_every_number(number):
    assert int(mixed(np.uint64(number))) == plain_mixed(number)


@settings(deadline=None)  # the first example compiles
@given(st.integers(0, 2**64 - 1), st.integers(1, 2**31 - 1))
def test_below_stays_below_and_is_lemires_method(seed, n):
    """The high half of a 32-bit number times n, unless the low half falls into the part that would be uneven."""
    stream = stream_of(seed)
    state, refused = seed, 2**32 % n
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        product = (plain_mixed(state) >> 32) * n
        if product % 2**32 >= refused:
            break
    assert int(below(stream, n)) == product >> 32 < n
    assert int(stream.rng) == state


def test_below_is_even_where_a_plain_product_would_not_be():
    """Of 3 * 2^29 numbers, without rejection two thirds would come up twice as often as the rest."""
    n, size = 3 * 2**29, 60_000
    assert is_even(np.bincount(drawn(3, n, size) % 3, minlength=3), size)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 52])
def test_below_is_even(n):
    size = 40_000
    assert is_even(np.bincount(drawn(n, n, size), minlength=n), size)


@settings(deadline=None)  # the first example compiles
@given(st.integers(0, 2**64 - 1), st.integers(2**31, 2**62))
def test_below_of_a_large_number_refuses_what_would_be_uneven(seed, n):
    """The 63 high bits modulo n, unless they are among the last 2^63 % n numbers."""
    stream = stream_of(seed)
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        bits = plain_mixed(state) >> 1
        if bits < 2**63 - 2**63 % n:
            break
    assert 0 <= int(below(stream, n)) == bits % n < n
    assert int(stream.rng) == state


@pytest.mark.parametrize("n", [2**31, 2**32 + 15, 3**21, 2**61 + 2**60, 2**62 - 57, 2**62])
def test_below_is_even_for_large_numbers(n):
    """In 40 equal parts, and modulo 2, 3 and 7."""
    size = 40_000
    numbers = drawn(17, n, size)
    assert numbers.min() >= 0
    assert numbers.max() < n
    parts = np.array([int(number) * 40 // n for number in numbers])
    assert stats.chisquare(np.bincount(parts, minlength=40)).pvalue > 1e-6
    for divisor in (2, 3, 7):
        assert is_even(np.bincount(numbers % divisor, minlength=divisor), size)


def test_uniform_is_even_in_zero_to_one():
    stream = stream_of(5)
    numbers = np.array([uniform(stream) for _ in range(20_000)])
    assert 0.0 <= numbers.min() < numbers.max() < 1.0
    assert is_even(np.histogram(numbers, 20, (0, 1))[0], len(numbers))


def test_uniform_has_53_bits():
    stream = stream_of(1234567)
    assert float(uniform(stream)) == (PUBLISHED[1234567][0] >> 11) / 2**53


def test_shuffle_reaches_every_order_evenly_and_touches_nothing_else():
    stream, seen, size = stream_of(11), {}, 24_000
    for _ in range(size):
        items = np.arange(6)
        shuffle(stream, items, 1, 5)
        assert (items[0], items[5]) == (0, 5)
        seen[tuple(items[1:5])] = seen.get(tuple(items[1:5]), 0) + 1
    assert len(seen) == 24
    assert is_even(list(seen.values()), size)


def test_shuffle_of_nothing_or_one_draws_nothing():
    stream = stream_of(11)
    shuffle(stream, np.arange(3), 1, 1)
    shuffle(stream, np.arange(3), 1, 2)
    assert int(stream.rng) == 11


@pytest.mark.parametrize("n", [0, 1, 2, 3, 25, 52])
def test_skip_shuffle_leaves_the_stream_where_shuffle_does(n):
    for seed in range(0, 2**64, 2**64 // 40):
        shuffled, skipped = stream_of(seed), stream_of(seed)
        shuffle(shuffled, np.arange(n), 0, n)
        skip_shuffle(skipped, n)
        assert skipped.rng == shuffled.rng


@pytest.mark.parametrize("drawn_before", range(5))
def test_skip_shuffle_counts_a_number_that_is_refused(drawn_before):
    """A number whose upper half is 0 is refused for every n but powers of two: here it is drawn for 7, 6, 5, 4 or 3."""
    seed = (unmixed(12345) - (drawn_before + 1) * 0x9E3779B97F4A7C15) % 2**64
    shuffled, skipped = stream_of(seed), stream_of(seed)
    shuffle(shuffled, np.arange(7), 0, 7)
    skip_shuffle(skipped, 7)
    draws = 6 if 7 - drawn_before == 4 else 7
    assert int(shuffled.rng) == int(skipped.rng) == (seed + draws * 0x9E3779B97F4A7C15) % 2**64


def unmixed(number):
    """The number of which `mixed` makes this one."""
    number ^= number >> 31 ^ number >> 62
    number = number * pow(0x94D049BB133111EB, -1, 2**64) % 2**64
    number ^= number >> 27 ^ number >> 54
    number = number * pow(0xBF58476D1CE4E5B9, -1, 2**64) % 2**64
    return number ^ number >> 30 ^ number >> 60


def test_hashed_is_even_and_the_same_each_time():
    numbers = [int(hashed(np.uint64(mixed(np.uint64(i))), 7)) for i in range(21_000)]
    assert is_even(np.bincount(numbers, minlength=7), len(numbers))
    assert numbers[:50] == [int(hashed(np.uint64(mixed(np.uint64(i))), 7)) for i in range(50)]


@settings(deadline=None)  # the first example compiles
@given(st.integers(1, 2**52 - 1))
def test_counting_and_finding_bits(cards):
    assert int(count(cards)) == bin(cards).count("1")
    assert int(lowest(cards)) == len(bin(cards)) - 1 - bin(cards).rindex("1")
    assert int(highest(cards)) == len(bin(cards)) - 3
    assert int(count(0)) == 0


SAMPLE = """
import numpy as np
from cardai.rules import STREAM, below, hashed, mixed, shuffle, uniform
stream, items = np.zeros(1, STREAM)[0], np.arange(20)
stream.rng = 2**63 + 99
shuffle(stream, items, 0, 20)
below_some = [int(below(stream, n)) for n in (1, 2, 52, 10**6, 2**31 - 1, 2**31, 2**33 + 1, 2**62 - 1, 2**62)]
hashes = [int(hashed(np.uint64(mixed(np.uint64(2**64 - 1 - i))), 1000)) for i in range(5)]
print(items.tolist(), below_some, float(uniform(stream)), hashes, int(stream.rng))
"""


@pytest.mark.skipif(not JIT, reason="compares compiled code with plain Python")
def test_plain_python_draws_what_compiled_code_draws():
    outputs = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", SAMPLE],
            env=os.environ | {"CARDAI_JIT": jit},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for jit in "01"
    ]
    assert outputs[0] == outputs[1] != ""


@pytest.mark.skipif(not JIT, reason="plain Python may call itself")
def test_a_rule_that_calls_itself_is_refused():
    def endless(n):
        return endless(n)

    with pytest.raises(TypeError, match="endless calls itself"):
        rule(endless)


def test_loading_rules_imports_no_linear_algebra_and_rules_may_multiply_matrices_all_the_same(tmp_path):
    """Numba imports SciPy's linear algebra, a quarter of a second, only to see whether it is there."""
    source = tmp_path / "product.py"
    source.write_text("from cardai.rules import rule\n\n\n@rule\ndef product(a, b):\n    return a @ b\n")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import cardai, numpy as np; cardai.load('tictactoe').rules\n"
        "assert 'scipy.linalg' not in sys.modules\n"
        "from product import product\n"
        "assert product(np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]])).tolist() == [[1.0, 2.0], [3.0, 4.0]]\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
