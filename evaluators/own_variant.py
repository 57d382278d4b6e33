"""Whether a network plays the variant that it was trained on."""

from collections.abc import Mapping

import numpy as np

from cardai.errors import CardaiError
from cardai.game import Game


def is_own_variant(
    game: Game, name: str, variant: str, options: Mapping[str, int], seats: int, states: np.ndarray
) -> bool:
    """Return whether STATE[n] `states` are of a variant, by the options in the first of them.

    `name`: of the network, in messages. `variant`, `options`, `seats`: what it was trained on. Raises CardaiError if
    the game has no such variant any more: then it is not known what the network saw.
    """
    if dict(game.variants.get(variant, {})) != dict(options) or variant not in game.variants:
        raise CardaiError(
            f"{name} was trained on the variant {variant!r} ({listed(options)}), which {game.name} does not have any"
            " more, so it cannot play another one"
        )
    own = game.options(seats, variant)
    names = {option for each in game.variants.values() for option in each}
    return all(int(states[option][0]) == int(own[option][0]) for option in names)


def listed(options: Mapping[str, int]) -> str:
    """Return a variant's options in words."""
    return ", ".join(f"{name}={value}" for name, value in options.items()) or "without options"
