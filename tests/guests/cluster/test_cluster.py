"""A cluster plays what one machine would play, and whatever fails is named. Ray itself: test_cluster_ray."""

import hashlib
import random
import socket
import sys
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import cardai
from cardai.cli.main import run
from cardai.errors import CardaiError
from cardai.files import entries
from cardai.guests.cluster import Cluster, cluster, files, work
from cardai.guests.cluster.identity import identity, refusal
from cardai.guests.cluster.joining import ClusterFailed
from cardai.measure.bench import run_match, run_suite
from cardai.measure.duel import duel
from cardai.playing.agents.spec import agent
from cardai.playing.stats.deals import deal_seeds
from cardai.playing.table.many import play
from cardai.records import elsewhere
from cardai.records.record import read
from cardai.records.selfplay import simulate_here, simulate_shards
from cardai.records.soundness import first_unsound

TICTACTOE = cardai.load("tictactoe")
POOL = {"random": 2.0, "greedy:open_lines": 1.0}


class RayError(Exception):
    """What Ray raises, with what the task raised."""

    def __init__(self, cause):
        super().__init__(str(cause))
        self.cause = cause


class Here(ModuleType):
    """As much of Ray as a cluster needs: two machines, which are this process. Tasks end in a strange order."""

    def __init__(self):
        super().__init__("ray")
        self.random, self.held, self.most = random.Random(1), [], 0
        self.exceptions = SimpleNamespace(RayError=RayError, LocalRayletDiedError=ConnectionError)
        self.init = lambda *_, **__: None
        self.shutdown = lambda: None
        self.get_runtime_context = lambda: SimpleNamespace(gcs_address="here:1")
        about = {"Alive": True, "NodeManagerHostname": "here", "Resources": {"CPU": 2.0}}
        self.names = ["one", "other"]
        self.nodes = lambda: [about | {"NodeID": name} for name in self.names]

    def put(self, content):
        self.held.append(content)
        return content

    def remote(self, **options):
        return lambda function: Task(function, options["max_retries"])

    def wait(self, out, timeout):
        self.most = max(self.most, len(out))
        return [self.random.choice(out)], []

    def get(self, result):
        return result()


class Task:
    """A task of Ray's, which is tried again if it fails."""

    def __init__(self, function, retries):
        self.function, self.retries = function, retries

    def options(self, **_):
        return self

    def remote(self, *given):
        assert {type(one) for one in given} == {bytes}

        def result(left=self.retries):
            try:
                return self.function(*given)
            except work.TaskFailed as error:
                if left:
                    return result(left - 1)
                raise RayError(error) from None
            except Exception as error:
                raise RayError(error) from None

        return result


@pytest.fixture
def here(monkeypatch):
    strategies = SimpleNamespace(NodeAffinitySchedulingStrategy=lambda *_, **__: None)
    monkeypatch.setitem(sys.modules, "ray", Here())
    monkeypatch.setitem(sys.modules, "ray.util.scheduling_strategies", strategies)
    monkeypatch.setattr(cluster, "find_spec", lambda _: True)
    for name in ("knock", "try_to_join"):
        monkeypatch.setattr(cluster, name, lambda _: None)
    work._works.clear()
    with Cluster("auto") as joined:
        yield joined


def contents_of(folder: Path) -> dict:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}


def test_the_files_and_the_summary_are_those_of_one_machine(here, tmp_path):
    one = simulate_shards(TICTACTOE, POOL, 95, folder=tmp_path / "one", shard=10, seed=3)
    heard = []
    note = lambda *all: heard.append(all)  # noqa: E731
    many = simulate_shards(TICTACTOE, POOL, 95, folder=tmp_path / "many", shard=10, seed=3, cluster=here, progress=note)
    assert contents_of(tmp_path / "one") == contents_of(tmp_path / "many")
    assert (many.agents, many.games, many.states) == (one.agents, one.games, one.states)
    assert heard[0] == (0, 95, "compiling on 2 machines, 4 processors, once")
    assert heard[-1] == (95, 95, "simulating on 2 machines, 4 processors")
    assert here.ray.most == 8
    for name in ("games-000000020-000000029.jsonl.gz", "games-000000060-000000069.jsonl.gz"):
        (tmp_path / "many" / name).unlink()
    again = simulate_shards(TICTACTOE, POOL, 95, folder=tmp_path / "many", shard=10, seed=3, cluster=here)
    assert (again.games, again.found) == (20, 8)
    assert contents_of(tmp_path / "one") == contents_of(tmp_path / "many")


def test_a_file_that_always_fails_is_named_and_the_others_are_written(here, tmp_path, monkeypatch):
    played, tried = files.Mix.play, []

    def failing(mix, first, *more):
        if first == 20:
            tried.append(first)
            raise ValueError("bang")
        return played(mix, first, *more)

    monkeypatch.setattr(files.Mix, "play", failing)
    with pytest.raises(ClusterFailed, match=r"1 of 10 files .*: games-000000020-000000029.jsonl.gz \(ValueError"):
        simulate_shards(TICTACTOE, POOL, 95, folder=tmp_path, shard=10, cluster=here)
    assert len(tried) == 4
    assert len(list(tmp_path.glob("games-*"))) == 9


def test_what_a_lost_machine_had_out_is_played_by_others_though_it_hangs(here, tmp_path, monkeypatch):
    simulate_shards(TICTACTOE, POOL, 95, folder=tmp_path / "one", shard=10)
    hung = []

    def losing(out, timeout):
        if not hung and len(out) == 8:
            hung.extend(out[:3])
            here.ray.names.pop()
        return [next(one for one in out if one not in hung)], []

    monkeypatch.setattr(cluster, "_LOOK", 0.0)
    monkeypatch.setattr(here.ray, "wait", losing)
    simulate_shards(TICTACTOE, POOL, 95, folder=tmp_path / "many", shard=10, cluster=here)
    assert contents_of(tmp_path / "one") == contents_of(tmp_path / "many")


def test_a_file_of_other_games_than_the_plans_is_refused_and_not_written(here, tmp_path, monkeypatch):
    other = lambda game, request: files.file_player(game, request | {"table": request["table"] | {"seed": 8}})  # noqa: E731
    monkeypatch.setitem(work._PLAYERS, "files", other)
    with pytest.raises(ClusterFailed, match=r"games-000000000-000000009.jsonl.gz came with games that are not the"):
        simulate_shards(TICTACTOE, POOL, 10, folder=tmp_path, shard=10, seed=3, cluster=here)
    assert [file.name for file in tmp_path.iterdir()] == ["simulation.json"]


def test_a_game_that_does_not_replay_to_its_scores_is_found():
    game = cardai.load("durak")
    games = simulate_here(game, {"random": 1.0}, 30, seed=2)
    assert first_unsound(game, games) is None
    for place in (0, 11, 29):
        one = games[place]
        for wrong in (
            replace(one, scores=one.scores[::-1]),
            replace(one, moves=one.moves[:-1]),
            replace(one, moves=one.moves[::-1].copy()),
            replace(one, seed=one.seed ^ 1),
        ):
            assert first_unsound(game, [*games[:place], wrong, *games[place + 1 :]]) == place


def test_a_full_disk_stops_a_simulation_and_tears_nothing(here, tmp_path, monkeypatch):
    whole, calls = files.write_once, []

    def full(*what):
        calls.append(what)
        if len(calls) > 2:
            raise OSError(28, "No space left on device")
        return whole(*what)

    monkeypatch.setattr(files, "write_once", full)
    with pytest.raises(ClusterFailed, match="No space left on device; the files before it are whole"):
        simulate_shards(TICTACTOE, POOL, 95, folder=tmp_path, shard=10, cluster=here)
    assert len([sum(1 for _ in read(file)) for file in tmp_path.glob("games-*")]) == 2
    assert not list(tmp_path.glob(".*"))


def test_a_match_a_suite_and_a_duel_have_the_figures_of_one_machine(here, tmp_path):
    timed = ("seconds", "decisions", "threads", "games_per_second", "search", "rows")

    def figures(report):
        return {name: value for name, value in report.as_json().items() if name not in timed}

    line_up = ["random", "greedy:open_lines"]
    for record in ("one.jsonl", "many.jsonl"):
        more = {"cluster": here} if record == "many.jsonl" else {}
        report = run_match(TICTACTOE, line_up, 300, seed=2, record=tmp_path / record, **more)
        (tmp_path / f"{record}.txt").write_text(str(figures(report)))
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "many.jsonl").read_bytes()
    assert (tmp_path / "one.jsonl.txt").read_text() == (tmp_path / "many.jsonl.txt").read_text()
    suites = [run_suite(TICTACTOE, agents=line_up, games=100, cluster=one) for one in (None, here)]
    assert figures(suites[0]) == figures(suites[1])
    assert [row.figure for row in suites[0].rows] == [row.figure for row in suites[1].rows]
    duels = [
        duel(TICTACTOE, *line_up, seats=2, games=200, folder=tmp_path / str(one is None), cluster=one)
        for one in (None, here)
    ]
    assert duels[0] == duels[1]
    assert contents_of(tmp_path / "True") == contents_of(tmp_path / "False")


def test_results_have_the_moves_tallies_and_outcomes_of_one_machine(here):
    game = cardai.load("durak")
    agents = [agent(game, "random")]
    lineups, seeds = np.zeros((70, 3), np.int64), deal_seeds(1, 70)
    what = {"record": True, "outcomes": list(game.learning.outcomes)}
    one, many = (player(game, agents, lineups, seeds, **what) for player in (play, here.play))
    for name in ("scores", "plies", "finished", "endless", "tally"):
        assert np.array_equal(getattr(one, name), getattr(many, name)), name
    assert one.decisions == many.decisions
    assert all(np.array_equal(one.outcomes[name], many.outcomes[name]) for name in game.learning.outcomes)
    assert all(np.array_equal(a, b) for a, b in zip(one.moves, many.moves, strict=True))


def test_models_go_along_once_and_specs_stay_as_they_are(here, tmp_path, monkeypatch):
    shipped = Path(cardai.__file__).parents[1] / "evaluators/models/tictactoe/mlp.safetensors"
    model = tmp_path / "mine.safetensors"
    model.write_bytes(shipped.read_bytes())
    pool = {f"greedy:{model}": 1.0, "random": 1.0}
    simulate_shards(TICTACTOE, pool, 40, folder=tmp_path / "one", shard=10)
    performed = here.ray.get

    def without_the_file(result):
        model.rename(tmp_path / "away")
        try:
            return performed(result)
        finally:
            (tmp_path / "away").rename(model)

    monkeypatch.setattr(here.ray, "get", without_the_file)
    simulate_shards(TICTACTOE, pool, 40, folder=tmp_path / "many", shard=10, cluster=here)
    one, many = contents_of(tmp_path / "one"), contents_of(tmp_path / "many")
    assert one.pop("simulation.json") != many.pop("simulation.json")  # it names the device
    assert one == many
    with pytest.raises(CardaiError, match="--mixed allows both"):
        simulate_shards(TICTACTOE, pool, 40, folder=tmp_path / "one", shard=10, cluster=here)
    here.mixed = True
    (tmp_path / "one/games-000000000-000000009.jsonl.gz").unlink()
    simulate_shards(TICTACTOE, pool, 40, folder=tmp_path / "one", shard=10, cluster=here)
    assert here.ray.held.count(model.read_bytes()) == 1
    assert '"device": "mixed"' in (tmp_path / "one/simulation.json").read_text()


def test_code_of_the_users_own_does_not_travel(here, tmp_path, monkeypatch):
    (tmp_path / "own_player.py").write_text("def choose(game, world):\n    return game.moves(world)[0]\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(CardaiError, match="'python:own_player:choose' runs code of yours"):
        run_match(TICTACTOE, ["random", "python:own_player:choose"], 10, cluster=here)


@pytest.mark.parametrize("changed", ["cardai", "code", "game", "rules", "numpy", "device"])
def test_a_machine_that_is_another_is_refused_with_both_versions(changed):
    for device in (None, "auto"):
        own = identity(TICTACTOE, device)
        other, why = own | {changed: "9"}, f"has {changed} 9, the driver has {own[changed]}"
        assert refusal(own, own) is None
        if changed not in ("numpy", "device"):
            assert refusal(own, other, mixed=True).endswith(f"{why}; install the same version on all machines")
            continue
        assert refusal(own, other, mixed=True) is None
        said = f"{why}: networks may round differently there, which --mixed allows"
        assert (refusal(own, other) or "").endswith(said if device else "")


def test_a_machine_of_another_version_is_refused_before_the_first_game(here, tmp_path, monkeypatch):
    monkeypatch.setattr(work, "identity", lambda *of: identity(*of) | {"game": "tictactoe 9"})
    with pytest.raises(
        ClusterFailed, match="has game tictactoe 9, the driver has tictactoe 1; install the same version"
    ):
        simulate_shards(TICTACTOE, POOL, 95, folder=tmp_path, shard=10, cluster=here)
    assert not list(tmp_path.glob("games-*"))


@pytest.mark.parametrize("address", ["nowhere", "host:", ":80", "host:99999", "http://host:80", "host:port", ""])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(CardaiError, match="--cluster is auto or HOST:PORT"):
        Cluster(address)


def test_a_cluster_that_is_not_there_is_one_sentence_and_exit_1(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(cluster, "find_spec", lambda _: True)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    out = str(tmp_path / "games")
    assert run(["selfplay", "tictactoe", "--agent", "random", "--out", out, "--cluster", f"127.0.0.1:{port}"]) == 1
    assert capsys.readouterr().err == f"cardai: no cluster answers at 127.0.0.1:{port}: Connection refused\n"
    assert not Path(out).exists()


def test_without_ray_or_a_package_that_brings_clusters_that_is_said(monkeypatch):
    monkeypatch.setattr(cluster, "find_spec", lambda _: None)
    with pytest.raises(CardaiError, match=r"pip install .*\[cluster\]'? brings it"):
        elsewhere.join("auto")

    gone = EntryPoint("ray", "cardai.guests.no_cluster:Cluster", elsewhere.ENTRY_POINTS)
    monkeypatch.setattr(entries, "entry_points", lambda group: [gone])
    with pytest.raises(CardaiError, match=r"--cluster needs a package that brings clusters \(an entry point"):
        elsewhere.join("auto")
