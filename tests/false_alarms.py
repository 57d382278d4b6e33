"""How often `hidden_cards_lie_evenly` accuses a sound game whose worlds have unequal weights (Loaded).

    python tests/false_alarms.py --seeds 5000            # for each variant

Each seed is a check of its own, with few views and worlds so that thousands take minutes. Of the first samples 1 % may
call for a second one, and of a million checks one may break the law (docs/conformance.md). The sum over all seeds shows
a bias that is too small for one check. The command ends with status 1 if more are found.
"""

import argparse
import sys
from dataclasses import replace

import loaded
import numpy as np

from cardai.laws import evenness
from cardai.laws.evidence import off_twice, strictness
from cardai.laws.testbed import EFFORTS, Testbed

VIEWS = 8
WORLDS = {"DRAWS": 64, "MORE": 256}  # instead of 256 and 1024


def tally(views, seeds):
    """The tally of the law over some views, with worlds of these seeds; None if none counts."""
    tallies = evenness._Sum(None)
    for here, seed in zip(views, seeds, strict=True):
        evenness._more.cache_clear()
        states = here.worlds(evenness.DRAWS, seed)
        lie = evenness._lying(here.testbed, states, here.seat)
        found = evenness._uneven(here, seed, states, lie) if (lie != lie[:, :1]).any() else None
        if found is not None:
            tallies.add(found)
    return tallies.tally


def checks(variant, seeds):
    """Check a variant from many seeds: how many first samples call for a second, how many break, all in sigmas."""
    testbed = Testbed(loaded.GAME, 5, replace(EFFORTS["quick"], games=100), [variant])
    views, chance, called, broken, total = testbed.chosen(2000, "alarms"), np.random.default_rng(1), 0, 0, 0

    def sample(seed, part, number):
        picked = chance.integers(len(views), size=number)
        return tally([views[i] for i in picked], range(1000 * (2 * seed + part), 1000 * (2 * seed + part) + number))

    for seed in range(seeds):
        first = sample(seed, 0, VIEWS)
        if first is None:
            continue
        total += np.array([first.total, first.variance])
        hint = strictness(int(np.count_nonzero(first.variance)))
        called += bool((np.abs(first.sigmas) > hint).any())
        broken += (
            off_twice(first.sigmas, lambda seed=seed: sample(seed, 1, evenness.LARGER * VIEWS).sigmas, hint) is not None
        )
    return called, broken, evenness.Tally(*total).sigmas


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5000, help="for each variant")
    asked, failed = parser.parse_args(), False
    vars(evenness).update(WORLDS)
    for variant in loaded.GAME.variants:
        called, broken, sigmas = checks(variant, asked.seeds)
        found = f"{called} second samples, {broken} broken; {np.abs(sigmas).max():.1f} sigma in sum"
        print(f"{variant}: {asked.seeds} seeds, {found}", flush=True)
        failed |= broken > 0 or called > 0.01 * asked.seeds + 3 * (0.01 * asked.seeds) ** 0.5
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
