"""What a browser was sent of a finished game, compared with the record of that game."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cardai.game import Game, GameState, listed_pieces
from cardai.guests.web.views import position_view
from cardai.playing.table.one import OneGame

WORLDS = 6
LINES = 4  # of a log, that are looked at: the others came in earlier frames too
NAMES_HIDDEN_CARDS = "literature", "crazy"  # who asks names a card they do not see; one played may be shuffled back


@dataclass
class Findings:
    """What was looked at: frames, and hidden cards looked for in them; and what is wrong."""

    frames: int = 0
    cards: int = 0
    problems: list[str] = field(default_factory=list)


def inspect(
    game: Game, variant: str, seats: int, seed: int, moves: np.ndarray, frames: Sequence[dict[str, Any]]
) -> Findings:
    """Look for what is hidden in the frames of a game.

    A frame must be, value by value, the view that another world of its seat gives, and no piece or word of it may be of
    a card whose place differs between worlds of the seat.
    """
    found = Findings()
    by_ply: dict[int, list[dict[str, Any]]] = {}
    for frame in frames:
        if "ply" in frame:
            by_ply.setdefault(frame["ply"], []).append(frame)
    table = OneGame(game, [None] * seats, seed, variant)
    for ply in range(len(moves) + 1):
        for frame in by_ply.get(ply, ()):
            found.frames += 1
            compare(table, frame, found)
            search(table, frame, found)
        if ply < len(moves):
            table.play(moves[ply])
    assert found.frames == sum(map(len, by_ply.values())), "there are frames of other plies"
    return found


def compare(table: OneGame, frame: dict[str, Any], found: Findings) -> None:
    """A frame is what another world of its seat gives."""
    expected = position_view(table, frame["seat"], 12345, decides=not frame["watches"])
    fresh = min(LINES, len(frame["log"]))
    past = table.events(frame["seat"], table.ply - fresh, 54321)
    expected["log"] = [[mover, words, *([led_to] if led_to else [])] for mover, words, led_to, _ in past]
    sent = {**frame, "log": frame["log"][len(frame["log"]) - fresh :]}
    for name, value in json.loads(json.dumps(expected)).items():
        if sent.get(name) != value:
            found.problems.append(f"ply {frame['ply']}: {name} is {sent.get(name)}, in another world {value}")


def search(table: OneGame, frame: dict[str, Any], found: Findings) -> None:
    """No hidden card lies face up or is named."""
    game, hidden = table.game, hidden_pieces(table, frame["seat"])
    found.cards += len(hidden)
    for zone in frame.get("zones", ()):
        lying = hidden.intersection(zone["pieces"])
        if lying and not hidden <= set(zone["pieces"]):  # a list of all that is hidden tells nothing of any of it
            found.problems.append(f"ply {frame['ply']}: {zone['name']} shows {sorted(lying)}")
    if game.name not in NAMES_HIDDEN_CARDS:
        words = {word.strip(".,;:()") for text in texts_of(frame) for word in text.split()}
        named = {piece for piece in hidden if game.table.pieces[piece] in words}
        if named:
            found.problems.append(f"ply {frame['ply']}: words name {sorted(named)}")


def texts_of(frame: dict[str, Any]) -> Iterable[str]:
    """All words of a game in a frame."""
    yield from (text for _, *texts in frame["log"] for text in texts)
    yield from (words for words, _ in frame.get("moves", ()))
    yield frame.get("text", "")


def hidden_pieces(table: OneGame, seat: int) -> set[int]:
    """The cards whose place is not the same in all worlds of a seat; none where a name is of several cards."""
    if table.game.table.holdings is None or not table.game.table.pieces or len(table.game.table.copies):
        return set()
    places = [places_of(table.game, table.seen(seat, luck)) for luck in range(WORLDS)]
    return {card for card in places[0] if len({place[card] for place in places}) > 1}


def places_of(game: Game, state: GameState) -> dict[int, int]:
    """Where each card lies: the number of its place."""
    assert game.table.holdings is not None
    return {
        card: number for number, cards in enumerate(game.table.holdings(state)) for card in listed_pieces(int(cards))
    }
