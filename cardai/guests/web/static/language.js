// The language of the page: English, or a catalogue of its texts in another language. A text that is not in it stays English.

import { root } from "./dom.js";
import { remembered } from "./settings.js";

export const LANGUAGES = { en: "English", fi: "Suomi" };
const texts = {};
let saidByServer = (text) => text;

// As chosen on this page or in its address, else the first that the browser asks for and that is known here.
export function language() {
  const asked = (navigator.languages ?? []).map((name) => name.slice(0, 2));
  return [remembered("language"), ...asked].find((name) => name in LANGUAGES) ?? "en";
}

export const isForeign = () => language() !== "en";

// Get the catalogue, and say what is on the page already.
export async function learn() {
  const wanted = new URLSearchParams(location.search).get("lang");
  if (wanted in LANGUAGES) remembered("language", wanted);
  document.documentElement.lang = language();
  if (!isForeign()) return;
  const { page = {}, server = {} } = await fetch(`${root}/static/${language()}.json`).then((answer) => answer.json()).catch(() => ({}));
  Object.assign(texts, page);
  saidByServer = sayer(server);
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = t(element.textContent);
  for (const element of document.querySelectorAll("[aria-label]")) element.setAttribute("aria-label", t(element.getAttribute("aria-label")));
}

// A text of the page, with values in the place of {name}.
export function t(text, values = {}) {
  return fill(texts[text] ?? text, values);
}

// A sentence that the server sends.
export const told = (text) => saidByServer(text);

// The same as `t` in English, among the words of a game that has no others.
export function fill(text, values = {}) {
  return text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
}

// The words of a game: {terms: {word: [heading, sentence]}, about, agents, say}, see `sayer`. They are asked for once.
// Without `say` the game speaks English, which the page can turn to whoever reads.
const known = {};
export function wordsOf(game) {
  known[game] ??= fetch(`${root}/words/${game}/${language()}`).then((answer) => (answer.ok ? answer.json() : {})).catch(() => ({}))
    .then(({ terms = {}, said, about, agents = {} }) => ({ terms, about, agents, say: said && sayer(said) }));
  return known[game];
}

// `said`: a game's words, or patterns of them with {} for anything, by what they are: "opens {}" is "avaa|avaat|avaa {1}".
// A word may have three forms: of somebody, of you, and as an order. `say(words, form, own)`: `own` is the reader's seat.
export function sayer(said) {
  const patterns = Object.entries(said).map(([words, text]) =>
    [new RegExp(`^${words.split("{}").map((part) => part.replace(/[.*+?^$()|[\]\\]/g, "\\$&")).join("(.+?)")}$`), text]);
  const say = (words, form = 0, own = null) => {
    for (const [pattern, text] of patterns) {
      const found = words.match(pattern);
      if (!found) continue;
      const spoken = form === 0 && found[1] === `p${own}` ? 1 : form;
      return text.replace(/[^\s|]+\|[^\s|]+\|[^\s|]+/g, (forms) => forms.split("|")[spoken]).replace(/\{(\d)\}/g, (_, place) => say(found[place], 0, own));
    }
    const mark = ["; ", ", "].find((one) => words.includes(one));
    return mark ? words.split(mark).map((part) => say(part, form, own)).join(mark) : words;
  };
  return say;
}
