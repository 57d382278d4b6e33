"""Margins: the largest differences from a claim that do not matter, each written once with its reason in a file.

Claim(32.0, games=1000, better="higher", within=margin("share of Hearts"))
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("margins.toml")


class Margin(NamedTuple):
    """`within`: the largest difference that does not matter, in the unit of the row. `of`: of which figures."""

    within: float
    of: str
    why: str


@cache
def margins() -> Mapping[str, Margin]:
    """{name: margin}, in the order of the file."""
    return {name: Margin(**fields) for name, fields in tomllib.loads(FILE.read_text("utf-8")).items()}


def margin(name: str) -> float:
    """The largest difference that does not matter, in the unit of the row. Raises KeyError for an unknown name."""
    return margins()[name].within
