"""Situations: each position can come up, its right moves are proven or certain, and agents get the shares they earn."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import cardai
from cardai.cli.main import run
from cardai.errors import CardaiError
from cardai.games.durak.rules import is_possible
from cardai.measure.situations import measure_situations, situations_of
from cardai.playing.agents.spec import agent

GAMES = {name: cardai.load(name) for name in ("durak", "hearts", "literature", "moska", "tictactoe")}
THIRTYONE = Path(__file__).parent.parent / "examples/thirtyone"


@pytest.mark.parametrize("name", GAMES)
def test_each_game_has_enough_of_them_with_names_of_their_own(name):
    found = situations_of(GAMES[name])
    assert len(found) >= 15
    assert len({one.name for one in found}) == len({one.state.tobytes() for one in found}) == len(found)
    assert all(one.why and one.name for one in found)


@pytest.mark.parametrize("name", GAMES)
def test_positions_are_legal_and_go_on_to_the_end(name):
    """No card is lost or double, the truth is among the worlds of each seat, and the game plays on from there."""
    game = GAMES[name]
    for number, situation in enumerate(situations_of(game)):
        assert_it_goes_on(game, situation.state, np.random.default_rng(number))


def assert_it_goes_on(game, state, rng):
    if game.table.holdings is not None:
        places = list(game.table.holdings(state))
        assert sum(places) == (1 << len(game.table.pieces)) - 1
        assert sum(place.bit_count() for place in map(int, places)) == len(game.table.pieces)
    for seat in range(int(state["seats"])):
        world = game.world(state, seat, 1)
        assert game.text.show(world, seat) == game.text.show(state, seat)
        if game.learning.encoders:
            np.testing.assert_array_equal(game.encode(world, seat), game.encode(state, seat))
    plies = 0
    while state["turn"] >= 0:
        moves = game.moves(state)
        state, plies = game.play(state, moves[rng.integers(len(moves))]), plies + 1
        assert plies < game.max_plies
    assert np.isfinite(game.points(state)).all()


def test_some_deal_leads_to_each_position_of_durak():
    """Otherwise worlds are drawn 10,000 times before one is kept, and a search takes a second for a decision."""
    for situation in situations_of(GAMES["durak"]):
        assert all(is_possible(situation.state, seat) for seat in range(2)), situation.name


def test_the_right_questions_and_claims_of_literature_succeed_in_every_world_and_no_others_do():
    for situation in situations_of(GAMES["literature"]):
        assert situation.source
        assert certain_moves(GAMES["literature"], situation) == set(situation.right), situation.name


def certain_moves(game, situation):
    """The words of the moves that gain cards or a half-suit in each of 40 worlds of the seat."""
    worlds = [game.world(situation.state, 0, seed) for seed in range(40)]
    certain = set()
    for move in game.moves(situation.state):
        words = game.text.spell(situation.state, move)
        after = [game.play(world, move) for world in worlds]
        if words.startswith("asks"):
            gained = [int(one["hands"][0]).bit_count() > int(situation.state["hands"][0]).bit_count() for one in after]
        else:
            gained = [int(one["won"][0]).bit_count() > int(situation.state["won"][0]).bit_count() for one in after]
        if all(gained):
            certain.add(words)
    return certain


def test_shares_are_those_of_what_agents_play():
    game = GAMES["durak"]
    report = measure_situations(game, ["endgame:thrifty", "thrifty", "random"], tries=40, seed=3)
    perfect, simple, lucky = (report.share(place) for place in range(3))
    assert perfect == 1.0
    assert simple < 0.9
    chance = np.mean([row.chance for row in report.rows])
    assert lucky == pytest.approx(chance, abs=4 * 0.5 / np.sqrt(40 * len(report.rows)))
    again = measure_situations(game, ["endgame:thrifty", "thrifty", "random"], tries=40, seed=3)
    assert again == report
    assert measure_situations(game, ["random"], tries=40, seed=4) != measure_situations(game, ["random"], tries=40)


def test_an_agent_of_other_tables_has_no_figure_or_is_refused():
    game = GAMES["durak"]
    report = measure_situations(game, tries=1)
    assert report.share(report.agents.index("thrifty")) is not None
    with pytest.raises(CardaiError, match="podkidnoy4"):
        measure_situations(game, ["greedy:podkidnoy4"])


def test_the_verb_prints_a_table_and_json(capsys):
    assert run(["bench", "tictactoe", "--situations", "--agent", "greedy:open_lines,random", "--games", "3"]) == 0
    shown = capsys.readouterr().out
    assert "answer a corner in the centre" in shown
    assert "1: greedy:open_lines" in shown
    assert run(["bench", "tictactoe", "--situations", "--agent", "random", "--games", "2", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert len(answer["rows"]) == len(situations_of(GAMES["tictactoe"]))
    assert answer["agents"] == ["random"]
    assert 0 <= answer["means"][0] <= 1


MODULE = """
from cardai.measure.situations import Situation
from . import GAME
STATE = GAME.new(seed=1)
SITUATIONS = {}
"""


@pytest.fixture
def own(tmp_path):
    """A function that makes a game of the user's own with this tuple of situations, or without any."""

    def made(text=None):
        folder = tmp_path / f"situated_{tmp_path.name.replace('-', '_')}"
        shutil.copytree(THIRTYONE, folder)
        if text is not None:
            (folder / "situations.py").write_text(MODULE.format(text))
        return cardai.load(str(folder))

    return made


@pytest.mark.parametrize(
    ("text", "why"),
    [(None, "has no situations"), ("3", "no SITUATIONS"), ("()", "no SITUATIONS"),
     ("(Situation('a', STATE, ('fly',), 'w'),)", "'a': 'fly' is not legal; legal are"),
     ("(Situation('a', 3, ('fly',), 'w'),)", "the state of 'a' is no state"),
     ("(Situation('a', STATE, tuple(GAME.text.spell(STATE, m) for m in GAME.moves(STATE)), 'w'),)", "has . right mo")],
)  # fmt: skip
def test_a_mistake_of_an_author_is_one_sentence(own, text, why):
    game = own(text)
    with pytest.raises(CardaiError, match=why):
        situations_of(game)


def test_a_game_of_the_user_s_own_has_situations(own):
    game = own("(Situation('first', STATE, (GAME.text.spell(STATE, GAME.moves(STATE)[0]),), 'w', 'a book'),)")
    report = measure_situations(game, ["house", "random"], tries=5)
    assert [row.name for row in report.rows] == ["first"]
    assert not report.rows[0].exact
    assert "first *" in str(report)
    assert agent(game, "house").label in report.agents
