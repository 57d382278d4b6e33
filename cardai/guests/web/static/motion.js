// Cards that move: where each lay before a view was drawn, and how it gets to where it lies after.

import { el } from "./dom.js";

const TIME = 220; // milliseconds
const asksForRest = matchMedia("(prefers-reduced-motion: reduce)");

export const moves = () => !asksForRest.matches;

// Where all pieces and places are: {pieces: Map(piece, {box, element, zone, isOwn}), seats: Map(seat, box), zones: Map(name, box)}.
export function placesIn(play) {
  const pieces = new Map();
  for (const element of play.querySelectorAll("[data-piece]")) {
    const box = element.getBoundingClientRect();
    if (box.width) pieces.set(element.dataset.piece, { box, element, zone: element.closest("[data-zone]")?.dataset.zone, isOwn: Boolean(element.closest(".own")) });
  }
  const boxes = (name) => new Map([...play.querySelectorAll(`[data-${name}]`)].map((element) => [element.dataset[name], element.getBoundingClientRect()]));
  return { pieces, seats: boxes("seat"), zones: boxes("zone") };
}

// `before`: from `placesIn`. `moved`: by piece, the seat that played it. `to`: where pieces that are gone went, see story.js.
export function move(play, before, moved, to) {
  if (!moves() || document.hidden) return;
  const now = placesIn(play);
  for (const [piece, { box, element, zone, isOwn }] of now.pieces) {
    const earlier = before.pieces.get(piece);
    if (earlier && !isOwn && earlier.zone === zone && !earlier.isOwn) continue; // others only made room for it
    const from = earlier?.box ?? now.seats.get(String(moved.get(Number(piece)))) ?? (isOwn ? now.zones.get("Deck") ?? now.zones.get("Stock") : null);
    if (from) slide(element, from, box);
  }
  const goal = to && (to.seat === null ? now.zones.get(to.zone) : now.seats.get(String(to.seat)));
  if (goal) flyAway([...before.pieces].filter(([piece]) => !now.pieces.has(piece)), goal);
}

function slide(element, from, to) {
  const [x, y] = [from.left + from.width / 2 - to.left - to.width / 2, from.top + from.height / 2 - to.top - to.height / 2];
  if (Math.hypot(x, y) < 6) return;
  const still = getComputedStyle(element).transform;
  const rest = still === "none" ? "" : ` ${still}`;
  const size = Math.max(0.3, Math.min(1.5, from.width / to.width));
  element.animate([{ transform: `translate(${x}px, ${y}px) scale(${size})${rest}`, zIndex: 9 }, { transform: still, zIndex: 9 }], { duration: TIME, easing: "ease-out" });
}

function flyAway(gone, goal) {
  const sky = el("div", { class: "flying", "aria-hidden": "true" });
  for (const [, { box, element }] of gone) {
    const copy = el("span", { class: element.className.replace(/\b(lit|picked)\b/g, "") }, ...element.cloneNode(true).children);
    for (const [name, value] of Object.entries({ left: box.left, top: box.top, width: box.width, height: box.height })) copy.style[name] = `${value}px`;
    sky.append(copy);
    const [x, y] = [goal.left + goal.width / 2 - box.left - box.width / 2, goal.top + goal.height / 2 - box.top - box.height / 2];
    copy.animate([{ transform: "none" }, { transform: `translate(${x}px, ${y}px) scale(.35)`, opacity: 0.4 }], { duration: TIME, easing: "ease-in", fill: "forwards" });
  }
  document.body.append(sky);
  setTimeout(() => sky.remove(), TIME);
}
