"""Laws on views: what a seat is shown, and what its agent decides, is the same in all worlds of that seat."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cardai.errors import short, whole
from cardai.game import Game, Zone, listed_pieces
from cardai.game.compiled.native import HEADER
from cardai.laws.compiled import parts, streams
from cardai.laws.evidence import MANY_WORLDS, words
from cardai.laws.law import Steps, each, each_position, each_stretch, each_view, law, need, nothing_hidden
from cardai.laws.note import note_rule
from cardai.laws.testbed import RARE_FIRST, Counted, Position, Stretch, Testbed, Trace, View
from cardai.playing.agents.spec import Agent
from cardai.playing.agents.strategy import OnePly
from cardai.playing.table.asking import compare

TEXTS = 120  # views of which the texts are compared, however short the time
RNG = HEADER.index("rng")  # the place of the random stream among the numbers of a state


@each_stretch(hidden=True, least=RARE_FIRST)
def own_moves_are_the_same_in_every_world(stretch: Stretch) -> bool:
    """The seat to move has the same legal moves in all its worlds, so that its moves reveal nothing hidden."""
    moves, counts = stretch.compiled.legal(stretch.states)
    # A truncated list is a random choice, drawn from the random stream of each world.
    own = (stretch.states["turn"] == stretch.seat) & (counts >= 0)
    if not own.any():
        return False
    others, numbers = stretch.compiled.legal(stretch.worlds())
    differing = (moves != others) & (np.arange(moves.shape[1]) < counts[:, None])
    wrong = np.flatnonzero(own & (differing.any(axis=1) | (counts != numbers)))
    if len(wrong):
        here, place = stretch.view(wrong[0]), int(np.argmax(differing[wrong[0]]))
        what = f"other legal moves in one of its worlds, from move {place} on"
        raise here.broken(f"seat {here.turn} has {what}: {here.text(moves[wrong[0], place])}")
    return True


@each_stretch(needs="encoders", hidden=True, least=RARE_FIRST)
def encodings_are_the_same_in_every_world(stretch: Stretch) -> None:
    """Every encoder gives a seat the same row in all worlds of that seat."""
    rows, others = (stretch.compiled.rows(states, stretch.seat) for states in (stretch.states, stretch.worlds()))
    for place in np.flatnonzero((rows != others).any(axis=1)).tolist():
        same_rows(stretch.view(place), np.stack([rows[place], others[place]]), f"the view of seat {stretch.seat}")


@each_position("positions", needs="encoders", hidden=True)
def after_states_are_the_same_in_every_world(here: Position) -> None:
    """After act and before settle, the seat that moved gets the same encodings in all its worlds."""
    moves, states = here.some_moves(), _truth_and_fewer_worlds(here)
    rows = here.own.rows(here.compiled.after_each(states, moves)).reshape(len(states), len(moves), -1)
    for i in np.flatnonzero((rows != rows[0]).any(axis=(0, 2))):
        same_rows(here, rows[:, i], f"seat {here.turn} after its own {here.text(moves[i])}")


@each_position("positions", needs="heuristics", hidden=True)
def heuristics_are_the_same_in_every_world(here: Position) -> None:
    """A heuristic gives a state, and the after-states of own moves, the same value in all worlds of that seat."""
    moves, states = here.some_moves(), _truth_and_fewer_worlds(here)
    after = here.compiled.after_each(states, moves)
    for name in here.game.agents.heuristics:
        before = here.compiled.values(states, here.turn, f"heuristic {name}")
        values = here.compiled.values(after, here.turn, f"heuristic {name}").reshape(len(states), len(moves))
        values = np.column_stack([before, values])
        wrong = np.argwhere(~((values == values[0]) | (np.isnan(values) & np.isnan(values[0]))))
        if len(wrong):
            world, i = wrong[0]
            what = f"after {here.text(moves[i - 1])}" if i else "as it stands"
            found = f"{values[0, i]} in the true state and {values[world, i]} in a world"
            raise here.broken(f"heuristic {name} for seat {here.turn} {what} is {found}")


@each_position("positions", needs="blank", none="no player looks only at its own (`sees`)", hidden=True)
def players_who_see_their_own_use_no_hidden_card(here: Position) -> bool:
    """A player that `sees="own"` chooses the same move with hidden cards blanked as in all worlds, given the same luck.

    "The same luck" is the same random stream. Other players get a world, so their choices cannot depend on hidden
    cards. These get the blanked state: a player that looked at hidden cards would play by cards that nobody holds.
    """
    own = [name for name, player in here.game.agents.players.items() if player.sees == "own"]
    if not own or here.is_truncated:  # a truncated list of moves is drawn from the random stream of each world
        return False
    blanked = here.compiled.blanked(here.states, here.turn)
    for name in own:
        moves = here.compiled.choices(np.concatenate([blanked, here.own.truth_and_worlds()]), name, here.ply)
        wrong = np.flatnonzero(moves != moves[0])
        if len(wrong):
            where = "the true state" if wrong[0] == 1 else "a world"
            what = f"plays {here.text(moves[0])} with hidden cards blanked, but {here.text(moves[wrong[0]])} in {where}"
            raise here.broken(f"player {name} at seat {here.turn} {what}")
    return True


@each_stretch(needs="blank", hidden=True, least=RARE_FIRST)
def blank_leaves_nothing_hidden(stretch: Stretch) -> None:
    """`blank` makes all worlds of a seat, and the true state, the same byte for byte, so that a peek finds nothing."""
    views = (stretch.compiled.blanked(states, stretch.seat) for states in (stretch.states, stretch.worlds()))
    differing = np.not_equal(*map(words, views))
    for place in np.flatnonzero(differing.any(axis=1)).tolist():
        here = stretch.view(place)
        what = f"blank for seat {here.seat} leaves state.{_field_at(here.game, differing[place])}"
        raise here.broken(f"{what} different from world to world")


@law
def blank_leaves_what_is_known(testbed: Testbed) -> Steps:
    """`blank` changes only numbers of the state that differ in worlds of the seat, and nothing that the seat is shown.

    What a seat is shown are the rows of all encoders, its text and its legal moves. So public counts of hidden cards
    stay right. A number may be blanked if it differs from world to world in some position: in another one it may be
    known too, since all other cards have been seen, but a player need not be told that.
    """
    need(testbed, "blank")
    hidden: dict[tuple[int, int], np.ndarray] = {}
    changes: list[tuple[View, np.ndarray]] = []
    views = list(testbed.views(testbed.effort.positions))
    for here in (seen := Counted(views, "views")):
        yield seen
        view = testbed.compiled.blanked(here.states, here.seat)
        hidden[_table(here)] = hidden.get(_table(here), False) | _differing(here.truth_and_worlds())
        changed = _differing(np.concatenate([here.states, view]))
        changed[RNG] = False
        changes.append((here, changed))
        _shown_alike(here, view)
    for here, changed in changes:
        table, left = _table(here), iter(views[len(changes) :])
        if (changed & ~hidden[table]).any():  # it may vary rarely, as where a single card of many lies
            hidden[table] |= _differing(here.truth_and_worlds(MANY_WORLDS))
        while (changed & ~hidden[table]).any() and (other := next(left, None)):  # it may vary where nobody looked
            if _table(other) == table:
                hidden[table] |= _differing(other.truth_and_worlds())
        wrong = changed & ~hidden[table]
        if wrong.any():
            what = f"blank for seat {here.seat} changes state.{_field_at(testbed.game, wrong)}"
            raise here.broken(f"{what}, which that seat knows")
    for here in (seen := Counted(testbed.views(testbed.effort.texts), "views")):
        yield seen
        view = testbed.compiled.blanked(here.states, here.seat)[0]
        truth, found = (here.ask(testbed.game.text.show, state, here.seat) for state in (here.state, view))
        if truth != found:
            raise here.broken(f"blank changes what seat {here.seat} is shown: {truth!r} becomes {found!r}")
    if not testbed.hides_something:
        raise nothing_hidden(testbed, "")


def _table(here: View) -> tuple[int, int]:
    return len(here.seats), here.seat


def _shown_alike(here: View, view: np.ndarray) -> None:
    """Break the law if a seat's encodings or its legal moves are not the same in a blanked state, STATE[1]."""
    rows = here.rows(np.concatenate([here.states, view]))
    if (rows[0] != rows[1]).any():
        where = _segment_at(here, int(np.argmax(rows[0] != rows[1])))
        raise here.broken(f"blank changes what seat {here.seat} is shown: {where}")
    if here.seat == here.turn and not here.is_truncated and not np.array_equal(here.moves, here.compiled.moves(view)):
        raise here.broken(f"blank changes the legal moves of seat {here.seat}")


def _differing(states: np.ndarray) -> np.ndarray:
    """Which of the numbers that states hold are not the same in all of them: bool[words]."""
    numbers = words(states)
    return (numbers != numbers[0]).any(axis=0)


def _field_at(game: Game, words: np.ndarray) -> str:
    """The field of a state in which the first of some numbers lies: bool[words]."""
    fields = game.state.fields or {}
    return max((offset, name) for name, (_, offset, *_) in fields.items() if offset <= 8 * int(np.argmax(words)))[1]


@each(
    "games by encoders",
    lambda testbed: [
        (game, encoder) for game in testbed.mixed(testbed.traces) for encoder in testbed.game.learning.encoders
    ],
    needs="encoders",
    hidden=True,
)
def agents_decide_by_what_they_know(pair: tuple[Trace, str]) -> bool:
    """A greedy agent scores its moves the same in all its worlds; a sampled one does, given the same random stream.

    For each of the game's encoders they get an evaluator that gives different rows different scores. A greedy agent
    gets a world too, so no row it asks for may differ from world to world. A sampled agent draws worlds of the world
    it gets, so what `resample` deals for a random stream must not depend on the cards that it deals anew. A greedy
    agent needs the same stream too if seats choose at the same time, since it lets the others choose by it.
    """
    trace, encoder = pair
    picked = [Position(trace, ply) for ply in trace.sampled(trace.testbed.effort.positions // 4)]
    # A truncated list of moves is drawn from the random stream of each world.
    picked = [here for here in picked if not here.is_truncated]
    if picked:
        _same_worth(picked, encoder, "greedy", settles=False)
        _same_worth(picked, encoder, "sampled", settles=True)
    return bool(picked)


def _same_worth(picked: Sequence[Position], encoder: str, name: str, settles: bool) -> None:
    """Break the law if an agent scores moves differently in the worlds of one of these positions of a game."""
    evaluator = HashEvaluator(encoder, len(picked[0].seats))
    player = Agent(f"{name}:any", OnePly(evaluator, settles=settles, worlds=3 if settles else 1))
    states = np.concatenate(blocks := [_truth_and_fewer_worlds(here) for here in picked])
    count = len(blocks[0])
    game, each_part = picked[0].game, parts(len(states))
    same_luck = settles or game.rules.together is not None
    luck = np.concatenate([streams(here.ply + (0 if same_luck else i)) for here in picked for i in range(count)])
    note_rule(f"resample and encoder {encoder}")
    weighed = [scored for part in each_part for scored in compare(game, player, states[part], luck[part])[0]]
    for i, (moves, worth) in enumerate(weighed):
        here, (_, truth) = picked[i // count], weighed[i // count * count]
        wrong = np.flatnonzero(worth != truth)
        if len(wrong):
            move, was, found = here.text(moves[wrong[0]]), truth[wrong[0]], worth[wrong[0]]
            scores = f"gives {move} the score {was:.6f}, but {found:.6f} in a world"
            raise here.broken(f"{player.spec} on {encoder} at seat {here.turn} {scores}")


class HashEvaluator:
    """An evaluator that scores rows by a hash, in [0, 1): different rows almost surely get different scores."""

    moment, batch = "drawn", 2048

    def __init__(self, encoder: str, seats: int) -> None:
        self.name, self.encoder, self.seats = "any", encoder, seats

    def score(self, rows: np.ndarray) -> np.ndarray:
        weights = np.random.default_rng(rows.shape[1]).integers(1, 1 << 40, rows.shape[1])
        return ((rows.astype(np.int64) @ weights) % 1_000_003 / 1_000_003).astype(np.float32)

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """It fits any game."""


@each_view("texts", hidden=True, least=TEXTS)
def text_is_the_same_in_every_world(here: View) -> None:
    """show, and spell for own moves, give a seat the same text in all its worlds: no text names a hidden card."""
    game, moves = here.game, here.some_moves() if here.seat == here.turn else ()
    truth = here.ask(game.text.show, here.state, here.seat)
    if not isinstance(truth, str) or not truth:
        raise here.broken(f"show gives {truth!r}, not a text")
    spelled = [here.ask(game.text.spell, here.state, move) for move in moves]
    for world in here.worlds(3):
        _same(here, "show", truth.splitlines(True), here.ask(game.text.show, world, here.seat).splitlines(True))
        _same(here, "spell", spelled, [here.ask(game.text.spell, world, move) for move in moves])


def _same(here: View, name: str, truth: list[Any], found: list[Any]) -> None:
    """Break the law if what a function of the game shows is not the same in a world."""
    for was, now in zip([*truth, None], [*found, None], strict=False):
        if was != now:
            raise here.broken(f"{name} shows seat {here.seat} {was!r}, but {now!r} in one of its worlds")


def _shown(testbed: Testbed) -> list[View]:
    return [view for here in testbed.with_ends() for view in here.views]


@each("views", _shown, needs="zones", hidden=True)
def zones_are_the_same_in_every_world(here: View) -> None:
    """zones shows a seat the same pieces in the same places in all its worlds, also when the game is over."""
    truth = _zones(here, here.state)
    for world in here.worlds(3):
        _same(here, "zones", truth, _zones(here, world))


@each("views", _shown, needs="zones")
def a_piece_lies_in_one_zone(here: View) -> None:
    """zones lays no piece in two places, and lays and marks only pieces that the game has; seats are at the table.

    Of a kind of which there are several cards (`Table.copies`), as many may lie somewhere.
    """
    count, places = len(here.game.table.pieces), {}
    for zone in _zones(here, here.state):
        for piece in (*zone.listed, *zone.marks):
            if not 0 <= piece < count:
                raise here.broken(f"zone {zone.name!r} of seat {here.seat} has piece {piece}; there are {count}")
        for piece in zone.listed:
            places.setdefault(piece, []).append(zone.name)
            if len(places[piece]) > (here.game.table.copies[piece] if here.game.table.copies else 1):
                where = " and in ".join(map(repr, places[piece]))
                raise here.broken(f"seat {here.seat} sees {here.game.table.pieces[piece]} in {where}")
        if zone.seat is not None and zone.seat not in here.seats:
            raise here.broken(f"zone {zone.name!r} belongs to seat {zone.seat}, which is not at the table")


@each_position("texts", needs="zones picks")
def picks_lie_in_zones(here: Position) -> None:
    """What a legal move picks lies in zones of the seat to move, and is the same in all worlds of that seat."""
    moves, worlds = here.moves, here.own.worlds(2)
    lying = {piece for zone in _zones(here.own, here.state) for piece in zone.listed}
    for move in moves:
        picked, *others = (_picks(here, state, move) for state in (here.state, *worlds))
        if not picked <= lying:
            where = f"which are in no zone of seat {here.turn}"
            raise here.broken(f"{here.text(move)} picks {sorted(picked - lying)}, {where}")
        if any(other != picked for other in others):
            raise here.broken(f"{here.text(move)} picks other pieces in one of the worlds of seat {here.turn}")


def _picks(here: Position, state: Any, move: Any) -> set[int]:
    assert here.game.table.picks is not None
    picked = here.ask(here.game.table.picks, state, move)
    return set(listed_pieces(here.in_range(whole, f"what picks returns for {here.text(move)}", picked, 0)))


def _zones(here: View, state: Any) -> list[Zone]:
    """What `zones` shows a seat of a state, in a form that can be compared."""
    assert here.game.table.zones is not None
    found = []
    for zone in here.ask(here.game.table.zones, state, here.seat):
        _check_pieces(here, zone, "pieces", [zone.pieces] if isinstance(zone.pieces, int | np.integer) else zone.pieces)
        _check_pieces(here, zone, "marks", zone.marks)
        found.append(replace(zone, pieces=zone.listed, marks=dict(zone.marks)))
    return found


def _check_pieces(here: View, zone: Zone, what: str, pieces: Any) -> None:
    """Break the law unless the pieces or marks of a zone are numbers of pieces."""
    for piece in pieces if np.iterable(pieces) and not isinstance(pieces, str) else [None]:
        if isinstance(piece, bool | np.bool_) or not isinstance(piece, int | np.integer) or piece < 0:
            allowed = "a set (a number from 0) or a list of numbers of pieces" if what == "pieces" else "words by piece"
            raise here.broken(
                f"zone {zone.name!r} of seat {here.seat} has the {what} {short(getattr(zone, what))}, not {allowed}"
            )


@each_view("positions")
def worlds_keep_what_is_public(here: View) -> None:
    """A world has the same turn, ply, seats, revealed, midway and options as the true state."""
    worlds = here.worlds(2)
    for name in (*HEADER[:-1], *here.trace.testbed.variants[here.trace.setup.variant]):
        if (worlds[name] != here.state[name]).any():
            what = f"{name} {worlds[name].tolist()}, not {here.state[name]}"
            raise here.broken(f"a world of seat {here.seat} has {what}")


def _truth_and_fewer_worlds(here: Position) -> np.ndarray:
    """For the seat to move, with half as many worlds, since many moves are tried in each."""
    return here.own.truth_and_worlds(max(2, here.testbed.effort.worlds // 2))


def same_rows(here: Position, rows: np.ndarray, what: str) -> None:
    """Break the law if a seat's rows, u8[N, width], are not all the same."""
    differing = (rows != rows[0]).any(axis=0)
    if differing.any():
        raise here.broken(f"{what}: {_segment_at(here, int(np.argmax(differing)))} depends on hidden cards")


def _segment_at(here: Position, column: int) -> str:
    for name, encoder in here.game.learning.encoders.items():
        for segment in encoder.layout(len(here.seats)):
            if column < segment.size:
                return f"encoder {name}, segment {segment.name!r}, value {column}"
            column -= segment.size
    return f"value {column}"
