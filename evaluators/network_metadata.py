"""What every network is for and how it was trained: what the metadata of models and of policies have in common."""

import importlib.metadata
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from cardai.errors import BadArgument, CardaiError, short, whole
from cardai.evaluators.network_file import layout_fingerprint
from cardai.files import settings
from cardai.files.settings import setting
from cardai.game import Game, Segment, is_game
from cardai.game.compiled.doors import check_text
from cardai.playing.machine import commit


@dataclass(frozen=True, kw_only=True)
class NetworkMetadata:
    """What a network is for and how it was made.

    - `game`, `game_version`: the name of the game and the version of its rules.
    - `variant`, `options`: the name of the variant and its options, name -> number.
    - `seats`: the number of seats. `encoder`: the name of the encoder that makes the rows.
    - `about`: a line for people.
    - `training`: the config of the training run; `metrics`: its figures; `seconds`: how long it took.
    - `commit`, `cardai`: the commit of the code that trained it, and the version of cardai.
    """

    noun: ClassVar[str]
    """What messages call the network."""
    any_seats: ClassVar[bool] = False
    """Whether it plays with any number of seats for which its encoder has the same layout."""

    game: str
    game_version: int = setting(span=(0, math.inf))
    variant: str
    options: Mapping[str, int]
    seats: int = setting(span=(1, 62))
    encoder: str
    about: str = ""
    training: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    commit: str = ""
    cardai: str = ""

    @classmethod
    def of(cls, game: Game, variant: str, seats: int, encoder: str, **more: Any) -> Self:
        """Return the metadata of a network for the present version of a game. `more`: the other fields."""
        origin: dict[str, Any] = {"commit": commit() or "", "cardai": importlib.metadata.version("cardai")}
        return cls(
            game=game.name,
            game_version=game.version,
            variant=variant,
            options=game.variant_options(variant),
            seats=seats,
            encoder=encoder,
            **origin | more,
        )

    @classmethod
    def from_json(cls, entries: Mapping[str, Any]) -> Self:
        """Return the metadata in the entries of a file. Raises CardaiError if one is missing or of another kind."""
        names = settings.names(cls)
        for name in names:
            if name not in entries:
                raise CardaiError(f"its metadata lacks {name!r}")
        return settings.made(cls, {name: entries[name] for name in names})

    @property
    def fingerprint(self) -> str:
        """A hash of the encoder's layout."""
        raise NotImplementedError

    def check_fits(self, game: Game, variant: str | None, seats: int | None, name: str) -> None:
        """Raise CardaiError, which says what differs, unless the network of this name is for this game.

        `variant`, `seats`: those of the table. None is not checked.
        """
        is_game(game)
        if seats is not None:
            whole("seats", seats)
        if variant is not None:
            check_text("variant", variant)
        if game.name != self.game:
            raise BadArgument(f"{name} is a {self.noun} of {self.game}, not of {game.name}")
        if game.version != self.game_version:
            raise CardaiError(
                f"{name} is a {self.noun} of {game.name} version {self.game_version}; here it is version {game.version}"
            )
        if self.encoder not in game.learning.encoders:
            known = ", ".join(game.learning.encoders) or "none"
            raise CardaiError(f"{name} needs the encoder {self.encoder!r}; {game.name} has {known}")
        if layout_fingerprint(layout_of(game, self.encoder, self.seats)) != self.fingerprint:
            raise CardaiError(
                f"{name} was made for another encoder {self.encoder!r}: the layout of {game.name}'s has changed"
            )
        if seats not in (None, self.seats) and not (
            self.any_seats and layout_fingerprint(layout_of(game, self.encoder, seats)) == self.fingerprint
        ):
            raise BadArgument(f"{name} is a {self.noun} for {self.seats} seats, not for {seats}")
        if variant is not None:
            self._check_variant(game, game.canonical(variant), name)

    def is_own_variant(self, game: Game, states: np.ndarray, name: str) -> bool:
        """Return whether STATE[n] `states` are of the network's variant, by the options in the first of them.

        Raises CardaiError if the game has no such variant any more: then it is not known what the network saw.
        """
        if self.variant not in game.variants or dict(game.variants[self.variant]) != dict(self.options):
            raise CardaiError(
                f"{name} was trained on the variant {self.variant!r} ({_listed(self.options)}), which {game.name} does"
                " not have any more, so it cannot play another one"
            )
        own = game.options(self.seats, self.variant)
        names = {option for each in game.variants.values() for option in each}
        return all(int(states[option][0]) == int(own[option][0]) for option in names)

    def _check_variant(self, game: Game, variant: str, name: str) -> None:
        if variant != self.variant:
            raise BadArgument(
                f"{name} is a {self.noun} of {game.name}'s variant {self.variant!r}, not {short(variant)}"
            )
        if game.variant_options(variant) != dict(self.options):
            raise CardaiError(
                f"{name} was made when the variant {variant!r} was {_listed(self.options)}; now it is"
                f" {_listed(game.variant_options(variant))}"
            )


def layout_of(game: Game, encoder: str, seats: int) -> tuple[Segment, ...]:
    """Return the layout of an encoder of the game."""
    return tuple(game.encoder(encoder).layout(seats))


def _listed(options: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items()) or "without options"
