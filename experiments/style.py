"""How the thesis' agent plays Moska: its choices beside an even choice among the same legal moves.

Four of a kind play; what each one chose is compared with what a choice at random among its legal moves would have
been, at the same decisions, so that what the rules leave no choice in counts for nothing. Only decisions where both
sides of a question are legal are asked about it.

Source: Vahteristo 2023, section 3.3, which describes NN2-HIF in words after games against people.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cardai.experiments.machinery.findings import Claim, Finding, Findings, Measurement, direction
from cardai.experiments.machinery.lab import Lab
from cardai.game import Game, GameState, listed_pieces
from cardai.games.moska.rules import ATTACK, KILL, KILL_TURNED, OPEN, SKIP
from cardai.playing.agents.spec import agent
from cardai.playing.stats.deals import deal_seeds
from cardai.playing.stats.interval import bootstrap
from cardai.playing.stats.jsonable import plain
from cardai.playing.table.many import play
from cardai.registry import load
from cardai.rules.cards import rank, ranks_of, suit, suit_cards

SEED = 20261127
AGENTS = {"NN2-HIF": "sampled:nn2?worlds=100", "best": "greedy:best", "Bot3": "bot3"}
KINDS = (
    "ends",
    "opens",
    "attacks",
    "plays to itself",
    "kills",
    "turns the deck",
    "skips",
    "kills with the turned card",
)
"""The kinds of move, in the order of the rules."""
RANKS = 13


@dataclass(frozen=True)
class Scale:
    """`games`: games of four of a kind."""

    games: int


SCALES = {"smoke": Scale(12), "small": Scale(2000)}


class Decision(NamedTuple):
    """A choice: the position, the legal moves MOVE[n], and which of them was chosen."""

    state: GameState
    moves: np.ndarray
    chosen: int

    def hand(self) -> int:
        """The mover's cards, as a set."""
        return int(self.state.hands[int(self.state.turn)])

    def kinds(self, *kinds: int) -> np.ndarray:
        """Which of the moves are of these kinds: bool[n]."""
        return np.isin(self.moves["kind"], kinds)


Question = Callable[[Decision], tuple[np.ndarray, np.ndarray]]
"""Which moves it is about, and which of these answer it with yes: bool[n] each."""


def _delays(decision: Decision) -> tuple[np.ndarray, np.ndarray]:
    return np.ones(len(decision.moves), bool), decision.kinds(SKIP)


def _spares_trumps(decision: Decision) -> tuple[np.ndarray, np.ndarray]:
    trumps = suit_cards(int(decision.state.trump))
    return decision.kinds(KILL, KILL_TURNED), np.array([not int(cards) & trumps for cards in decision.moves["cards"]])


def _kills_by_ranks_on_the_table(decision: Decision) -> tuple[np.ndarray, np.ndarray]:
    there = ranks_of(int(decision.state.table) | int(decision.state.killed))
    return decision.kinds(KILL, KILL_TURNED), np.array([not int(cards) & ~there for cards in decision.moves["cards"]])


def _spares_sets(decision: Decision) -> tuple[np.ndarray, np.ndarray]:
    """Of single cards that are played at the target: one whose rank the mover has only once."""
    hand = decision.hand()
    single = np.array([int(cards).bit_count() == 1 for cards in decision.moves["cards"]])
    alone = np.array([(hand & ranks_of(int(cards))).bit_count() == 1 for cards in decision.moves["cards"]])
    return decision.kinds(OPEN, ATTACK) & single, alone


def _attacks(decision: Decision) -> tuple[np.ndarray, np.ndarray]:
    return decision.kinds(ATTACK, SKIP), decision.kinds(ATTACK)


def strength(state: GameState, seat: int) -> float:
    """How strong a hand is: the mean of its ranks, 0 to 12, where a trump counts 13 more."""
    cards = listed_pieces(int(state.hands[seat]))
    ranks = [rank(card) + RANKS * (suit(card) == int(state.trump)) for card in cards]
    return float(np.mean(ranks)) if ranks else 0.0


ASKED: Mapping[str, Question] = {
    "skips, though it could play": _delays,
    "kills without a trump, though one would do": _spares_trumps,
    "kills by ranks that are on the table": _kills_by_ranks_on_the_table,
    "plays a card that is no part of a set": _spares_sets,
}
MORE = "More often than an even choice among the legal moves, percentage points"
USED = "Kinds of move, % of decisions with a choice"
WEAKER = "Attacks where it could skip: against the weaker half of hands less the stronger half, percentage points"
CLAIMED = "NN2-HIF"


def run(lab: Lab) -> Findings:
    pieces = {name: lab.piece(name, lambda spec=spec: counted(spec, lab.size.games)) for name, spec in AGENTS.items()}

    def claim(name: str) -> Claim | None:
        return direction("higher", "more often") if name == CLAIMED else None

    rows = [
        Finding(MORE, what, name, _rate(np.array(piece["asked"][what])), claim(name), name, SEED)
        for what in ASKED
        for name, piece in pieces.items()
    ]
    for name, piece in pieces.items():
        figure = _difference(np.array(piece["attacks"]))
        rows.append(Finding(WEAKER, "all decisions", name, figure, claim(name), name, SEED))
    for name, piece in pieces.items():
        columns = np.array(piece["kinds"], float)
        for number, kind in enumerate(KINDS):
            figure = _rate(np.column_stack([columns[:, number], columns.sum(axis=1)]))
            used = Claim(0.0, better="higher", words="used", is_direction=True) if name == CLAIMED else None
            rows.append(Finding(USED, kind, name, figure, used, name, SEED, places=2))
    return Findings(rows)


def counted(spec: str, games: int) -> dict[str, Any]:
    """What four of an agent choose, by game.

    `asked`: {question: [sum of (1 if yes, less the share of such moves), decisions]}. `kinds`: decisions of each kind.
    `attacks`: [attacks on hands of the weaker half, decisions, attacks on those of the stronger half, decisions].
    """
    game = load("moska")
    results = play(
        game, [agent(game, spec)], np.zeros((games, 4), np.int64), deal_seeds(SEED, games), record=True
    ).complete()
    asked = {what: np.zeros((games, 2)) for what in ASKED}
    kinds = np.zeros((games, len(KINDS)), np.int64)
    attacks: list[tuple[int, float, bool]] = []
    for number, (seed, moves) in enumerate(zip(deal_seeds(SEED, games), results.moves, strict=True)):
        for decision in _decisions(game, int(seed), moves):
            kinds[number, int(decision.moves["kind"][decision.chosen])] += 1
            for what, question in ASKED.items():
                if (answer := _answer(decision, question)) is not None:
                    asked[what][number] += answer[0] - answer[1], 1
            if _answer(decision, _attacks) is not None:
                has_attacked = bool(decision.kinds(ATTACK)[decision.chosen])
                attacks.append((number, strength(decision.state, int(decision.state.target)), has_attacked))
    middle = float(np.median([of for _, of, _ in attacks]))
    halves = np.zeros((games, 4), np.int64)
    for number, of, has_attacked in attacks:
        place = 0 if of < middle else 2
        halves[number, place : place + 2] += has_attacked, 1
    return plain({"asked": asked, "kinds": kinds, "attacks": halves})


def _decisions(game: Game, seed: int, moves: Any) -> Any:
    state = game.new(4, seed)
    for move in moves:
        legal = game.moves(state)
        if len(legal) > 1:
            (places,) = np.nonzero(legal == move)
            if len(places):
                yield Decision(state, legal, int(places[0]))
        state = game.play(state, move)


def _answer(decision: Decision, question: Question) -> tuple[float, float] | None:
    """Whether it was answered with yes, and how often an even choice would; None where it was not asked."""
    about, yes = question(decision)
    if not about[decision.chosen] or yes[about].all() or not yes[about].any():
        return None
    return float(yes[decision.chosen]), float(yes[about].mean())


def _rate(columns: np.ndarray) -> Measurement:
    """A sum over a count in percent, with its interval over games. columns: f8[games, 2]."""
    total = columns.sum(axis=0)
    low, high = bootstrap(columns, lambda means: means[:, 0] / np.maximum(means[:, 1], 1e-12))
    return Measurement(100 * float(total[0] / total[1]), 100 * low, 100 * high, int(total[1]), "decisions")


def _difference(columns: np.ndarray) -> Measurement:
    """A share less another in percentage points. columns: i8[games, 4], two sums and their counts."""
    weak, weak_count, strong, strong_count = columns.sum(axis=0)

    def difference(means: np.ndarray) -> np.ndarray:
        return means[:, 0] / np.maximum(means[:, 1], 1e-12) - means[:, 2] / np.maximum(means[:, 3], 1e-12)

    low, high = bootstrap(columns.astype(float), difference)
    point = weak / weak_count - strong / strong_count
    return Measurement(100 * float(point), 100 * low, 100 * high, int(weak_count + strong_count), "decisions")
