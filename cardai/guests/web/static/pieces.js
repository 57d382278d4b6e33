// Cards and cells: what they are called.

import { t } from "./language.js";

const SUITS = { C: ["♣", "clubs"], D: ["♦", "diamonds"], H: ["♥", "hearts"], S: ["♠", "spades"] };
const RANKS = {
  2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine",
  T: "ten", J: "jack", Q: "queen", K: "king", A: "ace",
};
const CARD = /^([a-z]?)([2-9TJQKA])([CDHS])$/; // where several packs are mixed, a letter says of which a card is
const CARDS = /\b[a-z]?[2-9TJQKA][CDHS]\b/g;

export function cardOf(name) {
  const [, pack, rank, suit] = name.match(CARD) ?? [];
  return rank ? { pack, rank, suit } : null;
}

export function said(name) {
  const card = cardOf(name);
  return card ? t("{rank} of {suit}", { rank: t(RANKS[card.rank]), suit: t(SUITS[card.suit][1]) }) + (card.pack ? ` ${card.pack}` : "") : name;
}

export function seen(name) {
  const card = cardOf(name);
  return card ? `${card.rank === "T" ? "10" : card.rank}${SUITS[card.suit][0]}` : name;
}

export function suitOf(name) {
  return cardOf(name)?.suit ?? "";
}

// The pieces that words name, in their order.
export function named(words, names) {
  return (words.match(/[A-Za-z0-9]+/g) ?? []).map((word) => names.indexOf(word)).filter((piece) => piece >= 0);
}

// A game's words with its cards as symbols: "kills 6♠ with 9♠".
export function pretty(words, names) {
  const cards = new Set(names.filter(cardOf));
  return cards.size ? words.replace(CARDS, (name) => (cards.has(name) ? seen(name) : name)) : words;
}
