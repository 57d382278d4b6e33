"""Laws share the time that a check has: each looks at a least amount, cheap ones at all, and all say what they saw."""

import json
import math
import time
from collections.abc import Iterator

import pytest
import small_game

from cardai.cli.main import run
from cardai.laws import EFFORTS, LAWS, Law, LawResult, check
from cardai.laws import testbed as kit
from cardai.laws.law import take_turns
from cardai.laws.testbed import LEAST, Counted, LawError


def bed() -> kit.Testbed:
    return kit.Testbed(small_game.GAME, 0, EFFORTS["quick"])


def sleepy(name: str, seconds: float, count: int = 100) -> tuple[Law, list[int]]:
    """A law that takes so many seconds for each of `count` things, and the things that it has looked at."""
    looked: list[int] = []

    def steps(_testbed: kit.Testbed) -> Iterator[Counted[int]]:
        for thing in (seen := Counted(range(count), "things")):
            yield seen
            end = time.process_time() + seconds
            while time.process_time() < end:  # what is counted is the processor's time
                pass
            looked.append(thing)

    return Law(name, name, steps), looked  # pyright: ignore[reportArgumentType]


def in_time(laws: list[Law], seconds: float) -> dict[str, LawResult]:
    return {result.law: result for result in take_turns(laws, bed(), seconds, lambda law: None)}


def test_a_cheap_law_looks_at_all_and_a_dear_one_at_what_time_is_left() -> None:
    cheap, dear = sleepy("cheap", 0.0002)[0], sleepy("dear", 0.05)[0]
    found = in_time([dear, cheap], 1.0)
    assert (found["cheap"].looked, found["cheap"].total, found["cheap"].cut) == (100, 100, False)
    assert 10 <= found["dear"].looked <= 21
    assert (found["dear"].total, found["dear"].what, found["dear"].cut) == (100, "things", True)
    assert found["dear"].verdict == "holds"


def test_a_law_that_takes_four_times_as_long_gets_about_twice_the_time() -> None:
    found = in_time([sleepy("dear", 0.02)[0], sleepy("dearer", 0.08)[0]], 3.0)
    shares = found["dear"].looked / found["dearer"].looked
    assert 1.3 <= shares <= 3.0


def test_more_time_sees_all_that_less_time_saw() -> None:
    seen = []
    for seconds in (0.3, 1.0):
        laws = [sleepy(name, 0.01) for name in ("one", "two")]
        in_time([law for law, _ in laws], seconds)
        seen.append([things for _, things in laws])
    for less, more in zip(*seen, strict=True):
        assert len(less) < len(more)
        assert more[: len(less)] == less


def test_the_order_of_positions_depends_on_the_seed_alone() -> None:
    orders = [[(here.trace.seed, here.ply) for here in bed().positions(6)] for _ in range(2)]
    assert orders[0] == orders[1]
    first = orders[0][: len(orders[0]) // 5]
    assert len({seed for seed, _ in first}) > 5  # they are of many games


def test_without_time_a_law_looks_at_its_least_amount() -> None:
    law, looked = sleepy("dear", 0.001, 200)
    assert in_time([law], 1e-9)["dear"].cut
    assert 200 // LEAST <= len(looked) <= 200 // LEAST + 1


def test_without_a_limit_laws_look_at_all() -> None:
    assert EFFORTS["thorough"].seconds == math.inf
    assert not in_time([sleepy("dear", 0.001)[0]], math.inf)["dear"].cut


def test_what_is_found_at_once_is_found_without_time() -> None:
    def broken(_testbed: kit.Testbed) -> Iterator[Counted[int]]:
        yield Counted(range(5), "things")
        raise LawError("here")

    result = in_time([Law("broken", "broken", broken)], 1e-9)["broken"]  # pyright: ignore[reportArgumentType]
    assert (result.verdict, result.why, result.cut) == ("broken", "broken: here", False)


@pytest.mark.parametrize("isolated", [True, False])
def test_a_sound_game_breaks_no_law_that_is_cut(isolated: bool) -> None:
    results = check(small_game.GAME, effort="quick", seconds=0.01, isolated=isolated)
    assert [result.law for result in results] == list(LAWS)
    assert [result.why for result in results if result.verdict == "broken"] == []
    cut = [result for result in results if result.cut]
    assert len(cut) > 20
    assert all(0 <= result.looked < result.total and result.what for result in cut)


def test_the_command_says_what_was_cut(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["check", "examples/kuhn", "--law", "every_game_ends", "--law", "agents_decide_by_what_they_know"]
    assert run([*command, "--seconds", "0.01", "--verbose"]) == 0
    said = capsys.readouterr().out
    assert "holds every_game_ends (looked at 1 table)\n" in said
    assert "holds agents_decide_by_what_they_know (looked at " in said
    assert " of 48 games by encoders)\n" in said
    assert "1 law looked at a part, for want of time (the least: agents_decide_by_what_they_know, " in said
    assert " of 48); more --seconds or --effort thorough looks at all\n" in said
    assert run([*command, "--seconds", "0.01", "--json"]) == 0
    (whole, part) = json.loads(capsys.readouterr().out)
    assert (whole["cut"], part["cut"], part["total"], part["what"]) == (False, True, 48, "games by encoders")
    assert run([*command, "--effort", "thorough", "--law", "every_game_ends"]) == 0
    assert "for want of time" not in capsys.readouterr().out
    assert run([*command, "--seconds", "-1"]) == 2
