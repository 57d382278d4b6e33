// What this browser remembers of its owner's wishes.

import { el } from "./dom.js";
import { LANGUAGES, language, t } from "./language.js";

const SETTINGS = {
  colours: ["Four colours for the suits", false],
  forced: ["Play my only legal move for me", true],
  chances: ["Show how each seat stands, at study tables", true],
  tap: ["Play as soon as the cards I tap leave one move", true],
};

function read() {
  try {
    return JSON.parse(localStorage.getItem("settings") ?? "{}");
  } catch {
    return {};
  }
}

export function setting(name) {
  return read()[name] ?? SETTINGS[name][1];
}

const forNow = {}; // where a browser keeps nothing for pages

export function remembered(key, value) {
  try {
    if (value !== undefined) localStorage.setItem(key, value);
    return localStorage.getItem(key) ?? "";
  } catch {
    if (value !== undefined) forNow[key] = value;
    return forNow[key] ?? "";
  }
}

// The number that this browser adds to a deal. It is kept with the deal's fingerprint as it was before.
export function partIn(table, commitment) {
  const key = `fair-${table}`;
  const newNonce = () => [...crypto.getRandomValues(new Uint8Array(32))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return JSON.parse(remembered(key) || remembered(key, JSON.stringify({ commitment, nonce: newNonce() }))).nonce;
}

function apply() {
  document.documentElement.classList.toggle("four", setting("colours"));
}

export function showSettings(place) {
  for (const [name, [label]] of Object.entries(SETTINGS)) {
    const box = el("input", { type: "checkbox", id: `setting-${name}` });
    box.checked = setting(name);
    box.addEventListener("change", () => {
      remembered("settings", JSON.stringify({ ...read(), [name]: box.checked }));
      apply();
      window.dispatchEvent(new Event("settings"));
    });
    place.append(el("label", { class: "check", for: `setting-${name}` }, box, ` ${t(label)}`));
  }
  const select = el("select", { id: "language" }, ...Object.entries(LANGUAGES).map(([key, name]) => el("option", { value: key, lang: key }, name)));
  select.value = language();
  select.addEventListener("change", () => {
    remembered("language", select.value);
    history.replaceState(null, "", location.pathname + location.hash); // without a language in the address
    location.reload();
  });
  place.append(el("label", { for: "language" }, t("Language"), select));
  apply();
}
