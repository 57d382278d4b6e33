"""Checkpoints: written whole or not at all, the last two kept, anything wrong with them said in one sentence."""

import errno
import os
import shutil

import numpy as np
import pytest
from safetensors.numpy import save as bytes_of

from cardai.errors import CardaiError
from cardai.evaluators.training import checkpoint
from cardai.evaluators.training.checkpoint import Checkpoint, listed, newest, save
from cardai.files import writing

RUN = {"config": "abc", "data": "def"}


def made(step, run=RUN):
    tensors = {
        "params/kernel": np.arange(12, dtype=np.float32).reshape(3, 4) + step,
        "rest/count": np.array(step, np.uint32),
        "empty": np.zeros((0, 3), np.float32),
    }
    return Checkpoint(step, run, tensors, {"loss": 0.1 + 0.2, "history": [{"step": step}]})


def test_what_is_read_is_what_was_written(tmp_path):
    save(tmp_path, made(7))
    found = newest(tmp_path, RUN)
    assert found is not None
    assert (found.step, found.run, found.status) == (7, RUN, made(7).status)
    assert found.tensors.keys() == made(7).tensors.keys()
    for name, value in made(7).tensors.items():
        np.testing.assert_array_equal(found.tensors[name], value)
        assert found.tensors[name].dtype == value.dtype


def test_the_last_two_are_kept(tmp_path):
    for step in (1, 20, 300):
        save(tmp_path, made(step))
    assert [place.name for place in listed(tmp_path)] == [
        "checkpoint-000000020.safetensors", "checkpoint-000000300.safetensors"
    ]  # fmt: skip
    assert newest(tmp_path, RUN).step == 300
    assert len(list(tmp_path.iterdir())) == 2


def test_a_folder_without_checkpoints_has_none(tmp_path):
    assert newest(tmp_path, RUN) is None
    assert newest(tmp_path / "nowhere", RUN) is None


def test_a_checkpoint_of_another_run_is_refused_by_what_differs(tmp_path):
    save(tmp_path, made(1))
    with pytest.raises(
        CardaiError, match=r"checkpoint-000000001\.safetensors is a checkpoint of another run: its data"
    ):
        newest(tmp_path, RUN | {"data": "other"})


def changed(content, place):
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda content: changed(content, len(content) - 3),
        lambda content: changed(content, content.index(b"loss")),
        lambda content: (2**62).to_bytes(8, "little") + content[8:],
        lambda content: bytes_of({"a": np.zeros(3)}, {"cardai": "[" * 100_000}),
        lambda content: bytes_of({"a": np.zeros(3)}),
    ],
    ids=["half", "weight", "fact", "header", "deep", "foreign"],
)
def test_a_damaged_newest_one_is_named_with_the_sound_one_and_the_way_on(tmp_path, damage):
    save(tmp_path, made(1))
    place = save(tmp_path, made(2))
    place.write_bytes(damage(place.read_bytes()))
    with pytest.raises(CardaiError, match=r"-000000002\.safetensors is damaged.*-000000001.* is sound") as caught:
        newest(tmp_path, RUN)
    assert "delete checkpoint-000000002.safetensors" in str(caught.value)
    assert "\n" not in str(caught.value)
    place.unlink()
    assert newest(tmp_path, RUN).step == 1


def test_when_no_checkpoint_is_sound_it_says_so(tmp_path):
    for step in (1, 2):
        save(tmp_path, made(step)).write_bytes(b"nothing")
    with pytest.raises(CardaiError, match="no older checkpoint is sound"):
        newest(tmp_path, RUN)


def test_a_full_disk_is_one_sentence_and_the_last_good_one_stays(tmp_path, monkeypatch):
    save(tmp_path, made(1))

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(writing.os, "fsync", full)
    with pytest.raises(CardaiError, match=r"the disk is full; checkpoint-000000001\.safetensors is kept"):
        save(tmp_path, made(2))
    monkeypatch.undo()
    assert [place.name for place in tmp_path.iterdir()] == ["checkpoint-000000001.safetensors"]
    assert newest(tmp_path, RUN).step == 1


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CardaiError, match=r"cannot write .*file/checkpoint"):
        save(tmp_path / "file", made(1))


def test_clearing_removes_checkpoints_and_leftovers_and_nothing_else(tmp_path):
    save(tmp_path, made(1))
    shutil.copy(listed(tmp_path)[0], tmp_path / ".checkpoint-000000002.safetensors.77.part")
    (tmp_path / "mine.safetensors").write_text("")
    checkpoint.clear(tmp_path)
    assert [place.name for place in tmp_path.iterdir()] == ["mine.safetensors"]
