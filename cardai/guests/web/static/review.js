// A finished game looked at again: positions to step through, drawn as the table was, and what moves cost.

import { button, el, post, refill, root, shape, tableOf } from "./dom.js";
import { t, told } from "./language.js";
import { move, placesIn } from "./motion.js";
import { storyOf } from "./story.js";
import { TablePage } from "./table.js";

const AT_ONCE = 40; // positions in an answer
const [WIDE, HIGH] = [600, 84]; // of the curve

// The page of somebody who was sent the link.
export async function showReview(main, table, key) {
  const page = new TablePage(main, table, false);
  await open(page, key);
}

// Look at the game again on the page of its table.
export async function open(page, key = "") {
  const ask = (message) => post(`/t/${page.table}/review`, key ? { key, ...message } : message);
  const game = await ask({});
  const review = new Review(page, game, ask);
  page.review = review;
  await review.go(0);
  review.judge();
}

class Review {
  constructor(page, game, ask) {
    Object.assign(this, { page, game, ask, seat: null, ply: 0, chunks: new Map(), judged: new Map(), trouble: "" });
    this.keys = (event) => {
      if (event.target.closest("input, select, textarea, .scroll, .lines") || event.altKey || event.ctrlKey || event.metaKey) return;
      const to = { ArrowLeft: this.ply - 1, ArrowRight: this.ply + 1, Home: 0, End: game.plies }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      this.go(to);
    };
    document.addEventListener("keydown", this.keys);
    page.board.classList.add("reviewing");
    page.parts.others.tabIndex = 0; // it may scroll
    page.log.replaceChildren();
    page.logged = page.last = null;
  }

  close() {
    document.removeEventListener("keydown", this.keys);
    this.isClosed = true;
    this.page.board.classList.remove("reviewing");
    this.page.parts.others.removeAttribute("tabindex");
    this.page.leaveReview();
  }

  // The view of a ply from the chosen seat, or with all hands open.
  async viewAt(ply) {
    const from = ply - (ply % AT_ONCE);
    const name = `${this.seat} ${from}`;
    if (!this.chunks.has(name)) this.chunks.set(name, await this.ask({ from, seat: this.seat }));
    const { positions, lines, first } = this.chunks.get(name);
    const isOwn = this.seat === this.game.seat && this.game.seats.some((who) => who.kind === "you");
    const log = lines.slice(Math.max(0, ply - first - AT_ONCE), ply - first);
    return { ...this.game, ...positions[ply - from], seat: this.seat ?? this.game.seat, watches: !isOwn, log, next: lines[ply - first], pause: 0 };
  }

  async go(to, seat = this.seat) {
    const ply = Math.max(0, Math.min(this.game.plies, to));
    const { page } = this;
    const isNewSeat = seat !== this.seat;
    [this.seat, this.ply] = [seat, ply];
    try {
      const view = await this.viewAt(ply);
      if (this.ply !== ply || this.seat !== seat || this.isClosed) return; // somebody was quicker
      const before = !page.board.hidden && page.view && !isNewSeat ? placesIn(page.place) : null;
      const story = before && page.view.ply === ply - 1 ? storyOf(page.view, view) : { moved: new Map(), held: null };
      if (isNewSeat) {
        page.log.replaceChildren();
        page.logged = null;
      }
      page.view = { ...view, forced: new Set() };
      this.trouble = "";
      page.draw();
      if (before && Math.abs(this.shown - ply) === 1) move(page.place, before, story.moved, story.held?.to);
      this.shown = ply;
    } catch (error) {
      this.trouble = error.message;
      if (page.view) page.draw();
      else throw error;
    }
  }

  // One seat after the other is judged, one's own first.
  async judge() {
    const seats = this.game.seats.map((_, step) => (this.game.seat + step) % this.game.seats.length);
    for (const seat of seats) {
      if (this.isClosed) return;
      try {
        this.judged.set(seat, await this.ask({ analysis: true, seat }));
      } catch (error) {
        this.trouble = error.message;
      }
      if (!this.isClosed && this.page.view) this.page.draw();
      if (this.trouble) return;
    }
  }

  mistakes() {
    return [...this.judged].flatMap(([seat, { rows }]) => rows.filter((row) => row[4]).map((row) => [seat, ...row])).sort((one, other) => one[1] - other[1]);
  }

  status() {
    const { words, view } = this.page;
    if (this.ply === this.game.plies) return `${t("The end.")} ${words.sentence(this.game.end.text)}`;
    const [seat, said, ledTo] = view.next;
    const [, , played, , , better, cost] = this.mistakes().find(([mover, ply]) => ply === this.ply && (this.seat === null || this.seat === mover)) ?? [];
    const comes = t("Move {number} of {count}: {move}.", { number: this.ply + 1, count: this.game.plies, move: words.line([seat], better ? played : said, ledTo) });
    return better ? `${comes} ${t("Better: {move}. It cost {cost}.", { move: words.text(better, seat === words.own ? 2 : 0), cost: words.text(cost) })}` : comes;
  }

  draw() {
    const { page, game, ply } = this;
    const step = (label, mark, to) => el("button", { type: "button", class: "step", "aria-label": t(label), "data-key": `go-${label}`, disabled: to < 0 || to > game.plies || to === ply, onclick: () => this.go(to) }, mark);
    const select = el("select", { "aria-label": t("Whose view"), "data-key": "whose" }, el("option", { value: "" }, t("All hands open")),
      ...page.words.names.map((name, seat) => el("option", { value: seat }, t("As {name} saw it", { name }))));
    select.value = this.seat ?? "";
    select.addEventListener("change", () => this.go(this.ply, select.value === "" ? null : Number(select.value)));
    const mistakes = this.mistakes();
    const next = mistakes.find((row) => row[1] > ply) ?? mistakes[0];
    const own = game.own.find((one) => one >= ply);
    refill(page.parts.moves, el("span", { class: "steps" }, step("To the start", "|◀", 0), step("One move back", "◀", ply - 1), step("One move on", "▶", ply + 1), step("To the end", "▶|", game.plies)), select);
    refill(page.advice, this.curve(mistakes), this.trouble ? el("p", { class: "trouble", role: "alert" }, told(this.trouble)) : null,
      el("p", { class: "buttons" }, next ? button(t("Next mistake"), "mistake", () => this.go(next[1])) : null,
        own === undefined ? null : button(t("Play on from here"), "on", () => this.playOn(own))));
    refill(page.extra, ...this.side(mistakes));
    const mark = (pieces, name) => { for (const piece of pieces ?? []) page.place.querySelector(`[data-piece="${piece}"]`)?.classList.add(name); };
    mark(page.view.next?.[3], "played");
    mark(mistakes.find(([seat, at]) => at === ply && (this.seat === null || this.seat === seat))?.[7], "hint");
  }

  // The value of each seat after each of its moves, and rings where a choice was costly. A tap goes there.
  curve(mistakes) {
    const judged = [...this.judged.values()];
    if (!judged.length) return el("p", { class: "small" }, t("The moves are being judged …"));
    const values = judged.flatMap(({ rows }) => rows.map((row) => row[2])).filter((value) => value !== null);
    if (!values.length) return null;
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const place = (ply, value) => [(WIDE * ply) / this.game.plies, HIGH - 8 - ((HIGH - 16) * (value - low)) / (high - low || 1)];
    const lines = judged.map(({ seat, rows }) => shape("polyline", { class: `seat-${seat}${seat === (this.seat ?? this.game.seat) ? " chosen" : ""}`, points: rows.filter((row) => row[2] !== null).map((row) => place(row[0] + 1, row[2]).join(",")).join(" ") }));
    const rings = mistakes.filter((row) => row[3] !== null).map(([seat, ply, , value]) => {
      const [cx, cy] = place(ply + 1, value);
      const ring = shape("circle", { cx, cy, r: 7, class: `seat-${seat}`, "data-ply": ply });
      ring.addEventListener("click", (event) => { event.stopPropagation(); this.go(ply); });
      return ring;
    });
    const [at] = place(this.ply, 0);
    const drawn = shape("svg", { viewBox: `-8 0 ${WIDE + 16} ${HIGH}`, class: "curve", role: "img", "aria-label": t("{scale} of each seat, {count} costly choices", { scale: told(this.page.words.text(judged[0].scale)), count: mistakes.length }) },
      shape("line", { x1: at, x2: at, y1: 0, y2: HIGH, class: "now" }), ...lines, ...rings);
    drawn.addEventListener("click", (event) => {
      const box = drawn.getBoundingClientRect();
      this.go(Math.round((this.game.plies * ((WIDE + 16) * (event.clientX - box.left) / box.width - 8)) / WIDE));
    });
    const names = el("p", { class: "small legend" }, ...judged.map(({ seat }) => el("span", { class: `key seat-${seat}` }, this.page.words.names[seat])));
    return el("div", {}, drawn, names);
  }

  // Beside the table: what luck did, every move of the seat that is looked at, the link to share.
  side(mistakes) {
    const { page, game } = this;
    const link = el("input", { class: "link", readonly: true, hidden: !this.isShared, value: `${location.origin}${root}/r/${game.table}#${game.key}`, "aria-label": t("Link to this review") });
    const share = async () => {
      this.isShared = true;
      await navigator.clipboard?.writeText(link.value).catch(() => null);
      page.draw();
    };
    const judged = [...this.judged.values()];
    const figure = (value, signed) => (value === null || value === undefined ? "" : `${signed && value > 0 ? "+" : ""}${Number(value.toFixed(judged[0].bounded ? 3 : 1))}`);
    const sums = judged.map(({ seat, rows, score }) => [page.words.names[seat], ...[1, 2, 3].map((part) => figure(rows.reduce((sum, row) => sum + (row[3]?.[part] ?? 0), 0), true)), figure(score)]);
    const chosen = this.judged.get(this.seat ?? game.seat);
    const goTo = (ply, text) => button(text, `at-${ply}`, () => this.go(ply));
    return [
      el("p", { class: "buttons" }, page.connection ? button(t("Back to the result"), "close", () => this.close()) : el("a", { class: "button", href: `${root}/` }, t("All games")), button(t("Share this review"), "share", share)), link,
      sums.length ? el("h2", {}, t("Choices and luck")) : null,
      sums.length ? tableOf(t("Choices and luck"), [t("seat"), t("own choices"), t("draws"), t("others, chance"), t("score")], sums) : null,
      sums.length ? el("p", { class: "small" }, t("{agent} judges the position after each move: {scale}. The three parts add up to the change from a seat's first move to its last.", { agent: judged[0].judge, scale: told(this.page.words.text(judged[0].scale)) })) : null,
      mistakes.length ? el("h2", {}, t("What cost most")) : null,
      mistakes.length ? tableOf(t("What cost most"), [t("move"), t("seat"), t("played"), t("better"), t("it cost")], mistakes.map(([seat, ply, played, , , better, cost]) => [goTo(ply, String(ply + 1)), page.words.names[seat], page.words.text(played), page.words.text(better), page.words.text(cost)])) : null,
      chosen ? el("details", {}, el("summary", {}, t("All moves of {name}", { name: page.words.names[chosen.seat] })), tableOf(t("All moves of a seat"), [t("move"), t("played"), t("value"), t("own choices"), t("draws"), t("others")], chosen.rows.map(([ply, played, value, parts]) => [String(ply + 1), page.words.text(played), figure(value), ...[1, 2, 3].map((part) => figure(parts?.[part], true))]))) : null,
    ];
  }

  async playOn(ply) {
    try {
      location.assign(`${root}/t/${(await post(`/t/${this.game.table}/branch`, { ply })).table}`);
    } catch (error) {
      this.trouble = error.message;
      this.page.draw();
    }
  }
}
