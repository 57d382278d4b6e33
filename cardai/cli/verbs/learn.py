"""Verbs of the `cardai` command: games for networks, and agents that learn."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from cardai.cli.verbs.shared import (
    PLAY_OPTIONS,
    AsJson,
    GameName,
    Overwrite,
    PlayOptions,
    SeatCount,
    Seed,
    Threads,
    Variant,
    announce,
    listed,
    load,
    refuse,
    refuse_counts,
    refuse_given,
    show,
    working,
)

GROUP = "Learn"


def tune(
    game: GameName,
    player: Annotated[str, Parameter(help="A hand-written player, and the values to begin with: keeper?ask_at=0.1.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="The folder of the search; the same command goes on in it.")],
    against: Annotated[
        list[str] | None,
        Parameter(negative="", help="An agent for the other seats; may be repeated. The player itself if not given."),
    ] = None,
    only: Annotated[
        list[str] | None, Parameter(negative="", help="A parameter to tune; may be repeated. All if not given.")
    ] = None,
    variant: Variant = None,
    seats: SeatCount = None,
    trial_games: Annotated[int, Parameter(help="Games of each trial, against each of the others.")] = 400,
    games: Annotated[int, Parameter(help="Games that choose the result, and as many that measure it.")] = 4000,
    minutes: Annotated[float, Parameter(help="How long this call searches.")] = 10.0,
    generations: Annotated[int, Parameter(help="Stop after this many generations in all; 0 sets no limit.")] = 0,
    seed: Seed = 0,
    threads: Threads = None,
    json: AsJson = False,
) -> int:
    """Tune a hand-written player's parameters by CMA-ES; the same command goes on with a search."""
    from cardai.measure.tune import tune

    refuse_counts(games, threads)
    loaded = load(game)
    with working("tuning", loaded) as progress:
        result = tune(
            loaded, player, against or (), folder=out, only=only or (), variant=variant, seats=seats,
            trial_games=trial_games, games=games, minutes=minutes, generations=generations, seed=seed, threads=threads,
            progress=progress,
        )  # fmt: skip
    return show(result, json)


def selfplay(
    game: GameName,
    /,
    *,
    agent: Annotated[
        list[str],
        Parameter(name="--agent", negative="", help="An agent spec with its weight, as in bot3@2; may be repeated."),
    ],
    out: Annotated[
        Path, Parameter(help="A file (.jsonl or .jsonl.gz), or a folder, in which a stopped run is resumed.")
    ],
    games: Annotated[int, Parameter(help="How many games.")] = 10_000,
    only: Annotated[
        str | None,
        Parameter(help="Of a folder's files of 10 000 games, play those of these numbers: 30-39, counted from 0."),
    ] = None,
    seats: SeatCount = None,
    overwrite: Overwrite = False,
    playing: PlayOptions = PLAY_OPTIONS,
    json: AsJson = False,
) -> int:
    """Record games to train on: the agent in each seat of each game is drawn by weight."""
    from cardai.records import selfplay as simulation

    playing.begin_games(games)
    pool = simulation.parse_pool(listed(agent) or [])
    loaded = load(game)
    is_file = out.name.endswith((".jsonl", ".jsonl.gz"))
    if is_file:
        refuse_given({"--only": only, "--cluster": playing.cluster}, "is for folders; --out names a file here")
    elif overwrite:
        refuse(f"--overwrite is for files; {out} is the name of a folder")
    with working("simulating", loaded) as progress, playing.joined() as machines:
        options: dict[str, Any] = {"seats": seats, "progress": progress}
        options |= {name: getattr(playing, name) for name in ("seed", "variant", "threads")}
        if is_file:
            summary = simulation.simulate(loaded, pool, games, out=out, overwrite=overwrite, **options)
        else:
            summary = simulation.simulate_shards(
                loaded, pool, games, folder=out, only=only, cluster=machines, **options
            )
    return show(summary, json)


def export(
    game: GameName,
    source: Annotated[list[str], Parameter(help="With --onnx, a model; otherwise record files or folders of them.")],
    /,
    *,
    onnx: Annotated[Path | None, Parameter(help="Write the model as ONNX, for programs without cardai.")] = None,
    parquet: Annotated[Path | None, Parameter(help="Write rows and labels of the games as Parquet.")] = None,
    npz: Annotated[Path | None, Parameter(help="Write them as NumPy arrays.")] = None,
    transcript: Annotated[
        Path | None,
        Parameter(help="Write what a seat was shown before each of its moves, and the move, as lines of JSON."),
    ] = None,
    seat: Annotated[
        int | None, Parameter(help="With --transcript: of this seat, counted from 0; of all if not given.")
    ] = None,
    encoder: Annotated[str | None, Parameter(help="How states become rows; the game's first encoder if none.")] = None,
    label: Annotated[str, Parameter(help="score, win, not_lost, share, or an outcome of the game.")] = "score",
    moment: Annotated[str, Parameter(help="before_draw or drawn: which states become rows.")] = "before_draw",
    per_game: Annotated[int, Parameter(help="The most states of a game; 0 takes all.")] = 0,
    limit: Annotated[int, Parameter(help="The most states of all; 0 takes all.")] = 0,
    seed: Seed = 0,
    overwrite: Overwrite = False,
) -> int:
    """Export a model as ONNX, or recorded games as rows and labels (Parquet, npz) or as text."""
    from cardai.cli.export import export_model, export_rows, export_transcript
    from cardai.records.recipe import Recipe

    wanted = {"onnx": onnx, "parquet": parquet, "npz": npz, "transcript": transcript}
    files = [(kind, file) for kind, file in wanted.items() if file is not None]
    if len(files) != 1:
        refuse("say what to write by one of --onnx, --parquet, --npz and --transcript")
    ((kind, file),) = files
    if kind != "transcript":
        refuse_given({"--seat": seat}, "is for --transcript")
    if file.exists() and not overwrite:
        refuse(f"{file} exists; --overwrite replaces it")
    loaded = load(game)
    if kind in ("onnx", "transcript") and len(source) != 1:
        refuse(f"--{kind} takes one {'model' if kind == 'onnx' else 'record file'}, not {len(source)}")
    if kind == "onnx":
        announce(export_model(loaded, source[0], file))
    elif kind == "transcript":
        announce(export_transcript(game, Path(source[0]), file, seat))
    else:
        recipe = Recipe(encoder, moment, per_game=per_game, label=label)
        announce(export_rows(loaded, source, recipe, kind, file, limit, seed))
    return 0
