"""Rows and labels are what the games' doors say, whoever replays them, and nothing wrong in a file becomes data."""

import json
import os
import re
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import small_game
from hypothesis import given
from hypothesis import strategies as st
from test_record import forge

import cardai
from cardai.errors import CardaiError
from cardai.game import Phase, Segment
from cardai.playing.agents.evaluator import MOMENTS
from cardai.playing.compiled import driver
from cardai.records import dataset
from cardai.records.dataset import collect, collect_games, record_files
from cardai.records.packed import PackedRows, pack
from cardai.records.phase import phase_of, phases_in
from cardai.records.recipe import BALANCES, LABELS, STATES, Recipe
from cardai.records.record import Writer, read, replay
from cardai.records.selfplay import simulate
from cardai.records.split import split
from cardai.registry import available

TICTACTOE, MOSKA = cardai.load("tictactoe"), cardai.load("moska")
THIRTYONE = cardai.load(str(Path(__file__).parent.parent / "examples/thirtyone"))
POOLS = {
    "tictactoe": {"random": 1, "greedy:open_lines": 1},
    "moska": {"bot3?randomised": 2, "random": 1},
    "thirtyone": {"house": 1, "random": 1},
    "low_hand": {"random": 1},
}
LOW_HAND = small_game.GAME
GAMES = {"tictactoe": TICTACTOE, "moska": MOSKA, "thirtyone": THIRTYONE, "low_hand": LOW_HAND}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A record file of each game."""
    folder = tmp_path_factory.mktemp("records")
    for name, game in GAMES.items():
        simulate(game, POOLS[name], 30, out=folder / f"{name}.jsonl", seed=5)
    return {name: folder / f"{name}.jsonl" for name in GAMES}


def rows_of(data) -> np.ndarray:
    return data.take(np.arange(len(data)))


def states_by_hand(game, path, moment, choices=False):
    """What a file's states are, by the doors of the game: [(game number, seat, row, score)]."""
    found = []
    for recorded in read(path):
        positions = []
        replay(game, recorded, lambda state, move, ply, positions=positions: positions.append((state, move.copy())))
        for state, move in positions:
            seat = int(state["turn"])
            after = game.after(state, move) if moment == "before_draw" else game.play(state, move)
            if moment == "drawn" and (after["turn"] < 0 or (after["turn"] == seat and after["midway"])):
                continue
            if not choices or len(game.moves(state)) > 1:
                found.append((recorded.number, seat, game.encode(after, seat), recorded.scores[seat]))
    return found


@pytest.mark.parametrize("choices", [False, True], ids=["all", "choices"])
@pytest.mark.parametrize("moment", ["before_draw", "drawn"])
@pytest.mark.parametrize("name", GAMES)
def test_rows_and_labels_are_what_the_doors_of_the_game_give(files, name, moment, choices):
    game = GAMES[name]
    data = collect([files[name]], Recipe(moment=moment, states="choices" if choices else "all"), game=game)
    expected = states_by_hand(game, files[name], moment, choices)
    assert len(data) == len(expected) == data.replayed
    assert rows_of(data).tolist() == [row.tolist() for _, _, row, _ in expected]
    assert data.labels.tolist() == [score for _, _, _, score in expected]
    assert data.game_of.tolist() == [number for number, _, _, _ in expected]
    assert data.seeds.tolist() == [recorded.seed for recorded in read(files[name])]
    assert (data.labels.dtype, rows_of(data).dtype) == (np.float32, np.uint8)


@pytest.mark.parametrize("moment", ["before_draw", "drawn"])
def test_steady_keeps_the_states_from_the_last_exploring_move_of_each_seat_on(tmp_path, moment):
    pool = {"greedy:open_lines?epsilon=0.5&until=6": 2, "random": 1, "greedy:open_lines?epsilon=0.5": 1}
    simulate(TICTACTOE, pool, 200, out=tmp_path / "games.jsonl", seed=3)
    untils = [6, -1, -1]
    expected, dropped = [], 0
    for recorded in read(tmp_path / "games.jsonl"):
        limit = int(driver.exploring_plies(6, np.uint64(recorded.seed)))
        positions = []
        replay(TICTACTOE, recorded, lambda state, move, ply, to=positions: to.append((state, move.copy())))
        for ply, (state, move) in enumerate(positions):
            seat = int(state["turn"])
            after = TICTACTOE.after(state, move) if moment == "before_draw" else TICTACTOE.play(state, move)
            if untils[recorded.lineup[seat]] >= 0 and ply + 2 < limit and ply + 2 < len(positions):
                dropped += 1
            elif moment == "before_draw" or after["turn"] >= 0:
                expected.append((TICTACTOE.encode(after, seat).tolist(), recorded.scores[seat]))
    data = collect([tmp_path / "games.jsonl"], Recipe(moment=moment, steady=True))
    assert dropped > 100
    assert len(data) == data.replayed == len(expected)
    assert list(zip(rows_of(data).tolist(), data.labels.tolist(), strict=True)) == expected


def test_until_in_a_spec_means_nothing_to_a_recipe_that_does_not_ask(tmp_path):
    """It may be a parameter of a hand-written player, and no number of plies at all."""
    simulate(TICTACTOE, {"random": 1}, 5, out=tmp_path / "games.jsonl", seed=3)
    forge(tmp_path / "games.jsonl", 1, agents=["someone?until=0.5"])
    assert collect([tmp_path / "games.jsonl"], Recipe()).agents == {"someone?until=0.5": 10}


def test_the_games_here_have_what_the_moments_differ_in(files):
    moska = {moment: len(collect([files["moska"]], Recipe(moment=moment))) for moment in ("before_draw", "drawn")}
    moves = [sum(len(one.moves) for one in read(files[name])) for name in ("moska", "tictactoe")]
    assert moska["before_draw"] == moves[0] > moska["drawn"] + 30  # more than the 30 ended ones: some were midway
    drawn = collect([files["tictactoe"]], Recipe(moment="drawn"))
    assert len(drawn) == moves[1] - 30
    choices = collect([files["tictactoe"]], Recipe(states="choices"))
    assert len(choices) < moves[1]  # a full board's last move has no alternative


@pytest.mark.parametrize("encoder", ["bitmap", "afterstate"])
def test_the_encoder_that_was_asked_for_encodes(files, encoder):
    data = collect([files["moska"]], Recipe(encoder=encoder))
    assert data.recipe.encoder == encoder
    assert data.layout == tuple(MOSKA.encoder(encoder).layout(4))
    assert data.width == sum(segment.size for segment in data.layout) == rows_of(data).shape[1]


def test_labels_can_be_wins_or_games_not_lost(files):
    scores, wins, kept = (
        collect([files["tictactoe"]], Recipe(label=label)).labels for label in ("score", "win", "not_lost")
    )
    assert set(scores.tolist()) == {0.0, 0.5, 1.0}
    assert wins.tolist() == (scores == 1).tolist()
    assert kept.tolist() == (scores > 0).tolist()


def numbered(data) -> list[tuple[int, bytes]]:
    return [(game, row.tobytes()) for game, row in zip(data.game_of.tolist(), rows_of(data), strict=True)]


def is_part_in_order(part: list, whole: list) -> bool:
    rest = iter(whole)
    return all(one in rest for one in part)


def test_at_most_so_many_states_of_a_game_are_taken(files):
    whole = collect([files["moska"]], Recipe())
    part = collect([files["moska"]], Recipe(per_game=7))
    assert np.bincount(part.game_of).tolist() == [7] * 30
    assert is_part_in_order(numbered(part), numbered(whole))
    assert part.replayed == len(whole)
    small = collect([files["tictactoe"]], Recipe(per_game=7))
    sizes = np.bincount(collect([files["tictactoe"]], Recipe()).game_of)
    assert np.bincount(small.game_of).tolist() == np.minimum(sizes, 7).tolist()
    assert min(sizes) < 7


def test_the_states_drawn_depend_on_the_seed_and_on_their_own_game_only(files, tmp_path):
    recipe = Recipe(per_game=3, balance="loser")
    simulate(MOSKA, POOLS["moska"], 50, out=tmp_path / "more.jsonl", seed=5)
    few, more = collect([files["moska"]], recipe), collect([tmp_path / "more.jsonl"], recipe)
    assert numbered(more)[: len(few)] == numbered(few)
    assert numbered(collect([files["moska"]], recipe)) == numbered(few)
    assert numbered(collect([files["moska"]], recipe, seed=1)) != numbered(few)


def test_states_are_drawn_evenly_over_a_game(tmp_path):
    simulate(LOW_HAND, {"random": 1}, 3000, out=tmp_path / "l.jsonl", seats=2)
    lengths = [len(one.moves) for one in read(tmp_path / "l.jsonl")]
    whole = collect([tmp_path / "l.jsonl"], Recipe(), game=LOW_HAND)
    part = collect([tmp_path / "l.jsonl"], Recipe(per_game=1), game=LOW_HAND)
    keys = {}
    for place, key in enumerate(numbered(whole)):
        keys.setdefault(key, place)
    starts = np.cumsum([0, *lengths[:-1]])
    share = [(keys[key] - starts[game] + 0.5) / lengths[game] for game, key in enumerate(numbered(part))]
    mean, spread = np.mean(share), np.sqrt(1 / 12 / len(share))
    assert abs(mean - 0.5) < 4 * spread
    # Games are short, so that their quarters have unequal numbers of plies: these are what an even draw gives.
    expected = sum(np.histogram((np.arange(plies) + 0.5) / plies, 4, (0, 1))[0] / plies for plies in lengths)
    drawn = np.histogram(share, 4, (0, 1))[0]
    assert (np.abs(drawn - expected) < 4 * np.sqrt(expected)).all(), (drawn, expected)


def test_balanced_on_losers_takes_all_their_states_and_as_many_of_the_others(files):
    whole, part = collect([files["moska"]], Recipe()), collect([files["moska"]], Recipe(balance="loser"))
    for game in range(30):
        mine, labels = part.game_of == game, whole.labels[whole.game_of == game]
        lost, others = int((labels == 0).sum()), int((labels == 1).sum())
        assert (part.labels[mine] == 0).sum() == lost
        assert (part.labels[mine] == 1).sum() == min(lost, others)
    assert is_part_in_order(numbered(part), numbered(whole))


def test_states_can_be_those_of_some_agents_only(tmp_path):
    file = tmp_path / "mixed.jsonl"
    simulate(MOSKA, {"bot3": 1, "random": 1}, 6, out=file)
    parts = [collect([file], Recipe(agents=(spec,))) for spec in ("bot3", "random")]
    whole = collect([file], Recipe())
    assert min(map(len, parts)) > 0
    together = [pair for part in parts for pair in numbered(part)]
    assert sorted(together) == sorted(numbered(whole))
    assert all(part.labels.mean() != whole.labels.mean() for part in parts)
    assert "no state" in refusal([file], Recipe(agents=("peeking",)))


def test_all_are_losers_of_a_draw(files):
    whole, part = collect([files["tictactoe"]], Recipe()), collect([files["tictactoe"]], Recipe(balance="loser"))
    assert (part.labels == 0.5).sum() == (whole.labels == 0.5).sum() > 0


@pytest.mark.parametrize("recipe", [Recipe(), Recipe(moment="drawn", balance="loser", per_game=5)], ids=["all", "some"])
def test_threads_and_chunks_change_nothing(files, monkeypatch, recipe):
    data = collect([files["moska"]], recipe, threads=1)
    monkeypatch.setattr(dataset, "_CHUNK", 100)
    other = collect([files["moska"]], recipe, threads=3)
    assert other.digest == data.digest
    assert rows_of(other).tobytes() == rows_of(data).tobytes()
    for name in ("labels", "game_of", "seeds"):
        assert getattr(other, name).tobytes() == getattr(data, name).tobytes()
    assert (other.replayed, other.agents) == (data.replayed, data.agents)


@given(st.data())
def test_packed_rows_are_taken_out_as_they_were_put_in(draw):
    width = draw.draw(st.integers(1, 20))
    packed, whole = PackedRows(width), np.zeros((0, width), np.uint8)
    for _ in range(draw.draw(st.integers(1, 4))):
        count = draw.draw(st.integers(0, 5))
        highest = draw.draw(st.sampled_from([1, 2, 255]))
        some = draw.draw(
            st.lists(st.lists(st.integers(0, highest), min_size=width, max_size=width), min_size=count, max_size=count)
        )
        rows = np.array(some, np.uint8).reshape(count, width)
        packed.append(pack(rows))
        whole = np.concatenate([whole, rows])
        assert len(packed) == len(whole)
        assert packed.take(np.arange(len(whole))).tolist() == whole.tolist()
    packed.trim()
    order = np.random.default_rng(0).permutation(len(whole))
    assert packed.take(order).tolist() == whole[order].tolist()
    assert packed.columns.tolist() == np.flatnonzero(whole.max(axis=0, initial=0) > 1).tolist()


def test_a_million_states_of_moska_take_less_than_100_megabytes(files):
    data = collect([files["moska"]], Recipe())
    arrays = data.packed.nbytes + data.labels.nbytes + data.game_of.nbytes
    assert arrays / len(data) < 90


def test_a_limit_takes_the_first_states(files):
    whole, part = collect([files["moska"]], Recipe()), collect([files["moska"]], Recipe(), limit=500)
    assert len(part) == len(part.labels) == len(part.game_of) == 500
    assert numbered(part) == numbered(whole)[:500]
    assert len(part.seeds) == part.game_of[-1] + 1
    assert sum(part.agents.values()) == 4 * len(part.seeds)
    assert len(collect([files["moska"]], Recipe(), limit=0)) == len(whole)


def test_several_files_are_read_as_one(files, tmp_path):
    recorded = list(read(files["moska"]))
    header = read(files["moska"]).header
    for part, games in (("b.jsonl", recorded[20:]), ("a.jsonl.gz", recorded[:20])):
        with Writer(tmp_path / part, MOSKA, header.agents, None, 4) as writer:
            for one in games:
                writer.add(one.seed, one.lineup, one.moves, one.scores)
    (tmp_path / ".c.jsonl").write_text("a file that another program has not finished yet")
    (tmp_path / "notes.txt").write_text("no record")
    data, whole = collect([tmp_path], Recipe()), collect([files["moska"]], Recipe())
    assert numbered(data) == numbered(whole)
    assert data.digest == whole.digest
    assert data.files == (str(tmp_path / "a.jsonl.gz"), str(tmp_path / "b.jsonl"))


def test_games_in_memory_give_the_same_states(files):
    for name in ("moska", "low_hand"):
        recipe = Recipe(balance="loser", per_game=5)
        one = collect([files[name]], recipe, game=GAMES[name])
        other = collect_games(GAMES[name], read(files[name]), recipe)
        assert numbered(other) == numbered(one)
        assert other.labels.tolist() == one.labels.tolist()
        assert other.digest == one.digest


def test_a_dataset_says_what_it_is(files):
    data = collect([files["moska"]], Recipe(balance="loser"), seed=3)
    told = json.loads(json.dumps(data.about()))
    assert {name: told[name] for name in ("game", "version", "variant", "seats", "seed", "games", "files")} == {
        "game": "moska", "version": 1, "variant": "thesis", "seats": 4, "seed": 3, "games": 30, "files": 1
    }  # fmt: skip
    assert told["recipe"] == {
        "encoder": "bitmap", "moment": "before_draw", "states": "all", "per_game": 0, "balance": "loser",
        "label": "score", "agents": [], "steady": False, "teacher": "",
    }  # fmt: skip
    assert set(told["agents"]) == set(POOLS["moska"])
    assert sum(told["agents"].values()) == 30 * 4
    assert told["states"] == len(data) <= told["replayed"]


def test_the_digest_is_that_of_these_games_and_this_recipe(files, tmp_path):
    simulate(MOSKA, POOLS["moska"], 30, out=tmp_path / "other.jsonl", seed=6)
    digests = [
        collect([files["moska"]], Recipe()).digest,
        collect([files["moska"]], Recipe(), seed=1).digest,
        collect([files["moska"]], Recipe(moment="drawn")).digest,
        collect([files["moska"]], Recipe(encoder="afterstate")).digest,
        collect([tmp_path / "other.jsonl"], Recipe()).digest,
    ]
    assert len(set(digests)) == len(digests)


def test_progress_is_told(files):
    told = []
    collect([files["moska"]], Recipe(), progress=lambda *one: told.append(one))
    assert told[-1][:2] == (100, 100)
    assert "states" in told[-1][2]
    assert [one[0] for one in told] == sorted(one[0] for one in told)


@pytest.fixture(scope="module")
def wide(files):
    return collect([files["tictactoe"]], Recipe())


def test_split_by_game_keeps_games_together_and_leaves_none_out(tmp_path):
    simulate(TICTACTOE, {"random": 1}, 4000, out=tmp_path / "many.jsonl")
    data = collect([tmp_path / "many.jsonl"], Recipe())
    parts = split(data, parts=(0.8, 0.15, 0.05))
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(data)))
    games = [set(data.game_of[part].tolist()) for part in parts]
    assert sum(map(len, games)) == len(set.union(*games)) == 4000
    for found, share in zip(games, (0.8, 0.15, 0.05), strict=True):
        assert abs(len(found) - 4000 * share) < 5 * np.sqrt(4000 * share * (1 - share))
    assert games != [set(data.game_of[part].tolist()) for part in split(data, parts=(0.8, 0.15, 0.05), seed=1)]


def test_a_longer_file_keeps_its_games_in_their_parts(files, tmp_path):
    simulate(TICTACTOE, POOLS["tictactoe"], 300, out=tmp_path / "more.jsonl", seed=5)
    few, more = collect([files["tictactoe"]], Recipe()), collect([tmp_path / "more.jsonl"], Recipe())
    parts = (0.5, 0.3, 0.2)
    for one, other in zip(split(few, parts=parts), split(more, parts=parts), strict=True):
        assert one.tolist() == other[other < len(few)].tolist()


def test_split_by_state_divides_games(wide):
    parts = split(wide, by="state", parts=(0.5, 0.5))
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(wide)))
    assert set(wide.game_of[parts[0]]) & set(wide.game_of[parts[1]])


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"by": "deal"}, "split: there is no way to split by 'deal'; there is game, state"),
        ({"parts": (0.9, 0.2)}, "the parts 0.9, 0.2 are no shares that sum to 1"),
        ({"parts": (float("nan"), 1.0)}, "are no shares"),
    ],
)
def test_a_split_that_is_none_is_refused(wide, how, said):
    with pytest.raises(CardaiError, match=said):
        split(wide, **how)


def test_phases_tell_states_apart_by_the_sum_of_a_segment(files):
    data = collect([files["moska"]], Recipe(encoder="afterstate"))
    rows = rows_of(data)
    phases = phases_in(MOSKA, data.layout)
    assert set(phases) == {"deck", "players left"}
    deck, left = (phase_of(phases[name], data.layout, rows) for name in ("deck", "players left"))
    assert deck.tolist() == [0 if cards == 0 else 1 if cards <= 20 else 2 for cards in rows[:, 0].tolist()]
    assert left.tolist() == rows[:, 9:13].sum(axis=1).tolist()
    assert (set(deck.tolist()), set(left.tolist())) == ({0, 1, 2}, {2, 3, 4})
    assert [phases["deck"].name(number) for number in range(3)] == ["0", "1-20", "over 20"]
    assert phases["players left"].name(4) == "4"


def test_a_phase_has_a_name_for_each_of_its_ranges():
    phase = Phase("cards", (3, 4, 9))
    sums = np.array([[0], [3], [4], [5], [9], [10]], np.uint8)
    numbers = phase_of(phase, (Segment("cards"),), sums)
    assert [phase.name(int(number)) for number in numbers] == ["0-3", "0-3", "4", "5-9", "5-9", "over 9"]


def test_sums_of_a_segment_may_be_above_255():
    rows = np.full((1, 3), 200, np.uint8)
    assert phase_of(Phase("cards"), (Segment("cards", (3,)),), rows).tolist() == [600]


def test_a_phase_of_another_encoder_is_refused():
    with pytest.raises(CardaiError, match="there is no segment 'deck'"):
        phase_of(Phase("deck"), TICTACTOE.encoder().layout(2), np.zeros((1, 27), np.uint8))
    assert phases_in(MOSKA, TICTACTOE.encoder().layout(2)) == {}


@pytest.mark.parametrize("name", available())
def test_every_phase_of_a_game_is_a_segment_of_one_of_its_encoders_and_rises(name):
    game = cardai.load(name)
    for phase in game.learning.phases.values():
        for seats in game.seats:
            layouts = [encoder.layout(seats) for encoder in game.learning.encoders.values()]
            assert any(phase.segment in [segment.name for segment in layout] for layout in layouts)
        assert list(phase.cuts) == sorted({cut for cut in phase.cuts if cut >= 0})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"moment": "draw"}, "recipe: there is no moment 'draw'; did you mean"),
        ({"per_game": -1}, "per_game must be at least 0, not -1"),
    ],
)
def test_a_recipe_that_there_is_not_is_refused(words, said):
    with pytest.raises(CardaiError, match=said):
        Recipe(**words)


def test_a_label_that_there_is_not_is_refused(files):
    """A game may have labels of its own, so that the name is looked up where the game is known."""
    with pytest.raises(CardaiError, match="recipe: there is no label 'rank'; there is score, win, not_lost"):
        collect([files["tictactoe"]], Recipe(label="rank"))


def refusal(paths, recipe=Recipe(), **how) -> str:  # noqa: B008
    with pytest.raises(CardaiError) as caught:
        collect(paths, recipe, **how)
    return str(caught.value)


def test_files_that_do_not_belong_together_are_refused_by_name(files, tmp_path):
    def played(name, game=MOSKA, **how):
        simulate(game, {"random": 1}, 2, out=tmp_path / name, **how)
        return tmp_path / name

    first = played("four.jsonl")
    other = played("three.jsonl", seats=3)
    assert refusal([first, other]) == f"{other} was recorded with seats 3, but {first} with 4"
    other = played("appendix.jsonl", variant="appendix")
    assert refusal([first, other]) == f"{other} was recorded with variant appendix, but {first} with thesis"
    other = files["tictactoe"]
    assert refusal([first, other]) == f"{other} was recorded with game tictactoe, but {first} with moska"
    other = played("newer.jsonl")
    forge(other, 1, version=2)
    assert refusal([first, other]) == f"{other} was recorded with version 2, but {first} with 1"
    assert refusal([other]).startswith(f"{other}, line 1: recorded with version 2, but moska here has 1")
    assert refusal([other], game=MOSKA) == f"{other}, line 1: recorded with version 2, but moska here has 1"
    assert (
        refusal([first], game=TICTACTOE)
        == f"{first}, line 1: recorded with game moska, but tictactoe here has tictactoe"
    )
    few = MOSKA.changed(seats=range(2, 4), default_seats=2)
    assert refusal([first], game=few) == f"{first}, line 1: recorded with 4 seats, but moska has 2-3"


def test_a_game_without_a_name_here_is_found_at_its_path(files):
    path = str(Path(__file__).parent.parent / "examples/thirtyone")
    assert len(collect([files["thirtyone"]], Recipe(), game=path)) == len(
        collect([files["thirtyone"]], Recipe(), game=THIRTYONE)
    )
    refused = refusal([files["thirtyone"]])
    assert "there is no game 'thirtyone'" in refused
    assert "(for a game of your own give its path: --rules, in Python rules= or game=)" in refused


def test_a_damaged_file_is_refused_by_its_line(files, tmp_path):
    path = tmp_path / "bad.jsonl"
    whole = files["moska"].read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert "truncated" in refusal([path])
    path.write_bytes(whole.replace(b'"scores":[[', b'"scores":[[1', 1))
    assert "the line does not fit its checksum" in refusal([path])


def test_a_game_that_does_not_replay_is_refused(files, tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_bytes(files["moska"].read_bytes())
    block = json.loads(path.read_text().splitlines()[1])
    forge(path, 2, scores=[*block["scores"][:2], [0.0] * 4, *block["scores"][3:]])
    assert refusal([path]).startswith(f"{path}, game 2 (seed ")
    assert "the scores are" in refusal([path])
    path.write_bytes(files["moska"].read_bytes())
    forge(path, 2, seeds=block["seeds"][::-1])
    assert "may not play" in refusal([path])
    games = list(read(files["moska"]))
    cut = replace(games[3], moves=games[3].moves[:-1])
    with pytest.raises(CardaiError, match=r"game 3 \(seed \d+\): the game is not over after its"):
        collect_games(MOSKA, [*games[:3], cut], Recipe())
    longer = replace(games[3], moves=np.concatenate([games[3].moves, games[3].moves[-1:]]))
    with pytest.raises(CardaiError, match="the game is over"):
        collect_games(MOSKA, [longer], Recipe())


def test_places_without_records_are_refused(files, tmp_path):
    assert refusal([tmp_path]) == f"there is no record file (.jsonl or .jsonl.gz) in {tmp_path}"
    assert refusal([]) == "no record file was named"
    assert "cannot read" in refusal([tmp_path / "none.jsonl"])
    (tmp_path / "text.jsonl").write_text("hello\n")
    assert "text.jsonl" in refusal([tmp_path / "text.jsonl"])
    one = files["moska"]
    assert refusal([one, one.parent]).endswith("is named twice: its games would count twice")
    assert record_files([one.parent]) == sorted(files.values())


def test_other_impossible_wishes_are_refused(files, tmp_path):
    one = files["moska"]
    assert "no encoder 'bits'" in refusal([one], Recipe(encoder="bits"))
    assert refusal([one], limit=-1) == "limit must be at least 0, not -1"
    assert "threads must be at least 1" in refusal([one], threads=0)
    with Writer(tmp_path / "empty.jsonl", MOSKA, ["random"], None, 4):
        pass
    assert refusal([tmp_path / "empty.jsonl"]) == (
        f"there is no state in {tmp_path / 'empty.jsonl'} that the recipe asks for"
    )
    with pytest.raises(CardaiError, match="there is no game to collect states from"):
        collect_games(MOSKA, [], Recipe())


def test_a_later_game_in_memory_may_have_agents_that_the_first_one_lacks(files):
    games = list(read(files["moska"]))[:2]
    lineups = [(0, 0, 0, 0), (0, 1, 2, 3)]
    renamed = [replace(one, lineup=lineup) for one, lineup in zip(games, lineups, strict=True)]
    assert len(collect_games(MOSKA, renamed, Recipe())) == len(collect_games(MOSKA, games, Recipe()))


def test_games_in_memory_of_several_tables_are_refused(files, tmp_path):
    simulate(MOSKA, {"random": 1}, 2, out=tmp_path / "three.jsonl", seats=3)
    mixed = [*read(files["moska"]), *read(tmp_path / "three.jsonl")]
    with pytest.raises(CardaiError, match="variant thesis with 3 seats and of variant thesis with 4 cannot be mixed"):
        collect_games(MOSKA, mixed, Recipe())


def test_plain_python_collects_the_same(tmp_path):
    simulate(MOSKA, {"bot3": 1}, 3, out=tmp_path / "few.jsonl")
    code = (
        "import sys\nfrom cardai.records.dataset import collect\nfrom cardai.records.recipe import Recipe\n"
        "recipe = Recipe(moment='drawn', states='choices', balance='loser', per_game=9)\n"
        "data = collect([sys.argv[1]], recipe, limit=25)\n"
        "print(data.digest, data.take(range(len(data))).sum(axis=0).tolist(), data.labels.tolist())"
    )
    told = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", code, str(tmp_path / "few.jsonl")],
            env=os.environ | {"CARDAI_JIT": jit},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for jit in "01"
    ]
    assert told[0] == told[1] != ""


def test_the_data_page_lists_every_word_of_a_recipe():
    page = (Path(__file__).parent.parent / "docs/data.md").read_text("utf-8")
    table = page.split("| part of a recipe |")[1].split("\n\n")[0]
    told, part = {}, ""
    for first, second in re.findall(r"^\| (`\w+`)? ?\| ([`\w ]+) \|", table, re.MULTILINE):
        part = first.strip("`") or part
        told.setdefault(part, []).append(second.strip("`"))
    words = {"moment": MOMENTS, "states": STATES, "balance": BALANCES, "label": LABELS}
    assert set(told) == {one.name for one in fields(Recipe)}
    assert {name: told[name] for name in words} == {name: list(known) for name, known in words.items()}
