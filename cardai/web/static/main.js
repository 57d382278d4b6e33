// The page is the same for all tables: its address says which one is shown.

import { el, root } from "./dom.js";
import { showSettings } from "./settings.js";

showSettings(document.getElementById("setting-list"));
window.addEventListener("hashchange", () => location.reload()); // another link to this table was opened in this tab
const main = document.getElementById("main");
const table = location.pathname.slice(root.length).match(/^\/t\/([\w-]+)$/);
try {
  if (table) await (await import("./table.js")).showTable(main, table[1]);
  else await (await import("./lobby.js")).showLobby(main);
} catch (error) {
  main.replaceChildren(el("p", { class: "trouble", role: "alert" }, error.message));
}
