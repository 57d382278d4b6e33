"""Who is at a table, and who is waited for: nothing of the game is in it.

All of it goes to everybody at the table, spectators too, in frames of its own (`{"company": ...}`), so that views stay
as they are when somebody comes or goes.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cardai.guests.web.room import Right
from cardai.guests.web.tables import WebTable


@dataclass(frozen=True)
class Company:
    """Who is at a table now.

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


def company_of(table: WebTable, tabs: Sequence[Right]) -> Company:
    """The company at a table that is open in some tabs."""
    here = {tab.seat for tab in tabs if not tab.watches}
    people = tuple(seat for seat in table.people if seat in here)
    return Company(people, sum(tab.watches for tab in tabs), tuple(table.waits.items()))
