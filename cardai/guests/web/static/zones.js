// Zones and the pieces in them. A piece that can be picked is a button, all others are pictures with a text.

import { el, seenAndSaid } from "./dom.js";
import { faceOf } from "./faces.js";
import { t } from "./language.js";
import { said, seen, suitOf } from "./pieces.js";

const MANY = 4; // cards

// `choice`: {lit, picked, toggle}; `words`: see words.js; `shown`: {pairs, took}, which cards lie on others, who took a trick.
export function zoneOf(zone, names, choice, words, shown = {}) {
  const look = zone.look ?? "row";
  const draw = (piece) => pieceOf(piece, names[piece], zone, choice, words);
  const isPile = look === "pile";
  const isRound = !isPile && zone.pieces.length > 0 && zone.pieces.every((piece) => /^p\d$/.test(zone.marks?.[piece] ?? ""));
  const title = el("h3", {}, el("span", { class: "zone-name", "data-words": zone.name }, words.text(zone.name)), zone.note ? " " : null, zone.note ? el("span", { class: "note", "data-words": zone.note }, words.text(zone.note)) : null);
  const isEmpty = !zone.pieces.length && !zone.hidden;
  const box = el("div", {
    class: `zone ${look}${isEmpty ? " empty" : ""}${isRound ? " round" : ""}`, role: "group", "data-zone": zone.name,
    "aria-label": [words.text(zone.name), zone.note && words.text(zone.note)].filter(Boolean).join(", "),
  }, title);
  if (isPile && (zone.seat ?? null) === null) box.append(pileOf(zone, draw, choice));
  else {
    const pieces = zone.pieces.map((piece) => paired(piece, draw, shown.pairs));
    if (zone.hidden) pieces.push(hiddenOf(zone.hidden));
    const isMany = look === "fan" && zone.seat !== shown.seat && pieces.length > MANY; // known cards of others, which may scroll
    box.append(el("div", { class: `pieces ${look}${isMany ? " many" : ""}`, tabindex: isMany ? 0 : null }, ...(pieces.length ? pieces : [el("span", { class: "none" }, "–")])));
    if (look === "grid") box.lastChild.classList.add(`columns-${zone.shape[1]}`);
    if (isRound) goRound(box.lastChild, zone, shown.seat, shown.seats);
  }
  return box;
}

// A card with the one that was laid on it.
function paired(piece, draw, pairs) {
  const on = pairs?.get(piece);
  return on === undefined ? draw(piece) : el("span", { class: "pair" }, draw(piece), draw(on));
}

// Each card before whoever played it, one's own at the bottom, the others clockwise from there.
function goRound(place, zone, own, seats) {
  zone.pieces.forEach((piece, at) => {
    const step = (Number(zone.marks[piece].slice(1)) - own + seats) % seats;
    const turn = (2 * Math.PI * step) / seats;
    place.children[at].style.left = `${50 - 36 * Math.sin(turn)}%`;
    place.children[at].style.top = `${50 + 27 * Math.cos(turn)}%`;
  });
}

// A pile shows its top card and how many there are; all that lie face up are shown on tap, and what can be picked at once.
function pileOf(zone, draw, choice) {
  const count = zone.pieces.length + (zone.hidden ?? 0);
  const pickable = zone.pieces.filter((piece) => choice.lit.has(piece));
  const rest = zone.pieces.filter((piece) => !choice.lit.has(piece));
  const stack = [zone.hidden ? hiddenOf(count) : null, rest.length ? draw(rest.at(-1)) : null].filter(Boolean);
  const counted = zone.hidden ? null : el("span", { class: "kind" }, String(count));
  if (!count) return el("div", { class: "pieces pile" }, el("span", { class: "none" }, "–"));
  const top = el("span", { class: "stack" }, ...stack);
  const place = rest.length < 2 ? el("div", { class: "pieces pile" }, top)
    : el("details", {}, el("summary", { "data-key": `pile-${zone.name}` }, top, counted), el("div", { class: "pieces" }, ...rest.map(draw)));
  if (!pickable.length) return place;
  if (!stack.length) return el("div", { class: "pieces" }, ...pickable.map(draw));
  return el("div", { class: "pieces" }, place, ...pickable.map(draw));
}

function pieceOf(piece, name, zone, choice, words) {
  const mark = zone.marks?.[piece] ?? "";
  const isCell = zone.look === "grid";
  const isOwn = /^p\d$/.test(mark); // whose it is shows by where it lies
  const label = [said(name), mark && words.text(mark)].filter(Boolean).join(", ");
  const face = isCell ? el("span", { class: "mark" }, mark) : (faceOf(name) ?? el("span", { class: "face" }, seen(name)));
  const kind = `piece suit-${suitOf(name) || "none"}${isCell ? " cell" : ""}`;
  const content = (text) => [...seenAndSaid(face, text), mark && !isCell && !isOwn ? el("span", { class: "mark", "aria-hidden": "true" }, words.short(mark)) : null];
  const data = { "data-piece": piece };
  if (!choice.lit.has(piece)) return el("span", { class: kind, ...data }, ...content(label));
  const isPicked = choice.picked.has(piece);
  return el("button", {
    type: "button", class: `${kind} lit${isPicked ? " picked" : ""}`, "aria-pressed": String(isPicked), ...data,
    "data-key": `piece-${piece}`, onclick: () => choice.toggle(piece),
  }, ...content(`${label}, ${t("playable")}`));
}

function hiddenOf(count) {
  return el("span", { class: "piece back" }, ...seenAndSaid(`${count}`, t("{count} face down", { count })));
}

// Left and right go from one playable piece to the next.
export function arrowKeys(place) {
  place.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const buttons = [...place.querySelectorAll("button.piece")];
    const at = buttons.indexOf(document.activeElement);
    if (step && at >= 0) {
      buttons[(at + step + buttons.length) % buttons.length].focus();
      event.preventDefault();
    }
  });
}
