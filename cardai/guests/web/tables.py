"""One table: people and agents, the deal once all are there, and the game between them.

A game is its seed and the moves of people, which are in the store before anybody is told of them. After a restart it is
played again from these; agents make the same moves as before.

Where seats choose at the same time, a person may choose before it is their turn. Such a choice is in the store at once,
with the ply that it will have, and waits here: the game is not told of it, so nobody is, but that it was made.
"""

import json
import math
import secrets
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any

import numpy as np

from cardai.errors import BadArgument, CardaiError, IllegalMove
from cardai.game import Game, GameState
from cardai.guests.web import challenge, commitment
from cardai.guests.web.challenge import results
from cardai.guests.web.guards import digest, is_among, new_token
from cardai.guests.web.offers import Offer
from cardai.guests.web.protocol import Aids, Time
from cardai.guests.web.store import LATE, RESIGNED, ChallengeRow, SeatRow, Store, TableRow
from cardai.guests.web.views import LOG_LINES, bare_log, position_view
from cardai.playing.table.asking import moves_in
from cardai.playing.table.following import MoveTold, by_round
from cardai.playing.table.one import OneGame

SLOWEST_PAUSE = 5.0  # seconds
AGAIN = 0.2  # of the pause, after a move that says what another one has just said
MINUTE = 60.0  # seconds
MOST_WATCHERS = 64  # of a seat with their links, further devices of whoever plays there among them


class WebTable:
    """A table of the server. Threads may call its methods at once; each of them takes the table's lock.

    `aids`: what it does for its person in a study, where nobody is told which agents play; None elsewhere.
    `limits`: how long people may think there.
    Raises CardaiError if a game that was dealt before cannot be taken up again: its rules or agents are others now.
    """

    def __init__(
        self, row: TableRow, offer: Offer, store: Store, aids: Aids | None = None, limits: Time | None = None
    ) -> None:
        self.row, self.offer, self._store, self._lock = row, offer, store, threading.RLock()
        self.limits = limits if limits is not None and limits.is_limited else None
        self.is_blind = aids is not None
        self.aids = aids or Aids(True, row.study, row.study, row.study, review=True)
        self.trouble = ""  # a sentence, if an agent or the game failed
        self._luck = secrets.randbits(64)  # the server's own: what views deal anew
        self._logs: dict[int, list[MoveTold]] = {}  # by seat
        self._results: dict[str, Any] | None = None  # of a challenge
        self._texts: dict[tuple[int, bool], str] = {}  # views as they are sent
        self._early: dict[int, np.record] = {}  # by seat: a choice that waits for its turn
        self._waits: dict[tuple[int, int], float] = {}  # by seat and own ply: since when a person is waited for
        self._shown: set[tuple[int, int]] = set()  # those of them whose limit of time runs
        self._absent: int | None = None  # the seat for which an agent may move now
        self._game: OneGame | None = None
        if row.seed is not None:
            self._game = self._taken_up(row.seed, row.moves)
        self._changed()

    # Who is here.

    @property
    def is_dealt(self) -> bool:
        """Whether the game has begun."""
        return self._game is not None

    @property
    def is_over(self) -> bool:
        """Whether the game is over."""
        return self._game is not None and self._game.is_over

    @property
    def people(self) -> list[int]:
        """The seats of people, those who are still expected among them."""
        return [seat for seat, row in enumerate(self.row.seats) if row.agent is None]

    @property
    def is_shared(self) -> bool:
        """Whether several people play here, or are expected to."""
        return len(self.people) > 1

    @property
    def waits(self) -> dict[int, float]:
        """The seats of people who may move now, and since when, in seconds of `time.monotonic`."""
        return {seat: since for (seat, _), since in self._waits.items()}

    def seat_of(self, token: bytes) -> int | None:
        """The seat of the person with a token."""
        return next((seat for seat in self.people if self.row.seats[seat].token == token), None)

    def invite(self, seat: int) -> str:
        """Returns a new invitation to an empty seat, which works once and in place of earlier ones."""
        with self._lock:
            row = self._empty(seat)
            invitation = new_token()
            row.invitation = digest(invitation)
            self._store.set_seat(self.row.id, seat, row)
            return invitation

    def invited(self, invitation: str) -> int | None:
        """The empty seat that an invitation is for. None if it does not exist, was replaced, or was used before."""
        wanted = digest(invitation)
        for seat in self.people:
            row = self.row.seats[seat]
            if row.token is None and row.invitation is not None and secrets.compare_digest(row.invitation, wanted):
                return seat
        return None

    def sit(self, invitation: str, name: str, person: bytes, token: bytes) -> int | None:
        """Sit down with an invitation, which is used up. Returns the seat, or None if nobody was invited by it.

        `person`: the digest of the person's token; they are kept if they sit down.
        """
        with self._lock:
            seat = self.invited(invitation)
            if seat is not None:
                row = self.row.seats[seat]
                row.token, row.name, row.invitation = token, name, None
                row.person = self._store.add_person(person)
                self._store.set_seat(self.row.id, seat, row)
                self._changed()
            return seat

    def fill(self, seat: int, key: str) -> None:
        """Seat an agent where nobody has sat down yet."""
        with self._lock:
            self.offer.agent_at(key, self.row.variant, len(self.row.seats))
            row = self._empty(seat)
            row.agent, row.name, row.invitation, row.person = key, "", None, None
            self._store.set_seat(self.row.id, seat, row)
            self._changed()
            self.deal()

    def following(self) -> TableRow:
        """The row of a new table of the same people and agents, at which nobody has sat down.

        Raises BadArgument if the game is not over, or is one of a challenge, which is over when all have played it.
        """
        with self._lock:
            old = self.row
            if not self.is_over or old.challenge is not None:
                raise BadArgument("this deal is played once" if old.challenge else "the game is not over")
            seats = [_vacated(row, nonce=None) for row in old.seats]
            return replace(
                old, id=new_token(), version=self.offer.game.version, secret=commitment.new_secret(), seats=seats,
                seed=None, moves=[], scores=None, rematch=None,
            )  # fmt: skip

    def follow_on(self, table_id: str) -> None:
        """Keep which table the people of this one go on at."""
        with self._lock:
            self._store.change(self.row, "rematch", table_id)
            self._changed()

    def sit_again(self, seat: int, person: int | None, token: bytes) -> None:
        """Sit down in the seat that is kept for a person. Raises BadArgument if somebody else has it now."""
        with self._lock:
            row = self.row.seats[seat]
            if row.agent is not None or row.person != person:
                raise BadArgument("somebody else has taken your seat at the next table")
            if row.token is None:
                row.token, row.invitation = token, None
                self._store.set_seat(self.row.id, seat, row)
                self._changed()
            elif self._store.invite_watcher(self.row.id, seat, token, MOST_WATCHERS, plays=True):
                self._store.accept_watcher(self.row.id, token, token)  # they sit there already, maybe elsewhere

    def _empty(self, seat: int) -> SeatRow:
        """The row of a seat that waits for a person. Raises BadArgument if it does not."""
        rows = self.row.seats
        if self.is_dealt or not 0 <= seat < len(rows) or rows[seat].agent is not None or rows[seat].token is not None:
            raise BadArgument("this seat is taken")
        return rows[seat]

    # Agents in the place of people.

    @cached_property
    def stand_in(self) -> str | None:
        """The key of the agent that plays for people who are gone. None if nobody can be gone here.

        At a study table and in a challenge nobody waits for anybody, and what counts is what people did themselves.
        """
        alone = self.row.study or self.is_blind or self.row.challenge is not None
        return None if alone else self.offer.stand_in(self.row.variant, len(self.row.seats))

    def leave(self, seat: int, why: str) -> None:
        """Let an agent play for a person: `LEFT` and `LATE` until they come back, `RESIGNED` to the end of the game.

        Raises BadArgument where no agent can, and for a game that has not begun (`RESIGNED`) or is over.
        """
        with self._lock:
            if self.stand_in is None:
                raise BadArgument("no agent plays for people at this table; it waits for you")
            if self.is_over or (why == RESIGNED and not self.is_dealt):
                raise BadArgument("the game is over" if self.is_over else "the game has not begun")
            if self.row.seats[seat].gone != RESIGNED:
                self._set_gone(seat, why)

    def come_back(self, seat: int) -> None:
        """Give a person their seat back. Raises BadArgument if they have given up the game."""
        with self._lock:
            if self.row.seats[seat].gone == RESIGNED:
                raise BadArgument("you have given up this game; an agent plays it to its end")
            self._set_gone(seat, "")

    def _set_gone(self, seat: int, why: str) -> None:
        row = replace(self.row.seats[seat], gone=why)
        self._store.set_seat(self.row.id, seat, row)
        self.row.seats[seat] = row
        self._changed()

    @property
    def deadline(self) -> float:
        """When the first person is late, in seconds of `time.monotonic`; infinite if nobody can be."""
        return min((since + self._allowed(seat) for seat, since in self.waits.items()), default=math.inf)

    def _allowed(self, seat: int) -> float:
        """How long a person who is waited for may take, in seconds."""
        row = self.row.seats[seat]
        if self.limits is not None:
            return self.limits.lefts(row.thought)[0]
        return self.row.takeover * MINUTE if self.row.takeover and not row.gone else math.inf

    def take_over(self) -> None:
        """Let an agent play for those who have not answered in time; in a study it makes this one move."""
        with self._lock:
            now, game = time.monotonic(), self._game
            for seat in [seat for seat, since in self.waits.items() if since + self._allowed(seat) <= now]:
                if self.limits is None:
                    self.leave(seat, LATE)
                elif game is not None and not self.trouble:
                    self._stand_in(game, seat, self.limits.late)

    def wait_anew(self) -> None:
        """Let the time of those who are waited for begin now: nobody was here to wait for them.

        A limit of time of a study runs on: a person has seen what they are to decide.
        """
        with self._lock:
            self._waits = {place: since for place, since in self._waits.items() if place in self._shown}
            self._changed()

    def start_clocks(self) -> None:
        """Let the limit of time of those run who are waited for: somebody sees the table."""
        with self._lock:
            self._shown |= set() if self.limits is None else self._waits.keys()

    @property
    def stand_in_moves_next(self) -> bool:
        """Whether an agent may move for a person who is gone."""
        return self._absent is not None and not self.trouble

    # The deal.

    def add_nonce(self, seat: int, nonce: bytes) -> None:
        """Take a person's part in the deal. Only the first one counts."""
        with self._lock:
            row = self.row.seats[seat]
            if row.nonce is not None or self.is_dealt:
                return
            row.nonce = nonce
            self._store.set_seat(self.row.id, seat, row)
            self._changed()
            self.deal()

    def deal(self) -> None:
        """Deal if all are there and have taken their part."""
        with self._lock:
            nonces = [] if self.row.challenge else [self.row.seats[seat].nonce for seat in self.people]
            if self.is_dealt or None in nonces:
                return
            seed = commitment.seed_of(self.row.secret, [nonce for nonce in nonces if nonce is not None])
            game = self._new_game(seed)
            self._store.change(self.row, "seed", seed)
            self._game = game
            self._changed()

    def _new_game(self, seed: int) -> OneGame:
        agents = [None if row.agent is None else self.offer.agent_of(row.agent) for row in self.row.seats]
        return OneGame(self.offer.game, agents, seed, self.row.variant)

    def _taken_up(self, seed: int, moves: Sequence[tuple[int, tuple[int, ...]]]) -> OneGame:
        """The game as it was when the last move was kept."""
        if self.row.version != self.offer.game.version:
            raise CardaiError("this game was begun by other rules than those of today")
        game = self._new_game(seed)
        for ply, fields in moves:
            while game.ply < ply and game.step():
                pass
            move, place = _move(self.offer.game, fields), ply - game.ply
            if place == 0 and game.is_waiting:
                game.play(move)
            elif 0 < place < len(game.choosing) and game.choosing[place] in self.people:
                self._early[game.choosing[place]] = move
            else:
                raise CardaiError("this game cannot be taken up again: an agent plays other moves than before")
        return game

    # Playing.

    def play(self, seat: int, ply: int, words: str | Sequence[str]) -> str:
        """Play a person's move at a ply, in words, or several that belong together. It is kept before this returns.

        Returns a sentence on what is wrong with the move, "" if it was played. A move for another ply is not played:
        the answer to it is the view.
        """
        with self._lock:
            game = self._game
            if game is None or self._ply_of(game, seat) != ply or self.trouble:
                return ""
            if self.row.seats[seat].gone:
                return "an agent plays for you; take your seat back first"
            texts = [words] if isinstance(words, str) else words
            try:
                moves = self.offer.game.parse_series(self._deciding(game, seat), texts)
            except ValueError as error:
                return str(error) or "this is not a move"
            for step, move in enumerate(moves):
                if self._ply_of(game, seat) != ply + step or not self._choose(game, seat, ply + step, move):
                    return f"{texts[step]!r} cannot be played now"
            return ""

    def _choose(self, game: OneGame, seat: int, ply: int, move: np.record, agent: str | None = None) -> bool:
        """Play and keep a move, or keep it until its turn comes. `agent`: the key of the one that chose it.

        Returns False if it cannot be played: only a game that breaks the contract has other moves than in a world.
        """
        if game.turn != seat:
            self._early[seat] = move
        else:
            try:
                game.play(move)
            except IllegalMove:
                return False
        self._keep(game, seat, ply, move, agent)
        return True

    def _ply_of(self, game: OneGame, seat: int) -> int | None:
        """The ply of the move that a person may choose now, None if they may not."""
        choosing = game.choosing
        return game.ply + choosing.index(seat) if seat in choosing and seat not in self._early else None

    def _deciding(self, game: OneGame, seat: int) -> GameState:
        """A world of a seat that may choose now, on its turn."""
        world = game.seen(seat, self._luck)
        return world if game.turn == seat else game.game.at_turn(world, seat)

    def _play_early(self, game: OneGame) -> None:
        """Play the choices whose turn has come."""
        while game.is_waiting and (seat := game.turn) in self._early:
            try:
                game.play(self._early.pop(seat))
            except IllegalMove:  # as in `play`; what was chosen is nobody's business
                self.trouble = f"the choice of seat {seat} cannot be played now"
                return

    def _keep(self, game: OneGame, seat: int, ply: int, move: np.record, agent: str | None) -> None:
        """Keep a move that was played. If that fails, nothing of this table in memory counts any more."""
        try:
            row, now = self.row.seats[seat], time.monotonic()
            seconds = min(now - self._waits.get((seat, ply), now), self._allowed(seat) if agent else math.inf)
            self._store.add_move(self.row.id, ply, seat, [int(number) for number in move.item()], agent, seconds)
            row.thought += seconds
            if agent is not None and agent not in row.helpers:
                row.helpers += (agent,)
            self._play_early(game)
            self._finish(game)
        except CardaiError as error:
            self.trouble = str(error)
            raise
        finally:
            self._changed()

    def undo(self, seat: int, ply: int) -> None:
        """Take back all moves from an earlier decision of `seat` on. Only a study table allows that.

        Raises BadArgument at other tables, and for a ply at which the seat decided nothing.
        """
        with self._lock:
            game = self._game
            if not self.aids.undo or game is None:
                raise BadArgument("moves are taken back at study tables only" + self._unless_blind)
            if not 0 <= ply < game.ply or game.movers[ply] != seat:
                raise BadArgument("you have made no move there that could be taken back")
            ply = game.first_of_series(ply)
            self._store.take_back(self.row.id, ply)
            game.rewind(ply)
            self._early.clear()
            self.row.scores, self.trouble = None, ""
            self._logs = {other: log[:ply] for other, log in self._logs.items()}
            self._changed()

    @property
    def _unless_blind(self) -> str:
        """Where what is said of study tables does not hold."""
        return ", and not in this study" if self.is_blind else ""

    def world_to_advise(self, seat: int, ply: object, aid: str = "hints") -> tuple[GameState, int]:
        """A world of the seat, which is to move at this ply, and a number that decides what advice deals anew.

        `aid`: "hints" or "evaluation". Raises BadArgument if it is not allowed here or it is not the seat's turn at
        this ply.
        """
        with self._lock:
            if not getattr(self.aids, aid):
                words = {"hints": "hints are given", "evaluation": "how each seat stands is shown"}[aid]
                raise BadArgument(f"{words} at study tables only{self._unless_blind}")
            game = self._game
            if game is None or ply is None or self._ply_of(game, seat) != ply:
                raise BadArgument("it is not your turn")
            return self._deciding(game, seat), self._luck

    def branched(self, ply: object, token: bytes) -> TableRow:
        """The row of a new study table that goes on with this finished game before the move `ply`.

        Raises BadArgument if the game is not over, several people played it, the deal is still secret, or it is not
        the person's decision.
        """
        with self._lock:
            game, people = self._game, self.people
            if game is None or not game.is_over or len(people) != 1 or self.is_secret:
                raise BadArgument("only a finished game of one person can be played on from the middle")
            if not is_among(ply, game.ply):
                raise BadArgument("there is no such ply in this game")
            if game.movers[ply] != people[0]:
                raise BadArgument("somebody else decided there")
            moves = [
                (place, tuple(int(number) for number in move.item()))
                for place, (mover, move) in enumerate(zip(game.movers, game.moves, strict=True))
                if place < ply and mover == people[0]
            ]
            seats = [_vacated(row, token=token if row.agent is None else None) for row in self.row.seats]
            return replace(
                self.row, id=new_token(), seats=seats, moves=moves, scores=None, study=True, challenge=None, takeover=0,
                rematch=None,
            )  # fmt: skip

    def end_challenge(self) -> None:
        """End the challenge of this table without those who have not finished, so that the others see how they did.

        Raises BadArgument if there is none, if this game is not over, or if somebody has moved in it lately.
        """
        with self._lock:
            if self.row.challenge is None or not self.is_over:
                raise BadArgument("only those who have finished a challenge may end it")
            if self.is_secret and not self._store.end_challenge(self.row.challenge, challenge.IDLE):
                minutes = round(challenge.IDLE / 60)
                raise BadArgument(f"somebody has sat down or moved in the last {minutes} minutes; wait for them")
            self._changed()

    @property
    def is_secret(self) -> bool:
        """Whether the deal may not be shown yet: others still play it in a challenge."""
        return self._reached is not None and not self._reached.is_over

    @property
    def _reached(self) -> ChallengeRow | None:
        """How the challenge stands that this table belongs to, None if it belongs to none."""
        return None if self.row.challenge is None else self._store.challenge(self.row.challenge)

    def _challenge_view(self, reached: ChallengeRow) -> dict[str, Any]:
        """How a challenge stands. The results, once all have finished, are computed once."""
        if reached.is_over and self._results is None:
            self._results = results(self.offer, reached)
        shown = self._results if reached.is_over and self.is_over else None
        return {
            "code": self.row.challenge,
            "for": reached.people,
            "finished": len(reached.finished),
            "ended": reached.ended,
            "results": shown,
        }

    def step(self) -> bool:
        """Let an agent play one move, its own or that of a person who is gone. Returns False if there is none."""
        with self._lock:
            game = self._game
            if game is None or self.trouble or game.is_over:
                return False
            if game.is_waiting:
                return self._absent is not None and self._stand_in(game, self._absent, self.stand_in)
            try:
                moved = game.step()
                self._play_early(game)
                self._finish(game)
            except CardaiError as error:
                self.trouble, moved = str(error), False
            self._changed()
            return moved

    def _stand_in(self, game: OneGame, seat: int, key: str | None) -> bool:
        """Let an agent play for a person, who is told no more than they are: it is shown a world of theirs."""
        ply, world = self._ply_of(game, seat), self._deciding(game, seat)
        assert ply is not None
        assert key is not None
        try:
            (move,) = moves_in(self.offer.game, self.offer.agents[key], np.array([world], self.offer.game.state))
            moved = self.offer.game.is_allowed(world, move) and self._choose(game, seat, ply, move, key)
        except CardaiError:  # what it says may be what the person knows
            moved = False
        if not moved:
            self.trouble = self.trouble or f"the agent that plays for seat {seat} has failed"
            self._changed()
        return moved

    def run(self) -> None:
        """Let agents play until a person is to move or the game is over."""
        while self.step():
            pass

    def _finish(self, game: OneGame) -> None:
        if game.is_over and self.row.scores is None:
            self.row.scores = tuple(float(score) for score in game.scores())
            self._store.finish(self.row.id, self.row.scores)

    @property
    def agent_moves_next(self) -> bool:
        """Whether an agent is to move."""
        game = self._game
        return game is not None and not (game.is_over or game.is_waiting or self.trouble)

    def pause(self) -> float:
        """How long an agent waits before its move, in seconds.

        It is short after a move that said again what another one has just said to everybody, such as "no claim".
        """
        with self._lock:
            game, seats = self._game, self.people or range(1)
            pasts = [] if game is None else [self._past(game, seat) for seat in seats]
        recent = [[told[1] for told in past[-len(self.row.seats) - 2 :]] for past in pasts]
        is_again = bool(recent) and all(words and words[-1] in words[:-1] for words in recent)
        return self.row.pause * (AGAIN if is_again else 1.0)

    def set_pause(self, seconds: object) -> None:
        """How long agents wait before each move, in seconds."""
        if self.is_blind:
            raise BadArgument("the study says how long agents wait")
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= SLOWEST_PAUSE:
            raise BadArgument(f"the pause before a move is 0 to {SLOWEST_PAUSE:g} seconds")
        with self._lock:
            self._store.change(self.row, "pause", float(seconds))
            self._changed()

    # What is shown.

    def view(self, seat: int, watches: bool) -> dict[str, Any]:
        """All that `seat` is shown, or that somebody sees who `watches` it."""
        with self._lock:
            return self._view(seat, watches)

    def text(self, seat: int, watches: bool) -> str:
        """The view as JSON, ready to be sent."""
        with self._lock:
            known = self.ready_text(seat, watches)
            if known is None:
                known = self._texts[seat, watches] = json.dumps(self._view(seat, watches), separators=(",", ":"))
            return known

    def ready_text(self, seat: int, watches: bool) -> str | None:
        """The view as JSON if it has been made since the last change. Waits for nobody."""
        return None if self.row.challenge else self._texts.get((seat, watches))  # others change a challenge too

    def _view(self, seat: int, watches: bool) -> dict[str, Any]:
        view: dict[str, Any] = {
            "table": self.row.id,
            "game": self.row.game,
            "title": self.offer.game.title,
            "variant": self.row.variant,
            "seat": seat,
            "watches": watches,
            "seats": [self._who(other, seat, watches) for other in range(len(self.row.seats))],
            "commitment": commitment.fingerprint(self.row.secret),
            "pause": self.row.pause,
            "trouble": "a program has failed" if self.trouble and self.is_blind else self.trouble,
            "study": self.aids.hints or self.aids.evaluation or self.aids.undo,
            "teams": self.offer.game.teams,
            "takeover": self.row.takeover,
            "rematch": self.row.rematch is not None,
            "stand_in": None if self.stand_in is None else self.offer.agents[self.stand_in].label,
        }
        if (reached := self._reached) is not None:
            view["challenge"] = self._challenge_view(reached)
        if self.is_blind:
            view["aids"] = [name for name, is_on in asdict(self.aids).items() if is_on]
        if self.limits is not None:
            own = self.row.seats[seat]
            view["time"] = [left if math.isfinite(left) else None for left in self.limits.lefts(own.thought)]
            view["late"] = bool(own.helpers)
        game = self._game
        if game is None and self.is_blind:
            return view
        if game is None:
            fitting = self.offer.fitting(self.row.variant, len(self.row.seats))
            return view | {"agents": [[key, agent.label] for key, agent in fitting.items()]}
        past = self._past(game, seat)
        view["pieces"] = list(self.offer.game.table.pieces)
        if self.offer.game.text.rounds is not None:
            match = by_round(self.offer.game, past, game.seen(seat, self._luck))
            view |= {} if match is None else {"rounds": match}
        decides = not watches and not self.row.seats[seat].gone
        view |= position_view(game, seat, self._luck, decides, self._early, is_bare=not self.aids.known_cards)
        view["log"] = self._log(past, seat, view)
        if game.is_over and not self.is_secret:
            view["fair"] = self._opened()
        return view

    def _who(self, other: int, seat: int, watches: bool) -> dict[str, Any]:
        """Who sits in a seat, as everybody may know."""
        row = self.row.seats[other]
        if row.agent is not None:
            agent = self.offer.agent_of(row.agent)
            if self.is_blind:
                return {"name": "program", "kind": "agent"}
            return {"name": agent.label, "kind": "agent"} | ({"peeks": True} if agent.peeks else {})
        if row.token is None:
            return {"name": row.name, "kind": "empty"}
        who = {"name": row.name, "kind": "you" if other == seat and not watches else "person"}
        return who | ({"gone": row.gone} if row.gone else {})

    def _past(self, game: OneGame, seat: int) -> list[MoveTold]:
        """All moves as `seat` may read them."""
        past = self._logs.setdefault(seat, [])
        past += game.events(seat, len(past), self._luck)
        return past

    def _log(self, past: list[MoveTold], seat: int, view: dict[str, Any]) -> list[list[Any]]:
        """The last moves in words that `seat` may read; without aids only those of cards that still lie there."""
        lines = past[-LOG_LINES:] if self.aids.known_cards else past
        log = [[mover, words, *([led_to] if led_to else [])] for mover, words, led_to, _ in lines]
        return log if self.aids.known_cards else bare_log(log, seat, view)

    def _opened(self) -> dict[str, Any]:
        """What anybody needs to check that the deal was fixed before: shown only when the game is over."""
        nonces = [] if self.row.challenge else [self.row.seats[seat].nonce or b"" for seat in self.people]
        return {
            "secret": self.row.secret.hex(),
            "nonces": [nonce.hex() for nonce in nonces],
            "seed": str(self.row.seed),
        }

    def _changed(self) -> None:
        self._texts.clear()
        game, now = self._game, time.monotonic()
        waited = [] if game is None or game.is_over else [seat for seat in game.choosing if seat in self.people]
        plies = [(seat, ply) for seat in waited if game and (ply := self._ply_of(game, seat)) is not None]
        self._absent = next((seat for seat, _ in plies if self.row.seats[seat].gone), None)
        self._waits = {place: self._waits.get(place, now) for place in plies}
        self._shown &= self._waits.keys()

    # The record.

    def result(self) -> tuple[int, np.ndarray, np.ndarray]:
        """The seed, all moves (MOVE[plies]) and the scores of a finished game. Raises BadArgument before the end."""
        with self._lock:
            if self._game is None or not self._game.is_over or self.row.seed is None:
                raise BadArgument("the game is not over")
            if self.is_secret:
                raise BadArgument("others still play this deal")
            return self.row.seed, self._game.moves, self._game.scores()


def _vacated(row: SeatRow, **changes: Any) -> SeatRow:
    """Who sat in a seat, as they are at another table before they have come there."""
    return replace(row, **{"token": None, "invitation": None, "gone": "", "helpers": (), "thought": 0.0, **changes})


def _move(game: Game, fields: Sequence[int]) -> np.record:
    """A move of a game from its fields. Raises CardaiError if it has others."""
    if len(fields) != len(game.move.names or ()):
        raise CardaiError("this game was begun by other rules than those of today")
    moves = np.zeros(1, game.move)
    moves[0] = tuple(fields)
    return moves[0]
