"""Each verb works, answers in JSON when asked, refuses in one sentence with exit code 2, and starts at once."""

import io
import json
import math
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import cardai
from cardai.cli import rulebook
from cardai.cli.main import GROUPS, read_verb, run
from cardai.cli.show.progress import Line, is_cold
from cardai.cli.show.seats import NAMES
from cardai.records.record import read, verify
from cardai.registry import load
from cardai.rules import JIT, keeping

ROOT = Path(__file__).parent.parent
THIRTYONE, TICTACTOE = str(ROOT / "examples/thirtyone"), load("tictactoe")
COMMAND = [sys.executable, "-m", "cardai"]
PAIR = "random,greedy:open_lines"
NAMED = "(?:" + "|".join(NAMES) + ")"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def call(capsys):
    """Run a command line in this process: exit code, stdout, stderr."""

    def called(*tokens):
        capsys.readouterr()
        code = run([str(token) for token in tokens])
        return code, *capsys.readouterr()

    return called


@pytest.fixture
def output(call):
    """The output of a command line that must succeed and say nothing on stderr."""

    def succeeded(*tokens):
        code, out, err = call(*tokens)
        assert (code, err) == (0, "")
        return out

    return succeeded


@pytest.fixture
def answer(output):
    """The JSON a command line prints, and nothing beside it."""
    return lambda *tokens: json.loads(output(*tokens, "--json"))


def test_the_version_is_that_of_the_package(output):
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*\n", output("--version"))


def test_help_loads_nothing_heavy():
    for tokens in ([], ["--help"], ["match", "--help"]):
        code = f"import sys; from cardai.cli.main import read_verb, run; run({tokens!r}); print(*sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        slow = {"numba", "numpy", "matplotlib", "scipy", "jax", "cardai.game", "cardai.evaluators.training.verbs"}
        assert not slow & set(done.stdout.split())


def test_help_comes_at_once():
    """Within 0.3 s of processor time; on a slower machine within 2.5 times what importing its libraries takes."""
    libraries = "import cyclopts, importlib.metadata, rich.panel, rich.table"
    runs = {"help": [*COMMAND, "--help"], "libraries": [sys.executable, "-c", libraries]}
    least = dict.fromkeys(runs, math.inf)
    for name, command in [*runs.items()] * 5:  # in turns: both see the same neighbours
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        least[name] = min(least[name], spent)
    assert least["help"] <= max(0.3, 2.5 * least["libraries"])


GROUPED = {
    "Play": ("match", "play", "replay", "rules", "serve", "study"),
    "Measure": ("analyse", "bench", "complexity", "exact", "perf"),
    "Learn": ("iterate", "selfplay", "train", "tune"),
    "Games": ("agents", "check", "doctor", "games", "new-game"),
    "Experiments": ("report", "reproduce"),
    "Other": (),
}


def test_every_verb_is_listed_in_its_group_and_explains_itself(output):
    parts = re.split(r"╭─ (\w+) ─+╮\n", output("--help"))
    listed = {
        name: re.findall(r"^│ ([a-z]\S+) +[A-Z]\w+", text, re.M)
        for name, text in zip(parts[1::2], parts[2::2], strict=True)
    }
    assert list(listed) == list(GROUPED)
    for name, verbs in GROUPED.items():
        assert set(verbs) <= set(listed[name]), name
        for verb in {*verbs} - {"iterate", "reproduce", "serve", "study", "train"}:  # which import much
            assert f"Usage: cardai {verb}" in output(verb, "--help")


def test_a_verb_of_a_package_may_be_broken_or_name_no_group(tmp_path, monkeypatch):
    Path("verbs_fine.py").write_text('def go() -> None:\n    """Go."""\n')
    Path("verbs_broken.py").write_text("def go(:\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("verbs_many.py").write_text('GROUP = "Games"\nmany = App(name="many", help="Do.")\n')
    assert read_verb("verbs_fine", "go") == ("Go.", None)
    assert read_verb("verbs_many", "many") == ("Do.", GROUPS["Games"])
    assert read_verb("verbs_broken", "go") == read_verb("verbs_missing", "go") == (None, None)


def test_games_are_listed(output, answer):
    assert "Tic-Tac-Toe" in output("games")
    found = {one["name"]: one for one in answer("games")}
    assert found["tictactoe"]["seats"] == [2]
    assert "thesis" in found["moska"]["suites"]


def test_agents_are_listed_with_their_parameters(output, answer):
    assert "greedy:open_lines" in output("agents", "tictactoe")
    found = {one["agent"]: one for one in answer("agents", "moska")["agents"]}
    assert found["bot3"]["parameters"]
    assert all(one["about"] for one in found.values())


def test_bench_measures_the_agents_named(output, answer):
    tokens = ("bench", "tictactoe", "--games", 60, "--agent", PAIR, "--seed", 3)
    report = answer(*tokens)
    assert [row["spec"] for row in report["rows"]] == PAIR.split(",")
    assert report["seed"] == 3
    assert not report["interrupted"]
    assert "greedy:open_lines" in output(*tokens)


def test_a_match_repeats_for_its_seed(output, answer):
    tokens = ("match", "tictactoe", "--seats", PAIR, "--games", 50, "--seed", 9)
    one, two = answer(*tokens), answer(*tokens, "--threads", 1)
    assert one["rows"] == two["rows"]
    assert one["games"] == 50
    assert "greedy:open_lines" in output(*tokens)


def test_a_match_without_rotation_leaves_everybody_in_his_seat(answer):
    answer("match", "tictactoe", "--seats", PAIR, "--games", 20, "--no-rotate", "--record", "g.jsonl")
    assert {one.lineup for one in read("g.jsonl")} == {(0, 1)}


def test_a_match_is_recorded_replayed_and_verified(output, answer):
    output("match", THIRTYONE, "--seats", "house,random,house", "--games", 30, "--record", "g.jsonl.gz")
    assert answer("replay", "g.jsonl.gz", "--verify", "--rules", THIRTYONE)["games"] == 30
    said = output("replay", "g.jsonl.gz", "--verify", "--rules", THIRTYONE)
    assert "g.jsonl.gz is sound: 30 games of thirtyone" in said
    lines = output("replay", "g.jsonl.gz", "--rules", THIRTYONE, "--game", 7, "--no-positions").splitlines()
    recorded = list(read("g.jsonl.gz"))[7]
    assert lines[0] == f"thirtyone 1 (standard), game 7, seed {recorded.seed}"
    assert [line.split(" is ")[1] for line in lines[1:4]] == [("house", "random")[place] for place in recorded.lineup]
    moves = lines[4 : 4 + len(recorded.moves)]
    assert all(re.fullmatch(rf" *{ply}  {NAMED} \w.*", line) for ply, line in enumerate(moves))
    scored = [f"{NAMES[seat]} scores {score:g}" for seat, score in enumerate(recorded.scores)]
    assert lines[4 + len(moves) :] == scored
    shown = output("replay", "g.jsonl.gz", "--rules", THIRTYONE, "--game", 7).splitlines()
    assert [line for line in shown if re.match(rf" *\d+  {NAMED} ", line)] == moves
    views = [i for i, line in enumerate(shown) if re.search(rf"\| as {NAMED} sees it$", line)]
    assert len(views) == len(moves)
    for i in views:
        mover = re.search(NAMED, shown[i])[0]
        block = shown[i : next(k for k in range(i, len(shown)) if re.match(rf" *\d+  {NAMED} ", shown[k])) + 1]
        assert any("Your hand: " in line for line in block)
        assert block[-1].split()[1] == mover
    assert any(line.startswith("All hands are turned up") for line in shown)


def test_selfplay_records_games_whose_agents_are_drawn_by_weight(output, answer, call):
    tokens = ("selfplay", "tictactoe", "--agent", "random@3", "--agent", "greedy:open_lines", "--games", 40)
    told = answer(*tokens, "--out", "g.jsonl.gz", "--seed", 2)
    assert (told["games"], told["seed"], told["files"]) == (40, 2, ["g.jsonl.gz"])
    assert [one["weight"] for one in told["agents"]] == [3, 1]
    assert verify("g.jsonl.gz").header.agents == ("random", "greedy:open_lines")
    assert "greedy:open_lines" in output(*tokens, "--out", "games", "--threads", 1)
    code, _, err = call(*tokens, "--out", "games", "--seed", 1)
    assert (code, err) == (2, "cardai: games holds a simulation with seed 0, not 1\n")


def test_a_record_is_overwritten_only_when_asked(call, output):
    tokens = ("match", "tictactoe", "--seats", PAIR, "--games", 4, "--record", "g.jsonl")
    output(*tokens)
    before = Path("g.jsonl").read_bytes()
    assert call(*tokens, "--seed", 1)[0] == 2
    assert Path("g.jsonl").read_bytes() == before
    output(*tokens, "--seed", 1, "--overwrite")
    assert Path("g.jsonl").read_bytes() != before


def test_replay_and_verify_refuse_an_edited_file(call, output):
    output("match", "tictactoe", "--seats", PAIR, "--games", 20, "--record", "g.jsonl")
    lines = Path("g.jsonl").read_text().splitlines(keepends=True)
    lines[1] = lines[1].replace('"scores":[', '"scores":[ ')
    Path("g.jsonl").write_text("".join(lines))
    for more in ([], ["--verify"]):
        code, out, err = call("replay", "g.jsonl", *more)
        assert (code, out) == (2, "")
        assert err == "cardai: g.jsonl, line 2: the line does not fit its checksum: it was edited or damaged\n"


def test_perft_counts(output, answer):
    assert answer("complexity", "tictactoe", "--perft", 4)["counts"] == [1, 9, 72, 504, 3024]
    assert output("complexity", "tictactoe", "--perft", 4).splitlines()[-1].split() == ["4", "3", "024"]


def test_complexity_is_estimated_and_drawn(output, answer):
    report = answer("complexity", THIRTYONE, "--players", "2,4", "--games", 20)
    assert [row["players"] for row in report["rows"]] == [2, 4]
    output("complexity", THIRTYONE, "--players", "2-3", "--games", 20, "--figure", "c.svg")
    assert "<svg" in Path("c.svg").read_text()


def test_a_sound_game_passes_its_check(output, answer):
    command = ("check", "tictactoe", "--effort", "quick", "--law", "moves_are_distinct")
    assert [result["verdict"] for result in answer(*command)] == ["holds"]
    assert output(*command) == "tictactoe: 0 broken, 0 not tested, 1 holds\n"


def test_a_game_that_breaks_a_law_fails_its_check(call):
    source = (ROOT / "games/tictactoe/__init__.py").read_text()
    Path("broken.py").write_text(source.replace("        return 1.0\n    if", "        return 7.0\n    if"))
    code, out, _ = call("check", "./broken.py", "--effort", "quick", "--law", "scores_are_shares")
    assert code == 1
    assert "BROKEN scores_are_shares: " in out


def test_a_new_game_can_be_played(output):
    assert "cardai check ./mine" in output("new-game", "mine")
    assert "mine/" in f"{output('agents', './mine')} mine/"
    assert Path("mine/__init__.py").is_file()


def test_a_game_is_played_from_a_file(output, call):
    Path("moves.txt").write_text("b2\n1\n1\n1\n1\n")
    tokens = ("play", "tictactoe", "--seed", 1, "--moves-from", "moves.txt")
    text = output(*tokens)
    assert "the game is over" in text
    assert text.endswith("The same deal again: --seats human,greedy:mlp --seed 1\n")
    Path("moves.txt").write_text("b2\n")
    code, _, err = call(*tokens)
    assert (code, err) == (2, "cardai: moves.txt ends after 1 inputs, and the game is not over\n")


def test_the_line_that_repeats_a_deal_can_be_typed_into_a_shell(output):
    Path("moves.txt").write_text("q\n")
    text = output("play", "durak", "--seed", 1, "--variant", "report", "--moves-from", "moves.txt",
                  "--seats", "human,endgame:(ahead:report2?worlds=16&halving)")  # fmt: skip
    assert "--seats 'human,endgame:(ahead:report2?worlds=16&halving)' --seed 1 --variant report" in text


def test_a_game_at_the_keyboard_is_recorded_and_every_reader_reads_it(output, answer, call):
    Path("moves.txt").write_text("1\n" * 100)
    tokens = (
        "play",
        THIRTYONE,
        "--seats",
        "human,house",
        "--seed",
        1,
        "--moves-from",
        "moves.txt",
        "--record",
        "g.jsonl",
    )
    lines = output(*tokens).splitlines()
    assert lines[-2] == f"The game is in g.jsonl; `cardai replay g.jsonl --rules {THIRTYONE}` prints it."
    assert answer("replay", "g.jsonl", "--verify", "--rules", THIRTYONE)["complete"]
    assert "Ada is human\nBruno is house\n" in output("replay", "g.jsonl", "--rules", THIRTYONE)
    judge = ("--agent", "greedy:prospects", "--rules", THIRTYONE)
    assert answer("analyse", "g.jsonl", *judge)["names"] == ["human", "house"]
    code, out, err = call(*tokens)
    assert (code, out) == (2, "")
    assert "g.jsonl exists already" in err


def test_a_game_that_is_left_is_not_recorded_and_that_is_said(output):
    Path("moves.txt").write_text("b2\nq\n")
    text = output("play", "tictactoe", "--seed", 1, "--moves-from", "moves.txt", "--record", "g.jsonl")
    left = "You have left the game (--seats human,greedy:mlp --seed 1); it was not recorded.\n"
    assert text.endswith(left)
    assert sorted(path.name for path in Path().iterdir()) == ["moves.txt"]


def test_ctrl_c_at_the_keyboard_writes_nothing_and_says_so(tmp_path):
    command = [*COMMAND, "play", "tictactoe", "--seats", "human,python:slow:choose", "--record", "g.jsonl"]
    Path("slow.py").write_text("import time\n\n\ndef choose(game, world):\n    time.sleep(1000)\n")
    Path("moves.txt").write_text("b2\n")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    running = subprocess.Popen(
        [*command, "--moves-from", "moves.txt"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment,
    )  # fmt: skip
    for line in running.stdout:
        if line.startswith("You> b2"):
            break
    time.sleep(0.5)
    assert list(Path().glob("g.jsonl.*.part"))
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert err == "\ninterrupted: the game is not finished; it was not recorded\n"
    assert not list(Path().glob("g.jsonl*"))


def test_the_rules_of_a_game_are_printed(output, call):
    for game, path in (("moska", "games/moska"), ("durak", "games/durak"), ("tictactoe", "games/tictactoe")):
        assert output("rules", game) == (ROOT / path / "RULES.md").read_text() + rulebook.options(load(game))
    assert output("rules", THIRTYONE).startswith("# Thirty-One")
    Path("unwritten.py").write_text((ROOT / "games/tictactoe/__init__.py").read_text())
    code, out, err = call("rules", "./unwritten.py")
    assert (code, out) == (2, "")
    beside = Path("unwritten.py").resolve()
    assert err == f"cardai: tictactoe has no written rules: there is no RULES.md beside {beside}\n"


def test_doctor_says_what_it_runs_on(output, answer):
    assert "cache folder" in output("doctor")
    found = answer("doctor")
    assert found["healthy"]
    assert found["games"]["tictactoe"].startswith("plays")


@pytest.mark.skipif(not JIT, reason="nothing is compiled")
def test_a_game_is_compiled_ahead(answer, output, call, tmp_path, monkeypatch):
    first = answer("doctor", "--warm", "tictactoe")
    assert list(first["games"]) == ["tictactoe"]
    assert first["cache_megabytes"] > 0
    assert "cache folder" in output("doctor", "--warm", "tictactoe")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CARDAI_CACHE", str(tmp_path / "file"))
    code, out, err = call("doctor", "--warm", "tictactoe")
    assert (code, out) == (2, "")
    assert "cannot be kept" in err


def test_only_compiled_rules_are_cleared(tmp_path, monkeypatch):
    monkeypatch.setenv("CARDAI_CACHE", str(tmp_path / "cache"))
    rules, mine = tmp_path / "cache/rules", tmp_path / "cache/mine"
    older, own = tmp_path / "cache/moska-ab850d0e4f214912", tmp_path / "cache/copy-ab850d0e4f214912"
    compiled = rules / "deal.code", older / "moska_fa0f/rules.deal-5.py311.1.nbc", older / "moska_fa0f/rules.deal-5.nbi"
    others = rules / "mine", mine / "deal.code", mine / "deal.nbi", own / "agent.py"
    for file in (*compiled, *others):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(bytes(100))
    assert sum(size for _, size in keeping.all_files()) == 300
    assert keeping.forget() == 300
    assert not older.exists()
    assert not compiled[0].exists()
    assert all(file.exists() for file in others)
    assert keeping.forget() == 0


class Terminal(io.StringIO):
    def isatty(self):
        return True


def a_terminal(monkeypatch) -> Terminal:
    """Make stderr a terminal; called in the test itself, since pytest has its own stderr for fixtures."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr("sys.stderr", Terminal())
    return sys.stderr


def test_long_work_has_a_progress_line_on_a_terminal_only(monkeypatch):
    terminal = a_terminal(monkeypatch)
    with Line("playing", TICTACTOE) as line:
        line(5, 10)
    assert terminal.getvalue() == "" or is_cold(TICTACTOE)  # short work
    monkeypatch.setattr("cardai.cli.show.progress._SOON", 0.1)
    with Line("measuring") as line:
        line.note("B1, random: 90.0")
        line(3, 10, "single operations")
        time.sleep(0.5)
        line.note("B1, bot3: 25.0")
    told = terminal.getvalue()
    assert "single operations" in told
    assert "3/10" in told
    assert told.index("B1, random: 90.0") < told.index("B1, bot3: 25.0")
    with Line("counting"):  # which never says how far it is
        time.sleep(0.5)
    assert "counting" in terminal.getvalue()
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with Line("playing") as line:
        line(5, 10)
    assert sys.stderr.getvalue() == ""


def test_compiling_is_said(monkeypatch):
    terminal = a_terminal(monkeypatch)
    monkeypatch.setattr("cardai.cli.show.progress.is_kept", lambda function: False)
    with Line("playing", TICTACTOE) as line:
        assert is_cold(TICTACTOE)
        line(0, 10)
        line._say_compiling("legal")
        line._bar.refresh()
    assert "compiling tictactoe's rules, once" in terminal.getvalue()
    assert f"compiling tictactoe's legal, 1 of {len(set(TICTACTOE.compiler.all()))}" in terminal.getvalue()
    assert "playing" not in terminal.getvalue()


REFUSALS = {
    "gams": "games",
    "agents": "GAME",
    "agents moka": "there is no game 'moka'; did you mean moska?",
    "agents ./nowhere": "nowhere",
    "bench tictactoe --suite rndom": "there is no suite 'rndom'; did you mean random?",
    "bench tictactoe --variant large": "no variant 'large'",
    "bench tictactoe --agent rndom": "there is no agent 'rndom'; did you mean random?",
    "bench tictactoe --games 0": "at least 1, not 0",
    "bench tictactoe --gams 5": "--games",
    "match tictactoe": "--seats",
    "match tictactoe --seats random,,random": "empty agent",
    f"match tictactoe --seats {PAIR} --record missing/g.jsonl": "cannot write missing/g.jsonl",
    f"match tictactoe --seats {PAIR} --record .": "it is a folder",
    "selfplay tictactoe --out g.jsonl": "--agent",
    "selfplay tictactoe --agent random@0 --out g.jsonl": "'random@0' is not an agent with a weight; write bot3@2",
    "selfplay tictactoe --agent random,random@2 --out g.jsonl": "the agent 'random' is named twice in the pool",
    "selfplay tictactoe --agent random --out games --overwrite": "games is the name of a folder",
    "selfplay tictactoe --agent random --out games --only 1": "which has 1, numbered from 0",
    "selfplay tictactoe --agent random --out g.jsonl --only 0": "--only '0' is for folders",
    "selfplay tictactoe --agent random --out games --mixed": "--mixed is for --cluster",
    "bench --all --cluster auto": "--cluster 'auto' is for a suite, not for --all",
    "selfplay tictactoe --agent random --out missing/g.jsonl": "cannot write missing/g.jsonl",
    "selfplay tictactoe --agent random --out g.jsonl --device tpu": "--device is auto, cpu or gpu, not 'tpu'",
    "play tictactoe --seats random,random": "nobody is at the keyboard",
    "play tictactoe --moves-from missing.txt": "cannot read moves from missing.txt",
    "play tictactoe": "the input ended",
    "check tictactoe --law no_such_law": "there is no law",
    "check tictactoe --effort heroic": "there is no effort",
    "complexity tictactoe --players 2-4": "not 3",
    "complexity tictactoe --players few": "does not name numbers of players",
    "complexity tictactoe --figure c.gif": "c.gif",
    "complexity tictactoe --perft=-1": "not -1",
    "bench tictactoe --games=99999999999999999999": "at most 1000000000",
    "bench tictactoe --games 5 --threads 100000": "at most 1024",
    "perf moska --seats 0": "moska is for 2 to 8 seats, not 0",
    f"match tictactoe --seats {PAIR} --record /proc/g.jsonl": "cannot write /proc/g.jsonl",
    "match tictactoe --seats random,human": "only in `cardai play`",
    "match tictactoe --seats random,python:": "python:MODULE:FUNCTION",
    "match tictactoe --seats random,python:nosuchmodule:choose": "No module named 'nosuchmodule'",
    "match tictactoe --seats random,python:players_crash:f": "ZeroDivisionError: division by zero",
    "match tictactoe --seats random,python:players_bad:raises": (
        "agent 'python:players_bad:raises', seat 1, ply 1: it raised RuntimeError('oops')"
    ),
    "match tictactoe --seats random,python:players_bad:rubbish": "it returned 'hello', which is not a move",
    "exact grade tictactoe --agent python:players_bad:raises": "agent 'python:players_bad:raises', seat 0, ply 0",
    "complexity tictactoe --games 5 --figure foreign.txt/c.png": "there is no folder foreign.txt",
    "complexity tictactoe --games 5 --figure /proc/c.png": "cannot write to /proc",
    "new-game other --folder /proc": "cannot write to /proc",
    "replay .": "cannot read .",
    "replay g.jsonl --json": "--json goes with --verify",
    "export tictactoe g.jsonl --npz a.npz --seat 1": "--seat '1' is for --transcript",
    "agents tictactoe --games 5": "need --measure",
    "bench tictactoe --situations --variant standard": "--variant 'standard' is not for --situations",
    "complexity tictactoe --perft 2 --figure c.svg": "--figure 'c.svg' is not for --perft",
    "complexity tictactoe --perft 2 --games 5": "--games '5' is not for --perft",
    "games --seats 3": "--seats '3' needs a GAME",
    "replay binary.gz": "binary.gz",
    "agents ./leaves.py": "./leaves.py does not load: SystemExit: 3",
    "agents ./wrong.py": "wrong has no GAME that is a cardai Game: it is int",
    "agents ./foreign.txt": "not a Python file",
    "complexity ./raises.py --perft 9": "a rule raised ValueError('bang') (",
    "exact grade ./raises.py --agent random": "a rule raised ValueError('bang') (",
    "bench ./typo.py --games 5": "the rule deal does not compile: there is no field 'trun'; did you mean turn",
    "exact grad tictactoe": "there is no command 'grad'; did you mean grade?",
    "replay g.jsonl --game 4": "g.jsonl has 4 games, counted from 0; there is no game 4",
    "new-game 7up": "'7up'",
    "agents ./syntax.py": "./syntax.py does not load: SyntaxError",
    "agents ./crash.py": "crash.py, line 2)",
    "agents ./empty.py": "has no GAME",
    "agents 'two words'": "(for the one in this folder say './two words')",
}


@pytest.mark.parametrize("line", REFUSALS)
def test_refusals_are_one_sentence_and_exit_2(call, line, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    Path("foreign.txt").write_text("Dear diary,\n")
    Path("syntax.py").write_text("GAME = (\n")
    Path("crash.py").write_text("# a game\n1 / 0\n")
    Path("empty.py").write_text("")
    Path("two words").mkdir()
    Path("binary.gz").write_bytes(b"\x00\x01" * 100)
    Path("leaves.py").write_text("raise SystemExit(3)\n")
    Path("wrong.py").write_text("GAME = 3\n")
    source, move = (ROOT / "games/tictactoe/__init__.py").read_text(), "    state.stones[state.turn] |="
    bang = "    if state.ply == 3:\n        raise ValueError('bang')\n"
    Path("raises.py").write_text(source.replace(move, bang + move))
    Path("typo.py").write_text(source.replace("    state.turn = 0 ", "    state.trun = 0 "))
    Path("players_crash.py").write_text("1 / 0\n")
    Path("players_bad.py").write_text(
        "def raises(game, world):\n    raise RuntimeError('oops')\n\n\ndef rubbish(game, world):\n    return 'hello'\n"
    )
    monkeypatch.syspath_prepend(str(Path.cwd()))
    for name in ("raises", "typo"):  # each test has its own
        monkeypatch.delitem(sys.modules, name, raising=False)
    if line.startswith("replay g.jsonl"):
        assert call("match", "tictactoe", "--seats", PAIR, "--games", 4, "--record", "g.jsonl")[0] == 0
    before = sorted(Path().rglob("*"))
    code, out, err = call(*shlex.split(line))
    assert code == 2
    assert REFUSALS[line] in err
    assert err.startswith("cardai: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    if line != "play tictactoe":  # it shows the table before it finds that nobody answers
        assert out == ""
    assert [path for path in sorted(Path().rglob("*")) if "__pycache__" not in path.parts] == before


def test_no_verb_is_a_plea_for_help(output):
    assert "Usage: cardai COMMAND" in output()


def test_bugs_keep_their_traceback(monkeypatch):
    monkeypatch.setattr("cardai.registry.available", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run(["games"])


def test_ctrl_c_reports_the_games_finished_so_far():
    command = [*COMMAND, "match", "tictactoe", "--seats", PAIR, "--games", "3000000", "--record", "g.jsonl"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not any(part.stat().st_size > 1_000_000 for part in Path().glob("g.jsonl.*.part")):
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert running.returncode == 130
    assert "interrupted: these are the games finished until then" in err
    assert "Traceback" not in err
    assert "greedy:open_lines" in out
    found = verify("g.jsonl")
    assert 1000 < found.games < 3_000_000
    assert not found.complete
    assert not list(Path().glob("*.part"))


def test_a_reader_that_leaves_is_no_trouble():
    reading, writing = os.pipe()
    os.close(reading)
    command = [*COMMAND, "complexity", "tictactoe", "--perft", "2"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_game_that_was_refused_loads_once_it_is_mended():
    source = (ROOT / "games/tictactoe/__init__.py").read_text()
    folder = Path("mended_game")
    folder.mkdir()
    (folder / "__init__.py").write_text("from .rules import GAME\n")
    for broken in ("from .part import PART\n1 / 0\n", "GAME = (\n", "GAME = 3\n"):
        (folder / "part.py").write_text("PART = 1\n")
        (folder / "rules.py").write_text(broken)
        with pytest.raises(cardai.CardaiError, match="mended_game"):
            cardai.load("./mended_game")
        assert not [name for name in sys.modules if name.startswith("mended_game")]
    (folder / "rules.py").write_text(source)
    assert cardai.load("./mended_game").name == "tictactoe"
    assert cardai.load("./mended_game") is cardai.load("./mended_game")


def test_a_function_beside_the_command_plays():
    Path("beside.py").write_text("def first(game, world):\n    return game.moves(world)[0]\n")
    command = [
        sys.executable, "-c", "from cardai.cli.main import main; main()", "match", "tictactoe", "--seats",
        "random,python:beside:first", "--games", "4",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
