"""One game as a judge sees it: how good each seat's position was after every move, and which moves changed that.

    found = of_file("games.jsonl", "greedy:best", number=3)
    print(found.table()); found.figure("game3.svg")

*What is judged.* A seat is judged when it has just moved, in the state its judge is made for: the after-state, before
any draw, for `greedy:`; the settled state for `sampled:`, unless the game is over then or the seat is in the middle of
its decision. These are the states a model learns from (`cardai.data.dataset`): each is one that a seat has just moved
into, seen by that seat. No model has learned what a position is worth to a seat when somebody else has moved, so no
seat is judged in between: its value is *carried* from its own last move, a step function, and before its first move
there is none. When the others' moves have helped or hurt a seat, that shows at its next own move. At the end stands the
score. Asked in between all the same, models foretell the end worse than the carried value does (`docs/records.md`).

*From what.* Judges see worlds only: copies of the state in which all that the seat cannot know has been dealt anew. A
model's view of them is the same in all (a law), so it is asked about one; a heuristic of settled states is averaged
over as many worlds as its spec says. Alternatives to a move are weighed as the judge's own agent weighs them in play.

*Numbers.* A model that learned from data balanced by loser says too little for natural play; where its label is the
score and the game promises the sum of scores, its log odds are shifted by the difference of the two priors (`Scale`).
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardai.agents.evaluator import Evaluator, find_evaluator, known_evaluators
from cardai.agents.spec import Agent
from cardai.agents.spec import agent as seated
from cardai.data import record
from cardai.data.recipe import LABELS
from cardai.data.record import RecordedGame
from cardai.errors import CardaiError, positive
from cardai.game import Game, GameState, copies
from cardai.kernel import driver
from cardai.kernel.driver import choose_by_value, door_value, lend
from cardai.kernel.native import at, raw
from cardai.rule import STREAM, mixed, rule
from cardai.show.figure import figure_path, save_figure
from cardai.show.grid import with_notes
from cardai.stats.jsonable import plain
from cardai.table.cast import cast_of, scratch_of
from cardai.table.lookahead import decide

Progress = Callable[[int, int, str], None]
"""Called with (plies done, plies in all, what is being done)."""

_CHUNK = 16  # decisions weighed in one go
_LABELS = {"score": "expected score", "win": "chance to win", "not_lost": "chance not to lose"}


@dataclass(frozen=True)
class Scale:
    """What a judge's numbers are. `shift`: what was added to their log odds; `source`: why, or why not.

    `bounded`: they are in [0, 1] and become `label` of the score at the end of the game. A heuristic's have no unit.
    """

    name: str
    bounded: bool
    label: str = "score"
    shift: float = 0.0
    source: str = ""


@dataclass(frozen=True)
class Turn:
    """One move and what the judge said to it, for the seat that moved; None where it says nothing.

    `value`: the position moved into; `before`: that of the seat's last own move. `listed`: the legal moves weighed,
    `worth`: what the one played seemed worth among them when it was chosen, `best`: the move the judge liked more than
    any other, in words, if that is not the one played; `best_worth`: what that seemed worth.
    """

    ply: int
    seat: int
    move: str
    value: float | None
    before: float | None
    listed: int
    worth: float | None
    best: str | None
    best_worth: float | None

    @property
    def cost(self) -> float:
        """What the choice cost by the judge's own reckoning; 0 when nothing was liked better, or nothing is known."""
        return 0.0 if self.best_worth is None or self.worth is None else max(0.0, self.best_worth - self.worth)


@dataclass(frozen=True)
class Swing:
    """How a seat's value changed from its last own move to this one: change = after - before, the sum of its parts.

    `choice`: minus the cost of its choices since then; `draw`: what it drew, against what it could expect (`sampled:`
    only); `others`: the rest, which is the others' moves and chance.
    """

    ply: int
    seat: int
    before: float
    after: float
    choice: float
    draw: float
    others: float

    @property
    def change(self) -> float:
        """After minus before."""
        return self.after - self.before


@dataclass(frozen=True)
class Analysis:
    """A game and what its judge made of it. `names`: who sat where; `scores`: how it ended, in [0, 1]; `turns`: plies.

    `top`: how many swings and missed moves are marked. `worlds_seed`: decides the worlds that were looked at.
    """

    game: str
    title: str
    version: int
    variant: str
    number: int
    seed: int
    names: tuple[str, ...]
    judge: str
    moment: str
    scale: Scale
    turns: tuple[Turn, ...]
    scores: tuple[float, ...]
    top: int
    worlds_seed: int
    file: str = ""

    @property
    def seats(self) -> int:
        """How many sat at the table."""
        return len(self.scores)

    def values(self) -> np.ndarray:
        """Each seat's value after every ply, f8[plies, seats]: carried from its own last move, NaN before the first."""
        found = np.full((len(self.turns), self.seats), np.nan)
        for turn in self.turns:
            if turn.value is not None:
                found[turn.ply :, turn.seat] = turn.value
        return found

    def ends(self) -> np.ndarray | None:
        """What the values become at the end, f8[seats]: the scores as the judge's label has them; None without unit."""
        return LABELS[self.scale.label](np.array(self.scores)) * 1.0 if self.scale.bounded else None

    def swings(self) -> list[Swing]:
        """All changes of a seat's value from own move to own move, the largest first."""
        chosen, found = [0.0] * self.seats, []
        for turn in self.turns:
            chosen[turn.seat] -= turn.cost
            if turn.value is None:
                continue
            if turn.before is not None:
                draw = turn.value - turn.worth if self.moment == "drawn" and turn.worth is not None else 0.0
                others = turn.value - turn.before - chosen[turn.seat] - draw
                found.append(Swing(turn.ply, turn.seat, turn.before, turn.value, chosen[turn.seat], draw, others))
            chosen[turn.seat] = 0.0
        return sorted(found, key=lambda one: -abs(one.change))

    def missed(self) -> list[Turn]:
        """The moves to which the judge liked another one better, the costliest first."""
        return sorted((turn for turn in self.turns if turn.best is not None), key=lambda turn: -turn.cost)

    def as_json(self) -> dict[str, Any]:
        """Everything, as plain JSON types; `top` says how many of the swings and missed moves the table shows."""
        ends = self.ends()
        found: dict[str, Any] = {"kind": "analysis"} | asdict(self)
        found["turns"] = [
            asdict(turn) | {"cost": turn.cost, "values": row}
            for turn, row in zip(self.turns, self.values(), strict=True)
        ]
        found["swings"] = [asdict(one) | {"change": one.change} for one in self.swings()]
        found["missed"] = [asdict(turn) | {"cost": turn.cost} for turn in self.missed()]
        return plain(found | {"ends": ends, "notes": self._notes()})

    def table(self) -> Any:
        """For a terminal: a rich renderable. The transcript, then the moves that are marked in it."""
        parts = [self._transcript(), self._swung(), self._misses()]
        return with_notes(self._notes(), *(part for part in parts if part.row_count))

    def figure(self, path: str | Path) -> None:
        """Draw a line for each seat over the plies, with the largest swings marked; .svg, .png or .pdf.

        Raises CardaiError for another ending or a place that cannot be written to.
        """
        save_figure(figure_path(path), _drawn(self))

    def marked(self) -> list[Swing]:
        """The swings that are marked: the `top` largest that are changes at all."""
        return [one for one in self.swings() if one.change][: self.top]

    def _number(self, value: float | None, signed: bool = False) -> str:
        if value is None:
            return ""
        if self.scale.bounded:
            return f"{value:+.3f}" if signed else f"{value:.3f}"
        return f"{value:+.4g}" if signed else f"{value:.4g}"

    def _transcript(self) -> Any:
        from rich.text import Text

        head = f"{self.game} {self.version} ({self.variant}), game {self.number}, seed {self.seed}: {self.judge}"
        table = _grid("\n".join([head, *(f"p{seat} is {name}" for seat, name in enumerate(self.names))]))
        table.add_column("ply", justify="right")
        table.add_column("who")
        table.add_column("move", overflow="fold")
        for seat in range(self.seats):
            table.add_column(f"p{seat}", justify="right", no_wrap=True)
        table.add_column("", overflow="fold")
        places = {one.ply: i for i, one in enumerate(self.marked(), 1)}
        missed = {turn.ply for turn in self.missed()[: self.top]}
        for turn in self.turns:
            cells = ["" if seat != turn.seat else self._number(turn.value) for seat in range(self.seats)]
            marks = [f"({places[turn.ply]})"] if turn.ply in places else []
            marks += [f"?! {turn.best}"] if turn.ply in missed else []
            texts = [Text(one) for one in (turn.move, *cells, " ".join(marks))]
            table.add_row(str(turn.ply), f"p{turn.seat}", *texts, style="bold" if marks else None)
        table.add_section()
        table.add_row("", "", "scores", *(f"{score:g}" for score in self.scores))
        return table

    def _swung(self) -> Any:
        from rich.text import Text

        table = _grid("Moves at which evaluations changed most, each since the seat's own last move")
        for name in ("", "ply", "who", "move", "before -> after", "change", "others, chance", "own choice"):
            table.add_column(name, justify="left" if name in ("who", "move") else "right", overflow="fold")
        if self.moment == "drawn":
            table.add_column("draw", justify="right")
        for i, one in enumerate(self.marked(), 1):
            parts = [one.change, one.others, one.choice, *([one.draw] if self.moment == "drawn" else [])]
            way = f"{self._number(one.before)} -> {self._number(one.after)}"
            figures = [self._number(part, signed=True) for part in parts]
            table.add_row(f"({i})", str(one.ply), f"p{one.seat}", Text(self.turns[one.ply].move), way, *figures)
        return table

    def _misses(self) -> Any:
        from rich.text import Text

        table = _grid("?! Moves to which it liked another one better")
        for name in ("ply", "who", "played", "worth", "liked better", "worth", "cost", "of moves"):
            left = name in ("who", "played", "liked better")
            table.add_column(name, justify="left" if left else "right", overflow="fold")
        for turn in self.missed()[: self.top]:
            played, best = (Text(text or "") for text in (turn.move, turn.best))
            worths = [self._number(one) for one in (turn.worth, turn.best_worth, turn.cost)]
            table.add_row(str(turn.ply), f"p{turn.seat}", played, worths[0], best, *worths[1:], str(turn.listed))
        return table

    def _notes(self) -> list[str]:
        state = "in the after-state, before any draw" if self.moment == "before_draw" else "once its move is settled"
        notes = [
            f"numbers: {self.scale.name}; {self.scale.source}",
            f"a seat is judged when it has moved, {state}, from what it alone knows;",
            "it keeps that value until its next move, since models learn of such positions only",
        ]
        if self.moment == "drawn":
            notes.append("not judged: the end, and a seat in the middle of its decision")
        return notes


class Seen(NamedTuple):
    """A position to be judged: `worlds`, STATE[n], are worlds of `seat`, which has moved into it with move `ply`."""

    ply: int
    seat: int
    worlds: np.ndarray


def of_file(
    path: str | Path,
    judge: str | None = None,
    *,
    number: int = 0,
    model: str | None = None,
    rules: str | None = None,
    seed: int = 0,
    top: int = 5,
    progress: Progress | None = None,
) -> Analysis:
    """Analyse game `number` of a file, which is read to its end so that an edited one is refused.

    `judge`: an agent that judges (`greedy:` or `sampled:`); or `model`: one that is asked as it was made to be, see
    `spec_of`. `rules`: the path of the game if it has no name here. Raises CardaiError for a file that is none or
    damaged, of another version of the game, without that game, and for a judge that does not fit it.
    """
    if judge is not None and model is not None:
        raise CardaiError(f"name an agent or a model to judge by, not both {judge!r} and {model!r}")
    reader = record.read(path)
    game, chosen = reader.load(rules), None
    for one in reader:
        if one.number == number:
            chosen = one
    if chosen is None:
        raise CardaiError(f"{path} has {reader.games} games, counted from 0; there is no game {number}")
    spec = judge or spec_of(game, chosen.variant, len(chosen.lineup), model)
    names = [reader.header.agents[place] for place in chosen.lineup]
    found = analyse(game, chosen, spec, names=names, seed=seed, top=top, progress=progress)
    return dataclasses.replace(found, file=str(path))


def analyse(
    game: Game,
    played: RecordedGame,
    judge: Agent | str,
    *,
    names: Sequence[str] | None = None,
    seed: int = 0,
    top: int = 5,
    progress: Progress | None = None,
) -> Analysis:
    """Replay a game and have every seat's positions judged.

    `judge`: an agent that judges, or its spec. `names`: who sat where; the places in the line-up if not given. `seed`
    decides the worlds. Raises CardaiError for a game that does not replay and a judge that is none or does not fit.
    """
    positive("top", top)
    seats = len(played.lineup)
    agent = _judging(game, seated(game, judge) if isinstance(judge, str) else judge, played.variant, seats)
    scale = scale_of(game, agent, seats)
    if scale.shift and agent.evaluator is not None:
        agent = dataclasses.replace(agent, evaluator=Shifted(agent.evaluator, scale.shift))
    states, moves = _replayed(game, played)
    weighed = _weighed(game, agent, states[:-1], seed, progress)
    judged = _judged(game, agent, positions(game, agent, states, moves, seed))
    last: dict[int, float] = {}
    turns: list[Turn] = []
    for ply, (state, move) in enumerate(zip(states[:-1], moves, strict=True)):
        seat, value = int(state["turn"]), judged.get(ply)
        listed, worth, best, best_worth = _alternatives(game, state, move, weighed.get(ply))
        if agent.kind == driver.GREEDY and worth is not None:
            worth = value
        before = last.get(seat)
        turns.append(Turn(ply, seat, game.spell(state, move), value, before, listed, worth, best, best_worth))
        if value is not None:
            last[seat] = value
    return Analysis(
        game=game.name,
        title=game.title,
        version=game.version,
        variant=played.variant,
        number=played.number,
        seed=played.seed,
        names=tuple(names) if names is not None else tuple(f"agent {place}" for place in played.lineup),
        judge=agent.spec,
        moment="before_draw" if agent.kind == driver.GREEDY else "drawn",
        scale=scale,
        turns=tuple(turns),
        scores=tuple(played.scores),
        top=top,
        worlds_seed=seed,
    )


def spec_of(game: Game, variant: str, seats: int, model: str | None = None) -> str:
    """The agent that asks a model as it was made to be asked: `greedy:` about after-states, `sampled:` about settled.

    Without a name, the first model that comes for this game, variant and number of seats. CardaiError when there is
    none, or nobody knows the name.
    """
    if model is None:
        model = next((name for name in known_evaluators(game) if _fits(game, name, variant, seats)), None)
        if model is None:
            raise CardaiError(
                f"no model comes for {game.name}, variant {variant}, with {seats} seats: name a judge, as in"
                f" --agent greedy:{next(iter(game.heuristics), 'HEURISTIC')}"
            )
    evaluator = find_evaluator(game, model.partition("?")[0])
    if evaluator is None:
        seated(game, f"greedy:{model}")  # a heuristic, or a refusal that says what there is
        return f"greedy:{model}"
    return f"{'greedy' if evaluator.moment == 'before_draw' else 'sampled'}:{model}"


def scale_of(game: Game, agent: Agent, seats: int) -> Scale:
    """What the numbers of a judge are, by what its model learned from (`metadata.data`, if it has that).

    The shift is that of `docs/data.md`: a judge that has seen a loser in every second state, of a game in which the
    mean score is m, says log odds that are ln(m / (1 - m)) too low for natural play.
    """
    evaluator = agent.evaluator
    if evaluator is None:
        return Scale(f"value by {agent.spec}", bounded=False, source="a heuristic's numbers have no unit")
    metadata: Any = getattr(evaluator, "metadata", None)
    recipe: Mapping[str, Any] = dict(getattr(metadata, "data", None) or {}).get("recipe") or {}
    label, balance = str(recipe.get("label", "score")), recipe.get("balance")
    if label not in LABELS:
        label = "score"
    name, total = _LABELS[label], game.score_sum(seats)
    if balance is None:
        return Scale(name, True, label, source="as the model says it; it does not say how its states were drawn")
    if balance == "natural":
        return Scale(name, True, label, source="as the model says it, which learned from states as they come in play")
    if label != "score" or not total or not 0 < total < seats:
        said = "as in data balanced by loser, where every second state is a loser's: too low or too high for play"
        return Scale(name, True, label, source=said)
    shift = float(np.log(total / (seats - total)))
    said = f"the model learned from data balanced by loser; its log odds are shifted by {shift:+.3f} to natural play"
    return Scale(name, True, label, shift, said)


class Shifted:
    """An evaluator whose log odds are shifted by a constant."""

    def __init__(self, evaluator: Evaluator, shift: float) -> None:
        self.evaluator, self.odds = evaluator, float(np.exp(shift))
        self.name, self.encoder, self.moment = evaluator.name, evaluator.encoder, evaluator.moment
        self.seats, self.batch = evaluator.seats, evaluator.batch

    def score(self, rows: np.ndarray) -> np.ndarray:
        """u8[n, width] -> f8[n] in [0, 1]; what is not in [0, 1] to begin with is left as it is."""
        p = np.asarray(self.evaluator.score(rows)).astype(np.float64)
        inside = (p >= 0) & (p <= 1)
        return np.where(inside, p * self.odds / np.where(inside, p * self.odds + (1 - p), 1), p)

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """As the evaluator has it."""
        self.evaluator.check_fits(game, variant, seats)


def positions(
    game: Game, agent: Agent, states: Sequence[GameState], moves: Sequence[np.record], seed: int = 0
) -> list[Seen]:
    """What a judge is asked about in a game: for each ply a few worlds of the seat that moved, if any.

    `states`: those before each move, and the last. A judge of after-states gets a world of the seat from before its
    move, in which that move has been decided; a judge of settled states gets worlds of the settled state.
    """
    found = []
    for ply, move in enumerate(moves):
        before, settled = states[ply], states[ply + 1]
        seat, luck = int(before["turn"]), int(mixed(np.uint64((seed ^ ply << 20) % 2**64)))
        if agent.kind == driver.GREEDY:
            found.append(Seen(ply, seat, copies(game.after(game.world(before, seat, luck), move))))
        elif settled["turn"] >= 0 and not (settled["turn"] == seat and settled["midway"]):
            count = agent.worlds if agent.evaluator is None else 1
            found.append(Seen(ply, seat, np.array([game.world(settled, seat, luck + i) for i in range(count)])))
    return found


def _judging(game: Game, agent: Agent, variant: str, seats: int) -> Agent:
    """The agent, if it judges positions by what its seat knows and fits the table."""
    if agent.kind == driver.PEEKING:
        raise CardaiError(f"agent {agent.spec!r} peeks; a seat is judged from what it knows: greedy: or sampled:")
    if agent.kind not in (driver.GREEDY, driver.SAMPLED):
        raise CardaiError(f"agent {agent.spec!r} judges no positions; greedy:JUDGE and sampled:JUDGE do")
    if agent.epsilon or agent.temperature:
        raise CardaiError(f"agent {agent.spec!r} explores, which says nothing about a position; name it without")
    agent.check_fits(game, variant, seats)
    return agent


def _fits(game: Game, name: str, variant: str, seats: int) -> bool:
    evaluator = find_evaluator(game, name)
    try:
        if evaluator is not None:
            evaluator.check_fits(game, variant, seats)
    except CardaiError:
        return False
    return evaluator is not None


def _replayed(game: Game, played: RecordedGame) -> tuple[list[GameState], list[np.record]]:
    """The states before each move and the last one; the moves."""
    states: list[GameState] = []
    moves: list[np.record] = []

    def on_position(state: GameState, move: np.record, ply: int) -> None:
        states.append(state)
        moves.append(move)

    try:
        end = record.replay(game, played, on_position)
    except CardaiError as error:
        raise CardaiError(f"game {played.number} (seed {played.seed}): {error}") from None
    return [*states, end], moves


def _judged(game: Game, agent: Agent, seen: Sequence[Seen]) -> dict[int, float]:
    """The value of each position, by ply: the mean over its worlds."""
    if not seen:
        return {}
    evaluator = agent.evaluator
    if evaluator is None:
        return {one.ply: _mean_value(agent, one) for one in seen}
    rows = np.stack([game.encode(one.worlds[0], one.seat, evaluator.encoder) for one in seen])
    scores = np.asarray(evaluator.score(rows))
    if scores.shape != (len(rows),) or not ((scores >= 0) & (scores <= 1)).all():
        raise CardaiError(f"agent {agent.spec!r}: it does not judge each position by a number in [0, 1]")
    return {one.ply: float(score) for one, score in zip(seen, scores, strict=True)}


def _mean_value(agent: Agent, one: Seen) -> float:
    worlds = [np.ascontiguousarray(one.worlds[i : i + 1]) for i in range(len(one.worlds))]
    return float(np.mean([door_value(agent.call, raw(world), one.seat) for world in worlds]))


def _weighed(
    game: Game, agent: Agent, states: Sequence[GameState], seed: int, progress: Progress | None
) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """What each legal move seemed worth to the judge's agent, by ply: MOVE[n], f8[n]; where there was a choice."""
    open_plies = [ply for ply, state in enumerate(states) if len(game.moves(state)) > 1]
    found: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for first in range(0, len(open_plies), _CHUNK):
        if progress:
            progress(first, len(open_plies), f"weighing moves by {agent.spec}")
        plies = open_plies[first : first + _CHUNK]
        asked = np.array([states[ply] for ply in plies], game.state)
        streams = np.zeros(len(plies), STREAM)
        streams["rng"] = [mixed(np.uint64((seed ^ ~ply) % 2**64)) for ply in plies]
        weigh = _by_value if agent.evaluator is None else _by_evaluator
        found |= dict(zip(plies, weigh(game, agent, asked, streams), strict=True))
    return found


def _by_evaluator(
    game: Game, agent: Agent, states: np.ndarray, streams: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    places = np.arange(len(states))
    return decide(game, agent, states, streams, places, places, np.zeros(len(states), game.move))


def _by_value(game: Game, agent: Agent, states: np.ndarray, streams: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    scratch, chosen, found = scratch_of(game, cast_of(game, [agent])), np.zeros(1, game.move), []
    for i in range(len(states)):
        lent = lend(game.rules), agent.kind, agent.call, agent.worlds, raw(states), i, lend(scratch)
        weigh_by_value(*lent, raw(streams), raw(chosen))
        n = len(game.moves(states[i]))
        found.append((scratch.moves[:n].copy(), scratch.totals[:n] / scratch.counts[:n]))
    return found


@rule
def weigh_by_value(rules, kind, value, worlds, states, i, scratch, streams, chosen):
    """Leave in the working space what each move of states[i] is worth by a heuristic."""
    return choose_by_value(
        rules, kind, value, worlds, at(states, i), scratch, at(streams, i), at(chosen, 0), 0.0, 0.0
    )  # fmt: skip


def _alternatives(
    game: Game, state: GameState, move: np.record, weighed: tuple[np.ndarray, np.ndarray] | None
) -> tuple[int, float | None, str | None, float | None]:
    """How many moves were weighed, what the one played seemed worth, the best one if another, and its worth."""
    if weighed is None:
        return 1, None, None, None
    moves, worth = weighed
    own = np.flatnonzero(moves == move)
    played = float(worth[own[0]]) if len(own) else None  # None: a truncated list need not hold it
    best = int(np.argmax(worth))
    if played is None or worth[best] <= played:
        return len(moves), played, None, played
    return len(moves), played, game.spell(state, moves[best]), float(worth[best])


def _grid(title: str) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    return Table(title=Text(title), title_justify="left", box=box.HORIZONTALS)


_FAR = 1000.0  # times the usual value: a scale in which both can be seen is logarithmic
_GAP = 0.07  # of the axes' height, between the names of lines
_STYLES = ("-", "--", ":", "-.")
_MARKERS = "osD^vPX*"
_INKS = ("#000000", "#0b62a4", "#b5440f", "#3a7d44", "#7a4aa0", "#8a6d00", "#5c5c5c", "#a01a58")


def _drawn(found: Analysis) -> Any:
    from matplotlib.figure import Figure

    marked, plies = found.marked(), len(found.turns)
    figure = Figure(figsize=(8.4, 4.6 + 0.17 * len(marked)), layout="constrained")
    axes = figure.add_subplot()
    values, ends = found.values(), found.ends()
    for seat in range(found.seats):
        ink, style = _INKS[seat % len(_INKS)], _STYLES[seat % len(_STYLES)]
        line = np.append(values[:, seat], np.nan if ends is None else ends[seat])
        axes.step(np.arange(plies + 1), line, where="post", color=ink, linestyle=style, linewidth=1.3)
        own = [turn for turn in found.turns if turn.seat == seat and turn.value is not None]
        dots = {"color": ink, "marker": _MARKERS[seat % len(_MARKERS)], "markersize": 2.6, "linestyle": ""}
        axes.plot([turn.ply for turn in own], values[[turn.ply for turn in own], seat], **dots)
    for i, one in enumerate(marked, 1):
        ring = {"boxstyle": "circle,pad=0.15", "facecolor": "white", "edgecolor": "black", "linewidth": 0.8}
        shift = (0, 11 if one.change > 0 else -11)
        axes.annotate(
            str(i), (one.ply, one.after), shift, textcoords="offset points", ha="center", va="center",
            fontsize=7, bbox=ring,
        )  # fmt: skip
    axes.set_title(f"{found.title}, game {found.number}: each seat judged by {found.judge}", parse_math=False)
    axes.set_ylabel(found.scale.name, parse_math=False)
    axes.set_xlabel("\n".join(["ply", *(_marked_line(found, i, one) for i, one in enumerate(marked, 1))]), fontsize=8)
    axes.xaxis.label.set_parse_math(False)
    axes.set_xlim(0, max(1, plies))
    if found.scale.bounded:
        axes.set_ylim(-0.06, 1.06)
    else:
        usual = float(np.nanmedian(np.abs(values))) if np.isfinite(values).any() else 0.0
        if usual and np.nanmax(np.abs(values)) > _FAR * usual:  # a heuristic may say "won" by a huge number
            axes.set_yscale("symlog", linthresh=usual)
    _label(axes, found, values, ends)
    axes.grid(alpha=0.25)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure


def _label(axes: Any, found: Analysis, values: np.ndarray, ends: np.ndarray | None) -> None:
    """Name each line at its right end, names apart from each other; beyond the last ply."""
    last = values[-1] if len(values) else np.full(found.seats, np.nan)
    heights = np.nan_to_num(last if ends is None else ends)
    order = np.argsort(-heights, kind="stable")
    axes.autoscale_view()
    onto = axes.transScale + axes.transLimits
    places = [float(onto.transform((0.0, height))[1]) for height in heights[order]]
    for i in range(1, len(places)):
        places[i] = min(places[i], places[i - 1] - _GAP)
    places[-1] = max(places[-1], 0.02)
    for i in range(len(places) - 2, -1, -1):
        places[i] = max(places[i], places[i + 1] + _GAP)
    for seat, height in zip(order, places, strict=True):
        name = found.names[seat]
        text = f"p{seat} {name if len(name) <= 24 else name[:21] + '...'} scored {found.scores[seat]:g}"
        axes.plot(
            [1.015, 1.05], [height] * 2, transform=axes.transAxes, clip_on=False, linewidth=1.3,
            color=_INKS[seat % len(_INKS)], linestyle=_STYLES[seat % len(_STYLES)],
            marker=_MARKERS[seat % len(_MARKERS)], markersize=3, markevery=[1],
        )  # fmt: skip
        axes.annotate(
            text, (1.06, height), xycoords="axes fraction", va="center", fontsize=8,
            annotation_clip=False, parse_math=False, color=_INKS[seat % len(_INKS)],
        )  # fmt: skip


def _marked_line(found: Analysis, i: int, one: Swing) -> str:
    move = found.turns[one.ply].move
    short = move if len(move) <= 60 else f"{move[:57]}..."
    return f"({i}) ply {one.ply}, p{one.seat} {short}: {found._number(one.before)} to {found._number(one.after)}"
