"""What a file is that is not what it should be: the cause in a sentence, where its first bytes tell.

Readers ask when they refuse a file. Nothing is repaired: a file that something changed on its way may be changed
elsewhere too.
"""

import re

_FIRST_BYTES = {
    b"\xef\xbb\xbf": "it begins with a byte order mark (BOM), which an editor added: save it as UTF-8 without one",
    b"\xff\xfe": "it is text in UTF-16: save it as UTF-8",
    b"\xfe\xff": "it is text in UTF-16: save it as UTF-8",
    b"\x1f\x8b": "it is compressed by gzip",
    b"\xfd7zXZ": "it is compressed by xz",
    b"BZh": "it is compressed by bzip2",
    b"\x28\xb5\x2f\xfd": "it is compressed by zstd",
    b"PK\x03\x04": "it is a ZIP archive",
    b"SQLite format 3\0": "it is a database of SQLite, such as `cardai serve` keeps its tables in",
    b"%PDF": "it is a PDF",
    b"\x89PNG": "it is a picture (PNG)",
    b"version https://git-lfs": "it is a pointer of Git LFS, not the file itself: `git lfs pull` fetches that",
    b'{"format":"cardai games': "it holds recorded games",
}
_HTML = re.compile(rb"\s*+<(?:!doctype html|html|\?xml|head)\b", re.IGNORECASE)
TENSORS = "it holds tensors (safetensors), as models do"
FIRST = 1 << 10
"""How many bytes from the beginning of a file `foreign_kind` needs."""


def foreign_kind(content: bytes) -> str:
    """What a file is that begins with these bytes (`FIRST` are enough), or "" if they do not tell."""
    first = content[:FIRST]
    if not first:
        return "it is empty"
    for begin, kind in _FIRST_BYTES.items():
        if first.startswith(begin):
            return kind
    if _HTML.match(first):
        return "it is a page of a web site (HTML), saved in place of the file"
    if len(first) > 8 and first[8:9] == b"{" and first[4:8] == bytes(4):
        return TENSORS
    if not first.strip():
        return "it holds nothing but blanks and line breaks"
    if len(first) > 7 and first[1:8:2] == bytes(4) and first[0:8:2].isascii() and 0 not in first[0:8:2]:
        return "it is text in UTF-16: save it as UTF-8"
    return ""
