"""Figures as files: SVG, PNG or PDF, written whole or not at all."""

from pathlib import Path
from typing import Any

from cardai.errors import CardaiError

FORMATS = (".svg", ".png", ".pdf")


def figure_path(path: str | Path) -> Path:
    """The path of a figure, if its ending and its folder will do; else CardaiError. For asking before measuring."""
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise CardaiError(f"{target}: a figure ends in {', '.join(FORMATS)}, not {target.suffix or 'nothing'}")
    if not target.parent.is_dir():
        raise CardaiError(f"cannot write {target}: there is no folder {target.parent}")
    if target.is_dir():
        raise CardaiError(f"cannot write {target}: it is a folder")
    return target


def save_figure(target: Path, drawn: Any) -> None:
    """Write a figure of matplotlib's whole or not at all, to a path that `figure_path` has seen; CardaiError if not."""
    unfinished = target.with_name(f".{target.name}.part")
    try:
        drawn.savefig(unfinished, format=target.suffix[1:].lower(), dpi=150)
        unfinished.replace(target)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise CardaiError(f"cannot write {target}: {error.strerror or error}") from None
