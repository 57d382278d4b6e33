"""The digest in files of tensors (safetensors), which tells a damaged file from a sound one.

The metadata in a file's header have one entry, `cardai`, a JSON object. In what cardai writes, the object's last entry
is `digest`: that of all other bytes of the file. A file is known by its content without it (`undigested`).
"""

import re

from cardai.files.named import digest_of

_END = re.compile(rb'}"')  # of the JSON object: quotes inside are escaped
_ENTRY = re.compile(rb', \\"digest\\": \\"([0-9a-f]{32})\\"(?=}")')


def digested(content: bytes) -> bytes:
    """Return a file's content with its digest. `content`: without one, as safetensors writes it."""
    entry = rb", \"digest\": \"%b\"" % digest_of(content).encode()
    return _with_header(content, _END.sub(lambda end: entry + end[0], _header(content), count=1))


def undigested(content: bytes) -> bytes:
    """Return a file's content without its digest, or as it is if it has none."""
    header = _header(content)
    return _with_header(content, _ENTRY.sub(b"", header, count=1)) if _ENTRY.search(header) else content


def damage_in(content: bytes) -> str:
    """Return in words what is wrong with a file's content, "" if it is what its digest was made of."""
    entry = _ENTRY.search(_header(content))
    if entry is None:
        return "its metadata have no digest"
    is_sound = entry[1].decode() == digest_of(undigested(content))
    return "" if is_sound else "its content does not fit its digest"


def _header(content: bytes) -> bytes:
    return content[8 : 8 + int.from_bytes(content[:8], "little")]


def _with_header(content: bytes, header: bytes) -> bytes:
    """Return the content with another header, filled with blanks as safetensors does."""
    header = header.rstrip(b" ")
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + content[8 + len(_header(content)) :]
