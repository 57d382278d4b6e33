// Hints and explanations. The server makes them from what this seat may know.

import { el, refill } from "./dom.js";
import { pretty } from "./pieces.js";

const STEPS = [["pieces", "Hint"], ["move", "Tell me the move"], ["why", "Why?"]];

export class Learning {
  // `now`: where hints are shown.
  constructor(send, now) {
    Object.assign(this, { send, now, answer: null });
  }

  take(message, view) {
    this.answer = { pieces: this.answer?.pieces, ...message.advice }; // lit up by an earlier step
    this.draw(view);
  }

  draw(view) {
    if (this.answer?.ply !== (view.choice ?? view.ply)) this.answer = null;
    refill(this.now, view.study && !view.watches && !view.over ? this.buttons(view) : null, this.answer ? this.advice(view) : null);
    for (const piece of this.answer?.pieces ?? []) this.now.closest(".play").querySelector(`[data-piece="${piece}"]`)?.classList.add("hint");
  }

  buttons(view) {
    const given = this.answer ? STEPS.findIndex(([step]) => step === this.answer.step) + 1 : 0;
    const ask = ([step, words]) => button(words, `advice-${step}`, () => this.send({ advice: step, ply: view.choice ?? view.ply }));
    return el("p", { class: "buttons" }, ...(view.moves ? STEPS.slice(Math.min(given, 2)).slice(0, given ? 1 : 3).map(ask) : []), this.undo(view));
  }

  undo(view) {
    const first = view.ply - view.log.length;
    const last = view.log.findLastIndex(([seat], at) => seat === view.seat && !view.forced.has(first + at)); // a choice, not an only move
    return last < 0 ? null : button("Take back my last move", "undo", () => this.send({ undo: first + last }));
  }

  advice(view) {
    const { text, heads, rows, notes } = this.answer;
    if (text) return el("p", { role: "status" }, pretty(text, view.pieces));
    const cells = ([words, ...figures]) => [pretty(words, view.pieces), ...figures];
    return el("div", { role: "status" }, tableOf("Your moves beside the best one", heads, rows.map(cells)), el("p", { class: "small" }, notes.join(" ")));
  }
}

export const button = (content, key, onclick) => el("button", { type: "button", "data-key": key, onclick }, ...[content].flat());

export function tableOf(name, heads, rows) {
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, el("table", {},
    el("thead", {}, el("tr", {}, ...heads.map((head) => el(head ? "th" : "td", head ? { scope: "col" } : {}, head)))),
    el("tbody", {}, ...rows.map((cells) => el("tr", {}, ...cells.map((cell) => el("td", {}, cell)))))));
}
