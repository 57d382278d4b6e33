// Hints and explanations. The server makes them from what this seat may know.

import { button, el, refill, shape, tableOf } from "./dom.js";
import { t, told } from "./language.js";
import { setting } from "./settings.js";

const STEPS = [["pieces", "Hint"], ["move", "The move"], ["why", "Why?"]];

export class Learning {
  // `now`: where hints are shown.
  constructor(send, now, page) {
    Object.assign(this, { send, now, page, answer: null });
  }

  take(message, view) {
    if (message.advice.step === "standing") [this.standing, this.isSlow] = [message.advice, !message.advice.scores.length];
    else this.answer = { pieces: this.answer?.pieces, ...message.advice }; // lit up by an earlier step
    this.draw(view);
  }

  draw(view) {
    const ply = view.choice ?? view.ply;
    if (view.study && given(view, "evaluation") && view.moves && !view.watches && setting("chances") && !this.isSlow && this.asked !== ply) {
      this.asked = ply;
      this.send({ advice: "standing", ply });
    }
    if (this.standing?.ply > ply || !setting("chances") || view.over) this.standing = null;
    this.bars();
    if (this.answer?.ply !== (view.choice ?? view.ply)) this.answer = null;
    refill(this.now, view.study && !view.watches && !view.over ? this.buttons(view) : null, this.answer ? this.advice(view) : null);
    for (const piece of this.answer?.pieces ?? []) this.now.closest(".play").querySelector(`[data-piece="${piece}"]`)?.classList.add("hint");
  }

  // How each seat stood at the last own turn: a bar beside its name, from what one's own seat may know.
  bars() {
    const place = this.now.closest(".play");
    for (const old of place.querySelectorAll(".stands")) old.remove();
    for (const [seat, score] of (this.standing?.scores ?? []).entries()) {
      const bar = shape("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, shape("rect", { width: 100, height: 10 }), shape("rect", { width: 100 * score, height: 10, class: "share" }));
      place.querySelector(`[data-seat="${seat}"] h2`)?.after(el("p", { class: "stands", title: t("Expected score, if {agent} played for all from what you know", { agent: this.standing.by }) }, bar, el("span", { class: "said" }, `${t("Expected score")} `), this.standing.texts[seat]));
    }
  }

  buttons(view) {
    const count = this.answer ? STEPS.findIndex(([step]) => step === this.answer.step) + 1 : 0;
    const ask = ([step, words]) => button(t(words), `advice-${step}`, () => this.send({ advice: step, ply: view.choice ?? view.ply }));
    return el("p", { class: "buttons" }, ...(view.moves && given(view, "hints") ? STEPS.slice(Math.min(count, 2)).slice(0, count ? 1 : 3).map(ask) : []), this.undo(view));
  }

  undo(view) {
    if (!given(view, "undo")) return null;
    const first = view.ply - view.log.length;
    const last = view.log.findLastIndex(([seat], at) => seat === view.seat && !view.forced.has(first + at)); // a choice, not an only move
    return last < 0 ? null : button(t("Take back"), "undo", () => this.send({ undo: first + last }));
  }

  advice(view) {
    const { by, begins, pieces, moves, heads, rows, notes } = this.answer;
    const { words } = this.page;
    const status = (text) => el("p", { role: "status" }, text);
    if (moves) return status(t("Best by {agent}: {move}", { agent: by, move: moves.map((move) => words.text(move, 2)).join("; ") }));
    if (begins) return status(t("{agent} would play a move that begins with {word}.", { agent: by, word: begins }));
    if (by) return status(pieces.length ? t("{agent} would take {cards}.", { agent: by, cards: pieces.map((piece) => words.text(view.pieces[piece])).join(" ") }) : t("{agent} would take no card.", { agent: by }));
    const cells = ([move, ...figures]) => [words.button(move), ...figures.map(told)];
    return el("div", { role: "status" }, tableOf(t("Your moves beside the best one"), heads.map((head) => told(words.text(head))), rows.map(cells)), el("p", { class: "small" }, notes.map(told).join(" ")));
  }
}

const given = (view, aid) => !view.aids || view.aids.includes(aid); // a study may leave some out
