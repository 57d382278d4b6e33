"""How fast evenly random Tic-Tac-Toe can be: a C program that plays the games cardai plays, and nothing else.

The streams, the draws and so the games are those of cardai for the same seeds. What cardai does besides is left out: a
game is no record, a move no call, and no score is kept. The program is compiled by the machine's own C compiler.
"""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from cardai.errors import CardaiError

COMPILERS = ("cc", "gcc", "clang")
NO_COMPILER = f"no C compiler was found ({', '.join(COMPILERS)})"

SOURCE = r"""
#include <stdint.h>

/* Tables by set of cells: the taken ones, or for has_line those of one seat. */
static uint8_t nth_free[512][9], free_cells[512], has_line[512];

static uint64_t mixed(uint64_t z) {  /* the output function of SplitMix64 */
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void prepare(void) {
    static const int lines[8] = {0007, 0070, 0700, 0111, 0222, 0444, 0421, 0124};
    for (int cells = 0; cells < 512; cells++) {
        for (int cell = 0; cell < 9; cell++)
            if (!(cells >> cell & 1)) nth_free[cells][free_cells[cells]++] = cell;
        for (int line = 0; line < 8; line++)
            has_line[cells] |= (cells & lines[line]) == lines[line];
    }
}

/* totals: decisions, games with a ninth move, games that X wins, games that O wins */
void play(uint64_t seed, int64_t games, int64_t *totals) {
    const uint64_t seats[2] = {mixed(1), mixed(2)};
    int64_t decisions = 0, ninths = 0, wins[2] = {0, 0};
    if (!free_cells[0]) prepare();
    for (int64_t game = 0; game < games; game++, seed++) {
        uint64_t streams[2] = {mixed(seed ^ seats[0]), mixed(seed ^ seats[1])};
        int stones[2] = {0, 0}, taken = 0, moves = 0, seat = 0;
        for (;;) {
            uint64_t left = 9 - moves, bits = mixed(streams[seat] += 0x9E3779B97F4A7C15u) >> 32;
            int cell = 1 << nth_free[taken][bits * left >> 32];
            stones[seat] |= cell;
            taken |= cell;
            moves++;
            if (has_line[stones[seat]]) {
                wins[seat]++;
                break;
            }
            if (moves == 9) break;
            seat ^= 1;
        }
        decisions += moves;
        ninths += moves == 9;
    }
    totals[0] += decisions;
    totals[1] += ninths;
    totals[2] += wins[0];
    totals[3] += wins[1];
}
"""


class Totals(NamedTuple):
    """What some games came to: moves, games with a ninth move, games that X won, games that O won."""

    decisions: int
    ninths: int
    wins: int
    losses: int


def compiler() -> str | None:
    """The path of a C compiler, None if there is none."""
    return next((path for path in map(shutil.which, COMPILERS) if path), None)


class Bound:
    """The compiled program. Raises CardaiError if there is no compiler, or if it fails."""

    def __init__(self) -> None:
        path = compiler()
        if path is None:
            raise CardaiError(NO_COMPILER)
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder) / "bound.so"
            command = [path, "-O3", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)]
            made = subprocess.run(command, input=SOURCE, capture_output=True, text=True, check=False)
            if made.returncode != 0:
                raise CardaiError(f"{path} does not compile the C program: {made.stderr.strip()[:200]}")
            self._play = ctypes.CDLL(str(library)).play
        self._play.argtypes = [ctypes.c_uint64, ctypes.c_int64, ctypes.POINTER(ctypes.c_int64)]
        self._play.restype = None

    def play(self, seed: int, games: int) -> Totals:
        """Play the games of the seeds seed, seed + 1, ..., one after the other."""
        totals = (ctypes.c_int64 * 4)()
        self._play(seed, games, totals)
        return Totals(*totals)
