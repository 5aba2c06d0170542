// The single bits: a grid of those in view, and the keys of one of them.

import { $, element, fillList, narrow, say } from "./dom.js";
import { isSet, onPage, pageBits } from "./filter.js";
import { keyButton } from "./key.js";
import { state } from "./state.js";
import { count, number } from "./words.js";

export const firstBit = () => onPage(state.cursor) * pageBits();
const columns = () => (narrow.matches ? 16 : 32);

export function renderBits() {
  const { filter, shown } = state;
  const grid = $("grid");
  const from = firstBit();
  const to = Math.min(from + pageBits(), filter.bits);
  const had = grid.contains(document.activeElement);
  const probes = new Map(); // bit → numbers of the probes
  if (shown) shown.positions.forEach((bit, i) => probes.has(bit) ? probes.get(bit).push(i + 1) : probes.set(bit, [i + 1]));
  const rows = [];
  const wide = columns();
  for (let start = from; start < to; start += wide) {
    const row = element("div", { role: "row", "aria-rowindex": String(start / wide + 1) });
    for (let bit = start; bit < Math.min(start + wide, to); bit++) row.append(cell(bit, bit - start, probes.get(bit)));
    rows.push(row);
  }
  grid.setAttribute("aria-rowcount", String(Math.ceil(filter.bits / wide)));
  grid.setAttribute("aria-colcount", String(wide));
  grid.replaceChildren(...rows);
  if (had) focusBit();

  $("bits-note").textContent = filter.bits === 0
    ? "The filter has no bits."
    : `${count(filter.bits, "bit")}; every key maps to ${filter.probes}.`;
  $("go-bit").max = filter.bits - 1;
  $("go").hidden = $("pager").hidden = filter.bits <= pageBits();
  $("page-note").textContent = `Bits ${number(from)} to ${number(to - 1)}`;
  $("previous").disabled = from === 0;
  $("next").disabled = to === filter.bits;
}

function cell(bit, column, probes) {
  const { shown } = state;
  const set = isSet(bit);
  const names = ["bit"];
  let label = `bit ${bit}, ${set ? "set" : "clear"}`;
  if (set) names.push("set");
  if (probes) {
    names.push("probed");
    label += `, probe ${probes.join(" and ")} of ${shown.key}`;
    if (!set) {
      names.push("missing");
      label += ", missing";
    }
  }
  if (bit === state.chosen) names.push("chosen");
  return element("div", {
    class: names.join(" "),
    role: "gridcell",
    tabindex: bit === state.cursor ? "0" : "-1",
    "data-bit": String(bit),
    "aria-colindex": String(column + 1),
    "aria-label": label,
  }, probes ? (probes.length > 1 ? `${probes[0]}+` : String(probes[0])) : "");
}

export function renderBit() {
  const { chosen, filter } = state;
  $("bit").hidden = chosen === null;
  if (chosen === null) return;
  const keys = filter.keys.filter((k) => k.positions.includes(chosen));
  $("bit-title").textContent = `Bit ${number(chosen)} is ${isSet(chosen) ? "set" : "clear"}`;
  $("bit-note").textContent = keys.length > 0
    ? `${count(keys.length, "key")} added here map${keys.length === 1 ? "s" : ""} to it:`
    : isSet(chosen) ? "No key typed here maps to it; another key set it." : "No key added here maps to it.";
  fillList("bit-keys", keys, (k) => element("li", {}, keyButton(k)));
}

function focusBit() {
  const target = $("grid").querySelector(`[data-bit="${state.cursor}"]`);
  if (target) target.focus({ preventScroll: true });
}

// moveTo moves to a bit, and calls turned if another page is in view.
function moveTo(bit, turned) {
  const before = firstBit();
  state.cursor = Math.max(0, Math.min(state.filter.bits - 1, bit));
  if (firstBit() !== before) return turned();
  for (const e of $("grid").querySelectorAll('[tabindex="0"]')) e.tabIndex = -1;
  $("grid").querySelector(`[data-bit="${state.cursor}"]`).tabIndex = 0;
}

// listenToBits calls render when other bits are to be seen. It returns choose, which moves to a bit and
// lists its keys.
export function listenToBits(render) {
  const choose = (bit) => {
    state.cursor = state.chosen = Math.max(0, Math.min(state.filter.bits - 1, bit));
    render();
    focusBit();
    const keys = state.filter.keys.filter((k) => k.positions.includes(state.chosen)).map((k) => k.key);
    say(`${$("bit-title").textContent}. ${$("bit-note").textContent} ${keys.slice(0, 20).join(", ")}`);
  };
  $("grid").addEventListener("click", (event) => {
    const target = event.target.closest("[data-bit]");
    if (target) choose(Number(target.dataset.bit));
  });
  $("grid").addEventListener("keydown", (event) => {
    const { cursor, filter } = state;
    const wide = columns();
    const start = cursor - (cursor % wide);
    const moves = {
      ArrowLeft: cursor - 1,
      ArrowRight: cursor + 1,
      ArrowUp: cursor - wide,
      ArrowDown: cursor + wide,
      Home: event.ctrlKey ? 0 : start,
      End: event.ctrlKey ? filter.bits - 1 : start + wide - 1,
      PageUp: cursor - pageBits(),
      PageDown: cursor + pageBits(),
    };
    if (event.key === "Enter" || event.key === " ") choose(cursor);
    else if (event.key in moves) {
      const to = moves[event.key];
      if (to >= 0 && to < filter.bits || event.key.startsWith("Page") || event.key === "End") moveTo(to, render);
      focusBit();
    } else return;
    event.preventDefault();
  });
  const turn = (pages) => () => {
    moveTo(firstBit() + pages * pageBits(), render);
    say($("page-note").textContent);
  };
  $("previous").addEventListener("click", turn(-1));
  $("next").addEventListener("click", turn(1));
  return choose;
}
