// A table: every view is drawn as a whole.

import { lit, offered } from "./choosing.js";
import { Connection } from "./connection.js";
import { el, post, refill } from "./dom.js";
import { pretty } from "./pieces.js";
import { remembered, setting } from "./settings.js";
import { arrowKeys, zoneOf } from "./zones.js";

const MANY = 24; // moves beside which a field to search them is shown
const MOST_SHOWN = 60;

export async function showTable(main, table) {
  const invitation = location.hash.slice(1);
  if (!invitation) return void new TablePage(main, table);
  const address = location.href;
  const { place, link, text } = await post(`/t/${table}/arrive`, { invitation });
  const show = () => {
    history.replaceState(null, "", location.pathname);
    new TablePage(main, table);
  };
  if (place === "seat" || (place && !link)) { // whoever has a place here keeps it
    show();
    if (text) main.prepend(el("p", { class: "panel own-link", role: "status" }, text, " ", el("input", { class: "link", readonly: true, value: address, "aria-label": "The link to send" })));
  } else if (link) {
    const { joinForm } = await import("./waiting.js");
    main.replaceChildren(joinForm(table, invitation, link === "watch", show));
  } else main.replaceChildren(el("p", { class: "panel trouble", role: "alert" }, text, " ", el("a", { href: "/" }, "A new table")));
}

class TablePage {
  constructor(main, table) {
    this.table = table;
    this.picked = new Set();
    this.search = "";
    this.logged = null;
    this.parts = Object.fromEntries(["waiting", "others", "middle", "own", "moves", "end", "challenge"].map((name) => [name, el("section", { class: name })]));
    this.status = el("p", { class: "status", role: "status", tabindex: -1 });
    this.error = el("p", { class: "trouble", role: "alert" });
    this.log = el("div", { class: "lines", role: "log", "aria-label": "What happened", tabindex: 0 });
    this.typed = this.typedMove();
    this.modules = {};
    this.advice = el("div", { class: "advice" });
    this.back = el("div", { class: "panel looked", hidden: true });
    const { waiting, others, middle, own, moves, end, challenge } = this.parts;
    end.setAttribute("aria-live", "polite");
    others.setAttribute("aria-label", "Other seats");
    own.setAttribute("aria-label", "Your seat");
    moves.setAttribute("aria-label", "Your moves");
    this.board = el("div", { class: "board", hidden: true },
      el("div", { class: "felt" }, others, middle),
      el("div", { class: "hand" }, own, el("div", { class: "bar" }, this.status, this.error, moves, this.advice, this.typed)),
      el("section", { class: "panel side", "aria-label": "Log" }, el("h2", {}, "What happened"), this.log, this.tools()));
    main.replaceChildren(waiting, end, this.back, challenge, this.board);
    arrowKeys(this.board);
    window.addEventListener("settings", () => this.view && this.draw());
    this.connection = new Connection(table, (view) => this.take(view), (text, code) => this.lost(text, code));
  }

  lost(text, code) {
    if (text) this.hasPart = false;
    document.getElementById("lost").textContent = code ? "" : text;
    if (code) this.parts.waiting.replaceChildren(el("p", { class: "panel trouble", role: "alert" }, text, ". ", el("a", { href: "/" }, "A new table")));
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
    if (view.advice || view.review) return this.learning.take(view, this.view);
    for (const name in this.modules) if (this.modules[name] === null) delete this.modules[name]; // ask again
    const isNew = !this.view || plyOf(this.view) !== plyOf(view);
    this.view = view;
    if (isNew) {
      this.picked.clear();
      this.search = "";
    }
    this.error.textContent = view.error ?? view.trouble ?? "";
    this.takePart();
    this.draw();
    if (isNew && setting("forced") && view.moves?.length === 1 && !view.more) this.play(view.moves[0][0]);
  }

  // Before the deal this browser keeps the fingerprint and adds its own number to it.
  takePart() {
    const { pieces, watches, commitment } = this.view;
    const key = `fair-${this.table}`;
    if (this.view.challenge && !remembered(key)) remembered(key, JSON.stringify({ commitment }));
    if (pieces || watches || this.hasPart) return;
    const kept = remembered(key) || remembered(key, JSON.stringify({ commitment, nonce: newNonce() }));
    this.hasPart = true;
    this.connection.send({ nonce: JSON.parse(kept).nonce });
  }

  draw() {
    const view = this.view;
    const isDealt = view.pieces !== undefined;
    document.getElementById("title").textContent = view.title;
    const turn = isDealt && !view.over ? (mayMove(view, view.seat) && !view.watches ? "Your turn – " : "") : "";
    document.title = `${turn}${view.title}`;
    this.board.hidden = !isDealt;
    const isWaiting = !isDealt && (view.seats.some((who) => who.kind === "empty") || view.seats.filter((who) => who.kind !== "agent").length > 1);
    refill(this.parts.waiting, isWaiting ? this.late("waiting")?.waitingRoom(view, (text) => this.complain(text)) : null);
    if (isDealt) this.drawGame(view);
  }

  complain(text) {
    this.error.textContent = text;
    this.parts.waiting.append(el("p", { class: "trouble", role: "alert" }, text));
  }

  drawGame(view) {
    const moves = view.moves ?? [];
    const choice = { lit: lit(moves, this.picked), picked: this.picked, toggle: (piece) => this.toggle(piece) };
    const draw = (zone) => zoneOf(zone, view.pieces, choice);
    const count = view.seats.length;
    const order = Array.from({ length: count - 1 }, (_, step) => (view.seat + step + 1) % count);
    const zonesOf = (seat) => (view.zones ?? []).filter((zone) => (zone.seat ?? null) === seat).map(draw);
    refill(this.parts.others, ...order.map((seat) => this.seatPanel(seat, zonesOf(seat))));
    refill(this.parts.middle, ...(view.zones ? zonesOf(null) : [el("pre", { class: "text", tabindex: 0 }, view.text)]));
    refill(this.parts.own, this.seatPanel(view.seat, zonesOf(view.seat)));
    this.status.textContent = this.whatNow();
    this.drawMoves(moves, choice);
    this.drawLog(view.log);
    if (document.activeElement !== this.pause) this.pause.value = view.pause;
    const send = (message) => this.connection.send(message);
    if ((view.study || view.over) && !view.watches) {
      const learning = this.late("learning");
      if (learning) this.learning ??= new learning.Learning(this.table, send, this.advice, this.back);
    }
    const isComplete = !view.fair || this.late("fair") !== undefined; // the end is read out once
    refill(this.parts.end, view.over && isComplete ? this.ending(view) : null);
    refill(this.parts.challenge, view.challenge ? this.late("challenge")?.challengePanel(view, send) : null);
    this.learning?.draw(view);
    this.board.classList.toggle("over", view.over);
    this.board.dataset.ply = view.ply;
  }

  seatPanel(seat, zones) {
    const who = this.view.seats[seat];
    const isTurn = mayMove(this.view, seat);
    const badges = [isTurn ? "to move" : "", this.view.chosen?.includes(seat) ? "has chosen" : "", who.peeks ? "peeks" : "", who.kind === "you" ? "you" : ""].filter(Boolean);
    return el("article", { class: `seat${isTurn ? " turn" : ""}`, "aria-label": `p${seat} ${who.name}` },
      el("h2", { title: who.name }, `p${seat} ${shortName(who)}`, ...badges.map((text) => el("span", { class: "badge" }, text))), ...zones);
  }

  whatNow() {
    const view = this.view;
    if (view.over) return "The game is over.";
    if (!mayMove(view, view.seat) || view.watches) {
      const names = (view.choosing ?? [view.turn]).map((seat) => `p${seat} ${shortName(view.seats[seat])}`);
      const own = view.chosen?.includes(view.seat) && !view.watches ? "You have chosen. " : "";
      return `${own}${names.join(", ")} ${names.length > 1 ? "are" : "is"} to move.`;
    }
    if (!view.zones || !view.moves.some(([, pieces]) => pieces.length)) return "Your turn.";
    const names = [...this.picked].map((piece) => pretty(view.pieces[piece], view.pieces)).join(" ");
    return names ? `Your turn. Picked: ${names}` : "Your turn. Pick what you play, or choose a move.";
  }

  toggle(piece) {
    if (!this.picked.delete(piece)) this.picked.add(piece);
    const moves = this.view.moves ?? [];
    const exact = offered(moves, this.picked).filter(([, pieces]) => pieces.length);
    const goesOn = [...lit(moves, this.picked)].some((other) => !this.picked.has(other));
    if (setting("tap") && exact.length === 1 && !goesOn) this.play(exact[0][0]);
    else this.draw();
  }

  play(words) {
    this.error.textContent = "";
    this.connection.send({ ply: plyOf(this.view), move: words });
    this.status.focus({ preventScroll: true });
  }

  drawMoves(moves, choice) {
    const canPick = choice.lit.size > 0;
    const shown = canPick ? offered(moves, this.picked) : moves.filter(([words]) => words.toLowerCase().includes(this.search));
    const buttons = shown.slice(0, MOST_SHOWN).map(([words, pieces]) =>
      el("button", { type: "button", class: pieces.length ? "primary" : "", "data-key": `move-${words}`, onclick: () => this.play(words) },
        pretty(words, this.view.pieces)));
    if (this.picked.size) {
      const clear = () => { this.picked.clear(); this.draw(); };
      buttons.push(el("button", { type: "button", class: "quiet", "data-key": "clear", onclick: clear }, "Put back"));
    }
    const left = shown.length - MOST_SHOWN;
    refill(this.parts.moves, !canPick && moves.length > MANY ? this.searchField() : null, ...buttons,
      left > 0 ? el("span", { class: "small" }, `and ${left} more`) : null,
      this.view.more ? el("span", { class: "small" }, "There are more moves than are offered; type them.") : null);
    this.typed.hidden = !moves.length;
  }

  searchField() {
    const input = el("input", { type: "search", "aria-label": "Search moves", placeholder: "Search moves", "data-key": "search", value: this.search });
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
    return el("details", { class: "typed", hidden: true }, el("summary", {}, "Type a move"),
      el("form", { onsubmit: send }, el("label", { for: "typed" }, "Your move in the game's words", input), el("button", {}, "Play")));
  }

  drawLog(lines) {
    const texts = lines.map(([seat, words]) => `p${seat} ${pretty(words, this.view.pieces)}`);
    const total = this.view.ply;
    if (total < this.logged) {
      this.log.replaceChildren();
      this.logged = null;
    }
    const fresh = this.logged === null ? texts.length : Math.min(total - this.logged, texts.length);
    for (const text of fresh > 0 ? texts.slice(-fresh) : []) this.log.append(el("p", {}, text));
    while (this.log.children.length > lines.length) this.log.firstChild.remove();
    if (fresh > 0) this.log.scrollTop = this.log.scrollHeight;
    this.logged = total;
  }

  tools() {
    const pause = el("input", { id: "pause", type: "range", min: 0, max: 2, step: 0.2 });
    pause.addEventListener("change", () => this.connection.send({ pause: Number(pause.value) }));
    this.pause = pause;
    const link = el("input", { class: "link", readonly: true, hidden: true, "aria-label": "Link for a spectator" });
    const watch = async () => {
      try {
        const { invitation } = await post(`/t/${this.table}/invite`, { watch: true });
        link.value = `${location.origin}/t/${this.table}#${invitation}`;
        link.hidden = false;
        link.select();
      } catch (error) {
        this.complain(error.message);
      }
    };
    return el("details", { class: "tools" }, el("summary", {}, "At this table"),
      el("label", { for: "pause" }, "Pause before an agent's move", pause),
      el("button", { type: "button", onclick: watch }, "Let somebody watch my cards"), link);
  }

  ending(view) {
    const heads = el("tr", {}, ...["seat", ...view.end.heads].map((text) => el("th", { scope: "col" }, text)));
    const scores = view.seats.map((who, seat) => el("tr", {}, el("th", { scope: "row", title: who.name }, `p${seat} ${shortName(who)}`), ...view.end.rows[seat].map((text) => el("td", {}, text))));
    const kept = remembered(`fair-${this.table}`);
    const before = kept ? JSON.parse(kept) : { commitment: view.commitment };
    return el("div", { class: "panel result" },
      el("h2", {}, "The game is over"), el("p", { class: "sentence" }, view.end.text),
      el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Scores" }, el("table", {}, el("thead", {}, heads), el("tbody", {}, ...scores))),
      view.fair ? el("p", { class: "small" }, this.late("fair")?.judge(before, view.fair)) : null,
      el("p", { class: "buttons" }, el("a", { class: "button primary", href: "/" }, "A new table"),
        view.study && !view.watches ? this.learning?.undo(view) : null,
        view.fair ? el("a", { class: "button", href: `/t/${this.table}/record`, download: true }, "Save the game") : null));
  }
}

const plyOf = (view) => view.choice ?? view.ply; // of the own move, where several seats choose at the same time
const mayMove = (view, seat) => (view.choosing ? view.choosing.includes(seat) : view.turn === seat);
const shortName = (who) => (who.kind === "agent" ? who.name.replace(/\?[^()]*/g, "") : who.name); // without options
const newNonce = () => [...crypto.getRandomValues(new Uint8Array(32))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
