"""States with fields edited by hand: plain Python answers each with a result or an exception, never with a crash."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import cardai
from cardai.errors import CardaiError

GAMES = ("durak", "hearts", "literature", "moska", "tictactoe")
EDITS = 150
VALUES = (-(2**63), -(2**15), -1, 1, 127, 2**15, 2**31 - 1, 2**62, 2**63 - 1)
SECONDS = 0.5  # a call that an edit makes endless is broken off


class TooLong(Exception):
    """A call did not come back."""


def edited(name: str) -> dict[str, int]:
    """Edit a field of a state and ask for something, `EDITS` times. Returns how often there was each kind of answer."""
    import numpy as np

    game, found = cardai.load(name), {"answered": 0, "refused": 0, "raised": 0, "broken off": 0}
    rng = np.random.default_rng(1)
    asked = [
        game.moves,
        lambda state: game.play(state, game.moves(state)[0]),
        lambda state: [game.encode(state, 0, encoder) for encoder in list(game.learning.encoders)[:2]],
        lambda state: game.text.show(state, 0),
    ]

    def too_long(*_: object) -> None:
        raise TooLong

    signal.signal(signal.SIGALRM, too_long)
    for edit in range(EDITS):
        state = game.new(seed=edit)
        for _ in range(edit % 9):
            moves = game.moves(state)
            following = game.play(state, moves[int(rng.integers(len(moves)))])
            state = state if following["turn"] < 0 else following
        field = list(game.state.names or ())[int(rng.integers(len(game.state.names or ())))]
        value = VALUES[int(rng.integers(len(VALUES)))]
        changed = state.copy()
        changed[field] = value % 2**64 if field == "rng" else value
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            asked[edit % len(asked)](changed)
            found["answered"] += 1
        except TooLong:
            found["broken off"] += 1
        except CardaiError:
            found["refused"] += 1
        except Exception:  # of a rule that was given what it never gets in a game
            found["raised"] += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return found


@pytest.mark.parametrize("name", GAMES)
def test_plain_python_answers_edited_states_with_results_or_exceptions(name):
    env = os.environ | {"CARDAI_JIT": "0", "PYTHONPATH": str(Path(__file__).parent)}
    code = f"import json, test_edited_states as here; print(json.dumps(here.edited({name!r})))"
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert sum(found.values()) == EDITS
    assert found["answered"] > EDITS / 3
    assert found["refused"] > 0, "edited seats, turns and plies are refused at the door"
    assert name == "tictactoe" or found["raised"] > 0, "an edit that is an index out of range is seen"


def test_a_notebook_refuses_a_state_of_impossible_seats():
    state = cardai.load("durak").new(seed=1).copy()
    state["seats"] = 2**62
    with pytest.raises(CardaiError, match="no state of durak"):
        state._repr_html_()
