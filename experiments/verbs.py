"""The verb that experiments add to the `cardai` command."""

import importlib
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

from cyclopts import Parameter

AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON instead of a table.")]

EXPERIMENTS = {
    "tictactoe": "the method on Tic-Tac-Toe, graded exactly: the thesis' protocol, and one for perfect play (3 min)",
    "moska-networks": "the two networks of the thesis for Moska, and one that needs no sampling (small: 1-2 hours)",
    "durak-learners": "PPO, NFSP and the method, at equal numbers of games of Durak (small: 2 hours)",
}


def reproduce(
    name: Annotated[str | None, Parameter(help="An experiment; all are listed if none is given.")] = None,
    /,
    *,
    scale: Annotated[str, Parameter(help="smoke (seconds), small (two cores) or thesis (a GPU).")] = "small",
    out: Annotated[Path | None, Parameter(help="The folder to work in; runs/NAME if not given.")] = None,
    games: Annotated[int | None, Parameter(help="Games a row of a benchmark; the scale's number if not given.")] = None,
    device: Annotated[str, Parameter(help="Where networks learn and judge: auto, cpu or gpu.")] = "auto",
    ship: Annotated[bool, Parameter(negative="", help="Put its models among those that come with cardai.")] = False,
    json: AsJson = False,
) -> int:
    """Run an experiment again and show its figures beside those it is about."""
    from cardai.cli import show
    from cardai.game import CardaiError
    from cardai.progress import Line
    from cardai.registry import unknown

    if name is None:
        for one, about in EXPERIMENTS.items():
            print(f"{one:16} {about}")
        return 0
    if name not in EXPERIMENTS:
        raise CardaiError(unknown("experiment", name, EXPERIMENTS))
    from evaluators.scorer import set_device

    set_device(device)
    folder = out or Path("runs") / name
    with Line(name) as progress:
        result = _run(name, folder, scale, games, device, progress)
    if ship:
        _experiment(name).ship(folder)
    return show(result, json)


def _experiment(name: str) -> ModuleType:
    return importlib.import_module(f"experiments.{name.replace('-', '_')}")


def _run(name: str, folder: Path, scale: str, games: int | None, device: str, progress: Any) -> Any:
    if name == "tictactoe":
        return _experiment(name).reproduce(folder, scale, progress=progress)
    result = _experiment(name).reproduce(folder, scale, games=games, device=device, progress=progress)
    _experiment(name).draw(folder, result)
    return result
