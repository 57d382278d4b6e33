// A study: the page of a participant between their games, and the organiser's, which shows no results.

import { button, el, post, root, tableOf } from "./dom.js";
import { t, told } from "./language.js";

const PLACES = { agree: "has not agreed yet", play: "plays", asked: "has played", done: "has finished" };

export async function showStudy(main) {
  const code = location.hash.slice(1);
  if (code) history.replaceState(null, "", location.pathname);
  const state = await (code ? post("/study/enter", { code }) : post("/study/state", {}));
  show(main, state);
}

function show(main, state) {
  document.getElementById("title").textContent = state.title ?? t("A study");
  const trouble = el("p", { class: "trouble", role: "alert" });
  const ask = async (name, message = {}) => {
    trouble.textContent = "";
    try {
      const answer = await post(`/study/${name}`, message);
      if (answer.table) location.assign(`${root}/t/${answer.table}`);
      else show(main, answer);
    } catch (error) {
      trouble.textContent = told(error.message);
    }
  };
  main.replaceChildren(el("section", { class: "panel study" }, ...parts(state, ask), trouble), ...(state.person ? [rights(state, ask)] : []));
}

function parts(state, ask) {
  if (state.place === "enter") return enter(state, ask);
  if (state.place === "agree") {
    const agrees = el("input", { type: "checkbox", id: "agrees", required: true });
    return [el("h2", {}, t("Before you begin")), ...paragraphs(state.consent), ...paragraphs(state.time), el("p", {}, t("Who runs this study: {contact}", state)),
      form(state, t("Begin"), (answers) => ask("agree", { agrees: agrees.checked, answers }), el("label", { class: "check", for: "agrees" }, agrees, ` ${t("I have read this and take part")}`))];
  }
  if (state.place === "play") {
    return [el("h2", {}, t("Game {number} of at most {most}", { number: state.finished + 1, most: state.most })), el("p", {}, t("The other players are programs. Which ones, you learn after the study.")), ...paragraphs(state.time),
      el("p", { class: "buttons" }, el("button", { type: "button", class: "primary", "data-key": "next", onclick: () => ask("next") }, state.running ? t("Go on with your game") : t("Play the next game")))];
  }
  const why = el("p", {}, `${capital(told(state.why))}. ${t("You have played {finished} games.", state)}`);
  if (state.place === "asked") return [el("h2", {}, t("At the end")), why, form(state, t("Send"), (answers) => ask("answer", { answers }))];
  return [el("h2", {}, t("Thank you")), why];
}

function enter(state, ask) {
  const code = el("input", { id: "code", maxlength: 40, autocomplete: "off", required: true });
  const come = (event) => {
    event.preventDefault();
    ask("enter", { code: code.value });
  };
  return [el("h2", {}, state.deleted ? t("All your data is deleted") : t("Your code")),
    el("form", { class: "lobby", onsubmit: come }, el("label", { for: "code" }, t("The code that you were given"), code), el("button", { class: "primary", type: "submit" }, t("Come in")))];
}

// The questions, and what else has to be agreed to.
function form(state, label, send, ...more) {
  const fields = state.questions.map(([key, text, choices]) => {
    const input = choices.length ? el("select", { id: `question-${key}`, required: true }, el("option", { value: "" }, ""), ...choices.map((choice) => el("option", { value: choice }, choice)))
      : el("textarea", { id: `question-${key}`, maxlength: 400, rows: 4 });
    return [key, input, el("label", { for: input.id }, text, input)];
  });
  const submit = (event) => {
    event.preventDefault();
    send(Object.fromEntries(fields.map(([key, input]) => [key, input.value])));
  };
  return el("form", { class: "lobby", onsubmit: submit }, ...fields.map(([, , field]) => field), ...more, el("button", { class: "primary", type: "submit" }, label));
}

// What a participant may do at any time.
function rights(state, ask) {
  const sure = (words, act) => () => window.confirm(words) && act();
  return el("details", { class: "panel study", id: "rights" }, el("summary", {}, t("You are {person}: stop, or delete your data", state)),
    el("p", {}, t("If you stop, you play no further game, and those that you have played count.")),
    el("p", { class: "buttons" }, button(t("Stop"), "stop", sure(t("Play no further game?"), () => ask("stop")))),
    el("p", {}, t("If you delete your data, your answers, your games and your code are gone for good, as if you had never come.")),
    el("p", { class: "buttons" }, button(t("Delete all my data"), "delete", sure(t("Delete all your data?"), () => ask("delete", { delete: true })))),
    el("p", { class: "small" }, t("Your code brings you back here, on any device.")));
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const paragraphs = (text) => (text ? text.split("\n").map((line) => el("p", {}, line)) : []);

export async function showProgress(main, key) {
  const found = await post("/study/progress", { key });
  document.getElementById("title").textContent = found.title;
  const rows = found.people.map(([name, place, finished, running, seen]) => [name, PLACES[place] ? t(PLACES[place]) : place, finished, running, seen === null ? "–" : ago(seen)]);
  const why = { why: told(found.why ?? "") };
  main.replaceChildren(el("section", { class: "panel study" }, el("h2", {}, t("How far everybody is")),
    el("p", {}, `${t("{finished} games are over.", found)} ${found.over ? t("The study is over: {why}.", why) : found.why ? t("No game is begun any more: {why}.", why) : t("The study goes on.")}`),
    tableOf(t("Participants"), [t("participant"), "", t("games"), t("running"), t("last seen")], rows),
    el("p", { class: "small" }, `${t("{deleted} people deleted their data.", found)} ${found.results ? t("cardai study report shows the results.") : t("Results are shown when the study is over.")} ${t("Protocol {digest}.", { digest: found.digest.slice(0, 12) })}`)));
}

const ago = (seconds) => (seconds < 60 ? t("just now") : seconds < 3600 ? t("{count} min ago", { count: Math.round(seconds / 60) }) : seconds < 172800 ? t("{count} h ago", { count: Math.round(seconds / 3600) }) : t("{count} days ago", { count: Math.round(seconds / 86400) }));
