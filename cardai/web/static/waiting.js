// Before the deal: links for friends, and agents in their place.

import { el, post } from "./dom.js";
import { levelField } from "./level.js";

export function waitingRoom(view, report) {
  const rows = view.seats.map((who, seat) => seatRow(view, who, seat, report));
  return el("section", { class: "panel waiting" },
    el("h2", {}, "Waiting for the others"),
    el("p", {}, "The game begins when every seat is taken. A link works once."),
    el("ul", {}, ...rows),
    el("p", { class: "small" }, "The deal is fixed already. Its fingerprint (SHA-256): ", el("code", {}, view.commitment)));
}

function seatRow(view, who, seat, report) {
  const words = { you: `${who.name} (you)`, person: who.name, agent: who.name, empty: "nobody yet" }[who.kind];
  const row = el("li", {}, el("strong", {}, `p${seat}`), ` ${words} `);
  if (who.kind !== "empty" || view.watches) return row;
  const agents = el("select", { "aria-label": `Agent for p${seat}`, "data-key": `agent-${seat}` },
    ...view.agents.map(([key, label]) => el("option", { value: key }, label)));
  const link = el("input", { class: "link", readonly: true, hidden: true, "aria-label": `Link for p${seat}` });
  const invite = async () => {
    const { invitation } = await post(`/t/${view.table}/invite`, { seat });
    link.value = `${location.origin}/t/${view.table}#${invitation}`;
    link.hidden = false;
    link.select();
    await navigator.clipboard?.writeText(link.value).catch(() => undefined);
  };
  const fill = () => post(`/t/${view.table}/fill`, { seat, agent: agents.value });
  const act = (what) => () => what().catch((error) => report(error.message));
  row.append(
    el("span", { class: "buttons" },
      el("button", { onclick: act(invite), "data-key": `invite-${seat}` }, "Make a link"), link,
      agents, el("button", { onclick: act(fill), "data-key": `fill-${seat}` }, "Seat this agent")));
  return row;
}

// Somebody has opened a link: the invitation is behind the #, so that no server's log has it.
export function joinForm(table, invitation, name, onJoined) {
  const input = el("input", { id: "name", maxlength: 24, value: name || "Guest", autocomplete: "nickname", required: true });
  const level = levelField();
  const trouble = el("p", { class: "trouble", role: "alert" });
  const join = async (event) => {
    event.preventDefault();
    try {
      await post(`/t/${table}/join`, { invitation, name: input.value, level: level.chosen() });
      onJoined(input.value);
    } catch (error) {
      trouble.textContent = error.message;
    }
  };
  return el("form", { class: "lobby panel", onsubmit: join },
    el("h2", {}, "You are invited to this table"),
    el("label", { for: "name" }, "Your name", input), level.field, trouble,
    el("button", { class: "primary", type: "submit" }, "Come in"));
}
