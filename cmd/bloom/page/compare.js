// The same keys in two formats, and the absent keys that pass.

import { $, row } from "./dom.js";
import { askAbout, numbered } from "./filter.js";
import { Picture } from "./picture.js";
import { state } from "./state.js";
import { count, number, percent, quoted, size, spread } from "./words.js";

let pictures;

// askPassing asks which absent keys pass: the numbers that are left out or, without any, random keys.
export async function askPassing() {
  const passing = {};
  for (const which of state.other ? ["filter", "other"] : ["filter"]) {
    const [answer, data] = await askAbout("passing", which, { numbered: numbered() });
    const counts = new Uint32Array(data.slice().buffer);
    passing[which] = { ...answer, counts };
  }
  state.passing = passing;
}

// askOther asks for the bits of the shown key in the other format.
export async function askOther() {
  const { other, shown } = state;
  if (!other || !shown || other.walk?.key === shown.key) return;
  const [answer] = await askAbout("test", "other", { keys: [shown.key] });
  other.walk = answer.results[0];
}

// why says how many absent keys pass a filter, in a format or in the only one.
function why(passing, format) {
  const kind = numbered().count > 0 ? "numbers that are left out" : "random keys";
  let text = `${format ? `${format}: ` : ""}${number(passing.passed)} of ${number(passing.tested)} ${kind} are false positives, ${percent(passing.passed / passing.tested)}`;
  if (passing.passed > 0) text += `, such as ${quoted(passing.example)}`;
  if (numbered().count > 0 && passing.passed > 0) {
    text += passing.equal > 0
      ? `. Of them, ${number(passing.equal)} have exactly the hash of an added key, and so its bits: they are false positives in a filter of any size`
      : ". None of them has the hash of an added key";
  }
  return `${text}.`;
}

export function renderCompare() {
  const { filter, other, passing, shown, wanted } = state;
  $("passing-note").textContent = !passing ? "" : !passing.other ? why(passing.filter) : `${why(passing.filter, filter.format)} ${why(passing.other, other.format)}`;
  $("compare-file").hidden = wanted.file === null;
  $("with").disabled = wanted.file !== null;
  $("compare").hidden = other === null;
  if (other === null) return;
  pictures ??= globalThis.compared = ["filter", "other"].map((which) => new Picture($(`picture-${which}`))); // also for the tests
  const both = [filter, other];
  const walks = [shown, shown && other.walk?.key === shown.key ? other.walk : null];
  const cells = (what) => both.map((f, i) => what(f, walks[i], passing?.[i === 0 ? "filter" : "other"]));
  $("compare-rows").replaceChildren(
    row("Memory", ...cells((f) => size(f.bytes.length))),
    row("Probes a key", ...cells((f) => number(f.probes))),
    row(shown ? `Bits of ${quoted(shown.key)}` : "Bits of a key", ...cells((_, walk) => walk ? spread(walk.positions) : "type a key")),
    row("False positives, expected", ...cells((f) => percent(f.expected))),
    row("False positives, observed", ...cells((f) => percent(f.observed))),
    row("Absent keys that are hits", ...cells((_f, _w, p) => p ? `${percent(p.passed / p.tested)}${p.equal > 0 ? `; ${count(p.equal, "key")} with an added key's hash` : ""}` : "not measured yet")));
  both.forEach((f, i) => {
    $(i === 0 ? "name-filter" : "name-other").textContent = $(i === 0 ? "caption-filter" : "caption-other").textContent = f.format;
    pictures[i].show(f, { marks: walks[i]?.positions, heat: heatOf(passing?.[i === 0 ? "filter" : "other"]) });
  });
}

// heatOf returns which share of absent keys passes, in each part of a picture: as many of their probes as in
// every other part would be the share in all.
export function heatOf(passing) {
  if (!passing) return null;
  const { cells, counts, passed, tested } = passing;
  const mean = counts.reduce((sum, n) => sum + n, 0) / counts.length;
  return { cells, shares: Array.from(counts, (n) => (n === 0 ? 0 : (n / mean) * (passed / tested))) };
}
