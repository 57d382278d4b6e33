// Names for seats, and the second person for whoever reads: "p1 kills" is "Ben kills", or "You kill" to Ben.

import { pretty } from "./pieces.js";

const NAMES = ["Ada", "Bruno", "Clara", "David", "Emma", "Felix", "Greta", "Hugo"]; // of agents, by their seat
const SEAT = /\bp(\d)\b/g;

// The name of each seat at this table, no two alike.
export function namesOf(seats) {
  const people = new Set(seats.filter((who) => who.kind !== "agent").map((who) => who.name));
  const taken = new Set();
  return seats.map((who, seat) => {
    let name = who.kind === "agent" ? (people.has(NAMES[seat]) ? `${NAMES[seat]} (agent)` : NAMES[seat]) : who.name || `Seat ${seat + 1}`;
    while (taken.has(name)) name += ` ${seat + 1}`;
    taken.add(name);
    return name;
  });
}

// "kills" is "kill", "passes" is "pass", "has" is "have". Other words stay as they are.
export function plain(verb) {
  const odd = { has: "have", is: "are", does: "do" }[verb];
  if (odd) return odd;
  if (/(ss|sh|ch|x|zz)es$/.test(verb)) return verb.slice(0, -2);
  return /[a-z]{2}s$/.test(verb) && !/(ss|us|is)$/.test(verb) ? verb.slice(0, -1) : verb;
}

// A move in words, said to whoever plays it: "ends, picks 6S" is "end, pick 6S".
export function toYou(words) {
  return words.replace(/^[a-z]+|(?<=, (?:and )?)[a-z]+/g, plain).replace(/\b(to|for) (himself|themselves)\b/g, "$1 yourself");
}

export class Words {
  // `own`: the seat that reads, null for nobody's.
  constructor(view) {
    this.pieces = view.pieces ?? [];
    this.names = namesOf(view.seats);
    this.own = view.watches ? null : view.seat;
  }

  name(seat) {
    return seat === this.own ? "You" : this.names[seat];
  }

  // Words of the game in which seats are named as p0, p1.
  text(words) {
    const said = words
      .replace(/\bp(\d)(?='s\b)/g, (_, seat) => (Number(seat) === this.own ? "your" : this.names[seat] ?? `p${seat}`))
      .replace(/\byour's\b/g, "your")
      .replace(/\bp(\d) ([a-z]+)\b/g, (all, seat, verb) => (Number(seat) === this.own ? `p${seat} ${plain(verb)}` : all))
      .replace(SEAT, (all, seat) => (Number(seat) === this.own ? "you" : this.names[seat] ?? all));
    return pretty(said.replace(/(^|[.;:] )you\b/g, "$1You"), this.pieces);
  }

  // A line of the log. `forced`: it was the only move.
  line([seat, words], forced) {
    const colon = /^(no |[^a-z])|^[a-z]*[^s\Wa]\b/.test(words) ? ":" : ""; // "no claim" is no verb, nor is a card
    const said = seat === this.own ? `You${colon} ${this.text(toYou(words))}` : `${this.names[seat]}${colon} ${this.text(words.replace(/\bhimself\b/, "themselves"))}`;
    return forced ? `${said} (the only move)` : said;
  }

  // A button for a move of one's own.
  button(words) {
    const said = this.text(toYou(words));
    return said.charAt(0).toUpperCase() + said.slice(1);
  }

  // Marks and notes on small places: the first letters of names.
  short(mark) {
    return mark.replace(SEAT, (all, seat) => (Number(seat) === this.own ? "you" : this.names[seat]?.slice(0, 2) ?? all));
  }
}
