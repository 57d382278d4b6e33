"""Agents that are named for several games at once."""

import re
from collections.abc import Iterable, Sequence

from cardai.errors import CardaiError, unknown
from cardai.game import Game


def named_by_game(
    specs: Sequence[str], games: Sequence[Game], others: Iterable[str] = (), what: str = "--opponents"
) -> dict[str, list[str]]:
    """The specs for each game by its name, from specs of which some begin with a game: `moska=greedy:best`, `bot3`.

    A game holds for the specs that follow it, too, until the next one; specs before the first game are for all games.
    `others`: names of games that may occur, and are left out. `what`: where the specs stand, for messages. Raises
    CardaiError for another game, and for a game that is followed by no spec.
    """
    named: dict[str, list[str]] = {game.name: [] for game in games}
    ignored: dict[str, list[str]] = {name: [] for name in others if name not in named}
    chosen = [*named.values()]
    for text in specs:
        match = re.fullmatch(r"([A-Za-z_]\w*)=(.*)", text, re.DOTALL)
        if match is not None:
            known = named | ignored
            if match[1] not in known:
                raise CardaiError(f"{what} {text!r}: {unknown('game', match[1], known)}")
            if not match[2].strip():
                raise CardaiError(f"{what} {text!r} names no agent of {match[1]}")
            chosen, text = [known[match[1]]], match[2].strip()
        for own in chosen:
            own.append(text)
    return named
