// Elements are made of text only: nothing that somebody typed becomes HTML.

export const root = new URL("..", import.meta.url).pathname.slice(0, -1); // the path below which a proxy shows the server

export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const SVG = new DOMParser().parseFromString("<svg></svg>", "text/html").querySelector("svg").namespaceURI;

// The same for SVG.
export function shape(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// Two texts for one thing: what eyes see, and what a screen reader says.
export function seenAndSaid(seen, said) {
  return [el("span", { "aria-hidden": "true", class: "seen" }, seen), el("span", { class: "said" }, said)];
}

// Replace what is in an element, and leave the focus on the element with the same key.
export function refill(element, ...children) {
  const key = element.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  element.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
  if (key !== undefined) element.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

export async function post(address, message) {
  const response = await fetch(root + address, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(message),
  });
  const answer = await response.json().catch(() => ({ error: "the server does not answer" }));
  if (!response.ok) throw new Error(answer.error ?? "the server does not answer");
  return answer;
}

export const button = (content, key, onclick) => el("button", { type: "button", "data-key": key, onclick }, ...[content].flat());

export function tableOf(name, heads, rows) {
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, el("table", {},
    el("thead", {}, el("tr", {}, ...heads.map((head) => el(head ? "th" : "td", head ? { scope: "col" } : {}, head)))),
    el("tbody", {}, ...rows.map((cells) => el("tr", {}, ...cells.map((cell) => el("td", {}, cell)))))));
}
