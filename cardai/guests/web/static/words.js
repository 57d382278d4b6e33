// Names for seats, and the second person for whoever reads: "p1 kills" is "Ben kills", or "You kill" to Ben.

import { fill, isForeign, t } from "./language.js";
import { pretty } from "./pieces.js";

const NAMES = ["Ada", "Bruno", "Clara", "David", "Emma", "Felix", "Greta", "Hugo"]; // of agents, by their seat
const SEAT = /\bp(\d)\b/g;

// The name of each seat at this table, no two alike.
export function namesOf(seats) {
  const people = new Set(seats.filter((who) => who.kind !== "agent").map((who) => who.name));
  const taken = new Set();
  return seats.map((who, seat) => {
    let name = who.kind === "agent" ? (people.has(NAMES[seat]) ? t("{name} (agent)", { name: NAMES[seat] }) : NAMES[seat]) : who.name || t("Seat {number}", { number: seat + 1 });
    while (taken.has(name)) name += ` ${seat + 1}`;
    taken.add(name);
    return name;
  });
}

// "kills" is "kill", "passes" is "pass", "has" is "have". Other words stay as they are.
export function plain(verb) {
  const odd = { has: "have", is: "are", does: "do" }[verb];
  if (odd) return odd;
  if (/[a-z]{2}ies$/.test(verb)) return `${verb.slice(0, -3)}y`;
  if (/(ss|sh|ch|x|zz)es$/.test(verb)) return verb.slice(0, -2);
  return /[a-z]{2}s$/.test(verb) && !/(ss|us|is)$/.test(verb) ? verb.slice(0, -1) : verb;
}

// A move in words, said to whoever plays it: "ends, picks 6S" is "end, pick 6S".
export function toYou(words) {
  return words.replace(/^[a-z]+|(?<=, (?:and )?)[a-z]+/g, plain).replace(/\b(to|for) (himself|themselves)\b/g, "$1 yourself");
}

const [OTHERS, OWN, ORDER] = [0, 1, 2]; // to whom a move is told

export class Words {
  // `say`: what says the game's words in the page's language, undefined for English; see `sayer`.
  constructor(view, say) {
    this.say = say;
    this.t = say || !isForeign() ? t : fill; // words of the page among those of the game
    this.pieces = view.pieces ?? [];
    this.teams = view.teams ?? 0;
    this.names = namesOf(view.seats);
    this.own = view.watches ? null : view.seat;
  }

  name(seat) {
    return seat === this.own ? t("You") : this.names[seat];
  }

  // A team of one of its seats.
  team(seat) {
    if (this.own === null || this.teams !== 2) return this.t("{name}'s team", { name: this.names[seat] });
    return (seat - this.own) % 2 ? this.t("the other team") : this.t("your team");
  }

  // Words of the game in which seats are named as p0, p1.
  text(words, form = OTHERS) {
    const isOwn = (seat) => Number(seat) === this.own;
    const name = (all, seat) => (isOwn(seat) ? this.t("you") : this.names[seat] ?? all);
    if (this.say) return pretty(this.say(words, form, this.own).replace(SEAT, name), this.pieces);
    const addressed = words
      .replace(/\b(you are )p(\d)\b/gi, (all, said, seat) => said + (this.names[seat] ?? `p${seat}`))
      .replace(/\bp(\d)'s team\b/g, (_, seat) => this.team(Number(seat)))
      .replace(/\bp(\d)'s\b/g, (all, seat) => (isOwn(seat) ? "your" : all))
      .replace(/\bp(\d) ([a-z]+)\b(?:([^.;:,]* and )(wins|loses|is|has)\b)?/g, (all, seat, verb, and = "", end = "") => (isOwn(seat) ? `you ${plain(verb)}${and}${plain(end)}` : all))
      .replace(SEAT, (all, seat) => (isOwn(seat) ? "you" : all));
    const told = form === OTHERS ? addressed.replace(/\bhimself\b/, "themselves") : toYou(addressed);
    return pretty(told.replace(SEAT, name), this.pieces);
  }

  // The same at the beginning of a sentence.
  sentence(words) {
    return capital(this.text(words).replace(/([.;:] )you(r?)\b/g, "$1You$2"));
  }

  // A line of the log, of one seat or several that did the same. `forced`: it was the only move.
  line(seats, words, ledTo, forced) {
    const isVerb = !/^(no |[^a-z])|^[a-z]*[^s\Wa]\b/.test(words); // "no claim" is no verb, nor is a card
    const who = seats.map((seat, at) => (seat === this.own ? (at ? this.t("you") : this.t("You")) : this.names[seat]));
    const subject = who.length > 1 ? t("{names} and {last}", { names: who.slice(0, -1).join(", "), last: who.at(-1) }) : who[0];
    const isOwn = seats.length === 1 ? seats[0] === this.own : isVerb && !this.say; // "Ada and Ben pass" as "you pass"
    const colon = this.say ? seats.length > 1 : !isVerb;
    const said = `${subject}${colon ? ":" : ""} ${this.text(words, isOwn ? OWN : OTHERS)}`;
    return said + (ledTo ? `: ${this.text(ledTo)}` : "") + (forced ? ` (${t("the only move")})` : "");
  }

  // A button for a move of one's own.
  button(words) {
    return capital(this.text(words, ORDER));
  }

  // A word of the game by itself.
  heading(words) {
    return capital(this.text(words));
  }

  // Marks and notes on small places: the first letters of names.
  short(mark) {
    return (this.say?.(mark) ?? mark).replace(SEAT, (all, seat) => (Number(seat) === this.own ? this.t("you") : this.names[seat]?.slice(0, 2) ?? all));
  }
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
