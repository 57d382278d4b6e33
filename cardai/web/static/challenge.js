// How a challenge stands; the results come when all have finished, or when somebody has ended it without the others.

import { el } from "./dom.js";
import { button, tableOf } from "./learning.js";

export function challengePanel(view, send) {
  const { code, finished, ended, results } = view.challenge;
  const stands = ended ? ` have finished; the challenge was ended without the others.` : ` have finished.`;
  return el("div", { class: "panel looked" }, el("h2", {}, "The same deal for all"),
    el("p", {}, "Code: ", el("code", {}, code), `. ${finished} of ${view.challenge.for}${stands}`),
    ...(results ? shown(results, view) : [el("p", { class: "buttons" }, button("See who has finished", "standing", () => send({})),
      view.over && !view.watches ? button("End it without the others", "end-challenge", () => send({ end: true })) : null)]),
    view.over && view.error ? el("p", { class: "trouble", role: "alert" }, view.error) : null);
}

// Scores, and their differences from one's own on the same deal.
function shown(results, view) {
  const own = view.end.scores[view.seat];
  const everyone = [...results.people, ...results.agents.map(([name, score]) => [`${name} in your seat`, score])];
  const beside = (score) => `${score > own ? "+" : ""}${round(score - own)}`;
  return [tableOf("Results", ["who", "score", "less yours"], everyone.map(([name, score]) => [name, String(round(score)), beside(score)])),
    el("p", { class: "small" }, "Less yours: on the same deal, in the same seat, against the same agents. One deal says little about who plays better.")];
}

const round = (value) => Math.round(1000 * value) / 1000;
