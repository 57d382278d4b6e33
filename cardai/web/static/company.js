// Who is at the table: a dot at each person's seat, how long they have been waited for, who watches, who has left.

import { el, post, refill } from "./dom.js";
import { fit } from "./fitting.js";
import { setting } from "./settings.js";

const SHOWN_AFTER = 15; // seconds that somebody has been waited for
const PHRASES = { hello: "Hello!", luck: "Good luck!", well: "Well played!", thanks: "Thank you!", sorry: "Sorry!", oops: "Oops!", moment: "One moment, please.", turn: "It is your turn.", fun: "That was fun!", bye: "Goodbye!" };
const HEARD = 5000; // milliseconds that a phrase is shown
const GONE = { left: "has left", late: "did not answer", resigned: "gave up" };

export class Company {
  constructor(page) {
    this.page = page;
    this.panel = el("section", { class: "company", "aria-label": "Company" });
    this.voice = el("p", { class: "said", role: "status" });
    this.spoken = new Map(); // by seat: what somebody says
    page.board.querySelector(".tools").before(this.panel, this.voice);
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
    for (const [seat, who] of view.seats.entries()) {
      const head = place.querySelector(`[data-seat="${seat}"] h2`);
      if (!head || who.kind === "agent") continue;
      if (who.kind === "person" && this.known) head.prepend(this.dot(seat));
      if (who.gone) head.append(el("span", { class: "badge gone", title: `${who.name} ${GONE[who.gone]}; ${view.stand_in} plays` }, "agent plays"));
      else this.clocks.push([seat, head.appendChild(el("span", { class: "badge clock", "aria-hidden": "true", hidden: true }))]);
    }
    this.tick();
    for (const [seat, key] of this.spoken) place.querySelector(`[data-seat="${seat}"]`)?.append(el("p", { class: "speech", "aria-hidden": "true" }, PHRASES[key]));
    const watching = this.known?.watching;
    refill(this.panel, watching ? el("p", { class: "small" }, `${watching} ${watching > 1 ? "people watch" : "person watches"} this table.`) : null, this.phrases(view), this.ways(view));
    const { gone } = view.seats[view.seat];
    if (!gone || view.watches || view.over) return;
    status.textContent = `You ${GONE[gone].replace("has", "have")}. An agent plays for you.`;
    if (gone !== "resigned") parts.moves.append(this.button("back", "Take my seat back", {}));
  }

  hear([seat, key]) {
    const { view, words } = this.page;
    if (!PHRASES[key] || (setting("mute") && seat !== view.seat)) return;
    this.spoken.set(seat, key);
    this.voice.textContent = `${words.name(seat)}: ${PHRASES[key]}`;
    setTimeout(() => { this.spoken.delete(seat); this.page.draw(); }, HEARD);
    this.page.draw();
  }

  phrases(view) {
    if (view.watches || !isShared(view)) return null;
    const say = (key) => this.page.connection.send({ say: key });
    return el("details", { class: "tools", open: this.speaks, ontoggle: (event) => { this.speaks = event.target.open; } }, el("summary", {}, "Say something"),
      el("span", { class: "buttons" }, ...Object.entries(PHRASES).map(([key, text]) => el("button", { type: "button", "data-key": `say-${key}`, onclick: () => say(key) }, text))));
  }

  // How to leave, where an agent can play for people.
  ways(view) {
    if (!view.stand_in || view.watches || view.over || view.seats[view.seat].gone === "resigned") return null;
    const after = view.takeover ? ` Whoever does not answer for ${view.takeover} ${view.takeover > 1 ? "minutes" : "minute"} is replaced in the same way.` : "";
    return el("details", { class: "tools leave", open: this.leaves, ontoggle: (event) => { this.leaves = event.target.open; } }, el("summary", {}, isShared(view) ? "Leave or give up" : "Give up"),
      el("p", { class: "small" }, `${view.stand_in} plays on for you. In figures the game counts as not finished by you.${after}`),
      el("span", { class: "buttons" },
        isShared(view) && !view.seats[view.seat].gone ? this.button("leave", "Leave until I come back", {}) : null,
        this.button("leave", "Give up for good", { resign: true })));
  }

  button(what, text, message) {
    const act = () => post(`/t/${this.page.table}/${what}`, message).catch((error) => this.page.complain(error.message));
    return el("button", { type: "button", class: what === "back" ? "primary" : "", "data-key": `${what}-${Boolean(message.resign)}`, onclick: act }, text);
  }

  dot(seat) {
    const isHere = this.known.here.includes(seat);
    return el("span", { class: isHere ? "dot here" : "dot" }, el("span", { class: "said" }, isHere ? "is here: " : "is not here: "));
  }

  tick() {
    for (const [seat, clock] of this.clocks ?? []) {
      const since = this.waited(seat);
      const wasHidden = clock.hidden;
      clock.hidden = since < SHOWN_AFTER;
      clock.textContent = this.limit ? `${minutes(since)} of ${minutes(this.limit)}` : minutes(since);
      if (clock.hidden !== wasHidden) fit(this.page.place); // it takes some room
    }
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
  const are = present.length > 1 ? "are" : "is";
  if (own === null) return present.length ? `${present.join(", ")} ${are} waiting for you.` : `With ${names.filter(Boolean).join(", ")}.`;
  const there = present.length ? `${present.join(", ")} ${are} at the table. ` : "";
  if (waits.some(([seat]) => seat === own)) return `${there}It is your turn.`;
  const missing = others(waits.map(([seat]) => seat));
  return missing.length ? `${there}Waiting for ${missing.join(", ")}.` : there.trim();
}
