"""The verbs that experiments add to the `cardai` command."""

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from cardai.cli.verbs.shared import AsJson
from cardai.experiments.machinery.catalogue import EXPERIMENTS, SCALES, module

GROUP = "Experiments"


def reproduce(
    name: Annotated[str | None, Parameter(help="An experiment, or all; they are listed if none is given.")] = None,
    /,
    *,
    scale: Annotated[str, Parameter(help="smoke (seconds) or small (on two cores, minutes as listed).")] = "small",
    out: Annotated[Path | None, Parameter(help="The folder to work in; runs/SCALE if not given.")] = None,
    report: Annotated[Path | None, Parameter(help="Where the report goes; OUT/report if not given.")] = None,
    games: Annotated[int | None, Parameter(help="Games a figure; the scale's number if not given.")] = None,
    device: Annotated[str, Parameter(help="Where networks learn and judge: auto, cpu or gpu.")] = "auto",
    ship: Annotated[bool, Parameter(negative="", help="Put its models among those that come with cardai.")] = False,
    json: AsJson = False,
) -> int:
    """Run experiments again and show their figures beside what was claimed; a stopped run goes on."""
    from cardai.cli.verbs.shared import INTERRUPTED, show
    from cardai.errors import CardaiError, unknown

    if name is None:
        return _list(json)
    if name != "all" and name not in EXPERIMENTS:
        raise CardaiError(unknown("experiment", name, ["all", *EXPERIMENTS]))
    if scale not in SCALES:
        raise CardaiError(unknown("scale", scale, SCALES))
    if games is not None and games < 1:
        raise CardaiError(f"--games must be at least 1, not {games}")
    if name == "all" and ship:
        raise CardaiError("--ship is for one experiment; name it")
    if ship and not hasattr(module(name), "ship"):
        raise CardaiError(f"{name} has no models of its own to ship")
    from cardai.evaluators.scorer import set_device

    set_device(device)
    place = out or Path("runs") / scale
    try:
        outcome = _run(name, place, report or place / "report", scale, games, device, ship)
        return show(outcome, json)
    except KeyboardInterrupt:
        print(f"interrupted; what is measured is kept in {place}, and the same command goes on", file=sys.stderr)
        return INTERRUPTED


def report(
    folder: Annotated[Path, Parameter(help="The folder of a report: the results in it are read, the pages written.")],
    /,
    *,
    into: Annotated[Path | None, Parameter(help="Also write the headlines between the marks of this page.")] = None,
    check: Annotated[bool, Parameter(negative="", help="Only test whether its results are still valid.")] = False,
    json: AsJson = False,
) -> int:
    """Write the pages of a report anew from its results, or test whether these are still valid.

    A result is not valid any more if something behaves otherwise than when it was measured. Then the exit code of
    --check is 1.
    """
    from cardai.cli.verbs.shared import show
    from cardai.errors import CardaiError
    from cardai.experiments.machinery.listing import Validity
    from cardai.experiments.machinery.report import put_into, results_in, write_again

    if check:
        validity = Validity.of(results_in(folder))
        return show(validity, json) or int(any(validity.changed.values()))
    if json:
        raise CardaiError("--json goes with --check: the pages of a report are files")
    print(write_again(folder))
    if into is not None:
        put_into(into, results_in(folder))
    return 0


def _list(json: bool) -> int:
    from dataclasses import asdict

    from cardai.cli.verbs.shared import show
    from cardai.experiments.machinery.listing import ExperimentList

    experiments = ExperimentList({name: asdict(entry) for name, entry in EXPERIMENTS.items()})
    return show(experiments, json)


def _run(name: str, place: Path, report: Path, scale: str, games: int | None, device: str, ship: bool) -> Any:
    """Run one experiment or all, and write the report of all results of this scale in the folder `place`."""
    from cardai.cli.show.progress import Line
    from cardai.errors import CardaiError, install_command
    from cardai.experiments.machinery import lab
    from cardai.experiments.machinery.listing import ReproductionSummary
    from cardai.experiments.machinery.report import results_in, write

    names = list(EXPERIMENTS) if name == "all" else [name]
    results, missing = [], {}
    for number, experiment in enumerate(names, 1):
        lacking = EXPERIMENTS[experiment].missing()
        if lacking and name == "all":
            missing[experiment] = " and ".join(
                f"{module} ({install_command(extra)})" for module, extra in lacking.items()
            )
            continue
        with Line(experiment) as line:
            position = f"{number}/{len(names)} " if len(names) > 1 else ""
            results.append(
                lab.run(
                    experiment, place / experiment, scale, games=games, device=device,
                    progress=lambda done, total, what, position=position: line(done, total, position + what),
                )
            )  # fmt: skip
        if ship:
            module(experiment).ship(place / experiment)
    of_scale = [result for result in results_in(place) if result["scale"] == scale]
    if not of_scale:
        raise CardaiError(f"there is no result of scale {scale} in {place}")
    return ReproductionSummary(results, missing, write(report, of_scale))
