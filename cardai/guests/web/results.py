"""How people did at the tables of `cardai serve`, and their games as record files: `cardai study results`."""

from collections.abc import Callable, Sequence
from pathlib import Path

from cardai.cli.show.progress import Line
from cardai.errors import CardaiError
from cardai.game import Game
from cardai.guests.web.export import export
from cardai.guests.web.offers import offer_of
from cardai.guests.web.people import PeopleReport, measure_people
from cardai.guests.web.store import Store
from cardai.playing.agents.by_game import named_by_game
from cardai.registry import available


def report_on(game: Game, file: Path) -> PeopleReport:
    """How people did at a game. Raises CardaiError for a file that does not exist or holds no tables."""
    if not file.is_file():
        raise CardaiError(f"there is no file {file}; `cardai serve --data {file}` makes it")
    store = Store(file)
    try:
        return measure_people(store, game)
    finally:
        store.close()


def export_to(
    game: Game, file: Path, folder: Path, opponents: Sequence[str], overwrite: bool, announce: Callable[[str], None]
) -> None:
    """Write the finished games of people to record files, and say which.

    `opponents`: the agents that the server offered, since games are played again with them; the file does not choose
    which agents are loaded. Without any, the game's own players.
    """
    if not folder.is_dir():
        raise CardaiError(f"cannot write to {folder}: there is no such folder")
    store = Store(file)
    try:
        with Line("playing the games again", game):
            offer = offer_of(game, named_by_game(opponents, [game], others=available())[game.name])
            files, left_out = export(store, offer, folder, overwrite)
    finally:
        store.close()
    for written in files:
        announce(f"{written} holds games of people; `cardai verify {written}` checks it")
    if left_out:
        announce(
            f"{left_out} games were left out: they cannot be played again with today's rules and these --opponents"
        )
    if not files:
        announce("no finished games of people were found, apart from study games")
