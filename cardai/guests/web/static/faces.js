// Card faces drawn as SVG: ranks, pips and courts in a field of 100 x 140. No picture is loaded for them.

import { shape } from "./dom.js";
import { cardOf } from "./pieces.js";

// `suits`: paths in a field of 32 x 32, around its middle; `pips`: where they lie; `courts`: the upper half, [class, path].
// `cardai.cli.show.picture` draws from the same file.
const { suits: SUITS, pips: PIPS, courts: COURTS } = await (await fetch(new URL("./faces.json", import.meta.url))).json();

const pip = (suit, x, y, size, turned) => shape("path", { d: SUITS[suit], transform: `translate(${x} ${y}) scale(${size / 32})${turned ? " rotate(180)" : ""}` });
const ranked = (rank) => (rank === "T" ? "10" : rank);

function word(text, x, y, size, name) {
  const wide = text.length > 1 ? { textLength: size * 0.92, lengthAdjust: "spacingAndGlyphs" } : {};
  return shape("text", { x, y, "font-size": size, "text-anchor": "middle", class: name, ...wide }, text);
}

function corner({ rank, suit }) {
  return [word(ranked(rank), 13.5, 26, 27, "index"), pip(suit, 13.5, 41, 19, false)];
}

function turned(...children) {
  return shape("g", { transform: "rotate(180 50 70)" }, ...children);
}

function middle({ rank, suit }) {
  if (rank === "A") return [pip(suit, 50, 70, 52, false)];
  if (PIPS[rank]) return PIPS[rank].map(([x, y]) => pip(suit, x, y, 21, y > 70));
  const half = () => [...COURTS[rank].map(([name, d]) => shape("path", { d, class: name })), pip(suit, 32.5, 26.5, 12, false)];
  return [shape("rect", { x: 25, y: 14, width: 50, height: 112, class: "frame" }), ...half(), turned(...half()), shape("path", { d: "M25 68.500H75V71.500H25Z", class: "gold" })];
}

// Below some width (the style sheet says which) a card has nothing but its rank and suit, as large as fits.
function drawn(card) {
  return shape("svg", { viewBox: "0 0 100 140", class: "card", "aria-hidden": "true" },
    shape("g", { class: "full" }, ...corner(card), turned(...corner(card)), ...middle(card), word(card.suit, 88, 24, 15, "letter")),
    shape("g", { class: "plain" }, word(ranked(card.rank), 50, 62, 68, "index"), pip(card.suit, 50, 101, 62, false), word(card.suit, 86, 134, 26, "letter")));
}

const made = new Map();

// The face of a card as a new SVG element; null for what is no card.
export function faceOf(name) {
  const card = cardOf(name);
  if (!card) return null;
  if (!made.has(name)) made.set(name, drawn(card));
  return made.get(name).cloneNode(true);
}
