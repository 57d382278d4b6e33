// Before the deal: links for friends, and agents in their place.

import { companyWords } from "./company.js";
import { el, post, root } from "./dom.js";
import { t, told } from "./language.js";
import { partIn, remembered } from "./settings.js";

const ONLY_HERE = /^(localhost|127\.[\d.]+|\[::1\])$/;

// `here`: the seats of people who have the table open.
export function waitingRoom(view, report, here) {
  const rows = view.seats.map((who, seat) => seatRow(view, who, seat, report, here.includes(seat)));
  return el("section", { class: "panel waiting" },
    el("h2", {}, t("Waiting for the others")),
    el("p", {}, t("The game begins when every seat is taken. A link works once.")),
    ONLY_HERE.test(location.hostname) && view.seats.some((who) => who.kind === "empty") ? el("p", { class: "small" }, t("Links to {host} work on this machine only. For friends elsewhere, start the server with --host 0.0.0.0 and open this page by the machine's address.", { host: location.hostname })) : null,
    el("ul", {}, ...rows),
    el("p", { class: "small" }, `${t("The deal is fixed already. Its fingerprint (SHA-256):")} `, el("code", {}, view.commitment)));
}

function seatRow(view, who, seat, report, isHere) {
  const words = { you: t("{name} (you)", who), person: isHere ? who.name : t("{name} (not here just now)", who), agent: who.name, empty: who.name ? t("{name}, who has not come yet", who) : t("nobody yet") }[who.kind];
  const row = el("li", {}, el("strong", {}, t("Seat {number}", { number: seat + 1 })), ` ${words} `);
  if (who.kind !== "empty" || view.watches) return row;
  const agents = el("select", { "aria-label": t("Agent for seat {number}", { number: seat + 1 }), "data-key": `agent-${seat}` },
    ...view.agents.map(([key, label]) => el("option", { value: key }, label)));
  const kept = `link-${view.table}-${seat}`; // a link that was made is shown until somebody comes by it
  const link = el("input", { class: "link", readonly: true, hidden: !remembered(kept), value: remembered(kept), "aria-label": t("Link for seat {number}", { number: seat + 1 }) });
  const make = el("button", { "data-key": `invite-${seat}` });
  const state = el("span", { class: "small", role: "status" });
  const name = () => make.replaceChildren(link.value ? t("Copy the link") : t("Make a link"));
  const copy = async () => {
    if (!link.value) link.value = remembered(kept, `${location.origin}${root}/t/${view.table}#${(await post(`/t/${view.table}/invite`, { seat })).invitation}`);
    link.hidden = false;
    name();
    link.select();
    const isCopied = await navigator.clipboard?.writeText(link.value).then(() => true, () => false);
    state.textContent = isCopied ? t("Copied. Send it to your friend.") : t("Copy it and send it to your friend.");
  };
  const fill = () => post(`/t/${view.table}/fill`, { seat, agent: agents.value });
  const act = (what) => () => what().catch((error) => report(error.message));
  name();
  make.addEventListener("click", act(copy));
  row.append(
    el("span", { class: "buttons" },
      make, link, state), el("span", { class: "buttons" }, agents, el("button", { onclick: act(fill), "data-key": `fill-${seat}` }, t("Seat this agent"))));
  return row;
}

const HEADS = { seat: "You are invited to this table", watch: "You are invited to watch this table", device: "Your seat, on this device too" };
const ABOUT = {
  watch: "You see what the player who sent you the link sees, and play no cards.",
  device: "Whoever has opened this link plays in the same seat as on the device that made it.",
};

// Somebody has opened a link: the invitation is behind the #, so that no server's log has it.
// `link`: "seat", or "watch" or "device" for those who need no name. `company`: who is at the table.
export function joinForm(table, invitation, link, company, onJoined) {
  const input = el("input", { id: "name", maxlength: 24, value: remembered("name") || t("Guest"), autocomplete: "nickname", required: true });
  const trouble = el("p", { class: "trouble", role: "alert" });
  const join = async (event) => {
    event.preventDefault();
    try {
      await post(`/t/${table}/join`, link !== "seat" ? { invitation } : { invitation, name: remembered("name", input.value), nonce: partIn(table, company.commitment) });
      onJoined();
    } catch (error) {
      trouble.textContent = told(error.message);
    }
  };
  return el("form", { class: "lobby panel", onsubmit: join },
    el("h2", {}, t(HEADS[link])),
    el("p", { class: "hosts" }, `${company.title}. ${companyWords(company, null)}`),
    link !== "seat" ? el("p", {}, t(ABOUT[link])) : el("label", { for: "name" }, t("Your name"), input),
    trouble, el("button", { class: "primary", type: "submit" }, link === "watch" ? t("Watch") : t("Come in")));
}
