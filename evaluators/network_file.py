"""Files of networks: safetensors files with one metadata entry, `cardai`, a JSON object that describes the network.

There are two kinds: models (`cardai.evaluators.model`) and policies (`cardai.evaluators.policies.policy`). Each is a
`NetworkFile`:

    POLICY_FILE = NetworkFile("policy", "cardai policy 1", PolicyMetadata.from_json, expected_tensors)
    metadata, tensors = POLICY_FILE.read("mine.safetensors")

A file is checked before anything large is read or built, in this order: the length of its header, each entry of its
metadata, the names, types and shapes of its tensors, its length, its digest (`cardai.files.tensors`), and last the
values in the tensors.
"""

import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, NamedTuple, TypeVar

import numpy as np

from cardai.errors import CardaiError, short
from cardai.evaluators.jax_start import check_devices
from cardai.files.kind import FIRST, TENSORS, foreign_kind, text_kind
from cardai.files.reading import check_values, open_file, parse_json_line, unreadable
from cardai.files.tensors import damage_in, digested
from cardai.files.writing import write_bytes
from cardai.game import Segment

if TYPE_CHECKING:
    from flax import nnx

_LONGEST_HEADER = 1 << 24  # bytes; the headers that cardai writes have a few thousand
_BYTES = {"F16": 2, "F32": 4}

SUFFIX = ".safetensors"

M = TypeVar("M")


class TensorSpec(NamedTuple):
    """The type of a tensor in a safetensors file, "F16" or "F32", and its shape."""

    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class NetworkFile(Generic[M]):
    """One kind of network file, with metadata of type M.

    `noun`: what messages call the network, such as "model".
    `format`: the value of the metadata's entry `format`; a file with another value is refused.
    `from_json`: makes the metadata from its entries. Raises CardaiError if one is missing or is not what it must be.
    `expected_tensors`: the tensors of the network that the metadata describe, by name. Raises CardaiError if there is
    no such network.
    """

    noun: str
    format: str
    from_json: Callable[[Mapping[str, Any]], M]
    expected_tensors: Callable[[M], Mapping[str, TensorSpec]]

    def read(self, path: str | Path) -> tuple[M, dict[str, np.ndarray]]:
        """Return a file's metadata and its tensors.

        Raises CardaiError, which names the file and the reason, if it cannot be read or is not sound.
        """
        from safetensors import SafetensorError
        from safetensors.numpy import load

        place = Path(path)
        try:
            with open_file(place) as file:
                header = self._header(place, file)
                metadata = self._metadata(place, header)
                length = os.fstat(file.fileno()).st_size - file.tell()
                self._check_tensors(place, metadata, header, length)
                file.seek(0)
                content = file.read()
            if damage := damage_in(content):
                raise self.refusal(place, f"{damage}: it was changed after cardai wrote it")
            tensors = load(content)
        except OSError as error:
            raise unreadable(place, error) from None
        except SafetensorError as error:
            raise self.refusal(place, str(error)[:200]) from None
        for name, tensor in tensors.items():
            if not np.isfinite(tensor).all():
                raise self.refusal(place, f"{name} holds numbers that are not finite")
        return metadata, tensors

    def read_metadata(self, path: str | Path) -> M:
        """Return a file's metadata. Its tensors are neither read nor checked. Raises CardaiError as `read` does."""
        place = Path(path)
        try:
            with open_file(place) as file:
                return self._metadata(place, self._header(place, file))
        except OSError as error:
            raise unreadable(place, error) from None

    def write(self, path: str | Path, metadata: Mapping[str, Any], tensors: Mapping[str, np.ndarray]) -> None:
        """Write a network to a file, whole or not at all. `metadata`: its entries, as types that JSON has.

        Raises CardaiError if the file cannot be written, if an entry is not what it must be, or if a number is not
        finite.
        """
        from safetensors.numpy import save

        place = Path(path)
        for name, tensor in tensors.items():
            if not np.isfinite(tensor).all():
                raise CardaiError(f"cannot write {place}: {name} holds numbers that are not finite")
        text = json.dumps({**metadata, "format": self.format})
        try:
            self._checked(json.loads(text))  # tuples are lists there
        except (CardaiError, ValueError) as error:
            raise CardaiError(f"cannot write {place}: {error}") from None
        write_bytes(place, digested(save(dict(tensors), {"cardai": text})))

    def refusal(self, place: Path, reason: str) -> CardaiError:
        """Return the error for a file that is not sound."""
        return CardaiError(f"{place} is not a sound cardai {self.noun}: {reason}")

    def _header(self, place: Path, file: BinaryIO) -> dict[str, Any]:
        """Read the header of an open file. Afterwards the file is positioned at the header's end."""
        size, first = os.fstat(file.fileno()).st_size, file.read(FIRST)
        start = first[:8]
        file.seek(8)
        if len(start) < 8:
            raise self.refusal(place, f"it has only {size} bytes")
        length = int.from_bytes(start, "little")
        if length > size - 8:  # the length of a sound file may look like the mark of another kind
            why = f"its header says it is {length} bytes long, the whole file has {size}"
            raise self.refusal(place, foreign_kind(first).replace(TENSORS, "") or text_kind(first) or why)
        if length > _LONGEST_HEADER:
            raise self.refusal(place, f"its header has {length} bytes, more than {_LONGEST_HEADER}")
        return self._json_object(place, "its header", file.read(length))

    def _metadata(self, place: Path, header: Mapping[str, Any]) -> M:
        texts = header.get("__metadata__")
        text = texts.get("cardai") if isinstance(texts, dict) else None
        if not isinstance(text, str):
            raise self.refusal(place, "its metadata has no entry 'cardai'")
        entries = self._json_object(place, "the entry 'cardai' of its metadata", text)
        try:
            return self._checked(entries)
        except (CardaiError, ValueError) as error:
            raise self.refusal(place, str(error)) from None

    def _checked(self, entries: Mapping[str, Any]) -> M:
        """Return the metadata that entries are. Raises CardaiError or ValueError for what they may not be."""
        if entries.get("format") != self.format:
            raise CardaiError(f"its format is {short(entries.get('format'))}, not {self.format!r}")
        metadata = self.from_json(entries)
        check_values(entries)
        for name, value in entries.items():
            if isinstance(value, str) and "\n" in value:
                raise CardaiError(f"{name} must be one line, not {short(value)}")
        return metadata

    def _check_tensors(self, place: Path, metadata: M, header: Mapping[str, Any], length: int) -> None:
        """Refuse a file whose tensors are not the expected ones. `length`: the number of bytes after the header."""
        try:
            expected = self.expected_tensors(metadata)
        except CardaiError as error:
            raise self.refusal(place, str(error)) from None
        listed = {name: entry for name, entry in header.items() if name != "__metadata__"}
        for name in sorted(expected.keys() ^ listed.keys()):
            lacks = "lacks" if name in expected else "should not have"
            raise self.refusal(place, f"it {lacks} the tensor {name[:100]}")
        for name, (dtype, shape) in expected.items():
            entry = listed[name] if isinstance(listed[name], dict) else {}
            if (entry.get("dtype"), entry.get("shape")) != (dtype, list(shape)):
                actual = f"{str(entry.get('dtype'))[:20]} {short(entry.get('shape'))}"
                raise self.refusal(place, f"{name} is {actual}, it should be {dtype} {list(shape)}")
        total = sum(_BYTES[dtype] * math.prod(shape) for dtype, shape in expected.values())
        if length != total:
            reason = f"{length} bytes follow its header, its tensors are {total}: it is truncated or damaged"
            raise self.refusal(place, reason)

    def _json_object(self, place: Path, what: str, text: str | bytes) -> dict[str, Any]:
        try:
            value = parse_json_line(text)
        except ValueError as error:
            raise self.refusal(place, f"{what} is not JSON that can be used: {error}") from None
        if not isinstance(value, dict):
            raise self.refusal(place, f"{what} is not a JSON object")
        return value


def shipped_files(folder: Path, game: str) -> dict[str, Path]:
    """Return the networks of a game in a folder of those that come with cardai, by name."""
    return {place.stem: place for place in sorted((folder / game).glob(f"*{SUFFIX}"))}


def tensors_of(module: "nnx.Module") -> dict[str, np.ndarray]:
    """Return a network's weights and running statistics, by their paths in the network."""
    return {name: np.asarray(variable[...]) for name, variable in _variables(module).items()}


def set_tensors(module: "nnx.Module", tensors: Mapping[str, np.ndarray]) -> None:
    """Give a network these weights and running statistics. Names and shapes must be those of its own."""
    check_devices()
    import jax

    variables = _variables(module)
    assert variables.keys() == tensors.keys()
    for name, variable in variables.items():
        assert variable.shape == tensors[name].shape
        variable.set_value(jax.device_put(np.array(tensors[name], np.float32)))


def tensor_specs(module: "nnx.Module") -> dict[str, TensorSpec]:
    """Return what the tensors of a network are in a file, all as float32. The network need not have values yet."""
    return {name: TensorSpec("F32", tuple(variable.shape)) for name, variable in _variables(module).items()}


def layout_fingerprint(layout: Sequence[Segment]) -> str:
    """Return a hash of the names and shapes of an encoder's segments, in order."""
    text = json.dumps([[segment.name, list(segment.shape)] for segment in layout])
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _variables(module: "nnx.Module") -> dict[str, Any]:
    """Return a network's weights and running statistics as flax variables, by their paths."""
    from flax import nnx

    nodes = [(path, node) for path, node in nnx.iter_graph(module) if isinstance(node, nnx.Param | nnx.BatchStat)]
    return {".".join(str(part) for part in path): node for path, node in nodes}
