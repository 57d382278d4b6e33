"""The verb that policies add to the `cardai` command."""

import json as json_module
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from evaluators.training.verbs import AsJson

GROUP = "Learn"


def train_policy(
    game: str,
    /,
    *,
    preset: str = "ppo",
    out: Path,
    seats: int | None = None,
    variant: str | None = None,
    encoder: str | None = None,
    seed: int = 0,
    change: Annotated[
        list[str] | None, Parameter(name="--set", negative="", help="Another value for a setting: games=1000.")
    ] = None,
    json: AsJson = False,
) -> int:
    """Learn a policy from games against itself: the agent policy:FILE. Ctrl-C keeps what was learned so far."""
    import cardai
    from cardai.errors import CardaiError, unknown
    from cardai.show.progress import Line
    from evaluators import settings
    from evaluators.policies import nfsp, ppo

    chosen = next((module for module in (ppo, nfsp) if preset in module.PRESETS), None)
    if chosen is None:
        raise CardaiError(unknown("preset", preset, [*ppo.PRESETS, *nfsp.PRESETS]))
    changes = {one.partition("=")[0]: one.partition("=")[2] for one in change or ()}
    if not out.parent.is_dir():
        raise CardaiError(f"cannot write {out}: there is no folder {out.parent}")
    wanted = settings.read(type(chosen.PRESETS[preset]), None, settings.as_plain(chosen.PRESETS[preset]) | changes)
    played = cardai.load(game)
    with Line("learning", played) as progress:
        policy = chosen.train(
            played, wanted, seed=seed, variant=variant, seats=seats, encoder=encoder, progress=progress
        )
    policy.save(out)
    facts = policy.metadata
    if json:
        print(json_module.dumps({"out": str(out), **facts.metrics, "seconds": facts.seconds}, indent=2))
    else:
        games, decisions = facts.metrics["games"], facts.metrics["decisions"]
        print(f"policy:{out} learned from {games} games, {decisions} decisions, in {facts.seconds:.0f} s")
    return 0
