// How a challenge stands; the results come when all have finished, or when somebody has ended it without the others.

import { button, el, tableOf } from "./dom.js";
import { t, told } from "./language.js";

export function challengePanel(view, send) {
  const { code, finished, ended, results } = view.challenge;
  const figures = { finished, count: view.challenge.for };
  const stands = ended ? t("{finished} of {count} have finished; the challenge was ended without the others.", figures) : t("{finished} of {count} have finished.", figures);
  return el("div", { class: "panel looked" }, el("h2", {}, t("The same deal for all")),
    el("p", {}, t("Code: "), el("code", {}, code), `. ${stands}`),
    ...(results ? shown(results, view) : [el("p", { class: "buttons" }, button(t("See who has finished"), "standing", () => send({})),
      view.over && !view.watches ? button(t("End it without the others"), "end-challenge", () => send({ end: true })) : null)]),
    view.over && view.error ? el("p", { class: "trouble", role: "alert" }, told(view.error)) : null);
}

// Scores, and their differences from one's own on the same deal.
function shown(results, view) {
  const own = view.end.scores[view.seat];
  const everyone = [...results.people, ...results.agents.map(([name, score]) => [t("{name} in your seat", { name }), score])];
  const beside = (score) => `${score > own ? "+" : ""}${round(score - own)}`;
  return [tableOf(t("Results"), [t("who"), t("score"), t("less yours")], everyone.map(([name, score]) => [name, String(round(score)), beside(score)])),
    el("p", { class: "small" }, t("Less yours: on the same deal, in the same seat, against the same agents. One deal says little about who plays better."))];
}

const round = (value) => Math.round(1000 * value) / 1000;
