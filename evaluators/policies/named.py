"""The agent `policy:NAME`, by the name of a policy that comes with cardai or by the path of a file.

This module is loaded whenever agents are listed, so it imports no JAX.
"""

from pathlib import Path

from cardai.errors import CardaiError
from cardai.evaluators.jax_start import check_devices
from cardai.evaluators.network_file import shipped_files
from cardai.files.named import note, place_of
from cardai.game import Game
from cardai.playing.agents.spec import Agent

FILE = "policy.safetensors"
"""The name of the policy's file in the folder of a run."""
SHIPPED = Path(__file__).parent / "shipped"
"""The policies that come with cardai: GAME/NAME.safetensors."""


def find_agent(game: Game, spec: str, argument: str, options: dict[str, str]) -> Agent:
    """Returns the agent `policy:NAME`, `policy:FILE` or `policy:FOLDER`, the folder of a run of `learn`.

    It is for the entry-point group `cardai.agents`.

    Takes its flags out of `options`: `?greedy` plays the most probable move, `?any_variant` allows a variant that it
    was not trained on. Raises CardaiError if the file holds no policy.
    """
    flags = {}
    for name in ("greedy", "any_variant"):
        value = options.pop(name, None)
        if value not in (None, ""):
            raise CardaiError(f"agent {spec!r}: {name!r} takes no value")
        flags[name] = value is not None
    called = f"policy:{argument}"  # a model may have the same name
    place = place_of(called) or shipped_files(SHIPPED, game.name).get(argument) or Path(argument)
    place = place / FILE if place.is_dir() else place
    note(called, place)
    check_devices()
    from cardai.evaluators.policies.policy import load

    return load(place).agent(spec=spec, **flags)


def listed(game: Game) -> dict[str, str]:
    """Returns the agents of the policies that come with cardai for a game, with a line about each: spec -> line."""
    line = "plays the most probable move of a policy network that comes with cardai"
    return {f"policy:{name}?greedy": line for name in shipped_files(SHIPPED, game.name)}
