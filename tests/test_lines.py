"""The moves of games become few bytes, and are read back whatever numbers they hold."""

import gzip

import numpy as np
import pytest

import cardai
from cardai.game import move_dtype
from cardai.records.lines import fields_of_moves, gzipped, packed_moves, unpacked_moves

MOVE = move_dtype("kind", "cards")
WORDS = [0, 1, 127, 128, 129, -1, -2, 2**62, 2**62 + 1, 2**63 - 1, -(2**63), 255, 1 << 51, 0b1011 << 40]


def test_the_moves_of_a_block_come_back_in_order():
    plies = np.array([0, 1, len(WORDS), 50 * len(WORDS)])
    logs = np.zeros((5, plies.max()), MOVE)
    for slot, count in enumerate(plies.tolist()):
        logs[slot, :count] = [*zip((WORDS * 100)[:count], (WORDS * 100)[count : 2 * count], strict=True)]
    slots = np.array([3, 2, 1, 0])
    text = packed_moves(fields_of_moves(logs, slots, plies[slots]))
    played = np.concatenate([logs[slot, : plies[slot]] for slot in slots])
    assert unpacked_moves(text, MOVE, plies.sum()).tolist() == played.tolist()


def test_moves_of_moska_take_a_byte_and_a_half_each():
    moska = cardai.load("moska")
    games = cardai.play(
        moska, [cardai.agent(moska, "random")], np.zeros((64, 4), int), np.arange(64), record=True
    ).moves
    moves = np.concatenate([game for game in games if game is not None])
    text = packed_moves(fields_of_moves(moves[None], np.zeros(1, int), np.array([len(moves)])))
    assert len(text) < 2 * len(moves)
    assert len(gzipped(b'{"moves":"' + text.encode())) < 1.5 * len(moves)


@pytest.mark.parametrize("line", [b"", b"{}\n", b'{"seeds":[7],"moves":"' + b"eJxz" * 900 + b'","sum":"0"}\n'])
def test_gzip_unpacks_a_line(line):
    assert gzip.decompress(gzipped(line)) == line


@pytest.mark.parametrize(
    "content", [b"", b"\x01", b"\x01\x02\x03", b"\xc9" + bytes(9), b"\xc0\x01", b"\xc2\x01", b"\xbf\x01"]
)
def test_other_bytes_are_not_moves(content):
    text = packed_moves([(content, b"")])
    with pytest.raises(ValueError, match="do not unpack to 1 plies"):
        unpacked_moves(text, MOVE, 1)
