// The rules of a game beside the table, from its RULES.md.

import { el, root } from "./dom.js";
import { isForeign, t, told } from "./language.js";

let shownFor = "";

export function offerRules(game) {
  const rules = document.getElementById("rules");
  if (shownFor === game) return;
  shownFor = game;
  rules.hidden = false;
  rules.addEventListener("toggle", async () => {
    const place = document.getElementById("rules-text");
    if (!rules.open || place.children.length) return;
    const answer = await fetch(`${root}/rules/${game}`).then((response) => response.json()).catch(() => ({ error: "the server does not answer" }));
    const note = isForeign() ? [el("p", { class: "small" }, t("The rules are in English."))] : [];
    place.replaceChildren(...(answer.text ? [...note, el("div", { lang: "en" }, ...written(answer.text))] : [el("p", {}, told(answer.error))]));
  });
}

// Headings, paragraphs, lists and tables of Markdown; all else is text.
export function written(text) {
  return text.trim().split(/\n{2,}/).flatMap((block) => block.split(/\n(?=#|\d+\.\d|[-*] |\d+\. )/)).map((block) => {
    const head = block.match(/^(#+) (.*)/);
    if (head) return el(head[1].length < 2 ? "h2" : "h3", {}, head[2]);
    if (block.startsWith("|")) {
      const rows = block.split("\n").filter((row) => !/^[|\s:-]+$/.test(row)).map((row) => row.replace(/^\||\|$/g, "").split("|"));
      return el("table", {}, el("tbody", {}, ...rows.map((cells) => el("tr", {}, ...cells.map((cell) => el("td", {}, ...inline(cell.trim())))))));
    }
    return el("p", {}, ...inline(block.replace(/^[-*] /, "• ").replace(/\s*\n\s*/g, " ")));
  });
}

function inline(text) {
  return text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").split(/(\*\*[^*]+\*\*|\*[^*]+\*|`[^`]+`)/).map((part) => {
    if (/^\*\*.+\*\*$/.test(part)) return el("strong", {}, part.slice(2, -2));
    if (/^\*.+\*$/.test(part)) return el("em", {}, part.slice(1, -1));
    return /^`.+`$/.test(part) ? el("code", {}, part.slice(1, -1)) : part;
  });
}
