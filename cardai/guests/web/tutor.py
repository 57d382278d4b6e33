"""Hints and explanations for browsers, made by the same code as at the keyboard.

All is made from worlds of the seat that asks (`cardai.measure.coaching`).
"""

import threading
from collections.abc import Callable
from typing import Any

from cardai.cli.show import advice as shown
from cardai.errors import BadArgument
from cardai.game import GameState, listed_pieces
from cardai.guests.web.tables import WebTable
from cardai.measure.coaching.advice import Adviser
from cardai.measure.coaching.standing import standing
from cardai.playing.agents.spec import agent

LONGEST = 1.0  # seconds for how each seat stands, which is asked for at each own turn
STEPS = ("pieces", "move", "why", "standing")
"""What a tab may ask for: hints, from little to much, and how each seat stands."""


class Tutor:
    """Advises at the tables of a server. `judge`: the spec of the agent that names the best move, None for the usual.

    Its methods may be called from several threads, but each call takes as much time as a processor has: the server
    makes one at a time.
    """

    def __init__(self, judge: str | None = None) -> None:
        self.judge, self._lock = judge, threading.Lock()
        self._advisers: dict[tuple[str, str, int], Adviser] = {}

    def adviser(self, table: WebTable) -> Adviser:
        """What advises at tables of this kind. The first use loads the judge. Raises CardaiError if it does not fit."""
        key = table.row.game, table.row.variant, len(table.row.seats)
        with self._lock:
            if key not in self._advisers:
                self._advisers[key] = Adviser(table.offer.game, self.judge, key[2], key[1])
            return self._advisers[key]

    def ask(self, table: WebTable, seat: int, ply: object, step: object) -> Callable[[], dict[str, Any]]:
        """What makes one of `STEPS` for the seat to move at this ply, while the game may go on.

        Raises BadArgument where advice is not allowed.
        """
        if step not in STEPS:
            raise BadArgument(f"advice is one of {', '.join(STEPS)}")
        world, luck = table.world_to_advise(seat, ply, "evaluation" if step == "standing" else "hints")
        return lambda: self._advice(table, seat, ply, step, world, luck)

    def _advice(
        self, table: WebTable, seat: int, ply: object, step: object, world: GameState, luck: int
    ) -> dict[str, Any]:
        game, adviser = table.offer.game, self.adviser(table)
        answer: dict[str, Any] = {"ply": ply, "step": step}
        if step == "standing":
            scores = standing(game, agent(game, adviser.by), world, seat, luck, seconds=LONGEST)
            if scores is None:
                return answer | {"scores": []}
            texts = [f"{100 * score:.0f} %" if game.payoff.is_share else game.payoff.text(score) for score in scores]
            return answer | {"scores": scores.tolist(), "texts": texts, "by": adviser.by}
        if step == "why":
            explanation = adviser.explain(world, luck)
            columns = {"heads": shown.heads(explanation), "rows": shown.rows(explanation)}
            return answer | columns | {"notes": shown.notes(explanation)}
        hints = adviser.hints(world, luck)
        if game.table.picks is None:
            answer["begins"] = hints[0].words.split()[0]
        answer |= {"by": hints[0].judge, "pieces": listed_pieces(shown.taken_by(hints))}
        return answer | ({"moves": [hint.words for hint in hints]} if step == "move" else {})
