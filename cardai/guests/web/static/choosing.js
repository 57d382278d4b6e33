// Which pieces can be picked, and which moves the picked ones make. `moves`: [words, pieces]. No rule of any game is here.

const contains = (pieces, picked) => [...picked].every((piece) => pieces.includes(piece));

// A piece can be picked if some move takes it together with all that are picked: so every selection can be completed.
// `series`: how many moves are chosen together; then a piece of any of them can be picked while there is room.
export function lit(moves, picked, series = 1) {
  const found = new Set();
  if (series > 1) return picked.size < series ? new Set(moves.flatMap(([, pieces]) => pieces)) : new Set(picked);
  for (const [, pieces] of moves) {
    if (contains(pieces, picked)) for (const piece of pieces) found.add(piece);
  }
  return found;
}

// Which of the lit pieces can be picked in a zone: those in a zone of one's own (`own`: the seat) only there, since
// where cards are alike another seat may show one of the same kind.
export function litIn(zone, zones, own, pieces) {
  const held = new Set(zones.filter((one) => one.seat === own).flatMap((one) => one.pieces));
  return zone.seat === own ? pieces : pieces.filter((piece) => !held.has(piece));
}

// The moves that take exactly the picked pieces, and those that take none.
export function offered(moves, picked) {
  return moves.filter(
    ([, pieces]) => pieces.length === 0 || (picked.size > 0 && pieces.length === picked.size && contains(pieces, picked)),
  );
}
