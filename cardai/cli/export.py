"""The body of `cardai export`: a model as ONNX, the rows of recorded games as a table, or the games as text."""

from pathlib import Path

from cardai.cli.show.progress import Line
from cardai.errors import BadArgument, unknown
from cardai.files.writing import write_bytes
from cardai.game import Game
from cardai.playing.agents.evaluator import find_evaluator, known_evaluators
from cardai.records.dataset import collect
from cardai.records.recipe import Recipe
from cardai.records.seen import write_seen
from cardai.records.table_file import column_names, write_npz, write_parquet

TABLES = {"parquet": write_parquet, "npz": write_npz}


def export_model(game: Game, name: str, file: Path) -> str:
    """Write a model as ONNX. Returns a line about it. Raises CardaiError if there is none, or it is no network."""
    model = find_evaluator(game, name)
    if model is None:
        raise BadArgument(f"{game.name}: {unknown('model', name, known_evaluators(game))}")
    as_onnx = getattr(model, "as_onnx", None)
    if as_onnx is None:
        raise BadArgument(f"{name} is no network of cardai, so that it cannot be written as ONNX")
    write_bytes(file, as_onnx())
    width = game.encoder(model.encoder).width(model.seats or game.default_seats)
    return f"{file} is written: rows u8[N, {width}] of encoder {model.encoder} in, scores f4[N] out"


def export_rows(game: Game, sources: list[str], recipe: Recipe, kind: str, file: Path, limit: int, seed: int) -> str:
    """Write the rows of recorded games as a table of a kind of `TABLES`. Returns a line about it."""
    with Line("playing the games again", game) as progress:
        data = collect(sources, recipe, game=game, limit=limit, seed=seed, progress=progress)
        TABLES[kind](file, data)
    return (
        f"{file} is written: {len(data)} states of {len(data.seeds)} games, {len(column_names(data))} values a row and"
        f" the label {data.recipe.label}"
    )


def export_transcript(game: str, source: Path, file: Path, seat: int | None) -> str:
    """Write what a seat, or each seat, of recorded games was shown before its moves. Returns a line about it."""
    with Line("writing") as line:
        count = write_seen(source, file, seat, game, lambda done, total: line.share(done / total))
    return f"{file} is written: {count:,} decisions"
