"""A file of games says what was played, and nothing wrong in it goes unnoticed."""

import base64
import contextlib
import gzip
import hashlib
import json
import signal
import threading
import time
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cardai
from cardai.errors import CardaiError
from cardai.game import move_dtype
from cardai.playing.table.many import play
from cardai.records import record
from cardai.records.lines import fields_of_moves, packed_moves, unpacked_moves
from cardai.records.record import InOrder, Writer, read, replay, verify

TICTACTOE = cardai.load("tictactoe")
THIRTYONE = cardai.load(str(Path(__file__).parent.parent / "examples/thirtyone"))
AGENTS = ["random", "greedy:open_lines"]


def pack(moves: np.ndarray) -> str:
    """The moves of one game as they stand in a line."""
    return packed_moves(fields_of_moves(moves[None], np.zeros(1, int), np.array([len(moves)])))


unpacked_moves(pack(np.zeros(0, TICTACTOE.move)), TICTACTOE.move, 0)  # compiled: in an example it would take too long


def tables(games: int, seats: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Line-ups of two agents in turn, and seeds."""
    lineups = np.stack([np.roll([0, 1, 0, 1][:seats], i) for i in range(games)])
    return lineups, np.arange(100, 100 + games, dtype=np.uint64)


def write(path, game=TICTACTOE, specs=AGENTS, games=5, seats=2, **how):
    """Play some games into a file; what `play` itself says of them."""
    lineups, seeds = tables(games, seats)
    agents = [cardai.agent(game, spec) for spec in specs]
    with Writer(path, game, specs, None, seats) as writer:
        play(game, agents, lineups, seeds, on_game=writer.in_order(lineups, seeds), **how)
    return play(game, agents, lineups, seeds, record=True)


def signed(content: dict) -> str:
    """A line as a careful forger would write it: with the right checksum."""
    body = json.dumps(content, separators=(",", ":"))[:-1]
    return f'{body},"sum":"{hashlib.blake2b(body.encode(), digest_size=8).hexdigest()}"}}\n'


def forge(path, line, **changes):
    """Change fields of a line (numbered from 1), with checksums and digest made right again."""
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    lines[line - 1] |= changes
    texts = [signed({name: value for name, value in content.items() if name != "sum"}) for content in lines]
    end = {name: value for name, value in lines[-1].items() if name != "sum"}
    end["digest"] = hashlib.blake2b("".join(texts[:-1]).encode(), digest_size=16).hexdigest()
    path.write_text("".join(texts[:-1]) + signed(end))


def refusal(path, check=verify) -> str:
    with pytest.raises(CardaiError) as caught:
        check(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.fixture
def five(tmp_path, monkeypatch):
    """A file of five games, each in a line of its own."""
    path = tmp_path / "five.jsonl"
    monkeypatch.setattr(record, "_BLOCK", 1)
    write(path)
    monkeypatch.undo()
    return path


int64 = st.one_of(st.integers(-3, 9), st.integers(0, 2**52 - 1), st.integers(-(2**63), 2**63 - 1))


@given(st.integers(1, 4).flatmap(lambda width: st.tuples(st.just(width), st.lists(st.tuples(*[int64] * width)))))
def test_moves_of_any_numbers_survive_being_packed(table):
    width, rows = table
    kind = move_dtype(*(f"f{i}" for i in range(width)))
    moves = np.array(rows, kind) if rows else np.zeros(0, kind)
    assert unpacked_moves(pack(moves), kind, len(moves)).tolist() == moves.tolist()


@given(st.text(max_size=40), st.integers(0, 50))
def test_any_text_is_moves_or_refused(text, plies):
    kind = move_dtype("one", "two")
    try:
        moves = unpacked_moves(text, kind, plies)
    except ValueError:
        return
    assert moves.shape == (plies,)
    assert unpacked_moves(pack(moves), kind, plies).tolist() == moves.tolist()


def test_moves_that_unpack_to_more_than_they_say_are_refused():
    bomb = base64.b64encode(zlib.compress(bytes(10_000_000))).decode()
    with pytest.raises(ValueError, match="do not unpack to 3 plies"):
        unpacked_moves(bomb, TICTACTOE.move, 3)


@pytest.mark.parametrize("name", ["games.jsonl", "games.jsonl.gz"])
@pytest.mark.parametrize(
    ("game", "specs", "seats"), [(TICTACTOE, AGENTS, 2), (THIRTYONE, ["house", "random"], 3)], ids=["ttt", "31"]
)
def test_what_was_played_is_read_back(tmp_path, game, specs, seats, name):
    played = write(tmp_path / name, game, specs, 40, seats)
    lineups, seeds = tables(40, seats)
    reader = read(tmp_path / name)
    assert (reader.header.game, reader.header.agents, reader.header.seats) == (game.name, tuple(specs), seats)
    for _ in range(2):  # a reader can be read again
        games = list(reader)
        assert [one.number for one in games] == list(range(40))
        assert [one.seed for one in games] == seeds.tolist()
        assert [list(one.lineup) for one in games] == lineups.tolist()
        assert [list(one.scores) for one in games] == played.scores.tolist()
        assert all(one.moves.tobytes() == moves.tobytes() for one, moves in zip(games, played.moves, strict=True))
        assert (reader.games, reader.complete) == (40, True)


def test_a_large_seed_is_kept(tmp_path):
    with Writer(tmp_path / "one.jsonl", TICTACTOE, AGENTS, None, 2) as writer:
        writer.add(2**64 - 1, [0, 1], np.zeros(0, TICTACTOE.move), [0.5, 0.5])
    assert [one.seed for one in read(tmp_path / "one.jsonl")] == [2**64 - 1]


def test_a_file_is_the_same_on_any_number_of_threads(tmp_path):
    write(tmp_path / "one.jsonl.gz", games=500, threads=1, live=1)
    write(tmp_path / "two.jsonl.gz", games=500, threads=2, live=77)
    assert (tmp_path / "one.jsonl.gz").read_bytes() == (tmp_path / "two.jsonl.gz").read_bytes()
    write(tmp_path / "plain.jsonl", games=500)
    assert gzip.decompress((tmp_path / "one.jsonl.gz").read_bytes()) == (tmp_path / "plain.jsonl").read_bytes()


def test_a_game_of_moska_takes_few_bytes(tmp_path):
    moska = cardai.load("moska")
    results = write(tmp_path / "m.jsonl", moska, ["bot3", "bot3"], 200, 4)
    plies = results.plies[results.finished].mean()
    assert plies > 60
    assert (tmp_path / "m.jsonl").stat().st_size / results.finished.sum() < 160 + 2.5 * plies
    assert verify(tmp_path / "m.jsonl").plies == results.plies[results.finished].sum()


def test_replay_shows_every_position_before_its_move(tmp_path):
    write(tmp_path / "31.jsonl", THIRTYONE, ["house", "random"], 3, 3)
    for recorded in read(tmp_path / "31.jsonl"):
        seen = []
        end = replay(THIRTYONE, recorded, lambda state, move, ply, seen=seen: seen.append((state, move.copy(), ply)))
        state = THIRTYONE.new(seats=3, seed=recorded.seed)
        for ply, (before, move, number) in enumerate(seen):
            assert (before.tobytes(), number) == (state.tobytes(), ply)
            state = THIRTYONE.play(state, move)
        assert end.tobytes() == state.tobytes()
        assert THIRTYONE.points(end).tolist() == list(recorded.scores)


def test_replay_refuses_moves_of_another_game(five):
    recorded = next(iter(read(five)))
    with pytest.raises(CardaiError, match="not thirtyone's"):
        replay(THIRTYONE, recorded)


@pytest.mark.parametrize("name", ["g.jsonl", "g.jsonl.gz"])
def test_a_sound_file_is_verified(tmp_path, name):
    played = write(tmp_path / name, games=600)
    shares = []
    found = verify(tmp_path / name, progress=shares.append)
    assert (found.games, found.plies, found.complete) == (600, played.plies.sum(), True)
    assert all(0 <= share <= 1 for share in shares)


def test_every_cut_is_noticed(five):
    whole = five.read_bytes()
    ends = {place + 1 for place, byte in enumerate(whole) if byte == ord("\n")}
    for size in sorted(ends - {len(whole)} | {*range(0, len(whole), 7)}):
        five.write_bytes(whole[:size])
        text = refusal(five)
        line = whole[:size].count(b"\n")
        if size == 0:
            assert "empty" in text
        elif whole[:size].endswith(b"\n"):
            assert f"ends after line {line} without its closing line" in text
        else:
            assert f"line {line + 1}: the line is cut off: the file is truncated" in text


def test_a_packed_file_that_is_damaged_is_refused(tmp_path):
    path = tmp_path / "g.jsonl.gz"
    write(path, games=50)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x55
    path.write_bytes(content)
    refusal(path)


@pytest.mark.parametrize("name", ["g.jsonl", "g.jsonl.gz"])
def test_a_file_cut_anywhere_gives_all_whole_blocks(tmp_path, name, monkeypatch):
    """As `kill -9` or a full disk leaves it: what is read before the error is right."""
    monkeypatch.setattr(record, "_BLOCK", 16)
    played = write(tmp_path / name, games=100)
    whole, counts = (tmp_path / name).read_bytes(), set()
    for size in range(200, len(whole), 97):
        (tmp_path / name).write_bytes(whole[:size])
        try:
            reader = read(tmp_path / name)
        except CardaiError:  # its first line is cut
            continue
        games = []
        with pytest.raises(CardaiError, match=r"truncated|unpacked"):
            games.extend(one.moves.tobytes() for one in reader)
        assert len(games) % 16 in (0, 100 % 16)
        assert games == [moves.tobytes() for moves in played.moves[: len(games)]]
        counts.add(len(games))
    assert counts > {0, 16, 32, 96}


def test_any_changed_byte_is_noticed_in_its_line(five):
    whole = five.read_bytes()
    for place in range(0, len(whole), 3):
        if whole[place] == ord("\n"):
            continue
        changed = bytearray(whole)
        changed[place] ^= 1
        five.write_bytes(changed)
        assert f"line {whole[:place].count(10) + 1}: " in refusal(five)


def recorded_moves(file: Path, number: int = 0) -> np.ndarray:
    return list(read(file))[number].moves.copy()


def test_an_edited_game_is_named_even_with_its_checksum_made_right(five):
    whole = five.read_bytes()
    (scores,) = json.loads(five.read_text().splitlines()[3])["scores"]
    twice = recorded_moves(five, 1)
    twice[3] = twice[0]  # a cell taken twice
    short, ended = recorded_moves(five)[:-1], next(one for one in read(five) if len(one.moves) < 9)
    for line, change, why in (
        (4, {"scores": [[1.0 - one if one != 0.5 else 1.0 for one in scores]]}, "game 2 (seed 102): the scores are"),
        (3, {"moves": pack(twice)}, "game 1 (seed 101): ply 3: tictactoe: seat 1 may not play"),
        (2, {"moves": pack(short), "plies": [len(short)]}, "the game is not over after its"),
        (ended.number + 2, {"moves": pack(np.concatenate([ended.moves] * 2)[:9]), "plies": [9]}, "the game is over"),
    ):
        five.write_bytes(whole)
        forge(five, line, **change)
        text = refusal(five)
        assert f"line {line}: game {line - 2} (seed {98 + line}): " in text
        assert why in text


@pytest.mark.parametrize("value", [9, -1, 2**62, -(2**63)])
def test_a_move_that_is_none_is_refused(five, value):
    moves = recorded_moves(five)
    moves[1]["cell"] = value
    forge(five, 2, moves=pack(moves))
    text = refusal(five)
    assert "line 2: game 0 (seed 100): ply 1: tictactoe: seat 1 may not play" in text
    assert f"(cell={value})" in text


def test_another_seed_is_noticed_where_there_is_chance(tmp_path):
    path = tmp_path / "31.jsonl"
    write(path, THIRTYONE, ["house", "random"], 4, 3)
    forge(path, 2, seeds=[100, 999, 102, 103])
    with pytest.raises(CardaiError, match=r"line 2: game 1 \(seed 999\)"):
        verify(path, rules=str(Path(__file__).parent.parent / "examples/thirtyone"))


EDITS = {
    "deleted": (
        lambda lines, other: [*lines[:2], *lines[3:]],
        "line 3: game 1 should be here, it is game 2: a line was",
    ),
    "swapped": (lambda lines, other: [*lines[:2], lines[3], lines[2], *lines[4:]], "line 3: game 1 should be here"),
    "shorter": (lambda lines, other: [*lines[:-2], lines[-1]], "line 6: the closing line counts 5 games, there are 4"),
    "foreign": (lambda lines, other: [*lines[:2], other[2], *lines[3:]], "line 7: the digest is not that of the lines"),
    "longer": (lambda lines, other: [*lines, lines[1]], "more after the closing line"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_lines_that_are_missing_moved_or_added_are_noticed(five, tmp_path, monkeypatch, edit):
    monkeypatch.setattr(record, "_BLOCK", 1)
    write(tmp_path / "other.jsonl", specs=["random", "random"])
    change, why = EDITS[edit]
    texts = [file.read_text().splitlines(keepends=True) for file in (five, tmp_path / "other.jsonl")]
    five.write_text("".join(change(*texts)))
    assert why in refusal(five)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"lineups": [[0, 2]]}, "the lineups hold 2, which is not 0 to 1"),
        ({"lineups": [[0]]}, "the lineups are not a list, with 2 numbers for each game"),
        ({"lineups": [[-1, 0]]}, "the lineups hold -1"),
        ({"lineups": [[0, 1], [1, 0]]}, "its columns differ in length"),
        ({"lineups": None}, "the lineups are not a list"),
        ({"scores": [[1.0]]}, "the scores are not a list, with 2 numbers"),
        ({"scores": [["1", "0"]]}, "the scores are not a list, with 2 numbers"),
        ({"scores": [[float("nan"), 0.0]]}, "the scores hold nan"),
        ({"plies": [10]}, "the plies hold 10, which is not 0 to 9"),
        ({"plies": [True]}, "the plies hold True"),
        ({"plies": [1]}, "do not unpack to 1 plies"),
        ({"moves": "not base64!"}, "cannot be unpacked"),
        ({"moves": 3}, "the moves are missing"),
        ({"seeds": [-1]}, "the seeds hold -1"),
        ({"seeds": 7}, "the seeds are not a list"),
        ({name: [] for name in ("seeds", "lineups", "scores", "plies")}, "no game"),
    ],
)
def test_nonsense_in_a_game_is_named(five, change, why):
    forge(five, 2, **change)
    text = refusal(five)
    assert "line 2: " in text
    assert why in text


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"version": 2}, "recorded with version 2, but tictactoe here has 1"),
        ({"game": "tictacto"}, "there is no game 'tictacto'; did you mean tictactoe?"),
        ({"variant": "large"}, "recorded with variant large, but tictactoe here has standard"),
        ({"options": {"size": 4}}, "recorded with options {'size': 4}, but tictactoe here has {}"),
        ({"fields": ["row", "column"]}, "recorded with fields row column, but tictactoe here has cell"),
        ({"seats": 3}, "recorded with 3 seats"),
    ],
)
def test_games_of_other_rules_are_refused(five, change, why):
    forge(five, 1, **change)
    text = refusal(five)
    assert "line 1: " in text
    assert why in text


@pytest.mark.parametrize(
    "change",
    [{"format": "something else"}, {"seats": "2"}, {"agents": "random"}, {"fields": []}, {"fields": ["a", "a"]}],
)
def test_a_wrong_first_line_is_foreign(five, change):
    forge(five, 1, **change)
    assert "is not a record file" in refusal(five)


def test_a_file_does_not_choose_what_code_is_run(five, tmp_path):
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    forge(five, 1, game=str(tmp_path / "evil.py"))
    assert "which is not the name of a game" in refusal(five)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "content", [b"", b"hello\n", b'{"a": 1}\n', b"\x1f\x8bnonsense", b"\x00" * 5000, b"[" * 100_000 + b"\n"]
)
def test_foreign_files_are_refused(tmp_path, content):
    path = tmp_path / "foreign"
    path.write_bytes(content)
    refusal(path)


def test_missing_files_and_folders_are_refused(tmp_path):
    assert "No such file" in refusal(tmp_path / "missing.jsonl")
    assert "folder" in refusal(tmp_path).lower() or "directory" in refusal(tmp_path)


def test_an_existing_file_is_not_overwritten_unless_asked(five):
    before = five.read_bytes()
    with pytest.raises(CardaiError, match="exists already"):
        Writer(five, TICTACTOE, AGENTS, None, 2)
    assert five.read_bytes() == before
    with Writer(five, TICTACTOE, AGENTS, None, 2, overwrite=True) as writer:
        assert five.read_bytes() == before  # until it is done
        writer.add(1, [0, 1], np.zeros(0, TICTACTOE.move), [0.5, 0.5])
    assert read(five).header.agents == tuple(AGENTS)
    assert five.read_bytes() != before


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path):
    path = tmp_path / "g.jsonl"
    writer = Writer(path, TICTACTOE, AGENTS, None, 2)
    path.write_text("mine")
    with pytest.raises(CardaiError, match="exists already"):
        writer.close()
    assert path.read_text() == "mine"


def test_a_place_that_cannot_be_written_to_is_refused_at_once(tmp_path):
    with pytest.raises(CardaiError, match="No such file"):
        Writer(tmp_path / "missing/g.jsonl", TICTACTOE, AGENTS, None, 2)
    with pytest.raises(CardaiError, match="it is a folder"):
        Writer(tmp_path, TICTACTOE, AGENTS, None, 2)
    with pytest.raises(CardaiError, match="no variant 'x'"):
        Writer(tmp_path / "g.jsonl", TICTACTOE, AGENTS, "x", 2)
    assert list(tmp_path.iterdir()) == []


def test_moves_of_another_game_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="moves are"), Writer(tmp_path / "g", TICTACTOE, AGENTS, None, 2) as writer:
        writer.add(1, [0, 1], np.zeros(3, THIRTYONE.move), [0.5, 0.5])


@pytest.mark.parametrize("name", ["g.jsonl", "g.jsonl.gz"])
def test_an_interrupted_run_keeps_what_is_finished_and_says_so(tmp_path, name):
    lineups, seeds = tables(100)
    agents = [cardai.agent(TICTACTOE, spec) for spec in AGENTS]
    with Writer(tmp_path / name, TICTACTOE, AGENTS, None, 2, planned=100) as writer:
        write_one, came = writer.in_order(lineups, seeds), []

        def interrupted(index, moves, scores):
            write_one(index, moves, scores)
            came.append(index)
            if len(came) == 7:
                raise KeyboardInterrupt

        results = play(TICTACTOE, agents, lineups, seeds, on_game=interrupted, live=3, threads=1)
    assert results.interrupted
    found = verify(tmp_path / name)
    assert 7 <= found.games < 100
    assert (found.games, found.complete) == (results.finished.sum(), False)
    assert [one.seed for one in read(tmp_path / name)] == sorted(int(seeds[index]) for index in came)


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_at_any_moment_neither_loses_a_finished_game_nor_writes_it_twice(tmp_path, threads):
    count = 60_000
    lineups, seeds = np.zeros((count, 2), int), np.arange(count, dtype=np.uint64)
    stopped, path = [], tmp_path / "g.jsonl"
    for moment in np.linspace(0.01, 0.1, 8).tolist():
        path.unlink(missing_ok=True)
        with Writer(path, TICTACTOE, ["random"], None, 2, planned=count) as writer:
            agents, on_game = [cardai.agent(TICTACTOE, "random")], writer.in_order(lineups, seeds)
            timer = threading.Timer(moment, lambda: signal.raise_signal(signal.SIGINT))
            timer.start()
            results = None
            try:
                results = play(TICTACTOE, agents, lineups, seeds, on_game=on_game, threads=threads)
                timer.cancel()
                timer.join()
            except KeyboardInterrupt:  # it came when the games were over
                timer.join()
        if results is None:
            continue
        stopped.append(results.interrupted)
        written = [one.seed for one in read(path)] if path.exists() else []  # a run without games leaves no file
        assert written == seeds[results.finished].tolist()
    assert any(stopped)


def test_ctrl_c_while_a_thread_is_being_started_leaves_no_thread_playing(tmp_path, monkeypatch):
    """It would write games at the same time as the main thread."""
    count, before = 60_000, threading.active_count()
    lineups, seeds = np.zeros((count, 2), int), np.arange(count, dtype=np.uint64)
    start, started = threading.Thread.start, []

    def interrupted_start(thread):
        start(thread)
        started.append(thread)
        if len(started) == 1:
            signal.raise_signal(signal.SIGINT)

    with Writer(tmp_path / "g.jsonl", TICTACTOE, ["random"], None, 2, planned=count) as writer:
        on_game, agents = writer.in_order(lineups, seeds), [cardai.agent(TICTACTOE, "random")]
        monkeypatch.setattr(threading.Thread, "start", interrupted_start)
        with contextlib.suppress(KeyboardInterrupt):
            play(TICTACTOE, agents, lineups, seeds, on_game=on_game, threads=2)
        assert started
        assert threading.active_count() == before


def test_a_thread_does_not_run_away_from_a_slow_one(tmp_path):
    """Games wait in memory for the next one to be written, which a slow thread may still be playing."""
    count, waiting = 40_000, []
    lineups, seeds = np.zeros((count, 2), int), np.arange(count, dtype=np.uint64)

    class Slow(InOrder):
        def take(self, games, slots, *rest):
            if slots.min() == 0:
                time.sleep(0.02)
            waiting.append(int(games.max()) - writer.next_index)
            return super().take(games, slots, *rest)

    with Writer(tmp_path / "g.jsonl", TICTACTOE, ["random"], None, 2, planned=count) as writer:
        play(
            TICTACTOE,
            [cardai.agent(TICTACTOE, "random")],
            lineups,
            seeds,
            on_game=Slow(writer, lineups, seeds, 0),
            threads=2,
        )
    assert [one.seed for one in read(tmp_path / "g.jsonl")] == seeds.tolist()
    assert max(waiting) < 10_000


def test_an_error_in_the_run_leaves_an_incomplete_file(tmp_path, five):
    recorded = list(read(five))
    writer = Writer(tmp_path / "g.jsonl", TICTACTOE, AGENTS, None, 2)
    writer.add(100, recorded[0].lineup, recorded[0].moves, recorded[0].scores)
    with pytest.raises(CardaiError, match="boom"), writer:
        raise CardaiError("boom")
    assert (verify(tmp_path / "g.jsonl").games, verify(tmp_path / "g.jsonl").complete) == (1, False)


@pytest.mark.parametrize("name", ["g.jsonl", "g.jsonl.gz"])
def test_a_run_that_fails_before_its_first_game_leaves_nothing(tmp_path, name):
    with pytest.raises(CardaiError, match="boom"), Writer(tmp_path / name, TICTACTOE, AGENTS, None, 2):
        raise CardaiError("boom")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_in_the_middle_of_a_line_waits_for_its_end(tmp_path, five, monkeypatch):
    recorded = next(iter(read(five)))
    monkeypatch.setattr(record, "_BLOCK", 1)
    with Writer(tmp_path / "g.jsonl", TICTACTOE, AGENTS, None, 2) as writer:
        write_line = writer._write

        def interrupting(line):
            signal.raise_signal(signal.SIGINT)
            write_line(line)

        monkeypatch.setattr(writer, "_write", interrupting)
        with pytest.raises(KeyboardInterrupt):
            writer.add(100, recorded.lineup, recorded.moves, recorded.scores)
        monkeypatch.setattr(writer, "_write", write_line)
        writer.add(100, recorded.lineup, recorded.moves, recorded.scores)
    assert verify(tmp_path / "g.jsonl").games == 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_games_that_never_end_leave_a_gap_and_an_incomplete_file(tmp_path):
    lineups, seeds = tables(20)
    agents = [cardai.agent(TICTACTOE, spec) for spec in AGENTS]
    with Writer(tmp_path / "g.jsonl", TICTACTOE, AGENTS, None, 2, planned=20) as writer:
        results = play(
            TICTACTOE, agents, lineups, seeds, on_game=writer.in_order(lineups, seeds), max_plies=7, threads=1
        )
    assert 0 < results.endless.sum() < 20
    assert (results.finished ^ results.endless).all()
    found = verify(tmp_path / "g.jsonl")
    assert (found.games, found.complete) == (results.finished.sum(), False)
    assert [one.seed for one in read(tmp_path / "g.jsonl")] == seeds[results.finished].tolist()
