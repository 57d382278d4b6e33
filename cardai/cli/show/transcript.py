"""A recorded game in words: who played, every move, and the positions between them."""

from cardai.cli.show.seats import Seats, plain
from cardai.game import Game, GameState
from cardai.playing.table.following import words_of
from cardai.records import record
from cardai.records.record import Header, RecordedGame

_INDENT = "      | "


def transcript(
    game: Game, header: Header, played: RecordedGame, seat: int | None = None, positions: bool = True
) -> list[str]:
    """The lines of a transcript, one for each move. Seats have names; `seat` is "you".

    `seat`: word the moves of others as this seat is told of them, and leave out the seed, from which all could be dealt
    again. `positions`: show the table before each move too, as `seat` sees it, or as the seat to move does. Raises
    CardaiError for a game that does not replay.
    """
    names = Seats(len(played.lineup), seat, game.teams)
    reader = f"seed {played.seed}" if seat is None else f"as seat {seat} is told"
    lines = [f"{game.name} {header.version} ({played.variant}), game {played.number}, {reader}"]
    lines += [_of(names, place, "is", header.agents[index]) for place, index in enumerate(played.lineup)]

    def note(state: GameState, move: object, ply: int) -> None:
        turn = int(state["turn"])
        if positions:
            lines.extend(_position(game, state, names, turn if seat is None else seat, ply))
        words = words_of(game, state, move, seat)  # pyright: ignore[reportArgumentType]
        lines.append(f"{ply:>4}  {names.line(turn, words)}")

    end = record.replay(game, played, note)
    if positions and game.text.ending:
        lines.append(names.sentence(game.text.ending(end)))
    scores = enumerate(played.scores)
    return lines + [_of(names, place, "scores", game.payoff.text(score)) for place, score in scores]


def _of(names: Seats, seat: int, verb: str, words: str) -> str:
    """A sentence about a seat: "Ada is bot3", "You are bot3"."""
    return f"{names.name(seat)} {plain(verb) if seat == names.own else verb} {words}"


def _position(game: Game, state: GameState, names: Seats, seat: int, ply: int) -> list[str]:
    """The table as a seat sees it, made from a world of that seat, in which the seat is "you"."""
    reader = Seats(len(names.names), seat, game.teams)
    shown = reader.view(game.text.show(game.world(state, seat, seed=ply), seat))
    head = "as you see it" if seat == names.own else f"as {names.name(seat)} sees it"
    return ["", _INDENT + head, *(_INDENT + line for line in shown.splitlines())]
