"""Many tables at once: nothing that was acknowledged is lost by kill -9, and moves are answered quickly."""

import asyncio
import random
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from load_serve import Played
from web_clients import Guest, Process, sit_down

from cardai.errors import CardaiError
from cardai.guests.web.store import Store, TableRow

WORDS = ("turn", "zones", "moves", "log", "seats", "commitment")  # what a view of a ply must show again


async def play_until(process: Process, guests: list[Guest], think: float, seconds: float | None) -> list[bool]:
    """Let all guests play, and kill the server after some seconds. Returns who came to the end of their game."""
    playing = [asyncio.create_task(guest.play(process.home, think)) for guest in guests]
    if seconds is not None:
        await asyncio.sleep(seconds)
        process.kill()
    return await asyncio.gather(*playing)


def killed(folder, served: tuple[str, ...], line_ups: list[tuple[str, list[str]]], think: float, seconds: float):
    """Kill a server in the middle of games, go on at another one, and compare. Returns moves acknowledged before."""
    with Process(folder / "tables.sqlite", *served) as process:
        guests = [sit_down(process, game, seats, seed) for seed, (game, seats) in enumerate(line_ups)]
        for guest in guests:
            guest.keeps_views = True
        ended = asyncio.run(play_until(process, guests, think, seconds))
    in_the_middle = [not over and guest.acknowledged >= 0 for over, guest in zip(ended, guests, strict=True)]
    again = [Guest(guest.table, guest.cookie, random.Random(99), keeps_views=True) for guest in guests]
    with Process(folder / "tables.sqlite", *served) as process:
        ended = asyncio.run(play_until(process, again, think, None))
    assert all(ended), "all games go on to their end"
    for before, after in zip(guests, again, strict=True):
        first, known = min(after.views), max(before.views, default=-1)
        assert first > before.acknowledged, "an acknowledged move was lost"
        assert max(after.views) >= known
        for ply in before.views.keys() & after.views.keys():
            same = [before.views[ply].get(word) == after.views[ply].get(word) for word in WORDS]
            assert all(same), f"ply {ply} is another one after the restart"
        last = after.views[max(after.views)]["log"]
        if len(last) == max(after.views):  # the log is whole
            assert last[:known] == before.views[known]["log"][:known]
    return sum(in_the_middle), sum(len(guest.waits) for guest in guests)


def test_kill_9_in_the_middle_of_games_loses_no_acknowledged_move(tmp_path):
    line_ups = [("tictactoe", ["me", "random"]), ("tictactoe", ["random", "me"])] * 8
    stopped, moves = killed(tmp_path, ("tictactoe",), line_ups, think=0.4, seconds=0.9)
    assert stopped >= 8
    assert moves >= 8


@pytest.mark.slow
def test_kill_9_in_the_middle_of_a_hundred_games_loses_no_acknowledged_move(tmp_path):
    line_ups = [
        ("moska", ["me", "random", "random", "random"]),
        ("moska", ["random", "random", "me"]),
        ("durak", ["me", "random"]),
        ("hearts", ["random", "me", "random", "random"]),
    ] * 25
    served = ("moska", "durak", "hearts", "--opponents", "random")
    stopped, moves = killed(tmp_path, served, line_ups, think=0.5, seconds=8.0)
    print(f"{stopped} of {len(line_ups)} games were stopped in the middle, after {moves} acknowledged moves")
    assert stopped >= 90


def test_a_loaded_server_answers():
    """The load test itself, small: the figures of a large one are measured by hand."""
    found = Played("tictactoe", "random", 2, seconds=2.0, think=0.2).measure(8)
    assert len(found.waits) >= 20
    assert 0 < found.waits.max() < 5
    assert "p95" in found.line()


@pytest.mark.slow
def test_two_hundred_tables_are_answered_at_once():
    """Half of them against `greedy:best`, and at each fifth two people. On a machine that does nothing else."""
    found = Played(opponents="greedy:best,bot3", shared=5).measure(200)
    print(found.line())
    assert len(found.waits) > 1000
    assert np.percentile(found.waits, 95) < 0.060


def test_moves_that_wait_for_the_disk_share_a_write_and_a_wrong_one_fails_alone(tmp_path):
    store = Store(tmp_path / "tables.sqlite")
    rows = [TableRow(f"t{number}", "tictactoe", 1, "standard", b"s", []) for number in range(40)]
    for row in rows:
        store.add_table(row)
    commits: list[str] = []
    store._database.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None)
    store.add_move("t0", 0, 0, [1])

    def add(row):
        try:
            store.add_move(row.id, 0, 0, [2])
        except CardaiError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(len(rows)) as threads:
        with store._lock:  # all of them wait
            waiting = [threads.submit(add, row) for row in rows]
            while len(store._waiting) < len(rows):
                time.sleep(0.01)
        answers = [one.result(timeout=20) for one in waiting]
    assert "UNIQUE" in answers[0]
    assert answers[1:] == [""] * 39
    assert [store.table(row.id).moves for row in rows] == [[(0, (1,))]] + [[(0, (2,))]] * 39
    assert len(commits) == 2
    store.close()
