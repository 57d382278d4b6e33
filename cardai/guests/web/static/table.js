// A table: every view is drawn as a whole. What came between two views is shown in between (story.js).

import { lit, litIn, offered } from "./choosing.js";
import { Connection } from "./connection.js";
import { el, post, refill, root, tableOf } from "./dom.js";
import { fit } from "./fitting.js";
import { isForeign, t, told, wordsOf } from "./language.js";
import { move, placesIn } from "./motion.js";
import { named } from "./pieces.js";
import { partIn, remembered, setting } from "./settings.js";
import { storyOf } from "./story.js";
import { namesOf, Words } from "./words.js";
import { arrowKeys, zoneOf } from "./zones.js";

const MANY = 24; // moves beside which a field to search them is shown
const MOST_SHOWN = 60;
const MOST_NEW = 3; // cards that are named as they come into the own hand
const STAY = 1700; // milliseconds that a trick stays for each second of the agents' pause
const MOST_BEHIND = 6; // views that wait to be shown

export async function showTable(main, table) {
  const invitation = location.hash.slice(1);
  if (!invitation) return void new TablePage(main, table);
  const address = location.href;
  const { place, link, text, company } = await post(`/t/${table}/arrive`, { invitation });
  const show = () => {
    history.replaceState(null, "", location.pathname);
    new TablePage(main, table);
  };
  if (place === "seat" || (place && !link)) { // whoever has a place here keeps it
    show();
    if (text) main.prepend(el("p", { class: "panel own-link", role: "status" }, told(text), " ", el("input", { class: "link", readonly: true, value: address, "aria-label": t("The link to send") })));
  } else if (link) {
    const { joinForm } = await import("./waiting.js");
    main.replaceChildren(joinForm(table, invitation, link, company, show));
  } else main.replaceChildren(el("p", { class: "panel trouble", role: "alert" }, told(text), " ", el("a", { href: `${root}/` }, t("A new table"))));
}

export class TablePage {
  // `connects`: whether the server is asked for views; without, a review gives them.
  constructor(main, table, connects = true) {
    this.table = table;
    this.picked = new Set();
    this.fresh = new Set(); // cards that came into the own hand since the last own move
    this.search = "";
    this.logged = null;
    this.queue = [];
    this.shownPly = null;
    this.forced = new Set(JSON.parse(remembered(`forced-${table}`) || "[]")); // plies of own moves that were the only ones
    this.last = JSON.parse(remembered(`last-${table}`) || "null"); // the cards that were cleared last, after a reload too
    this.parts = Object.fromEntries(["waiting", "others", "middle", "own", "moves", "end", "challenge", "last"].map((name) => [name, el("section", { class: name })]));
    this.status = el("p", { class: "status", role: "status", tabindex: -1 });
    this.error = el("p", { class: "trouble", role: "alert" });
    this.log = el("div", { class: "lines", role: "log", "aria-label": t("What happened"), tabindex: 0 });
    this.note = el("p", { class: "small", hidden: true });
    this.events = el("ul", { class: "events", "aria-hidden": "true" });
    this.typed = this.typedMove();
    this.modules = {};
    this.advice = el("div", { class: "advice" });
    this.rounds = el("div", { class: "rounds" });
    this.back = el("div", { class: "panel looked", hidden: true });
    this.extra = el("div", { class: "extra" }); // of a review
    const { waiting, others, middle, own, moves, end, challenge } = this.parts;
    end.setAttribute("aria-live", "polite");
    others.setAttribute("aria-label", t("Other seats"));
    middle.setAttribute("aria-label", t("The middle of the table"));
    middle.tabIndex = 0;
    own.setAttribute("aria-label", t("Your seat"));
    moves.setAttribute("aria-label", t("Your moves"));
    this.place = el("div", { class: "play" }, others, middle,
      el("div", { class: "near" }, el("div", { class: "column" }, el("div", { class: "news" }, this.events, this.parts.last), el("div", { class: "bar" }, this.status, moves, this.error, this.advice)), own));
    this.board = el("div", { class: "board", hidden: true }, this.place,
      el("section", { class: "panel side", "aria-label": t("Log") }, this.typed, el("h2", {}, t("What happened")), this.note, this.log, this.rounds, this.extra, this.tools()));
    main.replaceChildren(waiting, end, this.back, challenge, this.board);
    arrowKeys(this.board);
    this.board.addEventListener("click", (event) => this.explain(event.target.closest("[data-words]")));
    for (const kind of ["pointerdown", "keydown"]) this.place.addEventListener(kind, () => this.isHeld && this.goOn());
    window.addEventListener("settings", () => this.view && this.draw());
    window.addEventListener("resize", () => this.view && !this.board.hidden && fit(this.place));
    if (connects) this.connection = new Connection(table, (view) => this.take(view), (text, code) => this.lost(text, code));
  }

  lost(text, code) {
    if (text) this.hasPart = false;
    document.getElementById("lost").textContent = code ? "" : told(text);
    if (code) this.parts.waiting.replaceChildren(el("p", { class: "panel trouble", role: "alert" }, told(text), ". ", el("a", { href: `${root}/` }, t("A new table"))));
  }

  // A module that many tables never need. Undefined until it has come (null: in vain), and then everything is drawn again.
  late(name) {
    if (!(name in this.modules)) {
      this.modules[name] = undefined;
      import(`./${name}.js`).catch(() => null).then((module) => { this.modules[name] = module; this.draw(); });
    }
    return this.modules[name];
  }

  take(view) {
    if (view.company) {
      this.company = { ...view.company, at: performance.now() };
      return void (this.view && !this.review && this.draw());
    }
    if (view.advice) return this.learning.take(view, this.view);
    if (this.review) {
      this.afterReview = view;
      if (!view.over) this.review.close();
      return;
    }
    for (const name in this.modules) if (this.modules[name] === null) delete this.modules[name]; // ask again
    this.queue.push(view);
    if (!this.isHeld) this.showNext();
  }

  // Show the views that have come. A trick that the next one clears is held for a while first.
  showNext() {
    while (this.queue.length) {
      if (this.queue.length > MOST_BEHIND) this.queue.splice(0, this.queue.length - 1);
      const view = this.queue[0];
      const story = storyOf(this.view?.pieces ? this.view : null, view);
      const stay = Math.min(STAY * view.pause, STAY);
      if (story.held && aided(view)) {
        this.last = story.held;
        remembered(`last-${this.table}`, JSON.stringify(story.held));
      }
      if (story.held && stay && !document.hidden) return this.hold(view, story, stay);
      this.queue.shift();
      this.show(view, story);
    }
  }

  hold(view, story, stay) {
    this.isHeld = true;
    this.picked.clear();
    const added = new Map(story.held.added);
    const zones = this.view.zones.map((zone) => {
      const onTable = story.held.zones[zone.name];
      if (onTable && (zone.seat ?? null) === null) return { ...zone, pieces: onTable, marks: story.held.marks };
      const fromHand = zone.look === "fan" ? [...added].filter(([piece, seat]) => seat === zone.seat && !zone.pieces.includes(piece)).length : 0;
      return { ...zone, pieces: zone.pieces.filter((piece) => !added.has(piece)), hidden: Math.max(0, (zone.hidden ?? 0) - fromHand) };
    });
    const before = placesIn(this.place);
    this.held = story.held;
    this.view = { ...view, zones, moves: undefined, over: false, end: undefined, turn: -1, choosing: undefined, forced: this.forced };
    this.draw();
    move(this.place, before, story.moved, null);
    const next = () => {
      this.held = null;
      this.isHeld = false;
      this.queue.shift();
      this.show(view, { moved: story.moved, held: story.held });
      this.showNext();
    };
    this.goOn = () => { clearTimeout(timer); next(); };
    const timer = setTimeout(next, stay);
  }

  show(view, story) {
    const isNew = this.shownPly !== plyOf(view);
    this.shownPly = plyOf(view);
    const before = this.board.hidden ? null : placesIn(this.place);
    view.forced = this.forced;
    this.welcome(this.view, view);
    this.view = view;
    if (isNew) {
      this.picked.clear();
      this.search = "";
    }
    this.error.textContent = told(view.error ?? view.trouble ?? "");
    this.takePart();
    this.draw();
    if (before && isNew) move(this.place, before, story.moved, story.held?.to);
    if (isNew && this.isForced(view)) this.playForced(view);
  }

  // Mark the cards that came into the own hand.
  welcome(before, view) {
    const [had, now] = [handIn(before), handIn(view)];
    if (had.length && view.ply > before.ply && !view.over) for (const piece of now) if (!had.includes(piece)) this.fresh.add(piece);
    for (const piece of this.fresh) if (!now.includes(piece)) this.fresh.delete(piece);
  }

  isForced(view) {
    return setting("forced") && view.moves?.length === 1 && !view.more;
  }

  // A move that is the only one needs nobody's tap. It comes after a moment, so that it can be followed.
  playForced(view) {
    const ply = plyOf(view);
    setTimeout(() => {
      if (this.shownPly !== ply || !this.view.moves) return;
      this.forced.add(ply);
      remembered(`forced-${this.table}`, JSON.stringify([...this.forced]));
      this.play(view.moves[0][0], true);
    }, Math.min((repeats(view) ? 200 : 800) * view.pause, 800));
  }

  // Before the deal this browser keeps the fingerprint and adds its own number to it.
  takePart() {
    const { pieces, watches, commitment } = this.view;
    const key = `fair-${this.table}`;
    if (this.view.challenge && !remembered(key)) remembered(key, JSON.stringify({ commitment }));
    if (pieces || watches || this.hasPart) return;
    this.hasPart = true;
    this.connection.send({ nonce: partIn(this.table, commitment) });
  }

  draw() {
    const view = this.view;
    const isDealt = view.pieces !== undefined;
    if (!this.terms) this.learnWords(view.game);
    const { title } = view;
    document.getElementById("title").textContent = title;
    document.title = isDealt && !view.over && mayMove(view, view.seat) && !view.watches ? t("Your turn – {title}", { title }) : title;
    this.board.hidden = !isDealt;
    const isWaiting = !isDealt && (view.seats.some((who) => who.kind === "empty") || view.seats.filter((who) => who.kind !== "agent").length > 1);
    refill(this.parts.waiting, isWaiting ? this.late("waiting")?.waitingRoom(view, (text) => this.complain(text), this.company?.here ?? []) : null);
    if (isDealt) {
      if (!this.review) keepGame(view);
      this.late("rules")?.offerRules(view.game);
      this.drawGame(view);
    }
  }

  // Another game with the same people and agents: whoever comes first sets it up, the others sit down there.
  again() {
    if (this.view.challenge || this.view.watches) return null;
    if (this.view.aids) return el("a", { class: "button primary", "data-key": "again", href: `${root}/study` }, t("Go on with the study"));
    const play = () => post(`/t/${this.table}/rematch`, {}).then(({ table }) => location.assign(`${root}/t/${table}`)).catch((error) => this.complain(error.message));
    return el("button", { type: "button", class: "primary", "data-key": "again", onclick: play }, this.view.rematch ? t("Join the next game") : t("Play again"));
  }

  // The words of the game come once.
  learnWords(game) {
    this.terms = {};
    wordsOf(game).then(({ terms, say }) => {
      [this.terms, this.say] = [terms, say];
      this.note.hidden = Boolean(say) || !isForeign();
      this.note.textContent = t("The words of this game are in English.");
      this.logged = null;
      this.log.replaceChildren();
      this.draw();
    });
  }

  complain(text) {
    this.error.textContent = told(text);
    this.parts.waiting.append(el("p", { class: "trouble", role: "alert" }, told(text)));
  }

  drawGame(view) {
    const moves = view.moves ?? [];
    const choice = { lit: lit(moves, this.picked, seriesOf(view)), picked: this.picked, toggle: (piece) => this.toggle(piece) };
    this.words = new Words(view, this.say);
    const count = view.seats.length;
    const pairs = pairsIn(view);
    const laid = new Set(pairs.values());
    const shown = { pairs, seat: view.seat, seats: count };
    const choiceIn = (zone) => ({ ...choice, lit: new Set(litIn(zone, view.zones, view.seat, [...choice.lit])) });
    const draw = (zone) => zoneOf(laid.size && (zone.seat ?? null) === null ? { ...zone, pieces: zone.pieces.filter((piece) => !laid.has(piece)) } : zone, view.pieces, choiceIn(zone), this.words, shown);
    const zonesOf = (seat) => (view.zones ?? []).filter((zone) => (zone.seat ?? null) === seat).map(draw);
    const others = Array.from({ length: count - 1 }, (_, step) => (view.seat + step + 1) % count);
    const side = SIDE[others.length] ?? 2; // how many sit left and right of a wide table, the others opposite
    const sides = { left: others.slice(0, side), over: others.slice(side, others.length - side), right: others.slice(others.length - side) };
    refill(this.parts.others, ...Object.entries(sides).map(([name, seats]) => el("div", { class: name }, ...seats.map((seat) => this.seatPanel(seat, zonesOf(seat))))));
    refill(this.parts.middle, ...(view.zones ? zonesOf(null) : [el("pre", { class: "text", tabindex: 0 }, this.words.text(view.text))]), this.took(), this.peek(choice, shown), this.help());
    refill(this.parts.last, this.picked.size ? this.putBack() : this.lastButton(), this.helpButton());
    refill(this.parts.own, this.seatPanel(view.seat, zonesOf(view.seat)));
    this.markWinner();
    for (const piece of this.fresh) this.parts.own.querySelector(`.fan [data-piece="${piece}"]`)?.classList.add("fresh");
    this.status.textContent = this.review ? this.review.status() : this.whatNow();
    if (this.review) this.review.draw();
    else this.drawMoves(moves, choice);
    this.drawLog(view.log);
    refill(this.rounds, view.rounds?.rows.length && !view.over ? this.byRound(view) : null);
    if (document.activeElement !== this.pause) this.pause.value = view.pause;
    const send = (message) => this.connection.send(message);
    if (view.study && !view.watches) {
      const learning = this.late("learning");
      if (learning) this.learning ??= new learning.Learning(send, this.advice, this);
    }
    const isComplete = !view.fair || this.late("fair") !== undefined; // the end is read out once
    const isEnd = view.over && !this.review;
    refill(this.parts.end, isEnd && isComplete ? this.ending(view) : null);
    this.back.hidden = !isEnd || !view.fair || (view.aids && !view.aids.includes("review"));
    refill(this.back, this.back.hidden ? null : this.lookAgain());
    refill(this.parts.challenge, view.challenge && !this.review ? this.late("challenge")?.challengePanel(view, send) : null);
    if (!this.review) this.learning?.draw(view);
    const company = this.review ? null : this.late("company");
    if (company) (this.around ??= new company.Company(this)).draw(view);
    this.board.classList.toggle("over", isEnd);
    this.board.classList.toggle("held", Boolean(this.held));
    if (!this.held) this.board.dataset.ply = view.ply;
    this.board.toggleAttribute("data-waits", moves.length > 0 && !this.isForced(view)); // for somebody's tap
    fit(this.place);
  }

  // A finished game may be looked at position by position.
  lookAgain() {
    const open = () => import("./review.js").then((review) => {
      this.afterReview = this.view;
      return review.open(this);
    }).then(() => this.status.focus()).catch((error) => this.complain(error.message));
    return el("p", {}, el("button", { type: "button", "data-key": "review", onclick: open }, t("Look at the game again")));
  }

  leaveReview() {
    this.review = null;
    this.extra.replaceChildren();
    this.advice.replaceChildren();
    this.logged = null;
    this.log.replaceChildren();
    this.shownPly = null;
    this.show(this.afterReview, { moved: new Map(), held: null });
  }

  // Who gets what lies on the table, while it stays.
  took() {
    const to = this.held?.to;
    if (!to || to.seat === null) return null;
    const fields = { name: this.words.name(to.seat), count: this.held.gone.length };
    return el("p", { class: "held-note", "aria-hidden": "true" }, to.seat === this.words.own ? t("You take {count} cards", fields) : t("{name} takes {count} cards", fields));
  }

  markWinner() {
    const seat = this.held?.to?.seat ?? null;
    if (seat === null) return;
    const [winning] = Object.entries(this.held.marks).find(([, mark]) => mark === `p${seat}`) ?? [];
    this.parts.middle.querySelector(`[data-piece="${winning}"]`)?.classList.add("winner");
    this.place.querySelector(`[data-seat="${seat}"]`)?.classList.add("takes");
  }

  lastButton() {
    if (!this.last || this.held || this.view.over || !aided(this.view)) return null;
    return this.shower("last", t("Last cards"));
  }

  putBack() {
    const clear = () => { this.picked.clear(); this.draw(); };
    return el("button", { type: "button", "data-key": "clear", onclick: clear }, t("Put back"));
  }

  // A button that lays something over the middle of the table, and takes it away.
  shower(what, name) {
    const toggle = () => {
      this.tapped = null;
      this.shows = this.shows === what ? null : what;
      this.draw();
    };
    return el("button", { type: "button", "data-key": what, "aria-expanded": String(this.shows === what), onclick: toggle }, this.shows === what ? t("Back") : name);
  }

  // A tap on it takes it away too.
  closePeek() {
    this.shows = this.tapped = null;
    this.draw();
  }

  helpButton() {
    return this.held || this.view.over || this.review || !this.explained().length ? null : this.shower("help", t("Help"));
  }

  // The words of the game that are on the screen now, with a sentence each: those of one's moves, then others.
  explained() {
    const { view } = this;
    const zones = (view.zones ?? []).filter((zone) => zone.pieces.length || zone.hidden || zone.note);
    const seen = [...zones.flatMap((zone) => [zone.name, zone.note ?? "", ...Object.values(zone.marks ?? {})]), view.teams ? "partner" : ""];
    const others = this.meanings(seen.join("; "), (view.moves ?? []).map(([words]) => words));
    return [...this.meanings(view.title, []), ...others.filter(([heading]) => heading !== view.title)]; // what one plays for comes first
  }

  // Headings and sentences of the words in some words of the game, after those with which moves begin.
  meanings(words, moves = [words]) {
    const { terms } = this;
    const all = Object.keys(terms);
    const beginning = (move) => all.filter((term) => move.startsWith(term) && !/^[a-z]/i.test(move.slice(term.length))).sort((one, other) => other.length - one.length)[0];
    const begun = new Set(moves.map(beginning).filter(Boolean));
    const text = ` ${words.toLowerCase()} `.replace(/[^a-z-]+/g, " ");
    const entry = (heading) => (term) => [terms[term][0] || this.words[heading](term), terms[term][1]];
    const others = all.filter((term) => !begun.has(term) && text.includes(` ${term.toLowerCase()} `));
    return [...all.filter((term) => begun.has(term)).map(entry("button")), ...others.map(entry("heading"))];
  }

  help() {
    if (this.shows !== "help" || this.held) return null;
    return el("div", { class: "peek help", tabindex: 0, role: "region", "aria-label": t("Help"), onclick: () => this.closePeek() },
      el("dl", {}, ...(this.tapped ?? this.explained()).flatMap(([term, sentence]) => [el("dt", {}, term), el("dd", {}, sentence)])),
      el("p", {}, t("A tap on a word at the table, or on a line of the log, explains it alone.")));
  }

  // What was tapped on: below a line of the log, or over the middle of the table.
  explain(place) {
    const found = place && this.meanings(place.dataset.words);
    if (!found?.length) return;
    if (place.closest(".lines")) {
      if (place.children.length) place.lastChild.remove();
      else place.append(el("span", { class: "meaning" }, found.map(([term, sentence]) => `${term}: ${sentence}`).join(" ")));
      return;
    }
    this.tapped = found;
    this.shows = "help";
    this.draw();
  }

  // A match by its rounds.
  byRound({ rounds }) {
    const heads = ["", ...this.view.seats.map((_, seat) => this.words.name(seat))];
    const rows = rounds.rows.map(([round, ...points]) => [round === "before" ? t("before") : round, ...points.map(String)]);
    return el("div", {}, el("h2", {}, t("Points by round")), tableOf(t("Points by round"), heads, [...rows, [t("in all"), ...rounds.total.map(String)]]));
  }

  // The cards that were cleared last, on tap.
  peek(choice, { seat, seats }) {
    if (this.shows !== "last" || !this.last || this.held) return null;
    const { zones, marks, to } = this.last;
    const draw = ([name, pieces]) => zoneOf({ name, pieces, marks }, this.view.pieces, { ...choice, lit: new Set() }, this.words, { seat, seats });
    return el("div", { class: "peek", onclick: () => this.closePeek() }, ...Object.entries(zones).filter(([, pieces]) => pieces.length).map(draw),
      to && to.seat !== null ? el("p", {}, to.seat === this.words.own ? t("You took them.") : t("{name} took them.", { name: this.words.name(to.seat) })) : null);
  }

  seatPanel(seat, zones) {
    const who = this.view.seats[seat];
    const isTurn = mayMove(this.view, seat);
    const isPartner = this.view.teams && seat !== this.view.seat && (seat - this.view.seat) % this.view.teams === 0;
    const badges = [isTurn ? (seat === this.words.own ? t("your turn") : t("to move")) : "", this.view.chosen?.includes(seat) ? t("has chosen") : "", isPartner ? t("partner") : "", who.peeks ? t("peeks") : ""].filter(Boolean);
    const name = this.words.name(seat);
    const isOwn = seat === this.view.seat;
    const duty = isOwn && this.view.zones?.find((zone) => zone.seat === seat && zone.look === "fan")?.note;
    return el("article", { class: `seat${isTurn ? " turn" : ""}`, "aria-label": name, "data-seat": seat },
      el("h2", { title: who.kind === "agent" ? who.name : name }, el("span", { class: "who" }, name), ...badges.map((text) => el("span", { class: "badge" }, text))),
      duty ? el("p", { class: "duty", "data-words": duty }, this.words.text(duty)) : null,
      who.kind === "agent" && !isOwn ? el("p", { class: "kind" }, shortName(who)) : null, ...zones);
  }

  whatNow() {
    const view = this.view;
    if (this.held) return "";
    if (view.over) return t("The game is over.");
    if (!mayMove(view, view.seat) || view.watches) {
      const names = (view.choosing ?? [view.turn]).map((seat) => this.words.names[seat]);
      const own = view.chosen?.includes(view.seat) && !view.watches ? `${t("You have chosen.")} ` : "";
      return own + (names.length > 1 ? t("{names} are to move.", { names: names.join(", ") }) : t("{name} is to move.", { name: names[0] }));
    }
    if (this.isForced(view)) return t("Your only move: {move}.", { move: this.words.text(view.moves[0][0], 2) });
    if (!view.zones || !view.moves?.some(([, pieces]) => pieces.length)) return t("Your turn.");
    const kinds = this.meanings("", view.moves.map(([words]) => words)).map(([heading]) => heading.charAt(0).toLowerCase() + heading.slice(1));
    const picked = [...this.picked].map((piece) => this.words.text(view.pieces[piece])).join(" ");
    const count = seriesOf(view);
    if (count > 1) return picked ? t("Your turn. {picked} of {count} chosen: {cards}", { picked: this.picked.size, count, cards: picked }) : t("Your turn: {kinds}. Tap {count} cards; they go together.", { kinds: kinds.join(", ") || this.words.text(view.moves[0][0], 2).split(" ")[0], count });
    if (picked) {
      const isWhole = offered(view.moves, this.picked).some(([, pieces]) => pieces.length);
      return isWhole ? t("Your turn. Chosen: {cards}", { cards: picked }) : t("Your turn. Chosen: {cards}. Tap a shining card that goes with it.", { cards: picked });
    }
    return this.newCards() + (kinds.length ? t("Your turn: {kinds}. Tap shining cards.", { kinds: kinds.join(", ") }) : t("Your turn. Tap what shines."));
  }

  // What came into the own hand since the last own move.
  newCards() {
    if (!this.fresh.size || this.fresh.size > MOST_NEW) return "";
    return `${t("New: {cards}.", { cards: [...this.fresh].map((piece) => this.words.text(this.view.pieces[piece])).join(" ") })} `;
  }

  toggle(piece) {
    if (!this.picked.delete(piece)) this.picked.add(piece);
    const moves = this.view.moves ?? [];
    const exact = offered(moves, this.picked).filter(([, pieces]) => pieces.length);
    const goesOn = [...lit(moves, this.picked)].some((other) => !this.picked.has(other));
    if (setting("tap") && seriesOf(this.view) < 2 && exact.length === 1 && !goesOn) this.play(exact[0][0]);
    else this.draw();
  }

  play(words, isForced) {
    this.error.textContent = "";
    if (!isForced) this.fresh.clear();
    this.connection.send({ ply: plyOf(this.view), move: words });
    this.status.focus({ preventScroll: true });
  }

  drawMoves(moves, choice) {
    const canPick = choice.lit.size > 0;
    const series = seriesOf(this.view);
    const shown = series > 1 ? [] : canPick ? [...offered(moves, this.picked), ...this.rare(moves)] : moves.filter(([words]) => this.words.button(words).toLowerCase().includes(this.search));
    const buttons = shown.slice(0, MOST_SHOWN).map(([words, pieces]) =>
      el("button", { type: "button", class: pieces.length && this.picked.size ? "primary" : "", "data-key": `move-${words}`, onclick: () => this.play(words) },
        this.words.button(words)));
    if (series > 1 && this.picked.size === series) {
      const chosen = moves.filter(([, [piece]]) => this.picked.has(piece));
      const [[words, [first]]] = chosen;
      const names = chosen.map(([, [piece]]) => this.view.pieces[piece]).join(" ");
      buttons.push(el("button", { type: "button", class: "primary", "data-key": "move-together", onclick: () => this.play(chosen.map(([one]) => one)) }, this.words.button(words.replace(this.view.pieces[first], names))));
    }
    const left = shown.length - MOST_SHOWN;
    refill(this.parts.moves, !canPick && moves.length > MANY ? this.searchField() : null, ...buttons,
      left > 0 ? el("span", { class: "small" }, t("and {count} more", { count: left })) : null,
      this.view.more ? el("span", { class: "small" }, t("There are more moves than are offered; type them.")) : null);
    this.typed.hidden = !moves.length;
  }

  // Moves without a card of the own hand that are nearly the only ones of their kind, such as ending a bout, need no taps on cards.
  rare(moves) {
    if (this.picked.size || this.view.more) return [];
    const kindOf = ([words]) => this.meanings("", [words])[0]?.[0] ?? words.split(/[ ,]/)[0];
    const own = handIn(this.view);
    const kinds = Map.groupBy?.(moves, kindOf) ?? new Map();
    return [...kinds.values()].filter((all) => all.length < 3).flat().filter(([, pieces]) => pieces.length && pieces.length < 7 && !pieces.some((piece) => own.includes(piece)));
  }

  searchField() {
    const input = el("input", { type: "search", "aria-label": t("Search moves"), placeholder: t("Search moves"), "data-key": "search", value: this.search });
    input.addEventListener("input", () => {
      this.search = input.value.toLowerCase();
      this.draw();
      const again = this.parts.moves.querySelector("input");
      again?.setSelectionRange(again.value.length, again.value.length);
    });
    return input;
  }

  typedMove() {
    const input = el("input", { id: "typed", autocomplete: "off", maxlength: 2000 });
    const send = (event) => {
      event.preventDefault();
      if (input.value.trim()) this.play(input.value.trim());
      input.value = "";
    };
    return el("details", { class: "typed", hidden: true }, el("summary", {}, t("Type a move")),
      el("form", { onsubmit: send }, el("label", { for: "typed" }, t("Your move in the game's own words"), input), el("button", {}, t("Play"))));
  }

  // Lines that say the same of one seat after the other are one line: "Bruno, Clara: no claim".
  drawLog(lines) {
    const total = this.view.ply;
    if (total < this.logged || !aided(this.view)) { // without aids earlier lines go
      this.log.replaceChildren();
      this.logged = null;
    }
    if (this.logged === null) this.groups = [];
    const fresh = this.logged === null ? lines.length : Math.min(total - this.logged, lines.length);
    for (const [at, [seat, words, ledTo]] of [...lines.entries()].slice(lines.length - fresh)) {
      const isForced = seat === this.words.own && this.forced.has(total - lines.length + at);
      const last = this.groups.at(-1);
      if (last?.words === words && !last.ledTo && !ledTo && !named(words, this.view.pieces).length) {
        last.seats.add(seat);
        last.isForced = false; // it is not said of the others
      } else this.groups.push({ seats: new Set([seat]), words, ledTo, isForced, element: this.log.appendChild(el("p")) });
      const group = this.groups.at(-1);
      group.element.textContent = this.words.line([...group.seats], words, ledTo, group.isForced);
      group.element.dataset.words = `${words}; ${ledTo ?? ""}`;
    }
    while (this.groups.length > lines.length) this.groups.shift().element.remove();
    this.events.replaceChildren(...this.groups.slice(-2).map(({ element }) => el("li", {}, element.firstChild.textContent)));
    if (fresh > 0) this.log.scrollTop = this.log.scrollHeight;
    this.logged = total;
  }

  tools() {
    const pause = el("input", { id: "pause", type: "range", min: 0, max: 2, step: 0.2 });
    pause.addEventListener("change", () => this.connection.send({ pause: Number(pause.value) }));
    this.pause = pause;
    const link = el("input", { class: "link", readonly: true, hidden: true, "aria-label": t("Link") });
    const share = (wish) => async () => {
      try {
        const { invitation } = await post(`/t/${this.table}/invite`, { [wish]: true });
        link.value = `${location.origin}${root}/t/${this.table}#${invitation}`;
        link.hidden = false;
        link.select();
      } catch (error) {
        this.complain(error.message);
      }
    };
    return el("details", { class: "tools" }, el("summary", {}, t("At this table")),
      el("label", { for: "pause" }, t("Pause before an agent's move"), pause),
      el("button", { type: "button", onclick: share("watch") }, t("Let somebody watch my cards")),
      el("button", { type: "button", onclick: share("device") }, t("Play on another device")), link);
  }

  ending(view) {
    const rows = view.end.rows.map((row, seat) => [this.words.name(seat), ...row]);
    const kept = remembered(`fair-${this.table}`);
    const before = kept ? JSON.parse(kept) : { commitment: view.commitment };
    return el("div", { class: "panel result" },
      el("h2", {}, t("The game is over")), el("p", { class: "sentence" }, this.words.sentence(view.end.text)),
      tableOf(t("Scores"), [t("seat"), ...view.end.heads.map((head) => this.words.text(head))], rows),
      view.rounds ? this.byRound(view) : null,
      view.fair ? el("p", { class: "small" }, this.late("fair")?.judge(before, view.fair)) : null,
      el("p", { class: "buttons" }, this.again(), this.view.aids ? null : el("a", { class: "button", href: `${root}/` }, t("All games")),
        view.study && !view.watches ? this.learning?.undo(view) : null,
        view.fair && !view.aids ? el("a", { class: "button", href: `${root}/t/${this.table}/record`, download: true }, t("Save the game")) : null));
  }
}

// The front page lists the tables at which this browser sits.
function keepGame(view) {
  const kept = JSON.parse(remembered("games") || "[]");
  if (view.watches || kept.some((one) => one.table === view.table && one.over === view.over)) return;
  const who = namesOf(view.seats).filter((_, seat) => seat !== view.seat);
  const own = { table: view.table, title: view.title, over: view.over, who: who.join(", ") };
  remembered("games", JSON.stringify([own, ...kept.filter((one) => one.table !== view.table)].slice(0, 8)));
}

// Cards that were laid on others: "beats 6S with 9S", as far as both lie on the table.
function pairsIn(view) {
  const places = new Map((view.zones ?? []).filter((zone) => (zone.seat ?? null) === null && (zone.look ?? "row") === "row").flatMap((zone) => zone.pieces.map((piece) => [piece, zone.name])));
  const pairs = new Map();
  for (const [, words] of view.log) {
    const [under, over] = words.split(" with ").map((part) => named(part, view.pieces));
    if (under.length === 1 && over?.length === 1 && places.has(over[0]) && places.has(under[0])) pairs.set(under[0], over[0]);
  }
  return pairs;
}

// How many moves are chosen together, 1 if each is a choice of its own. Each of them takes one piece.
function seriesOf(view) {
  return view.series > 1 && view.moves?.every(([, pieces]) => pieces.length === 1) ? view.series : 1;
}

// Whether the only move says what the last one said, such as "no claim".
const repeats = ({ log, moves }) => log.length > 0 && !moves[0][1].length && log.at(-1)[1] === moves[0][0];
const handIn = (view) => view?.zones?.find((zone) => zone.seat === view.seat && zone.look === "fan")?.pieces ?? [];
const SIDE = [0, 0, 0, 1, 1, 1, 2, 2];
const aided = (view) => !view.aids || view.aids.includes("known_cards"); // whether the page remembers for whoever plays
const plyOf = (view) => view.choice ?? view.ply; // of the own move, where several seats choose at the same time
const mayMove = (view, seat) => (view.choosing ? view.choosing.includes(seat) : view.turn === seat);
const shortName = (who) => (who.kind === "agent" ? who.name.replace(/\?[^()]*/g, "") : who.name); // without options
