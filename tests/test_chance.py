"""Chance tells nothing: no number that an agent is handed gives away the deal, another seat's luck, or later games."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cardai
from cardai.game import Player, int_seed
from cardai.game.compiled.chance import EXPLORING, LUCK, SEAT, WORLD, derived, siphash
from cardai.game.compiled.native import at, call_deal, copy, get, load, raw, seed_state, set
from cardai.game.compiled.rules import DEAL, lend
from cardai.playing.agents.notation import Greedy
from cardai.playing.stats.deals import deal_seeds, new_salt
from cardai.rules import JIT, STREAM, mixed, next_bits, rule
from cardai.rules.cards import full_deck, lowest

MOSKA = cardai.load("moska")
SEATS = 4
MASK = 2**64 - 1
words = st.integers(0, MASK)


# SipHash itself.


def sip(key: bytes, message: bytes) -> int:
    """SipHash-2-4 for messages of any length, written from the paper."""
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rotated(x, bits):
        return ((x << bits) | (x >> (64 - bits))) & MASK

    def half_round(a, b, s):
        v[a] = (v[a] + v[b]) & MASK
        v[b] = rotated(v[b], s) ^ v[a]

    def compress(rounds):
        for _ in range(rounds):
            half_round(0, 1, 13)
            v[0] = rotated(v[0], 32)
            half_round(2, 3, 16)
            half_round(0, 3, 21)
            half_round(2, 1, 17)
            v[2] = rotated(v[2], 32)

    padded = message + bytes(7 - len(message) % 8) + bytes([len(message) & 255])
    for first in range(0, len(padded), 8):
        word = int.from_bytes(padded[first : first + 8], "little")
        v[3] ^= word
        compress(2)
        v[0] ^= word
    v[2] ^= 0xFF
    compress(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def test_the_reference_gives_the_published_value():
    assert sip(bytes(range(16)), bytes(range(15))) == 0xA129CA6149BE45E5  # Aumasson and Bernstein 2012, appendix A


@given(words, words, words)
@settings(deadline=None)
def test_siphash_is_that_of_the_paper(key0, key1, number):
    key = key0.to_bytes(8, "little") + key1.to_bytes(8, "little")
    given_ = (np.uint64(word) for word in (key0, key1, number))
    assert int(siphash(*given_)) == sip(key, number.to_bytes(8, "little"))


def test_each_purpose_and_number_has_its_own_bits():
    bits = {derived(seed, p, n) for seed in range(50) for p in (SEAT, EXPLORING, WORLD, LUCK) for n in range(20)}
    assert len(bits) == 50 * 4 * 20


def test_the_deals_of_a_shorter_run_are_the_first_of_a_longer_one():
    assert deal_seeds(3, 50).tolist() == deal_seeds(3, 500)[:50].tolist()
    assert (
        len({*deal_seeds(3, 500).tolist(), *deal_seeds(4, 500).tolist(), *deal_seeds(3, 500, "salt").tolist()}) == 1500
    )
    assert new_salt() != new_salt()


# An agent that runs SplitMix64 backwards. It used to find the seed of every game.


def unmixed(number: int) -> int:
    """The inverse of `mixed`."""
    z = number ^ (number >> 31) ^ (number >> 62)
    z = z * pow(0x94D049BB133111EB, -1, 2**64) & MASK
    z ^= (z >> 27) ^ (z >> 54)
    z = z * pow(0xBF58476D1CE4E5B9, -1, 2**64) & MASK
    return z ^ (z >> 30) ^ (z >> 60)


@given(words)
@settings(deadline=None)
def test_mixing_can_be_undone(number):
    assert unmixed(int(mixed(np.uint64(number)))) == number


def hands_of(state) -> list[int]:
    return [int(hand) for hand in state["hands"][: int(state["seats"])]]


class Inverter:
    """Computes a seed from its world's stream, deals that game and keeps the hands, if its own hand is among them."""

    def __init__(self) -> None:
        self.learnt: list[list[int]] = []
        self.asked = 0

    def __call__(self, game, world):
        seat = int(world["turn"])
        if int(world["ply"]) < 4:
            self.asked += 1
            begun = (unmixed(int(world["rng"])) - 0x9E3779B97F4A7C15) & MASK
            for start in (begun, unmixed(begun)):
                for seed in (start, unmixed(start) ^ int(mixed(seat + 1)), start ^ int(mixed(seat + 1))):
                    dealt = hands_of(game.new(SEATS, seed))
                    if dealt[seat] == hands_of(world)[seat]:
                        self.learnt.append(dealt)
        return game.moves(world)[0]


def test_an_agent_that_runs_its_stream_backwards_learns_nothing():
    games, spy = 60, Inverter()
    lineups = np.tile([0, 1, 1, 1], (games, 1))
    agents = [cardai.player(spy, "inverter"), cardai.agent(MOSKA, "bot3")]
    cardai.play(MOSKA, agents, lineups, deal_seeds(0, games))
    assert spy.asked >= games / 2
    assert spy.learnt == []


def test_the_inverting_agent_finds_seeds_that_streams_give_away():
    """The control: from streams that begin where they used to begin, it finds every game."""
    spy = Inverter()
    for seed in map(int, deal_seeds(0, 20)):
        state, stream = MOSKA.new(SEATS, seed), np.zeros(1, STREAM)
        seat = int(state["turn"])
        stream["rng"] = mixed(int_seed(seed) ^ np.uint64(mixed(seat + 1)))
        world = MOSKA.world(state, seat)
        world["rng"] = next_bits(stream[0])
        spy(MOSKA, world)
        assert hands_of(state) in spy.learnt


@rule
def by_its_stream(world, move, params, stream):
    """Tic-Tac-Toe: the first cell is the first number of the player's stream."""
    taken = world.stones[0] | world.stones[1]
    first = np.int64((next_bits(stream) >> np.uint64(32)) % np.uint64(9))
    move.cell = first if taken == 0 else lowest(full_deck(9) & ~taken)


@pytest.mark.skipif(not JIT, reason="uint64 arithmetic of NumPy scalars warns when it wraps")
def test_a_compiled_player_gets_a_stream_that_the_seed_does_not_give_away():
    game, stream, seeds = cardai.load("tictactoe"), np.zeros(1, STREAM)[0], deal_seeds(0, 300)
    game = game.changed(players={"own": Player(by_its_stream, "plays by its stream")})
    played = cardai.play(game, [cardai.agent(game, "own")], np.zeros((300, 2), np.int64), seeds, record=True).moves
    hits = 0
    for seed, moves in zip(map(int, seeds), played, strict=True):
        stream.rng = mixed(int_seed(seed) ^ np.uint64(mixed(1)))  # where it used to begin
        hits += (int(next_bits(stream)) >> 32) % 9 == int(moves[0]["cell"])
    assert hits < 300 / 9 + 5 * np.sqrt(300 / 9)


# An agent that deals the games of all seeds that people choose, and compares its hand.


@rule
def deal_hands(rules, blank, states, seeds, count, offset, seats, hands):
    """Write the hands, i64[count, seats], of the games of `seeds`."""
    state = at(states, 0)
    for i in range(count):
        copy(state, at(blank, 0), rules.state_size)
        seed_state(state, mixed(get(seeds, i)))
        call_deal(get(rules.calls, DEAL), state)
        for seat in range(seats):
            set(hands, i * seats + seat, load(state, offset + 8 * seat))


def hands_dealt(seeds: np.ndarray) -> np.ndarray:
    """The hands that Moska deals by these seeds: i64[n, seats]."""
    blank, states, hands = MOSKA.options(SEATS), np.zeros(1, MOSKA.state), np.zeros((len(seeds), SEATS), np.int64)
    assert MOSKA.state.fields is not None
    offset = MOSKA.state.fields["hands"][1]
    deal_hands(lend(MOSKA.compiler.rules), raw(blank), raw(states), raw(seeds), len(seeds), offset, SEATS, raw(hands))
    return hands


def guessed(run_seeds: int, games: int, salt: str) -> int:
    """In how many of the first games of a run with seed 7 a seat finds all hands, trying the run's and the deal's seed.

    The seat knows its own hand and the number of the game. It tries run seeds and deal seeds 0..run_seeds-1.
    """
    truth = hands_dealt(deal_seeds(7, games, salt))
    by_deal_seed = hands_dealt(np.arange(run_seeds, dtype=np.uint64))
    tried = np.array([deal_seeds(seed, 1)[0] for seed in range(min(run_seeds, 5000))], np.uint64)
    by_run_seed = hands_dealt(tried)
    found = 0
    for number, hands in enumerate(truth):
        candidates = [by_deal_seed, by_run_seed] if number == 0 else [by_deal_seed]
        alike = np.concatenate([dealt[dealt[:, 0] == hands[0]] for dealt in candidates])
        found += bool((alike == hands).all(axis=1).any())
    return found


@pytest.mark.skipif(not JIT, reason="a million deals")
def test_seeds_cannot_be_tried_under_a_salt():
    salt = new_salt()
    assert guessed(100_000, 200, salt) == 0
    assert guessed(100, 1, "") == 1  # the control: without a salt the run's seed is found
    assert (hands_dealt(np.arange(100, 105, dtype=np.uint64))[2] == hands_of(MOSKA.new(SEATS, 102))).all()


# Salt in benchmarks.


def first(game, world):
    return game.moves(world)[0]


def test_benchmarks_of_ones_own_code_take_a_salt_and_repeat_by_it():
    tictactoe = cardai.load("tictactoe")
    reports = [cardai.match(MOSKA, [cardai.player(first), *["random"] * 3], games=40) for _ in range(2)]
    assert reports[0].salt != reports[1].salt
    assert len(reports[0].salt) == 32
    again = cardai.match(MOSKA, [cardai.player(first), *["random"] * 3], games=40, salt=reports[0].salt)
    assert again.rows == reports[0].rows
    assert cardai.match(tictactoe, ["greedy:open_lines", "random"], games=8).salt == ""
    wrapped = cardai.agent(tictactoe, Greedy(cardai.evaluator(tictactoe, lambda rows: np.full(len(rows), 0.5))))
    assert wrapped.is_foreign
    assert cardai.match(tictactoe, [wrapped, "random"], games=8).salt
