// Hints, explanations and a look back at the game. The server makes them from what this seat may know.

import { el, post, refill, root, shape } from "./dom.js";
import { pretty } from "./pieces.js";

const STEPS = [["pieces", "Hint"], ["move", "Tell me the move"], ["why", "Why?"]];

export class Learning {
  // `now`: where hints are shown; `back`: where the game is looked at again.
  constructor(table, send, now, back) {
    Object.assign(this, { table, send, now, back, answer: null, review: null });
    this.trouble = el("p", { class: "trouble", role: "alert" });
  }

  take(message, view) {
    if (message.advice) this.answer = message.advice;
    else this.review = message.review;
    this.draw(view);
  }

  draw(view) {
    if (this.answer?.ply !== (view.choice ?? view.ply)) this.answer = null;
    refill(this.now, view.study && !view.watches ? this.buttons(view) : null, this.answer ? this.advice(view) : null);
    this.back.hidden = !view.over || view.watches || !view.fair;
    if (this.back.hidden) this.review = null;
    else refill(this.back, el("h2", {}, "The game again"), ...(this.review ? this.looked(view) : [this.look()]), this.trouble);
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

  look() {
    return el("p", {}, button("Look at the game again", "review", () => this.send({ review: true })));
  }

  looked(view) {
    const { judge, scale, bounded, rows, on, score } = this.review;
    const figure = (value, signed) => (value === null || value === undefined ? "" : `${signed && value > 0 ? "+" : ""}${Number(value.toFixed(bounded ? 3 : 1))}`);
    const lines = rows.map(([ply, words, value, parts, better, cost]) => [
      String(ply), pretty(words, view.pieces), figure(value), figure(parts?.[1], true), figure(parts?.[2], true), figure(parts?.[3], true),
      better ? pretty(better, view.pieces) : "",
      on ? button(["Play on from here", el("span", { class: "said" }, ` before ply ${ply}`)], `on-${ply}`, () => this.playOn(ply)) : "",
    ]);
    const costly = rows.filter(([, , , , better]) => better).map(([ply, words, , , better, cost]) =>
      el("li", {}, `Ply ${ply}: you played “${pretty(words, view.pieces)}”; better was “${pretty(better, view.pieces)}”. It cost ${cost}.`));
    const heads = ["ply", "you played", scale, "own choices", "draws", "others, chance", "better was", ""];
    return [el("p", {}, `${judge} judges your position after each of your moves: ${scale}. Your score: ${figure(score)}.`),
      costly.length ? el("h3", {}, "What cost you most") : el("p", {}, "No other move is shown to have been better."),
      el("ol", {}, ...costly), lineOf(rows, view), tableOf("Your moves", heads, lines),
      el("p", { class: "small" }, "Own choices, draws and others add up to the change since your last move. A better move is named where your choice cost most.")];
  }

  async playOn(ply) {
    try {
      location.assign(`${root}/t/${(await post(`/t/${this.table}/branch`, { ply })).table}`);
    } catch (error) {
      this.trouble.textContent = error.message;
    }
  }
}

export const button = (content, key, onclick) => el("button", { type: "button", "data-key": key, onclick }, ...[content].flat());

export function tableOf(name, heads, rows) {
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, el("table", {},
    el("thead", {}, el("tr", {}, ...heads.map((head) => el(head ? "th" : "td", head ? { scope: "col" } : {}, head)))),
    el("tbody", {}, ...rows.map((cells) => el("tr", {}, ...cells.map((cell) => el("td", {}, cell)))))));
}

// The values after own moves as a line, costly choices as rings. The table below it says the same.
function lineOf(rows, view) {
  const dots = rows.filter(([, , value]) => value !== null);
  if (dots.length < 2) return null;
  const values = dots.map(([, , value]) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const place = ([ply, , value]) => [10 + (580 * ply) / view.ply, 110 - (100 * (value - low)) / (high - low || 1)];
  const rings = dots.filter(([, , , , better]) => better).map(place).map(([cx, cy]) => shape("circle", { cx, cy, r: 6 }));
  return shape("svg", { viewBox: "0 0 600 120", class: "line", role: "img", "aria-label": `Your values from ${low.toFixed(2)} to ${high.toFixed(2)}, ${rings.length} costly choices` },
    shape("polyline", { points: dots.map((dot) => place(dot).join(",")).join(" ") }), ...rings);
}
