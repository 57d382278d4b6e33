"""What follows from a game's declarations, for its author: fields, parts, a position and its view as numbers."""

from typing import Any

import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from cardai.game import Game
from cardai.game.declared import state_of
from cardai.game.wording import moves_of

PARTS = (
    "resample", "blank", "encoders", "holdings", "show", "zones", "spell", "parse", "tell", "picks", "actions",
    "max_moves", "pieces", "copies", "weight",
)  # fmt: skip
"""The fields of `Game` that may follow from a declaration."""

_SEEN = {"all": "all", "own": "its own seat", "others": "all but its own seat", "nobody": "nobody"}


def facts(game: Game, seats: int, seed: int, plies: int) -> dict[str, Any]:
    """The fields of a declared state, which parts of the game follow, and a position after some random moves.

    In JSON's types. `fields` is empty for a game that does not declare its state.
    """
    state = state_of(game.state)
    position, chance = game.new(seats, seed), np.random.default_rng(seed)
    while position.turn >= 0 and position.ply < plies:
        moves = game.moves(position)
        position = game.play(position, moves[chance.integers(len(moves))])
    seat = max(int(position.turn), 0)
    encoder = next(iter(game.learning.encoders.items()), None)
    fields = {} if state is None else {
        name: {
            "what": field.what, "of": "each seat" if field.each else "the game",
            "cards lie there": field.is_place, "seen by": _SEEN[field.sees], "name": state.label(name),
        }
        for name, field in state.fields.items()
    }  # fmt: skip
    return {
        "game": game.name,
        "fields": fields,
        "undeclared": [] if state is None else state.undeclared,
        "parts": {name: _origin(game, name) for name in PARTS},
        "seat": seat,
        "text": game.text.show(position, seat),
        "moves": [game.text.spell(position, move) for move in game.moves(position)],
        "places": [
            {"name": one.name, "seat": one.seat, "shown": one.listed, "hidden": one.hidden, "note": one.words}
            for one in (() if game.table.zones is None else game.table.zones(position, seat))
        ],
        "encoder": None if encoder is None else encoder[0],
        "segments": {} if encoder is None else {one.name: list(one.shape) for one in encoder[1].layout(seats)},
    }


def _origin(game: Game, name: str) -> str:
    """Who made a part of a game: "the game", "its declaration", "the core", "" if it has none."""
    declared, value = state_of(game.state), game.get(name)
    if value is None or (hasattr(value, "__len__") and not len(value)):
        return ""
    if declared is None:
        return "the game"
    if name in ("pieces", "copies"):
        return "its declaration" if tuple(value) in (declared.deck.all_names, declared.copies) else "the game"
    if name in ("actions", "max_moves"):
        moves = moves_of(game.move)
        forms = None if moves is None else moves.forms(declared)
        same = forms is not None and (value == len(forms) if name == "max_moves" else list(value) == forms)
        return "its declaration" if same else "the game"
    function = next(iter(value.values())).layout if name == "encoders" else value
    function = getattr(function, "func", getattr(function, "py_func", function))
    module = function.__module__
    if module == "cardai.game.text":
        return "the core"
    return "its declaration" if module.startswith("cardai.game.") else "the game"


def table(shown: dict[str, Any]) -> Group:
    """What `facts` gives, for people."""
    fields = Table("field", "what", "of", "cards lie there", "seen by", "in words", title="Fields of the state")
    for name, field in shown["fields"].items():
        lie = "yes" if field["cards lie there"] else ""
        fields.add_row(name, field["what"], field["of"], lie, field["seen by"], field["name"])
    for name in shown["undeclared"]:
        fields.add_row(name, "a number", "", "", "in no view", "")
    parts = Table("part", "made by", title="Parts of the game")
    for name, origin in shown["parts"].items():
        parts.add_row(name, origin or "-")
    segments = Table("segment", "shape", title=f"Encoder {shown['encoder']}")
    for name, shape in shown["segments"].items():
        segments.add_row(name, " x ".join(map(str, shape)) or "1")
    moves = f"p{shown['seat']} may: {', '.join(shown['moves']) or 'nothing, the game is over'}"
    return Group(
        *([fields] if shown["fields"] else [Text("The game does not declare its state (cardai.game.declared).")]),
        parts, Text(f"\nWhat p{shown['seat']} is told:"), Text(shown["text"]), Text(moves), Text(""), segments,
    )  # fmt: skip


def games(rows: list[dict[str, Any]]) -> Group:
    """The games, a dict each: its name with its `error`, or with what `cardai games --json` says of it."""
    table = Table("game", "title", "version", "seats", "variants", "suites")
    options = []
    for row in rows:
        if "error" in row:
            table.add_row(row["name"], row["error"])
            continue
        seats = f"{row['seats'][0]}-{row['seats'][-1]}" if len(row["seats"]) > 1 else str(row["seats"][0])
        lists = ", ".join(row["variants"]), ", ".join(row["suites"])
        table.add_row(row["name"], row["title"], str(row["version"]), seats, *lists)
        if row["options"]:
            options.append(Text(f"Options of {row['name']}: {', '.join(row['options'])}"))
    set_as = "An option is set as in --variant 'NAME?option=value&option=value'; cardai rules GAME lists the values."
    return Group(table, *options, Text(set_as))
