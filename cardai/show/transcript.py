"""A recorded game in words: who played, every move, and the positions between them."""

from cardai.data import record
from cardai.data.record import Header, RecordedGame
from cardai.game import Game, GameState
from cardai.table.transcript import words_of

_INDENT = "      | "


def transcript(
    game: Game, header: Header, played: RecordedGame, seat: int | None = None, positions: bool = True
) -> list[str]:
    """The lines of a transcript, one for each move.

    `seat`: word the moves of others as this seat is told of them, and leave out the seed, from which all could be dealt
    again. `positions`: show the table before each move too, as `seat` sees it, or as the seat to move does. Raises
    CardaiError for a game that does not replay.
    """
    reader = f"seed {played.seed}" if seat is None else f"as p{seat} is told"
    lines = [f"{game.name} {header.version} ({played.variant}), game {played.number}, {reader}"]
    lines += [f"p{place} is {header.agents[index]}" for place, index in enumerate(played.lineup)]

    def note(state: GameState, move: object, ply: int) -> None:
        turn = int(state["turn"])
        if positions:
            lines.extend(_position(game, state, turn if seat is None else seat, ply))
        lines.append(f"{ply:>4}  p{turn} {words_of(game, state, move, seat)}")  # pyright: ignore[reportArgumentType]

    end = record.replay(game, played, note)
    if positions and game.ending:
        lines.append(game.ending(end))
    return lines + [f"p{place} scores {game.payoff.text(score)}" for place, score in enumerate(played.scores)]


def _position(game: Game, state: GameState, seat: int, ply: int) -> list[str]:
    """The table as a seat sees it, made from a world of that seat."""
    world = game.world(state, seat, seed=ply)
    return ["", f"{_INDENT}as p{seat} sees it", *(_INDENT + line for line in game.show(world, seat).splitlines())]
