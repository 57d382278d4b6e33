// The socket of this tab: it comes back for ever, and at once when the tab is shown or the network returns.

import { root } from "./dom.js";

const LOST = "The connection is lost. Trying again …";

export class Connection {
  constructor(table, onView, onState) {
    this.address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${root}/t/${table}/socket`;
    this.onView = onView;
    this.onState = onState;
    this.wait = 500;
    document.addEventListener("visibilitychange", () => document.hidden || this.hurry());
    window.addEventListener("online", () => this.hurry());
    this.open();
  }

  open() {
    clearTimeout(this.timer);
    this.socket = new WebSocket(this.address);
    this.socket.onopen = () => this.unanswered && this.send(this.unanswered); // the server plays a move for its ply only
    this.socket.onmessage = (event) => this.take(JSON.parse(event.data));
    this.socket.onclose = (event) => this.again(event.code);
  }

  take(message) {
    this.wait = 500;
    if (message.closed) this.reason = message.closed;
    else {
      if (message.error || message.ply > this.unanswered?.ply) this.unanswered = null;
      this.onState("");
      this.onView(message);
    }
  }

  again(code) {
    if (code === 4003 || code === 4011) {
      this.onState(this.reason ?? "this table is closed", code);
      return;
    }
    this.onState(LOST);
    this.timer = setTimeout(() => this.open(), this.wait);
    this.wait = Math.min(this.wait * 2, 10_000);
  }

  hurry() {
    if (this.socket.readyState === WebSocket.CLOSED && this.timer) this.open();
  }

  send(message) {
    if ("move" in message) this.unanswered = message;
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }
}
