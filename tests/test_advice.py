"""Advice for a seat: the same in all its worlds, never from the game's streams, and honest about what is not known."""

import math
import time
from pathlib import Path

import numpy as np
import pytest
import small_game
from judges import Judge, know, some_order
from printing import text_of
from truths import truth_of

import cardai
from cardai.cli.show import advice as shown
from cardai.errors import CardaiError
from cardai.measure.coaching.advice import Adviser
from cardai.measure.coaching.chances import chances
from cardai.measure.move_values import usual_judge, usual_valuer
from cardai.playing.table.one import OneGame
from cardai.playing.table.searching import values_in_worlds

TICTACTOE, MOSKA, HEARTS, DURAK = (cardai.load(name) for name in ("tictactoe", "moska", "hearts", "durak"))
THIRTYONE = cardai.load(str(Path(__file__).parent.parent / "examples/thirtyone"))
LOW_HAND = small_game.GAME


def position(game, seats, plies, seed=3):
    """The true state after some moves of random players, at a choice between several moves."""
    while True:
        table = OneGame(game, [cardai.agent(game, "random")] * seats, seed)
        while not table.is_over and (table.ply < plies or len(game.moves(truth_of(table))) < 2):
            table.step()
        if not table.is_over:
            return truth_of(table)
        seed += 1  # this game ended before


JUDGES = [
    (LOW_HAND, 3, "rollout:20"), (LOW_HAND, 3, "sampled:low_points?worlds=5"), (LOW_HAND, 2, "low"),
    (LOW_HAND, 3, "ahead:low_points?worlds=5"), (THIRTYONE, 3, "greedy:prospects"), (MOSKA, 4, None),
    (MOSKA, 3, "bot3"), (HEARTS, 4, "rollout:5"),
]  # fmt: skip


@pytest.mark.parametrize(("game", "seats", "judge"), JUDGES, ids=lambda value: getattr(value, "name", str(value)))
def test_advice_is_the_same_in_all_worlds_of_the_seat(game, seats, judge):
    adviser = Adviser(game, judge, seats, worlds=12)
    changed = 0
    for plies in (0, 5, 11):
        state = position(game, seats, plies)
        worlds = [state, *(game.world(state, int(state["turn"]), seed) for seed in range(4))]
        changed += len({world.tobytes()[48:] for world in worlds}) > 1
        said = {str(adviser.explain(world, seed=8).as_json()) for world in worlds}
        assert len(said) == 1
        hints = {(adviser.hint(world, seed=8).words, adviser.hint(world, 8).pieces) for world in worlds}
        assert len(hints) == 1
    assert changed, "the worlds are not all the same, so advice could differ"


def test_asking_for_advice_changes_no_move_of_the_game():
    def played(asks):
        agents = [None, cardai.agent(LOW_HAND, "sampled:low_points?worlds=2"), cardai.agent(LOW_HAND, "random")]
        table, adviser = OneGame(LOW_HAND, agents, seed=4), Adviser(LOW_HAND, "rollout:5", 3, worlds=5)
        while not table.is_over:
            if not table.is_waiting:
                table.step()
                continue
            if asks:
                adviser.explain(table.seen(0, table.seed), table.seed)
                chances(LOW_HAND, table.seen(0, table.seed), 0, table.seed, worlds=5)
            table.play(table.legal_moves()[0][-1])
        return table.moves.tobytes()

    assert played(False) == played(True)


def test_the_hint_is_the_first_move_of_the_explanation_and_its_pieces_are_those_of_picks():
    for plies in range(0, 12, 3):
        state = position(MOSKA, 4, plies)
        adviser = Adviser(MOSKA, "bot3", 4, worlds=4)
        hint, explanation = adviser.hint(state, 1), adviser.explain(state, 1)
        assert explanation.moves[0].words == hint.words
        assert hint.pieces == int(MOSKA.table.picks(state, hint.move))
        assert MOSKA.is_allowed(state, hint.move)
        assert len(explanation.moves) == len(MOSKA.moves(state))
        means = [move.rollouts.mean for move in explanation.moves[1:]]
        assert means == sorted(means, reverse=True)


def test_rollouts_find_the_move_that_wins_at_once_and_tell_it_apart():
    """X to move with two in a row: a3 wins, the other moves do not."""
    state = TICTACTOE.new()
    for cell in ("a1", "c1", "a2", "c2"):
        state = TICTACTOE.play(state, TICTACTOE.text.parse(state, cell))
    explanation = Adviser(TICTACTOE, "rollout:200").explain(state, 0)
    assert [explanation.moves[0].words, explanation.moves[0].rollouts.mean] == ["a3", 1.0]
    for move in explanation.moves[1:]:
        assert move.is_told_apart
        assert move.rollouts.high < 0
        assert move.rollouts.low <= move.rollouts.difference <= move.rollouts.high


def test_a_judge_of_after_states_has_no_interval_and_a_judge_of_draws_has_one(monkeypatch):
    know(
        monkeypatch,
        Judge("of_after", "planes", 3, some_order, moment="before_draw"),
        Judge("of_settled", "planes", 3, some_order),
    )
    state = position(THIRTYONE, 3, 4)
    after = Adviser(THIRTYONE, "greedy:of_after", 3, worlds=30).explain(state, 1)
    settled = Adviser(THIRTYONE, "sampled:of_settled?worlds=30", 3, worlds=30).explain(state, 1)
    assert all(move.value.low is None for move in after.moves)
    assert "the same in all worlds" in " ".join(shown.notes(after))
    assert all(move.value.low is not None for move in settled.moves)
    assert after.bounded
    assert settled.bounded
    played = Adviser(THIRTYONE, "house", 3, worlds=30).explain(state, 1)
    assert all(move.value is None for move in played.moves)
    assert len(shown.heads(played)) == len(shown.rows(played)[0]) == 4
    assert len(shown.heads(after)) == len(shown.rows(after)[0]) == 6


def test_values_of_a_judge_are_those_by_which_it_chooses():
    state = position(LOW_HAND, 3, 5)
    explanation = Adviser(LOW_HAND, "greedy:low_points", 3, worlds=5).explain(state, 1)
    best = max(move.value.mean for move in explanation.moves)
    assert explanation.moves[0].value.mean == best
    world = LOW_HAND.world(state, int(state["turn"]), 1)
    for move in explanation.moves:
        after = LOW_HAND.after(world, LOW_HAND.text.parse(world, move.words))
        assert move.value.mean == LOW_HAND.value(after, int(state["turn"]), "low_points")


def test_worlds_are_shared_by_all_moves_and_the_first_worlds_do_not_depend_on_how_many_follow():
    state, player = position(LOW_HAND, 3, 5), cardai.agent(LOW_HAND, "rollout:1")
    world, moves = LOW_HAND.world(state, int(state["turn"]), 1), LOW_HAND.moves(state)
    few, many = (values_in_worlds(LOW_HAND, player, world, moves, count, 7) for count in (3, 9))
    assert (few == many[:3]).all()
    twice = np.concatenate([moves[:1], moves[:1]])
    alike = values_in_worlds(LOW_HAND, player, world, twice, 40, 7)
    assert (alike[:, 0] == alike[:, 1]).all()
    assert len(np.unique(alike)) > 1
    with pytest.raises(CardaiError, match="plays no worlds on"):
        values_in_worlds(LOW_HAND, cardai.agent(LOW_HAND, "random"), world, moves, 3, 7)


@pytest.mark.parametrize(
    ("judge", "why"),
    [
        ("peeking:low_points", "peeks"), ("greedy:low_points?epsilon=0.1", "does not always play"),
        ("low?randomised", "does not always play"), ("nobody", "no agent"), ("human", "sits down only"),
    ],
)  # fmt: skip
def test_judges_that_cannot_advise_are_refused(judge, why):
    with pytest.raises(CardaiError, match=why):
        Adviser(LOW_HAND, judge, 3)


def test_there_is_no_advice_when_the_game_is_over():
    table = OneGame(LOW_HAND, [cardai.agent(LOW_HAND, "random")] * 2, 1)
    table.run()
    with pytest.raises(CardaiError, match="the game is over"):
        Adviser(LOW_HAND, "low", 2).hint(truth_of(table), 1)


def test_a_game_that_names_nobody_is_judged_by_rollouts():
    assert str(usual_judge(LOW_HAND, "three", 3, 100)) == "rollout:100"
    assert str(usual_valuer(LOW_HAND, "three", 3, 40)) == "rollout:40"


def test_a_hand_written_judge_plays_worlds_on_and_an_agent_of_endings_has_the_values_of_the_one_inside():
    state = position(DURAK, 2, 20)
    told = Adviser(DURAK, "thrifty", 2).explain(state, 1)
    assert (told.by, told.scale) == ("thrifty", "")
    told = Adviser(DURAK, "endgame:greedy:podkidnoy2", 2).explain(state, 1)
    assert told.scale == Adviser(DURAK, "greedy:podkidnoy2", 2).explain(state, 1).scale != ""
    assert any(move.value is not None for move in told.moves)


def test_an_explanation_takes_no_longer_than_a_person_waits():
    """`rollout:100` and its explanation in Moska with many moves: far less than a second when compiled."""
    state = position(MOSKA, 4, 20)
    adviser = Adviser(MOSKA, "rollout:100", 4)
    adviser.explain(state, 1)
    began = time.perf_counter()
    adviser.explain(state, 2)
    assert time.perf_counter() - began < 3.0


# Where hidden cards may lie.


def test_chances_are_the_shares_of_worlds_and_know_what_the_seat_knows():
    game = LOW_HAND.changed(chances=None)  # as in most games, nothing counts them
    state = position(game, 3, 2)
    seat = int(state["turn"])
    found = chances(game, state, seat, seed=1, worlds=200)
    own = int(state["hands"][seat])
    assert found.cards
    assert all(not own >> card & 1 for card in found.cards)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1.0)
    assert (found.shares[:, seat] == 0).all()
    for other in range(3):
        if other != seat:
            hidden = int(state["hands"][other] & ~state["known"][other]).bit_count()
            assert found.shares[:, other].sum() == pytest.approx(hidden)
    worlds = {str(chances(game, game.world(state, seat, s), seat, 1, worlds=50)) for s in range(3)}
    assert len(worlds) == 1, "they depend on what the seat knows only"
    text = text_of(shown.chances_table(game, found))
    assert "percent of 200 worlds" in text
    assert game.table.pieces[found.cards[0]] in text


def test_chances_that_the_game_counts_are_exact_and_agree_with_worlds():
    """Literature after some questions: what others asked for forces cards into their hands."""
    game = cardai.load("literature")
    table = OneGame(game, [cardai.agent(game, "random")] * 4, 5)
    while table.ply < 12:
        table.step()
    state, seat = table.seen(table.turn, table.seed), table.turn
    exact = chances(game, state, seat, seed=1)
    sampled = chances(game.changed(chances=None), state, seat, seed=1, worlds=1000)
    assert (exact.is_exact, exact.margin, sampled.is_exact) == (True, 0.0, False)
    assert set(sampled.cards) <= set(exact.cards)
    shares = dict(zip(sampled.cards, sampled.shares, strict=True))
    for card, mine in zip(exact.cards, exact.shares, strict=True):
        if card in shares:
            np.testing.assert_allclose(mine, shares[card], atol=5 * 0.5 / math.sqrt(1000))
    assert (exact.shares[:, seat] == 0).all()
    np.testing.assert_allclose(exact.shares.sum(axis=1), 1.0)
    assert len({str(chances(game, game.world(state, seat, s), seat, 1)) for s in range(3)}) == 1
    assert len({round(share, 9) for share in exact.shares.ravel()}) > 4, "not the same for all cards"
    text = text_of(shown.chances_table(game, exact))
    assert "exact" in text
    assert "worlds" not in text


def test_chances_need_holdings_and_pieces():
    for game in (TICTACTOE, LOW_HAND.changed(pieces=(), zones=None, picks=None)):
        with pytest.raises(CardaiError, match="does not say which cards lie where"):
            chances(game, game.new(), 0, 1)


@pytest.mark.parametrize("game", [MOSKA, HEARTS, cardai.load("durak"), THIRTYONE, LOW_HAND], ids=lambda game: game.name)
def test_the_hands_come_first_in_holdings(game):
    """`chances` reads them so, as the contract says."""
    table = OneGame(game, [cardai.agent(game, "random")] * game.default_seats, 2)
    while not table.is_over:
        state = truth_of(table)
        assert [int(cards) for cards in game.table.holdings(state)][: table.seats] == state["hands"][
            : table.seats
        ].tolist()
        table.step()
