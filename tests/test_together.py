"""Choices at the same time: secret until the last seat has chosen, then told to all, and judged after that."""

import sys
from collections import Counter

import numpy as np
import pytest
import signals
import small_game

import cardai
from cardai.errors import BadArgument, CardaiError
from cardai.game import PerspectiveEncoder, Player, Segment, state_dtype
from cardai.game.compiled import native
from cardai.game.compiled.together import CHOSEN, at_turn, choosing, seats_together, told_of
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.agents.strategy import OnePly
from cardai.playing.compiled import lookahead
from cardai.playing.table.asking import compare
from cardai.playing.table.following import words_of
from cardai.playing.table.one import OneGame
from cardai.playing.table.searching import values_in_worlds
from cardai.rules import STREAM, rule
from cardai.rules.cards import full_deck

GAME = signals.GAME


def after(*texts, seed=1, game=GAME):
    """The state after some moves, in words."""
    state = game.new(seed=seed)
    for text in texts:
        state = game.play(state, game.text.parse(state, text))
    return state


def test_a_choice_changes_nothing_but_the_turn_and_what_is_sealed():
    before, state = after("calls 0"), after("calls 0", "2 doubled")
    assert (before["turn"], state["turn"]) == (2, 1)
    assert state["sealed"].tolist() == [[0, 0, 0], [0, 0, 0], [1, 2, 1]]
    same = [name for name in GAME.state.names if name not in ("turn", "ply", "sealed")]
    assert [name for name in same if np.any(state[name] != before[name])] == []


def test_the_last_choice_plays_all_of_them():
    state = after("calls 0", "2 doubled", "1")
    assert state["points"].tolist() == [0, 0, 1]
    assert not state["sealed"].any()
    assert state["revealed"] == 7
    assert (state["turn"], state["number"]) == (1, 1)
    assert after("calls 0", "1 doubled", "2")["points"].tolist() == [1, 0, 0]


def test_seats_that_may_choose_are_those_that_have_not():
    assert choosing(GAME, after()) == [0]
    assert seats_together(GAME, after()) == []
    assert choosing(GAME, after("calls 0")) == [2, 1]
    assert choosing(GAME, after("calls 0", "1")) == [1]
    assert seats_together(GAME, after("calls 0", "1")) == [1, 2]
    state = after("calls 1")
    there = at_turn(GAME, state, 1)
    assert there["turn"] == 1
    assert [GAME.text.spell(there, move) for move in GAME.moves(there)] == ["1", "1 doubled", "2", "2 doubled"]
    with pytest.raises(BadArgument, match="seat 0 has nothing to choose here"):
        at_turn(GAME, state, 0)


def test_worlds_draw_the_choices_of_others_evenly_and_keep_ones_own():
    state = after("calls 1", "2 doubled")
    found = Counter(tuple(GAME.world(state, 1, seed)["sealed"][2].tolist()) for seed in range(4000))
    assert set(found) == {(1, number, doubled) for number in (1, 2) for doubled in (0, 1)}
    assert max(abs(count - 1000) for count in found.values()) < 5 * (4000 * 3 / 16) ** 0.5
    assert all(GAME.world(state, 2, seed)["sealed"].tolist() == state["sealed"].tolist() for seed in range(10))
    assert all(GAME.world(state, 1, seed)["turn"] == 1 for seed in range(10))


def test_others_are_told_that_a_seat_has_chosen_and_in_the_end_what():
    state = after("calls 0")
    first = GAME.text.parse(state, "2 doubled")
    assert [words_of(GAME, state, first, seat) for seat in range(3)] == [CHOSEN, CHOSEN, "2 doubled"]
    state = after("calls 0", "2 doubled")
    last = GAME.text.parse(state, "1")
    assert {words_of(GAME, state, last, seat) for seat in range(3)} == {"has chosen; all show: p1 1, p2 2 doubled"}
    assert words_of(GAME, state, last) == "1"
    assert words_of(GAME, after(), GAME.text.parse(after(), "calls 1"), 2) == "calls 1"


def test_a_game_that_hides_a_part_of_its_choices_says_so_in_tell():
    game = GAME.changed(tell=lambda state, move, seat: "a number")
    state = after("calls 0", "2 doubled", game=game)
    move = game.text.parse(state, "1")
    assert told_of(game, state, move, 0, state) == "has chosen; all show: p1 a number, p2 a number"
    assert told_of(game, state, move, 2, state) == "has chosen; all show: p1 a number, p2 2 doubled"


def test_the_history_of_a_table_shows_choices_when_all_have_made_them():
    table = OneGame(GAME, [None, None, None], seed=3)
    for text in ("calls 1", "2", "1 doubled"):
        assert all(words.startswith(("call", CHOSEN)) for seat, words in table.history(0))
        table.play(table.parse(text))
    assert table.history(0) == [(0, "calls 1"), (2, CHOSEN), (1, "has chosen; all show: p1 1 doubled, p2 2")]
    assert table.history(2)[1] == (2, "2")


LOGGER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"id": message["id"], "cardai": 1, "wants": ["told", "moves"]}), flush=True)
    else:
        with open(sys.argv[1], "a") as log:
            log.writelines(f"{one['seat']} {one['text']}\\n" for one in message.get("told", ()))
        if message["type"] == "move":
            print(json.dumps({"id": message["id"], "move": 0}), flush=True)
"""


def test_a_program_is_told_of_choices_when_all_have_made_them(tmp_path):
    (tmp_path / "logger.py").write_text(LOGGER)
    command = f"process:{sys.executable} -I {tmp_path / 'logger.py'} {tmp_path / 'log'}"
    agents = [agent(GAME, "highest"), agent(GAME, command)]
    cardai.play(GAME, agents, np.array([[0, 1, 0]]), [1])
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[:3] == ["0 calls 1", "2 has chosen", "1 has chosen; all show: p1 1, p2 2 doubled"]


# Judging.


@rule
def amounts(state, seat):
    """Points, and what is sealed: an agent that judged before the reveal would want the most."""
    return state.points[seat] + 100.0 * state.sealed[seat, 1]


def options(state, value=amounts, luck=5, **search):
    """The mean of each move of the seat to move by a one-ply agent with a heuristic."""
    game = GAME.changed(heuristics={"value": value})
    asked = Agent("test", OnePly(value=game.compiler.entry("value", value), **search))
    streams = np.zeros(1, STREAM)
    streams["rng"] = luck
    ((moves, means),), _ = compare(game, asked, np.array([state], game.state), streams)
    return dict(zip([game.text.spell(state, move) for move in moves], means.tolist(), strict=True))


@pytest.mark.parametrize("search", [{}, {"settles": True, "worlds": 40}, {"settles": True, "peeks": True}])
def test_a_choice_is_judged_after_it_is_shown(search):
    for state in (after("calls 0"), after("calls 0", "0")):
        means = options(state, **search)
        assert max(means.values()) <= 1.0, "what is sealed was judged"
        assert means["0"] == means["0 doubled"], "moves of one decision met other choices"
        assert means["1 doubled"] == means["2"]
        assert 0.0 == means["0"] < means["1"] < means["2"] < means["2 doubled"] < 1.0


def test_what_others_have_chosen_changes_no_judgement():
    one, other = (options(after("calls 0", text), settles=True, worlds=7) for text in ("0", "2 doubled"))
    assert one == other


def test_first_and_last_seat_expect_the_same():
    """2 doubled beats 5 of the 6 choices: so far from 5/6 a mean over 4000 worlds is once in 10 000 times."""
    for texts in (("calls 0",), ("calls 0", "1")):
        mean = options(after(*texts), settles=True, worlds=4000)["2 doubled"]
        assert abs(mean - 5 / 6) < 0.025


def test_an_agent_that_judges_after_states_looks_at_sixteen_worlds():
    assert lookahead.TOGETHER_WORLDS == 16
    assert options(after("calls 0"))["2"] * 16 == pytest.approx(round(options(after("calls 0"))["2"] * 16))
    assert len({options(after("calls 0"), luck=luck)["2"] for luck in range(20)}) > 1


def test_an_evaluator_outside_compiled_code_is_asked_about_shown_choices():
    @rule
    def encode(state, seat, row):
        row[0] = state.points[seat]
        row[1] = state.sealed[0, 0] | state.sealed[1, 0] | state.sealed[2, 0]

    class Points:
        moment, batch, name, encoder, seats, rows = "drawn", 64, "points", "seen", None, []

        def score(self, rows):
            self.rows.append(rows.copy())
            return rows[:, 0] / 4

        def check_fits(self, game, variant, seats):
            pass

    seen = PerspectiveEncoder(lambda seats: (Segment("points"), Segment("sealed")), encode)
    game, judge, streams = GAME.changed(encoders={"seen": seen}), Points(), np.zeros(1, STREAM)
    state = after("calls 0", "1", game=game)
    ((_, means),), moves = compare(game, Agent("test", OnePly(judge)), np.array([state], game.state), streams)
    assert game.text.spell(state, moves[0]) == "2 doubled"
    assert not np.concatenate(judge.rows)[:, 1].any()
    assert len(set(means.tolist())) > 2


@rule
def spying(world, move, params, stream):
    """Chooses the most if it sees that another seat has chosen, and else nothing."""
    for seat in range(3):
        if world.sealed[seat, 0] != 0:
            move.number = 2
            move.doubled = 1


def test_no_model_in_a_search_sees_what_the_searching_seat_has_chosen():
    game = GAME.changed(players={"spying": Player(spying, "spies")}, playouts="spying")
    search = agent(game, "rollout:50")
    for texts in (("calls 0",), ("calls 0", "1")):
        state = after(*texts, game=game)
        moves, world = game.moves(state), game.world(state, int(state["turn"]), 1)
        worth = values_in_worlds(game, search, world, moves, 30, 7).mean(axis=0)
        assert (worth[2:] == worth[0] + 0.25).all(), "all but 0 win this round against 0"


@pytest.mark.parametrize("spec", ["greedy:points", "sampled:points?worlds=20", "rollout:20", "ahead:points?worlds=8"])
def test_agents_of_all_kinds_beat_random_ones_from_every_seat(spec):
    agents, games = [agent(GAME, "random"), agent(GAME, spec)], 200
    for seat in range(3):
        lineups = np.zeros((games, 3), np.int64)
        lineups[:, seat] = 1
        scores = cardai.play(GAME, agents, lineups, range(games), checked=True).scores
        assert scores[:, seat].mean() > 1 / 3 + 0.05


# What is refused.


@rule
def everybody(state):
    return full_deck(state.seats)


def test_a_game_without_room_for_choices_is_refused():
    with pytest.raises(CardaiError, match=r"needs a field sealed of shape \(4, 3\), .*; it has none"):
        small_game.GAME.changed(together=everybody)
    narrow = state_dtype(sealed=(3, 2))
    with pytest.raises(CardaiError, match=r"it has the shape \(3, 2\)"):
        GAME.changed(state=narrow)
    with pytest.raises(CardaiError, match="a game has is_open or together"):
        GAME.changed(is_open=everybody)


def test_a_fault_in_the_rule_of_a_game_is_named_in_it():
    @rule
    def act(state, move):
        state.amount[state.turn] = move.number

    with pytest.raises(CardaiError, match=r"does not compile: .*amount.*test_together\.py"):
        GAME.changed(act=act).compile()


def test_other_games_have_no_place_for_choices():
    assert small_game.GAME.compiler.rules.sealed == (0, 0)
    assert GAME.compiler.rules.sealed[1] == 24
    assert native.HEADER[-1] == "rng"
