// A study: the page of a participant between their games, and the organiser's, which shows no results.

import { button, el, post, root, tableOf } from "./dom.js";

const PLACES = { agree: "has not agreed yet", play: "plays", asked: "has played", done: "has finished" };

export async function showStudy(main) {
  const code = location.hash.slice(1);
  if (code) history.replaceState(null, "", location.pathname);
  const state = await (code ? post("/study/enter", { code }) : post("/study/state", {}));
  show(main, state);
}

function show(main, state) {
  document.getElementById("title").textContent = state.title ?? "A study";
  const trouble = el("p", { class: "trouble", role: "alert" });
  const ask = async (name, message = {}) => {
    trouble.textContent = "";
    try {
      const answer = await post(`/study/${name}`, message);
      if (answer.table) location.assign(`${root}/t/${answer.table}`);
      else show(main, answer);
    } catch (error) {
      trouble.textContent = error.message;
    }
  };
  main.replaceChildren(el("section", { class: "panel study" }, ...parts(state, ask), trouble), ...(state.person ? [rights(state, ask)] : []));
}

function parts(state, ask) {
  if (state.place === "enter") return enter(state, ask);
  if (state.place === "agree") {
    const agrees = el("input", { type: "checkbox", id: "agrees", required: true });
    return [el("h2", {}, "Before you begin"), ...paragraphs(state.consent), ...paragraphs(state.time), el("p", {}, `Who runs this study: ${state.contact}`),
      form(state, "Begin", (answers) => ask("agree", { agrees: agrees.checked, answers }), el("label", { class: "check", for: "agrees" }, agrees, " I have read this and take part"))];
  }
  if (state.place === "play") {
    return [el("h2", {}, `Game ${state.finished + 1} of at most ${state.most}`), el("p", {}, "The other players are programs. Which ones, you learn after the study."), ...paragraphs(state.time),
      el("p", { class: "buttons" }, el("button", { type: "button", class: "primary", "data-key": "next", onclick: () => ask("next") }, state.running ? "Go on with your game" : "Play the next game"))];
  }
  const why = el("p", {}, `${state.why.charAt(0).toUpperCase()}${state.why.slice(1)}. You have played ${state.finished} games.`);
  if (state.place === "asked") return [el("h2", {}, "At the end"), why, form(state, "Send", (answers) => ask("answer", { answers }))];
  return [el("h2", {}, "Thank you"), why];
}

function enter(state, ask) {
  const code = el("input", { id: "code", maxlength: 40, autocomplete: "off", required: true });
  const come = (event) => {
    event.preventDefault();
    ask("enter", { code: code.value });
  };
  return [el("h2", {}, state.deleted ? "All your data is deleted" : "Your code"),
    el("form", { class: "lobby", onsubmit: come }, el("label", { for: "code" }, "The code that you were given", code), el("button", { class: "primary", type: "submit" }, "Come in"))];
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
  return el("details", { class: "panel study", id: "rights" }, el("summary", {}, `You are ${state.person}: stop, or delete your data`),
    el("p", {}, "If you stop, you play no further game, and those that you have played count."),
    el("p", { class: "buttons" }, button("Stop", "stop", sure("Play no further game?", () => ask("stop")))),
    el("p", {}, "If you delete your data, your answers, your games and your code are gone for good, as if you had never come."),
    el("p", { class: "buttons" }, button("Delete all my data", "delete", sure("Delete all your data?", () => ask("delete", { delete: true })))),
    el("p", { class: "small" }, "Your code brings you back here, on any device."));
}

const paragraphs = (text) => (text ? text.split("\n").map((line) => el("p", {}, line)) : []);

export async function showProgress(main, key) {
  const found = await post("/study/progress", { key });
  document.getElementById("title").textContent = found.title;
  const rows = found.people.map(([name, place, finished, running, seen]) => [name, PLACES[place] ?? place, finished, running, seen === null ? "–" : ago(seen)]);
  main.replaceChildren(el("section", { class: "panel study" }, el("h2", {}, "How far everybody is"),
    el("p", {}, `${found.finished} games are over. ${found.over ? `The study is over: ${found.why}.` : found.why ? `No game is begun any more: ${found.why}.` : "The study goes on."}`),
    tableOf("Participants", ["participant", "", "games", "running", "last seen"], rows),
    el("p", { class: "small" }, `${found.deleted} people deleted their data. ${found.results ? "cardai study report shows the results." : "Results are shown when the study is over."} Protocol ${found.digest.slice(0, 12)}.`)));
}

const ago = (seconds) => (seconds < 60 ? "just now" : seconds < 3600 ? `${Math.round(seconds / 60)} min ago` : seconds < 172800 ? `${Math.round(seconds / 3600)} h ago` : `${Math.round(seconds / 86400)} days ago`);
