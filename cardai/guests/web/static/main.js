// The page is the same for all tables: its address says which one is shown.

import { el, root } from "./dom.js";
import { learn, told } from "./language.js";
import { showSettings } from "./settings.js";

await learn();
showSettings(document.getElementById("setting-list"));
window.addEventListener("hashchange", () => location.reload()); // another link to this table was opened in this tab
const main = document.getElementById("main");
const [, kind, table] = location.pathname.slice(root.length).match(/^\/([tr])\/([\w-]+)$/) ?? [];
try {
  if (kind === "r") await (await import("./review.js")).showReview(main, table, location.hash.slice(1));
  else if (location.pathname.slice(root.length) === "/study") await (await import("./study.js")).showStudy(main);
  else if (location.pathname.slice(root.length) === "/organiser") await (await import("./study.js")).showProgress(main, location.hash.slice(1));
  else if (table) await (await import("./table.js")).showTable(main, table);
  else await (await import("./lobby.js")).showLobby(main);
} catch (error) {
  main.replaceChildren(el("p", { class: "trouble", role: "alert" }, told(error.message)));
}
