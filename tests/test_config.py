"""Training configs: read, completed, refused and kept."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardai.errors import CardaiError
from cardai.evaluators.training.config import TrainConfig, command
from cardai.evaluators.training.defaults import completed, warning
from cardai.files import settings

SMALL = {"game": "tictactoe", "data": ("games",), "out": "run"}


def config(**fields):
    return TrainConfig(**{**SMALL, **fields})


def test_every_field_says_in_one_line_what_it_is():
    for one in dataclasses.fields(TrainConfig):
        assert settings.of(one).line.endswith(".")
        assert "\n" not in settings.of(one).line


@given(st.text(max_size=20), st.floats(1e-12, 10), st.lists(st.integers(1, 2**16), max_size=5))
def test_any_text_and_number_survives_toml(text, rate, hidden):
    import tomllib

    made = config(data=(text,), out=text, learning_rate=rate, options={"hidden": hidden})
    assert TrainConfig(**tomllib.loads(settings.as_toml(made))) == made


def test_options_are_completed_with_the_bodys_defaults():
    made = config(options={"hidden": [600, 550, 500, 450]})
    assert made.options["dropout"] == [0.4, 0.4, 0.35, 0.0]
    assert config(body="cnn").options["dense"] == [128]


def test_the_number_of_states_decides_what_is_not_given():
    few, many = completed(config(), 80_000), completed(config(), 40_000_000)
    assert (few.options["hidden"], few.batch, few.epochs) == ([128, 64], 256, 10)
    assert few.options["dropout"] == [0.0, 0.0]
    assert (many.options["hidden"], many.batch, many.epochs) == ([512, 256, 128], 16384, 3)
    for states in (1, 7, 200, 5_000, 80_000, 10**6, 10**8):
        made = completed(config(), states)
        steps = made.epochs * (states // made.batch)
        assert 1 <= made.batch <= states
        assert warning(steps, made.batch, states) == "" or states < 4000


def test_what_is_given_stays_whatever_the_number_of_states():
    given = config(options={"hidden": [5], "dropout": 0.3}, batch=12, epochs=7)
    assert completed(given, 10**6) == given
    assert completed(config(options={"dropout": 0.3}), 80_000).options == {"hidden": [128, 64], "dropout": [0.3, 0.3]}
    assert completed(config(steps=70), 80_000).epochs == 0
    assert completed(config(body="cnn"), 80_000).options == config(body="cnn").options


def test_flags_win_over_the_file_and_options_are_merged_key_by_key(tmp_path):
    place = tmp_path / "some.toml"
    place.write_text(
        'game = "tictactoe"\ndata = ["x"]\nout = "y"\nbatch = 32\n[options]\nhidden = [8]\ndropout = 0.2\n'
    )
    flags = {"batch": "64", "learning_rate": "3e-4", "options": {"hidden": "[4, 2]"}, "epochs": None}
    made = settings.read(TrainConfig, place, flags)
    assert (made.batch, made.learning_rate, made.epochs) == (64, 3e-4, None)
    assert made.options["hidden"] == [4, 2]
    assert made.options["dropout"] == [0.2, 0.2]


def test_texts_of_a_command_line_are_read_as_their_field_has_them():
    made = settings.read(TrainConfig, None, {
        "game": "7", "data": "a,b", "out": "true", "threads": "3", "parts": "[0.5, 0.25, 0.25]", "minutes": "2",
        "variant": "1", "options": {"hidden": "[5]"},
    })  # fmt: skip
    assert (made.game, made.data, made.out, made.variant) == ("7", ("a", "b"), "true", "1")
    assert (made.threads, made.parts, made.minutes) == (3, (0.5, 0.25, 0.25), 2.0)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"moment": "draw"}, r"moment: there is no choice 'draw'; did you mean drawn"),
        ({"batch": -1}, "batch must be 0 to"),
        ({"batch": True}, "batch must be a whole number, not True"),
        ({"learning_rate": float("nan")}, "learning_rate must be a number, not nan"),
        ({"parts": (0.5, 0.6, 0.1)}, r"parts must be three shares that sum to 1, not \[0.5, 0.6, 0.1\]"),
        ({"parts": (0.5, 0.5)}, "parts must be 3 numbers"),
        ({"parts": (0.0, 0.5, 0.5)}, "parts must leave something to train on"),
        ({"epochs": 0}, "epochs, steps and minutes are all 0"),
        ({"weight_decay": 0.1}, "weight_decay 0.1 needs the optimiser adamw"),
        ({"patience": 3, "parts": (1.0, 0.0, 0.0)}, "patience 3 needs states to validate on"),
        ({"body": "mpl"}, "there is no body 'mpl'; did you mean mlp"),
        ({"options": {"hiden": [3]}}, "mlp: there is no field 'hiden'; did you mean hidden"),
        ({"options": {"hidden": [0]}}, "hidden must be"),
        ({"options": [1]}, "options must be a table of names and values"),
        ({"data": ()}, "data names no record file"),
        ({"data": "file"}, "data must be a list of texts, not 'file'"),
    ],
    ids=str,
)
def test_an_impossible_value_is_named_with_what_is_allowed(fields, said):
    with pytest.raises(CardaiError, match=said) as caught:
        config(**fields)
    assert "\n" not in str(caught.value)


def test_an_unknown_field_is_named_with_the_nearest(tmp_path):
    (tmp_path / "some.toml").write_text("learnin_rate = 3\n")
    with pytest.raises(CardaiError, match=r"some\.toml: .*no field 'learnin_rate'; did you mean learning_rate"):
        settings.read(TrainConfig, tmp_path / "some.toml")
    with pytest.raises(CardaiError, match="no field 'bach'; did you mean batch"):
        settings.read(TrainConfig, None, SMALL | {"bach": 3})


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path):
    with pytest.raises(CardaiError, match=r"cannot read .*none\.toml: No such file"):
        settings.read(TrainConfig, tmp_path / "none.toml")


def test_what_is_missing_is_named():
    with pytest.raises(CardaiError, match=r"must have data and out: Record files"):
        settings.read(TrainConfig, None, {"game": "tictactoe"})


def test_a_run_is_the_same_wherever_it_lies_and_however_long_it_may_take():
    one = config()
    same = config(data=("elsewhere",), out="there", minutes=3.0, device="cpu", threads=1, checkpoint_minutes=1.0)
    assert settings.fingerprint(one) == settings.fingerprint(same)
    assert settings.difference(one, same) == ""
    other = config(learning_rate=0.5, seed=3)
    assert settings.fingerprint(one) != settings.fingerprint(other)
    assert settings.difference(one, other) == "learning_rate 0.001, not 0.5 and seed 0, not 3"


def test_the_command_of_a_run_makes_it_again():
    import shlex

    made = config(
        data=("far/away/games", "b"),
        out="runs/x",
        body="cnn",
        options={"channels": [4]},
        ema=0.9,
        parts=(0.5, 0.3, 0.2),
    )
    words = shlex.split(command(made))
    assert words[:2] == ["cardai", "train"]
    assert words[2:8] == ["--game", "tictactoe", "--data", "games,b", "--out", "x"]
    given = {word[2:].replace("-", "_"): text for word, text in zip(words[2::2], words[3::2], strict=True)}
    options = {name.removeprefix("options."): given.pop(name) for name in list(given) if name.startswith("options.")}
    assert options["channels"] == "[4]"
    again = settings.read(TrainConfig, None, given | {"options": options})
    assert settings.identity(again) == settings.identity(made)
