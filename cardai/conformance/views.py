"""Laws on views: what a seat is shown, and what its agent decides, is the same in all worlds of that seat."""

from collections.abc import Iterator, Sequence

import numpy as np

from cardai.agents.spec import Agent
from cardai.agents.strategy import OnePly
from cardai.conformance.compiled import streams
from cardai.conformance.law import Steps, law
from cardai.conformance.note import refuse
from cardai.conformance.testbed import Counted, Position, Testbed, move_text
from cardai.game import Game, Zone, listed_pieces
from cardai.kernel.native import HEADER
from cardai.table.asking import compare

RNG = HEADER.index("rng")  # the place of the random stream among the numbers of a state


@law
def own_moves_are_the_same_in_every_world(testbed: Testbed) -> Steps:
    """The seat to move has the same legal moves in all its worlds, so that its moves reveal nothing hidden."""
    for here in (seen := Counted(testbed.positions(testbed.effort.positions), "positions")):
        yield seen
        moves, counts = testbed.compiled.legal(_truth_and_worlds(testbed, here, here.turn))
        if counts[0] < 0:
            continue  # a truncated list is a random choice, drawn from the random stream of each world
        moves = moves[:, : counts[0]]
        other = np.flatnonzero((moves[1:] != moves[0]).any(axis=1) | (counts[1:] != counts[0]))
        if len(other):
            place = int(np.argmax(np.append(moves[1 + other[0]] != moves[0], True)[:-1]))
            what = f"other legal moves in one of its worlds, from move {place} on"
            raise here.broken(f"seat {here.turn} has {what}: {move_text(testbed.game, here.state, moves[0, place])}")


@law
def encodings_are_the_same_in_every_world(testbed: Testbed) -> Steps:
    """Every encoder gives a seat the same row in all worlds of that seat."""
    for here, seat in (seen := Counted(testbed.views(testbed.effort.positions), "views")):
        yield seen
        rows = testbed.compiled.rows(_truth_and_worlds(testbed, here, seat), seat)
        same_rows(testbed, here, rows, f"the view of seat {seat}")


@law
def after_states_are_the_same_in_every_world(testbed: Testbed) -> Steps:
    """After act and before settle, the seat that moved gets the same encodings in all its worlds."""
    for here in (seen := Counted(testbed.positions(testbed.effort.positions), "positions")):
        yield seen
        moves, states = testbed.some_moves(here), _truth_and_fewer_worlds(testbed, here)
        rows = testbed.compiled.rows(testbed.compiled.after_each(states, moves), here.turn)
        rows = rows.reshape(len(states), len(moves), -1)
        wrong = np.flatnonzero((rows != rows[0]).any(axis=(0, 2)))
        if len(wrong):
            what = f"seat {here.turn} after its own {move_text(testbed.game, here.state, moves[wrong[0]])}"
            same_rows(testbed, here, rows[:, wrong[0]], what)


@law
def heuristics_are_the_same_in_every_world(testbed: Testbed) -> Steps:
    """A heuristic gives a state, and the after-states of own moves, the same value in all worlds of that seat."""
    for here in (
        seen := Counted(testbed.positions(testbed.effort.positions if testbed.game.heuristics else 0), "positions")
    ):
        yield seen
        moves, states = testbed.some_moves(here), _truth_and_fewer_worlds(testbed, here)
        after = testbed.compiled.after_each(states, moves)
        for name, heuristic in testbed.game.heuristics.items():
            before = testbed.compiled.values(states, here.turn, heuristic)
            values = testbed.compiled.values(after, here.turn, heuristic).reshape(len(states), len(moves))
            values = np.column_stack([before, values])
            wrong = np.argwhere(~((values == values[0]) | (np.isnan(values) & np.isnan(values[0]))))
            if len(wrong):
                world, i = wrong[0]
                what = f"after {move_text(testbed.game, here.state, moves[i - 1])}" if i else "as it stands"
                found = f"{values[0, i]} in the true state and {values[world, i]} in a world"
                raise here.broken(f"heuristic {name} for seat {here.turn} {what} is {found}")


@law
def players_who_see_their_own_use_no_hidden_card(testbed: Testbed) -> Steps:
    """A player that `sees="own"` chooses the same move with hidden cards blanked as in all worlds, given the same luck.

    "The same luck" is the same random stream. Other players get a world, so their choices cannot depend on hidden
    cards. These get the blanked state: a player that looked at hidden cards would play by cards that nobody holds.
    """
    own = [name for name, player in testbed.game.players.items() if player.sees == "own"]
    for here in (seen := Counted(testbed.positions(testbed.effort.positions if own else 0), "positions")):
        yield seen
        if testbed.compiled.legal(here.states)[1][0] < 0:
            continue  # a truncated list of moves is drawn from the random stream of each world
        worlds = _truth_and_worlds(testbed, here, here.turn)
        states = np.concatenate([testbed.compiled.blanked(here.states, here.turn), worlds])
        for name in own:
            moves = testbed.compiled.choices(states, name, here.ply)
            wrong = np.flatnonzero(moves != moves[0])
            if len(wrong):
                given, found = (move_text(testbed.game, here.state, moves[i]) for i in (0, wrong[0]))
                where = "the true state" if wrong[0] == 1 else "a world"
                what = f"plays {given} with hidden cards blanked, but {found} in {where}"
                raise here.broken(f"player {name} at seat {here.turn} {what}")


@law
def blank_leaves_nothing_hidden(testbed: Testbed) -> Steps:
    """`blank` makes all worlds of a seat, and the true state, the same byte for byte, so that a peek finds nothing."""
    for here, seat in (seen := Counted(testbed.views(testbed.effort.positions if testbed.game.blank else 0), "views")):
        yield seen
        words = _words(testbed.compiled.blanked(_truth_and_worlds(testbed, here, seat), seat))
        wrong = np.flatnonzero((words != words[0]).any(axis=0))
        if len(wrong):
            field = _field_at(testbed.game, int(wrong[0]))
            raise here.broken(f"blank for seat {seat} leaves state.{field} different from world to world")


@law
def blank_leaves_what_is_known(testbed: Testbed) -> Steps:
    """`blank` changes only numbers of the state that differ in worlds of the seat, and nothing that the seat is shown.

    What a seat is shown are the rows of all encoders, its text and its legal moves. So public counts of hidden cards
    stay right. A number may be blanked if it differs from world to world in some position: in another one it may be
    known too, since all other cards have been seen, but a player need not be told that.
    """
    hidden: dict[tuple[int, int], np.ndarray] = {}
    changes: list[tuple[Position, int, np.ndarray]] = []
    views = list(testbed.views(testbed.effort.positions if testbed.game.blank else 0))
    for here, seat in (seen := Counted(views, "views")):
        yield seen
        table, view = (len(here.seats), seat), testbed.compiled.blanked(here.states, seat)
        hidden[table] = hidden.get(table, False) | _varying(testbed, here, seat)
        changed = (_words(view) != _words(here.states))[0]
        changed[RNG] = False
        changes.append((here, seat, changed))
        _shown_alike(testbed, here, view, seat)
    for here, seat, changed in changes:
        table, left = (len(here.seats), seat), iter(views[len(changes) :])
        while (changed & ~hidden[table]).any() and (pair := next(left, None)):  # a number may vary where nobody looked
            if (len(pair[0].seats), pair[1]) == table:
                hidden[table] |= _varying(testbed, *pair)
        wrong = np.flatnonzero(changed & ~hidden[table])
        if len(wrong):
            field = _field_at(testbed.game, int(wrong[0]))
            raise here.broken(f"blank for seat {seat} changes state.{field}, which that seat knows")
    for here, seat in (seen := Counted(testbed.views(testbed.effort.texts if testbed.game.blank else 0), "views")):
        yield seen
        view = testbed.compiled.blanked(here.states, seat)[0]
        truth, found = (here.ask(testbed.game.show, state, seat) for state in (here.state, view))
        if truth != found:
            raise here.broken(f"blank changes what seat {seat} is shown: {truth!r} becomes {found!r}")


def _varying(testbed: Testbed, here: Position, seat: int) -> np.ndarray:
    """The numbers of the state that differ in worlds of a seat: bool[words]."""
    words = _words(_truth_and_worlds(testbed, here, seat))
    return (words != words[0]).any(axis=0)


def _shown_alike(testbed: Testbed, here: Position, view: np.ndarray, seat: int) -> None:
    """Break the law if a seat's encodings or its legal moves are not the same in a blanked state, STATE[1]."""
    rows = testbed.compiled.rows(np.concatenate([here.states, view]), seat)
    wrong = np.flatnonzero(rows[0] != rows[1])
    if len(wrong):
        where = _segment_at(testbed.game, len(here.seats), int(wrong[0]))
        raise here.broken(f"blank changes what seat {seat} is shown: {where}")
    if seat == here.turn and testbed.compiled.legal(here.states)[1][0] > 0:
        truth, found = testbed.compiled.moves(here.states), testbed.compiled.moves(view)
        if not np.array_equal(truth, found):
            raise here.broken(f"blank changes the legal moves of seat {seat}")


def _words(states: np.ndarray) -> np.ndarray:
    """States as the numbers that they hold: i64[N, words]."""
    return np.ascontiguousarray(states).view(np.int64).reshape(len(states), -1)


def _field_at(game: Game, word: int) -> str:
    """The field of a state in which a number of `_words` lies."""
    fields = game.state.fields or {}
    return max((offset, name) for name, (_, offset, *_) in fields.items() if offset <= 8 * word)[1]


@law
def agents_decide_by_what_they_know(testbed: Testbed) -> Steps:
    """A greedy agent scores its moves the same in all its worlds; a sampled one does, given the same random stream.

    For each of the game's encoders they get an evaluator that gives different rows different scores. A greedy agent
    gets a world too, so no row it asks for may differ from world to world. A sampled agent draws worlds of the world
    it gets, so what `resample` deals for a random stream must not depend on the cards that it deals anew.
    """
    pairs = [(trace, encoder) for trace in testbed.mixed(testbed.traces) for encoder in testbed.game.encoders]
    for trace, encoder in (seen := Counted(pairs, "games by encoders")):
        yield seen
        picked = [Position(trace, ply) for ply in trace.sampled(testbed.effort.positions // 4)]
        # A truncated list of moves is drawn from the random stream of each world.
        picked = [here for here in picked if testbed.compiled.legal(here.states)[1][0] > 0]
        if picked:
            _same_worth(testbed, picked, encoder, "greedy", settles=False)
            _same_worth(testbed, picked, encoder, "sampled", settles=True)


def _same_worth(testbed: Testbed, picked: Sequence[Position], encoder: str, name: str, settles: bool) -> None:
    """Break the law if an agent scores moves differently in the worlds of one of these positions of a game."""
    game, evaluator = testbed.game, HashEvaluator(encoder, len(picked[0].seats))
    player = Agent(f"{name}:any", OnePly(evaluator, settles=settles, worlds=3 if settles else 1))
    states = [_truth_and_fewer_worlds(testbed, here) for here in picked]
    count = len(states[0])
    seeds = [here.ply + (0 if settles else i) for here in picked for i in range(count)]
    luck = np.concatenate([streams(seed) for seed in seeds])
    refuse("resample", f"encoder {encoder}")
    weighed, _ = compare(game, player, np.concatenate(states), luck)
    for i, (moves, worth) in enumerate(weighed):
        here, (_, truth) = picked[i // count], weighed[i // count * count]
        wrong = np.flatnonzero(worth != truth)
        if len(wrong):
            move, was, found = move_text(game, here.state, moves[wrong[0]]), truth[wrong[0]], worth[wrong[0]]
            scores = f"gives {move} the score {was:.6f}, but {found:.6f} in a world"
            raise here.broken(f"{player.spec} on {encoder} at seat {here.turn} {scores}")


class HashEvaluator:
    """An evaluator that scores rows by a hash, in [0, 1): different rows almost surely get different scores."""

    moment, batch = "drawn", 2048

    def __init__(self, encoder: str, seats: int) -> None:
        self.name, self.encoder, self.seats = "any", encoder, seats

    def score(self, rows: np.ndarray) -> np.ndarray:
        """A pseudo-random number for each row."""
        weights = np.random.default_rng(rows.shape[1]).integers(1, 1 << 40, rows.shape[1])
        return ((rows.astype(np.int64) @ weights) % 1_000_003 / 1_000_003).astype(np.float32)

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """It fits any game."""


@law
def text_is_the_same_in_every_world(testbed: Testbed) -> Steps:
    """show, and spell for own moves, give a seat the same text in all its worlds: no text names a hidden card."""
    game = testbed.game
    for here, seat in (seen := Counted(testbed.views(testbed.effort.texts), "views")):
        yield seen
        truth = here.ask(game.show, here.state, seat)
        if not isinstance(truth, str) or not truth:
            raise here.broken(f"show gives {truth!r}, not a text")
        moves = testbed.compiled.moves(here.states)[:4] if seat == here.turn else ()
        spelled = [here.ask(game.spell, here.state, move) for move in moves]
        for world in testbed.compiled.worlds(here.states, seat, 3, here.ply):
            found = here.ask(game.show, world, seat)
            if found != truth:
                pairs = zip(truth.splitlines(), found.splitlines(), strict=False)
                line = next((pair for pair in pairs if pair[0] != pair[1]), (truth, found))
                raise here.broken(f"show for seat {seat} says {line[0]!r}, but {line[1]!r} in one of its worlds")
            if [here.ask(game.spell, world, move) for move in moves] != spelled:
                raise here.broken(f"spell words the moves of seat {seat} differently in one of its worlds")


@law
def zones_are_the_same_in_every_world(testbed: Testbed) -> Steps:
    """zones shows a seat the same pieces in the same places in all its worlds, also when the game is over."""
    zones = testbed.game.zones
    if zones is None:
        return
    for here, seat in (seen := Counted(_shown(testbed), "views")):
        yield seen
        shown = _table(here, here.ask(zones, here.state, seat))
        for world in testbed.compiled.worlds(here.states, seat, 3, here.ply):
            found = _table(here, here.ask(zones, world, seat))
            if found != shown:
                pairs = zip(shown, found, strict=False)
                was, now = next((pair for pair in pairs if pair[0] != pair[1]), (shown, found))
                raise here.broken(f"zones shows seat {seat} {was}, but {now} in one of its worlds")


@law
def a_piece_lies_in_one_zone(testbed: Testbed) -> Steps:
    """zones lays no piece in two places, and lays and marks only pieces that the game has; seats are at the table."""
    zones, count = testbed.game.zones, len(testbed.game.pieces)
    if zones is None:
        return
    for here, seat in (seen := Counted(_shown(testbed), "views")):
        yield seen
        places: dict[int, str] = {}
        for zone in here.ask(zones, here.state, seat):
            for piece in (*here.ask(_listed, zone), *zone.marks):
                if not 0 <= piece < count:
                    raise here.broken(f"zone {zone.name!r} of seat {seat} has piece {piece}; there are {count}")
            for piece in zone.listed:
                if piece in places:
                    name = testbed.game.pieces[piece]
                    raise here.broken(f"seat {seat} sees {name} in {places[piece]!r} and in {zone.name!r}")
                places[piece] = zone.name
            if zone.seat is not None and zone.seat not in here.seats:
                raise here.broken(f"zone {zone.name!r} belongs to seat {zone.seat}, which is not at the table")


@law
def picks_lie_in_zones(testbed: Testbed) -> Steps:
    """What a legal move picks lies in zones of the seat to move, and is the same in all worlds of that seat."""
    zones, picks = testbed.game.zones, testbed.game.picks
    if zones is None or picks is None:
        return
    for here in (seen := Counted(testbed.positions(testbed.effort.texts), "positions")):
        yield seen
        lying = {piece for zone in here.ask(zones, here.state, here.turn) for piece in here.ask(_listed, zone)}
        moves = testbed.compiled.moves(here.states)
        picked = [set(here.ask(listed_pieces, here.ask(picks, here.state, move))) for move in moves]
        for move, pieces in zip(moves, picked, strict=True):
            if not pieces <= lying:
                text = move_text(testbed.game, here.state, move)
                raise here.broken(f"{text} picks {sorted(pieces - lying)}, which are in no zone of seat {here.turn}")
        for world in testbed.compiled.worlds(here.states, here.turn, 2, here.ply):
            for move, pieces in zip(moves, picked, strict=True):
                if set(listed_pieces(here.ask(picks, world, move))) != pieces:
                    text = move_text(testbed.game, here.state, move)
                    raise here.broken(f"{text} picks other pieces in one of the worlds of seat {here.turn}")


def _shown(testbed: Testbed) -> Iterator[tuple[Position, int]]:
    """Positions with every seat, ends of games among them."""
    yield from testbed.views(testbed.effort.texts)
    for trace in testbed.traces:
        for seat in trace.end.seats:
            yield trace.end, seat


def _listed(zone: object) -> list[int]:
    """The pieces of a zone. Raises TypeError for something else."""
    if not isinstance(zone, Zone):
        raise TypeError(f"{zone!r} is no Zone")
    return zone.listed


def _table(here: Position, zones: Sequence[Zone]) -> list[tuple[object, ...]]:
    """All that zones show, in a form that can be compared."""
    return [
        (here.ask(_listed, zone), zone.name, zone.hidden, zone.seat, zone.look, zone.shape, zone.note, dict(zone.marks))
        for zone in zones
    ]


@law
def worlds_keep_what_is_public(testbed: Testbed) -> Steps:
    """A world has the same turn, ply, seats, revealed, midway and options as the true state."""
    for here, seat in (seen := Counted(testbed.views(testbed.effort.positions), "views")):
        yield seen
        worlds = testbed.compiled.worlds(here.states, seat, 2, here.ply)
        for name in (*HEADER[:-1], *testbed.game.variants[here.trace.setup.variant]):
            if (worlds[name] != here.state[name]).any():
                found = f"{name} {worlds[name].tolist()}, not {here.state[name]}"
                raise here.broken(f"a world of seat {seat} has {found}")


def _truth_and_worlds(testbed: Testbed, here: Position, seat: int) -> np.ndarray:
    return testbed.compiled.truth_and_worlds(here.states, seat, testbed.effort.worlds, here.ply)


def _truth_and_fewer_worlds(testbed: Testbed, here: Position) -> np.ndarray:
    """For the seat to move, with half as many worlds, since many moves are tried in each."""
    return testbed.compiled.truth_and_worlds(here.states, here.turn, max(2, testbed.effort.worlds // 2), here.ply)


def same_rows(testbed: Testbed, here: Position, rows: np.ndarray, what: str) -> None:
    """Break the law if a seat's rows, u8[N, width], are not all the same."""
    differing = (rows != rows[0]).any(axis=0)
    if differing.any():
        where = _segment_at(testbed.game, here.trace.setup.seats, int(np.argmax(differing)))
        raise here.broken(f"{what}: {where} depends on hidden cards")


def _segment_at(game: Game, seats: int, column: int) -> str:
    for name, encoder in game.encoders.items():
        for segment in encoder.layout(seats):
            if column < segment.size:
                return f"encoder {name}, segment {segment.name!r}, value {column}"
            column -= segment.size
    return f"value {column}"
