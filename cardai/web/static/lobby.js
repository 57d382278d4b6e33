// Setting up a table.

import { el, post, refill } from "./dom.js";
import { levelField } from "./level.js";
import { remembered } from "./settings.js";

export async function showLobby(main) {
  const games = await (await fetch("/games")).json();
  const name = el("input", { id: "name", maxlength: 24, autocomplete: "nickname", value: remembered("name") || "Player", required: true });
  const game = picker("game", games.map((offer) => [offer.key, offer.title]));
  const variant = el("select", { id: "variant" });
  const seats = el("select", { id: "seats" });
  const places = el("div", { class: "places" });
  const study = el("input", { type: "checkbox", id: "study" });
  const level = levelField();
  const others = el("select", { id: "challenge" }, ...options([[0, "no"], ...Array.from({ length: 7 }, (_, i) => [i + 2, `${i + 2} people, each at a table of their own`])]));
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
    const choices = [["me", "you"], ["friend", "a friend, by a link"], ...fitting];
    const rows = Array.from({ length: Number(seats.value) }, (_, seat) => {
      const select = el("select", { id: `seat-${seat}`, class: "place" }, ...options(choices));
      select.value = seat ? (fitting[0] ?? ["friend"])[0] : "me";
      return el("label", { for: `seat-${seat}` }, `Seat p${seat}`, select);
    });
    refill(places, ...rows);
  };
  const go = async (event, address, message) => {
    event.preventDefault();
    trouble.textContent = "";
    remembered("name", name.value);
    try {
      location.assign(`/t/${(await post(address, { ...message, name: name.value, level: level.chosen() })).table}`);
    } catch (error) {
      trouble.textContent = error.message;
    }
  };
  const sitDown = (event) => {
    const chosen = [...places.querySelectorAll("select")].map((select) => select.value);
    const wishes = { game: game.value, variant: variant.value, seats: chosen, study: study.checked };
    return go(event, "/tables", Number(others.value) ? { ...wishes, challenge: Number(others.value) } : wishes);
  };

  game.addEventListener("change", chooseGame);
  seats.addEventListener("change", chooseSeats);
  variant.addEventListener("change", chooseSeats);
  chooseGame();
  main.replaceChildren(
    el("form", { class: "lobby panel", onsubmit: sitDown },
      el("h2", {}, "A new table"),
      field("Your name", name), level.field, field("Game", game), field("Variant", variant), field("Seats", seats),
      el("fieldset", {}, el("legend", {}, "Who plays"), places),
      el("label", { class: "check", for: "study" }, study, " Study: hints, and moves can be taken back"),
      field("The same deal for others too", others),
      trouble,
      el("button", { class: "primary", type: "submit" }, "Sit down")),
    el("form", { class: "lobby panel", onsubmit: (event) => go(event, "/challenge", { code: code.value }) },
      el("h2", {}, "A deal that others play too"), field("Code of the challenge", code), el("button", { type: "submit" }, "Play this deal")),
  );
}

const field = (label, input) => el("label", { for: input.id }, label, input);
const options = (pairs) => pairs.map(([key, label]) => el("option", { value: key }, String(label)));
const picker = (id, pairs) => el("select", { id }, ...options(pairs));
