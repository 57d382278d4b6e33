"""Many machines play what one would play, and whatever fails is played again or named. Ray itself: test_cluster_ray."""

import hashlib
import random
import re
import socket
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cardai
from cardai.agents.spec import agent
from cardai.app.cli import run
from cardai.data import files_by_cluster
from cardai.data.record import read
from cardai.data.selfplay import simulate_here, simulate_shards
from cardai.data.soundness import first_unsound
from cardai.errors import CardaiError
from cardai.measure.bench import run_match, run_suite
from cardai.measure.duel import duel
from cardai.stats.deals import deal_seeds
from cardai.table.cluster import cluster as door
from cardai.table.cluster import driving, engine
from cardai.table.cluster.blocks import play_games
from cardai.table.cluster.cluster import Cluster
from cardai.table.cluster.driving import ClusterFailed, Event, Node, carry_out
from cardai.table.cluster.identity import identity, refusal
from cardai.table.cluster.work import DONE, FAILED, REFUSED, Answer, perform
from cardai.table.many import play

TICTACTOE = cardai.load("tictactoe")
POOL = {"random": 2.0, "greedy:open_lines": 1.0}


class Farm:
    """Machines in virtual time, a second for each task. `mishaps`: (number, how often it was sent) -> what happens."""

    def __init__(self, nodes=("a", "b"), slots=2, mishaps=None, leaves=None):
        self.all = {name: Node(name, f"host-{name}", slots) for name in nodes}
        self.mishaps, self.leaves = mishaps or {}, leaves or {}
        self.now, self.tickets, self.most = 0.0, 0, 0
        self.out, self.sent, self.cancelled = {}, {}, []

    def clock(self):
        return self.now

    def nodes(self):
        return {name: node for name, node in self.all.items() if self.now < self.leaves.get(name, 1e9)}

    def send(self, number, node):
        self.tickets += 1
        self.sent.setdefault(number, []).append(node)
        self.out[self.tickets] = (number, node, len(self.sent[number]))
        self.most = max(self.most, sum(one[1] == node for one in self.out.values()))
        return self.tickets

    def cancel(self, ticket):
        self.cancelled.append(ticket)
        self.out.pop(ticket, None)

    def events(self, _):
        self.now += 1.0
        events = []
        for ticket, (number, node, time) in list(self.out.items()):
            what = self.mishaps.get((number, time), self.mishaps.get(number, "done"))
            if what == "never" or node not in self.nodes():
                continue
            del self.out[ticket]
            content = b"%d" % number if what == "done" else b"else"
            kinds = {"fails": FAILED, "refused": REFUSED}
            answer = Answer(kinds.get(what, DONE), node, f"{what} on {node}", 1.0, content)
            events.append(Event(ticket, None if what == "lost" else answer, "killed"))
        return events


def carried_out(farm, count, **more):
    taken = []
    take = lambda number, answer: taken.append((number, answer.content))  # noqa: E731
    failed = carry_out(farm, range(count), farm.send, take, clock=farm.clock, **more)
    return sorted(taken), failed


def all_done(count, but=()):
    return [(number, b"%d" % number) for number in range(count) if number not in but]


def test_each_task_is_taken_once_and_at_most_two_a_slot_are_out():
    farm = Farm(slots=3)
    assert carried_out(farm, 40) == (all_done(40), {})
    assert farm.most == 6
    assert {len(nodes) for nodes in farm.sent.values()} == {1}


def test_a_task_whose_worker_was_lost_is_played_elsewhere():
    farm = Farm(mishaps={(3, 1): "lost", (7, 1): "lost", (7, 2): "lost"})
    assert carried_out(farm, 10) == (all_done(10), {})
    assert farm.sent[3][0] != farm.sent[3][1]
    assert len(farm.sent[7]) == 3


def test_a_task_that_loses_its_worker_again_and_again_is_named_and_the_others_are_done():
    farm = Farm(mishaps={3: "lost"})
    assert carried_out(farm, 10) == (all_done(10, but=[3]), {3: "its worker ended (killed)"})
    assert len(farm.sent[3]) == 4


def test_a_task_that_fails_three_times_is_named_and_the_others_are_done():
    farm = Farm(mishaps={3: "fails"})
    taken, failed = carried_out(farm, 10)
    assert taken == all_done(10, but=[3])
    assert set(failed) == {3}
    assert failed[3].startswith("fails on ")
    assert len(farm.sent[3]) == 3
    assert farm.sent[3][0] != farm.sent[3][1]  # the machine may be to blame


def test_a_run_of_which_nothing_works_is_soon_given_up():
    farm = Farm(mishaps=dict.fromkeys(range(1000), "fails"))
    taken, failed = carried_out(farm, 1000)
    assert (taken, len(failed)) == ([], 1000)
    assert len(farm.sent) < 20


def test_the_tasks_of_a_machine_that_is_gone_go_to_the_others_at_once():
    farm = Farm(mishaps={(0, 1): "never", (1, 1): "never"}, leaves={"a": 3.0})
    assert carried_out(farm, 30) == (all_done(30), {})
    assert all("b" in nodes for nodes in farm.sent.values() if len(nodes) > 1)
    assert farm.now < 30


def test_a_late_task_is_sent_to_another_machine_too_and_its_first_answer_counts():
    farm = Farm(mishaps={(0, 1): "never"})
    assert carried_out(farm, 10) == (all_done(10), {})
    assert len(farm.sent[0]) == 2
    assert farm.sent[0][0] != farm.sent[0][1]
    assert driving.SLOW <= farm.now < driving.SLOW + 10


def test_a_machine_that_falls_silent_delays_a_run_by_seconds_though_it_seems_to_be_there():
    farm = Farm(mishaps={(number, 1): "never" for number in (1, 3, 5, 7)})  # all that machine b has out
    taken, failed = carried_out(farm, 400)
    assert (taken, failed) == (all_done(400), {})
    stuck = [number for number, nodes in farm.sent.items() if len(nodes) > 1]
    assert len(stuck) == 4
    assert {len(farm.sent[number]) for number in stuck} == {2}  # though their first copies stay out to the end
    assert farm.most == 4


@pytest.mark.parametrize("must_agree", [True, False])
def test_two_answers_to_a_task_must_be_equal_unless_agents_play_by_the_clock(must_agree):
    class Twice(Farm):
        def events(self, seconds):
            """Task 0 is late until it is out twice; then both answers come at once, and they differ."""
            if len(self.sent[0]) < 2:
                return [event for event in super().events(seconds) if self.sent_as(event) != 0]
            return [Event(t, Answer(DONE, n, "", 1.0, n.encode())) for t, (_, n, _) in self.out.items()]

        def sent_as(self, event):
            return int(event.answer.content)

    farm = Twice(mishaps={(0, 1): "never"})
    if must_agree:
        with pytest.raises(ClusterFailed, match="task 0 was played twice, with two different results"):
            carried_out(farm, 3)
    else:
        assert carried_out(farm, 3, must_agree=False)[0][0][0] == 0


def test_a_machine_that_refuses_is_left_out_and_if_all_refuse_the_run_ends_with_the_reason():
    class Picky(Farm):
        refusing = ("b",)

        def events(self, seconds):
            kinds = {t: n for t, (_, n, _) in self.out.items()}
            return [
                Event(e.ticket, Answer(REFUSED, "b", "b is old", 1.0, b"")) if kinds[e.ticket] in self.refusing else e
                for e in super().events(seconds)
            ]

    farm = Picky()
    assert carried_out(farm, 20) == (all_done(20), {})
    assert sum(nodes.count("b") for nodes in farm.sent.values()) <= 4
    farm = Picky()
    farm.refusing = ("a", "b")
    with pytest.raises(ClusterFailed, match="b is old"):
        carried_out(farm, 20)


def test_without_any_machine_a_run_ends_after_a_while():
    farm = Farm(leaves={"a": 2.0, "b": 2.0})
    with pytest.raises(ClusterFailed, match="no machine of the cluster is left"):
        carried_out(farm, 100)
    assert 20 <= farm.now <= 25
    assert farm.out == {}


@pytest.mark.parametrize(
    ("changed", "device", "said"),
    [
        ("cardai", None, "machine m has cardai 9, here is cardai {}; install the same version on all machines"),
        ("game", None, "machine m has 9, here is tictactoe 1;"),
        ("rules", None, "machine m has rules with the digest 9, here is rules with the digest {};"),
        ("code", None, "machine m has cardai's code 9, here is cardai's code {};"),
        ("numpy", None, None),
        (
            "numpy",
            "auto",
            "machine m has numpy 9, here is numpy {}: networks may round differently there, which --mixed",
        ),
        ("device", "auto", "machine m has device 9, here is device {}: networks may round"),
    ],
)
def test_a_machine_that_is_another_is_refused_with_both_versions(changed, device, said):
    own = identity(TICTACTOE, device)
    assert refusal("m", own, own) is None
    found = refusal("m", own, own | {changed: "9"})
    assert found is None if said is None else found.startswith(said.format(own[changed]))
    if changed in ("numpy", "device"):
        assert refusal("m", own, own | {changed: "9"}, mixed=True) is None


class Here:
    """An engine whose machines are this process. Tasks are done late and in a strange order."""

    spoils = ()  # numbers whose answer is spoiled

    def __init__(self, address):
        self.contents, self.out, self.tickets, self.random = [], {}, 0, random.Random(1)

    def nodes(self):
        return {name: Node(name, name, 2) for name in ("here", "there")}

    def keep(self, content):
        self.contents.append(content)
        return len(self.contents) - 1

    def submit(self, number, contents, node, cpus=1, gpus=0):
        self.tickets += 1
        self.out[self.tickets] = number, [self.contents[place] for place in contents]
        return self.tickets

    def forget(self, content):
        self.contents[content] = None

    def cancel(self, ticket):
        self.out.pop(ticket, None)

    def close(self):
        pass

    def events(self, _):
        ticket = self.random.choice(list(self.out))
        number, contents = self.out.pop(ticket)
        return [Event(ticket, Answer.of(perform(contents[0], number, *contents[1:])))]


@pytest.fixture
def here(monkeypatch):
    monkeypatch.setattr(door, "RayEngine", Here)
    with Cluster("auto") as cluster:
        yield cluster


def contents_of(folder: Path) -> dict:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}


def test_the_files_and_the_summary_are_those_of_one_machine(here, tmp_path):
    one = simulate_shards(TICTACTOE, POOL, 95, folder=tmp_path / "one", shard=10, seed=3)
    heard = []
    note = lambda *all: heard.append(all)  # noqa: E731
    many = simulate_shards(TICTACTOE, POOL, 95, folder=tmp_path / "many", shard=10, seed=3, cluster=here, progress=note)
    assert contents_of(tmp_path / "one") == contents_of(tmp_path / "many")
    assert (many.agents, many.games, many.states) == (one.agents, one.games, one.states)
    assert heard[-1][:2] == (95, 95)
    assert any("compiling tictactoe's rules" in words for _, _, words in heard)
    for name in ("games-000000020-000000029.jsonl.gz", "games-000000060-000000069.jsonl.gz"):
        (tmp_path / "many" / name).unlink()
    again = simulate_shards(TICTACTOE, POOL, 95, folder=tmp_path / "many", shard=10, seed=3, cluster=here)
    assert (again.games, again.found) == (20, 8)
    part = simulate_shards(TICTACTOE, POOL, 95, folder=tmp_path / "part", shard=10, seed=3, only="9", cluster=here)
    assert (part.asked, part.games) == (5, 5)
    assert contents_of(tmp_path / "one") == contents_of(tmp_path / "many")


def test_a_file_of_other_games_than_the_plans_is_refused_and_not_written(here, tmp_path, monkeypatch):
    other = simulate_shards(TICTACTOE, POOL, 20, folder=tmp_path / "other", shard=10, seed=8)
    spoiled = Path(other.files[0]).read_bytes()
    whole = files_by_cluster.unpacked
    monkeypatch.setattr(files_by_cluster, "unpacked", lambda answer: (spoiled, whole(answer)[1]))
    with pytest.raises(
        ClusterFailed, match=r"games-000000000-000000009.jsonl.gz, played on machine .*, is wrong: game 0 is not the"
    ):
        simulate_shards(TICTACTOE, POOL, 10, folder=tmp_path / "many", shard=10, seed=3, cluster=here)
    assert [file.name for file in (tmp_path / "many").iterdir()] == ["simulation.json"]


def test_a_game_that_does_not_replay_to_its_scores_is_found():
    game = cardai.load("durak")
    games = simulate_here(game, {"random": 1.0}, 30, seed=2)
    variant, seats = game.default_variant, game.default_seats
    assert first_unsound(game, games, variant, seats) is None
    for place in (0, 11, 29):
        one = games[place]
        for wrong in (
            replace(one, scores=one.scores[::-1]),
            replace(one, moves=one.moves[:-1]),
            replace(one, moves=one.moves[::-1].copy()),
            replace(one, seed=one.seed ^ 1),
        ):
            assert first_unsound(game, [*games[:place], wrong, *games[place + 1 :]], variant, seats) == place


def test_a_full_disk_stops_a_simulation_and_tears_nothing(here, tmp_path, monkeypatch):
    fsync, calls = files_by_cluster.write_once, []

    def full(*what):
        calls.append(what)
        if len(calls) > 2:
            raise OSError(28, "No space left on device")
        return fsync(*what)

    monkeypatch.setattr(files_by_cluster, "write_once", full)
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
    suites = [run_suite(TICTACTOE, agents=line_up, games=100, cluster=cluster) for cluster in (None, here)]
    assert figures(suites[0]) == figures(suites[1])
    assert [row.figure for row in suites[0].rows] == [row.figure for row in suites[1].rows]
    duels = [
        duel(TICTACTOE, *line_up, seats=2, games=200, folder=tmp_path / str(cluster is None), cluster=cluster)
        for cluster in (None, here)
    ]
    assert duels[0] == duels[1]
    assert contents_of(tmp_path / "True") == contents_of(tmp_path / "False")


def test_results_have_the_moves_tallies_and_outcomes_of_one_machine(here):
    game = cardai.load("durak")
    agents = [agent(game, "random")]
    lineups, seeds = np.zeros((70, 3), np.int64), deal_seeds(1, 70)
    what = {"record": True, "outcomes": list(game.learning.outcomes)}
    one, many = (
        play(game, agents, lineups, seeds, **what),
        play_games(game, agents, lineups, seeds, **what, cluster=here),
    )
    for name in ("scores", "plies", "finished", "endless", "tally"):
        assert np.array_equal(getattr(one, name), getattr(many, name)), name
    assert one.decisions == many.decisions
    assert all(np.array_equal(one.outcomes[name], many.outcomes[name]) for name in game.learning.outcomes)
    assert all(np.array_equal(a, b) for a, b in zip(one.moves, many.moves, strict=True))


def test_models_go_along_and_specs_stay_as_they_are(here, tmp_path, monkeypatch):
    shipped = Path(cardai.__file__).parents[1] / "evaluators/models/tictactoe/mlp.safetensors"
    model = tmp_path / "mine.safetensors"
    model.write_bytes(shipped.read_bytes())
    pool = {f"greedy:{model}": 1.0, "random": 1.0}
    simulate_shards(TICTACTOE, pool, 40, folder=tmp_path / "one", shard=10)
    performed = Here.events

    def without_the_file(self, seconds):
        model.rename(tmp_path / "away")
        try:
            return performed(self, seconds)
        finally:
            (tmp_path / "away").rename(model)

    monkeypatch.setattr(Here, "events", without_the_file)
    simulate_shards(TICTACTOE, pool, 40, folder=tmp_path / "many", shard=10, cluster=here)
    one, many = contents_of(tmp_path / "one"), contents_of(tmp_path / "many")
    assert one.pop("simulation.json") != many.pop("simulation.json")  # it names the device
    assert one == many
    with pytest.raises(CardaiError, match="--mixed allows both"):
        simulate_shards(TICTACTOE, pool, 40, folder=tmp_path / "one", shard=10, cluster=here)
    here.mixed = True
    simulate_shards(TICTACTOE, pool, 40, folder=tmp_path / "one", shard=10, cluster=here)
    assert [content for content in here.engine.contents if content] == [model.read_bytes()]  # it travels once
    assert '"device": "mixed"' in (tmp_path / "one/simulation.json").read_text()


def test_code_of_the_users_own_does_not_travel(here, tmp_path, monkeypatch):
    (tmp_path / "own_player.py").write_text("def choose(game, world):\n    return game.moves(world)[0]\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(CardaiError, match="'python:own_player:choose' runs code of yours"):
        run_match(TICTACTOE, ["random", "python:own_player:choose"], 10, cluster=here)


@pytest.mark.parametrize("address", ["nowhere", "host:", ":80", "host:99999", "http://host:80", "host:port", ""])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(CardaiError, match="--cluster is auto, local or HOST:PORT"):
        engine.RayEngine(address)


def test_a_cluster_that_fails_is_one_sentence_and_exit_1(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(engine, "find_spec", lambda _: True)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    out = str(tmp_path / "games")
    assert run(["selfplay", "tictactoe", "--agent", "random", "--out", out, "--cluster", f"127.0.0.1:{port}"]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"cardai: no cluster answers at 127.0.0.1:{port}: Connection refused; `ray start --head`")
    assert said.count("\n") == 1
    assert not Path(out).exists()


def test_without_ray_that_is_said(monkeypatch):
    monkeypatch.setattr(engine, "find_spec", lambda _: None)
    with pytest.raises(CardaiError, match=r"pip install .*\[cluster\]'? brings it"):
        engine.RayEngine("auto")


def test_one_module_imports_ray_and_that_inside_functions():
    package = Path(cardai.__file__).parent
    sources = {file: file.read_text("utf-8") for file in package.rglob("*.py")}
    importing = [file for file, text in sources.items() if re.search(r"^\s*(import|from) ray\b", text, re.M)]
    assert [file.name for file in importing] == ["ray_process.py"]
    assert not re.search(r"^(import|from) ray\b", importing[0].read_text("utf-8"), re.M)
