"""Programs that play over lines of JSON: what they are told, and what becomes of those that break the protocol."""

import ctypes
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import cardai
from cardai.cli.main import run
from cardai.errors import CardaiError
from cardai.measure.bench import run_match
from cardai.playing.agents.outside import WANTS
from cardai.playing.agents.process import _line
from cardai.playing.agents.spec import agent
from cardai.playing.stats.deals import deal_seeds
from cardai.playing.table.one import OneGame

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples/agents"
PYTHON = f"{sys.executable} -I"
GAMES = {name: cardai.load(name) for name in ("tictactoe", "moska", "durak", "hearts", "literature")}
TICTACTOE, HEARTS = GAMES["tictactoe"], GAMES["hearts"]

FAULTS = {
    "dead at once": r"its process has ended \(with exit status 4\)",
    "another version": r'it must greet with \{"cardai":1\}, the version of the protocol, not 2',
    "no greeting": "the version of the protocol, not None",
    "unknown wants": "there is no thing to want 'everything'; there is view, told, moves",
    "endless tables": "tables must be at least 1, not 0",
    "garbage": r"it sent 'bestmove e2e4': it is not JSON",
    "not text": "it is not JSON, since it is not text in UTF-8",
    "no object": r"it sent '\[0\]', which is no JSON object",
    "huge number": "a whole number has more than 21 digits",
    "nested": "it is nested deeper than 64 levels",
    "flood without lines": "it sent a line of more than 1,048,576 bytes",
    "flood of lines": "it sent '{\"move\":0}.*', which nobody asked for",
    "flood of nothing": r"it did not answer within 0\.5 s",
    "hang": r"it did not answer within 0\.5 s",
    "half a line": r"it did not answer within 0\.5 s",
    "death": r"its process has ended \(with exit status 3\)",
    "killed": r"its process has ended \(by signal 9\)",
    "closed output": "it closed its output",
    "closed input": "it closed its input|it did not answer within",
    "too far": r"seat \d, ply \d: it answered \{.*1000\}; a move is a number from 0 to \d",
    "true": r"it answered \{.*True\}; a move is a number",
    "no move": "a move is a number from 0 to",
    "other words": "'castles long'|castles",
    "wrong fields": "which are not the fields of a move of tictactoe",
    "large fields": "a field of its move must be at most",
    "illegal fields": "tictactoe: ",
    "another question": r"it answered question \d+, which does not wait for an answer",
    "twice": "it sent .*, which nobody asked for|it answered .*",
    "worlds without end": "it asked more than 100 times before it answered",
    "too many worlds": "it asked for what it cannot have: worlds must be at most 1000",
    "own error": r"seat \d, ply \d: I resign\\u001b\[31m",
    "children": r"it did not answer within 0\.5 s",
}
"""What a program of tests/hostile.py does, and the sentence about it."""


def hostile(kind: str) -> str:
    seconds = 0.5 if "did not answer" in FAULTS[kind] else 60
    return f"process:{PYTHON} {ROOT / 'tests/hostile.py'} '{kind}'?seconds={seconds}"


def program(place: Path, code: str) -> str:
    """The command of a program in Python that answers each message by `code`: `message` in, `answer` out."""
    lines = "\n".join(f"    {line}" for line in code.splitlines())
    head = "import json, sys\nfor line in sys.stdin:\n    message, answer = json.loads(line), None\n"
    tail = "\n    if answer is not None:\n        print(json.dumps({'id': message['id'], **answer}), flush=True)\n"
    place.write_text(head + lines + tail)
    return f"{PYTHON} {place}"


def noted(log: Path, ends: int = 1) -> list[dict]:
    """The messages that a program has noted in a file, once so many games have ended: it reads the last one later."""
    deadline = time.monotonic() + 10
    while (text := log.read_text()).count('"type":"end"') < ends or not text.endswith("\n"):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("kind", FAULTS)
def test_a_program_that_breaks_the_protocol_is_ended_with_one_sentence(kind, monkeypatch):
    monkeypatch.setattr("cardai.playing.agents.process.SECONDS", 5.0)
    began = time.monotonic()
    with pytest.raises(CardaiError) as caught:
        run_match(TICTACTOE, [hostile(kind), "random"], games=8)
    sentence = str(caught.value)
    assert re.search(FAULTS[kind], sentence), sentence
    assert "\n" not in sentence
    assert len(sentence) < 500
    assert time.monotonic() - began < 20


def test_a_program_that_was_ended_takes_its_children_along(tmp_path):
    with pytest.raises(CardaiError):
        run_match(TICTACTOE, [hostile("children"), "random"], games=2)
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "hostile.py children" not in found


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("./nosuchprogram", "cannot start './nosuchprogram': No such file"),
        (str(ROOT), "cannot start .*: Permission denied"),
        ("", "a program is named process:COMMAND"),
        ("'open", "is no command"),
        ("true?seconds=0", "leaves no time"),
        ("true?seconds=soon", "seconds='soon' is not a number"),
        ("true?speed=1", "takes no option 'speed'"),
    ],
)
def test_a_command_that_cannot_be_one_is_refused(command, words):
    with pytest.raises(CardaiError, match=words):
        agent(TICTACTOE, f"process:{command}")


def test_a_fault_ends_a_command_with_exit_code_2_and_no_file(tmp_path, capsys):
    file = tmp_path / "games.jsonl"
    seats = f"{hostile('too far')},random"
    assert run(["match", "tictactoe", "--games", "4", "--seats", seats, "--record", str(file)]) == 2
    assert "a move is a number" in capsys.readouterr().err
    assert not file.exists()


def test_a_program_is_told_its_games_as_its_seats_may_read_them(tmp_path):
    """All that it is told at a table is what `OneGame` tells that seat, move by move, and then the end."""
    log = tmp_path / "log"
    command = program(
        tmp_path / "noting.py",
        f"with open({str(log)!r}, 'a') as file:\n    file.write(line)\n"
        "answer = {'hello': {'cardai': 1}, 'move': {'move': 0}}.get(message['type'])",
    )
    mine = agent(HEARTS, f"process:{command}")
    results = cardai.play(
        HEARTS, [mine, agent(HEARTS, "duck")], np.array([[1, 0, 1, 1]]), np.array([7]), variant="paper", record=True
    )
    hello, begin, *moves, end = noted(log)
    assert (hello["game"], hello["cardai"], hello["pieces"][0]) == ("hearts", 1, "2C")
    assert hello["rules"].startswith("# ")
    assert (begin["seat"], begin["seats"], begin["variant"], begin["names"][3]) == (1, 4, "paper", "p3")
    assert begin["options"]["must_break"] in (0, 1)
    again = OneGame(HEARTS, [None] * 4, 7, "paper")
    told = 0
    for move in results.moves[0]:
        if again.turn == 1:
            asked = moves.pop(0)
            assert [(one["seat"], one["text"]) for one in asked["told"]] == again.history(1, told)
            assert asked["view"] == again.view(1)
            legal, _ = again.legal_moves()
            assert asked["moves"] == [again.spell(one) for one in legal]
            assert asked["count"] == len(legal) == len(asked["picks"])
            told = again.ply
        again.play(move)
    assert moves == []
    assert [(one["seat"], one["text"]) for one in end["told"]] == again.history(1, told)
    assert end["scores"] == again.scores().tolist()
    assert end["ending"] == (again.ending() or "")


def test_a_program_at_one_table_is_told_the_same_and_of_moves_that_are_taken_back(tmp_path):
    log = tmp_path / "log"
    command = program(
        tmp_path / "noting.py",
        f"with open({str(log)!r}, 'a') as file:\n    file.write(line)\n"
        "answer = {'hello': {'cardai': 1, 'wants': ['told']}, 'move': {'move': 0}}.get(message['type'])",
    )
    table = OneGame(TICTACTOE, [agent(TICTACTOE, f"process:{command}"), None], 1)
    table.step()
    table.play(table.legal_moves()[0][0])
    table.step()
    table.rewind(1)
    while not table.is_over:
        _ = table.step() or table.play(table.legal_moves()[0][-1])
    kinds = [(message["type"], message.get("table")) for message in noted(log, 2)]
    assert kinds[:5] == [("hello", None), ("begin", 1), ("move", 1), ("move", 1), ("end", 1)]
    assert kinds[5:7] == [("begin", 2), ("move", 2)]
    assert kinds[-1] == ("end", 2)


def test_a_program_has_worlds_of_its_seat_on_request(tmp_path):
    command = program(
        tmp_path / "worlds.py",
        "if message['type'] == 'hello':\n    answer = {'cardai': 1, 'wants': ['view', 'moves']}\n"
        "if message['type'] == 'move':\n    own, seat = message['moves'], message['seat']\n    answer = {'worlds': 3}\n"
        "if message['type'] == 'worlds':\n"
        "    hands = [world['places'][seat] for world in message['worlds']]\n"
        "    others = {str(world['places']) for world in message['worlds']}\n"
        "    ok = len(hands) == 3 and hands[0] == hands[1] == hands[2] and len(others) == 3\n"
        "    answer = {'move': 0} if ok else {'error': 'these are no worlds'}",
    )
    mine = agent(HEARTS, f"process:{command}")
    table = OneGame(HEARTS, [mine, *[agent(HEARTS, "duck")] * 3], 3)
    for _ in range(12):
        table.step()
    assert table.ply == 12


def test_one_table_at_a_time_if_a_program_wants_that(tmp_path):
    log = tmp_path / "log"
    command = program(
        tmp_path / "one.py",
        f"with open({str(log)!r}, 'a') as file:\n    file.write(line)\n"
        "answer = {'hello': {'cardai': 1, 'tables': 1}, 'move': {'move': 0}}.get(message['type'])",
    )
    run_match(TICTACTOE, [f"process:{command}", "random"], games=6)
    kinds = " ".join(message["type"] for message in noted(log, 6))
    assert re.fullmatch(r"hello( begin( move)+ end){6}", kinds)


def test_a_move_is_its_number_its_words_or_its_fields(tmp_path):
    answers = ["message['moves'].index(words)", "words", "['abc'.index(words[0]) + 3 * (3 - int(words[1]))]"]
    played = []
    for i, form in enumerate(answers):
        code = (
            "if message['type'] == 'hello':\n    answer = {'cardai': 1}\n"
            f"if message['type'] == 'move':\n    words = message['moves'][-1]\n    answer = {{'move': {form}}}"
        )
        mine = agent(TICTACTOE, f"process:{program(tmp_path / f'form{i}.py', code)}")
        table = OneGame(TICTACTOE, [mine, mine], 1)
        table.run()
        played.append(table.moves.tobytes())
    assert len(set(played)) == 1


def test_an_evaluator_may_be_a_program(tmp_path):
    code = """\
import json, struct, sys
for line in sys.stdin.buffer:
    message = json.loads(line)
    answer, content = {"id": message["id"]}, b""
    if message["type"] == "hello":
        answer |= {"cardai": 1, "name": "by hand", "encoder": message["encoders"][0]}
    else:
        rows = sys.stdin.buffer.read(message["bytes"])
        width = message["width"]
        sums = [sum(rows[i : i + width]) / 255 / width for i in range(0, len(rows), width)]
        content = struct.pack(f"<{len(sums)}d", *sums)
        answer["bytes"] = len(content)
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\\n" + content)
    sys.stdout.buffer.flush()
"""
    (tmp_path / "judge.py").write_text(code)
    mine = agent(TICTACTOE, f"greedy:process:{PYTHON} {tmp_path / 'judge.py'}")
    same = cardai.Greedy(cardai.evaluator(TICTACTOE, lambda rows: rows.sum(axis=1) / (255.0 * rows.shape[1])))
    assert mine.is_foreign
    assert mine.strategy.is_isolated
    played = []
    for one in (mine, agent(TICTACTOE, same)):
        lineups = np.tile([0, 1], (20, 1))
        results = cardai.play(TICTACTOE, [one, agent(TICTACTOE, "random")], lineups, deal_seeds(1, 20), record=True)
        played.append(np.concatenate(results.moves).tobytes())
    assert played[0] == played[1]


LANGUAGES = {
    "python": f"{PYTHON} {EXAMPLES / 'plain.py'}",
    "javascript": f"node {EXAMPLES / 'player.js'}",
    "shell": f"sh {EXAMPLES / 'player.sh'}",
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_the_examples_play_all_games(language, game):
    if not shutil.which(LANGUAGES[language].split()[0]):
        pytest.skip(f"{language} is not installed")
    mine = agent(game, f"process:{LANGUAGES[language]}")
    seats = game.default_seats
    lineups = np.ones((4, seats), int)
    lineups[np.arange(4), np.arange(4) % seats] = 0
    results = cardai.play(game, [mine, agent(game, "random")], lineups, deal_seeds(3, 4))
    assert (results.finished | results.endless).all()
    assert results.finished.any()


def test_the_examples_are_short():
    files = [place for place in EXAMPLES.iterdir() if place.is_file()]
    assert len(files) == 4
    assert all(len(file.read_text().splitlines()) < 40 for file in files)


class Model(http.server.BaseHTTPRequestHandler):
    """A stand-in for a language model: answers each prompt with its last move."""

    def do_POST(self):
        prompt = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][0]["content"]
        assert "Your moves:" in prompt
        number = re.findall(r"^(\d+): ", prompt, re.MULTILINE)[-1]
        content = json.dumps({"choices": [{"message": {"content": f"I think of 3 cards. {number}"}}]}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        pass


@pytest.mark.parametrize("through", ["command", "url"])
def test_a_language_model_plays_through_the_bridge(through, tmp_path):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        target = f"http://127.0.0.1:{server.server_port}/v1"
        if through == "command":
            target = 'grep -E "^[0-9]+: " | tail -1 | cut -d: -f1'
        command = f"{PYTHON} {EXAMPLES / 'language_model.py'} '{target}'"
        mine = agent(TICTACTOE, f"process:{command}")
        table = OneGame(TICTACTOE, [mine, agent(TICTACTOE, "random")], 2)
        while not table.is_over:
            legal = table.legal_moves()[0] if table.turn == 0 else None
            table.step()
            assert legal is None or table.moves[-1] == legal[-1]
    finally:
        server.shutdown()
        server.server_close()


def test_the_memory_of_this_process_is_closed_to_others():
    agent(TICTACTOE, f"process:{LANGUAGES['shell']}")
    if sys.platform == "linux":
        assert ctypes.CDLL(None).prctl(3, 0, 0, 0, 0) == 0  # PR_GET_DUMPABLE
        assert Path(f"/proc/{os.getpid()}/mem").stat().st_uid == 0


def test_each_place_of_a_program_has_a_process_of_its_own(tmp_path):
    log = tmp_path / "log"
    command = program(
        tmp_path / "places.py",
        f"import os\nwith open({str(log)!r}, 'a') as file:\n"
        "    file.write(f\"{os.getpid()} {message.get('seat')} {message.get('table')}\\n\")\n"
        "answer = {'hello': {'cardai': 1, 'wants': ['count', 'told']}, 'move': {'move': 0}}.get(message['type'])",
    )
    report = run_match(GAMES["durak"], [f"process:{command}", f"process:{command}", "random"], games=6)
    assert any("several places at a table" in reason for reason in report.unsealed)
    seats = {}
    for line in log.read_text().splitlines():
        process, seat, table = line.split()
        if table != "None":
            seats.setdefault((process, table), set()).add(seat)
    assert all(len(one - {"None"}) <= 1 for one in seats.values())
    assert len({process for process, _ in seats}) == 2


def test_the_page_of_the_protocol_names_every_message_and_field():
    page = (ROOT / "docs/protocol.md").read_text()
    for name in (*WANTS, "hello", "begin", "move", "worlds", "end", "moves", "score", "fits"):
        assert f"`{name}`" in page or f'"{name}"' in page, name
    assert _line({"type": "end"}) == b'{"type":"end"}\n'


def test_a_transcript_is_what_a_program_in_that_seat_is_sent(tmp_path, capsys):
    log, games, out = tmp_path / "log", tmp_path / "games.jsonl", tmp_path / "seen.jsonl"
    command = program(
        tmp_path / "noting.py",
        f"with open({str(log)!r}, 'a') as file:\n    file.write(line)\n"
        "answer = {'hello': {'cardai': 1}, 'move': {'move': 0}}.get(message['type'])",
    )
    line_up = [f"process:{command}", "duck", "duck", "duck"]
    run_match(HEARTS, line_up, games=1, rotate=False, variant="paper_hold", record=games)
    assert run(["export", "hearts", str(games), "--seat", "0", "--transcript", str(out)]) == 0
    assert "13 decisions" in capsys.readouterr().out
    seen = [json.loads(line) for line in out.read_text().splitlines()]
    sent = [message for message in noted(log) if message["type"] == "move"]
    assert len(seen) == len(sent) == 13
    for mine, theirs in zip(seen, sent, strict=True):
        for name in ("seat", "ply", "told", "view", "count", "moves", "picks"):
            assert mine[name] == theirs[name]
        assert mine["move"] == theirs["moves"][0]
    assert {one["score"] for one in seen} == {noted(log)[-1]["scores"][0]}
    assert "seed" not in seen[0]
    assert run(["export", "hearts", str(games), "--transcript", str(out)]) == 2
    assert "exists; --overwrite replaces it" in capsys.readouterr().err
    assert run(["export", "hearts", str(games), "--transcript", str(out), "--overwrite"]) == 0
    assert len(out.read_text().splitlines()) == 52
    assert run(["export", "hearts", str(games), "--seat", "4", "--transcript", str(tmp_path / "none")]) == 2
    assert "seat must be at most 3" in capsys.readouterr().err
    content = games.read_bytes()
    games.write_bytes(content[:-40])
    assert run(["export", "hearts", str(games), "--transcript", str(tmp_path / "none")]) == 2
    assert not (tmp_path / "none").exists()


def test_where_programs_cannot_run_all_else_does_and_they_are_refused():
    code = (
        "import sys\n"
        "import cardai, cardai.playing.table.many\n"
        "game = cardai.load('tictactoe')\n"
        "print(cardai.agent(game, 'random').spec)\n"
        "sys.platform = 'win32'\n"
        "try: cardai.agent(game, 'process:./bot')\n"
        "except cardai.CardaiError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    said = "agent 'process:./bot': programs and isolated agents do not run on Windows"
    assert (done.stdout.splitlines(), done.stderr) == (["random", said], "")
