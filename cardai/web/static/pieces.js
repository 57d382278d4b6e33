// Cards and cells: how they look, and how they are said.

const SUITS = { C: ["♣", "clubs"], D: ["♦", "diamonds"], H: ["♥", "hearts"], S: ["♠", "spades"] };
const RANKS = {
  2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine",
  T: "ten", J: "jack", Q: "queen", K: "king", A: "ace",
};

function cardOf(name) {
  const rank = name.slice(0, -1);
  const suit = name.slice(-1);
  return name.length === 2 && rank in RANKS && suit in SUITS ? { rank, suit } : null;
}

export function said(name) {
  const card = cardOf(name);
  return card ? `${RANKS[card.rank]} of ${SUITS[card.suit][1]}` : name;
}

export function seen(name) {
  const card = cardOf(name);
  return card ? `${card.rank === "T" ? "10" : card.rank}${SUITS[card.suit][0]}` : name;
}

// A card has its suit below its rank; anything else is a line.
export function faceOf(name) {
  const card = cardOf(name);
  return card ? [seen(name).slice(0, -1), SUITS[card.suit][0]] : [name];
}

export function suitOf(name) {
  return cardOf(name)?.suit ?? "";
}

// A game's words with its cards as symbols: "kills 6♠ with 9♠".
export function pretty(words, names) {
  const cards = new Set(names.filter(cardOf));
  return cards.size ? words.replace(/[2-9TJQKA][CDHS](?![A-Za-z0-9])/g, (name) => (cards.has(name) ? seen(name) : name)) : words;
}
