"""A seal: a hash in a JSON file by which a later change of the file is detected."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cardai.errors import CardaiError
from cardai.files.reading import read_json
from cardai.files.writing import write_whole

SEAL = "seal"


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content with its hash under `SEAL`."""
    return {**content, SEAL: _hash(content)}


def write_sealed(path: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    """Write content as sealed JSON, whole or not at all; return what `read_sealed` will read.

    Raises CardaiError if the file cannot be written.
    """
    written = sealed(json.loads(json.dumps(content)))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, (json.dumps(written, indent=1, ensure_ascii=False) + "\n").encode())
    except OSError as error:
        raise CardaiError(f"cannot write {path}: {error.strerror or error}") from None
    return written


def read_sealed(path: Path) -> dict[str, Any]:
    """Read sealed JSON. Raises CardaiError for a file that cannot be read, or whose content does not match its seal."""
    try:
        content = read_json(path)
    except CardaiError as error:
        raise CardaiError(f"{error}; delete it, and it will be measured again") from None
    if not isinstance(content, dict) or content.get(SEAL) != _hash(content):
        raise CardaiError(f"{path} was changed after it was measured; delete it, and it will be measured again")
    return content


def _hash(content: Mapping[str, Any]) -> str:
    unsealed = {key: value for key, value in content.items() if key != SEAL}
    text = json.dumps(unsealed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
