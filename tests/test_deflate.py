"""What is packed in compiled code is unpacked by gzip and zlib, whatever it holds."""

import base64
import gzip
import io
import json
import random
import zlib

import numpy as np
import pytest

import cardai
from cardai.data.lines import LineMaker, checksum, lines_of, packed_moves, packed_numbers, unpacked_numbers
from cardai.data.record import unpack
from cardai.game import move_dtype
from cardai.kernel.deflate import Gzip, code_for

MOVE = move_dtype("kind", "cards")
WORDS = [0, 1, 127, 128, 129, -1, -2, 2**62, 2**62 + 1, 2**63 - 1, -(2**63), 255, 1 << 51, 0b1011 << 40]


def packed(*contents: bytes) -> bytes:
    file = io.BytesIO()
    packer = Gzip(file)
    for content in contents:
        packer.write(content)
    packer.close()
    return file.getvalue()


def texts() -> dict[str, bytes]:
    rng = random.Random(3)
    lines = b"".join(b'{"seed":%d,"moves":"%b"}\n' % (i, base64.b64encode(rng.randbytes(99))) for i in range(3000))
    return {
        "nothing": b"",
        "one byte": b"\xff",
        "every byte": bytes(range(256)) * 3,
        "noise, more than a block": rng.randbytes(100_000),
        "lines": lines,
        "one long repeat": b"," * 70_000,
        "a repeat as far back as can be": b",abcdefgh" + rng.randbytes((1 << 15) - 20) + b",abcdefgh",
        "repeats of all lengths": b"".join(b":" * n + b"x" for n in range(600)),
    }


@pytest.mark.parametrize("name", texts())
def test_gzip_unpacks_what_was_packed(name):
    content = texts()[name]
    assert gzip.decompress(packed(content)) == content


def test_the_packed_bytes_depend_on_the_content_only():
    content = texts()["lines"]
    cuts = sorted(random.Random(5).sample(range(len(content)), 40))
    pieces = [content[first:end] for first, end in zip([0, *cuts], [*cuts, len(content)], strict=True)]
    assert packed(*pieces) == packed(content)


def test_lines_become_about_as_short_as_by_zlib():
    content = texts()["lines"]
    assert len(packed(content)) < 1.03 * len(zlib.compress(content, 6))


def moves_of(words: list[int]) -> np.ndarray:
    return np.array([*zip(words[::2], words[1::2], strict=True)], MOVE)


@pytest.mark.parametrize("sample", [[], [0, 0, 1, 6, 6, 6, 6], WORDS])
def test_any_moves_survive_whatever_moves_the_code_was_made_for(sample):
    """Long games take the code that was made, short ones that of the standard: both can write every byte."""
    code = code_for([packed_numbers(moves_of(sample * 2))])
    plies = np.array([0, 1, len(WORDS), 50 * len(WORDS)])
    logs = np.zeros((4, plies.max()), MOVE)
    for slot, count in enumerate(plies.tolist()):
        logs[slot, :count] = moves_of((WORDS * 100)[: 2 * count])
    scores = np.array([[0.0, 1.0], [1 / 3, 2 / 3], [1e-9, 0.1], [1.0, 1.0]])
    seeds, lineups = np.array([0, 7, 2**63, 2**64 - 1], np.uint64), np.array([[0, 1], [1, 0], [12, 3], [0, 0]])
    bodies = LineMaker(code).bodies(seeds, lineups, np.array([3, 2, 1, 0]), plies[::-1], logs, scores)
    for game, line in enumerate(lines_of(bodies, 9).splitlines(keepends=True)):
        content = json.loads(line)
        slot = 3 - game
        assert (content["number"], content["seed"]) == (9 + game, int(seeds[game]))
        assert (content["lineup"], content["scores"]) == (lineups[game].tolist(), scores[game].tolist())
        assert content["sum"].encode() == checksum(line[: line.index(b',"sum"')])
        unpacked = unpack(content["moves"], MOVE, content["plies"])
        assert unpacked.tolist() == logs[slot, : plies[slot]].tolist()


def test_moves_become_short_in_a_code_for_their_game():
    moska = cardai.load("moska")
    agents, lineups = [cardai.agent(moska, "random")], np.zeros((8, 4), int)
    games = cardai.play(moska, agents, lineups, np.arange(8), record=True).moves
    moves = games[7]
    assert moves is not None
    code = code_for([packed_numbers(game) for game in games[:7] if game is not None])
    body = LineMaker(code).bodies(
        np.zeros(1, np.uint64), np.zeros((1, 4), int), np.zeros(1, int), np.array([len(moves)]), moves[None],
        np.zeros((1, 4)),
    )[0]  # fmt: skip
    assert len(body) < 0.8 * len(packed_moves(moves))


@pytest.mark.parametrize(
    "content", [b"", b"\x01", b"\x01\x02\x03", b"\xc9" + bytes(9), b"\xc0\x01", b"\xc2\x01", b"\xbf\x01"]
)
def test_other_bytes_are_not_moves(content):
    assert unpacked_numbers(content, MOVE, 1) is None
