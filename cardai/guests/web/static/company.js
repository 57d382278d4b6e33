// Who is at the table: a dot at each person's seat, how long they have been waited for, who watches, who has left.

import { el, post, refill } from "./dom.js";
import { fit } from "./fitting.js";
import { t } from "./language.js";

const SHOWN_AFTER = 15; // seconds that somebody has been waited for
const GONE = { left: "{name} has left; {agent} plays", late: "{name} did not answer; {agent} plays", resigned: "{name} gave up; {agent} plays" };
const YOU_ARE_GONE = { left: "You have left. An agent plays for you.", late: "You did not answer. An agent plays for you.", resigned: "You gave up. An agent plays for you." };

export class Company {
  constructor(page) {
    this.page = page;
    this.panel = el("section", { class: "company", "aria-label": t("Company") });
    page.board.querySelector(".tools").before(this.panel);
    setInterval(() => this.tick(), 1000);
  }

  // What the server said last of who is here; undefined while one person is alone.
  get known() {
    return this.page.company;
  }

  // Beside the seats that were just drawn.
  draw(view) {
    const { place, parts, status } = this.page;
    this.clocks = [];
    this.limit = view.takeover * 60;
    this.time = view.time; // seconds left for the next move and for the game, null for no limit: in a study
    for (const [seat, who] of view.seats.entries()) {
      const head = place.querySelector(`[data-seat="${seat}"] h2`);
      if (!head || who.kind === "agent") continue;
      if (who.kind === "person" && this.known) head.prepend(this.dot(seat));
      if (who.gone) head.append(el("span", { class: "badge gone", title: t(GONE[who.gone], { name: who.name, agent: view.stand_in }) }, t("agent plays")));
      else this.clocks.push([seat, head.appendChild(el("span", { class: "badge clock", "aria-hidden": "true", hidden: true }))]);
    }
    this.tick();
    const watching = this.known?.watching;
    refill(this.panel, watching ? el("p", { class: "small" }, watching > 1 ? t("{count} people watch this table.", { count: watching }) : t("One person watches this table.")) : null,
      view.late ? el("p", { class: "small", role: "status" }, t("Your time was over: a program has made a move for you.")) : null, this.ways(view));
    const { gone } = view.seats[view.seat];
    if (!gone || view.watches || view.over) return;
    status.textContent = t(YOU_ARE_GONE[gone]);
    if (gone !== "resigned") parts.moves.append(this.button("back", t("Take my seat back"), {}));
  }

  // How to leave, where an agent can play for people.
  ways(view) {
    if (!view.stand_in || view.watches || view.over || view.seats[view.seat].gone === "resigned") return null;
    const after = view.takeover ? ` ${t("Whoever does not answer in time is replaced in the same way; minutes: {count}.", { count: view.takeover })}` : "";
    return el("details", { class: "tools leave", open: this.leaves, ontoggle: (event) => { this.leaves = event.target.open; } }, el("summary", {}, isShared(view) ? t("Leave or give up") : t("Give up")),
      el("p", { class: "small" }, t("{agent} plays on for you. In figures the game counts as not finished by you.", { agent: view.stand_in }) + after),
      el("span", { class: "buttons" },
        isShared(view) && !view.seats[view.seat].gone ? this.button("leave", t("Leave until I come back"), {}) : null,
        this.button("leave", t("Give up for good"), { resign: true })));
  }

  button(what, text, message) {
    const act = () => post(`/t/${this.page.table}/${what}`, message).catch((error) => this.page.complain(error.message));
    return el("button", { type: "button", class: what === "back" ? "primary" : "", "data-key": `${what}-${Boolean(message.resign)}`, onclick: act }, text);
  }

  dot(seat) {
    const isHere = this.known.here.includes(seat);
    return el("span", { class: isHere ? "dot here" : "dot" }, el("span", { class: "said" }, isHere ? t("is here: ") : t("is not here: ")));
  }

  tick() {
    for (const [seat, clock] of this.clocks ?? []) {
      const since = this.waited(seat);
      const wasHidden = clock.hidden;
      clock.hidden = !this.time && since < SHOWN_AFTER;
      clock.textContent = this.time ? this.left(since) : this.limit ? t("{time} of {limit}", { time: minutes(since), limit: minutes(this.limit) }) : minutes(since);
      if (clock.hidden !== wasHidden) fit(this.page.place); // it takes some room
    }
  }

  // How much time is left for this move and for the game.
  left(since) {
    const words = this.time.map((seconds) => seconds !== null && minutes(Math.max(0, Math.ceil(seconds - since))));
    const [move, game] = words;
    return [move !== game && move && t("{time} for this move", { time: move }), game && t("{time} for the game", { time: game })].filter(Boolean).join(", ");
  }

  // For how many seconds the table has waited for a seat.
  waited(seat) {
    const wait = this.known?.waits.find(([one]) => one === seat);
    return wait ? wait[1] + (performance.now() - this.known.at) / 1000 : 0;
  }
}

const isShared = (view) => view.seats.filter((who) => who.kind !== "agent").length > 1;
export const minutes = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

// In a sentence, for pages that show no table: whose turn it is and who is there. `own`: one's own seat, null for a guest.
export function companyWords({ names, here, waits }, own) {
  const others = (seats) => seats.filter((seat) => seat !== own && names[seat]).map((seat) => names[seat]);
  const present = others(here);
  const fields = { names: present.join(", ") };
  const isOne = present.length === 1;
  if (own === null && !present.length) return t("With {names}.", { names: names.filter(Boolean).join(", ") });
  if (own === null) return isOne ? t("{names} is waiting for you.", fields) : t("{names} are waiting for you.", fields);
  const there = !present.length ? "" : `${isOne ? t("{names} is at the table.", fields) : t("{names} are at the table.", fields)} `;
  if (waits.some(([seat]) => seat === own)) return there + t("It is your turn.");
  const missing = others(waits.map(([seat]) => seat));
  return missing.length ? there + t("Waiting for {names}.", { names: missing.join(", ") }) : there.trim();
}
