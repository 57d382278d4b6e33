"""The analysis of a recorded game: each seat's values come from what that seat knows, and its changes add up."""

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest
from judges import Judge, know, some_order
from printing import text_of

import cardai
from cardai.cli.main import run
from cardai.cli.show.analysis import figure
from cardai.cli.show.figure import save_figure
from cardai.errors import CardaiError
from cardai.measure.analysis import analyse, analyse_file
from cardai.measure.move_values import evaluated, positions, weighed
from cardai.measure.value_scale import scale_of
from cardai.playing.agents.adjusted import ShiftedEvaluator
from cardai.playing.agents.evaluator import find_evaluator
from cardai.playing.table.many import play
from cardai.records.record import RecordedGame, Writer, replay

TICTACTOE = cardai.load("tictactoe")
MOSKA, DURAK = cardai.load("moska"), cardai.load("durak")
ROOT = Path(__file__).parent.parent
THIRTYONE = cardai.load(str(ROOT / "examples/thirtyone"))
RANDOM = ["random", "random", "random", "random"]


def played(game, specs, seed=7, variant=None, games=1):
    """Recorded games between these agents; the agent at index i sits in seat i."""
    seats, found = len(specs), []

    def keep(index, moves, scores):
        lineup = tuple(range(seats))
        name = variant or game.default_variant
        found.append(RecordedGame(index, seed + index, name, lineup, tuple(scores.tolist()), moves.copy()))

    seeds, lineups = np.arange(seed, seed + games, dtype=np.uint64), np.array([range(seats)] * games)
    play(game, [cardai.agent(game, spec) for spec in specs], lineups, seeds, variant=variant, on_game=keep)
    return sorted(found, key=lambda one: one.number)


def by_hand(*cells):
    """A finished game of Tic-Tac-Toe."""
    state, moves = TICTACTOE.new(), []
    for cell in cells:
        moves.append(TICTACTOE.text.parse(state, cell))
        state = TICTACTOE.play(state, moves[-1])
    scores = tuple(TICTACTOE.points(state).tolist())
    return RecordedGame(0, 0, "standard", (0, 1), scores, np.array(moves, TICTACTOE.move))


def states_of(game, one):
    """The states before each move of a game and the last one."""
    found = []
    end = replay(game, one, lambda state, move, ply: found.append(state))
    return [*found, end]


@pytest.fixture
def hidden(monkeypatch):
    """A long game of Thirty-One; evaluators `of_after` and `of_settled` give different views different scores."""
    judges = [
        Judge(name, "planes", 3, some_order, moment=moment)
        for name, moment in (("of_after", "before_draw"), ("of_settled", "drawn"))
    ]
    know(monkeypatch, *judges)
    return max(played(THIRTYONE, ["random", "house", "random"], games=30), key=lambda one: len(one.moves))


@pytest.fixture
def file(tmp_path):
    """A record of three games of Tic-Tac-Toe."""
    path = tmp_path / "games.jsonl"
    with Writer(path, TICTACTOE, ["random", "greedy:open_lines"], None, 2) as writer:
        for one in played(TICTACTOE, ["random", "greedy:open_lines"], games=3):
            writer.add(one.seed, one.lineup, one.moves, one.scores)
    return path


def test_a_seat_is_evaluated_in_its_own_after_states_and_keeps_its_value_in_between():
    one = played(TICTACTOE, ["random", "greedy:open_lines"])[0]
    found, states = analyse(TICTACTOE, one, "greedy:open_lines"), states_of(TICTACTOE, one)
    kept = [math.nan, math.nan]
    for turn, row in zip(found.turns, found.values(), strict=True):
        after = TICTACTOE.after(states[turn.ply], one.moves[turn.ply])
        assert turn.value == TICTACTOE.value(after, turn.seat, "open_lines")
        assert turn.move == TICTACTOE.text.spell(states[turn.ply], one.moves[turn.ply])
        kept[turn.seat] = turn.value
        np.testing.assert_array_equal(row, kept)
    assert [turn.before for turn in found.turns[:2]] == [None, None]
    assert found.turns[2].before == found.turns[0].value
    assert found.ends() is None


def test_an_evaluator_of_settled_states_is_not_asked_in_the_middle_of_a_decision_nor_at_the_end(hidden):
    found, states = analyse(THIRTYONE, hidden, "sampled:of_settled?worlds=3"), states_of(THIRTYONE, hidden)
    judge = Judge("", "planes", 3, some_order)
    midway = 0
    for turn in found.turns:
        settled = states[turn.ply + 1]
        if settled["turn"] < 0 or settled["midway"]:
            midway += settled["midway"]
            assert turn.value is None
        else:
            row = THIRTYONE.encode(settled, turn.seat, "planes")
            assert turn.value == pytest.approx(float(judge.score(row[None])[0]))
    assert midway > 0
    assert found.turns[-1].value is None


@pytest.mark.parametrize("spec", ["greedy:of_after", "sampled:of_settled?worlds=3"])
def test_hidden_cards_do_not_change_the_value_of_a_position(hidden, spec):
    """Everything hidden from a seat is dealt anew before its position is evaluated."""
    states, agent = states_of(THIRTYONE, hidden), cardai.agent(THIRTYONE, spec)
    truth = evaluated(THIRTYONE, agent, positions(THIRTYONE, agent, states, hidden.moves))
    assert len(truth) > 5
    changed = 0
    for ply, value in truth.items():
        seat = int(states[ply]["turn"])
        for seed in range(3):
            pair = [THIRTYONE.world(state, seat, 1000 * seed + ply) for state in states[ply : ply + 2]]
            changed += pair[0] != states[ply]
            found = positions(THIRTYONE, agent, pair, hidden.moves[ply : ply + 1], seed)
            assert evaluated(THIRTYONE, agent, found) == {0: value}
    assert changed > len(truth)


@pytest.mark.parametrize(
    ("game", "specs", "variant", "spec"),
    [
        (DURAK, RANDOM[:2], "report", "greedy:report2"),
        (DURAK, RANDOM[:3], "report", "greedy:hand_value"),
        (THIRTYONE, ["house", "house"], None, "greedy:prospects"),
    ],
)
def test_hidden_cards_do_not_change_the_values_of_moves(game, specs, variant, spec):
    one, agent = played(game, specs, variant=variant)[0], cardai.agent(game, spec)
    states = states_of(game, one)[:-1]
    worlds = [game.world(state, int(state["turn"]), 50 + ply) for ply, state in enumerate(states)]
    truth, found = (weighed(game, agent, several, 0, None) for several in (states, worlds))
    assert truth.keys() == found.keys()
    assert len(truth) > 3
    for ply, (moves, worth) in truth.items():
        np.testing.assert_array_equal(moves, found[ply][0])
        np.testing.assert_allclose(worth, found[ply][1], atol=1e-6)


def test_evaluators_see_worlds_and_never_the_true_state(hidden):
    """Positions are worlds with a random stream of their own, even if nothing in them is hidden."""
    states = states_of(THIRTYONE, hidden)
    for spec in ("greedy:of_after", "sampled:of_settled"):
        for one in positions(THIRTYONE, cardai.agent(THIRTYONE, spec), states, hidden.moves):
            assert not np.isin(one.worlds["rng"], [state["rng"] for state in states]).any()


def test_a_heuristic_of_settled_states_is_averaged_over_worlds():
    one = played(THIRTYONE, ["house", "random"])[0]
    agent, states = cardai.agent(THIRTYONE, "sampled:prospects?worlds=7"), states_of(THIRTYONE, one)
    seen = positions(THIRTYONE, agent, states, one.moves)
    assert {len(each.worlds) for each in seen} == {7}
    found = evaluated(THIRTYONE, agent, seen)
    for each in seen:
        mean = np.mean([THIRTYONE.value(world, each.seat, "prospects") for world in each.worlds])
        assert found[each.ply] == pytest.approx(mean)


def test_a_blunder_is_named_with_the_better_move():
    """After an opening in the corner only the centre saves the second player; the reply b1 loses."""
    found = analyse(TICTACTOE, by_hand("a1", "b1", "a3", "a2", "b2", "c3", "c1"), "greedy:mlp", top=3)
    assert found.scores == (1.0, 0.0)
    worst = found.missed()[0]
    assert (worst.ply, worst.seat, worst.move, worst.best, worst.listed) == (1, 1, "b1", "b2", 8)
    assert worst.cost == pytest.approx(worst.best_worth - worst.worth)
    assert worst.cost > 0.2
    assert "?! b2" in text_of(found)
    assert found.ends().tolist() == [1.0, 0.0]


@pytest.mark.parametrize("spec", ["greedy:of_after", "sampled:of_settled?worlds=3"])
def test_the_parts_of_a_swing_are_its_change_and_the_changes_are_all_there_is(hidden, spec):
    found = analyse(THIRTYONE, hidden, spec)
    swings, values = found.swings(), found.values()
    for one in swings:
        assert one.others + one.choice + one.draw == pytest.approx(one.change)
        assert one.choice <= 0
    assert [abs(one.change) for one in swings] == sorted((abs(one.change) for one in swings), reverse=True)
    for seat in range(found.seats):
        judged = values[~np.isnan(values[:, seat]), seat]
        assert sum(one.change for one in swings if one.seat == seat) == pytest.approx(judged[-1] - judged[0])
    assert any(one.choice for one in swings)


def test_the_luck_of_a_draw_is_a_part_of_its_own(monkeypatch):
    """In Durak, draws follow the end of a bout: `worth` is a mean over worlds, `value` is after the cards that came."""
    know(monkeypatch, Judge("of_settled", "relative", 2, some_order))
    found = analyse(DURAK, played(DURAK, RANDOM[:2])[0], "sampled:of_settled?worlds=9")
    swings = found.swings()
    drawn = [one for one in swings if abs(one.draw) > 1e-6]
    assert 2 < len(drawn) < len(swings)
    for one in drawn:
        assert one.draw == found.turns[one.ply].value - found.turns[one.ply].worth
    for one in swings:
        assert one.others + one.choice + one.draw == pytest.approx(one.change)
    assert not any(one.draw for one in analyse(DURAK, played(DURAK, RANDOM[:2])[0], "greedy:hand_value").swings())


def test_a_heuristic_and_a_model_weigh_moves_as_their_agents_do():
    """A greedy agent never plays a move that its own evaluator values less than another one."""
    for game, spec, variant in ((DURAK, "greedy:hand_value", "report"), (DURAK, "greedy:report2", "report")):
        found = analyse(game, played(game, [spec, "random"], variant=variant)[0], spec)
        assert not any(turn.cost > 1e-6 for turn in found.turns if turn.seat == 0)
        assert any(turn.cost > 0 for turn in found.turns if turn.seat == 1)
        assert any(turn.listed > 1 and turn.worth is not None for turn in found.turns if turn.seat == 0)


def test_values_of_a_model_of_balanced_data_are_shifted_to_natural_play():
    one = played(MOSKA, RANDOM)[0]
    found = analyse(MOSKA, one, "greedy:best")
    model = find_evaluator(MOSKA, "best")
    assert found.scale.shift == model.natural_shift(MOSKA)
    seen = positions(MOSKA, cardai.agent(MOSKA, "greedy:best"), states_of(MOSKA, one), one.moves)
    raw = np.asarray(model.score(np.stack([MOSKA.encode(each.worlds[0], each.seat, "relative") for each in seen])))
    said = np.array([found.turns[each.ply].value for each in seen])
    inner = (raw > 0.001) & (raw < 0.999)
    assert inner.sum() > 50
    odds = said[inner] / (1 - said[inner])
    np.testing.assert_allclose(odds, math.exp(found.scale.shift) * raw[inner] / (1 - raw[inner]), rtol=1e-3)


def test_a_shift_keeps_certain_scores_and_wrong_ones():
    shifted = ShiftedEvaluator(Judge("", "", 2, lambda rows: np.array([0.0, 1.0, 0.5, 2.0, np.nan])), math.log(3))
    np.testing.assert_allclose(shifted.score(np.zeros((5, 1), np.uint8)), [0, 1, 0.75, 2, np.nan], atol=1e-12)


def test_the_scale_says_what_the_values_mean(monkeypatch):
    @dataclasses.dataclass
    class Metadata:
        data: dict

    judge = Judge("told", "relative", 4, some_order)
    know(monkeypatch, judge)
    agent = cardai.agent(MOSKA, "greedy:told")

    def told(shift=0.0, **recipe):
        judge.metadata = Metadata({"recipe": recipe} if recipe else {})
        judge.natural_shift = lambda game: shift
        return scale_of(MOSKA, agent, 4)

    assert told().source.endswith("does not say how its states were drawn")
    assert (told(balance="natural", label="score").shift, told(balance="natural", label="score").bounded) == (0, True)
    win = told(1.25, balance="loser", label="win")
    assert (win.name, win.shift) == ("chance to win", 1.25)
    assert win.source == "trained on data balanced by loser; the log odds are shifted by +1.250 to natural play"
    taught = told(0.5, balance="natural", label="score", teacher="ahead:best")
    assert (taught.shift, "what a search said, by a model of balanced data" in taught.source) == (0.5, True)
    assert not scale_of(MOSKA, cardai.agent(MOSKA, "greedy:hand_value"), 4).bounded


def test_the_end_is_the_label_of_the_score(monkeypatch):
    know(monkeypatch, Judge("of_after", "planes", 2, some_order, moment="before_draw"))
    one = by_hand("a1", "a2", "b1", "b2", "a3", "c3", "c2", "c1", "b3")
    found = analyse(TICTACTOE, one, "greedy:of_after")
    assert found.ends().tolist() == [0.5, 0.5]
    won = dataclasses.replace(found, scale=dataclasses.replace(found.scale, label="win"))
    assert won.ends().tolist() == [0, 0]


def test_models_predict_the_end_worse_after_moves_of_other_seats():
    """Why a seat keeps its value: its value from its own last move against an evaluation after the other seat moved."""
    agent = cardai.agent(DURAK, "greedy:report2")
    anew, carried = [], []
    for one in played(DURAK, ["greedy:report2", "defensive"], variant="report", games=40):
        states, values = states_of(DURAK, one), analyse(DURAK, one, agent).values()
        rows, kept, ends = [], [], []
        for ply in range(1, len(one.moves) - 1):
            other = 1 - int(states[ply]["turn"])
            if not np.isnan(values[ply, other]):
                rows.append(DURAK.encode(states[ply + 1], other, "relative"))
                kept.append(values[ply, other])
                ends.append(one.scores[other])
        asked = np.asarray(agent.evaluator.score(np.stack(rows)))
        anew.append(np.square(asked - ends).mean())
        carried.append(np.square(np.array(kept) - ends).mean())
    assert np.mean(anew) > np.mean(carried) + 0.02


def test_the_same_seed_gives_the_same_analysis(hidden):
    one, same, other = (analyse(THIRTYONE, hidden, "sampled:prospects?worlds=4", seed=seed) for seed in (3, 3, 4))
    assert one == same
    assert one.turns != other.turns
    agent, states = cardai.agent(THIRTYONE, "greedy:of_after"), states_of(THIRTYONE, hidden)
    seen = [positions(THIRTYONE, agent, states, hidden.moves, seed) for seed in (3, 3, 4)]
    three = [np.concatenate([each.worlds for each in several]) for several in seen]
    assert (three[0] == three[1]).all()
    assert (three[0] != three[2]).all()


def test_file_table_and_json_agree(file):
    found = analyse_file(file, "greedy:mlp", number=1, top=2)
    content = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert (content["number"], content["names"]) == (1, ["random", "greedy:open_lines"])
    assert content["scores"] == list(found.scores)
    assert content["turns"][0]["values"] == [found.turns[0].value, None]
    assert len(content["swings"]) == len(found.turns) - 2
    text = text_of(found)
    for turn in found.turns:
        assert f"{turn.value:.3f}" in text
    assert "(1)" in text
    assert "(2)" in text
    assert "(3)" not in text
    assert "p1 is greedy:open_lines" in text
    assert "until its next move" in text
    assert text_of(found, width=50)


def test_the_figure_names_every_seat_and_marks_the_costliest_choices(file, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("matplotlib").rcParams, "svg.fonttype", "none")
    found = analyse_file(file, "greedy:mlp", number=1, top=2)
    assert [turn.ply for turn in found.mistakes()] == [turn.ply for turn in found.missed()[:2]]
    save_figure(tmp_path / "game.svg", figure(found))
    drawn = (tmp_path / "game.svg").read_text()
    for seat, score in enumerate(found.scores):
        assert f"p{seat} {found.names[seat]} scored {score:g}" in drawn
    for number, turn in enumerate(found.mistakes(), 1):
        assert f"({number}) ply {turn.ply}, p{turn.seat} {turn.move}; better: {turn.best} (" in drawn
    assert "(3) ply" not in drawn
    assert list(tmp_path.glob("*.part")) == []


def test_a_swing_that_others_caused_is_not_marked_as_a_mistake():
    """A large change of a value may be due to what others did: only costly choices are marked."""
    found = analyse(TICTACTOE, by_hand("a1", "b1", "a3", "a2", "b2", "c3", "c1"), "greedy:mlp", top=9)
    costly = {turn.ply for turn in found.turns if turn.cost > 0}
    assert {turn.ply for turn in found.mistakes()} == costly
    blameless = [swing for swing in found.marked() if found.turns[swing.ply].cost == 0]
    assert blameless, "some of the largest swings are not the fault of whoever moved"
    assert not {swing.ply for swing in blameless} & {turn.ply for turn in found.mistakes()}
    assert "(1) ?! " in text_of(found)


@pytest.mark.parametrize("seats", [2, 8])
def test_any_table_is_drawn(seats, tmp_path):
    found = analyse(MOSKA, played(MOSKA, ["random"] * seats)[0], "greedy:hand_value")
    save_figure(tmp_path / "game.png", figure(found))
    assert (tmp_path / "game.png").stat().st_size > 10_000


def test_the_command_prints_draws_and_answers_in_json(file, tmp_path, capsys):
    place = tmp_path / "game.pdf"
    assert run(["analyse", str(file), "--game", "2", "--figure", str(place), "--device", "cpu"]) == 0
    assert "game 2" in capsys.readouterr().out
    assert place.read_bytes().startswith(b"%PDF")
    assert run(["analyse", str(file), "--agent", "greedy:open_lines", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["agent"] == "greedy:open_lines"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("--game 3", "has 3 games, counted from 0; there is no game 3"),
        ("--game -1", "there is no game -1"),
        ("--agent random", "evaluates no positions"),
        ("--agent peeking:mlp", "peeks"),
        ("--agent greedy:mlp?epsilon=0.1", "explores"),
        ("--agent greedy:nobody", "no heuristic or model 'nobody'"),
        (f"--agent greedy:{ROOT}/evaluators/models/moska/best.safetensors", "is a model of moska, not of tictactoe"),
        ("--top 0", "top must be at least 1"),
        ("--figure game.gif", "a figure ends in"),
        ("--device tpu", "--device is auto, cpu or gpu"),
    ],
)
def test_bad_options_are_refused_in_a_sentence(file, capsys, options, why):
    refused(capsys, [str(file), *options.split()], why)


def test_bad_files_are_refused_in_a_sentence(file, tmp_path, capsys):
    refused(capsys, [str(tmp_path / "none.jsonl")], "No such file")
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([lines[0], lines[1].replace('"plies":', '"plies": '), *lines[2:]]))
    refused(capsys, [str(file)], "line 2: the line does not fit its checksum")
    with Writer(tmp_path / "old.jsonl", TICTACTOE.changed(version=2), RANDOM[:2], None, 2) as writer:
        writer.add(1, (0, 1), by_hand("a1", "a2", "b1", "b2", "c1").moves, (1.0, 0.0))
    refused(capsys, [str(tmp_path / "old.jsonl")], "recorded with version 2, but tictactoe here has 1")
    with Writer(tmp_path / "wrong.jsonl", TICTACTOE, RANDOM[:2], None, 2) as writer:
        writer.add(1, (0, 1), by_hand("a1", "a2", "b1", "b2", "c1").moves, (0.0, 1.0))
    refused(capsys, [str(tmp_path / "wrong.jsonl")], "game 0 (seed 1): the scores are [1.0, 0.0], not [0.0, 1.0]")


def test_models_for_other_tables_are_refused(tmp_path, capsys):
    with Writer(tmp_path / "two.jsonl", DURAK, RANDOM[:2], "report", 2) as writer:
        for one in played(DURAK, RANDOM[:2], variant="report"):
            writer.add(one.seed, one.lineup, one.moves, one.scores)
    refused(capsys, [str(tmp_path / "two.jsonl"), "--agent", "greedy:report4"], "is a model for 4 seats, not for 2")
    refused(capsys, [str(tmp_path / "two.jsonl"), "--agent", "greedy:podkidnoy2"], "variant 'podkidnoy', not 'report'")


def test_scores_outside_0_to_1_are_refused(monkeypatch):
    know(monkeypatch, Judge("loud", "planes", 2, lambda rows: np.full(len(rows), 3.0), moment="before_draw"))
    one, agent = by_hand("a1", "a2", "b1", "b2", "c1"), cardai.agent(TICTACTOE, "greedy:loud")
    with pytest.raises(CardaiError, match=r"not in .0, 1."):
        analyse(TICTACTOE, one, agent)
    seen = positions(TICTACTOE, agent, states_of(TICTACTOE, one), one.moves)
    with pytest.raises(CardaiError, match="by a number in"):  # also where no move had an alternative
        evaluated(TICTACTOE, agent, seen)


def refused(capsys, tokens, why):
    """The command is refused in one sentence that says why, with exit code 2 and nothing on stdout."""
    assert run(["analyse", *tokens]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert why in err
