"""Every fault of `planted_more` and `planted_biases` is found at normal effort, whatever the seed."""

import planted_biases
import planted_more
import pytest

from cardai.conformance import check

PLANTED = {**planted_more.PLANTED, **planted_biases.PLANTED}


def find(bug: str, seed: int) -> None:
    game = PLANTED[bug]
    (verdict,) = check(game, laws=[planted_more.LAW_OF[game]], seed=seed)
    assert not verdict.passed
    assert verdict.problem is not None
    assert verdict.problem.startswith(f"{verdict.law}: ")
    assert "does not compile" not in verdict.problem


def test_every_fault_is_named_with_its_law() -> None:
    assert set(planted_more.LAW_OF) == set(PLANTED.values())


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
@pytest.mark.parametrize("bug", PLANTED)
def test_a_fault_that_is_hard_to_see_is_found_from_any_seed(bug: str, seed: int) -> None:
    find(bug, seed)
