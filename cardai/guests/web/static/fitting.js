// Card sizes, so that all of a table is on the screen at once: the largest at which nothing is cut off.

const STRIP = 27; // pixels of a covered card that a finger finds
const RISE = 0.55; // of a card's height, that rows of a hand above the last one show

// `play`: the element of a table.
export function fit(play) {
  const isLow = innerHeight <= 500;
  const isWide = innerWidth >= 900 && !isLow;
  fitHand(play.querySelector(".own .pieces.fan"), isWide ? Math.min(96, innerHeight * 0.11) : isLow ? 54 : 64);
  const middle = play.querySelector(".middle");
  play.classList.remove("tight", "strips", "short");
  const most = isWide ? 104 : isLow ? 58 : 72;
  for (const [name, from, to] of [["", most, 44], ["tight", most, 44], ["strips", 56, 44], ["short", 46, 44]]) { // each adds to those before
    if (name) play.classList.add(name);
    if (shrink(middle, from, to)) return;
  }
}

// Make cards smaller until a place holds them. Returns whether it does.
function shrink(place, most, least) {
  for (let width = most; ; width = Math.max(least, Math.floor(width * 0.92))) {
    place.style.setProperty("--w", `${width}px`);
    if (place.scrollHeight <= place.clientHeight + 1 && place.scrollWidth <= place.clientWidth + 1) return true;
    if (width === least) return false;
  }
}

// A hand in as few rows as leave a strip of each card to see and to tap.
function fitHand(hand, width) {
  if (!hand) return;
  const count = hand.children.length;
  const room = hand.clientWidth;
  const inRow = (perRow) => (perRow > 1 ? Math.min(width + 5, (room - width) / (perRow - 1)) : width);
  let rows = 1;
  while (inRow(Math.ceil(count / rows)) < STRIP && rows < 4) rows++;
  const perRow = Math.ceil(count / rows);
  const step = inRow(perRow);
  for (const [name, value] of Object.entries({ w: `${width}px`, per: perRow, step: `${step}px`, rise: `${width * 1.4 * (rows > 1 ? RISE : 1)}px` })) hand.style.setProperty(`--${name}`, value);
}
