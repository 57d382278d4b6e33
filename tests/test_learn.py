"""`cardai learn`: what it measures, how it shares its time, that it goes on after Ctrl-C, and what it leaves."""

import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import cardai
from cardai.cli import main as cli
from cardai.errors import CardaiError
from cardai.evaluators.model import SHIPPED
from cardai.evaluators.network_file import tensors_of
from cardai.evaluators.policies.network import on_device
from cardai.evaluators.policies.ppo import Ppo, PpoConfig
from cardai.evaluators.policies.training import PolicyTraining, TrainingTable
from cardai.evaluators.training import learn as learning
from cardai.evaluators.training.config import TrainConfig
from cardai.evaluators.training.learn import _FEWEST, _FEWEST_SEEN, FINAL_LEAST, RACE, LearnConfig, LearnRun, learn
from cardai.evaluators.training.learn_measures import GameMeasures, measures_of
from cardai.evaluators.training.learners import generation_games
from cardai.measure.duel import duel

ROOT = Path(__file__).parent.parent
KUHN = str(ROOT / "examples" / "kuhn")
MODEL = ROOT / "evaluators" / "models" / "tictactoe" / "mlp.safetensors"


def test_it_sees_what_is_hidden_and_where_there_is_chance():
    plain, cards = cardai.load("tictactoe"), cardai.load(KUHN)
    board = measures_of(plain, 2, plain.default_variant, 0)
    assert (board.width, board.actions, board.is_hidden, board.has_chance) == (27, 9, False, False)
    assert 7 < board.decisions <= 9
    assert 5 < board.choices < 6.5
    poker = measures_of(cards, 2, cards.default_variant, 0)
    assert (poker.is_hidden, poker.has_chance, poker.choices) == (True, True, 2.0)


class Clock:
    """A clock that only learning moves."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


class Pretended:
    """A way of learning that takes exactly the time that it is given, and leaves a shipped model."""

    can_be_cut, watch, earlier = True, None, ()

    def __init__(self, name, clock, folder, agents, interrupt_at=None):
        self.name, self.clock, self.folder, self.agents, self.interrupt_at = name, clock, folder, agents, interrupt_at
        self.seconds = []

    def about(self):
        return [f"{self.name}: pretended"]

    def go_on(self, seconds):
        self.seconds.append(seconds)
        self.clock.now += seconds
        if self.interrupt_at and self.clock.now > self.interrupt_at:
            self.interrupt_at = None
            raise KeyboardInterrupt

    def candidates(self):
        return self.agents if self.seconds else []

    def has(self, spec):
        return spec in [*self.agents, *self.earlier]


@pytest.fixture
def pretended(monkeypatch, tmp_path):
    """Learning Tic-Tac-Toe where the evaluator is a model that never loses, and the policy plays at random."""
    clock = Clock()
    folder = tmp_path / "made" / "evaluator"
    folder.mkdir(parents=True)
    shutil.copy(MODEL, folder / "model.safetensors")
    learners = {
        "evaluator": Pretended("evaluator", clock, folder, [f"greedy:{folder}"]),
        "policy": Pretended("policy", clock, folder, ["random"]),
    }
    monkeypatch.setattr(learning, "time", clock)
    monkeypatch.setattr(LearnRun, "_learners", lambda run: learners)
    monkeypatch.setattr(learning, "_CHOOSE_GAMES", 40)
    monkeypatch.setattr(learning, "_LOOK_GAMES", 20)
    monkeypatch.setattr(learning, "_MOST_GAMES", 60)
    return learners, LearnConfig(game="tictactoe", out=str(tmp_path / "run"), minutes=5.0, threads=1)


def test_each_way_gets_a_part_of_the_time_and_the_stronger_one_the_rest(pretended):
    learners, config = pretended
    lines = []
    report = learn(config, say=lines.append)
    policy, evaluator = (sum(learners[name].seconds) for name in ("policy", "evaluator"))
    assert policy == pytest.approx(RACE * 300)
    assert evaluator == pytest.approx(300 * (1 - FINAL_LEAST - RACE), abs=1.5)
    assert 0.9 * 300 < report.seconds <= 300
    assert report.agent == f"greedy:{config.out}"
    assert any("goes on with the evaluator" in line for line in lines)
    assert {one.other for one in report.strength} == {"random", "greedy:open_lines?epsilon=0.1"}
    assert report.strength[0].verdict == "better"
    assert json.loads((Path(config.out) / "learn.json").read_text())["agent"] == report.agent
    assert "play against it: cardai play tictactoe --seats human,greedy:" in " ".join(str(report).split())
    again = cardai.agent(cardai.load("tictactoe"), report.agent)
    assert again.evaluator is not None


def test_after_ctrl_c_the_same_command_takes_what_is_left_of_the_time(pretended):
    learners, config = pretended
    learners["policy"].interrupt_at = 100.0 + 0.3 * 300
    first = learn(config)
    assert (first.interrupted, first.strength) == (True, ())
    assert 0.3 * 300 < first.seconds < 0.5 * 300
    second = learn(config)
    assert not second.interrupted
    assert 0.9 * 300 < second.seconds <= 300
    assert sum(map(sum, (one.seconds for one in learners.values()))) == pytest.approx(300 * (1 - FINAL_LEAST), abs=1.5)


def test_a_run_that_has_ended_goes_on_with_more_minutes_only(pretended):
    """The same command again put a result of 42 games in the place of one of 4 008."""
    _, config = pretended
    first = learn(config)
    with pytest.raises(CardaiError, match=r"has been learned in 5 minutes already, .*learn\.json; more --minutes"):
        learn(config)
    assert json.loads((Path(config.out) / "learn.json").read_text())["seconds"] == first.seconds
    assert learn(dataclasses.replace(config, minutes=6.0)).seconds > first.seconds


def test_the_final_games_are_no_games_that_chose(pretended, monkeypatch):
    _, config = pretended
    seeds = {}

    def noted(game, candidate, other, *, seed, **how):
        seeds.setdefault(purpose[0], set()).add(seed)
        return real(game, candidate, other, seed=seed, **how)

    real, purpose = duel, ["choosing"]
    monkeypatch.setattr(learning, "duel", noted)
    measured = LearnRun._measured

    def final(run, spec):
        purpose[0] = "final"
        return measured(run, spec)

    monkeypatch.setattr(LearnRun, "_measured", final)
    learn(config)
    assert seeds["final"]
    assert not seeds["final"] & seeds["choosing"]


def test_a_folder_of_something_else_is_refused(pretended, tmp_path):
    _, config = pretended
    learn(config)
    with pytest.raises(CardaiError, match="holds another run, with seed 0, not 3"):
        learn(LearnConfig(game="tictactoe", out=config.out, seed=3))
    with pytest.raises(CardaiError, match="holds what was learned of tictactoe"):
        learn(LearnConfig(game=KUHN, out=config.out))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("x")
    with pytest.raises(CardaiError, match=r"has files but no learn\.toml"):
        learn(LearnConfig(game="tictactoe", out=str(tmp_path / "other")))
    with pytest.raises(CardaiError, match=r"contains a \? or a comma"):
        LearnConfig(game="tictactoe", out="what?")
    with pytest.raises(CardaiError, match=r"minutes must be 0\.1 to"):
        LearnConfig(game="tictactoe", out="x", minutes=0.0)


def test_the_verb_prints_one_json(pretended, capsys):
    _, config = pretended
    assert cli.run(["learn", "tictactoe", "--out", config.out, "--threads", "1", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["agent"] == f"greedy:{config.out}"
    assert "the game: " in printed.err


def ppo(seed, folder):
    config = PpoConfig(
        games=80, step_games=20, batch_games=10, shared=16, hidden=16, teacher="honest", lessons=40, lesson_games=20
    )
    table = TrainingTable(cardai.load(KUHN), seed, None, None, None)
    return PolicyTraining(table, Ppo(table, config, seed), folder)


def test_a_policy_training_that_was_stopped_ends_with_the_same_weights(tmp_path):
    with on_device():
        whole = ppo(1, None).run(None, None, 1000)
        for games in (20, 60, 100):
            part = ppo(1, tmp_path / "ppo")
            part.run(None, None, 1000, until=lambda part=part, games=games: part.games >= games)
            assert part.games == games
        rest = ppo(1, tmp_path / "ppo")
        assert rest.games == 100
        policy = rest.run(None, None, 1000)
        assert policy.metadata.metrics["games"] == whole.metadata.metrics["games"] == 120
        ours, theirs = tensors_of(policy.network), tensors_of(whole.network)
        assert all(np.array_equal(ours[name], theirs[name]) for name in theirs)
        table = TrainingTable(cardai.load("tictactoe"), 1, None, None, None)
        other = Ppo(table, PpoConfig(games=80, step_games=20, batch_games=10, shared=16, hidden=16), 1)
        with pytest.raises(CardaiError, match="is a checkpoint of another run: its game"):
            PolicyTraining(table, other, tmp_path / "ppo")


def test_ppo_is_not_continued_against_an_opponent_that_has_learned_since(tmp_path):
    opponent, contents = tmp_path / "opponent.safetensors", sorted((SHIPPED / "tictactoe").glob("*.safetensors"))
    table = TrainingTable(cardai.load("tictactoe"), 1, None, None, None)
    config = PpoConfig(games=40, step_games=20, batch_games=10, shared=16, hidden=16, opponent=f"greedy:{opponent}")
    opponent.write_bytes(contents[0].read_bytes())
    PolicyTraining(table, Ppo(table, config, 1), tmp_path / "ppo").run(None, None, 1000)
    assert PolicyTraining(table, Ppo(table, config, 1), tmp_path / "ppo").games == 40
    opponent.write_bytes(contents[1].read_bytes())
    with pytest.raises(CardaiError, match="is a checkpoint of another run: its teacher or opponent is not this run's"):
        PolicyTraining(table, Ppo(table, config, 1), tmp_path / "ppo")


def test_a_generation_has_games_enough_for_all_parts_however_long_they_are():
    long = GameMeasures(400.0, 20.0, 400, 0, True, True, seconds=0.01)
    short = GameMeasures(4.0, 2.0, 10, 2, True, True, seconds=1e-5)
    assert generation_games(long, 6.0) == 300
    assert generation_games(long, 600.0) == 4000
    assert generation_games(short, 60.0) == 20_000
    assert all(round(share * 300) >= 1 for share in TrainConfig(game="x", data=("x",), out="x").parts)


def test_slow_games_leave_time_for_the_last_figures_and_fast_ones_for_learning(pretended):
    _, config = pretended
    run = LearnRun(config, cardai.load("tictactoe"), Path(config.out), None, print, None)
    shares = {}
    for pace in (1e-4, 0.6, 3.0):
        run._pace = {"random": pace}
        shares[pace] = run._closing(2) / run.total
    assert shares[1e-4] == FINAL_LEAST
    assert shares[0.6] == pytest.approx(1.3 * (_FEWEST + 2 * _FEWEST_SEEN) * 0.6 / 300)
    assert shares[3.0] > 0.9  # hardly anything can be learned and measured in that time


def test_an_agent_that_was_better_on_the_way_is_the_one_that_is_kept(pretended):
    learners, config = pretended
    evaluator = learners["evaluator"]
    evaluator.earlier, good = tuple(evaluator.agents), evaluator.agents

    def candidates():
        return good if sum(evaluator.seconds) < 100 else ["greedy:open_lines"]

    evaluator.candidates = candidates
    evaluator.agents = ["greedy:open_lines"]
    run = LearnRun(config, cardai.load("tictactoe"), Path(config.out), None, print, None)
    run.learners, run.state.chosen = learners, "evaluator"
    run.state.looks = {good[0]: 9.0, "random": 20.0, "greedy:open_lines": 3.0}
    evaluator.seconds = [200.0]
    assert run._finalists() == ["greedy:open_lines", good[0]]


def test_policies_of_several_encoders_share_the_time_of_one(pretended):
    learners, config = pretended
    twin = Pretended("policy-twin", learners["policy"].clock, Path(config.out), ["random"])
    learners["policy-twin"] = twin
    learn(config)
    assert sum(learners["policy"].seconds) == sum(twin.seconds) == pytest.approx(RACE * 300 / 2)


def test_a_policy_is_tried_with_each_encoder(tmp_path):
    config = LearnConfig(game="durak", out=str(tmp_path / "run"), minutes=0.1, seats=2, threads=1)
    (tmp_path / "run").mkdir()
    run = LearnRun(config, cardai.load("durak"), Path(config.out), None, print, None)
    run.measures, run.opponents = measures_of(run.game, 2, run.variant, 0), ["random", "thrifty"]
    learners = run._learners()
    assert list(learners) == ["evaluator", "policy-relative", "policy-report"]
    assert {learners[name].encoder for name in list(learners)[1:]} == {"relative", "report"}
    assert all(learners[name].config.teacher == "thrifty" for name in list(learners)[1:])
    assert learners["policy-relative"].config.lessons >= 100


def test_a_look_keeps_to_its_time_with_an_agent_that_is_slower_than_the_players(pretended, monkeypatch):
    """A network of Literature took 27 s of a minute for a look."""
    learners, config = pretended
    clock = learners["policy"].clock
    run = LearnRun(config, cardai.load("tictactoe"), Path(config.out), None, lambda line: None, None)
    run.learners, run.opponents = learners, ["random", "greedy:open_lines"]
    run._pace = dict.fromkeys(run.opponents, 1e-4)
    real = learning.duel

    def slow(*names, games, **how):
        result = real(*names, games=games, **how)
        clock.now += 0.1 * result.games
        return result

    monkeypatch.setattr(learning, "duel", slow)
    began = clock.now
    run._look("random", 400)
    assert clock.now - began < 1.3 * learning._LOOK * run.total


def test_what_is_not_better_than_random_is_said_to_have_had_too_few_minutes(pretended, tmp_path):
    report = learn(pretended[1])
    assert report.too_short == ""
    even = duel(
        cardai.load("tictactoe"), "random", "random", seats=2, folder=tmp_path / "duel", games=40, most=40, seed=1
    )
    short = dataclasses.replace(report, strength=(even,))
    assert "too short" not in str(report)
    assert (
        "not better than random: 5 minutes are too short for tictactoe on this machine; the same command with more "
        "--minutes goes on"
    ) in " ".join(str(short).split())


@pytest.mark.slow
@pytest.mark.parametrize("game", ["tictactoe", KUHN], ids=["tictactoe", "kuhn"])
def test_a_minute_of_learning_beats_random_and_keeps_to_its_time(game, tmp_path):
    report = learn(LearnConfig(game=game, out=str(tmp_path / "run"), minutes=1.0, threads=1))
    assert report.strength[0].other == "random"
    assert report.strength[0].verdict == "better"
    assert report.seconds < 66
    player = cardai.agent(cardai.load(game), report.agent)
    player.check_fits(cardai.load(game), None, 2)
