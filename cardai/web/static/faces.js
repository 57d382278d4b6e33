// Card faces drawn as SVG: ranks, pips and courts in a field of 100 x 140. No picture is loaded for them.

import { shape } from "./dom.js";
import { cardOf } from "./pieces.js";

const SUITS = { // in a field of 32 x 32, around its middle
  H: "M0 14C-9 5-14 0-14-6a7.5 7.5 0 0 1 14-3.6A7.5 7.5 0 0 1 14-6C14 0 9 5 0 14Z",
  D: "M0-15C3.5-9 7-4.5 11 0 7 4.5 3.5 9 0 15-3.5 9-7 4.5-11 0-7-4.5-3.5-9 0-15Z",
  S: "M0-15C5-7 14-3 14 4A6.8 6.8 0 0 1 2 7C2 10 3 12.5 5 14H-5C-3 12.5-2 10-2 7A6.8 6.8 0 0 1-14 4C-14-3-5-7 0-15Z",
  C: "M0-15A6.8 6.8 0 0 1 5.5-4.2 6.8 6.8 0 1 1 2 5.500C2 9 3 12 5 14H-5C-3 12-2 9-2 5.500A6.8 6.8 0 1 1-5.5-4.2 6.8 6.8 0 0 1 0-15Z",
};
const [L, C, R] = [35, 50, 65];
const ENDS = [[L, 27], [R, 27], [L, 113], [R, 113]];
const TALL = [...ENDS, [L, 55.7], [R, 55.7], [L, 84.3], [R, 84.3]];
const SIX = [...ENDS, [L, 70], [R, 70]];
const PIPS = {
  2: [[C, 27], [C, 113]], 3: [[C, 27], [C, 70], [C, 113]], 4: ENDS, 5: [...ENDS, [C, 70]], 6: SIX, 7: [...SIX, [C, 48.5]],
  8: [...SIX, [C, 48.5], [C, 91.5]], 9: [...TALL, [C, 70]], T: [...TALL, [C, 41.5], [C, 98.5]],
};
const ROBE = "M25 70V62C27 53 37 49 50 49S73 53 75 62V70Z";
const FACE = "M41.5 33C41 46 45 50.5 50 50.500S59 46 58.5 33Q50 28 41.5 33Z";
const COURTS = { // the upper half, [class, path]
  K: [["robe", ROBE], ["gold", "M42 49.5 50 63 58 49.5 62 51 50 70 38 51Z"], ["skin", FACE], ["hair", "M41.5 37Q41 54 50 57 59 54 58.5 37 56 43.5 53 43L50 44.5 47 43Q44 43.5 41.5 37Z"],
    ["gold", "M39 33 36 19.5 43.5 25.5 50 17 56.5 25.5 64 19.5 61 33Q50 29 39 33Z"], ["line", "M46 37.500h.5M53.5 37.500h.5M48.5 47h3"], ["steel", "M70 22.5 71.5 20 73 22.500V58H70Z"], ["gold", "M66.5 56h10v2.500h-10z"]],
  Q: [["hair", "M38 36Q36 20 50 20 64 20 62 36L65.5 55H34.500Z"], ["robe", ROBE], ["gold", "M40 50Q50 60 60 50L62 51Q50 65 38 51Z"], ["skin", FACE], ["hair", "M41 37Q43 29 50 28.5 57 29 59 37 60 26 50 25 40 26 41 37Z"],
    ["gold", "M39.5 28Q38.5 22 39 19L45 23 50 16.5 55 23 61 19Q61.5 22 60.5 28 50 22.5 39.5 28Z"], ["line", "M46 38h.5M53.5 38h.5"], ["lip", "M48 45.500Q50 47.5 52 45.5 50 44.5 48 45.500Z"],
    ["gold", "M69 44a3.5 3.5 0 1 1 .1 0Z"], ["leaf", "M69 44Q71 54 66 62L67.5 62.500Q72.5 54 70.5 44Z"]],
  J: [["hair", "M39.5 34V47Q44 49 44 44V32ZM60.5 34V47Q56 49 56 44V32Z"], ["robe", ROBE], ["gold", "M48 49H52V70H48Z"], ["skin", FACE], ["robe", "M36.5 32Q36 18 51 18.5 66 19 63.5 32.5 50 26.5 36.5 32Z"],
    ["gold", "M37 29.500Q50 24 63.5 30L63.5 33Q50 27 36.5 32.500ZM60 22Q66 13 73 16 71 21 62 26Z"], ["line", "M46 37.500h.5M53.5 37.500h.5M48.5 45.500h3"], ["steel", "M70 30h2v34h-2z"], ["gold", "M71 21 75 30H67Z"]],
};

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
