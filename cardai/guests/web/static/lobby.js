// The front page: games to play at once, games of one's own, and a table set up in detail.

import { companyWords } from "./company.js";
import { el, post, refill, root } from "./dom.js";
import { faceOf } from "./faces.js";
import { isForeign, t, told, wordsOf } from "./language.js";
import { remembered } from "./settings.js";

export async function showLobby(main) {
  const games = await (await fetch(`${root}/games`)).json();
  if (isForeign()) await Promise.all(games.map(speak));
  const name = el("input", { id: "name", maxlength: 24, autocomplete: "nickname", value: remembered("name") || t("Player"), required: true });
  const game = picker("game", games.map((offer) => [offer.key, offer.title]));
  const variant = el("select", { id: "variant" });
  const seats = el("select", { id: "seats" });
  const places = el("div", { class: "places" });
  const study = el("input", { type: "checkbox", id: "study" });
  const others = el("select", { id: "challenge" }, ...options([[0, t("no")], ...Array.from({ length: 7 }, (_, i) => [i + 2, t("{count} people, each at a table of their own", { count: i + 2 })])]));
  const takeover = el("select", { id: "takeover" }, ...options([["", t("with friends an agent plays after 5 minutes")], [0, t("the table waits")], [1, t("an agent plays after 1 minute")], ...[5, 15].map((count) => [count, t("an agent plays after {count} minutes", { count })])]));
  const code = el("input", { id: "code", maxlength: 40, autocomplete: "off", required: true });
  const trouble = el("p", { class: "trouble", role: "alert" });
  const offer = () => games.find((one) => one.key === game.value);

  const chooseGame = () => {
    const chosen = offer();
    refill(variant, ...options(chosen.variants.map((key) => [key, key])));
    refill(seats, ...options(chosen.seats.map((count) => [count, count])));
    seats.value = chosen.usual;
    chooseSeats();
  };
  const chooseSeats = () => {
    const { agents, fits } = offer(); // only those that can play at this table, the usual one first
    const fitting = fits[variant.value][seats.value].map((place) => agents[place]);
    const choices = [["me", t("you")], ["friend", t("a friend, by a link")], ...fitting];
    const rows = Array.from({ length: Number(seats.value) }, (_, seat) => {
      const select = el("select", { id: `seat-${seat}`, class: "place" }, ...options(choices));
      select.value = seat ? (fitting[0] ?? ["friend"])[0] : "me";
      return el("label", { for: `seat-${seat}` }, t("Seat {number}", { number: seat + 1 }), select);
    });
    refill(places, ...rows);
  };
  const go = async (event, address, message) => {
    event.preventDefault();
    trouble.textContent = "";
    remembered("name", name.value);
    try {
      await open(address, { ...message, name: name.value });
    } catch (error) {
      trouble.textContent = told(error.message);
    }
  };
  const sitDown = (event) => {
    const chosen = [...places.querySelectorAll("select")].map((select) => select.value);
    const wishes = { game: game.value, variant: variant.value, seats: chosen, study: study.checked };
    if (takeover.value) wishes.takeover = Number(takeover.value);
    return go(event, "/tables", Number(others.value) ? { ...wishes, challenge: Number(others.value) } : wishes);
  };

  game.addEventListener("change", chooseGame);
  seats.addEventListener("change", chooseSeats);
  variant.addEventListener("change", chooseSeats);
  chooseGame();
  const agent = el("p", { class: "small", role: "status" });
  const describe = () => {
    const chosen = new Set([...places.querySelectorAll("select")].map((select) => select.value));
    agent.replaceChildren(...offer().agents.filter((one) => chosen.has(one[0]) && described(one)).flatMap((one) => [el("strong", {}, one[1]), ` ${described(one)}. `]));
  };
  for (const select of [game, seats, variant, places]) select.addEventListener("change", describe);
  describe();
  const play = (one) => {
    const fitting = one.fits[one.variants[0]][one.usual].map((place) => one.agents[place][0]);
    const message = { game: one.key, seats: ["me", ...Array(one.usual - 1).fill(fitting[0] ?? "friend")], name: remembered("name") || t("Player") };
    return open("/tables", message).catch((error) => { wrong.textContent = told(error.message); });
  };
  const wrong = el("p", { class: "trouble", role: "alert" });
  const isOpen = location.hash === "#more";
  refill(main,
    wrong, ownGames(),
    el("section", { class: "games", "aria-label": t("Games") }, ...games.map((one) => gameCard(one, () => play(one)))),
    el("details", { class: "panel more", open: isOpen }, el("summary", {}, t("More settings: friends, opponents, variants, study")),
    el("form", { class: "lobby", onsubmit: sitDown },
      field(t("Your name"), name), field(t("Game"), game), field(t("Variant"), variant), field(t("Seats"), seats),
      el("fieldset", {}, el("legend", {}, t("Who plays")), places, agent),
      el("label", { class: "check", for: "study" }, study, ` ${t("Study: hints, and moves can be taken back")}`),
      field(t("Who does not answer"), takeover),
      field(t("The same deal for others too"), others),
      trouble,
      el("button", { class: "primary", type: "submit" }, t("Sit down")))),
    el("details", { class: "panel more", open: isOpen }, el("summary", {}, t("A deal that others play too")),
    el("form", { class: "lobby", onsubmit: (event) => go(event, "/challenge", { code: code.value }) },
      field(t("Code of the challenge"), code), el("button", { type: "submit" }, t("Play this deal")))),
  );
}

// Say a game and its agents in the page's language, as far as the game brings that.
async function speak(offer) {
  const { about, agents } = await wordsOf(offer.key);
  [offer.about, offer.lang] = about ? [about] : [offer.about, "en"];
  for (const one of offer.agents) one[2] = agents[one[2]] ?? told(one[2]);
}

// An agent in a sentence, with its strength where that was measured.
const described = ([, , about, elo]) => [about, elo && t("about {elo} Elo above random play", { elo })].filter(Boolean).join(", ");

// Whom one plays against, to somebody who knows no agent by name.
function against(count, [, label, about, elo]) {
  if (elo) return t("Against {count} programs, each about {elo} Elo above random play.", { count, elo });
  return t("Opponents: {count} ({agent}).", { count, agent: about || label });
}

// Set up a table and go there.
async function open(address, message) {
  const { table } = await post(address, message);
  location.assign(`${root}/t/${table}`);
}

// A game as a picture with a sentence, and a button that seats you at once.
function gameCard(offer, play) {
  const faces = offer.cards.map((name) => faceOf(name) && el("span", { class: `piece suit-${name.slice(-1)}` }, faceOf(name))).filter(Boolean);
  const board = el("span", { class: "board-picture" }, ...Array.from({ length: 9 }, () => el("span")));
  const backs = Array.from({ length: 5 }, () => el("span", { class: "piece back" }));
  const usual = offer.agents[offer.fits[offer.variants[0]][offer.usual][0]];
  const others = offer.usual - 1;
  return el("article", { class: "game panel" },
    el("div", { class: "picture", "aria-hidden": "true" }, ...(faces.length ? faces : offer.cards.length ? [board] : backs)),
    el("h2", {}, offer.title), offer.about ? el("p", { lang: offer.lang }, offer.about) : null,
    usual ? el("p", { class: "small" }, against(others, usual)) : null,
    el("button", { type: "button", class: "primary", "data-key": `play-${offer.key}`, onclick: play }, el("span", {}, t("Play")), el("span", { class: "said" }, ` ${offer.title}`)));
}

// The tables at which this browser sat, the latest first.
function ownGames() {
  const kept = JSON.parse(remembered("games") || "[]");
  if (!kept.length) return null;
  return el("section", { class: "panel yours", "aria-label": t("Your games") }, el("h2", {}, t("Your games")),
    el("ul", {}, ...kept.map(({ table, title, over, who }) => el("li", {},
      el("a", { class: over ? "button" : "button primary", href: `${root}/t/${table}` }, over ? t("{game}: look again", { game: title }) : t("{game}: go on", { game: title })), el("span", { class: "small" }, ` ${t("with {names}.", { names: who })} `), over ? null : stateOf(table)))));
}

// Whose turn it is at a table of one's own, and who is there, once the server has said so.
function stateOf(table) {
  const place = el("span", { class: "small state" });
  const show = (found) => { place.textContent = found.over ? t("The game is over.") : companyWords(found, found.seat); };
  fetch(`${root}/t/${table}/company`).then((answer) => answer.ok && answer.json().then(show)).catch(() => null);
  return place;
}

const field = (label, input) => el("label", { for: input.id }, label, input);
const options = (pairs) => pairs.map(([key, label]) => el("option", { value: key }, String(label)));
const picker = (id, pairs) => el("select", { id }, ...options(pairs));
