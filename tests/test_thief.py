"""The seal against `thief.py`, a program that looks for its deals: it knows none of them, or the report says so."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

import cardai
from cardai.cli.show.bench import condition_notes
from cardai.measure.bench import run_match
from cardai.measure.duel import duel
from cardai.playing.stats.deals import deal_seeds
from cardai.records.record import read
from cardai.rules.keeping import cache_root

DURAK, GAMES, SEED = cardai.load("durak"), 200, 91
IS_ROOT = sys.platform == "linux" and os.geteuid() == 0
PLAIN_PYTHON = "/usr/bin/python3"  # one that any user may run
USER = "12345"
AS_USER = ["setpriv", "--reuid", USER, "--regid", USER, "--clear-groups"]
AS_USER += ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]  # to read an interpreter of root's

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not Path(PLAIN_PYTHON).exists(), reason="for Linux with a Python for all users"
)
as_root = pytest.mark.skipif(not IS_ROOT, reason="for the administrator")
as_user = pytest.mark.skipif(IS_ROOT and not shutil.which("setpriv"), reason="cannot become an ordinary user")


@pytest.fixture
def folder():
    """A folder that any user may write to, with the thief in it."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o777)
    shutil.copy(Path(__file__).with_name("thief.py"), place)
    yield place
    shutil.rmtree(place)


@dataclass
class Heist:
    """How many deals thieves know after `cardai match`, why it says that they may, and what they noted."""

    known: int
    unsealed: list[str]
    notes: list[dict]


def heist(folder: Path, seats: str, *options: str, user: bool = False) -> Heist:
    command = [sys.executable, "-m", "cardai", "match", "durak", "--seats", seats, "--seed", str(SEED), "--json"]
    command += ["--games", str(GAMES), "--record", "games.jsonl", *options]
    environment = os.environ | {"CARDAI_CACHE": str(cache_root()), "CARDAI_LOOT": str(folder / "loot function")}
    prefix = AS_USER if user and IS_ROOT else []
    done = subprocess.run([*prefix, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    notes = [json.loads(place.read_text()) for place in sorted(folder.glob("loot *"))]
    guesses: set[int] = set()
    for note in notes:
        assert SEED in note["seeds"]  # the command line is there for all
        for salt in ("", *note["texts"]):
            guesses.update(deal_seeds(SEED, 2 * GAMES, salt).tolist())
    played = {game.seed for game in read(folder / "games.jsonl")}
    assert len(played) == GAMES
    return Heist(len(played & guesses), json.loads(done.stdout)["unsealed"], notes)


def program(folder: Path, name: str = "one") -> str:
    return f"process:{PLAIN_PYTHON} -I {folder / 'thief.py'} '{folder / 'loot'} {name}'"


@as_user
def test_a_program_of_the_same_user_knows_no_deal(folder):
    stolen = heist(folder, f"{program(folder)},random", user=True)
    assert (stolen.known, stolen.unsealed) == (0, [])
    (note,) = stolen.notes
    assert note["gains_nothing"]
    assert not {"mem", "environ"} & set(note["opened"])
    assert not any("/fd/" in name for name in note["opened"])


@as_user
def test_an_isolated_function_of_the_same_user_knows_no_deal_and_is_closed_to_other_programs(folder):
    stolen = heist(folder, f"python:thief:thief,{program(folder)}", "--isolate", user=True)
    assert stolen.known == 0
    assert [len(note["others"]) for note in stolen.notes] == [1, 0]  # only the function can read the other
    assert [one.startswith("python:thief:thief could read the memory of process:") for one in stolen.unsealed] == [True]


@as_user
def test_programs_of_the_same_user_can_read_each_other_and_the_report_says_so(folder):
    stolen = heist(folder, f"{program(folder)},{program(folder, 'two')}", user=True)
    assert (stolen.known, [len(note["others"]) for note in stolen.notes]) == (0, [1, 1])
    assert ["could read the memory of process:" in reason for reason in stolen.unsealed] == [True, True]


@as_root
def test_as_root_isolated_programs_are_users_of_their_own_and_know_no_deal(folder):
    stolen = heist(folder, f"{program(folder)},{program(folder, 'two')}", "--isolate")
    assert (stolen.known, stolen.unsealed) == (0, [])
    assert len({0, *(note["user"] for note in stolen.notes)}) == 3
    for note in stolen.notes:
        assert (note["groups"], note["others"], note["gains_nothing"]) == ([], [], True)


@as_root
@pytest.mark.parametrize("seats", ["program", "function --isolate"])
def test_as_root_what_runs_as_root_knows_all_deals_and_the_report_says_so(folder, seats):
    """The thief finds what is not hidden from it, so the tests above can fail.

    The function cannot start as another user, since only root may read it.
    """
    (folder / "thief.py").chmod(0o600)
    line_up = f"{program(folder)},random" if seats == "program" else "python:thief:thief,random"
    stolen = heist(folder, line_up, *seats.split()[1:])
    assert stolen.known == GAMES
    assert ["run as root, could read cardai's memory" in reason for reason in stolen.unsealed] == [True]


@as_user
@pytest.mark.parametrize("user", [True, pytest.param(False, marks=as_root)], ids=["user", "root"])
def test_a_salt_that_was_given_is_known_and_the_report_says_so(folder, user):
    stolen = heist(folder, f"{program(folder)},random", "--isolate", "--salt", "pepper", user=user)
    assert stolen.known == GAMES
    assert stolen.unsealed == ["the salt was given, so that the deals can have been known"]


def test_the_words_of_a_report_are_what_was_enforced(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("CARDAI_LOOT", str(folder / "loot"))
    monkeypatch.setattr("cardai.measure.duplicate.openings", list)  # of programs of other tests
    own, here = "python:thief:thief", "python:thief:thief ran in cardai's process, which holds all cards"
    shared = "python:thief:thief had several places at a table, which can tell each other their hands"

    def notes(*line_up, **options):
        return [note for note in condition_notes(run_match(DURAK, line_up, 2, **options)) if "sealed" in note]

    sealed = "sealed: the salt was drawn for this run, and no program could read cardai's memory or another program's"
    assert notes(own, "random") == [f"not sealed: {here}"]
    assert notes(own, "random", isolate=True) == [sealed]
    assert notes(own, own, "random", isolate=True) == [f"not sealed: {shared}"]
    assert notes("random", "thrifty", salt="pepper") == []
    assert f"not sealed: {here}" in str(duel(DURAK, own, "random", seats=2, folder=folder / "duel", games=4))
