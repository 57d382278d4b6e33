// Who is at the table: a dot at each person's seat, how long they have been waited for, who watches.

import { el, refill } from "./dom.js";

const SHOWN_AFTER = 15; // seconds that somebody has been waited for

export class Company {
  constructor() {
    this.panel = el("section", { class: "company", "aria-label": "Company" });
    setInterval(() => this.tick(), 1000);
  }

  take(company) {
    this.company = company;
    this.at = performance.now();
  }

  // Beside the seats that were just drawn in `play`.
  draw(play, view, words) {
    this.clocks = [];
    if (!this.company) return;
    for (const [seat, who] of view.seats.entries()) {
      const head = play.querySelector(`[data-seat="${seat}"] h2`);
      if (who.kind !== "person" || !head) continue;
      head.prepend(this.dot(seat));
      const clock = el("span", { class: "badge clock", "aria-hidden": "true", hidden: true });
      head.append(clock);
      this.clocks.push([seat, clock]);
    }
    this.tick();
    const { watching } = this.company;
    refill(this.panel, watching ? el("p", { class: "small" }, `${watching} ${watching > 1 ? "people watch" : "person watches"} this table.`) : null);
  }

  dot(seat) {
    const isHere = this.company.here.includes(seat);
    return el("span", { class: isHere ? "dot here" : "dot" }, el("span", { class: "said" }, isHere ? "is here: " : "is not here: "));
  }

  tick() {
    for (const [seat, clock] of this.clocks ?? []) {
      const since = this.waited(seat);
      clock.hidden = since < SHOWN_AFTER;
      clock.textContent = minutes(since);
    }
  }

  // For how many seconds the table has waited for a seat.
  waited(seat) {
    const wait = this.company.waits.find(([one]) => one === seat);
    return wait ? wait[1] + (performance.now() - this.at) / 1000 : 0;
  }
}

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
