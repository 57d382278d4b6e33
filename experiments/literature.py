"""The article on Literature, row by row: a network that learns from the result and from the answers to its questions.

The article's program learns from 10 000 games. Each question gets 100 or -100 points for the result of the game, and
20 or -20 for the answer. As released, the program compares a number with another type, so that every move of a
finished game gets -100, the winners' too, and only the answer can teach. Both are trained here: "as meant" and "as
released". All players claim at once what is proven.

What the article leaves open, and what we chose: the network judges the state with the question asked and not answered;
cross-entropy instead of squared error; Adam at 1e-3; ten networks, each from 1 000 games more, played by the one before
with some questions at random instead of noise on its values; all facts in the state are true (the program's are false
after one question in ten).

The article's untrained network asks anything that may be answered with yes, which the hand-written player `plausible`
does too; it stands in for it. The trained networks choose among the same questions: the article's program leaves out
those that are known to fail, whoever asks.

Two measures have no definition in the article. Ours: a card is *asked back* if the seat that gave it has the turn next
and asks for it first; a claim is *at once* if a team claims between getting the turn by an opponent's failure and its
first question.

Source: Somani, How to train a neural net to play cards.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np

from cardai.experiments.machinery.findings import Claim, Finding, Findings, margin, of_estimate
from cardai.experiments.machinery.lab import Lab
from cardai.game import Game
from cardai.games.literature.deck import NONE
from cardai.games.literature.players import may_have
from cardai.games.literature.rules import ASK, CLAIM, asks, claims, legal, write
from cardai.playing.agents.spec import agent
from cardai.playing.machine import default_threads
from cardai.playing.stats import interval
from cardai.playing.stats.deals import deal_seeds
from cardai.playing.stats.jsonable import plain
from cardai.playing.table.many import play
from cardai.registry import load
from cardai.rules import rule
from cardai.rules.cards import single

SEED = 20261122
UNTRAINED = "plausible"
HAND_WRITTEN = {"plausible": 2.0, "forgetful": 1.0, "logic": 0.5}
"""{spec: weight} of the players whose games the networks of other experiments learn from."""
DECIDED, WON, TIED, ASKS, CUT, BACK, AT_ONCE = (
    "Games won of those not tied, %",
    "Games won, %",
    "Games tied, %",
    "Questions a game",
    "Games cut, %",
    "Cards asked back, a game",
    "Claims at once, a game",
)
MEANT, RELEASED = "as meant", "as released"
BEST, LATE = "policy:best", "logic, claims late"
LATE_CLAIMS = "keeper?ask_at=0.1&held=0&tell=0&danger=0&last=0"
"""As `logic`, but a proven half-suit is claimed late."""
LABELS = {MEANT: "5*score+answer", RELEASED: "answer"}
"""{network: label}: 100 points for the result and 20 for the answer are weights 5 and 1."""
CLAIMS: Mapping[tuple[str, str], Claim] = {
    (MEANT, DECIDED): Claim(70.5, games=1173, better="higher", within=margin("games of Literature")),
    (MEANT, WON): Claim(55.1, games=1500, better="higher", within=margin("games of Literature")),
    (MEANT, TIED): Claim(21.8, games=1500, better="neither", within=margin("games of Literature")),
    (MEANT, ASKS): Claim(75.1, games=1500, better="neither", within=margin("questions"), is_mean=True),
    (MEANT, BACK): Claim(1533 / 1500, games=1500, better="neither", within=margin("cards asked back"), is_mean=True),
    (MEANT, AT_ONCE): Claim(468 / 1500, games=1500, better="neither", within=margin("claims at once"), is_mean=True),
    (UNTRAINED, ASKS): Claim(77.8, games=1500, better="neither", within=margin("questions"), is_mean=True),
    (UNTRAINED, BACK): Claim(573 / 1500, games=1500, better="neither", within=margin("cards asked back"), is_mean=True),
    (UNTRAINED, AT_ONCE): Claim(95 / 1500, games=1500, better="neither", within=margin("claims at once"), is_mean=True),
}
"""The article's figures of its trained network against the untrained one, and of the untrained one against itself."""


@rule
def moves_of_article(state, moves):
    """The legal moves that the article's program considers: claims if there are any, else asks that may succeed."""
    if state.giving != 0:
        return legal(state, moves)
    n = claims(state, moves, 0)
    if n > 0:
        return n
    if state.window != NONE or state.closer != NONE:
        return legal(state, moves)
    total = asks(state, moves)
    for i in range(total):
        card, step = moves[i].what, moves[i].step
        if may_have(state, (state.mover + step) % state.seats, single(card)) != 0:
            n = write(moves, n, ASK, card, step, 0)
    return n if n > 0 else total


@cache
def as_in_article() -> Game:
    """Literature in which networks and players consider only `moves_of_article`."""
    return load("literature").changed(legal=moves_of_article)


def game_of(name: str) -> Game:
    """A game by its name, Literature `as_in_article`: for experiments that train one kind of network in all games."""
    return as_in_article() if name == "literature" else load(name)


@dataclass(frozen=True)
class Scale:
    """`games`: behind each network; `generations`: how many networks, each from as many games more. `benchmark`: games
    behind a figure, `dear` behind one of `policy:best`. `learning`: fields of every `TrainConfig`.
    """

    games: int
    generations: int
    benchmark: int
    dear: int
    learning: Mapping[str, Any]


_LEARNING = {
    "encoder": "article",
    "moment": "before_draw",
    "epochs": 0,
    "schedule": "constant",
    "optimiser": "adam",
    "learning_rate": 1e-3,
    "options": {"hidden": [100], "dropout": [0.0]},
    "parts": (0.9, 0.05, 0.05),
    "variant": "article",
}
SCALES = {
    "smoke": Scale(60, 1, 20, 4, _LEARNING | {"parts": (0.8, 0.1, 0.1), "batch": 64, "steps": 10}),
    "small": Scale(10_000, 9, 10_000, 4000, _LEARNING | {"batch": 512, "steps": 1500}),
}


def run(lab: Lab) -> Findings:
    game = load("literature")
    considered = as_in_article()
    networks = {name: trained(lab, considered, name) for name in LABELS}
    contests = {
        UNTRAINED: (UNTRAINED, UNTRAINED),
        **{name: (f"greedy:{network}", UNTRAINED) for name, network in networks.items()},
        "logic": ("logic", UNTRAINED),
        "keeper": ("keeper", "logic"),
        LATE: (LATE_CLAIMS, "logic"),
        BEST: ("policy:best?greedy", UNTRAINED),
        f"{BEST} and logic": ("policy:best?greedy", "logic"),
    }
    rows = [
        row
        for name, pair in contests.items()
        for row in _rows(lab, considered if name in networks else game, name, *pair)
    ]
    return Findings(rows, {"contests": {name: list(pair) for name, pair in contests.items()}})


def trained(lab: Lab, game: Game, name: str) -> str:
    """The network that learns from the games of the networks before it; its file."""
    size, folder = lab.size, name.replace(" ", "-")
    store = lab.store(game, folder, "article", 4)
    count = size.games // (1 + size.generations)

    def train() -> dict[str, Any]:
        first = store.games("games", {UNTRAINED: 1.0}, count, seed=1)
        last = store.generations((first,), games=[count] * size.generations, opponents={}, seed=10, label=LABELS[name])
        return {"network": last, "test": store.test_figures("best")}

    return lab.piece(f"network-{folder}", train, repeats=False)["network"]


def _rows(lab: Lab, game: Game, name: str, one: str, other: str) -> list[Finding]:
    games = lab.games or (lab.size.dear if name.startswith(BEST) else lab.size.benchmark)
    key = f"games-{name}".replace(" ", "-").replace(":", "-")
    told = lab.piece(key, lambda: played(game, one, other, games, SEED))
    name = BEST if name.startswith(BEST) else name
    column = f"against {'logic' if other == 'logic' else 'untrained'}"
    tables = (DECIDED, WON, TIED, ASKS, CUT, BACK, AT_ONCE)
    return [
        Finding(table, name, column, of_estimate(told[table]), CLAIMS.get((name, table)), key, SEED, places=places)
        for table, places in zip(tables, (1, 1, 1, 1, 2, 2, 2), strict=True)
        if told[table]["n"]
    ]


def played(game: Game, one: str, other: str, games: int, seed: int) -> dict[str, Any]:
    """Play games of two teams, each deal once on either side; estimates by table, as JSON, with the deal as cluster."""
    deals = -(-games // 2)
    lineups = np.tile(np.array([[0, 1, 0, 1], [1, 0, 1, 0]]), (deals, 1))
    seeds = np.repeat(deal_seeds(seed, deals), 2)
    results = play(
        game,
        [agent(game, one), agent(game, other)],
        lineups,
        seeds,
        variant="article",
        threads=default_threads(),
        record=True,
        outcomes=("asks", "cut"),
    ).complete()
    assert results.finished.all()
    own = np.where(lineups[:, 0] == 0, results.scores[:, 0], results.scores[:, 1])
    records = zip(seeds, results.moves, strict=True)
    marks = np.array([marks_of(game, int(dealt), moves) for dealt, moves in records if moves is not None])

    def by_deal(values: np.ndarray) -> np.ndarray:
        return np.asarray(values, float).reshape(deals, 2)

    decided = np.where(own == 0.5, np.nan, own)
    estimates = {
        DECIDED: interval.proportion(by_deal(decided)).scaled(100),
        WON: interval.proportion(by_deal(own == 1)).scaled(100),
        TIED: interval.proportion(by_deal(own == 0.5)).scaled(100),
        ASKS: interval.mean(by_deal(results.outcomes["asks"][:, 0])),
        CUT: interval.proportion(by_deal(results.outcomes["cut"][:, 0])).scaled(100),
        BACK: interval.mean(by_deal(marks[:, 0])),
        AT_ONCE: interval.mean(by_deal(marks[:, 1])),
    }
    return plain({name: asdict(estimate) for name, estimate in estimates.items()})


def marks_of(game: Game, seed: int, moves: np.ndarray) -> tuple[int, int]:
    """How many cards were asked back in a game, and how many claims were made at once, by either team."""
    state, back, at_once = game.new(4, seed, "article"), 0, 0
    taken: dict[int, int] = {}  # the cards that the mover has got in its turn, and from which seat
    lost: dict[int, int] = {}  # those that the mover before it got, until the first question
    is_new = False  # whether an opponent's failure has just given the mover the turn
    for move in moves:
        seat, mover, kind, what = int(state["turn"]), int(state["mover"]), int(move["kind"]), int(move["what"])
        asked = (seat + int(move["step"])) % 4
        state = game.play(state, move)
        if kind == CLAIM:
            at_once += is_new and seat % 2 == mover % 2
        elif kind == ASK:
            back += lost.get(what) == seat
            lost, is_new = {}, False
            if int(state["answer"]) == 1:
                taken[what] = asked
            else:
                lost, taken, is_new = taken, {}, True
    return back, at_once
