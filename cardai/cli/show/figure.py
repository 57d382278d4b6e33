"""Figures as files: SVG, PNG or PDF. A figure is written whole or not at all."""

import io
import tempfile
from pathlib import Path
from typing import Any

from cardai.errors import CardaiError
from cardai.files.writing import write_bytes

FORMATS = (".svg", ".png", ".pdf")


def figure_path(path: str | Path) -> Path:
    """Return the path if a figure can be written there. Call it before a long measurement.

    Raises CardaiError if the ending is not one of `FORMATS`, the folder does not exist or cannot be written to, or the
    path is a folder.
    """
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise CardaiError(f"{target}: a figure ends in {', '.join(FORMATS)}, not {target.suffix or 'nothing'}")
    if not target.parent.is_dir():
        raise CardaiError(f"cannot write {target}: there is no folder {target.parent}")
    if target.is_dir():
        raise CardaiError(f"cannot write {target}: it is a folder")
    try:
        with tempfile.TemporaryFile(dir=target.parent):
            return target
    except OSError as error:
        raise CardaiError(f"cannot write to {target.parent}: {error.strerror or error}") from None


def save_figure(path: str | Path, figure: Any) -> None:
    """Write a matplotlib figure in the format that the path's ending names.

    Raises CardaiError as `figure_path` does, and if the file cannot be written.
    """
    target, content = figure_path(path), io.BytesIO()
    figure.savefig(content, format=target.suffix[1:].lower(), dpi=150)
    write_bytes(target, content.getvalue())
