// The page is the same for all tables: its address says which one is shown.

import { el } from "./dom.js";
import { showLobby } from "./lobby.js";
import { showSettings } from "./settings.js";
import { showTable } from "./table.js";

showSettings(document.getElementById("setting-list"));
const main = document.getElementById("main");
const table = location.pathname.match(/^\/t\/([\w-]+)$/);
try {
  await (table ? showTable(main, table[1]) : showLobby(main));
} catch (error) {
  main.replaceChildren(el("p", { class: "trouble", role: "alert" }, error.message));
}
