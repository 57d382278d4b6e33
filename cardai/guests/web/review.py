"""A finished game looked at again: every position as any seat saw it or with all hands open, and what moves cost.

Nothing here is given before `WebTable.result` allows it: when the game is over and nobody still plays its deal. From
then on everybody at the table may see all of it, and so may whoever they send its key.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np

from cardai.cli.show.picture import open_zones
from cardai.errors import BadArgument
from cardai.game import GameState
from cardai.guests.web.guards import is_among
from cardai.guests.web.store import TableRow
from cardai.guests.web.tables import WebTable
from cardai.guests.web.views import LOG_LINES, pieces_of, seen_view
from cardai.measure.analysis import analyse
from cardai.playing.table.following import events, words_of, world_of
from cardai.records.record import RecordedGame, replay

AT_ONCE = 40  # positions in an answer
MOST_KEPT = 32  # games whose analysis is kept


def key_of(row: TableRow) -> str:
    """What opens the review of a finished game to somebody without a place at its table. It follows from the secret."""
    return hashlib.sha256(b"review" + row.secret).hexdigest()[:32]


class Review:
    """A finished game. Raises BadArgument if it is not over, or others still play its deal."""

    def __init__(self, table: WebTable) -> None:
        seed, self.moves, scores = table.result()
        self.table, self.game, self.row, self.seed = table, table.offer.game, table.row, seed
        self.seats, self.scores = len(self.row.seats), scores
        self.states: list[GameState] = []
        self._analyses: dict[int, dict[str, Any]] = {}  # by seat
        played = RecordedGame(0, seed, self.row.variant, tuple(range(self.seats)), tuple(scores.tolist()), self.moves)
        self._played = played
        self.states.append(replay(self.game, played, lambda state, move, ply: self.states.append(state.copy())))

    def seat_in(self, message: Mapping[str, Any]) -> int | None:
        """The seat that a message names. Raises BadArgument if the table has none such."""
        seat = message.get("seat")
        if seat is not None and not is_among(seat, self.seats):
            raise BadArgument("there is no such seat at this table")
        return seat

    @property
    def plies(self) -> int:
        """How many moves were played. There is one position more."""
        return len(self.moves)

    def overview(self, plays: bool, seat: int) -> dict[str, Any]:
        """What a page needs before it asks for positions. `plays`: whether whoever asks may play on, from `seat`."""
        view = self.table.view(seat, False)
        alone = plays and len(self.table.people) == 1
        own = [ply for ply in range(self.plies) if int(self.states[ply]["turn"]) == seat] if alone else []
        kept = ("table", "game", "title", "variant", "seat", "teams", "pieces", "end")
        seats = [who | {"kind": "person"} if who["kind"] == "you" and not plays else who for who in view["seats"]]
        rest = {"seats": seats, "plies": self.plies, "own": own, "key": key_of(self.row)}
        return {name: view[name] for name in kept} | rest

    def positions(self, seat: int | None, since: int, viewer: int = 0) -> dict[str, Any]:
        """Positions from ply `since` on, at most `AT_ONCE`, as `seat` saw them.

        None: all hands are open, and the middle is as `viewer` sees it.

        `lines` are the moves from `first` on, as [seat, words, what it led to, pieces] that this seat was told.
        """
        first, until = max(0, since - LOG_LINES), min(since + AT_ONCE, self.plies + 1)
        return {
            "from": since, "first": first,
            "positions": [self._position(seat, ply, viewer) for ply in range(since, until)],
            "lines": [self._line(seat, ply) for ply in range(first, min(until, self.plies))],
        }  # fmt: skip

    def _position(self, seat: int | None, ply: int, viewer: int) -> dict[str, Any]:
        state = self.states[ply]
        if seat is not None:
            return seen_view(self.game, world_of(self.game, state, seat, self.seed), seat)
        return seen_view(self.game, state, viewer, open_zones)

    def _line(self, seat: int | None, ply: int) -> list[Any]:
        state, move = self.states[ply], self.moves[ply]
        pieces = pieces_of(self.game, state, move)
        if seat is None:
            (event,) = events(self.game, self.states[ply : ply + 2], [move], int(state["turn"]), self.seed)
            return [event.seat, words_of(self.game, state, move), event.led_to, pieces]
        (event,) = events(self.game, self.states[ply : ply + 2], [move], seat, self.seed)
        return [*event[:3], pieces if event.words == self.game.text.spell(state, move) else []]

    def analysis(self, seat: int) -> dict[str, Any]:
        """What a judge says of the moves of a seat. It takes seconds, and minutes where rollouts judge long games.

        `rows`: for each move its ply, words, the value after it, [change since the last one, own choices, draws,
        others and chance], and for the costliest what was better, what they cost in words, and the better pieces.
        """
        if seat not in self._analyses:
            self._analyses[seat] = self._analysed(seat)
        return self._analyses[seat]

    def _analysed(self, seat: int) -> dict[str, Any]:
        report = analyse(self.game, self._played, names=[row.agent or row.name for row in self.row.seats], seat=seat)
        swings, mistakes = {swing.ply: swing for swing in report.swings()}, {turn.ply for turn in report.mistakes()}
        rows = []
        for turn in report.turns:
            if turn.seat != seat:
                continue
            swing = swings.get(turn.ply)
            parts = None if swing is None else [swing.change, swing.choice, swing.draw, swing.others]
            better = turn.best if turn.ply in mistakes else None
            pieces, cost = (self._pieces(turn.ply, better), report.cost_words(turn)) if better else ([], "")
            rows.append([turn.ply, turn.move, turn.value, parts, better, cost, pieces])
        return {
            "seat": seat, "judge": report.agent, "scale": report.scale.name, "bounded": report.scale.is_share,
            "score": report.scores[seat], "rows": rows,
        }  # fmt: skip

    def _pieces(self, ply: int, words: str) -> list[int]:
        """The pieces that a move takes, which is named in words at this ply."""
        return pieces_of(self.game, self.states[ply], self.game.text.parse(self.states[ply], words))


class Reviews:
    """The reviews of a server: the last ones are kept, since analyses take long. Threads may call its methods."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, bytes], Review] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, table: WebTable) -> Review:
        """The review of a table's game. Raises BadArgument as `Review` does."""
        known = table.row.id, np.asarray(table.result()[1]).tobytes()  # a study game may end again, otherwise
        with self._lock:
            if known not in self._kept:
                self._kept[known] = Review(table)
                while len(self._kept) > MOST_KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(known)
            return self._kept[known]

    def forget(self, table_id: str) -> None:
        """Forget the reviews of a table."""
        with self._lock:
            for known in [known for known in self._kept if known[0] == table_id]:
                del self._kept[known]

    def answer(self, table: WebTable, message: Mapping[str, Any], own: int | None) -> dict[str, Any]:
        """The overview, or the positions that a page asks for. `own`: the seat of whoever asks, None for others."""
        review = self.of(table)
        if "from" not in message:
            return review.overview(own is not None, own or 0)
        seat, since = review.seat_in(message), message["from"]
        if not is_among(since, review.plies + 1):
            raise BadArgument("there is no such ply in this game")
        return review.positions(seat, since, own or 0)
