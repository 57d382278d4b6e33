// Which pieces can be picked, and which moves the picked ones make. `moves`: [words, pieces]. No rule of any game is here.

const contains = (pieces, picked) => [...picked].every((piece) => pieces.includes(piece));

// A piece can be picked if some move takes it together with all that are picked: so every selection can be completed.
export function lit(moves, picked) {
  const found = new Set();
  for (const [, pieces] of moves) {
    if (contains(pieces, picked)) for (const piece of pieces) found.add(piece);
  }
  return found;
}

// The moves that take exactly the picked pieces, and those that take none.
export function offered(moves, picked) {
  return moves.filter(
    ([, pieces]) => pieces.length === 0 || (picked.size > 0 && pieces.length === picked.size && contains(pieces, picked)),
  );
}
