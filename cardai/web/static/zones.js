// Zones and the pieces in them. A piece that can be picked is a button, all others are pictures with a text.

import { el, seenAndSaid } from "./dom.js";
import { faceOf, said, suitOf } from "./pieces.js";

// `choice`: {lit, picked, toggle}
export function zoneOf(zone, names, choice) {
  const pieces = zone.pieces.map((piece) => pieceOf(piece, names[piece], zone, choice));
  if (zone.hidden) pieces.push(hiddenOf(zone));
  const look = zone.look ?? "row";
  const box = el("div", { class: `pieces ${look}` }, ...(pieces.length ? pieces : [el("span", { class: "none" }, "–")]));
  if (look === "grid") box.classList.add(`columns-${zone.shape[1]}`);
  const note = zone.note ? el("span", { class: "note" }, zone.note) : null;
  return el("div", { class: pieces.length ? "zone" : "zone empty", role: "group", "aria-label": [zone.name, zone.note].filter(Boolean).join(", ") },
    el("h3", {}, zone.name, note ? " " : null, note), box);
}

function pieceOf(piece, name, zone, choice) {
  const mark = zone.marks?.[piece] ?? "";
  const isCell = zone.look === "grid";
  const words = [said(name), mark].filter(Boolean).join(", ");
  const face = isCell ? el("span", { class: "mark" }, mark) : el("span", { class: "face" }, ...faceOf(name).map((line) => el("span", {}, line)));
  const kind = `piece suit-${suitOf(name) || "none"}${isCell ? " cell" : ""}`;
  const content = (text) => [...seenAndSaid(face, text), mark && !isCell ? el("span", { class: "mark", "aria-hidden": "true" }, mark) : null];
  if (!choice.lit.has(piece)) return el("span", { class: kind }, ...content(words));
  const isPicked = choice.picked.has(piece);
  return el("button", {
    type: "button", class: `${kind} lit${isPicked ? " picked" : ""}`, "aria-pressed": String(isPicked),
    "data-key": `piece-${piece}`, onclick: () => choice.toggle(piece),
  }, ...content(`${words}, playable`));
}

function hiddenOf(zone) {
  return el("span", { class: "piece back" }, ...seenAndSaid(`${zone.hidden}`, `${zone.hidden} face down`));
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
