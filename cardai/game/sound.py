"""Whether what a game says of itself fits together."""

import re
from collections.abc import Iterator
from typing import Any

from cardai.errors import CardaiError, short, unknown, whole
from cardai.game.compiled import together
from cardai.game.learning import MEASURES, TAKEN


def refuse_unsound(game: Any) -> None:
    """Raise CardaiError for the first thing a game says of itself that does not fit another."""
    for name in ("resample", "spell", "show"):
        if vars(game.rules if name == "resample" else game.text)[name] is None:
            raise CardaiError(f"{game.name}: the game needs {name}; it follows from a State and Moves")
    whole(f"{game.name}: max_moves", game.max_moves, 1)
    for problem in (*_of_table(game), *_of_seats(game), *_of_learning(game), *_of_options(game)):
        raise CardaiError(f"{game.name}: {problem}")
    blind = [name for name, player in game.agents.players.items() if player.sees == "own"]
    if blind and game.rules.blank is None:
        raise CardaiError(f'{game.name}: the player {blind[0]} sees="own", so the game needs the rule blank')
    if game.rules.together is not None:
        together.check_sealed(game.name, game.seats, game.state, game.move)
        if game.rules.is_open is not None:
            raise CardaiError(f"{game.name}: endings are solved move by move; a game has is_open or together")


def _of_table(game: Any) -> Iterator[str]:
    table = game.table
    if bool(table.pieces) != (table.zones is not None) or (table.picks is not None and table.zones is None):
        yield "zones and pieces are given together, and picks only with them"
    for term, sentence in game.text.terms.items():
        if not term or not isinstance(sentence, str) or not re.fullmatch(r"[^a-z].*[.!]", sentence):
            yield f"the term {short(term)} is explained by {short(sentence)}, no sentence"
    for kind, number in enumerate(table.copies):
        whole(f"{game.name}: copies[{kind}]", number, 1)
    if len(table.copies) and table.holdings is None:
        yield "copies says what holdings counts, so the game needs holdings too"
    if len(table.copies) and table.pieces and len(table.copies) != len(table.pieces):
        kinds = f"copies has {len(table.copies)} numbers, but there are {len(table.pieces)} pieces"
        yield f"{kinds}; it has one for each"


def _of_seats(game: Any) -> Iterator[str]:
    teams = whole(f"{game.name}: teams", game.teams, 0)
    if any(seats % teams for seats in game.seats if teams):
        divided = f"{in_words(game.seats)} seats cannot be {teams} teams of equal size"
        yield f"{divided}; 0 teams: each seat plays for itself; 1: all play together"
    if game.default_seats not in game.seats:
        yield f"default_seats is {short(game.default_seats)}, but the game is for {in_words(game.seats)} seats"


def _of_learning(game: Any) -> Iterator[str]:
    outcomes, rewards = game.learning.outcomes, game.learning.rewards
    for what, names in (("an outcome", outcomes), ("a reward", rewards)):
        for name in names:
            if name in TAKEN:
                yield f"{what} cannot be named {name!r}, which every game has already"
            if not name.isidentifier():  # a label may be a sum of several
                yield f"{what} cannot be named {name!r}; it must be a word, like 'points'"
    for name, outcome in outcomes.items():
        if outcome.waits:
            yield f"the outcome {name} has waits=True, which is for rewards"
    for name in outcomes.keys() & rewards.keys():
        yield f"{name!r} cannot be the name of an outcome and of a reward"
    for name in (*game.learning.measures, *(suite.measure for suite in game.agents.suites.values())):
        if name not in (*MEASURES, *outcomes):
            yield unknown("measure", name, (*MEASURES, *outcomes))
    for name in game.learning.tally:
        if name not in outcomes:
            yield f"tally: {unknown('outcome', name, outcomes)}"


def _of_options(game: Any) -> Iterator[str]:
    named = {name for options in game.variants.values() for name in options}
    for name in game.choices:
        if name not in named:
            yield f"choices has {name!r}, but no variant sets this option"
    for variant, options in game.variants.items():
        for name, value in options.items():
            if value not in game.choices.get(name, (value,)):
                yield f"the variant {variant} sets {name}={value}, which choices excludes"


def in_words(seats: range) -> str:
    """The numbers of seats of a game: "2", "2 to 8", "4 or 6"."""
    if len(seats) > 1 and seats.step == 1:
        return f"{seats[0]} to {seats[-1]}"
    return " or ".join(map(str, seats))
