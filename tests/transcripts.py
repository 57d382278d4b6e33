"""Golden transcripts: whole games a person can read, one file each, that every version of the rules must replay.

    python tests/transcripts.py write moska            rewrites all transcripts of a game from their headers
    python tests/transcripts.py add moska long-bout --seed 7 --players bot3,bot3,random,random [--variant appendix]

They lie in `tests/data/transcripts/GAME/NAME.txt`. A header (game, version, variant, seats, seed, players), then a line
for each move, `p2 attacks 6S 6H`, and the last line with the scores. From time to time the table as a seat sees it
stands between two moves:

    [p2 sees]
        Trump diamonds ...

When the rules change on purpose, raise the game's version, run `write` and read the difference.
"""

import argparse
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from cardai.errors import CardaiError
from cardai.game import Game, GameState
from cardai.playing.agents.spec import agent
from cardai.playing.table.many import play
from cardai.registry import available, load

ROOT = Path(__file__).parent / "data" / "transcripts"
EXAMPLES = Path(__file__).parent.parent / "examples"
VIEWS = 5  # views of the table in a long game, about
SPACING = 3  # moves between two views, at least
_HEADER = ("game", "version", "variant", "seats", "seed", "players")
_INDENT = "    "


@dataclass
class Transcript:
    """A transcript as text: `events` are ("move", seat, spelling) and ("view", seat, what it sees), in order."""

    header: dict[str, str]
    events: list[tuple[str, int, str]] = field(default_factory=list)
    scores: list[str] = field(default_factory=list)

    @property
    def moves(self) -> int:
        """How many moves were played."""
        return sum(kind == "move" for kind, _, _ in self.events)


def game_of(name: str) -> Game:
    """A game by its name, or an example by that of its folder."""
    return load(name if name in available() else str(EXAMPLES / name))


class MismatchError(AssertionError):
    """A transcript that the rules do not replay; the message says where."""


def read(text: str) -> Transcript:
    """Parse a transcript; ValueError for a line that has no meaning."""
    head, _, body = text.partition("\n\n")
    header = dict(line.split(": ", 1) for line in head.splitlines())
    if tuple(header) != _HEADER:
        raise ValueError(f"the header is {', '.join(header)}; wanted {', '.join(_HEADER)}")
    transcript = Transcript(header)
    for line in body.splitlines():
        if line.startswith(_INDENT) or not line:
            kind, seat, seen = transcript.events[-1]
            if kind != "view":
                raise ValueError(f"{line!r} belongs to no view")
            transcript.events[-1] = (kind, seat, f"{seen}\n{line[len(_INDENT) :]}" if seen else line[len(_INDENT) :])
        elif line.startswith("["):
            transcript.events.append(("view", int(line.removeprefix("[p").removesuffix(" sees]")), ""))
        elif line.startswith("scores: "):
            transcript.scores = line.removeprefix("scores: ").split(", ")
        else:
            seat, _, spelled = line.removeprefix("p").partition(" ")
            transcript.events.append(("move", int(seat), spelled))
    return transcript


def written(transcript: Transcript) -> str:
    """The text of a transcript."""
    lines = [f"{name}: {value}" for name, value in transcript.header.items()] + [""]
    for kind, seat, text in transcript.events:
        if kind == "move":
            lines.append(f"p{seat} {text}")
        else:
            lines.append(f"[p{seat} sees]")
            lines.extend((_INDENT + line).rstrip() for line in text.splitlines())
    return "\n".join([*lines, f"scores: {', '.join(transcript.scores)}", ""])


def replay(game: Game, transcript: Transcript) -> GameState:
    """Play a transcript move by move and return the end; MismatchError at the first line that does not hold."""
    header = transcript.header
    if (header["game"], header["version"]) != (game.name, str(game.version)):
        raise MismatchError(f"written for {header['game']} {header['version']}, this is {game.name} {game.version}")
    state = game.new(int(header["seats"]), int(header["seed"]), header["variant"])
    for kind, seat, text in transcript.events:
        where = f"ply {int(state['ply'])}, p{seat}"
        if kind == "view":
            seen = _seen(game, state, seat)
            if seen != text:
                raise MismatchError(f"{where} saw\n{text}\nnow\n{seen}")
            continue
        if int(state["turn"]) != seat:
            raise MismatchError(f"{where} {text}: it is seat {int(state['turn'])}'s turn")
        try:
            move = game.text.parse(state, text)
        except ValueError as error:
            raise MismatchError(f"{where} {error}") from None
        if game.text.spell(state, move) != text:
            raise MismatchError(f"{where} {text}: is spelled {game.text.spell(state, move)!r} now")
        if not game.is_allowed(state, move):
            raise MismatchError(f"{where} {text}: is not legal now")
        state = game.play(state, move)
    if int(state["turn"]) >= 0:
        raise MismatchError(f"the game is not over after {transcript.moves} moves")
    if _scores(game, state) != transcript.scores:
        raise MismatchError(f"scores were {transcript.scores}, are {_scores(game, state)} now")
    return state


def played(game: Game, variant: str, seed: int, specs: list[str]) -> Transcript:
    """The transcript of the game that these agents play from a seed."""
    for spec in specs:
        if spec.startswith("python:"):
            raise CardaiError(f"a transcript needs agents that play the same everywhere, not {spec!r}")
    agents = [agent(game, spec) for spec in specs]
    lineup, seeds = np.arange(len(specs))[None], np.array([seed], np.uint64)
    moves = play(game, agents, lineup, seeds, variant=variant, record=True, checked=True).moves[0]
    assert moves is not None
    state = game.new(len(specs), seed, variant)
    values = (game.name, game.version, variant, len(specs), seed, ", ".join(specs))
    transcript = Transcript({name: str(value) for name, value in zip(_HEADER, values, strict=True)})
    step = max(SPACING, len(moves) // VIEWS)
    for ply, move in enumerate(moves):
        seat = int(state["turn"])
        if ply % step == 0:
            transcript.events.append(("view", seat, _seen(game, state, seat)))
        transcript.events.append(("move", seat, game.text.spell(state, move)))
        state = game.play(state, move)
    transcript.events.append(("view", 0, _seen(game, state, 0)))
    transcript.scores = _scores(game, state)
    return transcript


def _seen(game: Game, state: GameState, seat: int) -> str:
    return "\n".join(line.rstrip() for line in game.text.show(state, seat).splitlines())


def _scores(game: Game, state: GameState) -> list[str]:
    return [f"p{seat} {score:g}" for seat, score in enumerate(game.payoff.of(game.points(state)))]


def files(name: str) -> list[Path]:
    """A game's transcripts."""
    return sorted((ROOT / name).glob("*.txt"))


def _write(file: Path, transcript: Transcript) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(written(transcript), encoding="utf-8")
    print(f"{file.relative_to(ROOT)}: {transcript.moves} moves")


def main(arguments: list[str] | None = None) -> None:
    """The command of the module's docstring."""
    parser = argparse.ArgumentParser(prog="python tests/transcripts.py", description="Golden transcripts.")
    commands = parser.add_subparsers(dest="command", required=True)
    write = commands.add_parser("write", help="rewrite all transcripts of a game from their headers")
    add = commands.add_parser("add", help="add a transcript")
    for command in (write, add):
        command.add_argument("game")
    add.add_argument("name")
    add.add_argument("--players", required=True, help="agent specs, separated by commas")
    add.add_argument("--seed", type=int, default=0)
    add.add_argument("--variant")
    chosen = parser.parse_args(arguments)
    try:
        game = game_of(chosen.game)
        if chosen.command == "add":
            variant = chosen.variant or game.default_variant
            transcript = played(game, variant, chosen.seed, chosen.players.split(","))
            _write(ROOT / game.name / f"{chosen.name}.txt", transcript)
            return
        for file in files(game.name):
            header = read(file.read_text(encoding="utf-8")).header
            _write(file, played(game, header["variant"], int(header["seed"]), header["players"].split(", ")))
    except CardaiError as error:
        parser.exit(2, f"{error}\n")


if __name__ == "__main__":
    main()
