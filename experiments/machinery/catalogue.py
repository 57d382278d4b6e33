"""The experiments there are: what each asks, what was claimed and where, and how long it takes.

Nothing heavy is imported here, so that listing them costs nothing. An experiment NAME is the module `experiments.NAME`,
with a dict `SCALES` of frozen configs (smoke, small, full) and functions `run(lab) -> Findings` and
`draw(result) -> {name: figure}`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

SCALES = ("smoke", "small", "full")


@dataclass(frozen=True)
class CatalogueEntry:
    """One experiment. `minutes`: of the scale "small", on two cores.

    `games`: whose rules it plays by; `models`: the games whose shipped models it asks. Both are part of what its
    results depend on. `needs`: modules that cardai does not install by itself, and the extra that brings them.
    """

    question: str
    claim: str
    source: str
    minutes: float
    games: tuple[str, ...]
    models: tuple[str, ...] = ()
    needs: Mapping[str, str] | None = None

    def missing(self) -> dict[str, str]:
        """The modules it needs that are not installed, and the extra that brings each."""
        from importlib.util import find_spec

        return {name: extra for name, extra in (self.needs or {}).items() if find_spec(name) is None}


EXPERIMENTS = {
    "tictactoe": CatalogueEntry(
        "Does the method learn Tic-Tac-Toe from random weights, and which body learns it better?",
        "a CNN wins 92 % of its games against random play, an MLP 65 %",
        "Vahteristo 2023, section 2.4, Figure 4",
        1,
        ("tictactoe",),
    ),
    "moska-networks": CatalogueEntry(
        "How well do the thesis' two generations of networks play Moska, and can one do without sampling?",
        "the second generation loses 14.25 % of its games against three Bot3, the first 23.8 %",
        "Vahteristo 2023, sections 2.2, 2.3 and 3.1, Figure 5",
        84,
        ("moska",),
    ),
    "moska-table1": CatalogueEntry(
        "How do the models that come with cardai do in the thesis' benchmarks?",
        "four sets of opponents, five players, 2,000 games a figure",
        "Vahteristo 2023, section 3.1, Table 1",
        4,
        ("moska",),
        ("moska",),
    ),
    "complexity": CatalogueEntry(
        "How large are the game trees of Moska and Durak, by number of players?",
        "Moska's shrinks from 10^81 for two players to 10^45 for eight; Durak's for two is 10^15",
        "Vahteristo 2023, section 1.1.2, Figure 1",
        1,
        ("moska", "durak"),
    ),
    "scaling": CatalogueEntry(
        "How do games a second grow with the number of processors?",
        "the simulation scales well and uses its processors well",
        "Vahteristo 2023, section 2.1, Figure 3",
        2,
        ("moska",),
        ("moska",),
    ),
    "evaluations": CatalogueEntry(
        "What does each player know of how it stands, move by move?",
        "one game is shown, in which a human among three networks blunders",
        "Vahteristo 2023, section 3.3, Figure 6",
        1,
        ("moska",),
        ("moska",),
    ),
    "durak-learners": CatalogueEntry(
        "PPO, NFSP or a judge of positions: who learns most from equally many games of Durak?",
        "PPO does not lose 99 % against three random players, 83-92 % against one; deeper NFSP is better",
        "a student report on Durak, section Results",
        24,
        ("durak",),
    ),
    "mlp-vs-cnn": CatalogueEntry(
        "Does a CNN play better than an MLP that learned from the same states, and why?",
        "in Tic-Tac-Toe a CNN wins 92 % against random play, an MLP 65 %; in Moska MLPs are consistently better",
        "Vahteristo 2023, sections 1.3, 2.4 and 3.1",
        9,
        ("tictactoe", "moska", "durak"),
    ),
    "information": CatalogueEntry(
        "What does hidden information cost at Moska: sampling one's draws, or judging before them, beside peeking?",
        "against three Bot3 NN2 loses 14.25 % sampling 100 worlds and 13.65 % peeking at its draws",
        "Vahteristo 2023, sections 2.1.2 and 3.2.1, Table 1",
        2,
        ("moska",),
        ("moska",),
    ),
    "players": CatalogueEntry(
        "Does the method work at Moska tables of two to eight?",
        "it can be used for any number of players (shown for four)",
        "Vahteristo 2023, section 4.2",
        6,
        ("moska",),
        ("moska",),
    ),
    "rule-changes": CatalogueEntry(
        "What does a network lose that plays by rules of Moska it was not trained on?",
        "it is robust to some rule changes, yet assumes that others play by the rules it was trained on",
        "Vahteristo 2023, section 4.2",
        4,
        ("moska",),
    ),
    "peers": CatalogueEntry(
        "How fast is random play beside other libraries?",
        "the thesis' engine plays 0.1-10 games of Moska a second on a core",
        "Vahteristo 2023, section 2.1",
        4,
        ("tictactoe", "moska"),
        needs={"pgx": "peers", "pyspiel": "peers", "rlcard": "peers"},
    ),
}

HEADLINES = {
    "Does the method transfer from one game to others?": ("tictactoe", "moska-networks", "durak-learners", "players"),
    "MLP or CNN?": ("mlp-vs-cnn",),
    "What does hidden information cost?": ("information",),
}
"""The questions that most readers come with, and the experiments that answer them."""


def module(name: str) -> ModuleType:
    """The module of an experiment."""
    import importlib

    return importlib.import_module(f"experiments.{name.replace('-', '_')}")
