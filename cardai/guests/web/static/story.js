// What happened between two views: a trick or bout that was cleared in the same frame as its last card, and who got it.

import { named } from "./pieces.js";

const isRow = (zone) => (zone.seat ?? null) === null && (zone.look ?? "row") === "row";
const sizeOf = (zone) => zone.pieces.length + (zone.hidden ?? 0);
const isHand = (zone) => zone.look === "fan" || zone.name === "Hand";

// The lines of the log that are new in `next`, [seat, words]; none if moves were taken back.
export function freshLines(before, next) {
  const count = before ? Math.min(next.ply - before.ply, next.log.length) : 0;
  return count > 0 ? next.log.slice(-count) : [];
}

// `moved`: by piece, the seat that played it. `held`: what lay on the table when its last card had come, if that was
// cleared at once: {zones: {name: pieces}, marks, added: [[piece, seat]], gone: pieces, to: {seat, zone}}, `to` being where it went.
export function storyOf(before, next) {
  const lines = freshLines(before, next);
  const story = { lines, moved: new Map(), held: null };
  if (!lines.length || !before.zones || !next.zones) return story;
  const rows = before.zones.filter(isRow);
  const lying = new Set(rows.flatMap((zone) => zone.pieces));
  const handOf = (seat) => next.zones.find((zone) => zone.seat === seat && isHand(zone))?.pieces ?? [];
  const stays = new Set(next.zones.filter(isRow).flatMap((zone) => zone.pieces));
  const left = new Map(rows.map((zone) => [zone.name, zone.pieces.filter((piece) => !stays.has(piece))]));
  const added = [];
  for (const [seat, words] of lines) {
    const pieces = named(words, before.pieces ?? next.pieces);
    const onto = rows.find((zone) => zone.pieces.some((piece) => pieces.includes(piece)));
    for (const piece of pieces) {
      if (lying.has(piece) || handOf(seat).includes(piece)) continue;
      story.moved.set(piece, seat);
      if (!stays.has(piece)) added.push([piece, seat, onto?.name]);
    }
  }
  story.held = heldOf(rows, left, added, before, next);
  return story;
}

function heldOf(rows, left, added, before, next) {
  const [most] = [...left].sort((one, other) => other[1].length - one[1].length);
  if (!most?.[1].length) return null;
  const isEmptied = [...left].every(([name, gone]) => !gone.length || !next.zones.find((zone) => zone.name === name)?.pieces.length);
  if (!added.length && !isEmptied) return null;
  const zones = Object.fromEntries(rows.map((zone) => [zone.name, [...zone.pieces]]));
  const marks = Object.assign({}, ...rows.map((zone) => zone.marks ?? {}));
  const bySeat = most[1].every((piece) => /^p\d$/.test(marks[piece] ?? ""));
  for (const [piece, seat, onto] of added) {
    zones[onto ?? most[0]].push(piece);
    if (bySeat) marks[piece] = `p${seat}`;
  }
  const gone = [...new Set([...left.values()].flat().concat(added.map(([piece]) => piece)))];
  return { zones, marks, gone, added: added.map(([piece, seat]) => [piece, seat]), to: whereTo(gone, before, next) };
}

// Where cards went: to the place that shows one of them or grew by as many, or to the seat whose note alone has changed.
function whereTo(gone, before, next) {
  const earlier = (zone) => before.zones.find((other) => other.name === zone.name && other.seat === zone.seat);
  const places = next.zones.filter((zone) => !isRow(zone));
  const grown = places.filter((zone) => sizeOf(zone) - sizeOf(earlier(zone) ?? { pieces: [] }) >= gone.length);
  const showing = places.find((zone) => zone.pieces.some((piece) => gone.includes(piece)));
  const noted = places.filter((zone) => zone.seat !== undefined && numbers(zone.note) > numbers(earlier(zone)?.note));
  const found = showing ?? grown.find((zone) => zone.seat !== undefined) ?? grown[0] ?? (noted.length === 1 ? noted[0] : null);
  return found ? { seat: found.seat ?? null, zone: found.name } : null;
}

const numbers = (note) => (note?.match(/\d+/g) ?? []).reduce((sum, number) => sum + Number(number), 0);
