"""The verbs that evaluators add to the `cardai` command. Each imports what it needs when it runs."""

import dataclasses
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from evaluators import settings
from evaluators.training.config import TrainConfig, read_config
from evaluators.training.iterate_config import IterateConfig

GROUP = "Learn"
AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON instead of a table.")]


def _flags(kind: Any, without: Collection[str] = ()) -> Any:
    """Settings as flags: a dataclass of texts, for `settings.read`, so that a flag not given can be told apart."""
    flags = [_flag(one) for one in dataclasses.fields(kind) if one.name not in without]
    return dataclasses.make_dataclass(f"{kind.__name__}Flags", flags, frozen=True, namespace={"__module__": __name__})


def _flag(one: dataclasses.Field) -> tuple[str, Any, Any]:
    known = settings.of(one)
    kind: Any = str
    if settings.is_table(one):
        kind = _flags(known.inside, known.without) if known.inside else dict[str, str]
    elif one.type is bool:
        kind = bool
    usual = "" if one.default in (dataclasses.MISSING, None, ()) else f" [{one.default}]"
    return one.name, Annotated[kind | None, Parameter(help=known.line + usual, negative="", show_default=False)], None


TrainFlags, IterateFlags = _flags(TrainConfig), _flags(IterateConfig, without=("game",))


def train(
    config: Annotated[
        Path | None, Parameter(help="A TOML file with any of the flags below; flags win over it.")
    ] = None,
    /,
    *,
    flags: Annotated[TrainFlags | None, Parameter(name="*")] = None,  # pyright: ignore[reportInvalidTypeForm]
    overwrite: Annotated[bool, Parameter(negative="", help="Begin anew in a folder that holds another run.")] = False,
    json: AsJson = False,
) -> int:
    """Train a network on recorded games; a stopped run goes on where it was."""
    from cardai.app.cli import show
    from cardai.show.progress import Line

    given = dataclasses.asdict(flags) if flags is not None else {}
    wanted = read_config(config, given)
    from evaluators.training.train import train as run

    with Line("reading games") as progress:
        result = run(wanted, progress, overwrite)
    return show(result, type(result).table, json)


def iterate(
    game: Annotated[str | None, Parameter(help="The game that is learned, if the config does not say it.")] = None,
    /,
    *,
    config: Annotated[
        Path | None, Parameter(help="A TOML file with any of the flags below; flags win over it.")
    ] = None,
    flags: Annotated[IterateFlags | None, Parameter(name="*")] = None,  # pyright: ignore[reportInvalidTypeForm]
    json: AsJson = False,
) -> int:
    """Simulate, train, benchmark, promote or not, again and again; a stopped run goes on where it was."""
    from cardai.app.cli import show
    from cardai.show.progress import Line
    from evaluators.training.iterate import iterate as run

    given = dataclasses.asdict(flags) if flags is not None else {}
    wanted = settings.read(IterateConfig, config, given | {"game": game})
    with Line("iterating") as progress:
        report = run(wanted, progress)
    return show(report, type(report).table, json)
