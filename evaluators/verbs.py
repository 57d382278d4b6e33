"""The verbs that evaluators add to the `cardai` command. Each imports what it needs when it runs."""

import dataclasses
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from evaluators.config import TrainConfig, read_config

AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON instead of a table.")]


def _flag(one: dataclasses.Field) -> tuple[str, Any, Any]:
    """A field of a config as a flag: text, which `read_config` reads, so that a flag not given can be told apart."""
    kind = dict[str, str] | None if one.name == "options" else str | None
    usual = None if one.default is dataclasses.MISSING else one.default
    about = one.metadata["about"] + (f" [{usual}]" if usual is not None and one.name != "options" else "")
    return one.name, Annotated[kind, Parameter(help=about, negative="", show_default=False)], None


Flags = dataclasses.make_dataclass(
    "Flags",
    [_flag(one) for one in dataclasses.fields(TrainConfig)],
    frozen=True,
    namespace={"__module__": __name__},
)


def train(
    config: Annotated[
        Path | None, Parameter(help="A TOML file with any of the flags below; flags win over it.")
    ] = None,
    /,
    *,
    flags: Annotated[Flags | None, Parameter(name="*")] = None,  # pyright: ignore[reportInvalidTypeForm]
    overwrite: Annotated[bool, Parameter(negative="", help="Begin anew in a folder that holds another run.")] = False,
    json: AsJson = False,
) -> int:
    """Train a network on recorded games; a stopped run goes on where it was."""
    from cardai.cli import show
    from cardai.progress import Line

    given = dataclasses.asdict(flags) if flags is not None else {}
    wanted = read_config(config, given)
    from evaluators.train import train as run

    with Line("reading games") as progress:
        result = run(wanted, progress, overwrite)
    return show(result, json)
