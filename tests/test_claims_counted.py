"""Claims of the sources that counting answers: in seeded games, or by arithmetic."""

import math
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

import cardai
from cardai.evaluators.policies import ppo
from cardai.experiments import style
from cardai.games.hearts.rules import penalty
from cardai.games.moska.players import ENGINE, weighed_hand
from cardai.games.moska.rules import attackers
from cardai.measure.move_values import weighed
from cardai.playing.agents.spec import agent
from cardai.playing.stats.deals import deal_seeds
from cardai.playing.stats.interval import wilson
from cardai.playing.table.many import play
from cardai.playing.table.one import OneGame
from cardai.rules import rule
from cardai.rules.cards import single

QUEEN = 13
"""The points of the queen of spades; a trick without her has four at most, one for each heart."""


def rounds_of(spec, games):
    """Rounds of Hearts by the paper's rules: {seed: (points of the seats, points of each trick)}; none with a moon."""
    game, seeds = cardai.load("hearts"), np.arange(games, dtype=np.uint64)
    line_ups = np.zeros((games, 4), np.int64)
    played = play(game, [agent(game, spec)], line_ups, seeds, variant="paper", record=True, outcomes=("points",))
    found = {}
    for seed, moves in zip(seeds, played.moves, strict=True):
        state, tricks, before = game.new(seed=int(seed), variant="paper"), [], 0
        for move in moves:
            state = game.play(state, move)
            taken = sum(penalty(int(cards)) for cards in state.taken)
            if int(state.tricks.sum()) > len(tricks):
                tricks.append(taken - before)
                before = taken
        points = [penalty(int(cards)) for cards in state.taken]
        assert sum(tricks) == sum(points) == 26
        if max(points) < 26:
            found[int(seed)] = points, tricks
    return found


def test_a_player_of_hearts_takes_at_most_13_points_in_most_rounds_and_4_in_most_tricks():
    """Demirdöver and others 2022, section 4.2: "mostly", here three quarters of rounds without a moon."""
    for spec in ("careful", "random"):
        rounds = rounds_of(spec, 200)
        points = np.array([each for points, _ in rounds.values() for each in points])
        tricks = np.array([each for _, tricks in rounds.values() for each in tricks])
        print(spec, len(rounds), np.mean(points <= QUEEN), np.mean(tricks <= 4))
        assert np.mean(points <= QUEEN) > 0.75
        assert np.mean(tricks <= 4) > 0.9


def test_how_many_rounds_of_hearts_have_a_moon_depends_on_who_plays():
    """Demirdöver and others 2022, section 4.3: 5 % in games of players that it does not describe."""
    game, shares = cardai.load("hearts"), {}
    line_ups, seeds = np.zeros((4000, 4), np.int64), np.arange(4000, dtype=np.uint64)
    for spec in ("random", "duck", "careful"):
        played = play(game, [agent(game, spec)], line_ups, seeds, variant="paper", outcomes=("moon",))
        shares[spec] = 100 * float(played.outcomes["moon"].any(axis=1).mean())
    print({spec: f"{share:.1f} % of rounds have a moon" for spec, share in shares.items()})
    assert shares["random"] < 5 < shares["careful"]


def test_whoever_draws_the_last_card_of_moska_need_not_have_the_trump_card():
    """README of the thesis' program, Appendix 1: "guaranteed". The target may turn it up, and kill with it."""
    game, held, total = cardai.load("moska"), 0, 0
    players = [agent(game, "bot3")]
    line_ups, seeds = np.zeros((100, 4), np.int64), np.arange(100, dtype=np.uint64)
    for seed, moves in zip(seeds, play(game, players, line_ups, seeds, record=True).moves, strict=True):
        state = game.new(seats=4, seed=int(seed))
        for move in moves:
            state = game.play(state, move)
            if not state.deck_left:
                break
        trump = single(int(state.trump_card))
        held += any(int(hand) & trump for hand in state.hands)
        total += not state.deck_left
    print(held, total)
    assert 0 < held < total


def states_of(game, spec, games):
    """The states before every move of seeded games of four of an agent, a list for each game."""
    seeds, line_ups = np.arange(games, dtype=np.uint64), np.zeros((games, 4), np.int64)
    for seed, moves in zip(seeds, play(game, [agent(game, spec)], line_ups, seeds, record=True).moves, strict=True):
        states = [game.new(seats=4, seed=int(seed))]
        for move in moves:
            states.append(game.play(states[-1], move))
        yield states[:-1]


def test_a_tree_of_moska_in_which_all_who_may_move_do_is_larger():
    """Vahteristo 2023, section 1.1.2. Rule 6.1 draws one of several players; all their moves are counted beside its."""
    game, drawn, every = cardai.load("moska"), [], []
    for states in states_of(game, "bot3", 20):
        for state in states:
            own = len(game.moves(state))
            able = int(attackers(state)) & ~int(state["ready"])
            counts = []
            for seat in range(4):
                if able >> seat & 1:
                    other = state.copy()
                    other["turn"] = seat
                    counts.append(len(game.moves(other)))
            all_moves = sum(counts) if counts else own  # the target moves when all others are ready (6.2)
            if own > 1:
                drawn.append(math.log10(own))
            if all_moves > 1:
                every.append(math.log10(all_moves))
    print(f"log10 b^d a game: {sum(drawn) / 20:.1f} of the drawn seat, {sum(every) / 20:.1f} of all who may move")
    assert sum(every) > 1.1 * sum(drawn)


@pytest.mark.slow
def test_moves_in_lost_positions_of_moska_have_equal_values_but_in_won_ones_they_do_not():
    """Vahteristo 2023, section 3.3. Won and lost: the seat's position before was within 0.02 of 1 or 0."""
    game = cardai.load("moska")
    judge, spreads = agent(game, "greedy:best"), {"won": [], "lost": [], "open": []}
    for states in states_of(game, "greedy:best", 100):
        before = {}
        for ply, (_, values) in weighed(game, judge, states, 0, None).items():
            seat = int(states[ply]["turn"])
            value = before.get(seat, 0.5)
            spreads["won" if value > 0.98 else "lost" if value < 0.02 else "open"].append(np.ptp(values))
            before[seat] = values.max()
    for kind, each in spreads.items():
        print(f"{kind}: {len(each)} decisions, best less worst move {np.median(each):.3f} in the median")
    middle = {kind: np.median(each) for kind, each in spreads.items()}
    assert middle["lost"] < 0.03
    assert min(middle["won"], middle["open"]) > 0.08


@pytest.mark.slow
def test_an_agent_of_moska_attacks_those_who_are_nearly_out():
    """Vahteristo 2023, section 3.3: "weaker hands". Who has fewer cards has the better ones, and is attacked more."""
    game, games = cardai.load("moska"), 300
    seeds = deal_seeds(style.SEED, games)
    results = play(game, [agent(game, style.AGENTS[style.CLAIMED])], np.zeros((games, 4), np.int64), seeds, record=True)
    rows = []
    for number, (seed, moves) in enumerate(zip(seeds, results.complete().moves, strict=True)):
        for decision in style._decisions(game, int(seed), moves):
            if style._answer(decision, style._attacks) is not None:
                state, target = decision.state, int(decision.state.target)
                cards, known = (int(of[target]).bit_count() for of in (state.hands, state.known))
                attacks = bool(decision.kinds(style.ATTACK)[decision.chosen])
                rows.append((number, attacks, style.strength(state, target), cards, known / cards))
    number, attacks, strength, cards, known = np.array(rows).T

    def lower_half(of, where=slice(None)):
        """How much more often it attacks the lower half of targets than the higher one, in percentage points."""
        low, columns = of[where] < np.median(of[where]), np.zeros((games, 4))
        for place, half in ((0, low), (2, ~low)):
            np.add.at(columns, (number[where][half].astype(int), place), attacks[where][half])
            np.add.at(columns, (number[where][half].astype(int), place + 1), 1)
        return style._difference(columns)

    few = lower_half(cards)
    print(f"against fewer cards less more: {few}")
    print(f"against weaker cards less stronger: {lower_half(strength)}")
    print(f"the same where at least half of them are known: {lower_half(strength, known >= 0.5)}")
    assert few.low > 0
    assert np.corrcoef(cards, strength)[0, 1] < -0.1


def weighing(of_mean, of_card, of_missing, of_bar):
    """The heuristic `hand_value` of Moska by other weights."""

    @rule
    def value(state, seat):
        return weighed_hand(state, seat, of_mean, of_card, of_missing, of_bar)

    return value


def lost_by(weights, games=4000):
    """The share of games that a player by these weights loses against three Bot3: (low, point, high), in percent."""
    moska = cardai.load("moska")
    game = moska.changed(heuristics={**moska.agents.heuristics, "tried": weighing(*weights)})
    line_ups = np.tile(np.array([np.roll([0, 1, 1, 1], seat) for seat in range(4)]), (games // 4, 1))
    seeds = np.repeat(np.arange(games // 4, dtype=np.uint64), 4)
    scores = play(game, [agent(game, "greedy:tried"), agent(game, "bot3")], line_ups, seeds).complete().scores
    lost = int((scores[np.arange(games), line_ups.argmin(axis=1)] == 0).sum())
    low, high = wilson(lost, games)
    return 100 * low, 100 * lost / games, 100 * high


@pytest.mark.slow
def test_no_weight_of_hand_value_halved_or_doubled_loses_less():
    """README of the thesis' program, 1.2: "optimised so that it loses least"."""
    low, engine, _ = lost_by(ENGINE)
    print(f"the engine's weights lose {engine:.1f} %")
    for place in range(4):
        for factor in (0.5, 2.0):
            weights = [weight * (factor if place == number else 1) for number, weight in enumerate(ENGINE)]
            _, lost, high = lost_by(weights)
            print(f"weight {place} times {factor}: {lost:.1f} %")
            assert high > low


def test_whoever_does_not_value_high_cards_loses_far_more_games_of_moska():
    """Vahteristo 2023, Appendix 2.4, and README, Appendix 1: the first part of the advice."""
    (_, engine, high), (low, lost, _) = lost_by(ENGINE), lost_by((0.0, *ENGINE[1:]))
    print(f"by hand_value {engine:.1f} % lost, without its weight of high cards {lost:.1f} %")
    assert low > high + 10


def test_players_that_are_threads_of_one_game_keep_one_processor_busy():
    """README of the thesis' program, 3: no speed, as the state is locked while a player thinks."""
    game = cardai.load("moska")
    players = [agent(game, "rollout:40")] * 4
    OneGame(game, players, seed=1).step()  # compiled
    table, lock = OneGame(game, players, seed=2), threading.Lock()

    def take_turns(seat):
        while not table.is_over and table.ply < 60:
            with lock:
                if not table.is_over and table.turn == seat:
                    table.step()

    seats = [threading.Thread(target=take_turns, args=(seat,)) for seat in range(4)]
    began, used = time.perf_counter(), time.process_time()
    for seat in seats:
        seat.start()
    for seat in seats:
        seat.join()
    busy = (time.process_time() - used) / (time.perf_counter() - began)
    print(f"{busy:.2f} processors busy")
    assert busy < 1.2


@pytest.mark.slow
def test_five_short_trainings_of_ppo_at_durak_come_out_alike(tmp_path):
    """Student report, Conclusions: "consistently". 1,000 games each, far fewer than its 140,000."""
    durak, lost = cardai.load("durak"), []
    for seed in range(5):
        recipe = replace(ppo.PRESETS["ppo"], games=1000)
        policy = ppo.train(durak, recipe, seed=seed, variant="report", seats=2, encoder="report")
        policy.save(place := tmp_path / f"{seed}.safetensors")
        line_ups, seeds = np.tile(np.array([[0, 1], [1, 0]]), (1000, 1)), np.repeat(np.arange(1000, dtype=np.uint64), 2)
        players = [agent(durak, f"policy:{place}"), agent(durak, "random")]
        scores = play(durak, players, line_ups, seeds, variant="report").complete().scores
        lost.append(100 * float((scores[np.arange(2000), line_ups.argmin(axis=1)] == 0).mean()))
    print(f"games not lost against one random player, % by training: {[round(100 - each, 1) for each in lost]}")
    assert max(lost) < 10


def test_durak_has_too_many_states_to_store_a_value_for_each():
    """Student report, Approach and Methods. Of a hand and a trump suit alone there are far more than memory holds."""
    hands = sum(math.comb(36, cards) for cards in range(37))
    assert 4 * hands * 8 > 10**12  # bytes of a number for each
