"""Model files: what is saved comes back, what does not fit is refused by name, and hostile files do no harm."""

import json
import subprocess
import sys

import numpy as np
import pytest
from flax import nnx

from cardai.errors import CardaiError
from cardai.evaluators import model
from cardai.evaluators.bodies.build import build
from cardai.evaluators.bodies.options import BODIES
from cardai.evaluators.model import Model, find, known, load
from cardai.evaluators.network_file import layout_fingerprint, tensors_of
from cardai.files import writing
from cardai.files.tensors import digested, undigested
from cardai.game import PerspectiveEncoder, Segment
from cardai.registry import load as load_game

SMALL = {
    "mlp": {"hidden": [6, 5], "dropout": 0.5},
    "cnn": {"channels": [2, 3], "dense": [4], "batch_norm": True},
    "cnn_flat": {"channels": [2], "dense": [4]},
    "linear": {},
}


@pytest.fixture(scope="module")
def game():
    return load_game("tictactoe")


def rows(count, seed=0):
    return np.random.default_rng(seed).integers(0, 2, (count, 27)).astype(np.uint8)


@nnx.jit
def forward(module, some):
    return module(some)


def made(game, body="mlp", seed=0, **more):
    module = build(body, SMALL[body], game.encoder().layout(2), seed)
    forward(module, rows(50, seed=1))  # so that there are running statistics
    return Model.of(game, module, body=body, body_options=SMALL[body], moment="before_draw", **more)


@pytest.fixture(scope="module")
def sound(game, tmp_path_factory):
    place = tmp_path_factory.mktemp("sound") / "model.safetensors"
    made(game, about="a small one", metrics={"bce": 0.5}, seconds=1.5, command="cardai train x.toml").save(place)
    return place


def taken_apart(place):
    content = place.read_bytes()
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def put_together(place, header, data):
    place.write_bytes(redigested(json.dumps(header).encode(), data))
    return place


def joined(header, data):
    return len(header).to_bytes(8, "little") + header + data


def redigested(header, data):
    return digested(undigested(joined(header, data)))


def with_facts(place, source, **changes):
    header, data = taken_apart(source)
    facts = json.loads(header["__metadata__"]["cardai"]) | changes
    header["__metadata__"]["cardai"] = json.dumps({name: fact for name, fact in facts.items() if fact is not ...})
    return put_together(place, header, data)


@pytest.mark.parametrize("body", BODIES)
def test_what_is_saved_comes_back_to_the_bit(game, body, tmp_path):
    saved = made(game, body)
    saved.save(tmp_path / "one.safetensors")
    loaded = load(tmp_path / "one.safetensors")
    assert loaded.metadata == saved.metadata
    wanted, found = tensors_of(saved.module), tensors_of(loaded.module)
    assert wanted.keys() == found.keys()
    assert all(np.array_equal(found[name], wanted[name]) for name in wanted)
    assert any(name.endswith("variance") for name in wanted)
    assert np.array_equal(saved.score(rows(70)), loaded.score(rows(70)))
    assert [file.name for file in tmp_path.iterdir()] == ["one.safetensors"]


def test_the_file_is_safetensors_with_the_facts_as_json(sound, game):
    from safetensors import safe_open

    with safe_open(sound, "numpy") as file:
        said = json.loads(file.metadata()["cardai"])
    assert (said["game"], said["game_version"], said["variant"]) == ("tictactoe", game.version, "standard")
    assert (said["encoder"], said["moment"], said["seats"]) == ("planes", "before_draw", 2)
    assert said["fingerprint"] == layout_fingerprint(game.encoder().layout(2))
    assert said["command"] == "cardai train x.toml"
    assert said["cardai"]


def test_half_precision_makes_small_files_of_nearly_the_same_scores(game, tmp_path):
    saved = made(game)
    saved.save(tmp_path / "whole.safetensors")
    saved.save(tmp_path / "half.safetensors", half=True)
    loaded = load(tmp_path / "half.safetensors")
    assert loaded.metadata.stored == "float16"
    assert {value.dtype.name for value in tensors_of(loaded.module).values()} == {"float32"}
    assert np.abs(np.asarray(saved.score(rows(70))) - np.asarray(loaded.score(rows(70)))).max() < 2e-3
    kinds = {
        name: entry["dtype"] for name, entry in taken_apart(tmp_path / "half.safetensors")[0].items() if "." in name
    }
    assert {kind for name, kind in kinds.items() if name.endswith(("kernel", "bias"))} == {"F16"}
    assert {kind for name, kind in kinds.items() if not name.endswith(("kernel", "bias"))} == {"F32"}


def test_weights_that_are_no_numbers_are_not_saved(game, tmp_path):
    broken = made(game)
    broken.module.dense.logit.bias.set_value(np.array([np.nan], np.float32))
    with pytest.raises(CardaiError, match=r"cannot write .*logit\.bias holds numbers that are not finite"):
        broken.save(tmp_path / "x.safetensors")
    large = made(game)
    large.module.dense.logit.bias.set_value(np.array([1e6], np.float32))
    large.save(tmp_path / "large.safetensors")
    with pytest.raises(CardaiError, match="not finite"):
        large.save(tmp_path / "x.safetensors", half=True)
    with pytest.raises(CardaiError, match="a number is not finite"):
        made(game, metrics={"bce": float("nan")}).save(tmp_path / "x.safetensors")
    with pytest.raises(CardaiError, match="command must be a text, not 3"):
        made(game, command=3).save(tmp_path / "x.safetensors")
    assert not (tmp_path / "x.safetensors").exists()


def test_a_save_that_fails_leaves_the_file_as_it_was(game, tmp_path, monkeypatch):
    place = tmp_path / "model.safetensors"
    made(game).save(place)
    before = place.read_bytes()

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing.os, "fsync", full)
    with pytest.raises(CardaiError, match=r"cannot write .*model\.safetensors: No space left on device"):
        made(game, seed=5).save(place)
    assert place.read_bytes() == before
    assert list(tmp_path.iterdir()) == [place]


def test_unknown_names_are_refused_when_a_model_is_made(game):
    module = build("linear", {}, game.encoder().layout(2), 0)
    usual = {"body": "linear", "body_options": {}, "moment": "drawn"}
    for changes, message in (
        ({"variant": "wild"}, "no variant 'wild'"),
        ({"encoder": "bits"}, "no encoder 'bits'"),
        ({"seats": 3}, "not 3"),
        ({"moment": "later"}, "moment must be one of before_draw, drawn, not 'later'"),
        ({"body": "linnear"}, "there is no body 'linnear'; did you mean linear?"),
    ):
        with pytest.raises(CardaiError, match=message):
            Model.of(game, module, **(usual | changes))


DAMAGE = {
    "an endless header": (lambda header, data: joined(b" " * (1 << 25), data), "its header has 33554432 bytes"),
    "empty": (lambda header, data: b"", "it has only 0 bytes"),
    "header larger than the file": (
        lambda header, data: (1 << 40).to_bytes(8, "little") + header,
        "the whole file has",
    ),
    "no JSON": (lambda header, data: joined(b"{" * 50, data), "its header is not JSON"),
    "deep JSON": (lambda header, data: joined(b"[" * 100_000, data), "its header is not JSON"),
    "a list": (lambda header, data: joined(b"[]", data), "its header is not a JSON object"),
    "no metadata": (lambda header, data: joined(b"{}", data), "its metadata has no entry 'cardai'"),
    "text": (lambda header, data: b"not a model at all, just some text", "it is text"),
    "truncated": (lambda header, data: joined(header, data[:-8]), "it is truncated or damaged"),
    "not a number": (lambda header, data: redigested(header, b"\xff" * len(data)), "holds numbers that are not finite"),
    "negative": (
        lambda header, data: redigested(header, np.full(len(data) // 4, -1, "<f4").tobytes()),
        "variance holds negative numbers",
    ),
    "no digest": (lambda header, data: undigested(joined(header, data)), "its metadata have no digest"),
    "other weights": (lambda header, data: joined(header, bytes(len(data))), "its content does not fit its digest"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_refused_with_its_name_and_the_reason(sound, damage, tmp_path):
    change, message = DAMAGE[damage]
    content = sound.read_bytes()
    length = int.from_bytes(content[:8], "little")
    place = tmp_path / "bad.safetensors"
    place.write_bytes(change(content[8 : 8 + length], content[8 + length :]))
    with pytest.raises(CardaiError) as refused:
        load(place)
    assert str(refused.value).startswith(f"{place} is not a sound cardai model: ")
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "cardai model 9"}, "its format is 'cardai model 9', not 'cardai model 1'"),
        ({"game": ...}, "its metadata lacks 'game'"),
        ({"game": 3}, "game must be a text, not 3"),
        ({"game": "\x1b[2J"}, "a text holds control characters: '\\x1b[2J'"),
        ({"seats": 2.0}, "seats must be a whole number, not 2.0"),
        ({"moment": "later"}, "moment: there is no choice 'later'"),
        ({"options": {"x": "y"}}, "options must be a table of names and whole numbers"),
        ({"layout": [["a", [1 << 40]]]}, "layout must be a list of segments"),
        ({"layout": [["a", [65536] * 4]]}, "layout must be a list of segments"),
        ({"layout": [["a", [27]]]}, "is not that of its layout"),
        ({"fingerprint": "0"}, "its fingerprint '0' is not that of its layout"),
        ({"body": "mpl"}, "there is no body 'mpl'; did you mean mlp?"),
        ({"body": "linear"}, "linear: there is no field"),
        ({"body_options": {"hidden": [6, 7], "dropout": 0.0}}, "dense.layers.1.bias is F32 [5], it should be F32 [7]"),
        ({"body_options": {"hidden": [65536] * 64}}, "tensor"),
        ({"body_options": []}, "body_options must be a table of names and values, not []"),
        ({"seconds": float("inf")}, "seconds must be a number, not inf"),
        ({"stored": "float16"}, "it should be F16"),
        ({"stored": "int8"}, "stored: there is no choice 'int8'"),
    ],
)
def test_facts_of_the_wrong_kind_are_refused_by_name(sound, changes, message, tmp_path):
    place = with_facts(tmp_path / "bad.safetensors", sound, **changes)
    with pytest.raises(CardaiError) as refused:
        load(place)
    assert str(refused.value).startswith(f"{place} is not a sound cardai model: ")
    assert message in str(refused.value)


def test_a_missing_or_extra_tensor_is_refused_by_name(sound, tmp_path):
    header, data = taken_apart(sound)
    renamed = {name.replace("logit.bias", "logit.b"): entry for name, entry in header.items()}
    with pytest.raises(CardaiError, match=r"it (lacks|should not have) the tensor dense\.logit\.b"):
        load(put_together(tmp_path / "renamed.safetensors", renamed, data))
    del header["dense.logit.bias"]
    with pytest.raises(CardaiError, match=r"it lacks the tensor dense\.logit\.bias"):
        load(put_together(tmp_path / "missing.safetensors", header, data))


@pytest.mark.parametrize("offsets", [[0, 4], [1 << 60, (1 << 60) + 4], "here"], ids=["shared", "far", "text"])
def test_offsets_that_lie_are_refused(sound, offsets, tmp_path):
    header, data = taken_apart(sound)
    header["dense.logit.bias"]["data_offsets"] = offsets
    with pytest.raises(CardaiError, match="is not a sound cardai model"):
        load(put_together(tmp_path / "bad.safetensors", header, data))


def test_metadata_that_is_no_json_is_refused(sound, tmp_path):
    header, data = taken_apart(sound)
    for text in ("{", "[]", '"x"', "{" * 100_000):
        header["__metadata__"]["cardai"] = text
        with pytest.raises(CardaiError, match="the entry 'cardai' of its metadata is not"):
            load(put_together(tmp_path / "bad.safetensors", header, data))


def test_a_file_that_cannot_be_read_is_refused_by_name(tmp_path):
    with pytest.raises(CardaiError, match=r"cannot read .*none\.safetensors: No such file"):
        load(tmp_path / "none.safetensors")
    with pytest.raises(CardaiError, match=r"cannot read .*: Is a directory"):
        load(tmp_path)


def test_a_model_fits_its_own_game_and_says_what_another_one_has(game):
    fitting = made(game)
    fitting.name = "nn"
    fitting.check_fits(game)
    fitting.check_fits(game, "standard", 2)
    changed = type(game).changed
    wide = PerspectiveEncoder(lambda seats: (Segment("cells", (27,)),), game.encoder().encode)
    for other, asked, message in (
        (changed(game, name="gomoku"), (None, None), "nn is a model of tictactoe, not of gomoku"),
        (changed(game, version=7), (None, None), "nn is a model of tictactoe version 1; here it is version 7"),
        (game, (None, 3), "nn is a model for 2 seats, not for 3"),
        (changed(game, encoders={"bits": wide}), (None, None), "nn needs the encoder 'planes'; tictactoe has bits"),
        (changed(game, encoders={}), (None, None), "nn needs the encoder 'planes'; tictactoe has none"),
        (changed(game, encoders={"planes": wide}), (None, None), "nn was made for another encoder 'planes'"),
        (
            changed(game, variants={"wild": {}}),
            ("wild", 2),
            "nn is a model of tictactoe's variant 'standard', not 'wild'",
        ),
        (
            changed(game, variants={"standard": {"big": 1}}),
            ("standard", 2),
            "nn was made when the variant 'standard' was without options; now it is big=1",
        ),
    ):
        with pytest.raises(CardaiError) as refused:
            fitting.check_fits(other, *asked)
        assert message in str(refused.value)
    fitting.check_fits(changed(game, variants={"wild": {}}), None, 2)  # asked to play under another variant


def test_rows_of_another_encoder_are_refused(game):
    scored = made(game)
    for wrong in (np.zeros((3, 28), np.uint8), np.zeros(27, np.uint8), np.zeros((3, 27), np.float32)):
        with pytest.raises(CardaiError, match=r"scores rows u8\[n, 27\], not"):
            scored.score(wrong)


def test_a_model_is_found_by_file_folder_and_shipped_name(game, tmp_path, monkeypatch):
    run, shipped = tmp_path / "runs/one", tmp_path / "shipped"
    run.mkdir(parents=True)
    made(game).save(run / "model.safetensors")
    monkeypatch.setattr(model, "SHIPPED", shipped)
    monkeypatch.chdir(tmp_path)
    assert known(game) == {}
    (shipped / "tictactoe").mkdir(parents=True)
    made(game, body="linear", about="the floor").save(shipped / "tictactoe/base.safetensors")
    for name in ("runs/one", "runs/one/model.safetensors", str(run)):
        found = find(game, name)
        assert found is not None
        assert (found.encoder, found.moment, found.seats) == ("planes", "before_draw", 2)
    assert find(game, "base").metadata.body == "linear"
    assert find(game, "base").name == "base"
    assert known(game) == {"base": ("the floor (linear, before_draw, 2 seats, variant standard)", "before_draw")}
    assert find(load_game("moska"), "base") is None
    assert find(game, "nothing") is None
    for name in (".", ".."):
        with pytest.raises(CardaiError, match=r"holds no model\.safetensors"):
            find(game, name)


def test_a_path_where_nothing_is_is_refused_by_name(game, tmp_path):
    with pytest.raises(CardaiError, match="cannot read the model runs/none: No such file"):
        find(game, "runs/none")
    with pytest.raises(CardaiError, match=f"cannot read the model {'n' * 300}: File name too long"):
        find(game, "n" * 300)
    with pytest.raises(CardaiError, match=r"cannot read the model none\.safetensors: No such file"):
        find(game, "none.safetensors")
    with pytest.raises(CardaiError, match=r"holds no model\.safetensors: it is not a training run"):
        find(game, str(tmp_path))


def test_a_file_is_loaded_once_until_it_changes(game, tmp_path):
    place = tmp_path / "one.safetensors"
    made(game).save(place)
    first = find(game, str(place))
    assert find(game, str(place)) is first
    made(game, body="linear").save(place)
    assert find(game, str(place)).metadata.body == "linear"


def test_facts_are_read_without_weights_and_without_jax(sound):
    """So that commands that only name models start quickly."""
    code = (
        "import sys, cardai.registry\n"
        "from cardai.evaluators.model import find, known, read_metadata\n"
        f"assert read_metadata({str(sound)!r}).about == 'a small one'\n"
        "game = cardai.registry.load('tictactoe')\n"
        "known(game); assert find(game, 'nothing') is None\n"
        "print(sorted({'jax', 'flax', 'optax', 'safetensors'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("[]", "['safetensors']")


def test_shipped_models_are_sound_and_fit_their_games():
    for folder in sorted(model.SHIPPED.glob("*")):
        if folder.is_dir():
            for name in known(load_game(folder.name)):
                find(load_game(folder.name), name).check_fits(load_game(folder.name))
