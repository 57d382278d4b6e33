"""The rules of a game for people: the file RULES.md beside the game's module."""

from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown

from cardai.errors import CardaiError
from cardai.game import Game

FILE = "RULES.md"


def read(game: Game) -> str:
    """A game's rules, as Markdown. Raises CardaiError if the game has no file of rules, or it cannot be read."""
    module = Path(getattr(game.deal, "py_func", game.deal).__code__.co_filename)
    file = module.parent / FILE
    if not file.is_file():
        raise CardaiError(f"{game.name} has no written rules: there is no {FILE} beside {module}")
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CardaiError(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from None


def options(game: Game) -> str:
    """The options of a game and their values, as Markdown; "" if it has none."""
    if not game.allowed:
        return ""
    names = ", ".join(f"`{name}`" for name in game.variants)
    rows = [f"| `{name}` | {words} |" for name, words in game.allowed_in_words.items()]
    option, values = next((name, values) for name, values in game.allowed.items())
    example = f"{game.default_variant}?{option}={values[0]}"
    lines = [
        "\n## Options at the command line",
        f"Variants are {names}. Wherever a variant is named, options may follow: `--variant '{example}'`.",
        "| option | values |\n|---|---|\n" + "\n".join(rows),
    ]
    return "\n\n".join(lines) + "\n"


def show(text: str, console: Console) -> None:
    """Print rules. On a terminal they are laid out, and a pager shows them if they are longer than the screen."""
    if not console.is_terminal:
        console.print(text, markup=False, highlight=False, soft_wrap=True, end="")
        return
    page = Markdown(text)
    if len(console.render_lines(page)) < console.height:
        console.print(page)
        return
    with console.pager():
        console.print(page)
