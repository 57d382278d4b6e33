"""Rules made of an author's rules: a score brought into [0, 1], and an outcome that does not apply to every seat."""

from collections.abc import Callable
from typing import Any

import numpy as np

from cardai.rules import rule


def in_shares(score: Callable[..., float], low: float, high: float) -> Any:
    """The rule that gives the number of `score`, which is from `low` to `high`, as a share from 0 to 1."""
    span = high - low

    @rule
    def share(state, seat):
        return (score(state, seat) - low) / span

    return share


def where_it_applies(of: Callable[..., float], applies: Callable[..., bool]) -> Any:
    """The rule that gives the number of `of` for seats to which it applies, and NaN for others."""

    @rule
    def value(state, seat):
        return 1.0 * of(state, seat) if applies(state, seat) else np.nan

    return value
