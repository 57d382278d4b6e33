"""Whatever number or array a caller gives, and however far a game's `legal` writes, nothing is damaged by it."""

import math
import subprocess
import sys

import numpy as np
import pytest
import small_game

import cardai
from cardai.errors import CardaiError
from cardai.game import Player
from cardai.game.compiled.fence import fenced, roomy
from cardai.laws import check
from cardai.playing.table.batch import Batch
from cardai.rules import JIT, listing, rule, truncated

GAMES = ("tictactoe", "durak", "hearts", "literature", "moska", "examples/thirtyone", "examples/whist")
compiled_only = pytest.mark.skipif(not JIT, reason="plain Python checks the bounds of arrays itself")
LOW_HAND = small_game.GAME


@rule
def legal_four_times(state, moves):
    """The moves of Low Hand four times over, in a buffer for one list."""
    n = small_game.legal(state, moves)
    for i in range(3 * n):
        moves[n + i].kind = moves[i].kind
        moves[n + i].card = moves[i].card
    return 4 * n


@rule
def legal_without_end(state, moves):
    """Writes a million moves, and says that it has written one."""
    for i in range(1000000):
        moves[i].kind = small_game.DRAW
        moves[i].card = 0
    return 1


@rule
def legal_before(state, moves):
    moves[-len(moves) - 3].card = 7
    return small_game.legal(state, moves)


@rule
def legal_with_a_stray_move(state, moves):
    """Writes far behind its list once in a while, and returns the right number."""
    n = small_game.legal(state, moves)
    if state.ply == 2:
        moves[len(moves) + 37].card = 7
    return n


@rule
def is_legal_that_searches(state, move):
    return True


@rule
def always_more(state, moves):
    return truncated(small_game.legal(state, moves))


listed = listing(small_game.legal, small_game.MOVE, LOW_HAND.max_moves)


@rule
def last_listed(world, move, params, stream):
    moves = listed(world)
    last = moves[len(moves) - 1]
    move.kind = last.kind
    move.card = last.card


@rule
def last_in_short_buffer(world, move, params, stream):
    moves = np.empty(1, small_game.MOVE)
    small_game.legal(world, moves)
    move.kind = moves[0].kind
    move.card = moves[0].card


LISTING = LOW_HAND.changed(players={"last": Player(last_listed, "")})
SHORT = LOW_HAND.changed(players={"short": Player(last_in_short_buffer, "")})


OVERRUNS = {
    "four times": LOW_HAND.changed(legal=legal_four_times),
    "too short": LOW_HAND.changed(max_moves=2),
    "without end": LOW_HAND.changed(legal=legal_without_end),
    "before": LOW_HAND.changed(legal=legal_before),
}


@pytest.mark.parametrize("name", GAMES)
def test_a_list_with_little_room_is_a_random_part_of_the_legal_moves(name: str) -> None:
    game = cardai.load(name)
    for seed in range(6):
        state = game.new(seed=seed)
        for _ in range(4 * seed):
            if state.turn >= 0:
                state = game.play(state, game.moves(state)[seed % 2 - 1])
        if state.turn < 0:
            continue
        everything, more = game.enumerate(state)
        known, kinds = everything.tolist(), set(everything[game.move.names[0]].tolist())
        for most in {1, 2, len(known) // 2 or 1, len(known), len(known) + 1, game.max_moves}:
            part, cut = game.enumerate(state, most)
            assert len(part) == min(most, len(known))
            assert cut == (more or len(known) > most)
            assert len(set(part[game.move.names[0]].tolist())) == min(most, len(kinds)), "one of each kind"
            chosen = [known.index(move) for move in part.tolist()]
            assert chosen == sorted(set(chosen)), "in canonical order, each once"
            assert game.enumerate(state, most)[0].tobytes() == part.tobytes()


def test_little_room_leaves_each_move_as_good_a_chance() -> None:
    game = cardai.load("tictactoe")
    chosen = np.zeros(9)
    state = game.new()
    for first in game.moves(state):
        for second in game.moves(game.play(state, first)):
            here = game.play(game.play(state, first), second)
            moves = game.moves(here)
            chosen[moves.tolist().index(game.enumerate(here, 1)[0][0].item())] += 1
    assert chosen.sum() == 72
    assert (chosen[:7] > 3).all()
    assert (chosen[7:] == 0).all()


def test_many_lists_with_little_room_damage_nothing() -> None:
    lines = [
        "import cardai",
        "games = [cardai.load(name) for name in ('tictactoe', 'durak', 'hearts', 'literature')]",
        "states = [game.new(seed=1) for game in games]",
        "for game, state in zip(games, states):",
        "    for _ in range(5000):",
        "        assert len(game.enumerate(state, 1)[0]) == 1",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@compiled_only
@pytest.mark.parametrize("bug", OVERRUNS)
def test_a_rule_that_writes_past_its_buffer_is_named(bug: str) -> None:
    game = OVERRUNS[bug].changed(is_legal=None)
    state = game.new(seats=3, seed=1)
    for most in (None, 1, 2):
        with pytest.raises(CardaiError, match=r"low_hand: the rule legal (wrote|says that it wrote)"):
            game.enumerate(state, most)
    with pytest.raises(CardaiError, match="low_hand: the rule legal wrote"):
        game.is_allowed(state, np.zeros(1, game.move)[0])
    # What lies in memory is whole: other lists are as before.
    assert LOW_HAND.moves(LOW_HAND.new(seats=3, seed=1)).tobytes() == LOW_HAND.moves(state).tobytes()


@compiled_only
@pytest.mark.parametrize("bug", OVERRUNS)
def test_the_laws_find_a_legal_that_writes_past_max_moves(bug: str) -> None:
    names = ["seat_to_move_has_moves", "rules_stay_in_their_buffers"]
    verdicts = check(OVERRUNS[bug], laws=names, seconds=math.inf)
    problems = [verdict.why for verdict in verdicts if verdict.verdict == "broken"]
    assert problems
    assert not any("crashed" in str(problem) for problem in problems), problems
    assert any("legal" in str(problem) and "max_moves" in str(problem) for problem in problems), problems


@compiled_only
def test_the_laws_find_a_stray_write_behind_the_moves() -> None:
    game = LOW_HAND.changed(legal=legal_with_a_stray_move)
    (verdict,) = check(game, laws=["seat_to_move_has_moves"], seconds=math.inf)
    assert "ply 2: low_hand: the rule legal wrote outside of its buffer; max_moves is 9" in verdict.why


@compiled_only
def test_a_fence_sees_each_byte_beside_its_block() -> None:
    dtype = np.dtype([("kind", "i8"), ("card", "i8")])
    for place in (-1, 0, 16 * 5 - 1):
        space = fenced(dtype, 5)
        assert not space.block.view(np.uint8).any()
        space.block.view(np.uint8)[place] = 1
        assert not space.is_damaged()
    for place in (-1, -16, 5 * 16, 5 * 16 + 999):
        space = fenced(dtype, 5)
        assert not space.is_damaged()
        space.whole[space.block.ctypes.data - space.whole.ctypes.data + place] ^= 1
        assert space.is_damaged()


def test_a_player_has_the_legal_moves_of_its_world() -> None:
    results = cardai.play(LISTING, [cardai.agent(LISTING, "last")], np.zeros((20, 3), int), np.arange(20), record=True)
    for seed, moves in enumerate(results.moves):
        state = LISTING.new(seats=3, seed=seed)
        for move in moves:
            assert move == LISTING.moves(state)[-1]
            state = LISTING.play(state, move)
        assert state.turn < 0
    (verdict,) = check(LISTING, laws=["plain_python_agrees"], seconds=math.inf)
    assert verdict.verdict == "holds", verdict.why


def test_the_laws_name_a_player_that_lists_moves_in_too_short_a_buffer() -> None:
    (verdict,) = check(SHORT, laws=["plain_python_plays_through"], seconds=math.inf)
    assert "player short for seat 0 raised IndexError('index 1 is out of bounds" in verdict.why


def unable(*_arguments, **_options):
    raise MemoryError


def test_a_list_as_long_as_no_memory_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    game = cardai.load("literature")
    state = game.new(seed=1)
    assert len(game.enumerate(state, 10**6)[0]) == len(game.moves(state))
    monkeypatch.setattr(np, "zeros", unable)
    with pytest.raises(CardaiError, match="there is no memory for 1000000000 records of 32 bytes"):
        game.enumerate(state, 10**9)
    with pytest.raises(CardaiError, match="there is no memory for"):
        roomy(10**9, game.move)


@pytest.mark.parametrize("name", ["turns", "counts", "movers", "moves", "seeds", "terminations", "truncations"])
def test_what_a_batch_says_of_its_games_cannot_be_written(name: str) -> None:
    """`step` would read the hand of seat 99 and a list of a million moves."""
    batch = Batch(cardai.load("tictactoe"), 3)
    batch.step(batch.sample())
    with pytest.raises(ValueError, match="read-only"):
        getattr(batch, name)[:] = 99
    batch.step(batch.sample())


@compiled_only
@pytest.mark.parametrize("bug", ["four times", "too short"])
def test_a_count_beyond_max_moves_stops_games_in_a_sentence(bug: str) -> None:
    game = OVERRUNS[bug].changed(is_legal=None)
    for play in (
        lambda: cardai.play(game, [cardai.agent(game, "random")], np.zeros((8, 3), int), range(8)),
        lambda: cardai.play(game, [cardai.agent(game, "greedy:low_points")], np.zeros((8, 3), int), range(8)),
        lambda: Batch(game, 8, seats=3).step(np.zeros(8, int)),
    ):
        with pytest.raises(CardaiError, match=r"low_hand.*: the rule legal (wrote|says that it wrote)"):
            play()
