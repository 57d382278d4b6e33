"""A file that something changed on its way, or that is another file, is refused with the cause in one sentence."""

import gzip
import io
import lzma
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from flax import serialization

import cardai
from cardai.cli.main import run
from cardai.files.kind import TENSORS, foreign_kind
from cardai.files.reading import parse_json, read_json, read_toml
from cardai.measure.history import read_history
from cardai.records import record
from cardai.records.record import read, verify

ROOT = Path(__file__).parent.parent
MODEL = ROOT / "evaluators/models/tictactoe/mlp.safetensors"
PAGE = b"\n<!DOCTYPE html><html><body>Sign in to see this file</body></html>\n" * 40


@pytest.fixture(scope="module")
def games(tmp_path_factory) -> bytes:
    place = tmp_path_factory.mktemp("games") / "g.jsonl"
    game = cardai.load("tictactoe")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record, "_BLOCK", 1)  # each game gets a line
        cardai.match(game, ["random", "random"], games=6, record=place)
    return place.read_bytes()


CHANGES = {
    "CR LF": (lambda games: games.replace(b"\n", b"\r\n"), "line 1: the line ends in CR LF, as on Windows"),
    "CR LF, packed": (lambda games: gzip.compress(games.replace(b"\n", b"\r\n")), "line 1: the line ends in CR LF"),
    "CR LF in one line": (lambda games: games.replace(b"\n", b"\r\n").replace(b"\r\n", b"\n", 2), "line 3: .*CR LF"),
    "BOM": (lambda games: b"\xef\xbb\xbf" + games, r"is not a record file: it begins with a byte order mark \(BOM\)"),
    "an empty line at the end": (lambda games: games + b"\n", "line 9: the line is empty: .*an editor, added"),
    "blanks at the end": (lambda games: games + b"  \n", "line 9: the line is empty"),
    "an empty line within": (lambda games: games.replace(b"\n", b"\n\n", 1), "line 2: the line is empty"),
    "no last line break": (lambda games: games[:-1], "line 8: the line is whole, but its line break is missing"),
    "a last line cut off": (lambda games: games[:-9], "line 8: the line is cut off: the file is truncated"),
    "lines missing": (lambda games: b"".join(games.splitlines(True)[:4]), "is truncated: it ends after line 4"),
    "UTF-16": (lambda games: games.decode().encode("utf-16"), "is not a record file: it is text in UTF-16"),
    "UTF-16 without a mark": (lambda games: games.decode().encode("utf-16-le"), "it is text in UTF-16"),
    "two files": (lambda games: games + games, "line 9: another record file begins here: files were put one after"),
    "two packed files": (lambda games: 2 * gzip.compress(games), "line 9: another record file begins here"),
    "two files, the first cut": (
        lambda games: b"".join(games.splitlines(True)[:-1]) + games,
        "line 8: another record file begins here",
    ),
    "packed twice": (lambda games: gzip.compress(gzip.compress(games)), "it is compressed by gzip"),
    "packed and cut": (lambda games: gzip.compress(games)[:-9], "cannot be unpacked"),
    "xz": (lzma.compress, "it is compressed by xz"),
    "a page": (lambda _: PAGE, "it is a page of a web site"),
    "a pointer": (lambda _: b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "a pointer of Git LFS"),
    "nothing": (lambda _: b"", "is not a record file: it is empty"),
    "blanks": (lambda _: b"\n\n", "it holds nothing but blanks"),
    "a model": (lambda _: MODEL.read_bytes(), r"it holds tensors \(safetensors\)"),
    "a database": (lambda _: b"SQLite format 3\0" + bytes(99), "it is a database of SQLite"),
    "edited": (lambda games: games.replace(b'"number":3', b'"number":4'), "line 5: .*it was edited or damaged"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_record_file_is_refused_with_the_cause(games, tmp_path, name):
    change, why = CHANGES[name]
    place = tmp_path / "g.jsonl"
    place.write_bytes(change(games))
    with pytest.raises(cardai.CardaiError, match=why):
        verify(place)
    with pytest.raises(cardai.CardaiError, match=why):
        list(read(place))


def test_a_record_file_that_is_packed_under_a_plain_name_is_read(games, tmp_path):
    place = tmp_path / "g.jsonl"
    place.write_bytes(gzip.compress(games))
    assert verify(place).games == 6


FOREIGN = {
    "BOM": b"\xef\xbb\xbf",
    "UTF-16": b"\xff\xfe",
    "gzip": b"\x1f\x8b",
    "HTML": b"<html>",
    "Git LFS": b"version https://git-lfs.github.com/spec/v1\n",
    "ZIP": b"PK\x03\x04",
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_the_cause_is_named_wherever_a_file_is_read(tmp_path, monkeypatch, kind, capsys):
    monkeypatch.chdir(tmp_path)
    content = FOREIGN[kind] + b"seed = 1\n" * 20
    for name in ("c.toml", "c.json", "h.jsonl", "m.safetensors", "moves.txt"):
        Path(name).write_bytes(content)
    for reader, name in ((read_toml, "c.toml"), (read_json, "c.json")):
        with pytest.raises(cardai.CardaiError, match=kind):
            reader(name)
    if kind != "UTF-16" and kind != "gzip":  # they are not text at all
        with pytest.raises(cardai.CardaiError, match=kind):
            read_history(Path("h.jsonl"))
    for line in (
        "play tictactoe --moves-from moves.txt",
        "match tictactoe --seats random,greedy:m.safetensors --games 2",
        "train c.toml",
        "replay c.json",
    ):
        if line.startswith("replay") and kind == "gzip":
            continue  # a record file may be packed
        assert run(line.split()) == 2
        err = capsys.readouterr().err
        assert kind in err, err
        assert err.count("\n") == 1


def zipped(name: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        file.writestr(name, bytes(200))
    return content.getvalue()


def npz() -> bytes:
    content = io.BytesIO()
    np.savez(content, weights=np.ones(9))
    return content.getvalue()


ONNX = b"\x08\x0a\x12\x06cardai\x1a\x050.1.0:\x84\x02\n\x10"  # as `cardai export --onnx` writes it
OTHERS = {
    "ONNX": (ONNX, "network in ONNX, which cardai writes but does not read"),
    "PyTorch": (zipped("model/data.pkl"), r"network of PyTorch \(.pt\)"),
    "TorchScript": (zipped("model/.format_version"), r"network of PyTorch \(.pt\)"),
    "an old PyTorch": (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.", "pickle of Python"),
    "pickle": (pickle.dumps({"weights": np.ones(9)}), "pickle of Python"),
    "npz": (npz(), r"arrays of NumPy \(npz\)"),
    "npy": (b"\x93NUMPY\x01\x00v\x00{'descr': '<f8'}", r"array of NumPy \(npy\)"),
    "HDF5": (b"\x89HDF\r\n\x1a\n\x00\x00\x00\x00\x00\x08\x08\x00", "HDF5"),
    "Flax": (serialization.to_bytes({"params": {"kernel": np.ones(9)}}), "msgpack, as Flax"),
    "Flax, many": (serialization.to_bytes({f"layer_{i}": np.ones(9) for i in range(40)}), "msgpack, as Flax"),
    "TensorFlow Lite": (b"\x1c\x00\x00\x00TFL3\x14\x00\x20\x00", "TensorFlow Lite"),
    "GGUF": (b"GGUF\x03\x00\x00\x00\x10\x01", r"language model \(GGUF\)"),
    "Parquet": (b"PAR1\x15\x04\x15\x10\x15\x14", r"table \(Parquet\)"),
    "Arrow": (b"ARROW1\x00\x00\xff\xff\xff\xff", r"table \(Arrow\)"),
    "tar": (b"model.bin" + bytes(248) + b"ustar\x0000" + bytes(200), "tar archive"),
    "zip": (zipped("notes.txt"), "ZIP archive"),
    "gzip": (gzip.compress(b"weights" * 9), "compressed by gzip"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_format_of_others_is_named_where_a_model_a_policy_or_games_are_expected(tmp_path, name):
    place = tmp_path / "theirs"
    content, kind = OTHERS[name]
    place.write_bytes(content + bytes(100))
    game = cardai.load("tictactoe")
    for spec in (f"greedy:{place}", f"policy:{place}"):
        with pytest.raises(cardai.CardaiError, match=f"is not a sound cardai (model|policy): it (is|holds) .*{kind}"):
            cardai.agent(game, spec)
    if name != "gzip":  # games may be packed
        with pytest.raises(cardai.CardaiError, match=kind):
            verify(place)


@pytest.mark.parametrize(
    ("text", "kind"), [('{"a": 1}', "it is JSON"), ("\n[1, 2, 3, 4]", "it is JSON"), ("ä" * 999, "it is text")]
)
def test_a_text_is_no_model(tmp_path, text, kind):
    place = tmp_path / "theirs"
    place.write_text(text, "utf-8")
    with pytest.raises(cardai.CardaiError, match=f"is not a sound cardai model: {kind}$"):
        cardai.agent(cardai.load("tictactoe"), f"greedy:{place}")


@pytest.mark.parametrize("length", [0x0280, 0x1208, 0x0481, 0x12_0108])
def test_the_length_that_tensors_begin_with_is_not_taken_for_another_format(length):
    assert foreign_kind(length.to_bytes(8, "little") + b'{"__metadata__":') == TENSORS


def test_recorded_games_are_no_model(games, tmp_path):
    place = tmp_path / "m.safetensors"
    place.write_bytes(games)
    with pytest.raises(cardai.CardaiError, match="it holds recorded games"):
        cardai.agent(cardai.load("tictactoe"), f"greedy:{place}")


def test_a_history_with_an_empty_line_says_so(tmp_path):
    place = tmp_path / "h.jsonl"
    place.write_text("\n\n")
    with pytest.raises(cardai.CardaiError, match="nothing but blanks"):
        read_history(place)


def test_sound_files_are_of_no_foreign_kind(games):
    for file in [*ROOT.glob("*/*.toml"), *ROOT.glob("report/*.json")][:30]:
        assert foreign_kind(file.read_bytes()) == "", file
    assert parse_json(b'{"a": 1}\r\n') == {"a": 1}
    assert "recorded games" in foreign_kind(games)
