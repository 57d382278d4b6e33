"""The rules of a game (`cardai.registry.rules_of`) and its options, printed for people."""

from rich.console import Console
from rich.markdown import Markdown

from cardai.game import Game


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
