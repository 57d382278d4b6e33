"""The verb `cardai train policy`."""

import json as json_module
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from cardai.cli.verbs.shared import AsJson, SeatCount, Variant


def train_policy(
    game: Annotated[str, Parameter(help="The game; it must number its moves.")],
    /,
    *,
    preset: Annotated[str, Parameter(help="The algorithm with its settings: ppo, nfsp-shallow or nfsp-deep.")] = "ppo",
    out: Annotated[Path, Parameter(help="The file to write.")],
    seats: SeatCount = None,
    variant: Variant = None,
    encoder: Annotated[str | None, Parameter(help="An encoder of the game; its first one if not given.")] = None,
    seed: Annotated[int, Parameter(help="Any whole number; the same one gives the same policy on one machine.")] = 0,
    change: Annotated[
        list[str] | None,
        Parameter(name="--set", negative="", help="Another value for a setting of the preset: games=1000."),
    ] = None,
    json: AsJson = False,
) -> int:
    """Train a policy, which gives move probabilities, by PPO or NFSP: the agent policy:FILE.

    The policy learns from games against itself. Ctrl-C ends the training early and keeps what was learned so far.
    """
    import cardai
    from cardai.cli.show.progress import Line
    from cardai.errors import CardaiError, unknown
    from cardai.evaluators.jax_start import check_devices
    from cardai.files import settings

    with Line("loading the libraries"):  # the import of JAX takes seconds
        check_devices()
        from cardai.evaluators.policies import nfsp, ppo
    algorithm = next((module for module in (ppo, nfsp) if preset in module.PRESETS), None)
    if algorithm is None:
        raise CardaiError(unknown("preset", preset, [*ppo.PRESETS, *nfsp.PRESETS]))
    if not out.parent.is_dir():
        raise CardaiError(f"cannot write {out}: there is no folder {out.parent}")
    defaults = algorithm.PRESETS[preset]
    changes = {text.partition("=")[0]: text.partition("=")[2] for text in change or ()}
    config = settings.read(type(defaults), None, settings.as_plain(defaults) | changes)
    loaded = cardai.load(game)
    with Line("training", loaded) as progress:
        policy = algorithm.train(
            loaded, config, seed=seed, variant=variant, seats=seats, encoder=encoder, progress=progress
        )
    policy.save(out)
    metadata = policy.metadata
    if json:
        print(json_module.dumps({"out": str(out), **metadata.metrics, "seconds": metadata.seconds}, indent=2))
    else:
        games, decisions = metadata.metrics["games"], metadata.metrics["decisions"]
        print(f"policy:{out}: trained on {games} games, {decisions} decisions, in {metadata.seconds:.0f} s")
    return 0
