// All texts of the page pass through here, and what a game says of its own words comes from here.

import { root } from "./dom.js";

// A text of the page, with values in the place of {name}.
export function t(text, values = {}) {
  return text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
}

// The words of a game, with a sentence each. They are asked for once.
const known = {};
export function termsOf(game) {
  known[game] ??= fetch(`${root}/words/${game}`).then((answer) => (answer.ok ? answer.json() : {})).catch(() => ({}));
  return known[game];
}
