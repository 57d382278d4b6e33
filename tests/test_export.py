"""Models as ONNX score as they do here; tables have the rows of the data set, with names and provenance."""

import json
from pathlib import Path

import numpy as np
import pytest

import cardai
from cardai.cli.main import run
from cardai.evaluators import model as models
from cardai.records.dataset import collect
from cardai.records.recipe import Recipe
from cardai.records.table_file import column_names, write_npz, write_parquet

SHIPPED = sorted(models.SHIPPED.rglob("*.safetensors"))
BODIES = [
    ("linear", {}),
    ("mlp", {"hidden": [8, 4], "dropout": 0.5}),
    ("cnn", {"channels": [4, 3], "kernel": [2, 3], "dense": [6], "batch_norm": True}),
    ("cnn", {"channels": [4], "kernel": [3, 3], "dense": [], "batch_norm": False}),
    ("cnn_flat", {"channels": [4, 3], "kernel": 5, "stride": 2, "dense": [6], "batch_norm": True}),
]


def rows_of(width: int, n: int = 200) -> np.ndarray:
    return np.random.default_rng(width).integers(0, 3, (n, width), np.uint8)


def scores_of(content: bytes, rows: np.ndarray) -> np.ndarray:
    session = pytest.importorskip("onnxruntime").InferenceSession(content, providers=["CPUExecutionProvider"])
    (scores,) = session.run(["scores"], {"rows": rows})
    return scores


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_a_model_that_is_shipped_scores_alike_in_onnxruntime(file):
    pytest.importorskip("onnx")
    model = models.load(file)
    rows = rows_of(model.width) % 2  # rows of other numbers have large log odds, of which float32 rounds much away
    assert np.abs(scores_of(model.as_onnx(), rows) - np.asarray(model.score(rows))).max() < 1e-5


@pytest.mark.parametrize(("body", "options"), BODIES)
@pytest.mark.parametrize("name", ["moska", "tictactoe"])
def test_every_body_scores_alike_in_onnxruntime(name, body, options):
    pytest.importorskip("onnx")
    from cardai.evaluators.bodies.build import build
    from cardai.evaluators.network_metadata import layout_of

    game = cardai.load(name)
    module = build(body, options, layout_of(game, next(iter(game.learning.encoders)), game.default_seats), seed=3)
    rows = rows_of(
        sum(segment.size for segment in layout_of(game, next(iter(game.learning.encoders)), game.default_seats))
    )
    for _ in range(3):
        module(rows)  # so that running statistics are not those of the beginning  # pyright: ignore[reportCallIssue]
    model = models.Model.of(game, module, body=body, body_options=options, moment="before_draw")
    scores = scores_of(model.as_onnx(), rows)
    assert np.ptp(scores) > 1e-3
    assert np.abs(scores - np.asarray(model.score(rows))).max() < 1e-5


def test_a_graph_says_what_its_rows_are(tmp_path, capsys):
    onnx = pytest.importorskip("onnx")
    file = tmp_path / "nn2.onnx"
    assert run(["export", "moska", "nn2", "--onnx", str(file)]) == 0
    assert "rows u8[N, 442] of encoder bitmap in, scores f4[N] out" in capsys.readouterr().out
    about = {one.key: one.value for one in onnx.load(file).metadata_props}
    model = models.find(cardai.load("moska"), "nn2")
    assert model is not None
    assert about["cardai.fingerprint"] == model.metadata.fingerprint
    assert (about["cardai.game"], about["cardai.variant"], about["cardai.seats"]) == ("moska", "thesis", "4")
    assert sum(int(np.prod(shape)) for _, shape in json.loads(about["cardai.layout"])) == model.width


@pytest.fixture(scope="module")
def games(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("games") / "g.jsonl"
    assert run(["selfplay", "moska", "--agent", "random", "--games", "3", "--out", str(place)]) == 0
    return place


@pytest.fixture(scope="module")
def data(games):
    return collect([games], Recipe(per_game=20, label="win"), seed=4)


def test_columns_are_named_by_the_encoder(data):
    names = column_names(data)
    assert len({*names}) == len(names) == data.width
    assert names[0].startswith(data.layout[0].name)
    assert all(name.split(".")[0] in {segment.name for segment in data.layout} for name in names)


def test_a_table_has_the_rows_of_the_data_set_in_every_kind(data, tmp_path):
    rows = data.take(np.arange(len(data)))
    about = json.loads(json.dumps(data.about()))
    write_npz(tmp_path / "a.npz", data)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert np.array_equal(arrays["rows"], rows)
        assert np.array_equal(arrays["label"], data.labels)
        assert arrays["columns"].tolist() == column_names(data)
        assert json.loads(str(arrays["about"])) == about
    parquet = pytest.importorskip("pyarrow.parquet")
    write_parquet(tmp_path / "a.parquet", data)
    table = parquet.read_table(tmp_path / "a.parquet")
    assert table.column_names == ["game", "seed", "label", *column_names(data)]
    assert np.array_equal(np.column_stack([table[name].to_numpy() for name in column_names(data)]), rows)
    assert np.array_equal(table["label"].to_numpy(), data.labels)
    assert json.loads(table.schema.metadata[b"cardai"]) == about


def test_the_verb_writes_what_its_options_say(games, tmp_path, capsys):
    file = tmp_path / "rows.npz"
    options = ["--label", "not_lost", "--per-game", "7", "--seed", "4", "--npz", str(file)]
    assert run(["export", "moska", str(games), *options]) == 0
    assert "21 states of 3 games" in capsys.readouterr().out
    with np.load(file) as arrays:
        recipe = json.loads(str(arrays["about"]))["recipe"]
    assert (recipe["label"], recipe["per_game"], recipe["moment"]) == ("not_lost", 7, "before_draw")
    assert run(["export", "moska", str(games), *options]) == 2
    assert "exists; --overwrite" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("export moska nn2", "by one of --onnx, --parquet, --npz and --transcript"),
        ("export moska nn9 --onnx a.onnx", "no model 'nn9'"),
        ("export moska nn1 nn2 --onnx a.onnx", "takes one model, not 2"),
        ("export moska nowhere --npz a.npz", "nowhere"),
        ("export moska {games} --npz a.npz --label luck", "luck"),
        ("export tictactoe {games} --npz a.npz", "moska"),
        ("export moska {games} --npz nowhere/a.npz", "cannot write"),
    ],
)
def test_what_cannot_be_exported_is_refused_in_a_sentence(line, words, games, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(line.format(games=games).split()) == 2
    said = capsys.readouterr().err
    assert words in " ".join(said.split())
    assert said.startswith("cardai: ")
    assert not [*tmp_path.iterdir()]


def test_a_package_that_is_missing_is_named(data, tmp_path, monkeypatch):
    for missing in ("onnx", "pyarrow"):
        monkeypatch.setitem(__import__("sys").modules, missing, None)
    with pytest.raises(cardai.CardaiError, match=r"pip install .*\[onnx\]"):
        models.load(SHIPPED[0]).as_onnx()
    with pytest.raises(cardai.CardaiError, match=r"pip install .*\[parquet\]"):
        write_parquet(tmp_path / "a.parquet", data)
