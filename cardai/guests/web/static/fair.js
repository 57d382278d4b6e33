// Checks that the deal was fixed before anybody sat down. SHA-256 is written out: browsers have their own only on https.

import { t } from "./language.js";

const PRIMES = [];
for (let n = 2; PRIMES.length < 64; n++) if (PRIMES.every((p) => n % p)) PRIMES.push(n);
const bits = (x) => Math.floor((x - Math.floor(x)) * 2 ** 32);
const START = PRIMES.slice(0, 8).map((p) => bits(Math.sqrt(p)));
const ROUNDS = PRIMES.map((p) => bits(Math.cbrt(p)));
const turned = (x, n) => (x >>> n) | (x << (32 - n));

export function sha256(bytes) {
  const length = ((bytes.length + 8) >> 6 << 6) + 64;
  const block = new Uint8Array(length);
  block.set(bytes);
  block[bytes.length] = 0x80;
  const view = new DataView(block.buffer);
  view.setUint32(length - 4, bytes.length * 8);
  const state = [...START];
  for (let at = 0; at < length; at += 64) compress(state, view, at);
  const out = new Uint8Array(32);
  state.forEach((word, i) => new DataView(out.buffer).setUint32(4 * i, word));
  return out;
}

function compress(state, view, at) {
  const w = new Uint32Array(64);
  for (let i = 0; i < 64; i++) {
    if (i < 16) w[i] = view.getUint32(at + 4 * i);
    else {
      const s0 = turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ (w[i - 15] >>> 3);
      const s1 = turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ (w[i - 2] >>> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i++) {
    const one = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[i] + w[i]) | 0;
    const two = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] = (state[i] + word) >>> 0));
}

const toHex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

// A sentence on the deal. `before`: the commitment and the nonce that this browser kept from before the deal.
export function judge(before, fair) {
  const secret = fromHex(fair.secret);
  if (toHex(sha256(secret)) !== before.commitment) return t("The deal is not the one that was fixed before the game.");
  if (before.nonce && !fair.nonces.includes(before.nonce)) return t("The number of this browser has no part in the deal.");
  const all = fromHex(fair.secret + fair.nonces.join(""));
  const seed = BigInt(`0x${toHex(sha256(all)).slice(0, 16)}`).toString();
  if (seed !== fair.seed) return t("The seed does not follow from what was fixed before the game.");
  return before.nonce
    ? t("Checked in this browser: the deal was fixed before you sat down (seed {seed}).", { seed })
    : t("The deal follows from what was fixed before the game (seed {seed}).", { seed });
}
