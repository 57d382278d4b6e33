"""What a file is that is not what it should be: the cause in a sentence, where its first bytes tell.

Readers ask when they refuse a file. Nothing is repaired: a file that something changed on its way may be changed
elsewhere too.
"""

import re

from cardai.errors import is_printable

_FIRST_BYTES = {
    b"\xef\xbb\xbf": "it begins with a byte order mark (BOM), which an editor added: save it as UTF-8 without one",
    b"\xff\xfe": "it is text in UTF-16: save it as UTF-8",
    b"\xfe\xff": "it is text in UTF-16: save it as UTF-8",
    b"\x1f\x8b": "it is compressed by gzip",
    b"\xfd7zXZ": "it is compressed by xz",
    b"BZh": "it is compressed by bzip2",
    b"\x28\xb5\x2f\xfd": "it is compressed by zstd",
    b"7z\xbc\xaf": "it is a 7z archive",
    b"SQLite format 3\0": "it is a database of SQLite, such as `cardai serve` keeps its tables in",
    b"\x93NUMPY": "it is an array of NumPy (npy)",
    b"\x89HDF\r\n": "it is HDF5, as Keras writes models",
    b"GGUF": "it is a language model (GGUF)",
    b"PAR1": "it is a table (Parquet)",
    b"ARROW1": "it is a table (Arrow)",
    b"%PDF": "it is a PDF",
    b"\x89PNG": "it is a picture (PNG)",
    b"version https://git-lfs": "it is a pointer of Git LFS, not the file itself: `git lfs pull` fetches that",
    b'{"format":"cardai games': "it holds recorded games",
}
_PATTERNS = {
    rb"PK\x03\x04.{26}(?:[^/]*/)?(?:data\.pkl|\.format_version)": "it is a network of PyTorch (.pt)",
    rb"PK\x03\x04.{26}[^/]*\.npy": "it holds arrays of NumPy (npz)",
    rb"PK\x03\x04": "it is a ZIP archive",
    rb"\x80[\x02-\x05]": "it is a pickle of Python, as PyTorch and scikit-learn write",
    rb"\x08[\x01-\x1f][\x12\x1a\x22\x32\x3a\x42]": "it is a network in ONNX, which cardai writes but does not read",
    rb"(?:[\x81-\x8f]|\xde..)(?:[\xa1-\xbf]|\xd9.)\w": "it is msgpack, as Flax writes parameters",
    rb".{4}TFL3": "it is a network of TensorFlow Lite",
    rb".{257}ustar": "it is a tar archive",
}
"""Beginnings of files that are no text. The length at the beginning of a file of tensors may look like one of them."""
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
    if len(first) > 8 and first[8:9] == b"{" and first[4:8] == bytes(4):
        return TENSORS
    for pattern, kind in _PATTERNS.items():
        if re.match(pattern, first, re.DOTALL):
            return kind
    if _HTML.match(first):
        return "it is a page of a web site (HTML), saved in place of the file"
    if not first.strip():
        return "it holds nothing but blanks and line breaks"
    if len(first) > 7 and first[1:8:2] == bytes(4) and first[0:8:2].isascii() and 0 not in first[0:8:2]:
        return "it is text in UTF-16: save it as UTF-8"
    return ""


def text_kind(content: bytes) -> str:
    """What a file of text is that begins with these bytes, for readers of files that hold none; "" for other files."""
    try:
        text = content[:FIRST].decode("utf-8")
    except UnicodeDecodeError as error:  # the last letter may be cut off
        if error.start < FIRST - 4 or error.reason != "unexpected end of data":
            return ""
        text = content[: error.start].decode("utf-8")
    if not is_printable(text):
        return ""
    return "it is JSON" if text.lstrip()[:1] in ("{", "[") else "it is text"
