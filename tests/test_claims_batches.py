"""The thesis, section 2.3: why batches eight times as large lose more games, when as many states are learned."""

from dataclasses import replace

import pytest

from cardai.experiments import training_choices
from cardai.experiments.machinery.findings import over_seeds
from cardai.experiments.machinery.lab import Lab
from cardai.experiments.training_choices import BASE, SCALES, TrainingChoice

SIZE = replace(SCALES["small"], repeats=4, games=40_000)
LARGE, FASTER = "batches eight times as large", "and four times the rate"
CHOICES = {
    BASE: TrainingChoice(),
    LARGE: TrainingChoice(fields={"larger": 8}),
    FASTER: TrainingChoice(fields={"larger": 8, "learning_rate": 4 * SIZE.learning["learning_rate"]}),
}


@pytest.mark.slow
def test_large_batches_lose_more_by_their_fewer_steps(tmp_path, monkeypatch):
    """An eighth of the steps of the same length go less far: longer steps win games back."""
    monkeypatch.setattr(training_choices, "CHOICES", CHOICES)
    lab = Lab("training-choices", tmp_path, "small", SIZE)
    lost = {}
    for name in CHOICES:
        for repeat in range(SIZE.repeats):
            training_choices._learned(lab, name, repeat)
        lost[name] = [training_choices._played(lab, name, repeat) for repeat in range(SIZE.repeats)]
        print(name, lost[name])

    def less(one, other):
        found = over_seeds([a - b for a, b in zip(lost[one], lost[other], strict=True)], "repeats")
        print(f"{one} less {other}: {found.point:.1f} ({found.low:.1f} to {found.high:.1f})")
        return found

    assert less(LARGE, BASE).low > 0
    assert less(FASTER, LARGE).high < 0
    less(FASTER, BASE)
