// The rate over bits per key.

import { ask } from "./ask.js";
import { $, fail, row, svg } from "./dom.js";
import { state } from "./state.js";
import { count, percent } from "./words.js";

// askPoints asks for the points, unless the page has them: one after the other, for in LevelDB's format
// each of them takes longer than the filter, and nothing waits for them.
export async function askPoints() {
  const c = state.filter.curve;
  if (c === null) return;
  const question = { format: state.filter.format, keys: c.keys, probes: c.probes };
  const name = JSON.stringify(question);
  if (state.points.name === name) return;
  Object.assign(state.points, { name, list: [] });
  const most = state.about.limits.bits_per_key;
  try {
    for (let first = 1; first <= most; first++) {
      const [answer] = await ask("curve", { ...question, first, last: first });
      if (state.points.name !== name) return; // another curve is asked for
      state.points.list.push(...answer.points);
      if (first % 8 === 0 || first === most) renderCurve();
    }
  } catch (e) {
    if (state.points.name === name) state.points.name = "";
    fail(e);
  }
}

export function renderCurve() {
  const c = state.filter.curve;
  $("curve").replaceChildren();
  $("curve-table").replaceChildren();
  $("curve-rises").textContent = "";
  if (c === null) {
    $("curve-note").textContent = "There is no curve, because the filter has no bits, or because its number of keys is 0, unknown or too large.";
    return;
  }
  $("curve-note").textContent = `For ${count(c.keys, "key")} and ${c.probes === 0 ? "the format's own number of probes" : count(c.probes, "probe")}. ` +
    `Chosen: ${c.chosen.bits_per_key.toFixed(1).replace(/\.0$/, "")} bits per key, ${percent(c.chosen.rate)}. ` +
    (c.now ? `Now: ${c.now.bits_per_key.toFixed(1)} bits for each key in the filter, ${percent(c.now.rate)} observed.` : "Now: no key yet.");
  const drawn = state.points.list.filter((p) => p.rate > 0);
  if (drawn.length < 2) return; // they come later: see askPoints
  $("curve-table").replaceChildren(...drawn.map((p) => row(String(p.bits_per_key), percent(p.rate))));
  $("curve").append(drawing(c, drawn));
  $("curve-rises").textContent = rises(drawn);
}

// rises says why a curve has peaks, if it has some that one sees.
function rises(drawn) {
  const at = drawn.filter((p, i) => i > 0 && p.rate > 1.1 * drawn[i - 1].rate).map((p) => p.bits_per_key);
  if (at.length === 0) return "";
  const list = at.length === 1 ? at[0] : `${at.slice(0, -1).join(", ")} and ${at.at(-1)}`;
  return `The rate rises at ${list} bits per key. At these numbers, the format uses one more probe, or several probes of a key fall on one bit, for example because the number of bits is a power of two. In large filters, probes rarely fall on one bit.`;
}

function drawing(c, drawn) {
  const width = Math.max(260, $("curve").clientWidth), height = 240;
  const left = 58, right = 12, top = 12, bottom = 40;
  const most = state.about.limits.bits_per_key;
  const lowest = Math.floor(Math.log10(Math.min(...drawn.map((p) => p.rate), 0.1)));
  const x = (bits) => left + ((bits - 1) / (most - 1)) * (width - left - right);
  const y = (rate) => top + (Math.log10(rate) / lowest) * (height - top - bottom);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": $("curve-note").textContent });
  for (let e = 0; e >= lowest; e--) {
    picture.append(svg("line", { class: "rule", x1: left, x2: width - right, y1: y(10 ** e), y2: y(10 ** e) }));
    if (e % Math.ceil(-lowest / 6) === 0) picture.append(svg("text", { x: left - 8, y: y(10 ** e) + 4, "text-anchor": "end" }, `${Number((100 * 10 ** e).toPrecision(1))} %`));
  }
  for (let bits = 4; bits <= most; bits += 4) picture.append(svg("text", { x: x(bits), y: height - bottom + 18, "text-anchor": "middle" }, String(bits)));
  picture.append(svg("text", { x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" }, "bits per key"));
  picture.append(svg("polyline", { class: "path", points: drawn.map((p) => `${x(p.bits_per_key)},${y(p.rate)}`).join(" ") }));
  const near = c.now !== null && Math.abs(x(c.now.bits_per_key) - x(c.chosen.bits_per_key)) < 70;
  const mark = (point, name, label, below) => {
    if (!point || point.rate < 10 ** lowest || point.bits_per_key < 1 || point.bits_per_key > most) return;
    const [px, py] = [x(point.bits_per_key), y(point.rate)];
    const atRight = px > width - 90;
    picture.append(svg("circle", { class: name, cx: px, cy: py, r: 6 }),
      svg("text", { class: "label", x: px + (atRight || below ? -10 : 10), y: py + (below ? 20 : -8), "text-anchor": atRight || below ? "end" : "start" }, label));
  };
  mark(c.chosen, "chosen", "chosen", false);
  mark(c.now, "now", "now", near);
  return picture;
}
