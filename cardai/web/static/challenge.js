// How a challenge stands; the results come when all have finished.

import { el } from "./dom.js";
import { button, tableOf } from "./learning.js";

export function challengePanel(view, send) {
  const { code, finished, results } = view.challenge;
  const cells = results && [...results.people, ...results.agents.map(([name, score]) => [`${name} in your seat`, score])];
  return el("div", { class: "panel looked" }, el("h2", {}, "The same deal for all"),
    el("p", {}, "Code: ", el("code", {}, code), `. ${finished} of ${view.challenge.for} have finished.`),
    cells ? tableOf("Results", ["who", "score"], cells.map(([name, score]) => [name, String(Math.round(1000 * score) / 1000)]))
      : el("p", {}, button("See who has finished", "standing", () => send({}))));
}
