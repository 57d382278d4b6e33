"""The verbs that evaluators add to the `cardai` command. Each imports what it needs when it runs."""

import dataclasses
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from cardai.cli.verbs.shared import AsJson, ClusterAddress, Mixed, SeatCount, Threads, Variant
from cardai.evaluators.jax_start import check_devices
from cardai.evaluators.training.config import TrainConfig
from cardai.evaluators.training.iterate_config import IterateConfig
from cardai.files import settings

if TYPE_CHECKING:
    from cardai.evaluators.training.generations import IterateReport
    from cardai.evaluators.training.outcome import TrainingResult

GROUP = "Learn"  # the heading under which `cardai --help` lists them


def _flags(kind: Any, without: Collection[str] = ()) -> Any:
    """Return a dataclass with a flag for each setting: a text, as `settings.read` takes it, or None if not given."""
    flags = [_flag(field) for field in dataclasses.fields(kind) if field.name not in without]
    return dataclasses.make_dataclass(f"{kind.__name__}Flags", flags, frozen=True, namespace={"__module__": __name__})


def _flag(field: dataclasses.Field) -> tuple[str, Any, Any]:
    about = settings.of(field)
    kind: Any = str
    if settings.is_table(field):
        kind = _flags(about.inside, about.without) if about.inside else dict[str, str]
    elif field.type is bool:
        kind = bool
    default = "" if field.default in (dataclasses.MISSING, None, ()) else f" [{field.default}]"
    parameter = Parameter(help=about.line + default, negative="", show_default=False)
    return field.name, Annotated[kind | None, parameter], None


TrainFlags, IterateFlags = _flags(TrainConfig), _flags(IterateConfig, without=("game",))


train = App(name="train", help="Train a network on recorded games, or a policy on games against itself.")
train.command("cardai.evaluators.policies.verbs:train_policy", name="policy")


@train.default
def train_network(
    config: Annotated[
        Path | None, Parameter(help="A TOML file with any of the settings below; flags win over it.")
    ] = None,
    /,
    *,
    flags: Annotated[TrainFlags | None, Parameter(name="*")] = None,  # pyright: ignore[reportInvalidTypeForm]
    overwrite: Annotated[bool, Parameter(negative="", help="Begin anew in a folder that holds another run.")] = False,
    json: AsJson = False,
) -> int:
    """Train a network on recorded games; the same command continues a run that was stopped."""
    from cardai.cli.show.progress import Line
    from cardai.cli.verbs.shared import INTERRUPTED, show

    given = dataclasses.asdict(flags) if flags is not None else {}
    wanted = settings.read(TrainConfig, config, given)
    with Line("loading the libraries") as progress:  # the import of JAX takes seconds
        check_devices()
        from cardai.evaluators.training import show_training
        from cardai.evaluators.training.train import train as run

        progress(0, 1, "reading games")
        try:
            result = run(wanted, progress, overwrite, lambda sentence: print(f"cardai: {sentence}", file=sys.stderr))
        except KeyboardInterrupt:
            print(f"interrupted; the same command goes on from what is kept in {wanted.out}", file=sys.stderr)
            return INTERRUPTED
        progress(1, 1, "drawing the figures")
        show_training.draw(result)
    return show(result, json)


def learn(
    game: Annotated[str, Parameter(help="The game to learn, by its name or path.")],
    /,
    *,
    minutes: Annotated[float, Parameter(help="How long it may take, over all calls.")] = 5.0,
    out: Annotated[
        Path | None, Parameter(help="The folder, which names the agent too; learned/GAME if not given.")
    ] = None,
    seed: Annotated[int, Parameter(help="Any whole number; how far a seed gets depends on the machine.")] = 0,
    seats: SeatCount = None,
    variant: Variant = None,
    device: Annotated[str, Parameter(help="Where networks compute: auto, cpu or gpu.")] = "auto",
    threads: Threads = None,
    json: AsJson = False,
) -> int:
    """Learn a game in some minutes, with nothing to choose; after Ctrl-C the same command goes on."""
    import time

    began = time.monotonic()
    from cardai.cli.show.progress import Line
    from cardai.cli.verbs.shared import load, show

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    loaded = load(game)
    place = out or Path("learned") / loaded.name
    with Line("loading the libraries", loaded) as progress:  # the import of JAX takes seconds
        check_devices()
        from cardai.evaluators.training.learn import LearnConfig
        from cardai.evaluators.training.learn import learn as run

        config = LearnConfig(
            game=game, out=str(place), minutes=minutes, seed=seed, seats=seats, variant=variant, device=device,
            threads=threads,
        )  # fmt: skip
        report = run(config, progress, say, began)
    return show(report, json)


def iterate(
    game: Annotated[str | None, Parameter(help="The game to train for, if the config does not name it.")] = None,
    /,
    *,
    config: Annotated[
        Path | None, Parameter(help="A TOML file with any of the settings below; flags win over it.")
    ] = None,
    flags: Annotated[IterateFlags | None, Parameter(name="*")] = None,  # pyright: ignore[reportInvalidTypeForm]
    cluster: ClusterAddress = None,
    mixed: Mixed = False,
    json: AsJson = False,
) -> int:
    """Simulate, train, benchmark, promote if better, and repeat; the same command continues a run that was stopped."""
    from cardai.cli.show.progress import Line
    from cardai.cli.verbs.shared import Sharing, show

    given = dataclasses.asdict(flags) if flags is not None else {}
    wanted = settings.read(IterateConfig, config, given | {"game": game})

    machines_of = Sharing(wanted.device, cluster=cluster, mixed=mixed).joined()
    with Line("loading the libraries") as progress, machines_of as machines:  # the import of JAX takes seconds
        check_devices()
        from cardai.evaluators.training import show_generations, show_training
        from cardai.evaluators.training.generations import IterateReport
        from cardai.evaluators.training.iterate import iterate as run
        from cardai.evaluators.training.iterate_folder import FIGURE

        def draw(outcome: "TrainingResult | IterateReport") -> None:
            if isinstance(outcome, IterateReport):
                show_generations.draw_strength(outcome, Path(wanted.out) / FIGURE)
            else:
                show_training.draw(outcome)

        progress(0, 1, "iterating")
        report = run(wanted, progress, draw, machines)
    return show(report, json)
