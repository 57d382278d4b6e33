"""The table: what a game depends on, and what happens when something goes wrong."""

import threading
from dataclasses import replace
from typing import ClassVar

import numpy as np
import planted
import pytest
import small_game
import steps
from judges import Judge, know, some_order

import cardai
from cardai.errors import CardaiError, IllegalMove
from cardai.game import Player
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.agents.strategy import EvenlyRandom, OfFunction, one_by_one
from cardai.playing.table import many
from cardai.playing.table.asking import Inquiry
from cardai.playing.table.many import play
from cardai.records.record import RecordedGame, replay
from cardai.rules import JIT

MOSKA, TICTACTOE, LOW_HAND, STEPS = cardai.load("moska"), cardai.load("tictactoe"), small_game.GAME, steps.GAME


def outside(choose, spec="python:here"):
    return Agent(spec, OfFunction(one_by_one(choose)))


def seeds_of(count, first=0):
    return np.arange(first, first + count, dtype=np.uint64)


def lines(agents, count, seats):
    """Line-ups in which every agent sits everywhere now and then."""
    return (np.arange(count)[:, None] * 7 + np.arange(seats)[None] * 3 + np.arange(count)[:, None] // 5) % len(agents)


def same_games(one, other, order=None):
    order = slice(None) if order is None else order
    assert one.finished.all()
    assert one.scores.tolist() == other.scores[order].tolist()
    assert one.plies.tolist() == other.plies[order].tolist()


@pytest.fixture(scope="module")
def moska_cast():
    return [agent(MOSKA, spec) for spec in ("random", "bot3?randomised", "bot0", "sampled:hand_value?worlds=3")]


COUNT = 60 if JIT else 4


@pytest.fixture(scope="module")
def moska_games(moska_cast):
    lineups = lines(moska_cast, COUNT, 4)
    return lineups, play(MOSKA, moska_cast, lineups, seeds_of(COUNT), threads=1, live=1)


@pytest.mark.parametrize(
    "how",
    [
        {"threads": 2, "live": 16},
        {"threads": 1, "live": 1000},
        {"threads": 3, "live": 7},
        {"record": True, "threads": 2},
        {"checked": True},
        {"tally": True},
    ],
    ids=str,
)
def test_a_game_does_not_depend_on_how_it_is_played(moska_cast, moska_games, how):
    lineups, alone = moska_games
    same_games(play(MOSKA, moska_cast, lineups, seeds_of(COUNT), **how), alone)


def test_a_game_does_not_depend_on_the_games_beside_it(moska_cast, moska_games):
    lineups, alone = moska_games
    order = np.random.default_rng(1).permutation(COUNT)
    same_games(play(MOSKA, moska_cast, lineups[order], seeds_of(COUNT)[order], threads=1, live=5), alone, order)
    few = order[: COUNT // 2]
    same_games(play(MOSKA, moska_cast, lineups[few], seeds_of(COUNT)[few]), alone, few)


def test_a_game_does_not_depend_on_the_order_of_the_cast(moska_cast, moska_games):
    lineups, alone = moska_games
    same_games(play(MOSKA, moska_cast[::-1], len(moska_cast) - 1 - lineups, seeds_of(COUNT)), alone)


@pytest.mark.parametrize("spec", ["one", "one?randomised"])
def test_a_players_parameters_are_its_own_whoever_else_is_in_the_cast(spec):
    """Neither another player's wider parameters nor what was drawn for a game before reach it."""
    lineups, count = np.array([[0, 1]]), 40
    cast = [agent(STEPS, spec), agent(STEPS, "climb")]
    alone = play(STEPS, cast, np.repeat(lineups, count, 0), seeds_of(count))
    wider = [*cast, agent(STEPS, "two?randomised")]
    between = np.tile([[2, 2], [0, 1]], (count, 1))
    mixed = play(STEPS, wider, between, np.repeat(seeds_of(count), 2), live=1)
    assert mixed.plies[1::2].tolist() == alone.plies.tolist()
    assert len(set(alone.plies.tolist())) > 2


def test_what_is_drawn_for_a_randomised_player_does_not_depend_on_the_others():
    """Seat 0 plays the same game in worlds that differ only in who sits in seat 1 but does nothing."""
    cast = [agent(STEPS, "two?randomised"), agent(STEPS, "random"), agent(STEPS, "one?p=0")]
    a = play(STEPS, cast, np.repeat([[0, 1]], 30, 0), seeds_of(30), record=True)
    b = play(STEPS, cast, np.repeat([[0, 2]], 30, 0), seeds_of(30), record=True)
    assert [m.tobytes() for m in a.moves if m is not None] == [m.tobytes() for m in b.moves if m is not None]
    assert a.finished.any()


def test_randomised_draws_anew_for_every_game_between_nothing_and_double():
    cast = [agent(STEPS, "one?p=0.5&randomised"), agent(STEPS, "random")]
    count = 300 if JIT else 20
    results = play(STEPS, cast, np.repeat([[0, 1]], count, 0), seeds_of(count), record=True)
    shares = [np.mean(moves["step"][::2]) for moves in results.moves if moves is not None]
    assert np.std(shares) > 0.15  # with p = 0.5 for all it would be about 0.1
    assert results.finished.mean() > 0.95


def test_randomised_draws_a_count_as_a_whole_number_from_1_to_less_than_double():
    """A count of 0 cards, or of 2.7, is none."""
    cast = [agent(STEPS, "counted?randomised"), agent(STEPS, "random")]
    count = 300 if JIT else 20
    results = play(STEPS, cast, np.repeat([[0, 1]], count, 0), seeds_of(count), record=True)
    assert results.finished.all()  # with no count, a game never ends
    shares = [np.mean(moves["step"][::2]) for moves in results.moves]
    assert min(shares) < 0.35
    assert max(shares) > 0.9
    with pytest.raises(CardaiError, match=r"fifths='2\.5' is a count; it must be a whole number from 1"):
        agent(STEPS, "counted?fifths=2.5")
    with pytest.raises(CardaiError, match="defaults: low must be at least 1, not 0"):
        Player(lambda *_: None, "none", {"low": 0})


def test_records_replay_to_the_scores_also_when_the_log_had_to_grow():
    count, variant = 6, "high"
    results = play(STEPS, [agent(STEPS, "climb")], np.zeros((count, 2), int), seeds_of(count), variant=variant,
                   record=True, live=2)  # fmt: skip
    assert results.plies.tolist() == [700] * count
    for game, moves in enumerate(results.moves):
        recorded = RecordedGame(game, game, variant, (0, 0), tuple(results.scores[game].tolist()), moves)
        assert int(replay(STEPS, recorded).height) == 700


def test_a_log_grows_while_other_games_go_on_and_outside_players_are_asked():
    cast = [agent(STEPS, "two"), outside(lambda game, world: game.moves(world)[int(world.ply % 3 == 0)])]
    lineups = lines(cast, 12, 2)
    recorded = play(STEPS, cast, lineups, seeds_of(12), variant="high", record=True, live=5)
    same_games(recorded, play(STEPS, cast, lineups, seeds_of(12), variant="high"))
    assert recorded.plies.min() > 512
    for game, moves in enumerate(recorded.moves):
        seats, scores = tuple(lineups[game].tolist()), tuple(recorded.scores[game].tolist())
        replay(STEPS, RecordedGame(game, game, "high", seats, scores, moves))


@pytest.mark.parametrize("record", [False, True])
def test_an_endless_game_is_given_up_and_counted_apart(record):
    cast = [agent(STEPS, "random"), agent(STEPS, "climb")]
    lineups = np.array([[0, 0], [1, 1], [0, 0], [0, 1]])
    results = play(STEPS, cast, lineups, seeds_of(4), record=record, live=2)
    assert results.endless.tolist() == [True, False, True, False]
    assert results.finished.tolist() == [False, True, False, True]
    assert results.plies[[1, 3]].tolist() == [10, 20]
    if record:
        assert [moves is None for moves in results.moves] == [True, False, True, False]


def test_an_illegal_move_from_outside_names_agent_seed_and_ply():
    def wrong(game, world):
        move = game.moves(world)[0].copy()
        move.step = 5 if world.ply == 4 else 1
        return move

    with pytest.raises(IllegalMove, match=r"seat 0 may not play 'steps 5' .*agent python:here, game seed 77, ply 4"):
        play(STEPS, [outside(wrong)], np.zeros((1, 2), int), seeds_of(1, 77))


def test_an_illegal_move_of_a_checked_player_is_found_and_of_another_is_not():
    cast, lineups = [agent(STEPS, "leap")], np.zeros((2, 2), int)
    with pytest.raises(IllegalMove, match=r"seat 1 may not play 'steps 7' .*agent leap, game seed 5, ply 3"):
        play(STEPS, cast, lineups, seeds_of(2, 5), checked=True, threads=1)
    assert play(STEPS, cast, lineups, seeds_of(2, 5)).finished.all()


@pytest.mark.parametrize("spec", ["rollout:2", "uniform"])
def test_a_seat_without_a_legal_move_stops_the_run_with_its_seed_and_ply(spec):
    stuck = Agent("uniform", EvenlyRandom()) if spec == "uniform" else agent(STEPS, spec)
    with pytest.raises(CardaiError, match=r"steps, game seed 3, ply \d+: seat [01] is to move and has no legal move"):
        play(STEPS, [stuck], np.zeros((1, 2), int), seeds_of(1, 3), variant="trapped", max_plies=100)


def test_ctrl_c_keeps_what_was_finished():
    """Games that end in the very slice that Ctrl-C cuts short are handed over too, and none is twice."""

    def tired(game, world):
        raise KeyboardInterrupt

    cast = [agent(STEPS, "climb"), outside(tired)]
    lineups = np.array([[0, 0], [0, 0], [0, 0], [0, 1]])
    results = play(STEPS, cast, lineups, seeds_of(4), record=True, live=4)
    assert results.interrupted
    assert results.finished.tolist() == [True, True, True, False]
    assert [moves is not None for moves in results.moves] == results.finished.tolist()

    handed = []
    results = play(STEPS, cast, lineups, seeds_of(4), on_game=lambda game, *_: handed.append(game), live=4)
    assert sorted(handed) == np.flatnonzero(results.finished).tolist()


def test_ctrl_c_while_a_game_is_handed_over_does_not_hand_it_over_twice():
    handed = []

    def on_game(game, moves, scores):
        handed.append(game)
        if len(handed) == 2:
            raise KeyboardInterrupt

    results = play(STEPS, [agent(STEPS, "climb")], np.zeros((5, 2), int), seeds_of(5), on_game=on_game, live=5)
    assert results.interrupted
    assert sorted(handed) == [0, 1, 2, 3, 4]


def test_outside_players_are_given_worlds():
    """A seat's own cards are true, the others' are dealt anew, and the stream is another."""
    seen = []

    def watch(game, world):
        seen.append(world.copy())
        return game.moves(world)[-1]

    play(LOW_HAND, [outside(watch)], np.zeros((20, 2), int), np.zeros(20, np.uint64))
    deal = LOW_HAND.new(2, seed=0)
    opening = [world for world in seen if world.ply == 0]
    assert len(opening) == 20
    assert {int(world.hands[0]) for world in opening} == {int(deal.hands[0])}
    assert {int(world.hands[1]) for world in opening} != {int(deal.hands[1])}


# Evaluators: half of the games play on while the other half's positions are scored.


@pytest.fixture
def judged(monkeypatch):
    know(
        monkeypatch,
        Judge("one", "planes", 2, some_order),
        Judge("other", "planes", 2, lambda rows: 1 - some_order(rows)),
    )
    specs = ("sampled:one?worlds=3", "low", "greedy:other?epsilon=0.1", "peeking:one?temperature=0.1")
    return [*(agent(LOW_HAND, spec) for spec in specs), outside(lambda game, world: game.moves(world)[-1])]


@pytest.mark.parametrize(
    "how",
    [
        {"live": 1},
        {"live": 2},
        {"live": 3},
        {"live": 3, "threads": 8},
        {"live": 500, "threads": 3},
        {"live": 12, "threads": 2, "record": True, "checked": True, "tally": True},
    ],
    ids=str,
)
def test_games_with_evaluators_do_not_depend_on_how_they_are_played(judged, how):
    count = 50 if JIT else 6
    lineups = lines(judged, count, 2)
    alone = play(LOW_HAND, judged, lineups, seeds_of(count), threads=1, live=9)
    together = play(LOW_HAND, judged, lineups, seeds_of(count), **how)
    same_games(together, alone)
    assert (together.rows, together.decisions) == (alone.rows, alone.decisions)
    assert 0 < together.batches <= together.rows


class Watched(Inquiry):
    """An inquiry that notes which slots it thinks about until their moves are there."""

    asked_about: ClassVar[set[int]] = set()
    faults: ClassVar[list[str]] = []
    lock = threading.Lock()

    def begin(self, *arguments, **options):
        taken = super().begin(*arguments, **options)
        with self.lock:
            self.faults += [f"slot {slot} twice" for slot in self.picked if int(slot) in self.asked_about]
            self.asked_about |= {int(slot) for slot in self.picked}
        self.note()
        return taken

    def receive(self):
        super().receive()
        self.note()

    def note(self):
        if self.moves is not None:
            with self.lock:
                heard = {int(slot) for slot in self.picked}
                self.faults += [f"slot {slot} was not asked about" for slot in heard - self.asked_about]
                self.asked_about -= heard


@pytest.mark.parametrize("room", [1, 2048])
def test_no_slot_is_asked_about_twice_and_none_waits_for_ever(judged, monkeypatch, room):
    """Also when a batch has room for a decision or two only, so that most of those who wait are not asked."""
    monkeypatch.setattr(many, "Inquiry", Watched)
    monkeypatch.setattr(many, "FEW", 5)
    monkeypatch.setattr("cardai.playing.table.lookahead.SMALLEST", room)
    cast = [replace(one, game=TICTACTOE) for one in judged[2:4]]
    for one in cast:
        monkeypatch.setattr(one.evaluator, "batch", room)
    Watched.asked_about.clear()
    Watched.faults.clear()
    live, count, ended = 40, 160, []
    results = play(
        TICTACTOE,
        cast,
        lines(cast, count, 2),
        seeds_of(count),
        live=live,
        threads=2,
        on_game=lambda game, *_: ended.append(game),
    )
    assert results.finished.all()
    assert Watched.faults == []
    assert not Watched.asked_about
    # Slot s plays games s, s + 40, ... of 5 to 9 moves: no slot ends its third game before another has ended one.
    assert max(map(ended.index, range(live))) < min(map(ended.index, range(2 * live, count)))


def test_the_tally_counts_decisions_with_a_choice():
    results = play(STEPS, [agent(STEPS, "climb")], np.zeros((2, 2), int), seeds_of(2), tally=True)
    assert results.tally.tolist() == [pytest.approx([10, 20, 10 * np.log10(2), 0])] * 2
    climbing = outside(lambda game, world: game.moves(world)[1])
    results = play(STEPS, [climbing], np.zeros((2, 2), int), seeds_of(2), tally=True)
    assert results.tally.tolist() == [pytest.approx([10, 20, 10 * np.log10(2), 0])] * 2


def test_no_games_is_no_trouble():
    results = play(STEPS, [agent(STEPS, "climb")], np.zeros((0, 2), int), seeds_of(0))
    assert len(results.scores) == len(results.finished) == results.decisions == 0


def test_lineups_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="do not fit"):
        play(STEPS, [agent(STEPS, "climb")], np.zeros((2, 2), int), seeds_of(3))
    with pytest.raises(ValueError, match="there are 1"):
        play(STEPS, [agent(STEPS, "climb")], np.ones((2, 2), int), seeds_of(2))
    with pytest.raises(CardaiError, match="not 3"):
        play(STEPS, [agent(STEPS, "climb")], np.zeros((2, 3), int), seeds_of(2))


def test_progress_ends_with_all_games():
    seen = []
    play(STEPS, [agent(STEPS, "climb")], np.zeros((9, 2), int), seeds_of(9), progress=lambda *now: seen.append(now))
    assert seen[-1] == (9, 9)


def test_a_player_that_sees_its_own_finds_nothing_when_it_peeks():
    """A faulty player looks at the deck. A blanked deck changes none of its games, the deck of a world does."""
    lineups, seeds = np.zeros((200, 3), np.int64), seeds_of(200)
    honest = play(LOW_HAND, [agent(LOW_HAND, "low")], lineups, seeds)
    blanked = planted.PEEKING_AT_THE_DECK
    same_games(honest, play(blanked, [agent(blanked, "low")], lineups, seeds))
    peeking = blanked.changed(players={"low": replace(blanked.agents.players["low"], sees="world")})
    assert (honest.scores != play(peeking, [agent(peeking, "low")], lineups, seeds).scores).any()


def test_a_player_sees_a_world_or_its_own_and_its_own_needs_blank():
    with pytest.raises(CardaiError, match='a player sees "world" or "own", not \'all\''):
        replace(LOW_HAND.agents.players["low"], sees="all")
    with pytest.raises(CardaiError, match='low_hand: the player low sees="own", so the game needs the rule blank'):
        LOW_HAND.changed(blank=None)
