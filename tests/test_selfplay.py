"""A simulation is what its pool and its seed say: the same files again, a longer one, one that was stopped."""

import json
import math
import re
import shutil
import signal

import numpy as np
import pytest
import small_game
import steps
from printing import text_of

import cardai
from cardai.errors import CardaiError
from cardai.evaluators.model import SHIPPED
from cardai.playing.stats import interval
from cardai.playing.stats.by_deal import Deals
from cardai.playing.stats.deals import deal_seeds
from cardai.records import mixture, selfplay
from cardai.records.record import Writer, read, verify
from cardai.records.selfplay import parse_pool, simulate, simulate_here, simulate_shards

TICTACTOE, MOSKA = cardai.load("tictactoe"), cardai.load("moska")
POOL = {"random": 2, "greedy:open_lines": 1}


def games_of(path) -> list:
    return [(one.seed, one.lineup, one.scores, one.moves.tolist()) for one in read(path)]


def test_a_pool_is_read_from_its_notation():
    assert parse_pool(["bot3?randomised@3", "random", "greedy:runs/x@home/m@0.5"]) == {
        "bot3?randomised": 3.0, "random": 1.0, "greedy:runs/x@home/m": 0.5
    }  # fmt: skip


@pytest.mark.parametrize("text", ["bot3@", "bot3@two", "bot3@0", "bot3@-1", "bot3@nan", "bot3@inf", "@2", ""])
def test_what_is_no_agent_with_a_weight_is_refused(text):
    with pytest.raises(CardaiError, match="is not an agent with a weight; write bot3@2"):
        parse_pool(["random", text])


def test_an_agent_named_twice_is_refused():
    with pytest.raises(CardaiError, match="the agent 'random' is named twice"):
        parse_pool(["random@2", "random"])


@pytest.mark.parametrize(
    ("game", "pool", "seats"),
    [(TICTACTOE, POOL, 2), (MOSKA, {"bot3?randomised": 1, "random": 1}, 4), (MOSKA, {"bot3": 1}, 3)],
    ids=["tictactoe", "moska", "three"],
)
def test_a_simulation_is_a_sound_record_with_a_deal_for_each_game(tmp_path, game, pool, seats):
    said = simulate(game, pool, 60, out=tmp_path / "g.jsonl.gz", seats=seats, seed=3)
    found = verify(tmp_path / "g.jsonl.gz")
    assert (found.games, found.complete, found.header.agents) == (60, True, tuple(pool))
    assert (said.games, said.states, said.seats, said.endless) == (60, found.plies, seats, 0)
    assert len({one.seed for one in read(tmp_path / "g.jsonl.gz")}) == 60
    assert not said.interrupted
    assert said.files == (str(tmp_path / "g.jsonl.gz"),)


def test_the_same_seed_gives_the_same_file_on_any_number_of_threads(tmp_path):
    for name, threads, seed in (("a", 1, 1), ("b", 3, 1), ("c", 1, 2)):
        simulate(MOSKA, {"bot3?randomised": 1, "random": 1}, 40, out=tmp_path / name, threads=threads, seed=seed)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert not {one.seed for one in read(tmp_path / "a")} & {one.seed for one in read(tmp_path / "c")}


def test_a_longer_simulation_begins_with_a_shorter_one(tmp_path):
    simulate(TICTACTOE, POOL, 30, out=tmp_path / "few")
    simulate(TICTACTOE, POOL, 80, out=tmp_path / "many")
    assert games_of(tmp_path / "many")[:30] == games_of(tmp_path / "few")


def test_no_deal_is_one_of_a_benchmark_of_the_same_seed(tmp_path):
    simulate(TICTACTOE, POOL, 1000, out=tmp_path / "g", seed=0)
    assert not {one.seed for one in read(tmp_path / "g")} & set(deal_seeds(0, 5000).tolist())


def test_each_seat_of_each_game_is_drawn_for_itself_by_the_weights(tmp_path):
    pool = {"random": 2, "greedy:open_lines": 1, "greedy:open_lines?epsilon=0.5": 3}
    simulate(TICTACTOE, pool, 6000, out=tmp_path / "g")
    lineups = np.array([one.lineup for one in read(tmp_path / "g")])
    shares = np.array(list(pool.values())) / 6
    for places, expected in (
        (lineups[:, 0], shares),
        (lineups[:, 1], shares),
        (3 * lineups[:, 0] + lineups[:, 1], np.outer(shares, shares).ravel()),  # the seats know nothing of each other
        (3 * lineups[1:, 0] + lineups[:-1, 0], np.outer(shares, shares).ravel()),
    ):
        found = np.bincount(places, minlength=len(expected)) / len(places)
        assert (np.abs(found - expected) < 5 * np.sqrt(expected * (1 - expected) / len(places))).all()


def test_the_summary_says_how_each_agent_did(tmp_path):
    said = simulate(TICTACTOE, POOL, 400, out=tmp_path / "g")
    recorded = list(read(tmp_path / "g"))
    for place, one in enumerate(said.agents):
        scores = [s for game in recorded for seat, s in zip(game.lineup, game.scores, strict=True) if seat == place]
        assert one.seats == len(scores) == one.score.n
        assert one.score.point == pytest.approx(100 * np.mean(scores))
        assert one.win.point == pytest.approx(100 * np.mean(np.array(scores) == 1))
        assert one.loss.point == pytest.approx(100 * np.mean(np.array(scores) == 0))
        for figure in (one.score, one.win, one.loss):
            assert 0 <= figure.low <= figure.point < figure.high <= 100
    assert (said.agents[1].spec, said.agents[1].weight) == ("greedy:open_lines", 1)
    assert said.found == 0
    assert said.seconds > 0


def test_shares_get_wilsons_interval_and_other_means_one_that_a_bootstrap_confirms(tmp_path):
    said = simulate(MOSKA, {"bot3": 1, "random": 1}, 300, out=tmp_path / "m")
    for one in said.agents:
        assert one.score.low == pytest.approx(one.win.low)
        low, high = interval.wilson(one.score.point / 100 * one.score.n, one.score.n)
        assert one.score.low <= 100 * low + 1e-9
        assert one.score.high >= 100 * high - 1e-9
    simulate(TICTACTOE, POOL, 500, out=tmp_path / "t")
    outcomes = np.full((500, 2), np.nan)
    for number, game in enumerate(read(tmp_path / "t")):
        outcomes[number] = [s if p == 0 else np.nan for p, s in zip(game.lineup, game.scores, strict=True)]
    expected = interval.mean(outcomes)
    found = mixture._estimate(Deals.of(outcomes).played)
    assert found.point == pytest.approx(expected.point)
    assert found.low == pytest.approx(expected.low, abs=0.006)
    assert found.high == pytest.approx(expected.high, abs=0.006)


def test_a_simulation_in_blocks_is_the_same(tmp_path, monkeypatch):
    whole = simulate(MOSKA, {"bot3": 1, "random": 1}, 50, out=tmp_path / "whole", seed=3)
    monkeypatch.setattr(selfplay, "BLOCK", 7)
    in_blocks = simulate(MOSKA, {"bot3": 1, "random": 1}, 50, out=tmp_path / "blocks", seed=3)
    assert (tmp_path / "blocks").read_bytes() == (tmp_path / "whole").read_bytes()
    assert (in_blocks.agents, in_blocks.games, in_blocks.states) == (whole.agents, whole.games, whole.states)


def test_a_summary_is_printed_and_told_as_json(tmp_path):
    said = simulate(TICTACTOE, POOL, 50, out=tmp_path / "g")
    told = json.loads(json.dumps(said.as_json()))
    assert told["agents"][1]["spec"] == "greedy:open_lines"
    text = text_of(said, 80)
    assert "greedy:open_lines" in text
    assert "50 games, " in text
    assert "…" not in text


def test_endless_games_are_counted_and_in_no_file(tmp_path):
    said = simulate(steps.GAME, {"random": 1, "climb": 1}, 50, out=tmp_path / "g")
    assert said.endless > 0
    assert said.games == 50 - said.endless == verify_here(tmp_path / "g")
    assert not read_complete(tmp_path / "g")


def verify_here(path) -> int:
    return len(list(read(path)))


def read_complete(path) -> bool:
    reader = read(path)
    list(reader)
    return reader.complete


def stopping(after, games):
    """A progress that is a Ctrl-C once so many of the games are done."""

    waiting = [after]

    def progress(done, total, about):
        assert total == games
        if waiting and done >= waiting[0]:
            waiting.clear()
            signal.raise_signal(signal.SIGINT)

    return progress


@pytest.fixture
def frequent(monkeypatch):
    """Progress is told after each slice, and slices are short."""
    monkeypatch.setattr("cardai.playing.table.many.SLICE_SECONDS", 0.002)


@pytest.mark.usefixtures("frequent")
def test_an_interrupted_simulation_keeps_what_was_finished(tmp_path):
    said = simulate(MOSKA, {"random": 1}, 1000, out=tmp_path / "g", threads=1, progress=stopping(20, 1000))
    assert said.interrupted
    assert 20 <= said.games == verify(tmp_path / "g").games < 1000
    assert not verify(tmp_path / "g").complete
    simulate(MOSKA, {"random": 1}, 1000, out=tmp_path / "whole", threads=1)
    whole = {seed: rest for seed, *rest in games_of(tmp_path / "whole")}
    assert all(whole[seed] == rest for seed, *rest in games_of(tmp_path / "g"))


def contents(folder) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir()}


@pytest.mark.usefixtures("frequent")
def test_a_stopped_simulation_goes_on_and_ends_with_the_same_files(tmp_path):
    pool, how = {"random": 1, "bot3?randomised": 1}, {"shard": 100, "threads": 1, "seed": 4}
    whole = simulate_shards(MOSKA, pool, 350, folder=tmp_path / "whole", **how)
    place = tmp_path / "parts"
    for stop in (0, 130, 260):
        said = simulate_shards(MOSKA, pool, 350, folder=place, progress=stopping(stop, 350), **how)
        assert said.interrupted
        assert [verify(file).games for file in said.files] == [100] * len(said.files)
        assert len(contents(place)) == 1 + len(said.files)
        assert all(name[0] != "." for name in contents(place))
    said = simulate_shards(MOSKA, pool, 350, folder=place, **how)
    assert contents(place) == contents(tmp_path / "whole")
    assert len(contents(place)) == 5
    assert (said.interrupted, whole.interrupted) == (False, False)
    assert said.games == 350 - 100 * said.found < whole.games == 350
    assert len(said.files) == len(whole.files) == 4
    again = simulate_shards(MOSKA, pool, 350, folder=place, **how)
    assert (again.games, again.states, again.found, again.files) == (0, 0, 4, said.files)


def test_shards_hold_the_games_of_one_simulation(tmp_path):
    simulate(TICTACTOE, POOL, 25, out=tmp_path / "one")
    said = simulate_shards(TICTACTOE, POOL, 25, folder=tmp_path / "some", shard=10)
    assert [game for file in said.files for game in games_of(file)] == games_of(tmp_path / "one")
    assert [file.rpartition("/")[2] for file in said.files] == [
        "games-000000000-000000009.jsonl.gz", "games-000000010-000000019.jsonl.gz", "games-000000020-000000024.jsonl.gz"
    ]  # fmt: skip


def test_parts_that_several_machines_played_are_the_whole_simulation_once_they_are_copied_together(tmp_path):
    whole = simulate_shards(TICTACTOE, POOL, 95, folder=tmp_path / "whole", shard=10, seed=4)
    for name, only, games in (("one", "0-3", 40), ("other", "4-9", 55), ("again", "9", 5)):
        part = simulate_shards(TICTACTOE, POOL, 95, folder=tmp_path / name, shard=10, seed=4, only=only)
        assert (part.asked, part.games, part.found) == (games, games, 0)
    assert len(list((tmp_path / "other").glob("games-*"))) == 6
    for name in ("one", "other", "again"):
        shutil.copytree(tmp_path / name, tmp_path / "merged", dirs_exist_ok=True)
    merged = simulate_shards(TICTACTOE, POOL, 95, folder=tmp_path / "merged", shard=10, seed=4)
    assert (merged.games, merged.found, len(merged.files)) == (0, 10, len(whole.files))
    contents = [{file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in ("whole", "merged")]
    assert contents[0] == contents[1]


def test_a_part_says_how_far_it_is_in_its_own_games(tmp_path):
    heard = []
    note = lambda done, total, _: heard.append((done, total))  # noqa: E731
    simulate_shards(TICTACTOE, POOL, 50, folder=tmp_path, shard=10, only="2-3", progress=note)
    assert heard[-1] == (20, 20)
    assert all(0 <= done <= total == 20 for done, total in heard)


@pytest.mark.parametrize(
    ("only", "said"),
    [("3-2", "write 30-39"), ("1-", "write 30-39"), ("²", "write 30-39"),
     ("5", "5 does not name files of this simulation, which has 5")],
)  # fmt: skip
def test_files_that_are_not_there_are_refused(tmp_path, only, said):
    with pytest.raises(CardaiError, match=said):
        simulate_shards(TICTACTOE, POOL, 50, folder=tmp_path / "games", shard=10, only=only)
    assert not (tmp_path / "games").exists()


def test_endless_games_do_not_make_a_shard_unfinished(tmp_path):
    pool = {"random": 1, "climb": 1}
    said = simulate_shards(steps.GAME, pool, 40, folder=tmp_path / "s", shard=20)
    again = simulate_shards(steps.GAME, pool, 40, folder=tmp_path / "s", shard=20)
    assert said.endless > 0
    assert (again.games, again.endless, again.found) == (0, 0, 2)
    nothing = simulate_shards(steps.GAME, {"random": 1}, 5, folder=tmp_path / "n", shard=5)
    assert (nothing.games, nothing.endless, nothing.agents[0].seats) == (0, 5, 0)
    assert simulate_shards(steps.GAME, {"random": 1}, 5, folder=tmp_path / "n", shard=5).found == 1


def test_a_simulation_that_has_ended_may_be_given_more_games(tmp_path):
    simulate_shards(TICTACTOE, POOL, 20, folder=tmp_path / "a", shard=10)
    said = simulate_shards(TICTACTOE, POOL, 35, folder=tmp_path / "a", shard=10)
    simulate_shards(TICTACTOE, POOL, 35, folder=tmp_path / "b", shard=10)
    assert (said.games, said.found) == (15, 2)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    with pytest.raises(CardaiError, match=r"games-000000030-000000034.jsonl.gz does not belong to .* of 60 games"):
        simulate_shards(TICTACTOE, POOL, 60, folder=tmp_path / "a", shard=10)
    with pytest.raises(CardaiError, match=r"games-000000010-000000019.jsonl.gz does not belong to .* of 10 games"):
        simulate_shards(TICTACTOE, POOL, 10, folder=tmp_path / "a", shard=10)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


@pytest.mark.parametrize(
    ("game", "pool", "how", "said"),
    [
        (TICTACTOE, {"random": 1}, {}, r"with pool random@2, greedy:open_lines@1, not random@1"),
        (TICTACTOE, dict(reversed(POOL.items())), {}, "with pool random@2, greedy:open_lines@1, not greedy"),
        (TICTACTOE, POOL, {"seed": 1}, "with seed 0, not 1"),
        (TICTACTOE, POOL, {"shard": 5}, "with shard 10, not 5"),
        (MOSKA, {"random": 1}, {}, "with game tictactoe, not moska"),
    ],
    ids=["pool", "order", "seed", "shard", "game"],
)
def test_a_folder_with_another_simulation_is_refused(tmp_path, game, pool, how, said):
    simulate_shards(TICTACTOE, POOL, 10, folder=tmp_path / "s", shard=10)
    before = contents(tmp_path / "s")
    with pytest.raises(CardaiError, match=said):
        simulate_shards(game, pool, 10, folder=tmp_path / "s", **{"shard": 10, **how})
    assert contents(tmp_path / "s") == before


def test_a_folder_is_not_continued_by_a_network_that_has_learned_since(tmp_path):
    network, shipped = tmp_path / "network.safetensors", SHIPPED / "tictactoe"
    pool, (first, second, *_) = {"random": 1, f"greedy:{network}": 1}, sorted(shipped.glob("*.safetensors"))
    network.write_bytes(first.read_bytes())
    simulate_shards(TICTACTOE, pool, 20, folder=tmp_path / "s", shard=10, only="0")
    before = contents(tmp_path / "s")
    network.write_bytes(second.read_bytes())
    said = f"{network} has other weights now than when it played the games of {tmp_path / 's'}"
    with pytest.raises(CardaiError, match=f"^{re.escape(said)}$"):
        simulate_shards(TICTACTOE, pool, 20, folder=tmp_path / "s", shard=10)
    assert contents(tmp_path / "s") == before
    network.write_bytes(first.read_bytes())
    simulate_shards(TICTACTOE, pool, 20, folder=tmp_path / "s", shard=10)
    simulate_shards(TICTACTOE, pool, 20, folder=tmp_path / "whole", shard=10)
    assert contents(tmp_path / "s") == contents(tmp_path / "whole")


def test_a_folder_is_continued_after_its_network_was_moved(tmp_path):
    """Also by another computer: the new files are the same as if nothing had been moved."""
    before, after = tmp_path / "before.safetensors", tmp_path / "after.safetensors"

    def play(network, folder, games):
        pool = {"random": 1, f"greedy:{network}": 1, f"greedy:{network}?epsilon=0.1": 2}
        return simulate_shards(TICTACTOE, pool, games, folder=tmp_path / folder, shard=10)

    before.write_bytes((SHIPPED / "tictactoe" / "mlp.safetensors").read_bytes())
    play(before, "whole", 40)
    play(before, "moved", 20)
    before.rename(after)
    assert play(after, "moved", 40).found == 2
    assert contents(tmp_path / "moved") == contents(tmp_path / "whole")
    after.write_bytes((SHIPPED / "tictactoe" / "cnn.safetensors").read_bytes())
    with pytest.raises(CardaiError, match=f"with pool .*{re.escape(str(before))}.*, not .*{re.escape(str(after))}"):
        play(after, "moved", 40)


def test_other_folders_and_damaged_files_are_refused(tmp_path):
    def refusal(pool=POOL, games=20) -> str:
        with pytest.raises(CardaiError) as caught:
            simulate_shards(TICTACTOE, pool, games, folder=tmp_path / "s", shard=10)
        return str(caught.value)

    (tmp_path / "s").write_text("a file")
    assert refusal().startswith(f"cannot write {tmp_path / 's'}")
    (tmp_path / "s").unlink()
    said = simulate_shards(TICTACTOE, POOL, 20, folder=tmp_path / "s", shard=10)
    first, second = (tmp_path / "s" / file.rpartition("/")[2] for file in said.files)
    kept = second.read_bytes()
    second.write_bytes(kept[:60])
    assert str(second) in refusal()
    second.write_bytes(first.read_bytes())
    assert refusal() == f"{second} does not hold games 10 to 19 of the simulation; move it away"
    second.unlink()
    with Writer(second, TICTACTOE, ["random"], None, 2):
        pass
    assert refusal() == f"{second} holds games of another simulation than simulation.json in the same folder describes"
    second.write_bytes(kept)
    (tmp_path / "s/simulation.json").write_text("{")
    assert refusal().endswith("simulation.json is damaged: it is not JSON")
    (tmp_path / "s/simulation.json").write_text("[]")
    assert "simulation.json is damaged: its format is not" in refusal()
    (tmp_path / "s/simulation.json").unlink()
    (tmp_path / "s/other.jsonl").write_text("")
    assert "other.jsonl does not belong to a simulation of 20 games in files of 10" in refusal()


def test_what_cannot_be_simulated_is_refused_before_anything_is_played(tmp_path):
    def refusal(game=TICTACTOE, pool=POOL, games=5, **how) -> str:
        with pytest.raises(CardaiError) as caught:
            simulate(game, pool, games, out=tmp_path / "g", **how)
        assert not list(tmp_path.glob("g*"))
        return str(caught.value)

    assert refusal(pool={}) == "the pool is empty: name an agent"
    assert refusal(pool={"random": 0}) == "the weight of 'random' in the pool must be a number above 0, not 0"
    assert "must be a number above 0, not nan" in refusal(pool={"random": math.nan})
    assert "there is no agent 'bot3'" in refusal(pool={"bot3": 1})
    assert refusal(games=0) == "games must be at least 1, not 0"
    assert refusal(seats=3) == "tictactoe is for 2 seats, not 3"
    assert "has no variant 'big'" in refusal(variant="big")
    assert "threads must be at least 1" in refusal(threads=0)
    (tmp_path / "g").write_text("mine")
    with pytest.raises(CardaiError, match="exists already"):
        simulate(TICTACTOE, POOL, 5, out=tmp_path / "g")
    simulate(TICTACTOE, POOL, 5, out=tmp_path / "g", overwrite=True)
    assert len(games_of(tmp_path / "g")) == 5


def test_games_in_memory_are_those_of_the_file(tmp_path):
    for game, pool in ((TICTACTOE, POOL), (steps.GAME, {"random": 1, "climb": 1}), (small_game.GAME, {"random": 1})):
        simulate(game, pool, 30, out=tmp_path / game.name, seed=9)
        here = simulate_here(game, pool, 30, seed=9)
        assert [(one.seed, one.lineup, one.scores, one.moves.tolist()) for one in here] == games_of(
            tmp_path / game.name
        )
        assert {one.variant for one in here} == {game.default_variant}
