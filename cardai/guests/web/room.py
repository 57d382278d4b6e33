"""All tables of a server, in memory and from the store, and who may do what at them."""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cardai.errors import BadArgument, CardaiError
from cardai.guests.web import challenge, commitment
from cardai.guests.web.guards import clean_name, digest, flag_in, new_token, number_in, read_hex, text_of
from cardai.guests.web.offers import Offer
from cardai.guests.web.protocol import Aids, Time
from cardai.guests.web.store import LEFT, RESIGNED, SeatRow, Store, TableRow
from cardai.guests.web.tables import MOST_WATCHERS, WebTable

MOST_TABLES = 2000  # in memory
IDLE = 600.0  # seconds after which a table that nobody looks at may leave memory
TAKEOVERS = (0, 1, 5, 15)  # minutes without a move after which an agent plays for a person, 0 for never
USUAL_TAKEOVER = 5  # where several people play
ME, FRIEND = "me", "friend"  # what a browser says of seats without an agent
SEAT, WATCH, DEVICE = "seat", "watch", "device"  # what a link offers, or a browser has at a table
OWN_LINK = {
    SEAT: "This is your own invitation to this table: send the link to a friend. You keep your seat.",
    WATCH: "This is your own link for a spectator: send it to somebody who may see what you see. You keep your seat.",
    DEVICE: "This is your link for another device of yours: open it there. You keep your seat here too.",
}
DEAD_LINK = "This link was used before, or another one has taken its place; ask who sent it for a new one."


@dataclass(frozen=True)
class Right:
    """What a token gives a right to: a seat at a table, to play in or only to watch."""

    seat: int
    watches: bool


@dataclass(frozen=True)
class Presence:
    """Who is at a table now, and who is waited for: nothing of the game is in it.

    It goes to everybody at the table, spectators too, in frames of its own (`{"company": ...}`), so that views stay as
    they are when somebody comes or goes.

    - `here`: the seats of people who have the table open, `watching`: how many tabs of spectators show it.
    - `waits`: (seat, since) for each person who may move now, in seconds of `time.monotonic`.
    """

    here: tuple[int, ...]
    watching: int
    waits: tuple[tuple[int, float], ...]

    def as_json(self) -> dict[str, Any]:
        """The same for a page, with how many seconds ago each wait began."""
        now = time.monotonic()
        waits = [[seat, round(now - since, 1)] for seat, since in self.waits]
        return {"here": list(self.here), "watching": self.watching, "waits": waits}


def presence_at(table: WebTable, tabs: Sequence[Right]) -> Presence:
    """Who is at a table that is open in some tabs."""
    here = {tab.seat for tab in tabs if not tab.watches}
    people = tuple(seat for seat in table.people if seat in here)
    return Presence(people, sum(tab.watches for tab in tabs), tuple(table.waits.items()))


class Full(CardaiError):
    """There is no room for another table."""


class Room:
    """The tables. Its methods may be called from several threads.

    `aids`, `limits`: as `WebTable` has them in a study.
    """

    def __init__(
        self, offers: Mapping[str, Offer], store: Store, aids: Aids | None = None, limits: Time | None = None
    ) -> None:
        self.offers, self.store, self._of_study, self._lock = offers, store, (aids, limits), threading.Lock()
        self._tables: dict[str, WebTable] = {}
        self._used: dict[str, float] = {}  # when a table was last asked for
        self._busy: dict[str, int] = {}  # how many sockets look at a table
        self._joining = threading.Lock()

    # Tables.

    def create(self, wishes: Mapping[str, Any], person: bytes) -> tuple[str, str]:
        """Set up a table as a browser wishes. Returns its id and the token of whoever set it up.

        `wishes`: `game` and `variant` by key, `seats`: for each seat `ME`, `FRIEND` or the key of an agent, `name`;
        `study`: whether hints are given and moves taken back; `challenge`: how many people shall play the same deal;
        `takeover`: one of `TAKEOVERS`, `USUAL_TAKEOVER` if it is not given and several people play.
        `person`: the digest of the person's token; they are kept with the table. Raises BadArgument for anything else,
        and Full if there is no room.
        """
        offer = self.offer(wishes)
        variant = wishes.get("variant", offer.variants[0])
        if variant not in offer.variants:
            raise BadArgument("this server does not offer this variant")
        token, rows = new_token(), _seats(offer, variant, wishes.get("seats"))
        me = [row for row, wish in zip(rows, wishes["seats"], strict=True) if wish == ME]
        for row in me:
            row.name, row.token = clean_name(wishes.get("name")), digest(token)
        row = TableRow(new_token(), offer.key, offer.game.version, variant, commitment.new_secret(), rows)
        alone = len(me) == 1 and FRIEND not in wishes["seats"]
        row.study = flag_in(wishes, "study")
        if row.study and not alone:
            raise BadArgument("a study table is for one person against agents")
        people = number_in(wishes, "challenge") if "challenge" in wishes else None
        if people is not None and not challenge.FEWEST <= people <= challenge.MOST:
            raise BadArgument(f"a challenge is for {challenge.FEWEST} to {challenge.MOST} people")
        if people is not None and (row.study or not alone):
            raise BadArgument("a challenge is for one person at each table, and without hints")
        code = challenge.new_code()
        row.challenge = None if people is None else code
        table = WebTable(row, offer, self.store)
        row.takeover = _takeover(wishes, table)
        self._make_room()
        for one in me:
            one.person = self.store.add_person(person)
        if people is not None:
            self.store.add_challenge(code, people)
        self.store.add_table(row)
        if people is not None:
            table.deal()
        if not me:  # agents among themselves: whoever set up the table looks over the shoulder of the first
            invitation = new_token()
            self.store.invite_watcher(row.id, 0, digest(invitation), MOST_WATCHERS)
            self.store.accept_watcher(row.id, digest(invitation), digest(token))
            table.deal()
        self._keep(table)
        return row.id, token

    def accept(self, message: Mapping[str, Any], person: bytes) -> tuple[str, str | None]:
        """Sit down at a table of one's own in a challenge. Returns its id and the token, None if one sat there before.

        Raises BadArgument for a code that does not exist or has all its people, and for a bad name; Full if there is no
        room.
        """
        code, name = text_of(message, "code", 40).strip().lower(), clean_name(message.get("name"))
        with self._joining:  # so that two who come at once do not take the last place both
            reached = self.store.challenge(code)
            if reached is None or not reached.tables or reached.tables[0].game not in self.offers:
                raise BadArgument("there is no challenge with this code")
            known = self.store.person(person)
            own = None if known is None else reached.table_of(known)
            if own is not None:
                return own, None
            if reached.ended:
                raise BadArgument("this challenge has been ended")
            if len(reached.tables) >= reached.people:
                raise BadArgument("all places in this challenge are taken")
            self._make_room()
            token = new_token()
            row = challenge.another_table(reached.tables[0], name, self.store.add_person(person), digest(token))
            table = WebTable(row, self.offers[row.game], self.store)
            self.store.add_table(row)
            table.deal()
        self._keep(table)
        return row.id, token

    def branch(self, table: WebTable, seat: int, message: Mapping[str, Any]) -> tuple[str, str]:
        """Go on with a finished game from the middle, at a new study table. Returns its id and the seat's token."""
        token = new_token()
        row = table.branched(message.get("ply"), digest(token))
        self.add(row)
        return row.id, token

    def rematch(self, table: WebTable, seat: int) -> tuple[str, str]:
        """Sit down at the next table of the people of a finished game. The first of them sets it up.

        Returns its id and the token of the seat. Raises BadArgument before the end, and in a challenge.
        """
        with self._joining:  # so that two who come at once meet at one table
            following = None if table.row.rematch is None else self.table(table.row.rematch)
            if following is None or following.is_over:
                following = self.add(table.following())
                table.follow_on(following.row.id)
            token = new_token()
            following.sit_again(seat, table.row.seats[seat].person, digest(token))
        return following.row.id, token

    def table(self, table_id: str) -> WebTable | None:
        """A table by its id, from memory or from the store. Raises CardaiError if its game cannot be taken up again."""
        with self._lock:
            self._used[table_id] = time.monotonic()
            if table_id in self._tables:
                return self._tables[table_id]
        row = self.store.table(table_id)
        if row is None:
            self._used.pop(table_id, None)
            return None
        offer = self.offers.get(row.game)
        if offer is None or row.variant not in offer.variants:
            raise CardaiError("this server does not offer the game of this table any more")
        return self._keep(WebTable(row, offer, self.store, *self._of_study))

    def add(self, row: TableRow) -> WebTable:
        """Keep a new table. Raises Full if there is no room."""
        self._make_room()
        table = WebTable(row, self.offers[row.game], self.store, *self._of_study)
        self.store.add_table(row)
        return self._keep(table)

    def _keep(self, table: WebTable) -> WebTable:
        """Keep a table in memory. Returns the one that is there, should another thread have been faster."""
        with self._lock:
            self._used[table.row.id] = time.monotonic()
            return self._tables.setdefault(table.row.id, table)

    def forget(self, table_id: str) -> None:
        """Let a table leave memory; it comes back from the store if it is there."""
        with self._lock:
            self._tables.pop(table_id, None)

    def _make_room(self) -> None:
        with self._lock:
            if len(self._tables) < MOST_TABLES:
                return
            now = time.monotonic()
            for table_id in [*self._tables]:
                if not self._busy.get(table_id) and now - self._used.get(table_id, 0.0) >= IDLE:
                    del self._tables[table_id]
            if len(self._tables) >= MOST_TABLES:
                raise Full("all tables are taken; try again in a few minutes")

    def look(self, table_id: str, count: int) -> int:
        """Count a socket that looks at a table (1), or no longer does (-1). Returns how many there are."""
        with self._lock:
            left = self._busy[table_id] = self._busy.get(table_id, 0) + count
            if not left:
                del self._busy[table_id]
            return left

    def offer(self, wishes: Mapping[str, Any]) -> Offer:
        """What is offered of the `game` that a browser names. Raises BadArgument if it is none."""
        key = wishes.get("game")
        offer = self.offers.get(key) if isinstance(key, str) else None
        if offer is None:
            raise BadArgument("this server does not offer this game")
        return offer

    # People.

    def place(self, table: WebTable, token: str | None) -> Right | None:
        """What a token stands for at a table, None if nothing."""
        if not token:
            return None
        seat = table.seat_of(digest(token))
        if seat is not None:
            return Right(seat, False)
        watched = self.store.watched(table.row.id, digest(token))
        return None if watched is None else Right(watched[0], not watched[1])

    def arrive(self, table: WebTable, message: Mapping[str, Any], place: Right | None) -> dict[str, Any]:
        """Say what a link is for, before anything is done by it. `place`: what the browser has at the table.

        - `place`, `link`: "seat" or "watch", what the browser has and what the invitation offers; None for nothing. A
          link may be for another "device" of whoever has made it.
        - `text`: a sentence if nobody can come in by this link in this browser, "" if they can, or are here already.
        """
        link, has = self._link(table, text_of(message, "invitation")), None
        if place is not None:
            has = WATCH if place.watches else SEAT
        text = "" if has or link else DEAD_LINK
        if has == SEAT and link is not None:
            text = OWN_LINK[link]
        return {"place": has, "link": link, "text": text}

    def _link(self, table: WebTable, invitation: str) -> str | None:
        """What an invitation offers: `SEAT`, `WATCH`, `DEVICE`, or None."""
        if table.invited(invitation) is not None:
            return SEAT
        plays = self.store.watcher_invited(table.row.id, digest(invitation))
        return None if plays is None else DEVICE if plays else WATCH

    def join(self, table: WebTable, message: Mapping[str, Any], person: bytes, place: Right | None = None) -> str:
        """Sit down, or watch, by an invitation, which is used up. Returns the token of the place.

        `place`: what the browser has at this table already. Whoever sits here keeps their seat, and the invitation is
        not used up. Who sits down may bring their part in the deal, `nonce`, so that it does not wait for them even if
        they never open the table. Raises BadArgument for those who sit here, for an invitation that does not exist or
        was used before, and for a bad name or nonce.
        """
        invitation, token = text_of(message, "invitation"), new_token()
        if place is not None and not place.watches:
            link = self._link(table, invitation)
            raise BadArgument(OWN_LINK[link] if link else "you have a seat at this table already")
        if self.store.accept_watcher(table.row.id, digest(invitation), digest(token)) is not None:
            return token
        name = clean_name(message.get("name"))
        nonce = read_hex(message["nonce"], commitment.NONCE_BYTES) if "nonce" in message else None
        seat = table.sit(invitation, name, person, digest(token))
        if seat is None:
            raise BadArgument(DEAD_LINK)
        if nonce is not None:
            table.add_nonce(seat, nonce)
        return token

    # What somebody does from their seat.

    def invite(self, table: WebTable, seat: int, message: Mapping[str, Any]) -> dict[str, str]:
        """Returns an invitation to an empty `seat` of the message, which works once.

        Or one to the seat of whoever asks: to `watch` it, or to play in it on another `device`.
        """
        watches, plays = flag_in(message, WATCH), flag_in(message, DEVICE)
        if watches and table.is_secret:
            raise BadArgument("nobody may watch while others still play this deal")
        if not (watches or plays):
            return {"invitation": table.invite(number_in(message, "seat"))}
        invitation = new_token()
        if not self.store.invite_watcher(table.row.id, seat, digest(invitation), MOST_WATCHERS, not watches):
            raise BadArgument(f"this seat has its {MOST_WATCHERS} links for spectators and devices already")
        return {"invitation": invitation}

    def fill(self, table: WebTable, seat: int, message: Mapping[str, Any]) -> None:
        """Seat an agent in an empty seat, where a friend was expected."""
        table.fill(number_in(message, "seat"), text_of(message, "agent"))

    def leave(self, table: WebTable, seat: int, message: Mapping[str, Any]) -> None:
        """Let an agent play for whoever asks: until they come back, or (`resign`) to the end."""
        table.leave(seat, RESIGNED if flag_in(message, "resign") else LEFT)

    def back(self, table: WebTable, seat: int, message: Mapping[str, Any]) -> None:
        """Give whoever asks their seat back."""
        table.come_back(seat)


def _seats(offer: Offer, variant: str, wishes: object) -> list[SeatRow]:
    """The seats of a new table. Raises BadArgument for a line-up that is not offered."""
    if not isinstance(wishes, list) or len(wishes) not in offer.game.seats:
        raise BadArgument(f"{offer.game.title} is for {offer.game.seats[0]} to {offer.game.seats[-1]} seats")
    if wishes.count(ME) > 1 or (ME not in wishes and FRIEND in wishes):
        raise BadArgument("you sit in one seat, or agents play in all of them")
    for wish in wishes:
        if wish not in (ME, FRIEND):
            offer.agent_at(wish, variant, len(wishes))
    return [SeatRow() if wish in (ME, FRIEND) else SeatRow(agent=wish) for wish in wishes]


def _takeover(wishes: Mapping[str, Any], table: WebTable) -> int:
    """After how many minutes an agent shall play for a person at a new table."""
    usual = USUAL_TAKEOVER if table.is_shared and table.stand_in else 0
    minutes = wishes.get("takeover", usual)
    if isinstance(minutes, bool) or minutes not in TAKEOVERS:
        raise BadArgument(f"an agent takes over after {', '.join(map(str, TAKEOVERS[:-1]))} or {TAKEOVERS[-1]} minutes")
    if minutes and table.stand_in is None:
        raise BadArgument("no agent plays for people at such a table; choose 0 minutes")
    return minutes
