"""The experiments: what each one asks, what was claimed and where, and how long it takes.

Nothing heavy is imported here, so that listing them costs nothing. An experiment NAME is two modules:

- `cardai.experiments.NAME` measures. It has a dict `SCALES` of frozen configs (smoke, small) and a function
  `run(lab) -> Findings`. A game's or module's name has "_" where an experiment's has "-".
- `cardai.experiments.pages.NAME` shows. It has `answers(result) -> list of sentences`, the first of which is the answer
  in at most 25 words, `NOTES` or `notes(result)` on how the tables are read, and `draw(result) -> {title: figure}`. It
  may have `LABELS` or `labels(result)`: the text shown for a table, line or column of the result.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

SCALES = ("smoke", "small")


@dataclass(frozen=True)
class CatalogueEntry:
    """One experiment.

    `minutes`: of the scale "small", on two cores.
    `games`: the games whose rules it plays by; `models`: the games whose shipped models it uses. Its results depend on
    both.
    `needs`: modules that cardai does not install by itself, with the extra that installs each.
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
        return {name: extra for name, extra in (self.needs or {}).items() if find_spec(name) is None}


EXPERIMENTS = {
    "transfer": CatalogueEntry(
        "How far does one recipe come in five games, with nothing tuned for any of them?",
        "the method suits other card games and other games with hidden information",
        "Vahteristo 2023, section 4.2; the figures are those of all five sources",
        25,
        ("tictactoe", "moska", "durak", "hearts", "literature"),
    ),
    "tictactoe": CatalogueEntry(
        "Does the method learn Tic-Tac-Toe from random weights, and which learns it better, an MLP or a CNN?",
        "a CNN wins 92 % of its games against random play, an MLP 65 %",
        "Vahteristo 2023, section 2.4, Figure 4",
        7,
        ("tictactoe",),
    ),
    "moska-networks": CatalogueEntry(
        "How well do the thesis' networks play Moska, and can a network do without sampling?",
        "the second generation loses 14.25 % of its games against three Bot3, the first 23.8 %",
        "Vahteristo 2023, sections 2.2, 2.3, 3.1 and 3.2.1, Figure 5",
        84,
        ("moska",),
    ),
    "moska-expert": CatalogueEntry(
        "How much does the network `best` gain at Moska by learning on from a search over worlds?",
        "the thesis' best agent without hidden information loses 14.25 % against three Bot3",
        "Vahteristo 2023, section 3.2.1, Table 1; Anthony, Tian and Barber 2017",
        90,
        ("moska",),
        ("moska",),
    ),
    "moska-table1": CatalogueEntry(
        "How strong is the network `best` in the thesis' benchmarks of Moska?",
        "four sets of opponents, five tested agents, 2,000 games for each number",
        "Vahteristo 2023, section 3.2.1, Table 1",
        34,
        ("moska",),
        ("moska",),
    ),
    "complexity": CatalogueEntry(
        "How large are the game trees of Moska and Durak?",
        "Moska's shrinks from 10^81 for two players to 10^45 for eight; Durak's for two is 10^15",
        "Vahteristo 2023, section 1.1.2, Figure 1",
        1,
        ("moska", "durak"),
    ),
    "scaling": CatalogueEntry(
        "How much faster is Moska played with more threads?",
        "the simulation scales well and uses its processors well",
        "Vahteristo 2023, section 2.1, Figure 3",
        1,
        ("moska",),
        ("moska",),
    ),
    "evaluations": CatalogueEntry(
        "How well does the network `best` predict which seat will lose?",
        "who will lose is hard to tell at the start and easier near the end",
        "Vahteristo 2023, section 3.3, Figure 6",
        1,
        ("moska",),
        ("moska",),
    ),
    "durak-learners": CatalogueEntry(
        "Which plays Durak best after training: PPO, NFSP or an evaluator of positions?",
        "PPO avoids losing in 99 % of its games against three random players, in 83-92 % against one; deeper NFSP is"
        " better",
        "a student report on Durak, section Results",
        58,
        ("durak",),
    ),
    "mlp-vs-cnn": CatalogueEntry(
        "Does a CNN play better than an MLP trained on the same states?",
        "in Tic-Tac-Toe a CNN wins 92 % against random play, an MLP 65 %; in Moska MLPs are consistently better",
        "Vahteristo 2023, sections 1.3, 2.4 and 3.1",
        116,
        ("tictactoe", "moska", "durak", "hearts", "literature"),
    ),
    "information": CatalogueEntry(
        "What does it cost the thesis' network not to see the cards that it will draw?",
        "at Moska, against three Bot3, NN2 loses 14.25 % of its games if it samples 100 worlds, and 13.65 % if it peeks"
        " at its draws",
        "Vahteristo 2023, sections 2.1.2 and 3.2.1, Table 1",
        12,
        ("moska", "durak", "literature"),
        ("moska",),
    ),
    "players": CatalogueEntry(
        "Does the method work at Moska tables of two to eight players?",
        "it can be used for any number of players (shown for four)",
        "Vahteristo 2023, section 4.2",
        9,
        ("moska",),
        ("moska",),
    ),
    "rule-changes": CatalogueEntry(
        "What does it cost a network to play Moska by rules it was not trained on?",
        "it is robust to some rule changes, yet assumes that others play by the rules it was trained on",
        "Vahteristo 2023, section 4.2",
        6,
        ("moska",),
    ),
    "training-choices": CatalogueEntry(
        "Which choices of the thesis' training matter at Moska?",
        "many kinds of players, balanced data and much of it, large batches, a low rate and dropout help",
        "Vahteristo 2023, sections 2 to 3.1; README of its program",
        60,
        ("moska",),
    ),
    "style": CatalogueEntry(
        "How does the thesis' agent choose, beside a choice at random among the same moves?",
        "it delays, spares trumps and sets, kills with ranks on the table, attacks weaker hands and uses all moves",
        "Vahteristo 2023, section 3.3",
        5,
        ("moska",),
        ("moska",),
    ),
    "moska-students": CatalogueEntry(
        "How much does a network of Moska gain that counts who can kill what and learns from a deeper search?",
        "none: the thesis' networks learned from how games ended",
        "beyond the thesis, whose NN2-HIF loses 14.25 % against three Bot3 (table 1)",
        15,
        ("moska",),
        ("moska",),
    ),
    "strength": CatalogueEntry(
        "How strong are PIMC, ISMCTS, EPIMC and `ahead` at 1, 10 and 100 ms a decision, and agents without a search?",
        "none: the thesis' agents judge the positions after their own moves, and search no further",
        "Vahteristo 2023, section 2.1.2",
        15,
        ("moska", "durak", "tictactoe", "hearts", "literature"),
        ("moska", "durak", "tictactoe", "hearts", "literature"),
    ),
    "hearts-rewards": CatalogueEntry(
        "Which limit of the reward at the end of a round teaches Hearts best?",
        "13 converges better than 26, lower limits play better than 13, and 10 best of 5 to 13; no figures",
        "Demirdover, Baykal and Alpaslan 2022, section 4.2, Table 1",
        75,
        ("hearts",),
    ),
    "hearts-tricks": CatalogueEntry(
        "Is Hearts learned better if every card is also rewarded for its trick?",
        "rewards for tricks make training better, and the limit 4 plays best of 1 to 4; no figures",
        "Demirdover, Baykal and Alpaslan 2022, section 4.2, Table 2",
        38,
        ("hearts",),
    ),
    "hearts-best": CatalogueEntry(
        "How well does a single network, which passes and plays and learned from its own games, play Hearts?",
        "five of its seven networks together win 32 % against three players by Monte Carlo tree search, with 6.27"
        " points a round",
        "Demirdöver, Baykal, Alpaslan 2022, section 5.2, table 4",
        110,
        ("hearts",),
    ),
    "hearts": CatalogueEntry(
        "How well do the paper's seven networks play Hearts against stand-ins for its opponents?",
        "their agent wins 32 % of its games against three players by Monte Carlo tree search, and shoots 52.24 % of the"
        " moons that it tries",
        "Demirdöver, Baykal and Alpaslan 2022, sections 4 and 5, Tables 3 to 6",
        61,
        ("hearts",),
        ("hearts",),
    ),
    "literature": CatalogueEntry(
        "How well does a network learn Literature, and how near does it come to exact inference?",
        "after 10,000 games it wins 827 of 1500 games against an untrained network and loses 346",
        "Somani, How to train a neural net to play cards, section Measuring Success",
        51,
        ("literature",),
        ("literature",),
    ),
    "peers": CatalogueEntry(
        "How fast is random play compared with other libraries?",
        "the thesis' engine plays 0.1-10 games of Moska a second on a core",
        "Vahteristo 2023, section 2.1",
        6,
        ("tictactoe", "moska", "durak", "hearts"),
        needs={"pgx": "peers", "pyspiel": "peers", "rlcard": "peers"},
    ),
}


def module(name: str) -> ModuleType:
    """The module that measures an experiment."""
    return import_module(f"cardai.experiments.{name.replace('-', '_')}")


def page_of(name: str) -> Any:
    """The module that says and draws what an experiment has found."""
    return import_module(f"cardai.experiments.pages.{name.replace('-', '_')}")
